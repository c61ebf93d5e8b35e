// SPDX-License-Identifier: MIT
#include <string.h>

#include "sim/body.h"
#include "sim/slots.h"
#include "sim/step.h"

static void put3(float *to, cairn_vec3 from) {
    memcpy(to, &from, sizeof from);
}

static void put4(float *to, cairn_quat from) {
    memcpy(to, &from, sizeof from);
}

static cairn_patch patch_of(
    const cairn_world *world, const cairn_contact *contact, const cairn_manifold *manifold) {
    const cairn_state *state = &world->state;
    const cairn_motion *a = &state->motions[id_index(contact->body_a)];
    const cairn_motion *b = &state->motions[id_index(contact->body_b)];
    const cairn_shape *shape_a = &state->shapes[id_index(contact->shape_a)];
    const cairn_shape *shape_b = &state->shapes[id_index(contact->shape_b)];
    cairn_patch patch = {.words = {0.0f}};
    put3(patch.words, manifold->normal);
    patch.words[CAIRN_PATCH_COUNT] = (float)manifold->point_count;
    for (uint32_t k = 0; k < manifold->point_count; ++k) {
        float *words = patch.words + CAIRN_PATCH_POINTS + CAIRN_PATCH_POINT_WORDS * k;
        put3(words, vec3_sub(manifold->points[k].position, a->position));
        put3(words + 3, vec3_sub(manifold->points[k].position, b->position));
        words[6] = manifold->points[k].separation;
    }
    patch.words[CAIRN_PATCH_FRICTION] = float_sqrt(shape_a->friction * shape_b->friction);
    patch.words[CAIRN_PATCH_RESTITUTION] = float_max(shape_a->restitution, shape_b->restitution);
    put4(patch.words + CAIRN_PATCH_ROTATION_A, a->rotation);
    put4(patch.words + CAIRN_PATCH_ROTATION_B, b->rotation);
    return patch;
}

void cairn_step_gather_touches(cairn_world *world) {
    cairn_substeps *substeps = &world->scratch.substeps;
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->scratch.contact_count; ++i) {
        const cairn_contact *contact = &world->scratch.contacts[i];
        const uint32_t a = id_index(contact->body_a);
        const uint32_t b = id_index(contact->body_b);
        if (world->scratch.carried[i] != 0 ||
            (!cairn_body_moved_by_impulses(world, a) && !cairn_body_moved_by_impulses(world, b))) {
            continue;
        }
        substeps->patches[count] = patch_of(world, contact, &world->scratch.manifolds[i]);
        substeps->touches.links[count] = (cairn_link){.element = i,
            .patch = count,
            .body_a = a,
            .body_b = b,
            .kind = contact->point_count == 1 ? 0 : 1};
        ++count;
    }
    substeps->touches.link_count = count;
}

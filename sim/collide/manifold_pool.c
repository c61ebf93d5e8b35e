// SPDX-License-Identifier: MIT
#include "sim/collide/manifold_pool.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/manifold.h"
#include "sim/collide/pair_cache.h"
#include "sim/limits.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/step.h"
#include "sim/world/body.h"
#include "sim/world/shape.h"

void cairn_patches_carve(cairn_patches *patches, cairn_carver *from, const cairn_world_def *def) {
    const size_t count = (size_t)CAIRN_PATCHES_PER_CONTACT * def->contact_capacity;
    patches->patches = cairn_carve(from, count, sizeof *patches->patches);
    patches->free = cairn_carve(from, count, sizeof *patches->free);
    patches->links = cairn_carve(from, def->contact_capacity, sizeof *patches->links);
}

void cairn_patches_forget(cairn_world *world) {
    cairn_patches *patches = world->manifold_pool;
    const uint32_t capacity = CAIRN_PATCHES_PER_CONTACT * world->def.contact_capacity;
    patches->used = 0;
    patches->complete = false;
    patches->free_count = 0;
    patches->capacity = capacity;
    for (uint32_t i = 0; i < world->state.settings->contact_count; ++i) {
        patches->links[i] = cairn_patch_link_of(&world->state.contacts[i], CAIRN_PATCH_NONE);
    }
}

cairn_patch_link cairn_patch_link_of(const cairn_contact *contact, uint32_t patch) {
    return (cairn_patch_link){.body_a = cairn_id_index(contact->body_a),
        .body_b = cairn_id_index(contact->body_b),
        .patch = patch};
}

uint32_t cairn_patch_take(cairn_patches *patches) {
    if (patches->free_count > 0) {
        patches->free_count -= 1;
        return patches->free[patches->free_count];
    }
    CAIRN_ASSERT(patches->used < patches->capacity);
    return patches->used++;
}

void cairn_patch_release(cairn_patches *patches, uint32_t patch) {
    if (patch != CAIRN_PATCH_NONE) {
        patches->free[patches->free_count++] = patch;
    }
}

cairn_pair_pose cairn_pair_reference_pose(const cairn_world *world, cairn_pair pair) {
    const cairn_place *a = &world->pair_cache->places[pair.shape_a];
    const cairn_place *b = &world->pair_cache->places[pair.shape_b];
    const cairn_reference_pose *anchors = world->state.reference_poses;
    return (cairn_pair_pose){
        .way = vec3_clean(vec3_sub(anchors[b->body].position, anchors[a->body].position)),
        .turn_a = world->pair_cache->turns[a->body],
        .turn_b = world->pair_cache->turns[b->body],
        .rotation_a = a->rotation,
        .rotation_b = b->rotation,
        .offset_a = a->offset,
        .offset_b = b->offset};
}

cairn_pair_pose cairn_pair_contact_pose(const cairn_world *world, const cairn_contact *contact) {
    const cairn_quat turn_a = turn_unpack(contact->reference_a);
    const cairn_quat turn_b = turn_unpack(contact->reference_b);
    const uint32_t a = cairn_id_index(contact->shape_a);
    const uint32_t b = cairn_id_index(contact->shape_b);
    return (cairn_pair_pose){.way = contact->reference_way,
        .turn_a = turn_a,
        .turn_b = turn_b,
        .rotation_a = cairn_near_shape_rotation(world, a, turn_a),
        .rotation_b = cairn_near_shape_rotation(world, b, turn_b),
        .offset_a = cairn_near_shape_offset(world, a, turn_a),
        .offset_b = cairn_near_shape_offset(world, b, turn_b)};
}

// Short ways stay exact far from the world's origin.
void cairn_pair_collide(const cairn_world *world, cairn_pair pair, const cairn_pair_pose *at,
    uint32_t *axis_hint, cairn_manifold *out) {
    const cairn_solid solid_a = cairn_shape_solid(world, pair.shape_a);
    const cairn_solid solid_b = cairn_shape_solid(world, pair.shape_b);
    const cairn_vec3 way = vec3_add(at->way, vec3_sub(at->offset_b, at->offset_a));
    const cairn_pose b_in_a = {.position = quat_rotate_inverse(at->rotation_a, way),
        .rotation = quat_normalize(quat_multiply(quat_conjugate(at->rotation_a), at->rotation_b))};
    cairn_collide_local(&solid_a, &solid_b, &b_in_a, CAIRN_CONTACT_MARGIN, axis_hint, out);
}

static cairn_quat get4(const float *from) {
    return (cairn_quat){.x = from[0], .y = from[1], .z = from[2], .w = from[3]};
}

static bool turned_little(cairn_quat then, cairn_quat now) {
    const float cosine = then.x * now.x + then.y * now.y + then.z * now.z + then.w * now.w;
    return float_abs(cosine) > CAIRN_PATCH_TURN_COSINE;
}

// The guest, the one of less reach, as seen by its host: the way of its centre, and twice the sine
// of half the angle that it turned at the end of its longest arm.
bool cairn_patch_holds(const cairn_world *world, const cairn_contact *contact,
    const cairn_patch *patch, const cairn_pair_pose *now) {
    const cairn_quat then_a = get4(patch->words + CAIRN_PATCH_ROTATION_A);
    const cairn_quat then_b = get4(patch->words + CAIRN_PATCH_ROTATION_B);
    if (!turned_little(then_a, now->turn_a) || !turned_little(then_b, now->turn_b)) {
        return false;
    }
    const float reach_a = world->pair_cache->reaches[cairn_id_index(contact->body_a)];
    const float reach_b = world->pair_cache->reaches[cairn_id_index(contact->body_b)];
    const bool host_a = reach_a >= reach_b;
    const float reach = host_a ? reach_b : reach_a;
    const cairn_quat host_then = host_a ? then_a : then_b;
    const cairn_quat host_now = host_a ? now->turn_a : now->turn_b;
    const cairn_vec3 moved = vec3_sub(quat_rotate_inverse(host_now, now->way),
        quat_rotate_inverse(host_then, contact->reference_way));
    const cairn_quat then = quat_multiply(quat_conjugate(then_a), then_b);
    const cairn_quat since = quat_multiply(quat_conjugate(now->turn_a), now->turn_b);
    const cairn_quat turned = quat_multiply(quat_conjugate(then), since);
    const float way = vec3_length(moved) + 2.0f * reach * vec3_length(quat_vector(turned));
    const float *thinness = world->pair_cache->thinness;
    const float thin = float_min(
        thinness[cairn_id_index(contact->shape_a)], thinness[cairn_id_index(contact->shape_b)]);
    return way <= float_min(CAIRN_PATCH_DRIFT, CAIRN_PATCH_DRIFT_SHARE * thin);
}

static void put3(float *to, cairn_vec3 from) {
    memcpy(to, &from, sizeof from);
}

static cairn_vec3 get3(const float *from) {
    return vec3(from[0], from[1], from[2]);
}

void cairn_patch_fill(const cairn_world *world, cairn_pair pair, const cairn_pair_pose *at,
    const cairn_manifold *manifold, cairn_patch *patch) {
    const cairn_shape *shape_a = &world->state.shapes[pair.shape_a];
    const cairn_shape *shape_b = &world->state.shapes[pair.shape_b];
    float *words = patch->words;
    memset(words, 0, sizeof patch->words);
    put3(words, vec3_normalize(quat_rotate(at->rotation_a, manifold->normal), vec3(0, 1, 0)));
    words[CAIRN_PATCH_COUNT] = (float)manifold->point_count;
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        const cairn_manifold_point *point = &manifold->points[i];
        float *put = words + CAIRN_PATCH_POINTS + CAIRN_PATCH_POINT_WORDS * i;
        const cairn_vec3 arm = vec3_add(at->offset_a, quat_rotate(at->rotation_a, point->position));
        put3(put, arm);
        put3(put + 3, vec3_sub(arm, at->way));
        put[6] = point->separation;
    }
    words[CAIRN_PATCH_FRICTION] = float_sqrt(shape_a->friction * shape_b->friction);
    words[CAIRN_PATCH_RESTITUTION] = float_max(shape_a->restitution, shape_b->restitution);
    memcpy(words + CAIRN_PATCH_ROTATION_A, &at->turn_a, sizeof at->turn_a);
    memcpy(words + CAIRN_PATCH_ROTATION_B, &at->turn_b, sizeof at->turn_b);
}

static cairn_quat turn_since(const cairn_motion *motion, const float *words) {
    return quat_multiply(motion->rotation, quat_conjugate(get4(words)));
}

void cairn_patch_manifold(const cairn_world *world, const cairn_link *touch, cairn_manifold *out) {
    const float *words = world->manifold_pool->patches[touch->patch].words;
    const cairn_motion *a = &world->state.motions[touch->body_a];
    const cairn_motion *b = &world->state.motions[touch->body_b];
    const cairn_quat turn_a = turn_since(a, words + CAIRN_PATCH_ROTATION_A);
    const cairn_quat turn_b = turn_since(b, words + CAIRN_PATCH_ROTATION_B);
    const cairn_vec3 apart = vec3_sub(b->position, a->position);
    out->normal = get3(words);
    out->point_count = (uint32_t)words[CAIRN_PATCH_COUNT];
    for (uint32_t i = 0; i < out->point_count; ++i) {
        const float *at = words + CAIRN_PATCH_POINTS + CAIRN_PATCH_POINT_WORDS * i;
        const cairn_vec3 on_a = quat_rotate(turn_a, get3(at));
        const cairn_vec3 on_b = vec3_add(apart, quat_rotate(turn_b, get3(at + 3)));
        const cairn_vec3 middle = vec3_scale(vec3_add(on_a, on_b), 0.5f);
        out->points[i] = (cairn_manifold_point){.position = vec3_add(a->position, middle),
            .separation = at[6] + vec3_dot(out->normal, vec3_sub(on_b, on_a))};
    }
}

// ---- Touches

static void mark_moving(cairn_world *world) {
    const cairn_awake_set *awake = world->awake_set;
    memset(awake->takes_impulses, 0, world->state.settings->body_slots);
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        awake->takes_impulses[slot] = cairn_body_takes_impulses(world, slot) ? 1 : 0;
    }
}

// Collided again as it was last time: the hint comes out as it goes in. A state that was put
// together by hand may name other points than there are; then some of them, or one far off.
void cairn_patch_restore(cairn_world *world, uint32_t contact) {
    cairn_patches *patches = world->manifold_pool;
    const cairn_contact *source = &world->state.contacts[contact];
    const cairn_pair pair = {
        .shape_a = cairn_id_index(source->shape_a), .shape_b = cairn_id_index(source->shape_b)};
    const cairn_pair_pose at = cairn_pair_contact_pose(world, source);
    uint32_t axis_hint = source->axis_hint;
    cairn_manifold manifold;
    cairn_pair_collide(world, pair, &at, &axis_hint, &manifold);
    if (manifold.point_count == 0) {
        cairn_manifold_add(&manifold, vec3_zero(), CAIRN_VALID_DISTANCE, 0);
    }
    if (manifold.point_count > source->point_count) {
        manifold.point_count = source->point_count;
    }
    const uint32_t patch = cairn_patch_take(patches);
    cairn_patch_fill(world, pair, &at, &manifold, &patches->patches[patch]);
    patches->links[contact].patch = patch;
}

uint32_t cairn_active_contacts_gather(cairn_world *world, cairn_link *touches) {
    const cairn_patch_link *links = world->manifold_pool->links;
    const unsigned char *moving = world->awake_set->takes_impulses;
    const uint32_t contact_count = world->state.settings->contact_count;
    uint32_t count = 0;
    mark_moving(world);
    for (uint32_t i = 0; i < contact_count; ++i) {
        const uint32_t body_a = links[i].body_a;
        const uint32_t body_b = links[i].body_b;
        if ((moving[body_a] | moving[body_b]) == 0) {
            continue;
        }
        if (links[i].patch == CAIRN_PATCH_NONE) {
            cairn_patch_restore(world, i);
        }
        cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACTS, i);
        const float *words = world->manifold_pool->patches[links[i].patch].words;
        touches[count++] = (cairn_link){.element = i,
            .patch = links[i].patch,
            .body_a = body_a,
            .body_b = body_b,
            .kind = words[CAIRN_PATCH_COUNT] == 1.0f ? 0 : 1};
    }
    return count;
}

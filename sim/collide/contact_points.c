// SPDX-License-Identifier: MIT
#include "sim/collide/contact_points.h"

#include <string.h>

#include "base/assert.h"
#include "sim/math/limits.h"

// Impulses are passed on while the normal turns by at most 26 degrees.
#define SAME_NORMAL_COSINE 0.9f

// Copies the impulses of points that existed before, matched by feature. Friction acts on the whole
// manifold in the soft-step solver, so its impulse stays even if the points change.
static void match_points(
    const cairn_world *world, const cairn_contact *old, cairn_contact *contact) {
    const bool per_point = world->def.solver != CAIRN_SOLVER_SOFT_STEP;
    if (!per_point) {
        memcpy(contact->tangent_impulse, old->tangent_impulse, sizeof old->tangent_impulse);
    }
    CAIRN_ASSERT(old->point_count <= CAIRN_MANIFOLD_POINTS_MAX);
    for (uint32_t i = 0; i < contact->point_count; ++i) {
        cairn_contact_point *point = &contact->points[i];
        uint32_t k = 0;
        while (k < old->point_count && old->points[k].feature != point->feature) {
            ++k;
        }
        if (k == old->point_count) {
            continue;
        }
        *point = old->points[k];
        if (per_point) {
            contact->tangent_impulse[2 * i] = old->tangent_impulse[2 * k];
            contact->tangent_impulse[2 * i + 1] = old->tangent_impulse[2 * k + 1];
        }
    }
}

// Gives the normal impulse of each point that is gone to the nearest point that there is now, so
// that what the manifold carries does not drop when its corners or the four that are chosen of them
// change.
static void pass_on_impulses(const cairn_contact *old, const cairn_solver_manifold *before,
    cairn_contact *contact, const cairn_solver_manifold *now) {
    if (vec3_dot(before->normal, now->normal) < SAME_NORMAL_COSINE) {
        return;
    }
    for (uint32_t k = 0; k < old->point_count; ++k) {
        bool gone = old->points[k].normal_impulse > 0.0f;
        uint32_t nearest = 0;
        float least = CAIRN_VALID_DISTANCE * CAIRN_VALID_DISTANCE;
        for (uint32_t i = 0; i < contact->point_count; ++i) {
            gone = gone && contact->points[i].feature != old->points[k].feature;
            const float squared =
                vec3_length_squared(vec3_sub(now->points[i].arm_a, before->points[k].arm_a));
            nearest = squared < least ? i : nearest;
            least = float_min(squared, least);
        }
        if (gone) {
            contact->points[nearest].normal_impulse += old->points[k].normal_impulse;
        }
    }
}

void cairn_contact_set_points(const cairn_manifold *manifold, cairn_contact *contact) {
    CAIRN_ASSERT(manifold->point_count >= 1);
    contact->point_count = manifold->point_count;
    memset(contact->points, 0, sizeof contact->points);
    memset(contact->tangent_impulse, 0, sizeof contact->tangent_impulse);
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        contact->points[i].feature = manifold->points[i].feature;
    }
}

void cairn_contact_take_impulses(const cairn_world *world, const cairn_contact *old,
    const cairn_solver_manifold *before, cairn_contact *contact, const cairn_solver_manifold *now) {
    match_points(world, old, contact);
    if (before != NULL) {
        pass_on_impulses(old, before, contact, now);
    }
}

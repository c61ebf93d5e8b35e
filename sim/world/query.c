// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "base/check.h"
#include "sim/body/body.h"
#include "sim/body/shape.h"
#include "sim/collide/collide.h"
#include "sim/math/limits.h"
#include "sim/state/slots.h"
#include "sim/world/world.h"

static bool is_candidate(
    const cairn_world *world, uint32_t slot, uint32_t mask, uint32_t ignored_body) {
    const cairn_shape *shape = &world->state.shapes[slot];
    CAIRN_ASSERT(slot < world->state.settings->shape_slots);
    return cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, slot) &&
           (shape->category & mask) != 0 && shape->body != ignored_body;
}

cairn_status cairn_world_ray_cast(const cairn_world *world, cairn_vec3 origin,
    cairn_vec3 translation, uint32_t mask, cairn_body_id ignored, cairn_ray_hit *out) {
    const uint32_t ignored_slot = cairn_body_slot(world, ignored);
    *out = (cairn_ray_hit){.shape = 0};
    if (!vec3_finite(origin) || !vec3_finite(translation)) {
        return CAIRN_NON_FINITE;
    }
    for (uint32_t i = 0; i < world->state.settings->shape_slots; ++i) {
        if (!is_candidate(world, i, mask, ignored_slot)) {
            continue;
        }
        const cairn_shape *shape = &world->state.shapes[i];
        const cairn_pose pose = cairn_shape_world_pose(world, i);
        float fraction = 0.0f;
        cairn_vec3 normal = vec3_zero();
        const cairn_shape_view view = cairn_shape_view_at(world, i);
        const bool hit =
            cairn_shape_view_ray_cast(&view, &pose, origin, translation, &fraction, &normal);
        CAIRN_ASSERT(!hit || (fraction >= 0.0f && fraction <= 1.0f));
        if (hit && (out->shape == 0 || fraction < out->fraction)) {
            *out = (cairn_ray_hit){.shape = cairn_shape_id_at(world, i),
                .body = cairn_body_id_at(world, shape->body),
                .point = vec3_add_scaled(origin, translation, fraction),
                .normal = normal,
                .fraction = fraction};
        }
    }
    return out->shape != 0 ? CAIRN_OK : CAIRN_NOT_FOUND;
}

static bool aabbs_overlap(cairn_aabb a, cairn_aabb b) {
    return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && a.lower.y <= b.upper.y &&
           b.lower.y <= a.upper.y && a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;
}

uint32_t cairn_world_overlap(const cairn_world *world, const cairn_shape_def *shape,
    cairn_pose pose, uint32_t mask, cairn_shape_id *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    const cairn_geometry probe = cairn_geometry_of_def(shape);
    if (cairn_geometry_check(&probe) != CAIRN_OK ||
        cairn_check_rotation(pose.rotation) != CAIRN_OK ||
        cairn_check_vec3(pose.position, CAIRN_VALID_DISTANCE) != CAIRN_OK) {
        return 0;
    }
    if (probe.kind == CAIRN_SHAPE_HULL && cairn_hull_slot(world, probe.hull) == CAIRN_INDEX_NONE) {
        return 0;
    }
    const cairn_shape_view probe_view = cairn_shape_view_of(world, &probe);
    const cairn_aabb probe_aabb = cairn_shape_view_aabb(&probe_view, &pose);
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.settings->shape_slots; ++i) {
        if (!is_candidate(world, i, mask, CAIRN_INDEX_NONE)) {
            continue;
        }
        const cairn_shape_view view = cairn_shape_view_at(world, i);
        const cairn_pose at = cairn_shape_world_pose(world, i);
        if (!aabbs_overlap(cairn_shape_view_aabb(&view, &at), probe_aabb) ||
            !cairn_collide_overlap(&view, &at, &probe_view, &pose)) {
            continue;
        }
        if (count < capacity) {
            out[count] = cairn_shape_id_at(world, i);
        }
        ++count;
    }
    CAIRN_ASSERT(count <= world->state.settings->shape_slots);
    return count;
}

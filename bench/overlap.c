// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "bench/kit.h"
#include "bench/stability.h"
#include "sim/collide/collide.h"
#include "sim/math/vec.h"
#include "sim/shape/geometry.h"

// Edges closer to parallel than this give no separating axis.
#define EDGE_SINE_SQUARED 1e-4f

typedef struct solid {
    cairn_body_id body;
    cairn_geometry geometry;
    cairn_pose pose;
    float reach; // the greatest distance of its points from the pose's position
    bool fixed;
} solid;

// Returns false for a shape that collides with nothing.
static bool solid_read(const cairn_world *world, cairn_shape_id shape, solid *out) {
    cairn_shape_def def;
    cairn_body_id body;
    cairn_body_state state;
    bench_require(cairn_shape_read(world, shape, &def, &body) == CAIRN_OK &&
                      cairn_body_read(world, body, &state) == CAIRN_OK,
        "a shape of the scene is missing");
    const cairn_pose pose = {.position = state.position, .rotation = state.rotation};
    *out = (solid){.body = body,
        .geometry = {.kind = def.kind,
            .half_extents = def.half_extents,
            .radius = def.radius,
            .half_height = def.half_height},
        .pose = pose_multiply(pose, def.pose),
        .reach = def.kind == CAIRN_SHAPE_BOX       ? vec3_length(def.half_extents)
                 : def.kind == CAIRN_SHAPE_CAPSULE ? def.radius + def.half_height
                                                   : def.radius,
        .fixed = state.kind != CAIRN_BODY_DYNAMIC};
    return def.mask != 0;
}

// The overlap of two boxes along `axis` (in the frame of box a): their half extents on it minus the
// distance of their centres. `turn` and `offset` transform from b's frame to a's.
static float overlap_along(cairn_vec3 axis, cairn_vec3 half_a, cairn_vec3 half_b,
    const cairn_mat3 *turn, cairn_vec3 offset) {
    const cairn_vec3 axis_in_b = mat3_apply_transposed(*turn, axis);
    return vec3_dot(vec3_abs(axis), half_a) + vec3_dot(vec3_abs(axis_in_b), half_b) -
           float_abs(vec3_dot(axis, offset));
}

static cairn_vec3 unit_axis(uint32_t index) {
    return vec3(index == 0 ? 1.0f : 0.0f, index == 1 ? 1.0f : 0.0f, index == 2 ? 1.0f : 0.0f);
}

static float box_depth(cairn_vec3 half_a, cairn_vec3 half_b, const cairn_pose *b_in_a) {
    const cairn_mat3 turn = mat3_of_quat(b_in_a->rotation);
    const cairn_vec3 offset = b_in_a->position;
    float depth = vec3_length(half_a) + vec3_length(half_b);
    for (uint32_t i = 0; i < 3 && depth > 0.0f; ++i) {
        const cairn_vec3 edge_b = mat3_column(turn, i);
        depth = float_min(depth, overlap_along(unit_axis(i), half_a, half_b, &turn, offset));
        depth = float_min(depth, overlap_along(edge_b, half_a, half_b, &turn, offset));
        for (uint32_t k = 0; k < 3; ++k) {
            const cairn_vec3 across = vec3_cross(unit_axis(k), edge_b);
            const float sine_squared = vec3_length_squared(across);
            if (sine_squared > EDGE_SINE_SQUARED) {
                const cairn_vec3 axis = vec3_scale(across, 1.0f / float_sqrt(sine_squared));
                depth = float_min(depth, overlap_along(axis, half_a, half_b, &turn, offset));
            }
        }
    }
    return depth;
}

static float pair_depth(const solid *a, const solid *b) {
    const cairn_pose b_in_a = pose_multiply(pose_inverse(a->pose), b->pose);
    if (a->geometry.kind == CAIRN_SHAPE_BOX && b->geometry.kind == CAIRN_SHAPE_BOX) {
        return box_depth(a->geometry.half_extents, b->geometry.half_extents, &b_in_a);
    }
    const cairn_shape_view solid_a = {.geometry = &a->geometry};
    const cairn_shape_view solid_b = {.geometry = &b->geometry};
    uint32_t hint = 0;
    cairn_manifold manifold;
    float depth = 0.0f;
    cairn_collide_local(&solid_a, &solid_b, &b_in_a, 0.0f, &hint, &manifold);
    for (uint32_t i = 0; i < manifold.point_count; ++i) {
        depth = float_max(depth, -manifold.points[i].separation);
    }
    return depth;
}

static bool joined(const cairn_world *world, cairn_body_id a, cairn_body_id b) {
    cairn_joint_def def;
    for (cairn_joint_id joint = 1; cairn_joint_read(world, joint, &def) == CAIRN_OK; ++joint) {
        if ((def.body_a == a && def.body_b == b) || (def.body_a == b && def.body_b == a)) {
            return true;
        }
    }
    return false;
}

static bool may_touch(const solid *a, const solid *b) {
    const float reach = a->reach + b->reach;
    const cairn_vec3 between = vec3_sub(a->pose.position, b->pose.position);
    return !(a->fixed && b->fixed) && vec3_length_squared(between) < reach * reach;
}

float bench_deepest(const cairn_world *world) {
    const uint32_t shape_count = cairn_world_shapes(world, NULL, 0);
    cairn_shape_id *ids = calloc(shape_count + 1u, sizeof *ids);
    solid *solids = calloc(shape_count + 1u, sizeof *solids);
    bench_require(ids != NULL && solids != NULL, "no memory for the shapes of a scene");
    cairn_world_shapes(world, ids, shape_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < shape_count; ++i) {
        count += solid_read(world, ids[i], &solids[count]) ? 1u : 0u;
    }
    float deepest = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = i + 1; k < count; ++k) {
            const solid *a = &solids[i];
            const solid *b = &solids[k];
            const float depth = may_touch(a, b) ? pair_depth(a, b) : 0.0f;
            if (depth > deepest && !joined(world, a->body, b->body)) {
                deepest = depth;
            }
        }
    }
    free(ids);
    free(solids);
    return deepest;
}

// SPDX-License-Identifier: MIT
#include "bench/overlap.h"

#include <stdlib.h>

#include "bench/kit.h"
#include "sim/collide/collide.h"
#include "sim/math/vec.h"
#include "sim/shape/geometry.h"

// Edges closer to parallel than this give no separating axis.
#define EDGE_SINE_SQUARED 1e-4f

typedef struct solid {
    cairn_body_id body;
    cairn_geometry geometry;
    cairn_pose in_body;
    cairn_pose pose; // now
    float reach;     // the greatest distance of its points from the pose's position
    bool fixed;
} solid;

struct bench_solids {
    uint32_t count;
    solid solids[];
};

static float reach_of(const cairn_geometry *g) {
    switch (g->kind) {
    case CAIRN_SHAPE_BOX:
        return vec3_length(g->half_extents);
    case CAIRN_SHAPE_CAPSULE:
        return g->radius + g->half_height;
    default:
        return g->radius;
    }
}

static bool solid_read(const cairn_world *world, cairn_shape_id shape, solid *out) {
    cairn_shape_def def;
    cairn_body_id body;
    cairn_body_state state;
    bench_require(cairn_shape_read(world, shape, &def, &body) == CAIRN_OK &&
                      cairn_body_read(world, body, &state) == CAIRN_OK,
        "a shape of the scene is missing");
    *out = (solid){.body = body,
        .geometry = {.kind = def.kind,
            .half_extents = def.half_extents,
            .radius = def.radius,
            .half_height = def.half_height},
        .in_body = def.pose,
        .fixed = state.kind != CAIRN_BODY_DYNAMIC};
    out->reach = reach_of(&out->geometry);
    return def.mask != 0;
}

bench_solids *bench_solids_create(const cairn_world *world) {
    const uint32_t count = cairn_world_shapes(world, NULL, 0);
    bench_solids *solids = calloc(1, sizeof *solids + count * sizeof *solids->solids);
    cairn_shape_id *ids = calloc(count + 1u, sizeof *ids);
    bench_require(solids != NULL && ids != NULL, "no memory for the shapes of a scene");
    cairn_world_shapes(world, ids, count);
    for (uint32_t i = 0; i < count; ++i) {
        solids->count += solid_read(world, ids[i], &solids->solids[solids->count]) ? 1u : 0u;
    }
    free(ids);
    return solids;
}

void bench_solids_destroy(bench_solids *solids) {
    free(solids);
}

// The overlap of two boxes along `axis` (in the frame of box a): their half extents on it minus the
// distance of their centres. `turn` and `offset` transform from b's frame to a's.
static float along(cairn_vec3 axis, cairn_vec3 half_a, cairn_vec3 half_b, const cairn_mat3 *turn,
    cairn_vec3 offset) {
    const cairn_vec3 axis_in_b = mat3_apply_transposed(*turn, axis);
    return vec3_dot(vec3_abs(axis), half_a) + vec3_dot(vec3_abs(axis_in_b), half_b) -
           float_abs(vec3_dot(axis, offset));
}

static cairn_vec3 unit(uint32_t index) {
    return vec3(index == 0 ? 1.0f : 0.0f, index == 1 ? 1.0f : 0.0f, index == 2 ? 1.0f : 0.0f);
}

static float box_depth(cairn_vec3 half_a, cairn_vec3 half_b, const cairn_pose *b_in_a) {
    const cairn_mat3 turn = mat3_of_quat(b_in_a->rotation);
    const cairn_vec3 offset = b_in_a->position;
    float depth = vec3_length(half_a) + vec3_length(half_b);
    for (uint32_t i = 0; i < 3 && depth > 0.0f; ++i) {
        const cairn_vec3 edge_b = mat3_column(turn, i);
        depth = float_min(depth, along(unit(i), half_a, half_b, &turn, offset));
        depth = float_min(depth, along(edge_b, half_a, half_b, &turn, offset));
        for (uint32_t k = 0; k < 3; ++k) {
            const cairn_vec3 across = vec3_cross(unit(k), edge_b);
            const float sine_squared = vec3_length_squared(across);
            if (sine_squared > EDGE_SINE_SQUARED) {
                const cairn_vec3 axis = vec3_scale(across, 1.0f / float_sqrt(sine_squared));
                depth = float_min(depth, along(axis, half_a, half_b, &turn, offset));
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

static bool near(const solid *a, const solid *b) {
    const float reach = a->reach + b->reach;
    const cairn_vec3 between = vec3_sub(a->pose.position, b->pose.position);
    return !(a->fixed && b->fixed) && vec3_length_squared(between) < reach * reach;
}

float bench_deepest(bench_solids *solids, const cairn_world *world) {
    float deepest = 0.0f;
    for (uint32_t i = 0; i < solids->count; ++i) {
        solid *s = &solids->solids[i];
        cairn_body_state state;
        bench_require(cairn_body_read(world, s->body, &state) == CAIRN_OK, "a body is missing");
        const cairn_pose pose = {.position = state.position, .rotation = state.rotation};
        s->pose = pose_multiply(pose, s->in_body);
    }
    for (uint32_t i = 0; i < solids->count; ++i) {
        for (uint32_t k = i + 1; k < solids->count; ++k) {
            const solid *a = &solids->solids[i];
            const solid *b = &solids->solids[k];
            if (near(a, b) && pair_depth(a, b) > deepest && !joined(world, a->body, b->body)) {
                deepest = pair_depth(a, b);
            }
        }
    }
    return deepest;
}

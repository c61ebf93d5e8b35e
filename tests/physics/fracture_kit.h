// SPDX-License-Identifier: MIT
#pragma once

// Bodies that break, and their pieces.

#include "tests/physics/random_kit.h"

#include <cairn/fracture.h>

#define DENSITY 1000.0f
#define PIECES_MAX CAIRN_FRACTURE_PIECES_MAX

typedef struct pieces {
    uint32_t count;
    cairn_body_id ids[PIECES_MAX];
} pieces;

static inline cairn_world *roomy_world(cairn_vec3 gravity, uint32_t solver) {
    cairn_world_def def = cairn_world_def_default();
    def.gravity = gravity;
    def.solver = solver;
    def.hull_capacity = 256;
    return kit_world(&def);
}

static inline cairn_fracture_def at_point(cairn_vec3 point, uint64_t seed) {
    cairn_fracture_def def = cairn_fracture_def_default();
    def.point = point;
    def.seed = seed;
    return def;
}

static inline pieces shatter(
    cairn_world *world, cairn_body_id body, const cairn_fracture_def *def) {
    pieces made;
    const char *refusal = cairn_body_fracture_refusal(world, body, def);
    if (refusal != NULL) {
        fail_msg("%s", refusal);
    }
    (void)kit_hash(world); // so that the validator finds what is not marked as changed
    EXPECT_OK(cairn_body_fracture(world, body, def, made.ids, PIECES_MAX, &made.count));
    assert_false(cairn_body_exists(world, body));
    const char *where = "";
    if (cairn_world_validate(world, &where) != CAIRN_OK) {
        fail_msg("%s", where);
    }
    return made;
}

// ---- Random bodies

static inline cairn_shape_def hull_of(
    cairn_world *world, const cairn_vec3 *points, uint32_t count) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HULL;
    EXPECT_OK(cairn_hull_create(world, points, count, &shape.hull));
    return shape;
}

// Of points in a box: between a dozen and two dozen corners, and no two alike.
static inline cairn_shape_def any_hull(cairn_world *world, cairn_random *random) {
    cairn_vec3 points[40];
    const float size = between(random, 0.3f, 2.0f);
    for (uint32_t i = 0; i < 40; ++i) {
        points[i] = vec3(between(random, -size, size), between(random, -0.5f * size, size),
            between(random, -size, 0.7f * size));
    }
    return hull_of(world, points, 40);
}

static inline cairn_shape_def any_shape(cairn_world *world, cairn_random *random, uint32_t turn) {
    cairn_shape_def shape =
        box(between(random, 0.1f, 1.5f), between(random, 0.1f, 1.5f), between(random, 0.1f, 1.5f));
    if (turn % 4 == 1 || turn % 4 == 2) {
        shape = any_hull(world, random);
    } else if (turn % 4 == 3) {
        shape.kind = turn % 8 == 3 ? CAIRN_SHAPE_CYLINDER : CAIRN_SHAPE_CONE;
        shape.radius = between(random, 0.2f, 1.0f);
        shape.half_height = between(random, 0.2f, 1.0f);
    }
    // Half of them are not where their body's frame is.
    if (turn % 2 != 0) {
        shape.pose.rotation = any_rotation(random);
        shape.pose.position =
            vec3(between(random, -1.0f, 1.0f), between(random, -1.0f, 1.0f), 0.5f);
    }
    return shape;
}

static inline cairn_vec3 any_vector(cairn_random *random, float size) {
    return vec3(
        between(random, -size, size), between(random, -size, size), between(random, -size, size));
}

static inline cairn_vec3 centre_of(const cairn_world *world, cairn_body_id body) {
    const cairn_body_state state = kit_read(world, body);
    cairn_mass_properties mass;
    EXPECT_OK(cairn_body_read_mass(world, body, &mass));
    return vec3_add(state.position, quat_rotate(state.rotation, mass.centre));
}

static inline cairn_body_id any_body(cairn_world *world, cairn_random *random, uint32_t turn) {
    cairn_body_def def = cairn_body_def_default();
    const cairn_shape_def shape = any_shape(world, random, turn);
    def.position = any_vector(random, 5.0f);
    def.rotation = any_rotation(random);
    def.linear_velocity = any_vector(random, 10.0f);
    def.angular_velocity = any_vector(random, 5.0f);
    return kit_body(world, &def, &shape);
}

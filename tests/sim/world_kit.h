// SPDX-License-Identifier: MIT
#pragma once

// Helpers that the tests of whole worlds share.

#include "tests/kit/test.h"

#include <stdlib.h>

#include "sim/math/vec.h"
#include <cairn/sim.h>

// Fails, with the call and its status, if the status is not CAIRN_OK.
#define EXPECT_OK(call)                                                                            \
    do {                                                                                           \
        const cairn_status call_status = (call);                                                   \
        if (call_status != CAIRN_OK) {                                                             \
            fail_msg("%s: %s", #call, cairn_status_text(call_status));                             \
        }                                                                                          \
    } while (0)

typedef struct kit_bytes {
    void *bytes;
    size_t size;
} kit_bytes;

SCOPE_POINTER_ENDS(cairn_world, cairn_world_destroy)

// NULL: the default def.
static inline cairn_world *kit_world(const cairn_world_def *def) {
    const cairn_world_def defaults = cairn_world_def_default();
    cairn_world *world = NULL;
    EXPECT_OK(cairn_world_create(def != NULL ? def : &defaults, &world));
    return world;
}

static inline cairn_world *kit_fork(const cairn_world *world) {
    cairn_world *fork = NULL;
    EXPECT_OK(cairn_world_fork(world, &fork));
    return fork;
}

// A body with one shape. NULL: the default shape, a cube of 1 m and 1000 kg.
static inline cairn_body_id kit_body(
    cairn_world *world, const cairn_body_def *def, const cairn_shape_def *shape) {
    const cairn_shape_def cube = cairn_shape_def_default();
    cairn_body_id body = 0;
    cairn_shape_id id = 0;
    EXPECT_OK(cairn_body_create(world, def, &body));
    EXPECT_OK(cairn_shape_create(world, body, shape != NULL ? shape : &cube, &id));
    return body;
}

// A dynamic body at this position.
static inline cairn_body_id kit_drop(
    cairn_world *world, cairn_vec3 position, const cairn_shape_def *shape) {
    cairn_body_def def = cairn_body_def_default();
    def.position = position;
    return kit_body(world, &def, shape);
}

static inline cairn_body_id kit_cube(cairn_world *world, cairn_vec3 position) {
    return kit_drop(world, position, NULL);
}

// A kinematic cube.
static inline cairn_body_id kit_kinematic(
    cairn_world *world, cairn_vec3 position, cairn_vec3 velocity) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_KINEMATIC;
    def.position = position;
    def.linear_velocity = velocity;
    return kit_body(world, &def, NULL);
}

static inline cairn_body_id kit_box(
    cairn_world *world, cairn_vec3 position, cairn_vec3 half_extents, float density) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = half_extents;
    shape.density = density;
    return kit_drop(world, position, &shape);
}

static inline cairn_body_id kit_sphere(cairn_world *world, cairn_vec3 position, float radius) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = radius;
    return kit_drop(world, position, &shape);
}

// The half-space below y = 0.
static inline cairn_body_id kit_ground(cairn_world *world) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.kind = CAIRN_BODY_STATIC;
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    return kit_body(world, &def, &shape);
}

static inline cairn_joint_id kit_joint(cairn_world *world, const cairn_joint_def *def) {
    cairn_joint_id joint = 0;
    EXPECT_OK(cairn_joint_create(world, def, &joint));
    return joint;
}

static inline void kit_run(cairn_world *world, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        cairn_world_step(world, NULL, 0);
    }
}

static inline cairn_body_state kit_read(const cairn_world *world, cairn_body_id body) {
    cairn_body_state state;
    EXPECT_OK(cairn_body_read(world, body, &state));
    return state;
}

static inline cairn_hash128 kit_hash(const cairn_world *world) {
    return cairn_world_hash_read(world).full;
}

static inline bool kit_equal(const cairn_world *a, const cairn_world *b) {
    return cairn_hash_equal(kit_hash(a), kit_hash(b));
}

static inline kit_bytes kit_save(const cairn_world *world) {
    kit_bytes saved = {.size = cairn_world_save_size(world)};
    saved.bytes = malloc(saved.size);
    assert_non_null(saved.bytes);
    assert_int_equal(cairn_world_save(world, saved.bytes, saved.size), saved.size);
    return saved;
}

static inline kit_bytes kit_encode(const cairn_world *world) {
    kit_bytes encoded = {.size = cairn_world_encode_size(world)};
    encoded.bytes = malloc(encoded.size);
    assert_non_null(encoded.bytes);
    assert_int_equal(cairn_world_encode(world, encoded.bytes, encoded.size), encoded.size);
    return encoded;
}

static inline void kit_free(kit_bytes *bytes) {
    free(bytes->bytes);
    *bytes = (kit_bytes){.bytes = NULL};
}
SCOPE_ENDS(kit_bytes, kit_free)

// Steps both, after `twin` was loaded from the save of `world`, so that it has to derive
// everything that is not part of the state. The two must stay equal.
static inline void kit_step_beside_reloaded(cairn_world *world, cairn_world *twin) {
    SCOPED(kit_bytes) saved = kit_save(world);
    EXPECT_OK(cairn_world_load(twin, saved.bytes, saved.size));
    kit_run(world, 1);
    kit_run(twin, 1);
    uint32_t counts[2];
    const cairn_contact_event *events = cairn_world_contact_events(world, &counts[0]);
    const cairn_contact_event *expected = cairn_world_contact_events(twin, &counts[1]);
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(events, expected, counts[0] * sizeof *events);
    assert_true(kit_equal(world, twin));
}

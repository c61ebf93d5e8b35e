// SPDX-License-Identifier: MIT
#pragma once

// Verbs that the tests of whole worlds share.

#include "tests/kit/test.h"

#include <stdlib.h>

#include "sim/math/vec.h"
#include <cairn/sim.h>

typedef struct kit_bytes {
    void *bytes;
    size_t size;
} kit_bytes;

SCOPE_POINTER_ENDS(cairn_world, cairn_world_destroy)

static inline cairn_world *kit_world(const cairn_world_def *def) {
    const cairn_world_def defaults = cairn_world_def_default();
    cairn_world *world = NULL;
    assert_int_equal(cairn_world_create(def != NULL ? def : &defaults, &world), CAIRN_OK);
    return world;
}

static inline cairn_world *kit_fork(const cairn_world *world) {
    cairn_world *fork = NULL;
    assert_int_equal(cairn_world_fork(world, &fork), CAIRN_OK);
    return fork;
}

static inline cairn_body_id kit_body(
    cairn_world *world, const cairn_body_def *def, const cairn_shape_def *shape) {
    cairn_body_id body = 0;
    cairn_shape_id id = 0;
    assert_int_equal(cairn_body_create(world, def, &body), CAIRN_OK);
    assert_int_equal(cairn_shape_create(world, body, shape, &id), CAIRN_OK);
    return body;
}

static inline cairn_body_id kit_ground(cairn_world *world, float friction) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.kind = CAIRN_BODY_STATIC;
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    shape.friction = friction;
    return kit_body(world, &def, &shape);
}

static inline cairn_body_id kit_sphere(
    cairn_world *world, cairn_vec3 position, float radius, float density, float friction) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.position = position;
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = radius;
    shape.density = density;
    shape.friction = friction;
    return kit_body(world, &def, &shape);
}

static inline cairn_body_id kit_box(cairn_world *world, cairn_vec3 position,
    cairn_vec3 half_extents, float density, float friction) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.position = position;
    shape.half_extents = half_extents;
    shape.density = density;
    shape.friction = friction;
    return kit_body(world, &def, &shape);
}

static inline void kit_run(cairn_world *world, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        cairn_world_step(world, NULL, 0);
    }
}

static inline cairn_body_state kit_read(const cairn_world *world, cairn_body_id body) {
    cairn_body_state state;
    assert_int_equal(cairn_body_read(world, body, &state), CAIRN_OK);
    return state;
}

static inline cairn_hash128 kit_hash(const cairn_world *world) {
    return cairn_world_hash_read(world).full;
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

// SPDX-License-Identifier: MIT
#include "bench/kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/math/vec.h"

void bench_require(bool ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "bench: %s\n", what);
        exit(1);
    }
}

cairn_world *bench_world(const cairn_world_def *size) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    def.body_capacity = size->body_capacity;
    def.shape_capacity = size->shape_capacity;
    def.joint_capacity = size->joint_capacity;
    def.contact_capacity = size->contact_capacity;
    def.sleep = size->sleep;
    bench_require(cairn_world_create(&def, &world) == CAIRN_OK, "the world cannot be created");
    return world;
}

cairn_vec3 bench_at(float x, float y, float z) {
    return (cairn_vec3){.x = x, .y = y, .z = z};
}

cairn_shape_def bench_box(float half_x, float half_y, float half_z) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = bench_at(half_x, half_y, half_z);
    return shape;
}

cairn_shape_def bench_ball(float radius) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = radius;
    return shape;
}

cairn_shape_def bench_capsule(float radius, float half_height) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_CAPSULE;
    shape.radius = radius;
    shape.half_height = half_height;
    return shape;
}

cairn_shape_def bench_capsule_along_x(float radius, float half_height) {
    static const float half_root = 0.70710678f;
    cairn_shape_def shape = bench_capsule(radius, half_height);
    shape.pose.rotation = (cairn_quat){.z = -half_root, .w = half_root};
    return shape;
}

cairn_shape_def bench_ghost(cairn_shape_def shape) {
    shape.mask = 0;
    return shape;
}

static cairn_body_id add_body(
    cairn_world *world, const cairn_body_def *def, const cairn_shape_def *shape) {
    cairn_body_id body = 0;
    cairn_shape_id id = 0;
    bench_require(cairn_body_create(world, def, &body) == CAIRN_OK &&
                      cairn_shape_create(world, body, shape, &id) == CAIRN_OK,
        "a body of the scene was refused");
    return body;
}

cairn_body_id bench_fix(cairn_world *world, const cairn_shape_def *shape, cairn_vec3 at) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_STATIC;
    def.position = at;
    return add_body(world, &def, shape);
}

cairn_body_id bench_drop_turned(
    cairn_world *world, const cairn_shape_def *shape, cairn_vec3 at, cairn_quat turn) {
    cairn_body_def def = cairn_body_def_default();
    def.position = at;
    def.rotation = turn;
    return add_body(world, &def, shape);
}

cairn_body_id bench_drop(cairn_world *world, const cairn_shape_def *shape, cairn_vec3 at) {
    return bench_drop_turned(world, shape, at, (cairn_quat){.w = 1.0f});
}

void bench_floor(cairn_world *world, float half_width) {
    const cairn_shape_def slab = bench_box(half_width, 1.0f, half_width);
    bench_fix(world, &slab, bench_at(0.0f, -1.0f, 0.0f));
}

void bench_yard(cairn_world *world, float half_width) {
    static const float half_thick = 0.5f;
    static const float half_high = 20.0f;
    const float out = half_width + half_thick;
    const float along = half_width + 2.0f * half_thick;
    const cairn_shape_def across_x = bench_box(half_thick, half_high, along);
    const cairn_shape_def across_z = bench_box(along, half_high, half_thick);
    bench_floor(world, 50.0f);
    bench_fix(world, &across_x, bench_at(-out, half_high, 0.0f));
    bench_fix(world, &across_x, bench_at(out, half_high, 0.0f));
    bench_fix(world, &across_z, bench_at(0.0f, half_high, -out));
    bench_fix(world, &across_z, bench_at(0.0f, half_high, out));
}

// Cycles through -reach .. reach in whole steps as the index grows.
static float cycle(int index, int stride, int reach) {
    return (float)(index * stride % (2 * reach + 1) - reach);
}

cairn_quat bench_turn(int index, float scale) {
    const float reach = 0.05f * scale;
    const float x = reach * cycle(index, 7, 5) / 5.0f;
    const float y = reach * cycle(index, 13, 8) / 8.0f;
    const float z = reach * cycle(index, 5, 6) / 6.0f;
    const float shrink = 1.0f / float_sqrt(x * x + y * y + z * z + 1.0f);
    return (cairn_quat){.x = x * shrink, .y = y * shrink, .z = z * shrink, .w = shrink};
}

cairn_vec3 bench_anchor(const cairn_world *world, cairn_body_id body, cairn_vec3 point) {
    cairn_body_state state;
    bench_require(
        cairn_body_read(world, body, &state) == CAIRN_OK, "a body of the scene is missing");
    return quat_rotate(quat_conjugate(state.rotation), vec3_sub(point, state.position));
}

cairn_joint_id bench_pin(cairn_world *world, cairn_body_id a, cairn_body_id b, cairn_vec3 point) {
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint = 0;
    def.body_a = a;
    def.body_b = b;
    def.anchor_a = bench_anchor(world, a, point);
    def.anchor_b = bench_anchor(world, b, point);
    bench_require(
        cairn_joint_create(world, &def, &joint) == CAIRN_OK, "a joint of the scene was refused");
    return joint;
}

bool bench_is_listed(const char *names, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = names; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

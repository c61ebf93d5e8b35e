// SPDX-License-Identifier: MIT
#include "bench/bench_scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN 6.28318530717958647692

static void must(bool ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "bench: %s\n", what);
        exit(1);
    }
}

static cairn_body_id add(cairn_world *world, uint32_t kind, cairn_shape_def shape, cairn_vec3 at) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = kind;
    def.position = at;
    cairn_body_id body = 0;
    cairn_shape_id id = 0;
    must(cairn_body_create(world, &def, &body) == CAIRN_OK &&
             cairn_shape_create(world, body, &shape, &id) == CAIRN_OK,
        "a body of the scene was refused");
    return body;
}

static void add_floor(cairn_world *world) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    add(world, CAIRN_BODY_STATIC, shape, (cairn_vec3){.x = 0.0f});
}

static cairn_body_id add_cube(cairn_world *world, float half, float x, float y, float z) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = (cairn_vec3){.x = half, .y = half, .z = half};
    return add(world, CAIRN_BODY_DYNAMIC, shape, (cairn_vec3){.x = x, .y = y, .z = z});
}

static void define_awake(cairn_world_def *def) {
    def->contact_capacity = 16384;
    def->sleep = 0;
}

// The plough is the last body: the floor, 900 cubes, then it.
static void build_cubes901(cairn_world *world) {
    add_floor(world);
    for (int i = 0; i < 30; ++i) {
        for (int k = 0; k < 30; ++k) {
            add_cube(world, 0.2f, (float)i - 14.5f, 2.0f, (float)k - 14.5f);
        }
    }
    add_cube(world, 0.8f, -17.0f, 0.8f, 0.0f);
}

static void plough(cairn_world *world) {
    static const cairn_body_id body = 902;
    const double seconds = (double)cairn_world_tick(world) / 60.0;
    const cairn_vec3 force = {.x = (float)(60000.0 * cos(TURN * seconds / 6.0)),
        .z = (float)(30000.0 * sin(TURN * seconds / 4.0))};
    must(cairn_body_apply_force(world, body, force, (cairn_vec3){.x = 0.0f}) == CAIRN_OK,
        "the plough is not where it was put");
}

static void build_pyramid(cairn_world *world) {
    add_floor(world);
    for (int row = 0; row < 40; ++row) {
        for (int i = row; i < 40; ++i) {
            const float x = (float)(row + 1) * 0.5f + (float)(i - row) - 20.0f;
            add_cube(world, 0.5f, x, (float)row + 0.5f, 0.0f);
        }
    }
}

static void define_sleepers(cairn_world_def *def) {
    def->body_capacity = 10240;
    def->shape_capacity = 10240;
    def->contact_capacity = 16384;
}

static void build_sleepers(cairn_world *world) {
    add_floor(world);
    for (int i = 0; i < 100; ++i) {
        for (int k = 0; k < 100; ++k) {
            add_cube(world, 0.2f, (float)i - 49.5f, 0.2f, (float)k - 49.5f);
        }
    }
}

const bench_scene bench_scenes[] = {
    {.name = "cubes901",
        .what = "900 cubes fall on a plane, a large one ploughs through them",
        .steps = 600,
        .define = define_awake,
        .build = build_cubes901,
        .disturb = plough},
    {.name = "pyramid",
        .what = "820 cubes, 40 at the base",
        .steps = 300,
        .define = define_awake,
        .build = build_pyramid},
    {.name = "sleepers",
        .what = "10000 cubes on a plane, all asleep",
        .warm_up = 120,
        .steps = 300,
        .define = define_sleepers,
        .build = build_sleepers},
};
const uint32_t bench_scene_count = sizeof bench_scenes / sizeof bench_scenes[0];

const bench_scene *bench_scene_find(const char *name) {
    for (uint32_t i = 0; i < bench_scene_count; ++i) {
        if (strcmp(bench_scenes[i].name, name) == 0) {
            return &bench_scenes[i];
        }
    }
    return NULL;
}

cairn_world *bench_scene_create(const bench_scene *scene) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    scene->define(&def);
    must(cairn_world_create(&def, &world) == CAIRN_OK, "the world cannot be created");
    scene->build(world);
    return world;
}

void bench_scene_step(const bench_scene *scene, cairn_world *world) {
    if (scene->disturb != NULL) {
        scene->disturb(world);
    }
    cairn_world_step(world, NULL, 0);
}

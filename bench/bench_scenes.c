// SPDX-License-Identifier: MIT
#include "bench/bench_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/kit.h"

#define TURN 6.28318530717958647692

// ------------------------------------------------------------------------------ cubes and plough

// A floor with cubes in rows of `side`, 1 m apart.
static void build_cubes(cairn_world *world, int count, int side, float height) {
    const cairn_shape_def cube = bench_box(0.2f, 0.2f, 0.2f);
    const float middle = 0.5f * (float)(side - 1);
    bench_floor(world, middle > 99.0f ? middle + 1.0f : 100.0f);
    for (int i = 0; i < count; ++i) {
        const float x = (float)(i / side) - middle;
        bench_drop(world, &cube, bench_at(x, height, (float)(i % side) - middle));
    }
}

static void build_plough(cairn_world *world, int cubes) {
    const cairn_shape_def plough = bench_box(0.8f, 0.8f, 0.8f);
    build_cubes(world, cubes, 30, 2.0f);
    bench_drop(world, &plough, bench_at(-17.0f, 0.8f, 0.0f));
}

static void build_cubes901(cairn_world *world) {
    build_plough(world, 900);
}

static void build_cubes500(cairn_world *world) {
    build_plough(world, 499);
}

// The plough is the last body. Its force oscillates with periods of 6 s along x and 4 s along z.
static void push(cairn_world *world) {
    const cairn_body_id plough = cairn_world_counts_read(world).bodies;
    const double seconds = (double)cairn_world_tick(world) / 60.0;
    const cairn_vec3 force = {.x = (float)(60000.0 * cos(TURN * seconds / 6.0)),
        .z = (float)(30000.0 * sin(TURN * seconds / 4.0))};
    bench_require(cairn_body_apply_force(world, plough, force, (cairn_vec3){.x = 0.0f}) == CAIRN_OK,
        "the plough does not exist");
}

// ----------------------------------------------------------------------------------------- piles

static void build_pyramid(cairn_world *world) {
    const cairn_shape_def cube = bench_box(0.5f, 0.5f, 0.5f);
    bench_floor(world, 100.0f);
    for (int row = 0; row < 40; ++row) {
        for (int i = row; i < 40; ++i) {
            const float x = (float)(row + 1) * 0.5f + (float)(i - row) - 20.0f;
            bench_drop(world, &cube, bench_at(x, (float)row + 0.5f, 0.0f));
        }
    }
}

// Layers of 10 by 10 places, 1.5 m apart.
static cairn_vec3 place_in_layer(int index) {
    return bench_at(((float)(index / 10 % 10) - 4.5f) * 1.5f, 1.0f + 1.5f * (float)(index / 100),
        ((float)(index % 10) - 4.5f) * 1.5f);
}

static cairn_vec3 shifted(cairn_vec3 at, int index, float most) {
    at.x += most * (float)(index * 7919 % 101 - 50) / 50.0f;
    at.z += most * (float)(index * 104729 % 103 - 51) / 51.0f;
    return at;
}

// `count` bricks in layers of `side` by `side` places, in a yard that fits.
static void build_bricks(cairn_world *world, int count, int side, float shift, float turn) {
    const cairn_shape_def brick = bench_box(0.5f, 0.4f, 0.3f);
    const float middle = 0.5f * (float)(side - 1);
    bench_yard(world, 0.75f * (float)side + 0.5f);
    for (int i = 0; i < count; ++i) {
        const cairn_vec3 place = bench_at(((float)(i / side % side) - middle) * 1.5f,
            1.0f + 1.5f * (float)(i / (side * side)), ((float)(i % side) - middle) * 1.5f);
        const cairn_vec3 at = shifted(place, i, shift);
        bench_drop_turned(world, &brick, at, bench_turn(i, turn));
    }
}

static void build_pile(cairn_world *world) {
    build_bricks(world, 2000, 10, 0.0f, 1.0f);
}

static void build_heap(cairn_world *world) {
    build_bricks(world, 2000, 10, 0.15f, 16.0f);
}

static void build_heap4000(cairn_world *world) {
    build_bricks(world, 4000, 14, 0.15f, 16.0f);
}

static void build_heap16000(cairn_world *world) {
    build_bricks(world, 16000, 28, 0.15f, 16.0f);
}

static void build_heap30000(cairn_world *world) {
    build_bricks(world, 30000, 38, 0.15f, 16.0f);
}

static void build_rain(cairn_world *world) {
    const cairn_shape_def drop = bench_ball(0.25f);
    bench_yard(world, 8.0f);
    for (int i = 0; i < 5000; ++i) {
        const cairn_vec3 at = bench_at(((float)(i / 16 % 16) - 7.5f) * 0.9f,
            1.0f + 0.9f * (float)(i / 256), ((float)(i % 16) - 7.5f) * 0.9f);
        bench_drop(world, &drop, shifted(at, i, 0.1f));
    }
}

// The corners of an icosahedron half a metre from its middle.
static cairn_hull_id create_icosahedron(cairn_world *world) {
    static const float narrow = 0.5f * 0.52573111f;
    static const float wide = 0.5f * 0.85065081f;
    cairn_vec3 points[12];
    cairn_hull_id hull = 0;
    for (int i = 0; i < 4; ++i) {
        const float a = (i & 2) != 0 ? -narrow : narrow;
        const float b = (i & 1) != 0 ? -wide : wide;
        points[i] = bench_at(0.0f, a, b);
        points[4 + i] = bench_at(a, b, 0.0f);
        points[8 + i] = bench_at(b, 0.0f, a);
    }
    bench_require(cairn_hull_create(world, points, 12, &hull) == CAIRN_OK, "a hull was refused");
    return hull;
}

static void build_mixed(cairn_world *world) {
    cairn_shape_def stone = cairn_shape_def_default();
    stone.kind = CAIRN_SHAPE_HULL;
    stone.hull = create_icosahedron(world);
    const cairn_shape_def shapes[3] = {bench_ball(0.5f), bench_capsule(0.3f, 0.3f), stone};
    bench_yard(world, 8.0f);
    for (int i = 0; i < 1000; ++i) {
        bench_drop_turned(world, &shapes[i % 3], place_in_layer(i), bench_turn(i, 1.0f));
    }
}

// ---------------------------------------------------------------------------------------- joints

// Column by column from a fixed upper row, each ball pinned to the one above and the one before.
static void build_grid(cairn_world *world) {
    const cairn_shape_def ball = bench_ghost(bench_ball(0.4f));
    cairn_body_id bodies[50][50];
    for (int column = 0; column < 50; ++column) {
        for (int row = 0; row < 50; ++row) {
            const float x = (float)column;
            const float y = -(float)row;
            const cairn_vec3 at = bench_at(x, y, 0.0f);
            if (row == 0) {
                bodies[column][row] = bench_fix(world, &ball, at);
                continue;
            }
            const cairn_body_id self = bench_drop(world, &ball, at);
            bodies[column][row] = self;
            bench_pin(world, bodies[column][row - 1], self, bench_at(x, y + 0.5f, 0.0f));
            if (column > 0) {
                bench_pin(world, bodies[column - 1][row], self, bench_at(x - 0.5f, y, 0.0f));
            }
        }
    }
}

// ----------------------------------------------------------------------------------------- fields

static void build_field(cairn_world *world) {
    build_cubes(world, 10000, 100, 0.2f);
}

static void build_field1000(cairn_world *world) {
    build_cubes(world, 1000, 32, 0.2f);
}

static void build_field30000(cairn_world *world) {
    build_cubes(world, 30000, 175, 0.2f);
}

static void build_field100000(cairn_world *world) {
    build_cubes(world, 100000, 316, 0.2f);
}

// Keeps a thousand cubes of a field awake.
static void nudge_a_thousand(cairn_world *world) {
    const cairn_vec3 up = {.y = 1.0f};
    for (cairn_body_id body = 2; body <= 1001; ++body) {
        bench_require(cairn_body_apply_impulse_at_centre(world, body, up) == CAIRN_OK,
            "a cube does not exist");
    }
}

static void build_field2000(cairn_world *world) {
    build_cubes(world, 2000, 45, 0.2f);
}

static void nudge_a_hundred(cairn_world *world) {
    const cairn_vec3 up = {.y = 1.0f};
    for (cairn_body_id body = 2; body <= 101; ++body) {
        bench_require(cairn_body_apply_impulse_at_centre(world, body, up) == CAIRN_OK,
            "a cube does not exist");
    }
}

// Every hundredth cube of a field, so that hardly one that is awake has a neighbour that is.
static void nudge_each_hundredth(cairn_world *world) {
    const cairn_vec3 up = {.y = 1.0f};
    for (cairn_body_id body = 2; body <= 100001; body += 100) {
        bench_require(cairn_body_apply_impulse_at_centre(world, body, up) == CAIRN_OK,
            "a cube does not exist");
    }
}

#define SIZE(bodies, joints, contacts, sleeps)                                                     \
    {                                                                                              \
        .body_capacity = (bodies), .shape_capacity = (bodies), .joint_capacity = (joints),         \
        .contact_capacity = (contacts), .sleep = (sleeps)                                          \
    }

const bench_scene bench_scenes[] = {
    {"A", "cubes901", "900 cubes fall on a floor, a large one ploughs through them", 0, 600,
        SIZE(1024, 0, 16384, 0), build_cubes901, push},
    {"B", "pyramid", "820 cubes, 40 at the base", 0, 300, SIZE(1024, 0, 16384, 0), build_pyramid,
        NULL},
    {"C", "pile", "2000 bricks fall into a yard and stand in columns", 0, 600,
        SIZE(2048, 0, 32768, 0), build_pile, NULL},
    {"C2", "heap", "2000 bricks fall into a yard and lie in a heap", 0, 600,
        SIZE(2048, 0, 32768, 0), build_heap, NULL},
    {"D", "mixed", "1000 spheres, capsules and icosahedra fall into a yard", 0, 600,
        SIZE(1024, 0, 16384, 0), build_mixed, NULL},
    {"E", "ragdolls", "100 figures of 11 capsules fall into a yard", 0, 600,
        SIZE(1120, 1024, 16384, 0), bench_ragdolls, NULL},
    {"F", "grid", "50 by 50 balls on ball joints hang from their upper row", 0, 300,
        SIZE(2560, 5120, 1024, 0), build_grid, NULL},
    {"G", "rain", "5000 spheres fall into a yard", 0, 600, SIZE(5120, 0, 65536, 0), build_rain,
        NULL},
    {"H4", "heap4000", "4000 bricks fall into a yard and lie in a heap", 0, 600,
        SIZE(4096, 0, 65536, 0), build_heap4000, NULL},
    {"H16", "heap16000", "16000 bricks fall into a yard and lie in a heap", 0, 600,
        SIZE(16384, 0, 262144, 0), build_heap16000, NULL},
    {"H30", "heap30000", "30000 bricks fall into a yard and lie in a heap", 0, 600,
        SIZE(30720, 0, 524288, 0), build_heap30000, NULL},
    {"S1", "field1000", "1000 cubes on a floor, all awake", 120, 120, SIZE(1024, 0, 4096, 1),
        build_field1000, nudge_a_thousand},
    {"S10", "field10000", "10000 cubes on a floor, a thousand awake", 120, 120,
        SIZE(10240, 0, 32768, 1), build_field, nudge_a_thousand},
    {"S30", "field30000", "30000 cubes on a floor, a thousand awake", 120, 120,
        SIZE(30720, 0, 65536, 1), build_field30000, nudge_a_thousand},
    {"S100", "field100000", "100000 cubes on a floor, a thousand awake", 120, 120,
        SIZE(101376, 0, 262144, 1), build_field100000, nudge_a_thousand},
    {"S100e", "field100000e", "100000 cubes on a floor, each hundredth awake", 120, 120,
        SIZE(101376, 0, 262144, 1), build_field100000, nudge_each_hundredth}};
const uint32_t bench_peer_scene_count = 8;
const uint32_t bench_scene_count = sizeof bench_scenes / sizeof bench_scenes[0];

const bench_scene bench_scene_rollback = {NULL, "cubes500",
    "499 cubes fall on a floor, a large one ploughs through them", 300, 0, SIZE(512, 0, 8192, 0),
    build_cubes500, push};
const bench_scene bench_scene_field = {NULL, "field", "10000 cubes on a floor, awake", 30, 0,
    SIZE(10240, 0, 16384, 0), build_field, NULL};
const bench_scene bench_scene_drowsy = {NULL, "drowsy", "10000 cubes on a floor, a tenth awake",
    120, 0, SIZE(10240, 0, 16384, 1), build_field, nudge_a_thousand};
const bench_scene bench_scene_sleepers = {NULL, "sleepers", "10000 cubes on a floor, asleep", 120,
    0, SIZE(10240, 0, 16384, 1), build_field, NULL};

const bench_scene bench_scene_hundred = {NULL, "hundred", "2000 cubes on a floor, 100 awake", 120,
    0, SIZE(2048, 0, 8192, 1), build_field2000, nudge_a_hundred};

const bench_scene *bench_scene_find(const char *name) {
    for (uint32_t i = 0; i < bench_scene_count; ++i) {
        const bench_scene *scene = &bench_scenes[i];
        if (strcmp(scene->name, name) == 0 || strcmp(scene->letter, name) == 0) {
            return scene;
        }
    }
    return NULL;
}

cairn_world *bench_scene_create(const bench_scene *scene) {
    cairn_world *world = bench_world(&scene->size);
    scene->build(world);
    for (uint32_t i = 0; i < scene->warm_up; ++i) {
        bench_scene_step(scene, world);
    }
    return world;
}

void bench_scene_disturb(const bench_scene *scene, cairn_world *world) {
    if (scene->disturb != NULL) {
        scene->disturb(world);
    }
}

void bench_scene_step(const bench_scene *scene, cairn_world *world) {
    bench_scene_disturb(scene, world);
    cairn_world_step(world, NULL, 0);
}

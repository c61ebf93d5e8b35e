// SPDX-License-Identifier: MIT
#include "bench/stability.h"

#include "bench/kit.h"

// Beams and boards that lie crosswise, things that swing and bounce, and things that are thrown.

// ------------------------------------------------------------------------- long thin boxes

// Half the sizes of a beam along x or, turned, along z.
static cairn_shape_def beam(float half_length, float half_height, float half_width, bool along_z) {
    return along_z ? bench_box(half_width, half_height, half_length)
                   : bench_box(half_length, half_height, half_width);
}

// Two beams of 2.6 x 0.1 x 0.1 m a layer, crosswise from layer to layer, 20 cm from their ends.
void bench_build_cabin(cairn_world *world, float layers) {
    bench_floor(world, 50.0f);
    for (int i = 0; i < (int)layers; ++i) {
        const bool along_z = i % 2 == 1;
        const cairn_shape_def log = beam(1.3f, 0.05f, 0.05f, along_z);
        const float y = 0.1f * ((float)i + 0.5f);
        for (int side = -1; side <= 1; side += 2) {
            const float off = 1.1f * (float)side;
            bench_drop(world, &log, along_z ? bench_at(off, y, 0.0f) : bench_at(0.0f, y, off));
        }
    }
}

// Planks of 4 x 0.05 x 0.2 m that touch at their middles alone.
void bench_build_planks(cairn_world *world, float count) {
    bench_floor(world, 50.0f);
    for (int i = 0; i < (int)count; ++i) {
        const cairn_shape_def plank = beam(2.0f, 0.025f, 0.1f, i % 2 == 1);
        bench_drop(world, &plank, bench_at(0.0f, 0.05f * ((float)i + 0.5f), 0.0f));
    }
}

// Six storeys: four posts 10 cm thick, two ledgers along x on them, five boards across these.
static void build_scaffold(cairn_world *world, float length, float depth, float storey) {
    const cairn_shape_def post = bench_box(0.05f, 0.5f * storey, 0.05f);
    const cairn_shape_def ledger = bench_box(0.5f * length + 0.15f, 0.025f, 0.1f);
    const cairn_shape_def board = bench_box(0.1f, 0.025f, 0.5f * depth + 0.15f);
    float y = 0.0f;
    bench_floor(world, 50.0f);
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < 4; ++i) {
            const float x = i % 2 == 0 ? -0.5f * length : 0.5f * length;
            const float z = i / 2 == 0 ? -0.5f * depth : 0.5f * depth;
            bench_drop(world, &post, bench_at(x, y + 0.5f * storey, z));
        }
        y += storey;
        for (int side = -1; side <= 1; side += 2) {
            bench_drop(world, &ledger, bench_at(0.0f, y + 0.025f, 0.5f * (float)side * depth));
        }
        for (int i = -2; i <= 2; ++i) {
            bench_drop(world, &board, bench_at(0.25f * (float)i * length, y + 0.075f, 0.0f));
        }
        y += 0.1f;
    }
}

void bench_build_scaffold(cairn_world *world, float storey) {
    if (storey > 1.5f) {
        build_scaffold(world, 2.4f, 1.2f, storey);
    } else {
        build_scaffold(world, 2.0f, 1.0f, storey);
    }
}

// ---------------------------------------------------------------------- swinging and bouncing

// A ball on an arm of 1 m, let go at the height of its hook.
void bench_build_pendulum(cairn_world *world, float kind) {
    const cairn_shape_def hook = bench_ghost(bench_ball(0.1f));
    const cairn_shape_def bob = bench_ghost(bench_ball(0.1f));
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id joint = 0;
    def.kind = (uint32_t)kind;
    def.body_a = bench_fix(world, &hook, bench_at(0.0f, 2.0f, 0.0f));
    def.body_b = bench_drop(world, &bob, bench_at(1.0f, 2.0f, 0.0f));
    def.length = 1.0f;
    def.anchor_b.x = def.kind == CAIRN_JOINT_DISTANCE ? 0.0f : -1.0f;
    def.axis_a = def.axis_b = bench_at(0.0f, 0.0f, 1.0f);
    def.normal_a = def.normal_b = bench_at(1.0f, 0.0f, 0.0f);
    bench_require(cairn_joint_create(world, &def, &joint) == CAIRN_OK, "the pendulum's joint");
}

// A ball that is dropped from 2 m and gives back all.
void bench_build_bounce(cairn_world *world, float restitution) {
    cairn_shape_def ball = bench_ball(0.25f);
    bench_floor(world, 50.0f);
    ball.restitution = restitution;
    bench_drop(world, &ball, bench_at(0.0f, 2.25f, 0.0f));
}

// ----------------------------------------------------------------------------- fast bodies

#define THROWN 160
#define LANE 4.0f // m, from one wall to the next

// Balls of 5 cm radius fly at walls of that half thickness, at 10 to 300 m/s and up to 40 degrees
// off the normal, from distances spread over the way of a tick. Each has a wall of its own.
void bench_build_wall(cairn_world *world, float half_thickness) {
    static const float speeds[] = {10.0f, 20.0f, 50.0f, 100.0f, 200.0f, 300.0f};
    const cairn_shape_def wall = bench_box(half_thickness, 1.5f, 1.5f);
    const cairn_shape_def ball = bench_ball(0.05f);
    for (int i = 0; i < 6 * THROWN; ++i) {
        const float speed = speeds[i % 6];
        const float z = LANE * (float)(i - 3 * THROWN);
        const float away = half_thickness + 0.06f + speed / 60.0f * (float)(i / 6) / THROWN;
        const float slope = 0.84f * ((float)(i * 37 % 101) / 50.0f - 1.0f); // tangent
        cairn_body_def def = cairn_body_def_default();
        cairn_body_id body = 0;
        cairn_shape_id shape = 0;
        bench_fix(world, &wall, bench_at(0.0f, 0.0f, z));
        // Its centre would meet the middle of the wall.
        def.gravity_scale = 0.0f;
        def.position = bench_at(0.0f - away, 0.0f - away * slope, z);
        def.linear_velocity = bench_at(speed, speed * slope, 0.0f);
        bench_require(cairn_body_create(world, &def, &body) == CAIRN_OK &&
                          cairn_shape_create(world, body, &ball, &shape) == CAIRN_OK,
            "a thrown ball");
    }
}

// Two hundred cubes of 20 cm fall from 20 to 46 m onto a deck 10 cm thick.
void bench_build_deck(cairn_world *world, float half_thickness) {
    const cairn_shape_def deck = bench_box(30.0f, half_thickness, 30.0f);
    const cairn_shape_def cube = bench_box(0.1f, 0.1f, 0.1f);
    bench_fix(world, &deck, bench_at(0.0f, 0.0f - half_thickness, 0.0f));
    for (int i = 0; i < 200; ++i) {
        const float x = 1.3f * (float)(i % 14) - 9.0f;
        const float z = 1.3f * (float)(i / 14) - 9.0f;
        bench_drop_turned(
            world, &cube, bench_at(x, 20.0f + 0.13f * (float)i, z), bench_turn(i, 20.0f));
    }
}

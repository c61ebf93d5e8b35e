// SPDX-License-Identifier: MIT
// For clock_gettime.
#define _POSIX_C_SOURCE 200809L
#include "bench/figures.h"

#include <stdio.h>
#include <time.h>

#include "bench/kit.h"
#include "sim/math/vec.h"

#define HINGES 30
#define PUSH_TICKS 1200 // 20 s

typedef struct humanoid {
    cairn_world *world;
    bool articulated;
    uint32_t hinges;
} humanoid;

// A limb that touches no other limb, on a hinge about x, y or z in turn.
static cairn_body_id add_limb(
    humanoid *h, cairn_body_id on, cairn_vec3 at, cairn_vec3 to_joint, float radius) {
    cairn_shape_def shape = bench_capsule(radius, 0.03f);
    shape.category = 2;
    shape.mask = 1;
    const cairn_body_id body = bench_drop(h->world, &shape, at);
    if (on == CAIRN_ID_NULL) {
        return body;
    }
    const cairn_vec3 point = vec3_add(at, to_joint);
    const cairn_vec3 axis = vec3_along_axis(h->hinges % 3, 1.0f);
    const cairn_joint_def def = {.kind = CAIRN_JOINT_HINGE,
        .body_a = on,
        .body_b = body,
        .anchor_a = bench_anchor(h->world, on, point),
        .anchor_b = bench_anchor(h->world, body, point),
        .axis_a = axis,
        .axis_b = axis,
        .normal_a = vec3_tangent(axis),
        .normal_b = vec3_tangent(axis),
        .lower = -1.2f,
        .upper = 1.2f,
        .limited = 1,
        .articulated = h->articulated ? 1 : 0,
        .armature = h->articulated ? 0.01f : 0.0f};
    cairn_joint_id joint = 0;
    bench_require(cairn_joint_create(h->world, &def, &joint) == CAIRN_OK, "a hinge was refused");
    h->hinges += 1;
    return body;
}

static void add_chain(humanoid *h, cairn_body_id on, cairn_vec3 first, cairn_vec3 way,
    cairn_vec3 to_joint, float radius) {
    for (uint32_t k = 0; k < 6; ++k) {
        on = add_limb(h, on, vec3_add(first, vec3_scale(way, (float)k)), to_joint, radius);
    }
}

// Spine, neck and head, and six hinges in each limb. Returns the pelvis.
static cairn_body_id add_humanoid(cairn_world *world, cairn_vec3 at, bool articulated) {
    humanoid h = {.world = world, .articulated = articulated};
    const cairn_body_id pelvis = add_limb(&h, CAIRN_ID_NULL, at, vec3_zero(), 0.12f);
    cairn_body_id trunk = pelvis;
    for (uint32_t i = 0; i < 6; ++i) {
        const cairn_vec3 place = vec3_add(at, vec3(0.0f, 0.22f + 0.15f * (float)i, 0.0f));
        trunk = add_limb(&h, trunk, place, vec3(0.0f, -0.07f, 0.0f), i < 4 ? 0.11f : 0.08f);
        for (int side = -1; i == 3 && side <= 1; side += 2) {
            const float out = (float)side;
            add_chain(&h, trunk, vec3_add(place, vec3(out * 0.2f, 0.0f, 0.0f)),
                vec3(out * 0.12f, 0.0f, 0.0f), vec3(out * -0.06f, 0.0f, 0.0f), 0.045f);
        }
    }
    for (int side = -1; side <= 1; side += 2) {
        add_chain(&h, pelvis, vec3_add(at, vec3((float)side * 0.12f, -0.15f, 0.0f)),
            vec3(0.0f, -0.16f, 0.0f), vec3(0.0f, 0.08f, 0.0f), 0.06f);
    }
    bench_require(h.hinges == HINGES, "a hinge is missing");
    return pelvis;
}

static cairn_world *create(uint32_t figures, float gravity) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    def.body_capacity = def.shape_capacity = 32 * figures + 8;
    def.joint_capacity = HINGES * figures + 1;
    def.contact_capacity = 256 * figures;
    def.gravity = vec3(0.0f, 0.0f - gravity, 0.0f);
    def.sleep = 0;
    bench_require(cairn_world_create(&def, &world) == CAIRN_OK, "no memory for a world");
    return world;
}

static float largest_gap(const cairn_world *world) {
    cairn_joint_id joints[HINGES];
    const uint32_t count = cairn_world_joints(world, joints, HINGES);
    float worst = 0.0f;
    for (uint32_t i = 0; i < count && i < HINGES; ++i) {
        float error = 0.0f;
        bench_require(cairn_joint_error(world, joints[i], &error) == CAIRN_OK, "a joint is gone");
        worst = float_max(worst, error);
    }
    return worst;
}

static double seconds_of_step(cairn_world *world) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    cairn_world_step(world, NULL, 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

typedef struct figures_result {
    float gap;      // m, the largest in the trial on the ground
    double lying;   // s, the least mean of a hundred steps of it
    double falling; // s, the mean step of a hundred that fall
    float energy;   // J, that ten seconds afloat take
    float from;     // J, of so many
} figures_result;

// What runs beside disturbs the least mean of a hundred steps least.
static void lie(figures_result *out, bool articulated, uint64_t ticks) {
    cairn_world *world = create(1, 9.81f);
    bench_floor(world, 20.0f);
    const cairn_body_id pelvis = add_humanoid(world, bench_at(0.0f, 1.1f, 0.0f), articulated);
    double sum = 0.0;
    out->lying = 1e9;
    for (uint64_t i = 0; i < ticks; ++i) {
        if (i % PUSH_TICKS == 0) {
            const float side = i / PUSH_TICKS % 2 == 0 ? 1.0f : -1.0f;
            cairn_body_apply_impulse_at_centre(world, pelvis, vec3(60.0f * side, 30.0f, 40.0f));
        }
        sum += seconds_of_step(world);
        out->gap = float_max(out->gap, largest_gap(world));
        if (i % 100 == 99) {
            out->lying = i > 300 && sum / 100.0 < out->lying ? sum / 100.0 : out->lying;
            sum = 0.0;
        }
    }
    cairn_world_destroy(world);
}

static float energy_of(const cairn_world *world) {
    cairn_body_state bodies[HINGES + 1];
    const uint32_t count = cairn_world_bodies(world, bodies, HINGES + 1);
    float sum = 0.0f;
    for (uint32_t i = 0; i < count && i <= HINGES; ++i) {
        cairn_mass_properties mass;
        cairn_body_read_mass(world, bodies[i].id, &mass);
        const cairn_vec3 v = bodies[i].linear_velocity;
        const cairn_vec3 w = quat_rotate_inverse(bodies[i].rotation, bodies[i].angular_velocity);
        sum += 0.5f * (mass.mass * vec3_dot(v, v) + mass.inertia[0] * w.x * w.x +
                          mass.inertia[1] * w.y * w.y + mass.inertia[2] * w.z * w.z);
    }
    return sum;
}

static void float_freely(figures_result *out, bool articulated) {
    cairn_world *world = create(1, 0.0f);
    const cairn_body_id pelvis = add_humanoid(world, bench_at(0.0f, 0.0f, 0.0f), articulated);
    cairn_body_apply_impulse_at_centre(world, pelvis, vec3(8.0f, 0.0f, 12.0f));
    cairn_body_apply_angular_impulse(world, pelvis, vec3(0.4f, 2.4f, 0.8f));
    cairn_world_step(world, NULL, 0);
    out->from = energy_of(world);
    for (uint32_t i = 0; i < 600; ++i) {
        cairn_world_step(world, NULL, 0);
    }
    out->energy = out->from - energy_of(world);
    cairn_world_destroy(world);
}

static void fall(figures_result *out, bool articulated) {
    cairn_world *world = create(100, 9.81f);
    bench_floor(world, 40.0f);
    for (int i = 0; i < 100; ++i) {
        add_humanoid(world,
            bench_at((float)(i % 10) * 2.0f - 9.0f, 2.0f + 0.1f * (float)(i % 7),
                (float)(i / 10) * 2.0f - 9.0f),
            articulated);
    }
    for (uint32_t i = 0; i < 120; ++i) {
        out->falling += seconds_of_step(world) / 120.0;
    }
    cairn_world_destroy(world);
}

bool bench_figures(uint64_t ticks) {
    figures_result results[2] = {{.gap = 0.0f}, {.gap = 0.0f}};
    ticks = ticks == 0 ? 3600 : ticks;
    for (int i = 0; i < 2; ++i) {
        lie(&results[i], i == 0, ticks);
        float_freely(&results[i], i == 0);
        fall(&results[i], i == 0);
    }
    printf("a humanoid of %d hinges %26s %16s\n", HINGES, "articulated", "ordinary hinges");
    printf("%-36s %12.2e m %14.2e m\n", "largest gap of a joint, on the ground",
        (double)results[0].gap, (double)results[1].gap);
    printf("%-36s %12.2f J %14.2f J\n", "energy that ten seconds afloat take",
        (double)results[0].energy, (double)results[1].energy);
    printf("%-36s %12.2f J %14.2f J\n", "of", (double)results[0].from, (double)results[1].from);
    printf("%-36s %11.1f us %13.1f us\n", "a step on the ground", 1e6 * results[0].lying,
        1e6 * results[1].lying);
    printf("%-36s %11.2f ms %13.2f ms\n", "a step of a hundred that fall", 1e3 * results[0].falling,
        1e3 * results[1].falling);
    return results[0].gap < 1e-5f;
}

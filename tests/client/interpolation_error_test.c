// SPDX-License-Identifier: MIT
// How far bodies are shown from where they are: scene A of the benchmarks, 20 snapshots a second
// over a path that delays and loses them, and a picture every 10 ms, compared with the server's
// world at the tick that is shown.

#include "tests/kit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "bench/bench_scenes.h"
#include "bridge/derive.h"
#include "client_lib/interpolate/interpolation.h"

enum { TICKS = 300, BODIES = 902, SPACING = 3, FRAME_MS = 10 };
#define MS UINT64_C(1000000)
#define TICK_NS (1e9 / 60)

// By tick and index: the server's bodies.
static cairn_snapshot_body truth[TICKS][BODIES];
static uint32_t body_count;

BEFORE_ALL {
    const bench_scene *scene = bench_scene_find("cubes901");
    cairn_world *world = bench_scene_create(scene);
    static cairn_body_state bodies[BODIES];
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        body_count = cairn_world_bodies(world, bodies, BODIES);
        assert_true(body_count <= BODIES);
        for (uint32_t i = 0; i < body_count; i++) {
            truth[tick][i] = (cairn_snapshot_body){.id = bodies[i].id,
                .flags = CAIRN_SNAPSHOT_BODY_AWAKE,
                .position = bodies[i].position,
                .rotation = bodies[i].rotation};
        }
        bench_scene_step(scene, world);
    }
    cairn_world_destroy(world);
}

typedef struct path {
    uint64_t arrives_ns[TICKS]; // 0: never
} path;

static path lossy_path(uint32_t loss_percent, uint64_t jitter_ms) {
    cairn_random random = cairn_random_of(11);
    path p = {{0}};
    for (uint32_t tick = 0; tick < TICKS; tick += SPACING) {
        const uint64_t jitter = cairn_random_below(&random, jitter_ms * MS + 1);
        if (cairn_random_below(&random, 100) >= loss_percent) {
            p.arrives_ns[tick] = 40 * MS + (uint64_t)(tick * TICK_NS) + jitter;
        }
    }
    return p;
}

static void take(cairn_snapshots *snapshots, uint32_t tick) {
    const cairn_snapshot *before = cairn_snapshots_newest(snapshots);
    static cairn_snapshot_body bodies[BODIES];
    for (uint32_t i = 0; i < body_count; i++) {
        bodies[i] = truth[tick][i];
        if (before != NULL && before->tick < tick) {
            const float seconds = (float)(tick - before->tick) / 60;
            cairn_derive_velocities(&before->bodies[i], seconds, &bodies[i]);
        }
    }
    (void)cairn_snapshots_take(snapshots, tick, bodies, body_count);
}

static float distance(const cairn_client_body *shown, double tick) {
    const uint32_t first = (uint32_t)tick;
    const uint32_t second = first + 1 < TICKS ? first + 1 : first;
    const float share = (float)(tick - first);
    const uint32_t i = cairn_id_index(shown->id);
    const cairn_vec3 a = truth[first][i].position, b = truth[second][i].position;
    const float x = a.x + (b.x - a.x) * share - shown->position[0];
    const float y = a.y + (b.y - a.y) * share - shown->position[1];
    const float z = a.z + (b.z - a.z) * share - shown->position[2];
    return sqrtf(x * x + y * y + z * z);
}

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

typedef struct errors {
    float p99_m;
    float p999_m;
    double extrapolated; // share of pictures
    double delay_ms;     // mean
} errors;

static errors measure(uint32_t loss_percent, uint64_t jitter_ms) {
    const path p = lossy_path(loss_percent, jitter_ms);
    const uint64_t end_ns = (uint64_t)(TICKS * TICK_NS);
    static float all[(TICKS * 17 / FRAME_MS + 1) * BODIES];
    static cairn_client_body shown[BODIES];
    cairn_snapshots snapshots;
    cairn_clock clock;
    cairn_interpolation interpolation;
    uint32_t count = 0, pictures = 0, beyond = 0;
    double delay_ns = 0;
    assert_int_equal(cairn_snapshots_create(&snapshots, CAIRN_SNAPSHOTS_MAX, BODIES), CAIRN_OK);
    cairn_clock_start(&clock, 60);
    cairn_interpolation_start(&interpolation, 0, 250);
    for (uint64_t now = FRAME_MS * MS; now < end_ns; now += FRAME_MS * MS) {
        for (uint32_t tick = 0; tick < TICKS; tick += SPACING) {
            const uint64_t at = p.arrives_ns[tick];
            if (at != 0 && at <= now && at + FRAME_MS * MS > now) {
                cairn_clock_observe(&clock, at, tick);
                cairn_interpolation_observe(&interpolation, &clock, at, tick);
                take(&snapshots, tick);
            }
        }
        cairn_clock_advance(&clock, now);
        cairn_interpolation_advance(&interpolation, &clock, now);
        cairn_client_sample sample;
        const double tick = cairn_interpolation_tick(&interpolation, &clock, now);
        if (now < 500 * MS ||
            !cairn_interpolate(&snapshots, tick, TICK_NS, 15, true, shown, BODIES, &sample)) {
            continue; // the delay finds its length first
        }
        pictures++;
        beyond += sample.extrapolated ? 1 : 0;
        delay_ns += interpolation.delay_ns;
        for (uint32_t i = 0; i < sample.body_count; i++) {
            all[count++] = distance(&shown[i], sample.tick);
        }
    }
    cairn_snapshots_destroy(&snapshots);
    assert_true(pictures > 300 && count == pictures * body_count);
    qsort(all, count, sizeof all[0], compare_floats);
    return (errors){.p99_m = all[count / 100 * 99],
        .p999_m = all[count / 1000 * 999],
        .extrapolated = (double)beyond / pictures,
        .delay_ms = delay_ns / pictures / 1e6};
}

TEST("at 20 snapshots a second 99 of 100 bodies are shown within 2 cm of where they are") {
    static const uint32_t losses[] = {0, 5, 20};
    for (uint32_t i = 0; i < 3; i++) {
        const errors e = measure(losses[i], 8);
        printf("%2u %% lost: p99 %.1f mm, p99.9 %.1f mm, delay %.0f ms, extrapolated %.1f %%\n",
            losses[i], 1e3 * (double)e.p99_m, 1e3 * (double)e.p999_m, e.delay_ms,
            100 * e.extrapolated);
        assert_true(e.p99_m <= 0.02f);
        assert_true(e.extrapolated <= 0.05);
        assert_true(e.delay_ms < 250);
    }
}

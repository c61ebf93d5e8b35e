// SPDX-License-Identifier: MIT
// Each trial of the stability suite keeps the bounds of its row. With the argument "slow": the slow
// ones.

#include "tests/kit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/kit.h"
#include "bench/stability.h"

static void expect_bounds_hold(void **state) {
    const bench_trial *trial = *state;
    const bench_verdict verdict = bench_try(trial);
    const char *broken = bench_broken_bound(trial, &verdict);
    if (broken != NULL) {
        fail_msg("%s %s", trial->name, broken);
    }
}

// The first verdict meets every bound of `strict`; each of the others exceeds one.
TEST("each bound is enforced") {
    static const bench_trial strict = {.bounds = {.drift = 1.0f,
                                           .sink = 1.0f,
                                           .last_speed = 1.0f,
                                           .last_depth = 1.0f,
                                           .joint = 1.0f,
                                           .last_joint = 1.0f,
                                           .swing = 1.0f,
                                           .stands = true,
                                           .toppled = 2}};
    static const bench_verdict good = {.fell_at = -1, .toppled = 2};
    const struct {
        bench_verdict verdict;
        const char *what;
    } bad[] = {{{.fell_at = -1, .toppled = 2, .lost = 1}, "bodies lost"},
        {{.fell_at = 7, .toppled = 2}, "fell"},
        {{.fell_at = -1, .toppled = 2, .drift = 1.1f}, "drifts too far"},
        {{.fell_at = -1, .toppled = 2, .drift = NAN}, "drifts too far"},
        {{.fell_at = -1, .toppled = 2, .sink = 1.1f}, "sinks too far"},
        {{.fell_at = -1, .toppled = 2, .last_speed = 1.1f}, "is not at rest"},
        {{.fell_at = -1, .toppled = 2, .last_depth = 1.1f}, "lies too deep"},
        {{.fell_at = -1, .toppled = 2, .joint = 1.1f}, "a joint opens too far"},
        {{.fell_at = -1, .toppled = 2, .last_joint = 1.1f}, "a joint stays open too far"},
        {{.fell_at = -1, .toppled = 2, .top = -1.1f}, "does not come back to its height"},
        {{.fell_at = -1, .toppled = 1}, "wrong number toppled"}};
    assert_null(bench_broken_bound(&strict, &good));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        assert_string_equal(bench_broken_bound(&strict, &bad[i].verdict), bad[i].what);
    }
}

// A unit cube over the origin and another one, turned about z and moved along x.
static float depth_of(cairn_quat turn, float x) {
    const cairn_shape_def cube = bench_box(0.5f, 0.5f, 0.5f);
    const cairn_world_def def = cairn_world_def_default();
    cairn_world *world = bench_world(&def);
    bench_drop(world, &cube, bench_at(0.0f, 0.0f, 0.0f));
    bench_drop_turned(world, &cube, bench_at(x, 0.0f, 0.0f), turn);
    const float depth = bench_deepest(world);
    cairn_world_destroy(world);
    return depth;
}

TEST("the depth of two boxes is their shortest separating translation") {
    static const cairn_quat straight = {.w = 1.0f};
    static const cairn_quat eighth = {.z = 0.38268343f, .w = 0.92387953f};
    assert_float_equal(depth_of(straight, 0.9f), 0.1f, 1e-6f);
    assert_float_equal(depth_of(straight, 1.1f), 0.0f, 0.0f);
    assert_float_equal(depth_of(eighth, 1.0f), 0.20710678f, 1e-6f);
    assert_float_equal(depth_of(eighth, 1.21f), 0.0f, 0.0f);
}

int main(int argc, char **argv) {
    const bool slow = argc == 2 && strcmp(argv[1], "slow") == 0;
    for (uint32_t i = 0; i < bench_trial_count; ++i) {
        const bench_trial *trial = &bench_trials[i];
        if (trial->slow == slow) {
            test_register_with(trial->name, expect_bounds_hold, (void *)(uintptr_t)trial);
        }
    }
    return test_run("sim.stability", NULL);
}

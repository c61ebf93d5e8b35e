// SPDX-License-Identifier: MIT
#include "bench/stability.h"

#include <inttypes.h>
#include <stdlib.h>

#include "bench/kit.h"
#include "sim/math/vec.h"

#define LAST_STEPS 60
#define DEPTH_EVERY 10
#define LOST_BELOW (-2.0f)

typedef struct watch {
    const bench_trial *trial;
    cairn_world *world;
    cairn_body_state *start;
    cairn_body_state *now;
    uint32_t bodies;
    uint32_t joints;
    uint32_t highest; // at the start
    bench_verdict verdict;
} watch;

static watch watch_begin(const bench_trial *trial) {
    watch w = {.trial = trial,
        .world = bench_world(&trial->size),
        .verdict = {.fell_at = -1, .top = -1e6f}};
    trial->build(w.world, trial->parameter);
    const cairn_world_counts counts = cairn_world_counts_read(w.world);
    w.bodies = counts.bodies;
    w.joints = counts.joints;
    w.start = calloc(w.bodies, sizeof *w.start);
    w.now = calloc(w.bodies, sizeof *w.now);
    bench_require(w.start != NULL && w.now != NULL, "no memory for the bodies of a trial");
    cairn_world_bodies(w.world, w.start, w.bodies);
    for (uint32_t i = 0; i < w.bodies; ++i) {
        const bool higher = w.start[w.highest].kind != CAIRN_BODY_DYNAMIC ||
                            w.start[i].position.y > w.start[w.highest].position.y;
        if (w.start[i].kind == CAIRN_BODY_DYNAMIC && higher) {
            w.highest = i;
        }
    }
    return w;
}

// NaN counts as larger than every bound.
static void raise_to(float *most, float value) {
    if (!(value <= *most)) {
        *most = value;
    }
}

static void watch_step(watch *w, uint32_t step) {
    bench_verdict *v = &w->verdict;
    // Outside of the last second these maxima are ignored.
    float speed = 0.0f, spin = 0.0f, error_max = 0.0f, depth = 0.0f;
    cairn_world_bodies(w->world, w->now, w->bodies);
    for (uint32_t i = 0; i < w->bodies; ++i) {
        if (w->start[i].kind == CAIRN_BODY_DYNAMIC) {
            cairn_vec3 moved = vec3_sub(w->now[i].position, w->start[i].position);
            moved.y = 0.0f;
            raise_to(&v->drift, vec3_length(moved));
            raise_to(&speed, vec3_length(w->now[i].linear_velocity));
            raise_to(&spin, vec3_length(w->now[i].angular_velocity));
        }
    }
    for (cairn_joint_id joint = 1; joint <= w->joints; ++joint) {
        float error = 0.0f;
        bench_require(cairn_joint_error(w->world, joint, &error) == CAIRN_OK, "a joint is missing");
        raise_to(&error_max, error);
    }
    if (step % DEPTH_EVERY == 0) {
        depth = bench_deepest(w->world);
    }
    raise_to(&v->joint, error_max);
    raise_to(&v->depth, depth);
    if (step + LAST_STEPS >= w->trial->steps) {
        raise_to(&v->last_speed, speed);
        raise_to(&v->last_spin, spin);
        raise_to(&v->last_joint, error_max);
        raise_to(&v->last_depth, depth);
    }
    const float height = w->now[w->highest].position.y;
    const float height_at_start = w->start[w->highest].position.y;
    v->sink = height_at_start - height;
    if (step >= w->trial->steps / 4 * 3) {
        raise_to(&v->top, height - height_at_start);
    }
    if (v->fell_at < 0 && !(height >= 0.85f * height_at_start)) {
        v->fell_at = step;
    }
}

static void count_lost_and_toppled(watch *w) {
    w->verdict.lost = cairn_world_counters_read(w->world).bodies_disabled;
    for (uint32_t i = 0; i < w->bodies; ++i) {
        const cairn_vec3 up = quat_rotate(w->now[i].rotation, vec3(0.0f, 1.0f, 0.0f));
        if (w->start[i].kind == CAIRN_BODY_DYNAMIC) {
            w->verdict.toppled += float_abs(up.y) < 0.5f ? 1u : 0u;
            const cairn_vec3 at = w->now[i].position;
            const bool lost = w->trial->bounds.wall ? at.x > 0.0f : at.y < LOST_BELOW;
            w->verdict.lost += lost ? 1u : 0u;
        }
    }
}

bench_verdict bench_try(const bench_trial *trial) {
    watch w = watch_begin(trial);
    for (uint32_t i = 0; i < trial->steps; ++i) {
        cairn_world_step(w.world, NULL, 0);
        watch_step(&w, i);
    }
    count_lost_and_toppled(&w);
    cairn_world_destroy(w.world);
    free(w.start);
    free(w.now);
    return w.verdict;
}

static bool above(float value, float bound) {
    return bound > 0.0f && !(value <= bound);
}

const char *bench_broken_bound(const bench_trial *trial, const bench_verdict *verdict) {
    const bench_bounds *bounds = &trial->bounds;
    const struct {
        bool broken;
        const char *what;
    } rules[] = {{verdict->lost != 0, "bodies lost"},
        {bounds->stands && verdict->fell_at >= 0, "fell"},
        {above(verdict->drift, bounds->drift), "drifts too far"},
        {above(verdict->sink, bounds->sink), "sinks too far"},
        {above(verdict->last_speed, bounds->last_speed), "is not at rest"},
        {above(verdict->last_depth, bounds->last_depth), "lies too deep"},
        {above(verdict->joint, bounds->joint), "a joint opens too far"},
        {above(verdict->last_joint, bounds->last_joint), "a joint stays open too far"},
        {above(float_abs(verdict->top), bounds->swing), "does not come back to its height"},
        {bounds->toppled != 0 && verdict->toppled != bounds->toppled, "wrong number toppled"}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i) {
        if (rules[i].broken) {
            return rules[i].what;
        }
    }
    return NULL;
}

static void print_row(const bench_trial *trial, const bench_verdict *v, const char *broken) {
    char stands[24];
    snprintf(stands, sizeof stands, "at %" PRId64, v->fell_at);
    if (v->fell_at < 0 || !trial->bounds.stands) {
        snprintf(stands, sizeof stands, trial->bounds.stands ? "no" : "-");
    }
    printf("%-15s %6" PRIu32 " %-8s %9.5f %9.5f %9.6f %9.6f %8.5f %8.5f %8.5f %8.5f %8.5f %7" PRIu32
           " %5" PRIu32 "  %s\n",
        trial->name, trial->steps, stands, (double)v->drift, (double)v->sink, (double)v->last_speed,
        (double)v->last_spin, (double)v->depth, (double)v->last_depth, (double)v->joint,
        (double)v->last_joint, (double)v->top, v->toppled, v->lost,
        broken != NULL ? broken : "holds");
    fflush(stdout);
}

bool bench_stability(void) {
    bool all = true;
    printf("%-15s %6s %-8s %9s %9s %9s %9s %8s %8s %8s %8s %8s %7s %5s\n", "trial", "steps", "fell",
        "drift m", "sink m", "v m/s", "w rad/s", "depth m", "at end", "joint m", "at end", "top m",
        "toppled", "lost");
    for (uint32_t i = 0; i < bench_trial_count; ++i) {
        const bench_verdict verdict = bench_try(&bench_trials[i]);
        const char *broken = bench_broken_bound(&bench_trials[i], &verdict);
        print_row(&bench_trials[i], &verdict, broken);
        all = all && broken == NULL;
    }
    return all;
}

// SPDX-License-Identifier: MIT
#include "bench/measure.h"

#include <stdlib.h>
#include <string.h>

#include "bench/kit.h"
#include "client_lib/simulate/timeline.h"
#include "program/system.h"
#include <cairn/history.h>
#include <cairn/rollback.h>

#define REPEATS 25
// The tick at which the pile is saved, and the length of a rollback.
#define SAVED_AT 300
#define ROLLBACK_TICKS 8
#define HISTORY_TICKS 64

typedef struct subject {
    const bench_scene *scene;
    cairn_world *world;
    cairn_world *fork;
    unsigned char *saved;
    unsigned char *other; // of the same size, for other writes
    unsigned char *ring;  // HISTORY_TICKS times ring_size
    size_t ring_size;
    uint64_t turn;
    size_t saved_size;
    size_t encoded_size;
    cairn_hash128 hash;
} subject;

typedef void operation(subject *s);

static void step(subject *s) {
    bench_scene_step(s->scene, s->world);
}

static void step_alone(subject *s) {
    cairn_world_step(s->world, NULL, 0);
}

static void do_nothing(subject *s) {
    (void)s;
}

static void save(subject *s) {
    bench_require(
        cairn_world_save(s->world, s->saved, s->saved_size) == s->saved_size, "save failed");
}

// What a history replaces: whole saves of the last ticks, the oldest of which is overwritten.
static void save_in_turn(subject *s) {
    unsigned char *to = s->ring + s->turn++ % HISTORY_TICKS * s->ring_size;
    bench_require(cairn_world_save(s->world, to, s->ring_size) <= s->ring_size, "save failed");
}

static void load(subject *s) {
    bench_require(cairn_world_load(s->world, s->saved, s->saved_size) == CAIRN_OK, "load failed");
}

// A lower bound of a save.
static void copy(subject *s) {
    memcpy(s->other, s->saved, s->saved_size);
}

static void drop_fork(subject *s) {
    cairn_world_destroy(s->fork);
    s->fork = NULL;
}

static void make_fork(subject *s) {
    bench_require(cairn_world_fork(s->world, &s->fork) == CAIRN_OK, "fork failed");
}

static void copy_world(subject *s) {
    bench_require(cairn_world_copy(s->fork, s->world) == CAIRN_OK, "copy failed");
}

static void hash_world(subject *s) {
    s->hash = cairn_world_hash_read(s->world).full;
}

static void encode(subject *s) {
    bench_require(cairn_world_encode(s->world, s->other, s->encoded_size) == s->encoded_size,
        "encode failed");
}

static void decode(subject *s) {
    bench_require(
        cairn_world_decode(s->world, s->other, s->encoded_size, NULL) == CAIRN_OK, "decode failed");
}

static void roll_back(subject *s) {
    load(s);
    for (int i = 0; i < ROLLBACK_TICKS; ++i) {
        step(s);
        hash_world(s);
    }
}

static subject subject_create(const bench_scene *scene, uint32_t steps) {
    subject s = {.scene = scene, .world = bench_scene_create(scene)};
    for (uint32_t i = 0; i < steps; ++i) {
        step(&s);
    }
    s.saved_size = cairn_world_save_size(s.world);
    s.encoded_size = cairn_world_encode_size(s.world);
    const size_t size = s.saved_size > s.encoded_size ? s.saved_size : s.encoded_size;
    s.saved = malloc(size);
    s.other = malloc(size);
    bench_require(s.saved != NULL && s.other != NULL, "no memory for a saved state");
    save(&s);
    copy(&s);
    return s;
}

static void subject_destroy(subject *s) {
    cairn_world_destroy(s->world);
    cairn_world_destroy(s->fork);
    free(s->saved);
    free(s->other);
    free(s->ring);
}

typedef struct list {
    bench_state_figure *figures;
    uint32_t count;
} list;

static void add(list *out, const bench_scene *scene, const char *name, const char *unit,
    bench_spread spread, double at_most) {
    bench_require(out->count < BENCH_STATE_FIGURES_MAX, "too many figures of the state");
    out->figures[out->count++] =
        (bench_state_figure){scene->name, name, unit, .spread = spread, .at_most = at_most};
}

// The time of `timed` alone; `first` runs before it each time.
static void time_of(
    list *out, subject *s, const char *name, operation *first, operation *timed, double at_most) {
    double times_us[REPEATS];
    for (int i = 0; i < REPEATS; ++i) {
        first(s);
        const uint64_t begin_ns = cairn_monotonic_ns();
        timed(s);
        times_us[i] = (double)(cairn_monotonic_ns() - begin_ns) / 1e3;
    }
    const bench_spread spread = bench_spread_of(times_us, REPEATS);
    add(out, s->scene, name, "us", spread, at_most);
}

static void size_of(list *out, const subject *s, const char *name, size_t size, double at_most) {
    const double bytes = (double)size;
    const bench_spread spread = {.median = bytes, .low = bytes, .high = bytes};
    add(out, s->scene, name, "bytes", spread, at_most);
}

static void measure_pile(list *out) {
    subject s = subject_create(bench_scene_find("pile"), SAVED_AT);
    size_of(out, &s, "saved", s.saved_size, 0.8e6);
    time_of(out, &s, "save", do_nothing, save, 60.0);
    time_of(out, &s, "load", do_nothing, load, 60.0);
    time_of(out, &s, "fork", drop_fork, make_fork, 1000.0);
    time_of(out, &s, "copy after a step", step, copy_world, 0.0);
    s.ring_size = s.saved_size + s.saved_size / 4; // contacts come and go
    s.ring = malloc(HISTORY_TICKS * s.ring_size);
    bench_require(s.ring != NULL, "no memory for a ring of saves");
    memset(s.ring, 0, HISTORY_TICKS * s.ring_size);
    time_of(out, &s, "save after a step, one of 64", step, save_in_turn, 0.0);
    time_of(out, &s, "plain copy", do_nothing, copy, 0.0);
    time_of(out, &s, "full hash", step, hash_world, 40.0);
    load(&s);
    time_of(out, &s, "encode", do_nothing, encode, 0.0);
    time_of(out, &s, "decode", do_nothing, decode, 0.0);
    size_of(out, &s, "encoded", s.encoded_size, 0.0);
    subject_destroy(&s);
}

static void measure_one(list *out, const bench_scene *scene, const char *name, operation *first,
    operation *timed, double at_most) {
    subject s = subject_create(scene, 0);
    time_of(out, &s, name, first, timed, at_most);
    subject_destroy(&s);
}

// Steps the world, with a history of 64 ticks, for three times as many ticks. One figure is the
// cost of a save after a step, one that of a restore of a tick that is not the newest, one that of
// the first step after a restore, one the memory that the last 64 states take beyond the first one.
static void measure_history(
    list *out, const bench_scene *scene, double save_most, double restore_most, double bytes_most) {
    subject s = subject_create(scene, scene == &bench_scene_hundred ? 0 : SAVED_AT);
    cairn_history *history = NULL;
    double saves_us[2 * HISTORY_TICKS];
    double restores_us[2 * HISTORY_TICKS];
    double steps_us[2 * HISTORY_TICKS];
    bench_require(cairn_history_create(s.world, HISTORY_TICKS, 0, &history) == CAIRN_OK &&
                      cairn_history_save(history, 0) == CAIRN_OK,
        "no memory for a history");
    const size_t first = cairn_history_statistics_read(history).bytes;
    for (int i = 0; i < 3 * HISTORY_TICKS; ++i) {
        step(&s);
        const uint64_t begin_ns = cairn_monotonic_ns();
        bench_require(cairn_history_save(history, UINT64_MAX) == CAIRN_OK, "save failed");
        if (i >= HISTORY_TICKS) {
            saves_us[i - HISTORY_TICKS] = (double)(cairn_monotonic_ns() - begin_ns) / 1e3;
        }
    }
    const cairn_history_statistics held = cairn_history_statistics_read(history);
    for (uint64_t i = 0; i < 2 * HISTORY_TICKS; ++i) {
        const uint64_t begin_ns = cairn_monotonic_ns();
        bench_require(
            cairn_history_restore(history, held.oldest + i * 37 % HISTORY_TICKS) == CAIRN_OK,
            "restore failed");
        restores_us[i] = (double)(cairn_monotonic_ns() - begin_ns) / 1e3;
    }
    for (uint64_t i = 0; i < 2 * HISTORY_TICKS; ++i) {
        const uint64_t tick = held.newest - ROLLBACK_TICKS;
        bench_require(cairn_history_restore(history, tick) == CAIRN_OK, "restore failed");
        const uint64_t begin_ns = cairn_monotonic_ns();
        cairn_world_step(s.world, NULL, 0);
        steps_us[i] = (double)(cairn_monotonic_ns() - begin_ns) / 1e3;
        for (uint32_t k = 1; k < ROLLBACK_TICKS; ++k) {
            step(&s);
        }
    }
    add(out, scene, "save of what changed", "us", bench_spread_of(saves_us, 2 * HISTORY_TICKS),
        save_most);
    add(out, scene, "restore of a tick", "us", bench_spread_of(restores_us, 2 * HISTORY_TICKS),
        restore_most);
    add(out, scene, "first step after going back 8 ticks", "us",
        bench_spread_of(steps_us, 2 * HISTORY_TICKS), 0.0);
    size_of(out, &s, "bytes of a tick", (held.bytes - first) / HISTORY_TICKS, bytes_most);
    cairn_history_destroy(history);
    subject_destroy(&s);
}

static void step_all(cairn_timeline *timeline) {
    while (cairn_timeline_step(timeline) == CAIRN_TIMELINE_STEPPED) {}
}

// A player's input arrives eight ticks late: the cost from its arrival until the world is again at
// the tick where it was, with each tick saved and hashed. The scene has no rules that react to it.
static uint64_t apply_late_input(cairn_timeline *timeline) {
    const cairn_command press = {.kind = CAIRN_COMMAND_INPUT};
    const uint64_t late = timeline->confirmed_end;
    for (uint64_t tick = late; tick < late + ROLLBACK_TICKS; ++tick) {
        (void)cairn_timeline_predict(timeline, tick, NULL, 0);
    }
    step_all(timeline);
    const uint64_t begin_ns = cairn_monotonic_ns();
    const cairn_timeline_verdict verdict =
        cairn_timeline_confirm(timeline, late, &press, 1, (cairn_root_check){0});
    step_all(timeline);
    const uint64_t spent_ns = cairn_monotonic_ns() - begin_ns;
    bench_require(
        verdict == CAIRN_TIMELINE_DIFFERED && timeline->head_tick == late + ROLLBACK_TICKS,
        "the timeline did not roll back");
    return spent_ns;
}

static void measure_timeline(list *out, const bench_scene *scene, uint32_t steps, double at_most) {
    cairn_world *world = bench_scene_create(scene);
    for (uint32_t i = 0; i < steps; ++i) {
        bench_scene_step(scene, world);
    }
    cairn_timeline timeline;
    bench_require(cairn_timeline_create(&timeline, 64, CAIRN_COMMANDS_PER_TICK_MAX) == CAIRN_OK,
        "no memory for a timeline");
    cairn_timeline_expect(&timeline, cairn_world_tick(world));
    const size_t memory = 16 * cairn_world_save_size_max(world);
    bench_require(cairn_timeline_adopt(&timeline, world, memory) == CAIRN_OK,
        "no memory for the states of a timeline");
    double times_us[REPEATS];
    for (int i = 0; i < REPEATS; ++i) {
        times_us[i] = (double)apply_late_input(&timeline) / 1e3;
    }
    const bench_spread spread = bench_spread_of(times_us, REPEATS);
    add(out, scene, "rollback of 8 ticks", "us", spread, at_most);
    cairn_timeline_destroy(&timeline);
}

// One wrong command, eight ticks ago, for one body of a world in which all bodies are awake. The
// body is thrown out of the top of its column.
static cairn_command late_throw(const cairn_world *world, uint32_t index) {
    static cairn_body_state bodies[4096];
    const uint32_t count = cairn_world_bodies(world, bodies, 4096);
    bench_require(count <= 4096 && count > index, "the scene has too many bodies or too few");
    return (cairn_command){.kind = CAIRN_COMMAND_SET_VELOCITY,
        .slot = CAIRN_SLOT_OPERATOR,
        .buttons = bodies[count - 1 - index].id,
        .move = {.x = 1.0f, .y = 3.0f}};
}

// From the arrival of the command until the world, and the state and the hash of each tick, are as
// if it had arrived in time.
static uint64_t correct_mistake(
    cairn_world *world, cairn_history *history, cairn_rollback *rollback, uint32_t index) {
    const cairn_command throw = late_throw(world, index);
    cairn_rollback_tick ticks[ROLLBACK_TICKS] = {{.after = &throw, .after_count = 1}};
    cairn_hash128 roots[ROLLBACK_TICKS];
    for (int i = 0; i < ROLLBACK_TICKS; ++i) {
        bench_require(cairn_history_save(history, UINT64_MAX) == CAIRN_OK, "save failed");
        cairn_world_step(world, NULL, 0);
        (void)cairn_world_hash_read(world);
    }
    const uint64_t begin_ns = cairn_monotonic_ns();
    const cairn_rollback_outcome outcome =
        cairn_rollback_apply(rollback, ticks, ROLLBACK_TICKS, roots);
    const uint64_t spent_ns = cairn_monotonic_ns() - begin_ns;
    bench_require(outcome == CAIRN_ROLLBACK_SCOPED, cairn_rollback_outcome_text(outcome));
    return spent_ns;
}

static void measure_part(list *out, const bench_scene *scene, uint32_t steps, double at_most) {
    subject s = subject_create(scene, steps);
    cairn_history *history = NULL;
    cairn_rollback *rollback = NULL;
    bench_require(cairn_history_create(s.world, 16, 0, &history) == CAIRN_OK &&
                      cairn_rollback_create(s.world, history, &rollback) == CAIRN_OK,
        "no memory for a rollback");
    double times_us[REPEATS];
    for (uint32_t i = 0; i < REPEATS; ++i) {
        times_us[i] = (double)correct_mistake(s.world, history, rollback, i) / 1e3;
    }
    add(out, scene, "rollback of 8 ticks of one player", "us", bench_spread_of(times_us, REPEATS),
        at_most);
    cairn_rollback_destroy(rollback);
    cairn_history_destroy(history);
    subject_destroy(&s);
}

uint32_t bench_state_measure(bench_state_figure out[BENCH_STATE_FIGURES_MAX]) {
    list figures = {.figures = out};
    measure_pile(&figures);
    measure_one(&figures, &bench_scene_rollback, "load, 8 steps, 8 hashes", do_nothing, roll_back,
        1e6 / 60.0);
    measure_history(&figures, bench_scene_find("pile"), 0.0, 0.0, 0.0);
    measure_history(&figures, &bench_scene_hundred, 4.0, 20.0, 48e3);
    measure_history(&figures, &bench_scene_rollback, 0.0, 0.0, 0.0);
    measure_timeline(&figures, &bench_scene_rollback, 0, 1e6 / 60.0);
    measure_timeline(&figures, bench_scene_find("pile"), SAVED_AT, 0.0);
    measure_part(&figures, bench_scene_find("pile"), SAVED_AT, 2000.0);
    measure_one(&figures, &bench_scene_field, "full hash", step, hash_world, 60.0);
    measure_one(&figures, &bench_scene_drowsy, "full hash", step, hash_world, 15.0);
    measure_one(&figures, &bench_scene_sleepers, "step", do_nothing, step_alone, 20.0);
    return figures.count;
}

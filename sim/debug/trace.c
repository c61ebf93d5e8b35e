// SPDX-License-Identifier: MIT
#include "sim/debug/trace.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "sim/debug/trace_parts.h"
#include "sim/state/world_hash.h"

// Keys beyond those of the state's leaves and lists.
#define KEY_SOLVER (UINT64_C(66) << 32)
#define KEY_MANIFOLDS (UINT64_C(67) << 32)
#define KEY_POINT (UINT64_C(68) << 32)

static cairn_hash128 hash_solver(const cairn_world *world) {
    cairn_hash128 sum = {.lo = 0};
    uint32_t words[CAIRN_TRACE_SOLVER_WORDS];
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        if (cairn_trace_solver_words(world, i, words)) {
            sum = cairn_hash_add(
                sum, cairn_hash_words(KEY_SOLVER + i, words, CAIRN_TRACE_SOLVER_WORDS));
        }
    }
    return sum;
}

static cairn_hash128 hash_manifolds(const cairn_world *world) {
    cairn_hash128 sum = {.lo = 0};
    uint32_t words[CAIRN_TRACE_MANIFOLD_WORDS];
    for (uint32_t i = 0; i < cairn_trace_active_count(world); ++i) {
        const uint32_t contact = cairn_trace_manifold_words(world, i, words);
        CAIRN_ASSERT(contact < world->state.settings->contact_count);
        sum = cairn_hash_add(
            sum, cairn_hash_words(KEY_MANIFOLDS + contact, words, CAIRN_TRACE_MANIFOLD_WORDS));
    }
    return sum;
}

static void hash_point(const cairn_world *world, cairn_trace_point *point) {
    CAIRN_ASSERT(point->stage <= CAIRN_STAGE_END && point->pass < CAIRN_PASS_COUNT);
    const cairn_world_hash hash = cairn_world_hash_fresh(world);
    cairn_hash128 list[CAIRN_SECTION_COUNT + 2];
    for (uint32_t i = 0; i < CAIRN_SECTION_COUNT; ++i) {
        point->sections[i] = hash.sections[i];
        list[i] = hash.sections[i];
    }
    if (cairn_trace_solving(point->stage)) {
        point->manifolds = hash_manifolds(world);
        point->solver = hash_solver(world);
    }
    list[CAIRN_SECTION_COUNT] = point->manifolds;
    list[CAIRN_SECTION_COUNT + 1] = point->solver;
    point->root = point->stage == CAIRN_STAGE_END
                      ? hash.full
                      : cairn_hash_list(KEY_POINT, list, CAIRN_SECTION_COUNT + 2);
}

typedef struct point_recorder {
    cairn_trace_hook hook; // first
    cairn_trace *trace;
} point_recorder;

static void record_point(cairn_trace_hook *hook, const cairn_world *world, uint32_t stage,
    uint32_t substep, cairn_pass pass) {
    cairn_trace *trace = ((point_recorder *)hook)->trace;
    CAIRN_ASSERT(trace->count < CAIRN_TRACE_POINTS_MAX);
    cairn_trace_point *point = &trace->points[trace->count++];
    *point = (cairn_trace_point){.stage = stage, .substep = substep, .pass = pass};
    hash_point(world, point);
}

void cairn_world_step_traced(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace *out) {
    point_recorder w = {.hook = {.observe = record_point}, .trace = out};
    out->count = 0;
    cairn_world_step_hooked(world, commands, count, &w.hook);
}

void cairn_world_step_hooked(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace_hook *hook) {
    CAIRN_ASSERT(hook != NULL && world->trace_hook == NULL);
    world->contacts_stale = true; // so that no step is idle
    world->trace_hook = hook;
    cairn_world_step(world, commands, count);
    hook->observe(hook, world, CAIRN_STAGE_END, 0, CAIRN_PASS_NONE);
    world->trace_hook = NULL;
}

uint32_t cairn_trace_first_difference(const cairn_trace *a, const cairn_trace *b) {
    const uint32_t common = a->count < b->count ? a->count : b->count;
    CAIRN_ASSERT(common <= CAIRN_TRACE_POINTS_MAX);
    uint32_t i = 0;
    while (i < common && cairn_hash_equal(a->points[i].root, b->points[i].root)) {
        ++i;
    }
    return i;
}

const char *cairn_stage_name(uint32_t stage) {
    static const char *const names[CAIRN_STAGE_COUNT + 1] = {
        [CAIRN_STAGE_RULES] = "rules",
        [CAIRN_STAGE_PAIRS] = "pairs",
        [CAIRN_STAGE_COLLIDE] = "collide",
        [CAIRN_STAGE_ISLANDS] = "islands",
        [CAIRN_STAGE_PREPARE] = "prepare",
        [CAIRN_STAGE_SOLVE] = "solve",
        [CAIRN_STAGE_INTEGRATE] = "integrate",
        [CAIRN_STAGE_END] = "end",
    };
    return stage <= CAIRN_STAGE_END ? names[stage] : "unknown";
}

const char *cairn_pass_name(uint32_t pass) {
    static const char *const names[CAIRN_PASS_COUNT] = {
        [CAIRN_PASS_NONE] = "",
        [CAIRN_PASS_INTEGRATE_VELOCITIES] = "integrate velocities",
        [CAIRN_PASS_SOLVE_BIASED] = "solve biased",
        [CAIRN_PASS_INTEGRATE_POSITIONS] = "integrate positions",
        [CAIRN_PASS_RELAX] = "relax",
        [CAIRN_PASS_RESTITUTION] = "restitution",
        [CAIRN_PASS_SWEEP] = "sweep",
    };
    return pass < CAIRN_PASS_COUNT ? names[pass] : "unknown";
}

size_t cairn_trace_roots(const cairn_trace *trace, uint8_t out[CAIRN_TRACE_ROOTS_SIZE_MAX]) {
    CAIRN_ASSERT(trace->count <= CAIRN_TRACE_POINTS_MAX);
    cairn_writer bytes = cairn_writer_of(out, CAIRN_TRACE_ROOTS_SIZE_MAX);
    for (uint32_t i = 0; i < trace->count; ++i) {
        cairn_write_u64(&bytes, trace->points[i].root.lo);
        cairn_write_u64(&bytes, trace->points[i].root.hi);
    }
    CAIRN_ASSERT(bytes.ok);
    return bytes.at;
}

size_t cairn_trace_stages(cairn_world *world, const cairn_command *commands, uint32_t count,
    uint8_t out[CAIRN_TRACE_ROOTS_SIZE_MAX]) {
    cairn_trace *trace = malloc(sizeof *trace);
    if (trace == NULL) {
        return 0;
    }
    cairn_world_step_traced(world, commands, count, trace);
    const size_t size = cairn_trace_roots(trace, out);
    free(trace);
    return size;
}

// SPDX-License-Identifier: MIT
#include "client_lib/capsules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/build.h"
#include "sim/float_env.h"
#include "sim/passport.h"
#include "sim/trace.h"

_Static_assert(CAIRN_TRACE_ROOTS_SIZE_MAX == CAIRN_DESYNC_STAGES_SIZE_MAX, "one limit");

static void drop(cairn_capsules *capsules) {
    // The worlds are held as constant, because a capsule only reads them.
    cairn_world_destroy((cairn_world *)(uintptr_t)capsules->capsule.before);
    cairn_world_destroy((cairn_world *)(uintptr_t)capsules->capsule.after);
    capsules->capsule = (cairn_capsule){.before = NULL};
    capsules->open = false;
    capsules->say = false;
}

static void make(cairn_capsules *capsules) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cairn_capsule_encode(&capsules->capsule, &bytes, &size) == CAIRN_OK) {
        capsules->made(capsules->context, bytes, size);
    } else {
        capsules->unfounded += 1;
    }
    free(bytes);
    drop(capsules);
}

// The world of a tick as the timeline holds it. NULL: it does not, or there is no memory.
static cairn_world *world_of(const cairn_timeline *timeline, uint64_t tick) {
    size_t size = 0;
    const uint8_t *state = cairn_timeline_state(timeline, tick, &size);
    cairn_world *world = NULL;
    if ((state == NULL && tick != timeline->at) ||
        cairn_world_fork(timeline->world, &world) != CAIRN_OK) {
        return NULL;
    }
    if (state != NULL && cairn_world_load(world, state, size) != CAIRN_OK) {
        cairn_world_destroy(world);
        return NULL;
    }
    return world;
}

// Takes the step once more in the world that took it, with its lanes, helpers and all, and puts it
// back where it was.
static void take_again(cairn_capsules *capsules, cairn_world *world) {
    cairn_capsule *capsule = &capsules->capsule;
    cairn_chunk_desync *desync = &capsule->desync;
    const size_t size = cairn_world_save_size(world);
    uint8_t *now = malloc(size);
    cairn_trace *trace = malloc(sizeof *trace);
    if (now != NULL && trace != NULL && cairn_world_save(world, now, size) == size) {
        cairn_status status = cairn_world_copy(world, capsule->before);
        CAIRN_ASSERT(status == CAIRN_OK);
        cairn_world_step_traced(world, capsule->commands, capsule->command_count, trace);
        desync->head.root_again = trace->points[trace->count - 1].root;
        desync->stages_client_size = (uint32_t)cairn_trace_roots(trace, capsules->stages_client);
        status = cairn_world_load(world, now, size);
        CAIRN_ASSERT(status == CAIRN_OK);
    }
    free(now);
    free(trace);
}

static void look_at_oneself(cairn_wire_desync *head) {
    cairn_passport passport;
    if (cairn_passport_read(&passport) == CAIRN_OK) {
        head->passport_client = passport.faults;
    }
    head->float_mode_client = cairn_float_mode_word();
}

// Both sides had the same state and the same commands: otherwise this step is not to blame.
static bool agreed_before(const cairn_timeline *timeline, uint64_t tick, cairn_hash128 *root) {
    const cairn_timeline_tick *before =
        tick > timeline->first ? cairn_timeline_tick_read(timeline, tick - 1) : NULL;
    *root = before == NULL ? (cairn_hash128){.lo = 0} : before->root_servers;
    return before == NULL || cairn_hash_equal(before->root, before->root_servers);
}

static bool begin(cairn_capsules *capsules, cairn_timeline *timeline) {
    const uint64_t tick = timeline->differs_tick - 1; // that was stepped
    const cairn_timeline_tick *step = cairn_timeline_tick_read(timeline, tick);
    cairn_capsule *capsule = &capsules->capsule;
    cairn_hash128 root_before;
    if (step == NULL || !agreed_before(timeline, tick, &root_before)) {
        return false;
    }
    *capsule = (cairn_capsule){.scene_name = "",
        .before = world_of(timeline, tick),
        .commands = capsules->commands,
        .command_count = cairn_timeline_commands(timeline, tick, capsules->commands),
        .after = world_of(timeline, tick + 1),
        .desync = {.head = {.tick = tick + 1,
                       .root_before = root_before,
                       .root_client = step->root,
                       .root_server = step->root_servers},
            .build_client = cairn_build_text(),
            .build_server = "",
            .stages_client = capsules->stages_client,
            .stages_server = capsules->stages_server}};
    if (capsule->before == NULL) {
        drop(capsules);
        return false;
    }
    take_again(capsules, timeline->world);
    look_at_oneself(&capsule->desync.head);
    return true;
}

void cairn_capsules_watch(cairn_capsules *capsules, cairn_timeline *timeline, uint64_t now_ns) {
    const bool fresh =
        timeline->differs && !(capsules->seen && capsules->seen_tick == timeline->differs_tick);
    capsules->seen = timeline->differs;
    capsules->seen_tick = timeline->differs_tick;
    if (!fresh || capsules->made == NULL || capsules->open ||
        capsules->count >= CAIRN_CAPSULES_MAX) {
        return;
    }
    capsules->open = begin(capsules, timeline);
    capsules->say = capsules->open;
    capsules->opened_ns = now_ns;
    capsules->count += capsules->open ? 1 : 0;
    capsules->unfounded += capsules->open ? 0 : 1;
}

void cairn_capsules_answer(cairn_capsules *capsules, const cairn_repair *repair) {
    cairn_chunk_desync *desync = &capsules->capsule.desync;
    const bool whole = repair->stages_size % CAIRN_TRACE_ROOT_SIZE == 0 &&
                       repair->stages_size <= sizeof capsules->stages_server;
    if (!capsules->open || repair->tick != desync->head.tick || repair->stages_size == 0 ||
        !whole) {
        return;
    }
    memcpy(capsules->stages_server, repair->stages, repair->stages_size);
    desync->stages_server_size = repair->stages_size;
    desync->head.passport_server = repair->passport_faults;
    snprintf(capsules->build_server, sizeof capsules->build_server, "%s", repair->build);
    desync->build_server = capsules->build_server;
    make(capsules);
}

void cairn_capsules_advance(cairn_capsules *capsules, uint64_t now_ns) {
    if (capsules->open && now_ns - capsules->opened_ns >= CAIRN_CAPSULES_WAIT_NS) {
        make(capsules);
    }
}

bool cairn_capsules_ask(cairn_capsules *capsules, uint64_t *tick) {
    const bool asks = capsules->open && capsules->say;
    capsules->say = false;
    *tick = capsules->capsule.desync.head.tick;
    return asks;
}

void cairn_capsules_clear(cairn_capsules *capsules) {
    if (capsules->open) {
        make(capsules);
    }
    capsules->count = 0;
    capsules->unfounded = 0;
    capsules->seen = false;
}

// SPDX-License-Identifier: MIT
#include "client_lib/resync/desync_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/build.h"
#include "sim/debug/passport.h"
#include "sim/debug/trace.h"
#include "sim/math/float_env.h"

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
            .stages_server = capsules->stages_server,
            .differences = capsules->differences}};
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
    capsules->stages_told = false;
    capsules->values_told = capsules->open && capsules->capsule.after == NULL;
    capsules->opened_ns = now_ns;
    capsules->count += capsules->open ? 1 : 0;
    capsules->unfounded += capsules->open ? 0 : 1;
}

static void take_stages(cairn_capsules *capsules, const cairn_repair *repair) {
    cairn_chunk_desync *desync = &capsules->capsule.desync;
    if (repair->stages_size > sizeof capsules->stages_server ||
        repair->stages_size % CAIRN_TRACE_ROOT_SIZE != 0) {
        return;
    }
    memcpy(capsules->stages_server, repair->stages, repair->stages_size);
    desync->stages_server_size = repair->stages_size;
    desync->head.passport_server = repair->passport_faults;
    snprintf(capsules->build_server, sizeof capsules->build_server, "%s", repair->build);
    desync->build_server = capsules->build_server;
    capsules->stages_told = true;
}

static void list_differences(cairn_capsules *capsules, const cairn_world *theirs) {
    cairn_chunk_desync *desync = &capsules->capsule.desync;
    cairn_word_difference *found = malloc(CAIRN_DESYNC_DIFFERENCES_MAX * sizeof *found);
    if (found == NULL) {
        return;
    }
    const uint32_t count = cairn_world_diff_words(
        capsules->capsule.after, theirs, found, CAIRN_DESYNC_DIFFERENCES_MAX);
    desync->head.difference_count = count;
    desync->difference_count =
        count < CAIRN_DESYNC_DIFFERENCES_MAX ? count : CAIRN_DESYNC_DIFFERENCES_MAX;
    for (uint32_t i = 0; i < desync->difference_count; ++i) {
        capsules->differences[i] = (cairn_wire_difference){.array = found[i].array,
            .element = found[i].element,
            .word = found[i].word,
            .bits_client = found[i].bits_a,
            .bits_server = found[i].bits_b};
    }
    free(found);
}

// The elements that differ make the client's world the server's; in between lie both sides' values.
static void take_values(cairn_capsules *capsules, const cairn_repair *repair) {
    const cairn_capsule *capsule = &capsules->capsule;
    cairn_world *theirs = NULL;
    capsules->values_told = true;
    if (repair->verdict != CAIRN_REPAIR_DONE || capsule->after == NULL ||
        cairn_world_fork(capsule->after, &theirs) != CAIRN_OK) {
        return;
    }
    if (cairn_elements_apply(theirs, repair->payload, repair->payload_size, NULL) == CAIRN_OK &&
        cairn_hash_equal(cairn_world_hash_read(theirs).full, capsule->desync.head.root_server)) {
        list_differences(capsules, theirs);
    }
    cairn_world_destroy(theirs);
}

void cairn_capsules_answer(cairn_capsules *capsules, const cairn_repair *repair) {
    if (!capsules->open || repair->tick != capsules->capsule.desync.head.tick) {
        return;
    }
    if (repair->stages_size > 0) {
        take_stages(capsules, repair);
    } else {
        take_values(capsules, repair);
    }
    if (capsules->stages_told && capsules->values_told) {
        make(capsules);
    }
}

void cairn_capsules_advance(cairn_capsules *capsules, uint64_t now_ns) {
    if (capsules->open && now_ns - capsules->opened_ns >= CAIRN_CAPSULES_WAIT_NS) {
        make(capsules);
    }
}

bool cairn_capsules_ask(cairn_capsules *capsules, cairn_doubt *out) {
    const bool asks = capsules->open && capsules->say;
    capsules->say = false;
    if (!asks) {
        return false;
    }
    *out = (cairn_doubt){.tick = capsules->capsule.desync.head.tick, .want = CAIRN_DOUBT_STAGES};
    if (capsules->capsule.after != NULL) {
        cairn_sketch_build(capsules->capsule.after, CAIRN_CAPSULES_CELLS, capsules->sketch);
        out->want |= CAIRN_DOUBT_REPAIR;
        out->sketch = capsules->sketch;
        out->sketch_size = sizeof capsules->sketch;
    }
    return true;
}

void cairn_capsules_clear(cairn_capsules *capsules) {
    if (capsules->open) {
        make(capsules);
    }
    capsules->count = 0;
    capsules->unfounded = 0;
    capsules->seen = false;
}

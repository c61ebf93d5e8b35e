// SPDX-License-Identifier: MIT
#include "client_lib/resync/desync_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim/debug/passport.h"
#include "sim/debug/trace.h"
#include "sim/math/float_env.h"
#include <cairn/version.h>

_Static_assert(CAIRN_TRACE_ROOTS_SIZE_MAX == CAIRN_DESYNC_STAGES_SIZE_MAX, "one limit");

static void drop(cairn_client_desync_report *report) {
    // The worlds are held as constant, because a capsule only reads them.
    cairn_world_destroy((cairn_world *)(uintptr_t)report->capsule.before);
    cairn_world_destroy((cairn_world *)(uintptr_t)report->capsule.after);
    report->capsule = (cairn_capsule){.before = NULL};
    report->open = false;
    report->say = false;
}

static void make(cairn_client_desync_report *report) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cairn_capsule_encode(&report->capsule, &bytes, &size) == CAIRN_OK) {
        report->made(report->context, bytes, size);
    } else {
        report->unfounded += 1;
    }
    free(bytes);
    drop(report);
}

// The world of a tick as the timeline holds it. NULL: it does not, or there is no memory.
static cairn_world *world_of(const cairn_timeline *timeline, uint64_t tick) {
    size_t size = 0;
    const uint8_t *state = cairn_timeline_state(timeline, tick, &size);
    cairn_world *world = NULL;
    if ((state == NULL && tick != timeline->head_tick) ||
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
static void take_again(cairn_client_desync_report *report, cairn_world *world) {
    cairn_capsule *capsule = &report->capsule;
    cairn_chunk_desync *desync = &capsule->desync;
    const size_t size = cairn_world_save_size(world);
    uint8_t *now = malloc(size);
    cairn_trace *trace = malloc(sizeof *trace);
    if (now != NULL && trace != NULL && cairn_world_save(world, now, size) == size) {
        cairn_status status = cairn_world_copy(world, capsule->before);
        CAIRN_ASSERT(status == CAIRN_OK);
        cairn_world_step_traced(world, capsule->commands, capsule->command_count, trace);
        desync->head.root_again = trace->points[trace->count - 1].root;
        desync->stages_client_size = (uint32_t)cairn_trace_roots(trace, report->stages_client);
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

static bool begin(cairn_client_desync_report *report, cairn_timeline *timeline) {
    const uint64_t tick = timeline->differs_tick - 1; // that was stepped
    const cairn_timeline_tick *step = cairn_timeline_tick_read(timeline, tick);
    cairn_capsule *capsule = &report->capsule;
    cairn_hash128 root_before;
    if (step == NULL || !agreed_before(timeline, tick, &root_before)) {
        return false;
    }
    *capsule = (cairn_capsule){.scene_name = "",
        .before = world_of(timeline, tick),
        .commands = report->commands,
        .command_count = cairn_timeline_commands(timeline, tick, report->commands),
        .after = world_of(timeline, tick + 1),
        .desync = {.head = {.tick = tick + 1,
                       .root_before = root_before,
                       .root_client = step->root,
                       .root_server = step->root_servers},
            .build_client = cairn_build_text(),
            .build_server = "",
            .stages_client = report->stages_client,
            .stages_server = report->stages_server,
            .differences = report->differences}};
    if (capsule->before == NULL) {
        drop(report);
        return false;
    }
    take_again(report, timeline->world);
    look_at_oneself(&capsule->desync.head);
    return true;
}

void cairn_client_desync_report_watch(
    cairn_client_desync_report *report, cairn_timeline *timeline, uint64_t now_ns) {
    const bool fresh =
        timeline->differs && !(report->seen && report->seen_tick == timeline->differs_tick);
    report->seen = timeline->differs;
    report->seen_tick = timeline->differs_tick;
    if (!fresh || report->made == NULL || report->open ||
        report->count >= CAIRN_CLIENT_DESYNC_REPORTS_MAX) {
        return;
    }
    report->open = begin(report, timeline);
    report->say = report->open;
    report->stages_sent = false;
    report->values_told = report->open && report->capsule.after == NULL;
    report->opened_ns = now_ns;
    report->count += report->open ? 1 : 0;
    report->unfounded += report->open ? 0 : 1;
}

static void take_stages(cairn_client_desync_report *report, const cairn_resync_response *repair) {
    cairn_chunk_desync *desync = &report->capsule.desync;
    if (repair->stages_size > sizeof report->stages_server ||
        repair->stages_size % CAIRN_TRACE_ROOT_SIZE != 0) {
        return;
    }
    memcpy(report->stages_server, repair->stages, repair->stages_size);
    desync->stages_server_size = repair->stages_size;
    desync->head.passport_server = repair->passport_faults;
    snprintf(report->build_server, sizeof report->build_server, "%s", repair->build);
    desync->build_server = report->build_server;
    report->stages_sent = true;
}

static void list_differences(cairn_client_desync_report *report, const cairn_world *theirs) {
    cairn_chunk_desync *desync = &report->capsule.desync;
    cairn_word_difference *found = malloc(CAIRN_DESYNC_DIFFERENCES_MAX * sizeof *found);
    if (found == NULL) {
        return;
    }
    const uint32_t count =
        cairn_world_diff_words(report->capsule.after, theirs, found, CAIRN_DESYNC_DIFFERENCES_MAX);
    desync->head.difference_count = count;
    desync->difference_count =
        count < CAIRN_DESYNC_DIFFERENCES_MAX ? count : CAIRN_DESYNC_DIFFERENCES_MAX;
    for (uint32_t i = 0; i < desync->difference_count; ++i) {
        report->differences[i] = (cairn_wire_difference){.array = found[i].array,
            .element = found[i].element,
            .word = found[i].word,
            .bits_client = found[i].bits_a,
            .bits_server = found[i].bits_b};
    }
    free(found);
}

// The elements that differ make the client's world the server's; in between lie both sides' values.
static void take_values(cairn_client_desync_report *report, const cairn_resync_response *repair) {
    const cairn_capsule *capsule = &report->capsule;
    cairn_world *theirs = NULL;
    report->values_told = true;
    if (repair->verdict != CAIRN_RESYNC_DONE || capsule->after == NULL ||
        cairn_world_fork(capsule->after, &theirs) != CAIRN_OK) {
        return;
    }
    if (cairn_elements_apply(theirs, repair->payload, repair->payload_size, NULL) == CAIRN_OK &&
        cairn_hash_equal(cairn_world_hash_read(theirs).full, capsule->desync.head.root_server)) {
        list_differences(report, theirs);
    }
    cairn_world_destroy(theirs);
}

void cairn_client_desync_report_take(
    cairn_client_desync_report *report, const cairn_resync_response *repair) {
    if (!report->open || repair->tick != report->capsule.desync.head.tick) {
        return;
    }
    if (repair->stages_size > 0) {
        take_stages(report, repair);
    } else {
        take_values(report, repair);
    }
    if (report->stages_sent && report->values_told) {
        make(report);
    }
}

void cairn_client_desync_report_advance(cairn_client_desync_report *report, uint64_t now_ns) {
    if (report->open && now_ns - report->opened_ns >= CAIRN_CLIENT_DESYNC_REPORT_WAIT_NS) {
        make(report);
    }
}

bool cairn_client_desync_report_request(
    cairn_client_desync_report *report, cairn_resync_request *out) {
    const bool asks = report->open && report->say;
    report->say = false;
    if (!asks) {
        return false;
    }
    *out = (cairn_resync_request){
        .tick = report->capsule.desync.head.tick, .want = CAIRN_RESYNC_WANT_STAGES};
    if (report->capsule.after != NULL) {
        cairn_sketch_build(report->capsule.after, CAIRN_CLIENT_DESYNC_REPORT_CELLS, report->sketch);
        out->want |= CAIRN_RESYNC_WANT_ELEMENTS;
        out->difference_sketch = report->sketch;
        out->difference_sketch_size = sizeof report->sketch;
    }
    return true;
}

void cairn_client_desync_report_clear(cairn_client_desync_report *report) {
    if (report->open) {
        make(report);
    }
    report->count = 0;
    report->unfounded = 0;
    report->seen = false;
}

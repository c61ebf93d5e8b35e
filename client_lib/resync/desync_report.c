// SPDX-License-Identifier: MIT
#include "client_lib/resync/desync_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim/debug/passport.h"
#include "sim/debug/trace.h"
#include "sim/math/float_env.h"
#include "sim/serialize/elements.h"
#include <cairn/version.h>

_Static_assert(CAIRN_TRACE_ROOTS_SIZE_MAX == CAIRN_DESYNC_STAGES_SIZE_MAX, "one limit");

static void close_report(cairn_client_desync_report *report) {
    // The worlds are held as constant, because a capsule only reads them.
    cairn_world_destroy((cairn_world *)(uintptr_t)report->capsule.before);
    cairn_world_destroy((cairn_world *)(uintptr_t)report->capsule.after);
    report->capsule = (cairn_desync_report){.before = NULL};
    report->open = false;
    cairn_resync_queue_withdraw(report->queue, CAIRN_RESYNC_FOR_REPORT);
}

void cairn_client_desync_report_create(cairn_client_desync_report *report, cairn_timeline *timeline,
    cairn_resync_queue *queue, void (*on_report)(void *context, const uint8_t *bytes, size_t size),
    void *context) {
    CAIRN_ASSERT(timeline != NULL && queue != NULL);
    *report = (cairn_client_desync_report){
        .timeline = timeline, .queue = queue, .on_report = on_report, .context = context};
}

// Encodes the report and hands it to the host.
static void finish_report(cairn_client_desync_report *report) {
    CAIRN_ASSERT(report->open && report->on_report != NULL);
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cairn_desync_report_encode(&report->capsule, &bytes, &size) == CAIRN_OK) {
        report->on_report(report->context, bytes, size);
    } else {
        report->failed += 1;
    }
    free(bytes);
    close_report(report);
}

// A copy of the world of a tick. NULL: the timeline no longer holds it, or memory is short.
static cairn_world *copy_world_of(const cairn_timeline *timeline, uint64_t tick) {
    cairn_world *world = NULL;
    if (cairn_world_fork(timeline->world, &world) != CAIRN_OK) {
        return NULL;
    }
    if (!cairn_timeline_load(timeline, tick, world) && tick != timeline->head_tick) {
        cairn_world_destroy(world);
        return NULL;
    }
    return world;
}

// Repeats the step in the world that took it, with the same execution settings, and
// restores that world.
static void repeat_step(cairn_client_desync_report *report, cairn_world *world) {
    cairn_desync_report *capsule = &report->capsule;
    cairn_chunk_desync *desync = &capsule->desync;
    const size_t size = cairn_world_save_size(world);
    uint8_t *saved = malloc(size);
    cairn_trace *trace = malloc(sizeof *trace);
    if (saved != NULL && trace != NULL && cairn_world_save(world, saved, size) == size) {
        cairn_status status = cairn_world_copy(world, capsule->before);
        CAIRN_ASSERT(status == CAIRN_OK);
        cairn_world_step_traced(world, capsule->commands, capsule->command_count, trace);
        CAIRN_ASSERT(trace->count > 0);
        desync->head.root_again = trace->points[trace->count - 1].root;
        desync->stages_client_size = (uint32_t)cairn_trace_roots(trace, report->stages_client);
        status = cairn_world_load(world, saved, size);
        CAIRN_ASSERT(status == CAIRN_OK);
    }
    free(saved);
    free(trace);
}

// Whether both sides had the same state before the step; otherwise the step is not the cause.
static bool agreed_before(const cairn_timeline *timeline, uint64_t tick, cairn_hash128 *root) {
    const cairn_timeline_tick *before =
        tick > timeline->first ? cairn_timeline_tick_read(timeline, tick - 1) : NULL;
    *root = before == NULL ? (cairn_hash128){.lo = 0} : before->root;
    return before == NULL || cairn_root_agrees(before->check, before->root);
}

static bool begin_report(cairn_client_desync_report *report) {
    cairn_timeline *timeline = report->timeline;
    CAIRN_ASSERT(timeline->differs && timeline->differs_tick > 0);
    const uint64_t tick = timeline->differs_tick - 1; // that was stepped
    const cairn_timeline_tick *step = cairn_timeline_tick_read(timeline, tick);
    cairn_desync_report *capsule = &report->capsule;
    cairn_hash128 root_before;
    if (step == NULL || !agreed_before(timeline, tick, &root_before)) {
        return false;
    }
    report->check = step->check;
    *capsule = (cairn_desync_report){.scene_name = "",
        .before = copy_world_of(timeline, tick),
        .commands = report->commands,
        .command_count = cairn_timeline_commands(timeline, tick, report->commands),
        .after = copy_world_of(timeline, tick + 1),
        .desync = {
            .head = {.tick = tick + 1,
                .root_before = root_before,
                .root_client = step->root,
                .root_server = step->check.full ? step->check.root : (cairn_hash128){.lo = 0},
                .float_mode_client = cairn_float_mode_word()},
            .build_client = cairn_build_text(),
            .build_server = "",
            .stages_client = report->stages_client,
            .stages_server = report->stages_server,
            .differences = report->differences}};
    if (capsule->before == NULL) {
        close_report(report);
        return false;
    }
    repeat_step(report, timeline->world);
    cairn_passport passport;
    if (cairn_passport_read(&passport) == CAIRN_OK) {
        capsule->desync.head.passport_client = passport.faults;
    }
    return true;
}

static void ask_server(cairn_client_desync_report *report, uint64_t now_ns) {
    CAIRN_ASSERT(report->open && report->capsule.before != NULL);
    cairn_resync_request request = {
        .tick = report->capsule.desync.head.tick, .want = CAIRN_RESYNC_WANT_STAGES};
    if (report->capsule.after != NULL) {
        cairn_sketch_build(report->capsule.after, CAIRN_DESYNC_REPORT_CELLS, report->sketch);
        request.want |= CAIRN_RESYNC_WANT_ELEMENTS;
        request.difference_sketch = report->sketch;
        request.difference_sketch_size = sizeof report->sketch;
    }
    cairn_resync_queue_ask(report->queue, CAIRN_RESYNC_FOR_REPORT, &request, now_ns, true);
}

void cairn_client_desync_report_watch(cairn_client_desync_report *report, uint64_t now_ns) {
    const cairn_timeline *timeline = report->timeline;
    const bool is_new =
        timeline->differs && !(report->seen && report->seen_tick == timeline->differs_tick);
    report->seen = timeline->differs;
    report->seen_tick = timeline->differs_tick;
    if (!is_new || report->on_report == NULL || report->open || timeline->world == NULL ||
        report->count >= CAIRN_DESYNC_REPORTS_MAX) {
        return;
    }
    report->open = begin_report(report);
    if (!report->open) {
        report->failed += 1;
        return;
    }
    report->count += 1;
    report->stages_received = false;
    report->values_received = report->capsule.after == NULL;
    report->opened_ns = now_ns;
    ask_server(report, now_ns);
}

// What the tick's message had of the server's root may be a part of it.
static void take_root(cairn_client_desync_report *report, const cairn_resync_response *response) {
    if (cairn_root_agrees(report->check, response->full_root)) {
        report->capsule.desync.head.root_server = response->full_root;
    }
}

static void take_stages(cairn_client_desync_report *report, const cairn_resync_response *response) {
    cairn_chunk_desync *desync = &report->capsule.desync;
    if (response->stages_size > sizeof report->stages_server ||
        response->stages_size % CAIRN_TRACE_ROOT_SIZE != 0) {
        return;
    }
    take_root(report, response);
    memcpy(report->stages_server, response->stages, response->stages_size);
    desync->stages_server_size = response->stages_size;
    desync->head.passport_server = response->passport_faults;
    snprintf(report->build_server, sizeof report->build_server, "%s", response->build);
    desync->build_server = report->build_server;
    report->stages_received = true;
}

static void list_differences(cairn_client_desync_report *report, const cairn_world *server_world) {
    cairn_chunk_desync *desync = &report->capsule.desync;
    cairn_word_difference *found = malloc(CAIRN_DESYNC_DIFFERENCES_MAX * sizeof *found);
    if (found == NULL) {
        return;
    }
    const uint32_t count = cairn_world_diff_words(
        report->capsule.after, server_world, found, CAIRN_DESYNC_DIFFERENCES_MAX);
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

// The elements that differ turn a copy of the client's world into the server's; then both sides'
// values can be listed.
static void take_values(cairn_client_desync_report *report, const cairn_resync_response *response) {
    const cairn_desync_report *capsule = &report->capsule;
    cairn_world *server_world = NULL;
    report->values_received = true;
    if (response->verdict != CAIRN_RESYNC_DONE || capsule->after == NULL ||
        cairn_world_fork(capsule->after, &server_world) != CAIRN_OK) {
        return;
    }
    take_root(report, response);
    if (cairn_elements_apply(server_world, response->payload, response->payload_size, NULL) ==
            CAIRN_OK &&
        cairn_hash_equal(
            cairn_world_hash_read(server_world).full, capsule->desync.head.root_server)) {
        list_differences(report, server_world);
    }
    cairn_world_destroy(server_world);
}

void cairn_client_desync_report_take(
    cairn_client_desync_report *report, const cairn_resync_response *response) {
    if (!report->open || response->tick != report->capsule.desync.head.tick) {
        return;
    }
    if (response->stages_size > 0) {
        take_stages(report, response);
    } else {
        take_values(report, response);
    }
    if (report->stages_received && report->values_received) {
        finish_report(report);
    }
}

void cairn_client_desync_report_advance(cairn_client_desync_report *report, uint64_t now_ns) {
    if (report->open && now_ns - report->opened_ns >= CAIRN_DESYNC_REPORT_WAIT_NS) {
        finish_report(report);
    }
}

void cairn_client_desync_report_clear(cairn_client_desync_report *report) {
    if (report->open) {
        finish_report(report);
    }
    report->count = 0;
    report->failed = 0;
    report->seen = false;
}

// SPDX-License-Identifier: MIT
#pragma once

// The data for a desync report (a capsule, recording/desync_report.h). When the result of a step
// differs from the server's, the client stores the state before the step, the commands, the result,
// and the result of repeating the step. The server is asked for the roots of the stages of
// its step and, by a set-difference sketch, for what differs. The bytes go to the host when it has
// answered, or after CAIRN_DESYNC_REPORT_WAIT_NS. A report costs memory and a few milliseconds, so
// one connection makes few.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client_lib/resync/request_queue.h"
#include "client_lib/simulate/timeline.h"
#include "recording/desync_report.h"
#include "schema/messages.h"
#include "sim/serialize/sketch.h"

#define CAIRN_DESYNC_REPORTS_MAX 4
#define CAIRN_DESYNC_REPORT_WAIT_NS UINT64_C(2000000000)
// Saved states that a report needs beyond the ticks of one advance.
#define CAIRN_DESYNC_REPORT_STATES 4
// Of its sketch: enough for some 190 elements that differ. If more do, the values are left out.
#define CAIRN_DESYNC_REPORT_CELLS 256

typedef struct cairn_client_desync_report {
    cairn_timeline *timeline;                                            // not owned
    cairn_resync_queue *queue;                                           // not owned
    void (*on_report)(void *context, const uint8_t *bytes, size_t size); // NULL: none are made
    void *context;

    uint32_t count;  // begun in this connection
    uint32_t failed; // not begun or not finished: no state to begin with, or no memory
    bool seen;       // the present difference was considered for a report
    uint64_t seen_tick;

    // The report under way.
    bool open;
    bool stages_received;
    bool values_received; // or the server will not send them
    uint64_t opened_ns;
    cairn_root_check check;      // of the server's root after the step
    cairn_desync_report capsule; // owns its worlds; what else it points to lies below
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint8_t stages_client[CAIRN_DESYNC_STAGES_SIZE_MAX];
    uint8_t stages_server[CAIRN_DESYNC_STAGES_SIZE_MAX];
    char build_server[CAIRN_TEXT_SIZE_MAX + 1];
    cairn_wire_difference differences[CAIRN_DESYNC_DIFFERENCES_MAX];
    uint8_t sketch[CAIRN_DESYNC_REPORT_CELLS * CAIRN_SKETCH_CELL_SIZE];
} cairn_client_desync_report;

void cairn_client_desync_report_create(cairn_client_desync_report *report, cairn_timeline *timeline,
    cairn_resync_queue *queue, void (*on_report)(void *context, const uint8_t *bytes, size_t size),
    void *context);
// Finishes the report under way and counts from 0 again: the connection or the world is over.
void cairn_client_desync_report_clear(cairn_client_desync_report *report);

// Begins a report if the timeline differs where it did not before. To be called after the world was
// stepped and before it is repaired; the timeline is left as it was.
void cairn_client_desync_report_watch(cairn_client_desync_report *report, uint64_t now_ns);
// Finishes the report when it has waited long enough.
void cairn_client_desync_report_advance(cairn_client_desync_report *report, uint64_t now_ns);
// Takes what the server answers about the tick; anything else is ignored.
void cairn_client_desync_report_take(
    cairn_client_desync_report *report, const cairn_resync_response *response);

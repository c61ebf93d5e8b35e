// SPDX-License-Identifier: MIT
#pragma once

// What a client keeps of a step that it took otherwise than its server, until a capsule is made of
// it (recording/capsule.h): the state before, the commands, what came out, and what comes out when
// the step is taken once more. The server is asked for the roots of its points and, by a sketch,
// for what differs; when it has answered, or has not for a while, the bytes go to the host. A
// capsule costs memory and a few milliseconds, so there are few in one connection.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/simulate/timeline.h"
#include "recording/capsule.h"
#include "schema/messages.h"
#include "sim/state/sketch.h"

#define CAIRN_CLIENT_DESYNC_REPORTS_MAX 4
#define CAIRN_CLIENT_DESYNC_REPORT_WAIT_NS UINT64_C(2000000000)
// States that a timeline must keep for it, beyond the ticks of one advance.
#define CAIRN_CLIENT_DESYNC_REPORT_STATES 4
// Of the sketch: for up to some 190 elements that differ. More stay untold.
#define CAIRN_CLIENT_DESYNC_REPORT_CELLS 256

typedef struct cairn_client_desync_report {
    void (*made)(void *context, const uint8_t *bytes, size_t size); // NULL: none are made
    void *context;
    uint32_t count;     // made or under way in this connection
    uint32_t unfounded; // differences without a state to begin with, or without memory
    bool seen;          // the difference at hand
    uint64_t seen_tick;

    bool open;        // one is under way
    bool say;         // and the server is to be asked
    bool stages_sent; // by the server
    bool values_told; // or it will not
    uint64_t opened_ns;
    cairn_capsule capsule; // its worlds are owned, what else it points to is here
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint8_t stages_client[CAIRN_DESYNC_STAGES_SIZE_MAX];
    uint8_t stages_server[CAIRN_DESYNC_STAGES_SIZE_MAX];
    char build_server[CAIRN_TEXT_SIZE_MAX + 1];
    cairn_wire_difference differences[CAIRN_DESYNC_DIFFERENCES_MAX];
    uint8_t sketch[CAIRN_CLIENT_DESYNC_REPORT_CELLS * CAIRN_SKETCH_CELL_SIZE];
} cairn_client_desync_report;

// Looks for a difference that is new and begins a capsule of it: to be called after each stretch of
// steps, before anybody mends the world. The timeline is as it was afterwards.
void cairn_client_desync_report_watch(
    cairn_client_desync_report *report, cairn_timeline *timeline, uint64_t now_ns);
// What the server says of the tick; anything else is ignored.
void cairn_client_desync_report_take(
    cairn_client_desync_report *report, const cairn_resync_response *repair);
// Makes one that has waited long enough.
void cairn_client_desync_report_advance(cairn_client_desync_report *report, uint64_t now_ns);
// What to ask the server; false when there is nothing to ask. Asks once.
bool cairn_client_desync_report_request(
    cairn_client_desync_report *report, cairn_resync_request *out);
// Makes what is under way, and begins to count anew: the connection is over.
void cairn_client_desync_report_clear(cairn_client_desync_report *report);

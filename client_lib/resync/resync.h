// SPDX-License-Identifier: MIT
#pragma once

// Sees to a world whose root differs from the server's although its commands agree. First it is
// stepped again from the last tick that is sound, which undoes what happened to memory; then the
// server is told a sketch of the first tick that differs and answers with what differs there; then
// the whole state is asked for. Who differs again and again, or falls behind, gives up.
// docs/PROTOCOL.md, section Healing.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/simulate/lockstep.h"
#include "client_lib/simulate/predict.h"
#include "schema/messages.h"
#include <cairn/client.h>

// States that are kept for it: a round trip's worth and more.
#define CAIRN_RESYNC_STATES_MAX 96
// Cells of the sketches, tried in turn.
#define CAIRN_RESYNC_SKETCH_SIZES 3
#define CAIRN_RESYNC_CELLS_FIRST 40
#define CAIRN_RESYNC_CELLS_FACTOR 4
// Cures by the server within this time after which a client gives up simulating.
#define CAIRN_RESYNC_ATTEMPTS_MAX 8
#define CAIRN_RESYNC_ATTEMPTS_NS UINT64_C(10000000000)
// A backlog of this long that has not become shorter after so long, so many times in a row: the
// client cannot keep up.
#define CAIRN_RESYNC_BACKLOG_NS UINT64_C(1000000000)
#define CAIRN_RESYNC_BACKLOG_CHECK_NS UINT64_C(4000000000)
#define CAIRN_RESYNC_BACKLOG_TIMES 2
// What a world may be stepped at once to be where it was.
#define CAIRN_RESYNC_CATCH_UP_TICKS 32
// An unanswered doubt is told again.
#define CAIRN_RESYNC_RETRY_NS UINT64_C(4000000000)
#define CAIRN_RESYNC_BACKOFF_NS UINT64_C(500000000)

typedef enum cairn_client_resync_state {
    CAIRN_RESYNC_IDLE = 0,
    CAIRN_RESYNC_REPAIR_REQUESTED, // the server was told a sketch
    CAIRN_RESYNC_STATE_REQUESTED,  // the server was asked for the state
    CAIRN_RESYNC_CATCHING_UP,      // repaired; comes back to where it stood
    CAIRN_RESYNC_GIVEN_UP,
} cairn_client_resync_state;

typedef struct cairn_client_resync {
    cairn_lockstep *lockstep; // not owned
    cairn_predict *predict;   // not owned; NULL: does not predict
    uint8_t *sketches;        // owned; of all sizes, one after the other

    cairn_client_resync_state phase;
    uint64_t tick;       // of the world that differs
    uint64_t target;     // where the world stood when that was found
    uint64_t heard_then; // how far the server's words went
    uint64_t found_ns;
    uint32_t size;                     // of the sketches
    bool report;                       // the server has not been told the root that differs
    bool say;                          // a doubt is to be said
    uint64_t say_at_ns;                // then, or again then
    cairn_client_resync_record record; // of the cure under way

    const char *words; // why it gave up; NULL: it did not
    uint32_t cures;    // by the server, in the present stretch of time
    uint64_t cures_from_ns;
    uint64_t watched_ns; // when the backlog was last looked at
    uint64_t backlog;    // ticks, then
    uint32_t behind;     // times in a row that it was long and had not become shorter

    cairn_client_resync_record records[CAIRN_CLIENT_RESYNCS_HELD]; // a ring
    uint64_t count;
    uint64_t bytes;
    uint64_t repairs_refused; // told of what no world takes, or of what does not make roots equal
} cairn_client_resync;

// `predict` may be NULL. False: memory is short; destroy is allowed all the same.
bool cairn_client_resync_create(
    cairn_client_resync *resync, cairn_lockstep *lockstep, cairn_predict *predict);
void cairn_client_resync_destroy(cairn_client_resync *resync);
// For the next connection.
void cairn_client_resync_clear(cairn_client_resync *resync);

// After each advance of the world.
void cairn_client_resync_advance(
    cairn_client_resync *resync, uint64_t now_ns, uint32_t tick_rate_hz);
// The doubt to be said now; it borrows the sketch. Once it is said, with so many bytes, tell.
bool cairn_client_resync_request(
    const cairn_client_resync *resync, uint64_t now_ns, cairn_resync_request *out);
void cairn_client_resync_sent(cairn_client_resync *resync, uint64_t now_ns, size_t size);
// What the server answered, in a message of `size` bytes.
void cairn_client_resync_take(
    cairn_client_resync *resync, uint64_t now_ns, const cairn_resync_response *repair, size_t size);
// A state was loaded.
void cairn_client_resync_state_loaded(cairn_client_resync *resync, uint64_t now_ns, size_t size);

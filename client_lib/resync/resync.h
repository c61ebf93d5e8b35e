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
#define CAIRN_HEALING_TICKS 96
// Cells of the sketches, tried in turn.
#define CAIRN_HEALING_SIZES 3
#define CAIRN_HEALING_CELLS_FIRST 40
#define CAIRN_HEALING_CELLS_FACTOR 4
// Cures by the server within this time after which a client gives up simulating.
#define CAIRN_HEALING_CURES_MAX 8
#define CAIRN_HEALING_CURES_NS UINT64_C(10000000000)
// A backlog of this long that has not become shorter after so long, so many times in a row: the
// client cannot keep up.
#define CAIRN_HEALING_BEHIND_NS UINT64_C(1000000000)
#define CAIRN_HEALING_BEHIND_FOR_NS UINT64_C(4000000000)
#define CAIRN_HEALING_BEHIND_TIMES 2
// What a world may be stepped at once to be where it was.
#define CAIRN_HEALING_AGAIN_TICKS 32
// An unanswered doubt is told again.
#define CAIRN_HEALING_RETRY_NS UINT64_C(4000000000)
#define CAIRN_HEALING_TOO_OFTEN_NS UINT64_C(500000000)

typedef enum cairn_healing_phase {
    CAIRN_HEALING_REST = 0,
    CAIRN_HEALING_ASKED,    // the server was told a sketch
    CAIRN_HEALING_RENEWING, // the server was asked for the state
    CAIRN_HEALING_CATCHING, // repaired; comes back to where it stood
    CAIRN_HEALING_GIVEN_UP,
} cairn_healing_phase;

typedef struct cairn_healing {
    cairn_lockstep *lockstep; // not owned
    cairn_predict *predict;   // not owned; NULL: does not predict
    uint8_t *sketches;        // owned; of all sizes, one after the other

    cairn_healing_phase phase;
    uint64_t tick;       // of the world that differs
    uint64_t target;     // where the world stood when that was found
    uint64_t heard_then; // how far the server's words went
    uint64_t found_ns;
    uint32_t size;            // of the sketches
    bool report;              // the server has not been told the root that differs
    bool say;                 // a doubt is to be said
    uint64_t say_at_ns;       // then, or again then
    cairn_client_heal record; // of the cure under way

    const char *words; // why it gave up; NULL: it did not
    uint32_t cures;    // by the server, in the present stretch of time
    uint64_t cures_from_ns;
    uint64_t watched_ns; // when the backlog was last looked at
    uint64_t backlog;    // ticks, then
    uint32_t behind;     // times in a row that it was long and had not become shorter

    cairn_client_heal records[CAIRN_CLIENT_HEALS_HELD]; // a ring
    uint64_t count;
    uint64_t bytes;
    uint64_t repairs_refused; // told of what no world takes, or of what does not make roots equal
} cairn_healing;

// `predict` may be NULL. False: memory is short; destroy is allowed all the same.
bool cairn_healing_create(cairn_healing *healing, cairn_lockstep *lockstep, cairn_predict *predict);
void cairn_healing_destroy(cairn_healing *healing);
// For the next connection.
void cairn_healing_clear(cairn_healing *healing);

// After each advance of the world.
void cairn_healing_watch(cairn_healing *healing, uint64_t now_ns, uint32_t tick_rate_hz);
// The doubt to be said now; it borrows the sketch. Once it is said, with so many bytes, tell.
bool cairn_healing_doubt(const cairn_healing *healing, uint64_t now_ns, cairn_doubt *out);
void cairn_healing_said(cairn_healing *healing, uint64_t now_ns, size_t size);
// What the server answered, in a message of `size` bytes.
void cairn_healing_take(
    cairn_healing *healing, uint64_t now_ns, const cairn_repair *repair, size_t size);
// A state was loaded.
void cairn_healing_loaded(cairn_healing *healing, uint64_t now_ns, size_t size);

// SPDX-License-Identifier: MIT
#pragma once

// Repairs a world whose state hash differs from the server's although its commands agree. First the
// world is stepped again from the last valid tick, which undoes a change of memory. Then the server
// is sent a set-difference sketch of the first tick that differs, and answers with the elements
// that differ. Then the whole state is requested. A client whose world differs again and again, or
// that falls behind for good, gives up. docs/PROTOCOL.md, section Healing.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client_lib/resync/request_queue.h"
#include "client_lib/simulate/lockstep.h"
#include "client_lib/simulate/predict.h"
#include "schema/messages.h"
#include <cairn/client.h>

// Saved states that a repair needs: more than the ticks of a round trip.
#define CAIRN_CLIENT_REPAIR_STATES 96
// Sketches of growing size.
#define CAIRN_CLIENT_REPAIR_SKETCHES 3
// Repairs by the server within this time after which a client gives up simulating.
#define CAIRN_CLIENT_REPAIR_ATTEMPTS_MAX 8
#define CAIRN_CLIENT_REPAIR_ATTEMPTS_NS UINT64_C(10000000000)
// A backlog of more than CAIRN_CLIENT_REPAIR_BACKLOG_NS is checked at this interval. If it has not
// become shorter in this many checks in a row, the client cannot keep up.
#define CAIRN_CLIENT_REPAIR_BACKLOG_NS CAIRN_NS_PER_S
#define CAIRN_CLIENT_REPAIR_BACKLOG_CHECK_NS UINT64_C(4000000000)
#define CAIRN_CLIENT_REPAIR_BACKLOG_CHECKS 2
// Ticks that one advance may step to bring a repaired world back to the tick it had.
#define CAIRN_CLIENT_REPAIR_CATCH_UP_TICKS 32

typedef enum cairn_client_repair_state {
    CAIRN_CLIENT_REPAIR_IDLE = 0,
    CAIRN_CLIENT_REPAIR_ELEMENTS_REQUESTED, // the server was sent a sketch
    CAIRN_CLIENT_REPAIR_STATE_REQUESTED,
    CAIRN_CLIENT_REPAIR_CATCHING_UP, // the elements are applied; the world steps to target_tick
    CAIRN_CLIENT_REPAIR_GIVEN_UP,
} cairn_client_repair_state;

typedef struct cairn_client_repair {
    cairn_lockstep *lockstep;  // not owned
    cairn_predict *predict;    // not owned; NULL: the client does not predict
    cairn_resync_queue *queue; // not owned
    uint8_t *sketches;         // owned; of all sizes, one after the other

    // The repair under way.
    cairn_client_repair_state state;
    uint64_t tick;              // of the world that differs
    uint64_t target_tick;       // of the world when the difference was found
    uint64_t confirmed_then;    // end of the confirmed ticks then
    uint64_t found_ns;          // when
    uint32_t sketch;            // which of the sketches was sent
    bool difference_unreported; // the server was not yet sent the root that differs
    cairn_client_resync_record record;

    // Whether this client gives up simulating.
    const char *given_up_text; // why this client gave up simulating, static; NULL: it did not
    uint32_t attempts;         // by the server, since attempts_from_ns
    uint64_t attempts_from_ns;
    uint64_t backlog_checked_ns;
    uint64_t lag_ticks;      // behind the room then
    uint64_t backlog_ticks;  // then
    uint32_t backlog_checks; // in a row that found it long and no shorter

    // What is over.
    cairn_client_resync_record records[CAIRN_CLIENT_RESYNCS_HELD]; // a ring, by number
    uint64_t count;
    uint64_t bytes;
    uint64_t refused; // answers that cannot be applied, or after which the world still differed
} cairn_client_repair;

// `predict` may be NULL. CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_client_repair_create(cairn_client_repair *repair, cairn_lockstep *lockstep,
    cairn_predict *predict, cairn_resync_queue *queue);
void cairn_client_repair_destroy(cairn_client_repair *repair);
// Back to the state after create, for the next connection or world.
void cairn_client_repair_clear(cairn_client_repair *repair);

// After the world was stepped: begins, continues and ends repairs.
void cairn_client_repair_advance(
    cairn_client_repair *repair, uint64_t now_ns, uint32_t tick_rate_hz);
// The request for CAIRN_RESYNC_FOR_REPAIR left in a message of `size` bytes.
void cairn_client_repair_request_sent(cairn_client_repair *repair, size_t size);
// Takes the server's answer, a message of `size` bytes; ignored if it is not about this tick.
void cairn_client_repair_take(cairn_client_repair *repair, uint64_t now_ns,
    const cairn_resync_response *response, size_t size);
// A full state of `size` bytes was loaded, whether or not it was requested.
void cairn_client_repair_state_loaded(cairn_client_repair *repair, uint64_t now_ns, size_t size);

// SPDX-License-Identifier: MIT
#pragma once

// The requests of a client about a world that differs: at most one for each purpose, sent when it
// is due and the link has room, sent again while it is unanswered, postponed when the server
// refuses it as too frequent.

#include <stdbool.h>
#include <stdint.h>

#include "schema/messages.h"

// An unanswered request is sent again after this time.
#define CAIRN_RESYNC_RETRY_NS UINT64_C(4000000000)
// A request that the server refused as too frequent is sent again after this time.
#define CAIRN_RESYNC_BACKOFF_NS UINT64_C(500000000)

typedef enum cairn_resync_purpose {
    CAIRN_RESYNC_FOR_REPAIR = 0,
    CAIRN_RESYNC_FOR_REPORT,
    CAIRN_RESYNC_PURPOSE_COUNT
} cairn_resync_purpose;

typedef struct cairn_resync_queue_entry {
    bool open;                    // waits to be sent, or for its answer
    bool repeats;                 // until it is withdrawn; otherwise it is sent once
    uint64_t due_ns;              // when to send it, or to send it again
    cairn_resync_request request; // borrows the sketch
} cairn_resync_queue_entry;

// All zero: no request is open.
typedef struct cairn_resync_queue {
    cairn_resync_queue_entry entries[CAIRN_RESYNC_PURPOSE_COUNT];
} cairn_resync_queue;

// Replaces the last request for this purpose. The sketch must stay valid until the request is
// replaced or withdrawn.
void cairn_resync_queue_ask(cairn_resync_queue *queue, cairn_resync_purpose purpose,
    const cairn_resync_request *request, uint64_t due_ns, bool repeats);
// Sends the last request for this purpose again after CAIRN_RESYNC_BACKOFF_NS, whether or not it
// was still open.
void cairn_resync_queue_postpone(
    cairn_resync_queue *queue, cairn_resync_purpose purpose, uint64_t now_ns);
void cairn_resync_queue_withdraw(cairn_resync_queue *queue, cairn_resync_purpose purpose);

// The purpose whose request is to be sent now, repairs first; CAIRN_RESYNC_PURPOSE_COUNT: none.
cairn_resync_purpose cairn_resync_queue_next(const cairn_resync_queue *queue, uint64_t now_ns);
// The request of this purpose was handed to the link.
void cairn_resync_queue_sent(
    cairn_resync_queue *queue, cairn_resync_purpose purpose, uint64_t now_ns);

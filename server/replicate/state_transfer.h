// SPDX-License-Identifier: MIT
#pragma once

// The full state for clients that simulate. A room has one encoding in one buffer, shared by all
// clients that are being sent it. A new reader joins the encoding that exists while it is fresh, or
// while others still read it. Only an encoding that is too old to catch up from is replaced under
// its readers, which then start over. So a slow reader delays no other client.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/session/context.h"
#include "server/session/session.h"
#include <cairn/sim.h>
#include <cairn/status.h>

typedef struct cairn_state_source {
    uint8_t *bytes; // owned
    size_t capacity;
    size_t size;
    uint64_t tick;       // of the state
    uint32_t generation; // counts encodings; 0: nothing encoded yet
    uint32_t readers;
    bool stale; // encoded from a world that was replaced
} cairn_state_source;

// CAIRN_OUT_OF_MEMORY leaves bytes NULL.
cairn_status cairn_state_source_create(size_t capacity, cairn_state_source *out);
void cairn_state_source_destroy(cairn_state_source *source);
// Adds a reader. Encodes the world unless the encoding is at most `fresh_ticks` old, or at most
// `usable_ticks` old and being read. CAIRN_CAPACITY: the state is larger than the buffer, and the
// reader is not counted.
cairn_status cairn_state_source_join(cairn_state_source *source, const cairn_world *world,
    uint64_t fresh_ticks, uint64_t usable_ticks);
void cairn_state_source_leave(cairn_state_source *source);
// After the world was replaced: the encoding serves no further reader. No reader is left
// (asserted).
void cairn_state_source_invalidate(cairn_state_source *source);

// How much of a state one client was sent.
typedef struct cairn_state_transfer_progress {
    bool requested;      // by the client: send a state of the present
    bool reading;        // counted as a reader of the source
    bool sent;           // every piece was queued
    uint32_t generation; // of the encoding that the pieces come from
    uint32_t offset;
    uint64_t tick; // of the state
} cairn_state_transfer_progress;

// Begins to send a state that is at most `usable_ticks` old: a client that held ticks must not get
// a state from before them. On failure the client is disconnected.
void cairn_state_transfer_begin(const cairn_server_context *context, cairn_session *session,
    cairn_state_source *source, cairn_state_transfer_progress *progress, uint64_t usable_ticks);
// Queues as many pieces as the link has room for.
void cairn_state_transfer_continue(const cairn_server_context *context, cairn_session *session,
    cairn_state_source *source, cairn_state_transfer_progress *progress);
// Stops reading; nothing counts as sent.
void cairn_state_transfer_abandon(
    cairn_state_source *source, cairn_state_transfer_progress *progress);

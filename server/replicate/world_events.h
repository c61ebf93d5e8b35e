// SPDX-License-Identifier: MIT
#pragma once

// The events of the world for clients that interpolate: reliable and in order. A client whose
// stream is full is told later; one that falls behind the log is told how many it missed.

#include <stdbool.h>
#include <stdint.h>

#include "server/replicate/view.h"
#include "server/session/context.h"
#include "server/session/session.h"

typedef struct cairn_world_events_sent {
    uint64_t next;   // number of the next event to send
    uint32_t missed; // since the last message
    bool begun;      // `next` is set
} cairn_world_events_sent;

// Sends what is new in the room's event log. A client is told of what happens after its first call;
// one with a view only of bodies in it, and not how much it missed.
void cairn_world_events_send(const cairn_server_context *context, cairn_session *session,
    const cairn_view *view, cairn_world_events_sent *sent);

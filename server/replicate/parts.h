// SPDX-License-Identifier: MIT
#pragma once

// Sends a client the part of the newest snapshot that its view owes it.

#include "server/replicate/game_messages.h"
#include "server/replicate/snapshots.h"
#include "server/replicate/view.h"
#include "server/session/context.h"

// The interest is of the newest snapshot. `bytes_per_second`: at most; UINT64_MAX: what the path
// allows.
void cairn_part_send(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, cairn_room_interest *interest, cairn_view *view,
    uint64_t bytes_per_second, cairn_game_sent *game);
// The same in a room that is paused, for a client that holds a part of its tick, or can acknowledge
// none because it is tick 0: each body that it does not hold yet is sent to it once, over the
// reliable stream. The client does not acknowledge these parts, so if the room goes on the bodies
// are sent again.
void cairn_part_send_standing(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, cairn_room_interest *interest, cairn_view *view,
    uint64_t bytes_per_second);

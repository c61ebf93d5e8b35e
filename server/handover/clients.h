// SPDX-License-Identifier: MIT
#pragma once

// Hands over what a server keeps for one client: its session, its link, and what it was sent.

#include "net/archive.h"
#include "server/core/server_state.h"
#include "server/handover/links.h"

// Which room the session is in, by the order in which rooms were handed over; for the side that
// reads, whether there is such a room.
#define CAIRN_HANDOVER_NO_ROOM UINT32_MAX

// `room`: of the session, the same one in both processes; NULL: none. Reading, the session is that
// of a client that netcode has, is free, and becomes a member of the room; its link is one of
// `links`, if there is one that fits. Returns false, and nothing of it exists, when the archive was
// refused.
bool cairn_session_hand_over(cairn_server *server, cairn_handover_links *links,
    cairn_session *session, cairn_room *room, cairn_archive *archive);

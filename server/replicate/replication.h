// SPDX-License-Identifier: MIT
#pragma once

// What one client is told after a turn of ticks. An interpolating client: the shapes, then a
// keyframe, then deltas against the newest snapshot it acknowledged. A lockstep client: the whole
// state in pieces, then every tick's commands and root until it acknowledges them; one that falls
// behind the history is sent a new state. What finds no room in the reliable stream waits for the
// next turn: nothing is lost and nothing blocks.

#include <stdbool.h>

#include "server/session/session.h"

struct cairn_server;

// `snapshot` says that the room took a snapshot this turn.
void cairn_replication_advance(struct cairn_server *server, cairn_session *session, bool snapshot);

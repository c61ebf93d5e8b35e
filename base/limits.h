// SPDX-License-Identifier: MIT
#pragma once

// Every limit that more than one room relies on, and how they hang together. Widths on the wire,
// sizes of fixed arrays and what happens at overload follow from these numbers.

#define CAIRN_TICK_RATE_HZ_MIN 10
#define CAIRN_TICK_RATE_HZ_MAX 240
#define CAIRN_TICK_RATE_HZ_DEFAULT 60

// Players of one room; a slot number fits one byte on the wire.
#define CAIRN_SLOTS_MAX 64
// Whose commands are an operator's: one beyond the players.
#define CAIRN_SLOT_OPERATOR 64
// Clients of one server process: players, spectators, of all rooms.
#define CAIRN_CLIENTS_MAX 1024
// Commands of one tick: each slot may press, join and leave, and an operator may write as well.
#define CAIRN_COMMANDS_PER_TICK_MAX 256

// netcode 1.02.
#define CAIRN_PAYLOAD_SIZE_MAX 1200
#define CAIRN_DATAGRAM_SIZE_MAX 1300

// A message above the link, fragments put together.
#define CAIRN_MESSAGE_SIZE_MAX (256 * 1024)
// A state transfer over the reliable stream is cut into messages; the whole may be this large.
#define CAIRN_STATE_SIZE_MAX (64 * 1024 * 1024)

// Capacities a world may be created with.
#define CAIRN_BODIES_MAX 65536
#define CAIRN_SHAPES_MAX 131072
#define CAIRN_JOINTS_MAX 65536
#define CAIRN_CONTACTS_MAX 1048576
#define CAIRN_HULLS_MAX 1024
#define CAIRN_RULES_STATE_SIZE_MAX 65536

// Points that a convex hull may be made from, and corners that it may have.
#define CAIRN_HULL_POINTS_MAX 128
#define CAIRN_HULL_VERTICES_MAX 32

_Static_assert(CAIRN_PAYLOAD_SIZE_MAX < CAIRN_DATAGRAM_SIZE_MAX, "a payload fits its datagram");
_Static_assert(CAIRN_SLOTS_MAX <= 255, "a slot is one byte, 255 is nobody");
_Static_assert(CAIRN_SLOT_OPERATOR == CAIRN_SLOTS_MAX, "an operator is no player");
_Static_assert(CAIRN_COMMANDS_PER_TICK_MAX >= 3 * CAIRN_SLOTS_MAX, "every slot can speak");

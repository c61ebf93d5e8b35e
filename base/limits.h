// SPDX-License-Identifier: MIT
#pragma once

// Limits that several modules share, besides those of cairn/types.h, and the relations between them
// all. Widths on the wire, sizes of fixed arrays and behaviour at overload follow from them.

#include <cairn/types.h>

// The largest payload of a datagram (netcode 1.02), bytes.
#define CAIRN_PAYLOAD_SIZE_MAX 1200
// The largest message above the link, reassembled from its fragments. A state transfer over the
// reliable stream is cut into such messages.
#define CAIRN_MESSAGE_SIZE_MAX (256 * 1024)

_Static_assert(CAIRN_PAYLOAD_SIZE_MAX < CAIRN_DATAGRAM_SIZE_MAX, "a payload fits its datagram");
_Static_assert(CAIRN_SLOTS_MAX < CAIRN_SLOT_NONE, "every slot has a number, and one means none");
_Static_assert(CAIRN_SLOT_OPERATOR == CAIRN_SLOTS_MAX, "an operator is not a player");
_Static_assert(CAIRN_COMMANDS_PER_TICK_MAX >= (1 + CAIRN_INPUT_COMMANDS_MAX) * CAIRN_SLOTS_MAX +
                                                  64 + CAIRN_MESSAGE_COMMANDS_MAX,
    "every slot can send commands, and a player a message beside an operator's edits");
_Static_assert(CAIRN_BODIES_MAX < 1 << CAIRN_ID_INDEX_BITS, "an index fits its id");
_Static_assert(CAIRN_SHAPES_MAX < 1 << CAIRN_ID_INDEX_BITS, "an index fits its id");
_Static_assert(CAIRN_JOINTS_MAX < 1 << CAIRN_ID_INDEX_BITS, "an index fits its id");
_Static_assert(sizeof(cairn_vec3) == 12 && sizeof(cairn_quat) == 16, "wire layout");
_Static_assert(sizeof(cairn_snapshot_body) == 64, "wire layout");
_Static_assert(sizeof(cairn_snapshot_shape) == 64, "wire layout");
_Static_assert(
    sizeof(cairn_command) == 40, "no padding: commands are copied and compared as bytes");
_Static_assert(sizeof(cairn_address) == 20, "no padding: addresses are compared as bytes");

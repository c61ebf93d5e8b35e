// SPDX-License-Identifier: MIT
#pragma once

// Messages with packed payloads, for tests. A payload lasts until so many others were made.

#include "bridge/packed_inputs.h"
#include "schema/messages.h"
#include "schema/tick_payload.h"

#define KIT_PAYLOADS 8

// An INPUT. `inputs` has one struct for each of head->input_count inputs, of consecutive ticks from
// that of the first on; `parts` and `first_tick` of the head are filled in.
cairn_message kit_input(const cairn_input_head *head, const cairn_wire_input *inputs);
// A TICKS message of consecutive ticks, as a recording has them: tick i has those of the commands
// that it names.
cairn_message kit_ticks(const cairn_ticks_head *head, const cairn_wire_tick *ticks,
    uint32_t tick_count, const cairn_command *commands);

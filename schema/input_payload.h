// SPDX-License-Identifier: MIT
#pragma once

// The beginning of an INPUT's payload: what the client holds and shows, and for which ticks the
// inputs are that follow (bridge/packed_inputs.h). docs/PROTOCOL.md, "Input payload", has the
// layout.

#include "schema/messages.h"

typedef struct cairn_input_head {
    uint8_t number;                 // counts the client's INPUTs, modulo CAIRN_INPUT_NUMBERS
    uint64_t snapshot_acknowledged; // newest snapshot tick received whole, 0 for none
    uint64_t ticks_acknowledged;    // modes that simulate: all ticks below this are held
    uint64_t early;                 // bit i: tick ticks_acknowledged + 1 + i is held as well
    // What the player was shown last: the states of shown_tick and shown_tick + shown_span,
    // shown_share of the way from one to the other. A span of 0: nothing, or a picture that does
    // not lie between two states of the server.
    bool reports_shown; // false: what the message before said still holds
    uint64_t shown_tick;
    uint32_t shown_span; // at most CAIRN_SHOWN_SPAN_MAX
    float shown_share;   // [0, 1]
    // World epoch: how many CAIRN_EVENT_REPLACED the client has received. It keeps ticks of two
    // worlds apart for any order of arrival.
    uint32_t world_epoch;
    uint32_t input_count; // of consecutive ticks; at most CAIRN_INPUTS_PER_MESSAGE_MAX
    uint64_t first_tick;  // of the first input; 0 without inputs
    uint32_t parts;       // commands of an input, 1 .. CAIRN_INPUT_COMMANDS_MAX
    // The first input is coded against the player's confirmed one of ticks_acknowledged - 1.
    bool based;
} cairn_input_head;

#define CAIRN_INPUT_HEAD_SIZE_MAX 80
#define CAIRN_INPUT_NUMBERS 16u
#define CAIRN_SHOWN_SPAN_MAX 1024

// Returns the bytes written.
size_t cairn_input_head_write(
    const cairn_input_head *head, uint8_t bytes[CAIRN_INPUT_HEAD_SIZE_MAX]);
// Returns the bytes read; 0: they are no head.
size_t cairn_input_head_read(const uint8_t *bytes, size_t size, cairn_input_head *out);

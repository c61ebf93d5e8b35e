// SPDX-License-Identifier: MIT
#include "client_lib/simulate/input_prediction.h"

#include <string.h>

#include "base/assert.h"

void cairn_input_prediction_start(
    cairn_input_prediction *prediction, uint64_t tick, uint32_t hold_ticks) {
    *prediction = (cairn_input_prediction){.hold_ticks = hold_ticks, .next_tick = tick};
}

static void confirm_input(cairn_input_prediction *prediction, cairn_input_prediction_slot *slot,
    const cairn_command *input) {
    CAIRN_ASSERT(input->kind == CAIRN_COMMAND_INPUT);
    const uint64_t tick = prediction->next_tick;
    const bool same = slot->holds && memcmp(&slot->held, input, sizeof *input) == 0;
    slot->joined = true;
    if (same && tick - slot->held_tick <= prediction->hold_ticks && slot->stride != 0) {
        slot->from_player = false;
        return;
    }
    // A player whose input stays equal for longer than the server repeats it does not number its
    // inputs.
    slot->stride = same ? 0 : 1;
    slot->held = *input;
    slot->held_tick = tick;
    slot->holds = true;
    slot->from_player = true;
}

void cairn_input_prediction_confirm(
    cairn_input_prediction *prediction, const cairn_command *commands, uint32_t count) {
    CAIRN_ASSERT(count <= CAIRN_COMMANDS_PER_TICK_MAX);
    bool has_input[CAIRN_SLOTS_MAX] = {false};
    for (uint32_t i = 0; i < count; i++) {
        const cairn_command *command = &commands[i];
        if (command->slot >= CAIRN_SLOTS_MAX) {
            continue;
        }
        cairn_input_prediction_slot *slot = &prediction->slots[command->slot];
        if (command->kind == CAIRN_COMMAND_INPUT) {
            confirm_input(prediction, slot, command);
            has_input[command->slot] = true;
        } else {
            *slot = (cairn_input_prediction_slot){
                .joined = command->kind == CAIRN_COMMAND_JOIN, .stride = 1};
        }
    }
    for (uint32_t i = 0; i < CAIRN_SLOTS_MAX; i++) {
        prediction->slots[i].holds &= has_input[i];
    }
    prediction->next_tick++;
}

bool cairn_input_prediction_substitute(
    const cairn_input_prediction *prediction, uint32_t slot, uint64_t tick, cairn_command *out) {
    CAIRN_ASSERT(slot < CAIRN_SLOTS_MAX);
    const cairn_input_prediction_slot *s = &prediction->slots[slot];
    *out = s->held;
    return s->joined && s->holds && tick - s->held_tick <= prediction->hold_ticks;
}

bool cairn_input_prediction_predict(
    const cairn_input_prediction *prediction, uint32_t slot, uint64_t tick, cairn_command *out) {
    const cairn_input_prediction_slot *s = &prediction->slots[slot];
    CAIRN_ASSERT(slot < CAIRN_SLOTS_MAX && tick >= prediction->next_tick);
    if (!s->joined || !s->holds || !s->from_player) {
        return cairn_input_prediction_substitute(prediction, slot, tick, out);
    }
    *out = s->held;
    out->sequence += s->stride * (uint32_t)(tick - s->held_tick);
    return true;
}

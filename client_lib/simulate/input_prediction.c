// SPDX-License-Identifier: MIT
#include "client_lib/simulate/input_prediction.h"

#include <string.h>

#include "base/assert.h"
#include "base/game_input.h"

void cairn_input_prediction_start(
    cairn_input_prediction *prediction, uint64_t tick, uint32_t hold_ticks, uint32_t parts) {
    CAIRN_ASSERT(parts >= 1 && parts <= CAIRN_INPUT_COMMANDS_MAX);
    *prediction =
        (cairn_input_prediction){.hold_ticks = hold_ticks, .next_tick = tick, .parts = parts};
}

void cairn_input_prediction_join(cairn_input_prediction *prediction, uint32_t slot) {
    CAIRN_ASSERT(slot < CAIRN_SLOTS_MAX);
    cairn_slot_set_put(&prediction->joined, slot, true);
}

// `input` has so many commands, at most `parts`: fewer if the server sent what no client sends.
static void confirm_input(cairn_input_prediction *prediction, cairn_input_prediction_slot *slot,
    const cairn_command *input, uint32_t count) {
    const uint64_t tick = prediction->next_tick;
    const size_t size = count * sizeof *input;
    const bool same = slot->holds && memcmp(slot->held, input, size) == 0;
    if (same && tick - slot->held_tick <= prediction->hold_ticks && slot->stride != 0) {
        slot->from_player = false;
        return;
    }
    // A player whose input stays equal for longer than the server repeats it does not number its
    // inputs.
    slot->stride = same ? 0 : 1;
    memcpy(slot->held, input, size);
    slot->held_tick = tick;
    slot->holds = true;
    slot->from_player = true;
}

// How many of the commands belong to the input that begins with the first.
static uint32_t parts_of(
    const cairn_input_prediction *prediction, const cairn_command *commands, uint32_t count) {
    uint32_t parts = 1;
    while (parts < prediction->parts && parts < count && commands[parts].slot == commands[0].slot &&
           commands[parts].kind == (uint32_t)cairn_input_part_kind(parts)) {
        parts++;
    }
    return parts;
}

void cairn_input_prediction_confirm(
    cairn_input_prediction *prediction, const cairn_command *commands, uint32_t count) {
    CAIRN_ASSERT(count <= CAIRN_COMMANDS_PER_TICK_MAX);
    cairn_slot_set has_input = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        const cairn_command *command = &commands[i];
        if (command->slot >= CAIRN_SLOTS_MAX) {
            continue;
        }
        cairn_input_prediction_slot *slot = &prediction->slots[command->slot];
        if (command->kind == CAIRN_COMMAND_INPUT) {
            confirm_input(prediction, slot, command, parts_of(prediction, command, count - i));
            cairn_slot_set_put(&prediction->joined, command->slot, true);
            cairn_slot_set_put(&has_input, command->slot, true);
        } else if (!cairn_command_is_input(command)) {
            *slot = (cairn_input_prediction_slot){.stride = 1};
            cairn_slot_set_put(
                &prediction->joined, command->slot, command->kind == CAIRN_COMMAND_JOIN);
        }
    }
    for (uint32_t i = cairn_slot_set_next(&prediction->joined, 0); i < CAIRN_SLOTS_MAX;
         i = cairn_slot_set_next(&prediction->joined, i + 1)) {
        prediction->slots[i].holds &= cairn_slot_set_has(&has_input, i);
    }
    prediction->next_tick++;
}

uint32_t cairn_input_prediction_substitute(
    const cairn_input_prediction *prediction, uint32_t slot, uint64_t tick, cairn_command *out) {
    CAIRN_ASSERT(slot < CAIRN_SLOTS_MAX);
    const cairn_input_prediction_slot *s = &prediction->slots[slot];
    memcpy(out, s->held, prediction->parts * sizeof *out);
    const bool held = cairn_slot_set_has(&prediction->joined, slot) && s->holds &&
                      tick - s->held_tick <= prediction->hold_ticks;
    return held ? prediction->parts : 0;
}

uint32_t cairn_input_prediction_predict(
    const cairn_input_prediction *prediction, uint32_t slot, uint64_t tick, cairn_command *out) {
    const cairn_input_prediction_slot *s = &prediction->slots[slot];
    CAIRN_ASSERT(slot < CAIRN_SLOTS_MAX && tick >= prediction->next_tick);
    if (!cairn_slot_set_has(&prediction->joined, slot) || !s->holds || !s->from_player) {
        return cairn_input_prediction_substitute(prediction, slot, tick, out);
    }
    for (uint32_t i = 0; i < prediction->parts; i++) {
        out[i] = s->held[i];
        out[i].sequence += s->stride * (uint32_t)(tick - s->held_tick);
    }
    return prediction->parts;
}

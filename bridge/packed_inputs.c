// SPDX-License-Identifier: MIT
#include "bridge/packed_inputs.h"

#include "base/assert.h"
#include "base/game_input.h"

// The commands of one input, in slot 0.
typedef struct slot_input {
    cairn_command commands[CAIRN_INPUT_COMMANDS_MAX];
    uint32_t count;
} slot_input;

static cairn_tick_commands tick_of(const slot_input *input) {
    return (cairn_tick_commands){input->commands, input->count};
}

static slot_input in_slot_0(cairn_tick_commands base) {
    slot_input input = {.count = base.count};
    CAIRN_ASSERT(base.count <= CAIRN_INPUT_COMMANDS_MAX);
    for (uint32_t i = 0; i < base.count; ++i) {
        input.commands[i] = base.commands[i];
        input.commands[i].slot = 0;
    }
    return input;
}

size_t cairn_input_payload_write(const cairn_input_head *head, const cairn_wire_input *inputs,
    cairn_tick_commands base, uint8_t bytes[CAIRN_INPUT_PAYLOAD_SIZE_MAX]) {
    CAIRN_ASSERT(head->input_count <= CAIRN_INPUTS_PER_MESSAGE_MAX);
    const size_t head_size = cairn_input_head_write(head, bytes);
    if (head->input_count == 0) {
        return head_size;
    }
    cairn_command_coder coder =
        cairn_command_encoder(bytes + head_size, CAIRN_INPUT_PAYLOAD_SIZE_MAX - head_size);
    slot_input held = in_slot_0(base);
    for (uint32_t i = 0; i < head->input_count; ++i) {
        slot_input now = {.count = head->parts};
        for (uint32_t k = 0; k < head->parts; ++k) {
            now.commands[k] = cairn_command_of_input(&inputs[i * head->parts + k], 0);
            now.commands[k].kind = cairn_input_part_kind(k);
        }
        cairn_commands_encode(&coder, tick_of(&held), tick_of(&now));
        held = now;
    }
    const size_t size = cairn_command_encoder_finish(&coder);
    CAIRN_ASSERT(size <= CAIRN_INPUT_PAYLOAD_SIZE_MAX - head_size);
    return head_size + size;
}

// Whether the commands are one input of so many parts.
static bool is_input(const cairn_command *commands, uint32_t count, uint32_t parts) {
    bool valid = count == parts;
    for (uint32_t i = 0; valid && i < count; ++i) {
        valid = commands[i].slot == 0 && commands[i].kind == (uint32_t)cairn_input_part_kind(i) &&
                commands[i].sequence == commands[0].sequence &&
                cairn_command_check(&commands[i]) == CAIRN_OK;
    }
    return valid;
}

bool cairn_input_payload_read(const cairn_input_head *head, const uint8_t *bytes, size_t size,
    cairn_tick_commands base,
    cairn_wire_input out[CAIRN_INPUTS_PER_MESSAGE_MAX * CAIRN_INPUT_COMMANDS_MAX]) {
    cairn_command_coder coder = cairn_command_decoder(bytes, size);
    slot_input held = in_slot_0(base);
    cairn_command commands[CAIRN_INPUT_COMMANDS_MAX];
    CAIRN_ASSERT(head->input_count <= CAIRN_INPUTS_PER_MESSAGE_MAX);
    for (uint32_t i = 0; i < head->input_count; ++i) {
        const uint32_t count =
            cairn_commands_decode(&coder, tick_of(&held), commands, CAIRN_INPUT_COMMANDS_MAX);
        if (!coder.ok || !is_input(commands, count, head->parts)) {
            return false;
        }
        held = in_slot_0((cairn_tick_commands){commands, count});
        for (uint32_t k = 0; k < count; ++k) {
            out[i * count + k] = (cairn_wire_input){.tick = head->first_tick + i,
                .sequence = commands[k].sequence,
                .buttons = commands[k].buttons,
                .move = commands[k].move,
                .aim = commands[k].aim};
        }
    }
    return true;
}

// SPDX-License-Identifier: MIT
#include "sim/body.h"

cairn_status cairn_command_check(const cairn_command *command) {
    if (command->kind < CAIRN_COMMAND_JOIN || command->kind > CAIRN_COMMAND_INPUT ||
        command->slot >= CAIRN_SLOTS_MAX) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_status move = cairn_check_vec3(command->move, 1.0f);
    return move != CAIRN_OK ? move : cairn_check_vec3(command->aim, 1.0f);
}

#define COMMAND_WORDS 10

// In the order that commands are sorted by.
static void words_of(const cairn_command *command, uint32_t words[COMMAND_WORDS]) {
    words[0] = command->slot;
    words[1] = command->kind;
    words[2] = command->sequence;
    words[3] = command->buttons;
    words[4] = float_bits(command->move.x);
    words[5] = float_bits(command->move.y);
    words[6] = float_bits(command->move.z);
    words[7] = float_bits(command->aim.x);
    words[8] = float_bits(command->aim.y);
    words[9] = float_bits(command->aim.z);
}

bool cairn_command_before(const cairn_command *a, const cairn_command *b) {
    uint32_t left[COMMAND_WORDS];
    uint32_t right[COMMAND_WORDS];
    words_of(a, left);
    words_of(b, right);
    for (int i = 0; i < COMMAND_WORDS; ++i) {
        if (left[i] != right[i]) {
            return left[i] < right[i];
        }
    }
    return false;
}

// By insertion: a tick has few commands and they come nearly sorted.
void cairn_commands_sort(cairn_command *commands, uint32_t count) {
    for (uint32_t i = 1; i < count; ++i) {
        const cairn_command moving = commands[i];
        uint32_t at = i;
        while (at > 0 && cairn_command_before(&moving, &commands[at - 1])) {
            commands[at] = commands[at - 1];
            --at;
        }
        commands[at] = moving;
    }
}

cairn_hash128 cairn_commands_digest(uint64_t tick, const cairn_command *commands, uint32_t count) {
    const uint32_t head[3] = {(uint32_t)tick, (uint32_t)(tick >> 32), count};
    cairn_hash128 digest = cairn_hash_words(UINT64_MAX, head, 3);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t words[COMMAND_WORDS];
        words_of(&commands[i], words);
        digest = cairn_hash_add(digest, cairn_hash_words(i, words, COMMAND_WORDS));
    }
    return digest;
}

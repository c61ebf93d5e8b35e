// SPDX-License-Identifier: MIT
#include "base/game_message.h"

#include <string.h>

#include "base/assert.h"
#include "base/limits.h"

_Static_assert(CAIRN_MESSAGE_COMMANDS_MAX *CAIRN_MESSAGE_PIECE_SIZE >= CAIRN_GAME_MESSAGE_SIZE_MAX,
    "a message fits its commands");
_Static_assert(CAIRN_SLOTS_MAX <= 256 && CAIRN_GAME_MESSAGE_SIZE_MAX <= 256, "a byte of `buttons`");

uint32_t cairn_message_piece_count(uint32_t size) {
    return (size + CAIRN_MESSAGE_PIECE_SIZE - 1) / CAIRN_MESSAGE_PIECE_SIZE;
}

// Whole numbers below 2^24 are exact floats, so no copy, comparison or machine changes a byte.
static float number_of(const uint8_t bytes[3]) {
    return (float)(bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16);
}

uint32_t cairn_commands_of_message(uint32_t slot, const uint8_t *bytes, uint32_t size,
    uint32_t sequence, cairn_command out[CAIRN_MESSAGE_COMMANDS_MAX]) {
    CAIRN_ASSERT(slot < CAIRN_SLOTS_MAX && size > 0 && size <= CAIRN_GAME_MESSAGE_SIZE_MAX);
    const uint32_t count = cairn_message_piece_count(size);
    for (uint32_t i = 0; i < count; ++i) {
        uint8_t piece[CAIRN_MESSAGE_PIECE_SIZE] = {0};
        const uint32_t first = i * CAIRN_MESSAGE_PIECE_SIZE;
        const uint32_t rest = size - first;
        memcpy(piece, bytes + first, rest < sizeof piece ? rest : sizeof piece);
        out[i] = (cairn_command){.kind = CAIRN_COMMAND_MESSAGE,
            .slot = CAIRN_SLOT_OPERATOR,
            .sequence = sequence + i,
            .buttons = slot | (size - 1) << 8 | i << 16,
            .move = {number_of(piece), number_of(piece + 3), number_of(piece + 6)},
            .aim = {number_of(piece + 9), number_of(piece + 12), number_of(piece + 15)}};
    }
    return count;
}

cairn_message_piece cairn_message_piece_read(
    const cairn_command *command, uint8_t bytes[CAIRN_MESSAGE_PIECE_SIZE]) {
    const float numbers[] = {command->move.x, command->move.y, command->move.z, command->aim.x,
        command->aim.y, command->aim.z};
    for (uint32_t i = 0; i < 6; ++i) {
        const uint32_t word = (uint32_t)numbers[i];
        bytes[3 * i] = (uint8_t)word;
        bytes[3 * i + 1] = (uint8_t)(word >> 8);
        bytes[3 * i + 2] = (uint8_t)(word >> 16);
    }
    cairn_message_piece piece = {.slot = command->buttons & 255,
        .number = command->buttons >> 16,
        .size = (command->buttons >> 8 & 255) + 1};
    const uint32_t first = piece.number * CAIRN_MESSAGE_PIECE_SIZE;
    bool valid =
        piece.slot < CAIRN_SLOTS_MAX && piece.number < cairn_message_piece_count(piece.size);
    for (uint32_t i = 0; valid && i < CAIRN_MESSAGE_PIECE_SIZE; ++i) {
        valid = first + i < piece.size || bytes[i] == 0;
    }
    piece.size = valid ? piece.size : 0;
    return piece;
}

uint32_t cairn_message_of_commands(const cairn_command *commands, uint32_t count, uint32_t *slot,
    uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX], uint32_t *size) {
    CAIRN_ASSERT(count > 0 && commands[0].kind == CAIRN_COMMAND_MESSAGE);
    uint8_t whole[CAIRN_MESSAGE_COMMANDS_MAX * CAIRN_MESSAGE_PIECE_SIZE];
    const cairn_message_piece first = cairn_message_piece_read(&commands[0], whole);
    const uint32_t pieces = cairn_message_piece_count(first.size);
    uint32_t taken = 1;
    *slot = first.slot;
    *size = 0;
    if (first.size == 0 || first.number != 0) {
        return 1;
    }
    while (taken < pieces && taken < count && commands[taken].kind == CAIRN_COMMAND_MESSAGE) {
        const cairn_message_piece piece = cairn_message_piece_read(
            &commands[taken], whole + (size_t)taken * CAIRN_MESSAGE_PIECE_SIZE);
        if (piece.slot != first.slot || piece.size != first.size || piece.number != taken) {
            break;
        }
        taken += 1;
    }
    if (taken == pieces) {
        memcpy(bytes, whole, first.size);
        *size = first.size;
    }
    return taken;
}

// SPDX-License-Identifier: MIT
#include "rules_file/play.h"

#include <stddef.h>

#include "base/game_input.h"

#define PLAYERS 3

// In [-1, 1); the same for eight ticks.
static float axis(uint64_t seed, uint64_t tick, uint32_t slot, uint64_t stream) {
    return (float)(cairn_random_at(seed, tick / 8, slot, stream) >> 40) / 8388608.0f - 1.0f;
}

static cairn_command input_of(uint64_t seed, uint64_t tick, uint32_t slot) {
    const uint64_t dice = cairn_random_at(seed, tick, slot, 9);
    return (cairn_command){.kind = CAIRN_COMMAND_INPUT,
        .slot = slot,
        .sequence = (uint32_t)tick,
        .buttons = (uint32_t)(dice & dice >> 32),
        .move = {axis(seed, tick, slot, 1), 0, axis(seed, tick, slot, 2)},
        .aim = {axis(seed, tick, slot, 3), 0.1f, axis(seed, tick, slot, 4)}};
}

// Of the declared layout; the same for four ticks.
static uint32_t declared_input_of(
    const cairn_rules *rules, uint64_t seed, uint64_t tick, uint32_t slot, cairn_command *out) {
    uint32_t input[CAIRN_INPUT_FIELDS_MAX];
    cairn_random random = cairn_random_of(cairn_random_at(seed, tick / 4, slot, 12));
    cairn_input_draw(rules->input, rules->input_count, &random, input);
    return cairn_commands_of_input(rules, slot, (uint32_t)tick, input, out);
}

// Arrays of the rules that are too short for the room's last slot are found.
static uint32_t slot_of(uint32_t player, uint32_t players_max) {
    return player + 1 == PLAYERS && players_max > PLAYERS ? players_max - 1 : player;
}

uint32_t cairn_rules_play(const cairn_rules *rules, uint32_t players_max, uint64_t seed,
    uint64_t tick, uint64_t ticks, cairn_command commands[CAIRN_RULES_PLAY_MAX]) {
    const uint32_t players = players_max < PLAYERS ? players_max : PLAYERS;
    uint32_t count = 0;
    for (uint32_t player = 0; player < players; ++player) {
        const uint32_t slot = slot_of(player, players_max);
        const uint64_t joins = player + seed % 5;
        const uint64_t leaves = ticks - ticks / 10 + player;
        if (tick == joins || tick == leaves) {
            commands[count++] = (cairn_command){
                .kind = tick == joins ? CAIRN_COMMAND_JOIN : CAIRN_COMMAND_LEAVE, .slot = slot};
        } else if (tick > joins && tick < leaves) {
            if (rules->input_count > 0) {
                count += declared_input_of(rules, seed, tick, slot, &commands[count]);
            } else {
                commands[count++] = input_of(seed, tick, slot);
            }
        }
    }
    if (rules->host != NULL && tick % 16 == 15) {
        commands[count] = input_of(seed, tick, PLAYERS);
        commands[count].kind = CAIRN_COMMAND_HOST;
        commands[count++].slot = CAIRN_SLOT_OPERATOR;
    }
    if (rules->message_size_max > 0 && tick % 8 == 5 && tick >= 8 && tick < ticks - ticks / 10) {
        uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX];
        const uint64_t dice = cairn_random_at(seed, tick, PLAYERS, 10);
        const uint32_t size = 1 + (uint32_t)(dice >> 8) % rules->message_size_max;
        for (uint32_t i = 0; i < size; ++i) {
            bytes[i] = (uint8_t)cairn_random_at(seed, tick, i, 11);
        }
        count += cairn_commands_of_message(
            slot_of((uint32_t)dice % players, players_max), bytes, size, 1, &commands[count]);
    }
    return count;
}

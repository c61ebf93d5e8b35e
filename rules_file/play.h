// SPDX-License-Identifier: MIT
#pragma once

// Random play for checks of rules: a function of seed and tick alone.

#include <stdint.h>

#include <cairn/rules.h>

#define CAIRN_RULES_PLAY_MAX (3 * CAIRN_INPUT_COMMANDS_MAX + 1 + CAIRN_MESSAGE_COMMANDS_MAX)

// The sorted commands of a tick of a game of `ticks` in a room of `players_max` players: three of
// them, in the first slots and in the last one, join one after the other, press at random and leave
// near the end; the host and the players speak now and then if the rules listen. Returns how many.
uint32_t cairn_rules_play(const cairn_rules *rules, uint32_t players_max, uint64_t seed,
    uint64_t tick, uint64_t ticks, cairn_command commands[CAIRN_RULES_PLAY_MAX]);

// SPDX-License-Identifier: MIT
#pragma once

// Commands by tick in a file of JSON, which `cairn-replay make --commands` plays:
//
//     {"ticks": 60, "commands": [{"tick": 3, "kind": 9, "slot": 256, "buttons": 17,
//         "move": [0, 50, 0], "aim": [0, 0, 0]}]}
//
// A command's fields are those of cairn_command; those that are left out are 0.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/types.h>

#define CAIRN_COMMANDS_FILE_ERROR_SIZE 256

typedef struct cairn_play_command {
    uint64_t tick; // counted from the start
    cairn_command command;
} cairn_play_command;

typedef struct cairn_play {
    cairn_play_command *commands; // owned; in order of tick, sorted within each
    uint32_t count;
    uint64_t ticks; // to be stepped at most
} cairn_play;

// Writes the commands of tick number `at`, which are those from *next on, sorted. Returns their
// number.
uint32_t cairn_play_next(const cairn_play *play, uint64_t at, uint32_t *next,
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX]);

// The text; the caller frees it. NULL: out of memory.
char *cairn_commands_write(const cairn_play *play);
// Reads a file. False: `error` says what is wrong and where. The caller frees play->commands.
bool cairn_commands_read(
    const char *path, cairn_play *play, char error[CAIRN_COMMANDS_FILE_ERROR_SIZE]);

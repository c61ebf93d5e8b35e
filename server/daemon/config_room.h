// SPDX-License-Identifier: MIT
#pragma once

// One room of the command line: NAME=SCENE[,rate=HZ][,snapshots=HZ][,players=N][,wait=MS]
// [,record=FILE]. A pure function, as server/daemon/config.h.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/server.h>

#define CAIRN_CONFIG_TEXT_SIZE 256

typedef struct cairn_config_room {
    char name[CAIRN_ROOM_NAME_SIZE];
    char scene[CAIRN_CONFIG_TEXT_SIZE];       // a name or a file
    char record_file[CAIRN_CONFIG_TEXT_SIZE]; // "": none
    // 0: what the flags say that hold for all rooms.
    uint32_t tick_rate_hz;
    uint32_t snapshot_rate_hz;
    uint32_t players_max;
    uint32_t wait_ms;
} cairn_config_room;

// Takes one room from *text, which ends at ';' or at its end, and leaves *text behind it. NULL, or
// what is wrong, as in "--room a=demo,rate=5: rate must be in [10, 240]"; static text.
const char *cairn_config_room_read(const char **text, cairn_config_room *out);

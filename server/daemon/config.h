// SPDX-License-Identifier: MIT
#pragma once

// What cairnd was told by flags and environment. A pure function: no file is opened and no
// environment is read here. A flag wins over its variable; the last of a flag given twice wins,
// but --public and --room add up.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/token.h"
#include "server/daemon/config_room.h"
#include "server/daemon/log.h"
#include <cairn/types.h>

typedef enum cairn_config_action {
    CAIRN_CONFIG_RUN = 0,
    CAIRN_CONFIG_CHECK,
    CAIRN_CONFIG_HELP,
    CAIRN_CONFIG_VERSION,
} cairn_config_action;

#define CAIRN_CONFIG_ROOMS_MAX 128
#define CAIRN_CONFIG_NO_SCENE "none"

typedef struct cairn_config {
    uint32_t action; // cairn_config_action
    cairn_address listen;
    cairn_address public_addresses[CAIRN_TOKEN_SERVERS_MAX];
    uint32_t public_address_count; // 0: listen, as it was bound
    bool has_key;
    uint8_t key[CAIRN_KEY_SIZE];
    const char *key_file; // NULL: none. All texts are argv's or the environment's
    uint64_t protocol_id;
    const char *scene; // of the room "main": a name or a file; "none": there is no such room
    cairn_config_room rooms[CAIRN_CONFIG_ROOMS_MAX]; // beside it
    uint32_t room_count;
    uint32_t rooms_max;
    uint32_t wait_ms;
    uint32_t tick_rate_hz;     // 0: the scene's
    uint32_t snapshot_rate_hz; // 0: the server's default
    uint32_t clients_max;
    uint32_t players_max; // 0: as many as clients and slots allow
    uint32_t input_window_ticks;
    uint32_t catch_up_ticks_max;
    uint32_t token_lifetime_s_max;
    const char *record_file;    // of the room "main"; NULL: none
    const char *record_key;     // file with the key that signs it; NULL: it is not signed
    const char *capsule_folder; // NULL: none
    bool control;
    uint32_t log_style;        // cairn_log_style
    uint32_t log_level;        // cairn_log_level
    uint32_t stats_interval_s; // 0: never
    uint32_t seconds;          // 0: until a signal comes
} cairn_config;

#define CAIRN_CONFIG_ERROR_SIZE 256

typedef const char *(*cairn_config_lookup)(void *user, const char *name); // NULL: not set

// argv[0] is skipped. On false `error` holds one sentence that says which flag or variable:
// "--tick-rate 500: must be in [10, 240]". --help and --version end the reading of flags.
bool cairn_config_read(int argc, const char *const *argv, cairn_config_lookup environment,
    void *user, cairn_config *out, char error[CAIRN_CONFIG_ERROR_SIZE]);

// 64 hexadecimal digits, white space around them allowed: what --key says and a key file holds.
bool cairn_config_key_read(const char *text, size_t size, uint8_t key[CAIRN_KEY_SIZE]);

// Writes the help text and a terminator, as snprintf does; returns the size it needs.
size_t cairn_config_help(char *out, size_t size);

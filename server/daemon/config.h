// SPDX-License-Identifier: MIT
#pragma once

// The command line and the environment of cairnd. A flag wins over its variable; of a flag that is
// given twice the last one counts, but each --public and --room adds one.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/config_file.h"
#include "program/flags.h"
#include "program/key.h"
#include "server/daemon/log.h"
#include "server/web/web.h"
#include <cairn/server.h>
#include <cairn/token.h>

#define CAIRN_CONFIG_TEXT_SIZE 256

// One room of --room, or a template of rooms:
// NAME=SCENE[,rate=HZ][,snapshots=HZ][,players=N][,wait=MS][,record=FILE].
typedef struct cairn_config_room {
    char name[CAIRN_ROOM_NAME_SIZE];
    char scene[CAIRN_CONFIG_TEXT_SIZE];       // a name or a file
    char record_file[CAIRN_CONFIG_TEXT_SIZE]; // "": none
    cairn_server_room_config settings;        // numbers that are 0: as those of all rooms
} cairn_config_room;

#define CAIRN_CONFIG_ROOMS_MAX 128
#define CAIRN_CONFIG_TEMPLATES_MAX 32

typedef struct cairn_config_rooms {
    cairn_config_room list[CAIRN_CONFIG_ROOMS_MAX];
    uint32_t count;
} cairn_config_rooms;
#define CAIRN_CONFIG_NO_SCENE "none"
#define CAIRN_CONFIG_IDLE_S_MAX 86400
#define CAIRN_CONFIG_COST_US_MAX 1000000
#define CAIRN_CONFIG_RULES_MAX 16

typedef struct cairn_config {
    const char *config_file; // NULL: none
    uint32_t mistakes;       // of it
    bool check;              // the configuration and the scenes, and end
    cairn_address listen;
    uint32_t io_threads; // sockets at it, with a thread each; 1: one, without a thread
    struct {
        cairn_address addresses[CAIRN_TOKEN_SERVERS_MAX];
        uint32_t count; // 0: the address that is bound
    } public;
    cairn_key key;
    uint64_t protocol_id;
    const char *scene; // of the room "main": a name or a file; "none": there is no such room. Texts
                       // are argv's
    cairn_config_rooms rooms;     // beside "main"
    cairn_config_rooms templates; // of rooms that are made when somebody asks for them
    uint32_t load_max_percent;    // of one processor, for the ticks of all rooms; 0: no limit
    bool calibrate;               // measure the scenes, print what rooms of them take, and end
    bool json;                    // of what is printed
    uint32_t rooms_max;
    cairn_server_room_config all_rooms; // settings of every room that --room does not change
    uint32_t clients_max;
    uint32_t token_lifetime_s_max;
    uint32_t token_timeout_s_max;
    const char *record_file;    // of the room "main"; NULL: none
    cairn_key record_key;       // signs recordings; not given: they are not signed
    const char *capsule_folder; // NULL: none
    uint32_t record_sync;       // cairn_record_sync
    const char *publish_folder; // of broadcasts; NULL: none
    uint32_t publish_keep_s;
    bool control;
    bool core_dumps;
    bool dev; // insecure: a key of its own, and no rule against tokens that were used before
    struct {
        cairn_address listen; // HTTP and WebSockets; family CAIRN_ADDRESS_NONE: none
        const char *root;     // folder of the page; NULL: the installed one
        const char *origins[CAIRN_WEB_ORIGINS_MAX];
        uint32_t origin_count;
        uint32_t per_network_max; // WebSockets of one network
        cairn_key control_tokens[CAIRN_WEB_TOKENS_MAX];
        uint32_t control_token_count;
    } web;
    const char *hand_over_path; // where another process may take this one's place; NULL: nowhere
    const char *take_over_path; // of the process the place of which this one takes; NULL: of none
    bool agones;                // speak to the SDK server of an Agones fleet
    uint32_t agones_reserve_s;  // after the last client left; 0: not at all
    uint32_t log_style;         // cairn_log_style
    uint32_t log_level;         // cairn_log_level
    uint32_t stats_interval_s;  // 0: never
    uint32_t drain_s;           // from a signal to the end, while there are clients
    uint32_t seconds;           // 0: until a signal comes
    const char *rules_files[CAIRN_CONFIG_RULES_MAX]; // that were loaded
    uint32_t rules_count;
} cairn_config;

// As cairn_flags_read, and refuses what no flag alone is wrong about. Each mistake of --config is
// printed on standard error with its line and column. `environment`: NULL is
// getenv.
cairn_flags_result cairn_config_read(int argc, char *const *argv,
    const char *(*environment)(const char *name), cairn_config *out,
    char error[CAIRN_FLAGS_ERROR_SIZE]);

// How the place of a value of the file is written before a message: "cairnd: FILE:LINE:COLUMN".
// `begin`: as of cairn_config_texts_find; "cairnd" if it is not of the file.
#define CAIRN_CONFIG_PLACE_SIZE (CAIRN_CONFIG_TEXT_SIZE + 40)
void cairn_config_print_place(
    const cairn_config *config, const char *begin, char out[CAIRN_CONFIG_PLACE_SIZE]);

// Names of settings, separated by spaces.
#define CAIRN_CONFIG_NAMES_SIZE 512

typedef struct cairn_config_changes {
    char changed[CAIRN_CONFIG_NAMES_SIZE];
    char left[CAIRN_CONFIG_NAMES_SIZE]; // that differ, and cannot change while the server runs
} cairn_config_changes;

// Reads --config, which *running has, again, with the same command line and environment, while a
// server runs with *running. What may change is put there, and `changes` names it; keys and rules
// are not read again. False: nothing changed, because of mistakes, of which each was handed to
// `complain`; line 0: it is about no line. The tokens of *running are those of the file and are the
// caller's to wipe.
bool cairn_config_reload(int argc, char *const *argv, const char *(*environment)(const char *name),
    cairn_config *running, cairn_config_complaint *complain, void *user,
    cairn_config_changes *changes);

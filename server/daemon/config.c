// SPDX-License-Identifier: MIT
#include "server/daemon/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "net/crypto.h"
#include "program/config_file.h"
#include "program/flags_schema.h"
#include "program/sockaddr.h"
#include "rules_file/rules_flag.h"
#include "server/daemon/record_file.h"
#include <cairn/server_uv.h>

// A piece of text between separators.
typedef struct piece {
    const char *at;
    size_t size;
} piece;

static piece take_piece(const char **text, const char *ends) {
    const piece out = {.at = *text, .size = strcspn(*text, ends)};
    *text += out.size;
    return out;
}

static bool is_word(piece a, const char *word) {
    return a.size == strlen(word) && memcmp(a.at, word, a.size) == 0;
}

static bool copy_text(piece from, char *out, size_t size) {
    if (from.size == 0 || from.size >= size) {
        return false;
    }
    memcpy(out, from.at, from.size);
    out[from.size] = '\0';
    return true;
}

static bool read_number(piece from, uint32_t least, uint32_t most, uint32_t *out) {
    char text[16], error[CAIRN_FLAGS_ERROR_SIZE];
    uint64_t number = 0;
    const bool good = copy_text(from, text, sizeof text) &&
                      cairn_flags_number("", text, least, most, &number, error);
    *out = (uint32_t)number;
    return good;
}

_Static_assert(CAIRN_TICK_RATE_HZ_MIN == 10 && CAIRN_TICK_RATE_HZ_MAX == 240 &&
                   CAIRN_POSITION_STEPS_PER_M_MAX == 10000 && CAIRN_ROTATION_BITS_MIN == 7 &&
                   CAIRN_ROTATION_BITS_MAX == 15 && CAIRN_SLOTS_MAX == 256 &&
                   CAIRN_BODIES_MAX == 131072 && CAIRN_ROOM_WAIT_MS_MAX == 5000,
    "the messages below contain these numbers");

static const char *set_room_option(piece name, piece value, cairn_config_room *out) {
    const struct {
        const char *name;
        uint32_t least, most;
        uint32_t *out;
        const char *why;
    } numbers[] = {
        {"rate", CAIRN_TICK_RATE_HZ_MIN, CAIRN_TICK_RATE_HZ_MAX, &out->settings.tick_rate_hz,
            "rate must be in [10, 240]"},
        {"snapshots", 1, CAIRN_TICK_RATE_HZ_MAX, &out->settings.snapshot_rate_hz,
            "snapshots must be in [1, 240]"},
        {"position-steps", 1, CAIRN_POSITION_STEPS_PER_M_MAX, &out->settings.position_steps_per_m,
            "position-steps must be in [1, 10000]"},
        {"rotation-bits", CAIRN_ROTATION_BITS_MIN, CAIRN_ROTATION_BITS_MAX,
            &out->settings.rotation_bits, "rotation-bits must be in [7, 15]"},
        {"coded-together", 1, CAIRN_BODIES_MAX, &out->settings.coded_together_max,
            "coded-together must be in [1, 131072]"},
        {"view-distance", 1, CAIRN_VIEW_DISTANCE_MAX, &out->settings.view_distance_m,
            "view-distance must be in [1, 100000]"},
        {"client-bytes", CAIRN_VIEW_BYTES_MIN, UINT32_MAX, &out->settings.client_bytes_per_second,
            "client-bytes must be at least 1000"},
        {"room-bytes", CAIRN_VIEW_BYTES_MIN, UINT32_MAX, &out->settings.room_bytes_per_second,
            "room-bytes must be at least 1000"},
        {"players", 1, CAIRN_SLOTS_MAX, &out->settings.players_max, "players must be in [1, 256]"},
        {"wait", 0, CAIRN_ROOM_WAIT_MS_MAX, &out->settings.wait_ms, "wait must be in [0, 5000]"},
        {"idle", 1, CAIRN_CONFIG_IDLE_S_MAX, &out->settings.idle_s, "idle must be in [1, 86400]"},
        {"cost", 1, CAIRN_CONFIG_COST_US_MAX, &out->settings.cost_us,
            "cost must be in [1, 1000000]"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        if (is_word(name, numbers[i].name)) {
            return read_number(value, numbers[i].least, numbers[i].most, numbers[i].out)
                       ? NULL
                       : numbers[i].why;
        }
    }
    if (!is_word(name, "record")) {
        return "options are rate, snapshots, position-steps, rotation-bits, coded-together, "
               "view-distance, "
               "client-bytes, room-bytes, players, wait, idle, cost and record";
    }
    return copy_text(value, out->record_file, sizeof out->record_file)
               ? NULL
               : "record must name a file, in at most 255 bytes";
}

// Takes one room from *text, which ends at ';' or at its end, and leaves *text after it.
static const char *read_room(const char **text, cairn_config_room *out) {
    *out = (cairn_config_room){0};
    const piece name = take_piece(text, "=;");
    if (**text != '=') {
        return "must be NAME=SCENE and options, such as side=demo,rate=30";
    }
    *text += 1;
    const piece scene = take_piece(text, ",;");
    if (!copy_text(name, out->name, sizeof out->name)) {
        return "a room's name has 1 to 31 bytes";
    }
    if (!copy_text(scene, out->scene, sizeof out->scene)) {
        return "a scene is a built-in name or a file, in at most 255 bytes";
    }
    while (**text == ',') {
        *text += 1;
        const piece option = take_piece(text, "=,;");
        piece value = {.at = *text, .size = 0};
        if (**text == '=') {
            *text += 1;
            value = take_piece(text, ",;");
        }
        const char *why = set_room_option(option, value, out);
        if (why != NULL) {
            return why;
        }
    }
    *text += **text == ';' ? 1 : 0;
    return NULL;
}

static const char *add_to(cairn_config_rooms *rooms, const char *value, bool first) {
    rooms->count = first ? 0 : rooms->count;
    do {
        if (rooms->count == CAIRN_CONFIG_ROOMS_MAX) {
            return "at most 128 rooms can be given";
        }
        const char *why = read_room(&value, &rooms->list[rooms->count]);
        if (why != NULL) {
            return why;
        }
        rooms->count += 1;
    } while (*value != '\0');
    return NULL;
}

static const char *add_rooms(void *out, const char *value, bool first) {
    return add_to(&((cairn_config *)out)->rooms, value, first);
}

static const char *add_templates(void *out, const char *value, bool first) {
    cairn_config_rooms *templates = &((cairn_config *)out)->templates;
    const char *why = add_to(templates, value, first);
    return why != NULL                                     ? why
           : templates->count > CAIRN_CONFIG_TEMPLATES_MAX ? "at most 32 templates can be given"
                                                           : NULL;
}
_Static_assert(CAIRN_CONFIG_TEMPLATES_MAX == 32, "the message above contains this number");

static const char *add_public_address(void *out, const char *value, bool first) {
    cairn_config *config = out;
    cairn_address address;
    config->public.count = first ? 0 : config->public.count;
    if (!cairn_address_parse(value, &address) || address.port == 0) {
        return "must be an address with a port, such as 192.0.2.1:40000";
    }
    if (config->public.count == CAIRN_TOKEN_SERVERS_MAX) {
        return "a connect token names at most 32 addresses";
    }
    config->public.addresses[config->public.count++] = address;
    return NULL;
}

static const char *add_origin(void *out, const char *value, bool first) {
    cairn_config *config = out;
    const char *host = strstr(value, "://");
    config->web.origin_count = first ? 0 : config->web.origin_count;
    if (host == NULL || host == value || host[3] == '\0' || strchr(host + 3, '/') != NULL) {
        return "must be a scheme and a host without a path, such as https://play.example";
    }
    if (config->web.origin_count == CAIRN_WEB_ORIGINS_MAX) {
        return "at most 16 origins can be given";
    }
    config->web.origins[config->web.origin_count++] = value;
    return NULL;
}

static const char *add_control_token(void *out, const char *value, bool first) {
    cairn_config *config = out;
    config->web.control_token_count = first ? 0 : config->web.control_token_count;
    if (config->web.control_token_count == CAIRN_WEB_TOKENS_MAX) {
        return "at most 4 tokens can be given";
    }
    cairn_key *token = &config->web.control_tokens[config->web.control_token_count];
    const char *why = cairn_key_flag_file(token, value, first);
    config->web.control_token_count += why == NULL ? 1 : 0;
    return why;
}
_Static_assert(CAIRN_WEB_TOKENS_MAX == 4, "the message above contains this number");

// Refuses flags that contradict each other.
static bool check_together(const cairn_config *config, char *error) {
    static const uint8_t unspecified[sizeof config->listen.ip];
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    if (config->public.count == 0 && !config->agones &&
        memcmp(config->listen.ip, unspecified, sizeof unspecified) == 0) {
        snprintf(error, CAIRN_FLAGS_ERROR_SIZE,
            "--listen %s: --public must name the address that clients reach",
            cairn_address_print(&config->listen, text));
        return false;
    }
    if (config->dev && !cairn_address_is_loopback(&config->listen)) {
        snprintf(error, CAIRN_FLAGS_ERROR_SIZE,
            "--dev: --listen %s is not loopback, where alone it is allowed",
            cairn_address_print(&config->listen, text));
        return false;
    }
    if (config->dev && config->web.listen.family != CAIRN_ADDRESS_NONE &&
        !cairn_address_is_loopback(&config->web.listen)) {
        snprintf(error, CAIRN_FLAGS_ERROR_SIZE,
            "--dev: --web %s is not loopback, where alone it is allowed",
            cairn_address_print(&config->web.listen, text));
        return false;
    }
    if (!config->key.given && !config->dev && !config->calibrate) {
        snprintf(error, CAIRN_FLAGS_ERROR_SIZE,
            "--key-file: a private key is needed: --key-file, CAIRN_KEY_FILE or CAIRN_KEY; or try "
            "--dev");
        return false;
    }
    if (config->agones && (config->hand_over_path != NULL || config->take_over_path != NULL)) {
        snprintf(error, CAIRN_FLAGS_ERROR_SIZE,
            "--agones: a game server of a fleet is replaced by another one, not by --hand-over or "
            "--take-over");
        return false;
    }
    if (config->take_over_path != NULL && !config->key.given) {
        snprintf(error, CAIRN_FLAGS_ERROR_SIZE,
            "--take-over: the key of the other process is needed: --key-file, CAIRN_KEY_FILE or "
            "CAIRN_KEY");
        return false;
    }
    const bool has_web = config->web.listen.family != CAIRN_ADDRESS_NONE;
    if (config->web.control_token_count > 0 && (!has_web || !config->control)) {
        snprintf(error, CAIRN_FLAGS_ERROR_SIZE,
            "--control-token: operators by HTTP need --web and --control as well");
        return false;
    }
    if (strcmp(config->scene, CAIRN_CONFIG_NO_SCENE) == 0 && config->record_file != NULL) {
        snprintf(error, CAIRN_FLAGS_ERROR_SIZE,
            "--record: there is no room main; --room NAME=SCENE,record=FILE records another");
        return false;
    }
    if (config->all_rooms.tick_rate_hz != 0 &&
        config->all_rooms.snapshot_rate_hz > config->all_rooms.tick_rate_hz) {
        snprintf(error, CAIRN_FLAGS_ERROR_SIZE,
            "--snapshot-rate %" PRIu32 ": must not exceed the tick rate, %" PRIu32,
            config->all_rooms.snapshot_rate_hz, config->all_rooms.tick_rate_hz);
        return false;
    }
    return true;
}

// Where the table puts what it reads.
static cairn_config values;
// Keys and rules are read once: a variable was overwritten, a descriptor is at its end, and the
// code of rules is in use.
static bool reads_again;

static const char *read_key_variable(void *out, const char *value, bool first) {
    return reads_again ? NULL : cairn_key_variable(out, value, first);
}

static const char *read_key_file(void *out, const char *value, bool first) {
    cairn_key *key = out;
    if (!reads_again) {
        return cairn_key_flag_file(out, value, first);
    }
    key->file = value;
    return NULL;
}

static const char *add_rules(void *out, const char *value, bool first) {
    cairn_config *config = out;
    config->rules_count = first ? 0 : config->rules_count;
    if (config->rules_count == CAIRN_CONFIG_RULES_MAX) {
        return "at most 16 files of rules can be given";
    }
    config->rules_files[config->rules_count++] = value;
    return reads_again ? NULL : cairn_rules_flag_read(out, value, first);
}
_Static_assert(CAIRN_CONFIG_RULES_MAX == 16, "the message above contains this number");

static const char *const styles[] = {"text", "json", NULL};
static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
static const char *const syncs[] = {"none", "chunk", "close", NULL}; // cairn_record_sync
static const cairn_flag flags[] = {
    {"--config", "CAIRN_CONFIG", "FILE",
        "settings as a JSON object with the names of these flags; variables and flags go before",
        CAIRN_FLAG_TEXT, .out = &values.config_file},
    {"--listen", "CAIRN_LISTEN", "ADDRESS",
        "bind this address (127.0.0.1:40000); [::] takes IPv4 and IPv6, port 0 any free port",
        CAIRN_FLAG_ADDRESS, .out = &values.listen},
    {"--io-threads", "CAIRN_IO_THREADS", "N",
        "threads that receive and send datagrams, with a socket each; 1: the loop does it (1)",
        CAIRN_FLAG_U32, .out = &values.io_threads, .least = 1, .most = CAIRN_UV_SOCKETS_MAX},
    {"--public", "CAIRN_PUBLIC", "ADDRESS",
        "address that connect tokens name for this server (the bound one); repeatable",
        CAIRN_FLAG_CUSTOM, .out = &values, .read = add_public_address,
        .pattern = "^([0-9.]+|\\[[0-9A-Fa-f:.%]+\\]):[1-9][0-9]{0,4}$"},
    {"--key", "CAIRN_KEY", "HEX", "private key, 64 digits, instead of --key-file; a variable only",
        CAIRN_FLAG_CUSTOM, .out = &values.key, .read = read_key_variable, .secret = true,
        .only_variable = true},
    {"--key-file", "CAIRN_KEY_FILE", "FILE",
        "file of mode 600 with the private key's 64 digits; /dev/fd/3 is a descriptor",
        CAIRN_FLAG_CUSTOM, .out = &values.key, .read = read_key_file, .secret = false},
    {"--protocol-id", "CAIRN_PROTOCOL_ID", "ID",
        "64-bit number that connect tokens must carry (0x636169726e)", CAIRN_FLAG_U64,
        .out = &values.protocol_id},
    {"--scene", "CAIRN_SCENE", "NAME|FILE",
        "scene of the room main, built in or a JSON file (demo); none: no such room",
        CAIRN_FLAG_TEXT, .out = &values.scene},
    {"--room", "CAIRN_ROOM", "NAME=SCENE",
        "one more room, with ,rate= ,snapshots= ,players= ,wait= ,record=; repeatable",
        CAIRN_FLAG_CUSTOM, .out = &values, .read = add_rooms,
        .pattern = "^[^=;]{1,31}=[^,;]{1,255}(,[a-z-]+=[^,;]+)*"},
    {"--template", "CAIRN_TEMPLATE", "NAME=SCENE",
        "rooms NAME-... are made of it when they are named: as --room, and ,idle= s ,cost= us; "
        "repeatable",
        CAIRN_FLAG_CUSTOM, .out = &values, .read = add_templates,
        .pattern = "^[^=;]{1,31}=[^,;]{1,255}(,[a-z-]+=[^,;]+)*"},
    {"--load-max", "CAIRN_LOAD_MAX", "PERCENT",
        "refuse rooms when the ticks of all would take more of one processor than this (no limit)",
        CAIRN_FLAG_U32, .out = &values.load_max_percent, .least = 1, .most = 100000},
    {"--rules", "CAIRN_RULES", "FILE",
        "load the game's rules from a shared object (cairn/rules.h); repeatable", CAIRN_FLAG_CUSTOM,
        .out = &values, .read = add_rules},
    {"--rooms-max", "CAIRN_ROOMS_MAX", "N",
        "rooms that may exist at once (16, or as many as given)", CAIRN_FLAG_U32,
        .out = &values.rooms_max, .least = 1, .most = CAIRN_ROOMS_MAX},
    {"--wait", "CAIRN_WAIT", "MS",
        "how long a tick waits for late inputs from clients that run the simulation (0)",
        CAIRN_FLAG_U32, .out = &values.all_rooms.wait_ms, .most = CAIRN_ROOM_WAIT_MS_MAX},
    {"--tick-rate", "CAIRN_TICK_RATE", "HZ", "ticks per second (the scene's)", CAIRN_FLAG_U32,
        .out = &values.all_rooms.tick_rate_hz, .least = CAIRN_TICK_RATE_HZ_MIN,
        .most = CAIRN_TICK_RATE_HZ_MAX},
    {"--snapshot-rate", "CAIRN_SNAPSHOT_RATE", "HZ", "snapshots per second, at most the tick rate",
        CAIRN_FLAG_U32, .out = &values.all_rooms.snapshot_rate_hz, .least = 1,
        .most = CAIRN_TICK_RATE_HZ_MAX},
    {"--position-steps", "CAIRN_POSITION_STEPS", "N",
        "steps in a metre to which snapshots round positions (the scene's, else 512)",
        CAIRN_FLAG_U32, .out = &values.all_rooms.position_steps_per_m, .least = 1,
        .most = CAIRN_POSITION_STEPS_PER_M_MAX},
    {"--rotation-bits", "CAIRN_ROTATION_BITS", "N",
        "bits of each component to which snapshots round rotations (the scene's, else 9)",
        CAIRN_FLAG_U32, .out = &values.all_rooms.rotation_bits, .least = CAIRN_ROTATION_BITS_MIN,
        .most = CAIRN_ROTATION_BITS_MAX},
    {"--coded-together", "CAIRN_CODED_TOGETHER", "N",
        "snapshots in which more bodies moved are coded faster and get longer (the scene's, else "
        "256)",
        CAIRN_FLAG_U32, .out = &values.all_rooms.coded_together_max, .least = 1,
        .most = CAIRN_BODIES_MAX},
    {"--view-distance", "CAIRN_VIEW_DISTANCE", "M",
        "how far from its own body a client is sent bodies, in metres (no limit)", CAIRN_FLAG_U32,
        .out = &values.all_rooms.view_distance_m, .least = 1, .most = CAIRN_VIEW_DISTANCE_MAX},
    {"--client-bytes", "CAIRN_CLIENT_BYTES", "N",
        "bytes of snapshots that a client is sent in a second, at most (no limit)", CAIRN_FLAG_U32,
        .out = &values.all_rooms.client_bytes_per_second, .least = CAIRN_VIEW_BYTES_MIN,
        .most = UINT32_MAX},
    {"--room-bytes", "CAIRN_ROOM_BYTES", "N",
        "bytes of snapshots that all clients of a room are sent in a second, at most (no limit)",
        CAIRN_FLAG_U32, .out = &values.all_rooms.room_bytes_per_second,
        .least = CAIRN_VIEW_BYTES_MIN, .most = UINT32_MAX},
    {"--clients-max", "CAIRN_CLIENTS_MAX", "N", "connections at once (64)", CAIRN_FLAG_U32,
        .out = &values.clients_max, .least = 1, .most = CAIRN_CLIENTS_MAX},
    {"--players-max", "CAIRN_PLAYERS_MAX", "N",
        "players in a room; others are refused, or watch as spectators (64)", CAIRN_FLAG_U32,
        .out = &values.all_rooms.players_max, .least = 1, .most = CAIRN_SLOTS_MAX},
    {"--input-window", "CAIRN_INPUT_WINDOW", "TICKS",
        "how far ahead of its tick an input may arrive (64)", CAIRN_FLAG_U32,
        .out = &values.all_rooms.input_window_ticks, .least = 1,
        .most = CAIRN_INPUT_WINDOW_TICKS_MAX},
    {"--catch-up", "CAIRN_CATCH_UP", "TICKS", "ticks run at once when late; more are skipped (4)",
        CAIRN_FLAG_U32, .out = &values.all_rooms.catch_up_ticks_max, .least = 1,
        .most = CAIRN_CATCH_UP_TICKS_MAX},
    {"--token-lifetime", "CAIRN_TOKEN_LIFETIME", "S",
        "longest lifetime of tokens; for that long after a start, older ones are refused (30; 0: "
        "unsafe)",
        CAIRN_FLAG_U32, .out = &values.token_lifetime_s_max, .most = 86400},
    {"--token-timeout", "CAIRN_TOKEN_TIMEOUT", "S",
        "longest time-out of connect tokens; those with a longer one or none are refused (60; 0: "
        "none are)",
        CAIRN_FLAG_U32, .out = &values.token_timeout_s_max, .most = 86400},
    {"--record", "CAIRN_RECORD", "FILE",
        "record the room main; if the file exists, to FILE.1, FILE.2 and so on", CAIRN_FLAG_TEXT,
        .out = &values.record_file},
    {"--record-sync", "CAIRN_RECORD_SYNC", "WHEN",
        "force recordings to the disk, against power loss: none, chunk (each second) or close "
        "(close)",
        CAIRN_FLAG_CHOICE, .out = &values.record_sync, .words = syncs},
    {"--record-key", "CAIRN_RECORD_KEY", "FILE",
        "sign recordings with the key in this file (cairn-token signing-key)", CAIRN_FLAG_CUSTOM,
        .out = &values.record_key, .read = read_key_file},
    {"--publish", "CAIRN_PUBLISH", "FOLDER",
        "write each room live to FOLDER/ROOM, as short recordings with an index, for any HTTP "
        "server to carry",
        CAIRN_FLAG_TEXT, .out = &values.publish_folder},
    {"--publish-keep", "CAIRN_PUBLISH_KEEP", "S",
        "delete what was published longer ago (600; 0: never)", CAIRN_FLAG_U32,
        .out = &values.publish_keep_s, .most = 86400},
    {"--capsules", "CAIRN_CAPSULES", "FOLDER",
        "write a file there when a client's world differs; cairn-replay explain names the "
        "cause",
        CAIRN_FLAG_TEXT, .out = &values.capsule_folder},
    {"--control", "CAIRN_CONTROL", NULL,
        "let clients whose connect token has the operator right control rooms", CAIRN_FLAG_SWITCH,
        .out = &values.control},
    {"--control-token", "CAIRN_CONTROL_TOKEN", "FILE",
        "operators by HTTP (--web) carry this token: a file as of --key-file; repeatable",
        CAIRN_FLAG_CUSTOM, .out = &values, .read = add_control_token, .reloads = true},
    {"--log", "CAIRN_LOG", "STYLE", "text or json, on standard output (text)", CAIRN_FLAG_CHOICE,
        .out = &values.log_style, .words = styles},
    {"--log-level", "CAIRN_LOG_LEVEL", "LEVEL", "error, warn, info or debug (info)",
        CAIRN_FLAG_CHOICE, .out = &values.log_level, .words = levels, .reloads = true},
    {"--web", "CAIRN_WEB", "ADDRESS",
        "serve HTTP there: the page, WebSockets of players, /metrics and others (off)",
        CAIRN_FLAG_ADDRESS, .out = &values.web.listen},
    {"--web-root", "CAIRN_WEB_ROOT", "FOLDER", "files of the page (the installed ones)",
        CAIRN_FLAG_TEXT, .out = &values.web.root},
    {"--web-origin", "CAIRN_WEB_ORIGIN", "ORIGIN",
        "pages from there may open WebSockets, too, such as https://play.example; repeatable",
        CAIRN_FLAG_CUSTOM, .out = &values, .read = add_origin, .reloads = true,
        .pattern = "^[^/]+://[^/]+$"},
    {"--web-per-address", "CAIRN_WEB_PER_ADDRESS", "N",
        "WebSockets of one address (64); all of them together at most --clients-max",
        CAIRN_FLAG_U32, .out = &values.web.per_network_max, .least = 1, .most = CAIRN_CLIENTS_MAX,
        .reloads = true},
    {"--hand-over", "CAIRN_HAND_OVER", "SOCKET",
        "a cairnd of the same user that is started with --take-over SOCKET may take the place of "
        "this one (off)",
        CAIRN_FLAG_TEXT, .out = &values.hand_over_path},
    {"--take-over", NULL, "SOCKET",
        "take the rooms, clients and UDP sockets of the cairnd that listens there, while they play",
        CAIRN_FLAG_TEXT, .out = &values.take_over_path},
    {"--agones", "CAIRN_AGONES", NULL,
        "be a game server of an Agones fleet: speak to the SDK server at AGONES_SDK_HTTP_PORT "
        "(9358)",
        CAIRN_FLAG_SWITCH, .out = &values.agones},
    {"--agones-reserve", "CAIRN_AGONES_RESERVE", "S",
        "stay reserved so long after the last client left (0: ready for others at once)",
        CAIRN_FLAG_U32, .out = &values.agones_reserve_s, .most = 86400},
    {"--stats-interval", "CAIRN_STATS_INTERVAL", "S",
        "seconds between statistics lines (10; 0: none)", CAIRN_FLAG_U32,
        .out = &values.stats_interval_s, .most = 86400, .reloads = true},
    {"--seconds", "CAIRN_SECONDS", "S", "disconnect the clients and end after this time (0: never)",
        CAIRN_FLAG_U32, .out = &values.seconds, .most = 31536000},
    {"--drain-seconds", "CAIRN_DRAIN_SECONDS", "S",
        "after a signal admit nobody, tell the clients, and end when the last one left or then "
        "(0: at once)",
        CAIRN_FLAG_U32, .out = &values.drain_s, .most = 86400, .reloads = true},
    {"--core-dumps", "CAIRN_CORE_DUMPS", NULL,
        "for developers: allow core files and debuggers, which can read the keys",
        CAIRN_FLAG_SWITCH, .out = &values.core_dumps},
    {"--dev", NULL, NULL,
        "insecure, on loopback alone: make a key file and print a command line for a client",
        CAIRN_FLAG_SWITCH, .out = &values.dev},
    {"--calibrate", NULL, NULL,
        "measure the scenes with all their players, print how many rooms of each a processor "
        "steps, and end",
        CAIRN_FLAG_SWITCH, .out = &values.calibrate},
    {"--json", NULL, NULL, "print a line of JSON for each scene that --calibrate measures",
        CAIRN_FLAG_SWITCH, .out = &values.json},
    {"--check", NULL, NULL, "check the configuration and the scenes, print what would run, and end",
        CAIRN_FLAG_SWITCH, .out = &values.check},
};

static void set_defaults(cairn_config *out) {
    *out = (cairn_config){
        .protocol_id = CAIRN_PROTOCOL_ID_DEFAULT,
        .scene = CAIRN_SCENE_DEFAULT,
        .io_threads = 1,
        .clients_max = 64,
        .all_rooms = cairn_server_room_config_default(),
        .token_lifetime_s_max = 30,
        .token_timeout_s_max = 60,
        .log_level = CAIRN_LOG_INFO,
        .stats_interval_s = 10,
        .web = {.per_network_max = 64},
        .record_sync = CAIRN_RECORD_SYNC_CLOSE,
        .publish_keep_s = 600,
    };
    const bool parsed = cairn_address_parse("127.0.0.1:40000", &out->listen);
    CAIRN_ASSERT(parsed);
}

// Before all others: they go before what the file says.
static const char *find_config_file(
    int argc, char *const *argv, const char *(*environment)(const char *name)) {
    static const char name[] = "--config";
    const char *found = environment != NULL ? environment("CAIRN_CONFIG") : getenv("CAIRN_CONFIG");
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], name) == 0 && i + 1 < argc) {
            found = argv[i + 1];
        } else if (strncmp(argv[i], name, sizeof name - 1) == 0 &&
                   argv[i][sizeof name - 1] == '=') {
            found = argv[i] + sizeof name;
        }
    }
    return found;
}

static void print_mistake(void *user, uint32_t line, uint32_t column, const char *sentence) {
    const char *path = user;
    if (line == 0) {
        fprintf(stderr, "cairnd: %s: %s\n", path, sentence);
    } else {
        fprintf(stderr, "cairnd: %s:%" PRIu32 ":%" PRIu32 ": %s\n", path, line, column, sentence);
    }
}

static cairn_flags_program describe_program(const char *(*environment)(const char *name)) {
    return (cairn_flags_program){
        .name = "cairnd",
        .usage = "[FLAGS]",
        .about = "Serves rooms, each a deterministic physics world, over encrypted UDP.\n"
                 "Each flag can also be set by the environment variable in brackets.",
        .notes = "Exits with\n"
                 "  0  after a signal or --seconds\n"
                 "  1  the server could not start, or a room's step never returned\n"
                 "  3  as 0, but a recording could not be written completely; the log says why",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags,
        .environment = environment,
        .print_schema = cairn_flags_schema_print,
    };
}

static void wipe_values(void) {
    cairn_wipe(&values.key, sizeof values.key);
    cairn_wipe(&values.record_key, sizeof values.record_key);
    cairn_wipe(values.web.control_tokens, sizeof values.web.control_tokens);
}

// Of the file with which the process starts.
static cairn_config_texts first_texts;

void cairn_config_print_place(
    const cairn_config *config, const char *begin, char out[CAIRN_CONFIG_PLACE_SIZE]) {
    const cairn_config_place *place =
        config->config_file == NULL ? NULL : cairn_config_texts_find(&first_texts, begin);
    if (place == NULL) {
        snprintf(out, CAIRN_CONFIG_PLACE_SIZE, "cairnd");
        return;
    }
    snprintf(out, CAIRN_CONFIG_PLACE_SIZE, "cairnd: %s:%" PRIu32 ":%" PRIu32, config->config_file,
        place->line, place->column);
}

cairn_flags_result cairn_config_read(int argc, char *const *argv,
    const char *(*environment)(const char *name), cairn_config *out,
    char error[CAIRN_FLAGS_ERROR_SIZE]) {
    cairn_flags_program program = describe_program(environment);
    reads_again = false;
    set_defaults(&values);
    CAIRN_ASSERT(error != NULL);
    char path[CAIRN_CONFIG_TEXT_SIZE];
    const char *file = find_config_file(argc, argv, environment);
    snprintf(path, sizeof path, "%s", file == NULL ? "" : file);
    const uint32_t mistakes =
        file == NULL ? 0
                     : cairn_config_file_read(&program, path, &first_texts, print_mistake, path);
    if (mistakes > 0) {
        // For --check, which goes on with what can be read.
        (void)cairn_flags_read(&program, argc, argv, error);
        values.mistakes = mistakes;
        snprintf(
            error, CAIRN_FLAGS_ERROR_SIZE, "--config %.100s: mistakes: %" PRIu32, path, mistakes);
    }
    const cairn_flags_result result =
        mistakes > 0 ? CAIRN_FLAGS_REFUSED : cairn_flags_read(&program, argc, argv, error);
    *out = values;
    wipe_values();
    return result == CAIRN_FLAGS_READ && !check_together(out, error) ? CAIRN_FLAGS_REFUSED : result;
}

static bool same_texts(const char *const *a, const char *const *b, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const bool same = a[i] == NULL || b[i] == NULL ? a[i] == b[i] : strcmp(a[i], b[i]) == 0;
        if (!same) {
            return false;
        }
    }
    return true;
}

static bool same_rooms(const cairn_config_rooms *a, const cairn_config_rooms *b) {
    return a->count == b->count && memcmp(a->list, b->list, a->count * sizeof *a->list) == 0;
}

static bool same_list(const cairn_flag *flag, const cairn_config *a, const cairn_config *b) {
    if (flag->read == add_public_address) {
        return memcmp(&a->public, &b->public, sizeof a->public) == 0;
    }
    if (flag->read == add_rooms) {
        return same_rooms(&a->rooms, &b->rooms);
    }
    if (flag->read == add_templates) {
        return same_rooms(&a->templates, &b->templates);
    }
    if (flag->read == add_rules) {
        return a->rules_count == b->rules_count &&
               same_texts(a->rules_files, b->rules_files, a->rules_count);
    }
    if (flag->read == add_origin) {
        return a->web.origin_count == b->web.origin_count &&
               same_texts(a->web.origins, b->web.origins, a->web.origin_count);
    }
    return false; // tokens: what ran with the old ones was wiped
}

// Whether a flag's value is the same in both.
static bool is_same(const cairn_flag *flag, const cairn_config *a, const cairn_config *b) {
    const size_t at = (size_t)((const char *)flag->out - (const char *)&values);
    const void *in_a = (const char *)a + at;
    const void *in_b = (const char *)b + at;
    switch (flag->kind) {
    case CAIRN_FLAG_SWITCH:
        return *(const bool *)in_a == *(const bool *)in_b;
    case CAIRN_FLAG_U32:
    case CAIRN_FLAG_CHOICE:
        return *(const uint32_t *)in_a == *(const uint32_t *)in_b;
    case CAIRN_FLAG_U64:
        return *(const uint64_t *)in_a == *(const uint64_t *)in_b;
    case CAIRN_FLAG_TEXT:
        return same_texts(in_a, in_b, 1);
    case CAIRN_FLAG_ADDRESS:
        return cairn_address_equal(in_a, in_b);
    case CAIRN_FLAG_CUSTOM:
        break;
    }
    if (flag->read == read_key_file) {
        return same_texts(&((const cairn_key *)in_a)->file, &((const cairn_key *)in_b)->file, 1);
    }
    return flag->read == read_key_variable || same_list(flag, a, b);
}

static void add_name(char names[CAIRN_CONFIG_NAMES_SIZE], const char *flag) {
    const size_t size = strlen(names);
    snprintf(names + size, CAIRN_CONFIG_NAMES_SIZE - size, "%s%s", size == 0 ? "" : " ", flag + 2);
}

static void take_changes(cairn_config *running, cairn_config_changes *changes) {
    *changes = (cairn_config_changes){.changed = "", .left = ""};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i) {
        const bool no_token =
            flags[i].read == add_control_token &&
            running->web.control_token_count + values.web.control_token_count == 0;
        if (!no_token && !is_same(&flags[i], running, &values)) {
            add_name(flags[i].reloads ? changes->changed : changes->left, flags[i].name);
        }
    }
    running->log_level = values.log_level;
    running->stats_interval_s = values.stats_interval_s;
    running->drain_s = values.drain_s;
    running->web.per_network_max = values.web.per_network_max;
    running->web.origin_count = values.web.origin_count;
    memcpy(running->web.origins, values.web.origins, sizeof values.web.origins);
    running->web.control_token_count = values.web.control_token_count;
    memcpy(
        running->web.control_tokens, values.web.control_tokens, sizeof values.web.control_tokens);
}

bool cairn_config_reload(int argc, char *const *argv, const char *(*environment)(const char *name),
    cairn_config *running, cairn_config_complaint *complain, void *user,
    cairn_config_changes *changes) {
    // The texts of the first file, and those of the last reload, are in use.
    static cairn_config_texts texts[2];
    static uint32_t next;
    char error[CAIRN_FLAGS_ERROR_SIZE] = "";
    cairn_flags_program program = describe_program(environment);
    reads_again = true;
    set_defaults(&values);
    const uint32_t mistakes =
        cairn_config_file_read(&program, running->config_file, &texts[next], complain, user);
    values.key.given = running->key.given;
    const bool good = mistakes == 0 &&
                      cairn_flags_read(&program, argc, argv, error) == CAIRN_FLAGS_READ &&
                      check_together(&values, error);
    if (error[0] != '\0') {
        complain(user, 0, 0, error);
    }
    if (good) {
        take_changes(running, changes);
        next = 1 - next;
    }
    wipe_values();
    return good;
}

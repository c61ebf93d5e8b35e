// SPDX-License-Identifier: MIT
#include "server/daemon/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "server/room/inbox.h"
#include <cairn/server.h>

typedef enum flag_kind {
    FLAG_NUMBER, // a uint32_t in [least, most]
    FLAG_ID,     // a uint64_t, decimal or 0x
    FLAG_TEXT,   // a const char *, not empty
    FLAG_CHOICE, // a uint32_t, the index of a word in `words`
    FLAG_LISTEN, // the address to bind
    FLAG_PUBLIC, // one more public address
    FLAG_ROOM,   // one more room
    FLAG_KEY,    // 64 hexadecimal digits; key and key file replace each other
    FLAG_KEY_FILE,
    FLAG_SWITCH, // a bool; no value as a flag, 0 or 1 as a variable
    FLAG_ACTION, // no value; `least` is the action
} flag_kind;

typedef struct flag {
    const char *name;
    const char *variable; // NULL: flag only
    const char *meta;
    const char *help;
    flag_kind kind;
    uint32_t least;
    uint32_t most;
    const char *const *words; // of a choice, ends with NULL
    size_t offset;            // into cairn_config
} flag;

static const char *const style_words[] = {"text", "json", NULL};
static const char *const level_words[] = {"error", "warn", "info", "debug", NULL};

#define NUMBER(low, high, field)                                                                   \
    .kind = FLAG_NUMBER, .least = (low), .most = (high), .offset = offsetof(cairn_config, field)
#define CHOICE(list, field)                                                                        \
    .kind = FLAG_CHOICE, .words = (list), .offset = offsetof(cairn_config, field)

static const flag flags[] = {
    {"--listen", "CAIRN_LISTEN", "ADDRESS", "bind here (127.0.0.1:40000); port 0 takes any",
        .kind = FLAG_LISTEN},
    {"--public", "CAIRN_PUBLIC", "ADDRESS", "what tokens name us by (the bound one); repeatable",
        .kind = FLAG_PUBLIC},
    {"--key", "CAIRN_KEY", "HEX", "private key, 64 digits; others may see flags: prefer a file",
        .kind = FLAG_KEY},
    {"--key-file", "CAIRN_KEY_FILE", "FILE", "file that holds the private key's 64 digits",
        .kind = FLAG_KEY_FILE},
    {"--protocol-id", "CAIRN_PROTOCOL_ID", "ID", "64-bit number that tokens must carry",
        .kind = FLAG_ID, .offset = offsetof(cairn_config, protocol_id)},
    {"--scene", "CAIRN_SCENE", "NAME|FILE",
        "world of the room main, built in or a JSON file (demo); none: no such room",
        .kind = FLAG_TEXT, .offset = offsetof(cairn_config, scene)},
    {"--room", "CAIRN_ROOM", "NAME=SCENE",
        "one more room, with ,rate= ,snapshots= ,players= ,wait= ,record=; repeatable",
        .kind = FLAG_ROOM},
    {"--rooms-max", "CAIRN_ROOMS_MAX", "N", "rooms there may be at once (16, or as many as named)",
        NUMBER(1, CAIRN_ROOMS_MAX, rooms_max)},
    {"--wait", "CAIRN_WAIT", "MS", "how long a tick waits for late inputs of who simulates (0)",
        NUMBER(0, CAIRN_ROOM_WAIT_MS_MAX, wait_ms)},
    {"--tick-rate", "CAIRN_TICK_RATE", "HZ", "ticks per second (the scene's)",
        NUMBER(CAIRN_TICK_RATE_HZ_MIN, CAIRN_TICK_RATE_HZ_MAX, tick_rate_hz)},
    {"--snapshot-rate", "CAIRN_SNAPSHOT_RATE", "HZ", "snapshots per second, at most the tick rate",
        NUMBER(1, CAIRN_TICK_RATE_HZ_MAX, snapshot_rate_hz)},
    {"--clients-max", "CAIRN_CLIENTS_MAX", "N", "connections admitted (64)",
        NUMBER(1, CAIRN_CLIENTS_MAX, clients_max)},
    {"--players-max", "CAIRN_PLAYERS_MAX", "N", "of them players; others can only watch",
        NUMBER(1, CAIRN_SLOTS_MAX, players_max)},
    {"--input-window", "CAIRN_INPUT_WINDOW", "TICKS", "how far ahead inputs may come (64)",
        NUMBER(1, CAIRN_INPUT_WINDOW_TICKS_MAX, input_window_ticks)},
    {"--catch-up", "CAIRN_CATCH_UP", "TICKS", "ticks run at once when late (4); more are skipped",
        NUMBER(1, 64, catch_up_ticks_max)},
    {"--token-lifetime", "CAIRN_TOKEN_LIFETIME", "S",
        "no token lives longer; those an earlier run may have seen are refused (30)",
        NUMBER(0, 86400, token_lifetime_s_max)},
    {"--record", "CAIRN_RECORD", "FILE", "write a recording; an older file is replaced",
        .kind = FLAG_TEXT, .offset = offsetof(cairn_config, record_file)},
    {"--record-key", "CAIRN_RECORD_KEY", "FILE",
        "sign the recording with this key (cairn-token signing-key)", .kind = FLAG_TEXT,
        .offset = offsetof(cairn_config, record_key)},
    {"--capsules", "CAIRN_CAPSULES", "FOLDER",
        "write a file there when a client's world differs: cairn-replay explain says why",
        .kind = FLAG_TEXT, .offset = offsetof(cairn_config, capsule_folder)},
    {"--control", "CAIRN_CONTROL", NULL, "let operators steer rooms: who has the right in a token",
        .kind = FLAG_SWITCH, .offset = offsetof(cairn_config, control)},
    {"--log", "CAIRN_LOG", "STYLE", "text or json, on standard output",
        CHOICE(style_words, log_style)},
    {"--log-level", "CAIRN_LOG_LEVEL", "LEVEL", "error, warn, info or debug (info)",
        CHOICE(level_words, log_level)},
    {"--stats-interval", "CAIRN_STATS_INTERVAL", "S",
        "seconds between statistics lines (10; 0: none)", NUMBER(0, 86400, stats_interval_s)},
    {"--seconds", "CAIRN_SECONDS", "S", "drain and end after this time (0: never)",
        NUMBER(0, 31536000, seconds)},
    {"--check", NULL, NULL, "check configuration and scene, say what would run, end",
        .kind = FLAG_ACTION, .least = CAIRN_CONFIG_CHECK},
    {"--help", NULL, NULL, "this text", .kind = FLAG_ACTION, .least = CAIRN_CONFIG_HELP},
    {"--version", NULL, NULL, "versions of program, protocol and simulation", .kind = FLAG_ACTION,
        .least = CAIRN_CONFIG_VERSION},
};
#define FLAG_COUNT (sizeof flags / sizeof *flags)

// Where a value came from, for the sentence that refuses it.
typedef struct origin {
    const char *name;
    const char *between; // " " behind a flag, "=" behind a variable
    char *error;
} origin;

static bool refuse(const origin *from, const char *value, const char *why) {
    snprintf(from->error, CAIRN_CONFIG_ERROR_SIZE, "%s%s%.100s: %s", from->name, from->between,
        value, why);
    return false;
}

static int digit_of(char c, int base) {
    int value = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : 16;
    return value < base ? value : -1;
}

// Digits alone, no sign, no space: strtoull would take "-1" and " 7".
static bool parse_u64(const char *text, uint64_t *out) {
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *at = hex ? text + 2 : text;
    uint64_t base = hex ? 16 : 10;
    uint64_t value = 0;
    if (*at == '\0') {
        return false;
    }
    for (; *at != '\0'; ++at) {
        int digit = digit_of(*at, (int)base);
        if (digit < 0 || value > (UINT64_MAX - (uint64_t)digit) / base) {
            return false;
        }
        value = value * base + (uint64_t)digit;
    }
    *out = value;
    return true;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool cairn_config_key_read(const char *text, size_t size, uint8_t key[CAIRN_KEY_SIZE]) {
    while (size > 0 && is_space(text[0])) {
        text += 1;
        size -= 1;
    }
    while (size > 0 && is_space(text[size - 1])) {
        size -= 1;
    }
    if (size != 2 * CAIRN_KEY_SIZE) {
        return false;
    }
    for (size_t i = 0; i < CAIRN_KEY_SIZE; ++i) {
        int high = digit_of(text[2 * i], 16);
        int low = digit_of(text[2 * i + 1], 16);
        if (high < 0 || low < 0) {
            return false;
        }
        key[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

static bool set_number(const flag *to, const origin *from, const char *value, uint32_t *out) {
    uint64_t number = 0;
    if (!parse_u64(value, &number) || number < to->least || number > to->most) {
        char why[64];
        snprintf(why, sizeof why, "must be in [%" PRIu32 ", %" PRIu32 "]", to->least, to->most);
        return refuse(from, value, why);
    }
    *out = (uint32_t)number;
    return true;
}

static bool set_choice(const flag *to, const origin *from, const char *value, uint32_t *out) {
    char why[64] = "must be one of";
    for (uint32_t i = 0; to->words[i] != NULL; ++i) {
        if (strcmp(value, to->words[i]) == 0) {
            *out = i;
            return true;
        }
        size_t used = strlen(why);
        snprintf(why + used, sizeof why - used, "%s %s", i == 0 ? "" : ",", to->words[i]);
    }
    return refuse(from, value, why);
}

static bool set_listen(const origin *from, const char *value, cairn_config *out) {
    cairn_address address;
    if (!cairn_address_parse(value, &address)) {
        return refuse(from, value, "must be an address such as 127.0.0.1:40000 or [::1]:40000");
    }
    out->listen = address;
    return true;
}

static bool set_public(const origin *from, const char *value, cairn_config *out) {
    cairn_address address;
    if (!cairn_address_parse(value, &address) || address.port == 0) {
        return refuse(from, value, "must be an address with a port, such as 192.0.2.1:40000");
    }
    if (out->public_address_count == CAIRN_TOKEN_SERVERS_MAX) {
        return refuse(from, value, "a token names at most 32 addresses");
    }
    out->public_addresses[out->public_address_count++] = address;
    return true;
}

static bool set_rooms(const origin *from, const char *value, cairn_config *out) {
    const char *at = value;
    do {
        if (out->room_count == CAIRN_CONFIG_ROOMS_MAX) {
            return refuse(from, value, "flags name at most 128 rooms");
        }
        const char *refused = cairn_config_room_read(&at, &out->rooms[out->room_count]);
        if (refused != NULL) {
            return refuse(from, value, refused);
        }
        out->room_count += 1;
    } while (*at != '\0');
    return true;
}

static bool set_key(const origin *from, const char *value, cairn_config *out) {
    if (!cairn_config_key_read(value, strlen(value), out->key)) {
        // The value may be a key with one wrong digit: it must not end up in a log.
        return refuse(from, "...", "must be 64 hexadecimal digits");
    }
    out->has_key = true;
    out->key_file = NULL;
    return true;
}

static bool set_switch(const origin *from, const char *value, bool *out) {
    *out = value == NULL || strcmp(value, "1") == 0;
    return *out || strcmp(value, "0") == 0 || refuse(from, value, "must be 0 or 1");
}

static bool takes_value(const flag *to) {
    return to->kind != FLAG_ACTION && to->kind != FLAG_SWITCH;
}

static bool set_flag(const flag *to, const origin *from, const char *value, cairn_config *out) {
    void *field = (char *)out + to->offset;
    switch (to->kind) {
    case FLAG_NUMBER:
        return set_number(to, from, value, field);
    case FLAG_CHOICE:
        return set_choice(to, from, value, field);
    case FLAG_ID:
        return parse_u64(value, field) || refuse(from, value, "must be a number below 2^64");
    case FLAG_TEXT:
        *(const char **)field = value;
        return value[0] != '\0' || refuse(from, value, "must not be empty");
    case FLAG_KEY_FILE:
        out->key_file = value;
        out->has_key = false;
        return value[0] != '\0' || refuse(from, value, "must not be empty");
    case FLAG_LISTEN:
        return set_listen(from, value, out);
    case FLAG_PUBLIC:
        return set_public(from, value, out);
    case FLAG_ROOM:
        return set_rooms(from, value, out);
    case FLAG_KEY:
        return set_key(from, value, out);
    case FLAG_SWITCH:
        return set_switch(from, value, field);
    case FLAG_ACTION:
        break;
    }
    out->action = to->least;
    return true;
}

// Whether argv names this flag: alone, or with "=" and its value behind.
static bool names_flag(const char *argument, const flag *to, const char **value) {
    size_t size = strlen(to->name);
    if (strncmp(argument, to->name, size) != 0 ||
        (argument[size] != '\0' && argument[size] != '=')) {
        return false;
    }
    *value = argument[size] == '=' ? argument + size + 1 : NULL;
    return true;
}

static const flag *find_flag(const char *argument, const char **value) {
    for (size_t i = 0; i < FLAG_COUNT; ++i) {
        if (names_flag(argument, &flags[i], value)) {
            return &flags[i];
        }
    }
    return NULL;
}

static bool read_flags(int argc, const char *const *argv, cairn_config *out, char *error) {
    // Public addresses and rooms given by flags replace those of the environment.
    bool public_given = false;
    bool room_given = false;
    for (int i = 1; i < argc; ++i) {
        const char *value = NULL;
        const flag *to = find_flag(argv[i], &value);
        if (to == NULL) {
            const origin nobody = {.name = "", .between = "", .error = error};
            return refuse(&nobody, argv[i], "unknown flag; --help lists all");
        }
        const origin from = {.name = to->name, .between = " ", .error = error};
        if (!takes_value(to) && value != NULL) {
            return refuse(&from, value, "takes no value");
        }
        if (takes_value(to) && value == NULL && ++i < argc) {
            value = argv[i];
        }
        if (takes_value(to) && value == NULL) {
            return refuse(&from, to->meta, "the value is missing");
        }
        if (to->kind == FLAG_PUBLIC && !public_given) {
            public_given = true;
            out->public_address_count = 0;
        }
        if (to->kind == FLAG_ROOM && !room_given) {
            room_given = true;
            out->room_count = 0;
        }
        if (!set_flag(to, &from, value, out)) {
            return false;
        }
        if (out->action == CAIRN_CONFIG_HELP || out->action == CAIRN_CONFIG_VERSION) {
            return true;
        }
    }
    return true;
}

static bool read_environment(
    cairn_config_lookup environment, void *user, cairn_config *out, char *error) {
    for (size_t i = 0; i < FLAG_COUNT; ++i) {
        const char *value = flags[i].variable == NULL ? NULL : environment(user, flags[i].variable);
        const origin from = {.name = flags[i].variable, .between = "=", .error = error};
        if (value != NULL && !set_flag(&flags[i], &from, value, out)) {
            return false;
        }
    }
    return true;
}

static bool is_unspecified(const cairn_address *address) {
    static const uint8_t zeros[sizeof address->ip];
    return memcmp(address->ip, zeros, sizeof zeros) == 0;
}

// What no flag alone can be wrong about.
static bool check_together(const cairn_config *config, char *error) {
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    const origin listen = {.name = "--listen", .between = " ", .error = error};
    const origin key = {.name = "--key", .between = "", .error = error};
    if (is_unspecified(&config->listen) && config->public_address_count == 0) {
        return refuse(&listen, cairn_address_print(&config->listen, text),
            "--public must say which address clients reach");
    }
    if (!config->has_key && config->key_file == NULL) {
        return refuse(&key, "", "a private key is needed: --key-file, --key or CAIRN_KEY");
    }
    if (strcmp(config->scene, CAIRN_CONFIG_NO_SCENE) == 0 && config->record_file != NULL) {
        snprintf(error, CAIRN_CONFIG_ERROR_SIZE,
            "--record: there is no room main; --room NAME=SCENE,record=FILE records another");
        return false;
    }
    if (config->tick_rate_hz != 0 && config->snapshot_rate_hz > config->tick_rate_hz) {
        snprintf(error, CAIRN_CONFIG_ERROR_SIZE,
            "--snapshot-rate %" PRIu32 ": must not exceed the tick rate, %" PRIu32,
            config->snapshot_rate_hz, config->tick_rate_hz);
        return false;
    }
    return true;
}

bool cairn_config_read(int argc, const char *const *argv, cairn_config_lookup environment,
    void *user, cairn_config *out, char error[CAIRN_CONFIG_ERROR_SIZE]) {
    *out = (cairn_config){
        .protocol_id = CAIRN_PROTOCOL_ID_DEFAULT,
        .scene = CAIRN_SCENE_DEFAULT,
        .clients_max = 64,
        .input_window_ticks = 64,
        .catch_up_ticks_max = 4,
        .token_lifetime_s_max = 30,
        .log_level = CAIRN_LOG_INFO,
        .stats_interval_s = 10,
    };
    error[0] = '\0';
    bool parsed = cairn_address_parse("127.0.0.1:40000", &out->listen);
    CAIRN_ASSERT(parsed);
    // Flags once before the environment, so that --help works beside a broken variable.
    cairn_config flags_alone = *out;
    if (!read_flags(argc, argv, &flags_alone, error)) {
        return false;
    }
    if (flags_alone.action == CAIRN_CONFIG_HELP || flags_alone.action == CAIRN_CONFIG_VERSION) {
        *out = flags_alone;
        return true;
    }
    return read_environment(environment, user, out, error) && read_flags(argc, argv, out, error) &&
           check_together(out, error);
}

size_t cairn_config_help(char *out, size_t size) {
    int total = snprintf(out, size,
        "usage: cairnd [flags]\n\nServes one deterministic physics world over sealed UDP.\n"
        "Every flag can also be set by the variable named behind it.\n\n");
    for (size_t i = 0; i < FLAG_COUNT; ++i) {
        const flag *f = &flags[i];
        char left[40];
        snprintf(left, sizeof left, "%s %s", f->name, f->meta == NULL ? "" : f->meta);
        size_t used = (size_t)total < size ? (size_t)total : size;
        total += snprintf(out == NULL ? NULL : out + used, size - used, "  %-26s %s%s%s%s\n", left,
            f->help, f->variable == NULL ? "" : " [", f->variable == NULL ? "" : f->variable,
            f->variable == NULL ? "" : "]");
    }
    return (size_t)total;
}

// SPDX-License-Identifier: MIT
// Every flag and variable of cairnd: what it accepts, and the sentence that refuses the rest.
#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/daemon/config.h"
#include <cairn/server.h>

#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1F"

#define OTHER_KEY "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1F"

static void write_key(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

typedef struct variable {
    const char *name;
    const char *value;
} variable;

static const variable *environment; // of this test; NULL: empty
static cairn_config config;         // what was read last
static char error[CAIRN_FLAGS_ERROR_SIZE];

static const char *look_up(const char *name) {
    for (const variable *at = environment; at != NULL && at->name != NULL; ++at) {
        if (strcmp(at->name, name) == 0) {
            // A key is overwritten.
            static char copy[128];
            snprintf(copy, sizeof copy, "%s", at->value);
            return strcmp(name, "CAIRN_KEY") == 0 ? copy : at->value;
        }
    }
    return NULL;
}

// Reads these arguments, which end with NULL.
static bool read_all(const char *const *arguments) {
    int argc = 0;
    while (arguments[argc] != NULL) {
        ++argc;
    }
    const cairn_flags_result result =
        cairn_config_read(argc, (char *const *)arguments, look_up, &config, error);
    assert_int_not_equal(result, CAIRN_FLAGS_ANSWERED);
    return result == CAIRN_FLAGS_READ;
}

// Reads up to two arguments beside the key.
static bool read_with(const char *flag, const char *value) {
    write_key("config_test_with.key", KEY);
    const char *const arguments[] = {
        "cairnd", "--key-file", "config_test_with.key", flag, value, NULL};
    return read_all(arguments);
}

TEST("an option that is not given has its default") {
    assert_true(read_with(NULL, NULL));
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    assert_string_equal(cairn_address_print(&config.listen, text), "127.0.0.1:40000");
    assert_false(config.check);
    assert_int_equal(config.public.count, 0);
    assert_true(config.protocol_id == CAIRN_PROTOCOL_ID_DEFAULT);
    assert_string_equal(config.scene, CAIRN_SCENE_DEFAULT);
    assert_int_equal(config.all_rooms.tick_rate_hz, 0);
    assert_int_equal(config.clients_max, 64);
    assert_int_equal(config.all_rooms.input_window_ticks, 64);
    assert_int_equal(config.all_rooms.catch_up_ticks_max, 4);
    assert_int_equal(config.token_lifetime_s_max, 30);
    assert_int_equal(config.token_timeout_s_max, 60);
    assert_null(config.record_file);
    assert_false(config.record_key.given);
    assert_int_equal(config.log_style, CAIRN_LOG_TEXT);
    assert_int_equal(config.log_level, CAIRN_LOG_INFO);
    assert_int_equal(config.stats_interval_s, 10);
    assert_int_equal(config.seconds, 0);
    for (int i = 0; i < 32; ++i) {
        assert_int_equal(config.key.bytes[i], i);
    }
}

#define FIELD(name) offsetof(cairn_config, name)

TEST("each number accepts the ends of its range and nothing beyond") {
    static const struct {
        const char *flag;
        size_t field;
        const char *least, *most, *below, *above;
    } rows[] = {{"--tick-rate", FIELD(all_rooms.tick_rate_hz), "10", "240", "9", "241"},
        {"--snapshot-rate", FIELD(all_rooms.snapshot_rate_hz), "1", "240", "0", "241"},
        {"--clients-max", FIELD(clients_max), "1", "1024", "0", "1025"},
        {"--players-max", FIELD(all_rooms.players_max), "1", "256", "0", "257"},
        {"--input-window", FIELD(all_rooms.input_window_ticks), "1", "240", "0", "241"},
        {"--catch-up", FIELD(all_rooms.catch_up_ticks_max), "1", "64", "0", "65"},
        {"--rooms-max", FIELD(rooms_max), "1", "1024", "0", "1025"},
        {"--wait", FIELD(all_rooms.wait_ms), "0", "5000", "-1", "5001"},
        {"--token-lifetime", FIELD(token_lifetime_s_max), "0", "86400", "-1", "86401"},
        {"--token-timeout", FIELD(token_timeout_s_max), "0", "86400", "-1", "86401"},
        {"--stats-interval", FIELD(stats_interval_s), "0", "86400", "-1", "86401"},
        {"--seconds", FIELD(seconds), "0", "31536000", "-1", "31536001"}};
    static const char *const nonsense[] = {"", " 60", "60 ", "+60", "6e1", "60.0", "0x", "sixty",
        "18446744073709551616", "99999999999999999999999999"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const uint32_t *field = (const uint32_t *)(const void *)((char *)&config + rows[i].field);
        assert_true(read_with(rows[i].flag, rows[i].least));
        assert_int_equal(*field, strtoul(rows[i].least, NULL, 10));
        assert_true(read_with(rows[i].flag, rows[i].most));
        assert_int_equal(*field, strtoul(rows[i].most, NULL, 10));
        assert_false(read_with(rows[i].flag, rows[i].below));
        assert_false(read_with(rows[i].flag, rows[i].above));
        char sentence[CAIRN_FLAGS_ERROR_SIZE];
        snprintf(sentence, sizeof sentence, "%s %s: must be a whole number in [%s, %s]",
            rows[i].flag, rows[i].above, rows[i].least, rows[i].most);
        assert_string_equal(error, sentence);
        for (size_t n = 0; n < sizeof nonsense / sizeof *nonsense; ++n) {
            assert_false(read_with(rows[i].flag, nonsense[n]));
        }
    }
}

TEST("flags of other kinds store their values") {
    char text[CAIRN_ADDRESS_TEXT_SIZE];
    assert_true(read_with("--listen", "[::1]:0"));
    assert_string_equal(cairn_address_print(&config.listen, text), "[::1]:0");
    assert_true(read_with("--public", "192.0.2.1:7"));
    assert_int_equal(config.public.count, 1);
    assert_true(read_with("--protocol-id", "0xffffffffffffffff"));
    assert_true(config.protocol_id == UINT64_MAX);
    assert_true(read_with("--protocol-id=12", NULL));
    assert_true(config.protocol_id == 12);
    assert_true(read_with("--scene", "field"));
    assert_string_equal(config.scene, "field");
    assert_true(read_with("--record", "a file"));
    assert_string_equal(config.record_file, "a file");
    assert_true(read_with("--log", "json"));
    assert_int_equal(config.log_style, CAIRN_LOG_JSON);
    assert_true(read_with("--log-level", "debug"));
    assert_int_equal(config.log_level, CAIRN_LOG_DEBUG);
    assert_true(read_with("--check", NULL));
    assert_true(config.check);
    write_key("config_test.key", OTHER_KEY "\n");
    assert_true(read_with("--key-file", "config_test.key"));
    assert_int_equal(config.key.bytes[0], 0xff);
    assert_true(read_with("--record-key", "config_test.key"));
    assert_int_equal(config.record_key.bytes[0], 0xff);
}

TEST("an error is one sentence that names the flag") {
    static const struct {
        const char *flag, *value, *sentence;
    } rows[] = {
        {"--listen", "localhost",
            "--listen localhost: must be an address such as 127.0.0.1:40000 "
            "or [::1]:40000"},
        {"--listen", "0.0.0.0:4",
            "--listen 0.0.0.0:4: --public must name the address that clients reach"},
        {"--listen", "[::]:4",
            "--listen [::]:4: --public must name the address that clients reach"},
        {"--public", "192.0.2.1",
            "--public 192.0.2.1: must be an address with a port, such as "
            "192.0.2.1:40000"},
        {"--key", KEY,
            "--key: every user can read the command line; set the variable CAIRN_KEY, or use a "
            "file"},
        {"--key-file", KEY,
            "--key-file ...: every user can read a key in the command line: write it to a file of "
            "mode 600, and name the file"},
        {"--key-file", "", "--key-file : No such file or directory"},
        {"--key-file", "/dev/null",
            "--key-file /dev/null: must hold 64 hexadecimal digits and nothing else"},
        {"--protocol-id", "0x10000000000000000",
            "--protocol-id 0x10000000000000000: must be a whole number below 2^64"},
        {"--scene", "", "--scene : must not be empty"},
        {"--record", "", "--record : must not be empty"},
        {"--log", "xml", "--log xml: must be one of text, json"},
        {"--log-level", "loud", "--log-level loud: must be one of error, warn, info, debug"},
        {"--check=1", NULL, "--check 1: takes no value"},
        {"--control=1", NULL, "--control 1: takes no value"},
        {"--scene", NULL, "--scene NAME|FILE: the value is missing"},
        {"--tick-rat", "60", "--tick-rat: there is no such flag; --help lists all"},
        {"--tick-rates", "60", "--tick-rates: there is no such flag; --help lists all"},
        {"tick-rate", NULL, "tick-rate: not expected; --help lists the arguments"},
        {"", NULL, ": not expected; --help lists the arguments"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_false(read_with(rows[i].flag, rows[i].value));
        assert_string_equal(error, rows[i].sentence);
    }
}

TEST("an error message fits its buffer") {
    char endless[4096];
    memset(endless, 'x', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    static const char *const all[] = {"--listen", "--public", "--key", "--protocol-id",
        "--tick-rate", "--log", "--log-level", "--seconds"};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        assert_false(read_with(all[i], endless));
        assert_in_range(strlen(error), 10, CAIRN_FLAGS_ERROR_SIZE - 1);
    }
    assert_false(read_with(endless, NULL));
    assert_non_null(strstr(error, ": not expected"));
}

TEST("an environment variable replaces a missing flag") {
    variable here[] = {{"CAIRN_KEY", KEY}, {"CAIRN_TICK_RATE", "30"},
        {"CAIRN_PUBLIC", "192.0.2.1:1"}, {"CAIRN_LOG", "json"}, {NULL, NULL}};
    const char *const alone[] = {"cairnd", NULL};
    environment = here;
    assert_true(read_all(alone));
    assert_true(config.key.given);
    assert_int_equal(config.all_rooms.tick_rate_hz, 30);
    assert_int_equal(config.log_style, CAIRN_LOG_JSON);

    write_key("config_test.key", OTHER_KEY);
    const char *const with[] = {"cairnd", "--tick-rate=50", "--public", "192.0.2.2:2", "--public",
        "192.0.2.3:3", "--key-file", "config_test.key", NULL};
    assert_true(read_all(with));
    assert_int_equal(config.all_rooms.tick_rate_hz, 50);
    assert_int_equal(config.public.count, 2);
    assert_int_equal(config.public.addresses[0].port, 2);
    assert_int_equal(config.key.bytes[0], 0xff);

    here[1].value = "9";
    assert_false(read_all(alone));
    environment = NULL;
    assert_string_equal(error, "CAIRN_TICK_RATE=9: must be a whole number in [10, 240]");
}

TEST("a key is read from its owner's file alone, and wiped from its variable") {
    const char *const arguments[] = {"cairnd", "--key-file", "config_test.key", NULL};
    static const unsigned open_modes[] = {0640, 0604, 0660, 0606, 0777, 0620, 0610};
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; ++i) {
        write_key("config_test.key", KEY);
        assert_int_equal(chmod("config_test.key", open_modes[i]), 0);
        assert_false(read_all(arguments));
        assert_string_equal(error,
            "--key-file config_test.key: others than its owner may read this private key: chmod "
            "600 the file");
    }
    assert_int_equal(chmod("config_test.key", 0400), 0);
    assert_true(read_all(arguments));
    const variable here[] = {{"CAIRN_KEY", KEY}, {NULL, NULL}};
    const char *const alone[] = {"cairnd", NULL};
    environment = here;
    assert_true(read_all(alone));
    const char *variable_text = look_up("CAIRN_KEY");
    cairn_key key;
    assert_null(cairn_key_variable(&key, variable_text, true));
    environment = NULL;
    assert_int_equal(variable_text[0], 0);
    assert_int_equal(variable_text[63], 0);
}

#define OPTIONS                                                                                    \
    "options are rate, snapshots, position-steps, rotation-bits, coded-together, "                 \
    "view-distance, client-bytes, room-bytes, players, wait, idle, cost and record"

TEST("--room takes a name, a scene and options") {
    assert_true(read_with("--room", "side=demo"));
    assert_int_equal(config.rooms.count, 1);
    assert_string_equal(config.rooms.list[0].name, "side");
    assert_string_equal(config.rooms.list[0].scene, "demo");
    assert_string_equal(config.rooms.list[0].record_file, "");
    assert_int_equal(config.rooms.list[0].settings.tick_rate_hz, 0);
    assert_true(read_with(
        "--room", "a=b.json,rate=30,snapshots=10,players=3,wait=250,record=a=b.cairn;b=demo"));
    assert_int_equal(config.rooms.count, 2);
    assert_string_equal(config.rooms.list[0].scene, "b.json");
    assert_string_equal(config.rooms.list[0].record_file, "a=b.cairn");
    assert_int_equal(config.rooms.list[0].settings.tick_rate_hz, 30);
    assert_int_equal(config.rooms.list[0].settings.snapshot_rate_hz, 10);
    assert_int_equal(config.rooms.list[0].settings.players_max, 3);
    assert_int_equal(config.rooms.list[0].settings.wait_ms, 250);
    assert_string_equal(config.rooms.list[1].name, "b");
    static const struct {
        const char *value, *why;
    } rows[] = {{"", "must be NAME=SCENE and options, such as side=demo,rate=30"},
        {"side", "must be NAME=SCENE and options, such as side=demo,rate=30"},
        {"side;a=demo", "must be NAME=SCENE and options, such as side=demo,rate=30"},
        {"a=demo;;", "must be NAME=SCENE and options, such as side=demo,rate=30"},
        {"=demo", "a room's name has 1 to 31 bytes"},
        {"a234567890123456789012345678901b=demo", "a room's name has 1 to 31 bytes"},
        {"a=", "a scene is a built-in name or a file, in at most 255 bytes"},
        {"a=,rate=30", "a scene is a built-in name or a file, in at most 255 bytes"},
        {"a=demo,", OPTIONS}, {"a=demo,speed=3", OPTIONS},
        {"a=demo,rate", "rate must be in [10, 240]"}, {"a=demo,rate=", "rate must be in [10, 240]"},
        {"a=demo,rate=9", "rate must be in [10, 240]"},
        {"a=demo,rate=241", "rate must be in [10, 240]"},
        {"a=demo,rate=4294967356", "rate must be in [10, 240]"},
        {"a=demo,rate=99999999999999999999999999", "rate must be in [10, 240]"},
        {"a=demo,position-steps=10001", "position-steps must be in [1, 10000]"},
        {"a=demo,rotation-bits=6", "rotation-bits must be in [7, 15]"},
        {"a=demo,coded-together=0", "coded-together must be in [1, 131072]"},
        {"a=demo,snapshots=0", "snapshots must be in [1, 240]"},
        {"a=demo,players=257", "players must be in [1, 256]"},
        {"a=demo,wait=5001", "wait must be in [0, 5000]"},
        {"a=demo,idle=0", "idle must be in [1, 86400]"},
        {"a=demo,cost=1000001", "cost must be in [1, 1000000]"},
        {"a=demo,record=", "record must name a file, in at most 255 bytes"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_false(read_with("--room", rows[i].value));
        if (strstr(error, rows[i].why) == NULL) {
            fail_msg("%s: %s", rows[i].value, error);
        }
    }
}

TEST("--template takes what --room takes, in a list of its own") {
    assert_true(read_with("--template", "arena=demo,players=8,idle=60,cost=180"));
    assert_int_equal(config.rooms.count, 0);
    assert_int_equal(config.templates.count, 1);
    assert_string_equal(config.templates.list[0].name, "arena");
    assert_int_equal(config.templates.list[0].settings.idle_s, 60);
    assert_int_equal(config.templates.list[0].settings.cost_us, 180);
}

TEST("--room flags add up and replace the rooms of the environment") {
    variable here[] = {{"CAIRN_KEY", KEY}, {"CAIRN_ROOM", "x=demo;y=demo"}, {NULL, NULL}};
    const char *const none[] = {"cairnd", NULL};
    environment = here;
    assert_true(read_all(none));
    assert_int_equal(config.rooms.count, 2);
    const char *const two[] = {"cairnd", "--room", "a=demo", "--room", "b=demo", NULL};
    assert_true(read_all(two));
    assert_int_equal(config.rooms.count, 2);
    assert_string_equal(config.rooms.list[1].name, "b");
    const char *const lost[] = {"cairnd", "--scene", "none", "--record", "file", NULL};
    assert_false(read_all(lost));
    environment = NULL;
}

TEST("--help and --version are answered whatever else is wrong") {
    static const variable broken[] = {{"CAIRN_TICK_RATE", "never"}, {NULL, NULL}};
    static const char *const questions[][3] = {
        {"cairnd", "--help", NULL}, {"cairnd", "-h", NULL}, {"cairnd", "--version", "--nonsense"}};
    environment = broken;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; ++i) {
        const int argc = questions[i][2] == NULL ? 2 : 3;
        assert_int_equal(
            cairn_config_read(argc, (char *const *)questions[i], look_up, &config, error),
            CAIRN_FLAGS_ANSWERED);
    }
    environment = NULL;
}

TEST("options that contradict each other are refused") {
    const char *const keyless[] = {"cairnd", NULL};
    assert_false(read_all(keyless));
    assert_string_equal(error, "--key-file: a private key is needed: --key-file, CAIRN_KEY_FILE or "
                               "CAIRN_KEY; or try --dev");
    write_key("config_test_with.key", KEY);
    const char *const fast[] = {"cairnd", "--key-file", "config_test_with.key", "--tick-rate", "20",
        "--snapshot-rate", "30", NULL};
    assert_false(read_all(fast));
    assert_string_equal(error, "--snapshot-rate 30: must not exceed the tick rate, 20");
    const char *const as_fast[] = {"cairnd", "--key-file", "config_test_with.key", "--tick-rate",
        "20", "--snapshot-rate", "20", NULL};
    assert_true(read_all(as_fast));
    const char *const reached[] = {"cairnd", "--key-file", "config_test_with.key", "--listen",
        "0.0.0.0:4", "--public", "192.0.2.1:4", NULL};
    assert_true(read_all(reached));
}

TEST("each contradiction is refused with what is missing, and the same without it is not") {
    static const struct {
        const char *flags[7];
        const char *why; // NULL: it is taken
    } rows[] = {{{"--control-token", "config_test_with.key", "--control"},
                    "--control-token: operators by HTTP need --web and --control as well"},
        {{"--control-token", "config_test_with.key", "--web", "127.0.0.1:4"},
            "--control-token: operators by HTTP need --web and --control as well"},
        {{"--control-token", "config_test_with.key", "--web", "127.0.0.1:4", "--control"}, NULL},
        {{"--scene", "none", "--record", "file"},
            "--record: there is no room main; --room NAME=SCENE,record=FILE records another"},
        {{"--scene", "none", "--room", "a=demo,record=file"}, NULL},
        {{"--agones", "--hand-over", "socket"},
            "--agones: a game server of a fleet is replaced by another one, not by --hand-over or "
            "--take-over"},
        {{"--agones", "--take-over", "socket"},
            "--agones: a game server of a fleet is replaced by another one, not by --hand-over or "
            "--take-over"},
        {{"--agones"}, NULL}, {{"--hand-over", "socket", "--take-over", "socket"}, NULL},
        {{"--dev", "--listen", "192.0.2.1:4"},
            "--dev: --listen 192.0.2.1:4 is not loopback, where alone it is allowed"},
        {{"--dev", "--web", "192.0.2.1:4"},
            "--dev: --web 192.0.2.1:4 is not loopback, where alone it is allowed"},
        {{"--dev", "--web", "[::1]:4"}, NULL}, {{"--web", "192.0.2.1:4"}, NULL}};
    write_key("config_test_with.key", KEY);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const char *arguments[10] = {"cairnd", "--key-file", "config_test_with.key"};
        memcpy(arguments + 3, rows[i].flags, sizeof rows[i].flags);
        if (read_all(arguments) != (rows[i].why == NULL)) {
            fail_msg("row %zu: %s", i, error);
        }
        if (rows[i].why != NULL) {
            assert_string_equal(error, rows[i].why);
        }
    }
    const char *const alone[] = {"cairnd", "--dev", "--take-over", "socket", NULL};
    assert_false(read_all(alone));
    assert_string_equal(error, "--take-over: the key of the other process is needed: --key-file, "
                               "CAIRN_KEY_FILE or CAIRN_KEY");
}

TEST("a token names at most 32 addresses") {
    const char *argv[3 + 33 + 1] = {NULL};
    argv[0] = "cairnd";
    write_key("config_test_with.key", KEY);
    argv[1] = "--key-file";
    argv[2] = "config_test_with.key";
    for (int i = 0; i < 32; ++i) {
        argv[3 + i] = "--public=192.0.2.1:4";
    }
    assert_true(read_all(argv));
    argv[3 + 32] = argv[3];
    assert_false(read_all(argv));
}

TEST("a key is 64 digits and nothing else") {
    static const struct {
        const char *text;
        bool good;
    } rows[] = {{KEY, true}, {KEY "\n", true}, {"  " KEY "\r\n", true}, {KEY "0", false},
        {KEY " 00", false}, {"", false}, {"\n", false},
        {"g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", false},
        {"00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint8_t key[CAIRN_KEY_SIZE];
        assert_int_equal(cairn_key_parse(rows[i].text, strlen(rows[i].text), key), rows[i].good);
    }
}

static uint32_t complaints;

static void count_complaint(void *user, uint32_t line, uint32_t column, const char *text) {
    (void)user;
    (void)line;
    (void)column;
    assert_true(text[0] != '\0');
    complaints += 1;
}

// Writes the settings in which ' stands for ".
static void write_settings(const char *settings) {
    FILE *file = fopen("config_test_reload.json", "wb");
    assert_non_null(file);
    for (; *settings != '\0'; ++settings) {
        fputc(*settings == '\'' ? '"' : *settings, file);
    }
    assert_int_equal(fclose(file), 0);
}

TEST("a file that is read again changes what may change, and names the rest") {
#define SAME                                                                                       \
    "{'key-file': 'config_test_reload.key', 'room': ['a=demo', 'b=stack10'], 'template': 'c=demo'" \
    ", 'public': ['127.0.0.1:1', '127.0.0.1:2'], 'stats-interval': 5"
    static const struct {
        const char *settings, *changed, *left;
    } rows[] = {{SAME "}", "", ""}, {SAME ", 'drain-seconds': 3}", "drain-seconds", ""},
        {SAME ", 'clients-max': 10}", "", "clients-max"},
        {SAME ", 'log-level': 'warn', 'players-max': 7, 'record': 'x'}", "log-level",
            "players-max record"},
        {"{'key-file': 'config_test_reload.key', 'room': ['a=demo', 'b=demo'], 'template': 'c=demo'"
         ", 'public': ['127.0.0.1:1', '127.0.0.1:2']}",
            "stats-interval", "room"},
        {"{'key-file': 'config_test_reload.key', 'room': ['a=demo'], 'template': 'c=stack10'"
         ", 'public': '127.0.0.1:1', 'stats-interval': 5}",
            "", "public room template"}};
    write_key("config_test_reload.key", KEY);
    const char *const arguments[] = {"cairnd", "--config", "config_test_reload.json", NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_config_changes changes;
        write_settings(SAME "}");
        assert_true(read_all(arguments));
        assert_int_equal(config.stats_interval_s, 5);
        write_settings(rows[i].settings);
        complaints = 0;
        assert_true(cairn_config_reload(
            3, (char *const *)arguments, look_up, &config, count_complaint, NULL, &changes));
        assert_int_equal(complaints, 0);
        assert_string_equal(changes.changed, rows[i].changed);
        assert_string_equal(changes.left, rows[i].left);
        assert_int_equal(config.drain_s, i == 1 ? 3 : 0);
        assert_int_equal(config.clients_max, 64);
        assert_int_equal(config.stats_interval_s, i == 4 ? 10 : 5);
    }
    // With a mistake nothing changes.
    cairn_config_changes changes;
    write_settings(SAME "}");
    assert_true(read_all(arguments));
    write_settings(SAME ", 'drain-seconds': 3, 'clients-max': 'many'}");
    assert_false(cairn_config_reload(
        3, (char *const *)arguments, look_up, &config, count_complaint, NULL, &changes));
    assert_int_equal(complaints, 1);
    assert_int_equal(config.drain_s, 0);
#undef SAME
}

TEST("an origin is a scheme and a host, and so many are taken") {
    static const char *const wrong[] = {
        "", "play.example", "://play.example", "https://", "https://play.example/", "https:///"};
    static const char *const right[] = {"https://play.example", "a://b", "http://[::1]:8000"};
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_false(read_with("--web-origin", wrong[i]));
        assert_non_null(strstr(error, "must be"));
    }
    for (uint32_t i = 0; i < sizeof right / sizeof *right; ++i) {
        assert_true(read_with("--web-origin", right[i]));
        assert_int_equal(config.web.origin_count, 1);
        assert_string_equal(config.web.origins[0], right[i]);
    }
    const char *arguments[4 + 2 * (CAIRN_WEB_ORIGINS_MAX + 1)] = {
        "cairnd", "--key-file", "config_test_with.key"};
    for (uint32_t count = 1; count <= CAIRN_WEB_ORIGINS_MAX + 1; ++count) {
        static const char *const two[] = {"https://a", "https://b"};
        arguments[1 + 2 * count] = "--web-origin";
        arguments[2 + 2 * count] = two[count % 2];
        assert_int_equal(read_all(arguments), count <= CAIRN_WEB_ORIGINS_MAX);
        if (count <= CAIRN_WEB_ORIGINS_MAX) {
            assert_int_equal(config.web.origin_count, count);
            assert_string_equal(config.web.origins[count - 1], two[count % 2]);
        }
    }
    assert_non_null(strstr(error, "at most 16 origins can be given"));
}

TEST("a file of settings is named by a flag in either form, or by the environment") {
    static const variable of_file[] = {{"CAIRN_CONFIG", "config_test_reload.json"}, {NULL, NULL}};
    const char *const forms[][4] = {{"cairnd", "--config", "config_test_reload.json", NULL},
        {"cairnd", "--config=config_test_reload.json", NULL}, {"cairnd", NULL},
        {"cairnd", "--config", "config_test_reload.json", "--config"}};
    write_key("config_test_with.key", KEY);
    write_settings("{'key-file': 'config_test_with.key', 'drain-seconds': 7}");
    for (uint32_t i = 0; i < 3; ++i) {
        environment = i == 2 ? of_file : NULL;
        assert_true(read_all(forms[i]));
        assert_int_equal(config.drain_s, 7);
        assert_string_equal(config.config_file, "config_test_reload.json");
    }
    environment = NULL;
    const char *const none[] = {"cairnd", "--key-file", "config_test_with.key", "--config", NULL};
    assert_false(read_all(none)); // without a value
    assert_false(read_with("--config=config_test_no.json", NULL));
    assert_non_null(strstr(error, "mistakes: 1"));
}

TEST("the place of a setting is that of its value in the file, if it is of the file") {
    char place[CAIRN_CONFIG_PLACE_SIZE];
    const char *const arguments[] = {"cairnd", "--config", "config_test_reload.json", NULL};
    write_settings("{'key-file': 'config_test_with.key',\n 'room': ['a=demo', 'b=demo,rate=30']}");
    assert_true(read_all(arguments));
    cairn_config_print_place(&config, "a=demo", place);
    assert_string_equal(place, "cairnd: config_test_reload.json:2:11");
    cairn_config_print_place(&config, "b=demo", place);
    assert_string_equal(place, "cairnd: config_test_reload.json:2:21");
    cairn_config_print_place(&config, "c=demo", place);
    assert_string_equal(place, "cairnd");
    config.config_file = NULL;
    cairn_config_print_place(&config, "a=demo", place);
    assert_string_equal(place, "cairnd");
}

// SPDX-License-Identifier: MIT
// cairnd as a program: its flags, and one real run over loopback sockets. The path of
// cairnd is the first argument.
#define _POSIX_C_SOURCE 200809L
#include "tests/kit/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program/key.h"
#include <cairn/client.h>
#include <cairn/client_uv.h>
#include <cairn/server.h>
#include <cairn/server_uv.h>
#include <cairn/token.h>
#include <cairn/types.h>

#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define SCENE                                                                                      \
    "{\"name\": \"probe\", \"rules\": \"sandbox\", \"bodies\": [{\"kind\": \"static\", "           \
    "\"shapes\": [{\"kind\": \"half_space\"}]}]}"

static const char *cairnd;

// A program that runs, with its output in a pipe.
typedef struct child {
    pid_t pid;
    FILE *out;
} child;

static child start(const char *const *arguments) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    child c = {.pid = fork()};
    assert_true(c.pid >= 0);
    if (c.pid == 0) {
        const char *argv[32] = {cairnd};
        for (int i = 0; i < 30 && arguments[i] != NULL; ++i) {
            argv[i + 1] = arguments[i];
        }
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(cairnd, (char *const *)argv);
        _exit(127);
    }
    close(ends[1]);
    c.out = fdopen(ends[0], "r");
    assert_non_null(c.out);
    return c;
}

// Reads the rest of the output and waits. Returns the exit code, -1 when a signal ended it.
static int finish(child *c, char *text, size_t size) {
    size_t used = fread(text, 1, size - 1, c->out);
    text[used] = '\0';
    fclose(c->out);
    int status;
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

TEST("flags are answered with a sentence and a code") {
    write_file("cairnd_probe.json", SCENE);
    write_file("cairnd_broken.json", "{\"name\": \"broken\",\n  \"bodies\": [}");
    write_file("cairnd_key.txt", KEY "\n");
    write_file("cairnd_short_key.txt", "0001\n");
    static const struct {
        const char *arguments[10];
        int code;
        const char *says;
    } rows[] = {{{"--help"}, 0, "--snapshot-rate HZ"},
        {{"--version"}, 0, "cairnd 0.1.0, protocol 4, simulation"},
        {{"--check", "--key", KEY}, 0, "would run scene " CAIRN_SCENE_DEFAULT},
        {{"--check", "--key-file", "cairnd_key.txt", "--scene", "cairnd_probe.json"}, 0,
            "would run scene probe (1 bodies, sandbox) at 60 Hz, snapshots at 20 Hz, for 64 "
            "clients on 127.0.0.1:40000"},
        {{"--check", "--key", KEY, "--scene", "cairnd_probe.json", "--tick-rate", "10"}, 0,
            "at 10 Hz, snapshots at 10 Hz"},
        {{"--check"}, 1, "a private key is needed"},
        {{"--check", "--key", KEY, "--tick-rate", "500"}, 1,
            "cairnd: --tick-rate 500: must be a whole number in [10, 240]"},
        {{"--check", "--key", KEY, "--scene", "nowhere"}, 1,
            "cairnd: --scene nowhere: not a file's name and not built in; built in are"},
        {{"--check", "--key", KEY, "--scene", "./nowhere.json"}, 1,
            "cairnd: ./nowhere.json: No such file"},
        {{"--check", "--key", KEY, "--scene", "cairnd_broken.json"}, 1,
            "cairnd: cairnd_broken.json: line 2"},
        {{"--check", "--key", KEY, "--room", "a b=demo"}, 1,
            "cairnd: a b: a room's name has 1 to 31 letters, digits"},
        {{"--check", "--key-file", "cairnd_nowhere.txt"}, 1,
            "cairnd: --key-file cairnd_nowhere.txt: No such"},
        {{"--check", "--key-file", "cairnd_short_key.txt"}, 1,
            "cairnd: --key-file cairnd_short_key.txt: must hold 64 hexadecimal digits"},
        {{"--key", KEY, "--listen", "192.0.2.1:1", "--scene", "cairnd_probe.json"}, 1,
            "cairnd: 192.0.2.1:1: bind: "},
        {{"--key", KEY, "--listen", "127.0.0.1:0", "--scene", "cairnd_probe.json", "--record",
             "/nowhere/at/all"},
            1, "cairnd: /nowhere/at/all: No such"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        child c = start(rows[i].arguments);
        static char text[16384];
        int code = finish(&c, text, sizeof text);
        if (code != rows[i].code || strstr(text, rows[i].says) == NULL) {
            fail_msg("row %zu: code %d, said: %s", i, code, text);
        }
    }
}

// The address in the "listening" line, which is the first.
static cairn_address listening_at(child *c) {
    char line[512];
    cairn_address address = {0};
    while (fgets(line, sizeof line, c->out) != NULL) {
        char *at = strstr(line, " listening ");
        char *begin = at == NULL ? NULL : strchr(at, '"');
        if (begin != NULL) {
            *strrchr(line, '"') = '\0';
            assert_true(cairn_address_parse(begin + 1, &address));
            return address;
        }
    }
    fail_msg("cairnd said nothing of listening");
    return address;
}

typedef struct player {
    cairn_client *client;
    cairn_client_uv *driver;
} player;

static player player_of(cairn_client_mode mode, const cairn_address *server, uint64_t id) {
    uint8_t key[CAIRN_KEY_SIZE];
    assert_true(cairn_key_parse(KEY, strlen(KEY), key));
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    for (size_t i = 0; i < sizeof entropy; ++i) {
        entropy[i] = (uint8_t)(i * 5 + id);
    }
    const cairn_token_request request = {.protocol_id = CAIRN_PROTOCOL_ID_DEFAULT,
        .client_id = id,
        .create_unix_s = cairn_uv_unix_ns() / CAIRN_NS_PER_S,
        .lifetime_s = 60,
        .timeout_s = 5,
        .server_addresses = server,
        .server_count = 1,
        .private_key = key,
        .entropy = entropy};
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    assert_int_equal(cairn_token_issue(&request, token), CAIRN_OK);
    cairn_client_config config = cairn_client_config_default();
    config.mode = mode;
    player p = {.client = NULL};
    assert_int_equal(cairn_client_create(&config, &p.client), CAIRN_OK);
    const cairn_client_uv_config driver = {.client = p.client, .frame_rate_hz = 200};
    assert_int_equal(cairn_client_uv_open(&driver, &p.driver), CAIRN_OK);
    assert_true(cairn_client_uv_connect(p.driver, token));
    return p;
}

static cairn_client_statistics statistics_of(const player *p) {
    cairn_client_statistics statistics;
    cairn_client_statistics_read(p->client, &statistics);
    return statistics;
}

static void player_end(player *p) {
    cairn_client_uv_close(p->driver);
    cairn_client_destroy(p->client);
}

TEST("a run over loopback serves records and drains") {
    write_file("cairnd_probe.json", SCENE);
    static const char *const records[] = {"cairnd_run.cairn", "cairnd_side.cairn"};
    for (size_t i = 0; i < 2; ++i) {
        remove(records[i]); // of an earlier run: it would not be replaced
    }
    // --seconds ends the server if the test fails before it stops it.
    static const char *const arguments[] = {"--key", KEY, "--listen", "127.0.0.1:0", "--scene",
        "cairnd_probe.json", "--record", "cairnd_run.cairn", "--room",
        "side=stack10,rate=30,record=cairnd_side.cairn", "--token-lifetime", "0", "--seconds", "20",
        NULL};
    child c = start(arguments);
    const cairn_address server = listening_at(&c);
    assert_true(server.port != 0);
    player shown = player_of(CAIRN_CLIENT_INTERPOLATE, &server, 1);
    player exact = player_of(CAIRN_CLIENT_LOCKSTEP, &server, 2);
    for (int frame = 0; frame < 1000; ++frame) {
        cairn_client_uv_frame(shown.driver);
        cairn_client_uv_frame(exact.driver);
        if (statistics_of(&shown).snapshots.deltas >= 5 &&
            statistics_of(&exact).simulation.roots_compared >= 20) {
            break;
        }
    }
    assert_true(statistics_of(&shown).snapshots.deltas >= 5);
    assert_true(statistics_of(&exact).simulation.roots_compared >= 20);
    assert_int_equal(statistics_of(&exact).simulation.roots_differed, 0);
    assert_int_equal(kill(c.pid, SIGTERM), 0);
    for (int frame = 0; frame < 200; ++frame) {
        cairn_client_uv_frame(shown.driver);
        cairn_client_uv_frame(exact.driver);
    }
    assert_int_equal(cairn_client_state_read(shown.client), CAIRN_CLIENT_FAILED);
    assert_int_equal(cairn_client_state_read(exact.client), CAIRN_CLIENT_FAILED);
    static char text[65536];
    assert_int_equal(finish(&c, text, sizeof text), 0);
    static const char *const said[] = {"client_joined", "client_playing", "draining", "client_left",
        "stats", "rooms=2 ", "roots_differed=0 ", "ended"};
    for (size_t i = 0; i < sizeof said / sizeof *said; ++i) {
        assert_non_null(strstr(text, said[i]));
    }
    player_end(&shown);
    player_end(&exact);
    for (size_t i = 0; i < 2; ++i) {
        FILE *record = fopen(records[i], "rb");
        assert_non_null(record);
        assert_int_equal(fseek(record, 0, SEEK_END), 0);
        assert_true(ftell(record) > 1000);
        fclose(record);
    }
}

int main(int argc, char **argv) {
    cairnd = argc > 1 ? argv[1] : "cairnd";
    return test_run("server.cairnd", NULL);
}

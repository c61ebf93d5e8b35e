// SPDX-License-Identifier: MIT
// cairnd as a whole, in a process for each run: with what code it ends, and what it says.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "server/agones/agones.h"
#include "server/daemon/hand_over_record.h"
#include <cairn/programs.h>
#include <cairn/server_uv.h>

// The longest life of a server here; it ends a test that fails.
#define PATIENCE_S 20
#define PATH_SIZE 96
#define ARGUMENTS_MAX 24

static char folder[64];
static char scene[PATH_SIZE];
static char said[2][PATH_SIZE], complained[2][PATH_SIZE]; // of two servers at once
static char out[16384], error[4096];                      // what the last run wrote
static cairn_status agones_status;
static const char *agones_address; // NULL: none is found
static bool has_key;

// Replaces that of agones.c (CMakeLists.txt).
cairn_status __wrap_cairn_agones_open(const cairn_agones_config *config, cairn_agones **agones);
cairn_status __wrap_cairn_agones_open(const cairn_agones_config *config, cairn_agones **agones) {
    (void)config;
    *agones = NULL;
    return agones_status;
}

// Replaces that of agones.c (CMakeLists.txt).
bool __wrap_cairn_agones_find_address(
    uint32_t port, cairn_address *address, char why[CAIRN_AGONES_WHY_SIZE]);
bool __wrap_cairn_agones_find_address(
    uint32_t port, cairn_address *address, char why[CAIRN_AGONES_WHY_SIZE]) {
    snprintf(why, CAIRN_AGONES_WHY_SIZE, "nothing at port %u", (unsigned)port);
    return agones_address != NULL && cairn_address_parse(agones_address, address);
}

// Replaces that of the system (CMakeLists.txt): a server takes large blocks a few times, and not
// for every few bytes.
void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size) {
    static atomic_uint large;
    if (size > 65536 && atomic_fetch_add(&large, 1) > 1000) {
        abort();
    }
    return __real_realloc(block, size);
}

static void name_file(char path[PATH_SIZE], const char *name) {
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
}

// Rules that must not run.
static void crash(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)state;
    (void)commands;
    (void)command_count;
    abort();
}
static const cairn_rules broken = {.name = "broken", .version = 3, .state_size = 8, .step = crash};

// Rules that pass their trial, and do not return once a thread of the server steps them.
static void hang(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)state;
    (void)commands;
    (void)command_count;
    while (gettid() != getpid()) {
        pause();
    }
}
static const cairn_rules endless = {.name = "endless", .version = 1, .state_size = 8, .step = hang};

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

BEFORE_EACH {
    has_key = true;
    agones_status = CAIRN_OK;
    agones_address = NULL;
    snprintf(folder, sizeof folder, "/tmp/cairnd-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    name_file(scene, "scene.json");
    name_file(said[0], "said");
    name_file(said[1], "said-by-other");
    name_file(complained[0], "complained");
    name_file(complained[1], "complained-by-other");
    write_file(scene, "{\"name\": \"small\"}");
}

AFTER_EACH {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void run_in_child(unsigned number, const char *const *arguments) {
    char *argv[ARGUMENTS_MAX] = {"cairnd", "--listen", "127.0.0.1:0", "--scene", scene,
        "--core-dumps"}; // a process that none may look into is not searched for leaks either
    int argc = 6;
    for (uint32_t i = 0; arguments[i] != NULL; ++i) {
        argv[argc++] = (char *)arguments[i];
    }
    // CMocka would go on with its tests here.
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
        signal(faults[i], SIG_DFL);
    }
    alarm(PATIENCE_S);
    if (has_key) {
        setenv("CAIRN_KEY", "0101010101010101010101010101010101010101010101010101010101010101", 1);
    }
    if (freopen(said[number], "w", stdout) == NULL ||
        freopen(complained[number], "w", stderr) == NULL) {
        _exit(99);
    }
    exit(cairnd_main(argc, argv, (const cairn_rules *const[]){&broken, &endless}, 2));
}

static pid_t start(unsigned number, const char *const *arguments) {
    (void)remove(said[number]); // nobody waits for a line of the last run
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run_in_child(number, arguments);
    }
    return child;
}

static void read_file(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

// Returns the exit code.
static int end(unsigned number, pid_t child) {
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    read_file(said[number], out, sizeof out);
    read_file(complained[number], error, sizeof error);
    if (!WIFEXITED(status)) {
        fail_msg("signal %d: %s", WTERMSIG(status), error);
    }
    return WEXITSTATUS(status);
}

#define run(...) end(0, start(0, (const char *const[]){__VA_ARGS__, NULL}))

static void expect(const char *text, const char *part) {
    if (strstr(text, part) == NULL) {
        fail_msg("not \"%s\": %s", part, text);
    }
}

static bool exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

TEST("a server runs for its time, records what it is to, and ends well") {
    char record[PATH_SIZE], other[PATH_SIZE], room[2 * PATH_SIZE + 32];
    name_file(record, "record");
    name_file(other, "other");
    snprintf(room, sizeof room, "side=%s,record=%s", scene, other);
    assert_int_equal(run("--seconds", "1", "--record", record, "--room", room), 0);
    expect(out, "listening");
    expect(out, record);
    expect(out, other);
    expect(out, "ended");
    assert_string_equal(error, "");
    assert_true(exists(record) && exists(other));
}

TEST("two rooms are not recorded to one file") {
    char record[PATH_SIZE], room[2 * PATH_SIZE + 32];
    name_file(record, "record");
    snprintf(room, sizeof room, "side=%s,record=%s", scene, record);
    assert_int_equal(run("--seconds", "1", "--record", record, "--room", room), 1);
    expect(error, "two rooms cannot be recorded to one file");
    expect(error, record);
    assert_string_equal(out, "");
}

static bool connects(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    const bool taken = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return taken;
}

// Waits until that server, whose log it is, has written so.
static void wait_for_line(const char *log, const char *part) {
    for (uint32_t ms = 0;; ++ms) {
        assert_true(ms < 1000 * PATIENCE_S);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (exists(log)) {
            read_file(log, out, sizeof out);
            if (strstr(out, part) != NULL) {
                return;
            }
        }
    }
}

static void wait_for_socket(const char *path) {
    for (uint32_t ms = 0; !connects(path); ++ms) {
        assert_true(ms < 1000 * PATIENCE_S);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

TEST("a server that may be followed listens for its follower as long as it runs") {
    char path[PATH_SIZE];
    name_file(path, "hand-over");
    const pid_t child = start(0, (const char *const[]){"--hand-over", path, NULL});
    wait_for_socket(path);
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(end(0, child), 0);
    assert_false(exists(path));
}

TEST("a follower takes the place of a server, which ends, and may be followed itself") {
    char path[PATH_SIZE], room[2 * PATH_SIZE];
    name_file(path, "hand-over");
    snprintf(room, sizeof room, "side=%s", scene);
    const char *const old_flags[] = {"--hand-over", path, "--room", room, NULL};
    const char *const new_flags[] = {
        "--take-over", path, "--hand-over", path, "--room", room, NULL};
    const pid_t old = start(0, old_flags);
    wait_for_socket(path);
    wait_for_line(said[0], "hand_over_failed"); // who only looked has gone
    const pid_t new = start(1, new_flags);
    assert_int_equal(end(0, old), 0);
    expect(out, "hand_over_began");
    expect(out, "handed_over");
    assert_string_equal(error, "");
    wait_for_socket(path);
    assert_int_equal(kill(new, SIGTERM), 0);
    assert_int_equal(end(1, new), 0);
    expect(out, "took_over");
    expect(out, "ended");
    assert_string_equal(error, "");
}

TEST("a server that nobody leaves to a follower is not followed") {
    char path[PATH_SIZE];
    name_file(path, "hand-over");
    assert_int_equal(run("--take-over", path), 1);
    expect(error, path);
    assert_string_equal(out, "");
}

TEST("a socket that an ended server left is replaced, and one of a server that runs is not") {
    char path[PATH_SIZE];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    name_file(path, "hand-over");
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(run("--seconds", "1", "--hand-over", path), 1);
    expect(error, "Address already in use");
    assert_true(connects(path));
    close(fd);
    const pid_t child = start(0, (const char *const[]){"--hand-over", path, NULL});
    wait_for_socket(path);
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(end(0, child), 0);
}

TEST("a server that nobody could follow, though somebody is to, does not run") {
    char path[PATH_SIZE];
    name_file(path, "no-such-folder/hand-over");
    assert_int_equal(run("--seconds", "1", "--hand-over", path), 1);
    expect(error, path);
    expect(error, "No such file or directory");
}

TEST("a scene is measured, and one that is not there is an error") {
    char none[PATH_SIZE];
    name_file(none, "none.json");
    assert_int_equal(run("--calibrate"), 0);
    expect(out, "small");
    assert_string_equal(error, "");
    assert_int_equal(run("--calibrate", "--scene", none), 1);
    expect(error, none);
    assert_string_equal(out, "");
}

TEST("the scenes of all rooms and templates are measured, up to the first that is not there") {
    char places[4][2 * PATH_SIZE], none[2 * PATH_SIZE];
    static const char *const names[] = {"alpha", "beta", "gamma", "delta"};
    for (uint32_t i = 0; i < 4; ++i) {
        snprintf(places[i], sizeof places[i], "%s=%s", names[i], scene);
    }
    snprintf(none, sizeof none, "nowhere=%s.none", scene);
    assert_int_equal(run("--calibrate", "--room", places[0], "--room", places[1], "--template",
                         places[2], "--template", places[3]),
        0);
    for (uint32_t i = 0; i < 4; ++i) {
        expect(out, names[i]);
    }
    assert_int_equal(run("--calibrate", "--room", none, "--template", places[2]), 1);
    assert_null(strstr(out, names[2]));
    assert_int_equal(run("--calibrate", "--template", none, "--template", places[3]), 1);
    assert_null(strstr(out, names[3]));
}

TEST("a server that cannot join its fleet says what it lacks, and ends") {
    const struct {
        cairn_status status;
        const char *why;
    } rows[] = {{CAIRN_NOT_FOUND, "cairnd: --agones: libcurl.so.4 is not installed\n"},
        {CAIRN_OUT_OF_MEMORY, "cairnd: --agones: out of memory\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        agones_status = rows[i].status;
        assert_int_equal(run("--seconds", "1", "--agones", "--public", "192.0.2.1:4"), 1);
        assert_string_equal(error, rows[i].why);
    }
}

// Serves until a signal comes, as soon as it listens.
static int serve_briefly(const char *const *arguments) {
    const pid_t child = start(0, arguments);
    wait_for_line(said[0], "listening");
    assert_int_equal(kill(child, SIGTERM), 0);
    return end(0, child);
}
#define serve(...) serve_briefly((const char *const[]){__VA_ARGS__, NULL})

// A scene that names rules: PLACE is that of a file, NAME=PLACE a room.
static void write_ruled(char room[2 * PATH_SIZE], const char *name, const char *rules) {
    char path[PATH_SIZE], file[32], text[96];
    snprintf(file, sizeof file, "%s.json", name);
    name_file(path, file);
    snprintf(text, sizeof text, "{\"name\": \"of-%s\", \"rules\": \"%s\"}", name, rules);
    write_file(path, text);
    snprintf(room, 2 * PATH_SIZE, "%s=%s", name, path);
}

TEST("a room whose rules fail is left out, and a server that has nothing else does not run") {
    char bad[2 * PATH_SIZE], good[2 * PATH_SIZE];
    write_ruled(bad, "bad", "broken");
    snprintf(good, sizeof good, "good=%s", scene);
    assert_int_equal(serve("--room", bad, "--room", good), 0);
    expect(error, "cairnd: room bad is not started: rules broken, version 3, in scene of-bad: ");
    expect(out, "rooms=2 ");
    assert_int_equal(run("--seconds", "1", "--scene", "none", "--room", bad), 1);
    expect(error, "room bad is not started");
    assert_int_equal(run("--seconds", "1", "--scene", "none", "--template", bad), 1);
    expect(error, "room bad is not started");
    assert_int_equal(serve("--scene", "none", "--template", bad, "--template", good), 0);
    expect(error, "room bad is not started");
    assert_int_equal(run("--calibrate", "--room", bad), 1);
    expect(error, "room bad is not started");
}

TEST("a check says what would run, or each thing that is wrong, and does not run") {
    char room[2 * PATH_SIZE], template[2 * PATH_SIZE], bad[2 * PATH_SIZE], unknown[2 * PATH_SIZE],
        none[2 * PATH_SIZE], last[2 * PATH_SIZE];
    snprintf(room, sizeof room, "side=%s,rate=30,snapshots=10", scene);
    snprintf(template, sizeof template, "more=%s", scene);
    snprintf(none, sizeof none, "nowhere=%s.none", scene);
    write_ruled(bad, "bad", "broken");
    write_ruled(last, "last", "");
    write_ruled(unknown, "unknown", "no-such");
    assert_int_equal(run("--check", "--clients-max", "9", "--room", room, "--room", last,
                         "--template", template),
        0);
    assert_string_equal(error, "");
    expect(out, "would run scene small (0 bodies, no rules) at 60 Hz, snapshots at 20 Hz, for 9 "
                "clients on 127.0.0.1:0, room main\n");
    expect(out, "would run scene small (0 bodies, no rules) at 30 Hz, snapshots at 10 Hz, for 9 "
                "clients on 127.0.0.1:0, room side\n");
    expect(out, "would run scene of-last (0 bodies, no rules) at 60 Hz, snapshots at 20 Hz, for 9 "
                "clients on 127.0.0.1:0, room last\n");
    assert_null(strstr(out, "more"));
    assert_int_equal(run("--check", "--scene", "none", "--room", room), 0);
    assert_null(strstr(out, "room main"));
    // Rooms and templates: of each kind all are looked at.
    static const char *const flags[] = {"--room", "--template"};
    for (uint32_t k = 0; k < 2; ++k) {
        assert_int_equal(run("--check", flags[k], bad, flags[k], unknown, flags[k], none), 1);
        assert_string_equal(out, "");
        expect(error, "cairnd: room bad is not started: rules broken, version 3");
        expect(error, "cairnd: room unknown: scene of-unknown has the rules 'no-such', which");
        expect(error, strchr(none, '=') + 1);
        assert_int_equal(run("--check", flags[k], bad), 1);
        assert_int_equal(run("--check", flags[k], unknown), 1);
        assert_int_equal(run("--check", flags[k], none), 1);
    }
    assert_int_equal(run("--check", "--scene", strchr(bad, '=') + 1), 1);
    expect(error, "cairnd: room main is not started");
    assert_int_equal(run("--check", "--clients-max", "many"), 1); // no mistake of a file
    expect(error, "--clients-max");
    assert_null(strstr(error, "mistakes"));
}

TEST("mistakes of a file and of what it names are counted together, each with its place") {
    char file[PATH_SIZE], bad[2 * PATH_SIZE], settings[4 * PATH_SIZE], place[4 * PATH_SIZE];
    name_file(file, "config.json");
    write_ruled(bad, "bad", "broken");
    snprintf(settings, sizeof settings, "{\n  \"template\": [\"%s\"],\n  \"no-such\": 1\n}", bad);
    write_file(file, settings);
    assert_int_equal(run("--check", "--config", file), 1);
    assert_string_equal(out, "");
    snprintf(place, sizeof place, "cairnd: %s:2:16: room bad is not started: rules broken", file);
    expect(error, place);
    snprintf(place, sizeof place, "cairnd: %s:3:", file);
    expect(error, place);
    expect(error, "mistakes: 2\n");
    assert_int_equal(run("--seconds", "1", "--config", file), 1); // stops at the file's own
    expect(error, "mistakes: 1\n");
}

TEST("a server for development makes a key that its owner alone may read, and removes it") {
    char command[PATH_SIZE + 64];
    has_key = false;
    assert_int_equal(run("--seconds", "1"), 1);
    expect(error, "a private key is needed");
    setenv("XDG_RUNTIME_DIR", folder, 1);
    const pid_t child = start(0, (const char *const[]){"--dev", NULL});
    wait_for_line(said[0], "listening");
    snprintf(command, sizeof command, "test $(stat -c %%a %s/cairnd-dev-*.key) = 600", folder);
    for (uint32_t ms = 0; system(command) != 0; ++ms) {
        assert_true(ms < 1000);
    }
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(end(0, child), 0);
    snprintf(command, sizeof command,
        "cairn-bot --key %s/cairnd-dev-%ld.key --server 127.0.0.1:", folder, (long)child);
    expect(error, command);
    snprintf(command, sizeof command, "test -e %s/cairnd-dev-%ld.key", folder, (long)child);
    assert_int_not_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/nowhere", folder);
    setenv("XDG_RUNTIME_DIR", command, 1);
    assert_int_equal(run("--seconds", "1", "--dev"), 1);
    expect(error, "--dev: no key file can be written: No such file or directory");
    setenv("XDG_RUNTIME_DIR", command + 1, 1); // not absolute: the specification says to ignore it
    assert_int_equal(serve("--dev"), 0);
    expect(error, "--key /tmp/cairnd-dev-");
    unsetenv("XDG_RUNTIME_DIR");
}

TEST("an address that another process has is refused with its name") {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    char named[32];
    const int kinds[] = {SOCK_DGRAM, SOCK_STREAM};
    for (uint32_t i = 0; i < 2; ++i) {
        const int fd = socket(AF_INET, kinds[i] | SOCK_CLOEXEC, 0);
        address.sin_port = 0;
        assert_int_equal(bind(fd, (const struct sockaddr *)&address, size), 0);
        assert_true(i == 0 || listen(fd, 1) == 0);
        assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
        snprintf(named, sizeof named, "127.0.0.1:%u", ntohs(address.sin_port));
        assert_int_equal(run("--seconds", "1", i == 0 ? "--listen" : "--web", named), 1);
        expect(error, named);
        expect(error, "in use");
        close(fd);
    }
}

TEST("a page is served when there is one, and its address is logged") {
    char root[PATH_SIZE], page[PATH_SIZE];
    name_file(root, "root");
    assert_int_equal(mkdir(root, 0700), 0);
    assert_int_equal(serve("--web", "127.0.0.1:0", "--web-root", root), 0);
    expect(out, "web tick=");
    expect(out, "address=\"127.0.0.1:");
    expect(out, "page=\"none\"");
    assert_string_equal(error, "");
    name_file(page, "root/index.html");
    write_file(page, "<!doctype html>");
    assert_int_equal(serve("--web", "127.0.0.1:0", "--web-root", root), 0);
    expect(out, root);
    assert_int_equal(serve("--core-dumps"), 0);
    assert_null(strstr(out, "page="));
}

TEST("a server of a fleet learns its address and port from where the fleet says") {
    assert_int_equal(run("--seconds", "1", "--agones"), 1);
    expect(error, "--agones: no address for clients; --public may name one: nothing at port 9358");
    static const char *const wrong[] = {"0", "65536", "", "x"};
    for (uint32_t i = 0; i < 4; ++i) {
        setenv("AGONES_SDK_HTTP_PORT", wrong[i], 1);
        assert_int_equal(run("--seconds", "1", "--agones"), 1);
        expect(error, "AGONES_SDK_HTTP_PORT");
        assert_null(strstr(error, "--public"));
    }
    static const char *const right[] = {"1", "65535"};
    for (uint32_t i = 0; i < 2; ++i) {
        char part[64];
        setenv("AGONES_SDK_HTTP_PORT", right[i], 1);
        assert_int_equal(run("--seconds", "1", "--agones"), 1);
        snprintf(part, sizeof part, "nothing at port %s\n", right[i]);
        expect(error, part);
    }
    assert_int_equal(serve("--agones", "--public", "192.0.2.1:4"), 0);
    agones_address = "192.0.2.1:4";
    assert_int_equal(serve("--agones"), 0);
    assert_string_equal(error, "");
    unsetenv("AGONES_SDK_HTTP_PORT");
}

TEST("a file that changed is read again on a signal, and refused with its line if it is wrong") {
    char file[PATH_SIZE];
    name_file(file, "config.json");
    write_file(file, "{\"stats-interval\": 0}");
    const pid_t child = start(0, (const char *const[]){"--config", file, NULL});
    wait_for_line(said[0], "listening");
    write_file(file, "{\n \"stats-interval\": 1,\n \"clients-max\": 5\n}");
    assert_int_equal(kill(child, SIGHUP), 0);
    wait_for_line(said[0], "reloaded");
    expect(out, "changed=\"stats-interval\" left=\"clients-max\"");
    wait_for_line(said[0], "stats");
    write_file(file, "{\n \"stats-interval\": -1}");
    assert_int_equal(kill(child, SIGHUP), 0);
    wait_for_line(said[0], "reload_refused");
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(end(0, child), 0);
    expect(out, "line=2 column=20");
    expect(out, "ended");
}

TEST("a server that nobody is in ends soon after a signal, however long it may drain") {
    struct timespec begin, done;
    const pid_t child = start(0, (const char *const[]){"--drain-seconds", "15", NULL});
    wait_for_line(said[0], "listening");
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &begin), 0);
    assert_int_equal(kill(child, SIGHUP), 0); // there is no file to read again
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(end(0, child), 0);
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &done), 0);
    assert_in_range(done.tv_sec - begin.tv_sec, 0, 10);
    expect(out, "ends_soon");
    expect(out, "the server ends in 15 s");
    assert_null(strstr(out, "reload"));
    expect(out, "ended");
}

// Asks the server at `path` to be followed. Returns the socket.
static int ask_to_follow(const char *path, uint64_t end_ns) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const cairn_hand_over_build build = cairn_hand_over_build_own();
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    while (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        assert_true(cairn_uv_now_ns() < end_ns);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_true(cairn_hand_over_send(fd, CAIRN_HAND_OVER_ASKS, &build, sizeof build, -1, end_ns));
    return fd;
}

static cairn_hand_over_kind hear_record(int fd, uint64_t end_ns, size_t *size) {
    cairn_hand_over_record record;
    assert_true(cairn_hand_over_receive(fd, end_ns, &record));
    const cairn_hand_over_kind kind = record.kind;
    *size = record.size;
    cairn_hand_over_record_free(&record);
    if (record.passed_fd >= 0) {
        close(record.passed_fd);
    }
    return kind;
}

// Follows the server at `path` up to its clients, and agrees with everything. Returns the socket.
static int follow_to_clients(const char *path) {
    const uint64_t end_ns = cairn_uv_now_ns() + PATIENCE_S * CAIRN_NS_PER_S;
    const int fd = ask_to_follow(path, end_ns);
    cairn_hand_over_agreed agreed = {.ticks_min = 1000000};
    for (;;) {
        size_t size;
        const cairn_hand_over_kind kind = hear_record(fd, end_ns, &size);
        if (kind == CAIRN_HAND_OVER_CLIENTS) {
            return fd;
        }
        if (kind == CAIRN_HAND_OVER_ROOM || kind == CAIRN_HAND_OVER_TICKS) {
            agreed.records += 1;
            assert_true(cairn_hand_over_send(
                fd, CAIRN_HAND_OVER_AGREED, &agreed, sizeof agreed, -1, end_ns));
        }
    }
}

TEST("a follower that fails at the end leaves the server as it was, to be followed by another") {
    static const struct {
        cairn_hand_over_kind kind; // of what it says; 0: it goes
        const char *text, *why;
    } rows[] = {{0, "", "the new process did not take the clients in time"},
        {CAIRN_HAND_OVER_REFUSED, "no memory", "no memory"},
        {CAIRN_HAND_OVER_GO, "", "the new process said what does not belong here"}};
    char path[PATH_SIZE];
    name_file(path, "hand-over");
    const pid_t child = start(0, (const char *const[]){"--hand-over", path, NULL});
    wait_for_line(said[0], "listening");
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const int fd = follow_to_clients(path);
        if (rows[i].kind != 0) {
            assert_true(cairn_hand_over_send(fd, rows[i].kind, rows[i].text, strlen(rows[i].text),
                -1, cairn_uv_now_ns() + CAIRN_NS_PER_S));
        } else {
            close(fd);
        }
        wait_for_line(said[0], rows[i].why);
        if (rows[i].kind != 0) {
            close(fd);
        }
        assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    }
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(end(0, child), 0);
    assert_null(strstr(out, "handed_over"));
    expect(out, "ended");
    assert_string_equal(error, "");
    assert_false(exists(path));
}

TEST("a follower that reads late gets the whole of a room that is larger than what the system "
     "keeps for it") {
    char path[PATH_SIZE];
    size_t size = 0;
    name_file(path, "hand-over");
    write_file(scene,
        "{\"name\": \"large\", \"body_capacity\": 8192, \"shape_capacity\": 8192, \"bodies\": ["
        "{\"kind\": \"static\", \"grid_count\": [80, 1, 80], \"grid_spacing\": [2, 1, 2],"
        " \"shapes\": [{\"kind\": \"box\", \"half_extents\": [0.5, 0.5, 0.5]}]}]}");
    const pid_t child = start(0, (const char *const[]){"--hand-over", path, NULL});
    wait_for_line(said[0], "listening");
    const uint64_t end_ns = cairn_uv_now_ns() + CAIRN_NS_PER_S * 5;
    const int fd = ask_to_follow(path, end_ns);
    wait_for_line(said[0], "hand_over_began");
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    while (hear_record(fd, end_ns, &size) != CAIRN_HAND_OVER_ROOM) {}
    assert_true(size > 500000); // the system keeps some 200 kB
    close(fd);
    wait_for_line(said[0], "the new process is gone");
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(end(0, child), 0);
    assert_string_equal(error, "");
}

TEST("a server whose room does not return from a step says so, and ends all the same") {
    char room[2 * PATH_SIZE];
    write_ruled(room, "stuck", "endless");
    const pid_t child = start(0, (const char *const[]){"--room", room, NULL}); // beside another one
    wait_for_line(said[0], "listening");
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); // some ticks
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(end(0, child), 1);
    expect(out, "room_abandoned");
    expect(out, "a room's step did not return");
}

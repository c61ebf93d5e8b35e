// SPDX-License-Identifier: MIT
// cairnd as a whole, in a process for each run: with what code it ends, and what it says.
#define _GNU_SOURCE
#include "tests/kit/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/agones/agones.h"
#include <cairn/programs.h>

// The longest life of a server here; it ends a test that fails.
#define PATIENCE_S 20
#define PATH_SIZE 96
#define ARGUMENTS_MAX 24

static char folder[64];
static char scene[PATH_SIZE];
static char said[2][PATH_SIZE], complained[2][PATH_SIZE]; // of two servers at once
static char out[16384], error[4096];                      // what the last run wrote
static cairn_status agones_status;

// Replaces that of agones.c (CMakeLists.txt).
cairn_status __wrap_cairn_agones_open(const cairn_agones_config *config, cairn_agones **agones);
cairn_status __wrap_cairn_agones_open(const cairn_agones_config *config, cairn_agones **agones) {
    (void)config;
    *agones = NULL;
    return agones_status;
}

static void name_file(char path[PATH_SIZE], const char *name) {
    snprintf(path, PATH_SIZE, "%s/%s", folder, name);
}

BEFORE_EACH {
    snprintf(folder, sizeof folder, "/tmp/cairnd-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    name_file(scene, "scene.json");
    name_file(said[0], "said");
    name_file(said[1], "said-by-other");
    name_file(complained[0], "complained");
    name_file(complained[1], "complained-by-other");
    FILE *file = fopen(scene, "w");
    assert_non_null(file);
    fputs("{\"name\": \"small\"}", file);
    fclose(file);
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
    setenv("CAIRN_KEY", "0101010101010101010101010101010101010101010101010101010101010101", 1);
    if (freopen(said[number], "w", stdout) == NULL ||
        freopen(complained[number], "w", stderr) == NULL) {
        _exit(99);
    }
    exit(cairnd_main(argc, argv, NULL, 0));
}

static pid_t start(unsigned number, const char *const *arguments) {
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

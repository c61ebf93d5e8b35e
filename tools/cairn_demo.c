// SPDX-License-Identifier: MIT
// Everything in one command: a server with a stack and a field of boxes and, in a second room, a
// thousand boxes; six clients over loopback UDP, one of which corrupts its own world and is healed;
// at the end the recording is stepped again. Fails if a hash differs that was not corrupted on
// purpose, a client did not play, healing cost too much or the stack fell.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/flags.h"
#include "program/key.h"
#include "program/system.h"
#include "tools/demo/process.h"
#include "tools/demo/report.h"

#define PATH_SIZE 512
#define ARGUMENTS_MAX 32

typedef struct demo {
    uint64_t seconds;
    bool stay;                // after the clients, until a signal
    char programs[PATH_SIZE]; // folder of cairnd and the others
    char folder[PATH_SIZE];   // temporary
    char key_file[PATH_SIZE];
    char recording[PATH_SIZE];
    cairn_process_set *processes;
    cairn_process *server;
    cairn_process *clients[CAIRN_DEMO_CLIENTS];
    cairn_demo_report report;
    double start_s;
} demo;

static volatile sig_atomic_t stopped = 0;

static void on_signal(int signal_number) {
    (void)signal_number;
    stopped = 1;
}

static double now_s(void) {
    return (double)cairn_monotonic_ns() * 1e-9;
}

static bool put_path(char out[PATH_SIZE], const char *folder, const char *name) {
    int size = snprintf(out, PATH_SIZE, "%s/%s", folder, name);
    return size > 0 && size < PATH_SIZE;
}

static bool make_folder(demo *d) {
    const char *temporary = getenv("TMPDIR");
    bool fits = put_path(d->folder, temporary != NULL ? temporary : "/tmp", "cairn-demo-XXXXXX");
    if (!fits || mkdtemp(d->folder) == NULL) {
        d->folder[0] = '\0';
        return false;
    }
    uint8_t key[CAIRN_KEY_SIZE];
    return put_path(d->key_file, d->folder, "key") &&
           put_path(d->recording, d->folder, "recording.cairn") &&
           cairn_system_random(key, sizeof key) && cairn_key_file_write(d->key_file, key);
}

// NULL when it cannot be started.
static cairn_process *start_program(const demo *d, const char *program, const char *const *rest,
    cairn_process_listener on_line, void *user) {
    char path[PATH_SIZE];
    char *argv[ARGUMENTS_MAX] = {path};
    size_t count = 1;
    // uv_spawn does not write through its argv; C has no way to say so in its type.
    for (; rest[count - 1] != NULL && count + 1 < ARGUMENTS_MAX; count++) {
        memcpy(&argv[count], &rest[count - 1], sizeof argv[count]);
    }
    return put_path(path, d->programs, program)
               ? cairn_process_start(d->processes, argv, on_line, user)
               : NULL;
}

static bool start_server(demo *d) {
    const char *const arguments[] = {"--listen", "127.0.0.1:0", "--key-file", d->key_file,
        "--scene", "demo", "--room", "thousand=thousand", "--record", d->recording, "--log", "json",
        "--stats-interval", "1", "--web", "127.0.0.1:0", "--dev", "--control", NULL};
    d->server =
        start_program(d, "cairnd", arguments, cairn_demo_read_server_line, &d->report.server);
    const double until_s = now_s() + 10;
    while (d->server != NULL && !cairn_process_ended(d->server) && !stopped &&
           d->report.server.web[0] == '\0' && now_s() < until_s) {
        cairn_process_set_run(d->processes, 20);
    }
    return d->report.server.web[0] != '\0';
}

static bool start_client(demo *d, int i) {
    static const struct {
        const char *name;
        const char *mode;
        const char *inputs;
        bool late;
        const char *input_delay_ms; // a short path would need no prediction
        const char *room;           // NULL: the first
        const char *damage;
    } plans[CAIRN_DEMO_CLIENTS] = {
        {"pusher", "interpolate", "push", false, "0", NULL, "0"},
        {"walker", "interpolate", "random", false, "0", NULL, "0"},
        {"lockstep", "lockstep", "random", false, "0", NULL, "0"},
        {"latecomer", "lockstep", "random", true, "0", NULL, "0"},
        {"predictor", "predict", "random", false, "1", NULL, "0"},
        {"healer", "heal", "none", false, "0", "thousand", "1"},
    };
    uint64_t wait_s = plans[i].late ? d->seconds / 3 : 0;
    char seconds[24], wait[24], number[24], column[64];
    snprintf(seconds, sizeof seconds, "%llu", (unsigned long long)(d->seconds - wait_s));
    snprintf(wait, sizeof wait, "%llu", (unsigned long long)wait_s);
    snprintf(number, sizeof number, "%d", i + 1);
    snprintf(column, sizeof column, "%g,%g,%g", CAIRN_DEMO_STACK_X, CAIRN_DEMO_STACK_Z,
        CAIRN_DEMO_STACK_RADIUS_M);
    const char *const arguments[] = {"--key", d->key_file, "--server", d->report.server.address,
        "--client-id", number, "--seed", number, "--name", plans[i].name, "--mode", plans[i].mode,
        "--inputs", plans[i].inputs, "--input-delay", plans[i].input_delay_ms, "--seconds", seconds,
        "--join-after", wait, "--json-stats", "1", "--column", column, "--damage", plans[i].damage,
        plans[i].room == NULL ? NULL : "--room", plans[i].room, NULL};
    d->report.clients[i].name = plans[i].name;
    d->report.clients[i].mode = plans[i].mode;
    d->clients[i] = start_program(
        d, "cairn-bot", arguments, cairn_demo_read_client_line, &d->report.clients[i]);
    return d->clients[i] != NULL;
}

static void watch_programs(demo *d) {
    const double begin_s = now_s();
    const double until_s = begin_s + (double)d->seconds + 5;
    double next_s = begin_s + 1;
    bool ended = false;
    while (!stopped && now_s() < until_s && !ended && !cairn_process_ended(d->server)) {
        cairn_process_set_run(d->processes, 50);
        ended = true;
        for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
            ended = ended && cairn_process_ended(d->clients[i]);
        }
        if (now_s() >= next_s) {
            cairn_demo_draw(&d->report, now_s() - begin_s, (double)d->seconds);
            next_s += 1;
        }
    }
}

// Waits for the end of a process, at most for `limit_s` and until the next signal.
static void wait_for_end(const demo *d, const cairn_process *process, double limit_s) {
    const double until_s = now_s() + limit_s;
    const sig_atomic_t before = stopped;
    while (!cairn_process_ended(process) && now_s() < until_s && stopped == before) {
        cairn_process_set_run(d->processes, 50);
    }
}

static void print_web(const demo *d) {
    printf(d->report.server.has_page ? "the page is at http://%s/\n"
                                     : "no page is installed; counters are at http://%s/metrics\n",
        d->report.server.web);
    fflush(stdout); // also into a file or a pipe, which somebody reads meanwhile
}

// Ctrl-C at a terminal ends the server as well; a second signal would kill it.
static void stay(demo *d) {
    printf("the server runs on; Ctrl-C ends it\n");
    print_web(d);
    while (!stopped && !cairn_process_ended(d->server)) {
        cairn_process_set_run(d->processes, 50);
    }
    stopped = 0;
    wait_for_end(d, d->server, 1);
}

static void print_line(void *user, const char *line) {
    (void)user;
    printf("recording            %s\n", line);
}

static int run_demo(demo *d) {
    if (!make_folder(d)) {
        fprintf(stderr, "cairn-demo: no temporary folder: %s\n", strerror(errno));
        return 1;
    }
    if (!start_server(d)) {
        fprintf(stderr, "cairn-demo: %s/cairnd did not start to listen\n", d->programs);
        return 1;
    }
    printf("cairnd listens on %s; six clients join, one of them late\n", d->report.server.address);
    print_web(d);
    for (int i = 0; i < CAIRN_DEMO_CLIENTS; i++) {
        if (!start_client(d, i)) {
            fprintf(stderr, "cairn-demo: %s/cairn-bot cannot be started\n", d->programs);
            return 1;
        }
    }
    watch_programs(d);
    const bool server_ran = !cairn_process_ended(d->server);
    if (d->stay && server_ran && !stopped) {
        stay(d);
    }
    cairn_process_ask_to_end(d->server);
    wait_for_end(d, d->server, 5);
    if (stopped) {
        printf("stopped\n");
        return 130;
    }
    if (!server_ran || cairn_process_code(d->server) != 0) {
        printf("FAILED: the server ended with %d\n", cairn_process_code(d->server));
    }
    const char *const arguments[] = {"verify", d->recording, NULL};
    const cairn_process *replay = start_program(d, "cairn-replay", arguments, print_line, NULL);
    if (replay != NULL) {
        wait_for_end(d, replay, 60);
    }
    const bool verified = replay != NULL && cairn_process_code(replay) == 0;
    const int broken = cairn_demo_sum_up(&d->report, verified);
    return broken > 0 || !server_ran || cairn_process_code(d->server) != 0 ? 1 : 0;
}

int main(int argc, char **argv) {
    static demo d = {.seconds = 20};
    const char *programs = NULL;
    const cairn_flag flags[] = {
        {"--seconds", NULL, "N", "how long the clients play (20)", CAIRN_FLAG_U64,
            .out = &d.seconds, .least = 3, .most = 3600},
        {"--stay", NULL, NULL, "keep serving when the clients have left, until Ctrl-C",
            CAIRN_FLAG_SWITCH, .out = &d.stay},
        {"--programs", NULL, "FOLDER",
            "where cairnd, cairn-bot and cairn-replay are (beside this program)", CAIRN_FLAG_TEXT,
            .out = &programs},
    };
    cairn_flags_program program = {
        .name = "cairn-demo",
        .usage = "[FLAGS]",
        .about = "Runs a server and six clients over loopback, then steps the recording again and "
                 "sums up.",
        .notes =
            "Exits with 0 when all is well, 1 when a check failed, and 2 when a flag is wrong.",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags,
    };
    const cairn_flags_result result = cairn_flags_read(&program, argc, argv, NULL);
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? 2 : 0;
    }
    const char *slash = strrchr(argv[0], '/');
    const char *folder = slash != NULL ? argv[0] : ".";
    const int length = slash != NULL ? (int)(slash - argv[0]) : 1;
    snprintf(d.programs, sizeof d.programs, "%.*s", programs != NULL ? PATH_SIZE : length,
        programs != NULL ? programs : folder);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    d.report.terminal = isatty(STDOUT_FILENO) != 0;
    d.processes = cairn_process_set_create();
    const int code = d.processes == NULL ? 1 : run_demo(&d);
    cairn_process_set_destroy(d.processes);
    cairn_demo_report_end(&d.report);
    if (d.folder[0] != '\0') {
        remove(d.key_file);
        remove(d.recording);
        rmdir(d.folder);
    }
    return code;
}

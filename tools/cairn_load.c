// SPDX-License-Identifier: MIT
// Many clients in one process, to measure a server from outside.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "program/flags.h"
#include "program/key.h"
#include "program/system.h"
#include "rules_file/rules_flag.h"
#include "tools/load/fleet.h"
#include "tools/load/report.h"
#include <cairn/server.h>

enum { EXIT_OK = 0, EXIT_NOT_CONNECTED = 1, EXIT_USAGE = 2 };

// After the last client began to join, before measuring begins.
#define SETTLE_NS CAIRN_NS_PER_S
// How long the last clients may take to play, so that they are measured.
#define PLAY_NS (10 * CAIRN_NS_PER_S)

typedef struct program {
    load_config config;
    load_fleet fleet;
    load_times times;
    const char *csv; // NULL: none is written
    bool json;
    char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE];
} program;

static volatile sig_atomic_t stopped = 0;

static void on_signal(int signal_number) {
    (void)signal_number;
    stopped = 1;
}

static uint64_t wall_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * CAIRN_NS_PER_S + (uint64_t)now.tv_nsec;
}

// False: p->error says why.
static bool run_until(program *p, uint64_t end_ns) {
    while (!stopped && cairn_monotonic_ns() < end_ns) {
        if (!load_fleet_turn(&p->fleet, p->config.clients, end_ns, p->error)) {
            return false;
        }
    }
    return true;
}

static bool join(program *p) {
    const uint64_t begin_ns = cairn_monotonic_ns();
    const uint64_t spread_ns = p->config.join_seconds * CAIRN_NS_PER_S;
    p->times.join_from_ns = wall_clock_ns();
    p->times.watched_before_joins = load_usage_read(p->times.watched);
    while (!stopped && p->fleet.begun < p->config.clients) {
        const uint64_t passed_ns = cairn_monotonic_ns() - begin_ns;
        const uint32_t due = passed_ns >= spread_ns
                                 ? p->config.clients
                                 : 1 + (uint32_t)((p->config.clients - 1) * passed_ns / spread_ns);
        const uint64_t next_ns = begin_ns + (uint64_t)due * spread_ns / p->config.clients;
        if (!load_fleet_turn(&p->fleet, due, next_ns, p->error)) {
            return false;
        }
    }
    const uint64_t last_ns = cairn_monotonic_ns() + PLAY_NS;
    while (!stopped && cairn_monotonic_ns() < last_ns &&
           load_fleet_count(&p->fleet, CAIRN_CLIENT_PLAYING) +
                   load_fleet_count(&p->fleet, CAIRN_CLIENT_FAILED) <
               p->config.clients) {
        if (!run_until(p, cairn_monotonic_ns() + CAIRN_NS_PER_S / 10)) {
            return false;
        }
    }
    return run_until(p, cairn_monotonic_ns() + SETTLE_NS);
}

static bool measure(program *p) {
    const uint32_t own = (uint32_t)getpid();
    p->times.from_ns = wall_clock_ns();
    p->times.own_before = load_usage_read(own);
    p->times.watched_before = load_usage_read(p->times.watched);
    load_fleet_measure(&p->fleet, true);
    const bool run = run_until(p, cairn_monotonic_ns() + p->config.seconds * CAIRN_NS_PER_S);
    p->times.to_ns = wall_clock_ns();
    p->times.own_after = load_usage_read(own);
    p->times.watched_after = load_usage_read(p->times.watched);
    load_fleet_measure(&p->fleet, false);
    return run;
}

static int report(program *p) {
    if (p->json) {
        load_report_print_json(&p->fleet, &p->times);
    } else {
        load_report_print(&p->fleet, &p->times);
    }
    if (p->csv != NULL && !load_report_write_csv(&p->fleet, &p->times, p->csv)) {
        fprintf(stderr, "cairn-load: %s: %s\n", p->csv, strerror(errno));
        return EXIT_USAGE;
    }
    const uint32_t playing = load_fleet_count(&p->fleet, CAIRN_CLIENT_PLAYING);
    if (playing == p->config.clients || stopped) {
        return EXIT_OK;
    }
    const char *why = "it was not playing when time was up";
    for (uint32_t i = 0; i < p->config.clients; i++) {
        const char *text = cairn_client_failure_text(p->fleet.clients[i].client);
        why = text[0] != '\0' ? text : why;
    }
    fprintf(stderr, "cairn-load: %u of %u clients do not play; the last one: %s\n",
        (unsigned)(p->config.clients - playing), (unsigned)p->config.clients, why);
    return EXIT_NOT_CONNECTED;
}

static int run(program *p) {
    int status = EXIT_NOT_CONNECTED;
    if (load_fleet_create(&p->config, &p->fleet, p->error) && join(p) && measure(p)) {
        status = report(p);
        load_fleet_leave(&p->fleet);
    } else {
        fprintf(stderr, "cairn-load: %s\n", p->error);
    }
    load_fleet_destroy(&p->fleet);
    return status;
}

static const char *read_room(void *out, const char *value, bool first) {
    load_config *config = out;
    config->room_count = first ? 0 : config->room_count;
    if (config->room_count == LOAD_ROOMS_MAX) {
        return "must not be given more than 64 times";
    }
    config->rooms[config->room_count++] = value;
    return NULL;
}

static cairn_flags_result read_flags(int argc, char **argv, program *p) {
    static const char *const modes[] = {"interpolate", "lockstep", NULL};
    static const char *const plans[] = {"none", "random", NULL};
    load_config *config = &p->config;
    cairn_token_source *source = &config->source;
    uint32_t mode = CAIRN_CLIENT_INTERPOLATE, inputs = 0;
    const cairn_flag flags[] = {
        {"--key", NULL, "FILE", "the servers' private key, to issue connect tokens with",
            CAIRN_FLAG_CUSTOM, .out = &source->key, .read = cairn_key_flag_file, .secret = true},
        {"--server", NULL, "HOST:PORT", "the server; repeatable: a client tries them in order",
            CAIRN_FLAG_CUSTOM, .out = &source->server, .read = cairn_host_flag},
        {"--protocol-id", NULL, "ID", "of the tokens (0x636169726e)", CAIRN_FLAG_U64,
            .out = &source->protocol_id},
        {"--client-id", NULL, "ID", "of the first client; the others count from it (1)",
            CAIRN_FLAG_U64, .out = &source->client_id},
        {"--clients", NULL, "N", "how many (100)", CAIRN_FLAG_U32, .out = &config->clients,
            .least = 1, .most = LOAD_CLIENTS_MAX},
        {"--join-seconds", NULL, "S", "spread the joins over this time; 0: at once (2)",
            CAIRN_FLAG_U32, .out = &config->join_seconds, .most = 3600},
        {"--seconds", NULL, "S", "measure for this long once all play (10)", CAIRN_FLAG_U32,
            .out = &config->seconds, .least = 1, .most = 86400},
        {"--mode", NULL, "MODE", "interpolate (snapshots) or lockstep (ticks) (interpolate)",
            CAIRN_FLAG_CHOICE, .out = &mode, .words = modes},
        {"--spectator", NULL, NULL, "join without player slots", CAIRN_FLAG_SWITCH,
            .out = &config->client.spectator},
        {"--room", NULL, "NAME", "room to join (the server's first); repeatable: by turns",
            CAIRN_FLAG_CUSTOM, .out = config, .read = read_room},
        {"--rules", "CAIRN_RULES", "FILE",
            "lockstep: a game's rules (a shared object, docs/RULES.md); repeatable",
            CAIRN_FLAG_CUSTOM, .out = config, .read = cairn_rules_flag_read},
        {"--inputs", NULL, "PLAN", "of players: none or random (none)", CAIRN_FLAG_CHOICE,
            .out = &inputs, .words = plans},
        {"--seed", NULL, "N", "seed of the inputs (1)", CAIRN_FLAG_U64, .out = &config->seed},
        {"--watch", NULL, "PID",
            "a server on this machine: report its processor time and memory as well",
            CAIRN_FLAG_U32, .out = &p->times.watched, .least = 1},
        {"--csv", NULL, "FILE", "write a line for each client", CAIRN_FLAG_TEXT, .out = &p->csv},
        {"--json", NULL, NULL, "print one line of JSON; times in microseconds", CAIRN_FLAG_SWITCH,
            .out = &p->json},
    };
    cairn_flags_program described = {
        .name = "cairn-load",
        .usage = "--key FILE --server HOST:PORT [FLAGS]",
        .about = "Many clients in one process: joins a server, acknowledges what it sends, and "
                 "measures it from outside.",
        .notes =
            "The clients keep no world: they check what arrives up to the bodies of snapshots, "
            "and report the\nserver's hashes as their own. A client that predicts costs a "
            "server what one in lockstep does.\nExits with 0 when all clients play at the "
            "end, 1 when some do not, 2 when a flag is wrong.",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags,
    };
    const cairn_flags_result result = cairn_flags_read(&described, argc, argv, NULL);
    config->client.mode = (cairn_client_mode)mode;
    config->client.rules = cairn_rules_last();
    config->inputs = inputs == 1;
    return result;
}

int main(int argc, char **argv) {
    static program p;
    p.config = (load_config){
        .clients = 100,
        .source = {.protocol_id = CAIRN_PROTOCOL_ID_DEFAULT, .client_id = 1},
        .client = cairn_client_config_default(),
        .rooms = {""},
        .room_count = 1,
        .join_seconds = 2,
        .seconds = 10,
        .seed = 1,
    };
    p.config.client.bodies_max = 1;
    p.config.client.shapes_max = 1;
    cairn_system_forbid_core_dumps();
    const cairn_flags_result result = read_flags(argc, argv, &p);
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? EXIT_USAGE : EXIT_OK;
    }
    if (!p.config.source.key.given || p.config.source.server.count == 0) {
        fprintf(stderr, "cairn-load: --key and --server are needed; --help explains them\n");
        return EXIT_USAGE;
    }
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    return run(&p);
}

// SPDX-License-Identifier: MIT
// What a datagram costs a server without the system: a server in memory, and clients that
// acknowledge what they are sent and keep nothing. Its instructions repeat exactly:
//
//     valgrind --tool=callgrind --toggle-collect=serve_measured bench_datagrams --seconds 1
//
// and the collected instructions, divided by the datagrams that it prints.
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/random.h"
#include "bridge/scene_library.h"
#include "client_lib/client_probe.h"
#include "program/flags.h"
#include <cairn/client.h>
#include <cairn/scene.h>
#include <cairn/server.h>
#include <cairn/token.h>

#define TICK_RATE_HZ 60
#define SETTLE_TICKS 120
#define START_NS (5 * CAIRN_NS_PER_S)
#define UNIX_S UINT64_C(1000000)
#define CLIENTS_MAX 1024
#define JOINS_IN_TICK 16
#define DATAGRAMS_MAX (8 * CLIENTS_MAX) // that arrive in a tick
#define COLD_SIZE (8u << 20)            // more than the caches of one processor
#define DELAY 3                         // ticks, each way

typedef struct bench {
    const char *scene;
    uint32_t clients;
    uint32_t seconds; // measured
    uint32_t mode;    // cairn_client_mode
    bool players;
    bool cold;
} bench;
static bench options = {.scene = "cubes901", .clients = 200, .seconds = 5};

typedef struct datagram {
    uint32_t client;
    uint32_t size;
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
} datagram;

typedef struct batch {
    uint32_t count;
    datagram items[DATAGRAMS_MAX];
} batch;

typedef struct network {
    cairn_server *server;
    cairn_client *clients[CLIENTS_MAX];
    uint64_t now_ns;
    uint64_t tick;
    uint32_t joined;
    batch up[DELAY + 1], down[DELAY + 1]; // by the tick at which they arrive
    uint64_t received, sent;              // by the server
    cairn_random random;
} network;

static const uint8_t secret[CAIRN_KEY_SIZE] = {1, 2, 3};
static const cairn_address server_address = {
    .family = CAIRN_ADDRESS_IPV4, .port = 40000, .ip = {10, 0, 0, 1}};

static void expect(bool good, const char *what) {
    if (!good) {
        fprintf(stderr, "bench_datagrams: %s\n", what);
        exit(1);
    }
}

static void receive(network *n, const batch *up) {
    for (uint32_t i = 0; i < up->count; ++i) {
        const cairn_address from = {.family = CAIRN_ADDRESS_IPV4,
            .port = (uint16_t)(50000 + up->items[i].client),
            .ip = {10, 0, 0, 2}};
        cairn_server_receive(n->server, n->now_ns, &from, up->items[i].bytes, up->items[i].size);
    }
}

static void send(network *n, batch *down) {
    cairn_address to;
    datagram *next = &down->items[0];
    while ((next->size = (uint32_t)cairn_server_send(n->server, n->now_ns, &to, next->bytes)) > 0) {
        next->client = to.port - 50000u;
        down->count += 1;
        CAIRN_ASSERT(down->count < DATAGRAMS_MAX);
        next = &down->items[down->count];
    }
}

// All that the server does in a tick.
static void serve(network *n) {
    batch *up = &n->up[n->tick % (DELAY + 1)];
    batch *down = &n->down[(n->tick + DELAY) % (DELAY + 1)];
    receive(n, up);
    cairn_server_advance(n->server, n->now_ns);
    send(n, down);
    n->received += up->count;
    n->sent += down->count;
    up->count = 0;
}

// The same. Only this is timed, and has a name of its own for a profiler.
__attribute__((noinline)) static void serve_measured(network *n) {
    serve(n);
    __asm__ volatile("");
}

static void play(network *n) {
    batch *down = &n->down[n->tick % (DELAY + 1)];
    batch *up = &n->up[(n->tick + DELAY) % (DELAY + 1)];
    for (uint32_t i = 0; i < down->count; ++i) {
        const datagram *d = &down->items[i];
        cairn_client_receive(n->clients[d->client], n->now_ns, &server_address, d->bytes, d->size);
    }
    down->count = 0;
    for (uint32_t i = 0; i < n->joined; ++i) {
        datagram *next = &up->items[up->count];
        cairn_client_advance(n->clients[i], n->now_ns);
        while (
            (next->size = (uint32_t)cairn_client_send(n->clients[i], n->now_ns, next->bytes)) > 0) {
            next->client = i;
            up->count += 1;
            CAIRN_ASSERT(up->count < DATAGRAMS_MAX);
            next = &up->items[up->count];
        }
    }
}

static void join(network *n) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    const uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    const uint32_t i = n->joined++;
    cairn_client_config config = cairn_client_config_default();
    config.mode = (cairn_client_mode)options.mode;
    config.spectator = !options.players;
    config.bodies_max = 1;
    config.shapes_max = 1;
    cairn_random_fill(&n->random, entropy, sizeof entropy);
    const cairn_token_request request = {.protocol_id = CAIRN_PROTOCOL_ID_DEFAULT,
        .client_id = i + 1,
        .create_unix_s = UNIX_S,
        .lifetime_s = 30,
        .timeout_s = 10,
        .server_addresses = &server_address,
        .server_count = 1,
        .private_key = secret,
        .user_data = user_data,
        .entropy = entropy};
    expect(cairn_token_issue(&request, token) == CAIRN_OK, "a token cannot be issued");
    expect(cairn_client_create(&config, &n->clients[i]) == CAIRN_OK, "out of memory for a client");
    cairn_client_probe_ignore_world(n->clients[i]);
    (void)cairn_client_connect(n->clients[i], n->now_ns, UNIX_S + 1, token);
}

static void next_tick(network *n) {
    n->tick += 1;
    n->now_ns = START_NS + n->tick * CAIRN_NS_PER_S / TICK_RATE_HZ + 1000;
}

static network *start(void) {
    network *n = calloc(1, sizeof *n);
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene = NULL;
    const cairn_scene_text *text = cairn_scene_library_find(options.scene);
    expect(n != NULL, "out of memory");
    expect(text != NULL, "no such scene");
    expect(cairn_scene_parse(text->json, text->size, &scene, error) == CAIRN_OK, error);
    *n = (network){.now_ns = START_NS, .random = cairn_random_of(1)};
    cairn_server_config config = cairn_server_config_default();
    config.private_key = secret;
    config.entropy = secret;
    config.public_addresses = &server_address;
    config.public_address_count = 1;
    config.clients_max = CLIENTS_MAX;
    config.start_ns = START_NS;
    config.start_unix_ns = UNIX_S * CAIRN_NS_PER_S;
    config.first_room.scene = scene;
    config.first_room.players_max = CAIRN_SLOTS_MAX;
    expect(cairn_server_create(&config, &n->server) == CAIRN_OK, "the server cannot be created");
    cairn_scene_destroy(scene);
    return n;
}

// Leaves nothing of the server in the processor's own caches, as what else runs between two ticks.
static void spoil_caches(void) {
    static uint8_t other[COLD_SIZE];
    for (size_t i = 0; i < sizeof other; i += 64) {
        *(volatile uint8_t *)&other[i] += 1;
    }
}

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * CAIRN_NS_PER_S + (uint64_t)now.tv_nsec;
}

static int run(void) {
    network *n = start();
    for (uint32_t settled = 0; settled < SETTLE_TICKS; settled += n->joined == options.clients) {
        next_tick(n);
        for (uint32_t k = 0; k < JOINS_IN_TICK && n->joined < options.clients; ++k) {
            join(n);
        }
        serve(n);
        play(n);
    }
    uint64_t ns = 0;
    n->received = n->sent = 0;
    for (uint32_t tick = 0; tick < options.seconds * TICK_RATE_HZ; ++tick) {
        next_tick(n);
        if (options.cold) {
            spoil_caches();
        }
        const uint64_t before_ns = cpu_ns();
        serve_measured(n);
        ns += cpu_ns() - before_ns;
        play(n);
    }
    cairn_server_statistics statistics;
    cairn_server_statistics_read(n->server, &statistics);
    const uint64_t datagrams = n->received + n->sent;
    printf("%" PRIu32 " clients, %" PRIu64 " datagrams received and %" PRIu64 " sent in %" PRIu32
           " s: %" PRIu64 ", %.2f us for each\n",
        statistics.clients, n->received, n->sent, options.seconds, datagrams,
        (double)ns / 1000.0 / (double)datagrams);
    for (uint32_t i = 0; i < n->joined; ++i) {
        cairn_client_destroy(n->clients[i]);
    }
    cairn_server_destroy(n->server);
    free(n);
    return statistics.clients == options.clients ? 0 : 1;
}

int main(int argc, char **argv) {
    static const char *const modes[] = {"interpolate", "lockstep", NULL};
    options.mode = CAIRN_CLIENT_LOCKSTEP;
    static const cairn_flag flags[] = {
        {"--scene", NULL, "NAME", "a built-in one (cubes901)", CAIRN_FLAG_TEXT,
            .out = &options.scene},
        {"--clients", NULL, "N", "that are served (200)", CAIRN_FLAG_U32, .out = &options.clients,
            .least = 1, .most = CLIENTS_MAX},
        {"--mode", NULL, "MODE", "interpolate or lockstep (lockstep)", CAIRN_FLAG_CHOICE,
            .out = &options.mode, .words = modes},
        {"--players", NULL, NULL, "clients with slots, up to 256", CAIRN_FLAG_SWITCH,
            .out = &options.players},
        {"--cold", NULL, NULL, "with caches that hold something else when a tick begins",
            CAIRN_FLAG_SWITCH, .out = &options.cold},
        {"--seconds", NULL, "S", "measured (5)", CAIRN_FLAG_U32, .out = &options.seconds,
            .least = 1, .most = 3600},
    };
    cairn_flags_program program = {.name = "bench_datagrams",
        .usage = "[FLAGS]",
        .about = "Measures what a datagram costs a server without the system.",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    const cairn_flags_result result = cairn_flags_read(&program, argc, argv, NULL);
    return result == CAIRN_FLAGS_READ ? run() : result == CAIRN_FLAGS_REFUSED ? 1 : 0;
}

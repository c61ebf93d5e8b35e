// SPDX-License-Identifier: MIT
// What it costs to send many clients their parts of a large world: a server in memory, bodies that
// wander without touching, and clients that cross the field, acknowledge what they are sent and
// keep nothing. The time of the world alone is measured first and taken off.
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/random.h"
#include "client_lib/client_probe.h"
#include "program/flags.h"
#include "schema/scene.h"
#include "server/core/server_state.h"
#include <cairn/client.h>
#include <cairn/math.h>
#include <cairn/rules.h>
#include <cairn/server.h>
#include <cairn/sim.h>
#include <cairn/token.h>

#define SPACING_M 4.0f
#define TICK_RATE_HZ 60
#define SPEED 6 // m/s
#define BORN_MAX 4096
#define JOIN_S 4 // and until views are full
#define START_NS (5 * CAIRN_NS_PER_S)
#define UNIX_S UINT64_C(1000000)
#define DATAGRAMS_MAX 4096 // that arrive in a tick
#define DELAYS 8           // ticks

typedef struct bench {
    uint32_t bodies;
    uint32_t clients;
    uint32_t near;    // bodies that a client sees at most
    uint32_t moving;  // of a hundred bodies
    uint32_t seconds; // measured
    uint32_t bytes;   // of each client in a second; 0: as many as the path allows
    uint32_t shapes;  // of each body
    uint32_t loss_permille;
    uint32_t speed; // of a client, m/s
    bool together;  // clients are in one place
    bool spread;    // as far from each other as the field allows
    uint32_t born;  // bodies in a second, in the place of others
} bench;
static bench options = {
    .bodies = 20000, .clients = 200, .near = 500, .moving = 100, .seconds = 5, .speed = SPEED};

// ------------------------------------------------------------------------------------- the world

typedef struct field {
    cairn_body_id players[CAIRN_SLOTS_MAX];
    uint32_t gone[BORN_MAX]; // places on the lattice of bodies that vanished
} field;

static uint32_t side(void) {
    return (uint32_t)ceilf(sqrtf((float)options.bodies));
}

// On a lattice.
static void put_body(cairn_world *world, uint32_t i) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_id body = 0;
    cairn_shape_id id = 0;
    def.position =
        (cairn_vec3){(float)(i % side()) * SPACING_M, 1.0f, (float)(i / side()) * SPACING_M};
    def.user = i;
    (void)cairn_body_create(world, &def, &body);
    shape.mask = 0;
    for (uint32_t k = 0; k < options.shapes; ++k) {
        (void)cairn_shape_create(world, body, &shape, &id);
    }
}

static void start(cairn_world *world, void *state) {
    (void)state;
    for (uint32_t i = 0; i < options.bodies; ++i) {
        put_body(world, i);
    }
}

// Bodies vanish, and others are born half a second later in their places.
static void bear(cairn_world *world, field *f, const cairn_body_state *states, uint32_t count) {
    const uint64_t tick = cairn_world_tick(world);
    const uint64_t half_a_second = options.born / 2 + 1;
    for (uint64_t n = tick * options.born / TICK_RATE_HZ;
         n < (tick + 1) * options.born / TICK_RATE_HZ; ++n) {
        const cairn_body_state *gone = &states[n * 7919 % count];
        f->gone[n % BORN_MAX] = UINT32_MAX;
        if (gone->owner == CAIRN_SLOT_NONE && cairn_body_destroy(world, gone->id) == CAIRN_OK) {
            f->gone[n % BORN_MAX] = gone->user;
        }
        const uint32_t place =
            n < half_a_second ? UINT32_MAX : f->gone[(n - half_a_second) % BORN_MAX];
        if (place != UINT32_MAX) {
            put_body(world, place);
        }
    }
}

// Each body turns towards another way every half second, and its speed changes: steps of 1 m/s and
// 2 rad/s, around where it began.
static void wander(cairn_world *world, field *f, uint32_t from, uint64_t tick) {
    static cairn_body_state states[CAIRN_BODIES_MAX];
    const uint32_t count = cairn_world_bodies(world, states, CAIRN_BODIES_MAX);
    for (uint32_t i = from; i < count; i += 30) {
        const uint32_t home = states[i].user;
        if (states[i].owner != CAIRN_SLOT_NONE || home * 61 % 100 >= options.moving) {
            continue;
        }
        cairn_random random = cairn_random_of(tick * CAIRN_BODIES_MAX + home);
        const float home_x = (float)(home % side()) * SPACING_M;
        const float home_z = (float)(home / side()) * SPACING_M;
        const cairn_vec3 at = states[i].position;
        const cairn_vec3 v = {4.0f * cairn_random_unit(&random) - 2.0f + 0.5f * (home_x - at.x),
            2.0f * cairn_random_unit(&random) - 1.0f + 0.5f * (1.0f - at.y),
            4.0f * cairn_random_unit(&random) - 2.0f + 0.5f * (home_z - at.z)};
        const cairn_vec3 w = {4.0f * cairn_random_unit(&random) - 2.0f,
            4.0f * cairn_random_unit(&random) - 2.0f, 4.0f * cairn_random_unit(&random) - 2.0f};
        (void)cairn_body_set_velocity(world, states[i].id, v, w);
    }
    bear(world, f, states, count);
}

// Of a client on the field. One that is faster than others begins as much further inside as it
// goes.
static cairn_vec3 place_of(uint32_t slot) {
    const float size = (float)side() * SPACING_M;
    const float further = options.speed > SPEED ? 4.0f * (float)(options.speed - SPEED) : 0.0f;
    const float margin = further < 0.5f * size ? further : 0.5f * size;
    const uint32_t row = (uint32_t)ceilf(sqrtf((float)options.clients));
    cairn_random random = cairn_random_of(slot);
    float x = cairn_random_unit(&random);
    float z = cairn_random_unit(&random);
    if (options.spread) {
        x = ((float)(slot % row) + 0.5f) / (float)row;
        z = ((float)(slot / row) + 0.5f) / (float)((options.clients + row - 1) / row);
    }
    const float inside = options.together ? 1.0f : size - 2.0f * margin;
    const float from = options.together ? 0.5f * size : margin;
    return (cairn_vec3){from + inside * x, 1.0f, from + inside * z};
}

static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    field *f = state;
    const uint64_t tick = cairn_world_tick(world);
    for (uint32_t i = 0; i < command_count; ++i) {
        const uint32_t slot = commands[i].slot;
        if (commands[i].kind == CAIRN_COMMAND_JOIN) {
            cairn_body_def def = cairn_body_def_default();
            def.position = place_of(slot);
            (void)cairn_body_create(world, &def, &f->players[slot]);
            (void)cairn_body_set_owner(world, f->players[slot], slot);
        }
    }
    wander(world, f, (uint32_t)(tick % 30), tick);
    for (uint32_t slot = 0; slot < CAIRN_SLOTS_MAX; ++slot) { // back and forth
        if (f->players[slot] != 0 && (tick + 7 * slot) % 240 == 0) {
            const float speed = (float)options.speed;
            const float sign = (tick + 7 * slot) % 480 == 0 ? speed : -speed;
            (void)cairn_body_set_velocity(world, f->players[slot],
                (cairn_vec3){slot % 2 == 0 ? sign : 0.0f, 0.0f, slot % 2 == 0 ? 0.0f : sign},
                (cairn_vec3){0});
        }
    }
}

static const cairn_rules rules = {
    .name = "field", .version = 1, .state_size = sizeof(field), .start = start, .step = step};

// A body leaves at nine eighths of the distance at which it enters.
static uint32_t view_distance_m(void) {
    return (uint32_t)(SPACING_M * sqrtf((float)options.near / 3.1416f) * 8.0f / 9.0f);
}

// ------------------------------------------------------------------------------------- the network

typedef struct datagram {
    uint32_t client;
    uint32_t size;
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
} datagram;

typedef struct batch {
    uint32_t count;
    datagram items[DATAGRAMS_MAX];
} batch;

// Each client's path takes a whole number of ticks.
typedef struct network {
    cairn_server *server;
    cairn_client *clients[CAIRN_SLOTS_MAX];
    uint64_t now_ns;
    uint64_t tick;
    uint32_t joined;
    batch up[DELAYS], down[DELAYS]; // by the tick at which they arrive
    batch sent;                     // by the server in this tick
    uint64_t server_ns;             // processor time
    uint64_t bytes[CAIRN_SLOTS_MAX];
    uint64_t datagrams;
    cairn_random random;
} network;

static const uint8_t secret[CAIRN_KEY_SIZE] = {1, 2, 3};
static const cairn_address server_address = {
    .family = CAIRN_ADDRESS_IPV4, .port = 40000, .ip = {10, 0, 0, 1}};

static cairn_address client_address(uint32_t i) {
    return (cairn_address){
        .family = CAIRN_ADDRESS_IPV4, .port = (uint16_t)(50000 + i), .ip = {10, 0, 0, 2}};
}

static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * CAIRN_NS_PER_S + (uint64_t)now.tv_nsec;
}

// From 17 to 67 ms, each way.
static uint64_t delay_of(uint32_t client) {
    return 1 + client % 4;
}

static void add(batch *to, uint32_t client, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(to->count < DATAGRAMS_MAX);
    datagram *d = &to->items[to->count++];
    d->client = client;
    d->size = (uint32_t)size;
    memcpy(d->bytes, bytes, size);
}

static bool is_lost(network *n) {
    return cairn_random_below(&n->random, 1000) < options.loss_permille;
}

// What the server does in a tick: only this is timed.
static void serve(network *n) {
    batch *up = &n->up[n->tick % DELAYS];
    const uint64_t before_ns = cpu_ns();
    for (uint32_t i = 0; i < up->count; ++i) {
        const cairn_address from = client_address(up->items[i].client);
        cairn_server_receive(n->server, n->now_ns, &from, up->items[i].bytes, up->items[i].size);
    }
    cairn_server_advance(n->server, n->now_ns);
    n->sent.count = 0;
    cairn_address to;
    datagram *next = &n->sent.items[0];
    while ((next->size = (uint32_t)cairn_server_send(n->server, n->now_ns, &to, next->bytes)) > 0) {
        next->client = to.port - 50000u;
        next = &n->sent.items[++n->sent.count];
        CAIRN_ASSERT(n->sent.count < DATAGRAMS_MAX);
    }
    n->server_ns += cpu_ns() - before_ns;
    up->count = 0;
}

static void deliver(network *n) {
    for (uint32_t i = 0; i < n->sent.count; ++i) {
        const datagram *d = &n->sent.items[i];
        n->bytes[d->client] += d->size;
        n->datagrams += 1;
        if (!is_lost(n)) {
            add(&n->down[(n->tick + delay_of(d->client)) % DELAYS], d->client, d->bytes, d->size);
        }
    }
    batch *down = &n->down[n->tick % DELAYS];
    for (uint32_t i = 0; i < down->count; ++i) {
        const datagram *d = &down->items[i];
        cairn_client_receive(n->clients[d->client], n->now_ns, &server_address, d->bytes, d->size);
    }
    down->count = 0;
}

static void play(network *n) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    const cairn_client_input input = {.move = {1.0f, 0.0f, 0.0f}};
    for (uint32_t i = 0; i < n->joined; ++i) {
        size_t size;
        (void)cairn_client_push_input(n->clients[i], &input);
        cairn_client_advance(n->clients[i], n->now_ns);
        while ((size = cairn_client_send(n->clients[i], n->now_ns, bytes)) > 0) {
            if (!is_lost(n)) {
                add(&n->up[(n->tick + delay_of(i)) % DELAYS], i, bytes, size);
            }
        }
    }
}

static void expect(cairn_status status, const char *what) {
    if (status != CAIRN_OK) {
        fprintf(stderr, "bench_views: %s\n", what);
        exit(1);
    }
}

static void join(network *n) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    const uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    const uint32_t i = n->joined++;
    cairn_client_config config = cairn_client_config_default();
    config.mode = CAIRN_CLIENT_INTERPOLATE;
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
    expect(cairn_token_issue(&request, token), "a token cannot be issued");
    expect(cairn_client_create(&config, &n->clients[i]), "out of memory for a client");
    cairn_client_probe_ignore_world(n->clients[i]);
    (void)cairn_client_connect(n->clients[i], n->now_ns, UNIX_S + 1, token);
}

static void run_tick(network *n) {
    n->tick += 1;
    n->now_ns = START_NS + n->tick * CAIRN_NS_PER_S / TICK_RATE_HZ + 1000;
    serve(n);
    deliver(n);
    play(n);
}

// ----------------------------------------------------------------------------------- the figures

static const cairn_scene *scene(void) {
    static cairn_scene made;
    made = cairn_scene_default();
    memcpy(made.name, "field", sizeof "field");
    made.world.body_capacity = options.bodies + CAIRN_SLOTS_MAX;
    made.world.body_capacity =
        made.world.body_capacity < CAIRN_BODIES_MAX ? made.world.body_capacity : CAIRN_BODIES_MAX;
    made.world.shape_capacity = options.bodies * options.shapes + 1;
    made.world.contact_capacity = 64;
    made.world.gravity = (cairn_vec3){0.001f, -0.001f, 0.001f};
    made.world.sleep = options.moving == 0; // then all but the players sleep
    made.world.tick_rate_hz = TICK_RATE_HZ;
    return &made;
}

static network *start_server(void) {
    network *n = calloc(1, sizeof *n);
    cairn_server_config config = cairn_server_config_default();
    if (n == NULL) {
        expect(CAIRN_OUT_OF_MEMORY, "out of memory");
    }
    *n = (network){.now_ns = START_NS, .random = cairn_random_of(1)};
    config.private_key = secret;
    config.entropy = secret;
    config.public_addresses = &server_address;
    config.public_address_count = 1;
    config.clients_max = CAIRN_SLOTS_MAX;
    config.start_ns = START_NS;
    config.start_unix_ns = UNIX_S * CAIRN_NS_PER_S;
    config.first_room.scene = scene();
    config.first_room.rules = &rules;
    config.first_room.players_max = CAIRN_SLOTS_MAX;
    config.first_room.view_distance_m = view_distance_m();
    config.first_room.client_bytes_per_second = options.bytes;
    expect(cairn_server_create(&config, &n->server), "the server cannot be created");
    return n;
}

static void end_server(network *n) {
    for (uint32_t i = 0; i < n->joined; ++i) {
        cairn_client_destroy(n->clients[i]);
    }
    cairn_server_destroy(n->server);
    free(n);
}

// Processor time of a second of the world without clients.
static double world_alone_ms(void) {
    network *n = start_server();
    for (uint32_t tick = 0; tick < TICK_RATE_HZ * 2; ++tick) {
        n->server_ns = tick == TICK_RATE_HZ ? 0 : n->server_ns;
        run_tick(n);
    }
    const double ms = (double)n->server_ns / 1e6;
    end_server(n);
    return ms;
}

typedef struct view_figures {
    double members_mean;
    uint32_t members_most;
    double waited_ms; // the longest that a body waits now
} view_figures;

static view_figures look_at_views(const network *n) {
    view_figures out = {0};
    const cairn_room *room = cairn_room_table_at(&n->server->rooms, CAIRN_ROOM_MAIN);
    for (const cairn_session *at = room->members; at != NULL; at = at->member_next) {
        const cairn_view *view = at->replication->view;
        for (uint32_t m = 0; view != NULL && m < view->count; ++m) {
            const uint64_t since = view->members[m].waiting;
            const uint64_t ticks = since == 0 ? 0 : room->scheduler.tick - since;
            const double ms = 1000.0 * (double)ticks / TICK_RATE_HZ;
            out.waited_ms = ms > out.waited_ms ? ms : out.waited_ms;
        }
        const uint32_t count = view != NULL ? view->count : 0;
        out.members_mean += (double)count / options.clients;
        out.members_most = count > out.members_most ? count : out.members_most;
    }
    return out;
}

static int run(void) {
    const double world_ms = world_alone_ms();
    network *n = start_server();
    cairn_server_statistics before, after;
    for (uint32_t tick = 0; tick < JOIN_S * TICK_RATE_HZ; ++tick) {
        for (uint32_t k = 0; k < 4 && tick > 10 && n->joined < options.clients; ++k) {
            join(n);
        }
        run_tick(n);
    }
    n->server_ns = n->datagrams = 0;
    memset(n->bytes, 0, sizeof n->bytes);
    cairn_server_statistics_read(n->server, &before);
    view_figures worst = {0};
    for (uint32_t tick = 0; tick < options.seconds * TICK_RATE_HZ; ++tick) {
        run_tick(n);
        const view_figures now = look_at_views(n);
        worst.members_mean = now.members_mean;
        worst.members_most =
            now.members_most > worst.members_most ? now.members_most : worst.members_most;
        worst.waited_ms = now.waited_ms > worst.waited_ms ? now.waited_ms : worst.waited_ms;
    }
    cairn_server_statistics_read(n->server, &after);
    double sum = 0.0, most = 0.0;
    for (uint32_t i = 0; i < options.clients; ++i) {
        const double kb = (double)n->bytes[i] / 1000.0 / options.seconds;
        sum += kb;
        most = kb > most ? kb : most;
    }
    const double all_ms = (double)n->server_ns / 1e6 / options.seconds;
    const uint64_t parts = after.total.parts_sent - before.total.parts_sent;
    printf("%" PRIu32 " bodies, %" PRIu32 " %% in motion; %" PRIu32
           " clients, each sees %.0f, at most %" PRIu32 "\n",
        options.bodies, options.moving, after.total.clients, worst.members_mean,
        worst.members_most);
    printf("a second of the server: %.0f ms, of the world alone %.0f ms, of serving %.0f ms\n",
        all_ms, world_ms, all_ms - world_ms);
    printf("a client: %.1f kB/s, the most %.1f; %.1f parts/s; a body waits at most %.0f ms\n",
        sum / options.clients, most, (double)parts / options.clients / options.seconds,
        worst.waited_ms);
    printf("%.1f us for each part, %.0f datagrams/s\n",
        1000.0 * (all_ms - world_ms) * options.seconds / (double)(parts > 0 ? parts : 1),
        (double)n->datagrams / options.seconds);
    end_server(n);
    return 0;
}

int main(int argc, char **argv) {
    static const cairn_flag flags[] = {
        {"--bodies", NULL, "N", "of the world (20000)", CAIRN_FLAG_U32, .out = &options.bodies,
            .least = 1, .most = CAIRN_BODIES_MAX - CAIRN_SLOTS_MAX},
        {"--clients", NULL, "N", "that play (200)", CAIRN_FLAG_U32, .out = &options.clients,
            .least = 1, .most = CAIRN_SLOTS_MAX},
        {"--near", NULL, "N", "bodies that a client sees at most (500)", CAIRN_FLAG_U32,
            .out = &options.near, .least = 4, .most = CAIRN_BODIES_MAX},
        {"--moving", NULL, "PERCENT", "of the bodies (100)", CAIRN_FLAG_U32, .out = &options.moving,
            .most = 100},
        {"--shapes", NULL, "N", "of each body (0)", CAIRN_FLAG_U32, .out = &options.shapes,
            .most = 4},
        {"--bytes", NULL, "N", "of a client in a second (0: as many as its path allows)",
            CAIRN_FLAG_U32, .out = &options.bytes, .most = 1000000},
        {"--loss", NULL, "PERMILLE", "of the datagrams (0)", CAIRN_FLAG_U32,
            .out = &options.loss_permille, .most = 500},
        {"--speed", NULL, "M/S", "of a client (6)", CAIRN_FLAG_U32, .out = &options.speed,
            .most = 100},
        {"--together", NULL, NULL, "clients are in one place", CAIRN_FLAG_SWITCH,
            .out = &options.together},
        {"--spread", NULL, NULL, "clients are as far from each other as the field allows",
            CAIRN_FLAG_SWITCH, .out = &options.spread},
        {"--born", NULL, "N", "bodies in a second, for others that vanish (0)", CAIRN_FLAG_U32,
            .out = &options.born, .most = BORN_MAX},
        {"--seconds", NULL, "S", "measured (5)", CAIRN_FLAG_U32, .out = &options.seconds,
            .least = 1, .most = 3600},
    };
    cairn_flags_program program = {.name = "bench_views",
        .usage = "[FLAGS]",
        .about = "Measures what parts of a large world for many clients cost the server.",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    const cairn_flags_result result = cairn_flags_read(&program, argc, argv, NULL);
    return result == CAIRN_FLAGS_READ ? run() : result == CAIRN_FLAGS_REFUSED ? 1 : 0;
}

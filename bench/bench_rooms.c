// SPDX-License-Identifier: MIT
// The cost of many rooms in one process: rooms of stacked cubes that stay awake, stepped in real
// time by the driver of cairnd, or as fast as possible to count instructions.
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench/rooms_clients.h"
#include "program/flags.h"
#include "schema/scene.h"
#include <cairn/server.h>
#include <cairn/server_uv.h>
#include <cairn/sim.h>
#include <cairn/types.h>

#define STACK_HEIGHT 10
#define JOIN_S 5

typedef struct bench {
    uint32_t rooms;
    uint32_t bodies;
    uint32_t seconds;
    uint32_t ticks; // > 0: this many of each room, as fast as possible
    uint32_t inline_us;
    uint32_t clients;
    bool interpolating;
    bool threads;
    bool sleep;
    cairn_server *server;
    cairn_uv_driver *driver;
    bool measuring;
    struct rusage before; // when measuring began
} bench;

// Stacks of ten cubes on a floor.
static const cairn_scene *scene_of(const bench *b) {
    static cairn_scene_body bodies[2];
    static cairn_scene_shape shapes[2];
    static cairn_scene scene;
    const uint32_t stacks = (b->bodies + STACK_HEIGHT - 1) / STACK_HEIGHT;
    bodies[0] = (cairn_scene_body){.def = {.kind = CAIRN_BODY_STATIC, .rotation = {0, 0, 0, 1}},
        .grid_count = {1, 1, 1},
        .shape_count = 1};
    bodies[1] = (cairn_scene_body){.def = {.kind = CAIRN_BODY_DYNAMIC,
                                       .position = {0, 0.5f, 0},
                                       .rotation = {0, 0, 0, 1},
                                       .gravity_scale = 1,
                                       .allow_sleep = b->sleep ? 1 : 0},
        .grid_count = {stacks, STACK_HEIGHT, 1},
        .grid_spacing = {2, 1, 0},
        .first_shape = 1,
        .shape_count = 1};
    shapes[0].def = shapes[1].def = cairn_shape_def_default(); // a cube
    shapes[0].def.kind = CAIRN_SHAPE_HALF_SPACE;
    scene = cairn_scene_default();
    strcpy(scene.name, "stacks");
    strcpy(scene.rules, "sandbox");
    scene.world.body_capacity = stacks * STACK_HEIGHT + 16;
    scene.world.shape_capacity = stacks * STACK_HEIGHT + 16;
    scene.world.joint_capacity = 1;
    scene.world.contact_capacity = stacks * STACK_HEIGHT * 4;
    scene.world.sleep = b->sleep ? 1 : 0;
    scene.bodies = bodies;
    scene.body_count = 2;
    scene.shapes = shapes;
    scene.shape_count = 2;
    return &scene;
}

static uint64_t on_clock(void *user) {
    (void)user;
    return cairn_uv_now_ns();
}

static bool on_job(void *user, cairn_server_job *job) {
    const bench *b = user;
    return cairn_uv_driver_run_job(b->driver, job);
}

static void on_event(void *user, const cairn_server_event *event) {
    (void)user;
    if (event->level == CAIRN_LOG_ERROR) {
        fprintf(stderr, "bench_rooms: %s: %s\n", event->name, event->detail);
    }
}

static const uint8_t secret[CAIRN_KEY_SIZE] = {1};

static bool create_server(bench *b) {
    const cairn_address address = cairn_uv_driver_address(b->driver);
    cairn_server_config config = cairn_server_config_default();
    config.private_key = secret;
    config.entropy = secret;
    config.public_addresses = &address;
    config.public_address_count = 1;
    config.start_unix_ns = cairn_uv_unix_ns();
    config.clients_max = b->clients > 0 ? b->clients * b->rooms : config.clients_max;
    config.rooms_max = b->rooms;
    config.start_ns = cairn_uv_now_ns();
    config.clock_ns = on_clock;
    config.on_event = on_event;
    config.inline_step_us_max = b->inline_us;
    config.run_job = b->threads ? on_job : NULL;
    config.user = b;
    if (cairn_server_create(&config, &b->server) != CAIRN_OK) {
        return false;
    }
    for (uint32_t i = 0; i < b->rooms; ++i) {
        char name[CAIRN_ROOM_NAME_SIZE];
        snprintf(name, sizeof name, "room-%" PRIu32, i);
        cairn_server_room_config room = cairn_server_room_config_default();
        room.name = name;
        room.scene = scene_of(b);
        uint32_t id;
        if (cairn_server_room_create(b->server, cairn_uv_now_ns(), &room, &id, NULL) !=
            CAIRN_ROOM_CREATED) {
            return false;
        }
    }
    return true;
}

static struct rusage used_now(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used;
}

static uint64_t cpu_us(const struct rusage *used) {
    return (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 +
           (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
}

static void report(const bench *b) {
    const struct rusage used = used_now();
    const uint64_t used_us = cpu_us(&used) - cpu_us(&b->before);
    cairn_server_statistics now;
    cairn_server_statistics_read(b->server, &now);
    printf("%" PRIu32 " rooms, %" PRIu32 " bodies, %" PRIu32 " awake, %s, %ld kB\n", now.rooms,
        now.total.bodies, now.total.bodies_awake, b->threads ? "threads" : "one thread",
        used.ru_maxrss);
    printf("tick %" PRIu64 ", skipped %" PRIu64 ", CPU %" PRIu64 " us", now.total.tick,
        now.total.ticks_skipped, used_us);
    if (b->ticks == 0) {
        printf(", %" PRIu64 " us of each second", used_us / b->seconds);
    }
    printf("\ntick cost us p50 %" PRIu64 " p99 %" PRIu64 " max %" PRIu64
           ", lateness us p50 %" PRIu64 " p99 %" PRIu64 " max %" PRIu64 "\n",
        now.total.tick_cost_ns_p50 / 1000, now.total.tick_cost_ns_p99 / 1000,
        now.total.tick_cost_ns_max / 1000, now.total.tick_lateness_ns_p50 / 1000,
        now.total.tick_lateness_ns_p99 / 1000, now.total.tick_lateness_ns_max / 1000);
}

static void start_measuring(void *user) {
    bench *b = user;
    cairn_server_statistics now;
    if (!b->measuring) {
        b->measuring = true;
        b->before = used_now();
        cairn_server_statistics_read(b->server, &now);
        printf("%" PRIu32 " clients play\n", now.total.clients);
    }
}

// Clients join in the first seconds, which are not measured.
static void run_in_real_time(bench *b) {
    const bench_clients clients = {.rooms = b->rooms,
        .each = b->clients,
        .interpolating = b->interpolating,
        .server = cairn_uv_driver_address(b->driver),
        .key = secret};
    const uint32_t join_s = b->clients > 0 ? JOIN_S : 0;
    const cairn_uv_run driven = {.server = b->server,
        .seconds = b->seconds + join_s,
        .stats_interval_s = join_s,
        .on_stats = start_measuring,
        .user = b};
    const pid_t pid = b->clients > 0 ? bench_clients_start(&clients) : -1;
    cairn_uv_driver_run(b->driver, &driven);
    if (pid > 0) {
        kill(pid, SIGTERM);
        waitpid(pid, NULL, 0);
    }
}

static int run_rooms(bench *b) {
    cairn_address listen;
    char error[CAIRN_UV_ERROR_SIZE];
    if (!cairn_address_parse("127.0.0.1:0", &listen) ||
        cairn_uv_driver_open(&listen, &b->driver, error) != CAIRN_OK || !create_server(b)) {
        fprintf(stderr, "bench_rooms: the server cannot be created\n");
        return 1;
    }
    b->before = used_now();
    cairn_server_statistics now = {0};
    while (now.total.tick < b->ticks) {
        for (uint32_t i = 0; i < b->rooms; ++i) {
            cairn_server_advance(b->server, cairn_server_deadline_ns(b->server));
        }
        cairn_server_statistics_read(b->server, &now);
    }
    if (b->ticks == 0) {
        run_in_real_time(b);
    }
    report(b);
    cairn_server_destroy(b->server);
    cairn_uv_driver_close(b->driver);
    return 0;
}

int main(int argc, char **argv) {
    static bench b = {.rooms = 100, .bodies = 50, .seconds = 20, .inline_us = 200};
    static const cairn_flag flags[] = {
        {"--rooms", NULL, "N", "rooms (100)", CAIRN_FLAG_U32, .out = &b.rooms, .least = 1,
            .most = CAIRN_ROOMS_MAX},
        {"--bodies", NULL, "N", "cubes in each (50)", CAIRN_FLAG_U32, .out = &b.bodies, .least = 1,
            .most = 4000},
        {"--seconds", NULL, "S", "real time to run (20)", CAIRN_FLAG_U32, .out = &b.seconds,
            .least = 1, .most = 3600},
        {"--ticks", NULL, "N", "run this many ticks of each room without waiting instead",
            CAIRN_FLAG_U32, .out = &b.ticks, .least = 1, .most = 100000},
        {"--threads", NULL, NULL, "step expensive rooms on threads, as cairnd does",
            CAIRN_FLAG_SWITCH, .out = &b.threads},
        {"--inline", NULL, "US", "with --threads: cost below which a room is cheap (200)",
            CAIRN_FLAG_U32, .out = &b.inline_us, .least = 0, .most = 1000000},
        {"--clients", NULL, "N", "clients of each room, in another process (0)", CAIRN_FLAG_U32,
            .out = &b.clients, .most = 8},
        {"--interpolate", NULL, NULL, "they are sent snapshots instead of ticks", CAIRN_FLAG_SWITCH,
            .out = &b.interpolating},
        {"--sleep", NULL, NULL, "let bodies sleep", CAIRN_FLAG_SWITCH, .out = &b.sleep},
    };
    cairn_flags_program program = {.name = "bench_rooms",
        .usage = "[FLAGS]",
        .about = "Measures what many rooms in one process cost.",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    const cairn_flags_result result = cairn_flags_read(&program, argc, argv, NULL);
    return result == CAIRN_FLAGS_READ ? run_rooms(&b) : result == CAIRN_FLAGS_REFUSED ? 1 : 0;
}

// SPDX-License-Identifier: MIT
// usage: loop_times [BODIES [MICROSECONDS]]
//
// How long each verb of an operator, and each request of a client whose world differs, holds the
// loop: the processor time of the longest turn of the server between the request and its answer,
// and the least of five such requests. Tasks run outside
// the turns, as on the driver's thread. The room has BODIES boxes on a floor (default 10000), a
// recording, and one client that simulates. Fails if a verb takes longer than MICROSECONDS.
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "sim/serialize/sketch.h"
#include "tests/kit/scenes.h"
#include "tests/server/story.h"

#define REPEATS 5

static story s; // too large for a stack
static story_answer answer;
static const cairn_scene *boxes;
static uint64_t limit_ns = UINT64_MAX;
static bool all_within = true;

static uint64_t processor_ns(void) {
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * CAIRN_NS_PER_S + (uint64_t)spent.tv_nsec;
}

static const cairn_scene *find_scene(void *user, const char *name) {
    (void)user;
    return strcmp(name, "boxes") == 0 ? boxes : NULL;
}

static const cairn_scene *scene_of(uint32_t bodies) {
    static char json[1024];
    uint32_t side = 1;
    while (side * side < bodies) {
        ++side;
    }
    const uint32_t capacity = side * side + 300;
    snprintf(json, sizeof json,
        "{'name': 'boxes', 'rules': 'sandbox', 'body_capacity': %" PRIu32
        ", 'shape_capacity': %" PRIu32 ", 'joint_capacity': 4, 'contact_capacity': %" PRIu32
        ", 'seed': 1, 'bodies': ["
        "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
        "{'kind': 'dynamic', 'position': [0, 0.5, 0], 'grid_count': [%" PRIu32 ", 1, %" PRIu32
        "], 'grid_spacing': [2, 1, 2],"
        " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}",
        capacity, capacity, 6 * capacity, side, side);
    return kit_scene(json);
}

// Tasks run between the turns.
static void run_ms(uint32_t ms) {
    for (uint32_t i = 0; i < ms; i += 4) {
        s.holds_tasks = true;
        story_run_ms(&s, 4);
        story_run_tasks(&s);
    }
}

// The longest turn until the answer, and while clients are sent what it changed.
static uint64_t ask_once(cairn_control_request request) {
    const uint32_t before = answer.count;
    run_ms(500); // a room's world is replaced twice a second
    request.number = 1000 + before;
    s.turn_ns_max = 0;
    kit_send_request(&s, 0, request);
    for (uint32_t i = 0; i < 1000 && answer.count == before; ++i) {
        run_ms(4);
    }
    run_ms(100);
    CAIRN_ASSERT(answer.count == before + 1);
    CAIRN_ASSERT(answer.answer.refusal == CAIRN_CONTROL_DONE);
    return s.turn_ns_max;
}

static void report(const char *name, uint64_t turn_ns) {
    printf("%-12s %8.1f us\n", name, (double)turn_ns / 1e3);
    all_within = all_within && turn_ns <= limit_ns;
}

static void measure(const char *name, cairn_control_request request) {
    uint64_t least_ns = UINT64_MAX;
    for (uint32_t i = 0; i < REPEATS; ++i) {
        if (request.verb == CAIRN_CONTROL_FORK && i > 0) {
            kit_do(&s, .verb = CAIRN_CONTROL_ROOM_DESTROY, .room = request.fork.name);
        }
        if (request.verb == CAIRN_CONTROL_ROOM_CREATE && i > 0) {
            kit_do(&s, .verb = CAIRN_CONTROL_ROOM_DESTROY, .room = request.room_create.name);
        }
        if (request.verb == CAIRN_CONTROL_ROOM_DESTROY && i > 0) {
            kit_do(&s, .verb = CAIRN_CONTROL_FORK, .fork = {.name = request.room});
        }
        if (request.verb == CAIRN_CONTROL_SPAWN_BOX || request.verb == CAIRN_CONTROL_EXPLODE) {
            // Edits of one tick share a copy of the world.
            kit_do(&s, .verb = CAIRN_CONTROL_STEP, .step = {1});
        }
        const uint64_t turn_ns = ask_once(request);
        least_ns = turn_ns < least_ns ? turn_ns : least_ns;
    }
    report(name, least_ns);
}

#define MEASURE(name, ...) measure(name, (cairn_control_request){__VA_ARGS__})

static void measure_join(void) {
    kit_do(&s, .verb = CAIRN_CONTROL_RESUME);
    uint64_t least_ns = UINT64_MAX;
    for (uint32_t i = 0; i < REPEATS; ++i) {
        run_ms(2500); // the newest state is too old then
        const uint64_t before = story_statistics(&s).total.states_encoded;
        s.turn_ns_max = 0;
        story_join(&s, CAIRN_MODE_LOCKSTEP, true);
        run_ms(1000);
        CAIRN_ASSERT(story_statistics(&s).total.states_encoded > before);
        least_ns = s.turn_ns_max < least_ns ? s.turn_ns_max : least_ns;
    }
    report("join", least_ns);
}

// A request of a client about a tick of the room's past.
static void measure_past(const char *name, uint32_t want, uint32_t cells) {
    static uint8_t sketch[CAIRN_DIFFERENCE_SKETCH_SIZE_MAX];
    uint64_t least_ns = UINT64_MAX;
    for (uint32_t i = 0; i < REPEATS; ++i) {
        const uint32_t before = s.clients[0].responses[CAIRN_RESYNC_DONE];
        run_ms(1000); // the credit comes back
        cairn_sketch_build(s.clients[0].world, 1024, sketch);
        cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST,
            .resync_request = {.tick = cairn_world_tick(s.clients[0].world),
                .want = want,
                .world_epoch = s.clients[0].world_epoch,
                .difference_sketch = sketch,
                .difference_sketch_size = cells * CAIRN_SKETCH_CELL_SIZE}};
        s.turn_ns_max = 0;
        story_send(&s, 0, &message, true);
        run_ms(500);
        CAIRN_ASSERT(s.clients[0].responses[CAIRN_RESYNC_DONE] == before + 1);
        least_ns = s.turn_ns_max < least_ns ? s.turn_ns_max : least_ns;
    }
    report(name, least_ns);
}

int main(int argc, char **argv) {
    mallopt(M_MMAP_THRESHOLD, 128 * 1024); // as cairnd does
    const uint32_t bodies = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
    limit_ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000 : limit_ns;
    boxes = scene_of(bodies);
    cairn_server_config config = story_config();
    config.first_room.scene = boxes;
    config.find_scene = find_scene;
    config.control = true;
    kit_start_with(&s, &answer, &config);
    story_run_ms(&s, 3000); // the boxes sleep
    kit_do(&s, .verb = CAIRN_CONTROL_PAUSE);
    s.clock_ns = processor_ns;
    MEASURE("step 1", .verb = CAIRN_CONTROL_STEP, .step = {1});
    MEASURE("bodies", .verb = CAIRN_CONTROL_BODIES, .bodies = {.first = bodies / 2});
    MEASURE("hash", .verb = CAIRN_CONTROL_HASH);
    MEASURE("state", .verb = CAIRN_CONTROL_STATE);
    MEASURE("ray", .verb = CAIRN_CONTROL_RAY,
        .ray = {.origin = {0, 50, 0}, .translation = {0, -100, 0}});
    const cairn_control_request spawn = {.verb = CAIRN_CONTROL_SPAWN_BOX,
        .spawn_box = {.position = {0.5f, 5, 0}, .half_extents = {0.5f, 0.5f, 0.5f}}};
    report("first spawn", ask_once(spawn)); // a copy of the world is kept from then on
    measure("spawn", spawn);
    MEASURE("explode", .verb = CAIRN_CONTROL_EXPLODE,
        .explode = {.mask = UINT32_MAX, .centre = {0, 1, 0}, .radius = 1, .impulse_per_area = 1});
    MEASURE("save", .verb = CAIRN_CONTROL_SAVE, .save = {"early"});
    MEASURE("load", .verb = CAIRN_CONTROL_LOAD, .load = {"early"});
    MEASURE("reset", .verb = CAIRN_CONTROL_RESET);
    MEASURE("fork", .verb = CAIRN_CONTROL_FORK, .fork = {.name = "other"});
    MEASURE("diff", .verb = CAIRN_CONTROL_DIFF, .diff = {"other"});
    MEASURE("create", .verb = CAIRN_CONTROL_ROOM_CREATE,
        .room_create = {.name = "new", .scene = "boxes", .paused = true});
    MEASURE("destroy", .verb = CAIRN_CONTROL_ROOM_DESTROY, .room = "new");
    kit_do(&s, .verb = CAIRN_CONTROL_STEP, .step = {60});
    MEASURE("seek", .verb = CAIRN_CONTROL_SEEK, .seek = {story_tick(&s) - 10});
    measure_join();
    measure_past("sketch", CAIRN_RESYNC_WANT_ELEMENTS, 1024);
    measure_past("stages", CAIRN_RESYNC_WANT_STAGES, 0);
    story_end(&s);
    return all_within ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// Clients that are not sent all of their room: what is near, what the rules show, what the bytes
// allow. When nothing moves any more, each holds exactly what it is owed.

#include "tests/kit/test.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client_lib/client_probe.h"
#include "server/core/server_state.h"
#include "tests/kit/rig.h"
#include <cairn/control.h>

enum {
    SIDE = 15,
    COUNT = SIDE * SIDE,
    PLAYERS = 8,
    STOP_TICK = 600, // everything stands from here on
    VIEW_M = 14,
    HIDDEN = 7, // user word of bodies that players are not shown
};
#define SPACING_M 4.0f

typedef struct plain {
    uint32_t stopped;
    cairn_body_id players[PLAYERS];
} plain;

static uint32_t hidden_every; // of the bodies one in so many is hidden; 0: none

// A field of bodies in several kinds of motion, without shapes.
static void start(cairn_world *world, void *state) {
    (void)state;
    for (uint32_t i = 0; i < COUNT; ++i) {
        cairn_body_def def = cairn_body_def_default();
        def.position =
            (cairn_vec3){(float)(i % SIDE) * SPACING_M, 1.0f, (float)(i / SIDE) * SPACING_M};
        def.linear_velocity = (cairn_vec3){0.1f * (float)(i % 5), 0.0f, 0.05f * (float)(i % 3)};
        def.angular_velocity = (cairn_vec3){0.5f * (float)(i % 4), 1.0f, 0.0f};
        def.user = hidden_every > 0 && i % hidden_every == 0 ? HIDDEN : i % 3;
        cairn_body_id body = 0;
        (void)cairn_body_create(world, &def, &body);
    }
}

static void stand(cairn_world *world) {
    static cairn_body_state states[COUNT + PLAYERS];
    const uint32_t count = cairn_world_bodies(world, states, COUNT + PLAYERS);
    for (uint32_t i = 0; i < count; ++i) {
        (void)cairn_body_set_velocity(world, states[i].id, (cairn_vec3){0}, (cairn_vec3){0});
    }
}

// Players cross the field at 4 m/s.
static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    plain *p = state;
    for (uint32_t i = 0; i < command_count; ++i) {
        const cairn_command *command = &commands[i];
        if (command->kind == CAIRN_COMMAND_JOIN && command->slot < PLAYERS) {
            cairn_body_def def = cairn_body_def_default();
            def.position = (cairn_vec3){10.0f, 2.0f, 10.0f + 12.0f * (float)command->slot};
            def.linear_velocity = (cairn_vec3){p->stopped != 0 ? 0.0f : 4.0f, 0.0f, 0.0f};
            (void)cairn_body_create(world, &def, &p->players[command->slot]);
            (void)cairn_body_set_owner(world, p->players[command->slot], command->slot);
        } else if (command->kind == CAIRN_COMMAND_LEAVE && command->slot < PLAYERS) {
            (void)cairn_body_destroy(world, p->players[command->slot]);
            p->players[command->slot] = 0;
        }
    }
    if (p->stopped == 0 && cairn_world_tick(world) >= STOP_TICK) {
        stand(world);
        p->stopped = 1;
    }
}

static float hide(const cairn_world *world, const void *state, uint32_t slot, cairn_body_id body) {
    cairn_body_state read;
    (void)state;
    (void)slot;
    (void)cairn_body_read(world, body, &read);
    return read.user == HIDDEN ? 0.0f : 1.0f;
}

static const cairn_rules plain_rules = {
    .name = "plain", .version = 1, .state_size = sizeof(plain), .start = start, .step = step};
static const cairn_rules hiding_rules = {.name = "hiding",
    .version = 1,
    .state_size = sizeof(plain),
    .start = start,
    .step = step,
    .relevance = hide};

static const cairn_scene *scene(void) {
    static cairn_scene made;
    made = cairn_scene_default();
    memcpy(made.name, "field", sizeof "field");
    made.world.body_capacity = COUNT + PLAYERS;
    made.world.shape_capacity = 1;
    made.world.contact_capacity = 1;
    made.world.gravity = (cairn_vec3){0};
    made.world.sleep = 0;
    made.world.tick_rate_hz = 60;
    return &made;
}

static void near_only(cairn_server_config *config) {
    config->first_room.rules = &plain_rules;
    config->first_room.view_distance_m = VIEW_M;
}

static void near_and_shown(cairn_server_config *config) {
    near_only(config);
    config->first_room.rules = &hiding_rules;
}

static void few_bytes(cairn_server_config *config) {
    config->first_room.rules = &plain_rules;
    config->first_room.client_bytes_per_second = 2500;
}

static void some_bytes(cairn_server_config *config) {
    config->first_room.rules = &plain_rules;
    config->first_room.client_bytes_per_second = 5000;
}

static void fewest_bytes(cairn_server_config *config) {
    config->first_room.rules = &plain_rules;
    config->first_room.client_bytes_per_second = CAIRN_VIEW_BYTES_MIN;
}

static void few_bytes_for_all(cairn_server_config *config) {
    config->first_room.rules = &plain_rules;
    config->first_room.room_bytes_per_second = 7500;
}

static const cairn_snapshot *newest(const rig *r, uint32_t client) {
    return cairn_snapshots_newest(cairn_client_probe_of(rig_client(r, client)).snapshots);
}

static const cairn_snapshot_body *held_body(const cairn_snapshot *snapshot, cairn_body_id id) {
    for (uint32_t i = 0; i < snapshot->body_count; ++i) {
        if (snapshot->bodies[i].id == id) {
            return &snapshot->bodies[i];
        }
    }
    return NULL;
}

static float distance(cairn_vec3 a, cairn_vec3 b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrtf(x * x + y * y + z * z);
}

static cairn_vec3 eye_of(const rig *r, uint32_t slot) {
    const cairn_world *world = rig_server_world(r);
    uint32_t size = 0;
    const plain *p = (const plain *)(const void *)cairn_world_rules_state(world, &size);
    cairn_body_state state;
    assert_true(slot < PLAYERS);
    assert_int_equal(cairn_body_read(world, p->players[slot], &state), CAIRN_OK);
    return state.position;
}

// Nothing moves: the client has what is near and not hidden, where it is, and nothing else that it
// would not keep.
static void expect_owed(const rig *r, uint32_t client, bool limited) {
    static cairn_body_state states[COUNT + PLAYERS];
    const cairn_world *world = rig_server_world(r);
    const uint32_t count = cairn_world_bodies(world, states, COUNT + PLAYERS);
    const cairn_snapshot *snapshot = newest(r, client);
    const cairn_quantisation q = cairn_quantisation_default();
    const cairn_vec3 eye = eye_of(r, rig_statistics(r, client).connection.slot);
    uint32_t held = 0;
    assert_non_null(snapshot);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_body_state *state = &states[i];
        const cairn_snapshot_body *body = held_body(snapshot, state->id);
        const float away = distance(state->position, eye);
        const bool hidden = state->user == HIDDEN;
        held += body != NULL ? 1 : 0;
        if (hidden || (limited && away > VIEW_M * 1.13f)) {
            assert_null(body);
        } else if (!limited || away < VIEW_M - 0.1f) {
            assert_non_null(body);
        }
        if (body != NULL) {
            const cairn_pose pose = {state->position, state->rotation};
            const cairn_quantised_body at = cairn_quantise(&q, pose);
            const cairn_pose shown = cairn_dequantise(&q, &at);
            assert_memory_equal(&shown.position, &body->position, sizeof shown.position);
            assert_memory_equal(&shown.rotation, &body->rotation, sizeof shown.rotation);
            assert_int_equal(body->user, state->user);
        }
    }
    assert_int_equal(held, snapshot->body_count);
}

static void play(
    void (*configure)(cairn_server_config *config), uint32_t loss_permille, bool limited) {
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    const cairn_virtual_path path = {
        .delay_ns = 40000000, .jitter_ns = 8000000, .loss_permille = loss_permille};
    hidden_every = configure == near_and_shown ? 5 : 0;
    RIG(r, .seed = 21 + loss_permille, .scene = scene(), .configure = configure);
    for (uint32_t i = 0; i < 3; ++i) {
        rig_join(&r, &config, &path);
    }
    rig_wait_to_play(&r);
    uint32_t most = 0;
    while (cairn_world_tick(rig_server_world(&r)) < STOP_TICK + 30) {
        rig_run_ms(&r, 50);
        for (uint32_t i = 0; i < 3; ++i) {
            most = newest(&r, i)->body_count > most ? newest(&r, i)->body_count : most;
        }
    }
    rig_run_ms(&r, 6000);
    for (uint32_t i = 0; i < 3; ++i) {
        expect_playing(&r, i);
        expect_snapshots_usable(&r, i);
        expect_owed(&r, i, limited);
    }
    const cairn_server_statistics statistics = rig_server_statistics(&r);
    assert_true(statistics.total.parts_sent > 100);
    assert_true(limited ? most < COUNT / 2 : most > COUNT / 2);
}

TEST("a client holds what is near its own body") {
    play(near_only, 0, true);
}

TEST("what is near arrives over a path that loses a tenth") {
    play(near_only, 100, true);
}

TEST("what the rules hide is not held") {
    play(near_and_shown, 20, true);
}

TEST("a world arrives in parts within a client's bytes") {
    play(few_bytes, 20, false);
}

TEST("clients share the bytes of a room") {
    play(few_bytes_for_all, 0, false);
}

// ------------------------------------------------------------------------------------ paused rooms

static void near_and_operated(cairn_server_config *config) {
    near_only(config);
    config->control = true;
}

// By a client that is an operator. Returns when the room has answered.
static void set_paused(rig *r, uint32_t operator, bool paused) {
    const cairn_control_request request = {
        .verb = paused ? CAIRN_CONTROL_PAUSE : CAIRN_CONTROL_RESUME};
    rig_order(r, operator, & request);
}

// The client holds the tick at which the room stands. Returns how many bodies it was sent of that
// tick; what has just entered is on its way since an earlier one.
static uint32_t expect_the_paused_tick(const rig *r, uint32_t client) {
    const cairn_snapshot *snapshot = newest(r, client);
    const cairn_quantisation q = cairn_quantisation_default();
    assert_non_null(snapshot);
    assert_int_equal(snapshot->tick, cairn_world_tick(rig_server_world(r)));
    for (uint32_t i = 0; i < snapshot->frame.count; ++i) {
        const cairn_snapshot_body body = cairn_snapshot_frame_body(&snapshot->frame, i);
        cairn_body_state state;
        assert_int_equal(cairn_body_read(rig_server_world(r), body.id, &state), CAIRN_OK);
        const cairn_quantised_body at =
            cairn_quantise(&q, (cairn_pose){state.position, state.rotation});
        const cairn_pose shown = cairn_dequantise(&q, &at);
        assert_memory_equal(&shown.position, &body.position, sizeof shown.position);
        assert_memory_equal(&shown.rotation, &body.rotation, sizeof shown.rotation);
    }
    return snapshot->frame.count;
}

// A paused room sends the part of its tick again until it is acknowledged. Of two parts of one tick
// a client takes the one that arrives first, and its acknowledgement does not say which that was.
// Seed 21001882 of the storm.
TEST("what a room sends again while it is paused is what it sent of that tick") {
    const cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    const cairn_virtual_path path = {.delay_ns = 25000000, .jitter_ns = 60000000};
    hidden_every = 0;
    RIG(r, .seed = 6, .scene = scene(), .configure = near_and_operated);
    r.operators = true;
    rig_join(&r, &config, &path);
    rig_join(&r, &config, &path);
    rig_wait_to_play(&r);
    rig_run_ms(&r, 1000);
    for (uint32_t i = 0; i < 10; ++i) {
        set_paused(&r, 0, true);
        rig_run_ms(&r, 600);
        assert_true(expect_the_paused_tick(&r, 0) > 10);
        assert_true(expect_the_paused_tick(&r, 1) > 10);
        set_paused(&r, 0, false);
        rig_run_ms(&r, 200);
    }
    assert_true(cairn_world_tick(rig_server_world(&r)) < STOP_TICK);
    expect_snapshots_usable(&r, 0);
    expect_snapshots_usable(&r, 1);
}

// Of the parts of a paused tick two in three do not arrive whole.
TEST("a client that joins a paused room over a path that loses sees the room") {
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    const cairn_virtual_path path = {.delay_ns = 40000000, .loss_permille = 300};
    hidden_every = 0;
    RIG(r, .seed = 7, .scene = scene(), .configure = near_and_operated);
    r.operators = true;
    rig_join(&r, &config, NULL);
    rig_wait_to_play(&r);
    rig_run_ms(&r, 500);
    set_paused(&r, 0, true);
    r.operators = false;
    config.spectator = true; // and so it sees all of the room
    for (uint32_t i = 1; i < 5; ++i) {
        rig_join(&r, &config, &path);
    }
    rig_wait_to_play(&r);
    rig_run_ms(&r, 1000);
    for (uint32_t i = 1; i < 5; ++i) {
        assert_true(expect_the_paused_tick(&r, i) > COUNT / 2); // as many as a part has room for
    }
    set_paused(&r, 0, false);
    rig_run_ms(&r, 3000);
    for (uint32_t i = 0; i < 5; ++i) {
        expect_playing(&r, i);
        expect_snapshots_usable(&r, i);
    }
}

// Of what moves evenly little is new to a client that has samples of it: 4 bytes of each body in a
// snapshot, in place of 7.
TEST("bodies are coded against the samples that a client holds") {
    const cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    const cairn_virtual_path path = {.delay_ns = 40000000};
    hidden_every = 0;
    RIG(r, .seed = 3, .scene = scene(), .configure = near_only);
    rig_join(&r, &config, &path);
    rig_wait_to_play(&r);
    rig_run_ms(&r, 2000);
    const uint64_t before = rig_server_statistics(&r).total.snapshot_bytes;
    rig_run_ms(&r, 5000);
    const uint64_t bytes = rig_server_statistics(&r).total.snapshot_bytes - before;
    const uint32_t bodies = newest(&r, 0)->body_count;
    assert_true(bodies > 20);
    assert_in_range(bytes, 8000, 18000);
}

// What the seal and the headers of UDP and IP add to each part counts as well.
TEST("a client is sent no more bytes than the room allows") {
    enum { SECONDS = 5, AROUND = 40 };
    const cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    const cairn_virtual_path path = {.delay_ns = 40000000};
    hidden_every = 0;
    RIG(r, .seed = 3, .scene = scene(), .configure = few_bytes);
    rig_join(&r, &config, &path);
    rig_wait_to_play(&r);
    rig_run_ms(&r, 2000);
    const cairn_server_statistics before = rig_server_statistics(&r);
    rig_run_ms(&r, 1000 * SECONDS);
    const cairn_server_statistics after = rig_server_statistics(&r);
    const uint64_t parts = after.total.parts_sent - before.total.parts_sent;
    const uint64_t bytes = after.total.snapshot_bytes - before.total.snapshot_bytes;
    print_message("%" PRIu64 " bytes, %" PRIu64 " parts\n", bytes, parts);
    assert_in_range(bytes + AROUND * parts, 2000 * SECONDS, 2550 * SECONDS);
}

// ---------------------------------------------------------------------------------------- starving

// The longest that a body which a client was sent before waits now, ms.
static double longest_wait_ms(const rig *r) {
    const cairn_room *room = cairn_room_table_at(&r->system.server->rooms, CAIRN_ROOM_MAIN);
    uint64_t most = 0;
    for (const cairn_session *at = room->members; at != NULL; at = at->member_next) {
        const cairn_view *view = at->replication->view;
        for (uint32_t m = 0; view != NULL && m < view->count; ++m) {
            const cairn_view_member *member = &view->members[m];
            const uint64_t ticks = room->scheduler.tick - member->waiting;
            if (member->waiting != 0 && member->acked[0] != 0) {
                most = ticks > most ? ticks : most;
            }
        }
    }
    return 1000.0 * (double)most / 60.0;
}

static double wait_of(void (*configure)(cairn_server_config *config), uint32_t loss_permille) {
    const cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    const cairn_virtual_path path = {.delay_ns = 40000000, .loss_permille = loss_permille};
    double most = 0.0;
    hidden_every = 0;
    RIG(r, .seed = 5, .scene = scene(), .configure = configure);
    rig_join(&r, &config, &path);
    rig_wait_to_play(&r);
    rig_run_ms(&r, 3000); // the world arrives
    while (cairn_world_tick(rig_server_world(&r)) < STOP_TICK) {
        rig_run_ms(&r, 50);
        const double now = longest_wait_ms(&r);
        most = now > most ? now : most;
    }
    const cairn_server_statistics statistics = rig_server_statistics(&r);
    assert_true(statistics.total.parts_sent > 20);
    print_message("the longest wait: %.0f ms\n", most);
    return most;
}

TEST("no body that is owed waits longer than a second") {
    assert_true(wait_of(near_only, 0) <= 100.0);
    assert_true(wait_of(some_bytes, 0) <= 1000.0);
    assert_true(wait_of(some_bytes, 50) <= 1000.0);
}

// 225 bodies in motion take some 1.6 kB in each round, and half of these bytes go around parts.
TEST("with fewer bytes than a second needs, bodies take turns") {
    const double ms = wait_of(fewest_bytes, 0);
    assert_true(ms > 100.0 && ms <= 8000.0);
}

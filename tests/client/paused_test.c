// SPDX-License-Identifier: MIT
// Clients of rooms that are paused, at tick 0 after a reset and at others: each sees all of the
// world that it is owed within a second, whenever it came.

#include "tests/kit/test.h"

#include <math.h>
#include <string.h>

#include "client_lib/client_probe.h"
#include "tests/kit/rig.h"
#include <cairn/control.h>
#include <cairn/rules.h>
#include <cairn/sim.h>

enum {
    OPERATOR = 0, // the first client
    SIDE = 60,
    MANY = SIDE * SIDE, // more than one part has room for
    HIDDEN_EVERY = 9,
    VIEW_M = 30,
};

static void step(cairn_world *world, void *state, const cairn_command *commands, uint32_t count) {
    (void)world;
    (void)state;
    (void)commands;
    (void)count;
}

static float hide(const cairn_world *world, const void *state, uint32_t slot, cairn_body_id body) {
    (void)world;
    (void)state;
    (void)slot;
    return cairn_id_index(body) % HIDDEN_EVERY == 0 ? 0.0f : 1.0f;
}

// Everybody sees from the same corner.
static void look(
    const cairn_world *world, const void *state, uint32_t slot, cairn_view_point *point) {
    (void)world;
    (void)state;
    (void)slot;
    point->center = (cairn_vec3){0.0f, 1.0f, 0.0f};
    point->radius_m = VIEW_M;
}

static const cairn_rules shown = {.name = "field", .version = 1, .step = step};
static const cairn_rules hiding = {.name = "hiding", .version = 1, .step = step, .relevance = hide};
static const cairn_rules near = {.name = "near", .version = 1, .step = step, .view = look};

static const cairn_scene *field(void) {
    return kit_scene("{'name': 'field', 'body_capacity': 4096, 'shape_capacity': 4096,"
                     " 'contact_capacity': 1024, 'tick_rate_hz': 60,"
                     " 'bodies': [{'kind': 'static', 'position': [0, 1, 0],"
                     " 'grid_count': [60, 1, 60], 'grid_spacing': [2, 1, 2],"
                     " 'shapes': [{'kind': 'sphere', 'radius': 0.5}]}]}");
}

static const cairn_scene *find_stack(void *user, const char *name) {
    (void)user;
    (void)name;
    return kit_scene_stack_and_row();
}

static const cairn_scene *find_field(void *user, const char *name) {
    (void)user;
    (void)name;
    return field();
}

static void with_stack(cairn_server_config *config) {
    config->control = true;
    config->find_scene = find_stack;
}

static void with_field(cairn_server_config *config) {
    config->control = true;
    config->find_scene = find_field;
    config->first_room.rules = &shown;
}

static void with_hiding(cairn_server_config *config) {
    with_field(config);
    config->first_room.rules = &hiding;
}

static void with_near(cairn_server_config *config) {
    with_field(config);
    config->first_room.rules = &near;
}

static void pause_room(rig *r, bool reset) {
    rig_order(r, OPERATOR, &(cairn_control_request){.verb = CAIRN_CONTROL_PAUSE});
    if (reset) {
        rig_order(r, OPERATOR, &(cairn_control_request){.verb = CAIRN_CONTROL_RESET});
        assert_int_equal(cairn_world_tick(rig_server_world(r)), 0);
    }
}

typedef enum debt { NOT_OWED, PERHAPS, OWED } debt;

static debt debt_of(const cairn_world *world, const cairn_body_state *state) {
    const cairn_rules *rules = cairn_world_settings(world)->rules;
    const float x = state->position.x, z = state->position.z;
    const float away_m = sqrtf(x * x + z * z);
    if (rules == &near) {
        return away_m < VIEW_M - 1 ? OWED : away_m < VIEW_M + 1 ? PERHAPS : NOT_OWED;
    }
    return rules == &hiding && cairn_id_index(state->id) % HIDDEN_EVERY == 0 ? NOT_OWED : OWED;
}

// The newest snapshot is of the room's tick, and has the bodies that the client is owed where they
// are. Or its own world is the room's.
static void expect_shown(rig *r, uint32_t client, const char *when) {
    static cairn_body_state states[MANY];
    const cairn_world *world = rig_server_world(r);
    if (rig_state(r, client) != CAIRN_CLIENT_PLAYING) {
        fail_msg("%s: client %u is in state %d", when, client, (int)rig_state(r, client));
    }
    const cairn_client_probe probe = cairn_client_probe_of(rig_client(r, client));
    if (probe.simulates) {
        assert_int_equal(
            cairn_client_confirmed_tick(rig_client(r, client)), cairn_world_tick(world));
        if (probe.predict->lockstep != NULL) {
            return; // its world is ahead
        }
        assert_int_equal(cairn_world_tick(probe.timeline->world), cairn_world_tick(world));
        assert_true(cairn_hash_equal(
            cairn_world_hash_read(probe.timeline->world).full, cairn_world_hash_read(world).full));
        return;
    }
    const cairn_snapshot *snapshot = cairn_snapshots_newest(probe.snapshots);
    const cairn_quantisation q = cairn_quantisation_default();
    const uint32_t count = cairn_world_bodies(world, states, MANY);
    assert_non_null(snapshot);
    assert_int_equal(snapshot->tick, cairn_world_tick(world));
    uint32_t k = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const debt owed = debt_of(world, &states[i]);
        const bool held = k < snapshot->body_count && snapshot->bodies[k].id == states[i].id;
        if (owed == OWED && !held) {
            fail_msg("%s: client %u lacks body %u; it has %u", when, client,
                cairn_id_index(states[i].id), snapshot->body_count);
        }
        if (!held) {
            continue;
        }
        assert_true(owed != NOT_OWED);
        const cairn_snapshot_body *body = &snapshot->bodies[k++];
        const cairn_quantised_body at =
            cairn_quantise(&q, (cairn_pose){states[i].position, states[i].rotation});
        const cairn_pose pose = cairn_dequantise(&q, &at);
        assert_memory_equal(&pose.position, &body->position, sizeof pose.position);
    }
    assert_int_equal(k, snapshot->body_count);
    assert_true(k >= 10);
    assert_true(rig_look(r, client));
    assert_int_equal(r->views[client].sample.body_count, k);
}

static void expect_all_shown(rig *r, const char *when) {
    for (uint32_t i = 0; i < r->client_count; ++i) {
        expect_shown(r, i, when);
    }
}

// Clients of these modes are there when the room is paused, and as many come afterwards. Then it
// goes on.
static void play(const cairn_scene *scene, void (*configure)(cairn_server_config *config),
    const cairn_client_mode *modes, uint32_t mode_count, const cairn_virtual_path *path,
    bool reset) {
    RIG(r, .seed = 5, .scene = scene, .configure = configure, .unwatched = true);
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    config.spectator = true;
    r.operators = true;
    rig_join(&r, &config, NULL);
    r.operators = false;
    config.spectator = false;
    for (uint32_t i = 0; i < mode_count; ++i) {
        config.mode = modes[i];
        rig_join(&r, &config, path);
    }
    rig_wait_to_play(&r);
    rig_run_ms(&r, 700);
    pause_room(&r, reset);
    rig_run_ms(&r, 1500);
    expect_all_shown(&r, "paused");
    config.spectator = true;
    for (uint32_t i = 0; i < mode_count; ++i) {
        config.mode = modes[i];
        rig_join(&r, &config, path);
    }
    rig_run_ms(&r, 1500);
    expect_all_shown(&r, "joined");
    rig_order(&r, OPERATOR, &(cairn_control_request){.verb = CAIRN_CONTROL_RESUME});
    rig_run_ms(&r, 3000);
    pause_room(&r, false);
    rig_run_ms(&r, 1500);
    expect_all_shown(&r, "paused again");
    for (uint32_t i = 0; i < r.client_count; ++i) {
        expect_snapshots_usable(&r, i);
    }
    expect_no_difference(&r);
}

static const cairn_client_mode all_modes[] = {
    CAIRN_CLIENT_INTERPOLATE, CAIRN_CLIENT_LOCKSTEP, CAIRN_CLIENT_PREDICT, CAIRN_CLIENT_HEAL};
static const cairn_virtual_path good = {.delay_ns = 20000000};
static const cairn_virtual_path bad = {
    .delay_ns = 30000000, .jitter_ns = 20000000, .loss_permille = 100};

TEST("clients of all modes see a room that was reset and is paused at tick 0") {
    play(kit_scene_stack_and_row(), with_stack, all_modes, 3, &good, true);
    play(kit_scene_stack_and_row(), with_stack, all_modes, 3, &bad, true);
    play(kit_scene_stack_and_row(), with_stack, all_modes + 3, 1, &good, true);
}

TEST("clients of all modes see a room that is paused at another tick") {
    play(kit_scene_stack_and_row(), with_stack, all_modes, 3, &good, false);
    play(kit_scene_stack_and_row(), with_stack, all_modes, 3, &bad, false);
}

TEST("a snapshot of tick 0 that is longer than two payloads is seen as well") {
    play(field(), with_field, all_modes, 1, &good, true);
    play(field(), with_field, all_modes, 1, &bad, true);
}

TEST("a client with a view sees all of it in a room that is paused at tick 0") {
    play(field(), with_hiding, all_modes, 1, &good, true);
    play(field(), with_near, all_modes, 1, &bad, true);
}

TEST("a client with a view sees all of it in a room that is paused at another tick") {
    play(field(), with_hiding, all_modes, 1, &good, false);
    play(field(), with_near, all_modes, 1, &bad, false);
}

// The server sends a client that acknowledges nothing keyframes at intervals that grow, in ticks.
TEST(
    "a client that joined just before its room was paused over a path that was cut sees the room") {
    RIG(r, .seed = 6, .scene = kit_scene_stack_and_row(), .configure = with_stack);
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    config.spectator = true;
    r.operators = true;
    rig_join(&r, &config, NULL);
    rig_wait_to_play(&r);
    r.operators = false;
    const uint32_t late = rig_join(&r, &config, &good);
    while (rig_state(&r, late) == CAIRN_CLIENT_CONNECTING) {
        rig_run_ms(&r, 1);
    }
    cairn_virtual_path *path = cairn_virtual_path_between(
        r.system.network, r.system.server_endpoint, r.system.clients[late].endpoint);
    path->cut = true;
    rig_run_ms(&r, 2000);
    assert_int_equal(rig_state(&r, late), CAIRN_CLIENT_JOINING);
    pause_room(&r, false);
    path->cut = false;
    rig_run_ms(&r, 1500);
    expect_all_shown(&r, "healed");
}

// SPDX-License-Identifier: MIT
#include "tests/virtual/story.h"

#include <stdlib.h>
#include <string.h>

#include "client_lib/client_probe.h"
#include "schema/scene.h"
#include "tests/kit/test.h"

#define STORY_BODY_CAPACITY 128
#define STORY_STONES 4

static const uint64_t ms_ns = 1000000;

static cairn_scene_shape shape_of(uint32_t kind) {
    const cairn_shape_def def = cairn_shape_def_default();
    return (cairn_scene_shape){.kind = kind,
        .half_extents = {0.5f, 0.5f, 0.5f},
        .rotation = {0, 0, 0, 1},
        .density = def.density,
        .friction = def.friction,
        .category = def.category,
        .mask = def.mask};
}

// A floor and a short stack of cubes on it.
static const cairn_scene *story_scene(void) {
    static cairn_scene_body bodies[2];
    static cairn_scene_shape shapes[2];
    static cairn_scene scene;
    bodies[0] = (cairn_scene_body){.kind = CAIRN_BODY_STATIC,
        .rotation = {0, 0, 0, 1},
        .grid_count = {1, 1, 1},
        .shape_count = 1};
    bodies[1] = (cairn_scene_body){.kind = CAIRN_BODY_DYNAMIC,
        .position = {0, 0.6f, 0},
        .rotation = {0, 0, 0, 1},
        .gravity_scale = 1,
        .allow_sleep = 1,
        .grid_count = {1, STORY_STONES, 1},
        .grid_spacing = {0, 1.1f, 0},
        .first_shape = 1,
        .shape_count = 1};
    shapes[0] = shape_of(CAIRN_SHAPE_HALF_SPACE);
    shapes[1] = shape_of(CAIRN_SHAPE_BOX);
    scene = cairn_scene_default();
    strcpy(scene.name, "story");
    strcpy(scene.rules, "sandbox");
    scene.world.body_capacity = STORY_BODY_CAPACITY;
    scene.world.shape_capacity = STORY_BODY_CAPACITY;
    scene.world.joint_capacity = 1;
    scene.world.contact_capacity = 1024;
    scene.bodies = bodies;
    scene.body_count = 2;
    scene.shapes = shapes;
    scene.shape_count = 2;
    return &scene;
}

static void note(void *user) {
    cairn_story *s = user;
    const cairn_world *world = cairn_server_world(s->system.server, CAIRN_ROOM_MAIN);
    if (cairn_world_tick(world) != s->noted_tick) {
        s->noted_tick = cairn_world_tick(world);
        cairn_oracle_note(s->past, world);
    }
}

cairn_story *story_start_with(const story_options *options) {
    cairn_story *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->options = *options;
    s->options.tick_rate_hz = options->tick_rate_hz > 0 ? options->tick_rate_hz : 60;
    s->past = cairn_oracle_create(STORY_BODY_CAPACITY);
    assert_non_null(s->past);
    cairn_system_config config = cairn_system_config_default(story_scene());
    config.seed = options->seed;
    config.wait_ms = options->wait_ms;
    config.tick_rate_hz = s->options.tick_rate_hz;
    config.snapshot_rate_hz = options->snapshot_rate_hz;
    assert_true(cairn_system_start(&s->system, &config));
    s->noted_tick = UINT64_MAX;
    s->system.after_server = note;
    s->system.user = s;
    for (uint32_t who = 0; who < options->clients; who++) {
        const bool interpolates = who + options->interpolating >= options->clients;
        story_join(s, who, interpolates ? CAIRN_CLIENT_INTERPOLATE : CAIRN_CLIENT_LOCKSTEP);
    }
    story_run_ms(s, 3000 + 10 * options->delay_ms);
    for (uint32_t who = 0; who < options->clients; who++) {
        expect_playing(s, who);
    }
    return s;
}

void story_end(cairn_story *s) {
    assert_int_equal(s->system.spins, 0);
    assert_true(cairn_virtual_adds_up(s->system.network));
    cairn_system_stop(&s->system);
    cairn_oracle_destroy(s->past);
    free(s);
}

void story_run_ms(cairn_story *s, uint32_t ms) {
    cairn_system_run_until(&s->system, cairn_system_now_ns(&s->system) + ms * ms_ns);
}

void story_run_ticks(cairn_story *s, uint32_t ticks) {
    cairn_system_run_until(&s->system,
        cairn_system_now_ns(&s->system) + ticks * 1000000000ull / s->options.tick_rate_hz);
}

void story_join(cairn_story *s, uint32_t who, cairn_client_mode mode) {
    cairn_client_config config = cairn_client_config_default();
    const cairn_virtual_path path = {.delay_ns = s->options.delay_ms * ms_ns,
        .jitter_ns = s->options.jitter_ms * ms_ns,
        .loss_permille = s->options.loss_permille};
    config.mode = mode;
    config.bodies_max = STORY_BODY_CAPACITY;
    assert_true(
        cairn_system_join(&s->system, who, &config, (cairn_virtual_clock){.offset_ns = 77}, &path));
}

void story_rejoin(cairn_story *s, uint32_t who) {
    assert_true(cairn_system_rejoin(&s->system, who));
}

void story_leave(cairn_story *s, uint32_t who) {
    cairn_system_disconnect(&s->system, who);
}

void story_cut(cairn_story *s, uint32_t who) {
    cairn_system_cut(&s->system, who, true);
}

void story_heal(cairn_story *s, uint32_t who) {
    cairn_system_cut(&s->system, who, false);
}

void story_delay(cairn_story *s, uint32_t who, uint32_t delay_ms) {
    const cairn_virtual_path path = {.delay_ns = delay_ms * ms_ns};
    cairn_virtual_connect(
        s->system.network, s->system.clients[who].endpoint, s->system.server_endpoint, &path);
}

void story_press(cairn_story *s, uint32_t who, uint32_t buttons) {
    const cairn_client_input input = {.buttons = buttons, .move = {1, 0, 0}, .aim = {0, 0, -1}};
    assert_true(cairn_client_push_input(s->system.clients[who].client, &input));
}

void story_restart_server(cairn_story *s) {
    cairn_oracle_forget(s->past);
    s->noted_tick = UINT64_MAX;
    assert_true(cairn_system_restart_server(&s->system));
}

cairn_client_state story_state(const cairn_story *s, uint32_t who) {
    return cairn_client_state_read(s->system.clients[who].client);
}

cairn_client_statistics story_statistics(const cairn_story *s, uint32_t who) {
    cairn_client_statistics statistics;
    cairn_client_statistics_read(s->system.clients[who].client, &statistics);
    return statistics;
}

cairn_server_statistics story_server(const cairn_story *s) {
    cairn_server_statistics statistics;
    cairn_server_statistics_read(s->system.server, &statistics);
    return statistics;
}

static bool lockstep(const cairn_story *s, uint32_t who) {
    return s->system.clients[who].config.mode == CAIRN_CLIENT_LOCKSTEP;
}

static const cairn_world *world_of(const cairn_story *s, uint32_t who) {
    const cairn_world *world = cairn_client_world(s->system.clients[who].client);
    assert_non_null(world);
    return world;
}

static const cairn_snapshot *snapshot_of(const cairn_story *s, uint32_t who) {
    const cairn_snapshot *snapshot =
        cairn_snapshots_newest(cairn_client_probe_of(s->system.clients[who].client).snapshots);
    assert_non_null(snapshot);
    return snapshot;
}

static uint64_t tick_of(const cairn_story *s, uint32_t who) {
    return lockstep(s, who) ? cairn_world_tick(world_of(s, who)) : snapshot_of(s, who)->tick;
}

uint64_t story_ticks_behind(const cairn_story *s, uint32_t who) {
    return s->noted_tick - tick_of(s, who);
}

uint32_t story_bodies(const cairn_story *s, uint32_t who) {
    return lockstep(s, who) ? cairn_world_counts_read(world_of(s, who)).bodies
                            : snapshot_of(s, who)->body_count;
}

void expect_servers_world(const cairn_story *s, uint32_t who) {
    const cairn_oracle_tick *past = cairn_oracle_find(s->past, tick_of(s, who));
    assert_non_null(past);
    if (lockstep(s, who)) {
        assert_true(cairn_hash_equal(past->root, cairn_world_hash_read(world_of(s, who)).full));
    } else {
        const cairn_snapshot *snapshot = snapshot_of(s, who);
        assert_true(cairn_oracle_bodies_equal(past, snapshot->bodies, snapshot->body_count));
    }
}

void expect_playing(const cairn_story *s, uint32_t who) {
    if (story_state(s, who) != CAIRN_CLIENT_PLAYING) {
        fail_msg("client %u is in state %d: %s", who, (int)story_state(s, who),
            cairn_client_failure_text(s->system.clients[who].client));
    }
}

void expect_behind_at_most_ticks(const cairn_story *s, uint32_t who, uint64_t ticks) {
    assert_in_range(story_ticks_behind(s, who), 0, ticks);
}

void expect_no_alarm(const cairn_story *s) {
    assert_int_equal(story_server(s).roots_differed, 0);
    for (uint32_t who = 0; who < STORY_EVERYBODY; who++) {
        if (s->system.clients[who].client != NULL && lockstep(s, who)) {
            assert_int_equal(story_statistics(s, who).simulation.roots_differed, 0);
            assert_true(story_statistics(s, who).simulation.roots_compared > 0);
        }
    }
}

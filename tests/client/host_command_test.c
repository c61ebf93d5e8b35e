// SPDX-License-Identifier: MIT
// What the server's host tells the rules reaches every world at the same tick.

#include "tests/kit/test.h"

#include "tests/kit/rig.h"
#include <cairn/recording.h>
#include <cairn/rules_registry.h>

typedef struct score {
    uint32_t goals;
    uint32_t tick;
} score;

static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)state;
    (void)commands;
    (void)command_count;
}

static void hear(cairn_world *world, void *state, const cairn_command *command) {
    score *s = state;
    s->goals += command->buttons;
    s->tick = (uint32_t)cairn_world_tick(world);
}

static const cairn_rules scoring = {
    .name = "scoring", .version = 1, .state_size = sizeof(score), .step = step, .host = hear};

static void set_rules(cairn_server_config *config) {
    config->first_room.rules = &scoring;
}

static score score_of(const cairn_world *world) {
    uint32_t size = 0;
    const score *found = cairn_world_rules_state(world, &size);
    assert_int_equal(size, sizeof *found);
    return *found;
}

TEST("a command of the host is the same in server, client and recording") {
    cairn_client_config config = rig_config(CAIRN_CLIENT_PREDICT);
    config.rules = &scoring;
    assert_null(cairn_rules_register(&scoring)); // for the recording
    RIG(r, .seed = 3, .recorded = true, .configure = set_rules);
    rig_join(&r, &config, NULL);
    rig_wait_to_play(&r);
    const uint32_t room = cairn_server_room_find(r.system.server, "");
    const cairn_command goal = {.buttons = 3, .move = {-7.5f, 0, 0}};
    uint64_t tick = 0;
    assert_int_equal(cairn_server_room_command(r.system.server, room, &goal, &tick), CAIRN_OK);
    rig_run_ms(&r, 1000);
    const score server = score_of(rig_server_world(&r));
    assert_int_equal(server.goals, 3);
    assert_int_equal(server.tick, tick);
    const cairn_world *world = cairn_client_world(rig_client(&r, ALICE));
    assert_int_equal(score_of(world).goals, 3);
    assert_int_equal(score_of(world).tick, tick);
    expect_no_difference(&r);
    cairn_client_rollback rollbacks[CAIRN_CLIENT_ROLLBACKS_HELD];
    assert_true(cairn_client_rollbacks(rig_client(&r, ALICE), rollbacks, 1) > 0);
    assert_int_equal(rollbacks[0].cause, CAIRN_ROLLBACK_OPERATOR);
}

TEST("what is no command of a host is refused") {
    RIG(r, .seed = 4, .configure = set_rules);
    const uint32_t room = cairn_server_room_find(r.system.server, "");
    cairn_command command = {.move = {1.0f / 0.0f, 0, 0}};
    uint64_t tick = 0;
    assert_int_equal(
        cairn_server_room_command(r.system.server, room + 1, &command, &tick), CAIRN_NOT_FOUND);
    assert_int_equal(
        cairn_server_room_command(r.system.server, room, &command, &tick), CAIRN_NON_FINITE);
    command.move.x = 0;
    uint32_t taken = 0;
    while (cairn_server_room_command(r.system.server, room, &command, &tick) == CAIRN_OK) {
        taken += 1;
        assert_true(taken <= 64);
    }
    assert_true(taken >= 16);
    rig_run_ms(&r, 100);
    assert_int_equal(cairn_server_room_command(r.system.server, room, &command, &tick), CAIRN_OK);
}

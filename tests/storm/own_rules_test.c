// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include <cairn/sim.h>
#include <cairn/storm.h>

// Rules that spawn and destroy a body all the time, each as its state says.
typedef struct spawner {
    cairn_body_id body;
    uint32_t ticks;
} spawner;

static void spawn_step(
    cairn_world *world, void *memory, const cairn_command *commands, uint32_t command_count) {
    spawner *state = memory;
    (void)commands;
    (void)command_count;
    state->ticks++;
    if (state->ticks % 8 == 4) {
        cairn_body_def def = cairn_body_def_default();
        def.position.y = 3;
        cairn_body_create(world, &def, &state->body);
    } else if (state->ticks % 8 == 0) {
        cairn_body_destroy(world, state->body);
    }
}

static const cairn_rules spawning = {
    .name = "spawning", .version = 1, .state_size = sizeof(spawner), .step = spawn_step};

// Breaks the contract: the rules count their calls in a static variable.
static void impure_step(
    cairn_world *world, void *memory, const cairn_command *commands, uint32_t command_count) {
    static uint32_t calls;
    spawner *state = memory;
    (void)world;
    (void)commands;
    (void)command_count;
    state->ticks = ++calls;
}

static const cairn_rules impure = {
    .name = "impure", .version = 1, .state_size = sizeof(spawner), .step = impure_step};

static cairn_storm_report run(const cairn_storm_config *config) {
    cairn_storm_report report;
    if (!cairn_storm_run(config, &report)) {
        fail_msg("no storm: %s", report.words);
    }
    return report;
}

static cairn_storm_config storm_of(const cairn_rules *rules) {
    cairn_storm_config config = cairn_storm_config_default();
    config.seconds = 6;
    config.client_slots = 2;
    config.no_faults = true;
    config.modes = 1u << CAIRN_CLIENT_LOCKSTEP;
    config.rules = rules;
    return config;
}

TEST("rules that keep the contract pass") {
    const cairn_storm_config config = storm_of(&spawning);
    const cairn_storm_report report = run(&config);
    assert_string_equal(report.words, "");
    assert_true(report.roots_compared > 0);
    assert_true(report.playing_ns[CAIRN_CLIENT_LOCKSTEP] > 0);
    assert_int_equal(report.playing_ns[CAIRN_CLIENT_INTERPOLATE], 0);
}

TEST("rules that keep data outside their state are found") {
    const cairn_storm_config config = storm_of(&impure);
    assert_int_equal(run(&config).finding, CAIRN_STORM_FOUND_WORLD);
}

static void fail_at_tick_10(void *user, cairn_storm *storm, const cairn_world *world) {
    (void)user;
    if (cairn_world_tick(world) >= 10) {
        cairn_storm_fail(storm, "the check failed");
    }
}

TEST("a hook that fails ends the storm") {
    cairn_storm_config config = storm_of(&spawning);
    config.on_server = fail_at_tick_10;
    const cairn_storm_report report = run(&config);
    assert_int_equal(report.finding, CAIRN_STORM_FOUND_OWN);
    assert_string_equal(report.words, "the check failed");
    assert_in_range(report.ticks, 9, 12);
}

typedef struct calls {
    uint32_t inputs;
    uint32_t turns;
    uint32_t events;
} calls;

static void count_input(void *user, cairn_storm *storm, uint32_t slot, cairn_client_input *input) {
    assert_true(slot < cairn_storm_client_slots(storm));
    assert_non_null(cairn_storm_client(storm, slot));
    input->buttons = 0;
    ((calls *)user)->inputs++;
}

static void count_turn(void *user, cairn_storm *storm, uint32_t slot) {
    assert_non_null(cairn_storm_client(storm, slot));
    assert_non_null(cairn_storm_world(storm));
    ((calls *)user)->turns++;
}

static void count_event(void *user, uint64_t at_ns, uint32_t slot, const char *what) {
    (void)at_ns;
    (void)slot;
    assert_non_null(what);
    ((calls *)user)->events++;
}

TEST("hooks are called for inputs, turns and events") {
    calls all = {0};
    cairn_storm_config config = storm_of(&spawning);
    config.on_input = count_input;
    config.on_client = count_turn;
    config.on_event = count_event;
    config.user = &all;
    assert_int_equal(run(&config).finding, CAIRN_STORM_FOUND_NOTHING);
    assert_true(all.inputs > 0);
    assert_true(all.turns > 0);
    assert_true(all.events > 0);
}

TEST("a storm without faults has none") {
    cairn_storm_config config = storm_of(NULL);
    config.seconds = 10;
    for (config.seed = 1; config.seed < 4; config.seed++) {
        const cairn_storm_report report = run(&config);
        assert_string_equal(report.words, "");
        assert_int_equal(report.hostile + report.cuts + report.restarts, 0);
    }
}

TEST("a config out of range is refused") {
    const cairn_storm_config valid = storm_of(NULL);
    cairn_storm_config wrong[4] = {valid, valid, valid, valid};
    wrong[0].seconds = 0;
    wrong[1].modes = 0;
    wrong[2].client_slots = CAIRN_STORM_CLIENT_SLOTS_MAX + 1;
    wrong[3].loss_permille_max = CAIRN_STORM_LOSS_PERMILLE_MAX + 1;
    for (uint32_t i = 0; i < 4; i++) {
        cairn_storm_report report;
        assert_false(cairn_storm_run(&wrong[i], &report));
        assert_int_not_equal(strlen(report.words), 0);
    }
}

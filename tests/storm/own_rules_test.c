// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include <cairn/math.h>
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

// Rules that live on events: a ball is thrown in now and then, what hits hops, what enters the
// sensor is thrown back, and the oldest ball is taken away when some body has fallen asleep. A
// world that lost or repeated one event would soon be another one.
typedef struct referee {
    cairn_shape_id sensor;
    cairn_body_id balls[8];
    uint32_t next;
    uint32_t ticks;
    uint32_t folded; // all events of both hooks, in order
} referee;

static void fold_events(const cairn_world *world, referee *state) {
    uint32_t count = 0;
    const cairn_contact_event *contacts = cairn_world_contact_events(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        state->folded = (state->folded ^ contacts[i].kind ^ contacts[i].shape_b) * 0x9e3779b1u;
    }
    const cairn_body_event *bodies = cairn_world_body_events(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        state->folded = (state->folded ^ bodies[i].kind ^ bodies[i].body) * 0x9e3779b1u;
    }
}

static void referee_start(cairn_world *world, void *memory) {
    referee *state = memory;
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_id body = 0;
    def.kind = CAIRN_BODY_STATIC;
    def.position.y = 1;
    shape.half_extents = cairn_vec3_of(2, 1, 2);
    shape.flags = CAIRN_SHAPE_SENSOR;
    if (cairn_body_create(world, &def, &body) == CAIRN_OK) {
        cairn_shape_create(world, body, &shape, &state->sensor);
    }
}

static void referee_step(
    cairn_world *world, void *memory, const cairn_command *commands, uint32_t command_count) {
    referee *state = memory;
    (void)commands;
    (void)command_count;
    fold_events(world, state);
    if (++state->ticks % 16 != 0) {
        return;
    }
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_shape_id ignored = 0;
    cairn_body_id *ball = &state->balls[state->next++ % 8];
    def.position =
        cairn_vec3_of((float)(state->folded % 8) - 3.5f, 4, (float)(state->next % 5) - 2);
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = 0.25f;
    shape.flags = CAIRN_SHAPE_HIT_EVENTS;
    cairn_body_destroy(world, *ball);
    *ball = 0;
    if (cairn_body_create(world, &def, ball) == CAIRN_OK) {
        cairn_shape_create(world, *ball, &shape, &ignored);
    }
}

static void referee_after_step(cairn_world *world, void *memory) {
    referee *state = memory;
    uint32_t count = 0;
    fold_events(world, state);
    const cairn_contact_event *contacts = cairn_world_contact_events(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        const cairn_contact_event *event = &contacts[i];
        const float mass = cairn_body_mass(world, event->body_b);
        if (event->kind == CAIRN_CONTACT_HIT) {
            cairn_body_apply_impulse_at_centre(
                world, event->body_b, cairn_vec3_of(0, 0.25f * event->impulse, 0));
        } else if (event->kind == CAIRN_SENSOR_BEGIN && event->shape_a == state->sensor) {
            cairn_body_apply_impulse_at_centre(
                world, event->body_b, cairn_vec3_of(0.5f * mass, 2 * mass, 0));
        }
    }
    (void)cairn_world_body_events(world, &count);
    if (count > 0) {
        cairn_body_destroy(world, state->balls[state->next % 8]);
    }
}

static const cairn_rules refereeing = {.name = "refereeing",
    .version = 1,
    .state_size = sizeof(referee),
    .start = referee_start,
    .step = referee_step,
    .after_step = referee_after_step};

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

static void count_hits(void *user, cairn_storm *storm, const cairn_world *world) {
    uint32_t count = 0;
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    (void)storm;
    for (uint32_t i = 0; i < count; i++) {
        ((uint32_t *)user)[events[i].kind]++;
    }
}

TEST("rules that act on events pass, whatever is rolled back, repaired or sought") {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        uint32_t kinds[6] = {0};
        cairn_storm_config config = cairn_storm_config_default();
        config.seed = seed;
        config.rules = &refereeing;
        config.on_server = count_hits;
        config.user = kinds;
        const cairn_storm_report report = run(&config);
        assert_string_equal(report.words, "");
        assert_true(report.roots_compared > 0);
        assert_true(kinds[CAIRN_CONTACT_HIT] > 0 && kinds[CAIRN_SENSOR_BEGIN] > 0);
    }
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

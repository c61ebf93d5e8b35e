// SPDX-License-Identifier: MIT
// Names of bodies, shapes and joints; what rules find of them when they start, and what a host
// tells rules.

#include "tests/sim/world_kit.h"

static cairn_body_id named(cairn_world *world, const char *name) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.name = cairn_name_hash(name);
    shape.name = cairn_name_hash(name);
    return kit_body(world, &def, &shape);
}

TEST("the hash of a name is FNV-1a, and 0 is no name") {
    assert_int_equal(cairn_name_hash(""), 0);
    assert_int_equal(cairn_name_hash("a"), 0xe40c292cu); // of its authors' test suite
    assert_int_equal(cairn_name_hash("foobar"), 0xbf9cf968u);
}

TEST("what has a name is found until it is destroyed") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id first = named(world, "ball");
    const cairn_body_id other = named(world, "goal");
    const cairn_body_id second = named(world, "ball");
    cairn_joint_def joint = cairn_joint_def_default();
    cairn_joint_id made = 0;
    joint.body_a = first;
    joint.body_b = other;
    joint.user = 7;
    joint.name = cairn_name_hash("rope");
    EXPECT_OK(cairn_joint_create(world, &joint, &made));
    cairn_body_id found[2] = {0};
    assert_int_equal(cairn_world_find_bodies(world, "ball", found, 1), 2);
    assert_true(found[0] == first && found[1] == 0);
    assert_int_equal(cairn_world_find_bodies(world, "ball", found, 2), 2);
    assert_true(found[1] == second);
    assert_true(cairn_world_find_body(world, "goal") == other);
    assert_int_equal(cairn_world_find_body(world, "nothing"), CAIRN_ID_NULL);
    assert_int_equal(cairn_world_find_body(world, ""), CAIRN_ID_NULL);
    assert_true(cairn_world_find_joint(world, "rope") == made);
    cairn_joint_def read;
    EXPECT_OK(cairn_joint_read(world, made, &read));
    assert_true(read.user == 7 && read.name == joint.name);
    cairn_shape_def shape;
    cairn_body_id owner = 0;
    EXPECT_OK(cairn_shape_read(world, cairn_world_find_shape(world, "goal"), &shape, &owner));
    assert_true(owner == other && shape.name == cairn_name_hash("goal"));
    EXPECT_OK(cairn_body_destroy(world, first));
    assert_true(cairn_world_find_body(world, "ball") == second);
    assert_int_equal(cairn_world_find_joint(world, "rope"), CAIRN_ID_NULL);
}

TEST("names travel with the state") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    SCOPED(cairn_world) *other = kit_world(NULL);
    const cairn_body_id ball = named(world, "ball");
    uint8_t bytes[65536];
    const size_t size = cairn_world_encode(world, bytes, sizeof bytes);
    assert_true(size > 0);
    EXPECT_OK(cairn_world_decode(other, bytes, size, NULL));
    assert_true(cairn_world_find_body(other, "ball") == ball);
    named(other, "goal");
    EXPECT_OK(cairn_world_copy(other, world));
    assert_int_equal(cairn_world_find_body(other, "goal"), CAIRN_ID_NULL);
    cairn_body_def def;
    EXPECT_OK(cairn_body_read_def(other, ball, &def));
    assert_true(def.name == cairn_name_hash("ball"));
}

typedef struct referee {
    cairn_body_id ball;
    uint32_t starts;
    uint32_t steps;
    uint32_t told; // a fold of what the host said, in order with the steps
} referee;

static void referee_start(cairn_world *world, void *memory) {
    referee *state = memory;
    state->ball = cairn_world_find_body(world, "ball");
    state->starts += 1;
}

static void referee_step(
    cairn_world *world, void *memory, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    for (uint32_t i = 0; i < command_count; ++i) {
        assert_true(commands[i].slot < CAIRN_SLOTS_MAX);
    }
    ((referee *)memory)->steps += 1;
}

static void referee_host(cairn_world *world, void *memory, const cairn_command *command) {
    referee *state = memory;
    (void)world;
    state->told = state->told * 31 + command->buttons + state->steps;
}

static const cairn_rules refereeing = {.name = "referee",
    .version = 1,
    .state_size = sizeof(referee),
    .start = referee_start,
    .step = referee_step,
    .host = referee_host};

static cairn_world *refereed(const cairn_rules *rules) {
    cairn_world_def def = cairn_world_def_default();
    def.rules = rules;
    return kit_world(&def);
}

static referee state_of(const cairn_world *world) {
    uint32_t size = 0;
    const referee *state = cairn_world_rules_state(world, &size);
    assert_int_equal(size, sizeof *state);
    return *state;
}

TEST("rules start when the scene is there, once, also after a restore at tick 0") {
    SCOPED(cairn_world) *world = refereed(&refereeing);
    const cairn_body_id ball = named(world, "ball");
    SCOPED(cairn_world) *fork = kit_fork(world);
    assert_int_equal(state_of(world).starts, 0);
    kit_run(world, 3);
    kit_run(fork, 3);
    assert_true(state_of(world).ball == ball);
    assert_int_equal(state_of(world).starts, 1);
    assert_int_equal(state_of(world).steps, 3);
    assert_true(kit_equal(world, fork));
}

TEST("a world without rules has no state of them") {
    uint32_t size = 1;
    SCOPED(cairn_world) *world = kit_world(NULL);
    assert_null(cairn_world_rules_state(world, &size));
    assert_int_equal(size, 0);
}

TEST("rules hear the host in order with the edits, before the step") {
    SCOPED(cairn_world) *world = refereed(&refereeing);
    const cairn_command said[] = {{.kind = CAIRN_COMMAND_INPUT, .slot = 3},
        {.kind = CAIRN_COMMAND_HOST,
            .slot = CAIRN_SLOT_OPERATOR,
            .sequence = 0,
            .buttons = 5,
            .move = {1e30f, 0, 0}},
        {.kind = CAIRN_COMMAND_HOST, .slot = CAIRN_SLOT_OPERATOR, .sequence = 1, .buttons = 9}};
    kit_run(world, 2);
    cairn_world_step(world, said, 3);
    assert_int_equal(state_of(world).told, (5 + 2) * 31 + 9 + 2);
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    // Rules without the function, and none at all.
    cairn_rules deaf = refereeing;
    deaf.host = NULL;
    SCOPED(cairn_world) *silent = refereed(&deaf);
    cairn_world_step(silent, said, 3);
    assert_int_equal(state_of(silent).told, 0);
    assert_int_equal(cairn_world_counters_read(silent).edits_refused, 2);
    SCOPED(cairn_world) *bare = kit_world(NULL);
    cairn_world_step(bare, said, 3);
    assert_int_equal(cairn_world_counters_read(bare).edits_refused, 2);
}

// SPDX-License-Identifier: MIT
// Commands, the rules hook and the sandbox; the floating-point mode around a step.

#include "tests/sim/world_kit.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "sim/math/float_env.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

// commands

static cairn_command press(uint32_t slot, uint32_t buttons) {
    return (cairn_command){.kind = CAIRN_COMMAND_INPUT, .slot = slot, .buttons = buttons};
}

static cairn_command joining(uint32_t slot) {
    return (cairn_command){.kind = CAIRN_COMMAND_JOIN, .slot = slot};
}

TEST("a command from outside is checked") {
    const struct {
        cairn_command command;
        cairn_status status;
    } rows[] = {{press(0, 0), CAIRN_OK}, {{.kind = 0}, CAIRN_INVALID_ARGUMENT},
        {{.kind = CAIRN_COMMAND_INPUT + 1}, CAIRN_INVALID_ARGUMENT},
        {press(CAIRN_SLOTS_MAX, 0), CAIRN_INVALID_ARGUMENT},
        {{.kind = CAIRN_COMMAND_INPUT, .move.x = 1.5f}, CAIRN_INVALID_ARGUMENT},
        {{.kind = CAIRN_COMMAND_INPUT, .move.x = NAN}, CAIRN_NON_FINITE},
        {{.kind = CAIRN_COMMAND_INPUT, .move.x = -1.0f, .aim.z = INFINITY}, CAIRN_NON_FINITE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (cairn_command_check(&rows[i].command) != rows[i].status) {
            fail_msg("row %zu", i);
        }
    }
}

#define SHUFFLED 40

TEST("commands in any order are sorted into the same order") {
    cairn_command sorted[SHUFFLED];
    cairn_random random = cairn_random_of(11);
    for (uint32_t i = 0; i < SHUFFLED; ++i) {
        sorted[i] = press(i % 5, i % 3);
        sorted[i].kind = 1 + i % 3;
        sorted[i].sequence = i % 4;
        sorted[i].aim.y = (float)(i % 2);
    }
    cairn_commands_sort(sorted, SHUFFLED);
    const cairn_hash128 digest = cairn_commands_digest(9, sorted, SHUFFLED);
    for (uint32_t i = 1; i < SHUFFLED; ++i) {
        assert_true(sorted[i - 1].slot <= sorted[i].slot);
    }
    for (uint32_t round = 0; round < 50; ++round) {
        cairn_command other[SHUFFLED];
        memcpy(other, sorted, sizeof other);
        for (uint32_t i = SHUFFLED - 1; i > 0; --i) {
            const uint64_t k = cairn_random_below(&random, i + 1);
            const cairn_command kept = other[i];
            other[i] = other[k];
            other[k] = kept;
        }
        cairn_commands_sort(other, SHUFFLED);
        assert_memory_equal(other, sorted, sizeof other);
    }
    sorted[3].buttons ^= 1u;
    assert_false(cairn_hash_equal(digest, cairn_commands_digest(9, sorted, SHUFFLED)));
    sorted[3].buttons ^= 1u;
    assert_false(cairn_hash_equal(digest, cairn_commands_digest(10, sorted, SHUFFLED)));
    assert_true(cairn_hash_equal(digest, cairn_commands_digest(9, sorted, SHUFFLED)));
}

TEST("every word of a command is in the digest") {
    cairn_command command = press(1, 2);
    command.move = vec3(0.25f, 0.5f, 0.75f);
    command.aim = vec3(0.125f, 0.375f, 0.625f);
    const cairn_hash128 digest = cairn_commands_digest(1, &command, 1);
    for (size_t word = 0; word < sizeof command / 4; ++word) {
        cairn_command other = command;
        unsigned char *bytes = (unsigned char *)&other;
        bytes[4 * word] ^= 1u;
        assert_false(cairn_hash_equal(digest, cairn_commands_digest(1, &other, 1)));
    }
    assert_false(cairn_hash_equal(digest, cairn_commands_digest(1, &command, 0)));
}

// the sandbox

static cairn_world *sandbox_world(void) {
    cairn_world_def def = cairn_world_def_default();
    def.rules = &cairn_rules_sandbox;
    cairn_world *world = kit_world(&def);
    kit_ground(world);
    return world;
}

// Steps with one command and returns how many bodies there are.
static uint32_t step_with(cairn_world *world, cairn_command command) {
    cairn_world_step(world, &command, 1);
    return cairn_world_counts_read(world).bodies;
}

// A world in which player 0 has joined and landed.
static cairn_world *world_with_player(void) {
    cairn_world *world = sandbox_world();
    (void)step_with(world, joining(0));
    kit_run(world, 90);
    return world;
}

static cairn_body_state player(const cairn_world *world) {
    return kit_read(world, 2); // the first body after the ground
}

TEST("a player has a box from its join to its leave") {
    SCOPED(cairn_world) *world = sandbox_world();
    assert_int_equal(step_with(world, joining(3)), 2);
    assert_int_equal(step_with(world, joining(3)), 2);
    const cairn_command leave = {.kind = CAIRN_COMMAND_LEAVE, .slot = 3};
    assert_int_equal(step_with(world, leave), 1);
    assert_int_equal(step_with(world, leave), 1);
    assert_int_equal(step_with(world, press(3, CAIRN_SANDBOX_THROW)), 1);
}

TEST("a player drives in the direction of its input") {
    SCOPED(cairn_world) *world = world_with_player();
    cairn_command command = press(0, 0);
    const float from = player(world).position.x;
    command.move = vec3(1.0f, 0.0f, 0.0f);
    for (uint32_t i = 0; i < 60; ++i) {
        (void)step_with(world, command);
    }
    assert_true(player(world).position.x > from + 3.0f);
    assert_true(player(world).linear_velocity.x < 7.0f);
}

TEST("a jump needs ground and a new press of the button") {
    SCOPED(cairn_world) *world = sandbox_world();
    (void)step_with(world, joining(0));
    (void)step_with(world, press(0, CAIRN_SANDBOX_JUMP)); // in the air
    assert_true(player(world).linear_velocity.y < 0.0f);
    (void)step_with(world, press(0, 0));
    kit_run(world, 90);
    (void)step_with(world, press(0, CAIRN_SANDBOX_JUMP));
    assert_true(player(world).linear_velocity.y > 4.0f);
    for (uint32_t i = 0; i < 120; ++i) {
        (void)step_with(world, press(0, CAIRN_SANDBOX_JUMP)); // held
    }
    assert_true(float_abs(player(world).linear_velocity.y) < 0.1f);
}

TEST("a push moves the body at which the player aims") {
    SCOPED(cairn_world) *world = world_with_player();
    cairn_command command = press(0, CAIRN_SANDBOX_PUSH);
    const cairn_vec3 at = player(world).position;
    const cairn_body_id box = kit_cube(world, vec3(at.x + 3.0f, 0.5f, at.z));
    command.aim = vec3(1.0f, 0.0f, 0.0f);
    (void)step_with(world, command);
    assert_true(kit_read(world, box).linear_velocity.x > 1.0f);
}

TEST("spawned bodies are bounded and the oldest is removed") {
    SCOPED(cairn_world) *world = sandbox_world();
    uint32_t most = 0;
    (void)step_with(world, joining(0));
    for (uint32_t i = 0; i < 200; ++i) {
        const uint32_t button = i % 4 == 0 ? CAIRN_SANDBOX_THROW : CAIRN_SANDBOX_SPAWN;
        const uint32_t count = step_with(world, press(0, i % 2 == 0 ? button : 0));
        most = count > most ? count : most;
    }
    assert_int_equal(most, 2 + 64);
    assert_false(cairn_body_exists(world, 3));
}

TEST("a full world spawns nothing and continues") {
    cairn_world_def def = cairn_world_def_default();
    def.rules = &cairn_rules_sandbox;
    def.body_capacity = 3;
    def.shape_capacity = 2;
    SCOPED(cairn_world) *world = kit_world(&def);
    kit_ground(world);
    assert_int_equal(step_with(world, joining(0)), 2);
    assert_int_equal(step_with(world, joining(1)), 2);
    assert_int_equal(step_with(world, press(0, CAIRN_SANDBOX_THROW)), 2);
    assert_true(cairn_world_counters_read(world).creates_refused > 0);
}

TEST("a player that falls off respawns") {
    SCOPED(cairn_world) *world = sandbox_world();
    (void)step_with(world, joining(0));
    const cairn_pose lost = {.position = vec3(0.0f, -200.0f, 0.0f), .rotation = quat_identity()};
    EXPECT_OK(cairn_body_set_pose(world, player(world).id, lost));
    kit_run(world, 1);
    assert_true(player(world).position.y > 0.0f);
}

// rules of a game

static void count_start(cairn_world *world, void *memory) {
    (void)world;
    ((uint32_t *)memory)[0] = 100;
}

static void count_step(
    cairn_world *world, void *memory, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)commands;
    ((uint32_t *)memory)[0] += 1 + command_count;
}

TEST("rules of a game keep their state in the world") {
    const cairn_rules counting = {.name = "counting",
        .version = 2,
        .state_size = 4,
        .start = count_start,
        .step = count_step};
    cairn_world_def def = cairn_world_def_default();
    def.rules = &counting;
    SCOPED(cairn_world) *world = kit_world(&def);
    SCOPED(cairn_world) *fresh = kit_world(&def);
    const cairn_command command = press(0, 0);
    cairn_world_step(world, &command, 1);
    kit_run(world, 1);
    kit_run(fresh, 2);
    cairn_difference found;
    assert_int_equal(cairn_world_diff(world, fresh, &found, 1), 1);
    assert_int_equal(found.section, CAIRN_SECTION_RULES);
    assert_int_equal(found.bits_a, 103);
    assert_int_equal(found.bits_b, 102);
}

// arithmetic

TEST("products are rounded before they are added") {
    assert_true(cairn_float_contract_ok());
    assert_true(cairn_float_mode_ok());
}

#if defined(__SSE2__)
// A library that is linked with -ffast-math changes the mode of the thread that loads it.
TEST("a step ignores and restores the caller's float mode") {
    const unsigned flush = 0x8040u;
    const unsigned round_up = 0x4000u;
    const unsigned usual = _mm_getcsr();
    SCOPED(cairn_world) *world = sandbox_world();
    SCOPED(cairn_world) *twin = sandbox_world();
    for (uint32_t i = 0; i < 60; ++i) {
        _mm_setcsr(usual | flush | round_up);
        (void)step_with(world, i == 0 ? joining(0) : press(0, 0));
        assert_int_equal(_mm_getcsr() & (flush | round_up), flush | round_up);
        _mm_setcsr(usual);
        (void)step_with(twin, i == 0 ? joining(0) : press(0, 0));
        assert_true(kit_equal(world, twin));
    }
}
#endif

// SPDX-License-Identifier: MIT
// What rules hear and send in a world.

#include "tests/kit/test.h"

#include <string.h>

#include "base/world_settings.h"
#include <cairn/sim.h>

typedef struct heard {
    uint32_t count;
    uint32_t slot;
    uint32_t size;
    uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX];
} heard;

static uint32_t sent_per_step;
static uint32_t sent_ok;

static void hear(
    cairn_world *world, void *state, uint32_t slot, const uint8_t *bytes, uint32_t size) {
    heard *h = state;
    (void)world;
    h->count += 1;
    h->slot = slot;
    h->size = size;
    memset(h->bytes, 0, sizeof h->bytes);
    memcpy(h->bytes, bytes, size);
}

static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)state;
    (void)commands;
    assert_int_equal(command_count, 0); // messages are not among them
    sent_ok = 0;
    for (uint32_t i = 0; i < sent_per_step; ++i) {
        sent_ok += cairn_world_send_message(world, 3, &i, sizeof i) == CAIRN_OK ? 1u : 0u;
    }
}

static const cairn_rules rules = {.name = "hearing",
    .version = 1,
    .state_size = sizeof(heard),
    .step = step,
    .message_size_max = CAIRN_GAME_MESSAGE_SIZE_MAX,
    .message = hear};

static cairn_world *make(const cairn_rules *of) {
    cairn_world_def def = cairn_world_def_default();
    def.rules = of;
    cairn_world *world = NULL;
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    return world;
}

static const heard *state_of(const cairn_world *world) {
    uint32_t size = 0;
    return cairn_world_rules_state(world, &size);
}

TEST("a message of every size arrives as it was sent") {
    cairn_world *world = make(&rules);
    sent_per_step = 0;
    uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX];
    for (uint32_t size = 1; size <= sizeof bytes; ++size) {
        for (uint32_t i = 0; i < size; ++i) {
            bytes[i] = (uint8_t)(255 - i * 7 + size);
        }
        cairn_command commands[CAIRN_MESSAGE_COMMANDS_MAX];
        const uint32_t count = cairn_commands_of_message(size % 64, bytes, size, 5, commands);
        for (uint32_t i = 0; i < count; ++i) {
            assert_int_equal(cairn_command_check(&commands[i]), CAIRN_OK);
        }
        cairn_world_step(world, commands, count);
        assert_int_equal(state_of(world)->count, size);
        assert_int_equal(state_of(world)->slot, size % 64);
        assert_int_equal(state_of(world)->size, size);
        assert_memory_equal(state_of(world)->bytes, bytes, size);
    }
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    cairn_world_destroy(world);
}

TEST("pieces that are no whole message are counted and not heard") {
    cairn_world *world = make(&rules);
    const uint8_t bytes[40] = {1, 2, 3};
    cairn_command commands[CAIRN_MESSAGE_COMMANDS_MAX];
    assert_int_equal(cairn_commands_of_message(1, bytes, sizeof bytes, 0, commands), 3);
    cairn_world_step(world, commands, 2); // the last is missing
    cairn_world_step(world, commands + 1, 2);
    assert_int_equal(state_of(world)->count, 0);
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 3);
    cairn_world_step(world, commands, 3);
    assert_int_equal(state_of(world)->count, 1);
    cairn_world_destroy(world);
}

TEST("a piece is checked") {
    const uint8_t bytes[20] = {1};
    cairn_command good[CAIRN_MESSAGE_COMMANDS_MAX];
    assert_int_equal(cairn_commands_of_message(1, bytes, sizeof bytes, 0, good), 2);
    static const struct {
        uint32_t buttons;
        float x, y;
    } rows[] = {{1 | 19 << 8 | 2 << 16, 0, 0}, // has no third piece
        {1 | 19 << 8 | 1 << 16, 0.5f, 0}, {1 | 19 << 8 | 1 << 16, -1, 0},
        {1 | 19 << 8 | 1 << 16, -0.0f, 0}, {1 | 19 << 8 | 1 << 16, 16777216.0f, 0},
        {1 | 19 << 8 | 1 << 16, 0, 1}}; // beyond the end
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_command bad = good[1];
        bad.buttons = rows[i].buttons;
        bad.move.x = rows[i].x;
        bad.move.y = rows[i].y;
        assert_int_equal(cairn_command_check(&bad), CAIRN_INVALID_ARGUMENT);
    }
    good[1].slot = 1;
    assert_int_equal(cairn_command_check(&good[1]), CAIRN_INVALID_ARGUMENT);
}

TEST("a step's messages are bounded, counted and forgotten by the next") {
    cairn_world *world = make(&rules);
    uint32_t count = 9;
    assert_null(cairn_world_game_messages(world, &count));
    assert_int_equal(count, 0);
    assert_int_equal(cairn_world_send_event(world, 0, "x", 1), CAIRN_INVALID_ARGUMENT); // no step
    sent_per_step = CAIRN_GAME_MESSAGES_PER_STEP_MAX + 5;
    cairn_world_step(world, NULL, 0);
    assert_int_equal(sent_ok, CAIRN_GAME_MESSAGES_PER_STEP_MAX);
    assert_int_equal(cairn_world_game_messages_refused(world), 5);
    const cairn_game_message *sent = cairn_world_game_messages(world, &count);
    assert_int_equal(count, CAIRN_GAME_MESSAGES_PER_STEP_MAX);
    assert_int_equal(sent[7].kind, CAIRN_GAME_MESSAGE);
    assert_int_equal(sent[7].slot, 3);
    assert_int_equal(sent[7].size, 4);
    assert_int_equal(sent[7].bytes[0], 7);
    cairn_world *fork = NULL;
    assert_int_equal(cairn_world_fork(world, &fork), CAIRN_OK);
    assert_null(cairn_world_game_messages(fork, &count));
    sent_per_step = 0;
    cairn_world_step(world, NULL, 0);
    assert_null(cairn_world_game_messages(world, &count));
    cairn_world_destroy(fork);
    cairn_world_destroy(world);
}

TEST("rules declare a function for messages and their size, or neither") {
    cairn_world_def def = cairn_world_def_default();
    cairn_rules wrong = rules;
    def.rules = &wrong;
    assert_int_equal(cairn_world_def_check(&def), CAIRN_OK);
    wrong.message_size_max = CAIRN_GAME_MESSAGE_SIZE_MAX + 1;
    assert_int_equal(cairn_world_def_check(&def), CAIRN_INVALID_ARGUMENT);
    wrong.message_size_max = 0;
    assert_int_equal(cairn_world_def_check(&def), CAIRN_INVALID_ARGUMENT);
    wrong.message = NULL;
    assert_int_equal(cairn_world_def_check(&def), CAIRN_OK);
}

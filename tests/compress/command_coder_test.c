// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "base/random.h"
#include "compress/command_coder.h"

enum { PLAYERS = 8, BYTES = CAIRN_TICK_COMMANDS_SIZE_MAX };

static cairn_command before[CAIRN_COMMANDS_PER_TICK_MAX];
static cairn_command tick[CAIRN_COMMANDS_PER_TICK_MAX];
static cairn_command decoded[CAIRN_COMMANDS_PER_TICK_MAX];
static uint8_t bytes[BYTES];

// Codes a tick, expects it back, and returns its size.
static size_t expect_coded(uint32_t before_count, uint32_t count) {
    const cairn_tick_commands held = {before, before_count};
    cairn_command_coder encoder = cairn_command_encoder(bytes, BYTES);
    cairn_commands_encode(&encoder, held, (cairn_tick_commands){tick, count});
    const size_t size = cairn_command_encoder_finish(&encoder);
    assert_true(size <= BYTES);
    cairn_command_coder decoder = cairn_command_decoder(bytes, size);
    assert_int_equal(
        cairn_commands_decode(&decoder, held, decoded, CAIRN_COMMANDS_PER_TICK_MAX), count);
    assert_true(decoder.ok);
    assert_memory_equal(decoded, tick, count * sizeof tick[0]);
    return size;
}

static void hold(uint32_t players) {
    for (uint32_t i = 0; i < players; ++i) {
        before[i] = (cairn_command){.kind = CAIRN_COMMAND_INPUT,
            .slot = i,
            .sequence = 100 + i,
            .buttons = i,
            .move = {0.7071f, 0, -0.7071f},
            .aim = {0, 0.6f, 0.8f}};
        tick[i] = before[i];
        tick[i].sequence += 1;
    }
}

TEST("players that hold what they held cost a twentieth of a bit each") {
    hold(CAIRN_SLOTS_MAX);
    assert_int_equal(expect_coded(0, 0), 0);
    assert_int_equal(expect_coded(2, 2), 0);
    assert_int_equal(expect_coded(CAIRN_SLOTS_MAX, CAIRN_SLOTS_MAX), 0);
}

TEST("a player that changes costs what changed") {
    hold(PLAYERS);
    tick[3].buttons ^= 4;
    assert_in_range(expect_coded(PLAYERS, PLAYERS), 1, 4);
    tick[3].move = (cairn_vec3){1, 0, 0};
    assert_in_range(expect_coded(PLAYERS, PLAYERS), 1, 6);
    tick[3].aim = (cairn_vec3){0.1f, 0.2f, 0.3f};
    assert_in_range(expect_coded(PLAYERS, PLAYERS), 6, 20);
}

TEST("an input that is missing, repeated, or of a new player is coded") {
    hold(PLAYERS);
    memmove(&tick[2], &tick[3], (PLAYERS - 3) * sizeof tick[0]);
    assert_in_range(expect_coded(PLAYERS, PLAYERS - 1), 1, 2);
    hold(PLAYERS);
    tick[5].sequence -= 1;
    assert_in_range(expect_coded(PLAYERS, PLAYERS), 1, 2);
    hold(PLAYERS);
    assert_in_range(expect_coded(PLAYERS - 1, PLAYERS), 8, 26);
}

static float draw_number(cairn_random *random) {
    switch (cairn_random_below(random, 5)) {
    case 0:
        return 0.0f;
    case 1:
        return -0.0f;
    case 2:
        return (float)cairn_random_below(random, 65537) / 32768.0f - 1.0f;
    case 3:
        return 1e30f * (cairn_random_unit(random) - 0.5f);
    default:
        return 2.0f * cairn_random_unit(random) - 1.0f;
    }
}

static cairn_command draw_command(cairn_random *random, uint32_t kind, uint32_t slot) {
    cairn_command command = {.kind = kind,
        .slot = slot,
        .sequence = (uint32_t)cairn_random_next(random) >> cairn_random_below(random, 32),
        .buttons = (uint32_t)cairn_random_next(random) >> cairn_random_below(random, 32)};
    command.move = (cairn_vec3){draw_number(random), draw_number(random), draw_number(random)};
    command.aim = (cairn_vec3){draw_number(random), draw_number(random), draw_number(random)};
    return command;
}

// Inputs of one to three parts, some of them kept from the tick before, joins, and edits.
static uint32_t draw_tick(cairn_random *random, uint32_t held_count) {
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < PLAYERS; ++slot) {
        const cairn_tick_commands held = {before, held_count};
        const cairn_tick_commands input = cairn_input_of_slot(held, slot);
        if (cairn_random_below(random, 8) == 0) {
            tick[count++] = draw_command(random, CAIRN_COMMAND_JOIN, slot);
        }
        const uint32_t parts = (uint32_t)cairn_random_below(random, 4);
        const uint32_t first = count;
        for (uint32_t part = 0; part < parts; ++part) {
            tick[count++] = draw_command(random,
                part == 0 ? CAIRN_COMMAND_INPUT : CAIRN_COMMAND_INPUT_SECOND + part - 1, slot);
            tick[count - 1].sequence = tick[first].sequence;
        }
        if (input.count > 0 && input.count == parts && cairn_random_below(random, 2) == 0) {
            memcpy(&tick[first], input.commands, parts * sizeof tick[0]);
            tick[first].buttons ^= cairn_random_below(random, 2) == 0 ? 1 : 0;
        }
    }
    for (uint64_t edits = cairn_random_below(random, 4); edits > 0; --edits) {
        tick[count++] =
            draw_command(random, CAIRN_COMMAND_SPAWN_BOX + (uint32_t)cairn_random_below(random, 60),
                CAIRN_SLOT_OPERATOR);
    }
    cairn_commands_sort(tick, count);
    return count;
}

TEST("any commands decode to themselves") {
    cairn_random random = cairn_random_of(3);
    uint32_t held = 0;
    for (uint32_t i = 0; i < 2000; ++i) {
        const uint32_t count = draw_tick(&random, held);
        expect_coded(held, count);
        memcpy(before, tick, count * sizeof tick[0]);
        held = count;
    }
}

// The bytes of kinds below 32 are those of before there were more, in recordings too.
TEST("a kind above 31 costs five bits more, and one below 32 none") {
    size_t sizes[2];
    for (uint32_t i = 0; i < 2; ++i) {
        uint32_t count = 0;
        for (; count < 64; ++count) {
            tick[count] = (cairn_command){
                .kind = 31 + i, .slot = CAIRN_SLOT_OPERATOR, .sequence = count, .buttons = 7};
        }
        sizes[i] = expect_coded(0, count);
    }
    assert_int_equal(sizes[1] - sizes[0], 64 * 5 / 8);
    static const uint8_t expected[] = {0xff, 0xf3, 0x98, 0x5b, 0x52, 0x56};
    tick[0] = (cairn_command){
        .kind = CAIRN_COMMAND_DESTROY, .slot = CAIRN_SLOT_OPERATOR, .sequence = 1, .buttons = 7};
    assert_int_equal(expect_coded(0, 1), sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);
}

TEST("the largest tick fits") {
    cairn_random random = cairn_random_of(4);
    for (uint32_t i = 0; i < CAIRN_COMMANDS_PER_TICK_MAX; ++i) {
        tick[i] = draw_command(&random, 63, CAIRN_SLOT_OPERATOR);
        tick[i].sequence = UINT32_MAX - CAIRN_COMMANDS_PER_TICK_MAX + i;
    }
    expect_coded(0, CAIRN_COMMANDS_PER_TICK_MAX);
}

TEST("bytes that name too many commands are refused") {
    const uint8_t noise[2] = {0xf8, 0x30}; // 2^32 commands
    const cairn_tick_commands none = {.count = 0};
    cairn_command_coder decoder = cairn_command_decoder(noise, 2);
    assert_int_equal(
        cairn_commands_decode(&decoder, none, decoded, CAIRN_COMMANDS_PER_TICK_MAX), 0);
    assert_false(decoder.ok);
    hold(2);
    cairn_command_coder encoder = cairn_command_encoder(bytes, BYTES);
    cairn_commands_encode(&encoder, none, (cairn_tick_commands){tick, 2});
    const size_t size = cairn_command_encoder_finish(&encoder);
    for (uint32_t most = 1; most <= 2; ++most) {
        decoder = cairn_command_decoder(bytes, size);
        assert_int_equal(cairn_commands_decode(&decoder, none, decoded, most), most == 2 ? 2 : 0);
        assert_int_equal(decoder.ok, most == 2);
    }
}

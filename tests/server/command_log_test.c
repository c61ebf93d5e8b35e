// SPDX-License-Identifier: MIT
// The last ticks of a room are read as they were stored, in spans that fit their message.
#include "tests/kit/test.h"

#include "server/room/command_log.h"

#define TICKS 8
#define COMMANDS 3

static cairn_command_log *history_of(uint64_t first, uint64_t end) {
    cairn_command_log *command_log;
    assert_int_equal(cairn_command_log_create(TICKS, COMMANDS, &command_log), CAIRN_OK);
    for (uint64_t tick = first; tick < end; ++tick) {
        const cairn_command commands[COMMANDS] = {
            {.kind = CAIRN_COMMAND_INPUT, .slot = 1, .sequence = (uint32_t)tick},
            {.kind = CAIRN_COMMAND_INPUT, .slot = 2, .sequence = (uint32_t)tick},
            {.kind = CAIRN_COMMAND_INPUT, .slot = 3, .sequence = (uint32_t)tick}};
        const cairn_hash128 root = {.lo = tick, .hi = ~tick};
        cairn_command_log_add(command_log, tick, commands, (uint32_t)(tick % (COMMANDS + 1)), root);
    }
    return command_log;
}

typedef struct arrays {
    cairn_wire_tick ticks[TICKS];
    cairn_command commands[TICKS * COMMANDS];
} arrays;

static cairn_command_log_span run_of(arrays *in, uint32_t ticks, uint32_t commands) {
    return (cairn_command_log_span){.ticks = in->ticks,
        .tick_capacity = ticks,
        .commands = in->commands,
        .command_capacity = commands};
}

TEST("a full log drops its oldest tick") {
    static const struct {
        uint64_t first, end, oldest;
    } rows[] = {{0, 0, 0}, {0, 1, 0}, {0, 8, 0}, {0, 9, 1}, {0, 100, 92}, {50, 53, 50}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_command_log *command_log = history_of(rows[i].first, rows[i].end);
        assert_int_equal(cairn_command_log_oldest(command_log), rows[i].oldest);
        assert_int_equal(cairn_command_log_end(command_log), rows[i].end);
        cairn_hash128 root;
        assert_false(cairn_command_log_root(command_log, rows[i].end, &root));
        if (rows[i].oldest > 0) {
            assert_false(cairn_command_log_root(command_log, rows[i].oldest - 1, &root));
        }
        for (uint64_t tick = rows[i].oldest; tick < rows[i].end; ++tick) {
            assert_true(cairn_command_log_root(command_log, tick, &root));
            assert_true(root.lo == tick && root.hi == ~tick);
        }
        cairn_command_log_destroy(command_log);
    }
}

TEST("a span has consecutive ticks with their commands") {
    cairn_command_log *command_log = history_of(0, 20);
    arrays in;
    cairn_command_log_span run = run_of(&in, TICKS, TICKS * COMMANDS);
    cairn_command_log_read(command_log, 13, &run);
    assert_int_equal(run.tick_count, 7);
    uint32_t commands = 0;
    for (uint32_t i = 0; i < run.tick_count; ++i) {
        const cairn_wire_tick *tick = &run.ticks[i];
        assert_int_equal(tick->tick, 13 + i);
        assert_true(tick->root_lo == tick->tick);
        assert_int_equal(tick->first_command, commands);
        assert_int_equal(tick->command_count, tick->tick % (COMMANDS + 1));
        for (uint32_t c = 0; c < tick->command_count; ++c) {
            assert_int_equal(run.commands[commands + c].sequence, tick->tick);
            assert_int_equal(run.commands[commands + c].slot, c + 1);
        }
        commands += tick->command_count;
    }
    assert_int_equal(run.command_count, commands);
    cairn_command_log_destroy(command_log);
}

// Counts that make the ring wrap around and grow again and again.
static uint32_t busy_count(uint64_t tick) {
    return (uint32_t)(tick * tick % 7 * (tick / 50 % 40) % 201);
}

TEST("ticks of any number of commands are read as they were stored, while the log grows") {
    enum { HELD = 300, MOST = 200 };
    cairn_command_log *log;
    assert_int_equal(cairn_command_log_create(HELD, MOST, &log), CAIRN_OK);
    for (uint64_t tick = 5; tick < 2000; ++tick) {
        cairn_command commands[MOST];
        const uint32_t count = busy_count(tick);
        for (uint32_t i = 0; i < count; ++i) {
            commands[i] = (cairn_command){.slot = i, .sequence = (uint32_t)tick};
        }
        cairn_command_log_add(log, tick, commands, count, (cairn_hash128){.lo = tick});
        const uint64_t oldest = cairn_command_log_oldest(log);
        assert_int_equal(oldest, tick < 5 + HELD ? 5 : tick + 1 - HELD);
        for (uint64_t held = oldest; tick % 9 == 0 && held <= tick; ++held) {
            uint32_t read = 0;
            const cairn_command *stored = cairn_command_log_commands(log, held, &read);
            assert_int_equal(read, busy_count(held));
            for (uint32_t i = 0; i < read; ++i) {
                assert_true(stored[i].slot == i && stored[i].sequence == held);
            }
        }
    }
    cairn_command_log_destroy(log);
}

TEST("a span ends where its arrays are full") {
    static const struct {
        uint64_t from;
        uint32_t tick_room, command_room, ticks, commands;
    } rows[] = {
        {12, 8, 24, 8, 12}, {12, 3, 24, 3, 3},
        {12, 8, 3, 3, 3},                    // 0 + 1 + 2, and three more do not fit
        {13, 8, 5, 2, 3},                    // 1 + 2
        {19, 8, 3, 1, 3}, {20, 8, 24, 0, 0}, // not stepped yet
        {11, 8, 24, 0, 0},                   // forgotten
    };
    cairn_command_log *command_log = history_of(0, 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        arrays in;
        cairn_command_log_span run = run_of(&in, rows[i].tick_room, rows[i].command_room);
        cairn_command_log_read(command_log, rows[i].from, &run);
        assert_int_equal(run.tick_count, rows[i].ticks);
        assert_int_equal(run.command_count, rows[i].commands);
    }
    cairn_command_log_destroy(command_log);
}

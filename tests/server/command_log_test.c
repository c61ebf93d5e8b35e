// SPDX-License-Identifier: MIT
// The last ticks of a room are read as they were stored.
#include "tests/kit/test.h"

#include "server/room/command_log.h"
#include "server/room/game_log.h"

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

// Counts that make the log grow, and become smaller, again and again.
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

// Ticks with as many commands as there may be.
static void add_full_ticks(cairn_command_log *log, uint64_t from, uint64_t to) {
    static cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    for (uint64_t tick = from; tick < to; ++tick) {
        for (uint32_t i = 0; i < CAIRN_COMMANDS_PER_TICK_MAX; ++i) {
            commands[i] = (cairn_command){.slot = i, .sequence = (uint32_t)tick};
        }
        cairn_command_log_add(
            log, tick, commands, CAIRN_COMMANDS_PER_TICK_MAX, (cairn_hash128){.lo = tick});
    }
}

static void expect_full_ticks(const cairn_command_log *log) {
    const uint64_t end = cairn_command_log_end(log);
    for (uint64_t tick = cairn_command_log_oldest(log); tick < end; ++tick) {
        uint32_t count = 0;
        cairn_hash128 root;
        const cairn_command *commands = cairn_command_log_commands(log, tick, &count);
        assert_true(cairn_command_log_root(log, tick, &root) && root.lo == tick);
        assert_int_equal(count, CAIRN_COMMANDS_PER_TICK_MAX);
        for (uint32_t i = 0; i < count; i += 97) {
            assert_true(commands[i].slot == i && commands[i].sequence == tick);
        }
    }
}

TEST("ticks from one on are kept until the log is told otherwise, and it is small again") {
    cairn_command_log *log = history_of(0, 50);
    const size_t small = cairn_command_log_bytes(log);
    cairn_command_log_keep(log, 45);
    for (uint64_t tick = 50; tick < 20000; ++tick) {
        const cairn_command command = {.slot = 1, .sequence = (uint32_t)tick};
        cairn_command_log_add(
            log, tick, &command, (uint32_t)(tick % 2), (cairn_hash128){.lo = tick});
        assert_int_equal(cairn_command_log_oldest(log), tick < 52 ? tick - 7 : 45);
    }
    for (uint64_t tick = 50; tick < 20000; ++tick) {
        uint32_t count;
        const cairn_command *commands = cairn_command_log_commands(log, tick, &count);
        assert_true(count == tick % 2 && (count == 0 || commands[0].sequence == tick));
    }
    assert_true(cairn_command_log_bytes(log) > 4 * small);
    cairn_command_log_keep(log, 15000);
    cairn_command_log_add(log, 20000, NULL, 0, (cairn_hash128){0});
    assert_int_equal(cairn_command_log_oldest(log), 15000);
    cairn_command_log_keep(log, UINT64_MAX);
    cairn_command_log_add(log, 20001, NULL, 0, (cairn_hash128){0});
    assert_int_equal(cairn_command_log_oldest(log), 20002 - TICKS);
    assert_int_equal(cairn_command_log_bytes(log), small);
    uint32_t count;
    assert_int_equal(cairn_command_log_commands(log, 19999, &count)[0].sequence, 19999);
    cairn_command_log_destroy(log);
}

// A log of 30 MB that moved its commands when it grows, or gave back its memory at once when it
// becomes small, would take milliseconds of a tick.
TEST(
    "a log that grows moves no commands, and one that becomes small gives memory back bit by bit") {
    cairn_command_log *log;
    assert_int_equal(cairn_command_log_create(TICKS, CAIRN_COMMANDS_PER_TICK_MAX, &log), CAIRN_OK);
    cairn_command_log_keep(log, 0);
    add_full_ticks(log, 0, 1);
    uint32_t count = 0;
    const cairn_command *first = cairn_command_log_commands(log, 0, &count);
    add_full_ticks(log, 1, 300);
    assert_ptr_equal(cairn_command_log_commands(log, 0, &count), first);
    size_t bytes = cairn_command_log_bytes(log);
    const size_t most = bytes;
    cairn_command_log_keep(log, UINT64_MAX);
    for (uint64_t tick = 300; tick < 400; ++tick) {
        cairn_command_log_add(log, tick, NULL, 0, (cairn_hash128){.lo = tick});
        const size_t now = cairn_command_log_bytes(log);
        assert_true(now <= bytes && bytes - now <= 1024 * 1024);
        bytes = now;
    }
    assert_true(bytes < most / 50);
    cairn_command_log_destroy(log);
}

TEST("kept ticks take no more than the bound, and those that are always kept may") {
    static const struct {
        uint32_t ticks;
        bool within;
    } rows[] = {{TICKS, true}, {1000, false}}; // 1000 such ticks are 51 MB
    for (size_t i = 0; i < 2; ++i) {
        cairn_command_log *log;
        assert_int_equal(
            cairn_command_log_create(rows[i].ticks, CAIRN_COMMANDS_PER_TICK_MAX, &log), CAIRN_OK);
        cairn_command_log_keep(log, 0);
        add_full_ticks(log, 0, 2000);
        expect_full_ticks(log);
        const size_t bytes = cairn_command_log_bytes(log);
        const uint64_t held = 2000 - cairn_command_log_oldest(log);
        assert_true((bytes <= CAIRN_COMMAND_LOG_KEPT_BYTES_MAX) == rows[i].within);
        // Most of the bytes are used: a block has room for three such ticks and a fifth. A larger
        // log keeps what it has room for anyway.
        assert_true(rows[i].within ? held > 560 : held >= 1000);
        cairn_command_log_keep(log, UINT64_MAX);
        add_full_ticks(log, 2000, 2010);
        expect_full_ticks(log);
        assert_int_equal(cairn_command_log_oldest(log), 2010 - rows[i].ticks);
        assert_true(cairn_command_log_bytes(log) < bytes);
        cairn_command_log_destroy(log);
    }
}

TEST("of a log of game messages what was overwritten is missed, and others' messages are passed") {
    static cairn_game_record ring[CAIRN_GAME_LOG_CAPACITY];
    cairn_game_log log = {.ring = ring};
    for (uint32_t i = 0; i < CAIRN_GAME_LOG_CAPACITY + 10; ++i) {
        ring[log.written++ % CAIRN_GAME_LOG_CAPACITY] = (cairn_game_record){
            .tick = i, .message = {.slot = i % 3 == 0 ? CAIRN_SLOT_ALL : i % 3}};
    }
    static const struct {
        uint32_t slot;
        uint64_t next, missed, found; // number of the record
    } rows[] = {{1, 0, 10, 10}, {2, 0, 10, 11}, {1, 9, 1, 10}, {1, 10, 0, 10}, {1, 11, 0, 12},
        {CAIRN_SLOT_NONE, 0, 10, 12}, {CAIRN_SLOT_NONE, 12, 0, 12}, {CAIRN_SLOT_NONE, 13, 0, 15}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint64_t next = rows[i].next, missed = 0;
        const cairn_game_record *found = cairn_game_log_next(&log, rows[i].slot, &next, &missed);
        assert_non_null(found);
        assert_int_equal(found->tick, rows[i].found);
        assert_int_equal(next, rows[i].found);
        assert_int_equal(missed, rows[i].missed);
    }
    uint64_t end = log.written, missed = 0;
    assert_null(cairn_game_log_next(&log, 1, &end, &missed));
    assert_int_equal(end, log.written);
    assert_int_equal(missed, 0);
}

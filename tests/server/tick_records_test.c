// SPDX-License-Identifier: MIT
// The ring of encoded ticks: each record decodes to the tick's commands, and none lies beyond it.
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "server/replicate/tick_records.h"

#define TICKS 300
#define COMMANDS_MAX 600
#define MARGIN_SIZE ((size_t)CAIRN_TICK_COMMANDS_SIZE_MAX) // behind the ring
#define UNUSED 0xa5

static cairn_command commands[COMMANDS_MAX];
static cairn_command decoded[CAIRN_COMMANDS_PER_TICK_MAX];

static float draw_number(cairn_random *random) {
    return (float)cairn_random_below(random, 65537) / 32768.0f - 1.0f;
}

static void draw_commands(cairn_random *random, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        commands[i] = (cairn_command){.kind = CAIRN_COMMAND_INPUT,
            .slot = i / 4, // of which each has some parts
            .sequence = i % 4,
            .buttons = (uint32_t)cairn_random_next(random),
            .move = {draw_number(random), draw_number(random), draw_number(random)},
            .aim = {draw_number(random), draw_number(random), draw_number(random)}};
    }
}

static cairn_tick_commands commands_of(const cairn_command_log *log, uint64_t tick) {
    cairn_tick_commands out;
    out.commands = cairn_command_log_commands(log, tick, &out.count);
    return out;
}

// Returns the record's size.
static uint32_t expect_record(
    cairn_tick_records *records, const cairn_command_log *log, uint64_t tick, bool alone) {
    const cairn_tick_record record = cairn_tick_record_of(records, log, tick, alone);
    const cairn_tick_commands wanted = commands_of(log, tick);
    const cairn_tick_commands before =
        record.alone ? (cairn_tick_commands){.count = 0} : commands_of(log, tick - 1);
    assert_int_equal(record.tick, tick);
    assert_true(record.alone || !alone);
    assert_true(
        record.commands == records->scratch ||
        (record.commands >= records->bytes &&
            record.commands + record.commands_size <= records->bytes + CAIRN_TICK_RECORDS_SIZE));
    cairn_command_coder coder = cairn_command_decoder(record.commands, record.commands_size);
    assert_int_equal(
        cairn_commands_decode(&coder, before, decoded, CAIRN_COMMANDS_PER_TICK_MAX), wanted.count);
    assert_true(coder.ok);
    assert_memory_equal(decoded, wanted.commands, wanted.count * sizeof *decoded);
    return record.commands_size;
}

TEST("records of ticks of any size decode to their commands, and none is beyond the ring") {
    cairn_tick_records records;
    cairn_command_log *log;
    cairn_random random = cairn_random_of(5);
    uint32_t sizes = 0;
    assert_int_equal(cairn_command_log_create(TICKS, COMMANDS_MAX, &log), CAIRN_OK);
    assert_int_equal(cairn_tick_records_create(&records), CAIRN_OK);
    records.bytes = realloc(records.bytes, CAIRN_TICK_RECORDS_SIZE + MARGIN_SIZE);
    memset(records.bytes + CAIRN_TICK_RECORDS_SIZE, UNUSED, MARGIN_SIZE);
    for (uint64_t tick = 0; tick < TICKS; ++tick) {
        const uint32_t count = (uint32_t)cairn_random_below(&random, tick % 9 == 0 ? 600 : 200);
        draw_commands(&random, count);
        cairn_command_log_add(log, tick, commands, count, (cairn_hash128){0});
        sizes += expect_record(&records, log, tick, false);
        expect_record(&records, log, tick, false); // held, or in `scratch` again
        const uint64_t age = cairn_random_below(&random, tick + 1);
        expect_record(&records, log, tick - age, cairn_random_below(&random, 4) == 0);
    }
    assert_true(sizes > 10 * CAIRN_TICK_RECORDS_SIZE);
    for (size_t i = 0; i < MARGIN_SIZE; ++i) {
        assert_int_equal(records.bytes[CAIRN_TICK_RECORDS_SIZE + i], UNUSED);
    }
    cairn_tick_records_forget(&records);
    expect_record(&records, log, TICKS - 1, false);
    cairn_tick_records_destroy(&records);
    cairn_command_log_destroy(log);
}

TEST("a tick is encoded once for all who are sent it") {
    cairn_tick_records records;
    cairn_command_log *log;
    cairn_random random = cairn_random_of(5);
    assert_int_equal(cairn_command_log_create(TICKS, COMMANDS_MAX, &log), CAIRN_OK);
    assert_int_equal(cairn_tick_records_create(&records), CAIRN_OK);
    for (uint64_t tick = 0; tick < 20; ++tick) {
        draw_commands(&random, 4);
        cairn_command_log_add(log, tick, commands, 4, (cairn_hash128){0});
        const cairn_tick_record first = cairn_tick_record_of(&records, log, tick, false);
        const cairn_tick_record again = cairn_tick_record_of(&records, log, tick, false);
        assert_int_equal(again.commands_size, first.commands_size);
        assert_ptr_equal(again.commands, first.commands);
        if (!first.alone) {
            assert_ptr_not_equal(first.commands, records.scratch);
        }
    }
    // Those before as well, as long as the ring has them.
    for (uint64_t tick = 2; tick < 20; ++tick) {
        const uint32_t next = records.next;
        (void)cairn_tick_record_of(&records, log, tick, false);
        assert_int_equal(records.next, next);
    }
    cairn_tick_records_destroy(&records);
    cairn_command_log_destroy(log);
}

// SPDX-License-Identifier: MIT
// What a load program concludes from when ticks arrived: how late they were, and how many the
// server skipped.
#include "tests/kit/test.h"

#include "tools/load/ticks_seen.h"

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define START (1700000000 * S)
#define RATE 50
#define TICK (S / RATE)

static void see(load_ticks *ticks, uint64_t tick, uint64_t late_ns) {
    (void)load_ticks_note(ticks, RATE, tick, START + tick * TICK + late_ns);
}

static uint64_t lost(const load_ticks *ticks, uint64_t ticks_end, cairn_histogram *late) {
    *late = (cairn_histogram){0};
    return load_ticks_lateness(ticks, START, START + ticks_end * TICK, late);
}

TEST("ticks in time are not late, and one that is late counts by how much") {
    load_ticks ticks = {0};
    cairn_histogram late;
    for (uint64_t tick = 100; tick < 300; ++tick) {
        see(&ticks, tick, 3 * MS + (tick == 222 ? 7 * MS : 0));
    }
    assert_int_equal(lost(&ticks, 300, &late), 0);
    assert_int_equal(late.count, 200);
    assert_int_equal(late.max, 7 * MS);
    assert_int_equal(cairn_histogram_percentile(&late, 990), 0);
    assert_int_equal(lost(&ticks, 200, &late), 0);
    assert_int_equal(late.count, 100); // those in the time asked for
    assert_int_equal(late.max, 0);
    load_ticks_destroy(&ticks);
}

TEST("a schedule that moved back lost as many ticks, and is in time again a second later") {
    load_ticks ticks = {0};
    cairn_histogram late;
    for (uint64_t tick = 0; tick < 250; ++tick) {
        see(&ticks, tick, tick < 100 ? 0 : 3 * TICK);
    }
    assert_int_equal(lost(&ticks, 300, &late), 3);
    assert_int_equal(late.max, 0);
    load_ticks_destroy(&ticks);
}

TEST("clocks that drift lose nothing, and ticks that were not seen are not counted") {
    load_ticks ticks = {0};
    cairn_histogram late;
    for (uint64_t tick = 0; tick < 3000; tick += 3) {
        see(&ticks, tick, tick * TICK / 10000); // 100 parts in a million
    }
    assert_int_equal(lost(&ticks, 4000, &late), 0);
    assert_int_equal(late.count, 1000);
    assert_true(late.max < MS);
    load_ticks_destroy(&ticks);
}

TEST("a client is behind the first one that was told of the tick, in any order of reading") {
    load_ticks ticks = {0};
    assert_int_equal(load_ticks_note(&ticks, RATE, 7, START + 5), 0);
    assert_int_equal(load_ticks_note(&ticks, RATE, 7, START + 9), 4);
    assert_int_equal(load_ticks_note(&ticks, RATE, 7, START + 2), 0); // earlier than both
    assert_int_equal(load_ticks_note(&ticks, RATE, 7, START + 9), 7);
    assert_int_equal(load_ticks_note(&ticks, RATE, 6, START), 0); // before the first: not noted
    assert_int_equal(load_ticks_note(&ticks, RATE, UINT64_MAX, START), 0); // no memory for that
    assert_int_equal(ticks.count, 1);
    load_ticks_destroy(&ticks);
}

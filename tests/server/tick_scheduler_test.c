// SPDX-License-Identifier: MIT
// The tick schedule: exact at every rate, bounded catch-up, counted slips. Time control: a pause
// runs nothing, a burst runs what was asked for and no more, a stop stops, a rate is exact.
#include "tests/kit/test.h"

#include "server/room/time_control.h"

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define START (7 * S + 123)

static uint32_t run_due_ticks(cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    uint32_t ticks = cairn_tick_scheduler_take(scheduler, now_ns);
    for (uint32_t i = 0; i < ticks; ++i) {
        cairn_tick_scheduler_step(scheduler);
    }
    return ticks;
}

TEST("tick k is due at k seconds over the rate") {
    static const struct {
        uint32_t rate;
        uint64_t tick, due;
    } rows[] = {{60, 0, 0}, {60, 1, 16666666}, {60, 2, 33333333}, {60, 3, 50000000}, {60, 60, S},
        {128, 1, 7812500}, {128, 127, 992187500}, {240, 7, 29166666}, {10, 5, S / 2},
        {60, UINT64_C(60) * 86400 * 365 * 100, S * 86400 * 365 * 100}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, rows[i].rate, 4, 0);
        assert_int_equal(
            cairn_tick_scheduler_due_ns(&scheduler, rows[i].tick), START + rows[i].due);
    }
}

TEST("rooms of one rate start at one of a few phases") {
    static const uint32_t rates[] = {1, 30, 60, 128, 1000};
    const uint64_t server_ns = 123456789;
    for (size_t r = 0; r < sizeof rates / sizeof rates[0]; ++r) {
        const uint64_t phases_per_s = (uint64_t)rates[r] * CAIRN_TICK_PHASES;
        for (uint64_t now_ns = server_ns; now_ns < server_ns + 3 * S; now_ns += 7654321) {
            const uint64_t start_ns = cairn_tick_scheduler_start_ns(server_ns, now_ns, rates[r]);
            const uint64_t elapsed_ns = start_ns - server_ns;
            assert_true(start_ns >= now_ns);
            assert_true(start_ns - now_ns <= S / phases_per_s + 1);
            assert_true((elapsed_ns + 1) * phases_per_s % S <= phases_per_s);
            assert_int_equal(
                cairn_tick_scheduler_start_ns(server_ns, start_ns, rates[r]), start_ns);
        }
        assert_int_equal(cairn_tick_scheduler_start_ns(server_ns, server_ns, rates[r]), server_ns);
    }
}

TEST("a tick runs at its nanosecond and not one before") {
    static const uint32_t rates[] = {10, 60, 77, 128, 144, 240};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; ++r) {
        cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, rates[r], 4, 0);
        for (uint32_t k = 0; k < 1000; ++k) {
            uint64_t due = cairn_tick_scheduler_due_ns(&scheduler, k);
            assert_int_equal(run_due_ticks(&scheduler, due - 1), 0);
            assert_int_equal(run_due_ticks(&scheduler, due), 1);
            assert_int_equal(run_due_ticks(&scheduler, due), 0);
        }
    }
}

TEST("ten minutes have exactly their ticks at any rate") {
    static const uint32_t rates[] = {60, 128};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; ++r) {
        cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, rates[r], 4, 0);
        uint64_t ticks = 0;
        for (uint64_t now = START; now < START + 600 * S; now += 3333333) {
            ticks += run_due_ticks(&scheduler, now);
        }
        ticks += run_due_ticks(&scheduler, START + 600 * S - 1);
        assert_int_equal(ticks, 600 * rates[r]);
        assert_int_equal(scheduler.advances_overloaded, 0);
    }
}

TEST("a late driver catches up to a limit") {
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 60, 4, 0);
    assert_int_equal(run_due_ticks(&scheduler, START), 1);
    assert_int_equal(run_due_ticks(&scheduler, START + 50 * MS), 3);
    assert_int_equal(scheduler.ticks_skipped, 0);
    assert_int_equal(cairn_tick_scheduler_due_ns(&scheduler, 4), START + 66666666);
}

TEST("overload skips scheduled ticks, and the schedule slips") {
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 60, 4, 0);
    assert_int_equal(run_due_ticks(&scheduler, START + S), 4); // ticks 0 .. 60 are due
    assert_int_equal(scheduler.ticks_skipped, 57);
    assert_int_equal(scheduler.advances_overloaded, 1);
    assert_int_equal(scheduler.tick, 4);
    assert_int_equal(cairn_tick_scheduler_due_ns(&scheduler, 4), START + S + 16666666);
    assert_int_equal(run_due_ticks(&scheduler, START + S + 16666665), 0);
    assert_int_equal(run_due_ticks(&scheduler, START + S + 16666666), 1);
}

TEST("a suspended machine wakes without a burst") {
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 240, 2, 0);
    run_due_ticks(&scheduler, START);
    uint64_t year = START + 86400 * 365 * S;
    assert_int_equal(run_due_ticks(&scheduler, year), 2);
    assert_int_equal(run_due_ticks(&scheduler, year), 0);
    assert_true(cairn_tick_scheduler_due_ns(&scheduler, scheduler.tick) > year);
    assert_true(cairn_tick_scheduler_due_ns(&scheduler, scheduler.tick) <= year + 4166667);
}

TEST("no tick is due after a clock ran backwards") {
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 60, 4, 0);
    run_due_ticks(&scheduler, START + 100 * MS);
    uint64_t tick = scheduler.tick;
    assert_int_equal(run_due_ticks(&scheduler, START + 20 * MS), 0);
    assert_int_equal(run_due_ticks(&scheduler, START - 1), 0);
    assert_int_equal(run_due_ticks(&scheduler, 0), 0);
    assert_int_equal(scheduler.tick, tick);
}

TEST("a room restored at a tick starts at once") {
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 60, 4, 5000);
    assert_int_equal(cairn_tick_scheduler_due_ns(&scheduler, 5000), START);
    assert_int_equal(run_due_ticks(&scheduler, START), 1);
    assert_int_equal(cairn_tick_scheduler_due_ns(&scheduler, 5060), START + S);
}

TEST("lateness is signed and bounded") {
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 10, 4, 0);
    assert_int_equal(cairn_tick_scheduler_lateness_us(&scheduler, 1, START + 100 * MS), 0);
    assert_int_equal(cairn_tick_scheduler_lateness_us(&scheduler, 1, START + 107 * MS), 7000);
    assert_int_equal(cairn_tick_scheduler_lateness_us(&scheduler, 1, START), -100000);
    assert_int_equal(cairn_tick_scheduler_lateness_us(&scheduler, 0, START + 86400 * S), INT32_MAX);
    assert_int_equal(cairn_tick_scheduler_lateness_us(&scheduler, 864000, START), -INT32_MAX);
}

TEST("the lateness of tick batches is measured") {
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 10, 4, 0);
    for (uint64_t k = 0; k < 100; ++k) {
        run_due_ticks(&scheduler, START + k * S / 10 + (k == 50 ? 9000 : 100));
    }
    assert_int_equal(scheduler.lateness_ns.count, 100);
    assert_int_equal(scheduler.lateness_ns.max, 9000);
    assert_in_range(cairn_histogram_percentile(&scheduler.lateness_ns, 500), 100, 120);
    assert_in_range(cairn_histogram_percentile(&scheduler.lateness_ns, 990), 100, 120);
    assert_int_equal(cairn_histogram_percentile(&scheduler.lateness_ns, 1000), 9000);
}

TEST("a percentile is never too low and at most a quarter too high") {
    for (uint64_t value = 0; value < 200000; value += value < 100 ? 1 : value / 37) {
        cairn_histogram histogram = {0};
        cairn_histogram_add(&histogram, value);
        cairn_histogram_add(&histogram, UINT64_MAX);
        uint64_t p50 = cairn_histogram_percentile(&histogram, 500);
        assert_true(p50 >= value);
        assert_true(p50 <= value + value / 4);
        assert_true(cairn_histogram_percentile(&histogram, 1000) == UINT64_MAX);
    }
    cairn_histogram empty = {0};
    assert_int_equal(cairn_histogram_percentile(&empty, 500), 0);
}

TEST("each time control runs its ticks") {
    static const struct {
        const char *name;
        cairn_time_control time_control;
        uint32_t due, expected;
        bool scheduled;
    } rows[] = {{"as scheduled", {.speed = 1000, .stop_tick = UINT64_MAX}, 3, 3, true},
        {"paused", {.paused = true, .speed = 1000, .stop_tick = UINT64_MAX}, 3, 0, false},
        {"free", {.speed = 0, .stop_tick = UINT64_MAX}, 0, 4, false},
        {"free, about to stop", {.speed = 0, .stop_tick = 102}, 0, 2, false},
        {"about to stop", {.speed = 1000, .stop_tick = 101}, 3, 1, true},
        {"at the stop", {.speed = 1000, .stop_tick = 100}, 3, 0, true},
        {"burst while paused",
            {.paused = true, .speed = 1000, .burst_tick = 103, .stop_tick = UINT64_MAX}, 0, 3,
            false},
        {"long burst", {.paused = true, .speed = 1000, .burst_tick = 1000, .stop_tick = UINT64_MAX},
            0, 4, false},
        {"burst is over",
            {.paused = true, .speed = 1000, .burst_tick = 100, .stop_tick = UINT64_MAX}, 0, 0,
            false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const uint32_t ticks =
            cairn_time_control_tick_count(&rows[i].time_control, 100, rows[i].due, 4);
        if (ticks != rows[i].expected ||
            cairn_time_control_is_scheduled(&rows[i].time_control, 100) != rows[i].scheduled) {
            fail_msg("%s: %u", rows[i].name, ticks);
        }
    }
}

TEST("a rate is exact in thousandths") {
    static const struct {
        uint32_t speed;
        uint64_t tick, due;
    } rows[] = {{1000, 60, S}, {500, 60, 2 * S}, {2000, 60, S / 2}, {1, 60, 1000 * S},
        {64000, 60 * 64, S}, {1, UINT64_C(60) * 86400, 1000 * 86400 * S},
        {333, 333, S * 1000 / 60}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(7, 60, 4, 1000);
        cairn_time_control control = cairn_time_control_default();
        cairn_time_control_run(&control, &scheduler, rows[i].speed, S);
        assert_int_equal(cairn_time_control_due_ns(&control, &scheduler), S);
        assert_int_equal(
            cairn_tick_scheduler_due_ns(&scheduler, 1000 + rows[i].tick), S + rows[i].due);
        scheduler.tick += rows[i].tick;
        assert_int_equal(cairn_tick_scheduler_due_count(&scheduler, S + rows[i].due - 1), 0);
        assert_int_equal(cairn_tick_scheduler_due_count(&scheduler, S + rows[i].due), 1);
    }
}

TEST("a pause costs no ticks when it ends") {
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(0, 60, 4, 0);
    cairn_time_control control = cairn_time_control_default();
    cairn_time_control_pause(&control, S);
    assert_false(cairn_time_control_is_scheduled(&control, 0));
    cairn_time_control_run(&control, &scheduler, 1000, 100 * S);
    assert_int_equal(cairn_tick_scheduler_take(&scheduler, 100 * S), 1);
    assert_int_equal(scheduler.ticks_skipped, 0);
}

TEST("a room pauses at its stop tick once") {
    cairn_time_control control = cairn_time_control_default();
    control.stop_tick = 10;
    assert_false(cairn_time_control_reach_stop(&control, 9));
    assert_true(cairn_time_control_reach_stop(&control, 10));
    assert_true(control.paused);
    assert_false(cairn_time_control_reach_stop(&control, 10));
}

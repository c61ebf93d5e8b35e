// SPDX-License-Identifier: MIT
// Rules of the tick schedule: exact at every rate, bounded catch-up, counted slips.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/room/tick_scheduler.h"

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define START (7 * S + 123)

static uint32_t run_turn(cairn_tick_scheduler *scheduler, uint64_t now_ns) {
    uint32_t ticks = cairn_tick_scheduler_take(scheduler, now_ns);
    for (uint32_t i = 0; i < ticks; ++i) {
        cairn_tick_scheduler_step(scheduler);
    }
    return ticks;
}

static void tick_k_is_due_at_k_seconds_over_the_rate(void **state) {
    (void)state;
    static const struct {
        uint32_t rate;
        uint64_t tick, due;
    } rows[] = {
        {60, 0, 0},
        {60, 1, 16666666},
        {60, 2, 33333333},
        {60, 3, 50000000},
        {60, 60, S},
        {128, 1, 7812500},
        {128, 127, 992187500},
        {240, 7, 29166666},
        {10, 5, S / 2},
        {60, UINT64_C(60) * 86400 * 365 * 100, S * 86400 * 365 * 100},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, rows[i].rate, 4, 0);
        assert_int_equal(
            cairn_tick_scheduler_due_ns(&scheduler, rows[i].tick), START + rows[i].due);
    }
}

static void a_tick_runs_at_its_nanosecond_and_not_one_before(void **state) {
    (void)state;
    static const uint32_t rates[] = {10, 60, 77, 128, 144, 240};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; ++r) {
        cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, rates[r], 4, 0);
        for (uint32_t k = 0; k < 1000; ++k) {
            uint64_t due = cairn_tick_scheduler_due_ns(&scheduler, k);
            assert_int_equal(run_turn(&scheduler, due - 1), 0);
            assert_int_equal(run_turn(&scheduler, due), 1);
            assert_int_equal(run_turn(&scheduler, due), 0);
        }
    }
}

static void ten_minutes_at_any_rate_has_exactly_its_ticks(void **state) {
    (void)state;
    static const uint32_t rates[] = {60, 128};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; ++r) {
        cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, rates[r], 4, 0);
        uint64_t ticks = 0;
        for (uint64_t now = START; now < START + 600 * S; now += 3333333) {
            ticks += run_turn(&scheduler, now);
        }
        ticks += run_turn(&scheduler, START + 600 * S - 1);
        assert_int_equal(ticks, 600 * rates[r]);
        assert_int_equal(scheduler.advances_overloaded, 0);
    }
}

static void a_late_driver_catches_up_within_its_bound(void **state) {
    (void)state;
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 60, 4, 0);
    assert_int_equal(run_turn(&scheduler, START), 1);
    assert_int_equal(run_turn(&scheduler, START + 50 * MS), 3);
    assert_int_equal(scheduler.beats_skipped, 0);
    assert_int_equal(cairn_tick_scheduler_due_ns(&scheduler, 4), START + 66666666);
}

static void overload_skips_beats_and_time_slips(void **state) {
    (void)state;
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 60, 4, 0);
    assert_int_equal(run_turn(&scheduler, START + S), 4); // beats 0 .. 60 are due
    assert_int_equal(scheduler.beats_skipped, 57);
    assert_int_equal(scheduler.advances_overloaded, 1);
    assert_int_equal(scheduler.tick, 4);
    assert_int_equal(cairn_tick_scheduler_due_ns(&scheduler, 4), START + S + 16666666);
    assert_int_equal(run_turn(&scheduler, START + S + 16666665), 0);
    assert_int_equal(run_turn(&scheduler, START + S + 16666666), 1);
}

static void a_suspended_machine_wakes_without_a_burst(void **state) {
    (void)state;
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 240, 2, 0);
    run_turn(&scheduler, START);
    uint64_t year = START + 86400 * 365 * S;
    assert_int_equal(run_turn(&scheduler, year), 2);
    assert_int_equal(run_turn(&scheduler, year), 0);
    assert_true(cairn_tick_scheduler_due_ns(&scheduler, scheduler.tick) > year);
    assert_true(cairn_tick_scheduler_due_ns(&scheduler, scheduler.tick) <= year + 4166667);
}

static void a_clock_that_runs_back_makes_nothing_due(void **state) {
    (void)state;
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 60, 4, 0);
    run_turn(&scheduler, START + 100 * MS);
    uint64_t tick = scheduler.tick;
    assert_int_equal(run_turn(&scheduler, START + 20 * MS), 0);
    assert_int_equal(run_turn(&scheduler, START - 1), 0);
    assert_int_equal(run_turn(&scheduler, 0), 0);
    assert_int_equal(scheduler.tick, tick);
}

static void a_room_restored_at_a_tick_starts_at_once(void **state) {
    (void)state;
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 60, 4, 5000);
    assert_int_equal(cairn_tick_scheduler_due_ns(&scheduler, 5000), START);
    assert_int_equal(run_turn(&scheduler, START), 1);
    assert_int_equal(cairn_tick_scheduler_due_ns(&scheduler, 5060), START + S);
}

static void lateness_is_signed_and_bounded(void **state) {
    (void)state;
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 10, 4, 0);
    assert_int_equal(cairn_tick_scheduler_lateness_us(&scheduler, 1, START + 100 * MS), 0);
    assert_int_equal(cairn_tick_scheduler_lateness_us(&scheduler, 1, START + 107 * MS), 7000);
    assert_int_equal(cairn_tick_scheduler_lateness_us(&scheduler, 1, START), -100000);
    assert_int_equal(cairn_tick_scheduler_lateness_us(&scheduler, 0, START + 86400 * S), INT32_MAX);
    assert_int_equal(cairn_tick_scheduler_lateness_us(&scheduler, 864000, START), -INT32_MAX);
}

static void lateness_of_turns_is_measured(void **state) {
    (void)state;
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(START, 10, 4, 0);
    for (uint64_t k = 0; k < 100; ++k) {
        run_turn(&scheduler, START + k * S / 10 + (k == 50 ? 9000 : 100));
    }
    assert_int_equal(scheduler.lateness_ns.count, 100);
    assert_int_equal(scheduler.lateness_ns.max, 9000);
    assert_in_range(cairn_histogram_percentile(&scheduler.lateness_ns, 500), 100, 120);
    assert_in_range(cairn_histogram_percentile(&scheduler.lateness_ns, 990), 100, 120);
    assert_int_equal(cairn_histogram_percentile(&scheduler.lateness_ns, 1000), 9000);
}

static void a_percentile_is_never_too_low_and_a_quarter_too_high_at_most(void **state) {
    (void)state;
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

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tick_k_is_due_at_k_seconds_over_the_rate),
        cmocka_unit_test(a_tick_runs_at_its_nanosecond_and_not_one_before),
        cmocka_unit_test(ten_minutes_at_any_rate_has_exactly_its_ticks),
        cmocka_unit_test(a_late_driver_catches_up_within_its_bound),
        cmocka_unit_test(overload_skips_beats_and_time_slips),
        cmocka_unit_test(a_suspended_machine_wakes_without_a_burst),
        cmocka_unit_test(a_clock_that_runs_back_makes_nothing_due),
        cmocka_unit_test(a_room_restored_at_a_tick_starts_at_once),
        cmocka_unit_test(lateness_is_signed_and_bounded),
        cmocka_unit_test(lateness_of_turns_is_measured),
        cmocka_unit_test(a_percentile_is_never_too_low_and_a_quarter_too_high_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

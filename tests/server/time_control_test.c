// SPDX-License-Identifier: MIT
// Rules of bent time: a pause runs nothing, a burst runs what was asked for and no more, a stop
// stops, a rate is exact.
#include "tests/kit/test.h"

#include "server/room/time_control.h"

#define S UINT64_C(1000000000)

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
        cairn_time_control pace = cairn_time_control_default();
        cairn_time_control_run(&pace, &scheduler, rows[i].speed, S);
        assert_int_equal(cairn_time_control_due_ns(&pace, &scheduler), S);
        assert_int_equal(
            cairn_tick_scheduler_due_ns(&scheduler, 1000 + rows[i].tick), S + rows[i].due);
        scheduler.tick += rows[i].tick;
        assert_int_equal(cairn_tick_scheduler_due_count(&scheduler, S + rows[i].due - 1), 0);
        assert_int_equal(cairn_tick_scheduler_due_count(&scheduler, S + rows[i].due), 1);
    }
}

TEST("a pause costs no ticks when it ends") {
    cairn_tick_scheduler scheduler = cairn_tick_scheduler_of(0, 60, 4, 0);
    cairn_time_control pace = cairn_time_control_default();
    cairn_time_control_pause(&pace, S);
    assert_false(cairn_time_control_is_scheduled(&pace, 0));
    cairn_time_control_run(&pace, &scheduler, 1000, 100 * S);
    assert_int_equal(cairn_tick_scheduler_take(&scheduler, 100 * S), 1);
    assert_int_equal(scheduler.ticks_skipped, 0);
}

TEST("a room pauses at its stop tick once") {
    cairn_time_control pace = cairn_time_control_default();
    pace.stop_tick = 10;
    assert_false(cairn_time_control_reach_stop(&pace, 9));
    assert_true(cairn_time_control_reach_stop(&pace, 10));
    assert_true(pace.paused);
    assert_false(cairn_time_control_reach_stop(&pace, 10));
}

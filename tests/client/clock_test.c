// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <math.h>

#include "base/random.h"
#include "client_lib/clock/clock.h"

#define MS 1000000ull
#define SECOND CAIRN_NS_PER_S

// A server of 60 Hz that sends every third tick, over a path of delay_ms plus up to jitter_ms, to
// a client whose own clock runs drift_ppm fast.
typedef struct simulated_path {
    cairn_clock clock;
    cairn_random random;
    uint64_t server_ns; // true time
    uint64_t next_tick;
    uint64_t slip_ns; // how late the server steps its ticks
    uint64_t jitter_ns_max;
    double drift_ppm;
} simulated_path;

static simulated_path path_start(void) {
    simulated_path s = {.random = cairn_random_of(7)};
    cairn_clock_start(&s.clock, 60);
    return s;
}

static uint64_t local_ns(const simulated_path *s, uint64_t true_ns) {
    return 5 * SECOND + true_ns + (uint64_t)(int64_t)((double)true_ns * s->drift_ppm * 1e-6);
}

static uint64_t due_ns(const simulated_path *s, uint64_t tick) {
    return tick * SECOND / 60 + s->slip_ns;
}

static void path_run_ms(simulated_path *s, uint64_t ms) {
    uint64_t until = s->server_ns + ms * MS;
    while (due_ns(s, s->next_tick) < until) {
        uint64_t jitter = s->jitter_ns_max ? cairn_random_below(&s->random, s->jitter_ns_max) : 0;
        uint64_t now = local_ns(s, due_ns(s, s->next_tick) + 40 * MS + jitter);
        cairn_clock_observe(&s->clock, now, s->next_tick);
        cairn_clock_advance(&s->clock, now);
        s->next_tick += 3;
    }
    s->server_ns = until;
}

// Ticks by which the clock is ahead of a message that had no jitter.
static double clock_error(const simulated_path *s) {
    uint64_t true_ns = s->server_ns + 40 * MS;
    double received = (double)(s->server_ns - s->slip_ns) * 60e-9;
    return cairn_clock_tick(&s->clock, local_ns(s, true_ns)) - received;
}

TEST("the first message sets the clock") {
    cairn_clock clock;
    cairn_clock_start(&clock, 50);
    assert_true(cairn_clock_tick(&clock, 9 * SECOND) <= 0);
    cairn_clock_observe(&clock, 9 * SECOND, 1000);
    EXPECT_NEAR(cairn_clock_tick(&clock, 9 * SECOND), 1000, 1e-9);
    EXPECT_NEAR(cairn_clock_tick(&clock, 10 * SECOND), 1050, 1e-6);
}

TEST("a steady path is followed exactly") {
    simulated_path s = path_start();
    path_run_ms(&s, 10000);
    EXPECT_NEAR(clock_error(&s), 0, 0.01);
    assert_true(s.clock.jitter_ns < 1000);
}

TEST("jitter is measured and hardly moves the clock") {
    simulated_path s = path_start();
    s.jitter_ns_max = 20 * MS;
    path_run_ms(&s, 5000);
    for (int i = 0; i < 100; i++) {
        path_run_ms(&s, 100);
        EXPECT_NEAR(clock_error(&s), -0.3, 0.6);
    }
    assert_true(s.clock.jitter_ns > 2e6 && s.clock.jitter_ns < 2e7);
    assert_int_equal(s.clock.snaps, 1);
}

TEST("a drift of 1000 ppm either way is followed") {
    for (int sign = -1; sign <= 1; sign += 2) {
        simulated_path s = path_start();
        s.drift_ppm = 1000.0 * sign;
        path_run_ms(&s, 60000);
        EXPECT_NEAR(clock_error(&s), 0, 0.25);
        assert_int_equal(s.clock.snaps, 1);
    }
}

TEST("the clock is right with the first messages after a silence of any length") {
    const uint64_t silences_ms[] = {100, 400, 1000, 10000, 3600000};
    for (size_t i = 0; i < sizeof silences_ms / sizeof silences_ms[0]; i++) {
        simulated_path s = path_start();
        path_run_ms(&s, 2000);
        // Nothing arrives while the path is cut, then the server's newest tick does.
        s.server_ns += silences_ms[i] * MS;
        s.next_tick = (s.server_ns * 60 / SECOND) + 1;
        path_run_ms(&s, 200);
        EXPECT_NEAR(clock_error(&s), 0, 0.25);
    }
}

TEST("the clock follows a server that stalled") {
    const uint64_t stalls_ms[] = {1000, 10000, 600000};
    for (size_t i = 0; i < sizeof stalls_ms / sizeof stalls_ms[0]; i++) {
        simulated_path s = path_start();
        path_run_ms(&s, 2000);
        s.server_ns += stalls_ms[i] * MS;
        s.slip_ns += stalls_ms[i] * MS;
        path_run_ms(&s, 200);
        EXPECT_NEAR(clock_error(&s), 0, 0.25);
        assert_int_equal(s.clock.snaps, 2);
    }
}

TEST("the clock of a client that stalled is right after it received its backlog") {
    simulated_path s = path_start();
    path_run_ms(&s, 2000);
    uint64_t wake_ns = local_ns(&s, s.server_ns + 10 * SECOND + 40 * MS);
    for (uint64_t tick = s.next_tick; tick <= 720; tick += 3) {
        cairn_clock_observe(&s.clock, wake_ns, tick);
    }
    s.server_ns += 10 * SECOND;
    s.next_tick = 723;
    path_run_ms(&s, 3000);
    EXPECT_NEAR(clock_error(&s), 0, 0.25);
}

TEST("a small error is slewed, not jumped") {
    simulated_path s = path_start();
    path_run_ms(&s, 2000);
    double before = clock_error(&s);
    s.slip_ns += 100 * MS; // six ticks
    double last = clock_error(&s);
    for (int i = 0; i < 400; i++) {
        path_run_ms(&s, 10);
        double error = clock_error(&s);
        assert_true(fabs(error - last) < 0.7);
        last = error;
    }
    EXPECT_NEAR(before, 0, 0.01);
    EXPECT_NEAR(last, 0, 1.0);
    assert_int_equal(s.clock.snaps, 1);
}

TEST("only a newer tick that a server can reach moves the clock") {
    cairn_clock clock;
    cairn_clock_start(&clock, 60);
    cairn_clock_observe(&clock, SECOND, 600);
    cairn_clock_observe(&clock, SECOND + 900 * MS, 597); // overtaken
    cairn_clock_observe(&clock, SECOND + 900 * MS, 600);
    cairn_clock_observe(&clock, SECOND, UINT64_MAX);
    EXPECT_NEAR(cairn_clock_tick(&clock, SECOND), 600, 1e-9);
    assert_int_equal(clock.snaps, 1);
}

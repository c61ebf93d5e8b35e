// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "base/random.h"
#include "net/congestion.h"
#include <cairn/types.h>

#define MS_NS UINT64_C(1000000)
#define WINDOW_MAX (UINT64_C(1) << 20)

static cairn_congestion c;
static uint64_t now_ns;
static uint64_t sequence;

BEFORE_EACH {
    now_ns = CAIRN_NS_PER_S;
    sequence = 0;
    cairn_congestion_reset(&c, now_ns, sequence, WINDOW_MAX);
}

// A payload leaves and is acknowledged a round trip later.
static void exchange(uint64_t rtt_ns, uint64_t elapsed_ns) {
    cairn_congestion_sent(&c, now_ns, sequence, CAIRN_CONGESTION_PACKET_SIZE);
    sequence += 1;
    now_ns += elapsed_ns;
    cairn_congestion_round_trip(&c, now_ns, rtt_ns);
    cairn_congestion_acknowledged(
        &c, now_ns, sequence - 1, CAIRN_CONGESTION_PACKET_SIZE, elapsed_ns, sequence);
}

TEST("a path of any steady round trip has no noise") {
    static const uint64_t rtts_ns[] = {2 * MS_NS, 80 * MS_NS, 400 * MS_NS};
    for (uint32_t i = 0; i < sizeof rtts_ns / sizeof *rtts_ns; ++i) {
        cairn_congestion_reset(&c, now_ns, sequence, WINDOW_MAX);
        for (uint32_t k = 0; k < 100; ++k) {
            exchange(rtts_ns[i], rtts_ns[i]);
        }
        assert_int_equal(c.noise_ns, 0);
    }
}

TEST("noise is the difference of one round trip to the next") {
    for (uint32_t k = 0; k < 200; ++k) {
        const uint64_t rtt_ns = (k % 2 == 0 ? 80 : 84) * MS_NS;
        exchange(rtt_ns, rtt_ns);
    }
    assert_in_range(c.noise_ns, 3 * MS_NS, 4 * MS_NS);
}

TEST("what the peer holds back is what passes beyond the round trip") {
    for (uint32_t k = 0; k < 200; ++k) {
        exchange(50 * MS_NS, 54 * MS_NS);
    }
    assert_in_range(c.hold_ns, 3 * MS_NS, 4 * MS_NS);
    for (uint32_t k = 0; k < 200; ++k) {
        exchange(50 * MS_NS, 50 * MS_NS);
    }
    assert_in_range(c.hold_ns, 0, MS_NS / 100);
}

TEST("a window that nobody fills does not grow, and one that is full does") {
    const uint64_t first = c.window;
    for (uint32_t k = 0; k < 20; ++k) {
        assert_true(cairn_congestion_allows(&c, now_ns));
        exchange(50 * MS_NS, 50 * MS_NS);
    }
    assert_int_equal(c.window, first);
    for (uint32_t k = 0; k < 20; ++k) {
        c.limited_now = true; // as if more had waited to leave
        exchange(50 * MS_NS, 50 * MS_NS);
    }
    assert_true(c.window >= first + 10 * CAIRN_CONGESTION_PACKET_SIZE);
}

TEST("a queue is what the last round trips have in common beyond the least of all") {
    assert_int_equal(cairn_congestion_queue_ns(&c), 0); // nothing is known yet
    for (uint32_t k = 0; k < 20; ++k) {
        exchange(50 * MS_NS, 50 * MS_NS);
    }
    assert_int_equal(cairn_congestion_queue_ns(&c), 0);
    for (uint32_t k = 0; k < CAIRN_CONGESTION_SAMPLES; ++k) {
        assert_int_equal(cairn_congestion_queue_ns(&c), 0); // one fast payload says so
        exchange((80 + k) * MS_NS, 80 * MS_NS);
    }
    assert_int_equal(cairn_congestion_queue_ns(&c), 30 * MS_NS);
}

// A payload every 30 ms, with many of them on the way at a time.
static void follow(uint64_t rtt_ns) {
    now_ns += 30 * MS_NS;
    cairn_congestion_round_trip(&c, now_ns, rtt_ns);
}

// Found by the storm of seed 300534: the client went on at 13 kB/s as if it shared a full queue.
TEST("a longer route that delays payloads unevenly is noticed") {
    cairn_random random = cairn_random_of(1);
    for (uint32_t k = 0; k < 100; ++k) {
        follow(100 * MS_NS);
    }
    for (uint32_t k = 0; k < 200; ++k) {
        follow((354 + cairn_random_below(&random, 80) + cairn_random_below(&random, 80)) * MS_NS);
    }
    assert_in_range(c.rtt_ns_min[0], 350 * MS_NS, 440 * MS_NS);
    assert_true(c.rtt_ns_min[1] >= 350 * MS_NS);
}

TEST("a window that a longer route made small is that of a new path again") {
    for (uint32_t k = 0; k < 100; ++k) {
        follow(50 * MS_NS);
    }
    c.window = CAIRN_CONGESTION_WINDOW_MIN;
    c.competing = true; // another flow was taken to fill the queue
    for (uint32_t k = 0; k < 100; ++k) {
        follow(200 * MS_NS);
    }
    assert_int_equal(c.rtt_ns_min[0], 200 * MS_NS);
    assert_int_equal(c.window, CAIRN_CONGESTION_WINDOW_FIRST);
    assert_false(c.competing);
}

TEST("the least round trip is that of this period of ten seconds and of the one before") {
    for (uint32_t k = 0; k < CAIRN_CONGESTION_SAMPLES; ++k) {
        follow(50 * MS_NS);
    }
    const uint64_t longer_ns = now_ns;
    while (now_ns - longer_ns < 12 * CAIRN_NS_PER_S) {
        follow(60 * MS_NS);
    }
    assert_int_equal(cairn_congestion_queue_ns(&c), 10 * MS_NS);
    while (now_ns - longer_ns < 22 * CAIRN_NS_PER_S) {
        follow(60 * MS_NS);
    }
    assert_int_equal(cairn_congestion_queue_ns(&c), 0);
}

TEST("the queue of another flow is not taken for a longer route") {
    cairn_random random = cairn_random_of(2);
    follow(60 * MS_NS);
    for (uint32_t k = 0; k < 300; ++k) { // a sawtooth of three seconds, packets of 15 ms
        follow((100 + k % 100 + cairn_random_below(&random, 15)) * MS_NS);
    }
    assert_int_equal(c.rtt_ns_min[0], 60 * MS_NS);
}

TEST("acknowledgements alone are no payloads of which a share is lost") {
    cairn_congestion_acknowledged(&c, now_ns, 0, 0, MS_NS, 1);
    assert_int_equal(c.resolved, 0);
    cairn_congestion_acknowledged(&c, now_ns, 1, 0, MS_NS, 2);
    assert_int_equal(c.resolved, 0);
}

// What may queue besides, of a path that nothing was delivered on.
#define TOLERATED_NS (20 * MS_NS)

TEST("slow start ends when two round trips in a row are beyond the tolerated queue, not at it") {
    for (uint32_t k = 0; k < 20; ++k) {
        follow(50 * MS_NS);
    }
    for (uint32_t k = 0; k < 2; ++k) {
        follow(50 * MS_NS + TOLERATED_NS);
        assert_true(c.threshold > c.window);
    }
    follow(50 * MS_NS);
    follow(51 * MS_NS + TOLERATED_NS);
    assert_true(c.threshold > c.window); // the one before had no queue
    follow(51 * MS_NS + TOLERATED_NS);
    assert_int_equal(c.threshold, c.window);
}

TEST("a path of a millisecond is paced, and a shorter one is not") {
    exchange(MS_NS - 1, MS_NS);
    assert_int_equal(cairn_congestion_next_ns(&c), 0);
    cairn_congestion_reset(&c, now_ns, sequence, WINDOW_MAX);
    exchange(MS_NS, MS_NS);
    assert_true(cairn_congestion_next_ns(&c) > 0);
}

// Ends rounds of a payload each until the controller has decided twice.
static void decide_twice(uint64_t rtt_ns) {
    for (uint32_t k = 0; k < 2 * CAIRN_CONGESTION_SAMPLES; ++k) {
        exchange(rtt_ns, rtt_ns);
    }
}

TEST("a queue that was emptied is not held against the next one") {
    decide_twice(50 * MS_NS);
    c.threshold = c.window; // slow start has ended
    for (uint32_t round = 0; round < 4; ++round) {
        for (uint32_t k = 0; k < CAIRN_CONGESTION_SAMPLES; ++k) {
            exchange(120 * MS_NS, 120 * MS_NS);
        }
        assert_false(c.competing);
        decide_twice(50 * MS_NS);
    }
}

TEST("a window that was reduced is judged when a round of it has passed") {
    decide_twice(50 * MS_NS);
    c.threshold = c.window; // slow start has ended
    for (uint32_t round = 0; c.over_rounds == 0; ++round) {
        assert_true(round < 3 * CAIRN_CONGESTION_SAMPLES);
        exchange(120 * MS_NS, 120 * MS_NS);
    }
    exchange(120 * MS_NS, 120 * MS_NS);
    assert_false(c.competing); // this round began before the reduction
    exchange(120 * MS_NS, 120 * MS_NS);
    assert_true(c.competing); // a queue that stays is another flow's
}

TEST("another flow is gone when the queue was below a quarter of the tolerated one for four "
     "rounds") {
    static const struct {
        uint64_t queue_ns;
        uint32_t rounds; // until the other flow is taken to be gone; 0: it is not
    } rows[] = {{0, 4}, {10 * MS_NS - 1, 4}, {10 * MS_NS, 0}, {40 * MS_NS, 0}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_congestion_reset(&c, now_ns, sequence, WINDOW_MAX);
        for (uint32_t k = 0; k < 2 * CAIRN_CONGESTION_SAMPLES; ++k) {
            exchange(50 * MS_NS, 50 * MS_NS);
        }
        for (uint32_t k = 0; k < 2 * CAIRN_CONGESTION_SAMPLES; ++k) {
            exchange(50 * MS_NS + rows[i].queue_ns, 50 * MS_NS);
        }
        c.threshold = c.window; // slow start has ended
        c.competing = true;
        c.noise_ns = 0;
        c.probe_ns = UINT64_MAX;
        uint32_t rounds = 0;
        while (c.competing && rounds < 8) {
            exchange(50 * MS_NS + rows[i].queue_ns, 50 * MS_NS);
            rounds += 1;
        }
        assert_int_equal(rounds, rows[i].rounds == 0 ? 8 : rows[i].rounds);
        assert_int_equal(c.competing, rows[i].rounds == 0);
    }
}

// A payload is acknowledged that was given up before.
static void acknowledge_late(uint64_t rtt_ns) {
    cairn_congestion_round_trip(&c, now_ns, rtt_ns);
    cairn_congestion_acknowledged(
        &c, now_ns, sequence - 1, CAIRN_CONGESTION_PACKET_SIZE, rtt_ns, sequence);
}

TEST("time-outs in a row reduce the window once, and it comes back if they were wrong") {
    for (uint32_t k = 0; k < 200; ++k) {
        exchange(50 * MS_NS, 50 * MS_NS);
    }
    const uint64_t window = 4 * CAIRN_CONGESTION_WINDOW_FIRST;
    c.window = window;
    c.threshold = WINDOW_MAX;
    for (uint32_t i = 0; i < 3; ++i) {
        now_ns += CAIRN_NS_PER_S;
        cairn_congestion_timed_out(&c, now_ns, sequence);
        assert_int_equal(c.window, CAIRN_CONGESTION_WINDOW_MIN);
        assert_int_equal(c.threshold, window / 2);
    }
    acknowledge_late(50 * MS_NS);
    assert_int_equal(c.threshold, WINDOW_MAX);
    assert_in_range(c.window, CAIRN_CONGESTION_WINDOW_FIRST, window);
}

// A payload leaves and is lost.
static void lose(uint64_t rtt_ns) {
    cairn_congestion_sent(&c, now_ns, sequence, CAIRN_CONGESTION_PACKET_SIZE);
    sequence += 1;
    now_ns += rtt_ns;
    cairn_congestion_lost(&c, now_ns, sequence - 1, CAIRN_CONGESTION_PACKET_SIZE, sequence);
}

TEST("losses reduce the window when they are more than the path's own, by an excess") {
    static const struct {
        uint32_t base; // the share of losses before, and after, in a hundred
        uint32_t then;
        bool reduced;
    } cases[] = {{0, 0, false}, {0, 7, false}, {0, 10, true}, {0, 30, true}, {20, 20, false},
        {20, 26, false}, {20, 34, true}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        cairn_congestion_reset(&c, now_ns, sequence, WINDOW_MAX);
        for (uint32_t k = 0; k < 200; ++k) {
            exchange(50 * MS_NS, 50 * MS_NS);
        }
        c.loss_base_permille = 10 * cases[i].base;
        c.resolved = c.lost = 0;
        c.window = c.threshold = 100000; // slow start has ended
        c.limited = c.limited_now = false;
        // As many as are judged at once.
        for (uint32_t k = 0, lost = 0; k < 64; ++k) {
            if (100 * lost < cases[i].then * (k + 1)) {
                lose(50 * MS_NS);
                lost += 1;
            } else {
                exchange(50 * MS_NS, 50 * MS_NS);
            }
        }
        assert_int_equal(c.resolved, 0);
        assert_int_equal(c.window, cases[i].reduced ? 70000 : 100000);
    }
}

TEST("each judgement starts a new count of losses") {
    for (uint32_t k = 0; k < 2 * 64; ++k) {
        exchange(50 * MS_NS, 50 * MS_NS);
    }
    assert_int_equal(c.resolved, 0);
    assert_int_equal(c.loss_base_permille, 0);
}

// The timeout has already reduced the window, and a bare ack has no size.
TEST("a packet given up at a timeout is not counted as lost again, and a bare ack is never "
     "counted") {
    cairn_congestion_sent(&c, now_ns, sequence, CAIRN_CONGESTION_PACKET_SIZE);
    sequence += 1;
    cairn_congestion_timed_out(&c, now_ns, sequence);
    cairn_congestion_lost(&c, now_ns, sequence - 1, CAIRN_CONGESTION_PACKET_SIZE, sequence);
    assert_int_equal(c.resolved, 0);
    cairn_congestion_sent(&c, now_ns, sequence, 0);
    sequence += 1;
    cairn_congestion_lost(&c, now_ns, sequence - 1, 0, sequence);
    assert_int_equal(c.resolved, 0);
    lose(50 * MS_NS);
    assert_int_equal(c.resolved, 1);
}

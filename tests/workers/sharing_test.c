// SPDX-License-Identifier: MIT
// When a task is shared, by times that are made up.
#include "workers/sharing.h"

#include "tests/kit/test.h"

typedef struct counted {
    uint32_t shared;
    uint32_t longest_alone; // runs between two that are shared
} counted;

// Runs where each way takes a fixed time, plus up to `noise_ns`.
static counted run(
    cairn_sharing *s, uint64_t shared_ns, uint64_t alone_ns, uint64_t noise_ns, uint32_t runs) {
    counted c = {0};
    uint32_t alone = 0;
    uint32_t random = 1;
    for (uint32_t i = 0; i < runs; ++i) {
        const bool shared = cairn_sharing_next(s);
        random = random * 1664525u + 1013904223u;
        const uint64_t noise = noise_ns * (random >> 16) >> 16;
        cairn_sharing_learn(s, (shared ? shared_ns : alone_ns) + noise);
        c.shared += shared;
        alone = shared ? 0 : alone + 1;
        c.longest_alone = alone > c.longest_alone ? alone : c.longest_alone;
    }
    return c;
}

TEST("a task that is faster when it is shared is shared, but for trials that become rarer") {
    cairn_sharing s = cairn_sharing_new();
    const counted first = run(&s, 600, 1000, 0, 1000);
    assert_in_range(first.shared, 970, 996);
    assert_int_equal(first.longest_alone, 4);
    assert_in_range(run(&s, 600, 1000, 0, 10000).shared, 9900, 9990);
}

TEST("a task that is slower when it is shared is run alone, but for trials that become rarer") {
    cairn_sharing s = cairn_sharing_new();
    assert_in_range(run(&s, 1500, 1000, 0, 1000).shared, 9, 24);
    assert_in_range(run(&s, 1500, 1000, 0, 10000).shared, 10, 100);
}

TEST("ways that take equally long change seldom, whatever the noise") {
    cairn_sharing s = cairn_sharing_new();
    const counted c = run(&s, 100000, 100000, 5000, 10000);
    assert_in_range(c.shared, 30, 200);
}

TEST("a machine that changes is noticed within as many runs as trials are apart") {
    cairn_sharing s = cairn_sharing_new();
    run(&s, 600, 1000, 0, 20000);
    const counted slow = run(&s, 3000, 1000, 0, 5000); // the other processor was taken
    assert_in_range(slow.shared, 1, 700);
    const counted fast = run(&s, 600, 1000, 0, 5000);
    assert_in_range(fast.longest_alone, 1, 520);
    assert_in_range(fast.shared, 4400, 4999);
}

TEST("a trial that meets a stall ends after one run, and the next comes later") {
    cairn_sharing s = cairn_sharing_new();
    run(&s, 60000, 50000, 0, 200); // it runs alone now
    assert_false(s.shared);
    uint32_t stalls = 0;
    for (uint32_t i = 0; i < 10000; ++i) {
        const bool shared = cairn_sharing_next(&s);
        stalls += shared;
        cairn_sharing_learn(&s, shared ? 10 * CAIRN_SHARING_STALL_MIN_NS : 50000);
    }
    assert_in_range(stalls, 15, 30);
}

TEST("a trial that is put off comes later, like one that failed") {
    cairn_sharing s = cairn_sharing_new();
    uint32_t put_off = 0;
    for (uint32_t i = 0; i < 4000; ++i) {
        if (cairn_sharing_begins_trial(&s)) {
            cairn_sharing_put_off_trial(&s);
            put_off += 1;
        }
        assert_false(cairn_sharing_next(&s));
        cairn_sharing_learn(&s, 50000);
    }
    assert_in_range(put_off, 8, 16);
    while (!cairn_sharing_begins_trial(&s)) {
        cairn_sharing_learn(&s, 50000);
    }
    assert_true(cairn_sharing_next(&s));
}

// Steps of 1 ms where each shared run waits 4 ms for another process: ten seconds of a game.
TEST("a processor that another process has taken costs a twentieth at most") {
    cairn_sharing s = cairn_sharing_new();
    uint64_t sum_ns = 0;
    for (uint32_t i = 0; i < 600; ++i) {
        const uint64_t ns = cairn_sharing_next(&s) ? 5000000 : 1000000;
        sum_ns += ns;
        cairn_sharing_learn(&s, ns);
    }
    assert_in_range(sum_ns, UINT64_C(600000000), UINT64_C(630000000));
}

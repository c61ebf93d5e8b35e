// SPDX-License-Identifier: MIT
// When and how long the server's loop sleeps to receive several datagrams at once.
#include "tests/kit/test.h"

#include "base/limits.h"
#include "server/daemon/gathering.h"

#define MS UINT64_C(1000000)
#define FAR (UINT64_C(3600) * CAIRN_NS_PER_S)

// `count` datagrams arrive in the 50 ms before `now_ns`, which is when they are counted.
static cairn_gathering gathering_after(uint32_t count, uint64_t now_ns) {
    cairn_gathering gathering = {.counted_since_ns = now_ns - 50 * MS, .counted = count};
    (void)cairn_gathering_sleep_ns(&gathering, now_ns, FAR);
    return gathering;
}

TEST("the loop sleeps a millisecond if more than 2,000 datagrams arrive in a second") {
    const uint64_t now_ns = CAIRN_NS_PER_S;
    cairn_gathering slow = gathering_after(100, now_ns);
    cairn_gathering fast = gathering_after(101, now_ns);
    assert_int_equal(cairn_gathering_sleep_ns(&slow, now_ns, FAR), 0);
    assert_int_equal(cairn_gathering_sleep_ns(&fast, now_ns, FAR), MS);
}

// All clients answer a tick at once. Between two ticks of 60 Hz nothing arrives.
TEST("datagrams that arrive in bursts are counted over several ticks") {
    const uint64_t now_ns = CAIRN_NS_PER_S;
    cairn_gathering gathering = gathering_after(200, now_ns);
    for (uint64_t at_ns = now_ns; at_ns < now_ns + 50 * MS; at_ns += 5 * MS) {
        assert_int_equal(cairn_gathering_sleep_ns(&gathering, at_ns, FAR), MS);
    }
    // After 50 ms without datagrams they are slow.
    assert_int_equal(cairn_gathering_sleep_ns(&gathering, now_ns + 50 * MS, FAR), 0);
}

TEST("the loop sleeps until a tenth of a millisecond before a deadline, if that is worth it") {
    static const struct {
        uint64_t deadline_ns, sleep_ns; // the deadline from now
    } rows[] = {
        {2 * MS, MS}, {MS, 900000}, {300000, 200000}, {200000, 100000}, {199999, 0}, {0, 0}};
    const uint64_t now_ns = CAIRN_NS_PER_S;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        cairn_gathering gathering = gathering_after(200, now_ns);
        assert_int_equal(cairn_gathering_sleep_ns(&gathering, now_ns, now_ns + rows[i].deadline_ns),
            rows[i].sleep_ns);
    }
    // A deadline in the past, or none that is armed.
    cairn_gathering gathering = gathering_after(200, now_ns);
    assert_int_equal(cairn_gathering_sleep_ns(&gathering, now_ns, 0), 0);
}

// SPDX-License-Identifier: MIT
#include "server/daemon/gathering.h"

#include "base/limits.h"

// Datagrams arrive fast if there are more of them in a second. They are counted over several ticks,
// because all clients answer a tick at the same time.
static const uint64_t fast_hz = 2000;
static const uint64_t count_ns = 50000000;
static const uint64_t sleep_ns_max = 1000000;
static const uint64_t sleep_ns_min = 100000;
static const uint64_t margin_ns = 100000; // the system may wake the loop later

static void count(cairn_gathering *gathering, uint64_t now_ns) {
    const uint64_t counted_ns = now_ns - gathering->counted_since_ns;
    if (counted_ns >= count_ns) {
        gathering->fast = gathering->counted > counted_ns / (CAIRN_NS_PER_S / fast_hz);
        gathering->counted = 0;
        gathering->counted_since_ns = now_ns;
    }
}

uint64_t cairn_gathering_sleep_ns(
    cairn_gathering *gathering, uint64_t now_ns, uint64_t deadline_ns) {
    count(gathering, now_ns);
    if (!gathering->fast || deadline_ns < now_ns + margin_ns + sleep_ns_min) {
        return 0;
    }
    const uint64_t rest_ns = deadline_ns - now_ns - margin_ns;
    return rest_ns < sleep_ns_max ? rest_ns : sleep_ns_max;
}

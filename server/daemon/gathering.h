// SPDX-License-Identifier: MIT
#pragma once

// How long the loop sleeps before it receives. While datagrams arrive fast it sleeps for a moment
// when the first ones have come, but never beyond a deadline: each wake-up costs as much as
// receiving several datagrams. The sleep is short beside a tick, which is what most datagrams wait
// for anyway.

#include <stdbool.h>
#include <stdint.h>

// All zero at first.
typedef struct cairn_gathering {
    uint32_t counted; // datagrams; the loop adds what it receives
    uint64_t counted_since_ns;
    bool fast; // whether they arrived fast when they were counted last
} cairn_gathering;

// How long a loop that is about to receive sleeps first; 0: not at all. `deadline_ns`: when
// something else is due.
uint64_t cairn_gathering_sleep_ns(
    cairn_gathering *gathering, uint64_t now_ns, uint64_t deadline_ns);

// SPDX-License-Identifier: MIT
#pragma once

// Estimates of a link's path, updated in O(1) per sample. Round trip by RFC 6298 section 2
// (SRTT, RTTVAR), loss as an exponential mean over resolved payloads.

#include <stdbool.h>
#include <stdint.h>

#include "net/link_header.h"

// The retransmission timeout before the first round trip was measured. RFC 6298 says 1 s, which a
// player would wait for after a lost HELLO; a needless copy of it costs nothing.
#define CAIRN_RTO_FIRST_NS 300000000ull
// The largest timeout after backoff: the link notices within it that a path works again.
#define CAIRN_RTO_NS_MAX 2000000000ull
#define CAIRN_RTO_BACKOFF_MAX 6

// All zero: nothing was measured yet.
typedef struct cairn_estimate {
    uint64_t rtt_ns;     // SRTT, 0 before the first sample
    uint64_t rtt_var_ns; // RTTVAR
    uint64_t rtt_ns_min;
    uint64_t late_ns; // how much later than rtt_ns acks came for payloads declared lost; decays
    float loss;       // [0, 1]
    bool sampled;
} cairn_estimate;

// Adds one measured round trip, without the peer's ack delay.
void cairn_estimate_round_trip(cairn_estimate *estimate, uint64_t rtt_ns);
// Adds the outcome of one payload. After a late ack, call it with `false` to undo the loss; the
// payload then counts as arrived.
void cairn_estimate_outcome(cairn_estimate *estimate, bool lost);
// `elapsed_ns` is the time from sending to its late ack: from now on payloads are declared lost
// later. Round trips are measured on what arrives first, so they do not include what reordering
// delays (compare the adaptive window of RFC 8985, section 7.1).
void cairn_estimate_undo_loss(cairn_estimate *estimate, uint64_t elapsed_ns);
// How long after it was sent a payload counts as lost if a later one was acknowledged: reordering
// within SRTT + 4 RTTVAR is not loss (compare RFC 9002, section 6.1.2, which takes 9/8 of the RTT).
uint64_t cairn_estimate_overdue_ns(const cairn_estimate *estimate);
// How much later than another one, sent at the same time, a payload may arrive.
uint64_t cairn_estimate_reordering_ns(const cairn_estimate *estimate);
// How long to wait for any ack at all, doubled `backoff` times.
uint64_t cairn_estimate_timeout_ns(const cairn_estimate *estimate, uint32_t backoff);

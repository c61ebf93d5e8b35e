// SPDX-License-Identifier: MIT
#include "net/estimate.h"

#include "base/assert.h"

// The resolution of a clock that is read once per pass of the loop.
static const uint64_t granularity_ns = 1000000;
static const uint64_t reordering_ns_min = 20000000;
static const uint64_t reordering_ns_max = 250000000;
// Weight of one payload in the loss estimate.
static const float loss_weight = 1.0f / 64.0f;

void cairn_estimate_round_trip(cairn_estimate *estimate, uint64_t rtt_ns) {
    if (!estimate->sampled) {
        *estimate = (cairn_estimate){.rtt_ns = rtt_ns,
            .rtt_var_ns = rtt_ns / 2,
            .rtt_ns_min = rtt_ns,
            .loss = estimate->loss,
            .sampled = true};
        return;
    }
    const uint64_t off =
        estimate->rtt_ns > rtt_ns ? estimate->rtt_ns - rtt_ns : rtt_ns - estimate->rtt_ns;
    estimate->rtt_var_ns = estimate->rtt_var_ns - estimate->rtt_var_ns / 4 + off / 4;
    estimate->rtt_ns = estimate->rtt_ns - estimate->rtt_ns / 8 + rtt_ns / 8;
    estimate->rtt_ns_min = rtt_ns < estimate->rtt_ns_min ? rtt_ns : estimate->rtt_ns_min;
    CAIRN_ASSERT(estimate->rtt_ns_min <= rtt_ns);
    estimate->late_ns -= estimate->late_ns / 1024;
}

void cairn_estimate_outcome(cairn_estimate *estimate, bool lost) {
    estimate->loss += ((lost ? 1.0f : 0.0f) - estimate->loss) * loss_weight;
    CAIRN_ASSERT(estimate->loss >= 0.0f && estimate->loss <= 1.0f);
}

void cairn_estimate_undo_loss(cairn_estimate *estimate, uint64_t elapsed_ns) {
    CAIRN_ASSERT(estimate->loss >= 0.0f && estimate->loss <= 1.0f);
    const uint64_t late = elapsed_ns > estimate->rtt_ns ? elapsed_ns - estimate->rtt_ns : 0;
    const uint64_t late_ns = late < reordering_ns_max ? late : reordering_ns_max;
    estimate->late_ns = late_ns > estimate->late_ns ? late_ns : estimate->late_ns;
    CAIRN_ASSERT(estimate->late_ns <= reordering_ns_max);
    const float loss = estimate->loss - loss_weight;
    estimate->loss = loss > 0.0f ? loss : 0.0f;
}

static uint64_t deviation_ns(const cairn_estimate *estimate) {
    const uint64_t four = 4 * estimate->rtt_var_ns;
    return four > granularity_ns ? four : granularity_ns;
}

uint64_t cairn_estimate_overdue_ns(const cairn_estimate *estimate) {
    if (!estimate->sampled) {
        return CAIRN_RTO_FIRST_NS;
    }
    uint64_t spread = deviation_ns(estimate);
    spread = spread > estimate->rtt_ns / 8 ? spread : estimate->rtt_ns / 8;
    spread = spread > estimate->late_ns ? spread : estimate->late_ns;
    return estimate->rtt_ns + spread;
}

uint64_t cairn_estimate_reordering_ns(const cairn_estimate *estimate) {
    const uint64_t deviation = deviation_ns(estimate);
    const uint64_t spread = deviation > estimate->late_ns ? deviation : estimate->late_ns;
    const uint64_t enough = spread > reordering_ns_min ? spread : reordering_ns_min;
    return enough < reordering_ns_max ? enough : reordering_ns_max;
}

uint64_t cairn_estimate_timeout_ns(const cairn_estimate *estimate, uint32_t backoff) {
    const uint64_t once = estimate->sampled
                              ? estimate->rtt_ns + deviation_ns(estimate) + CAIRN_ACK_DELAY_NS
                              : CAIRN_RTO_FIRST_NS;
    const uint64_t shift = backoff < CAIRN_RTO_BACKOFF_MAX ? backoff : CAIRN_RTO_BACKOFF_MAX;
    if (once >= CAIRN_RTO_NS_MAX) {
        return once; // on a path this slow an earlier timeout would resend needlessly
    }
    const uint64_t all = once << shift;
    return all < CAIRN_RTO_NS_MAX ? all : CAIRN_RTO_NS_MAX;
}

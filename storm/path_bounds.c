// SPDX-License-Identifier: MIT
// What a client may expect of its path while nothing is wrong: how long a join takes and how far
// its world or snapshot lags, derived from delay, loss, rate and size. Bad luck is bounded, not
// ignored: a storm of a week makes some 10^7 checks.
#include "storm/state.h"

#include "base/limits.h"
#include "net/congestion.h"
#include "net/estimate.h"
#include "net/link.h"

static const uint64_t ms_ns = 1000000;

// Both directions of the path between a client and the server.
typedef struct path_figures {
    uint64_t rtt_ns;      // with jitter and full queues, there and back
    double arrives;       // probability, of one datagram one way
    uint64_t bytes_per_s; // to the client; 0: no limit
} path_figures;

static uint64_t one_way_ns(const cairn_storm *s, const cairn_virtual_path *path) {
    uint64_t ns = path->delay_ns + path->jitter_ns;
    if (path->bottleneck != 0) {
        const cairn_virtual_bottleneck *line =
            cairn_virtual_bottleneck_at(s->system.network, path->bottleneck);
        ns += line->queue_ns + CAIRN_DATAGRAM_SIZE_MAX * CAIRN_NS_PER_S / line->bytes_per_s;
    }
    return ns;
}

static path_figures figures_of(const cairn_storm *s, uint32_t i) {
    const uint32_t ends[2] = {s->system.clients[i].endpoint, s->system.server_endpoint};
    const cairn_virtual_path *up = cairn_virtual_path_between(s->system.network, ends[0], ends[1]);
    const cairn_virtual_path *down =
        cairn_virtual_path_between(s->system.network, ends[1], ends[0]);
    return (path_figures){.rtt_ns = one_way_ns(s, up) + one_way_ns(s, down),
        .arrives = (1000 - down->loss_permille) * (1000 - down->corrupt_permille) / 1e6,
        .bytes_per_s =
            down->bottleneck == 0
                ? 0
                : cairn_virtual_bottleneck_at(s->system.network, down->bottleneck)->bytes_per_s};
}

// The most failures before `successes` successes, but for this chance: of independent tries
// that fail with probability `failing` (a negative binomial distribution).
static uint32_t failures_max(uint32_t successes, double failing, double chance) {
    double term = 1;
    for (uint32_t i = 0; i < successes; i++) {
        term *= 1 - failing;
    }
    double more = 1 - term; // probability of more failures
    uint32_t failures = 0;
    while (more > chance && failures < 1000) {
        failures++;
        term *= failing * (successes + failures - 1) / failures;
        more -= term;
    }
    return failures;
}

static uint64_t updates_hz(const cairn_storm *s, uint32_t i) {
    return cairn_storm_simulates(s, i) ? s->system.config.tick_rate_hz
                                       : s->system.config.snapshot_rate_hz;
}

// What timeouts of a link take that double, if one message is lost again and again (seed 500326).
static uint64_t backoffs_ns(double failing) {
    const uint32_t losses = failing > 0 ? failures_max(1, failing, 1e-5) : 0;
    uint64_t ns = 0;
    for (uint32_t i = 0; i < losses; i++) {
        const uint64_t timeout_ns = CAIRN_RTO_FIRST_NS << (i < 3 ? i : 3);
        ns += timeout_ns < CAIRN_RTO_NS_MAX ? timeout_ns : CAIRN_RTO_NS_MAX;
    }
    return ns;
}

uint64_t cairn_storm_join_bound_ns(const cairn_storm *s, uint32_t i) {
    const path_figures path = figures_of(s, i);
    // Bytes that a client needs before it plays.
    const uint64_t size =
        cairn_world_encode_size(cairn_storm_server_room(s, s->slots[i].room)->world);
    // Two exchanges of the handshake, HELLO and WELCOME, the last piece of the data.
    const double failing = 1 - path.arrives * path.arrives;
    const uint32_t failures = failures_max(4, failing, 1e-6);
    // Windows of data: the first takes 14 packets and each is twice the one before, as long as
    // nothing is lost.
    const uint64_t packets = size / CAIRN_CONGESTION_PACKET_SIZE + 1;
    const uint64_t windows = failures == 0 ? 2 : 2 + packets / 8;
    uint64_t ns = 300 * ms_ns + (4 + windows) * path.rtt_ns;
    const uint64_t tries_ns = failures * (100 * ms_ns + path.rtt_ns);
    const uint64_t waits_ns = backoffs_ns(failing);
    ns += tries_ns > waits_ns ? tries_ns : waits_ns;
    ns += path.bytes_per_s == 0 ? 0 : 2 * size * CAIRN_NS_PER_S / path.bytes_per_s;
    ns += 3 * CAIRN_NS_PER_S / updates_hz(s, i);
    return ns + 3 * s->system.config.wait_ms * ms_ns;
}

uint64_t cairn_storm_settling_ns(const cairn_storm *s, uint32_t i) {
    const path_figures path = figures_of(s, i);
    return CAIRN_STORM_RECOVERY_S * CAIRN_NS_PER_S + (path.arrives < 0.95 ? 10 * path.rtt_ns : 0);
}

uint64_t cairn_storm_lag_bound_ns(const cairn_storm *s, uint32_t i) {
    const path_figures path = figures_of(s, i);
    const uint64_t lost = failures_max(1, 1 - path.arrives * path.arrives * path.arrives, 1e-7);
    uint64_t interval_ns = CAIRN_NS_PER_S / updates_hz(s, i);
    if ((path.bytes_per_s != 0 || lost > 3) && interval_ns < CAIRN_LINK_UNRELIABLE_NS) {
        interval_ns = CAIRN_LINK_UNRELIABLE_NS;
    }
    // The ticks or snapshots that a client keeps against jitter, and the host's frames.
    const uint64_t kept_ns = 4 * interval_ns > 200 * ms_ns ? 4 * interval_ns : 200 * ms_ns;
    return kept_ns + 2 * path.rtt_ns + (lost + 2) * interval_ns;
}

uint64_t cairn_storm_late_bound(const cairn_storm *s, uint32_t i, uint64_t ticks) {
    const double losing = 1 - figures_of(s, i).arrives;
    return 3 + ticks / 20 + (losing > 0 ? failures_max((uint32_t)ticks, losing, 1e-7) : 0);
}

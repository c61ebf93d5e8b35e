// SPDX-License-Identifier: MIT
#include "net/congestion.h"

#include "base/assert.h"
#include "base/limits.h"

// What may queue without being taken as congestion, but two payloads at least. A peer that reads
// its socket once per frame of 60 Hz makes round trips vary by 17 ms.
static const uint64_t queue_ns_tolerated = 20000000;
// What a path that delays payloads unevenly may add to it.
static const uint64_t noise_ns_max = 150000000;
// How far the pace may catch up after the caller was late, and how far ahead of it payloads leave,
// so that a fast path does not wake its host for every one.
static const uint64_t pace_slack_ns = 20000000;
static const uint64_t pace_ahead_ns = 1000000;
static const uint64_t rtt_ns_least = 1000000;
// The smallest round trip is that of the last one to two periods: routes change. The queue of
// another flow must not become a part of it, so these are long while there is one.
static const uint64_t period_ns_alone = 10000000000;
static const uint64_t period_ns_competing = 20000000000;
// The queue of another flow grows and shrinks. A round trip that stays within so much for so long,
// above the smallest, is that of another route.
static const uint64_t steady_ns_band = 10000000;
static const uint64_t steady_ns_needed = 2000000000;
static const uint32_t steady_count_needed = 16;
static const uint64_t mark_ns_min = 40000000;
static const uint32_t over_rounds_max = 2;
// Rounds in a row with an empty queue after which nobody competes any more, and how often the
// controller gives way to see whether the queue empties.
static const uint32_t empty_rounds_max = 4;
// Reno adds a whole packet in a round. Its packets leave in pairs when the window grows, and so
// meet the full queue more often than ours, which are spaced.
static const uint64_t increment_competing = CAIRN_CONGESTION_PACKET_SIZE / 4 * 3;
static const uint64_t probe_ns = 10000000000;
static const uint32_t resolved_min = 64;
// Losses without a queue count as congestion beyond the base by so much.
static const uint32_t loss_excess_permille = 80;
static const uint32_t loss_base_permille_max = 400;
static const uint64_t idle_ns_max = CAIRN_NS_PER_S;

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

void cairn_congestion_reset(
    cairn_congestion *congestion, uint64_t now_ns, uint64_t next_sequence, uint64_t window_max) {
    CAIRN_ASSERT(window_max >= CAIRN_CONGESTION_WINDOW_MIN);
    *congestion = (cairn_congestion){
        .window = least(CAIRN_CONGESTION_WINDOW_FIRST, window_max),
        .window_max = window_max,
        .threshold = UINT64_MAX,
        .flight_first = next_sequence,
        .pace_ns = now_ns,
        .rtt_ns_min = {UINT64_MAX, UINT64_MAX},
        .period_ns = now_ns,
        .round_end = next_sequence,
        .increment = CAIRN_CONGESTION_PACKET_SIZE,
        .recovery = next_sequence,
        .mark_ns = {now_ns, now_ns},
        .progress_ns = now_ns,
    };
}

static void set_window(cairn_congestion *congestion, uint64_t window) {
    congestion->window = least(most(window, CAIRN_CONGESTION_WINDOW_MIN), congestion->window_max);
}

static bool is_slow_start(const cairn_congestion *congestion) {
    return congestion->window < congestion->threshold;
}

static uint64_t rtt_ns_min(const cairn_congestion *congestion) {
    return least(congestion->rtt_ns_min[0], congestion->rtt_ns_min[1]);
}

// The smallest of the last samples over the smallest of all: delay that is there all the time.
static uint64_t standing_queue_ns(const cairn_congestion *congestion, uint32_t samples) {
    const uint32_t count = congestion->sample_count < samples ? congestion->sample_count : samples;
    uint64_t standing_ns = UINT64_MAX;
    for (uint32_t i = 1; i <= count; i++) {
        standing_ns = least(standing_ns,
            congestion->samples_ns[(congestion->sample_count - i) % CAIRN_CONGESTION_SAMPLES]);
    }
    return count == 0 ? 0 : standing_ns - least(standing_ns, rtt_ns_min(congestion));
}

uint64_t cairn_congestion_queue_ns(const cairn_congestion *congestion) {
    return standing_queue_ns(congestion, CAIRN_CONGESTION_SAMPLES);
}

uint64_t cairn_congestion_rate(const cairn_congestion *congestion) {
    if (congestion->rtt_ns == 0) {
        return 0;
    }
    const uint64_t once =
        congestion->window * CAIRN_NS_PER_S / most(congestion->rtt_ns, rtt_ns_least);
    return is_slow_start(congestion) ? 2 * once : once + once / 4;
}

static uint64_t delivery_rate(const cairn_congestion *congestion, uint64_t now_ns) {
    const uint64_t span_ns = now_ns - congestion->mark_ns[1];
    return span_ns == 0
               ? 0
               : (congestion->delivered - congestion->mark_delivered[1]) * CAIRN_NS_PER_S / span_ns;
}

// What the path's unevenness may look like as a queue.
static uint64_t noise_of(const cairn_congestion *congestion) {
    return least(congestion->noise_ns * 5 / 2, noise_ns_max);
}

static uint64_t tolerated_ns(const cairn_congestion *congestion, uint64_t now_ns) {
    const uint64_t rate = delivery_rate(congestion, now_ns);
    const uint64_t two_packets_ns =
        rate == 0 ? 0 : 2 * CAIRN_CONGESTION_PACKET_SIZE * CAIRN_NS_PER_S / rate;
    return most(most(queue_ns_tolerated, noise_of(congestion)),
        least(two_packets_ns, 2 * queue_ns_tolerated));
}

// Whether a whole payload does not fit the window.
static bool is_full(const cairn_congestion *congestion) {
    return congestion->in_flight + CAIRN_CONGESTION_PACKET_SIZE > congestion->window;
}

// On a path of less than a millisecond, such as loopback, the window alone limits: what leaves
// within the time that the pace may run ahead is more than the window.
static bool is_paced(const cairn_congestion *congestion) {
    return congestion->rtt_ns >= rtt_ns_least;
}

bool cairn_congestion_allows(cairn_congestion *congestion, uint64_t now_ns) {
    const bool paced = is_paced(congestion) && now_ns + pace_ahead_ns < congestion->pace_ns;
    const bool allowed = !is_full(congestion) && !paced;
    congestion->limited_now = congestion->limited_now || !allowed;
    return allowed;
}

uint64_t cairn_congestion_next_ns(const cairn_congestion *congestion) {
    if (is_full(congestion)) {
        return UINT64_MAX;
    }
    return is_paced(congestion) ? congestion->pace_ns - least(pace_ahead_ns, congestion->pace_ns)
                                : 0;
}

void cairn_congestion_sent(
    cairn_congestion *congestion, uint64_t now_ns, uint64_t sequence, uint32_t size) {
    CAIRN_ASSERT(sequence >= congestion->flight_first);
    if (congestion->in_flight == 0) {
        // After a pause nobody knows what the path still carries (RFC 5681, section 4.1).
        if (now_ns - congestion->progress_ns > idle_ns_max && congestion->backoff == 0) {
            congestion->threshold =
                most(least(congestion->threshold, UINT64_MAX / 2), congestion->window / 4 * 3);
            set_window(congestion, least(congestion->window, CAIRN_CONGESTION_WINDOW_FIRST));
        }
        congestion->progress_ns = now_ns;
    }
    congestion->in_flight += size;
    const uint64_t rate = cairn_congestion_rate(congestion);
    const uint64_t earliest = now_ns > pace_slack_ns ? now_ns - pace_slack_ns : 0;
    congestion->pace_ns = most(congestion->pace_ns, earliest) +
                          (rate == 0 ? 0 : (uint64_t)size * CAIRN_NS_PER_S / rate);
}

// Reduces the window to what is on the path without the queue, at most to half.
static void empty_queue(cairn_congestion *congestion, uint64_t now_ns) {
    const uint64_t path_ns = rtt_ns_min(congestion) + congestion->hold_ns;
    const uint64_t rate = delivery_rate(congestion, now_ns);
    const uint64_t path = rate * path_ns / CAIRN_NS_PER_S + CAIRN_CONGESTION_PACKET_SIZE;
    const uint64_t window = congestion->window;
    set_window(congestion, least(most(path, window / 2), window / 16 * 15));
    congestion->threshold = congestion->window;
    congestion->increment = CAIRN_CONGESTION_PACKET_SIZE;
}

// Notices that the path became longer, and not the queue.
static void follow_route(cairn_congestion *congestion, uint64_t now_ns, uint64_t rtt_ns) {
    // Of sixty samples the range is some four times the difference of one to the next.
    const uint64_t band_ns = most(steady_ns_band, 5 * congestion->noise_ns);
    const uint64_t low_ns = least(congestion->steady_ns_min, rtt_ns);
    const uint64_t high_ns = most(congestion->steady_ns_max, rtt_ns);
    if (congestion->steady_count == 0 || high_ns - low_ns > band_ns) {
        congestion->steady_since_ns = now_ns;
        congestion->steady_ns_min = rtt_ns;
        congestion->steady_ns_max = rtt_ns;
        congestion->steady_count = 1;
        return;
    }
    congestion->steady_ns_min = low_ns;
    congestion->steady_ns_max = high_ns;
    congestion->steady_count += congestion->steady_count < steady_count_needed ? 1 : 0;
    if (congestion->steady_count == steady_count_needed &&
        now_ns - congestion->steady_since_ns >= steady_ns_needed &&
        low_ns > rtt_ns_min(congestion) + tolerated_ns(congestion, now_ns)) {
        congestion->rtt_ns_min[0] = low_ns;
        congestion->rtt_ns_min[1] = UINT64_MAX;
        congestion->period_ns = now_ns;
        congestion->competing = false;
        congestion->over_rounds = 0;
        // What reduced the window was not a queue: it is at least that of a new path (RFC 9000,
        // section 9.4).
        set_window(congestion, most(congestion->window, CAIRN_CONGESTION_WINDOW_FIRST));
        congestion->threshold = congestion->window;
        congestion->increment = CAIRN_CONGESTION_PACKET_SIZE;
    }
}

void cairn_congestion_round_trip(cairn_congestion *congestion, uint64_t now_ns, uint64_t rtt_ns) {
    congestion->rtt_ns = congestion->rtt_ns == 0
                             ? most(rtt_ns, 1)
                             : congestion->rtt_ns - congestion->rtt_ns / 8 + rtt_ns / 8;
    const uint64_t period_ns = congestion->competing ? period_ns_competing : period_ns_alone;
    if (now_ns - congestion->period_ns >= period_ns) {
        congestion->rtt_ns_min[1] = congestion->rtt_ns_min[0];
        congestion->rtt_ns_min[0] = UINT64_MAX;
        congestion->period_ns = now_ns;
    }
    congestion->rtt_ns_min[0] = least(congestion->rtt_ns_min[0], rtt_ns);
    if (congestion->sample_count > 0) {
        // A queue grows and shrinks slowly; what changes from sample to sample is noise.
        const uint64_t last_ns =
            congestion->samples_ns[(congestion->sample_count - 1) % CAIRN_CONGESTION_SAMPLES];
        const uint64_t step_ns = most(last_ns, rtt_ns) - least(last_ns, rtt_ns);
        congestion->noise_ns = congestion->noise_ns - congestion->noise_ns / 16 + step_ns / 16;
    }
    follow_route(congestion, now_ns, rtt_ns);
    congestion->samples_ns[congestion->sample_count++ % CAIRN_CONGESTION_SAMPLES] = rtt_ns;
    if (is_slow_start(congestion) && congestion->sample_count >= 2 &&
        standing_queue_ns(congestion, 2) > tolerated_ns(congestion, now_ns)) {
        congestion->threshold = congestion->window;
        congestion->wait_rounds = 1;
    }
}

static void compete(cairn_congestion *congestion, uint64_t now_ns) {
    congestion->competing = true;
    congestion->empty_rounds = 0;
    congestion->over_rounds = 0;
    congestion->probe_ns = now_ns + probe_ns;
    congestion->increment = increment_competing;
    set_window(congestion, most(congestion->window, congestion->window_before / 10 * 7));
    congestion->threshold = congestion->window;
}

static void decide_competing(cairn_congestion *congestion, uint64_t now_ns) {
    const bool empty = cairn_congestion_queue_ns(congestion) < tolerated_ns(congestion, now_ns) / 4;
    congestion->empty_rounds = empty ? congestion->empty_rounds + 1 : 0;
    if (congestion->empty_rounds >= empty_rounds_max) {
        congestion->competing = false;
    } else if (now_ns >= congestion->probe_ns) {
        // As if alone: the next decision sees what remains of the queue.
        congestion->competing = false;
        congestion->over_rounds = 1;
        congestion->window_before = congestion->window / 7 * 10;
        empty_queue(congestion, now_ns);
        congestion->wait_rounds = 1;
    }
}

static void decide_alone(cairn_congestion *congestion, uint64_t now_ns) {
    const uint64_t queue_ns = cairn_congestion_queue_ns(congestion);
    const uint64_t tolerated = tolerated_ns(congestion, now_ns);
    if (queue_ns > tolerated) {
        if (congestion->over_rounds == 0) {
            congestion->window_before = congestion->window;
        }
        if (++congestion->over_rounds < over_rounds_max) {
            empty_queue(congestion, now_ns);
            congestion->wait_rounds = 1;
            return;
        }
        compete(congestion, now_ns);
        return;
    }
    congestion->over_rounds = 0;
    congestion->increment = queue_ns > tolerated / 2 || !congestion->limited
                                ? CAIRN_CONGESTION_PACKET_SIZE
                                : least(2 * congestion->increment,
                                      most(congestion->window / 4, CAIRN_CONGESTION_PACKET_SIZE));
}

static void end_round(cairn_congestion *congestion, uint64_t now_ns, uint64_t next_sequence) {
    congestion->round_end = next_sequence;
    congestion->limited = congestion->limited_now;
    congestion->limited_now = false;
    if (is_slow_start(congestion)) {
        return;
    }
    if (congestion->competing) {
        decide_competing(congestion, now_ns);
    } else if (congestion->wait_rounds > 0) {
        congestion->wait_rounds--;
    } else {
        decide_alone(congestion, now_ns);
    }
}

static void grow(cairn_congestion *congestion, uint32_t size) {
    if (!congestion->limited && !congestion->limited_now) {
        return;
    }
    if (is_slow_start(congestion)) {
        set_window(congestion,
            least(congestion->window + size, most(congestion->threshold, congestion->window)));
    } else if (congestion->wait_rounds == 0) {
        set_window(
            congestion, congestion->window + congestion->increment * size / congestion->window);
    }
}

// The share of losses among the last payloads; reduces the window if it is more than the path's
// own.
static void count_outcome(cairn_congestion *congestion, bool lost, uint64_t next_sequence) {
    congestion->resolved++;
    congestion->lost += lost ? 1 : 0;
    if (congestion->resolved < resolved_min) {
        return;
    }
    const uint32_t share = 1000 * congestion->lost / congestion->resolved;
    const uint32_t base = congestion->loss_base_permille;
    if (share > base + loss_excess_permille && !congestion->competing) {
        set_window(congestion, congestion->window / 10 * 7);
        congestion->threshold = congestion->window;
        congestion->increment = CAIRN_CONGESTION_PACKET_SIZE;
        congestion->recovery = next_sequence;
    }
    // It follows a smaller share quickly: what is lost only when much is sent is not the path's
    // own.
    congestion->loss_base_permille =
        share < base ? base - (base - share + 1) / 2
                     : (uint32_t)least(base + (share - base + 7) / 8, loss_base_permille_max);
    congestion->resolved = 0;
    congestion->lost = 0;
}

// A payload that was given up was acknowledged: the path or a host only stood still, and the
// timeout says nothing about congestion (RFC 4015).
static void undo_timeout(cairn_congestion *congestion) {
    if (congestion->window_timed_out > 0) {
        congestion->threshold = most(congestion->threshold, congestion->threshold_timed_out);
        set_window(congestion, most(congestion->window, least(congestion->window_timed_out,
                                                            CAIRN_CONGESTION_WINDOW_FIRST)));
        congestion->window_timed_out = 0;
    }
}

static void leave_flight(cairn_congestion *congestion, uint64_t sequence, uint32_t size) {
    if (sequence >= congestion->flight_first) {
        CAIRN_ASSERT(congestion->in_flight >= size);
        congestion->in_flight -= size;
    }
}

void cairn_congestion_acknowledged(cairn_congestion *congestion, uint64_t now_ns, uint64_t sequence,
    uint32_t size, uint64_t elapsed_ns, uint64_t next_sequence) {
    leave_flight(congestion, sequence, size);
    if (sequence < congestion->flight_first) {
        undo_timeout(congestion);
    }
    if (congestion->backoff > 0) {
        // What left while nothing came through left slowly. It has long arrived or is lost.
        congestion->in_flight = 0;
        congestion->flight_first = next_sequence;
    }
    congestion->progress_ns = now_ns;
    congestion->backoff = 0;
    if (size == 0) {
        return;
    }
    const uint64_t last_ns =
        congestion->sample_count == 0
            ? elapsed_ns
            : congestion->samples_ns[(congestion->sample_count - 1) % CAIRN_CONGESTION_SAMPLES];
    const uint64_t held_ns = elapsed_ns > last_ns ? elapsed_ns - last_ns : 0;
    congestion->hold_ns =
        congestion->hold_ns - congestion->hold_ns / 16 + least(held_ns, queue_ns_tolerated) / 16;
    congestion->delivered += size;
    if (now_ns - congestion->mark_ns[0] >= most(congestion->rtt_ns, mark_ns_min)) {
        congestion->mark_ns[1] = congestion->mark_ns[0];
        congestion->mark_delivered[1] = congestion->mark_delivered[0];
        congestion->mark_ns[0] = now_ns;
        congestion->mark_delivered[0] = congestion->delivered;
    }
    grow(congestion, size);
    count_outcome(congestion, false, next_sequence);
    if (sequence >= congestion->round_end) {
        end_round(congestion, now_ns, next_sequence);
    }
}

void cairn_congestion_lost(cairn_congestion *congestion, uint64_t now_ns, uint64_t sequence,
    uint32_t size, uint64_t next_sequence) {
    leave_flight(congestion, sequence, size);
    if (size == 0 || sequence < congestion->flight_first) {
        return;
    }
    const uint64_t queue_ns = standing_queue_ns(congestion, 2);
    const bool congested =
        queue_ns > most(tolerated_ns(congestion, now_ns) / 2, noise_of(congestion));
    if (sequence >= congestion->recovery && congested) {
        set_window(congestion, congestion->window / 2);
        congestion->threshold = congestion->window;
        congestion->increment =
            congestion->competing ? increment_competing : CAIRN_CONGESTION_PACKET_SIZE;
        congestion->recovery = next_sequence;
    }
    count_outcome(congestion, true, next_sequence);
}

void cairn_congestion_undo_loss(cairn_congestion *congestion) {
    congestion->lost -= congestion->lost > 0 ? 1 : 0;
}

void cairn_congestion_timed_out(
    cairn_congestion *congestion, uint64_t now_ns, uint64_t next_sequence) {
    if (congestion->backoff == 0) {
        congestion->window_timed_out = congestion->window;
        congestion->threshold_timed_out = congestion->threshold;
        congestion->threshold = most(congestion->window / 2, CAIRN_CONGESTION_WINDOW_FIRST);
    }
    set_window(congestion, CAIRN_CONGESTION_WINDOW_MIN);
    congestion->competing = false;
    congestion->over_rounds = 0;
    congestion->wait_rounds = 0;
    congestion->increment = CAIRN_CONGESTION_PACKET_SIZE;
    congestion->in_flight = 0;
    congestion->flight_first = next_sequence;
    congestion->recovery = next_sequence;
    congestion->round_end = next_sequence;
    congestion->progress_ns = now_ns;
    congestion->backoff += congestion->backoff < 16 ? 1 : 0;
}

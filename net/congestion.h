// SPDX-License-Identifier: MIT
#pragma once

// Congestion control of a link: how many bytes may be in flight, and how fast they leave. Every
// payload counts but bare acks; the reliable stream and unreliable messages share one window.
//
// The window doubles in each round trip until the round trip grows by more than a tolerated queue
// or something is lost. From then on the controller is in one of two states. Alone, it takes a
// queue beyond the tolerated one as congestion: it empties the queue and grows again, faster the
// longer nothing queues. If the queue stays although it was given way three times, another flow
// fills it, and waiting for it to end would starve this one: then the window grows and shrinks as
// that of TCP Reno (RFC 5681), which only losses reduce, until the queue was seen empty again.
//
// Losses without a queue are the path's own (radio) or a policer's. They count as congestion by how
// far they exceed the smallest share lately lost: what remains when less is sent is not congestion.
//
// Integers only, so that a storm is the same on every machine. docs/PROTOCOL.md, Congestion, says
// what a dishonest receiver can reach.

#include <stdbool.h>
#include <stdint.h>

// Bytes of a full payload.
#define CAIRN_CONGESTION_PACKET_SIZE 1024
// In flight at most before anything was acknowledged (RFC 6928), and after a timeout.
#define CAIRN_CONGESTION_WINDOW_FIRST 14600
#define CAIRN_CONGESTION_WINDOW_MIN (4 * CAIRN_CONGESTION_PACKET_SIZE)
#define CAIRN_CONGESTION_SAMPLES 4

typedef struct cairn_congestion {
    uint64_t window;       // bytes that may be in flight
    uint64_t window_max;   // bytes
    uint64_t threshold;    // slow start ends at it, bytes
    uint64_t in_flight;    // bytes
    uint64_t flight_first; // sequence: older payloads were given up at a timeout
    uint64_t pace_ns;      // when the next payload may leave
    bool limited;          // the window or the pace held something back in this round or the last
    bool limited_now;      // in this round
    bool competing;        // another flow fills the queue

    // Round trips: what the path has at least, and the last samples.
    uint64_t rtt_ns;        // smoothed
    uint64_t rtt_ns_min[2]; // of this period and of the one before; UINT64_MAX: none
    uint64_t period_ns;     // when this period began
    uint64_t samples_ns[CAIRN_CONGESTION_SAMPLES];
    uint32_t sample_count;
    // Since when the round trip stays within a band, its bounds and how often it was measured.
    uint64_t steady_since_ns;
    uint64_t steady_ns_min;
    uint64_t steady_ns_max;
    uint32_t steady_count;
    uint64_t noise_ns; // difference of one sample to the next, smoothed
    uint64_t
        hold_ns; // how long after the newest payload of a report the others were sent, smoothed

    // Rounds: one ends when a payload is acknowledged that was sent after it began.
    uint64_t round_end;     // sequence
    uint64_t increment;     // bytes that the window grows by in a round
    uint32_t over_rounds;   // decisions in a row that found too much queued
    uint32_t wait_rounds;   // until the last reduction shows
    uint32_t empty_rounds;  // in a row, while competing
    uint64_t probe_ns;      // when a competing controller gives way once
    uint64_t window_before; // the first of these reductions
    uint64_t recovery;      // sequence: losses before it belong to a reduction that was made

    // Rate of delivery, measured over one to two round trips.
    uint64_t delivered; // bytes
    uint64_t mark_ns[2];
    uint64_t mark_delivered[2];

    // Losses among the payloads resolved lately, and the smallest such share, per mille.
    uint32_t resolved;
    uint32_t lost;
    uint32_t loss_base_permille;

    // Before the last timeout; the first is 0 if there was none or it was undone.
    uint64_t window_timed_out;
    uint64_t threshold_timed_out;
    uint32_t backoff;     // timeouts since the last acknowledgement
    uint64_t progress_ns; // when something was last acknowledged or began to be in flight
} cairn_congestion;

void cairn_congestion_reset(
    cairn_congestion *congestion, uint64_t now_ns, uint64_t next_sequence, uint64_t window_max);

// Whether a payload may leave now. A payload that may not is remembered: the window only grows
// while it is used.
bool cairn_congestion_allows(cairn_congestion *congestion, uint64_t now_ns);
// When it may leave as far as the pace is concerned; UINT64_MAX: not before something is
// acknowledged, lost or timed out.
uint64_t cairn_congestion_next_ns(const cairn_congestion *congestion);

// `sequence` is the payload's.
void cairn_congestion_sent(
    cairn_congestion *congestion, uint64_t now_ns, uint64_t sequence, uint32_t size);
// A round trip without the peer's delay of the acknowledgement.
void cairn_congestion_round_trip(cairn_congestion *congestion, uint64_t now_ns, uint64_t rtt_ns);
// A payload that was in flight was acknowledged `elapsed_ns` after it was sent, or is lost.
// `next_sequence` is that of the next payload.
void cairn_congestion_acknowledged(cairn_congestion *congestion, uint64_t now_ns, uint64_t sequence,
    uint32_t size, uint64_t elapsed_ns, uint64_t next_sequence);
void cairn_congestion_lost(cairn_congestion *congestion, uint64_t now_ns, uint64_t sequence,
    uint32_t size, uint64_t next_sequence);
// A payload that counted as lost was acknowledged after all.
void cairn_congestion_undo_loss(cairn_congestion *congestion);
// Nothing was acknowledged for a whole timeout: everything in flight is given up.
void cairn_congestion_timed_out(
    cairn_congestion *congestion, uint64_t now_ns, uint64_t next_sequence);

// Bytes per second at which payloads leave; 0: not paced yet.
uint64_t cairn_congestion_rate(const cairn_congestion *congestion);
// How long payloads wait in the queues of the path, as measured last.
uint64_t cairn_congestion_queue_ns(const cairn_congestion *congestion);

// SPDX-License-Identifier: MIT
#pragma once

// Acknowledgements: the window of sequences received from the peer, and the ring of payloads sent
// to it. Sequences are 64-bit inside and never wrap; the wire carries their low 32 bits.

#include <stdbool.h>
#include <stdint.h>

// The sequence with these low 32 bits that is nearest to `expected`.
uint64_t cairn_sequence_expand(uint64_t expected, uint32_t low);

// A sequence this much older than the newest is stale: it is neither recorded nor acknowledged.
#define CAIRN_ACK_WINDOW 1024

typedef struct cairn_ack_window {
    uint64_t next;                        // one past the newest received; 0: nothing yet
    uint64_t bits[CAIRN_ACK_WINDOW / 64]; // ring, sequence modulo the window
} cairn_ack_window;

typedef enum cairn_ack_seen {
    CAIRN_ACK_FRESH = 0,
    CAIRN_ACK_STALE,
    CAIRN_ACK_DUPLICATE,
} cairn_ack_seen;

cairn_ack_seen cairn_ack_window_check(const cairn_ack_window *window, uint64_t sequence);
// `sequence` must be fresh.
void cairn_ack_window_add(cairn_ack_window *window, uint64_t sequence);
// Bit i: whether the sequence `skip + i + 1` before the newest was received. Something must have
// been received.
uint32_t cairn_ack_window_word(const cairn_ack_window *window, uint32_t skip);

typedef enum cairn_sent_state {
    CAIRN_SENT_NEVER = 0,
    CAIRN_SENT_IN_FLIGHT,
    CAIRN_SENT_ACKNOWLEDGED,
    CAIRN_SENT_LOST,
    CAIRN_SENT_SKIPPED, // its sequence was left out on purpose
} cairn_sent_state;

typedef struct cairn_sent {
    uint64_t sent_ns;
    uint32_t segment; // of the stream, when has_segment
    uint8_t state;    // cairn_sent_state
    bool has_segment;
    uint16_t size; // bytes that count as in flight; 0 for a bare ack
} cairn_sent;
_Static_assert(sizeof(cairn_sent) == 16, "a link holds hundreds of these");

typedef struct cairn_sent_ring {
    cairn_sent *entries; // not owned
    uint32_t capacity;   // power of two
    uint64_t first;      // no record of a sequence below is held
    uint64_t next;       // sequence of the next payload
    uint64_t oldest;     // all before it are acknowledged or lost
    uint64_t acked_next; // one past the newest acknowledged
} cairn_sent_ring;

void cairn_sent_ring_reset(cairn_sent_ring *ring);
// The record of a sequence, NULL when it was never sent or its record was reused.
cairn_sent *cairn_sent_ring_find(cairn_sent_ring *ring, uint64_t sequence);
// Whether the next payload would overwrite the record of one that is neither acknowledged nor lost;
// declare that one lost first.
bool cairn_sent_ring_full(const cairn_sent_ring *ring);
// Records the next payload and returns its sequence. The ring must not be full.
uint64_t cairn_sent_ring_add(cairn_sent_ring *ring, cairn_sent sent);

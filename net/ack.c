// SPDX-License-Identifier: MIT
#include "net/ack.h"

#include <string.h>

#include "base/assert.h"

uint64_t cairn_sequence_expand(uint64_t expected, uint32_t low) {
    const uint64_t span = 1ull << 32;
    const uint64_t half = span / 2;
    const uint64_t here = (expected & ~(span - 1)) | low;
    CAIRN_ASSERT((uint32_t)here == low);
    if (here > expected && here - expected > half && here >= span) {
        return here - span;
    }
    if (here < expected && expected - here > half && here <= UINT64_MAX - span) {
        return here + span;
    }
    return here;
}

static uint32_t word_of(uint64_t sequence) {
    return (uint32_t)(sequence / 64 % (CAIRN_ACK_WINDOW / 64));
}

static uint64_t mask_of(uint64_t sequence) {
    return 1ull << (sequence % 64);
}

cairn_ack_seen cairn_ack_window_check(const cairn_ack_window *window, uint64_t sequence) {
    if (sequence >= window->next) {
        return CAIRN_ACK_FRESH;
    }
    if (window->next - sequence > CAIRN_ACK_WINDOW) {
        return CAIRN_ACK_STALE;
    }
    return (window->bits[word_of(sequence)] & mask_of(sequence)) != 0 ? CAIRN_ACK_DUPLICATE
                                                                      : CAIRN_ACK_FRESH;
}

// Clears the bits that leave the window when its newest becomes `sequence`.
static void window_move(cairn_ack_window *window, uint64_t sequence) {
    CAIRN_ASSERT(sequence >= window->next);
    if (sequence - window->next >= CAIRN_ACK_WINDOW) {
        memset(window->bits, 0, sizeof window->bits);
    } else {
        for (uint64_t s = window->next; s <= sequence; s++) {
            window->bits[word_of(s)] &= ~mask_of(s);
        }
    }
    window->next = sequence + 1;
}

void cairn_ack_window_add(cairn_ack_window *window, uint64_t sequence) {
    CAIRN_ASSERT(cairn_ack_window_check(window, sequence) == CAIRN_ACK_FRESH);
    if (sequence >= window->next) {
        window_move(window, sequence);
    }
    window->bits[word_of(sequence)] |= mask_of(sequence);
    CAIRN_ASSERT(cairn_ack_window_check(window, sequence) == CAIRN_ACK_DUPLICATE);
}

static uint32_t reversed(uint32_t word) {
    word = (word >> 1 & 0x55555555u) | (word & 0x55555555u) << 1;
    word = (word >> 2 & 0x33333333u) | (word & 0x33333333u) << 2;
    word = (word >> 4 & 0x0f0f0f0fu) | (word & 0x0f0f0f0fu) << 4;
    word = (word >> 8 & 0x00ff00ffu) | (word & 0x00ff00ffu) << 8;
    return word >> 16 | word << 16;
}

uint32_t cairn_ack_window_word(const cairn_ack_window *window, uint32_t skip) {
    CAIRN_ASSERT(window->next > 0 && skip + 33 <= CAIRN_ACK_WINDOW);
    // Before sequence 0 this wraps to bits of the ring that are still clear.
    const uint64_t first = window->next - 33 - skip;
    const uint32_t shift = (uint32_t)(first % 64);
    uint64_t word = window->bits[word_of(first)] >> shift;
    if (shift > 32) {
        word |= window->bits[word_of(first + 32)] << (64 - shift);
    }
    return reversed((uint32_t)word);
}

void cairn_sent_ring_reset(cairn_sent_ring *ring) {
    CAIRN_ASSERT(ring->capacity > 0 && (ring->capacity & (ring->capacity - 1)) == 0);
    CAIRN_ASSERT(ring->entries != NULL);
    ring->first = 0;
    ring->next = 0;
    ring->oldest = 0;
    ring->acked_next = 0;
}

static cairn_sent *entry_of(const cairn_sent_ring *ring, uint64_t sequence) {
    return &ring->entries[sequence & (ring->capacity - 1)];
}

cairn_sent *cairn_sent_ring_find(cairn_sent_ring *ring, uint64_t sequence) {
    CAIRN_ASSERT(ring->oldest <= ring->next && ring->acked_next <= ring->next);
    if (sequence < ring->first || sequence >= ring->next ||
        ring->next - sequence > ring->capacity) {
        return NULL;
    }
    return entry_of(ring, sequence);
}

bool cairn_sent_ring_full(const cairn_sent_ring *ring) {
    CAIRN_ASSERT(ring->next - ring->oldest <= ring->capacity);
    return ring->next - ring->oldest >= ring->capacity;
}

uint64_t cairn_sent_ring_add(cairn_sent_ring *ring, cairn_sent sent) {
    CAIRN_ASSERT(sent.state != CAIRN_SENT_NEVER);
    CAIRN_ASSERT(!cairn_sent_ring_full(ring));
    *entry_of(ring, ring->next) = sent;
    return ring->next++;
}

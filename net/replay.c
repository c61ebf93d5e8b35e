// SPDX-License-Identifier: MIT
#include "net/replay.h"

#include <string.h>

#include "base/assert.h"

static uint64_t bit_of(uint64_t sequence) {
    return UINT64_C(1) << (sequence % 64);
}

static unsigned word_of(uint64_t sequence) {
    return (unsigned)(sequence % CAIRN_REPLAY_WINDOW / 64);
}

bool cairn_replay_fresh(const cairn_replay *replay, uint64_t sequence) {
    if (sequence > replay->newest) {
        return true;
    }
    // The difference cannot overflow; sequence + window would, near the top of the sequence space.
    if (replay->newest - sequence >= CAIRN_REPLAY_WINDOW) {
        return false;
    }
    return (replay->received[word_of(sequence)] & bit_of(sequence)) == 0;
}

// Counts steps, not sequences: a loop up to UINT64_MAX inclusive would never end.
static void move_window(cairn_replay *replay, uint64_t sequence) {
    CAIRN_ASSERT(sequence > replay->newest);
    const uint64_t distance = sequence - replay->newest;
    if (distance >= CAIRN_REPLAY_WINDOW) {
        memset(replay->received, 0, sizeof replay->received);
    } else {
        for (uint64_t step = 1; step <= distance; ++step) {
            const uint64_t passed = replay->newest + step;
            replay->received[word_of(passed)] &= ~bit_of(passed);
        }
    }
    replay->newest = sequence;
}

void cairn_replay_accept(cairn_replay *replay, uint64_t sequence) {
    CAIRN_ASSERT(cairn_replay_fresh(replay, sequence));
    if (sequence > replay->newest) {
        move_window(replay, sequence);
    }
    replay->received[word_of(sequence)] |= bit_of(sequence);
    CAIRN_ASSERT(!cairn_replay_fresh(replay, sequence));
}

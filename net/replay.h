// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stdint.h>

// How many sequences older than the newest a late datagram may be.
#define CAIRN_REPLAY_WINDOW 256

// Which sequence numbers were received: the newest and a bit for each of the last
// CAIRN_REPLAY_WINDOW. All zero is a window that has received nothing.
typedef struct cairn_replay {
    uint64_t newest;
    uint64_t received[CAIRN_REPLAY_WINDOW / 64]; // bit sequence % CAIRN_REPLAY_WINDOW
} cairn_replay;

// Whether a datagram of this sequence may be new. Changes nothing: a forged datagram must not move
// the window, so call accept only after decryption has succeeded.
bool cairn_replay_fresh(const cairn_replay *replay, uint64_t sequence);
// Marks a fresh sequence as received and moves the window if it is the newest.
void cairn_replay_accept(cairn_replay *replay, uint64_t sequence);

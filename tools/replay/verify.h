// SPDX-License-Identifier: MIT
#pragma once

// Steps a recording again and compares every tick's state hash, every keyframe field by field, and
// the seal at its end. Segments between two states are independent, so threads share them.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/sign.h"
#include "program/progress.h"
#include "recording/chunk_reader.h"
#include "workers/pool.h"
#include <cairn/recording.h>

typedef enum cairn_verdict {
    CAIRN_VERDICT_SAME = 0, // everything in the file agrees; the file may be cut off
    CAIRN_VERDICT_DIFFERS,  // a state hash or a keyframe differs
    CAIRN_VERDICT_DAMAGED,  // agrees up to the damage
    CAIRN_VERDICT_VERSION,  // made by another simulation or rules: `finding` says which are needed
    CAIRN_VERDICT_UNREADABLE, // nothing could be stepped
} cairn_verdict;

typedef struct cairn_verification {
    cairn_verdict verdict;
    cairn_seal_verdict seal;
    uint8_t public_key[CAIRN_SIGN_PUBLIC_SIZE]; // as the file says
    bool started;                               // a first state was read
    uint32_t tick_rate_hz;
    uint64_t tick_first;
    uint64_t ticks;        // stepped and compared
    uint64_t commands;     // of them
    uint64_t keyframes;    // compared field by field
    uint32_t segments;     // from state to state
    bool side_by_side;     // threads shared segments; else each step
    uint64_t tick_differs; // the first tick whose hash differs, if the verdict is DIFFERS
    char end[CAIRN_RECORDING_ERROR_SIZE];           // how the file ends
    char finding[CAIRN_RECORDING_ERROR_SIZE + 256]; // the difference or the refusal; "" for none
} cairn_verification;

// `bytes` are aligned to 8. `pool` NULL: the calling thread alone.
cairn_verification cairn_verify(const uint8_t *bytes, size_t size, cairn_pool *pool);
// The same; `progress` has begun, or is NULL.
cairn_verification cairn_verify_shown(
    const uint8_t *bytes, size_t size, cairn_pool *pool, cairn_progress *progress);

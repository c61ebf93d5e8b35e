// SPDX-License-Identifier: MIT
#pragma once

// Steps a recording again and compares: every tick's root, every keyframe field by field, and the
// seal at its end. Stretches between two states need nothing of each other, so threads share them.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/sign.h"
#include "recording/walk.h"
#include "workers/pool.h"

typedef enum cairn_verdict {
    CAIRN_VERDICT_SAME = 0, // all there is verifies; the file may be cut off all the same
    CAIRN_VERDICT_DIFFERS,  // stepped again it is another world
    CAIRN_VERDICT_DAMAGED,  // verifies up to where the file is damaged
    CAIRN_VERDICT_VERSION,  // made by another simulation or rules: `finding` says which are needed
    CAIRN_VERDICT_UNREADABLE, // nothing could be stepped
} cairn_verdict;

typedef enum cairn_seal_verdict {
    CAIRN_SEAL_NONE = 0, // no end chunk, or one of version 1
    CAIRN_SEAL_UNSIGNED, // the chain agrees, nobody signed it
    CAIRN_SEAL_SIGNED,   // the chain agrees and public_key's owner signed it
    CAIRN_SEAL_CHAIN,    // the chain is another: something was changed after it was recorded
    CAIRN_SEAL_FORGED,   // the chain agrees, the signature is not public_key's
} cairn_seal_verdict;
const char *cairn_seal_text(cairn_seal_verdict seal);

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
    uint32_t stretches;    // from state to state
    bool side_by_side;     // stretches were shared out; else the steps themselves
    uint64_t tick_differs; // the first tick whose root differs, when the verdict says so
    char end[CAIRN_REPLAY_WORDS_SIZE];           // how the file ends
    char finding[CAIRN_REPLAY_WORDS_SIZE + 256]; // the difference or the refusal; "" for none
} cairn_verification;

// `bytes` start on 8 bytes. `pool` may be NULL: the caller alone.
cairn_verification cairn_verify(const uint8_t *bytes, size_t size, cairn_pool *pool);

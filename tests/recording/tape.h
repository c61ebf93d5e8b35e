// SPDX-License-Identifier: MIT
#pragma once

// A small world with a player, stepped and recorded in memory.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/recorder.h"
#include "tests/kit/scoped.h"
#include <cairn/sim.h>

#define TAPE_SIZE_MAX (1u << 20)

typedef struct tape {
    uint8_t *bytes; // starts on 8
    size_t size;
    cairn_world *world;
    cairn_recorder *recorder;
} tape;

// 16 ticks per chunk. Signed with `seed`; NULL: not signed.
void tape_start(tape *t, const uint8_t *seed);
void tape_run(tape *t, uint32_t ticks);
void tape_keyframe(tape *t);
void tape_close(tape *t); // ends the recording; the bytes stay
void tape_end(tape *t);
SCOPE_ENDS(tape, tape_end)

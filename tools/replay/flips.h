// SPDX-License-Identifier: MIT
#pragma once

// Looks for one bit that memory lost or gained: flips every bit that could be meant and looks
// whether that leads to a root.

#include <stdbool.h>
#include <stdint.h>

#include "sim/debug/trace.h"

// The bit of `world`'s state whose flipping gives it the root `wanted`: bits_a as the word is,
// bits_b as it would be. False: none of the first `tries_max` does.
bool cairn_flip_of_state(
    const cairn_world *world, cairn_hash128 wanted, uint32_t tries_max, cairn_word_difference *out);

// Words that are looked at.
#define CAIRN_FLIP_WORDS_MAX 4096

// The bit whose flipping before the step leads to the root `wanted` after it, among the elements
// that differ in `found` and all that belongs to their bodies. False as above.
bool cairn_flip_before_step(const cairn_world *world, const cairn_command *commands,
    uint32_t command_count, const cairn_word_difference *found, uint32_t found_count,
    cairn_hash128 wanted, uint32_t tries_max, cairn_word_difference *out);

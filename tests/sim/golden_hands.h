// SPDX-License-Identifier: MIT
#pragma once

// Workers for the golden checker, where the machine has threads: golden_threads.c, and
// golden_alone.c for where it has none.

#include <stdbool.h>

#include <cairn/sim.h>

// Fills *out with a parallel-for of this many workers; 1 is the caller alone. False if the machine
// cannot start as many.
bool golden_hands_call(uint32_t workers, cairn_parallel *out);
void golden_hands_dismiss(cairn_parallel *parallel);

// SPDX-License-Identifier: MIT
#pragma once

// Joins, leaves, partitions, stalls, restarts, damages, hostile datagrams and inputs: what happens
// to endpoints between two turns, drawn from the storm's seed.

#include "storm/state.h"

// A new client in an empty slot.
void cairn_storm_join(cairn_storm *s, uint32_t slot);
void cairn_storm_inject_faults(cairn_storm *s);
// Removes every fault and injects no more.
void cairn_storm_begin_quiescence(cairn_storm *s);

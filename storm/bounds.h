// SPDX-License-Identifier: MIT
#pragma once

// Counters, liveness, work and memory of endpoints.

#include "storm/state.h"

// Checks what must hold between two turns; `passed_ns` of virtual time have passed since the last
// check.
void cairn_storm_check(cairn_storm *s, uint64_t passed_ns);

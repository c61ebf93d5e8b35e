// SPDX-License-Identifier: MIT
#pragma once

// The memory that endpoints hold.

#include "storm/state.h"

void cairn_storm_check_memory(cairn_storm *s, uint64_t passed_ns);

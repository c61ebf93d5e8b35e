// SPDX-License-Identifier: MIT
#pragma once

// The ticks that clients step, and the causes of their rollbacks.

#include "storm/state.h"

void cairn_storm_check_work(cairn_storm *s, uint32_t slot, uint64_t passed_ns);

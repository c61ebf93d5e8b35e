// SPDX-License-Identifier: MIT
#pragma once

// A humanoid of thirty hinges both ways, side by side: articulated, and with ordinary hinges. How
// far joints open, what energy is lost afloat, and what steps cost.

#include <stdbool.h>
#include <stdint.h>

// `ticks`: of the trial that lies on the ground and is pushed; 0: 3600, a minute.
bool bench_figures(uint64_t ticks);

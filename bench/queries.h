// SPDX-License-Identifier: MIT
#pragma once

// What rays, overlaps and casts cost among 2000 bodies, beside the targets.

#include <stdbool.h>

// Prints a line for each. False: one is beyond its target, or there is no memory.
bool bench_queries(void);

// SPDX-License-Identifier: MIT
#pragma once

// What rays, overlaps and casts cost among 2000 bodies, beside the targets.

#include <stdbool.h>

// Prints a line for each query. Returns false if a query is slower than its target, or if memory
// runs out.
bool bench_queries(void);

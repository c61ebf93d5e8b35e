// SPDX-License-Identifier: MIT
#pragma once

// The start of a reproduction in C: `static cairn_world *start(void)`.

#include <stdbool.h>
#include <stdio.h>

#include "tools/replay/shrink/repro.h"

// False: out of memory.
bool cairn_test_write_start(const cairn_repro *repro, FILE *out);
// A float and a vector in C, with all their bits.
void cairn_test_write_float(float value, FILE *out);
void cairn_test_write_vector(const cairn_vec3 *v, FILE *out);

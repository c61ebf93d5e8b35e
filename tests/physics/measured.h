// SPDX-License-Identifier: MIT
#pragma once

// Comparisons of which tests/physics/measured.py puts the numbers into a table.

#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>

// Prints the three numbers of a comparison if the environment has CAIRN_MEASURED.
static inline void measured(double got, double wanted, double within) {
    if (getenv("CAIRN_MEASURED") != NULL) {
        (void)printf("measured %.9g %.9g %.9g\n", got, wanted, within);
    }
}

// The same as EXPECT_NEAR.
#define EXPECT_MEASURED(got, wanted, within)                                                       \
    do {                                                                                           \
        measured((double)(got), (double)(wanted), (double)(within));                               \
        EXPECT_NEAR(got, wanted, within);                                                          \
    } while (0)

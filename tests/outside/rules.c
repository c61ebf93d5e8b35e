// SPDX-License-Identifier: MIT
#include "tests/outside/rules.h"

#ifdef __FAST_MATH__
#error "cairn::sim takes fast-math away"
#endif

uint64_t rules_in_c(void) {
    return arithmetic();
}

// SPDX-License-Identifier: MIT
#include <stddef.h>

#include "tests/sim/golden_hands.h"

bool golden_hands_call(uint32_t workers, cairn_parallel *out) {
    *out = (cairn_parallel){.workers = workers};
    return workers == 1;
}

void golden_hands_dismiss(cairn_parallel *parallel) {
    *parallel = (cairn_parallel){.context = NULL};
}

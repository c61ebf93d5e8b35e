// SPDX-License-Identifier: MIT
#pragma once

// Whose doing a rollback is, from what was guessed for a tick and what the server confirmed.

#include <stdint.h>

#include "client_lib/simulate/input_prediction.h"
#include <cairn/client.h>

typedef struct cairn_rollback_attribution {
    cairn_client_rollback_cause cause;
    uint32_t slot; // CAIRN_SLOT_NONE: nobody's
} cairn_rollback_attribution;

// `prediction` has learned all ticks before `tick`. The lists differ, each in any order; `own` is
// CAIRN_SLOT_NONE for who has no slot.
cairn_rollback_attribution cairn_rollback_attribution_find(const cairn_input_prediction *prediction,
    uint64_t tick, uint32_t own, const cairn_command *guessed, uint32_t guessed_count,
    const cairn_command *confirmed, uint32_t confirmed_count);

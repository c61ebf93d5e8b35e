// SPDX-License-Identifier: MIT
#pragma once

// Finds the cause of a rollback from the predicted and the confirmed commands of a tick.

#include <stdint.h>

#include "client_lib/simulate/input_prediction.h"
#include <cairn/client.h>

typedef struct cairn_rollback_attribution {
    cairn_client_rollback_cause cause;
    uint32_t slot; // CAIRN_SLOT_NONE: of no player
} cairn_rollback_attribution;

// `prediction` knows all ticks before `tick`. The two lists differ; each may be in any order. `own`
// is this client's slot, or CAIRN_SLOT_NONE.
cairn_rollback_attribution cairn_rollback_attribution_find(const cairn_input_prediction *prediction,
    uint64_t tick, uint32_t own, const cairn_command *predicted, uint32_t predicted_count,
    const cairn_command *confirmed, uint32_t confirmed_count);

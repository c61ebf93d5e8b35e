// SPDX-License-Identifier: MIT
#pragma once

// Why rollbacks happen, from the predicted and the confirmed commands of a tick, and the log that a
// client reports: the last rollbacks one by one, all of them by cause.

#include <stdint.h>

#include "client_lib/simulate/input_prediction.h"
#include <cairn/client.h>

typedef struct cairn_rollback_attribution {
    cairn_client_rollback_cause cause;
    uint32_t slot; // CAIRN_SLOT_NONE: of no player
} cairn_rollback_attribution;

// `prediction` has confirmed all ticks before `tick`. The two lists differ; each may be in any
// order. `own` is this client's slot, or CAIRN_SLOT_NONE.
cairn_rollback_attribution cairn_rollback_attribution_find(const cairn_input_prediction *prediction,
    uint64_t tick, uint32_t own, const cairn_command *predicted, uint32_t predicted_count,
    const cairn_command *confirmed, uint32_t confirmed_count);

typedef struct cairn_rollback_log {
    cairn_client_rollback ring[CAIRN_CLIENT_ROLLBACKS_HELD]; // by number modulo size
    uint64_t count;                                          // in all
    uint64_t by_cause[CAIRN_ROLLBACK_CAUSE_COUNT];
    uint64_t ticks; // gone back, in sum
} cairn_rollback_log;

void cairn_rollback_log_add(cairn_rollback_log *rollbacks, const cairn_client_rollback *rollback);
// The newest `capacity`, oldest first; returns how many were written.
uint32_t cairn_rollback_log_read(
    const cairn_rollback_log *rollbacks, cairn_client_rollback *out, uint32_t capacity);

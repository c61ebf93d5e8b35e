// SPDX-License-Identifier: MIT
#pragma once

// What a client reports about rollbacks: the last ones one by one, all of them by cause.

#include <stdint.h>

#include <cairn/client.h>

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

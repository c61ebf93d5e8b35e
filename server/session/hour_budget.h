// SPDX-License-Identifier: MIT
#pragma once

// How often something dear may be done within an hour: for one client id, its connections together,
// and for all. So one client id, however often it connects, leaves something to the others.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/types.h>

#define CAIRN_HOUR_BUDGET_NS (3600 * CAIRN_NS_PER_S)
#define CAIRN_HOUR_BUDGET_MAX 256 // for all, at most

typedef struct cairn_hour_spent {
    uint64_t client_id;
    uint64_t at_ns;
} cairn_hour_spent;

// Zero at first.
typedef struct cairn_hour_budget {
    uint64_t count;                                // in all
    cairn_hour_spent spent[CAIRN_HOUR_BUDGET_MAX]; // the last ones; modulo the size
} cairn_hour_budget;

// False: the client id has had `client_max` within the hour, or all together `max`; then nothing is
// spent.
bool cairn_hour_budget_spend(cairn_hour_budget *budget, uint64_t client_id, uint64_t now_ns,
    uint32_t client_max, uint32_t max);

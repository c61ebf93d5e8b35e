// SPDX-License-Identifier: MIT
#include "server/session/hour_budget.h"

#include "base/assert.h"

bool cairn_hour_budget_spend(cairn_hour_budget *budget, uint64_t client_id, uint64_t now_ns,
    uint32_t client_max, uint32_t max) {
    uint32_t recent = 0;
    uint32_t of_client = 0;
    CAIRN_ASSERT(max <= CAIRN_HOUR_BUDGET_MAX);
    for (uint32_t i = 0; i < CAIRN_HOUR_BUDGET_MAX && i < budget->count; ++i) {
        const bool counts = now_ns - budget->spent[i].at_ns < CAIRN_HOUR_BUDGET_NS;
        recent += counts ? 1 : 0;
        of_client += counts && budget->spent[i].client_id == client_id ? 1 : 0;
    }
    if (recent >= max || of_client >= client_max) {
        return false;
    }
    budget->spent[budget->count++ % CAIRN_HOUR_BUDGET_MAX] =
        (cairn_hour_spent){.client_id = client_id, .at_ns = now_ns};
    return true;
}

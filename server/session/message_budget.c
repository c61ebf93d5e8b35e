// SPDX-License-Identifier: MIT
#include "server/session/message_budget.h"

#include <cairn/types.h>

#include "base/assert.h"

bool cairn_message_budget_spend(cairn_message_budget *budget, uint64_t now_ns, uint32_t size) {
    CAIRN_ASSERT(now_ns >= budget->spent_ns);
    const uint64_t most = CAIRN_MESSAGE_BUDGET_BYTES * CAIRN_NS_PER_S;
    const uint64_t since_ns = now_ns - budget->spent_ns;
    const bool filled =
        since_ns / CAIRN_NS_PER_S >= CAIRN_MESSAGE_BUDGET_BYTES / CAIRN_MESSAGE_BUDGET_BYTES_PER_S;
    const uint64_t refilled = filled ? most : since_ns * CAIRN_MESSAGE_BUDGET_BYTES_PER_S;
    budget->spent = budget->spent > refilled ? budget->spent - refilled : 0;
    budget->spent_ns = now_ns;
    const uint64_t cost = (uint64_t)(size + CAIRN_MESSAGE_BUDGET_HEAD) * CAIRN_NS_PER_S;
    if (cost > most - budget->spent) {
        return false;
    }
    budget->spent += cost;
    return true;
}

uint64_t cairn_message_budget_expiry_ns(const cairn_message_budget *budget) {
    return budget->spent == 0
               ? 0
               : budget->spent_ns + budget->spent / CAIRN_MESSAGE_BUDGET_BYTES_PER_S + 1;
}

// SPDX-License-Identifier: MIT
#include "server/session/payload_budget.h"

#include <cairn/types.h>

#include "base/assert.h"

uint32_t cairn_payload_budget_per_s(uint64_t ticks_per_s, bool is_operator) {
    const uint64_t per_s = CAIRN_PAYLOAD_BUDGET_PER_S + CAIRN_PAYLOAD_BUDGET_PER_TICK * ticks_per_s;
    CAIRN_ASSERT(per_s * CAIRN_PAYLOAD_BUDGET_OPERATOR <= UINT32_MAX);
    return (uint32_t)per_s * (is_operator ? CAIRN_PAYLOAD_BUDGET_OPERATOR : 1);
}

// A second in which little was dropped, or nothing, ends a row.
static void count_over(cairn_payload_budget *budget, uint64_t now_ns, uint32_t per_s) {
    const uint64_t since_ns = now_ns - budget->over_from_ns;
    if (since_ns >= CAIRN_NS_PER_S) {
        const bool flooded = budget->over >= per_s && since_ns < 2 * CAIRN_NS_PER_S;
        budget->flooded_s = flooded ? budget->flooded_s + 1 : 0;
        budget->over_from_ns = now_ns;
        budget->over = 0;
    }
    budget->over += 1;
}

bool cairn_payload_budget_spend(cairn_payload_budget *budget, uint64_t now_ns, uint32_t per_s) {
    CAIRN_ASSERT(now_ns >= budget->spent_ns && per_s > 0);
    const uint64_t most = per_s * CAIRN_NS_PER_S;
    const uint64_t since_ns = now_ns - budget->spent_ns;
    const uint64_t refilled = since_ns >= CAIRN_NS_PER_S ? most : since_ns * per_s;
    budget->spent = budget->spent > refilled ? budget->spent - refilled : 0;
    budget->spent_ns = now_ns;
    if (budget->spent + CAIRN_NS_PER_S > most) {
        count_over(budget, now_ns, per_s);
        return false;
    }
    budget->spent += CAIRN_NS_PER_S;
    return true;
}

void cairn_payload_budget_earn(cairn_payload_budget *budget) {
    budget->spent = budget->spent > CAIRN_NS_PER_S ? budget->spent - CAIRN_NS_PER_S : 0;
}

void cairn_payload_budget_begin_again(cairn_payload_budget *budget) {
    *budget = (cairn_payload_budget){.spent = budget->spent, .spent_ns = budget->spent_ns};
}

bool cairn_payload_budget_is_flooded(const cairn_payload_budget *budget) {
    return budget->flooded_s >= CAIRN_PAYLOAD_BUDGET_FLOOD_S;
}

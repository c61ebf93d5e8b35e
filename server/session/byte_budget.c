// SPDX-License-Identifier: MIT
#include "server/session/byte_budget.h"

#include "base/assert.h"

// Forgets the seconds that left the window.
static void move_window(cairn_byte_budget *budget, uint64_t now_ns) {
    const uint64_t second = now_ns / CAIRN_NS_PER_S;
    CAIRN_ASSERT(second >= budget->second);
    for (uint32_t i = 0; i < CAIRN_BYTE_BUDGET_SECONDS && budget->second < second; ++i) {
        budget->second += 1;
        budget->received[budget->second % CAIRN_BYTE_BUDGET_SECONDS] = 0;
        budget->spent[budget->second % CAIRN_BYTE_BUDGET_SECONDS] = 0;
    }
    budget->second = second;
}

void cairn_byte_budget_receive(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size) {
    move_window(budget, now_ns);
    budget->received[budget->second % CAIRN_BYTE_BUDGET_SECONDS] += size;
}

bool cairn_byte_budget_spend(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size) {
    uint64_t received = 0;
    uint64_t spent = size;
    move_window(budget, now_ns);
    for (uint32_t i = 0; i < CAIRN_BYTE_BUDGET_SECONDS; ++i) {
        received += budget->received[i];
        spent += budget->spent[i];
    }
    if (spent > CAIRN_BYTE_BUDGET_RATIO * received) {
        return false;
    }
    budget->spent[budget->second % CAIRN_BYTE_BUDGET_SECONDS] += size;
    return true;
}

bool cairn_byte_budget_spend_state(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size) {
    if (cairn_byte_budget_spend(budget, now_ns, size)) {
        return true;
    }
    if (now_ns < budget->state_ns) {
        return false;
    }
    const bool seldom = now_ns - budget->state_ns >= 2 * CAIRN_BYTE_BUDGET_STATE_NS_MAX;
    const uint64_t doubled_ns = 2 * budget->state_wait_ns;
    budget->state_wait_ns = seldom || doubled_ns == 0 ? CAIRN_BYTE_BUDGET_STATE_NS
                            : doubled_ns < CAIRN_BYTE_BUDGET_STATE_NS_MAX
                                ? doubled_ns
                                : CAIRN_BYTE_BUDGET_STATE_NS_MAX;
    budget->state_ns = now_ns + budget->state_wait_ns;
    return true;
}

bool cairn_byte_budget_spend_join(cairn_byte_budget *budget, uint64_t now_ns, uint64_t size) {
    const uint64_t most_ns = (CAIRN_BYTE_BUDGET_JOINS - 1) * CAIRN_BYTE_BUDGET_JOIN_NS;
    const uint64_t counted =
        size < CAIRN_BYTE_BUDGET_JOIN_SIZE ? size : CAIRN_BYTE_BUDGET_JOIN_SIZE;
    if (budget->join_until_ns > now_ns + most_ns) {
        return false;
    }
    const uint64_t from_ns = budget->join_until_ns > now_ns ? budget->join_until_ns : now_ns;
    budget->join_until_ns =
        from_ns + counted * CAIRN_BYTE_BUDGET_JOIN_NS / CAIRN_BYTE_BUDGET_JOIN_SIZE;
    return true;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

uint64_t cairn_byte_budget_expiry_ns(const cairn_byte_budget *budget) {
    uint64_t spent = 0;
    for (uint32_t i = 0; i < CAIRN_BYTE_BUDGET_SECONDS; ++i) {
        spent += budget->spent[i];
    }
    const uint64_t window_ns =
        spent > 0 ? (budget->second + CAIRN_BYTE_BUDGET_SECONDS) * CAIRN_NS_PER_S : 0;
    const uint64_t state_ns =
        budget->state_wait_ns > 0 ? budget->state_ns + 2 * CAIRN_BYTE_BUDGET_STATE_NS_MAX : 0;
    return later(later(window_ns, state_ns), budget->join_until_ns);
}

// SPDX-License-Identifier: MIT
#include "server/session/wait_ledger.h"

#include "base/assert.h"

static bool is_used(const cairn_wait_budget *budget) {
    return budget->offences > 0 || budget->silent_ns > 0 || budget->paid_ns > 0 ||
           budget->times_given_up > 0 || budget->timely_required > 0;
}

static cairn_wait_record *find(
    cairn_wait_ledger *ledger, uint64_t client_id, uint64_t now_ns, cairn_wait_record **free) {
    cairn_id_record *free_head;
    cairn_id_record *head = cairn_id_record_find(ledger->records, sizeof *ledger->records,
        CAIRN_WAIT_LEDGER_MAX, client_id, now_ns, &free_head);
    *free = (cairn_wait_record *)free_head;
    return (cairn_wait_record *)head;
}

void cairn_wait_ledger_put(cairn_wait_ledger *ledger, uint64_t client_id,
    const cairn_wait_budget *budget, uint64_t now_ns) {
    const uint64_t minute_ns = now_ns + CAIRN_WAIT_LEDGER_NS;
    const uint64_t until_ns = budget->paid_ns > minute_ns ? budget->paid_ns : minute_ns;
    cairn_wait_record *free;
    cairn_wait_record *record = find(ledger, client_id, now_ns, &free);
    if (!is_used(budget)) {
        return;
    }
    if (record == NULL && free == NULL) {
        ledger->lost_until_ns = ledger->lost_until_ns > until_ns ? ledger->lost_until_ns : until_ns;
        return;
    }
    *(record != NULL ? record : free) = (cairn_wait_record){
        .head = {.client_id = client_id, .until_ns = until_ns}, .budget = *budget};
}

cairn_wait_budget cairn_wait_ledger_take(cairn_wait_ledger *ledger, uint64_t client_id,
    const cairn_wait_budget *given_up, uint64_t now_ns) {
    CAIRN_ASSERT(given_up->timely_required > 0);
    cairn_wait_record *free;
    cairn_wait_record *record = find(ledger, client_id, now_ns, &free);
    if (record == NULL) {
        return now_ns < ledger->lost_until_ns ? *given_up : (cairn_wait_budget){0};
    }
    record->head.until_ns = 0;
    return record->budget;
}

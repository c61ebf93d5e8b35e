// SPDX-License-Identifier: MIT
#include "server/session/budget_ledger.h"

#include <stdlib.h>

#include "base/assert.h"

bool cairn_budget_ledger_create(uint32_t count, cairn_budget_ledger *out) {
    CAIRN_ASSERT(count > 0);
    *out = (cairn_budget_ledger){.records = calloc(count, sizeof *out->records), .count = count};
    return out->records != NULL;
}

void cairn_budget_ledger_destroy(cairn_budget_ledger *ledger) {
    free(ledger->records);
    *ledger = (cairn_budget_ledger){0};
}

static cairn_budget_record *find(
    cairn_budget_ledger *ledger, uint64_t client_id, uint64_t now_ns, cairn_budget_record **free) {
    cairn_id_record *free_head;
    cairn_id_record *head = cairn_id_record_find(
        ledger->records, sizeof *ledger->records, ledger->count, client_id, now_ns, &free_head);
    *free = (cairn_budget_record *)free_head;
    return (cairn_budget_record *)head;
}

void cairn_budget_ledger_put(cairn_budget_ledger *ledger, uint64_t client_id,
    const cairn_client_budget *budget, uint64_t now_ns) {
    const uint64_t bytes_ns = cairn_byte_budget_expiry_ns(&budget->bytes);
    const uint64_t messages_ns = cairn_message_budget_expiry_ns(&budget->messages);
    const uint64_t until_ns = bytes_ns > messages_ns ? bytes_ns : messages_ns;
    cairn_budget_record *free;
    cairn_budget_record *record = find(ledger, client_id, now_ns, &free);
    if (until_ns <= now_ns) {
        return;
    }
    if (record == NULL && free == NULL) {
        ledger->lost_until_ns = ledger->lost_until_ns > until_ns ? ledger->lost_until_ns : until_ns;
        return;
    }
    *(record != NULL ? record : free) = (cairn_budget_record){
        .head = {.client_id = client_id, .until_ns = until_ns}, .budget = *budget};
}

cairn_client_budget cairn_budget_ledger_take(
    cairn_budget_ledger *ledger, uint64_t client_id, uint64_t now_ns) {
    cairn_budget_record *free;
    cairn_budget_record *record = find(ledger, client_id, now_ns, &free);
    if (record != NULL) {
        record->head.until_ns = 0;
        return record->budget;
    }
    if (now_ns >= ledger->lost_until_ns) {
        return (cairn_client_budget){0};
    }
    return (cairn_client_budget){
        .bytes = {.state_ns = now_ns + CAIRN_BYTE_BUDGET_STATE_NS,
            .join_until_ns = now_ns + (CAIRN_BYTE_BUDGET_JOINS - 1) * CAIRN_BYTE_BUDGET_JOIN_NS}};
}

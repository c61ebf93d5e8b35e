// SPDX-License-Identifier: MIT
#pragma once

// What clients that left have used of their budgets, by client id: only time renews a budget, not
// another connection, with whatever token. A record is kept for as long as it says more than a new
// budget, and is never replaced by another one, because a client with many ids could push out the
// record of one of them. If the ledger is full, a record is lost. Until it would have expired, a
// client without a record is owed one world at once instead of four, and no state besides.

#include <stdbool.h>
#include <stdint.h>

#include "server/session/byte_budget.h"
#include "server/session/id_record.h"
#include "server/session/message_budget.h"

typedef struct cairn_client_budget {
    cairn_byte_budget bytes;       // of what it asks for
    cairn_message_budget messages; // of what it tells the rules
} cairn_client_budget;

typedef struct cairn_budget_record {
    cairn_id_record head;
    cairn_client_budget budget;
} cairn_budget_record;

typedef struct cairn_budget_ledger {
    uint64_t lost_until_ns;       // when the last record that was lost would have expired
    cairn_budget_record *records; // owned
    uint32_t count;
} cairn_budget_ledger;

// False: out of memory; destroying is allowed.
bool cairn_budget_ledger_create(uint32_t count, cairn_budget_ledger *out);
void cairn_budget_ledger_destroy(cairn_budget_ledger *ledger);

// The client's connection ended.
void cairn_budget_ledger_put(cairn_budget_ledger *ledger, uint64_t client_id,
    const cairn_client_budget *budget, uint64_t now_ns);
// The client connects; its record is removed.
cairn_client_budget cairn_budget_ledger_take(
    cairn_budget_ledger *ledger, uint64_t client_id, uint64_t now_ns);

// SPDX-License-Identifier: MIT
#pragma once

// How much of a room's waits (server/session/input_wait.h) players had used when they left, by
// client id: only time renews a budget. A record is kept for a minute, or for as long as time takes
// to pay for the waits, and is never replaced by another one, because a client with many ids could
// push out the record of one of them. If the ledger is full, a record is lost. Until that would
// have expired, a client that joins without a record starts as given up: the client whose record
// was lost gains nothing, and an honest client is waited for after one second of inputs on time.

#include <stdbool.h>
#include <stdint.h>

#include "server/session/id_record.h"
#include <cairn/types.h>

#define CAIRN_WAIT_LEDGER_NS (60 * CAIRN_NS_PER_S)
#define CAIRN_WAIT_LEDGER_MAX CAIRN_SLOTS_MAX

// Zero: nothing was used.
typedef struct cairn_wait_budget {
    uint32_t offences;
    uint32_t times_given_up;
    uint64_t offence_ns; // time of the last
    uint64_t silent_ns;  // of waits that were not announced, since silent_from_ns
    uint64_t silent_from_ns;
    uint64_t paid_ns;         // when a share of all time has paid for all waits
    uint64_t given_up_ns;     // when it was the last time
    uint32_t timely_required; // inputs on time, in a row, until the room waits again; 0: it waits
    uint32_t timely_missing;  // of these
} cairn_wait_budget;

typedef struct cairn_wait_record {
    cairn_id_record head;
    cairn_wait_budget budget;
} cairn_wait_record;

// Zero at first.
typedef struct cairn_wait_ledger {
    uint64_t lost_until_ns; // when the last record that was lost would have expired
    cairn_wait_record records[CAIRN_WAIT_LEDGER_MAX];
} cairn_wait_ledger;

// The client leaves. A budget of zeros needs no record.
void cairn_wait_ledger_put(cairn_wait_ledger *ledger, uint64_t client_id,
    const cairn_wait_budget *budget, uint64_t now_ns);
// The client joins; its record is removed. `given_up` is the budget of a player that is not waited
// for.
cairn_wait_budget cairn_wait_ledger_take(cairn_wait_ledger *ledger, uint64_t client_id,
    const cairn_wait_budget *given_up, uint64_t now_ns);

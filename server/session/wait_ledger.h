// SPDX-License-Identifier: MIT
#pragma once

// What players that left a room have used of its waits (server/session/input_wait.h), by client id:
// only time gives a player new ones. A record is kept for a minute, and none makes room for
// another, or a client with many ids could push out what one of them has used. While the ledger
// has lost a record because it was full, whoever joins without one counts as given up: whose
// record was lost wins nothing, and a player that is on time is waited for after a second.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/types.h>

#define CAIRN_WAIT_LEDGER_NS (60 * CAIRN_NS_PER_S)
#define CAIRN_WAIT_LEDGER_MAX CAIRN_SLOTS_MAX

// Zero: nothing was used.
typedef struct cairn_wait_budget {
    uint32_t offences;
    uint64_t offence_ns; // time of the last
    uint64_t silent_ns;  // of waits that were not announced, since silent_from_ns
    uint64_t silent_from_ns;
    uint32_t times_given_up;
    uint64_t given_up_ns;     // when it was the last time
    uint32_t timely_required; // inputs on time, in a row, until the room waits again; 0: it waits
    uint32_t timely_missing;  // of these
} cairn_wait_budget;

typedef struct cairn_wait_record {
    uint64_t client_id;
    uint64_t until_ns; // nothing is recorded from then on
    cairn_wait_budget budget;
} cairn_wait_record;

// Zero at first.
typedef struct cairn_wait_ledger {
    uint64_t lost_until_ns; // until then a record would have been kept that was lost
    cairn_wait_record records[CAIRN_WAIT_LEDGER_MAX];
} cairn_wait_ledger;

// The client leaves. A budget of zeros needs no record.
void cairn_wait_ledger_put(cairn_wait_ledger *ledger, uint64_t client_id,
    const cairn_wait_budget *budget, uint64_t now_ns);
// The client joins; its record is removed. `given_up` is the budget of a player that is not waited
// for.
cairn_wait_budget cairn_wait_ledger_take(cairn_wait_ledger *ledger, uint64_t client_id,
    const cairn_wait_budget *given_up, uint64_t now_ns);

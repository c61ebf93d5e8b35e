// SPDX-License-Identifier: MIT
#include "client_lib/simulate/rollback_log.h"

#include "base/assert.h"

const char *cairn_client_rollback_cause_text(cairn_client_rollback_cause cause) {
    static const char *const texts[CAIRN_ROLLBACK_CAUSE_COUNT] = {
        [CAIRN_ROLLBACK_LATE_INPUT] = "the server lacked a player's input",
        [CAIRN_ROLLBACK_OWN_INPUT] = "the server lacked our own input",
        [CAIRN_ROLLBACK_WRONG_PREDICTION] = "a player did something else",
        [CAIRN_ROLLBACK_LOST_PACKET] = "the word that a player did something else came late",
        [CAIRN_ROLLBACK_JOIN_LEAVE] = "a player joined or left",
        [CAIRN_ROLLBACK_OPERATOR] = "an operator's edit",
        [CAIRN_ROLLBACK_RESYNC] = "a difference was healed",
        [CAIRN_ROLLBACK_STATE_REPLACED] = "the state was replaced",
    };
    return (uint32_t)cause < CAIRN_ROLLBACK_CAUSE_COUNT ? texts[cause] : "unknown";
}

void cairn_rollback_log_add(cairn_rollback_log *rollbacks, const cairn_client_rollback *rollback) {
    CAIRN_ASSERT(rollback->cause < CAIRN_ROLLBACK_CAUSE_COUNT);
    rollbacks->ring[rollbacks->count % CAIRN_CLIENT_ROLLBACKS_HELD] = *rollback;
    rollbacks->count++;
    rollbacks->by_cause[rollback->cause]++;
    rollbacks->ticks += rollback->ticks;
}

uint32_t cairn_rollback_log_read(
    const cairn_rollback_log *rollbacks, cairn_client_rollback *out, uint32_t capacity) {
    uint64_t count = rollbacks->count;
    count = count < CAIRN_CLIENT_ROLLBACKS_HELD ? count : CAIRN_CLIENT_ROLLBACKS_HELD;
    count = count < capacity ? count : capacity;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = rollbacks->count - count + i;
        out[i] = rollbacks->ring[number % CAIRN_CLIENT_ROLLBACKS_HELD];
    }
    return (uint32_t)count;
}

// SPDX-License-Identifier: MIT
#include "client_lib/simulate/rollback_log.h"

#include "base/assert.h"

const char *cairn_client_rollback_cause_text(cairn_client_rollback_cause cause) {
    static const char *const texts[CAIRN_ROLLBACK_CAUSE_COUNT] = {
        [CAIRN_ROLLBACK_LATE_INPUT] = "another player's input reached the server late or never",
        [CAIRN_ROLLBACK_OWN_INPUT] = "our own input reached the server late or never",
        [CAIRN_ROLLBACK_WRONG_PREDICTION] = "a player's input differed from the prediction",
        [CAIRN_ROLLBACK_LOST_PACKET] = "the message about a player's new input was lost or delayed",
        [CAIRN_ROLLBACK_JOIN_LEAVE] = "a player joined or left",
        [CAIRN_ROLLBACK_OPERATOR] = "an operator edited the world",
        [CAIRN_ROLLBACK_RESYNC] = "the world was resynchronised",
        [CAIRN_ROLLBACK_STATE_REPLACED] = "the server sent a new state",
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
    CAIRN_ASSERT(out != NULL || capacity == 0);
    uint64_t count = rollbacks->count;
    count = count < CAIRN_CLIENT_ROLLBACKS_HELD ? count : CAIRN_CLIENT_ROLLBACKS_HELD;
    count = count < capacity ? count : capacity;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = rollbacks->count - count + i;
        out[i] = rollbacks->ring[number % CAIRN_CLIENT_ROLLBACKS_HELD];
    }
    return (uint32_t)count;
}

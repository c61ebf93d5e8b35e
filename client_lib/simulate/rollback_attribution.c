// SPDX-License-Identifier: MIT
#include "client_lib/simulate/rollback_attribution.h"

#include <string.h>

#include "base/assert.h"
#include "schema/messages.h"

typedef struct command_list {
    const cairn_command *commands;
    uint32_t count;
} command_list;

static const cairn_command *find_input(command_list list, uint32_t slot) {
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.commands[i].kind == CAIRN_COMMAND_INPUT && list.commands[i].slot == slot) {
            return &list.commands[i];
        }
    }
    return NULL;
}

static bool equal_inputs(const cairn_command *a, const cairn_command *b) {
    return a == b || (a != NULL && b != NULL && memcmp(a, b, sizeof *a) == 0);
}

// Whether the server substituted the input because none had arrived.
static bool is_substituted(const cairn_input_prediction *prediction, uint64_t tick, uint32_t slot,
    const cairn_command *confirmed) {
    cairn_command substitute;
    const bool substitutes = cairn_input_prediction_substitute(prediction, slot, tick, &substitute);
    return equal_inputs(confirmed, substitutes ? &substitute : NULL);
}

cairn_rollback_attribution cairn_rollback_attribution_find(const cairn_input_prediction *prediction,
    uint64_t tick, uint32_t own, const cairn_command *predicted, uint32_t predicted_count,
    const cairn_command *confirmed, uint32_t confirmed_count) {
    CAIRN_ASSERT(prediction->next_tick <= tick);
    const command_list ours = {predicted, predicted_count};
    const command_list theirs = {confirmed, confirmed_count};
    for (uint32_t i = 0; i < confirmed_count; i++) {
        if (confirmed[i].slot >= CAIRN_SLOTS_MAX) {
            return (cairn_rollback_attribution){CAIRN_ROLLBACK_OPERATOR, CAIRN_SLOT_NONE};
        }
    }
    for (uint32_t i = 0; i < confirmed_count; i++) {
        if (confirmed[i].kind != CAIRN_COMMAND_INPUT) {
            return (cairn_rollback_attribution){CAIRN_ROLLBACK_JOIN_LEAVE, confirmed[i].slot};
        }
    }
    for (uint32_t i = 0; i <= CAIRN_SLOTS_MAX; i++) {
        const uint32_t slot = i == 0 ? own : i - 1;
        if (slot >= CAIRN_SLOTS_MAX ||
            equal_inputs(find_input(ours, slot), find_input(theirs, slot))) {
            continue;
        }
        if (!is_substituted(prediction, tick, slot, find_input(theirs, slot))) {
            return (cairn_rollback_attribution){CAIRN_ROLLBACK_WRONG_PREDICTION, slot};
        }
        return (cairn_rollback_attribution){
            slot == own ? CAIRN_ROLLBACK_OWN_INPUT : CAIRN_ROLLBACK_LATE_INPUT, slot};
    }
    return (cairn_rollback_attribution){CAIRN_ROLLBACK_WRONG_PREDICTION, CAIRN_SLOT_NONE};
}

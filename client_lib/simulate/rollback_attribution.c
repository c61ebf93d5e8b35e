// SPDX-License-Identifier: MIT
#include "client_lib/simulate/rollback_attribution.h"

#include <string.h>

#include "schema/messages.h"

typedef struct list {
    const cairn_command *commands;
    uint32_t count;
} list;

static const cairn_command *find_input(list of, uint32_t slot) {
    for (uint32_t i = 0; i < of.count; i++) {
        if (of.commands[i].kind == CAIRN_COMMAND_INPUT && of.commands[i].slot == slot) {
            return &of.commands[i];
        }
    }
    return NULL;
}

static bool same(const cairn_command *a, const cairn_command *b) {
    return a == b || (a != NULL && b != NULL && memcmp(a, b, sizeof *a) == 0);
}

// Whether the server said what it says when no input came.
static bool is_filled(const cairn_input_prediction *prediction, uint64_t tick, uint32_t slot,
    const cairn_command *confirmed) {
    cairn_command filled;
    const bool fills = cairn_input_prediction_substitute(prediction, slot, tick, &filled);
    return same(confirmed, fills ? &filled : NULL);
}

cairn_rollback_attribution cairn_rollback_attribution_find(const cairn_input_prediction *prediction,
    uint64_t tick, uint32_t own, const cairn_command *guessed, uint32_t guessed_count,
    const cairn_command *confirmed, uint32_t confirmed_count) {
    const list ours = {guessed, guessed_count};
    const list theirs = {confirmed, confirmed_count};
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
        if (slot >= CAIRN_SLOTS_MAX || same(find_input(ours, slot), find_input(theirs, slot))) {
            continue;
        }
        if (!is_filled(prediction, tick, slot, find_input(theirs, slot))) {
            return (cairn_rollback_attribution){CAIRN_ROLLBACK_WRONG_PREDICTION, slot};
        }
        return (cairn_rollback_attribution){
            slot == own ? CAIRN_ROLLBACK_OWN_INPUT : CAIRN_ROLLBACK_LATE_INPUT, slot};
    }
    return (cairn_rollback_attribution){CAIRN_ROLLBACK_WRONG_PREDICTION, CAIRN_SLOT_NONE};
}

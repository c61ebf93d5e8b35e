// SPDX-License-Identifier: MIT
#include "client_lib/simulate/rollback.h"

#include <string.h>

#include "base/assert.h"
#include "base/game_input.h"
#include "schema/messages.h"

// The commands of one slot's input, which are next to each other; none if `count` is 0.
typedef struct input_commands {
    const cairn_command *first;
    uint32_t count;
} input_commands;

static input_commands find_input(const cairn_command *commands, uint32_t count, uint32_t slot) {
    input_commands input = {.first = commands};
    for (uint32_t i = 0; i < count && commands[i].slot <= slot; i++) {
        if (commands[i].slot == slot && cairn_command_is_input(&commands[i])) {
            input.first = input.count == 0 ? &commands[i] : input.first;
            input.count++;
        }
    }
    return input;
}

static bool equal_inputs(input_commands a, input_commands b) {
    return a.count == b.count &&
           (a.count == 0 || memcmp(a.first, b.first, a.count * sizeof *a.first) == 0);
}

// Adds the players' slots that have commands.
static void add_slots(cairn_slot_set *slots, const cairn_command *commands, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (commands[i].slot < CAIRN_SLOTS_MAX) {
            cairn_slot_set_put(slots, commands[i].slot, true);
        }
    }
}

cairn_rollback_attribution cairn_rollback_attribution_find(const cairn_input_prediction *prediction,
    uint64_t tick, uint32_t own, const cairn_command *predicted, uint32_t predicted_count,
    const cairn_command *confirmed, uint32_t confirmed_count) {
    CAIRN_ASSERT(prediction->next_tick <= tick);
    for (uint32_t i = 0; i < confirmed_count; i++) {
        if (confirmed[i].slot >= CAIRN_SLOTS_MAX) {
            return (cairn_rollback_attribution){CAIRN_ROLLBACK_OPERATOR, CAIRN_SLOT_NONE};
        }
    }
    for (uint32_t i = 0; i < confirmed_count; i++) {
        if (!cairn_command_is_input(&confirmed[i])) {
            return (cairn_rollback_attribution){CAIRN_ROLLBACK_JOIN_LEAVE, confirmed[i].slot};
        }
    }
    cairn_slot_set slots = {{0}};
    add_slots(&slots, predicted, predicted_count);
    add_slots(&slots, confirmed, confirmed_count);
    for (uint32_t i = 0; i <= CAIRN_SLOTS_MAX; i = cairn_slot_set_next(&slots, i) + 1) {
        const uint32_t slot = i == 0 ? own : i - 1;
        const input_commands input = find_input(confirmed, confirmed_count, slot);
        if (slot >= CAIRN_SLOTS_MAX ||
            equal_inputs(find_input(predicted, predicted_count, slot), input)) {
            continue;
        }
        // Whether the server substituted the input because none had arrived.
        cairn_command substitute[CAIRN_INPUT_COMMANDS_MAX];
        const uint32_t parts =
            cairn_input_prediction_substitute(prediction, slot, tick, substitute);
        if (!equal_inputs(input, (input_commands){substitute, parts})) {
            return (cairn_rollback_attribution){CAIRN_ROLLBACK_WRONG_PREDICTION, slot};
        }
        return (cairn_rollback_attribution){
            slot == own ? CAIRN_ROLLBACK_OWN_INPUT : CAIRN_ROLLBACK_LATE_INPUT, slot};
    }
    return (cairn_rollback_attribution){CAIRN_ROLLBACK_WRONG_PREDICTION, CAIRN_SLOT_NONE};
}

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

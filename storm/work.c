// SPDX-License-Identifier: MIT
#include "storm/state.h"

#include <inttypes.h>
#include <string.h>

#include "base/game_input.h"
#include "client_lib/client_probe.h"

// The prediction window, and how long the server repeats the last input of a silent player, ticks.
#define PREDICTION_TICKS 64

static const cairn_command *find_command(
    const cairn_command_log *log, uint64_t tick, uint32_t slot, cairn_command_kind kind) {
    uint32_t count = 0;
    const cairn_command *commands = cairn_command_log_commands(log, tick, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (commands[i].slot == slot && commands[i].kind == (uint32_t)kind) {
            return &commands[i];
        }
    }
    return NULL;
}

static bool same_input(const cairn_command *a, const cairn_command *b) {
    return a->buttons == b->buttons && memcmp(&a->move, &b->move, sizeof a->move) == 0 &&
           memcmp(&a->aim, &b->aim, sizeof a->aim) == 0;
}

static bool part_repeats(
    const cairn_command_log *log, uint64_t tick, uint32_t slot, cairn_command_kind kind) {
    const cairn_command *c[3];
    for (uint32_t i = 0; i < 3; i++) {
        c[i] = find_command(log, tick - i, slot, kind);
        if (c[i] == NULL) {
            return kind != CAIRN_COMMAND_INPUT; // the input has no such part
        }
    }
    return same_input(c[0], c[1]) && same_input(c[1], c[2]) &&
           c[0]->sequence - c[1]->sequence == c[1]->sequence - c[2]->sequence;
}

// Whether the slot's input in `tick` repeats the two before it, so that predicting it was right.
static bool input_repeats(const cairn_command_log *log, uint64_t tick, uint32_t slot) {
    bool repeats = true;
    for (uint32_t part = 0; part < CAIRN_INPUT_COMMANDS_MAX; part++) {
        repeats = repeats && part_repeats(log, tick, slot, cairn_input_part_kind(part));
    }
    return repeats;
}

// A prediction may be as old as the prediction window: the inputs known at that time count.
static bool input_repeated_in_window(const cairn_command_log *log, uint64_t tick, uint32_t slot) {
    for (uint64_t back = 0; back < PREDICTION_TICKS; back++) {
        const bool held = tick >= cairn_command_log_oldest(log) + 2 + back;
        if (!held || !input_repeats(log, tick - back, slot)) {
            return false;
        }
    }
    return true;
}

// Whether the server's log of that tick agrees with the cause that the client names.
static bool cause_is_true(
    const cairn_command_log *log, uint32_t own, const cairn_client_rollback *rollback) {
    const uint64_t tick = rollback->tick_from;
    switch ((cairn_client_rollback_cause)rollback->cause) {
    case CAIRN_ROLLBACK_JOIN_LEAVE:
        return find_command(log, tick, rollback->slot, CAIRN_COMMAND_JOIN) != NULL ||
               find_command(log, tick, rollback->slot, CAIRN_COMMAND_LEAVE) != NULL;
    case CAIRN_ROLLBACK_OPERATOR:
        return cairn_storm_edited(log, tick);
    case CAIRN_ROLLBACK_OWN_INPUT:
        return rollback->slot == own;
    case CAIRN_ROLLBACK_LATE_INPUT:
        return rollback->slot != own && rollback->slot < CAIRN_SLOTS_MAX;
    case CAIRN_ROLLBACK_WRONG_PREDICTION:
    case CAIRN_ROLLBACK_LOST_PACKET:
        return rollback->slot < CAIRN_SLOTS_MAX &&
               (rollback->slot == own || !input_repeated_in_window(log, tick, rollback->slot));
    case CAIRN_ROLLBACK_RESYNC: // cairn_storm_check_damage checks that there was a damage
    case CAIRN_ROLLBACK_STATE_REPLACED:
        return true; // not caused by commands
    case CAIRN_ROLLBACK_CAUSE_COUNT:
        break;
    }
    return false;
}

static void check_rollback(cairn_storm *s, uint32_t i, const cairn_client_rollback *rollback) {
    const cairn_room *room = cairn_storm_server_room(s, s->slots[i].room);
    const uint64_t oldest = cairn_command_log_oldest(room->command_log) + 2;
    const uint64_t tick = rollback->tick_from;
    const bool other_world = cairn_storm_room_of_slot(s, i)->worlds_replaced > 0 &&
                             cairn_storm_undisturbed_ns(s, i) < 10 * CAIRN_NS_PER_S;
    if (s->slots[i].server_died || other_world || tick < oldest ||
        tick >= cairn_command_log_end(room->command_log)) {
        return; // of the previous server, or not in the log any more
    }
    // After a full state the inputs of the others are unknown until its first tick arrives.
    if ((rollback->cause == CAIRN_ROLLBACK_WRONG_PREDICTION ||
            rollback->cause == CAIRN_ROLLBACK_LOST_PACKET) &&
        tick <= s->slots[i].loaded_tick + 1) {
        return;
    }
    s->report.rollbacks_checked++;
    cairn_client_statistics c;
    cairn_client_statistics_read(s->system.clients[i].client, &c);
    if (!cause_is_true(room->command_log, c.connection.slot, rollback)) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_ROLLBACK,
            "client %" PRIu32 ": rolled back %" PRIu32 " ticks to tick %" PRIu64 " and blames: %s "
            "(slot %" PRIu32 "), which the server's log of that tick does not confirm",
            i, rollback->ticks, tick,
            cairn_client_rollback_cause_text((cairn_client_rollback_cause)rollback->cause),
            rollback->slot);
    }
}

static void check_rollbacks(cairn_storm *s, uint32_t i) {
    cairn_storm_slot *slot = &s->slots[i];
    cairn_client_rollback list[CAIRN_CLIENT_ROLLBACKS_HELD];
    cairn_client_statistics c;
    cairn_client_statistics_read(s->system.clients[i].client, &c);
    uint64_t by_cause = 0;
    for (uint32_t cause = 0; cause < CAIRN_ROLLBACK_CAUSE_COUNT; cause++) {
        by_cause += cairn_client_rollback_count(
            s->system.clients[i].client, (cairn_client_rollback_cause)cause);
    }
    if (by_cause != c.prediction.rollbacks) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_ROLLBACK,
            "client %" PRIu32 ": %" PRIu64 " rollbacks, %" PRIu64 " with a cause", i,
            c.prediction.rollbacks, by_cause);
    }
    const uint64_t before =
        slot->rollbacks_seen <= c.prediction.rollbacks ? slot->rollbacks_seen : 0;
    const uint64_t fresh = c.prediction.rollbacks - before;
    const uint32_t wanted =
        fresh < CAIRN_CLIENT_ROLLBACKS_HELD ? (uint32_t)fresh : CAIRN_CLIENT_ROLLBACKS_HELD;
    const uint32_t count = cairn_client_rollbacks(s->system.clients[i].client, list, wanted);
    for (uint32_t k = 0; k < count; k++) {
        check_rollback(s, i, &list[k]);
    }
    slot->rollbacks_seen = c.prediction.rollbacks;
    s->report.rollbacks += fresh;
}

// Counts steps of the client's world over windows of CAIRN_STORM_WORK_S seconds of playing.
static void check_steps(cairn_storm *s, uint32_t i, uint64_t passed_ns) {
    cairn_storm_slot *slot = &s->slots[i];
    const cairn_client_mode mode = s->system.clients[i].config.mode;
    const uint64_t steps = cairn_client_probe_of(s->system.clients[i].client).timeline->steps;
    slot->window_steps += steps >= slot->steps_seen ? steps - slot->steps_seen : steps;
    slot->steps_seen = steps;
    slot->window_ns += passed_ns;
    if (slot->window_ns < CAIRN_STORM_WORK_S * CAIRN_NS_PER_S) {
        return;
    }
    // One second more than the window: ticks that were pending when it began.
    const uint64_t usual =
        (slot->window_ns / CAIRN_NS_PER_S + 1) * (uint64_t)s->system.config.tick_rate_hz;
    const uint64_t percent = slot->window_steps * 100 / usual;
    uint64_t *worst = &s->report.work_percent_max[mode];
    *worst = percent > *worst ? percent : *worst;
    const uint64_t most =
        mode != CAIRN_CLIENT_PREDICT ? CAIRN_STORM_WORK_LOCKSTEP : CAIRN_STORM_WORK_PREDICT;
    if (percent > 100 * most) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_WORK,
            "client %" PRIu32 ": %" PRIu64 " ticks stepped in %" PRIu64 " ms", i,
            slot->window_steps, slot->window_ns / 1000000);
    }
    slot->window_steps = 0;
    slot->window_ns = 0;
}

void cairn_storm_check_work(cairn_storm *s, uint32_t i, uint64_t passed_ns) {
    if (cairn_storm_simulates(s, i)) {
        check_rollbacks(s, i);
        check_steps(s, i, passed_ns);
    }
}

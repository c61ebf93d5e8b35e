// SPDX-License-Identifier: MIT
// What the worlds of clients cost: ticks stepped, and ticks stepped again, each for a reason that
// the server's own history bears out.
#include <inttypes.h>
#include <string.h>

#include "client_lib/client_parts.h"
#include "server/room/room_table.h"
#include "storm/parts.h"

static const uint64_t second_ns = 1000000000;
// A window of prediction, and the time for which the server repeats what a silent player held.
#define GUESS_TICKS 64

static const cairn_command *find(
    const cairn_command_log *history, uint64_t tick, uint32_t slot, cairn_command_kind kind) {
    uint32_t count = 0;
    const cairn_command *commands = cairn_command_log_commands(history, tick, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (commands[i].slot == slot && commands[i].kind == (uint32_t)kind) {
            return &commands[i];
        }
    }
    return NULL;
}

bool cairn_storm_edited(const cairn_command_log *history, uint64_t tick) {
    uint32_t count = 0;
    const cairn_command *commands = cairn_command_log_commands(history, tick, &count);
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        found = found || commands[i].slot >= CAIRN_SLOTS_MAX;
    }
    return found;
}

static bool holds_the_same(const cairn_command *a, const cairn_command *b) {
    return a->buttons == b->buttons && memcmp(&a->move, &b->move, sizeof a->move) == 0 &&
           memcmp(&a->aim, &b->aim, sizeof a->aim) == 0;
}

// Whether the slot went on in `tick` just as in the two before: who guessed that was right.
static bool went_on(const cairn_command_log *history, uint64_t tick, uint32_t slot) {
    const cairn_command *c[3];
    for (uint32_t i = 0; i < 3; i++) {
        c[i] = find(history, tick - i, slot, CAIRN_COMMAND_INPUT);
        if (c[i] == NULL) {
            return false;
        }
    }
    return holds_the_same(c[0], c[1]) && holds_the_same(c[1], c[2]) &&
           c[0]->sequence - c[1]->sequence == c[1]->sequence - c[2]->sequence;
}

// A guess may be as old as the window of ticks a client predicts; what it stood on then counts.
static bool went_on_lately(const cairn_command_log *history, uint64_t tick, uint32_t slot) {
    for (uint64_t back = 0; back < GUESS_TICKS; back++) {
        if (tick < cairn_command_log_oldest(history) + 2 + back) {
            return false; // nobody can tell
        }
        if (!went_on(history, tick - back, slot)) {
            return false;
        }
    }
    return true;
}

static bool borne_out(
    const cairn_command_log *history, uint32_t own, const cairn_client_rollback *rollback) {
    const uint64_t tick = rollback->tick_from;
    switch ((cairn_client_rollback_cause)rollback->cause) {
    case CAIRN_ROLLBACK_JOIN_LEAVE:
        return find(history, tick, rollback->slot, CAIRN_COMMAND_JOIN) != NULL ||
               find(history, tick, rollback->slot, CAIRN_COMMAND_LEAVE) != NULL;
    case CAIRN_ROLLBACK_OPERATOR:
        return cairn_storm_edited(history, tick);
    case CAIRN_ROLLBACK_OWN_INPUT:
        return rollback->slot == own;
    case CAIRN_ROLLBACK_LATE_INPUT:
        return rollback->slot != own && rollback->slot < CAIRN_SLOTS_MAX;
    case CAIRN_ROLLBACK_WRONG_PREDICTION:
    case CAIRN_ROLLBACK_LOST_PACKET:
        return rollback->slot < CAIRN_SLOTS_MAX &&
               (rollback->slot == own || !went_on_lately(history, tick, rollback->slot));
    case CAIRN_ROLLBACK_RESYNC: // that there was a damage is checked elsewhere
    case CAIRN_ROLLBACK_STATE_REPLACED:
        return true; // of no commands
    case CAIRN_ROLLBACK_CAUSE_COUNT:
        break;
    }
    return false;
}

static void check_rollback(cairn_storm *s, uint32_t i, const cairn_client_rollback *rollback) {
    const cairn_room *room = cairn_storm_room_of(s, s->places[i].room);
    const uint64_t oldest = cairn_command_log_oldest(room->command_log) + 2;
    const uint64_t tick = rollback->tick_from;
    if (s->places[i].orphan || tick < oldest || tick >= cairn_command_log_end(room->command_log)) {
        return; // of another server, or forgotten
    }
    // Of what the others hold nothing is known before the first tick after a state.
    if (rollback->cause == CAIRN_ROLLBACK_WRONG_PREDICTION &&
        tick <= s->places[i].loaded_tick + 1) {
        return;
    }
    s->report.rollbacks_checked++;
    if (!borne_out(room->command_log, s->system.clients[i].client->slot, rollback)) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_ROLLBACK,
            "client %" PRIu32 ": went back %" PRIu32 " ticks to %" PRIu64 ", for no such reason: "
            "%s (slot %" PRIu32 ")",
            i, rollback->ticks, tick,
            cairn_client_rollback_cause_text((cairn_client_rollback_cause)rollback->cause),
            rollback->slot);
    }
}

static void check_rollbacks(cairn_storm *s, uint32_t i) {
    cairn_storm_place *place = &s->places[i];
    cairn_client_rollback list[CAIRN_CLIENT_ROLLBACKS_HELD];
    cairn_client_statistics c;
    cairn_client_statistics_read(s->system.clients[i].client, &c);
    uint64_t by_cause = 0;
    for (uint32_t cause = 0; cause < CAIRN_ROLLBACK_CAUSE_COUNT; cause++) {
        by_cause += cairn_client_rollback_count(
            s->system.clients[i].client, (cairn_client_rollback_cause)cause);
    }
    if (by_cause != c.rollbacks) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_ROLLBACK,
            "client %" PRIu32 ": %" PRIu64 " rollbacks, %" PRIu64 " with a cause", i, c.rollbacks,
            by_cause);
    }
    const uint64_t before = place->rollbacks_seen <= c.rollbacks ? place->rollbacks_seen : 0;
    const uint64_t fresh = c.rollbacks - before;
    const uint32_t wanted =
        fresh < CAIRN_CLIENT_ROLLBACKS_HELD ? (uint32_t)fresh : CAIRN_CLIENT_ROLLBACKS_HELD;
    const uint32_t count = cairn_client_rollbacks(s->system.clients[i].client, list, wanted);
    for (uint32_t k = 0; k < count; k++) {
        if (s->config.broken == CAIRN_STORM_BREAK_ROLLBACK) {
            list[k].cause = CAIRN_ROLLBACK_OPERATOR;
        }
        check_rollback(s, i, &list[k]);
    }
    place->rollbacks_seen = c.rollbacks;
    s->report.rollbacks += fresh;
}

// Steps of the client's world in whole windows of CAIRN_STORM_WORK_S seconds of playing.
static void check_steps(cairn_storm *s, uint32_t i, uint64_t passed_ns) {
    cairn_storm_place *place = &s->places[i];
    const cairn_client_mode mode = s->system.clients[i].config.mode;
    const uint64_t steps = s->system.clients[i].client->lockstep.timeline.steps;
    place->window_steps += steps >= place->steps_seen ? steps - place->steps_seen : steps;
    place->window_steps += s->config.broken == CAIRN_STORM_BREAK_WORK ? 1000 : 0;
    place->steps_seen = steps;
    place->window_ns += passed_ns;
    if (place->window_ns < CAIRN_STORM_WORK_S * second_ns) {
        return;
    }
    // A second's worth beside it: what waited when the window began.
    const uint64_t usual =
        (place->window_ns / second_ns + 1) * (uint64_t)s->system.config.tick_rate_hz;
    const uint64_t percent = place->window_steps * 100 / usual;
    uint64_t *worst = &s->report.work_percent_max[mode];
    *worst = percent > *worst ? percent : *worst;
    const uint64_t most =
        mode != CAIRN_CLIENT_PREDICT ? CAIRN_STORM_WORK_LOCKSTEP : CAIRN_STORM_WORK_PREDICT;
    if (percent > 100 * most) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_WORK,
            "client %" PRIu32 ": %" PRIu64 " ticks stepped in %" PRIu64 " ms", i,
            place->window_steps, place->window_ns / 1000000);
    }
    place->window_steps = 0;
    place->window_ns = 0;
}

void cairn_storm_check_work(cairn_storm *s, uint32_t i, uint64_t passed_ns) {
    if (cairn_storm_exact(s, i)) {
        check_rollbacks(s, i);
        check_steps(s, i, passed_ns);
    }
}

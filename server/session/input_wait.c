// SPDX-License-Identifier: MIT
#include "server/session/input_wait.h"

#include "base/assert.h"
#include "server/session/session.h"

#define NS_PER_MS UINT64_C(1000000)
// Waits shorter than this many ticks are not announced.
#define SILENT_TICKS 2

static uint64_t silent_ns(const cairn_room *room) {
    return SILENT_TICKS * CAIRN_NS_PER_S / room->settings.tick_rate_hz;
}

// What is left of the time that the room waited for the slot, when a share of all time has paid.
static uint64_t unpaid_ns(const cairn_wait_budget *budget, uint64_t now_ns) {
    return budget->paid_ns > now_ns ? (budget->paid_ns - now_ns) / CAIRN_INPUT_WAIT_SHARE : 0;
}

static bool is_over_share(
    const cairn_room *room, const cairn_wait_budget *budget, uint64_t now_ns) {
    const uint64_t waits_ns = CAIRN_INPUT_WAIT_SHARE_WAITS * room->settings.wait_ms * NS_PER_MS;
    return unpaid_ns(budget, now_ns) >
           (waits_ns > CAIRN_INPUT_WAIT_SILENT_NS_MAX ? waits_ns : CAIRN_INPUT_WAIT_SILENT_NS_MAX);
}

// The first player whose input for the tick is worth waiting for; CAIRN_SLOT_NONE: no such player.
// Inputs are sent until they are acknowledged, so a player who sent one for a later tick has none
// for this tick.
static uint32_t find_missing_slot(const cairn_room *room, uint64_t tick, uint64_t now_ns) {
    for (const cairn_session *at = room->members; at != NULL; at = at->member_next) {
        if (at->slot == CAIRN_SLOT_NONE || at->state != CAIRN_SESSION_PLAYING ||
            !cairn_mode_simulates(at->mode) ||
            room->input_wait->slots[at->slot].budget.timely_required > 0 ||
            is_over_share(room, &room->input_wait->slots[at->slot].budget, now_ns) ||
            at->received_ns + CAIRN_INPUT_WAIT_SILENCE_NS <= now_ns) {
            continue;
        }
        const uint64_t newest = cairn_inbox_newest(room->inbox, at->slot);
        if (newest != 0 && newest < tick) {
            return at->slot;
        }
    }
    return CAIRN_SLOT_NONE;
}

static void notify_room(
    const cairn_server_context *context, cairn_room *room, cairn_event_kind kind, uint64_t value) {
    const cairn_event_message notice = {
        .kind = kind,
        .slot = room->input_wait->slot,
        .tick = room->scheduler.tick,
        .value = value,
        .reason_text = "",
    };
    CAIRN_ASSERT(room->input_wait->slot < CAIRN_SLOTS_MAX);
    cairn_session_notify_room(room, context->encoder, &notice);
}

static void announce_wait(const cairn_server_context *context, cairn_room *room) {
    cairn_input_wait *wait = room->input_wait;
    CAIRN_ASSERT(wait->waiting && !wait->announced);
    wait->announced = true;
    wait->slots[wait->slot].waits += 1;
    room->statistics.input_waits += 1;
    notify_room(context, room, CAIRN_EVENT_INPUT_WAIT, 0);
    cairn_context_emit(context, room, CAIRN_LOG_INFO, "input_wait", 0,
        "the room waits for the inputs of a slot", wait->slot);
}

// The slot is not waited for until this many of its inputs, in a row, arrived on time.
static void stop_waiting_for(cairn_wait_budget *budget, uint32_t timely) {
    CAIRN_ASSERT(timely > 0);
    budget->timely_required = timely;
    budget->timely_missing = timely;
}

// A second of inputs, four times as many as the time before.
static uint32_t timely_required(const cairn_room *room, uint32_t times_given_up) {
    CAIRN_ASSERT(times_given_up > 0 && times_given_up <= CAIRN_INPUT_WAIT_GIVEN_UP_MAX);
    return room->settings.tick_rate_hz << 2 * (times_given_up - 1);
}

static void give_up_slot(const cairn_server_context *context, cairn_room *room) {
    cairn_wait_budget *budget = &room->input_wait->slots[room->input_wait->slot].budget;
    if (context->now_ns - budget->given_up_ns >= CAIRN_INPUT_WAIT_GIVEN_UP_NS) {
        budget->times_given_up = 0;
    }
    budget->times_given_up += budget->times_given_up < CAIRN_INPUT_WAIT_GIVEN_UP_MAX ? 1 : 0;
    budget->given_up_ns = context->now_ns;
    stop_waiting_for(budget, timely_required(room, budget->times_given_up));
    room->statistics.slots_given_up += 1;
    cairn_context_emit(context, room, CAIRN_LOG_WARN, "input_wait_given_up", 0,
        "the room no longer waits for a slot that delayed it repeatedly", room->input_wait->slot);
}

// Each of the three returns whether the slot is to be given up.
static bool count_offence(const cairn_server_context *context, cairn_wait_budget *budget) {
    const bool in_row =
        budget->offences > 0 && context->now_ns - budget->offence_ns < CAIRN_INPUT_WAIT_OFFENCES_NS;
    budget->offences = in_row ? budget->offences + 1 : 1;
    budget->offence_ns = context->now_ns;
    const bool over = budget->offences == CAIRN_INPUT_WAIT_OFFENCES_MAX;
    budget->offences = over ? 0 : budget->offences;
    return over;
}

// The sum stays until its time is over, so that a slot which is waited for again gets no new
// allowance before.
static bool count_silent_wait(
    const cairn_server_context *context, cairn_wait_budget *budget, uint64_t waited_ns) {
    if (budget->silent_ns == 0 ||
        context->now_ns - budget->silent_from_ns >= CAIRN_INPUT_WAIT_SILENT_NS) {
        budget->silent_from_ns = context->now_ns;
        budget->silent_ns = 0;
    }
    budget->silent_ns += waited_ns;
    return budget->silent_ns > CAIRN_INPUT_WAIT_SILENT_NS_MAX;
}

static bool count_share(const cairn_server_context *context, const cairn_room *room,
    cairn_wait_budget *budget, uint64_t waited_ns) {
    const uint64_t from_ns = budget->paid_ns > context->now_ns ? budget->paid_ns : context->now_ns;
    budget->paid_ns = from_ns + CAIRN_INPUT_WAIT_SHARE * waited_ns;
    return is_over_share(room, budget, context->now_ns);
}

// The room no longer waits for this slot; it may wait for another one.
static void end_slot_wait(const cairn_server_context *context, cairn_room *room) {
    cairn_input_wait *wait = room->input_wait;
    if (wait->slot == CAIRN_SLOT_NONE) {
        return; // counted when its player left
    }
    CAIRN_ASSERT(context->now_ns >= wait->slot_since_ns);
    const uint64_t waited_ns = context->now_ns - wait->slot_since_ns;
    wait->slots[wait->slot].waited_ns += waited_ns;
    room->statistics.input_wait_ns += waited_ns;
    cairn_wait_budget *budget = &wait->slots[wait->slot].budget;
    bool over = count_share(context, room, budget, waited_ns);
    if (wait->announced) {
        notify_room(context, room, CAIRN_EVENT_INPUT_WAIT_END, waited_ns / NS_PER_MS);
        over = count_offence(context, budget) || over;
    } else {
        over = count_silent_wait(context, budget, waited_ns) || over;
    }
    wait->announced = false;
    if (over) {
        give_up_slot(context, room);
    }
}

static void wait_for_slot(const cairn_server_context *context, cairn_room *room, uint32_t slot) {
    CAIRN_ASSERT(slot < CAIRN_SLOTS_MAX);
    cairn_input_wait *wait = room->input_wait;
    const uint64_t now_ns = context->now_ns;
    if (!wait->waiting) {
        wait->slot_since_ns = cairn_tick_scheduler_due_ns(&room->scheduler, room->scheduler.tick);
        wait->announced = false;
    } else if (slot != wait->slot) {
        end_slot_wait(context, room);
        wait->slot_since_ns = now_ns;
    }
    wait->waiting = true;
    wait->slot = slot;
    if (!wait->announced && now_ns - wait->slot_since_ns >= silent_ns(room)) {
        announce_wait(context, room);
    }
}

// When the time for waiting is over, slots that still owe an input for the next tick are skipped.
static uint32_t slot_to_wait_for(cairn_room *room, uint64_t now_ns) {
    const uint64_t tick = room->scheduler.tick;
    const uint64_t due_ns = cairn_tick_scheduler_due_ns(&room->scheduler, tick);
    uint32_t slot;
    while ((slot = find_missing_slot(room, tick, now_ns)) != CAIRN_SLOT_NONE &&
           now_ns >= due_ns + room->settings.wait_ms * NS_PER_MS) {
        stop_waiting_for(&room->input_wait->slots[slot].budget, 1);
    }
    return slot;
}

uint32_t cairn_input_wait_ready_count(
    const cairn_server_context *context, cairn_room *room, uint32_t ticks) {
    const uint64_t now_ns = context->now_ns;
    if (room->settings.wait_ms == 0 || ticks == 0) {
        return ticks;
    }
    const uint32_t slot = slot_to_wait_for(room, now_ns);
    if (slot != CAIRN_SLOT_NONE) {
        wait_for_slot(context, room, slot);
        return 0;
    }
    if (room->input_wait->waiting) {
        room->input_wait->waiting = false;
        end_slot_wait(context, room);
        cairn_tick_scheduler_slip(&room->scheduler, now_ns);
        return 1;
    }
    uint32_t ready = 1;
    while (ready < ticks &&
           find_missing_slot(room, room->scheduler.tick + ready, now_ns) == CAIRN_SLOT_NONE) {
        ready += 1;
    }
    CAIRN_ASSERT(ready <= ticks);
    return ready;
}

uint64_t cairn_input_wait_due_ns(const cairn_room *room) {
    const cairn_input_wait *wait = room->input_wait;
    CAIRN_ASSERT(wait->waiting);
    // An operator may have moved the schedule since the wait began.
    const uint64_t due_ns = cairn_tick_scheduler_due_ns(&room->scheduler, room->scheduler.tick);
    const uint64_t end_ns = due_ns + room->settings.wait_ms * NS_PER_MS;
    uint64_t announce_ns = wait->slot_since_ns + silent_ns(room);
    announce_ns = announce_ns > due_ns ? announce_ns : due_ns;
    return !wait->announced && announce_ns < end_ns ? announce_ns : end_ns;
}

void cairn_input_wait_observe_tick(cairn_room *room, uint64_t tick) {
    for (uint32_t i = 0; room->settings.wait_ms > 0 && i < room->settings.players_max; ++i) {
        cairn_wait_budget *budget = &room->input_wait->slots[i].budget;
        if (budget->timely_required == 0) {
            continue;
        }
        CAIRN_ASSERT(budget->timely_missing > 0);
        const bool timely = cairn_inbox_newest(room->inbox, i) >= tick;
        budget->timely_missing = timely ? budget->timely_missing - 1 : budget->timely_required;
        budget->timely_required = budget->timely_missing == 0 ? 0 : budget->timely_required;
    }
}

void cairn_input_wait_join(cairn_room *room, uint32_t slot, uint64_t client_id, uint64_t now_ns) {
    CAIRN_ASSERT(slot < CAIRN_SLOTS_MAX);
    cairn_input_wait *wait = room->input_wait;
    CAIRN_ASSERT(!wait->waiting || wait->slot != slot);
    cairn_wait_budget given_up = {0};
    stop_waiting_for(&given_up, timely_required(room, 1));
    wait->slots[slot] = (cairn_input_wait_slot){
        .budget = cairn_wait_ledger_take(&wait->ledger, client_id, &given_up, now_ns)};
}

// Removes what has expired, so that the ledger keeps records only of players that delayed the room
// recently.
static cairn_wait_budget recent(cairn_wait_budget budget, uint64_t now_ns) {
    if (now_ns - budget.offence_ns >= CAIRN_INPUT_WAIT_OFFENCES_NS) {
        budget.offences = 0;
    }
    if (now_ns - budget.silent_from_ns >= CAIRN_INPUT_WAIT_SILENT_NS) {
        budget.silent_ns = 0;
    }
    if (now_ns - budget.given_up_ns >= CAIRN_INPUT_WAIT_GIVEN_UP_NS) {
        budget.times_given_up = 0;
    }
    budget.paid_ns = budget.paid_ns > now_ns ? budget.paid_ns : 0;
    return budget;
}

void cairn_input_wait_leave(
    const cairn_server_context *context, cairn_room *room, uint32_t slot, uint64_t client_id) {
    CAIRN_ASSERT(slot < CAIRN_SLOTS_MAX);
    cairn_input_wait *wait = room->input_wait;
    if (wait->waiting && wait->slot == slot) {
        end_slot_wait(context, room);
        wait->slot = CAIRN_SLOT_NONE;
    }
    const cairn_wait_budget used = recent(wait->slots[slot].budget, context->now_ns);
    cairn_wait_ledger_put(&wait->ledger, client_id, &used, context->now_ns);
    wait->slots[slot] = (cairn_input_wait_slot){0};
}

bool cairn_input_wait_is_left(const cairn_room *room) {
    return room->input_wait->waiting && room->input_wait->slot == CAIRN_SLOT_NONE;
}

void cairn_input_wait_restart(cairn_room *room) {
    room->input_wait->waiting = false;
    room->input_wait->announced = false;
}

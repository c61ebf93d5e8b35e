// SPDX-License-Identifier: MIT
#include "server/room/input_wait.h"

#include "base/assert.h"
#include "server/room/room.h"
#include "server/server_parts.h"

#define NS_PER_MS UINT64_C(1000000)
// Waits shorter than this many ticks are nobody's business.
#define SILENT_TICKS 2

static uint64_t wait_ns(const cairn_input_wait *stall) {
    return stall->wait_ms * NS_PER_MS;
}

static uint64_t silent_ns(const cairn_room *room) {
    return SILENT_TICKS * UINT64_C(1000000000) / room->tick_rate_hz;
}

// The first player whose input for the tick is worth waiting for, CAIRN_SLOT_NONE: nobody's. Inputs
// are sent until they are acknowledged, so who told a later one has nothing to say about this tick.
static uint32_t missing_slot(const cairn_room *room, uint64_t tick, uint64_t now_ns) {
    for (const cairn_session *at = room->members; at != NULL; at = at->member_next) {
        if (at->slot == CAIRN_SLOT_NONE || at->state != CAIRN_SESSION_PLAYING ||
            !cairn_mode_simulates(at->mode) || room->input_wait.slots[at->slot].timely_from > 0 ||
            at->received_ns + CAIRN_INPUT_WAIT_SILENCE_NS <= now_ns) {
            continue;
        }
        uint64_t newest = cairn_inbox_newest(room->inbox, at->slot);
        if (newest != 0 && newest < tick) {
            return at->slot;
        }
    }
    return CAIRN_SLOT_NONE;
}

static void notify(cairn_server *server, cairn_room *room, cairn_event_kind kind, uint64_t value) {
    const cairn_event_message notice = {
        .kind = kind,
        .slot = room->input_wait.slot,
        .tick = room->scheduler.tick,
        .value = value,
        .words = "",
    };
    cairn_server_notify_room(server, room, &notice);
}

static void announce(cairn_server *server, cairn_room *room) {
    cairn_input_wait *stall = &room->input_wait;
    stall->announced = true;
    stall->slots[stall->slot].stalls += 1;
    room->statistics.stalls += 1;
    notify(server, room, CAIRN_EVENT_STALL, 0);
    cairn_server_emit_event(server, room, CAIRN_LOG_INFO, "stall", 0,
        "the room waits for the inputs of a slot", stall->slot);
}

// The slot is waited for again when this many inputs in a row came in time.
static void leave_behind(cairn_input_wait_slot *slot, uint32_t timely) {
    slot->timely_from = timely;
    slot->timely_still = timely;
}

static void strike(cairn_server *server, cairn_room *room, uint64_t now_ns) {
    cairn_input_wait_slot *slot = &room->input_wait.slots[room->input_wait.slot];
    bool again = slot->strikes > 0 && now_ns - slot->struck_ns < CAIRN_INPUT_WAIT_OFFENCES_NS;
    slot->strikes = again ? slot->strikes + 1 : 1;
    slot->struck_ns = now_ns;
    if (slot->strikes == CAIRN_INPUT_WAIT_OFFENCES_MAX) {
        leave_behind(slot, room->tick_rate_hz);
        slot->strikes = 0;
        room->statistics.slots_given_up += 1;
        cairn_server_emit_event(server, room, CAIRN_LOG_WARN, "input_wait_given_up", 0,
            "the room does not wait for a slot that stalls it again and again",
            room->input_wait.slot);
    }
}

// The room waits for this slot no longer, whether or not for another.
static void end_slot(cairn_server *server, cairn_room *room, uint64_t now_ns) {
    cairn_input_wait *stall = &room->input_wait;
    uint64_t waited_ns = now_ns - stall->slot_since_ns;
    stall->slots[stall->slot].stalled_ns += waited_ns;
    room->statistics.stalled_ns += waited_ns;
    if (stall->announced) {
        notify(server, room, CAIRN_EVENT_STALL_END, waited_ns / NS_PER_MS);
        strike(server, room, now_ns);
    }
    stall->announced = false;
}

static void begin_slot(cairn_room *room, uint32_t slot, uint64_t since_ns) {
    room->input_wait.slot = slot;
    room->input_wait.slot_since_ns = since_ns;
    room->input_wait.announced = false;
}

static void wait_for(cairn_server *server, cairn_room *room, uint32_t slot, uint64_t now_ns) {
    cairn_input_wait *stall = &room->input_wait;
    if (!stall->waiting) {
        stall->waiting = true;
        stall->since_ns = cairn_tick_scheduler_due_ns(&room->scheduler, room->scheduler.tick);
        begin_slot(room, slot, stall->since_ns);
    } else if (slot != stall->slot) {
        end_slot(server, room, now_ns);
        begin_slot(room, slot, now_ns);
    }
    if (!stall->announced && now_ns - stall->slot_since_ns >= silent_ns(room)) {
        announce(server, room);
    }
}

// Who still owes an input for the next tick when the time for waiting is over is left behind.
static uint32_t slot_to_wait_for(cairn_room *room, uint64_t now_ns) {
    const uint64_t tick = room->scheduler.tick;
    const uint64_t due_ns = cairn_tick_scheduler_due_ns(&room->scheduler, tick);
    uint32_t slot;
    while ((slot = missing_slot(room, tick, now_ns)) != CAIRN_SLOT_NONE &&
           now_ns >= due_ns + wait_ns(&room->input_wait)) {
        leave_behind(&room->input_wait.slots[slot], 1);
    }
    return slot;
}

uint32_t cairn_input_wait_ready_count(
    cairn_server *server, cairn_room *room, uint32_t ticks, uint64_t now_ns) {
    if (room->input_wait.wait_ms == 0 || ticks == 0) {
        return ticks;
    }
    uint32_t slot = slot_to_wait_for(room, now_ns);
    if (slot != CAIRN_SLOT_NONE) {
        wait_for(server, room, slot, now_ns);
        return 0;
    }
    if (room->input_wait.waiting) {
        room->input_wait.waiting = false;
        end_slot(server, room, now_ns);
        cairn_tick_scheduler_slip(&room->scheduler, now_ns);
        return 1;
    }
    uint32_t ready = 1;
    while (ready < ticks &&
           missing_slot(room, room->scheduler.tick + ready, now_ns) == CAIRN_SLOT_NONE) {
        ready += 1;
    }
    return ready;
}

uint64_t cairn_input_wait_due_ns(const cairn_room *room) {
    const cairn_input_wait *stall = &room->input_wait;
    CAIRN_ASSERT(stall->waiting);
    // An operator may have moved the schedule since the wait began.
    uint64_t due_ns = cairn_tick_scheduler_due_ns(&room->scheduler, room->scheduler.tick);
    uint64_t end_ns = due_ns + wait_ns(stall);
    uint64_t announce_ns = stall->slot_since_ns + silent_ns(room);
    announce_ns = announce_ns > due_ns ? announce_ns : due_ns;
    return !stall->announced && announce_ns < end_ns ? announce_ns : end_ns;
}

void cairn_input_wait_observe_tick(cairn_room *room, uint64_t tick) {
    for (uint32_t i = 0; room->input_wait.wait_ms > 0 && i < CAIRN_SLOTS_MAX; ++i) {
        cairn_input_wait_slot *slot = &room->input_wait.slots[i];
        if (slot->timely_from == 0) {
            continue;
        }
        bool timely = cairn_inbox_newest(room->inbox, i) >= tick;
        slot->timely_still = timely ? slot->timely_still - 1 : slot->timely_from;
        slot->timely_from = slot->timely_still == 0 ? 0 : slot->timely_from;
    }
}

void cairn_input_wait_reset_slot(cairn_room *room, uint32_t slot) {
    room->input_wait.slots[slot] = (cairn_input_wait_slot){0};
}

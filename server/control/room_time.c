// SPDX-License-Identifier: MIT
#include "server/control/room_time.h"

#include "base/assert.h"
#include "server/control/verbs.h"

// Hours of simulated time; for more, ask again.
#define STEPS_MAX 1000000

static cairn_event_message event_of(const cairn_room *room, cairn_event_kind kind, uint64_t value) {
    CAIRN_ASSERT(kind >= 1 && kind <= CAIRN_EVENT_LAST);
    return (cairn_event_message){.kind = kind,
        .slot = CAIRN_SLOT_NONE,
        .tick = room->scheduler.tick,
        .value = value,
        .reason_text = ""};
}

void cairn_room_time_notify(
    cairn_server *server, cairn_room *room, cairn_event_kind kind, uint64_t value) {
    const cairn_event_message event = event_of(room, kind, value);
    cairn_session_notify_room(room, server->context.encoder, &event);
}

void cairn_room_time_greet(cairn_server *server, cairn_session *session) {
    const cairn_room *room = session->room;
    CAIRN_ASSERT(room != NULL);
    const uint32_t speed = room->time_control.speed;
    cairn_message message = {.kind = CAIRN_MESSAGE_EVENT};
    if (speed != CAIRN_TIME_SPEED_REAL) {
        message.event = event_of(room, CAIRN_EVENT_RATE, speed);
        cairn_session_send_reliable(session, server->context.encoder, &message);
    }
    if (room->time_control.paused) {
        message.event = event_of(room, CAIRN_EVENT_PAUSED, 0);
        cairn_session_send_reliable(session, server->context.encoder, &message);
    }
}

// The answer is sent when the room has run.
static void answer_when_room_has_run(cairn_control_context *c) {
    CAIRN_ASSERT(!c->room->control_wait.waits);
    c->answers_later = true;
    c->room->control_wait = (cairn_control_wait){
        .waits = true,
        .client = c->asked->client,
        .client_id = c->asked->client_id,
        .number = c->request->number,
        .verb = c->request->verb,
        .from_tick = c->room->scheduler.tick,
    };
}

cairn_control_refusal cairn_control_on_pause(cairn_control_context *c) {
    const bool was_paused = c->room->time_control.paused;
    cairn_time_control_pause(&c->room->time_control, c->server->context.now_ns);
    CAIRN_ASSERT(c->room->time_control.paused);
    if (!was_paused) {
        cairn_room_time_notify(c->server, c->room, CAIRN_EVENT_PAUSED, 0);
    }
    return CAIRN_CONTROL_DONE;
}

void cairn_room_time_run(cairn_server *server, cairn_room *room, uint32_t speed, uint64_t now_ns) {
    CAIRN_ASSERT(speed <= CAIRN_TIME_SPEED_MAX);
    const bool was_paused = room->time_control.paused;
    const bool was_speed = room->time_control.speed == speed;
    cairn_time_control_run(&room->time_control, &room->scheduler, speed, now_ns);
    CAIRN_ASSERT(!room->time_control.paused);
    if (!was_speed) {
        cairn_room_time_notify(server, room, CAIRN_EVENT_RATE, speed);
    }
    if (was_paused) {
        cairn_room_time_notify(server, room, CAIRN_EVENT_RESUMED, 0);
    }
}

static void run_room(cairn_control_context *c, uint32_t speed) {
    cairn_room_time_run(c->server, c->room, speed, c->server->context.now_ns);
}

cairn_control_refusal cairn_control_on_resume(cairn_control_context *c) {
    if (c->room->time_control.paused) {
        run_room(c, c->room->time_control.speed);
    }
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_check_step(cairn_control_context *c, uint32_t tick_count) {
    if (!c->room->time_control.paused) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_NOT_PAUSED, "only a paused room can be stepped; pause it first");
    }
    if (tick_count < 1 || tick_count > STEPS_MAX) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_OUT_OF_RANGE, "1 to %d ticks can be stepped at once", STEPS_MAX);
    }
    return CAIRN_CONTROL_DONE;
}

void cairn_control_begin_step(cairn_control_context *c, uint32_t tick_count) {
    c->room->time_control.burst_tick = c->room->scheduler.tick + tick_count;
    answer_when_room_has_run(c);
}

cairn_control_refusal cairn_control_on_step(cairn_control_context *c) {
    const uint32_t tick_count = c->request->step.tick_count;
    const cairn_control_refusal refusal = cairn_control_check_step(c, tick_count);
    if (refusal == CAIRN_CONTROL_DONE) {
        cairn_control_begin_step(c, tick_count);
    }
    return refusal;
}

cairn_control_refusal cairn_control_on_run_until(cairn_control_context *c) {
    cairn_room *room = c->room;
    const uint64_t tick = c->request->run_until.tick;
    if (tick < room->scheduler.tick) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_OUT_OF_RANGE, "the room is past this tick; use seek");
    }
    room->time_control.stop_tick = tick;
    answer_when_room_has_run(c);
    if (tick == room->scheduler.tick) {
        return cairn_control_on_pause(c);
    }
    if (room->time_control.paused) {
        run_room(c, room->time_control.speed);
    }
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_rate(cairn_control_context *c) {
    cairn_room *room = c->room;
    const uint32_t speed = c->request->rate.speed_thousandths;
    if (speed > CAIRN_TIME_SPEED_MAX) {
        return cairn_control_refuse(c, CAIRN_CONTROL_OUT_OF_RANGE,
            "a rate is 1 to %d thousandths of real time, or 0: as fast as possible",
            CAIRN_TIME_SPEED_MAX);
    }
    if (!room->time_control.paused) {
        run_room(c, speed);
    } else if (room->time_control.speed != speed) {
        room->time_control.speed = speed;
        cairn_room_time_notify(c->server, room, CAIRN_EVENT_RATE, speed);
    }
    return CAIRN_CONTROL_DONE;
}

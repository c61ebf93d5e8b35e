// SPDX-License-Identifier: MIT
// The verbs that bend a room's time.
#include "server/control/parts.h"

// Beyond this an operator asks for hours; ask again.
#define STEPS_MAX 1000000

static cairn_control_refusal busy(cairn_control_visit *v) {
    return cairn_control_refuse(
        v, CAIRN_CONTROL_BUSY, "another request makes the room run; pause it first");
}

// The answer comes when the room rests again.
static void wait_for_room(cairn_control_visit *v) {
    v->later = true;
    v->room->control_wait = (cairn_control_wait){
        .waits = true,
        .client = v->session->client,
        .client_id = v->session->client_id,
        .request = v->ask->request,
        .verb = v->ask->verb,
        .from = v->room->scheduler.tick,
    };
}

cairn_control_refusal cairn_control_pause(cairn_control_visit *v) {
    const bool was_paused = v->room->time_control.paused;
    cairn_time_control_pause(&v->room->time_control, v->server->context.now_ns);
    if (!was_paused) {
        cairn_control_notify(v->server, v->room, CAIRN_EVENT_PAUSED, 0);
    }
    return CAIRN_CONTROL_DONE;
}

static void go(cairn_control_visit *v, uint32_t speed) {
    cairn_room *room = v->room;
    const bool was_paused = room->time_control.paused;
    const bool was_speed = room->time_control.speed == speed;
    cairn_time_control_run(&room->time_control, &room->scheduler, speed, v->server->context.now_ns);
    if (!was_speed) {
        cairn_control_notify(v->server, room, CAIRN_EVENT_RATE, speed);
    }
    if (was_paused) {
        cairn_control_notify(v->server, room, CAIRN_EVENT_RESUMED, 0);
    }
}

cairn_control_refusal cairn_control_resume(cairn_control_visit *v) {
    if (v->room->control_wait.waits) {
        return busy(v);
    }
    if (v->room->time_control.paused) {
        go(v, v->room->time_control.speed);
    }
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_step(cairn_control_visit *v) {
    cairn_room *room = v->room;
    if (!room->time_control.paused) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_NOT_PAUSED, "only a paused room is stepped; pause it first");
    }
    if (room->control_wait.waits) {
        return busy(v);
    }
    if (v->ask->count < 1 || v->ask->count > STEPS_MAX) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_OUT_OF_RANGE, "1 to %d ticks can be stepped at once", STEPS_MAX);
    }
    room->time_control.burst_tick = room->scheduler.tick + v->ask->count;
    wait_for_room(v);
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_run_until(cairn_control_visit *v) {
    cairn_room *room = v->room;
    if (room->control_wait.waits) {
        return busy(v);
    }
    if (v->ask->tick < room->scheduler.tick) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_OUT_OF_RANGE, "the room is past this tick; seek it");
    }
    room->time_control.stop_tick = v->ask->tick;
    wait_for_room(v);
    if (v->ask->tick == room->scheduler.tick) {
        return cairn_control_pause(v);
    }
    if (room->time_control.paused) {
        go(v, room->time_control.speed);
    }
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_rate(cairn_control_visit *v) {
    cairn_room *room = v->room;
    const uint32_t speed = v->ask->count;
    if (speed > CAIRN_TIME_SPEED_MAX) {
        return cairn_control_refuse(v, CAIRN_CONTROL_OUT_OF_RANGE,
            "a rate is 1 to %d thousandths of real time, or 0: as fast as it goes",
            CAIRN_TIME_SPEED_MAX);
    }
    if (!room->time_control.paused) {
        go(v, speed);
    } else if (room->time_control.speed != speed) {
        room->time_control.speed = speed;
        cairn_control_notify(v->server, room, CAIRN_EVENT_RATE, speed);
    }
    return CAIRN_CONTROL_DONE;
}

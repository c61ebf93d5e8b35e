// SPDX-License-Identifier: MIT
// The verbs that replace a room's world: by its scene's first state, by a save, by an earlier tick.
#include "base/assert.h"
#include "server/control/meter.h"
#include "server/control/preparation.h"
#include "server/control/verbs.h"
#include "server/core/hosted_room.h"

bool cairn_control_may_replace(const cairn_room *room, uint64_t now_ns) {
    const uint64_t most_ns = (CAIRN_CONTROL_REPLACEMENTS_BURST - 1) * CAIRN_CONTROL_REPLACEMENT_NS;
    return room->replaced_until_ns <= now_ns + most_ns;
}

// Replaces the room's world by the one that was prepared, and everything that depends on it,
// records the new world and informs the clients. It has the settings of the room's world, except
// for the seed, and players in the slots of `joined`.
static void swap_prepared(cairn_control_context *c, cairn_slot_set joined) {
    cairn_server *server = c->server;
    cairn_room *room = c->room;
    cairn_world *world = c->prepared->world;
    const cairn_server_context *context = &server->context;
    CAIRN_ASSERT(world != NULL && !room->job.running && !room->control_wait.waits);
    cairn_state_history *states = c->prepared->states;
    c->prepared->world = NULL;
    c->prepared->states = NULL;
    if (states != NULL) {
        cairn_state_history_exchange(room->state_history, states);
    }
    cairn_control_meter_pay(
        &room->replaced_until_ns, context->now_ns, CAIRN_CONTROL_REPLACEMENT_NS, 1);
    room->statistics.worlds_replaced += 1;
    cairn_control_dispose_of(
        server, cairn_room_set_world(room, world, &c->prepared->population), states);
    if (room->trial.world != NULL) { // its seed may be another
        cairn_control_dispose_of(server, room->trial.world, NULL);
        room->trial = (cairn_edit_trial){.world = NULL};
    }
    cairn_inbox_restart(room->inbox, cairn_world_tick(world), &joined);
    cairn_command_log_clear(room->command_log, cairn_world_tick(world));
    if (!cairn_state_history_holds(room->state_history, cairn_world_tick(world))) {
        cairn_state_history_clear(room->state_history);
        cairn_state_history_save(room->state_history, world);
    }
    const uint32_t speed = room->time_control.speed;
    room->scheduler.tick = cairn_world_tick(world);
    room->time_control.burst_tick = 0;
    room->time_control.stop_tick = UINT64_MAX;
    room->time_control.serve_ns = context->now_ns + 1; // in a later turn
    cairn_tick_scheduler_restart(&room->scheduler, context->now_ns,
        speed == CAIRN_TIME_SPEED_UNLIMITED ? CAIRN_TIME_SPEED_REAL : speed);
    cairn_input_wait_restart(room);
    cairn_lag_replace(room);
    if (room->recording != NULL) {
        cairn_room_recording_replace(room->recording, world, &c->prepared->saved);
    }
    if (room->broadcast != NULL) {
        cairn_room_recording_replace(room->broadcast, world, &c->prepared->saved);
    }
    cairn_room_replication_replace(room);
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        cairn_hosted_room_restart_member(context, member);
    }
    CAIRN_ASSERT(cairn_inbox_tick(room->inbox) == room->scheduler.tick);
}

// Of a world that could not be made.
static cairn_control_refusal refusal_of(cairn_status status) {
    CAIRN_ASSERT(status != CAIRN_OK);
    return status == CAIRN_OUT_OF_MEMORY ? CAIRN_CONTROL_CAPACITY : CAIRN_CONTROL_FOREIGN;
}

cairn_control_refusal cairn_control_on_reset(cairn_control_context *c) {
    cairn_control_preparation *prepared = c->prepared;
    cairn_room *room = c->room;
    if (prepared == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_NAME_UNKNOWN,
            "the server has no scene \"%s\" to reset the room to", room->scene_name);
    }
    if (prepared->status != CAIRN_OK) {
        return cairn_control_refuse(c, refusal_of(prepared->status), "%.200s", prepared->error);
    }
    swap_prepared(c, (cairn_slot_set){{0}});
    room->start_root = room->hash.full;
    return CAIRN_CONTROL_DONE;
}

static cairn_control_refusal load_prepared(cairn_control_context *c) {
    cairn_control_preparation *prepared = c->prepared;
    if (prepared->status != CAIRN_OK) {
        const char *where = prepared->where == NULL ? "its head" : prepared->where;
        return cairn_control_refuse(c, refusal_of(prepared->status), "%s, in %s",
            cairn_status_text(prepared->status), where);
    }
    swap_prepared(c, prepared->players);
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_load(cairn_control_context *c) {
    const char *name = c->request->load.name;
    if (c->prepared != NULL) {
        return load_prepared(c);
    }
    const cairn_control_save *save = cairn_control_saves_find(c->saves, name);
    if (save == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_NAME_UNKNOWN, "unknown save \"%.64s\"", name);
    }
    CAIRN_ASSERT(save->received_size < save->size);
    return cairn_control_refuse(c, CAIRN_CONTROL_FOREIGN,
        "the save is incomplete: %zu of %zu bytes", save->received_size, save->size);
}

cairn_control_refusal cairn_control_on_seek(cairn_control_context *c) {
    const cairn_control_preparation *prepared = c->prepared;
    if (prepared == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_TICK_GONE,
            "the tick is no longer in memory, and the room has no recording that can be read");
    }
    switch (prepared->status) {
    case CAIRN_OK:
        swap_prepared(c, prepared->players);
        return CAIRN_CONTROL_DONE;
    case CAIRN_NOT_FOUND:
        return cairn_control_refuse(
            c, CAIRN_CONTROL_TICK_GONE, "the room's recording does not have this tick");
    case CAIRN_OUT_OF_MEMORY:
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY, "out of memory");
    default:
        return cairn_control_refuse(
            c, CAIRN_CONTROL_FOREIGN, "the recording's world has other settings");
    }
}

// SPDX-License-Identifier: MIT
#include "server/room/world_swap.h"

#include <string.h>

#include "base/assert.h"
#include "server/server_parts.h"

static void restart_lag(cairn_room *room) {
    if (room->lag.world == NULL) {
        return;
    }
    cairn_lag_world_destroy(room->lag.world);
    if (cairn_lag_world_create(room->world, &room->lag.world) != CAIRN_OK) {
        room->lag.world = NULL;
        cairn_state_history_require(room->state_history, CAIRN_STATE_HISTORY_FOR_LAG, 0);
    }
}

// As if it had just been welcomed.
static void restart_member(cairn_server *server, cairn_room *room, cairn_session *session) {
    if (session->transferring) {
        cairn_state_source_leave(&room->transfer);
    }
    cairn_server_resync_forget(room, session);
    cairn_desync_forget(room, session);
    session->transferring = false;
    session->state_requested = false;
    session->state_sent = false;
    session->desync.agreed = 0;
    session->shown_span = 0;
    session->transfer_generation = 0;
    session->transfer_offset = 0;
    session->ticks_from = 0;
    session->ticks_acknowledged = 0;
    session->ticks_queued = 0;
    session->snapshot_acknowledged = 0;
    session->keyframe_tick = 0;
    session->shapes_revision = 0;
    session->state = CAIRN_SESSION_WELCOMED;
    memset(session->shapes_told, 0, room->shape_capacity * sizeof *session->shapes_told);
    session->world_epoch += 1;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_EVENT,
        .event = {.kind = CAIRN_EVENT_REPLACED,
            .slot = CAIRN_SLOT_NONE,
            .tick = room->scheduler.tick,
            .value = session->world_epoch,
            .words = ""},
    };
    // Who cannot be told would take the new world's ticks for the old one's.
    if (cairn_server_send_reliable(server, session, &message) == 0) {
        cairn_netcode_server_disconnect(server->netcode, server->now_ns, session->client);
    }
}

static void record_replacement(cairn_server *server, cairn_room *room) {
    if (room->recorder == NULL || cairn_recorder_failed(room->recorder)) {
        return;
    }
    cairn_recorder_replace(room->recorder, room->world);
    if (cairn_recorder_failed(room->recorder)) {
        cairn_server_emit_event(server, room, CAIRN_LOG_ERROR, "recording_failed", 0,
            "the recording ends here, the room goes on", 0);
    }
}

void cairn_world_swap(cairn_server *server, cairn_room *room, cairn_world *world, uint64_t joined) {
    CAIRN_ASSERT(!room->job.running && !room->control_wait.waits);
    const uint64_t tick = cairn_world_tick(world);
    cairn_room_set_world(room, world);
    cairn_inbox_restart(room->inbox, tick, joined);
    cairn_command_log_clear(room->command_log);
    cairn_baselines_forget(room->baselines);
    cairn_state_history_clear(room->state_history);
    cairn_state_history_save(room->state_history, room->world);
    room->scheduler.tick = tick;
    room->time_control.burst_tick = 0;
    room->time_control.stop_tick = UINT64_MAX;
    room->time_control.serve_ns = server->now_ns;
    cairn_tick_scheduler_restart(&room->scheduler, server->now_ns,
        room->time_control.speed == CAIRN_TIME_SPEED_UNLIMITED ? CAIRN_TIME_SPEED_REAL
                                                               : room->time_control.speed);
    room->input_wait = (cairn_input_wait){.wait_ms = room->input_wait.wait_ms};
    restart_lag(room);
    record_replacement(server, room);
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        restart_member(server, room, member);
    }
    cairn_state_source_invalidate(&room->transfer);
}

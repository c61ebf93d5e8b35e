// SPDX-License-Identifier: MIT
#include "server/room/world_swap.h"

#include <string.h>

#include "base/assert.h"
#include "server/server_parts.h"

static void restart_lag(cairn_room *room) {
    if (room->lag.rewind == NULL) {
        return;
    }
    cairn_rewind_destroy(room->lag.rewind);
    if (cairn_rewind_create(room->world, &room->lag.rewind) != CAIRN_OK) {
        room->lag.rewind = NULL;
        cairn_past_want(room->past, CAIRN_PAST_REWIND, 0);
    }
}

// As if it had just been welcomed.
static void restart_member(cairn_server *server, cairn_room *room, cairn_session *session) {
    if (session->transferring) {
        cairn_transfer_leave(&room->transfer);
    }
    cairn_heal_forget(room, session);
    cairn_capsules_forget(room, session);
    session->transferring = false;
    session->state_wanted = false;
    session->state_sent = false;
    session->capsules.agreed = 0;
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
    session->world += 1;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_NOTICE,
        .notice = {.kind = CAIRN_NOTICE_REPLACED,
            .slot = CAIRN_SLOT_NONE,
            .tick = room->pacing.tick,
            .value = session->world,
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
        cairn_server_tell(server, room, CAIRN_LOG_ERROR, "recording_failed", 0,
            "the recording ends here, the room goes on", 0);
    }
}

void cairn_replace_world(
    cairn_server *server, cairn_room *room, cairn_world *world, uint64_t joined) {
    CAIRN_ASSERT(!room->job.running && !room->control_wait.waits);
    const uint64_t tick = cairn_world_tick(world);
    cairn_room_set_world(room, world);
    cairn_inbox_restart(room->inbox, tick, joined);
    cairn_history_forget(room->history);
    cairn_baselines_forget(room->baselines);
    cairn_past_forget(room->past);
    cairn_past_save(room->past, room->world);
    room->pacing.tick = tick;
    room->pace.burst_tick = 0;
    room->pace.stop_tick = UINT64_MAX;
    room->pace.serve_ns = server->now_ns;
    cairn_pacing_restart(&room->pacing, server->now_ns,
        room->pace.speed == CAIRN_PACE_SPEED_FREE ? CAIRN_PACE_SPEED_USUAL : room->pace.speed);
    room->stall = (cairn_stall){.wait_ms = room->stall.wait_ms};
    restart_lag(room);
    record_replacement(server, room);
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        restart_member(server, room, member);
    }
    cairn_transfer_forget(&room->transfer);
}

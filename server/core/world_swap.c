// SPDX-License-Identifier: MIT
#include "server/core/world_swap.h"

#include "base/assert.h"
#include "server/core/hosted_room.h"

// Puts the client in the state in which it was admitted.
static void restart_member(const cairn_server_context *context, cairn_session *session) {
    CAIRN_ASSERT(session->room != NULL);
    cairn_server_resync_forget(session);
    cairn_lag_reset_session(session);
    session->state = CAIRN_SESSION_WELCOMED;
    session->world_epoch += 1;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_EVENT,
        .event = {.kind = CAIRN_EVENT_REPLACED,
            .slot = CAIRN_SLOT_NONE,
            .tick = session->room->scheduler.tick,
            .value = session->world_epoch,
            .reason_text = ""},
    };
    // A client that misses the notice would take the new world's ticks for the old one's.
    if (cairn_session_send_reliable(session, context->encoder, &message) == 0) {
        cairn_netcode_server_disconnect(context->netcode, context->now_ns, session->client);
    }
}

void cairn_world_swap(
    const cairn_server_context *context, cairn_room *room, cairn_world *world, uint64_t joined) {
    CAIRN_ASSERT(!room->job.running && !room->control_wait.waits);
    cairn_room_set_world(room, world);
    cairn_inbox_restart(room->inbox, cairn_world_tick(world), joined);
    cairn_command_log_clear(room->command_log, cairn_world_tick(world));
    cairn_state_history_clear(room->state_history);
    cairn_state_history_save(room->state_history, world);
    const uint32_t speed = room->time_control.speed;
    room->scheduler.tick = cairn_world_tick(world);
    room->time_control.burst_tick = 0;
    room->time_control.stop_tick = UINT64_MAX;
    room->time_control.serve_ns = context->now_ns;
    cairn_tick_scheduler_restart(&room->scheduler, context->now_ns,
        speed == CAIRN_TIME_SPEED_UNLIMITED ? CAIRN_TIME_SPEED_REAL : speed);
    cairn_input_wait_reset(room);
    cairn_lag_replace(room);
    cairn_hosted_room_record_world(context, room);
    cairn_room_replication_replace(room);
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        restart_member(context, member);
    }
    CAIRN_ASSERT(cairn_inbox_tick(room->inbox) == room->scheduler.tick);
}

// SPDX-License-Identifier: MIT
#include "server/turn.h"

#include "server/server_parts.h"
#include "server/view.h"

static void record_tick(cairn_server *server, cairn_room *room) {
    if (room->recorder == NULL || cairn_recorder_failed(room->recorder)) {
        return;
    }
    uint64_t tick = cairn_world_tick(room->world);
    uint32_t count;
    const cairn_command *commands = cairn_history_commands(room->history, tick - 1, &count);
    cairn_recorder_tick(room->recorder, tick - 1, commands, count, room->hash.full);
    if (cairn_recorder_keyframe_due(room->recorder)) {
        cairn_recorder_keyframe(room->recorder, room->world);
    }
    if (cairn_recorder_failed(room->recorder)) {
        cairn_server_tell(server, room, CAIRN_LOG_ERROR, "recording_failed", 0,
            "the recording ends here, the room goes on", 0);
    }
}

static void run_tick(cairn_server *server, cairn_room *room) {
    uint64_t (*clock_ns)(void *) = server->config.clock_ns;
    uint64_t before_ns = clock_ns == NULL ? 0 : clock_ns(server->config.user);
    cairn_room_step(room);
    if (clock_ns != NULL) {
        room->statistics.tick_cost_ns_last = clock_ns(server->config.user) - before_ns;
        cairn_histogram_add(&room->tick_cost_ns, room->statistics.tick_cost_ns_last);
    }
    cairn_pacing_step(&room->pacing);
    record_tick(server, room);
}

void cairn_turn_run(cairn_server *server, cairn_room *room, uint64_t now_ns) {
    uint64_t skipped = room->pacing.beats_skipped;
    uint32_t ticks = cairn_pacing_turn(&room->pacing, now_ns);
    if (ticks == 0) {
        return;
    }
    if (room->pacing.beats_skipped != skipped) {
        cairn_server_tell(server, room, CAIRN_LOG_WARN, "tick_overload", 0,
            "ticks were skipped, time slips", (int64_t)(room->pacing.beats_skipped - skipped));
    }
    uint64_t from = room->pacing.tick;
    for (uint32_t i = 0; i < ticks; ++i) {
        run_tick(server, room);
    }
    bool snapshot = cairn_room_snapshot_due(room, from, room->pacing.tick);
    if (snapshot) {
        cairn_baselines_take(room->baselines, room->world, &room->hash);
    }
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        cairn_view_advance(server, member, snapshot);
    }
}

uint64_t cairn_turn_due_ns(const cairn_room *room) {
    return cairn_pacing_due_ns(&room->pacing, room->pacing.tick);
}

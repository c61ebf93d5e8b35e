// SPDX-License-Identifier: MIT
#include "server/resync/step_replay.h"

#include "base/assert.h"

cairn_world *cairn_step_replay_world(const cairn_room *room, uint64_t tick) {
    cairn_world *world = NULL;
    CAIRN_ASSERT(!room->job.running);
    if (tick == 0 || !cairn_state_history_holds(room->state_history, tick - 1) ||
        cairn_world_fork(room->world, &world) != CAIRN_OK) {
        return NULL;
    }
    if (cairn_state_history_load(room->state_history, tick - 1, world) != CAIRN_OK) {
        cairn_world_destroy(world);
        return NULL;
    }
    CAIRN_ASSERT(cairn_world_tick(world) == tick - 1);
    return world;
}

const cairn_command *cairn_step_replay_commands(
    const cairn_room *room, const cairn_world *world, uint32_t *count) {
    const cairn_command_log *log = room->command_log;
    const uint64_t tick = cairn_world_tick(world);
    const bool held = tick >= cairn_command_log_oldest(log) && tick < cairn_command_log_end(log);
    *count = 0;
    return held ? cairn_command_log_commands(log, tick, count) : NULL;
}

uint32_t cairn_step_replay_stages(
    const cairn_room *room, cairn_world *world, uint8_t stages[CAIRN_DESYNC_STAGES_SIZE_MAX]) {
    uint32_t count;
    const cairn_command *commands = cairn_step_replay_commands(room, world, &count);
    const size_t size = commands == NULL ? 0 : cairn_trace_stages(world, commands, count, stages);
    CAIRN_ASSERT(size <= CAIRN_DESYNC_STAGES_SIZE_MAX);
    return (uint32_t)size;
}

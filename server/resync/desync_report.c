// SPDX-License-Identifier: MIT
#include "server/resync/desync_report.h"

#include <stdlib.h>

#include "base/assert.h"
#include "recording/desync_report.h"
#include "sim/debug/passport.h"
#include "sim/math/float_env.h"
#include <cairn/version.h>

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

// The commands of the step that the world takes next; NULL and a count of 0: not held.
static const cairn_command *next_commands(
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
    const cairn_command *commands = next_commands(room, world, &count);
    const size_t size = commands == NULL ? 0 : cairn_trace_stages(world, commands, count, stages);
    CAIRN_ASSERT(size <= CAIRN_DESYNC_STAGES_SIZE_MAX);
    return (uint32_t)size;
}

static void make_capsule(
    cairn_desync_output *output, const cairn_session *session, uint64_t tick, cairn_hash128 root) {
    cairn_room *room = session->room;
    uint8_t stages[CAIRN_DESYNC_STAGES_SIZE_MAX];
    cairn_passport passport;
    cairn_world *before = cairn_step_replay_world(room, tick);
    cairn_world *world = cairn_step_replay_world(room, tick);
    cairn_desync_report capsule = {.scene_name = room->scene_name,
        .before = before,
        .desync = {.head = {.tick = tick,
                       .root_client = root,
                       .float_mode_server = cairn_float_mode_word(),
                       .passport_server =
                           cairn_passport_read(&passport) == CAIRN_OK ? passport.faults : 0},
            .build_client = "",
            .build_server = cairn_build_text(),
            .stages_server = stages}};
    uint8_t *bytes = NULL;
    size_t size = 0;
    CAIRN_ASSERT(output->on_capsule != NULL && !room->job.running && tick > 0);
    if (before != NULL && world != NULL) {
        capsule.commands = next_commands(room, before, &capsule.command_count);
        capsule.desync.head.root_before = cairn_world_hash_read(before).full;
        capsule.desync.stages_server_size = cairn_step_replay_stages(room, world, stages);
        (void)cairn_command_log_root(room->command_log, tick - 1, &capsule.desync.head.root_server);
    }
    if (capsule.desync.stages_server_size > 0 &&
        cairn_desync_report_encode(&capsule, &bytes, &size) == CAIRN_OK) {
        output->on_capsule(output->user, room->name, tick, session->client_id, bytes, size);
        room->statistics.capsules += 1;
    }
    free(bytes);
    cairn_world_destroy(before);
    cairn_world_destroy(world);
}

void cairn_desync_report_agree(cairn_session_desync *own, uint64_t tick) {
    own->agreed_tick = tick > own->agreed_tick ? tick : own->agreed_tick;
}

// Whether another capsule may be made now about this client.
static bool is_within_budget(
    const cairn_desync_output *output, uint64_t client_id, uint64_t now_ns) {
    uint32_t recent = 0;
    uint32_t of_client = 0;
    for (uint32_t i = 0; i < CAIRN_DESYNC_CAPSULES_MAX && i < output->count; ++i) {
        const bool counts = now_ns - output->made[i].made_ns < CAIRN_DESYNC_CAPSULES_NS;
        recent += counts ? 1 : 0;
        of_client += counts && output->made[i].client_id == client_id ? 1 : 0;
    }
    return recent < CAIRN_DESYNC_CAPSULES_MAX && of_client < CAIRN_DESYNC_CAPSULES_PER_CLIENT_MAX;
}

// Only for the first tick after one on which both agreed: all later differences follow from it.
void cairn_desync_report_differ(cairn_desync_output *output, cairn_room_desync *waiting,
    cairn_session_desync *own, cairn_session *session, uint64_t now_ns, uint64_t tick,
    cairn_hash128 root) {
    if (output->on_capsule == NULL || tick != own->agreed_tick + 1 || waiting->reporter != NULL) {
        return;
    }
    if (!is_within_budget(output, session->client_id, now_ns)) {
        session->room->statistics.capsules_over_budget += 1;
        return;
    }
    output->made[output->count++ % CAIRN_DESYNC_CAPSULES_MAX] =
        (cairn_desync_made){.client_id = session->client_id, .made_ns = now_ns};
    if (session->room->job.running) {
        *waiting = (cairn_room_desync){.reporter = session, .tick = tick, .root = root};
    } else {
        make_capsule(output, session, tick, root);
    }
}

void cairn_desync_report_advance(
    cairn_desync_output *output, cairn_room_desync *waiting, cairn_room *room) {
    cairn_session *reporter = waiting->reporter;
    CAIRN_ASSERT(!room->job.running);
    CAIRN_ASSERT(reporter == NULL || reporter->room == room);
    waiting->reporter = NULL;
    if (reporter != NULL) {
        make_capsule(output, reporter, waiting->tick, waiting->root);
    }
}

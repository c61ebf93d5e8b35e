// SPDX-License-Identifier: MIT
#include "server/resync/desync_report.h"

#include <stdlib.h>

#include "base/assert.h"
#include "recording/desync_report.h"
#include "server/resync/step_replay.h"
#include "sim/debug/passport.h"
#include "sim/math/float_env.h"
#include <cairn/version.h>

static uint32_t passport_faults_now(void) {
    cairn_passport passport;
    return cairn_passport_read(&passport) == CAIRN_OK ? passport.faults : 0;
}

static void write_capsule(cairn_desync_output *output, const cairn_session *session, uint64_t tick,
    const cairn_desync_report *capsule) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    CAIRN_ASSERT(output->on_capsule != NULL && capsule->before != NULL);
    if (cairn_desync_report_encode(capsule, &bytes, &size) == CAIRN_OK) {
        output->on_capsule(
            output->user, session->room->name, tick, session->client_id, bytes, size);
        session->room->statistics.capsules += 1;
    }
    free(bytes);
}

static void make_capsule(
    cairn_desync_output *output, const cairn_session *session, uint64_t tick, cairn_hash128 root) {
    const cairn_room *room = session->room;
    uint8_t stages[CAIRN_DESYNC_STAGES_SIZE_MAX];
    cairn_world *before = cairn_step_replay_world(room, tick);
    cairn_world *world = cairn_step_replay_world(room, tick);
    cairn_desync_report capsule = {.scene_name = room->scene_name,
        .before = before,
        .desync = {.head = {.tick = tick,
                       .root_client = root,
                       .float_mode_server = cairn_float_mode_word(),
                       .passport_server = passport_faults_now()},
            .build_client = "",
            .build_server = cairn_build_text(),
            .stages_server = stages}};
    CAIRN_ASSERT(!room->job.running && tick > 0);
    if (before != NULL && world != NULL) {
        capsule.commands = cairn_step_replay_commands(room, before, &capsule.command_count);
        capsule.desync.head.root_before = cairn_world_hash_read(before).full;
        capsule.desync.stages_server_size = cairn_step_replay_stages(room, world, stages);
        (void)cairn_command_log_root(room->command_log, tick - 1, &capsule.desync.head.root_server);
    }
    if (capsule.desync.stages_server_size > 0) {
        write_capsule(output, session, tick, &capsule);
    }
    cairn_world_destroy(before);
    cairn_world_destroy(world);
}

void cairn_desync_report_agree(cairn_session_desync *own, uint64_t tick) {
    own->agreed_tick = tick > own->agreed_tick ? tick : own->agreed_tick;
}

// Only for the first tick after one on which both agreed: all later differences follow from it.
void cairn_desync_report_differ(cairn_desync_output *output, cairn_room_desync *waiting,
    cairn_session_desync *own, cairn_session *session, uint64_t tick, cairn_hash128 root) {
    const bool enough = own->capsules >= CAIRN_DESYNC_CAPSULES_PER_CLIENT_MAX ||
                        output->made >= CAIRN_DESYNC_CAPSULES_MAX;
    if (output->on_capsule == NULL || enough || tick != own->agreed_tick + 1 ||
        waiting->reporter != NULL) {
        return;
    }
    own->capsules += 1;
    output->made += 1;
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

// SPDX-License-Identifier: MIT
#include "server/resync/desync_report.h"

#include <stdlib.h>
#include <string.h>

#include "recording/capsule.h"
#include "server/server_parts.h"
#include "sim/debug/passport.h"
#include "sim/debug/trace.h"
#include "sim/math/float_env.h"
#include <cairn/version.h>

// The world before the step to `tick`, which the caller destroys; NULL: no longer held.
static cairn_world *world_before(const cairn_room *room, uint64_t tick) {
    cairn_world *world = NULL;
    if (tick == 0 || !cairn_state_history_holds(room->state_history, tick - 1) ||
        cairn_world_fork(room->world, &world) != CAIRN_OK) {
        return NULL;
    }
    if (cairn_state_history_load(room->state_history, tick - 1, world) != CAIRN_OK) {
        cairn_world_destroy(world);
        return NULL;
    }
    return world;
}

static const cairn_command *commands_of(const cairn_room *room, uint64_t tick, uint32_t *count) {
    const cairn_command_log *history = room->command_log;
    const bool held =
        tick >= cairn_command_log_oldest(history) && tick < cairn_command_log_end(history);
    *count = 0;
    return held ? cairn_command_log_commands(history, tick, count) : NULL;
}

// The roots of the points of the step to `tick`; 0: the tick is gone, or there is no memory.
static uint32_t take_step(
    const cairn_room *room, cairn_world *world, uint8_t stages[CAIRN_DESYNC_STAGES_SIZE_MAX]) {
    uint32_t count;
    const cairn_command *commands = commands_of(room, cairn_world_tick(world), &count);
    return commands == NULL ? 0 : (uint32_t)cairn_trace_stages(world, commands, count, stages);
}

static uint32_t faults_now(void) {
    cairn_passport passport;
    return cairn_passport_read(&passport) == CAIRN_OK ? passport.faults : 0;
}

// ------------------------------------------------------------------------------------- answers

static void answer(cairn_server *server, cairn_session *session, uint64_t tick) {
    cairn_room *room = session->room;
    uint8_t stages[CAIRN_DESYNC_STAGES_SIZE_MAX];
    cairn_world *world = world_before(room, tick);
    cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_RESPONSE,
        .resync_response = {.tick = tick,
            .verdict = CAIRN_RESYNC_TICK_GONE,
            .passport_faults = faults_now(),
            .build = cairn_build_text(),
            .stages = stages,
            .stages_size = world == NULL ? 0 : take_step(room, world, stages)}};
    if (message.resync_response.stages_size > 0) {
        message.resync_response.verdict = CAIRN_RESYNC_DONE;
        message.resync_response.full_root = cairn_world_hash_read(world).full;
        cairn_server_send_reliable(server, session, &message);
        room->statistics.stages_sent += 1;
    } else {
        room->statistics.stages_refused += 1;
    }
    cairn_world_destroy(world);
}

void cairn_desync_take_request(
    cairn_server *server, cairn_session *session, const cairn_resync_request *doubt) {
    cairn_room *room = session->room;
    const bool free = !room->job.running || room->desync.asker == NULL;
    if (session->desync.answers >= CAIRN_CAPSULES_ANSWERS_MAX || !free) {
        room->statistics.stages_refused += 1;
        return;
    }
    session->desync.answers += 1;
    if (!room->job.running) {
        answer(server, session, doubt->tick);
    } else {
        room->desync.asker = session;
        room->desync.asked = doubt->tick;
    }
}

// ------------------------------------------------------------------------------------ capsules

static void write_capsule(cairn_server *server, const cairn_session *session, uint64_t tick,
    const cairn_capsule *capsule) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cairn_capsule_encode(capsule, &bytes, &size) == CAIRN_OK) {
        server->config.on_capsule(
            server->config.user, session->room->name, tick, session->client_id, bytes, size);
        session->room->statistics.capsules += 1;
    }
    free(bytes);
}

static void make(
    cairn_server *server, const cairn_session *session, uint64_t tick, cairn_hash128 root) {
    const cairn_room *room = session->room;
    uint8_t stages[CAIRN_DESYNC_STAGES_SIZE_MAX];
    cairn_world *before = world_before(room, tick);
    cairn_world *world = world_before(room, tick);
    cairn_capsule capsule = {.scene_name = room->scene_name,
        .before = before,
        .desync = {.head = {.tick = tick,
                       .root_client = root,
                       .float_mode_server = cairn_float_mode_word(),
                       .passport_server = faults_now()},
            .build_client = "",
            .build_server = cairn_build_text(),
            .stages_server = stages}};
    if (before != NULL && world != NULL) {
        capsule.commands = commands_of(room, tick - 1, &capsule.command_count);
        capsule.desync.head.root_before = cairn_world_hash_read(before).full;
        capsule.desync.stages_server_size = take_step(room, world, stages);
        (void)cairn_command_log_root(room->command_log, tick - 1, &capsule.desync.head.root_server);
    }
    if (capsule.desync.stages_server_size > 0) {
        write_capsule(server, session, tick, &capsule);
    }
    cairn_world_destroy(before);
    cairn_world_destroy(world);
}

void cairn_desync_root_agreed(cairn_session *session, uint64_t tick) {
    if (tick > session->desync.agreed) {
        session->desync.agreed = tick;
    }
}

// Only the first tick after one on which both agreed: what follows, follows from it.
void cairn_desync_root_differed(
    cairn_server *server, cairn_session *session, uint64_t tick, cairn_hash128 root) {
    cairn_room *room = session->room;
    const bool enough = session->desync.made >= CAIRN_CAPSULES_PER_CLIENT_MAX ||
                        server->capsules_made >= CAIRN_CAPSULES_PER_SERVER_MAX;
    if (server->config.on_capsule == NULL || enough || tick != session->desync.agreed + 1 ||
        room->desync.suspect != NULL) {
        return;
    }
    session->desync.made += 1;
    server->capsules_made += 1;
    if (!room->job.running) {
        make(server, session, tick, root);
    } else {
        room->desync.suspect = session;
        room->desync.differing = tick;
        room->desync.root = root;
    }
}

// ------------------------------------------------------------------------------------- the room

static void wish(const cairn_server *server, cairn_room *room) {
    bool wanted = false;
    for (const cairn_session *member = room->members; member != NULL;
         member = member->member_next) {
        wanted = wanted || cairn_mode_simulates(member->mode);
    }
    wanted = wanted && server->config.on_capsule != NULL;
    if (wanted != room->desync.wanted) {
        room->desync.wanted = wanted;
        cairn_state_history_require(room->state_history, CAIRN_STATE_HISTORY_FOR_CAPSULES,
            wanted ? (room->tick_rate_hz * CAIRN_CAPSULES_PAST_MS + 999) / 1000 : 0);
    }
}

void cairn_desync_advance(cairn_server *server, cairn_room *room) {
    cairn_room_desync *waiting = &room->desync;
    cairn_session *asker = waiting->asker;
    cairn_session *suspect = waiting->suspect;
    waiting->asker = NULL;
    waiting->suspect = NULL;
    wish(server, room);
    if (asker != NULL) {
        answer(server, asker, waiting->asked);
    }
    if (suspect != NULL) {
        make(server, suspect, waiting->differing, waiting->root);
    }
}

void cairn_desync_forget(cairn_room *room, const cairn_session *session) {
    room->desync.asker = room->desync.asker == session ? NULL : room->desync.asker;
    room->desync.suspect = room->desync.suspect == session ? NULL : room->desync.suspect;
}

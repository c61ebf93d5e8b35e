// SPDX-License-Identifier: MIT
#include "server/resync/desync_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/build.h"
#include "recording/capsule.h"
#include "server/server_parts.h"
#include "sim/debug/passport.h"
#include "sim/debug/trace.h"
#include "sim/math/float_env.h"

// The world before the step to `tick`, which the caller destroys; NULL: no longer held.
static cairn_world *world_before(const cairn_room *room, uint64_t tick) {
    cairn_world *world = NULL;
    if (tick == 0 || !cairn_past_holds(room->past, tick - 1) ||
        cairn_world_fork(room->world, &world) != CAIRN_OK) {
        return NULL;
    }
    if (cairn_past_load(room->past, tick - 1, world) != CAIRN_OK) {
        cairn_world_destroy(world);
        return NULL;
    }
    return world;
}

static const cairn_command *commands_of(const cairn_room *room, uint64_t tick, uint32_t *count) {
    const cairn_history *history = room->history;
    const bool held = tick >= cairn_history_oldest(history) && tick < cairn_history_end(history);
    *count = 0;
    return held ? cairn_history_commands(history, tick, count) : NULL;
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
    cairn_message message = {.kind = CAIRN_MESSAGE_REPAIR,
        .repair = {.tick = tick,
            .verdict = CAIRN_REPAIR_TICK_GONE,
            .passport_faults = faults_now(),
            .build = cairn_build_text(),
            .stages = stages,
            .stages_size = world == NULL ? 0 : take_step(room, world, stages)}};
    if (message.repair.stages_size > 0) {
        message.repair.verdict = CAIRN_REPAIR_DONE;
        message.repair.full_root = cairn_world_hash_read(world).full;
        cairn_server_send_reliable(server, session, &message);
        room->statistics.stages_told += 1;
    } else {
        room->statistics.stages_refused += 1;
    }
    cairn_world_destroy(world);
}

void cairn_capsules_doubt(cairn_server *server, cairn_session *session, const cairn_doubt *doubt) {
    cairn_room *room = session->room;
    const bool free = !room->job.running || room->capsules.asker == NULL;
    if (session->capsules.answers >= CAIRN_CAPSULES_ANSWERS_MAX || !free) {
        room->statistics.stages_refused += 1;
        return;
    }
    session->capsules.answers += 1;
    if (!room->job.running) {
        answer(server, session, doubt->tick);
    } else {
        room->capsules.asker = session;
        room->capsules.asked = doubt->tick;
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
        (void)cairn_history_root(room->history, tick - 1, &capsule.desync.head.root_server);
    }
    if (capsule.desync.stages_server_size > 0) {
        write_capsule(server, session, tick, &capsule);
    }
    cairn_world_destroy(before);
    cairn_world_destroy(world);
}

void cairn_capsules_agreed(cairn_session *session, uint64_t tick) {
    if (tick > session->capsules.agreed) {
        session->capsules.agreed = tick;
    }
}

// Only the first tick after one on which both agreed: what follows, follows from it.
void cairn_capsules_differed(
    cairn_server *server, cairn_session *session, uint64_t tick, cairn_hash128 root) {
    cairn_room *room = session->room;
    const bool enough = session->capsules.made >= CAIRN_CAPSULES_PER_CLIENT_MAX ||
                        server->capsules_made >= CAIRN_CAPSULES_PER_SERVER_MAX;
    if (server->config.on_capsule == NULL || enough || tick != session->capsules.agreed + 1 ||
        room->capsules.suspect != NULL) {
        return;
    }
    session->capsules.made += 1;
    server->capsules_made += 1;
    if (!room->job.running) {
        make(server, session, tick, root);
    } else {
        room->capsules.suspect = session;
        room->capsules.differing = tick;
        room->capsules.root = root;
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
    if (wanted != room->capsules.wanted) {
        room->capsules.wanted = wanted;
        cairn_past_want(room->past, CAIRN_PAST_CAPSULES,
            wanted ? (room->tick_rate_hz * CAIRN_CAPSULES_PAST_MS + 999) / 1000 : 0);
    }
}

void cairn_capsules_turn(cairn_server *server, cairn_room *room) {
    cairn_capsules_waiting *waiting = &room->capsules;
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

void cairn_capsules_forget(cairn_room *room, const cairn_session *session) {
    room->capsules.asker = room->capsules.asker == session ? NULL : room->capsules.asker;
    room->capsules.suspect = room->capsules.suspect == session ? NULL : room->capsules.suspect;
}

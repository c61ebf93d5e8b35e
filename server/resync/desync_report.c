// SPDX-License-Identifier: MIT
#include "server/resync/desync_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/desync_report.h"
#include "recording/pack.h"
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

// A capsule that is being made: copies of what it needs, so that a task can step and encode it
// while the room goes on.
typedef struct capsule_task {
    cairn_server_task task; // first
    cairn_desync_output output;
    char room[CAIRN_ROOM_NAME_SIZE];
    char scene_name[32];
    uint64_t client_id;
    cairn_world *before;     // owned
    cairn_world *world;      // owned; stepped
    cairn_command *commands; // owned
    cairn_desync_report report;
    uint8_t stages[CAIRN_DESYNC_STAGES_SIZE_MAX];
} capsule_task;

static void run_capsule(cairn_server_task *task) {
    capsule_task *capsule = (capsule_task *)task;
    cairn_desync_report *report = &capsule->report;
    uint8_t *bytes = NULL;
    size_t size = 0;
    report->packing = &cairn_packing_zstd;
    report->desync.head.root_before = cairn_world_hash_read(capsule->before).full;
    report->desync.stages_server_size = (uint32_t)cairn_trace_stages(
        capsule->world, report->commands, report->command_count, capsule->stages);
    CAIRN_ASSERT(report->desync.stages_server_size <= CAIRN_DESYNC_STAGES_SIZE_MAX);
    if (report->desync.stages_server_size > 0 &&
        cairn_desync_report_encode(report, &bytes, &size) == CAIRN_OK) {
        const cairn_desync_output *output = &capsule->output;
        output->on_capsule(
            output->user, capsule->room, report->desync.head.tick, capsule->client_id, bytes, size);
    }
    free(bytes);
}

static void free_capsule(cairn_server_task *task) {
    capsule_task *capsule = (capsule_task *)task;
    cairn_world_destroy(capsule->before);
    cairn_world_destroy(capsule->world);
    free(capsule->commands);
    free(capsule);
}

// False: the state or the commands of the tick are not held, or out of memory.
static bool copy_step(capsule_task *capsule, const cairn_room *room, uint64_t tick) {
    uint32_t count = 0;
    capsule->before = cairn_step_replay_world(room, tick);
    const cairn_command *commands =
        capsule->before == NULL ? NULL : next_commands(room, capsule->before, &count);
    capsule->commands = commands == NULL ? NULL : malloc((count + 1) * sizeof *commands);
    if (capsule->commands == NULL ||
        cairn_world_fork(capsule->before, &capsule->world) != CAIRN_OK) {
        return false;
    }
    if (count > 0) {
        memcpy(capsule->commands, commands, count * sizeof *commands);
    }
    capsule->report.before = capsule->before;
    capsule->report.commands = capsule->commands;
    capsule->report.command_count = count;
    return true;
}

static void make_capsule(const cairn_desync_output *output, const cairn_session *session,
    uint64_t tick, cairn_hash128 root) {
    cairn_room *room = session->room;
    cairn_passport passport;
    capsule_task *capsule = calloc(1, sizeof *capsule);
    CAIRN_ASSERT(output->on_capsule != NULL && !room->job.running && tick > 0);
    if (capsule == NULL) {
        return;
    }
    capsule->task = (cairn_server_task){.run = run_capsule, .done = free_capsule};
    capsule->output = *output;
    capsule->client_id = session->client_id;
    snprintf(capsule->room, sizeof capsule->room, "%s", room->name);
    snprintf(capsule->scene_name, sizeof capsule->scene_name, "%s", room->scene_name);
    capsule->report = (cairn_desync_report){.scene_name = capsule->scene_name,
        .desync = {.head = {.tick = tick,
                       .root_client = root,
                       .float_mode_server = cairn_float_mode_word(),
                       .passport_server =
                           cairn_passport_read(&passport) == CAIRN_OK ? passport.faults : 0},
            .build_client = "",
            .build_server = cairn_build_text(),
            .stages_server = capsule->stages}};
    (void)cairn_command_log_root(
        room->command_log, tick - 1, &capsule->report.desync.head.root_server);
    if (copy_step(capsule, room, tick)) {
        room->statistics.capsules += 1;
        cairn_task_start(output->runner, &capsule->task);
    } else {
        free_capsule(&capsule->task);
    }
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

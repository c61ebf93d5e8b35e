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

// The world before the step to `tick`, which the caller destroys. NULL: its state is not held, or
// out of memory.
static cairn_world *copy_before(const cairn_room *room, uint64_t tick) {
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

const cairn_command *cairn_step_commands(const cairn_room *room, uint64_t tick, uint32_t *count) {
    const cairn_command_log *log = room->command_log;
    const bool held = tick >= cairn_command_log_oldest(log) && tick < cairn_command_log_end(log);
    *count = 0;
    return held ? cairn_command_log_commands(log, tick, count) : NULL;
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
    capsule->before = copy_before(room, tick);
    const cairn_command *commands =
        capsule->before == NULL ? NULL : cairn_step_commands(room, tick - 1, &count);
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

// Only for the first tick after one on which both agreed: all later differences follow from it.
void cairn_desync_report_differ(cairn_desync_output *output, cairn_room_desync *waiting,
    cairn_session_desync *own, cairn_session *session, uint64_t now_ns, uint64_t tick,
    cairn_hash128 root) {
    if (output->on_capsule == NULL || tick != own->agreed_tick + 1 || waiting->reporter != NULL) {
        return;
    }
    if (!cairn_hour_budget_spend(&output->budget, session->client_id, now_ns,
            CAIRN_DESYNC_CAPSULES_PER_CLIENT_MAX, CAIRN_DESYNC_CAPSULES_MAX)) {
        session->room->statistics.capsules_over_budget += 1;
        return;
    }
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

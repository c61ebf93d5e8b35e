// SPDX-License-Identifier: MIT
#include "server/room/job.h"

#include <stdlib.h>

#include "base/assert.h"
#include <cairn/server.h>

// The mean forgets a batch after about this many others.
#define MEAN_BATCHES 16
// A batch counts as at most this much: one that was preempted says little about the next.
#define MEAN_COST_NS_MAX UINT64_C(1000000)

cairn_status cairn_job_create(struct cairn_server_job *job, struct cairn_room *room,
    cairn_world *world, cairn_state_history *state_history, uint32_t ticks,
    uint32_t commands_per_tick_max) {
    *job = (struct cairn_server_job){
        .room = room,
        .world = world,
        .state_history = state_history,
        .tick_capacity = ticks,
        .commands_per_tick_max = commands_per_tick_max,
        .ticks = calloc(ticks, sizeof *job->ticks),
        .commands = malloc((size_t)ticks * commands_per_tick_max * sizeof *job->commands),
    };
    const cairn_status status = cairn_event_log_create(&job->events);
    return job->ticks != NULL && job->commands != NULL ? status : CAIRN_OUT_OF_MEMORY;
}

void cairn_job_destroy(struct cairn_server_job *job) {
    CAIRN_ASSERT(!job->running);
    cairn_event_log_destroy(&job->events);
    cairn_game_log_destroy(&job->game_messages);
    cairn_game_log_destroy(&job->game_events);
    free(job->commands);
    free(job->ticks);
    *job = (struct cairn_server_job){0};
}

void cairn_job_begin(struct cairn_server_job *job, cairn_inbox *inbox, uint32_t ticks) {
    CAIRN_ASSERT(!job->running && ticks > 0 && ticks <= job->tick_capacity);
    job->from = cairn_inbox_tick(inbox);
    job->tick_count = ticks;
    job->command_count = 0;
    for (uint32_t i = 0; i < ticks; ++i) {
        CAIRN_ASSERT(cairn_inbox_commands_max(inbox) <= job->commands_per_tick_max);
        const uint32_t count = cairn_inbox_gather(inbox, job->commands + job->command_count);
        job->ticks[i] = (cairn_job_tick){.command_count = count};
        job->command_count += count;
    }
}

bool cairn_job_may_be_dear(const struct cairn_server_job *job, uint32_t bodies) {
    uint32_t edits = 0;
    bool dear = false;
    for (uint32_t i = 0; i < job->command_count; ++i) {
        edits += job->commands[i].slot == CAIRN_SLOT_OPERATOR ? 1 : 0;
        dear = dear || job->commands[i].kind == CAIRN_COMMAND_EXPLODE ||
               job->commands[i].kind == CAIRN_COMMAND_FRACTURE;
    }
    return dear || edits > CAIRN_JOB_EDITS_MAX || bodies > CAIRN_JOB_BODIES_MAX ||
           job->last_cost_ns >= MEAN_COST_NS_MAX;
}

static uint64_t read_clock_ns(const struct cairn_server_job *job) {
    return job->clock_ns == NULL ? 0 : job->clock_ns(job->clock_user);
}

void cairn_server_job_run(cairn_server_job *job) {
    const cairn_command *commands = job->commands;
    uint64_t cost_ns = 0;
    CAIRN_ASSERT(cairn_world_tick(job->world) == job->from);
    for (uint32_t i = 0; i < job->tick_count; ++i) {
        cairn_job_tick *tick = &job->ticks[i];
        const uint64_t before_ns = read_clock_ns(job);
        const uint64_t refused = cairn_world_game_messages_refused(job->world);
        cairn_world_step(job->world, commands, tick->command_count);
        cairn_event_log_add(&job->events, job->world);
        cairn_game_log_add(&job->game_messages, job->world, CAIRN_GAME_MESSAGE);
        cairn_game_log_add(&job->game_events, job->world, CAIRN_GAME_EVENT);
        job->game_refused += cairn_world_game_messages_refused(job->world) - refused;
        job->hash = cairn_world_hash_read(job->world);
        tick->root = job->hash.full;
        cairn_state_history_save(job->state_history, job->world);
        tick->cost_ns = read_clock_ns(job) - before_ns;
        cost_ns += tick->cost_ns;
        commands += tick->command_count;
    }
    CAIRN_ASSERT(commands == job->commands + job->command_count);
    job->population = cairn_world_population_read(job->world);
    job->last_cost_ns = cost_ns;
    cost_ns = cost_ns < MEAN_COST_NS_MAX ? cost_ns : MEAN_COST_NS_MAX;
    job->mean_cost_ns = job->mean_cost_ns == 0
                            ? cost_ns
                            : (job->mean_cost_ns * (MEAN_BATCHES - 1) + cost_ns) / MEAN_BATCHES;
}

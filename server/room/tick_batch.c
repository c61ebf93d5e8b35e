// SPDX-License-Identifier: MIT
#include "server/room/tick_batch.h"

#include "base/assert.h"
#include "server/replicate/replication.h"
#include "server/resync/desync_report.h"
#include "server/room/room_table.h"
#include "server/server_parts.h"

// At an operator's will a room runs turn after turn, but lets the others have theirs.
#define TURNS_AT_WILL_MAX 16
// How often the clients of a paused room are looked after.
#define PAUSED_SERVE_NS UINT64_C(50000000)

// How many ticks the schedule says; what is due beyond a turn is skipped here.
static uint32_t ticks_scheduled(cairn_server *server, cairn_room *room, uint64_t now_ns) {
    cairn_tick_scheduler *scheduler = &room->scheduler;
    uint32_t ready = cairn_input_wait_ready_count(
        server, room, cairn_tick_scheduler_due_count(scheduler, now_ns), now_ns);
    if (ready == 0) {
        return 0;
    }
    uint64_t skipped = scheduler->beats_skipped;
    uint32_t due = cairn_tick_scheduler_take(scheduler, now_ns);
    if (scheduler->beats_skipped != skipped) {
        cairn_server_emit_event(server, room, CAIRN_LOG_WARN, "tick_overload", 0,
            "ticks were skipped, time slips", (int64_t)(scheduler->beats_skipped - skipped));
    }
    return ready < due ? ready : due;
}

static uint32_t ticks_of_turn(cairn_server *server, cairn_room *room, uint64_t now_ns) {
    const uint64_t tick = room->scheduler.tick;
    const uint32_t due = cairn_time_control_is_scheduled(&room->time_control, tick)
                             ? ticks_scheduled(server, room, now_ns)
                             : 0;
    return cairn_time_control_tick_count(
        &room->time_control, tick, due, room->scheduler.catch_up_ticks_max);
}

static void begin_turn(cairn_room *room, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        cairn_input_wait_observe_tick(room, room->scheduler.tick + i);
    }
    cairn_job_begin(&room->job, room->inbox, ticks);
}

static void record_turn(cairn_server *server, cairn_room *room) {
    const cairn_server_job *job = &room->job;
    const cairn_command *commands = job->commands;
    if (room->recorder == NULL || cairn_recorder_failed(room->recorder)) {
        return;
    }
    for (uint32_t i = 0; i < job->tick_count; ++i) {
        const cairn_job_tick *tick = &job->ticks[i];
        cairn_recorder_tick(
            room->recorder, job->from + i, commands, tick->command_count, tick->root);
        commands += tick->command_count;
    }
    if (cairn_recorder_keyframe_due(room->recorder)) {
        cairn_recorder_keyframe(room->recorder, room->world);
    }
    if (cairn_recorder_failed(room->recorder)) {
        cairn_server_emit_event(server, room, CAIRN_LOG_ERROR, "recording_failed", 0,
            "the recording ends here, the room goes on", 0);
    }
}

static void measure_turn(cairn_room *room) {
    const cairn_server_job *job = &room->job;
    for (uint32_t i = 0; job->clock_ns != NULL && i < job->tick_count; ++i) {
        room->statistics.tick_cost_ns_last = job->ticks[i].cost_ns;
        cairn_histogram_add(&room->tick_cost_ns, job->ticks[i].cost_ns);
    }
}

static void tell_members(cairn_server *server, cairn_room *room) {
    bool snapshot = cairn_room_snapshot_due(room, room->job.from, room->scheduler.tick);
    if (snapshot) {
        cairn_baselines_take(room->baselines, room->world, &room->hash);
    }
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        cairn_replication_advance(server, member, snapshot);
    }
}

// The job was run, here or elsewhere.
static void end_turn(cairn_server *server, cairn_room *room) {
    cairn_room_take_ticks(room);
    cairn_desync_advance(server, room);
    record_turn(server, room);
    measure_turn(room);
    tell_members(server, room);
    if (cairn_time_control_reach_stop(&room->time_control, room->scheduler.tick)) {
        cairn_control_notify(server, room, CAIRN_EVENT_PAUSED, 0);
    }
    cairn_control_arrive(server, room);
    cairn_server_resync_advance(server, room);
}

// Who came to a paused room, or lost what was sent, is told all the same. A snapshot of tick 0
// there is none: 0 means that no snapshot is held.
static void serve_paused(cairn_server *server, cairn_room *room, uint64_t now_ns) {
    if (!room->time_control.paused || now_ns < room->time_control.serve_ns) {
        return;
    }
    room->time_control.serve_ns = now_ns + PAUSED_SERVE_NS;
    const uint64_t tick = room->scheduler.tick;
    const cairn_baseline *newest = cairn_baselines_newest(room->baselines);
    if (tick > 0 && room->members != NULL && (newest == NULL || newest->tick != tick)) {
        cairn_baselines_take(room->baselines, room->world, &room->hash);
    }
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        cairn_replication_advance(server, member, tick > 0 && member->snapshot_acknowledged < tick);
    }
}

static bool hand_over(cairn_server *server, cairn_room *room, uint64_t now_ns) {
    cairn_server_job *job = &room->job;
    if (server->config.run_job == NULL || server->room_count < 2) {
        return false;
    }
    job->running = true;
    job->stuck = false;
    job->begun_ns = now_ns;
    server->jobs_out += 1;
    if (!server->config.run_job(server->config.user, job)) {
        job->running = false;
        server->jobs_out -= 1;
    }
    return job->running;
}

static void watch_job(cairn_server *server, cairn_room *room, uint64_t now_ns) {
    cairn_server_job *job = &room->job;
    if (!job->stuck && now_ns >= job->begun_ns + CAIRN_TICK_BATCH_STUCK_NS) {
        job->stuck = true;
        room->statistics.jobs_stuck += 1;
        cairn_server_emit_event(server, room, CAIRN_LOG_ERROR, "room_stuck", 0,
            "a turn takes longer than a second, other rooms go on", (int64_t)job->tick_count);
    }
}

void cairn_tick_batch_run(cairn_server *server, cairn_room *room, uint64_t now_ns) {
    if (room->job.running) {
        watch_job(server, room, now_ns);
        return;
    }
    serve_paused(server, room, now_ns);
    uint32_t ticks;
    uint32_t at_will = 0;
    // More than one turn only where a wait cut the first short, or an operator wants it.
    while (at_will < TURNS_AT_WILL_MAX && (ticks = ticks_of_turn(server, room, now_ns)) > 0) {
        at_will +=
            cairn_time_control_is_scheduled(&room->time_control, room->scheduler.tick) ? 0 : 1;
        begin_turn(room, ticks);
        if (hand_over(server, room, now_ns)) {
            return;
        }
        cairn_server_job_run(&room->job);
        end_turn(server, room);
    }
}

void cairn_server_job_done(cairn_server *server, uint64_t now_ns, cairn_server_job *job) {
    cairn_room *room = job->room;
    CAIRN_ASSERT(job->running);
    server->now_ns = now_ns;
    server->jobs_out -= 1;
    job->running = false;
    if (room->closing) {
        cairn_room_table_reap(server, room);
        return;
    }
    if (job->stuck) {
        cairn_server_emit_event(server, room, CAIRN_LOG_WARN, "room_unstuck", 0,
            "the turn is over, the room goes on", (int64_t)((now_ns - job->begun_ns) / 1000000));
    }
    end_turn(server, room);
}

uint64_t cairn_tick_batch_due_ns(const cairn_room *room) {
    if (room->job.running) {
        return room->job.stuck ? UINT64_MAX : room->job.begun_ns + CAIRN_TICK_BATCH_STUCK_NS;
    }
    if (!cairn_time_control_is_scheduled(&room->time_control, room->scheduler.tick)) {
        return cairn_time_control_due_ns(&room->time_control, &room->scheduler);
    }
    return room->input_wait.waiting
               ? cairn_input_wait_due_ns(room)
               : cairn_tick_scheduler_due_ns(&room->scheduler, room->scheduler.tick);
}

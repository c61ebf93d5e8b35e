// SPDX-License-Identifier: MIT
#include "server/tick_batch.h"

#include "base/assert.h"
#include "server/control/queue.h"
#include "server/control/room_time.h"
#include "server/server_rooms.h"

// An operator may let a room run without a schedule; after this many batches other rooms run.
#define UNSCHEDULED_BATCHES_MAX 16
// The mean cost of a room's ticks forgets a tick after about this many others.
#define MEAN_TICKS 64
// How often the clients of a paused room are served.
#define PAUSED_SERVE_NS UINT64_C(50000000)

// How many scheduled ticks to run now. Ticks that are due beyond one batch are skipped.
static uint32_t take_scheduled_ticks(cairn_server *server, cairn_room *room) {
    CAIRN_ASSERT(!room->job.running);
    const uint64_t now_ns = server->context.now_ns;
    cairn_tick_scheduler *scheduler = &room->scheduler;
    const uint32_t ready = cairn_input_wait_ready_count(
        &server->context, room, cairn_tick_scheduler_due_count(scheduler, now_ns));
    if (ready == 0) {
        return 0;
    }
    const uint64_t skipped = scheduler->ticks_skipped;
    const uint32_t due = cairn_tick_scheduler_take(scheduler, now_ns);
    if (scheduler->ticks_skipped != skipped) {
        cairn_context_emit(&server->context, room, CAIRN_LOG_WARN, "tick_overload", 0,
            "scheduled ticks were skipped; the room does not catch up with them",
            (int64_t)(scheduler->ticks_skipped - skipped));
    }
    return ready < due ? ready : due;
}

static uint32_t take_ticks(cairn_server *server, cairn_room *room) {
    const uint64_t tick = room->scheduler.tick;
    const uint32_t due = cairn_time_control_is_scheduled(&room->time_control, tick)
                             ? take_scheduled_ticks(server, room)
                             : 0;
    return cairn_time_control_tick_count(
        &room->time_control, tick, due, room->scheduler.catch_up_ticks_max);
}

// A client that simulates and cannot join over its path is shown snapshots instead.
static void serve(cairn_server *server, cairn_session *member, bool snapshot) {
    cairn_replication_advance(&server->context, member, snapshot);
    const char *refusal = cairn_replication_refusal(member);
    if (refusal != NULL) {
        cairn_server_resync_demote(&server->resync, member, refusal);
    }
}

// The job ran, here or on a thread.
static void end_batch(cairn_server *server, cairn_room *room) {
    CAIRN_ASSERT(!room->job.running && !room->closing);
    cairn_room_finish_job(room);
    cairn_room_meshes_update(&room->replication->meshes, room->world);
    cairn_watch *watch = cairn_room_watch(room);
    if (watch == NULL || cairn_watch_shapes(watch)) {
        cairn_room_shapes_update(&room->replication->shapes, room->world);
    }
    if (room->recording != NULL) {
        cairn_room_recording_add_job(room->recording, room);
    }
    if (room->broadcast != NULL) {
        cairn_room_recording_add_job(room->broadcast, room);
    }
    for (uint32_t i = 0; room->job.clock_ns != NULL && i < room->job.tick_count; ++i) {
        room->statistics.tick_cost_ns_last = room->job.ticks[i].cost_ns;
        cairn_histogram_add(&room->tick_cost_ns, room->job.ticks[i].cost_ns);
        room->mean_cost_ns =
            room->mean_cost_ns == 0
                ? room->job.ticks[i].cost_ns
                : (room->mean_cost_ns * (MEAN_TICKS - 1) + room->job.ticks[i].cost_ns) / MEAN_TICKS;
    }
    const bool snapshot = cairn_room_snapshot_is_due(room, room->job.from, room->scheduler.tick) &&
                          cairn_room_replication_take_snapshot(room);
    uint64_t keep_from = UINT64_MAX;
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        serve(server, member, snapshot);
        const uint64_t kept = cairn_replication_kept_tick(&server->context, member);
        keep_from = kept < keep_from ? kept : keep_from;
    }
    cairn_command_log_keep(room->command_log, keep_from);
    if (cairn_time_control_reach_stop(&room->time_control, room->scheduler.tick)) {
        cairn_room_time_notify(server, room, CAIRN_EVENT_PAUSED, 0);
    }
    cairn_control_queue_room_stepped(server, room);
    cairn_server_resync_advance(&server->resync, room);
    if (server->ends_soon) {
        cairn_room_observe_end(room, server->context.now_ns);
    }
}

// A client that joins a paused room, or lost what was sent, is served all the same.
static void serve_paused(cairn_server *server, cairn_room *room) {
    const uint64_t now_ns = server->context.now_ns;
    CAIRN_ASSERT(!room->job.running);
    if (!room->time_control.paused || now_ns < room->time_control.serve_ns) {
        return;
    }
    room->time_control.serve_ns = now_ns + PAUSED_SERVE_NS;
    const bool snapshot = cairn_room_replication_take_snapshot(room);
    cairn_server_resync_answer_waiting(&server->resync, room);
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        serve(server, member, snapshot);
    }
}

// Handing a job to a thread costs about as much as stepping a small world, so a room whose recent
// steps were cheap is stepped at once, unless this batch may take much longer than those. When it
// becomes expensive it goes to a thread again.
static bool hand_over(cairn_server *server, cairn_room *room) {
    CAIRN_ASSERT(!room->job.running);
    cairn_server_job *job = &room->job;
    const uint64_t limit_ns = (uint64_t)server->config.inline_step_us_max * 1000;
    const bool cheap = job->mean_cost_ns > 0 && job->mean_cost_ns < limit_ns &&
                       !cairn_job_may_be_dear(job, room->population.bodies);
    if (server->config.run_job == NULL || server->rooms.count < 2 || cheap) {
        return false;
    }
    job->running = true;
    job->stuck = false;
    job->begun_ns = server->context.now_ns;
    server->jobs_out += 1;
    if (!server->config.run_job(server->config.user, job)) {
        job->running = false;
        server->jobs_out -= 1;
    }
    return job->running;
}

static void watch_job(cairn_server *server, cairn_room *room) {
    cairn_server_job *job = &room->job;
    CAIRN_ASSERT(job->running);
    if (!job->stuck && server->context.now_ns >= job->begun_ns + CAIRN_TICK_BATCH_STUCK_NS) {
        job->stuck = true;
        room->statistics.jobs_stuck += 1;
        cairn_context_emit(&server->context, room, CAIRN_LOG_ERROR, "room_stuck", 0,
            "the room's ticks take longer than a second; other rooms continue",
            (int64_t)job->tick_count);
    }
}

void cairn_tick_batch_run(cairn_server *server, cairn_room *room) {
    CAIRN_ASSERT(!room->closing);
    if (room->job.running) {
        watch_job(server, room);
        return;
    }
    if (server->holding) {
        return;
    }
    serve_paused(server, room);
    uint32_t ticks;
    uint32_t unscheduled = 0;
    // More than one batch only if a wait cut the first one short, or an operator asked for it.
    while (unscheduled < UNSCHEDULED_BATCHES_MAX && (ticks = take_ticks(server, room)) > 0) {
        const uint64_t tick = room->scheduler.tick;
        unscheduled += cairn_time_control_is_scheduled(&room->time_control, tick) ? 0 : 1;
        for (uint32_t i = 0; i < ticks; ++i) {
            cairn_input_wait_observe_tick(room, tick + i);
        }
        cairn_job_begin(&room->job, room->inbox, ticks);
        if (hand_over(server, room)) {
            return;
        }
        cairn_server_job_run(&room->job);
        end_batch(server, room);
        CAIRN_ASSERT(room->scheduler.tick == tick + ticks);
    }
}

void cairn_server_job_done(cairn_server *server, uint64_t now_ns, cairn_server_job *job) {
    cairn_room *room = job->room;
    CAIRN_ASSERT(job->running && server->jobs_out > 0);
    server->context.now_ns = now_ns;
    server->jobs_out -= 1;
    job->running = false;
    if (room->closing) {
        cairn_server_room_reap(server, room);
        return;
    }
    if (job->stuck) {
        cairn_context_emit(&server->context, room, CAIRN_LOG_WARN, "room_unstuck", 0,
            "the room's ticks are done; it continues",
            (int64_t)((now_ns - job->begun_ns) / 1000000));
    }
    end_batch(server, room);
}

uint64_t cairn_tick_batch_due_ns(const cairn_room *room) {
    if (room->job.running) {
        return room->job.stuck ? UINT64_MAX : room->job.begun_ns + CAIRN_TICK_BATCH_STUCK_NS;
    }
    if (!cairn_time_control_is_scheduled(&room->time_control, room->scheduler.tick)) {
        return cairn_time_control_due_ns(&room->time_control, &room->scheduler);
    }
    return room->input_wait->waiting
               ? cairn_input_wait_due_ns(room)
               : cairn_tick_scheduler_due_ns(&room->scheduler, room->scheduler.tick);
}

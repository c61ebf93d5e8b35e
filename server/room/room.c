// SPDX-License-Identifier: MIT
#include "server/room/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/scene_world.h"
#include "bridge/snapshot.h"

// Missing inputs repeat the last one for about this long, then the player stands still.
#define HOLD_MS 150

// Ticks that a turn may run; each has room for its commands.
#define CATCH_UP_TICKS_MAX 64

// Baselines: enough for an acknowledgement that takes three seconds, in at most this much memory.
#define BASELINE_SECONDS 3
#define BASELINE_BYTES_MAX (size_t)(256 * 1024 * 1024)

static cairn_status create_inbox(const cairn_room_config *config, cairn_room *room) {
    uint32_t hold = (room->tick_rate_hz * HOLD_MS + 999) / 1000;
    const cairn_inbox_config inbox = {
        .tick = cairn_world_tick(room->world),
        .window_ticks = config->input_window_ticks,
        .slots = config->players_max,
        .hold_ticks = hold,
        .edits_max = config->edits_max,
    };
    return cairn_inbox_create(&inbox, &room->inbox);
}

static uint32_t baseline_count(const cairn_room *room, uint32_t body_capacity) {
    size_t wanted = (size_t)BASELINE_SECONDS * room->snapshot_rate_hz;
    size_t affordable = BASELINE_BYTES_MAX / (body_capacity * sizeof(cairn_snapshot_body));
    size_t count = wanted < affordable ? wanted : affordable;
    return (uint32_t)(count < 8 ? 8 : count);
}

// Save is the block as it lies in memory; its canonical form is no more than twice as long.
static size_t state_size_max(const cairn_world *world) {
    size_t size = 2 * cairn_world_save_size_max(world) + 4096;
    return size < CAIRN_STATE_SIZE_MAX ? size : CAIRN_STATE_SIZE_MAX;
}

static cairn_status create_memory(const cairn_room_config *config, cairn_room *room) {
    const cairn_world_def *def = cairn_world_settings(room->world);
    room->body_capacity = def->body_capacity;
    room->shape_capacity = def->shape_capacity;
    room->shape_ids = calloc(def->shape_capacity, sizeof *room->shape_ids);
    room->shape_ids_now = calloc(def->shape_capacity, sizeof *room->shape_ids_now);
    room->shapes = calloc(def->shape_capacity, sizeof *room->shapes);
    if (room->shape_ids == NULL || room->shape_ids_now == NULL || room->shapes == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    cairn_status status = create_inbox(config, room);
    if (status == CAIRN_OK) {
        status = cairn_command_log_create(CAIRN_ROOM_COMMAND_LOG_TICKS,
            3 * config->players_max + config->edits_max, &room->command_log);
    }
    if (status == CAIRN_OK) {
        status = cairn_state_history_create(CAIRN_ROOM_STATE_HISTORY_SECONDS * room->tick_rate_hz,
            CAIRN_ROOM_STATE_HISTORY_BYTES_MAX, &room->state_history);
    }
    if (status == CAIRN_OK) {
        status = cairn_baselines_create(
            baseline_count(room, def->body_capacity), def->body_capacity, &room->baselines);
    }
    if (status == CAIRN_OK) {
        status = cairn_state_source_create(state_size_max(room->world), &room->transfer);
    }
    if (status == CAIRN_OK && !cairn_job_create(&room->job, room, config->catch_up_ticks_max)) {
        status = CAIRN_OUT_OF_MEMORY;
    }
    return status;
}

// Shapes seldom change, so the list is rebuilt as a whole when the ids differ.
static void refresh_shapes(cairn_room *room) {
    uint32_t count = cairn_world_shapes(room->world, room->shape_ids_now, room->shape_capacity);
    CAIRN_ASSERT(count <= room->shape_capacity);
    if (room->shapes_revision > 0 && count == room->shape_count &&
        memcmp(room->shape_ids, room->shape_ids_now, count * sizeof *room->shape_ids) == 0) {
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        bool exists =
            cairn_snapshot_shape_read(room->world, room->shape_ids_now[i], &room->shapes[i]);
        CAIRN_ASSERT(exists);
        room->shape_ids[i] = room->shape_ids_now[i];
    }
    room->shape_count = count;
    room->shapes_revision += 1;
}

static cairn_status refuse(char *error, cairn_status status, const char *why) {
    snprintf(error, CAIRN_SCENE_ERROR_SIZE, "%s", why);
    return status;
}

static void name_scene(cairn_room *room, const char *name) {
    snprintf(room->scene_name, sizeof room->scene_name, "%s", name);
}

static cairn_status create_world(const cairn_room_config *config, cairn_room *room, char *error) {
    if (config->world != NULL) {
        room->world = config->world;
        room->start_root = config->start_root;
        name_scene(room, config->scene_name);
        return CAIRN_OK;
    }
    cairn_scene scene = *config->scene;
    if (config->tick_rate_hz != 0) {
        scene.world.tick_rate_hz = config->tick_rate_hz;
    }
    name_scene(room, scene.name);
    cairn_status status = cairn_scene_world_create(&scene, config->rules, &room->world, error);
    if (status == CAIRN_OK) {
        room->start_root = cairn_world_hash_read(room->world).full;
    }
    return status;
}

// What is wrong with the numbers of a config; NULL: nothing.
static const char *number_refused(const cairn_room_config *config) {
    return config->players_max < 1 || config->players_max > CAIRN_SLOTS_MAX
               ? "players_max is outside its range"
           : config->wait_ms > CAIRN_ROOM_WAIT_MS_MAX ? "wait_ms is outside its range"
           : config->catch_up_ticks_max < 1 || config->catch_up_ticks_max > CATCH_UP_TICKS_MAX
               ? "catch_up_ticks_max is outside its range"
               : NULL;
}

cairn_status cairn_room_create(
    const cairn_room_config *config, cairn_room *out, char error[CAIRN_SCENE_ERROR_SIZE]) {
    *out = (cairn_room){0};
    error[0] = '\0';
    cairn_status status = create_world(config, out, error);
    if (status != CAIRN_OK) {
        return status;
    }
    const char *refused = number_refused(config);
    if (refused != NULL) {
        return refuse(error, CAIRN_INVALID_ARGUMENT, refused);
    }
    out->tick_rate_hz = cairn_world_settings(out->world)->tick_rate_hz;
    out->snapshot_rate_hz = config->snapshot_rate_hz;
    if (config->snapshot_rate_hz < 1 || config->snapshot_rate_hz > out->tick_rate_hz) {
        return refuse(error, CAIRN_INVALID_ARGUMENT, "the snapshot rate exceeds the tick rate");
    }
    status = create_memory(config, out);
    if (status != CAIRN_OK) {
        return refuse(error, status, cairn_status_text(status));
    }
    out->scheduler = cairn_tick_scheduler_of(config->start_ns, out->tick_rate_hz,
        config->catch_up_ticks_max, cairn_world_tick(out->world));
    out->time_control = cairn_time_control_default();
    out->input_wait.wait_ms = config->wait_ms;
    out->counts = cairn_world_counts_read(out->world);
    out->hash = cairn_world_hash_read(out->world);
    refresh_shapes(out);
    return CAIRN_OK;
}

void cairn_room_destroy(cairn_room *room) {
    cairn_recorder_destroy(room->recorder);
    cairn_job_destroy(&room->job);
    cairn_state_source_destroy(&room->transfer);
    cairn_baselines_destroy(room->baselines);
    cairn_lag_world_destroy(room->lag.world);
    cairn_server_resync_destroy(&room->resync);
    cairn_state_history_destroy(room->state_history);
    cairn_command_log_destroy(room->command_log);
    cairn_inbox_destroy(room->inbox);
    free(room->shapes);
    free(room->shape_ids_now);
    free(room->shape_ids);
    cairn_world_destroy(room->world);
    *room = (cairn_room){0};
}

void cairn_room_set_world(cairn_room *room, cairn_world *world) {
    CAIRN_ASSERT(!room->job.running);
    cairn_world_destroy(room->world);
    room->world = world;
    room->job.world = world;
    room->hash = cairn_world_hash_read(world);
    room->counts = cairn_world_counts_read(world);
    // The same ids may be other shapes.
    room->shape_count = 0;
    room->shapes_revision += 1;
    refresh_shapes(room);
}

bool cairn_room_add_member(cairn_room *room, cairn_session *session) {
    CAIRN_ASSERT(session->room == NULL);
    session->shapes_told = calloc(room->shape_capacity, sizeof *session->shapes_told);
    if (session->shapes_told == NULL) {
        return false;
    }
    session->room = room;
    session->member_next = NULL;
    session->member_previous = room->member_newest;
    if (room->member_newest == NULL) {
        room->members = session;
    } else {
        room->member_newest->member_next = session;
    }
    room->member_newest = session;
    room->statistics.clients += 1;
    return true;
}

void cairn_room_remove_member(cairn_room *room, cairn_session *session) {
    CAIRN_ASSERT(session->room == room);
    cairn_session *next = session->member_next;
    cairn_session *previous = session->member_previous;
    cairn_desync_forget(room, session);
    *(next == NULL ? &room->member_newest : &next->member_previous) = previous;
    *(previous == NULL ? &room->members : &previous->member_next) = next;
    session->member_next = NULL;
    session->member_previous = NULL;
    session->room = NULL;
    free(session->shapes_told);
    session->shapes_told = NULL;
    room->statistics.clients -= 1;
}

void cairn_room_take_ticks(cairn_room *room) {
    const struct cairn_server_job *job = &room->job;
    const cairn_command *commands = job->commands;
    CAIRN_ASSERT(!job->running && job->from == room->scheduler.tick);
    for (uint32_t i = 0; i < job->tick_count; ++i) {
        const cairn_job_tick *tick = &job->ticks[i];
        cairn_command_log_add(
            room->command_log, job->from + i, commands, tick->command_count, tick->root);
        cairn_tick_scheduler_step(&room->scheduler);
        commands += tick->command_count;
    }
    CAIRN_ASSERT(cairn_world_tick(room->world) == room->scheduler.tick);
    room->hash = job->hash;
    room->counts = cairn_world_counts_read(room->world);
    refresh_shapes(room);
}

bool cairn_room_snapshot_due(const cairn_room *room, uint64_t from, uint64_t to) {
    uint64_t rate = room->snapshot_rate_hz;
    return from * rate / room->tick_rate_hz != to * rate / room->tick_rate_hz;
}

const char *cairn_room_rules_name(const cairn_room *room) {
    const cairn_rules *rules = cairn_world_settings(room->world)->rules;
    return rules == NULL ? "" : rules->name;
}

uint32_t cairn_room_rules_version(const cairn_room *room) {
    const cairn_rules *rules = cairn_world_settings(room->world)->rules;
    return rules == NULL ? 0 : rules->version;
}

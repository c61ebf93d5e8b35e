// SPDX-License-Identifier: MIT
#include "server/core/hosted_room.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "recording/recorder.h"

// A recording loses at most this much when the machine stops.
#define RECORDED_TICKS_PER_CHUNK 64

typedef struct hosted_room {
    cairn_room room; // first, so that a room is its hosted room
    const cairn_server_config *server;
    cairn_input_wait input_wait;
    cairn_room_replication replication;
    cairn_lag_compensation lag;
    cairn_room_resync resync;
} hosted_room;

static bool write_record(void *user, const uint8_t *bytes, size_t size) {
    const hosted_room *hosted = user;
    const cairn_server_config *server = hosted->server;
    return server->on_record(server->user, hosted->room.name, bytes, size);
}

static bool start_recording(hosted_room *hosted) {
    cairn_room *room = &hosted->room;
    const cairn_recorder_config recorder = {
        .ticks_per_chunk = RECORDED_TICKS_PER_CHUNK,
        .commands_per_tick_max = CAIRN_INBOX_COMMANDS_MAX,
        .state_size_max = room->replication->state.capacity,
        .scene_name = room->scene_name,
        .signing_seed = hosted->server->record_seed,
        .write = write_record,
        .user = hosted,
    };
    CAIRN_ASSERT(room->recorder == NULL && hosted->server->on_record != NULL);
    return cairn_recorder_create(&recorder, &room->recorder) == CAIRN_OK &&
           cairn_recorder_start(room->recorder, room->world);
}

// Frees what a refused or ended room holds.
static void free_hosted(hosted_room *hosted) {
    cairn_room *room = &hosted->room;
    cairn_recorder_destroy(room->recorder);
    if (room->replication != NULL) {
        cairn_room_replication_destroy(room);
        cairn_lag_destroy(room);
        cairn_server_resync_destroy_room(room);
    }
    cairn_room_destroy(room);
    free(hosted);
}

static cairn_status create_features(hosted_room *hosted, const cairn_server_room_config *config) {
    const cairn_server_config *server = hosted->server;
    cairn_room *room = &hosted->room;
    room->input_wait = &hosted->input_wait;
    room->replication = &hosted->replication;
    room->lag = &hosted->lag;
    room->resync = &hosted->resync;
    snprintf(room->name, sizeof room->name, "%s", config->name);
    room->job.clock_ns = server->clock_ns;
    room->job.clock_user = server->user;
    if (server->control) {
        cairn_state_history_require(room->state_history, CAIRN_STATE_HISTORY_FOR_CONTROL,
            CAIRN_ROOM_STATE_HISTORY_SECONDS * room->settings.tick_rate_hz);
    }
    const cairn_status status = cairn_room_replication_create(room);
    const bool recorded = status == CAIRN_OK && config->recorded && server->on_record != NULL;
    return recorded && !start_recording(hosted) ? CAIRN_OUT_OF_MEMORY : status;
}

cairn_room *cairn_hosted_room_create(const cairn_server_config *server,
    const cairn_server_room_config *config, const cairn_room_source *source, cairn_status *status,
    char error[CAIRN_SCENE_ERROR_SIZE]) {
    hosted_room *hosted = calloc(1, sizeof *hosted);
    error[0] = '\0';
    if (hosted == NULL) {
        cairn_world_destroy(source->world);
        *status = CAIRN_OUT_OF_MEMORY;
        return NULL;
    }
    hosted->server = server;
    *status = cairn_room_create(config, source, &hosted->room, error);
    if (*status == CAIRN_OK) {
        *status = create_features(hosted, config);
    }
    if (*status != CAIRN_OK) {
        free_hosted(hosted);
        return NULL;
    }
    CAIRN_ASSERT(hosted->room.members == NULL);
    return &hosted->room;
}

void cairn_hosted_room_destroy(cairn_room *room) {
    CAIRN_ASSERT(room->members == NULL && !room->job.running);
    cairn_hosted_room_end_recording(room);
    free_hosted((hosted_room *)room);
}

bool cairn_hosted_room_join(cairn_room *room, cairn_session *session) {
    CAIRN_ASSERT(!room->closing && session->room == NULL);
    if (!cairn_replication_open(session, room)) {
        return false;
    }
    *session->resync = (cairn_session_resync){0};
    *session->lag = (cairn_session_lag){0};
    cairn_session_join_room(session, room);
    return true;
}

void cairn_hosted_room_leave(cairn_session *session) {
    CAIRN_ASSERT(session->room != NULL);
    cairn_server_resync_forget(session);
    cairn_replication_close(session);
    cairn_session_leave_room(session);
}

static void check_recorder(const cairn_server_context *context, const cairn_room *room) {
    if (cairn_recorder_failed(room->recorder)) {
        cairn_context_emit(context, room, CAIRN_LOG_ERROR, "recording_failed", 0,
            "the recording could not be written and ends here; the room continues", 0);
    }
}

void cairn_hosted_room_record_job(const cairn_server_context *context, cairn_room *room) {
    const cairn_server_job *job = &room->job;
    const cairn_command *commands = job->commands;
    CAIRN_ASSERT(!job->running);
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
    check_recorder(context, room);
}

void cairn_hosted_room_record_world(const cairn_server_context *context, cairn_room *room) {
    if (room->recorder != NULL && !cairn_recorder_failed(room->recorder)) {
        cairn_recorder_replace(room->recorder, room->world);
        check_recorder(context, room);
    }
}

void cairn_hosted_room_end_recording(cairn_room *room) {
    if (room->recorder == NULL) {
        return;
    }
    cairn_recorder_end(room->recorder);
    room->statistics.recording_bytes = cairn_recorder_bytes(room->recorder);
    cairn_recorder_destroy(room->recorder);
    room->recorder = NULL;
    write_record(room, NULL, 0);
}

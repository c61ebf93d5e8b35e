// SPDX-License-Identifier: MIT
#include "server/core/hosted_room.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"

typedef struct hosted_room {
    cairn_room room; // first, so that a room is its hosted room
    cairn_input_wait input_wait;
    cairn_room_replication replication;
    cairn_lag_compensation lag;
    cairn_room_resync resync;
} hosted_room;

// Frees what a refused or ended room holds.
static void free_hosted(hosted_room *hosted) {
    cairn_room *room = &hosted->room;
    CAIRN_ASSERT(room->recording == NULL && room->broadcast == NULL);
    if (room->replication != NULL) {
        cairn_room_replication_destroy(room);
        cairn_lag_destroy(room);
        cairn_server_resync_destroy_room(room);
    }
    cairn_room_destroy(room);
    free(hosted);
}

static cairn_status begin_recordings(cairn_recordings *recordings, cairn_recordings *broadcasts,
    cairn_room *room, bool recorded, bool broadcast) {
    const cairn_server_config *server = recordings->server;
    const size_t state_size_max = room->replication->state.capacity;
    cairn_status status = CAIRN_OK;
    CAIRN_ASSERT(room->recording == NULL && room->broadcast == NULL);
    if (recorded && server->on_record != NULL) {
        status = cairn_room_recording_create(recordings, room, state_size_max, &room->recording);
    }
    if (status == CAIRN_OK && broadcast && server->on_segment != NULL) {
        status = cairn_room_recording_create(broadcasts, room, state_size_max, &room->broadcast);
    }
    return status;
}

static cairn_status create_features(hosted_room *hosted, cairn_recordings *recordings,
    cairn_recordings *broadcasts, const cairn_server_room_config *config) {
    const cairn_server_config *server = recordings->server;
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
    cairn_status status = cairn_room_replication_create(room, recordings->runner);
    return status != CAIRN_OK ? status
                              : begin_recordings(recordings, broadcasts, room, config->recorded,
                                    config->broadcast);
}

cairn_room *cairn_hosted_room_create(cairn_recordings *recordings, cairn_recordings *broadcasts,
    const cairn_server_room_config *config, const cairn_room_source *source, cairn_status *status,
    char error[CAIRN_SCENE_ERROR_SIZE]) {
    hosted_room *hosted = calloc(1, sizeof *hosted);
    error[0] = '\0';
    if (hosted == NULL) {
        cairn_world_destroy(source->world);
        *status = CAIRN_OUT_OF_MEMORY;
        return NULL;
    }
    *status = cairn_room_create(config, source, &hosted->room, error);
    if (*status == CAIRN_OK) {
        *status = create_features(hosted, recordings, broadcasts, config);
    }
    if (*status != CAIRN_OK) {
        cairn_hosted_room_end_recordings(&hosted->room);
        free_hosted(hosted);
        return NULL;
    }
    CAIRN_ASSERT(hosted->room.members == NULL);
    return &hosted->room;
}

void cairn_hosted_room_destroy(cairn_room *room) {
    CAIRN_ASSERT(room->members == NULL && !room->job.running);
    cairn_hosted_room_end_recordings(room);
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

void cairn_hosted_room_restart_member(const cairn_server_context *context, cairn_session *session) {
    CAIRN_ASSERT(session->room != NULL);
    cairn_server_resync_forget(session);
    session->lag->shown = (cairn_view_time){0};
    session->state = CAIRN_SESSION_WELCOMED;
    session->world_epoch += 1;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_EVENT,
        .event = {.kind = CAIRN_EVENT_REPLACED,
            .slot = CAIRN_SLOT_NONE,
            .tick = session->room->scheduler.tick,
            .value = session->world_epoch,
            .reason_text = ""},
    };
    // A client that misses the notice would take the new world's ticks for the old one's.
    if (cairn_session_send_reliable(session, context->encoder, &message) == 0) {
        cairn_netcode_server_disconnect(context->netcode, context->now_ns, session->client);
    }
}

void cairn_hosted_room_begin_recordings(cairn_recordings *recordings, cairn_recordings *broadcasts,
    cairn_room *room, bool recorded, bool broadcast) {
    (void)begin_recordings(recordings, broadcasts, room, recorded, broadcast);
}

static void end_recording(cairn_room_recording **recording) {
    if (*recording != NULL) {
        cairn_room_recording_end(*recording);
        *recording = NULL;
    }
}

void cairn_hosted_room_end_recordings(cairn_room *room) {
    end_recording(&room->recording);
    end_recording(&room->broadcast);
}

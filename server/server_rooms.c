// SPDX-License-Identifier: MIT
#include "server/server_rooms.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "server/control/queue.h"
#include "server/session_dispatch.h"
#include "sim/math/float_env.h"

// Commands of the host in one tick, if there are no operators.
#define HOST_COMMANDS_MAX 16

_Static_assert((int)CAIRN_ROOM_REASON_SIZE >= (int)CAIRN_SCENE_ERROR_SIZE, "an error fits");

cairn_server_room_config cairn_server_room_config_default(void) {
    return (cairn_server_room_config){
        .name = CAIRN_ROOM_NAME_DEFAULT,
        .players_max = CAIRN_PLAYERS_DEFAULT,
        .input_window_ticks = 64,
        .catch_up_ticks_max = 4,
        .recorded = true,
        .broadcast = true,
    };
}

const char *cairn_server_room_refusal_text(cairn_server_room_refusal refusal) {
    static const char *const texts[CAIRN_ROOM_REFUSAL_COUNT] = {
        [CAIRN_ROOM_CREATED] = "created",
        [CAIRN_ROOM_REFUSED_NAME] = ("a room's name has 1 to 31 letters, digits, '-', '_' and '.', "
                                     "and does not begin with '.'"),
        [CAIRN_ROOM_REFUSED_NAME_TAKEN] = "a room of this name exists",
        [CAIRN_ROOM_REFUSED_TABLE_FULL] = "the server cannot hold another room",
        [CAIRN_ROOM_REFUSED_SCENE] = "the scene cannot be built",
        [CAIRN_ROOM_REFUSED_UNKNOWN] = "there is no such room",
        [CAIRN_ROOM_REFUSED_TICK] = "the room does not hold the state of that tick",
        [CAIRN_ROOM_REFUSED_BUSY] = "the room is being stepped; try again",
        [CAIRN_ROOM_REFUSED_DRAINING] = "the server is shutting down",
        [CAIRN_ROOM_REFUSED_MEMORY] = "out of memory",
    };
    return (uint32_t)refusal < CAIRN_ROOM_REFUSAL_COUNT ? texts[refusal] : "unknown refusal";
}

static cairn_server_room_refusal check_config(
    const cairn_server *server, const cairn_server_room_config *config) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.";
    CAIRN_ASSERT(config != NULL);
    if (!cairn_server_admits(server)) {
        return CAIRN_ROOM_REFUSED_DRAINING;
    }
    const size_t size = config->name == NULL ? 0 : strspn(config->name, allowed);
    if (size == 0 || size >= CAIRN_ROOM_NAME_SIZE || config->name[size] != '\0' ||
        config->name[0] == '.') {
        return CAIRN_ROOM_REFUSED_NAME;
    }
    if (cairn_room_table_find(&server->rooms, config->name) != 0) {
        return CAIRN_ROOM_REFUSED_NAME_TAKEN;
    }
    return server->rooms.count < server->rooms.capacity ? CAIRN_ROOM_CREATED
                                                        : CAIRN_ROOM_REFUSED_TABLE_FULL;
}

static cairn_server_room_refusal refuse(
    cairn_server *server, cairn_server_room_refusal refusal, uint32_t *room, char *reason) {
    char own_reason[CAIRN_ROOM_REASON_SIZE] = "";
    char *text = reason == NULL ? own_reason : reason;
    CAIRN_ASSERT(refusal != CAIRN_ROOM_CREATED);
    if (text[0] == '\0') {
        snprintf(text, CAIRN_ROOM_REASON_SIZE, "%s", cairn_server_room_refusal_text(refusal));
    }
    *room = 0;
    server->statistics.rooms_refused += 1;
    cairn_context_emit(&server->context, NULL, CAIRN_LOG_ERROR, "room_refused", 0, text, refusal);
    return refusal;
}

// Makes the room of a config that was checked.
static cairn_server_room_refusal open_room(cairn_server *server, uint64_t now_ns,
    const cairn_server_room_config *config, cairn_room_source *source, uint32_t *id, char *reason) {
    CAIRN_ASSERT(now_ns >= server->config.start_ns);
    char own_reason[CAIRN_ROOM_REASON_SIZE];
    cairn_status status;
    char *text = reason == NULL ? own_reason : reason;
    CAIRN_ASSERT(!server->draining && server->rooms.count < server->rooms.capacity);
    source->server_start_ns = server->config.start_ns;
    source->now_ns = now_ns;
    source->edits_max = server->config.control ? CAIRN_INBOX_EDITS_MAX : HOST_COMMANDS_MAX;
    const uint64_t mode = cairn_float_set_default();
    cairn_room *room = cairn_hosted_room_create(
        &server->recordings, &server->broadcasts, config, source, &status, text);
    cairn_float_leave(mode);
    if (room == NULL) {
        const cairn_server_room_refusal refusal =
            status == CAIRN_OUT_OF_MEMORY ? CAIRN_ROOM_REFUSED_MEMORY : CAIRN_ROOM_REFUSED_SCENE;
        return refuse(server, refusal, id, text);
    }
    const bool inserted = cairn_room_table_insert(&server->rooms, room);
    CAIRN_ASSERT(inserted);
    *id = room->id;
    cairn_context_emit(
        &server->context, room, CAIRN_LOG_INFO, "room_created", 0, room->scene_name, room->id);
    return CAIRN_ROOM_CREATED;
}

cairn_server_room_refusal cairn_server_room_create(cairn_server *server, uint64_t now_ns,
    const cairn_server_room_config *config, uint32_t *room, char reason[CAIRN_ROOM_REASON_SIZE]) {
    const cairn_server_room_refusal refusal = check_config(server, config);
    cairn_room_source source = {.world = NULL};
    if (reason != NULL) {
        reason[0] = '\0';
    }
    return refusal != CAIRN_ROOM_CREATED ? refuse(server, refusal, room, reason)
                                         : open_room(server, now_ns, config, &source, room, reason);
}

static cairn_server_room_refusal fork_world(
    const cairn_room *from, uint64_t tick, cairn_world **out) {
    const bool present = tick == CAIRN_TICK_NOW || tick == from->scheduler.tick;
    CAIRN_ASSERT(*out == NULL);
    if (from->job.running) {
        return CAIRN_ROOM_REFUSED_BUSY;
    }
    if (!present && !cairn_state_history_holds(from->state_history, tick)) {
        return CAIRN_ROOM_REFUSED_TICK;
    }
    if (cairn_world_fork(from->world, out) != CAIRN_OK) {
        return CAIRN_ROOM_REFUSED_MEMORY;
    }
    const cairn_status status =
        present ? CAIRN_OK : cairn_state_history_load(from->state_history, tick, *out);
    CAIRN_ASSERT(status == CAIRN_OK);
    return CAIRN_ROOM_CREATED;
}

cairn_server_room_refusal cairn_server_room_fork(cairn_server *server, uint64_t now_ns,
    uint32_t from, uint64_t tick, const cairn_server_room_config *config, uint32_t *room,
    char reason[CAIRN_ROOM_REASON_SIZE]) {
    const cairn_room *forked = cairn_room_table_at(&server->rooms, from);
    cairn_server_room_refusal refusal =
        forked == NULL ? CAIRN_ROOM_REFUSED_UNKNOWN : check_config(server, config);
    cairn_world *world = NULL;
    if (reason != NULL) {
        reason[0] = '\0';
    }
    if (refusal == CAIRN_ROOM_CREATED) {
        refusal = fork_world(forked, tick, &world);
    }
    if (refusal != CAIRN_ROOM_CREATED) {
        return refuse(server, refusal, room, reason);
    }
    cairn_room_source source = {
        .world = world, .scene_name = forked->scene_name, .start_root = forked->start_root};
    return open_room(server, now_ns, config, &source, room, reason);
}

void cairn_server_room_reap(cairn_server *server, cairn_room *room) {
    CAIRN_ASSERT(room->members == NULL && !room->job.running);
    cairn_hosted_room_end_recordings(room);
    cairn_statistics_add_closed_room(&server->statistics, room);
    cairn_room_table_remove(&server->rooms, room);
    cairn_hosted_room_destroy(room);
}

bool cairn_server_room_destroy(
    cairn_server *server, uint64_t now_ns, uint32_t room, const char *reason) {
    cairn_room *closed = cairn_room_table_at(&server->rooms, room);
    if (closed == NULL) {
        return false;
    }
    server->context.now_ns = now_ns;
    cairn_control_queue_room_closing(server, closed);
    const cairn_message notice = {
        .kind = CAIRN_MESSAGE_EVENT,
        .event = {.kind = CAIRN_EVENT_ROOM_CLOSES,
            .slot = CAIRN_SLOT_NONE,
            .tick = closed->scheduler.tick,
            .reason_text = reason},
    };
    while (closed->members != NULL) {
        cairn_session_dispatch(server, closed->members, CAIRN_SESSION_EVENT_ROOM_CLOSED, &notice);
    }
    cairn_context_emit(&server->context, closed, CAIRN_LOG_INFO, "room_closed", 0, reason, room);
    closed->closing = true;
    if (!closed->job.running) {
        cairn_server_room_reap(server, closed);
    }
    return true;
}

void cairn_server_rooms_destroy(cairn_server *server) {
    while (server->rooms.count > 0) {
        cairn_room *room = server->rooms.rooms[0];
        while (room->members != NULL) {
            cairn_hosted_room_leave(room->members);
        }
        cairn_server_room_reap(server, room);
    }
    cairn_room_table_destroy(&server->rooms);
}

cairn_status cairn_server_room_command(
    cairn_server *server, uint32_t room, const cairn_command *command, uint64_t *tick) {
    cairn_room *told = cairn_room_table_at(&server->rooms, room);
    if (told == NULL || told->closing) {
        return CAIRN_NOT_FOUND;
    }
    cairn_command checked = *command;
    checked.kind = CAIRN_COMMAND_HOST;
    checked.slot = CAIRN_SLOT_OPERATOR;
    const cairn_status status = cairn_command_check(&checked);
    if (status != CAIRN_OK) {
        return status;
    }
    *tick = cairn_inbox_tick(told->inbox);
    return cairn_inbox_edit(told->inbox, &checked, 1) ? CAIRN_OK : CAIRN_CAPACITY;
}

uint32_t cairn_server_room_find(const cairn_server *server, const char *name) {
    return cairn_room_table_find(&server->rooms, name);
}

uint32_t cairn_server_room_next(const cairn_server *server, uint32_t room) {
    return cairn_room_table_next(&server->rooms, room);
}

bool cairn_server_room_read(
    const cairn_server *server, uint32_t room, cairn_server_room_info *out) {
    const cairn_room *read = cairn_room_table_at(&server->rooms, room);
    *out = (cairn_server_room_info){0};
    if (read == NULL) {
        return false;
    }
    *out = (cairn_server_room_info){
        .name = read->name,
        .scene_name = read->scene_name,
        .rules_name = cairn_room_rules_name(read),
        .tick_rate_hz = read->settings.tick_rate_hz,
        .snapshot_rate_hz = read->settings.snapshot_rate_hz,
        .wait_ms = read->settings.wait_ms,
        .busy = read->job.running,
        .recording = read->recording != NULL && cairn_room_recording_is_whole(read->recording),
    };
    return true;
}

const struct cairn_world *cairn_server_world(const cairn_server *server, uint32_t room) {
    const cairn_room *read = cairn_room_table_at(&server->rooms, room);
    return read == NULL || read->job.running ? NULL : read->world;
}

// SPDX-License-Identifier: MIT
#include "server/server_rooms.h"

#include "base/assert.h"
#include "server/control/preparation.h"
#include "server/control/queue.h"
#include "server/session_dispatch.h"

// The interval at which the server checks for empty rooms and finished matches.
#define IDLE_LOOK_NS (CAIRN_NS_PER_S / 4)
// A room is closed this long after its match is over, so that last messages reach the players.
#define OVER_NS CAIRN_NS_PER_S

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
        [CAIRN_ROOM_REFUSED_LOAD] = "the rooms take as much time as they may",
    };
    return (uint32_t)refusal < CAIRN_ROOM_REFUSAL_COUNT ? texts[refusal] : "unknown refusal";
}

void cairn_server_room_reap(cairn_server *server, cairn_room *room) {
    CAIRN_ASSERT(room->members == NULL && !room->job.running);
    cairn_hosted_room_end_recordings(room);
    cairn_statistics_add_closed_room(&server->statistics, room);
    cairn_room_table_remove(&server->rooms, room);
    // To free a large world takes long.
    if (room->trial.world != NULL) {
        cairn_control_dispose_of(server, room->trial.world, NULL);
    }
    cairn_control_dispose_of(server, room->world, room->state_history);
    room->trial.world = room->world = NULL;
    room->state_history = NULL;
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

// Whether the room was empty for its idle_s.
static bool is_idle(cairn_room *room, uint64_t now_ns) {
    if (room->members != NULL || room->settings.idle_s == 0) {
        room->empty_since_ns = 0;
        return false;
    }
    room->empty_since_ns = room->empty_since_ns == 0 ? now_ns : room->empty_since_ns;
    return now_ns - room->empty_since_ns >= room->settings.idle_s * CAIRN_NS_PER_S;
}

static bool is_over(const cairn_room *room, uint64_t now_ns) {
    return room->over_since_ns != 0 && now_ns - room->over_since_ns >= OVER_NS;
}

void cairn_server_rooms_close_idle(cairn_server *server) {
    const uint64_t now_ns = server->context.now_ns;
    if (now_ns - server->idle_looked_ns < IDLE_LOOK_NS) {
        return;
    }
    server->idle_looked_ns = now_ns;
    for (uint32_t id = 0, next; (next = cairn_room_table_next(&server->rooms, id)) != 0;
         id = next) {
        cairn_room *room = cairn_room_table_at(&server->rooms, next);
        if (is_over(room, now_ns)) {
            server->statistics.rooms_over += 1;
            (void)cairn_server_room_destroy(server, now_ns, next, "the match is over");
        } else if (is_idle(room, now_ns)) {
            server->statistics.rooms_idle += 1;
            (void)cairn_server_room_destroy(server, now_ns, next, "the room was empty");
        }
    }
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

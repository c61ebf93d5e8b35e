// SPDX-License-Identifier: MIT
// The verbs that replace a room's world: by its scene's first state, by a save, by an earlier tick.
#include <stdlib.h>

#include "base/assert.h"
#include "server/control/preparation.h"
#include "server/control/verbs.h"
#include "server/core/hosted_room.h"

// Puts the client in the state in which it was admitted.
static void restart_member(const cairn_server_context *context, cairn_session *session) {
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

typedef struct disposal {
    cairn_server_task task; // first
    cairn_world *world;
} disposal;

static void run_disposal(cairn_server_task *task) {
    cairn_world_destroy(((disposal *)task)->world);
}

static void end_disposal(cairn_server_task *task) {
    free(task);
}

// To free a large world takes long: a task does it.
static void dispose_of(cairn_server *server, cairn_world *world) {
    disposal *own = malloc(sizeof *own);
    if (own == NULL) {
        cairn_world_destroy(world);
        return;
    }
    *own = (disposal){.task = {.run = run_disposal, .done = end_disposal}, .world = world};
    cairn_task_start(&server->tasks, &own->task);
}

// Replaces the room's world and everything that depends on it, records the new world and informs
// the clients. `world` becomes the room's own. It has the settings of the room's world, except for
// the seed, and players in the slots of `joined`.
static void swap_world(
    cairn_server *server, cairn_room *room, cairn_world *world, cairn_slot_set joined) {
    const cairn_server_context *context = &server->context;
    CAIRN_ASSERT(!room->job.running && !room->control_wait.waits);
    dispose_of(server, cairn_room_set_world(room, world));
    cairn_inbox_restart(room->inbox, cairn_world_tick(world), &joined);
    cairn_command_log_clear(room->command_log, cairn_world_tick(world));
    cairn_state_history_clear(room->state_history);
    cairn_state_history_save(room->state_history, world);
    const uint32_t speed = room->time_control.speed;
    room->scheduler.tick = cairn_world_tick(world);
    room->time_control.burst_tick = 0;
    room->time_control.stop_tick = UINT64_MAX;
    room->time_control.serve_ns = context->now_ns;
    cairn_tick_scheduler_restart(&room->scheduler, context->now_ns,
        speed == CAIRN_TIME_SPEED_UNLIMITED ? CAIRN_TIME_SPEED_REAL : speed);
    cairn_input_wait_reset(room);
    cairn_lag_replace(room);
    if (room->recording != NULL) {
        cairn_room_recording_replace(room->recording, world);
    }
    if (room->broadcast != NULL) {
        cairn_room_recording_replace(room->broadcast, world);
    }
    cairn_room_replication_replace(room);
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        restart_member(context, member);
    }
    CAIRN_ASSERT(cairn_inbox_tick(room->inbox) == room->scheduler.tick);
}

// By the world that a task has made.
static void swap_prepared(cairn_control_context *c, cairn_slot_set joined) {
    cairn_world *world = c->prepared->world;
    CAIRN_ASSERT(world != NULL);
    c->prepared->world = NULL;
    swap_world(c->server, c->room, world, joined);
}

// Of a world that could not be made.
static cairn_control_refusal refusal_of(cairn_status status) {
    CAIRN_ASSERT(status != CAIRN_OK);
    return status == CAIRN_OUT_OF_MEMORY ? CAIRN_CONTROL_CAPACITY : CAIRN_CONTROL_FOREIGN;
}

cairn_control_refusal cairn_control_on_reset(cairn_control_context *c) {
    cairn_control_preparation *prepared = c->prepared;
    cairn_room *room = c->room;
    if (prepared == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_NAME_UNKNOWN,
            "the server has no scene \"%s\" to reset the room to", room->scene_name);
    }
    if (prepared->status != CAIRN_OK) {
        return cairn_control_refuse(c, refusal_of(prepared->status), "%.200s", prepared->error);
    }
    swap_prepared(c, (cairn_slot_set){{0}});
    room->start_root = room->hash.full;
    return CAIRN_CONTROL_DONE;
}

// A world to decode into: the room's settings, with the seed that the state was created with.
static cairn_status create_world_like(const cairn_room *room, uint64_t seed, cairn_world **out) {
    cairn_world_def def = *cairn_world_settings(room->world);
    def.seed = seed;
    return cairn_world_create(&def, out);
}

static cairn_control_refusal load_prepared(cairn_control_context *c) {
    cairn_control_preparation *prepared = c->prepared;
    if (prepared->status != CAIRN_OK) {
        const char *where = prepared->where == NULL ? "its head" : prepared->where;
        return cairn_control_refuse(c, refusal_of(prepared->status), "%s, in %s",
            cairn_status_text(prepared->status), where);
    }
    swap_prepared(c, prepared->players);
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_load(cairn_control_context *c) {
    const char *name = c->request->load.name;
    if (c->prepared != NULL) {
        return load_prepared(c);
    }
    const cairn_control_save *save = cairn_control_saves_find(c->saves, name);
    if (save == NULL) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_NAME_UNKNOWN, "there is no save \"%.64s\"", name);
    }
    CAIRN_ASSERT(save->received_size < save->size);
    return cairn_control_refuse(c, CAIRN_CONTROL_FOREIGN,
        "the save is incomplete: %zu of %zu bytes", save->received_size, save->size);
}

// The slots whose players the world knew at an earlier tick: undoes every JOIN and LEAVE since
// then.
static cairn_slot_set players_at(const cairn_room *room, uint64_t tick) {
    CAIRN_ASSERT(tick <= room->scheduler.tick);
    cairn_slot_set players = cairn_inbox_joined(room->inbox);
    for (uint64_t at = room->scheduler.tick; at > tick; --at) {
        uint32_t count = 0;
        const cairn_command *commands =
            cairn_command_log_commands(room->command_log, at - 1, &count);
        for (uint32_t i = count; i > 0; --i) {
            const cairn_command *command = &commands[i - 1];
            if (command->kind == CAIRN_COMMAND_JOIN) {
                cairn_slot_set_put(&players, command->slot, false);
            } else if (command->kind == CAIRN_COMMAND_LEAVE) {
                cairn_slot_set_put(&players, command->slot, true);
            }
        }
    }
    return players;
}

static cairn_control_refusal seek_state_history(cairn_control_context *c) {
    cairn_room *room = c->room;
    cairn_world *world = NULL;
    if (cairn_world_fork(room->world, &world) != CAIRN_OK) {
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    const cairn_status status =
        cairn_state_history_load(room->state_history, c->request->seek.tick, world);
    CAIRN_ASSERT(status == CAIRN_OK);
    CAIRN_ASSERT(cairn_world_tick(world) == c->request->seek.tick);
    swap_world(c->server, room, world, players_at(room, c->request->seek.tick));
    return CAIRN_CONTROL_DONE;
}

// A copy with the room's own rules. NULL if the settings differ.
static cairn_world *copy_with_rules_of(const cairn_room *room, const cairn_world *found) {
    cairn_world *world = NULL;
    if (create_world_like(room, cairn_world_settings(found)->seed, &world) != CAIRN_OK) {
        return NULL;
    }
    if (cairn_world_copy(world, found) != CAIRN_OK) {
        cairn_world_destroy(world);
        return NULL;
    }
    return world;
}

static cairn_control_refusal seek_recording(cairn_control_context *c) {
    cairn_room *room = c->room;
    const cairn_server_config *config = &c->server->config;
    if (room->recording == NULL || config->on_seek == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_TICK_GONE,
            "the tick is no longer in memory, and the room has no recording that can be read");
    }
    CAIRN_ASSERT(!room->job.running);
    // A task has read the recording: cairn_control_queue.
    const cairn_world *found = c->prepared == NULL ? NULL : c->prepared->world;
    if (found == NULL) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_TICK_GONE, "the room's recording does not have this tick");
    }
    cairn_world *world = copy_with_rules_of(room, found);
    if (world == NULL) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_FOREIGN, "the recording's world has other settings");
    }
    swap_world(c->server, room, world, cairn_inbox_joined(room->inbox));
    return CAIRN_CONTROL_DONE;
}

bool cairn_control_seek_is_in_memory(const cairn_room *room, uint64_t tick) {
    return cairn_state_history_holds(room->state_history, tick) &&
           tick >= cairn_command_log_oldest(room->command_log);
}

cairn_control_refusal cairn_control_on_seek(cairn_control_context *c) {
    return cairn_control_seek_is_in_memory(c->room, c->request->seek.tick) ? seek_state_history(c)
                                                                           : seek_recording(c);
}

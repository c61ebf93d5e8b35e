// SPDX-License-Identifier: MIT
#include "server/control/preparation.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "server/core/room_opening.h"

// Copies for a DIFF in as many turns, before both worlds are copied in one.
#define DIFF_COPIES_MAX 8
// Tasks that may be out when another one is to free a world: while tasks hang, nothing piles up.
#define DISPOSALS_MAX 16

// The first hash of a world takes longer than later ones, the first state of its history too, and
// counting looks at every body.
// Without memory for the save the recording makes its own, or ends there.
static void make_ready(cairn_control_preparation *own) {
    if (own->world != NULL) {
        (void)cairn_world_hash_read(own->world);
        own->population = cairn_world_population_read(own->world);
        if (own->states != NULL) {
            cairn_state_history_save(own->states, own->world);
        }
        own->saved =
            own->recorded ? cairn_saved_world_of(own->world) : (cairn_saved_world){.bytes = NULL};
    }
}

static void run_ready(cairn_server_task *task) {
    make_ready((cairn_control_preparation *)task);
}

// To free large worlds takes long: tasks do it if they can.
static void drop_worlds(cairn_control_preparation *own) {
    cairn_world_destroy(own->world);
    cairn_world_destroy(own->other);
    own->world = own->other = NULL;
}

static void run_save(cairn_server_task *task) {
    cairn_control_preparation *own = (cairn_control_preparation *)task;
    own->size = cairn_world_encode_size(own->world);
    own->bytes = malloc(own->size);
    if (own->bytes != NULL) {
        const size_t size = cairn_world_encode(own->world, own->bytes, own->size);
        CAIRN_ASSERT(size == own->size);
    }
    drop_worlds(own);
}

static void run_load(cairn_server_task *task) {
    cairn_control_preparation *own = (cairn_control_preparation *)task;
    cairn_world_def def;
    char rules_name[32];
    own->where = "its head";
    own->status = cairn_world_def_of_encoding(own->bytes, own->size, &def, rules_name);
    own->def.seed = def.seed;
    if (own->status == CAIRN_OK) {
        own->status = cairn_world_create(&own->def, &own->world);
    }
    if (own->status == CAIRN_OK) {
        own->status = cairn_world_decode(own->world, own->bytes, own->size, &own->where);
    }
    if (own->status != CAIRN_OK) {
        cairn_world_destroy(own->world);
        own->world = NULL;
    }
    make_ready(own);
}

static void run_reset(cairn_server_task *task) {
    cairn_control_preparation *own = (cairn_control_preparation *)task;
    own->status = cairn_scene_world_create(&own->scene, own->def.rules, &own->world, own->error);
    make_ready(own);
}

// The world of the recording becomes one with the room's own rules.
static void run_seek(cairn_server_task *task) {
    cairn_control_preparation *own = (cairn_control_preparation *)task;
    cairn_world *found = own->config->on_seek(own->config->user, own->room, own->request.seek.tick);
    if (found == NULL) {
        own->status = CAIRN_NOT_FOUND;
        return;
    }
    own->def.seed = cairn_world_settings(found)->seed;
    own->status = cairn_world_create(&own->def, &own->world);
    if (own->status == CAIRN_OK) {
        own->status = cairn_world_copy(own->world, found);
    }
    cairn_world_destroy(found);
    if (own->status != CAIRN_OK) {
        drop_worlds(own);
    }
    make_ready(own);
}

static void run_diff(cairn_server_task *task) {
    cairn_control_preparation *own = (cairn_control_preparation *)task;
    own->difference_count =
        cairn_world_diff(own->world, own->other, own->differences, CAIRN_CONTROL_DIFFERENCES_MAX);
    drop_worlds(own);
}

static void finish(cairn_server_task *task) {
    cairn_control_preparation *own = (cairn_control_preparation *)task;
    if (own->request.verb == CAIRN_CONTROL_LOAD) {
        cairn_control_saves_take_back(own->saves);
        own->bytes = NULL;
    }
    own->done = true;
}

// Without memory the copies find it themselves.
static void run_reserve(cairn_server_task *task) {
    cairn_control_preparation *own = (cairn_control_preparation *)task;
    cairn_world **const copies[2] = {&own->world, &own->other};
    for (uint32_t i = 0; i < own->reserves; ++i) {
        (void)cairn_fork_reserve(&own->size_of[i], copies[i]);
    }
}

static void finish_reserve(cairn_server_task *task) {
    cairn_control_preparation *own = (cairn_control_preparation *)task;
    static void (*const runs[CAIRN_CONTROL_VERB_COUNT + 1])(cairn_server_task *) = {
        [CAIRN_CONTROL_SAVE] = run_save,
        [CAIRN_CONTROL_DIFF] = run_diff,
        [CAIRN_CONTROL_SEEK] = run_ready,
        [CAIRN_CONTROL_FORK] = run_ready};
    own->task.run = runs[own->request.verb];
    own->task.done = finish;
    own->copying = true;
    CAIRN_ASSERT(own->task.run != NULL);
}

static void begin_load(cairn_control_preparation *own, const cairn_control_save *save) {
    own->task.run = run_load;
    own->players = save->players;
    own->bytes = save->bytes;
    own->size = save->size;
    cairn_control_saves_lend(own->saves, save);
}

cairn_room *cairn_control_other_room(cairn_server *server, const cairn_control_request *request) {
    const char *name = request->diff.other_room;
    return name[0] == '\0'
               ? NULL
               : cairn_room_table_at(&server->rooms, cairn_server_room_find(server, name));
}

cairn_status cairn_control_copy_world(const cairn_world *from, cairn_world **copy, bool *copied) {
    cairn_status status = *copy == NULL ? CAIRN_NOT_FOUND
                          : *copied     ? cairn_world_copy(*copy, from)
                                        : cairn_fork_fill(*copy, from);
    if (status != CAIRN_OK) {
        cairn_world_destroy(*copy);
        status = cairn_world_fork(from, copy);
    }
    *copied = status == CAIRN_OK;
    return status;
}

// Copies the room's world unless the copy is as the room is now. CAIRN_CAPACITY: it was made.
static cairn_status renew_copy(
    const cairn_room *room, cairn_world **copy, bool *copied, cairn_hash128 *root) {
    if (*copied && cairn_hash_equal(*root, room->hash.full)) {
        return CAIRN_OK;
    }
    const cairn_status status = cairn_control_copy_world(room->world, copy, copied);
    *root = room->hash.full;
    return status == CAIRN_OK ? CAIRN_CAPACITY : status;
}

// The copies of two large worlds, one at each call so that none takes long, until both are as their
// rooms are now; after a while, for rooms that go on at every call, both at one. CAIRN_OK: the task
// may start. CAIRN_CAPACITY: another call is needed.
static cairn_status copy_worlds(
    cairn_control_preparation *own, const cairn_room *room, const cairn_room *other) {
    if (other == NULL || other->job.running) {
        return CAIRN_NOT_FOUND;
    }
    const bool both = own->copies >= DIFF_COPIES_MAX;
    cairn_status status = renew_copy(room, &own->world, &own->copied[0], &own->root);
    if (status == CAIRN_OK || (status == CAIRN_CAPACITY && both)) {
        status = renew_copy(other, &own->other, &own->copied[1], &own->other_root);
    }
    own->copies += status == CAIRN_CAPACITY ? 1 : 0;
    own->tick = room->scheduler.tick;
    return status == CAIRN_CAPACITY && both ? CAIRN_OK : status;
}

// The slots that had a player at an earlier tick: undoes every JOIN and LEAVE since then.
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

// The tick of a SEEK or FORK; the room's own if the request names none.
static uint64_t tick_of(const cairn_room *room, const cairn_control_request *request) {
    return request->verb == CAIRN_CONTROL_SEEK                             ? request->seek.tick
           : request->verb == CAIRN_CONTROL_FORK && request->fork.has_tick ? request->fork.tick
                                                                           : room->scheduler.tick;
}

static bool is_in_memory(const cairn_room *room, const cairn_control_request *request) {
    const uint64_t tick = tick_of(room, request);
    return request->verb == CAIRN_CONTROL_SEEK
               ? cairn_state_history_holds(room->state_history, tick) &&
                     tick >= cairn_command_log_oldest(room->command_log)
               : tick == room->scheduler.tick ||
                     cairn_state_history_holds(room->state_history, tick);
}

// A copy of the room's world, and at a later call the state of the tick. CAIRN_CAPACITY: another
// call is needed.
static cairn_status copy_tick(
    cairn_control_preparation *own, const cairn_room *room, const cairn_control_request *request) {
    const uint64_t tick = tick_of(room, request);
    if (!own->copied[0]) {
        own->players = cairn_inbox_joined(room->inbox);
        own->root = room->hash.full;
        own->tick = room->scheduler.tick;
        const cairn_status copied =
            cairn_control_copy_world(room->world, &own->world, &own->copied[0]);
        const bool present = cairn_world_tick(room->world) == tick;
        return copied != CAIRN_OK || (present && request->verb != CAIRN_CONTROL_SEEK)
                   ? copied
                   : CAIRN_CAPACITY;
    }
    if (request->verb == CAIRN_CONTROL_SEEK) {
        own->players = players_at(room, tick);
    }
    return cairn_state_history_load(room->state_history, tick, own->world);
}

static void continue_copies(cairn_control_preparation *own, cairn_server *server,
    const cairn_room *room, const cairn_control_request *request) {
    own->status = request->verb == CAIRN_CONTROL_DIFF
                      ? copy_worlds(own, room, cairn_control_other_room(server, request))
                      : copy_tick(own, room, request);
    if (own->status == CAIRN_CAPACITY) {
        return;
    }
    own->copying = false;
    if (own->status == CAIRN_OK) {
        cairn_task_start(&server->tasks, &own->task);
    } else {
        drop_worlds(own);
        own->done = true;
    }
}

// The scene is valid until the next one is looked for: `is_needed` has just found it, and no other
// request looks for one before the task has ended.
static void begin_reset(cairn_control_preparation *own, const cairn_scene *scene) {
    CAIRN_ASSERT(scene != NULL);
    const cairn_control_reset_request *request = &own->request.reset;
    own->task.run = run_reset;
    own->scene = *scene;
    own->scene.world.tick_rate_hz = own->def.tick_rate_hz;
    own->scene.world.seed = request->has_seed ? request->seed : scene->world.seed;
}

// What a request names, if it is there.
typedef struct named {
    const cairn_control_save *save;    // LOAD
    const cairn_scene *scene;          // RESET
    const cairn_room *other;           // DIFF
    cairn_server_room_config new_room; // ROOM_CREATE; without a scene the verb refuses
    bool of_template;
} named;

// As begin_reset. A template's rooms have the seed of its scene.
static void begin_new_room(cairn_control_preparation *own, const named *found) {
    const cairn_control_room_create_request *request = &own->request.room_create;
    const cairn_server_room_config *config = &found->new_room;
    own->task.run = run_reset;
    own->scene = *config->scene;
    own->def.rules = config->rules;
    if (config->tick_rate_hz != 0) {
        own->scene.world.tick_rate_hz = config->tick_rate_hz;
    }
    if (request->has_seed && !found->of_template) {
        own->scene.world.seed = request->seed;
    }
}

static named find_named(cairn_server *server, const cairn_room *room, cairn_control_saves *saves,
    const cairn_control_request *request) {
    const cairn_server_config *config = &server->config;
    named found = {0};
    if (request->verb == CAIRN_CONTROL_LOAD) {
        found.save = cairn_control_saves_find(saves, request->load.name);
    } else if (request->verb == CAIRN_CONTROL_RESET && room != NULL && config->find_scene != NULL) {
        found.scene = config->find_scene(config->user, room->scene_name);
    } else if (request->verb == CAIRN_CONTROL_DIFF) {
        found.other = cairn_control_other_room(server, request);
    } else if (request->verb == CAIRN_CONTROL_ROOM_CREATE) {
        (void)cairn_control_new_room(server, request, &found.new_room, &found.of_template);
    }
    return found;
}

// Whether the request looks for a scene while one is used, and so has to wait.
static bool waits_for_scene(
    const cairn_control_preparation *own, const cairn_control_request *request) {
    return own->begun &&
           (request->verb == CAIRN_CONTROL_RESET || request->verb == CAIRN_CONTROL_ROOM_CREATE);
}

bool cairn_control_is_tried(uint32_t verb) {
    const cairn_control_verb_row *row = cairn_control_verb_find_row(verb);
    return row != NULL && (row->action == cairn_control_on_edit || verb == CAIRN_CONTROL_FRACTURE ||
                              verb == CAIRN_CONTROL_ACT);
}

static bool is_needed(cairn_server *server, const cairn_room *room,
    const cairn_control_request *request, const named *found) {
    if (request->verb == CAIRN_CONTROL_ROOM_CREATE) { // the verb refuses what cannot be opened
        return found->new_room.scene != NULL &&
               cairn_server_room_check(server, &found->new_room) == CAIRN_ROOM_CREATED;
    }
    switch (room == NULL ? 0 : request->verb) {
    case CAIRN_CONTROL_SAVE:
        return true;
    case CAIRN_CONTROL_LOAD: // the verb refuses other saves
        return found->save != NULL && found->save->received_size == found->save->size;
    case CAIRN_CONTROL_RESET: // it refuses a scene that is not found
        return found->scene != NULL;
    case CAIRN_CONTROL_SEEK:
        return is_in_memory(room, request) ||
               (room->recording != NULL && server->config.on_seek != NULL);
    case CAIRN_CONTROL_FORK: // it refuses a tick that is not held
        return is_in_memory(room, request);
    case CAIRN_CONTROL_DIFF: // the verb refuses other rooms
        return found->other != NULL && !found->other->job.running;
    default:
        return room != NULL && cairn_control_is_tried(request->verb) && room->trial.world == NULL;
    }
}

// For copies of the room's world, and of the other one's if that is not NULL.
static void begin_copies(
    cairn_control_preparation *own, const cairn_room *room, const cairn_room *other) {
    own->task = (cairn_server_task){.run = run_reserve, .done = finish_reserve};
    own->size_of[own->reserves++] = cairn_fork_size_of(room->world);
    if (other != NULL) {
        own->size_of[own->reserves++] = cairn_fork_size_of(other->world);
    }
}

// Memory for the trial of a room's first edit, which copies the world later.
static void begin_trial(cairn_control_preparation *own, const cairn_room *room) {
    own->task.run = run_reserve;
    own->size_of[own->reserves++] = cairn_fork_size_of(room->world);
}

// The room keeps the memory, also if the edit is refused.
static void keep_trial(cairn_control_preparation *own, cairn_room *room) {
    if (own->done && cairn_control_is_tried(own->request.verb) && room->trial.world == NULL) {
        room->trial = (cairn_edit_trial){.world = own->world};
        own->world = NULL;
    }
}

static void begin(cairn_control_preparation *own, const cairn_room *room, const named *found) {
    const uint32_t verb = own->request.verb;
    if (verb == CAIRN_CONTROL_LOAD) {
        begin_load(own, found->save);
    } else if (verb == CAIRN_CONTROL_RESET) {
        begin_reset(own, found->scene);
    } else if (verb == CAIRN_CONTROL_ROOM_CREATE) {
        begin_new_room(own, found);
    } else if (cairn_control_is_tried(verb)) {
        begin_trial(own, room);
    } else if (verb == CAIRN_CONTROL_SEEK && !is_in_memory(room, &own->request)) {
        own->task.run = run_seek;
        own->players = cairn_inbox_joined(room->inbox);
    } else {
        begin_copies(own, room, found->other);
    }
}

// Whether what is prepared is still of use: another operator may have closed the room and opened
// another of its name, and a tick may have left the memory before it was copied.
static bool is_still_of(const cairn_control_preparation *own, const cairn_room *room,
    const cairn_control_request *request) {
    if (own->request.verb == CAIRN_CONTROL_ROOM_CREATE) {
        return true;
    }
    return room != NULL && room->id == own->room_id &&
           (!own->copying || request->verb == CAIRN_CONTROL_DIFF || is_in_memory(room, request));
}

bool cairn_control_replaces_world(uint32_t verb) {
    return verb == CAIRN_CONTROL_LOAD || verb == CAIRN_CONTROL_RESET || verb == CAIRN_CONTROL_SEEK;
}

static void of_room(cairn_control_preparation *own, const cairn_room *room) {
    own->room_id = room->id;
    own->recorded = room->recording != NULL || room->broadcast != NULL;
    own->def = *cairn_world_settings(room->world);
    memcpy(own->room, room->name, sizeof own->room);
}

bool cairn_control_prepare(cairn_control_preparation *preparation, cairn_server *server,
    cairn_room *room, cairn_control_saves *saves, const cairn_control_asked *asked) {
    const cairn_control_request *request = asked->request;
    if (cairn_control_preparation_is_of(preparation, asked)) {
        const bool usable = is_still_of(preparation, room, request);
        if (usable && preparation->copying) {
            continue_copies(preparation, server, room, request);
        }
        if (usable) {
            keep_trial(preparation, room);
        }
        if (usable || preparation->task.out) {
            return preparation->done;
        }
        cairn_control_preparation_end(preparation);
    }
    if (waits_for_scene(preparation, request)) {
        return false;
    }
    const named found = find_named(server, room, saves, request);
    // An edit does not wait for what is prepared for others: it finds memory itself.
    if (!is_needed(server, room, request, &found) ||
        (preparation->begun && cairn_control_is_tried(request->verb))) {
        return true;
    }
    // A recording is searched once it is written.
    if (preparation->begun ||
        (request->verb == CAIRN_CONTROL_SEEK && !is_in_memory(room, request) &&
            !cairn_room_recording_flush(room->recording))) {
        return false;
    }
    *preparation = (cairn_control_preparation){.task = {.done = finish},
        .begun = true,
        .client = asked->client,
        .client_id = asked->client_id,
        .request = *request,
        .config = &server->config,
        .saves = saves};
    if (request->verb == CAIRN_CONTROL_ROOM_CREATE) {
        preparation->recorded =
            server->config.on_record != NULL || server->config.on_segment != NULL;
    } else {
        of_room(preparation, room);
    }
    if (cairn_control_replaces_world(request->verb)) {
        // without memory the swap does it
        (void)cairn_state_history_create_like(room->state_history, &preparation->states);
    }
    begin(preparation, room, &found);
    cairn_task_start(&server->tasks, &preparation->task);
    if (preparation->copying) {
        continue_copies(preparation, server, room, request);
    }
    keep_trial(preparation, room);
    return preparation->done;
}

bool cairn_control_preparation_is_of(
    const cairn_control_preparation *preparation, const cairn_control_asked *asked) {
    return preparation->begun && preparation->client == asked->client &&
           preparation->client_id == asked->client_id &&
           preparation->request.number == asked->request->number;
}

void cairn_control_preparation_end(cairn_control_preparation *preparation) {
    CAIRN_ASSERT(!preparation->task.out);
    drop_worlds(preparation);
    cairn_state_history_destroy(preparation->states);
    free(preparation->saved.bytes);
    free(preparation->bytes);
    *preparation = (cairn_control_preparation){.begun = false};
}

typedef struct disposal {
    cairn_server_task task; // first
    cairn_world *world;
    cairn_state_history *states;
} disposal;

static void run_disposal(cairn_server_task *task) {
    disposal *own = (disposal *)task;
    cairn_state_history_destroy(own->states);
    cairn_world_destroy(own->world);
}

static void end_disposal(cairn_server_task *task) {
    free(task);
}

void cairn_control_dispose_of(
    cairn_server *server, cairn_world *world, cairn_state_history *states) {
    disposal *own = server->tasks.out < DISPOSALS_MAX ? malloc(sizeof *own) : NULL;
    if (own == NULL) {
        cairn_state_history_destroy(states);
        cairn_world_destroy(world);
        return;
    }
    *own = (disposal){
        .task = {.run = run_disposal, .done = end_disposal}, .world = world, .states = states};
    cairn_task_start(&server->tasks, &own->task);
}

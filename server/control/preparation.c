// SPDX-License-Identifier: MIT
#include "server/control/preparation.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

// The first hash of a world takes longer than later ones, so it is taken here.
static void warm_hash(const cairn_world *world) {
    if (world != NULL) {
        (void)cairn_world_hash_read(world);
    }
}

static void run_save(cairn_server_task *task) {
    cairn_control_preparation *own = (cairn_control_preparation *)task;
    own->size = cairn_world_encode_size(own->world);
    own->bytes = malloc(own->size);
    if (own->bytes != NULL) {
        const size_t size = cairn_world_encode(own->world, own->bytes, own->size);
        CAIRN_ASSERT(size == own->size);
    }
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
    warm_hash(own->world);
}

static void run_reset(cairn_server_task *task) {
    cairn_control_preparation *own = (cairn_control_preparation *)task;
    own->status = cairn_scene_world_create(&own->scene, own->def.rules, &own->world, own->error);
    warm_hash(own->world);
}

static void run_seek(cairn_server_task *task) {
    cairn_control_preparation *own = (cairn_control_preparation *)task;
    own->world = own->config->on_seek(own->config->user, own->room, own->request.seek.tick);
}

static void drop_worlds(cairn_control_preparation *own) {
    cairn_world_destroy(own->world);
    cairn_world_destroy(own->other);
    own->world = own->other = NULL;
}

// To free large worlds takes long as well.
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

static bool begin_save(cairn_control_preparation *own, const cairn_room *room) {
    own->task.run = run_save;
    own->players = cairn_inbox_joined(room->inbox);
    own->root = room->hash.full;
    // If there is not enough memory for the copy, `bytes` stays NULL and the verb refuses.
    return cairn_world_fork(room->world, &own->world) == CAIRN_OK;
}

static bool begin_load(
    cairn_control_preparation *own, const cairn_room *room, const cairn_control_save *save) {
    own->task.run = run_load;
    own->def = *cairn_world_settings(room->world);
    own->players = save->players;
    own->bytes = save->bytes;
    own->size = save->size;
    cairn_control_saves_lend(own->saves, save);
    return true;
}

cairn_room *cairn_control_other_room(cairn_server *server, const cairn_control_request *request) {
    const char *name = request->diff.other_room;
    return name[0] == '\0'
               ? NULL
               : cairn_room_table_at(&server->rooms, cairn_server_room_find(server, name));
}

// The copies of two large worlds, one at each call so that none takes long, and then both again at
// one time. CAIRN_OK: the task may start. CAIRN_CAPACITY: another call is needed.
static cairn_status copy_worlds(
    cairn_control_preparation *own, const cairn_room *room, const cairn_room *other) {
    if (other == NULL || other->job.running) {
        return CAIRN_NOT_FOUND;
    }
    if (own->world == NULL || own->other == NULL) {
        const bool first = own->world == NULL;
        const cairn_status forked =
            cairn_world_fork(first ? room->world : other->world, first ? &own->world : &own->other);
        return forked == CAIRN_OK ? CAIRN_CAPACITY : forked;
    }
    own->tick = room->scheduler.tick;
    own->root = room->hash.full;
    const cairn_status copied = cairn_world_copy(own->world, room->world);
    return copied == CAIRN_OK ? cairn_world_copy(own->other, other->world) : copied;
}

static void continue_diff(cairn_control_preparation *own, cairn_server *server,
    const cairn_room *room, const cairn_control_request *request) {
    const cairn_room *other = cairn_control_other_room(server, request);
    own->status = copy_worlds(own, room, other);
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
static bool begin_reset(
    cairn_control_preparation *own, const cairn_room *room, const cairn_scene *scene) {
    CAIRN_ASSERT(scene != NULL);
    const cairn_control_reset_request *request = &own->request.reset;
    own->task.run = run_reset;
    own->def = *cairn_world_settings(room->world);
    own->scene = *scene;
    own->scene.world.tick_rate_hz = own->def.tick_rate_hz;
    own->scene.world.seed = request->has_seed ? request->seed : scene->world.seed;
    return true;
}

// What a request names, if it is there.
typedef struct named {
    const cairn_control_save *save; // LOAD
    const cairn_scene *scene;       // RESET
} named;

static named find_named(cairn_server *server, const cairn_room *room, cairn_control_saves *saves,
    const cairn_control_request *request) {
    const cairn_server_config *config = &server->config;
    named found = {0};
    if (request->verb == CAIRN_CONTROL_LOAD) {
        found.save = cairn_control_saves_find(saves, request->load.name);
    } else if (request->verb == CAIRN_CONTROL_RESET && room != NULL && config->find_scene != NULL) {
        found.scene = config->find_scene(config->user, room->scene_name);
    }
    return found;
}

// Whether the request looks for a scene while one is used, and so has to wait.
static bool waits_for_scene(
    const cairn_control_preparation *own, const cairn_control_request *request) {
    return own->begun &&
           (request->verb == CAIRN_CONTROL_RESET || (request->verb == CAIRN_CONTROL_ROOM_CREATE &&
                                                        own->request.verb == CAIRN_CONTROL_RESET));
}

static bool is_needed(cairn_server *server, const cairn_room *room,
    const cairn_control_request *request, const named *found) {
    switch (room == NULL ? 0 : request->verb) {
    case CAIRN_CONTROL_SAVE:
        return true;
    case CAIRN_CONTROL_LOAD: // the verb refuses other saves
        return found->save != NULL && found->save->received_size == found->save->size;
    case CAIRN_CONTROL_RESET: // it refuses a scene that is not found
        return found->scene != NULL;
    case CAIRN_CONTROL_SEEK:
        return room->recording != NULL && server->config.on_seek != NULL &&
               !cairn_control_seek_is_in_memory(room, request->seek.tick);
    case CAIRN_CONTROL_DIFF: { // the verb refuses other rooms
        const cairn_room *other = cairn_control_other_room(server, request);
        return other != NULL && !other->job.running;
    }
    default:
        return false;
    }
}

static bool begin(cairn_control_preparation *own, const cairn_room *room, const named *found) {
    switch (own->request.verb) {
    case CAIRN_CONTROL_SAVE:
        return begin_save(own, room);
    case CAIRN_CONTROL_LOAD:
        return begin_load(own, room, found->save);
    case CAIRN_CONTROL_RESET:
        return begin_reset(own, room, found->scene);
    case CAIRN_CONTROL_DIFF:
        own->task.run = run_diff;
        own->copying = true;
        return true;
    default:
        own->task.run = run_seek;
        return true;
    }
}

bool cairn_control_prepare(cairn_control_preparation *preparation, cairn_server *server,
    cairn_room *room, cairn_control_saves *saves, const cairn_control_asked *asked) {
    const cairn_control_request *request = asked->request;
    if (cairn_control_preparation_is_of(preparation, asked)) {
        if (preparation->copying) {
            continue_diff(preparation, server, room, request);
        }
        return preparation->done;
    }
    if (waits_for_scene(preparation, request)) {
        return false;
    }
    const named found = find_named(server, room, saves, request);
    if (!is_needed(server, room, request, &found)) {
        return true;
    }
    // A recording is searched once it is written.
    if (preparation->begun ||
        (request->verb == CAIRN_CONTROL_SEEK && !cairn_room_recording_flush(room->recording))) {
        return false;
    }
    *preparation = (cairn_control_preparation){.task = {.done = finish},
        .begun = true,
        .client = asked->client,
        .client_id = asked->client_id,
        .request = *request,
        .config = &server->config,
        .saves = saves};
    memcpy(preparation->room, room->name, sizeof preparation->room);
    if (!begin(preparation, room, &found)) {
        preparation->done = true;
        return true;
    }
    if (!preparation->copying) {
        cairn_task_start(&server->tasks, &preparation->task);
    }
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
    free(preparation->bytes);
    *preparation = (cairn_control_preparation){.begun = false};
}

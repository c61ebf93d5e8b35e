// SPDX-License-Identifier: MIT
// The verbs that put one world in another's place, and the saves that such a world can come from.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/scene_world.h"
#include "recording/recorder.h"
#include "server/control/parts.h"
#include "server/core/world_swap.h"

#define SAVES_SIZE_MAX ((size_t)64 * 1024 * 1024)
#define PIECE_SIZE_MAX (16 * 1024)
_Static_assert(PIECE_SIZE_MAX <= CAIRN_CONTROL_BYTES_OUT_MAX, "a piece fits an answer");

static cairn_control_refusal running(cairn_control_visit *v) {
    return cairn_control_refuse(
        v, CAIRN_CONTROL_BUSY, "another request makes the room run; pause it first");
}

cairn_control_refusal cairn_control_reset(cairn_control_visit *v) {
    cairn_room *room = v->room;
    const cairn_server_config *config = &v->server->config;
    if (room->control_wait.waits) {
        return running(v);
    }
    const cairn_scene *found =
        config->find_scene == NULL ? NULL : config->find_scene(config->user, room->scene_name);
    if (found == NULL) {
        return cairn_control_refuse(v, CAIRN_CONTROL_NAME_UNKNOWN,
            "the server has no scene \"%s\" to begin with again", room->scene_name);
    }
    cairn_scene scene = *found;
    const cairn_world_def *def = cairn_world_settings(room->world);
    scene.world.tick_rate_hz = def->tick_rate_hz;
    scene.world.seed =
        (v->ask->mask & CAIRN_CONTROL_MASK_GIVEN) != 0 ? v->ask->seed : scene.world.seed;
    char words[CAIRN_SCENE_ERROR_SIZE];
    cairn_world *world = NULL;
    if (cairn_scene_world_create(&scene, def->rules, &world, words) != CAIRN_OK) {
        return cairn_control_refuse(v, CAIRN_CONTROL_FOREIGN, "%.200s", words);
    }
    cairn_world_swap(&v->server->context, room, world, 0);
    room->start_root = room->hash.full;
    return CAIRN_CONTROL_DONE;
}

static cairn_control_save *find_save(cairn_control_visit *v) {
    for (uint32_t i = 0; i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        cairn_control_save *save = &v->desk->saves[i];
        if (save->bytes != NULL && strcmp(save->name, v->ask->name) == 0) {
            return save;
        }
    }
    return NULL;
}

static void drop_save(cairn_control_save *save) {
    free(save->bytes);
    *save = (cairn_control_save){0};
}

void cairn_control_drop_saves(struct cairn_control_desk *desk) {
    for (uint32_t i = 0; i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        drop_save(&desk->saves[i]);
    }
}

static size_t saves_size(const struct cairn_control_desk *desk) {
    size_t size = 0;
    for (uint32_t i = 0; i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        size += desk->saves[i].size;
    }
    return size;
}

// An empty save of this name and size; an older one of the name gives way. NULL after a refusal.
static cairn_control_save *make_save(
    cairn_control_visit *v, size_t size, cairn_control_refusal *refusal) {
    const size_t name_size = strlen(v->ask->name);
    if (name_size == 0 || name_size > CAIRN_NAME_SIZE_MAX) {
        *refusal = cairn_control_refuse(
            v, CAIRN_CONTROL_NAME_TAKEN, "a name has 1 to %d characters", CAIRN_NAME_SIZE_MAX);
        return NULL;
    }
    cairn_control_save *place = find_save(v);
    const size_t freed = place == NULL ? 0 : place->size;
    for (uint32_t i = 0; place == NULL && i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        place = v->desk->saves[i].bytes == NULL ? &v->desk->saves[i] : NULL;
    }
    const bool fits = size > 0 && size <= SAVES_SIZE_MAX - (saves_size(v->desk) - freed);
    uint8_t *bytes = place != NULL && fits ? malloc(size) : NULL;
    if (bytes == NULL) {
        *refusal = cairn_control_refuse(v, CAIRN_CONTROL_CAPACITY,
            "%d saves of together 64 MiB are kept", CAIRN_CONTROL_SAVES_MAX);
        return NULL;
    }
    drop_save(place);
    *place = (cairn_control_save){.bytes = bytes, .size = size};
    snprintf(place->name, sizeof place->name, "%s", v->ask->name);
    return place;
}

cairn_control_refusal cairn_control_save_make(cairn_control_visit *v) {
    cairn_control_refusal refusal = CAIRN_CONTROL_DONE;
    const cairn_world *world = v->room->world;
    cairn_control_save *save = make_save(v, cairn_world_encode_size(world), &refusal);
    if (save == NULL) {
        return refusal;
    }
    const size_t size = cairn_world_encode(world, save->bytes, save->size);
    CAIRN_ASSERT(size == save->size);
    save->filled = size;
    save->joined = cairn_inbox_joined(v->room->inbox);
    v->answer.count = (uint32_t)size;
    return CAIRN_CONTROL_DONE;
}

static cairn_control_refusal unknown_save(cairn_control_visit *v) {
    return cairn_control_refuse(
        v, CAIRN_CONTROL_NAME_UNKNOWN, "there is no save \"%.64s\"", v->ask->name);
}

// A world to decode into: the room's def, with the seed that the state was made with.
static cairn_status create_like(const cairn_room *room, uint64_t seed, cairn_world **out) {
    cairn_world_def def = *cairn_world_settings(room->world);
    def.seed = seed;
    return cairn_world_create(&def, out);
}

static cairn_control_refusal load_bytes(
    cairn_control_visit *v, const uint8_t *bytes, size_t size, uint64_t joined) {
    cairn_world_def def;
    char rules_name[32];
    cairn_world *world = NULL;
    const char *where = "its head";
    cairn_status status = cairn_world_def_of_encoding(bytes, size, &def, rules_name);
    if (status == CAIRN_OK) {
        status = create_like(v->room, def.seed, &world);
    }
    if (status == CAIRN_OK) {
        status = cairn_world_decode(world, bytes, size, &where);
    }
    if (status != CAIRN_OK) {
        cairn_world_destroy(world);
        return cairn_control_refuse(v, CAIRN_CONTROL_FOREIGN, "%s, in %s",
            cairn_status_text(status), where == NULL ? "its head" : where);
    }
    cairn_world_swap(&v->server->context, v->room, world, joined);
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_load(cairn_control_visit *v) {
    const cairn_control_save *save = find_save(v);
    if (v->room->control_wait.waits) {
        return running(v);
    }
    if (save == NULL) {
        return unknown_save(v);
    }
    if (save->filled != save->size) {
        return cairn_control_refuse(v, CAIRN_CONTROL_FOREIGN, "the save is not whole yet");
    }
    return load_bytes(v, save->bytes, save->size, save->joined);
}

cairn_control_refusal cairn_control_saves(cairn_control_visit *v) {
    for (uint32_t i = 0; i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        const cairn_control_save *save = &v->desk->saves[i];
        if (save->bytes != NULL) {
            cairn_control_line(v, "%s %zu", save->name, save->size);
            v->answer.count += 1;
        }
    }
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_save_read(cairn_control_visit *v) {
    const cairn_control_save *save = find_save(v);
    if (save == NULL) {
        return unknown_save(v);
    }
    if (v->ask->tick > save->filled) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_OUT_OF_RANGE, "the save has %zu bytes", save->filled);
    }
    const size_t left = save->filled - (size_t)v->ask->tick;
    cairn_control_add_bytes(
        v, save->bytes + v->ask->tick, left < PIECE_SIZE_MAX ? left : PIECE_SIZE_MAX);
    cairn_control_add_id(v, (uint32_t)save->joined);
    cairn_control_add_id(v, (uint32_t)(save->joined >> 32));
    v->answer.count = (uint32_t)save->size;
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_save_write(cairn_control_visit *v) {
    cairn_control_refusal refusal = CAIRN_CONTROL_DONE;
    cairn_control_save *save =
        v->ask->tick == 0 ? make_save(v, v->ask->count, &refusal) : find_save(v);
    if (save == NULL) {
        return refusal == CAIRN_CONTROL_DONE ? unknown_save(v) : refusal;
    }
    const bool next = v->ask->tick == save->filled && v->ask->count == save->size;
    if (!next || v->ask->byte_count > save->size - save->filled) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_OUT_OF_RANGE, "%zu bytes are there, of %zu", save->filled, save->size);
    }
    memcpy(save->bytes + save->filled, v->ask->bytes, v->ask->byte_count);
    save->filled += v->ask->byte_count;
    save->joined = v->ask->seed;
    v->answer.count = (uint32_t)save->filled;
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_save_delete(cairn_control_visit *v) {
    cairn_control_save *save = find_save(v);
    if (save == NULL) {
        return unknown_save(v);
    }
    drop_save(save);
    return CAIRN_CONTROL_DONE;
}

// Whose players the world knew at an earlier tick: what joined since then had not, what left had.
static uint64_t joined_at(const cairn_room *room, uint64_t tick) {
    uint64_t joined = cairn_inbox_joined(room->inbox);
    for (uint64_t at = room->scheduler.tick; at > tick; --at) {
        uint32_t count = 0;
        const cairn_command *commands =
            cairn_command_log_commands(room->command_log, at - 1, &count);
        for (uint32_t i = count; i > 0; --i) {
            const cairn_command *command = &commands[i - 1];
            if (command->kind == CAIRN_COMMAND_JOIN) {
                joined &= ~(UINT64_C(1) << command->slot);
            } else if (command->kind == CAIRN_COMMAND_LEAVE) {
                joined |= UINT64_C(1) << command->slot;
            }
        }
    }
    return joined;
}

static cairn_control_refusal seek_past(cairn_control_visit *v) {
    cairn_room *room = v->room;
    cairn_world *world = NULL;
    if (cairn_world_fork(room->world, &world) != CAIRN_OK) {
        return cairn_control_refuse(v, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    const cairn_status status = cairn_state_history_load(room->state_history, v->ask->tick, world);
    CAIRN_ASSERT(status == CAIRN_OK);
    cairn_world_swap(&v->server->context, room, world, joined_at(room, v->ask->tick));
    return CAIRN_CONTROL_DONE;
}

// A copy with the room's own rules; NULL when the settings are others.
static cairn_world *adopt(const cairn_room *room, const cairn_world *found) {
    cairn_world *world = NULL;
    if (create_like(room, cairn_world_settings(found)->seed, &world) != CAIRN_OK) {
        return NULL;
    }
    if (cairn_world_copy(world, found) != CAIRN_OK) {
        cairn_world_destroy(world);
        return NULL;
    }
    return world;
}

static cairn_control_refusal seek_recording(cairn_control_visit *v) {
    cairn_room *room = v->room;
    const cairn_server_config *config = &v->server->config;
    if (room->recorder == NULL || config->on_seek == NULL) {
        return cairn_control_refuse(v, CAIRN_CONTROL_TICK_GONE,
            "the tick is no longer held, and the room has no recording that can be read");
    }
    // What waits to be written goes into the recording before it is read.
    cairn_recorder_keyframe(room->recorder, room->world);
    cairn_world *found = config->on_seek(config->user, room->name, v->ask->tick);
    if (found == NULL) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_TICK_GONE, "the room's recording does not have this tick");
    }
    cairn_world *world = adopt(room, found);
    cairn_world_destroy(found);
    if (world == NULL) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_FOREIGN, "the recording's world has other settings");
    }
    cairn_world_swap(&v->server->context, room, world, cairn_inbox_joined(room->inbox));
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_seek(cairn_control_visit *v) {
    cairn_room *room = v->room;
    if (room->control_wait.waits) {
        return running(v);
    }
    const bool known = cairn_state_history_holds(room->state_history, v->ask->tick) &&
                       v->ask->tick >= cairn_command_log_oldest(room->command_log);
    return known ? seek_past(v) : seek_recording(v);
}

// SPDX-License-Identifier: MIT
#include "server/core/room_opening.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "sim/math/float_env.h"

// Commands of the host in one tick, if there are no operators.
#define HOST_COMMANDS_MAX 16

_Static_assert((int)CAIRN_ROOM_REASON_SIZE >= (int)CAIRN_SCENE_ERROR_SIZE, "an error fits");

static uint64_t load_of(const cairn_room *room) {
    return room->mean_cost_ns * room->settings.tick_rate_hz / 1000000;
}

uint64_t cairn_server_load_permille(const cairn_server *server) {
    uint64_t load = 0;
    for (uint32_t id = 0; (id = cairn_room_table_next(&server->rooms, id)) != 0;) {
        load += load_of(cairn_room_table_at(&server->rooms, id));
    }
    return load;
}

// What rooms of this scene take, the dearest one; without one what the config says.
static uint64_t expected_load(
    const cairn_server *server, const cairn_server_room_config *config, const char *scene_name) {
    uint64_t load = 0;
    for (uint32_t id = 0; (id = cairn_room_table_next(&server->rooms, id)) != 0;) {
        const cairn_room *room = cairn_room_table_at(&server->rooms, id);
        const uint64_t own = strcmp(room->scene_name, scene_name) == 0 ? load_of(room) : 0;
        load = own > load ? own : load;
    }
    const uint32_t of_scene = config->scene != NULL ? config->scene->world.tick_rate_hz : 0;
    const uint64_t rate_hz = config->tick_rate_hz != 0 ? config->tick_rate_hz : of_scene;
    return load > 0 ? load : config->cost_us * rate_hz / 1000;
}

static bool has_time_for(const cairn_server *server, const cairn_server_room_config *config,
    const cairn_room_source *source) {
    const char *of_scene = config->scene != NULL ? config->scene->name : "";
    const char *scene_name = source->world != NULL ? source->scene_name : of_scene;
    const uint64_t most = (uint64_t)server->config.load_max_percent * 10;
    return most == 0 ||
           cairn_server_load_permille(server) + expected_load(server, config, scene_name) <= most;
}

cairn_server_room_refusal cairn_server_room_check(
    const cairn_server *server, const cairn_server_room_config *config) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.";
    CAIRN_ASSERT(config != NULL);
    if (server->draining || server->ends_soon) {
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

cairn_server_room_refusal cairn_server_room_refuse(
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
static cairn_server_room_refusal open_checked(cairn_server *server, uint64_t now_ns,
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
        return cairn_server_room_refuse(server, refusal, id, text);
    }
    const bool inserted = cairn_room_table_insert(&server->rooms, room);
    CAIRN_ASSERT(inserted);
    room->saved = NULL;
    *id = room->id;
    cairn_context_emit(
        &server->context, room, CAIRN_LOG_INFO, "room_created", 0, room->scene_name, room->id);
    return CAIRN_ROOM_CREATED;
}

cairn_server_room_refusal cairn_server_room_open(cairn_server *server, uint64_t now_ns,
    const cairn_server_room_config *config, cairn_room_source *source, uint32_t *room,
    char reason[CAIRN_ROOM_REASON_SIZE]) {
    cairn_server_room_refusal refusal = cairn_server_room_check(server, config);
    if (refusal == CAIRN_ROOM_CREATED && !has_time_for(server, config, source)) {
        refusal = CAIRN_ROOM_REFUSED_LOAD;
    }
    if (reason != NULL) {
        reason[0] = '\0';
    }
    if (refusal != CAIRN_ROOM_CREATED) {
        cairn_world_destroy(source->world);
        return cairn_server_room_refuse(server, refusal, room, reason);
    }
    return open_checked(server, now_ns, config, source, room, reason);
}

cairn_server_room_refusal cairn_server_room_create(cairn_server *server, uint64_t now_ns,
    const cairn_server_room_config *config, uint32_t *room, char reason[CAIRN_ROOM_REASON_SIZE]) {
    cairn_room_source source = {.world = NULL};
    return cairn_server_room_open(server, now_ns, config, &source, room, reason);
}

cairn_server_room_refusal cairn_server_room_open_template(cairn_server *server, uint64_t now_ns,
    const char *template_name, const char *name, cairn_room_source *source, bool *known,
    uint32_t *room, char reason[CAIRN_ROOM_REASON_SIZE]) {
    cairn_server_room_config config = cairn_server_room_config_default();
    *known = server->config.find_template != NULL &&
             server->config.find_template(server->config.user, template_name, &config);
    *room = 0;
    if (!*known) {
        return CAIRN_ROOM_REFUSED_UNKNOWN;
    }
    config.name = name;
    cairn_room_source none = {.world = NULL};
    const cairn_server_room_refusal refusal = cairn_server_room_open(
        server, now_ns, &config, source == NULL ? &none : source, room, reason);
    server->statistics.rooms_on_demand += refusal == CAIRN_ROOM_CREATED ? 1 : 0;
    return refusal;
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
        forked == NULL ? CAIRN_ROOM_REFUSED_UNKNOWN : cairn_server_room_check(server, config);
    cairn_world *world = NULL;
    if (reason != NULL) {
        reason[0] = '\0';
    }
    if (refusal == CAIRN_ROOM_CREATED) {
        refusal = fork_world(forked, tick, &world);
    }
    if (refusal != CAIRN_ROOM_CREATED) {
        return cairn_server_room_refuse(server, refusal, room, reason);
    }
    cairn_room_source source = {
        .world = world, .scene_name = forked->scene_name, .start_root = forked->start_root};
    return open_checked(server, now_ns, config, &source, room, reason);
}

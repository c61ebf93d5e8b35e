// SPDX-License-Identifier: MIT
// The verbs that create, fork and close rooms.
#include <stdio.h>

#include "base/assert.h"
#include "server/control/preparation.h"
#include "server/control/verbs.h"
#include "server/core/room_opening.h"

// Refuses for the room's reason, or makes the new room the one that the answer is about.
static cairn_control_refusal enter_new_room(cairn_control_context *c,
    cairn_server_room_refusal refusal, const char *reason, uint32_t id, bool paused) {
    static const cairn_control_refusal refusals[CAIRN_ROOM_REFUSAL_COUNT] = {
        [CAIRN_ROOM_REFUSED_NAME] = CAIRN_CONTROL_NAME_TAKEN,
        [CAIRN_ROOM_REFUSED_NAME_TAKEN] = CAIRN_CONTROL_NAME_TAKEN,
        [CAIRN_ROOM_REFUSED_TABLE_FULL] = CAIRN_CONTROL_CAPACITY,
        [CAIRN_ROOM_REFUSED_SCENE] = CAIRN_CONTROL_OUT_OF_RANGE,
        [CAIRN_ROOM_REFUSED_UNKNOWN] = CAIRN_CONTROL_ROOM_UNKNOWN,
        [CAIRN_ROOM_REFUSED_TICK] = CAIRN_CONTROL_TICK_GONE,
        [CAIRN_ROOM_REFUSED_BUSY] = CAIRN_CONTROL_BUSY,
        [CAIRN_ROOM_REFUSED_DRAINING] = CAIRN_CONTROL_BUSY,
        [CAIRN_ROOM_REFUSED_MEMORY] = CAIRN_CONTROL_CAPACITY,
        [CAIRN_ROOM_REFUSED_LOAD] = CAIRN_CONTROL_CAPACITY,
    };
    CAIRN_ASSERT(refusal < CAIRN_ROOM_REFUSAL_COUNT);
    if (refusal != CAIRN_ROOM_CREATED) {
        return cairn_control_refuse(c, refusals[refusal], "%.200s", reason);
    }
    c->room = cairn_room_table_at(&c->server->rooms, id);
    CAIRN_ASSERT(c->room != NULL);
    if (paused) {
        cairn_time_control_pause(&c->room->time_control, c->server->context.now_ns);
    }
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_fork(cairn_control_context *c) {
    const cairn_control_fork_request *request = &c->request->fork;
    const bool paused = c->room->time_control.paused || request->paused;
    cairn_server_room_config config = cairn_server_room_config_default();
    char reason[CAIRN_ROOM_REASON_SIZE];
    uint32_t id = 0;
    config.name = request->name;
    config.snapshot_rate_hz = c->room->settings.snapshot_rate_hz;
    config.position_steps_per_m = c->room->settings.position_steps_per_m;
    config.rotation_bits = c->room->settings.rotation_bits;
    config.coded_together_max = c->room->settings.coded_together_max;
    config.view_distance_m = c->room->settings.view_distance_m;
    config.client_bytes_per_second = c->room->settings.client_bytes_per_second;
    config.room_bytes_per_second = c->room->settings.room_bytes_per_second;
    config.recorded = c->room->recording != NULL;
    config.broadcast = c->room->broadcast != NULL;
    const uint64_t now_ns = c->server->context.now_ns;
    cairn_control_preparation *prepared = c->prepared;
    cairn_server_room_refusal refusal;
    if (prepared != NULL && prepared->world != NULL) {
        cairn_room_source source = {.world = prepared->world,
            .saved = &prepared->saved,
            .scene_name = c->room->scene_name,
            .start_root = c->room->start_root};
        prepared->world = NULL;
        refusal = cairn_server_room_open(c->server, now_ns, &config, &source, &id, reason);
    } else { // refuses
        refusal = cairn_server_room_fork(c->server, now_ns, c->room->id,
            request->has_tick ? request->tick : CAIRN_TICK_NOW, &config, &id, reason);
    }
    return enter_new_room(c, refusal, reason, id, paused);
}

bool cairn_control_new_room(cairn_server *server, const cairn_control_request *request,
    cairn_server_room_config *out, bool *of_template) {
    const cairn_server_config *own = &server->config;
    const cairn_control_room_create_request *create = &request->room_create;
    *out = cairn_server_room_config_default();
    *of_template = own->find_template != NULL && own->find_template(own->user, create->scene, out);
    if (!*of_template) {
        out->scene = own->find_scene == NULL ? NULL : own->find_scene(own->user, create->scene);
        out->tick_rate_hz = create->tick_rate_hz;
    }
    out->name = create->name;
    return *of_template || out->scene != NULL;
}

// Opens the room of a scene or a template with the world that was made for it.
static cairn_server_room_refusal open_prepared(
    cairn_control_context *c, uint32_t *id, char reason[CAIRN_ROOM_REASON_SIZE]) {
    const cairn_control_room_create_request *request = &c->request->room_create;
    cairn_control_preparation *prepared = c->prepared;
    const uint64_t now_ns = c->server->context.now_ns;
    if (prepared->status != CAIRN_OK) {
        snprintf(reason, CAIRN_ROOM_REASON_SIZE, "%s", prepared->error);
        return cairn_server_room_refuse(c->server,
            prepared->status == CAIRN_OUT_OF_MEMORY ? CAIRN_ROOM_REFUSED_MEMORY
                                                    : CAIRN_ROOM_REFUSED_SCENE,
            id, reason);
    }
    cairn_room_source source = {.world = prepared->world,
        .saved = &prepared->saved,
        .scene_name = prepared->scene.name,
        .start_root = cairn_world_hash_read(prepared->world).full};
    bool known;
    prepared->world = NULL;
    const cairn_server_room_refusal refusal = cairn_server_room_open_template(
        c->server, now_ns, request->scene, request->name, &source, &known, id, reason);
    if (known) {
        return refusal;
    }
    cairn_server_room_config config = cairn_server_room_config_default();
    config.name = request->name;
    config.scene = &prepared->scene;
    config.recorded = c->own == NULL || c->own->recording != NULL;
    config.broadcast = c->own == NULL || c->own->broadcast != NULL;
    return cairn_server_room_open(c->server, now_ns, &config, &source, id, reason);
}

// Why the room cannot be opened, whatever its world; the world was not made.
static cairn_server_room_refusal refuse_new_room(
    cairn_control_context *c, uint32_t *id, char reason[CAIRN_ROOM_REASON_SIZE]) {
    const cairn_server_room_config config = {.name = c->request->room_create.name};
    const cairn_server_room_refusal refusal = cairn_server_room_check(c->server, &config);
    reason[0] = '\0';
    return cairn_server_room_refuse(
        c->server, refusal == CAIRN_ROOM_CREATED ? CAIRN_ROOM_REFUSED_SCENE : refusal, id, reason);
}

cairn_control_refusal cairn_control_on_room_create(cairn_control_context *c) {
    const cairn_control_room_create_request *request = &c->request->room_create;
    char reason[CAIRN_ROOM_REASON_SIZE];
    uint32_t id = 0;
    cairn_server_room_config config;
    bool of_template;
    if (c->prepared == NULL &&
        !cairn_control_new_room(c->server, c->request, &config, &of_template)) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_NAME_UNKNOWN, "unknown scene \"%.64s\"", request->scene);
    }
    const cairn_server_room_refusal refusal =
        c->prepared != NULL ? open_prepared(c, &id, reason) : refuse_new_room(c, &id, reason);
    return enter_new_room(c, refusal, reason, id, request->paused);
}

cairn_control_refusal cairn_control_on_room_destroy(cairn_control_context *c) {
    if (c->is_member && c->room == c->own) {
        return cairn_control_refuse(c, CAIRN_CONTROL_BUSY,
            "the operator's client is in this room, so the answer could not be sent");
    }
    const uint32_t id = c->room->id;
    c->room = NULL;
    cairn_server_room_destroy(
        c->server, c->server->context.now_ns, id, "an operator closed the room");
    return CAIRN_CONTROL_DONE;
}

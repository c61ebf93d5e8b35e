// SPDX-License-Identifier: MIT
// The verbs that make rooms and close them.
#include "server/control/parts.h"
#include "server/core/server_state.h"

static cairn_control_refusal refusal_of(
    cairn_control_visit *v, cairn_server_room_refusal refusal, const char *words) {
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
    };
    return cairn_control_refuse(v, refusals[refusal], "%.200s", words);
}

static void begin(cairn_control_visit *v, uint32_t id, bool paused) {
    cairn_room *room = cairn_server_room_at(v->server, id);
    if (paused) {
        cairn_time_control_pause(&room->time_control, v->server->context.now_ns);
    }
    v->room = room; // whose tick and root the answer tells
}

cairn_control_refusal cairn_control_fork(cairn_control_visit *v) {
    const bool given = (v->ask->mask & CAIRN_CONTROL_MASK_GIVEN) != 0;
    const bool paused =
        v->room->time_control.paused || (v->ask->mask & CAIRN_CONTROL_MASK_PAUSED) != 0;
    cairn_server_room_config config = cairn_server_room_config_default();
    char words[CAIRN_ROOM_REASON_SIZE];
    uint32_t id = 0;
    config.name = v->ask->name;
    config.snapshot_rate_hz = v->room->settings.snapshot_rate_hz;
    config.recorded = v->room->recorder != NULL;
    const cairn_server_room_refusal refusal =
        cairn_server_room_fork(v->server, v->server->context.now_ns, v->room->id,
            given ? v->ask->tick : CAIRN_TICK_NOW, &config, &id, words);
    if (refusal != CAIRN_ROOM_CREATED) {
        return refusal_of(v, refusal, words);
    }
    begin(v, id, paused);
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_room_create(cairn_control_visit *v) {
    const cairn_server_config *own = &v->server->config;
    const cairn_scene *found =
        own->find_scene == NULL ? NULL : own->find_scene(own->user, v->ask->name);
    if (found == NULL) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_NAME_UNKNOWN, "there is no scene \"%.64s\"", v->ask->name);
    }
    cairn_scene scene = *found;
    scene.world.seed =
        (v->ask->mask & CAIRN_CONTROL_MASK_GIVEN) != 0 ? v->ask->seed : scene.world.seed;
    cairn_server_room_config config = cairn_server_room_config_default();
    char words[CAIRN_ROOM_REASON_SIZE];
    uint32_t id = 0;
    config.name = v->ask->room;
    config.scene = &scene;
    config.tick_rate_hz = v->ask->count;
    config.recorded = v->session->room->recorder != NULL;
    const cairn_server_room_refusal refusal =
        cairn_server_room_create(v->server, v->server->context.now_ns, &config, &id, words);
    if (refusal != CAIRN_ROOM_CREATED) {
        return refusal_of(v, refusal, words);
    }
    begin(v, id, (v->ask->mask & CAIRN_CONTROL_MASK_PAUSED) != 0);
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_room_destroy(cairn_control_visit *v) {
    if (v->room == v->session->room) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_BUSY, "this is the room that you are in: nobody could answer");
    }
    const uint32_t id = v->room->id;
    v->room = NULL;
    cairn_server_room_destroy(
        v->server, v->server->context.now_ns, id, "an operator closed the room");
    return CAIRN_CONTROL_DONE;
}

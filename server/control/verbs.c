// SPDX-License-Identifier: MIT
#include "server/control/verbs.h"

#include "base/assert.h"
#include <cairn/version.h>

// clang-format off
#define READS(action) {action, .needs_no_room = false, .writes = false}
#define WRITES(action) {action, .needs_no_room = false, .writes = true}
#define READS_SERVER(action) {action, .needs_no_room = true, .writes = false}
#define WRITES_SERVER(action) {action, .needs_no_room = true, .writes = true}
// clang-format on

static const cairn_control_verb_row rows[CAIRN_CONTROL_VERB_COUNT] = {
    [CAIRN_CONTROL_FEATURES] = READS_SERVER(cairn_control_on_features),
    [CAIRN_CONTROL_ROOMS] = READS_SERVER(cairn_control_on_rooms),
    [CAIRN_CONTROL_STATE] = READS(cairn_control_on_state),
    [CAIRN_CONTROL_CLIENTS] = READS(cairn_control_on_clients),
    [CAIRN_CONTROL_PAUSE] = WRITES(cairn_control_on_pause),
    [CAIRN_CONTROL_RESUME] = WRITES(cairn_control_on_resume),
    [CAIRN_CONTROL_STEP] = WRITES(cairn_control_on_step),
    [CAIRN_CONTROL_RUN_UNTIL] = WRITES(cairn_control_on_run_until),
    [CAIRN_CONTROL_RATE] = WRITES(cairn_control_on_rate),
    [CAIRN_CONTROL_RESET] = WRITES(cairn_control_on_reset),
    [CAIRN_CONTROL_SAVE] = WRITES(cairn_control_on_save),
    [CAIRN_CONTROL_LOAD] = WRITES(cairn_control_on_load),
    [CAIRN_CONTROL_SAVES] = READS_SERVER(cairn_control_on_saves),
    [CAIRN_CONTROL_SAVE_READ] = READS_SERVER(cairn_control_on_save_read),
    [CAIRN_CONTROL_SAVE_WRITE] = WRITES_SERVER(cairn_control_on_save_write),
    [CAIRN_CONTROL_SAVE_DELETE] = WRITES_SERVER(cairn_control_on_save_delete),
    [CAIRN_CONTROL_SEEK] = WRITES(cairn_control_on_seek),
    [CAIRN_CONTROL_FORK] = WRITES(cairn_control_on_fork),
    [CAIRN_CONTROL_ROOM_CREATE] = WRITES_SERVER(cairn_control_on_room_create),
    [CAIRN_CONTROL_ROOM_DESTROY] = WRITES(cairn_control_on_room_destroy),
    [CAIRN_CONTROL_SPAWN_BOX] = WRITES(cairn_control_on_spawn_box),
    [CAIRN_CONTROL_SPAWN_SPHERE] = WRITES(cairn_control_on_spawn_sphere),
    [CAIRN_CONTROL_DELETE] = WRITES(cairn_control_on_delete),
    [CAIRN_CONTROL_SET_POSITION] = WRITES(cairn_control_on_set_position),
    [CAIRN_CONTROL_SET_VELOCITY] = WRITES(cairn_control_on_set_velocity),
    [CAIRN_CONTROL_IMPULSE] = WRITES(cairn_control_on_impulse),
    [CAIRN_CONTROL_GET] = READS(cairn_control_on_get),
    [CAIRN_CONTROL_BODIES] = READS(cairn_control_on_bodies),
    [CAIRN_CONTROL_RAY] = READS(cairn_control_on_ray),
    [CAIRN_CONTROL_OVERLAP] = READS(cairn_control_on_overlap),
    [CAIRN_CONTROL_HASH] = READS(cairn_control_on_hash),
    [CAIRN_CONTROL_DIFF] = READS(cairn_control_on_diff),
    [CAIRN_CONTROL_FAULTS] = WRITES_SERVER(cairn_control_on_faults),
};

const cairn_control_verb_row *cairn_control_verb_find_row(uint32_t verb) {
    return verb < CAIRN_CONTROL_VERB_COUNT && rows[verb].action != NULL ? &rows[verb] : NULL;
}

cairn_control_refusal cairn_control_on_features(cairn_control_context *c) {
    uint32_t count = 0;
    for (uint32_t verb = 1; verb < CAIRN_CONTROL_VERB_COUNT; ++verb) {
        const cairn_control_verb_row *row = cairn_control_verb_find_row(verb);
        CAIRN_ASSERT(row != NULL);
        cairn_control_feature *feature = &c->lists->features[count++];
        feature->verb = verb;
        feature->writes = row->writes ? 1 : 0;
        cairn_control_name_set(feature->name, cairn_control_verb_text(verb));
    }
    c->answer.features = (cairn_control_features_answer){
        .protocol_version = CAIRN_PROTOCOL_VERSION,
        .sim_version = CAIRN_SIM_VERSION,
        .rooms_max = c->server->config.rooms_max,
        .clients_max = c->server->config.clients_max,
        .edits_per_tick_max = CAIRN_INBOX_EDITS_MAX,
        .verbs = c->lists->features,
        .verb_count = count,
    };
    return CAIRN_CONTROL_DONE;
}

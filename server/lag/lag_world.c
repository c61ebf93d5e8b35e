// SPDX-License-Identifier: MIT
#include "server/lag/lag_world.h"

#include <stdlib.h>

#include "bridge/interpolate.h"
#include "bridge/snapshot.h"

struct cairn_lag_world {
    cairn_world *shown; // of the earlier tick, then with its bodies on their way
    cairn_world *later;
    uint32_t body_capacity;
    cairn_body_state *bodies; // [body_capacity]
    bool valid;               // `shown` is what `sight` says
    uint64_t epoch;           // of the past it was taken from
    cairn_view_time sight;
};

const char *cairn_lag_refusal_text(cairn_lag_refusal refusal) {
    static const char *const texts[CAIRN_LAG_REFUSAL_COUNT] = {
        [CAIRN_LAG_SHOWN] = "shown",
        [CAIRN_LAG_OFF] = "the room does not allow to look back",
        [CAIRN_LAG_VIEW_TIME_INVALID] = "the span or share is outside its range",
        [CAIRN_LAG_TOO_OLD] = "older than the room allows",
        [CAIRN_LAG_FUTURE] = "not stepped yet",
        [CAIRN_LAG_NOT_HELD] = "a state of that tick is not held",
        [CAIRN_LAG_NO_ROOM] = "there is no such room",
        [CAIRN_LAG_BUSY] = "the room is being stepped",
        [CAIRN_LAG_NO_CLIENT] = "there is no such client, or it has seen nothing yet",
        [CAIRN_LAG_NOT_REPORTED] = "the client has not said what it shows",
        [CAIRN_LAG_MEMORY] = "out of memory",
    };
    return (uint32_t)refusal < CAIRN_LAG_REFUSAL_COUNT ? texts[refusal] : "unknown refusal";
}

cairn_status cairn_lag_world_create(const cairn_world *like, cairn_lag_world **out) {
    *out = NULL;
    cairn_lag_world *rewind = calloc(1, sizeof *rewind);
    if (rewind == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    rewind->body_capacity = cairn_world_settings(like)->body_capacity;
    rewind->bodies = calloc(rewind->body_capacity, sizeof *rewind->bodies);
    if (rewind->bodies == NULL || cairn_world_fork(like, &rewind->shown) != CAIRN_OK ||
        cairn_world_fork(like, &rewind->later) != CAIRN_OK) {
        cairn_lag_world_destroy(rewind);
        return CAIRN_OUT_OF_MEMORY;
    }
    *out = rewind;
    return CAIRN_OK;
}

void cairn_lag_world_destroy(cairn_lag_world *rewind) {
    if (rewind != NULL) {
        cairn_world_destroy(rewind->shown);
        cairn_world_destroy(rewind->later);
        free(rewind->bodies);
        free(rewind);
    }
}

static cairn_lag_refusal check(const cairn_state_history *past, uint64_t newest,
    uint32_t age_ticks_max, const cairn_view_time *sight) {
    const bool between = sight->share > 0.0f;
    if (sight->span < 1 || !(sight->share >= 0.0f && sight->share <= 1.0f)) {
        return CAIRN_LAG_VIEW_TIME_INVALID;
    }
    if (sight->tick > newest || (between && sight->span > newest - sight->tick)) {
        return CAIRN_LAG_FUTURE;
    }
    if (newest - sight->tick > age_ticks_max) {
        return CAIRN_LAG_TOO_OLD;
    }
    const bool held = cairn_state_history_holds(past, sight->tick) &&
                      (!between || cairn_state_history_holds(past, sight->tick + sight->span));
    return held ? CAIRN_LAG_SHOWN : CAIRN_LAG_NOT_HELD;
}

// From where it is in `shown` towards where it is in `later`; where it stays when it ends before.
static void move_body(cairn_lag_world *rewind, const cairn_body_state *from, float share) {
    cairn_body_state to = *from;
    float position[3];
    float q[4];
    if (share > 0.0f && cairn_body_exists(rewind->later, from->id)) {
        (void)cairn_body_read(rewind->later, from->id, &to);
    }
    cairn_interpolate_vec3(from->position, to.position, share, position);
    cairn_interpolate_quat(from->rotation, to.rotation, share, q);
    const cairn_pose pose = {.position = {.x = position[0], .y = position[1], .z = position[2]},
        .rotation = {.x = q[0], .y = q[1], .z = q[2], .w = q[3]}};
    // At the edge of where bodies may be it is refused, and the body stays where it was.
    (void)cairn_body_place(rewind->shown, from->id, pose);
}

static cairn_status load(
    cairn_lag_world *rewind, const cairn_state_history *past, const cairn_view_time *sight) {
    const cairn_status status = cairn_state_history_load(past, sight->tick, rewind->shown);
    if (status != CAIRN_OK || !(sight->share > 0.0f)) {
        return status;
    }
    return cairn_state_history_load(past, sight->tick + sight->span, rewind->later);
}

static bool is_shown(
    const cairn_lag_world *rewind, const cairn_state_history *past, const cairn_view_time *sight) {
    const cairn_view_time *shown = &rewind->sight;
    return rewind->valid && rewind->epoch == cairn_state_history_generation(past) &&
           shown->tick == sight->tick && shown->span == sight->span && shown->share == sight->share;
}

cairn_lag_refusal cairn_lag_world_show(cairn_lag_world *rewind, const cairn_state_history *past,
    uint64_t newest, uint32_t age_ticks_max, const cairn_view_time *sight,
    const cairn_world **out) {
    const cairn_lag_refusal refusal = check(past, newest, age_ticks_max, sight);
    *out = NULL;
    if (refusal != CAIRN_LAG_SHOWN) {
        return refusal;
    }
    if (!is_shown(rewind, past, sight)) {
        rewind->valid = false;
        if (load(rewind, past, sight) != CAIRN_OK) {
            return CAIRN_LAG_NOT_HELD;
        }
        const uint32_t count =
            cairn_world_bodies(rewind->shown, rewind->bodies, rewind->body_capacity);
        for (uint32_t i = 0; i < count; ++i) {
            move_body(rewind, &rewind->bodies[i], sight->share);
        }
        rewind->sight = *sight;
        rewind->epoch = cairn_state_history_generation(past);
        rewind->valid = true;
    }
    *out = rewind->shown;
    return CAIRN_LAG_SHOWN;
}

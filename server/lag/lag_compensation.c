// SPDX-License-Identifier: MIT
#include "server/lag/lag_compensation.h"

#include <stdlib.h>

#include "base/assert.h"
#include "bridge/interpolate.h"

struct cairn_lag_world {
    cairn_world *shown; // state of the earlier tick, with its bodies moved towards the later one
    cairn_world *later;
    uint32_t body_capacity;
    cairn_body_state *bodies; // [body_capacity]
    bool valid;               // `shown` is what `view_time` says
    uint64_t generation;      // of the history that it was taken from
    cairn_view_time view_time;
};

const char *cairn_lag_refusal_text(cairn_lag_refusal refusal) {
    static const char *const texts[CAIRN_LAG_REFUSAL_COUNT] = {
        [CAIRN_LAG_SHOWN] = "shown",
        [CAIRN_LAG_OFF] = "lag compensation is not enabled for the room",
        [CAIRN_LAG_VIEW_TIME_INVALID] =
            "the span or fraction of the view time is outside its range",
        [CAIRN_LAG_TOO_OLD] = "the view time is older than the room is enabled for",
        [CAIRN_LAG_FUTURE] = "the view time is in the future",
        [CAIRN_LAG_NOT_HELD] = "a state of that tick is not held",
        [CAIRN_LAG_NO_ROOM] = "there is no such room",
        [CAIRN_LAG_BUSY] = "the room is being stepped",
        [CAIRN_LAG_NO_CLIENT] = "there is no such client, or it has seen nothing yet",
        [CAIRN_LAG_NOT_REPORTED] = "the client did not report what it shows",
        [CAIRN_LAG_MEMORY] = "out of memory",
    };
    return (uint32_t)refusal < CAIRN_LAG_REFUSAL_COUNT ? texts[refusal] : "unknown refusal";
}

cairn_status cairn_lag_world_create(const cairn_world *like, cairn_lag_world **out) {
    *out = NULL;
    cairn_lag_world *lag = calloc(1, sizeof *lag);
    if (lag == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    lag->body_capacity = cairn_world_settings(like)->body_capacity;
    CAIRN_ASSERT(lag->body_capacity > 0);
    lag->bodies = calloc(lag->body_capacity, sizeof *lag->bodies);
    if (lag->bodies == NULL || cairn_world_fork(like, &lag->shown) != CAIRN_OK ||
        cairn_world_fork(like, &lag->later) != CAIRN_OK) {
        cairn_lag_world_destroy(lag);
        return CAIRN_OUT_OF_MEMORY;
    }
    *out = lag;
    return CAIRN_OK;
}

void cairn_lag_world_destroy(cairn_lag_world *lag) {
    if (lag != NULL) {
        cairn_world_destroy(lag->shown);
        cairn_world_destroy(lag->later);
        free(lag->bodies);
        free(lag);
    }
}

static cairn_lag_refusal check_view_time(const cairn_state_history *history, uint64_t newest,
    uint32_t age_ticks_max, const cairn_view_time *view_time) {
    const bool between = view_time->fraction > 0.0f;
    if (view_time->span < 1 || !(view_time->fraction >= 0.0f && view_time->fraction <= 1.0f)) {
        return CAIRN_LAG_VIEW_TIME_INVALID;
    }
    if (view_time->tick > newest || (between && view_time->span > newest - view_time->tick)) {
        return CAIRN_LAG_FUTURE;
    }
    if (newest - view_time->tick > age_ticks_max) {
        return CAIRN_LAG_TOO_OLD;
    }
    const bool held =
        cairn_state_history_holds(history, view_time->tick) &&
        (!between || cairn_state_history_holds(history, view_time->tick + view_time->span));
    return held ? CAIRN_LAG_SHOWN : CAIRN_LAG_NOT_HELD;
}

static void round_pose(const cairn_quantisation *quantisation, cairn_body_state *body) {
    const cairn_quantised_body rounded = cairn_quantise(
        quantisation, (cairn_pose){.position = body->position, .rotation = body->rotation});
    const cairn_pose pose = cairn_dequantise(quantisation, &rounded);
    body->position = pose.position;
    body->rotation = pose.rotation;
}

// Moves a body from its pose in `shown` towards its pose in `later`. A body that ends before stays.
static void move_body(cairn_lag_world *lag, const cairn_body_state *body,
    const cairn_view_time *view_time, const cairn_quantisation *quantisation) {
    const float fraction = view_time->fraction;
    cairn_body_state earlier = *body, later = *body;
    float position[3];
    float q[4];
    CAIRN_ASSERT(fraction >= 0.0f && fraction <= 1.0f);
    if (fraction > 0.0f && cairn_body_exists(lag->later, body->id)) {
        (void)cairn_body_read(lag->later, body->id, &later);
    }
    if (view_time->rounded && body->kind != CAIRN_BODY_STATIC) {
        round_pose(quantisation, &earlier);
        round_pose(quantisation, &later);
    }
    cairn_interpolate_vec3(earlier.position, later.position, fraction, position);
    cairn_interpolate_quat(earlier.rotation, later.rotation, fraction, q);
    const cairn_pose pose = {.position = {.x = position[0], .y = position[1], .z = position[2]},
        .rotation = {.x = q[0], .y = q[1], .z = q[2], .w = q[3]}};
    // At the edge of the world this is refused, and the body stays where it was.
    (void)cairn_body_place(lag->shown, body->id, pose);
}

cairn_lag_refusal cairn_lag_world_show(cairn_lag_world *lag, const cairn_state_history *history,
    uint64_t newest, uint32_t age_ticks_max, const cairn_quantisation *quantisation,
    const cairn_view_time *view_time, const cairn_world **out) {
    const cairn_lag_refusal refusal = check_view_time(history, newest, age_ticks_max, view_time);
    *out = NULL;
    if (refusal != CAIRN_LAG_SHOWN) {
        return refusal;
    }
    const cairn_view_time *shown = &lag->view_time;
    const bool is_shown =
        lag->valid && lag->generation == cairn_state_history_generation(history) &&
        shown->tick == view_time->tick && shown->span == view_time->span &&
        shown->fraction == view_time->fraction && shown->rounded == view_time->rounded;
    if (!is_shown) {
        lag->valid = false;
        const uint64_t later = view_time->tick + view_time->span;
        if (cairn_state_history_load(history, view_time->tick, lag->shown) != CAIRN_OK ||
            (view_time->fraction > 0.0f &&
                cairn_state_history_load(history, later, lag->later) != CAIRN_OK)) {
            return CAIRN_LAG_NOT_HELD;
        }
        const uint32_t count = cairn_world_bodies(lag->shown, lag->bodies, lag->body_capacity);
        CAIRN_ASSERT(count <= lag->body_capacity);
        for (uint32_t i = 0; i < count; ++i) {
            move_body(lag, &lag->bodies[i], view_time, quantisation);
        }
        lag->view_time = *view_time;
        lag->generation = cairn_state_history_generation(history);
        lag->valid = true;
    }
    *out = lag->shown;
    return CAIRN_LAG_SHOWN;
}

void cairn_lag_destroy(cairn_room *room) {
    cairn_lag_world_destroy(room->lag->world);
    *room->lag = (cairn_lag_compensation){0};
}

static void set_required_states(cairn_room *room, uint32_t count) {
    CAIRN_ASSERT(count <= CAIRN_ROOM_STATE_HISTORY_SECONDS * room->settings.tick_rate_hz);
    cairn_state_history_require(room->state_history, CAIRN_STATE_HISTORY_FOR_LAG, count);
}

void cairn_lag_replace(cairn_room *room) {
    cairn_lag_compensation *lag = room->lag;
    CAIRN_ASSERT(!room->job.running);
    if (lag->world == NULL) {
        return;
    }
    cairn_lag_world_destroy(lag->world);
    if (cairn_lag_world_create(room->world, &lag->world) != CAIRN_OK) {
        lag->world = NULL;
        set_required_states(room, 0);
    }
}

void cairn_lag_take_report(cairn_session *session, const cairn_input_head *input) {
    cairn_session_lag *lag = session->lag;
    CAIRN_ASSERT(session->room != NULL);
    // Not one that a later INPUT overtook.
    const uint32_t ahead = (uint32_t)(input->number - lag->reported_number) % CAIRN_INPUT_NUMBERS;
    if (input->reports_shown && ahead < CAIRN_INPUT_NUMBERS / 2) {
        lag->reported_number = input->number;
        lag->shown = (cairn_view_time){.tick = input->shown_tick,
            .span = input->shown_span,
            .fraction = input->shown_share,
            .rounded = session->mode == CAIRN_MODE_INTERPOLATE};
    }
}

cairn_lag_refusal cairn_lag_enable(cairn_room *room, uint32_t age_ms_max) {
    cairn_lag_compensation *lag = room->lag;
    const uint32_t rate_hz = room->settings.tick_rate_hz;
    if (room->job.running) {
        return CAIRN_LAG_BUSY;
    }
    const uint64_t wanted = ((uint64_t)age_ms_max * rate_hz + 999) / 1000;
    const uint32_t most = CAIRN_ROOM_STATE_HISTORY_SECONDS * rate_hz - 1;
    lag->age_ticks_max = wanted < most ? (uint32_t)wanted : most;
    if (age_ms_max == 0) {
        cairn_lag_world_destroy(lag->world);
        lag->world = NULL;
    } else if (lag->world == NULL && cairn_lag_world_create(room->world, &lag->world) != CAIRN_OK) {
        set_required_states(room, 0);
        return CAIRN_LAG_MEMORY;
    }
    // From the oldest age that is allowed up to the present.
    set_required_states(room, age_ms_max == 0 ? 0 : lag->age_ticks_max + 1);
    CAIRN_ASSERT((lag->world != NULL) == (age_ms_max != 0));
    return CAIRN_LAG_SHOWN;
}

// SPDX-License-Identifier: MIT
#include "server/lag/lag_compensation.h"

#include "base/assert.h"

void cairn_lag_destroy(cairn_room *room) {
    cairn_lag_world_destroy(room->lag->world);
    *room->lag = (cairn_lag_compensation){0};
}

bool cairn_lag_is_enabled(const cairn_room *room) {
    return room->lag->world != NULL;
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

void cairn_lag_take_report(cairn_session *session, const cairn_input_message *input) {
    cairn_session_lag *lag = session->lag;
    CAIRN_ASSERT(session->room != NULL);
    if (input->sent_at_us >= lag->reported_at_us) {
        lag->reported_at_us = input->sent_at_us;
        lag->shown = (cairn_view_time){
            .tick = input->shown_tick, .span = input->shown_span, .fraction = input->shown_share};
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
    CAIRN_ASSERT(cairn_lag_is_enabled(room) == (age_ms_max != 0));
    return CAIRN_LAG_SHOWN;
}

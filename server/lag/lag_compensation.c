// SPDX-License-Identifier: MIT
#include "server/lag/lag_compensation.h"

#include "base/assert.h"
#include "server/replicate/replication.h"

// The delay that client_lib/interpolate/interpolation.c adds to the spacing of snapshots.
#define JITTERS 3
#define MARGIN_NS 1e6

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

static double interpolation_delay_ns(
    const cairn_session *session, const cairn_link_statistics *link) {
    const cairn_server_room_config *settings = &session->room->settings;
    const bool snapshots = session->mode == CAIRN_MODE_INTERPOLATE;
    const double rate_hz = snapshots ? settings->snapshot_rate_hz : settings->tick_rate_hz;
    CAIRN_ASSERT(settings->snapshot_rate_hz > 0);
    return 1e9 / rate_hz + JITTERS * (double)link->jitter_ns + MARGIN_NS;
}

static cairn_view_time view_time_at(uint64_t tick) {
    return (cairn_view_time){.tick = tick, .span = 1, .fraction = 0.0f};
}

static cairn_view_time view_time_between(uint64_t from, uint64_t to, double tick) {
    CAIRN_ASSERT(from < to);
    const double span = (double)to - (double)from;
    return (cairn_view_time){.tick = from,
        .span = (uint32_t)(to - from),
        .fraction = (float)((tick - (double)from) / span)};
}

// Beyond the newest snapshot a client extrapolates; the estimate stays at the snapshot.
static cairn_view_time view_time_in_snapshots(const cairn_room *room, double tick) {
    const cairn_baseline *before;
    const cairn_baseline *after;
    cairn_baselines_around(room->replication->baselines, tick, &before, &after);
    if (before == NULL || after == NULL) {
        const cairn_baseline *only = before != NULL ? before : after;
        return view_time_at(only != NULL ? only->tick : room->scheduler.tick);
    }
    return view_time_between(before->tick, after->tick, tick);
}

static cairn_view_time view_time_in_ticks(const cairn_room *room, double tick) {
    const uint64_t newest = room->scheduler.tick;
    if (tick < 0.0) {
        return view_time_at(0);
    }
    if (tick >= (double)newest) {
        return view_time_at(newest);
    }
    return view_time_between((uint64_t)tick, (uint64_t)tick + 1, tick);
}

cairn_lag_refusal cairn_lag_view_time_estimate(
    const cairn_session *session, uint64_t when_ns, cairn_view_time *out) {
    const cairn_room *room = session->room;
    const cairn_link_statistics *link = cairn_link_statistics_read(session->link);
    CAIRN_ASSERT(session->state == CAIRN_SESSION_PLAYING);
    *out = view_time_at(room->scheduler.tick);
    if (room->scheduler.tick == 0) {
        return CAIRN_LAG_NO_CLIENT;
    }
    // The state of the newest tick exists since the step before it was due. The state that the
    // client shows at `when_ns` left the server one way and one interpolation delay before.
    const uint64_t newest = room->scheduler.tick;
    const uint64_t since_ns = cairn_tick_scheduler_due_ns(&room->scheduler, newest - 1);
    const double age_ns =
        when_ns >= since_ns ? (double)(when_ns - since_ns) : -(double)(since_ns - when_ns);
    const double path_ns = (double)link->rtt_ns / 2 + interpolation_delay_ns(session, link);
    const double tick_ns = 1e9 / room->settings.tick_rate_hz;
    const double tick = (double)newest + (age_ns - path_ns) / tick_ns;
    if (session->mode == CAIRN_MODE_INTERPOLATE) {
        *out = view_time_in_snapshots(room, tick);
    } else if (session->mode != CAIRN_MODE_PREDICT) {
        *out = view_time_in_ticks(room, tick);
    }
    return CAIRN_LAG_SHOWN;
}

cairn_lag_refusal cairn_lag_view_time_reported(const cairn_session *session, cairn_view_time *out) {
    CAIRN_ASSERT(session->state == CAIRN_SESSION_PLAYING);
    *out = session->lag->shown.span == 0 ? view_time_at(0) : session->lag->shown;
    return session->lag->shown.span == 0 ? CAIRN_LAG_NOT_REPORTED : CAIRN_LAG_SHOWN;
}

cairn_lag_refusal cairn_lag_show(
    cairn_room *room, const cairn_view_time *view_time, const cairn_world **out) {
    cairn_lag_compensation *lag = room->lag;
    cairn_lag_refusal refusal = CAIRN_LAG_OFF;
    *out = NULL;
    if (room->job.running) {
        refusal = CAIRN_LAG_BUSY;
    } else if (lag->world != NULL) {
        refusal = cairn_lag_world_show(lag->world, room->state_history, room->scheduler.tick,
            lag->age_ticks_max, view_time, out);
    }
    lag->counts[refusal] += 1;
    return refusal;
}

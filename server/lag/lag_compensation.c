// SPDX-License-Identifier: MIT
#include "server/lag/lag_compensation.h"

#include <string.h>

#include "base/assert.h"
#include "server/room/room_table.h"
#include "server/server_parts.h"

// What client_lib/interpolate/interpolation.c adds to the spacing of snapshots.
#define JITTERS 3
#define MARGIN_NS 1e6

cairn_lag_refusal cairn_server_lag_enable(
    cairn_server *server, uint32_t room, uint32_t age_ms_max) {
    cairn_room *allowing = cairn_room_table_find(server, room);
    if (allowing == NULL) {
        return CAIRN_LAG_NO_ROOM;
    }
    if (allowing->job.running) {
        return CAIRN_LAG_BUSY;
    }
    cairn_lag_compensation *lag = &allowing->lag;
    const uint64_t wanted = ((uint64_t)age_ms_max * allowing->tick_rate_hz + 999) / 1000;
    const uint32_t most = CAIRN_ROOM_STATE_HISTORY_SECONDS * allowing->tick_rate_hz - 1;
    lag->age_ticks_max = wanted < most ? (uint32_t)wanted : most;
    if (age_ms_max == 0) {
        cairn_lag_world_destroy(lag->world);
        lag->world = NULL;
    } else if (lag->world == NULL &&
               cairn_lag_world_create(allowing->world, &lag->world) != CAIRN_OK) {
        cairn_state_history_require(allowing->state_history, CAIRN_STATE_HISTORY_FOR_LAG, 0);
        return CAIRN_LAG_MEMORY;
    }
    // The oldest age that is allowed, and the present.
    cairn_state_history_require(allowing->state_history, CAIRN_STATE_HISTORY_FOR_LAG,
        age_ms_max == 0 ? 0 : lag->age_ticks_max + 1);
    return CAIRN_LAG_SHOWN;
}

static double difference_ns(uint64_t from_ns, uint64_t to_ns) {
    return to_ns >= from_ns ? (double)(to_ns - from_ns) : 0.0 - (double)(from_ns - to_ns);
}

// The tick whose state arrives at the client at `when_ns`: a state stands since the step before it
// was due.
static double tick_heard(const cairn_room *room, uint64_t when_ns, double path_ns) {
    const uint64_t newest = room->scheduler.tick;
    CAIRN_ASSERT(newest > 0);
    const uint64_t since_ns = cairn_tick_scheduler_due_ns(&room->scheduler, newest - 1);
    const double tick_ns = 1e9 / room->tick_rate_hz;
    return (double)newest + (difference_ns(since_ns, when_ns) - path_ns) / tick_ns;
}

static double delay_ns(const cairn_session *session, const cairn_link_statistics *link) {
    const cairn_room *room = session->room;
    const bool snapshots = session->mode == CAIRN_MODE_INTERPOLATE;
    const double rate_hz = snapshots ? room->snapshot_rate_hz : room->tick_rate_hz;
    return 1e9 / rate_hz + JITTERS * (double)link->jitter_ns + MARGIN_NS;
}

static cairn_view_time sight_at(uint64_t tick) {
    return (cairn_view_time){.tick = tick, .span = 1, .share = 0.0f};
}

static cairn_view_time sight_between(uint64_t from, uint64_t to, double tick) {
    const double span = (double)to - (double)from;
    return (cairn_view_time){.tick = from,
        .span = (uint32_t)(to - from),
        .share = (float)((tick - (double)from) / span)};
}

// Beyond the newest snapshot a client extrapolates; that is not followed.
static cairn_view_time sight_of_snapshots(const cairn_room *room, double tick) {
    const cairn_baseline *before;
    const cairn_baseline *after;
    cairn_baselines_around(room->baselines, tick, &before, &after);
    if (before == NULL || after == NULL) {
        const cairn_baseline *only = before != NULL ? before : after;
        return sight_at(only != NULL ? only->tick : room->scheduler.tick);
    }
    return sight_between(before->tick, after->tick, tick);
}

static cairn_view_time sight_of_ticks(const cairn_room *room, double tick) {
    const uint64_t newest = room->scheduler.tick;
    if (tick < 0.0) {
        return sight_at(0);
    }
    if (tick >= (double)newest) {
        return sight_at(newest);
    }
    return sight_between((uint64_t)tick, (uint64_t)tick + 1, tick);
}

cairn_lag_refusal cairn_server_lag_view_time_estimate(
    const cairn_server *server, uint32_t client, uint64_t when_ns, cairn_view_time *out) {
    *out = sight_at(0);
    if (client >= server->config.clients_max ||
        server->sessions[client].state != CAIRN_SESSION_PLAYING ||
        server->sessions[client].room->scheduler.tick == 0) {
        return CAIRN_LAG_NO_CLIENT;
    }
    const cairn_session *session = &server->sessions[client];
    const cairn_room *room = session->room;
    const cairn_link_statistics *link = cairn_link_statistics_read(session->link);
    const double path_ns = (double)link->rtt_ns / 2;
    const double tick = tick_heard(room, when_ns, path_ns + delay_ns(session, link));
    if (session->mode == CAIRN_MODE_PREDICT) {
        *out = sight_at(room->scheduler.tick);
    } else if (session->mode == CAIRN_MODE_INTERPOLATE) {
        *out = sight_of_snapshots(room, tick);
    } else {
        *out = sight_of_ticks(room, tick);
    }
    return CAIRN_LAG_SHOWN;
}

cairn_lag_refusal cairn_server_lag_view_time_reported(
    const cairn_server *server, uint32_t client, cairn_view_time *out) {
    *out = sight_at(0);
    if (client >= server->config.clients_max ||
        server->sessions[client].state != CAIRN_SESSION_PLAYING) {
        return CAIRN_LAG_NO_CLIENT;
    }
    const cairn_session *session = &server->sessions[client];
    if (session->shown_span == 0) {
        return CAIRN_LAG_NOT_REPORTED;
    }
    *out = (cairn_view_time){
        .tick = session->shown_tick, .span = session->shown_span, .share = session->shown_share};
    return CAIRN_LAG_SHOWN;
}

cairn_lag_refusal cairn_server_lag_world(
    cairn_server *server, uint32_t room, const cairn_view_time *sight, const cairn_world **out) {
    cairn_room *asked = cairn_room_table_find(server, room);
    *out = NULL;
    if (asked == NULL) {
        return CAIRN_LAG_NO_ROOM;
    }
    cairn_lag_compensation *lag = &asked->lag;
    cairn_lag_refusal refusal = CAIRN_LAG_OFF;
    if (asked->job.running) {
        refusal = CAIRN_LAG_BUSY;
    } else if (lag->world != NULL) {
        refusal = cairn_lag_world_show(lag->world, asked->state_history, asked->scheduler.tick,
            lag->age_ticks_max, sight, out);
    }
    lag->counts[refusal] += 1;
    return refusal;
}

cairn_lag_refusal cairn_server_lag_ray_cast(cairn_server *server, uint32_t room,
    const cairn_view_time *sight, const cairn_lag_ray *ray, cairn_ray_hit *out) {
    const cairn_world *world;
    const cairn_lag_refusal refusal = cairn_server_lag_world(server, room, sight, &world);
    *out = (cairn_ray_hit){.shape = 0};
    if (refusal == CAIRN_LAG_SHOWN) {
        (void)cairn_world_ray_cast(
            world, ray->origin, ray->translation, ray->mask, ray->ignored, out);
    }
    return refusal;
}

cairn_lag_refusal cairn_server_lag_overlap(cairn_server *server, uint32_t room,
    const cairn_view_time *sight, const cairn_lag_probe *probe, cairn_shape_id *out,
    uint32_t capacity, uint32_t *count) {
    const cairn_world *world;
    const cairn_lag_refusal refusal = cairn_server_lag_world(server, room, sight, &world);
    *count = 0;
    if (refusal == CAIRN_LAG_SHOWN) {
        *count = cairn_world_overlap(world, probe->shape, probe->pose, probe->mask, out, capacity);
    }
    return refusal;
}

bool cairn_server_lag_counts_read(
    const cairn_server *server, uint32_t room, uint64_t counts[CAIRN_LAG_REFUSAL_COUNT]) {
    const cairn_room *read = cairn_room_table_find(server, room);
    memset(counts, 0, CAIRN_LAG_REFUSAL_COUNT * sizeof counts[0]);
    if (read == NULL) {
        return false;
    }
    memcpy(counts, read->lag.counts, sizeof read->lag.counts);
    return true;
}

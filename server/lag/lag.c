// SPDX-License-Identifier: MIT
#include "server/lag/lag.h"

#include <string.h>

#include "base/assert.h"
#include "server/room/room_table.h"
#include "server/server_parts.h"

// What client_lib/interpolate/interpolation.c adds to the spacing of snapshots.
#define JITTERS 3
#define MARGIN_NS 1e6

cairn_rewind_refusal cairn_server_rewind_allow(
    cairn_server *server, uint32_t room, uint32_t age_ms_max) {
    cairn_room *allowing = cairn_rooms_at(server, room);
    if (allowing == NULL) {
        return CAIRN_REWIND_NO_ROOM;
    }
    if (allowing->job.running) {
        return CAIRN_REWIND_BUSY;
    }
    cairn_lag *lag = &allowing->lag;
    const uint64_t wanted = ((uint64_t)age_ms_max * allowing->tick_rate_hz + 999) / 1000;
    const uint32_t most = CAIRN_ROOM_PAST_SECONDS * allowing->tick_rate_hz - 1;
    lag->age_ticks_max = wanted < most ? (uint32_t)wanted : most;
    if (age_ms_max == 0) {
        cairn_rewind_destroy(lag->rewind);
        lag->rewind = NULL;
    } else if (lag->rewind == NULL &&
               cairn_rewind_create(allowing->world, &lag->rewind) != CAIRN_OK) {
        cairn_past_want(allowing->past, CAIRN_PAST_REWIND, 0);
        return CAIRN_REWIND_MEMORY;
    }
    // The oldest age that is allowed, and the present.
    cairn_past_want(
        allowing->past, CAIRN_PAST_REWIND, age_ms_max == 0 ? 0 : lag->age_ticks_max + 1);
    return CAIRN_REWIND_SHOWN;
}

static double difference_ns(uint64_t from_ns, uint64_t to_ns) {
    return to_ns >= from_ns ? (double)(to_ns - from_ns) : 0.0 - (double)(from_ns - to_ns);
}

// The tick whose state arrives at the client at `when_ns`: a state stands since the step before it
// was due.
static double tick_heard(const cairn_room *room, uint64_t when_ns, double path_ns) {
    const uint64_t newest = room->pacing.tick;
    CAIRN_ASSERT(newest > 0);
    const uint64_t since_ns = cairn_pacing_due_ns(&room->pacing, newest - 1);
    const double tick_ns = 1e9 / room->tick_rate_hz;
    return (double)newest + (difference_ns(since_ns, when_ns) - path_ns) / tick_ns;
}

static double delay_ns(const cairn_session *session, const cairn_link_statistics *link) {
    const cairn_room *room = session->room;
    const bool snapshots = session->mode == CAIRN_MODE_INTERPOLATE;
    const double rate_hz = snapshots ? room->snapshot_rate_hz : room->tick_rate_hz;
    return 1e9 / rate_hz + JITTERS * (double)link->jitter_ns + MARGIN_NS;
}

static cairn_sight sight_at(uint64_t tick) {
    return (cairn_sight){.tick = tick, .span = 1, .share = 0.0f};
}

static cairn_sight sight_between(uint64_t from, uint64_t to, double tick) {
    const double span = (double)to - (double)from;
    return (cairn_sight){.tick = from,
        .span = (uint32_t)(to - from),
        .share = (float)((tick - (double)from) / span)};
}

// Beyond the newest snapshot a client extrapolates; that is not followed.
static cairn_sight sight_of_snapshots(const cairn_room *room, double tick) {
    const cairn_baseline *before;
    const cairn_baseline *after;
    cairn_baselines_around(room->baselines, tick, &before, &after);
    if (before == NULL || after == NULL) {
        const cairn_baseline *only = before != NULL ? before : after;
        return sight_at(only != NULL ? only->tick : room->pacing.tick);
    }
    return sight_between(before->tick, after->tick, tick);
}

static cairn_sight sight_of_ticks(const cairn_room *room, double tick) {
    const uint64_t newest = room->pacing.tick;
    if (tick < 0.0) {
        return sight_at(0);
    }
    if (tick >= (double)newest) {
        return sight_at(newest);
    }
    return sight_between((uint64_t)tick, (uint64_t)tick + 1, tick);
}

cairn_rewind_refusal cairn_server_seen_by(
    const cairn_server *server, uint32_t client, uint64_t when_ns, cairn_sight *out) {
    *out = sight_at(0);
    if (client >= server->config.clients_max ||
        server->sessions[client].state != CAIRN_SESSION_PLAYING ||
        server->sessions[client].room->pacing.tick == 0) {
        return CAIRN_REWIND_NO_CLIENT;
    }
    const cairn_session *session = &server->sessions[client];
    const cairn_room *room = session->room;
    const cairn_link_statistics *link = cairn_link_statistics_read(session->link);
    const double path_ns = (double)link->rtt_ns / 2;
    const double tick = tick_heard(room, when_ns, path_ns + delay_ns(session, link));
    if (session->mode == CAIRN_MODE_PREDICT) {
        *out = sight_at(room->pacing.tick);
    } else if (session->mode == CAIRN_MODE_INTERPOLATE) {
        *out = sight_of_snapshots(room, tick);
    } else {
        *out = sight_of_ticks(room, tick);
    }
    return CAIRN_REWIND_SHOWN;
}

cairn_rewind_refusal cairn_server_told_by(
    const cairn_server *server, uint32_t client, cairn_sight *out) {
    *out = sight_at(0);
    if (client >= server->config.clients_max ||
        server->sessions[client].state != CAIRN_SESSION_PLAYING) {
        return CAIRN_REWIND_NO_CLIENT;
    }
    const cairn_session *session = &server->sessions[client];
    if (session->shown_span == 0) {
        return CAIRN_REWIND_NOT_TOLD;
    }
    *out = (cairn_sight){
        .tick = session->shown_tick, .span = session->shown_span, .share = session->shown_share};
    return CAIRN_REWIND_SHOWN;
}

cairn_rewind_refusal cairn_server_rewind_world(
    cairn_server *server, uint32_t room, const cairn_sight *sight, const cairn_world **out) {
    cairn_room *asked = cairn_rooms_at(server, room);
    *out = NULL;
    if (asked == NULL) {
        return CAIRN_REWIND_NO_ROOM;
    }
    cairn_lag *lag = &asked->lag;
    cairn_rewind_refusal refusal = CAIRN_REWIND_OFF;
    if (asked->job.running) {
        refusal = CAIRN_REWIND_BUSY;
    } else if (lag->rewind != NULL) {
        refusal = cairn_rewind_show(
            lag->rewind, asked->past, asked->pacing.tick, lag->age_ticks_max, sight, out);
    }
    lag->counts[refusal] += 1;
    return refusal;
}

cairn_rewind_refusal cairn_server_rewind_ray(cairn_server *server, uint32_t room,
    const cairn_sight *sight, const cairn_rewind_ray *ray, cairn_ray_hit *out) {
    const cairn_world *world;
    const cairn_rewind_refusal refusal = cairn_server_rewind_world(server, room, sight, &world);
    *out = (cairn_ray_hit){.shape = 0};
    if (refusal == CAIRN_REWIND_SHOWN) {
        (void)cairn_world_ray_cast(
            world, ray->origin, ray->translation, ray->mask, ray->ignored, out);
    }
    return refusal;
}

cairn_rewind_refusal cairn_server_rewind_overlap(cairn_server *server, uint32_t room,
    const cairn_sight *sight, const cairn_rewind_probe *probe, cairn_shape_id *out,
    uint32_t capacity, uint32_t *count) {
    const cairn_world *world;
    const cairn_rewind_refusal refusal = cairn_server_rewind_world(server, room, sight, &world);
    *count = 0;
    if (refusal == CAIRN_REWIND_SHOWN) {
        *count = cairn_world_overlap(world, probe->shape, probe->pose, probe->mask, out, capacity);
    }
    return refusal;
}

bool cairn_server_rewind_counts_read(
    const cairn_server *server, uint32_t room, uint64_t counts[CAIRN_REWIND_REFUSAL_COUNT]) {
    const cairn_room *read = cairn_rooms_at(server, room);
    memset(counts, 0, CAIRN_REWIND_REFUSAL_COUNT * sizeof counts[0]);
    if (read == NULL) {
        return false;
    }
    memcpy(counts, read->lag.counts, sizeof read->lag.counts);
    return true;
}

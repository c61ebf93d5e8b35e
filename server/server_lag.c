// SPDX-License-Identifier: MIT
#include <cairn/server_lag.h>

#include <string.h>

#include "base/assert.h"
#include "server/core/server_state.h"
#include "server/lag/lag_compensation.h"

// The delay that client_lib/interpolate/interpolation.c adds to the spacing of snapshots.
#define JITTERS 3
#define MARGIN_NS 1e6

cairn_lag_refusal cairn_server_lag_enable(
    cairn_server *server, uint32_t room, uint32_t age_ms_max) {
    cairn_room *found = cairn_room_table_at(&server->rooms, room);
    return found == NULL ? CAIRN_LAG_NO_ROOM : cairn_lag_enable(found, age_ms_max);
}

static const cairn_session *find_playing(const cairn_server *server, uint32_t client) {
    const bool playing = client < server->config.clients_max &&
                         server->sessions[client].state == CAIRN_SESSION_PLAYING;
    return playing ? &server->sessions[client] : NULL;
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
        return view_time_at(only != NULL ? only->frame.tick : room->scheduler.tick);
    }
    return view_time_between(before->frame.tick, after->frame.tick, tick);
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

cairn_lag_refusal cairn_server_lag_view_time_estimate(
    const cairn_server *server, uint32_t client, uint64_t when_ns, cairn_view_time *out) {
    const cairn_session *session = find_playing(server, client);
    const uint64_t newest = session == NULL ? 0 : session->room->scheduler.tick;
    *out = view_time_at(newest);
    if (newest == 0) {
        return CAIRN_LAG_NO_CLIENT;
    }
    const cairn_room *room = session->room;
    const cairn_link_statistics *link = cairn_link_statistics_read(session->link);
    // The state of the newest tick exists since the step before it was due. The state that the
    // client shows at `when_ns` left the server one way and one interpolation delay before.
    const uint64_t since_ns = cairn_tick_scheduler_due_ns(&room->scheduler, newest - 1);
    const double age_ns =
        when_ns >= since_ns ? (double)(when_ns - since_ns) : -(double)(since_ns - when_ns);
    const double path_ns = (double)link->rtt_ns / 2 + interpolation_delay_ns(session, link);
    const double tick_ns = 1e9 / room->settings.tick_rate_hz;
    const double tick = (double)newest + (age_ns - path_ns) / tick_ns;
    if (session->mode == CAIRN_MODE_INTERPOLATE) {
        *out = view_time_in_snapshots(room, tick);
        out->rounded = true;
    } else if (session->mode != CAIRN_MODE_PREDICT) {
        *out = view_time_in_ticks(room, tick);
    }
    return CAIRN_LAG_SHOWN;
}

cairn_lag_refusal cairn_server_lag_view_time_reported(
    const cairn_server *server, uint32_t client, cairn_view_time *out) {
    const cairn_session *session = find_playing(server, client);
    *out = view_time_at(0);
    if (session == NULL) {
        return CAIRN_LAG_NO_CLIENT;
    }
    if (session->lag->shown.span == 0) {
        return CAIRN_LAG_NOT_REPORTED;
    }
    *out = session->lag->shown;
    return CAIRN_LAG_SHOWN;
}

cairn_lag_refusal cairn_server_lag_world(cairn_server *server, uint32_t room,
    const cairn_view_time *view_time, const cairn_world **out) {
    CAIRN_ASSERT(view_time != NULL && out != NULL);
    cairn_room *found = cairn_room_table_at(&server->rooms, room);
    *out = NULL;
    if (found == NULL) {
        return CAIRN_LAG_NO_ROOM;
    }
    cairn_lag_compensation *lag = found->lag;
    cairn_lag_refusal refusal = CAIRN_LAG_OFF;
    if (found->job.running) {
        refusal = CAIRN_LAG_BUSY;
    } else if (lag->world != NULL) {
        const cairn_quantisation quantisation = cairn_room_quantisation(found);
        refusal = cairn_lag_world_show(lag->world, found->state_history, found->scheduler.tick,
            lag->age_ticks_max, &quantisation, view_time, out);
    }
    lag->counts[refusal] += 1;
    return refusal;
}

cairn_lag_refusal cairn_server_lag_ray_cast(cairn_server *server, uint32_t room,
    const cairn_view_time *view_time, const cairn_lag_ray *ray, cairn_ray_hit *out) {
    const cairn_world *world;
    const cairn_lag_refusal refusal = cairn_server_lag_world(server, room, view_time, &world);
    *out = (cairn_ray_hit){.shape = 0};
    CAIRN_ASSERT((refusal == CAIRN_LAG_SHOWN) == (world != NULL));
    if (world != NULL) {
        (void)cairn_world_ray_cast(
            world, ray->origin, ray->translation, ray->mask, ray->ignored, out);
    }
    return refusal;
}

cairn_lag_refusal cairn_server_lag_overlap(cairn_server *server, uint32_t room,
    const cairn_view_time *view_time, const cairn_lag_probe *probe, cairn_shape_id *out,
    uint32_t capacity, uint32_t *count) {
    const cairn_world *world;
    const cairn_lag_refusal refusal = cairn_server_lag_world(server, room, view_time, &world);
    *count = 0;
    CAIRN_ASSERT((refusal == CAIRN_LAG_SHOWN) == (world != NULL));
    if (world != NULL) {
        *count = cairn_world_overlap(world, probe->shape, probe->pose, probe->mask, out, capacity);
    }
    return refusal;
}

bool cairn_server_lag_counts_read(
    const cairn_server *server, uint32_t room, uint64_t counts[CAIRN_LAG_REFUSAL_COUNT]) {
    CAIRN_ASSERT(counts != NULL);
    const cairn_room *read = cairn_room_table_at(&server->rooms, room);
    memset(counts, 0, CAIRN_LAG_REFUSAL_COUNT * sizeof counts[0]);
    if (read != NULL) {
        memcpy(counts, read->lag->counts, sizeof read->lag->counts);
    }
    return read != NULL;
}

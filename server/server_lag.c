// SPDX-License-Identifier: MIT
#include <cairn/server_lag.h>

#include <string.h>

#include "base/assert.h"
#include "server/core/server_state.h"
#include "server/lag/lag_compensation.h"

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

cairn_lag_refusal cairn_server_lag_view_time_estimate(
    const cairn_server *server, uint32_t client, uint64_t when_ns, cairn_view_time *out) {
    const cairn_session *session = find_playing(server, client);
    *out = (cairn_view_time){.span = 1};
    return session == NULL ? CAIRN_LAG_NO_CLIENT
                           : cairn_lag_view_time_estimate(session, when_ns, out);
}

cairn_lag_refusal cairn_server_lag_view_time_reported(
    const cairn_server *server, uint32_t client, cairn_view_time *out) {
    const cairn_session *session = find_playing(server, client);
    *out = (cairn_view_time){.span = 1};
    return session == NULL ? CAIRN_LAG_NO_CLIENT : cairn_lag_view_time_reported(session, out);
}

cairn_lag_refusal cairn_server_lag_world(cairn_server *server, uint32_t room,
    const cairn_view_time *view_time, const cairn_world **out) {
    CAIRN_ASSERT(view_time != NULL && out != NULL);
    cairn_room *found = cairn_room_table_at(&server->rooms, room);
    *out = NULL;
    return found == NULL ? CAIRN_LAG_NO_ROOM : cairn_lag_show(found, view_time, out);
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

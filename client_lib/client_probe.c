// SPDX-License-Identifier: MIT
#include "client_lib/client_probe.h"

#include "base/assert.h"
#include "client_lib/client_parts.h"

cairn_client_probe cairn_client_probe_of(cairn_client *client) {
    CAIRN_ASSERT(client != NULL);
    return (cairn_client_probe){
        .connection = &client->connection,
        .lockstep = &client->lockstep,
        .timeline = &client->lockstep.timeline,
        .predict = &client->predict,
        .resync = &client->resync,
        .snapshots = &client->view.snapshots,
        .passport = &client->passport,
        .snapshot_drops = client->drops.snapshot,
        .world_epoch = client->session.world_epoch,
        .welcomed = client->session.welcomed,
        .simulates = cairn_client_simulates(client),
    };
}

bool cairn_client_probe_damage(cairn_client *client, uint32_t body) {
    cairn_timeline *timeline = &client->lockstep.timeline;
    const cairn_vec3 push = {.x = 0.5f, .y = 2.0f};
    if (!cairn_client_simulates(client) || !timeline->adopted ||
        cairn_body_set_velocity(timeline->world, body, push, (cairn_vec3){0}) != CAIRN_OK) {
        return false;
    }
    cairn_timeline_forget_states(timeline);
    return true;
}

void cairn_client_probe_ignore_world(cairn_client *client) {
    CAIRN_ASSERT(client->config.mode == CAIRN_CLIENT_INTERPOLATE ||
                 client->config.mode == CAIRN_CLIENT_LOCKSTEP);
    CAIRN_ASSERT(client->connection.state == CAIRN_CLIENT_IDLE);
    client->lockstep.timeline.follows = true;
}

uint64_t cairn_client_probe_tick(const cairn_client *client) {
    return client->timing.newest_tick;
}

uint32_t cairn_client_probe_tick_rate_hz(const cairn_client *client) {
    return client->session.tick_rate_hz;
}

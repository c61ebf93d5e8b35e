// SPDX-License-Identifier: MIT
#pragma once

// Lag compensation, for who hosts a server in the same process: what did a client see when it
// aimed, and what does a ray or a shape meet there? Nothing of this changes a room; what a game
// does about the answer reaches its world as commands.

#include <stdint.h>

#include "server/lag/lag_world.h"
#include <cairn/server.h>

// How far a room lets itself be looked back at; 0, as after create: not at all, and it costs
// nothing. Otherwise each tick's state is kept for so long, at most
// CAIRN_ROOM_STATE_HISTORY_SECONDS, and two more worlds of the room's size. CAIRN_LAG_NO_ROOM,
// CAIRN_LAG_BUSY, CAIRN_LAG_MEMORY.
cairn_lag_refusal cairn_server_lag_enable(cairn_server *server, uint32_t room, uint32_t age_ms_max);

// What a client showed at `when_ns` (of the server's clock), as far as the server can know: from
// the half of its link's round trip, and, where it interpolates, from the spacing of its snapshots
// and the delay that client_lib takes for it. For an input that arrives now ask for half a round
// trip ago. Who predicts shows its own present: for it, the newest tick is the answer.
// CAIRN_LAG_NO_CLIENT.
cairn_lag_refusal cairn_server_lag_view_time_estimate(
    const cairn_server *server, uint32_t client, uint64_t when_ns, cairn_view_time *out);

// What the client said it showed with its newest inputs: exact, where a host may trust its clients
// within the age that it allows. CAIRN_LAG_NO_CLIENT, CAIRN_LAG_NOT_REPORTED: it has not said, or
// showed what the server never had (a prediction, an extrapolation):
// cairn_server_lag_view_time_estimate guesses.
cairn_lag_refusal cairn_server_lag_view_time_reported(
    const cairn_server *server, uint32_t client, cairn_view_time *out);

// The world as it was shown, for any query of include/cairn/sim.h that does not write. *out lasts
// until the next call of a function here for this room, and until the room's next tick; NULL on
// refusal. Bodies of it may be gone since: ask cairn_body_exists of the room's world.
cairn_lag_refusal cairn_server_lag_world(
    cairn_server *server, uint32_t room, const cairn_view_time *sight, const cairn_world **out);

typedef struct cairn_lag_ray {
    cairn_vec3 origin;
    cairn_vec3 translation;
    uint32_t mask;         // of shape categories
    cairn_body_id ignored; // 0: none
} cairn_lag_ray;

// cairn_world_ray_cast into the world as it was shown. Nothing met: out->shape is 0.
cairn_lag_refusal cairn_server_lag_ray_cast(cairn_server *server, uint32_t room,
    const cairn_view_time *sight, const cairn_lag_ray *ray, cairn_ray_hit *out);

typedef struct cairn_lag_probe {
    const cairn_shape_def *shape; // its kind and sizes
    cairn_pose pose;
    uint32_t mask; // of shape categories
} cairn_lag_probe;

// cairn_world_overlap with the world as it was shown: *count shapes, of which at most `capacity`
// are written.
cairn_lag_refusal cairn_server_lag_overlap(cairn_server *server, uint32_t room,
    const cairn_view_time *sight, const cairn_lag_probe *probe, cairn_shape_id *out,
    uint32_t capacity, uint32_t *count);

// How often the room's past was shown (CAIRN_LAG_SHOWN) or refused, by reason. False when there
// is no such room.
bool cairn_server_lag_counts_read(
    const cairn_server *server, uint32_t room, uint64_t counts[CAIRN_LAG_REFUSAL_COUNT]);

// SPDX-License-Identifier: MIT
#pragma once

// Lag compensation, for a host that runs a server in its own process: finds what a client saw when
// it aimed, and casts rays and shapes into that past world. Nothing here changes a room; a game
// applies what it concludes as commands.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/server.h>
#include <cairn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

// The point in time that a client showed: between the states of `tick` and `tick + span`, at
// `fraction` of the way. A client that interpolates between snapshots shows spans of several ticks.
typedef struct cairn_view_time {
    uint64_t tick;
    uint32_t span;  // at least 1
    float fraction; // [0, 1]; at 0 the later state is not read
    bool rounded;   // poses as snapshots carry them, which a client that interpolates shows
} cairn_view_time;

// Why a past world is not available. Counted for each room.
typedef enum cairn_lag_refusal {
    CAIRN_LAG_SHOWN = 0,
    CAIRN_LAG_OFF,               // not enabled for the room
    CAIRN_LAG_VIEW_TIME_INVALID, // span or fraction is outside its range
    CAIRN_LAG_TOO_OLD,           // older than the age_ms_max of enable
    CAIRN_LAG_FUTURE,            // not stepped yet
    CAIRN_LAG_NOT_HELD,          // before the room began, or its state history is too small
    CAIRN_LAG_NO_ROOM,           // no such room
    CAIRN_LAG_BUSY,              // the room is being stepped on a thread: try after its job
    CAIRN_LAG_NO_CLIENT,         // no such client, or it has seen nothing yet
    CAIRN_LAG_NOT_REPORTED,      // the client did not report what it shows
    CAIRN_LAG_MEMORY,            // out of memory
    CAIRN_LAG_REFUSAL_COUNT
} cairn_lag_refusal;
// A lower-case phrase; static text, never NULL.
const char *cairn_lag_refusal_text(cairn_lag_refusal refusal);

// Sets how far back the room can be queried, at most 2000 ms. 0, as after create, switches lag
// compensation off and costs nothing. Otherwise the room keeps the state of each tick for that long
// and two more worlds of its size. CAIRN_LAG_NO_ROOM, CAIRN_LAG_BUSY, CAIRN_LAG_MEMORY.
cairn_lag_refusal cairn_server_lag_enable(cairn_server *server, uint32_t room, uint32_t age_ms_max);

// Estimates what a client showed at `when_ns` of the server's clock, from half its round trip time
// and, if it interpolates, from the spacing of its snapshots and the delay that client_lib adds to
// it. For an input that arrives now pass the time of half a round trip ago. A client that predicts
// shows its own present, so its estimate is the newest tick. CAIRN_LAG_NO_CLIENT.
cairn_lag_refusal cairn_server_lag_view_time_estimate(
    const cairn_server *server, uint32_t client, uint64_t when_ns, cairn_view_time *out);

// The view time that the client reported with its newest inputs. It is exact, but a dishonest
// client can choose it within the age that the room is enabled for. CAIRN_LAG_NO_CLIENT.
// CAIRN_LAG_NOT_REPORTED: the client reported nothing, or showed something that the server never
// had (a prediction, an extrapolation); use the estimate then.
cairn_lag_refusal cairn_server_lag_view_time_reported(
    const cairn_server *server, uint32_t client, cairn_view_time *out);

// The world as it was shown, for any query of cairn/sim.h that does not write. *out is valid until
// the next call of a function here for this room or the room's next tick; NULL on refusal. Some of
// its bodies may have been destroyed since: call cairn_body_exists with the room's world.
cairn_lag_refusal cairn_server_lag_world(
    cairn_server *server, uint32_t room, const cairn_view_time *view_time, const cairn_world **out);

typedef struct cairn_lag_ray {
    cairn_vec3 origin;
    cairn_vec3 translation;
    uint32_t mask;         // of shape categories
    cairn_body_id ignored; // 0: none
} cairn_lag_ray;

// cairn_world_ray_cast into the world as it was shown. If the ray hits nothing, out->shape is 0.
cairn_lag_refusal cairn_server_lag_ray_cast(cairn_server *server, uint32_t room,
    const cairn_view_time *view_time, const cairn_lag_ray *ray, cairn_ray_hit *out);

typedef struct cairn_lag_probe {
    const cairn_shape_def *shape; // its kind and sizes
    cairn_pose pose;
    uint32_t mask; // of shape categories
} cairn_lag_probe;

// cairn_world_overlap in the world as it was shown. Writes at most `capacity` shapes to `out` and
// the number of all that overlap to *count.
cairn_lag_refusal cairn_server_lag_overlap(cairn_server *server, uint32_t room,
    const cairn_view_time *view_time, const cairn_lag_probe *probe, cairn_shape_id *out,
    uint32_t capacity, uint32_t *count);

// How often a past world was shown (CAIRN_LAG_SHOWN) or refused, by reason. False if there is no
// such room.
bool cairn_server_lag_counts_read(
    const cairn_server *server, uint32_t room, uint64_t counts[CAIRN_LAG_REFUSAL_COUNT]);

#ifdef __cplusplus
}
#endif

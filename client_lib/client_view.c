// SPDX-License-Identifier: MIT
// What a client shows: bodies at a moment, shapes, corners of hulls.
#include <cairn/client.h>

#include "base/assert.h"
#include "bridge/snapshot.h"
#include "client_lib/client_parts.h"

// A longer time between two samples is a pause of the host: it is not counted as extrapolated.
#define SAMPLE_GAP_NS_MAX 250000000

// Adds the time since the last sample if the picture is extrapolated.
static void count_extrapolation(
    cairn_client_view *view, uint64_t now_ns, const cairn_client_sample *sample) {
    const uint64_t since_ns = now_ns > view->sampled_ns ? now_ns - view->sampled_ns : 0;
    const bool counts =
        sample->extrapolated && view->sampled_ns > 0 && since_ns < SAMPLE_GAP_NS_MAX;
    view->statistics.extrapolated_ns += counts ? since_ns : 0;
    view->sampled_ns = now_ns;
}

bool cairn_client_sample_world(cairn_client *client, uint64_t now_ns, cairn_client_body *bodies,
    uint32_t body_capacity, cairn_client_sample *out) {
    CAIRN_ASSERT(client != NULL && out != NULL && (bodies != NULL || body_capacity == 0));
    cairn_client_view *view = &client->view;
    const bool simulates = cairn_client_simulates(client);
    // After a change to snapshots the last steps are shown until the first snapshot arrives.
    const bool shows_steps = simulates || view->snapshots.count == 0;
    const cairn_snapshots *snapshots = shows_steps ? &client->lockstep.snapshots : &view->snapshots;
    *out = (cairn_client_sample){0};
    if (!client->session.welcomed || (snapshots->count == 0 && !client->predict.open)) {
        return false;
    }
    if (cairn_client_predicts(client)) {
        return cairn_client_prediction_sample(client, now_ns, bodies, body_capacity, out);
    }
    const double tick =
        cairn_interpolation_tick(&view->interpolation, &client->timing.clock, now_ns);
    const double tick_ns = 1e9 / client->session.tick_rate_hz;
    // A lockstep world is not extrapolated: after the last confirmed step it stands still.
    const double beyond =
        simulates ? 0 : (double)view->interpolation.extrapolation_ns_max / tick_ns;
    const bool shown =
        cairn_interpolate(snapshots, tick, tick_ns, beyond, bodies, body_capacity, out);
    count_extrapolation(view, now_ns, out);
    view->shown = *out;
    return shown;
}

uint32_t cairn_client_events(cairn_client *client, cairn_client_event *out, uint32_t capacity) {
    CAIRN_ASSERT(client != NULL && (out != NULL || capacity == 0));
    cairn_client_view *view = &client->view;
    return cairn_client_simulates(client)
               ? 0
               : cairn_event_queue_take(&view->events, view->shown.tick, out, capacity);
}

static cairn_client_shape client_shape_of(const cairn_snapshot_shape *shape) {
    const cairn_vec3 half = shape->half_extents, position = shape->position;
    const cairn_quat rotation = shape->rotation;
    return (cairn_client_shape){
        .id = shape->id,
        .body = shape->body,
        .kind = (cairn_shape_kind)shape->kind,
        .half_extents = {half.x, half.y, half.z},
        .radius = shape->radius,
        .half_height = shape->half_height,
        .position = {position.x, position.y, position.z},
        .rotation = {rotation.x, rotation.y, rotation.z, rotation.w},
    };
}

uint32_t cairn_client_shapes(
    const cairn_client *client, cairn_client_shape *out, uint32_t capacity, uint32_t *revision) {
    CAIRN_ASSERT(client != NULL && (out != NULL || capacity == 0));
    const cairn_lockstep *lockstep = &client->lockstep;
    const cairn_shape_list *list = &client->view.shapes;
    const bool simulates = cairn_client_simulates(client);
    const cairn_snapshot_shape *shapes = simulates ? lockstep->shapes[0] : list->shapes;
    const uint32_t count = simulates ? lockstep->shape_count : list->count;
    if (revision != NULL) {
        *revision = simulates ? lockstep->shape_revision : list->revision;
    }
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        out[i] = client_shape_of(&shapes[i]);
    }
    return count;
}

uint32_t cairn_client_shape_corners(
    const cairn_client *client, cairn_shape_id shape, float (*out)[3], uint32_t capacity) {
    CAIRN_ASSERT(client != NULL && (out != NULL || capacity == 0));
    cairn_vec3 own[CAIRN_HULL_VERTICES_MAX];
    const cairn_vec3 *corners = own;
    uint32_t count = 0;
    if (!cairn_client_simulates(client)) {
        const cairn_shape_hull *hull = cairn_shape_list_hull(&client->view.shapes, shape);
        count = hull == NULL ? 0 : hull->count;
        corners = hull == NULL ? own : hull->corners;
    } else if (client->lockstep.timeline.world != NULL) {
        count = cairn_shape_corners_read(client->lockstep.timeline.world, shape, own);
    }
    CAIRN_ASSERT(count <= CAIRN_HULL_VERTICES_MAX);
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        out[i][0] = corners[i].x;
        out[i][1] = corners[i].y;
        out[i][2] = corners[i].z;
    }
    return count;
}

// SPDX-License-Identifier: MIT
// What a client shows: bodies at a moment, shapes, corners of hulls, surfaces of meshes.
#include <cairn/client.h>

#include <math.h>
#include <string.h>

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

// The picture of the last sample was extrapolated and snapshots have arrived since: what it would
// show now glides to what is shown.
static void smooth_extrapolation(cairn_client_view *view, double tick, double tick_ns,
    double beyond, const cairn_client_body *bodies, uint32_t count) {
    cairn_snapshots held = view->snapshots;
    cairn_client_sample sample;
    while (held.count > 0 && held.list[held.count - 1].tick > view->shown.tick_from) {
        held.count -= 1;
    }
    if (!view->shown.extrapolated || held.count == view->snapshots.count ||
        !cairn_interpolate(&held, tick, tick_ns, beyond, true, view->before,
            view->snapshots.bodies_max, &sample)) {
        return;
    }
    uint32_t k = 0;
    for (uint32_t i = 0; i < sample.body_count; i++) {
        const cairn_client_body *before = &view->before[i];
        const uint32_t index = cairn_id_index(before->id);
        while (k < count && cairn_id_index(bodies[k].id) < index) {
            k++;
        }
        if (k < count && index < view->smoothing.capacity && bodies[k].id == before->id &&
            bodies[k].teleports == before->teleports) {
            (void)cairn_smoothing_add(&view->smoothing, before, &bodies[k]);
        }
    }
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
    const bool curved = !client->config.interpolation_exact;
    const double beyond =
        simulates ? 0 : (double)view->interpolation.extrapolation_ns_max / tick_ns;
    const bool shown =
        cairn_interpolate(snapshots, tick, tick_ns, beyond, curved, bodies, body_capacity, out);
    const uint32_t count = out->body_count < body_capacity ? out->body_count : body_capacity;
    count_extrapolation(view, now_ns, out);
    if (shown && !shows_steps && curved) {
        cairn_smoothing_advance(&view->smoothing, now_ns);
        smooth_extrapolation(view, tick, tick_ns, beyond, bodies, count);
        cairn_smoothing_apply(&view->smoothing, bodies, count);
    }
    view->shown = *out;
    return shown;
}

uint32_t cairn_client_events(cairn_client *client, cairn_client_event *out, uint32_t capacity) {
    CAIRN_ASSERT(client != NULL && (out != NULL || capacity == 0));
    cairn_client_view *view = &client->view;
    const double until = cairn_client_simulates(client) ? (double)INFINITY : view->shown.tick;
    return cairn_event_queue_take(&view->events, until, out, capacity);
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
        .mesh = shape->mesh,
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

// The world of a client that simulates; NULL: its state has not arrived.
static const cairn_world *shown_world(const cairn_client *client) {
    CAIRN_ASSERT(cairn_client_simulates(client));
    return client->lockstep.timeline.world;
}

static cairn_client_mesh mesh_of_world(const cairn_mesh_info *info) {
    return (cairn_client_mesh){
        .kind = info->kind,
        .vertex_count = info->vertex_count,
        .triangle_count = info->triangle_count,
        .columns = info->columns,
        .rows = info->rows,
        .spacing_x = info->spacing_x,
        .spacing_z = info->spacing_z,
    };
}

static cairn_client_mesh mesh_of_list(const cairn_shown_mesh *mesh) {
    return (cairn_client_mesh){
        .kind = mesh->kind,
        .vertex_count = mesh->vertex_count,
        .triangle_count = mesh->triangle_count,
        .columns = mesh->columns,
        .rows = mesh->rows,
        .spacing_x = mesh->spacing_x,
        .spacing_z = mesh->spacing_z,
    };
}

cairn_status cairn_client_mesh_info(
    const cairn_client *client, cairn_mesh_id mesh, cairn_client_mesh *out, uint32_t *revision) {
    CAIRN_ASSERT(client != NULL && out != NULL);
    const bool simulates = cairn_client_simulates(client);
    *out = (cairn_client_mesh){0};
    if (revision != NULL) {
        *revision = simulates ? client->lockstep.shape_revision : client->view.meshes.revision;
    }
    if (simulates) {
        const cairn_world *world = shown_world(client);
        cairn_mesh_info info;
        const bool known = world != NULL && cairn_mesh_info_read(world, mesh, &info) == CAIRN_OK;
        *out = known ? mesh_of_world(&info) : *out;
        return known ? CAIRN_OK : CAIRN_NOT_FOUND;
    }
    const cairn_shown_mesh *shown = cairn_mesh_list_find(&client->view.meshes, mesh);
    *out = shown != NULL ? mesh_of_list(shown) : *out;
    return shown != NULL ? CAIRN_OK : CAIRN_NOT_FOUND;
}

cairn_status cairn_client_mesh_read(
    const cairn_client *client, cairn_mesh_id mesh, float (*vertices)[3], uint32_t *indices) {
    CAIRN_ASSERT(client != NULL && vertices != NULL && indices != NULL);
    if (cairn_client_simulates(client)) {
        const cairn_world *world = shown_world(client);
        // A cairn_vec3 is three floats without padding.
        return world == NULL ? CAIRN_NOT_FOUND
                             : cairn_mesh_read(world, mesh, (cairn_vec3 *)vertices, indices);
    }
    const cairn_shown_mesh *shown = cairn_mesh_list_find(&client->view.meshes, mesh);
    if (shown == NULL || shown->kind != CAIRN_MESH_TRIANGLES) {
        return CAIRN_NOT_FOUND;
    }
    const size_t reals = (size_t)3 * shown->vertex_count;
    memcpy(vertices, shown->words, reals * sizeof *shown->words);
    memcpy(indices, shown->words + reals, (shown->word_count - reals) * sizeof *shown->words);
    return CAIRN_OK;
}

cairn_status cairn_client_height_field_read(
    const cairn_client *client, cairn_mesh_id mesh, float *heights) {
    CAIRN_ASSERT(client != NULL && heights != NULL);
    if (cairn_client_simulates(client)) {
        const cairn_world *world = shown_world(client);
        return world == NULL ? CAIRN_NOT_FOUND : cairn_height_field_read(world, mesh, heights);
    }
    const cairn_shown_mesh *shown = cairn_mesh_list_find(&client->view.meshes, mesh);
    if (shown == NULL || shown->kind != CAIRN_MESH_HEIGHTS) {
        return CAIRN_NOT_FOUND;
    }
    memcpy(heights, shown->words, shown->word_count * sizeof *shown->words);
    return CAIRN_OK;
}

// SPDX-License-Identifier: MIT
// The verbs that query a world: bodies, joints, rays, casts, overlaps, the nearest shape.
#include <stdlib.h>

#include "base/assert.h"
#include "server/control/verbs.h"
#include "server/lag/lag_compensation.h"
#include <cairn/math.h>

// How far back a client's view may lie, ms.
#define VIEW_AGE_MS_MAX 1000

cairn_control_refusal cairn_control_on_get(cairn_control_context *c) {
    const cairn_body_id id = c->request->get.body;
    cairn_body_state body;
    if (cairn_body_read(c->room->world, id, &body) != CAIRN_OK) {
        return cairn_control_refuse(c, CAIRN_CONTROL_BODY_UNKNOWN, "unknown body %u", id);
    }
    c->answer.get.body = cairn_control_describe_body(&body);
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_bodies(cairn_control_context *c) {
    const uint32_t first = c->request->bodies.first;
    const uint32_t count = cairn_world_bodies(c->room->world, NULL, 0);
    if (first > count) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_OUT_OF_RANGE, "the world has %u bodies", count);
    }
    cairn_body_state *bodies = malloc((count > 0 ? count : 1) * sizeof *bodies);
    if (bodies == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    cairn_world_bodies(c->room->world, bodies, count);
    const uint32_t left = count - first;
    const uint32_t listed = left < CAIRN_CONTROL_BODIES_MAX ? left : CAIRN_CONTROL_BODIES_MAX;
    CAIRN_ASSERT(first + listed <= count && listed <= CAIRN_CONTROL_BODIES_MAX);
    for (uint32_t i = 0; i < listed; ++i) {
        c->lists->bodies[i] = cairn_control_describe_body(&bodies[first + i]);
    }
    free(bodies);
    c->answer.bodies = (cairn_control_bodies_answer){
        .body_count = count, .bodies = c->lists->bodies, .listed_count = listed};
    return CAIRN_CONTROL_DONE;
}

static bool within(cairn_vec3 a, float most) {
    CAIRN_ASSERT(most >= 0.0f);
    return a.x >= -most && a.x <= most && a.y >= -most && a.y <= most && a.z >= -most &&
           a.z <= most;
}

static cairn_control_refusal refuse_range(cairn_control_context *c) {
    return cairn_control_refuse(c, CAIRN_CONTROL_OUT_OF_RANGE,
        "a coordinate is beyond 100 km, or a size is below 1 mm or above 10 km");
}

static cairn_lag_refusal find_viewed_world(
    cairn_control_context *c, uint64_t client_id, const cairn_world **out) {
    CAIRN_ASSERT(!c->room->job.running);
    const cairn_server *server = c->server;
    cairn_view_time view;
    uint32_t client = 0;
    while (client < server->config.clients_max &&
           (server->sessions[client].room != c->room ||
               server->sessions[client].client_id != client_id)) {
        ++client;
    }
    // From the first such request on the room keeps the states that a view needs.
    cairn_lag_refusal refusal = CAIRN_LAG_SHOWN;
    if (c->room->lag->world == NULL) {
        refusal = cairn_server_lag_enable(c->server, c->room->id, VIEW_AGE_MS_MAX);
    }
    if (refusal == CAIRN_LAG_SHOWN) {
        refusal =
            cairn_server_lag_view_time_estimate(server, client, server->context.now_ns, &view);
    }
    return refusal != CAIRN_LAG_SHOWN ? refusal
                                      : cairn_server_lag_world(c->server, c->room->id, &view, out);
}

// The room's world as it is, or as the client `seen_by` sees it now.
static cairn_control_refusal find_world(
    cairn_control_context *c, bool has_seen_by, uint64_t seen_by, const cairn_world **out) {
    static const cairn_control_refusal refusals[CAIRN_LAG_REFUSAL_COUNT] = {
        [CAIRN_LAG_NO_CLIENT] = CAIRN_CONTROL_NAME_UNKNOWN,
        [CAIRN_LAG_BUSY] = CAIRN_CONTROL_BUSY,
        [CAIRN_LAG_MEMORY] = CAIRN_CONTROL_CAPACITY,
    };
    *out = c->room->world;
    const cairn_lag_refusal refusal =
        has_seen_by ? find_viewed_world(c, seen_by, out) : CAIRN_LAG_SHOWN;
    CAIRN_ASSERT(refusal < CAIRN_LAG_REFUSAL_COUNT);
    if (refusal == CAIRN_LAG_SHOWN) {
        return CAIRN_CONTROL_DONE;
    }
    const bool named = refusals[refusal] != CAIRN_CONTROL_DONE;
    return cairn_control_refuse(c, named ? refusals[refusal] : CAIRN_CONTROL_TICK_GONE, "%s",
        cairn_lag_refusal_text(refusal));
}

// A mask of 0 means all shapes: clients leave out what they do not restrict.
static cairn_query_filter filter_of(uint32_t mask, cairn_body_id ignored) {
    cairn_query_filter filter = cairn_query_filter_default();
    filter.mask = mask == 0 ? UINT32_MAX : mask;
    filter.ignored = ignored;
    return filter;
}

// `hit` NULL: nothing was hit.
static void answer_hit(cairn_control_context *c, const cairn_ray_hit *hit) {
    c->answer.ray = (cairn_control_ray_answer){.hit = hit != NULL};
    if (hit != NULL) {
        c->answer.ray.body = hit->body;
        c->answer.ray.shape = hit->shape;
        c->answer.ray.point = hit->point;
        c->answer.ray.normal = hit->normal;
        c->answer.ray.fraction = hit->fraction;
    }
}

cairn_control_refusal cairn_control_on_ray(cairn_control_context *c) {
    const cairn_control_ray_request *request = &c->request->ray;
    const cairn_vec3 origin = cairn_vec3_clean(request->origin);
    const cairn_vec3 translation = cairn_vec3_clean(request->translation);
    if (!within(origin, CAIRN_DISTANCE_MAX) || !within(translation, CAIRN_DISTANCE_MAX)) {
        return refuse_range(c);
    }
    const cairn_world *world;
    const cairn_control_refusal refusal =
        find_world(c, request->has_seen_by, request->seen_by, &world);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    cairn_ray_hit hit;
    const cairn_query_filter filter = filter_of(request->mask, request->ignored_body);
    const cairn_status status = cairn_world_ray_closest(world, origin, translation, &filter, &hit);
    answer_hit(c, status == CAIRN_OK ? &hit : NULL);
    return CAIRN_CONTROL_DONE;
}

// The box or sphere of a request. False: a size is out of range.
static bool make_probe(cairn_vec3 half, bool has_radius, float radius, cairn_shape_def *out) {
    *out = cairn_shape_def_default();
    out->kind = has_radius ? CAIRN_SHAPE_SPHERE : CAIRN_SHAPE_BOX;
    out->radius = radius;
    out->half_extents = half;
    if (has_radius) {
        return radius >= CAIRN_SHAPE_SIZE_MIN && radius <= CAIRN_SHAPE_SIZE_MAX;
    }
    return half.x >= CAIRN_SHAPE_SIZE_MIN && half.y >= CAIRN_SHAPE_SIZE_MIN &&
           half.z >= CAIRN_SHAPE_SIZE_MIN && within(half, CAIRN_SHAPE_SIZE_MAX);
}

cairn_control_refusal cairn_control_on_cast(cairn_control_context *c) {
    const cairn_control_cast_request *request = &c->request->cast;
    cairn_shape_def probe;
    const cairn_vec3 translation = cairn_vec3_clean(request->translation);
    const cairn_pose pose = {
        .position = cairn_vec3_clean(request->position), .rotation = {.w = 1.0f}};
    if (!within(pose.position, CAIRN_DISTANCE_MAX) || !within(translation, CAIRN_DISTANCE_MAX) ||
        !make_probe(request->half_extents, request->has_radius, request->radius, &probe)) {
        return refuse_range(c);
    }
    const cairn_world *world;
    const cairn_control_refusal refusal =
        find_world(c, request->has_seen_by, request->seen_by, &world);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    cairn_ray_hit hit;
    const cairn_query_filter filter = filter_of(request->mask, request->ignored_body);
    const cairn_status status =
        cairn_world_shape_cast(world, &probe, pose, translation, &filter, &hit);
    answer_hit(c, status == CAIRN_OK ? &hit : NULL);
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_closest(cairn_control_context *c) {
    const cairn_control_closest_request *request = &c->request->closest;
    const cairn_vec3 position = cairn_vec3_clean(request->position);
    if (!within(position, CAIRN_DISTANCE_MAX) || request->distance_max < 0.0f ||
        request->distance_max > CAIRN_DISTANCE_MAX) {
        return refuse_range(c);
    }
    const cairn_world *world;
    const cairn_control_refusal refusal =
        find_world(c, request->has_seen_by, request->seen_by, &world);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    cairn_closest closest;
    const cairn_query_filter filter = filter_of(request->mask, request->ignored_body);
    c->answer.closest = (cairn_control_closest_answer){.found = false};
    if (cairn_world_closest_to_point(world, position, request->distance_max, &filter, &closest) ==
        CAIRN_OK) {
        c->answer.closest = (cairn_control_closest_answer){.found = true,
            .body = closest.body,
            .shape = closest.shape,
            .distance = closest.distance,
            .point = closest.point,
            .normal = closest.normal};
    }
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_overlap(cairn_control_context *c) {
    const cairn_control_overlap_request *request = &c->request->overlap;
    cairn_shape_def shape;
    const cairn_pose pose = {
        .position = cairn_vec3_clean(request->position), .rotation = {.w = 1.0f}};
    if (!within(pose.position, CAIRN_DISTANCE_MAX) ||
        !make_probe(request->half_extents, request->has_radius, request->radius, &shape)) {
        return refuse_range(c);
    }
    const cairn_world *world;
    const cairn_control_refusal refusal =
        find_world(c, request->has_seen_by, request->seen_by, &world);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    cairn_shape_id shapes[CAIRN_CONTROL_OVERLAPS_MAX];
    const uint32_t count = cairn_world_overlap(world, &shape, pose,
        request->mask == 0 ? UINT32_MAX : request->mask, shapes, CAIRN_CONTROL_OVERLAPS_MAX);
    const uint32_t listed = count < CAIRN_CONTROL_OVERLAPS_MAX ? count : CAIRN_CONTROL_OVERLAPS_MAX;
    for (uint32_t i = 0; i < listed; ++i) {
        cairn_shape_def def;
        cairn_body_id body = 0;
        const cairn_status status = cairn_shape_read(world, shapes[i], &def, &body);
        CAIRN_ASSERT(status == CAIRN_OK);
        c->lists->shapes[i] = (cairn_control_shape){.body = body, .shape = shapes[i]};
    }
    c->answer.overlap = (cairn_control_overlap_answer){
        .shape_count = count, .shapes = c->lists->shapes, .listed_count = listed};
    return CAIRN_CONTROL_DONE;
}

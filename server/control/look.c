// SPDX-License-Identifier: MIT
// The verbs that look into a world.
#include <stdlib.h>

#include "server/control/parts.h"
#include "server/lag/lag_compensation.h"

// A page of bodies; each tells 13 numbers and 4 ids.
#define BODIES_PER_PAGE 512
_Static_assert(BODIES_PER_PAGE * 13 <= CAIRN_CONTROL_NUMBERS_OUT_MAX, "a page fits");
_Static_assert(BODIES_PER_PAGE * 4 <= CAIRN_CONTROL_IDS_MAX, "a page fits");
#define OVERLAPS_MAX 1024
// How far back a client's sight may lie.
#define SEEN_AGE_MS_MAX 1000

static void add_vec3(cairn_control_visit *v, cairn_vec3 a) {
    cairn_control_add_number(v, a.x);
    cairn_control_add_number(v, a.y);
    cairn_control_add_number(v, a.z);
}

static void add_body(cairn_control_visit *v, const cairn_body_state *body) {
    cairn_control_add_id(v, body->id);
    cairn_control_add_id(v, body->kind);
    cairn_control_add_id(v, body->awake);
    cairn_control_add_id(v, body->user);
    add_vec3(v, body->position);
    cairn_control_add_number(v, body->rotation.x);
    cairn_control_add_number(v, body->rotation.y);
    cairn_control_add_number(v, body->rotation.z);
    cairn_control_add_number(v, body->rotation.w);
    add_vec3(v, body->linear_velocity);
    add_vec3(v, body->angular_velocity);
}

cairn_control_refusal cairn_control_get(cairn_control_visit *v) {
    cairn_body_state body;
    if (cairn_body_read(v->room->world, v->ask->body, &body) != CAIRN_OK) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_BODY_UNKNOWN, "there is no body %u", v->ask->body);
    }
    add_body(v, &body);
    v->answer.count = 1;
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_bodies(cairn_control_visit *v) {
    const uint32_t first = v->ask->count;
    const uint32_t count = cairn_world_bodies(v->room->world, NULL, 0);
    if (first > count) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_OUT_OF_RANGE, "the world has %u bodies", count);
    }
    cairn_body_state *bodies = malloc((count > 0 ? count : 1) * sizeof *bodies);
    if (bodies == NULL) {
        return cairn_control_refuse(v, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    cairn_world_bodies(v->room->world, bodies, count);
    for (uint32_t i = first; i < count && i - first < BODIES_PER_PAGE; ++i) {
        add_body(v, &bodies[i]);
    }
    free(bodies);
    v->answer.count = count;
    return CAIRN_CONTROL_DONE;
}

static cairn_vec3 vector_at(const cairn_control_visit *v, uint32_t at) {
    const float *n = v->ask->numbers + at;
    return (cairn_vec3){n[0] + 0.0f, n[1] + 0.0f, n[2] + 0.0f};
}

static uint32_t mask_of(const cairn_control_visit *v) {
    return v->ask->mask == 0 ? UINT32_MAX : v->ask->mask;
}

static bool within(cairn_vec3 a, float most) {
    return a.x >= -most && a.x <= most && a.y >= -most && a.y <= most && a.z >= -most &&
           a.z <= most;
}

static cairn_control_refusal far_away(cairn_control_visit *v) {
    return cairn_control_refuse(
        v, CAIRN_CONTROL_OUT_OF_RANGE, "a coordinate is beyond 100 km, or a size below 1 mm");
}

static cairn_control_refusal not_seen(cairn_control_visit *v, cairn_lag_refusal refusal) {
    const cairn_control_refusal refusals[CAIRN_LAG_REFUSAL_COUNT] = {
        [CAIRN_LAG_NO_CLIENT] = CAIRN_CONTROL_NAME_UNKNOWN,
        [CAIRN_LAG_BUSY] = CAIRN_CONTROL_BUSY,
        [CAIRN_LAG_MEMORY] = CAIRN_CONTROL_CAPACITY,
    };
    return cairn_control_refuse(v,
        refusals[refusal] == CAIRN_CONTROL_DONE ? CAIRN_CONTROL_TICK_GONE : refusals[refusal], "%s",
        cairn_lag_refusal_text(refusal));
}

static cairn_lag_refusal seen_world(cairn_control_visit *v, const cairn_world **out) {
    const cairn_server *server = v->server;
    cairn_view_time sight;
    uint32_t client = 0;
    while (client < server->config.clients_max &&
           (server->sessions[client].room != v->room ||
               server->sessions[client].client_id != v->ask->seed)) {
        ++client;
    }
    // Control keeps the past that is looked back at.
    cairn_lag_refusal refusal = CAIRN_LAG_SHOWN;
    if (!cairn_lag_is_enabled(v->room)) {
        refusal = cairn_server_lag_enable(v->server, v->room->id, SEEN_AGE_MS_MAX);
    }
    if (refusal == CAIRN_LAG_SHOWN) {
        refusal =
            cairn_server_lag_view_time_estimate(server, client, server->context.now_ns, &sight);
    }
    return refusal != CAIRN_LAG_SHOWN ? refusal
                                      : cairn_server_lag_world(v->server, v->room->id, &sight, out);
}

// What is asked: the room's world as it is, or as the client of id `seed` sees it now.
static cairn_control_refusal world_asked(cairn_control_visit *v, const cairn_world **out) {
    *out = v->room->world;
    if (v->ask->count == 0) {
        return CAIRN_CONTROL_DONE;
    }
    const cairn_lag_refusal refusal = seen_world(v, out);
    return refusal == CAIRN_LAG_SHOWN ? CAIRN_CONTROL_DONE : not_seen(v, refusal);
}

cairn_control_refusal cairn_control_ray(cairn_control_visit *v) {
    const cairn_vec3 origin = vector_at(v, 0);
    const cairn_vec3 translation = vector_at(v, 3);
    if (!within(origin, 1e5f) || !within(translation, 1e5f)) {
        return far_away(v);
    }
    const cairn_world *world;
    const cairn_control_refusal refusal = world_asked(v, &world);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    cairn_ray_hit hit;
    const cairn_status status =
        cairn_world_ray_cast(world, origin, translation, mask_of(v), v->ask->body, &hit);
    if (status == CAIRN_OK) {
        v->answer.count = 1;
        cairn_control_add_id(v, hit.body);
        cairn_control_add_id(v, hit.shape);
        add_vec3(v, hit.point);
        add_vec3(v, hit.normal);
        cairn_control_add_number(v, hit.fraction);
    }
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_overlap(cairn_control_visit *v) {
    const cairn_vec3 half = vector_at(v, 3);
    const bool sphere = half.y == 0.0f && half.z == 0.0f;
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = sphere ? CAIRN_SHAPE_SPHERE : CAIRN_SHAPE_BOX;
    shape.radius = half.x;
    shape.half_extents = half;
    const cairn_pose pose = {.position = vector_at(v, 0), .rotation = {.w = 1.0f}};
    const bool sized = half.x >= 1e-3f && (sphere || (half.y >= 1e-3f && half.z >= 1e-3f));
    if (!within(pose.position, 1e5f) || !within(half, 1e4f) || !sized) {
        return far_away(v);
    }
    const cairn_world *world;
    const cairn_control_refusal refusal = world_asked(v, &world);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    cairn_shape_id shapes[OVERLAPS_MAX];
    v->answer.count = cairn_world_overlap(world, &shape, pose, mask_of(v), shapes, OVERLAPS_MAX);
    const uint32_t told = v->answer.count < OVERLAPS_MAX ? v->answer.count : OVERLAPS_MAX;
    for (uint32_t i = 0; i < told; ++i) {
        cairn_shape_def def;
        cairn_body_id body = 0;
        (void)cairn_shape_read(world, shapes[i], &def, &body);
        cairn_control_add_id(v, body);
        cairn_control_add_id(v, shapes[i]);
    }
    return CAIRN_CONTROL_DONE;
}

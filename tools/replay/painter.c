// SPDX-License-Identifier: MIT
#include "tools/replay/painter.h"

#include <stdlib.h>

#include <cairn/math.h>

#define FIELD_OF_VIEW 0.7f   // rad
#define FOLLOW_DISTANCE 9.0f // m

static cairn_vec3 towards_eye(void) {
    return cairn_vec3_normalize(cairn_vec3_of(0.55f, 0.5f, 1.0f), cairn_vec3_of(0.0f, 0.0f, 1.0f));
}

// Looks down at the box around the dynamic bodies, from a distance at which it fills the picture.
static void fit(const cairn_world *world, cairn_native_camera *camera) {
    const uint32_t count = cairn_world_bodies(world, NULL, 0);
    cairn_body_state *bodies = calloc((size_t)count + 1, sizeof *bodies);
    cairn_vec3 low = cairn_vec3_zero(), high = cairn_vec3_zero();
    bool found = false;
    const uint32_t read = bodies == NULL ? 0 : cairn_world_bodies(world, bodies, count);
    for (uint32_t i = 0; i < read; ++i) {
        const cairn_vec3 p = bodies[i].position;
        if (bodies[i].kind == CAIRN_BODY_DYNAMIC) {
            low = found ? cairn_vec3_min(low, p) : p;
            high = found ? cairn_vec3_max(high, p) : p;
            found = true;
        }
    }
    free(bodies);
    camera->target = cairn_vec3_lerp(low, high, 0.5f);
    camera->eye =
        cairn_vec3_add_scaled(camera->target, towards_eye(), cairn_vec3_distance(low, high) + 4.0f);
}

const char *cairn_painter_create(cairn_painter *painter, const cairn_painter_view *view,
    const cairn_world *world, uint32_t workers) {
    const cairn_vec3 placed = cairn_vec3_sub(view->eye, view->target);
    *painter = (cairn_painter){.camera = {.eye = view->eye,
                                   .target = view->target,
                                   .field_of_view = FIELD_OF_VIEW,
                                   .width = view->width,
                                   .height = view->height,
                                   .shadows = true},
        .follows = view->follows,
        .offset = view->has_eye ? placed : cairn_vec3_scale(towards_eye(), FOLLOW_DISTANCE)};
    cairn_body_state body;
    if (view->has_eye != view->has_target) {
        return "--eye and --target are given both or not at all";
    }
    if (view->has_eye && cairn_vec3_dot(placed, placed) <= 0.0f) {
        return "--eye is where --target is";
    }
    if (view->follows != 0 && cairn_body_read(world, view->follows, &body) != CAIRN_OK) {
        return "--follow: no body has this id at the first tick that is drawn";
    }
    if (!view->has_eye) {
        fit(world, &painter->camera);
    }
    const size_t size = (size_t)view->width * view->height * 3;
    painter->coarse = malloc(size);
    painter->pixels = malloc(size);
    return cairn_pool_create(workers, &painter->pool) == CAIRN_OK && painter->coarse != NULL &&
                   painter->pixels != NULL
               ? NULL
               : "out of memory";
}

void cairn_painter_destroy(cairn_painter *painter) {
    cairn_pool_destroy(painter->pool);
    free(painter->coarse);
    free(painter->pixels);
}

static uint32_t row_of(const cairn_painter *painter, uint32_t worker) {
    return painter->camera.height * worker / cairn_pool_workers(painter->pool);
}

static void draw_rows(void *argument, uint32_t worker) {
    const cairn_painter *painter = argument;
    cairn_native_draw_rows(painter->world, &painter->camera, row_of(painter, worker),
        row_of(painter, worker + 1), painter->coarse);
}

static void smooth_rows(void *argument, uint32_t worker) {
    const cairn_painter *painter = argument;
    cairn_native_smooth_rows(painter->world, &painter->camera, row_of(painter, worker),
        row_of(painter, worker + 1), painter->coarse, painter->pixels);
}

void cairn_painter_draw(cairn_painter *painter, cairn_world *world) {
    cairn_body_state body;
    if (painter->follows != 0 && cairn_body_read(world, painter->follows, &body) == CAIRN_OK) {
        painter->camera.target = body.position;
        painter->camera.eye = cairn_vec3_add(body.position, painter->offset);
    }
    painter->world = world;
    cairn_world_queries_prepare(world);
    const uint32_t workers = cairn_pool_workers(painter->pool);
    cairn_pool_parallel(painter->pool, draw_rows, painter, workers);
    cairn_pool_parallel(painter->pool, smooth_rows, painter, workers);
}

// SPDX-License-Identifier: MIT
#pragma once

// Pictures of worlds through one camera: rays, as python's render_mode "rgb_array" draws, with
// shadows and smooth edges. The same world and camera have the same pixels on every machine and for
// any number of workers.

#include <stdbool.h>

#include "python/native/native.h"
#include "workers/pool.h"

typedef struct cairn_painter_view {
    uint32_t width, height; // pixels, 1 .. 8192
    bool has_eye, has_target;
    cairn_vec3 eye, target; // without them all moving bodies fit
    cairn_body_id follows;  // this body is the target, seen from where eye is from target; 0: none
} cairn_painter_view;

typedef struct cairn_painter {
    cairn_native_camera camera;
    cairn_body_id follows;
    cairn_vec3 offset; // from what is followed to the eye
    cairn_pool *pool;
    const cairn_world *world; // that is being drawn
    uint8_t *coarse, *pixels; // owned, rows of red, green, blue
} cairn_painter;

// Places the camera for this world. NULL: good. Otherwise why not, a static text. Pair with destroy
// in any case.
const char *cairn_painter_create(cairn_painter *painter, const cairn_painter_view *view,
    const cairn_world *world, uint32_t workers);
void cairn_painter_destroy(cairn_painter *painter);

// Draws into `pixels`. A followed body that is gone leaves the camera where it is.
void cairn_painter_draw(cairn_painter *painter, cairn_world *world);

// SPDX-License-Identifier: MIT
#include "tools/replay/picture.h"

#include <png.h>
#include <stdlib.h>

#include "python/native/native.h"
#include <cairn/math.h>

#define FIELD_OF_VIEW 0.7f // rad

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
    const float distance = 1.0f * cairn_vec3_distance(low, high) + 4.0f;
    const cairn_vec3 towards =
        cairn_vec3_normalize(cairn_vec3_of(0.55f, 0.5f, 1.0f), cairn_vec3_of(0.0f, 0.0f, 1.0f));
    camera->target = cairn_vec3_lerp(low, high, 0.5f);
    camera->eye = cairn_vec3_add_scaled(camera->target, towards, distance);
}

const char *cairn_picture_write(
    const cairn_world *world, const cairn_picture_view *view, FILE *out) {
    cairn_native_camera camera = {.eye = view->eye,
        .target = view->target,
        .field_of_view = FIELD_OF_VIEW,
        .width = view->width,
        .height = view->height};
    if (!view->placed) {
        fit(world, &camera);
    }
    uint8_t *pixels = malloc((size_t)view->width * view->height * 3);
    if (pixels == NULL) {
        return "out of memory";
    }
    cairn_native_draw(world, &camera, pixels);
    png_image image = {.version = PNG_IMAGE_VERSION,
        .width = view->width,
        .height = view->height,
        .format = PNG_FORMAT_RGB};
    const bool written = png_image_write_to_stdio(&image, out, 0, pixels, 0, NULL) != 0;
    free(pixels);
    return written ? NULL : "cannot be written";
}

// SPDX-License-Identifier: MIT
// A picture of a world: one ray for each pixel, so that it shows what collides, whatever its shape.
#include "python/native/native.h"

#include "base/assert.h"
#include <cairn/math.h>

#define DISTANCE_SEEN 2000.0f

static cairn_vec3 mix(cairn_vec3 a, cairn_vec3 b, float t) {
    return cairn_vec3_lerp(a, b, cairn_float_min(cairn_float_max(t, 0.0f), 1.0f));
}

// Neighbouring ids get different hues; static bodies are a grey board with fields of one metre.
static cairn_vec3 colour_of(const cairn_world *world, const cairn_ray_hit *hit) {
    cairn_body_state body = {0};
    (void)cairn_body_read(world, hit->body, &body);
    if (body.kind != CAIRN_BODY_DYNAMIC) {
        const int64_t fields = (int64_t)cairn_double_round((double)hit->point.x - 0.5) +
                               (int64_t)cairn_double_round((double)hit->point.z - 0.5);
        const float grey = (fields & 1) != 0 ? 0.62f : 0.70f;
        return cairn_vec3_of(grey, grey, grey);
    }
    const float hue = 2.399963f * (float)(cairn_id_index(hit->body) % 1024u);
    const cairn_vec3 waves = cairn_vec3_of(
        cairn_float_sin(hue), cairn_float_sin(hue + 2.0943951f), cairn_float_sin(hue + 4.1887902f));
    const cairn_vec3 colour = cairn_vec3_add_scaled(cairn_vec3_of(0.6f, 0.6f, 0.6f), waves, 0.35f);
    return body.awake != 0 ? colour : cairn_vec3_scale(colour, 0.6f);
}

static cairn_vec3 look(const cairn_world *world, cairn_vec3 eye, cairn_vec3 direction) {
    const cairn_vec3 sky = mix(
        cairn_vec3_of(0.85f, 0.90f, 0.96f), cairn_vec3_of(0.45f, 0.62f, 0.85f), 0.5f + direction.y);
    const cairn_query_filter filter = cairn_query_filter_default();
    cairn_ray_hit hit;
    if (cairn_world_ray_closest(
            world, eye, cairn_vec3_scale(direction, DISTANCE_SEEN), &filter, &hit) != CAIRN_OK) {
        return sky;
    }
    const cairn_vec3 sun = cairn_vec3_of(0.42f, 0.80f, 0.43f);
    const float light = 0.45f + 0.55f * cairn_float_max(cairn_vec3_dot(hit.normal, sun), 0.0f);
    const cairn_vec3 colour = cairn_vec3_scale(colour_of(world, &hit), light);
    return mix(colour, sky, hit.fraction * 8.0f - 0.2f);
}

static uint8_t byte_of(float colour) {
    return (uint8_t)(cairn_float_min(cairn_float_max(colour, 0.0f), 1.0f) * 255.0f + 0.5f);
}

void cairn_native_draw(
    const cairn_world *world, const cairn_native_camera *camera, uint8_t *pixels) {
    CAIRN_ASSERT(world != NULL && camera != NULL && pixels != NULL);
    const cairn_vec3 up = cairn_vec3_of(0.0f, 1.0f, 0.0f);
    const cairn_vec3 x_axis = cairn_vec3_of(1.0f, 0.0f, 0.0f);
    const cairn_vec3 ahead = cairn_vec3_normalize(
        cairn_vec3_sub(camera->target, camera->eye), cairn_vec3_of(0.0f, 0.0f, -1.0f));
    const cairn_vec3 right = cairn_vec3_normalize(cairn_vec3_cross(ahead, up), x_axis);
    const cairn_vec3 above = cairn_vec3_cross(right, ahead);
    const float half = 0.5f * camera->field_of_view;
    const float scale =
        cairn_float_sin(half) / cairn_float_cos(half) * 2.0f / (float)camera->height;
    for (uint32_t row = 0; row < camera->height; ++row) {
        const float y = (0.5f * (float)camera->height - (float)row - 0.5f) * scale;
        for (uint32_t column = 0; column < camera->width; ++column) {
            const float x = ((float)column + 0.5f - 0.5f * (float)camera->width) * scale;
            const cairn_vec3 way =
                cairn_vec3_add_scaled(cairn_vec3_add_scaled(ahead, right, x), above, y);
            const cairn_vec3 colour = look(world, camera->eye, cairn_vec3_normalize(way, ahead));
            *pixels++ = byte_of(colour.x);
            *pixels++ = byte_of(colour.y);
            *pixels++ = byte_of(colour.z);
        }
    }
}

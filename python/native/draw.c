// SPDX-License-Identifier: MIT
// A picture of a world: one ray for each pixel, so that it shows what collides, whatever its shape.
#include "python/native/native.h"

#include "base/assert.h"
#include <cairn/math.h>
#include <string.h>

#define DISTANCE_SEEN 2000.0f // m
#define FIELDS_SEEN 12.0f     // m, before they fade
#define EDGE 12               // of 255: a larger difference of two colours is an edge
#define SAMPLES 2             // rays for each pixel of an edge, across and down

static cairn_vec3 mix(cairn_vec3 a, cairn_vec3 b, float t) {
    return cairn_vec3_lerp(a, b, cairn_float_min(cairn_float_max(t, 0.0f), 1.0f));
}

// Neighbouring ids get different hues; static bodies are a grey board with fields of one metre,
// which fade where they would be smaller than pixels.
static cairn_vec3 colour_of(const cairn_world *world, const cairn_ray_hit *hit) {
    cairn_body_state body = {0};
    (void)cairn_body_read(world, hit->body, &body);
    if (body.kind != CAIRN_BODY_DYNAMIC) {
        const int64_t fields = (int64_t)cairn_double_round((double)hit->point.x - 0.5) +
                               (int64_t)cairn_double_round((double)hit->point.z - 0.5);
        const float fade = cairn_float_min(FIELDS_SEEN / (hit->fraction * DISTANCE_SEEN), 1.0f);
        const float grey = (fields & 1) != 0 ? 0.66f - 0.04f * fade : 0.66f + 0.04f * fade;
        return cairn_vec3_of(grey, grey, grey);
    }
    const float hue = 2.399963f * (float)(cairn_id_index(hit->body) % 1024u);
    const cairn_vec3 waves = cairn_vec3_of(
        cairn_float_sin(hue), cairn_float_sin(hue + 2.0943951f), cairn_float_sin(hue + 4.1887902f));
    const cairn_vec3 colour = cairn_vec3_add_scaled(cairn_vec3_of(0.6f, 0.6f, 0.6f), waves, 0.35f);
    return body.awake != 0 ? colour : cairn_vec3_scale(colour, 0.6f);
}

#define SUN cairn_vec3_of(0.42f, 0.80f, 0.43f)
#define SHADOW_SEEN 200.0f // m, how far what casts one may be

// Whether the sun shines on a point; a little off the surface, which would shade itself.
static bool is_lit(const cairn_world *world, const cairn_ray_hit *hit) {
    const cairn_query_filter filter = cairn_query_filter_default();
    const float off = 0.005f + hit->fraction;
    return !cairn_world_ray_any(world, cairn_vec3_add_scaled(hit->point, hit->normal, off),
        cairn_vec3_scale(SUN, SHADOW_SEEN), &filter);
}

static cairn_vec3 look(
    const cairn_world *world, const cairn_native_camera *camera, cairn_vec3 direction) {
    const cairn_vec3 sky = mix(
        cairn_vec3_of(0.85f, 0.90f, 0.96f), cairn_vec3_of(0.45f, 0.62f, 0.85f), 0.5f + direction.y);
    const cairn_query_filter filter = cairn_query_filter_default();
    cairn_ray_hit hit;
    if (cairn_world_ray_closest(world, camera->eye, cairn_vec3_scale(direction, DISTANCE_SEEN),
            &filter, &hit) != CAIRN_OK) {
        return sky;
    }
    float shine = cairn_float_max(cairn_vec3_dot(hit.normal, SUN), 0.0f);
    if (camera->shadows && shine > 0.0f && !is_lit(world, &hit)) {
        shine = 0.0f;
    }
    const float light = 0.45f + 0.55f * shine;
    const cairn_vec3 colour = cairn_vec3_scale(colour_of(world, &hit), light);
    return mix(colour, sky, hit.fraction * 8.0f - 0.2f);
}

static uint8_t byte_of(float colour) {
    return (uint8_t)(cairn_float_min(cairn_float_max(colour, 0.0f), 1.0f) * 255.0f + 0.5f);
}

static void put_pixel(uint8_t *pixel, cairn_vec3 colour) {
    pixel[0] = byte_of(colour.x);
    pixel[1] = byte_of(colour.y);
    pixel[2] = byte_of(colour.z);
}

typedef struct axes {
    cairn_vec3 ahead, right, above;
    float scale; // of a pixel at a distance of one metre
} axes;

static axes axes_of(const cairn_native_camera *camera) {
    const cairn_vec3 up = cairn_vec3_of(0.0f, 1.0f, 0.0f);
    const cairn_vec3 x_axis = cairn_vec3_of(1.0f, 0.0f, 0.0f);
    const float half = 0.5f * camera->field_of_view;
    axes a;
    a.ahead = cairn_vec3_normalize(
        cairn_vec3_sub(camera->target, camera->eye), cairn_vec3_of(0.0f, 0.0f, -1.0f));
    a.right = cairn_vec3_normalize(cairn_vec3_cross(a.ahead, up), x_axis);
    a.above = cairn_vec3_cross(a.right, a.ahead);
    a.scale = cairn_float_sin(half) / cairn_float_cos(half) * 2.0f / (float)camera->height;
    return a;
}

// The direction of a place of the picture: pixels from its left upper corner.
static cairn_vec3 direction_of(
    const cairn_native_camera *camera, const axes *a, float column, float row) {
    const float x = (column - 0.5f * (float)camera->width) * a->scale;
    const float y = (0.5f * (float)camera->height - row) * a->scale;
    const cairn_vec3 way =
        cairn_vec3_add_scaled(cairn_vec3_add_scaled(a->ahead, a->right, x), a->above, y);
    return cairn_vec3_normalize(way, a->ahead);
}

void cairn_native_draw_rows(const cairn_world *world, const cairn_native_camera *camera,
    uint32_t first, uint32_t end, uint8_t *pixels) {
    CAIRN_ASSERT(world != NULL && camera != NULL && pixels != NULL && end <= camera->height);
    const axes a = axes_of(camera);
    for (uint32_t row = first; row < end; ++row) {
        uint8_t *pixel = pixels + (size_t)row * camera->width * 3;
        for (uint32_t column = 0; column < camera->width; ++column, pixel += 3) {
            const cairn_vec3 way =
                direction_of(camera, &a, (float)column + 0.5f, (float)row + 0.5f);
            put_pixel(pixel, look(world, camera, way));
        }
    }
}

static bool are_apart(const uint8_t *a, const uint8_t *b) {
    const int red = a[0] - b[0], green = a[1] - b[1], blue = a[2] - b[2];
    return red * red + green * green + blue * blue > EDGE * EDGE;
}

// Whether a pixel's colour is far from one beside, above or below it.
static bool is_edge(
    const cairn_native_camera *camera, const uint8_t *coarse, uint32_t column, uint32_t row) {
    const size_t line = (size_t)camera->width * 3;
    const uint8_t *pixel = coarse + (size_t)row * line + (size_t)column * 3;
    return (column > 0 && are_apart(pixel, pixel - 3)) ||
           (column + 1 < camera->width && are_apart(pixel, pixel + 3)) ||
           (row > 0 && are_apart(pixel, pixel - line)) ||
           (row + 1 < camera->height && are_apart(pixel, pixel + line));
}

void cairn_native_smooth_rows(const cairn_world *world, const cairn_native_camera *camera,
    uint32_t first, uint32_t end, const uint8_t *coarse, uint8_t *pixels) {
    CAIRN_ASSERT(world != NULL && camera != NULL && coarse != NULL && pixels != NULL &&
                 coarse != pixels && end <= camera->height);
    const axes a = axes_of(camera);
    for (uint32_t row = first; row < end; ++row) {
        const size_t begin = (size_t)row * camera->width * 3;
        memcpy(pixels + begin, coarse + begin, (size_t)camera->width * 3);
        for (uint32_t column = 0; column < camera->width; ++column) {
            if (!is_edge(camera, coarse, column, row)) {
                continue;
            }
            cairn_vec3 sum = cairn_vec3_zero();
            for (uint32_t i = 0; i < SAMPLES * SAMPLES; ++i) {
                const float x = ((float)(i % SAMPLES) + 0.5f) / SAMPLES;
                const float y = ((float)(i / SAMPLES) + 0.5f) / SAMPLES;
                const cairn_vec3 way = direction_of(camera, &a, (float)column + x, (float)row + y);
                sum = cairn_vec3_add(sum, look(world, camera, way));
            }
            put_pixel(pixels + begin + (size_t)column * 3,
                cairn_vec3_scale(sum, 1.0f / (SAMPLES * SAMPLES)));
        }
    }
}

void cairn_native_draw(
    const cairn_world *world, const cairn_native_camera *camera, uint8_t *pixels) {
    CAIRN_ASSERT(camera != NULL);
    cairn_native_draw_rows(world, camera, 0, camera->height, pixels);
}

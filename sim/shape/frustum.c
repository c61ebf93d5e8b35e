// SPDX-License-Identifier: MIT
#include "sim/shape/frustum.h"

#include "base/assert.h"

#define PI 3.14159265f
// A direction whose part across the axis is smaller than this fraction leads along the axis.
#define ALONG_AXIS 1e-6f
// A frustum whose axis leans less than this, rad, stands on its disc.
#define STANDS 1e-3f
// A rim that leans less than this, rad, hardly leans.
#define LEANS 0.05f
// Steps of a code for each quarter of the circle.
#define AZIMUTH_STEPS 16383.0f
// More than any distance along a ray.
#define FAR 1e9f

cairn_frustum cairn_frustum_of(const cairn_geometry *geometry) {
    CAIRN_ASSERT(cairn_geometry_is_frustum(geometry));
    return (cairn_frustum){.bottom = geometry->radius,
        .top = geometry->kind == CAIRN_SHAPE_CYLINDER ? geometry->radius : 0.0f,
        .half_height = geometry->half_height};
}

// The length of the side from rim to rim.
static float slant_of(const cairn_frustum *f) {
    const float across = f->bottom - f->top;
    const float height = 2.0f * f->half_height;
    return float_sqrt(across * across + height * height);
}

float cairn_frustum_inner_radius(const cairn_frustum *f) {
    CAIRN_ASSERT(f->bottom > 0.0f && f->half_height > 0.0f);
    if (f->top > 0.0f) {
        return float_min(f->bottom, f->half_height);
    }
    // The circle inscribed in the triangle of the profile: twice its area over its circumference.
    return 2.0f * f->half_height * f->bottom / (f->bottom + slant_of(f));
}

float cairn_frustum_inner_y(const cairn_frustum *f) {
    return f->top > 0.0f ? 0.0f : cairn_frustum_inner_radius(f) - f->half_height;
}

cairn_frustum cairn_frustum_shrink(const cairn_frustum *f, float skin, float *centre_y) {
    const float inner = cairn_frustum_inner_radius(f);
    CAIRN_ASSERT(skin >= 0.0f && skin <= 0.5f * inner);
    if (f->top > 0.0f) {
        *centre_y = 0.0f;
        return (cairn_frustum){
            .bottom = f->bottom - skin, .top = f->top - skin, .half_height = f->half_height - skin};
    }
    // A smaller cone of the same form about the centre of the ball inside.
    const float scale = (inner - skin) / inner;
    *centre_y = (1.0f - scale) * cairn_frustum_inner_y(f);
    return (cairn_frustum){
        .bottom = scale * f->bottom, .top = 0.0f, .half_height = scale * f->half_height};
}

cairn_vec3 cairn_frustum_azimuth(cairn_vec3 direction) {
    const cairn_vec3 across = vec3(direction.x, 0.0f, direction.z);
    const float square = vec3_length_squared(across);
    const float least = ALONG_AXIS * ALONG_AXIS * direction.y * direction.y;
    if (!(square > least)) {
        return vec3(1.0f, 0.0f, 0.0f);
    }
    return vec3_normalize(across, vec3(1.0f, 0.0f, 0.0f));
}

// The place on the square |x| + |z| = 1, from 0 at x to 4 once around.
static uint32_t azimuth_encode(cairn_vec3 azimuth) {
    const float along = azimuth.x / (float_abs(azimuth.x) + float_abs(azimuth.z));
    const float place = azimuth.z >= 0.0f ? 1.0f - along : 3.0f + along;
    return 1u + (uint32_t)(float_clamp(place, 0.0f, 4.0f) * AZIMUTH_STEPS);
}

static cairn_vec3 azimuth_decode(uint32_t code) {
    if (code == 0) {
        return vec3(1.0f, 0.0f, 0.0f);
    }
    const float place = float_min((float)(code - 1) / AZIMUTH_STEPS, 4.0f);
    const float x = place <= 2.0f ? 1.0f - place : place - 3.0f;
    const float z = 1.0f - float_abs(x);
    return vec3_normalize(vec3(x, 0.0f, place <= 2.0f ? z : 0.0f - z), vec3(1.0f, 0.0f, 0.0f));
}

cairn_vec3 cairn_frustum_lowest_azimuth(cairn_vec3 direction, uint32_t *code) {
    CAIRN_ASSERT(*code <= 65535);
    const float square = direction.x * direction.x + direction.z * direction.z;
    if (square < STANDS * STANDS) {
        return azimuth_decode(*code);
    }
    const cairn_vec3 azimuth = cairn_frustum_azimuth(direction);
    *code = azimuth_encode(azimuth);
    return azimuth;
}

cairn_rim cairn_frustum_rim_points(cairn_vec3 direction, cairn_vec3 azimuth, uint32_t code) {
    // At 0, 45, ... 315 degrees; at 15, 60, 120, 160, 200, 240, 300 and 345 degrees.
    static const float cosines[2][CAIRN_RIM_POINTS] = {
        {1.0f, 0.70710678f, 0.0f, -0.70710678f, -1.0f, -0.70710678f, 0.0f, 0.70710678f},
        {0.96592583f, 0.5f, -0.5f, -0.93969262f, -0.93969262f, -0.5f, 0.5f, 0.96592583f}};
    static const float sines[2][CAIRN_RIM_POINTS] = {
        {0.0f, 0.70710678f, 1.0f, 0.70710678f, 0.0f, -0.70710678f, -1.0f, -0.70710678f},
        {0.25881905f, 0.86602540f, 0.86602540f, 0.34202014f, -0.34202014f, -0.86602540f,
            -0.86602540f, -0.25881905f}};
    static const uint8_t spans[2][4] = {{0, 2, 4, 6}, {0, 2, 5, 7}};
    const float square = direction.x * direction.x + direction.z * direction.z;
    const uint32_t form = code != 0 && square < LEANS * LEANS ? 1 : 0;
    const cairn_vec3 across = vec3(azimuth.z, 0.0f, 0.0f - azimuth.x);
    cairn_rim rim = {.span = spans[form]};
    for (uint32_t i = 0; i < CAIRN_RIM_POINTS; ++i) {
        rim.directions[i] =
            vec3_add_scaled(vec3_scale(azimuth, cosines[form][i]), across, sines[form][i]);
    }
    return rim;
}

cairn_vec3 cairn_frustum_side_normal(const cairn_frustum *f, cairn_vec3 azimuth) {
    const float inverse = 1.0f / slant_of(f);
    const float across = 2.0f * f->half_height * inverse;
    return vec3(across * azimuth.x, (f->bottom - f->top) * inverse, across * azimuth.z);
}

cairn_vec3 cairn_frustum_rim(const cairn_frustum *f, bool top, cairn_vec3 azimuth) {
    const float radius = top ? f->top : f->bottom;
    return vec3(
        radius * azimuth.x, top ? f->half_height : 0.0f - f->half_height, radius * azimuth.z);
}

cairn_vec3 cairn_frustum_support(const cairn_frustum *f, cairn_vec3 direction) {
    const float square = direction.x * direction.x + direction.z * direction.z;
    const float least = ALONG_AXIS * ALONG_AXIS * direction.y * direction.y;
    const float across = float_sqrt(square);
    const float rise = f->half_height * direction.y;
    const bool top = f->top * across + rise > f->bottom * across - rise;
    if (!(square > least)) {
        return vec3(0.0f, top ? f->half_height : 0.0f - f->half_height, 0.0f);
    }
    const float scale = (top ? f->top : f->bottom) / across;
    return vec3(
        scale * direction.x, top ? f->half_height : 0.0f - f->half_height, scale * direction.z);
}

// The radius at a height.
static float radius_at(const cairn_frustum *f, float y) {
    const float part = 0.5f * (y / f->half_height + 1.0f);
    return f->bottom + (f->top - f->bottom) * part;
}

bool cairn_frustum_contains(const cairn_frustum *f, cairn_vec3 point) {
    const float radius = radius_at(f, point.y);
    return float_abs(point.y) <= f->half_height &&
           point.x * point.x + point.z * point.z <= radius * radius;
}

// In the plane of the axis and the point, the frustum is a trapezoid: the nearest point is on one
// of its three outer sides.
cairn_vec3 cairn_frustum_outward(const cairn_frustum *f, cairn_vec3 point) {
    if (cairn_frustum_contains(f, point)) {
        return vec3_zero();
    }
    const cairn_vec3 azimuth = cairn_frustum_azimuth(point);
    const float across = float_sqrt(point.x * point.x + point.z * point.z);
    const float h = f->half_height;
    const float x_along = f->top - f->bottom;
    const float y_along = 2.0f * h;
    const float part = float_clamp(((across - f->bottom) * x_along + (point.y + h) * y_along) /
                                       (x_along * x_along + y_along * y_along),
        0.0f, 1.0f);
    // The vectors from the nearest points of the side and of the two discs.
    float x = across - (f->bottom + part * x_along);
    float y = point.y - (part * y_along - h);
    const float caps[2][2] = {{across - float_min(across, f->bottom), point.y + h},
        {across - float_min(across, f->top), point.y - h}};
    for (uint32_t i = 0; i < 2; ++i) {
        if (caps[i][0] * caps[i][0] + caps[i][1] * caps[i][1] < x * x + y * y) {
            x = caps[i][0];
            y = caps[i][1];
        }
    }
    return vec3_normalize(vec3(x * azimuth.x, y, x * azimuth.z), vec3_zero());
}

cairn_aabb cairn_frustum_aabb(const cairn_frustum *f, const cairn_pose *pose) {
    const cairn_vec3 axis = mat3_column(mat3_of_quat(pose->rotation), 1);
    const cairn_vec3 arm = vec3_scale(axis, f->half_height);
    // The part of a disc's radius that it extends along each coordinate axis.
    const cairn_vec3 part = vec3(float_sqrt(float_max(1.0f - axis.x * axis.x, 0.0f)),
        float_sqrt(float_max(1.0f - axis.y * axis.y, 0.0f)),
        float_sqrt(float_max(1.0f - axis.z * axis.z, 0.0f)));
    const cairn_vec3 low = vec3_sub(pose->position, arm);
    const cairn_vec3 high = vec3_add(pose->position, arm);
    const cairn_vec3 of_bottom = vec3_scale(part, f->bottom);
    const cairn_vec3 of_top = vec3_scale(part, f->top);
    return (cairn_aabb){
        .lower = vec3_clean(vec3_min(vec3_sub(low, of_bottom), vec3_sub(high, of_top))),
        .upper = vec3_clean(vec3_max(vec3_add(low, of_bottom), vec3_add(high, of_top)))};
}

// With h half of the height H: a cylinder has m (3 r^2 + H^2) / 12 across its axis; a cone's centre
// is H / 4 above its disc, and it has 3/10 m r^2 about its axis and 3/80 m (4 r^2 + H^2) across it.
cairn_frustum_measures cairn_frustum_measure(const cairn_frustum *f) {
    CAIRN_ASSERT(f->top == 0.0f || f->top == f->bottom);
    const float r = f->bottom;
    const float h = f->half_height;
    const float disc = PI * r * r;
    if (f->top > 0.0f) {
        const float volume = 2.0f * disc * h;
        return (cairn_frustum_measures){.volume = volume,
            .about_axis = 0.5f * volume * r * r,
            .across_axis = volume * (0.25f * r * r + h * h / 3.0f)};
    }
    const float volume = 2.0f / 3.0f * disc * h;
    return (cairn_frustum_measures){.volume = volume,
        .centre_y = -0.5f * h,
        .about_axis = 0.3f * volume * r * r,
        .across_axis = 0.15f * volume * (r * r + h * h)};
}

// Narrows [*from, *to] to where a t^2 + 2 b t + c <= 0: between two roots, or outside of them if
// the ray is steeper than the side of a cone. Of these two parts only one is between the discs.
// False if nothing is left.
static bool narrow_to_side(float a, float b, float c, float *from, float *to) {
    if (float_abs(a) < 1e-7f) {
        if (b == 0.0f) {
            return c <= 0.0f;
        }
        const float root = -0.5f * c / b;
        *from = b < 0.0f ? float_max(*from, root) : *from;
        *to = b > 0.0f ? float_min(*to, root) : *to;
        return *from <= *to;
    }
    const float discriminant = b * b - a * c;
    if (discriminant < 0.0f) {
        return a < 0.0f;
    }
    const float half = float_sqrt(discriminant);
    const float first = (0.0f - b - (a > 0.0f ? half : 0.0f - half)) / a;
    const float second = (0.0f - b + (a > 0.0f ? half : 0.0f - half)) / a;
    if (a > 0.0f) {
        *from = float_max(*from, first);
        *to = float_min(*to, second);
        return *from <= *to;
    }
    if (second <= *to) {
        *from = float_max(*from, second);
        return true;
    }
    *to = float_min(*to, first);
    return *from <= *to;
}

bool cairn_frustum_ray(const cairn_frustum *f, cairn_vec3 origin, cairn_vec3 direction,
    float length, float *distance, cairn_vec3 *normal) {
    // From the point of the ray that is nearest to the middle, so that it stays exact far away.
    const float ahead = 0.0f - vec3_dot(origin, direction);
    const cairn_vec3 o = vec3_add_scaled(origin, direction, ahead);
    const float h = f->half_height;
    float from = -FAR;
    float to = FAR;
    if (direction.y == 0.0f) {
        if (float_abs(o.y) > h) {
            return false;
        }
    } else {
        const float lower = (0.0f - h - o.y) / direction.y;
        const float upper = (h - o.y) / direction.y;
        from = float_max(float_min(lower, upper), -FAR);
        to = float_min(float_max(lower, upper), FAR);
    }
    const float cap = from;
    const float slope = (f->top - f->bottom) / (2.0f * h);
    const float radius = radius_at(f, o.y);
    const float widening = slope * direction.y;
    const float a = direction.x * direction.x + direction.z * direction.z - widening * widening;
    const float b = o.x * direction.x + o.z * direction.z - widening * radius;
    const float c = o.x * o.x + o.z * o.z - radius * radius;
    if (!narrow_to_side(a, b, c, &from, &to) || from + ahead < 0.0f || from + ahead > length) {
        return false;
    }
    *distance = from + ahead;
    if (from == cap) {
        *normal = vec3(0.0f, direction.y > 0.0f ? -1.0f : 1.0f, 0.0f);
    } else {
        const cairn_vec3 at = vec3_add_scaled(o, direction, from);
        *normal = cairn_frustum_side_normal(f, cairn_frustum_azimuth(at));
    }
    return true;
}

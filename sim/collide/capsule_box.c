// SPDX-License-Identifier: MIT
#include "sim/collide/shape_pairs.h"

// How much of the normal must lie along a face's axis for a capsule to rest on that face with two
// points (about 11 degrees).
#define FACE_COSINE 0.98f

// Features: one point that is simply the closest; a pair of points on one of six faces, each ended
// by an end of the segment or a side of the face; one of the box's twelve edges.
enum { FEATURE_CLOSEST = 0, FEATURE_FACE = 16, FEATURE_EDGE = 256 };

static float beyond(float value, float limit) {
    return value > limit ? value - limit : value < 0.0f - limit ? value + limit : 0.0f;
}

// From the nearest point of the box to `point`; zero inside.
static cairn_vec3 box_excess(cairn_vec3 half_extents, cairn_vec3 point) {
    return vec3(beyond(point.x, half_extents.x), beyond(point.y, half_extents.y),
        beyond(point.z, half_extents.z));
}

static cairn_vec3 round_at(const cairn_local_capsule *round, float s) {
    return vec3_add_scaled(round->centre, round->half, s);
}

// Half the derivative of the squared distance from the box along the segment.
static float distance_slope(const cairn_local_capsule *round, cairn_vec3 half_extents, float s) {
    return vec3_dot(box_excess(half_extents, round_at(round, s)), round->half);
}

// An interval that holds the minimum, with the slopes at its ends.
typedef struct bracket {
    float lower;
    float upper;
    float lower_slope; // <= 0
    float upper_slope; // >= 0
} bracket;

static bracket bracket_narrow(
    bracket b, const cairn_local_capsule *round, cairn_vec3 half_extents, float s) {
    if (!(s > b.lower && s < b.upper)) {
        return b;
    }
    const float slope = distance_slope(round, half_extents, s);
    if (slope <= 0.0f) {
        b.lower = s;
        b.lower_slope = slope;
    } else {
        b.upper = s;
        b.upper_slope = slope;
    }
    return b;
}

// The squared distance from a box along a line is convex and piecewise quadratic, its pieces meet
// where the line crosses the six face planes: narrow the interval to the piece with the minimum,
// where the slope is linear, and the minimum is exact.
static float closest_parameter(const cairn_local_capsule *round, cairn_vec3 half_extents) {
    bracket b = {.lower = -1.0f,
        .upper = 1.0f,
        .lower_slope = distance_slope(round, half_extents, -1.0f),
        .upper_slope = distance_slope(round, half_extents, 1.0f)};
    if (b.lower_slope >= 0.0f && b.upper_slope > 0.0f) {
        return -1.0f;
    }
    if (b.upper_slope <= 0.0f && b.lower_slope < 0.0f) {
        return 1.0f;
    }
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const float step = vec3_component(round->half, axis);
        const float from = vec3_component(round->centre, axis);
        const float side = vec3_component(half_extents, axis);
        if (step != 0.0f) {
            b = bracket_narrow(b, round, half_extents, (side - from) / step);
            b = bracket_narrow(b, round, half_extents, (0.0f - side - from) / step);
        }
    }
    const float rise = b.upper_slope - b.lower_slope;
    const float part = rise > 0.0f ? (0.0f - b.lower_slope) / rise : 0.5f;
    return float_clamp(b.lower + (b.upper - b.lower) * part, -1.0f, 1.0f);
}

static cairn_vec3 axis_vector(uint32_t axis, float length) {
    return vec3(axis == 0 ? length : 0.0f, axis == 1 ? length : 0.0f, axis == 2 ? length : 0.0f);
}

static uint32_t longest_axis(cairn_vec3 v) {
    const cairn_vec3 size = vec3_abs(v);
    return size.x >= size.y && size.x >= size.z ? 0u : size.y >= size.z ? 1u : 2u;
}

// A point of the segment, and the box's surface `gap` below it along `outward`.
static void add_below(cairn_manifold *out, cairn_vec3 point, float gap, cairn_vec3 outward,
    float radius, float margin, uint32_t feature) {
    const float separation = gap - radius;
    if (separation <= margin) {
        const cairn_vec3 midway = vec3_sub_scaled(point, outward, 0.5f * (gap + radius));
        cairn_manifold_add(out, midway, separation, feature);
    }
}

typedef struct clip {
    float lower;
    float upper;
    uint32_t lower_by; // 0: the segment's own end; else which side of the face
    uint32_t upper_by;
} clip;

// Keeps the part of the segment with from + step * s <= limit. A segment parallel to the limit is
// within it but for rounding, because its shadow meets the face somewhere.
static clip clip_below(clip c, float from, float step, float limit, uint32_t by) {
    const float s = step != 0.0f ? (limit - from) / step : 0.0f;
    if (step > 0.0f && s < c.upper) {
        c.upper = s;
        c.upper_by = by;
    }
    if (step < 0.0f && s > c.lower) {
        c.lower = s;
        c.lower_by = by;
    }
    return c;
}

static clip clip_to_face(const cairn_local_capsule *round, cairn_vec3 half_extents, uint32_t axis) {
    clip c = {.lower = -1.0f, .upper = 1.0f, .lower_by = 0, .upper_by = 0};
    for (uint32_t i = 1; i <= 2; ++i) {
        const uint32_t across = (axis + i) % 3;
        const float from = vec3_component(round->centre, across);
        const float step = vec3_component(round->half, across);
        const float side = vec3_component(half_extents, across);
        c = clip_below(c, from, step, side, 2 * i - 1);
        c = clip_below(c, 0.0f - from, 0.0f - step, side, 2 * i);
    }
    return c;
}

// The segment's shadow on the face's plane, cast along `outward`.
static cairn_local_capsule shadow_on_face(
    const cairn_local_capsule *round, cairn_vec3 outward, uint32_t axis, float side) {
    const float inverse = 1.0f / vec3_component(outward, axis);
    const float height = (vec3_component(round->centre, axis) - side) * inverse;
    const float slope = vec3_component(round->half, axis) * inverse;
    return (cairn_local_capsule){.centre = vec3_sub_scaled(round->centre, outward, height),
        .half = vec3_sub_scaled(round->half, outward, slope),
        .radius = round->radius};
}

// Two points where the stretch of the segment whose shadow falls on the face begins and ends. All
// is measured along the contact normal, which need not be quite the face's, so that the closest
// point of an edge is one of the two.
static void add_on_face(cairn_manifold *out, const cairn_local_capsule *round,
    cairn_vec3 half_extents, cairn_vec3 outward, uint32_t axis, float margin) {
    const float cosine = vec3_component(outward, axis);
    const float level = vec3_component(half_extents, axis);
    const float side = cosine < 0.0f ? 0.0f - level : level;
    const cairn_local_capsule shadow = shadow_on_face(round, outward, axis, side);
    const clip c = clip_to_face(&shadow, half_extents, axis);
    const float length = c.upper - c.lower;
    const float radius_squared = round->radius * round->radius;
    if (!(length > 0.0f &&
            length * length * vec3_length_squared(round->half) > 1e-4f * radius_squared)) {
        return;
    }
    const uint32_t face = FEATURE_FACE * (1 + 2 * axis + (cosine < 0.0f ? 1u : 0u));
    const float ends[2] = {c.lower, c.upper};
    const uint32_t ended_by[2] = {c.lower_by, 5 + c.upper_by};
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_vec3 point = round_at(round, ends[i]);
        const float gap = (vec3_component(point, axis) - side) / cosine;
        add_below(out, point, gap, outward, round->radius, margin, face + ended_by[i]);
    }
}

// One candidate for the shortest way out of the box.
typedef struct way_out {
    float gap; // of the segment from the box along `outward`, negative inside
    cairn_vec3 outward;
    uint32_t axis; // of the face, or of the edge's direction
} way_out;

static way_out way_out_by_face(const cairn_local_capsule *round, cairn_vec3 half_extents) {
    way_out best = {.gap = -3e38f, .outward = vec3_zero(), .axis = 0};
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const float from = vec3_component(round->centre, axis);
        const float reach = float_abs(vec3_component(round->half, axis));
        const float gap = float_abs(from) - reach - vec3_component(half_extents, axis);
        if (gap > best.gap) {
            best.gap = gap;
            best.outward = axis_vector(axis, from < 0.0f ? -1.0f : 1.0f);
            best.axis = axis;
        }
    }
    return best;
}

static way_out way_out_by_edge(const cairn_local_capsule *round, cairn_vec3 half_extents) {
    way_out best = {.gap = -3e38f, .outward = vec3_zero(), .axis = 0};
    const float length_squared = vec3_length_squared(round->half);
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const cairn_vec3 cross = vec3_cross(round->half, axis_vector(axis, 1.0f));
        if (!(vec3_length_squared(cross) > 1e-4f * length_squared)) {
            continue;
        }
        const cairn_vec3 unit = vec3_normalize(cross, vec3_zero());
        const float from = vec3_dot(round->centre, unit);
        const float gap = float_abs(from) - vec3_dot(vec3_abs(unit), half_extents);
        if (gap > best.gap) {
            best.gap = gap;
            best.outward = from < 0.0f ? vec3_negate(unit) : unit;
            best.axis = axis;
        }
    }
    return best;
}

// The parameter of the segment's point nearest to the edge along `axis` on the outward side.
static float nearest_to_edge(const cairn_local_capsule *round, cairn_vec3 half_extents,
    const way_out *edge, uint32_t *sides) {
    cairn_vec3 on_edge = vec3(edge->outward.x < 0.0f ? 0.0f - half_extents.x : half_extents.x,
        edge->outward.y < 0.0f ? 0.0f - half_extents.y : half_extents.y,
        edge->outward.z < 0.0f ? 0.0f - half_extents.z : half_extents.z);
    *sides = (vec3_component(on_edge, (edge->axis + 1) % 3) < 0.0f ? 1u : 0u) +
             (vec3_component(on_edge, (edge->axis + 2) % 3) < 0.0f ? 2u : 0u);
    const cairn_vec3 along = axis_vector(edge->axis, 1.0f);
    const cairn_vec3 across =
        vec3_sub_scaled(round->half, along, vec3_component(round->half, edge->axis));
    const cairn_vec3 offset = vec3_sub(on_edge, round->centre);
    const float length_squared = vec3_length_squared(across);
    return length_squared > 0.0f
               ? float_clamp(vec3_dot(across, offset) / length_squared, -1.0f, 1.0f)
               : 0.0f;
}

// The segment itself cuts the box: leave by the shortest way, by an edge only when that is clearly
// shorter, because a face gives two points.
static void collide_deep(const cairn_local_capsule *round, cairn_vec3 half_extents, float parameter,
    float margin, cairn_manifold *out) {
    const way_out face = way_out_by_face(round, half_extents);
    const way_out edge = way_out_by_edge(round, half_extents);
    if (edge.gap > face.gap + 0.1f * float_abs(face.gap) + 1e-3f * round->radius) {
        uint32_t sides = 0;
        const float s = nearest_to_edge(round, half_extents, &edge, &sides);
        out->normal = vec3_negate(edge.outward);
        add_below(out, round_at(round, s), edge.gap, edge.outward, round->radius, margin,
            FEATURE_EDGE + 4 * edge.axis + sides);
        return;
    }
    out->normal = vec3_negate(face.outward);
    add_on_face(out, round, half_extents, face.outward, face.axis, margin);
    if (out->point_count == 0) {
        add_below(out, round_at(round, parameter), face.gap, face.outward, round->radius, margin,
            FEATURE_CLOSEST);
    }
}

void cairn_collide_capsule_box(
    const cairn_local_capsule *round, cairn_vec3 half_extents, float margin, cairn_manifold *out) {
    const bool is_sphere = vec3_length_squared(round->half) == 0.0f;
    const float s = is_sphere ? 0.0f : closest_parameter(round, half_extents);
    const cairn_vec3 point = round_at(round, s);
    const cairn_vec3 excess = box_excess(half_extents, point);
    const float distance = vec3_length(excess);
    if (distance - round->radius > margin) {
        return;
    }
    const float size = half_extents.x + half_extents.y + half_extents.z;
    if (distance <= 1e-4f * round->radius + 1e-6f * size) {
        collide_deep(round, half_extents, s, margin, out);
        return;
    }
    const cairn_vec3 outward = vec3_scale(excess, 1.0f / distance);
    const uint32_t axis = longest_axis(outward);
    out->normal = vec3_negate(outward);
    if (float_abs(vec3_component(outward, axis)) >= FACE_COSINE) {
        add_on_face(out, round, half_extents, outward, axis, margin);
    }
    if (out->point_count == 0) {
        add_below(out, point, distance, outward, round->radius, margin, FEATURE_CLOSEST);
    }
}

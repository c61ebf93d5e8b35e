// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "sim/collide/shape_pairs.h"

// Cosine between the contact normal and that of a face (about 11 degrees) above which a capsule
// touches the face in two points.
#define FACE_COSINE 0.98f

// Features: the closest point; a pair of points on one of six faces, each at an end of the segment
// or at a side of the face; one of the box's twelve edges.
enum { FEATURE_CLOSEST = 0, FEATURE_FACE = 16, FEATURE_EDGE = 256 };

static float excess_of(float value, float limit) {
    return value > limit ? value - limit : value < 0.0f - limit ? value + limit : 0.0f;
}

// From the nearest point of the box to `point`; zero inside.
static cairn_vec3 box_excess(cairn_vec3 half_extents, cairn_vec3 point) {
    return vec3(excess_of(point.x, half_extents.x), excess_of(point.y, half_extents.y),
        excess_of(point.z, half_extents.z));
}

// Half the derivative of the squared distance from the box along the segment.
static float distance_slope(const cairn_local_capsule *capsule, cairn_vec3 half_extents, float s) {
    return vec3_dot(box_excess(half_extents, cairn_local_capsule_at(capsule, s)), capsule->half);
}

// An interval that contains the minimum, with the slopes at its ends.
typedef struct bracket {
    float lower;
    float upper;
    float lower_slope; // <= 0
    float upper_slope; // >= 0
} bracket;

static bracket narrow_bracket(
    bracket b, const cairn_local_capsule *capsule, cairn_vec3 half_extents, float s) {
    if (!(s > b.lower && s < b.upper)) {
        return b;
    }
    const float slope = distance_slope(capsule, half_extents, s);
    if (slope <= 0.0f) {
        b.lower = s;
        b.lower_slope = slope;
    } else {
        b.upper = s;
        b.upper_slope = slope;
    }
    return b;
}

// The squared distance from a box along a line is convex and piecewise quadratic; its pieces meet
// where the line crosses the planes of the six faces. Narrows the interval to the piece with the
// minimum, where the slope is linear, so that the minimum is exact.
static float closest_parameter(const cairn_local_capsule *capsule, cairn_vec3 half_extents) {
    bracket b = {.lower = -1.0f,
        .upper = 1.0f,
        .lower_slope = distance_slope(capsule, half_extents, -1.0f),
        .upper_slope = distance_slope(capsule, half_extents, 1.0f)};
    if (b.lower_slope >= 0.0f && b.upper_slope > 0.0f) {
        return -1.0f;
    }
    if (b.upper_slope <= 0.0f && b.lower_slope < 0.0f) {
        return 1.0f;
    }
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const float step = vec3_component(capsule->half, axis);
        const float from = vec3_component(capsule->centre, axis);
        const float side = vec3_component(half_extents, axis);
        if (step != 0.0f) {
            b = narrow_bracket(b, capsule, half_extents, (side - from) / step);
            b = narrow_bracket(b, capsule, half_extents, (0.0f - side - from) / step);
        }
    }
    const float rise = b.upper_slope - b.lower_slope;
    const float part = rise > 0.0f ? (0.0f - b.lower_slope) / rise : 0.5f;
    return float_clamp(b.lower + (b.upper - b.lower) * part, -1.0f, 1.0f);
}

// Adds the contact of a point of the segment with the box's surface, `gap` below it along
// `outward`.
static void add_below(cairn_manifold *out, cairn_vec3 point, float gap, cairn_vec3 outward,
    float radius, float margin, uint32_t feature) {
    CAIRN_ASSERT(out->point_count < 2);
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
// inside up to rounding, because its projection overlaps the face somewhere.
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

static clip clip_to_face(
    const cairn_local_capsule *capsule, cairn_vec3 half_extents, uint32_t axis) {
    CAIRN_ASSERT(axis < 3);
    clip c = {.lower = -1.0f, .upper = 1.0f, .lower_by = 0, .upper_by = 0};
    for (uint32_t i = 1; i <= 2; ++i) {
        const uint32_t perpendicular = (axis + i) % 3;
        const float from = vec3_component(capsule->centre, perpendicular);
        const float step = vec3_component(capsule->half, perpendicular);
        const float side = vec3_component(half_extents, perpendicular);
        c = clip_below(c, from, step, side, 2 * i - 1);
        c = clip_below(c, 0.0f - from, 0.0f - step, side, 2 * i);
    }
    return c;
}

// Adds the two ends of the part of the segment whose projection is on the face. Everything is
// measured along the contact normal, which need not be exactly the face's, so that the closest
// point of an edge is one of the two.
static void add_on_face(cairn_manifold *out, const cairn_local_capsule *capsule,
    cairn_vec3 half_extents, cairn_vec3 outward, uint32_t axis, float margin) {
    CAIRN_ASSERT(axis < 3 && out->point_count == 0);
    const float cosine = vec3_component(outward, axis);
    const float level = vec3_component(half_extents, axis);
    const float side = cosine < 0.0f ? 0.0f - level : level;
    // The segment projected along `outward` onto the plane of the face.
    const float inverse = 1.0f / cosine;
    const float height = (vec3_component(capsule->centre, axis) - side) * inverse;
    const float slope = vec3_component(capsule->half, axis) * inverse;
    const cairn_local_capsule projection = {
        .centre = vec3_sub_scaled(capsule->centre, outward, height),
        .half = vec3_sub_scaled(capsule->half, outward, slope),
        .radius = capsule->radius};
    const clip c = clip_to_face(&projection, half_extents, axis);
    const float length = c.upper - c.lower;
    const float radius_squared = capsule->radius * capsule->radius;
    if (!(length > 0.0f &&
            length * length * vec3_length_squared(capsule->half) > 1e-4f * radius_squared)) {
        return;
    }
    const uint32_t face = FEATURE_FACE * (1 + 2 * axis + (cosine < 0.0f ? 1u : 0u));
    const float ends[2] = {c.lower, c.upper};
    const uint32_t ended_by[2] = {c.lower_by, 5 + c.upper_by};
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_vec3 point = cairn_local_capsule_at(capsule, ends[i]);
        const float gap = (vec3_component(point, axis) - side) / cosine;
        add_below(out, point, gap, outward, capsule->radius, margin, face + ended_by[i]);
    }
}

// A candidate for the direction in which the capsule leaves the box soonest.
typedef struct exit_direction {
    float gap; // of the segment from the box along `outward`, negative inside
    cairn_vec3 outward;
    uint32_t axis; // of the face, or of the edge's direction
} exit_direction;

static exit_direction best_face_exit(const cairn_local_capsule *capsule, cairn_vec3 half_extents) {
    exit_direction best = {.gap = -3e38f, .outward = vec3_zero(), .axis = 0};
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const float from = vec3_component(capsule->centre, axis);
        const float extent = float_abs(vec3_component(capsule->half, axis));
        const float gap = float_abs(from) - extent - vec3_component(half_extents, axis);
        if (gap > best.gap) {
            best.gap = gap;
            best.outward = vec3_along_axis(axis, from < 0.0f ? -1.0f : 1.0f);
            best.axis = axis;
        }
    }
    CAIRN_ASSERT(best.axis < 3);
    return best;
}

static exit_direction best_edge_exit(const cairn_local_capsule *capsule, cairn_vec3 half_extents) {
    exit_direction best = {.gap = -3e38f, .outward = vec3_zero(), .axis = 0};
    const float length_squared = vec3_length_squared(capsule->half);
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const cairn_vec3 cross = vec3_cross(capsule->half, vec3_along_axis(axis, 1.0f));
        if (!(vec3_length_squared(cross) > 1e-4f * length_squared)) {
            continue;
        }
        const cairn_vec3 unit = vec3_normalize(cross, vec3_zero());
        const float from = vec3_dot(capsule->centre, unit);
        const float gap = float_abs(from) - vec3_dot(vec3_abs(unit), half_extents);
        if (gap > best.gap) {
            best.gap = gap;
            best.outward = from < 0.0f ? vec3_negate(unit) : unit;
            best.axis = axis;
        }
    }
    CAIRN_ASSERT(best.axis < 3);
    return best;
}

// The parameter of the segment's point nearest to the edge along `axis` on the outward side.
static float parameter_nearest_to_edge(const cairn_local_capsule *capsule, cairn_vec3 half_extents,
    const exit_direction *edge, uint32_t *sides) {
    CAIRN_ASSERT(edge->axis < 3);
    cairn_vec3 on_edge = vec3(edge->outward.x < 0.0f ? 0.0f - half_extents.x : half_extents.x,
        edge->outward.y < 0.0f ? 0.0f - half_extents.y : half_extents.y,
        edge->outward.z < 0.0f ? 0.0f - half_extents.z : half_extents.z);
    *sides = (vec3_component(on_edge, (edge->axis + 1) % 3) < 0.0f ? 1u : 0u) +
             (vec3_component(on_edge, (edge->axis + 2) % 3) < 0.0f ? 2u : 0u);
    const cairn_vec3 along = vec3_along_axis(edge->axis, 1.0f);
    const cairn_vec3 perpendicular =
        vec3_sub_scaled(capsule->half, along, vec3_component(capsule->half, edge->axis));
    const cairn_vec3 offset = vec3_sub(on_edge, capsule->centre);
    const float length_squared = vec3_length_squared(perpendicular);
    return length_squared > 0.0f
               ? float_clamp(vec3_dot(perpendicular, offset) / length_squared, -1.0f, 1.0f)
               : 0.0f;
}

// The segment itself intersects the box: pushes the capsule out in the direction in which it leaves
// soonest, across an edge only if that is clearly shorter, because a face gives two points.
static void collide_overlapping(const cairn_local_capsule *capsule, cairn_vec3 half_extents,
    float parameter, float margin, cairn_manifold *out) {
    CAIRN_ASSERT(out->point_count == 0);
    const exit_direction face = best_face_exit(capsule, half_extents);
    const exit_direction edge = best_edge_exit(capsule, half_extents);
    if (edge.gap > face.gap + 0.1f * float_abs(face.gap) + 1e-3f * capsule->radius) {
        uint32_t sides = 0;
        const float s = parameter_nearest_to_edge(capsule, half_extents, &edge, &sides);
        out->normal = vec3_negate(edge.outward);
        add_below(out, cairn_local_capsule_at(capsule, s), edge.gap, edge.outward, capsule->radius,
            margin, FEATURE_EDGE + 4 * edge.axis + sides);
        return;
    }
    out->normal = vec3_negate(face.outward);
    add_on_face(out, capsule, half_extents, face.outward, face.axis, margin);
    if (out->point_count == 0) {
        add_below(out, cairn_local_capsule_at(capsule, parameter), face.gap, face.outward,
            capsule->radius, margin, FEATURE_CLOSEST);
    }
}

void cairn_collide_capsule_box(const cairn_local_capsule *capsule, cairn_vec3 half_extents,
    float margin, cairn_manifold *out) {
    CAIRN_ASSERT(capsule->radius > 0.0f);
    const bool is_sphere = vec3_length_squared(capsule->half) == 0.0f;
    const float s = is_sphere ? 0.0f : closest_parameter(capsule, half_extents);
    const cairn_vec3 point = cairn_local_capsule_at(capsule, s);
    const cairn_vec3 excess = box_excess(half_extents, point);
    const float distance = vec3_length(excess);
    if (distance - capsule->radius > margin) {
        return;
    }
    const float size = half_extents.x + half_extents.y + half_extents.z;
    if (distance <= 1e-4f * capsule->radius + 1e-6f * size) {
        collide_overlapping(capsule, half_extents, s, margin, out);
        return;
    }
    const cairn_vec3 outward = vec3_scale(excess, 1.0f / distance);
    const uint32_t axis = vec3_largest_axis(vec3_abs(outward));
    out->normal = vec3_negate(outward);
    if (float_abs(vec3_component(outward, axis)) >= FACE_COSINE) {
        add_on_face(out, capsule, half_extents, outward, axis, margin);
    }
    if (out->point_count == 0) {
        add_below(out, point, distance, outward, capsule->radius, margin, FEATURE_CLOSEST);
    }
}

// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "sim/collide/shape_pairs.h"

// Squared sine of the angle (about 3 degrees) below which two segments touch along a part of their
// length and not in a point.
#define PARALLEL_SINE_SQUARED 0.0025f

// Features: the closest points are always the same one; a range has two ends, and each is an end of
// one of the two segments.
enum { FEATURE_CLOSEST = 0, FEATURE_RANGE = 16 };

static float clamp_to_segment(float numerator, float denominator) {
    return denominator > 0.0f ? float_clamp(numerator / denominator, -1.0f, 1.0f) : 0.0f;
}

static float sine_squared_scaled(const cairn_local_capsule *a, const cairn_local_capsule *b) {
    return vec3_length_squared(vec3_cross(a->half, b->half));
}

// Ericson 2004, section 5.1.9, with the parameters of both segments in [-1, 1].
cairn_closest_points cairn_segments_closest_points(
    const cairn_local_capsule *a, const cairn_local_capsule *b) {
    const cairn_vec3 offset = vec3_sub(a->centre, b->centre);
    const float aa = vec3_length_squared(a->half);
    const float bb = vec3_length_squared(b->half);
    const float ab = vec3_dot(a->half, b->half);
    const float ao = vec3_dot(a->half, offset);
    const float bo = vec3_dot(b->half, offset);
    const float denominator = sine_squared_scaled(a, b);
    const bool skew = denominator > 1e-6f * aa * bb;
    const float s = clamp_to_segment(ab * bo - ao * bb, skew ? denominator : 0.0f);
    const float t = clamp_to_segment(ab * s + bo, bb);
    const float s2 = clamp_to_segment(ab * t - ao, aa);
    return (cairn_closest_points){
        .a = cairn_local_capsule_at(a, s2), .b = cairn_local_capsule_at(b, t)};
}

// If the two segments intersect, there is no direction from one to the other: the normal is then
// perpendicular to both, or to the longer one, or points up.
static cairn_vec3 normal_of_crossing_axes(
    const cairn_local_capsule *a, const cairn_local_capsule *b) {
    const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
    const cairn_vec3 cross = vec3_cross(a->half, b->half);
    const bool a_longer = vec3_length_squared(a->half) >= vec3_length_squared(b->half);
    const cairn_vec3 longer = a_longer ? a->half : b->half;
    if (vec3_length_squared(longer) <= 1e-12f) {
        return up;
    }
    const bool skew = vec3_length_squared(cross) >
                      1e-6f * vec3_length_squared(a->half) * vec3_length_squared(b->half);
    const cairn_vec3 perpendicular =
        skew ? vec3_normalize(cross, up) : vec3_tangent(vec3_normalize(longer, up));
    const bool forward = vec3_dot(perpendicular, vec3_sub(b->centre, a->centre)) >= 0.0f;
    return vec3_select(forward, perpendicular, vec3_negate(perpendicular));
}

// The part of segment a that lies beside segment b, as parameters of a.
typedef struct overlap_range {
    float lower;
    float upper;
    uint32_t lower_feature;
    uint32_t upper_feature;
} overlap_range;

static overlap_range range_beside(const cairn_local_capsule *a, const cairn_local_capsule *b) {
    const float aa = vec3_length_squared(a->half);
    const float centre = vec3_dot(a->half, vec3_sub(b->centre, a->centre)) / aa;
    const float extent = vec3_dot(a->half, b->half) / aa;
    const uint32_t flipped = extent < 0.0f ? 1u : 0u;
    const float lower = centre - float_abs(extent);
    const float upper = centre + float_abs(extent);
    return (overlap_range){.lower = float_max(lower, -1.0f),
        .upper = float_min(upper, 1.0f),
        .lower_feature = lower > -1.0f ? 2u + flipped : 0u,
        .upper_feature = upper < 1.0f ? 3u - flipped : 1u};
}

static void add_between(cairn_manifold *out, const cairn_local_capsule *a,
    const cairn_local_capsule *b, cairn_closest_points pair, float margin, uint32_t feature) {
    CAIRN_ASSERT(out->point_count < 2);
    const float distance = vec3_dot(vec3_sub(pair.b, pair.a), out->normal);
    const float separation = distance - (a->radius + b->radius);
    if (separation <= margin) {
        const float along = 0.5f * (distance + (a->radius - b->radius));
        cairn_manifold_add(out, vec3_add_scaled(pair.a, out->normal, along), separation, feature);
    }
}

// Both ends are measured along the common normal, so the penetration of slightly skew capsules is
// never underestimated.
static void add_parallel_points(
    cairn_manifold *out, const cairn_local_capsule *a, const cairn_local_capsule *b, float margin) {
    CAIRN_ASSERT(out->point_count == 0);
    const float aa = vec3_length_squared(a->half);
    const float bb = vec3_length_squared(b->half);
    if (!(sine_squared_scaled(a, b) < PARALLEL_SINE_SQUARED * aa * bb)) {
        return;
    }
    const overlap_range range = range_beside(a, b);
    const float length = range.upper - range.lower;
    if (!(length > 0.0f && length * length * aa > 1e-4f * float_min(aa, bb))) {
        return;
    }
    const float ends[2] = {range.lower, range.upper};
    const uint32_t features[2] = {range.lower_feature, range.upper_feature};
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_vec3 on_a = cairn_local_capsule_at(a, ends[i]);
        const float t = clamp_to_segment(vec3_dot(b->half, vec3_sub(on_a, b->centre)), bb);
        const cairn_closest_points pair = {.a = on_a, .b = cairn_local_capsule_at(b, t)};
        add_between(out, a, b, pair, margin, FEATURE_RANGE + features[i]);
    }
}

void cairn_collide_capsules(
    const cairn_local_capsule *a, const cairn_local_capsule *b, float margin, cairn_manifold *out) {
    CAIRN_ASSERT(a->radius > 0.0f && b->radius > 0.0f);
    const bool spheres =
        vec3_length_squared(a->half) == 0.0f && vec3_length_squared(b->half) == 0.0f;
    const cairn_closest_points centres = {.a = a->centre, .b = b->centre};
    const cairn_closest_points pair = spheres ? centres : cairn_segments_closest_points(a, b);
    const cairn_vec3 offset = vec3_sub(pair.b, pair.a);
    const float distance = vec3_length(offset);
    const float radii = a->radius + b->radius;
    if (distance - radii > margin) {
        return;
    }
    const bool apart = distance > 1e-4f * radii;
    out->normal = apart ? vec3_scale(offset, 1.0f / distance) : normal_of_crossing_axes(a, b);
    if (!spheres) {
        add_parallel_points(out, a, b, margin);
    }
    if (out->point_count == 0) {
        add_between(out, a, b, pair, margin, FEATURE_CLOSEST);
    }
}

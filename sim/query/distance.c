// SPDX-License-Identifier: MIT
#include "sim/query/distance.h"

#include "base/assert.h"

// Steps of a cast; it ends after a few, as a rule.
#define STEPS_MAX 32
// A cast ends when the gap is this small, m; the rest of the way is a straight line. The normal of
// two rounded shapes stays exact when they touch, so they may come nearer.
#define CAST_GAP 2e-4f
#define CAST_GAP_ROUND 2e-5f
// Cores nearer than this, m, have no reliable normal.
#define NORMAL_DISTANCE_MIN 5e-5f

// The point of b that is lowest above the plane of the half-space a, in the frame of a.
static cairn_vec3 lowest_point(const cairn_pose *pose_a, const cairn_shape_view *b,
    const cairn_pose *pose_b, const cairn_convex_core *core) {
    CAIRN_ASSERT(b->geometry->kind == core->kind);
    const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
    const cairn_vec3 down = quat_rotate(pose_a->rotation, vec3_negate(up));
    const cairn_quat rotation = quat_normalize(pose_b->rotation);
    const cairn_vec3 local = cairn_convex_core_support(core, quat_rotate_inverse(rotation, down));
    const cairn_vec3 arm = quat_rotate(rotation, local);
    const cairn_vec3 point = vec3_add(
        pose_apply_inverse(*pose_a, pose_b->position), quat_rotate_inverse(pose_a->rotation, arm));
    return vec3_sub_scaled(point, up, core->radius);
}

cairn_distance cairn_shape_distance(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b) {
    cairn_distance out = {.normal = vec3(0.0f, 1.0f, 0.0f)};
    if (a->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        const cairn_convex_core core = cairn_convex_core_of(b);
        out.point_b = lowest_point(pose_a, b, pose_b, &core);
        out.point_a = vec3(out.point_b.x, 0.0f, out.point_b.z);
        out.distance = float_max(out.point_b.y, 0.0f);
        out.gap = out.point_b.y;
    } else {
        const cairn_gjk_pair pair = cairn_gjk_pair_of(a, pose_a, b, pose_b);
        cairn_gjk_simplex s = {.count = 0};
        const cairn_vec3 nearest = cairn_gjk_nearest(&pair, &s);
        const float length = vec3_length(nearest);
        out.cores_overlap = !(length > 0.0f);
        out.normal = vec3_normalize(nearest, out.normal);
        out.gap = length - pair.a.radius - pair.b.radius;
        out.distance = out.cores_overlap ? 0.0f : float_max(out.gap, 0.0f);
        cairn_gjk_points(&s, &out.point_a, &out.point_b);
        out.point_a = vec3_add_scaled(out.point_a, out.normal, pair.a.radius);
        out.point_b = vec3_sub_scaled(out.point_b, out.normal, pair.b.radius);
    }
    out.normal = vec3_clean(quat_rotate(pose_a->rotation, out.normal));
    out.point_a = vec3_clean(pose_apply(*pose_a, out.point_a));
    out.point_b = vec3_clean(pose_apply(*pose_a, out.point_b));
    CAIRN_ASSERT(out.distance >= 0.0f);
    return out;
}

// ---- Casts

typedef enum cast_outcome { CAST_MISSED, CAST_HIT, CAST_OVERLAPS } cast_outcome;

// In the frame of a.
typedef struct cast_result {
    float fraction;
    cairn_vec3 normal;
    cairn_vec3 point;
} cast_result;

static cast_outcome cast_at_half_space(
    cairn_vec3 lowest, cairn_vec3 translation, cast_result *out) {
    const float descent = 0.0f - translation.y;
    if (lowest.y < 0.0f - CAST_GAP) {
        return CAST_OVERLAPS;
    }
    // Compares before dividing, so that a cast almost parallel to the plane does not overflow.
    if (!(descent > 0.0f) || lowest.y > descent) {
        return CAST_MISSED;
    }
    out->fraction = float_max(lowest.y, 0.0f) / descent;
    out->normal = vec3(0.0f, 1.0f, 0.0f);
    out->point = vec3_add_scaled(lowest, translation, out->fraction);
    out->point.y = 0.0f;
    return CAST_HIT;
}

// Moves b, and the simplex with it.
static void advance(cairn_gjk_pair *pair, cairn_gjk_simplex *s, cairn_vec3 step) {
    pair->offset = vec3_add(pair->offset, step);
    for (uint32_t i = 0; i < s->count; ++i) {
        s->vertices[i].b = vec3_add(s->vertices[i].b, step);
        s->vertices[i].difference = vec3_sub(s->vertices[i].b, s->vertices[i].a);
    }
}

// The gap is a convex function of the fraction. A step along its slope therefore never passes its
// first zero, and once it grows it grows for good.
static cast_outcome cast_cores(cairn_gjk_pair *pair, cairn_vec3 translation, cast_result *out) {
    cairn_gjk_simplex s = {.count = 0};
    const cairn_vec3 start = pair->offset;
    const float radius = pair->a.radius + pair->b.radius;
    const float gap_end = radius > CAST_GAP ? CAST_GAP_ROUND : CAST_GAP;
    out->fraction = 0.0f;
    for (uint32_t i = 0; i < STEPS_MAX; ++i) {
        const cairn_vec3 nearest = cairn_gjk_nearest(pair, &s);
        const float length = vec3_length(nearest);
        const float gap = length - radius;
        if (i == 0 && (!(length > 0.0f) || gap < 0.0f - gap_end)) {
            return CAST_OVERLAPS;
        }
        cairn_vec3 unused;
        if (i > 0 && length < NORMAL_DISTANCE_MIN) {
            return CAST_HIT; // with the normal of the step before
        }
        out->normal = vec3_normalize(nearest, vec3(0.0f, 1.0f, 0.0f));
        cairn_gjk_points(&s, &out->point, &unused);
        out->point = vec3_add_scaled(out->point, out->normal, pair->a.radius);
        const float approach = 0.0f - vec3_dot(out->normal, translation);
        if (!(approach > 0.0f) || gap > (1.0f - out->fraction) * approach) {
            return CAST_MISSED;
        }
        out->fraction = float_min(out->fraction + float_max(gap, 0.0f) / approach, 1.0f);
        if (gap <= gap_end) {
            return CAST_HIT;
        }
        const cairn_vec3 offset = vec3_add_scaled(start, translation, out->fraction);
        advance(pair, &s, vec3_sub(offset, pair->offset));
        pair->offset = offset;
    }
    return CAST_HIT; // it has come as near as rounding lets it
}

bool cairn_shape_cast(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b, cairn_vec3 translation, float *fraction,
    cairn_vec3 *normal, cairn_vec3 *point) {
    const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
    const cairn_vec3 local = quat_rotate_inverse(pose_a->rotation, translation);
    cast_result result = {.fraction = 0.0f};
    cast_outcome outcome = CAST_MISSED;
    if (a->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        const cairn_convex_core core = cairn_convex_core_of(b);
        outcome = cast_at_half_space(lowest_point(pose_a, b, pose_b, &core), local, &result);
    } else {
        cairn_gjk_pair pair = cairn_gjk_pair_of(a, pose_a, b, pose_b);
        outcome = cast_cores(&pair, local, &result);
    }
    if (outcome == CAST_OVERLAPS) {
        *fraction = 0.0f;
        *normal = vec3_clean(vec3_normalize(vec3_negate(translation), up));
        *point = vec3_clean(pose_b->position);
        return true;
    }
    CAIRN_ASSERT(result.fraction >= 0.0f && result.fraction <= 1.0f);
    *fraction = result.fraction;
    *normal = vec3_clean(quat_rotate(pose_a->rotation, result.normal));
    *point = vec3_clean(pose_apply(*pose_a, result.point));
    return outcome == CAST_HIT;
}

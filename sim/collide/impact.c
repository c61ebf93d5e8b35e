// SPDX-License-Identifier: MIT
#include "sim/collide/impact.h"

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/math/trig.h"
#include "sim/shape/distance.h"

// Steps of conservative advancement.
#define ADVANCES_MAX 48
// The advance ends within this fraction of the depth, or within this, m.
#define TOLERANCE_FRACTION 0.25f
#define TOLERANCE_MIN 2e-5f
// After so many advances the least one takes the shapes together by this fraction of half the least
// width, and by enough to come to the end of the motion: bodies that rotate side by side would need
// hundreds of advances. From there on distances are measured, because an advance by the gap along
// the last axis could end behind a thin plate. If shapes meet in such an advance, the time is
// refined by bisection.
#define SURE_ADVANCES 8u
// If points of the larger body may move farther than this by its rotation, m, the motion is looked
// at in its frame as well. Up to there the least advance is some millimetres.
#define LARGE_TURN 0.25f
#define STEP_FRACTION 0.25f
#define REFINEMENTS 10
// An axis is the normal of a face if the cosine of the angle between them is greater.
#define FACE_COSINE 0.995f

cairn_quat cairn_rotation_of_vector(cairn_vec3 vector) {
    const float angle = vec3_length(vector);
    CAIRN_ASSERT(angle <= 1.001f * CAIRN_SWEEP_ROTATION_MAX);
    if (angle < 1e-6f) {
        return quat_of_small_angle(vector);
    }
    const cairn_vec3 part = vec3_scale(vector, lanes_sin(0.5f * angle) / angle);
    return quat_normalize(
        (cairn_quat){.x = part.x, .y = part.y, .z = part.z, .w = lanes_cos(0.5f * angle)});
}

cairn_vec3 cairn_vector_of_rotation(cairn_quat rotation) {
    const cairn_vec3 v = quat_vector(rotation);
    const float sine = vec3_length(v);
    const float sign = rotation.w < 0.0f ? -1.0f : 1.0f;
    if (sine < 1e-6f) {
        return vec3_scale(v, 2.0f * sign);
    }
    return vec3_scale(v, 2.0f * sign * lanes_atan2(sine, sign * rotation.w) / sine);
}

cairn_vec3 cairn_pair_motion_beside(
    const cairn_pair_pose *start, const cairn_pair_motion *motion, bool obstacle_is_a) {
    const cairn_vec3 turn = obstacle_is_a ? motion->rotation_a : motion->rotation_b;
    if (vec3_is_zero(turn)) {
        return motion->displacement;
    }
    const cairn_vec3 end = vec3_add(start->displacement, motion->displacement);
    return vec3_sub(quat_rotate_inverse(cairn_rotation_of_vector(turn), end), start->displacement);
}

// The two shapes of a sweep. Half-spaces have no core.
typedef struct swept_pair {
    const cairn_pair_pose *start;
    const cairn_pair_motion *motion;
    cairn_core core_a;
    cairn_core core_b;
    bool half_space_a;
    bool half_space_b;
    float target;  // m, the distance of the cores at the impact
    float reach_a; // m, of a core from its body's centre of mass
    float reach_b;
} swept_pair;

static bool is_half_space(const cairn_shape_view *shape) {
    return shape->geometry->kind == CAIRN_SHAPE_HALF_SPACE;
}

static float reach_of(const cairn_core *core, cairn_quat rotation, cairn_vec3 offset) {
    return cairn_core_reach(core, quat_rotate_inverse(rotation, vec3_negate(offset)));
}

static void swept_pair_of(swept_pair *pair, const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pair_pose *start, const cairn_pair_motion *motion, float half_width, float depth) {
    const float skin =
        float_max(depth, float_min(CAIRN_IMPACT_DEPTH, CAIRN_IMPACT_DEPTH_FRACTION * half_width));
    *pair = (swept_pair){.start = start,
        .motion = motion,
        .half_space_a = is_half_space(a),
        .half_space_b = is_half_space(b)};
    CAIRN_ASSERT(!(pair->half_space_a && pair->half_space_b));
    if (!pair->half_space_a) {
        pair->core_a = cairn_core_of(a, skin);
        pair->reach_a = reach_of(&pair->core_a, start->shape_rotation_a, start->shape_offset_a);
    }
    if (!pair->half_space_b) {
        pair->core_b = cairn_core_of(b, skin);
        pair->reach_b = reach_of(&pair->core_b, start->shape_rotation_b, start->shape_offset_b);
    }
    pair->target = float_max(pair->core_a.radius + pair->core_b.radius - depth, 0.0f);
}

// The shapes after a fraction of the motion.
typedef struct moved_pair {
    cairn_quat rotation_a;
    cairn_quat rotation_b;
    cairn_vec3 apart; // from the origin of shape a to that of b, world axes
} moved_pair;

// Turns a shape about the centre of its body. Most obstacles do not turn.
static void turn_shape(
    cairn_vec3 rotation, float fraction, cairn_quat *shape_rotation, cairn_vec3 *offset) {
    if (fraction > 0.0f && !vec3_is_zero(rotation)) {
        const cairn_quat dq = cairn_rotation_of_vector(vec3_scale(rotation, fraction));
        *shape_rotation = quat_multiply(dq, *shape_rotation);
        *offset = quat_rotate(dq, *offset);
    }
}

static moved_pair move_pair(const swept_pair *pair, float fraction) {
    const cairn_pair_pose *start = pair->start;
    const cairn_pair_motion *motion = pair->motion;
    cairn_vec3 offset_a = start->shape_offset_a;
    cairn_vec3 offset_b = start->shape_offset_b;
    moved_pair moved = {
        .rotation_a = start->shape_rotation_a, .rotation_b = start->shape_rotation_b};
    turn_shape(motion->rotation_a, fraction, &moved.rotation_a, &offset_a);
    turn_shape(motion->rotation_b, fraction, &moved.rotation_b, &offset_b);
    moved.apart = vec3_add(vec3_add_scaled(start->displacement, motion->displacement, fraction),
        vec3_sub(offset_b, offset_a));
    return moved;
}

// The gap between the planes that touch the cores, perpendicular to a world axis from a to b: no
// more than their distance.
static float gap_along(const swept_pair *pair, const moved_pair *moved, cairn_vec3 axis) {
    CAIRN_ASSERT(!pair->half_space_a && !pair->half_space_b);
    const cairn_vec3 along_a = quat_rotate_inverse(moved->rotation_a, axis);
    const cairn_vec3 along_b = quat_rotate_inverse(moved->rotation_b, vec3_negate(axis));
    const cairn_vec3 on_a = cairn_core_support(&pair->core_a, along_a);
    const cairn_vec3 on_b = cairn_core_support(&pair->core_b, along_b);
    return vec3_dot(moved->apart, axis) - vec3_dot(on_a, along_a) - vec3_dot(on_b, along_b);
}

// The distance of the cores, and the world axis from a to b along which they have it. A distance
// below `enough` need not be exact.
static float distance_of(
    const swept_pair *pair, const moved_pair *moved, float enough, cairn_vec3 *axis) {
    const cairn_quat b_from_a = quat_multiply(quat_conjugate(moved->rotation_a), moved->rotation_b);
    const cairn_pose b_in_a = {.position = quat_rotate_inverse(moved->rotation_a, moved->apart),
        .rotation = quat_normalize(b_from_a)};
    const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
    if (pair->half_space_a) {
        *axis = quat_rotate(moved->rotation_a, up);
        return cairn_half_space_height(&pair->core_b, &b_in_a);
    }
    if (pair->half_space_b) {
        const cairn_pose a_in_b = pose_inverse(b_in_a);
        *axis = vec3_negate(quat_rotate(moved->rotation_b, up));
        return cairn_half_space_height(&pair->core_a, &a_in_b);
    }
    const cairn_core_distance found =
        cairn_cores_distance(&pair->core_a, &pair->core_b, &b_in_a, enough);
    *axis = quat_rotate(moved->rotation_a, found.normal);
    return found.distance;
}

// The same bound for a world axis that turns with the larger body, in whose frame the other one
// moves; `towards`: the axis, from the other body to it. Of the larger body all points are at rest
// there, so it does not matter how far it reaches: a plate of 800 m has no point at 400 m that a
// ball beside its middle could meet.
//
// With c from the larger body's centre to the other's, d the displacement and w the rotation of the
// larger body, the other centre moves there by u = d - w x c. That changes by at most |w| (|u| +
// |d|) times the time, as the frame turns and c grows.
static float approach_in_frame(const swept_pair *pair, bool of_a, float at, cairn_vec3 towards) {
    const cairn_pair_motion *motion = pair->motion;
    const float sign = of_a ? 1.0f : -1.0f;
    const cairn_vec3 w = of_a ? motion->rotation_a : motion->rotation_b;
    const cairn_vec3 spin = vec3_sub(of_a ? motion->rotation_b : motion->rotation_a, w);
    const cairn_vec3 d = vec3_scale(motion->displacement, sign);
    const cairn_vec3 c = vec3_add_scaled(vec3_scale(pair->start->displacement, sign), d, at);
    const cairn_vec3 u = vec3_sub(d, vec3_cross(w, c));
    const float turn = (1.0f - at) * vec3_length(w);
    const float way = vec3_length(d);
    const float bend = turn * (vec3_length(u) + way + turn * way);
    const float reach = of_a ? pair->reach_b : pair->reach_a;
    return vec3_dot(u, towards) + bend +
           reach * (vec3_length(vec3_cross(spin, towards)) + turn * vec3_length(spin));
}

// The most by which the distance along `normal` can shrink during the whole motion, from `at` on. A
// point at the arm r from a centre that rotates by the vector w moves along the normal by at most
// |w x n| |r|.
static float approach_along(const swept_pair *pair, float at, cairn_vec3 normal) {
    const cairn_pair_motion *motion = pair->motion;
    const float linear = 0.0f - vec3_dot(motion->displacement, normal);
    const float turn_a = vec3_length(vec3_cross(motion->rotation_a, normal)) * pair->reach_a;
    const float turn_b = vec3_length(vec3_cross(motion->rotation_b, normal)) * pair->reach_b;
    const float approach = linear + turn_a + turn_b;
    const bool a_larger = pair->reach_a > pair->reach_b;
    if (!((a_larger ? turn_a : turn_b) > LARGE_TURN)) {
        return approach;
    }
    const cairn_vec3 towards = a_larger ? vec3_negate(normal) : normal;
    return float_min(approach, approach_in_frame(pair, a_larger, at, towards));
}

// Halves the interval in which the gap closes. The shapes may be deep in each other at its end, or
// one may be behind the other, so the axis is that of the last time at which they met.
static void refine(const swept_pair *pair, float apart, float closed, cairn_impact *impact) {
    CAIRN_ASSERT(apart <= impact->fraction);
    for (uint32_t i = 0; i < REFINEMENTS; ++i) {
        cairn_vec3 axis;
        const float middle = 0.5f * (apart + impact->fraction);
        const moved_pair moved = move_pair(pair, middle);
        if (distance_of(pair, &moved, closed, &axis) <= closed) {
            *impact = (cairn_impact){.fraction = middle, .axis = axis};
        } else {
            apart = middle;
        }
    }
}

// How far a gap along an axis lets the time advance.
typedef struct advance {
    float at;
    bool stepped; // by more than is sure
    bool missed;  // the gap does not close any more
} advance;

static advance advance_by(
    const swept_pair *pair, float at, float gap, cairn_vec3 axis, uint32_t count, float step) {
    const float approach = approach_along(pair, at, axis);
    if (!(approach * (1.0f - at) > gap)) {
        return (advance){.at = at, .missed = true};
    }
    const float rest = approach * (1.0f - at) / (float)(ADVANCES_MAX - count);
    const float least = count < SURE_ADVANCES ? 0.0f : float_max(step, rest);
    const float used = float_max(gap, least);
    return (advance){.at = float_min(at + used / approach, 1.0f), .stepped = used > gap};
}

// Whether the gap along an axis, which is open now, is open at the end of the motion, and as much
// more as a rotation can take points off straight lines: then it is open all the time.
static bool stays_apart(
    const swept_pair *pair, cairn_vec3 axis, float gap, float now, float closed) {
    const cairn_pair_motion *motion = pair->motion;
    if (pair->half_space_a || pair->half_space_b) {
        return false;
    }
    const float rest = 1.0f - now;
    const float bend = 0.125f * rest * rest *
                       (pair->reach_a * vec3_length_squared(motion->rotation_a) +
                           pair->reach_b * vec3_length_squared(motion->rotation_b));
    if (gap - bend <= closed) {
        return false;
    }
    const moved_pair end = move_pair(pair, 1.0f);
    return gap_along(pair, &end, axis) - bend > closed;
}

bool cairn_impact_find(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pair_pose *start, const cairn_pair_motion *motion, float depth, cairn_impact *out) {
    CAIRN_ASSERT(depth > 0.0f);
    const float half_width =
        float_min(cairn_shape_view_half_width(a), cairn_shape_view_half_width(b));
    const float limited = float_min(depth, CAIRN_IMPACT_DEPTH_FRACTION * half_width);
    const float step = STEP_FRACTION * half_width;
    swept_pair pair;
    swept_pair_of(&pair, a, b, start, motion, half_width, limited);
    const float slack = float_min(TOLERANCE_MIN, 0.9f * limited);
    const float closed = pair.target + float_max(TOLERANCE_FRACTION * limited, slack);
    // The axis of the last gap is tried first: as a rule it is that of the next one.
    cairn_vec3 axis = vec3_normalize(vec3_negate(motion->displacement), vec3_zero());
    const bool has_axis = !pair.half_space_a && !pair.half_space_b;
    advance now = {.at = 0.0f};
    float last = 0.0f;
    for (uint32_t i = 0; i < ADVANCES_MAX; ++i) {
        const moved_pair moved = move_pair(&pair, now.at);
        float distance = has_axis ? gap_along(&pair, &moved, axis) : 0.0f;
        if (!has_axis || distance <= closed || i >= SURE_ADVANCES) {
            distance = distance_of(&pair, &moved, closed, &axis);
        }
        if (distance <= closed) {
            *out = (cairn_impact){.fraction = now.at, .axis = axis};
            if (now.stepped) {
                refine(&pair, last, closed, out);
            }
            return true;
        }
        if (stays_apart(&pair, axis, distance, now.at, closed)) {
            return false;
        }
        last = now.at;
        now = advance_by(&pair, now.at, distance - pair.target, axis, i, step);
        if (now.missed) {
            return false;
        }
    }
    *out = (cairn_impact){.fraction = now.at, .axis = axis};
    return true;
}

// The gap but for what the obstacle itself adds, which stays.
static float gap_to_obstacle(
    const cairn_core *core, const moved_pair *moved, bool obstacle_is_a, cairn_vec3 axis) {
    const cairn_quat rotation = obstacle_is_a ? moved->rotation_b : moved->rotation_a;
    const cairn_vec3 towards =
        quat_rotate_inverse(rotation, obstacle_is_a ? vec3_negate(axis) : axis);
    return vec3_dot(moved->apart, axis) - vec3_dot(cairn_core_support(core, towards), towards);
}

// The axis of an impact, or the normal of the face of the obstacle that is beside the middle of the
// other shape: if they are nearly the same, or the shapes overlapped when they started, so that
// their nearest points may say nothing.
static cairn_vec3 settled_axis(const cairn_shape_view *a, const cairn_shape_view *b,
    const moved_pair *met, const cairn_impact *impact, bool obstacle_is_a) {
    const cairn_vec3 middle = cairn_shape_view_middle(obstacle_is_a ? b : a);
    const cairn_quat of_obstacle = obstacle_is_a ? met->rotation_a : met->rotation_b;
    const cairn_quat of_other = obstacle_is_a ? met->rotation_b : met->rotation_a;
    const float sign = obstacle_is_a ? 1.0f : -1.0f;
    const cairn_vec3 apart = vec3_add(vec3_scale(met->apart, sign), quat_rotate(of_other, middle));
    const cairn_vec3 face =
        cairn_shape_view_face_below(obstacle_is_a ? a : b, quat_rotate_inverse(of_obstacle, apart));
    const cairn_vec3 normal = vec3_scale(quat_rotate(of_obstacle, face), sign);
    const bool use = impact->fraction <= 0.0f || vec3_dot(normal, impact->axis) > FACE_COSINE;
    return use && !vec3_is_zero(face) ? normal : impact->axis;
}

float cairn_impact_sinks(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pair_pose *start, const cairn_pair_motion *motion, const cairn_impact *impact,
    bool obstacle_is_a, cairn_vec3 *axis) {
    const swept_pair pair = {.start = start, .motion = motion};
    const cairn_core core = cairn_core_of(obstacle_is_a ? b : a, 0.0f);
    const moved_pair met = move_pair(&pair, impact->fraction);
    const moved_pair end = move_pair(&pair, 1.0f);
    const cairn_quat turn = obstacle_is_a
                                ? quat_multiply(end.rotation_a, quat_conjugate(met.rotation_a))
                                : quat_multiply(end.rotation_b, quat_conjugate(met.rotation_b));
    const cairn_vec3 first = settled_axis(a, b, &met, impact, obstacle_is_a);
    *axis = quat_rotate(turn, first);
    return gap_to_obstacle(&core, &met, obstacle_is_a, first) -
           gap_to_obstacle(&core, &end, obstacle_is_a, *axis);
}

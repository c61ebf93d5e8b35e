// SPDX-License-Identifier: MIT
#include "sim/collide/pair_contact.h"

#include "base/assert.h"
#include "sim/body/shape.h"
#include "sim/collide/body_extent.h"
#include "sim/collide/impact.h"
#include "sim/collide/manifold_pool.h"
#include "sim/math/grid.h"
#include "sim/math/limits.h"
#include "sim/shape/frustum.h"

// A contact whose plane would stop less than this, m, and than this part of the motion, pushes
// nothing aside.
#define HARMLESS_DEPTH 2e-5f
#define HARMLESS_FRACTION 0.0005f
// Shapes with a gap below this, m, may come to touch within the tick although they do not approach:
// gravity moves a body by 1.7 mm.
#define TOUCHING_GAP 3e-3f
// A point that is inside a shape by this, m, really meets it.
#define SURE_DEPTH 2e-3f
// The cosine of the angle between a normal and that of the face that it belongs to.
#define FACE_COSINE 0.9999f
// Motions that rotate by less than this, rad, are nearly straight.
#define STRAIGHT_TURN 0.3f
// A motion of which more than this part is along the normal does not pass by.
#define HEAD_ON 0.35f

// m: a point that comes this close to the plane counts as meeting it. If two shapes of a body meet
// another body at the end of a tick, rounding must not leave one of them out.
#define MEETING_SLACK 1e-4f

static const cairn_predicted_motion *motion_of(const cairn_world *world, uint32_t shape) {
    static const cairn_predicted_motion at_rest = {.turn = 0.0f};
    const cairn_pair_cache *cache = world->pair_cache;
    const bool fast = (cache->reference_change[shape] & CAIRN_REFERENCE_FAST) != 0;
    return fast ? &cache->predicted_motions[cache->transforms[shape].body] : &at_rest;
}

static cairn_pair_motion pair_motion(const cairn_world *world, cairn_pair pair) {
    const cairn_predicted_motion *a = motion_of(world, pair.shape_a);
    const cairn_predicted_motion *b = motion_of(world, pair.shape_b);
    return (cairn_pair_motion){.displacement = vec3_sub(b->displacement, a->displacement),
        .rotation_a = a->rotation,
        .rotation_b = b->rotation};
}

// A bound of how far the motion takes points of b relative to a, m.
static float pair_reach(
    const cairn_world *world, cairn_pair pair, const cairn_pair_motion *motion) {
    const float turn_a = motion_of(world, pair.shape_a)->turn;
    const float turn_b = motion_of(world, pair.shape_b)->turn;
    return vec3_length(motion->displacement) + turn_a + turn_b;
}

// What the predicted motion does to the points of a manifold.
typedef struct prediction {
    float least;     // m, the least separation now
    float least_end; // m, and a substep after the end of the tick, beyond the planes of the points
    float fraction;  // of the tick, when the first point reaches the plane; > 1: none does
    float most;      // m, the largest separation now
    float margin;    // m, the same of the points that will reach the plane, or may when one has
    bool sure;       // a point will really meet the other shape
} prediction;

// A box or half-space at rest that the other shape flies to almost straight: it is easy to see
// whether a point really meets it.
typedef struct simple_obstacle {
    const cairn_geometry *geometry; // NULL: the pair has none
    bool is_b;
    float bend; // m, how far its rotation takes a point off a straight line
} simple_obstacle;

static simple_obstacle simple_obstacle_of(
    const cairn_world *world, cairn_pair pair, const cairn_pair_motion *motion) {
    const cairn_pair_cache *cache = world->pair_cache;
    const bool is_b = cache->minimum_extents[pair.shape_b] > CAIRN_STATIC_EXTENT;
    const uint32_t obstacle = is_b ? pair.shape_b : pair.shape_a;
    const uint32_t other = is_b ? pair.shape_a : pair.shape_b;
    const cairn_geometry *geometry = &world->state.shapes[obstacle].geometry;
    const bool simple =
        geometry->kind == CAIRN_SHAPE_BOX || geometry->kind == CAIRN_SHAPE_HALF_SPACE;
    const bool at_rest = cache->minimum_extents[obstacle] > CAIRN_STATIC_EXTENT &&
                         (cache->reference_change[obstacle] & CAIRN_REFERENCE_FAST) == 0;
    const float angle = vec3_length(is_b ? motion->rotation_a : motion->rotation_b);
    // A point that rotates leaves its tangent by at most half the angle times its way.
    return (simple_obstacle){
        .geometry = simple && at_rest && angle < STRAIGHT_TURN ? geometry : NULL,
        .is_b = is_b,
        .bend = 0.5f * angle * motion_of(world, other)->turn};
}

// Whether a point that reaches the plane really meets the obstacle: it ends inside; or the plane is
// that of a face, and the point is over the face all the time. `moved`: by how much the point of b
// moves relative to that of a.
static bool meets_surely(const simple_obstacle *obstacle, const cairn_pair_pose *pose,
    const cairn_manifold_point *point, cairn_vec3 normal, cairn_vec3 moved) {
    if (obstacle->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        return true;
    }
    const cairn_vec3 middle = quat_rotate(pose->shape_rotation_a, point->position);
    const float half = 0.5f * point->separation;
    const cairn_quat rotation = obstacle->is_b ? pose->shape_rotation_b : pose->shape_rotation_a;
    const cairn_vec3 apart =
        vec3_add(vec3_sub(pose->shape_offset_b, pose->shape_offset_a), pose->displacement);
    const cairn_vec3 start = obstacle->is_b ? vec3_sub(vec3_sub_scaled(middle, normal, half), apart)
                                            : vec3_add_scaled(middle, normal, half);
    const cairn_vec3 end = obstacle->is_b ? vec3_sub(start, moved) : vec3_add(start, moved);
    const cairn_vec3 extents = obstacle->geometry->half_extents;
    const float slack = SURE_DEPTH + obstacle->bend;
    const cairn_vec3 most = vec3_sub(extents, vec3(slack, slack, slack));
    const cairn_vec3 at_end = vec3_sub(most, vec3_abs(quat_rotate_inverse(rotation, end)));
    const cairn_vec3 at_start = vec3_sub(most, vec3_abs(quat_rotate_inverse(rotation, start)));
    const cairn_vec3 along = vec3_abs(quat_rotate_inverse(rotation, normal));
    const cairn_vec3 both = vec3_min(at_start, at_end);
    return float_min(at_end.x, float_min(at_end.y, at_end.z)) > 0.0f ||
           ((along.x > FACE_COSINE || both.x > 0.0f) && (along.y > FACE_COSINE || both.y > 0.0f) &&
               (along.z > FACE_COSINE || both.z > 0.0f) &&
               float_max(along.x, float_max(along.y, along.z)) > FACE_COSINE);
}

// What the motion does to gaps along a normal: a linear function of the place on shape a.
typedef struct gap_rate {
    float base;          // m, at the origin of shape a
    cairn_vec3 gradient; // in the frame of shape a
} gap_rate;

// n . (d + w_b x r_b - w_a x r_a), with r . (n x w) for n . (w x r).
static gap_rate gap_rate_of(
    const cairn_pair_pose *pose, const cairn_pair_motion *motion, cairn_vec3 normal) {
    gap_rate out = {.base = vec3_dot(motion->displacement, normal)};
    const cairn_vec3 spin = vec3_sub(motion->rotation_b, motion->rotation_a);
    if (!vec3_is_zero(motion->rotation_a) || !vec3_is_zero(motion->rotation_b)) {
        const cairn_vec3 gradient = vec3_cross(normal, spin);
        out.base += vec3_dot(pose->shape_offset_a, gradient) -
                    vec3_dot(pose->displacement, vec3_cross(normal, motion->rotation_b));
        out.gradient = quat_rotate_inverse(pose->shape_rotation_a, gradient);
    }
    return out;
}

// By how much the point of b moves relative to that of a.
static cairn_vec3 point_motion(const cairn_pair_pose *pose, const cairn_manifold_point *point,
    const cairn_pair_motion *motion) {
    const cairn_vec3 arm_a =
        vec3_add(pose->shape_offset_a, quat_rotate(pose->shape_rotation_a, point->position));
    const cairn_vec3 arm_b = vec3_sub(arm_a, pose->displacement);
    const cairn_vec3 turned_a = vec3_cross(motion->rotation_a, arm_a);
    const cairn_vec3 turned_b = vec3_cross(motion->rotation_b, arm_b);
    return vec3_sub(vec3_add(motion->displacement, turned_b), turned_a);
}

// Whether and when points come to the plane. `ends`: the gaps at the end of the tick.
static void predict_meeting(const cairn_world *world, cairn_pair pair, const cairn_pair_pose *pose,
    const cairn_manifold *manifold, const cairn_pair_motion *motion, const float *ends, float time,
    prediction *out) {
    const simple_obstacle obstacle = simple_obstacle_of(world, pair, motion);
    const cairn_vec3 normal = quat_rotate(pose->shape_rotation_a, manifold->normal);
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        const cairn_manifold_point *point = &manifold->points[i];
        const float approach = ends[i] - point->separation;
        if (ends[i] <= MEETING_SLACK && approach < 0.0f) {
            const float gap = point->separation - obstacle.bend;
            const float fraction = float_max(gap, 0.0f) / (0.0f - approach);
            out->fraction = float_min(out->fraction, float_min(fraction, 1.0f));
        }
        if (!out->sure && obstacle.geometry != NULL && point->separation + time * approach < 0.0f) {
            const cairn_vec3 moved = point_motion(pose, point, motion);
            out->sure = meets_surely(&obstacle, pose, point, normal, moved);
        }
    }
}

static prediction predict_points(const cairn_world *world, cairn_pair pair,
    const cairn_pair_pose *pose, const cairn_manifold *manifold, const cairn_pair_motion *motion) {
    prediction out = {.least = 1e9f,
        .least_end = 1e9f,
        .fraction = 2.0f,
        .most = -1e9f,
        .margin = CAIRN_CONTACT_MARGIN};
    const cairn_vec3 normal = quat_rotate(pose->shape_rotation_a, manifold->normal);
    const gap_rate rate = gap_rate_of(pose, motion, normal);
    // After the last substep the solver relaxes velocities to what the next one would allow.
    const float time = 1.0f + 1.0f / (float)world->def.substeps;
    float ends[CAIRN_MANIFOLD_POINTS_MAX];
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        const cairn_manifold_point *point = &manifold->points[i];
        const float approach = rate.base + vec3_dot(point->position, rate.gradient);
        out.least = float_min(out.least, point->separation);
        out.most = float_max(out.most, point->separation);
        out.least_end = float_min(out.least_end, point->separation + time * approach);
        ends[i] = point->separation + approach;
    }
    if (out.least_end <= 0.0f) {
        predict_meeting(world, pair, pose, manifold, motion, ends, time, &out);
    }
    // The first impact turns the body: others may follow that the motion alone would not bring.
    const float first = float_max(out.least, 0.0f);
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        const float separation = manifold->points[i].separation;
        out.margin = ends[i] < first ? float_max(out.margin, separation) : out.margin;
    }
    return out;
}

static bool has_round_side(const cairn_geometry *geometry) {
    return geometry->kind == CAIRN_SHAPE_SPHERE || geometry->kind == CAIRN_SHAPE_CAPSULE ||
           cairn_geometry_is_frustum(geometry);
}

static bool is_round(const cairn_world *world, cairn_pair pair) {
    return has_round_side(&world->state.shapes[pair.shape_a].geometry) ||
           has_round_side(&world->state.shapes[pair.shape_b].geometry);
}

// The greatest gap of a point of a manifold, if another point is within the margin. A box that
// sways on another one leaves it by one edge and comes back to it: the manifold must know the
// points there, or the box falls onto them after it has been found to be inside.
static float contact_reach(const cairn_world *world, cairn_pair pair) {
    const float least = CAIRN_CONTACT_MARGIN + CAIRN_IMPACT_SLACK;
    if (is_round(world, pair) || world->def.solver != CAIRN_SOLVER_SOFT_STEP) {
        return least;
    }
    const float *extents = world->pair_cache->minimum_extents;
    const float extent = float_min(extents[pair.shape_a], extents[pair.shape_b]);
    return float_clamp(CAIRN_CONTACT_REACH_FRACTION * extent, least, CAIRN_CONTACT_REACH);
}

static void collide_at(
    const cairn_world *world, cairn_pair pair, float margin, cairn_found_contact *out) {
    out->margin = margin;
    cairn_pair_collide(world, pair, &out->pose, margin, &out->axis_hint, &out->manifold);
}

// The first point within the margin brings those that follow closely, so that a box that arrives
// flat is not known by one corner alone.
bool cairn_pair_collide_at_rest(
    const cairn_world *world, cairn_pair pair, cairn_found_contact *out) {
    out->predicted = false;
    collide_at(world, pair, contact_reach(world, pair), out);
    float nearest = 1e9f;
    for (uint32_t i = 0; i < out->manifold.point_count; ++i) {
        nearest = float_min(nearest, out->manifold.points[i].separation);
    }
    return nearest <= CAIRN_CONTACT_MARGIN;
}

// Takes the points that the motion may bring to the plane, however far they are now, and those
// within the contact margin. False: there are no such points.
static bool collide_with_growth(const cairn_world *world, cairn_pair pair, bool in_contact,
    const cairn_pair_motion *motion, float reach, cairn_found_contact *out, prediction *predicted) {
    bool enough = false;
    const float turn = motion_of(world, pair.shape_a)->turn + motion_of(world, pair.shape_b)->turn;
    if (in_contact && turn < CAIRN_CONTACT_MARGIN) {
        // As a rule it moves along the plane, not towards it.
        collide_at(world, pair, contact_reach(world, pair), out);
        const cairn_vec3 normal = quat_rotate(out->pose.shape_rotation_a, out->manifold.normal);
        const float approach = turn - vec3_dot(motion->displacement, normal);
        enough = out->manifold.point_count > 0 && approach <= CAIRN_CONTACT_MARGIN;
    }
    if (!enough) {
        const float growth = float_min(reach, CAIRN_MARGIN_GROWTH_MAX);
        collide_at(world, pair, CAIRN_CONTACT_MARGIN + growth, out);
    }
    if (out->manifold.point_count == 0) {
        return false;
    }
    *predicted = predict_points(world, pair, &out->pose, &out->manifold, motion);
    predicted->margin = enough ? out->margin : predicted->margin;
    return true;
}

// Whether a manifold with a grown margin may lack points that are near: of more than four it has
// the four that span most. A cylinder that rolls would stand on one end of its line.
static bool may_lack_points(
    const cairn_world *world, cairn_pair pair, bool in_contact, const cairn_manifold *manifold) {
    const cairn_geometry *a = &world->state.shapes[pair.shape_a].geometry;
    const cairn_geometry *b = &world->state.shapes[pair.shape_b].geometry;
    return manifold->point_count == CAIRN_MANIFOLD_POINTS_MAX &&
           (in_contact || cairn_geometry_is_frustum(a) || cairn_geometry_is_frustum(b));
}

// Leaves out the points that the motion does not bring to the plane. A restore finds those that are
// kept by their features, in order, so these must tell them apart.
static void drop_far_points(const cairn_world *world, cairn_pair pair, bool in_contact,
    const prediction *predicted, cairn_found_contact *out) {
    if (!(predicted->margin < predicted->most)) {
        return;
    }
    const cairn_manifold all = out->manifold;
    bool again = may_lack_points(world, pair, in_contact, &all);
    out->manifold.point_count = 0;
    for (uint32_t i = 0; i < all.point_count; ++i) {
        const cairn_manifold_point *point = &all.points[i];
        for (uint32_t k = 0; k < i; ++k) {
            again = again || all.points[k].feature == point->feature;
        }
        if (point->separation <= predicted->margin) {
            cairn_manifold_add(&out->manifold, point->position, point->separation, point->feature);
        }
    }
    if (again) {
        collide_at(world, pair, predicted->margin, out);
    }
}

// Moves the pose to where the shapes meet.
static void set_impact_pose(const cairn_world *world, cairn_pair pair,
    const cairn_pair_motion *motion, float fraction, cairn_found_contact *out) {
    const cairn_quat turn_a = cairn_rotation_of_vector(vec3_scale(motion->rotation_a, fraction));
    const cairn_quat turn_b = cairn_rotation_of_vector(vec3_scale(motion->rotation_b, fraction));
    const cairn_vec3 displacement =
        cairn_vec3_on_grid(vec3_add_scaled(out->pose.displacement, motion->displacement, fraction));
    const cairn_shape *shapes = world->state.shapes;
    out->rotation_a =
        packed_rotation_pack(quat_normalize(quat_multiply(turn_a, out->pose.body_rotation_a)),
            cairn_body_reference_precision(world, shapes[pair.shape_a].body));
    out->rotation_b =
        packed_rotation_pack(quat_normalize(quat_multiply(turn_b, out->pose.body_rotation_b)),
            cairn_body_reference_precision(world, shapes[pair.shape_b].body));
    out->pose = cairn_pair_pose_of(world, pair, displacement, out->rotation_a, out->rotation_b);
    out->predicted = true;
}

// Takes the manifold of the impact. False: it has no points.
static bool take_impact(const cairn_world *world, cairn_pair pair, const cairn_pair_motion *motion,
    float reach, float fraction, cairn_found_contact *out) {
    set_impact_pose(world, pair, motion, fraction, out);
    prediction predicted;
    if (!collide_with_growth(world, pair, false, motion, reach, out, &predicted)) {
        return false;
    }
    if (predicted.least <= CAIRN_CONTACT_MARGIN) {
        drop_far_points(world, pair, false, &predicted, out);
    }
    return out->manifold.point_count > 0;
}

// The same, if the motion leads to an impact.
static bool find_impact(const cairn_world *world, cairn_pair pair, const cairn_pair_motion *motion,
    float reach, float depth, cairn_found_contact *out) {
    const cairn_shape_view a = cairn_shape_view_at(world, pair.shape_a);
    const cairn_shape_view b = cairn_shape_view_at(world, pair.shape_b);
    cairn_impact impact;
    return cairn_impact_find(&a, &b, &out->pose, motion, depth, &impact) &&
           take_impact(world, pair, motion, reach, impact.fraction, out);
}

// Whether a contact of shapes that are close can be taken as it is. Its plane must not push aside
// what only passes by: if it would stop a motion that is mostly along it, or one across a gap, the
// pair has to be swept. Boxes and hulls that touch do not roll off each other.
static bool can_keep(const prediction *predicted, bool in_contact, float reach, bool round) {
    const float approach = predicted->least - predicted->least_end;
    const float harmless = HARMLESS_DEPTH + HARMLESS_FRACTION * reach;
    if (predicted->least < -CAIRN_IMPACT_DEPTH) {
        return true;
    }
    if (predicted->least_end > -harmless) {
        return in_contact || predicted->least < TOUCHING_GAP;
    }
    const bool head_on = approach > HEAD_ON * reach;
    return in_contact && (round ? head_on && predicted->least < CAIRN_IMPACT_DEPTH
                                : head_on || predicted->least < CAIRN_IMPACT_DEPTH);
}

// The reach up to which the contact margin is enough.
static float slow_reach(const cairn_world *world, cairn_pair pair) {
    const float *extents = world->pair_cache->minimum_extents;
    const float a = extents[pair.shape_a];
    const float b = extents[pair.shape_b];
    const bool both_dynamic = a < CAIRN_STATIC_EXTENT && b < CAIRN_STATIC_EXTENT;
    const float part = CAIRN_FAST_PAIR_FRACTION * float_min(a, b);
    return both_dynamic ? float_max(CAIRN_FAST_DISTANCE, part) : CAIRN_FAST_DISTANCE;
}

// Whether the balls around the bodies meet during the motion; a bound.
static bool balls_meet(const cairn_world *world, cairn_pair pair, const cairn_pair_motion *motion) {
    const cairn_shape_transform *transforms = world->pair_cache->transforms;
    const uint32_t a = transforms[pair.shape_a].body;
    const uint32_t b = transforms[pair.shape_b].body;
    if (world->state.bodies[a].kind == CAIRN_BODY_STATIC ||
        world->state.bodies[b].kind == CAIRN_BODY_STATIC) {
        return true;
    }
    const cairn_reference_pose *references = world->state.reference_poses;
    const cairn_vec3 apart = vec3_sub(references[b].position, references[a].position);
    const float square = vec3_length_squared(motion->displacement);
    const float along = 0.0f - vec3_dot(apart, motion->displacement);
    const float part = square > 0.0f ? float_clamp(along / square, 0.0f, 1.0f) : 0.0f;
    const cairn_vec3 closest = vec3_add_scaled(apart, motion->displacement, part);
    const float *radii = world->pair_cache->bounding_radii;
    const float reach = radii[a] + radii[b];
    return vec3_length_squared(closest) <= reach * reach;
}

static bool is_straight(const cairn_pair_motion *motion, float reach) {
    return reach < CAIRN_MARGIN_GROWTH_MAX &&
           vec3_length_squared(motion->rotation_a) <= STRAIGHT_TURN * STRAIGHT_TURN &&
           vec3_length_squared(motion->rotation_b) <= STRAIGHT_TURN * STRAIGHT_TURN;
}

bool cairn_pair_may_meet(const cairn_world *world, cairn_pair pair) {
    const cairn_aabb a = cairn_body_swept_aabb(world, pair.shape_a);
    const cairn_aabb b = cairn_body_swept_aabb(world, pair.shape_b);
    if (!cairn_aabbs_overlap(&a, &b)) {
        return false;
    }
    const cairn_pair_motion motion = pair_motion(world, pair);
    return pair_reach(world, pair, &motion) > slow_reach(world, pair) &&
           balls_meet(world, pair, &motion);
}

bool cairn_pair_collide_swept(
    const cairn_world *world, cairn_pair pair, bool in_contact, cairn_found_contact *out) {
    CAIRN_ASSERT(pair.shape_a < pair.shape_b);
    out->predicted = false;
    const cairn_pair_motion motion = pair_motion(world, pair);
    const float reach = pair_reach(world, pair, &motion);
    if (reach <= slow_reach(world, pair)) {
        return cairn_pair_collide_at_rest(world, pair, out);
    }
    const bool straight = is_straight(&motion, reach);
    float depth = CAIRN_IMPACT_DEPTH;
    prediction predicted;
    if (collide_with_growth(world, pair, in_contact, &motion, reach, out, &predicted)) {
        const bool near = predicted.least <= CAIRN_CONTACT_MARGIN;
        if (straight && !near && predicted.fraction > 1.0f) {
            return false; // the motion does not bring them to the plane between them
        }
        if (predicted.sure && !near) {
            return take_impact(world, pair, &motion, reach, predicted.fraction, out);
        }
        if (predicted.sure ||
            (near && can_keep(&predicted, in_contact, reach, is_round(world, pair)))) {
            drop_far_points(world, pair, in_contact, &predicted, out);
            return out->manifold.point_count > 0;
        }
        // Half of what the plane would stop must really happen.
        if (near && predicted.least_end < -HARMLESS_DEPTH) {
            depth = float_min(depth, -0.5f * predicted.least_end);
        }
    } else if (straight) {
        return false; // they are farther apart than the motion reaches
    }
    return find_impact(world, pair, &motion, reach, depth, out);
}

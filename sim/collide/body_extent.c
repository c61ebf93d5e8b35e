// SPDX-License-Identifier: MIT
#include "sim/collide/body_extent.h"

#include "base/assert.h"
#include "sim/body/shape.h"
#include "sim/collide/cached_pairs.h"
#include "sim/math/limits.h"

// m: the bounding radius up to which a coarse rotation moves no point by more than half a
// millimetre.
#define COARSE_RADIUS 4.0f

float cairn_minimum_extent(cairn_aabb aabb) {
    const cairn_vec3 width = vec3_sub(aabb.upper, aabb.lower);
    return 0.5f * float_min(width.x, float_min(width.y, width.z));
}

static bool shape_can_collide(const cairn_shape *shape) {
    return shape->category != 0 && shape->mask != 0;
}

// A body of several shapes that lands flat must meet the floor with all of them in the same tick.
// A slow one that is not predicted meets it with those that are within the contact margin when the
// tick begins, and there rounding may leave one of them out: the body bounces off the others and
// turns. So its motion is predicted as soon as it may close that margin within a tick.
static float fast_distance_of(uint32_t shapes, float extent) {
    return shapes > 1 ? CAIRN_FAST_DISTANCE
                      : float_max(CAIRN_FAST_DISTANCE, CAIRN_FAST_FRACTION * extent);
}

void cairn_body_measure(const cairn_world *world, uint32_t body) {
    const bool moves = world->state.bodies[body].kind == CAIRN_BODY_DYNAMIC;
    const cairn_vec3 centre = world->state.bodies[body].centre;
    const cairn_pose identity = pose_identity();
    cairn_vec3 half_extents = vec3_zero();
    float radius = 0.0f;
    float turn_radius = 0.0f;
    float extent = CAIRN_HUGE_EXTENT;
    uint32_t colliding = 0;
    for (uint32_t next = world->shape_first[body]; next != 0; next = world->shape_next[next - 1]) {
        const cairn_shape_view shape = cairn_shape_view_at(world, next - 1);
        const cairn_aabb aabb = cairn_shape_view_aabb(&shape, &identity);
        world->pair_cache->minimum_extents[next - 1] =
            moves ? cairn_minimum_extent(aabb) : CAIRN_HUGE_EXTENT;
        if (shape_can_collide(&world->state.shapes[next - 1])) {
            extent = float_min(extent, cairn_minimum_extent(aabb));
            ++colliding;
        }
        const cairn_vec3 corner = vec3_max(vec3_abs(aabb.lower), vec3_abs(aabb.upper));
        const cairn_pose pose = world->state.shapes[next - 1].pose;
        const cairn_vec3 offset = vec3_sub(pose.position, centre);
        const float distance = vec3_length(offset);
        const bool sphere = shape.geometry->kind == CAIRN_SHAPE_SPHERE;
        const cairn_mat3 rotation_abs = mat3_abs(mat3_of_quat(pose.rotation));
        radius = float_max(radius, distance + vec3_length(corner));
        turn_radius = float_max(turn_radius, sphere ? distance : distance + vec3_length(corner));
        half_extents =
            vec3_max(half_extents, vec3_add(vec3_abs(offset), mat3_apply(rotation_abs, corner)));
    }
    CAIRN_ASSERT(radius >= 0.0f && turn_radius <= radius);
    world->pair_cache->bounding_radii[body] = radius;
    world->pair_cache->turn_radii[body] = turn_radius;
    world->pair_cache->half_widths[body] = extent;
    world->pair_cache->fast_distances[body] =
        moves ? fast_distance_of(colliding, extent) : CAIRN_FAST_DISTANCE;
    world->pair_cache->half_extents[body] = half_extents;
}

cairn_packed_precision cairn_body_reference_precision(const cairn_world *world, uint32_t body) {
    const uint32_t first = world->shape_first[body];
    const bool single = first == 0 || world->shape_next[first - 1] == 0;
    CAIRN_ASSERT(body < world->state.settings->body_slots);
    return single && world->state.bodies[body].kind == CAIRN_BODY_DYNAMIC &&
                   world->pair_cache->bounding_radii[body] < COARSE_RADIUS
               ? CAIRN_PACKED_COARSE
               : CAIRN_PACKED_FINE;
}

// Bounds how far any point of the body has moved: the displacement
// of the centre, plus twice the sine of half the rotation times the bounding radius (which is not
// known yet for a body whose reference pose was never set). The PGS solver computes every manifold
// in every step.
bool cairn_body_within_recycling_distance(const cairn_world *world, uint32_t body) {
    const cairn_reference_pose *reference = &world->state.reference_poses[body];
    const cairn_motion *motion = &world->state.motions[body];
    const float radius = world->pair_cache->bounding_radii[body];
    const float distance_max =
        float_min(CAIRN_BODY_RECYCLING_DISTANCE, CAIRN_BODY_RECYCLING_FRACTION * radius);
    const float limit = world->def.solver != CAIRN_SOLVER_SOFT_STEP ? 0.0f : distance_max;
    const cairn_quat dq = quat_multiply(
        motion->rotation, quat_conjugate(world->pair_cache->reference_rotations[body]));
    const cairn_vec3 moved = vec3_sub(motion->position, reference->position);
    if (packed_rotation_is_none(reference->rotation)) {
        return false;
    }
    if (vec3_length_bound(moved) + 2.0f * vec3_length_bound(quat_vector(dq)) * radius < limit) {
        return true;
    }
    return vec3_length(moved) + 2.0f * vec3_length(quat_vector(dq)) * radius <= limit;
}

// Rotation takes no point out of the ball around the body's centre of mass.
cairn_aabb cairn_body_swept_aabb(const cairn_world *world, uint32_t slot) {
    const cairn_pair_cache *cache = world->pair_cache;
    const cairn_shape_transform *transform = &cache->transforms[slot];
    if ((cache->reference_change[slot] & CAIRN_REFERENCE_FAST) == 0) {
        return transform->aabb;
    }
    const cairn_predicted_motion *motion = &cache->predicted_motions[transform->body];
    cairn_aabb swept = aabb_with_margin(transform->aabb, motion->turn);
    if (motion->turn > CAIRN_CONTACT_MARGIN) {
        const cairn_vec3 centre = world->state.reference_poses[transform->body].position;
        const float radius = cache->bounding_radii[transform->body] + CAIRN_CONTACT_MARGIN;
        const cairn_aabb ball = aabb_with_margin((cairn_aabb){centre, centre}, radius);
        swept.lower = vec3_max(swept.lower, ball.lower);
        swept.upper = vec3_min(swept.upper, ball.upper);
    }
    swept.lower = vec3_add(swept.lower, vec3_min(motion->displacement, vec3_zero()));
    swept.upper = vec3_add(swept.upper, vec3_max(motion->displacement, vec3_zero()));
    return swept;
}

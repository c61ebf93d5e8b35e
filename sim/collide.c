// SPDX-License-Identifier: MIT
#include "sim/collide.h"

#include "base/assert.h"

void cairn_manifold_add(
    cairn_manifold *manifold, cairn_vec3 position, float separation, uint32_t feature) {
    CAIRN_ASSERT(manifold->point_count < CAIRN_MANIFOLD_POINTS_MAX);
    manifold->points[manifold->point_count] =
        (cairn_manifold_point){.position = position, .separation = separation, .feature = feature};
    manifold->point_count += 1;
}

cairn_round cairn_round_of(const cairn_geometry *geometry, cairn_pose pose) {
    const float half_height = geometry->kind == CAIRN_SHAPE_CAPSULE ? geometry->half_height : 0.0f;
    return (cairn_round){.centre = pose.position,
        .half = quat_rotate(pose.rotation, vec3(0.0f, half_height, 0.0f)),
        .radius = geometry->radius};
}

// Contacts are found in the frame of one of the two shapes: far from the world's origin the small
// numbers keep their digits.
static cairn_pose pose_within(const cairn_pose *frame, const cairn_pose *pose) {
    return (cairn_pose){.position = pose_apply_inverse(*frame, pose->position),
        .rotation = quat_normalize(quat_multiply(quat_conjugate(frame->rotation), pose->rotation))};
}

static void manifold_leave_frame(cairn_manifold *manifold, const cairn_pose *frame) {
    manifold->normal = quat_rotate(frame->rotation, manifold->normal);
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        manifold->points[i].position = pose_apply(*frame, manifold->points[i].position);
    }
}

// Kinds in increasing order. The frame is the second shape's for a box or half-space against
// something smaller in kind, because their faces are then aligned with the axes.
static void collide_ordered(const cairn_geometry *a, const cairn_pose *pose_a,
    const cairn_geometry *b, const cairn_pose *pose_b, float margin, uint32_t *axis_hint,
    cairn_manifold *out) {
    const bool box_box = a->kind == CAIRN_SHAPE_BOX && b->kind == CAIRN_SHAPE_BOX;
    const cairn_pose *frame = box_box ? pose_a : pose_b;
    if (box_box) {
        cairn_collide_box(
            a->half_extents, b->half_extents, pose_within(pose_a, pose_b), margin, axis_hint, out);
    } else if (a->kind == CAIRN_SHAPE_BOX) {
        cairn_collide_box_half_space(a->half_extents, pose_within(pose_b, pose_a), margin, out);
    } else {
        const cairn_round round = cairn_round_of(a, pose_within(pose_b, pose_a));
        const cairn_round other = cairn_round_of(b, pose_identity());
        if (b->kind == CAIRN_SHAPE_HALF_SPACE) {
            cairn_collide_round_half_space(&round, margin, out);
        } else if (b->kind == CAIRN_SHAPE_BOX) {
            cairn_collide_round_box(&round, b->half_extents, margin, out);
        } else {
            cairn_collide_round(&round, &other, margin, out);
        }
    }
    manifold_leave_frame(out, frame);
}

// The manifold enters the world's state: unit normal, no -0.
static void manifold_clean(cairn_manifold *manifold) {
    const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
    manifold->normal = vec3_clean(vec3_normalize(manifold->normal, up));
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        cairn_manifold_point *point = &manifold->points[i];
        point->position = vec3_clean(point->position);
        point->separation += 0.0f;
    }
}

void cairn_collide(const cairn_geometry *a, const cairn_pose *pose_a, const cairn_geometry *b,
    const cairn_pose *pose_b, float margin, uint32_t *axis_hint, cairn_manifold *out) {
    *out = (cairn_manifold){.normal = vec3(0.0f, 1.0f, 0.0f), .point_count = 0};
    if (a->kind == CAIRN_SHAPE_HALF_SPACE && b->kind == CAIRN_SHAPE_HALF_SPACE) {
        return;
    }
    if (a->kind <= b->kind) {
        collide_ordered(a, pose_a, b, pose_b, margin, axis_hint, out);
    } else {
        collide_ordered(b, pose_b, a, pose_a, margin, axis_hint, out);
        out->normal = vec3_negate(out->normal);
    }
    manifold_clean(out);
}

// Two half-spaces meet somewhere, however far away, unless their planes are parallel and they turn
// their backs on each other.
static bool half_spaces_overlap(const cairn_pose *a, const cairn_pose *b) {
    const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
    const cairn_vec3 normal = quat_rotate(a->rotation, up);
    if (vec3_dot(normal, quat_rotate(b->rotation, up)) > -0.999999f) {
        return true;
    }
    return vec3_dot(normal, vec3_sub(b->position, a->position)) <= 0.0f;
}

bool cairn_geometry_overlap(const cairn_geometry *a, const cairn_pose *pose_a,
    const cairn_geometry *b, const cairn_pose *pose_b) {
    if (a->kind == CAIRN_SHAPE_HALF_SPACE && b->kind == CAIRN_SHAPE_HALF_SPACE) {
        return half_spaces_overlap(pose_a, pose_b);
    }
    uint32_t axis_hint = 0;
    cairn_manifold manifold;
    cairn_collide(a, pose_a, b, pose_b, 0.0f, &axis_hint, &manifold);
    return manifold.point_count > 0;
}

// SPDX-License-Identifier: MIT
#include "sim/collide/manifold.h"

#include <string.h>

#include "base/assert.h"

void cairn_manifold_add(
    cairn_manifold *manifold, cairn_vec3 position, float separation, uint32_t feature) {
    CAIRN_ASSERT(manifold->point_count < CAIRN_MANIFOLD_POINTS_MAX);
    manifold->points[manifold->point_count] =
        (cairn_manifold_point){.position = position, .separation = separation, .feature = feature};
    manifold->point_count += 1;
}

// The pose of b in the frame of a as it is used: the rotation once, as a matrix.
typedef struct frames {
    cairn_mat3 turn; // from b's frame to a's
    cairn_vec3 offset;
} frames;

static cairn_vec3 to_b(const frames *f, cairn_vec3 point) {
    return mat3_apply_transposed(f->turn, vec3_sub(point, f->offset));
}

// The segment of a sphere or capsule lies along its local y.
static float half_height_of(const cairn_geometry *geometry) {
    return geometry->kind == CAIRN_SHAPE_CAPSULE ? geometry->half_height : 0.0f;
}

static cairn_local_capsule round_at_home(const cairn_geometry *geometry) {
    return (cairn_local_capsule){.centre = vec3_zero(),
        .half = vec3(0.0f, half_height_of(geometry), 0.0f),
        .radius = geometry->radius};
}

static cairn_local_capsule round_b_in_a(const cairn_geometry *b, const frames *f) {
    return (cairn_local_capsule){.centre = f->offset,
        .half = vec3_scale(mat3_column(f->turn, 1), half_height_of(b)),
        .radius = b->radius};
}

static cairn_local_capsule round_a_in_b(const cairn_geometry *a, const frames *f) {
    return (cairn_local_capsule){.centre = to_b(f, vec3_zero()),
        .half = vec3_scale(f->turn.y, half_height_of(a)),
        .radius = a->radius};
}

// The plane of a half-space b in the frame of a, and the other way round.
static cairn_plane plane_b_in_a(const frames *f) {
    const cairn_vec3 normal = mat3_column(f->turn, 1);
    return (cairn_plane){.normal = normal, .offset = vec3_dot(normal, f->offset)};
}

static cairn_plane plane_a_in_b(const frames *f) {
    return (cairn_plane){.normal = f->turn.y, .offset = 0.0f - f->offset.y};
}

static void turn_round(cairn_manifold *manifold) {
    manifold->normal = vec3_negate(manifold->normal);
}

static void leave_b(cairn_manifold *manifold, const frames *f) {
    manifold->normal = mat3_apply(f->turn, manifold->normal);
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        cairn_vec3 *position = &manifold->points[i].position;
        *position = vec3_add(mat3_apply(f->turn, *position), f->offset);
    }
}

static bool is_polyhedron(const cairn_shape_view *solid) {
    return solid->geometry->kind == CAIRN_SHAPE_BOX || solid->geometry->kind == CAIRN_SHAPE_HULL;
}

// In the frame of the polyhedron; normal from it to the half-space.
static void collide_polyhedron_plane(
    const cairn_shape_view *solid, const cairn_plane *plane, float margin, cairn_manifold *out) {
    if (solid->geometry->kind == CAIRN_SHAPE_BOX) {
        cairn_collide_box_plane(solid->geometry->half_extents, plane, margin, out);
    } else {
        cairn_collide_hull_plane(solid->hull, plane, margin, out);
    }
}

// In the frame of the polyhedron; normal from the round shape to it.
static void collide_round_polyhedron(const cairn_local_capsule *round,
    const cairn_shape_view *solid, float margin, cairn_manifold *out) {
    if (solid->geometry->kind == CAIRN_SHAPE_BOX) {
        cairn_collide_capsule_box(round, solid->geometry->half_extents, margin, out);
    } else {
        cairn_collide_capsule_hull(round, solid->hull, margin, out);
    }
}

static void collide_half_space_with(
    const cairn_shape_view *b, const frames *f, float margin, cairn_manifold *out) {
    if (is_polyhedron(b)) {
        const cairn_plane plane = plane_a_in_b(f);
        collide_polyhedron_plane(b, &plane, margin, out);
        leave_b(out, f);
    } else {
        const cairn_plane ground = {.normal = {.y = 1.0f}, .offset = 0.0f};
        const cairn_local_capsule round = round_b_in_a(b->geometry, f);
        cairn_collide_capsule_plane(&round, &ground, margin, out);
    }
    turn_round(out);
}

static void collide_with_half_space(
    const cairn_shape_view *a, const frames *f, float margin, cairn_manifold *out) {
    const cairn_plane plane = plane_b_in_a(f);
    if (is_polyhedron(a)) {
        collide_polyhedron_plane(a, &plane, margin, out);
    } else {
        const cairn_local_capsule round = round_at_home(a->geometry);
        cairn_collide_capsule_plane(&round, &plane, margin, out);
    }
}

static void collide_polyhedra(const cairn_shape_view *a, const cairn_shape_view *b, const frames *f,
    float margin, uint32_t *axis_hint, cairn_manifold *out) {
    const cairn_geometry *box_a = a->geometry;
    const cairn_geometry *box_b = b->geometry;
    if (box_a->kind == CAIRN_SHAPE_BOX && box_b->kind == CAIRN_SHAPE_BOX) {
        cairn_collide_boxes(
            box_a->half_extents, box_b->half_extents, &f->turn, f->offset, margin, axis_hint, out);
    } else {
        cairn_collide_hulls(a, b, &f->turn, f->offset, margin, axis_hint, out);
    }
}

static void collide_with_polyhedron(const cairn_shape_view *a, const cairn_shape_view *b,
    const frames *f, float margin, uint32_t *axis_hint, cairn_manifold *out) {
    if (is_polyhedron(a)) {
        collide_polyhedra(a, b, f, margin, axis_hint, out);
    } else {
        const cairn_local_capsule round = round_a_in_b(a->geometry, f);
        collide_round_polyhedron(&round, b, margin, out);
        leave_b(out, f);
    }
}

static void collide_with_round(const cairn_shape_view *a, const cairn_shape_view *b,
    const frames *f, float margin, cairn_manifold *out) {
    const cairn_local_capsule round = round_b_in_a(b->geometry, f);
    if (is_polyhedron(a)) {
        collide_round_polyhedron(&round, a, margin, out);
        turn_round(out);
    } else {
        const cairn_local_capsule home = round_at_home(a->geometry);
        cairn_collide_capsules(&home, &round, margin, out);
    }
}

void cairn_collide_local(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pose *b_in_a, float margin, uint32_t *axis_hint, cairn_manifold *out) {
    out->normal = vec3(0.0f, 1.0f, 0.0f);
    out->point_count = 0;
    const frames f = {.turn = mat3_of_quat(b_in_a->rotation), .offset = b_in_a->position};
    if (b->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        if (a->geometry->kind != CAIRN_SHAPE_HALF_SPACE) {
            collide_with_half_space(a, &f, margin, out);
        }
    } else if (a->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        collide_half_space_with(b, &f, margin, out);
    } else if (is_polyhedron(b)) {
        collide_with_polyhedron(a, b, &f, margin, axis_hint, out);
    } else {
        collide_with_round(a, b, &f, margin, out);
    }
}

// Far from the world's origin the small numbers of a relative pose keep their digits.
static cairn_pose pose_within(const cairn_pose *frame, const cairn_pose *pose) {
    return (cairn_pose){.position = pose_apply_inverse(*frame, pose->position),
        .rotation = quat_normalize(quat_multiply(quat_conjugate(frame->rotation), pose->rotation))};
}

void cairn_collide(const cairn_shape_view *a, const cairn_pose *pose_a, const cairn_shape_view *b,
    const cairn_pose *pose_b, float margin, uint32_t *axis_hint, cairn_manifold *out) {
    const cairn_pose b_in_a = pose_within(pose_a, pose_b);
    const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
    memset(out, 0, sizeof *out);
    cairn_collide_local(a, b, &b_in_a, margin, axis_hint, out);
    const cairn_vec3 normal = quat_rotate(pose_a->rotation, out->normal);
    out->normal = vec3_clean(vec3_normalize(normal, up));
    for (uint32_t i = 0; i < out->point_count; ++i) {
        cairn_manifold_point *point = &out->points[i];
        point->position = vec3_clean(pose_apply(*pose_a, point->position));
        point->separation += 0.0f;
    }
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

bool cairn_shape_view_overlap(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b) {
    if (a->geometry->kind == CAIRN_SHAPE_HALF_SPACE &&
        b->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        return half_spaces_overlap(pose_a, pose_b);
    }
    uint32_t axis_hint = 0;
    cairn_manifold manifold;
    cairn_collide(a, pose_a, b, pose_b, 0.0f, &axis_hint, &manifold);
    return manifold.point_count > 0;
}

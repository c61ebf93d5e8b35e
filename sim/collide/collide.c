// SPDX-License-Identifier: MIT
#include "sim/collide/collide.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/shape_pairs.h"
#include "sim/shape/gjk.h"

// The transform from b's frame to a's.
typedef struct transform {
    cairn_mat3 rotation;
    cairn_vec3 offset;
} transform;

// The segment of a capsule lies along its local y, the unit vector `up`; that of a sphere has no
// length.
static cairn_local_capsule capsule_at(
    const cairn_geometry *geometry, cairn_vec3 centre, cairn_vec3 up) {
    CAIRN_ASSERT(geometry->kind == CAIRN_SHAPE_CAPSULE || geometry->kind == CAIRN_SHAPE_SPHERE);
    const bool is_capsule = geometry->kind == CAIRN_SHAPE_CAPSULE;
    return (cairn_local_capsule){.centre = centre,
        .half = vec3_scale(up, is_capsule ? geometry->half_height : 0.0f),
        .radius = geometry->radius};
}

static void transform_to_a(cairn_manifold *manifold, const transform *b_to_a) {
    CAIRN_ASSERT(manifold->point_count <= CAIRN_MANIFOLD_POINTS_MAX);
    manifold->normal = mat3_apply(b_to_a->rotation, manifold->normal);
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        cairn_vec3 *position = &manifold->points[i].position;
        *position = vec3_add(mat3_apply(b_to_a->rotation, *position), b_to_a->offset);
    }
}

static bool is_polyhedron(const cairn_shape_view *shape) {
    return shape->geometry->kind == CAIRN_SHAPE_BOX || shape->geometry->kind == CAIRN_SHAPE_HULL;
}

// In the frame of the polyhedron; normal from it to the half-space.
static void collide_polyhedron_plane(
    const cairn_shape_view *shape, const cairn_plane *plane, float margin, cairn_manifold *out) {
    CAIRN_ASSERT(is_polyhedron(shape));
    if (shape->geometry->kind == CAIRN_SHAPE_BOX) {
        cairn_collide_box_plane(shape->geometry->half_extents, plane, margin, out);
    } else {
        cairn_collide_hull_plane(shape->hull, plane, margin, out);
    }
}

// In the frame of the polyhedron; normal from the capsule to it.
static void collide_capsule_polyhedron(const cairn_local_capsule *capsule,
    const cairn_shape_view *shape, float margin, cairn_manifold *out) {
    CAIRN_ASSERT(is_polyhedron(shape));
    if (shape->geometry->kind == CAIRN_SHAPE_BOX) {
        cairn_collide_capsule_box(capsule, shape->geometry->half_extents, margin, out);
    } else {
        cairn_collide_capsule_hull(capsule, shape->hull, margin, out);
    }
}

// In the frame of the solid; normal from it to the half-space.
static void collide_solid_plane(const cairn_shape_view *shape, const cairn_plane *plane,
    float margin, uint32_t *axis_hint, cairn_manifold *out) {
    if (cairn_geometry_is_frustum(shape->geometry)) {
        const cairn_frustum frustum = cairn_frustum_of(shape->geometry);
        cairn_collide_frustum_plane(&frustum, plane, margin, axis_hint, out);
    } else {
        collide_polyhedron_plane(shape, plane, margin, out);
    }
}

static bool is_round(const cairn_shape_view *shape) {
    return shape->geometry->kind == CAIRN_SHAPE_SPHERE ||
           shape->geometry->kind == CAIRN_SHAPE_CAPSULE;
}

// Shape a is a half-space, and b is not.
static void collide_half_space_first(const cairn_shape_view *b, const transform *b_to_a,
    float margin, uint32_t *axis_hint, cairn_manifold *out) {
    if (!is_round(b)) {
        const cairn_plane plane = {.normal = b_to_a->rotation.y, .offset = 0.0f - b_to_a->offset.y};
        collide_solid_plane(b, &plane, margin, axis_hint, out);
        transform_to_a(out, b_to_a);
    } else {
        const cairn_plane ground = {.normal = {.y = 1.0f}, .offset = 0.0f};
        const cairn_local_capsule capsule =
            capsule_at(b->geometry, b_to_a->offset, mat3_column(b_to_a->rotation, 1));
        cairn_collide_capsule_plane(&capsule, &ground, margin, out);
    }
    out->normal = vec3_negate(out->normal);
}

// Shape b is a half-space, and a is not.
static void collide_half_space_second(const cairn_shape_view *a, const transform *b_to_a,
    float margin, uint32_t *axis_hint, cairn_manifold *out) {
    const cairn_vec3 normal = mat3_column(b_to_a->rotation, 1);
    const cairn_plane plane = {.normal = normal, .offset = vec3_dot(normal, b_to_a->offset)};
    if (!is_round(a)) {
        collide_solid_plane(a, &plane, margin, axis_hint, out);
    } else {
        const cairn_local_capsule capsule =
            capsule_at(a->geometry, vec3_zero(), vec3(0.0f, 1.0f, 0.0f));
        cairn_collide_capsule_plane(&capsule, &plane, margin, out);
    }
}

// Shape b is a polyhedron, and a is not a half-space.
static void collide_polyhedron_second(const cairn_shape_view *a, const cairn_shape_view *b,
    const transform *b_to_a, float margin, uint32_t *axis_hint, cairn_manifold *out) {
    CAIRN_ASSERT(is_polyhedron(b));
    const cairn_geometry *box_a = a->geometry;
    const cairn_geometry *box_b = b->geometry;
    if (!is_polyhedron(a)) {
        const cairn_vec3 centre =
            mat3_apply_transposed(b_to_a->rotation, vec3_sub(vec3_zero(), b_to_a->offset));
        const cairn_local_capsule capsule = capsule_at(box_a, centre, b_to_a->rotation.y);
        collide_capsule_polyhedron(&capsule, b, margin, out);
        transform_to_a(out, b_to_a);
    } else if (box_a->kind == CAIRN_SHAPE_BOX && box_b->kind == CAIRN_SHAPE_BOX) {
        cairn_collide_boxes(box_a->half_extents, box_b->half_extents, &b_to_a->rotation,
            b_to_a->offset, margin, axis_hint, out);
    } else {
        cairn_collide_hulls(a, b, &b_to_a->rotation, b_to_a->offset, margin, axis_hint, out);
    }
}

// Shape b is a sphere or capsule, and a is not a half-space.
static void collide_capsule_second(const cairn_shape_view *a, const cairn_shape_view *b,
    const transform *b_to_a, float margin, cairn_manifold *out) {
    const cairn_local_capsule capsule =
        capsule_at(b->geometry, b_to_a->offset, mat3_column(b_to_a->rotation, 1));
    if (is_polyhedron(a)) {
        collide_capsule_polyhedron(&capsule, a, margin, out);
        out->normal = vec3_negate(out->normal);
    } else {
        const cairn_local_capsule capsule_a =
            capsule_at(a->geometry, vec3_zero(), vec3(0.0f, 1.0f, 0.0f));
        cairn_collide_capsules(&capsule_a, &capsule, margin, out);
    }
}

void cairn_collide_local(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pose *b_in_a, float margin, uint32_t *axis_hint, cairn_manifold *out) {
    CAIRN_ASSERT(margin >= 0.0f);
    CAIRN_ASSERT(a->hull != NULL || a->geometry->kind != CAIRN_SHAPE_HULL);
    CAIRN_ASSERT(b->hull != NULL || b->geometry->kind != CAIRN_SHAPE_HULL);
    out->normal = vec3(0.0f, 1.0f, 0.0f);
    out->point_count = 0;
    if (a->geometry->kind == CAIRN_SHAPE_SPHERE && b->geometry->kind == CAIRN_SHAPE_SPHERE) {
        const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
        const cairn_local_capsule ball_a = capsule_at(a->geometry, vec3_zero(), up);
        const cairn_local_capsule ball_b = capsule_at(b->geometry, b_in_a->position, up);
        cairn_collide_capsules(&ball_a, &ball_b, margin, out);
        return;
    }
    const transform b_to_a = {
        .rotation = mat3_of_quat(b_in_a->rotation), .offset = b_in_a->position};
    if (b->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        if (a->geometry->kind != CAIRN_SHAPE_HALF_SPACE) {
            collide_half_space_second(a, &b_to_a, margin, axis_hint, out);
        }
    } else if (a->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        collide_half_space_first(b, &b_to_a, margin, axis_hint, out);
    } else if (cairn_geometry_is_frustum(a->geometry) || cairn_geometry_is_frustum(b->geometry)) {
        cairn_collide_frustum(a, b, &b_to_a.rotation, b_to_a.offset, margin, axis_hint, out);
    } else if (is_polyhedron(b)) {
        collide_polyhedron_second(a, b, &b_to_a, margin, axis_hint, out);
    } else {
        collide_capsule_second(a, b, &b_to_a, margin, out);
    }
}

void cairn_collide(const cairn_shape_view *a, const cairn_pose *pose_a, const cairn_shape_view *b,
    const cairn_pose *pose_b, float margin, uint32_t *axis_hint, cairn_manifold *out) {
    // Relative first: far from the world's origin the small numbers of a relative pose stay exact.
    const cairn_pose b_in_a = {.position = pose_apply_inverse(*pose_a, pose_b->position),
        .rotation =
            quat_normalize(quat_multiply(quat_conjugate(pose_a->rotation), pose_b->rotation))};
    const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
    memset(out, 0, sizeof *out);
    cairn_collide_local(a, b, &b_in_a, margin, axis_hint, out);
    CAIRN_ASSERT(out->point_count <= CAIRN_MANIFOLD_POINTS_MAX);
    const cairn_vec3 normal = quat_rotate(pose_a->rotation, out->normal);
    out->normal = vec3_clean(vec3_normalize(normal, up));
    for (uint32_t i = 0; i < out->point_count; ++i) {
        cairn_manifold_point *point = &out->points[i];
        point->position = vec3_clean(pose_apply(*pose_a, point->position));
        point->separation += 0.0f;
    }
}

bool cairn_collide_overlap(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b) {
    if (a->geometry->kind == CAIRN_SHAPE_HALF_SPACE &&
        b->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        // They overlap somewhere, however far away, unless their planes are parallel and face each
        // other with a gap between them.
        const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
        const cairn_vec3 normal = quat_rotate(pose_a->rotation, up);
        return vec3_dot(normal, quat_rotate(pose_b->rotation, up)) > -0.999999f ||
               vec3_dot(normal, vec3_sub(pose_b->position, pose_a->position)) <= 0.0f;
    }
    if ((cairn_geometry_is_frustum(a->geometry) && b->geometry->kind != CAIRN_SHAPE_HALF_SPACE) ||
        (cairn_geometry_is_frustum(b->geometry) && a->geometry->kind != CAIRN_SHAPE_HALF_SPACE)) {
        // The manifold is computed along few axes; near a rim none of them may separate.
        const cairn_gjk_pair pair = cairn_gjk_pair_of(a, pose_a, b, pose_b);
        cairn_gjk_simplex simplex = {.count = 0};
        const float radius = pair.a.radius + pair.b.radius;
        return vec3_length(cairn_gjk_nearest(&pair, &simplex)) <= radius;
    }
    uint32_t axis_hint = 0;
    cairn_manifold manifold;
    cairn_collide(a, pose_a, b, pose_b, 0.0f, &axis_hint, &manifold);
    return manifold.point_count > 0;
}

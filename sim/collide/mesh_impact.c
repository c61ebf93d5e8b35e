// SPDX-License-Identifier: MIT
#include "sim/collide/mesh_impact.h"

#include "base/assert.h"
#include "sim/shape/distance.h"
#include "sim/shape/mesh.h"

// An axis is that of the face if the cosine of the angle between them is greater.
#define FACE_COSINE 0.95f

typedef struct search {
    const cairn_shape_view *shape;
    const cairn_pair_pose *start;
    const cairn_pair_motion *motion;
    bool mesh_first;
    cairn_vec3 centre; // of the shape when the motion starts, in the frame of the mesh
    cairn_vec3 moves;  // cairn_pair_motion_beside, the mesh as the obstacle
    float depth;
    bool found;
    cairn_impact first;
} search;

static bool meet_triangle(void *context, const cairn_triangle *triangle) {
    search *s = context;
    const cairn_geometry geometry = {.kind = CAIRN_GEOMETRY_TRIANGLE};
    const cairn_shape_view view = {.geometry = &geometry, .corners = triangle->corners};
    cairn_impact impact;
    if (vec3_dot(triangle->normal, vec3_sub(s->centre, triangle->corners[0])) < 0.0f ||
        !cairn_impact_find(s->mesh_first ? &view : s->shape, s->mesh_first ? s->shape : &view,
            s->start, s->motion, s->depth, &impact)) {
        return true;
    }
    const cairn_quat frame =
        s->mesh_first ? s->start->shape_rotation_a : s->start->shape_rotation_b;
    const cairn_vec3 turn = s->mesh_first ? s->motion->rotation_a : s->motion->rotation_b;
    const cairn_quat turned = cairn_rotation_of_vector(vec3_scale(turn, impact.fraction));
    const cairn_vec3 normal = quat_rotate(turned, quat_rotate(frame, triangle->normal));
    const cairn_vec3 out = s->mesh_first ? normal : vec3_negate(normal);
    // If they overlap, their nearest points may say nothing. Those of a large triangle are not
    // exact, which matters where a shape slides over one that turns.
    const bool beside = impact.fraction <= 0.0f || vec3_dot(impact.axis, out) > FACE_COSINE;
    if (vec3_is_zero(impact.axis) || (beside && !vec3_is_zero(turn))) {
        impact.axis = out;
    }
    // It may leave triangles that it touches, while it meets others.
    const bool leaves = impact.fraction <= 0.0f && vec3_dot(s->moves, impact.axis) >= 0.0f;
    if (!leaves && (!s->found || impact.fraction < s->first.fraction)) {
        s->found = true;
        s->first = impact;
    }
    return true;
}

static cairn_aabb ball_around(cairn_vec3 centre, float radius) {
    const cairn_vec3 all = vec3(radius, radius, radius);
    return (cairn_aabb){.lower = vec3_sub(centre, all), .upper = vec3_add(centre, all)};
}

bool cairn_mesh_impact_find(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pair_pose *start, const cairn_pair_motion *motion, float depth, cairn_impact *out) {
    const bool mesh_first = a->mesh != NULL;
    const cairn_shape_view *shape = mesh_first ? b : a;
    const cairn_mesh *mesh = mesh_first ? a->mesh : b->mesh;
    CAIRN_ASSERT(mesh != NULL && shape->mesh == NULL);
    const float sign = mesh_first ? 1.0f : -1.0f;
    const cairn_quat frame = mesh_first ? start->shape_rotation_a : start->shape_rotation_b;
    const cairn_quat rotation = mesh_first ? start->shape_rotation_b : start->shape_rotation_a;
    const cairn_vec3 offset = mesh_first ? start->shape_offset_b : start->shape_offset_a;
    const cairn_vec3 apart =
        vec3_add(start->displacement, vec3_sub(start->shape_offset_b, start->shape_offset_a));
    const cairn_vec3 from = quat_rotate_inverse(frame, vec3_scale(apart, sign));
    const cairn_vec3 by = quat_rotate_inverse(frame, vec3_scale(motion->displacement, sign));
    const cairn_vec3 middle = cairn_shape_view_middle(shape);
    // The shape stays within a ball about its origin, whose way rotations bend.
    const cairn_pose identity = pose_identity();
    const cairn_aabb aabb = cairn_shape_view_aabb(shape, &identity);
    const float radius = vec3_length(vec3_max(vec3_abs(aabb.lower), vec3_abs(aabb.upper)));
    const float turn = vec3_length(mesh_first ? motion->rotation_b : motion->rotation_a);
    const float turn_of_mesh = vec3_length(mesh_first ? motion->rotation_a : motion->rotation_b);
    const float far = vec3_length(from) + vec3_length(by) + radius;
    const float reach = radius + turn * vec3_length(offset) + turn_of_mesh * far;
    const cairn_aabb begin = ball_around(from, reach);
    const cairn_aabb end = ball_around(vec3_add(from, by), reach);
    const cairn_aabb swept = {
        .lower = vec3_min(begin.lower, end.lower), .upper = vec3_max(begin.upper, end.upper)};
    search s = {.shape = shape,
        .start = start,
        .motion = motion,
        .mesh_first = mesh_first,
        .centre = vec3_add(from, quat_rotate_inverse(frame, quat_rotate(rotation, middle))),
        .moves = cairn_pair_motion_beside(start, motion, mesh_first),
        .depth = depth};
    cairn_mesh_visit(mesh, &swept, meet_triangle, &s);
    *out = s.first;
    return s.found;
}

// SPDX-License-Identifier: MIT
#include "sim/query/mesh_distance.h"

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/shape/hull.h"
#include "sim/shape/mesh.h"

// Boxes are larger by this fraction of the coordinates, for rounding.
#define ROUNDING 4e-6f

// The triangle of the mesh, and b in its frame.
typedef struct search {
    const cairn_shape_view *b;
    cairn_pose b_in_a;
    cairn_vec3 centre; // of b
    cairn_vec3 translation;
    cairn_distance nearest;
    uint32_t index; // of the triangle that the result is from
    bool found;
    float fraction;
    cairn_vec3 normal;
    cairn_vec3 point;
} search;

static cairn_pose relative_to(const cairn_pose *pose_a, const cairn_pose *pose_b) {
    return (cairn_pose){.position = pose_apply_inverse(*pose_a, pose_b->position),
        .rotation =
            quat_normalize(quat_multiply(quat_conjugate(pose_a->rotation), pose_b->rotation))};
}

static const cairn_geometry triangle_geometry = {.kind = CAIRN_GEOMETRY_TRIANGLE};

static cairn_shape_view view_of(const cairn_triangle *triangle) {
    return (cairn_shape_view){.geometry = &triangle_geometry, .corners = triangle->corners};
}

static cairn_aabb larger(cairn_aabb box, float by) {
    const cairn_vec3 size = vec3_max(vec3_abs(box.lower), vec3_abs(box.upper));
    const float more = by + ROUNDING * (by + size.x + size.y + size.z);
    const cairn_vec3 all = vec3(more, more, more);
    return (cairn_aabb){.lower = vec3_sub(box.lower, all), .upper = vec3_add(box.upper, all)};
}

// ---- Distance

static bool measure(void *context, const cairn_triangle *triangle) {
    search *s = context;
    const cairn_pose identity = pose_identity();
    const cairn_shape_view view = view_of(triangle);
    const cairn_distance found = cairn_shape_distance(&view, &identity, s->b, &s->b_in_a);
    const bool nearer = !s->found || found.distance < s->nearest.distance ||
                        (found.distance == s->nearest.distance && triangle->index < s->index);
    if (nearer) {
        s->nearest = found;
        s->index = triangle->index;
        s->found = true;
    }
    return true;
}

// At least as far as any point of one box from any of the other.
static float farthest(const cairn_aabb *a, const cairn_aabb *b) {
    return vec3_length(vec3_sub(vec3_max(a->upper, b->upper), vec3_min(a->lower, b->lower)));
}

// What is within a radius is found by its boxes; the radius is doubled until something is.
cairn_distance cairn_query_distance(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b) {
    if (a->mesh == NULL) {
        return cairn_shape_distance(a, pose_a, b, pose_b);
    }
    search s = {.b = b, .b_in_a = relative_to(pose_a, pose_b)};
    const cairn_aabb box = cairn_shape_view_aabb(b, &s.b_in_a);
    const cairn_aabb *bounds = &a->mesh->bounds;
    const float most = farthest(bounds, &box);
    const cairn_vec3 apart =
        vec3_max(vec3_max(vec3_sub(bounds->lower, box.upper), vec3_sub(box.lower, bounds->upper)),
            vec3_zero());
    const cairn_vec3 extent = vec3_sub(box.upper, box.lower);
    float radius = vec3_length(apart) + 0.1f * vec3_length(extent) + 0.1f;
    for (;;) {
        const cairn_aabb near = larger(box, radius);
        s.found = false;
        cairn_mesh_visit(a->mesh, &near, measure, &s);
        if ((s.found && s.nearest.distance <= radius) || radius > most) {
            break;
        }
        radius = s.found ? s.nearest.distance : 2.0f * radius;
    }
    if (!s.found) { // a height field of holes
        s.nearest = (cairn_distance){.distance = 4.0f * CAIRN_VALID_DISTANCE,
            .gap = 4.0f * CAIRN_VALID_DISTANCE,
            .normal = vec3(0.0f, 1.0f, 0.0f)};
    }
    s.nearest.normal = vec3_clean(quat_rotate(pose_a->rotation, s.nearest.normal));
    s.nearest.point_a = vec3_clean(pose_apply(*pose_a, s.nearest.point_a));
    s.nearest.point_b = vec3_clean(pose_apply(*pose_a, s.nearest.point_b));
    return s.nearest;
}

// ---- Casts

static float cast_at_triangle(void *context, const cairn_triangle *triangle) {
    search *s = context;
    const cairn_pose identity = pose_identity();
    const cairn_vec3 from = vec3_sub(s->centre, triangle->corners[0]);
    const bool still = vec3_is_zero(s->translation);
    float fraction = 0.0f;
    cairn_vec3 normal;
    cairn_vec3 point;
    const cairn_shape_view view = view_of(triangle);
    if ((!still && !(vec3_dot(triangle->normal, s->translation) < 0.0f)) ||
        vec3_dot(triangle->normal, from) < 0.0f ||
        !cairn_shape_cast(
            &view, &identity, s->b, &s->b_in_a, s->translation, &fraction, &normal, &point)) {
        return s->fraction;
    }
    if (!s->found || fraction < s->fraction ||
        (fraction == s->fraction && triangle->index < s->index)) {
        s->found = true;
        s->index = triangle->index;
        s->fraction = fraction;
        s->normal = normal;
        s->point = point;
    }
    return s->fraction;
}

bool cairn_query_cast(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b, cairn_vec3 translation, float *fraction,
    cairn_vec3 *normal, cairn_vec3 *point) {
    if (a->mesh == NULL) {
        return cairn_shape_cast(a, pose_a, b, pose_b, translation, fraction, normal, point);
    }
    search s = {.b = b,
        .b_in_a = relative_to(pose_a, pose_b),
        .translation = quat_rotate_inverse(pose_a->rotation, translation),
        .fraction = 1.0f};
    const cairn_vec3 middle = b->hull != NULL ? b->hull->centre : vec3_zero();
    s.centre = pose_apply(s.b_in_a, middle);
    const cairn_aabb box = cairn_shape_view_aabb(b, &s.b_in_a);
    const cairn_vec3 half = vec3_scale(vec3_sub(box.upper, box.lower), 0.5f);
    cairn_mesh_cast(
        a->mesh, vec3_add(box.lower, half), half, s.translation, 1.0f, cast_at_triangle, &s);
    if (!s.found) {
        return false;
    }
    *fraction = s.fraction;
    *normal = vec3_clean(quat_rotate(pose_a->rotation, s.normal));
    *point = vec3_clean(pose_apply(*pose_a, s.point));
    return true;
}

// ---- Overlaps

static bool look_for_overlap(void *context, const cairn_triangle *triangle) {
    search *s = context;
    const cairn_pose identity = pose_identity();
    if (s->b->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        for (uint32_t i = 0; i < 3; ++i) {
            s->found = s->found || pose_apply_inverse(s->b_in_a, triangle->corners[i]).y <= 0.0f;
        }
    } else {
        const cairn_shape_view view = view_of(triangle);
        s->found = cairn_shape_distance(&view, &identity, s->b, &s->b_in_a).distance <= 0.0f;
    }
    return !s->found;
}

bool cairn_mesh_overlaps(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b) {
    CAIRN_ASSERT(a->mesh != NULL && b->mesh == NULL);
    search s = {.b = b, .b_in_a = relative_to(pose_a, pose_b)};
    const bool half_space = b->geometry->kind == CAIRN_SHAPE_HALF_SPACE;
    const cairn_aabb near =
        half_space ? a->mesh->bounds : larger(cairn_shape_view_aabb(b, &s.b_in_a), 0.0f);
    cairn_mesh_visit(a->mesh, &near, look_for_overlap, &s);
    return s.found;
}

// SPDX-License-Identifier: MIT
#include "sim/collide/mesh_points.h"

#include "base/assert.h"

static cairn_mesh_group *group_of(cairn_mesh_points *points, cairn_vec3 normal) {
    uint32_t best = 0;
    float closest = -2.0f;
    for (uint32_t i = 0; i < points->count; ++i) {
        const float cosine = vec3_dot(points->groups[i].normal, normal);
        best = cosine > closest ? i : best;
        closest = float_max(cosine, closest);
    }
    if (closest >= points->same_cosine || points->count == CAIRN_MANIFOLD_SET_MAX) {
        return &points->groups[best];
    }
    cairn_mesh_group *group = &points->groups[points->count++];
    group->normal = normal;
    group->count = 0;
    vec3_tangents(normal, &group->right, &group->up);
    return group;
}

static void swap(cairn_mesh_group *group, uint32_t i, uint32_t k) {
    const cairn_vec3 position = group->positions[i];
    const cairn_clip_point point = group->points[i];
    group->positions[i] = group->positions[k];
    group->points[i] = group->points[k];
    group->positions[k] = position;
    group->points[k] = point;
}

// By feature, so that the same points are chosen whichever triangles they come from: first the
// corners of the shape itself, then those that a triangle cuts. Returns how many are of the shape.
static uint32_t sort_by_feature(cairn_mesh_group *group) {
    uint32_t own = 0;
    for (uint32_t i = 0; i < group->count; ++i) {
        own += group->points[i].edge < CAIRN_MESH_FEATURE_CUT ? 1u : 0u;
        for (uint32_t k = i; k > 0 && group->points[k].edge < group->points[k - 1].edge; --k) {
            swap(group, k, k - 1);
        }
    }
    return own;
}

// Keeps the points that span the group. The one farthest from the middle comes first, because the
// reduction starts with the first point unless another is clearly deeper.
static void reduce(cairn_mesh_group *group) {
    const uint32_t own = sort_by_feature(group);
    const uint32_t counted = own > 0 ? own : group->count;
    float x = 0.0f;
    float y = 0.0f;
    for (uint32_t i = 0; i < counted; ++i) {
        x += group->points[i].x;
        y += group->points[i].y;
    }
    x /= (float)counted;
    y /= (float)counted;
    uint32_t first = 0;
    float farthest = -1.0f;
    for (uint32_t i = 0; i < group->count; ++i) {
        const float dx = group->points[i].x - x;
        const float dy = group->points[i].y - y;
        const float squared = dx * dx + dy * dy;
        first = squared > 1.01f * farthest ? i : first;
        farthest = float_max(squared, farthest);
    }
    swap(group, first, 0);
    uint32_t chosen[CAIRN_MANIFOLD_POINTS_MAX];
    const uint32_t count = cairn_manifold_reduce(group->points, group->count, chosen);
    for (uint32_t i = 0; i < count; ++i) {
        CAIRN_ASSERT(chosen[i] >= i);
        group->positions[i] = group->positions[chosen[i]];
        group->points[i] = group->points[chosen[i]];
    }
    group->count = count;
}

void cairn_mesh_points_add(cairn_mesh_points *points, cairn_vec3 position, cairn_vec3 normal,
    float separation, uint32_t feature) {
    cairn_mesh_group *group = group_of(points, normal);
    if (group->count == CAIRN_MESH_GROUP_POINTS) {
        reduce(group);
    }
    CAIRN_ASSERT(group->count < CAIRN_MESH_GROUP_POINTS);
    group->positions[group->count] = position;
    group->points[group->count++] = (cairn_clip_point){.x = vec3_dot(group->right, position),
        .y = vec3_dot(group->up, position),
        .height = separation,
        .edge = feature};
}

void cairn_mesh_points_finish(cairn_mesh_points *points, cairn_manifold_set *out) {
    out->count = points->count;
    for (uint32_t i = 0; i < points->count; ++i) {
        cairn_mesh_group *group = &points->groups[i];
        cairn_manifold *manifold = &out->manifolds[i];
        if (group->count > CAIRN_MANIFOLD_POINTS_MAX) {
            reduce(group);
        }
        manifold->normal = group->normal;
        manifold->point_count = 0;
        for (uint32_t k = 0; k < group->count; ++k) {
            cairn_manifold_add(
                manifold, group->positions[k], group->points[k].height, group->points[k].edge);
        }
        CAIRN_ASSERT(manifold->point_count >= 1);
    }
}

// Whether a corner at `to` from a point of an edge is farther along the normal than the line of the
// edge, by more than a tilt of `tolerance` allows. `side` is the edge.
static bool rises(cairn_vec3 normal, cairn_vec3 to, cairn_vec3 side, float tolerance) {
    const float along = vec3_dot(to, side) / vec3_length_squared(side);
    const cairn_vec3 across = vec3_sub_scaled(to, side, along);
    return vec3_dot(normal, across) > tolerance * vec3_length(across);
}

// Whether the neighbour across the edge lets a contact at `at` have this normal.
static bool neighbour_allows(const cairn_mesh_pair *pair, const cairn_triangle_edge *edge,
    cairn_vec3 at, cairn_vec3 side, cairn_vec3 normal, float tolerance) {
    return edge->kind == CAIRN_TRIANGLE_EDGE_OPEN ||
           !rises(
               normal, vec3_sub(mesh_point_to_shape(pair, edge->far_corner), at), side, tolerance);
}

bool cairn_mesh_edge_may_touch(const cairn_mesh_pair *pair, const cairn_local_triangle *triangle,
    uint32_t edge, cairn_vec3 normal, float tolerance) {
    CAIRN_ASSERT(edge < 3);
    const cairn_vec3 at = triangle->corners[edge];
    const cairn_vec3 side = local_triangle_side(triangle, edge);
    const cairn_vec3 third = triangle->corners[edge == 0 ? 2 : edge - 1];
    if (rises(normal, vec3_sub(third, at), side, tolerance)) {
        return false;
    }
    const cairn_triangle_edge found = cairn_mesh_edge(pair->mesh, triangle->source, edge);
    if (found.kind == CAIRN_TRIANGLE_EDGE_OPEN) {
        return vec3_dot(normal, triangle->normal) >= 0.0f;
    }
    return found.kind == CAIRN_TRIANGLE_EDGE_CONVEX &&
           neighbour_allows(pair, &found, at, side, normal, tolerance);
}

bool cairn_mesh_corner_may_touch(const cairn_mesh_pair *pair, const cairn_local_triangle *triangle,
    uint32_t corner, cairn_vec3 normal, float tolerance) {
    CAIRN_ASSERT(corner < 3);
    const uint32_t before = corner == 0 ? 2 : corner - 1;
    const cairn_vec3 at = triangle->corners[corner];
    const cairn_vec3 leaving = local_triangle_side(triangle, corner);
    const cairn_vec3 arriving = local_triangle_side(triangle, before);
    if (vec3_dot(normal, leaving) > tolerance * vec3_length(leaving) ||
        vec3_dot(normal, arriving) < 0.0f - tolerance * vec3_length(arriving)) {
        return false;
    }
    const cairn_triangle_edge next = cairn_mesh_edge(pair->mesh, triangle->source, corner);
    const cairn_triangle_edge last = cairn_mesh_edge(pair->mesh, triangle->source, before);
    if (next.kind == CAIRN_TRIANGLE_EDGE_SMOOTH && last.kind == CAIRN_TRIANGLE_EDGE_SMOOTH) {
        return false;
    }
    return vec3_dot(normal, triangle->normal) >= 0.0f &&
           neighbour_allows(pair, &next, at, leaving, normal, tolerance) &&
           neighbour_allows(pair, &last, at, arriving, normal, tolerance);
}

bool cairn_mesh_normal_may_touch(
    const cairn_mesh_pair *pair, const cairn_local_triangle *triangle, cairn_vec3 normal) {
    const float upright = vec3_dot(normal, triangle->normal);
    if (upright < 0.0f) {
        return false;
    }
    // Of a unit normal, what lies in the plane of the triangle.
    const cairn_vec3 flat = vec3_sub_scaled(normal, triangle->normal, upright);
    if (vec3_length_squared(flat) <= CAIRN_MESH_FOREMOST * CAIRN_MESH_FOREMOST) {
        return true;
    }
    uint32_t first = 0;
    for (uint32_t i = 1; i < 3; ++i) {
        const float more = vec3_dot(flat, vec3_sub(triangle->corners[i], triangle->corners[first]));
        first = more > 0.0f ? i : first;
    }
    const uint32_t before = first == 0 ? 2 : first - 1;
    const cairn_vec3 leaving = local_triangle_side(triangle, first);
    const cairn_vec3 arriving = local_triangle_side(triangle, before);
    if (0.0f - vec3_dot(normal, leaving) <= CAIRN_MESH_FOREMOST * vec3_length(leaving)) {
        return cairn_mesh_edge_may_touch(pair, triangle, first, normal, CAIRN_MESH_FOREMOST);
    }
    if (vec3_dot(normal, arriving) <= CAIRN_MESH_FOREMOST * vec3_length(arriving)) {
        return cairn_mesh_edge_may_touch(pair, triangle, before, normal, CAIRN_MESH_FOREMOST);
    }
    return cairn_mesh_corner_may_touch(pair, triangle, first, normal, CAIRN_MESH_FOREMOST);
}

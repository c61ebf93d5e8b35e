// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "sim/collide/shape_pairs.h"

#include "sim/collide/clip.h"

// Adds the point midway between the shape's lowest point and the plane, if it is within the margin.
static void add_if_within(cairn_manifold *out, const cairn_plane *plane, cairn_vec3 lowest,
    float height, float margin, uint32_t feature) {
    if (height <= margin) {
        const cairn_vec3 midway = vec3_sub_scaled(lowest, plane->normal, 0.5f * height);
        cairn_manifold_add(out, midway, height, feature);
    }
}

void cairn_collide_capsule_plane(const cairn_local_capsule *capsule, const cairn_plane *plane,
    float margin, cairn_manifold *out) {
    CAIRN_ASSERT(capsule->radius > 0.0f);
    const cairn_vec3 up = plane->normal;
    out->normal = vec3_negate(up);
    const cairn_vec3 lowest = vec3_sub_scaled(capsule->centre, up, capsule->radius);
    const float height = vec3_dot(capsule->centre, up) - (plane->offset + capsule->radius);
    if (vec3_length_squared(capsule->half) == 0.0f) {
        add_if_within(out, plane, lowest, height, margin, 0);
        return;
    }
    const float rise = vec3_dot(capsule->half, up);
    add_if_within(out, plane, vec3_sub(lowest, capsule->half), height - rise, margin, 0);
    add_if_within(out, plane, vec3_add(lowest, capsule->half), height + rise, margin, 1);
}

// Bit i of a corner's number is set on the positive side of axis i. The four corners of the face
// are added in order of their numbers.
void cairn_collide_box_plane(
    cairn_vec3 half_extents, const cairn_plane *plane, float margin, cairn_manifold *out) {
    CAIRN_ASSERT(out->point_count == 0);
    const cairn_vec3 up = plane->normal;
    const cairn_vec3 rise = vec3_multiply(up, half_extents);
    const float extent = float_abs(rise.x) + float_abs(rise.y) + float_abs(rise.z);
    out->normal = vec3_negate(up);
    if (0.0f - extent - plane->offset > margin) {
        return;
    }
    const uint32_t axis = vec3_largest_axis(vec3_abs(up));
    const uint32_t face_bit = 1u << axis;
    const uint32_t side = vec3_component(up, axis) < 0.0f ? face_bit : 0u;
    for (uint32_t corner = 0; corner < 8; ++corner) {
        if ((corner & face_bit) != side) {
            continue;
        }
        const cairn_vec3 sign = vec3((corner & 1u) != 0 ? 1.0f : -1.0f,
            (corner & 2u) != 0 ? 1.0f : -1.0f, (corner & 4u) != 0 ? 1.0f : -1.0f);
        const float height = vec3_dot(rise, sign) - plane->offset;
        add_if_within(out, plane, vec3_multiply(half_extents, sign), height, margin, corner);
    }
}

// The vertices within the margin, projected onto the plane.
static uint32_t low_vertices(
    const cairn_hull *hull, const cairn_plane *plane, float margin, cairn_clip_point *low) {
    uint32_t count = 0;
    cairn_vec3 right;
    cairn_vec3 forward;
    vec3_tangents(plane->normal, &right, &forward);
    for (uint32_t i = 0; i < hull->vertex_count; ++i) {
        const cairn_vec3 vertex = hull->vertices[i];
        const float height = vec3_dot(vertex, plane->normal) - plane->offset;
        if (height <= margin) {
            low[count++] = (cairn_clip_point){.x = vec3_dot(vertex, right),
                .y = vec3_dot(vertex, forward),
                .height = height,
                .edge = i};
        }
    }
    return count;
}

void cairn_collide_hull_plane(
    const cairn_hull *hull, const cairn_plane *plane, float margin, cairn_manifold *out) {
    out->normal = vec3_negate(plane->normal);
    const float middle = vec3_dot(hull->centre, plane->normal) - plane->offset;
    cairn_clip_point low[CAIRN_HULL_VERTICES_MAX];
    uint32_t chosen[CAIRN_MANIFOLD_POINTS_MAX];
    if (middle > margin + hull->outer) {
        return;
    }
    const uint32_t count = low_vertices(hull, plane, margin, low);
    CAIRN_ASSERT(count <= hull->vertex_count);
    const uint32_t chosen_count = cairn_manifold_reduce(low, count, chosen);
    for (uint32_t i = 0; i < chosen_count; ++i) {
        const cairn_clip_point *point = &low[chosen[i]];
        add_if_within(out, plane, hull->vertices[point->edge], point->height, margin, point->edge);
    }
}

// Four points of each rim, among them the lowest one: a frustum that stands has the four of its
// disc, one that lies has the two ends of a line.
void cairn_collide_frustum_plane(const cairn_frustum *frustum, const cairn_plane *plane,
    float margin, uint32_t *axis_hint, cairn_manifold *out) {
    CAIRN_ASSERT(out->point_count == 0);
    const cairn_vec3 down = vec3_negate(plane->normal);
    uint32_t code = *axis_hint & 0xffffu;
    const cairn_vec3 azimuth = cairn_frustum_lowest_azimuth(down, &code);
    const cairn_rim rim = cairn_frustum_rim_points(down, azimuth, code);
    cairn_clip_point low[8];
    cairn_vec3 points[8];
    uint32_t chosen[CAIRN_MANIFOLD_POINTS_MAX];
    cairn_vec3 right;
    cairn_vec3 forward;
    uint32_t count = 0;
    vec3_tangents(plane->normal, &right, &forward);
    out->normal = down;
    *axis_hint = code;
    for (uint32_t i = 0; i < 8; ++i) {
        const bool top = i >= 4;
        const cairn_vec3 at = cairn_frustum_rim(frustum, top, rim.directions[rim.span[i % 4]]);
        const float height = vec3_dot(at, plane->normal) - plane->offset;
        // A cone's upper rim is a single point.
        if (height <= margin && !(i > 4 && frustum->top == 0.0f)) {
            points[count] = at;
            low[count] = (cairn_clip_point){
                .x = vec3_dot(at, right), .y = vec3_dot(at, forward), .height = height, .edge = i};
            count += 1;
        }
    }
    const uint32_t chosen_count = cairn_manifold_reduce(low, count, chosen);
    for (uint32_t i = 0; i < chosen_count; ++i) {
        const cairn_clip_point *point = &low[chosen[i]];
        add_if_within(out, plane, points[chosen[i]], point->height, margin, point->edge);
    }
}

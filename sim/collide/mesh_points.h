// SPDX-License-Identifier: MIT
#pragma once

// Contact points of a mesh, gathered from its triangles and grouped by direction.

#include "sim/collide/manifold.h"
#include "sim/shape/mesh.h"

// Points that a group holds before it is reduced to those that span it.
#define CAIRN_MESH_GROUP_POINTS 32

// Features of points that a triangle has cut off have this bit.
#define CAIRN_MESH_FEATURE_CUT (1u << 31)

typedef struct cairn_mesh_group {
    cairn_vec3 normal;
    cairn_vec3 right; // the plane of the points
    cairn_vec3 up;
    uint32_t count;
    cairn_vec3 positions[CAIRN_MESH_GROUP_POINTS];
    cairn_clip_point points[CAIRN_MESH_GROUP_POINTS]; // height: separation; edge: feature
} cairn_mesh_group;

typedef struct cairn_mesh_points {
    float same_cosine; // normals this close share a group
    uint32_t count;
    cairn_mesh_group groups[CAIRN_MANIFOLD_SET_MAX];
} cairn_mesh_points;

void cairn_mesh_points_add(cairn_mesh_points *points, cairn_vec3 position, cairn_vec3 normal,
    float separation, uint32_t feature);
// At most four points of each group.
void cairn_mesh_points_finish(cairn_mesh_points *points, cairn_manifold_set *out);

// What the two narrow phases share: the shape in its own frame, and triangles moved there.
typedef struct cairn_mesh_pair {
    const cairn_mesh *mesh;
    cairn_mat3 rotation; // from the frame of the shape to that of the mesh
    cairn_vec3 offset;   // of the shape in the frame of the mesh
    float margin;
} cairn_mesh_pair;

// A triangle in the frame of the shape.
typedef struct cairn_local_triangle {
    const cairn_triangle *source;
    cairn_vec3 corners[3];
    cairn_vec3 normal;
} cairn_local_triangle;

static inline cairn_vec3 mesh_point_to_shape(const cairn_mesh_pair *pair, cairn_vec3 point) {
    return mat3_apply_transposed(pair->rotation, vec3_sub(point, pair->offset));
}
static inline cairn_vec3 mesh_point_to_mesh(const cairn_mesh_pair *pair, cairn_vec3 point) {
    return vec3_add(mat3_apply(pair->rotation, point), pair->offset);
}

// An edge of the triangle from corner i to the next.
static inline cairn_vec3 local_triangle_side(const cairn_local_triangle *triangle, uint32_t i) {
    return vec3_sub(triangle->corners[i == 2 ? 0 : i + 1], triangle->corners[i]);
}

// Whether a contact of edge i (corner i to the next), or of corner i, may have this normal
// (in the frame of the shape, from the mesh): the surface is not smooth there, and nothing of it
// beside the edge or corner is farther along the normal. `tolerance` is the sine of a tilt.
bool cairn_mesh_edge_may_touch(const cairn_mesh_pair *pair, const cairn_local_triangle *triangle,
    uint32_t edge, cairn_vec3 normal, float tolerance);
bool cairn_mesh_corner_may_touch(const cairn_mesh_pair *pair, const cairn_local_triangle *triangle,
    uint32_t corner, cairn_vec3 normal, float tolerance);
// The same for the part of the triangle that is foremost along the normal: an edge, a corner, or
// all of it. What would be foremost if the normal were tilted by an angle of this sine is, too.
#define CAIRN_MESH_FOREMOST 0.01f
bool cairn_mesh_normal_may_touch(
    const cairn_mesh_pair *pair, const cairn_local_triangle *triangle, cairn_vec3 normal);

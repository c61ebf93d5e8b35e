// SPDX-License-Identifier: MIT
#pragma once

// Shapes without a world: mass, bounding box and ray cast of spheres, capsules, boxes, half-spaces,
// hulls, cylinders, cones, meshes and height fields. Pure functions of their arguments.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/sim.h>

typedef struct cairn_geometry {
    uint32_t kind;           // cairn_shape_kind
    cairn_vec3 half_extents; // box
    float radius;            // sphere, capsule, cylinder, cone
    float half_height;       // capsule, cylinder, cone, along local y
    cairn_hull_id hull;      // hull: its id; 0 for the other kinds
    cairn_mesh_id mesh;      // mesh and height field: its id; 0 for the other kinds
} cairn_geometry;

// Kind and sizes of a def; sizes that the kind does not use are zero.
cairn_geometry cairn_geometry_of_def(const cairn_shape_def *def);
// CAIRN_OK, CAIRN_INVALID_ARGUMENT or CAIRN_NON_FINITE. Whether the hull exists is not checked.
cairn_status cairn_geometry_check(const cairn_geometry *geometry);

// A convex hull with its faces and edges (sim/shape/hull.h).
typedef struct cairn_hull cairn_hull;
// A mesh or height field (sim/shape/mesh.h).
typedef struct cairn_mesh cairn_mesh;

// A shape as the narrow phase and queries see it: its geometry, and the hull or mesh that the
// geometry names.
typedef struct cairn_shape_view {
    const cairn_geometry *geometry;
    const cairn_hull *hull;    // NULL for the other kinds
    const cairn_mesh *mesh;    // NULL for the other kinds
    const cairn_vec3 *corners; // of one triangle of a mesh (CAIRN_GEOMETRY_TRIANGLE)
} cairn_shape_view;

typedef struct cairn_aabb {
    cairn_vec3 lower;
    cairn_vec3 upper;
} cairn_aabb;

// The kind of a view of one triangle of a mesh, for distances and casts. No shape has it.
#define CAIRN_GEOMETRY_TRIANGLE 255u

// Whether the shape is a surface of triangles.
static inline bool geometry_is_mesh(const cairn_geometry *geometry) {
    return geometry->kind == CAIRN_SHAPE_MESH || geometry->kind == CAIRN_SHAPE_HEIGHT_FIELD;
}

// Mass properties in the frame of the shape. Those of a half-space, mesh or height field are zero.
typedef struct cairn_mass {
    float mass;        // kg
    cairn_vec3 centre; // m
    float inertia[6];  // kg m^2 about `centre`: xx, yy, zz, xy, xz, yz
} cairn_mass;
cairn_mass cairn_shape_view_mass(const cairn_shape_view *shape, float density);

cairn_aabb cairn_shape_view_aabb(const cairn_shape_view *shape, const cairn_pose *pose);

// The area of the shadow that the shape casts in a unit direction of its frame, m^2; of a kind that
// has no formula here, that of its box.
float cairn_shape_view_shadow(const cairn_shape_view *shape, cairn_vec3 direction);

// Whether the segment origin .. origin + translation hits the shape, with a fraction in [0, 1]. A
// start inside the shape gives fraction 0 and the reversed direction as normal.
bool cairn_shape_view_ray_cast(const cairn_shape_view *shape, const cairn_pose *pose,
    cairn_vec3 origin, cairn_vec3 translation, float *fraction, cairn_vec3 *normal);

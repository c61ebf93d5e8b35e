// SPDX-License-Identifier: MIT
#pragma once

// A convex polyhedron that is cut by planes, in double precision: what a fracture makes of a shape
// before its pieces become hulls. Pure functions of their arguments.

#include "sim/shape/geometry.h"

// More vertices than a hull may have: a cut may add some before the next one takes others away.
#define CAIRN_POLYHEDRON_VERTICES_MAX 256
#define CAIRN_POLYHEDRON_FACES_MAX 320
#define CAIRN_POLYHEDRON_CORNERS_MAX (2 * (3 * CAIRN_POLYHEDRON_VERTICES_MAX - 6))
// Sides of the polygon that stands for the rim of a cylinder or cone.
#define CAIRN_POLYHEDRON_RIM 32

typedef struct cairn_polyhedron {
    uint32_t vertex_count;
    uint32_t face_count;
    double vertices[CAIRN_POLYHEDRON_VERTICES_MAX][3];
    // Face i has the vertices corners[face_first[i]] .. corners[face_first[i + 1] - 1], counter
    // clockwise seen from outside.
    uint16_t face_first[CAIRN_POLYHEDRON_FACES_MAX + 1];
    uint16_t corners[CAIRN_POLYHEDRON_CORNERS_MAX];
} cairn_polyhedron;

// The points below it: normal . p < offset.
typedef struct cairn_cut_plane {
    double normal[3]; // unit, up to the rounding of float
    double offset;
} cairn_cut_plane;

// Of a box, hull, cylinder or cone at `pose`, relative to `origin`, both in one frame. False: the
// shape is of another kind.
bool cairn_polyhedron_of_shape(const cairn_shape_view *shape, const cairn_pose *pose,
    cairn_vec3 origin, cairn_polyhedron *out);

typedef enum cairn_cut {
    CAIRN_CUT_NONE = 0, // all of it is below the plane; *out is undefined
    CAIRN_CUT_DONE,
    CAIRN_CUT_ALL,    // nothing is left; *out is undefined
    CAIRN_CUT_FAILED, // too many vertices, or the edges of the cut do not form a polygon
} cairn_cut;

// Fills *out with the part of *whole below the plane. Vertices closer to the plane than `tolerance`
// are on it.
cairn_cut cairn_polyhedron_cut(const cairn_polyhedron *whole, const cairn_cut_plane *plane,
    double tolerance, cairn_polyhedron *out);

// The largest distance of a vertex from the point, squared.
double cairn_polyhedron_reach_squared(const cairn_polyhedron *p, const double from[3]);
// The square of the least distance, over the faces, of a face and the vertex farthest below it.
double cairn_polyhedron_thickness_squared(const cairn_polyhedron *p);
// Returns the volume; *centre is that of mass. 0: the polyhedron is flat, and *centre is zero.
double cairn_polyhedron_measure(const cairn_polyhedron *p, double centre[3]);

// The farthest point inside on the way from `from`, which is inside, to *point.
void cairn_polyhedron_clamp(const cairn_polyhedron *p, const double from[3], double point[3]);
// A point inside. If the four arguments are uniform in [0, 1), so is the point.
void cairn_polyhedron_sample(const cairn_polyhedron *p, const double draws[4], double out[3]);

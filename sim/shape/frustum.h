// SPDX-License-Identifier: MIT
#pragma once

// Cylinder and cone as one kind of body: the convex hull of two discs across the local y axis, at
// y = -half_height and at y = +half_height. Pure functions of their arguments.

#include "sim/math/vec.h"
#include "sim/shape/geometry.h"

typedef struct cairn_frustum {
    float bottom; // m, radius of the lower disc
    float top;    // m, radius of the upper disc: 0 for a cone
    float half_height;
} cairn_frustum;

static inline bool cairn_geometry_is_frustum(const cairn_geometry *geometry) {
    return geometry->kind == CAIRN_SHAPE_CYLINDER || geometry->kind == CAIRN_SHAPE_CONE;
}
cairn_frustum cairn_frustum_of(const cairn_geometry *geometry);

// The frustum whose surface is `skin` inside of this one's, and the height of its middle. `skin` is
// at most half of the radius of the largest ball inside.
cairn_frustum cairn_frustum_shrink(const cairn_frustum *f, float skin, float *centre_y);
// The centre of the largest ball inside has this y and radius, m.
float cairn_frustum_inner_radius(const cairn_frustum *f);
float cairn_frustum_inner_y(const cairn_frustum *f);

// The direction away from the axis in which `direction` leads: a unit vector with y = 0; x if it
// leads along the axis, up to rounding.
cairn_vec3 cairn_frustum_azimuth(cairn_vec3 direction);
// The same for a unit vector, but if that leads along the axis to a thousandth, the azimuth that
// *code stands for (0: x). Else *code becomes that of the result. A frustum that stands on a disc
// has no lowest point, and its weight may press on one side of the rim: the code remembers which
// side was the lowest one, in 1 to 65533.
cairn_vec3 cairn_frustum_lowest_azimuth(cairn_vec3 direction, uint32_t *code);
// Where the points of a rim are, as directions across the axis from which a face turns away by the
// unit vector `direction`; counter clockwise seen from above. The four with these indices span the
// disc. A rim that leans has its lowest point at the azimuth, exactly. One that hardly leans has
// two points beside it instead, 15 degrees away on either side: on a single one it would topple
// sideways, because a hair of tilt moves the lowest point by a hand.
enum { CAIRN_RIM_POINTS = 8 };
typedef struct cairn_rim {
    cairn_vec3 directions[CAIRN_RIM_POINTS];
    const uint8_t *span; // four indices
} cairn_rim;
cairn_rim cairn_frustum_rim_points(cairn_vec3 direction, cairn_vec3 azimuth, uint32_t code);
// The outward normal of the side at an azimuth.
cairn_vec3 cairn_frustum_side_normal(const cairn_frustum *f, cairn_vec3 azimuth);
// The points of the two rims at an azimuth.
cairn_vec3 cairn_frustum_rim(const cairn_frustum *f, bool top, cairn_vec3 azimuth);

// The point farthest along a direction; on the axis if the direction leads along it.
cairn_vec3 cairn_frustum_support(const cairn_frustum *f, cairn_vec3 direction);
// Whether the point is inside or on the surface.
bool cairn_frustum_contains(const cairn_frustum *f, cairn_vec3 point);
// The outward direction at the surface point nearest to a point outside; zero if it is inside.
cairn_vec3 cairn_frustum_outward(const cairn_frustum *f, cairn_vec3 point);

cairn_aabb cairn_frustum_aabb(const cairn_frustum *f, const cairn_pose *pose);
// The volume in m^3, the y of the centre of mass, and the inertia of density 1 about that centre:
// about the axis, and across it.
typedef struct cairn_frustum_measures {
    float volume;
    float centre_y;
    float about_axis;
    float across_axis;
} cairn_frustum_measures;
cairn_frustum_measures cairn_frustum_measure(const cairn_frustum *f);

// Where the ray origin + t * direction (a unit vector) enters, for t in [0, length]. False if the
// origin is inside or the ray misses.
bool cairn_frustum_ray(const cairn_frustum *f, cairn_vec3 origin, cairn_vec3 direction,
    float length, float *distance, cairn_vec3 *normal);

// SPDX-License-Identifier: MIT
#pragma once

// Volume, centre and moments of a body bounded by triangles, as a sum over the tetrahedra between
// the triangles and one point (Blow and Binstock 2004). In double precision, because thin bodies
// far from the origin of their frame lose digits here.

typedef struct cairn_volume_integrals {
    double six_volumes;
    double moment[3];     // times 24
    double covariance[6]; // xx, yy, zz, xy, xz, yz, times 120
} cairn_volume_integrals;

// The tetrahedron between the origin and a triangle, counter clockwise seen from outside.
void cairn_volume_add(
    cairn_volume_integrals *total, const double a[3], const double b[3], const double c[3]);

typedef struct cairn_volume {
    double volume;
    double centre[3];
    double inertia[6]; // of density 1 about the centre: xx, yy, zz, xy, xz, yz
} cairn_volume;
// The volume must not be zero.
cairn_volume cairn_volume_of(const cairn_volume_integrals *total);

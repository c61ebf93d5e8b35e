// SPDX-License-Identifier: MIT
#include "sim/shape/hull.h"

#include "base/assert.h"

// Integrals over the tetrahedra between an inner point and the triangles of the faces. In double
// precision, because thin hulls far from the origin of their frame lose digits here.
typedef struct integrals {
    double six_volumes;
    double moment[3];     // times 24
    double covariance[6]; // xx, yy, zz, xy, xz, yz, times 120
} integrals;

static void add_tetrahedron(
    integrals *total, const double a[3], const double b[3], const double c[3]) {
    static const uint32_t row[6] = {0, 1, 2, 0, 0, 1};
    static const uint32_t column[6] = {0, 1, 2, 1, 2, 2};
    const double x = a[1] * b[2] - a[2] * b[1];
    const double y = a[2] * b[0] - a[0] * b[2];
    const double z = a[0] * b[1] - a[1] * b[0];
    const double size = x * c[0] + y * c[1] + z * c[2];
    double sum[3];
    for (uint32_t i = 0; i < 3; ++i) {
        sum[i] = a[i] + b[i] + c[i];
        total->moment[i] += size * sum[i];
    }
    total->six_volumes += size;
    for (uint32_t k = 0; k < 6; ++k) {
        const uint32_t i = row[k];
        const uint32_t j = column[k];
        const double squares = a[i] * a[j] + b[i] * b[j] + c[i] * c[j];
        total->covariance[k] += size * (squares + sum[i] * sum[j]);
    }
}

static void inner_point(const cairn_hull *hull, double out[3]) {
    CAIRN_ASSERT(hull->vertex_count <= CAIRN_HULL_VERTICES_MAX);
    out[0] = out[1] = out[2] = 0.0;
    for (uint32_t i = 0; i < hull->vertex_count; ++i) {
        out[0] += (double)hull->vertices[i].x;
        out[1] += (double)hull->vertices[i].y;
        out[2] += (double)hull->vertices[i].z;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        out[i] /= (double)hull->vertex_count;
    }
}

static void corner_from(
    const cairn_hull *hull, uint32_t corner, const double origin[3], double out[3]) {
    CAIRN_ASSERT(hull->corners[corner] < hull->vertex_count);
    const cairn_vec3 v = hull->vertices[hull->corners[corner]];
    out[0] = (double)v.x - origin[0];
    out[1] = (double)v.y - origin[1];
    out[2] = (double)v.z - origin[2];
}

static integrals integrate_over_faces(const cairn_hull *hull, const double origin[3]) {
    integrals total = {.six_volumes = 0.0};
    for (uint32_t face = 0; face < hull->face_count; ++face) {
        double first[3];
        double previous[3];
        double current[3];
        CAIRN_ASSERT(hull->face_first[face] + 3 <= hull->face_first[face + 1]);
        corner_from(hull, hull->face_first[face], origin, first);
        corner_from(hull, hull->face_first[face] + 1u, origin, previous);
        for (uint32_t i = hull->face_first[face] + 2u; i < hull->face_first[face + 1]; ++i) {
            corner_from(hull, i, origin, current);
            add_tetrahedron(&total, first, previous, current);
            previous[0] = current[0];
            previous[1] = current[1];
            previous[2] = current[2];
        }
    }
    return total;
}

static void measure_distances(cairn_hull *hull) {
    hull->inner = hull->planes[0].offset - vec3_dot(hull->planes[0].normal, hull->centre);
    for (uint32_t i = 1; i < hull->face_count; ++i) {
        const cairn_plane *plane = &hull->planes[i];
        hull->inner = float_min(hull->inner, plane->offset - vec3_dot(plane->normal, hull->centre));
    }
    hull->outer = 0.0f;
    for (uint32_t i = 0; i < hull->vertex_count; ++i) {
        hull->outer = float_max(hull->outer, vec3_distance(hull->centre, hull->vertices[i]));
    }
    // Allows for the rounding of the square root.
    hull->outer *= 1.001f;
}

// Blow and Binstock 2004: the covariance of a tetrahedron with one corner at the origin; the
// parallel axis theorem moves the sum to the centre of mass.
void cairn_hull_measure(cairn_hull *hull) {
    CAIRN_ASSERT(hull->vertex_count >= 4 && hull->face_count >= 4);
    double origin[3];
    inner_point(hull, origin);
    const integrals total = integrate_over_faces(hull, origin);
    const double volume = total.six_volumes / 6.0;
    const double x = total.moment[0] / (4.0 * total.six_volumes);
    const double y = total.moment[1] / (4.0 * total.six_volumes);
    const double z = total.moment[2] / (4.0 * total.six_volumes);
    const double xx = total.covariance[0] / 120.0 - volume * x * x;
    const double yy = total.covariance[1] / 120.0 - volume * y * y;
    const double zz = total.covariance[2] / 120.0 - volume * z * z;
    hull->volume = (float)volume;
    hull->centre = vec3((float)(origin[0] + x), (float)(origin[1] + y), (float)(origin[2] + z));
    hull->inertia[0] = (float)(yy + zz);
    hull->inertia[1] = (float)(xx + zz);
    hull->inertia[2] = (float)(xx + yy);
    hull->inertia[3] = (float)(volume * x * y - total.covariance[3] / 120.0);
    hull->inertia[4] = (float)(volume * x * z - total.covariance[4] / 120.0);
    hull->inertia[5] = (float)(volume * y * z - total.covariance[5] / 120.0);
    measure_distances(hull);
}

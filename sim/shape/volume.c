// SPDX-License-Identifier: MIT
#include "sim/shape/volume.h"

#include <stdint.h>

#include <cairn/sim.h>

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/math/vec.h"

void cairn_volume_add(
    cairn_volume_integrals *total, const double a[3], const double b[3], const double c[3]) {
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

// The parallel axis theorem moves the covariance of the tetrahedra, which have one corner at the
// origin, to the centre of mass.
cairn_volume cairn_volume_of(const cairn_volume_integrals *total) {
    CAIRN_ASSERT(total->six_volumes != 0.0);
    const double volume = total->six_volumes / 6.0;
    const double x = total->moment[0] / (4.0 * total->six_volumes);
    const double y = total->moment[1] / (4.0 * total->six_volumes);
    const double z = total->moment[2] / (4.0 * total->six_volumes);
    const double xx = total->covariance[0] / 120.0 - volume * x * x;
    const double yy = total->covariance[1] / 120.0 - volume * y * y;
    const double zz = total->covariance[2] / 120.0 - volume * z * z;
    return (cairn_volume){.volume = volume,
        .centre = {x, y, z},
        .inertia = {yy + zz, xx + zz, xx + yy, volume * x * y - total->covariance[3] / 120.0,
            volume * x * z - total->covariance[4] / 120.0,
            volume * y * z - total->covariance[5] / 120.0}};
}

// ---- Closed triangle meshes

// Mixes the bits of a directed edge (splitmix64, Steele, Lea and Flood 2014).
static uint64_t mix_edge(uint64_t from, uint64_t to, uint64_t salt) {
    uint64_t z = (from << 32 | to) + salt;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// A surface is closed if each directed edge occurs as often as its reverse. Two sums of mixed edges
// less mixed reverses are then zero; of an open surface only by a chance of 2^-128.
static const char *check_triangles(
    const uint32_t *indices, uint32_t triangle_count, uint32_t vertex_count) {
    uint64_t sums[2] = {0, 0};
    for (uint32_t t = 0; t < triangle_count; ++t) {
        const uint32_t *corners = &indices[3 * (size_t)t];
        for (uint32_t k = 0; k < 3; ++k) {
            const uint32_t from = corners[k];
            const uint32_t to = corners[(k + 1) % 3];
            if (from >= vertex_count) {
                return "an index is not below the number of vertices";
            }
            for (uint32_t i = 0; i < 2; ++i) {
                const uint64_t salt = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
                sums[i] += mix_edge(from, to, salt) - mix_edge(to, from, salt);
            }
        }
    }
    return sums[0] == 0 && sums[1] == 0 ? NULL : "the surface is not closed";
}

static const char *check_vertices(const cairn_vec3 *vertices, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_vec3 size = vec3_abs(vertices[i]);
        if (!vec3_finite(vertices[i])) {
            return "a coordinate is not a number";
        }
        if (float_max(size.x, float_max(size.y, size.z)) > CAIRN_SHAPE_SIZE_MAX) {
            return "a coordinate is too large";
        }
    }
    return NULL;
}

// Relative to the first vertex, which keeps the numbers as small as the body.
static cairn_volume_integrals integrate(
    const cairn_vec3 *vertices, const uint32_t *indices, uint32_t triangle_count) {
    cairn_volume_integrals total = {.six_volumes = 0.0};
    const cairn_vec3 origin = vertices[indices[0]];
    for (uint32_t t = 0; t < triangle_count; ++t) {
        double corners[3][3];
        for (uint32_t k = 0; k < 3; ++k) {
            const cairn_vec3 v = vertices[indices[3 * (size_t)t + k]];
            corners[k][0] = (double)v.x - (double)origin.x;
            corners[k][1] = (double)v.y - (double)origin.y;
            corners[k][2] = (double)v.z - (double)origin.z;
        }
        cairn_volume_add(&total, corners[0], corners[1], corners[2]);
    }
    return total;
}

const char *cairn_triangles_mass(const cairn_vec3 *vertices, uint32_t vertex_count,
    const uint32_t *indices, uint32_t triangle_count, float density, cairn_mass_properties *out) {
    *out = (cairn_mass_properties){.mass = 0.0f};
    if (triangle_count < 4) {
        return "fewer than four triangles";
    }
    if (!(density > 0.0f && density <= CAIRN_DENSITY_MAX)) {
        return "the density is not in (0, 1e6]";
    }
    const char *refusal = check_vertices(vertices, vertex_count);
    refusal = refusal != NULL ? refusal : check_triangles(indices, triangle_count, vertex_count);
    if (refusal != NULL) {
        return refusal;
    }
    const cairn_volume_integrals total = integrate(vertices, indices, triangle_count);
    if (total.six_volumes < 0.0) {
        return "the triangles are clockwise seen from outside";
    }
    if (!(total.six_volumes >= 6e-12)) {
        return "the surface holds no volume";
    }
    const cairn_volume volume = cairn_volume_of(&total);
    const cairn_vec3 origin = vertices[indices[0]];
    const double d = (double)density;
    out->mass = (float)(d * volume.volume);
    out->centre = vec3_clean(vec3((float)((double)origin.x + volume.centre[0]),
        (float)((double)origin.y + volume.centre[1]),
        (float)((double)origin.z + volume.centre[2])));
    for (uint32_t i = 0; i < 6; ++i) {
        out->inertia[i] = (float)(d * volume.inertia[i]) + 0.0f;
    }
    CAIRN_ASSERT(out->mass > 0.0f);
    return NULL;
}

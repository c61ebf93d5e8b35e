// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "sim/shape/geometry.h"

#include "sim/math/vec.h"
#include "sim/shape/hull.h"

#define PI 3.14159265f

static cairn_mass mass_of(float mass, float xx, float yy, float zz) {
    return (cairn_mass){
        .mass = mass, .centre = vec3_zero(), .inertia = {xx, yy, zz, 0.0f, 0.0f, 0.0f}};
}

static cairn_mass mass_of_sphere(float radius, float density) {
    CAIRN_ASSERT(radius > 0.0f);
    const float mass = density * (4.0f / 3.0f * PI) * radius * radius * radius;
    const float inertia = 0.4f * mass * radius * radius;
    return mass_of(mass, inertia, inertia, inertia);
}

static cairn_mass mass_of_box(cairn_vec3 half_extents, float density) {
    CAIRN_ASSERT(half_extents.x > 0.0f && half_extents.y > 0.0f && half_extents.z > 0.0f);
    const cairn_vec3 h = half_extents;
    const float mass = 8.0f * density * h.x * h.y * h.z;
    const float third = mass / 3.0f;
    return mass_of(mass, third * (h.y * h.y + h.z * h.z), third * (h.x * h.x + h.z * h.z),
        third * (h.x * h.x + h.y * h.y));
}

// A cylinder of length 2 h and two half balls. A half ball's centroid lies 3/8 r from its flat
// face; its moment about an axis in that face is half a ball's 2/5 m r^2, moved by the parallel
// axis theorem to the centroid and from there to the capsule's centre: m (2/5 r^2 + h^2 + 3/4 h r)
// for both halves together.
static cairn_mass mass_of_capsule(float radius, float half_height, float density) {
    CAIRN_ASSERT(radius > 0.0f && half_height >= 0.0f);
    const float r = radius;
    const float h = half_height;
    const float cylinder = density * (2.0f * PI) * r * r * h;
    const float ball = density * (4.0f / 3.0f * PI) * r * r * r;
    const float about_axis = 0.5f * cylinder * r * r + 0.4f * ball * r * r;
    const float about_side =
        cylinder * (0.25f * r * r + h * h / 3.0f) + ball * (0.4f * r * r + h * h + 0.75f * h * r);
    return mass_of(cylinder + ball, about_side, about_axis, about_side);
}

static cairn_mass mass_of_hull(const cairn_hull *hull, float density) {
    CAIRN_ASSERT(hull != NULL && hull->vertex_count >= 4);
    cairn_mass mass = {.mass = density * hull->volume, .centre = hull->centre};
    for (uint32_t i = 0; i < 6; ++i) {
        mass.inertia[i] = density * hull->inertia[i];
    }
    return mass;
}

cairn_mass cairn_shape_view_mass(const cairn_shape_view *shape, float density) {
    CAIRN_ASSERT(density > 0.0f);
    const cairn_geometry *geometry = shape->geometry;
    switch (geometry->kind) {
    case CAIRN_SHAPE_SPHERE:
        return mass_of_sphere(geometry->radius, density);
    case CAIRN_SHAPE_CAPSULE:
        return mass_of_capsule(geometry->radius, geometry->half_height, density);
    case CAIRN_SHAPE_BOX:
        return mass_of_box(geometry->half_extents, density);
    case CAIRN_SHAPE_HULL:
        return mass_of_hull(shape->hull, density);
    default:
        CAIRN_ASSERT(geometry->kind == CAIRN_SHAPE_HALF_SPACE);
        return mass_of(0.0f, 0.0f, 0.0f, 0.0f);
    }
}

// SPDX-License-Identifier: MIT

// Bounds and mass of shapes, and the measures of hulls that these follow from.

#include "sim/shape/hull.h"
#include "sim/shape/mesh.h"

#include "base/assert.h"
#include "sim/shape/frustum.h"
#include "sim/shape/volume.h"

// Extent of a half-space: larger than every valid position, and still finite.
#define HALF_SPACE_EXTENT 1e9f
#define PI 3.14159265f

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

static cairn_volume_integrals integrate_over_faces(const cairn_hull *hull, const double origin[3]) {
    CAIRN_ASSERT(hull->face_count >= 4 && hull->face_count <= CAIRN_HULL_FACES_MAX);
    cairn_volume_integrals total = {.six_volumes = 0.0};
    for (uint32_t face = 0; face < hull->face_count; ++face) {
        double first[3];
        double previous[3];
        double current[3];
        CAIRN_ASSERT(hull->face_first[face] + 3 <= hull->face_first[face + 1]);
        corner_from(hull, hull->face_first[face], origin, first);
        corner_from(hull, hull->face_first[face] + 1u, origin, previous);
        for (uint32_t i = hull->face_first[face] + 2u; i < hull->face_first[face + 1]; ++i) {
            corner_from(hull, i, origin, current);
            cairn_volume_add(&total, first, previous, current);
            previous[0] = current[0];
            previous[1] = current[1];
            previous[2] = current[2];
        }
    }
    return total;
}

static void measure_distances(cairn_hull *hull) {
    CAIRN_ASSERT(hull->face_count > 0);
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

void cairn_hull_measure(cairn_hull *hull) {
    CAIRN_ASSERT(hull->vertex_count >= 4 && hull->face_count >= 4);
    double origin[3];
    inner_point(hull, origin);
    const cairn_volume_integrals total = integrate_over_faces(hull, origin);
    const cairn_volume measured = cairn_volume_of(&total);
    hull->volume = (float)measured.volume;
    hull->centre = vec3((float)(origin[0] + measured.centre[0]),
        (float)(origin[1] + measured.centre[1]), (float)(origin[2] + measured.centre[2]));
    for (uint32_t i = 0; i < 6; ++i) {
        hull->inertia[i] = (float)measured.inertia[i];
    }
    measure_distances(hull);
}

static cairn_vec3 half_extents_of(const cairn_geometry *geometry, cairn_quat rotation) {
    const float r = geometry->radius;
    const cairn_mat3 axes = mat3_of_quat(rotation);
    switch (geometry->kind) {
    case CAIRN_SHAPE_SPHERE:
        return vec3(r, r, r);
    case CAIRN_SHAPE_CAPSULE: {
        const cairn_vec3 along = vec3_scale(vec3_abs(mat3_column(axes, 1)), geometry->half_height);
        return vec3_add(along, vec3(r, r, r));
    }
    case CAIRN_SHAPE_BOX:
        return mat3_apply(mat3_abs(axes), geometry->half_extents);
    default:
        CAIRN_ASSERT(geometry->kind == CAIRN_SHAPE_HALF_SPACE);
        return vec3(HALF_SPACE_EXTENT, HALF_SPACE_EXTENT, HALF_SPACE_EXTENT);
    }
}

// A hull need not contain the origin of its frame.
static cairn_aabb aabb_of_hull(const cairn_hull *hull, const cairn_pose *pose) {
    CAIRN_ASSERT(hull->vertex_count > 0);
    const cairn_mat3 rotation = mat3_of_quat(pose->rotation);
    cairn_vec3 lower = mat3_apply(rotation, hull->vertices[0]);
    cairn_vec3 upper = lower;
    for (uint32_t i = 1; i < hull->vertex_count; ++i) {
        const cairn_vec3 vertex = mat3_apply(rotation, hull->vertices[i]);
        lower = vec3_min(lower, vertex);
        upper = vec3_max(upper, vertex);
    }
    return (cairn_aabb){.lower = vec3_clean(vec3_add(pose->position, lower)),
        .upper = vec3_clean(vec3_add(pose->position, upper))};
}

// The box around the box of a mesh.
static cairn_aabb aabb_of_mesh(const cairn_mesh *mesh, const cairn_pose *pose) {
    const cairn_vec3 half = vec3_scale(vec3_sub(mesh->bounds.upper, mesh->bounds.lower), 0.5f);
    const cairn_vec3 middle = vec3_add(mesh->bounds.lower, half);
    const cairn_vec3 centre = pose_apply(*pose, middle);
    const cairn_vec3 extent = mat3_apply(mat3_abs(mat3_of_quat(pose->rotation)), half);
    return (cairn_aabb){.lower = vec3_clean(vec3_sub(centre, extent)),
        .upper = vec3_clean(vec3_add(centre, extent))};
}

cairn_aabb cairn_shape_view_aabb(const cairn_shape_view *shape, const cairn_pose *pose) {
    if (shape->mesh != NULL) {
        return aabb_of_mesh(shape->mesh, pose);
    }
    if (shape->geometry->kind == CAIRN_SHAPE_HULL) {
        return aabb_of_hull(shape->hull, pose);
    }
    if (cairn_geometry_is_frustum(shape->geometry)) {
        const cairn_frustum frustum = cairn_frustum_of(shape->geometry);
        return cairn_frustum_aabb(&frustum, pose);
    }
    const cairn_vec3 extent = half_extents_of(shape->geometry, pose->rotation);
    return (cairn_aabb){.lower = vec3_clean(vec3_sub(pose->position, extent)),
        .upper = vec3_clean(vec3_add(pose->position, extent))};
}

static cairn_mass mass_of(float mass, float xx, float yy, float zz) {
    CAIRN_ASSERT(mass >= 0.0f);
    return (cairn_mass){
        .mass = mass, .centre = vec3_zero(), .inertia = {xx, yy, zz, 0.0f, 0.0f, 0.0f}};
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

static cairn_mass mass_of_frustum(const cairn_frustum *frustum, float density) {
    const cairn_frustum_measures measures = cairn_frustum_measure(frustum);
    const float across = density * measures.across_axis;
    cairn_mass mass =
        mass_of(density * measures.volume, across, density * measures.about_axis, across);
    mass.centre.y = measures.centre_y;
    return mass;
}

cairn_mass cairn_shape_view_mass(const cairn_shape_view *shape, float density) {
    CAIRN_ASSERT(density > 0.0f);
    const cairn_geometry *geometry = shape->geometry;
    switch (geometry->kind) {
    case CAIRN_SHAPE_SPHERE: {
        const float r = geometry->radius;
        const float mass = density * (4.0f / 3.0f * PI) * r * r * r;
        const float inertia = 0.4f * mass * r * r;
        return mass_of(mass, inertia, inertia, inertia);
    }
    case CAIRN_SHAPE_CAPSULE:
        return mass_of_capsule(geometry->radius, geometry->half_height, density);
    case CAIRN_SHAPE_BOX: {
        const cairn_vec3 h = geometry->half_extents;
        const float mass = 8.0f * density * h.x * h.y * h.z;
        const float third = mass / 3.0f;
        return mass_of(mass, third * (h.y * h.y + h.z * h.z), third * (h.x * h.x + h.z * h.z),
            third * (h.x * h.x + h.y * h.y));
    }
    case CAIRN_SHAPE_CYLINDER:
    case CAIRN_SHAPE_CONE: {
        const cairn_frustum frustum = cairn_frustum_of(geometry);
        return mass_of_frustum(&frustum, density);
    }
    case CAIRN_SHAPE_HULL: {
        CAIRN_ASSERT(shape->hull != NULL && shape->hull->vertex_count >= 4);
        cairn_mass mass = {.mass = density * shape->hull->volume, .centre = shape->hull->centre};
        for (uint32_t i = 0; i < 6; ++i) {
            mass.inertia[i] = density * shape->hull->inertia[i];
        }
        return mass;
    }
    default:
        CAIRN_ASSERT(geometry->kind == CAIRN_SHAPE_HALF_SPACE || geometry_is_mesh(geometry));
        return mass_of(0.0f, 0.0f, 0.0f, 0.0f);
    }
}

// SPDX-License-Identifier: MIT
#pragma once

// Shared by the tests of shapes: shapes and poses, random ones from a seed, and checks of
// manifolds.

#include "tests/kit/test.h"

#include <string.h>

#include "base/random.h"
#include "sim/collide/collide.h"
#include "sim/math/vec.h"
#include "sim/shape/geometry.h"

static inline cairn_geometry sphere(float radius) {
    return (cairn_geometry){.kind = CAIRN_SHAPE_SPHERE, .radius = radius};
}

static inline cairn_geometry capsule(float radius, float half_height) {
    return (cairn_geometry){
        .kind = CAIRN_SHAPE_CAPSULE, .radius = radius, .half_height = half_height};
}

static inline cairn_geometry box(float x, float y, float z) {
    return (cairn_geometry){.kind = CAIRN_SHAPE_BOX, .half_extents = vec3(x, y, z)};
}

static inline cairn_geometry half_space(void) {
    return (cairn_geometry){.kind = CAIRN_SHAPE_HALF_SPACE};
}

static inline cairn_shape_view view_of(const cairn_geometry *geometry) {
    return (cairn_shape_view){.geometry = geometry};
}

static inline void collide_geometries(const cairn_geometry *a, const cairn_pose *pose_a,
    const cairn_geometry *b, const cairn_pose *pose_b, float margin, uint32_t *axis_hint,
    cairn_manifold *out) {
    const cairn_shape_view solid_a = view_of(a);
    const cairn_shape_view solid_b = view_of(b);
    cairn_collide(&solid_a, pose_a, &solid_b, pose_b, margin, axis_hint, out);
}

static inline bool geometries_overlap(const cairn_geometry *a, const cairn_pose *pose_a,
    const cairn_geometry *b, const cairn_pose *pose_b) {
    const cairn_shape_view solid_a = view_of(a);
    const cairn_shape_view solid_b = view_of(b);
    return cairn_collide_overlap(&solid_a, pose_a, &solid_b, pose_b);
}

static inline cairn_mass mass_of(const cairn_geometry *geometry, float density) {
    const cairn_shape_view solid = view_of(geometry);
    return cairn_shape_view_mass(&solid, density);
}

static inline cairn_aabb bounds_of(const cairn_geometry *geometry, const cairn_pose *pose) {
    const cairn_shape_view solid = view_of(geometry);
    return cairn_shape_view_aabb(&solid, pose);
}

static inline bool ray_hits(const cairn_geometry *geometry, const cairn_pose *pose,
    cairn_vec3 origin, cairn_vec3 translation, float *fraction, cairn_vec3 *normal) {
    const cairn_shape_view solid = view_of(geometry);
    return cairn_shape_view_ray_cast(&solid, pose, origin, translation, fraction, normal);
}

static inline cairn_pose at(float x, float y, float z) {
    return (cairn_pose){.position = vec3(x, y, z), .rotation = quat_identity()};
}

// Rotated about `axis` by twice the angle whose tangent is given: exact for 0, 1 (a quarter turn)
// and similar values.
static inline cairn_pose rotated(cairn_pose pose, cairn_vec3 axis, float half_tangent) {
    const cairn_vec3 v = vec3_scale(axis, half_tangent);
    const cairn_quat turn = quat_normalize((cairn_quat){.x = v.x, .y = v.y, .z = v.z, .w = 1.0f});
    return (cairn_pose){.position = pose.position, .rotation = quat_multiply(turn, pose.rotation)};
}

static inline float random_between(cairn_random *random, float lower, float upper) {
    return lower + (upper - lower) * cairn_random_unit(random);
}

static inline cairn_vec3 random_vec3(cairn_random *random, float size) {
    const float x = random_between(random, -size, size);
    const float y = random_between(random, -size, size);
    const float z = random_between(random, -size, size);
    return vec3(x, y, z);
}

static inline cairn_quat random_quat(cairn_random *random) {
    const cairn_vec3 v = random_vec3(random, 1.0f);
    const float w = random_between(random, -1.0f, 1.0f);
    return quat_normalize((cairn_quat){.x = v.x, .y = v.y, .z = v.z, .w = w});
}

static inline cairn_pose random_pose(cairn_random *random, float size) {
    const cairn_vec3 position = random_vec3(random, size);
    return (cairn_pose){.position = position, .rotation = random_quat(random)};
}

// Kinds 1 to 3: sphere, capsule, box, of sizes between 0.2 and 1.
static inline cairn_geometry random_geometry(cairn_random *random, uint32_t kind) {
    const float x = random_between(random, 0.2f, 1.0f);
    const float y = random_between(random, 0.2f, 1.0f);
    const float z = random_between(random, 0.2f, 1.0f);
    return kind == CAIRN_SHAPE_SPHERE    ? sphere(x)
           : kind == CAIRN_SHAPE_CAPSULE ? capsule(x, y)
           : kind == CAIRN_SHAPE_BOX     ? box(x, y, z)
                                         : half_space();
}

// Whether the shape contains the world point; computed independently of the library.
static inline bool contains(
    const cairn_geometry *geometry, const cairn_pose *pose, cairn_vec3 point, float skin) {
    const cairn_vec3 p = pose_apply_inverse(*pose, point);
    const float along = float_clamp(p.y, 0.0f - geometry->half_height, geometry->half_height);
    switch (geometry->kind) {
    case CAIRN_SHAPE_SPHERE:
        return vec3_length(p) <= geometry->radius + skin;
    case CAIRN_SHAPE_CAPSULE:
        return vec3_distance(p, vec3(0.0f, along, 0.0f)) <= geometry->radius + skin;
    case CAIRN_SHAPE_BOX:
        return float_abs(p.x) <= geometry->half_extents.x + skin &&
               float_abs(p.y) <= geometry->half_extents.y + skin &&
               float_abs(p.z) <= geometry->half_extents.z + skin;
    case CAIRN_SHAPE_CYLINDER:
    case CAIRN_SHAPE_CONE: {
        const float top = geometry->kind == CAIRN_SHAPE_CONE ? 0.0f : geometry->radius;
        const float part = 0.5f * (along / geometry->half_height + 1.0f);
        const float radius = geometry->radius + (top - geometry->radius) * part;
        const float across = vec3_length(vec3(p.x, 0.0f, p.z));
        return across <= radius + 2.0f * skin && float_abs(p.y) <= geometry->half_height + skin;
    }
    default:
        return p.y <= skin;
    }
}

static inline float deepest(const cairn_manifold *manifold) {
    float least = 1e9f;
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        least = float_min(least, manifold->points[i].separation);
    }
    return least;
}

// Whether both have the same features, in any order.
static inline bool same_features(const cairn_manifold *a, const cairn_manifold *b) {
    bool same = a->point_count == b->point_count;
    for (uint32_t i = 0; same && i < a->point_count; ++i) {
        bool found = false;
        for (uint32_t k = 0; k < b->point_count; ++k) {
            found = found || a->points[i].feature == b->points[k].feature;
        }
        same = found;
    }
    return same;
}

static inline void expect_distinct_features(const cairn_manifold *manifold) {
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        for (uint32_t k = i + 1; k < manifold->point_count; ++k) {
            assert_int_not_equal(manifold->points[i].feature, manifold->points[k].feature);
        }
    }
}

// Collides with a hint, and once more with the hint that results. Both must give the same bits, so
// that a manifold can be computed again from the stored hint. Returns that hint; 0 if the shapes
// are apart.
static inline uint32_t expect_hint_repeats(
    const cairn_shape_view *a, const cairn_shape_view *b, const cairn_pose *pose, uint32_t hint) {
    cairn_manifold first;
    cairn_manifold again;
    memset(&first, 0, sizeof first);
    memset(&again, 0, sizeof again);
    cairn_collide_local(a, b, pose, 0.02f, &hint, &first);
    uint32_t again_hint = hint;
    cairn_collide_local(a, b, pose, 0.02f, &again_hint, &again);
    assert_int_equal(hint, again_hint);
    assert_memory_equal(&first, &again, sizeof first);
    return first.point_count > 0 ? hint : 0;
}

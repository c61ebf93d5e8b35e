// SPDX-License-Identifier: MIT
// Queries against meshes and height fields, each compared with a scan of all triangles, in random
// poses; rays are scanned in double precision.

#include "tests/physics/mesh_kit.h"

#include "base/random.h"
#include "sim/query/distance.h"
#include "sim/shape/mesh.h"
#include "sim/state/world.h"

typedef struct place {
    cairn_world *world;
    cairn_body_id body;
    const cairn_mesh *mesh;
    cairn_pose pose;
} place;

static float between(cairn_random *random, float lower, float upper) {
    return lower + cairn_random_unit(random) * (upper - lower);
}

static cairn_vec3 any_vec3(cairn_random *random, float size) {
    const float x = between(random, -size, size);
    const float y = between(random, -size, size);
    const float z = between(random, -size, size);
    return vec3(x, y, z);
}

static cairn_quat any_turn(cairn_random *random) {
    const cairn_vec3 v = any_vec3(random, 1.0f);
    return quat_normalize((cairn_quat){.x = v.x, .y = v.y, .z = v.z, .w = 0.4f});
}

static cairn_mesh_id any_mesh(cairn_world *world, cairn_random *random) {
    SCOPED(mesh_grid) grid = mesh_grid_flat(17, 13, 0.5f);
    for (uint32_t i = 0; i < 17 * 13; ++i) {
        grid.vertices[i].x += between(random, -0.15f, 0.15f);
        grid.vertices[i].y = between(random, -0.6f, 0.6f);
        grid.vertices[i].z += between(random, -0.15f, 0.15f);
    }
    return mesh_of(world, &grid);
}

static cairn_mesh_id any_field(cairn_world *world, cairn_random *random) {
    float heights[17 * 13];
    for (uint32_t i = 0; i < 17 * 13; ++i) {
        const bool hole = cairn_random_below(random, 20) == 0;
        heights[i] = hole ? CAIRN_HEIGHT_HOLE : between(random, -0.6f, 0.6f);
    }
    const cairn_height_field_def def = {
        .heights = heights, .columns = 17, .rows = 13, .spacing_x = 0.5f, .spacing_z = 0.45f};
    cairn_mesh_id field = 0;
    EXPECT_OK(cairn_height_field_create(world, &def, &field));
    return field;
}

static place any_place(cairn_world *world, cairn_random *random, bool is_field) {
    place p = {.world = world};
    p.pose.position = any_vec3(random, 3.0f);
    p.pose.rotation = any_turn(random);
    const cairn_mesh_id mesh = is_field ? any_field(world, random) : any_mesh(world, random);
    p.body = mesh_body(world, CAIRN_BODY_STATIC, mesh, p.pose);
    p.mesh = &world->meshes[cairn_id_index(mesh)];
    p.pose = (cairn_pose){
        .position = kit_read(world, p.body).position, .rotation = kit_read(world, p.body).rotation};
    return p;
}

static cairn_shape_def any_probe(cairn_random *random) {
    static const uint32_t kinds[] = {CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_BOX};
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = kinds[cairn_random_below(random, 3)];
    shape.radius = between(random, 0.05f, 0.5f);
    shape.half_height = between(random, 0.05f, 0.5f);
    shape.half_extents = vec3(shape.radius, shape.half_height, between(random, 0.05f, 0.5f));
    return shape;
}

// A point near the surface.
static cairn_vec3 any_point(const place *p, cairn_random *random, float height) {
    const cairn_vec3 lower = p->mesh->bounds.lower;
    const cairn_vec3 upper = p->mesh->bounds.upper;
    const float x = between(random, lower.x - 1.0f, upper.x + 1.0f);
    const float y = between(random, lower.y - height, upper.y + height);
    const float z = between(random, lower.z - 1.0f, upper.z + 1.0f);
    return pose_apply(p->pose, vec3(x, y, z));
}

// ---- Rays

typedef struct point {
    double x, y, z;
} point;

static point minus(cairn_vec3 a, cairn_vec3 b) {
    return (point){(double)a.x - (double)b.x, (double)a.y - (double)b.y, (double)a.z - (double)b.z};
}
static point cross(point a, point b) {
    return (point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static double dot(point a, point b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Moeller, Trumbore 1997; from the front. `inside`: how far inside the triangle the hit is, as the
// least of its three weights.
static bool ray_meets(
    const cairn_triangle *t, cairn_vec3 origin, cairn_vec3 way, double *fraction, double *inside) {
    const point d = {(double)way.x, (double)way.y, (double)way.z};
    const point e1 = minus(t->corners[1], t->corners[0]);
    const point e2 = minus(t->corners[2], t->corners[0]);
    const point p = cross(d, e2);
    const double determinant = dot(e1, p);
    if (determinant <= 0.0) {
        return false;
    }
    const point s = minus(origin, t->corners[0]);
    const double u = dot(s, p) / determinant;
    const point q = cross(s, e1);
    const double v = dot(d, q) / determinant;
    *fraction = dot(e2, q) / determinant;
    *inside = fmin(fmin(u, v), 1.0 - u - v);
    return true;
}

// The first hit, and the least doubt that there is about any hit that comes before or decides.
static double scan_ray(const place *p, cairn_vec3 origin, cairn_vec3 way, double *doubt) {
    const cairn_vec3 from = pose_apply_inverse(p->pose, origin);
    const cairn_vec3 by = quat_rotate_inverse(p->pose.rotation, way);
    double first = 2.0;
    *doubt = 1.0;
    for (uint32_t i = 0; i < p->mesh->triangle_count; ++i) {
        cairn_triangle t;
        double fraction = 2.0;
        double inside = -1.0;
        if (!cairn_mesh_triangle(p->mesh, i, &t) || !ray_meets(&t, from, by, &fraction, &inside) ||
            fraction < -1e-5 || fraction > 1.00001) {
            continue;
        }
        *doubt = fmin(*doubt, fabs(inside));
        *doubt = fmin(*doubt, fmin(fabs(fraction), fabs(fraction - 1.0)));
        first = inside >= 0.0 ? fmin(first, fraction) : first;
    }
    return first;
}

TEST("a ray hits what a scan of all triangles hits") {
    cairn_random random = cairn_random_of(1);
    uint32_t hits = 0;
    for (uint32_t i = 0; i < 24; ++i) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        const place p = any_place(world, &random, i % 2 != 0);
        for (uint32_t k = 0; k < 200; ++k) {
            const cairn_vec3 origin = any_point(&p, &random, 2.0f);
            const cairn_vec3 way = k % 4 == 0 ? any_vec3(&random, 8.0f)
                                              : vec3_sub(any_point(&p, &random, 2.0f), origin);
            const cairn_query_filter filter = cairn_query_filter_default();
            cairn_ray_hit hit;
            double doubt = 0.0;
            const double wanted = scan_ray(&p, origin, way, &doubt);
            const bool met = cairn_world_ray_closest(world, origin, way, &filter, &hit) == CAIRN_OK;
            if (doubt < 1e-4) {
                continue; // the scan itself cannot tell
            }
            assert_int_equal(met, wanted <= 1.0);
            assert_int_equal(met, cairn_world_ray_any(world, origin, way, &filter));
            if (met) {
                ++hits;
                EXPECT_MEASURED(hit.fraction, (float)wanted, 1e-4f);
                assert_true(vec3_dot(hit.normal, way) < 0.0f);
            }
        }
    }
    assert_true(hits > 800);
}

// ---- Distances, casts, overlaps

typedef struct scan {
    float distance;
    float fraction; // of a cast; 2: no hit
    bool overlaps;
} scan;

static scan scan_shape(
    const place *p, const cairn_shape_def *probe, cairn_pose pose, cairn_vec3 way) {
    const cairn_geometry geometry = cairn_geometry_of_def(probe);
    const cairn_shape_view view = {.geometry = &geometry};
    const cairn_pose identity = pose_identity();
    const cairn_pose local = {.position = pose_apply_inverse(p->pose, pose.position),
        .rotation = quat_normalize(quat_multiply(quat_conjugate(p->pose.rotation), pose.rotation))};
    const cairn_vec3 by = quat_rotate_inverse(p->pose.rotation, way);
    scan out = {.distance = 1e9f, .fraction = 2.0f};
    for (uint32_t i = 0; i < p->mesh->triangle_count; ++i) {
        cairn_triangle t;
        if (!cairn_mesh_triangle(p->mesh, i, &t)) {
            continue;
        }
        const cairn_geometry kind = {.kind = CAIRN_GEOMETRY_TRIANGLE};
        const cairn_shape_view triangle = {.geometry = &kind, .corners = t.corners};
        const float distance = cairn_shape_distance(&triangle, &identity, &view, &local).distance;
        out.distance = fminf(out.distance, distance);
        out.overlaps = out.overlaps || distance <= 0.0f;
        float fraction = 2.0f;
        cairn_vec3 normal;
        cairn_vec3 met;
        if (vec3_dot(t.normal, by) < 0.0f &&
            vec3_dot(t.normal, vec3_sub(local.position, t.corners[0])) >= 0.0f &&
            cairn_shape_cast(&triangle, &identity, &view, &local, by, &fraction, &normal, &met)) {
            out.fraction = fminf(out.fraction, fraction);
        }
    }
    return out;
}

TEST("casts, nearest points and overlaps are those of a scan of all triangles") {
    cairn_random random = cairn_random_of(2);
    uint32_t casts = 0;
    uint32_t overlaps = 0;
    for (uint32_t i = 0; i < 12; ++i) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        const place p = any_place(world, &random, i % 2 != 0);
        const cairn_query_filter filter = cairn_query_filter_default();
        for (uint32_t k = 0; k < 30; ++k) {
            const cairn_shape_def probe = any_probe(&random);
            const cairn_pose pose = {
                .position = any_point(&p, &random, 1.5f), .rotation = any_turn(&random)};
            const cairn_vec3 way = any_vec3(&random, k % 3 == 0 ? 0.3f : 6.0f);
            const scan wanted = scan_shape(&p, &probe, pose, way);
            cairn_closest closest;
            EXPECT_OK(cairn_world_closest_to_shape(world, &probe, pose, 100.0f, &filter, &closest));
            EXPECT_MEASURED(closest.distance, wanted.distance, 1e-5f);
            cairn_ray_hit hit;
            const bool met =
                cairn_world_shape_cast(world, &probe, pose, way, &filter, &hit) == CAIRN_OK;
            assert_int_equal(met, wanted.fraction <= 1.0f);
            if (met) {
                EXPECT_MEASURED(hit.fraction, wanted.fraction, 1e-5f);
                casts += hit.fraction > 0.0f ? 1u : 0u;
            }
            cairn_shape_id id = 0;
            const uint32_t found = cairn_world_overlap_shape(world, &probe, pose, &filter, &id, 1);
            assert_int_equal(found, wanted.overlaps ? 1 : 0);
            overlaps += found;
        }
    }
    assert_true(casts > 30);
    assert_true(overlaps > 40);
}

TEST("a surface has no inside, and rays do not see it from behind") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    SCOPED(mesh_grid) grid = mesh_grid_flat(5, 5, 1.0f);
    mesh_ground(world, &grid);
    const cairn_query_filter filter = cairn_query_filter_default();
    cairn_ray_hit hit;
    cairn_shape_id id = 0;
    assert_int_equal(cairn_world_ray_closest(
                         world, vec3(0.3f, -1.0f, 0.2f), vec3(0.0f, 2.0f, 0.0f), &filter, &hit),
        CAIRN_NOT_FOUND);
    EXPECT_OK(cairn_world_ray_closest(
        world, vec3(0.3f, 1.0f, 0.2f), vec3(0.0f, -2.0f, 0.0f), &filter, &hit));
    EXPECT_MEASURED(hit.fraction, 0.5f, 1e-6f);
    assert_int_equal(
        cairn_world_shapes_at_point(world, vec3(0.3f, -0.1f, 0.2f), &filter, &id, 1), 0);
    // As a probe it is refused.
    cairn_shape_def probe = cairn_shape_def_default();
    probe.kind = CAIRN_SHAPE_MESH;
    assert_int_equal(cairn_world_shape_cast(
                         world, &probe, pose_identity(), vec3(1.0f, 0.0f, 0.0f), &filter, &hit),
        CAIRN_INVALID_ARGUMENT);
}

// SPDX-License-Identifier: MIT
#include "sim/collide/mesh_collide.h"

#include "base/assert.h"
#include "sim/collide/mesh_shapes.h"

// Normals of one plane, up to rounding; round shapes have one contact for each normal, and a
// polyhedron several for nearly equal ones (2 degrees).
#define SAME_COSINE_ROUND 0.99999f
#define SAME_COSINE_POLYHEDRON 0.9994f

typedef struct visit {
    cairn_mesh_pair pair;
    bool round;
    cairn_local_capsule capsule;
    bool is_frustum;
    cairn_frustum frustum;
    cairn_convex_view polyhedron;
    cairn_segment_contacts contacts;
    cairn_mesh_points points;
} visit;

static bool collide_triangle(void *context, const cairn_triangle *source) {
    visit *v = context;
    cairn_local_triangle triangle = {.source = source};
    for (uint32_t i = 0; i < 3; ++i) {
        triangle.corners[i] = mesh_point_to_shape(&v->pair, source->corners[i]);
    }
    triangle.normal = mat3_apply_transposed(v->pair.rotation, source->normal);
    if (v->round) {
        cairn_collide_capsule_triangle(&v->pair, &v->capsule, &triangle, &v->contacts);
    } else if (v->is_frustum) {
        cairn_collide_frustum_triangle(&v->pair, &v->frustum, &triangle, &v->points);
    } else {
        cairn_collide_polyhedron_triangle(&v->pair, &v->polyhedron, &triangle, &v->points);
    }
    return true;
}

void cairn_collide_mesh(const cairn_mesh *mesh, const cairn_shape_view *shape,
    const cairn_pose *shape_in_mesh, float margin, cairn_manifold_set *out) {
    const cairn_geometry *geometry = shape->geometry;
    CAIRN_ASSERT(margin >= 0.0f && mesh->kind != 0);
    cairn_convex_box box;
    visit v;
    v.pair = (cairn_mesh_pair){.mesh = mesh,
        .rotation = mat3_of_quat(shape_in_mesh->rotation),
        .offset = shape_in_mesh->position,
        .margin = margin};
    v.round = geometry->kind == CAIRN_SHAPE_SPHERE || geometry->kind == CAIRN_SHAPE_CAPSULE;
    v.is_frustum = cairn_geometry_is_frustum(geometry);
    v.contacts.count = 0;
    v.points.count = 0;
    v.points.same_cosine = v.round ? SAME_COSINE_ROUND : SAME_COSINE_POLYHEDRON;
    if (v.round) {
        const float half = geometry->kind == CAIRN_SHAPE_CAPSULE ? geometry->half_height : 0.0f;
        v.capsule =
            (cairn_local_capsule){.half = vec3(0.0f, half, 0.0f), .radius = geometry->radius};
    } else if (v.is_frustum) {
        v.frustum = cairn_frustum_of(geometry);
    } else {
        v.polyhedron = cairn_convex_view_of(shape, &box);
    }
    cairn_aabb near = cairn_shape_view_aabb(shape, shape_in_mesh);
    const cairn_vec3 reach = vec3(margin, margin, margin);
    near.lower = vec3_sub(near.lower, reach);
    near.upper = vec3_add(near.upper, reach);
    cairn_mesh_visit(mesh, &near, collide_triangle, &v);
    if (v.round) {
        cairn_segment_contacts_finish(&v.pair, &v.contacts, &v.points);
    }
    cairn_mesh_points_finish(&v.points, out);
}

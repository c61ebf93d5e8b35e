// SPDX-License-Identifier: MIT

// The golden scene of meshes and height fields.

#include <string.h>

#include "base/assert.h"
#include "sim/math/vec.h"
#include "tests/sim/golden_scenes.h"

// A bumpy mesh, or a height field with a hole, 8 m wide about the origin of its frame.
static cairn_mesh_id any_surface(cairn_world *world, uint64_t seed, bool is_field) {
    cairn_vec3 vertices[81];
    uint32_t indices[6 * 64];
    float heights[81];
    cairn_mesh_id mesh = 0;
    for (uint32_t i = 0; i < 81; ++i) {
        const float height = 0.3f * golden_draw(seed, i, 1, 0);
        heights[i] = i == 12 ? CAIRN_HEIGHT_HOLE : height;
        vertices[i] = vec3((float)(i % 9) - 4.0f, height, (float)(i / 9) - 4.0f);
    }
    for (uint32_t i = 0; i < 64; ++i) {
        const uint32_t a = i / 8 * 9 + i % 8;
        const uint32_t cell[6] = {a, a + 9, a + 10, a, a + 10, a + 1};
        memcpy(indices + 6 * i, cell, sizeof cell);
    }
    const cairn_height_field_def field = {
        .heights = heights, .columns = 9, .rows = 9, .spacing_x = 1.0f, .spacing_z = 1.0f};
    const cairn_mesh_def def = {
        .vertices = vertices, .vertex_count = 81, .indices = indices, .triangle_count = 128};
    const cairn_status status = is_field ? cairn_height_field_create(world, &field, &mesh)
                                         : cairn_mesh_create(world, &def, &mesh);
    CAIRN_ASSERT(status == CAIRN_OK);
    return mesh;
}

static cairn_body_id place_surface(
    cairn_world *world, uint32_t kind, cairn_mesh_id mesh, bool is_field, cairn_vec3 at) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = is_field ? CAIRN_SHAPE_HEIGHT_FIELD : CAIRN_SHAPE_MESH;
    shape.mesh = mesh;
    return golden_place(world, kind, at, quat_identity(), &shape);
}

static cairn_hull_id any_wedge(cairn_world *world) {
    const float s = 0.25f;
    const cairn_vec3 points[6] = {{-0.5f, -s, -s}, {0.5f, -s, -s}, {-0.5f, -s, s}, {0.5f, -s, s},
        {-0.5f, s, 0}, {0.5f, s, 0}};
    cairn_hull_id hull = 0;
    (void)cairn_hull_create(world, points, 6, &hull);
    CAIRN_ASSERT(hull != 0);
    return hull;
}

// Shapes of all kinds on a mesh, on a height field, and on a mesh that turns.
void golden_build_meshes(cairn_world *world) {
    const cairn_mesh_id mesh = any_surface(world, 8, false);
    (void)place_surface(world, CAIRN_BODY_STATIC, mesh, false, vec3_zero());
    (void)place_surface(
        world, CAIRN_BODY_STATIC, any_surface(world, 9, true), true, vec3(4.0f, 0.0f, -4.0f));
    const cairn_body_id plate =
        place_surface(world, CAIRN_BODY_KINEMATIC, mesh, false, vec3(-8.0f, 0.0f, 0.0f));
    (void)cairn_body_set_velocity(world, plate, vec3_zero(), vec3(0.0f, 0.5f, 0.0f));
    const cairn_hull_id hull = any_wedge(world);
    static const uint32_t kinds[] = {CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_BOX,
        CAIRN_SHAPE_HULL, CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CONE};
    for (uint32_t i = 0; i < 36; ++i) {
        cairn_shape_def shape = cairn_shape_def_default();
        shape.kind = kinds[i / 3 % 6];
        shape.radius = 0.25f + 0.1f * golden_draw(8, i, 1, 5);
        shape.half_height = 0.25f + 0.1f * golden_draw(8, i, 1, 6);
        shape.half_extents = vec3(shape.radius, shape.half_height, 0.3f);
        shape.hull = shape.kind == CAIRN_SHAPE_HULL ? hull : 0;
        const cairn_vec3 at = vec3((float)(i % 3) * 8.0f - 8.0f + 2.0f * golden_draw(8, i, 2, 6),
            1.0f + 0.2f * (float)(i / 3), 2.0f * golden_draw(8, i, 2, 7));
        const cairn_quat turn = {.x = golden_draw(8, i, 3, 0),
            .y = golden_draw(8, i, 3, 1),
            .z = golden_draw(8, i, 3, 2),
            .w = 1.25f};
        (void)golden_place(world, CAIRN_BODY_DYNAMIC, at, turn, &shape);
    }
}

// Replaces the height field, so that its blocks are freed and taken again.
void golden_disturb_meshes(cairn_world *world, uint64_t tick) {
    cairn_mesh_id meshes[4];
    cairn_body_state bodies[2];
    if (tick % 60 != 59 || cairn_world_meshes(world, meshes, 4) < 2 ||
        cairn_world_bodies(world, bodies, 2) < 2) {
        return;
    }
    (void)cairn_body_destroy(world, bodies[1].id);
    (void)cairn_mesh_destroy(world, meshes[1]);
    const cairn_mesh_id field = any_surface(world, tick, true);
    (void)place_surface(world, CAIRN_BODY_STATIC, field, true, vec3(4.0f, 0.0f, -4.0f));
}

// SPDX-License-Identifier: MIT
#pragma once

// Surfaces of triangles that the tests share.

#include "tests/physics/measured.h"
#include "tests/sim/world_kit.h"

#include <math.h>

// Room for meshes of some ten thousand triangles.
static inline cairn_world_def mesh_world_def(void) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = def.shape_capacity = def.contact_capacity = 512;
    def.joint_capacity = def.hull_capacity = 8;
    def.mesh_block_capacity = 4096;
    return def;
}

// A grid of columns * rows vertices, two triangles in each cell.
typedef struct mesh_grid {
    cairn_vec3 *vertices;
    uint32_t *indices;
    uint32_t columns;
    uint32_t rows;
} mesh_grid;

static inline cairn_mesh_def mesh_grid_def(const mesh_grid *grid) {
    return (cairn_mesh_def){.vertices = grid->vertices,
        .vertex_count = grid->columns * grid->rows,
        .indices = grid->indices,
        .triangle_count = 2 * (grid->columns - 1) * (grid->rows - 1)};
}

static inline void mesh_grid_free(mesh_grid *grid) {
    free(grid->vertices);
    free(grid->indices);
}
SCOPE_ENDS(mesh_grid, mesh_grid_free)

// In the plane y = 0, about the origin. The diagonals alternate, so that corners of four and of
// eight triangles occur.
static inline mesh_grid mesh_grid_flat(uint32_t columns, uint32_t rows, float spacing) {
    mesh_grid grid = {.vertices = calloc((size_t)columns * rows, sizeof(cairn_vec3)),
        .indices = calloc((size_t)6 * (columns - 1) * (rows - 1), sizeof(uint32_t)),
        .columns = columns,
        .rows = rows};
    for (uint32_t i = 0; i < columns * rows; ++i) {
        grid.vertices[i] = vec3(((float)(i % columns) - 0.5f * (float)(columns - 1)) * spacing,
            0.0f, ((float)(i / columns) - 0.5f * (float)(rows - 1)) * spacing);
    }
    uint32_t *index = grid.indices;
    for (uint32_t row = 0; row + 1 < rows; ++row) {
        for (uint32_t column = 0; column + 1 < columns; ++column) {
            const uint32_t a = row * columns + column;
            const uint32_t b = a + 1;
            const uint32_t c = a + columns;
            const uint32_t d = c + 1;
            const bool turned = (row + column) % 2 != 0;
            const uint32_t cell[2][6] = {{a, c, d, a, d, b}, {a, c, b, b, c, d}};
            for (uint32_t k = 0; k < 6; ++k) {
                *index++ = cell[turned ? 1 : 0][k];
            }
        }
    }
    return grid;
}

static inline cairn_mesh_id mesh_of(cairn_world *world, const mesh_grid *grid) {
    const cairn_mesh_def def = mesh_grid_def(grid);
    cairn_mesh_id mesh = 0;
    EXPECT_OK(cairn_mesh_create(world, &def, &mesh));
    return mesh;
}

// A body of this kind with the mesh or height field as its shape.
static inline cairn_body_id mesh_body(
    cairn_world *world, uint32_t body_kind, cairn_mesh_id mesh, cairn_pose pose) {
    cairn_mesh_info info;
    EXPECT_OK(cairn_mesh_info_read(world, mesh, &info));
    cairn_body_def def = cairn_body_def_default();
    def.kind = body_kind;
    def.position = pose.position;
    def.rotation = pose.rotation;
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = info.kind == CAIRN_MESH_HEIGHTS ? CAIRN_SHAPE_HEIGHT_FIELD : CAIRN_SHAPE_MESH;
    shape.mesh = mesh;
    return kit_body(world, &def, &shape);
}

static inline cairn_body_id mesh_ground(cairn_world *world, const mesh_grid *grid) {
    return mesh_body(world, CAIRN_BODY_STATIC, mesh_of(world, grid), pose_identity());
}

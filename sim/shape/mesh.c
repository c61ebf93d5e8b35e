// SPDX-License-Identifier: MIT
#include "sim/shape/mesh.h"

#include "base/assert.h"

// An edge is flat if the far corner of the neighbour is at most this fraction of its distance from
// the edge above or below the triangle's plane: half a degree.
#define FLAT_SLOPE 0.01f
// Levels of the tree (sim/shape/mesh_build.c).
#define DEPTH_MAX 96

static bool boxes_overlap(cairn_vec3 lower, cairn_vec3 upper, const cairn_aabb *box) {
    return ((uint32_t)(lower.x <= box->upper.x) & (uint32_t)(box->lower.x <= upper.x) &
               (uint32_t)(lower.y <= box->upper.y) & (uint32_t)(box->lower.y <= upper.y) &
               (uint32_t)(lower.z <= box->upper.z) & (uint32_t)(box->lower.z <= upper.z)) != 0;
}

static void set_normal(cairn_triangle *triangle) {
    const cairn_vec3 *c = triangle->corners;
    triangle->normal = vec3_normalize(
        vec3_cross(vec3_sub(c[1], c[0]), vec3_sub(c[2], c[0])), vec3(0.0f, 1.0f, 0.0f));
}

// ---- Height fields

static bool is_hole(float height) {
    return height == CAIRN_HEIGHT_HOLE;
}

static float height_at(const cairn_mesh *field, uint32_t column, uint32_t row) {
    CAIRN_ASSERT(column < field->columns && row < field->rows);
    return field->heights[row * field->columns + column];
}

static cairn_vec3 sample_at(const cairn_mesh *field, uint32_t column, uint32_t row) {
    return vec3((float)column * field->spacing_x, height_at(field, column, row),
        (float)row * field->spacing_z);
}

static bool cell_is_hole(const cairn_mesh *field, uint32_t column, uint32_t row) {
    return is_hole(height_at(field, column, row)) || is_hole(height_at(field, column + 1, row)) ||
           is_hole(height_at(field, column, row + 1)) ||
           is_hole(height_at(field, column + 1, row + 1));
}

// The diagonal of a cell goes from its first sample to its last. The even triangle is on the side
// of the next row, the odd one on the side of the next column.
static bool height_triangle(const cairn_mesh *field, uint32_t index, cairn_triangle *out) {
    const uint32_t cell = index / 2;
    const uint32_t column = cell % (field->columns - 1);
    const uint32_t row = cell / (field->columns - 1);
    CAIRN_ASSERT(row + 1 < field->rows);
    if (cell_is_hole(field, column, row)) {
        return false;
    }
    const cairn_vec3 last = sample_at(field, column + 1, row + 1);
    const bool even = index % 2 == 0;
    out->index = index;
    out->corners[0] = sample_at(field, column, row);
    out->corners[1] = even ? sample_at(field, column, row + 1) : last;
    out->corners[2] = even ? last : sample_at(field, column + 1, row);
    set_normal(out);
    return true;
}

static uint32_t height_neighbour(const cairn_mesh *field, uint32_t index, uint32_t edge) {
    const uint32_t width = field->columns - 1;
    const uint32_t cell = index / 2;
    const uint32_t column = cell % width;
    const uint32_t row = cell / width;
    const bool even = index % 2 == 0;
    if (edge == (even ? 2u : 0u)) {
        return index ^ 1u;
    }
    if (edge == (even ? 0u : 1u)) { // across a side of constant x
        const bool inside = even ? column > 0 : column + 1 < width;
        return !inside ? CAIRN_TRIANGLE_NONE : even ? 2 * (cell - 1) + 1 : 2 * (cell + 1);
    }
    const bool inside = even ? row + 2 < field->rows : row > 0;
    return !inside ? CAIRN_TRIANGLE_NONE : even ? 2 * (cell + width) + 1 : 2 * (cell - width);
}

// The cells that [lower, upper] meets along one axis; false if there are none.
static bool cells_between(
    float lower, float upper, float spacing, uint32_t cells, uint32_t *first, uint32_t *last) {
    const float size = (float)cells * spacing;
    if (!(upper >= 0.0f) || !(lower <= size)) {
        return false;
    }
    const float from = float_clamp(lower, 0.0f, size) / spacing;
    const float to = float_clamp(upper, 0.0f, size) / spacing;
    *first = (uint32_t)from < cells ? (uint32_t)from : cells - 1;
    *last = (uint32_t)to < cells ? (uint32_t)to : cells - 1;
    // The quotient may be rounded up to the next cell.
    *first -= *first > 0 && (float)*first == from ? 1u : 0u;
    return true;
}

static bool cell_overlaps(
    const cairn_mesh *field, uint32_t column, uint32_t row, const cairn_aabb *box) {
    const float a = height_at(field, column, row);
    const float b = height_at(field, column + 1, row);
    const float c = height_at(field, column, row + 1);
    const float d = height_at(field, column + 1, row + 1);
    return float_min(float_min(a, b), float_min(c, d)) <= box->upper.y &&
           float_max(float_max(a, b), float_max(c, d)) >= box->lower.y;
}

static void visit_cells(
    const cairn_mesh *field, const cairn_aabb *box, cairn_triangle_visitor *visit, void *context) {
    uint32_t columns[2];
    uint32_t rows[2];
    if (!cells_between(box->lower.x, box->upper.x, field->spacing_x, field->columns - 1,
            &columns[0], &columns[1]) ||
        !cells_between(
            box->lower.z, box->upper.z, field->spacing_z, field->rows - 1, &rows[0], &rows[1])) {
        return;
    }
    for (uint32_t row = rows[0]; row <= rows[1]; ++row) {
        for (uint32_t column = columns[0]; column <= columns[1]; ++column) {
            const uint32_t cell = row * (field->columns - 1) + column;
            cairn_triangle triangle;
            if (!cell_overlaps(field, column, row, box) ||
                !height_triangle(field, 2 * cell, &triangle)) {
                continue;
            }
            if (!visit(context, &triangle)) {
                return;
            }
            (void)height_triangle(field, 2 * cell + 1, &triangle);
            if (!visit(context, &triangle)) {
                return;
            }
        }
    }
}

void cairn_height_field_derive(cairn_mesh *field) {
    CAIRN_ASSERT(field->kind == CAIRN_MESH_HEIGHTS && field->columns >= 2 && field->rows >= 2);
    float lower = CAIRN_SHAPE_SIZE_MAX;
    float upper = 0.0f - CAIRN_SHAPE_SIZE_MAX;
    for (uint32_t i = 0; i < field->columns * field->rows; ++i) {
        const float height = field->heights[i];
        lower = is_hole(height) ? lower : float_min(lower, height);
        upper = is_hole(height) ? upper : float_max(upper, height);
    }
    field->triangle_count = 2 * (field->columns - 1) * (field->rows - 1);
    field->bounds = (cairn_aabb){.lower = vec3(0.0f, lower <= upper ? lower : 0.0f, 0.0f),
        .upper = vec3((float)(field->columns - 1) * field->spacing_x, lower <= upper ? upper : 0.0f,
            (float)(field->rows - 1) * field->spacing_z)};
}

const char *cairn_heights_refusal(
    const float *heights, uint32_t columns, uint32_t rows, float spacing_x, float spacing_z) {
    if (columns < 2 || rows < 2) {
        return "a height field has at least 2 x 2 samples";
    }
    if (columns > CAIRN_HEIGHT_FIELD_SIDE_MAX || rows > CAIRN_HEIGHT_FIELD_SIDE_MAX) {
        return "the height field has too many samples";
    }
    if (!(spacing_x >= CAIRN_SHAPE_SIZE_MIN) || !(spacing_z >= CAIRN_SHAPE_SIZE_MIN) ||
        !((float)(columns - 1) * spacing_x <= CAIRN_SHAPE_SIZE_MAX) ||
        !((float)(rows - 1) * spacing_z <= CAIRN_SHAPE_SIZE_MAX)) {
        return "the spacing of the height field is out of range";
    }
    for (uint32_t i = 0; i < columns * rows; ++i) {
        if (!float_finite(heights[i])) {
            return "a height is not a number";
        }
        if (float_abs(heights[i]) > CAIRN_SHAPE_SIZE_MAX && !is_hole(heights[i])) {
            return "a height is too large";
        }
    }
    return NULL;
}

// ---- Meshes

bool cairn_triangle_has_area(cairn_vec3 a, cairn_vec3 b, cairn_vec3 c) {
    const cairn_vec3 ab = vec3_sub(b, a);
    const cairn_vec3 ac = vec3_sub(c, a);
    const float longest = float_max(vec3_length_squared(ab),
        float_max(vec3_length_squared(ac), vec3_length_squared(vec3_sub(c, b))));
    const float twice_area = vec3_length(vec3_cross(ab, ac));
    return longest > 0.0f && twice_area > CAIRN_TRIANGLE_HEIGHT_MIN * longest;
}

const char *cairn_mesh_arrays_refusal(
    const cairn_vec3 *vertices, uint32_t vertex_count, const uint32_t *indices, uint32_t count) {
    if (vertex_count < 3 || count < 1) {
        return "a mesh has at least one triangle";
    }
    if (vertex_count > CAIRN_MESH_VERTICES_MAX || count > CAIRN_MESH_TRIANGLES_MAX) {
        return "the mesh has too many vertices or triangles";
    }
    for (uint32_t i = 0; i < vertex_count; ++i) {
        const cairn_vec3 size = vec3_abs(vertices[i]);
        if (!vec3_finite(vertices[i])) {
            return "a coordinate is not a number";
        }
        if (size.x > CAIRN_SHAPE_SIZE_MAX || size.y > CAIRN_SHAPE_SIZE_MAX ||
            size.z > CAIRN_SHAPE_SIZE_MAX) {
            return "a coordinate is too large";
        }
    }
    bool has_area = false;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t *corner = &indices[3 * i];
        if (corner[0] >= vertex_count || corner[1] >= vertex_count || corner[2] >= vertex_count) {
            return "an index is not that of a vertex";
        }
        has_area = has_area || cairn_triangle_has_area(
                                   vertices[corner[0]], vertices[corner[1]], vertices[corner[2]]);
    }
    return has_area ? NULL : "no triangle has an area";
}

bool cairn_mesh_triangle(const cairn_mesh *mesh, uint32_t index, cairn_triangle *out) {
    CAIRN_ASSERT(index < mesh->triangle_count);
    if (mesh->kind == CAIRN_MESH_HEIGHTS) {
        return height_triangle(mesh, index, out);
    }
    out->index = index;
    for (uint32_t i = 0; i < 3; ++i) {
        CAIRN_ASSERT(mesh->indices[3 * index + i] < mesh->vertex_count);
        out->corners[i] = mesh->vertices[mesh->indices[3 * index + i]];
    }
    set_normal(out);
    return true;
}

cairn_triangle_edge cairn_mesh_edge(
    const cairn_mesh *mesh, const cairn_triangle *triangle, uint32_t edge) {
    CAIRN_ASSERT(edge < 3);
    cairn_triangle_edge out = {.kind = CAIRN_TRIANGLE_EDGE_OPEN};
    const uint32_t neighbour = mesh->kind == CAIRN_MESH_HEIGHTS
                                   ? height_neighbour(mesh, triangle->index, edge)
                                   : mesh->neighbours[3 * triangle->index + edge];
    cairn_triangle other;
    if (neighbour == CAIRN_TRIANGLE_NONE || !cairn_mesh_triangle(mesh, neighbour, &other)) {
        return out;
    }
    // The corner of the neighbour that is not on the edge is the farthest from it.
    const cairn_vec3 from = triangle->corners[edge];
    const cairn_vec3 along = vec3_sub(triangle->corners[edge == 2 ? 0 : edge + 1], from);
    float farthest_squared = -1.0f;
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_vec3 arm = vec3_sub(other.corners[i], from);
        const float squared = vec3_length_squared(vec3_cross(along, arm));
        out.far_corner = squared > farthest_squared ? other.corners[i] : out.far_corner;
        farthest_squared = float_max(squared, farthest_squared);
    }
    const float distance = float_sqrt(farthest_squared / vec3_length_squared(along));
    const float rise = vec3_dot(triangle->normal, vec3_sub(out.far_corner, from));
    out.kind = rise < 0.0f - FLAT_SLOPE * distance ? CAIRN_TRIANGLE_EDGE_CONVEX
                                                   : CAIRN_TRIANGLE_EDGE_SMOOTH;
    return out;
}

static bool triangle_overlaps(const cairn_triangle *triangle, const cairn_aabb *box) {
    const cairn_vec3 *c = triangle->corners;
    return boxes_overlap(
        vec3_min(c[0], vec3_min(c[1], c[2])), vec3_max(c[0], vec3_max(c[1], c[2])), box);
}

static bool visit_leaf(const cairn_mesh *mesh, const cairn_mesh_node *leaf, const cairn_aabb *box,
    cairn_triangle_visitor *visit, void *context) {
    for (uint32_t i = 0; i < leaf->count; ++i) {
        cairn_triangle triangle;
        (void)cairn_mesh_triangle(mesh, mesh->order[leaf->first + i], &triangle);
        if (triangle_overlaps(&triangle, box) && !visit(context, &triangle)) {
            return false;
        }
    }
    return true;
}

void cairn_mesh_visit(
    const cairn_mesh *mesh, const cairn_aabb *box, cairn_triangle_visitor *visit, void *context) {
    if (mesh->kind == CAIRN_MESH_HEIGHTS) {
        visit_cells(mesh, box, visit, context);
        return;
    }
    uint32_t stack[DEPTH_MAX];
    uint32_t depth = 1;
    stack[0] = 0;
    while (depth > 0) {
        const uint32_t index = stack[--depth];
        const cairn_mesh_node *node = &mesh->nodes[index];
        if (!boxes_overlap(node->lower, node->upper, box)) {
            continue;
        }
        if (node->count > 0) {
            if (!visit_leaf(mesh, node, box, visit, context)) {
                return;
            }
            continue;
        }
        CAIRN_ASSERT(depth + 2 <= DEPTH_MAX);
        stack[depth++] = node->first;
        stack[depth++] = index + 1;
    }
}

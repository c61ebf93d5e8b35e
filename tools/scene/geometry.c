// SPDX-License-Identifier: MIT
#include "tools/scene/geometry.h"

#include <stdlib.h>

#include <cairn/math.h>

enum { SIDES = 24, RINGS = 8 };
#define PLANE_HALF 100.0f
#define TURN 6.28318531f

static void *grown(
    cairn_triangles *t, void *array, uint32_t count, uint32_t *capacity, size_t size) {
    if (count < *capacity || t->out_of_memory) {
        return array;
    }
    const uint32_t wanted = *capacity == 0 ? 256 : 2 * *capacity;
    void *wider = wanted <= *capacity ? NULL : realloc(array, wanted * size);
    t->out_of_memory = wider == NULL;
    *capacity = wider == NULL ? *capacity : wanted;
    return wider == NULL ? array : wider;
}

static void add_vertex(cairn_triangles *t, float x, float y, float z) {
    t->vertices = grown(t, t->vertices, t->vertex_count, &t->vertex_capacity, sizeof *t->vertices);
    if (!t->out_of_memory) {
        t->vertices[t->vertex_count++] = cairn_vec3_of(x, y, z);
    }
}

static void add_index(cairn_triangles *t, uint32_t index) {
    t->indices = grown(t, t->indices, t->index_count, &t->index_capacity, sizeof *t->indices);
    if (!t->out_of_memory) {
        t->indices[t->index_count++] = index;
    }
}

static void add_triangle(cairn_triangles *t, uint32_t a, uint32_t b, uint32_t c) {
    add_index(t, a);
    add_index(t, b);
    add_index(t, c);
}

static void add_box(cairn_triangles *t, cairn_vec3 half) {
    static const uint8_t quads[6][4] = {
        {0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    const uint32_t first = t->vertex_count;
    for (uint32_t i = 0; i < 8; ++i) {
        add_vertex(t, (i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
            (i & 4) != 0 ? half.z : -half.z);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        add_triangle(t, first + quads[i][0], first + quads[i][1], first + quads[i][2]);
        add_triangle(t, first + quads[i][0], first + quads[i][2], first + quads[i][3]);
    }
}

// A surface of revolution about y: rings of radius r[i] at height y[i], from the top down.
static void add_rings(cairn_triangles *t, const float *r, const float *y, uint32_t count) {
    const uint32_t first = t->vertex_count;
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = 0; k < SIDES; ++k) {
            const float angle = TURN * (float)k / SIDES;
            add_vertex(t, r[i] * cairn_float_cos(angle), y[i], r[i] * cairn_float_sin(angle));
        }
    }
    for (uint32_t i = 0; i + 1 < count; ++i) {
        for (uint32_t k = 0; k < SIDES; ++k) {
            const uint32_t a = first + i * SIDES + k, b = first + i * SIDES + (k + 1) % SIDES;
            if (r[i] > 0.0f) {
                add_triangle(t, a, b, a + SIDES);
            }
            if (r[i + 1] > 0.0f) {
                add_triangle(t, b, b + SIDES, a + SIDES);
            }
        }
    }
}

// A sphere, or two halves of one that are 2 * half_height apart.
static void add_capsule(cairn_triangles *t, float radius, float half_height) {
    float r[2 * RINGS + 2], y[2 * RINGS + 2];
    uint32_t count = 0;
    for (uint32_t half = 0; half < 2; ++half) {
        for (uint32_t i = 0; i <= RINGS; ++i) {
            const float angle = TURN * 0.25f * (float)(i + half * RINGS) / RINGS;
            const bool pole = (half == 0 && i == 0) || (half == 1 && i == RINGS);
            r[count] = pole ? 0.0f : radius * cairn_float_sin(angle);
            y[count] = radius * cairn_float_cos(angle) + (half == 0 ? half_height : -half_height);
            count += 1;
        }
    }
    add_rings(t, r, y, count);
}

static bool all_behind(
    const cairn_vec3 *p, uint32_t count, cairn_vec3 normal, float offset, float slack) {
    for (uint32_t i = 0; i < count; ++i) {
        if (cairn_vec3_dot(p[i], normal) > offset + slack) {
            return false;
        }
    }
    return true;
}

// The corners in a plane, as a fan in the order of their angles about the first three's centre.
static void add_face(cairn_triangles *t, const cairn_vec3 *p, uint32_t count, cairn_vec3 normal,
    float offset, float slack, uint32_t first) {
    uint32_t on[CAIRN_HULL_VERTICES_MAX], on_count = 0;
    cairn_vec3 centre = cairn_vec3_zero();
    for (uint32_t i = 0; i < count; ++i) {
        if (cairn_vec3_dot(p[i], normal) >= offset - slack) {
            on[on_count++] = i;
            centre = cairn_vec3_add(centre, p[i]);
        }
    }
    centre = cairn_vec3_scale(centre, 1.0f / (float)on_count);
    const cairn_vec3 x = cairn_vec3_normalize(cairn_vec3_sub(p[on[0]], centre), normal);
    const cairn_vec3 y = cairn_vec3_cross(normal, x);
    float angles[CAIRN_HULL_VERTICES_MAX];
    for (uint32_t i = 0; i < on_count; ++i) {
        const cairn_vec3 d = cairn_vec3_sub(p[on[i]], centre);
        const float angle = cairn_float_atan2(cairn_vec3_dot(d, y), cairn_vec3_dot(d, x));
        const uint32_t corner = on[i];
        uint32_t k = i;
        for (; k > 0 && angles[k - 1] > angle; --k) {
            angles[k] = angles[k - 1];
            on[k] = on[k - 1];
        }
        angles[k] = angle;
        on[k] = corner;
    }
    for (uint32_t i = 1; i + 1 < on_count; ++i) {
        add_triangle(t, first + on[0], first + on[i], first + on[i + 1]);
    }
}

// Each plane through three corners that has all others behind it is a face; it is taken with its
// three lowest corners only.
static void add_hull(cairn_triangles *t, const cairn_vec3 *p, uint32_t count) {
    const uint32_t first = t->vertex_count;
    float size = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        add_vertex(t, p[i].x, p[i].y, p[i].z);
        size = cairn_float_max(size, cairn_vec3_length(p[i]));
    }
    const float slack = 1e-5f * size;
    for (uint32_t a = 0; a < count; ++a) {
        for (uint32_t b = a + 1; b < count; ++b) {
            for (uint32_t c = b + 1; c < count; ++c) {
                const cairn_vec3 cross =
                    cairn_vec3_cross(cairn_vec3_sub(p[b], p[a]), cairn_vec3_sub(p[c], p[a]));
                if (!(cairn_vec3_length(cross) > 1e-10f * size * size)) {
                    continue;
                }
                cairn_vec3 normal = cairn_vec3_normalize(cross, cross);
                for (int side = 0; side < 2; ++side) {
                    const float offset = cairn_vec3_dot(normal, p[a]);
                    uint32_t lower = 0; // corners in the plane before c that are not a or b
                    for (uint32_t i = 0; i < c; ++i) {
                        lower += i != a && i != b && cairn_vec3_dot(p[i], normal) >= offset - slack;
                    }
                    if (lower == 0 && all_behind(p, count, normal, offset, slack)) {
                        add_face(t, p, count, normal, offset, slack, first);
                    }
                    normal = cairn_vec3_negate(normal);
                }
            }
        }
    }
}

static void add_mesh(cairn_triangles *t, const cairn_world *world, cairn_mesh_id mesh) {
    cairn_mesh_info info;
    if (cairn_mesh_info_read(world, mesh, &info) != CAIRN_OK) {
        return;
    }
    const uint32_t first = t->vertex_count, index_count = 3 * info.triangle_count;
    cairn_vec3 *vertices = calloc((size_t)info.vertex_count + 1, sizeof *vertices);
    uint32_t *indices = calloc((size_t)index_count + 1, sizeof *indices);
    if (vertices == NULL || indices == NULL) {
        t->out_of_memory = true;
    } else if (cairn_mesh_read(world, mesh, vertices, indices) == CAIRN_OK) {
        for (uint32_t i = 0; i < info.vertex_count; ++i) {
            add_vertex(t, vertices[i].x, vertices[i].y, vertices[i].z);
        }
        for (uint32_t i = 0; i < index_count; ++i) {
            add_index(t, first + indices[i]);
        }
    }
    free(vertices);
    free(indices);
}

static void add_height_field(cairn_triangles *t, const cairn_world *world, cairn_mesh_id mesh) {
    cairn_mesh_info info;
    if (cairn_mesh_info_read(world, mesh, &info) != CAIRN_OK) {
        return;
    }
    const uint32_t first = t->vertex_count;
    float *h = calloc((size_t)info.columns * info.rows + 1, sizeof *h);
    t->out_of_memory = t->out_of_memory || h == NULL;
    if (h == NULL || cairn_height_field_read(world, mesh, h) != CAIRN_OK) {
        free(h);
        return;
    }
    const float hole = 1e29f;
    for (uint32_t i = 0; i < info.columns * info.rows; ++i) {
        add_vertex(t, (float)(i % info.columns) * info.spacing_x, h[i] < hole ? h[i] : 0.0f,
            (float)(i / info.columns) * info.spacing_z);
    }
    for (uint32_t row = 0; row + 1 < info.rows; ++row) {
        for (uint32_t column = 0; column + 1 < info.columns; ++column) {
            const uint32_t a = row * info.columns + column, b = a + 1, c = a + info.columns,
                           d = c + 1;
            if (h[a] < hole && h[d] < hole && h[c] < hole) {
                add_triangle(t, first + a, first + c, first + d);
            }
            if (h[a] < hole && h[d] < hole && h[b] < hole) {
                add_triangle(t, first + a, first + d, first + b);
            }
        }
    }
    free(h);
}

void cairn_triangles_of_shape(
    const cairn_world *world, const cairn_shape_def *shape, cairn_triangles *t) {
    const float r = shape->radius, h = shape->half_height;
    cairn_vec3 corners[CAIRN_HULL_VERTICES_MAX];
    uint32_t count;
    switch (shape->kind) {
    case CAIRN_SHAPE_SPHERE:
        add_capsule(t, r, 0.0f);
        return;
    case CAIRN_SHAPE_CAPSULE:
        add_capsule(t, r, h);
        return;
    case CAIRN_SHAPE_BOX:
        add_box(t, shape->half_extents);
        return;
    case CAIRN_SHAPE_CYLINDER:
        add_rings(t, (const float[]){0.0f, r, r, 0.0f}, (const float[]){h, h, -h, -h}, 4);
        return;
    case CAIRN_SHAPE_CONE:
        add_rings(t, (const float[]){0.0f, r, 0.0f}, (const float[]){h, -h, -h}, 3);
        return;
    case CAIRN_SHAPE_HALF_SPACE: {
        const uint32_t first = t->vertex_count;
        for (uint32_t i = 0; i < 4; ++i) {
            add_vertex(t, (i & 1) != 0 ? PLANE_HALF : -PLANE_HALF, 0.0f,
                (i & 2) != 0 ? PLANE_HALF : -PLANE_HALF);
        }
        add_triangle(t, first, first + 2, first + 3);
        add_triangle(t, first, first + 3, first + 1);
        return;
    }
    case CAIRN_SHAPE_HULL:
        if (cairn_hull_read(world, shape->hull, corners, &count) == CAIRN_OK) {
            add_hull(t, corners, count);
        }
        return;
    case CAIRN_SHAPE_MESH:
        add_mesh(t, world, shape->mesh);
        return;
    default:
        add_height_field(t, world, shape->mesh);
        return;
    }
}

void cairn_triangles_destroy(cairn_triangles *t) {
    free(t->vertices);
    free(t->indices);
    *t = (cairn_triangles){0};
}

// SPDX-License-Identifier: MIT

// What follows from the vertices and indices of a mesh: its tree and its neighbours. Every order is
// total, so all machines build the same. Linear in the number of triangles, but for the tree and
// the search for equal vertices, which take n log n.

#include <string.h>

#include "base/assert.h"
#include "sim/shape/mesh.h"

#define LEAF_TRIANGLES_MAX 4
// A node deeper than this is split by count, which ends after twenty more levels.
#define DEPTH_BY_PLACE_MAX 64

// ---- Neighbours

// Whether vertex i comes before k, by coordinates, then index.
static bool vertex_before(const cairn_vec3 *vertices, uint32_t i, uint32_t k) {
    const cairn_vec3 a = vertices[i];
    const cairn_vec3 b = vertices[k];
    if (a.x != b.x) {
        return a.x < b.x;
    }
    if (a.y != b.y) {
        return a.y < b.y;
    }
    return a.z != b.z ? a.z < b.z : i < k;
}

// Bottom-up merge sort. Returns the array that holds the result: `list` or `spare`.
static uint32_t *sort_vertices(
    const cairn_vec3 *vertices, uint32_t count, uint32_t *list, uint32_t *spare) {
    for (uint32_t i = 0; i < count; ++i) {
        list[i] = i;
    }
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            const uint32_t middle = begin + width < count ? begin + width : count;
            const uint32_t end = begin + 2 * width < count ? begin + 2 * width : count;
            uint32_t left = begin;
            uint32_t right = middle;
            for (uint32_t at = begin; at < end; ++at) {
                const bool take_right =
                    left == middle ||
                    (right < end && vertex_before(vertices, list[right], list[left]));
                spare[at] = list[take_right ? right++ : left++];
            }
        }
        uint32_t *const sorted = spare;
        spare = list;
        list = sorted;
    }
    return list;
}

static bool same_place(cairn_vec3 a, cairn_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Vertices in one place count as the first of them: exporters write a vertex once for each face.
static void name_vertices(
    const cairn_mesh *mesh, uint32_t *names, uint32_t *list, uint32_t *spare) {
    const uint32_t *sorted = sort_vertices(mesh->vertices, mesh->vertex_count, list, spare);
    for (uint32_t i = 0; i < mesh->vertex_count; ++i) {
        const bool again =
            i > 0 && same_place(mesh->vertices[sorted[i]], mesh->vertices[sorted[i - 1]]);
        names[sorted[i]] = again ? names[sorted[i - 1]] : sorted[i];
    }
}

// An edge of a triangle, 3 t + i, with the names of its two vertices.
static uint32_t edge_from(const cairn_mesh *mesh, const uint32_t *names, uint32_t edge) {
    return names[mesh->indices[edge]];
}

static uint32_t edge_to(const cairn_mesh *mesh, const uint32_t *names, uint32_t edge) {
    return names[mesh->indices[edge % 3 == 2 ? edge - 2 : edge + 1]];
}

// A stable counting sort of edges by their lower or higher vertex. `starts` has a word for each
// vertex.
static void sort_edges(const cairn_mesh *mesh, const uint32_t *names, bool by_higher,
    const uint32_t *from, uint32_t *to, uint32_t *starts) {
    const uint32_t count = 3 * mesh->triangle_count;
    memset(starts, 0, mesh->vertex_count * sizeof *starts);
    for (uint32_t pass = 0; pass < 2; ++pass) {
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t a = edge_from(mesh, names, from[i]);
            const uint32_t b = edge_to(mesh, names, from[i]);
            const uint32_t key = (a < b) == by_higher ? b : a;
            if (pass == 0) {
                starts[key] += 1;
            } else {
                to[starts[key]++] = from[i];
            }
        }
        uint32_t sum = 0;
        for (uint32_t i = 0; i < mesh->vertex_count && pass == 0; ++i) {
            const uint32_t here = starts[i];
            starts[i] = sum;
            sum += here;
        }
    }
}

// Two triangles are neighbours if an edge belongs to them alone and they run along it in opposite
// directions.
static void find_neighbours(
    cairn_mesh *mesh, const uint32_t *names, uint32_t *starts, uint32_t *first, uint32_t *second) {
    const uint32_t count = 3 * mesh->triangle_count;
    for (uint32_t i = 0; i < count; ++i) {
        first[i] = i;
        mesh->neighbours[i] = CAIRN_TRIANGLE_NONE;
    }
    sort_edges(mesh, names, true, first, second, starts);
    sort_edges(mesh, names, false, second, first, starts);
    uint32_t end = 0;
    for (uint32_t begin = 0; begin < count; begin = end) {
        const uint32_t a = edge_from(mesh, names, first[begin]);
        const uint32_t b = edge_to(mesh, names, first[begin]);
        bool opposite = false;
        for (end = begin + 1; end < count; ++end) {
            const uint32_t c = edge_from(mesh, names, first[end]);
            const uint32_t d = edge_to(mesh, names, first[end]);
            if (!((c == a && d == b) || (c == b && d == a))) {
                break;
            }
            opposite = c == b;
        }
        if (end - begin == 2 && opposite) {
            mesh->neighbours[first[begin]] = first[begin + 1] / 3;
            mesh->neighbours[first[begin + 1]] = first[begin] / 3;
        }
    }
}

// ---- The tree

static cairn_vec3 corner_of(const cairn_mesh *mesh, uint32_t triangle, uint32_t corner) {
    return mesh->vertices[mesh->indices[3 * triangle + corner]];
}

// Three times the middle of a triangle.
static cairn_vec3 middle_of(const cairn_mesh *mesh, uint32_t triangle) {
    return vec3_add(vec3_add(corner_of(mesh, triangle, 0), corner_of(mesh, triangle, 1)),
        corner_of(mesh, triangle, 2));
}

typedef struct range {
    uint32_t begin;
    uint32_t end;
    uint32_t depth;
    uint32_t parent; // whose right child it becomes; CAIRN_TRIANGLE_NONE for a left child
} range;

static void set_bounds(const cairn_mesh *mesh, const range *of, cairn_mesh_node *node) {
    node->lower = corner_of(mesh, mesh->order[of->begin], 0);
    node->upper = node->lower;
    for (uint32_t i = of->begin; i < of->end; ++i) {
        for (uint32_t k = 0; k < 3; ++k) {
            const cairn_vec3 corner = corner_of(mesh, mesh->order[i], k);
            node->lower = vec3_min(node->lower, corner);
            node->upper = vec3_max(node->upper, corner);
        }
    }
}

// Orders the triangles of a range so that those on one side of the middle come first. Returns where
// the others begin.
static uint32_t split(const cairn_mesh *mesh, const range *of) {
    const uint32_t half = of->begin + (of->end - of->begin) / 2;
    cairn_vec3 lower = middle_of(mesh, mesh->order[of->begin]);
    cairn_vec3 upper = lower;
    for (uint32_t i = of->begin + 1; i < of->end; ++i) {
        const cairn_vec3 middle = middle_of(mesh, mesh->order[i]);
        lower = vec3_min(lower, middle);
        upper = vec3_max(upper, middle);
    }
    if (of->depth >= DEPTH_BY_PLACE_MAX) {
        return half;
    }
    const uint32_t axis = vec3_largest_axis(vec3_sub(upper, lower));
    const float at = 0.5f * (vec3_component(lower, axis) + vec3_component(upper, axis));
    uint32_t left = of->begin;
    for (uint32_t i = of->begin; i < of->end; ++i) {
        const uint32_t triangle = mesh->order[i];
        if (vec3_component(middle_of(mesh, triangle), axis) < at) {
            mesh->order[i] = mesh->order[left];
            mesh->order[left++] = triangle;
        }
    }
    // A leaf must not be small without need: a node for each triangle is all the room there is.
    const bool thin = left - of->begin < 2 || of->end - left < 2;
    return thin ? half : left;
}

static void build_tree(cairn_mesh *mesh) {
    range stack[2 * DEPTH_BY_PLACE_MAX];
    uint32_t depth = 1;
    uint32_t count = 0;
    stack[0] = (range){.end = mesh->triangle_count, .parent = CAIRN_TRIANGLE_NONE};
    while (depth > 0) {
        const range here = stack[--depth];
        CAIRN_ASSERT(here.begin < here.end && count < mesh->triangle_count);
        cairn_mesh_node *node = &mesh->nodes[count];
        if (here.parent != CAIRN_TRIANGLE_NONE) {
            mesh->nodes[here.parent].first = count;
        }
        set_bounds(mesh, &here, node);
        const bool leaf = here.end - here.begin <= LEAF_TRIANGLES_MAX;
        node->first = here.begin;
        node->count = leaf ? here.end - here.begin : 0;
        if (!leaf) {
            const uint32_t middle = split(mesh, &here);
            CAIRN_ASSERT(depth + 2 <= 2 * DEPTH_BY_PLACE_MAX);
            stack[depth++] = (range){middle, here.end, here.depth + 1, count};
            stack[depth++] = (range){here.begin, middle, here.depth + 1, CAIRN_TRIANGLE_NONE};
        }
        ++count;
    }
}

void cairn_mesh_place(cairn_mesh *mesh, uint32_t *memory) {
    _Static_assert(sizeof(cairn_mesh_node) == 8 * sizeof(uint32_t), "eight words a node");
    mesh->nodes = (cairn_mesh_node *)(void *)memory;
    mesh->neighbours = memory + 8 * (size_t)mesh->triangle_count;
    mesh->order = mesh->neighbours + 3 * (size_t)mesh->triangle_count;
}

void cairn_mesh_derive(cairn_mesh *mesh, uint32_t *memory) {
    const uint32_t triangles = mesh->triangle_count;
    CAIRN_ASSERT(mesh->kind == CAIRN_MESH_TRIANGLES && triangles > 0);
    cairn_mesh_place(mesh, memory);
    uint32_t *const names = mesh->order + triangles;
    uint32_t *const list = names + mesh->vertex_count;
    // The nodes come last, so the edges are sorted in their memory.
    name_vertices(mesh, names, list, list + mesh->vertex_count);
    find_neighbours(mesh, names, list, memory, memory + 3 * (size_t)triangles);
    for (uint32_t i = 0; i < triangles; ++i) {
        mesh->order[i] = i;
    }
    build_tree(mesh);
    mesh->bounds = (cairn_aabb){.lower = mesh->nodes[0].lower, .upper = mesh->nodes[0].upper};
}

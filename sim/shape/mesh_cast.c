// SPDX-License-Identifier: MIT

// The triangles that a box meets on its way, for rays and casts.

#include "base/assert.h"
#include "sim/shape/mesh.h"

#define DEPTH_MAX 96
// Boxes are larger by this fraction of the coordinates, for rounding.
#define ROUNDING 4e-6f

// The way of the middle of a box, and how far it reaches from there.
typedef struct way {
    cairn_vec3 from;
    cairn_vec3 by;
    cairn_vec3 reach;
} way;

static float widest(cairn_vec3 v) {
    const cairn_vec3 size = vec3_abs(v);
    return float_max(size.x, float_max(size.y, size.z));
}

// The fraction of the way at which it enters the box (0: it starts inside); more than 1 if it does
// not. Slabs (Kay, Kajiya 1986).
static float enters(const way *w, cairn_vec3 lower, cairn_vec3 upper) {
    float entry = 0.0f;
    float exit = 1.0f;
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const float reach = vec3_component(w->reach, axis);
        const float from = vec3_component(w->from, axis);
        const float by = vec3_component(w->by, axis);
        const float below = vec3_component(lower, axis) - reach - from;
        const float above = vec3_component(upper, axis) + reach - from;
        if (below > 0.0f || above < 0.0f) {
            // Compares before it divides, so that a way almost along the slab does not overflow.
            const float gap = below > 0.0f ? below : 0.0f - above;
            const float approach = below > 0.0f ? by : 0.0f - by;
            if (!(approach >= gap)) {
                return 2.0f;
            }
            entry = float_max(entry, gap / approach * (1.0f - ROUNDING));
        }
        const float leaving = by > 0.0f ? above : 0.0f - below;
        if (float_abs(by) > leaving) {
            exit = float_min(exit, leaving / float_abs(by) * (1.0f + ROUNDING));
        }
    }
    return entry <= exit ? entry : 2.0f;
}

static cairn_aabb box_of_part(const way *w, float begin, float end) {
    const cairn_vec3 a = vec3_add_scaled(w->from, w->by, begin);
    const cairn_vec3 b = vec3_add_scaled(w->from, w->by, end);
    return (cairn_aabb){
        .lower = vec3_sub(vec3_min(a, b), w->reach), .upper = vec3_add(vec3_max(a, b), w->reach)};
}

// ---- Height fields

typedef struct part_visit {
    cairn_cast_visitor *visit;
    void *context;
    float bound;
} part_visit;

static bool visit_in_part(void *context, const cairn_triangle *triangle) {
    part_visit *part = context;
    part->bound = part->visit(part->context, triangle);
    return part->bound >= 0.0f;
}

// Cuts the way into parts about a cell long, each of which meets few cells.
static void cast_at_cells(
    const cairn_mesh *field, const way *w, float bound, cairn_cast_visitor *visit, void *context) {
    const float along_x = float_abs(w->by.x) / field->spacing_x;
    const float along_z = float_abs(w->by.z) / field->spacing_z;
    const float cells = float_max(along_x, along_z);
    const way back = {
        .from = vec3_add(w->from, w->by), .by = vec3_negate(w->by), .reach = w->reach};
    const float begin = enters(w, field->bounds.lower, field->bounds.upper);
    const float end = 1.0f - enters(&back, field->bounds.lower, field->bounds.upper);
    if (begin > 1.0f) {
        return;
    }
    const float step = cells > 1.0f ? 1.0f / cells : 1.0f;
    part_visit part = {.visit = visit, .context = context, .bound = bound};
    const uint32_t steps = (uint32_t)float_clamp((end - begin) / step, 0.0f, 1e6f) + 2;
    for (uint32_t i = 0; i < steps; ++i) {
        const float from = begin + (float)i * step;
        if (from > part.bound || from > 1.0f) {
            return;
        }
        const cairn_aabb box = box_of_part(w, from, float_min(from + 1.001f * step, 1.0f));
        cairn_mesh_visit(field, &box, visit_in_part, &part);
        if (part.bound < 0.0f) {
            return;
        }
    }
}

// ---- Meshes

typedef struct entry {
    uint32_t node;
    float fraction;
} entry;

static float cast_at_leaf(const cairn_mesh *mesh, const way *w, const cairn_mesh_node *leaf,
    float bound, cairn_cast_visitor *visit, void *context) {
    for (uint32_t i = 0; i < leaf->count && bound >= 0.0f; ++i) {
        cairn_triangle triangle;
        (void)cairn_mesh_triangle(mesh, mesh->order[leaf->first + i], &triangle);
        const cairn_vec3 *c = triangle.corners;
        if (enters(w, vec3_min(c[0], vec3_min(c[1], c[2])), vec3_max(c[0], vec3_max(c[1], c[2]))) <=
            bound) {
            bound = visit(context, &triangle);
        }
    }
    return bound;
}

static void cast_at_tree(
    const cairn_mesh *mesh, const way *w, float bound, cairn_cast_visitor *visit, void *context) {
    entry stack[DEPTH_MAX];
    uint32_t depth = 0;
    const float start = enters(w, mesh->nodes[0].lower, mesh->nodes[0].upper);
    stack[depth++] = (entry){.node = 0, .fraction = start};
    while (depth > 0) {
        const entry here = stack[--depth];
        const cairn_mesh_node *node = &mesh->nodes[here.node];
        if (here.fraction > bound) {
            continue;
        }
        if (node->count > 0) {
            bound = cast_at_leaf(mesh, w, node, bound, visit, context);
            if (bound < 0.0f) {
                return;
            }
            continue;
        }
        const uint32_t children[2] = {here.node + 1, node->first};
        entry entries[2];
        for (uint32_t i = 0; i < 2; ++i) {
            const cairn_mesh_node *child = &mesh->nodes[children[i]];
            entries[i] =
                (entry){.node = children[i], .fraction = enters(w, child->lower, child->upper)};
        }
        // The nearer one is visited first.
        const uint32_t nearer = entries[1].fraction < entries[0].fraction ? 1 : 0;
        CAIRN_ASSERT(depth + 2 <= DEPTH_MAX);
        stack[depth++] = entries[1 - nearer];
        stack[depth++] = entries[nearer];
    }
}

void cairn_mesh_cast(const cairn_mesh *mesh, cairn_vec3 centre, cairn_vec3 half_extents,
    cairn_vec3 translation, float bound, cairn_cast_visitor *visit, void *context) {
    const float size = float_max(widest(centre), widest(translation));
    const float rounding =
        ROUNDING * (size + widest(mesh->bounds.lower) + widest(mesh->bounds.upper));
    const way w = {.from = centre,
        .by = translation,
        .reach = vec3_add(half_extents, vec3(rounding, rounding, rounding))};
    if (mesh->kind == CAIRN_MESH_HEIGHTS) {
        cast_at_cells(mesh, &w, bound, visit, context);
    } else {
        cast_at_tree(mesh, &w, bound, visit, context);
    }
}

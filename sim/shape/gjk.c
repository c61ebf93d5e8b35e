// SPDX-License-Identifier: MIT
#include "sim/shape/gjk.h"

#include "base/assert.h"
#include "sim/shape/hull.h"

// Iterations of the distance algorithm; it ends after a few, as a rule.
#define ITERATIONS_MAX 32
// A step of the distance algorithm must bring the distance down by this fraction.
#define PROGRESS_MIN 1e-6f
// Cores nearer than this fraction of their size overlap.
#define OVERLAP_FRACTION 1e-6f
// A plane is between two cores if it is farther from them than this squared fraction of their size.
#define APART_SQUARED 1e-10f
// More than the square of any distance.
#define SQUARE_MAX 3e38f

cairn_convex_core cairn_convex_core_of(const cairn_shape_view *shape) {
    const cairn_geometry *geometry = shape->geometry;
    cairn_convex_core core = {.kind = geometry->kind};
    CAIRN_ASSERT(geometry->kind != CAIRN_SHAPE_HALF_SPACE);
    if (cairn_geometry_is_frustum(geometry)) {
        core.frustum = cairn_frustum_of(geometry);
        return core;
    }
    core.radius = geometry->radius;
    if (geometry->kind == CAIRN_GEOMETRY_TRIANGLE) {
        core.vertices = shape->corners;
        core.vertex_count = 3;
    } else if (geometry->kind == CAIRN_SHAPE_HULL) {
        core.vertices = shape->hull->vertices;
        core.vertex_count = shape->hull->vertex_count;
    } else if (geometry->kind == CAIRN_SHAPE_CAPSULE) {
        core.half_extents = vec3(0.0f, geometry->half_height, 0.0f);
    } else if (geometry->kind == CAIRN_SHAPE_BOX) {
        core.half_extents = geometry->half_extents;
    }
    return core;
}

cairn_vec3 cairn_convex_core_support(const cairn_convex_core *core, cairn_vec3 direction) {
    if (core->frustum.half_height > 0.0f) {
        return vec3_add(cairn_frustum_support(&core->frustum, direction), core->centre);
    }
    if (core->vertices == NULL) {
        const cairn_vec3 h = core->half_extents;
        return vec3(direction.x < 0.0f ? 0.0f - h.x : h.x, direction.y < 0.0f ? 0.0f - h.y : h.y,
            direction.z < 0.0f ? 0.0f - h.z : h.z);
    }
    uint32_t best = 0;
    float most = vec3_dot(core->vertices[0], direction);
    for (uint32_t i = 1; i < core->vertex_count; ++i) {
        const float along = vec3_dot(core->vertices[i], direction);
        best = along > most ? i : best;
        most = float_max(along, most);
    }
    return core->vertices[best];
}

// ---- The distance algorithm

// The vertex of the Minkowski difference b - a that is farthest along `direction`.
static cairn_gjk_vertex support_of_pair(const cairn_gjk_pair *pair, cairn_vec3 direction) {
    cairn_gjk_vertex out;
    const cairn_vec3 local = mat3_apply_transposed(pair->rotation, direction);
    out.a = cairn_convex_core_support(&pair->a, vec3_negate(direction));
    out.b = vec3_add(
        mat3_apply(pair->rotation, cairn_convex_core_support(&pair->b, local)), pair->offset);
    out.difference = vec3_sub(out.b, out.a);
    return out;
}

static void keep_one(cairn_gjk_simplex *s, uint32_t i) {
    s->vertices[0] = s->vertices[i];
    s->weights[0] = 1.0f;
    s->count = 1;
}

static void keep_two(cairn_gjk_simplex *s, uint32_t i, uint32_t k, float weight_k) {
    const cairn_gjk_vertex first = s->vertices[i];
    s->vertices[1] = s->vertices[k];
    s->vertices[0] = first;
    s->weights[0] = 1.0f - weight_k;
    s->weights[1] = weight_k;
    s->count = 2;
}

// Reduces the simplex to the part of segment i, k that is nearest to the origin. By regions, as in
// Ericson 2004, section 5.1.
static void solve_segment(cairn_gjk_simplex *s) {
    const cairn_vec3 a = s->vertices[0].difference;
    const cairn_vec3 ab = vec3_sub(s->vertices[1].difference, a);
    const float along = 0.0f - vec3_dot(a, ab);
    const float length = vec3_dot(ab, ab);
    if (along <= 0.0f) {
        keep_one(s, 0);
    } else if (along >= length) {
        keep_one(s, 1);
    } else {
        keep_two(s, 0, 1, along / length);
    }
}

// Ericson 2004, section 5.1.5, for the origin. Vertex 2 comes last, so each branch moves vertices
// to lower indices only.
static void solve_triangle(cairn_gjk_simplex *s) {
    const cairn_vec3 a = s->vertices[0].difference;
    const cairn_vec3 b = s->vertices[1].difference;
    const cairn_vec3 c = s->vertices[2].difference;
    const cairn_vec3 ab = vec3_sub(b, a);
    const cairn_vec3 ac = vec3_sub(c, a);
    const float d1 = 0.0f - vec3_dot(ab, a);
    const float d2 = 0.0f - vec3_dot(ac, a);
    const float d3 = 0.0f - vec3_dot(ab, b);
    const float d4 = 0.0f - vec3_dot(ac, b);
    const float d5 = 0.0f - vec3_dot(ab, c);
    const float d6 = 0.0f - vec3_dot(ac, c);
    const float va = d3 * d6 - d5 * d4;
    const float vb = d5 * d2 - d1 * d6;
    const float vc = d1 * d4 - d3 * d2;
    const float sum = va + vb + vc;
    if (d1 <= 0.0f && d2 <= 0.0f) {
        keep_one(s, 0);
    } else if (d3 >= 0.0f && d4 <= d3) {
        keep_one(s, 1);
    } else if (d6 >= 0.0f && d5 <= d6) {
        keep_one(s, 2);
    } else if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) {
        keep_two(s, 0, 1, d1 / (d1 - d3));
    } else if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) {
        keep_two(s, 0, 2, d2 / (d2 - d6));
    } else if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f) {
        keep_two(s, 1, 2, (d4 - d3) / ((d4 - d3) + (d5 - d6)));
    } else if (sum > 0.0f) {
        s->weights[1] = vb / sum;
        s->weights[2] = vc / sum;
        s->weights[0] = 1.0f - s->weights[1] - s->weights[2];
    } else {
        // No area: one of the segments above would have been nearest but for rounding.
        keep_two(s, 0, 1, d1 > 0.0f && d1 < d1 - d3 ? d1 / (d1 - d3) : 0.0f);
    }
}

static cairn_vec3 nearest_of(const cairn_gjk_simplex *s) {
    cairn_vec3 sum = vec3_scale(s->vertices[0].difference, s->weights[0]);
    for (uint32_t i = 1; i < s->count; ++i) {
        sum = vec3_add_scaled(sum, s->vertices[i].difference, s->weights[i]);
    }
    return sum;
}

// Whether the origin is on the far side of triangle i, j, k as seen from the fourth vertex, or
// whether that side cannot be told.
static bool beyond_face(
    const cairn_gjk_simplex *s, uint32_t i, uint32_t j, uint32_t k, uint32_t fourth) {
    const cairn_vec3 a = s->vertices[i].difference;
    const cairn_vec3 normal =
        vec3_cross(vec3_sub(s->vertices[j].difference, a), vec3_sub(s->vertices[k].difference, a));
    const float origin_side = 0.0f - vec3_dot(normal, a);
    const float vertex_side = vec3_dot(normal, vec3_sub(s->vertices[fourth].difference, a));
    return origin_side * vertex_side <= 0.0f;
}

// Returns true if the origin is inside. Else the simplex becomes the nearest part of a face.
static bool solve_tetrahedron(cairn_gjk_simplex *s) {
    static const uint8_t faces[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    cairn_gjk_simplex best = {.count = 0};
    float least = 0.0f;
    for (uint32_t f = 0; f < 4; ++f) {
        const uint8_t *face = faces[f];
        if (!beyond_face(s, face[0], face[1], face[2], face[3])) {
            continue;
        }
        cairn_gjk_simplex triangle = {.count = 3,
            .vertices = {s->vertices[face[0]], s->vertices[face[1]], s->vertices[face[2]]}};
        solve_triangle(&triangle);
        const float distance = vec3_length_squared(nearest_of(&triangle));
        if (best.count == 0 || distance < least) {
            best = triangle;
            least = distance;
        }
    }
    if (best.count == 0) {
        return true;
    }
    *s = best;
    return false;
}

static bool solve_simplex(cairn_gjk_simplex *s) {
    CAIRN_ASSERT(s->count >= 1 && s->count <= 4);
    switch (s->count) {
    case 1:
        s->weights[0] = 1.0f;
        return false;
    case 2:
        solve_segment(s);
        return false;
    case 3:
        solve_triangle(s);
        return false;
    default:
        return solve_tetrahedron(s);
    }
}

static bool has_vertex(const cairn_gjk_simplex *s, const cairn_gjk_vertex *v) {
    for (uint32_t i = 0; i < s->count; ++i) {
        const cairn_vec3 d = s->vertices[i].difference;
        if (d.x == v->difference.x && d.y == v->difference.y && d.z == v->difference.z) {
            return true;
        }
    }
    return false;
}

static float size_squared_of(const cairn_gjk_simplex *s) {
    float most = 0.0f;
    for (uint32_t i = 0; i < s->count; ++i) {
        most = float_max(most, vec3_length_squared(s->vertices[i].difference));
    }
    return most;
}

cairn_vec3 cairn_gjk_nearest(const cairn_gjk_pair *pair, cairn_gjk_simplex *s) {
    if (s->count == 0) {
        const cairn_vec3 to_a = vec3_negate(pair->offset);
        s->vertices[0] = support_of_pair(pair, to_a);
        s->count = 1;
    }
    cairn_vec3 nearest = vec3_zero();
    float least = SQUARE_MAX;
    bool apart = false; // a plane was found between the cores
    cairn_gjk_simplex last = *s;
    for (uint32_t i = 0; i < ITERATIONS_MAX; ++i) {
        if (solve_simplex(s)) {
            // A flat tetrahedron, as round shapes make it, may seem to hold the origin.
            if (!apart) {
                return vec3_zero();
            }
            *s = last;
            return nearest;
        }
        const cairn_vec3 next = nearest_of(s);
        const float square = vec3_length_squared(next);
        if (square <= OVERLAP_FRACTION * OVERLAP_FRACTION * size_squared_of(s)) {
            return vec3_zero();
        }
        if (!(square < least)) {
            *s = last; // rounding: it was nearer before
            return nearest;
        }
        nearest = next;
        least = square;
        last = *s;
        const cairn_gjk_vertex more = support_of_pair(pair, vec3_negate(nearest));
        const float beyond = vec3_dot(nearest, more.difference);
        const float gain = square - beyond;
        apart = apart ||
                (beyond > 0.0f && beyond * beyond > APART_SQUARED * square * size_squared_of(s));
        if (gain <= PROGRESS_MIN * square || has_vertex(s, &more)) {
            return nearest;
        }
        CAIRN_ASSERT(s->count < 4);
        s->vertices[s->count++] = more;
    }
    return nearest;
}

void cairn_gjk_points(const cairn_gjk_simplex *s, cairn_vec3 *a, cairn_vec3 *b) {
    *a = vec3_zero();
    *b = vec3_zero();
    for (uint32_t i = 0; i < s->count; ++i) {
        *a = vec3_add_scaled(*a, s->vertices[i].a, s->weights[i]);
        *b = vec3_add_scaled(*b, s->vertices[i].b, s->weights[i]);
    }
}

cairn_gjk_pair cairn_gjk_pair_of(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b) {
    const cairn_quat rotation =
        quat_normalize(quat_multiply(quat_conjugate(pose_a->rotation), pose_b->rotation));
    return (cairn_gjk_pair){.a = cairn_convex_core_of(a),
        .b = cairn_convex_core_of(b),
        .rotation = mat3_of_quat(rotation),
        .offset = pose_apply_inverse(*pose_a, pose_b->position)};
}

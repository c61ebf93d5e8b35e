// SPDX-License-Identifier: MIT
#include "sim/query/distance.h"

#include "base/assert.h"
#include "sim/shape/hull.h"

// Iterations of the distance algorithm and steps of a cast; both end after a few, as a rule.
#define ITERATIONS_MAX 32
#define STEPS_MAX 32
// A step of the distance algorithm must bring the distance down by this fraction.
#define PROGRESS_MIN 1e-6f
// Cores nearer than this fraction of their size overlap.
#define OVERLAP_FRACTION 1e-6f
// A cast ends when the gap is this small, m; the rest of the way is a straight line. The normal of
// two rounded shapes stays exact when they touch, so they may come nearer.
#define CAST_GAP 2e-4f
#define CAST_GAP_ROUND 2e-5f
// Cores nearer than this, m, have no reliable normal.
#define NORMAL_DISTANCE_MIN 5e-5f
// More than the square of any distance.
#define SQUARE_MAX 3e38f

cairn_convex_core cairn_convex_core_of(const cairn_shape_view *shape) {
    const cairn_geometry *geometry = shape->geometry;
    cairn_convex_core core = {.kind = geometry->kind, .radius = geometry->radius};
    CAIRN_ASSERT(geometry->kind != CAIRN_SHAPE_HALF_SPACE);
    if (geometry->kind == CAIRN_SHAPE_HULL) {
        core.vertices = shape->hull->vertices;
        core.vertex_count = shape->hull->vertex_count;
    } else if (geometry->kind == CAIRN_SHAPE_CAPSULE) {
        core.half_extents = vec3(0.0f, geometry->half_height, 0.0f);
    } else if (geometry->kind == CAIRN_SHAPE_BOX) {
        core.half_extents = geometry->half_extents;
    }
    return core;
}

// The point of a core that is farthest along `direction`, in the core's own frame.
static cairn_vec3 support(const cairn_convex_core *core, cairn_vec3 direction) {
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

typedef struct vertex {
    cairn_vec3 difference; // b - a
    cairn_vec3 a;
    cairn_vec3 b;
} vertex;

typedef struct simplex {
    uint32_t count; // 1 .. 4
    vertex vertices[4];
    float weights[4]; // of the point nearest to the origin; their sum is 1
} simplex;

// Both cores in the frame of a.
typedef struct core_pair {
    cairn_convex_core a;
    cairn_convex_core b;
    cairn_mat3 rotation; // from b's frame to a's
    cairn_vec3 offset;   // of b's frame in a's
} core_pair;

// The vertex of the Minkowski difference b - a that is farthest along `direction`.
static vertex support_of_pair(const core_pair *pair, cairn_vec3 direction) {
    vertex out;
    const cairn_vec3 local = mat3_apply_transposed(pair->rotation, direction);
    out.a = support(&pair->a, vec3_negate(direction));
    out.b = vec3_add(mat3_apply(pair->rotation, support(&pair->b, local)), pair->offset);
    out.difference = vec3_sub(out.b, out.a);
    return out;
}

static void keep_one(simplex *s, uint32_t i) {
    s->vertices[0] = s->vertices[i];
    s->weights[0] = 1.0f;
    s->count = 1;
}

static void keep_two(simplex *s, uint32_t i, uint32_t k, float weight_k) {
    const vertex first = s->vertices[i];
    s->vertices[1] = s->vertices[k];
    s->vertices[0] = first;
    s->weights[0] = 1.0f - weight_k;
    s->weights[1] = weight_k;
    s->count = 2;
}

// Reduces the simplex to the part of segment i, k that is nearest to the origin. By regions, as in
// Ericson 2004, section 5.1.
static void solve_segment(simplex *s) {
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
static void solve_triangle(simplex *s) {
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

static cairn_vec3 nearest_of(const simplex *s) {
    cairn_vec3 sum = vec3_scale(s->vertices[0].difference, s->weights[0]);
    for (uint32_t i = 1; i < s->count; ++i) {
        sum = vec3_add_scaled(sum, s->vertices[i].difference, s->weights[i]);
    }
    return sum;
}

// Whether the origin is on the far side of triangle i, j, k as seen from the fourth vertex, or
// whether that side cannot be told.
static bool beyond_face(const simplex *s, uint32_t i, uint32_t j, uint32_t k, uint32_t fourth) {
    const cairn_vec3 a = s->vertices[i].difference;
    const cairn_vec3 normal =
        vec3_cross(vec3_sub(s->vertices[j].difference, a), vec3_sub(s->vertices[k].difference, a));
    const float origin_side = 0.0f - vec3_dot(normal, a);
    const float vertex_side = vec3_dot(normal, vec3_sub(s->vertices[fourth].difference, a));
    return origin_side * vertex_side <= 0.0f;
}

// Returns true if the origin is inside. Else the simplex becomes the nearest part of a face.
static bool solve_tetrahedron(simplex *s) {
    static const uint8_t faces[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    simplex best = {.count = 0};
    float least = 0.0f;
    for (uint32_t f = 0; f < 4; ++f) {
        const uint8_t *face = faces[f];
        if (!beyond_face(s, face[0], face[1], face[2], face[3])) {
            continue;
        }
        simplex triangle = {.count = 3,
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

static bool solve_simplex(simplex *s) {
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

static bool has_vertex(const simplex *s, const vertex *v) {
    for (uint32_t i = 0; i < s->count; ++i) {
        const cairn_vec3 d = s->vertices[i].difference;
        if (d.x == v->difference.x && d.y == v->difference.y && d.z == v->difference.z) {
            return true;
        }
    }
    return false;
}

static float size_squared_of(const simplex *s) {
    float most = 0.0f;
    for (uint32_t i = 0; i < s->count; ++i) {
        most = float_max(most, vec3_length_squared(s->vertices[i].difference));
    }
    return most;
}

// Starts from *s, which may hold the simplex of the same pair at an earlier offset (count 0: from
// nothing), and leaves there the simplex it ends with. Returns the nearest point of the difference;
// zero if the cores overlap.
static cairn_vec3 nearest_difference(const core_pair *pair, simplex *s) {
    if (s->count == 0) {
        const cairn_vec3 to_a = vec3_negate(pair->offset);
        s->vertices[0] = support_of_pair(pair, to_a);
        s->count = 1;
    }
    cairn_vec3 nearest = vec3_zero();
    float least = SQUARE_MAX;
    simplex last = *s;
    for (uint32_t i = 0; i < ITERATIONS_MAX; ++i) {
        if (solve_simplex(s)) {
            return vec3_zero();
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
        const vertex more = support_of_pair(pair, vec3_negate(nearest));
        const float gain = square - vec3_dot(nearest, more.difference);
        if (gain <= PROGRESS_MIN * square || has_vertex(s, &more)) {
            return nearest;
        }
        CAIRN_ASSERT(s->count < 4);
        s->vertices[s->count++] = more;
    }
    return nearest;
}

static void points_of(const simplex *s, cairn_vec3 *a, cairn_vec3 *b) {
    *a = vec3_zero();
    *b = vec3_zero();
    for (uint32_t i = 0; i < s->count; ++i) {
        *a = vec3_add_scaled(*a, s->vertices[i].a, s->weights[i]);
        *b = vec3_add_scaled(*b, s->vertices[i].b, s->weights[i]);
    }
}

static core_pair pair_of(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b) {
    const cairn_quat rotation =
        quat_normalize(quat_multiply(quat_conjugate(pose_a->rotation), pose_b->rotation));
    return (core_pair){.a = cairn_convex_core_of(a),
        .b = cairn_convex_core_of(b),
        .rotation = mat3_of_quat(rotation),
        .offset = pose_apply_inverse(*pose_a, pose_b->position)};
}

// The point of b that is lowest above the plane of the half-space a, in the frame of a.
static cairn_vec3 lowest_point(const cairn_pose *pose_a, const cairn_shape_view *b,
    const cairn_pose *pose_b, const cairn_convex_core *core) {
    CAIRN_ASSERT(b->geometry->kind == core->kind);
    const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
    const cairn_vec3 down = quat_rotate(pose_a->rotation, vec3_negate(up));
    const cairn_quat rotation = quat_normalize(pose_b->rotation);
    const cairn_vec3 local = support(core, quat_rotate_inverse(rotation, down));
    const cairn_vec3 arm = quat_rotate(rotation, local);
    const cairn_vec3 point = vec3_add(
        pose_apply_inverse(*pose_a, pose_b->position), quat_rotate_inverse(pose_a->rotation, arm));
    return vec3_sub_scaled(point, up, core->radius);
}

cairn_distance cairn_shape_distance(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b) {
    cairn_distance out = {.normal = vec3(0.0f, 1.0f, 0.0f)};
    if (a->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        const cairn_convex_core core = cairn_convex_core_of(b);
        out.point_b = lowest_point(pose_a, b, pose_b, &core);
        out.point_a = vec3(out.point_b.x, 0.0f, out.point_b.z);
        out.distance = float_max(out.point_b.y, 0.0f);
        out.gap = out.point_b.y;
    } else {
        const core_pair pair = pair_of(a, pose_a, b, pose_b);
        simplex s = {.count = 0};
        const cairn_vec3 nearest = nearest_difference(&pair, &s);
        const float length = vec3_length(nearest);
        out.cores_overlap = !(length > 0.0f);
        out.normal = vec3_normalize(nearest, out.normal);
        out.gap = length - pair.a.radius - pair.b.radius;
        out.distance = out.cores_overlap ? 0.0f : float_max(out.gap, 0.0f);
        points_of(&s, &out.point_a, &out.point_b);
        out.point_a = vec3_add_scaled(out.point_a, out.normal, pair.a.radius);
        out.point_b = vec3_sub_scaled(out.point_b, out.normal, pair.b.radius);
    }
    out.normal = vec3_clean(quat_rotate(pose_a->rotation, out.normal));
    out.point_a = vec3_clean(pose_apply(*pose_a, out.point_a));
    out.point_b = vec3_clean(pose_apply(*pose_a, out.point_b));
    CAIRN_ASSERT(out.distance >= 0.0f);
    return out;
}

// ---- Casts

typedef enum cast_outcome { CAST_MISSED, CAST_HIT, CAST_OVERLAPS } cast_outcome;

// In the frame of a.
typedef struct cast_result {
    float fraction;
    cairn_vec3 normal;
    cairn_vec3 point;
} cast_result;

static cast_outcome cast_at_half_space(
    cairn_vec3 lowest, cairn_vec3 translation, cast_result *out) {
    const float descent = 0.0f - translation.y;
    if (lowest.y < 0.0f - CAST_GAP) {
        return CAST_OVERLAPS;
    }
    // Compares before dividing, so that a cast almost parallel to the plane does not overflow.
    if (!(descent > 0.0f) || lowest.y > descent) {
        return CAST_MISSED;
    }
    out->fraction = float_max(lowest.y, 0.0f) / descent;
    out->normal = vec3(0.0f, 1.0f, 0.0f);
    out->point = vec3_add_scaled(lowest, translation, out->fraction);
    out->point.y = 0.0f;
    return CAST_HIT;
}

// Moves b, and the simplex with it.
static void advance(core_pair *pair, simplex *s, cairn_vec3 step) {
    pair->offset = vec3_add(pair->offset, step);
    for (uint32_t i = 0; i < s->count; ++i) {
        s->vertices[i].b = vec3_add(s->vertices[i].b, step);
        s->vertices[i].difference = vec3_sub(s->vertices[i].b, s->vertices[i].a);
    }
}

// The gap is a convex function of the fraction. A step along its slope therefore never passes its
// first zero, and once it grows it grows for good.
static cast_outcome cast_cores(core_pair *pair, cairn_vec3 translation, cast_result *out) {
    simplex s = {.count = 0};
    const cairn_vec3 start = pair->offset;
    const float radius = pair->a.radius + pair->b.radius;
    const float gap_end = radius > CAST_GAP ? CAST_GAP_ROUND : CAST_GAP;
    out->fraction = 0.0f;
    for (uint32_t i = 0; i < STEPS_MAX; ++i) {
        const cairn_vec3 nearest = nearest_difference(pair, &s);
        const float length = vec3_length(nearest);
        const float gap = length - radius;
        if (i == 0 && (!(length > 0.0f) || gap < 0.0f - gap_end)) {
            return CAST_OVERLAPS;
        }
        cairn_vec3 unused;
        if (i > 0 && length < NORMAL_DISTANCE_MIN) {
            return CAST_HIT; // with the normal of the step before
        }
        out->normal = vec3_normalize(nearest, vec3(0.0f, 1.0f, 0.0f));
        points_of(&s, &out->point, &unused);
        out->point = vec3_add_scaled(out->point, out->normal, pair->a.radius);
        const float approach = 0.0f - vec3_dot(out->normal, translation);
        if (!(approach > 0.0f) || gap > (1.0f - out->fraction) * approach) {
            return CAST_MISSED;
        }
        out->fraction = float_min(out->fraction + float_max(gap, 0.0f) / approach, 1.0f);
        if (gap <= gap_end) {
            return CAST_HIT;
        }
        const cairn_vec3 offset = vec3_add_scaled(start, translation, out->fraction);
        advance(pair, &s, vec3_sub(offset, pair->offset));
        pair->offset = offset;
    }
    return CAST_HIT; // it has come as near as rounding lets it
}

bool cairn_shape_cast(const cairn_shape_view *a, const cairn_pose *pose_a,
    const cairn_shape_view *b, const cairn_pose *pose_b, cairn_vec3 translation, float *fraction,
    cairn_vec3 *normal, cairn_vec3 *point) {
    const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
    const cairn_vec3 local = quat_rotate_inverse(pose_a->rotation, translation);
    cast_result result = {.fraction = 0.0f};
    cast_outcome outcome = CAST_MISSED;
    if (a->geometry->kind == CAIRN_SHAPE_HALF_SPACE) {
        const cairn_convex_core core = cairn_convex_core_of(b);
        outcome = cast_at_half_space(lowest_point(pose_a, b, pose_b, &core), local, &result);
    } else {
        core_pair pair = pair_of(a, pose_a, b, pose_b);
        outcome = cast_cores(&pair, local, &result);
    }
    if (outcome == CAST_OVERLAPS) {
        *fraction = 0.0f;
        *normal = vec3_clean(vec3_normalize(vec3_negate(translation), up));
        *point = vec3_clean(pose_b->position);
        return true;
    }
    CAIRN_ASSERT(result.fraction >= 0.0f && result.fraction <= 1.0f);
    *fraction = result.fraction;
    *normal = vec3_clean(quat_rotate(pose_a->rotation, result.normal));
    *point = vec3_clean(pose_apply(*pose_a, result.point));
    return outcome == CAST_HIT;
}

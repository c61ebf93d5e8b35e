// SPDX-License-Identifier: MIT

// Separating axes of two convex polyhedra, then clipping of the incident face or the closest points
// of two edges. Only pairs of edges whose arcs cross on the Gauss map can separate (Gregorius 2013,
// The Separating Axis Test between Convex Polyhedra).

#include "base/assert.h"
#include "sim/collide/clip.h"
#include "sim/collide/separating_axis.h"
#include "sim/collide/shape_pairs.h"
#include "sim/shape/convex.h"

// Numbers of axes, as the hint stores them: 0 none, then the faces of a, those of b, and pairs of
// edges.
enum { FACE_A = 1, FACE_B = 256, EDGES = 512, EDGES_PER_A = 512 };

// The highest byte of the feature of a point between two edges, and of a vertex of b or a below a
// face. A point between two faces has there the number of a's face, which is lower.
#define FEATURE_EDGES 0xff000000u
#define FEATURE_VERTEX 0xfe000000u
#define FEATURE_VERTEX_OF_A 0xfd000000u
_Static_assert(CAIRN_HULL_FACES_MAX < 0xfd && CAIRN_HULL_VERTICES_MAX <= 128 &&
                   CAIRN_HULL_EDGES_MAX <= EDGES_PER_A,
    "features and axes hold the numbers of faces, edges and vertices");

// Bounds by which faces and edges are skipped allow for this much rounding.
#define ROUNDING 0.99f

// One of the two hulls, and the transform from the other's frame to its own.
typedef struct hull_view {
    const cairn_convex_view *self;
    const cairn_convex_view *other;
    cairn_mat3 rotation;
    cairn_vec3 offset;
    // Height of the other's centre above each face.
    float heights[CAIRN_HULL_FACES_MAX];
} hull_view;

typedef struct hull_pair {
    hull_view a;
    hull_view b;
    float tolerance; // m, absolute, between axes that count as equal
} hull_pair;

static void measure_heights(hull_view *v) {
    const cairn_vec3 centre = vec3_add(mat3_apply(v->rotation, v->other->centre), v->offset);
    for (uint32_t i = 0; i < v->self->face_count; ++i) {
        const cairn_plane *plane = &v->self->planes[i];
        v->heights[i] = vec3_dot(plane->normal, centre) - plane->offset;
    }
}

static float face_separation(const hull_view *v, uint32_t face) {
    CAIRN_ASSERT(face < v->self->face_count);
    const cairn_plane *plane = &v->self->planes[face];
    const cairn_vec3 down = vec3_negate(mat3_apply_transposed(v->rotation, plane->normal));
    return vec3_dot(plane->normal, v->offset) - plane->offset -
           cairn_convex_view_support(v->other, down);
}

// The face with the greatest separation, the first of equals. Begins with the face that the other's
// centre is highest above, skips faces that this height shows to be worse, and ends when a
// separation is above the margin.
static cairn_axis best_face(const hull_view *v, float margin) {
    uint32_t highest = 0;
    for (uint32_t i = 1; i < v->self->face_count; ++i) {
        highest = v->heights[i] > v->heights[highest] ? i : highest;
    }
    cairn_axis best = {.number = highest, .separation = face_separation(v, highest)};
    const float inner = ROUNDING * v->other->inner;
    for (uint32_t i = 0; i < v->self->face_count && best.separation <= margin; ++i) {
        if (i == highest || v->heights[i] - inner < best.separation) {
            continue;
        }
        const float separation = face_separation(v, i);
        if (separation > best.separation || (separation == best.separation && i < best.number)) {
            best = (cairn_axis){.number = i, .separation = separation};
        }
    }
    return best;
}

// An edge in the frame of a; left x right points along it.
typedef struct edge {
    uint32_t index;
    cairn_vec3 from;
    cairn_vec3 along; // to the other end
    cairn_vec3 left;  // normals of its faces
    cairn_vec3 right;
} edge;

static edge edge_of_a(const hull_pair *pair, uint32_t index) {
    const cairn_convex_view *p = pair->a.self;
    CAIRN_ASSERT(index < p->edge_count);
    const cairn_hull_edge *e = &p->edges[index];
    return (edge){.index = index,
        .from = p->vertices[e->from],
        .along = vec3_sub(p->vertices[e->to], p->vertices[e->from]),
        .left = p->planes[e->left].normal,
        .right = p->planes[e->right].normal};
}

static edge edge_of_b(const hull_pair *pair, uint32_t index) {
    const cairn_convex_view *p = pair->b.self;
    CAIRN_ASSERT(index < p->edge_count);
    const cairn_mat3 rotation = pair->a.rotation;
    const cairn_hull_edge *e = &p->edges[index];
    const cairn_vec3 along = vec3_sub(p->vertices[e->to], p->vertices[e->from]);
    return (edge){.index = index,
        .from = vec3_add(mat3_apply(rotation, p->vertices[e->from]), pair->a.offset),
        .along = mat3_apply(rotation, along),
        .left = mat3_apply(rotation, p->planes[e->left].normal),
        .right = mat3_apply(rotation, p->planes[e->right].normal)};
}

// Unit, out of a; zero for edges nearly parallel.
static cairn_vec3 edge_normal(const edge *a, const edge *b) {
    const cairn_vec3 cross = vec3_cross(a->along, b->along);
    const float length_squared = vec3_length_squared(cross);
    const float lengths = vec3_length_squared(a->along) * vec3_length_squared(b->along);
    if (!(length_squared > CAIRN_AXIS_PARALLEL_SINE_SQUARED * lengths)) {
        return vec3_zero();
    }
    const float inverse = 1.0f / float_sqrt(length_squared);
    const bool outward = vec3_dot(cross, vec3_add(a->left, a->right)) >= 0.0f;
    return vec3_scale(cross, outward ? inverse : 0.0f - inverse);
}

// Only for edges whose arcs cross on the Gauss map, a's and the negated one of b: these two form a
// face of the Minkowski difference.
static float edge_separation(const edge *a, const edge *b) {
    const float right_b = 0.0f - vec3_dot(b->right, a->along);
    const float left_b = 0.0f - vec3_dot(b->left, a->along);
    const float right_a = vec3_dot(a->right, b->along);
    const float left_a = vec3_dot(a->left, b->along);
    if (!(right_b * left_b < 0.0f && right_a * left_a < 0.0f && right_b * left_a > 0.0f)) {
        return CAIRN_NO_SEPARATION;
    }
    const cairn_vec3 normal = edge_normal(a, b);
    return vec3_is_zero(normal) ? CAIRN_NO_SEPARATION
                                : vec3_dot(normal, vec3_sub(b->from, a->from));
}

// Whether some axis between the normals of an edge's two faces could separate by more than
// `threshold`. The other's centre must then be higher above the edge than the threshold plus the
// radius of the other's inscribed ball. Along the arc the height is greatest at an end or, if it
// rises from both, at its crest.
static bool edge_can_separate(const hull_view *v, uint32_t index, float threshold) {
    CAIRN_ASSERT(index < v->self->edge_count);
    const cairn_hull_edge *e = &v->self->edges[index];
    const float least = threshold + ROUNDING * v->other->inner;
    const float left = v->heights[e->left];
    const float right = v->heights[e->right];
    if (left > least || right > least || least <= 0.0f) {
        return true;
    }
    const float cosine =
        vec3_dot(v->self->planes[e->left].normal, v->self->planes[e->right].normal);
    if (left <= right * cosine || right <= left * cosine) {
        return false;
    }
    const float crest = left * left + right * right - 2.0f * left * right * cosine;
    return crest > ROUNDING * least * least * (1.0f - cosine * cosine);
}

// The pair of edges with the greatest separation, if that is more than `threshold`.
static cairn_axis best_edges(const hull_pair *pair, float threshold) {
    edge of_b[CAIRN_HULL_EDGES_MAX];
    uint32_t count_b = 0;
    for (uint32_t j = 0; j < pair->b.self->edge_count; ++j) {
        if (edge_can_separate(&pair->b, j, threshold)) {
            of_b[count_b++] = edge_of_b(pair, j);
        }
    }
    cairn_axis best = {.number = 0, .separation = threshold};
    for (uint32_t i = 0; i < pair->a.self->edge_count && count_b > 0; ++i) {
        if (!edge_can_separate(&pair->a, i, threshold)) {
            continue;
        }
        const edge a = edge_of_a(pair, i);
        for (uint32_t k = 0; k < count_b; ++k) {
            const float separation = edge_separation(&a, &of_b[k]);
            if (separation > best.separation) {
                best.separation = separation;
                best.number = EDGES + EDGES_PER_A * i + of_b[k].index;
            }
        }
    }
    return best;
}

// The edges that an axis names; false if there are no such edges.
static bool edges_of_axis(const hull_pair *pair, uint32_t axis, edge *a, edge *b) {
    const uint32_t i = (axis - EDGES) / EDGES_PER_A;
    const uint32_t j = (axis - EDGES) % EDGES_PER_A;
    if (axis < EDGES || i >= pair->a.self->edge_count || j >= pair->b.self->edge_count) {
        return false;
    }
    *a = edge_of_a(pair, i);
    *b = edge_of_b(pair, j);
    return true;
}

// The hint's axis if it holds.
static cairn_axis hinted_axis(const hull_pair *pair, cairn_axis face, uint32_t hint) {
    const cairn_axis none = {.number = 0};
    const bool on_a = hint >= FACE_A && hint < FACE_A + pair->a.self->face_count;
    const bool on_b = hint >= FACE_B && hint < FACE_B + pair->b.self->face_count;
    if (on_a || on_b) {
        const float separation = on_a ? face_separation(&pair->a, hint - FACE_A)
                                      : face_separation(&pair->b, hint - FACE_B);
        return cairn_axis_face_holds(separation, face, pair->tolerance)
                   ? (cairn_axis){.number = hint, .separation = separation}
                   : none;
    }
    edge a;
    edge b;
    if (!edges_of_axis(pair, hint, &a, &b)) {
        return none;
    }
    const float separation = edge_separation(&a, &b);
    return cairn_axis_edges_hold(separation, face, pair->tolerance)
               ? (cairn_axis){.number = hint, .separation = separation}
               : none;
}

// Number 0 if the hulls are apart; see sim/collide/separating_axis.h.
static cairn_choice choose_axis(const hull_pair *pair, float margin, uint32_t hint) {
    const cairn_choice apart = {.axis.number = 0};
    cairn_axis face_a = best_face(&pair->a, margin);
    if (face_a.separation > margin) {
        return apart;
    }
    cairn_axis face_b = best_face(&pair->b, margin);
    if (face_b.separation > margin) {
        return apart;
    }
    face_a.number += FACE_A;
    face_b.number += FACE_B;
    const cairn_axis face = cairn_axis_best_face(face_a, face_b, pair->tolerance);
    const cairn_axis kept = hinted_axis(pair, face, hint);
    const float threshold = cairn_axis_edge_threshold(face, kept, pair->tolerance);
    const cairn_axis edges = best_edges(pair, float_min(threshold, margin));
    return cairn_axis_choose(face, kept, edges, margin, pair->tolerance);
}

static void collide_edges(const hull_pair *pair, const cairn_axis *chosen, cairn_manifold *out) {
    edge a;
    edge b;
    if (!edges_of_axis(pair, chosen->number, &a, &b)) {
        return;
    }
    out->normal = edge_normal(&a, &b);
    // The closest points of the lines from + s along.
    const cairn_vec3 apart = vec3_sub(b.from, a.from);
    const float aa = vec3_length_squared(a.along);
    const float bb = vec3_length_squared(b.along);
    const float ab = vec3_dot(a.along, b.along);
    const float ra = vec3_dot(apart, a.along);
    const float rb = vec3_dot(apart, b.along);
    const float determinant =
        float_max(aa * bb - ab * ab, CAIRN_AXIS_PARALLEL_SINE_SQUARED * aa * bb);
    const float t = float_clamp((ab * ra - aa * rb) / determinant, 0.0f, 1.0f);
    const cairn_vec3 on_b = vec3_add_scaled(b.from, b.along, t);
    cairn_manifold_add(out, vec3_sub_scaled(on_b, out->normal, 0.5f * chosen->separation),
        chosen->separation, FEATURE_EDGES | a.index << 9 | b.index);
}

// A reference face with coordinates in its plane, in the frame of its polyhedron.
typedef struct reference {
    const hull_view *v;
    bool on_a; // the reference face is one of a
    uint32_t face;
    cairn_vec3 origin; // a corner
    cairn_vec3 right;
    cairn_vec3 up;
    cairn_vec3 normal;
    float tolerance;
} reference;

static uint32_t corner_of(const cairn_convex_view *p, uint32_t face, uint32_t index) {
    CAIRN_ASSERT(face < p->face_count);
    return p->corners[p->face_first[face] + index];
}

static uint32_t corner_count(const cairn_convex_view *p, uint32_t face) {
    return (uint32_t)p->face_first[face + 1] - p->face_first[face];
}

static reference reference_of(const hull_pair *pair, uint32_t axis) {
    const bool on_a = axis < FACE_B;
    const hull_view *v = on_a ? &pair->a : &pair->b;
    const uint32_t face = axis - (on_a ? FACE_A : FACE_B);
    const cairn_convex_view *p = v->self;
    CAIRN_ASSERT(axis >= FACE_A && face < p->face_count);
    const cairn_vec3 origin = p->vertices[corner_of(p, face, 0)];
    const cairn_vec3 next = p->vertices[corner_of(p, face, 1)];
    const cairn_vec3 normal = p->planes[face].normal;
    const cairn_vec3 right = vec3_normalize(vec3_sub(next, origin), vec3(1.0f, 0.0f, 0.0f));
    return (reference){.v = v,
        .on_a = on_a,
        .face = face,
        .origin = origin,
        .right = right,
        .up = vec3_cross(normal, right),
        .normal = normal,
        .tolerance = float_min(CAIRN_CLIP_TOLERANCE * p->inner, CAIRN_AXIS_TOLERANCE_MAX)};
}

static cairn_clip_point to_face_plane(const reference *r, cairn_vec3 point, uint32_t label) {
    const cairn_vec3 from = vec3_sub(point, r->origin);
    return (cairn_clip_point){.x = vec3_dot(from, r->right),
        .y = vec3_dot(from, r->up),
        .height = vec3_dot(from, r->normal),
        .edge = label};
}

static cairn_vec3 vertex_of_other(const reference *r, uint32_t vertex) {
    CAIRN_ASSERT(vertex < r->v->other->vertex_count);
    return vec3_add(mat3_apply(r->v->rotation, r->v->other->vertices[vertex]), r->v->offset);
}

// The vertex of the other that is deepest below the reference face.
static uint32_t deepest_vertex(const reference *r) {
    const cairn_vec3 normal = mat3_apply_transposed(r->v->rotation, r->normal);
    const cairn_convex_view *other = r->v->other;
    uint32_t best = 0;
    float least = vec3_dot(other->vertices[0], normal);
    for (uint32_t i = 1; i < other->vertex_count; ++i) {
        const float height = vec3_dot(other->vertices[i], normal);
        best = height < least ? i : best;
        least = float_min(height, least);
    }
    return best;
}

// Of the faces around a vertex of the other, the one whose normal is most opposite to the reference
// normal. (A face elsewhere may be more opposite to it, and lie high above.)
static uint32_t incident_face(const reference *r, uint32_t vertex) {
    const cairn_vec3 normal = mat3_apply_transposed(r->v->rotation, r->normal);
    const cairn_convex_view *other = r->v->other;
    uint32_t best = 0;
    float least = 2.0f;
    CAIRN_ASSERT(vertex < other->vertex_count);
    for (uint32_t i = 0; i < other->edge_count; ++i) {
        const cairn_hull_edge *e = &other->edges[i];
        if (e->from != vertex && e->to != vertex) {
            continue;
        }
        // Each face around the vertex is left of an edge that leaves it, or right of one that ends
        // there.
        const uint32_t face = e->from == vertex ? e->left : e->right;
        const float cosine = vec3_dot(other->planes[face].normal, normal);
        if (cosine < least) {
            least = cosine;
            best = face;
        }
    }
    return best;
}

// Side i of a face leads from its corner i to the next one. Those of b have this bit in addition.
enum { EDGE_OF_B = CAIRN_HULL_VERTICES_MAX };

// The line through side i of the reference face, moved outward by the tolerance (by a little more
// if it is not parallel to an axis of the plane).
static cairn_clip_line side_line(const reference *r, uint32_t i) {
    const cairn_convex_view *p = r->v->self;
    const uint32_t count = corner_count(p, r->face);
    CAIRN_ASSERT(i < count);
    const uint32_t next = i + 1 < count ? i + 1 : 0;
    const cairn_clip_point from = to_face_plane(r, p->vertices[corner_of(p, r->face, i)], 0);
    const cairn_clip_point to = to_face_plane(r, p->vertices[corner_of(p, r->face, next)], 0);
    const float right = to.y - from.y;
    const float up = from.x - to.x;
    const float slack = r->tolerance * (float_abs(right) + float_abs(up));
    return (cairn_clip_line){.right = right,
        .up = up,
        .limit = right * from.x + up * from.y + slack,
        .edge = (r->on_a ? 0 : EDGE_OF_B) + i};
}

static bool extends_beyond(const cairn_clip_polygon *polygon, const cairn_clip_line *line) {
    bool over = false;
    for (uint32_t i = 0; i < polygon->count; ++i) {
        const cairn_clip_point *point = &polygon->points[i];
        over = over || line->right * point->x + line->up * point->y > line->limit;
    }
    return over;
}

static const cairn_clip_polygon *clip_to_reference(
    const reference *r, cairn_clip_polygon *polygon, cairn_clip_polygon *spare) {
    const uint32_t count = corner_count(r->v->self, r->face);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_clip_line line = side_line(r, i);
        if (extends_beyond(polygon, &line)) {
            cairn_clip_polygon_cut(polygon, &line, spare);
            cairn_clip_polygon *kept = spare;
            spare = polygon;
            polygon = kept;
        }
    }
    return polygon;
}

// The part of the incident face that is over the reference face and at most the margin above it.
typedef struct clipped_face {
    reference r;
    float cosine;    // between the reference normal and the opposite of the incident normal
    uint32_t vertex; // of the other, the deepest below the reference face
    uint32_t count;
    cairn_clip_point low[CAIRN_CLIP_POINTS_MAX];
} clipped_face;

// The feature of a point does not tell which of the two faces is the reference: bodies at rest on
// each other tilt by a hair to and fro, and the impulses must survive it. So it names a's face,
// b's, and the two edges in the order in which they meet as seen from outside b.
static void clip_faces(const hull_pair *pair, uint32_t axis, float margin, clipped_face *out) {
    out->r = reference_of(pair, axis);
    const reference *r = &out->r;
    const cairn_convex_view *other = r->v->other;
    out->vertex = deepest_vertex(r);
    const uint32_t incident = incident_face(r, out->vertex);
    cairn_clip_polygon polygon;
    cairn_clip_polygon spare;
    polygon.count = corner_count(other, incident);
    for (uint32_t i = 0; i < polygon.count; ++i) {
        const uint32_t corner = corner_of(other, incident, i);
        polygon.points[i] =
            to_face_plane(r, vertex_of_other(r, corner), (r->on_a ? EDGE_OF_B : 0) + i);
    }
    const cairn_clip_polygon *cut = clip_to_reference(r, &polygon, &spare);
    const uint32_t face_a = r->on_a ? r->face : incident;
    const uint32_t face_b = r->on_a ? incident : r->face;
    const cairn_clip_feature feature = {
        .faces = face_a << 24 | face_b << 16, .edge_bits = 8, .reversed = !r->on_a};
    out->count = cairn_clip_keep_below(cut, margin, &feature, out->low);
    out->cosine =
        0.0f - vec3_dot(r->normal, mat3_apply(r->v->rotation, other->planes[incident].normal));
}

// In the frame of the reference polyhedron. If two polyhedra overlap deeply, no part of the
// incident face may be above the reference face; the deepest vertex is then the contact.
static void add_face_points(
    const hull_pair *pair, clipped_face *clipped, float margin, cairn_manifold *out) {
    const reference *r = &clipped->r;
    uint32_t chosen[CAIRN_MANIFOLD_POINTS_MAX];
    if (clipped->count == 0) {
        const uint32_t vertex = clipped->vertex;
        const uint32_t feature = r->on_a ? FEATURE_VERTEX : FEATURE_VERTEX_OF_A;
        clipped->low[0] =
            to_face_plane(r, vertex_of_other(r, vertex), feature | r->face << 8 | vertex);
        clipped->count = clipped->low[0].height <= margin ? 1 : 0;
    }
    const uint32_t point_count = cairn_manifold_reduce(clipped->low, clipped->count, chosen);
    CAIRN_ASSERT(point_count <= CAIRN_MANIFOLD_POINTS_MAX);
    // From the frame of b to that of a.
    const cairn_mat3 *rotation = &pair->a.rotation;
    out->normal = r->on_a ? r->normal : vec3_negate(mat3_apply(*rotation, r->normal));
    for (uint32_t i = 0; i < point_count; ++i) {
        const cairn_clip_point *point = &clipped->low[chosen[i]];
        cairn_vec3 at = vec3_add_scaled(r->origin, r->right, point->x);
        at = vec3_add_scaled(at, r->up, point->y);
        at = vec3_add_scaled(at, r->normal, 0.5f * point->height);
        at = r->on_a ? at : vec3_add(mat3_apply(*rotation, at), pair->a.offset);
        cairn_manifold_add(out, at, point->height, point->edge);
    }
}

// The face of a or b whose normal is closest to that of the pair of edges.
static uint32_t face_along(const hull_pair *pair, uint32_t edges) {
    edge a;
    edge b;
    if (!edges_of_axis(pair, edges, &a, &b)) {
        return 0;
    }
    const cairn_vec3 normal = edge_normal(&a, &b);
    const cairn_vec3 normal_b = vec3_negate(mat3_apply_transposed(pair->a.rotation, normal));
    uint32_t best = 0;
    float best_cosine = 0.0f;
    for (uint32_t i = 0; i < pair->a.self->face_count; ++i) {
        const float cosine = vec3_dot(pair->a.self->planes[i].normal, normal);
        best = cosine > best_cosine ? FACE_A + i : best;
        best_cosine = float_max(cosine, best_cosine);
    }
    for (uint32_t i = 0; i < pair->b.self->face_count; ++i) {
        const float cosine = vec3_dot(pair->b.self->planes[i].normal, normal_b);
        best = cosine > best_cosine ? FACE_B + i : best;
        best_cosine = float_max(cosine, best_cosine);
    }
    return best;
}

// Looks for a face that serves as well as the chosen pair of edges; see
// sim/collide/separating_axis.h. Returns its number, with the points in *clipped, or 0.
static uint32_t face_for_edges(const hull_pair *pair, const cairn_choice *choice, uint32_t hint,
    float margin, clipped_face *clipped) {
    const bool hinted = (hint >= FACE_A && hint < FACE_A + pair->a.self->face_count) ||
                        (hint >= FACE_B && hint < FACE_B + pair->b.self->face_count);
    const uint32_t along = choice->clearly ? face_along(pair, choice->axis.number) : 0;
    const cairn_axis_candidates candidates =
        cairn_axis_candidates_of(choice, hinted ? hint : 0, along);
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t face = candidates.faces[i];
        if (face != 0) {
            clip_faces(pair, face, margin, clipped);
            if (cairn_axis_face_serves(choice, clipped->low, clipped->count, clipped->cosine,
                    face == hint, pair->tolerance)) {
                return face;
            }
        }
    }
    return 0;
}

void cairn_collide_hulls(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_mat3 *rotation, cairn_vec3 offset, float margin, uint32_t *axis_hint,
    cairn_manifold *out) {
    cairn_convex_box box_a;
    cairn_convex_box box_b;
    const cairn_convex_view convex_a = cairn_convex_view_of(a, &box_a);
    const cairn_convex_view convex_b = cairn_convex_view_of(b, &box_b);
    hull_pair pair;
    pair.a.self = pair.b.other = &convex_a;
    pair.a.other = pair.b.self = &convex_b;
    pair.a.rotation = *rotation;
    pair.a.offset = offset;
    pair.b.rotation = mat3_transpose(*rotation);
    pair.b.offset = vec3_negate(mat3_apply_transposed(*rotation, offset));
    const float thinnest = float_min(convex_a.inner, convex_b.inner);
    CAIRN_ASSERT(thinnest > 0.0f);
    pair.tolerance = float_min(CAIRN_AXIS_ABSOLUTE_TOLERANCE * thinnest, CAIRN_AXIS_TOLERANCE_MAX);
    measure_heights(&pair.a);
    measure_heights(&pair.b);
    const cairn_choice choice = choose_axis(&pair, margin, *axis_hint);
    if (choice.axis.number == 0) {
        return;
    }
    clipped_face clipped;
    uint32_t face = choice.axis.number;
    if (face < EDGES) {
        clip_faces(&pair, face, margin, &clipped);
    } else {
        face = face_for_edges(&pair, &choice, *axis_hint, margin, &clipped);
    }
    *axis_hint = face != 0 ? face : choice.axis.number;
    if (face != 0) {
        add_face_points(&pair, &clipped, margin, out);
    } else {
        collide_edges(&pair, &choice.axis, out);
    }
}

// SPDX-License-Identifier: MIT

// Separating axes of two convex polyhedra, then clipping of the incident face or the closest points
// of two edges. Pairs of edges count only where their arcs cross on the sphere of directions
// (Gregorius 2013, The Separating Axis Test between Convex Polyhedra).

#include "sim/collide/clip.h"
#include "sim/collide/shape_pairs.h"
#include "sim/shape/convex.h"

// Axes as the hint keeps them: 0 none, then the faces of a, those of b, and pairs of edges.
enum { FACE_A = 1, FACE_B = 128, EDGES = 256, EDGES_PER_A = 128 };

// Features of a face of b, of an edge pair, and of a vertex below a face; others are of a face of
// a.
enum { FEATURE_FACE_B = 1 << 24, FEATURE_EDGES = 1 << 25, FEATURE_VERTEX = 1 << 26 };

// The same as between boxes, see sim/collide/box_box.c.
#define PARALLEL_SINE_SQUARED 1e-4f
#define AXIS_RELATIVE_TOLERANCE 0.05f
#define AXIS_ABSOLUTE_TOLERANCE 0.01f
#define CLIP_TOLERANCE 0.01f
#define TOLERANCE_MAX 0.0025f

#define NO_SEPARATION (-3e38f)
// Bounds that decide what need not be looked at allow for this much rounding.
#define BOUND 0.99f

// One of the two and the way from the other's frame to its own.
typedef struct view {
    const cairn_convex_view *self;
    const cairn_convex_view *other;
    cairn_mat3 turn;
    cairn_vec3 offset;
    // How far the other's centre lies above each face.
    float heights[CAIRN_HULL_FACES_MAX];
} view;

typedef struct hull_pair {
    view a;
    view b;
    float tolerance; // m, between axes as good as each other
} hull_pair;

typedef struct choice {
    uint32_t axis; // 0: none
    float separation;
} choice;

static void measure_heights(view *v) {
    const cairn_vec3 centre = vec3_add(mat3_apply(v->turn, v->other->centre), v->offset);
    for (uint32_t i = 0; i < v->self->face_count; ++i) {
        const cairn_plane *plane = &v->self->planes[i];
        v->heights[i] = vec3_dot(plane->normal, centre) - plane->offset;
    }
}

static float face_separation(const view *v, uint32_t face) {
    const cairn_plane *plane = &v->self->planes[face];
    const cairn_vec3 down = vec3_negate(mat3_apply_transposed(v->turn, plane->normal));
    return vec3_dot(plane->normal, v->offset) - plane->offset -
           cairn_convex_view_support(v->other, down);
}

// The face with the greatest separation, the first of equals; the height of the other's centre
// bounds what each can reach. Begins with the most likely one and ends when one is above the
// margin.
static choice best_face(const view *v, float margin) {
    uint32_t likely = 0;
    for (uint32_t i = 1; i < v->self->face_count; ++i) {
        likely = v->heights[i] > v->heights[likely] ? i : likely;
    }
    choice best = {.axis = likely, .separation = face_separation(v, likely)};
    const float inner = BOUND * v->other->inner;
    for (uint32_t i = 0; i < v->self->face_count && best.separation <= margin; ++i) {
        if (i == likely || v->heights[i] - inner < best.separation) {
            continue;
        }
        const float separation = face_separation(v, i);
        if (separation > best.separation || (separation == best.separation && i < best.axis)) {
            best = (choice){.axis = i, .separation = separation};
        }
    }
    return best;
}

static float tolerance_at(const hull_pair *pair, float separation) {
    return AXIS_RELATIVE_TOLERANCE * float_abs(separation) + pair->tolerance;
}

static float beaten_at(const hull_pair *pair, float separation) {
    return separation + tolerance_at(pair, separation);
}

// An edge in the frame of a; left x right runs along it.
typedef struct edge {
    uint32_t index;
    cairn_vec3 from;
    cairn_vec3 along; // to the other end
    cairn_vec3 left;  // normals of its faces
    cairn_vec3 right;
} edge;

static edge edge_of_a(const hull_pair *pair, uint32_t index) {
    const cairn_convex_view *p = pair->a.self;
    const cairn_hull_edge *e = &p->edges[index];
    return (edge){.index = index,
        .from = p->vertices[e->from],
        .along = vec3_sub(p->vertices[e->to], p->vertices[e->from]),
        .left = p->planes[e->left].normal,
        .right = p->planes[e->right].normal};
}

static edge edge_of_b(const hull_pair *pair, uint32_t index) {
    const cairn_convex_view *p = pair->b.self;
    const cairn_mat3 turn = pair->a.turn;
    const cairn_hull_edge *e = &p->edges[index];
    const cairn_vec3 along = vec3_sub(p->vertices[e->to], p->vertices[e->from]);
    return (edge){.index = index,
        .from = vec3_add(mat3_apply(turn, p->vertices[e->from]), pair->a.offset),
        .along = mat3_apply(turn, along),
        .left = mat3_apply(turn, p->planes[e->left].normal),
        .right = mat3_apply(turn, p->planes[e->right].normal)};
}

// Whether the arc of a's edge crosses that of b's, turned round, on the sphere of directions: then
// the two edges make a face of the Minkowski difference.
static bool arcs_cross(const edge *a, const edge *b) {
    const float right_b = 0.0f - vec3_dot(b->right, a->along);
    const float left_b = 0.0f - vec3_dot(b->left, a->along);
    const float right_a = vec3_dot(a->right, b->along);
    const float left_a = vec3_dot(a->left, b->along);
    return right_b * left_b < 0.0f && right_a * left_a < 0.0f && right_b * left_a > 0.0f;
}

// Unit, out of a; zero for edges nearly parallel.
static cairn_vec3 edge_normal(const edge *a, const edge *b) {
    const cairn_vec3 cross = vec3_cross(a->along, b->along);
    const float length_squared = vec3_length_squared(cross);
    const float lengths = vec3_length_squared(a->along) * vec3_length_squared(b->along);
    if (!(length_squared > PARALLEL_SINE_SQUARED * lengths)) {
        return vec3_zero();
    }
    const float inverse = 1.0f / float_sqrt(length_squared);
    const bool outward = vec3_dot(cross, vec3_add(a->left, a->right)) >= 0.0f;
    return vec3_scale(cross, outward ? inverse : 0.0f - inverse);
}

static float edge_separation(const edge *a, const edge *b) {
    if (!arcs_cross(a, b)) {
        return NO_SEPARATION;
    }
    const cairn_vec3 normal = edge_normal(a, b);
    const bool none = normal.x == 0.0f && normal.y == 0.0f && normal.z == 0.0f;
    return none ? NO_SEPARATION : vec3_dot(normal, vec3_sub(b->from, a->from));
}

// Whether some axis between the normals of an edge's two faces could separate by more than
// `threshold`: the other's centre must then be higher above the edge than that and the ball within
// the other. Along the arc the height is greatest at an end or, where it rises from both, at its
// crest.
static bool edge_matters(const view *v, uint32_t index, float threshold) {
    const cairn_hull_edge *e = &v->self->edges[index];
    const float least = threshold + BOUND * v->other->inner;
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
    return crest > BOUND * least * least * (1.0f - cosine * cosine);
}

// The pair of edges with the greatest separation, if that is more than `threshold`.
static choice best_edges(const hull_pair *pair, float threshold) {
    edge of_b[CAIRN_HULL_EDGES_MAX];
    uint32_t count_b = 0;
    for (uint32_t j = 0; j < pair->b.self->edge_count; ++j) {
        if (edge_matters(&pair->b, j, threshold)) {
            of_b[count_b++] = edge_of_b(pair, j);
        }
    }
    choice best = {.axis = 0, .separation = threshold};
    for (uint32_t i = 0; i < pair->a.self->edge_count && count_b > 0; ++i) {
        if (!edge_matters(&pair->a, i, threshold)) {
            continue;
        }
        const edge a = edge_of_a(pair, i);
        for (uint32_t k = 0; k < count_b; ++k) {
            const float separation = edge_separation(&a, &of_b[k]);
            if (separation > best.separation) {
                best.separation = separation;
                best.axis = EDGES + EDGES_PER_A * i + of_b[k].index;
            }
        }
    }
    return best;
}

// The edges that an axis names, if there are such.
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

// The hint's axis with its separation when it still serves; compare sim/collide/box_box.c.
static choice kept_axis(const hull_pair *pair, const choice *face, uint32_t hint) {
    const choice none = {.axis = 0};
    const bool on_a = hint >= FACE_A && hint < FACE_A + pair->a.self->face_count;
    const bool on_b = hint >= FACE_B && hint < FACE_B + pair->b.self->face_count;
    if (on_a || on_b) {
        const float separation = on_a ? face_separation(&pair->a, hint - FACE_A)
                                      : face_separation(&pair->b, hint - FACE_B);
        const bool beaten = face->separation > beaten_at(pair, separation);
        return beaten ? none : (choice){.axis = hint, .separation = separation};
    }
    edge a;
    edge b;
    if (!edges_of_axis(pair, hint, &a, &b)) {
        return none;
    }
    const float separation = edge_separation(&a, &b);
    const float least = face->separation + 0.25f * tolerance_at(pair, face->separation);
    return separation > least ? (choice){.axis = hint, .separation = separation} : none;
}

// Axis 0 when the two are apart. The rules are those between boxes, and so is the reason why a hint
// that came out comes out again.
static choice choose_axis(const hull_pair *pair, float margin, uint32_t hint) {
    const choice apart = {.axis = 0};
    choice face_a = best_face(&pair->a, margin);
    if (face_a.separation > margin) {
        return apart;
    }
    choice face_b = best_face(&pair->b, margin);
    if (face_b.separation > margin) {
        return apart;
    }
    face_a.axis += FACE_A;
    face_b.axis += FACE_B;
    const bool clearly_b = face_b.separation > beaten_at(pair, face_a.separation);
    const choice face = clearly_b ? face_b : face_a;
    const float face_beaten = beaten_at(pair, face.separation);
    const choice kept = kept_axis(pair, &face, hint);
    const float beaten = kept.axis != 0 ? beaten_at(pair, kept.separation) : face_beaten;
    const choice edges = best_edges(pair, float_min(beaten, margin));
    if (edges.axis != 0 && edges.separation > margin) {
        return apart;
    }
    if (kept.axis != 0 && !(edges.axis != 0 && edges.separation > beaten)) {
        return kept;
    }
    return edges.axis != 0 && edges.separation > face_beaten ? edges : face;
}

static void collide_edges(const hull_pair *pair, const choice *chosen, cairn_manifold *out) {
    edge a;
    edge b;
    if (!edges_of_axis(pair, chosen->axis, &a, &b)) {
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
    const float determinant = float_max(aa * bb - ab * ab, PARALLEL_SINE_SQUARED * aa * bb);
    const float t = float_clamp((ab * ra - aa * rb) / determinant, 0.0f, 1.0f);
    const cairn_vec3 on_b = vec3_add_scaled(b.from, b.along, t);
    cairn_manifold_add(out, vec3_sub_scaled(on_b, out->normal, 0.5f * chosen->separation),
        chosen->separation, FEATURE_EDGES | a.index << 8 | b.index);
}

// A reference face as a plane with coordinates, in the frame of its polyhedron.
typedef struct reference {
    const view *v;
    uint32_t face;
    cairn_vec3 origin; // a corner
    cairn_vec3 right;
    cairn_vec3 up;
    cairn_vec3 normal;
    float tolerance;
} reference;

static uint32_t corner_of(const cairn_convex_view *p, uint32_t face, uint32_t index) {
    return p->corners[p->face_first[face] + index];
}

static uint32_t corner_count(const cairn_convex_view *p, uint32_t face) {
    return (uint32_t)p->face_first[face + 1] - p->face_first[face];
}

static reference reference_of(const view *v, uint32_t face) {
    const cairn_convex_view *p = v->self;
    const cairn_vec3 origin = p->vertices[corner_of(p, face, 0)];
    const cairn_vec3 next = p->vertices[corner_of(p, face, 1)];
    const cairn_vec3 normal = p->planes[face].normal;
    const cairn_vec3 right = vec3_normalize(vec3_sub(next, origin), vec3(1.0f, 0.0f, 0.0f));
    return (reference){.v = v,
        .face = face,
        .origin = origin,
        .right = right,
        .up = vec3_cross(normal, right),
        .normal = normal,
        .tolerance = float_min(CLIP_TOLERANCE * p->inner, TOLERANCE_MAX)};
}

static cairn_clip_point in_plane(const reference *r, cairn_vec3 point, uint32_t label) {
    const cairn_vec3 from = vec3_sub(point, r->origin);
    return (cairn_clip_point){.x = vec3_dot(from, r->right),
        .y = vec3_dot(from, r->up),
        .height = vec3_dot(from, r->normal),
        .edge = label};
}

static cairn_vec3 point_of_other(const reference *r, uint32_t vertex) {
    return vec3_add(mat3_apply(r->v->turn, r->v->other->vertices[vertex]), r->v->offset);
}

// The other's vertex that reaches deepest below the reference face.
static uint32_t deepest_vertex(const reference *r) {
    const cairn_vec3 normal = mat3_apply_transposed(r->v->turn, r->normal);
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

// Of the faces around a vertex of the other, the one that looks most against the reference normal.
// (Of all faces, one elsewhere may look more against it, and lie high above.)
static uint32_t incident_face(const reference *r, uint32_t vertex) {
    const cairn_vec3 normal = mat3_apply_transposed(r->v->turn, r->normal);
    const cairn_convex_view *other = r->v->other;
    uint32_t best = 0;
    float least = 2.0f;
    for (uint32_t i = 0; i < other->edge_count; ++i) {
        const cairn_hull_edge *e = &other->edges[i];
        if (e->from != vertex && e->to != vertex) {
            continue;
        }
        // Each face around the vertex is to the left of one edge from it, or to the right of one to
        // it.
        const uint32_t face = e->from == vertex ? e->left : e->right;
        const float cosine = vec3_dot(other->planes[face].normal, normal);
        if (cosine < least) {
            least = cosine;
            best = face;
        }
    }
    return best;
}

// Its edges are labelled by their numbers.
static void incident_polygon(const reference *r, uint32_t face, cairn_clip_polygon *out) {
    const cairn_convex_view *other = r->v->other;
    out->count = corner_count(other, face);
    for (uint32_t i = 0; i < out->count; ++i) {
        out->points[i] = in_plane(r, point_of_other(r, corner_of(other, face, i)), i);
    }
}

// The line through side i of the reference face, moved out by the tolerance (by a little more where
// it runs aslant).
static cairn_clip_line side_cut(const reference *r, uint32_t i) {
    const cairn_convex_view *p = r->v->self;
    const uint32_t count = corner_count(p, r->face);
    const uint32_t next = i + 1 < count ? i + 1 : 0;
    const cairn_clip_point from = in_plane(r, p->vertices[corner_of(p, r->face, i)], 0);
    const cairn_clip_point to = in_plane(r, p->vertices[corner_of(p, r->face, next)], 0);
    const float right = to.y - from.y;
    const float up = from.x - to.x;
    const float slack = r->tolerance * (float_abs(right) + float_abs(up));
    return (cairn_clip_line){.right = right,
        .up = up,
        .limit = right * from.x + up * from.y + slack,
        .edge = CAIRN_HULL_VERTICES_MAX + i};
}

static bool reaches_over(const cairn_clip_polygon *polygon, const cairn_clip_line *cut) {
    bool over = false;
    for (uint32_t i = 0; i < polygon->count; ++i) {
        const cairn_clip_point *point = &polygon->points[i];
        over = over || cut->right * point->x + cut->up * point->y > cut->limit;
    }
    return over;
}

static const cairn_clip_polygon *cut_to_reference(
    const reference *r, cairn_clip_polygon *polygon, cairn_clip_polygon *spare) {
    const uint32_t count = corner_count(r->v->self, r->face);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_clip_line cut = side_cut(r, i);
        if (reaches_over(polygon, &cut)) {
            cairn_clip_polygon_cut(polygon, &cut, spare);
            cairn_clip_polygon *kept = spare;
            spare = polygon;
            polygon = kept;
        }
    }
    return polygon;
}

// In the frame of the reference polyhedron, normal out of it. Deep inside each other, two
// polyhedra may have no part of the incident face over the reference face; the deepest vertex is
// then the contact.
static void collide_faces(
    const view *v, uint32_t face, uint32_t feature, float margin, cairn_manifold *out) {
    const reference r = reference_of(v, face);
    const uint32_t vertex = deepest_vertex(&r);
    const uint32_t incident = incident_face(&r, vertex);
    cairn_clip_polygon whole;
    cairn_clip_polygon spare;
    cairn_clip_point low[CAIRN_CLIP_POINTS_MAX];
    uint32_t chosen[CAIRN_MANIFOLD_POINTS_MAX];
    incident_polygon(&r, incident, &whole);
    const cairn_clip_polygon *cut = cut_to_reference(&r, &whole, &spare);
    uint32_t count =
        cairn_clip_keep_below(cut, margin, feature | face << 18 | incident << 12, 6, low);
    if (count == 0) {
        low[0] = in_plane(&r, point_of_other(&r, vertex), FEATURE_VERTEX | face << 6 | vertex);
        count = low[0].height <= margin ? 1 : 0;
    }
    const uint32_t chosen_count = cairn_manifold_reduce(low, count, chosen);
    out->normal = r.normal;
    for (uint32_t i = 0; i < chosen_count; ++i) {
        const cairn_clip_point *point = &low[chosen[i]];
        cairn_vec3 at = vec3_add_scaled(r.origin, r.right, point->x);
        at = vec3_add_scaled(at, r.up, point->y);
        at = vec3_add_scaled(at, r.normal, 0.5f * point->height);
        cairn_manifold_add(out, at, point->height, point->edge);
    }
}

// From b's frame to a's, and the normal from b to a turned round.
static void manifold_from_b(const hull_pair *pair, cairn_manifold *manifold) {
    manifold->normal = vec3_negate(mat3_apply(pair->a.turn, manifold->normal));
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        cairn_vec3 *at = &manifold->points[i].position;
        *at = vec3_add(mat3_apply(pair->a.turn, *at), pair->a.offset);
    }
}

void cairn_collide_hulls(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_mat3 *turn, cairn_vec3 offset, float margin, uint32_t *axis_hint,
    cairn_manifold *out) {
    cairn_convex_box box_a;
    cairn_convex_box box_b;
    const cairn_convex_view polytope_a = cairn_convex_view_of(a, &box_a);
    const cairn_convex_view polytope_b = cairn_convex_view_of(b, &box_b);
    hull_pair pair;
    pair.a.self = pair.b.other = &polytope_a;
    pair.a.other = pair.b.self = &polytope_b;
    pair.a.turn = *turn;
    pair.a.offset = offset;
    pair.b.turn = mat3_transpose(*turn);
    pair.b.offset = vec3_negate(mat3_apply_transposed(*turn, offset));
    const float thinnest = float_min(polytope_a.inner, polytope_b.inner);
    pair.tolerance = float_min(AXIS_ABSOLUTE_TOLERANCE * thinnest, TOLERANCE_MAX);
    measure_heights(&pair.a);
    measure_heights(&pair.b);
    const choice chosen = choose_axis(&pair, margin, *axis_hint);
    if (chosen.axis == 0) {
        return;
    }
    *axis_hint = chosen.axis;
    if (chosen.axis >= EDGES) {
        collide_edges(&pair, &chosen, out);
    } else if (chosen.axis < FACE_B) {
        collide_faces(&pair.a, chosen.axis - FACE_A, 0, margin, out);
    } else {
        collide_faces(&pair.b, chosen.axis - FACE_B, FEATURE_FACE_B, margin, out);
        manifold_from_b(&pair, out);
    }
}

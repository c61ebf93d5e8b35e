// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "sim/collide/clip.h"
#include "sim/collide/separating_axis.h"
#include "sim/collide/shape_pairs.h"

// Numbers of axes, as the hint stores them: 0 none, 1 to 3 the faces of a, 4 to 6 those of b, then
// 7 + 3 i + j the cross product of edge i of a and edge j of b.
enum { FACE_A = 1, FACE_B = 4, EDGES = 7, AXIS_COUNT = 16 };

static const uint32_t next_axis[3] = {1, 2, 0};
static const uint32_t axis_after_next[3] = {2, 0, 1};

// Two boxes in the frame of a, by components.
typedef struct box_pair {
    float half_a[3];
    float half_b[3];
    float offset[3];      // centre of b along a's axes
    float offset_b[3];    // and along b's
    float rotation[3][3]; // from b's frame to a's: entry (i, j) is axis i of a dot axis j of b
    float rotation_abs[3][3];
    float tolerance; // m, absolute, between axes that count as equal
} box_pair;

static void to_array(float out[3], cairn_vec3 v) {
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static float thinnest_side(const float half[3]) {
    return float_min(half[0], float_min(half[1], half[2]));
}

// The separation along the cross product of axis i of a and axis j of b, in two parts: nearly
// always a bound from above is enough, which needs no square root (Ericson 2004, section 4.4.1).
typedef struct edge_gap {
    float gap;            // the separation times the cross product's length
    float length_squared; // of the cross product
} edge_gap;

static inline edge_gap edge_gap_of(const box_pair *pair, uint32_t i, uint32_t j) {
    const uint32_t u = next_axis[i];
    const uint32_t v = axis_after_next[i];
    const uint32_t p = next_axis[j];
    const uint32_t q = axis_after_next[j];
    const float across = pair->rotation[u][j];
    const float along = pair->rotation[v][j];
    const float extent_a =
        pair->half_a[u] * pair->rotation_abs[v][j] + pair->half_a[v] * pair->rotation_abs[u][j];
    const float extent_b =
        pair->half_b[p] * pair->rotation_abs[i][q] + pair->half_b[q] * pair->rotation_abs[i][p];
    const float distance = float_abs(pair->offset[v] * across - pair->offset[u] * along);
    return (edge_gap){
        .gap = distance - (extent_a + extent_b), .length_squared = across * across + along * along};
}

static float edge_separation(const edge_gap *edge) {
    if (!(edge->length_squared > CAIRN_AXIS_PARALLEL_SINE_SQUARED)) {
        return CAIRN_NO_SEPARATION;
    }
    return edge->gap / float_sqrt(edge->length_squared);
}

// The pair of edges with the greatest separation, if that is more than `threshold`. A cross product
// is not longer than 1, so a gap that is neither above the threshold nor above zero can be skipped
// before it is divided by that length.
static cairn_axis best_edges(const box_pair *pair, float threshold) {
    cairn_axis best = {.number = 0, .separation = threshold};
    const float least_gap = float_min(threshold, 0.0f);
    for (uint32_t i = 0; i < 3; ++i) {
        for (uint32_t j = 0; j < 3; ++j) {
            const edge_gap edge = edge_gap_of(pair, i, j);
            if (edge.gap > least_gap) {
                const float separation = edge_separation(&edge);
                if (separation > best.separation) {
                    best.separation = separation;
                    best.number = EDGES + 3 * i + j;
                }
            }
        }
    }
    return best;
}

static cairn_axis best_of(const float separations[3], uint32_t first) {
    cairn_axis best = {.number = first, .separation = separations[0]};
    for (uint32_t i = 1; i < 3; ++i) {
        if (separations[i] > best.separation) {
            best = (cairn_axis){.number = first + i, .separation = separations[i]};
        }
    }
    return best;
}

// The separations along the faces' axes; false if one is above the margin.
static bool face_separations(const box_pair *pair, float margin, float separations[6]) {
    for (uint32_t i = 0; i < 3; ++i) {
        const float *row = pair->rotation_abs[i];
        const float extent =
            row[0] * pair->half_b[0] + row[1] * pair->half_b[1] + row[2] * pair->half_b[2];
        separations[i] = float_abs(pair->offset[i]) - (pair->half_a[i] + extent);
    }
    if (separations[0] > margin || separations[1] > margin || separations[2] > margin) {
        return false;
    }
    for (uint32_t j = 0; j < 3; ++j) {
        const float extent = pair->rotation_abs[0][j] * pair->half_a[0] +
                             pair->rotation_abs[1][j] * pair->half_a[1] +
                             pair->rotation_abs[2][j] * pair->half_a[2];
        separations[3 + j] = float_abs(pair->offset_b[j]) - (pair->half_b[j] + extent);
    }
    return !(separations[3] > margin || separations[4] > margin || separations[5] > margin);
}

// The hint's axis if it holds.
static cairn_axis hinted_axis(
    const box_pair *pair, const float separations[6], cairn_axis face, uint32_t hint) {
    const cairn_axis none = {.number = 0};
    if (hint >= FACE_A && hint < EDGES) {
        const float separation = separations[hint - FACE_A];
        return cairn_axis_face_holds(separation, face, pair->tolerance)
                   ? (cairn_axis){.number = hint, .separation = separation}
                   : none;
    }
    if (hint < EDGES || hint >= AXIS_COUNT) {
        return none;
    }
    const edge_gap edge = edge_gap_of(pair, (hint - EDGES) / 3, (hint - EDGES) % 3);
    const float separation = edge_separation(&edge);
    return cairn_axis_edges_hold(separation, face, pair->tolerance)
               ? (cairn_axis){.number = hint, .separation = separation}
               : none;
}

// Number 0 if the boxes are apart; see sim/collide/separating_axis.h.
static cairn_choice choose_axis(const box_pair *pair, float margin, uint32_t hint) {
    float separations[6];
    if (!face_separations(pair, margin, separations)) {
        return (cairn_choice){.axis.number = 0};
    }
    const cairn_axis face = cairn_axis_best_face(
        best_of(&separations[0], FACE_A), best_of(&separations[3], FACE_B), pair->tolerance);
    const cairn_axis kept = hinted_axis(pair, separations, face, hint);
    const float threshold = cairn_axis_edge_threshold(face, kept, pair->tolerance);
    const cairn_axis edges = best_edges(pair, float_min(threshold, margin));
    return cairn_axis_choose(face, kept, edges, margin, pair->tolerance);
}

static cairn_vec3 vec3_of(const float v[3]) {
    return vec3(v[0], v[1], v[2]);
}

static cairn_vec3 rotate_to_a(const box_pair *pair, const float v[3]) {
    return vec3(
        pair->rotation[0][0] * v[0] + pair->rotation[0][1] * v[1] + pair->rotation[0][2] * v[2],
        pair->rotation[1][0] * v[0] + pair->rotation[1][1] * v[1] + pair->rotation[1][2] * v[2],
        pair->rotation[2][0] * v[0] + pair->rotation[2][1] * v[1] + pair->rotation[2][2] * v[2]);
}

// The centre of the edge along `axis` that is farthest in the direction `towards`. Returns the
// sides of the box that it lies on, as two bits.
static uint32_t support_edge_centre(
    const float half[3], const float towards[3], uint32_t axis, float centre[3]) {
    CAIRN_ASSERT(axis < 3);
    const uint32_t u = next_axis[axis];
    const uint32_t v = axis_after_next[axis];
    centre[axis] = 0.0f;
    centre[u] = towards[u] < 0.0f ? 0.0f - half[u] : half[u];
    centre[v] = towards[v] < 0.0f ? 0.0f - half[v] : half[v];
    return (towards[u] < 0.0f ? 1u : 0u) + (towards[v] < 0.0f ? 2u : 0u);
}

// Unit, from a to b.
static cairn_vec3 edge_normal(const box_pair *pair, uint32_t i, uint32_t j) {
    float cross[3];
    cross[i] = 0.0f;
    cross[next_axis[i]] = 0.0f - pair->rotation[axis_after_next[i]][j];
    cross[axis_after_next[i]] = pair->rotation[next_axis[i]][j];
    const cairn_vec3 unit = vec3_normalize(vec3_of(cross), vec3(0.0f, 1.0f, 0.0f));
    const bool forward = vec3_dot(unit, vec3_of(pair->offset)) >= 0.0f;
    return vec3_select(forward, unit, vec3_negate(unit));
}

static void collide_edges(const box_pair *pair, const cairn_axis *chosen, cairn_manifold *out) {
    CAIRN_ASSERT(chosen->number >= EDGES && chosen->number < AXIS_COUNT);
    const uint32_t i = (chosen->number - EDGES) / 3;
    const uint32_t j = (chosen->number - EDGES) % 3;
    out->normal = edge_normal(pair, i, j);
    const float n[3] = {out->normal.x, out->normal.y, out->normal.z};
    float towards_b[3];
    for (uint32_t k = 0; k < 3; ++k) {
        towards_b[k] = 0.0f - (pair->rotation[0][k] * n[0] + pair->rotation[1][k] * n[1] +
                                  pair->rotation[2][k] * n[2]);
    }
    float centre_a[3];
    float local_b[3];
    const uint32_t sides_a = support_edge_centre(pair->half_a, n, i, centre_a);
    const uint32_t sides_b = support_edge_centre(pair->half_b, towards_b, j, local_b);
    const cairn_vec3 centre_b = vec3_add(rotate_to_a(pair, local_b), vec3_of(pair->offset));
    // The closest points of the lines centre_a + s along_a and centre_b + t along_b.
    const cairn_vec3 gap_vector = vec3_sub(centre_b, vec3_of(centre_a));
    const cairn_vec3 along_b =
        vec3(pair->rotation[0][j], pair->rotation[1][j], pair->rotation[2][j]);
    const float cosine = pair->rotation[i][j];
    const float apart_a = vec3_component(gap_vector, i);
    const float apart_b = vec3_dot(gap_vector, along_b);
    const float sine_squared = float_max(1.0f - cosine * cosine, CAIRN_AXIS_PARALLEL_SINE_SQUARED);
    const float limit = pair->half_b[j];
    const float t = float_clamp((cosine * apart_a - apart_b) / sine_squared, 0.0f - limit, limit);
    const cairn_vec3 on_b = vec3_add_scaled(centre_b, along_b, t);
    cairn_manifold_add(out, vec3_sub_scaled(on_b, out->normal, 0.5f * chosen->separation),
        chosen->separation, chosen->number << 12 | sides_a << 2 | sides_b);
}

// A reference face and the other box, in the frame of the reference box. The face is perpendicular
// to axis `k`, on the side of `sign`; its plane is spanned by the axes `u` and `v`.
typedef struct face_pair {
    const float *half; // of the reference box
    const float *half_incident;
    float offset[3];      // centre of the incident box
    float rotation[3][3]; // from its frame to this one
    uint32_t k, u, v;
    float sign;
    bool on_a; // the reference face is one of a
} face_pair;

static void face_pair_of(face_pair *faces, const box_pair *pair, uint32_t axis) {
    CAIRN_ASSERT(axis >= FACE_A && axis < EDGES);
    const bool on_a = axis < FACE_B;
    faces->on_a = on_a;
    faces->half = on_a ? pair->half_a : pair->half_b;
    faces->half_incident = on_a ? pair->half_b : pair->half_a;
    for (uint32_t i = 0; i < 3; ++i) {
        faces->offset[i] = on_a ? pair->offset[i] : 0.0f - pair->offset_b[i];
        for (uint32_t j = 0; j < 3; ++j) {
            faces->rotation[i][j] = on_a ? pair->rotation[i][j] : pair->rotation[j][i];
        }
    }
    faces->k = axis - (on_a ? FACE_A : FACE_B);
    faces->u = next_axis[faces->k];
    faces->v = axis_after_next[faces->k];
    faces->sign = faces->offset[faces->k] < 0.0f ? -1.0f : 1.0f;
}

// Centre and half sides of the incident face along one axis of the reference box.
typedef struct face_projection {
    float centre;
    float across;
    float along;
} face_projection;

typedef struct incident_face {
    uint32_t m, p, q; // it is perpendicular to m; its sides run along p and q
    float side;       // of the box on m
    uint32_t number;
} incident_face;

// The face whose normal is most opposite to the reference normal.
static incident_face incident_face_of(const face_pair *faces) {
    CAIRN_ASSERT(faces->k < 3);
    const float *row = faces->rotation[faces->k];
    const uint32_t m = vec3_largest_axis(vec3_abs(vec3_of(row)));
    const bool negative = faces->sign * row[m] > 0.0f;
    return (incident_face){.m = m,
        .p = next_axis[m],
        .q = axis_after_next[m],
        .side = negative ? 0.0f - faces->half_incident[m] : faces->half_incident[m],
        .number = 2 * m + (negative ? 1u : 0u)};
}

static face_projection project_face(
    const face_pair *faces, const incident_face *face, uint32_t axis) {
    CAIRN_ASSERT(axis < 3 && face->m < 3);
    const float *row = faces->rotation[axis];
    return (face_projection){.centre = faces->offset[axis] + row[face->m] * face->side,
        .across = row[face->p] * faces->half_incident[face->p],
        .along = row[face->q] * faces->half_incident[face->q]};
}

// Corner i of the face: across -, +, +, - and along -, -, +, +. Its edge i leads to the next.
static void corner_coordinates(const face_projection *projection, float out[4]) {
    const float less = projection->centre - projection->across;
    const float more = projection->centre + projection->across;
    out[0] = less - projection->along;
    out[1] = more - projection->along;
    out[2] = more + projection->along;
    out[3] = less + projection->along;
}

static bool extends_beyond(const face_projection *projection, float sign, float limit) {
    const float extent = float_abs(projection->across) + float_abs(projection->along);
    return sign * projection->centre + extent > limit;
}

// The four edges of a face have numbers: edge i leads from corner i to the next one, where the
// corners are as corner_coordinates gives them. Those of b have this bit in addition.
enum { EDGE_OF_B = 4 };

// Clips at those sides of the reference face that the incident face extends beyond.
static const cairn_clip_polygon *clip_to_reference(const face_pair *faces,
    const face_projection *projection_u, const face_projection *projection_v,
    cairn_clip_polygon *polygon, cairn_clip_polygon *spare) {
    CAIRN_ASSERT(polygon->count == 4);
    const float tolerance =
        float_min(CAIRN_CLIP_TOLERANCE * thinnest_side(faces->half), CAIRN_AXIS_TOLERANCE_MAX);
    const float limit_u = faces->half[faces->u] + tolerance;
    const float limit_v = faces->half[faces->v] + tolerance;
    const uint32_t owner = faces->on_a ? 0 : EDGE_OF_B;
    const cairn_clip_line cuts[4] = {{1.0f, 0.0f, limit_u, owner + 1},
        {-1.0f, 0.0f, limit_u, owner + 3}, {0.0f, 1.0f, limit_v, owner + 2},
        {0.0f, -1.0f, limit_v, owner}};
    const bool needed[4] = {extends_beyond(projection_u, 1.0f, limit_u),
        extends_beyond(projection_u, -1.0f, limit_u), extends_beyond(projection_v, 1.0f, limit_v),
        extends_beyond(projection_v, -1.0f, limit_v)};
    for (uint32_t i = 0; i < 4; ++i) {
        if (needed[i]) {
            cairn_clip_polygon_cut(polygon, &cuts[i], spare);
            cairn_clip_polygon *cut = spare;
            spare = polygon;
            polygon = cut;
        }
    }
    return polygon;
}

static void incident_polygon(
    const face_pair *faces, const face_projection projections[3], cairn_clip_polygon *out) {
    float x[4];
    float y[4];
    float z[4];
    corner_coordinates(&projections[0], x);
    corner_coordinates(&projections[1], y);
    corner_coordinates(&projections[2], z);
    const float level = faces->half[faces->k];
    const uint32_t owner = faces->on_a ? EDGE_OF_B : 0;
    for (uint32_t i = 0; i < 4; ++i) {
        out->points[i] = (cairn_clip_point){
            .x = x[i], .y = y[i], .height = faces->sign * z[i] - level, .edge = owner + i};
    }
    out->count = 4;
}

// The part of the incident face that is over the reference face and at most the margin above it.
typedef struct clipped_face {
    face_pair faces;
    float cosine; // between the reference normal and the opposite of the incident normal
    uint32_t count;
    cairn_clip_point low[CAIRN_CLIP_POINTS_MAX];
} clipped_face;

// The feature of a point does not tell which of the two faces is the reference: bodies at rest on
// each other tilt by a hair to and fro, and the impulses must survive it. So it names a's face,
// b's, and the two edges in the order in which they meet as seen from outside a.
static cairn_clip_feature feature_of(const face_pair *faces, const incident_face *incident) {
    const uint32_t reference = 2 * faces->k + (faces->sign < 0.0f ? 1u : 0u);
    const uint32_t face_a = faces->on_a ? reference : incident->number;
    const uint32_t face_b = faces->on_a ? incident->number : reference;
    return (cairn_clip_feature){.faces = face_a << 9 | face_b << 6,
        .edge_bits = 3,
        .reversed = faces->on_a == (incident->side > 0.0f)};
}

static void clip_faces(const box_pair *pair, uint32_t axis, float margin, clipped_face *out) {
    face_pair_of(&out->faces, pair, axis);
    const face_pair *faces = &out->faces;
    const incident_face incident = incident_face_of(faces);
    const face_projection projections[3] = {project_face(faces, &incident, faces->u),
        project_face(faces, &incident, faces->v), project_face(faces, &incident, faces->k)};
    cairn_clip_polygon polygon;
    cairn_clip_polygon spare;
    incident_polygon(faces, projections, &polygon);
    const cairn_clip_polygon *cut =
        clip_to_reference(faces, &projections[0], &projections[1], &polygon, &spare);
    const cairn_clip_feature feature = feature_of(faces, &incident);
    out->cosine = float_abs(faces->rotation[faces->k][incident.m]);
    out->count = cairn_clip_keep_below(cut, margin, &feature, out->low);
}

// Adds the point midway between the incident point and the reference plane, moved onto the
// reference face: the tolerance of clipping is for the identity of points, not for longer lever
// arms.
static void add_reference_point(const box_pair *pair, const face_pair *faces,
    const cairn_clip_point *point, cairn_manifold *out) {
    const float half_u = faces->half[faces->u];
    const float half_v = faces->half[faces->v];
    float at[3];
    at[faces->k] = faces->sign * (faces->half[faces->k] + 0.5f * point->height);
    at[faces->u] = float_clamp(point->x, 0.0f - half_u, half_u);
    at[faces->v] = float_clamp(point->y, 0.0f - half_v, half_v);
    const cairn_vec3 position =
        faces->on_a ? vec3_of(at) : vec3_add(rotate_to_a(pair, at), vec3_of(pair->offset));
    cairn_manifold_add(out, position, point->height, point->edge);
}

static void add_face_points(
    const box_pair *pair, const clipped_face *clipped, cairn_manifold *out) {
    const face_pair *faces = &clipped->faces;
    uint32_t chosen[CAIRN_MANIFOLD_POINTS_MAX];
    const uint32_t point_count = cairn_manifold_reduce(clipped->low, clipped->count, chosen);
    CAIRN_ASSERT(point_count <= CAIRN_MANIFOLD_POINTS_MAX);
    float normal[3] = {0.0f, 0.0f, 0.0f};
    normal[faces->k] = faces->on_a ? faces->sign : 0.0f - faces->sign;
    out->normal = faces->on_a ? vec3_of(normal) : rotate_to_a(pair, normal);
    for (uint32_t i = 0; i < point_count; ++i) {
        add_reference_point(pair, faces, &clipped->low[chosen[i]], out);
    }
}

// The face of a or b whose normal is closest to that of the pair of edges.
static uint32_t face_along(const box_pair *pair, uint32_t edges) {
    CAIRN_ASSERT(edges >= EDGES && edges < AXIS_COUNT);
    const uint32_t i = (edges - EDGES) / 3;
    const uint32_t j = (edges - EDGES) % 3;
    const cairn_vec3 normal = edge_normal(pair, i, j);
    const float n[3] = {normal.x, normal.y, normal.z};
    uint32_t best = FACE_A;
    float best_cosine = 0.0f;
    for (uint32_t k = 0; k < 6; ++k) {
        const uint32_t column = k < 3 ? k : k - 3;
        const float cosine =
            float_abs(k < 3 ? n[k]
                            : pair->rotation[0][column] * n[0] + pair->rotation[1][column] * n[1] +
                                  pair->rotation[2][column] * n[2]);
        if (cosine > best_cosine) {
            best = FACE_A + k;
            best_cosine = cosine;
        }
    }
    return best;
}

// Looks for a face that serves as well as the chosen pair of edges; see
// sim/collide/separating_axis.h. Returns its number, with the points in *clipped, or 0.
static uint32_t face_for_edges(const box_pair *pair, const cairn_choice *choice, uint32_t hint,
    float margin, clipped_face *clipped) {
    const uint32_t hinted = hint >= FACE_A && hint < EDGES ? hint : 0;
    const uint32_t along = choice->clearly ? face_along(pair, choice->axis.number) : 0;
    const cairn_axis_candidates candidates = cairn_axis_candidates_of(choice, hinted, along);
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

void cairn_collide_boxes(cairn_vec3 half_extents_a, cairn_vec3 half_extents_b,
    const cairn_mat3 *rotation, cairn_vec3 offset, float margin, uint32_t *axis_hint,
    cairn_manifold *out) {
    box_pair pair;
    to_array(pair.half_a, half_extents_a);
    to_array(pair.half_b, half_extents_b);
    to_array(pair.offset, offset);
    to_array(pair.offset_b, mat3_apply_transposed(*rotation, offset));
    to_array(pair.rotation[0], rotation->x);
    to_array(pair.rotation[1], rotation->y);
    to_array(pair.rotation[2], rotation->z);
    const cairn_mat3 rotation_abs = mat3_abs(*rotation);
    to_array(pair.rotation_abs[0], rotation_abs.x);
    to_array(pair.rotation_abs[1], rotation_abs.y);
    to_array(pair.rotation_abs[2], rotation_abs.z);
    const float thinnest = float_min(thinnest_side(pair.half_a), thinnest_side(pair.half_b));
    CAIRN_ASSERT(thinnest > 0.0f);
    pair.tolerance = float_min(CAIRN_AXIS_ABSOLUTE_TOLERANCE * thinnest, CAIRN_AXIS_TOLERANCE_MAX);
    const cairn_choice choice = choose_axis(&pair, margin, *axis_hint);
    if (choice.axis.number == 0) {
        return;
    }
    CAIRN_ASSERT(choice.axis.number < AXIS_COUNT);
    clipped_face clipped;
    uint32_t face = choice.axis.number;
    if (face < EDGES) {
        clip_faces(&pair, face, margin, &clipped);
    } else {
        face = face_for_edges(&pair, &choice, *axis_hint, margin, &clipped);
    }
    *axis_hint = face != 0 ? face : choice.axis.number;
    if (face != 0) {
        add_face_points(&pair, &clipped, out);
    } else {
        collide_edges(&pair, &choice.axis, out);
    }
}

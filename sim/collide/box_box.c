// SPDX-License-Identifier: MIT
#include "sim/collide/shape_pairs.h"

#include "sim/collide/clip.h"

// Axes are numbered as the hint keeps them: 0 none, 1 to 3 the faces of a, 4 to 6 those of b, then
// 7 + 3 i + j the cross product of edge i of a and edge j of b.
enum { FACE_A = 1, FACE_B = 4, EDGES = 7, AXIS_COUNT = 16 };

// Edges closer to parallel than this squared sine (half a degree) have no direction across worth
// the name; the faces' axes see what theirs would.
#define PARALLEL_SINE_SQUARED 1e-4f
// A new axis must be better by this fraction of the old separation plus this fraction of the
// thinnest side (Catto 2006), so that noise does not change features and throw impulses away.
#define AXIS_RELATIVE_TOLERANCE 0.05f
#define AXIS_ABSOLUTE_TOLERANCE 0.01f
// Incident corners this far outside the reference face, as a fraction of its thinnest side, are
// left uncut: boxes of one size stacked squarely keep their corners' identity when they sway.
#define CLIP_TOLERANCE 0.01f
// No tolerance is larger than this, m.
#define TOLERANCE_MAX 0.0025f

#define NO_SEPARATION (-3e38f)

static const uint32_t next_axis[3] = {1, 2, 0};
static const uint32_t last_axis[3] = {2, 0, 1};

// Two boxes in the frame of a, by components.
typedef struct box_pair {
    float half_a[3];
    float half_b[3];
    float offset[3];   // centre of b along a's axes
    float offset_b[3]; // and along b's
    float turn[3][3];  // from b's frame to a's: entry (i, j) is axis i of a dot axis j of b
    float turn_abs[3][3];
    float tolerance; // m, between axes as good as each other
} box_pair;

static void store(float out[3], cairn_vec3 v) {
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static float thinnest_of(const float half[3]) {
    return float_min(half[0], float_min(half[1], half[2]));
}

static void box_pair_turn(box_pair *pair, const cairn_mat3 *turn) {
    const cairn_mat3 turn_abs = mat3_abs(*turn);
    store(pair->turn[0], turn->x);
    store(pair->turn[1], turn->y);
    store(pair->turn[2], turn->z);
    store(pair->turn_abs[0], turn_abs.x);
    store(pair->turn_abs[1], turn_abs.y);
    store(pair->turn_abs[2], turn_abs.z);
}

static float tolerance_at(const box_pair *pair, float separation) {
    return AXIS_RELATIVE_TOLERANCE * float_abs(separation) + pair->tolerance;
}

// How much better than an axis with this separation another must be to be taken instead.
static float beaten_at(const box_pair *pair, float separation) {
    return separation + tolerance_at(pair, separation);
}

// The separation along the cross product of axis i of a and axis j of b; by far the most often, no
// more than a bound from above is needed, the one without the square root. (Ericson 2004, section
// 4.4.1)
typedef struct edge_gap {
    float gap;            // the separation times the cross product's length
    float length_squared; // of the cross product
} edge_gap;

static inline edge_gap edge_gap_of(const box_pair *pair, uint32_t i, uint32_t j) {
    const uint32_t u = next_axis[i];
    const uint32_t v = last_axis[i];
    const uint32_t p = next_axis[j];
    const uint32_t q = last_axis[j];
    const float across = pair->turn[u][j];
    const float along = pair->turn[v][j];
    const float reach_a =
        pair->half_a[u] * pair->turn_abs[v][j] + pair->half_a[v] * pair->turn_abs[u][j];
    const float reach_b =
        pair->half_b[p] * pair->turn_abs[i][q] + pair->half_b[q] * pair->turn_abs[i][p];
    const float apart = float_abs(pair->offset[v] * across - pair->offset[u] * along);
    return (edge_gap){
        .gap = apart - (reach_a + reach_b), .length_squared = across * across + along * along};
}

static float edge_separation(const edge_gap *edge) {
    if (!(edge->length_squared > PARALLEL_SINE_SQUARED)) {
        return NO_SEPARATION;
    }
    return edge->gap / float_sqrt(edge->length_squared);
}

typedef struct choice {
    uint32_t axis; // 0: none
    float separation;
} choice;

// The edge pair with the greatest separation, if that is more than `threshold`. The cross products
// are not longer than 1, so a gap that is neither above the threshold nor above zero need not be
// divided by their length to be passed over.
static choice best_edge(const box_pair *pair, float threshold) {
    choice best = {.axis = 0, .separation = threshold};
    const float worth = float_min(threshold, 0.0f);
    for (uint32_t i = 0; i < 3; ++i) {
        for (uint32_t j = 0; j < 3; ++j) {
            const edge_gap edge = edge_gap_of(pair, i, j);
            if (edge.gap > worth) {
                const float separation = edge_separation(&edge);
                if (separation > best.separation) {
                    best.separation = separation;
                    best.axis = EDGES + 3 * i + j;
                }
            }
        }
    }
    return best;
}

static choice best_of(const float separations[3], uint32_t first) {
    choice best = {.axis = first, .separation = separations[0]};
    for (uint32_t i = 1; i < 3; ++i) {
        if (separations[i] > best.separation) {
            best = (choice){.axis = first + i, .separation = separations[i]};
        }
    }
    return best;
}

// The separations along the faces' axes; false as soon as one is above the margin.
static bool faces_meet(const box_pair *pair, float margin, float separations[6]) {
    for (uint32_t i = 0; i < 3; ++i) {
        const float *row = pair->turn_abs[i];
        const float reach =
            row[0] * pair->half_b[0] + row[1] * pair->half_b[1] + row[2] * pair->half_b[2];
        separations[i] = float_abs(pair->offset[i]) - (pair->half_a[i] + reach);
    }
    if (separations[0] > margin || separations[1] > margin || separations[2] > margin) {
        return false;
    }
    for (uint32_t j = 0; j < 3; ++j) {
        const float reach = pair->turn_abs[0][j] * pair->half_a[0] +
                            pair->turn_abs[1][j] * pair->half_a[1] +
                            pair->turn_abs[2][j] * pair->half_a[2];
        separations[3 + j] = float_abs(pair->offset_b[j]) - (pair->half_b[j] + reach);
    }
    return !(separations[3] > margin || separations[4] > margin || separations[5] > margin);
}

// The hint's axis with its separation when it still serves: a face that no other face clearly
// beats; an edge still better than the best face, if less clearly than when it was taken.
static choice kept_axis(
    const box_pair *pair, const float separations[6], const choice *face, uint32_t hint) {
    const choice none = {.axis = 0};
    if (hint >= FACE_A && hint < EDGES) {
        const float separation = separations[hint - FACE_A];
        const bool beaten = face->separation > beaten_at(pair, separation);
        return beaten ? none : (choice){.axis = hint, .separation = separation};
    }
    if (hint < EDGES || hint >= AXIS_COUNT) {
        return none;
    }
    const edge_gap edge = edge_gap_of(pair, (hint - EDGES) / 3, (hint - EDGES) % 3);
    const float separation = edge_separation(&edge);
    const float least = face->separation + 0.25f * tolerance_at(pair, face->separation);
    return separation > least ? (choice){.axis = hint, .separation = separation} : none;
}

// Axis 0 when the boxes are apart. What is chosen without a hint is the best face of a, unless one
// of b is clearly better, unless an edge pair is clearly better than that: faces give up to four
// points, edges one. A hint that serves is left only for an edge pair clearly better than it, and
// then for what is chosen without a hint; that choice, as a hint, serves. So a hint that came out
// comes out again.
static choice choose_axis(const box_pair *pair, float margin, uint32_t hint) {
    const choice apart = {.axis = 0};
    float separations[6];
    if (!faces_meet(pair, margin, separations)) {
        return apart;
    }
    const choice face_a = best_of(&separations[0], FACE_A);
    const choice face_b = best_of(&separations[3], FACE_B);
    const bool clearly_b = face_b.separation > beaten_at(pair, face_a.separation);
    const choice face = clearly_b ? face_b : face_a;
    const float face_beaten = beaten_at(pair, face.separation);
    const choice kept = kept_axis(pair, separations, &face, hint);
    const float beaten = kept.axis != 0 ? beaten_at(pair, kept.separation) : face_beaten;
    const choice edge = best_edge(pair, float_min(beaten, margin));
    if (edge.axis != 0 && edge.separation > margin) {
        return apart;
    }
    if (kept.axis != 0 && !(edge.axis != 0 && edge.separation > beaten)) {
        return kept;
    }
    return edge.axis != 0 && edge.separation > face_beaten ? edge : face;
}

static cairn_vec3 vec3_of(const float v[3]) {
    return vec3(v[0], v[1], v[2]);
}

static cairn_vec3 turned(const box_pair *pair, const float v[3]) {
    return vec3(pair->turn[0][0] * v[0] + pair->turn[0][1] * v[1] + pair->turn[0][2] * v[2],
        pair->turn[1][0] * v[0] + pair->turn[1][1] * v[1] + pair->turn[1][2] * v[2],
        pair->turn[2][0] * v[0] + pair->turn[2][1] * v[1] + pair->turn[2][2] * v[2]);
}

// The centre of the edge along `axis` that reaches farthest in the direction `towards`; its sides
// as two bits.
static uint32_t edge_centre(
    const float half[3], const float towards[3], uint32_t axis, float centre[3]) {
    const uint32_t u = next_axis[axis];
    const uint32_t v = last_axis[axis];
    centre[axis] = 0.0f;
    centre[u] = towards[u] < 0.0f ? 0.0f - half[u] : half[u];
    centre[v] = towards[v] < 0.0f ? 0.0f - half[v] : half[v];
    return (towards[u] < 0.0f ? 1u : 0u) + (towards[v] < 0.0f ? 2u : 0u);
}

// Unit, from a to b.
static cairn_vec3 edge_normal(const box_pair *pair, uint32_t i, uint32_t j) {
    float cross[3];
    cross[i] = 0.0f;
    cross[next_axis[i]] = 0.0f - pair->turn[last_axis[i]][j];
    cross[last_axis[i]] = pair->turn[next_axis[i]][j];
    const cairn_vec3 unit = vec3_normalize(vec3_of(cross), vec3(0.0f, 1.0f, 0.0f));
    const bool forward = vec3_dot(unit, vec3_of(pair->offset)) >= 0.0f;
    return vec3_select(forward, unit, vec3_negate(unit));
}

static void collide_edges(const box_pair *pair, const choice *chosen, cairn_manifold *out) {
    const uint32_t i = (chosen->axis - EDGES) / 3;
    const uint32_t j = (chosen->axis - EDGES) % 3;
    out->normal = edge_normal(pair, i, j);
    const float n[3] = {out->normal.x, out->normal.y, out->normal.z};
    float back_b[3];
    for (uint32_t k = 0; k < 3; ++k) {
        back_b[k] =
            0.0f - (pair->turn[0][k] * n[0] + pair->turn[1][k] * n[1] + pair->turn[2][k] * n[2]);
    }
    float centre_a[3];
    float local_b[3];
    const uint32_t sides_a = edge_centre(pair->half_a, n, i, centre_a);
    const uint32_t sides_b = edge_centre(pair->half_b, back_b, j, local_b);
    const cairn_vec3 centre_b = vec3_add(turned(pair, local_b), vec3_of(pair->offset));
    // The closest points of the lines centre_a + s along_a and centre_b + t along_b.
    const cairn_vec3 apart = vec3_sub(centre_b, vec3_of(centre_a));
    const cairn_vec3 along_b = vec3(pair->turn[0][j], pair->turn[1][j], pair->turn[2][j]);
    const float cosine = pair->turn[i][j];
    const float apart_a = vec3_component(apart, i);
    const float apart_b = vec3_dot(apart, along_b);
    const float sine_squared = float_max(1.0f - cosine * cosine, PARALLEL_SINE_SQUARED);
    const float limit = pair->half_b[j];
    const float t = float_clamp((cosine * apart_a - apart_b) / sine_squared, 0.0f - limit, limit);
    const cairn_vec3 on_b = vec3_add_scaled(centre_b, along_b, t);
    cairn_manifold_add(out, vec3_sub_scaled(on_b, out->normal, 0.5f * chosen->separation),
        chosen->separation, chosen->axis << 12 | sides_a << 2 | sides_b);
}

// A reference face and the other box, in the frame of the reference box. The face lies across axis
// `k` on the side of `sign`, its plane is spanned by the axes `u` and `v`.
typedef struct face_pair {
    const float *half; // of the reference box
    const float *half_incident;
    float offset[3];  // centre of the incident box
    float turn[3][3]; // from its frame to this one
    uint32_t k, u, v;
    float sign;
} face_pair;

static void face_pair_of(face_pair *faces, const box_pair *pair, uint32_t axis) {
    const bool on_a = axis < FACE_B;
    faces->half = on_a ? pair->half_a : pair->half_b;
    faces->half_incident = on_a ? pair->half_b : pair->half_a;
    for (uint32_t i = 0; i < 3; ++i) {
        faces->offset[i] = on_a ? pair->offset[i] : 0.0f - pair->offset_b[i];
        for (uint32_t j = 0; j < 3; ++j) {
            faces->turn[i][j] = on_a ? pair->turn[i][j] : pair->turn[j][i];
        }
    }
    faces->k = axis - (on_a ? FACE_A : FACE_B);
    faces->u = next_axis[faces->k];
    faces->v = last_axis[faces->k];
    faces->sign = faces->offset[faces->k] < 0.0f ? -1.0f : 1.0f;
}

// Centre and half sides of the incident face along one axis of the reference box.
typedef struct face_shadow {
    float centre;
    float across;
    float along;
} face_shadow;

typedef struct incident_face {
    uint32_t m, p, q; // it lies across m, its sides run along p and q
    float side;       // of the box on m
    uint32_t number;
} incident_face;

// The face most against the reference normal.
static incident_face incident_face_of(const face_pair *faces) {
    const float *row = faces->turn[faces->k];
    const float x = float_abs(row[0]);
    const float y = float_abs(row[1]);
    const float z = float_abs(row[2]);
    const uint32_t m = x >= y && x >= z ? 0u : y >= z ? 1u : 2u;
    const bool negative = faces->sign * row[m] > 0.0f;
    return (incident_face){.m = m,
        .p = next_axis[m],
        .q = last_axis[m],
        .side = negative ? 0.0f - faces->half_incident[m] : faces->half_incident[m],
        .number = 2 * m + (negative ? 1u : 0u)};
}

static face_shadow shadow_along(const face_pair *faces, const incident_face *face, uint32_t axis) {
    const float *row = faces->turn[axis];
    return (face_shadow){.centre = faces->offset[axis] + row[face->m] * face->side,
        .across = row[face->p] * faces->half_incident[face->p],
        .along = row[face->q] * faces->half_incident[face->q]};
}

// Corner i of the face: across -, +, +, - and along -, -, +, +. Its edge i leads to the next.
static void corners_along(const face_shadow *shadow, float out[4]) {
    const float less = shadow->centre - shadow->across;
    const float more = shadow->centre + shadow->across;
    out[0] = less - shadow->along;
    out[1] = more - shadow->along;
    out[2] = more + shadow->along;
    out[3] = less + shadow->along;
}

static bool reaches(const face_shadow *shadow, float sign, float limit) {
    const float reach = float_abs(shadow->across) + float_abs(shadow->along);
    return sign * shadow->centre + reach > limit;
}

// Cuts at the sides of the reference face beyond which the incident face reaches: edges 4 to 7.
static const cairn_clip_polygon *cut_to_reference(const face_pair *faces,
    const face_shadow *shadow_u, const face_shadow *shadow_v, cairn_clip_polygon *polygon,
    cairn_clip_polygon *spare) {
    const float tolerance = float_min(CLIP_TOLERANCE * thinnest_of(faces->half), TOLERANCE_MAX);
    const float limit_u = faces->half[faces->u] + tolerance;
    const float limit_v = faces->half[faces->v] + tolerance;
    const cairn_clip_line cuts[4] = {{1.0f, 0.0f, limit_u, 4}, {-1.0f, 0.0f, limit_u, 5},
        {0.0f, 1.0f, limit_v, 6}, {0.0f, -1.0f, limit_v, 7}};
    const bool needed[4] = {reaches(shadow_u, 1.0f, limit_u), reaches(shadow_u, -1.0f, limit_u),
        reaches(shadow_v, 1.0f, limit_v), reaches(shadow_v, -1.0f, limit_v)};
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
    const face_pair *faces, const face_shadow shadows[3], cairn_clip_polygon *out) {
    float x[4];
    float y[4];
    float z[4];
    corners_along(&shadows[0], x);
    corners_along(&shadows[1], y);
    corners_along(&shadows[2], z);
    const float level = faces->half[faces->k];
    for (uint32_t i = 0; i < 4; ++i) {
        out->points[i] = (cairn_clip_point){
            .x = x[i], .y = y[i], .height = faces->sign * z[i] - level, .edge = i};
    }
    out->count = 4;
}

// Midway between the incident point and the reference plane, over or under the reference face: the
// tolerance of the cut is for identity, not for leverage.
static void add_on_reference(const box_pair *pair, const face_pair *faces, bool on_a,
    const cairn_clip_point *point, cairn_manifold *out) {
    const float half_u = faces->half[faces->u];
    const float half_v = faces->half[faces->v];
    float at[3];
    at[faces->k] = faces->sign * (faces->half[faces->k] + 0.5f * point->height);
    at[faces->u] = float_clamp(point->x, 0.0f - half_u, half_u);
    at[faces->v] = float_clamp(point->y, 0.0f - half_v, half_v);
    const cairn_vec3 position =
        on_a ? vec3_of(at) : vec3_add(turned(pair, at), vec3_of(pair->offset));
    cairn_manifold_add(out, position, point->height, point->edge);
}

static void collide_faces(const box_pair *pair, uint32_t axis, float margin, cairn_manifold *out) {
    face_pair faces;
    face_pair_of(&faces, pair, axis);
    const bool on_a = axis < FACE_B;
    const incident_face face = incident_face_of(&faces);
    const face_shadow shadows[3] = {shadow_along(&faces, &face, faces.u),
        shadow_along(&faces, &face, faces.v), shadow_along(&faces, &face, faces.k)};
    cairn_clip_polygon whole;
    cairn_clip_polygon spare;
    incident_polygon(&faces, shadows, &whole);
    const cairn_clip_polygon *cut =
        cut_to_reference(&faces, &shadows[0], &shadows[1], &whole, &spare);
    const uint32_t side = faces.sign < 0.0f ? 1u << 11 : 0u;
    cairn_clip_point low[CAIRN_CLIP_POINTS_MAX];
    const uint32_t count =
        cairn_clip_keep_below(cut, margin, axis << 12 | side | face.number << 8, 4, low);
    uint32_t chosen[CAIRN_MANIFOLD_POINTS_MAX];
    const uint32_t chosen_count = cairn_manifold_reduce(low, count, chosen);
    float normal[3] = {0.0f, 0.0f, 0.0f};
    normal[faces.k] = on_a ? faces.sign : 0.0f - faces.sign;
    out->normal = on_a ? vec3_of(normal) : turned(pair, normal);
    for (uint32_t i = 0; i < chosen_count; ++i) {
        add_on_reference(pair, &faces, on_a, &low[chosen[i]], out);
    }
}

void cairn_collide_boxes(cairn_vec3 half_extents_a, cairn_vec3 half_extents_b,
    const cairn_mat3 *turn, cairn_vec3 offset, float margin, uint32_t *axis_hint,
    cairn_manifold *out) {
    box_pair pair;
    store(pair.half_a, half_extents_a);
    store(pair.half_b, half_extents_b);
    store(pair.offset, offset);
    store(pair.offset_b, mat3_apply_transposed(*turn, offset));
    box_pair_turn(&pair, turn);
    const float thinnest = float_min(thinnest_of(pair.half_a), thinnest_of(pair.half_b));
    pair.tolerance = float_min(AXIS_ABSOLUTE_TOLERANCE * thinnest, TOLERANCE_MAX);
    const choice chosen = choose_axis(&pair, margin, *axis_hint);
    if (chosen.axis == 0) {
        return;
    }
    *axis_hint = chosen.axis;
    if (chosen.axis >= EDGES) {
        collide_edges(&pair, &chosen, out);
    } else {
        collide_faces(&pair, chosen.axis, margin, out);
    }
}

// SPDX-License-Identifier: MIT
#include "sim/collide.h"

#include "sim/clip.h"

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

// Two boxes in the frame of a.
typedef struct box_pair {
    cairn_vec3 half_a;
    cairn_vec3 half_b;
    cairn_vec3 offset; // centre of b
    cairn_mat3 turn;   // from b's frame to a's: entry (i, j) is axis i of a dot axis j of b
    cairn_mat3 turn_abs;
    cairn_vec3 offset_b; // `offset` along b's axes
    float thinnest;      // half extent of either
} box_pair;

static float thinnest_of(cairn_vec3 half_extents) {
    return float_min(half_extents.x, float_min(half_extents.y, half_extents.z));
}

static box_pair box_pair_of(
    cairn_vec3 half_a, cairn_vec3 half_b, cairn_mat3 turn, cairn_vec3 offset) {
    return (box_pair){.half_a = half_a,
        .half_b = half_b,
        .offset = offset,
        .turn = turn,
        .turn_abs = mat3_abs(turn),
        .offset_b = mat3_apply_transposed(turn, offset),
        .thinnest = float_min(thinnest_of(half_a), thinnest_of(half_b))};
}

static void separate_by_faces(const box_pair *pair, float separations[AXIS_COUNT]) {
    const cairn_vec3 reach_b = mat3_apply(pair->turn_abs, pair->half_b);
    const cairn_vec3 reach_a = mat3_apply_transposed(pair->turn_abs, pair->half_a);
    const cairn_vec3 a = vec3_sub(vec3_abs(pair->offset), vec3_add(pair->half_a, reach_b));
    const cairn_vec3 b = vec3_sub(vec3_abs(pair->offset_b), vec3_add(pair->half_b, reach_a));
    for (uint32_t i = 0; i < 3; ++i) {
        separations[FACE_A + i] = vec3_component(a, i);
        separations[FACE_B + i] = vec3_component(b, i);
    }
}

// The cross product of axis i of a and axis j of b.
static cairn_vec3 edge_cross(const box_pair *pair, uint32_t i, uint32_t j) {
    const cairn_vec3 b = mat3_column(pair->turn, j);
    return i == 0   ? vec3(0.0f, 0.0f - b.z, b.y)
           : i == 1 ? vec3(b.z, 0.0f, 0.0f - b.x)
                    : vec3(0.0f - b.y, b.x, 0.0f);
}

static void separate_by_edges(const box_pair *pair, float separations[AXIS_COUNT]) {
    for (uint32_t i = 0; i < 3; ++i) {
        for (uint32_t j = 0; j < 3; ++j) {
            const cairn_vec3 cross = edge_cross(pair, i, j);
            const cairn_vec3 cross_b = mat3_apply_transposed(pair->turn, cross);
            const float length_squared = vec3_length_squared(cross);
            const bool sound = length_squared > PARALLEL_SINE_SQUARED;
            const float inverse = 1.0f / float_sqrt(sound ? length_squared : 1.0f);
            const float reach =
                vec3_dot(vec3_abs(cross), pair->half_a) + vec3_dot(vec3_abs(cross_b), pair->half_b);
            const float gap = float_abs(vec3_dot(cross, pair->offset)) - reach;
            separations[EDGES + 3 * i + j] = sound ? gap * inverse : NO_SEPARATION;
        }
    }
}

static float axis_tolerance(const box_pair *pair, float separation) {
    const float absolute = float_min(AXIS_ABSOLUTE_TOLERANCE * pair->thinnest, TOLERANCE_MAX);
    return AXIS_RELATIVE_TOLERANCE * float_abs(separation) + absolute;
}

// The greatest separation among first .. end - 1; the hint's axis stays unless clearly beaten.
static uint32_t best_axis(const box_pair *pair, const float separations[AXIS_COUNT], uint32_t first,
    uint32_t end, uint32_t hint) {
    uint32_t best = first;
    for (uint32_t axis = first + 1; axis < end; ++axis) {
        best = separations[axis] > separations[best] ? axis : best;
    }
    const bool hinted = hint >= first && hint < end && separations[hint] > NO_SEPARATION;
    if (!hinted) {
        return best;
    }
    const float kept = separations[hint] + axis_tolerance(pair, separations[hint]);
    return separations[best] > kept ? best : hint;
}

// Faces give up to four points, edges one: an edge must be clearly better to be taken, and is left
// again a little later than it is taken.
static uint32_t choose_axis(
    const box_pair *pair, const float separations[AXIS_COUNT], uint32_t hint) {
    const bool hint_is_face = hint >= FACE_A && hint < EDGES;
    // Of two faces as good as each other a's is taken, whatever the rounding says.
    const uint32_t face_a = best_axis(pair, separations, FACE_A, FACE_B, 0);
    const uint32_t face = best_axis(pair, separations, FACE_A, EDGES, hint_is_face ? hint : face_a);
    const uint32_t edge = best_axis(pair, separations, EDGES, AXIS_COUNT, hint);
    const float tolerance = axis_tolerance(pair, separations[face]);
    const float lead = hint >= EDGES ? 0.25f * tolerance : tolerance;
    return separations[edge] > separations[face] + lead ? edge : face;
}

// The centre of the edge along `axis` that reaches farthest in the direction `towards`.
static cairn_vec3 edge_centre(
    cairn_vec3 half_extents, cairn_vec3 towards, uint32_t axis, uint32_t *sides) {
    const cairn_vec3 corner = vec3(towards.x < 0.0f ? 0.0f - half_extents.x : half_extents.x,
        towards.y < 0.0f ? 0.0f - half_extents.y : half_extents.y,
        towards.z < 0.0f ? 0.0f - half_extents.z : half_extents.z);
    *sides = (vec3_component(towards, (axis + 1) % 3) < 0.0f ? 1u : 0u) +
             (vec3_component(towards, (axis + 2) % 3) < 0.0f ? 2u : 0u);
    return vec3(
        axis == 0 ? 0.0f : corner.x, axis == 1 ? 0.0f : corner.y, axis == 2 ? 0.0f : corner.z);
}

static void collide_edges(
    const box_pair *pair, uint32_t axis, float separation, cairn_manifold *out) {
    const uint32_t i = (axis - EDGES) / 3;
    const uint32_t j = (axis - EDGES) % 3;
    const cairn_vec3 unit = vec3_normalize(edge_cross(pair, i, j), vec3(0.0f, 1.0f, 0.0f));
    const bool forward = vec3_dot(unit, pair->offset) >= 0.0f;
    const cairn_vec3 normal = vec3_select(forward, unit, vec3_negate(unit));
    const cairn_vec3 normal_b = mat3_apply_transposed(pair->turn, normal);
    uint32_t sides_a = 0;
    uint32_t sides_b = 0;
    const cairn_vec3 centre_a = edge_centre(pair->half_a, normal, i, &sides_a);
    const cairn_vec3 local_b = edge_centre(pair->half_b, vec3_negate(normal_b), j, &sides_b);
    const cairn_vec3 centre_b = vec3_add(mat3_apply(pair->turn, local_b), pair->offset);
    // The closest points of the lines centre_a + s along_a and centre_b + t along_b.
    const cairn_vec3 apart = vec3_sub(centre_b, centre_a);
    const cairn_vec3 along_b = mat3_column(pair->turn, j);
    const float cosine = vec3_component(along_b, i);
    const float apart_a = vec3_component(apart, i);
    const float apart_b = vec3_dot(apart, along_b);
    const float sine_squared = float_max(1.0f - cosine * cosine, PARALLEL_SINE_SQUARED);
    const float limit = vec3_component(pair->half_b, j);
    const float t = float_clamp((cosine * apart_a - apart_b) / sine_squared, 0.0f - limit, limit);
    const cairn_vec3 on_b = vec3_add_scaled(centre_b, along_b, t);
    out->normal = normal;
    cairn_manifold_add(out, vec3_sub_scaled(on_b, normal, 0.5f * separation), separation,
        axis << 12 | sides_a << 2 | sides_b);
}

// A reference face and the other box, in the frame of the reference box.
typedef struct face_pair {
    cairn_vec3 half_reference;
    cairn_vec3 half_incident;
    cairn_vec3 offset; // centre of the incident box
    cairn_mat3 turn;   // from its frame to this one
    uint32_t axis;
    float sign;       // side of the reference face on its axis
    uint32_t feature; // of the reference face
} face_pair;

static cairn_vec3 axis_vector(uint32_t axis, float length) {
    return vec3(axis == 0 ? length : 0.0f, axis == 1 ? length : 0.0f, axis == 2 ? length : 0.0f);
}

static face_pair face_pair_of(const box_pair *pair, uint32_t axis) {
    const bool on_a = axis < FACE_B;
    const uint32_t index = on_a ? axis - FACE_A : axis - FACE_B;
    const cairn_vec3 offset = on_a ? pair->offset : vec3_negate(pair->offset_b);
    const float sign = vec3_component(offset, index) < 0.0f ? -1.0f : 1.0f;
    return (face_pair){.half_reference = on_a ? pair->half_a : pair->half_b,
        .half_incident = on_a ? pair->half_b : pair->half_a,
        .offset = offset,
        .turn = on_a ? pair->turn : mat3_transpose(pair->turn),
        .axis = index,
        .sign = sign,
        .feature = axis << 12 | (sign < 0.0f ? 1u << 11 : 0u)};
}

// The face most against the reference normal, its corners in the reference frame; edge labels 0 to
// 3. The face's own number goes to *face.
static cairn_clip_polygon incident_face(const face_pair *pair, uint32_t *face) {
    const cairn_vec3 normal =
        mat3_apply_transposed(pair->turn, axis_vector(pair->axis, pair->sign));
    const cairn_vec3 size = vec3_abs(normal);
    const uint32_t axis = size.x >= size.y && size.x >= size.z ? 0u : size.y >= size.z ? 1u : 2u;
    const bool negative = vec3_component(normal, axis) > 0.0f;
    *face = 2 * axis + (negative ? 1u : 0u);
    const float up = vec3_component(pair->half_incident, axis);
    const uint32_t u = (axis + 1) % 3;
    const uint32_t v = (axis + 2) % 3;
    const cairn_vec3 across = axis_vector(u, vec3_component(pair->half_incident, u));
    const cairn_vec3 along = axis_vector(v, vec3_component(pair->half_incident, v));
    const cairn_vec3 centre = axis_vector(axis, negative ? 0.0f - up : up);
    const cairn_vec3 corners[4] = {vec3_sub(vec3_sub(centre, across), along),
        vec3_sub(vec3_add(centre, across), along), vec3_add(vec3_add(centre, across), along),
        vec3_add(vec3_sub(centre, across), along)};
    cairn_clip_polygon polygon = {.count = 4};
    for (uint32_t i = 0; i < 4; ++i) {
        polygon.points[i] = (cairn_clip_point){
            .position = vec3_add(mat3_apply(pair->turn, corners[i]), pair->offset), .edge = i};
    }
    return polygon;
}

static cairn_clip_polygon clip_to_reference(const face_pair *pair, cairn_clip_polygon polygon) {
    const float thinnest = thinnest_of(pair->half_reference);
    const float tolerance = float_min(CLIP_TOLERANCE * thinnest, TOLERANCE_MAX);
    for (uint32_t i = 1; i <= 2; ++i) {
        const uint32_t across = (pair->axis + i) % 3;
        const float limit = vec3_component(pair->half_reference, across) + tolerance;
        polygon = cairn_clip_polygon_cut(&polygon, across, 1.0f, limit, 2 + 2 * i);
        polygon = cairn_clip_polygon_cut(&polygon, across, -1.0f, limit, 3 + 2 * i);
    }
    return polygon;
}

// Over or under the reference face: the tolerance of the cut is for identity, not for leverage.
static cairn_vec3 hold_on_reference(const face_pair *pair, cairn_vec3 position) {
    const cairn_vec3 free = vec3_add(pair->half_reference, axis_vector(pair->axis, 1e9f));
    return vec3_clamp(position, vec3_negate(free), free);
}

// Moves a point of the incident face halfway to the reference face's plane.
static void add_on_reference(cairn_manifold *out, const face_pair *pair, cairn_vec3 position,
    float separation, uint32_t feature) {
    const cairn_vec3 back = axis_vector(pair->axis, 0.5f * separation * pair->sign);
    cairn_manifold_add(out, vec3_sub(position, back), separation, feature);
}

static void collide_faces(const face_pair *pair, float margin, cairn_manifold *out) {
    uint32_t face = 0;
    const cairn_clip_polygon whole = incident_face(pair, &face);
    const cairn_clip_polygon polygon = clip_to_reference(pair, whole);
    cairn_vec3 positions[CAIRN_CLIP_POINTS_MAX];
    float separations[CAIRN_CLIP_POINTS_MAX];
    uint32_t features[CAIRN_CLIP_POINTS_MAX];
    uint32_t count = 0;
    uint32_t entering = polygon.count > 0 ? polygon.points[polygon.count - 1].edge : 0;
    const float level = vec3_component(pair->half_reference, pair->axis);
    for (uint32_t i = 0; i < polygon.count; ++i) {
        const cairn_clip_point *point = &polygon.points[i];
        const float height = pair->sign * vec3_component(point->position, pair->axis) - level;
        if (height <= margin) {
            positions[count] = hold_on_reference(pair, point->position);
            separations[count] = height;
            features[count] = pair->feature | face << 8 | entering << 4 | point->edge;
            count += 1;
        }
        entering = point->edge;
    }
    out->normal = axis_vector(pair->axis, pair->sign);
    uint32_t chosen[CAIRN_MANIFOLD_POINTS_MAX];
    const uint32_t chosen_count =
        cairn_patch_reduce(positions, separations, count, out->normal, chosen);
    for (uint32_t i = 0; i < chosen_count; ++i) {
        const uint32_t k = chosen[i];
        add_on_reference(out, pair, positions[k], separations[k], features[k]);
    }
}

// From b's frame to a's, and the normal from b to a turned round.
static void manifold_from_b(cairn_manifold *manifold, const box_pair *pair) {
    manifold->normal = vec3_negate(mat3_apply(pair->turn, manifold->normal));
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        cairn_manifold_point *point = &manifold->points[i];
        point->position = vec3_add(mat3_apply(pair->turn, point->position), pair->offset);
    }
}

void cairn_collide_box(cairn_vec3 half_extents_a, cairn_vec3 half_extents_b, const cairn_mat3 *turn,
    cairn_vec3 offset, float margin, uint32_t *axis_hint, cairn_manifold *out) {
    const box_pair pair = box_pair_of(half_extents_a, half_extents_b, *turn, offset);
    float separations[AXIS_COUNT] = {NO_SEPARATION};
    separate_by_faces(&pair, separations);
    separate_by_edges(&pair, separations);
    float greatest = NO_SEPARATION;
    for (uint32_t axis = FACE_A; axis < AXIS_COUNT; ++axis) {
        greatest = float_max(greatest, separations[axis]);
    }
    if (greatest > margin) {
        return;
    }
    const uint32_t axis = choose_axis(&pair, separations, *axis_hint);
    *axis_hint = axis;
    if (axis >= EDGES) {
        collide_edges(&pair, axis, separations[axis], out);
        return;
    }
    const face_pair faces = face_pair_of(&pair, axis);
    collide_faces(&faces, margin, out);
    if (axis >= FACE_B) {
        manifold_from_b(out, &pair);
    }
}

// SPDX-License-Identifier: MIT
#include "sim/collide/shape_pairs.h"

// How much of the normal must lie along a face's for a capsule to rest on that face with two points
// (about 11 degrees).
#define FACE_COSINE 0.98f

#define NO_SEPARATION (-3e38f)

// Features: one point that is simply the closest; the ends of a stretch over a face, each made by
// an end of the segment or by a side of the face; an edge of the hull.
enum { FEATURE_CLOSEST = 0, FEATURE_FACE = 256, FEATURE_EDGE = 1 << 16 };

// The segment of a round shape against a hull, in the hull's frame; a sphere's has no length.
typedef struct meeting {
    const cairn_local_capsule *round;
    const cairn_hull *hull;
    bool is_sphere;
    float lower[CAIRN_HULL_FACES_MAX]; // heights of the two ends above the faces
    float upper[CAIRN_HULL_FACES_MAX];
} meeting;

// The closest points of segment and hull: `gap` apart along `outward`, out of the hull.
typedef struct nearest {
    float gap;
    cairn_vec3 outward;
    cairn_vec3 on_segment;
    uint32_t feature;
} nearest;

static float least_height(const meeting *m, uint32_t face) {
    return float_min(m->lower[face], m->upper[face]);
}

// The face above which all of the segment is highest; the first of equals.
static uint32_t measure_heights(meeting *m) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < m->hull->face_count; ++i) {
        const cairn_plane *plane = &m->hull->planes[i];
        const float middle = vec3_dot(plane->normal, m->round->centre) - plane->offset;
        const float rise = vec3_dot(plane->normal, m->round->half);
        m->lower[i] = middle - rise;
        m->upper[i] = middle + rise;
        best = least_height(m, i) > least_height(m, best) ? i : best;
    }
    return best;
}

// Whether the segment has a stretch below every face (Cyrus, Beck 1978).
static bool enters(const meeting *m) {
    float from = 0.0f;
    float to = 1.0f;
    for (uint32_t i = 0; i < m->hull->face_count; ++i) {
        const float slope = m->upper[i] - m->lower[i];
        if (slope == 0.0f) {
            to = m->lower[i] > 0.0f ? -1.0f : to;
            continue;
        }
        const float at = (0.0f - m->lower[i]) / slope;
        from = slope < 0.0f ? float_max(from, at) : from;
        to = slope > 0.0f ? float_min(to, at) : to;
    }
    return from <= to;
}

static cairn_vec3 corner_at(const cairn_hull *hull, uint32_t face, uint32_t index) {
    const uint32_t first = hull->face_first[face];
    const uint32_t count = hull->face_first[face + 1] - first;
    return hull->vertices[hull->corners[first + (index < count ? index : 0)]];
}

static uint32_t corner_count(const cairn_hull *hull, uint32_t face) {
    return (uint32_t)hull->face_first[face + 1] - hull->face_first[face];
}

// Out of the face across its side i, in its plane, as long as the side.
static cairn_vec3 side_outward(const cairn_hull *hull, uint32_t face, uint32_t i) {
    const cairn_vec3 along = vec3_sub(corner_at(hull, face, i + 1), corner_at(hull, face, i));
    return vec3_cross(along, hull->planes[face].normal);
}

static bool over_face(const cairn_hull *hull, uint32_t face, cairn_vec3 point) {
    for (uint32_t i = 0; i < corner_count(hull, face); ++i) {
        const cairn_vec3 from = vec3_sub(point, corner_at(hull, face, i));
        if (vec3_dot(side_outward(hull, face, i), from) > 0.0f) {
            return false;
        }
    }
    return true;
}

// Straight down from one end of the segment to the face that it is highest above, when that is
// where it comes down: then no other point of the hull is nearer to it.
static void try_end(const meeting *m, const float *heights, float s, nearest *best) {
    uint32_t face = 0;
    for (uint32_t i = 1; i < m->hull->face_count; ++i) {
        face = heights[i] > heights[face] ? i : face;
    }
    const cairn_vec3 end = vec3_add_scaled(m->round->centre, m->round->half, s);
    if (heights[face] > 0.0f && heights[face] < best->gap && over_face(m->hull, face, end)) {
        *best = (nearest){.gap = heights[face],
            .outward = m->hull->planes[face].normal,
            .on_segment = end,
            .feature = FEATURE_CLOSEST};
    }
}

static cairn_local_capsule segment_of_edge(const cairn_hull *hull, uint32_t index) {
    const cairn_hull_edge *edge = &hull->edges[index];
    const cairn_vec3 from = hull->vertices[edge->from];
    const cairn_vec3 to = hull->vertices[edge->to];
    return (cairn_local_capsule){.centre = vec3_scale(vec3_add(from, to), 0.5f),
        .half = vec3_scale(vec3_sub(to, from), 0.5f)};
}

// From an edge, or one of its ends; only edges of faces that some of the segment is above can be
// the nearest.
static void try_edges(const meeting *m, nearest *best) {
    float best_squared = best->gap * best->gap;
    cairn_vec3 apart = vec3_zero();
    for (uint32_t i = 0; i < m->hull->edge_count; ++i) {
        const cairn_hull_edge *edge = &m->hull->edges[i];
        const float left = float_max(m->lower[edge->left], m->upper[edge->left]);
        const float right = float_max(m->lower[edge->right], m->upper[edge->right]);
        if (!(left > 0.0f || right > 0.0f)) {
            continue;
        }
        const cairn_local_capsule segment = segment_of_edge(m->hull, i);
        const cairn_closest_points pair = cairn_segments_closest_points(m->round, &segment);
        const cairn_vec3 here = vec3_sub(pair.a, pair.b);
        const float squared = vec3_length_squared(here);
        if (squared < best_squared) {
            best_squared = squared;
            apart = here;
            best->on_segment = pair.a;
            best->feature = FEATURE_CLOSEST;
            best->gap = -1.0f;
        }
    }
    if (best->gap < 0.0f) {
        best->gap = float_sqrt(best_squared);
        best->outward = vec3_normalize(apart, vec3(0.0f, 1.0f, 0.0f));
    }
}

static nearest nearest_outside(const meeting *m) {
    nearest best = {.gap = 1e18f};
    try_end(m, m->lower, -1.0f, &best);
    if (m->is_sphere && best.gap < 1e18f) {
        return best;
    }
    if (!m->is_sphere) {
        try_end(m, m->upper, 1.0f, &best);
    }
    try_edges(m, &best);
    return best;
}

// A point of the segment, and the hull's surface `gap` below it along `outward`.
static void add_below(cairn_manifold *out, const nearest *n, float radius, float margin) {
    const float separation = n->gap - radius;
    if (separation <= margin) {
        const cairn_vec3 midway =
            vec3_sub_scaled(n->on_segment, n->outward, 0.5f * (n->gap + radius));
        cairn_manifold_add(out, midway, separation, n->feature);
    }
}

// The stretch of the segment whose shadow, cast along the contact normal, falls on a face.
typedef struct stretch {
    float lower;
    float upper;
    uint32_t lower_by; // 0: the segment's own end; else 1 + side of the face
    uint32_t upper_by;
} stretch;

static stretch stretch_over_face(const meeting *m, uint32_t face, cairn_vec3 outward) {
    const cairn_plane *plane = &m->hull->planes[face];
    const float inverse = 1.0f / vec3_dot(plane->normal, outward);
    const float height = 0.5f * (m->lower[face] + m->upper[face]) * inverse;
    const float slope = 0.5f * (m->upper[face] - m->lower[face]) * inverse;
    const cairn_vec3 centre = vec3_sub_scaled(m->round->centre, outward, height);
    const cairn_vec3 half = vec3_sub_scaled(m->round->half, outward, slope);
    stretch s = {.lower = -1.0f, .upper = 1.0f};
    for (uint32_t i = 0; i < corner_count(m->hull, face); ++i) {
        const cairn_vec3 side = side_outward(m->hull, face, i);
        const float step = vec3_dot(side, half);
        const float out = vec3_dot(side, vec3_sub(centre, corner_at(m->hull, face, i)));
        const float at = step != 0.0f ? (0.0f - out) / step : 0.0f;
        if (step > 0.0f && at < s.upper) {
            s.upper = at;
            s.upper_by = 1 + i;
        }
        if (step < 0.0f && at > s.lower) {
            s.lower = at;
            s.lower_by = 1 + i;
        }
    }
    return s;
}

// Two points where the stretch begins and ends, measured along the contact normal.
static void add_on_face(
    const meeting *m, uint32_t face, cairn_vec3 outward, float margin, cairn_manifold *out) {
    const stretch s = stretch_over_face(m, face, outward);
    const float length = s.upper - s.lower;
    const float radius = m->round->radius;
    if (!(length > 0.0f &&
            length * length * vec3_length_squared(m->round->half) > 1e-4f * radius * radius)) {
        return;
    }
    const float inverse = 1.0f / vec3_dot(m->hull->planes[face].normal, outward);
    const float ends[2] = {s.lower, s.upper};
    const uint32_t ended_by[2] = {s.lower_by, 64 + s.upper_by};
    for (uint32_t i = 0; i < 2; ++i) {
        const float part = 0.5f * (ends[i] + 1.0f);
        const float height = m->lower[face] + (m->upper[face] - m->lower[face]) * part;
        const nearest end = {.gap = height * inverse,
            .outward = outward,
            .on_segment = vec3_add_scaled(m->round->centre, m->round->half, ends[i]),
            .feature = FEATURE_FACE * (1 + face) + ended_by[i]};
        add_below(out, &end, radius, margin);
    }
}

// The way out across one of the hull's edges and the segment, when it is one: its direction must
// lie between the normals of the edge's faces.
static void try_edge_axis(const meeting *m, uint32_t index, nearest *best) {
    const cairn_hull *hull = m->hull;
    const cairn_hull_edge *edge = &hull->edges[index];
    const cairn_vec3 from = hull->vertices[edge->from];
    const cairn_vec3 along = vec3_sub(hull->vertices[edge->to], from);
    const cairn_vec3 left = hull->planes[edge->left].normal;
    const cairn_vec3 right = hull->planes[edge->right].normal;
    const cairn_vec3 cross = vec3_cross(along, m->round->half);
    const float lengths = vec3_length_squared(along) * vec3_length_squared(m->round->half);
    if (!(vec3_length_squared(cross) > 1e-4f * lengths)) {
        return;
    }
    const bool forward = vec3_dot(cross, vec3_add(left, right)) >= 0.0f;
    const cairn_vec3 unit = vec3_normalize(cross, vec3_zero());
    const cairn_vec3 outward = vec3_select(forward, unit, vec3_negate(unit));
    if (vec3_dot(vec3_cross(left, outward), along) < 0.0f ||
        vec3_dot(vec3_cross(outward, right), along) < 0.0f) {
        return;
    }
    const float gap = vec3_dot(outward, vec3_sub(m->round->centre, from));
    if (gap > best->gap) {
        const cairn_local_capsule segment = segment_of_edge(hull, index);
        best->gap = gap;
        best->outward = outward;
        best->on_segment = cairn_segments_closest_points(m->round, &segment).a;
        best->feature = FEATURE_EDGE + index;
    }
}

// The segment itself cuts the hull: leave by the shortest way, across an edge only when that is
// clearly shorter, because a face gives two points.
static void collide_deep(const meeting *m, uint32_t face, float margin, cairn_manifold *out) {
    const float radius = m->round->radius;
    nearest edge = {.gap = NO_SEPARATION};
    for (uint32_t i = 0; i < m->hull->edge_count && !m->is_sphere; ++i) {
        try_edge_axis(m, i, &edge);
    }
    const float gap = least_height(m, face);
    if (edge.gap > gap + 0.1f * float_abs(gap) + 1e-3f * radius) {
        out->normal = vec3_negate(edge.outward);
        add_below(out, &edge, radius, margin);
        return;
    }
    const cairn_vec3 outward = m->hull->planes[face].normal;
    out->normal = vec3_negate(outward);
    if (!m->is_sphere) {
        add_on_face(m, face, outward, margin, out);
    }
    if (out->point_count == 0) {
        const float s = m->lower[face] <= m->upper[face] ? -1.0f : 1.0f;
        const nearest end = {.gap = gap,
            .outward = outward,
            .on_segment = vec3_add_scaled(m->round->centre, m->round->half, s),
            .feature = FEATURE_CLOSEST};
        add_below(out, &end, radius, margin);
    }
}

static uint32_t face_towards(const cairn_hull *hull, cairn_vec3 outward) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < hull->face_count; ++i) {
        best =
            vec3_dot(hull->planes[i].normal, outward) > vec3_dot(hull->planes[best].normal, outward)
                ? i
                : best;
    }
    return best;
}

void cairn_collide_capsule_hull(
    const cairn_local_capsule *round, const cairn_hull *hull, float margin, cairn_manifold *out) {
    meeting m = {
        .round = round, .hull = hull, .is_sphere = vec3_length_squared(round->half) == 0.0f};
    const uint32_t face = measure_heights(&m);
    if (least_height(&m, face) - round->radius > margin) {
        return;
    }
    if (enters(&m)) {
        collide_deep(&m, face, margin, out);
        return;
    }
    const nearest found = nearest_outside(&m);
    if (found.gap - round->radius > margin) {
        return;
    }
    if (found.gap <= 1e-4f * round->radius + 1e-6f * hull->inner) {
        collide_deep(&m, face, margin, out);
        return;
    }
    out->normal = vec3_negate(found.outward);
    if (!m.is_sphere) {
        const uint32_t below = face_towards(hull, found.outward);
        if (vec3_dot(hull->planes[below].normal, found.outward) >= FACE_COSINE) {
            add_on_face(&m, below, found.outward, margin, out);
        }
    }
    if (out->point_count == 0) {
        add_below(out, &found, round->radius, margin);
    }
}

// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "sim/collide/shape_pairs.h"

// Cosine between the contact normal and that of a face (about 11 degrees) above which a capsule
// touches the face in two points.
#define FACE_COSINE 0.98f

#define NO_SEPARATION (-3e38f)

// Features: the closest point; the two ends of the part above a face, each at an end of the segment
// or at a side of the face; an edge of the hull.
enum { FEATURE_CLOSEST = 0, FEATURE_FACE = 512, FEATURE_EDGE = 1 << 20 };

// A capsule and a hull, in the hull's frame; the segment of a sphere has no length.
typedef struct capsule_hull_pair {
    const cairn_local_capsule *capsule;
    const cairn_hull *hull;
    bool is_sphere;
    float lower[CAIRN_HULL_FACES_MAX]; // heights of both ends of the segment above the faces
    float upper[CAIRN_HULL_FACES_MAX];
} capsule_hull_pair;

// The point of the segment that is closest to the hull: `gap` away along `outward`, out of the
// hull.
typedef struct closest_point {
    float gap;
    cairn_vec3 outward;
    cairn_vec3 on_segment;
    uint32_t feature;
} closest_point;

static float least_height(const capsule_hull_pair *pair, uint32_t face) {
    return float_min(pair->lower[face], pair->upper[face]);
}

// The face that the whole segment is highest above; the first of equals.
static uint32_t measure_heights(capsule_hull_pair *pair) {
    CAIRN_ASSERT(pair->hull->face_count >= 4 && pair->hull->face_count <= CAIRN_HULL_FACES_MAX);
    uint32_t best = 0;
    for (uint32_t i = 0; i < pair->hull->face_count; ++i) {
        const cairn_plane *plane = &pair->hull->planes[i];
        const float middle = vec3_dot(plane->normal, pair->capsule->centre) - plane->offset;
        const float rise = vec3_dot(plane->normal, pair->capsule->half);
        pair->lower[i] = middle - rise;
        pair->upper[i] = middle + rise;
        best = least_height(pair, i) > least_height(pair, best) ? i : best;
    }
    return best;
}

// Whether some part of the segment is below every face (Cyrus, Beck 1978).
static bool segment_intersects(const capsule_hull_pair *pair) {
    float from = 0.0f;
    float to = 1.0f;
    for (uint32_t i = 0; i < pair->hull->face_count; ++i) {
        const float slope = pair->upper[i] - pair->lower[i];
        if (slope == 0.0f) {
            to = pair->lower[i] > 0.0f ? -1.0f : to;
            continue;
        }
        const float at = (0.0f - pair->lower[i]) / slope;
        from = slope < 0.0f ? float_max(from, at) : from;
        to = slope > 0.0f ? float_min(to, at) : to;
    }
    return from <= to;
}

static cairn_vec3 corner_at(const cairn_hull *hull, uint32_t face, uint32_t index) {
    CAIRN_ASSERT(face < hull->face_count);
    const uint32_t first = hull->face_first[face];
    const uint32_t count = hull->face_first[face + 1] - first;
    return hull->vertices[hull->corners[first + (index < count ? index : 0)]];
}

static uint32_t corner_count(const cairn_hull *hull, uint32_t face) {
    return (uint32_t)hull->face_first[face + 1] - hull->face_first[face];
}

// Perpendicular to side i of the face, outward in its plane, with the length of the side.
static cairn_vec3 side_outward(const cairn_hull *hull, uint32_t face, uint32_t i) {
    const cairn_vec3 along = vec3_sub(corner_at(hull, face, i + 1), corner_at(hull, face, i));
    return vec3_cross(along, hull->planes[face].normal);
}

// Whether the point is inside the prism above the face.
static bool over_face(const cairn_hull *hull, uint32_t face, cairn_vec3 point) {
    for (uint32_t i = 0; i < corner_count(hull, face); ++i) {
        const cairn_vec3 from = vec3_sub(point, corner_at(hull, face, i));
        if (vec3_dot(side_outward(hull, face, i), from) > 0.0f) {
            return false;
        }
    }
    return true;
}

// Projects an end of the segment onto the face that it is highest above. If the projection is
// inside the face, no other point of the hull is closer to that end.
static void check_segment_end(
    const capsule_hull_pair *pair, const float *heights, float s, closest_point *best) {
    uint32_t face = 0;
    for (uint32_t i = 1; i < pair->hull->face_count; ++i) {
        face = heights[i] > heights[face] ? i : face;
    }
    const cairn_vec3 end = vec3_add_scaled(pair->capsule->centre, pair->capsule->half, s);
    if (heights[face] > 0.0f && heights[face] < best->gap && over_face(pair->hull, face, end)) {
        *best = (closest_point){.gap = heights[face],
            .outward = pair->hull->planes[face].normal,
            .on_segment = end,
            .feature = FEATURE_CLOSEST};
    }
}

static cairn_local_capsule segment_of_edge(const cairn_hull *hull, uint32_t index) {
    CAIRN_ASSERT(index < hull->edge_count);
    const cairn_hull_edge *edge = &hull->edges[index];
    const cairn_vec3 from = hull->vertices[edge->from];
    const cairn_vec3 to = hull->vertices[edge->to];
    return (cairn_local_capsule){.centre = vec3_scale(vec3_add(from, to), 0.5f),
        .half = vec3_scale(vec3_sub(to, from), 0.5f)};
}

// Checks the edges and their ends. Only edges of faces that some part of the segment is above can
// be the closest.
static void check_edges(const capsule_hull_pair *pair, closest_point *best) {
    CAIRN_ASSERT(pair->hull->edge_count <= CAIRN_HULL_EDGES_MAX);
    float best_squared = best->gap * best->gap;
    cairn_vec3 offset = vec3_zero();
    for (uint32_t i = 0; i < pair->hull->edge_count; ++i) {
        const cairn_hull_edge *edge = &pair->hull->edges[i];
        const float left = float_max(pair->lower[edge->left], pair->upper[edge->left]);
        const float right = float_max(pair->lower[edge->right], pair->upper[edge->right]);
        if (!(left > 0.0f || right > 0.0f)) {
            continue;
        }
        const cairn_local_capsule segment = segment_of_edge(pair->hull, i);
        const cairn_closest_points closest = cairn_segments_closest_points(pair->capsule, &segment);
        const cairn_vec3 candidate = vec3_sub(closest.a, closest.b);
        const float squared = vec3_length_squared(candidate);
        if (squared < best_squared) {
            best_squared = squared;
            offset = candidate;
            best->on_segment = closest.a;
            best->feature = FEATURE_CLOSEST;
            best->gap = -1.0f;
        }
    }
    if (best->gap < 0.0f) {
        best->gap = float_sqrt(best_squared);
        best->outward = vec3_normalize(offset, vec3(0.0f, 1.0f, 0.0f));
    }
}

// For a segment that does not intersect the hull.
static closest_point closest_outside(const capsule_hull_pair *pair) {
    closest_point best = {.gap = 1e18f};
    check_segment_end(pair, pair->lower, -1.0f, &best);
    if (pair->is_sphere && best.gap < 1e18f) {
        return best;
    }
    if (!pair->is_sphere) {
        check_segment_end(pair, pair->upper, 1.0f, &best);
    }
    check_edges(pair, &best);
    return best;
}

// Adds the contact of a point of the segment with the hull's surface, `gap` below it.
static void add_below(
    cairn_manifold *out, const closest_point *closest, float radius, float margin) {
    CAIRN_ASSERT(out->point_count < 2);
    const float separation = closest->gap - radius;
    if (separation <= margin) {
        const cairn_vec3 midway =
            vec3_sub_scaled(closest->on_segment, closest->outward, 0.5f * (closest->gap + radius));
        cairn_manifold_add(out, midway, separation, closest->feature);
    }
}

// The part of the segment whose projection along the contact normal is on a face.
typedef struct face_range {
    float lower;
    float upper;
    uint32_t lower_by; // 0: the segment's own end; else 1 + side of the face
    uint32_t upper_by;
} face_range;

static face_range range_over_face(
    const capsule_hull_pair *pair, uint32_t face, cairn_vec3 outward) {
    CAIRN_ASSERT(face < pair->hull->face_count);
    const cairn_plane *plane = &pair->hull->planes[face];
    const float inverse = 1.0f / vec3_dot(plane->normal, outward);
    const float height = 0.5f * (pair->lower[face] + pair->upper[face]) * inverse;
    const float slope = 0.5f * (pair->upper[face] - pair->lower[face]) * inverse;
    const cairn_vec3 centre = vec3_sub_scaled(pair->capsule->centre, outward, height);
    const cairn_vec3 half = vec3_sub_scaled(pair->capsule->half, outward, slope);
    face_range s = {.lower = -1.0f, .upper = 1.0f};
    for (uint32_t i = 0; i < corner_count(pair->hull, face); ++i) {
        const cairn_vec3 side = side_outward(pair->hull, face, i);
        const float step = vec3_dot(side, half);
        const float out = vec3_dot(side, vec3_sub(centre, corner_at(pair->hull, face, i)));
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

// Adds the two ends of that part, measured along the contact normal.
static void add_on_face(const capsule_hull_pair *pair, uint32_t face, cairn_vec3 outward,
    float margin, cairn_manifold *out) {
    CAIRN_ASSERT(face < pair->hull->face_count && out->point_count == 0);
    const face_range s = range_over_face(pair, face, outward);
    const float length = s.upper - s.lower;
    const float radius = pair->capsule->radius;
    if (!(length > 0.0f &&
            length * length * vec3_length_squared(pair->capsule->half) > 1e-4f * radius * radius)) {
        return;
    }
    const float inverse = 1.0f / vec3_dot(pair->hull->planes[face].normal, outward);
    const float ends[2] = {s.lower, s.upper};
    const uint32_t ended_by[2] = {s.lower_by, 256 + s.upper_by};
    for (uint32_t i = 0; i < 2; ++i) {
        const float part = 0.5f * (ends[i] + 1.0f);
        const float height = pair->lower[face] + (pair->upper[face] - pair->lower[face]) * part;
        const closest_point end = {.gap = height * inverse,
            .outward = outward,
            .on_segment = vec3_add_scaled(pair->capsule->centre, pair->capsule->half, ends[i]),
            .feature = FEATURE_FACE * (1 + face) + ended_by[i]};
        add_below(out, &end, radius, margin);
    }
}

// Checks the direction perpendicular to the segment and an edge of the hull: it leads out of the
// hull if it lies between the normals of the edge's faces.
static void check_edge_exit(const capsule_hull_pair *pair, uint32_t index, closest_point *best) {
    const cairn_hull *hull = pair->hull;
    CAIRN_ASSERT(index < hull->edge_count);
    const cairn_hull_edge *edge = &hull->edges[index];
    const cairn_vec3 from = hull->vertices[edge->from];
    const cairn_vec3 along = vec3_sub(hull->vertices[edge->to], from);
    const cairn_vec3 left = hull->planes[edge->left].normal;
    const cairn_vec3 right = hull->planes[edge->right].normal;
    const cairn_vec3 cross = vec3_cross(along, pair->capsule->half);
    const float lengths = vec3_length_squared(along) * vec3_length_squared(pair->capsule->half);
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
    const float gap = vec3_dot(outward, vec3_sub(pair->capsule->centre, from));
    if (gap > best->gap) {
        const cairn_local_capsule segment = segment_of_edge(hull, index);
        best->gap = gap;
        best->outward = outward;
        best->on_segment = cairn_segments_closest_points(pair->capsule, &segment).a;
        best->feature = FEATURE_EDGE + index;
    }
}

// The segment itself intersects the hull: pushes the capsule out in the direction in which it
// leaves soonest, across an edge only if that is clearly shorter, because a face gives two points.
static void collide_overlapping(
    const capsule_hull_pair *pair, uint32_t face, float margin, cairn_manifold *out) {
    CAIRN_ASSERT(face < pair->hull->face_count && out->point_count == 0);
    const float radius = pair->capsule->radius;
    closest_point edge = {.gap = NO_SEPARATION};
    for (uint32_t i = 0; i < pair->hull->edge_count && !pair->is_sphere; ++i) {
        check_edge_exit(pair, i, &edge);
    }
    const float gap = least_height(pair, face);
    if (edge.gap > gap + 0.1f * float_abs(gap) + 1e-3f * radius) {
        out->normal = vec3_negate(edge.outward);
        add_below(out, &edge, radius, margin);
        return;
    }
    const cairn_vec3 outward = pair->hull->planes[face].normal;
    out->normal = vec3_negate(outward);
    if (!pair->is_sphere) {
        add_on_face(pair, face, outward, margin, out);
    }
    if (out->point_count == 0) {
        const float s = pair->lower[face] <= pair->upper[face] ? -1.0f : 1.0f;
        const closest_point end = {.gap = gap,
            .outward = outward,
            .on_segment = vec3_add_scaled(pair->capsule->centre, pair->capsule->half, s),
            .feature = FEATURE_CLOSEST};
        add_below(out, &end, radius, margin);
    }
}

// The face whose normal is closest to `outward`.
static uint32_t most_parallel_face(const cairn_hull *hull, cairn_vec3 outward) {
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
    const cairn_local_capsule *capsule, const cairn_hull *hull, float margin, cairn_manifold *out) {
    CAIRN_ASSERT(capsule->radius > 0.0f);
    capsule_hull_pair pair = {
        .capsule = capsule, .hull = hull, .is_sphere = vec3_length_squared(capsule->half) == 0.0f};
    const uint32_t face = measure_heights(&pair);
    if (least_height(&pair, face) - capsule->radius > margin) {
        return;
    }
    if (segment_intersects(&pair)) {
        collide_overlapping(&pair, face, margin, out);
        return;
    }
    const closest_point found = closest_outside(&pair);
    if (found.gap - capsule->radius > margin) {
        return;
    }
    if (found.gap <= 1e-4f * capsule->radius + 1e-6f * hull->inner) {
        collide_overlapping(&pair, face, margin, out);
        return;
    }
    out->normal = vec3_negate(found.outward);
    if (!pair.is_sphere) {
        const uint32_t below = most_parallel_face(hull, found.outward);
        if (vec3_dot(hull->planes[below].normal, found.outward) >= FACE_COSINE) {
            add_on_face(&pair, below, found.outward, margin, out);
        }
    }
    if (out->point_count == 0) {
        add_below(out, &found, capsule->radius, margin);
    }
}

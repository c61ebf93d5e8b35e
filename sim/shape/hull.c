// SPDX-License-Identifier: MIT
#include "sim/shape/hull.h"

#include <string.h>

#include "base/assert.h"
#include "sim/math/limits.h"

// All lengths below are fractions of half the cloud's longest side.
// Points closer to an earlier point than this are merged with it.
#define WELD 1e-4
// A triangle lower than this, over its longest side, does not define a plane well.
#define TRIANGLE_HEIGHT_MIN 1e-4
// Points this close to a plane are on it. The smallest tolerance that gives a closed surface is
// used: the first allows for the rounding of coordinates, the others for faces that are meant to be
// flat.
static const double tolerances[] = {2e-6, 2e-5, 2e-4};
enum { TOLERANCE_COUNT = sizeof(tolerances) / sizeof(tolerances[0]) };

static const char *const flat = "the points lie in a plane, or all but";
static const char *const too_many = "the hull has more vertices than a hull may have";
static const char *const unclear = "faces bend too little to tell them apart";

// The points relative to their centre, as fractions; double, so that a volume has the sign of the
// exact one unless it is nearly zero.
typedef struct cloud {
    uint32_t count;
    double at[CAIRN_HULL_POINTS_MAX][3];
    uint8_t source[CAIRN_HULL_POINTS_MAX]; // index of the point in the input
} cloud;

// A bit for each point.
typedef struct point_set {
    uint64_t words[CAIRN_HULL_POINTS_MAX / 64];
} point_set;
_Static_assert(CAIRN_HULL_POINTS_MAX % 64 == 0, "whole words");

typedef struct face {
    double normal[3]; // outward, as long as twice the area of the triangle that made it
    point_set on;     // the points on the plane, also those that are no corners
    uint32_t count;
    uint8_t points[CAIRN_HULL_POINTS_MAX]; // on the plane; after ordering, the corners
} face;

typedef struct builder {
    cloud cloud;
    double tolerance;
    uint32_t face_count;
    face faces[CAIRN_HULL_FACES_MAX];
    // Points that are on a plane together with points i and j of the loop in find_faces.
    point_set known;
    uint8_t vertex_of[CAIRN_HULL_POINTS_MAX]; // number of the vertex that a point became, plus 1
    uint8_t face_of[CAIRN_HULL_VERTICES_MAX]
                   [CAIRN_HULL_VERTICES_MAX]; // left of the directed edge, plus 1
} builder;

static bool is_in(const point_set *set, uint32_t point) {
    return (set->words[point / 64] >> point % 64 & 1) != 0;
}

static void add_all(point_set *set, const point_set *added) {
    for (uint32_t i = 0; i < CAIRN_HULL_POINTS_MAX / 64; ++i) {
        set->words[i] |= added->words[i];
    }
}

static void vector_between(const double a[3], const double b[3], double out[3]) {
    out[0] = b[0] - a[0];
    out[1] = b[1] - a[1];
    out[2] = b[2] - a[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double max_of(double a, double b) {
    return a > b ? a : b;
}

static double distance_squared(const cloud *points, uint32_t i, uint32_t j) {
    double apart[3];
    vector_between(points->at[i], points->at[j], apart);
    return dot(apart, apart);
}

static const char *check_points(const cairn_vec3 *points, uint32_t count) {
    CAIRN_ASSERT(points != NULL || count == 0);
    if (count < 4) {
        return "fewer than four points";
    }
    if (count > CAIRN_HULL_POINTS_MAX) {
        return "more points than a hull may be made of";
    }
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_vec3 size = vec3_abs(points[i]);
        if (!vec3_finite(points[i])) {
            return "a coordinate is not a number";
        }
        if (size.x > CAIRN_SHAPE_SIZE_MAX || size.y > CAIRN_SHAPE_SIZE_MAX ||
            size.z > CAIRN_SHAPE_SIZE_MAX) {
            return "a coordinate is too large";
        }
    }
    return NULL;
}

static bool close_to_earlier(const cloud *points, const double at[3]) {
    CAIRN_ASSERT(points->count < CAIRN_HULL_POINTS_MAX);
    for (uint32_t i = 0; i < points->count; ++i) {
        double apart[3];
        vector_between(points->at[i], at, apart);
        if (dot(apart, apart) <= WELD * WELD) {
            return true;
        }
    }
    return false;
}

// False if fewer than four points are left, or the cloud is smaller than a shape may be.
static bool cloud_of(const cairn_vec3 *points, uint32_t count, cloud *out) {
    CAIRN_ASSERT(count >= 4 && count <= CAIRN_HULL_POINTS_MAX);
    cairn_vec3 lower = points[0];
    cairn_vec3 upper = points[0];
    for (uint32_t i = 1; i < count; ++i) {
        lower = vec3_min(lower, points[i]);
        upper = vec3_max(upper, points[i]);
    }
    const double centre[3] = {0.5 * ((double)lower.x + (double)upper.x),
        0.5 * ((double)lower.y + (double)upper.y), 0.5 * ((double)lower.z + (double)upper.z)};
    const double scale = max_of(max_of((double)upper.x - centre[0], (double)upper.y - centre[1]),
        (double)upper.z - centre[2]);
    if (!(scale >= (double)CAIRN_SHAPE_SIZE_MIN)) {
        return false;
    }
    out->count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        double at[3] = {(double)points[i].x, (double)points[i].y, (double)points[i].z};
        for (uint32_t k = 0; k < 3; ++k) {
            at[k] = (at[k] - centre[k]) / scale;
        }
        if (!close_to_earlier(out, at)) {
            memcpy(out->at[out->count], at, sizeof at);
            out->source[out->count] = (uint8_t)i;
            out->count += 1;
        }
    }
    return out->count >= 4;
}

typedef enum sides {
    SIDES_NONE = 0,
    SIDES_ABOVE = 1,
    SIDES_BELOW = 2,
    SIDES_BOTH = 3,
} sides;

// Finds on which sides of the plane through three points there are others, and which are on it.
static uint32_t sides_of_plane(const builder *b, uint32_t through, face *f) {
    CAIRN_ASSERT(through < b->cloud.count);
    const cloud *points = &b->cloud;
    const double thickness = b->tolerance * b->tolerance * dot(f->normal, f->normal);
    uint32_t found = SIDES_NONE;
    f->count = 0;
    f->on = (point_set){{0}};
    for (uint32_t i = 0; i < points->count && found != SIDES_BOTH; ++i) {
        double apart[3];
        vector_between(points->at[through], points->at[i], apart);
        const double height = dot(f->normal, apart);
        if (height * height > thickness) {
            found |= height > 0.0 ? SIDES_ABOVE : SIDES_BELOW;
        } else {
            f->points[f->count++] = (uint8_t)i;
            f->on.words[i / 64] |= UINT64_C(1) << i % 64;
        }
    }
    return found;
}

// Adds the face through three points if there is one and it is new.
static const char *add_face_of_triangle(builder *b, uint32_t i, uint32_t j, uint32_t k) {
    const cloud *points = &b->cloud;
    double first[3];
    double second[3];
    face f;
    vector_between(points->at[i], points->at[j], first);
    vector_between(points->at[i], points->at[k], second);
    cross(first, second, f.normal);
    const double longest =
        max_of(max_of(dot(first, first), dot(second, second)), distance_squared(points, j, k));
    const double least = TRIANGLE_HEIGHT_MIN * TRIANGLE_HEIGHT_MIN * longest;
    if (!(dot(f.normal, f.normal) > least)) {
        return NULL;
    }
    const uint32_t found = sides_of_plane(b, i, &f);
    if (found == SIDES_NONE) {
        return flat;
    }
    if (found == SIDES_BOTH) {
        return NULL;
    }
    if (found == SIDES_ABOVE) {
        for (uint32_t n = 0; n < 3; ++n) {
            f.normal[n] = 0.0 - f.normal[n];
        }
    }
    if (b->face_count == CAIRN_HULL_FACES_MAX) {
        return too_many;
    }
    b->faces[b->face_count++] = f;
    add_all(&b->known, &f.on);
    return NULL;
}

// Marks the points that are on some face with both points i and j.
static void mark_known(builder *b, uint32_t i, uint32_t j) {
    b->known = (point_set){{0}};
    for (uint32_t n = 0; n < b->face_count; ++n) {
        const point_set *on = &b->faces[n].on;
        if (is_in(on, i) && is_in(on, j)) {
            add_all(&b->known, on);
        }
    }
}

static double cross_2(const double a[2], const double b[2]) {
    return a[0] * b[1] - a[1] * b[0];
}

// Whether the triangle of three points, counter clockwise about the origin, contains the disc of
// this radius about the origin.
static bool triangle_holds_disc(
    const double a[2], const double b[2], const double c[2], double radius) {
    const double *corners[4] = {a, b, c, a};
    for (uint32_t i = 0; i < 3; ++i) {
        const double *from = corners[i];
        const double *to = corners[i + 1];
        const double along[2] = {to[0] - from[0], to[1] - from[1]};
        const double area = cross_2(from, to);
        const double least = radius * radius * (along[0] * along[0] + along[1] * along[1]);
        if (!(area > 0.0 && area * area > least)) {
            return false;
        }
    }
    return true;
}

// Unit vectors across the line from point i to point j; false if the points coincide.
static bool axes_across(const cloud *points, uint32_t i, uint32_t j, double u[3], double v[3]) {
    double along[3];
    vector_between(points->at[i], points->at[j], along);
    const double size[3] = {along[0] * along[0], along[1] * along[1], along[2] * along[2]};
    const uint32_t least = size[0] <= size[1] && size[0] <= size[2] ? 0
                           : size[1] <= size[2]                     ? 1
                                                                    : 2;
    const double axis[3] = {least == 0 ? 1.0 : 0.0, least == 1 ? 1.0 : 0.0, least == 2 ? 1.0 : 0.0};
    cross(along, axis, u);
    cross(along, u, v);
    const double length_u = (double)float_sqrt((float)dot(u, u));
    const double length_v = (double)float_sqrt((float)dot(v, v));
    if (!(length_u > 0.0 && length_v > 0.0)) {
        return false;
    }
    for (uint32_t k = 0; k < 3; ++k) {
        u[k] /= length_u;
        v[k] /= length_v;
    }
    return true;
}

// Whether a face could hold points i and j: seen along the line through them, all other points are
// in a half-plane. The directions to them are collected in a wedge from `right` counter clockwise
// to `left`; a point opposite to the wedge makes a triangle around the line with its two sides. Of
// n points about n^2 / 2 pairs fail here, after a few points each, and few remain for which every
// third point is tried.
static bool may_share_face(const builder *b, uint32_t i, uint32_t j) {
    const cloud *points = &b->cloud;
    double u[3];
    double v[3];
    double right[2] = {0.0, 0.0};
    double left[2] = {0.0, 0.0};
    bool begun = false;
    if (!axes_across(points, i, j, u, v)) {
        return true;
    }
    // Points this close to the line have no reliable direction.
    const double least = 16.0 * b->tolerance * b->tolerance;
    for (uint32_t k = 0; k < points->count; ++k) {
        double apart[3];
        vector_between(points->at[i], points->at[k], apart);
        const double at[2] = {dot(apart, u), dot(apart, v)};
        if (at[0] * at[0] + at[1] * at[1] <= least) {
            continue;
        }
        const bool before_right = begun && cross_2(right, at) < 0.0;
        const bool after_left = begun && cross_2(at, left) < 0.0;
        const bool around = before_right && after_left;
        // Double the tolerance allows for the rounding of the axes.
        if (around && triangle_holds_disc(right, left, at, 2.0 * b->tolerance)) {
            return false;
        }
        // A triangle too narrow to tell begins another wedge.
        if (!begun || before_right) {
            memcpy(right, at, sizeof right);
        }
        if (!begun || after_left) {
            memcpy(left, at, sizeof left);
        }
        begun = true;
    }
    return true;
}

static const char *find_faces(builder *b) {
    b->face_count = 0;
    for (uint32_t i = 0; i < b->cloud.count; ++i) {
        for (uint32_t j = i + 1; j < b->cloud.count; ++j) {
            if (!may_share_face(b, i, j)) {
                continue;
            }
            mark_known(b, i, j);
            for (uint32_t k = j + 1; k < b->cloud.count; ++k) {
                const char *refusal = is_in(&b->known, k) ? NULL : add_face_of_triangle(b, i, j, k);
                if (refusal != NULL) {
                    return refusal;
                }
            }
        }
    }
    CAIRN_ASSERT(b->face_count <= CAIRN_HULL_FACES_MAX);
    return b->face_count >= 4 ? NULL : flat;
}

// Twice the area of the triangle, seen from outside, times the normal's length: positive if `point`
// is left of the line from `from` to `to`.
static double signed_area(
    const builder *b, const face *f, uint32_t from, uint32_t to, uint32_t point) {
    double along[3];
    double aside[3];
    double normal[3];
    vector_between(b->cloud.at[from], b->cloud.at[to], along);
    vector_between(b->cloud.at[from], b->cloud.at[point], aside);
    cross(along, aside, normal);
    return dot(normal, f->normal);
}

// Gift wrapping (Jarvis 1973): no point is right of the line to the next corner; of several points
// on one line, the farthest is the corner.
static uint32_t next_corner(const builder *b, const face *f, uint32_t from) {
    uint32_t best = from;
    for (uint32_t i = 0; i < f->count; ++i) {
        const uint32_t point = f->points[i];
        if (point == from) {
            continue;
        }
        const double side = best == from ? -1.0 : signed_area(b, f, from, best, point);
        const bool farther =
            distance_squared(&b->cloud, from, point) > distance_squared(&b->cloud, from, best);
        best = side < 0.0 || (side == 0.0 && farther) ? point : best;
    }
    CAIRN_ASSERT(best != from || f->count == 1);
    return best;
}

// The first of the points that are lowest along some direction in the plane: a corner.
static uint32_t first_corner(const builder *b, const face *f) {
    double along[3];
    vector_between(b->cloud.at[f->points[0]], b->cloud.at[f->points[1]], along);
    uint32_t best = f->points[0];
    for (uint32_t i = 1; i < f->count; ++i) {
        double apart[3];
        vector_between(b->cloud.at[best], b->cloud.at[f->points[i]], apart);
        best = dot(apart, along) < 0.0 ? f->points[i] : best;
    }
    return best;
}

// Drops the corners that are on the line between their neighbours, up to rounding.
static void drop_in_line(const builder *b, face *f) {
    const double most = 4.0 * b->tolerance;
    for (uint32_t i = 0; i < f->count;) {
        const uint32_t before = f->points[i > 0 ? i - 1 : f->count - 1];
        const uint32_t after = f->points[i + 1 < f->count ? i + 1 : 0];
        const double side = signed_area(b, f, before, after, f->points[i]);
        const double length_squared = distance_squared(&b->cloud, before, after);
        if (f->count > 2 &&
            side * side <= most * most * length_squared * dot(f->normal, f->normal)) {
            memmove(&f->points[i], &f->points[i + 1], f->count - i - 1);
            f->count -= 1;
            i = 0;
        } else {
            ++i;
        }
    }
}

// Orders the points of a face counter clockwise and keeps its corners.
static bool order_face(const builder *b, face *f) {
    CAIRN_ASSERT(f->count >= 3);
    uint8_t corners[CAIRN_HULL_POINTS_MAX];
    uint32_t count = 0;
    const uint32_t first = first_corner(b, f);
    uint32_t here = first;
    do {
        if (count == f->count) {
            return false;
        }
        corners[count++] = (uint8_t)here;
        here = next_corner(b, f, here);
    } while (here != first);
    memcpy(f->points, corners, count);
    f->count = count;
    drop_in_line(b, f);
    return f->count >= 3;
}

// Numbers the points that are corners of some face as vertices, in the order of the input.
static const char *number_vertices(builder *b, const cairn_vec3 *points, cairn_hull *out) {
    memset(b->vertex_of, 0, sizeof b->vertex_of);
    for (uint32_t i = 0; i < b->face_count; ++i) {
        for (uint32_t k = 0; k < b->faces[i].count; ++k) {
            b->vertex_of[b->faces[i].points[k]] = 1;
        }
    }
    out->vertex_count = 0;
    for (uint32_t i = 0; i < b->cloud.count; ++i) {
        if (b->vertex_of[i] == 0) {
            continue;
        }
        if (out->vertex_count == CAIRN_HULL_VERTICES_MAX) {
            return too_many;
        }
        out->vertices[out->vertex_count] = vec3_clean(points[b->cloud.source[i]]);
        out->vertex_count += 1;
        b->vertex_of[i] = (uint8_t)out->vertex_count;
    }
    CAIRN_ASSERT(out->vertex_count <= b->cloud.count);
    return NULL;
}

// Copies the corners and stores the face left of each directed edge; false if two faces claim one.
static bool write_faces(builder *b, cairn_hull *out) {
    uint32_t corner_count = 0;
    memset(b->face_of, 0, sizeof b->face_of);
    out->face_count = b->face_count;
    out->face_first[0] = 0;
    for (uint32_t i = 0; i < b->face_count; ++i) {
        const face *f = &b->faces[i];
        if (corner_count + f->count > 2 * CAIRN_HULL_EDGES_MAX) {
            return false;
        }
        for (uint32_t k = 0; k < f->count; ++k) {
            const uint32_t from = b->vertex_of[f->points[k]] - 1u;
            const uint32_t to = b->vertex_of[f->points[k + 1 < f->count ? k + 1 : 0]] - 1u;
            CAIRN_ASSERT(from < out->vertex_count && to < out->vertex_count);
            if (b->face_of[from][to] != 0) {
                return false;
            }
            b->face_of[from][to] = (uint8_t)(i + 1);
            out->corners[corner_count++] = (uint8_t)from;
        }
        out->face_first[i + 1] = (uint16_t)corner_count;
    }
    return true;
}

// Each directed edge must have its reverse in another face, and all must be one closed surface
// (Euler).
static bool write_edges(const builder *b, cairn_hull *out) {
    out->edge_count = 0;
    for (uint32_t from = 0; from < out->vertex_count; ++from) {
        for (uint32_t to = from + 1; to < out->vertex_count; ++to) {
            const uint32_t left = b->face_of[from][to];
            const uint32_t right = b->face_of[to][from];
            if ((left == 0) != (right == 0)) {
                return false;
            }
            if (left != 0 && out->edge_count == CAIRN_HULL_EDGES_MAX) {
                return false;
            }
            if (left != 0) {
                out->edges[out->edge_count++] = (cairn_hull_edge){.from = (uint8_t)from,
                    .to = (uint8_t)to,
                    .left = (uint8_t)(left - 1),
                    .right = (uint8_t)(right - 1)};
            }
        }
    }
    CAIRN_ASSERT(out->edge_count <= CAIRN_HULL_EDGES_MAX);
    return out->vertex_count + out->face_count == out->edge_count + 2;
}

// The mean plane of the corners (Newell), moved outward until no vertex is above it.
static void write_plane(const builder *b, uint32_t index, cairn_hull *out) {
    CAIRN_ASSERT(index < b->face_count);
    const face *f = &b->faces[index];
    double sum[3] = {0.0, 0.0, 0.0};
    for (uint32_t i = 1; i + 1 < f->count; ++i) {
        double first[3];
        double second[3];
        double area[3];
        vector_between(b->cloud.at[f->points[0]], b->cloud.at[f->points[i]], first);
        vector_between(b->cloud.at[f->points[0]], b->cloud.at[f->points[i + 1]], second);
        cross(first, second, area);
        for (uint32_t k = 0; k < 3; ++k) {
            sum[k] += area[k];
        }
    }
    const cairn_vec3 normal = vec3((float)sum[0], (float)sum[1], (float)sum[2]);
    cairn_plane *plane = &out->planes[index];
    plane->normal = vec3_normalize(normal, vec3(0.0f, 1.0f, 0.0f));
    plane->offset = vec3_dot(plane->normal, out->vertices[0]);
    for (uint32_t i = 1; i < out->vertex_count; ++i) {
        plane->offset = float_max(plane->offset, vec3_dot(plane->normal, out->vertices[i]));
    }
}

// The least distance between a face and the vertex farthest below it.
static float thickness_of(const cairn_hull *hull) {
    CAIRN_ASSERT(hull->face_count > 0 && hull->vertex_count > 0);
    float least = 2.0f * CAIRN_SHAPE_SIZE_MAX;
    for (uint32_t i = 0; i < hull->face_count; ++i) {
        const cairn_plane *plane = &hull->planes[i];
        float depth = 0.0f;
        for (uint32_t k = 0; k < hull->vertex_count; ++k) {
            depth = float_max(depth, plane->offset - vec3_dot(plane->normal, hull->vertices[k]));
        }
        least = float_min(least, depth);
    }
    return least;
}

static const char *build_at_tolerance(builder *b, const cairn_vec3 *points, cairn_hull *out) {
    const char *refusal = find_faces(b);
    if (refusal != NULL) {
        return refusal;
    }
    for (uint32_t i = 0; i < b->face_count; ++i) {
        if (!order_face(b, &b->faces[i])) {
            return unclear;
        }
    }
    refusal = number_vertices(b, points, out);
    if (refusal != NULL) {
        return refusal;
    }
    if (!write_faces(b, out) || !write_edges(b, out)) {
        return unclear;
    }
    for (uint32_t i = 0; i < out->face_count; ++i) {
        write_plane(b, i, out);
    }
    return NULL;
}

const char *cairn_hull_build(const cairn_vec3 *points, uint32_t count, cairn_hull *out) {
    builder b;
    const char *refusal = check_points(points, count);
    if (refusal != NULL) {
        return refusal;
    }
    if (!cloud_of(points, count, &b.cloud)) {
        return "the points are too close together";
    }
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < TOLERANCE_COUNT; ++i) {
        b.tolerance = tolerances[i];
        refusal = build_at_tolerance(&b, points, out);
        if (refusal == NULL || refusal == flat) {
            break;
        }
    }
    if (refusal != NULL) {
        return refusal;
    }
    if (thickness_of(out) < 2.0f * CAIRN_SHAPE_SIZE_MIN) {
        return "the hull is too thin";
    }
    CAIRN_ASSERT(out->vertex_count >= 4 && out->face_count >= 4);
    cairn_hull_measure(out);
    return out->inner > 0.0f ? NULL : "the hull is too thin";
}

const char *cairn_hull_build_stable(const cairn_vec3 *points, uint32_t count, cairn_hull *out) {
    CAIRN_ASSERT(points != out->vertices);
    enum { BUILDS_MAX = 8 };
    const char *refusal = cairn_hull_build(points, count, out);
    for (uint32_t i = 0; i < BUILDS_MAX && refusal == NULL; ++i) {
        cairn_vec3 vertices[CAIRN_HULL_VERTICES_MAX];
        const uint32_t before = out->vertex_count;
        memcpy(vertices, out->vertices, sizeof vertices);
        refusal = cairn_hull_build(vertices, before, out);
        if (refusal == NULL && out->vertex_count == before) {
            return NULL;
        }
    }
    return refusal != NULL ? refusal : unclear;
}

// SPDX-License-Identifier: MIT

// A cylinder or cone against any shape but a half-space. The axes that may separate are the normals
// of faces (discs count as faces) and one free axis for all that is round: the direction between
// the nearest points, found by the distance algorithm on the two shapes less a skin, so that it has
// a direction while they overlap by less. A face gives the points of the other shape's feature over
// it; the free axis gives one point, or two along parallel lines.

#include "base/assert.h"
#include "sim/collide/clip.h"
#include "sim/collide/separating_axis.h"
#include "sim/collide/shape_pairs.h"
#include "sim/shape/convex.h"
#include "sim/shape/frustum.h"
#include "sim/shape/gjk.h"

// Numbers of axes, as the hint stores them: 0 none, then the faces of a, those of b, the free axis.
// A frustum's face 0 is its lower disc, face 1 its upper one. The higher half of the hint is the
// code of the lowest point of a rim (cairn_frustum_lowest_azimuth).
enum { FACE_A = 1, FACE_B = 256, FREE = 512, NUMBER_BITS = 16 };

// The highest byte of a feature: a's face, or one of these.
#define FEATURE_FREE 0xff000000u
#define FEATURE_VERTEX 0xfe000000u
// What a feature has in place of a face's number for a side, and for a capsule.
enum { FEATURE_SIDE = 2, FEATURE_SEGMENT = 3 };

// The skin, as a fraction of the radius of the ball inside.
#define SKIN 0.2f
// Cosine (about 11 degrees) from which on a line lies along the plane across the normal.
#define ALONG_COSINE 0.98f
// Lines whose directions have less than this squared sine (1 degree) are parallel.
#define PARALLEL_SINE_SQUARED 3e-4f

enum { DISC_SIDES = 16, EDGE_OF_REFERENCE = 128 };

// One of the two shapes, seen in the frame of a.
typedef struct solid {
    bool is_frustum;
    bool is_polyhedron; // neither: a sphere or capsule
    cairn_frustum frustum;
    cairn_convex_view convex;
    float radius;    // of a sphere or capsule
    cairn_vec3 half; // of a capsule, in its frame
    float inner;     // m, radius of a ball inside
    cairn_vec3 centre;
    cairn_mat3 rotation;
    cairn_vec3 offset;
} solid;

typedef struct solid_pair {
    solid a;
    solid b;
    float tolerance; // m, absolute, between axes that count as equal
} solid_pair;

static void solid_of(const cairn_shape_view *shape, const cairn_mat3 *rotation, cairn_vec3 offset,
    cairn_convex_box *box, solid *out) {
    const cairn_geometry *geometry = shape->geometry;
    CAIRN_ASSERT(geometry->kind != CAIRN_SHAPE_HALF_SPACE);
    *out = (solid){.is_frustum = cairn_geometry_is_frustum(geometry),
        .is_polyhedron = geometry->kind == CAIRN_SHAPE_BOX || geometry->kind == CAIRN_SHAPE_HULL,
        .rotation = *rotation,
        .offset = offset};
    if (out->is_frustum) {
        out->frustum = cairn_frustum_of(geometry);
        out->inner = cairn_frustum_inner_radius(&out->frustum);
        out->centre.y = cairn_frustum_inner_y(&out->frustum);
    } else if (out->is_polyhedron) {
        out->convex = cairn_convex_view_of(shape, box);
        out->inner = out->convex.inner;
        out->centre = out->convex.centre;
    } else {
        out->radius = geometry->radius;
        out->half.y = geometry->half_height;
        out->inner = geometry->radius;
    }
}

static cairn_vec3 point_in_a(const solid *s, cairn_vec3 point) {
    return vec3_add(mat3_apply(s->rotation, point), s->offset);
}

// The vertex of a polyhedron that is farthest along a direction in its frame.
static uint32_t farthest_vertex(const cairn_convex_view *p, cairn_vec3 direction) {
    uint32_t best = 0;
    float most = vec3_dot(p->vertices[0], direction);
    for (uint32_t i = 1; i < p->vertex_count; ++i) {
        const float along = vec3_dot(p->vertices[i], direction);
        best = along > most ? i : best;
        most = float_max(along, most);
    }
    return best;
}

// The point of the shape that is farthest along a unit vector.
static cairn_vec3 support_of(const solid *s, cairn_vec3 direction) {
    const cairn_vec3 local = mat3_apply_transposed(s->rotation, direction);
    cairn_vec3 point = vec3_zero();
    if (s->is_frustum) {
        point = cairn_frustum_support(&s->frustum, local);
    } else if (s->is_polyhedron) {
        point = s->convex.vertices[farthest_vertex(&s->convex, local)];
    } else {
        point = vec3_add_scaled(local.y < 0.0f ? vec3_negate(s->half) : s->half, local, s->radius);
    }
    return point_in_a(s, point);
}

// Along a unit vector from a to b.
static float separation_along(const solid_pair *pair, cairn_vec3 normal) {
    const cairn_vec3 on_a = support_of(&pair->a, normal);
    const cairn_vec3 on_b = support_of(&pair->b, vec3_negate(normal));
    return vec3_dot(normal, vec3_sub(on_b, on_a));
}

// ---- Faces

static uint32_t face_count_of(const solid *s) {
    return s->is_polyhedron ? s->convex.face_count
           : !s->is_frustum ? 0u
                            : (s->frustum.top > 0.0f ? 2u : 1u);
}

// In the frame of the shape.
static cairn_plane face_plane(const solid *s, uint32_t face) {
    CAIRN_ASSERT(face < face_count_of(s));
    if (s->is_polyhedron) {
        return s->convex.planes[face];
    }
    return (cairn_plane){
        .normal = vec3(0.0f, face == 0 ? -1.0f : 1.0f, 0.0f), .offset = s->frustum.half_height};
}

static float face_separation(const solid *s, const solid *other, uint32_t face) {
    const cairn_plane plane = face_plane(s, face);
    const cairn_vec3 normal = mat3_apply(s->rotation, plane.normal);
    const cairn_vec3 lowest = support_of(other, vec3_negate(normal));
    return vec3_dot(normal, vec3_sub(lowest, s->offset)) - plane.offset;
}

// The first of the best faces; number 0 for a shape without faces.
static cairn_axis best_face(
    const solid *s, const solid *other, uint32_t first_number, float margin) {
    cairn_axis best = {.number = 0, .separation = CAIRN_NO_SEPARATION};
    for (uint32_t i = 0; i < face_count_of(s) && best.separation <= margin; ++i) {
        const float separation = face_separation(s, other, i);
        if (separation > best.separation) {
            best = (cairn_axis){.number = first_number + i, .separation = separation};
        }
    }
    return best;
}

static bool names_face(const solid_pair *pair, uint32_t number) {
    return (number >= FACE_A && number < FACE_A + face_count_of(&pair->a)) ||
           (number >= FACE_B && number < FACE_B + face_count_of(&pair->b));
}

static float separation_of_face(const solid_pair *pair, uint32_t number) {
    CAIRN_ASSERT(names_face(pair, number));
    return number < FACE_B ? face_separation(&pair->a, &pair->b, number - FACE_A)
                           : face_separation(&pair->b, &pair->a, number - FACE_B);
}

// A line of the shape that lies across `outward`: the segment of a capsule, a line along a
// frustum's side, or an edge. False if the shape has only a point there.
static bool line_across(const solid *s, cairn_vec3 outward, cairn_vec3 ends[2]) {
    const cairn_vec3 local = mat3_apply_transposed(s->rotation, outward);
    if (s->is_frustum) {
        const cairn_vec3 azimuth = cairn_frustum_azimuth(local);
        ends[0] = point_in_a(s, cairn_frustum_rim(&s->frustum, false, azimuth));
        ends[1] = point_in_a(s, cairn_frustum_rim(&s->frustum, true, azimuth));
        return vec3_dot(cairn_frustum_side_normal(&s->frustum, azimuth), local) > ALONG_COSINE;
    }
    if (!s->is_polyhedron) {
        const cairn_vec3 surface = vec3_scale(outward, s->radius);
        ends[0] = vec3_add(point_in_a(s, vec3_negate(s->half)), surface);
        ends[1] = vec3_add(point_in_a(s, s->half), surface);
        return s->half.y > 0.0f && local.y * local.y < 1.0f - ALONG_COSINE * ALONG_COSINE;
    }
    const uint32_t vertex = farthest_vertex(&s->convex, local);
    float least = 1.0f - ALONG_COSINE * ALONG_COSINE;
    bool found = false;
    for (uint32_t i = 0; i < s->convex.edge_count; ++i) {
        const cairn_hull_edge *e = &s->convex.edges[i];
        const cairn_vec3 from = s->convex.vertices[e->from];
        const cairn_vec3 along = vec3_sub(s->convex.vertices[e->to], from);
        const float rise = vec3_dot(along, local);
        const float square = rise * rise / vec3_length_squared(along);
        if ((e->from == vertex || e->to == vertex) && square < least) {
            least = square;
            found = true;
            ends[0] = point_in_a(s, from);
            ends[1] = point_in_a(s, vec3_add(from, along));
        }
    }
    return found;
}

// ---- The free axis

typedef struct free_axis {
    cairn_vec3 normal; // unit, from a to b; zero: none was found
    float separation;
} free_axis;

// Both ways along the direction.
static void try_axis(const solid_pair *pair, cairn_vec3 direction, free_axis *best) {
    const cairn_vec3 unit = vec3_normalize(direction, vec3_zero());
    for (uint32_t i = 0; i < 2 && !vec3_is_zero(unit); ++i) {
        const cairn_vec3 normal = i == 0 ? unit : vec3_negate(unit);
        const float separation = separation_along(pair, normal);
        CAIRN_ASSERT(separation < 1e9f);
        if (vec3_is_zero(best->normal) || separation > best->separation) {
            best->normal = normal;
            best->separation = separation;
        }
    }
}

static cairn_vec3 axis_of(const solid *s) {
    return mat3_column(s->rotation, 1);
}

// Shapes that overlap by more than their skins: the best of the directions in which a round side
// may leave the other shape.
static free_axis deep_axis(const solid_pair *pair) {
    free_axis best = {.separation = CAIRN_NO_SEPARATION};
    const cairn_vec3 centre_a = point_in_a(&pair->a, pair->a.centre);
    const cairn_vec3 apart = vec3_sub(point_in_a(&pair->b, pair->b.centre), centre_a);
    try_axis(pair, apart, &best);
    for (uint32_t i = 0; i < 2; ++i) {
        const solid *s = i == 0 ? &pair->a : &pair->b;
        const solid *other = i == 0 ? &pair->b : &pair->a;
        if (!s->is_frustum) {
            continue;
        }
        const cairn_vec3 to_other = i == 0 ? apart : vec3_negate(apart);
        const cairn_vec3 azimuth =
            cairn_frustum_azimuth(mat3_apply_transposed(s->rotation, to_other));
        try_axis(
            pair, mat3_apply(s->rotation, cairn_frustum_side_normal(&s->frustum, azimuth)), &best);
        if (!other->is_polyhedron) {
            try_axis(pair, vec3_cross(axis_of(s), axis_of(other)), &best);
        }
        for (uint32_t k = 0; other->is_polyhedron && k < other->convex.edge_count; ++k) {
            const cairn_hull_edge *e = &other->convex.edges[k];
            const cairn_vec3 along =
                vec3_sub(other->convex.vertices[e->to], other->convex.vertices[e->from]);
            try_axis(pair, vec3_cross(axis_of(s), mat3_apply(other->rotation, along)), &best);
        }
    }
    // A rim has no axis of its own: from the best one on, smaller and smaller steps to the sides.
    for (float step = 0.4f; step > 0.02f && !vec3_is_zero(best.normal); step *= 0.6f) {
        cairn_vec3 right;
        cairn_vec3 up;
        vec3_tangents(best.normal, &right, &up);
        const cairn_vec3 from = best.normal;
        try_axis(pair, vec3_add_scaled(from, right, step), &best);
        try_axis(pair, vec3_sub_scaled(from, right, step), &best);
        try_axis(pair, vec3_add_scaled(from, up, step), &best);
        try_axis(pair, vec3_sub_scaled(from, up, step), &best);
    }
    return best;
}

static cairn_convex_core core_of(const cairn_shape_view *shape, const solid *s) {
    cairn_convex_core core = cairn_convex_core_of(shape);
    if (s->is_frustum) {
        core.radius = SKIN * s->inner;
        core.frustum = cairn_frustum_shrink(&s->frustum, core.radius, &core.centre.y);
    }
    return core;
}

// The distance algorithm ends before it is exact on round surfaces. The normal of the frustum at
// the point nearest to the other's nearest point is exact if that is a corner, or a line along a
// side; if two lines cross, the direction across both is exact.
static void refine_axis(const solid_pair *pair, cairn_vec3 on_a, cairn_vec3 on_b, free_axis *best) {
    for (uint32_t i = 0; i < 2; ++i) {
        const solid *s = i == 0 ? &pair->a : &pair->b;
        if (!s->is_frustum) {
            continue;
        }
        const cairn_vec3 from = vec3_sub(i == 0 ? on_b : on_a, s->offset);
        const cairn_vec3 local =
            cairn_frustum_outward(&s->frustum, mat3_apply_transposed(s->rotation, from));
        const cairn_vec3 outward = mat3_apply(s->rotation, local);
        const cairn_vec3 normal = i == 0 ? outward : vec3_negate(outward);
        if (vec3_is_zero(outward)) {
            continue;
        }
        const float separation = separation_along(pair, normal);
        if (separation > best->separation) {
            best->normal = normal;
            best->separation = separation;
        }
    }
    // A cone's lines change with the normal, so once more.
    cairn_vec3 a[2];
    cairn_vec3 b[2];
    for (uint32_t i = 0; i < 2 && line_across(&pair->a, best->normal, a) &&
                         line_across(&pair->b, vec3_negate(best->normal), b);
         ++i) {
        const cairn_vec3 along_a = vec3_sub(a[1], a[0]);
        const cairn_vec3 along_b = vec3_sub(b[1], b[0]);
        const cairn_vec3 across = vec3_cross(along_a, along_b);
        const float lengths = vec3_length_squared(along_a) * vec3_length_squared(along_b);
        if (!(vec3_length_squared(across) > PARALLEL_SINE_SQUARED * lengths)) {
            return;
        }
        try_axis(pair, across, best);
    }
}

static free_axis find_free_axis(
    const solid_pair *pair, const cairn_shape_view *a, const cairn_shape_view *b) {
    const cairn_gjk_pair cores = {.a = core_of(a, &pair->a),
        .b = core_of(b, &pair->b),
        .rotation = pair->b.rotation,
        .offset = pair->b.offset};
    cairn_gjk_simplex simplex = {.count = 0};
    const cairn_vec3 nearest = cairn_gjk_nearest(&cores, &simplex);
    if (vec3_is_zero(nearest)) {
        return deep_axis(pair);
    }
    cairn_vec3 on_a;
    cairn_vec3 on_b;
    cairn_gjk_points(&simplex, &on_a, &on_b);
    free_axis axis = {.normal = vec3_normalize(nearest, vec3(0.0f, 1.0f, 0.0f))};
    axis.separation = separation_along(pair, axis.normal);
    refine_axis(pair, on_a, on_b, &axis);
    return axis;
}

// ---- Points over a face

// A reference face with coordinates in its plane, in the frame of a.
typedef struct reference {
    const solid *s;
    const solid *other;
    bool on_a;
    uint32_t face;
    cairn_vec3 origin; // a corner, or the middle of a disc
    cairn_vec3 right;
    cairn_vec3 up;
    cairn_vec3 normal;
    float disc; // radius; 0: a polygon
    float tolerance;
    uint32_t azimuth;    // code of the lowest point of the other's rim
    const uint8_t *span; // four of the points of its rim, which span the disc; NULL: no rim
} reference;

static uint32_t corner_of(const cairn_convex_view *p, uint32_t face, uint32_t index) {
    CAIRN_ASSERT(face < p->face_count);
    const uint32_t count = (uint32_t)p->face_first[face + 1] - p->face_first[face];
    return p->corners[p->face_first[face] + (index < count ? index : 0)];
}

static uint32_t corner_count(const cairn_convex_view *p, uint32_t face) {
    return (uint32_t)p->face_first[face + 1] - p->face_first[face];
}

static reference reference_of(const solid_pair *pair, uint32_t number) {
    CAIRN_ASSERT(names_face(pair, number));
    reference r = {.on_a = number < FACE_B, .face = number - (number < FACE_B ? FACE_A : FACE_B)};
    r.s = r.on_a ? &pair->a : &pair->b;
    r.other = r.on_a ? &pair->b : &pair->a;
    const cairn_plane plane = face_plane(r.s, r.face);
    cairn_vec3 origin = vec3_scale(plane.normal, plane.offset);
    cairn_vec3 right = vec3(1.0f, 0.0f, 0.0f);
    if (r.s->is_polyhedron) {
        const cairn_convex_view *p = &r.s->convex;
        origin = p->vertices[corner_of(p, r.face, 0)];
        right = vec3_normalize(
            vec3_sub(p->vertices[corner_of(p, r.face, 1)], origin), vec3(1.0f, 0.0f, 0.0f));
    } else {
        r.disc = r.face == 0 ? r.s->frustum.bottom : r.s->frustum.top;
    }
    r.origin = point_in_a(r.s, origin);
    r.normal = mat3_apply(r.s->rotation, plane.normal);
    r.right = mat3_apply(r.s->rotation, right);
    r.up = vec3_cross(r.normal, r.right);
    r.tolerance = float_min(CAIRN_CLIP_TOLERANCE * r.s->inner, CAIRN_AXIS_TOLERANCE_MAX);
    return r;
}

static void append_point(const reference *r, cairn_clip_polygon *polygon, cairn_vec3 local) {
    const cairn_vec3 from = vec3_sub(point_in_a(r->other, local), r->origin);
    CAIRN_ASSERT(polygon->count < CAIRN_CLIP_POINTS_MAX);
    polygon->points[polygon->count] = (cairn_clip_point){.x = vec3_dot(from, r->right),
        .y = vec3_dot(from, r->up),
        .height = vec3_dot(from, r->normal) - r->other->radius,
        .edge = polygon->count};
    polygon->count += 1;
}

// Of the faces around the vertex, the one whose normal leads most along the direction.
static uint32_t face_around(const cairn_convex_view *p, uint32_t vertex, cairn_vec3 direction) {
    uint32_t best = 0;
    float most = -2.0f;
    for (uint32_t i = 0; i < p->edge_count; ++i) {
        const cairn_hull_edge *e = &p->edges[i];
        if (e->from != vertex && e->to != vertex) {
            continue;
        }
        const uint32_t face = e->from == vertex ? e->left : e->right;
        const float cosine = vec3_dot(p->planes[face].normal, direction);
        best = cosine > most ? face : best;
        most = float_max(cosine, most);
    }
    return best;
}

// What of the other shape faces the reference: a face, a line along a side, the segment of a
// capsule. Returns its number for the feature, and the cosine of the angle between the two.
static uint32_t incident_polygon(reference *r, cairn_clip_polygon *polygon, float *cosine) {
    const solid *other = r->other;
    const cairn_vec3 towards = mat3_apply_transposed(other->rotation, vec3_negate(r->normal));
    polygon->count = 0;
    *cosine = 1.0f;
    if (other->is_polyhedron) {
        const cairn_convex_view *p = &other->convex;
        const uint32_t face = face_around(p, farthest_vertex(p, towards), towards);
        for (uint32_t i = 0; i < corner_count(p, face); ++i) {
            append_point(r, polygon, p->vertices[corner_of(p, face, i)]);
        }
        *cosine = vec3_dot(p->planes[face].normal, towards);
        return face;
    }
    if (!other->is_frustum) {
        append_point(r, polygon, vec3_negate(other->half));
        if (other->half.y > 0.0f) {
            append_point(r, polygon, other->half);
            *cosine = float_sqrt(float_max(1.0f - towards.y * towards.y, 0.0f));
        }
        return FEATURE_SEGMENT;
    }
    const cairn_vec3 azimuth = cairn_frustum_lowest_azimuth(towards, &r->azimuth);
    const float side = vec3_dot(cairn_frustum_side_normal(&other->frustum, azimuth), towards);
    const bool top = towards.y > 0.0f;
    const bool has_disc = !top || other->frustum.top > 0.0f;
    if (has_disc && float_abs(towards.y) >= side) {
        const cairn_rim rim = cairn_frustum_rim_points(towards, azimuth, r->azimuth);
        for (uint32_t i = 0; i < CAIRN_RIM_POINTS; ++i) {
            append_point(r, polygon, cairn_frustum_rim(&other->frustum, top, rim.directions[i]));
        }
        r->span = rim.span;
        *cosine = float_abs(towards.y);
        return top ? 1 : 0;
    }
    append_point(r, polygon, cairn_frustum_rim(&other->frustum, false, azimuth));
    append_point(r, polygon, cairn_frustum_rim(&other->frustum, true, azimuth));
    *cosine = side;
    return FEATURE_SIDE;
}

// Side i of a polygon, moved outward by the tolerance; or one of the tangents of a disc.
static cairn_clip_line side_line(const reference *r, uint32_t i) {
    if (r->disc > 0.0f) {
        static const float cosines[DISC_SIDES] = {1.0f, 0.92387953f, 0.70710678f, 0.38268343f, 0.0f,
            -0.38268343f, -0.70710678f, -0.92387953f, -1.0f, -0.92387953f, -0.70710678f,
            -0.38268343f, 0.0f, 0.38268343f, 0.70710678f, 0.92387953f};
        return (cairn_clip_line){.right = cosines[i],
            .up = cosines[(i + 12) % DISC_SIDES],
            .limit = r->disc + r->tolerance,
            .edge = EDGE_OF_REFERENCE + i};
    }
    const cairn_convex_view *p = &r->s->convex;
    const cairn_vec3 from =
        vec3_sub(point_in_a(r->s, p->vertices[corner_of(p, r->face, i)]), r->origin);
    const cairn_vec3 to =
        vec3_sub(point_in_a(r->s, p->vertices[corner_of(p, r->face, i + 1)]), r->origin);
    const float right = vec3_dot(vec3_sub(to, from), r->up);
    const float up = vec3_dot(vec3_sub(from, to), r->right);
    const float slack = r->tolerance * (float_abs(right) + float_abs(up));
    return (cairn_clip_line){.right = right,
        .up = up,
        .limit = right * vec3_dot(from, r->right) + up * vec3_dot(from, r->up) + slack,
        .edge = EDGE_OF_REFERENCE + i};
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
    const bool segment = polygon->count == 2;
    const uint32_t sides = r->disc > 0.0f ? DISC_SIDES : corner_count(&r->s->convex, r->face);
    for (uint32_t i = 0; i < sides; ++i) {
        const cairn_clip_line line = side_line(r, i);
        if (extends_beyond(polygon, &line)) {
            cairn_clip_polygon_cut(polygon, &line, spare);
            // A segment that is cut comes back with the cut end twice: on the way there and back.
            if (segment && spare->count == 3) {
                const bool first = spare->points[0].edge >= EDGE_OF_REFERENCE;
                spare->points[1] = spare->points[first ? 2 : 1];
                spare->count = 2;
            }
            cairn_clip_polygon *kept = spare;
            spare = polygon;
            polygon = kept;
        }
    }
    return polygon;
}

// The tangents of a disc leave corners outside of it.
static void pull_into_disc(const reference *r, cairn_clip_point *points, uint32_t count) {
    for (uint32_t i = 0; i < count && r->disc > 0.0f; ++i) {
        const float square = points[i].x * points[i].x + points[i].y * points[i].y;
        if (square > r->disc * r->disc) {
            const float scale = r->disc / float_sqrt(square);
            points[i].x *= scale;
            points[i].y *= scale;
        }
    }
}

// The part of the other's feature that is over the reference face and at most the margin above it.
typedef struct clipped {
    reference r;
    float cosine;
    uint32_t count;
    cairn_clip_point low[CAIRN_CLIP_POINTS_MAX];
} clipped;

static void clip_feature(
    const solid_pair *pair, uint32_t number, uint32_t azimuth, float margin, clipped *out) {
    cairn_clip_polygon polygon;
    cairn_clip_polygon spare;
    out->r = reference_of(pair, number);
    reference *r = &out->r;
    r->azimuth = azimuth;
    const uint32_t incident = incident_polygon(r, &polygon, &out->cosine);
    const cairn_clip_polygon *cut = clip_to_reference(r, &polygon, &spare);
    r->span = cut == &polygon ? r->span : NULL; // the whole rim is over the face
    const uint32_t face_a = r->on_a ? r->face : incident;
    const uint32_t face_b = r->on_a ? incident : r->face;
    const cairn_clip_feature feature = {.faces = face_a << 24 | face_b << 16, .edge_bits = 8};
    out->count = cairn_clip_keep_below(cut, margin, &feature, out->low);
    pull_into_disc(r, out->low, out->count);
}

static void add_clipped(const solid_pair *pair, clipped *c, float margin, cairn_manifold *out) {
    const reference *r = &c->r;
    uint32_t chosen[CAIRN_MANIFOLD_POINTS_MAX];
    out->normal = r->on_a ? r->normal : vec3_negate(r->normal);
    if (c->count == 0) {
        // Deep overlaps, and shapes that only touch beside the face: the lowest point.
        const cairn_vec3 lowest = support_of(r->other, vec3_negate(r->normal));
        const cairn_vec3 from = vec3_sub(lowest, r->origin);
        c->low[0] = (cairn_clip_point){.x = vec3_dot(from, r->right),
            .y = vec3_dot(from, r->up),
            .height = vec3_dot(from, r->normal),
            .edge = FEATURE_VERTEX | r->face << 8 | (r->on_a ? 0u : 1u)};
        c->count = c->low[0].height <= margin ? 1 : 0;
        pull_into_disc(r, c->low, c->count);
    }
    uint32_t count = CAIRN_MANIFOLD_POINTS_MAX;
    if (r->span != NULL && c->count == CAIRN_RIM_POINTS) {
        for (uint32_t i = 0; i < CAIRN_MANIFOLD_POINTS_MAX; ++i) {
            chosen[i] = r->span[i];
        }
    } else {
        count = cairn_manifold_reduce(c->low, c->count, chosen);
    }
    CAIRN_ASSERT(count <= CAIRN_MANIFOLD_POINTS_MAX && pair->tolerance > 0.0f);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_clip_point *point = &c->low[chosen[i]];
        cairn_vec3 at = vec3_add_scaled(r->origin, r->right, point->x);
        at = vec3_add_scaled(at, r->up, point->y);
        at = vec3_add_scaled(at, r->normal, 0.5f * point->height);
        cairn_manifold_add(out, at, point->height, point->edge);
    }
}

// ---- Points along the free axis

// Adds the two ends of the part that two parallel lines have side by side. False if they are not
// parallel or not side by side.
static bool add_parallel_lines(
    const solid_pair *pair, const free_axis *axis, float margin, cairn_manifold *out) {
    cairn_vec3 a[2];
    cairn_vec3 b[2];
    if (!line_across(&pair->a, axis->normal, a) ||
        !line_across(&pair->b, vec3_negate(axis->normal), b)) {
        return false;
    }
    const cairn_vec3 along_a = vec3_sub(a[1], a[0]);
    const cairn_vec3 along_b = vec3_sub(b[1], b[0]);
    const float aa = vec3_length_squared(along_a);
    const float bb = vec3_length_squared(along_b);
    const float ab = vec3_dot(along_a, along_b);
    if (!(aa * bb - ab * ab < PARALLEL_SINE_SQUARED * aa * bb)) {
        return false;
    }
    // The ends of b's line as parts of a's.
    const float first = vec3_dot(vec3_sub(b[0], a[0]), along_a) / aa;
    const float second = vec3_dot(vec3_sub(b[1], a[0]), along_a) / aa;
    const float from = float_max(float_min(first, second), 0.0f);
    const float to = float_min(float_max(first, second), 1.0f);
    if (!((to - from) * (to - from) * aa > 1e-4f * pair->a.inner * pair->a.inner)) {
        return false;
    }
    for (uint32_t i = 0; i < 2; ++i) {
        const float part = i == 0 ? from : to;
        const cairn_vec3 on_a = vec3_add_scaled(a[0], along_a, part);
        const cairn_vec3 on_b = vec3_add_scaled(b[0], along_b, (part - first) / (second - first));
        const float separation = vec3_dot(axis->normal, vec3_sub(on_b, on_a));
        if (separation <= margin) {
            cairn_manifold_add(
                out, vec3_scale(vec3_add(on_a, on_b), 0.5f), separation, FEATURE_FREE | (1u + i));
        }
    }
    return true;
}

// The line or the point of a shape that faces `outward`, as a segment.
static cairn_local_capsule segment_facing(const solid *s, cairn_vec3 outward) {
    cairn_vec3 ends[2];
    if (!line_across(s, outward, ends)) {
        ends[0] = ends[1] = support_of(s, outward);
    }
    return (cairn_local_capsule){.centre = vec3_scale(vec3_add(ends[0], ends[1]), 0.5f),
        .half = vec3_scale(vec3_sub(ends[1], ends[0]), 0.5f)};
}

static void collide_free(
    const solid_pair *pair, const free_axis *axis, float margin, cairn_manifold *out) {
    out->normal = axis->normal;
    if (add_parallel_lines(pair, axis, margin, out) || axis->separation > margin) {
        return;
    }
    const cairn_local_capsule on_a = segment_facing(&pair->a, axis->normal);
    const cairn_local_capsule on_b = segment_facing(&pair->b, vec3_negate(axis->normal));
    const cairn_closest_points closest = cairn_segments_closest_points(&on_a, &on_b);
    cairn_manifold_add(
        out, vec3_scale(vec3_add(closest.a, closest.b), 0.5f), axis->separation, FEATURE_FREE);
}

// ---- The choice

// The face whose normal is closest to that of the free axis.
static uint32_t face_along(const solid_pair *pair, cairn_vec3 normal) {
    uint32_t best = 0;
    float most = 0.0f;
    for (uint32_t i = 0; i < 2; ++i) {
        const solid *s = i == 0 ? &pair->a : &pair->b;
        const cairn_vec3 outward = i == 0 ? normal : vec3_negate(normal);
        const cairn_vec3 local = mat3_apply_transposed(s->rotation, outward);
        for (uint32_t k = 0; k < face_count_of(s); ++k) {
            const float cosine = vec3_dot(face_plane(s, k).normal, local);
            best = cosine > most ? (i == 0 ? FACE_A : FACE_B) + k : best;
            most = float_max(cosine, most);
        }
    }
    return best;
}

// Looks for a face that serves as well as the free axis; see sim/collide/separating_axis.h. Returns
// its number, with the points in *out, or 0.
static uint32_t face_for_free(const solid_pair *pair, const cairn_choice *choice,
    const free_axis *axis, uint32_t hint, uint32_t azimuth, float margin, clipped *out) {
    const uint32_t along = choice->clearly ? face_along(pair, axis->normal) : 0;
    const cairn_axis_candidates candidates =
        cairn_axis_candidates_of(choice, names_face(pair, hint) ? hint : 0, along);
    if (axis->separation < -0.5f * float_min(pair->a.inner, pair->b.inner)) {
        return 0;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t face = candidates.faces[i];
        if (face != 0) {
            clip_feature(pair, face, azimuth, margin, out);
            const float lowest = cairn_clip_lowest(out->low, out->count);
            // A line along a side may miss where the shapes overlap.
            const bool there = lowest <= axis->separation + CAIRN_AXIS_FACE_SLOP;
            if (there && cairn_axis_face_serves(choice, out->low, out->count, out->cosine,
                             face == hint, pair->tolerance)) {
                return face;
            }
        }
    }
    return 0;
}

// Number 0 if the shapes are apart by more than the margin. Faces of polyhedra come before discs.
static cairn_choice choose_axis(const solid_pair *pair, const cairn_shape_view *a,
    const cairn_shape_view *b, float margin, uint32_t hint, free_axis *axis) {
    const cairn_choice apart = {.axis.number = 0};
    const cairn_axis face_a = best_face(&pair->a, &pair->b, FACE_A, margin);
    const cairn_axis face_b = best_face(&pair->b, &pair->a, FACE_B, margin);
    if (face_a.separation > margin || face_b.separation > margin) {
        return apart;
    }
    const bool b_first = face_a.number == 0 || (pair->b.is_polyhedron && !pair->a.is_polyhedron);
    const cairn_axis face =
        cairn_axis_best_face(b_first ? face_b : face_a, b_first ? face_a : face_b, pair->tolerance);
    *axis = find_free_axis(pair, a, b);
    if (vec3_is_zero(axis->normal)) {
        axis->separation = CAIRN_NO_SEPARATION;
    }
    cairn_axis kept = {.number = 0};
    if (names_face(pair, hint)) {
        const float separation = separation_of_face(pair, hint);
        if (cairn_axis_face_holds(separation, face, pair->tolerance)) {
            kept = (cairn_axis){.number = hint, .separation = separation};
        }
    } else if (hint == FREE && cairn_axis_edges_hold(axis->separation, face, pair->tolerance)) {
        kept = (cairn_axis){.number = FREE, .separation = axis->separation};
    }
    const cairn_axis free = {.number = FREE, .separation = axis->separation};
    return cairn_axis_choose(face, kept, free, margin, pair->tolerance);
}

void cairn_collide_frustum(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_mat3 *rotation, cairn_vec3 offset, float margin, uint32_t *axis_hint,
    cairn_manifold *out) {
    cairn_convex_box box_a;
    cairn_convex_box box_b;
    solid_pair pair;
    const cairn_mat3 identity = {.x = {.x = 1.0f}, .y = {.y = 1.0f}, .z = {.z = 1.0f}};
    solid_of(a, &identity, vec3_zero(), &box_a, &pair.a);
    solid_of(b, rotation, offset, &box_b, &pair.b);
    CAIRN_ASSERT(pair.a.is_frustum || pair.b.is_frustum);
    const float thinnest = float_min(pair.a.inner, pair.b.inner);
    pair.tolerance = float_min(CAIRN_AXIS_ABSOLUTE_TOLERANCE * thinnest, CAIRN_AXIS_TOLERANCE_MAX);
    free_axis axis;
    clipped over;
    const uint32_t hint = *axis_hint & ((1u << NUMBER_BITS) - 1);
    const uint32_t azimuth = *axis_hint >> NUMBER_BITS;
    const cairn_choice choice = choose_axis(&pair, a, b, margin, hint, &axis);
    if (choice.axis.number == 0) {
        return;
    }
    uint32_t face = choice.axis.number;
    if (face != FREE) {
        clip_feature(&pair, face, azimuth, margin, &over);
    } else {
        face = face_for_free(&pair, &choice, &axis, hint, azimuth, margin, &over);
    }
    *axis_hint = face != 0 ? over.r.azimuth << NUMBER_BITS | face : azimuth << NUMBER_BITS | FREE;
    if (face != 0) {
        add_clipped(&pair, &over, margin, out);
    } else {
        collide_free(&pair, &axis, margin, out);
    }
}

// SPDX-License-Identifier: MIT

// A cylinder or cone against one triangle, in the frame of the cylinder or cone: the normal of the
// triangle, those of the discs, and the direction between the nearest points. The last two are for
// edges and corners, where the surface is convex; what may not leave over an edge leaves along the
// normal of the triangle.

#include "base/assert.h"
#include "sim/collide/mesh_shapes.h"
#include "sim/shape/gjk.h"

// Another axis than the triangle's normal must be better by this much, m, or by this fraction of
// the radius of the ball inside if that is less.
#define FACE_SLOP 0.005f
#define FACE_SLOP_FRACTION 0.2f
// The skin, as a fraction of that radius, with which shapes that overlap have nearest points.
#define SKIN 0.2f
// Cosine (11 degrees) from which on a direction is that of a disc.
#define ALONG_COSINE 0.98f

enum { DISC_SIDES = 16 };

// Features, beside the points of the shape itself: 0 to 7.
#define FEATURE_FREE (1u << 29)
#define FEATURE_DISC (1u << 30)

typedef struct axis {
    float separation;
    cairn_vec3 normal; // unit, from the triangle to the shape
    cairn_vec3 place;  // of a point of contact
} axis;

static float outside_edge(const cairn_local_triangle *triangle, uint32_t i, cairn_vec3 point) {
    const cairn_vec3 side = local_triangle_side(triangle, i);
    const cairn_vec3 outward = vec3_cross(side, triangle->normal);
    // What is exactly above an edge is above both of its triangles, in spite of rounding.
    return vec3_dot(outward, vec3_sub(point, triangle->corners[i])) -
           1e-5f * vec3_length_squared(side);
}

static bool is_above(const cairn_local_triangle *triangle, cairn_vec3 point) {
    return outside_edge(triangle, 0, point) <= 0.0f && outside_edge(triangle, 1, point) <= 0.0f &&
           outside_edge(triangle, 2, point) <= 0.0f;
}

static void add_point(const cairn_mesh_pair *pair, cairn_vec3 position, cairn_vec3 normal,
    float separation, uint32_t feature, cairn_mesh_points *points) {
    cairn_mesh_points_add(points, mesh_point_to_mesh(pair, position),
        mat3_apply(pair->rotation, normal), separation, feature);
}

// ---- Along the normal of the triangle

// The part of the line between two points of the shape that is above the triangle: its ends where
// an edge of the bit set `cutting` cuts it off.
static uint32_t add_cut_line(const cairn_mesh_pair *pair, const cairn_local_triangle *triangle,
    const cairn_manifold_point *from, const cairn_manifold_point *to, uint32_t cutting,
    cairn_mesh_points *points) {
    float range[2] = {0.0f, 1.0f};
    uint32_t by[2] = {3, 3};
    for (uint32_t i = 0; i < 3; ++i) {
        const float a = outside_edge(triangle, i, from->position);
        const float b = outside_edge(triangle, i, to->position);
        const uint32_t end = a > b ? 0 : 1;
        if (a > 0.0f && b > 0.0f) {
            return 0;
        }
        if (a > 0.0f || b > 0.0f) {
            const float at = a / (a - b);
            const bool inside = end == 0 ? at > range[0] : at < range[1];
            by[end] = inside ? i : by[end];
            range[end] = inside ? at : range[end];
        }
    }
    uint32_t added = 0;
    for (uint32_t end = 0; end < 2 && range[0] < range[1]; ++end) {
        if (by[end] < 3 && (cutting >> by[end] & 1u) != 0) {
            ++added;
            const cairn_vec3 way = vec3_sub(to->position, from->position);
            add_point(pair, vec3_add_scaled(from->position, way, range[end]), triangle->normal,
                from->separation + range[end] * (to->separation - from->separation),
                CAIRN_MESH_FEATURE_CUT | (triangle->source->index * 8 + by[end]) << 2 |
                    (from->feature & 3u),
                points);
        }
    }
    return added;
}

// The points that the shape has with the plane, as far as they are above the triangle, and where
// edges of the bit set `cutting` cut the lines between them. Returns how many there are.
static uint32_t add_on_triangle(const cairn_mesh_pair *pair, const cairn_local_triangle *triangle,
    const cairn_manifold *found, uint32_t cutting, cairn_mesh_points *points) {
    uint32_t added = 0;
    for (uint32_t i = 0; i < found->point_count; ++i) {
        const cairn_manifold_point *point = &found->points[i];
        if (is_above(triangle, point->position)) {
            add_point(
                pair, point->position, triangle->normal, point->separation, point->feature, points);
            ++added;
        }
    }
    const bool cut = added < found->point_count && cutting != 0;
    for (uint32_t i = 0; i < found->point_count && cut; ++i) {
        for (uint32_t k = 0; k < i; ++k) {
            added +=
                add_cut_line(pair, triangle, &found->points[k], &found->points[i], cutting, points);
        }
    }
    return added;
}

// ---- The discs

static axis disc_axis(
    const cairn_frustum *frustum, const cairn_local_triangle *triangle, bool top) {
    const float sign = top ? -1.0f : 1.0f;
    float least = CAIRN_CLIP_NO_POINT;
    for (uint32_t i = 0; i < 3; ++i) {
        least = float_min(least, 0.0f - sign * triangle->corners[i].y);
    }
    return (axis){.separation = least - frustum->half_height, .normal = vec3(0.0f, sign, 0.0f)};
}

// The part of the triangle that is under a disc.
static uint32_t add_on_disc(const cairn_mesh_pair *pair, const cairn_frustum *frustum,
    const cairn_local_triangle *triangle, cairn_vec3 normal, cairn_mesh_points *points) {
    static const float cosines[DISC_SIDES] = {1.0f, 0.92387953f, 0.70710678f, 0.38268343f, 0.0f,
        -0.38268343f, -0.70710678f, -0.92387953f, -1.0f, -0.92387953f, -0.70710678f, -0.38268343f,
        0.0f, 0.38268343f, 0.70710678f, 0.92387953f};
    const float radius = normal.y < 0.0f ? frustum->top : frustum->bottom;
    cairn_clip_polygon polygons[2];
    uint32_t added = 0;
    polygons[0].count = 3;
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_vec3 corner = triangle->corners[i];
        polygons[0].points[i] = (cairn_clip_point){.x = corner.x,
            .y = corner.z,
            .height = 0.0f - normal.y * corner.y - frustum->half_height,
            .edge = DISC_SIDES + i};
    }
    for (uint32_t i = 0; i < DISC_SIDES; ++i) {
        const cairn_clip_line line = {
            .right = cosines[i], .up = cosines[(i + 12) % DISC_SIDES], .limit = radius, .edge = i};
        cairn_clip_polygon_cut(&polygons[i % 2], &line, &polygons[1 - i % 2]);
    }
    const cairn_clip_polygon *cut = &polygons[DISC_SIDES % 2];
    uint32_t entering = cut->count > 0 ? cut->points[cut->count - 1].edge : 0;
    for (uint32_t i = 0; i < cut->count; ++i) {
        const cairn_clip_point *point = &cut->points[i];
        if (point->height <= pair->margin) {
            const float y = 0.0f - normal.y * (frustum->half_height + 0.5f * point->height);
            add_point(pair, vec3(point->x, y, point->y), normal, point->height,
                FEATURE_DISC | (triangle->source->index & 0xfffffu) << 10 | entering << 5 |
                    point->edge,
                points);
            ++added;
        }
        entering = point->edge;
    }
    return added;
}

// ---- Edges and corners

// A bit for each edge where the surface ends or bends away from its front.
static uint32_t sharp_edges(const cairn_mesh_pair *pair, const cairn_local_triangle *triangle) {
    uint32_t edges = 0;
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_triangle_edge edge = cairn_mesh_edge(pair->mesh, triangle->source, i);
        edges |= edge.kind != CAIRN_TRIANGLE_EDGE_SMOOTH ? 1u << i : 0u;
    }
    return edges;
}

static float separation_along(
    const cairn_frustum *frustum, const cairn_local_triangle *triangle, cairn_vec3 normal) {
    const cairn_vec3 *c = triangle->corners;
    const float highest = float_max(
        vec3_dot(normal, c[0]), float_max(vec3_dot(normal, c[1]), vec3_dot(normal, c[2])));
    return vec3_dot(normal, cairn_frustum_support(frustum, vec3_negate(normal))) - highest;
}

// The direction between the nearest points of the triangle and the shape less a skin. False: they
// overlap by more than the skin.
static bool free_axis(
    const cairn_frustum *frustum, const cairn_local_triangle *triangle, axis *out) {
    const float inner = cairn_frustum_inner_radius(frustum);
    cairn_gjk_pair cores = {.a = {.radius = SKIN * inner},
        .b = {.vertices = triangle->corners, .vertex_count = 3},
        .rotation = {.x = {.x = 1.0f}, .y = {.y = 1.0f}, .z = {.z = 1.0f}}};
    cores.a.frustum = cairn_frustum_shrink(frustum, cores.a.radius, &cores.a.centre.y);
    cairn_gjk_simplex simplex = {.count = 0};
    const cairn_vec3 nearest = cairn_gjk_nearest(&cores, &simplex);
    if (vec3_is_zero(nearest)) {
        return false;
    }
    cairn_vec3 on_shape;
    cairn_gjk_points(&simplex, &on_shape, &out->place);
    out->normal = vec3_negate(vec3_normalize(nearest, vec3(0.0f, 1.0f, 0.0f)));
    out->separation = separation_along(frustum, triangle, out->normal);
    return true;
}

// The point of edge i that is nearest to the axis of the shape.
static cairn_vec3 inmost_point(
    const cairn_frustum *frustum, const cairn_local_triangle *triangle, uint32_t i) {
    const cairn_vec3 half = vec3_scale(local_triangle_side(triangle, i), 0.5f);
    const cairn_local_capsule edge = {.centre = vec3_add(triangle->corners[i], half), .half = half};
    const cairn_local_capsule middle = {.half = vec3(0.0f, frustum->half_height, 0.0f)};
    return cairn_segments_closest_points(&middle, &edge).b;
}

// If they overlap by more than the skin: the best of the ways in which the side leaves an edge that
// is inside the shape. False: no edge is.
static bool deep_axis(const cairn_mesh_pair *pair, const cairn_frustum *frustum,
    const cairn_local_triangle *triangle, axis *out) {
    bool found = false;
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_vec3 place = inmost_point(frustum, triangle, i);
        const cairn_vec3 azimuth = cairn_frustum_azimuth(place);
        const cairn_vec3 normal = vec3_negate(cairn_frustum_side_normal(frustum, azimuth));
        const float separation = separation_along(frustum, triangle, normal);
        if (cairn_frustum_contains(frustum, place) && (!found || separation > out->separation) &&
            cairn_mesh_normal_may_touch(pair, triangle, normal)) {
            *out = (axis){.separation = separation, .normal = normal, .place = place};
            found = true;
        }
    }
    return found;
}

// What of the triangle is inside the shape although the lowest points of the shape are elsewhere: a
// ridge or peak in its side. Each point leaves along the normal of the triangle.
static void add_inside(const cairn_mesh_pair *pair, const cairn_frustum *frustum,
    const cairn_local_triangle *triangle, cairn_mesh_points *points) {
    const cairn_vec3 n = triangle->normal;
    const float far = 4.0f * (frustum->half_height + frustum->bottom);
    for (uint32_t i = 0; i < 6; ++i) {
        const cairn_vec3 place =
            i < 3 ? triangle->corners[i] : inmost_point(frustum, triangle, i - 3);
        const cairn_vec3 below = vec3_sub_scaled(place, n, far);
        float distance;
        cairn_vec3 ignored;
        if (cairn_frustum_contains(frustum, place) &&
            cairn_frustum_ray(frustum, below, n, 2.0f * far, &distance, &ignored)) {
            const float separation = float_min(distance - far, 0.0f);
            add_point(pair, vec3_add_scaled(place, n, 0.5f * separation), n, separation,
                CAIRN_MESH_FEATURE_CUT | FEATURE_FREE | (triangle->source->index * 8 + i), points);
        }
    }
}

void cairn_collide_frustum_triangle(const cairn_mesh_pair *pair, const cairn_frustum *frustum,
    const cairn_local_triangle *triangle, cairn_mesh_points *points) {
    const cairn_plane plane = {
        .normal = triangle->normal, .offset = vec3_dot(triangle->normal, triangle->corners[0])};
    uint32_t hint = 0;
    cairn_manifold found = {.point_count = 0};
    // The surface holds what is in front of it: the middle, or the centre of the ball inside. Half
    // way up a cone is thin, and its ball is close to its base.
    const float ball = cairn_frustum_inner_y(frustum) * triangle->normal.y;
    if (float_max(ball, 0.0f) - plane.offset < 0.0f) {
        return;
    }
    cairn_collide_frustum_plane(frustum, &plane, pair->margin, &hint, &found);
    if (found.point_count == 0) {
        return;
    }
    float best = CAIRN_CLIP_NO_POINT;
    for (uint32_t i = 0; i < found.point_count; ++i) {
        best = float_min(best, found.points[i].separation);
    }
    const float slop =
        float_min(FACE_SLOP, FACE_SLOP_FRACTION * cairn_frustum_inner_radius(frustum));
    const uint32_t sharp = sharp_edges(pair, triangle);
    axis chosen = {.separation = best + slop};
    axis others[3] = {
        disc_axis(frustum, triangle, false), disc_axis(frustum, triangle, true), {.place.x = 0.0f}};
    uint32_t count = frustum->top > 0.0f ? 2 : 1;
    if (sharp != 0 && (free_axis(frustum, triangle, &others[count]) ||
                          deep_axis(pair, frustum, triangle, &others[count]))) {
        ++count;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (others[i].separation > pair->margin) {
            return;
        }
        if (others[i].separation > chosen.separation &&
            cairn_mesh_normal_may_touch(pair, triangle, others[i].normal)) {
            chosen = others[i];
        }
    }
    const bool on_disc = float_abs(chosen.normal.y) > ALONG_COSINE &&
                         (chosen.normal.y > 0.0f || frustum->top > 0.0f);
    if (vec3_is_zero(chosen.normal)) {
        // Where the surface is smooth a neighbour has the lowest points, unless all are deep in it.
        const bool deep = best < 0.0f - 2.0f * slop;
        if (add_on_triangle(pair, triangle, &found, deep ? 7u : sharp, points) == 0 && deep) {
            add_inside(pair, frustum, triangle, points);
        }
    } else if (!on_disc ||
               add_on_disc(pair, frustum, triangle,
                   vec3(0.0f, chosen.normal.y < 0.0f ? -1.0f : 1.0f, 0.0f), points) == 0) {
        add_point(pair, vec3_add_scaled(chosen.place, chosen.normal, 0.5f * chosen.separation),
            chosen.normal, chosen.separation, FEATURE_FREE, points);
    }
}

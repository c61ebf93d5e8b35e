// SPDX-License-Identifier: MIT

// A box or hull against one triangle, in the frame of the box or hull: separating axes, then
// clipping of the face of the polyhedron to the triangle, or of the triangle to a face, or the
// closest points of two edges.

#include "base/assert.h"
#include "sim/collide/mesh_shapes.h"

// The face of the triangle is taken if it is at most this much deeper than the best other axis, m,
// or than this fraction of the inscribed ball's radius if that is less.
#define FACE_SLOP 0.005f
#define FACE_SLOP_FRACTION 0.2f
// Edges nearer to parallel than this sine have no axis of their own.
#define PARALLEL_SINE 0.02f

#define NO_SEPARATION (-3e38f)

// Features: the labels of the edges of the incident face, and of the sides that cut it.
#define LABEL_SIDE 256u
#define FEATURE_EDGES (1u << 29)
#define TRIANGLE_AS_FACE (1u << 12) // in place of a face of the polyhedron

typedef struct axis {
    float separation;
    cairn_vec3 normal; // unit, from the triangle to the polyhedron
    uint32_t face;     // of the polyhedron
    uint32_t edge;
    uint32_t side; // of the triangle
} axis;

// Returns false if the face separates.
static bool check_faces(const cairn_convex_view *shape, const cairn_local_triangle *triangle,
    float margin, axis *best) {
    for (uint32_t i = 0; i < shape->face_count; ++i) {
        const cairn_plane *plane = &shape->planes[i];
        const cairn_vec3 *c = triangle->corners;
        const float lowest = float_min(vec3_dot(plane->normal, c[0]),
            float_min(vec3_dot(plane->normal, c[1]), vec3_dot(plane->normal, c[2])));
        const float separation = lowest - plane->offset;
        if (separation > margin) {
            return false;
        }
        if (separation > best->separation) {
            *best =
                (axis){.separation = separation, .normal = vec3_negate(plane->normal), .face = i};
        }
    }
    return true;
}

// The axis perpendicular to a side of the triangle and an edge of the polyhedron, if both are
// foremost along it. Returns false if it separates.
static bool check_edge(const cairn_convex_view *shape, const cairn_local_triangle *triangle,
    uint32_t side, uint32_t index, float margin, axis *best) {
    const cairn_hull_edge *edge = &shape->edges[index];
    const cairn_vec3 from = shape->vertices[edge->from];
    const cairn_vec3 along = vec3_sub(shape->vertices[edge->to], from);
    const cairn_vec3 along_side = local_triangle_side(triangle, side);
    cairn_vec3 cross = vec3_cross(along_side, along);
    const float length_squared = vec3_length_squared(cross);
    const float most = vec3_length_squared(along) * vec3_length_squared(along_side);
    if (!(length_squared > PARALLEL_SINE * PARALLEL_SINE * most)) {
        return true;
    }
    const cairn_vec3 at = triangle->corners[side];
    const cairn_vec3 third = triangle->corners[side == 0 ? 2 : side - 1];
    cross = vec3_dot(cross, vec3_sub(third, at)) > 0.0f ? vec3_negate(cross) : cross;
    const cairn_vec3 outward = vec3_negate(cross); // of the polyhedron
    if (vec3_dot(vec3_cross(shape->planes[edge->left].normal, outward), along) < 0.0f ||
        vec3_dot(vec3_cross(outward, shape->planes[edge->right].normal), along) < 0.0f) {
        return true;
    }
    const cairn_vec3 normal = vec3_scale(cross, 1.0f / float_sqrt(length_squared));
    const float separation = vec3_dot(normal, vec3_sub(from, at));
    if (separation > margin) {
        return false;
    }
    if (separation > best->separation && vec3_dot(normal, triangle->normal) >= 0.0f) {
        *best = (axis){.separation = separation, .normal = normal, .edge = index, .side = side};
    }
    return true;
}

static bool check_edges(const cairn_convex_view *shape, const cairn_local_triangle *triangle,
    float margin, axis *best) {
    for (uint32_t side = 0; side < 3; ++side) {
        for (uint32_t i = 0; i < shape->edge_count; ++i) {
            if (!check_edge(shape, triangle, side, i, margin, best)) {
                return false;
            }
        }
    }
    return true;
}

// A plane with two axes in it, as clipping needs them.
typedef struct frame {
    cairn_vec3 origin;
    cairn_vec3 normal;
    cairn_vec3 right;
    cairn_vec3 up;
} frame;

static frame frame_of(cairn_vec3 origin, cairn_vec3 normal) {
    frame out = {.origin = origin, .normal = normal};
    vec3_tangents(normal, &out.right, &out.up);
    return out;
}

static cairn_clip_point into_frame(const frame *f, cairn_vec3 point, uint32_t label) {
    const cairn_vec3 arm = vec3_sub(point, f->origin);
    return (cairn_clip_point){.x = vec3_dot(f->right, arm),
        .y = vec3_dot(f->up, arm),
        .height = vec3_dot(f->normal, arm),
        .edge = label};
}

static cairn_vec3 out_of_frame(const frame *f, const cairn_clip_point *point, float height) {
    const cairn_vec3 arm = vec3_add(vec3_scale(f->right, point->x), vec3_scale(f->up, point->y));
    return vec3_add_scaled(vec3_add(f->origin, arm), f->normal, height);
}

// The side of a face through `from` along `side`, seen counter-clockwise.
static cairn_clip_line line_of(const frame *f, cairn_vec3 from, cairn_vec3 side, uint32_t label) {
    const cairn_vec3 outward = vec3_normalize(vec3_cross(side, f->normal), vec3_zero());
    return (cairn_clip_line){.right = vec3_dot(outward, f->right),
        .up = vec3_dot(outward, f->up),
        .limit = vec3_dot(outward, vec3_sub(from, f->origin)),
        .edge = label};
}

// A corner of the incident face has a name without the triangle, so that it keeps its impulse when
// the face slides on to the next one.
static uint32_t feature_of(
    const cairn_local_triangle *triangle, uint32_t entering, uint32_t leaving, uint32_t face) {
    return entering < LABEL_SIDE && leaving < LABEL_SIDE
               ? face << 16 | entering << 8 | leaving
               : CAIRN_MESH_FEATURE_CUT |
                     ((triangle->source->index * 31 + entering) * 31 + leaving) >> 1;
}

// Adds the points of the polygon that are low above the frame's plane. `normal`: from the triangle
// to the polyhedron, along the frame's normal or against it.
static uint32_t add_polygon(const cairn_mesh_pair *pair, const frame *f,
    const cairn_clip_polygon *polygon, const cairn_local_triangle *triangle, cairn_vec3 normal,
    uint32_t face, cairn_mesh_points *points) {
    uint32_t added = 0;
    uint32_t entering = polygon->count > 0 ? polygon->points[polygon->count - 1].edge : 0;
    for (uint32_t i = 0; i < polygon->count; ++i) {
        const cairn_clip_point *point = &polygon->points[i];
        if (point->height <= pair->margin) {
            cairn_mesh_points_add(points,
                mesh_point_to_mesh(pair, out_of_frame(f, point, 0.5f * point->height)),
                mat3_apply(pair->rotation, normal), point->height,
                feature_of(triangle, entering, point->edge, face));
            ++added;
        }
        entering = point->edge;
    }
    return added;
}

static uint32_t corner_count(const cairn_convex_view *shape, uint32_t face) {
    return (uint32_t)shape->face_first[face + 1] - shape->face_first[face];
}

static cairn_vec3 corner_of(const cairn_convex_view *shape, uint32_t face, uint32_t index) {
    const uint32_t count = corner_count(shape, face);
    CAIRN_ASSERT(index <= count);
    return shape->vertices[shape->corners[shape->face_first[face] + (index < count ? index : 0)]];
}

// The face of the polyhedron that looks at the triangle most, clipped to the triangle.
static uint32_t add_on_triangle(const cairn_mesh_pair *pair, const cairn_convex_view *shape,
    const cairn_local_triangle *triangle, cairn_mesh_points *points) {
    uint32_t face = 0;
    for (uint32_t i = 1; i < shape->face_count; ++i) {
        face = vec3_dot(shape->planes[i].normal, triangle->normal) <
                       vec3_dot(shape->planes[face].normal, triangle->normal)
                   ? i
                   : face;
    }
    const frame f = frame_of(triangle->corners[0], triangle->normal);
    cairn_clip_polygon polygons[2];
    polygons[0].count = corner_count(shape, face);
    for (uint32_t i = 0; i < polygons[0].count; ++i) {
        polygons[0].points[i] = into_frame(&f, corner_of(shape, face, i), i);
    }
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_clip_line line =
            line_of(&f, triangle->corners[i], local_triangle_side(triangle, i), LABEL_SIDE + i);
        cairn_clip_polygon_cut(&polygons[i % 2], &line, &polygons[1 - i % 2]);
    }
    return add_polygon(pair, &f, &polygons[1], triangle, triangle->normal, face, points);
}

// The triangle, clipped to a face of the polyhedron.
static void add_on_face(const cairn_mesh_pair *pair, const cairn_convex_view *shape,
    const cairn_local_triangle *triangle, const axis *best, cairn_mesh_points *points) {
    const frame f = frame_of(corner_of(shape, best->face, 0), shape->planes[best->face].normal);
    cairn_clip_polygon polygons[2];
    polygons[0].count = 3;
    for (uint32_t i = 0; i < 3; ++i) {
        polygons[0].points[i] = into_frame(&f, triangle->corners[i], LABEL_SIDE + i);
    }
    const uint32_t count = corner_count(shape, best->face);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_vec3 from = corner_of(shape, best->face, i);
        const cairn_clip_line line =
            line_of(&f, from, vec3_sub(corner_of(shape, best->face, i + 1), from), i);
        cairn_clip_polygon_cut(&polygons[i % 2], &line, &polygons[1 - i % 2]);
    }
    (void)add_polygon(
        pair, &f, &polygons[count % 2], triangle, best->normal, TRIANGLE_AS_FACE, points);
}

static void add_edges(const cairn_mesh_pair *pair, const cairn_convex_view *shape,
    const cairn_local_triangle *triangle, const axis *best, cairn_mesh_points *points) {
    const cairn_hull_edge *edge = &shape->edges[best->edge];
    const cairn_vec3 from = shape->vertices[edge->from];
    const cairn_vec3 half = vec3_scale(vec3_sub(shape->vertices[edge->to], from), 0.5f);
    const cairn_vec3 half_side = vec3_scale(local_triangle_side(triangle, best->side), 0.5f);
    const cairn_local_capsule of_shape = {.centre = vec3_add(from, half), .half = half};
    const cairn_local_capsule of_mesh = {
        .centre = vec3_add(triangle->corners[best->side], half_side), .half = half_side};
    const cairn_closest_points closest = cairn_segments_closest_points(&of_mesh, &of_shape);
    cairn_mesh_points_add(points,
        mesh_point_to_mesh(pair, vec3_scale(vec3_add(closest.a, closest.b), 0.5f)),
        mat3_apply(pair->rotation, best->normal), best->separation,
        FEATURE_EDGES | best->edge << 8 | best->side);
}

void cairn_collide_polyhedron_triangle(const cairn_mesh_pair *pair, const cairn_convex_view *shape,
    const cairn_local_triangle *triangle, cairn_mesh_points *points) {
    const cairn_vec3 at = triangle->corners[0];
    const float height = vec3_dot(triangle->normal, vec3_sub(shape->centre, at));
    const float lowest = 0.0f - cairn_convex_view_support(shape, vec3_negate(triangle->normal)) -
                         vec3_dot(triangle->normal, at);
    if (height < 0.0f || lowest > pair->margin) {
        return;
    }
    axis face = {.separation = NO_SEPARATION};
    axis edge = {.separation = NO_SEPARATION};
    if (!check_faces(shape, triangle, pair->margin, &face) ||
        !check_edges(shape, triangle, pair->margin, &edge)) {
        return;
    }
    const float slop = float_min(FACE_SLOP, FACE_SLOP_FRACTION * shape->inner);
    const bool by_edge = edge.separation > face.separation + 0.1f * slop;
    const bool may = by_edge ? cairn_mesh_edge_may_touch(
                                   pair, triangle, edge.side, edge.normal, CAIRN_MESH_FOREMOST)
                             : cairn_mesh_normal_may_touch(pair, triangle, face.normal);
    // The shortest way out of a triangle may lead over its edge, into a neighbour that goes on
    // there. Then it must leave along the normal: no other triangle would hold it.
    if ((!may || lowest + slop >= float_max(face.separation, edge.separation)) &&
        add_on_triangle(pair, shape, triangle, points) > 0) {
        return;
    }
    if (may && by_edge) {
        add_edges(pair, shape, triangle, &edge, points);
    } else if (may) {
        add_on_face(pair, shape, triangle, &face, points);
    }
}

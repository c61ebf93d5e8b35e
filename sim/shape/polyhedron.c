// SPDX-License-Identifier: MIT
#include "sim/shape/polyhedron.h"

#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"
#include "sim/math/vec.h"
#include "sim/shape/frustum.h"
#include "sim/shape/hull.h"
#include "sim/shape/volume.h"

#define PI 3.14159265f

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void between(const double from[3], const double to[3], double out[3]) {
    for (uint32_t k = 0; k < 3; ++k) {
        out[k] = to[k] - from[k];
    }
}

// ---- Shapes as polyhedra

static void add_vertex(cairn_polyhedron *p, float x, float y, float z) {
    CAIRN_ASSERT(p->vertex_count < CAIRN_POLYHEDRON_VERTICES_MAX);
    double *at = p->vertices[p->vertex_count++];
    at[0] = (double)x;
    at[1] = (double)y;
    at[2] = (double)z;
}

static void add_corner(cairn_polyhedron *p, uint32_t corner) {
    const uint16_t end = p->face_first[p->face_count];
    CAIRN_ASSERT(end < CAIRN_POLYHEDRON_CORNERS_MAX && corner < p->vertex_count);
    p->corners[end] = (uint16_t)corner;
    p->face_first[p->face_count] = (uint16_t)(end + 1);
}

// The corners added so far are a face; the next ones belong to another.
static void end_face(cairn_polyhedron *p) {
    CAIRN_ASSERT(p->face_count < CAIRN_POLYHEDRON_FACES_MAX);
    p->face_count += 1;
    p->face_first[p->face_count] = p->face_first[p->face_count - 1];
}

// While a face is written, face_first[face_count] is where its next corner goes, so that the first
// corner of face i is where face i - 1 ended. This puts the first corners where they belong.
static void shift_ends(cairn_polyhedron *p) {
    for (uint32_t i = p->face_count; i > 0; --i) {
        p->face_first[i] = p->face_first[i - 1];
    }
    p->face_first[0] = 0;
}

// Corner i of a box has the bits of i as signs: x in bit 0, y in bit 1, z in bit 2.
static void begin_box(cairn_polyhedron *p, cairn_vec3 half) {
    static const uint8_t faces[6][4] = {
        {0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (uint32_t i = 0; i < 8; ++i) {
        add_vertex(p, (i & 1u) != 0 ? half.x : 0.0f - half.x,
            (i & 2u) != 0 ? half.y : 0.0f - half.y, (i & 4u) != 0 ? half.z : 0.0f - half.z);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        for (uint32_t k = 0; k < 4; ++k) {
            add_corner(p, faces[i][k]);
        }
        end_face(p);
    }
}

static void begin_hull(cairn_polyhedron *p, const cairn_hull *hull) {
    for (uint32_t i = 0; i < hull->vertex_count; ++i) {
        add_vertex(p, hull->vertices[i].x, hull->vertices[i].y, hull->vertices[i].z);
    }
    for (uint32_t i = 0; i < hull->face_count; ++i) {
        for (uint32_t k = hull->face_first[i]; k < hull->face_first[i + 1]; ++k) {
            add_corner(p, hull->corners[k]);
        }
        end_face(p);
    }
}

// The vertices of a ring go from z towards x: counter clockwise seen from above.
static void add_ring(cairn_polyhedron *p, float radius, float y) {
    for (uint32_t i = 0; i < CAIRN_POLYHEDRON_RIM; ++i) {
        const float angle = 2.0f * PI * (float)i / (float)CAIRN_POLYHEDRON_RIM;
        add_vertex(p, radius * cairn_float_sin(angle), y, radius * cairn_float_cos(angle));
    }
}

// A polygon of n sides and radius R has the area n / 2 sin(2 pi / n) R^2, a disc pi r^2.
static void begin_frustum(cairn_polyhedron *p, const cairn_frustum *f) {
    enum { RIM = CAIRN_POLYHEDRON_RIM };
    const float step = 2.0f * PI / (float)RIM;
    const float grow = float_sqrt(step / cairn_float_sin(step));
    const bool apex = !(f->top > 0.0f);
    add_ring(p, grow * f->bottom, 0.0f - f->half_height);
    if (apex) {
        add_vertex(p, 0.0f, f->half_height, 0.0f);
    } else {
        add_ring(p, grow * f->top, f->half_height);
    }
    for (uint32_t i = 0; i < RIM; ++i) {
        const uint32_t next = (i + 1) % RIM;
        add_corner(p, i);
        add_corner(p, next);
        add_corner(p, apex ? RIM : RIM + next);
        if (!apex) {
            add_corner(p, RIM + i);
        }
        end_face(p);
    }
    for (uint32_t disc = 0; disc < (apex ? 1u : 2u); ++disc) {
        for (uint32_t i = 0; i < RIM; ++i) {
            add_corner(p, disc == 0 ? RIM - 1 - i : RIM + i);
        }
        end_face(p);
    }
}

// Rotates in double precision, by the matrix of the rotation as it is in float.
static void move_vertices(cairn_polyhedron *p, const cairn_pose *pose, cairn_vec3 origin) {
    const cairn_mat3 turn = mat3_of_quat(pose->rotation);
    const cairn_vec3 columns[3] = {
        mat3_column(turn, 0), mat3_column(turn, 1), mat3_column(turn, 2)};
    const double shift[3] = {(double)pose->position.x - (double)origin.x,
        (double)pose->position.y - (double)origin.y, (double)pose->position.z - (double)origin.z};
    for (uint32_t i = 0; i < p->vertex_count; ++i) {
        double *at = p->vertices[i];
        const double from[3] = {at[0], at[1], at[2]};
        for (uint32_t k = 0; k < 3; ++k) {
            at[k] = shift[k] + (double)vec3_component(columns[0], k) * from[0] +
                    (double)vec3_component(columns[1], k) * from[1] +
                    (double)vec3_component(columns[2], k) * from[2];
        }
    }
}

bool cairn_polyhedron_of_shape(const cairn_shape_view *shape, const cairn_pose *pose,
    cairn_vec3 origin, cairn_polyhedron *out) {
    out->vertex_count = 0;
    out->face_count = 0;
    out->face_first[0] = 0;
    if (shape->geometry->kind == CAIRN_SHAPE_BOX) {
        begin_box(out, shape->geometry->half_extents);
    } else if (shape->geometry->kind == CAIRN_SHAPE_HULL) {
        begin_hull(out, shape->hull);
    } else if (cairn_geometry_is_frustum(shape->geometry)) {
        const cairn_frustum frustum = cairn_frustum_of(shape->geometry);
        begin_frustum(out, &frustum);
    } else {
        return false;
    }
    shift_ends(out);
    move_vertices(out, pose, origin);
    CAIRN_ASSERT(out->vertex_count >= 4 && out->face_count >= 4);
    return true;
}

// ---- Cuts

typedef struct cutter {
    const cairn_polyhedron *whole;
    cairn_polyhedron *out;
    double heights[CAIRN_POLYHEDRON_VERTICES_MAX]; // above the plane; 0: on it
    uint16_t kept[CAIRN_POLYHEDRON_VERTICES_MAX];  // number in *out, plus 1; 0: none
    uint32_t edge_count;
    uint16_t edges[CAIRN_POLYHEDRON_VERTICES_MAX][2]; // lower and higher end of each edge cut
    uint16_t edge_vertices[CAIRN_POLYHEDRON_VERTICES_MAX];
    bool on_plane[CAIRN_POLYHEDRON_VERTICES_MAX];  // by number in *out
    uint16_t after[CAIRN_POLYHEDRON_VERTICES_MAX]; // around the cut, plus 1; 0: none
} cutter;

// No corner exists. CAIRN_INDEX_NONE means that the polyhedron has no room for another corner.
#define NO_CORNER (CAIRN_INDEX_NONE - 1u)

static uint32_t new_vertex(cutter *c, const double at[3], bool on_plane) {
    cairn_polyhedron *out = c->out;
    if (out->vertex_count == CAIRN_POLYHEDRON_VERTICES_MAX) {
        return CAIRN_INDEX_NONE;
    }
    memcpy(out->vertices[out->vertex_count], at, sizeof out->vertices[0]);
    c->on_plane[out->vertex_count] = on_plane;
    c->after[out->vertex_count] = 0;
    return out->vertex_count++;
}

static uint32_t kept_vertex(cutter *c, uint32_t vertex) {
    if (c->kept[vertex] == 0) {
        const uint32_t made = new_vertex(c, c->whole->vertices[vertex], c->heights[vertex] == 0.0);
        c->kept[vertex] = made == CAIRN_INDEX_NONE ? 0 : (uint16_t)(made + 1);
    }
    return c->kept[vertex] == 0 ? CAIRN_INDEX_NONE : c->kept[vertex] - 1u;
}

// Where the edge meets the plane: one vertex for both faces beside it.
static uint32_t cut_edge(cutter *c, uint32_t a, uint32_t b) {
    const uint32_t low = a < b ? a : b;
    const uint32_t high = a < b ? b : a;
    for (uint32_t i = 0; i < c->edge_count; ++i) {
        if (c->edges[i][0] == low && c->edges[i][1] == high) {
            return c->edge_vertices[i];
        }
    }
    const double *from = c->whole->vertices[low];
    const double part = c->heights[low] / (c->heights[low] - c->heights[high]);
    double at[3];
    between(from, c->whole->vertices[high], at);
    for (uint32_t k = 0; k < 3; ++k) {
        at[k] = from[k] + part * at[k];
    }
    const uint32_t made = new_vertex(c, at, true);
    if (made != CAIRN_INDEX_NONE) {
        c->edges[c->edge_count][0] = (uint16_t)low;
        c->edges[c->edge_count][1] = (uint16_t)high;
        c->edge_vertices[c->edge_count++] = (uint16_t)made;
    }
    return made;
}

// Clips one face (Sutherland and Hodgman 1974). Returns how many corners are left;
// CAIRN_INDEX_NONE: too many.
static uint32_t clip_corners(
    cutter *c, uint32_t face, uint16_t made[CAIRN_POLYHEDRON_VERTICES_MAX]) {
    const cairn_polyhedron *whole = c->whole;
    const uint32_t first = whole->face_first[face];
    const uint32_t count = whole->face_first[face + 1] - first;
    uint32_t made_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t a = whole->corners[first + i];
        const uint32_t b = whole->corners[first + (i + 1) % count];
        const uint32_t ends[2] = {c->heights[a] <= 0.0 ? kept_vertex(c, a) : NO_CORNER,
            c->heights[a] * c->heights[b] < 0.0 ? cut_edge(c, a, b) : NO_CORNER};
        for (uint32_t k = 0; k < 2; ++k) {
            if (ends[k] == CAIRN_INDEX_NONE || made_count == CAIRN_POLYHEDRON_VERTICES_MAX) {
                return CAIRN_INDEX_NONE;
            }
            if (ends[k] != NO_CORNER) {
                made[made_count++] = (uint16_t)ends[k];
            }
        }
    }
    return made_count;
}

// Adds what is left of a face. Its edge along the plane, if it has one, is an edge of the cut, in
// the other direction. False: too many vertices.
static bool clip_face(cutter *c, uint32_t face) {
    cairn_polyhedron *out = c->out;
    uint16_t made[CAIRN_POLYHEDRON_VERTICES_MAX];
    const uint32_t made_count = clip_corners(c, face, made);
    if (made_count == CAIRN_INDEX_NONE || made_count < 3) {
        return made_count < 3;
    }
    if (out->face_first[out->face_count] + made_count > CAIRN_POLYHEDRON_CORNERS_MAX ||
        out->face_count + 1 >= CAIRN_POLYHEDRON_FACES_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < made_count; ++i) {
        const uint32_t a = made[i];
        const uint32_t b = made[(i + 1) % made_count];
        add_corner(out, a);
        if (c->on_plane[a] && c->on_plane[b]) {
            c->after[b] = (uint16_t)(a + 1);
        }
    }
    end_face(out);
    return true;
}

// The face of the cut: the edges along the plane must be one polygon.
static bool close_cut(cutter *c) {
    cairn_polyhedron *out = c->out;
    uint32_t edge_count = 0;
    uint32_t first = CAIRN_INDEX_NONE;
    for (uint32_t i = 0; i < out->vertex_count; ++i) {
        edge_count += c->after[i] != 0 ? 1u : 0u;
        first = c->after[i] != 0 && first == CAIRN_INDEX_NONE ? i : first;
    }
    if (edge_count < 3 ||
        out->face_first[out->face_count] + edge_count > CAIRN_POLYHEDRON_CORNERS_MAX) {
        return false;
    }
    uint32_t here = first;
    for (uint32_t i = 0; i < edge_count; ++i) {
        if (c->after[here] == 0 || (i > 0 && here == first)) {
            return false;
        }
        add_corner(out, here);
        here = c->after[here] - 1u;
    }
    end_face(out);
    return here == first;
}

cairn_cut cairn_polyhedron_cut(const cairn_polyhedron *whole, const cairn_cut_plane *plane,
    double tolerance, cairn_polyhedron *out) {
    cutter c;
    bool above = false;
    bool below = false;
    CAIRN_ASSERT(whole != out);
    c.whole = whole;
    c.out = out;
    c.edge_count = 0;
    for (uint32_t i = 0; i < whole->vertex_count; ++i) {
        const double height = dot(plane->normal, whole->vertices[i]) - plane->offset;
        const bool on = height <= tolerance && 0.0 - height <= tolerance;
        c.heights[i] = on ? 0.0 : height;
        c.kept[i] = 0;
        above = above || c.heights[i] > 0.0;
        below = below || c.heights[i] < 0.0;
    }
    if (!above || !below) {
        return above ? CAIRN_CUT_ALL : CAIRN_CUT_NONE;
    }
    out->vertex_count = 0;
    out->face_count = 0;
    out->face_first[0] = 0;
    for (uint32_t i = 0; i < whole->face_count; ++i) {
        if (!clip_face(&c, i)) {
            return CAIRN_CUT_FAILED;
        }
    }
    if (!close_cut(&c)) {
        return CAIRN_CUT_FAILED;
    }
    shift_ends(out);
    return CAIRN_CUT_DONE;
}

// ---- Measures

double cairn_polyhedron_reach_squared(const cairn_polyhedron *p, const double from[3]) {
    double most = 0.0;
    for (uint32_t i = 0; i < p->vertex_count; ++i) {
        double apart[3];
        between(from, p->vertices[i], apart);
        const double reach = dot(apart, apart);
        most = reach > most ? reach : most;
    }
    return most;
}

// Outward, of any length: the sum over the triangles of the face (Newell).
static void face_normal(const cairn_polyhedron *p, uint32_t face, double out[3]) {
    const double *first = p->vertices[p->corners[p->face_first[face]]];
    out[0] = out[1] = out[2] = 0.0;
    for (uint32_t i = p->face_first[face] + 1u; i + 1 < p->face_first[face + 1]; ++i) {
        double a[3];
        double b[3];
        between(first, p->vertices[p->corners[i]], a);
        between(first, p->vertices[p->corners[i + 1]], b);
        out[0] += a[1] * b[2] - a[2] * b[1];
        out[1] += a[2] * b[0] - a[0] * b[2];
        out[2] += a[0] * b[1] - a[1] * b[0];
    }
}

// How far `point` is below a face, times the length of its normal.
static double depth_below(
    const cairn_polyhedron *p, uint32_t face, const double normal[3], const double point[3]) {
    double apart[3];
    between(point, p->vertices[p->corners[p->face_first[face]]], apart);
    return dot(normal, apart);
}

double cairn_polyhedron_thickness_squared(const cairn_polyhedron *p) {
    double least = -1.0;
    for (uint32_t i = 0; i < p->face_count; ++i) {
        double normal[3];
        double depth = 0.0;
        face_normal(p, i, normal);
        for (uint32_t k = 0; k < p->vertex_count; ++k) {
            const double here = depth_below(p, i, normal, p->vertices[k]);
            depth = here > depth ? here : depth;
        }
        const double square = dot(normal, normal);
        // A face without an area says nothing.
        const double thickness = square > 0.0 ? depth * depth / square : least;
        least = least < 0.0 || thickness < least ? thickness : least;
    }
    return least < 0.0 ? 0.0 : least;
}

double cairn_polyhedron_measure(const cairn_polyhedron *p, double centre[3]) {
    cairn_volume_integrals total = {.six_volumes = 0.0};
    const double *origin = p->vertices[0];
    for (uint32_t face = 0; face < p->face_count; ++face) {
        const uint32_t begin = p->face_first[face];
        double corners[3][3];
        between(origin, p->vertices[p->corners[begin]], corners[0]);
        for (uint32_t i = begin + 1u; i + 1 < p->face_first[face + 1]; ++i) {
            between(origin, p->vertices[p->corners[i]], corners[1]);
            between(origin, p->vertices[p->corners[i + 1]], corners[2]);
            cairn_volume_add(&total, corners[0], corners[1], corners[2]);
        }
    }
    centre[0] = centre[1] = centre[2] = 0.0;
    if (!(total.six_volumes > 0.0)) {
        return 0.0;
    }
    const cairn_volume measured = cairn_volume_of(&total);
    for (uint32_t k = 0; k < 3; ++k) {
        centre[k] = origin[k] + measured.centre[k];
    }
    return measured.volume;
}

// ---- Points inside

void cairn_polyhedron_clamp(const cairn_polyhedron *p, const double from[3], double point[3]) {
    double way[3];
    double part = 1.0;
    between(from, point, way);
    for (uint32_t i = 0; i < p->face_count; ++i) {
        double normal[3];
        face_normal(p, i, normal);
        const double room = depth_below(p, i, normal, from);
        const double rise = dot(normal, way);
        if (rise > 0.0 && part * rise > room) {
            part = room > 0.0 ? room / rise : 0.0;
        }
    }
    for (uint32_t k = 0; k < 3; ++k) {
        point[k] = from[k] + part * way[k];
    }
}

static double six_volumes(const double a[3], const double b[3], const double c[3]) {
    return (a[1] * b[2] - a[2] * b[1]) * c[0] + (a[2] * b[0] - a[0] * b[2]) * c[1] +
           (a[0] * b[1] - a[1] * b[0]) * c[2];
}

// Folds the unit cube onto the tetrahedron of its origin and axes (Rocchini and Cignoni 2000).
static void fold_cube(const double draws[3], double out[3]) {
    double s = draws[0];
    double t = draws[1];
    double u = draws[2];
    if (s + t > 1.0) {
        s = 1.0 - s;
        t = 1.0 - t;
    }
    if (s + t + u > 1.0) {
        const double before = u;
        if (t + u > 1.0) {
            u = 1.0 - s - t;
            t = 1.0 - before;
        } else {
            u = s + t + u - 1.0;
            s = 1.0 - t - before;
        }
    }
    out[0] = s;
    out[1] = t;
    out[2] = u;
}

// The tetrahedra between the first vertex and the triangles of the faces fill the polyhedron. The
// first draw chooses one by volume, the others a place in it.
void cairn_polyhedron_sample(const cairn_polyhedron *p, const double draws[4], double out[3]) {
    double middle[3];
    double weights[3];
    double chosen[3][3] = {{0.0}};
    double left = 6.0 * cairn_polyhedron_measure(p, middle) * draws[0];
    const double *origin = p->vertices[0];
    for (uint32_t face = 0; face < p->face_count && left >= 0.0; ++face) {
        const uint32_t begin = p->face_first[face];
        for (uint32_t i = begin + 1u; i + 1 < p->face_first[face + 1] && left >= 0.0; ++i) {
            double corners[3][3];
            between(origin, p->vertices[p->corners[begin]], corners[0]);
            between(origin, p->vertices[p->corners[i]], corners[1]);
            between(origin, p->vertices[p->corners[i + 1]], corners[2]);
            const double size = six_volumes(corners[0], corners[1], corners[2]);
            if (size > 0.0) {
                memcpy(chosen, corners, sizeof chosen);
                left -= size;
            }
        }
    }
    fold_cube(&draws[1], weights);
    for (uint32_t k = 0; k < 3; ++k) {
        out[k] = origin[k] + weights[0] * chosen[0][k] + weights[1] * chosen[1][k] +
                 weights[2] * chosen[2][k];
    }
}

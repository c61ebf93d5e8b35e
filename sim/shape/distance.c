// SPDX-License-Identifier: MIT
#include "sim/shape/distance.h"

#include "base/assert.h"
#include "sim/shape/hull.h"

#define ITERATIONS_MAX 24
// The iteration ends when no point of the difference is closer than this fraction of the distance.
#define RELATIVE_ERROR 1e-4f
// Or than this fraction of the distance that the caller asks about.
#define ENOUGH_FRACTION 0.02f
// Two cores overlap if their squared distance is below this fraction of their size squared.
#define OVERLAP_FRACTION 1e-12f
// A plane is between two cores if it is farther from them than this squared fraction of their size.
#define APART_SQUARED 1e-10f
#define HUGE_WIDTH 1e9f
// A triangle is clipped if its farthest corner is more than this many radii of the ball away.
#define LARGE_TRIANGLE 8.0f
// Each point of a hull's core lies at most this many times the skin below the hull's surface.
#define CORE_RIM_MAX 4.0f

cairn_core cairn_core_of(const cairn_shape_view *shape, float skin) {
    const cairn_geometry *geometry = shape->geometry;
    CAIRN_ASSERT(geometry->kind != CAIRN_SHAPE_HALF_SPACE && skin >= 0.0f);
    cairn_core core = {.geometry = geometry,
        .hull = shape->hull,
        .corners = shape->corners,
        .corner_count = shape->corners != NULL ? 3 : 0,
        .scale = 1.0f,
        .radius = geometry->radius};
    const float used = float_min(skin, 0.5f * cairn_shape_view_half_width(shape));
    if (geometry->kind == CAIRN_SHAPE_BOX) {
        core.half_extents = vec3_sub(geometry->half_extents, vec3(used, used, used));
        core.radius = used;
    } else if (geometry->kind == CAIRN_SHAPE_HULL) {
        // Every face is at least `inner` from the centre, so it moves inwards by at least the skin.
        // The rim of a flat hull would move by its width over its thickness times as much.
        const float flat = CORE_RIM_MAX * shape->hull->inner / shape->hull->outer;
        core.radius = float_min(used, flat * skin);
        core.scale = 1.0f - core.radius / shape->hull->inner;
    } else if (cairn_geometry_is_frustum(geometry)) {
        const cairn_frustum whole = cairn_frustum_of(geometry);
        core.frustum = cairn_frustum_shrink(&whole, used, &core.centre.y);
        core.radius = used;
    }
    return core;
}

float cairn_shape_view_half_width(const cairn_shape_view *shape) {
    const cairn_geometry *geometry = shape->geometry;
    const cairn_vec3 half = geometry->half_extents;
    switch (geometry->kind) {
    case CAIRN_SHAPE_BOX:
        return float_min(half.x, float_min(half.y, half.z));
    case CAIRN_SHAPE_HULL:
        return shape->hull->inner;
    case CAIRN_SHAPE_HALF_SPACE:
    case CAIRN_SHAPE_MESH:
    case CAIRN_SHAPE_HEIGHT_FIELD:
    case CAIRN_GEOMETRY_TRIANGLE:
        return HUGE_WIDTH;
    case CAIRN_SHAPE_CYLINDER:
    case CAIRN_SHAPE_CONE: {
        const cairn_frustum frustum = cairn_frustum_of(geometry);
        return cairn_frustum_inner_radius(&frustum);
    }
    default:
        return geometry->radius;
    }
}

cairn_vec3 cairn_shape_view_middle(const cairn_shape_view *shape) {
    if (shape->hull != NULL) {
        return shape->hull->centre;
    }
    if (cairn_geometry_is_frustum(shape->geometry)) {
        const cairn_frustum frustum = cairn_frustum_of(shape->geometry);
        return vec3(0.0f, cairn_frustum_inner_y(&frustum), 0.0f);
    }
    return vec3_zero();
}

cairn_vec3 cairn_shape_view_face_below(const cairn_shape_view *shape, cairn_vec3 point) {
    if (shape->geometry->kind == CAIRN_SHAPE_BOX) {
        const cairn_vec3 above = vec3_sub(vec3_abs(point), shape->geometry->half_extents);
        if (above.x >= above.y && above.x >= above.z) {
            return vec3(point.x < 0.0f ? -1.0f : 1.0f, 0.0f, 0.0f);
        }
        return above.y >= above.z ? vec3(0.0f, point.y < 0.0f ? -1.0f : 1.0f, 0.0f)
                                  : vec3(0.0f, 0.0f, point.z < 0.0f ? -1.0f : 1.0f);
    }
    cairn_vec3 normal = vec3_zero();
    float most = 0.0f;
    for (uint32_t i = 0; shape->hull != NULL && i < shape->hull->face_count; ++i) {
        const cairn_plane *plane = &shape->hull->planes[i];
        const float above = vec3_dot(plane->normal, point) - plane->offset;
        if (i == 0 || above > most) {
            normal = plane->normal;
            most = above;
        }
    }
    return normal;
}

float cairn_core_reach(const cairn_core *core, cairn_vec3 point) {
    switch (core->geometry->kind) {
    case CAIRN_SHAPE_BOX:
        return vec3_length(vec3_add(vec3_abs(point), core->half_extents));
    case CAIRN_SHAPE_HULL:
        return vec3_distance(point, core->hull->centre) + core->scale * core->hull->outer;
    case CAIRN_SHAPE_CYLINDER:
    case CAIRN_SHAPE_CONE: {
        const cairn_frustum *frustum = &core->frustum;
        const float widest = float_max(frustum->bottom, frustum->top);
        return vec3_distance(point, core->centre) + widest + frustum->half_height;
    }
    case CAIRN_GEOMETRY_TRIANGLE:
        return float_max(vec3_distance(point, core->corners[0]),
            float_max(
                vec3_distance(point, core->corners[1]), vec3_distance(point, core->corners[2])));
    default:
        return vec3_length(
            vec3(point.x, float_abs(point.y) + core->geometry->half_height, point.z));
    }
}

// The point that is farthest along a direction; the first of equals.
static cairn_vec3 farthest_of(const cairn_vec3 *points, uint32_t count, cairn_vec3 direction) {
    uint32_t best = 0;
    float most = vec3_dot(points[0], direction);
    for (uint32_t i = 1; i < count; ++i) {
        const float along = vec3_dot(points[i], direction);
        best = along > most ? i : best;
        most = along > most ? along : most;
    }
    return points[best];
}

cairn_vec3 cairn_core_support(const cairn_core *core, cairn_vec3 direction) {
    const cairn_vec3 half = core->half_extents;
    switch (core->geometry->kind) {
    case CAIRN_SHAPE_BOX:
        return vec3_add(core->centre, vec3(direction.x < 0.0f ? 0.0f - half.x : half.x,
                                          direction.y < 0.0f ? 0.0f - half.y : half.y,
                                          direction.z < 0.0f ? 0.0f - half.z : half.z));
    case CAIRN_SHAPE_HULL: {
        const cairn_hull *hull = core->hull;
        const cairn_vec3 vertex = farthest_of(hull->vertices, hull->vertex_count, direction);
        const cairn_vec3 from = vec3_sub(vertex, hull->centre);
        return vec3_add_scaled(hull->centre, from, core->scale);
    }
    case CAIRN_SHAPE_CYLINDER:
    case CAIRN_SHAPE_CONE:
        return vec3_add(core->centre, cairn_frustum_support(&core->frustum, direction));
    case CAIRN_GEOMETRY_TRIANGLE:
        return farthest_of(core->corners, core->corner_count, direction);
    default: {
        const float end = core->geometry->half_height;
        return vec3(0.0f, direction.y < 0.0f ? 0.0f - end : end, 0.0f);
    }
    }
}

// ---- Closest point to the origin of a simplex of the Minkowski difference a - b

typedef struct simplex {
    cairn_vec3 points[4];
    uint32_t count;
} simplex;

static cairn_vec3 keep_point(simplex *s, cairn_vec3 a) {
    s->points[0] = a;
    s->count = 1;
    return a;
}

static cairn_vec3 closest_on_segment(simplex *s, cairn_vec3 a, cairn_vec3 b) {
    const cairn_vec3 ab = vec3_sub(b, a);
    const float along = 0.0f - vec3_dot(a, ab);
    const float length_squared = vec3_dot(ab, ab);
    if (along <= 0.0f) {
        return keep_point(s, a);
    }
    if (along >= length_squared) {
        return keep_point(s, b);
    }
    s->points[0] = a;
    s->points[1] = b;
    s->count = 2;
    return vec3_add_scaled(a, ab, along / length_squared);
}

// Ericson 2004, section 5.1.5, with the origin as the point.
static cairn_vec3 closest_on_triangle(simplex *s, cairn_vec3 a, cairn_vec3 b, cairn_vec3 c) {
    const cairn_vec3 ab = vec3_sub(b, a);
    const cairn_vec3 ac = vec3_sub(c, a);
    const float d1 = 0.0f - vec3_dot(ab, a);
    const float d2 = 0.0f - vec3_dot(ac, a);
    const float d3 = 0.0f - vec3_dot(ab, b);
    const float d4 = 0.0f - vec3_dot(ac, b);
    const float d5 = 0.0f - vec3_dot(ab, c);
    const float d6 = 0.0f - vec3_dot(ac, c);
    if (d1 <= 0.0f && d2 <= 0.0f) {
        return keep_point(s, a);
    }
    if (d3 >= 0.0f && d4 <= d3) {
        return keep_point(s, b);
    }
    if (d6 >= 0.0f && d5 <= d6) {
        return keep_point(s, c);
    }
    const float vc = d1 * d4 - d3 * d2;
    if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) {
        return closest_on_segment(s, a, b);
    }
    const float vb = d5 * d2 - d1 * d6;
    if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) {
        return closest_on_segment(s, a, c);
    }
    const float va = d3 * d6 - d5 * d4;
    if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f) {
        return closest_on_segment(s, b, c);
    }
    const float sum = va + vb + vc;
    if (!(sum > 0.0f)) {
        return closest_on_segment(s, a, b);
    }
    s->points[0] = a;
    s->points[1] = b;
    s->points[2] = c;
    s->count = 3;
    return vec3_add_scaled(vec3_add_scaled(a, ab, vb / sum), ac, vc / sum);
}

// The closest of the faces that have the origin outside; the origin itself if all have it inside.
static cairn_vec3 closest_on_tetrahedron(simplex *s) {
    static const uint8_t faces[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
    const simplex whole = *s;
    cairn_vec3 best = vec3_zero();
    float best_squared = -1.0f;
    for (uint32_t i = 0; i < 4; ++i) {
        const cairn_vec3 a = whole.points[faces[i][0]];
        const cairn_vec3 b = whole.points[faces[i][1]];
        const cairn_vec3 c = whole.points[faces[i][2]];
        const cairn_vec3 normal = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
        const float inside = vec3_dot(normal, vec3_sub(whole.points[faces[i][3]], a));
        const float origin = 0.0f - vec3_dot(normal, a);
        if (inside * origin > 0.0f) {
            continue;
        }
        simplex face = {.count = 0};
        const cairn_vec3 point = closest_on_triangle(&face, a, b, c);
        const float squared = vec3_length_squared(point);
        if (best_squared < 0.0f || squared < best_squared) {
            best = point;
            best_squared = squared;
            *s = face;
        }
    }
    return best;
}

static cairn_vec3 closest_on_simplex(simplex *s) {
    const cairn_vec3 *p = s->points;
    switch (s->count) {
    case 1:
        return p[0];
    case 2:
        return closest_on_segment(s, p[0], p[1]);
    case 3:
        return closest_on_triangle(s, p[0], p[1], p[2]);
    default:
        return closest_on_tetrahedron(s);
    }
}

static bool has_point(const simplex *s, cairn_vec3 point) {
    for (uint32_t i = 0; i < s->count; ++i) {
        if (vec3_is_zero(vec3_sub(s->points[i], point))) {
            return true;
        }
    }
    return false;
}

// ---- The part of a large core that can be closest to a small one

// A core and the corners of its part, if it is a triangle: three, and one more for each clip.
typedef struct near_part {
    cairn_core core;
    cairn_vec3 corners[7];
} near_part;

static float coordinate(cairn_vec3 v, uint32_t axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

// Keeps what of a polygon is at most `limit` along an axis, times the sign. Sutherland and Hodgman
// 1974.
static uint32_t clip_polygon(
    cairn_vec3 polygon[7], uint32_t count, uint32_t axis, float sign, float limit) {
    cairn_vec3 out[7];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_vec3 here = polygon[i];
        const cairn_vec3 next = polygon[i + 1 == count ? 0 : i + 1];
        const float over = sign * coordinate(here, axis) - limit;
        const float next_over = sign * coordinate(next, axis) - limit;
        if (over <= 0.0f && kept < 7) {
            out[kept++] = here;
        }
        if ((over <= 0.0f) != (next_over <= 0.0f) && kept < 7) {
            out[kept++] = vec3_add_scaled(here, vec3_sub(next, here), over / (over - next_over));
        }
    }
    for (uint32_t i = 0; i < kept; ++i) {
        polygon[i] = out[i];
    }
    return kept;
}

// The closest point of a convex body to any point of a ball is at most the radius away from that to
// the centre. The triangle is clipped to a square around there, seen along its normal's largest
// coordinate.
static void clip_triangle(near_part *part, cairn_vec3 centre, float radius) {
    const cairn_core *core = &part->core;
    simplex face = {.count = 0};
    for (uint32_t i = 0; i < 3; ++i) {
        part->corners[i] = vec3_sub(core->corners[i], centre);
    }
    const cairn_vec3 *c = part->corners;
    const cairn_vec3 normal = vec3_abs(vec3_cross(vec3_sub(c[1], c[0]), vec3_sub(c[2], c[0])));
    const cairn_vec3 nearest = closest_on_triangle(&face, c[0], c[1], c[2]);
    const uint32_t along = normal.x >= normal.y && normal.x >= normal.z ? 0
                           : normal.y >= normal.z                       ? 1
                                                                        : 2;
    uint32_t count = 3;
    for (uint32_t i = 1; i < 3; ++i) {
        const uint32_t axis = (along + i) % 3;
        const float middle = coordinate(nearest, axis);
        count = clip_polygon(part->corners, count, axis, 1.0f, radius + middle);
        count = clip_polygon(part->corners, count, axis, -1.0f, radius - middle);
    }
    if (count == 0) {
        return; // rounding; the whole triangle is right, if less exact
    }
    for (uint32_t i = 0; i < count; ++i) {
        part->corners[i] = vec3_add(part->corners[i], centre);
    }
    part->core.corners = part->corners;
    part->core.corner_count = count;
}

// The part of a box or triangle that can be closest to a ball. The closest point of a box is found
// coordinate by coordinate, so it is within the bounds of the ball, clamped to the box. Without the
// rest the distance from a floor of a kilometre is as exact as that from a small one: of a triangle
// of twenty metres a ball of a millimetre might seem to be some millimetres away while it passes.
static void part_near(const cairn_core *core, cairn_vec3 centre, float radius, near_part *part) {
    part->core = *core;
    if (core->geometry->kind == CAIRN_SHAPE_BOX) {
        const cairn_vec3 all = vec3(radius, radius, radius);
        const cairn_vec3 most = core->half_extents;
        const cairn_vec3 least = vec3_negate(most);
        const cairn_vec3 lower = vec3_clamp(vec3_sub(centre, all), least, most);
        const cairn_vec3 upper = vec3_clamp(vec3_add(centre, all), least, most);
        part->core.centre = vec3_scale(vec3_add(lower, upper), 0.5f);
        part->core.half_extents = vec3_scale(vec3_sub(upper, lower), 0.5f);
    } else if (core->geometry->kind == CAIRN_GEOMETRY_TRIANGLE &&
               cairn_core_reach(core, centre) > LARGE_TRIANGLE * radius) {
        clip_triangle(part, centre, radius);
    }
}

cairn_core_distance cairn_cores_distance(
    const cairn_core *whole_a, const cairn_core *whole_b, const cairn_pose *b_in_a, float enough) {
    const cairn_vec3 zero = vec3_zero();
    const cairn_vec3 a_in_b = quat_rotate_inverse(b_in_a->rotation, vec3_negate(b_in_a->position));
    near_part part_a;
    near_part part_b;
    part_near(whole_a, b_in_a->position, cairn_core_reach(whole_b, zero), &part_a);
    part_near(whole_b, a_in_b, cairn_core_reach(whole_a, zero), &part_b);
    const cairn_core *a = &part_a.core;
    const cairn_core *b = &part_b.core;
    const cairn_mat3 rotation = mat3_of_quat(b_in_a->rotation);
    cairn_core_distance result = {.distance = 0.0f, .normal = vec3_zero()};
    cairn_vec3 v = vec3_sub(a->centre, b_in_a->position);
    simplex s = {.count = 0};
    float squared = 3e38f;
    for (uint32_t i = 0; i < ITERATIONS_MAX; ++i) {
        const cairn_vec3 on_a = cairn_core_support(a, vec3_negate(v));
        const cairn_vec3 on_b = vec3_add(
            mat3_apply(rotation, cairn_core_support(b, mat3_apply_transposed(rotation, v))),
            b_in_a->position);
        const cairn_vec3 w = vec3_sub(on_a, on_b);
        if (i > 0) {
            // No point of the difference is closer than its support plane.
            const float length = float_sqrt(squared);
            const float bound = vec3_dot(v, w) / length;
            if (bound > result.distance) {
                result.distance = bound;
                result.normal = vec3_scale(v, -1.0f / length);
            }
            // On which side of `enough` the distance is must not depend on how near the bound is.
            const float inexact = bound > enough ? ENOUGH_FRACTION * enough : 0.0f;
            if (bound >= length - float_max(RELATIVE_ERROR * length, inexact) || has_point(&s, w)) {
                break;
            }
        }
        CAIRN_ASSERT(s.count < 4);
        s.points[s.count++] = w;
        const float size_squared = vec3_length_squared(w);
        const cairn_vec3 next = closest_on_simplex(&s);
        const float next_squared = vec3_length_squared(next);
        if (s.count == 4 || next_squared <= OVERLAP_FRACTION * size_squared) {
            // A flat tetrahedron, as round shapes make it, may seem to hold the origin; but a plane
            // between the cores was found earlier.
            if (result.distance * result.distance > APART_SQUARED * size_squared) {
                break;
            }
            return (cairn_core_distance){.distance = 0.0f, .normal = vec3_zero()};
        }
        if (next_squared >= squared) {
            break; // rounding: no closer than the last one
        }
        v = next;
        squared = next_squared;
    }
    if (result.distance <= enough) {
        // The bound does not say whether they are that close; the points that were found do not
        // show it.
        const float length = float_sqrt(squared);
        return (cairn_core_distance){.distance = length, .normal = vec3_scale(v, -1.0f / length)};
    }
    return result;
}

float cairn_half_space_height(const cairn_core *b, const cairn_pose *b_in_a) {
    const cairn_mat3 rotation = mat3_of_quat(b_in_a->rotation);
    const cairn_vec3 lowest = cairn_core_support(b, vec3_negate(rotation.y));
    return vec3_dot(rotation.y, lowest) + b_in_a->position.y;
}

// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "sim/shape/geometry.h"

#include "sim/math/vec.h"
#include "sim/shape/frustum.h"
#include "sim/shape/hull.h"
#include "sim/shape/mesh.h"

// A ray in the frame of the shape.
typedef struct ray {
    cairn_vec3 origin;
    cairn_vec3 direction; // unit; zero when the ray has no length
    float length;
} ray;

typedef struct hit {
    bool met;
    float distance; // along the ray, m
    cairn_vec3 normal;
} hit;

static const hit missed = {.met = false};

static hit hit_inside(const ray *r) {
    const bool no_direction = r->length == 0.0f;
    const cairn_vec3 reversed = vec3_negate(r->direction);
    return (hit){.met = true,
        .distance = 0.0f,
        .normal = vec3_select(no_direction, vec3(0.0f, 1.0f, 0.0f), reversed)};
}

// The distance at which a ray that starts outside a ball about the origin enters it: to the point
// closest to the origin, then back by half the chord, which stays exact far away.
static bool ray_enters_ball(
    cairn_vec3 origin, cairn_vec3 direction, float radius, float *distance) {
    CAIRN_ASSERT(radius > 0.0f);
    const float closest = 0.0f - vec3_dot(origin, direction);
    const cairn_vec3 offset = vec3_add_scaled(origin, direction, closest);
    const float chord_squared = radius * radius - vec3_length_squared(offset);
    if (chord_squared < 0.0f || closest < 0.0f) {
        return false;
    }
    *distance = float_max(closest - float_sqrt(chord_squared), 0.0f);
    return true;
}

static hit cast_at_sphere(const ray *r, cairn_vec3 centre, float radius) {
    const cairn_vec3 origin = vec3_sub(r->origin, centre);
    if (vec3_length_squared(origin) <= radius * radius) {
        return hit_inside(r);
    }
    float distance = 0.0f;
    if (!ray_enters_ball(origin, r->direction, radius, &distance) || distance > r->length) {
        return missed;
    }
    const cairn_vec3 point = vec3_add_scaled(origin, r->direction, distance);
    return (hit){
        .met = true, .distance = distance, .normal = vec3_normalize(point, vec3(0.0f, 1.0f, 0.0f))};
}

// The side of a capsule between its two end planes: projected along the axis, the ray meets a disc.
// A ray that starts above the disc is not between the planes there and meets an end first.
static hit cast_at_capsule_side(const ray *r, float half_height, float radius) {
    const cairn_vec3 flat = vec3(r->direction.x, 0.0f, r->direction.z);
    const float slope = vec3_length(flat);
    if (slope < 1e-6f) {
        return missed;
    }
    const cairn_vec3 origin = vec3(r->origin.x, 0.0f, r->origin.z);
    float disc_distance = 0.0f;
    if (!ray_enters_ball(origin, vec3_scale(flat, 1.0f / slope), radius, &disc_distance)) {
        return missed;
    }
    const float distance = disc_distance / slope;
    const cairn_vec3 point = vec3_add_scaled(r->origin, r->direction, distance);
    if (distance > r->length || float_abs(point.y) > half_height) {
        return missed;
    }
    const cairn_vec3 outward = vec3(point.x, 0.0f, point.z);
    return (hit){.met = true,
        .distance = distance,
        .normal = vec3_normalize(outward, vec3(1.0f, 0.0f, 0.0f))};
}

static hit closer_hit(hit a, hit b) {
    const bool take_b = b.met && (!a.met || b.distance < a.distance);
    return take_b ? b : a;
}

// A ray that starts outside a capsule enters it where it first enters one of its three parts.
static hit cast_at_capsule(const ray *r, float half_height, float radius) {
    CAIRN_ASSERT(radius > 0.0f && half_height >= 0.0f);
    const float y = float_clamp(r->origin.y, 0.0f - half_height, half_height);
    const cairn_vec3 offset = vec3(r->origin.x, r->origin.y - y, r->origin.z);
    if (vec3_length_squared(offset) <= radius * radius) {
        return hit_inside(r);
    }
    const hit lower = cast_at_sphere(r, vec3(0.0f, 0.0f - half_height, 0.0f), radius);
    const hit upper = cast_at_sphere(r, vec3(0.0f, half_height, 0.0f), radius);
    const hit side = cast_at_capsule_side(r, half_height, radius);
    return closer_hit(closer_hit(lower, upper), side);
}

// Slabs (Kay, Kajiya 1986): a point is inside the box if it is between three pairs of planes.
static hit cast_at_box(const ray *r, cairn_vec3 half_extents) {
    const cairn_vec3 size = vec3_abs(r->origin);
    if (size.x <= half_extents.x && size.y <= half_extents.y && size.z <= half_extents.z) {
        return hit_inside(r);
    }
    hit entry = {.met = true, .distance = -1.0f, .normal = vec3_zero()};
    float exit = r->length;
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const float from = vec3_component(r->origin, axis);
        const float step = vec3_component(r->direction, axis);
        const float side = vec3_component(half_extents, axis);
        if (step == 0.0f) {
            if (float_abs(from) > side) {
                return missed;
            }
            continue;
        }
        const float sign = step > 0.0f ? -1.0f : 1.0f;
        const float entry_distance = (sign * side - from) / step;
        exit = float_min(exit, (0.0f - sign * side - from) / step);
        if (entry_distance > entry.distance) {
            entry.distance = entry_distance;
            entry.normal = vec3_along_axis(axis, sign);
        }
    }
    return entry.distance >= 0.0f && entry.distance <= exit ? entry : missed;
}

static hit cast_at_half_space(const ray *r) {
    if (r->origin.y <= 0.0f) {
        return hit_inside(r);
    }
    // Compares before dividing, so that a ray almost parallel to the plane does not overflow.
    const float descent = 0.0f - r->direction.y;
    if (!(descent > 0.0f) || r->origin.y > descent * r->length) {
        return missed;
    }
    return (hit){.met = true, .distance = r->origin.y / descent, .normal = vec3(0.0f, 1.0f, 0.0f)};
}

// As for a box, with the planes of all faces (Cyrus, Beck 1978).
static hit cast_at_hull(const ray *r, const cairn_hull *hull) {
    CAIRN_ASSERT(hull != NULL && hull->face_count >= 4);
    hit entry = {.met = true, .distance = -1.0f, .normal = vec3_zero()};
    float exit = r->length;
    bool inside = true;
    for (uint32_t i = 0; i < hull->face_count; ++i) {
        const cairn_plane *plane = &hull->planes[i];
        const float height = vec3_dot(plane->normal, r->origin) - plane->offset;
        const float slope = vec3_dot(plane->normal, r->direction);
        inside = inside && height <= 0.0f;
        if (slope == 0.0f) {
            if (height > 0.0f) {
                return missed;
            }
            continue;
        }
        const float at = (0.0f - height) / slope;
        if (slope > 0.0f) {
            exit = float_min(exit, at);
        } else if (at > entry.distance) {
            entry.distance = at;
            entry.normal = plane->normal;
        }
    }
    if (inside) {
        return hit_inside(r);
    }
    return entry.distance >= 0.0f && entry.distance <= exit ? entry : missed;
}

static hit cast_at_frustum(const ray *r, const cairn_frustum *frustum) {
    hit entry = {.met = true};
    if (cairn_frustum_contains(frustum, r->origin)) {
        return hit_inside(r);
    }
    return cairn_frustum_ray(
               frustum, r->origin, r->direction, r->length, &entry.distance, &entry.normal)
               ? entry
               : missed;
}

typedef struct mesh_ray {
    const ray *ray;
    hit found;
    uint32_t triangle; // that was hit
} mesh_ray;

// Hits the front only. Each edge is judged by the same products in both of its triangles, so that
// no ray passes between them.
static float cast_at_triangle(void *context, const cairn_triangle *triangle) {
    mesh_ray *m = context;
    const ray *r = m->ray;
    const cairn_vec3 a = vec3_sub(triangle->corners[0], r->origin);
    const cairn_vec3 b = vec3_sub(triangle->corners[1], r->origin);
    const cairn_vec3 c = vec3_sub(triangle->corners[2], r->origin);
    const float bound = m->found.met ? m->found.distance / r->length : 1.0f;
    const float descent = 0.0f - vec3_dot(triangle->normal, r->direction);
    if (!(descent > 0.0f) || vec3_dot(vec3_cross(b, a), r->direction) < 0.0f ||
        vec3_dot(vec3_cross(c, b), r->direction) < 0.0f ||
        vec3_dot(vec3_cross(a, c), r->direction) < 0.0f) {
        return bound;
    }
    const float height = 0.0f - vec3_dot(triangle->normal, a);
    if (height < 0.0f || height > descent * r->length) {
        return bound;
    }
    const float distance = height / descent;
    const bool nearer = !m->found.met || distance < m->found.distance ||
                        (distance == m->found.distance && triangle->index < m->triangle);
    if (nearer) {
        m->found = (hit){.met = true, .distance = distance, .normal = triangle->normal};
        m->triangle = triangle->index;
    }
    return m->found.distance / r->length;
}

static hit cast_at_mesh(const ray *r, const cairn_mesh *mesh) {
    mesh_ray m = {.ray = r, .found = missed};
    if (r->length > 0.0f) {
        cairn_mesh_cast(mesh, r->origin, vec3_zero(), vec3_scale(r->direction, r->length), 1.0f,
            cast_at_triangle, &m);
    }
    return m.found;
}

static hit cast_at_shape(const cairn_shape_view *shape, const ray *r) {
    CAIRN_ASSERT(r->length >= 0.0f);
    const cairn_geometry *geometry = shape->geometry;
    switch (geometry->kind) {
    case CAIRN_SHAPE_SPHERE:
        return cast_at_sphere(r, vec3_zero(), geometry->radius);
    case CAIRN_SHAPE_CAPSULE:
        return cast_at_capsule(r, geometry->half_height, geometry->radius);
    case CAIRN_SHAPE_BOX:
        return cast_at_box(r, geometry->half_extents);
    case CAIRN_SHAPE_HALF_SPACE:
        return cast_at_half_space(r);
    case CAIRN_SHAPE_HULL:
        return cast_at_hull(r, shape->hull);
    case CAIRN_SHAPE_CYLINDER:
    case CAIRN_SHAPE_CONE: {
        const cairn_frustum frustum = cairn_frustum_of(geometry);
        return cast_at_frustum(r, &frustum);
    }
    case CAIRN_SHAPE_MESH:
    case CAIRN_SHAPE_HEIGHT_FIELD:
        return cast_at_mesh(r, shape->mesh);
    default:
        return missed;
    }
}

bool cairn_shape_view_ray_cast(const cairn_shape_view *shape, const cairn_pose *pose,
    cairn_vec3 origin, cairn_vec3 translation, float *fraction, cairn_vec3 *normal) {
    const cairn_vec3 direction = vec3_normalize(translation, vec3_zero());
    const ray local = {.origin = pose_apply_inverse(*pose, origin),
        .direction = quat_rotate_inverse(pose->rotation, direction),
        .length = vec3_dot(translation, direction)};
    const hit found = cast_at_shape(shape, &local);
    if (!found.met) {
        return false;
    }
    const bool inside = found.distance <= 0.0f;
    *fraction = inside ? 0.0f : float_min(found.distance / local.length, 1.0f);
    CAIRN_ASSERT(*fraction >= 0.0f && *fraction <= 1.0f);
    const cairn_vec3 world = quat_rotate(pose->rotation, found.normal);
    *normal = vec3_clean(vec3_normalize(world, vec3(0.0f, 1.0f, 0.0f)));
    return true;
}

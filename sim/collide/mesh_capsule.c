// SPDX-License-Identifier: MIT

// A sphere or capsule against one triangle.

#include "base/assert.h"
#include "sim/collide/mesh_shapes.h"

// The sine of a tilt by which parts of the mesh beside an edge or corner may be farther out.
#define FOREMOST 5e-4f

// Places this near to an end of an edge, as a fraction of its length, are its corner.
#define CORNER_FRACTION 1e-4f
// The radius of an edge as a capsule: nothing, once it is added to another.
#define NO_RADIUS 1e-30f

// Features: an end of the segment above a face; a place where an edge of a triangle cuts it off; an
// edge or corner of a triangle.
#define FEATURE_END 1u
#define FEATURE_CUT CAIRN_MESH_FEATURE_CUT
#define FEATURE_EDGE (1u << 30)

static void add(cairn_segment_contacts *contacts, const cairn_segment_contact *contact) {
    if (contacts->count < CAIRN_SEGMENT_CONTACTS_MAX) {
        contacts->list[contacts->count++] = *contact;
    }
}

// The part of the segment that is above the face: parameters in [-1, 1].
typedef struct part {
    float lower;
    float upper;
    uint32_t lower_by; // 0: the end of the segment; else 1 + edge
    uint32_t upper_by;
} part;

static part part_above(const cairn_local_capsule *capsule, const cairn_local_triangle *triangle) {
    part s = {.lower = -1.0f, .upper = 1.0f};
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_vec3 side = local_triangle_side(triangle, i);
        const cairn_vec3 outward = vec3_cross(side, triangle->normal);
        // What is exactly above an edge is above both of its triangles, in spite of rounding.
        const float slack = 1e-5f * vec3_length_squared(side);
        const float out =
            vec3_dot(outward, vec3_sub(capsule->centre, triangle->corners[i])) - slack;
        const float step = vec3_dot(outward, capsule->half);
        if (step == 0.0f) {
            s.upper = out > 0.0f ? -2.0f : s.upper;
            continue;
        }
        const float at = (0.0f - out) / step;
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

static void add_above_face(const cairn_mesh_pair *pair, const cairn_local_capsule *capsule,
    const cairn_local_triangle *triangle, float s, uint32_t feature,
    cairn_segment_contacts *contacts) {
    const cairn_vec3 at = cairn_local_capsule_at(capsule, s);
    const float height = vec3_dot(triangle->normal, vec3_sub(at, triangle->corners[0]));
    const float separation = height - capsule->radius;
    if (separation <= pair->margin) {
        const cairn_segment_contact contact = {
            .position = vec3_sub_scaled(at, triangle->normal, 0.5f * (height + capsule->radius)),
            .normal = triangle->normal,
            .separation = separation,
            .feature = feature,
            .triangle = triangle->source->index,
            .corner = CAIRN_SEGMENT_FACE};
        add(contacts, &contact);
    }
}

static void collide_face(const cairn_mesh_pair *pair, const cairn_local_capsule *capsule,
    const cairn_local_triangle *triangle, cairn_segment_contacts *contacts) {
    const part s = part_above(capsule, triangle);
    if (s.lower > s.upper) {
        return;
    }
    const uint32_t cut = FEATURE_CUT + 4 * triangle->source->index;
    add_above_face(
        pair, capsule, triangle, s.lower, s.lower_by == 0 ? 0 : cut + s.lower_by, contacts);
    if (vec3_length_squared(capsule->half) > 0.0f) {
        add_above_face(pair, capsule, triangle, s.upper,
            s.upper_by == 0 ? FEATURE_END : cut + s.upper_by, contacts);
    }
}

// The corner that the point of edge i is at: i, or i + 1, or 3 for neither.
static uint32_t corner_at(const cairn_local_triangle *triangle, uint32_t i, cairn_vec3 point) {
    const cairn_vec3 side = local_triangle_side(triangle, i);
    const float length_squared = vec3_length_squared(side);
    const float along = vec3_dot(side, vec3_sub(point, triangle->corners[i]));
    if (along <= CORNER_FRACTION * length_squared) {
        return i;
    }
    return along >= (1.0f - CORNER_FRACTION) * length_squared ? (i == 2 ? 0 : i + 1) : 3;
}

static void collide_edge(const cairn_mesh_pair *pair, const cairn_local_capsule *capsule,
    const cairn_local_triangle *triangle, uint32_t i, cairn_segment_contacts *contacts) {
    const cairn_vec3 half = vec3_scale(local_triangle_side(triangle, i), 0.5f);
    const cairn_local_capsule edge = {
        .centre = vec3_add(triangle->corners[i], half), .half = half, .radius = NO_RADIUS};
    cairn_manifold found = {.point_count = 0};
    cairn_collide_capsules(&edge, capsule, pair->margin, &found);
    for (uint32_t k = 0; k < found.point_count; ++k) {
        const cairn_manifold_point *point = &found.points[k];
        const cairn_vec3 on_edge =
            vec3_sub_scaled(point->position, found.normal, 0.5f * point->separation);
        const uint32_t corner = corner_at(triangle, i, on_edge);
        const bool may =
            corner == 3
                ? cairn_mesh_edge_may_touch(pair, triangle, i, found.normal, FOREMOST)
                : cairn_mesh_corner_may_touch(pair, triangle, corner, found.normal, FOREMOST);
        if (may) {
            const cairn_segment_contact contact = {.position = point->position,
                .normal = found.normal,
                .separation = point->separation,
                .feature = FEATURE_EDGE + k,
                .triangle = triangle->source->index,
                .corner = corner};
            add(contacts, &contact);
        }
    }
}

void cairn_collide_capsule_triangle(const cairn_mesh_pair *pair, const cairn_local_capsule *capsule,
    const cairn_local_triangle *triangle, cairn_segment_contacts *contacts) {
    const cairn_vec3 from = vec3_sub(capsule->centre, triangle->corners[0]);
    const float height = vec3_dot(triangle->normal, from);
    const float rise = float_abs(vec3_dot(triangle->normal, capsule->half));
    if (height < 0.0f || height - rise - capsule->radius > pair->margin) {
        return;
    }
    collide_face(pair, capsule, triangle, contacts);
    for (uint32_t i = 0; i < 3; ++i) {
        collide_edge(pair, capsule, triangle, i, contacts);
    }
}

static bool has_corner(const cairn_mesh *mesh, uint32_t triangle, cairn_vec3 place) {
    cairn_triangle found;
    if (!cairn_mesh_triangle(mesh, triangle, &found)) {
        return false;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_vec3 c = found.corners[i];
        if (c.x == place.x && c.y == place.y && c.z == place.z) {
            return true;
        }
    }
    return false;
}

// A corner counts only if the shape touches no face or edge that ends in it: else it is nearer to
// that one.
static bool corner_counts(
    const cairn_mesh *mesh, const cairn_segment_contacts *contacts, uint32_t index) {
    const cairn_segment_contact *contact = &contacts->list[index];
    cairn_triangle own;
    if (contact->corner >= 3 || !cairn_mesh_triangle(mesh, contact->triangle, &own)) {
        return true;
    }
    for (uint32_t i = 0; i < contacts->count; ++i) {
        if (contacts->list[i].corner >= 3 &&
            has_corner(mesh, contacts->list[i].triangle, own.corners[contact->corner])) {
            return false;
        }
    }
    return true;
}

void cairn_segment_contacts_finish(const cairn_mesh_pair *pair,
    const cairn_segment_contacts *contacts, cairn_mesh_points *points) {
    CAIRN_ASSERT(contacts->count <= CAIRN_SEGMENT_CONTACTS_MAX);
    for (uint32_t i = 0; i < contacts->count; ++i) {
        const cairn_segment_contact *contact = &contacts->list[i];
        if (corner_counts(pair->mesh, contacts, i)) {
            cairn_mesh_points_add(points, mesh_point_to_mesh(pair, contact->position),
                mat3_apply(pair->rotation, contact->normal), contact->separation, contact->feature);
        }
    }
}

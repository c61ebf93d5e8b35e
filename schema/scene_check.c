// SPDX-License-Identifier: MIT
#include "schema/scene_build.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/world_settings.h"
#include <cairn/math.h>

#define INVALID CAIRN_INVALID_ARGUMENT

// A message at the member `field` of the object.
#define FAIL(build, object, status, field, ...)                                                    \
    cairn_scene_fail(&(build)->reader, cairn_scene_place(&(build)->reader, object, field), status, \
        field, __VA_ARGS__)

static void check_float(cairn_scene_build *b, const cairn_json_node *object, const char *field,
    float value, float least, float most) {
    if (value < least || value > most) {
        FAIL(b, object, INVALID, field, "must be in [%g, %g], is %g", (double)least, (double)most,
            (double)value);
    }
}

static bool check_unit_length(
    cairn_scene_build *b, const cairn_json_node *object, const char *field, float square) {
    if (square >= 0.81f && square <= 1.21f) {
        return true;
    }
    FAIL(b, object, INVALID, field, "must be of length 1, is of length %g",
        (double)cairn_float_sqrt(square));
    return false;
}

// ---- Rotations and copies

cairn_quat cairn_scene_check_rotation(cairn_scene_build *b, const cairn_json_node *object,
    const char *prefix, const cairn_scene_rotation *rotation) {
    static const char *const suffixes[] = {
        "rotation", "rotation_deg", "rotation_axis", "rotation_angle_deg"};
    char names[4][40];
    bool given[4];
    for (int i = 0; i < 4; ++i) {
        snprintf(names[i], sizeof names[i], "%.16s%s", prefix, suffixes[i]);
        given[i] = cairn_scene_member(&b->reader, object, names[i]) != NULL;
    }
    const float radians = 0.0174532925f;
    if (given[0] + given[1] + (given[2] || given[3]) > 1) {
        FAIL(b, object, INVALID, names[given[1] ? 1 : 2],
            "one rotation is enough: as a quaternion, as Euler angles, or as axis and angle");
    } else if (given[2] != given[3]) {
        FAIL(b, object, INVALID, names[given[2] ? 2 : 3], "needs %s as well",
            names[given[2] ? 3 : 2]);
    } else if (given[1]) {
        const cairn_vec3 angles = cairn_vec3_scale(rotation->euler_deg, radians);
        const cairn_quat x = cairn_quat_of_axis_angle(cairn_vec3_of(1, 0, 0), angles.x);
        const cairn_quat y = cairn_quat_of_axis_angle(cairn_vec3_of(0, 1, 0), angles.y);
        const cairn_quat z = cairn_quat_of_axis_angle(cairn_vec3_of(0, 0, 1), angles.z);
        return cairn_quat_normalize(cairn_quat_multiply(z, cairn_quat_multiply(y, x)));
    } else if (given[2]) {
        const float length = cairn_vec3_length(rotation->axis);
        if (!(length > 1e-6f)) {
            FAIL(b, object, INVALID, names[2], "must not be zero");
            return cairn_quat_identity();
        }
        return cairn_quat_normalize(cairn_quat_of_axis_angle(
            cairn_vec3_scale(rotation->axis, 1.0f / length), rotation->angle_deg * radians));
    } else {
        (void)check_unit_length(b, object, names[0], cairn_quat_length_squared(rotation->quat));
    }
    return rotation->quat;
}

uint64_t cairn_scene_check_repetition(cairn_scene_build *b, const cairn_json_node *object,
    const cairn_scene_repetition *repeat, const uint32_t grid_count[3]) {
    const uint64_t grid = (uint64_t)grid_count[0] * grid_count[1] * grid_count[2];
    const int ways = (grid > 1) + (repeat->line_count > 1) + (repeat->circle_count > 1);
    if (ways > 1) {
        FAIL(b, object, INVALID, repeat->circle_count > 1 ? "circle_count" : "line_count",
            "an object is repeated in one way: on a grid, along a line or round a circle; put it "
            "into a prefab to combine them");
        return 0;
    }
    if (repeat->circle_count > 1 && !(cairn_vec3_length(repeat->circle_axis) > 1e-6f)) {
        FAIL(b, object, INVALID, "circle_axis", "must not be zero");
        return 0;
    }
    return grid > 1 ? grid : (uint64_t)repeat->line_count * repeat->circle_count;
}

// ---- Shapes and bodies

static void check_mesh_shape(cairn_scene_build *b, const cairn_json_node *object,
    const cairn_scene_shape *shape, uint32_t body_kind) {
    const bool mesh = shape->def.kind == CAIRN_SHAPE_MESH;
    const uint32_t count = mesh ? b->scene->mesh_count : b->scene->height_field_count;
    if (shape->mesh >= count) {
        FAIL(b, object, INVALID, "mesh", "must be an index into the %s of the scene, which has %u",
            mesh ? "meshes" : "height_fields", (unsigned)count);
    }
    if (body_kind == CAIRN_BODY_DYNAMIC || (shape->def.flags & CAIRN_SHAPE_SENSOR) != 0) {
        FAIL(b, object, INVALID, "kind",
            "may be mesh or height_field only on a static or kinematic body, and not for a sensor");
    }
}

void cairn_scene_check_shape(cairn_scene_build *b, const cairn_json_node *object,
    const cairn_scene_shape *shape, uint32_t body_kind) {
    const cairn_shape_def *def = &shape->def;
    if (def->kind == CAIRN_SHAPE_MESH || def->kind == CAIRN_SHAPE_HEIGHT_FIELD) {
        check_mesh_shape(b, object, shape, body_kind);
    }
    if (def->kind == CAIRN_SHAPE_HULL && shape->hull >= b->scene->hull_count) {
        FAIL(b, object, INVALID, "hull",
            "must be an index into the hulls of the scene, which has %u",
            (unsigned)b->scene->hull_count);
    }
    if (def->kind == CAIRN_SHAPE_HALF_SPACE && body_kind != CAIRN_BODY_STATIC) {
        FAIL(b, object, INVALID, "kind", "may be half_space only on a static body");
    }
    if (def->static_friction != 0.0f && def->static_friction < def->friction) {
        FAIL(b, object, INVALID, "static_friction", "must be at least friction, %g, or 0; is %g",
            (double)def->friction, (double)def->static_friction);
    }
}

void cairn_scene_check_body(
    cairn_scene_build *b, const cairn_json_node *object, const cairn_authored_body *body) {
    if (body->body.mass != 0.0f && body->body.mass < CAIRN_MASS_MIN) {
        FAIL(b, object, INVALID, "mass", "must be 0 or at least %g", (double)CAIRN_MASS_MIN);
    }
    const cairn_vec3 inertia = body->body.inertia;
    const bool own = inertia.x != 0.0f || inertia.y != 0.0f || inertia.z != 0.0f;
    if (own && body->body.mass == 0.0f) {
        FAIL(b, object, INVALID, "inertia", "needs mass as well");
    }
    if (!own && (cairn_scene_member(&b->reader, object, "centre") != NULL ||
                    cairn_scene_member(&b->reader, object, "inertia_products") != NULL)) {
        FAIL(b, object, INVALID, "inertia", "must be given with centre or inertia_products");
    }
    if (body->body.shape_count == 0 && !own && body->body.def.kind == CAIRN_BODY_DYNAMIC) {
        cairn_scene_warn(&b->reader, object->at, NULL,
            "is dynamic without shapes: it has no mass, and nothing collides with it");
    }
    // The last body of a grid is the furthest from the first.
    const cairn_scene_body *of = &body->body;
    const uint64_t copies = (uint64_t)of->grid_count[0] * of->grid_count[1] * of->grid_count[2];
    const cairn_pose last =
        cairn_scene_copy(&body->repeat, of->grid_count, of->grid_spacing, copies - 1);
    if (copies > 1 && !cairn_scene_position_fits(cairn_vec3_add(of->def.position, last.position))) {
        FAIL(b, object, INVALID, "grid_spacing", "the last copy is more than %g m from the origin",
            (double)CAIRN_DISTANCE_MAX);
    }
}

// ---- Hulls, meshes and height fields. What the numbers are is checked when the world is built.

static void check_count(cairn_scene_build *b, const cairn_json_node *object, const char *field,
    const char *what, uint64_t count, uint64_t least, uint64_t most, cairn_status status) {
    if (count < least || count > most) {
        FAIL(b, object, status, field, "must have %llu to %llu %s, has %llu",
            (unsigned long long)least, (unsigned long long)most, what, (unsigned long long)count);
    }
}

void cairn_scene_check_hull(
    cairn_scene_build *b, const cairn_json_node *object, const cairn_scene_hull *hull) {
    check_count(
        b, object, "points", "points", hull->point_count, 4, CAIRN_HULL_POINTS_MAX, INVALID);
}

void cairn_scene_check_mesh(
    cairn_scene_build *b, const cairn_json_node *object, const cairn_scene_mesh *mesh) {
    check_count(
        b, object, "vertices", "vertices", mesh->vertex_count, 3, CAIRN_MESH_VERTICES_MAX, INVALID);
    check_count(b, object, "indices", "indices", mesh->index_count, 3,
        3 * (uint64_t)CAIRN_MESH_TRIANGLES_MAX, INVALID);
    if (mesh->index_count % 3 != 0) {
        FAIL(b, object, INVALID, "indices", "must be three for each triangle, are %u",
            (unsigned)mesh->index_count);
    }
}

void cairn_scene_check_height_field(
    cairn_scene_build *b, const cairn_json_node *object, const cairn_scene_height_field *field) {
    if (field->columns != 0 && field->height_count % field->columns != 0) {
        FAIL(b, object, INVALID, "heights", "must be rows of %u heights, are %u",
            (unsigned)field->columns, (unsigned)field->height_count);
    }
}

// ---- Joints

static void check_frame(cairn_scene_build *b, const cairn_json_node *object, const char *axis_name,
    cairn_vec3 axis, const char *normal_name, cairn_vec3 normal) {
    const bool axis_good = check_unit_length(b, object, axis_name, cairn_vec3_length_squared(axis));
    const bool normal_good =
        check_unit_length(b, object, normal_name, cairn_vec3_length_squared(normal));
    if (axis_good && normal_good && cairn_float_abs(cairn_vec3_dot(axis, normal)) > 0.1f) {
        FAIL(b, object, INVALID, normal_name, "must be at right angles to %s", axis_name);
    }
}

// Angles of hinges and cones, metres of the others.
static void check_travel(
    cairn_scene_build *b, const cairn_json_node *object, const cairn_joint_def *joint) {
    const bool angles = joint->kind == CAIRN_JOINT_HINGE || joint->kind == CAIRN_JOINT_CONE;
    const float most = angles ? CAIRN_ANGLE_MAX : CAIRN_SHAPE_SIZE_MAX;
    check_float(b, object, "lower", joint->lower, -most, most);
    check_float(b, object, "upper", joint->upper, joint->lower, most);
    check_float(b, object, "target", joint->target, -most, most);
}

static void check_body_index(cairn_scene_build *b, const cairn_json_node *object, const char *field,
    uint32_t body, uint64_t body_count) {
    if (body >= body_count) {
        FAIL(b, object, INVALID, field, "must be the index of a body, is %u; there are %llu",
            (unsigned)body, (unsigned long long)body_count);
    }
}

void cairn_scene_check_joint(cairn_scene_build *b, const cairn_json_node *object,
    const cairn_scene_joint *joint, uint64_t body_count) {
    const cairn_joint_def *def = &joint->def;
    check_body_index(b, object, "body_a", joint->body_a, body_count);
    check_body_index(b, object, "body_b", joint->body_b, body_count);
    if (joint->body_a == joint->body_b) {
        FAIL(b, object, INVALID, "body_b", "must differ from body_a");
    }
    if (def->kind >= CAIRN_JOINT_HINGE && def->kind <= CAIRN_JOINT_GEAR) {
        check_frame(b, object, "axis_a", def->axis_a, "normal_a", def->normal_a);
        check_frame(b, object, "axis_b", def->axis_b, "normal_b", def->normal_b);
    }
    check_travel(b, object, def);
    if (def->kind == CAIRN_JOINT_MOTOR) {
        check_float(b, object, "hertz", def->hertz, CAIRN_SETTING_MIN, CAIRN_HERTZ_MAX);
    }
    if (def->kind == CAIRN_JOINT_WHEEL && def->steering != 0) {
        check_float(
            b, object, "steering_hertz", def->steering_hertz, CAIRN_SETTING_MIN, CAIRN_HERTZ_MAX);
    }
    if (def->kind == CAIRN_JOINT_GEAR || def->kind == CAIRN_JOINT_PULLEY) {
        const bool gear = def->kind == CAIRN_JOINT_GEAR;
        check_float(b, object, "ratio", gear ? cairn_float_abs(def->ratio) : def->ratio,
            CAIRN_SETTING_MIN, CAIRN_ROW_MAX);
    }
    check_float(b, object, "row_upper", def->row.upper, def->row.lower, CAIRN_FORCE_MAX);
}

// ---- The whole

static void check_total(cairn_scene_build *b, const cairn_json_node *root, const char *list,
    const char *capacity, uint64_t total, uint32_t most) {
    if (total > most) {
        FAIL(b, root, CAIRN_CAPACITY, list, "%llu with every copy; %s is %u",
            (unsigned long long)total, capacity, (unsigned)most);
    }
}

void cairn_scene_check_totals(cairn_scene_build *b, const cairn_json_node *root) {
    const cairn_world_def *world = &b->scene->world;
    const char *bodies = b->placement_count > 0 ? "instances" : "bodies";
    check_total(b, root, "hulls", "hull_capacity", b->scene->hull_count, world->hull_capacity);
    check_total(b, root, b->scene->mesh_count > 0 ? "meshes" : "height_fields", "mesh_capacity",
        (uint64_t)b->scene->mesh_count + b->scene->height_field_count, world->mesh_capacity);
    check_total(b, root, bodies, "body_capacity", b->body_total, world->body_capacity);
    if (b->shape_total > world->shape_capacity) {
        FAIL(b, root, CAIRN_CAPACITY, bodies, "%llu shapes with every copy; shape_capacity is %u",
            (unsigned long long)b->shape_total, (unsigned)world->shape_capacity);
    }
    check_total(b, root, "joints", "joint_capacity", b->scene->joint_count, world->joint_capacity);
    CAIRN_ASSERT(b->reader.path_length == 0);
}

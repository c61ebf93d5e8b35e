// SPDX-License-Identifier: MIT
#include "schema/scene_check.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/world_settings.h"
#include <cairn/math.h>

// The part of the scene that is being checked, and the first value that is wrong.
typedef struct checker {
    cairn_status status;
    char *error;
    char path[64]; // "bodies[3].shapes[0]." or ""
} checker;

static void fail(checker *c, cairn_status status, const char *field, const char *why) {
    CAIRN_ASSERT(status != CAIRN_OK);
    if (c->status == CAIRN_OK) {
        c->status = status;
        snprintf(c->error, CAIRN_SCENE_ERROR_SIZE, "%s%s: %s", c->path, field, why);
    }
}

static void check_float(checker *c, const char *field, float value, float lower, float upper) {
    char why[96];
    if (!cairn_float_finite(value)) {
        fail(c, CAIRN_NON_FINITE, field, "must be a finite number");
    } else if (value < lower || value > upper) {
        snprintf(why, sizeof why, "must be in [%g, %g], is %g", (double)lower, (double)upper,
            (double)value);
        fail(c, CAIRN_INVALID_ARGUMENT, field, why);
    }
}

static void check_count(checker *c, const char *field, uint64_t value, uint64_t lower,
    uint64_t upper, cairn_status status) {
    CAIRN_ASSERT(lower <= upper);
    char why[96];
    if (value < lower || value > upper) {
        snprintf(why, sizeof why, "must be in [%llu, %llu], is %llu", (unsigned long long)lower,
            (unsigned long long)upper, (unsigned long long)value);
        fail(c, status, field, why);
    }
}

static void check_range(
    checker *c, const char *field, uint32_t value, uint32_t lower, uint32_t upper) {
    check_count(c, field, value, lower, upper, CAIRN_INVALID_ARGUMENT);
}

static void check_vec3(checker *c, const char *field, cairn_vec3 value, float limit) {
    CAIRN_ASSERT(limit > 0.0f);
    const float components[3] = {value.x, value.y, value.z};
    for (int i = 0; i < 3; ++i) {
        char name[48];
        snprintf(name, sizeof name, "%s.%c", field, "xyz"[i]);
        check_float(c, name, components[i], -limit, limit);
    }
}

static void check_unit_length(checker *c, const char *field, float square) {
    if (!cairn_float_finite(square)) {
        fail(c, CAIRN_NON_FINITE, field, "must be finite numbers");
    } else if (square < 0.81f || square > 1.21f) {
        fail(c, CAIRN_INVALID_ARGUMENT, field, "must be of length 1");
    }
}

static void check_name(checker *c, const char *field, const char *name, bool may_be_empty) {
    CAIRN_ASSERT(name != NULL);
    if (name[0] == '\0' && !may_be_empty) {
        fail(c, CAIRN_INVALID_ARGUMENT, field, "must not be empty");
    }
    for (const char *at = name; *at != '\0'; ++at) {
        if (*at < ' ' || *at > '~') {
            fail(c, CAIRN_INVALID_ARGUMENT, field, "must be printable ASCII");
        }
    }
}

static void check_settings(checker *c, const cairn_scene *s) {
    CAIRN_ASSERT(c->path[0] == '\0');
    check_name(c, "name", s->name, false);
    check_name(c, "rules", s->rules, true);
#define WORD(name, initial, lower, upper) check_range(c, #name, s->world.name, lower, upper);
#define FLOAT(name, initial, lower, upper) check_float(c, #name, s->world.name, lower, upper);
#define VEC3(name, x, y, z, limit) check_vec3(c, #name, s->world.name, limit);
    CAIRN_WORLD_SETTINGS(WORD, FLOAT, VEC3)
#undef WORD
#undef FLOAT
#undef VEC3
}

static void check_sizes(checker *c, const cairn_shape_def *shape) {
    const bool has_height = shape->kind == CAIRN_SHAPE_CAPSULE ||
                            shape->kind == CAIRN_SHAPE_CYLINDER || shape->kind == CAIRN_SHAPE_CONE;
    if (shape->kind == CAIRN_SHAPE_SPHERE || has_height) {
        check_float(c, "radius", shape->radius, CAIRN_SHAPE_SIZE_MIN, CAIRN_SHAPE_SIZE_MAX);
    }
    if (has_height) {
        check_float(
            c, "half_height", shape->half_height, CAIRN_SHAPE_SIZE_MIN, CAIRN_SHAPE_SIZE_MAX);
    }
    if (shape->kind == CAIRN_SHAPE_BOX) {
        check_float(
            c, "half_extents.x", shape->half_extents.x, CAIRN_SHAPE_SIZE_MIN, CAIRN_SHAPE_SIZE_MAX);
        check_float(
            c, "half_extents.y", shape->half_extents.y, CAIRN_SHAPE_SIZE_MIN, CAIRN_SHAPE_SIZE_MAX);
        check_float(
            c, "half_extents.z", shape->half_extents.z, CAIRN_SHAPE_SIZE_MIN, CAIRN_SHAPE_SIZE_MAX);
    }
}

static void check_mesh_shape(
    checker *c, const cairn_scene *scene, const cairn_scene_shape *shape, uint32_t body_kind) {
    const cairn_shape_def *def = &shape->def;
    if (def->kind == CAIRN_SHAPE_MESH && shape->mesh >= scene->mesh_count) {
        fail(c, CAIRN_INVALID_ARGUMENT, "mesh", "must be an index into the meshes of the scene");
    }
    if (def->kind == CAIRN_SHAPE_HEIGHT_FIELD && shape->mesh >= scene->height_field_count) {
        fail(c, CAIRN_INVALID_ARGUMENT, "mesh",
            "must be an index into the height_fields of the scene");
    }
    if (body_kind == CAIRN_BODY_DYNAMIC || (def->flags & CAIRN_SHAPE_SENSOR) != 0) {
        fail(c, CAIRN_INVALID_ARGUMENT, "kind",
            "may be mesh or height_field only on a static or kinematic body, and not for a sensor");
    }
}

static void check_shape(
    checker *c, const cairn_scene *scene, const cairn_scene_shape *shape, uint32_t body_kind) {
    const cairn_shape_def *def = &shape->def;
    const uint32_t hull_count = scene->hull_count;
    check_range(c, "kind", def->kind, CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_HEIGHT_FIELD);
    if (def->kind == CAIRN_SHAPE_MESH || def->kind == CAIRN_SHAPE_HEIGHT_FIELD) {
        check_mesh_shape(c, scene, shape, body_kind);
    }
    check_sizes(c, def);
    if (def->kind == CAIRN_SHAPE_HULL && shape->hull >= hull_count) {
        fail(c, CAIRN_INVALID_ARGUMENT, "hull", "must be an index into the hulls of the scene");
    }
    if (def->kind == CAIRN_SHAPE_HALF_SPACE && body_kind != CAIRN_BODY_STATIC) {
        fail(c, CAIRN_INVALID_ARGUMENT, "kind", "may be half_space only on a static body");
    }
    check_vec3(c, "position", def->pose.position, CAIRN_DISTANCE_MAX);
    check_unit_length(c, "rotation", cairn_quat_length_squared(def->pose.rotation));
    check_float(c, "density", def->density, 1e-6f, CAIRN_DENSITY_MAX);
    check_float(c, "friction", def->friction, 0.0f, CAIRN_FRICTION_MAX);
    check_float(c, "restitution", def->restitution, 0.0f, 1.0f);
    if (def->static_friction != 0.0f) {
        check_float(c, "static_friction", def->static_friction, def->friction, CAIRN_FRICTION_MAX);
    }
    check_float(c, "rolling_resistance", def->rolling_resistance, 0.0f, CAIRN_RESISTANCE_MAX);
    check_float(c, "spin_resistance", def->spin_resistance, 0.0f, CAIRN_RESISTANCE_MAX);
    check_range(c, "friction_combine", def->friction_combine, 0, CAIRN_COMBINE_LAST);
    check_range(c, "restitution_combine", def->restitution_combine, 0, CAIRN_COMBINE_LAST);
    check_vec3(c, "surface_velocity", def->surface_velocity, CAIRN_SPEED_MAX);
}

static void check_grid(checker *c, const cairn_scene_body *body) {
    check_range(c, "grid_count.x", body->grid_count[0], 1, 1024);
    check_range(c, "grid_count.y", body->grid_count[1], 1, 1024);
    check_range(c, "grid_count.z", body->grid_count[2], 1, 1024);
    check_vec3(c, "grid_spacing", body->grid_spacing, CAIRN_DISTANCE_MAX);
    // The last body is the furthest from the first and must lie within the world too.
    const cairn_vec3 last = {
        .x = body->def.position.x + (float)(body->grid_count[0] - 1) * body->grid_spacing.x,
        .y = body->def.position.y + (float)(body->grid_count[1] - 1) * body->grid_spacing.y,
        .z = body->def.position.z + (float)(body->grid_count[2] - 1) * body->grid_spacing.z,
    };
    check_vec3(c, "grid_spacing, last body", last, CAIRN_DISTANCE_MAX);
}

static void check_body(checker *c, const cairn_body_def *body) {
    check_range(c, "kind", body->kind, CAIRN_BODY_STATIC, CAIRN_BODY_DYNAMIC);
    check_vec3(c, "position", body->position, CAIRN_DISTANCE_MAX);
    check_unit_length(c, "rotation", cairn_quat_length_squared(body->rotation));
    check_vec3(c, "linear_velocity", body->linear_velocity, CAIRN_SPEED_MAX);
    check_vec3(c, "angular_velocity", body->angular_velocity, CAIRN_SPEED_MAX);
    check_float(c, "linear_damping", body->linear_damping, 0.0f, CAIRN_DAMPING_MAX);
    check_float(c, "angular_damping", body->angular_damping, 0.0f, CAIRN_DAMPING_MAX);
    check_float(
        c, "gravity_scale", body->gravity_scale, -CAIRN_GRAVITY_SCALE_MAX, CAIRN_GRAVITY_SCALE_MAX);
    check_range(c, "locks", body->locks, 0, CAIRN_LOCKS_ALL);
}

// Whether the points span a volume is checked when the world is built.
static void check_hulls(checker *c, const cairn_scene *scene) {
    CAIRN_ASSERT(scene->hulls != NULL || scene->hull_count == 0);
    check_count(c, "hulls", scene->hull_count, 0, scene->world.hull_capacity, CAIRN_CAPACITY);
    for (uint32_t i = 0; i < scene->hull_count && c->status == CAIRN_OK; ++i) {
        const cairn_scene_hull *hull = &scene->hulls[i];
        snprintf(c->path, sizeof c->path, "hulls[%u].", (unsigned)i);
        check_count(
            c, "points", hull->point_count, 4, CAIRN_HULL_POINTS_MAX, CAIRN_INVALID_ARGUMENT);
        for (uint32_t k = 0; k < hull->point_count && c->status == CAIRN_OK; ++k) {
            char name[24];
            snprintf(name, sizeof name, "points[%u]", (unsigned)k);
            check_vec3(c, name, scene->points[hull->first_point + k], CAIRN_SHAPE_SIZE_MAX);
        }
    }
    c->path[0] = '\0';
}

// What the numbers are is checked when the world is built.
static void check_meshes(checker *c, const cairn_scene *scene) {
    check_count(c, "meshes and height_fields",
        (uint64_t)scene->mesh_count + scene->height_field_count, 0, scene->world.mesh_capacity,
        CAIRN_CAPACITY);
    for (uint32_t i = 0; i < scene->mesh_count && c->status == CAIRN_OK; ++i) {
        const cairn_scene_mesh *mesh = &scene->meshes[i];
        snprintf(c->path, sizeof c->path, "meshes[%u].", (unsigned)i);
        check_count(
            c, "vertices", mesh->vertex_count, 3, CAIRN_MESH_VERTICES_MAX, CAIRN_INVALID_ARGUMENT);
        check_count(c, "indices", mesh->index_count, 3, 3 * CAIRN_MESH_TRIANGLES_MAX,
            CAIRN_INVALID_ARGUMENT);
        if (mesh->index_count % 3 != 0) {
            fail(c, CAIRN_INVALID_ARGUMENT, "indices", "must be three for each triangle");
        }
    }
    for (uint32_t i = 0; i < scene->height_field_count && c->status == CAIRN_OK; ++i) {
        const cairn_scene_height_field *field = &scene->height_fields[i];
        snprintf(c->path, sizeof c->path, "height_fields[%u].", (unsigned)i);
        check_count(
            c, "columns", field->columns, 2, CAIRN_HEIGHT_FIELD_SIDE_MAX, CAIRN_INVALID_ARGUMENT);
        if (c->status == CAIRN_OK && field->height_count % field->columns != 0) {
            fail(c, CAIRN_INVALID_ARGUMENT, "heights", "must be rows of `columns` heights");
        }
    }
    c->path[0] = '\0';
}

// Returns how many bodies there are once grids are unrolled.
static uint64_t check_bodies(checker *c, const cairn_scene *scene) {
    CAIRN_ASSERT(scene->bodies != NULL || scene->body_count == 0);
    uint64_t bodies = 0;
    uint64_t shapes = 0;
    for (uint32_t i = 0; i < scene->body_count && c->status == CAIRN_OK; ++i) {
        const cairn_scene_body *body = &scene->bodies[i];
        snprintf(c->path, sizeof c->path, "bodies[%u].", (unsigned)i);
        check_body(c, &body->def);
        if (body->mass != 0.0f) {
            check_float(c, "mass", body->mass, CAIRN_MASS_MIN, CAIRN_MASS_MAX);
        }
        check_grid(c, body);
        for (uint32_t k = 0; k < body->shape_count && c->status == CAIRN_OK; ++k) {
            snprintf(c->path, sizeof c->path, "bodies[%u].shapes[%u].", (unsigned)i, (unsigned)k);
            check_shape(c, scene, &scene->shapes[body->first_shape + k], body->def.kind);
        }
        const uint64_t copies =
            (uint64_t)body->grid_count[0] * body->grid_count[1] * body->grid_count[2];
        bodies += copies;
        shapes += copies * body->shape_count;
    }
    c->path[0] = '\0';
    check_count(c, "bodies, grids unrolled", bodies, 0, scene->world.body_capacity, CAIRN_CAPACITY);
    check_count(
        c, "shapes, grids unrolled", shapes, 0, scene->world.shape_capacity, CAIRN_CAPACITY);
    return bodies;
}

static void check_axes(checker *c, const cairn_joint_def *joint) {
    check_unit_length(c, "axis_a", cairn_vec3_dot(joint->axis_a, joint->axis_a));
    check_unit_length(c, "axis_b", cairn_vec3_dot(joint->axis_b, joint->axis_b));
    check_unit_length(c, "normal_a", cairn_vec3_dot(joint->normal_a, joint->normal_a));
    check_unit_length(c, "normal_b", cairn_vec3_dot(joint->normal_b, joint->normal_b));
    const float dot_a = cairn_vec3_dot(joint->axis_a, joint->normal_a);
    const float dot_b = cairn_vec3_dot(joint->axis_b, joint->normal_b);
    if (dot_a < -0.1f || dot_a > 0.1f) {
        fail(c, CAIRN_INVALID_ARGUMENT, "normal_a", "must be at right angles to axis_a");
    }
    if (dot_b < -0.1f || dot_b > 0.1f) {
        fail(c, CAIRN_INVALID_ARGUMENT, "normal_b", "must be at right angles to axis_b");
    }
}

// Angles of hinges and cones, meters of the others.
static void check_travel(checker *c, const cairn_joint_def *joint) {
    const bool angles = joint->kind == CAIRN_JOINT_HINGE || joint->kind == CAIRN_JOINT_CONE;
    const float most = angles ? CAIRN_ANGLE_MAX : CAIRN_SHAPE_SIZE_MAX;
    check_float(c, "cone", joint->cone, 0.0f, CAIRN_ANGLE_MAX);
    check_float(c, "lower", joint->lower, -most, most);
    check_float(c, "upper", joint->upper, joint->lower, most);
    check_float(c, "target", joint->target, -most, most);
}

static void check_drives(checker *c, const cairn_joint_def *joint) {
    const float rotation = joint->target_rotation.x * joint->target_rotation.x +
                           joint->target_rotation.y * joint->target_rotation.y +
                           joint->target_rotation.z * joint->target_rotation.z +
                           joint->target_rotation.w * joint->target_rotation.w;
    const bool driven = joint->kind == CAIRN_JOINT_MOTOR;
    const bool steers = joint->kind == CAIRN_JOINT_WHEEL && joint->steering != 0;
    const float least = driven ? CAIRN_SETTING_MIN : 0.0f;
    check_float(c, "hertz", joint->hertz, least, CAIRN_HERTZ_MAX);
    check_float(c, "damping", joint->damping, 0.0f, CAIRN_DAMPING_RATIO_MAX);
    check_float(c, "spring_hertz", joint->spring_hertz, 0.0f, CAIRN_HERTZ_MAX);
    check_float(c, "spring_damping", joint->spring_damping, 0.0f, CAIRN_DAMPING_RATIO_MAX);
    check_vec3(c, "target_position", joint->target_position, CAIRN_DISTANCE_MAX);
    check_unit_length(c, "target_rotation", rotation);
    check_float(c, "motor_speed", joint->motor_speed, -CAIRN_SPEED_MAX, CAIRN_SPEED_MAX);
    check_vec3(c, "motor_velocity", joint->motor_velocity, CAIRN_SPEED_MAX);
    check_float(c, "motor_force", joint->motor_force, 0.0f, CAIRN_FORCE_MAX);
    check_float(c, "motor_torque", joint->motor_torque, 0.0f, CAIRN_FORCE_MAX);
    check_float(c, "steering_hertz", joint->steering_hertz, steers ? CAIRN_SETTING_MIN : 0.0f,
        CAIRN_HERTZ_MAX);
    check_float(c, "steering_damping", joint->steering_damping, 0.0f, CAIRN_DAMPING_RATIO_MAX);
    check_float(c, "steering_target", joint->steering_target, -0.5f * CAIRN_ANGLE_MAX,
        0.5f * CAIRN_ANGLE_MAX);
    check_float(c, "steering_torque", joint->steering_torque, 0.0f, CAIRN_FORCE_MAX);
    if (joint->breakable != 0) {
        check_float(c, "break_force", joint->break_force, CAIRN_SETTING_MIN, CAIRN_FORCE_MAX);
        check_float(c, "break_torque", joint->break_torque, CAIRN_SETTING_MIN, CAIRN_FORCE_MAX);
    }
}

static void check_ratio_and_row(checker *c, const cairn_joint_def *joint) {
    const cairn_joint_row *row = &joint->row;
    const bool gear = joint->kind == CAIRN_JOINT_GEAR;
    if (gear || joint->kind == CAIRN_JOINT_PULLEY) {
        const float ratio = gear && joint->ratio < 0.0f ? 0.0f - joint->ratio : joint->ratio;
        check_float(c, "ratio", ratio, CAIRN_SETTING_MIN, CAIRN_ROW_MAX);
    }
    check_vec3(c, "fixed_a", joint->fixed_a, CAIRN_DISTANCE_MAX);
    check_vec3(c, "fixed_b", joint->fixed_b, CAIRN_DISTANCE_MAX);
    check_vec3(c, "row_linear_a", row->linear_a, CAIRN_ROW_MAX);
    check_vec3(c, "row_angular_a", row->angular_a, CAIRN_ROW_MAX);
    check_vec3(c, "row_linear_b", row->linear_b, CAIRN_ROW_MAX);
    check_vec3(c, "row_angular_b", row->angular_b, CAIRN_ROW_MAX);
    check_float(c, "row_lower", row->lower, -CAIRN_FORCE_MAX, CAIRN_FORCE_MAX);
    check_float(c, "row_upper", row->upper, row->lower, CAIRN_FORCE_MAX);
    check_float(c, "row_velocity", row->velocity, -CAIRN_SPEED_MAX, CAIRN_SPEED_MAX);
}

static void check_joint(checker *c, const cairn_scene_joint *joint, uint64_t body_count) {
    CAIRN_ASSERT(joint != NULL && c->path[0] != '\0');
    const uint64_t last = body_count > 0 ? body_count - 1 : 0;
    check_range(c, "kind", joint->def.kind, CAIRN_JOINT_BALL, CAIRN_JOINT_ROW);
    check_count(c, "body_a", joint->body_a, 0, last, CAIRN_INVALID_ARGUMENT);
    check_count(c, "body_b", joint->body_b, 0, last, CAIRN_INVALID_ARGUMENT);
    if (joint->body_a == joint->body_b) {
        fail(c, CAIRN_INVALID_ARGUMENT, "body_b", "must differ from body_a");
    }
    check_vec3(c, "anchor_a", joint->def.anchor_a, CAIRN_SHAPE_SIZE_MAX);
    check_vec3(c, "anchor_b", joint->def.anchor_b, CAIRN_SHAPE_SIZE_MAX);
    check_float(c, "length", joint->def.length, 0.0f, CAIRN_SHAPE_SIZE_MAX);
    if (joint->def.kind >= CAIRN_JOINT_HINGE && joint->def.kind <= CAIRN_JOINT_GEAR) {
        check_axes(c, &joint->def);
    }
    check_travel(c, &joint->def);
    check_drives(c, &joint->def);
    check_ratio_and_row(c, &joint->def);
}

cairn_status cairn_scene_check(const cairn_scene *scene, char error[CAIRN_SCENE_ERROR_SIZE]) {
    CAIRN_ASSERT(scene != NULL && error != NULL);
    checker c = {.status = CAIRN_OK, .error = error};
    error[0] = '\0';
    check_settings(&c, scene);
    check_hulls(&c, scene);
    check_meshes(&c, scene);
    const uint64_t body_count = check_bodies(&c, scene);
    check_count(&c, "joints", scene->joint_count, 0, scene->world.joint_capacity, CAIRN_CAPACITY);
    for (uint32_t i = 0; i < scene->joint_count && c.status == CAIRN_OK; ++i) {
        snprintf(c.path, sizeof c.path, "joints[%u].", (unsigned)i);
        check_joint(&c, &scene->joints[i], body_count);
    }
    CAIRN_ASSERT((c.status == CAIRN_OK) == (error[0] == '\0'));
    return c.status;
}

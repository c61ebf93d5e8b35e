// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/test_world.h"

#include <stdlib.h>
#include <string.h>

#include "base/world_settings.h"

void cairn_test_write_float(float value, FILE *out) {
    // Hexadecimal, since decimal digits alone do not say that all bits are there.
    fprintf(out, value < 0.0f || value > 0.0f ? "%af" : "0.0f", (double)value);
}

void cairn_test_write_vector(const cairn_vec3 *v, FILE *out) {
    fputs("(cairn_vec3){", out);
    cairn_test_write_float(v->x, out);
    fputs(", ", out);
    cairn_test_write_float(v->y, out);
    fputs(", ", out);
    cairn_test_write_float(v->z, out);
    fputc('}', out);
}

static void write_quat(const cairn_quat *q, FILE *out) {
    fputs("(cairn_quat){", out);
    cairn_test_write_float(q->x, out);
    fputs(", ", out);
    cairn_test_write_float(q->y, out);
    fputs(", ", out);
    cairn_test_write_float(q->z, out);
    fputs(", ", out);
    cairn_test_write_float(q->w, out);
    fputc('}', out);
}

// Assignments of the members that differ from the default: to variable `name`, of struct `value`.
#define CHANGED(member) (memcmp(&value->member, &initial->member, sizeof value->member) != 0)
#define FLOAT(member)                                                                              \
    if (CHANGED(member)) {                                                                         \
        fprintf(out, "    %s.%s = ", name, #member);                                               \
        cairn_test_write_float(value->member, out);                                                \
        fputs(";\n", out);                                                                         \
    }
#define WORD(member)                                                                               \
    if (CHANGED(member)) {                                                                         \
        fprintf(out, "    %s.%s = %uu;\n", name, #member, value->member);                          \
    }
#define VECTOR(member)                                                                             \
    if (CHANGED(member)) {                                                                         \
        fprintf(out, "    %s.%s = ", name, #member);                                               \
        cairn_test_write_vector(&value->member, out);                                              \
        fputs(";\n", out);                                                                         \
    }
#define QUAT(member)                                                                               \
    if (CHANGED(member)) {                                                                         \
        fprintf(out, "    %s.%s = ", name, #member);                                               \
        write_quat(&value->member, out);                                                           \
        fputs(";\n", out);                                                                         \
    }

static void write_settings(
    const cairn_world_def *value, const cairn_world_def *initial, FILE *out) {
    const char *name = "def";
#define SETTING_WORD(member, a, b, c) WORD(member)
#define SETTING_FLOAT(member, a, b, c) FLOAT(member)
#define SETTING_VECTOR(member, a, b, c, d) VECTOR(member)
    CAIRN_WORLD_SETTINGS(SETTING_WORD, SETTING_FLOAT, SETTING_VECTOR)
#undef SETTING_WORD
#undef SETTING_FLOAT
#undef SETTING_VECTOR
    if (CHANGED(seed)) {
        fprintf(out, "    def.seed = UINT64_C(%llu);\n", (unsigned long long)value->seed);
    }
}

static void write_body_def(const cairn_body_def *value, const cairn_body_def *initial, FILE *out) {
    const char *name = "body";
    WORD(kind)
    VECTOR(position)
    QUAT(rotation)
    VECTOR(linear_velocity)
    VECTOR(angular_velocity)
    FLOAT(linear_damping)
    FLOAT(angular_damping)
    FLOAT(gravity_scale)
    WORD(allow_sleep)
    WORD(gyroscopic)
    WORD(user)
    WORD(name)
    WORD(locks)
    WORD(disabled)
    WORD(bullet)
}

static void write_shape_def(
    const cairn_shape_def *value, const cairn_shape_def *initial, FILE *out) {
    const char *name = "shape";
    WORD(kind)
    VECTOR(half_extents)
    FLOAT(radius)
    FLOAT(half_height)
    VECTOR(pose.position)
    QUAT(pose.rotation)
    FLOAT(density)
    FLOAT(friction)
    FLOAT(restitution)
    WORD(category)
    WORD(mask)
    WORD(user)
    WORD(name)
    WORD(flags)
    FLOAT(static_friction)
    FLOAT(rolling_resistance)
    FLOAT(spin_resistance)
    WORD(friction_combine)
    WORD(restitution_combine)
    VECTOR(surface_velocity)
}

static void write_joint_def(
    const cairn_joint_def *value, const cairn_joint_def *initial, FILE *out) {
    const char *name = "joint";
    WORD(kind)
    VECTOR(anchor_a)
    VECTOR(anchor_b)
    FLOAT(length)
    WORD(collide_connected)
    WORD(user)
    WORD(name)
    VECTOR(axis_a)
    VECTOR(axis_b)
    VECTOR(normal_a)
    VECTOR(normal_b)
    FLOAT(cone)
    FLOAT(lower)
    FLOAT(upper)
    WORD(limited)
    WORD(disabled)
    FLOAT(hertz)
    FLOAT(damping)
    WORD(spring)
    FLOAT(spring_hertz)
    FLOAT(spring_damping)
    FLOAT(target)
    VECTOR(target_position)
    QUAT(target_rotation)
    WORD(motor)
    FLOAT(motor_speed)
    VECTOR(motor_velocity)
    FLOAT(motor_force)
    FLOAT(motor_torque)
    WORD(steering)
    FLOAT(steering_hertz)
    FLOAT(steering_damping)
    FLOAT(steering_target)
    FLOAT(steering_torque)
    FLOAT(ratio)
    VECTOR(fixed_a)
    VECTOR(fixed_b)
}

static void write_joint_rest(
    const cairn_joint_def *value, const cairn_joint_def *initial, FILE *out) {
    const char *name = "joint";
    WORD(articulated)
    FLOAT(drive_stiffness)
    FLOAT(drive_damping)
    VECTOR(drive_torque)
    FLOAT(joint_friction)
    FLOAT(armature)
    VECTOR(row.linear_a)
    VECTOR(row.angular_a)
    VECTOR(row.linear_b)
    VECTOR(row.angular_b)
    FLOAT(row.lower)
    FLOAT(row.upper)
    FLOAT(row.velocity)
    WORD(breakable)
    FLOAT(break_force)
    FLOAT(break_torque)
}

// ----------------------------------------------------------------------------------- of a scene

static void write_points(const cairn_vec3 *points, uint32_t count, FILE *out) {
    for (uint32_t i = 0; i < count; ++i) {
        fputs(i % 2 == 0 ? "\n    {" : " {", out);
        cairn_test_write_float(points[i].x, out);
        fputs(", ", out);
        cairn_test_write_float(points[i].y, out);
        fputs(", ", out);
        cairn_test_write_float(points[i].z, out);
        fputs("},", out);
    }
    fputs("};\n", out);
}

// Their data as tables, before the function.
static void write_surface_data(const cairn_scene *scene, FILE *out) {
    for (uint32_t i = 0; i < scene->hull_count; ++i) {
        fprintf(out, "static const cairn_vec3 hull_%u_points[] = {", i);
        write_points(scene->points + scene->hulls[i].first_point, scene->hulls[i].point_count, out);
    }
    for (uint32_t i = 0; i < scene->mesh_count; ++i) {
        const cairn_scene_mesh *m = &scene->meshes[i];
        fprintf(out, "static const cairn_vec3 mesh_%u_points[] = {", i);
        write_points(scene->points + m->first_vertex, m->vertex_count, out);
        fprintf(out, "static const uint32_t mesh_%u_indices[] = {", i);
        for (uint32_t k = 0; k < m->index_count; ++k) {
            fprintf(out, k % 12 == 0 ? "\n    %u," : " %u,", scene->indices[m->first_index + k]);
        }
        fputs("};\n", out);
    }
    for (uint32_t i = 0; i < scene->height_field_count; ++i) {
        const cairn_scene_height_field *f = &scene->height_fields[i];
        fprintf(out, "static const float field_%u_heights[] = {", i);
        for (uint32_t k = 0; k < f->height_count; ++k) {
            fputs(k % 6 == 0 ? "\n    " : " ", out);
            cairn_test_write_float(scene->heights[f->first_height + k], out);
            fputc(',', out);
        }
        fputs("};\n", out);
    }
}

static void write_surfaces(const cairn_scene *scene, FILE *out) {
    for (uint32_t i = 0; i < scene->hull_count; ++i) {
        fprintf(out,
            "    cairn_hull_id hull_%u;\n"
            "    must(cairn_hull_create(world, hull_%u_points, %uu, &hull_%u));\n",
            i, i, scene->hulls[i].point_count, i);
    }
    for (uint32_t i = 0; i < scene->mesh_count; ++i) {
        const cairn_scene_mesh *m = &scene->meshes[i];
        fprintf(out,
            "    cairn_mesh_id mesh_%u;\n"
            "    must(cairn_mesh_create(world, &(cairn_mesh_def){mesh_%u_points, %uu, "
            "mesh_%u_indices, %uu}, &mesh_%u));\n",
            i, i, m->vertex_count, i, m->index_count / 3, i);
    }
    for (uint32_t i = 0; i < scene->height_field_count; ++i) {
        const cairn_scene_height_field *f = &scene->height_fields[i];
        fprintf(out,
            "    cairn_mesh_id field_%u;\n"
            "    must(cairn_height_field_create(world, &(cairn_height_field_def){field_%u_heights, "
            "%uu, %uu, %af, %af}, &field_%u));\n",
            i, i, f->columns, f->height_count / f->columns, (double)f->spacing_x,
            (double)f->spacing_z, i);
    }
}

static void write_body(const cairn_scene *scene, uint32_t i, FILE *out) {
    const cairn_scene_body *body = &scene->bodies[i];
    const cairn_body_def body_default = cairn_body_def_default();
    const cairn_shape_def shape_default = cairn_shape_def_default();
    fprintf(out, "\n    body = cairn_body_def_default(); // %u\n", i + 1);
    write_body_def(&body->def, &body_default, out);
    fprintf(out, "    must(cairn_body_create(world, &body, &bodies[%u]));\n", i);
    for (uint32_t k = 0; k < body->shape_count; ++k) {
        const cairn_scene_shape *shape = &scene->shapes[body->first_shape + k];
        fputs("    shape = cairn_shape_def_default();\n", out);
        write_shape_def(&shape->def, &shape_default, out);
        if (shape->def.kind == CAIRN_SHAPE_HULL) {
            fprintf(out, "    shape.hull = hull_%u;\n", shape->hull);
        } else if (shape->def.kind >= CAIRN_SHAPE_MESH) {
            fprintf(out, "    shape.mesh = %s_%u;\n",
                shape->def.kind == CAIRN_SHAPE_MESH ? "mesh" : "field", shape->mesh);
        }
        fprintf(out, "    must(cairn_shape_create(world, bodies[%u], &shape, &made));\n", i);
    }
    if (body->mass > 0.0f) {
        fprintf(
            out, "    must(cairn_body_set_mass(world, bodies[%u], %af));\n", i, (double)body->mass);
    }
}

static void write_joint(const cairn_scene *scene, uint32_t i, FILE *out) {
    const cairn_scene_joint *joint = &scene->joints[i];
    const cairn_joint_def initial = cairn_joint_def_default();
    fputs("\n    joint = cairn_joint_def_default();\n", out);
    write_joint_def(&joint->def, &initial, out);
    write_joint_rest(&joint->def, &initial, out);
    fprintf(out,
        "    joint.body_a = bodies[%u];\n    joint.body_b = bodies[%u];\n"
        "    must(cairn_joint_create(world, &joint, &made));\n",
        joint->body_a, joint->body_b);
}

static void write_scene(const cairn_scene *scene, FILE *out) {
    const cairn_world_def initial = cairn_world_def_default();
    write_surface_data(scene, out);
    fputs("static cairn_world *start(const cairn_rules *rules) {\n"
          "    cairn_world_def def = cairn_world_def_default();\n",
        out);
    write_settings(&scene->world, &initial, out);
    fputs("    def.rules = rules;\n"
          "    cairn_world *world;\n"
          "    must(cairn_world_create(&def, &world));\n",
        out);
    if (scene->body_count > 0) {
        fprintf(out,
            "    cairn_body_id bodies[%u];\n    uint32_t made;\n    cairn_body_def body;\n"
            "    cairn_shape_def shape;\n",
            scene->body_count);
    }
    fputs(scene->joint_count > 0 ? "    cairn_joint_def joint;\n" : "", out);
    write_surfaces(scene, out);
    for (uint32_t i = 0; i < scene->body_count; ++i) {
        write_body(scene, i, out);
    }
    for (uint32_t i = 0; i < scene->joint_count; ++i) {
        write_joint(scene, i, out);
    }
    fputs("    return world;\n}\n\n", out);
}

// ----------------------------------------------------------------------------------- of a state

static bool write_state(const cairn_world *world, FILE *out) {
    const size_t size = cairn_world_encode_size(world);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL || cairn_world_encode(world, bytes, size) != size) {
        free(bytes);
        return false;
    }
    fputs("// A state: a scene has no contacts, no sleep and no memory of the rules, and this "
          "failure needs one of them.\nstatic const uint8_t state[] = {",
        out);
    for (size_t i = 0; i < size; ++i) {
        fprintf(out, i % 20 == 0 ? "\n    %u," : " %u,", bytes[i]);
    }
    fputs("};\n\nstatic cairn_world *start(const cairn_rules *rules) {\n"
          "    cairn_world_def def;\n"
          "    cairn_world *world;\n"
          "    char name[CAIRN_NAME_SIZE_MAX + 1];\n"
          "    must(cairn_world_def_of_encoding(state, sizeof state, &def, name));\n"
          "    def.rules = rules;\n"
          "    must(cairn_world_create(&def, &world));\n"
          "    must(cairn_world_decode(world, state, sizeof state, NULL));\n"
          "    return world;\n}\n\n",
        out);
    free(bytes);
    return true;
}

bool cairn_test_write_start(const cairn_repro *repro, FILE *out) {
    if (repro->state != NULL) {
        return write_state(repro->state, out);
    }
    write_scene(repro->scene, out);
    return true;
}

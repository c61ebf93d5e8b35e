// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/scene_write.h"

#include <stdlib.h>
#include <string.h>

#include "program/json.h"
#include "schema/scene_fields.h"
#include "tools/replay/shrink/label.h"

static void put_floats(cairn_json *json, const char *name, const float *numbers, size_t count) {
    cairn_json *list = cairn_json_put_array(json, name);
    for (size_t i = 0; i < count; ++i) {
        cairn_json_put_real(list, NULL, (double)numbers[i]);
    }
}

static void put_field(cairn_json *json, const cairn_scene_field *field, const void *at) {
    const float *numbers = at;
    uint32_t word;
    uint64_t count;
    memcpy(&word, at, sizeof word);
    char label[CAIRN_LABEL_SIZE];
    switch (field->type) {
    case CAIRN_SCENE_FLOAT:
        cairn_json_put_real(json, field->name, (double)numbers[0]);
        break;
    case CAIRN_SCENE_VEC3:
        put_floats(json, field->name, numbers, 3);
        break;
    case CAIRN_SCENE_QUAT:
        put_floats(json, field->name, numbers, 4);
        break;
    case CAIRN_SCENE_WORD:
        cairn_json_put_count(json, field->name, word);
        break;
    case CAIRN_SCENE_LONG:
        memcpy(&count, at, sizeof count);
        cairn_json_put_count(json, field->name, count);
        break;
    case CAIRN_SCENE_SWITCH:
        cairn_json_put_bool(json, field->name, word != 0);
        break;
    case CAIRN_SCENE_CHOICE:
        cairn_json_put_text(json, field->name, field->words[word]);
        break;
    case CAIRN_SCENE_NAME:
        cairn_json_put_text(json, field->name, at);
        break;
    case CAIRN_SCENE_LABEL:
        cairn_json_put_text(json, field->name, cairn_label_of(word, label));
        break;
    default: // lists, which the callers write, and copies, which these scenes do not have
        break;
    }
}

static size_t size_of(const cairn_scene_field *field) {
    switch (field->type) {
    case CAIRN_SCENE_VEC3:
        return sizeof(cairn_vec3);
    case CAIRN_SCENE_QUAT:
        return sizeof(cairn_quat);
    case CAIRN_SCENE_LONG:
        return sizeof(uint64_t);
    case CAIRN_SCENE_NAME:
        return 1; // empty or not
    case CAIRN_SCENE_FLOAT:
    case CAIRN_SCENE_WORD:
    case CAIRN_SCENE_SWITCH:
    case CAIRN_SCENE_CHOICE:
    case CAIRN_SCENE_LABEL:
        return sizeof(uint32_t);
    default:
        return 0;
    }
}

// The fields of `value` that differ from `initial` and that its kind uses.
static void put_fields(
    cairn_json *json, const cairn_scene_object *object, const void *value, const void *initial) {
    uint32_t kind;
    memcpy(&kind, (const char *)value + object->kind, sizeof kind);
    for (uint32_t i = 0; i < object->field_count; ++i) {
        const cairn_scene_field *field = &object->fields[i];
        const char *at = (const char *)value + field->offset;
        const bool used = field->kinds == 0 || (field->kinds & (1u << (kind & 31u))) != 0;
        const size_t size = size_of(field);
        if (used && size > 0 && memcmp(at, (const char *)initial + field->offset, size) != 0) {
            put_field(json, field, at);
        }
    }
}

static void put_shapes(cairn_json *json, const cairn_scene *scene, const cairn_scene_body *body) {
    const cairn_authored_shape initial = cairn_authored_shape_default();
    cairn_json *list = cairn_json_put_array(json, "shapes");
    for (uint32_t i = 0; i < body->shape_count; ++i) {
        cairn_authored_shape shape = initial;
        shape.shape = scene->shapes[body->first_shape + i];
        shape.rotation.quat = shape.shape.def.pose.rotation;
        shape.sensor = (shape.shape.def.flags & CAIRN_SHAPE_SENSOR) != 0;
        shape.hit_events = (shape.shape.def.flags & CAIRN_SHAPE_HIT_EVENTS) != 0;
        shape.contact_events = (shape.shape.def.flags & CAIRN_SHAPE_CONTACT_EVENTS) != 0;
        put_fields(cairn_json_put_object(list, NULL), &cairn_scene_object_shape, &shape, &initial);
    }
}

static void put_bodies(cairn_json *json, const cairn_scene *scene) {
    const cairn_authored_body initial = cairn_authored_body_default();
    cairn_json *list = cairn_json_put_array(json, "bodies");
    for (uint32_t i = 0; i < scene->body_count; ++i) {
        cairn_authored_body body = initial;
        body.body = scene->bodies[i];
        body.rotation.quat = body.body.def.rotation;
        cairn_json *object = cairn_json_put_object(list, NULL);
        put_fields(object, &cairn_scene_object_body, &body, &initial);
        put_shapes(object, scene, &scene->bodies[i]);
    }
}

static void put_joints(cairn_json *json, const cairn_scene *scene) {
    cairn_authored_joint initial = cairn_authored_joint_default();
    cairn_json *list = cairn_json_put_array(json, "joints");
    // They have no value that could be left out.
    initial.joint.body_a = initial.joint.body_b = UINT32_MAX;
    for (uint32_t i = 0; i < scene->joint_count; ++i) {
        cairn_authored_joint joint = initial;
        joint.joint = scene->joints[i];
        const cairn_quat q = joint.joint.def.target_rotation;
        if (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w > 0.0f) { // zeros: the identity
            joint.target_rotation.quat = q;
        }
        cairn_authored_joint base = initial;
        if (joint.joint.def.breakable == 0) { // a force would make it breakable
            base.joint.def.break_force = joint.joint.def.break_force;
            base.joint.def.break_torque = joint.joint.def.break_torque;
        }
        put_fields(cairn_json_put_object(list, NULL), &cairn_scene_object_joint, &joint, &base);
    }
}

static void put_points(
    cairn_json *object, const char *name, const cairn_vec3 *points, uint32_t count) {
    cairn_json *list = cairn_json_put_array(object, name);
    for (uint32_t i = 0; i < count; ++i) {
        put_floats(list, NULL, &points[i].x, 3);
    }
}

static void put_surfaces(cairn_json *json, const cairn_scene *scene) {
    cairn_json *hulls = scene->hull_count > 0 ? cairn_json_put_array(json, "hulls") : NULL;
    for (uint32_t i = 0; i < scene->hull_count; ++i) {
        const cairn_scene_hull *h = &scene->hulls[i];
        put_points(cairn_json_put_object(hulls, NULL), "points", scene->points + h->first_point,
            h->point_count);
    }
    cairn_json *meshes = scene->mesh_count > 0 ? cairn_json_put_array(json, "meshes") : NULL;
    for (uint32_t i = 0; i < scene->mesh_count; ++i) {
        const cairn_scene_mesh *m = &scene->meshes[i];
        cairn_json *object = cairn_json_put_object(meshes, NULL);
        put_points(object, "vertices", scene->points + m->first_vertex, m->vertex_count);
        cairn_json *indices = cairn_json_put_array(object, "indices");
        for (uint32_t k = 0; k < m->index_count; ++k) {
            cairn_json_put_count(indices, NULL, scene->indices[m->first_index + k]);
        }
    }
    cairn_json *fields =
        scene->height_field_count > 0 ? cairn_json_put_array(json, "height_fields") : NULL;
    for (uint32_t i = 0; i < scene->height_field_count; ++i) {
        const cairn_scene_height_field *f = &scene->height_fields[i];
        cairn_json *object = cairn_json_put_object(fields, NULL);
        cairn_json_put_count(object, "columns", f->columns);
        cairn_json_put_real(object, "spacing_x", (double)f->spacing_x);
        cairn_json_put_real(object, "spacing_z", (double)f->spacing_z);
        put_floats(object, "heights", scene->heights + f->first_height, f->height_count);
    }
}

char *cairn_scene_write(const cairn_scene *scene) {
    cairn_json *json = cairn_json_create();
    const cairn_scene initial = cairn_scene_default();
    size_t size;
    put_fields(json, &cairn_scene_object_scene, scene, &initial);
    put_surfaces(json, scene);
    put_bodies(json, scene);
    put_joints(json, scene);
    char *text = cairn_json_text(json, &size);
    cairn_json_destroy(json);
    return text;
}

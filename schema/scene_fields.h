// SPDX-License-Identifier: MIT
#pragma once

// What may be written in a scene: one row for each field of each object. From these tables follow
// the reading of scenes, the messages about what is wrong in them, and the JSON schema for editors
// (schema/scene_schema.h). A new field is a row here and a member of the struct that it fills.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/scene.h"

typedef enum cairn_scene_type {
    CAIRN_SCENE_FLOAT = 0,
    CAIRN_SCENE_WORD,   // uint32_t
    CAIRN_SCENE_LONG,   // uint64_t
    CAIRN_SCENE_SWITCH, // true or false, as a uint32_t
    CAIRN_SCENE_CHOICE, // one of `words`, its place as a uint32_t
    CAIRN_SCENE_NAME,   // text of at most CAIRN_NAME_SIZE_MAX printable ASCII characters
    CAIRN_SCENE_LABEL,  // a name of the same form, of which the world keeps cairn_name_hash
    CAIRN_SCENE_VEC3,
    CAIRN_SCENE_QUAT,
    CAIRN_SCENE_WORDS3, // three uint32_t
    // Lists; their elements are read by schema/scene_parse.c.
    CAIRN_SCENE_FLOATS,
    CAIRN_SCENE_WORDS,
    CAIRN_SCENE_POINTS,  // of vec3
    CAIRN_SCENE_OBJECTS, // of `elements`
    CAIRN_SCENE_IGNORED, // "$schema": for editors
} cairn_scene_type;

typedef struct cairn_scene_object cairn_scene_object;

typedef struct cairn_scene_field {
    const char *name;
    const char *help; // one clause
    cairn_scene_type type;
    size_t offset;      // in the struct that the object fills
    double least, most; // of each number
    uint32_t kinds;     // bit set: kinds of the object that use it; 0: all
    bool required;
    const char *const *words;           // CHOICE; "" for a place that has no name; ends with NULL
    const cairn_scene_object *elements; // OBJECTS
} cairn_scene_field;

struct cairn_scene_object {
    const char *name; // "shape"
    const cairn_scene_field *fields;
    uint32_t field_count; // at most 64
    size_t kind;          // offset of its kind, if fields have `kinds`
};

// A rotation as it may be written: as a quaternion, as Euler angles, or as axis and angle.
typedef struct cairn_scene_rotation {
    cairn_quat quat;
    cairn_vec3 euler_deg; // about x, then y, then z of the frame outside
    cairn_vec3 axis;
    float angle_deg;
} cairn_scene_rotation;

// Copies along a line or round a circle, or on a grid.
typedef struct cairn_scene_repetition {
    uint32_t line_count; // 1: none
    cairn_vec3 line_step;
    uint32_t circle_count; // 1: none
    float circle_radius;
    cairn_vec3 circle_axis;
} cairn_scene_repetition;

// The objects as they are written.
typedef struct cairn_authored_shape {
    cairn_scene_shape shape;
    cairn_scene_rotation rotation;
    uint32_t sensor, hit_events, contact_events;
} cairn_authored_shape;

typedef struct cairn_authored_body {
    cairn_scene_body body;
    cairn_scene_rotation rotation;
    cairn_scene_repetition repeat;
} cairn_authored_body;

typedef struct cairn_authored_joint {
    cairn_scene_joint joint;
    cairn_scene_rotation target_rotation;
} cairn_authored_joint;

typedef struct cairn_authored_instance {
    char prefab[CAIRN_NAME_SIZE_MAX + 1];
    cairn_vec3 position;
    cairn_scene_rotation rotation;
    cairn_scene_repetition repeat;
    uint32_t grid_count[3];
    cairn_vec3 grid_spacing;
} cairn_authored_instance;

typedef struct cairn_authored_prefab {
    char name[CAIRN_NAME_SIZE_MAX + 1];
} cairn_authored_prefab;

extern const cairn_scene_object cairn_scene_object_shape;        // a cairn_authored_shape
extern const cairn_scene_object cairn_scene_object_body;         // a cairn_authored_body
extern const cairn_scene_object cairn_scene_object_joint;        // a cairn_authored_joint
extern const cairn_scene_object cairn_scene_object_hull;         // nothing but lists
extern const cairn_scene_object cairn_scene_object_mesh;         // nothing but lists
extern const cairn_scene_object cairn_scene_object_height_field; // a cairn_scene_height_field
extern const cairn_scene_object cairn_scene_object_prefab;       // a cairn_authored_prefab
extern const cairn_scene_object cairn_scene_object_instance;     // a cairn_authored_instance
extern const cairn_scene_object cairn_scene_object_scene;        // a cairn_scene

// The numbers that a field may have.
void cairn_scene_field_range(const cairn_scene_field *field, double *least, double *most);

// The objects before anything is read.
cairn_authored_shape cairn_authored_shape_default(void);
cairn_authored_body cairn_authored_body_default(void);
cairn_authored_joint cairn_authored_joint_default(void);
cairn_authored_instance cairn_authored_instance_default(void);

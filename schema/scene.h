// SPDX-License-Identifier: MIT
#pragma once

// The inside of a scene (cairn/scene.h), which is written in JSON. docs/SCENES.md explains the
// fields; schema/scene_fields.h lists them. Numbers become bits once, here. bridge/scene_world.h
// builds the world.

#include <stddef.h>
#include <stdint.h>

#include "schema/messages.h"
#include <cairn/scene.h>
#include <cairn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_scene_shape {
    cairn_shape_def def; // its hull and mesh are null: `hull` and `mesh` name them
    uint32_t hull;       // index into the scene's hulls
    uint32_t mesh;       // index into the scene's meshes or height fields
} cairn_scene_shape;

typedef struct cairn_scene_hull {
    uint32_t first_point; // into cairn_scene.points
    uint32_t point_count; // 4 .. CAIRN_HULL_POINTS_MAX
} cairn_scene_hull;

typedef struct cairn_scene_mesh {
    uint32_t first_vertex; // into cairn_scene.points
    uint32_t vertex_count;
    uint32_t first_index; // into cairn_scene.indices
    uint32_t index_count; // a multiple of three
} cairn_scene_mesh;

typedef struct cairn_scene_height_field {
    uint32_t first_height; // into cairn_scene.heights
    uint32_t height_count; // a multiple of columns
    uint32_t columns;
    float spacing_x; // m
    float spacing_z;
} cairn_scene_height_field;

// A body, repeated on a grid: `count` copies along each axis, `spacing` apart, the whole grid
// shifted so that the body's position is its first corner. 1,1,1 for a single body.
typedef struct cairn_scene_body {
    cairn_body_def def;
    float mass; // kg; 0: from its shapes
    // With an inertia, mass, centre and inertia are these, and shapes do not count.
    cairn_vec3 centre;           // m, in the body's frame
    cairn_vec3 inertia;          // kg m^2 about the centre: xx, yy, zz; all 0: from the shapes
    cairn_vec3 inertia_products; // xy, xz, yz
    uint32_t grid_count[3];      // each 1 .. 1024, product at most CAIRN_BODIES_MAX
    cairn_vec3 grid_spacing;
    uint32_t first_shape; // into cairn_scene.shapes
    uint32_t shape_count;
} cairn_scene_body;

typedef struct cairn_scene_joint {
    cairn_joint_def def; // its bodies are null: `body_a` and `body_b` name them
    uint32_t body_a;     // index into the bodies after grids were unrolled
    uint32_t body_b;
} cairn_scene_joint;

struct cairn_scene {
    char name[CAIRN_NAME_SIZE_MAX + 1];
    char rules[CAIRN_NAME_SIZE_MAX + 1]; // "" for none, "sandbox"
    cairn_world_def world;               // its rules are NULL: `rules` names them
    // How fine poses in snapshots of a room of this scene are and how closely they are coded,
    // unless the room says otherwise; 0: the server's defaults.
    uint32_t position_steps_per_m;
    uint32_t rotation_bits;
    uint32_t coded_together_max;
    cairn_scene_body *bodies; // owned by the scene
    uint32_t body_count;
    cairn_scene_shape *shapes; // owned by the scene
    uint32_t shape_count;
    cairn_scene_joint *joints; // owned by the scene
    uint32_t joint_count;
    cairn_scene_hull *hulls; // owned by the scene
    uint32_t hull_count;
    cairn_vec3 *points; // of the hulls and meshes; owned by the scene
    uint32_t point_count;
    cairn_scene_mesh *meshes; // owned by the scene
    uint32_t mesh_count;
    uint32_t *indices; // of the meshes; owned by the scene
    uint32_t index_count;
    cairn_scene_height_field *height_fields; // owned by the scene
    uint32_t height_field_count;
    float *heights; // of the height fields; owned by the scene
    uint32_t height_count;
};

#define CAIRN_SCENE_MESSAGES_MAX 32
#define CAIRN_SCENE_MESSAGE_SIZE 216

// Something that is wrong in the text of a scene, or probably not meant.
typedef struct cairn_scene_message {
    uint32_t line;                       // from 1
    uint32_t column;                     // from 1, in bytes
    cairn_status status;                 // CAIRN_OK: a warning
    char text[CAIRN_SCENE_MESSAGE_SIZE]; // "bodies[3].shapes[0].radius: must be in [0.001, ...]"
} cairn_scene_message;

typedef struct cairn_scene_report {
    cairn_status status; // of the first error; CAIRN_OK: there are at most warnings
    cairn_scene_message messages[CAIRN_SCENE_MESSAGES_MAX]; // in the order of the text
    uint32_t count; // of messages; those beyond the last are only counted:
    uint32_t error_count;
    uint32_t warning_count;
} cairn_scene_report;

// As cairn_scene_parse, and collects everything that is wrong with the values: a slip in the text
// itself, such as a missing comma, ends the reading.
cairn_status cairn_scene_read(
    const char *json, size_t size, cairn_scene **out, cairn_scene_report *report);

// A scene without a name, rules or bodies and with the default settings of a world. It owns
// nothing: a caller that sets its arrays does not call cairn_scene_destroy.
cairn_scene cairn_scene_default(void);

#ifdef __cplusplus
}
#endif

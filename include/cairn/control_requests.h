// SPDX-License-Identifier: MIT
#pragma once

// The arguments of each verb of an operator (cairn/control.h, which includes this header).

#include <stdbool.h>
#include <stdint.h>

#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// Floats are finite. Texts are printable ASCII and never NULL: names of at most
// CAIRN_CONTROL_NAME_SIZE_MAX characters, of which a server accepts at most CAIRN_NAME_SIZE_MAX.
#define CAIRN_CONTROL_NAME_SIZE_MAX CAIRN_TEXT_SIZE_MAX
#define CAIRN_CONTROL_PIECE_SIZE_MAX (4 * 1024) // bytes of a save that one request carries
#define CAIRN_CONTROL_POINTS_MAX 120            // points or vertices that one request carries
#define CAIRN_CONTROL_PARTS_MAX 32              // shapes of a compound
#define CAIRN_CONTROL_TRIANGLES_MAX 360
#define CAIRN_CONTROL_HEIGHTS_MAX 372

typedef struct cairn_control_step_request {
    uint32_t tick_count; // 1 .. 1,000,000
} cairn_control_step_request;

typedef struct cairn_control_run_until_request {
    uint64_t tick;
} cairn_control_run_until_request;

typedef struct cairn_control_rate_request {
    uint32_t speed_thousandths; // of real time, at most 64,000; 0: as fast as possible
} cairn_control_rate_request;

typedef struct cairn_control_reset_request {
    bool has_seed; // false: the scene's own seed
    uint64_t seed;
} cairn_control_reset_request;

typedef struct cairn_control_save_request {
    const char *name; // an older save of this name is replaced
} cairn_control_save_request;

typedef struct cairn_control_load_request {
    const char *name;
} cairn_control_load_request;

typedef struct cairn_control_save_read_request {
    const char *name;
    uint32_t offset; // bytes
} cairn_control_save_read_request;

// Uploads one piece of a save. Send the pieces in order of their offsets.
typedef struct cairn_control_save_write_request {
    const char *name;
    uint32_t offset;    // bytes that the server has; 0 begins a new save
    uint32_t size;      // of the complete save, bytes
    uint64_t players;   // bit set of the slots below 64 that have a player in the saved world
    uint64_t players_1; // the same of slots 64 to 127
    uint64_t players_2;
    uint64_t players_3;
    const uint8_t *bytes; // at most CAIRN_CONTROL_PIECE_SIZE_MAX
    uint32_t byte_count;
} cairn_control_save_write_request;

typedef struct cairn_control_save_delete_request {
    const char *name;
} cairn_control_save_delete_request;

typedef struct cairn_control_seek_request {
    uint64_t tick;
} cairn_control_seek_request;

typedef struct cairn_control_fork_request {
    const char *name; // of the new room
    bool has_tick;    // false: the room's present tick
    uint64_t tick;
    bool paused; // the new room begins paused; a fork of a paused room always does
} cairn_control_fork_request;

typedef struct cairn_control_room_create_request {
    const char *name; // of the new room
    const char *scene;
    uint32_t tick_rate_hz; // 0: the scene's
    bool has_seed;         // false: the scene's own seed
    uint64_t seed;
    bool paused; // the new room begins paused
} cairn_control_room_create_request;

typedef struct cairn_control_spawn_box_request {
    cairn_vec3 position;     // m
    cairn_vec3 half_extents; // m
    uint32_t user;           // a word that the body keeps
} cairn_control_spawn_box_request;

typedef struct cairn_control_spawn_sphere_request {
    cairn_vec3 position; // m
    float radius;        // m
    uint32_t user;       // a word that the body keeps
} cairn_control_spawn_sphere_request;

// A body with one shape; spawn-mesh and spawn-height-field make those of surfaces. It is dynamic (a
// half-space: static) and at rest, with the density and the friction of cairn_shape_def_default.
typedef struct cairn_control_spawn_request {
    uint32_t shape;           // cairn_shape_kind
    cairn_vec3 position;      // m
    cairn_vec3 rotation;      // a rotation vector, rad
    cairn_vec3 size;          // m, as of CAIRN_COMMAND_SHAPE
    uint32_t user;            // a word that the body keeps
    const cairn_vec3 *points; // m, of a hull, at most CAIRN_CONTROL_POINTS_MAX; otherwise none
    uint32_t point_count;
} cairn_control_spawn_request;

// A shape of a compound: any but meshes and height fields.
typedef struct cairn_control_part {
    uint32_t shape; // cairn_shape_kind
    // Of a hull: how many of the request's points are its own, after those of earlier parts.
    uint32_t point_count;
    cairn_vec3 size;     // m, as of CAIRN_COMMAND_SHAPE
    cairn_vec3 position; // m, in the body's frame
    cairn_vec3 rotation; // a rotation vector, rad, in the body's frame
} cairn_control_part;

// A body of several shapes, otherwise as spawn.
typedef struct cairn_control_spawn_compound_request {
    cairn_vec3 position;             // m
    cairn_vec3 rotation;             // a rotation vector, rad
    uint32_t user;                   // a word that the body keeps
    const cairn_control_part *parts; // at most CAIRN_CONTROL_PARTS_MAX
    uint32_t part_count;
    const cairn_vec3 *points; // m, of hulls
    uint32_t point_count;
} cairn_control_spawn_compound_request;

typedef struct cairn_control_triangle {
    uint32_t a, b, c; // vertices, counter-clockwise seen from its front
} cairn_control_triangle;

// A static body with a triangle mesh (cairn_mesh_def). It takes vertices / 2 + triangles / 6 + 2
// edits, each rounded up, and a tick has 64.
typedef struct cairn_control_spawn_mesh_request {
    cairn_vec3 position;      // m
    cairn_vec3 rotation;      // a rotation vector, rad
    uint32_t user;            // a word that the body keeps
    const cairn_vec3 *points; // m
    uint32_t point_count;
    const cairn_control_triangle *triangles; // at most CAIRN_CONTROL_TRIANGLES_MAX
    uint32_t triangle_count;
} cairn_control_spawn_mesh_request;

typedef struct cairn_control_height {
    float value; // m, or CAIRN_HEIGHT_HOLE
} cairn_control_height;

// A static body with a height field (cairn_height_field_def). It takes heights / 6 + 2 edits.
typedef struct cairn_control_spawn_height_field_request {
    cairn_vec3 position; // m
    cairn_vec3 rotation; // a rotation vector, rad
    uint32_t user;       // a word that the body keeps
    uint32_t columns;
    float spacing_x; // m
    float spacing_z;
    const cairn_control_height *heights; // row by row, at most CAIRN_CONTROL_HEIGHTS_MAX
    uint32_t height_count;
} cairn_control_spawn_height_field_request;

typedef struct cairn_control_delete_request {
    cairn_body_id body;
} cairn_control_delete_request;

typedef struct cairn_control_set_position_request {
    cairn_body_id body;
    cairn_vec3 position; // m; the rotation stays
} cairn_control_set_position_request;

typedef struct cairn_control_set_velocity_request {
    cairn_body_id body;
    cairn_vec3 linear_velocity;  // m/s
    cairn_vec3 angular_velocity; // rad/s
} cairn_control_set_velocity_request;

typedef struct cairn_control_impulse_request {
    cairn_body_id body;
    cairn_vec3 impulse; // N s, at the centre of mass
} cairn_control_impulse_request;

typedef struct cairn_control_get_request {
    cairn_body_id body;
} cairn_control_get_request;

typedef struct cairn_control_joints_request {
    uint32_t first;     // how many joints to skip
    cairn_body_id body; // 0: joints of all bodies
} cairn_control_joints_request;

typedef struct cairn_control_set_joint_request {
    cairn_joint_id joint;
    uint32_t property; // cairn_joint_property
    cairn_vec3 value;  // the components that the property names
    uint32_t word;     // of the properties that are words; otherwise 0
} cairn_control_set_joint_request;

typedef struct cairn_control_get_joint_request {
    cairn_joint_id joint;
} cairn_control_get_joint_request;

// All of a row (cairn_joint_row).
typedef struct cairn_control_set_row_request {
    cairn_joint_id joint;
    cairn_vec3 linear_a;
    cairn_vec3 angular_a;
    cairn_vec3 linear_b;
    cairn_vec3 angular_b;
    float lower; // N or N m
    float upper;
    float velocity; // m/s or rad/s
} cairn_control_set_row_request;

// A joint between two bodies as they are now; see CAIRN_COMMAND_CREATE_JOINT. set-joint and set-row
// set the rest.
typedef struct cairn_control_create_joint_request {
    uint32_t kind; // cairn_joint_kind
    cairn_body_id body_a;
    cairn_body_id body_b;
    cairn_vec3 anchor_a; // in the world, m
    cairn_vec3 anchor_b;
    cairn_vec3 axis;   // in the world, of length 1
    float number;      // cone: rad; gear and pulley: ratio; motor: hertz; otherwise 0
    float break_force; // N; 0: the joint does not break; CAIRN_BREAK_FORCE_ARTICULATED: it never
                       // opens
} cairn_control_create_joint_request;

typedef struct cairn_control_delete_joint_request {
    cairn_joint_id joint;
} cairn_control_delete_joint_request;

typedef struct cairn_control_bodies_request {
    uint32_t first; // how many bodies to skip, in order of id
} cairn_control_bodies_request;

typedef struct cairn_control_ray_request {
    cairn_vec3 origin;          // m
    cairn_vec3 translation;     // m, from the origin to the end of the ray
    uint32_t mask;              // of categories; 0: all
    cairn_body_id ignored_body; // 0: none
    bool has_seen_by;           // true: in the world as the client of this id sees it now
    uint64_t seen_by;
} cairn_control_ray_request;

typedef struct cairn_control_overlap_request {
    cairn_vec3 position;     // m
    cairn_vec3 half_extents; // m, of a box
    bool has_radius;         // true: a sphere instead of the box
    float radius;            // m
    uint32_t mask;           // of categories; 0: all
    bool has_seen_by;        // true: in the world as the client of this id sees it now
    uint64_t seen_by;
} cairn_control_overlap_request;

// What a shape that moves without turning meets first; answered as a ray.
typedef struct cairn_control_cast_request {
    cairn_vec3 position;        // m, where it starts
    cairn_vec3 half_extents;    // m, of a box
    bool has_radius;            // true: a sphere instead of the box
    float radius;               // m
    cairn_vec3 translation;     // m
    uint32_t mask;              // of categories; 0: all
    cairn_body_id ignored_body; // CAIRN_ID_NULL: none
    bool has_seen_by;           // true: in the world as the client of this id sees it now
    uint64_t seen_by;
} cairn_control_cast_request;

// The shape nearest to a point.
typedef struct cairn_control_closest_request {
    cairn_vec3 position;        // m
    float distance_max;         // m, [0, 1e5]
    uint32_t mask;              // of categories; 0: all
    cairn_body_id ignored_body; // CAIRN_ID_NULL: none
    bool has_seen_by;           // true: in the world as the client of this id sees it now
    uint64_t seen_by;
} cairn_control_closest_request;

typedef struct cairn_control_diff_request {
    const char *other_room;
} cairn_control_diff_request;

// Injects faults into the path of one client; all four zero ends them.
typedef struct cairn_control_faults_request {
    uint64_t client_id;
    float loss;       // fraction of the datagrams, [0, 1]
    float duplicates; // fraction of the datagrams, [0, 1]
    float delay_ms;   // at most 10,000
    float jitter_ms;  // at most 10,000
    uint64_t seed;    // decides which datagrams are lost, duplicated and delayed
} cairn_control_faults_request;

typedef struct cairn_control_set_body_request {
    cairn_body_id body;
    uint32_t property; // cairn_body_property
    cairn_vec3 value;  // the components that the property names
    uint32_t word;     // of the properties that are words; otherwise 0
} cairn_control_set_body_request;

typedef struct cairn_control_set_pose_request {
    cairn_body_id body;
    cairn_vec3 position; // m
    cairn_vec3 rotation; // a rotation vector, rad
} cairn_control_set_pose_request;

// All of a body's mass; set-body sets its mass alone.
typedef struct cairn_control_set_mass_request {
    cairn_body_id body;
    float mass;          // kg
    cairn_vec3 centre;   // m, in the body's frame
    cairn_vec3 inertia;  // kg m^2, about the centre: xx, yy, zz
    cairn_vec3 products; // xy, xz, yz
} cairn_control_set_mass_request;

typedef struct cairn_control_set_shape_request {
    cairn_shape_id shape;
    uint32_t property; // cairn_body_property, of those that shapes have
    cairn_vec3 value;  // the components that the property names
    uint32_t word;     // of the properties that are words; otherwise 0
} cairn_control_set_shape_request;

typedef struct cairn_control_get_body_request {
    cairn_body_id body;
} cairn_control_get_body_request;

typedef struct cairn_control_shapes_request {
    uint32_t first;     // how many shapes to skip
    cairn_body_id body; // 0: shapes of all bodies
} cairn_control_shapes_request;

typedef enum cairn_control_push_kind {
    CAIRN_CONTROL_PUSH_FORCE = 0,      // N at the centre of mass, for one step; place: torque, N m
    CAIRN_CONTROL_PUSH_FORCE_AT = 1,   // N, for one step
    CAIRN_CONTROL_PUSH_IMPULSE_AT = 2, // N s
    CAIRN_CONTROL_PUSH_TURN = 3,       // angular impulse, N m s
} cairn_control_push_kind;

typedef struct cairn_control_push_request {
    cairn_body_id body;
    uint32_t kind; // cairn_control_push_kind
    cairn_vec3 push;
    cairn_vec3 place; // a point of the world, m
} cairn_control_push_request;

typedef struct cairn_control_set_target_request {
    cairn_body_id body;
    cairn_vec3 position; // m
    cairn_vec3 rotation; // a rotation vector, rad
} cairn_control_set_target_request;

typedef struct cairn_control_set_gravity_request {
    cairn_vec3 gravity; // m/s^2
} cairn_control_set_gravity_request;

typedef struct cairn_control_explode_request { // cairn_explosion
    cairn_vec3 centre;
    float radius;
    float falloff;
    float impulse_per_area;
    uint32_t mask;        // of categories
    uint32_t shield_mask; // 0: nothing shields
} cairn_control_explode_request;

typedef struct cairn_control_fracture_request { // cairn_fracture_def (cairn/fracture.h)
    cairn_body_id body;
    cairn_vec3 point;
    uint32_t pieces;
    float crowding;
    float thickness_min;
    uint32_t seed;
} cairn_control_fracture_request;

// The numbers of a body that an observation may have, in this order.
typedef enum cairn_observed_field {
    CAIRN_OBSERVE_POSITION = 1u << 0,         // x y z, m
    CAIRN_OBSERVE_ROTATION = 1u << 1,         // x y z w
    CAIRN_OBSERVE_LINEAR_VELOCITY = 1u << 2,  // x y z, m/s
    CAIRN_OBSERVE_ANGULAR_VELOCITY = 1u << 3, // x y z, rad/s
    CAIRN_OBSERVE_AWAKE = 1u << 4,            // 0 or 1
} cairn_observed_field;
#define CAIRN_OBSERVE_ALL 0x1fu

// An edit of an act: a command of an operator (cairn_command_kind, SPAWN_BOX and later).
typedef struct cairn_control_edit {
    uint32_t kind;
    uint32_t buttons;
    cairn_vec3 move;
    cairn_vec3 aim;
} cairn_control_edit;

// A body that an act observes.
typedef struct cairn_control_watched {
    cairn_body_id body;
} cairn_control_watched;

#define CAIRN_CONTROL_ACT_EDITS_MAX 64
#define CAIRN_CONTROL_WATCHED_MAX 1024
#define CAIRN_CONTROL_ACT_NUMBERS_MAX 8192 // of the answer

// Edits, steps and observes in one round trip: what a learner does in each of its steps. The edits
// are accepted or refused together.
typedef struct cairn_control_act_request {
    const cairn_control_edit *edits; // at most CAIRN_CONTROL_ACT_EDITS_MAX
    uint32_t edit_count;
    uint32_t tick_count;                  // 0: only edits and observes; otherwise as in step
    uint32_t fields;                      // cairn_observed_field; 0: observes nothing
    const cairn_control_watched *watched; // at most CAIRN_CONTROL_WATCHED_MAX
    uint32_t watched_count;               // 0: all bodies, in order of id
} cairn_control_act_request;

#ifdef __cplusplus
}
#endif

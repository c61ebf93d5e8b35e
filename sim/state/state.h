// SPDX-License-Identifier: MIT
#pragma once

// The state of a world: one pointer-free block that save, load, encode, hash and diff see. Every
// element is a struct of 32-bit words without padding, described word by word in
// sim/state/fields.c. Everything that the next step reads and that does not follow from it is here.

#include <stddef.h>

#include "base/world_settings.h"
#include "sim/math/limits.h"
#include "sim/math/packed_rotation.h"
#include "sim/math/vec.h"
#include "sim/shape/geometry.h"
#include <cairn/sim.h>

typedef struct cairn_settings {
    // From here to `rules_state_size`: the def, equal in worlds that exchange states.
#define WORD(name, initial, lower, upper) uint32_t name;
#define FLOAT(name, initial, lower, upper) float name;
#define VEC3(name, a, b, c, limit) cairn_vec3 name;
    CAIRN_WORLD_SETTINGS(WORD, FLOAT, VEC3)
#undef WORD
#undef FLOAT
#undef VEC3
    uint32_t seed_low;
    uint32_t seed_high;
    uint32_t rules_name[8]; // bytes of the name, first one lowest; zero without rules
    uint32_t rules_version;
    uint32_t rules_state_size; // bytes
    uint32_t tick_low;
    uint32_t tick_high;
    uint32_t contacts_dropped;
    uint32_t creates_refused;
    uint32_t bodies_disabled;
    uint32_t edits_refused;
    uint32_t events_dropped;
    uint32_t solver_fallbacks;
    cairn_vec3 present_gravity; // m/s^2: the def's until a caller changes it
    float present_step_rate_hz; // steps in a second of the world: the def's tick rate until then
    uint32_t body_slots;        // slots ever used: the live range of ids, motions, bodies, sleep
    uint32_t shape_slots;
    uint32_t joint_slots;
    uint32_t hull_slots;
    uint32_t mesh_slots;
    uint32_t mesh_block_count; // up to the last block in use
    uint32_t contact_count;
    uint32_t contact_event_count;
    uint32_t body_event_count;
    uint32_t joint_drive_count;
    uint32_t joint_event_count;
} cairn_settings;

// Steps in half a second of the world: as long as a body is at rest before it falls asleep.
static inline uint32_t cairn_settings_rest_ticks(const cairn_settings *settings) {
    return (uint32_t)(settings->present_step_rate_hz * 0.5f);
}

// Words at the head of cairn_settings that follow from the def alone.
#define CAIRN_SETTINGS_DEF_WORDS (offsetof(cairn_settings, tick_low) / sizeof(uint32_t))

// What a step reads and writes of every body that moves: 64 bytes.
typedef struct cairn_motion {
    cairn_vec3 origin;   // world
    cairn_vec3 position; // of the centre of mass, world
    cairn_quat rotation;
    cairn_vec3 linear_velocity; // of the centre of mass
    cairn_vec3 angular_velocity;
} cairn_motion;

// The pose at which the narrow phase sees a body. It is moved to the body's pose when the body has
// left it by more than the recycling distance (CAIRN_BODY_RECYCLING_DISTANCE); until then the pairs
// of the body need no update. All zero: the next step sets it.
typedef struct cairn_reference_pose {
    cairn_vec3 position; // of the centre of mass, world
    cairn_packed_rotation rotation;
} cairn_reference_pose;

// Added to the kind of a body that is not enabled. So it is neither dynamic nor kinematic for any
// stage of a step: nothing moves it.
#define CAIRN_BODY_NOT_ENABLED 4u

// Bits of cairn_body.flags, beside cairn_body_locks.
#define CAIRN_BODY_MASS_SET (1u << 6)       // mass, centre and inertia do not follow the shapes
#define CAIRN_BODY_TARGET_SET (1u << 7)     // the velocity leads to a target within the next step
#define CAIRN_BODY_TARGET_REACHED (1u << 8) // the last step did: the next one starts at rest
#define CAIRN_BODY_TELEPORTS_SHIFT 9        // 3 bits: how often the pose was set, modulo 8
#define CAIRN_BODY_TELEPORTS_MASK 7u
#define CAIRN_BODY_OWNER_SHIFT 12 // 9 bits: 0, or one more than the slot of the owner
#define CAIRN_BODY_FLAGS_ALL 0x1fffffu

// The rest of a body, which as a rule no step writes.
typedef struct cairn_body {
    uint32_t kind;        // cairn_body_kind, plus CAIRN_BODY_NOT_ENABLED
    uint32_t allow_sleep; // 0 or 1
    uint32_t gyroscopic;  // 0 or 1
    uint32_t flags;       // cairn_body_locks, and CAIRN_BODY_MASS_SET and the others above
    uint32_t user;
    cairn_vec3 force;  // N, used up by the next step
    cairn_vec3 torque; // N m, used up by the next step
    cairn_vec3 centre; // of mass, in the body's frame
    float mass;        // 0 unless set, or dynamic and shaped
    float inverse_mass;
    cairn_sym3 inverse_inertia; // about the centre of mass, body axes
    float linear_damping;
    float angular_damping;
    float gravity_scale;
    uint32_t bullet; // 0 or 1
    uint32_t name;   // cairn_name_hash
} cairn_body;

static inline uint32_t body_kind(const cairn_body *body) {
    return body->kind & ~CAIRN_BODY_NOT_ENABLED;
}
static inline bool body_enabled(const cairn_body *body) {
    return (body->kind & CAIRN_BODY_NOT_ENABLED) == 0;
}

typedef enum cairn_sleep_state {
    CAIRN_SLEEP_NONE = 0,      // dynamic: awake; others: as they were
    CAIRN_SLEEP_ASLEEP = 1,    // dynamic only
    CAIRN_SLEEP_DISTURBED = 2, // not dynamic, and created or set since the last step
    CAIRN_SLEEP_WOKEN = 3,     // dynamic and awake, but asleep when the last step ended
} cairn_sleep_state;

typedef struct cairn_sleep {
    uint32_t state;      // cairn_sleep_state
    uint32_t ticks;      // in a row slower than `sleep_speed`, saturated at half a second
    uint32_t stay;       // ticks in a row close to the pose below, saturated; 0: that pose is zero
    cairn_vec3 position; // m, of its centre of mass when it began to stay there
    cairn_packed_rotation rotation;
    float squeeze; // how many times its mass the solver last took it for; 0: its own
} cairn_sleep;

// The state holds the vertices of a hull; sim/shape/hull.h describes what is derived from them.
typedef struct cairn_hull_vertices {
    uint32_t count;
    cairn_vec3 vertices[CAIRN_HULL_VERTICES_MAX]; // zero from count on
} cairn_hull_vertices;

// The data of meshes and height fields, in blocks: vertices, then indices, or heights. Blocks
// between two meshes are zero.
#define CAIRN_MESH_BLOCK_WORDS 64
typedef struct cairn_mesh_block {
    uint32_t words[CAIRN_MESH_BLOCK_WORDS];
} cairn_mesh_block;

typedef struct cairn_mesh_header {
    uint32_t kind; // cairn_mesh_kind
    uint32_t first_block;
    uint32_t block_count;
    uint32_t vertex_count;   // of a mesh
    uint32_t triangle_count; // of a mesh
    uint32_t dropped_count;  // triangles without area, which are not stored
    uint32_t columns;        // of a height field
    uint32_t rows;
    float spacing_x;
    float spacing_z;
} cairn_mesh_header;

typedef struct cairn_shape {
    uint32_t body; // slot
    cairn_geometry geometry;
    cairn_pose pose; // in the body's frame
    float density;
    float friction;
    float restitution;
    uint32_t category;
    uint32_t mask;
    uint32_t user;
    uint32_t name;  // cairn_name_hash
    uint32_t flags; // CAIRN_SHAPE_SENSOR and the others
    float static_friction;
    float rolling_resistance; // m
    float spin_resistance;    // m
    uint32_t friction_combine;
    uint32_t restitution_combine;
    cairn_vec3 surface_velocity; // m/s, in the body's frame
} cairn_shape;

// What a joint has besides its kind, frames and limits.
typedef enum cairn_joint_extent {
    CAIRN_JOINT_PLAIN = 0,       // nothing; solved in lanes
    CAIRN_JOINT_BREAKS = 1,      // a drive with the bounds at which it breaks; solved in lanes
    CAIRN_JOINT_DRIVEN = 2,      // a drive; solved by its rows (sim/constraint/joint_rows.h)
    CAIRN_JOINT_ARTICULATED = 3, // a drive; solved in joint coordinates (sim/articulation)
} cairn_joint_extent;

typedef struct cairn_joint {
    uint32_t kind;   // cairn_joint_kind
    uint32_t extent; // cairn_joint_extent
    uint32_t collide_connected;
    uint32_t user;
    uint32_t name;        // cairn_name_hash
    cairn_body_id body_a; // both live as long as the joint
    cairn_body_id body_b;
    cairn_vec3 anchor_a; // in the frame of body a
    cairn_vec3 anchor_b;
    float length;
    cairn_vec3 impulse; // N s, the last step's; a distance joint's along its axis, in x
    // N s, the part of it with which the next relax pass starts (CAIRN_SOLVER_SOFT_STEP).
    cairn_vec3 relax_impulse;
    // Hinge and cone, zero in other joints. Unit vectors in the frames of the bodies.
    cairn_vec3 axis_a;
    cairn_vec3 axis_b;
    cairn_vec3 normal_a;
    cairn_vec3 normal_b;
    float cone; // rad
    float lower;
    float upper;
    uint32_t limited;
    cairn_vec3 angular_impulse; // N m s, world: of the rows that align a hinge's axes
    float swing_impulse;        // N m s: of the swing limit; below, of the twist limits
    float lower_impulse;
    float upper_impulse;
} cairn_joint;

enum {
    CAIRN_DRIVE_DISABLED = 1u << 0,
    CAIRN_DRIVE_SPRING = 1u << 1,
    CAIRN_DRIVE_MOTOR = 1u << 2,
    CAIRN_DRIVE_STEERING = 1u << 3,
    CAIRN_DRIVE_BREAKABLE = 1u << 4,
    CAIRN_DRIVE_ARTICULATED = 1u << 5,
    CAIRN_DRIVE_FLAGS = (1u << 6) - 1
};

// Rows of one joint.
#define CAIRN_JOINT_ROWS_MAX 12

// The rest of a joint that is not plain; fields as in cairn_joint_def.
typedef struct cairn_joint_drive {
    uint32_t joint; // slot
    uint32_t flags; // CAIRN_DRIVE_...
    float hertz;
    float damping;
    float spring_hertz;
    float spring_damping;
    float target;
    cairn_vec3 target_position;
    cairn_quat target_rotation; // of length 1
    float motor_speed;
    cairn_vec3 motor_velocity;
    float motor_force;
    float motor_torque;
    float steering_hertz;
    float steering_damping;
    float steering_target;
    float steering_torque;
    float ratio;
    cairn_vec3 fixed_a;
    cairn_vec3 fixed_b;
    cairn_joint_row row;
    float break_force;
    float break_torque;
    float drive_stiffness; // these of articulated joints
    float drive_damping;
    cairn_vec3 drive_torque;
    float joint_friction;
    float armature;
    float phase; // rad, gear: how far b has turned too much
    // N s or N m s, of the rows in the last substep. Of an articulated joint: of the axes, of motor
    // and friction or of a limit; then their modes (cairn_axis_mode), as numbers.
    float impulses[CAIRN_JOINT_ROWS_MAX];
    cairn_vec3 reaction_force;  // N s, of all rows on b in the last substep
    cairn_vec3 reaction_torque; // N m s
} cairn_joint_drive;

typedef struct cairn_contact_point {
    uint32_t feature;
    float normal_impulse; // N s
} cairn_contact_point;

// A contact of two shapes, or the overlap of a sensor with a shape. Ids, not slots, so that the end
// event still names a destroyed shape.
typedef struct cairn_contact {
    cairn_shape_id shape_a; // index of a < index of b
    cairn_shape_id shape_b;
    cairn_body_id body_a;
    cairn_body_id body_b;
    // Of the contacts of a shape and a mesh or height field, one for each direction: 0, 1, 2, ...
    // Otherwise 0.
    uint32_t part;
    uint32_t axis_hint;   // cairn_collide's
    uint32_t point_count; // 0: one of the shapes is a sensor, and all below `colour` is zero
    // 1 + the colour it was last solved in; 0: none yet. With a sensor: 0 if that is shape a, 1 if
    // it is shape b.
    uint32_t colour;
    float margin; // m, the largest gap at which points were taken
    // The poses of the bodies for which the points were computed, reference poses or those of a
    // predicted impact: the displacement from a's centre of mass to b's in world axes, and both
    // rotations.
    cairn_vec3 reference_displacement;
    cairn_packed_rotation reference_rotation_a;
    cairn_packed_rotation reference_rotation_b;
    cairn_contact_point points[CAIRN_MANIFOLD_POINTS_MAX]; // zero from point_count on
    // N s. CAIRN_SOLVER_PGS: two of each point. CAIRN_SOLVER_SOFT_STEP: friction at the middle
    // of the points, as a world vector, N m s of twist about the normal, N m s of rolling
    // resistance as a world vector; the rest zero.
    float tangent_impulse[2 * CAIRN_MANIFOLD_POINTS_MAX];
} cairn_contact;

// Whether it is the overlap of a sensor, which pushes nothing and wakes nobody.
static inline bool contact_is_sensor(const cairn_contact *contact) {
    return contact->point_count == 0;
}

// Rules are read in blocks of words; the last one is filled up with zeros.
#define CAIRN_RULES_BLOCK_WORDS 16
typedef struct cairn_rules_block {
    uint32_t words[CAIRN_RULES_BLOCK_WORDS];
} cairn_rules_block;

// The largest element, for buffers.
#define CAIRN_ELEMENT_WORDS_MAX 385

// Typed views of one block.
typedef struct cairn_state {
    cairn_settings *settings;
    uint32_t *body_ids;
    uint32_t *shape_ids;
    uint32_t *joint_ids;
    uint32_t *hull_ids;
    uint32_t *mesh_ids;
    cairn_motion *motions;
    cairn_reference_pose *reference_poses;
    cairn_body *bodies;
    cairn_sleep *sleep;
    cairn_hull_vertices *hulls;
    cairn_mesh_header *meshes;
    cairn_mesh_block *mesh_blocks;
    cairn_shape *shapes;
    cairn_joint *joints;
    cairn_joint_drive *joint_drives;     // by slot of the joint, strictly increasing
    cairn_contact *contacts;             // by (index of a, index of b, part), strictly increasing
    cairn_contact_event *contact_events; // of the last step, as the public functions list them
    cairn_body_event *body_events;
    cairn_joint_event *joint_events;
    cairn_rules_block *rules;
} cairn_state;

// The def as the block stores it, and its gravity; everything else after it zero.
cairn_settings cairn_settings_of(const cairn_world_def *def);
// The def that the block stores; rules are NULL.
cairn_world_def cairn_def_of_settings(const cairn_settings *settings);
// Whether every count fits its capacity.
bool cairn_settings_counts_ok(const cairn_settings *settings);

// SPDX-License-Identifier: MIT
#pragma once

// The world: rigid bodies advanced in fixed ticks by projected Gauss-Seidel.
//
// Units everywhere in this room: metres, kilograms, seconds, radians, newtons, newton seconds.
// Three dimensions, right handed, single precision. Ticks are counts, never times.
//
// The contract (docs/DETERMINISM.md): the same start state and the same commands give the same
// full hash at every tick, on every build and machine, after a restore at any tick. No function
// here reads a clock, a file, an environment or a global; nothing but create allocates.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/limits.h"
#include <cairn/status.h>

// Bumped whenever any golden hash changes. Peers with different numbers never share a simulation.
#define CAIRN_SIM_VERSION 18

typedef struct cairn_vec3 {
    float x, y, z;
} cairn_vec3;

typedef struct cairn_quat {
    float x, y, z, w;
} cairn_quat;

// A rotation followed by a translation.
typedef struct cairn_pose {
    cairn_vec3 position;
    cairn_quat rotation; // unit length
} cairn_pose;

// Ids are slot index plus generation, equal on every machine; zero is null. The lowest free slot
// is taken first. Low 20 bits: index + 1; high 12 bits: generation, wraps.
typedef uint32_t cairn_body_id;
typedef uint32_t cairn_shape_id;
typedef uint32_t cairn_joint_id;
typedef uint32_t cairn_hull_id;

typedef struct cairn_world cairn_world;

// Whether this build rounds products before it adds: false when the compiler was allowed to fuse
// them, and then no two builds agree. For a peer's self-test.
bool cairn_float_contract_ok(void);

// ---------------------------------------------------------------------------------- commands

// What reaches a world from outside. Commands of one tick are ordered by (slot, sequence) before
// they are handed to step; the recording is nothing but these.
typedef enum cairn_command_kind {
    CAIRN_COMMAND_JOIN = 1,  // a player takes `slot`
    CAIRN_COMMAND_LEAVE = 2, // the player of `slot` is gone
    CAIRN_COMMAND_INPUT = 3, // what the player of `slot` holds during this tick
    // Edits of an operator, in slot CAIRN_SLOT_OPERATOR: done before the rules, which do not see
    // them. Spawned bodies are dynamic and at rest, of density 1000 kg/m^3 and friction 0.5. The
    // fields that a kind does not name are 0.
    CAIRN_COMMAND_SPAWN_BOX = 4,    // move: position, m; aim: half extents, m; buttons: user word
    CAIRN_COMMAND_SPAWN_SPHERE = 5, // move: position, m; aim.x: radius, m; buttons: user word
    CAIRN_COMMAND_DESTROY = 6,      // buttons: body id, as in what follows
    CAIRN_COMMAND_SET_POSITION = 7, // move: position, m; the body stays turned as it is
    CAIRN_COMMAND_SET_VELOCITY = 8, // move: linear, m/s; aim: angular, rad/s
    CAIRN_COMMAND_IMPULSE = 9,      // move: N s, at the centre of mass
    CAIRN_COMMAND_LAST = CAIRN_COMMAND_IMPULSE
} cairn_command_kind;

typedef struct cairn_command {
    uint32_t kind;     // cairn_command_kind
    uint32_t slot;     // 0 .. CAIRN_SLOTS_MAX - 1; of an edit CAIRN_SLOT_OPERATOR
    uint32_t sequence; // orders commands of one slot within one tick
    // Of JOIN, LEAVE and INPUT; their meaning is given by the rules.
    uint32_t buttons; // bit set
    cairn_vec3 move;  // finite, each component in [-1, 1]
    cairn_vec3 aim;   // finite, each component in [-1, 1]
} cairn_command;

_Static_assert(
    sizeof(cairn_command) == 40, "no padding: commands are copied and compared as bytes");

// Whether a command from outside may enter a world: known kind in a slot of its sort, floats finite
// and in range, of edits those of body and shape defs. Whether a body exists is not asked: a world
// leaves out and counts what it cannot do. CAIRN_OK, CAIRN_INVALID_ARGUMENT or CAIRN_NON_FINITE.
cairn_status cairn_command_check(const cairn_command *command);

// The total order (slot, kind, sequence, then every remaining field's bits); in the operator's slot
// (slot, sequence, kind, ...). Sorts in place, stable.
void cairn_commands_sort(cairn_command *commands, uint32_t count);

// Keyed hash of the sorted commands of one tick; what a peer compares before it compares roots.
cairn_hash128 cairn_commands_digest(uint64_t tick, const cairn_command *commands, uint32_t count);

// ------------------------------------------------------------------------------------- rules

// A game: a pure function called at the start of each step with that tick's JOINs, LEAVEs and
// INPUTs. Edits were done just before: any body may be gone or elsewhere. `state` is
// part of the world's block: saved, hashed, rolled back. It must hold no pointer, no padding that
// is not zero, and no -0 or NaN. Allowed: every cairn_body_, cairn_joint_ and query function on
// `world`, arithmetic by the contract, cairn_random_at. Not allowed: anything else outside `state`.
typedef struct cairn_rules {
    const char *name;    // ASCII, at most 31 characters
    uint32_t version;    // bump when behaviour changes
    uint32_t state_size; // bytes, multiple of 4, at most CAIRN_RULES_STATE_SIZE_MAX; read as u32
                         // words by hash and encoding
    void (*start)(
        cairn_world *world, void *state); // once, at create, after `state` was zeroed; may be NULL
    void (*step)(
        cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count);
} cairn_rules;

// The built-in rules that make the server useful with no code: each player of a slot drives a box
// (spawned at JOIN, removed at LEAVE) with `move` as a horizontal force, and the buttons below.
extern const cairn_rules cairn_rules_sandbox;

enum {
    CAIRN_SANDBOX_JUMP = 1u << 0,  // an upward impulse when something is beneath
    CAIRN_SANDBOX_PUSH = 1u << 1,  // an impulse along `aim` on the first body the aim ray meets
    CAIRN_SANDBOX_THROW = 1u << 2, // spawns a small sphere and throws it along `aim`
    CAIRN_SANDBOX_SPAWN = 1u << 3, // spawns a cube above the player
};

// ------------------------------------------------------------------------------------- world

typedef enum cairn_friction_model {
    CAIRN_FRICTION_COULOMB = 0,  // |friction impulse| <= mu * accumulated normal impulse
    CAIRN_FRICTION_CONSTANT = 1, // |friction force| <= mu * m_c * g: Catto 2005, section 6.3
} cairn_friction_model;

// How a step finds its impulses.
typedef enum cairn_solver {
    // Substeps of soft constraints, each followed by a pass that takes the added speed away again:
    // stiff, without added energy, wide. The default.
    CAIRN_SOLVER_SUBSTEPS = 0,
    // Catto 2005: sweeps over rows with Baumgarte's term and friction at each point; for the
    // results of that paper, and for friction_model, iterations and baumgarte, which only it reads.
    CAIRN_SOLVER_CLASSIC = 1,
} cairn_solver;

typedef struct cairn_world_def {
    uint32_t body_capacity;    // 1 .. CAIRN_BODIES_MAX
    uint32_t shape_capacity;   // 1 .. CAIRN_SHAPES_MAX
    uint32_t joint_capacity;   // 0 .. CAIRN_JOINTS_MAX
    uint32_t hull_capacity;    // 0 .. CAIRN_HULLS_MAX
    uint32_t contact_capacity; // shape pairs in touch; 1 .. CAIRN_CONTACTS_MAX
    uint32_t tick_rate_hz;     // CAIRN_TICK_RATE_HZ_MIN .. _MAX; a step is exactly 1.0f / this
    cairn_vec3 gravity;        // m/s^2
    uint32_t solver;           // cairn_solver
    uint32_t substeps;         // of CAIRN_SOLVER_SUBSTEPS, 1 .. 64
    uint32_t iterations;       // PGS sweeps over the velocity rows, 1 .. 255
    uint32_t friction_model;   // cairn_friction_model
    uint32_t warm_start;       // 0 or 1: start from the contact cache's impulses
    uint32_t sleep;            // 0 or 1: islands at rest fall asleep
    float baumgarte;           // beta * dt, the fraction of position error removed per step, (0, 1]
    float slop;                // m, penetration that is left alone
    float contact_hertz;       // stiffness of contacts, (0, 1000]; at most a quarter of the rate
                               // of substeps is used
    float contact_damping;     // damping ratio of contacts, [0, 100]
    float joint_hertz;         // likewise of joints
    float joint_damping;       //
    float restitution_threshold; // m/s, slower approaches do not bounce
    uint64_t seed;               // cairn_random_at's first argument, for rules
    const cairn_rules *rules;    // NULL: none. Must outlive the world
} cairn_world_def;

// Defaults: 1024 bodies, 1024 shapes, 256 joints, 64 hulls, 8192 contacts, 60 Hz, gravity (0,
// -9.81, 0), and the solver settings that the stability tests run with. Change fields, then create.
cairn_world_def cairn_world_def_default(void);

// Allocates everything the world will ever need. On failure *out is NULL: CAIRN_INVALID_ARGUMENT,
// CAIRN_NON_FINITE or CAIRN_OUT_OF_MEMORY. Pair with cairn_world_destroy.
cairn_status cairn_world_create(const cairn_world_def *def, cairn_world **out);
void cairn_world_destroy(cairn_world *world); // NULL is allowed

// A new world with the def, the state and the lanes of `from`: both go on to equal hashes. No stage
// probe, no helpers and no events go along. Costs what lives in the world, not what it has room
// for; `from` must not be stepped meanwhile. CAIRN_OUT_OF_MEMORY: *out is NULL. Pair with
// cairn_world_destroy.
cairn_status cairn_world_fork(const cairn_world *from, cairn_world **out);
// Makes the state of `to` that of `from`, as a load of its save would: allocates nothing, and
// writes only what differs. CAIRN_INVALID_ARGUMENT when the defs are not equal; `to` is unchanged.
cairn_status cairn_world_copy(cairn_world *to, const cairn_world *from);

// The def the world was created with.
const cairn_world_def *cairn_world_settings(const cairn_world *world);

// Advances one tick. `commands` must be sorted (cairn_commands_sort) and each must have passed
// cairn_command_check; both are asserted.
void cairn_world_step(cairn_world *world, const cairn_command *commands, uint32_t command_count);

// Many hands for one step. `run` calls task(argument, worker) for each worker from 0 to `workers` -
// 1 exactly once, worker 0 on the calling thread, and returns when all have returned; the others
// may run at the same time, later, or one after the other: a step waits for none that has not begun
// its share. A pool of threads is in workers/pool.h.
typedef struct cairn_parallel {
    void *context;
    uint32_t workers; // 1 .. 64
    void (*run)(void *context, void (*task)(void *argument, uint32_t worker), void *argument,
        uint32_t workers);
} cairn_parallel;

// From now on steps of this world are shared out so; NULL, as after create: the caller alone.
// Copied. Bits do not depend on it. Small worlds are stepped by the caller alone in any case. No
// part of the state. CAIRN_INVALID_ARGUMENT: no function, or a number of workers out of range.
cairn_status cairn_world_set_parallel(cairn_world *world, const cairn_parallel *parallel);

// How many constraints a step solves side by side: 1, 4, 8 or 16; 0, as after create: what suits
// this CPU best. Bits do not depend on it. Allocates. CAIRN_INVALID_ARGUMENT: another number, or a
// width that this build or this CPU has no kernel for (1 and 4 always exist);
// CAIRN_OUT_OF_MEMORY leaves the world as it was. No part of the state.
cairn_status cairn_world_set_lanes(cairn_world *world, uint32_t lanes);
uint32_t cairn_world_lanes(const cairn_world *world);

// The stages of a step, as a stage probe is told of them.
typedef enum cairn_stage {
    CAIRN_STAGE_RULES = 0, // commands, and whether there is anything to do at all
    CAIRN_STAGE_PAIRS,     // poses and boxes of shapes, candidate pairs
    CAIRN_STAGE_COLLIDE,   // manifolds and the contact list
    CAIRN_STAGE_ISLANDS,   // islands, waking, contact events, falling asleep
    CAIRN_STAGE_PREPARE,   // constraints of contacts and joints
    CAIRN_STAGE_SOLVE,     // impulses, and their storing
    CAIRN_STAGE_INTEGRATE, // velocities from forces, poses from velocities
    CAIRN_STAGE_COUNT
} cairn_stage;

// For benchmarks: `probe` is called with `context` when a stretch of work on a stage (cairn_stage)
// ends, once or several times a step for each; what lies between two calls belongs to the stage of
// the later one. NULL, as after create: none. It must not touch the world. No part of the state.
void cairn_world_set_stage_probe(
    cairn_world *world, void (*probe)(void *context, uint32_t stage), void *context);

// Ticks stepped since the world was created (or what the loaded state says).
uint64_t cairn_world_tick(const cairn_world *world);

// What happened to capacities and bad bodies since create; part of the hashed state.
typedef struct cairn_world_counters {
    uint32_t contacts_dropped;   // pairs in touch that found no contact slot, last in order first,
                                 // and candidate pairs beyond four times as many
    uint32_t creates_refused;    // body, shape, joint or hull creates refused for capacity
    uint32_t bodies_quarantined; // bodies that became non-finite, farther than 1e7 m or faster than
                                 // 1e6 m/s or rad/s: put to rest where they last were sound, made
                                 // static, and reported
    uint32_t edits_refused;      // edits (cairn_command_kind) that named no body or drove it out of
                                 // range; those without room are creates_refused
} cairn_world_counters;
cairn_world_counters cairn_world_counters_read(const cairn_world *world);

typedef struct cairn_world_counts {
    uint32_t bodies;       // all that exist
    uint32_t bodies_awake; // dynamic and awake
    uint32_t shapes;
    uint32_t joints;
    uint32_t hulls;
    uint32_t contacts; // shape pairs in touch: the gap is at most 1 cm
    uint32_t contact_points;
} cairn_world_counts;
cairn_world_counts cairn_world_counts_read(const cairn_world *world);

// ------------------------------------------------------------------------------------ bodies

typedef enum cairn_body_kind {
    CAIRN_BODY_STATIC = 0,    // never moves
    CAIRN_BODY_KINEMATIC = 1, // moves by its velocity, pushes, is not pushed
    CAIRN_BODY_DYNAMIC = 2,
} cairn_body_kind;

typedef struct cairn_body_def {
    uint32_t kind;               // cairn_body_kind
    cairn_vec3 position;         // of the body's origin; |component| <= 1e5
    cairn_quat rotation;         // normalised at create; length must be in [0.9, 1.1]
    cairn_vec3 linear_velocity;  // of the centre of mass; |component| <= 1e4
    cairn_vec3 angular_velocity; // |component| <= 1e4
    float linear_damping;        // 1/s, >= 0
    float angular_damping;       // 1/s, >= 0
    float gravity_scale;         // finite
    uint32_t allow_sleep;        // 0 or 1
    uint32_t user;               // the caller's, hashed and carried along
} cairn_body_def;

cairn_body_def cairn_body_def_default(void); // dynamic, at the origin, at rest
// Creates a body without shapes (a dynamic one gets its mass from shapes, and until it has one
// moves on unforced like a kinematic one). CAIRN_CAPACITY, CAIRN_INVALID_ARGUMENT or
// CAIRN_NON_FINITE leave *out null.
cairn_status cairn_body_create(cairn_world *world, const cairn_body_def *def, cairn_body_id *out);
// Destroys the body, its shapes, its joints; wakes what it touched. CAIRN_NOT_FOUND on a stale id.
cairn_status cairn_body_destroy(cairn_world *world, cairn_body_id body);
bool cairn_body_exists(const cairn_world *world, cairn_body_id body);

typedef struct cairn_body_state {
    cairn_body_id id;
    uint32_t kind;
    cairn_vec3 position; // of the body's origin
    cairn_quat rotation;
    cairn_vec3 linear_velocity; // of the centre of mass
    cairn_vec3 angular_velocity;
    uint32_t awake; // 0 or 1
    uint32_t user;
} cairn_body_state;

cairn_status cairn_body_read(const cairn_world *world, cairn_body_id body, cairn_body_state *out);
// All bodies in order of id index; returns how many there are, writes at most `capacity`.
uint32_t cairn_world_bodies(const cairn_world *world, cairn_body_state *out, uint32_t capacity);
float cairn_body_mass(const cairn_world *world, cairn_body_id body); // kg; 0 for static and unknown

// Puts the body there and does nothing else: neither it nor what it touches wakes, and the rotation
// is stored as it is given, not made unit. For worlds that are asked (ray casts, overlaps), not
// stepped: before the next step load or copy a state. CAIRN_NOT_FOUND; CAIRN_NON_FINITE and
// CAIRN_INVALID_ARGUMENT as of a pose that any body may have come to: |component| <= 1e7.
cairn_status cairn_body_place(cairn_world *world, cairn_body_id body, cairn_pose pose);
// These wake the body. Values are checked like the def's.
cairn_status cairn_body_set_pose(cairn_world *world, cairn_body_id body, cairn_pose pose);
cairn_status cairn_body_set_velocity(
    cairn_world *world, cairn_body_id body, cairn_vec3 linear, cairn_vec3 angular);
cairn_status cairn_body_apply_impulse( // N s, at a world point
    cairn_world *world, cairn_body_id body, cairn_vec3 impulse, cairn_vec3 point);
cairn_status cairn_body_apply_impulse_at_centre(
    cairn_world *world, cairn_body_id body, cairn_vec3 impulse);
// N and N m, used up by the next step.
cairn_status cairn_body_apply_force(
    cairn_world *world, cairn_body_id body, cairn_vec3 force, cairn_vec3 torque);

// ------------------------------------------------------------------------------------- hulls

// A convex polyhedron that any number of shapes may share. It is made from a cloud of points, of
// which the corners become its vertices, in the order given and bit for bit; the others are
// dropped.

// Makes the hull of `count` points (4 .. CAIRN_HULL_POINTS_MAX; m, |coordinate| <= 1e4).
// CAIRN_NON_FINITE, CAIRN_CAPACITY, or CAIRN_INVALID_ARGUMENT when the points are too few, too
// many, flat, too close together, or have more than CAIRN_HULL_VERTICES_MAX corners
// (cairn_hull_refusal says which); *out is then null. Takes some milliseconds for a hundred points.
cairn_status cairn_hull_create(
    cairn_world *world, const cairn_vec3 *points, uint32_t count, cairn_hull_id *out);
// Why cairn_hull_create would refuse these points in any world, as a static text; NULL when it
// would not.
const char *cairn_hull_refusal(const cairn_vec3 *points, uint32_t count);
// CAIRN_NOT_FOUND on a stale id, CAIRN_WRONG_STATE while a shape uses it: destroy the shape first.
cairn_status cairn_hull_destroy(cairn_world *world, cairn_hull_id hull);
// Its vertices and how many there are; made into a hull again they give the same one.
// CAIRN_NOT_FOUND on a stale id.
cairn_status cairn_hull_read(const cairn_world *world, cairn_hull_id hull,
    cairn_vec3 vertices[CAIRN_HULL_VERTICES_MAX], uint32_t *count);
// Ids of all hulls in order of index; returns how many there are, writes at most `capacity`.
uint32_t cairn_world_hulls(const cairn_world *world, cairn_hull_id *out, uint32_t capacity);

// ------------------------------------------------------------------------------------ shapes

typedef enum cairn_shape_kind {
    CAIRN_SHAPE_SPHERE = 1,     // radius
    CAIRN_SHAPE_CAPSULE = 2,    // radius, half_height between the sphere centres, along local y
    CAIRN_SHAPE_BOX = 3,        // half_extents
    CAIRN_SHAPE_HALF_SPACE = 4, // solid below the local plane y = 0; static bodies only
    CAIRN_SHAPE_HULL = 5,       // hull
} cairn_shape_kind;

typedef struct cairn_shape_def {
    uint32_t kind;           // cairn_shape_kind
    cairn_vec3 half_extents; // m, box: each in [1e-3, 1e4]
    float radius;            // m, sphere and capsule: [1e-3, 1e4]
    float half_height;       // m, capsule: [1e-3, 1e4]
    cairn_hull_id hull;      // hull: its corners are in the shape's frame
    cairn_pose pose;         // in the body's frame
    float density;           // kg/m^3, > 0, at most 1e6
    float friction;          // >= 0; a pair takes the geometric mean
    float restitution;       // [0, 1]; a pair takes the larger
    uint32_t category;       // collision filter: a pair collides when each one's category
    uint32_t mask;           // meets the other's mask
    uint32_t user;
} cairn_shape_def;

cairn_shape_def cairn_shape_def_default(
    void); // unit box of density 1000, friction 0.5, everything collides
// Adds a shape and recomputes the body's mass, centre and inertia. CAIRN_NOT_FOUND when the body or
// the hull does not exist; CAIRN_INVALID_ARGUMENT, CAIRN_NON_FINITE or CAIRN_CAPACITY.
cairn_status cairn_shape_create(
    cairn_world *world, cairn_body_id body, const cairn_shape_def *def, cairn_shape_id *out);
cairn_status cairn_shape_destroy(cairn_world *world, cairn_shape_id shape);
cairn_status cairn_shape_read(
    const cairn_world *world, cairn_shape_id shape, cairn_shape_def *def, cairn_body_id *body);
// Ids of all shapes in order of index; returns how many there are, writes at most `capacity`.
uint32_t cairn_world_shapes(const cairn_world *world, cairn_shape_id *out, uint32_t capacity);

// ------------------------------------------------------------------------------------ joints

typedef enum cairn_joint_kind {
    CAIRN_JOINT_BALL = 1,     // the two anchors coincide (block-solved, Catto 2006)
    CAIRN_JOINT_DISTANCE = 2, // the two anchors stay `length` apart
    CAIRN_JOINT_HINGE = 3,    // a ball whose two axes stay together
    CAIRN_JOINT_CONE = 4,     // a ball whose two axes stay within `cone` of each other
} cairn_joint_kind;

typedef struct cairn_joint_def {
    uint32_t kind; // cairn_joint_kind
    cairn_body_id body_a;
    cairn_body_id body_b;
    cairn_vec3 anchor_a;        // in body a's frame, m
    cairn_vec3 anchor_b;        // in body b's frame, m
    float length;               // m, distance joint: [0, 1e4]
    uint32_t collide_connected; // 0 or 1
    // Hinge and cone; the other kinds ignore what follows. The angle of a joint is how far b is
    // turned about its axis: 0 where the normals meet, growing from a's to b's by the right hand,
    // after b's axis was swung back onto a's the short way.
    cairn_vec3 axis_a; // in body a's frame; length in [0.9, 1.1], made unit at create
    cairn_vec3 axis_b; // in body b's frame, likewise
    cairn_vec3
        normal_a; // likewise, and across axis_a: at most 0.1 of it along, taken off at create
    cairn_vec3 normal_b; // likewise, across axis_b
    float cone;          // rad, cone: the largest angle between the axes, [0, pi]
    float lower;         // rad, bounds of the angle where `limited`: -pi <= lower <= upper <= pi
    float upper;         //
    uint32_t limited;    // 0 or 1: the angle stays in [lower, upper]
} cairn_joint_def;

// A ball joint; axes x, normals y, a cone of pi, no limits.
cairn_joint_def cairn_joint_def_default(void);
// Joins two bodies and wakes them. CAIRN_NOT_FOUND for a body that does not exist, CAIRN_CAPACITY,
// CAIRN_INVALID_ARGUMENT or CAIRN_NON_FINITE leave *out null.
cairn_status cairn_joint_create(
    cairn_world *world, const cairn_joint_def *def, cairn_joint_id *out);
cairn_status cairn_joint_destroy(cairn_world *world, cairn_joint_id joint);
// The distance by which the joint is violated now, m.
cairn_status cairn_joint_error(const cairn_world *world, cairn_joint_id joint, float *out);
// The def as it was understood: fields that the kind ignores are 0.
cairn_status cairn_joint_read(const cairn_world *world, cairn_joint_id joint, cairn_joint_def *def);

typedef struct cairn_joint_angles {
    float swing; // rad, between the two axes, [0, pi]
    float twist; // rad, of b about its axis, [-pi, pi]: what `lower` and `upper` bound
} cairn_joint_angles;

// How a hinge or cone stands now. CAIRN_NOT_FOUND, and CAIRN_INVALID_ARGUMENT for other kinds.
cairn_status cairn_joint_angles_read(
    const cairn_world *world, cairn_joint_id joint, cairn_joint_angles *out);

// ------------------------------------------------------------------------- events and queries

typedef enum cairn_contact_event_kind {
    CAIRN_CONTACT_BEGIN = 1,
    CAIRN_CONTACT_END = 2,
} cairn_contact_event_kind;

typedef struct cairn_contact_event {
    uint32_t kind;          // cairn_contact_event_kind
    cairn_shape_id shape_a; // index of a < index of b
    cairn_shape_id shape_b;
    cairn_body_id body_a;
    cairn_body_id body_b;
} cairn_contact_event;

// The last step's events, ends first, each kind by (shape a, shape b). The array is the world's
// and lasts until the next step, load or decode. A destroyed shape's contacts end at the next step.
const cairn_contact_event *cairn_world_contact_events(const cairn_world *world, uint32_t *count);

typedef struct cairn_ray_hit {
    cairn_shape_id shape;
    cairn_body_id body;
    cairn_vec3 point;
    cairn_vec3 normal;
    float fraction; // along `translation`, [0, 1]
} cairn_ray_hit;

// The nearest hit (ties: lower shape index). CAIRN_NOT_FOUND when nothing is met. A ray that starts
// inside a shape hits it with fraction 0 and the reversed direction as normal.
cairn_status cairn_world_ray_cast(const cairn_world *world, cairn_vec3 origin,
    cairn_vec3 translation, uint32_t mask, cairn_body_id ignored, cairn_ray_hit *out);

// Shapes that overlap `shape` (its kind and sizes) at `pose`, in order of index. Returns how many
// there are, writes at most `capacity`. Zero for an invalid shape.
uint32_t cairn_world_overlap(const cairn_world *world, const cairn_shape_def *shape,
    cairn_pose pose, uint32_t mask, cairn_shape_id *out, uint32_t capacity);

// ------------------------------------------------------------------------------------- state

// Save and load are copies of the live ranges of one pointer-free block: for rollback, in this
// process and build. Encode and decode are the canonical little-endian form that travels.

size_t cairn_world_save_size(const cairn_world *world);     // bytes that save would write now
size_t cairn_world_save_size_max(const cairn_world *world); // bytes that it can ever write
// Returns the bytes written, 0 when `size` is too small.
size_t cairn_world_save(const cairn_world *world, void *bytes, size_t size);
// `bytes` must come from cairn_world_save of a world with equal def. CAIRN_MALFORMED otherwise, and
// the world is unchanged.
cairn_status cairn_world_load(cairn_world *world, const void *bytes, size_t size);

size_t cairn_world_encode_size(const cairn_world *world); // bytes that encode would write now
size_t cairn_world_encode(const cairn_world *world, void *bytes, size_t size);
// Hostile bytes are welcome: every range, id, count and float is checked, and a refusal leaves the
// world unchanged. CAIRN_MALFORMED, CAIRN_VERSION_MISMATCH, CAIRN_NON_FINITE, CAIRN_CAPACITY.
// `where` (may be NULL) receives a static text that names the section and field refused.
cairn_status cairn_world_decode(
    cairn_world *world, const void *bytes, size_t size, const char **where);
// The def (settings and capacities) at the head of an encoding, so that a receiver can create the
// world to decode into. rules is NULL in the result; the rules' name, version and size are checked
// by decode.
cairn_status cairn_world_def_of_encoding(
    const void *bytes, size_t size, cairn_world_def *out, char rules_name[32]);

// ------------------------------------------------------------------------- hash and difference

typedef enum cairn_section {
    CAIRN_SECTION_SETTINGS = 0, // def, tick, counters
    CAIRN_SECTION_BODIES,
    CAIRN_SECTION_SHAPES,
    CAIRN_SECTION_JOINTS,
    CAIRN_SECTION_CONTACTS,
    CAIRN_SECTION_SLEEP,
    CAIRN_SECTION_IDS,
    CAIRN_SECTION_RULES,
    CAIRN_SECTION_COUNT
} cairn_section;

typedef struct cairn_world_hash {
    cairn_hash128 visible; // ids, poses and velocities of all bodies
    cairn_hash128 full;    // everything a restore needs
    cairn_hash128 sections[CAIRN_SECTION_COUNT];
} cairn_world_hash;

// Costs what has changed since it was last asked for: what sleeps is remembered. The memory is the
// world's, so two threads must not ask the same world at once.
cairn_world_hash cairn_world_hash_read(const cairn_world *world);
const char *cairn_section_name(cairn_section section);

// One field that two worlds hold differently.
typedef struct cairn_difference {
    cairn_section section;
    uint32_t element;  // id index of the body, shape, joint or contact slot; 0 where there is none
    const char *field; // static text, e.g. "linear_velocity.y"
    uint32_t bits_a;
    uint32_t bits_b;
} cairn_difference;

// Writes the first `capacity` differences in order of section, element, field; returns how many
// there are in all. Zero if and only if the full hashes' inputs are equal.
uint32_t cairn_world_diff(
    const cairn_world *a, const cairn_world *b, cairn_difference *out, uint32_t capacity);

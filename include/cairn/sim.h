// SPDX-License-Identifier: MIT
#pragma once

// The world: rigid bodies advanced in fixed ticks.
//
// The contract (docs/DETERMINISM.md): the same start state and the same commands give the same
// full hash at every tick, on every build and machine, after a restore at any tick. No function
// here reads a clock, a file, an environment variable or a global; only create, fork and
// set_lanes allocate. Pointers must not be NULL unless a comment allows it (cairn/types.h).

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/events.h>
#include <cairn/joint.h>
#include <cairn/rules.h>
#include <cairn/status.h>
#include <cairn/types.h>
#include <cairn/version.h>

#ifdef __cplusplus
extern "C" {
#endif

// Whether this build rounds a product before it adds it. False if the compiler fuses the two
// (-ffp-contract): results then differ from other builds. For a peer's self-test.
bool cairn_float_contract_ok(void);

// ------------------------------------------------------------------------------------- world

// Creates a world and allocates all memory that it needs, except for fork and set_lanes. On failure
// *out is NULL. CAIRN_INVALID_ARGUMENT or CAIRN_NON_FINITE: a setting is outside its range.
// CAIRN_OUT_OF_MEMORY: lower the capacities. Pair with cairn_world_destroy.
cairn_status cairn_world_create(const cairn_world_def *def, cairn_world **out);
void cairn_world_destroy(cairn_world *world); // NULL is allowed

// A new world with the def, the state and the lanes of `from`: stepped alike, both have equal
// hashes. Stage probe and parallel execution are not copied. The cost depends on what
// exists in the world, not on its capacities. No other thread may step `from` during the call.
// CAIRN_OUT_OF_MEMORY: *out is NULL. Pair with cairn_world_destroy.
cairn_status cairn_world_fork(const cairn_world *from, cairn_world **out);
// Copies the state of `from` into `to`, as a load of its save would. Allocates nothing and writes
// only what differs. CAIRN_INVALID_ARGUMENT, and `to` is unchanged: the defs are not equal.
cairn_status cairn_world_copy(cairn_world *to, const cairn_world *from);

// The def the world was created with.
const cairn_world_def *cairn_world_settings(const cairn_world *world);

// Advances one tick. `commands` must be sorted (cairn_commands_sort) and each must have passed
// cairn_command_check; both are asserted.
void cairn_world_step(cairn_world *world, const cairn_command *commands, uint32_t command_count);

// Runs the tasks of a stage of a step in parallel. `run` calls task(argument, worker) for each
// worker from 0 to `workers` - 1 exactly once, worker 0 on the calling thread, and returns when all
// have returned. The other workers may run at the same time, later, or one after the other: their
// tasks take their shares of stages that are not yet done, and return when there was none for some
// milliseconds. A step of a large world calls `run` once. workers/pool.h has a thread pool.
typedef struct cairn_parallel {
    void *context;
    uint32_t workers; // 1 .. 64; `run` may be called with fewer
    void (*run)(void *context, void (*task)(void *argument, uint32_t worker), void *argument,
        uint32_t workers);
    // May be NULL. A worker calls it again and again while another one does not finish what it has
    // begun for more than some tens of microseconds: the system may have taken its processor.
    // `first`: it is the first call of this wait. May yield the processor or sleep briefly.
    void (*wait)(void *context, bool first);
} cairn_parallel;

// Makes later steps of this world run in parallel; NULL, the default: on the calling thread only.
// `parallel` is copied; its context must outlive its use. Results do not depend on it. Small worlds
// are always stepped on the calling thread only. Not part of the state. CAIRN_INVALID_ARGUMENT: no
// function, or a number of workers out of range.
cairn_status cairn_world_set_parallel(cairn_world *world, const cairn_parallel *parallel);

// Sets how many constraints a step solves in one SIMD vector: 1, 4, 8 or 16; 0, the default: the
// width that is fastest on this CPU. Results do not depend on it. Allocates. On failure the world
// is unchanged. CAIRN_INVALID_ARGUMENT: another number, or a width that this build or this CPU has
// no kernel for (1 and 4 always exist). CAIRN_OUT_OF_MEMORY. Not part of the state.
cairn_status cairn_world_set_lanes(cairn_world *world, uint32_t lanes);
uint32_t cairn_world_lanes(const cairn_world *world); // the width in use

// The stages of a step, as a stage probe receives them.
typedef enum cairn_stage {
    CAIRN_STAGE_RULES = 0, // commands and rules, and the check whether anything can change
    CAIRN_STAGE_PAIRS,     // shape transforms and AABBs, candidate pairs
    CAIRN_STAGE_COLLIDE,   // manifolds and the contact list
    CAIRN_STAGE_ISLANDS,   // islands, waking, contact events, falling asleep
    CAIRN_STAGE_PREPARE,   // constraints of contacts and joints
    CAIRN_STAGE_SOLVE,     // impulses computed and stored
    CAIRN_STAGE_INTEGRATE, // velocities from forces, poses from velocities
    CAIRN_STAGE_COUNT
} cairn_stage;

// For benchmarks: the world calls `probe` with `context` when a part of a stage (cairn_stage) ends,
// once or several times per step and stage. The time between two calls belongs to the stage of the
// later one. NULL, the default: no probe. It must not touch the world. Not part of the state.
void cairn_world_set_stage_probe(
    cairn_world *world, void (*probe)(void *context, uint32_t stage), void *context);

// The state of the rules, to be read: of a server's world, a client's (cairn_client_world) and a
// replay's (cairn_player_world) alike, where its layout is the rules' own. *size: bytes. NULL
// without rules or if they have no state. Valid until the world is stepped, loaded or destroyed.
const void *cairn_world_rules_state(const cairn_world *world, uint32_t *size);

// Ticks stepped since the world was created, or the tick of the state that was loaded.
uint64_t cairn_world_tick(const cairn_world *world);

// Overflows and faults since create; part of the hashed state.
typedef struct cairn_world_counters {
    uint32_t contacts_dropped; // touching pairs beyond contact_capacity (the last in order are
                               // dropped), and candidate pairs beyond four times as many
    uint32_t
        creates_refused; // bodies, shapes, joints, hulls or meshes not created for lack of capacity
    uint32_t bodies_disabled; // bodies that became non-finite, more distant than 1e7 m or faster
                              // than 1e6 m/s or rad/s: each was stopped at its last valid pose
                              // and made static
    uint32_t edits_refused;   // edits (cairn_command_kind) that named no body or would have moved
                              // it out of range; for lack of capacity see creates_refused
    uint32_t events_dropped;  // contact events beyond event_capacity (the last in order)
    uint32_t
        solver_fallbacks; // steps in which CAIRN_SOLVER_DIRECT could not solve a part of the world
} cairn_world_counters;
cairn_world_counters cairn_world_counters_read(const cairn_world *world);

typedef struct cairn_world_counts {
    uint32_t bodies;       // all that exist
    uint32_t bodies_awake; // dynamic and awake
    uint32_t shapes;
    uint32_t joints;
    uint32_t hulls;
    uint32_t meshes;   // and height fields
    uint32_t contacts; // shape pairs whose gap is at most 1 cm, or closes within the tick
    uint32_t contact_points;
} cairn_world_counts;
// In a time that grows with all that there is.
cairn_world_counts cairn_world_counts_read(const cairn_world *world);

typedef struct cairn_world_population {
    uint32_t bodies;       // all that exist
    uint32_t bodies_awake; // dynamic and awake
    uint32_t contacts;     // pairs of shapes that touch or are near, and of sensors with others
} cairn_world_population;
// In a time that grows with what is awake, so that a large world may be asked in every tick.
cairn_world_population cairn_world_population_read(const cairn_world *world);

// ------------------------------------------------------------------------------------ bodies

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
    uint32_t gyroscopic; // 0 or 1: with gyroscopic torque. Without it a body keeps its angular
                         // velocity, with it its angular momentum, so it may tumble
    uint32_t user;       // the caller's, hashed and carried along
    uint32_t name;       // cairn_name_hash; 0: none. See cairn_world_find_bodies
    uint32_t locks;      // cairn_body_locks; the velocity along them becomes 0
    uint32_t disabled;   // 0 or 1, see cairn_body_set_enabled; no velocity then
    uint32_t bullet; // 0 or 1: swept against moving bodies as well; else only against what stands
} cairn_body_def;

cairn_body_def cairn_body_def_default(void); // dynamic, at the origin, at rest
// Creates a body without shapes. A dynamic body gets its mass from its shapes; until it has one it
// moves like a kinematic body. CAIRN_CAPACITY, CAIRN_INVALID_ARGUMENT or CAIRN_NON_FINITE set *out
// to null.
cairn_status cairn_body_create(cairn_world *world, const cairn_body_def *def, cairn_body_id *out);
// Destroys the body, its shapes and its joints; wakes the bodies it touched. CAIRN_NOT_FOUND on a
// stale id.
cairn_status cairn_body_destroy(cairn_world *world, cairn_body_id body);
bool cairn_body_exists(const cairn_world *world, cairn_body_id body);

// How many of an operator's commands make up the first edit: its parts (cairn_command_kind) and the
// command that they belong to. 0 if count is 0.
uint32_t cairn_edit_command_count(const cairn_command *commands, uint32_t count);

// What an edit made; what it did not make is null, or none.
typedef struct cairn_edit_made {
    cairn_body_id body;
    cairn_joint_id joint;
    cairn_body_id pieces[CAIRN_FRACTURE_PIECES_MAX]; // of a body that it broke
    uint32_t piece_count;
} cairn_edit_made;

// Applies an edit of an operator at once, as the next step would: its parts and the command that
// they belong to, each of which has passed cairn_command_check, which is asserted. The status is
// that of the function that the edit stands for, CAIRN_INVALID_ARGUMENT if the parts are not those
// of the command. A server asks a fork of its world whether an edit is possible.
cairn_status cairn_world_apply_edit(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_edit_made *made);

typedef struct cairn_body_state {
    cairn_body_id id;
    uint32_t kind;
    cairn_vec3 position; // of the body's origin
    cairn_quat rotation;
    cairn_vec3 linear_velocity; // of the centre of mass
    cairn_vec3 angular_velocity;
    uint32_t awake; // 0 or 1
    uint32_t user;
    uint32_t enabled;   // 0 or 1
    uint32_t owner;     // slot of a player, or CAIRN_SLOT_NONE
    uint32_t teleports; // how often cairn_body_set_pose moved it, modulo 8
} cairn_body_state;

// Reads the state of one body. CAIRN_NOT_FOUND on a stale id.
cairn_status cairn_body_read(const cairn_world *world, cairn_body_id body, cairn_body_state *out);
// Writes the states of all bodies in order of id index, at most `capacity`. Returns how many bodies
// there are.
uint32_t cairn_world_bodies(const cairn_world *world, cairn_body_state *out, uint32_t capacity);
float cairn_body_mass(const cairn_world *world, cairn_body_id body); // kg; 0 for static and unknown

// Sets the pose and does nothing else: no body wakes, and the rotation is stored as given, not
// normalised. For worlds that are queried (ray casts, overlaps) and not stepped: load or copy a
// state before the next step. CAIRN_NOT_FOUND; CAIRN_NON_FINITE or CAIRN_INVALID_ARGUMENT for a
// pose that no simulated body may have: |component| <= 1e7.
cairn_status cairn_body_place(cairn_world *world, cairn_body_id body, cairn_pose pose);
// The calls below wake the body, as long as it is enabled. On failure they change nothing:
// CAIRN_NOT_FOUND for a stale id; CAIRN_NON_FINITE; CAIRN_INVALID_ARGUMENT for a number outside the
// ranges of cairn_body_def. Rules may call them in a step, and any caller between steps.

// Puts the body elsewhere: clients show it there at once, without a way between. What moves
// continuously gets velocities or targets.
cairn_status cairn_body_set_pose(cairn_world *world, cairn_body_id body, cairn_pose pose);
// A component along a locked axis becomes 0. CAIRN_WRONG_STATE: the body is not enabled.
cairn_status cairn_body_set_velocity(
    cairn_world *world, cairn_body_id body, cairn_vec3 linear, cairn_vec3 angular);
// Of a kinematic body: gives it the velocities that take it to `pose` within the next step, so that
// what stands on it or lies in its way feels them. It stops there, unless it gets another target or
// velocity before the step after that. The rotation takes the shorter way. CAIRN_WRONG_STATE: the
// body is not kinematic or not enabled. CAIRN_INVALID_ARGUMENT: the way is longer than a body of
// CAIRN_SPEED_MAX can go in one step.
cairn_status cairn_body_set_target(cairn_world *world, cairn_body_id body, cairn_pose pose);

// Impulses and forces. They act on dynamic bodies; on others they do nothing. CAIRN_WRONG_STATE:
// the body is not enabled.
cairn_status cairn_body_apply_impulse( // N s, at a world point
    cairn_world *world, cairn_body_id body, cairn_vec3 impulse, cairn_vec3 point);
cairn_status cairn_body_apply_impulse_at_centre(
    cairn_world *world, cairn_body_id body, cairn_vec3 impulse);
cairn_status cairn_body_apply_angular_impulse( // N m s
    cairn_world *world, cairn_body_id body, cairn_vec3 impulse);
// N at the centre of mass and N m, applied during the next step only.
cairn_status cairn_body_apply_force(
    cairn_world *world, cairn_body_id body, cairn_vec3 force, cairn_vec3 torque);
// Applies a force, N, at a world point, during the next step only. The torque follows from where
// the point and the centre of mass are at the time of the call.
cairn_status cairn_body_apply_force_at(
    cairn_world *world, cairn_body_id body, cairn_vec3 force, cairn_vec3 point);

// Setters of what cairn_body_def describes, and cairn_body_read_def for what is set now: a def that
// would create the body as it is, without its shapes, its mass and its owner. CAIRN_NOT_FOUND: *out
// is zeros.
cairn_status cairn_body_read_def(const cairn_world *world, cairn_body_id body, cairn_body_def *out);
// Its velocity becomes 0 if it becomes static, and contacts are found again. CAIRN_WRONG_STATE: it
// has a shape that a body of this kind may not have (half-space, mesh, height field).
cairn_status cairn_body_set_kind(cairn_world *world, cairn_body_id body, uint32_t kind);
cairn_status cairn_body_set_damping( // 1/s
    cairn_world *world, cairn_body_id body, float linear, float angular);
cairn_status cairn_body_set_gravity_scale(cairn_world *world, cairn_body_id body, float scale);
cairn_status cairn_body_set_locks(cairn_world *world, cairn_body_id body, uint32_t locks);
cairn_status cairn_body_set_user(cairn_world *world, cairn_body_id body, uint32_t user); // no wake
// The player that the body belongs to, as its client is to know: a slot, or CAIRN_SLOT_NONE, as at
// create. The simulation does not use it. Does not wake. CAIRN_INVALID_ARGUMENT: not such a slot.
cairn_status cairn_body_set_owner(cairn_world *world, cairn_body_id body, uint32_t slot);
cairn_status cairn_body_set_allow_sleep(cairn_world *world, cairn_body_id body, bool allow);
cairn_status cairn_body_set_bullet(cairn_world *world, cairn_body_id body, bool bullet);
cairn_status cairn_body_set_gyroscopic(cairn_world *world, cairn_body_id body, bool gyroscopic);
// True wakes the body. False puts it to sleep at once, with all bodies that it touches or is joined
// to, directly or by others, whether they may sleep or not: its velocities and theirs become 0.
// CAIRN_WRONG_STATE: it is not dynamic or not enabled; or, for false, a moving kinematic body
// touches one of them.
cairn_status cairn_body_set_awake(cairn_world *world, cairn_body_id body, bool awake);
// A body that is not enabled stays in the world and in snapshots at its pose, without velocity: it
// neither moves nor collides, its joints pull nothing, and queries do not find it. Its contacts end
// with the next step.
cairn_status cairn_body_set_enabled(cairn_world *world, cairn_body_id body, bool enabled);

typedef struct cairn_mass_properties {
    float mass;        // kg
    cairn_vec3 centre; // m, in the body's frame
    // kg m^2, about the centre along the body's axes. A symmetric matrix: xx, yy, zz, xy, xz, yz.
    float inertia[6];
} cairn_mass_properties;

// The mass of a dynamic body, which follows from its shapes unless it was set. All zero for a body
// without mass. CAIRN_NOT_FOUND: *out is zeros.
cairn_status cairn_body_read_mass(
    const cairn_world *world, cairn_body_id body, cairn_mass_properties *out);
// Sets mass, centre and inertia: shapes that come or go change them no more. |centre| <= 1e5, mass
// in [CAIRN_MASS_MIN, CAIRN_MASS_MAX]; CAIRN_INVALID_ARGUMENT if the inertia is not positive
// definite.
cairn_status cairn_body_set_mass_properties(
    cairn_world *world, cairn_body_id body, const cairn_mass_properties *mass);
// Sets the mass alone; centre and inertia are those of the shapes, as if all their densities were
// scaled. 0: mass, centre and inertia follow from the shapes again. CAIRN_WRONG_STATE: the shapes
// have no mass that could be scaled.
cairn_status cairn_body_set_mass(cairn_world *world, cairn_body_id body, float mass);

// ----------------------------------------------------------------------- gravity and explosions

// The gravity that acts now: at first that of the def, which stays what it was.
cairn_vec3 cairn_world_gravity(const cairn_world *world);
// m/s^2. Wakes all bodies that gravity moves. CAIRN_NON_FINITE or CAIRN_INVALID_ARGUMENT: a
// component beyond CAIRN_GRAVITY_MAX.
cairn_status cairn_world_set_gravity(cairn_world *world, cairn_vec3 gravity);

// A pressure wave from a point. It pushes each shape of a dynamic body within reach away from the
// centre. The impulse acts at the point of the shape that is nearest to the centre:
//
//     impulse_per_area * area * min(1, (radius + falloff - distance) / falloff)
//
// with the area that the shape shows to the centre: the area of its shadow in that direction.
typedef struct cairn_explosion {
    cairn_vec3 centre;      // |component| <= 1e5
    float radius;           // m, [0, 1e4]: up to here with full strength
    float falloff;          // m, [0, 1e4]: beyond the radius, the way on which it ends
    float impulse_per_area; // N s/m^2, |.| <= 1e9; negative pulls
    uint32_t mask;          // shapes with at least one of these categories
    // Shapes of static bodies with one of these categories shield what is behind them, as seen from
    // the centre to the point that would be pushed; 0: nothing shields.
    uint32_t shield_mask;
} cairn_explosion;

cairn_explosion cairn_explosion_default(void); // 5 m, falloff 5 m, all shapes, no shield
// Applies it at once, and returns in *pushed (may be NULL) how many shapes it pushed. Rules may
// call it. CAIRN_NON_FINITE or CAIRN_INVALID_ARGUMENT.
cairn_status cairn_world_explode(
    cairn_world *world, const cairn_explosion *explosion, uint32_t *pushed);

// -------------------------------------------------------------------------- length of a step

// Steps in a second of the world's time; at first the def's tick_rate_hz.
float cairn_world_step_rate(const cairn_world *world);
// From the next step on, and in the same one if rules call it at its start, each takes the world
// 1 / rate_hz seconds further: slow motion, or a caller with steps of its own. It is state: hashed,
// saved, rolled back, and worlds that are stepped together change it before the same step. How
// often a server steps a room, tick numbers and tick_rate_hz stay. What contacts and joints exerted
// is scaled, as the next step starts with it; a kinematic body with a target still reaches it.
// Contacts are softer in longer steps. (Catto 2005, section 6: variable time steps.)
// CAIRN_NON_FINITE, or CAIRN_INVALID_ARGUMENT: not within CAIRN_STEP_RATE_HZ_MIN .. _MAX; the world
// is unchanged.
cairn_status cairn_world_set_step_rate(cairn_world *world, float rate_hz);

// ------------------------------------------------------------------------------------- hulls

// A convex polyhedron that any number of shapes may share. It is made from a point cloud. The
// extreme points become its vertices, in the order given and bit for bit; the others are dropped.

// Makes the hull of `count` points (4 .. CAIRN_HULL_POINTS_MAX; m, |coordinate| <= 1e4).
// The points may be in any order and may repeat; if they are the vertices of a body that is not
// convex, the hull fills its hollows. CAIRN_NON_FINITE, CAIRN_CAPACITY, or CAIRN_INVALID_ARGUMENT
// if the points are too few, too many, coplanar or too close together (cairn_hull_refusal says
// which); *out is then null. Takes a millisecond for a hundred points.
cairn_status cairn_hull_create(
    cairn_world *world, const cairn_vec3 *points, uint32_t count, cairn_hull_id *out);
// Why cairn_hull_create would refuse these points in any world, as a static text; NULL if it would
// accept them.
const char *cairn_hull_refusal(const cairn_vec3 *points, uint32_t count);
// CAIRN_NOT_FOUND on a stale id, CAIRN_WRONG_STATE while a shape uses it. The last shape that uses
// it takes it along if it has CAIRN_SHAPE_OWNS_HULL.
cairn_status cairn_hull_destroy(cairn_world *world, cairn_hull_id hull);
// The vertices and their number; cairn_hull_create makes the same hull of them. CAIRN_NOT_FOUND on
// a stale id.
cairn_status cairn_hull_read(const cairn_world *world, cairn_hull_id hull,
    cairn_vec3 vertices[CAIRN_HULL_VERTICES_MAX], uint32_t *count);
// Writes the ids of all hulls in order of index, at most `capacity`. Returns how many hulls there
// are.
uint32_t cairn_world_hulls(const cairn_world *world, cairn_hull_id *out, uint32_t capacity);

// ------------------------------------------------------------------------------------ meshes

// Surfaces of triangles that any number of shapes of static and kinematic bodies may share:
// triangle meshes, and height fields. Their data is copied into the state of the world when they
// are created, and does not change. Both are named by mesh ids.
//
// A surface is one-sided. Its front is where the corners of a triangle run counter-clockwise; that
// of a height field is above. Shapes touch it, and rays and casts hit it, from the front only. It
// has no inside. Edges between triangles that lie in one plane, or form a valley, are not felt.

typedef struct cairn_mesh_def {
    const cairn_vec3 *vertices; // m, |coordinate| <= 1e4
    uint32_t vertex_count;      // 3 .. CAIRN_MESH_VERTICES_MAX
    const uint32_t *indices;    // of vertices, three for each triangle
    uint32_t triangle_count;    // 1 .. CAIRN_MESH_TRIANGLES_MAX
} cairn_mesh_def;

// Makes a mesh. Triangles without area (whose height is at most 1e-5 of their longest side) are
// dropped and counted (cairn_mesh_info). Vertices in one place count as one. CAIRN_NON_FINITE;
// CAIRN_CAPACITY if ids or blocks are used up; CAIRN_INVALID_ARGUMENT if there are too few or too
// many vertices or triangles, an index is not that of a vertex, a coordinate is too large, or no
// triangle has an area (cairn_mesh_refusal says which); *out is then null. Takes about a
// millisecond for a thousand triangles.
cairn_status cairn_mesh_create(cairn_world *world, const cairn_mesh_def *def, cairn_mesh_id *out);
// Why cairn_mesh_create would refuse this def in any world, as a static text; NULL if it would
// accept it.
const char *cairn_mesh_refusal(const cairn_mesh_def *def);

// A surface over the local x and z axes: sample (column, row) is at (column * spacing_x, height,
// row * spacing_z). Each cell between four samples is two triangles, divided from its first sample
// to its last.
typedef struct cairn_height_field_def {
    const float *heights; // m, |height| <= 1e4, or CAIRN_HEIGHT_HOLE; row by row
    uint32_t columns;     // 2 .. CAIRN_HEIGHT_FIELD_SIDE_MAX
    uint32_t rows;
    float spacing_x; // m; [1e-3, 1e4], and no side is longer than 1e4
    float spacing_z;
} cairn_height_field_def;

// Makes a height field. CAIRN_NON_FINITE, CAIRN_CAPACITY or CAIRN_INVALID_ARGUMENT
// (cairn_height_field_refusal says why); *out is then null.
cairn_status cairn_height_field_create(
    cairn_world *world, const cairn_height_field_def *def, cairn_mesh_id *out);
const char *cairn_height_field_refusal(const cairn_height_field_def *def);

// Blocks that a mesh or height field takes of mesh_block_capacity.
uint32_t cairn_mesh_blocks(uint32_t vertex_count, uint32_t triangle_count);
uint32_t cairn_height_field_blocks(uint32_t columns, uint32_t rows);

// CAIRN_NOT_FOUND on a stale id, CAIRN_WRONG_STATE while a shape uses it: destroy the shape first.
cairn_status cairn_mesh_destroy(cairn_world *world, cairn_mesh_id mesh);

typedef struct cairn_mesh_info {
    uint32_t kind;           // cairn_mesh_kind
    uint32_t vertex_count;   // of a mesh; 0 for a height field
    uint32_t triangle_count; // of a mesh: those that have an area; 0 for a height field
    uint32_t dropped_count;  // triangles without area
    uint32_t columns;        // of a height field; 0 for a mesh
    uint32_t rows;
    float spacing_x;
    float spacing_z;
    cairn_vec3 lower; // the box around it, in its frame
    cairn_vec3 upper;
} cairn_mesh_info;
// CAIRN_NOT_FOUND on a stale id.
cairn_status cairn_mesh_info_read(
    const cairn_world *world, cairn_mesh_id mesh, cairn_mesh_info *out);
// Copies what the info counts: vertices and indices of a mesh, or columns * rows heights.
// CAIRN_NOT_FOUND on a stale id or if it is of the other kind.
cairn_status cairn_mesh_read(
    const cairn_world *world, cairn_mesh_id mesh, cairn_vec3 *vertices, uint32_t *indices);
cairn_status cairn_height_field_read(const cairn_world *world, cairn_mesh_id mesh, float *heights);
// Writes the ids of all meshes and height fields in order of index, at most `capacity`. Returns how
// many there are.
uint32_t cairn_world_meshes(const cairn_world *world, cairn_mesh_id *out, uint32_t capacity);

// ------------------------------------------------------------------------------------- names

// What has the name (cairn_name_hash), in order of index: writes at most `capacity` ids and returns
// how many there are. Names are part of the state, so server, clients and replays find the same. It
// takes as long as the world is large: rules keep what they find. A name that nothing has: 0.
uint32_t cairn_world_find_bodies(
    const cairn_world *world, const char *name, cairn_body_id *out, uint32_t capacity);
uint32_t cairn_world_find_shapes(
    const cairn_world *world, const char *name, cairn_shape_id *out, uint32_t capacity);
uint32_t cairn_world_find_joints(
    const cairn_world *world, const char *name, cairn_joint_id *out, uint32_t capacity);

// The first one, or CAIRN_ID_NULL.
static inline cairn_body_id cairn_world_find_body(const cairn_world *world, const char *name) {
    cairn_body_id first = CAIRN_ID_NULL;
    (void)cairn_world_find_bodies(world, name, &first, 1);
    return first;
}
static inline cairn_shape_id cairn_world_find_shape(const cairn_world *world, const char *name) {
    cairn_shape_id first = CAIRN_ID_NULL;
    (void)cairn_world_find_shapes(world, name, &first, 1);
    return first;
}
static inline cairn_joint_id cairn_world_find_joint(const cairn_world *world, const char *name) {
    cairn_joint_id first = CAIRN_ID_NULL;
    (void)cairn_world_find_joints(world, name, &first, 1);
    return first;
}

// ------------------------------------------------------------------------------------ shapes

typedef struct cairn_shape_def {
    uint32_t kind;           // cairn_shape_kind
    cairn_vec3 half_extents; // m, box: each in [1e-3, 1e4]
    float radius;            // m, sphere, capsule, cylinder, cone: [1e-3, 1e4]
    float half_height;       // m, capsule, cylinder, cone: [1e-3, 1e4]
    cairn_hull_id hull;      // hull: its vertices are in the shape's frame
    cairn_mesh_id mesh;      // mesh and height field
    cairn_pose pose;         // in the body's frame
    float density;           // kg/m^3, > 0, at most 1e6
    float friction;          // >= 0, of sliding; for the pair see cairn_combine
    float restitution;       // [0, 1]
    uint32_t category;       // collision filter: a pair collides when each one's category
    uint32_t mask;           // meets the other's mask
    uint32_t user;
    uint32_t name;  // cairn_name_hash; 0: none. See cairn_world_find_shapes
    uint32_t flags; // CAIRN_SHAPE_SENSOR and the others
    // More of the material; all 0 by default.
    float static_friction; // while surfaces stick; at least `friction`, or 0: the same
    // m, [0, 1e4]: a contact resists rolling, and spinning about its normal, by a torque of at most
    // this times the normal force; a pair takes the larger. A ball of radius r that rolls at v with
    // resistance c to rolling stops after 0.7 v^2 r / (c g).
    float rolling_resistance;
    float spin_resistance;
    uint32_t friction_combine;    // cairn_combine
    uint32_t restitution_combine; // cairn_combine
    // m/s, in the body's frame, |component| <= 1e4: how the surface moves over the body, as a belt
    // does. Friction brings what touches it to this velocity; the part along the normal is nothing.
    cairn_vec3 surface_velocity;
} cairn_shape_def;

// What a shape is made of: the fields of that name of cairn_shape_def.
typedef struct cairn_material {
    float friction;
    float static_friction;
    float rolling_resistance;
    float spin_resistance;
    float restitution;
    uint32_t friction_combine;
    uint32_t restitution_combine;
    cairn_vec3 surface_velocity;
} cairn_material;

// A unit box of density 1000 kg/m^3 and friction 0.5 that collides with everything.
cairn_shape_def cairn_shape_def_default(void);
// Adds a shape and recomputes the body's mass, centre and inertia. CAIRN_NOT_FOUND: the body or the
// hull does not exist, or no mesh of the shape's kind has this id. CAIRN_INVALID_ARGUMENT (also for
// a half-space, mesh or height field on a body that may not have one, and for a mesh or height
// field as a sensor), CAIRN_NON_FINITE or CAIRN_CAPACITY.
cairn_status cairn_shape_create(
    cairn_world *world, cairn_body_id body, const cairn_shape_def *def, cairn_shape_id *out);
// Removes a shape, recomputes the body's mass and wakes the body and those that it touched.
// CAIRN_NOT_FOUND on a stale id.
cairn_status cairn_shape_destroy(cairn_world *world, cairn_shape_id shape);
// Setters. They wake the body and what it touches. CAIRN_NOT_FOUND on a stale id, and what
// cairn_shape_create refuses.
cairn_status cairn_shape_set_filter(
    cairn_world *world, cairn_shape_id shape, uint32_t category, uint32_t mask);
cairn_status cairn_shape_set_material(
    cairn_world *world, cairn_shape_id shape, const cairn_material *material);
// CAIRN_NOT_FOUND: *out is zeros.
cairn_status cairn_shape_read_material(
    const cairn_world *world, cairn_shape_id shape, cairn_material *out);
cairn_status cairn_shape_set_density(cairn_world *world, cairn_shape_id shape, float density);
cairn_status cairn_shape_set_user(cairn_world *world, cairn_shape_id shape, uint32_t user);
// The def as stored, and the shape's body. CAIRN_NOT_FOUND on a stale id.
cairn_status cairn_shape_read(
    const cairn_world *world, cairn_shape_id shape, cairn_shape_def *def, cairn_body_id *body);
// Writes the ids of all shapes in order of index, at most `capacity`. Returns how many shapes there
// are.
uint32_t cairn_world_shapes(const cairn_world *world, cairn_shape_id *out, uint32_t capacity);

// Creates a body with `count` shapes (1 or more; a compound), or nothing if the body or one of its
// shapes is refused: *body and shape_ids are then null. Mass, centre and inertia are the sums over
// the shapes by the parallel axis theorem. The origin of a body may be anywhere in its frame; it
// turns about its centre of mass. Each shape keeps its own material, filter, density and flags. The
// status is that of cairn_body_create or cairn_shape_create; CAIRN_INVALID_ARGUMENT without shapes.
cairn_status cairn_body_create_compound(cairn_world *world, const cairn_body_def *def,
    const cairn_shape_def *shapes, uint32_t count, cairn_body_id *body, cairn_shape_id *shape_ids);

// The mass of a solid body that a closed surface of triangles bounds, with `indices` of three
// vertices for each, counter clockwise seen from outside. It need not be convex or connected, and
// may have hollows, whose triangles face them. Triangles share vertices by index. Returns NULL, or
// why it is refused (static text), with *out zeros: fewer than four triangles, an index out of
// range, a coordinate that is not a number or beyond 1e4 m, an open surface, one that is inside
// out, no volume (less than 1e-12 m^3), a density not in (0, 1e6].
const char *cairn_triangles_mass(const cairn_vec3 *vertices, uint32_t vertex_count,
    const uint32_t *indices, uint32_t triangle_count, float density, cairn_mass_properties *out);

// Writes the ids of a body's shapes in order of index, at most `capacity`. Returns how many there
// are; 0 for a stale id.
uint32_t cairn_body_shapes(
    const cairn_world *world, cairn_body_id body, cairn_shape_id *out, uint32_t capacity);

// ------------------------------------------------------------------------------------ joints

// cairn/joint.h has them.

// ------------------------------------------------------------------------------------ events

// cairn/events.h has them, and contacts.

// ----------------------------------------------------------------------------------- queries

// Queries see the shapes at the present poses of their bodies. Results come in a fixed order and
// have the same bits on every machine and after any restore. Queries neither change the state nor
// allocate.
//
// The world keeps a tree of its shapes for them, outside the state. The first query after a change
// of the world (a step, a create or destroy, a set pose, a load) brings it up to date, which costs
// about what moved. So two threads may query one world at the same time only after
// cairn_world_queries_prepare, and until the world is changed again.
void cairn_world_queries_prepare(cairn_world *world);

// Which shapes a query finds.
typedef struct cairn_query_filter {
    uint32_t mask;         // shapes with at least one of these categories
    uint32_t body_kinds;   // bit set, 1 << cairn_body_kind: shapes of bodies of these kinds
    cairn_body_id ignored; // shapes of this body are not found; CAIRN_ID_NULL: none
} cairn_query_filter;
cairn_query_filter cairn_query_filter_default(void); // all shapes

typedef struct cairn_ray_hit {
    cairn_shape_id shape;
    cairn_body_id body;
    cairn_vec3 point;
    cairn_vec3 normal; // unit, out of the shape
    float fraction;    // along `translation`, [0, 1]
} cairn_ray_hit;

// The nearest hit (ties: lower shape index). CAIRN_NOT_FOUND if the ray hits nothing,
// CAIRN_NON_FINITE; out->shape is then CAIRN_ID_NULL. A ray that starts inside a shape hits it with
// fraction 0 and the reversed direction as normal.
cairn_status cairn_world_ray_closest(const cairn_world *world, cairn_vec3 origin,
    cairn_vec3 translation, const cairn_query_filter *filter, cairn_ray_hit *out);
// The same for shapes of any body but `ignored` with a category in `mask`.
cairn_status cairn_world_ray_cast(const cairn_world *world, cairn_vec3 origin,
    cairn_vec3 translation, uint32_t mask, cairn_body_id ignored, cairn_ray_hit *out);
// Writes the first `capacity` hits in order of (fraction, shape index), one for each shape. Returns
// how many there are; 0 for a ray that is not finite.
uint32_t cairn_world_ray_all(const cairn_world *world, cairn_vec3 origin, cairn_vec3 translation,
    const cairn_query_filter *filter, cairn_ray_hit *out, uint32_t capacity);
// Whether the ray hits anything: cheaper than the nearest hit.
bool cairn_world_ray_any(const cairn_world *world, cairn_vec3 origin, cairn_vec3 translation,
    const cairn_query_filter *filter);

// Moves `shape` (its kind and sizes; no half-space) from `pose` by `translation`, without turning
// it, and finds what it meets first (ties: lower shape index). The point is on the shape that was
// hit. Fractions are right to 0.2 mm of the way, for curved shapes to 0.02 mm. A shape that
// overlaps another at the start hits it with fraction 0, the reversed direction as normal and its
// own position as point; one that only touches it and moves away does not hit. CAIRN_NOT_FOUND if
// it meets nothing, or if its hull does not exist; CAIRN_INVALID_ARGUMENT or CAIRN_NON_FINITE for a
// shape, pose or translation (|component| <= 2e7) that is out of range. out->shape is then
// CAIRN_ID_NULL.
cairn_status cairn_world_shape_cast(const cairn_world *world, const cairn_shape_def *shape,
    cairn_pose pose, cairn_vec3 translation, const cairn_query_filter *filter, cairn_ray_hit *out);

// Writes the shapes that overlap `shape` (its kind and sizes) at `pose`, in order of index, at most
// `capacity`. Returns how many overlap; 0 for an invalid shape.
uint32_t cairn_world_overlap_shape(const cairn_world *world, const cairn_shape_def *shape,
    cairn_pose pose, const cairn_query_filter *filter, cairn_shape_id *out, uint32_t capacity);
// The same for shapes with a category in `mask`.
uint32_t cairn_world_overlap(const cairn_world *world, const cairn_shape_def *shape,
    cairn_pose pose, uint32_t mask, cairn_shape_id *out, uint32_t capacity);
// The same for the shapes that contain a point.
uint32_t cairn_world_shapes_at_point(const cairn_world *world, cairn_vec3 point,
    const cairn_query_filter *filter, cairn_shape_id *out, uint32_t capacity);

typedef struct cairn_closest {
    cairn_shape_id shape;
    cairn_body_id body;
    float distance;         // m; 0: they overlap
    cairn_vec3 point;       // on the shape that was found, nearest to the probe
    cairn_vec3 probe_point; // on the probe, nearest to that shape
    cairn_vec3 normal;      // unit, from the shape to the probe
} cairn_closest;

// The shape nearest to `shape` (its kind and sizes; no half-space) at `pose`, at most
// `distance_max` away (m, [0, 2e7]); ties: lower shape index. If they overlap both points are the
// probe's position and the normal points up. CAIRN_NOT_FOUND if nothing is that near, or if the
// probe's hull does not exist; CAIRN_INVALID_ARGUMENT or CAIRN_NON_FINITE. out->shape is then
// CAIRN_ID_NULL.
cairn_status cairn_world_closest_to_shape(const cairn_world *world, const cairn_shape_def *shape,
    cairn_pose pose, float distance_max, const cairn_query_filter *filter, cairn_closest *out);
// The same for a point as the probe.
cairn_status cairn_world_closest_to_point(const cairn_world *world, cairn_vec3 point,
    float distance_max, const cairn_query_filter *filter, cairn_closest *out);

// ------------------------------------------------------------------------------------- state

// Save and load copy the live ranges of one pointer-free block: for rollback, in this process and
// build. Encode and decode use the canonical little-endian form that travels between machines.

size_t cairn_world_save_size(const cairn_world *world);     // bytes that save would write now
size_t cairn_world_save_size_max(const cairn_world *world); // the most that save can ever write
// Returns the bytes written, 0 if `size` is too small.
size_t cairn_world_save(const cairn_world *world, void *bytes, size_t size);
// `bytes` must come from cairn_world_save of a world with equal def. CAIRN_MALFORMED otherwise, and
// the world is unchanged.
cairn_status cairn_world_load(cairn_world *world, const void *bytes, size_t size);

// Bytes of the state of a world of this def; 0 if the def is refused. The world takes some three
// times as much. For a def that comes from outside, before a world is created.
size_t cairn_world_def_state_size(const cairn_world_def *def);
size_t cairn_world_encode_size(const cairn_world *world); // bytes that encode would write now
// Returns the bytes written, 0 if `size` is too small.
size_t cairn_world_encode(const cairn_world *world, void *bytes, size_t size);
// Accepts hostile bytes: every range, id, count and float is checked, and a refusal leaves the
// world unchanged. CAIRN_MALFORMED, CAIRN_VERSION_MISMATCH, CAIRN_NON_FINITE, CAIRN_CAPACITY.
// `where` (may be NULL) receives a static text that names the section and field refused.
cairn_status cairn_world_decode(
    cairn_world *world, const void *bytes, size_t size, const char **where);
// Checks what a world must keep, in its state and in what follows from it: every word in range and
// none -0 or NaN, ids and free slots, unit rotations, order and bodies of contacts, shape lists,
// islands that sleep as a whole, colours, caches, and the hash cache against a fresh hash.
// CAIRN_OK, or CAIRN_MALFORMED, CAIRN_NON_FINITE or CAIRN_CAPACITY and in *where (may be NULL) a
// static text that names the first broken rule: a bug, or corrupted memory. A world
// passes after each step, create, load and decode; velocities that a caller has driven out of range
// are corrected by the next step. Costs about as much as a fresh hash. Debug and sanitizer builds
// check each step.
cairn_status cairn_world_validate(const cairn_world *world, const char **where);
// Reads the def at the head of an encoding, so that a receiver can create the world to decode into.
// Its `rules` is NULL; decode checks the name, version and size of the rules. On failure *out is
// zeros: CAIRN_MALFORMED, CAIRN_VERSION_MISMATCH or CAIRN_NON_FINITE.
cairn_status cairn_world_def_of_encoding(
    const void *bytes, size_t size, cairn_world_def *out, char rules_name[CAIRN_NAME_SIZE_MAX + 1]);

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
    CAIRN_SECTION_EVENTS, // of the last step
    CAIRN_SECTION_COUNT
} cairn_section;

typedef struct cairn_world_hash {
    cairn_hash128 visible; // ids, poses and velocities of all bodies
    cairn_hash128 full;    // everything a restore needs
    cairn_hash128 sections[CAIRN_SECTION_COUNT];
} cairn_world_hash;

// The cost depends on what changed since the last call: the hashes of sleeping bodies are cached in
// the world, so two threads must not call this for one world at the same time.
cairn_world_hash cairn_world_hash_read(const cairn_world *world);
const char *cairn_section_name(cairn_section section); // static text, such as "bodies"

// One field that differs between two worlds.
typedef struct cairn_difference {
    cairn_section section;
    uint32_t element;  // index of the body, shape, joint or contact; 0 in sections without elements
    const char *field; // static text, e.g. "linear_velocity.y"
    uint32_t is_float; // 0 or 1: the bits are those of a float
    uint32_t bits_a;
    uint32_t bits_b;
} cairn_difference;

// Writes the first `capacity` differences in order of section, element, field. Returns how many
// there are; 0 if and only if the worlds hold equal states.
uint32_t cairn_world_diff(
    const cairn_world *a, const cairn_world *b, cairn_difference *out, uint32_t capacity);

#ifdef __cplusplus
}
#endif

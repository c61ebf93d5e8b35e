// SPDX-License-Identifier: MIT
#pragma once

// Private to the room: what a world holds. `cairn_state` is the pointer-free block that save, load,
// encode, hash and diff see; every element is a struct of 32-bit words without padding, described
// word by word in sim/state/fields.c. `cairn_scratch` is rebuilt by each step and may be
// overwritten between two calls without changing a bit.

#include "sim/collide/broad_phase.h"
#include "sim/collide/pair_cache.h"
#include "sim/constraint/solver_manifold.h"
#include "sim/math/packed_rotation.h"
#include "sim/math/vec.h"
#include "sim/shape/geometry.h"
#include "sim/soft_step/solver.h"
#include "sim/task_scheduler.h"
#include <cairn/sim.h>

// The arrays of the block. Elements of a slotted array exist where the id table says so; the words
// of the others are zero.
typedef enum cairn_array {
    CAIRN_ARRAY_SETTINGS = 0,
    CAIRN_ARRAY_BODY_IDS,
    CAIRN_ARRAY_SHAPE_IDS,
    CAIRN_ARRAY_JOINT_IDS,
    CAIRN_ARRAY_HULL_IDS,
    CAIRN_ARRAY_MOTIONS,
    CAIRN_ARRAY_ANCHORS,
    CAIRN_ARRAY_BODIES,
    CAIRN_ARRAY_RESTS,
    CAIRN_ARRAY_HULLS,
    CAIRN_ARRAY_SHAPES,
    CAIRN_ARRAY_JOINTS,
    CAIRN_ARRAY_CONTACTS,
    CAIRN_ARRAY_RULES,
    CAIRN_ARRAY_COUNT
} cairn_array;

typedef struct cairn_settings {
    uint32_t body_capacity; // from here to `rules_state_size`: the def, equal in worlds that share
    uint32_t shape_capacity;
    uint32_t joint_capacity;
    uint32_t hull_capacity;
    uint32_t contact_capacity;
    uint32_t tick_rate_hz;
    cairn_vec3 gravity;
    uint32_t solver;
    uint32_t substeps;
    uint32_t iterations;
    uint32_t friction_model;
    uint32_t warm_start;
    uint32_t sleep;
    float baumgarte;
    float slop;
    float contact_hertz;
    float contact_damping;
    float joint_hertz;
    float joint_damping;
    float restitution_threshold;
    uint32_t seed_low;
    uint32_t seed_high;
    uint32_t rules_name[8]; // bytes of the name, first one lowest; zero without rules
    uint32_t rules_version;
    uint32_t rules_state_size; // bytes
    uint32_t tick_low;
    uint32_t tick_high;
    uint32_t contacts_dropped;
    uint32_t creates_refused;
    uint32_t bodies_quarantined;
    uint32_t edits_refused;
    uint32_t body_slots; // slots ever used: the live range of ids, motions, bodies, rests
    uint32_t shape_slots;
    uint32_t joint_slots;
    uint32_t hull_slots;
    uint32_t contact_count;
} cairn_settings;

// Words at the head of cairn_settings that follow from the def alone.
#define CAIRN_SETTINGS_DEF_WORDS (offsetof(cairn_settings, tick_low) / sizeof(uint32_t))

// An id table entry: generation in the low 12 bits, this bit when the slot is taken.
#define CAIRN_SLOT_USED 0x80000000u

// What a step reads and writes of every body that moves: 64 bytes.
struct cairn_motion {
    cairn_vec3 origin;   // world
    cairn_vec3 position; // of the centre of mass, world
    cairn_quat rotation;
    cairn_vec3 linear_velocity; // of the centre of mass
    cairn_vec3 angular_velocity;
};

// Where a body is taken to be when its shapes are collided: where it was when it last had gone too
// far from its anchor (CAIRN_ANCHOR_DRIFT). Pairs are looked at when one of them is anchored anew.
// All zero: the next step anchors it.
typedef struct cairn_anchor {
    cairn_vec3 position; // of the centre of mass, world
    cairn_turn turn;
} cairn_anchor;

// The rest of a body, which as a rule no step writes.
struct cairn_body {
    uint32_t kind;        // cairn_body_kind
    uint32_t allow_sleep; // 0 or 1
    uint32_t user;
    cairn_vec3 force;  // N, used up by the next step
    cairn_vec3 torque; // N m, likewise
    cairn_vec3 centre; // of mass, in the body's frame
    float mass;        // 0 unless dynamic and shaped
    float inverse_mass;
    cairn_sym3 inverse_inertia; // about the centre of mass, body axes
    float linear_damping;
    float angular_damping;
    float gravity_scale;
};

typedef enum cairn_rest_state {
    CAIRN_REST_NONE = 0,      // dynamic: awake; others: as they were
    CAIRN_REST_ASLEEP = 1,    // dynamic only
    CAIRN_REST_DISTURBED = 2, // not dynamic, and created or set since the last step
} cairn_rest_state;

typedef struct cairn_rest {
    uint32_t state; // cairn_rest_state
    uint32_t ticks; // in a row below the sleep thresholds, saturated at half a second
} cairn_rest;

// Of a hull the state holds the vertices; sim/shape/hull.h tells what follows from them.
typedef struct cairn_hull_points {
    uint32_t count;
    cairn_vec3 vertices[CAIRN_HULL_VERTICES_MAX]; // zero from count on
} cairn_hull_points;

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
} cairn_shape;

struct cairn_joint {
    uint32_t kind; // cairn_joint_kind
    uint32_t collide_connected;
    cairn_body_id body_a; // both live as long as the joint
    cairn_body_id body_b;
    cairn_vec3 anchor_a; // in the frame of body a
    cairn_vec3 anchor_b;
    float length;
    cairn_vec3 impulse; // N s, the last step's; a distance joint's along its axis, in x
    // Hinge and cone, zero in other joints. Unit vectors in the frames of the bodies.
    cairn_vec3 axis_a;
    cairn_vec3 axis_b;
    cairn_vec3 normal_a;
    cairn_vec3 normal_b;
    float cone; // rad
    float lower;
    float upper;
    uint32_t limited;
    cairn_vec3 angular_impulse; // N m s, world: what held a hinge's axes together
    float swing_impulse;        // N m s: what held the swing of a cone, and the twist
    float lower_impulse;
    float upper_impulse;
};

typedef struct cairn_contact_point {
    uint32_t feature;
    float normal_impulse; // N s
} cairn_contact_point;

// One pair of shapes in touch. Ids, not slots: a destroyed shape's contact still ends by name.
struct cairn_contact {
    cairn_shape_id shape_a; // index of a < index of b
    cairn_shape_id shape_b;
    cairn_body_id body_a;
    cairn_body_id body_b;
    uint32_t axis_hint; // cairn_collide's
    uint32_t point_count;
    uint32_t colour; // 1 + the colour it was last solved in; 0: none yet
    // How the bodies were anchored when its points were computed: from a's centre of mass to b's,
    // world axes, and their rotations.
    cairn_vec3 reference_way;
    cairn_turn reference_a;
    cairn_turn reference_b;
    cairn_contact_point points[CAIRN_MANIFOLD_POINTS_MAX]; // zero from point_count on
    // N s. CAIRN_SOLVER_CLASSIC: two of each point. CAIRN_SOLVER_SUBSTEPS: friction at the middle
    // of the points, as a world vector, and N m s of twist about the normal; the rest zero.
    float tangent_impulse[2 * CAIRN_MANIFOLD_POINTS_MAX];
};

// Rules are read in blocks of words; the last one is filled up with zeros.
#define CAIRN_RULES_BLOCK_WORDS 16
typedef struct cairn_rules_block {
    uint32_t words[CAIRN_RULES_BLOCK_WORDS];
} cairn_rules_block;

_Static_assert(sizeof(cairn_settings) == 45 * 4, "no padding: hashed and encoded by words");
_Static_assert(sizeof(cairn_motion) == 16 * 4, "no padding: hashed and encoded by words");
_Static_assert(sizeof(cairn_anchor) == 5 * 4, "no padding: hashed and encoded by words");
_Static_assert(sizeof(cairn_body) == 23 * 4, "no padding: hashed and encoded by words");
_Static_assert(sizeof(cairn_rest) == 2 * 4, "no padding: hashed and encoded by words");
_Static_assert(sizeof(cairn_hull_points) == 97 * 4, "no padding: hashed and encoded by words");
_Static_assert(sizeof(cairn_shape) == 21 * 4, "no padding: hashed and encoded by words");
_Static_assert(sizeof(cairn_joint) == 36 * 4, "no padding: hashed and encoded by words");
_Static_assert(sizeof(cairn_contact) == 30 * 4, "no padding: hashed and encoded by words");

// The largest element, for buffers.
#define CAIRN_ELEMENT_WORDS_MAX 97

// Typed views of one block.
typedef struct cairn_state {
    cairn_settings *settings;
    uint32_t *body_ids;
    uint32_t *shape_ids;
    uint32_t *joint_ids;
    uint32_t *hull_ids;
    cairn_motion *motions;
    cairn_anchor *anchors;
    cairn_body *bodies;
    cairn_rest *rests;
    cairn_hull_points *hulls;
    cairn_shape *shapes;
    cairn_joint *joints;
    cairn_contact *contacts; // by (index of a, index of b), strictly increasing
    cairn_rules_block *rules;
} cairn_state;

// A body as the solver sees it, by slot. Bodies that no impulse may move have inverse mass and
// inertia zero and are never written.
typedef struct cairn_classic_body {
    cairn_vec3 linear_velocity;
    cairn_vec3 angular_velocity;
    float inverse_mass;
    cairn_sym3 inverse_inertia; // world axes
    uint32_t moving;            // 0 or 1
    uint32_t still;             // 0 or 1: not moving, and no point of it has a velocity
} cairn_classic_body;

typedef struct cairn_contact_row {
    cairn_vec3 arm_a; // from the centre of mass to the point
    cairn_vec3 arm_b;
    float normal_mass; // effective masses
    float tangent_mass[2];
    float bias;           // m/s, the normal velocity asked for
    float friction_bound; // N s, CAIRN_FRICTION_CONSTANT
    float normal_impulse; // accumulated
    float tangent_impulse[2];
} cairn_contact_row;

typedef struct cairn_contact_constraint {
    uint32_t contact; // index in the new contact list
    uint32_t body_a;  // slots
    uint32_t body_b;
    uint32_t row_count;
    cairn_vec3 normal;
    cairn_vec3 tangents[2];
    float friction;
    cairn_contact_row rows[CAIRN_MANIFOLD_POINTS_MAX];
} cairn_contact_constraint;

// A row about an axis: of the spin of b seen from a.
typedef struct cairn_turn_row {
    cairn_vec3 axis;
    float mass;         // effective
    float bias;         // rad/s, the spin asked for
    float impulse;      // accumulated
    uint32_t one_sided; // 0 or 1: the impulse stays >= 0
} cairn_turn_row;

// A hinge has two for its axes and two for its limits.
#define CAIRN_TURN_ROWS_MAX 4

typedef struct cairn_joint_constraint {
    uint32_t joint; // slot
    uint32_t kind;
    uint32_t body_a;
    uint32_t body_b;
    cairn_vec3 arm_a;
    cairn_vec3 arm_b;
    cairn_vec3 axis;         // distance: unit, from a to b
    cairn_sym3 inverse_mass; // ball: inverse of K; distance: effective mass in xx
    cairn_vec3 bias;         // m/s; distance: in x
    cairn_vec3 impulse;
    uint32_t row_count;
    cairn_turn_row rows[CAIRN_TURN_ROWS_MAX]; // sim/pgs/joint_rows.c says which is which
} cairn_joint_constraint;

// Constraints of one colour share no moving body; those of the last batch may, and are solved one
// after the other.
#define CAIRN_BATCHES (CAIRN_COLOURS + 1)

typedef struct cairn_batches {
    uint32_t start[CAIRN_BATCHES + 1]; // batch k is start[k] .. start[k + 1] - 1
} cairn_batches;

// What the substep solver works on.
typedef struct cairn_substeps {
    cairn_kernel wide;
    cairn_kernel single;        // of width 1, for what found no colour
    cairn_solver_body *bodies;  // dense
    cairn_solver_drive *drives; // of those that impulses move
    uint32_t *solver_of;        // by body slot
    unsigned char *lost;        // by solver body: it has become unsound
    uint32_t *slot_of;          // by solver body, of those that impulses move
    uint32_t moving_count;      // how many these are
    uint32_t body_count;
    cairn_plan touches;
    cairn_plan joints;
    void *contact_groups;
    void *single_contact_groups;
    void *joint_groups;
    void *single_joint_groups;
    cairn_solve wide_solve;
    cairn_solve single_solve;
} cairn_substeps;
// Manifolds, kept for as long as the anchors stay. While contacts begin there may be more than the
// list has room for.
#define CAIRN_PATCHES_PER_CONTACT 2
#define CAIRN_PATCH_NONE UINT32_MAX

// What is wanted of a contact in each step.
typedef struct cairn_patch_link {
    uint32_t body_a; // slots
    uint32_t body_b;
    uint32_t patch; // CAIRN_PATCH_NONE: not computed
} cairn_patch_link;

typedef struct cairn_patches {
    cairn_patch *patches;
    uint32_t *free; // those below `used` that nobody has
    uint32_t free_count;
    uint32_t used;
    uint32_t capacity;
    cairn_patch_link *links; // by index in the list
    bool complete;           // what stirs has its patches
} cairn_patches;

// A contact that begins, and where it belongs.
typedef struct cairn_born {
    cairn_contact contact;
    uint32_t index;
    cairn_patch_link link;
} cairn_born;

// Contacts begin .. end - 1 of the list, which lie `shift` farther up when it has changed.
typedef struct cairn_stretch {
    uint32_t begin;
    uint32_t end;
    int32_t shift;
} cairn_stretch;

typedef struct cairn_scratch {
    void *memory; // the allocation that the rest lies in
    size_t size;
    cairn_patches patches;
    cairn_born *born;
    cairn_stretch *stretches;
    unsigned char *moving;  // by body slot: impulses move it in this step
    unsigned char *stirs;   // by body slot, 0 or 1; where anything may sleep
    bool wakes;             // something that stirs touches what sleeps
    uint32_t *island;       // by body slot: the lowest slot of its island
    uint32_t *island_awake; // by that slot: something in it or on it moves
    uint32_t *island_ticks; // by that slot: the least rest of its members
    cairn_classic_body *bodies;
    uint32_t *body_points; // contact points of each body, CAIRN_FRICTION_CONSTANT
    uint32_t *colours;     // by body slot: bit set of the colours taken
    uint32_t *batch_of;    // by contact or joint, while batches are made
    uint32_t *place_of;
    cairn_contact_constraint *contact_constraints;
    cairn_joint_constraint *joint_constraints;
    cairn_batches contact_batches;
    cairn_batches joint_batches;
    cairn_substeps substeps;
} cairn_scratch;

typedef struct cairn_kept cairn_kept;
typedef struct cairn_trace_hook cairn_trace_hook;

struct cairn_world {
    cairn_world_def def;
    cairn_state state; // the block
    cairn_state spare; // where decode builds; its contacts are the step's new list
    void *state_memory;
    void *spare_memory;
    uint32_t *shape_first; // by body slot: index + 1 of its lowest shape; follows from the state
    uint32_t *shape_next;  // by shape slot: the body's next higher shape, likewise
    cairn_kept *kept;      // leaves of the hash: sim/state/hash_cache.h
    uint32_t body_hint;    // no slot below is free
    uint32_t shape_hint;
    uint32_t joint_hint;
    uint32_t hull_hint;
    cairn_hull *hulls;   // by slot, made ready; follows from the state
    bool contacts_stale; // false only when the next step could end none but for what stirs
    cairn_contact_event *events;
    uint32_t event_count;
    void (*stage_probe)(void *context, uint32_t stage); // NULL: none
    void *stage_context;
    cairn_trace_hook *trace_hook; // NULL but in a traced step: sim/debug/trace_hook.h
    cairn_scratch scratch;
    cairn_parallel parallel;
    cairn_crew crew;
    cairn_near near;
};

static inline float world_time_step(const cairn_world *world) {
    return 1.0f / (float)world->def.tick_rate_hz;
}

// Elements that an array of a world with this def can hold, and bytes of one.
uint32_t cairn_array_capacity(const cairn_settings *settings, cairn_array array);
size_t cairn_array_element_size(cairn_array array);
// Elements in the live range now.
uint32_t cairn_array_count(const cairn_settings *settings, cairn_array array);
void *cairn_state_array(const cairn_state *state, cairn_array array);
// The id table that says which elements exist; NULL: all do.
static inline const uint32_t *state_ids(const cairn_state *state, cairn_array array) {
    switch (array) {
    case CAIRN_ARRAY_MOTIONS:
    case CAIRN_ARRAY_ANCHORS:
    case CAIRN_ARRAY_BODIES:
    case CAIRN_ARRAY_RESTS:
        return state->body_ids;
    case CAIRN_ARRAY_SHAPES:
        return state->shape_ids;
    case CAIRN_ARRAY_JOINTS:
        return state->joint_ids;
    case CAIRN_ARRAY_HULLS:
        return state->hull_ids;
    default:
        return NULL;
    }
}
// Whether element `index` of the live range exists: free slots do not, contacts always do.
static inline bool cairn_state_has(const cairn_state *state, cairn_array array, uint32_t index) {
    const uint32_t *ids = state_ids(state, array);
    return ids == NULL || (ids[index] & CAIRN_SLOT_USED) != 0;
}
// The next elements from `from` on that exist and lie side by side; empty when there are none.
typedef struct cairn_run {
    uint32_t begin;
    uint32_t end;
} cairn_run;
cairn_run cairn_state_run(const cairn_state *state, cairn_array array, uint32_t from);
// The def as the block keeps it; everything after it zero.
cairn_settings cairn_settings_of(const cairn_world_def *def);

// Bytes of a block, and its views over `memory` (aligned as malloc aligns).
size_t cairn_state_size(const cairn_settings *settings);
cairn_state cairn_state_view(const cairn_settings *settings, void *memory);

// Rebuilds what follows from arrays that are no longer what they were: shape lists and free-slot
// hints; forgets events.
void cairn_world_derive(cairn_world *world, const bool differed[CAIRN_ARRAY_COUNT]);

// The hash from the words of the block alone, whatever leaves are kept.
cairn_world_hash cairn_world_hash_fresh(const cairn_world *world);

// Overwrites everything that is not live state with `byte`. For tests: no hash may notice.
void cairn_world_poison(cairn_world *world, unsigned char byte);

// SPDX-License-Identifier: MIT
#pragma once

#include "sim/constraint/graph.h"
#include "sim/state/world.h"

// A body as the solver sees it, by slot. Bodies that no impulse may move have inverse mass and
// inertia zero and are never written.
typedef struct cairn_pgs_body {
    cairn_vec3 linear_velocity;
    cairn_vec3 angular_velocity;
    float inverse_mass;
    cairn_sym3 inverse_inertia; // world axes
    uint32_t moving;            // 0 or 1
    uint32_t still;             // 0 or 1: not moving, and no point of it has a velocity
} cairn_pgs_body;

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
#define CAIRN_PGS_BATCHES (CAIRN_COLOURS + 1)

typedef struct cairn_batches {
    uint32_t start[CAIRN_PGS_BATCHES + 1]; // batch k is start[k] .. start[k + 1] - 1
} cairn_batches;

struct cairn_pgs {
    cairn_constraint_edge *touches; // contacts with a moving body
    uint32_t touch_count;
    cairn_pgs_body *bodies;
    uint32_t *body_points; // contact points of each body, CAIRN_FRICTION_CONSTANT
    uint32_t *colours;     // by body slot: bit set of the colours taken
    uint32_t *batch_of;    // by contact or joint, while batches are made
    uint32_t *place_of;
    cairn_contact_constraint *contact_constraints;
    cairn_joint_constraint *joint_constraints;
    cairn_batches contact_batches;
    cairn_batches joint_batches;
};

void cairn_pgs_carve(cairn_pgs *pgs, cairn_carver *from, const cairn_world_def *def);

// Velocities from forces; fills the solver's bodies.
void cairn_pgs_integrate_forces(cairn_world *world);
// Colours and constraints, then impulses; writes velocities and accumulated impulses back.
void cairn_pgs_solve(cairn_world *world);
// Poses from velocities; what has become unsound is disabled where it last was sound.
void cairn_pgs_integrate_positions(cairn_world *world);

// Parts of cairn_pgs_solve.
void cairn_joints_prepare(cairn_world *world);
void cairn_joints_warm_start(cairn_world *world);
void cairn_joints_iterate(cairn_world *world);
void cairn_joints_store(cairn_world *world);
void cairn_contacts_prepare(cairn_world *world);
void cairn_contacts_warm_start(cairn_world *world);
void cairn_contacts_iterate(cairn_world *world);
void cairn_contacts_store(cairn_world *world);

// Whether anything in the contact or joint moves, so that it needs a constraint.
bool cairn_pair_solved(const cairn_world *world, uint32_t body_a, uint32_t body_b);

// Greedy colouring in the order of calls.
void cairn_batches_begin(cairn_world *world);
// The batch of the next constraint between two body slots.
uint32_t cairn_batches_assign(cairn_world *world, uint32_t body_a, uint32_t body_b);
// From how many each batch has (in start[batch + 1]) to where each begins, and from the batch of
// each element (CAIRN_PGS_BATCHES: none) to its place.
void cairn_batches_place(
    cairn_batches *batches, const uint32_t *batch_of, uint32_t *place_of, uint32_t count);

// the PGS solver's rows about axes, for a constraint of a kind that has them; and what they
// leave in the joint for the next step.
void cairn_joint_rows_prepare(const cairn_world *world, cairn_joint_constraint *constraint);
void cairn_joint_rows_store(const cairn_joint_constraint *constraint, cairn_joint *joint);

// The value if it is finite, +0 otherwise and for -0: what may be stored as an impulse.
static inline float impulse_stored(float impulse) {
    return float_finite(impulse) ? impulse + 0.0f : 0.0f;
}

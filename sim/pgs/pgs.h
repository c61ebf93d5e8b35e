// SPDX-License-Identifier: MIT
#pragma once

// The PGS solver: rows of velocity constraints solved by projected Gauss-Seidel in its sequential
// impulse form, with Baumgarte stabilisation (Catto 2005). It is here for the results of that
// paper; the default solver is sim/soft_step. It solves constraint by constraint, without lanes and
// on one thread, in the order of the constraint graph.

#include "sim/body/gyroscopic.h"
#include "sim/collide/material.h"
#include "sim/constraint/graph.h"
#include "sim/constraint/joint_rows.h"
#include "sim/reference/solve.h"
#include "sim/state/world.h"

// A body as the solver sees it, by slot. A body that takes no impulses has inverse mass and inertia
// zero and is never written.
typedef struct cairn_pgs_body {
    cairn_vec3 linear_velocity;
    cairn_vec3 angular_velocity;
    cairn_vec3 velocity_change;   // m/s, by forces and gravity in this step
    float inverse_mass;           // for effective masses
    cairn_vec3 inverse_mass_axes; // as impulses see it: 0 along locked axes
    cairn_sym3 inverse_inertia;   // world axes
    uint32_t takes_impulses;      // 0 or 1
    uint32_t gyroscopic;          // 0 or 1: with gyroscopic torque
    uint32_t at_rest;             // 0 or 1: takes no impulses and has no velocity
    uint32_t met;   // the last round of impacts of this step in which a gap closed; 0: none
    uint32_t parts; // how many contacts of it collide in this round
} cairn_pgs_body;

typedef struct cairn_pgs_contact_row {
    cairn_vec3 arm_a; // from the centre of mass to the point
    cairn_vec3 arm_b;
    float normal_mass; // effective masses
    cairn_vec3 chord;  // m/s, the velocity that friction sees in addition
    float tangent_mass[2];
    float bias;           // m/s, the desired normal velocity
    float separation;     // m, at the start of the step
    float friction_bound; // N s, CAIRN_FRICTION_CONSTANT; -1 with Coulomb friction
    float normal_impulse; // accumulated
    float tangent_impulse[2];
    // Of an impact: whether the point takes part, its normal velocity after it, and its impulses.
    uint32_t takes_part; // 0 or 1
    float impact_target;
    float impact_impulse;
    float impact_tangent_impulse[2];
    float impact_reflected[3]; // the normal impulse and those of friction, if it is reflected
} cairn_pgs_contact_row;

typedef struct cairn_pgs_contact {
    uint32_t contact; // index in the contact list
    uint32_t body_a;  // slots
    uint32_t body_b;
    uint32_t row_count;
    cairn_vec3 normal;
    cairn_vec3 tangents[2];
    cairn_contact_material material;
    float friction;              // of the material: static or sliding
    cairn_vec3 surface_velocity; // m/s, of b's surface less that of a's, beyond the bodies'
    bool resists;                // rolling or spinning
    float spin_mass;             // effective masses, about the normal and the tangents
    float rolling_mass[2];
    float spin_impulse; // N m s, accumulated in the step
    float rolling_impulse[2];
    float impact_impulse; // N s, normal, of all rounds of impacts
    uint32_t impact;      // 0 or 1: the bodies collide in this round of impacts
    uint32_t nearly;      // 0 or 1: they do if one of them collides with another body
    // Rows of its system: of the first point, and from each point to the next.
    uint32_t normal_row, normal_stride;
    uint32_t tangent_row, tangent_stride;
    uint32_t resistance_row;
    cairn_pgs_contact_row rows[CAIRN_MANIFOLD_POINTS_MAX];
} cairn_pgs_contact;

// A row about an axis: of the angular velocity of b relative to a.
typedef struct cairn_pgs_angular_row {
    cairn_vec3 axis;
    // What one newton metre second of the row does, so that the rows that were solved before it
    // stay solved: a torque on b, an impulse on b's anchor, and less of the first two rows.
    cairn_vec3 torque;
    cairn_vec3 holding;
    float taken[2];
    float mass;         // effective, of that
    float bias;         // rad/s, the desired angular velocity
    float impulse;      // accumulated
    uint32_t one_sided; // 0 or 1: the impulse stays >= 0
} cairn_pgs_angular_row;

// A hinge has two for its axes and two for its limits.
#define CAIRN_PGS_ANGULAR_ROWS_MAX 4

// K of a joint with axes as L D L^T, with ones on the diagonal of L: substitution in floats is
// exact enough for small bodies on long arms, an inverse is not (sim/soft_step/joint_angular.h).
typedef struct cairn_pgs_factor {
    float l21, l31, l32;
    cairn_vec3 inverse_d;
} cairn_pgs_factor;

typedef struct cairn_pgs_joint {
    uint32_t joint; // slot
    uint32_t kind;
    uint32_t body_a;
    uint32_t body_b;
    cairn_vec3 arm_a;
    cairn_vec3 arm_b;
    cairn_vec3 axis;         // distance: unit, from a to b
    cairn_sym3 inverse_mass; // ball: inverse of K; distance: effective mass in xx
    cairn_pgs_factor factor; // with axes: of K
    cairn_vec3 bias;         // m/s; distance: in x
    cairn_vec3 impulse;
    uint32_t row_count;
    // A hinge: two across its axis, then its limits. A cone: its swing, then its limits.
    cairn_pgs_angular_row rows[CAIRN_PGS_ANGULAR_ROWS_MAX];
} cairn_pgs_joint;

// What a laboratory solver needs; empty unless the world has one.
typedef struct cairn_laboratory {
    cairn_mlcp system;
    cairn_solve_work work;
    double *impulses; // by row
    cairn_solve_report report;
} cairn_laboratory;

struct cairn_pgs {
    cairn_pgs_body *bodies;
    cairn_gyroscopic *gyroscopic; // by slot, of the bodies with gyroscopic torque
    uint32_t *body_points;        // contact points of each body, CAIRN_FRICTION_CONSTANT
    cairn_constraint_graph contact_graph;
    cairn_constraint_graph joint_graph;
    cairn_pgs_contact *contacts; // in the order of solving
    float *contact_impulses;     // N s, normal, by contact, with those of impacts: for hit events
    cairn_pgs_joint *joints;     // in the order of solving
    cairn_joint_rows *driven;    // rows of driven joints, in order of slot
    uint32_t driven_count;
    cairn_laboratory laboratory;
};

void cairn_pgs_allocate(cairn_pgs *pgs, cairn_arena *from, const cairn_world_def *def);

// The parts of a step. Velocities from forces; fills the solver's bodies.
void cairn_pgs_integrate_forces(cairn_world *world);
// Collects the active contacts and joints, and prepares their rows.
void cairn_pgs_prepare(cairn_world *world);
// Prepares, solves and stores the accumulated impulses.
void cairn_pgs_solve(cairn_world *world);
// Solved velocities into the block, and poses from velocities; a body whose next state is invalid
// is disabled at its last valid one.
void cairn_pgs_integrate_positions(cairn_world *world);

// The contacts: the edges of the contact graph.
void cairn_pgs_contacts_prepare(cairn_world *world);
void cairn_pgs_contacts_warm_start(cairn_world *world);
// One sweep over all rows.
void cairn_pgs_contacts_solve(cairn_world *world);
// Both friction rows of a point with these accumulated impulses. Coulomb: the pair stays inside the
// circle of radius friction times `normal_impulse`; otherwise each by itself inside
// row->friction_bound.
void cairn_pgs_solve_friction(const cairn_pgs_contact *constraint, const cairn_pgs_contact_row *row,
    float normal_impulse, float impulses[2], cairn_pgs_body *a, cairn_pgs_body *b);
// Accumulated impulses into the contact list.
void cairn_pgs_contacts_store(cairn_world *world);

// Lets the bodies with restitution that meet within the step bounce.
void cairn_pgs_impacts_solve(cairn_world *world);

// The joints: the edges of the joint graph, as for contacts.
void cairn_pgs_joints_prepare(cairn_world *world);
void cairn_pgs_joints_warm_start(cairn_world *world);
void cairn_pgs_joints_solve(cairn_world *world);
void cairn_pgs_joints_store(cairn_world *world);

// Driven joints: the rows of sim/constraint/joint_rows.h, in order of slot.
void cairn_pgs_driven_prepare(cairn_world *world);
void cairn_pgs_driven_warm_start(cairn_world *world);
void cairn_pgs_driven_solve(cairn_world *world);
void cairn_pgs_driven_store(cairn_world *world);
cairn_row_time cairn_pgs_row_time(const cairn_world *world);
// With the velocities that the step ends with: what gears have turned too much.
void cairn_pgs_driven_advance(cairn_world *world);

// The laboratory solvers, on the rows above as a system.
cairn_mlcp_capacity cairn_laboratory_capacity(uint32_t bodies, uint32_t contacts, uint32_t joints);
void cairn_laboratory_allocate(
    cairn_laboratory *laboratory, cairn_arena *from, const cairn_world_def *def);
// Writes down the system of prepared contacts and joints, and the impulses to start from, by row.
// The bodies of the system have the velocities that the solver's bodies have now.
void cairn_laboratory_build(cairn_world *world, cairn_mlcp *system, double *impulses);
// In place of the sweeps.
void cairn_laboratory_solve(cairn_world *world);

// SPDX-License-Identifier: MIT
#pragma once

// An articulation through a step: where its joints are, its tree at that pose, and the joints'
// drives. Poses and velocities of bodies are the state; joint coordinates are read from them when a
// step begins, and the poses follow from the coordinates from then on. Rotations are read as
// quaternions, so reading them back loses nothing but rounding.

#include "sim/articulation/tree.h"
#include "sim/state/world.h"

// How an axis is driven, beside its springs.
typedef enum cairn_axis_mode {
    CAIRN_AXIS_FREE,
    CAIRN_AXIS_HOLDS,     // motor or friction hold its speed
    CAIRN_AXIS_PUSHES_UP, // they do what they can
    CAIRN_AXIS_PUSHES_DOWN,
    CAIRN_AXIS_AT_LOWER, // it is held at a limit
    CAIRN_AXIS_AT_UPPER,
} cairn_axis_mode;

typedef struct cairn_figure_axis {
    float armature;
    float stiffness; // N m/rad or N/m
    float rate;      // N m s/rad or N s/m
    float pull;      // N m or N: torque, and the spring at its present length
    float speed;     // of motor or friction
    float least;     // N m or N, between which they are
    float most;
    float below; // how far it may go down and up before a limit
    float above;
    uint32_t mode; // cairn_axis_mode
    float impulse; // N m s or N s in this substep, without motor and friction; in: of the solve
} cairn_figure_axis;

typedef struct cairn_figure_link {
    uint32_t body;        // slot
    uint32_t solver_body; // of the soft-step solver
    uint32_t drive;       // index; CAIRN_INDEX_NONE: a root that floats
    const cairn_joint *joint;
    cairn_quat frame_a; // of the joint, in the parent's and the link's frame
    cairn_quat frame_b;
    cairn_vec3 arm_a; // from the centre of mass to the anchor, in these frames
    cairn_vec3 arm_b;
    float mass;
    cairn_sym3 inertia; // body axes
    float solver_mass;  // what the solver's impulses meet
    cairn_sym3 solver_inertia;
    cairn_quat turn; // of the joint: b's frame in a's
    float travel;    // m, of a prismatic joint
    // Pose and velocity of the centre of mass, from the origin of the figure.
    cairn_quat rotation;
    cairn_vec3 position;
    cairn_vec3 linear_velocity;
    cairn_vec3 angular_velocity;
    cairn_vec3 tree_position; // where the centre of mass was when the tree was set
    cairn_vec3 push;          // N s: by contacts and other joints in this substep
    cairn_vec3 twist;         // N m s
} cairn_figure_link;

// Arrays of one length run side by side: links of the tree, axes of the tree.
typedef struct cairn_figure {
    cairn_tree tree;
    cairn_figure_link *links;
    cairn_figure_axis *axes;
    cairn_vec3 origin; // the reference point in the world
    uint32_t base;     // body slot that the first link hangs on; CAIRN_INDEX_NONE: it floats
    cairn_quat base_rotation;
    cairn_vec3 base_position; // of its centre of mass, from the origin
    bool plain;    // spherical axes are those of the joint's frame, for the public functions
    bool started;  // the tree has the speeds of a substep
    bool factored; // the tree is, for its present locks
} cairn_figure;

// Axes of a joint of that kind.
uint32_t cairn_joint_axis_count(uint32_t kind);
// Fills link `index`, of which body and joint are set, from the state; the parent's is filled.
void cairn_figure_load(const cairn_world *world, cairn_figure *figure, uint32_t index);
// Poses from joint coordinates, parents first.
void cairn_figure_place(cairn_figure *figure);
// The tree's axes and inertias, and the springs and limits, at the present pose.
void cairn_figure_set_tree(const cairn_world *world, cairn_figure *figure);
// The speed along an axis that the velocities of link and parent have.
float cairn_figure_speed(const cairn_figure *figure, uint32_t link, uint32_t axis);
// Moves the joint coordinates on by the tree's speeds, and the poses with them.
void cairn_figure_advance(cairn_figure *figure, float h);
// The position of an axis of a hinge or prismatic joint: rad or m.
float cairn_figure_position(const cairn_figure_link *link);
// The velocities of the links from the tree's.
void cairn_figure_read_velocities(cairn_figure *figure);
// Solves for the speeds, of which the tree's biases and forces are set: motors, friction and limits
// are found in at most `rounds` tries. `h`: s. `push_out`: a limit that is passed is gone back to.
void cairn_figure_solve(cairn_figure *figure, float h, uint32_t rounds, bool push_out);

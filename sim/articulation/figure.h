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
    float rotor;   // rad/s or m/s, of the armature, before the substep
    float aside;   // of it, what the joints did not let move
} cairn_figure_axis;

typedef struct cairn_figure_link {
    uint32_t body;        // slot
    uint32_t figure;      // index in the forest
    uint32_t solver_body; // of the soft-step solver
    uint32_t drive;       // index; CAIRN_INDEX_NONE: a root that floats
    const cairn_joint *joint;
    cairn_quat frame_a; // of the joint, in the parent's and the link's frame
    cairn_quat frame_b;
    cairn_vec3 arm_a; // from the centre of mass to the anchor, in these frames
    cairn_vec3 arm_b;
    float mass;
    cairn_sym3 inertia; // body axes
    cairn_sym3 inverse_inertia;
    float solver_mass; // what the solver's impulses meet
    cairn_sym3 solver_inertia;
    cairn_sym3 world_inertia; // at the start of the step
    cairn_quat turn;          // of the joint: b's frame in a's
    float travel;             // m, of a prismatic joint
    cairn_vec3 spin;          // rad/s, of the joint in a's frame; m/s in x of a prismatic one
    cairn_vec3 axis;          // the x axis of a's frame, in the world
    cairn_vec3 anchor;        // of the link, from the origin of the figure
    // Pose and velocity of the centre of mass, from the origin of the figure.
    cairn_quat rotation;
    cairn_vec3 position;
    cairn_vec3 linear_velocity;
    cairn_vec3 angular_velocity;
    cairn_vec3 tree_position; // where the centre of mass was when the tree was set
    cairn_quat tree_rotation;
    cairn_vec3 start; // where it was when the substep began
    // What is carried from substep to substep: momentum, N s, and N m s about the centre of mass;
    // the armatures' speeds, like `spin`; and the rotation's share of the energy, twice.
    cairn_vec3 momentum;
    cairn_vec3 angular_momentum;
    cairn_vec3 rotor;
    cairn_vec3 carried_from; // where the centre of mass was
    float turning;
    cairn_spatial aside; // momentum that the joints did not let move, half way
    cairn_vec3 push;     // N s: by contacts and other joints in this substep
    cairn_vec3 twist;    // N m s
} cairn_figure_link;

// Arrays of one length run side by side: links of the tree, axes of the tree.
typedef struct cairn_figure {
    cairn_tree tree;
    cairn_figure_link *links;
    cairn_figure_axis *axes;
    cairn_vec3 origin; // the reference point in the world
    uint32_t base;     // body slot that the first link hangs on; CAIRN_INDEX_NONE: it floats
    cairn_quat base_rotation;
    cairn_vec3 base_position;      // of its centre of mass, from the origin
    cairn_quat tree_base_rotation; // where the base was when the tree was set
    cairn_quat root_rotation;      // of a root that floats, while its links are placed ahead
    cairn_vec3 root_position;
    cairn_spatial mean; // velocity of all links as one body; of a figure on a base none
    float excess;  // N m: what gravity did to the speeds in a substep beyond its work on the way
    bool touched;  // contacts or other joints push links
    bool fast;     // some link turns far in a substep
    bool held;     // of a figure in lanes: some axis has a motor or friction
    bool plain;    // spherical axes are those of the joint's frame, for the public functions
    bool started;  // the tree has the speeds of a substep
    bool factored; // the tree is, for its present locks
    bool solved;   // it is, too, for its present biases, and impulses of axes without locks
} cairn_figure;

// Axes of a joint of that kind.
uint32_t cairn_joint_axis_count(uint32_t kind);
// Fills link `index`, of which body and joint are set, from the state; the parent's is filled.
void cairn_figure_load(const cairn_world *world, cairn_figure *figure, uint32_t index);
// Poses from joint coordinates, parents first, as they are after the joints have gone on at their
// spins for `ahead` seconds. A root that floats is placed already.
void cairn_figure_place(cairn_figure *figure, float ahead);
// The tree's axes and inertias, and the springs and limits, at the present pose.
void cairn_figure_set_tree(const cairn_world *world, cairn_figure *figure);
// The speed along an axis that the velocities of link and parent have.
float cairn_figure_speed(const cairn_figure *figure, uint32_t link, uint32_t axis);
// A vector of the joint's frame of a, like spins, as the tree has it, in the world.
cairn_vec3 cairn_figure_from_joint(const cairn_figure *figure, uint32_t link, cairn_vec3 vector);
// Takes the spins of joints and armatures from the tree's speeds.
void cairn_figure_set_spins(cairn_figure *figure);
// Moves the joint coordinates and a root that floats on by the spins and the root's velocity.
void cairn_figure_advance(cairn_figure *figure, float h);
// The position of an axis of a hinge or prismatic joint: rad or m.
float cairn_figure_position(const cairn_figure_link *link);
// The velocities of the links from the tree's.
void cairn_figure_read_velocities(cairn_figure *figure);
// Solves for the speeds, of which the tree's biases and forces are set: motors, friction and limits
// are found in at most `rounds` tries. `h`: s. `push_out`: a limit that is passed is gone back to.
void cairn_figure_solve(cairn_figure *figure, float h, uint32_t rounds, bool push_out);

// ---- What drives one axis in a substep of h seconds
//
// Of a motor and of friction: the speed that they hold, and the forces between which they are.
void cairn_axis_set_hold(cairn_figure_axis *axis, const cairn_joint_drive *drive, float speed);
// Sets the lock, the value and the force of an axis to what its mode does. `dof->force` is that of
// what acts in any mode.
void cairn_axis_set_mode(
    const cairn_figure_axis *axis, cairn_tree_dof *dof, float h, bool push_out);
// The mode that what came of the present one asks for.
uint32_t cairn_axis_next_mode(
    const cairn_figure_axis *axis, const cairn_tree_dof *dof, float h, bool push_out);
// Whether a motor that held its speed needed more than it has: it pushes then. What holds is let go
// and nothing else, so this ends.
bool cairn_axis_weaken(cairn_figure_axis *axis, const cairn_tree_dof *dof, float h);

// SPDX-License-Identifier: MIT
#pragma once

// Articulated bodies: trees of bodies that are held by joints in joint coordinates. A joint with
// `articulated` (cairn/joint.h) hangs its body b on its body a. The topmost body floats, unless its
// own joint leads to a body that impulses do not move: its base. Links are bodies like all others:
// they have shapes, touch and are touched, and ordinary joints may hold them, too, which closes
// loops.
//
// Poses and velocities of the bodies are what a world stores; positions and speeds of joints are
// read from them. So a link may be pushed, given a velocity or put elsewhere like any body: the
// next step takes of it what the joints allow. In a step the bodies follow from the joints, so
// anchors agree to rounding at any time. Fast links are not swept: thin ones may pass through.
//
// Links that nothing pushes keep their energy or lose some of it; they never gain any. An ordinary
// joint that ends at a link closes a gap at 1 m/s at most.
//
// The solver: Featherstone, Rigid Body Dynamics Algorithms, 2008; see docs/PHYSICS.md, Articulated
// bodies. Only worlds of CAIRN_SOLVER_SOFT_STEP have it.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/joint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Links on the way from the first one down to any other. A joint that would make it longer is
// refused. cairn_joint_create also refuses an articulated joint with CAIRN_INVALID_ARGUMENT if body
// b hangs on another body already or body a hangs on b; and with CAIRN_WRONG_STATE if b is not
// dynamic, has no mass or has locks, or if the world has another solver. While b is not dynamic or
// one of the two is not enabled, the joint exerts nothing.
#define CAIRN_ARTICULATION_LINKS_MAX 256

// The calls below name an articulation by any of its links, and return CAIRN_NOT_FOUND for
// a body that is not a link. Arrays of numbers have one for each axis: `axis_count`, or
// CAIRN_CAPACITY is returned. An articulation that floats has six axes more, and they come first:
// angular velocity and linear velocity of the centre of mass of its root, world axes. A hinge and a
// prismatic joint have one, ball and cone three, in the joint's frame of a; a weld none. They are
// computed from the state at each call; two threads must not call them for one world at once.

typedef struct cairn_articulation {
    cairn_body_id root;  // its first link
    cairn_body_id base;  // what that hangs on; CAIRN_ID_NULL: it floats
    uint32_t link_count; // the root is one of them
    uint32_t axis_count;
} cairn_articulation;

cairn_status cairn_articulation_read(
    const cairn_world *world, cairn_body_id link, cairn_articulation *out);
// The links, parents first, the joint of each (CAIRN_ID_NULL: a root that floats), and the first of
// its axes; NULL: not wanted. CAIRN_CAPACITY: `capacity` is less than link_count.
cairn_status cairn_articulation_links(const cairn_world *world, cairn_body_id link,
    cairn_body_id *bodies, cairn_joint_id *joints, uint32_t *axes, uint32_t capacity);
// rad and m; of ball and cone a rotation vector, of a root that floats its rotation as one and the
// place of its centre of mass.
cairn_status cairn_articulation_positions(
    const cairn_world *world, cairn_body_id link, float *out, uint32_t count);
// rad/s and m/s.
cairn_status cairn_articulation_speeds(
    const cairn_world *world, cairn_body_id link, float *out, uint32_t count);
// Put all links where the positions say, like cairn_body_set_pose, or give them the velocities that
// the speeds say. CAIRN_NON_FINITE, or what these functions return.
cairn_status cairn_articulation_set_positions(
    cairn_world *world, cairn_body_id link, const float *positions, uint32_t count);
cairn_status cairn_articulation_set_speeds(
    cairn_world *world, cairn_body_id link, const float *speeds, uint32_t count);
// Sets drive_torque of all joints, and wakes them. N m and N. Those of a root that floats are
// applied to it as a torque and a force during the next step.
cairn_status cairn_articulation_set_torques(
    cairn_world *world, cairn_body_id link, const float *torques, uint32_t count);

// The mass matrix, with armatures: axis_count * axis_count numbers, row by row.
cairn_status cairn_articulation_mass_matrix(
    const cairn_world *world, cairn_body_id link, float *out, uint32_t count);
// The Jacobian of a world point of `link`: six rows of axis_count numbers, angular velocity and
// velocity of the point. `count` is 6 * axis_count.
cairn_status cairn_articulation_jacobian(
    const cairn_world *world, cairn_body_id link, cairn_vec3 point, float *out, uint32_t count);
// The forces along the axes that make these accelerations, under gravity, the forces that are
// applied to the links, and their present speeds; and the accelerations that forces make. Springs,
// motors, friction, limits and contacts are left out. rad/s^2, m/s^2; N m, N.
cairn_status cairn_articulation_inverse_dynamics(const cairn_world *world, cairn_body_id link,
    const float *accelerations, float *out, uint32_t count);
cairn_status cairn_articulation_forward_dynamics(
    const cairn_world *world, cairn_body_id link, const float *forces, float *out, uint32_t count);

#ifdef __cplusplus
}
#endif

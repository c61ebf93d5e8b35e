// SPDX-License-Identifier: MIT
#pragma once

// Joints: what holds two bodies together, and what drives them. A joint is a set of rows, each of
// which bounds one velocity of body b relative to body a: rows that hold the two together, and rows
// of springs, motors and limits along what is left free. Both solvers have all kinds.
// docs/PHYSICS.md, Joints, says how the rows are solved. cairn/sim.h includes this header.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/status.h>
#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// One bounded row for a constraint of a game's own (Catto 2005, section 4): the solver looks for an
// impulse along J that makes J V = velocity, from `lower` to `upper` times the time step. J V is
// linear_a . v_a + angular_a . w_a + linear_b . v_b + angular_b . w_b, with the velocities of the
// centres of mass. All in world axes, so rules set the row again in each tick in which the bodies
// turn. A J of zero has no effect.
typedef struct cairn_joint_row {
    cairn_vec3 linear_a; // |component| <= 1e4, here and in the next three
    cairn_vec3 angular_a;
    cairn_vec3 linear_b;
    cairn_vec3 angular_b;
    float lower;    // N or N m, the smallest force along J; |lower|, |upper| <= CAIRN_FORCE_MAX
    float upper;    // at least `lower`
    float velocity; // m/s or rad/s
} cairn_joint_row;

// A joint is described by the fields that its kind uses (cairn_joint_kind, in cairn/types.h); the
// other fields are ignored, and read as 0. A def of zeros but for kind and bodies is a plain joint,
// except that kinds with axes need those.
typedef struct cairn_joint_def {
    uint32_t kind; // cairn_joint_kind
    cairn_body_id body_a;
    cairn_body_id body_b;
    cairn_vec3 anchor_a;        // in body a's frame, m
    cairn_vec3 anchor_b;        // in body b's frame, m
    float length;               // m, distance and pulley: [0, 1e4]
    uint32_t collide_connected; // 0 or 1
    uint32_t user;              // the caller's, hashed and carried along
    uint32_t name;              // cairn_name_hash; 0: none. See cairn_world_find_joints
    // Hinge, cone, prismatic, weld, wheel, motor, gear. An axis and its normal are a frame of the
    // body: axis, normal and their cross product. Both have a length in [0.9, 1.1] and are
    // normalised at create; a normal may have at most 0.1 along its axis, which create removes. The
    // angle of a joint is the twist of b about its axis, after the shortest rotation took b's axis
    // onto a's: 0 if the normals coincide, positive from a's normal to b's by the right-hand rule.
    cairn_vec3 axis_a;   // in body a's frame
    cairn_vec3 axis_b;   // in body b's frame
    cairn_vec3 normal_a; // in body a's frame, perpendicular to axis_a
    cairn_vec3 normal_b; // in body b's frame, perpendicular to axis_b
    float cone;          // rad, cone: the largest angle between the axes, [0, pi]
    // Limits of the position: of the angle (hinge, cone) -pi <= lower <= upper <= pi rad, of the
    // way along the axis (prismatic, wheel) and of the length (distance) -1e4 <= lower <= upper <=
    // 1e4 m.
    float lower;
    float upper;
    uint32_t limited; // 0 or 1: the position stays in [lower, upper]

    uint32_t disabled; // 0 or 1: exerts nothing; its bodies still do not collide
    // How firmly the rows that hold the bodies are held, as a spring of this frequency and damping
    // ratio. 0: as firmly as the world's joint_hertz says, like a rigid link.
    float hertz;   // [0, 1000]
    float damping; // [0, 100]
    // A spring along the free position. Its stiffness is m (2 pi spring_hertz)^2, where m is the
    // mass that the two bodies oppose to it. It rests at `target`: an angle (hinge), a way along
    // the axis (prismatic, wheel) in m; at `length` (distance); at target_rotation (ball, cone).
    uint32_t spring;      // 0 or 1
    float spring_hertz;   // [0, 1000]
    float spring_damping; // damping ratio, [0, 100]
    float target;         // |target| <= 1e4 m, pi rad
    // Motor: where b's anchor shall be from a's anchor, in the frame of a. |component| <= 1e5 m.
    cairn_vec3 target_position;
    // Ball, cone, motor: b's frame relative to a's. A length in [0.9, 1.1], or all 0: none.
    cairn_quat target_rotation;
    // Drives the free velocity towards a speed with at most this force: hinge, prismatic, wheel
    // (spin about axis_b), ball and cone (towards motor_velocity).
    uint32_t motor;            // 0 or 1
    float motor_speed;         // rad/s, prismatic: m/s; |speed| <= 1e4
    cairn_vec3 motor_velocity; // rad/s, of b relative to a in a's frame
    float motor_force;         // N m, prismatic: N; motor: N; [0, CAIRN_FORCE_MAX]
    float motor_torque;        // N m, motor; [0, CAIRN_FORCE_MAX]
    // Wheel: a spring that turns the wheel about the suspension to an angle, with a bounded torque.
    uint32_t steering;      // 0 or 1; 0: it keeps straight ahead
    float steering_hertz;   // (0, 1000] if it steers
    float steering_damping; // [0, 100]
    float steering_target;  // rad, [-pi / 2, pi / 2]
    float steering_torque;  // N m, [0, CAIRN_FORCE_MAX]
    float ratio;            // gear, pulley: not 0, |ratio| <= 1e4; pulley: above 0
    cairn_vec3 fixed_a;     // pulley: the point in the world from which the rope of a hangs
    cairn_vec3 fixed_b;
    cairn_joint_row row; // row
    // A joint breaks when the force or the torque by which it holds the bodies exceeds this at the
    // end of a step: it is destroyed, and the step has an event.
    uint32_t breakable; // 0 or 1
    float break_force;  // N, (0, CAIRN_FORCE_MAX] if it is breakable
    float break_torque; // N m, (0, CAIRN_FORCE_MAX]
    // Hinge, prismatic, ball, cone, weld: b hangs on a in joint coordinates (cairn/articulation.h).
    // The joint never opens, and what follows drives it. Such a joint has no spring, no hertz, and
    // neither breaks nor is disabled. Set at create only.
    uint32_t articulated;    // 0 or 1
    float drive_stiffness;   // N m/rad (prismatic: N/m), towards `target` or target_rotation
    float drive_damping;     // N m s/rad (prismatic: N s/m); both [0, CAIRN_FORCE_MAX]
    cairn_vec3 drive_torque; // N m on b, in the joint's frame of a; x alone if it has one axis
    float joint_friction;    // N m (prismatic: N) of dry friction, about each axis
    float armature;          // kg m^2 (prismatic: kg), of what turns with the joint: a rotor
} cairn_joint_def;

// A ball joint; axes x, normals y, a cone of pi, no limits; target_rotation none, ratio 1, springs
// of 1 Hz and damping ratio 1, unbounded forces.
cairn_joint_def cairn_joint_def_default(void);
// Joins two bodies and wakes them. CAIRN_NOT_FOUND for a body that does not exist, CAIRN_CAPACITY,
// CAIRN_INVALID_ARGUMENT (two equal bodies, limits in the wrong order, a zero axis, a break force
// of zero) or CAIRN_NON_FINITE set *out to null.
cairn_status cairn_joint_create(
    cairn_world *world, const cairn_joint_def *def, cairn_joint_id *out);
// Removes a joint and wakes its bodies. CAIRN_NOT_FOUND on a stale id, here and in the calls below.
cairn_status cairn_joint_destroy(cairn_world *world, cairn_joint_id joint);
// The present position error of the joint, m: how far its anchors are from where it holds them.
cairn_status cairn_joint_error(const cairn_world *world, cairn_joint_id joint, float *out);
// The def as stored: fields that the kind ignores are 0.
cairn_status cairn_joint_read(const cairn_world *world, cairn_joint_id joint, cairn_joint_def *def);

typedef struct cairn_joint_angles {
    float swing; // rad, between the two axes, [0, pi]
    float twist; // rad, of b about its axis, [-pi, pi]
} cairn_joint_angles;

// The present angles of a joint. CAIRN_INVALID_ARGUMENT: joints of this kind have no axes.
cairn_status cairn_joint_angles_read(
    const cairn_world *world, cairn_joint_id joint, cairn_joint_angles *out);

// Where the free position of a joint is now, and how it moves: the angle of a hinge, the way along
// the axis of a prismatic or wheel joint, the length of a distance joint or of a pulley's rope.
// CAIRN_INVALID_ARGUMENT for other kinds.
typedef struct cairn_joint_travel {
    float position; // m or rad
    float velocity; // m/s or rad/s
} cairn_joint_travel;
cairn_status cairn_joint_travel_read(
    const cairn_world *world, cairn_joint_id joint, cairn_joint_travel *out);

// The force and the torque of a joint on body b at its anchor, by all its rows, means over the last
// substep (CAIRN_SOLVER_PGS: over the step); a gets the opposite force at its own anchor. World
// axes. Gears, pulleys and rows act differently on both: force and torque on b's centre of mass.
typedef struct cairn_joint_reaction {
    cairn_vec3 force;  // N
    cairn_vec3 torque; // N m
} cairn_joint_reaction;
cairn_status cairn_joint_reaction_read(
    const cairn_world *world, cairn_joint_id joint, cairn_joint_reaction *out);

// ---- Changes. Each wakes the bodies, unless the joint already is as asked: so rules may set the
// same value in each tick. Refused like create, with the joint unchanged.

// Anything but kind, bodies and collide_connected, which must be those of the joint.
cairn_status cairn_joint_set(cairn_world *world, cairn_joint_id joint, const cairn_joint_def *def);
// Turns the motor on, of kinds with motor_speed.
cairn_status cairn_joint_set_motor(
    cairn_world *world, cairn_joint_id joint, float speed, float force);
cairn_status cairn_joint_set_limits(
    cairn_world *world, cairn_joint_id joint, float lower, float upper);
// Turns the spring on. Hertz 0 turns it off.
cairn_status cairn_joint_set_spring(
    cairn_world *world, cairn_joint_id joint, float hertz, float damping);
// Of the spring, `target`; of a distance joint, `length`.
cairn_status cairn_joint_set_target(cairn_world *world, cairn_joint_id joint, float target);
cairn_status cairn_joint_set_steering(cairn_world *world, cairn_joint_id joint, float target);
cairn_status cairn_joint_set_softness(
    cairn_world *world, cairn_joint_id joint, float hertz, float damping);
cairn_status cairn_joint_set_enabled(cairn_world *world, cairn_joint_id joint, bool enabled);
cairn_status cairn_joint_set_row(
    cairn_world *world, cairn_joint_id joint, const cairn_joint_row *row);

// Write the ids of all joints, or of those of a body, in order of index, at most `capacity`. Return
// how many there are.
uint32_t cairn_world_joints(const cairn_world *world, cairn_joint_id *out, uint32_t capacity);
uint32_t cairn_body_joints(
    const cairn_world *world, cairn_body_id body, cairn_joint_id *out, uint32_t capacity);

// ---- Events, of the last step, like those of contacts (cairn/sim.h): part of the state.

typedef enum cairn_joint_event_kind {
    CAIRN_JOINT_BROKE = 1, // and was destroyed
} cairn_joint_event_kind;

typedef struct cairn_joint_event {
    uint32_t kind;        // cairn_joint_event_kind
    cairn_joint_id joint; // no longer exists
    cairn_body_id body_a;
    cairn_body_id body_b;
    float force;  // N, by which it held the bodies
    float torque; // N m
} cairn_joint_event;

// In order of id index.
const cairn_joint_event *cairn_world_joint_events(const cairn_world *world, uint32_t *count);

#ifdef __cplusplus
}
#endif

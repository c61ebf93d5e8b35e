// SPDX-License-Identifier: MIT
#pragma once

// Driven joints as sets of bounded rows (Catto 2005), for both solvers; without lanes, one joint
// after the other. A row bounds one velocity J V of the two bodies. Rows form blocks, and a block
// is solved at once by the Cholesky factor of its J M^-1 J^T.
//
// The first block of most kinds holds the bodies together. The others act along what it leaves
// free: their impulses act along J less its part that the first block would have to undo, so that
// solving them keeps it solved. Therefore a motor moves a door with the inertia about its hinge,
// not with that about its centre, and one sweep over the blocks solves a joint.
//
// A spring is a force. Its impulse is the same in the relax pass, and in the biased pass it is
// -h (k x + c v) with the position x at the start of the substep: with the new velocity this is
// symplectic Euler, which keeps the energy of an oscillation, where implicit Euler loses the
// fraction (w h)^2 / 2 of the amplitude in a substep. The damping c v is implicit. The stiffer the
// spring, the more of k h v is added to it, up to implicit Euler at 0.7 rad in a substep.

#include "sim/state/world.h"

typedef struct cairn_row_body {
    cairn_vec3 linear_velocity;
    cairn_vec3 angular_velocity;
    cairn_vec3 inverse_mass; // along the axes of the world
    cairn_sym3 inverse_inertia;
    bool moves; // false: no impulse moves it
} cairn_row_body;

// Of the centre of mass.
typedef struct cairn_row_pose {
    cairn_vec3 position;
    cairn_quat rotation;
} cairn_row_pose;

typedef struct cairn_jacobian {
    cairn_vec3 linear_a, angular_a;
    cairn_vec3 linear_b, angular_b;
} cairn_jacobian;

static inline cairn_jacobian cairn_jacobian_difference(
    const cairn_jacobian *j, const cairn_jacobian *k) {
    return (cairn_jacobian){.linear_a = vec3_sub(j->linear_a, k->linear_a),
        .angular_a = vec3_sub(j->angular_a, k->angular_a),
        .linear_b = vec3_sub(j->linear_b, k->linear_b),
        .angular_b = vec3_sub(j->angular_b, k->angular_b)};
}

typedef enum cairn_block_kind {
    CAIRN_BLOCK_OFF = 0,
    CAIRN_BLOCK_HOLD,   // removes `error`, soft in the biased pass
    CAIRN_BLOCK_SPRING, // the force of a spring that is stretched by `error`
    CAIRN_BLOCK_MOTOR,  // J V becomes `target`
    CAIRN_BLOCK_LIMIT,  // one row: `error` is the slack, and the impulse is not negative
} cairn_block_kind;

// Of an impulse in the biased pass: -(K^-1 (position * error + velocity * J V) + impulse * sum).
typedef struct cairn_row_softness {
    float position; // 1/s
    float velocity;
    float impulse;
} cairn_row_softness;

typedef struct cairn_row_block {
    uint32_t kind; // cairn_block_kind
    uint32_t first;
    uint32_t count;
    cairn_row_softness softness;
    float lower, upper; // N s; of several rows: the length of the impulse is at most `upper`
    float factor[21];   // Cholesky, by rows of the lower triangle, the inverse on the diagonal
} cairn_row_block;

typedef struct cairn_row {
    cairn_jacobian j;
    cairn_jacobian action; // along which its impulse acts
    float error;           // m or rad
    float target;          // m/s or rad/s
    float chord;           // m/s or rad/s, added to J V where the row holds, in the biased pass
    float impulse;
} cairn_row;

#define CAIRN_JOINT_BLOCKS_MAX 9

typedef struct cairn_joint_rows {
    uint32_t drive;            // index
    uint32_t body_a, body_b;   // slots
    uint32_t index_a, index_b; // as the solver counts its bodies
    cairn_vec3 arm_a, arm_b;   // of points of a and b that stay together, world
    cairn_vec3 slide;          // along which they do not, fixed to a; zero if they do
    cairn_vec3 anchor_b;       // about which the reaction torque is
    cairn_jacobian missing;    // impulse that the next biased pass starts with
    uint32_t system_row;       // of a laboratory solver: the first one
    uint32_t row_count;
    uint32_t block_count;
    cairn_row rows[CAIRN_JOINT_ROWS_MAX];
    cairn_row_block blocks[CAIRN_JOINT_BLOCKS_MAX];
} cairn_joint_rows;

// How the rows of a step, or of its substeps, are built.
typedef struct cairn_row_time {
    float h;                 // s, of the step or substep
    cairn_row_softness hold; // of rows that hold, and of violated limits
} cairn_row_time;

// Sets the rows of the joint of `rows->drive` for these poses. Impulses stay as they are.
void cairn_joint_rows_build(const cairn_world *world, const cairn_row_time *time,
    const cairn_row_pose *pose_a, const cairn_row_pose *pose_b, const cairn_row_body *a,
    const cairn_row_body *b, cairn_joint_rows *rows);
// The velocities along chords (sim/soft_step/joint_linear.h) from velocities that were relaxed.
void cairn_joint_rows_update_chord(const cairn_row_time *time, const cairn_row_body *a,
    const cairn_row_body *b, cairn_joint_rows *rows);
// What a gear has turned too much, after `h` seconds with these velocities.
void cairn_joint_rows_advance(const cairn_world *world, const cairn_row_time *time,
    const cairn_row_body *a, const cairn_row_body *b, const cairn_joint_rows *rows);

// The impulses of the last step, from the drive and back to it; `warm` 0: none.
void cairn_joint_rows_load(const cairn_world *world, uint32_t warm, cairn_joint_rows *rows);
void cairn_joint_rows_store(const cairn_world *world, const cairn_joint_rows *rows);

void cairn_joint_rows_warm_start(
    const cairn_joint_rows *rows, cairn_row_body *a, cairn_row_body *b);
// The bodies start a substep with the impulses of the last one, which acted along its rows. Around
// a build, these two find what must be added for the rows of now, and add it.
cairn_jacobian cairn_joint_rows_impulse(const cairn_joint_rows *rows);
void cairn_joint_rows_add_missing(cairn_joint_rows *rows, cairn_row_body *a, cairn_row_body *b);
// One sweep over the blocks. Biased: removes errors, and applies springs; otherwise only
// velocities.
void cairn_joint_rows_solve(const cairn_row_time *time, cairn_joint_rows *rows, cairn_row_body *a,
    cairn_row_body *b, bool biased);

// ---- For sim/constraint/joint_kinds.c

// Factors every block, and makes the blocks after `rows->blocks[0]` keep it solved if it holds.
void cairn_joint_rows_factor(
    const cairn_row_body *a, const cairn_row_body *b, cairn_joint_rows *rows);
// How a block is softened in the biased pass; `rows`: its first.
cairn_row_softness cairn_joint_block_softness(
    const cairn_row_time *time, const cairn_row_block *block, const cairn_row *rows);
cairn_row_softness cairn_spring_softness(float hertz, float damping, float h);

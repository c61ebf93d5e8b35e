// SPDX-License-Identifier: MIT
#pragma once

// How well a step was solved, in numbers. The rows of the step are written down as the mixed linear
// complementarity problem of Catto 2005 (section 7.3), whichever solver the world has: contacts and
// joints at the start of the step, with friction at each point and Baumgarte's term, as
// CAIRN_SOLVER_PGS has them. With A = J M^-1 J^T, the velocities v without constraint impulses and
// the wanted velocities of the rows, the problem is to find impulses x within their bounds so that
// w = A x + J v - wanted is complementary to them. The measures are taken of the impulses and the
// velocities that the step has left in the world.
//
// Joints in joint coordinates (cairn/articulation.h) are no rows: the bodies move as if nothing
// held them there, and what their joints exert is counted in `momentum`, not in `residual` or
// `work`. So of a world with articulations the measures are about its contacts and other joints
// alone.
//
// The soft-step solver stores the impulses of its last substep, and friction at the middle of a
// manifold; they count as often as there are substeps, and friction is shared out by the normal
// impulses. It solves other rows, at the poses of its substeps, so its residual does not go to
// zero.

#include <cairn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_measure {
    uint32_t bodies;      // that impulses can move
    uint32_t rows;        // 0: an idle step, and all measures are 0
    uint32_t contacts;    // pairs of shapes, not points
    uint32_t joints;      // that are rows
    uint32_t articulated; // joints in joint coordinates of bodies that move; they are left out
    // The largest distance from a solution, row by row: |x - P(x - w / d)| * d with P the
    // projection to the bounds and d the diagonal of A; m/s, or rad/s for rows about axes. 0 for
    // solutions.
    double residual;
    double approach;        // m/s or rad/s: the largest violation of a row's wanted velocity
    double complementarity; // J: the sum of |x w| over the rows of normals and one-sided limits
    double cone;            // N s: the largest excess of friction over its bound
    double work;            // J: what the impulses of the rows have added to the kinetic energy
    double momentum;        // m/s or rad/s: velocity that the impulses do not explain (impacts,
                            // limits of speed, substeps)
    // Compared with the exact solution: only if it was wanted and found.
    uint32_t exact;      // 0 or 1
    double distance;     // m/s or rad/s: the largest difference of a body's velocity
    double energy_error; // J: the kinetic energy of the differences
} cairn_measure;

// Steps the world as cairn_world_step does, with the same result, and measures the step. `exact`: 0
// or 1, also solves it exactly, in components of up to a few hundred rows. Copies the world, and
// allocates. CAIRN_OUT_OF_MEMORY: the world was stepped and *out is zero.
cairn_status cairn_world_step_measured(cairn_world *world, const cairn_command *commands,
    uint32_t command_count, uint32_t exact, cairn_measure *out);

// A laboratory solver on the rows of the step that a world would take next, without commands.
typedef struct cairn_solver_trial {
    uint32_t solver;         // cairn_solver, from CAIRN_SOLVER_DIRECT on
    uint32_t friction_model; // cairn_friction_model
    uint32_t iterations;     // 1 .. CAIRN_TRIAL_ITERATIONS_MAX
    uint32_t warm_start;     // 0 or 1: starts from the impulses that the world has stored
    uint32_t symmetric_sweeps;
    float over_relaxation; // (0, 2)
    // Called after each iteration; NULL: not. `residual`: as in cairn_measure, or 0 without
    // `residuals`, which take longer than an iteration.
    void (*observe)(void *context, uint32_t iteration, double residual);
    void *context;
    uint32_t residuals; // 0 or 1
    uint32_t exact;     // 0 or 1: compares with the direct solver
} cairn_solver_trial;

#define CAIRN_TRIAL_ITERATIONS_MAX 100000u

typedef struct cairn_trial_result {
    uint32_t rows;   // 0: the step would be idle
    uint32_t solved; // 0 or 1, of CAIRN_SOLVER_DIRECT: no part was too large or without solution;
                     // of CAIRN_SOLVER_MPRGP: no rows were found that contradict each other
    uint32_t iterations; // of CAIRN_SOLVER_DIRECT: pivots
    double residual;
    uint32_t exact;  // 0 or 1: the direct solver found the solution, and the next is valid
    double distance; // m/s or rad/s: the largest difference of a body's velocity
} cairn_trial_result;

// PSOR, 50 iterations, Coulomb's friction, warm start.
cairn_solver_trial cairn_solver_trial_default(void);
// Solves, and leaves the world as it is. CAIRN_INVALID_ARGUMENT: a number out of range.
// CAIRN_OUT_OF_MEMORY. On failure *out is zero.
cairn_status cairn_world_try_solver(
    const cairn_world *world, const cairn_solver_trial *trial, cairn_trial_result *out);

// How large the impulse of a row may be. Rows with bounds of their own: from `lower` to `upper`.
// Rows of friction form blocks, of which the length of the impulses together is at most `upper`
// plus `friction` times the impulses of some normal rows. A cone of CAIRN_FRICTION_CONE is three
// rows: the normal, from 0 on, and two of friction that it bounds.
typedef struct cairn_matrix_row {
    double lower;          // N s or N m s; -1e30: unbounded
    double upper;          // 1e30: unbounded
    double friction;       // 0: bounds of its own
    uint32_t block_first;  // the first row that is bounded together with it: itself, if alone
    uint32_t block_count;  // rows
    uint32_t normal_first; // the first normal row of that bound; CAIRN_MATRIX_NONE
    uint32_t normal_count;
    uint32_t normal_stride; // rows from one to the next
} cairn_matrix_row;

#define CAIRN_MATRIX_NONE 0xFFFFFFFFu

// Writes down the step that a world would take next without commands as a dense matrix: A, row by
// row, into matrix[rows * rows], q, the velocities J v - wanted, into offset[rows], and the bounds
// into bounds[rows] (NULL: not wanted). *rows is their number; 0: the step would be idle.
// CAIRN_BUFFER_TOO_SMALL: more rows than `capacity`, and nothing but *rows is written: call again
// with room for that many. CAIRN_OUT_OF_MEMORY: *rows is 0.
cairn_status cairn_world_matrix_read(const cairn_world *world, uint32_t capacity, double *matrix,
    double *offset, cairn_matrix_row *bounds, uint32_t *rows);

// ---- The way by forces

// What holds a world at this instant, without a step (Souto, "Constrained rigid body simulation",
// parts III: "Computing the constraint force vector", "Inequality constraints"; Baraff 1989). The
// unknowns are forces f along the rows J of contacts and joints, with
//
//     a = J M^-1 (F + J^T f) + J' v  complementary to  f
//
// where F are gravity, the forces that were applied since the last step, damping and gyroscopic
// torque, and J' v is what velocities alone accelerate along the rows: v^2 / r towards the centre
// of a circle, Coriolis' term of what slides along a turning axis. Lemke's algorithm finds f.
//
// A contact takes part where its gap is at most 1 mm and its points part at most 0.01 m/s; friction
// opposes sliding from 1 mm/s on, below that it holds as far as it can. What is flat keeps the
// normal of its face, balls and capsules roll (J' v of their middles). Joints that hold do so
// exactly; springs, motors and limits push as in the world's next step.
typedef struct cairn_body_forces {
    cairn_body_id body;
    double linear[3];  // m/s^2: acceleration of the centre of mass
    double angular[3]; // rad/s^2
    double force[3];   // N: of all contacts and joints on the body together
    double torque[3];  // N m, about its centre of mass
} cairn_body_forces;

typedef struct cairn_forces {
    uint32_t bodies;   // that can be accelerated
    uint32_t rows;     // 0: nothing touches and no joint holds
    uint32_t touching; // contact points that take part
    // Points that approach each other faster than 0.01 m/s. They need an impulse first (step the
    // world), and take no part.
    uint32_t impacts;
    uint32_t articulated; // joints in joint coordinates, which are left out
    uint32_t solved; // 0 or 1. 0: rows contradict each other or are too many (some hundred that
                     // are connected); their bodies fall as if nothing held them
    uint32_t pivots; // of Lemke's algorithm
    double residual; // m/s^2 or rad/s^2, as in cairn_measure
} cairn_forces;

// Writes one element for each dynamic body that is enabled, asleep or awake, in order of index, and
// leaves the world as it is. `bodies` may be NULL if capacity is 0. CAIRN_BUFFER_TOO_SMALL: there
// are more than `capacity`, and nothing but out->bodies is written. CAIRN_OUT_OF_MEMORY: *out is
// zero.
cairn_status cairn_world_forces_read(
    const cairn_world *world, uint32_t capacity, cairn_body_forces *bodies, cairn_forces *out);

#ifdef __cplusplus
}
#endif

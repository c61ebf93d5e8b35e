// SPDX-License-Identifier: MIT
#pragma once

// The system of a step, written out as a mixed linear complementarity problem (Catto 2005, section
// 7.3): find impulses x within their bounds so that w = A x + q is complementary to them, with
// A = J M^-1 J^T and q = J v - target, where v are the velocities without those impulses. It is
// what the laboratory solvers of this folder work on, and what every step can be measured against.
// In double precision, without a world.
//
// Rows form blocks, which are projected together: rows with bounds of their own, or a vector of
// friction impulses that is at most as long as normal impulses allow. The blocks of one contact or
// joint form a group, so all rows of a group act on the same two bodies. A is never stored: the
// product needs the velocity change of each body, then its velocity along each row, in O(rows).
//
// Sums are gathered in a fixed order: those of a body over its rows in order of the rows, those
// over rows in a fixed tree. So loops over groups, rows or bodies may run in any order and in any
// pieces with the same bits (cairn_mlcp_runner).

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

// A body that impulses do not move.
#define CAIRN_MLCP_FIXED UINT32_MAX
// Bounds at or beyond this are none.
#define CAIRN_MLCP_UNBOUNDED 1e30

typedef enum cairn_solve_outcome {
    CAIRN_SOLVE_STOPPED = 0,      // the stop rule holds; of a direct method: solved
    CAIRN_SOLVE_COUNT = 1,        // all iterations are used up
    CAIRN_SOLVE_TOO_LARGE = 2,    // a component of the system has more rows than the method takes
    CAIRN_SOLVE_RAY = 3,          // Lemke's path ended in a ray
    CAIRN_SOLVE_PIVOTS = 4,       // Lemke's path was longer than the bound
    CAIRN_SOLVE_INCONSISTENT = 5, // rows contradict each other
    CAIRN_SOLVE_INVALID = 6,      // not a number
} cairn_solve_outcome;

typedef struct cairn_mlcp_body {
    double velocity[6];        // m/s and rad/s, without the impulses of the rows
    double inverse_mass[3];    // along the axes of the world; 0 along locked ones
    double inverse_inertia[6]; // xx, yy, zz, xy, xz, yz, world axes
} cairn_mlcp_body;

typedef struct cairn_mlcp_row {
    double jacobian[2][6];  // of bodies a and b: linear, angular
    double response[2][6];  // M^-1 J^T
    double target;          // of J v; what fixed bodies contribute is taken off
    double softness;        // added to A's diagonal, as of a spring
    bool softness_is_share; // until it is prepared: a fraction of the diagonal
    double lower, upper;    // N s or N m s; of a block with bounds
    double diagonal;        // of A, with the softness
    double part[2];         // of the diagonal, by body
    double offset;          // q
} cairn_mlcp_row;

// What the iterative methods read of rows, one array for each member, by row: as a wide machine
// would have them. Sides are those of bodies a and b. (The direct method reads cairn_mlcp_row.)
typedef struct cairn_mlcp_columns {
    double *jacobian[2][6];
    double *response[2][6];
    double *part[2];
    double *softness;
    double *diagonal;
    double *offset;
    double *lower, *upper;
} cairn_mlcp_columns;

typedef enum cairn_mlcp_block_kind {
    CAIRN_MLCP_BOUNDS = 0, // each row within its own bounds
    // The length of the impulse is at most radius + coefficient * the sum of some normal impulses.
    CAIRN_MLCP_LENGTH = 1,
    // A normal row and its rows of friction: a convex cone. The velocity is in the dual cone: w_n
    // >= coefficient * |w_t| (Anitescu and Hart 2004).
    CAIRN_MLCP_CONE = 2,
} cairn_mlcp_block_kind;

// At most this many rows in a block.
#define CAIRN_MLCP_BLOCK_ROWS_MAX 6

typedef struct cairn_mlcp_block {
    uint32_t kind; // cairn_mlcp_block_kind
    uint32_t first;
    uint32_t count;
    uint32_t normal_first; // of the normal rows that bound a length, all in its group
    uint32_t normal_count;
    uint32_t normal_stride; // from one to the next
    uint32_t visits;        // in one sweep of Gauss-Seidel
    double radius;          // N s or N m s
    double coefficient;
    double sliding; // the coefficient of surfaces that slide, at most the other; the direct method
} cairn_mlcp_block;

typedef struct cairn_mlcp_group {
    uint32_t body_a; // index, or CAIRN_MLCP_FIXED
    uint32_t body_b;
    uint32_t block_first;
    uint32_t block_count;
    uint32_t row_first;
    uint32_t row_count;
} cairn_mlcp_group;

// Works on the items begin .. end - 1.
typedef void cairn_mlcp_part(const void *context, uint32_t begin, uint32_t end);
// Calls `part` on pieces of 0 .. count - 1, each item once, in any order, and returns when all are
// done. NULL: one piece.
typedef struct cairn_mlcp_runner {
    void (*run)(void *self, cairn_mlcp_part *part, const void *context, uint32_t count);
    void *self;
} cairn_mlcp_runner;

typedef struct cairn_mlcp_capacity {
    uint32_t bodies;
    uint32_t rows;
    uint32_t blocks;
    uint32_t groups;
} cairn_mlcp_capacity;

typedef struct cairn_mlcp {
    cairn_mlcp_body *bodies;
    cairn_mlcp_row *rows;
    cairn_mlcp_block *blocks;
    cairn_mlcp_group *groups; // in the order of solving
    uint32_t body_count;
    uint32_t row_count;
    uint32_t block_count;
    uint32_t group_count;
    cairn_mlcp_capacity capacity;
    cairn_mlcp_runner runner;
    // Filled by cairn_mlcp_prepare; again, if a row was changed since.
    cairn_mlcp_columns columns;
    uint32_t *body_first;  // by body, and one more: where its rows begin in `body_rows`
    uint32_t *body_rows;   // 2 * row + side
    uint32_t *body_groups; // by body: how many groups act on it
    uint32_t *component;   // by group: the lowest group that is coupled with it
    uint32_t *root;        // by body; scratch
    double (*change)[6];   // by body: M^-1 J^T x of the last product
    double *partial;       // scratch of sums
} cairn_mlcp;

// Takes the arrays; the counts become 0.
void cairn_mlcp_allocate(
    cairn_mlcp *system, cairn_arena *from, const cairn_mlcp_capacity *capacity);
void cairn_mlcp_clear(cairn_mlcp *system);

// Building: a group, then its blocks, then the rows of each. The caller keeps to the capacity.
void cairn_mlcp_add_group(cairn_mlcp *system, uint32_t body_a, uint32_t body_b);
cairn_mlcp_block *cairn_mlcp_add_block(cairn_mlcp *system, uint32_t kind);
// Of the last block; free, with a target of 0. The caller sets J and the rest.
cairn_mlcp_row *cairn_mlcp_add_row(cairn_mlcp *system);
// Fills what follows from bodies, rows, blocks and groups.
void cairn_mlcp_prepare(cairn_mlcp *system);

// ---- Products and sums

// system->change = M^-1 J^T x.
void cairn_mlcp_respond(cairn_mlcp *system, const double *x);
// y = A x; system->change as above. Then y + q is w.
void cairn_mlcp_multiply(cairn_mlcp *system, const double *x, double *y);
// w = A x + q.
void cairn_mlcp_residual(cairn_mlcp *system, const double *x, double *w);
double cairn_mlcp_dot(cairn_mlcp *system, const double *x, const double *y);
// The entry of A. 0 if the rows share no body that moves.
double cairn_mlcp_entry(const cairn_mlcp *system, uint32_t row, uint32_t column);
uint32_t cairn_mlcp_group_of(const cairn_mlcp *system, uint32_t row);
void cairn_mlcp_run(
    const cairn_mlcp *system, cairn_mlcp_part *part, const void *context, uint32_t count);

// One side's part of J u.
static inline double cairn_mlcp_along(
    const cairn_mlcp_columns *columns, uint32_t side, uint32_t row, const double u[6]) {
    double *const *j = columns->jacobian[side];
    return ((j[0][row] * u[0] + j[1][row] * u[1]) + (j[2][row] * u[2] + j[3][row] * u[3])) +
           (j[4][row] * u[4] + j[5][row] * u[5]);
}

// ---- Bounds

// The inverse of a diagonal entry; 0 if impulses along the row move nothing.
static inline double cairn_mlcp_inverse(double diagonal) {
    return diagonal > 1e-30 ? 1.0 / diagonal : 0.0;
}

// The nearest impulses to `x` that the block allows, of its rows. The lengths of friction follow
// the normal impulses that are in x.
void cairn_mlcp_project_block(const cairn_mlcp *system, const cairn_mlcp_block *block, double *x);
// All blocks: normal impulses first, then friction.
void cairn_mlcp_project(const cairn_mlcp *system, double *x);

// SPDX-License-Identifier: MIT
#pragma once

// The bodies of a wide constraint: solver bodies read into lanes and written back, and impulses
// applied to them.

#include "base/assert.h"
#include "sim/math/lanes.h"
#include "sim/soft_step/solver.h"
#include "sim/state/world.h"

// The suffixed name of a kernel part, one for each number of lanes.
#define CAIRN_JOIN_NAMES(a, b) a##b
#define CAIRN_JOIN(a, b) CAIRN_JOIN_NAMES(a, b)
#define CAIRN_KERNEL(part) CAIRN_JOIN(cairn_##part##_, CAIRN_KERNEL_SUFFIX)

// The bit set of all lanes.
#define ALL_LANES ((1u << CAIRN_LANES) - 1u)

// The rows of a solver body.
_Static_assert(offsetof(cairn_solver_body, linear_velocity) == 0, "row 0");
_Static_assert(offsetof(cairn_solver_body, delta_position) == 4 * CAIRN_ROW_FLOATS, "row 1");
_Static_assert(offsetof(cairn_solver_body, inverse_inertia) == 8 * CAIRN_ROW_FLOATS, "row 2");

// Parts of a visit of a constraint: inlined, because a call would pass bodies and rows through
// memory. They have calls where that would only make the build long: without optimisation, at the
// width that no CPU runs by default, and if CAIRN_KERNEL_CALLS asks for it (sanitizers, machines
// without vector registers). Bits do not depend on it.
#if defined(CAIRN_KERNEL_CALLS) || CAIRN_LANES == 1 || !defined(__OPTIMIZE__)
#define INLINE __attribute__((unused)) static
#else
#define INLINE __attribute__((always_inline)) static inline
#endif

// Before a loop that stays one: the rows of a visit, written out, do not fit the CPU's cache of
// decoded instructions.
#if defined(__GNUC__) && !defined(__clang__)
#define ROLLED _Pragma("GCC unroll 1")
#else
#define ROLLED
#endif

typedef struct body_lanes {
    lanes3 velocity;
    lanes inverse_mass;
    lanes3 angular_velocity;
    const lanes_sym3 *inverse_inertia; // of the constraint: a copy would cost more than a visit
} body_lanes;

// How far bodies have moved since the step began.
typedef struct delta_lanes {
    lanes3 position; // m
    lanes3 rotation; // rad, a rotation vector
} delta_lanes;

// The bodies of a wide constraint. Every visit reads the offsets, so they come first.
typedef struct pair_lanes {
    uint32_t offset_a[CAIRN_LANES]; // bytes from the first solver body
    uint32_t offset_b[CAIRN_LANES];
    uint32_t edge[CAIRN_LANES]; // indices; empty lanes repeat the first one
    uint32_t live;              // bit set of lanes that are not empty
    uint32_t moving_a;          // bit sets of lanes whose body a, b is written
    uint32_t moving_b;
} pair_lanes;

// Loads eight consecutive floats of each of CAIRN_LANES structs, from float `first` on. The structs
// consist of 32-bit words without padding; callers assert where the row begins.
static inline void load_struct_row(
    const void *const *structs, uint32_t first, lanes out[CAIRN_ROW_FLOATS]) {
    const float *rows[CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        rows[i] = (const float *)structs[i] + first;
    }
    lanes_load_rows(rows, out);
}

// Both rows of a cairn_motion.
typedef struct motion_lanes {
    lanes first[CAIRN_ROW_FLOATS];  // origin, position, rotation.x, .y
    lanes second[CAIRN_ROW_FLOATS]; // rotation.z, .w, linear and angular velocity
} motion_lanes;

_Static_assert(offsetof(cairn_motion, position) == 3 * sizeof(float), "floats 3 to 5 of a motion");
_Static_assert(offsetof(cairn_motion, rotation) == 6 * sizeof(float), "floats 6 to 9 of a motion");
_Static_assert(sizeof(cairn_motion) == 2 * CAIRN_ROW_FLOATS * sizeof(float), "two rows");

static inline motion_lanes load_motions(const void *const *motions) {
    motion_lanes out;
    load_struct_row(motions, 0, out.first);
    load_struct_row(motions, CAIRN_ROW_FLOATS, out.second);
    return out;
}

static inline lanes3 motion_position(const motion_lanes *motion) {
    return lanes3_of(motion->first[3], motion->first[4], motion->first[5]);
}

static inline lanes_quat motion_rotation(const motion_lanes *motion) {
    return (lanes_quat){motion->first[6], motion->first[7], motion->second[0], motion->second[1]};
}

// Row `row` of the solver bodies at these offsets.
INLINE void load_body_rows(const cairn_solver_context *context, const uint32_t *offsets,
    uint32_t row, lanes out[CAIRN_ROW_FLOATS]) {
    const char *first = (const char *)context->bodies + row * sizeof(float[CAIRN_ROW_FLOATS]);
    const float *rows[CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        rows[i] = (const float *)(const void *)(first + offsets[i]);
    }
    lanes_load_rows(rows, out);
}

// The inertia stays the same throughout a step, so the constraint keeps it. Returns `closing` of
// the bodies.
INLINE lanes load_inverse_inertia(
    const cairn_solver_context *context, const uint32_t *offsets, lanes_sym3 *out) {
    lanes inertia[CAIRN_ROW_FLOATS];
    load_body_rows(context, offsets, 2, inertia);
    *out = (lanes_sym3){inertia[0], inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]};
    return inertia[7];
}

INLINE body_lanes load_body(const cairn_solver_context *context, const uint32_t *offsets,
    const lanes_sym3 *inverse_inertia) {
    lanes velocities[CAIRN_ROW_FLOATS];
    load_body_rows(context, offsets, 0, velocities);
    return (body_lanes){.velocity = {velocities[0], velocities[1], velocities[2]},
        .inverse_mass = velocities[3],
        .angular_velocity = {velocities[4], velocities[5], velocities[6]},
        .inverse_inertia = inverse_inertia};
}

INLINE delta_lanes load_delta(const cairn_solver_context *context, const uint32_t *offsets) {
    lanes delta[CAIRN_ROW_FLOATS];
    load_body_rows(context, offsets, 1, delta);
    return (delta_lanes){
        .position = {delta[0], delta[1], delta[2]}, .rotation = {delta[4], delta[5], delta[6]}};
}

// The solver body at an offset.
INLINE uint32_t body_at(uint32_t offset) {
    return offset / (uint32_t)sizeof(cairn_solver_body);
}

// The bit set of the axes of the world along which the solver body at an offset does not move.
INLINE uint32_t linear_locks(const cairn_solver_context *context, uint32_t offset) {
    const char *bodies = (const char *)context->bodies;
    const cairn_solver_body *body = (const cairn_solver_body *)(const void *)(bodies + offset);
    return body->linear_locks;
}

// Puts what bodies may not change back into rows that are about to replace theirs.
static __attribute__((noinline, unused)) void keep_locked(const cairn_solver_context *context,
    const uint32_t *offsets, float rows[CAIRN_LANES][CAIRN_ROW_FLOATS]) {
    const char *bodies = (const char *)context->bodies;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const float *velocity = (const float *)(const void *)(bodies + offsets[i]);
        const uint32_t locks = linear_locks(context, offsets[i]);
        for (uint32_t k = 0; k < 3; ++k) {
            rows[i][k] = (locks >> k & 1u) != 0 ? velocity[k] : rows[i][k];
        }
    }
}

// Writes only bodies that impulses move: zero times infinity would make a static one NaN. Along a
// locked axis a body keeps its velocity, which is 0, whatever was done to it in the registers.
INLINE void store_body(const cairn_solver_context *context, const uint32_t *offsets,
    uint32_t moving, const body_lanes *body) {
    const lanes velocities[CAIRN_ROW_FLOATS] = {body->velocity.x, body->velocity.y,
        body->velocity.z, body->inverse_mass, body->angular_velocity.x, body->angular_velocity.y,
        body->angular_velocity.z, lanes_all(0.0f)};
    char *first = (char *)context->bodies;
    float *rows[CAIRN_LANES];
    if (moving == 0) {
        return;
    }
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        rows[i] = (float *)(void *)(first + offsets[i]);
    }
    if ((moving | context->has_locks) == ALL_LANES) {
        lanes_scatter_rows(velocities, rows);
        return;
    }
    float kept[CAIRN_LANES][CAIRN_ROW_FLOATS];
    lanes_store_rows(velocities, kept);
    if (context->has_locks != 0) {
        keep_locked(context, offsets, kept);
    }
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((moving >> i & 1u) != 0) {
            memcpy(rows[i], kept[i], sizeof kept[i]);
        }
    }
}

// Asks for a cache line to write it, from whichever CPU has it. Each x86-64 CPU accepts the
// instruction. On some it does nothing.
INLINE void fetch_to_write(const void *line) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

// Fetches the velocities of those bodies that impulses move.
INLINE void fetch_bodies(
    const cairn_solver_context *context, const uint32_t *offsets, uint32_t moving) {
    const char *bodies = (const char *)context->bodies;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((moving >> i & 1u) != 0) {
            fetch_to_write(bodies + offsets[i]);
        }
    }
}

INLINE void fetch_pair(const cairn_solver_context *context, const pair_lanes *pair) {
    fetch_bodies(context, pair->offset_a, pair->moving_a);
    fetch_bodies(context, pair->offset_b, pair->moving_b);
}

// Fills *pair from the lanes of one wide constraint in the graph's order.
INLINE void fill_pair(const cairn_solver_context *context, const cairn_constraint_edge *edges,
    const uint32_t *order, pair_lanes *pair) {
    CAIRN_ASSERT(order[0] != CAIRN_EDGE_NONE);
    *pair = (pair_lanes){.live = 0};
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const bool live = order[i] != CAIRN_EDGE_NONE;
        pair->edge[i] = live ? order[i] : order[0];
        const cairn_constraint_edge *edge = &edges[pair->edge[i]];
        pair->offset_a[i] = edge->solver_a * (uint32_t)sizeof(cairn_solver_body);
        pair->offset_b[i] = edge->solver_b * (uint32_t)sizeof(cairn_solver_body);
        pair->live |= live ? 1u << i : 0;
        pair->moving_a |= live && edge->solver_a < context->moving_count ? 1u << i : 0;
        pair->moving_b |= live && edge->solver_b < context->moving_count ? 1u << i : 0;
    }
}

INLINE void add_impulse(body_lanes *body, lanes3 impulse, lanes3 torque) {
    body->velocity = lanes3_add_scaled(body->velocity, impulse, body->inverse_mass);
    body->angular_velocity =
        lanes3_add(body->angular_velocity, lanes_sym3_apply(*body->inverse_inertia, torque));
}

INLINE void subtract_impulse(body_lanes *body, lanes3 impulse, lanes3 torque) {
    body->velocity = lanes3_sub_scaled(body->velocity, impulse, body->inverse_mass);
    body->angular_velocity =
        lanes3_sub(body->angular_velocity, lanes_sym3_apply(*body->inverse_inertia, torque));
}

// Applies a linear impulse at the ends of the arms and an angular one to b, and the opposite to a.
INLINE void apply_impulse(
    body_lanes *a, lanes3 arm_a, body_lanes *b, lanes3 arm_b, lanes3 impulse, lanes3 torque) {
    subtract_impulse(a, impulse, lanes3_add(lanes3_cross(arm_a, impulse), torque));
    add_impulse(b, impulse, lanes3_add(lanes3_cross(arm_b, impulse), torque));
}

// Velocity at the end of an arm.
INLINE lanes3 velocity_at(const body_lanes *body, lanes3 arm) {
    return lanes3_add(body->velocity, lanes3_cross(body->angular_velocity, arm));
}

// Velocity at the end of b's arm relative to that at the end of a's.
INLINE lanes3 velocity_between(
    const body_lanes *a, lanes3 arm_a, const body_lanes *b, lanes3 arm_b) {
    return lanes3_sub(velocity_at(b, arm_b), velocity_at(a, arm_a));
}

INLINE lanes inverse_or_zero(lanes value) {
    const lanes_mask positive = lanes_less(lanes_all(0.0f), value);
    const lanes one = lanes_all(1.0f);
    return lanes_select(positive, one / lanes_select(positive, value, one), lanes_all(0.0f));
}

// 0 for a value that is not finite. Never -0, so that an encoder may drop zeros.
INLINE lanes finite_or_zero(lanes value) {
    const lanes zero = lanes_all(0.0f);
    const lanes_mask finite = lanes_less(value - value, lanes_all(1.0f));
    return lanes_select(finite, value, zero) + zero;
}

// The impulses of a contact with which the next step starts lose their last digits, so that packed
// states are shorter. With 16 digits, or friction of 2^-15 of the normal impulse, bodies that rest
// in a stack tremble by ten micrometres per second; with 12 digits stacks of a hundred drift.

// 18 significant digits of the 24 (Dekker 1971, section 5).
INLINE lanes stored_impulse(lanes value) {
    const lanes scaled = value * lanes_all(65.0f); // 2^6 + 1
    return finite_or_zero(scaled - (scaled - value));
}
// A multiple of 2^-17 or 2^-18 of the normal impulse: of the last digit of what is added and taken
// off again. Most friction is much less than it could be.
INLINE lanes stored_friction(lanes value, lanes normal) {
    const lanes coarse = normal * lanes_all(64.0f);
    return finite_or_zero(value + coarse - coarse);
}

// The bit set of the lanes of a mask that are not 0.
INLINE uint32_t lanes_set(lanes_mask mask) {
    int32_t values[CAIRN_LANES];
    uint32_t set = 0;
    memcpy(values, &mask, sizeof values);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        set |= values[i] != 0 ? 1u << i : 0;
    }
    return set;
}

// The values of the lanes in a bit set; 0 in the others.
INLINE lanes lanes_of_set(uint32_t set, lanes values) {
    float each[CAIRN_LANES];
    memcpy(each, &values, sizeof each);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        each[i] = (set >> i & 1u) != 0 ? each[i] : 0.0f;
    }
    memcpy(&values, each, sizeof values);
    return values;
}

// ---- bodies that turn and that impulses do not move

// 0 or 1: in some lane.
INLINE uint32_t any_turntable(const body_lanes *body) {
    const lanes zero = lanes_all(0.0f);
    const lanes spin = lanes3_dot(body->angular_velocity, body->angular_velocity);
    const lanes_mask movable = lanes_less(zero, body->inverse_mass);
    return lanes_set(lanes_less(zero, lanes_select(movable, zero, spin))) != 0 ? 1 : 0;
}

// What it carries goes around with it. The arms of a contact are those of the manifold, and the
// velocity w x r there is along the tangent, so the load would creep outward by w^2 r dt / 2 a
// second. The chord of its way through this substep has d x (w x r) more, with d the rotation from
// the start of the step to the middle of the substep. (What friction then adds to go around with
// it, the warm start adds for the next substep.) Zero for other bodies.
INLINE lanes3 turntable_velocity(const cairn_solver_context *context, const uint32_t *offsets,
    const body_lanes *body, lanes3 arm) {
    const lanes zero = lanes_all(0.0f);
    const delta_lanes delta = load_delta(context, offsets);
    const lanes3 d =
        lanes3_add_scaled(delta.rotation, body->angular_velocity, lanes_all(-0.5f * context->h));
    const lanes3 more = lanes3_cross(d, lanes3_cross(body->angular_velocity, arm));
    const lanes3 none = lanes3_of(zero, zero, zero);
    return lanes3_select(lanes_less(zero, body->inverse_mass), none, more);
}

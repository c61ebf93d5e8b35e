// SPDX-License-Identifier: MIT
#pragma once

// What the kernels do with the bodies of a group: solver bodies read into lanes and written back,
// and impulses on them.

#include "sim/math/lanes.h"
#include "sim/soft_step/solver.h"
#include "sim/state/world.h"

// The name under which a file's passes are known in this width.
#define CAIRN_JOIN_NAMES(a, b) a##b
#define CAIRN_JOIN(a, b) CAIRN_JOIN_NAMES(a, b)
#define CAIRN_KERNEL(part) CAIRN_JOIN(cairn_##part##_, CAIRN_KERNEL_SUFFIX)

typedef struct body_lanes {
    lanes3 velocity;
    lanes inverse_mass;
    lanes3 spin;
    lanes_sym3 inverse_inertia;
} body_lanes;

// How far bodies have gone since the step began.
typedef struct shift_lanes {
    lanes3 moved;
    lanes3 turned;
} shift_lanes;

// The bodies of a group.
typedef struct pair_lanes {
    uint32_t a[CAIRN_LANES]; // solver bodies
    uint32_t b[CAIRN_LANES];
    uint32_t link[CAIRN_LANES]; // empty lanes repeat the first one
    uint32_t live;              // bit set of lanes
    uint32_t moving_a;          // bit sets of lanes whose body a, b is written
    uint32_t moving_b;
} pair_lanes;

static inline body_lanes load_body(const cairn_solve *solve, const uint32_t *index) {
    const float *rows[CAIRN_LANES];
    lanes speeds[CAIRN_ROW_FLOATS];
    lanes inertia[CAIRN_ROW_FLOATS];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        rows[i] = solve->bodies[index[i]].linear_velocity;
    }
    lanes_load_rows(rows, speeds);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        rows[i] = solve->bodies[index[i]].inverse_inertia;
    }
    lanes_load_rows(rows, inertia);
    return (body_lanes){.velocity = {speeds[0], speeds[1], speeds[2]},
        .inverse_mass = speeds[3],
        .spin = {speeds[4], speeds[5], speeds[6]},
        .inverse_inertia = {
            inertia[0], inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]}};
}

static inline shift_lanes load_shift(const cairn_solve *solve, const uint32_t *index) {
    const float *rows[CAIRN_LANES];
    lanes shift[CAIRN_ROW_FLOATS];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        rows[i] = solve->bodies[index[i]].moved;
    }
    lanes_load_rows(rows, shift);
    return (shift_lanes){
        .moved = {shift[0], shift[1], shift[2]}, .turned = {shift[4], shift[5], shift[6]}};
}

// Only bodies that impulses move are written: zero times infinity would spoil the ground.
static inline void store_body(
    const cairn_solve *solve, const uint32_t *index, uint32_t moving, const body_lanes *body) {
    const lanes speeds[CAIRN_ROW_FLOATS] = {body->velocity.x, body->velocity.y, body->velocity.z,
        body->inverse_mass, body->spin.x, body->spin.y, body->spin.z, lanes_all(0.0f)};
    float rows[CAIRN_LANES][CAIRN_ROW_FLOATS];
    lanes_store_rows(speeds, rows);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((moving >> i & 1u) != 0) {
            memcpy(solve->bodies[index[i]].linear_velocity, rows[i], sizeof rows[i]);
        }
    }
}

// Names of a group from its lanes of the order.
static inline void fill_pair(
    const cairn_solve *solve, const cairn_link *links, const uint32_t *order, pair_lanes *pair) {
    *pair = (pair_lanes){.live = 0};
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const bool live = order[i] != UINT32_MAX;
        pair->link[i] = live ? order[i] : order[0];
        const cairn_link *link = &links[pair->link[i]];
        pair->a[i] = link->solver_a;
        pair->b[i] = link->solver_b;
        pair->live |= live ? 1u << i : 0;
        pair->moving_a |= live && pair->a[i] < solve->moving_count ? 1u << i : 0;
        pair->moving_b |= live && pair->b[i] < solve->moving_count ? 1u << i : 0;
    }
}

// A linear and an angular impulse at the ends of the arms: b gets them, a the opposite.
static inline void apply_impulse(
    body_lanes *a, lanes3 arm_a, body_lanes *b, lanes3 arm_b, lanes3 impulse, lanes3 torque) {
    const lanes3 turn_a = lanes3_add(lanes3_cross(arm_a, impulse), torque);
    const lanes3 turn_b = lanes3_add(lanes3_cross(arm_b, impulse), torque);
    a->velocity = lanes3_sub_scaled(a->velocity, impulse, a->inverse_mass);
    a->spin = lanes3_sub(a->spin, lanes_sym3_apply(a->inverse_inertia, turn_a));
    b->velocity = lanes3_add_scaled(b->velocity, impulse, b->inverse_mass);
    b->spin = lanes3_add(b->spin, lanes_sym3_apply(b->inverse_inertia, turn_b));
}

// Velocity of b's point as seen from a's.
static inline lanes3 velocity_between(
    const body_lanes *a, lanes3 arm_a, const body_lanes *b, lanes3 arm_b) {
    const lanes3 at_a = lanes3_add(a->velocity, lanes3_cross(a->spin, arm_a));
    const lanes3 at_b = lanes3_add(b->velocity, lanes3_cross(b->spin, arm_b));
    return lanes3_sub(at_b, at_a);
}

static inline lanes inverse_or_zero(lanes value) {
    const lanes_mask positive = lanes_less(lanes_all(0.0f), value);
    const lanes one = lanes_all(1.0f);
    return lanes_select(positive, one / lanes_select(positive, value, one), lanes_all(0.0f));
}

// Not finite: 0. Never -0, so that an encoder may drop a zero.
static inline lanes kept(lanes value) {
    const lanes zero = lanes_all(0.0f);
    const lanes_mask finite = lanes_less(value - value, lanes_all(1.0f));
    return lanes_select(finite, value, zero) + zero;
}

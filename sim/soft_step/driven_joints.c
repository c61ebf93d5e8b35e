// SPDX-License-Identifier: MIT

// Driven joints in the soft-step solver.

#include "sim/soft_step/soft_step.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/active_contacts.h"
#include "sim/math/rotation.h"
#include "sim/state/hash_cache.h"

static cairn_row_time time_of(const cairn_world *world) {
    const cairn_solver_context *context = &world->soft_step->wide_context;
    const cairn_softness *soft = &context->joint_softness;
    CAIRN_ASSERT(context->h > 0.0f);
    return (cairn_row_time){.h = context->h,
        .hold = {.position = soft->rate * soft->mass_scale,
            .velocity = soft->mass_scale,
            .impulse = soft->impulse_scale}};
}

static cairn_vec3 vec3_at(const float *row) {
    return vec3(row[0], row[1], row[2]);
}

static float unlocked_mass(const cairn_solver_body *body, uint32_t axis) {
    return (body->linear_locks >> axis & 1u) != 0 ? 0.0f : body->inverse_mass;
}

static cairn_row_body load_body(const cairn_world *world, uint32_t index) {
    const cairn_solver_body *body = &world->soft_step->bodies[index];
    CAIRN_ASSERT(index < world->soft_step->body_count);
    return (cairn_row_body){.linear_velocity = vec3_at(body->linear_velocity),
        .angular_velocity = vec3_at(body->angular_velocity),
        .inverse_mass =
            vec3(unlocked_mass(body, 0), unlocked_mass(body, 1), unlocked_mass(body, 2)),
        .inverse_inertia = sym3_of(body->inverse_inertia),
        .moves = index < world->soft_step->moving_count};
}

static void store_body(cairn_world *world, uint32_t index, const cairn_row_body *body) {
    cairn_soft_step *soft_step = world->soft_step;
    if (index < soft_step->moving_count) {
        const cairn_vec3 v = body->linear_velocity;
        const cairn_vec3 w = body->angular_velocity;
        const float linear[3] = {v.x, v.y, v.z};
        const float angular[3] = {w.x, w.y, w.z};
        memcpy(soft_step->bodies[index].linear_velocity, linear, sizeof linear);
        memcpy(soft_step->bodies[index].angular_velocity, angular, sizeof angular);
    }
}

static cairn_row_pose pose_of(const cairn_world *world, uint32_t slot, uint32_t index) {
    const cairn_solver_body *body = &world->soft_step->bodies[index];
    const cairn_motion *motion = &world->state.motions[slot];
    return (cairn_row_pose){.position = vec3_add(motion->position, vec3_at(body->delta_position)),
        .rotation = quat_multiply(quat_of_vector(vec3_at(body->delta_rotation)), motion->rotation)};
}

static void build(cairn_world *world, const cairn_row_time *time, cairn_joint_rows *rows) {
    const cairn_row_pose pose_a = pose_of(world, rows->body_a, rows->index_a);
    const cairn_row_pose pose_b = pose_of(world, rows->body_b, rows->index_b);
    const cairn_row_body a = load_body(world, rows->index_a);
    const cairn_row_body b = load_body(world, rows->index_b);
    cairn_joint_rows_build(world, time, &pose_a, &pose_b, &a, &b, rows);
}

void cairn_driven_joints_prepare(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    soft_step->driven_count = 0;
    const uint32_t drives = world->state.settings->joint_drive_count;
    const cairn_row_time time = time_of(world);
    for (uint32_t i = 0; i < drives; ++i) {
        if (!cairn_joint_drive_active(world, i)) {
            continue;
        }
        const cairn_joint *joint = &world->state.joints[world->state.joint_drives[i].joint];
        cairn_joint_rows *rows = &soft_step->driven[soft_step->driven_count++];
        rows->drive = i;
        rows->body_a = cairn_id_index(joint->body_a);
        rows->body_b = cairn_id_index(joint->body_b);
        rows->index_a = soft_step->solver_body_of[rows->body_a];
        rows->index_b = soft_step->solver_body_of[rows->body_b];
        build(world, &time, rows);
        cairn_joint_rows_load(world, world->state.settings->warm_start, rows);
        const cairn_row_body a = load_body(world, rows->index_a);
        const cairn_row_body b = load_body(world, rows->index_b);
        cairn_joint_rows_update_chord(&time, &a, &b, rows);
    }
}

void cairn_driven_joints_warm_start(cairn_world *world) {
    const cairn_soft_step *soft_step = world->soft_step;
    for (uint32_t i = 0; i < soft_step->driven_count; ++i) {
        const cairn_joint_rows *rows = &soft_step->driven[i];
        cairn_row_body a = load_body(world, rows->index_a);
        cairn_row_body b = load_body(world, rows->index_b);
        cairn_joint_rows_warm_start(rows, &a, &b);
        store_body(world, rows->index_a, &a);
        store_body(world, rows->index_b, &b);
    }
}

static void solve(cairn_world *world, const cairn_row_time *time, uint32_t index, bool biased) {
    cairn_joint_rows *rows = &world->soft_step->driven[index];
    CAIRN_ASSERT(index < world->soft_step->driven_count);
    cairn_row_body a = load_body(world, rows->index_a);
    cairn_row_body b = load_body(world, rows->index_b);
    if (biased) {
        cairn_joint_rows_add_missing(rows, &a, &b);
    }
    cairn_joint_rows_solve(time, rows, &a, &b, biased);
    store_body(world, rows->index_a, &a);
    store_body(world, rows->index_b, &b);
}

void cairn_driven_joints_solve_biased(cairn_world *world) {
    const cairn_row_time time = time_of(world);
    for (uint32_t i = 0; i < world->soft_step->driven_count; ++i) {
        solve(world, &time, i, true);
    }
}

void cairn_driven_joints_relax(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    const cairn_row_time time = time_of(world);
    for (uint32_t i = 0; i < soft_step->driven_count; ++i) {
        cairn_joint_rows *rows = &soft_step->driven[i];
        const cairn_row_body a = load_body(world, rows->index_a);
        const cairn_row_body b = load_body(world, rows->index_b);
        cairn_joint_rows_advance(world, &time, &a, &b, rows);
        const cairn_jacobian before = cairn_joint_rows_impulse(rows);
        build(world, &time, rows);
        const cairn_jacobian now = cairn_joint_rows_impulse(rows);
        rows->missing = cairn_jacobian_difference(&now, &before);
    }
    for (uint32_t i = soft_step->driven_count; i > 0; --i) {
        solve(world, &time, i - 1, false);
    }
    for (uint32_t i = 0; i < soft_step->driven_count; ++i) {
        solve(world, &time, i, false);
    }
    for (uint32_t i = 0; i < soft_step->driven_count; ++i) {
        cairn_joint_rows *rows = &soft_step->driven[i];
        const cairn_row_body a = load_body(world, rows->index_a);
        const cairn_row_body b = load_body(world, rows->index_b);
        cairn_joint_rows_update_chord(&time, &a, &b, rows);
    }
}

void cairn_driven_joints_store(cairn_world *world) {
    const cairn_soft_step *soft_step = world->soft_step;
    for (uint32_t i = 0; i < soft_step->driven_count; ++i) {
        cairn_joint_rows_store(world, &soft_step->driven[i]);
        cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINT_DRIVES, soft_step->driven[i].drive);
    }
}

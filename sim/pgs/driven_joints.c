// SPDX-License-Identifier: MIT

// Driven joints in the PGS solver. Position errors are removed by Baumgarte stabilisation, and
// springs see the position at the start of the step.

#include "sim/pgs/pgs.h"

#include "base/assert.h"
#include "sim/collide/active_contacts.h"
#include "sim/state/hash_cache.h"

cairn_row_time cairn_pgs_row_time(const cairn_world *world) {
    const cairn_settings *settings = world->state.settings;
    return (cairn_row_time){.h = world_time_step(world),
        .hold = {.position = settings->baumgarte * world_step_rate(world),
            .velocity = 1.0f,
            .impulse = 0.0f}};
}

static cairn_row_body load_body(const cairn_world *world, uint32_t slot) {
    const cairn_pgs_body *body = &world->pgs->bodies[slot];
    CAIRN_ASSERT(slot < world->state.settings->body_slots);
    return (cairn_row_body){.linear_velocity = body->linear_velocity,
        .angular_velocity = body->angular_velocity,
        .inverse_mass = body->inverse_mass_axes,
        .inverse_inertia = body->inverse_inertia,
        .moves = body->takes_impulses != 0};
}

static void store_body(cairn_world *world, uint32_t slot, const cairn_row_body *body) {
    cairn_pgs_body *solved = &world->pgs->bodies[slot];
    if (solved->takes_impulses != 0) {
        solved->linear_velocity = body->linear_velocity;
        solved->angular_velocity = body->angular_velocity;
    }
}

static cairn_row_pose pose_of(const cairn_world *world, uint32_t slot) {
    const cairn_motion *motion = &world->state.motions[slot];
    return (cairn_row_pose){.position = motion->position, .rotation = motion->rotation};
}

void cairn_pgs_driven_prepare(cairn_world *world) {
    cairn_pgs *pgs = world->pgs;
    const cairn_row_time time = cairn_pgs_row_time(world);
    pgs->driven_count = 0;
    for (uint32_t i = 0; i < world->state.settings->joint_drive_count; ++i) {
        if (!cairn_joint_drive_active(world, i)) {
            continue;
        }
        const cairn_joint *joint = &world->state.joints[world->state.joint_drives[i].joint];
        cairn_joint_rows *rows = &pgs->driven[pgs->driven_count++];
        rows->drive = i;
        rows->body_a = cairn_id_index(joint->body_a);
        rows->body_b = cairn_id_index(joint->body_b);
        rows->index_a = rows->body_a;
        rows->index_b = rows->body_b;
        const cairn_row_pose pose_a = pose_of(world, rows->body_a);
        const cairn_row_pose pose_b = pose_of(world, rows->body_b);
        const cairn_row_body a = load_body(world, rows->body_a);
        const cairn_row_body b = load_body(world, rows->body_b);
        cairn_joint_rows_build(world, &time, &pose_a, &pose_b, &a, &b, rows);
        cairn_joint_rows_load(world, world->state.settings->warm_start, rows);
    }
}

void cairn_pgs_driven_warm_start(cairn_world *world) {
    for (uint32_t i = 0; i < world->pgs->driven_count; ++i) {
        const cairn_joint_rows *rows = &world->pgs->driven[i];
        cairn_row_body a = load_body(world, rows->body_a);
        cairn_row_body b = load_body(world, rows->body_b);
        cairn_joint_rows_warm_start(rows, &a, &b);
        store_body(world, rows->body_a, &a);
        store_body(world, rows->body_b, &b);
    }
}

void cairn_pgs_driven_solve(cairn_world *world) {
    const cairn_row_time time = cairn_pgs_row_time(world);
    for (uint32_t i = 0; i < world->pgs->driven_count; ++i) {
        cairn_joint_rows *rows = &world->pgs->driven[i];
        cairn_row_body a = load_body(world, rows->body_a);
        cairn_row_body b = load_body(world, rows->body_b);
        cairn_joint_rows_solve(&time, rows, &a, &b, true);
        store_body(world, rows->body_a, &a);
        store_body(world, rows->body_b, &b);
    }
}

void cairn_pgs_driven_store(cairn_world *world) {
    for (uint32_t i = 0; i < world->pgs->driven_count; ++i) {
        cairn_joint_rows_store(world, &world->pgs->driven[i]);
        cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINT_DRIVES, world->pgs->driven[i].drive);
    }
}

void cairn_pgs_driven_advance(cairn_world *world) {
    const cairn_row_time time = cairn_pgs_row_time(world);
    for (uint32_t i = 0; i < world->pgs->driven_count; ++i) {
        const cairn_joint_rows *rows = &world->pgs->driven[i];
        const cairn_row_body a = load_body(world, rows->body_a);
        const cairn_row_body b = load_body(world, rows->body_b);
        cairn_joint_rows_advance(world, &time, &a, &b, rows);
    }
}

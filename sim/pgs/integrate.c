// SPDX-License-Identifier: MIT
#include "sim/pgs/pgs.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/step.h"
#include "sim/world/body.h"

// Semi-implicit Euler (Catto 2005, section 5): velocities from forces first, poses from the new
// velocities after the solver. The gyroscopic term is left out; damping is implicit, so that no
// coefficient can turn a velocity round.
static void apply_forces(const cairn_world *world, const cairn_body *body, cairn_motion *motion,
    cairn_sym3 inverse_inertia) {
    const float h = world_time_step(world);
    const cairn_vec3 gravity = vec3_scale(world->state.settings->gravity, body->gravity_scale);
    const cairn_vec3 acceleration = vec3_add_scaled(gravity, body->force, body->inverse_mass);
    const cairn_vec3 spin = sym3_apply(inverse_inertia, body->torque);
    const float linear_kept = 1.0f / (1.0f + h * body->linear_damping);
    const float angular_kept = 1.0f / (1.0f + h * body->angular_damping);
    motion->linear_velocity = vec3_clean(
        vec3_scale(vec3_add_scaled(motion->linear_velocity, acceleration, h), linear_kept));
    motion->angular_velocity =
        vec3_clean(vec3_scale(vec3_add_scaled(motion->angular_velocity, spin, h), angular_kept));
}

void cairn_pgs_integrate_forces(cairn_world *world) {
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        cairn_body *body = &world->state.bodies[i];
        cairn_motion *motion = &world->state.motions[i];
        cairn_pgs_body *solved = &world->pgs->bodies[i];
        *solved = (cairn_pgs_body){.moving = 0};
        if (!cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, i)) {
            continue;
        }
        const bool awake = body->kind == CAIRN_BODY_DYNAMIC && cairn_body_is_active(world, i);
        const bool moving = awake && body->inverse_mass > 0.0f;
        cairn_sym3 inverse_inertia = sym3_zero();
        if (moving) {
            inverse_inertia = sym3_rotate(body->inverse_inertia, mat3_of_quat(motion->rotation));
            apply_forces(world, body, motion, inverse_inertia);
            cairn_body_forget_forces(world, i);
        }
        // What neither moves nor was set is as sound as the last step left it.
        if (cairn_body_in_awake_set(world, i) && !cairn_motion_valid(motion)) {
            cairn_body_disable(world, i);
        }
        const bool solvable = moving && body->kind == CAIRN_BODY_DYNAMIC;
        *solved = (cairn_pgs_body){.linear_velocity = motion->linear_velocity,
            .angular_velocity = motion->angular_velocity,
            .inverse_mass = solvable ? body->inverse_mass : 0.0f,
            .inverse_inertia = solvable ? inverse_inertia : sym3_zero(),
            .moving = solvable ? 1u : 0u,
            .still = solvable || cairn_body_is_moving(world, i) ? 0u : 1u};
    }
}

static void move(cairn_motion *motion, cairn_vec3 centre, float h) {
    motion->position = vec3_clean(vec3_add_scaled(motion->position, motion->linear_velocity, h));
    motion->rotation = quat_integrate(motion->rotation, motion->angular_velocity, h);
    motion->origin = vec3_clean(vec3_sub(motion->position, quat_rotate(motion->rotation, centre)));
}

void cairn_kinematic_bodies_integrate(cairn_world *world) {
    const float h = world_time_step(world);
    for (uint32_t k = 0; k < world->awake_set->body_count; ++k) {
        const uint32_t i = world->awake_set->bodies[k];
        if (!cairn_body_is_active(world, i) || cairn_body_takes_impulses(world, i)) {
            continue;
        }
        cairn_motion moved = world->state.motions[i];
        move(&moved, world->state.bodies[i].centre, h);
        if (cairn_motion_valid(&moved)) {
            world->state.motions[i] = moved;
        } else {
            cairn_body_disable(world, i);
        }
    }
}

void cairn_pgs_integrate_positions(cairn_world *world) {
    const float h = world_time_step(world);
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        cairn_motion *motion = &world->state.motions[i];
        const cairn_pgs_body *solved = &world->pgs->bodies[i];
        if (solved->moving != 0) {
            motion->linear_velocity = vec3_clean(solved->linear_velocity);
            motion->angular_velocity = vec3_clean(solved->angular_velocity);
        }
        if (!cairn_body_is_active(world, i)) {
            continue;
        }
        cairn_motion moved = *motion;
        move(&moved, world->state.bodies[i].centre, h);
        if (cairn_motion_valid(&moved)) {
            *motion = moved;
        } else {
            cairn_body_disable(world, i);
        }
    }
}

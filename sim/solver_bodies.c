// SPDX-License-Identifier: MIT

// The dense bodies of the substep solver: from the block, through the substeps, and back.

#include "sim/solver_bodies.h"
#include "sim/body.h"
#include "sim/step.h"

static void copy3(float *to, cairn_vec3 from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

static cairn_vec3 vec3_at(const float *from) {
    return vec3(from[0], from[1], from[2]);
}

static void add_moving(cairn_world *world, uint32_t slot, uint32_t at, float h) {
    cairn_substeps *substeps = &world->scratch.substeps;
    cairn_body *body = &world->state.bodies[slot];
    const cairn_motion *motion = &world->state.motions[slot];
    cairn_solver_body *solved = &substeps->bodies[at];
    cairn_solver_drive *drive = &substeps->drives[at];
    const cairn_sym3 inertia = sym3_rotate(body->inverse_inertia, mat3_of_quat(motion->rotation));
    const cairn_vec3 gravity = vec3_scale(world->state.settings->gravity, body->gravity_scale);
    const cairn_vec3 acceleration = vec3_add_scaled(gravity, body->force, body->inverse_mass);
    *solved = (cairn_solver_body){.inverse_mass = body->inverse_mass,
        .inverse_inertia = {
            inertia.xx, inertia.yy, inertia.zz, inertia.xy, inertia.xz, inertia.yz}};
    copy3(solved->linear_velocity, motion->linear_velocity);
    copy3(solved->angular_velocity, motion->angular_velocity);
    *drive = (cairn_solver_drive){.linear_kept = 1.0f / (1.0f + h * body->linear_damping),
        .angular_kept = 1.0f / (1.0f + h * body->angular_damping)};
    copy3(drive->linear_gain, vec3_scale(acceleration, h));
    copy3(drive->angular_gain, vec3_scale(sym3_apply(inertia, body->torque), h));
    cairn_body_forget_forces(world, slot);
}

// What commands and rules left behind; a step leaves only what is sound.
static void quarantine_unsound(cairn_world *world) {
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        if (cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, i) && cairn_body_stirs(world, i) &&
            !cairn_body_bears_forces(world, i)) {
            cairn_body_quarantine(world, i);
        }
    }
}

// Dense bodies: first those that impulses move, in order of slot; then one ground for all that
// neither moves nor is moved, then what moves by itself.
void cairn_solver_bodies_gather(cairn_world *world, float h) {
    quarantine_unsound(world);
    cairn_substeps *substeps = &world->scratch.substeps;
    const uint32_t slots = world->state.settings->body_slots;
    uint32_t count = 0;
    for (uint32_t i = 0; i < slots; ++i) {
        if (cairn_body_moved_by_impulses(world, i)) {
            substeps->solver_of[i] = count;
            substeps->slot_of[count] = i;
            add_moving(world, i, count, h);
            ++count;
        }
    }
    substeps->moving_count = count;
    const uint32_t ground = count++;
    substeps->bodies[ground] = (cairn_solver_body){.inverse_mass = 0.0f};
    for (uint32_t i = 0; i < slots; ++i) {
        if (!cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, i) ||
            cairn_body_moved_by_impulses(world, i)) {
            continue;
        }
        substeps->solver_of[i] = ground;
        if (cairn_body_in_motion(world, i)) {
            substeps->solver_of[i] = count;
            substeps->bodies[count] = (cairn_solver_body){.inverse_mass = 0.0f};
            copy3(substeps->bodies[count].linear_velocity, world->state.motions[i].linear_velocity);
            copy3(
                substeps->bodies[count].angular_velocity, world->state.motions[i].angular_velocity);
            ++count;
        }
    }
    substeps->body_count = count;
}

// Warm start without visiting a constraint: what all impulses of the last substep gave a body is
// its velocity now less the one it had before them, and the same impulses give the same again.
void cairn_solver_bodies_speed(cairn_substeps *substeps, bool first) {
    const float again = first ? 0.0f : 1.0f;
    for (uint32_t i = 0; i < substeps->moving_count; ++i) {
        cairn_solver_body *body = &substeps->bodies[i];
        cairn_solver_drive *drive = &substeps->drives[i];
        for (int k = 0; k < 3; ++k) {
            const float given = (body->linear_velocity[k] - drive->linear_free[k]) * again;
            const float spun = (body->angular_velocity[k] - drive->angular_free[k]) * again;
            drive->linear_free[k] =
                (body->linear_velocity[k] + drive->linear_gain[k]) * drive->linear_kept;
            drive->angular_free[k] =
                (body->angular_velocity[k] + drive->angular_gain[k]) * drive->angular_kept;
            body->linear_velocity[k] = drive->linear_free[k] + given;
            body->angular_velocity[k] = drive->angular_free[k] + spun;
        }
    }
}

void cairn_solver_bodies_shift(cairn_substeps *substeps, float h) {
    for (uint32_t i = 0; i < substeps->body_count; ++i) {
        cairn_solver_body *body = &substeps->bodies[i];
        for (int k = 0; k < 3; ++k) {
            body->moved[k] += body->linear_velocity[k] * h;
            body->turned[k] += body->angular_velocity[k] * h;
        }
    }
}

// A turn by the rotation vector `turn`: its half angle's tangent, to the fifth order, times its
// axis, beside 1.
static cairn_quat quat_of_turn(cairn_vec3 turn) {
    const float square = vec3_length_squared(turn);
    const float factor = 0.5f + square * (1.0f / 24.0f + square * (1.0f / 240.0f));
    const cairn_vec3 v = vec3_scale(turn, factor);
    return quat_normalize((cairn_quat){.x = v.x, .y = v.y, .z = v.z, .w = 1.0f});
}

void cairn_solver_bodies_finish(cairn_world *world) {
    const cairn_substeps *substeps = &world->scratch.substeps;
    for (uint32_t i = 0; i < substeps->moving_count; ++i) {
        const uint32_t slot = substeps->slot_of[i];
        const cairn_solver_body *solved = &substeps->bodies[i];
        cairn_motion *motion = &world->state.motions[slot];
        cairn_motion moved = *motion;
        moved.linear_velocity = vec3_clean(vec3_at(solved->linear_velocity));
        moved.angular_velocity = vec3_clean(vec3_at(solved->angular_velocity));
        moved.position = vec3_clean(vec3_add(motion->position, vec3_at(solved->moved)));
        moved.rotation =
            quat_normalize(quat_multiply(quat_of_turn(vec3_at(solved->turned)), motion->rotation));
        const cairn_vec3 centre = quat_rotate(moved.rotation, world->state.bodies[slot].centre);
        moved.origin = vec3_clean(vec3_sub(moved.position, centre));
        if (cairn_motion_sound(&moved)) {
            *motion = moved;
        } else {
            cairn_body_quarantine(world, slot);
        }
    }
}

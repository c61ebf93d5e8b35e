// SPDX-License-Identifier: MIT

// The dense bodies of the substep solver: from the block, through the substeps, and back.

#include "sim/solver_bodies.h"

#include <string.h>

#include "sim/body.h"
#include "sim/step.h"

// Bodies that one worker takes at a time, at least.
#define BODIES_SHARED_MIN 256

static void copy3(float *to, cairn_vec3 from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

static cairn_vec3 vec3_at(const float *from) {
    return vec3(from[0], from[1], from[2]);
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

static void number_moving(cairn_world *world) {
    cairn_substeps *substeps = &world->scratch.substeps;
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        if (cairn_body_moved_by_impulses(world, i)) {
            substeps->solver_of[i] = count;
            substeps->slot_of[count++] = i;
        }
    }
    substeps->moving_count = count;
}

static void number_others(cairn_world *world) {
    cairn_substeps *substeps = &world->scratch.substeps;
    const uint32_t ground = substeps->moving_count;
    uint32_t count = ground + 1;
    substeps->bodies[ground] = (cairn_solver_body){.inverse_mass = 0.0f};
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        if (!cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, i) ||
            cairn_body_moved_by_impulses(world, i)) {
            continue;
        }
        substeps->solver_of[i] = ground;
        if (cairn_body_in_motion(world, i)) {
            cairn_solver_body *mover = &substeps->bodies[count];
            substeps->solver_of[i] = count++;
            *mover = (cairn_solver_body){.inverse_mass = 0.0f};
            copy3(mover->linear_velocity, world->state.motions[i].linear_velocity);
            copy3(mover->angular_velocity, world->state.motions[i].angular_velocity);
        }
    }
    substeps->body_count = count;
}

static void fill_one(const cairn_world *world, uint32_t at, float h) {
    const cairn_substeps *substeps = &world->scratch.substeps;
    const uint32_t slot = substeps->slot_of[at];
    const cairn_body *body = &world->state.bodies[slot];
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
}

static void fill(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const float h = world_time_step(world) / (float)world->def.substeps;
    for (uint32_t i = begin; i < end; ++i) {
        fill_one(world, i, h);
    }
}

void cairn_solver_bodies_gather(cairn_world *world) {
    quarantine_unsound(world);
    number_moving(world);
    number_others(world);
    const cairn_substeps *substeps = &world->scratch.substeps;
    cairn_crew_share(&world->crew, fill, world, 0, substeps->moving_count, BODIES_SHARED_MIN);
    for (uint32_t i = 0; i < substeps->moving_count; ++i) {
        cairn_body_forget_forces(world, substeps->slot_of[i]);
    }
}

// Warm start without visiting a constraint: what all impulses of the last substep gave a body is
// its velocity now less the one it had before them, and the same impulses give the same again.
static void speed_one(cairn_solver_body *body, cairn_solver_drive *drive, float again) {
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

static void speed_first(const void *context, uint32_t begin, uint32_t end) {
    const cairn_substeps *substeps = context;
    for (uint32_t i = begin; i < end; ++i) {
        speed_one(&substeps->bodies[i], &substeps->drives[i], 0.0f);
    }
}

static void speed_again(const void *context, uint32_t begin, uint32_t end) {
    const cairn_substeps *substeps = context;
    for (uint32_t i = begin; i < end; ++i) {
        speed_one(&substeps->bodies[i], &substeps->drives[i], 1.0f);
    }
}

void cairn_solver_bodies_speed(cairn_world *world, bool first) {
    const cairn_substeps *substeps = &world->scratch.substeps;
    cairn_crew_share(&world->crew, first ? speed_first : speed_again, substeps, 0,
        substeps->moving_count, BODIES_SHARED_MIN);
}

static void shift(const void *context, uint32_t begin, uint32_t end) {
    const cairn_substeps *substeps = context;
    const float h = substeps->wide_solve.h;
    for (uint32_t i = begin; i < end; ++i) {
        cairn_solver_body *body = &substeps->bodies[i];
        for (int k = 0; k < 3; ++k) {
            body->moved[k] += body->linear_velocity[k] * h;
            body->turned[k] += body->angular_velocity[k] * h;
        }
    }
}

void cairn_solver_bodies_shift(cairn_world *world) {
    const cairn_substeps *substeps = &world->scratch.substeps;
    cairn_crew_share(&world->crew, shift, substeps, 0, substeps->body_count, BODIES_SHARED_MIN);
}

// A turn by the rotation vector `turn`: its half angle's tangent, to the fifth order, times its
// axis, beside 1.
static cairn_quat quat_of_turn(cairn_vec3 turn) {
    const float square = vec3_length_squared(turn);
    const float factor = 0.5f + square * (1.0f / 24.0f + square * (1.0f / 240.0f));
    const cairn_vec3 v = vec3_scale(turn, factor);
    return quat_normalize((cairn_quat){.x = v.x, .y = v.y, .z = v.z, .w = 1.0f});
}

static cairn_motion moved_by(
    const cairn_motion *motion, const cairn_solver_body *solved, cairn_vec3 centre) {
    cairn_motion moved = *motion;
    moved.linear_velocity = vec3_clean(vec3_at(solved->linear_velocity));
    moved.angular_velocity = vec3_clean(vec3_at(solved->angular_velocity));
    moved.position = vec3_clean(vec3_add(motion->position, vec3_at(solved->moved)));
    moved.rotation =
        quat_normalize(quat_multiply(quat_of_turn(vec3_at(solved->turned)), motion->rotation));
    moved.origin = vec3_clean(vec3_sub(moved.position, quat_rotate(moved.rotation, centre)));
    return moved;
}

static void finish(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_substeps *substeps = &world->scratch.substeps;
    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t slot = substeps->slot_of[i];
        cairn_motion *motion = &world->state.motions[slot];
        const cairn_motion moved =
            moved_by(motion, &substeps->bodies[i], world->state.bodies[slot].centre);
        const bool sound = cairn_motion_sound(&moved);
        substeps->lost[i] = sound ? 0 : 1;
        if (sound) {
            *motion = moved;
        }
    }
}

void cairn_solver_bodies_finish(cairn_world *world) {
    const cairn_substeps *substeps = &world->scratch.substeps;
    const uint32_t count = substeps->moving_count;
    cairn_crew_share(&world->crew, finish, world, 0, count, BODIES_SHARED_MIN);
    for (uint32_t i = 0; i < count; ++i) {
        if (substeps->lost[i] != 0) {
            cairn_body_quarantine(world, substeps->slot_of[i]);
        }
    }
}

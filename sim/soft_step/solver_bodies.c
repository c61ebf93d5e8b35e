// SPDX-License-Identifier: MIT

// The dense bodies of the substep solver: from the block, through the substeps, and back.

#include "sim/soft_step/solver_bodies.h"

#include "sim/step.h"
#include "sim/world/body.h"

// Bodies that one worker takes at a time, at least.
#define BODIES_SHARED_MIN 256

static void copy3(float *to, cairn_vec3 from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

// Of the bodies that stir; all others are the ground.
static void number_moving(cairn_world *world) {
    cairn_substeps *substeps = &world->scratch.substeps;
    const cairn_near *near = &world->near;
    uint32_t count = 0;
    for (uint32_t i = 0; i < near->body_count; ++i) {
        if (cairn_body_moved_by_impulses(world, near->bodies[i])) {
            substeps->slot_of[count++] = near->bodies[i];
        }
    }
    substeps->moving_count = count;
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        substeps->solver_of[i] = count;
    }
    for (uint32_t i = 0; i < count; ++i) {
        substeps->solver_of[substeps->slot_of[i]] = i;
    }
}

static void number_movers(cairn_world *world) {
    cairn_substeps *substeps = &world->scratch.substeps;
    const cairn_near *near = &world->near;
    const uint32_t ground = substeps->moving_count;
    uint32_t count = ground + 1;
    substeps->bodies[ground] = (cairn_solver_body){.inverse_mass = 0.0f};
    for (uint32_t i = 0; i < near->body_count; ++i) {
        const uint32_t slot = near->bodies[i];
        if (substeps->solver_of[slot] == ground && cairn_body_in_motion(world, slot)) {
            cairn_solver_body *mover = &substeps->bodies[count];
            substeps->solver_of[slot] = count++;
            *mover = (cairn_solver_body){.inverse_mass = 0.0f};
            copy3(mover->linear_velocity, world->state.motions[slot].linear_velocity);
            copy3(mover->angular_velocity, world->state.motions[slot].angular_velocity);
        }
    }
    substeps->body_count = count;
}

typedef struct body_pass {
    cairn_kernel_pass *run;
    const cairn_solve *solve;
} body_pass;

static void run_bodies(const void *context, uint32_t begin, uint32_t end) {
    const body_pass *pass = context;
    pass->run(pass->solve, begin, end);
}

static void share(cairn_world *world, cairn_kernel_pass *run, uint32_t count) {
    const body_pass pass = {.run = run, .solve = &world->scratch.substeps.wide_solve};
    cairn_crew_share(&world->crew, run_bodies, &pass, 0, count, BODIES_SHARED_MIN);
}

bool cairn_solver_bodies_quarantine(cairn_world *world) {
    const cairn_substeps *substeps = &world->scratch.substeps;
    bool any = false;
    for (uint32_t i = 0; i < substeps->moving_count; ++i) {
        if (substeps->lost[i] != 0) {
            cairn_body_quarantine(world, substeps->slot_of[i]);
            any = true;
        }
    }
    return any;
}

void cairn_solver_bodies_number(cairn_world *world) {
    number_moving(world);
    number_movers(world);
}

void cairn_solver_bodies_fill(cairn_world *world) {
    const cairn_substeps *substeps = &world->scratch.substeps;
    share(world, substeps->wide.bodies->fill, substeps->moving_count);
}

void cairn_solver_bodies_forget_forces(cairn_world *world) {
    const cairn_substeps *substeps = &world->scratch.substeps;
    for (uint32_t i = 0; i < substeps->moving_count; ++i) {
        cairn_body_forget_forces(world, substeps->slot_of[i]);
    }
}

void cairn_solver_bodies_speed(cairn_world *world, bool first) {
    const cairn_substeps *substeps = &world->scratch.substeps;
    const cairn_body_passes *bodies = substeps->wide.bodies;
    share(world, first ? bodies->speed_first : bodies->speed_again, substeps->moving_count);
}

void cairn_solver_bodies_shift(cairn_world *world) {
    const cairn_substeps *substeps = &world->scratch.substeps;
    share(world, substeps->wide.bodies->shift, substeps->body_count);
}

void cairn_solver_bodies_finish(cairn_world *world) {
    const cairn_substeps *substeps = &world->scratch.substeps;
    share(world, substeps->wide.bodies->finish, substeps->moving_count);
    (void)cairn_solver_bodies_quarantine(world);
}

// SPDX-License-Identifier: MIT

// Impacts of bodies with restitution, in rounds as in sim/soft_step/contact_solver.c: in each round
// all points that meet too fast within the step get their bounce at once.

#include "sim/pgs/pgs.h"

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/pgs/row_math.h"

static float normal_velocity(const cairn_world *world, const cairn_pgs_contact *constraint,
    const cairn_pgs_contact_row *row) {
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    return vec3_dot(point_velocity(a, row->arm_a, b, row->arm_b), constraint->normal);
}

// Begins a round: which points meet, and with which velocity they part. The bounce is computed from
// the velocities without the forces of this step and holds after them, so that a ball climbs in as
// many steps as it fell.
static bool find_impact(const cairn_world *world, cairn_pgs_contact *constraint) {
    const float h = world_time_step(world);
    const float threshold =
        CAIRN_IMPACT_THRESHOLD_ROUNDING * world->state.settings->restitution_threshold;
    const cairn_pgs_body *bodies = world->pgs->bodies;
    const cairn_vec3 change = vec3_sub(
        bodies[constraint->body_b].velocity_change, bodies[constraint->body_a].velocity_change);
    const float forces = vec3_dot(change, constraint->normal);
    bool meets = false;
    constraint->nearly = 0;
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        cairn_pgs_contact_row *row = &constraint->rows[i];
        const float velocity = normal_velocity(world, constraint, row);
        const float approach = forces - velocity;
        const float gap = row->separation + velocity * h; // at the end of the step
        const bool fast = approach > threshold && constraint->material.restitution > 0.0f;
        meets = meets || (fast && gap < 0.0f);
        row->takes_part = fast && gap < CAIRN_IMPACT_SLACK ? 1 : 0;
        constraint->nearly |= row->takes_part;
        row->impact_target = constraint->material.restitution * approach;
        row->impact_impulse = 0.0f;
        row->impact_tangent_impulse[0] = 0.0f;
        row->impact_tangent_impulse[1] = 0.0f;
    }
    constraint->impact = meets ? 1 : 0;
    return meets;
}

static void solve_impact(cairn_world *world, cairn_pgs_contact *constraint) {
    CAIRN_ASSERT(constraint->impact != 0 && constraint->row_count >= 1);
    cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    const bool coulomb = world->def.friction_model == CAIRN_FRICTION_COULOMB;
    for (uint32_t i = 0; coulomb && i < constraint->row_count; ++i) {
        cairn_pgs_contact_row *row = &constraint->rows[i];
        cairn_pgs_solve_friction(
            constraint, row, row->impact_impulse, row->impact_tangent_impulse, a, b);
    }
    for (uint32_t sweep = 0; sweep < CAIRN_IMPACT_MANIFOLD_SWEEPS; ++sweep) {
        for (uint32_t i = 0; i < constraint->row_count; ++i) {
            cairn_pgs_contact_row *row = &constraint->rows[i];
            if (row->takes_part == 0) {
                continue;
            }
            const float missing = row->impact_target - normal_velocity(world, constraint, row);
            const float sum = float_max(row->impact_impulse + row->normal_mass * missing, 0.0f);
            const cairn_vec3 impulse = vec3_scale(constraint->normal, sum - row->impact_impulse);
            row->impact_impulse = sum;
            subtract_impulse(a, row->arm_a, impulse);
            add_impulse(b, row->arm_b, impulse);
        }
    }
}

static bool met_in(const cairn_pgs *pgs, uint32_t body, uint32_t round) {
    return pgs->bodies[body].takes_impulses != 0 && pgs->bodies[body].met == round;
}

// Returns whether any bodies collide. A gap that nearly closes takes part if another gap at one
// of the two bodies closes.
static bool find_impacts(cairn_world *world, uint32_t round) {
    cairn_pgs *pgs = world->pgs;
    const uint32_t count = pgs->contact_graph.edge_count;
    bool found = false;
    for (uint32_t i = 0; i < count; ++i) {
        if (find_impact(world, &pgs->contacts[i])) {
            pgs->bodies[pgs->contacts[i].body_a].met = round;
            pgs->bodies[pgs->contacts[i].body_b].met = round;
            found = true;
        }
    }
    for (uint32_t i = 0; found && i < count; ++i) {
        cairn_pgs_contact *constraint = &pgs->contacts[i];
        const bool joins = constraint->nearly != 0 && (met_in(pgs, constraint->body_a, round) ||
                                                          met_in(pgs, constraint->body_b, round));
        constraint->impact = constraint->impact != 0 || joins ? 1 : 0;
    }
    return found;
}

void cairn_pgs_impacts_solve(cairn_world *world) {
    cairn_pgs *pgs = world->pgs;
    const uint32_t count = pgs->contact_graph.edge_count;
    for (uint32_t round = 1; round <= CAIRN_IMPACT_ROUNDS_MAX; ++round) {
        const bool found = find_impacts(world, round);
        for (uint32_t k = 0; found && k < CAIRN_IMPACT_SWEEPS * count; ++k) {
            if (pgs->contacts[k % count].impact != 0) {
                solve_impact(world, &pgs->contacts[k % count]);
            }
        }
        if (!found) {
            return;
        }
    }
}

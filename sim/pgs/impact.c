// SPDX-License-Identifier: MIT

// Impacts of bodies with restitution, in rounds as in sim/soft_step/contact_impact.h: in each round
// all points that meet too fast within the step get their bounce at once. What is said there about
// the energy holds here as well.

#include "sim/pgs/pgs.h"

#include "base/assert.h"
#include "sim/constraint/impact_mean.h"
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

// The impulse of each point, Newton's as the round found it or the reflected one.
static cairn_vec3 impulse_of(
    const cairn_pgs_contact *constraint, const cairn_pgs_contact_row *row, bool reflected) {
    const float normal = reflected ? row->impact_reflected[0] : row->impact_impulse;
    const float *tangent = reflected ? &row->impact_reflected[1] : row->impact_tangent_impulse;
    const cairn_vec3 friction = vec3_add_scaled(
        vec3_scale(constraint->tangents[0], tangent[0]), constraint->tangents[1], tangent[1]);
    return vec3_add_scaled(friction, constraint->normal, normal);
}

static void add_impulses(
    cairn_world *world, const cairn_pgs_contact *constraint, bool reflected, float scale) {
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        const cairn_pgs_contact_row *row = &constraint->rows[i];
        const cairn_vec3 impulse = vec3_scale(impulse_of(constraint, row, reflected), scale);
        subtract_impulse(&world->pgs->bodies[constraint->body_a], row->arm_a, impulse);
        add_impulse(&world->pgs->bodies[constraint->body_b], row->arm_b, impulse);
    }
}

// The velocity of each point, as seen from a surface that moves.
static void read_velocities(
    const cairn_world *world, const cairn_pgs_contact *constraint, cairn_vec3 *out) {
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        const cairn_pgs_contact_row *row = &constraint->rows[i];
        out[i] =
            vec3_add(point_velocity(a, row->arm_a, b, row->arm_b), constraint->surface_velocity);
    }
}

// Twice the energy that impulses win if they change velocities from `before` to `after`.
static float gain_of(const cairn_pgs_contact *constraint, bool reflected, const cairn_vec3 *before,
    const cairn_vec3 *after) {
    float gain = 0.0f;
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        const cairn_vec3 impulse = impulse_of(constraint, &constraint->rows[i], reflected);
        gain += vec3_dot(impulse, vec3_add(before[i], after[i]));
    }
    return gain;
}

// Fills impact_reflected, with the bodies as before the impact: what stops the approach, times 1 +
// e.
static void find_reflected(cairn_world *world, cairn_pgs_contact *constraint) {
    const float factor = 1.0f + constraint->material.restitution;
    cairn_pgs_contact found = *constraint;
    for (uint32_t i = 0; i < found.row_count; ++i) {
        cairn_pgs_contact_row *row = &found.rows[i];
        row->impact_target = (row->impact_target + constraint->material.restitution *
                                                       normal_velocity(world, constraint, row)) /
                             factor;
        row->impact_impulse = 0.0f;
        row->impact_tangent_impulse[0] = row->impact_tangent_impulse[1] = 0.0f;
    }
    for (uint32_t k = 0; k < CAIRN_IMPACT_SWEEPS; ++k) {
        solve_impact(world, &found);
    }
    for (uint32_t i = 0; i < found.row_count; ++i) {
        const cairn_pgs_contact_row *row = &found.rows[i];
        float *reflected = constraint->rows[i].impact_reflected;
        reflected[0] = factor * row->impact_impulse;
        reflected[1] = factor * row->impact_tangent_impulse[0];
        reflected[2] = factor * row->impact_tangent_impulse[1];
    }
}

static void limit_impact(cairn_world *world, cairn_pgs_contact *constraint) {
    cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    cairn_vec3 before[CAIRN_MANIFOLD_POINTS_MAX], newton[CAIRN_MANIFOLD_POINTS_MAX];
    cairn_vec3 reflected[CAIRN_MANIFOLD_POINTS_MAX];
    const cairn_pgs_body a_after = *a, b_after = *b;
    const cairn_vec3 forces = vec3_sub(b->velocity_change, a->velocity_change);
    float bounced = 0.0f;
    read_velocities(world, constraint, newton);
    add_impulses(world, constraint, false, -1.0f);
    read_velocities(world, constraint, before);
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        before[i] = vec3_sub(before[i], forces);
        bounced += constraint->rows[i].impact_impulse * constraint->rows[i].impact_target;
    }
    const float gain = gain_of(constraint, false, before, newton);
    if (gain > CAIRN_IMPACT_GAIN_MIN * bounced) {
        const cairn_pgs_body a_before = *a, b_before = *b;
        find_reflected(world, constraint);
        *a = a_before;
        *b = b_before;
        add_impulses(world, constraint, true, 1.0f);
        read_velocities(world, constraint, reflected);
        const float mixed = gain_of(constraint, false, before, reflected) +
                            gain_of(constraint, true, before, newton);
        const float share =
            cairn_share_without_gain(gain, mixed, gain_of(constraint, true, before, reflected));
        *a = a_after;
        *b = b_after;
        add_impulses(world, constraint, false, 0.0f - share);
        add_impulses(world, constraint, true, share);
        for (uint32_t i = 0; i < constraint->row_count; ++i) {
            const cairn_pgs_contact_row *row = &constraint->rows[i];
            constraint->impact_impulse += share * (row->impact_reflected[0] - row->impact_impulse);
        }
    } else {
        *a = a_after;
        *b = b_after;
    }
}

static void limit_impacts(cairn_world *world) {
    cairn_pgs *pgs = world->pgs;
    const uint32_t count = pgs->contact_graph.edge_count;
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_pgs_contact *constraint = &pgs->contacts[i];
        pgs->bodies[constraint->body_a].parts = 0;
        pgs->bodies[constraint->body_b].parts = 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_pgs_contact *constraint = &pgs->contacts[i];
        pgs->bodies[constraint->body_a].parts += constraint->impact;
        pgs->bodies[constraint->body_b].parts += constraint->impact;
        for (uint32_t k = 0; k < constraint->row_count && constraint->impact != 0; ++k) {
            pgs->contacts[i].impact_impulse += constraint->rows[k].impact_impulse;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        cairn_pgs_contact *constraint = &pgs->contacts[i];
        const cairn_pgs_body *a = &pgs->bodies[constraint->body_a];
        const cairn_pgs_body *b = &pgs->bodies[constraint->body_b];
        const bool alone =
            (a->takes_impulses == 0 || a->parts == 1) && (b->takes_impulses == 0 || b->parts == 1);
        if (constraint->impact != 0 && alone) {
            limit_impact(world, constraint);
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
        limit_impacts(world);
    }
}

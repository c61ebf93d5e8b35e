// SPDX-License-Identifier: MIT
#include "sim/pgs/pgs.h"

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/body/lock.h"
#include "sim/collide/active_contacts.h"
#include "sim/collide/contact_events.h"
#include "sim/state/awake_set.h"
#include "sim/state/trace_hook.h"

void cairn_pgs_allocate(cairn_pgs *pgs, cairn_arena *from, const cairn_world_def *def) {
    const uint32_t contacts = def->contact_capacity;
    const uint32_t joints = def->joint_capacity;
    // One more than there are slots: all bodies that take no impulses count as one.
    const uint32_t bodies = def->body_capacity + 1;
    pgs->bodies = cairn_arena_take(from, def->body_capacity, sizeof *pgs->bodies);
    pgs->gyroscopic = cairn_arena_take(from, def->body_capacity, sizeof *pgs->gyroscopic);
    pgs->body_points = cairn_arena_take(from, def->body_capacity, sizeof *pgs->body_points);
    // The golden hashes of this solver were made with this rule.
    pgs->contact_graph.rule = CAIRN_COLOUR_LOWEST;
    pgs->joint_graph.rule = CAIRN_COLOUR_LOWEST;
    cairn_constraint_graph_allocate(&pgs->contact_graph, from, bodies, contacts, 1);
    cairn_constraint_graph_allocate(&pgs->joint_graph, from, bodies, joints, 1);
    pgs->contacts = cairn_arena_take(from, contacts, sizeof *pgs->contacts);
    pgs->contact_impulses = cairn_arena_take(from, contacts, sizeof *pgs->contact_impulses);
    pgs->joints = cairn_arena_take(from, joints, sizeof *pgs->joints);
    pgs->driven = cairn_arena_take(from, joints, sizeof *pgs->driven);
    if (def->solver > CAIRN_SOLVER_PGS) {
        cairn_laboratory_allocate(&pgs->laboratory, from, def);
    }
}

// ---- Integration: semi-implicit Euler (Catto 2005, section 5). Velocities from forces first,
// poses from the new velocities after the solver. The gyroscopic term is an option of the body.
// Damping is implicit, so that no coefficient can reverse a velocity.

// Returns the change of the linear velocity without damping.
static cairn_vec3 apply_forces(const cairn_world *world, const cairn_body *body,
    cairn_motion *motion, cairn_sym3 inverse_inertia) {
    const float h = world_time_step(world);
    const cairn_vec3 gravity =
        vec3_scale(world->state.settings->present_gravity, body->gravity_scale);
    const cairn_vec3 linear =
        lock_linear(body->flags, vec3_add_scaled(gravity, body->force, body->inverse_mass));
    const cairn_vec3 angular = sym3_apply(inverse_inertia, body->torque);
    const float linear_factor = 1.0f / (1.0f + h * body->linear_damping);
    const float angular_factor = 1.0f / (1.0f + h * body->angular_damping);
    motion->linear_velocity =
        vec3_clean(vec3_scale(vec3_add_scaled(motion->linear_velocity, linear, h), linear_factor));
    motion->angular_velocity = vec3_clean(
        vec3_scale(vec3_add_scaled(motion->angular_velocity, angular, h), angular_factor));
    return vec3_scale(linear, h);
}

void cairn_pgs_integrate_forces(cairn_world *world) {
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        const cairn_body *body = &world->state.bodies[i];
        cairn_motion *motion = &world->state.motions[i];
        cairn_pgs_body *solved = &world->pgs->bodies[i];
        *solved = (cairn_pgs_body){.takes_impulses = 0};
        if (!cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, i)) {
            continue;
        }
        cairn_sym3 inverse_inertia = sym3_zero();
        cairn_vec3 velocity_change = vec3_zero();
        bool gyroscopic = false;
        cairn_vec3 inverse_mass_axes = vec3_zero();
        if (cairn_body_takes_impulses(world, i)) {
            const cairn_response response = body_response(body, motion->rotation);
            inverse_inertia = response.inverse_inertia;
            inverse_mass_axes = response.inverse_mass;
            motion->linear_velocity = lock_linear(body->flags, motion->linear_velocity);
            motion->angular_velocity = lock_angular(body->flags, motion->angular_velocity);
            velocity_change = apply_forces(world, body, motion, inverse_inertia);
            cairn_body_clear_forces(world, i);
            gyroscopic = cairn_gyroscopic_prepare(world, i, &world->pgs->gyroscopic[i]);
        }
        // A body outside the awake set is as valid as the last step left it.
        if (cairn_body_in_awake_set(world, i) && !cairn_motion_valid(motion)) {
            cairn_body_disable(world, i);
        }
        const bool takes = cairn_body_takes_impulses(world, i);
        *solved = (cairn_pgs_body){.linear_velocity = motion->linear_velocity,
            .angular_velocity = motion->angular_velocity,
            .velocity_change = takes ? velocity_change : vec3_zero(),
            .inverse_mass = takes ? body->inverse_mass : 0.0f,
            .inverse_mass_axes = takes ? inverse_mass_axes : vec3_zero(),
            .inverse_inertia = takes ? inverse_inertia : sym3_zero(),
            .takes_impulses = takes ? 1u : 0u,
            .gyroscopic = takes && gyroscopic ? 1u : 0u,
            .at_rest = takes || cairn_body_is_moving(world, i) ? 0u : 1u};
    }
}

// Impacts meet the momentum that a body has now; what comes after them meets the mean motion of the
// step.
static void begin_gyroscopic(cairn_world *world) {
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        cairn_pgs_body *solved = &world->pgs->bodies[i];
        if (solved->gyroscopic != 0) {
            solved->angular_velocity = vec3_clean(cairn_gyroscopic_begin(
                &world->pgs->gyroscopic[i], solved->angular_velocity, world_time_step(world)));
        }
    }
}

void cairn_pgs_integrate_positions(cairn_world *world) {
    const float h = world_time_step(world);
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        const cairn_pgs_body *solved = &world->pgs->bodies[i];
        CAIRN_ASSERT(solved->takes_impulses == 0 || cairn_body_is_active(world, i));
        if (solved->takes_impulses != 0) {
            cairn_motion *motion = &world->state.motions[i];
            motion->linear_velocity = vec3_clean(solved->linear_velocity);
            motion->angular_velocity = vec3_clean(solved->angular_velocity);
        }
        if (cairn_body_is_active(world, i)) {
            cairn_body_integrate(world, i, h);
        }
        if (solved->gyroscopic != 0 && cairn_body_is_active(world, i)) {
            world->state.motions[i].angular_velocity = vec3_clean(
                cairn_gyroscopic_finish(&world->pgs->gyroscopic[i], solved->angular_velocity, h));
        }
    }
}

// ---- Lists and order

static void build_graph(cairn_world *world, cairn_constraint_graph *graph) {
    const uint32_t ground = world->state.settings->body_slots;
    const cairn_pgs_body *bodies = world->pgs->bodies;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        cairn_constraint_edge *edge = &graph->edges[i];
        const bool takes_a = bodies[edge->body_a].takes_impulses != 0;
        const bool takes_b = bodies[edge->body_b].takes_impulses != 0;
        CAIRN_ASSERT(takes_a || takes_b);
        CAIRN_ASSERT(edge->body_a < ground && edge->body_b < ground);
        edge->solver_a = takes_a ? edge->body_a : ground;
        edge->solver_b = takes_b ? edge->body_b : ground;
        edge->kind = 0; // within a colour in the order of the list
        edge->colour = CAIRN_COLOUR_NONE;
    }
    const cairn_graph_owners owners = cairn_graph_single_owner(ground);
    cairn_constraint_graph_build(graph, NULL, ground + 1, &owners, 1);
}

// The impulses so far, where a trace can see them. Nothing else reads them before the end.
static void trace_sweep(cairn_world *world, uint32_t sweep) {
    if (cairn_traced(world)) {
        CAIRN_ASSERT(sweep <= world->def.iterations);
        cairn_pgs_joints_store(world);
        cairn_pgs_driven_store(world);
        cairn_pgs_contacts_store(world);
        cairn_trace_pass_done(world, sweep, CAIRN_PASS_SWEEP);
    }
}

static void sweep(cairn_world *world) {
    for (uint32_t i = 0; i < world->def.iterations; ++i) {
        cairn_pgs_joints_solve(world);
        cairn_pgs_driven_solve(world);
        cairn_pgs_contacts_solve(world);
        trace_sweep(world, i + 1);
    }
}

void cairn_pgs_prepare(cairn_world *world) {
    cairn_pgs *pgs = world->pgs;
    pgs->contact_graph.edge_count =
        cairn_active_contacts_gather(world, NULL, 0, pgs->contact_graph.edges);
    CAIRN_ASSERT(pgs->contact_graph.edge_count <= world->def.contact_capacity);
    bool changed = false;
    pgs->joint_graph.edge_count =
        cairn_active_joints_gather(world, NULL, pgs->joint_graph.edges, 0, &changed);
    build_graph(world, &pgs->contact_graph);
    build_graph(world, &pgs->joint_graph);
    cairn_pgs_joints_prepare(world);
    cairn_pgs_driven_prepare(world);
    cairn_pgs_contacts_prepare(world);
}

void cairn_pgs_solve(cairn_world *world) {
    cairn_pgs_prepare(world);
    cairn_stage_done(world, CAIRN_STAGE_PREPARE);
    cairn_pgs_impacts_solve(world);
    begin_gyroscopic(world);
    cairn_pgs_joints_warm_start(world);
    cairn_pgs_driven_warm_start(world);
    cairn_pgs_contacts_warm_start(world);
    trace_sweep(world, 0);
    if (world->def.solver > CAIRN_SOLVER_PGS) {
        cairn_laboratory_solve(world);
        trace_sweep(world, 1);
    } else {
        sweep(world);
    }
    cairn_pgs_joints_store(world);
    cairn_pgs_driven_store(world);
    cairn_pgs_driven_advance(world);
    cairn_pgs_contacts_store(world);
    if (world->hit_shapes > 0) {
        cairn_contact_events_add_hits(
            world, &world->pgs->contact_graph, world->pgs->contact_impulses);
    }
}

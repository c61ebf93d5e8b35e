// SPDX-License-Identifier: MIT

// The soft-step solver (Box3D's soft step, after Macklin et al. 2019 and Catto, "Solver2D", 2024):
// the list of what is done with contacts and joints between the forces of a step and its new poses.

#include "sim/soft_step/soft_step.h"

#include <string.h>

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/collide/active_contacts.h"
#include "sim/collide/cached_pairs.h"
#include "sim/collide/manifold_pool.h"
#include "sim/math/limits.h"
#include "sim/state/trace_hook.h"
#include "sim/task/task_scheduler.h"

static void allocate_impacts(
    cairn_soft_step *soft_step, cairn_arena *from, uint32_t bodies, uint32_t contacts) {
    const cairn_kernel *wide = &soft_step->wide_kernel;
    const cairn_kernel *overflow = &soft_step->overflow_kernel;
    soft_step->wide_impacts = cairn_arena_take(
        from, cairn_constraint_graph_wide_max(contacts, wide->lanes), wide->contacts->apart_size);
    soft_step->overflow_impacts = cairn_arena_take(from, contacts, overflow->contacts->apart_size);
    soft_step->wide_impact_lanes =
        cairn_arena_take(from, cairn_constraint_graph_wide_max(contacts, wide->lanes),
            sizeof *soft_step->wide_impact_lanes);
    soft_step->overflow_impact_lanes =
        cairn_arena_take(from, contacts, sizeof *soft_step->overflow_impact_lanes);
    soft_step->met = cairn_arena_take(from, bodies, sizeof *soft_step->met);
    soft_step->struck = cairn_arena_take(from, bodies, sizeof *soft_step->struck);
    soft_step->before_impact = cairn_arena_take(from, bodies, sizeof *soft_step->before_impact);
    soft_step->after_impact = cairn_arena_take(from, bodies, sizeof *soft_step->after_impact);
    soft_step->waiting_impulses =
        cairn_arena_take(from, bodies, sizeof *soft_step->waiting_impulses);
    soft_step->impact_work = cairn_arena_take(from, contacts, sizeof *soft_step->impact_work);
    soft_step->impact_clusters = cairn_arena_take(from, bodies, sizeof *soft_step->impact_clusters);
    soft_step->limited_bodies = cairn_arena_take(from, bodies, sizeof *soft_step->limited_bodies);
}

void cairn_soft_step_allocate(
    cairn_soft_step *soft_step, cairn_arena *from, const cairn_world_def *def) {
    const cairn_kernel *wide = &soft_step->wide_kernel;
    const cairn_kernel *overflow = &soft_step->overflow_kernel;
    const uint32_t bodies = def->body_capacity + 1;
    const uint32_t contacts = def->contact_capacity;
    const uint32_t joints = def->joint_capacity;
    CAIRN_ASSERT(wide->lanes > 0 && overflow->lanes == 1);
    soft_step->bodies = cairn_arena_take(from, bodies, sizeof *soft_step->bodies);
    soft_step->integration = cairn_arena_take(from, bodies, sizeof *soft_step->integration);
    soft_step->solver_body_of = cairn_arena_take(from, bodies, sizeof *soft_step->solver_body_of);
    soft_step->slot_of = cairn_arena_take(from, bodies, sizeof *soft_step->slot_of);
    soft_step->gyroscopic = cairn_arena_take(from, bodies, sizeof *soft_step->gyroscopic);
    soft_step->gyroscopic_bodies =
        cairn_arena_take(from, bodies, sizeof *soft_step->gyroscopic_bodies);
    soft_step->turning = cairn_arena_take(from, bodies, sizeof *soft_step->turning);
    soft_step->outcome = cairn_arena_take(from, bodies, sizeof *soft_step->outcome);
    soft_step->strayed_slots = cairn_arena_take(from, bodies, sizeof *soft_step->strayed_slots);
    soft_step->division = (cairn_body_division){
        .owner_of = cairn_arena_take(from, bodies, sizeof *soft_step->division.owner_of),
        .candidate = cairn_arena_take(from, bodies, sizeof *soft_step->division.candidate),
        .weights = cairn_arena_take(from, bodies, sizeof *soft_step->division.weights)};
    cairn_constraint_graph_allocate(&soft_step->contact_graph, from, bodies, contacts, wide->lanes);
    cairn_constraint_graph_allocate(&soft_step->joint_graph, from, bodies, joints, wide->lanes);
    soft_step->wide_contacts = cairn_arena_take(from,
        cairn_constraint_graph_wide_max(contacts, wide->lanes), wide->contacts->constraint_size);
    soft_step->wide_joints = cairn_arena_take(
        from, cairn_constraint_graph_wide_max(joints, wide->lanes), wide->joints->constraint_size);
    soft_step->wide_angular = cairn_arena_take(
        from, cairn_constraint_graph_wide_max(joints, wide->lanes), wide->joints->apart_size);
    soft_step->overflow_contacts =
        cairn_arena_take(from, contacts, overflow->contacts->constraint_size);
    soft_step->contact_impulses =
        cairn_arena_take(from, contacts, sizeof *soft_step->contact_impulses);
    allocate_impacts(soft_step, from, bodies, contacts);
    soft_step->pushed = cairn_arena_take(from, bodies, sizeof *soft_step->pushed);
    soft_step->load_inverse_mass =
        cairn_arena_take(from, bodies, sizeof *soft_step->load_inverse_mass);
    soft_step->contact_counts = cairn_arena_take(from, bodies, sizeof *soft_step->contact_counts);
    soft_step->contact_loads = cairn_arena_take(from, contacts, sizeof *soft_step->contact_loads);
    soft_step->pressed = cairn_arena_take(from, bodies, sizeof *soft_step->pressed);
    soft_step->laden = cairn_arena_take(from, bodies, sizeof *soft_step->laden);
    soft_step->body_loads = cairn_arena_take(from, bodies, sizeof *soft_step->body_loads);
    soft_step->jointed = cairn_arena_take(from, bodies, sizeof *soft_step->jointed);
    soft_step->overflow_joints = cairn_arena_take(from, joints, overflow->joints->constraint_size);
    soft_step->overflow_angular = cairn_arena_take(from, joints, overflow->joints->apart_size);
    soft_step->hung_links = cairn_arena_take(from, joints, sizeof *soft_step->hung_links);
    soft_step->light_links = cairn_arena_take(from, joints, sizeof *soft_step->light_links);
    soft_step->driven = cairn_arena_take(from, joints, sizeof *soft_step->driven);
    soft_step->driven_groups = cairn_arena_take(from, (size_t)joints + 1, sizeof(uint32_t));
    soft_step->driven_drives = cairn_arena_take(from, joints, sizeof *soft_step->driven_drives);
    soft_step->driven_places = cairn_arena_take(from, joints, sizeof *soft_step->driven_places);
    soft_step->driven_parents = cairn_arena_take(from, bodies, sizeof *soft_step->driven_parents);
    soft_step->driven_group_of = cairn_arena_take(from, bodies, sizeof *soft_step->driven_group_of);
    cairn_forest_allocate(&soft_step->forest, from, def);
    cairn_wide_figures_allocate(
        &soft_step->wide_figures, from, def, wide->figures, wide->many_figures);
}

// Catto, "Soft Constraints" (2011), with h the substep.
static cairn_softness soften(float hertz, float damping, float h) {
    CAIRN_ASSERT(h > 0.0f);
    const float omega = 2.0f * 3.14159265f * hertz;
    const float a1 = 2.0f * damping + h * omega;
    const float a2 = h * omega * a1;
    const float a3 = 1.0f / (1.0f + a2);
    return (cairn_softness){.rate = omega / a1, .mass_scale = a2 * a3, .impulse_scale = a3};
}

// Lists the edges of the joints. Returns whether they differ from those of the last step.
static bool gather_joints(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    cairn_constraint_graph *graph = &soft_step->joint_graph;
    const uint32_t known = graph->moving_count == soft_step->moving_count ? graph->edge_count : 0;
    bool changed = false;
    graph->edge_count =
        cairn_active_joints_gather(world, soft_step->solver_body_of, graph->edges, known, &changed);
    CAIRN_ASSERT(graph->edge_count <= world->def.joint_capacity);
    return changed || graph->edge_count == 0;
}

// Finds where the list of joints can be cut, at or before its middle, so that no moving body has
// joints on both sides.
static void cut_joints(cairn_soft_step *soft_step) {
    const cairn_constraint_graph *graph = &soft_step->joint_graph;
    const uint32_t moving = soft_step->moving_count;
    uint32_t *last = soft_step->driven_parents; // by solver body: its last edge
    uint32_t reach = 0;
    uint32_t cut = 0;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        last[graph->edges[i].solver_a] = i;
        last[graph->edges[i].solver_b] = i;
    }
    for (uint32_t i = 0; i < graph->edge_count / 2; ++i) {
        const uint32_t a = graph->edges[i].solver_a;
        const uint32_t b = graph->edges[i].solver_b;
        const uint32_t reach_a = a < moving ? last[a] : 0;
        const uint32_t reach_b = b < moving ? last[b] : 0;
        reach = reach_a > reach ? reach_a : reach;
        reach = reach_b > reach ? reach_b : reach;
        cut = reach <= i ? i + 1 : cut;
    }
    CAIRN_ASSERT(cut <= graph->edge_count);
    soft_step->joint_cut = cut;
}

// Gives each joint the colour after those of the earlier joints of its two bodies. So one sweep
// passes along a chain from end to end, where the lowest free colours would alternate along it.
// Counts in `body_colours`, which building the graph clears. The graph of the last step stays if
// the joints and the owners are the same, or if there are and were no joints.
static void build_joint_graph(cairn_world *world, bool changed, const cairn_graph_owners *owners) {
    cairn_soft_step *soft_step = world->soft_step;
    cairn_constraint_graph *graph = &soft_step->joint_graph;
    const uint32_t moving = soft_step->moving_count;
    CAIRN_ASSERT(moving < soft_step->body_count);
    const bool same_owners = memcmp(&graph->owners, owners, sizeof *owners) == 0;
    if (same_owners && graph->edge_count + graph->wide_count + graph->overflow_count == 0) {
        return;
    }
    if (!changed && same_owners) {
        soft_step->wide_context.joint_pairs_known = 1;
        soft_step->overflow_context.joint_pairs_known = 1;
        return;
    }
    memset(graph->body_colours, 0, soft_step->body_count * sizeof *graph->body_colours);
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        cairn_constraint_edge *edge = &graph->edges[i];
        CAIRN_ASSERT(edge->body_a != edge->body_b);
        const uint32_t a = edge->solver_a < moving ? graph->body_colours[edge->solver_a] : 0;
        const uint32_t b = edge->solver_b < moving ? graph->body_colours[edge->solver_b] : 0;
        const uint32_t next = a > b ? a : b;
        graph->body_colours[edge->solver_a] = next + 1;
        graph->body_colours[edge->solver_b] = next + 1;
        edge->colour = next % CAIRN_JOINT_COLOURS;
    }
    cut_joints(soft_step);
    cairn_light_links_take(soft_step);
    cairn_constraint_graph_build(
        graph, NULL, soft_step->body_count, owners, soft_step->wide_kernel.lanes);
    cairn_light_links_place(soft_step);
}

static void set_impacts(cairn_soft_step *soft_step) {
    cairn_solver_context *context = &soft_step->wide_context;
    context->contact_impacts = soft_step->wide_impacts;
    context->impact_lanes = soft_step->wide_impact_lanes;
    context->met = soft_step->met;
    context->struck = soft_step->struck;
    context->before_impact = soft_step->before_impact;
    context->after_impact = soft_step->after_impact;
    context->impact_work = soft_step->impact_work;
    context->waiting_impulses = soft_step->waiting_impulses;
    context->impact_found = &soft_step->impact_found;
    context->impact_gains = &soft_step->impact_gains;
}

static void prepare_context(cairn_world *world) {
    const float h = world_time_step(world) / (float)world->def.substeps;
    const cairn_settings *settings = world->state.settings;
    cairn_soft_step *soft_step = world->soft_step;
    CAIRN_ASSERT(h > 0.0f);
    const float rate = 1.0f / h;
    const float contact_hertz =
        float_min(settings->contact_hertz, CAIRN_CONTACT_HERTZ_FRACTION * rate);
    const float static_hertz =
        float_min(2.0f * settings->contact_hertz, CAIRN_STATIC_HERTZ_FRACTION * rate);
    const float joint_hertz = float_min(settings->joint_hertz, CAIRN_JOINT_HERTZ_FRACTION * rate);
    soft_step->wide_context = (cairn_solver_context){.motions = world->state.motions,
        .body_params = world->state.bodies,
        .bodies = soft_step->bodies,
        .moving_count = soft_step->moving_count,
        .integration = soft_step->integration,
        .slot_of = soft_step->slot_of,
        .outcome = soft_step->outcome,
        .travels = world->awake_set->travels,
        .half_widths = world->pair_cache->half_widths,
        .turn_radii = world->pair_cache->turn_radii,
        .substeps = world->def.substeps,
        .gravity = settings->present_gravity,
        .warm_start = settings->warm_start,
        .contact_edges = soft_step->contact_graph.edges,
        .contact_order = soft_step->contact_graph.order,
        .manifolds = world->manifold_pool->manifolds,
        .contacts = world->state.contacts,
        .contact_constraints = soft_step->wide_contacts,
        .contact_impulses = world->hit_shapes > 0 ? soft_step->contact_impulses : NULL,
        .joint_edges = soft_step->joint_graph.edges,
        .joint_order = soft_step->joint_graph.order,
        .joints = world->state.joints,
        .joint_constraints = soft_step->wide_joints,
        .joint_angular = soft_step->wide_angular,
        .turning = soft_step->turning,
        .turning_found = &soft_step->turning_found,
        .h = h,
        .inverse_h = rate,
        .contact_softness = soften(contact_hertz, settings->contact_damping, h),
        .static_softness = soften(static_hertz, settings->contact_damping, h),
        .joint_softness = soften(joint_hertz, settings->joint_damping, h),
        .restitution_threshold = CAIRN_IMPACT_THRESHOLD_ROUNDING * settings->restitution_threshold,
        .restitution_found = &soft_step->restitution_found,
        .locks_found = &soft_step->locks_found,
        .sleep = world->state.sleep,
        .squeezed_found = &soft_step->squeezed_found,
        .limit_damping = world_time_step(world) * settings->limit_damping,
        .pushed = soft_step->pushed};
    set_impacts(soft_step);
    atomic_store_explicit(&soft_step->restitution_found, 0, memory_order_relaxed);
    atomic_store_explicit(&soft_step->turning_found, 0, memory_order_relaxed);
    atomic_store_explicit(&soft_step->locks_found, 0, memory_order_relaxed);
    atomic_store_explicit(&soft_step->squeezed_found, 0, memory_order_relaxed);
    soft_step->overflow_context = soft_step->wide_context;
    soft_step->overflow_context.contact_order = soft_step->contact_graph.overflow_order;
    soft_step->overflow_context.contact_constraints = soft_step->overflow_contacts;
    soft_step->overflow_context.contact_impacts = soft_step->overflow_impacts;
    soft_step->overflow_context.impact_lanes = soft_step->overflow_impact_lanes;
    soft_step->overflow_context.joint_order = soft_step->joint_graph.overflow_order;
    soft_step->overflow_context.joint_constraints = soft_step->overflow_joints;
    soft_step->overflow_context.joint_angular = soft_step->overflow_angular;
}

// Returns the owners of the bodies.
static cairn_graph_owners gather(cairn_world *world) {
    CAIRN_ASSERT(world->def.substeps >= 1);
    cairn_constraint_graph *contact_graph = &world->soft_step->contact_graph;
    // Commands and rules may set forces and velocities that take a body out of range in this step.
    // Each such body is disabled, which makes it static, and the others are gathered again.
    cairn_graph_owners owners;
    cairn_body_division_update(world);
    do {
        owners = cairn_solver_bodies_assign(world);
        prepare_context(world);
        cairn_solver_bodies_gather(world, &owners);
    } while (cairn_solver_bodies_disable_invalid(world));
    cairn_soft_step *soft_step = world->soft_step;
    const uint32_t locks = atomic_load_explicit(&soft_step->locks_found, memory_order_relaxed);
    soft_step->wide_context.has_locks = locks;
    soft_step->overflow_context.has_locks = locks;
    cairn_solver_bodies_clear_forces(world, &owners);
    cairn_solver_bodies_prepare_gyroscopic(world);
    contact_graph->edge_count = cairn_active_contacts_gather(
        world, soft_step->solver_body_of, soft_step->moving_count, contact_graph->edges);
    CAIRN_ASSERT(contact_graph->edge_count <= world->def.contact_capacity);
    return owners;
}

typedef struct order_work {
    cairn_world *world;
    const cairn_graph_owners *owners;
    bool joints_changed;
} order_work;

static void build_graphs(const order_work *work, cairn_task_scheduler *scheduler) {
    cairn_soft_step *soft_step = work->world->soft_step;
    cairn_constraint_graph_build(&soft_step->contact_graph, scheduler, soft_step->body_count,
        work->owners, soft_step->wide_kernel.lanes);
    build_joint_graph(work->world, work->joints_changed, work->owners);
}

// Two tasks of one thread each that do not depend on each other. Item 0 builds the graphs; item 1
// finds the squeezed bodies.
static void order_or_limit(const void *context, uint32_t begin, uint32_t end) {
    const order_work *work = context;
    if (begin == 0) {
        build_graphs(work, NULL);
    }
    if (end == 2) {
        cairn_squeezed_bodies_limit(work->world);
    }
}

// Where no body can be squeezed by a heavier one there is little to find, and all workers build the
// graph of the contacts.
static void order_and_limit(const order_work *work) {
    cairn_task_scheduler *scheduler = work->world->scheduler;
    if (work->world->soft_step->loads_known) {
        cairn_task_scheduler_split(scheduler, order_or_limit, work, 0, 2, 1);
    } else {
        build_graphs(work, scheduler);
        cairn_squeezed_bodies_limit(work->world);
    }
}

void cairn_soft_step_begin(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    const cairn_graph_owners owners = gather(world);
    const bool joints_changed = cairn_light_links_find(world, gather_joints(world));
    cairn_thin_links_thicken(soft_step);
    cairn_squeezed_bodies_begin(world);
    const order_work work = {.world = world, .owners = &owners, .joints_changed = joints_changed};
    order_and_limit(&work);
    cairn_squeezed_bodies_finish(world);
    soft_step->overflow_context.light_link_count = soft_step->light_link_count;
}

void cairn_soft_step_solve(cairn_world *world) {
    cairn_articulations_prepare(world);
    cairn_driven_joints_prepare(world);
    cairn_turning_inertia_prepare(world);
    cairn_soft_step_run(world);
}

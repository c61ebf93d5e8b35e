// SPDX-License-Identifier: MIT

// The soft-step solver (Box3D's soft step, after Macklin et al. 2019 and Catto, "Solver2D", 2024):
// the list of what is done with contacts and joints between the forces of a step and its new poses.

#include "sim/soft_step/soft_step.h"

#include <string.h>

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/collide/active_contacts.h"
#include "sim/collide/cached_pairs.h"
#include "sim/collide/contact_events.h"
#include "sim/collide/manifold_pool.h"
#include "sim/math/limits.h"
#include "sim/state/trace_hook.h"
#include "sim/task/task_scheduler.h"

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
    soft_step->outcome = cairn_arena_take(from, bodies, sizeof *soft_step->outcome);
    soft_step->strayed_slots = cairn_arena_take(from, bodies, sizeof *soft_step->strayed_slots);
    cairn_constraint_graph_allocate(&soft_step->contact_graph, from, bodies, contacts, wide->lanes);
    cairn_constraint_graph_allocate(&soft_step->joint_graph, from, bodies, joints, wide->lanes);
    soft_step->wide_contacts = cairn_arena_take(from,
        cairn_constraint_graph_wide_max(contacts, wide->lanes), wide->contacts->constraint_size);
    soft_step->wide_impacts = cairn_arena_take(
        from, cairn_constraint_graph_wide_max(contacts, wide->lanes), wide->contacts->impact_size);
    soft_step->wide_joints = cairn_arena_take(
        from, cairn_constraint_graph_wide_max(joints, wide->lanes), wide->joints->constraint_size);
    soft_step->overflow_contacts =
        cairn_arena_take(from, contacts, overflow->contacts->constraint_size);
    soft_step->contact_impulses =
        cairn_arena_take(from, contacts, sizeof *soft_step->contact_impulses);
    soft_step->wide_impact_lanes =
        cairn_arena_take(from, cairn_constraint_graph_wide_max(contacts, wide->lanes),
            sizeof *soft_step->wide_impact_lanes);
    soft_step->overflow_impact_lanes =
        cairn_arena_take(from, contacts, sizeof *soft_step->overflow_impact_lanes);
    soft_step->struck = cairn_arena_take(from, bodies, sizeof *soft_step->struck);
    soft_step->overflow_impacts = cairn_arena_take(from, contacts, overflow->contacts->impact_size);
    soft_step->overflow_joints = cairn_arena_take(from, joints, overflow->joints->constraint_size);
    soft_step->driven = cairn_arena_take(from, joints, sizeof *soft_step->driven);
    soft_step->driven_groups = cairn_arena_take(from, (size_t)joints + 1, sizeof(uint32_t));
    soft_step->driven_drives = cairn_arena_take(from, joints, sizeof *soft_step->driven_drives);
    soft_step->driven_places = cairn_arena_take(from, joints, sizeof *soft_step->driven_places);
    soft_step->driven_parents = cairn_arena_take(from, bodies, sizeof *soft_step->driven_parents);
    soft_step->driven_group_of = cairn_arena_take(from, bodies, sizeof *soft_step->driven_group_of);
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

// So many wide constraints are solved by the main thread: one or two microseconds of work.
#define CONSTRAINTS_SHARED_MIN 4
// The same for bodies, and for edges of the constraint graph.
#define BODIES_SHARED_MIN 256
#define EDGES_SHARED_MIN 512

static void store_contact_colours(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_constraint_edge *edges = world->soft_step->contact_graph.edges;
    for (uint32_t i = begin; i < end; ++i) {
        world->state.contacts[edges[i].element].colour = edges[i].colour + 1;
    }
}

// Gives each joint the colour after those of the earlier joints of its two bodies. So one sweep
// passes along a chain from end to end, where the lowest free colours would alternate along it.
// Counts in `body_colours`, which building the graph clears. The graph of the last step stays if
// the joints are the same.
static void build_joint_graph(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    cairn_constraint_graph *graph = &soft_step->joint_graph;
    const uint32_t moving = soft_step->moving_count;
    const uint32_t known = graph->moving_count == moving ? graph->edge_count : 0;
    bool changed = false;
    graph->edge_count =
        cairn_active_joints_gather(world, soft_step->solver_body_of, graph->edges, known, &changed);
    CAIRN_ASSERT(moving < soft_step->body_count && graph->edge_count <= world->def.joint_capacity);
    if (!changed && graph->edge_count > 0) {
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
    cairn_constraint_graph_build(
        graph, soft_step->body_count, soft_step->moving_count, soft_step->wide_kernel.lanes);
}

// All contacts or all joints of the step, and what computes them.
typedef struct constraint_set {
    const cairn_constraint_graph *graph;
    const cairn_constraint_kernel *wide;
    const cairn_constraint_kernel *overflow;
} constraint_set;

static constraint_set contacts_of(const cairn_world *world) {
    const cairn_soft_step *soft_step = world->soft_step;
    return (constraint_set){.graph = &soft_step->contact_graph,
        .wide = soft_step->wide_kernel.contacts,
        .overflow = soft_step->overflow_kernel.contacts};
}

static constraint_set joints_of(const cairn_world *world) {
    const cairn_soft_step *soft_step = world->soft_step;
    return (constraint_set){.graph = &soft_step->joint_graph,
        .wide = soft_step->wide_kernel.joints,
        .overflow = soft_step->overflow_kernel.joints};
}

// Wide constraints of some cells. Each worker gets its share of every cell, so that the work is
// divided equally, and a constraint in all stages of a step belongs to the same worker.
typedef struct cell_work {
    cairn_kernel_pass *run;
    const cairn_solver_context *context;
    const cairn_constraint_graph *graph;
    uint32_t first_cell;
    uint32_t end_cell;
} cell_work;

// Each cell is divided into that many parts, of which workers get consecutive ones.
#define CELL_PARTS 960u

// The first wide constraint of a part. Cells take turns in which side a remainder falls to.
static uint32_t part_begin(const cairn_constraint_graph *graph, uint32_t cell, uint32_t part) {
    const uint32_t start = graph->cell_start[cell];
    const uint64_t size = graph->cell_start[cell + 1] - start;
    CAIRN_ASSERT(part <= CELL_PARTS && size > 0);
    const uint32_t rounding = cell % 2 == 0 ? CELL_PARTS - 1 : 0;
    return start + (uint32_t)((size * part + rounding) / CELL_PARTS);
}

static void run_parts(const void *argument, uint32_t begin, uint32_t end) {
    const cell_work *work = argument;
    for (uint32_t cell = work->first_cell; cell < work->end_cell; ++cell) {
        const uint32_t first = part_begin(work->graph, cell, begin);
        const uint32_t last = part_begin(work->graph, cell, end);
        if (first < last) {
            work->run(work->context, first, last);
        }
    }
}

// Shares the wide constraints of the colours begin .. end - 1 among the workers.
static void solve_colours(cairn_world *world, constraint_set set, cairn_constraint_stage stage,
    uint32_t begin, uint32_t end) {
    const cairn_constraint_graph *graph = set.graph;
    CAIRN_ASSERT(begin < end && end <= CAIRN_COLOURS && set.wide->stages[stage] != NULL);
    const cell_work work = {.run = set.wide->stages[stage],
        .context = &world->soft_step->wide_context,
        .graph = graph,
        .first_cell = graph->colour_cell[begin],
        .end_cell = graph->colour_cell[end]};
    const uint32_t count = graph->colour_start[end] - graph->colour_start[begin];
    if (count > CONSTRAINTS_SHARED_MIN) {
        cairn_task_scheduler_split(world->scheduler, run_parts, &work, 0, CELL_PARTS, 1);
    } else if (count > 0) {
        run_parts(&work, 0, CELL_PARTS);
    }
}

static void solve_colour(
    cairn_world *world, constraint_set set, cairn_constraint_stage stage, uint32_t colour) {
    CAIRN_ASSERT(colour < CAIRN_COLOURS);
    solve_colours(world, set, stage, colour, colour + 1);
}

// Constraints without a colour, one after the other.
static void solve_overflow(cairn_world *world, constraint_set set, cairn_constraint_stage stage) {
    if (set.graph->overflow_count > 0) {
        CAIRN_ASSERT(set.overflow->stages[stage] != NULL);
        set.overflow->stages[stage](
            &world->soft_step->overflow_context, 0, set.graph->overflow_count);
    }
}

static void sweep(cairn_world *world, constraint_set set, cairn_constraint_stage stage) {
    solve_overflow(world, set, stage);
    for (uint32_t i = 0; i < CAIRN_COLOURS; ++i) {
        solve_colour(world, set, stage, i);
    }
}

// For stages that write no body, so that constraints of different colours are independent, too.
static void for_each(cairn_world *world, constraint_set set, cairn_constraint_stage stage) {
    CAIRN_ASSERT(stage == CAIRN_CONSTRAINT_PREPARE || stage == CAIRN_CONSTRAINT_STORE ||
                 stage == CAIRN_CONSTRAINT_SUM_IMPULSES || stage == CAIRN_CONSTRAINT_FIND_IMPACTS);
    solve_overflow(world, set, stage);
    solve_colours(world, set, stage, 0, CAIRN_COLOURS);
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
        .contact_impacts = soft_step->wide_impacts,
        .joint_edges = soft_step->joint_graph.edges,
        .joint_order = soft_step->joint_graph.order,
        .joints = world->state.joints,
        .joint_constraints = soft_step->wide_joints,
        .h = h,
        .inverse_h = rate,
        .contact_softness = soften(contact_hertz, settings->contact_damping, h),
        .static_softness = soften(static_hertz, settings->contact_damping, h),
        .joint_softness = soften(joint_hertz, settings->joint_damping, h),
        .restitution_threshold = CAIRN_IMPACT_THRESHOLD_ROUNDING * settings->restitution_threshold,
        .impact_lanes = soft_step->wide_impact_lanes,
        .struck = soft_step->struck,
        .restitution_found = &soft_step->restitution_found,
        .locks_found = &soft_step->locks_found,
        .impact_found = &soft_step->impact_found,
        .limit_damping = world_time_step(world) * settings->limit_damping};
    atomic_store_explicit(&soft_step->restitution_found, 0, memory_order_relaxed);
    atomic_store_explicit(&soft_step->locks_found, 0, memory_order_relaxed);
    soft_step->overflow_context = soft_step->wide_context;
    soft_step->overflow_context.contact_order = soft_step->contact_graph.overflow_order;
    soft_step->overflow_context.contact_constraints = soft_step->overflow_contacts;
    soft_step->overflow_context.contact_impacts = soft_step->overflow_impacts;
    soft_step->overflow_context.impact_lanes = soft_step->overflow_impact_lanes;
    soft_step->overflow_context.joint_order = soft_step->joint_graph.overflow_order;
    soft_step->overflow_context.joint_constraints = soft_step->overflow_joints;
}

// Whether some body may be so much lighter than another one.
static bool masses_differ(const cairn_soft_step *soft_step) {
    const float least =
        float_of_bits(atomic_load_explicit(&soft_step->least_inverse_mass, memory_order_relaxed));
    const float greatest = float_of_bits(
        atomic_load_explicit(&soft_step->greatest_inverse_mass, memory_order_relaxed));
    return greatest > CAIRN_SQUEEZE_MASS_RATIO_MIN * least;
}

// A light body between a heavy one and the ground answers each sweep by no more than its own mass
// can, so a load of a thousand times its weight takes seconds to arrive, and the springs of its
// contacts, which are as stiff as its mass allows, yield under it. How it would move on its own is
// of no consequence under such a load. So the solver takes it for heavier: the load of the last
// step is at most CAIRN_SQUEEZE_WEIGHTS_MAX times the weight, which adds that small a fraction to
// what is below. A body that lies loose on a heavy one carries no load, so it weighs what it
// weighs.
static void limit_loads(cairn_world *world) {
    const cairn_soft_step *soft_step = world->soft_step;
    const cairn_constraint_graph *graph = &soft_step->contact_graph;
    const uint32_t moving = soft_step->moving_count;
    if (!masses_differ(soft_step)) {
        return;
    }
    const float gravity = float_max(vec3_length(world->state.settings->present_gravity), 1.0f);
    const float bound = CAIRN_SQUEEZE_WEIGHTS_MAX * gravity * soft_step->wide_context.h;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        CAIRN_ASSERT(edge->solver_a < moving || edge->solver_b < moving);
        cairn_solver_body *a = &soft_step->bodies[edge->solver_a];
        cairn_solver_body *b = &soft_step->bodies[edge->solver_b];
        cairn_solver_body *light = a->inverse_mass > b->inverse_mass ? a : b;
        const float heavier = light == a ? b->inverse_mass : a->inverse_mass;
        if (light->inverse_mass <= CAIRN_SQUEEZE_MASS_RATIO_MIN * heavier || heavier == 0.0f) {
            continue;
        }
        const cairn_contact_point *points = world->state.contacts[edge->element].points;
        const float impulse = points[0].normal_impulse + points[1].normal_impulse +
                              points[2].normal_impulse + points[3].normal_impulse;
        if (light->inverse_mass * impulse > bound) {
            const float scale = bound / (light->inverse_mass * impulse);
            light->inverse_mass *= scale;
            for (int k = 0; k < 6; ++k) {
                light->inverse_inertia[k] *= scale;
            }
        }
    }
}

static void gather(void *argument) {
    cairn_world *world = argument;
    CAIRN_ASSERT(world->def.substeps >= 1);
    cairn_constraint_graph *contact_graph = &world->soft_step->contact_graph;
    // Commands and rules may set forces and velocities that take a body out of range in this step.
    // Each such body is disabled, which makes it static, and the others are gathered again.
    do {
        cairn_solver_bodies_assign(world);
        prepare_context(world);
        cairn_solver_bodies_gather(world);
    } while (cairn_solver_bodies_disable_invalid(world));
    cairn_soft_step *soft_step = world->soft_step;
    const uint32_t locks = atomic_load_explicit(&soft_step->locks_found, memory_order_relaxed);
    soft_step->wide_context.has_locks = locks;
    soft_step->overflow_context.has_locks = locks;
    cairn_solver_bodies_clear_forces(world);
    cairn_solver_bodies_prepare_gyroscopic(world);
    contact_graph->edge_count =
        cairn_active_contacts_gather(world, soft_step->solver_body_of, contact_graph->edges);
    CAIRN_ASSERT(contact_graph->edge_count <= world->def.contact_capacity);
}

// In a session of its own: what follows is serial, and longer than helpers wait for a stage.
void cairn_soft_step_begin(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    cairn_task_scheduler_run_session(world->scheduler, gather, world);
    cairn_constraint_graph_build(&soft_step->contact_graph, soft_step->body_count,
        soft_step->moving_count, soft_step->wide_kernel.lanes);
}

static void prepare_constraints(cairn_world *world) {
    cairn_task_scheduler_split(world->scheduler, store_contact_colours, world, 0,
        world->soft_step->contact_graph.edge_count, EDGES_SHARED_MIN);
    limit_loads(world);
    build_joint_graph(world);
    cairn_driven_joints_prepare(world);
    for_each(world, joints_of(world), CAIRN_CONSTRAINT_PREPARE);
    for_each(world, contacts_of(world), CAIRN_CONSTRAINT_PREPARE);
    cairn_stage_done(world, CAIRN_STAGE_PREPARE);
}

static void store_impulses(cairn_world *world) {
    for_each(world, joints_of(world), CAIRN_CONSTRAINT_STORE);
    cairn_driven_joints_store(world);
    for_each(world, contacts_of(world), CAIRN_CONSTRAINT_STORE);
}

// Stores the impulses so far for the trace. Nothing else reads them before the step ends.
static void trace_pass(cairn_world *world, uint32_t substep, cairn_pass after) {
    if (cairn_traced(world)) {
        store_impulses(world);
        CAIRN_ASSERT(substep >= 1 && substep <= world->def.substeps);
        cairn_trace_pass_done(world, substep, after);
    }
}

// Begins the next round of impacts. Returns whether some bodies collide in it.
static bool find_impacts(cairn_world *world, bool first_of_substep) {
    cairn_soft_step *soft_step = world->soft_step;
    cairn_solver_context *wide = &soft_step->wide_context;
    wide->impact_after = first_of_substep ? 0 : wide->impact_round;
    wide->impact_round += 1;
    soft_step->overflow_context.impact_after = wide->impact_after;
    soft_step->overflow_context.impact_round = wide->impact_round;
    if (wide->impact_round == 1) {
        memset(soft_step->struck, 0, soft_step->body_count * sizeof *soft_step->struck);
    }
    atomic_store_explicit(&soft_step->impact_found, 0, memory_order_relaxed);
    for_each(world, contacts_of(world), CAIRN_CONSTRAINT_FIND_IMPACTS);
    return atomic_load_explicit(&soft_step->impact_found, memory_order_relaxed) != 0;
}

// Rounds of impacts until no two bodies meet, or the next substep has to go on with the rest.
static void solve_impacts(cairn_world *world) {
    if (atomic_load_explicit(&world->soft_step->restitution_found, memory_order_relaxed) == 0) {
        return;
    }
    for (uint32_t i = 0; i < CAIRN_IMPACT_ROUNDS_MAX && find_impacts(world, i == 0); ++i) {
        for (uint32_t k = 0; k < CAIRN_IMPACT_SWEEPS; ++k) {
            sweep(world, contacts_of(world), CAIRN_CONSTRAINT_SOLVE_IMPACTS);
        }
    }
}

static void for_moving_bodies(cairn_world *world, cairn_kernel_pass *run) {
    const uint32_t count = world->soft_step->moving_count;
    cairn_kernel_pass_run(world, run, 0, count, BODIES_SHARED_MIN);
}

// The impulses of the last step, each where the last step had it: those of the joints' relax pass
// wait for the next one.
static void warm_start(cairn_world *world, constraint_set joints, constraint_set contacts) {
    if (joints.graph->edge_count > 0) {
        sweep(world, joints, CAIRN_CONSTRAINT_WARM_START_RELAX);
        for_moving_bodies(world, world->soft_step->wide_kernel.bodies->hold_relax_change);
        sweep(world, joints, CAIRN_CONSTRAINT_WARM_START);
    }
    cairn_driven_joints_warm_start(world);
    sweep(world, contacts, CAIRN_CONSTRAINT_WARM_START);
}

// In both directions, and first against the order of the colours: the better joints relax, the
// stiffer they may be before a chain jitters.
static void relax_joints(cairn_world *world, constraint_set joints) {
    const cairn_body_passes *bodies = world->soft_step->wide_kernel.bodies;
    if (joints.graph->edge_count == 0) {
        return;
    }
    for_moving_bodies(world, bodies->begin_relax);
    for (uint32_t colour = CAIRN_COLOURS; colour > 0; --colour) {
        solve_colour(world, joints, CAIRN_CONSTRAINT_BEGIN_RELAX, colour - 1);
    }
    solve_overflow(world, joints, CAIRN_CONSTRAINT_BEGIN_RELAX);
    sweep(world, joints, CAIRN_CONSTRAINT_RELAX);
    for_moving_bodies(world, bodies->end_relax);
}

// Biased, joints are solved last, and twice: contacts must not pull the limbs of a ragdoll apart,
// and what one sweep leaves feeds energy into a chain. Relaxed, contacts are solved last.
static void run_substeps(cairn_world *world) {
    const constraint_set contacts = contacts_of(world);
    const constraint_set joints = joints_of(world);
    CAIRN_ASSERT(world->soft_step->moving_count < world->soft_step->body_count);
    for (uint32_t i = 0; i < world->def.substeps; ++i) {
        cairn_solver_bodies_integrate_velocities(world, i == 0);
        if (i == 0) {
            warm_start(world, joints, contacts);
        }
        trace_pass(world, i + 1, CAIRN_PASS_INTEGRATE_VELOCITIES);
        solve_impacts(world);
        sweep(world, contacts, CAIRN_CONSTRAINT_SOLVE_BIASED);
        sweep(world, joints, CAIRN_CONSTRAINT_BEGIN_SOLVE_BIASED);
        sweep(world, joints, CAIRN_CONSTRAINT_SOLVE_BIASED);
        cairn_driven_joints_solve_biased(world);
        trace_pass(world, i + 1, CAIRN_PASS_SOLVE_BIASED);
        cairn_solver_bodies_integrate_positions(world);
        trace_pass(world, i + 1, CAIRN_PASS_INTEGRATE_POSITIONS);
        relax_joints(world, joints);
        cairn_driven_joints_relax(world);
        sweep(world, contacts, CAIRN_CONSTRAINT_RELAX);
        if (world->hit_shapes > 0) {
            for_each(world, contacts, CAIRN_CONSTRAINT_SUM_IMPULSES);
        }
        trace_pass(world, i + 1, CAIRN_PASS_RELAX);
    }
    // Not in each substep, which would take the change for an impulse and repeat it.
    sweep(world, joints, CAIRN_CONSTRAINT_DAMP);
    store_impulses(world);
}

void cairn_soft_step_solve(cairn_world *world) {
    prepare_constraints(world);
    run_substeps(world);
    cairn_stage_done(world, CAIRN_STAGE_SOLVE);
    if (world->hit_shapes > 0) {
        cairn_contact_events_add_hits(
            world, &world->soft_step->contact_graph, world->soft_step->contact_impulses);
    }
}

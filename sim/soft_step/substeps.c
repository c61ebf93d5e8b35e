// SPDX-License-Identifier: MIT

// The list of what is done with bodies, contacts and joints between the forces of a step and its
// new poses. All workers walk this list together, each with its own share of the bodies and
// constraints, which is the same throughout the step, so that the data stays in its cache. They
// meet only where one needs what another did (sim/task/task_scheduler.h, teams).

#include <string.h>

#include "base/assert.h"
#include "sim/collide/contact_events.h"
#include "sim/math/limits.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/trace_hook.h"
#include "sim/task/task_scheduler.h"

// Of spread_pushed.
#define PUSHED_PASSES_MAX 8

// A worker's share: the owners first_owner .. end_owner - 1 of the constraint graphs.
typedef struct worker_share {
    cairn_world *world;
    cairn_team_member *member;
    uint32_t first_owner;
    uint32_t end_owner;
    uint32_t turning_begin; // its turning bodies
    uint32_t turning_end;
} worker_share;

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

static bool is_main(const worker_share *share) {
    return share->member->rank == 0;
}

static void meet(const worker_share *share) {
    cairn_team_meet(share->member);
}

// A worker's passes over its own bodies between two sweeps are a phase, which the next sweep
// publishes. When the phase begins, all workers have solved the shared constraints of the sweep
// before, so no other worker acts on these bodies. Before the others act on them in the next sweep,
// they wait until the phase is published. So no worker waits for the passes of others over bodies
// that it does not share.
static void begin_bodies(const worker_share *share) {
    if (!share->member->begun) {
        cairn_team_begin_phase(share->member);
    }
}

static void end_bodies(const worker_share *share) {
    if (share->member->begun) {
        cairn_team_publish_phase(share->member);
    }
}

// ---- Constraints

// Whether constraints of owners begin .. end - 1 act on bodies that another owner's act on, too.
static bool any_shared(const cairn_graph_part *parts, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) {
        if (parts[i].begin < parts[i].own_begin) {
            return true;
        }
    }
    return false;
}

// Runs the stage on the constraints of shared bodies of the worker's owners.
static void run_shared(
    const worker_share *share, constraint_set set, cairn_kernel_pass *run, uint32_t colour) {
    const cairn_graph_part *parts = set.graph->parts[colour];
    for (uint32_t i = share->first_owner; i < share->end_owner; ++i) {
        run(&share->world->soft_step->wide_context, parts[i].begin, parts[i].own_begin);
    }
}

// Where the second half of the constraints of a worker's own bodies begins. The first half has an
// even number of them, because the kernels solve two together.
static uint32_t own_middle(const cairn_graph_part *part) {
    return part->own_begin + (((part->end - part->own_begin) / 2 + 1) & ~1u);
}

// Runs the stage on all constraints of the worker's owners.
static void run_colour(
    const worker_share *share, constraint_set set, cairn_kernel_pass *run, uint32_t colour) {
    const cairn_graph_part *parts = set.graph->parts[colour];
    for (uint32_t i = share->first_owner; i < share->end_owner; ++i) {
        if (parts[i].begin < parts[i].end) {
            run(&share->world->soft_step->wide_context, parts[i].begin, parts[i].end);
        }
    }
}

// A worker alone runs all parts at once. Otherwise it runs half of the constraints of its own
// bodies, then those of shared bodies, then the other half. During the first half the others can
// finish the colour before, and during the second half they need not wait for this worker. A worker
// without constraints of shared bodies does not wait. If no worker has any, the colour is not a
// phase. A worker finishes a colour before it begins the next one, because constraints of shared
// bodies also act on bodies of its own.
static void solve_colour(
    const worker_share *share, constraint_set set, cairn_constraint_stage stage, uint32_t colour) {
    const cairn_constraint_graph *graph = set.graph;
    const cairn_graph_part *parts = graph->parts[colour];
    const cairn_solver_context *context = &share->world->soft_step->wide_context;
    cairn_kernel_pass *run = set.wide->stages[stage];
    CAIRN_ASSERT(colour < CAIRN_COLOURS && run != NULL);
    if (share->member->size == 1 || !any_shared(parts, 0, graph->owners.count)) {
        run_colour(share, set, run, colour);
        return;
    }
    const bool waits = any_shared(parts, share->first_owner, share->end_owner);
    if (waits && cairn_team_phase_is_ready(share->member)) {
        run_shared(share, set, set.wide->stages[CAIRN_CONSTRAINT_FETCH], colour);
    }
    for (uint32_t i = share->first_owner; i < share->end_owner; ++i) {
        run(context, parts[i].own_begin, own_middle(&parts[i]));
    }
    if (waits) {
        cairn_team_begin_phase(share->member);
        run_shared(share, set, run, colour);
    } else {
        cairn_team_skip_to_phase(share->member);
    }
    cairn_team_publish_phase(share->member);
    for (uint32_t i = share->first_owner; i < share->end_owner; ++i) {
        run(context, own_middle(&parts[i]), parts[i].end);
    }
}

// Constraints without a colour, one after the other.
static void run_overflow(
    const worker_share *share, constraint_set set, cairn_constraint_stage stage) {
    if (set.graph->overflow_count > 0 && is_main(share)) {
        CAIRN_ASSERT(set.overflow->stages[stage] != NULL);
        set.overflow->stages[stage](
            &share->world->soft_step->overflow_context, 0, set.graph->overflow_count);
    }
}

static void solve_overflow(
    const worker_share *share, constraint_set set, cairn_constraint_stage stage) {
    if (set.graph->overflow_count > 0) {
        meet(share);
        run_overflow(share, set, stage);
        meet(share);
    }
}

static void sweep(const worker_share *share, constraint_set set, cairn_constraint_stage stage) {
    end_bodies(share);
    solve_overflow(share, set, stage);
    for (uint32_t i = 0; i < CAIRN_COLOURS; ++i) {
        solve_colour(share, set, stage, i);
    }
}

// For stages that write no body, so that constraints of different colours are independent, too.
static void for_each(const worker_share *share, constraint_set set, cairn_constraint_stage stage) {
    CAIRN_ASSERT(stage == CAIRN_CONSTRAINT_PREPARE || stage == CAIRN_CONSTRAINT_STORE ||
                 stage == CAIRN_CONSTRAINT_SUM_IMPULSES || stage == CAIRN_CONSTRAINT_MARK_PUSHED ||
                 stage == CAIRN_CONSTRAINT_FIND_IMPACTS || stage == CAIRN_CONSTRAINT_JOIN_IMPACTS ||
                 stage == CAIRN_CONSTRAINT_MEASURE_IMPACTS);
    run_overflow(share, set, stage);
    for (uint32_t colour = 0; colour < CAIRN_COLOURS; ++colour) {
        run_colour(share, set, set.wide->stages[stage], colour);
    }
}

// ---- Bodies

// Those that impulses move.
static void for_moving_bodies(const worker_share *share, cairn_kernel_pass *run) {
    const cairn_soft_step *soft_step = share->world->soft_step;
    const cairn_graph_owners *owners = &soft_step->contact_graph.owners;
    begin_bodies(share);
    run(&soft_step->wide_context, owners->first_body[share->first_owner],
        owners->first_body[share->end_owner]);
}

static void integrate_velocities(const worker_share *share, bool first) {
    const cairn_soft_step *soft_step = share->world->soft_step;
    const cairn_body_passes *bodies = soft_step->wide_kernel.bodies;
    if (first) {
        meet(share); // preparing constraints reads bodies: all workers must be done with it
    }
    for_moving_bodies(
        share, first ? bodies->integrate_velocities_first : bodies->integrate_velocities);
}

// Impacts meet the momentum that a body has now; what comes after them meets the mean motion of the
// substep. The motion of links is found before, from that mean.
static void begin_gyroscopic(const worker_share *share, bool links) {
    if (share->world->soft_step->gyroscopic_count > 0) {
        meet(share);
        if (is_main(share)) {
            cairn_solver_bodies_begin_gyroscopic(share->world, links);
        }
        meet(share);
    }
}

// Moves kinematic bodies, which constraints of all workers may read. The solver body before them
// stands for all bodies that do not move.
static void integrate_kinematic(const worker_share *share) {
    const cairn_soft_step *soft_step = share->world->soft_step;
    const uint32_t begin = soft_step->moving_count + 1;
    if (begin < soft_step->body_count) {
        meet(share);
        if (is_main(share)) {
            soft_step->wide_kernel.bodies->integrate_positions(
                &soft_step->wide_context, begin, soft_step->body_count);
        }
        meet(share);
    }
}

static void integrate_positions(const worker_share *share) {
    const cairn_soft_step *soft_step = share->world->soft_step;
    const cairn_body_passes *bodies = soft_step->wide_kernel.bodies;
    integrate_kinematic(share);
    for_moving_bodies(share, bodies->integrate_positions);
    if (soft_step->gyroscopic_count > 0) {
        meet(share);
        if (is_main(share)) {
            cairn_solver_bodies_finish_gyroscopic(share->world);
        }
        meet(share);
    }
    begin_bodies(share);
    bodies->turn_inertia(&soft_step->wide_context, share->turning_begin, share->turning_end);
}

// ---- Driven joints: groups that share no body, which need not be of one owner

typedef void driven_part(cairn_world *world, uint32_t rank, uint32_t size);

static void for_driven_joints(const worker_share *share, driven_part *part) {
    if (share->world->soft_step->driven_count > 0) {
        meet(share);
        part(share->world, share->member->rank, share->member->size);
        meet(share);
    }
}

// ---- Articulations, each of one worker

static void for_articulations(const worker_share *share, driven_part *part) {
    if (share->world->soft_step->forest.figure_count > 0) {
        meet(share);
        part(share->world, share->member->rank, share->member->size);
        meet(share);
    }
}

// ---- The parts of a step

// All others have theirs from the last step.
static void store_contact_colours(const worker_share *share) {
    const cairn_constraint_graph *graph = &share->world->soft_step->contact_graph;
    const uint64_t count = graph->recoloured_count;
    const uint32_t begin = (uint32_t)(count * share->member->rank / share->member->size);
    const uint32_t end = (uint32_t)(count * (share->member->rank + 1) / share->member->size);
    for (uint32_t i = begin; i < end; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[graph->overflow_order[i]];
        share->world->state.contacts[edge->element].colour = edge->colour + 1;
    }
}

static void list_turning(worker_share *share) {
    const cairn_graph_owners *owners = &share->world->soft_step->contact_graph.owners;
    share->turning_begin = owners->first_body[share->first_owner];
    share->turning_end = cairn_turning_inertia_list(
        share->world->soft_step, share->turning_begin, owners->first_body[share->end_owner]);
}

static void prepare(worker_share *share) {
    store_contact_colours(share);
    list_turning(share);
    for_each(share, joints_of(share->world), CAIRN_CONSTRAINT_PREPARE);
    for_each(share, contacts_of(share->world), CAIRN_CONSTRAINT_PREPARE);
    if (is_main(share)) {
        cairn_stage_done(share->world, CAIRN_STAGE_PREPARE);
    }
}

static void store_impulses(const worker_share *share) {
    for_each(share, joints_of(share->world), CAIRN_CONSTRAINT_STORE);
    for_driven_joints(share, cairn_driven_joints_store);
    for_each(share, contacts_of(share->world), CAIRN_CONSTRAINT_STORE);
}

// Stores the impulses so far for the trace. Nothing else reads them before the step ends. Such a
// step has one worker.
static void trace_pass(const worker_share *share, uint32_t substep, cairn_pass after) {
    if (cairn_traced(share->world)) {
        store_impulses(share);
        CAIRN_ASSERT(substep >= 1 && substep <= share->world->def.substeps);
        cairn_trace_pass_done(share->world, substep, after);
    }
}

static void begin_round(cairn_world *world, bool first_of_substep) {
    cairn_soft_step *soft_step = world->soft_step;
    cairn_solver_context *wide = &soft_step->wide_context;
    wide->impact_after = first_of_substep ? 0 : wide->impact_round;
    wide->impact_round += 1;
    soft_step->overflow_context.impact_after = wide->impact_after;
    soft_step->overflow_context.impact_round = wide->impact_round;
    if (wide->impact_round == 1) {
        memset(soft_step->met, 0, soft_step->body_count * sizeof *soft_step->met);
        memset(soft_step->struck, 0, soft_step->body_count * sizeof *soft_step->struck);
        memset(soft_step->impact_work, 0,
            soft_step->contact_graph.edge_count * sizeof *soft_step->impact_work);
    }
    atomic_store_explicit(&soft_step->impact_found, 0, memory_order_relaxed);
    atomic_store_explicit(&soft_step->impact_gains, 0, memory_order_relaxed);
}

// Begins the next round of impacts. Returns whether some bodies collide in it.
static bool find_impacts(const worker_share *share, bool first_of_substep) {
    meet(share);
    if (is_main(share)) {
        begin_round(share->world, first_of_substep);
    }
    meet(share);
    for_each(share, contacts_of(share->world), CAIRN_CONSTRAINT_FIND_IMPACTS);
    meet(share);
    if (atomic_load_explicit(&share->world->soft_step->impact_found, memory_order_relaxed) == 0) {
        return false;
    }
    for_each(share, contacts_of(share->world), CAIRN_CONSTRAINT_JOIN_IMPACTS);
    for_moving_bodies(share, share->world->soft_step->wide_kernel.bodies->begin_impacts);
    meet(share);
    return true;
}

static void limit_impacts(const worker_share *share) {
    meet(share);
    for_each(share, contacts_of(share->world), CAIRN_CONSTRAINT_MEASURE_IMPACTS);
    meet(share);
    if (is_main(share)) {
        cairn_impacts_limit(share->world);
    }
    meet(share);
}

// Rounds of impacts until no two bodies meet, or the next substep has to go on with the rest.
static void solve_impacts(const worker_share *share) {
    for (uint32_t i = 0; i < CAIRN_IMPACT_ROUNDS_MAX && find_impacts(share, i == 0); ++i) {
        for (uint32_t k = 0; k < CAIRN_IMPACT_SWEEPS; ++k) {
            sweep(share, contacts_of(share->world), CAIRN_CONSTRAINT_SOLVE_IMPACTS);
            for_articulations(share, cairn_articulations_spread_impacts);
        }
        limit_impacts(share);
    }
}

// Sweeps of contacts and of joints share different bodies: a body that is shared in the one may be
// a worker's own in the other. So there is a phase between the two.
static void sweep_joints_after_contacts(const worker_share *share, constraint_set joints) {
    if (joints.graph->edge_count > 0) {
        begin_bodies(share);
        sweep(share, joints, CAIRN_CONSTRAINT_BEGIN_SOLVE_BIASED);
        sweep(share, joints, CAIRN_CONSTRAINT_SOLVE_BIASED);
    }
}

// The impulses of the last step, each where the last step had it: those of the joints' relax pass
// wait for the next one.
static void warm_start(const worker_share *share, constraint_set joints, constraint_set contacts) {
    const cairn_body_passes *bodies = share->world->soft_step->wide_kernel.bodies;
    if (joints.graph->edge_count > 0) {
        sweep(share, joints, CAIRN_CONSTRAINT_WARM_START_RELAX);
        for_moving_bodies(share, bodies->hold_relax_change);
        sweep(share, joints, CAIRN_CONSTRAINT_WARM_START);
        begin_bodies(share);
    }
    for_driven_joints(share, cairn_driven_joints_warm_start);
    sweep(share, contacts, CAIRN_CONSTRAINT_WARM_START);
}

// In both directions, and first against the order of the colours: the better joints relax, the
// stiffer they may be before a chain jitters.
static void relax_joints(const worker_share *share, constraint_set joints) {
    const cairn_body_passes *bodies = share->world->soft_step->wide_kernel.bodies;
    for_moving_bodies(share, bodies->begin_relax);
    end_bodies(share);
    for (uint32_t colour = CAIRN_COLOURS; colour > 0; --colour) {
        solve_colour(share, joints, CAIRN_CONSTRAINT_BEGIN_RELAX, colour - 1);
    }
    solve_overflow(share, joints, CAIRN_CONSTRAINT_BEGIN_RELAX);
    sweep(share, joints, CAIRN_CONSTRAINT_RELAX);
    for_moving_bodies(share, bodies->end_relax);
}

// Biased, joints are solved last, and twice: contacts must not pull the limbs of a ragdoll apart,
// and what one sweep leaves feeds energy into a chain. Relaxed, contacts are solved last.
static void run_substep(const worker_share *share, uint32_t substep) {
    const constraint_set contacts = contacts_of(share->world);
    const constraint_set joints = joints_of(share->world);
    integrate_velocities(share, substep == 1);
    // All workers have prepared their contacts.
    const bool impacts = atomic_load_explicit(&share->world->soft_step->restitution_found,
                             memory_order_relaxed) != 0;
    begin_gyroscopic(share, true);
    for_articulations(share, cairn_articulations_begin);
    if (impacts) {
        solve_impacts(share);
    }
    if (impacts && substep > 1) {
        meet(share);
        for_moving_bodies(share, share->world->soft_step->wide_kernel.bodies->end_impacts);
        meet(share);
    }
    begin_gyroscopic(share, false);
    if (substep == 1) {
        warm_start(share, joints, contacts);
        for_articulations(share, cairn_articulations_spread);
    }
    trace_pass(share, substep, CAIRN_PASS_INTEGRATE_VELOCITIES);
    sweep(share, contacts, CAIRN_CONSTRAINT_SOLVE_BIASED);
    sweep_joints_after_contacts(share, joints);
    for_driven_joints(share, cairn_driven_joints_solve_biased);
    for_articulations(share, cairn_articulations_spread_biased);
    trace_pass(share, substep, CAIRN_PASS_SOLVE_BIASED);
    integrate_positions(share);
    for_articulations(share, cairn_articulations_advance);
    trace_pass(share, substep, CAIRN_PASS_INTEGRATE_POSITIONS);
    if (joints.graph->edge_count > 0) {
        relax_joints(share, joints);
        for_articulations(share, cairn_articulations_spread_joints);
    }
    for_driven_joints(share, cairn_driven_joints_relax);
    sweep(share, contacts, CAIRN_CONSTRAINT_RELAX);
    for_articulations(share, substep < share->world->def.substeps ? cairn_articulations_relax
                                                                  : cairn_articulations_relax_last);
    if (share->world->hit_shapes > 0) {
        for_each(share, contacts, CAIRN_CONSTRAINT_SUM_IMPULSES);
    }
    trace_pass(share, substep, CAIRN_PASS_RELAX);
}

static bool is_pushed(const cairn_soft_step *soft_step, uint32_t body) {
    return atomic_load_explicit(&soft_step->pushed[body], memory_order_relaxed) != 0;
}

// Marks bodies that joints begin .. end - 1 connect with a marked one. Passes run forward and
// backward along the list of joints, so they mark all of a ragdoll, and all of a chain whose joints
// were made in order. In a long chain with joints in random order some bodies may stay unmarked.
static void spread_pushed(cairn_soft_step *soft_step, uint32_t begin, uint32_t end) {
    const cairn_constraint_graph *graph = &soft_step->joint_graph;
    bool more = true;
    for (uint32_t pass = 0; more && pass < PUSHED_PASSES_MAX; ++pass) {
        more = false;
        for (uint32_t i = begin; i < end; ++i) {
            const uint32_t at = pass % 2 == 0 ? i : end - 1 - (i - begin);
            const uint32_t a = graph->edges[at].solver_a;
            const uint32_t b = graph->edges[at].solver_b;
            if (a < soft_step->moving_count && b < soft_step->moving_count &&
                is_pushed(soft_step, a) != is_pushed(soft_step, b)) {
                atomic_store_explicit(&soft_step->pushed[a], 1, memory_order_relaxed);
                atomic_store_explicit(&soft_step->pushed[b], 1, memory_order_relaxed);
                more = true;
            }
        }
    }
}

// Not in each substep, which would take the change for an impulse and repeat it.
static void damp_joints(const worker_share *share) {
    cairn_soft_step *soft_step = share->world->soft_step;
    if (!soft_step->any_axes || !(soft_step->wide_context.limit_damping > 0.0f)) {
        return;
    }
    if (is_main(share)) {
        memset(soft_step->pushed, 0, soft_step->body_count * sizeof *soft_step->pushed);
    }
    meet(share);
    for_each(share, contacts_of(share->world), CAIRN_CONSTRAINT_MARK_PUSHED);
    meet(share);
    if (is_main(share)) {
        spread_pushed(soft_step, 0, soft_step->joint_cut);
    }
    if (share->member->rank + 1 == share->member->size) {
        spread_pushed(soft_step, soft_step->joint_cut, soft_step->joint_graph.edge_count);
    }
    meet(share);
    sweep(share, joints_of(share->world), CAIRN_CONSTRAINT_DAMP);
}

static void run_member(void *context, cairn_team_member *member) {
    cairn_world *world = context;
    const cairn_body_passes *bodies = world->soft_step->wide_kernel.bodies;
    const uint32_t owners = world->soft_step->contact_graph.owners.count;
    CAIRN_ASSERT(member->size <= owners && world->soft_step->joint_graph.owners.count == owners);
    worker_share share = {.world = world,
        .member = member,
        .first_owner = owners * member->rank / member->size,
        .end_owner = owners * (member->rank + 1) / member->size};
    prepare(&share);
    for (uint32_t i = 1; i <= world->def.substeps; ++i) {
        run_substep(&share, i);
    }
    damp_joints(&share);
    for_articulations(&share, cairn_articulations_finish);
    store_impulses(&share);
    if (is_main(&share)) {
        cairn_stage_done(world, CAIRN_STAGE_SOLVE);
    }
    if (world->hit_shapes > 0) {
        // Where bodies hit each other is said for the poses before the step.
        meet(&share);
        if (is_main(&share)) {
            cairn_contact_events_add_hits(
                world, &world->soft_step->contact_graph, world->soft_step->contact_impulses);
        }
        meet(&share);
    }
    for_moving_bodies(&share, bodies->scatter);
    for_articulations(&share, cairn_articulations_store);
}

void cairn_soft_step_run(cairn_world *world) {
    const cairn_soft_step *soft_step = world->soft_step;
    CAIRN_ASSERT(soft_step->moving_count < soft_step->body_count);
    const uint32_t size_max = cairn_traced(world) ? 1 : soft_step->contact_graph.owners.count;
    cairn_task_scheduler_run_team(world->scheduler, run_member, world, size_max);
}

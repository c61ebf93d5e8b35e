// SPDX-License-Identifier: MIT

// The substep solver: the list of what is done with contacts and joints between the forces of a
// step and its new poses.

#include "sim/soft_step/soft_step.h"

#include <string.h>

#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/debug/negative_control.h"
#include "sim/limits.h"
#include "sim/soft_step/solver_bodies.h"
#include "sim/state/awake_set.h"
#include "sim/step.h"
#include "sim/task_scheduler.h"

static void carve_plan(
    cairn_plan *plan, cairn_carver *from, uint32_t bodies, uint32_t links, uint32_t lanes) {
    plan->links = cairn_carve(from, links, sizeof *plan->links);
    plan->taken = cairn_carve(from, bodies, sizeof *plan->taken);
    plan->order =
        cairn_carve(from, (size_t)cairn_plan_groups_max(links, lanes) * lanes, sizeof *plan->order);
    plan->single_order = cairn_carve(from, links, sizeof *plan->single_order);
}

void cairn_soft_step_carve(
    cairn_soft_step *soft_step, cairn_carver *from, const cairn_world_def *def) {
    const cairn_kernel *wide = &soft_step->wide;
    const cairn_kernel *single = &soft_step->single;
    const uint32_t bodies = def->body_capacity + 1;
    const uint32_t contacts = def->contact_capacity;
    const uint32_t joints = def->joint_capacity;
    soft_step->bodies = cairn_carve(from, bodies, sizeof *soft_step->bodies);
    soft_step->drives = cairn_carve(from, bodies, sizeof *soft_step->drives);
    soft_step->solver_of = cairn_carve(from, bodies, sizeof *soft_step->solver_of);
    soft_step->slot_of = cairn_carve(from, bodies, sizeof *soft_step->slot_of);
    soft_step->lost = cairn_carve(from, bodies, sizeof *soft_step->lost);
    carve_plan(&soft_step->touches, from, bodies, contacts, wide->lanes);
    carve_plan(&soft_step->joints, from, bodies, joints, wide->lanes);
    soft_step->contact_groups =
        cairn_carve(from, cairn_plan_groups_max(contacts, wide->lanes), wide->contacts->group_size);
    soft_step->joint_groups =
        cairn_carve(from, cairn_plan_groups_max(joints, wide->lanes), wide->joints->group_size);
    soft_step->single_contact_groups = cairn_carve(from, contacts, single->contacts->group_size);
    soft_step->single_joint_groups = cairn_carve(from, joints, single->joints->group_size);
}

// Catto, "Soft Constraints" (2011), with h the substep.
static cairn_softness soften(float hertz, float damping, float h) {
    const float omega = 2.0f * 3.14159265f * hertz;
    const float a1 = 2.0f * damping + h * omega;
    const float a2 = h * omega * a1;
    const float a3 = 1.0f / (1.0f + a2);
    return (cairn_softness){.rate = omega / a1, .mass_scale = a2 * a3, .impulse_scale = a3};
}

static void link_solver_bodies(const cairn_soft_step *soft_step, cairn_link *link) {
    link->solver_a = soft_step->solver_of[link->body_a];
    link->solver_b = soft_step->solver_of[link->body_b];
}

static void plan_contacts(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    cairn_plan *plan = &soft_step->touches;
    cairn_contact *contacts = world->state.contacts;
    for (uint32_t i = 0; i < plan->link_count; ++i) {
        cairn_link *link = &plan->links[i];
        const uint32_t colour = contacts[link->element].colour;
        link->colour = colour == 0 ? CAIRN_NO_COLOUR : colour - 1;
        link_solver_bodies(soft_step, link);
    }
    cairn_plan_make(plan, soft_step->body_count, soft_step->moving_count, soft_step->wide.lanes);
    for (uint32_t i = 0; i < plan->link_count; ++i) {
        contacts[plan->links[i].element].colour = plan->links[i].colour + 1;
    }
}

// Each joint the colour after those of the joints before it on its two bodies: a chain is swept
// from one end to the other, link by link, where colours as low as possible would sweep every
// second one. Counts in `taken`, which making the plan clears.
static void order_joints(const cairn_soft_step *soft_step, cairn_plan *plan) {
    memset(plan->taken, 0, soft_step->body_count * sizeof *plan->taken);
    for (uint32_t i = 0; i < plan->link_count; ++i) {
        cairn_link *link = &plan->links[i];
        const uint32_t moving = soft_step->moving_count;
        const uint32_t a = link->solver_a < moving ? plan->taken[link->solver_a] : 0;
        const uint32_t b = link->solver_b < moving ? plan->taken[link->solver_b] : 0;
        const uint32_t next = a > b ? a : b;
        plan->taken[link->solver_a] = next + 1;
        plan->taken[link->solver_b] = next + 1;
        link->colour = next % CAIRN_JOINT_COLOURS;
    }
}

static void plan_joints(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    cairn_plan *plan = &soft_step->joints;
    const unsigned char *moving = world->awake_set->takes_impulses;
    plan->link_count = 0;
    for (uint32_t i = 0; i < world->pair_cache->joint_count; ++i) {
        const cairn_joined_bodies *joint = &world->pair_cache->joints[i];
        if ((moving[joint->body_a] | moving[joint->body_b]) != 0) {
            cairn_link *link = &plan->links[plan->link_count++];
            *link = (cairn_link){.element = joint->joint,
                .body_a = joint->body_a,
                .body_b = joint->body_b,
                .kind = world->state.joints[joint->joint].kind,
                .colour = CAIRN_NO_COLOUR};
            link_solver_bodies(soft_step, link);
        }
    }
    order_joints(soft_step, plan);
    cairn_plan_make(plan, soft_step->body_count, soft_step->moving_count, soft_step->wide.lanes);
}

// Groups that one worker takes at a time, at least: about ten microseconds' work.
#define GROUPS_SHARED_MIN 16

typedef struct pass {
    cairn_kernel_pass *run;
    const cairn_solve *solve;
} pass;

static void run_groups(const void *context, uint32_t begin, uint32_t end) {
    const pass *p = context;
    p->run(p->solve, begin, end);
}

static uint32_t colour_at(const cairn_world *world, uint32_t index) {
    const bool back = control_constraints_reversed() ||
                      (control_workers_reorder() && world->scheduler->parallel != NULL);
    return back ? CAIRN_COLOURS - 1 - index : index;
}

// One pass over everything that a plan holds: what found no colour one by one, then colour after
// colour.
static void run(cairn_world *world, const cairn_plan *plan, cairn_kernel_pass *single,
    cairn_kernel_pass *wide) {
    const cairn_soft_step *soft_step = world->soft_step;
    const pass shared = {.run = wide, .solve = &soft_step->wide_solve};
    if (plan->single_count > 0) {
        single(&soft_step->single_solve, 0, plan->single_count);
    }
    for (uint32_t i = 0; i < CAIRN_COLOURS; ++i) {
        const uint32_t colour = colour_at(world, i);
        cairn_task_scheduler_parallel_for(world->scheduler, run_groups, &shared,
            plan->group_start[colour], plan->group_start[colour + 1], GROUPS_SHARED_MIN);
    }
}

// The same the other way round.
static void run_back(cairn_world *world, const cairn_plan *plan, cairn_kernel_pass *single,
    cairn_kernel_pass *wide) {
    const cairn_soft_step *soft_step = world->soft_step;
    const pass shared = {.run = wide, .solve = &soft_step->wide_solve};
    for (uint32_t colour = CAIRN_COLOURS; colour > 0; --colour) {
        cairn_task_scheduler_parallel_for(world->scheduler, run_groups, &shared,
            plan->group_start[colour - 1], plan->group_start[colour], GROUPS_SHARED_MIN);
    }
    if (plan->single_count > 0) {
        single(&soft_step->single_solve, 0, plan->single_count);
    }
}

// The same where groups do not meet whatever their colours: no body is written.
static void run_apart(cairn_world *world, const cairn_plan *plan, cairn_kernel_pass *single,
    cairn_kernel_pass *wide) {
    const cairn_soft_step *soft_step = world->soft_step;
    const pass shared = {.run = wide, .solve = &soft_step->wide_solve};
    if (plan->single_count > 0) {
        single(&soft_step->single_solve, 0, plan->single_count);
    }
    cairn_task_scheduler_parallel_for(world->scheduler, run_groups, &shared, 0,
        plan->group_start[CAIRN_COLOURS], GROUPS_SHARED_MIN);
}

#define CONTACTS(world, how, pass)                                                                 \
    how(world, &(world)->soft_step->touches, (world)->soft_step->single.contacts->pass,            \
        (world)->soft_step->wide.contacts->pass)
#define JOINTS(world, how, pass)                                                                   \
    how(world, &(world)->soft_step->joints, (world)->soft_step->single.joints->pass,               \
        (world)->soft_step->wide.joints->pass)

static void prepare_solve(cairn_world *world) {
    const float h = world_time_step(world) / (float)world->def.substeps;
    const cairn_settings *settings = world->state.settings;
    cairn_soft_step *soft_step = world->soft_step;
    const float rate = 1.0f / h;
    const float contact_hertz = float_min(settings->contact_hertz, CAIRN_HERTZ_SHARE * rate);
    const float joint_hertz = float_min(settings->joint_hertz, CAIRN_JOINT_HERTZ_SHARE * rate);
    soft_step->wide_solve = (cairn_solve){.motions = world->state.motions,
        .cold = world->state.bodies,
        .bodies = soft_step->bodies,
        .moving_count = soft_step->moving_count,
        .drives = soft_step->drives,
        .slot_of = soft_step->slot_of,
        .lost = soft_step->lost,
        .substeps = world->def.substeps,
        .gravity = settings->gravity,
        .warm = settings->warm_start,
        .touches = soft_step->touches.links,
        .touch_order = soft_step->touches.order,
        .patches = world->manifold_pool->patches,
        .contacts = world->state.contacts,
        .contact_groups = soft_step->contact_groups,
        .joint_links = soft_step->joints.links,
        .joint_order = soft_step->joints.order,
        .joints = world->state.joints,
        .joint_groups = soft_step->joint_groups,
        .h = h,
        .inverse_h = rate,
        .soft = soften(contact_hertz, settings->contact_damping, h),
        .soft_fixed = soften(2.0f * contact_hertz, settings->contact_damping, h),
        .soft_joint = soften(joint_hertz, settings->joint_damping, h),
        .restitution_threshold = settings->restitution_threshold};
    soft_step->single_solve = soft_step->wide_solve;
    soft_step->single_solve.touch_order = soft_step->touches.single_order;
    soft_step->single_solve.contact_groups = soft_step->single_contact_groups;
    soft_step->single_solve.joint_order = soft_step->joints.single_order;
    soft_step->single_solve.joint_groups = soft_step->single_joint_groups;
}

// Commands and rules may have left behind what a step cannot bear; a step leaves only what is
// sound.
static void gather_bodies(cairn_world *world) {
    do {
        cairn_solver_bodies_number(world);
        prepare_solve(world);
        cairn_solver_bodies_fill(world);
    } while (cairn_solver_bodies_disable_invalid(world));
    cairn_solver_bodies_forget_forces(world);
}

void cairn_soft_step_prepare(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    gather_bodies(world);
    soft_step->touches.link_count = cairn_active_contacts_gather(world, soft_step->touches.links);
    plan_contacts(world);
    plan_joints(world);
    JOINTS(world, run_apart, prepare);
    CONTACTS(world, run_apart, prepare);
}

// The impulses so far, where a trace can see them; nothing reads them there before the end.
static void show(cairn_world *world, uint32_t substep, cairn_pass after) {
    if (cairn_traced(world)) {
        JOINTS(world, run_apart, store);
        CONTACTS(world, run_apart, store);
        cairn_trace_show(world, CAIRN_STAGE_SOLVE, substep, after);
    }
}

// Joints push last, so that limbs are not pulled apart by what they lie in; contacts relax last.
// Joints relax to and fro: how stiff they may be without growing restless depends on how well they
// relax, and chains pass on in one sweep what runs their way.
void cairn_soft_step_solve(cairn_world *world) {
    for (uint32_t i = 0; i < world->def.substeps; ++i) {
        cairn_solver_bodies_speed(world, i == 0);
        if (i == 0) {
            JOINTS(world, run, warm_start);
            CONTACTS(world, run, warm_start);
        }
        show(world, i + 1, CAIRN_PASS_SPEED);
        CONTACTS(world, run, push);
        JOINTS(world, run, push);
        show(world, i + 1, CAIRN_PASS_PUSH);
        cairn_solver_bodies_shift(world);
        show(world, i + 1, CAIRN_PASS_SHIFT);
        JOINTS(world, run_back, relax);
        JOINTS(world, run, relax);
        CONTACTS(world, run, relax);
        show(world, i + 1, CAIRN_PASS_RELAX);
    }
    CONTACTS(world, run, bounce);
    show(world, world->def.substeps, CAIRN_PASS_BOUNCE);
    JOINTS(world, run_apart, store);
    CONTACTS(world, run_apart, store);
}

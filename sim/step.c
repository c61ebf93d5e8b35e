// SPDX-License-Identifier: MIT
#include "sim/step.h"

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/collide/contact_events.h"
#include "sim/collide/contact_update.h"
#include "sim/collide/pair_cache.h"
#include "sim/collide/sweep.h"
#include "sim/edit.h"
#include "sim/math/float_env.h"
#include "sim/math/limits.h"
#include "sim/pgs/pgs.h"
#include "sim/query/shape_tree.h"
#include "sim/sleep/body_events.h"
#include "sim/sleep/island.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/trace_hook.h"
#include "sim/task/task_scheduler.h"
#include "sim/world/game_messages.h"
#include "sim/world/joint_def.h"

// So many bodies and joints are marked by the main thread.
#define BODIES_SHARED_MIN 1024
#define JOINTS_SHARED_MIN 512

static void check_commands(const cairn_command *commands, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        CAIRN_ASSERT(cairn_command_check(&commands[i]) == CAIRN_OK);
        CAIRN_ASSERT(i == 0 || !cairn_command_before(&commands[i], &commands[i - 1]));
    }
}

// No pair is collided and no body moves, wakes or falls asleep, because the awake set is empty. No
// contact ends, because no shape was removed and no body disabled since the contacts were found.
bool cairn_step_is_idle(const cairn_world *world) {
    if (world->contacts_stale) {
        return false;
    }
    const uint32_t count = world->state.settings->body_slots;
    for (uint32_t i = cairn_awake_mark_next(world, 0); i < count;
         i = cairn_awake_mark_next(world, i + 1)) {
        if (cairn_body_in_awake_set(world, i)) {
            return false;
        }
    }
    return true;
}

static void mark_bodies(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const uint32_t *bodies = world->awake_set->bodies;
    CAIRN_ASSERT(end <= world->awake_set->body_count);
    for (uint32_t i = begin; i < end; ++i) {
        cairn_hash_cache_mark(world, CAIRN_ARRAY_MOTIONS, bodies[i]);
        cairn_hash_cache_mark(world, CAIRN_ARRAY_SLEEP, bodies[i]);
    }
}

static void mark_joints(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_joint_filter *filter = &world->pair_cache->joint_filter;
    CAIRN_ASSERT(end <= filter->joint_count);
    for (uint32_t i = begin; i < end; ++i) {
        const cairn_joint_bodies *joint = &filter->joints[i];
        if (cairn_body_is_active(world, joint->body_a) ||
            cairn_body_is_active(world, joint->body_b)) {
            cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINTS, joint->joint);
        }
    }
}

static void mark_all_joints(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_joint_filter *filter = &world->pair_cache->joint_filter;
    for (uint32_t i = begin; i < end; ++i) {
        cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINTS, filter->joints[i].joint);
    }
}

// Whether the solver had every joint, so all have a body that is active.
static bool all_joints_solved(const cairn_world *world) {
    return world->def.solver == CAIRN_SOLVER_SOFT_STEP &&
           world->soft_step->joint_graph.edge_count == world->pair_cache->joint_filter.joint_count;
}

// Marks what the stages so far may have written of bodies and joints, for the hash and for queries.
// Called before cairn_islands_sleep, while the bodies that were awake through the step still are;
// disabling a body has marked everything.
static void mark_written(cairn_world *world) {
    const cairn_awake_set *awake = world->awake_set;
    CAIRN_ASSERT(awake->body_count <= world->state.settings->body_slots);
    cairn_task_scheduler_split(
        world->scheduler, mark_bodies, world, 0, awake->body_count, BODIES_SHARED_MIN);
    for (uint32_t i = 0; world->shape_tree->built && i < awake->body_count; ++i) {
        cairn_shape_tree_mark_moved(world->shape_tree, awake->bodies[i]);
    }
    cairn_task_scheduler_split(world->scheduler,
        all_joints_solved(world) ? mark_all_joints : mark_joints, world, 0,
        world->pair_cache->joint_filter.joint_count, JOINTS_SHARED_MIN);
}

static void find_contacts(cairn_world *world) {
    cairn_pair_cache_update(world);
    cairn_stage_done(world, CAIRN_STAGE_PAIRS);
    cairn_contact_update(world);
    cairn_stage_done(world, CAIRN_STAGE_COLLIDE);
    cairn_islands_wake(world);
    cairn_stage_done(world, CAIRN_STAGE_ISLANDS);
}

static void solve(cairn_world *world) {
    if (world->def.solver == CAIRN_SOLVER_SOFT_STEP) {
        cairn_soft_step_begin(world);
        cairn_soft_step_solve(world);
        cairn_solver_bodies_list_strayed(world);
        const bool kinematic = world->soft_step->moving_count != world->awake_set->body_count;
        if (kinematic) {
            cairn_kinematic_bodies_integrate(world);
        }
        uint32_t *slots = world->soft_step->strayed_slots;
        uint32_t count = world->soft_step->strayed_count;
        if (world->mesh_shapes != 0 || (kinematic && cairn_sweep_is_of_all(world))) {
            count = cairn_articulations_leave_out(
                world, world->awake_set->bodies, world->awake_set->body_count, slots);
        }
        cairn_bodies_sweep(world, slots, count, kinematic);
    } else {
        cairn_pgs_integrate_forces(world);
        cairn_stage_done(world, CAIRN_STAGE_INTEGRATE);
        cairn_pgs_solve(world);
        cairn_stage_done(world, CAIRN_STAGE_SOLVE);
        cairn_pgs_integrate_positions(world);
        cairn_bodies_sweep(world, world->awake_set->bodies, world->awake_set->body_count, true);
    }
    cairn_stage_done(world, CAIRN_STAGE_INTEGRATE);
    mark_written(world);
    if (world->state.settings->joint_drive_count != 0) {
        cairn_joints_break(world);
    }
    cairn_islands_sleep(world);
    cairn_body_events_add(world);
    cairn_stage_done(world, CAIRN_STAGE_ISLANDS);
}

static void run_stages(void *argument) {
    cairn_world *world = argument;
    find_contacts(world);
    solve(world);
}

// Edits and rules. Returns whether the rest of the step would change nothing.
static bool begin_step(cairn_world *world, const cairn_command *commands, uint32_t command_count) {
    const cairn_rules *rules = world->def.rules;
    cairn_game_messages_begin(world);
    if (rules != NULL && rules->start != NULL && cairn_world_tick(world) == 0) {
        rules->start(world, world->state.rules);
    }
    const uint32_t player_count = cairn_edits_apply(world, commands, command_count);
    CAIRN_ASSERT(player_count <= command_count);
    if (rules != NULL) {
        rules->step(world, world->state.rules, commands, player_count);
    }
    if (world->targets_set) {
        cairn_body_targets_begin(world);
    }
    const bool idle = cairn_step_is_idle(world);
    cairn_stage_done(world, CAIRN_STAGE_RULES);
    cairn_contact_events_clear(world);
    cairn_body_events_clear(world);
    world->state.settings->joint_event_count = 0;
    return idle;
}

static void run_session(cairn_world *world, void (*stages)(void *argument)) {
    // The main thread steps small worlds alone: waking helpers costs more than such a step.
    const bool alone = world->state.settings->shape_slots < CAIRN_SHAPES_SHARED_MIN;
    world->scheduler->parallel = alone || world->parallel.workers < 2 ? NULL : &world->parallel;
    cairn_task_scheduler_run_session(world->scheduler, stages, world);
}

static void run_to_rows(void *argument) {
    cairn_world *world = argument;
    find_contacts(world);
    cairn_pgs_integrate_forces(world);
    cairn_pgs_prepare(world);
}

bool cairn_step_prepare_rows(
    cairn_world *world, const cairn_command *commands, uint32_t command_count) {
    check_commands(commands, command_count);
    const uint64_t mode = cairn_float_enter();
    const bool idle = begin_step(world, commands, command_count);
    if (!idle) {
        run_session(world, run_to_rows);
    }
    cairn_float_leave(mode);
    return !idle;
}

void cairn_world_step(cairn_world *world, const cairn_command *commands, uint32_t command_count) {
    CAIRN_ASSERT(command_count == 0 || commands != NULL);
    check_commands(commands, command_count);
    const uint64_t mode = cairn_float_enter();
    const cairn_rules *rules = world->def.rules;
    if (begin_step(world, commands, command_count)) {
        cairn_awake_set_list(world); // it is empty: the next step finds no marks
    } else {
        run_session(world, run_stages);
    }
    if (world->targets_set) {
        cairn_body_targets_end(world);
    }
    if (rules != NULL && rules->after_step != NULL) {
        rules->after_step(world, world->state.rules);
        cairn_stage_done(world, CAIRN_STAGE_RULES);
    }
    cairn_game_messages_end(world);
    const uint64_t tick = cairn_world_tick(world) + 1;
    CAIRN_ASSERT(tick > 0);
    world->state.settings->tick_low = (uint32_t)tick;
    world->state.settings->tick_high = (uint32_t)(tick >> 32);
#ifdef CAIRN_VALIDATE
    const char *where = ""; // names the rule that is broken, for the debugger
    CAIRN_ASSERT(cairn_world_validate(world, &where) == CAIRN_OK);
#endif
    cairn_float_leave(mode);
}

void cairn_world_set_stage_probe(
    cairn_world *world, void (*probe)(void *context, uint32_t stage), void *context) {
    world->stage_probe = probe;
    world->stage_context = context;
}

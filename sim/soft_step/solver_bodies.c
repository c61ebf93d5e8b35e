// SPDX-License-Identifier: MIT

// The dense bodies of the soft-step solver: which they are, and their passes shared among workers.

#include "sim/soft_step/soft_step.h"

#include <string.h>

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/math/rotation.h"
#include "sim/state/awake_set.h"
#include "sim/task/task_scheduler.h"

// So many bodies are marked by the main thread.
#define MARKS_SHARED_MIN 1024

static void copy3(float *to, cairn_vec3 from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

// Moves the slots that were listed to their owners, each of which has them in order.
static cairn_graph_owners sort_by_owner(cairn_soft_step *soft_step, const uint32_t *listed) {
    const cairn_body_division *division = &soft_step->division;
    const uint32_t count = soft_step->moving_count;
    cairn_graph_owners owners = {.count = division->count};
    uint32_t next[CAIRN_OWNERS_MAX] = {0};
    for (uint32_t i = 0; i < count; ++i) {
        CAIRN_ASSERT(division->owner_of[listed[i]] < division->count);
        next[division->owner_of[listed[i]]] += 1;
    }
    for (uint32_t i = 0; i < owners.count; ++i) {
        owners.first_body[i + 1] = owners.first_body[i] + next[i];
        next[i] = owners.first_body[i];
    }
    for (uint32_t i = 0; i < count; ++i) {
        soft_step->slot_of[next[division->owner_of[listed[i]]]++] = listed[i];
    }
    return owners;
}

static void mark_taking(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_awake_set *awake = world->awake_set;
    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t slot = awake->bodies[i];
        awake->takes_impulses[slot] = cairn_body_takes_impulses(world, slot) ? 1 : 0;
    }
}

// Whether the bodies that take impulses and their owners are those of the last step, and no body
// moved then without taking impulses. If so, all indices stay.
static bool are_those_of_last_step(const cairn_world *world, cairn_graph_owners *owners) {
    const cairn_soft_step *soft_step = world->soft_step;
    const cairn_awake_set *awake = world->awake_set;
    const cairn_body_division *division = &soft_step->division;
    const uint32_t count = division->count;
    uint32_t next[CAIRN_OWNERS_MAX];
    *owners = soft_step->contact_graph.owners;
    if (soft_step->still_slots != world->state.settings->body_slots || owners->count != count ||
        owners->first_body[count] != soft_step->moving_count ||
        soft_step->body_count != soft_step->moving_count + 1) {
        return false;
    }
    memcpy(next, owners->first_body, sizeof next);
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        if (awake->takes_impulses[slot] != 0) {
            const uint32_t owner = count > 1 ? division->owner_of[slot] : 0;
            CAIRN_ASSERT(owner < count);
            if (next[owner] >= owners->first_body[owner + 1] ||
                soft_step->slot_of[next[owner]] != slot) {
                return false;
            }
            next[owner] += 1;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (next[i] != owners->first_body[i + 1]) {
            return false;
        }
    }
    return true;
}

// Assigns and marks the bodies that take impulses. All others get the index of the static body;
// assign_kinematic then replaces it for those that move without taking impulses.
static cairn_graph_owners assign_moving(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    const cairn_awake_set *awake = world->awake_set;
    const uint32_t slots = world->state.settings->body_slots;
    const uint32_t still = soft_step->moving_count; // of the last step
    const bool divided = soft_step->division.count > 1;
    uint32_t *listed = divided ? soft_step->strayed_slots : soft_step->slot_of;
    uint32_t count = 0;
    cairn_graph_owners owners;
    memset(awake->takes_impulses, 0, slots);
    cairn_task_scheduler_split(
        world->scheduler, mark_taking, world, 0, awake->body_count, MARKS_SHARED_MIN);
    if (are_those_of_last_step(world, &owners)) {
        return owners;
    }
    // Those of the last step are taken back one by one, because of all bodies few may be awake.
    for (uint32_t i = 0; soft_step->still_slots == slots && i < soft_step->body_count; ++i) {
        if (i != still) {
            soft_step->solver_body_of[soft_step->slot_of[i]] = still;
        }
    }
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        if (awake->takes_impulses[awake->bodies[i]] != 0) {
            listed[count++] = awake->bodies[i];
        }
    }
    CAIRN_ASSERT(count <= world->def.body_capacity);
    soft_step->moving_count = count;
    owners = divided ? sort_by_owner(soft_step, listed) : cairn_graph_single_owner(count);
    for (uint32_t i = 0; (soft_step->still_slots != slots || count != still) && i < slots; ++i) {
        soft_step->solver_body_of[i] = count;
    }
    soft_step->still_slots = slots;
    for (uint32_t i = 0; i < count; ++i) {
        soft_step->solver_body_of[soft_step->slot_of[i]] = i;
    }
    return owners;
}

// Assigns the static body, and those that move without taking impulses.
static void assign_kinematic(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    const cairn_awake_set *awake = world->awake_set;
    const uint32_t fixed = soft_step->moving_count;
    uint32_t count = fixed + 1;
    soft_step->bodies[fixed] = (cairn_solver_body){.inverse_mass = 0.0f};
    const uint32_t others = awake->body_count - fixed;
    for (uint32_t i = 0; others > 0 && i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        if (soft_step->solver_body_of[slot] == fixed && cairn_body_is_moving(world, slot)) {
            cairn_solver_body *body = &soft_step->bodies[count];
            soft_step->slot_of[count] = slot;
            soft_step->solver_body_of[slot] = count++;
            *body = (cairn_solver_body){.inverse_mass = 0.0f};
            copy3(body->linear_velocity, world->state.motions[slot].linear_velocity);
            copy3(body->angular_velocity, world->state.motions[slot].angular_velocity);
        }
    }
    CAIRN_ASSERT(count > fixed && count <= world->def.body_capacity + 1);
    soft_step->body_count = count;
}

bool cairn_solver_bodies_disable_invalid(cairn_world *world) {
    const cairn_soft_step *soft_step = world->soft_step;
    const cairn_awake_set *awake = world->awake_set;
    CAIRN_ASSERT(soft_step->moving_count < soft_step->body_count);
    bool any = false;
    if (memchr(soft_step->outcome, CAIRN_OUTCOME_INVALID, soft_step->moving_count) == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t body = soft_step->solver_body_of[awake->bodies[i]];
        if (body < soft_step->moving_count &&
            (soft_step->outcome[body] & CAIRN_OUTCOME_INVALID) != 0) {
            cairn_body_disable(world, awake->bodies[i]);
            any = true;
        }
    }
    return any;
}

cairn_graph_owners cairn_solver_bodies_assign(cairn_world *world) {
    const cairn_graph_owners owners = assign_moving(world);
    assign_kinematic(world);
    CAIRN_ASSERT(world->soft_step->body_count <= world->def.body_capacity + 1);
    return owners;
}

// Passes over the bodies of each owner. So a worker reads what it has written at the end of the
// last step, and what it gathers stays in its cache.
typedef struct owners_work {
    cairn_world *world;
    const cairn_graph_owners *owners;
} owners_work;

static void for_owners(cairn_world *world, cairn_task *task, const cairn_graph_owners *owners) {
    const owners_work work = {.world = world, .owners = owners};
    CAIRN_ASSERT(owners->count >= 1 && owners->count <= CAIRN_OWNERS_MAX);
    cairn_task_scheduler_split(world->scheduler, task, &work, 0, owners->count, 1);
}

static void gather_some(const void *context, uint32_t begin, uint32_t end) {
    const owners_work *work = context;
    const cairn_soft_step *soft_step = work->world->soft_step;
    soft_step->wide_kernel.bodies->gather(
        &soft_step->wide_context, work->owners->first_body[begin], work->owners->first_body[end]);
}

void cairn_solver_bodies_gather(cairn_world *world, const cairn_graph_owners *owners) {
    for_owners(world, gather_some, owners);
}

static void clear_some_forces(const void *context, uint32_t first_owner, uint32_t end_owner) {
    const owners_work *work = context;
    cairn_world *world = work->world;
    cairn_soft_step *soft_step = world->soft_step;
    const uint32_t begin = work->owners->first_body[first_owner];
    const uint32_t end = work->owners->first_body[end_owner];
    CAIRN_ASSERT(begin <= end && end <= soft_step->moving_count);
    if (begin == end) {
        return;
    }
    float least = soft_step->bodies[begin].inverse_mass;
    float greatest = least;
    for (uint32_t i = begin; i < end; ++i) {
        CAIRN_ASSERT(soft_step->bodies[i].inverse_mass > 0.0f);
        least = float_min(least, soft_step->bodies[i].inverse_mass);
        greatest = float_max(greatest, soft_step->bodies[i].inverse_mass);
        cairn_body_clear_forces(world, soft_step->slot_of[i]);
    }
    uint32_t seen = atomic_load_explicit(&soft_step->least_inverse_mass, memory_order_relaxed);
    while (float_bits(least) < seen && !atomic_compare_exchange_weak(&soft_step->least_inverse_mass,
                                           &seen, float_bits(least))) {}
    seen = atomic_load_explicit(&soft_step->greatest_inverse_mass, memory_order_relaxed);
    while (float_bits(greatest) > seen &&
           !atomic_compare_exchange_weak(
               &soft_step->greatest_inverse_mass, &seen, float_bits(greatest))) {}
}

void cairn_solver_bodies_clear_forces(cairn_world *world, const cairn_graph_owners *owners) {
    cairn_soft_step *soft_step = world->soft_step;
    atomic_store_explicit(&soft_step->least_inverse_mass, UINT32_MAX, memory_order_relaxed);
    atomic_store_explicit(&soft_step->greatest_inverse_mass, 0, memory_order_relaxed);
    for_owners(world, clear_some_forces, owners);
}

// ---- Gyroscopic torque: few bodies have it, so it is computed for one after the other.

static cairn_vec3 vec3_at(const float *row) {
    return vec3(row[0], row[1], row[2]);
}

// Impulses of a substep are what its velocities differ by from the unconstrained ones, so what is
// no impulse changes both.
static void change_angular_velocity(
    const cairn_soft_step *soft_step, uint32_t body, cairn_vec3 change) {
    CAIRN_ASSERT(body < soft_step->moving_count);
    float *now = soft_step->bodies[body].angular_velocity;
    float *unconstrained = &soft_step->integration[body].unconstrained_velocity[4];
    copy3(now, vec3_add(vec3_at(now), change));
    copy3(unconstrained, vec3_add(vec3_at(unconstrained), change));
}

void cairn_solver_bodies_begin_gyroscopic(cairn_world *world, bool links) {
    const cairn_soft_step *soft_step = world->soft_step;
    for (uint32_t i = 0; i < soft_step->gyroscopic_count; ++i) {
        const uint32_t body = soft_step->gyroscopic_bodies[i];
        if ((soft_step->bodies[body].closing != 0.0f) != links) {
            continue;
        }
        const cairn_vec3 before = vec3_at(&soft_step->integration[body].unconstrained_velocity[4]);
        const cairn_vec3 mean =
            cairn_gyroscopic_begin(&soft_step->gyroscopic[i], before, soft_step->wide_context.h);
        change_angular_velocity(soft_step, body, vec3_sub(mean, before));
    }
}

void cairn_solver_bodies_finish_gyroscopic(cairn_world *world) {
    const cairn_soft_step *soft_step = world->soft_step;
    for (uint32_t i = 0; i < soft_step->gyroscopic_count; ++i) {
        const uint32_t body = soft_step->gyroscopic_bodies[i];
        cairn_gyroscopic *gyroscopic = &soft_step->gyroscopic[i];
        const cairn_vec3 before = vec3_at(soft_step->bodies[body].angular_velocity);
        const cairn_vec3 end =
            cairn_gyroscopic_finish(gyroscopic, before, soft_step->wide_context.h);
        change_angular_velocity(soft_step, body, vec3_sub(end, before));
        // Rotations about different axes do not add up as vectors.
        copy3(soft_step->bodies[body].delta_rotation,
            vector_of_quat(
                quat_multiply(gyroscopic->rotation, quat_conjugate(gyroscopic->rotation0))));
    }
}

void cairn_solver_bodies_prepare_gyroscopic(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    uint32_t count = 0;
    for (uint32_t i = 0; i < soft_step->moving_count; ++i) {
        if (world->state.bodies[soft_step->slot_of[i]].gyroscopic != 0 &&
            cairn_gyroscopic_prepare(world, soft_step->slot_of[i], &soft_step->gyroscopic[count])) {
            soft_step->gyroscopic_bodies[count++] = i;
        }
    }
    CAIRN_ASSERT(count <= soft_step->moving_count);
    soft_step->gyroscopic_count = count;
}

// In order of slot: a body that is swept meets others where they have stopped.
void cairn_solver_bodies_list_strayed(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    const cairn_awake_set *awake = world->awake_set;
    soft_step->strayed_count = 0;
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        const uint32_t body = soft_step->solver_body_of[slot];
        const uint32_t outcome = body < soft_step->moving_count ? soft_step->outcome[body] : 0u;
        if (outcome == CAIRN_OUTCOME_STRAYED) {
            soft_step->strayed_slots[soft_step->strayed_count++] = slot;
        } else if (outcome != 0) {
            cairn_body_disable(world, slot);
        }
    }
}

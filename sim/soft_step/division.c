// SPDX-License-Identifier: MIT

// The division of the bodies that impulses move among owners. All of a step is shared by owner, and
// owners wait for each other where they share a body. So it is made by place, along the axis, or in
// the order of slots, that gives them equal work in each part of a step and the fewest constraints
// between them. It stays for many steps, because a body that changes its owner changes the cache it
// is in and the graph of the joints. Results do not depend on it.

#include "sim/soft_step/soft_step.h"

#include <string.h>

#include "base/assert.h"
#include "sim/state/awake_set.h"
#include "sim/task/task_scheduler.h"

// What a body and a constraint cost in a step, roughly, and how much more a constraint between
// owners.
#define BODY_WEIGHT 1u
#define CONTACT_WEIGHT 4u
#define JOINT_WEIGHT 6u
#define CUT_WEIGHT 4u
// The least weight of an owner: some tens of microseconds of work.
#define OWNER_WEIGHT_MIN 512u
// After so many steps it is tried whether another division is better; earlier if work has become
// less equal by a sixteenth, but not at once.
#define STEPS_MAX 64u
#define STEPS_MIN 8u
// Bodies are sorted into so many bins along an axis.
#define BINS 256u
// Three of space, and the order of slots.
#define AXES 4u

typedef struct owner_work {
    uint32_t bodies[CAIRN_OWNERS_MAX];
    uint32_t contacts[CAIRN_OWNERS_MAX];
    uint32_t joints[CAIRN_OWNERS_MAX];
    uint32_t cut;
} owner_work;

static uint32_t greatest(const uint32_t *counts, uint32_t count) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; ++i) {
        most = counts[i] > most ? counts[i] : most;
    }
    return most;
}

// Owners walk the list of a step's parts together, so the one with the most work counts in each.
static uint32_t cost_of(const owner_work *work, uint32_t owners) {
    return greatest(work->bodies, owners) * BODY_WEIGHT +
           greatest(work->contacts, owners) * CONTACT_WEIGHT +
           greatest(work->joints, owners) * JOINT_WEIGHT + work->cut * CUT_WEIGHT;
}

// ---- Bodies and edges of the last step: they are by and large those of this one

static void count_edges(const cairn_constraint_graph *graph, const unsigned char *owner_of,
    uint32_t *counts, uint32_t *cut) {
    const uint32_t moving = graph->moving_count;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        const uint32_t a = edge->solver_a < moving ? owner_of[edge->body_a] : CAIRN_OWNERS_MAX;
        const uint32_t b = edge->solver_b < moving ? owner_of[edge->body_b] : CAIRN_OWNERS_MAX;
        const uint32_t owner = a < b ? a : b;
        CAIRN_ASSERT(owner < CAIRN_OWNERS_MAX);
        counts[owner] += 1;
        *cut += a != b && a < CAIRN_OWNERS_MAX && b < CAIRN_OWNERS_MAX ? 1u : 0u;
    }
}

static uint32_t cost_of_owners(const cairn_world *world, const unsigned char *owner_of) {
    const cairn_soft_step *soft_step = world->soft_step;
    const cairn_awake_set *awake = world->awake_set;
    owner_work work = {.cut = 0};
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        work.bodies[owner_of[awake->bodies[i]]] += 1;
    }
    count_edges(&soft_step->contact_graph, owner_of, work.contacts, &work.cut);
    count_edges(&soft_step->joint_graph, owner_of, work.joints, &work.cut);
    return cost_of(&work, soft_step->division.count);
}

// Half of the weight of a constraint goes to each of its bodies.
static void weigh_edges(
    const cairn_constraint_graph *graph, uint32_t half_weight, uint32_t *weights) {
    const uint32_t moving = graph->moving_count;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        const bool both = edge->solver_a < moving && edge->solver_b < moving;
        const uint32_t weight = both ? half_weight : 2 * half_weight;
        weights[edge->body_a] += weight;
        weights[edge->body_b] += weight;
    }
}

static void weigh_bodies(const cairn_world *world, uint32_t *weights) {
    const cairn_soft_step *soft_step = world->soft_step;
    const cairn_awake_set *awake = world->awake_set;
    memset(weights, 0, world->state.settings->body_slots * sizeof *weights);
    weigh_edges(&soft_step->contact_graph, CONTACT_WEIGHT / 2, weights);
    weigh_edges(&soft_step->joint_graph, JOINT_WEIGHT / 2, weights);
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        weights[slot] = cairn_body_takes_impulses(world, slot) ? weights[slot] + BODY_WEIGHT : 0;
    }
}

// ---- A division along an axis

static float place_on_axis(const cairn_world *world, uint32_t axis, uint32_t slot) {
    const cairn_vec3 position = world->state.motions[slot].position;
    CAIRN_ASSERT(axis < AXES);
    return axis == 0 ? position.x : axis == 1 ? position.y : axis == 2 ? position.z : (float)slot;
}

typedef struct bin_range {
    float lower;
    float scale; // bins for each unit
} bin_range;

static bin_range range_of(const cairn_world *world, uint32_t axis) {
    const cairn_awake_set *awake = world->awake_set;
    CAIRN_ASSERT(awake->body_count > 0);
    float lower = place_on_axis(world, axis, awake->bodies[0]);
    float upper = lower;
    for (uint32_t i = 1; i < awake->body_count; ++i) {
        const float place = place_on_axis(world, axis, awake->bodies[i]);
        lower = place < lower ? place : lower;
        upper = place > upper ? place : upper;
    }
    return (bin_range){
        .lower = lower, .scale = upper > lower ? (float)BINS / (upper - lower) : 0.0f};
}

static uint32_t bin_of(const bin_range *range, float place) {
    const float at = (place - range->lower) * range->scale;
    return !(at > 0.0f) ? 0 : at < (float)(BINS - 1) ? (uint32_t)at : BINS - 1;
}

static void divide_along(
    const cairn_world *world, uint32_t axis, const uint32_t *weights, unsigned char *owner_of) {
    const cairn_awake_set *awake = world->awake_set;
    const uint32_t owners = world->soft_step->division.count;
    const bin_range range = range_of(world, axis);
    uint64_t bins[BINS] = {0};
    unsigned char owner_of_bin[BINS];
    uint64_t total = 0;
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        bins[bin_of(&range, place_on_axis(world, axis, slot))] += weights[slot];
        total += weights[slot];
    }
    uint64_t sum = 0;
    uint32_t owner = 0;
    for (uint32_t i = 0; i < BINS; ++i) {
        // The middle of the bin decides.
        while (owner + 1 < owners && (2 * sum + bins[i]) * owners >= 2 * total * (owner + 1)) {
            ++owner;
        }
        owner_of_bin[i] = (unsigned char)owner;
        sum += bins[i];
    }
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        owner_of[slot] = owner_of_bin[bin_of(&range, place_on_axis(world, axis, slot))];
    }
}

// ---- Choice

// What the last step showed.
static uint32_t present_cost(const cairn_soft_step *soft_step) {
    const cairn_graph_owners *owners = &soft_step->contact_graph.owners;
    owner_work work = {.cut = 0};
    for (uint32_t i = 0; i < owners->count; ++i) {
        work.bodies[i] = owners->first_body[i + 1] - owners->first_body[i];
    }
    memcpy(work.contacts, soft_step->contact_graph.owner_edges, sizeof work.contacts);
    memcpy(work.joints, soft_step->joint_graph.owner_edges, sizeof work.joints);
    return cost_of(&work, owners->count);
}

static uint32_t total_weight(const cairn_world *world) {
    const cairn_soft_step *soft_step = world->soft_step;
    return world->awake_set->body_count * BODY_WEIGHT +
           soft_step->contact_graph.edge_count * CONTACT_WEIGHT +
           soft_step->joint_graph.edge_count * JOINT_WEIGHT;
}

// The excess of the owner with the most work over an equal share, in sixteenths of that.
static uint32_t excess_of(uint32_t cost, uint32_t total, uint32_t owners) {
    const uint64_t sixteenths = 16ull * cost * owners / (total > 0 ? total : 1);
    return sixteenths > 16 ? (uint32_t)sixteenths - 16 : 0;
}

// Tries all axes. Keeps the division if none is better by a sixteenth; prefers the order of slots,
// in which other stages share the bodies, unless space is better by as much.
static void divide(cairn_world *world, bool keeps) {
    cairn_soft_step *soft_step = world->soft_step;
    cairn_body_division *division = &soft_step->division;
    weigh_bodies(world, division->weights);
    uint32_t least = keeps ? cost_of_owners(world, division->owner_of) : UINT32_MAX;
    least -= keeps ? least / 16 : 0;
    for (uint32_t axis = AXES; axis-- > 0;) {
        divide_along(world, axis, division->weights, division->candidate);
        const uint32_t cost = cost_of_owners(world, division->candidate);
        if (cost < least) {
            unsigned char *const owner_of = division->candidate;
            division->candidate = division->owner_of;
            division->owner_of = owner_of;
            least = axis == AXES - 1 ? cost - cost / 16 : cost;
        }
    }
    division->steps = 0;
    division->measured = false;
}

void cairn_body_division_update(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    cairn_body_division *division = &soft_step->division;
    const uint32_t workers = cairn_task_scheduler_workers(world->scheduler);
    const uint32_t total = total_weight(world);
    const uint32_t most = total / OWNER_WEIGHT_MIN + 1;
    const uint32_t limit = workers < CAIRN_OWNERS_MAX ? workers : CAIRN_OWNERS_MAX;
    const uint32_t count = most < limit ? most : limit;
    division->count = count;
    if (count == 1) {
        return;
    }
    if (count != division->divided) {
        division->divided = count;
        memset(division->owner_of, 0, world->def.body_capacity);
        memset(division->candidate, 0, world->def.body_capacity);
        divide(world, false);
        return;
    }
    const bool known = soft_step->contact_graph.owners.count == count;
    const uint32_t excess = known ? excess_of(present_cost(soft_step), total, count) : 0;
    if (!division->measured) {
        division->excess = excess;
        division->measured = true;
    }
    division->steps += 1;
    if (division->steps >= STEPS_MAX ||
        (division->steps >= STEPS_MIN && excess > division->excess + 1)) {
        divide(world, true);
    }
}

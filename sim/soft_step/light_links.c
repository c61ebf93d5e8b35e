// SPDX-License-Identifier: MIT
// Light links: a body between two joints of which one leads to what impulses do not move and the
// other to a heavier body, such as the upper part of a double pendulum with a heavy end. See
// sim/soft_step/light_link.h for how they are solved.

#include <string.h>

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/soft_step/soft_step.h"

static bool one_end_moves(const cairn_constraint_edge *edge, uint32_t moving) {
    return (edge->solver_a < moving) != (edge->solver_b < moving);
}

// By solver body: how many joints it has, up to 3, in `jointed`, and in `body_colours` their
// indices, one exclusive or the other. Returns whether a joint leads to what does not move.
static bool count_joints(cairn_soft_step *soft_step) {
    cairn_constraint_graph *graph = &soft_step->joint_graph;
    unsigned char *counts = soft_step->jointed;
    bool any = false;
    for (uint32_t i = 0; i < graph->edge_count && !any; ++i) {
        any = one_end_moves(&graph->edges[i], soft_step->moving_count);
    }
    if (!any) {
        return false;
    }
    memset(counts, 0, soft_step->body_count * sizeof *counts);
    memset(graph->body_colours, 0, soft_step->body_count * sizeof *graph->body_colours);
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const uint32_t ends[2] = {graph->edges[i].solver_a, graph->edges[i].solver_b};
        for (uint32_t k = 0; k < 2; ++k) {
            counts[ends[k]] = counts[ends[k]] == 0 ? 1 : counts[ends[k]] == 1 ? 2 : 3;
            graph->body_colours[ends[k]] ^= i;
        }
    }
    return true;
}

static bool can_be_linked(const cairn_world *world, const cairn_constraint_edge *edge) {
    const cairn_body *a = &world->state.bodies[edge->body_a];
    const cairn_body *b = &world->state.bodies[edge->body_b];
    return edge->kind != CAIRN_JOINT_DISTANCE && ((a->flags | b->flags) & CAIRN_LOCKS_ALL) == 0;
}

// Whether `inner` leads from what does not move to a light link; then *outer is its other joint.
static bool find_light_link(const cairn_world *world, uint32_t inner, uint32_t *outer) {
    const cairn_soft_step *soft_step = world->soft_step;
    const cairn_constraint_edge *edges = soft_step->joint_graph.edges;
    const cairn_constraint_edge *edge = &edges[inner];
    const uint32_t moving = soft_step->moving_count;
    if (!one_end_moves(edge, moving)) {
        return false;
    }
    const uint32_t link = edge->solver_a < moving ? edge->solver_a : edge->solver_b;
    const uint32_t slot = edge->solver_a < moving ? edge->body_a : edge->body_b;
    if (soft_step->jointed[link] != 2) {
        return false;
    }
    *outer = soft_step->joint_graph.body_colours[link] ^ inner;
    const cairn_constraint_edge *next = &edges[*outer];
    const uint32_t other = next->body_a == slot ? next->body_b : next->body_a;
    const cairn_body *bodies = world->state.bodies;
    return !one_end_moves(next, moving) && can_be_linked(world, edge) &&
           can_be_linked(world, next) &&
           bodies[slot].inverse_mass > CAIRN_LIGHT_LINK_RATIO_MIN * bodies[other].inverse_mass;
}

bool cairn_light_links_find(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    const uint32_t before = soft_step->light_link_count;
    uint32_t count = 0;
    bool changed = false;
    if (count_joints(soft_step)) {
        for (uint32_t i = 0; i < soft_step->joint_graph.edge_count; ++i) {
            uint32_t outer;
            if (find_light_link(world, i, &outer)) {
                uint32_t *joints = soft_step->light_links[count];
                changed = changed || count >= before || joints[0] != i || joints[1] != outer;
                joints[0] = i;
                joints[1] = outer;
                ++count;
            }
        }
    }
    soft_step->light_link_count = count;
    return changed || count != before;
}

void cairn_light_links_take(cairn_soft_step *soft_step) {
    cairn_constraint_edge *edges = soft_step->joint_graph.edges;
    for (uint32_t i = 0; i < soft_step->light_link_count; ++i) {
        for (uint32_t k = 0; k < 2; ++k) {
            edges[soft_step->light_links[i][k]].colour = CAIRN_COLOUR_ALONE;
        }
    }
}

void cairn_light_links_place(cairn_soft_step *soft_step) {
    cairn_constraint_graph *graph = &soft_step->joint_graph;
    const uint32_t first = 2 * soft_step->light_link_count;
    CAIRN_ASSERT(first <= graph->overflow_count);
    uint32_t place = graph->overflow_count;
    for (uint32_t i = graph->overflow_count; i > 0; --i) {
        const uint32_t edge = graph->overflow_order[i - 1];
        if (graph->edges[edge].colour != CAIRN_COLOUR_ALONE) {
            graph->overflow_order[--place] = edge;
        }
    }
    CAIRN_ASSERT(place == first);
    memcpy(graph->overflow_order, soft_step->light_links, first * sizeof(uint32_t));
}

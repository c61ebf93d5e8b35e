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

static uint32_t moving_end(const cairn_soft_step *soft_step, const cairn_constraint_edge *edge) {
    return edge->solver_a < soft_step->moving_count ? edge->solver_a : edge->solver_b;
}

// Lists the bodies with two joints of which one leads to what does not move and the other does not.
static void find_hung_links(cairn_soft_step *soft_step) {
    const cairn_constraint_graph *graph = &soft_step->joint_graph;
    uint32_t count = 0;
    const uint32_t joints = count_joints(soft_step) ? graph->edge_count : 0;
    for (uint32_t i = 0; i < joints; ++i) {
        const cairn_constraint_edge *inner = &graph->edges[i];
        const uint32_t link = moving_end(soft_step, inner);
        if (!one_end_moves(inner, soft_step->moving_count) || soft_step->jointed[link] != 2) {
            continue;
        }
        const uint32_t outer = graph->body_colours[link] ^ i;
        if (inner->kind != CAIRN_JOINT_DISTANCE &&
            graph->edges[outer].kind != CAIRN_JOINT_DISTANCE &&
            !one_end_moves(&graph->edges[outer], soft_step->moving_count)) {
            soft_step->hung_links[count][0] = i;
            soft_step->hung_links[count][1] = outer;
            ++count;
        }
    }
    soft_step->hung_link_count = count;
}

static bool is_light(const cairn_world *world, const uint32_t joints[2]) {
    const cairn_soft_step *soft_step = world->soft_step;
    const cairn_constraint_edge *edges = soft_step->joint_graph.edges;
    const cairn_constraint_edge *outer = &edges[joints[1]];
    const uint32_t link = moving_end(soft_step, &edges[joints[0]]);
    const bool is_a = outer->solver_a == link;
    const cairn_body *body = &world->state.bodies[is_a ? outer->body_a : outer->body_b];
    const cairn_body *end = &world->state.bodies[is_a ? outer->body_b : outer->body_a];
    return body->inverse_mass > CAIRN_LIGHT_LINK_RATIO_MIN * end->inverse_mass &&
           ((body->flags | end->flags) & CAIRN_LOCKS_ALL) == 0;
}

bool cairn_light_links_find(cairn_world *world, bool joints_changed) {
    cairn_soft_step *soft_step = world->soft_step;
    const uint32_t before = soft_step->light_link_count;
    uint32_t count = 0;
    bool changed = false;
    if (joints_changed) {
        find_hung_links(soft_step);
    }
    for (uint32_t i = 0; i < soft_step->hung_link_count; ++i) {
        const uint32_t *joints = soft_step->hung_links[i];
        if (is_light(world, joints)) {
            uint32_t *last = soft_step->light_links[count];
            changed = changed || count >= before || last[0] != joints[0] || last[1] != joints[1];
            last[0] = joints[0];
            last[1] = joints[1];
            ++count;
        }
    }
    soft_step->light_link_count = count;
    return joints_changed || changed || count != before;
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

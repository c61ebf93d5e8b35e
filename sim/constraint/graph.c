// SPDX-License-Identifier: MIT
#include "sim/constraint/graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/assert.h"

uint32_t cairn_constraint_graph_wide_max(uint32_t edge_count, uint32_t lanes) {
    CAIRN_ASSERT(lanes > 0);
    const uint32_t partial = edge_count < CAIRN_CELLS_MAX ? edge_count : CAIRN_CELLS_MAX;
    return edge_count / lanes + partial;
}

void cairn_constraint_graph_allocate(cairn_constraint_graph *graph, cairn_arena *from,
    uint32_t bodies, uint32_t edges, uint32_t lanes) {
    CAIRN_ASSERT(bodies > 0 && lanes > 0);
    const size_t wide = cairn_constraint_graph_wide_max(edges, lanes);
    graph->edges = cairn_arena_take(from, edges, sizeof *graph->edges);
    graph->body_colours = cairn_arena_take(from, bodies, sizeof *graph->body_colours);
    graph->order = cairn_arena_take(from, wide * lanes, sizeof *graph->order);
    graph->overflow_order = cairn_arena_take(from, edges, sizeof *graph->overflow_order);
}

// The colours that the moving bodies of an edge have, as a bit set.
static uint32_t colours_taken(
    const cairn_constraint_graph *graph, const cairn_constraint_edge *edge, uint32_t moving_count) {
    return (edge->solver_a < moving_count ? graph->body_colours[edge->solver_a] : 0) |
           (edge->solver_b < moving_count ? graph->body_colours[edge->solver_b] : 0);
}

static void take_colour(cairn_constraint_graph *graph, const cairn_constraint_edge *edge) {
    CAIRN_ASSERT(edge->colour < CAIRN_COLOURS);
    graph->body_colours[edge->solver_a] |= 1u << edge->colour;
    graph->body_colours[edge->solver_b] |= 1u << edge->colour;
}

static uint32_t free_colour(
    const cairn_constraint_graph *graph, const cairn_constraint_edge *edge, uint32_t moving_count) {
    const uint32_t taken = colours_taken(graph, edge, moving_count);
    const bool both_move = edge->solver_a < moving_count && edge->solver_b < moving_count;
    const bool upward = both_move || graph->rule == CAIRN_COLOUR_LOWEST;
    for (uint32_t i = 0; i < CAIRN_COLOURS; ++i) {
        const uint32_t colour = upward ? i : CAIRN_COLOURS - 1 - i;
        if ((taken >> colour & 1u) == 0) {
            return colour;
        }
    }
    return CAIRN_COLOUR_NONE;
}

static void colour_edges(cairn_constraint_graph *graph, uint32_t moving_count) {
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        cairn_constraint_edge *edge = &graph->edges[i];
        CAIRN_ASSERT(edge->solver_a < moving_count || edge->solver_b < moving_count);
        const bool keeps = edge->colour < CAIRN_COLOURS &&
                           (colours_taken(graph, edge, moving_count) >> edge->colour & 1u) == 0;
        if (keeps) {
            take_colour(graph, edge);
        } else {
            edge->colour = CAIRN_COLOUR_NONE;
        }
    }
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        cairn_constraint_edge *edge = &graph->edges[i];
        if (edge->colour != CAIRN_COLOUR_NONE) {
            continue;
        }
        edge->colour = free_colour(graph, edge, moving_count);
        if (edge->colour != CAIRN_COLOUR_NONE) {
            take_colour(graph, edge);
        }
    }
}

static uint32_t cell_of(const cairn_constraint_edge *edge) {
    CAIRN_ASSERT(edge->kind < CAIRN_EDGE_KINDS);
    return edge->colour * CAIRN_EDGE_KINDS + edge->kind;
}

// Lays the edges out by colour, and within a colour by kind; a wide constraint has edges of one
// cell, and the last one of a cell may have empty lanes.
static void lay_out_edges(cairn_constraint_graph *graph, uint32_t lanes) {
    uint32_t next[CAIRN_CELLS_MAX] = {0}; // first the sizes of the cells, then their next lanes
    graph->overflow_count = 0;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        if (edge->colour == CAIRN_COLOUR_NONE) {
            graph->overflow_order[graph->overflow_count++] = i;
        } else {
            next[cell_of(edge)] += 1;
        }
    }
    uint32_t wide = 0;
    uint32_t cells = 0;
    for (uint32_t cell = 0; cell < CAIRN_CELLS_MAX; ++cell) {
        if (cell % CAIRN_EDGE_KINDS == 0) {
            graph->colour_start[cell / CAIRN_EDGE_KINDS] = wide;
            graph->colour_cell[cell / CAIRN_EDGE_KINDS] = cells;
        }
        const uint32_t size = next[cell];
        next[cell] = wide * lanes;
        if (size > 0) {
            graph->cell_start[cells++] = wide;
        }
        wide += (size + lanes - 1) / lanes;
    }
    graph->colour_cell[CAIRN_COLOURS] = cells;
    graph->cell_start[cells] = wide;
    CAIRN_ASSERT(wide <= cairn_constraint_graph_wide_max(graph->edge_count, lanes));
    graph->colour_start[CAIRN_COLOURS] = wide;
    memset(graph->order, 0xff, (size_t)wide * lanes * sizeof *graph->order);
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        if (edge->colour != CAIRN_COLOUR_NONE) {
            const uint32_t place = next[cell_of(edge)]++;
            CAIRN_ASSERT(place < wide * lanes);
            graph->order[place] = i;
        }
    }
}

void cairn_constraint_graph_build(
    cairn_constraint_graph *graph, uint32_t body_count, uint32_t moving_count, uint32_t lanes) {
    graph->moving_count = moving_count;
    CAIRN_ASSERT(moving_count < body_count && lanes > 0);
    memset(graph->body_colours, 0, body_count * sizeof *graph->body_colours);
    colour_edges(graph, moving_count);
    lay_out_edges(graph, lanes);
    CAIRN_ASSERT(graph->overflow_count <= graph->edge_count);
}

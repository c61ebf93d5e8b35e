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
    graph->shared = cairn_arena_take(from, bodies, sizeof *graph->shared);
    graph->half_cells = cairn_arena_take(from, edges, sizeof *graph->half_cells);
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

// Edges keep their colours in order; then the others get theirs, which wait in `overflow_order`.
static void colour_edges(cairn_constraint_graph *graph, uint32_t moving_count) {
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        cairn_constraint_edge *edge = &graph->edges[i];
        CAIRN_ASSERT(edge->solver_a < moving_count || edge->solver_b < moving_count);
        const bool keeps = edge->colour < CAIRN_COLOURS &&
                           (colours_taken(graph, edge, moving_count) >> edge->colour & 1u) == 0;
        if (keeps) {
            take_colour(graph, edge);
        } else {
            graph->overflow_order[waiting++] = i;
        }
    }
    graph->overflow_count = 0;
    for (uint32_t k = 0; k < waiting; ++k) {
        const uint32_t i = graph->overflow_order[k];
        cairn_constraint_edge *edge = &graph->edges[i];
        if (edge->colour != CAIRN_COLOUR_ALONE) {
            edge->colour = free_colour(graph, edge, moving_count);
        }
        if (edge->colour < CAIRN_COLOURS) {
            take_colour(graph, edge);
        } else {
            graph->overflow_order[graph->overflow_count++] = i;
        }
    }
}

cairn_graph_owners cairn_graph_single_owner(uint32_t moving_count) {
    return (cairn_graph_owners){.count = 1, .first_body = {0, moving_count}};
}

static uint32_t owner_of_body(const cairn_graph_owners *owners, uint32_t body) {
    uint32_t owner = 0;
    while (owner + 1 < owners->count && body >= owners->first_body[owner + 1]) {
        ++owner;
    }
    return owner;
}

static uint32_t lower_body(const cairn_constraint_edge *edge) {
    return edge->solver_a < edge->solver_b ? edge->solver_a : edge->solver_b;
}

// Marks the bodies that are not of the owner of all their edges.
static void mark_shared_bodies(cairn_constraint_graph *graph) {
    const cairn_graph_owners *owners = &graph->owners;
    const uint32_t moving_count = graph->moving_count;
    memset(graph->shared, 0, moving_count + 1);
    for (uint32_t i = 0; i < graph->edge_count && owners->count > 1; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        const uint32_t lower = lower_body(edge);
        const uint32_t upper = edge->solver_a + edge->solver_b - lower;
        if (upper < moving_count && upper >= owners->first_body[1] &&
            owner_of_body(owners, lower) != owner_of_body(owners, upper)) {
            graph->shared[upper] = 1;
        }
    }
}

// Whether a body of the edge is shared. None that does not move is.
static uint32_t is_shared(const cairn_constraint_graph *graph, const cairn_constraint_edge *edge) {
    const uint32_t fixed = graph->moving_count;
    if (graph->owners.count == 1) {
        return 0;
    }
    return (uint32_t)graph->shared[edge->solver_a < fixed ? edge->solver_a : fixed] |
           graph->shared[edge->solver_b < fixed ? edge->solver_b : fixed];
}

// Two of each cell: the edges of shared bodies, and the others.
static uint32_t half_cell_of(
    const cairn_constraint_graph *graph, const cairn_constraint_edge *edge) {
    CAIRN_ASSERT(edge->kind < CAIRN_EDGE_KINDS);
    const uint32_t owner = owner_of_body(&graph->owners, lower_body(edge));
    const uint32_t cell =
        (edge->colour * graph->owners.count + owner) * CAIRN_EDGE_KINDS + edge->kind;
    return 2 * cell + (1 - is_shared(graph, edge));
}

// Of an edge without a colour.
#define NO_CELL 0xffffu
_Static_assert(2 * CAIRN_CELLS_MAX < NO_CELL, "half cells have 16 bits");

// Where the lanes of a cell are. Its wide constraints with edges of shared bodies come first, and
// may be filled up with others; between the two are those of the part's other kinds.
typedef struct cell_lanes {
    uint32_t next[2]; // of shared bodies, and of others: counted in the cell
    uint32_t waiting; // lanes of wide constraints with shared bodies
    uint32_t place[2];
} cell_lanes;

// Places the wide constraints of a colour and owner from `wide` on.
static cairn_graph_part place_part(cell_lanes *cells, uint32_t wide, uint32_t lanes) {
    cairn_graph_part part = {.begin = wide};
    for (uint32_t kind = 0; kind < CAIRN_EDGE_KINDS; ++kind) {
        cell_lanes *cell = &cells[kind];
        const uint32_t waiting = (cell->next[0] + lanes - 1) / lanes;
        cell->place[0] = wide * lanes;
        wide += waiting;
        cell->waiting = waiting * lanes;
    }
    part.own_begin = wide;
    for (uint32_t kind = 0; kind < CAIRN_EDGE_KINDS; ++kind) {
        cell_lanes *cell = &cells[kind];
        const uint32_t count = cell->next[0] + cell->next[1];
        cell->place[1] = wide * lanes;
        wide += (count + lanes - 1) / lanes - cell->waiting / lanes;
        cell->next[1] = cell->next[0];
        cell->next[0] = 0;
    }
    part.end = wide;
    return part;
}

// Lays the edges out by colour, owner and kind; a wide constraint has edges of one cell, and the
// last one of a cell may have empty lanes.
static void lay_out_edges(cairn_constraint_graph *graph, uint32_t lanes) {
    cell_lanes cells[CAIRN_CELLS_MAX];
    const uint32_t cells_of_colour = graph->owners.count * CAIRN_EDGE_KINDS;
    memset(cells, 0, CAIRN_COLOURS * cells_of_colour * sizeof *cells);
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        const uint32_t half = edge->colour >= CAIRN_COLOURS ? NO_CELL : half_cell_of(graph, edge);
        graph->half_cells[i] = (uint16_t)half;
        if (half != NO_CELL) {
            cells[half / 2].next[half % 2] += 1;
        }
    }
    uint32_t wide = 0;
    memset(graph->owner_edges, 0, sizeof graph->owner_edges);
    for (uint32_t colour = 0; colour < CAIRN_COLOURS; ++colour) {
        for (uint32_t owner = 0; owner < graph->owners.count; ++owner) {
            cell_lanes *first = &cells[colour * cells_of_colour + (size_t)owner * CAIRN_EDGE_KINDS];
            for (uint32_t kind = 0; kind < CAIRN_EDGE_KINDS; ++kind) {
                graph->owner_edges[owner] += first[kind].next[0] + first[kind].next[1];
            }
            graph->parts[colour][owner] = place_part(first, wide, lanes);
            wide = graph->parts[colour][owner].end;
        }
    }
    graph->wide_count = wide;
    CAIRN_ASSERT(wide <= cairn_constraint_graph_wide_max(graph->edge_count, lanes));
    memset(graph->order, 0xff, (size_t)wide * lanes * sizeof *graph->order);
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const uint32_t half = graph->half_cells[i];
        if (half != NO_CELL) {
            cell_lanes *cell = &cells[half / 2];
            const uint32_t lane = cell->next[half % 2]++;
            const uint32_t place = lane < cell->waiting ? cell->place[0] + lane
                                                        : cell->place[1] + lane - cell->waiting;
            CAIRN_ASSERT(place < wide * lanes);
            graph->order[place] = i;
        }
    }
}

void cairn_constraint_graph_build(cairn_constraint_graph *graph, uint32_t body_count,
    const cairn_graph_owners *owners, uint32_t lanes) {
    CAIRN_ASSERT(owners->count >= 1 && owners->count <= CAIRN_OWNERS_MAX && lanes > 0);
    graph->owners = *owners;
    graph->moving_count = owners->first_body[owners->count];
    CAIRN_ASSERT(graph->moving_count < body_count);
    memset(graph->body_colours, 0, body_count * sizeof *graph->body_colours);
    colour_edges(graph, graph->moving_count);
    mark_shared_bodies(graph);
    lay_out_edges(graph, lanes);
    CAIRN_ASSERT(graph->overflow_count <= graph->edge_count);
}

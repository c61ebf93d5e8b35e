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
    // Before it has lanes it has the colours of bodies that the second half of the edges keeps.
    const size_t order = wide * lanes > bodies ? wide * lanes : bodies;
    graph->order = cairn_arena_take(from, order, sizeof *graph->order);
    graph->overflow_order = cairn_arena_take(from, edges, sizeof *graph->overflow_order);
}

// ---- Pieces: edges that follow each other. A graph is built in one piece, or by two threads in
// two.

#define PIECES_MAX 2
// Several microseconds of work.
#define PIECE_EDGES_MIN 512
// Of an edge without a colour.
#define NO_CELL 0xffffu
_Static_assert(2 * CAIRN_CELLS_MAX < NO_CELL, "half cells have 16 bits");

typedef struct graph_piece {
    uint32_t begin; // edges
    uint32_t end;
    uint32_t *colours; // by solver body: bit set of those that edges of the piece have kept
    uint32_t waiting;  // its edges that get another colour: in overflow_order, from `begin` on
    uint32_t next[2 * CAIRN_CELLS_MAX]; // by half cell: how many edges, then the next one's lane
} graph_piece;

// Where the lanes of a cell are. Its wide constraints with edges of shared bodies come first, and
// may be filled up with others; between the two are those of the part's other kinds.
typedef struct cell_lanes {
    uint32_t count;   // edges
    uint32_t waiting; // lanes of wide constraints with shared bodies
    uint32_t place[2];
} cell_lanes;

typedef struct graph_work {
    cairn_constraint_graph *graph;
    uint32_t body_count;
    uint32_t piece_count;
    graph_piece pieces[PIECES_MAX];
    cell_lanes cells[CAIRN_CELLS_MAX];
} graph_work;

// ---- Colours

// The colours that the moving bodies of an edge have, as a bit set.
static uint32_t colours_taken(
    const uint32_t *colours, const cairn_constraint_edge *edge, uint32_t moving_count) {
    return (edge->solver_a < moving_count ? colours[edge->solver_a] : 0) |
           (edge->solver_b < moving_count ? colours[edge->solver_b] : 0);
}

static void take_colour(uint32_t *colours, const cairn_constraint_edge *edge) {
    CAIRN_ASSERT(edge->colour < CAIRN_COLOURS);
    colours[edge->solver_a] |= 1u << edge->colour;
    colours[edge->solver_b] |= 1u << edge->colour;
}

static uint32_t free_colour(
    const cairn_constraint_graph *graph, const cairn_constraint_edge *edge, uint32_t moving_count) {
    const uint32_t taken = colours_taken(graph->body_colours, edge, moving_count);
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

// Edges keep their colours in order. Lists the others in `waiting`; returns how many there are.
static uint32_t keep_colours(const cairn_constraint_graph *graph, uint32_t begin, uint32_t end,
    uint32_t *colours, uint32_t *waiting) {
    const uint32_t moving_count = graph->moving_count;
    uint32_t count = 0;
    for (uint32_t i = begin; i < end; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        CAIRN_ASSERT(edge->solver_a < moving_count || edge->solver_b < moving_count);
        const bool keeps = edge->colour < CAIRN_COLOURS &&
                           (colours_taken(colours, edge, moving_count) >> edge->colour & 1u) == 0;
        if (keeps) {
            take_colour(colours, edge);
        } else {
            waiting[count++] = i;
        }
    }
    return count;
}

// Adds the second piece's colours to those of the first. False: a body has one in both, so in order
// an edge of the second would not have kept it.
static bool join_colours(cairn_constraint_graph *graph, const uint32_t *second) {
    uint32_t both = 0;
    for (uint32_t i = 0; i < graph->moving_count; ++i) {
        both |= graph->body_colours[i] & second[i];
        graph->body_colours[i] |= second[i];
    }
    return both == 0;
}

// Gives the edges in overflow_order their colours, in order. Those that get none come first then.
static void give_colours(cairn_constraint_graph *graph, uint32_t waiting) {
    graph->recoloured_count = waiting;
    graph->overflow_count = 0;
    for (uint32_t k = 0; k < waiting; ++k) {
        const uint32_t i = graph->overflow_order[k];
        cairn_constraint_edge *edge = &graph->edges[i];
        if (edge->colour != CAIRN_COLOUR_ALONE) {
            edge->colour = free_colour(graph, edge, graph->moving_count);
        }
        if (edge->colour < CAIRN_COLOURS) {
            take_colour(graph->body_colours, edge);
        } else {
            graph->overflow_order[k] = graph->overflow_order[graph->overflow_count];
            graph->overflow_order[graph->overflow_count++] = i;
        }
    }
}

// When the pieces have kept theirs.
static void colour_edges(const graph_work *work) {
    cairn_constraint_graph *graph = work->graph;
    const graph_piece *last = &work->pieces[work->piece_count - 1];
    uint32_t *order = graph->overflow_order;
    uint32_t waiting = work->pieces[0].waiting;
    if (work->piece_count == PIECES_MAX) {
        if (join_colours(graph, last->colours)) {
            memmove(&order[waiting], &order[last->begin], last->waiting * sizeof *order);
            waiting += last->waiting;
        } else {
            memset(graph->body_colours, 0, work->body_count * sizeof *graph->body_colours);
            waiting = keep_colours(graph, 0, graph->edge_count, graph->body_colours, order);
        }
    }
    give_colours(graph, waiting);
}

cairn_graph_owners cairn_graph_single_owner(uint32_t moving_count) {
    return (cairn_graph_owners){.count = 1, .first_body = {0, moving_count}};
}

// ---- Cells

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

// Notes of each edge its owner and kind, and marks the bodies that are not of the owner of all
// their edges.
static void find_owners(const cairn_constraint_graph *graph, uint32_t begin, uint32_t end) {
    const cairn_graph_owners *owners = &graph->owners;
    for (uint32_t i = begin; i < end; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        const uint32_t lower = lower_body(edge);
        const uint32_t upper = edge->solver_a + edge->solver_b - lower;
        const uint32_t owner = owner_of_body(owners, lower);
        CAIRN_ASSERT(edge->kind < CAIRN_EDGE_KINDS);
        graph->half_cells[i] = (uint16_t)(owner * CAIRN_EDGE_KINDS + edge->kind);
        if (owners->count > 1 && upper < graph->moving_count && upper >= owners->first_body[1] &&
            owner != owner_of_body(owners, upper)) {
            atomic_store_explicit(&graph->shared[upper], 1, memory_order_relaxed);
        }
    }
}

static uint32_t shared_at(const cairn_constraint_graph *graph, uint32_t body) {
    const uint32_t fixed = graph->moving_count;
    return atomic_load_explicit(&graph->shared[body < fixed ? body : fixed], memory_order_relaxed);
}

// Whether a body of the edge is shared. None that does not move is.
static uint32_t is_shared(const cairn_constraint_graph *graph, const cairn_constraint_edge *edge) {
    if (graph->owners.count == 1) {
        return 0;
    }
    return shared_at(graph, edge->solver_a) | shared_at(graph, edge->solver_b);
}

static void begin_pieces(const void *context, uint32_t begin, uint32_t end) {
    graph_work *work = *(graph_work *const *)context;
    cairn_constraint_graph *graph = work->graph;
    for (uint32_t i = begin; i < end; ++i) {
        graph_piece *piece = &work->pieces[i];
        memset(piece->colours, 0, work->body_count * sizeof *piece->colours);
        piece->waiting = keep_colours(
            graph, piece->begin, piece->end, piece->colours, &graph->overflow_order[piece->begin]);
        find_owners(graph, piece->begin, piece->end);
    }
}

// A cell has two halves: the edges of shared bodies, and the others.
static void count_pieces(const void *context, uint32_t begin, uint32_t end) {
    graph_work *work = *(graph_work *const *)context;
    cairn_constraint_graph *graph = work->graph;
    const uint32_t cells_of_colour = graph->owners.count * CAIRN_EDGE_KINDS;
    for (uint32_t k = begin; k < end; ++k) {
        graph_piece *piece = &work->pieces[k];
        memset(piece->next, 0, sizeof *piece->next * 2 * CAIRN_COLOURS * cells_of_colour);
        for (uint32_t i = piece->begin; i < piece->end; ++i) {
            const cairn_constraint_edge *edge = &graph->edges[i];
            uint32_t half = NO_CELL;
            if (edge->colour < CAIRN_COLOURS) {
                const uint32_t cell = edge->colour * cells_of_colour + graph->half_cells[i];
                half = 2 * cell + (1 - is_shared(graph, edge));
                piece->next[half] += 1;
            }
            graph->half_cells[i] = (uint16_t)half;
        }
    }
}

// ---- Lanes

// From how many edges of a half cell each piece has, which lanes they get. Returns the cell's
// edges.
static uint32_t count_cell(graph_work *work, uint32_t cell, uint32_t lanes) {
    cell_lanes *to = &work->cells[cell];
    uint32_t counts[2] = {0, 0};
    for (uint32_t i = 0; i < work->piece_count; ++i) {
        for (uint32_t half = 0; half < 2; ++half) {
            uint32_t *next = &work->pieces[i].next[2 * cell + half];
            const uint32_t count = *next;
            *next = counts[half];
            counts[half] += count;
        }
    }
    for (uint32_t i = 0; i < work->piece_count; ++i) {
        work->pieces[i].next[2 * cell + 1] += counts[0];
    }
    to->count = counts[0] + counts[1];
    to->waiting = (counts[0] + lanes - 1) / lanes * lanes;
    return to->count;
}

// Places the wide constraints of a colour and owner from `wide` on.
static cairn_graph_part place_part(cell_lanes *cells, uint32_t wide, uint32_t lanes) {
    cairn_graph_part part = {.begin = wide};
    for (uint32_t kind = 0; kind < CAIRN_EDGE_KINDS; ++kind) {
        cells[kind].place[0] = wide * lanes;
        wide += cells[kind].waiting / lanes;
    }
    part.own_begin = wide;
    for (uint32_t kind = 0; kind < CAIRN_EDGE_KINDS; ++kind) {
        cells[kind].place[1] = wide * lanes;
        wide += (cells[kind].count + lanes - 1) / lanes - cells[kind].waiting / lanes;
    }
    part.end = wide;
    return part;
}

// Lays the cells out by owner, colour and kind; a wide constraint has edges of one cell, and the
// last one of a cell may have empty lanes. What a worker solves is contiguous. If the parts of two
// workers alternated in memory, each CPU would prefetch lines behind its part, and take them from
// the CPU that writes them.
static void lay_out_cells(graph_work *work, uint32_t lanes) {
    cairn_constraint_graph *graph = work->graph;
    const uint32_t owners = graph->owners.count;
    uint32_t wide = 0;
    memset(graph->owner_edges, 0, sizeof graph->owner_edges);
    for (uint32_t owner = 0; owner < owners; ++owner) {
        for (uint32_t colour = 0; colour < CAIRN_COLOURS; ++colour) {
            const uint32_t cell = (colour * owners + owner) * CAIRN_EDGE_KINDS;
            for (uint32_t kind = 0; kind < CAIRN_EDGE_KINDS; ++kind) {
                graph->owner_edges[owner] += count_cell(work, cell + kind, lanes);
            }
            graph->parts[colour][owner] = place_part(&work->cells[cell], wide, lanes);
            wide = graph->parts[colour][owner].end;
        }
    }
    graph->wide_count = wide;
    CAIRN_ASSERT(wide <= cairn_constraint_graph_wide_max(graph->edge_count, lanes));
    memset(graph->order, 0xff, (size_t)wide * lanes * sizeof *graph->order);
}

static void order_pieces(const void *context, uint32_t begin, uint32_t end) {
    graph_work *work = *(graph_work *const *)context;
    const cairn_constraint_graph *graph = work->graph;
    for (uint32_t k = begin; k < end; ++k) {
        graph_piece *piece = &work->pieces[k];
        for (uint32_t i = piece->begin; i < piece->end; ++i) {
            const uint32_t half = graph->half_cells[i];
            if (half != NO_CELL) {
                const cell_lanes *cell = &work->cells[half / 2];
                const uint32_t lane = piece->next[half]++;
                const uint32_t place = lane < cell->waiting ? cell->place[0] + lane
                                                            : cell->place[1] + lane - cell->waiting;
                graph->order[place] = i;
            }
        }
    }
}

static void for_pieces(cairn_task_scheduler *scheduler, cairn_task *task, graph_work *work) {
    if (work->piece_count == 1) {
        task(&work, 0, 1);
    } else {
        cairn_task_scheduler_split(scheduler, task, &work, 0, work->piece_count, 1);
    }
}

void cairn_constraint_graph_build(cairn_constraint_graph *graph, cairn_task_scheduler *scheduler,
    uint32_t body_count, const cairn_graph_owners *owners, uint32_t lanes) {
    CAIRN_ASSERT(owners->count >= 1 && owners->count <= CAIRN_OWNERS_MAX && lanes > 0);
    graph_work work;
    const bool halves = scheduler != NULL && cairn_task_scheduler_workers(scheduler) > 1 &&
                        graph->edge_count >= PIECES_MAX * PIECE_EDGES_MIN;
    const uint32_t middle = halves ? graph->edge_count / 2 : graph->edge_count;
    graph->owners = *owners;
    graph->moving_count = owners->first_body[owners->count];
    CAIRN_ASSERT(graph->moving_count < body_count);
    work.graph = graph;
    work.body_count = body_count;
    work.piece_count = halves ? PIECES_MAX : 1;
    work.pieces[0].begin = 0;
    work.pieces[0].end = middle;
    work.pieces[0].colours = graph->body_colours;
    work.pieces[1].begin = middle;
    work.pieces[1].end = graph->edge_count;
    work.pieces[1].colours = graph->order;
    memset(graph->shared, 0, graph->moving_count + 1);
    for_pieces(scheduler, begin_pieces, &work);
    colour_edges(&work);
    for_pieces(scheduler, count_pieces, &work);
    lay_out_cells(&work, lanes);
    for_pieces(scheduler, order_pieces, &work);
    CAIRN_ASSERT(graph->overflow_count <= graph->edge_count);
}

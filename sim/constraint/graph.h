// SPDX-License-Identifier: MIT
#pragma once

// The constraint graph: constraints are its edges, and edges are coloured so that no two of a
// colour share a moving body. The edges of each colour are cut into wide constraints, with as many
// edges as there are lanes. Edges that find no colour overflow and are solved one after the other.

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/task/task_scheduler.h"

#define CAIRN_COLOUR_NONE CAIRN_COLOURS
// Of an edge that shall have no colour.
#define CAIRN_COLOUR_ALONE (CAIRN_COLOURS + 1)
// The edges of a wide constraint are of one kind; kinds are the caller's, below this.
#define CAIRN_EDGE_KINDS 8
// A cell has the edges of one colour, owner and kind. Its last wide constraint may not be full.
#define CAIRN_OWNERS_MAX 8
#define CAIRN_CELLS_MAX (CAIRN_COLOURS * CAIRN_OWNERS_MAX * CAIRN_EDGE_KINDS)
// An empty lane of a wide constraint.
#define CAIRN_EDGE_NONE UINT32_MAX

// Which colour an edge gets that has not kept its last one.
typedef enum cairn_colour_rule {
    // The lowest free one. An edge with one moving body counts from the highest colour down, so
    // that contacts with the ground are solved last.
    CAIRN_COLOUR_GROUND_LAST = 0,
    CAIRN_COLOUR_LOWEST = 1, // the lowest free one, for every edge
} cairn_colour_rule;

typedef struct cairn_constraint_edge {
    uint32_t element;  // index of the contact or joint
    uint32_t manifold; // index in the manifold pool; 0 for a joint
    uint32_t body_a;   // slots
    uint32_t body_b;
    uint32_t solver_a; // solver bodies; below the graph's moving_count if impulses move them
    uint32_t solver_b;
    uint32_t kind;
    uint32_t colour; // in: that of the last step, or one of the above; out: the assigned one
} cairn_constraint_edge;

// Solver bodies divided among owners, of which workers get consecutive ones. An edge belongs to the
// owner of the lower one of its bodies. So nearly all edges of a body belong to the body's owner,
// and the data of both stays in the cache of one processor.
typedef struct cairn_graph_owners {
    uint32_t count;                            // 1 .. CAIRN_OWNERS_MAX
    uint32_t first_body[CAIRN_OWNERS_MAX + 1]; // the last one: moving_count
} cairn_graph_owners;

// The wide constraints of one colour and owner.
typedef struct cairn_graph_part {
    uint32_t begin;
    // From here on, no body has an edge of another owner: those before must wait for the other
    // owners' of the colours before, these need not.
    uint32_t own_begin;
    uint32_t end;
} cairn_graph_part;

typedef struct cairn_constraint_graph {
    cairn_colour_rule rule;
    cairn_constraint_edge *edges;
    uint32_t edge_count;
    uint32_t moving_count;  // number of solver bodies that impulses move; they come first
    uint32_t *body_colours; // by solver body: bit set of colours taken
    // By solver body: 1: it has edges of several owners. Workers may mark a body at the same time.
    _Atomic unsigned char *shared;
    uint16_t *half_cells; // by edge: where its lane is; scratch
    uint32_t *order;      // indices of edges by lane, one wide constraint after the other
    // Indices of edges without a colour, in order, then of the others that did not keep theirs.
    uint32_t *overflow_order;
    uint32_t recoloured_count; // edges that did not keep their last colour
    cairn_graph_owners owners;
    cairn_graph_part parts[CAIRN_COLOURS][CAIRN_OWNERS_MAX]; // in `order` by owner, then by colour
    uint32_t owner_edges[CAIRN_OWNERS_MAX];                  // by owner: edges with a colour
    uint32_t wide_count;
    uint32_t overflow_count;
} cairn_constraint_graph;

// Takes the arrays of a graph of at most that many solver bodies and edges.
void cairn_constraint_graph_allocate(cairn_constraint_graph *graph, cairn_arena *from,
    uint32_t bodies, uint32_t edges, uint32_t lanes);
// Fills everything but `rule` and `edges`. An edge keeps its last colour if that is still free; the
// others get one by the rule, in order. The colouring depends on the order of edges alone; the
// number of lanes and the owners change the layout, never the result. `scheduler`: shares the work;
// NULL: this thread does it all.
void cairn_constraint_graph_build(cairn_constraint_graph *graph, cairn_task_scheduler *scheduler,
    uint32_t body_count, const cairn_graph_owners *owners, uint32_t lanes);
// The owners if there is only one.
cairn_graph_owners cairn_graph_single_owner(uint32_t moving_count);
// The largest number of wide constraints that a graph of that many edges needs.
uint32_t cairn_constraint_graph_wide_max(uint32_t edge_count, uint32_t lanes);

// The edge that is `index`-th in the order of solving, in a graph built for one lane: those with a
// colour first, then those that found none.
static inline uint32_t cairn_constraint_graph_nth(
    const cairn_constraint_graph *graph, uint32_t index) {
    const uint32_t coloured = graph->wide_count;
    CAIRN_ASSERT(index < graph->edge_count && index < coloured + graph->overflow_count);
    return index < coloured ? graph->order[index] : graph->overflow_order[index - coloured];
}

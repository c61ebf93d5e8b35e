// SPDX-License-Identifier: MIT
#include "tests/sim/world_kit.h"

#include <stdlib.h>

#include "base/random.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/world.h"

static void run_in_turn(void *context, void (*task)(void *argument, uint32_t worker),
    void *argument, uint32_t workers) {
    (void)context;
    for (uint32_t i = 0; i < workers; ++i) {
        task(argument, i);
    }
}

TEST("two heaps far apart, with slots by turns, get an owner each, and share no constraint") {
    const cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *world = kit_world(&def);
    kit_ground(world);
    for (uint32_t i = 0; i < 300; ++i) {
        const float x = (i % 2 == 0 ? -20.0f : 20.0f) + 1.5f * (float)(i / 2 % 10);
        kit_cube(world, vec3(x, 0.5f + (float)(i / 20 % 2), 1.5f * (float)(i / 40)));
    }
    const cairn_parallel parallel = {.workers = 2, .run = run_in_turn};
    EXPECT_OK(cairn_world_set_parallel(world, &parallel));
    kit_run(world, 5);
    const cairn_constraint_graph *graph = &world->soft_step->contact_graph;
    assert_int_equal(graph->owners.count, 2);
    assert_int_equal(graph->owner_edges[0] + graph->owner_edges[1], 300);
    assert_int_equal(graph->owner_edges[0], 150);
    for (uint32_t i = 0; i < graph->moving_count; ++i) {
        assert_int_equal(graph->shared[i], 0);
    }
}

#define GRAPH_BODIES 700
#define GRAPH_EDGES 1500
#define GRAPH_LANES 8

// A graph of random edges, most with a last colour; where bodies were still in the last step, two
// edges of a body may have the same.
static void build_random_graph(
    cairn_constraint_graph *graph, unsigned char *memory, uint32_t spread, bool two_threads) {
    const cairn_parallel parallel = {.workers = 2, .run = run_in_turn};
    static cairn_task_scheduler scheduler;
    cairn_arena arena = {.memory = memory};
    cairn_random random = cairn_random_of(spread);
    const uint32_t moving = GRAPH_BODIES - 1;
    const cairn_graph_owners owners = {.count = 2, .first_body = {0, moving / 2, moving}};
    *graph = (cairn_constraint_graph){.edge_count = GRAPH_EDGES};
    cairn_constraint_graph_allocate(graph, &arena, GRAPH_BODIES, GRAPH_EDGES, GRAPH_LANES);
    for (uint32_t i = 0; i < GRAPH_EDGES; ++i) {
        const uint32_t a = i * moving / GRAPH_EDGES;
        const uint32_t b = a + 1 + (uint32_t)cairn_random_below(&random, spread);
        graph->edges[i] = (cairn_constraint_edge){.element = i,
            .solver_a = a,
            .solver_b = b < moving ? b : moving,
            .kind = (uint32_t)cairn_random_below(&random, 4),
            .colour = (uint32_t)cairn_random_below(&random, CAIRN_COLOURS + 1)};
    }
    // The first and the last edge keep the same colour of body 0, which no other edge of the second
    // half has.
    graph->edges[0] = graph->edges[GRAPH_EDGES - 1] =
        (cairn_constraint_edge){.solver_a = 0, .solver_b = moving, .colour = 3};
    graph->edges[GRAPH_EDGES - 1].element = GRAPH_EDGES - 1;
    scheduler.parallel = &parallel;
    cairn_constraint_graph_build(
        graph, two_threads ? &scheduler : NULL, GRAPH_BODIES, &owners, GRAPH_LANES);
}

TEST("the wide constraints of an owner are in one place, in the order of their colours") {
    unsigned char *memory = calloc(1, (size_t)1 << 20);
    static cairn_constraint_graph graph;
    build_random_graph(&graph, memory, 20, false);
    assert_int_equal(graph.owners.count, 2);
    uint32_t next = 0;
    for (uint32_t owner = 0; owner < graph.owners.count; ++owner) {
        for (uint32_t colour = 0; colour < CAIRN_COLOURS; ++colour) {
            const cairn_graph_part *part = &graph.parts[colour][owner];
            assert_int_equal(part->begin, next);
            next = part->end;
        }
        assert_true(next > 0);
    }
    assert_int_equal(next, graph.wide_count);
    free(memory);
}

TEST("two threads build the graph that one builds, though both halves keep a colour of a body") {
    const size_t size = (size_t)1 << 20;
    unsigned char *memory[2] = {calloc(1, size), calloc(1, size)};
    for (uint32_t spread = 1; spread < 600; spread = 2 * spread + 3) {
        static cairn_constraint_graph graphs[2];
        for (uint32_t k = 0; k < 2; ++k) {
            build_random_graph(&graphs[k], memory[k], spread, k != 0);
        }
        const cairn_constraint_graph *one = &graphs[0];
        const cairn_constraint_graph *two = &graphs[1];
        assert_int_equal(one->wide_count, two->wide_count);
        assert_int_equal(one->overflow_count, two->overflow_count);
        assert_int_equal(one->recoloured_count, two->recoloured_count);
        assert_memory_equal(one->edges, two->edges, GRAPH_EDGES * sizeof *one->edges);
        assert_memory_equal(one->parts, two->parts, sizeof one->parts);
        assert_memory_equal(one->owner_edges, two->owner_edges, sizeof one->owner_edges);
        assert_memory_equal(
            one->order, two->order, one->wide_count * GRAPH_LANES * sizeof *one->order);
        assert_memory_equal(one->overflow_order, two->overflow_order,
            one->recoloured_count * sizeof *one->overflow_order);
    }
    free(memory[0]);
    free(memory[1]);
}

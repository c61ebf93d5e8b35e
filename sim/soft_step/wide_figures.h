// SPDX-License-Identifier: MIT
#pragma once

// Figures in lanes. Links are independent of those beside them in the trees, so the links at one
// depth of several figures are solved together, one link to a lane, in steps. Steps of parents come
// before those of their children, and a link has the lane of its parent where it can. What links do
// that does not go along the tree is done for a group of lanes at once, which has the links of
// several steps where these are few. Only
// figures of joints with one axis or none are solved so; a lane computes what
// sim/soft_step/articulations.c computes, in its order, so it has the same bits.

#include "sim/articulation/forest.h"

// A batch is a worker's: so many figures at most, which fill the lanes and stay in the cache.
#define CAIRN_BATCH_FIGURES_OF(lanes) ((lanes) > 8 ? 16u : 8u)
#define CAIRN_BATCH_FIGURES_MAX 16
// The widest group.
#define CAIRN_FIGURE_LANES_MAX 16

// Links whose numbers are side by side.
typedef struct cairn_figure_group {
    uint32_t live;  // lanes that have a link; the others repeat the first
    uint32_t root;  // 1: the links float
    uint32_t read;  // 1: contacts or joints may push its links, and read their velocities
    uint32_t stale; // bit set of lanes, while modes are set: they have to be factored
    // The place of the first lane's figure, if the others' follow in order, over and over.
    uint32_t in_order;
} cairn_figure_group;

// Links of one depth that are solved together: some lanes of a group. Steps and groups of a batch
// are counted from its first ones.
typedef struct cairn_figure_step {
    uint32_t group;
    uint32_t first; // lane
    uint32_t live;
    uint32_t whole; // 1: its group has no other links
    uint32_t root;
    uint32_t parent; // the step that has all parents; CAIRN_INDEX_NONE
    uint32_t above;  // the group of that step, if each parent is in its link's lane; or none
    uint32_t mixed;  // that group otherwise, and the most children of a parent in this step
    uint32_t children;
    // The last step that has all its parents in this one, and the one before this among those that
    // have their parents where this one has them; CAIRN_INDEX_NONE.
    uint32_t last_child;
    uint32_t sibling;
    uint32_t shared; // 1: another step has some of its parents here, but not all
    uint32_t adds;   // 1: has parents in a shared step
    uint32_t stale;  // 1: it has to be factored
    uint32_t open;   // 1, while trees are solved: children have been added to it, which is shared
} cairn_figure_step;

typedef struct cairn_figure_batch {
    uint32_t first_figure; // in wide_figures.figures
    uint32_t figure_count;
    uint32_t first_group;
    uint32_t group_count;
    uint32_t first_step;
    uint32_t step_count;
    // As many trees as lanes, all of the same shape: each link of the first is in the first lane of
    // a group, and that link of the others beside it in order.
    bool aligned;
    bool ahead; // it has done what the next part of the step would do, but for the solver's bodies
} cairn_figure_batch;

// "Lane" here is an index: of the group, times the width, and of the lane in it.
typedef struct cairn_wide_figures {
    const struct cairn_figure_kernel *few;    // for figures that fit into one batch of it
    const struct cairn_figure_kernel *many;   // for more; may be the same
    const struct cairn_figure_kernel *kernel; // one of these, since figures were listed
    uint32_t width;                           // the kernel's
    uint32_t link_capacity;
    uint32_t group_capacity; // and of steps, of which there are no fewer
    uint32_t group_count;
    uint32_t step_count;
    uint32_t batch_count;
    cairn_figure_batch *batches;
    cairn_figure_group *groups;
    cairn_figure_step *steps;
    uint32_t *figures;        // indices in the forest
    unsigned char *is_listed; // by index in the forest: 1: in a batch
    bool all;                 // every figure of the forest is in a batch
    uint32_t *slots;          // by lane: body slot
    uint32_t *drives;         // by lane: of the joint; CAIRN_INDEX_NONE
    uint32_t *links;          // by lane: index of the link in the forest
    uint32_t *figure_of;      // by lane: place in the batch
    uint32_t *bodies;         // by lane: of the solver; set when a batch is loaded
    uint32_t *parents;        // by lane: the parent's; CAIRN_INDEX_NONE: the base
    uint32_t *step_of;        // by lane: counted from the batch's first step
    int32_t *step_lanes;      // of each step `width`: -1 in its lanes, else 0
    // Of steps with mixed parents: by the how-manieth child, from the last one, and by the parent's
    // lane: the child's lane; CAIRN_INDEX_NONE. Room for width * width of each step.
    uint32_t *child_of;
    uint32_t *parent_lane; // of each step `width`: the lane of the parent
    uint32_t *lane_of;     // by link in the forest
    uint32_t *buckets;     // by link in the forest, while a batch is made; and the next
    uint32_t *depths;
    void *blocks; // by group, in the layout of the kernel
    void *roots;  // by batch, groups of roots that float
} cairn_wide_figures;

typedef struct cairn_world cairn_world;
typedef void cairn_figure_pass(cairn_world *world, cairn_figure_batch *batch);

// The parts of a step, as in sim/soft_step/articulations.c.
typedef struct cairn_figure_kernel {
    uint32_t lanes;
    size_t block_size; // bytes of a group
    size_t root_size;  // what a group of roots has besides
    cairn_figure_pass *load;
    cairn_figure_pass *begin;
    cairn_figure_pass *spread;
    cairn_figure_pass *spread_impacts;
    cairn_figure_pass *spread_biased;
    cairn_figure_pass *advance;
    cairn_figure_pass *spread_joints;
    cairn_figure_pass *relax;
    cairn_figure_pass *relax_last;
    cairn_figure_pass *finish;
    cairn_figure_pass *store;
} cairn_figure_kernel;

void cairn_wide_figures_allocate(cairn_wide_figures *wide, cairn_arena *from,
    const cairn_world_def *def, const cairn_figure_kernel *few, const cairn_figure_kernel *many);
// Makes batches of the figures of a forest.
void cairn_wide_figures_list(cairn_wide_figures *wide, const cairn_forest *forest);

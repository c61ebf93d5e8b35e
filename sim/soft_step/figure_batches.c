// SPDX-License-Identifier: MIT

// Which links are in which lanes. That changes no bit: it follows from the forest alone, and lanes
// do not see each other.

#include "sim/soft_step/wide_figures.h"

#include <string.h>

#include "base/assert.h"
#include <cairn/articulation.h>

static size_t size_max(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t bytes_of(size_t count, size_t size) {
    CAIRN_ASSERT(size > 0 && count <= SIZE_MAX / size);
    return count * size;
}

// Trees of other shapes than those beside them have groups that are not full. What there is no room
// for is solved in scalars.
static size_t groups_for(const cairn_figure_kernel *kernel, size_t links) {
    const size_t full = links / kernel->lanes + links / 32 + 64;
    return full < links ? full : links;
}

static size_t root_groups_for(const cairn_figure_kernel *kernel, size_t joints) {
    const uint32_t figures = CAIRN_BATCH_FIGURES_OF(kernel->lanes);
    return (joints / figures + 1) * ((figures + kernel->lanes - 1) / kernel->lanes);
}

void cairn_wide_figures_allocate(cairn_wide_figures *wide, cairn_arena *from,
    const cairn_world_def *def, const cairn_figure_kernel *few, const cairn_figure_kernel *many) {
    const size_t joints = def->joint_capacity;
    const size_t bodies = (size_t)def->body_capacity + 1;
    const size_t links = 2 * joints < bodies ? 2 * joints : bodies;
    const size_t few_groups = groups_for(few, links);
    const size_t many_groups = groups_for(many, links);
    const size_t groups = size_max(few_groups, many_groups);
    const size_t all = size_max(few_groups * few->lanes, many_groups * many->lanes);
    const size_t pairs =
        size_max(few_groups * few->lanes * few->lanes, many_groups * many->lanes * many->lanes);
    wide->few = few;
    wide->many = many;
    wide->link_capacity = (uint32_t)links;
    wide->batches = cairn_arena_take(from, joints, sizeof *wide->batches);
    wide->groups = cairn_arena_take(from, groups, sizeof *wide->groups);
    wide->steps = cairn_arena_take(from, groups, sizeof *wide->steps);
    wide->figures = cairn_arena_take(from, joints, sizeof *wide->figures);
    wide->is_listed = cairn_arena_take(from, joints, sizeof *wide->is_listed);
    wide->links = cairn_arena_take(from, all, sizeof *wide->links);
    wide->figure_of = cairn_arena_take(from, all, sizeof *wide->figure_of);
    wide->slots = cairn_arena_take(from, all, sizeof *wide->slots);
    wide->drives = cairn_arena_take(from, all, sizeof *wide->drives);
    wide->bodies = cairn_arena_take(from, all, sizeof *wide->bodies);
    wide->parents = cairn_arena_take(from, all, sizeof *wide->parents);
    wide->step_of = cairn_arena_take(from, all, sizeof *wide->step_of);
    wide->step_lanes = cairn_arena_take(from, all, sizeof *wide->step_lanes);
    wide->child_of = cairn_arena_take(from, pairs, sizeof *wide->child_of);
    wide->parent_lane = cairn_arena_take(from, all, sizeof *wide->parent_lane);
    wide->lane_of = cairn_arena_take(from, links, sizeof *wide->lane_of);
    wide->buckets = cairn_arena_take(from, links, sizeof *wide->buckets);
    wide->depths = cairn_arena_take(from, links, sizeof *wide->depths);
    wide->blocks = cairn_arena_take(from,
        size_max(bytes_of(few_groups, few->block_size), bytes_of(many_groups, many->block_size)),
        1);
    wide->roots = cairn_arena_take(from,
        size_max(bytes_of(root_groups_for(few, joints), few->root_size),
            bytes_of(root_groups_for(many, joints), many->root_size)),
        1);
    wide->group_count = 0;
    wide->batch_count = 0;
    wide->all = false;
}

static bool has_single_axes(const cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        if (figure->links[i].joint != NULL && figure->tree.links[i].dof_count > 1) {
            return false;
        }
    }
    return true;
}

// What a batch is made in. A bucket has the links of one depth that come at the same place among
// those of their figures.
typedef struct batch_plan {
    cairn_wide_figures *wide;
    const cairn_forest *forest;
    cairn_figure_batch *batch;
    uint32_t depth_count;
    uint32_t width_of[CAIRN_ARTICULATION_LINKS_MAX]; // buckets of each depth
    uint32_t links_of[CAIRN_ARTICULATION_LINKS_MAX]; // of each depth
    uint32_t links_left; // of the depth that is placed, before the first of them
} batch_plan;

static const cairn_figure *figure_of(const batch_plan *plan, uint32_t place) {
    return &plan->forest->figures[plan->wide->figures[plan->batch->first_figure + place]];
}

static uint32_t link_index(const batch_plan *plan, const cairn_figure *figure, uint32_t i) {
    return (uint32_t)(figure->links - plan->forest->links) + i;
}

// Depths of the links and their places in them, and how many links each depth has. Returns whether
// no depth is too great.
static bool measure_depths(batch_plan *plan) {
    cairn_wide_figures *wide = plan->wide;
    for (uint32_t place = 0; place < plan->batch->figure_count; ++place) {
        const cairn_figure *figure = figure_of(plan, place);
        uint32_t seen[CAIRN_ARTICULATION_LINKS_MAX] = {0};
        for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
            const uint32_t parent = figure->tree.links[i].parent;
            const uint32_t at = link_index(plan, figure, i);
            const uint32_t depth =
                parent == CAIRN_INDEX_NONE ? 0 : wide->depths[link_index(plan, figure, parent)] + 1;
            if (depth >= CAIRN_ARTICULATION_LINKS_MAX) {
                return false;
            }
            for (; plan->depth_count <= depth; ++plan->depth_count) {
                plan->width_of[plan->depth_count] = 0;
                plan->links_of[plan->depth_count] = 0;
            }
            wide->depths[at] = depth;
            wide->buckets[at] = seen[depth]++;
            plan->links_of[depth] += 1;
            plan->width_of[depth] =
                seen[depth] > plan->width_of[depth] ? seen[depth] : plan->width_of[depth];
        }
    }
    return true;
}

// Roots that float are of one kind, which the other links of depth 0 are not.
static bool is_root(const cairn_figure *figure) {
    return figure->links[0].joint == NULL;
}

static uint32_t roots_in(const batch_plan *plan) {
    uint32_t count = 0;
    for (uint32_t place = 0; place < plan->batch->figure_count; ++place) {
        count += is_root(figure_of(plan, place)) ? 1 : 0;
    }
    return count;
}

// Of so many links of one depth.
static uint32_t steps_of(const batch_plan *plan, uint32_t links) {
    return (links + plan->wide->width - 1) / plan->wide->width;
}

static cairn_figure_group *group_at(const batch_plan *plan, uint32_t group) {
    return &plan->wide->groups[plan->batch->first_group + group];
}

// The first group that has lanes left for so many links.
static uint32_t group_for(const batch_plan *plan, uint32_t links, bool root) {
    cairn_figure_batch *batch = plan->batch;
    for (uint32_t i = 0; !root && i < batch->group_count; ++i) {
        const cairn_figure_group *group = group_at(plan, i);
        if (group->root == 0 && group->live + links <= plan->wide->width) {
            return i;
        }
    }
    *group_at(plan, batch->group_count) = (cairn_figure_group){.root = root ? 1 : 0};
    return batch->group_count++;
}

static void add_step(batch_plan *plan, uint32_t links, bool root) {
    cairn_figure_batch *batch = plan->batch;
    const uint32_t group = group_for(plan, links, root);
    plan->wide->steps[batch->first_step + batch->step_count++] = (cairn_figure_step){.group = group,
        .first = group_at(plan, group)->live,
        .root = root ? 1 : 0,
        .parent = CAIRN_INDEX_NONE,
        .above = CAIRN_INDEX_NONE,
        .mixed = CAIRN_INDEX_NONE,
        .last_child = CAIRN_INDEX_NONE,
        .sibling = CAIRN_INDEX_NONE};
}

// In the last step.
static void put_link(batch_plan *plan, uint32_t place, uint32_t i) {
    cairn_wide_figures *wide = plan->wide;
    const cairn_figure_batch *batch = plan->batch;
    const cairn_figure *figure = figure_of(plan, place);
    const uint32_t parent = figure->tree.links[i].parent;
    const uint32_t at = link_index(plan, figure, i);
    cairn_figure_step *step = &wide->steps[batch->first_step + batch->step_count - 1];
    const uint32_t in_group = step->first + step->live++;
    const uint32_t lane = (batch->first_group + step->group) * wide->width + in_group;
    wide->lane_of[at] = lane;
    wide->links[lane] = at;
    wide->slots[lane] = figure->links[i].body;
    wide->drives[lane] = figure->links[i].drive;
    wide->figure_of[lane] = place;
    wide->step_of[lane] = batch->step_count - 1;
    wide->parents[lane] = parent == CAIRN_INDEX_NONE
                              ? CAIRN_INDEX_NONE
                              : wide->lane_of[link_index(plan, figure, parent)];
    group_at(plan, step->group)->live += 1;
}

// `links` are left of this depth, with the one that is put.
static void put_link_of_depth(batch_plan *plan, uint32_t place, uint32_t i, uint32_t links) {
    const uint32_t width = plan->wide->width;
    const cairn_figure_batch *batch = plan->batch;
    const uint32_t last = batch->first_step + batch->step_count - 1;
    if (links == plan->links_left || plan->wide->steps[last].live == width) {
        add_step(plan, links < width ? links : width, false);
    }
    put_link(plan, place, i);
}

// Places of the buckets of one depth: those of all figures side by side.
static void place_depth(batch_plan *plan, uint32_t depth, uint32_t links) {
    const cairn_wide_figures *wide = plan->wide;
    uint32_t next[CAIRN_BATCH_FIGURES_MAX]; // where a figure's links of this depth are looked for
    memset(next, 0, sizeof next);
    plan->links_left = links;
    for (uint32_t bucket = 0; bucket < plan->width_of[depth]; ++bucket) {
        for (uint32_t place = 0; place < plan->batch->figure_count; ++place) {
            const cairn_figure *figure = figure_of(plan, place);
            const uint32_t first = link_index(plan, figure, 0);
            uint32_t i = next[place];
            while (i < figure->tree.link_count && wide->depths[first + i] != depth) {
                i += 1;
            }
            next[place] = i + 1;
            if (i < figure->tree.link_count && (depth > 0 || !is_root(figure))) {
                put_link_of_depth(plan, place, i, links--);
            }
        }
    }
}

static void place_roots(batch_plan *plan) {
    const uint32_t width = plan->wide->width;
    uint32_t count = 0;
    for (uint32_t place = 0; place < plan->batch->figure_count; ++place) {
        if (is_root(figure_of(plan, place))) {
            if (count++ % width == 0) {
                add_step(plan, width, true);
            }
            put_link(plan, place, 0);
        }
    }
}

static void fill_lanes(cairn_wide_figures *wide, uint32_t first, uint32_t live) {
    for (uint32_t l = live; l < wide->width; ++l) {
        wide->links[first + l] = wide->links[first];
        wide->slots[first + l] = wide->slots[first];
        wide->drives[first + l] = wide->drives[first];
        wide->figure_of[first + l] = wide->figure_of[first];
        wide->parents[first + l] = wide->parents[first];
    }
}

// Whether the figures of the lanes follow each other, over and over.
static bool is_ordered(
    const cairn_wide_figures *wide, uint32_t first, uint32_t live, uint32_t figures) {
    for (uint32_t l = 1; l < live; ++l) {
        if (wide->figure_of[first + l] != (wide->figure_of[first + l - 1] + 1) % figures) {
            return false;
        }
    }
    return true;
}

// The lane of a link of a step, and of its parent.
static uint32_t lane_at(const batch_plan *plan, const cairn_figure_step *step, uint32_t i) {
    CAIRN_ASSERT(i < step->live);
    return (plan->batch->first_group + step->group) * plan->wide->width + step->first + i;
}

static uint32_t parent_of(const batch_plan *plan, const cairn_figure_step *step, uint32_t i) {
    return plan->wide->parents[lane_at(plan, step, i)];
}

// The step that has the parents of all links; CAIRN_INDEX_NONE.
static uint32_t parents_step(const batch_plan *plan, const cairn_figure_step *step) {
    uint32_t found = CAIRN_INDEX_NONE;
    for (uint32_t i = 0; i < step->live; ++i) {
        const uint32_t parent = parent_of(plan, step, i);
        if (parent == CAIRN_INDEX_NONE || (i > 0 && plan->wide->step_of[parent] != found)) {
            return CAIRN_INDEX_NONE;
        }
        found = plan->wide->step_of[parent];
    }
    return found;
}

// Which lane has which child of a lane of the parents' group.
static void mix_parents(const batch_plan *plan, cairn_figure_step *step, uint32_t index) {
    const uint32_t width = plan->wide->width;
    uint32_t *parent_lane = &plan->wide->parent_lane[index * width];
    uint32_t *child_of = &plan->wide->child_of[index * width * width];
    uint32_t seen[CAIRN_FIGURE_LANES_MAX] = {0};
    for (uint32_t i = 0; i < width * width; ++i) {
        child_of[i] = CAIRN_INDEX_NONE;
    }
    for (uint32_t i = step->live; i > 0; --i) {
        const uint32_t lane = parent_of(plan, step, i - 1) % width;
        parent_lane[step->first + i - 1] = lane;
        child_of[seen[lane]++ * width + lane] = step->first + i - 1;
        step->children = seen[lane] > step->children ? seen[lane] : step->children;
    }
}

// Fills the lanes of the groups that have no link.
static void close_group(const batch_plan *plan, uint32_t index) {
    cairn_wide_figures *wide = plan->wide;
    cairn_figure_group *group = group_at(plan, index);
    const uint32_t first = (plan->batch->first_group + index) * wide->width;
    CAIRN_ASSERT(group->live >= 1 && group->live <= wide->width);
    fill_lanes(wide, first, group->live);
    group->in_order = is_ordered(wide, first, group->live, plan->batch->figure_count)
                          ? wide->figure_of[first]
                          : CAIRN_INDEX_NONE;
}

// Finds where the parents of a step's links are.
static void close_step(const batch_plan *plan, uint32_t i) {
    cairn_wide_figures *wide = plan->wide;
    const uint32_t index = plan->batch->first_step + i;
    const uint32_t width = wide->width;
    cairn_figure_step *step = &wide->steps[index];
    step->whole = step->live == group_at(plan, step->group)->live ? 1 : 0;
    step->parent = parents_step(plan, step);
    for (uint32_t l = 0; l < width; ++l) {
        const bool has = l >= step->first && l - step->first < step->live;
        wide->step_lanes[index * width + l] = has ? -1 : 0;
        wide->parent_lane[index * width + l] = l;
    }
    if (step->parent == CAIRN_INDEX_NONE) {
        return;
    }
    bool beside = true;
    for (uint32_t k = 0; k < step->live; ++k) {
        beside = beside && parent_of(plan, step, k) % width == step->first + k;
    }
    const uint32_t group = wide->steps[plan->batch->first_step + step->parent].group;
    step->above = beside ? group : CAIRN_INDEX_NONE;
    if (!beside) {
        step->mixed = group;
        mix_parents(plan, step, index);
    }
}

// Marks the steps that have some parents of a step, but not all.
static void share_parents(const batch_plan *plan, cairn_figure_step *step) {
    for (uint32_t i = 0; i < step->live; ++i) {
        const uint32_t parent = parent_of(plan, step, i);
        if (parent != CAIRN_INDEX_NONE) {
            plan->wide->steps[plan->batch->first_step + plan->wide->step_of[parent]].shared = 1;
            step->adds = 1;
        }
    }
}

// Finds which steps take what their children pass on, and which are added to by these.
static void link_steps(const batch_plan *plan) {
    cairn_figure_step *steps = &plan->wide->steps[plan->batch->first_step];
    for (uint32_t i = 0; i < plan->batch->step_count; ++i) {
        if (steps[i].parent == CAIRN_INDEX_NONE) {
            share_parents(plan, &steps[i]);
        } else {
            steps[i].sibling = steps[steps[i].parent].last_child;
            steps[steps[i].parent].last_child = i;
        }
    }
    for (uint32_t i = 0; i < plan->batch->step_count; ++i) {
        if (steps[i].parent != CAIRN_INDEX_NONE && steps[steps[i].parent].shared != 0) {
            steps[i].adds = 1;
        }
    }
}

static bool is_aligned(const batch_plan *plan) {
    const cairn_wide_figures *wide = plan->wide;
    const cairn_figure *first = figure_of(plan, 0);
    if (plan->batch->figure_count != wide->width) {
        return false;
    }
    for (uint32_t place = 0; place < wide->width; ++place) {
        const cairn_figure *figure = figure_of(plan, place);
        if (figure->tree.link_count != first->tree.link_count) {
            return false;
        }
        for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
            const uint32_t lane = wide->lane_of[link_index(plan, first, i)];
            if (lane % wide->width != 0 ||
                wide->lane_of[link_index(plan, figure, i)] != lane + place) {
                return false;
            }
        }
    }
    return true;
}

// Adds a batch of the figures listed from `batch` on. Returns whether there is room for it.
static bool add_batch(
    cairn_wide_figures *wide, const cairn_forest *forest, cairn_figure_batch *batch) {
    batch_plan plan = {.wide = wide, .forest = forest, .batch = batch};
    if (!measure_depths(&plan)) {
        return false;
    }
    const uint32_t roots = roots_in(&plan);
    uint32_t steps = steps_of(&plan, roots);
    for (uint32_t depth = 0; depth < plan.depth_count; ++depth) {
        plan.links_of[depth] -= depth == 0 ? roots : 0;
        steps += steps_of(&plan, plan.links_of[depth]);
    }
    if (steps > wide->group_capacity - wide->step_count) {
        return false;
    }
    batch->first_group = wide->group_count;
    batch->first_step = wide->step_count;
    place_roots(&plan);
    for (uint32_t depth = 0; depth < plan.depth_count; ++depth) {
        place_depth(&plan, depth, plan.links_of[depth]);
    }
    CAIRN_ASSERT(batch->step_count == steps && batch->group_count <= steps);
    wide->group_count += batch->group_count;
    wide->step_count += batch->step_count;
    for (uint32_t i = 0; i < batch->group_count; ++i) {
        close_group(&plan, i);
    }
    for (uint32_t i = 0; i < batch->step_count; ++i) {
        close_step(&plan, i);
    }
    link_steps(&plan);
    batch->aligned = is_aligned(&plan);
    return true;
}

static void use_kernel(cairn_wide_figures *wide, uint32_t figures) {
    const bool fit = figures <= CAIRN_BATCH_FIGURES_OF(wide->few->lanes);
    wide->kernel = fit ? wide->few : wide->many;
    wide->width = wide->kernel->lanes;
    wide->group_capacity = (uint32_t)groups_for(wide->kernel, wide->link_capacity);
}

void cairn_wide_figures_list(cairn_wide_figures *wide, const cairn_forest *forest) {
    uint32_t listed = 0;
    wide->group_count = 0;
    wide->step_count = 0;
    wide->batch_count = 0;
    for (uint32_t i = 0; i < forest->figure_count; ++i) {
        wide->is_listed[i] = has_single_axes(&forest->figures[i]) ? 1 : 0;
        if (wide->is_listed[i] != 0) {
            wide->figures[listed++] = i;
        }
    }
    wide->all = listed == forest->figure_count;
    use_kernel(wide, listed);
    const uint32_t figures = CAIRN_BATCH_FIGURES_OF(wide->width);
    for (uint32_t first = 0; first < listed; first += figures) {
        const uint32_t left = listed - first;
        cairn_figure_batch *batch = &wide->batches[wide->batch_count];
        *batch = (cairn_figure_batch){
            .first_figure = first, .figure_count = left < figures ? left : figures};
        if (add_batch(wide, forest, batch)) {
            wide->batch_count += 1;
            continue;
        }
        for (uint32_t i = 0; i < batch->figure_count; ++i) {
            wide->is_listed[wide->figures[first + i]] = 0;
        }
        wide->all = false;
    }
}

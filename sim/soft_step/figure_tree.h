// SPDX-License-Identifier: MIT
#pragma once

// The dynamics of sim/articulation/tree.c in lanes: factors and solutions of the trees of a batch.

#include "sim/soft_step/figure_block.h"

// As in tree.c.
#define PIVOT_MIN 1e-8f

static inline lanes size_of(const articulated_lanes *all) {
    return all->angular.xx + all->angular.yy + all->angular.zz + all->linear.xx + all->linear.yy +
           all->linear.zz;
}

static inline lanes inverse_of(lanes pivot, lanes size) {
    const lanes one = lanes_all(1.0f);
    const lanes_mask ok = lanes_less(lanes_all(PIVOT_MIN) * size, pivot);
    return lanes_select(ok, one / lanes_select(ok, pivot, one), lanes_all(0.0f));
}

// `all` is the articulated inertia of the links, and becomes what they pass on.
INLINE void factor_axis(wide_link *link, articulated_lanes *all) {
    const lanes zero = lanes_all(0.0f);
    const lanes size = size_of(all);
    const spatial_lanes moved = articulated_lanes_apply(all, link->along);
    const lanes pivot = spatial_lanes_dot(moved, link->along) + link->tree_armature;
    const lanes inverse = inverse_of(pivot, size);
    link->moved = moved;
    link->inverse = inverse;
    link->factored_locked = link->locked;
    articulated_lanes_sub_square(all, moved, lanes_select(link->locked, zero, inverse));
}

INLINE void factor_root(wide_root *root, articulated_lanes *all) {
    const lanes size = size_of(all);
    for (uint32_t i = 6; i > 0; --i) {
        const spatial_lanes along = root->along[i - 1];
        const spatial_lanes moved = articulated_lanes_apply(all, along);
        const lanes inverse = inverse_of(spatial_lanes_dot(moved, along) + lanes_all(0.0f), size);
        root->moved[i - 1] = moved;
        root->inverse[i - 1] = inverse;
        articulated_lanes_sub_square(all, moved, inverse);
    }
}

INLINE spatial_lanes rest_of_axis(wide_link *link, spatial_lanes pending) {
    const lanes rest = link->force - spatial_lanes_dot(pending, link->along);
    const lanes along = lanes_select(link->locked, link->axis_value, rest * link->inverse);
    link->rest = rest;
    return spatial_lanes_add_scaled(pending, link->moved, along);
}

INLINE spatial_lanes rest_of_root(wide_root *root, spatial_lanes pending) {
    for (uint32_t i = 6; i > 0; --i) {
        const lanes rest = lanes_all(0.0f) - spatial_lanes_dot(pending, root->along[i - 1]);
        root->rest[i - 1] = rest;
        pending =
            spatial_lanes_add_scaled(pending, root->moved[i - 1], rest * root->inverse[i - 1]);
    }
    return pending;
}

// Whoever has a stale link below is stale.
static inline void spread_stale(const figure_run *run) {
    for (uint32_t g = run->count; g > 0; --g) {
        const cairn_figure_group *group = &run->groups[g - 1];
        if (group->stale == 0) {
            continue;
        }
        const uint32_t above = group->above != CAIRN_INDEX_NONE ? group->above : group->mixed;
        if (above != CAIRN_INDEX_NONE) {
            run->groups[above].stale = 1;
            continue;
        }
        for (uint32_t i = 0; i < group->live; ++i) {
            const uint32_t parent = parent_at(run, g - 1, i);
            if (parent != CAIRN_INDEX_NONE) {
                run->groups[parent / CAIRN_LANES].stale = 1;
            }
        }
    }
}

// ---- From the leaves to the roots

// Of groups whose children's groups are theirs alone, which take what these pass on; the last links
// come first in the sums.

INLINE const uint32_t *lanes_of_children(const figure_run *run, uint32_t group) {
    const uint32_t index = run->batch->first_group + group;
    return &run->wide->child_of[index * CAIRN_LANES * CAIRN_LANES];
}

INLINE spatial_lanes take_pending(const figure_run *run, uint32_t group) {
    spatial_lanes sum = run->blocks[group].bias;
    for (uint32_t c = run->groups[group].last_child; c != CAIRN_INDEX_NONE;
         c = run->groups[c].sibling) {
        const cairn_figure_group *child = &run->groups[c];
        const spatial_lanes *from = &run->blocks[c].pending;
        if (child->above == CAIRN_INDEX_NONE) {
            const uint32_t *lane_of = lanes_of_children(run, c);
            for (uint32_t i = 0; i < child->children; ++i) {
                const lanes_mask lane = mask_of_lanes(&lane_of[i * CAIRN_LANES]);
                sum = spatial_add_where(is_lane(lane), sum, spatial_in_lanes(*from, lane));
            }
        } else if (child->live == CAIRN_LANES) {
            sum = spatial_lanes_add(sum, *from);
        } else {
            sum = spatial_add_where(run->blocks[c].live, sum, *from);
        }
    }
    return sum;
}

INLINE articulated_lanes take_inertia(const figure_run *run, uint32_t group) {
    articulated_lanes sum = articulated_lanes_of(&run->blocks[group].inertia);
    for (uint32_t c = run->groups[group].last_child; c != CAIRN_INDEX_NONE;
         c = run->groups[c].sibling) {
        const cairn_figure_group *child = &run->groups[c];
        const articulated_lanes *from = &run->blocks[c].articulated;
        if (child->above == CAIRN_INDEX_NONE) {
            const uint32_t *lane_of = lanes_of_children(run, c);
            for (uint32_t i = 0; i < child->children; ++i) {
                const lanes_mask lane = mask_of_lanes(&lane_of[i * CAIRN_LANES]);
                const articulated_lanes more = articulated_in_lanes(from, lane);
                sum = articulated_add_where(is_lane(lane), &sum, &more);
            }
        } else if (child->live == CAIRN_LANES) {
            sum = articulated_lanes_add(&sum, from);
        } else {
            sum = articulated_add_where(run->blocks[c].live, &sum, from);
        }
    }
    return sum;
}

// Of groups with other children as well: all their children add to them.
static inline void open_group(const figure_run *run, uint32_t group) {
    wide_link *link = &run->blocks[group];
    if (run->groups[group].open == 0) {
        run->groups[group].open = 1;
        link->pending = link->bias;
        if (run->groups[group].stale != 0) {
            link->articulated = articulated_lanes_of(&link->inertia);
        }
    }
}

static void add_to_shared(const figure_run *run, uint32_t group) {
    for (uint32_t i = 0; i < run->groups[group].live; ++i) {
        const uint32_t parent = parent_at(run, group, i);
        if (parent != CAIRN_INDEX_NONE) {
            open_group(run, parent / CAIRN_LANES);
        }
    }
    add_above(run, group, offsetof(wide_link, pending), 6, false);
    add_above(run, group, offsetof(wide_link, articulated), 21, true);
}

INLINE void solve_group_up(const figure_run *run, uint32_t group) {
    cairn_figure_group *own = &run->groups[group];
    wide_link *link = &run->blocks[group];
    const bool root = own->root != 0;
    if (own->shared != 0) {
        open_group(run, group);
    }
    if (own->stale != 0) {
        articulated_lanes all = own->shared != 0 ? link->articulated : take_inertia(run, group);
        if (root) {
            factor_root(&run->roots[group], &all);
        } else {
            factor_axis(link, &all);
        }
        link->articulated = all;
    }
    const spatial_lanes pending = own->shared != 0 ? link->pending : take_pending(run, group);
    link->pending = root ? rest_of_root(&run->roots[group], pending) : rest_of_axis(link, pending);
    own->stale = 0;
    own->open = 0;
    if (own->adds != 0) {
        add_to_shared(run, group);
    }
}

// Factors the groups that are stale, and finds what each axis has left to do.
static inline void solve_up(const figure_run *run) {
    for (uint32_t g = run->count; g > 0; --g) {
        solve_group_up(run, g - 1);
    }
}

// ---- From the roots on

static inline spatial_lanes value_of_root(const wide_root *root, spatial_lanes value) {
    for (uint32_t i = 0; i < 6; ++i) {
        const lanes carried = spatial_lanes_dot(root->moved[i], value);
        value = spatial_lanes_add_scaled(
            value, root->along[i], (root->rest[i] - carried) * root->inverse[i]);
    }
    return value;
}

INLINE void value_of_axis(wide_link *link, spatial_lanes before, lanes_mask active, bool all) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes carried = spatial_lanes_dot(link->moved, before);
    const lanes_mask locked = link->locked;
    lanes value = (link->rest - carried) * link->inverse;
    if (any_lane(locked)) {
        const lanes_mask moves = lanes_less(zero, link->inverse);
        const lanes inertia =
            lanes_select(moves, one / lanes_select(moves, link->inverse, one), zero);
        const lanes reaction = carried + inertia * link->axis_value - link->rest;
        link->reaction = lanes_select(active & locked, reaction, link->reaction);
        value = lanes_select(locked, link->axis_value, value);
    }
    const spatial_lanes after = spatial_lanes_add_scaled(before, link->along, value);
    link->axis_value = all ? value : lanes_select(active, value, link->axis_value);
    link->value = all ? after : spatial_lanes_select(active, after, link->value);
}

static inline void list_base_velocities(const figure_run *run, float (*of_base)[BASE_NUMBERS]) {
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        memcpy(of_base[i], &figure_at(run, i)->tree.base, 6 * sizeof(float));
    }
}

INLINE spatial_lanes value_above(const figure_run *run, uint32_t group, const float *of_base) {
    const cairn_figure_group *own = &run->groups[group];
    spatial_lanes value;
    if (own->above != CAIRN_INDEX_NONE) {
        return run->blocks[own->above].value;
    }
    if (own->mixed != CAIRN_INDEX_NONE) {
        return spatial_in_lanes(run->blocks[own->mixed].value, lanes_of_parents(run, group));
    }
    if (own->root != 0) {
        return spatial_lanes_zero();
    }
    load_each(run, group, offsetof(wide_link, value), 6, of_base, (lanes *)&value);
    return value;
}

INLINE void solve_down_of(const figure_run *run, const set_in_order *solved, bool all) {
    float of_base[BATCH_FIGURES][BASE_NUMBERS];
    list_base_velocities(run, of_base);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const lanes_mask active = lanes_in(run, g, solved);
        const spatial_lanes before = value_above(run, g, of_base[0]);
        if (run->groups[g].root == 0) {
            value_of_axis(link, before, active, all);
        } else {
            const spatial_lanes after = value_of_root(&run->roots[g], before);
            link->value = all ? after : spatial_lanes_select(active, after, link->value);
        }
    }
}

// The values of the figures of the set.
static void solve_down(const figure_run *run, const figure_set *set) {
    const set_in_order solved = in_order(run, set);
    if (solved.all) {
        solve_down_of(run, &solved, true);
    } else {
        solve_down_of(run, &solved, false);
    }
}

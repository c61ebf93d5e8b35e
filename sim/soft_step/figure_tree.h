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

static inline void factor_axis(wide_link *link) {
    const lanes zero = lanes_all(0.0f);
    const lanes size = size_of(&link->articulated);
    const spatial_lanes moved = articulated_lanes_apply(&link->articulated, link->along);
    const lanes pivot = spatial_lanes_dot(moved, link->along) + link->tree_armature;
    const lanes inverse = inverse_of(pivot, size);
    link->moved = moved;
    link->inverse = inverse;
    link->factored_locked = link->locked;
    articulated_lanes_sub_square(
        &link->articulated, moved, lanes_select(link->locked, zero, inverse));
}

static inline void factor_root(wide_link *link, wide_root *root) {
    const lanes size = size_of(&link->articulated);
    for (uint32_t i = 6; i > 0; --i) {
        const spatial_lanes along = root->along[i - 1];
        const spatial_lanes moved = articulated_lanes_apply(&link->articulated, along);
        const lanes inverse = inverse_of(spatial_lanes_dot(moved, along) + lanes_all(0.0f), size);
        root->moved[i - 1] = moved;
        root->inverse[i - 1] = inverse;
        articulated_lanes_sub_square(&link->articulated, moved, inverse);
    }
}

static inline void rest_of_axis(wide_link *link) {
    const lanes rest = link->force - spatial_lanes_dot(link->pending, link->along);
    const lanes along = lanes_select(link->locked, link->axis_value, rest * link->inverse);
    link->rest = rest;
    link->pending = spatial_lanes_add_scaled(link->pending, link->moved, along);
}

static inline void rest_of_root(wide_link *link, wide_root *root) {
    for (uint32_t i = 6; i > 0; --i) {
        const lanes rest = lanes_all(0.0f) - spatial_lanes_dot(link->pending, root->along[i - 1]);
        root->rest[i - 1] = rest;
        link->pending = spatial_lanes_add_scaled(
            link->pending, root->moved[i - 1], rest * root->inverse[i - 1]);
    }
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
            run->groups[above - run->batch->first_group].stale = 1;
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

// What children are added to.
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

static inline void open_above(const figure_run *run, uint32_t group) {
    const cairn_figure_group *own = &run->groups[group];
    const uint32_t above = own->above != CAIRN_INDEX_NONE ? own->above : own->mixed;
    if (above != CAIRN_INDEX_NONE) {
        open_group(run, above - run->batch->first_group);
        return;
    }
    for (uint32_t i = 0; i < run->groups[group].live; ++i) {
        const uint32_t parent = parent_at(run, group, i);
        if (parent != CAIRN_INDEX_NONE) {
            open_group(run, parent / CAIRN_LANES);
        }
    }
}

static inline void solve_root_up(const figure_run *run, uint32_t group) {
    if (run->groups[group].stale != 0) {
        factor_root(&run->blocks[group], &run->roots[group]);
    }
    rest_of_root(&run->blocks[group], &run->roots[group]);
}

static inline void solve_axis_up(const figure_run *run, uint32_t group) {
    if (run->groups[group].stale != 0) {
        factor_axis(&run->blocks[group]);
    }
    rest_of_axis(&run->blocks[group]);
    open_above(run, group);
    add_above(run, group, offsetof(wide_link, pending), 6, false);
    add_above(run, group, offsetof(wide_link, articulated), 21, true);
}

// From the leaves to the roots: factors the groups that are stale, and finds what each axis has
// left to do.
static inline void solve_up(const figure_run *run) {
    for (uint32_t g = run->count; g > 0; --g) {
        open_group(run, g - 1);
        if (run->groups[g - 1].root != 0) {
            solve_root_up(run, g - 1);
        } else {
            solve_axis_up(run, g - 1);
        }
    }
    for (uint32_t g = 0; g < run->count; ++g) {
        run->groups[g].stale = 0;
        run->groups[g].open = 0;
    }
}

static inline spatial_lanes value_of_root(const wide_root *root, spatial_lanes value) {
    for (uint32_t i = 0; i < 6; ++i) {
        const lanes carried = spatial_lanes_dot(root->moved[i], value);
        value = spatial_lanes_add_scaled(
            value, root->along[i], (root->rest[i] - carried) * root->inverse[i]);
    }
    return value;
}

static inline void value_of_axis(wide_link *link, spatial_lanes before, lanes_mask active) {
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
    link->axis_value = lanes_select(active, value, link->axis_value);
    link->value = spatial_lanes_select(
        active, spatial_lanes_add_scaled(before, link->along, value), link->value);
}

static inline void list_base_velocities(const figure_run *run, float (*of_base)[BASE_NUMBERS]) {
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        memcpy(of_base[i], &figure_at(run, i)->tree.base, 6 * sizeof(float));
    }
}

// From the roots on: the values of the figures of the set.
static inline void solve_down(const figure_run *run, const figure_set *set) {
    const set_in_order solved = in_order(run, set);
    float of_base[BATCH_FIGURES][BASE_NUMBERS];
    list_base_velocities(run, of_base);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const lanes_mask active = lanes_in(run, g, &solved);
        spatial_lanes before;
        load_above(run, g, offsetof(wide_link, value), 6, of_base[0], (lanes *)&before);
        if (run->groups[g].root == 0) {
            value_of_axis(link, before, active);
        } else {
            link->value =
                spatial_lanes_select(active, value_of_root(&run->roots[g], before), link->value);
        }
    }
}

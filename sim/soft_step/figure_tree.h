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

// What a link has of its factors.
typedef struct axis_factors {
    spatial_lanes moved;
    lanes inverse;
} axis_factors;

// `all` is the articulated inertia of the links, and becomes what they pass on.
INLINE axis_factors factor_axis(const wide_link *link, articulated_lanes *all) {
    const lanes zero = lanes_all(0.0f);
    const lanes size = size_of(all);
    const spatial_lanes moved = articulated_lanes_apply(all, link->along);
    const lanes pivot = spatial_lanes_dot(moved, link->along) + link->tree_armature;
    const lanes inverse = inverse_of(pivot, size);
    articulated_lanes_sub_square(all, moved, lanes_select(link->locked, zero, inverse));
    return (axis_factors){moved, inverse};
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

INLINE spatial_lanes rest_of_axis(const wide_link *link, spatial_lanes pending, lanes *rest) {
    *rest = link->force - spatial_lanes_dot(pending, link->along);
    const lanes along = lanes_select(link->locked, link->axis_value, *rest * link->inverse);
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
    for (uint32_t s = run->step_count; s > 0; --s) {
        cairn_figure_step *step = &run->steps[s - 1];
        if ((run->groups[step->group].stale & step_bits(step)) != 0) {
            step->stale = 1;
        }
        if (step->stale == 0) {
            continue;
        }
        if (step->parent != CAIRN_INDEX_NONE) {
            run->steps[step->parent].stale = 1;
            continue;
        }
        for (uint32_t i = step->first; i < step->first + step->live; ++i) {
            const uint32_t parent = run->wide->parents[lane_index(run, step->group, i)];
            if (parent != CAIRN_INDEX_NONE) {
                run->steps[run->wide->step_of[parent]].stale = 1;
            }
        }
    }
}

// ---- From the leaves to the roots

// Of steps whose children's steps are theirs alone, which take what these pass on; the last links
// come first in the sums.

INLINE const uint32_t *lanes_of_children(const figure_run *run, uint32_t step) {
    return &run->wide->child_of[(run->batch->first_step + step) * CAIRN_LANES * CAIRN_LANES];
}

INLINE spatial_lanes take_pending(const figure_run *run, uint32_t step, spatial_lanes sum) {
    for (uint32_t c = run->steps[step].last_child; c != CAIRN_INDEX_NONE;
         c = run->steps[c].sibling) {
        const cairn_figure_step *child = &run->steps[c];
        const spatial_lanes *from = &run->blocks[child->group].pending;
        if (child->above == CAIRN_INDEX_NONE) {
            const uint32_t *lane_of = lanes_of_children(run, c);
            for (uint32_t i = 0; i < child->children; ++i) {
                const lanes_mask lane = mask_of_lanes(&lane_of[i * CAIRN_LANES]);
                sum = spatial_add_where(is_lane(lane), sum, spatial_in_lanes(*from, lane));
            }
        } else if (child->live == CAIRN_LANES) {
            sum = spatial_lanes_add(sum, *from);
        } else {
            sum = spatial_add_where(lanes_of_step(run, c), sum, *from);
        }
    }
    return sum;
}

INLINE articulated_lanes take_inertia(const figure_run *run, uint32_t step) {
    articulated_lanes sum = articulated_lanes_of(&run->blocks[run->steps[step].group].inertia);
    for (uint32_t c = run->steps[step].last_child; c != CAIRN_INDEX_NONE;
         c = run->steps[c].sibling) {
        const cairn_figure_step *child = &run->steps[c];
        const articulated_lanes *from = &run->blocks[child->group].articulated;
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
            sum = articulated_add_where(lanes_of_step(run, c), &sum, from);
        }
    }
    return sum;
}

// Of steps with other children as well: all their children add to them.
static void open_step(const figure_run *run, uint32_t step) {
    const wide_link *link = &run->blocks[run->steps[step].group];
    if (run->steps[step].open == 0) {
        run->steps[step].open = 1;
        store_step(run, step, offsetof(wide_link, pending), 6, (const lanes *)&link->bias);
        if (run->steps[step].stale != 0) {
            const articulated_lanes all = articulated_lanes_of(&link->inertia);
            store_step(run, step, offsetof(wide_link, articulated), 21, (const lanes *)&all);
        }
    }
}

static void add_to_shared(const figure_run *run, uint32_t step) {
    const cairn_figure_step *own = &run->steps[step];
    for (uint32_t i = own->first; i < own->first + own->live; ++i) {
        const uint32_t parent = run->wide->parents[lane_index(run, own->group, i)];
        if (parent != CAIRN_INDEX_NONE) {
            open_step(run, run->wide->step_of[parent]);
        }
    }
    add_above(run, step, offsetof(wide_link, pending), 6, false);
    add_above(run, step, offsetof(wide_link, articulated), 21, true);
}

INLINE void factor_step(const figure_run *run, uint32_t step) {
    const cairn_figure_step *own = &run->steps[step];
    wide_link *link = &run->blocks[own->group];
    articulated_lanes all = own->shared != 0 ? link->articulated : take_inertia(run, step);
    if (own->root != 0) {
        factor_root(&run->roots[own->group], &all);
        return;
    }
    const axis_factors factors = factor_axis(link, &all);
    if (own->whole != 0) {
        link->articulated = all;
        link->moved = factors.moved;
        link->inverse = factors.inverse;
        link->factored_locked = link->locked;
        return;
    }
    const lanes_mask mask = lanes_of_step(run, step);
    link->articulated = articulated_lanes_select(mask, all, link->articulated);
    link->moved = spatial_lanes_select(mask, factors.moved, link->moved);
    link->inverse = lanes_select(mask, factors.inverse, link->inverse);
    link->factored_locked = (mask & link->locked) | (~mask & link->factored_locked);
}

INLINE void rest_of_step(const figure_run *run, uint32_t step) {
    const cairn_figure_step *own = &run->steps[step];
    wide_link *link = &run->blocks[own->group];
    const spatial_lanes before =
        own->shared != 0 ? link->pending : take_pending(run, step, link->bias);
    lanes rest;
    if (own->root != 0) {
        link->pending = rest_of_root(&run->roots[own->group], before);
        return;
    }
    const spatial_lanes pending = rest_of_axis(link, before, &rest);
    if (own->whole != 0) {
        link->rest = rest;
        link->pending = pending;
        return;
    }
    const lanes_mask mask = lanes_of_step(run, step);
    link->rest = lanes_select(mask, rest, link->rest);
    link->pending = spatial_lanes_select(mask, pending, link->pending);
}

// Factors the groups that are stale, and finds what each axis has left to do.
static inline void solve_up(const figure_run *run) {
    for (uint32_t s = run->step_count; s > 0; --s) {
        cairn_figure_step *step = &run->steps[s - 1];
        if (step->shared != 0) {
            open_step(run, s - 1);
        }
        if (step->stale != 0) {
            factor_step(run, s - 1);
        }
        rest_of_step(run, s - 1);
        step->stale = 0;
        step->open = 0;
        if (step->adds != 0) {
            add_to_shared(run, s - 1);
        }
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

INLINE spatial_lanes value_above(const figure_run *run, uint32_t step, const float *of_base) {
    const cairn_figure_step *own = &run->steps[step];
    spatial_lanes value;
    if (own->above != CAIRN_INDEX_NONE) {
        return run->blocks[own->above].value;
    }
    if (own->mixed != CAIRN_INDEX_NONE) {
        return spatial_in_lanes(run->blocks[own->mixed].value, lanes_of_parents(run, step));
    }
    if (own->root != 0) {
        return spatial_lanes_zero();
    }
    load_each(run, own->group, offsetof(wide_link, value), 6, of_base, (lanes *)&value);
    return value;
}

// The values of the figures of the set.
static void solve_down(const figure_run *run, const figure_set *set) {
    const set_in_order solved = in_order(run, set);
    float of_base[BATCH_FIGURES][BASE_NUMBERS];
    list_base_velocities(run, of_base);
    for (uint32_t s = 0; s < run->step_count; ++s) {
        const cairn_figure_step *step = &run->steps[s];
        wide_link *link = &run->blocks[step->group];
        const spatial_lanes before = value_above(run, s, of_base[0]);
        const bool all = solved.all && step->whole != 0;
        lanes_mask active = link->live;
        if (!all) {
            active = lanes_in(run, step->group, &solved) & lanes_of_step(run, s);
        }
        if (step->root != 0) {
            const spatial_lanes after = value_of_root(&run->roots[step->group], before);
            link->value = spatial_lanes_select(active, after, link->value);
        } else if (all) {
            value_of_axis(link, before, active, true);
        } else {
            value_of_axis(link, before, active, false);
        }
    }
}

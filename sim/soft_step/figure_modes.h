// SPDX-License-Identifier: MIT
#pragma once

// Which motors, friction and limits of a batch act is tried, and corrected by what comes of it.
// Axes that may be driven are seen to one by one.

#include "sim/soft_step/figure_motion.h"

static cairn_figure_axis axis_at(const wide_link *link, uint32_t lane) {
    return (cairn_figure_axis){.mode = (uint32_t)((const int32_t *)&link->mode)[lane],
        .below = ((const float *)&link->below)[lane],
        .above = ((const float *)&link->above)[lane],
        .speed = ((const float *)&link->speed)[lane],
        .least = ((const float *)&link->least)[lane],
        .most = ((const float *)&link->most)[lane]};
}

static cairn_tree_dof dof_at(const wide_link *link, uint32_t lane) {
    return (cairn_tree_dof){.locked = ((const int32_t *)&link->locked)[lane] != 0 ? 1 : 0,
        .value = ((const float *)&link->axis_value)[lane],
        .force = ((const float *)&link->force)[lane],
        .reaction = ((const float *)&link->reaction)[lane]};
}

// What is true of each figure of a batch while it is solved.
typedef struct solving {
    figure_set now;       // to be solved
    figure_set again;     // have been
    figure_set weakening; // only motors are let go
    figure_set solve;     // of `now`: the solution changes
    uint32_t round[BATCH_FIGURES];
    float h;
    bool push_out;
} solving;

// The axes of lane l in one of the modes but the free one.
static void drive_axis(const figure_run *run, uint32_t g, uint32_t l, solving *by) {
    wide_link *link = &run->blocks[g];
    const cairn_figure_axis axis = axis_at(link, l);
    cairn_tree_dof dof = dof_at(link, l);
    cairn_axis_set_mode(&axis, &dof, by->h, by->push_out);
    LANE_BITS(link->locked, l) = dof.locked != 0 ? -1 : 0;
    LANE(link->axis_value, l) = dof.value;
    if (LANE(link->force, l) != dof.force) {
        by->solve.has[place_at(run, g, l)] = -1;
        LANE(link->force, l) = dof.force;
    }
}

// The figures of `now` that have no factors, which they get.
static figure_set take_fresh(const figure_run *run, const figure_set *now) {
    figure_set fresh;
    memset(&fresh, 0, sizeof fresh);
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        cairn_figure *figure = figure_at(run, i);
        if (now->has[i] != 0 && !figure->factored) {
            fresh.has[i] = -1;
            figure->factored = true;
        }
    }
    return fresh;
}

// Locks and forces, and which groups must be factored: those of figures that are not, and those
// whose locks changed.
static void set_modes(const figure_run *run, solving *by) {
    const figure_set fresh = take_fresh(run, &by->now);
    const set_in_order fresh_set = in_order(run, &fresh);
    const set_in_order now = in_order(run, &by->now);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const lanes_mask active = lanes_in(run, g, &now);
        const lanes_mask driven = active & mode_from(link, CAIRN_AXIS_FREE + 1);
        const lanes_mask before = link->locked;
        link->force = lanes_select(active, link->impulse, link->force);
        link->locked = before & ~active;
        for (uint32_t bits = lane_bits(driven) & live_bits(run, g); bits != 0; bits &= bits - 1) {
            drive_axis(run, g, lowest_bit(bits), by);
        }
        const lanes_mask stale =
            (link->locked ^ link->factored_locked) | lanes_in(run, g, &fresh_set);
        run->groups[g].stale = any_lane(stale & link->live) ? 1 : 0;
        add_figures(run, g, link->locked ^ before, &by->solve);
    }
    spread_stale(run);
}

static void solve_once(const figure_run *run, solving *by) {
    memset(&by->solve, 0, sizeof by->solve);
    set_modes(run, by);
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        cairn_figure *figure = figure_at(run, i);
        by->solve.has[i] |= by->again.has[i] | (figure->solved ? 0 : -1);
        by->solve.has[i] &= by->now.has[i];
        figure->solved = figure->solved && by->now.has[i] == 0;
    }
    if (set_any(run, &by->solve)) {
        solve_up(run);
        solve_down(run, &by->solve);
    }
}

// As limit_speed of figure.c.
static lanes limit_speed(lanes gap, lanes speed, bool push_out) {
    const lanes zero = lanes_all(0.0f);
    return push_out ? speed : lanes_select(lanes_less(gap, zero), zero, speed);
}

// Corrects the modes of figures of the set, and adds those in which one changed to `changed`.
static void correct_modes(
    const figure_run *run, const solving *by, const figure_set *set, figure_set *changed) {
    const lanes zero = lanes_all(0.0f);
    const lanes slack = lanes_all(1e-5f);
    const set_in_order corrected = in_order(run, set);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const lanes lower = zero - limit_speed(link->below, link->lower_speed, by->push_out);
        const lanes upper = limit_speed(link->above, link->upper_speed, by->push_out);
        const lanes_mask seen = mode_from(link, CAIRN_AXIS_FREE + 1) |
                                lanes_less(link->least, link->most) |
                                lanes_less(link->axis_value, lower - slack) |
                                lanes_less(upper + slack, link->axis_value);
        const lanes_mask mask = seen & lanes_in(run, g, &corrected);
        const uint32_t live = run->groups[g].root != 0 ? 0 : live_bits(run, g);
        for (uint32_t bits = lane_bits(mask) & live; bits != 0; bits &= bits - 1) {
            const uint32_t l = lowest_bit(bits);
            const cairn_figure_axis axis = axis_at(link, l);
            const cairn_tree_dof dof = dof_at(link, l);
            const uint32_t next = cairn_axis_next_mode(&axis, &dof, by->h, by->push_out);
            changed->has[place_at(run, g, l)] |= next != axis.mode ? -1 : 0;
            LANE_BITS(link->mode, l) = (int32_t)next;
        }
    }
}

static void weaken_motors(
    const figure_run *run, const solving *by, const figure_set *set, figure_set *changed) {
    const set_in_order weak = in_order(run, set);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const lanes_mask mask = mode_is(link, CAIRN_AXIS_HOLDS) & lanes_in(run, g, &weak);
        for (uint32_t bits = lane_bits(mask) & live_bits(run, g); bits != 0; bits &= bits - 1) {
            const uint32_t l = lowest_bit(bits);
            cairn_figure_axis axis = axis_at(link, l);
            const cairn_tree_dof dof = dof_at(link, l);
            if (cairn_axis_weaken(&axis, &dof, by->h)) {
                changed->has[place_at(run, g, l)] = -1;
                LANE_BITS(link->mode, l) = (int32_t)axis.mode;
            }
        }
    }
}

// Of the figures that were solved once more: whether that was their last time.
static void go_on(const figure_run *run, solving *by, uint32_t rounds) {
    figure_set correct;
    figure_set changed;
    figure_set weak;
    memset(&changed, 0, sizeof changed);
    memset(&weak, 0, sizeof weak);
    memset(&correct, 0, sizeof correct);
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        correct.has[i] =
            by->weakening.has[i] == 0 && by->round[i] + 1 < rounds ? by->now.has[i] : 0;
    }
    if (set_any(run, &correct)) {
        correct_modes(run, by, &correct, &changed);
    }
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        by->round[i] += 1;
        weak.has[i] = figure_at(run, i)->held ? by->now.has[i] & ~changed.has[i] : 0;
        by->weakening.has[i] |= by->now.has[i] & ~changed.has[i];
        by->again.has[i] |= by->now.has[i];
    }
    if (set_any(run, &weak)) {
        weaken_motors(run, by, &weak, &changed);
    }
    by->now = changed;
}

static void solve(const figure_run *run, const figure_set *wanted, uint32_t rounds, bool push_out) {
    solving by = {.now = *wanted, .h = run->h, .push_out = push_out};
    while (set_any(run, &by.now)) {
        solve_once(run, &by);
        go_on(run, &by, rounds);
    }
}

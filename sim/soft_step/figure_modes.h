// SPDX-License-Identifier: MIT
#pragma once

// Which motors, friction and limits of a batch act is tried, and corrected by what comes of it:
// cairn_axis_set_mode and cairn_axis_next_mode of sim/articulation/figure.c in lanes.

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

// As limit_speed of figure.c, from the speed to that limit.
static lanes limit_speed(lanes gap, lanes speed, bool push_out) {
    const lanes zero = lanes_all(0.0f);
    return push_out ? speed : lanes_select(lanes_less(gap, zero), zero, speed);
}

static lanes lower_speed_of(const wide_link *link, bool push_out) {
    return lanes_all(0.0f) - limit_speed(link->below, link->lower_speed, push_out);
}

static lanes upper_speed_of(const wide_link *link, bool push_out) {
    return limit_speed(link->above, link->upper_speed, push_out);
}

// Sets the axes that are in one of the modes but the free one. Returns those that are pushed.
static lanes_mask drive_axes(wide_link *link, lanes_mask driven, const solving *by) {
    const lanes zero = lanes_all(0.0f);
    const lanes h = lanes_all(by->h);
    const lanes lower = lower_speed_of(link, by->push_out);
    const lanes upper = upper_speed_of(link, by->push_out);
    const lanes_mask holds = driven & mode_is(link, CAIRN_AXIS_HOLDS);
    const lanes_mask at_lower = driven & mode_is(link, CAIRN_AXIS_AT_LOWER);
    const lanes_mask at_upper = driven & mode_is(link, CAIRN_AXIS_AT_UPPER);
    const lanes_mask up =
        mode_is(link, CAIRN_AXIS_PUSHES_UP) | (at_lower & lanes_less(lower, link->speed));
    const lanes_mask down =
        mode_is(link, CAIRN_AXIS_PUSHES_DOWN) | (at_upper & lanes_less(link->speed, upper));
    const lanes push = lanes_select(up, h * link->most, lanes_select(down, h * link->least, zero));
    const lanes force = lanes_select(driven & ~holds, link->force + push, link->force);
    const lanes_mask pushed = driven & lanes_differ(force, link->force);
    lanes value = lanes_select(holds, link->speed, link->axis_value);
    value = lanes_select(at_lower, lower, value);
    link->axis_value = lanes_select(at_upper, upper, value);
    link->locked |= holds | at_lower | at_upper;
    link->force = force;
    return pushed;
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
        if (any_lane(driven)) {
            add_figures(run, g, drive_axes(link, driven, by), &by->solve);
        }
        const lanes_mask stale =
            (link->locked ^ link->factored_locked) | lanes_in(run, g, &fresh_set);
        run->groups[g].stale = lane_bits(stale & link->live);
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

static lanes_mask mode_select(lanes_mask mask, lanes_mask yes, lanes_mask no) {
    return (mask & yes) | (~mask & no);
}

static lanes_mask mode_all(int32_t mode) {
    const lanes_mask none = {0};
    return none + mode;
}

// The modes that follow from what came of those that the axes are in.
static lanes_mask next_modes(const wide_link *link, lanes lower, lanes upper, lanes h) {
    const lanes zero = lanes_all(0.0f);
    const lanes slack = lanes_all(1e-5f);
    const lanes_mask free = mode_all(CAIRN_AXIS_FREE);
    const lanes_mask holds = mode_all(CAIRN_AXIS_HOLDS);
    const lanes_mask pushes_up = mode_all(CAIRN_AXIS_PUSHES_UP);
    const lanes_mask pushes_down = mode_all(CAIRN_AXIS_PUSHES_DOWN);
    const lanes_mask may_hold = lanes_less(link->least, link->most);
    const lanes_mask up =
        may_hold & mode_select(lanes_less(zero, link->speed), pushes_up, pushes_down);
    const lanes_mask down =
        may_hold & mode_select(lanes_less(link->speed, zero), pushes_down, pushes_up);
    const lanes_mask holding = mode_is(link, CAIRN_AXIS_HOLDS);
    const lanes_mask passes_speed =
        (mode_is(link, CAIRN_AXIS_PUSHES_UP) & lanes_less(link->speed, link->axis_value)) |
        (mode_is(link, CAIRN_AXIS_PUSHES_DOWN) & lanes_less(link->axis_value, link->speed));
    const lanes own_lower = lanes_select(lanes_less(lower, link->speed), zero, h * link->least);
    const lanes own_upper = lanes_select(lanes_less(link->speed, upper), zero, h * link->most);
    lanes_mask next = mode_select(mode_from(link, CAIRN_AXIS_PUSHES_UP), link->mode,
        mode_select(holding | may_hold, holds, free));
    next = mode_select(passes_speed, holds, next);
    next = mode_select(
        lanes_less(upper + slack, link->axis_value), mode_all(CAIRN_AXIS_AT_UPPER), next);
    next = mode_select(
        lanes_less(link->axis_value, lower - slack), mode_all(CAIRN_AXIS_AT_LOWER), next);
    next = mode_select(holding & lanes_less(link->reaction, h * link->least), pushes_down, next);
    next = mode_select(holding & lanes_less(h * link->most, link->reaction), pushes_up, next);
    next = mode_select(mode_is(link, CAIRN_AXIS_AT_UPPER),
        mode_select(lanes_less(own_upper, link->reaction), down, mode_all(CAIRN_AXIS_AT_UPPER)),
        next);
    return mode_select(mode_is(link, CAIRN_AXIS_AT_LOWER),
        mode_select(lanes_less(link->reaction, own_lower), up, mode_all(CAIRN_AXIS_AT_LOWER)),
        next);
}

// Corrects the modes of figures of the set, and adds those in which one changed to `changed`.
static void correct_modes(
    const figure_run *run, const solving *by, const figure_set *set, figure_set *changed) {
    const lanes slack = lanes_all(1e-5f);
    const set_in_order corrected = in_order(run, set);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const lanes lower = lower_speed_of(link, by->push_out);
        const lanes upper = upper_speed_of(link, by->push_out);
        const lanes_mask seen = mode_from(link, CAIRN_AXIS_FREE + 1) |
                                lanes_less(link->least, link->most) |
                                lanes_less(link->axis_value, lower - slack) |
                                lanes_less(upper + slack, link->axis_value);
        const lanes_mask mask = seen & lanes_in(run, g, &corrected);
        if (run->groups[g].root == 0 && any_lane(mask)) {
            const lanes_mask next =
                mode_select(mask, next_modes(link, lower, upper, lanes_all(by->h)), link->mode);
            add_figures(run, g, mode_differs(next, link->mode), changed);
            link->mode = next;
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

// SPDX-License-Identifier: MIT

// The parts of a step of sim/soft_step/articulations.c, of figures of single axes, in lanes. Each
// lane computes what that file and sim/articulation compute for a link, in the same order.

#include "sim/soft_step/figure_load.h"
#include "sim/soft_step/figure_modes.h"

#include "sim/state/hash_cache.h"

// As in articulations.c.
#define ROUNDS_FIRST 4
#define ROUNDS 3

// Writes the velocities of a group to the solver's bodies; `first`: also as those without impulses,
// which joints read.
static void write_group(const figure_run *run, uint32_t g, bool first) {
    cairn_soft_step *soft_step = run->world->soft_step;
    const wide_link *link = &run->blocks[g];
    const lanes3 v = link->linear_velocity;
    const lanes3 w = link->angular_velocity;
    const lanes row[CAIRN_ROW_FLOATS] = {
        v.x, v.y, v.z, link->solver_inverse_mass, w.x, w.y, w.z, lanes_all(0.0f)};
    float unused[CAIRN_ROW_FLOATS];
    float *rows[CAIRN_LANES];
    float *free_rows[CAIRN_LANES];
    for (uint32_t l = 0; l < CAIRN_LANES; ++l) {
        const uint32_t body = solver_body_at(run, g, l);
        const bool live = l < run->groups[g].live;
        rows[l] = live ? soft_step->bodies[body].linear_velocity : unused;
        free_rows[l] = live ? soft_step->integration[body].unconstrained_velocity : unused;
    }
    lanes_scatter_rows(row, rows);
    if (first && soft_step->joint_graph.edge_count > 0) {
        lanes_scatter_rows(row, free_rows);
    }
}

static void read_velocities(const figure_run *run) {
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const lanes3 w = link->value.angular;
        link->linear_velocity = spatial_lanes_velocity_at(link->value, link->tree_position);
        link->angular_velocity = w;
        link->spin_square = lanes3_dot(w, w);
    }
}

// Writes the velocities that something may read; `first`: also as those without impulses.
static void write_velocities(const figure_run *run, bool first) {
    for (uint32_t g = 0; g < run->count; ++g) {
        if (run->groups[g].read != 0) {
            write_group(run, g, first);
        }
    }
}

// ---- Pushes

static void push_links(wide_link *link, lanes_mask mask, lanes3 force, lanes3 torque) {
    link->bias = spatial_lanes_select(mask,
        spatial_lanes_sub(link->bias, spatial_lanes_of_force(link->tree_position, force, torque)),
        link->bias);
}

static lanes_mask is_zero3(lanes3 v) {
    const lanes zero = lanes_all(0.0f);
    return ~(lanes_less(v.x, zero) | lanes_less(zero, v.x) | lanes_less(v.y, zero) |
             lanes_less(zero, v.y) | lanes_less(v.z, zero) | lanes_less(zero, v.z));
}

static void load_rows_of(const figure_run *run, uint32_t g, bool relax, lanes *out) {
    const cairn_soft_step *soft_step = run->world->soft_step;
    const float *rows[CAIRN_LANES];
    for (uint32_t l = 0; l < CAIRN_LANES; ++l) {
        const uint32_t body = solver_body_at(run, g, l);
        rows[l] = relax ? soft_step->integration[body].relax_change
                        : soft_step->bodies[body].linear_velocity;
    }
    lanes_load_rows(rows, out);
}

// What the solver's impulses have changed since the velocities were written is an impulse on each
// link. Adds the figures that have any to the set.
static void take_pushes(const figure_run *run, bool after_joints, figure_set *set) {
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        lanes now[CAIRN_ROW_FLOATS];
        if (run->groups[g].read == 0) {
            continue;
        }
        load_rows_of(run, g, false, now);
        lanes3 linear = lanes3_sub(lanes3_of(now[0], now[1], now[2]), link->linear_velocity);
        lanes3 angular = lanes3_sub(lanes3_of(now[4], now[5], now[6]), link->angular_velocity);
        const lanes_mask pushed = ~(is_zero3(linear) & is_zero3(angular));
        if (!any_lane(pushed)) {
            continue;
        }
        add_figures(run, g, pushed, set);
        push_links(link, pushed, lanes3_scale(linear, link->solver_mass),
            lanes_sym3_apply(link->solver_inertia, angular));
        if (after_joints) {
            lanes change[CAIRN_ROW_FLOATS];
            load_rows_of(run, g, true, change);
            linear = lanes3_sub(linear, lanes3_of(change[0], change[1], change[2]));
            angular = lanes3_sub(angular, lanes3_of(change[4], change[5], change[6]));
        }
        link->push = lanes3_select(
            pushed, lanes3_add_scaled(link->push, linear, link->solver_mass), link->push);
        link->twist = lanes3_select(pushed,
            lanes3_add(link->twist, lanes_sym3_apply(link->solver_inertia, angular)), link->twist);
    }
}

// Forces and damping, and the pushes of the last substep. Adds the figures that have any.
static void push_by_forces(const figure_run *run, uint32_t g, figure_set *set) {
    wide_link *link = &run->blocks[g];
    const lanes3 more = lanes3_add_scaled(
        link->change, lanes3_add(link->linear_velocity, link->fall), link->linear_damped);
    const lanes3 turn =
        lanes3_add_scaled(link->turn_change, link->angular_velocity, link->angular_damped);
    const lanes3 force = lanes3_add_scaled(link->push, more, link->mass);
    const lanes_mask pushed = ~(is_zero3(force) & is_zero3(turn) & is_zero3(link->twist));
    if (any_lane(pushed)) {
        add_figures(run, g, pushed, set);
        push_links(link, pushed, force,
            lanes3_add(link->twist, lanes_sym3_apply(link->world_inertia, turn)));
    }
}

static void set_impulses(
    const figure_run *run, uint32_t g, figure_set *pulled, figure_set *sprung) {
    const lanes zero = lanes_all(0.0f);
    const lanes h = lanes_all(run->h);
    wide_link *link = &run->blocks[g];
    const lanes spring = h * (link->rate + h * link->stiffness);
    link->tree_armature = link->armature + spring;
    link->impulse = link->armature * link->axis_rotor + h * link->pull;
    add_figures(run, g, lanes_less(zero, spring), sprung);
    add_figures(run, g, lanes_less(link->pull, zero) | lanes_less(zero, link->pull), pulled);
}

// ---- The parts of a step

// Half way: poses, the tree, and what of the carried momentum is to be projected.
static void go_half_way(const figure_run *run) {
    const figure_set fast = set_of_fast(run);
    const bool any_fast = set_any(run, &fast);
    const set_in_order fast_set = in_order(run, &fast);
    const float ahead = 0.5f * run->h;
    float of_base[BATCH_FIGURES][BASE_NUMBERS];
    move_bases(run, ahead);
    list_bases(run, of_base);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        link->momentum = lanes3_add_scaled(link->momentum, link->fall, link->mass);
        link->start = link->position;
        if (run->groups[g].root != 0) {
            run->roots[g].start_rotation = link->rotation;
            place_root(run, g, ahead);
        }
    }
    place_links(run, ahead, of_base[0]);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        set_tree(run, g, true);
        set_bias(link, lanes_in(run, g, &fast_set), any_fast);
        lock_still(link, lanes_all(run->h));
    }
    finish_biases(run, &fast);
}

// What the joints did not allow is set aside, and then forces act.
static void push_projected(const figure_run *run) {
    const figure_set guarded = set_of_guarded(run);
    const bool guards = set_any(run, &guarded);
    const vectors_in_order means = list_means(run);
    figure_set pushed;
    figure_set sprung;
    memset(&pushed, 0, sizeof pushed);
    memset(&sprung, 0, sizeof sprung);
    for (uint32_t g = 0; g < run->count; ++g) {
        set_aside(&run->blocks[g]);
        if (guards) {
            set_guard_terms(run, g, &means);
        }
        push_by_forces(run, g, &pushed);
        set_impulses(run, g, &pushed, &sprung);
    }
    if (guards) {
        guard_energies(run, &guarded);
    }
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        cairn_figure *figure = figure_at(run, i);
        figure->started = true;
        figure->factored = sprung.has[i] == 0;
        figure->solved = pushed.has[i] == 0 && figure->factored;
    }
}

// A substep up to the sweeps.
static void begin_links(const figure_run *run) {
    const figure_set all = set_all();
    go_half_way(run);
    solve_all(run);
    push_projected(run);
    solve(run, &all, ROUNDS_FIRST, true);
    read_velocities(run);
}

static void begin(cairn_world *world, cairn_figure_batch *batch) {
    const figure_run run = run_of(world, batch);
    if (!figure_at(&run, 0)->started) {
        start(&run);
        begin_links(&run);
    } else if (!batch->ahead) {
        carry(&run);
        begin_links(&run);
    }
    batch->ahead = false;
    write_velocities(&run, true);
}

// Solves what was pushed. Returns whether anything was.
static bool solve_pushes(const figure_run *run, figure_set *pushed, bool push_out) {
    if (!set_any(run, pushed)) {
        return false;
    }
    solve(run, pushed, ROUNDS, push_out);
    read_velocities(run);
    return true;
}

// `impacts`: the new velocities are the unconstrained ones as well.
static void spread_pushes(
    cairn_world *world, cairn_figure_batch *batch, bool after_joints, bool push_out, bool impacts) {
    const figure_run run = run_of(world, batch);
    figure_set pushed;
    memset(&pushed, 0, sizeof pushed);
    take_pushes(&run, after_joints, &pushed);
    if (solve_pushes(&run, &pushed, push_out)) {
        write_velocities(&run, impacts);
    }
}

static void spread(cairn_world *world, cairn_figure_batch *batch) {
    spread_pushes(world, batch, false, true, false);
}

static void spread_impacts(cairn_world *world, cairn_figure_batch *batch) {
    spread_pushes(world, batch, false, true, true);
}

static void spread_joints(cairn_world *world, cairn_figure_batch *batch) {
    spread_pushes(world, batch, world->soft_step->joint_graph.edge_count > 0, false, false);
}

// After contacts were relaxed.
static void relax_links(const figure_run *run) {
    figure_set pushed;
    memset(&pushed, 0, sizeof pushed);
    take_pushes(run, false, &pushed);
    for (uint32_t g = 0; g < run->count; ++g) {
        add_figures(run, g, mode_from(&run->blocks[g], CAIRN_AXIS_AT_LOWER), &pushed);
    }
    (void)solve_pushes(run, &pushed, false);
}

// The next substep begins at once, while the batch is in the CPU's cache: nothing comes between
// that a link sees, and nothing sees a link. A trace does.
static void relax(cairn_world *world, cairn_figure_batch *batch) {
    const figure_run run = run_of(world, batch);
    relax_links(&run);
    if (cairn_traced(world)) {
        write_velocities(&run, false);
        return;
    }
    carry(&run);
    begin_links(&run);
    batch->ahead = true;
}

static void relax_last(cairn_world *world, cairn_figure_batch *batch) {
    const figure_run run = run_of(world, batch);
    relax_links(&run);
    write_velocities(&run, false);
}

// A figure that floats moves on as its momentum does.
static void place_centres(const figure_run *run) {
    const size_t offsets[4] = {offsetof(wide_link, term[0]), offsetof(wide_link, term[1]),
        offsetof(wide_link, term[2]), offsetof(wide_link, mass)};
    float sums[4][BATCH_FIGURES];
    float back[BATCH_FIGURES][3];
    memset(sums, 0, sizeof sums);
    memset(back, 0, sizeof back);
    add_up(run, offsets, 4, sums);
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        const bool floats = figure_at(run, i)->base == CAIRN_INDEX_NONE;
        for (uint32_t k = 0; k < 3; ++k) {
            back[i][k] = floats ? sums[k][i] * (1.0f / sums[3][i]) : 0.0f;
        }
    }
    const numbers_in_order x = numbers_of(run, &back[0][0], 3);
    const numbers_in_order y = numbers_of(run, &back[0][1], 3);
    const numbers_in_order z = numbers_of(run, &back[0][2], 3);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        link->position = lanes3_sub(
            link->position, lanes3_of(lanes_by_figure(run, g, &x), lanes_by_figure(run, g, &y),
                                lanes_by_figure(run, g, &z)));
    }
}

// What forces did on the speeds, less what they did on the way.
static void set_excesses(const figure_run *run) {
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        cairn_figure *figure = figure_at(run, i);
        figure->excess = 0.0f;
        if (figure->base == CAIRN_INDEX_NONE || base_moves(figure)) {
            continue;
        }
        for (uint32_t k = 0; k < figure->tree.link_count; ++k) {
            float numbers[4][3];
            read_numbers(run, figure, k, offsetof(wide_link, position), 3, numbers[0]);
            read_numbers(run, figure, k, offsetof(wide_link, start), 3, numbers[1]);
            read_numbers(run, figure, k, offsetof(wide_link, linear_velocity), 3, numbers[2]);
            read_numbers(run, figure, k, offsetof(wide_link, fall), 3, numbers[3]);
            const cairn_vec3 way = vec3_sub(vec3_at(numbers[0]), vec3_at(numbers[1]));
            const cairn_vec3 more = vec3_sub_scaled(vec3_at(numbers[2]), way, 1.0f / run->h);
            const float mass = *number_of(run, figure, k, offsetof(wide_link, mass));
            figure->excess += mass * vec3_dot(vec3_at(numbers[3]), more);
        }
    }
}

static void write_delta(const figure_run *run, uint32_t g) {
    cairn_soft_step *soft_step = run->world->soft_step;
    const lanes zero = lanes_all(0.0f);
    const wide_link *link = &run->blocks[g];
    const lanes3 moved = lanes3_sub(lanes3_add(link->position, link->origin), link->step_position);
    const lanes3 turned = vector_of_quat_lanes(
        quat_lanes_multiply(link->rotation, quat_lanes_conjugate(link->step_rotation)));
    const lanes row[CAIRN_ROW_FLOATS] = {
        moved.x, moved.y, moved.z, zero, turned.x, turned.y, turned.z, zero};
    float unused[CAIRN_ROW_FLOATS];
    float *rows[CAIRN_LANES];
    for (uint32_t l = 0; l < CAIRN_LANES; ++l) {
        rows[l] = l < run->groups[g].live
                      ? soft_step->bodies[solver_body_at(run, g, l)].delta_position
                      : unused;
    }
    lanes_scatter_rows(row, rows);
}

static void advance_joint(wide_link *link, lanes h) {
    const lanes zero = lanes_all(0.0f);
    set_spin(link);
    const lanes_quat turn = quat_lanes_integrate(
        (lanes_quat){link->turn_x, zero, zero, link->turn_w}, lanes3_of(link->spin, zero, zero), h);
    link->turn_x = lanes_select(link->turns, turn.x, link->turn_x);
    link->turn_w = lanes_select(link->turns, turn.w, link->turn_w);
    link->travel = lanes_select(link->slides, link->travel + h * link->spin, link->travel);
    link->below += h * link->axis_value;
    link->above -= h * link->axis_value;
    set_limit_speeds(link, h);
}

// What place_centres adds up.
static void set_way_terms(wide_link *link, lanes h) {
    const lanes3 way = lanes3_sub(link->position, link->start);
    const lanes3 wrong = lanes3_scale(lanes3_sub_scaled(way, link->linear_velocity, h), link->mass);
    link->term[0] = wrong.x;
    link->term[1] = wrong.y;
    link->term[2] = wrong.z;
}

static void advance_links(const figure_run *run) {
    float of_base[BATCH_FIGURES][BASE_NUMBERS];
    move_bases(run, 0.0f);
    list_bases(run, of_base);
    for (uint32_t g = 0; g < run->count; ++g) {
        if (run->groups[g].root != 0) {
            place_root(run, g, run->h);
        } else {
            advance_joint(&run->blocks[g], lanes_all(run->h));
        }
    }
    place_links(run, 0.0f, of_base[0]);
    for (uint32_t g = 0; g < run->count; ++g) {
        set_way_terms(&run->blocks[g], lanes_all(run->h));
    }
    place_centres(run);
    set_excesses(run);
}

static bool any_base_moves(const figure_run *run) {
    bool any = false;
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        any = any || base_moves(figure_at(run, i));
    }
    return any;
}

// Links advance at once, as in relax, unless their base has to advance before them.
static void spread_biased(cairn_world *world, cairn_figure_batch *batch) {
    const figure_run run = run_of(world, batch);
    figure_set pushed;
    memset(&pushed, 0, sizeof pushed);
    take_pushes(&run, false, &pushed);
    const bool changed = solve_pushes(&run, &pushed, true);
    if (changed && cairn_traced(world)) {
        write_velocities(&run, false);
    }
    if (!cairn_traced(world) && !any_base_moves(&run)) {
        advance_links(&run);
        batch->ahead = true;
    }
}

static void advance(cairn_world *world, cairn_figure_batch *batch) {
    const figure_run run = run_of(world, batch);
    if (!batch->ahead) {
        advance_links(&run);
    }
    batch->ahead = false;
    for (uint32_t g = 0; g < run.count; ++g) {
        if (run.groups[g].read != 0) {
            write_delta(&run, g);
            write_group(&run, g, false);
        }
    }
}

// ---- The end of a step

static float finite_number(float value) {
    return float_finite(value) ? value + 0.0f : 0.0f;
}

static cairn_vec3 finite3(cairn_vec3 value) {
    return vec3(finite_number(value.x), finite_number(value.y), finite_number(value.z));
}

static void store_reaction(const figure_run *run, uint32_t g, uint32_t l, lanes3 torque) {
    wide_link *link = &run->blocks[g];
    const uint32_t index = run->wide->drives[lane_index(run, g, l)];
    cairn_joint_drive *drive = &run->world->state.joint_drives[index];
    const int32_t moves = LANE_BITS(link->turns, l) | LANE_BITS(link->slides, l);
    drive->reaction_force = finite3(take3(&link->pending.linear, l));
    drive->reaction_torque = finite3(take3(&torque, l));
    if (moves != 0) {
        const cairn_tree_dof dof = dof_at(link, l);
        drive->impulses[0] = dof.locked != 0 ? finite_number(dof.reaction) : 0.0f;
        drive->impulses[3] = (float)((const int32_t *)&link->mode)[l];
    }
    cairn_hash_cache_mark(run->world, CAIRN_ARRAY_JOINT_DRIVES, index);
}

// Adds what the links below need to that of each.
static void add_pending(const figure_run *run) {
    for (uint32_t s = run->step_count; s > 0; --s) {
        const cairn_figure_step *step = &run->steps[s - 1];
        if (step->shared == 0) {
            const spatial_lanes sum = take_pending(run, s - 1, run->blocks[step->group].pending);
            store_step(run, s - 1, offsetof(wide_link, pending), 6, (const lanes *)&sum);
        }
        if (step->adds != 0) {
            add_above(run, s - 1, offsetof(wide_link, pending), 6, false);
        }
    }
}

// What each joint exerts on its link: all that the links from it on need beside their pushes.
static void store_reactions(const figure_run *run) {
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const spatial_lanes needed =
            spatial_lanes_add(link->bias, inertia_lanes_apply(&link->inertia, link->value));
        link->pending = spatial_lanes_sub(needed, link->aside);
    }
    add_pending(run);
    for (uint32_t g = 0; g < run->count; ++g) {
        const wide_link *link = &run->blocks[g];
        if (run->groups[g].root != 0) {
            continue;
        }
        const lanes3 anchor =
            lanes3_add(link->position, quat_lanes_rotate(link->rotation, link->arm_b));
        const lanes3 torque =
            lanes3_sub(link->pending.angular, lanes3_cross(anchor, link->pending.linear));
        for (uint32_t l = 0; l < run->groups[g].live; ++l) {
            store_reaction(run, g, l, torque);
        }
    }
}

static void finish(cairn_world *world, cairn_figure_batch *batch) {
    const figure_run run = run_of(world, batch);
    figure_set pushed;
    memset(&pushed, 0, sizeof pushed);
    take_pushes(&run, false, &pushed);
    (void)solve_pushes(&run, &pushed, false);
    store_reactions(&run);
    carry(&run);
    for (uint32_t g = 0; g < run.count; ++g) {
        set_tree(&run, g, false);
    }
    set_biases(&run);
    for (uint32_t g = 0; g < run.count; ++g) {
        wide_link *link = &run.blocks[g];
        link->force = link->tree_armature * link->axis_rotor;
        write_delta(&run, g);
    }
    solve_all(&run);
    read_velocities(&run);
    for (uint32_t g = 0; g < run.count; ++g) {
        write_group(&run, g, false);
    }
}

static lanes3 clean(lanes3 v) {
    const lanes zero = lanes_all(0.0f);
    return lanes3_of(v.x + zero, v.y + zero, v.z + zero);
}

// The poses of valid bodies, and that they moved as the solver says: nothing sweeps them.
static void store(cairn_world *world, cairn_figure_batch *batch) {
    const figure_run run = run_of(world, batch);
    const lanes zero = lanes_all(0.0f);
    for (uint32_t g = 0; g < run.count; ++g) {
        const wide_link *link = &run.blocks[g];
        const lanes3 position = clean(lanes3_add(link->position, link->origin));
        const lanes_quat q = {link->rotation.x + zero, link->rotation.y + zero,
            link->rotation.z + zero, link->rotation.w + zero};
        const lanes3 origin = clean(lanes3_sub(position, quat_lanes_rotate(q, link->centre)));
        const lanes row[CAIRN_ROW_FLOATS] = {
            origin.x, origin.y, origin.z, position.x, position.y, position.z, q.x, q.y};
        float unused[CAIRN_ROW_FLOATS];
        float *rows[CAIRN_LANES];
        for (uint32_t l = 0; l < CAIRN_LANES; ++l) {
            unsigned char *outcome = &world->soft_step->outcome[solver_body_at(&run, g, l)];
            cairn_motion *motion = &world->state.motions[run.wide->slots[lane_index(&run, g, l)]];
            *outcome = (unsigned char)(*outcome & ~CAIRN_OUTCOME_STRAYED);
            const bool valid = l < run.groups[g].live && (*outcome & CAIRN_OUTCOME_INVALID) == 0;
            rows[l] = valid ? (float *)motion : unused;
            if (valid) {
                motion->rotation.z = ((const float *)&q.z)[l];
                motion->rotation.w = ((const float *)&q.w)[l];
            }
        }
        lanes_scatter_rows(row, rows);
    }
}

extern const cairn_figure_kernel CAIRN_KERNEL(figure);
const cairn_figure_kernel CAIRN_KERNEL(figure) = {
    .lanes = CAIRN_LANES,
    .block_size = sizeof(wide_link),
    .root_size = sizeof(wide_root),
    .load = load,
    .begin = begin,
    .spread = spread,
    .spread_impacts = spread_impacts,
    .spread_biased = spread_biased,
    .advance = advance,
    .spread_joints = spread_joints,
    .relax = relax,
    .relax_last = relax_last,
    .finish = finish,
    .store = store,
};

// SPDX-License-Identifier: MIT
#pragma once

// How the links of a batch move while nothing pushes them: sim/articulation/free_motion.c in lanes,
// and the poses and the tree of sim/articulation/figure.c.

#include "sim/articulation/free_motion.h"
#include "sim/soft_step/figure_tree.h"

// As in figure.c and free_motion.c.
#define FAR 1e30f
#define STILL 1e-5f
#define PUSH_SPEED 4.0f

// ---- Poses

// A figure's base, as load_above reads it: rotation, position.
static void list_bases(const figure_run *run, float (*of_base)[BASE_NUMBERS]) {
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        const cairn_figure *figure = figure_at(run, i);
        memcpy(of_base[i], &figure->base_rotation, 4 * sizeof(float));
        memcpy(of_base[i] + 4, &figure->base_position, 3 * sizeof(float));
    }
}

_Static_assert(offsetof(wide_link, position) == offsetof(wide_link, rotation) + sizeof(lanes_quat),
    "a pose is read as seven numbers");

typedef struct pose_lanes {
    lanes_quat rotation;
    lanes3 position;
} pose_lanes;

typedef struct placed_lanes {
    lanes3 axis;
    lanes3 anchor;
    lanes_quat rotation;
    lanes3 position;
} placed_lanes;

INLINE placed_lanes place_link(
    const wide_link *link, pose_lanes parent, lanes ahead, bool is_ahead) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes_quat a = quat_lanes_multiply(parent.rotation, link->frame_a);
    placed_lanes out;
    lanes x = link->turn_x;
    lanes w = link->turn_w;
    if (is_ahead) {
        const lanes_quat by = quat_lanes_normalize(
            (lanes_quat){link->spin * ahead * lanes_all(0.5f), zero, zero, one});
        x = lanes_select(link->turns, by.w * link->turn_x + by.x * link->turn_w, x);
        w = lanes_select(link->turns, by.w * link->turn_w - by.x * link->turn_x, w);
    }
    const lanes travel = link->travel + lanes_select(link->slides, ahead * link->spin, zero);
    const lanes3 from =
        lanes3_add(parent.position, quat_lanes_rotate(parent.rotation, link->arm_a));
    out.axis = quat_lanes_x_axis(a);
    out.anchor = lanes3_add_scaled(from, out.axis, travel);
    out.rotation =
        quat_lanes_normalize(quat_lanes_multiply(quat_lanes_twist(a, x, w), link->back_b));
    out.position = lanes3_sub(out.anchor, quat_lanes_rotate(out.rotation, link->arm_b));
    return out;
}

static void place_root(const figure_run *run, uint32_t group, float ahead) {
    wide_link *link = &run->blocks[group];
    link->position = lanes3_add_scaled(link->start, link->linear_velocity, lanes_all(ahead));
    link->rotation = quat_lanes_integrate(
        run->roots[group].start_rotation, link->angular_velocity, lanes_all(ahead));
}

INLINE pose_lanes pose_above(const figure_run *run, uint32_t step, const float *of_base) {
    const cairn_figure_step *own = &run->steps[step];
    pose_lanes pose;
    if (own->above != CAIRN_INDEX_NONE) {
        const wide_link *above = &run->blocks[own->above];
        return (pose_lanes){above->rotation, above->position};
    }
    load_above(run, step, offsetof(wide_link, rotation), 7, of_base, (lanes *)&pose);
    return pose;
}

static void place_step(const figure_run *run, uint32_t step, float ahead, const float *of_base) {
    const cairn_figure_step *own = &run->steps[step];
    wide_link *link = &run->blocks[own->group];
    const pose_lanes parent = pose_above(run, step, of_base);
    const placed_lanes placed = place_link(link, parent, lanes_all(ahead), ahead != 0.0f);
    if (own->whole != 0) {
        link->axis = placed.axis;
        link->anchor = placed.anchor;
        link->rotation = placed.rotation;
        link->position = placed.position;
    } else {
        const lanes_mask mask = lanes_of_step(run, step);
        link->axis = lanes3_select(mask, placed.axis, link->axis);
        link->anchor = lanes3_select(mask, placed.anchor, link->anchor);
        link->rotation = quat_lanes_select(mask, placed.rotation, link->rotation);
        link->position = lanes3_select(mask, placed.position, link->position);
    }
}

// Places the links that have a joint; of_base as list_bases writes it.
static void place_links(const figure_run *run, float ahead, const float *of_base) {
    for (uint32_t s = 0; s < run->step_count; ++s) {
        if (run->steps[s].root == 0) {
            place_step(run, s, ahead, of_base);
        }
    }
}

static void move_bases(const figure_run *run, float ahead) {
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        cairn_articulations_move_base(run->world, figure_at(run, i), ahead);
    }
}

// ---- The tree at the present pose

static void set_limit_speeds(wide_link *link, lanes h) {
    const lanes least = lanes_all(0.0f) - lanes_all(PUSH_SPEED) * h;
    link->lower_speed = lanes_max(link->below, least) / h;
    link->upper_speed = lanes_max(link->above, least) / h;
}

static void set_axis(wide_link *link) {
    link->along.angular = lanes3_select(link->turns, link->axis, lanes3_zero());
    link->along.linear = lanes3_select(link->turns, lanes3_cross(link->anchor, link->axis),
        lanes3_select(link->slides, link->axis, lanes3_zero()));
    link->tree_armature = link->armature;
}

static void set_drive(wide_link *link, lanes h) {
    const lanes zero = lanes_all(0.0f);
    const lanes angle = lanes_wrapped(lanes_all(2.0f) * lanes_atan2(link->turn_x, link->turn_w));
    const lanes position =
        lanes_select(link->read, lanes_select(link->slides, link->travel, angle), zero);
    const lanes error = position - link->target;
    const lanes pull =
        zero - link->stiffness * lanes_select(link->slides, error, lanes_wrapped(error));
    const lanes middle = lanes_all(0.5f) * (link->lower + link->upper);
    const lanes near =
        lanes_select(link->slides, position, middle + lanes_wrapped(position - middle));
    link->pull = pull + link->torque;
    link->below = lanes_select(link->limited, near - link->lower, lanes_all(FAR));
    link->above = lanes_select(link->limited, link->upper - near, lanes_all(FAR));
    set_limit_speeds(link, h);
}

static void set_root_axes(const wide_link *link, wide_root *root) {
    for (uint32_t i = 0; i < 3; ++i) {
        const lanes3 axis = lanes3_of(lanes_all(i == 0 ? 1.0f : 0.0f),
            lanes_all(i == 1 ? 1.0f : 0.0f), lanes_all(i == 2 ? 1.0f : 0.0f));
        root->along[i] = (spatial_lanes){axis, lanes3_cross(link->position, axis)};
        root->along[3 + i] = (spatial_lanes){lanes3_zero(), axis};
    }
}

// `drives`: and what drives and limits the axes.
static void set_tree(const figure_run *run, uint32_t group, bool drives) {
    wide_link *link = &run->blocks[group];
    const lanes_quat q = link->rotation;
    link->tree_position = link->position;
    link->tree_rotation = q;
    link->inertia = inertia_lanes_of(link->mass, link->position,
        lanes_sym3_rotate(link->own_inertia, lanes_mat3_of_quat(q.x, q.y, q.z, q.w)));
    if (run->groups[group].root != 0) {
        set_root_axes(link, &run->roots[group]);
    } else {
        set_axis(link);
        if (drives) {
            set_drive(link, lanes_all(run->h));
        }
    }
}

// ---- Free motion

// Numbers of the links of a figure that a sum adds in their order.
static const float *number_of(
    const figure_run *run, const cairn_figure *figure, uint32_t index, size_t offset) {
    const uint32_t link = (uint32_t)(figure->links - run->forest->links) + index;
    const uint32_t lane = run->wide->lane_of[link] - run->first_lane;
    return (const float *)(const void *)((const char *)&run->blocks[lane / CAIRN_LANES] + offset) +
           lane % CAIRN_LANES;
}

#define ADDED_MAX 16

// Adds numbers of the links of each figure to `sums`, in the order of the links. From -0 on, a sum
// has the bits of one that begins with the first link.
static void add_numbers(
    const figure_run *run, const size_t *offsets, uint32_t count, float (*sums)[BATCH_FIGURES]) {
    CAIRN_ASSERT(count <= ADDED_MAX);
    for (uint32_t place = 0; place < run->batch->figure_count; ++place) {
        const cairn_figure *figure = figure_at(run, place);
        for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
            const float *numbers = number_of(run, figure, i, 0);
            for (uint32_t k = 0; k < count; ++k) {
                sums[k][place] += numbers[offsets[k] / sizeof(float)];
            }
        }
    }
}

// The block that has a link of each figure of an aligned batch.
static const wide_link *block_of_link(const figure_run *run, uint32_t index) {
    const uint32_t first = (uint32_t)(figure_at(run, 0)->links - run->forest->links);
    return &run->blocks[(run->wide->lane_of[first + index] - run->first_lane) / CAIRN_LANES];
}

static void add_numbers_aligned(
    const figure_run *run, const size_t *offsets, uint32_t count, float (*sums)[BATCH_FIGURES]) {
    const uint32_t links = figure_at(run, 0)->tree.link_count;
    lanes all[ADDED_MAX];
    CAIRN_ASSERT(count <= ADDED_MAX);
    for (uint32_t k = 0; k < count; ++k) {
        memcpy(&all[k], sums[k], sizeof all[k]);
    }
    for (uint32_t i = 0; i < links; ++i) {
        const char *block = (const char *)block_of_link(run, i);
        for (uint32_t k = 0; k < count; ++k) {
            all[k] += *(const lanes *)(const void *)(block + offsets[k]);
        }
    }
    for (uint32_t k = 0; k < count; ++k) {
        memcpy(sums[k], &all[k], sizeof all[k]);
    }
}

static void add_up(
    const figure_run *run, const size_t *offsets, uint32_t count, float (*sums)[BATCH_FIGURES]) {
    if (run->batch->aligned) {
        add_numbers_aligned(run, offsets, count, sums);
    } else {
        add_numbers(run, offsets, count, sums);
    }
}

static figure_set set_of_fast(const figure_run *run) {
    figure_set set;
    memset(&set, 0, sizeof set);
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        set.has[i] = figure_at(run, i)->fast ? -1 : 0;
    }
    return set;
}

static lanes turning_energy(const wide_link *link, lanes_quat rotation, lanes3 l) {
    const lanes3 own = quat_lanes_rotate_inverse(rotation, l);
    return lanes3_dot(own, lanes_sym3_apply(link->inverse_inertia, own));
}

// All links of a figure as one body that has their momentum, and what keeps its energy.
typedef struct kept_motion {
    float all[6];
    float mean[6];
    float scale;
} kept_motion;

static void read_numbers(const figure_run *run, const cairn_figure *figure, uint32_t index,
    size_t offset, uint32_t count, float *out) {
    const float *from = number_of(run, figure, index, offset);
    for (uint32_t k = 0; k < count; ++k) {
        out[k] = from[k * CAIRN_LANES];
    }
}

_Static_assert(sizeof(cairn_spatial_inertia) == 10 * sizeof(float), "read as numbers");
_Static_assert(sizeof(inertia_lanes) == 10 * sizeof(lanes), "read as numbers");

// What keep_energies adds up: of the links' energies, and of all as one body.
enum { KEPT_LINEAR, KEPT_BEFORE, KEPT_TURNING, KEPT_ENERGIES };
enum { KEPT_INERTIA = 0, KEPT_BIAS = 10, KEPT_NUMBERS = 16 };

static void add_energies(const figure_run *run, float (*sums)[BATCH_FIGURES]) {
    const size_t offsets[KEPT_ENERGIES] = {[KEPT_LINEAR] = offsetof(wide_link, term[0]),
        [KEPT_BEFORE] = offsetof(wide_link, turning),
        [KEPT_TURNING] = offsetof(wide_link, term[1])};
    memset(sums, 0, KEPT_ENERGIES * sizeof *sums);
    add_up(run, offsets, KEPT_ENERGIES, sums);
}

static void add_bodies(const figure_run *run, float (*sums)[BATCH_FIGURES]) {
    size_t offsets[KEPT_NUMBERS];
    for (uint32_t k = 0; k < KEPT_NUMBERS; ++k) {
        const size_t of_bias = offsetof(wide_link, bias) + (k - KEPT_BIAS) * sizeof(lanes);
        const size_t of_inertia = offsetof(wide_link, inertia) + k * sizeof(lanes);
        offsets[k] = k < KEPT_BIAS ? of_inertia : of_bias;
        for (uint32_t i = 0; i < BATCH_FIGURES; ++i) {
            sums[k][i] = -0.0f;
        }
    }
    add_up(run, offsets, KEPT_NUMBERS, sums);
}

static void keep_energy(cairn_figure *figure, uint32_t place, float (*energies)[BATCH_FIGURES],
    float (*bodies)[BATCH_FIGURES], kept_motion *out) {
    cairn_spatial_inertia all;
    cairn_spatial less;
    cairn_spatial moving;
    for (uint32_t k = 0; k < KEPT_NUMBERS; ++k) {
        float *to = k < KEPT_BIAS ? (float *)&all + k : (float *)&less + (k - KEPT_BIAS);
        *to = bodies[k][place];
    }
    const float linear = energies[KEPT_LINEAR][place];
    const cairn_mean_motion mean = cairn_mean_motion_of(&all, less);
    out->scale = cairn_free_motion_keep_energy(&mean, linear + energies[KEPT_TURNING][place],
        linear + energies[KEPT_BEFORE][place], &moving, &figure->mean);
    memcpy(out->all, &moving, sizeof out->all);
    memcpy(out->mean, &figure->mean, sizeof out->mean);
}

// Vectors of the figures, in order.
typedef struct vectors_in_order {
    numbers_in_order of[6];
} vectors_in_order;

static vectors_in_order vectors_of(const figure_run *run, const float *values, uint32_t stride) {
    vectors_in_order out;
    for (uint32_t k = 0; k < 6; ++k) {
        out.of[k] = numbers_of(run, values + k, stride);
    }
    return out;
}

static spatial_lanes spatial_by_figure(
    const figure_run *run, uint32_t group, const vectors_in_order *vectors) {
    lanes out[6];
    spatial_lanes value;
    for (uint32_t k = 0; k < 6; ++k) {
        out[k] = lanes_by_figure(run, group, &vectors->of[k]);
    }
    memcpy(&value, out, sizeof value);
    return value;
}

// Of the figures of the set, which float: makes the energy what it was.
static void keep_energies(const figure_run *run, const figure_set *set) {
    kept_motion kept[BATCH_FIGURES];
    float energies[KEPT_ENERGIES][BATCH_FIGURES];
    float bodies[KEPT_NUMBERS][BATCH_FIGURES];
    const uint32_t stride = sizeof(kept_motion) / sizeof(float);
    memset(kept, 0, sizeof kept);
    add_energies(run, energies);
    add_bodies(run, bodies);
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        if (set->has[i] != 0) {
            keep_energy(figure_at(run, i), i, energies, bodies, &kept[i]);
        }
    }
    const set_in_order kept_set = in_order(run, set);
    const vectors_in_order alls = vectors_of(run, kept[0].all, stride);
    const vectors_in_order means = vectors_of(run, kept[0].mean, stride);
    const numbers_in_order scales = numbers_of(run, &kept[0].scale, stride);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const spatial_lanes all = spatial_by_figure(run, g, &alls);
        const spatial_lanes mean = spatial_by_figure(run, g, &means);
        const lanes scale = lanes_by_figure(run, g, &scales);
        const spatial_lanes own =
            spatial_lanes_add(link->bias, inertia_lanes_apply(&link->inertia, all));
        link->bias = spatial_lanes_select(lanes_in(run, g, &kept_set),
            spatial_lanes_sub(
                spatial_lanes_scale(own, scale), inertia_lanes_apply(&link->inertia, mean)),
            link->bias);
    }
}

// The momentum that is carried, of links whose joints lead to a base with the energy of rotation
// that it had.
static void set_bias(wide_link *link, lanes_mask fast, bool any_fast) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes3 from =
        lanes3_select(link->floats, lanes3_sub(link->carried_from, link->position), lanes3_zero());
    lanes3 l = lanes3_add(link->angular_momentum, lanes3_cross(from, link->momentum));
    if (any_fast) {
        const lanes energy = turning_energy(link, link->rotation, l);
        const lanes_mask scaled = fast & ~link->floats & lanes_less(zero, energy);
        const lanes scale = lanes_sqrt(link->turning / lanes_select(scaled, energy, one));
        const lanes3 p = link->momentum;
        link->term[0] = lanes3_dot(p, p) / link->mass;
        link->term[1] = energy;
        l = lanes3_scale(l, lanes_select(scaled, scale, one));
    }
    const lanes minus = lanes_all(-1.0f);
    link->bias = spatial_lanes_of_force(
        link->position, lanes3_scale(link->momentum, minus), lanes3_scale(l, minus));
    link->axis_rotor = lanes_select(lanes_less(zero, link->armature), link->rotor, zero);
}

// Of the figures that are fast, those that float: after the biases of all links were set.
static void finish_biases(const figure_run *run, const figure_set *fast) {
    figure_set kept = *fast;
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        cairn_figure *figure = figure_at(run, i);
        figure->mean = spatial_zero();
        kept.has[i] = figure->base == CAIRN_INDEX_NONE ? kept.has[i] : 0;
    }
    if (set_any(run, &kept)) {
        keep_energies(run, &kept);
    }
}

static void set_biases(const figure_run *run) {
    const figure_set fast = set_of_fast(run);
    const bool any_fast = set_any(run, &fast);
    const set_in_order fast_set = in_order(run, &fast);
    for (uint32_t g = 0; g < run->count; ++g) {
        set_bias(&run->blocks[g], lanes_in(run, g, &fast_set), any_fast);
    }
    finish_biases(run, &fast);
}

static void find_fast_aligned(const figure_run *run) {
    const uint32_t links = figure_at(run, 0)->tree.link_count;
    lanes square = lanes_all(0.0f);
    for (uint32_t i = 0; i < links; ++i) {
        square = lanes_max(square, block_of_link(run, i)->spin_square);
    }
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        figure_at(run, i)->fast = cairn_free_motion_is_fast(((const float *)&square)[i], run->h);
    }
}

static void find_fast(const figure_run *run) {
    if (run->batch->aligned) {
        find_fast_aligned(run);
        return;
    }
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        cairn_figure *figure = figure_at(run, i);
        float square = 0.0f;
        for (uint32_t k = 0; k < figure->tree.link_count; ++k) {
            square =
                float_max(square, *number_of(run, figure, k, offsetof(wide_link, spin_square)));
        }
        figure->fast = cairn_free_motion_is_fast(square, run->h);
    }
}

static void set_spin(wide_link *link) {
    link->spin = link->axis_value;
    link->rotor = link->axis_value - link->axis_aside;
}

// Takes from the motion of a figure what gravity has given it beyond its work on the way.
static void settle_work(const figure_run *run) {
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        cairn_figure *figure = figure_at(run, i);
        if (!figure->fast || !(figure->excess > 0.0f)) {
            continue;
        }
        float spins = 0.0f;
        float energy = 0.0f;
        for (uint32_t k = 0; k < figure->tree.link_count; ++k) {
            const bool turns = *number_of(run, figure, k, offsetof(wide_link, slides)) == 0.0f;
            const float spin = *number_of(run, figure, k, offsetof(wide_link, spin));
            float momentum[3];
            read_numbers(run, figure, k, offsetof(wide_link, momentum), 3, momentum);
            spins = float_max(spins, turns ? spin * spin : 0.0f);
            const float mass = *number_of(run, figure, k, offsetof(wide_link, mass));
            energy += vec3_length_squared(vec3_at(momentum)) / mass +
                      *number_of(run, figure, k, offsetof(wide_link, turning));
        }
        const float square =
            cairn_free_motion_kept_part(run->h * float_sqrt(spins), figure->excess, energy);
        const float scale = float_sqrt(square);
        for (uint32_t k = 0; square < 1.0f && k < figure->tree.link_count; ++k) {
            const uint32_t at = (uint32_t)(figure->links - run->forest->links) + k;
            const uint32_t lane = run->wide->lane_of[at] - run->first_lane;
            wide_link *link = &run->blocks[lane / CAIRN_LANES];
            const uint32_t l = lane % CAIRN_LANES;
            put3(&link->momentum, l, vec3_scale(take3(&link->momentum, l), scale));
            put3(&link->angular_momentum, l, vec3_scale(take3(&link->angular_momentum, l), scale));
            LANE(link->turning, l) *= square;
        }
    }
}

static void carry(const figure_run *run) {
    find_fast(run);
    const figure_set fast = set_of_fast(run);
    const bool any_fast = set_any(run, &fast);
    const set_in_order fast_set = in_order(run, &fast);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const spatial_lanes momentum =
            spatial_lanes_sub(inertia_lanes_apply(&link->inertia, link->value), link->aside);
        link->carried_from = link->tree_position;
        link->momentum = momentum.linear;
        link->angular_momentum =
            lanes3_sub(momentum.angular, lanes3_cross(link->tree_position, momentum.linear));
        if (any_fast) {
            link->turning = lanes_select(lanes_in(run, g, &fast_set),
                turning_energy(link, link->tree_rotation, link->angular_momentum), link->turning);
        }
        set_spin(link);
    }
    settle_work(run);
}

// ---- Half way

static bool base_moves(const cairn_figure *figure) {
    return !vec3_is_zero(figure->tree.base.angular) || !vec3_is_zero(figure->tree.base.linear);
}

static void scale_aside(
    const figure_run *run, const cairn_figure *figure, float energy, float along) {
    const float scale = float_sqrt(energy / (energy - 4.0f * along));
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        cairn_spatial_inertia inertia;
        cairn_spatial value;
        cairn_spatial aside;
        read_numbers(run, figure, i, offsetof(wide_link, inertia), 10, (float *)&inertia);
        read_numbers(run, figure, i, offsetof(wide_link, value), 6, (float *)&value);
        read_numbers(run, figure, i, offsetof(wide_link, aside), 6, (float *)&aside);
        const cairn_spatial moved =
            spatial_inertia_apply(&inertia, spatial_sub(value, figure->mean));
        aside = spatial_add_scaled(
            spatial_add_scaled(spatial_zero(), aside, scale), moved, 1.0f - scale);
        const uint32_t at = (uint32_t)(figure->links - run->forest->links) + i;
        const uint32_t lane = run->wide->lane_of[at] - run->first_lane;
        wide_link *link = &run->blocks[lane / CAIRN_LANES];
        put3(&link->aside.angular, lane % CAIRN_LANES, aside.angular);
        put3(&link->aside.linear, lane % CAIRN_LANES, aside.linear);
    }
}

// P V and V - P V are at right angles, but for rounding. Where that would add energy, V' is made
// shorter. Of these figures.
static figure_set set_of_guarded(const figure_run *run) {
    figure_set guarded;
    memset(&guarded, 0, sizeof guarded);
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        const cairn_figure *figure = figure_at(run, i);
        const bool floats = figure->base == CAIRN_INDEX_NONE;
        guarded.has[i] = base_moves(figure) || (floats && !figure->fast) ? 0 : -1;
    }
    return guarded;
}

static vectors_in_order list_means(const figure_run *run) {
    float means[BATCH_FIGURES][6] = {{0.0f}};
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        memcpy(means[i], &figure_at(run, i)->mean, sizeof means[i]);
    }
    return vectors_of(run, means[0], 6);
}

// What guard_energies adds up.
static void set_guard_terms(const figure_run *run, uint32_t group, const vectors_in_order *means) {
    const lanes zero = lanes_all(0.0f);
    wide_link *link = &run->blocks[group];
    const spatial_lanes mean = spatial_by_figure(run, group, means);
    link->term[0] = zero - spatial_lanes_dot(link->bias, spatial_lanes_sub(link->value, mean));
    link->term[1] = spatial_lanes_dot(link->aside, link->value);
    link->term[2] = link->force * link->axis_value;
    link->term[3] = link->tree_armature * link->axis_aside * link->axis_value;
}

static void guard_energies(const figure_run *run, const figure_set *guarded) {
    const size_t of_links[2] = {offsetof(wide_link, term[0]), offsetof(wide_link, term[1])};
    const size_t of_axes[2] = {offsetof(wide_link, term[2]), offsetof(wide_link, term[3])};
    float sums[2][BATCH_FIGURES];
    memset(sums, 0, sizeof sums);
    add_up(run, of_links, 2, sums);
    add_up(run, of_axes, 2, sums);
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        const float energy = sums[0][i];
        const float along = sums[1][i];
        if (guarded->has[i] != 0 && along < 0.0f && energy > 0.0f) {
            scale_aside(run, figure_at(run, i), energy, along);
        }
    }
}

static void mark_all_stale(const figure_run *run) {
    for (uint32_t s = 0; s < run->step_count; ++s) {
        run->steps[s].stale = 1;
    }
}

static lanes_mask mode_is(const wide_link *link, int32_t mode) {
#if CAIRN_LANES == 1
    return link->mode == mode ? -1 : 0;
#else
    return link->mode == mode;
#endif
}

static lanes_mask mode_from(const wide_link *link, int32_t mode) {
#if CAIRN_LANES == 1
    return link->mode >= mode ? -1 : 0;
#else
    return link->mode >= mode;
#endif
}

// -1 where the modes differ, which are small.
static lanes_mask mode_differs(lanes_mask a, lanes_mask b) {
#if CAIRN_LANES == 1
    return a != b ? -1 : 0;
#else
    return a != b;
#endif
}

static lanes_mask lanes_differ(lanes a, lanes b) {
#if CAIRN_LANES == 1
    return a != b ? -1 : 0;
#else
    return a != b;
#endif
}

// Before the carried momentum is projected: axes that are held still stay locked.
static void lock_still(wide_link *link, lanes h) {
    const lanes zero = lanes_all(0.0f);
    const lanes way = lanes_max(link->axis_value, zero - link->axis_value) * h;
    link->locked = (mode_is(link, CAIRN_AXIS_HOLDS) | mode_from(link, CAIRN_AXIS_AT_LOWER)) &
                   lanes_less(way, lanes_all(STILL));
    link->axis_value = lanes_select(link->locked, zero, link->axis_value);
    link->force = link->tree_armature * link->axis_rotor;
}

static void solve_all(const figure_run *run) {
    const figure_set all = set_all();
    mark_all_stale(run);
    solve_up(run);
    solve_down(run, &all);
}

static void set_aside(wide_link *link) {
    const lanes zero = lanes_all(0.0f);
    link->aside = spatial_lanes_sub(spatial_lanes_zero(),
        spatial_lanes_add(link->bias, inertia_lanes_apply(&link->inertia, link->value)));
    link->axis_aside =
        lanes_select(lanes_less(zero, link->armature), link->axis_rotor - link->axis_value, zero);
}

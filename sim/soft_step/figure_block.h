// SPDX-License-Identifier: MIT
#pragma once

// A group of links in lanes, and how its lanes find their figures and parents.

#include "base/assert.h"
#include "sim/articulation/spatial_lanes.h"
#include "sim/soft_step/body_gather.h"
#include "sim/soft_step/soft_step.h"

#define BATCH_FIGURES CAIRN_BATCH_FIGURES_OF(CAIRN_LANES)

// The members are those of cairn_figure_link, cairn_tree_link, cairn_tree_dof and cairn_figure_axis
// (sim/articulation), of the one axis that a link has; a weld has one that is zero. Those of a root
// that floats are in a wide_root.
typedef struct wide_link {
    // Of a step.
    lanes_quat frame_a;
    lanes_quat back_b; // the conjugate of frame_b
    lanes3 arm_a;
    lanes3 arm_b;
    lanes mass;
    lanes_sym3 own_inertia; // body axes
    lanes_sym3 inverse_inertia;
    lanes_sym3 world_inertia;
    lanes solver_mass;
    lanes_sym3 solver_inertia;
    lanes solver_inverse_mass;
    lanes3 fall;        // m/s in a substep, by gravity
    lanes3 change;      // by other forces, damped
    lanes3 turn_change; // rad/s
    lanes linear_damped;
    lanes angular_damped;
    lanes3 centre;        // of mass, in the body's frame
    lanes3 origin;        // of the figure
    lanes3 step_position; // in the world, when the step began
    lanes_quat step_rotation;
    lanes_mask live;
    lanes_mask touched;
    lanes_mask turns; // kind of the joint
    lanes_mask slides;
    lanes_mask limited;
    lanes_mask read;   // the joint's position is wanted
    lanes_mask floats; // of the figure
    lanes lower;
    lanes upper;
    lanes armature;
    lanes stiffness;
    lanes rate;
    lanes target;
    lanes torque;
    lanes speed;
    lanes least;
    lanes most;
    // Coordinates and pose.
    lanes turn_x;
    lanes turn_w;
    lanes travel;
    lanes spin; // about or along the x axis of the joint's frame
    lanes rotor;
    lanes3 axis;
    lanes3 anchor;
    lanes_quat rotation;
    lanes3 position;
    lanes_quat tree_rotation;
    lanes3 tree_position;
    lanes3 start;
    lanes3 linear_velocity;
    lanes3 angular_velocity;
    // Carried.
    lanes3 momentum;
    lanes3 angular_momentum;
    lanes3 carried_from;
    lanes turning;
    spatial_lanes aside;
    lanes3 push;
    lanes3 twist;
    // The tree.
    inertia_lanes inertia;
    articulated_lanes articulated;
    spatial_lanes bias;
    spatial_lanes pending;
    spatial_lanes value;
    spatial_lanes along; // the axis
    spatial_lanes moved;
    lanes inverse;
    lanes rest;
    lanes force;
    lanes axis_value;
    lanes reaction;
    lanes tree_armature;
    lanes_mask locked;
    lanes_mask factored_locked;
    lanes_mask mode;
    lanes below;
    lanes above;
    lanes lower_speed; // that go so far in a substep, past a limit back at PUSH_SPEED at most
    lanes upper_speed;
    lanes pull;
    lanes impulse;
    lanes axis_rotor;
    lanes axis_aside;
    lanes spin_square; // of the angular velocity
    lanes term[4];     // of sums over figures
} wide_link;

typedef struct wide_root {
    spatial_lanes along[6];
    spatial_lanes moved[6];
    lanes inverse[6];
    lanes rest[6];
    lanes_quat start_rotation;
} wide_root;

// One batch in a part of a step.
typedef struct figure_run {
    cairn_world *world;
    const cairn_figure_batch *batch;
    const cairn_wide_figures *wide;
    cairn_forest *forest;
    cairn_figure_group *groups; // of the batch
    wide_link *blocks;          // the same
    wide_root *roots;           // of the groups of roots, which come first
    cairn_figure_step *steps;   // of the batch
    uint32_t first_lane;
    uint32_t count; // groups
    uint32_t step_count;
    float h;
} figure_run;

// Figures of a batch: -1, or 0: not in the set.
typedef struct figure_set {
    int32_t has[BATCH_FIGURES];
} figure_set;

#define LANE(member, lane) (((float *)&(member))[lane])
#define LANE_BITS(member, lane) (((int32_t *)&(member))[lane])

static inline figure_run run_of(cairn_world *world, const cairn_figure_batch *batch) {
    cairn_soft_step *soft_step = world->soft_step;
    const cairn_wide_figures *wide = &soft_step->wide_figures;
    wide_link *blocks = wide->blocks;
    wide_root *roots = wide->roots;
    const uint32_t index = (uint32_t)(batch - wide->batches);
    const uint32_t root_groups = (BATCH_FIGURES + CAIRN_LANES - 1) / CAIRN_LANES;
    CAIRN_ASSERT(wide->width == CAIRN_LANES && index < wide->batch_count);
    return (figure_run){.world = world,
        .batch = batch,
        .wide = wide,
        .forest = &soft_step->forest,
        .groups = &wide->groups[batch->first_group],
        .blocks = &blocks[batch->first_group],
        .roots = &roots[index * root_groups],
        .steps = &wide->steps[batch->first_step],
        .first_lane = batch->first_group * CAIRN_LANES,
        .count = batch->group_count,
        .step_count = batch->step_count,
        .h = soft_step->wide_context.h};
}

static inline cairn_figure *figure_at(const figure_run *run, uint32_t place) {
    CAIRN_ASSERT(place < run->batch->figure_count);
    return &run->forest->figures[run->wide->figures[run->batch->first_figure + place]];
}

static inline uint32_t place_at(const figure_run *run, uint32_t group, uint32_t lane) {
    return run->wide->figure_of[run->first_lane + group * CAIRN_LANES + lane];
}

static inline uint32_t solver_body_at(const figure_run *run, uint32_t group, uint32_t lane) {
    return run->wide->bodies[run->first_lane + group * CAIRN_LANES + lane];
}

static inline uint32_t lane_index(const figure_run *run, uint32_t group, uint32_t lane) {
    return run->first_lane + group * CAIRN_LANES + lane;
}

// The lane of a link's parent, counted from the batch's first; CAIRN_INDEX_NONE.
static inline uint32_t parent_at(const figure_run *run, uint32_t group, uint32_t lane) {
    const uint32_t parent = run->wide->parents[run->first_lane + group * CAIRN_LANES + lane];
    return parent == CAIRN_INDEX_NONE ? parent : parent - run->first_lane;
}

// The bits of the lanes of a mask of whole lanes.
INLINE uint32_t lane_bits(lanes_mask mask) {
#if CAIRN_LANES == 1
    return mask != 0 ? 1 : 0;
#elif CAIRN_LANES == 4 && defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)mask);
#elif CAIRN_LANES == 8 && defined(__AVX2__)
    return (uint32_t)_mm256_movemask_ps((__m256)mask);
#elif CAIRN_LANES == 16 && defined(__AVX512DQ__)
    return _mm512_movepi32_mask((__m512i)mask);
#else
    return lanes_set(mask);
#endif
}

INLINE bool any_lane(lanes_mask mask) {
    return lane_bits(mask) != 0;
}

// Bits of the lanes that have a link.
INLINE uint32_t live_bits(const figure_run *run, uint32_t group) {
    return (1u << run->groups[group].live) - 1u;
}

INLINE uint32_t lowest_bit(uint32_t bits) {
    return (uint32_t)__builtin_ctz(bits);
}

// What each figure has, over and over, so that the lanes of a group in order read it as it is.
#define REPEATED (BATCH_FIGURES + CAIRN_LANES)

typedef struct numbers_in_order {
    float of[REPEATED];
} numbers_in_order;

typedef struct set_in_order {
    bool all;
    int32_t has[REPEATED];
} set_in_order;

INLINE set_in_order in_order(const figure_run *run, const figure_set *set) {
    const uint32_t count = run->batch->figure_count;
    set_in_order out = {.all = true};
    for (uint32_t i = 0; i < count; ++i) {
        out.all = out.all && set->has[i] != 0;
        out.has[i] = set->has[i];
    }
    for (uint32_t i = count; !out.all && i < REPEATED; ++i) {
        out.has[i] = out.has[i - count];
    }
    return out;
}

INLINE lanes_mask lanes_in(const figure_run *run, uint32_t group, const set_in_order *set) {
    const uint32_t first = run->groups[group].in_order;
    int32_t bits[CAIRN_LANES];
    lanes_mask mask;
    if (set->all) {
        memset(&mask, 0xff, sizeof mask);
        return mask;
    }
    if (first != CAIRN_INDEX_NONE) {
        memcpy(&mask, &set->has[first], sizeof mask);
        return mask;
    }
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        bits[i] = set->has[place_at(run, group, i)];
    }
    memcpy(&mask, bits, sizeof mask);
    return mask;
}

// Numbers of the figures, the first of each `stride`.
INLINE numbers_in_order numbers_of(const figure_run *run, const float *values, uint32_t stride) {
    const uint32_t count = run->batch->figure_count;
    numbers_in_order out;
    uint32_t place = 0;
    for (uint32_t i = 0; i < REPEATED; ++i) {
        out.of[i] = values[place * stride];
        place = place + 1 < count ? place + 1 : 0;
    }
    return out;
}

// Of each lane's figure.
INLINE lanes lanes_by_figure(
    const figure_run *run, uint32_t group, const numbers_in_order *numbers) {
    const uint32_t first = run->groups[group].in_order;
    float each[CAIRN_LANES];
    lanes out;
    if (first != CAIRN_INDEX_NONE) {
        memcpy(&out, &numbers->of[first], sizeof out);
        return out;
    }
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        each[i] = numbers->of[place_at(run, group, i)];
    }
    memcpy(&out, each, sizeof out);
    return out;
}

// Adds the figures of the live lanes of the mask to the set.
INLINE void add_figures(const figure_run *run, uint32_t group, lanes_mask mask, figure_set *set) {
    if (run->batch->aligned) {
        lanes_mask has;
        memcpy(&has, set->has, sizeof has);
        has |= mask;
        memcpy(set->has, &has, sizeof has);
        return;
    }
    for (uint32_t bits = lane_bits(mask) & live_bits(run, group); bits != 0; bits &= bits - 1) {
        set->has[place_at(run, group, lowest_bit(bits))] = -1;
    }
}

static inline bool set_any(const figure_run *run, const figure_set *set) {
    int32_t any = 0;
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        any |= set->has[i];
    }
    return any != 0;
}

static inline figure_set set_all(void) {
    figure_set set;
    memset(&set, 0xff, sizeof set);
    return set;
}

// Numbers of the base of a figure, in the arrays that load_above reads.
#define BASE_NUMBERS 24

// Where no instruction permutes lanes, they are read one by one, and clang must not inline that:
// clang 14 then reads a lane whose number is not constant from an earlier copy of the vector, even
// if something else has been written there since (other bits of `articulated_single`, wasm32).
#if defined(__clang__)
#define LANE_BY_LANE __attribute__((noinline)) static
#else
#define LANE_BY_LANE INLINE
#endif

// The lanes of a vector in another order; of no lane any number.
#if CAIRN_LANES == 8 && defined(__AVX2__)
INLINE lanes in_lanes(lanes values, lanes_mask from) {
    return (lanes)_mm256_permutevar8x32_ps((__m256)values, (__m256i)from);
}
#elif CAIRN_LANES == 16 && defined(__AVX512F__)
INLINE lanes in_lanes(lanes values, lanes_mask from) {
    return (lanes)_mm512_permutexvar_ps((__m512i)from, (__m512)values);
}
#else
LANE_BY_LANE lanes in_lanes(lanes values, lanes_mask from) {
    float each[CAIRN_LANES];
    float out[CAIRN_LANES];
    int32_t index[CAIRN_LANES];
    memcpy(each, &values, sizeof each);
    memcpy(index, &from, sizeof index);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        out[i] = each[(uint32_t)index[i] % CAIRN_LANES];
    }
    memcpy(&values, out, sizeof values);
    return values;
}
#endif

INLINE lanes_mask mask_of_lanes(const uint32_t *lane) {
    lanes_mask out;
    memcpy(&out, lane, sizeof out);
    return out;
}

INLINE lanes_mask is_lane(lanes_mask index) {
#if CAIRN_LANES == 1
    return index >= 0 ? -1 : 0;
#else
    return index >= 0;
#endif
}

// a + b in the lanes of the mask, a in the others.
INLINE lanes lanes_add_where(lanes_mask mask, lanes a, lanes b) {
#if CAIRN_LANES == 16 && defined(__AVX512DQ__)
    return (lanes)_mm512_mask_add_ps(
        (__m512)a, _mm512_movepi32_mask((__m512i)mask), (__m512)a, (__m512)b);
#elif CAIRN_LANES == 8 && defined(__AVX512VL__) && defined(__AVX512DQ__)
    return (lanes)_mm256_mask_add_ps(
        (__m256)a, _mm256_movepi32_mask((__m256i)mask), (__m256)a, (__m256)b);
#else
    return lanes_select(mask, a + b, a);
#endif
}

INLINE lanes3 lanes3_add_where(lanes_mask mask, lanes3 a, lanes3 b) {
    return lanes3_of(lanes_add_where(mask, a.x, b.x), lanes_add_where(mask, a.y, b.y),
        lanes_add_where(mask, a.z, b.z));
}

INLINE lanes_sym3 sym3_add_where(lanes_mask mask, lanes_sym3 a, lanes_sym3 b) {
    return (lanes_sym3){lanes_add_where(mask, a.xx, b.xx), lanes_add_where(mask, a.yy, b.yy),
        lanes_add_where(mask, a.zz, b.zz), lanes_add_where(mask, a.xy, b.xy),
        lanes_add_where(mask, a.xz, b.xz), lanes_add_where(mask, a.yz, b.yz)};
}

INLINE spatial_lanes spatial_add_where(lanes_mask mask, spatial_lanes a, spatial_lanes b) {
    return (spatial_lanes){
        lanes3_add_where(mask, a.angular, b.angular), lanes3_add_where(mask, a.linear, b.linear)};
}

INLINE articulated_lanes articulated_add_where(
    lanes_mask mask, const articulated_lanes *a, const articulated_lanes *b) {
    return (articulated_lanes){.angular = sym3_add_where(mask, a->angular, b->angular),
        .coupling = {lanes3_add_where(mask, a->coupling.x, b->coupling.x),
            lanes3_add_where(mask, a->coupling.y, b->coupling.y),
            lanes3_add_where(mask, a->coupling.z, b->coupling.z)},
        .linear = sym3_add_where(mask, a->linear, b->linear)};
}

INLINE lanes3 lanes3_in_lanes(lanes3 v, lanes_mask from) {
    return lanes3_of(in_lanes(v.x, from), in_lanes(v.y, from), in_lanes(v.z, from));
}

INLINE lanes_sym3 sym3_in_lanes(lanes_sym3 m, lanes_mask from) {
    return (lanes_sym3){in_lanes(m.xx, from), in_lanes(m.yy, from), in_lanes(m.zz, from),
        in_lanes(m.xy, from), in_lanes(m.xz, from), in_lanes(m.yz, from)};
}

INLINE spatial_lanes spatial_in_lanes(spatial_lanes v, lanes_mask from) {
    return (spatial_lanes){lanes3_in_lanes(v.angular, from), lanes3_in_lanes(v.linear, from)};
}

INLINE articulated_lanes articulated_in_lanes(const articulated_lanes *i, lanes_mask from) {
    return (articulated_lanes){.angular = sym3_in_lanes(i->angular, from),
        .coupling = {lanes3_in_lanes(i->coupling.x, from), lanes3_in_lanes(i->coupling.y, from),
            lanes3_in_lanes(i->coupling.z, from)},
        .linear = sym3_in_lanes(i->linear, from)};
}

// The lanes of the parents, of a step that has them in one group.
INLINE lanes_mask lanes_of_parents(const figure_run *run, uint32_t step) {
    return mask_of_lanes(&run->wide->parent_lane[(run->batch->first_step + step) * CAIRN_LANES]);
}

// The lanes of a step.
INLINE lanes_mask lanes_of_step(const figure_run *run, uint32_t step) {
    lanes_mask out;
    memcpy(&out, &run->wide->step_lanes[(run->batch->first_step + step) * CAIRN_LANES], sizeof out);
    return out;
}

INLINE uint32_t step_bits(const cairn_figure_step *step) {
    return ((1u << step->live) - 1u) << step->first;
}

// `count` numbers of the links above, lane by lane: from `of_base` by place in the batch, or from
// the member at `offset` of the parents' blocks.
static void load_each(const figure_run *run, uint32_t group, size_t offset, uint32_t count,
    const float *of_base, lanes *out) {
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const uint32_t parent = parent_at(run, group, i);
        const bool has = parent != CAIRN_INDEX_NONE;
        const float *from =
            has ? (const float *)(const void *)((const char *)&run->blocks[parent / CAIRN_LANES] +
                                                offset) +
                      parent % CAIRN_LANES
                : of_base + place_at(run, group, i) * BASE_NUMBERS;
        for (uint32_t k = 0; k < count; ++k) {
            LANE(out[k], i) = from[k * (has ? CAIRN_LANES : 1)];
        }
    }
}

// The same, of the links of a step; in the other lanes of its group any numbers.
static inline void load_above(const figure_run *run, uint32_t step, size_t offset, uint32_t count,
    const float *of_base, lanes *out) {
    const cairn_figure_step *own = &run->steps[step];
    if (own->above != CAIRN_INDEX_NONE) {
        memcpy(out, (const char *)&run->blocks[own->above] + offset, count * sizeof(lanes));
    } else if (own->mixed != CAIRN_INDEX_NONE) {
        const char *parents = (const char *)&run->blocks[own->mixed];
        const lanes *from = (const lanes *)(const void *)(parents + offset);
        const lanes_mask lane = lanes_of_parents(run, step);
        for (uint32_t k = 0; k < count; ++k) {
            out[k] = in_lanes(from[k], lane);
        }
    } else {
        load_each(run, own->group, offset, count, of_base, out);
    }
}

// `count` numbers at `offset` of the step's lanes of its block.
static inline void store_step(
    const figure_run *run, uint32_t step, size_t offset, uint32_t count, const lanes *from) {
    const lanes_mask mask = lanes_of_step(run, step);
    lanes *to = (lanes *)(void *)((char *)&run->blocks[run->steps[step].group] + offset);
    for (uint32_t k = 0; k < count; ++k) {
        to[k] = lanes_select(mask, from[k], to[k]);
    }
}

// Adds `count` numbers at `offset` to those of the parents, or of those that are stale. Of a sum
// the last links come first.
static void add_above(
    const figure_run *run, uint32_t step, size_t offset, uint32_t count, bool to_stale) {
    const cairn_figure_step *own = &run->steps[step];
    const lanes *from =
        (const lanes *)(const void *)((const char *)&run->blocks[own->group] + offset);
    for (uint32_t i = own->first + own->live; i > own->first; --i) {
        const uint32_t lane = lane_index(run, own->group, i - 1);
        const uint32_t parent = parent_at(run, own->group, i - 1);
        if (parent == CAIRN_INDEX_NONE) {
            continue;
        }
        const uint32_t above = run->wide->step_of[run->wide->parents[lane]];
        if (to_stale && run->steps[above].stale == 0) {
            continue;
        }
        lanes *to = (lanes *)(void *)((char *)&run->blocks[parent / CAIRN_LANES] + offset);
        for (uint32_t k = 0; k < count; ++k) {
            LANE(to[k], parent % CAIRN_LANES) += ((const float *)&from[k])[i - 1];
        }
    }
}

// ---- One lane

INLINE void put3(lanes3 *to, uint32_t lane, cairn_vec3 from) {
    LANE(to->x, lane) = from.x;
    LANE(to->y, lane) = from.y;
    LANE(to->z, lane) = from.z;
}

INLINE void put_quat(lanes_quat *to, uint32_t lane, cairn_quat from) {
    LANE(to->x, lane) = from.x;
    LANE(to->y, lane) = from.y;
    LANE(to->z, lane) = from.z;
    LANE(to->w, lane) = from.w;
}

INLINE void put_sym3(lanes_sym3 *to, uint32_t lane, cairn_sym3 from) {
    LANE(to->xx, lane) = from.xx;
    LANE(to->yy, lane) = from.yy;
    LANE(to->zz, lane) = from.zz;
    LANE(to->xy, lane) = from.xy;
    LANE(to->xz, lane) = from.xz;
    LANE(to->yz, lane) = from.yz;
}

INLINE cairn_vec3 take3(const lanes3 *from, uint32_t lane) {
    return vec3(((const float *)&from->x)[lane], ((const float *)&from->y)[lane],
        ((const float *)&from->z)[lane]);
}

INLINE cairn_vec3 vec3_at(const float *row) {
    return vec3(row[0], row[1], row[2]);
}

// SPDX-License-Identifier: MIT
#include "sim/articulation/free_motion.h"

#include "base/assert.h"
#include "sim/math/rotation.h"

// Of the energy: as much as the velocities of the state may have that the joints do not allow.
#define NOT_ALLOWED 1e-8f
// rad or m in a substep: an axis that moves less is still
#define STILL 1e-5f
// By so much of it the energy of a figure that floats is set right upwards.
#define FASTER_MAX 1.01f
// The energy of a mean motion may exceed all there is so far, by rounding.
#define MEAN_KEPT 0.9999f
// rad that a link turns in a substep: so far, what turning does to its energy is left to even out
#define TURN_SEEN 0.04f
// rad that a joint turns in a substep: so far nothing is settled, and from there on all
#define TURN_SLOW 0.1f
#define TURN_FAST 0.2f

// ---- Momentum of links

// Twice the energy of rotation with the momentum `l`, at that rotation.
static float turning_energy(const cairn_figure_link *link, cairn_quat rotation, cairn_vec3 l) {
    const cairn_vec3 own = quat_rotate_inverse(rotation, l);
    return vec3_dot(own, sym3_apply(link->inverse_inertia, own));
}

static void set_momentum(cairn_figure_link *link) {
    const cairn_vec3 own = quat_rotate_inverse(link->rotation, link->angular_velocity);
    const cairn_vec3 l = sym3_apply(link->inertia, own);
    link->carried_from = link->position;
    link->momentum = vec3_scale(link->linear_velocity, link->mass);
    link->angular_momentum = quat_rotate(link->rotation, l);
    link->turning = vec3_dot(own, l);
}

static void set_momenta(cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        set_momentum(&figure->links[i]);
    }
}

// The momentum of a link whose joints lead to a base: rotation keeps its energy.
static cairn_spatial momentum_of(const cairn_figure *figure, const cairn_figure_link *link) {
    const float energy =
        figure->fast ? turning_energy(link, link->rotation, link->angular_momentum) : 0.0f;
    const float scale = energy > 0.0f ? float_sqrt(link->turning / energy) : 1.0f;
    return spatial_of_force(
        link->position, link->momentum, vec3_scale(link->angular_momentum, scale));
}

cairn_mean_motion cairn_mean_motion_of(const cairn_spatial_inertia *all, cairn_spatial less) {
    const cairn_vec3 p = vec3_scale(less.linear, -1.0f);
    const cairn_vec3 centre = vec3_scale(all->moment, 1.0f / all->mass);
    const cairn_vec3 l = vec3_sub(vec3_scale(less.angular, -1.0f), vec3_cross(centre, p));
    const cairn_sym3 around =
        sym3_add(all->inertia, sym3_scale(sym3_parallel_axis(all->mass, centre), -1.0f));
    const cairn_vec3 turn = sym3_apply(sym3_inverse_scaled(around), l);
    return (cairn_mean_motion){.centre = centre,
        .linear = vec3_scale(p, 1.0f / all->mass),
        .angular = turn,
        .linear_energy = vec3_length_squared(p) / all->mass,
        .angular_energy = vec3_dot(turn, l)};
}

static cairn_mean_motion mean_motion_of(const cairn_tree *tree) {
    cairn_spatial_inertia all = tree->links[0].inertia;
    cairn_spatial less = tree->links[0].bias;
    for (uint32_t i = 1; i < tree->link_count; ++i) {
        all = spatial_inertia_add(all, tree->links[i].inertia);
        less = spatial_add(less, tree->links[i].bias);
    }
    return cairn_mean_motion_of(&all, less);
}

float cairn_free_motion_keep_energy(const cairn_mean_motion *mean, float now, float wanted,
    cairn_spatial *all, cairn_spatial *kept) {
    const float inner = now - mean->linear_energy - mean->angular_energy;
    const float rest = float_max(wanted - mean->linear_energy, 0.0f);
    const float left = float_max(rest - mean->angular_energy, 0.0f);
    const float turn =
        rest < MEAN_KEPT * mean->angular_energy ? float_sqrt(rest / mean->angular_energy) : 1.0f;
    *all = spatial_of_velocity(mean->centre, mean->linear, mean->angular);
    *kept = spatial_of_velocity(mean->centre, mean->linear, vec3_scale(mean->angular, turn));
    return inner > 0.0f ? float_sqrt(float_min(left / inner, FASTER_MAX)) : 1.0f;
}

static void keep_energy(cairn_figure *figure, float now, float wanted) {
    const cairn_mean_motion mean = mean_motion_of(&figure->tree);
    cairn_spatial all;
    const float scale = cairn_free_motion_keep_energy(&mean, now, wanted, &all, &figure->mean);
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        cairn_tree_link *link = &figure->tree.links[i];
        const cairn_spatial own =
            spatial_add(link->bias, spatial_inertia_apply(&link->inertia, all));
        link->bias = spatial_sub(spatial_add_scaled(spatial_zero(), own, scale),
            spatial_inertia_apply(&link->inertia, figure->mean));
    }
}

// Of links that float, all of the momentum about the reference point stays, and then the energy.
static void set_floating_biases(cairn_figure *figure) {
    float linear = 0.0f; // energy, twice
    float before = 0.0f; // of rotation
    float now = 0.0f;
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        const cairn_vec3 l = vec3_add(link->angular_momentum,
            vec3_cross(vec3_sub(link->carried_from, link->position), link->momentum));
        figure->tree.links[i].bias = spatial_of_force(
            link->position, vec3_scale(link->momentum, -1.0f), vec3_scale(l, -1.0f));
        if (figure->fast) {
            linear += vec3_length_squared(link->momentum) / link->mass;
            before += link->turning;
            now += turning_energy(link, link->rotation, l);
        }
    }
    if (figure->fast) {
        keep_energy(figure, linear + now, linear + before);
    }
}

static float rotor_speed(const cairn_figure *figure, uint32_t index, uint32_t k) {
    const cairn_figure_link *link = &figure->links[index];
    const cairn_tree_link *in_tree = &figure->tree.links[index];
    return in_tree->dof_count == 3 ? vec3_dot(cairn_figure_from_joint(figure, index, link->rotor),
                                         figure->tree.dofs[in_tree->first_dof + k].axis.angular)
                                   : link->rotor.x;
}

static void set_rotors(cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_tree_link *link = &figure->tree.links[i];
        for (uint32_t k = 0; k < link->dof_count; ++k) {
            cairn_figure_axis *axis = &figure->axes[link->first_dof + k];
            axis->rotor = axis->armature > 0.0f ? rotor_speed(figure, i, k) : 0.0f;
        }
    }
}

void cairn_free_motion_set_biases(cairn_figure *figure) {
    figure->mean = spatial_zero();
    if (figure->base == CAIRN_INDEX_NONE) {
        set_floating_biases(figure);
    } else {
        for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
            figure->tree.links[i].bias =
                spatial_sub(spatial_zero(), momentum_of(figure, &figure->links[i]));
        }
    }
    set_rotors(figure);
}

// ---- What is carried from substep to substep

// Twice the energy of the carried motion.
static float carried_energy(const cairn_figure *figure) {
    float energy = 0.0f;
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        energy += vec3_length_squared(link->momentum) / link->mass + link->turning;
    }
    return energy;
}

// The most that a joint turns in a substep of h seconds.
static float greatest_turn(const cairn_figure *figure, float h) {
    float square = 0.0f;
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        const bool turns = link->joint != NULL && link->joint->kind != CAIRN_JOINT_PRISMATIC;
        square = float_max(square, turns ? vec3_length_squared(link->spin) : 0.0f);
    }
    return h * float_sqrt(square);
}

float cairn_free_motion_kept_part(float turn, float excess, float energy) {
    const float part = (turn - TURN_SLOW) / (TURN_FAST - TURN_SLOW);
    const float more = 2.0f * excess * float_min(part, 1.0f);
    if (!(part > 0.0f)) {
        return 1.0f;
    }
    return more < energy ? 1.0f - more / energy : 0.0f;
}

// Where joints turn far in a substep, the way that a link goes is not that of its speed half way.
// Takes from the motion what gravity has given it beyond its work on the way.
static void settle_work(cairn_figure *figure, float h) {
    if (!figure->fast) {
        return;
    }
    if (!(figure->excess > 0.0f)) {
        return;
    }
    const float square = cairn_free_motion_kept_part(
        greatest_turn(figure, h), figure->excess, carried_energy(figure));
    const float scale = float_sqrt(square);
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        cairn_figure_link *link = &figure->links[i];
        link->momentum = vec3_scale(link->momentum, scale);
        link->angular_momentum = vec3_scale(link->angular_momentum, scale);
        link->turning *= square;
    }
}

bool cairn_free_motion_is_fast(float square, float h) {
    return !(square * h * h < TURN_SEEN * TURN_SEEN);
}

static bool is_fast(const cairn_figure *figure, float h) {
    float square = 0.0f;
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        square = float_max(square, vec3_length_squared(figure->links[i].angular_velocity));
    }
    return cairn_free_motion_is_fast(square, h);
}

void cairn_free_motion_carry(cairn_figure *figure, float h) {
    figure->fast = is_fast(figure, h);
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        cairn_figure_link *link = &figure->links[i];
        const cairn_tree_link *in_tree = &figure->tree.links[i];
        const cairn_spatial momentum =
            spatial_sub(spatial_inertia_apply(&in_tree->inertia, in_tree->value), link->aside);
        link->carried_from = link->tree_position;
        link->momentum = momentum.linear;
        link->angular_momentum =
            vec3_sub(momentum.angular, vec3_cross(link->tree_position, momentum.linear));
        if (figure->fast) {
            link->turning = turning_energy(link, link->tree_rotation, link->angular_momentum);
        }
    }
    cairn_figure_set_spins(figure);
    settle_work(figure, h);
}

// ---- The start of a step

static cairn_spatial velocity_of(const cairn_figure *figure, uint32_t index) {
    const cairn_figure_link *link = &figure->links[index];
    return spatial_of_velocity(link->position, link->linear_velocity, link->angular_velocity);
}

// Takes the speeds of the axes from the velocities. Returns whether the joints allow these.
static bool read_speeds(cairn_figure *figure) {
    float all = 0.0f;
    float missing = 0.0f;
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        const cairn_tree_link *in_tree = &figure->tree.links[i];
        const cairn_spatial before = in_tree->parent == CAIRN_INDEX_NONE
                                         ? figure->tree.base
                                         : velocity_of(figure, in_tree->parent);
        cairn_spatial rest = spatial_sub(velocity_of(figure, i), before);
        for (uint32_t k = in_tree->first_dof; k < in_tree->first_dof + in_tree->dof_count; ++k) {
            cairn_tree_dof *dof = &figure->tree.dofs[k];
            dof->value = cairn_figure_speed(figure, i, k);
            rest = spatial_add_scaled(rest, dof->axis, 0.0f - dof->value);
        }
        const float size = link->inertia.xx + link->inertia.yy + link->inertia.zz;
        const cairn_vec3 linear = spatial_velocity_at(rest, link->position);
        missing += link->joint == NULL ? 0.0f
                                       : link->mass * vec3_length_squared(linear) +
                                             size * vec3_length_squared(rest.angular);
        all += link->mass * vec3_length_squared(link->linear_velocity) + link->turning;
    }
    return missing <= NOT_ALLOWED * all;
}

// Whether an axis is held still, as it was: then its lock is one more joint that allows less. That
// spares the factors without it.
static bool stays_held(const cairn_figure_axis *axis, const cairn_tree_dof *dof, float h) {
    const bool held = axis->mode == CAIRN_AXIS_HOLDS || axis->mode >= CAIRN_AXIS_AT_LOWER;
    return held && float_abs(dof->value) * h < STILL;
}

// Solves for what the joints allow of the carried momentum and of the armatures' speeds. `h`: s; 0:
// without locks.
static void project(cairn_figure *figure, float h) {
    cairn_free_motion_set_biases(figure);
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        cairn_tree_dof *dof = &figure->tree.dofs[i];
        dof->locked = h > 0.0f && stays_held(&figure->axes[i], dof, h) ? 1 : 0;
        dof->value = dof->locked != 0 ? 0.0f : dof->value;
        dof->force = dof->armature * figure->axes[i].rotor;
    }
    cairn_tree_factor(&figure->tree);
    cairn_tree_solve(&figure->tree);
}

void cairn_free_motion_start(cairn_figure *figure, float h) {
    figure->fast = is_fast(figure, h);
    set_momenta(figure);
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        figure->axes[i].aside = 0.0f;
    }
    const bool allowed = read_speeds(figure);
    cairn_figure_set_spins(figure);
    if (!allowed) {
        project(figure, 0.0f);
        cairn_figure_read_velocities(figure);
        set_momenta(figure);
        cairn_figure_set_spins(figure);
    }
}

// ---- Half way

static bool base_moves(const cairn_figure *figure) {
    return !vec3_is_zero(figure->tree.base.angular) || !vec3_is_zero(figure->tree.base.linear);
}

// P V and V - P V are at right angles, but for rounding. Where that would add energy, V' is made
// shorter; of a figure that floats, relative to its mean motion.
static void guard_energy(cairn_figure *figure) {
    float energy = 0.0f; // twice, like all here, and without the mean motion's
    float along = 0.0f;
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_tree_link *link = &figure->tree.links[i];
        energy -= spatial_dot(link->bias, spatial_sub(link->value, figure->mean));
        along += spatial_dot(figure->links[i].aside, link->value);
    }
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        const cairn_tree_dof *dof = &figure->tree.dofs[i];
        energy += dof->force * dof->value;
        along += dof->armature * figure->axes[i].aside * dof->value;
    }
    const bool floats = figure->base == CAIRN_INDEX_NONE;
    if (!(along < 0.0f) || !(energy > 0.0f) || base_moves(figure) || (floats && !figure->fast)) {
        return;
    }
    const float scale = float_sqrt(energy / (energy - 4.0f * along));
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_tree_link *link = &figure->tree.links[i];
        const cairn_spatial moved =
            spatial_inertia_apply(&link->inertia, spatial_sub(link->value, figure->mean));
        figure->links[i].aside = spatial_add_scaled(
            spatial_add_scaled(spatial_zero(), figure->links[i].aside, scale), moved, 1.0f - scale);
    }
}

void cairn_free_motion_solve(cairn_figure *figure, float h) {
    project(figure, h);
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_tree_link *in_tree = &figure->tree.links[i];
        figure->links[i].aside = spatial_sub(spatial_zero(),
            spatial_add(in_tree->bias, spatial_inertia_apply(&in_tree->inertia, in_tree->value)));
    }
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        cairn_figure_axis *axis = &figure->axes[i];
        axis->aside = axis->armature > 0.0f ? axis->rotor - figure->tree.dofs[i].value : 0.0f;
    }
    guard_energy(figure);
}

// SPDX-License-Identifier: MIT
#include "sim/soft_step/soft_step.h"

#include <string.h>

#include "base/assert.h"
#include "sim/articulation/free_motion.h"
#include "sim/math/rotation.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/task/task_scheduler.h"

// Tries to find which motors and limits act: when forces change, and when a sweep has pushed.
#define ROUNDS_FIRST 4
#define ROUNDS 3
// So many figures are loaded by the main thread.
#define FIGURES_SHARED_MIN 4
// The least part of the response of a body of its own that contacts take for that of a link.
#define SHARE_MIN (1.0f / 1024.0f)

static cairn_vec3 vec3_at(const float *row) {
    return vec3(row[0], row[1], row[2]);
}

static void copy3(float *to, cairn_vec3 from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

typedef void figure_part(cairn_world *world, cairn_figure *figure);

static void for_figures(cairn_world *world, uint32_t rank, uint32_t size, figure_part *part) {
    cairn_forest *forest = &world->soft_step->forest;
    const uint64_t count = forest->figure_count;
    CAIRN_ASSERT(rank < size);
    for (uint64_t i = count * rank / size; i < count * (rank + 1) / size; ++i) {
        if (world->soft_step->wide_figures.is_listed[i] == 0) {
            part(world, &forest->figures[i]);
        }
    }
}

// Those of single axes, in lanes.
static void for_batches(cairn_world *world, uint32_t rank, uint32_t size, cairn_figure_pass *part) {
    cairn_wide_figures *wide = &world->soft_step->wide_figures;
    const uint64_t count = wide->batch_count;
    for (uint64_t i = count * rank / size; i < count * (rank + 1) / size; ++i) {
        part(world, &wide->batches[i]);
    }
}

static const cairn_figure_kernel *kernel_of(const cairn_world *world) {
    return world->soft_step->wide_figures.kernel;
}

static cairn_solver_body *solver_body_of(const cairn_world *world, const cairn_figure_link *link) {
    CAIRN_ASSERT(link->solver_body < world->soft_step->moving_count);
    return &world->soft_step->bodies[link->solver_body];
}

// ---- Velocities to and from the solver's bodies

static void write_velocities(cairn_world *world, const cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        cairn_solver_body *body = solver_body_of(world, link);
        copy3(body->linear_velocity, link->linear_velocity);
        copy3(body->angular_velocity, link->angular_velocity);
    }
}

static void push_link(cairn_figure *figure, uint32_t index, cairn_vec3 force, cairn_vec3 torque) {
    cairn_tree_link *in_tree = &figure->tree.links[index];
    in_tree->bias = spatial_sub(
        in_tree->bias, spatial_of_force(figure->links[index].tree_position, force, torque));
}

// What the solver's impulses have changed since the velocities were written is an impulse on each
// link. Returns whether there was any.
static bool take_pushes(cairn_world *world, cairn_figure *figure, bool after_joints) {
    bool any = false;
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        cairn_figure_link *link = &figure->links[i];
        const cairn_solver_body *body = solver_body_of(world, link);
        const cairn_vec3 linear = vec3_sub(vec3_at(body->linear_velocity), link->linear_velocity);
        const cairn_vec3 angular =
            vec3_sub(vec3_at(body->angular_velocity), link->angular_velocity);
        if (vec3_is_zero(linear) && vec3_is_zero(angular)) {
            continue;
        }
        any = true;
        push_link(figure, i, vec3_scale(linear, link->solver_mass),
            sym3_apply(link->solver_inertia, angular));
        cairn_vec3 kept_linear = linear;
        cairn_vec3 kept_angular = angular;
        if (after_joints) {
            const float *change = world->soft_step->integration[link->solver_body].relax_change;
            kept_linear = vec3_sub(linear, vec3_at(change));
            kept_angular = vec3_sub(angular, vec3_at(change + 4));
        }
        link->push = vec3_add_scaled(link->push, kept_linear, link->solver_mass);
        link->twist = vec3_add(link->twist, sym3_apply(link->solver_inertia, kept_angular));
    }
    return any;
}

static void solve(cairn_world *world, cairn_figure *figure, uint32_t rounds, bool push_out) {
    cairn_figure_solve(figure, world->soft_step->wide_context.h, rounds, push_out);
    write_velocities(world, figure);
}

// ---- Once in a step

// The base moves like any body that impulses do not move: where it is `ahead` seconds later.
void cairn_articulations_move_base(const cairn_world *world, cairn_figure *figure, float ahead) {
    if (figure->base == CAIRN_INDEX_NONE) {
        return;
    }
    const cairn_soft_step *soft_step = world->soft_step;
    const cairn_solver_body *body = &soft_step->bodies[soft_step->solver_body_of[figure->base]];
    const cairn_motion *motion = &world->state.motions[figure->base];
    const cairn_vec3 moved =
        vec3_add_scaled(vec3_at(body->delta_position), vec3_at(body->linear_velocity), ahead);
    const cairn_vec3 turned =
        vec3_add_scaled(vec3_at(body->delta_rotation), vec3_at(body->angular_velocity), ahead);
    figure->base_position = vec3_sub(vec3_add(motion->position, moved), figure->origin);
    figure->base_rotation = quat_normalize(quat_multiply(quat_of_vector(turned), motion->rotation));
    figure->tree.base = spatial_of_velocity(
        figure->base_position, vec3_at(body->linear_velocity), vec3_at(body->angular_velocity));
}

// A body that the solver takes for heavier, because it is squeezed, is so in the tree. Marks the
// body as a link even if nothing touches it, because loops over bodies must not apply impulses to
// links.
static void take_mass(const cairn_world *world, cairn_figure_link *link) {
    cairn_solver_body *body = solver_body_of(world, link);
    body->closing = 1.0f / CAIRN_CLOSING_SPEED_MAX;
    const float scale = 1.0f / (body->inverse_mass * link->mass);
    link->mass *= scale;
    link->inertia = sym3_scale(link->inertia, scale);
    link->inverse_inertia = sym3_scale(link->inverse_inertia, 1.0f / scale);
    link->world_inertia = sym3_inverse_scaled(sym3_of(body->inverse_inertia));
    link->solver_mass = link->mass;
    link->solver_inertia = link->world_inertia;
}

static float row_max(cairn_mat3 m) {
    const float x = float_abs(m.x.x) + float_abs(m.x.y) + float_abs(m.x.z);
    const float y = float_abs(m.y.x) + float_abs(m.y.y) + float_abs(m.y.z);
    const float z = float_abs(m.z.x) + float_abs(m.z.y) + float_abs(m.z.z);
    return float_max(x, float_max(y, z));
}

// How much less a link responds to a push at its centre of mass than a body of its own, and to a
// twist. Twice that, because a push elsewhere does both at once, which may add up.
static float push_share(const cairn_figure_link *link, const cairn_tree_link *in_tree) {
    cairn_vec3 moved[3];
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_spatial push =
            spatial_of_force(link->position, vec3_along_axis(i, link->mass), vec3_zero());
        moved[i] = spatial_velocity_at(
            articulated_inertia_apply(&in_tree->response, push), link->position);
    }
    return 2.0f * row_max((cairn_mat3){.x = moved[0], .y = moved[1], .z = moved[2]});
}

static float twist_share(const cairn_figure_link *link, const cairn_tree_link *in_tree) {
    const cairn_sym3 *a = &link->world_inertia;
    const cairn_sym3 *b = &in_tree->response.angular;
    return 2.0f * (a->xx * b->xx + a->yy * b->yy + a->zz * b->zz +
                      2.0f * (a->xy * b->xy + a->xz * b->xz + a->yz * b->yz));
}

// What contacts and joints take for the mass of a link is about what its joints leave of it: so a
// link that hangs on heavy ones, or hardly moves, bears a load at once.
static void set_solver_mass(
    const cairn_world *world, cairn_figure_link *link, const cairn_tree_link *in_tree) {
    cairn_solver_body *body = solver_body_of(world, link);
    const float push = float_min(float_max(push_share(link, in_tree), SHARE_MIN), 1.0f);
    const float twist = float_min(float_max(twist_share(link, in_tree), SHARE_MIN), 1.0f);
    body->inverse_mass *= push;
    for (uint32_t k = 0; k < 6; ++k) {
        body->inverse_inertia[k] *= twist;
    }
    link->solver_mass = 1.0f / body->inverse_mass;
    link->solver_inertia = sym3_scale(link->world_inertia, 1.0f / twist);
}

static void set_solver_masses(cairn_world *world, cairn_figure *figure) {
    const float h = world->soft_step->wide_context.h;
    for (uint32_t k = 0; k < figure->tree.dof_count; ++k) {
        cairn_figure_axis *axis = &figure->axes[k];
        figure->tree.dofs[k].locked = 0;
        figure->tree.dofs[k].armature += h * (axis->rate + h * axis->stiffness);
    }
    cairn_tree_factor(&figure->tree);
    cairn_tree_set_responses(&figure->tree);
    for (uint32_t k = 0; k < figure->tree.link_count; ++k) {
        const cairn_forest *forest = &world->soft_step->forest;
        if (forest->touched[&figure->links[k] - forest->links] != 0) {
            set_solver_mass(world, &figure->links[k], &figure->tree.links[k]);
        }
    }
    for (uint32_t k = 0; k < figure->tree.dof_count; ++k) {
        figure->tree.dofs[k].armature = figure->axes[k].armature;
    }
}

static void load_figure(cairn_world *world, cairn_figure *figure) {
    cairn_forest_load(world, figure);
    for (uint32_t k = 0; k < figure->tree.link_count; ++k) {
        cairn_figure_link *link = &figure->links[k];
        link->solver_body = world->soft_step->solver_body_of[link->body];
        take_mass(world, link);
    }
    cairn_figure_place(figure, 0.0f);
    cairn_articulations_move_base(world, figure, 0.0f);
    cairn_figure_set_tree(world, figure);
    if (figure->touched) {
        set_solver_masses(world, figure);
    }
    figure->started = false;
}

static void load_figures(const void *context, uint32_t begin, uint32_t end) {
    cairn_world *world = *(cairn_world *const *)context;
    for (uint32_t i = begin; i < end; ++i) {
        if (world->soft_step->wide_figures.is_listed[i] == 0) {
            load_figure(world, &world->soft_step->forest.figures[i]);
        }
    }
}

static void load_batches(const void *context, uint32_t begin, uint32_t end) {
    cairn_world *world = *(cairn_world *const *)context;
    for (uint32_t i = begin; i < end; ++i) {
        kernel_of(world)->load(world, &world->soft_step->wide_figures.batches[i]);
    }
}

static void mark_touched(cairn_forest *forest, const cairn_constraint_graph *graph) {
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        cairn_forest_touch(forest, graph->edges[i].body_a);
        cairn_forest_touch(forest, graph->edges[i].body_b);
    }
}

// Lists the figures, unless they are as they were. Those in scalars are listed in each step: their
// links hold what is carried through a step.
static void list_figures(cairn_world *world) {
    cairn_forest *forest = &world->soft_step->forest;
    cairn_wide_figures *wide = &world->soft_step->wide_figures;
    const unsigned char *moves = world->awake_set->takes_impulses;
    if (!wide->all || !cairn_forest_stays(forest, world, moves)) {
        cairn_forest_list(forest, world, moves);
        cairn_wide_figures_list(wide, forest);
    }
}

void cairn_articulations_prepare(cairn_world *world) {
    cairn_forest *forest = &world->soft_step->forest;
    if (world->state.settings->joint_drive_count == 0) {
        forest->figure_count = 0;
        forest->link_count = 0;
        forest->source_count = 0;
        return;
    }
    list_figures(world);
    mark_touched(forest, &world->soft_step->contact_graph);
    mark_touched(forest, &world->soft_step->joint_graph);
    cairn_task_scheduler_split(
        world->scheduler, load_figures, &world, 0, forest->figure_count, FIGURES_SHARED_MIN);
    cairn_task_scheduler_split(
        world->scheduler, load_batches, &world, 0, world->soft_step->wide_figures.batch_count, 1);
}

// ---- In each substep

static cairn_vec3 fall_of(const cairn_world *world, const cairn_figure_link *link) {
    const cairn_vec3 gravity = vec3_scale(
        world->state.settings->present_gravity, world->state.bodies[link->body].gravity_scale);
    return vec3_scale(gravity, world->soft_step->wide_context.h);
}

// Forces and damping of one body, as the solver has them for all, and its pushes in the last
// substep. Returns whether there was any.
static bool push_by_forces(const cairn_world *world, cairn_figure *figure, uint32_t index) {
    const cairn_figure_link *link = &figure->links[index];
    const cairn_solver_integration *by = &world->soft_step->integration[link->solver_body];
    const cairn_vec3 v = link->linear_velocity;
    const cairn_vec3 w = link->angular_velocity;
    const cairn_vec3 fall = fall_of(world, link);
    const cairn_vec3 more = vec3_add_scaled(
        vec3_scale(vec3_sub(vec3_at(by->velocity_change), fall), by->damping_factor[0]),
        vec3_add(v, fall), by->damping_factor[0] - 1.0f);
    const cairn_vec3 turn =
        vec3_add_scaled(vec3_scale(vec3_at(by->velocity_change + 4), by->damping_factor[4]), w,
            by->damping_factor[4] - 1.0f);
    const cairn_vec3 force = vec3_add_scaled(link->push, more, link->mass);
    if (vec3_is_zero(force) && vec3_is_zero(turn) && vec3_is_zero(link->twist)) {
        return false;
    }
    const cairn_vec3 torque = vec3_is_zero(turn)
                                  ? link->twist
                                  : vec3_add(link->twist, sym3_apply(link->world_inertia, turn));
    push_link(figure, index, force, torque);
    return true;
}

static void set_axis_impulses(cairn_figure *figure, float h) {
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        cairn_figure_axis *axis = &figure->axes[i];
        cairn_tree_dof *dof = &figure->tree.dofs[i];
        const float spring = h * (axis->rate + h * axis->stiffness);
        dof->armature = axis->armature + spring;
        axis->impulse = axis->armature * axis->rotor + h * axis->pull;
        figure->factored = figure->factored && !(spring > 0.0f);
        figure->solved = figure->solved && axis->pull == 0.0f;
    }
}

// Gravity changes the momentum that is carried, before the joints take what they allow: so the work
// that it does is that of the speeds at the start.
static void fall(const cairn_world *world, cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        cairn_figure_link *link = &figure->links[i];
        link->momentum = vec3_add_scaled(link->momentum, fall_of(world, link), link->mass);
    }
}

// Puts the links half a substep ahead, by speeds that change on as they did.
static void place_ahead(const cairn_world *world, cairn_figure *figure, float ahead) {
    cairn_figure_link *root = &figure->links[0];
    cairn_articulations_move_base(world, figure, ahead);
    if (root->joint == NULL) {
        root->position = vec3_add_scaled(figure->root_position, root->linear_velocity, ahead);
        root->rotation = quat_integrate(figure->root_rotation, root->angular_velocity, ahead);
    }
    cairn_figure_place(figure, ahead);
    cairn_figure_set_tree(world, figure);
}

static void hold_start(cairn_figure *figure) {
    figure->root_position = figure->links[0].position;
    figure->root_rotation = figure->links[0].rotation;
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        figure->links[i].start = figure->links[i].position;
    }
}

// Makes the velocities of the links those that joints of the world take as unconstrained.
static void keep_unconstrained(cairn_world *world, const cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        memcpy(world->soft_step->integration[link->solver_body].unconstrained_velocity,
            solver_body_of(world, link)->linear_velocity,
            sizeof world->soft_step->integration[0].unconstrained_velocity);
    }
}

static void begin(cairn_world *world, cairn_figure *figure) {
    const float h = world->soft_step->wide_context.h;
    if (figure->started) {
        cairn_free_motion_carry(figure, world->soft_step->wide_context.h);
    } else {
        cairn_free_motion_start(figure, h);
    }
    fall(world, figure);
    hold_start(figure);
    place_ahead(world, figure, 0.5f * h);
    cairn_free_motion_set_biases(figure);
    cairn_free_motion_solve(figure, h);
    figure->started = true;
    figure->factored = true;
    figure->solved = true;
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        figure->solved = !push_by_forces(world, figure, i) && figure->solved;
    }
    set_axis_impulses(figure, h);
    figure->solved = figure->solved && figure->factored;
    solve(world, figure, ROUNDS_FIRST, true);
    keep_unconstrained(world, figure);
}

void cairn_articulations_begin(cairn_world *world, uint32_t rank, uint32_t size) {
    for_figures(world, rank, size, begin);
    for_batches(world, rank, size, kernel_of(world)->begin);
}

static void spread(cairn_world *world, cairn_figure *figure) {
    if (take_pushes(world, figure, false)) {
        solve(world, figure, ROUNDS, true);
    }
}

void cairn_articulations_spread(cairn_world *world, uint32_t rank, uint32_t size) {
    for_figures(world, rank, size, spread);
    for_batches(world, rank, size, kernel_of(world)->spread);
}

// An impact changes the unconstrained velocity as well. Else the joints would undo the change, as
// if it were an impulse of theirs.
static void spread_impacts(cairn_world *world, cairn_figure *figure) {
    if (take_pushes(world, figure, false)) {
        solve(world, figure, ROUNDS, true);
        keep_unconstrained(world, figure);
    }
}

void cairn_articulations_spread_impacts(cairn_world *world, uint32_t rank, uint32_t size) {
    for_figures(world, rank, size, spread_impacts);
    for_batches(world, rank, size, kernel_of(world)->spread_impacts);
}

void cairn_articulations_spread_biased(cairn_world *world, uint32_t rank, uint32_t size) {
    for_figures(world, rank, size, spread);
    for_batches(world, rank, size, kernel_of(world)->spread_biased);
}

static void spread_joints(cairn_world *world, cairn_figure *figure) {
    if (take_pushes(world, figure, world->soft_step->joint_graph.edge_count > 0)) {
        solve(world, figure, ROUNDS, false);
    }
}

void cairn_articulations_spread_joints(cairn_world *world, uint32_t rank, uint32_t size) {
    for_figures(world, rank, size, spread_joints);
    for_batches(world, rank, size, kernel_of(world)->spread_joints);
}

// A figure that floats moves on as its momentum does: the way of the root is set right by what the
// others' turning adds to it.
static void place_centre(cairn_figure *figure, float h) {
    cairn_vec3 wrong = vec3_zero();
    float mass = 0.0f;
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        const cairn_vec3 way = vec3_sub(link->position, link->start);
        wrong = vec3_add_scaled(wrong, vec3_sub_scaled(way, link->linear_velocity, h), link->mass);
        mass += link->mass;
    }
    const cairn_vec3 back = vec3_scale(wrong, 1.0f / mass);
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        figure->links[i].position = vec3_sub(figure->links[i].position, back);
    }
}

// What forces did on the speeds, less what they did on the way.
static void set_excess(const cairn_world *world, cairn_figure *figure, float h) {
    const bool moves =
        !vec3_is_zero(figure->tree.base.angular) || !vec3_is_zero(figure->tree.base.linear);
    figure->excess = 0.0f;
    if (figure->base == CAIRN_INDEX_NONE || moves) {
        return;
    }
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        const cairn_vec3 way = vec3_sub(link->position, link->start);
        const cairn_vec3 more = vec3_sub_scaled(link->linear_velocity, way, 1.0f / h);
        figure->excess += link->mass * vec3_dot(fall_of(world, link), more);
    }
}

static void advance(cairn_world *world, cairn_figure *figure) {
    const float h = world->soft_step->wide_context.h;
    cairn_figure_set_spins(figure);
    cairn_figure_advance(figure, h);
    cairn_articulations_move_base(world, figure, 0.0f);
    cairn_figure_place(figure, 0.0f);
    if (figure->base == CAIRN_INDEX_NONE) {
        place_centre(figure, h);
    }
    set_excess(world, figure, h);
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        figure->axes[i].below += h * figure->tree.dofs[i].value;
        figure->axes[i].above -= h * figure->tree.dofs[i].value;
    }
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        const cairn_motion *motion = &world->state.motions[link->body];
        cairn_solver_body *body = solver_body_of(world, link);
        copy3(body->delta_position,
            vec3_sub(vec3_add(link->position, figure->origin), motion->position));
        copy3(body->delta_rotation,
            vector_of_quat(quat_multiply(link->rotation, quat_conjugate(motion->rotation))));
    }
    write_velocities(world, figure);
}

void cairn_articulations_advance(cairn_world *world, uint32_t rank, uint32_t size) {
    for_figures(world, rank, size, advance);
    for_batches(world, rank, size, kernel_of(world)->advance);
}

// Whether an axis is at a limit, which it may have been pushed back to.
static bool any_at_limit(const cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        if (figure->axes[i].mode >= CAIRN_AXIS_AT_LOWER) {
            return true;
        }
    }
    return false;
}

static void relax(cairn_world *world, cairn_figure *figure) {
    const bool pushed = take_pushes(world, figure, false);
    if (pushed || any_at_limit(figure)) {
        solve(world, figure, ROUNDS, false);
    }
}

void cairn_articulations_relax(cairn_world *world, uint32_t rank, uint32_t size) {
    for_figures(world, rank, size, relax);
    for_batches(world, rank, size, kernel_of(world)->relax);
}

void cairn_articulations_relax_last(cairn_world *world, uint32_t rank, uint32_t size) {
    for_figures(world, rank, size, relax);
    for_batches(world, rank, size, kernel_of(world)->relax_last);
}

// ---- The end of a step

// Of a body that is disabled because it left the valid range.
static float finite_or_zero(float value) {
    return float_finite(value) ? value + 0.0f : 0.0f;
}

static cairn_vec3 finite3(cairn_vec3 value) {
    return vec3(finite_or_zero(value.x), finite_or_zero(value.y), finite_or_zero(value.z));
}

// What each joint exerts on its link: all that the links from it on need beside their pushes.
static void store_reactions(cairn_world *world, cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        cairn_tree_link *link = &figure->tree.links[i];
        link->pending = spatial_add(link->bias, spatial_inertia_apply(&link->inertia, link->value));
        link->pending = spatial_sub(link->pending, figure->links[i].aside);
    }
    for (uint32_t i = figure->tree.link_count; i > 0; --i) {
        const cairn_figure_link *link = &figure->links[i - 1];
        const cairn_tree_link *in_tree = &figure->tree.links[i - 1];
        if (in_tree->parent != CAIRN_INDEX_NONE) {
            cairn_tree_link *parent = &figure->tree.links[in_tree->parent];
            parent->pending = spatial_add(parent->pending, in_tree->pending);
        }
        if (link->joint == NULL) {
            continue;
        }
        cairn_joint_drive *drive = &world->state.joint_drives[link->drive];
        const cairn_vec3 anchor =
            vec3_add(link->position, quat_rotate(link->rotation, link->arm_b));
        drive->reaction_force = finite3(in_tree->pending.linear);
        drive->reaction_torque = finite3(
            vec3_sub(in_tree->pending.angular, vec3_cross(anchor, in_tree->pending.linear)));
        for (uint32_t k = 0; k < in_tree->dof_count; ++k) {
            const cairn_tree_dof *dof = &figure->tree.dofs[in_tree->first_dof + k];
            drive->impulses[k] = dof->locked != 0 ? finite_or_zero(dof->reaction) : 0.0f;
            drive->impulses[3 + k] = (float)figure->axes[in_tree->first_dof + k].mode;
        }
        cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINT_DRIVES, link->drive);
    }
}

// Moves the momentum to the last pose, so that the velocities in the state are those of the joints.
static void finish(cairn_world *world, cairn_figure *figure) {
    if (take_pushes(world, figure, false)) {
        solve(world, figure, ROUNDS, false);
    }
    store_reactions(world, figure);
    cairn_free_motion_carry(figure, world->soft_step->wide_context.h);
    cairn_figure_set_tree(world, figure);
    cairn_free_motion_set_biases(figure);
    for (uint32_t i = 0; i < figure->tree.dof_count; ++i) {
        cairn_tree_dof *dof = &figure->tree.dofs[i];
        dof->force = dof->armature * figure->axes[i].rotor;
    }
    cairn_tree_factor(&figure->tree);
    cairn_tree_solve(&figure->tree);
    cairn_figure_read_velocities(figure);
    write_velocities(world, figure);
}

void cairn_articulations_finish(cairn_world *world, uint32_t rank, uint32_t size) {
    for_figures(world, rank, size, finish);
    for_batches(world, rank, size, kernel_of(world)->finish);
}

static void store(cairn_world *world, cairn_figure *figure) {
    for (uint32_t i = 0; i < figure->tree.link_count; ++i) {
        const cairn_figure_link *link = &figure->links[i];
        unsigned char *outcome = &world->soft_step->outcome[link->solver_body];
        cairn_motion *motion = &world->state.motions[link->body];
        *outcome = (unsigned char)(*outcome & ~CAIRN_OUTCOME_STRAYED);
        if ((*outcome & CAIRN_OUTCOME_INVALID) != 0) {
            continue;
        }
        motion->position = vec3_clean(vec3_add(link->position, figure->origin));
        motion->rotation = (cairn_quat){.x = link->rotation.x + 0.0f,
            .y = link->rotation.y + 0.0f,
            .z = link->rotation.z + 0.0f,
            .w = link->rotation.w + 0.0f};
        const cairn_vec3 centre = world->state.bodies[link->body].centre;
        motion->origin =
            vec3_clean(vec3_sub(motion->position, quat_rotate(motion->rotation, centre)));
    }
}

void cairn_articulations_store(cairn_world *world, uint32_t rank, uint32_t size) {
    for_figures(world, rank, size, store);
    for_batches(world, rank, size, kernel_of(world)->store);
}

uint32_t cairn_articulations_leave_out(
    const cairn_world *world, const uint32_t *from, uint32_t count, uint32_t *to) {
    const cairn_forest *forest = &world->soft_step->forest;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (forest->figure_count == 0 || !cairn_forest_has(forest, from[i])) {
            to[kept++] = from[i];
        }
    }
    return kept;
}

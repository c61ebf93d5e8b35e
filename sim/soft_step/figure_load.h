// SPDX-License-Identifier: MIT
#pragma once

// A batch in lanes at the start of a step, from its figures: load_figure of articulations.c, and
// cairn_free_motion_start.

#include "sim/soft_step/figure_motion.h"

// As in articulations.c and free_motion.c.
#define SHARE_MIN (1.0f / 1024.0f)
#define NOT_ALLOWED 1e-8f

static void load_body_of(const figure_run *run, uint32_t g, uint32_t l,
    const cairn_figure_link *link, const cairn_figure *figure) {
    wide_link *to = &run->blocks[g];
    const cairn_soft_step *soft_step = run->world->soft_step;
    const cairn_solver_integration *by = &soft_step->integration[link->solver_body];
    const cairn_motion *motion = &run->world->state.motions[link->body];
    const cairn_vec3 fall = vec3_scale(vec3_scale(run->world->state.settings->present_gravity,
                                           run->world->state.bodies[link->body].gravity_scale),
        run->h);
    LANE_BITS(to->live, l) = l < run->groups[g].live ? -1 : 0;
    LANE_BITS(to->touched, l) = link->touched ? -1 : 0;
    run->wide->bodies[run->first_lane + g * CAIRN_LANES + l] = link->solver_body;
    LANE(to->mass, l) = link->mass;
    put_sym3(&to->own_inertia, l, link->inertia);
    put_sym3(&to->inverse_inertia, l, link->inverse_inertia);
    put3(&to->fall, l, fall);
    put3(&to->change, l,
        vec3_scale(vec3_sub(vec3_at(by->velocity_change), fall), by->damping_factor[0]));
    put3(&to->turn_change, l, vec3_scale(vec3_at(by->velocity_change + 4), by->damping_factor[4]));
    LANE(to->linear_damped, l) = by->damping_factor[0] - 1.0f;
    LANE(to->angular_damped, l) = by->damping_factor[4] - 1.0f;
    put3(&to->origin, l, figure->origin);
    put3(&to->step_position, l, motion->position);
    put_quat(&to->step_rotation, l, motion->rotation);
    LANE_BITS(to->floats, l) = figure->base == CAIRN_INDEX_NONE ? -1 : 0;
    put_quat(&to->rotation, l, link->rotation);
    put3(&to->position, l, link->position);
    put3(&to->linear_velocity, l, link->linear_velocity);
    put3(&to->angular_velocity, l, link->angular_velocity);
}

static void load_joint_of(const figure_run *run, wide_link *to, uint32_t l,
    const cairn_figure_link *link, const cairn_figure_axis *axes, const cairn_tree_link *in_tree) {
    const cairn_joint *joint = link->joint;
    const cairn_joint_drive *drive = &run->world->state.joint_drives[link->drive];
    const bool slides = joint->kind == CAIRN_JOINT_PRISMATIC;
    put_quat(&to->frame_a, l, link->frame_a);
    put_quat(&to->back_b, l, quat_conjugate(link->frame_b));
    put3(&to->arm_a, l, link->arm_a);
    put3(&to->arm_b, l, link->arm_b);
    LANE(to->turn_x, l) = link->turn.x;
    LANE(to->turn_w, l) = link->turn.w;
    LANE(to->travel, l) = link->travel;
    if (in_tree->dof_count == 0) {
        return;
    }
    cairn_figure_axis hold = {.mode = axes[in_tree->first_dof].mode};
    cairn_axis_set_hold(&hold, drive, drive->motor_speed);
    LANE_BITS(to->turns, l) = slides ? 0 : -1;
    LANE_BITS(to->slides, l) = slides ? -1 : 0;
    LANE_BITS(to->limited, l) = joint->limited != 0 ? -1 : 0;
    LANE_BITS(to->read, l) = joint->limited != 0 || drive->drive_stiffness > 0.0f ? -1 : 0;
    LANE(to->lower, l) = joint->lower;
    LANE(to->upper, l) = joint->upper;
    LANE(to->armature, l) = drive->armature;
    LANE(to->stiffness, l) = drive->drive_stiffness;
    LANE(to->rate, l) = drive->drive_damping;
    LANE(to->target, l) = drive->target;
    LANE(to->torque, l) = drive->drive_torque.x;
    LANE(to->speed, l) = hold.speed;
    LANE(to->least, l) = hold.least;
    LANE(to->most, l) = hold.most;
    LANE_BITS(to->mode, l) = (int32_t)hold.mode;
}

static void load_links(const figure_run *run) {
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *to = &run->blocks[g];
        memset(to, 0, sizeof *to);
        for (uint32_t l = 0; l < CAIRN_LANES; ++l) {
            cairn_figure_link *link = link_at(run, g, l);
            const cairn_figure *figure = figure_at(run, place_at(run, g, l));
            link->solver_body = run->world->soft_step->solver_body_of[link->body];
            load_body_of(run, g, l, link, figure);
            if (link->joint != NULL) {
                load_joint_of(
                    run, to, l, link, figure->axes, &figure->tree.links[link - figure->links]);
            }
        }
    }
}

static lanes_sym3 sym3_scaled(lanes_sym3 m, lanes s) {
    return (lanes_sym3){m.xx * s, m.yy * s, m.zz * s, m.xy * s, m.xz * s, m.yz * s};
}

// sym3_inverse_scaled of sim/math/vec.h.
static lanes_sym3 inverse_scaled(lanes_sym3 full) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes size = full.xx + full.yy + full.zz;
    const lanes_mask some = lanes_less(lanes_all(1e-30f), size);
    const lanes scale = lanes_select(some, one / lanes_select(some, size, one), zero);
    const lanes_sym3 m = sym3_scaled(full, scale);
    const lanes xx = m.yy * m.zz - m.yz * m.yz;
    const lanes xy = m.xz * m.yz - m.xy * m.zz;
    const lanes xz = m.xy * m.yz - m.xz * m.yy;
    const lanes determinant = m.xx * xx + m.xy * xy + m.xz * xz;
    const lanes_mask positive = lanes_less(zero, determinant);
    const lanes inverse =
        lanes_select(positive, one / lanes_select(positive, determinant, one), zero);
    const lanes_sym3 unit = {.xx = xx * inverse,
        .yy = (m.xx * m.zz - m.xz * m.xz) * inverse,
        .zz = (m.xx * m.yy - m.xy * m.xy) * inverse,
        .xy = xy * inverse,
        .xz = xz * inverse,
        .yz = (m.xy * m.xz - m.xx * m.yz) * inverse};
    return sym3_scaled(unit, scale);
}

// A body that the solver takes for heavier, because it is squeezed, is so in the tree.
static void take_masses(const figure_run *run) {
    const lanes one = lanes_all(1.0f);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const float *rows[CAIRN_LANES];
        lanes inverse[CAIRN_ROW_FLOATS];
        float masses[CAIRN_LANES];
        for (uint32_t l = 0; l < CAIRN_LANES; ++l) {
            const cairn_solver_body *body =
                &run->world->soft_step->bodies[solver_body_at(run, g, l)];
            rows[l] = body->inverse_inertia;
            masses[l] = body->inverse_mass;
        }
        lanes_load_rows(rows, inverse);
        memcpy(&link->solver_inverse_mass, masses, sizeof masses);
        const lanes scale = one / (link->solver_inverse_mass * link->mass);
        link->mass *= scale;
        link->own_inertia = sym3_scaled(link->own_inertia, scale);
        link->inverse_inertia = sym3_scaled(link->inverse_inertia, one / scale);
        link->world_inertia = inverse_scaled(
            (lanes_sym3){inverse[0], inverse[1], inverse[2], inverse[3], inverse[4], inverse[5]});
        link->solver_mass = link->mass;
        link->solver_inertia = link->world_inertia;
    }
}

// ---- What contacts take for the mass of a link

static void add_products(articulated_lanes *i, spatial_lanes a, spatial_lanes b) {
    articulated_lanes_sub_square(i, spatial_lanes_sub(a, b), lanes_all(0.5f));
    articulated_lanes_sub_square(i, spatial_lanes_add(a, b), lanes_all(-0.5f));
}

// What an axis adds to the response of what is above it.
static void respond(
    articulated_lanes *response, spatial_lanes along, spatial_lanes moved, lanes inverse) {
    const lanes zero = lanes_all(0.0f);
    const spatial_lanes carried = articulated_lanes_apply(response, moved);
    const lanes more = lanes_all(1.0f) + spatial_lanes_dot(moved, carried) * inverse;
    const spatial_lanes own =
        spatial_lanes_add_scaled(spatial_lanes_zero(), along, lanes_all(0.5f) * more * inverse);
    add_products(response, along, spatial_lanes_add_scaled(own, carried, zero - inverse));
}

static lanes lanes_abs(lanes a) {
    return lanes_max(a, lanes_all(0.0f) - a);
}

static lanes push_share(const wide_link *link, const articulated_lanes *response) {
    const lanes zero = lanes_all(0.0f);
    lanes rows[3];
    for (uint32_t i = 0; i < 3; ++i) {
        const lanes3 force = lanes3_of(
            i == 0 ? link->mass : zero, i == 1 ? link->mass : zero, i == 2 ? link->mass : zero);
        const spatial_lanes push = spatial_lanes_of_force(link->position, force, lanes3_zero());
        const lanes3 moved =
            spatial_lanes_velocity_at(articulated_lanes_apply(response, push), link->position);
        rows[i] = lanes_abs(moved.x) + lanes_abs(moved.y) + lanes_abs(moved.z);
    }
    return lanes_all(2.0f) * lanes_max(rows[0], lanes_max(rows[1], rows[2]));
}

static lanes twist_share(const wide_link *link, const articulated_lanes *response) {
    const lanes two = lanes_all(2.0f);
    const lanes_sym3 *a = &link->world_inertia;
    const lanes_sym3 *b = &response->angular;
    return two * (a->xx * b->xx + a->yy * b->yy + a->zz * b->zz +
                     two * (a->xy * b->xy + a->xz * b->xz + a->yz * b->yz));
}

static lanes share_of(lanes share) {
    return lanes_min(lanes_max(share, lanes_all(SHARE_MIN)), lanes_all(1.0f));
}

static void set_solver_mass(
    const figure_run *run, uint32_t g, uint32_t l, float push, float twist) {
    wide_link *link = &run->blocks[g];
    cairn_solver_body *body = &run->world->soft_step->bodies[solver_body_at(run, g, l)];
    body->inverse_mass *= push;
    for (uint32_t k = 0; k < 6; ++k) {
        body->inverse_inertia[k] *= twist;
    }
    body->closing = 1.0f / CAIRN_CLOSING_SPEED_MAX;
    LANE(link->solver_inverse_mass, l) = body->inverse_mass;
    LANE(link->solver_mass, l) = 1.0f / body->inverse_mass;
    for (uint32_t k = 0; k < 6; ++k) {
        ((float *)&link->solver_inertia)[k * CAIRN_LANES + l] =
            ((const float *)&link->world_inertia)[k * CAIRN_LANES + l] * (1.0f / twist);
    }
}

static void set_masses_of(const figure_run *run, uint32_t g, const articulated_lanes *response) {
    const wide_link *link = &run->blocks[g];
    const lanes push = share_of(push_share(link, response));
    const lanes twist = share_of(twist_share(link, response));
    for (uint32_t bits = lane_bits(link->touched & link->live); bits != 0; bits &= bits - 1) {
        const uint32_t l = lowest_bit(bits);
        set_solver_mass(run, g, l, ((const float *)&push)[l], ((const float *)&twist)[l]);
    }
}

// The responses take the place of the articulated inertias, which are not read again.
static void set_solver_masses(const figure_run *run) {
    const lanes h = lanes_all(run->h);
    float of_base[CAIRN_BATCH_FIGURES][BASE_NUMBERS];
    memset(of_base, 0, sizeof of_base);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        link->tree_armature = link->armature + h * (link->rate + h * link->stiffness);
    }
    mark_all_stale(run);
    solve_up(run);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        articulated_lanes response;
        load_above(run, g, offsetof(wide_link, articulated), 21, of_base[0], (lanes *)&response);
        if (run->groups[g].root == 0) {
            respond(&response, link->along, link->moved, link->inverse);
        }
        for (uint32_t k = 0; run->groups[g].root != 0 && k < 6; ++k) {
            const wide_root *root = &run->roots[g];
            respond(&response, root->along[k], root->moved[k], root->inverse[k]);
        }
        link->articulated = response;
        if (any_lane(link->touched & link->live)) {
            set_masses_of(run, g, &response);
        }
        link->tree_armature = link->armature;
    }
}

// ---- The carried motion

static void set_momenta(const figure_run *run, const set_in_order *set) {
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const lanes_mask mask = lanes_in(run, g, set);
        const lanes3 own = quat_lanes_rotate_inverse(link->rotation, link->angular_velocity);
        const lanes3 l = lanes_sym3_apply(link->own_inertia, own);
        link->carried_from = link->position;
        link->momentum =
            lanes3_select(mask, lanes3_scale(link->linear_velocity, link->mass), link->momentum);
        link->angular_momentum =
            lanes3_select(mask, quat_lanes_rotate(link->rotation, l), link->angular_momentum);
        link->turning = lanes_select(mask, lanes3_dot(own, l), link->turning);
    }
}

// Takes the speed of the axis from the velocities, and what the joint does not allow of these.
static void read_speed(wide_link *link, spatial_lanes before) {
    const lanes zero = lanes_all(0.0f);
    const spatial_lanes relative = spatial_lanes_sub(link->value, before);
    const lanes speed = lanes_select(link->turns, lanes3_dot(relative.angular, link->along.angular),
        lanes3_dot(relative.linear, link->along.linear));
    const spatial_lanes rest = spatial_lanes_add_scaled(relative, link->along, zero - speed);
    const lanes size = link->own_inertia.xx + link->own_inertia.yy + link->own_inertia.zz;
    const lanes3 linear = spatial_lanes_velocity_at(rest, link->position);
    link->axis_value = speed;
    link->term[1] =
        link->mass * lanes3_dot(linear, linear) + size * lanes3_dot(rest.angular, rest.angular);
}

// Adds the figures whose joints do not allow their velocities to the set.
static void read_speeds(const figure_run *run, figure_set *wrong) {
    float of_base[CAIRN_BATCH_FIGURES][BASE_NUMBERS];
    list_base_velocities(run, of_base);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        spatial_lanes before;
        link->value.angular = link->angular_velocity;
        link->value.linear =
            lanes3_add(link->linear_velocity, lanes3_cross(link->position, link->angular_velocity));
        load_above(run, g, offsetof(wide_link, value), 6, of_base[0], (lanes *)&before);
        link->term[0] =
            link->mass * lanes3_dot(link->linear_velocity, link->linear_velocity) + link->turning;
        if (run->groups[g].root == 0) {
            read_speed(link, before);
        }
    }
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        const cairn_figure *figure = figure_at(run, i);
        const float all = sum_of(run, figure, offsetof(wide_link, term[0]));
        const float missing = sum_of(run, figure, offsetof(wide_link, term[1]));
        wrong->has[i] = missing <= NOT_ALLOWED * all ? 0 : -1;
    }
}

// Takes what of their momentum the joints of these figures allow.
static void allow(const figure_run *run, const figure_set *set) {
    const set_in_order allowed = in_order(run, set);
    set_biases(run);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        link->force = link->tree_armature * link->axis_rotor;
    }
    mark_all_stale(run);
    solve_up(run);
    solve_down(run, set);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const lanes_mask mask = lanes_in(run, g, &allowed);
        link->linear_velocity = lanes3_select(mask,
            spatial_lanes_velocity_at(link->value, link->tree_position), link->linear_velocity);
        link->angular_velocity = lanes3_select(mask, link->value.angular, link->angular_velocity);
    }
    set_momenta(run, &allowed);
    set_spins(run);
}

static void start(const figure_run *run) {
    const figure_set all = set_all();
    const set_in_order everyone = in_order(run, &all);
    figure_set wrong;
    memset(&wrong, 0, sizeof wrong);
    find_fast(run);
    set_momenta(run, &everyone);
    read_speeds(run, &wrong);
    set_spins(run);
    if (set_any(run, &wrong)) {
        allow(run, &wrong);
    }
}

static void load(cairn_world *world, const cairn_figure_batch *batch) {
    const figure_run run = run_of(world, batch);
    bool touched = false;
    load_links(&run);
    take_masses(&run);
    place(&run, 0.0f);
    move_bases(&run, 0.0f);
    set_tree(&run);
    for (uint32_t i = 0; i < batch->figure_count; ++i) {
        touched = touched || figure_at(&run, i)->touched;
        figure_at(&run, i)->started = false;
    }
    if (touched) {
        set_solver_masses(&run);
    }
}

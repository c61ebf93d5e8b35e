// SPDX-License-Identifier: MIT
#pragma once

// A batch in lanes at the start of a step, from its figures: load_figure of articulations.c, and
// cairn_free_motion_start.

#include "sim/soft_step/figure_motion.h"
#include "sim/state/trace_hook.h"

// As in articulations.c and free_motion.c.
#define SHARE_MIN (1.0f / 1024.0f)
#define NOT_ALLOWED 1e-8f

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

// Where the numbers of a group's links are in the state and in the solver.
typedef struct link_sources {
    const void *motions[CAIRN_LANES];
    const void *bodies[CAIRN_LANES];
    const void *bodies_a[CAIRN_LANES];
    const void *joints[CAIRN_LANES];
    const void *drives[CAIRN_LANES];
    const void *integration[CAIRN_LANES];
} link_sources;

static const cairn_joint no_joint;
static const cairn_joint_drive no_drive;

// The floats of the structs from which on rows of eight are read.
#define BODY_CENTRE 6   // the centre is in lanes 5 to 7
#define BODY_MASSES 14  // mass, inverse mass, inverse inertia
#define BODY_RATES 17   // dampings and gravity scale are in lanes 5 to 7
#define JOINT_ANCHORS 7 // anchor_a, anchor_b
#define JOINT_AXES 20   // axis_a, axis_b, normal_a, normal_b, cone, lower, upper
#define DRIVE_NUMBERS (offsetof(cairn_joint_drive, drive_stiffness) / sizeof(float))

_Static_assert(offsetof(cairn_body, centre) == 4 * (BODY_CENTRE + 5), "lanes 5 to 7");
_Static_assert(offsetof(cairn_body, mass) == 4 * BODY_MASSES, "a row begins here");
_Static_assert(offsetof(cairn_body, gravity_scale) == 4 * (BODY_RATES + 7), "lane 7");
_Static_assert(offsetof(cairn_joint, anchor_a) == 4 * JOINT_ANCHORS, "a row begins here");
_Static_assert(offsetof(cairn_joint, axis_a) == 4 * JOINT_AXES, "a row begins here");
_Static_assert(offsetof(cairn_joint, limited) == 4 * (JOINT_AXES + 15), "two rows");
_Static_assert(offsetof(cairn_joint_drive, armature) ==
                   offsetof(cairn_joint_drive, drive_stiffness) + 6 * sizeof(float),
    "a row has them all");

static void find_source(const figure_run *run, uint32_t g, uint32_t l, link_sources *out) {
    const cairn_state *state = &run->world->state;
    const cairn_soft_step *soft_step = run->world->soft_step;
    const uint32_t lane = lane_index(run, g, l);
    const uint32_t slot = run->wide->slots[lane];
    const uint32_t drive = run->wide->drives[lane];
    const uint32_t body = soft_step->solver_body_of[slot];
    const bool joined = drive != CAIRN_INDEX_NONE;
    const cairn_joint *joint =
        joined ? &state->joints[state->joint_drives[drive].joint] : &no_joint;
    CAIRN_ASSERT(body < soft_step->moving_count);
    run->wide->bodies[lane] = body;
    out->motions[l] = &state->motions[slot];
    out->bodies[l] = &state->bodies[slot];
    out->bodies_a[l] = &state->bodies[joined ? cairn_id_index(joint->body_a) : slot];
    out->joints[l] = joint;
    out->drives[l] = joined ? &state->joint_drives[drive] : &no_drive;
    out->integration[l] = &soft_step->integration[body];
}

static void find_sources(const figure_run *run, uint32_t g, link_sources *out) {
    find_source(run, g, 0, out);
    for (uint32_t l = 1; l < CAIRN_LANES; ++l) {
        if (l < run->groups[g].live) {
            find_source(run, g, l, out);
            continue;
        }
        run->wide->bodies[lane_index(run, g, l)] = run->wide->bodies[lane_index(run, g, 0)];
        out->motions[l] = out->motions[0];
        out->bodies[l] = out->bodies[0];
        out->bodies_a[l] = out->bodies_a[0];
        out->joints[l] = out->joints[0];
        out->drives[l] = out->drives[0];
        out->integration[l] = out->integration[0];
    }
}

static void load_masks(const figure_run *run, uint32_t g, const link_sources *from) {
    wide_link *to = &run->blocks[g];
    const lanes_mask none = {0};
    to->live = to->touched = to->turns = to->slides = to->limited = to->read = none;
    for (uint32_t l = 0; l < run->groups[g].live; ++l) {
        const uint32_t lane = lane_index(run, g, l);
        const cairn_joint *joint = from->joints[l];
        const cairn_joint_drive *drive = from->drives[l];
        const bool moves =
            run->wide->drives[lane] != CAIRN_INDEX_NONE && joint->kind != CAIRN_JOINT_WELD;
        const bool slides = joint->kind == CAIRN_JOINT_PRISMATIC;
        const bool limited = moves && joint->limited != 0;
        LANE_BITS(to->live, l) = -1;
        LANE_BITS(to->touched, l) = run->forest->touched[run->wide->links[lane]] != 0 ? -1 : 0;
        LANE_BITS(to->turns, l) = moves && !slides ? -1 : 0;
        LANE_BITS(to->slides, l) = moves && slides ? -1 : 0;
        LANE_BITS(to->limited, l) = limited ? -1 : 0;
        LANE_BITS(to->read, l) = limited || (moves && drive->drive_stiffness > 0.0f) ? -1 : 0;
    }
}

static void load_bodies(
    const figure_run *run, wide_link *to, const link_sources *from, lanes3 origin) {
    const cairn_vec3 gravity = run->world->state.settings->present_gravity;
    const motion_lanes motion = load_motions(from->motions);
    lanes masses[CAIRN_ROW_FLOATS];
    lanes rates[CAIRN_ROW_FLOATS];
    lanes centres[CAIRN_ROW_FLOATS];
    lanes change[CAIRN_ROW_FLOATS];
    lanes damping[CAIRN_ROW_FLOATS];
    load_struct_row(from->bodies, BODY_MASSES, masses);
    load_struct_row(from->bodies, BODY_RATES, rates);
    load_struct_row(from->bodies, BODY_CENTRE, centres);
    load_struct_row(from->integration, 0, change);
    load_struct_row(from->integration, CAIRN_ROW_FLOATS, damping);
    const lanes3 fall = lanes3_scale(
        lanes3_scale(
            lanes3_of(lanes_all(gravity.x), lanes_all(gravity.y), lanes_all(gravity.z)), rates[7]),
        lanes_all(run->h));
    to->mass = masses[0];
    to->inverse_inertia =
        (lanes_sym3){masses[2], masses[3], masses[4], masses[5], masses[6], masses[7]};
    to->own_inertia = inverse_scaled(to->inverse_inertia);
    to->centre = lanes3_of(centres[5], centres[6], centres[7]);
    to->fall = fall;
    to->change =
        lanes3_scale(lanes3_sub(lanes3_of(change[0], change[1], change[2]), fall), damping[0]);
    to->turn_change = lanes3_scale(lanes3_of(change[4], change[5], change[6]), damping[4]);
    to->linear_damped = damping[0] - lanes_all(1.0f);
    to->angular_damped = damping[4] - lanes_all(1.0f);
    to->origin = origin;
    to->step_position = motion_position(&motion);
    to->step_rotation = motion_rotation(&motion);
    to->rotation = to->step_rotation;
    to->position = lanes3_sub(to->step_position, origin);
    to->linear_velocity = lanes3_of(motion.second[2], motion.second[3], motion.second[4]);
    to->angular_velocity = lanes3_of(motion.second[5], motion.second[6], motion.second[7]);
    to->spin_square = lanes3_dot(to->angular_velocity, to->angular_velocity);
}

// quat_of_axes of sim/math/rotation.h.
static lanes_quat quat_of_axes_lanes(lanes3 x, lanes3 y) {
    const lanes one = lanes_all(1.0f);
    const lanes3 z = lanes3_cross(x, y);
    const lanes trace = x.x + y.y + z.z;
    const lanes_mask up = lanes_less(lanes_all(0.0f), trace);
    const lanes_mask by_x = ~up & ~lanes_less(x.x, y.y) & ~lanes_less(x.x, z.z);
    const lanes_mask by_y = ~up & ~by_x & ~lanes_less(y.y, z.z);
    lanes_quat q = {z.x + x.z, z.y + y.z, one - x.x - y.y + z.z, x.y - y.x};
    const lanes_quat qy = {x.y + y.x, one - x.x + y.y - z.z, y.z + z.y, z.x - x.z};
    const lanes_quat qx = {one + x.x - y.y - z.z, x.y + y.x, z.x + x.z, y.z - z.y};
    const lanes_quat qu = {y.z - z.y, z.x - x.z, x.y - y.x, one + trace};
    q = quat_lanes_select(by_y, qy, q);
    q = quat_lanes_select(by_x, qx, q);
    return quat_lanes_normalize(quat_lanes_select(up, qu, q));
}

static void load_drives(wide_link *to, const link_sources *from, uint32_t live) {
    const lanes zero = lanes_all(0.0f);
    const lanes_mask moves = to->turns | to->slides;
    lanes numbers[CAIRN_ROW_FLOATS];
    lanes force = zero;
    load_struct_row(from->drives, DRIVE_NUMBERS, numbers);
    to->target = to->speed = zero;
    to->mode = (lanes_mask){0};
    for (uint32_t l = 0; l < live; ++l) {
        const cairn_joint_drive *drive = from->drives[l];
        const bool motor = (drive->flags & CAIRN_DRIVE_MOTOR) != 0;
        const float mode = drive->impulses[3];
        const bool known = mode >= 0.0f && mode <= (float)CAIRN_AXIS_AT_UPPER;
        LANE(to->target, l) = drive->target;
        LANE(to->speed, l) = motor ? drive->motor_speed : 0.0f;
        LANE(force, l) = motor ? drive->motor_force : 0.0f;
        LANE_BITS(to->mode, l) = known ? (int32_t)mode : CAIRN_AXIS_FREE;
    }
    const lanes friction = numbers[5];
    const lanes less = lanes_max(force - friction, zero);
    const lanes more = force + friction;
    to->mode &= moves;
    to->target = lanes_select(moves, to->target, zero);
    to->speed = lanes_select(moves, to->speed, zero);
    to->most = lanes_select(moves, lanes_select(lanes_less(zero, to->speed), less, more), zero);
    to->least =
        lanes_select(moves, zero - lanes_select(lanes_less(to->speed, zero), less, more), zero);
    to->stiffness = lanes_select(moves, numbers[0], zero);
    to->rate = lanes_select(moves, numbers[1], zero);
    to->torque = lanes_select(moves, numbers[2], zero);
    to->armature = lanes_select(moves, numbers[6], zero);
}

// Frames and limits of the joint. Until the tree is set, the frame on the link is in its place.
static void load_joint(wide_link *to, const link_sources *from) {
    lanes anchors[CAIRN_ROW_FLOATS];
    lanes axes[2 * CAIRN_ROW_FLOATS];
    lanes centres[CAIRN_ROW_FLOATS];
    load_struct_row(from->joints, JOINT_ANCHORS, anchors);
    load_struct_row(from->joints, JOINT_AXES, axes);
    load_struct_row(from->joints, JOINT_AXES + CAIRN_ROW_FLOATS, axes + CAIRN_ROW_FLOATS);
    load_struct_row(from->bodies_a, BODY_CENTRE, centres);
    const lanes_quat frame_b = quat_of_axes_lanes(
        lanes3_of(axes[3], axes[4], axes[5]), lanes3_of(axes[9], axes[10], axes[11]));
    to->frame_a = quat_of_axes_lanes(
        lanes3_of(axes[0], axes[1], axes[2]), lanes3_of(axes[6], axes[7], axes[8]));
    to->tree_rotation = frame_b;
    to->back_b = quat_lanes_conjugate(frame_b);
    to->lower = axes[13];
    to->upper = axes[14];
    to->arm_a = lanes3_sub(lanes3_of(anchors[0], anchors[1], anchors[2]),
        lanes3_of(centres[5], centres[6], centres[7]));
    to->arm_b = lanes3_sub(lanes3_of(anchors[3], anchors[4], anchors[5]), to->centre);
}

// The coordinates of a step's joints in the state.
static void load_coordinates(const figure_run *run, uint32_t step, pose_lanes parent) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    wide_link *to = &run->blocks[run->steps[step].group];
    const lanes_mask mask = lanes_of_step(run, step);
    const lanes_quat a = quat_lanes_multiply(parent.rotation, to->frame_a);
    const lanes_quat b = quat_lanes_multiply(to->rotation, to->tree_rotation);
    const lanes_quat turn = quat_lanes_normalize(quat_lanes_multiply(quat_lanes_conjugate(a), b));
    const lanes_mask twists =
        to->turns & lanes_less(lanes_all(1e-12f), turn.x * turn.x + turn.w * turn.w);
    const lanes_quat twist = quat_lanes_normalize((lanes_quat){turn.x, zero, zero, turn.w});
    const lanes3 anchor = lanes3_add(to->position, quat_lanes_rotate(to->rotation, to->arm_b));
    const lanes3 start = lanes3_add(parent.position, quat_lanes_rotate(parent.rotation, to->arm_a));
    const lanes travel = lanes3_dot(quat_lanes_x_axis(a), lanes3_sub(anchor, start));
    to->turn_x = lanes_select(mask, lanes_select(twists, twist.x, zero), to->turn_x);
    to->turn_w = lanes_select(mask, lanes_select(twists, twist.w, one), to->turn_w);
    to->travel = lanes_select(mask, lanes_select(to->slides, travel, zero), to->travel);
}

// What is read before it is first set.
static void clear_block(const figure_run *run, uint32_t g) {
    wide_link *to = &run->blocks[g];
    const lanes zero = lanes_all(0.0f);
    if (run->groups[g].root != 0) {
        // It has no joint.
        memset(to, 0, sizeof *to);
        return;
    }
    to->turn_x = to->turn_w = to->travel = zero;
    to->spin = to->rotor = to->force = to->reaction = zero;
    to->pull = to->impulse = to->axis_value = to->axis_rotor = to->axis_aside = zero;
    to->locked = to->factored_locked = (lanes_mask){0};
    to->momentum = to->angular_momentum = to->push = to->twist = lanes3_zero();
    to->turning = zero;
    to->aside = to->bias = spatial_lanes_zero();
}

static figure_set set_of_floating(const figure_run *run) {
    figure_set set;
    memset(&set, 0, sizeof set);
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        set.has[i] = figure_at(run, i)->base == CAIRN_INDEX_NONE ? -1 : 0;
    }
    return set;
}

static void load_links(const figure_run *run) {
    const figure_set floating = set_of_floating(run);
    const set_in_order floats = in_order(run, &floating);
    float of_base[BATCH_FIGURES][BASE_NUMBERS];
    float origins[BATCH_FIGURES][3] = {{0.0f}};
    figure_set held;
    memset(&held, 0, sizeof held);
    list_bases(run, of_base);
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        memcpy(origins[i], &figure_at(run, i)->origin, sizeof origins[i]);
    }
    const numbers_in_order x = numbers_of(run, &origins[0][0], 3);
    const numbers_in_order y = numbers_of(run, &origins[0][1], 3);
    const numbers_in_order z = numbers_of(run, &origins[0][2], 3);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *to = &run->blocks[g];
        link_sources from;
        clear_block(run, g);
        find_sources(run, g, &from);
        load_masks(run, g, &from);
        to->floats = lanes_in(run, g, &floats);
        load_bodies(run, to, &from,
            lanes3_of(lanes_by_figure(run, g, &x), lanes_by_figure(run, g, &y),
                lanes_by_figure(run, g, &z)));
        if (run->groups[g].root == 0) {
            load_joint(to, &from);
            load_drives(to, &from, run->groups[g].live);
            add_figures(run, g, lanes_less(to->least, to->most), &held);
        }
    }
    for (uint32_t s = 0; s < run->step_count; ++s) {
        if (run->steps[s].root == 0) {
            load_coordinates(run, s, pose_above(run, s, of_base[0]));
        }
    }
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        figure_at(run, i)->held = held.has[i] != 0;
    }
}

// A body that the solver takes for heavier, because it is squeezed, is so in the tree. Marks
// all bodies as links even if nothing touches them, because loops over bodies must not apply
// impulses to links.
static void take_masses(const figure_run *run) {
    const lanes one = lanes_all(1.0f);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        const float *rows[CAIRN_LANES];
        lanes inverse[CAIRN_ROW_FLOATS];
        float masses[CAIRN_LANES];
        for (uint32_t l = 0; l < CAIRN_LANES; ++l) {
            cairn_solver_body *body = &run->world->soft_step->bodies[solver_body_at(run, g, l)];
            rows[l] = body->inverse_inertia;
            masses[l] = body->inverse_mass;
            if (l < run->groups[g].live) {
                body->closing = 1.0f / CAIRN_CLOSING_SPEED_MAX;
            }
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
    float of_base[BATCH_FIGURES][BASE_NUMBERS];
    memset(of_base, 0, sizeof of_base);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        link->tree_armature = link->armature + h * (link->rate + h * link->stiffness);
    }
    mark_all_stale(run);
    solve_up(run);
    for (uint32_t s = 0; s < run->step_count; ++s) {
        const cairn_figure_step *step = &run->steps[s];
        const wide_link *link = &run->blocks[step->group];
        articulated_lanes response;
        load_above(run, s, offsetof(wide_link, articulated), 21, of_base[0], (lanes *)&response);
        if (step->root == 0) {
            respond(&response, link->along, link->moved, link->inverse);
        }
        for (uint32_t k = 0; step->root != 0 && k < 6; ++k) {
            const wide_root *root = &run->roots[step->group];
            respond(&response, root->along[k], root->moved[k], root->inverse[k]);
        }
        store_step(run, s, offsetof(wide_link, articulated), 21, (const lanes *)&response);
    }
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        if (any_lane(link->touched & link->live)) {
            set_masses_of(run, g, &link->articulated);
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
static void read_speed(wide_link *link, lanes_mask mask, spatial_lanes before) {
    const lanes zero = lanes_all(0.0f);
    const spatial_lanes relative = spatial_lanes_sub(link->value, before);
    const lanes speed = lanes_select(link->turns, lanes3_dot(relative.angular, link->along.angular),
        lanes3_dot(relative.linear, link->along.linear));
    const spatial_lanes rest = spatial_lanes_add_scaled(relative, link->along, zero - speed);
    const lanes size = link->own_inertia.xx + link->own_inertia.yy + link->own_inertia.zz;
    const lanes3 linear = spatial_lanes_velocity_at(rest, link->position);
    const lanes missing =
        link->mass * lanes3_dot(linear, linear) + size * lanes3_dot(rest.angular, rest.angular);
    link->axis_value = lanes_select(mask, speed, link->axis_value);
    link->term[1] = lanes_select(mask, missing, link->term[1]);
}

// Adds the figures whose joints do not allow their velocities to the set.
static void read_speeds(const figure_run *run, figure_set *wrong) {
    float of_base[BATCH_FIGURES][BASE_NUMBERS];
    list_base_velocities(run, of_base);
    for (uint32_t g = 0; g < run->count; ++g) {
        wide_link *link = &run->blocks[g];
        link->value.angular = link->angular_velocity;
        link->value.linear =
            lanes3_add(link->linear_velocity, lanes3_cross(link->position, link->angular_velocity));
        link->term[0] =
            link->mass * lanes3_dot(link->linear_velocity, link->linear_velocity) + link->turning;
    }
    for (uint32_t s = 0; s < run->step_count; ++s) {
        const cairn_figure_step *step = &run->steps[s];
        if (step->root == 0) {
            read_speed(
                &run->blocks[step->group], lanes_of_step(run, s), value_above(run, s, of_base[0]));
        }
    }
    const size_t offsets[2] = {offsetof(wide_link, term[0]), offsetof(wide_link, term[1])};
    float sums[2][BATCH_FIGURES];
    memset(sums, 0, sizeof sums);
    add_up(run, offsets, 2, sums);
    for (uint32_t i = 0; i < run->batch->figure_count; ++i) {
        wrong->has[i] = sums[1][i] <= NOT_ALLOWED * sums[0][i] ? 0 : -1;
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
}

static void set_spins(const figure_run *run) {
    for (uint32_t g = 0; g < run->count; ++g) {
        set_spin(&run->blocks[g]);
    }
}

// Driven joints are listed after the figures, and may end at any link.
static void find_read(const figure_run *run) {
    const bool all = run->world->soft_step->driven_count > 0 || cairn_traced(run->world);
    for (uint32_t g = 0; g < run->count; ++g) {
        const wide_link *link = &run->blocks[g];
        run->groups[g].read = all || any_lane(link->touched & link->live) ? 1 : 0;
    }
}

static void start(const figure_run *run) {
    const figure_set all = set_all();
    const set_in_order everyone = in_order(run, &all);
    figure_set wrong;
    memset(&wrong, 0, sizeof wrong);
    find_read(run);
    find_fast(run);
    set_momenta(run, &everyone);
    read_speeds(run, &wrong);
    set_spins(run);
    if (set_any(run, &wrong)) {
        allow(run, &wrong);
        set_spins(run);
    }
}

static void load(cairn_world *world, cairn_figure_batch *batch) {
    const figure_run run = run_of(world, batch);
    float of_base[BATCH_FIGURES][BASE_NUMBERS];
    bool touched = false;
    batch->ahead = false;
    load_links(&run);
    take_masses(&run);
    list_bases(&run, of_base);
    place_links(&run, 0.0f, of_base[0]);
    for (uint32_t g = 0; g < run.count; ++g) {
        set_tree(&run, g, false);
    }
    move_bases(&run, 0.0f);
    for (uint32_t i = 0; i < batch->figure_count; ++i) {
        touched = touched || figure_at(&run, i)->touched;
        figure_at(&run, i)->started = false;
    }
    if (touched) {
        set_solver_masses(&run);
    }
}

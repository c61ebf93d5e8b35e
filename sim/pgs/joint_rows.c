// SPDX-License-Identifier: MIT

// The rows about axes of hinges and cones, for the PGS solver (sim/soft_step/joint_angular.h
// has the substep solver's). A hinge: two across its axis, then its limits. A cone: its swing, then
// its limits.

#include "sim/limits.h"
#include "sim/pgs/pgs.h"
#include "sim/step.h"
#include "sim/world/joint.h"

static cairn_vec3 vec3_of(lanes3 v) {
    return vec3(v.x, v.y, v.z);
}

static cairn_turn_row *add_row(
    const cairn_world *world, cairn_joint_constraint *constraint, cairn_vec3 axis, float impulse) {
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    const cairn_sym3 response = sym3_add(a->inverse_inertia, b->inverse_inertia);
    const float turn = vec3_dot(axis, sym3_apply(response, axis));
    const bool warm = world->state.settings->warm_start != 0;
    cairn_turn_row *row = &constraint->rows[constraint->row_count++];
    *row = (cairn_turn_row){
        .axis = axis, .mass = turn > 0.0f ? 1.0f / turn : 0.0f, .impulse = warm ? impulse : 0.0f};
    return row;
}

// `room` grows with the spin about the axis. Overstepped, a fraction of it is asked for; otherwise
// the row lets through the spin that uses the room up.
static void add_bound(const cairn_world *world, cairn_joint_constraint *constraint, cairn_vec3 axis,
    float room, float impulse) {
    const float rate = (float)world->state.settings->tick_rate_hz;
    const float share = room < 0.0f ? world->state.settings->baumgarte : 1.0f;
    cairn_turn_row *row = add_row(world, constraint, axis, impulse);
    row->bias = 0.0f - room * share * rate;
    row->one_sided = 1;
}

static void add_hinge(const cairn_world *world, cairn_joint_constraint *constraint,
    const axes_lanes *axes, const cairn_joint *joint) {
    const cairn_vec3 axis = vec3_of(axes->axis_a);
    const cairn_vec3 lean = vec3_cross(axis, vec3_of(axes->axis_b));
    const cairn_vec3 first = vec3_of(axes->normal_a);
    const cairn_vec3 across[2] = {first, vec3_cross(axis, first)};
    const cairn_settings *settings = world->state.settings;
    const float rate = settings->baumgarte * (float)settings->tick_rate_hz;
    for (uint32_t i = 0; i < 2; ++i) {
        const float impulse = vec3_dot(joint->angular_impulse, across[i]);
        cairn_turn_row *row = add_row(world, constraint, across[i], impulse);
        row->bias = 0.0f - rate * vec3_dot(lean, across[i]);
    }
}

static void add_swing(const cairn_world *world, cairn_joint_constraint *constraint,
    const axes_lanes *axes, const cairn_joint *joint) {
    const cairn_vec3 lean = vec3_cross(vec3_of(axes->axis_a), vec3_of(axes->axis_b));
    const cairn_vec3 outward = vec3_normalize(lean, vec3_of(axes->normal_a));
    add_bound(world, constraint, vec3_negate(outward), joint->cone - swing_of(axes),
        joint->swing_impulse);
}

// Along the bisector of the axes (sim/soft_step/joint_angular.h).
static void add_limits(const cairn_world *world, cairn_joint_constraint *constraint,
    const axes_lanes *axes, const cairn_joint *joint) {
    const cairn_vec3 sum = vec3_add(vec3_of(axes->axis_a), vec3_of(axes->axis_b));
    const float length = vec3_length(sum);
    const cairn_vec3 axis =
        vec3_select(length > 0.01f, vec3_scale(sum, 1.0f / float_max(length, 0.01f)), vec3_zero());
    const float scale = 0.5f * length;
    const float angle = angle_near(twist_of(axes), joint->lower, joint->upper);
    add_bound(world, constraint, axis, (angle - joint->lower) * scale, joint->lower_impulse);
    add_bound(
        world, constraint, vec3_negate(axis), (joint->upper - angle) * scale, joint->upper_impulse);
}

void cairn_joint_rows_prepare(const cairn_world *world, cairn_joint_constraint *constraint) {
    const cairn_joint *joint = &world->state.joints[constraint->joint];
    const axes_lanes axes = cairn_joint_axes(world, constraint->joint);
    if (joint->kind == CAIRN_JOINT_HINGE) {
        add_hinge(world, constraint, &axes, joint);
    } else {
        add_swing(world, constraint, &axes, joint);
    }
    if (joint->limited != 0) {
        add_limits(world, constraint, &axes, joint);
    }
}

void cairn_joint_rows_store(const cairn_joint_constraint *constraint, cairn_joint *joint) {
    const cairn_turn_row *rows = constraint->rows;
    uint32_t next = 0;
    if (joint->kind == CAIRN_JOINT_HINGE) {
        const cairn_vec3 held = vec3_add_scaled(
            vec3_scale(rows[0].axis, rows[0].impulse), rows[1].axis, rows[1].impulse);
        joint->angular_impulse =
            vec3(impulse_stored(held.x), impulse_stored(held.y), impulse_stored(held.z));
        next = 2;
    } else {
        joint->swing_impulse = impulse_stored(rows[0].impulse);
        next = 1;
    }
    if (constraint->row_count > next) {
        joint->lower_impulse = impulse_stored(rows[next].impulse);
        joint->upper_impulse = impulse_stored(rows[next + 1].impulse);
    }
}

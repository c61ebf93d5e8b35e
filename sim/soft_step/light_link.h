// SPDX-License-Identifier: MIT
#pragma once

// The two joints of a light link (light_links.c), solved together. Part of the joint constraints of
// one lane.
//
// A link of mass m between a fixed point and a body of mass M hands the pull of M on. Both joints
// move it along the pull: a visit of the one undoes M / (m + M) of what the last visit of the other
// did, so errors fade by that factor in a sweep, and by much less where springs of the link's small
// mass bear the load of M. A double pendulum with a lower bob ten times as heavy as the upper one
// opened its upper joint by 16 mm whenever it stretched out, and lost three quarters of its energy
// in a minute. Twenty sweeps of rows without springs still left it a third.
//
// So the outer joint is solved with the response that the link has while the inner one holds it: it
// turns about the fixed point, or about the axis of a hinge there. A visit of the inner joint then
// leaves neither of them an error: that is Gaussian elimination. Rows of axes of the outer joint
// have their usual response, which is larger, and converge in a few rounds. Each step minimizes the
// error over its rows or stops short of that, so none can diverge.
//
// The rows are rigid, and the biased ones ask for the chord of the velocities that they themselves
// bring about, each round for that of the last one. The joint is then closed at the end of the
// substep and its velocity tangential after the relax pass, which is RATTLE (Andersen 1983), and
// keeps energy whatever the rates are. With the chord of the last velocities half of the loss would
// be left: a light link turns round in a few substeps. Rounds that do not settle would feed energy
// (of 200 pendulums that were thrown 60 gained some), so then it is that chord after all.

#include "sim/soft_step/joint_angular.h"

// The inverse of the link's inertia about the point where the inner joint holds it.
INLINE lanes_sym3 inverse_inertia_about(const body_lanes *link, lanes3 arm) {
    const lanes mass = inverse_or_zero(link->inverse_mass);
    const lanes square = lanes3_dot(arm, arm);
    const lanes_sym3 i = inverse_of_k(*link->inverse_inertia);
    return inverse_of_k((lanes_sym3){.xx = i.xx + mass * (square - arm.x * arm.x),
        .yy = i.yy + mass * (square - arm.y * arm.y),
        .zz = i.zz + mass * (square - arm.z * arm.z),
        .xy = i.xy - mass * arm.x * arm.y,
        .xz = i.xz - mass * arm.x * arm.z,
        .yz = i.yz - mass * arm.y * arm.z});
}

// The same if a hinge leaves it this axis alone: a a^T / (a^T I a).
INLINE lanes_sym3 inverse_inertia_about_axis(lanes_sym3 inverse, lanes3 a) {
    const lanes factor = inverse_or_zero(lanes3_dot(a, lanes_sym3_apply(inverse_of_k(inverse), a)));
    return (lanes_sym3){.xx = a.x * a.x * factor,
        .yy = a.y * a.y * factor,
        .zz = a.z * a.z * factor,
        .xy = a.x * a.y * factor,
        .xz = a.x * a.z * factor,
        .yz = a.y * a.z * factor};
}

// By how much the mean velocity of the end of an arm over the substep differs from its velocity at
// the start, if the body rotates with w. `start`, `rotation`: the arm at the start of the step, and
// what the body has rotated since.
INLINE lanes3 arc_chord(
    const cairn_solver_context *context, lanes3 start, lanes3 rotation, lanes3 arm, lanes3 w) {
    const half_tangent turn =
        half_tangent_of(lanes3_add_scaled(rotation, w, lanes_all(context->h)));
    const lanes3 way = lanes3_sub(rotate_by_half_tangent(&turn, start), arm);
    return lanes3_sub(lanes3_scale(way, lanes_all(context->inverse_h)), lanes3_cross(w, arm));
}

// Returns whether it changes by less than CAIRN_LIGHT_LINK_SLACK of the arms in a substep.
INLINE bool update_arc_chord(const cairn_solver_context *context, const pair_motion *motion,
    linear_part *linear, const anchor_lanes *anchors, const body_lanes *a, const body_lanes *b) {
    const lanes3 of_a = arc_chord(
        context, anchors->arm_a0, motion->rotation_a, anchors->arm_a, a->angular_velocity);
    const lanes3 of_b = arc_chord(
        context, anchors->arm_b0, motion->rotation_b, anchors->arm_b, b->angular_velocity);
    const lanes3 chord = lanes3_sub(of_b, of_a);
    const lanes3 change = lanes3_sub(chord, linear->chord);
    const lanes arms =
        lanes3_dot(anchors->arm_a, anchors->arm_a) + lanes3_dot(anchors->arm_b, anchors->arm_b);
    const lanes most = lanes_all(CAIRN_LIGHT_LINK_SLACK * context->inverse_h);
    linear->chord = chord;
    return lanes_set(lanes_less(lanes3_dot(change, change), most * most * arms)) != 0;
}

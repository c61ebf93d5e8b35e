// SPDX-License-Identifier: MIT
#pragma once

// The gyroscopic torque of a body, an option (cairn_body_def.gyroscopic). Without torque the
// angular momentum L of a body stays, so its angular velocity w = I^-1 L does not, because the
// inertia I rotates with the body.
//
// One substep h, in body axes, implicitly (the implicit midpoint rule, on the rotation group): with
// the mean angular velocity m, the body rotates by h m and its momentum becomes
//
//     L' = rotation(-h m) L        m = I^-1 (L + L') / 2
//
// In world axes L stays as it is, exactly. So does the energy E = L . I^-1 L / 2, whatever h is:
//
//     E' - E = (L' - L) . I^-1 (L' + L) / 2 = (L' - L) . m = 0
//
// because a rotation about m does not change what is along m. The implicit Euler rule (Catto,
// "Numerical Methods", GDC 2015) is as stable, but takes energy: a tumbling body ends up rotating
// about its longest axis of inertia within a minute.
//
// Constraints act between the two halves of the substep: they see the body rotate at m, which is
// also how far it then rotates.

#include "sim/state/world.h"

typedef struct cairn_gyroscopic {
    cairn_sym3 inertia; // about the centre of mass, body axes
    cairn_sym3 inverse_inertia;
    cairn_quat rotation0; // at the start of the step
    cairn_quat rotation;  // now
    bool turns;           // impulses meet the inertia of `rotation`, not that of `rotation0`
    cairn_vec3 momentum;  // N m s, world axes, at the start of the substep or after the last one
    cairn_vec3 end;       // rad/s, world axes, after the last substep
    bool continues;       // there was a substep before, and `momentum` and `end` are valid
    cairn_vec3 mean;      // rad/s, world axes: m
} cairn_gyroscopic;

// Fills *out at the start of a step. False for a body without the option, without inertia,
// or with a lock about an axis.
bool cairn_gyroscopic_prepare(const cairn_world *world, uint32_t slot, cairn_gyroscopic *out);
// Starts a substep of h seconds at this angular velocity (world axes, before impulses). Returns the
// mean angular velocity, which is to replace it.
cairn_vec3 cairn_gyroscopic_begin(
    cairn_gyroscopic *gyroscopic, cairn_vec3 angular_velocity, float h);
// Ends the substep: rotates by this angular velocity, which is the mean one and what impulses have
// added. Returns the angular velocity at the end.
cairn_vec3 cairn_gyroscopic_finish(
    cairn_gyroscopic *gyroscopic, cairn_vec3 angular_velocity, float h);

// The angular velocity that a body of the world has, by its momentum, when it is turned back from
// the rotation that it has now; without the option the one that it has.
cairn_vec3 cairn_gyroscopic_turned_to(const cairn_world *world, uint32_t slot, cairn_quat rotation);

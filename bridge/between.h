// SPDX-License-Identifier: MIT
#pragma once

// Where a body is shown between two snapshots. Clients draw by it and the server looks back by it:
// one arithmetic, so that what was aimed at is what is hit.

#include "schema/messages.h"

// Positions, velocities: a straight line from `a` (share 0) to `b` (share 1).
void cairn_between_vec3(cairn_wire_vec3 a, cairn_wire_vec3 b, float share, float out[3]);
// Rotations: a straight line to b or its opposite, whichever is nearer, made unit again.
void cairn_between_quat(cairn_wire_quat a, cairn_wire_quat b, float share, float out[4]);
// Unit length; what has none becomes the identity.
void cairn_quat_make_unit(float q[4]);

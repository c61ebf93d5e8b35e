// SPDX-License-Identifier: MIT
#pragma once

// The pose of a body between two snapshots. Clients draw it and the server uses it for lag
// compensation: both use the same arithmetic, so that a player hits the body that was aimed at.

#include <cairn/types.h>

// Positions and velocities: linear from `a` (fraction 0) to `b` (fraction 1).
void cairn_interpolate_vec3(cairn_vec3 a, cairn_vec3 b, float fraction, float out[3]);
// Rotations: linear to `b` or -b, whichever is nearer, then normalised. With fraction 0 it is `a`,
// bit for bit: a state that is shown as it is must not be rounded again, and normalising a unit
// quaternion once more may round it to another one.
void cairn_interpolate_quat(cairn_quat a, cairn_quat b, float fraction, float out[4]);
// Scales to unit length; a zero quaternion becomes the identity.
void cairn_rotation_normalize(float q[4]);

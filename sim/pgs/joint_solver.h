// SPDX-License-Identifier: MIT
#pragma once

// The joints of the PGS solver: the edges of its joint graph.

#include "sim/state/world.h"

void cairn_pgs_joints_prepare(cairn_world *world);
void cairn_pgs_joints_warm_start(cairn_world *world);
// One sweep over all rows.
void cairn_pgs_joints_solve(cairn_world *world);
// Accumulated impulses into the joints.
void cairn_pgs_joints_store(cairn_world *world);

// SPDX-License-Identifier: MIT
#pragma once

// The contacts of the PGS solver: the edges of its contact graph.

#include "sim/state/world.h"

void cairn_pgs_contacts_prepare(cairn_world *world);
void cairn_pgs_contacts_warm_start(cairn_world *world);
// One sweep over all rows.
void cairn_pgs_contacts_solve(cairn_world *world);
// Accumulated impulses into the contact list.
void cairn_pgs_contacts_store(cairn_world *world);

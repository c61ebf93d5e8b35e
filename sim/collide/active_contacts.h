// SPDX-License-Identifier: MIT
#pragma once

// Active contacts and joints: those with a body that takes impulses in this step, without the
// overlaps of sensors. They are the input of both solvers.

#include "sim/constraint/graph.h"
#include "sim/state/world.h"

// Writes an edge for each, in the order of the contact list, and computes missing manifolds.
// Returns how many there are, at most the contact capacity. `solver_body_of`: by body slot; then
// edges have their solver bodies, of which `still` stands for all that do not move, and the colours
// of the last step, and the bodies that take impulses are marked in the awake set already. NULL:
// they have neither, and those bodies are marked here.
uint32_t cairn_active_contacts_gather(cairn_world *world, const uint32_t *solver_body_of,
    uint32_t still, cairn_constraint_edge *edges);
// The same for joints, in order of slot; the contacts must have been gathered before. Edges have
// the kind of their joint and no colour. Driven joints are not among them. `known`: so many edges
// are there from the last step; an edge that is the same stays as it is, with its colour. Sets
// *changed if some edge is new or gone.
uint32_t cairn_active_joints_gather(cairn_world *world, const uint32_t *solver_body_of,
    cairn_constraint_edge *edges, uint32_t known, bool *changed);
// Whether the joint of that drive is solved by its rows in this step. After the contacts.
bool cairn_joint_drive_active(const cairn_world *world, uint32_t index);

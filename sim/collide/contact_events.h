// SPDX-License-Identifier: MIT
#pragma once

// The contact events of a step, which are state: a rule that reads them must read the same after a
// restore. They are written once and in their final order: ends and begins while the contact list
// is edited, hits after the solver. Beyond the event capacity they are dropped and counted.

#include "sim/collide/manifold_pool.h"
#include "sim/constraint/graph.h"
#include "sim/state/world.h"

// Forgets the events of the last step.
void cairn_contact_events_clear(cairn_world *world);
// A contact that is removed from the list.
void cairn_contact_events_add_end(cairn_world *world, const cairn_contact *contact);
// A contact that is inserted; its manifold has been computed.
void cairn_contact_events_add_begin(
    cairn_world *world, const cairn_contact *contact, const cairn_contact_ref *ref);
// The hits among the contacts that were solved, before the bodies get their new velocities.
// `impulses`: normal impulses by index in the contact list, summed over the step.
void cairn_contact_events_add_hits(
    cairn_world *world, const cairn_constraint_graph *graph, const float *impulses);

// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

// Brings the contact list up to date for the pairs of bodies whose reference pose has changed:
// collides them, matches impulses by feature, and reports events of contacts that end, then of
// those that begin.
void cairn_contact_update(cairn_world *world);

// SPDX-License-Identifier: MIT
#pragma once

// The body events of a step, which are state like the contact events: which bodies woke and which
// fell asleep.

#include "sim/state/world.h"

// Forgets the events of the last step.
void cairn_body_events_clear(cairn_world *world);
// The events of this step, after islands have fallen asleep. A body that was asleep when the last
// step ended is CAIRN_SLEEP_WOKEN, whoever woke it since, and is now simply awake.
void cairn_body_events_add(cairn_world *world);

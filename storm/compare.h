// SPDX-License-Identifier: MIT
#pragma once

// Compares the worlds and snapshots of clients with the server's, tick by tick.

#include "storm/state.h"

// Hooks of the system, called after each turn of an endpoint; `storm` is a cairn_storm.
void cairn_storm_compare_server(void *storm);
void cairn_storm_compare_client(void *storm, uint32_t slot);
// A new server starts: nothing of the previous one is compared from now on.
void cairn_storm_forget_server(cairn_storm *s);

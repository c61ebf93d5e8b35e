// SPDX-License-Identifier: MIT
#pragma once

// Corrupted memory of clients that repair themselves, and the repairs.

#include "storm/state.h"

// Damages the client's world if its mode is one that repairs itself.
void cairn_storm_damage(cairn_storm *s, uint32_t slot);
// Damages the client's world once more while it waits for the server's repair, so that the repair
// cannot make the roots equal and the client needs the whole state.
void cairn_storm_damage_again(cairn_storm *s, uint32_t slot);
// The damaged world equals the server's again.
void cairn_storm_repaired(cairn_storm *s, uint32_t slot);
// Damages are repaired in time, nothing else is repaired, and no client is demoted.
void cairn_storm_check_damage(cairn_storm *s, uint32_t slot);

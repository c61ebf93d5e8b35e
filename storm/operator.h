// SPDX-License-Identifier: MIT
#pragma once

// A client whose token gives it the operator's right. It sends the requests of docs/PROTOCOL.md,
// Control, over its own link. No world may differ because of them, and the rollbacks they cause
// must name the operator as their cause.

#include "storm/state.h"

// Sends requests now and then, if the client plays.
void cairn_storm_operate(cairn_storm *s, uint32_t slot);
// The operator's room runs at its usual rate from now on, as if the operator had requested that.
void cairn_storm_restore_time(cairn_storm *s);

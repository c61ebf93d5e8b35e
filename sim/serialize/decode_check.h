// SPDX-License-Identifier: MIT
#pragma once

// The rules of a decoded block beyond the range of each word: references and order. The step relies
// on all of them without checking again.

#include "sim/state/world.h"

// The def words equal `expected`'s and the counts fit the capacities.
cairn_status cairn_decode_check_settings(
    const cairn_state *state, const cairn_settings *expected, const char **where);
// The rest, except that the vertices of hulls are not checked to be those of a hull. CAIRN_OK or
// CAIRN_MALFORMED with *where naming the rule broken.
cairn_status cairn_state_check(const cairn_state *state, const char **where);
// All of it.
cairn_status cairn_decode_check(const cairn_state *state, const char **where);

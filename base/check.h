// SPDX-License-Identifier: MIT
#pragma once

// Checks of floats that come from outside: CAIRN_OK, CAIRN_NON_FINITE or CAIRN_INVALID_ARGUMENT.

#include <stddef.h>

#include <cairn/types.h>

cairn_status cairn_check_float(float value, float lower, float upper);
// Every |component| <= limit.
cairn_status cairn_check_vec3(cairn_vec3 value, float limit);
// Length in [0.9, 1.1].
cairn_status cairn_check_rotation(cairn_quat rotation);
// The first status that is not CAIRN_OK, if any.
cairn_status cairn_check_all(const cairn_status *checks, size_t count);

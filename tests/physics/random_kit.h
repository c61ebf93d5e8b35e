// SPDX-License-Identifier: MIT
#pragma once

// Random numbers and rotations for bodies, from a seed.

#include "base/random.h"
#include "tests/physics/mechanics_kit.h"

static inline float between(cairn_random *random, float lower, float upper) {
    return lower + (upper - lower) * cairn_random_unit(random);
}

static inline cairn_quat any_rotation(cairn_random *random) {
    const cairn_vec3 axis = vec3(
        between(random, -1.0f, 1.0f), between(random, -1.0f, 1.0f), between(random, 0.1f, 1.0f));
    return turned(vec3_scale(axis, 1.0f / vec3_length(axis)), between(random, 0.0f, 2.0f * PI));
}

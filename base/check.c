// SPDX-License-Identifier: MIT
#include "base/check.h"

#include "base/assert.h"
#include <cairn/math.h>

cairn_status cairn_check_float(float value, float lower, float upper) {
    if (!cairn_float_finite(value)) {
        return CAIRN_NON_FINITE;
    }
    return value >= lower && value <= upper ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}

cairn_status cairn_check_vec3(cairn_vec3 value, float limit) {
    CAIRN_ASSERT(limit >= 0.0f);
    if (!cairn_vec3_finite(value)) {
        return CAIRN_NON_FINITE;
    }
    const cairn_vec3 size = cairn_vec3_abs(value);
    const bool inside = size.x <= limit && size.y <= limit && size.z <= limit;
    return inside ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}

cairn_status cairn_check_rotation(cairn_quat rotation) {
    if (!cairn_quat_finite(rotation)) {
        return CAIRN_NON_FINITE;
    }
    const float length_squared = cairn_quat_length_squared(rotation);
    const bool unit = length_squared >= 0.81f && length_squared <= 1.21f;
    return unit ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}

cairn_status cairn_check_all(const cairn_status *checks, size_t count) {
    CAIRN_ASSERT(count > 0);
    for (size_t i = 0; i < count; ++i) {
        if (checks[i] != CAIRN_OK) {
            return checks[i];
        }
    }
    return CAIRN_OK;
}

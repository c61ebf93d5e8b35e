// SPDX-License-Identifier: MIT
#include "bridge/interpolate.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

static float mix(float a, float b, float fraction) {
    return a + (b - a) * fraction;
}

void cairn_interpolate_vec3(cairn_vec3 a, cairn_vec3 b, float fraction, float out[3]) {
    CAIRN_ASSERT(fraction >= 0.0f && fraction <= 1.0f);
    out[0] = mix(a.x, b.x, fraction);
    out[1] = mix(a.y, b.y, fraction);
    out[2] = mix(a.z, b.z, fraction);
}

void cairn_rotation_normalize(float q[4]) {
    const float length = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 0)) {
        q[0] = q[1] = q[2] = 0;
        q[3] = 1;
        return;
    }
    for (int i = 0; i < 4; ++i) {
        q[i] /= length;
    }
}

// q and -q are one rotation: the sign is chosen so that the shorter path is taken.
void cairn_interpolate_quat(cairn_quat a, cairn_quat b, float fraction, float out[4]) {
    CAIRN_ASSERT(fraction >= 0.0f && fraction <= 1.0f);
    if (fraction <= 0.0f) {
        memcpy(out, (const float[4]){a.x, a.y, a.z, a.w}, 4 * sizeof *out);
        return;
    }
    const float dot = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    const float sign = dot < 0 ? -1.0f : 1.0f;
    out[0] = mix(a.x, sign * b.x, fraction);
    out[1] = mix(a.y, sign * b.y, fraction);
    out[2] = mix(a.z, sign * b.z, fraction);
    out[3] = mix(a.w, sign * b.w, fraction);
    cairn_rotation_normalize(out);
}

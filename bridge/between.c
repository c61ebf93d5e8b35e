// SPDX-License-Identifier: MIT
#include "bridge/between.h"

#include <math.h>

static float mix(float a, float b, float share) {
    return a + (b - a) * share;
}

void cairn_between_vec3(cairn_wire_vec3 a, cairn_wire_vec3 b, float share, float out[3]) {
    out[0] = mix(a.x, b.x, share);
    out[1] = mix(a.y, b.y, share);
    out[2] = mix(a.z, b.z, share);
}

void cairn_quat_make_unit(float q[4]) {
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

// q and -q are one rotation: the sign is chosen so that the way is the shorter one.
void cairn_between_quat(cairn_wire_quat a, cairn_wire_quat b, float share, float out[4]) {
    const float dot = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    const float sign = dot < 0 ? -1.0f : 1.0f;
    out[0] = mix(a.x, sign * b.x, share);
    out[1] = mix(a.y, sign * b.y, share);
    out[2] = mix(a.z, sign * b.z, share);
    out[3] = mix(a.w, sign * b.w, share);
    cairn_quat_make_unit(out);
}

// SPDX-License-Identifier: MIT
#include "bridge/observe.h"

#include <string.h>

#include "base/assert.h"

uint32_t cairn_observe_width(uint32_t fields) {
    static const uint32_t widths[] = {3, 4, 3, 3, 1};
    uint32_t width = 0;
    for (uint32_t bit = 0; bit < sizeof widths / sizeof *widths; ++bit) {
        width += (fields >> bit & 1u) != 0 ? widths[bit] : 0;
    }
    return (fields & ~CAIRN_OBSERVE_ALL) != 0 ? 0 : width;
}

static float *append(float *out, const void *numbers, uint32_t count) {
    memcpy(out, numbers, count * sizeof *out);
    return out + count;
}

bool cairn_observe_body(const cairn_world *world, cairn_body_id body, uint32_t fields, float *out) {
    CAIRN_ASSERT(out != NULL && cairn_observe_width(fields) > 0);
    cairn_body_state state = {0};
    const bool found = cairn_body_read(world, body, &state) == CAIRN_OK;
    const float awake = state.awake != 0 ? 1.0f : 0.0f;
    if (!found) {
        memset(out, 0, cairn_observe_width(fields) * sizeof *out);
        return false;
    }
    if ((fields & CAIRN_OBSERVE_POSITION) != 0) {
        out = append(out, &state.position, 3);
    }
    if ((fields & CAIRN_OBSERVE_ROTATION) != 0) {
        out = append(out, &state.rotation, 4);
    }
    if ((fields & CAIRN_OBSERVE_LINEAR_VELOCITY) != 0) {
        out = append(out, &state.linear_velocity, 3);
    }
    if ((fields & CAIRN_OBSERVE_ANGULAR_VELOCITY) != 0) {
        out = append(out, &state.angular_velocity, 3);
    }
    if ((fields & CAIRN_OBSERVE_AWAKE) != 0) {
        append(out, &awake, 1);
    }
    return true;
}

// SPDX-License-Identifier: MIT
#include "bridge/derive.h"

#include <cairn/math.h>

#include "base/assert.h"

static uint32_t teleports_of(const cairn_snapshot_body *body) {
    return body->flags >> CAIRN_SNAPSHOT_BODY_TELEPORTS_SHIFT & CAIRN_SNAPSHOT_BODY_TELEPORTS_MASK;
}

// The vector part of a turn is its axis times the sine of half the angle, which is twice as large
// as the sine, nearly, for the angles between two snapshots.
void cairn_derive_velocities(
    const cairn_snapshot_body *before, float seconds, cairn_snapshot_body *body) {
    CAIRN_ASSERT(seconds > 0.0f);
    if (teleports_of(before) != teleports_of(body)) {
        return;
    }
    const float rate = 1.0f / seconds;
    const cairn_quat turn =
        cairn_quat_multiply(body->rotation, cairn_quat_conjugate(before->rotation));
    body->linear_velocity =
        cairn_vec3_scale(cairn_vec3_sub(body->position, before->position), rate);
    body->angular_velocity =
        cairn_vec3_scale(cairn_quat_vector(turn), turn.w < 0.0f ? -2.0f * rate : 2.0f * rate);
}

// SPDX-License-Identifier: MIT
#include "sim/collide.h"

// In the half-space's frame the solid lies below y = 0, so a height is a separation and the point
// midway between the surfaces lies half that height down.
static void add_above(cairn_manifold *out, cairn_vec3 lowest, float margin, uint32_t feature) {
    if (lowest.y <= margin) {
        const cairn_vec3 midway = vec3(lowest.x, 0.5f * lowest.y, lowest.z);
        cairn_manifold_add(out, midway, lowest.y, feature);
    }
}

void cairn_collide_round_half_space(const cairn_round *round, float margin, cairn_manifold *out) {
    out->normal = vec3(0.0f, -1.0f, 0.0f);
    const cairn_vec3 down = vec3(0.0f, 0.0f - round->radius, 0.0f);
    const cairn_vec3 lowest = vec3_add(round->centre, down);
    if (vec3_length_squared(round->half) == 0.0f) {
        add_above(out, lowest, margin, 0);
        return;
    }
    add_above(out, vec3_sub(lowest, round->half), margin, 0);
    add_above(out, vec3_add(lowest, round->half), margin, 1);
}

// Bit i of a corner's number is set on the positive side of axis i.
static cairn_vec3 box_corner(cairn_vec3 half_extents, uint32_t corner) {
    return vec3((corner & 1u) != 0 ? half_extents.x : 0.0f - half_extents.x,
        (corner & 2u) != 0 ? half_extents.y : 0.0f - half_extents.y,
        (corner & 4u) != 0 ? half_extents.z : 0.0f - half_extents.z);
}

void cairn_collide_box_half_space(
    cairn_vec3 half_extents, cairn_pose pose, float margin, cairn_manifold *out) {
    out->normal = vec3(0.0f, -1.0f, 0.0f);
    const cairn_vec3 up = quat_rotate_inverse(pose.rotation, vec3(0.0f, 1.0f, 0.0f));
    const cairn_vec3 size = vec3_abs(up);
    const uint32_t axis = size.x >= size.y && size.x >= size.z ? 0u : size.y >= size.z ? 1u : 2u;
    const uint32_t face_bit = 1u << axis;
    const uint32_t side = vec3_component(up, axis) < 0.0f ? face_bit : 0u;
    for (uint32_t corner = 0; corner < 8; ++corner) {
        if ((corner & face_bit) == side) {
            add_above(out, pose_apply(pose, box_corner(half_extents, corner)), margin, corner);
        }
    }
}

// SPDX-License-Identifier: MIT
#include "schema/scene_build.h"

#include "base/assert.h"
#include <cairn/math.h>

static cairn_pose on_grid(const uint32_t count[3], cairn_vec3 spacing, uint64_t k) {
    const uint64_t x = k % count[0];
    const uint64_t y = k / count[0] % count[1];
    const uint64_t z = k / count[0] / count[1];
    return cairn_pose_of(
        cairn_vec3_of((float)x * spacing.x, (float)y * spacing.y, (float)z * spacing.z),
        cairn_quat_identity());
}

// The direction from the centre to the first copy: x made perpendicular to the axis, or y if the
// axis is x.
static cairn_vec3 first_direction(cairn_vec3 axis) {
    const cairn_vec3 x = cairn_vec3_of(1.0f, 0.0f, 0.0f), y = cairn_vec3_of(0.0f, 1.0f, 0.0f);
    const cairn_vec3 reference = cairn_float_abs(axis.x) > 0.9f ? y : x;
    return cairn_vec3_normalize(
        cairn_vec3_sub_scaled(reference, axis, cairn_vec3_dot(reference, axis)), x);
}

static cairn_pose on_circle(const cairn_scene_repetition *repeat, uint64_t k) {
    const cairn_vec3 axis =
        cairn_vec3_normalize(repeat->circle_axis, cairn_vec3_of(0.0f, 1.0f, 0.0f));
    const float angle = 6.28318531f * (float)k / (float)repeat->circle_count;
    const cairn_quat turn = cairn_quat_of_axis_angle(axis, angle);
    const cairn_vec3 out = cairn_vec3_scale(first_direction(axis), repeat->circle_radius);
    return cairn_pose_of(cairn_quat_rotate(turn, out), turn);
}

cairn_pose cairn_scene_copy(const cairn_scene_repetition *repeat, const uint32_t grid_count[3],
    cairn_vec3 grid_spacing, uint64_t k) {
    if (repeat->circle_count > 1) {
        return on_circle(repeat, k);
    }
    if (repeat->line_count > 1) {
        return cairn_pose_of(cairn_vec3_scale(repeat->line_step, (float)k), cairn_quat_identity());
    }
    return on_grid(grid_count, grid_spacing, k);
}

cairn_scene_body cairn_scene_body_moved(const cairn_scene_body *body, cairn_pose pose) {
    cairn_scene_body moved = *body;
    CAIRN_ASSERT(body->grid_count[0] == 1 && body->grid_count[1] == 1 && body->grid_count[2] == 1);
    moved.def.position = cairn_pose_apply(pose, body->def.position);
    moved.def.rotation =
        cairn_quat_normalize(cairn_quat_multiply(pose.rotation, body->def.rotation));
    moved.def.linear_velocity = cairn_quat_rotate(pose.rotation, body->def.linear_velocity);
    moved.def.angular_velocity = cairn_quat_rotate(pose.rotation, body->def.angular_velocity);
    return moved;
}

cairn_scene_joint cairn_scene_joint_moved(
    const cairn_scene_joint *joint, const cairn_scene_placement *placement) {
    cairn_scene_joint moved = *joint;
    const cairn_quat turn = placement->pose.rotation;
    moved.body_a += placement->first_body;
    moved.body_b += placement->first_body;
    moved.def.fixed_a = cairn_pose_apply(placement->pose, joint->def.fixed_a);
    moved.def.fixed_b = cairn_pose_apply(placement->pose, joint->def.fixed_b);
    moved.def.row.linear_a = cairn_quat_rotate(turn, joint->def.row.linear_a);
    moved.def.row.angular_a = cairn_quat_rotate(turn, joint->def.row.angular_a);
    moved.def.row.linear_b = cairn_quat_rotate(turn, joint->def.row.linear_b);
    moved.def.row.angular_b = cairn_quat_rotate(turn, joint->def.row.angular_b);
    return moved;
}

bool cairn_scene_position_fits(cairn_vec3 position) {
    const float numbers[3] = {position.x, position.y, position.z};
    bool fits = true;
    for (int i = 0; i < 3; ++i) {
        fits = fits && numbers[i] >= -CAIRN_DISTANCE_MAX && numbers[i] <= CAIRN_DISTANCE_MAX;
    }
    return fits;
}

// SPDX-License-Identifier: MIT
// The edit that makes joints.
#include "sim/edit.h"

#include "base/assert.h"
#include "sim/math/vec.h"
#include "sim/world/world.h"

// The kind's own meaning of the part's axis and of the command's number (cairn/types.h).
static void set_kind(
    cairn_joint_def *def, const cairn_command *last, cairn_vec3 axis, cairn_pose a, cairn_pose b) {
    const cairn_vec3 anchor_a = pose_apply(a, def->anchor_a);
    const cairn_vec3 anchor_b = last->move;
    const cairn_vec3 normal = vec3_tangent(axis);
    def->axis_a = quat_rotate_inverse(a.rotation, axis);
    def->axis_b = quat_rotate_inverse(b.rotation, axis);
    def->normal_a = quat_rotate_inverse(a.rotation, normal);
    def->normal_b = quat_rotate_inverse(b.rotation, normal);
    switch (def->kind) {
    case CAIRN_JOINT_DISTANCE:
        def->length = vec3_length(vec3_sub(anchor_b, anchor_a));
        break;
    case CAIRN_JOINT_CONE:
        def->cone = last->aim.y;
        break;
    case CAIRN_JOINT_WHEEL:
        def->normal_a = def->axis_a;
        def->axis_a = vec3(0.0f, 1.0f, 0.0f);
        break;
    case CAIRN_JOINT_MOTOR:
        def->hertz = last->aim.y;
        break;
    case CAIRN_JOINT_GEAR:
        def->ratio = last->aim.y;
        break;
    case CAIRN_JOINT_PULLEY:
        def->ratio = last->aim.y;
        def->fixed_a = vec3_add(anchor_a, axis);
        def->fixed_b = vec3_add(anchor_b, axis);
        def->length = (1.0f + def->ratio) * vec3_length(axis);
        break;
    default:
        break;
    }
}

cairn_status cairn_edit_create_joint(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_joint_id *joint) {
    CAIRN_ASSERT(count > 0 && commands[count - 1].kind == CAIRN_COMMAND_CREATE_JOINT);
    const cairn_command *first = &commands[0];
    const cairn_command *last = &commands[count - 1];
    cairn_body_state a;
    cairn_body_state b;
    if (count != 2 || first->kind != CAIRN_COMMAND_JOINT) {
        return CAIRN_INVALID_ARGUMENT;
    }
    if (cairn_body_read(world, first->buttons, &a) != CAIRN_OK ||
        cairn_body_read(world, last->buttons, &b) != CAIRN_OK) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_pose pose_a = {.position = a.position, .rotation = a.rotation};
    const cairn_pose pose_b = {.position = b.position, .rotation = b.rotation};
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = (uint32_t)last->aim.x;
    def.body_a = a.id;
    def.body_b = b.id;
    def.anchor_a = pose_apply_inverse(pose_a, first->move);
    def.anchor_b = pose_apply_inverse(pose_b, last->move);
    def.articulated = last->aim.z == CAIRN_BREAK_FORCE_ARTICULATED ? 1 : 0;
    def.breakable = last->aim.z > 0.0f ? 1 : 0;
    def.break_force = def.breakable != 0 ? last->aim.z : def.break_force;
    // A weld and a motor hold the frames together, in any direction.
    const bool any = def.kind == CAIRN_JOINT_WELD || def.kind == CAIRN_JOINT_MOTOR;
    set_kind(&def, last, any ? vec3(1.0f, 0.0f, 0.0f) : first->aim, pose_a, pose_b);
    return cairn_joint_create(world, &def, joint);
}

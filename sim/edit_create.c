// SPDX-License-Identifier: MIT
// Edits that make bodies and joints.
#include "sim/edit.h"

#include "base/assert.h"
#include "sim/math/vec.h"
#include "sim/world/world.h"

static cairn_body_def body_of(const cairn_command *command) {
    cairn_body_def def = cairn_body_def_default();
    def.position = command->move;
    def.user = command->buttons;
    return def;
}

static cairn_shape_def shape_of(uint32_t kind, cairn_vec3 size) {
    cairn_shape_def def = cairn_shape_def_default();
    def.kind = kind;
    if (kind == CAIRN_SHAPE_BOX) {
        def.half_extents = size;
    } else {
        def.radius = size.x;
        def.half_height = size.y;
    }
    return def;
}

cairn_status cairn_edit_spawn_plain(
    cairn_world *world, const cairn_command *command, cairn_body_id *body) {
    const bool box = command->kind == CAIRN_COMMAND_SPAWN_BOX;
    CAIRN_ASSERT(box || command->kind == CAIRN_COMMAND_SPAWN_SPHERE);
    const cairn_body_def def = body_of(command);
    const cairn_shape_def shape =
        shape_of(box ? CAIRN_SHAPE_BOX : CAIRN_SHAPE_SPHERE, command->aim);
    cairn_shape_id id = 0;
    return cairn_body_create_compound(world, &def, &shape, 1, body, &id);
}

// The points that the parts before a SHAPE name. CAIRN_INVALID_ARGUMENT: other parts, or too many.
static cairn_status gather_points(const cairn_command *parts, uint32_t part_count,
    cairn_vec3 points[CAIRN_HULL_POINTS_MAX], uint32_t *count) {
    *count = 0;
    for (uint32_t i = 0; i < part_count; ++i) {
        if (parts[i].kind != CAIRN_COMMAND_HULL_POINTS ||
            *count + parts[i].buttons > CAIRN_HULL_POINTS_MAX) {
            return CAIRN_INVALID_ARGUMENT;
        }
        points[(*count)++] = parts[i].move;
        if (parts[i].buttons == 2) {
            points[(*count)++] = parts[i].aim;
        }
    }
    return CAIRN_OK;
}

cairn_status cairn_edit_spawn(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_body_id *body) {
    CAIRN_ASSERT(count > 0 && commands[count - 1].kind == CAIRN_COMMAND_SPAWN);
    if (count < 2 || commands[count - 2].kind != CAIRN_COMMAND_SHAPE) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_command *part = &commands[count - 2];
    const bool is_hull = part->buttons == CAIRN_SHAPE_HULL;
    cairn_vec3 points[CAIRN_HULL_POINTS_MAX];
    uint32_t point_count = 0;
    cairn_shape_id id = 0;
    cairn_body_def def = body_of(&commands[count - 1]);
    cairn_shape_def shape = shape_of(part->buttons, part->move);
    def.rotation = cairn_quat_of_rotation_vector(part->aim);
    def.kind = shape.kind == CAIRN_SHAPE_HALF_SPACE ? CAIRN_BODY_STATIC : CAIRN_BODY_DYNAMIC;
    cairn_status status = gather_points(commands, count - 2, points, &point_count);
    if (status == CAIRN_OK && !is_hull && point_count > 0) {
        status = CAIRN_INVALID_ARGUMENT;
    } else if (status == CAIRN_OK && is_hull) {
        // A hull is made only for a body that will be made.
        status = cairn_compound_check_room(world, 1);
        status =
            status == CAIRN_OK ? cairn_hull_share(world, points, point_count, &shape.hull) : status;
    }
    return status == CAIRN_OK ? cairn_body_create_compound(world, &def, &shape, 1, body, &id)
                              : status;
}

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

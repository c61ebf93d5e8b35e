// SPDX-License-Identifier: MIT
#include "sim/edit.h"

#include "base/assert.h"
#include "sim/body/body.h"

// All or nothing: the body is destroyed if its shape cannot be created.
static cairn_status spawn_body(
    cairn_world *world, const cairn_command *edit, const cairn_shape_def *shape) {
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id body = 0;
    cairn_shape_id id = 0;
    def.position = edit->move;
    def.user = edit->buttons;
    cairn_status status = cairn_body_create(world, &def, &body);
    if (status == CAIRN_OK) {
        status = cairn_shape_create(world, body, shape, &id);
        if (status != CAIRN_OK) {
            (void)cairn_body_destroy(world, body);
        }
    }
    return status;
}

static cairn_status apply_edit(cairn_world *world, const cairn_command *edit) {
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_state body;
    cairn_status status;
    switch (edit->kind) {
    case CAIRN_COMMAND_SPAWN_BOX:
        shape.half_extents = edit->aim;
        return spawn_body(world, edit, &shape);
    case CAIRN_COMMAND_SPAWN_SPHERE:
        shape.kind = CAIRN_SHAPE_SPHERE;
        shape.radius = edit->aim.x;
        return spawn_body(world, edit, &shape);
    case CAIRN_COMMAND_DESTROY:
        return cairn_body_destroy(world, edit->buttons);
    case CAIRN_COMMAND_SET_POSITION:
        status = cairn_body_read(world, edit->buttons, &body);
        if (status != CAIRN_OK) {
            return status;
        }
        return cairn_body_set_pose(
            world, body.id, (cairn_pose){.position = edit->move, .rotation = body.rotation});
    case CAIRN_COMMAND_SET_VELOCITY:
        return cairn_body_set_velocity(world, edit->buttons, edit->move, edit->aim);
    case CAIRN_COMMAND_IMPULSE:
        return cairn_body_apply_impulse_at_centre(world, edit->buttons, edit->move);
    default:
        CAIRN_ASSERT(false);
        return CAIRN_INVALID_ARGUMENT;
    }
}

uint32_t cairn_edits_apply(cairn_world *world, const cairn_command *commands, uint32_t count) {
    uint32_t first = count;
    while (first > 0 && commands[first - 1].slot == CAIRN_SLOT_OPERATOR) {
        --first;
    }
    for (uint32_t i = first; i < count; ++i) {
        CAIRN_ASSERT(commands[i].slot == CAIRN_SLOT_OPERATOR);
        const cairn_status status = apply_edit(world, &commands[i]);
        // The create functions have counted what exceeded a capacity.
        if (status != CAIRN_OK && status != CAIRN_CAPACITY) {
            world->state.settings->edits_refused += 1;
        }
    }
    CAIRN_ASSERT(first <= count);
    return first;
}

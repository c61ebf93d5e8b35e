// SPDX-License-Identifier: MIT
// The verbs that edit a world. Each edit is a command of the next tick, so it is part of the
// recording and reaches every client that simulates.
#include "base/assert.h"
#include "server/control/verbs.h"
#include <cairn/math.h>

// Applies an edit to a copy of the world with the waiting edits applied, to check a later edit
// against it. The ids are those that the step will hand out, because a step applies edits first.
static bool apply_edit(cairn_world *world, const cairn_command *edit, cairn_body_id *spawned) {
    CAIRN_ASSERT(edit->slot == CAIRN_SLOT_OPERATOR);
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    *spawned = 0;
    switch (edit->kind) {
    case CAIRN_COMMAND_SPAWN_SPHERE:
        shape.kind = CAIRN_SHAPE_SPHERE;
        shape.radius = edit->aim.x;
        break;
    case CAIRN_COMMAND_SPAWN_BOX:
        shape.half_extents = edit->aim;
        break;
    case CAIRN_COMMAND_DESTROY:
        return cairn_body_destroy(world, edit->buttons) == CAIRN_OK;
    default:
        return cairn_body_exists(world, edit->buttons);
    }
    cairn_shape_id id = 0;
    body.position = edit->move;
    if (cairn_body_create(world, &body, spawned) != CAIRN_OK) {
        return false;
    }
    if (cairn_shape_create(world, *spawned, &shape, &id) != CAIRN_OK) {
        const cairn_status status = cairn_body_destroy(world, *spawned);
        CAIRN_ASSERT(status == CAIRN_OK);
        return false;
    }
    return true;
}

// A copy of the world with the waiting edits applied. NULL: out of memory.
static cairn_world *fork_with_edits(cairn_room *room) {
    CAIRN_ASSERT(!room->job.running);
    cairn_world *ahead = NULL;
    uint32_t count = 0;
    const cairn_command *edits = cairn_inbox_edits(room->inbox, &count);
    if (cairn_world_fork(room->world, &ahead) != CAIRN_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; ++i) {
        cairn_body_id spawned;
        (void)apply_edit(ahead, &edits[i], &spawned);
    }
    return ahead;
}

// Refuses an edit that the step could not apply.
static cairn_control_refusal try_edit(
    cairn_control_context *c, const cairn_command *edit, cairn_body_id *spawned) {
    cairn_world *ahead = fork_with_edits(c->room);
    if (ahead == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    const bool possible = apply_edit(ahead, edit, spawned);
    cairn_world_destroy(ahead);
    if (possible) {
        return CAIRN_CONTROL_DONE;
    }
    const bool spawns =
        edit->kind == CAIRN_COMMAND_SPAWN_BOX || edit->kind == CAIRN_COMMAND_SPAWN_SPHERE;
    return spawns ? cairn_control_refuse(
                        c, CAIRN_CONTROL_CAPACITY, "the world has no free body or shape")
                  : cairn_control_refuse(
                        c, CAIRN_CONTROL_BODY_UNKNOWN, "there is no body %u", edit->buttons);
}

static cairn_command edit_of(const cairn_control_request *request) {
    switch (request->verb) {
    case CAIRN_CONTROL_SPAWN_BOX:
        return (cairn_command){.kind = CAIRN_COMMAND_SPAWN_BOX,
            .buttons = request->spawn_box.user,
            .move = request->spawn_box.position,
            .aim = request->spawn_box.half_extents};
    case CAIRN_CONTROL_SPAWN_SPHERE:
        return (cairn_command){.kind = CAIRN_COMMAND_SPAWN_SPHERE,
            .buttons = request->spawn_sphere.user,
            .move = request->spawn_sphere.position,
            .aim = {.x = request->spawn_sphere.radius}};
    case CAIRN_CONTROL_DELETE:
        return (cairn_command){.kind = CAIRN_COMMAND_DESTROY, .buttons = request->delete_body.body};
    case CAIRN_CONTROL_SET_POSITION:
        return (cairn_command){.kind = CAIRN_COMMAND_SET_POSITION,
            .buttons = request->set_position.body,
            .move = request->set_position.position};
    case CAIRN_CONTROL_SET_VELOCITY:
        return (cairn_command){.kind = CAIRN_COMMAND_SET_VELOCITY,
            .buttons = request->set_velocity.body,
            .move = request->set_velocity.linear_velocity,
            .aim = request->set_velocity.angular_velocity};
    default:
        CAIRN_ASSERT(request->verb == CAIRN_CONTROL_IMPULSE);
        return (cairn_command){.kind = CAIRN_COMMAND_IMPULSE,
            .buttons = request->impulse.body,
            .move = request->impulse.impulse};
    }
}

cairn_control_refusal cairn_control_on_edit(cairn_control_context *c) {
    CAIRN_ASSERT(c->room != NULL);
    cairn_command edit = edit_of(c->request);
    edit.slot = CAIRN_SLOT_OPERATOR;
    edit.move = cairn_vec3_clean(edit.move);
    edit.aim = cairn_vec3_clean(edit.aim);
    if (cairn_command_check(&edit) != CAIRN_OK) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_OUT_OF_RANGE, "a number is outside the range that a world accepts");
    }
    cairn_body_id spawned = 0;
    const cairn_control_refusal refusal = try_edit(c, &edit, &spawned);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    if (!cairn_inbox_edit(c->room->inbox, &edit)) {
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY,
            "%d edits wait for this tick; let the room step first", CAIRN_INBOX_EDITS_MAX);
    }
    c->answer.edit.body = spawned != 0 ? spawned : edit.buttons;
    return CAIRN_CONTROL_DONE;
}

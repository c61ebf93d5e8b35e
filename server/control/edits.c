// SPDX-License-Identifier: MIT
// The verbs that edit a world. Each edit is a command of the next tick, so it is part of the
// recording and reaches every client that simulates.
#include "base/assert.h"
#include "server/control/verbs.h"
#include <cairn/math.h>

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
        (void)cairn_world_apply_edit(ahead, &edits[i], &spawned);
    }
    return ahead;
}

static bool is_of_joint(const cairn_command *edit) {
    return edit->kind == CAIRN_COMMAND_SET_JOINT || edit->kind == CAIRN_COMMAND_DESTROY_JOINT;
}

// Refuses an edit that the step could not apply.
static cairn_control_refusal try_edit(
    cairn_control_context *c, const cairn_command *edit, cairn_body_id *spawned) {
    cairn_world *ahead = fork_with_edits(c->room);
    if (ahead == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    const cairn_status status = cairn_world_apply_edit(ahead, edit, spawned);
    cairn_world_destroy(ahead);
    switch (status) {
    case CAIRN_OK:
        return CAIRN_CONTROL_DONE;
    case CAIRN_CAPACITY:
        return cairn_control_refuse(
            c, CAIRN_CONTROL_CAPACITY, "the world has no free body or shape");
    case CAIRN_NOT_FOUND:
        return cairn_control_refuse(c, CAIRN_CONTROL_BODY_UNKNOWN, "there is no %s %u",
            is_of_joint(edit) ? "joint" : "body", edit->buttons);
    case CAIRN_WRONG_STATE:
        return cairn_control_refuse(c, CAIRN_CONTROL_OUT_OF_RANGE,
            "the kind, the shapes or the state of body %u do not allow this", edit->buttons);
    default:
        return cairn_control_refuse(
            c, CAIRN_CONTROL_OUT_OF_RANGE, "a number is outside the range that a world accepts");
    }
}

// Of the verbs that push or set one body or the world.
static cairn_command later_edit_of(const cairn_control_request *request) {
    static const uint32_t pushes[] = {
        CAIRN_COMMAND_FORCE, CAIRN_COMMAND_FORCE_AT, CAIRN_COMMAND_IMPULSE_AT, CAIRN_COMMAND_TURN};
    const uint32_t word = request->set_body.word;
    switch (request->verb) {
    case CAIRN_CONTROL_SET_BODY:
        return (cairn_command){.kind = CAIRN_COMMAND_SET_BODY,
            .buttons = request->set_body.body,
            .move = request->set_body.value,
            .aim = {.x = (float)request->set_body.property,
                .y = (float)(word & 0xffffu),
                .z = (float)(word >> 16)}};
    case CAIRN_CONTROL_PUSH:
        return (cairn_command){.kind = request->push.kind < 4 ? pushes[request->push.kind] : 0,
            .buttons = request->push.body,
            .move = request->push.push,
            .aim = request->push.place};
    case CAIRN_CONTROL_SET_TARGET:
        return (cairn_command){.kind = CAIRN_COMMAND_SET_TARGET,
            .buttons = request->set_target.body,
            .move = request->set_target.position,
            .aim = request->set_target.rotation};
    case CAIRN_CONTROL_SET_GRAVITY:
        return (cairn_command){
            .kind = CAIRN_COMMAND_SET_GRAVITY, .move = request->set_gravity.gravity};
    case CAIRN_CONTROL_SET_JOINT:
        return (cairn_command){.kind = CAIRN_COMMAND_SET_JOINT,
            .buttons = request->set_joint.joint,
            .move = request->set_joint.value,
            .aim = {.x = (float)request->set_joint.property}};
    case CAIRN_CONTROL_DELETE_JOINT:
        return (cairn_command){
            .kind = CAIRN_COMMAND_DESTROY_JOINT, .buttons = request->delete_joint.joint};
    default:
        CAIRN_ASSERT(request->verb == CAIRN_CONTROL_EXPLODE);
        return (cairn_command){.kind = CAIRN_COMMAND_EXPLODE,
            .buttons = request->explode.mask,
            .move = request->explode.centre,
            .aim = {.x = request->explode.radius,
                .y = request->explode.falloff,
                .z = request->explode.impulse_per_area}};
    }
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
    case CAIRN_CONTROL_IMPULSE:
        return (cairn_command){.kind = CAIRN_COMMAND_IMPULSE,
            .buttons = request->impulse.body,
            .move = request->impulse.impulse};
    default:
        return later_edit_of(request);
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
    const bool of_body = edit.kind != CAIRN_COMMAND_SET_GRAVITY &&
                         edit.kind != CAIRN_COMMAND_EXPLODE && !is_of_joint(&edit);
    c->answer.edit.body = spawned != 0 ? spawned : of_body ? edit.buttons : CAIRN_ID_NULL;
    return CAIRN_CONTROL_DONE;
}

// SPDX-License-Identifier: MIT
// The verbs that edit a world. Each edit is a command of the next tick, so it is part of the
// recording and reaches every client that simulates.
#include "base/assert.h"
#include "server/control/preparation.h"
#include "server/control/verbs.h"
#include <cairn/math.h>

// A hull of as many points as a request carries, its shape and its body.
#define EDIT_COMMANDS_MAX (CAIRN_CONTROL_POINTS_MAX / 2 + 2)

// An explosion makes no other edit right or wrong, so that only its numbers are tried: for those
// that it reaches the shapes of the whole world would be sorted.
static cairn_status try_edit(
    cairn_world *ahead, const cairn_command *commands, uint32_t count, cairn_edit_made *made) {
    cairn_command numbers = commands[0];
    numbers.buttons = 0; // the mask
    return cairn_world_apply_edit(
        ahead, commands->kind == CAIRN_COMMAND_EXPLODE ? &numbers : commands, count, made);
}

// The world of a trial becomes the room's with the waiting edits applied. Several edits of one tick
// take one copy. NULL: out of memory.
static cairn_world *renew_trial(cairn_room *room) {
    CAIRN_ASSERT(!room->job.running);
    cairn_edit_trial *trial = &room->trial;
    uint32_t count = 0;
    const cairn_command *edits = cairn_inbox_edits(room->inbox, &count);
    if (trial->filled && trial->edits == count && cairn_hash_equal(trial->root, room->hash.full)) {
        return trial->world;
    }
    if (cairn_control_copy_world(room->world, &trial->world, &trial->filled) != CAIRN_OK) {
        return NULL;
    }
    uint32_t size = 0;
    for (uint32_t i = 0; i < count; i += size) {
        cairn_edit_made made;
        size = cairn_edit_command_count(&edits[i], count - i);
        (void)try_edit(trial->world, &edits[i], size, &made);
    }
    trial->root = room->hash.full;
    trial->edits = count;
    return trial->world;
}

static bool is_of_joint(const cairn_command *edit) {
    return edit->kind == CAIRN_COMMAND_SET_JOINT || edit->kind == CAIRN_COMMAND_DESTROY_JOINT;
}

// Why numbers that each are in range make no body or joint.
static const char *range_text(const cairn_control_request *request) {
    const cairn_control_spawn_request *spawn = &request->spawn;
    const char *text = "a number is outside the range that a world accepts";
    if (request->verb == CAIRN_CONTROL_CREATE_JOINT) {
        return request->create_joint.kind == CAIRN_JOINT_ROW
                   ? "rules make rows; this verb makes the kinds 1 to 10"
                   : "a joint needs two bodies, an axis of length 1 if its kind has one, and a "
                     "number that its kind allows";
    }
    if (request->verb != CAIRN_CONTROL_SPAWN) {
        return text;
    }
    if (spawn->shape == CAIRN_SHAPE_MESH || spawn->shape == CAIRN_SHAPE_HEIGHT_FIELD) {
        return "scenes and rules make meshes and height fields; this verb makes the shapes 1 to 7";
    }
    if (spawn->shape == CAIRN_SHAPE_HULL) {
        const char *refusal = cairn_hull_refusal(spawn->points, spawn->point_count);
        return refusal == NULL ? text : refusal;
    }
    return spawn->point_count > 0 ? "only a hull has points" : text;
}

static cairn_control_refusal refuse_edit(
    cairn_control_context *c, const cairn_command *commands, uint32_t count, cairn_status status) {
    const cairn_command *edit = &commands[count - 1];
    switch (status) {
    case CAIRN_CAPACITY:
        return cairn_control_refuse(
            c, CAIRN_CONTROL_CAPACITY, "the world has no free body, shape, hull or joint");
    case CAIRN_NOT_FOUND:
        if (edit->kind == CAIRN_COMMAND_CREATE_JOINT) {
            return cairn_control_refuse(c, CAIRN_CONTROL_BODY_UNKNOWN, "there is no body %u or %u",
                commands[0].buttons, edit->buttons);
        }
        return cairn_control_refuse(c, CAIRN_CONTROL_BODY_UNKNOWN, "there is no %s %u",
            is_of_joint(edit) ? "joint" : "body", edit->buttons);
    case CAIRN_WRONG_STATE:
        return cairn_control_refuse(c, CAIRN_CONTROL_OUT_OF_RANGE,
            "the kind, the shapes or the state of body %u do not allow this", edit->buttons);
    default:
        return cairn_control_refuse(c, CAIRN_CONTROL_OUT_OF_RANGE, "%s", range_text(c->request));
    }
}

// Refuses edits that the step could not apply. They are in the world of the trial then, in part.
static cairn_control_refusal try_edits(cairn_control_context *c, const cairn_command *commands,
    uint32_t count, cairn_edit_made *made) {
    cairn_world *ahead = renew_trial(c->room);
    c->room->trial.edits = UINT32_MAX;
    if (ahead == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    cairn_control_refusal refusal = CAIRN_CONTROL_DONE;
    uint32_t size = 0;
    for (uint32_t i = 0; i < count && refusal == CAIRN_CONTROL_DONE; i += size) {
        size = cairn_edit_command_count(&commands[i], count - i);
        const cairn_status status = try_edit(ahead, &commands[i], size, made);
        if (status != CAIRN_OK) {
            refusal = refuse_edit(c, &commands[i], size, status);
        }
    }
    return refusal;
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

// Of a hull its points, two in a command, before its shape. Returns the number of commands.
static uint32_t spawn_of(const cairn_control_spawn_request *spawn, cairn_command *out) {
    CAIRN_ASSERT(spawn->point_count <= CAIRN_CONTROL_POINTS_MAX);
    uint32_t count = 0;
    for (uint32_t i = 0; i < spawn->point_count; i += 2) {
        const bool pair = i + 1 < spawn->point_count;
        out[count++] = (cairn_command){.kind = CAIRN_COMMAND_HULL_POINTS,
            .buttons = pair ? 2 : 1,
            .move = spawn->points[i],
            .aim = pair ? spawn->points[i + 1] : cairn_vec3_zero()};
    }
    out[count++] = (cairn_command){.kind = CAIRN_COMMAND_SHAPE,
        .buttons = spawn->shape,
        .move = spawn->size,
        .aim = spawn->rotation};
    out[count++] = (cairn_command){
        .kind = CAIRN_COMMAND_SPAWN, .buttons = spawn->user, .move = spawn->position};
    return count;
}

static uint32_t new_joint_of(const cairn_control_create_joint_request *joint, cairn_command *out) {
    out[0] = (cairn_command){.kind = CAIRN_COMMAND_JOINT,
        .buttons = joint->body_a,
        .move = joint->anchor_a,
        .aim = joint->axis};
    out[1] = (cairn_command){.kind = CAIRN_COMMAND_CREATE_JOINT,
        .buttons = joint->body_b,
        .move = joint->anchor_b,
        .aim = {.x = (float)joint->kind, .y = joint->number, .z = joint->break_force}};
    return 2;
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

// Returns the number of commands.
static uint32_t commands_of(
    const cairn_control_request *request, cairn_command out[EDIT_COMMANDS_MAX]) {
    switch (request->verb) {
    case CAIRN_CONTROL_SPAWN:
        return spawn_of(&request->spawn, out);
    case CAIRN_CONTROL_CREATE_JOINT:
        return new_joint_of(&request->create_joint, out);
    default:
        out[0] = edit_of(request);
        return 1;
    }
}

cairn_control_refusal cairn_control_add_edits(
    cairn_control_context *c, cairn_command *commands, uint32_t count, cairn_edit_made *made) {
    for (uint32_t i = 0; i < count; ++i) {
        commands[i].slot = CAIRN_SLOT_OPERATOR;
        commands[i].move = cairn_vec3_clean(commands[i].move);
        commands[i].aim = cairn_vec3_clean(commands[i].aim);
        if (cairn_command_check(&commands[i]) != CAIRN_OK) {
            return cairn_control_refuse(
                c, CAIRN_CONTROL_OUT_OF_RANGE, "%s", range_text(c->request));
        }
    }
    const cairn_control_refusal refusal = try_edits(c, commands, count, made);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    if (!cairn_inbox_edit(c->room->inbox, commands, count)) {
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY,
            "%d edits of one tick are the most; let the room step first", CAIRN_INBOX_EDITS_MAX);
    }
    (void)cairn_inbox_edits(c->room->inbox, &c->room->trial.edits);
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_edit(cairn_control_context *c) {
    CAIRN_ASSERT(c->room != NULL);
    cairn_command commands[EDIT_COMMANDS_MAX];
    const uint32_t count = commands_of(c->request, commands);
    const cairn_command *edit = &commands[count - 1];
    cairn_edit_made made = {0};
    const cairn_control_refusal refusal = cairn_control_add_edits(c, commands, count, &made);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    const bool of_body = edit->kind != CAIRN_COMMAND_SET_GRAVITY &&
                         edit->kind != CAIRN_COMMAND_EXPLODE &&
                         edit->kind != CAIRN_COMMAND_CREATE_JOINT && !is_of_joint(edit);
    c->answer.edit.body = made.body != 0 ? made.body : of_body ? edit->buttons : CAIRN_ID_NULL;
    c->answer.edit.joint = made.joint;
    return CAIRN_CONTROL_DONE;
}

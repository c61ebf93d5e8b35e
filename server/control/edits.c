// SPDX-License-Identifier: MIT
// The verbs that edit a world. Each edit is a command of the next tick, so it is part of the
// recording and reaches every client that simulates.
#include <string.h>

#include "base/assert.h"
#include "server/control/preparation.h"
#include "server/control/verbs.h"
#include <cairn/fracture.h>
#include <cairn/math.h>

// No other edit depends on an explosion, so only its numbers are tried: to find the bodies that it
// reaches, the shapes of the whole world would have to be sorted.
static cairn_status try_edit(
    cairn_world *ahead, const cairn_command *commands, uint32_t count, cairn_edit_made *made) {
    cairn_command numbers = commands[count - 1];
    numbers.buttons = 0; // the mask
    return numbers.kind == CAIRN_COMMAND_EXPLODE
               ? cairn_world_apply_edit(ahead, &numbers, 1, made)
               : cairn_world_apply_edit(ahead, commands, count, made);
}

bool cairn_control_trial_is_fresh(const cairn_room *room) {
    const cairn_edit_trial *trial = &room->trial;
    uint32_t count = 0;
    (void)cairn_inbox_edits(room->inbox, &count);
    return trial->filled && trial->edits == count && cairn_hash_equal(trial->root, room->hash.full);
}

// Returns the room's world with the waiting edits applied, in which an edit is tried. Several edits
// of one tick take one copy of the world. NULL: out of memory.
static cairn_world *renew_trial(cairn_room *room) {
    CAIRN_ASSERT(!room->job.running);
    cairn_edit_trial *trial = &room->trial;
    uint32_t count = 0;
    const cairn_command *edits = cairn_inbox_edits(room->inbox, &count);
    if (cairn_control_trial_is_fresh(room)) {
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

// What an edit's `buttons` name; NULL: nothing that exists.
static const char *named_by(const cairn_command *edit) {
    switch (edit->kind) {
    case CAIRN_COMMAND_SET_JOINT:
    case CAIRN_COMMAND_DESTROY_JOINT:
        return "joint";
    case CAIRN_COMMAND_SET_SHAPE:
        return "shape";
    case CAIRN_COMMAND_SET_GRAVITY:
    case CAIRN_COMMAND_EXPLODE:
    case CAIRN_COMMAND_CREATE_JOINT: // a body, but the answer is about the joint
        return NULL;
    default:
        return "body";
    }
}

// Why numbers that each are in range make no body or joint.
static const char *range_text(const cairn_control_request *request) {
    static const char text[] = "a number is outside the range that a world accepts";
    switch (request->verb) {
    case CAIRN_CONTROL_CREATE_JOINT:
        return "a joint needs two bodies, an axis of length 1 if its kind has one, and a number "
               "that its kind allows";
    case CAIRN_CONTROL_SET_JOINT:
        return request->set_joint.property == 0 ||
                       request->set_joint.property > CAIRN_JOINT_PROPERTY_LAST
                   ? "joints have no such property"
                   : "the kind of the joint does not have this property, or the value is outside "
                     "its range";
    case CAIRN_CONTROL_SET_MASS:
        return "a mass must be in [1e-12, 1e18] kg, its centre within 100 km, and its inertia "
               "positive definite";
    case CAIRN_CONTROL_SET_SHAPE:
        return request->set_shape.property <= CAIRN_BODY_PROPERTY_LAST
                   ? "shapes do not have this property, or the value is outside its range"
                   : "shapes have no such property";
    case CAIRN_CONTROL_SET_ROW:
        return "the joint is not a row, or a number is outside the range of a row, or the lower "
               "force is above the upper one";
    case CAIRN_CONTROL_FRACTURE:
        return "a fracture has 2 to 64 pieces, a crowding in [0, 1] and a least thickness in "
               "[0, 1e4] m";
    default:
        break;
    }
    const char *why = cairn_control_spawn_refusal(request);
    return why == NULL ? text : why;
}

static cairn_fracture_def fracture_of(const cairn_command *commands, uint32_t count) {
    const cairn_command *edit = &commands[count - 1];
    return (cairn_fracture_def){.point = edit->move,
        .pieces = (uint32_t)edit->aim.x,
        .crowding = edit->aim.y,
        .thickness_min = edit->aim.z,
        .seed = count == 2 ? commands[0].buttons : 0};
}

// Says why the world of the trial does not break a body. NULL: the edit is another one, or its
// parts are not those of a fracture.
static const char *fracture_refusal(
    const cairn_world *ahead, const cairn_command *commands, uint32_t count) {
    if (commands[count - 1].kind != CAIRN_COMMAND_FRACTURE || count > 2) {
        return NULL;
    }
    const cairn_fracture_def def = fracture_of(commands, count);
    return cairn_body_fracture_refusal(ahead, commands[count - 1].buttons, &def);
}

static cairn_control_refusal refuse_edit(
    cairn_control_context *c, const cairn_command *commands, uint32_t count, cairn_status status) {
    const cairn_command *edit = &commands[count - 1];
    const bool of_body = status != CAIRN_NOT_FOUND && status != CAIRN_CAPACITY;
    const char *why = of_body ? fracture_refusal(c->room->trial.world, commands, count) : NULL;
    if (why != NULL) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_OUT_OF_RANGE, "body %u: %s", edit->buttons, why);
    }
    switch (status) {
    case CAIRN_CAPACITY:
        return cairn_control_refuse(
            c, CAIRN_CONTROL_CAPACITY, "the world has no free body, shape, hull, mesh or joint");
    case CAIRN_NOT_FOUND:
        if (edit->kind == CAIRN_COMMAND_CREATE_JOINT) {
            return cairn_control_refuse(c, CAIRN_CONTROL_BODY_UNKNOWN,
                "body %u or body %u is unknown", commands[0].buttons, edit->buttons);
        }
        return cairn_control_refuse(
            c, CAIRN_CONTROL_BODY_UNKNOWN, "unknown %s %u", named_by(edit), edit->buttons);
    case CAIRN_WRONG_STATE:
        return cairn_control_refuse(c, CAIRN_CONTROL_OUT_OF_RANGE,
            "the kind, the shapes or the state of body %u do not allow this", edit->buttons);
    default:
        return cairn_control_refuse(c, CAIRN_CONTROL_OUT_OF_RANGE, "%s", range_text(c->request));
    }
}

// Refuses edits that the step could not apply. Some of them may then be in the world of the trial,
// which is renewed before the next edit.
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

static cairn_command property_of(
    uint32_t kind, uint32_t id, uint32_t property, cairn_vec3 value, uint32_t word) {
    return (cairn_command){.kind = kind,
        .buttons = id,
        .move = value,
        .aim = {.x = (float)property, .y = (float)(word & 0xffffu), .z = (float)(word >> 16)}};
}

static cairn_command set_of(const cairn_control_request *request) {
    const cairn_control_set_body_request *body = &request->set_body;
    const cairn_control_set_shape_request *shape = &request->set_shape;
    const cairn_control_set_joint_request *joint = &request->set_joint;
    switch (request->verb) {
    case CAIRN_CONTROL_SET_BODY:
        return property_of(
            CAIRN_COMMAND_SET_BODY, body->body, body->property, body->value, body->word);
    case CAIRN_CONTROL_SET_SHAPE:
        return property_of(
            CAIRN_COMMAND_SET_SHAPE, shape->shape, shape->property, shape->value, shape->word);
    default:
        CAIRN_ASSERT(request->verb == CAIRN_CONTROL_SET_JOINT);
        return property_of(
            CAIRN_COMMAND_SET_JOINT, joint->joint, joint->property, joint->value, joint->word);
    }
}

// Of the verbs that push or set one body or the world.
static cairn_command later_edit_of(const cairn_control_request *request) {
    static const uint32_t pushes[] = {
        CAIRN_COMMAND_FORCE, CAIRN_COMMAND_FORCE_AT, CAIRN_COMMAND_IMPULSE_AT, CAIRN_COMMAND_TURN};
    switch (request->verb) {
    case CAIRN_CONTROL_SET_BODY:
    case CAIRN_CONTROL_SET_SHAPE:
    case CAIRN_CONTROL_SET_JOINT:
        return set_of(request);
    case CAIRN_CONTROL_SET_POSE:
        return (cairn_command){.kind = CAIRN_COMMAND_SET_POSE,
            .buttons = request->set_pose.body,
            .move = request->set_pose.position,
            .aim = request->set_pose.rotation};
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
    default:
        CAIRN_ASSERT(request->verb == CAIRN_CONTROL_DELETE_JOINT);
        return (cairn_command){
            .kind = CAIRN_COMMAND_DESTROY_JOINT, .buttons = request->delete_joint.joint};
    }
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

// One command for each of the row's vectors, and one for its bounds.
static uint32_t row_of(const cairn_control_set_row_request *row, cairn_command *out) {
    const struct {
        uint32_t property;
        cairn_vec3 value;
    } parts[] = {{CAIRN_JOINT_PROPERTY_ROW_LINEAR_A, row->linear_a},
        {CAIRN_JOINT_PROPERTY_ROW_ANGULAR_A, row->angular_a},
        {CAIRN_JOINT_PROPERTY_ROW_LINEAR_B, row->linear_b},
        {CAIRN_JOINT_PROPERTY_ROW_ANGULAR_B, row->angular_b},
        {CAIRN_JOINT_PROPERTY_ROW_BOUNDS, {row->lower, row->upper, row->velocity}}};
    const uint32_t count = sizeof parts / sizeof *parts;
    for (uint32_t i = 0; i < count; ++i) {
        out[i] = (cairn_command){.kind = CAIRN_COMMAND_SET_JOINT,
            .buttons = row->joint,
            .move = parts[i].value,
            .aim = {.x = (float)parts[i].property}};
    }
    return count;
}

static uint32_t mass_of(const cairn_control_set_mass_request *mass, cairn_command *out) {
    out[0] = (cairn_command){
        .kind = CAIRN_COMMAND_INERTIA, .move = mass->inertia, .aim = mass->products};
    out[1] = (cairn_command){.kind = CAIRN_COMMAND_SET_MASS,
        .buttons = mass->body,
        .move = mass->centre,
        .aim = {.x = mass->mass}};
    return 2;
}

static uint32_t explosion_of(const cairn_control_explode_request *explode, cairn_command *out) {
    const cairn_command shield = {.kind = CAIRN_COMMAND_SHIELD, .buttons = explode->shield_mask};
    const cairn_command explosion = {.kind = CAIRN_COMMAND_EXPLODE,
        .buttons = explode->mask,
        .move = explode->centre,
        .aim = {explode->radius, explode->falloff, explode->impulse_per_area}};
    if (explode->shield_mask == 0) {
        out[0] = explosion;
        return 1;
    }
    out[0] = shield;
    out[1] = explosion;
    return 2;
}

static uint32_t pieces_of(const cairn_control_fracture_request *fracture, cairn_command *out) {
    uint32_t count = 0;
    if (fracture->seed != 0) {
        out[count++] = (cairn_command){.kind = CAIRN_COMMAND_SEED, .buttons = fracture->seed};
    }
    out[count++] = (cairn_command){.kind = CAIRN_COMMAND_FRACTURE,
        .buttons = fracture->body,
        .move = fracture->point,
        .aim = {(float)fracture->pieces, fracture->crowding, fracture->thickness_min}};
    return count;
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
    const cairn_control_request *request, cairn_command out[CAIRN_CONTROL_COMMANDS_MAX]) {
    switch (request->verb) {
    case CAIRN_CONTROL_SPAWN:
    case CAIRN_CONTROL_SPAWN_COMPOUND:
    case CAIRN_CONTROL_SPAWN_MESH:
    case CAIRN_CONTROL_SPAWN_HEIGHT_FIELD:
        return cairn_control_spawn_commands(request, out);
    case CAIRN_CONTROL_CREATE_JOINT:
        return new_joint_of(&request->create_joint, out);
    case CAIRN_CONTROL_SET_MASS:
        return mass_of(&request->set_mass, out);
    case CAIRN_CONTROL_SET_ROW:
        return row_of(&request->set_row, out);
    case CAIRN_CONTROL_EXPLODE:
        return explosion_of(&request->explode, out);
    case CAIRN_CONTROL_FRACTURE:
        return pieces_of(&request->fracture, out);
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
    if (count > CAIRN_INBOX_EDITS_MAX) {
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY,
            "this takes %u edits, of which a tick has %d: a vertex takes a half, a triangle or a "
            "height a sixth, a shape two; scenes and rules make larger ones",
            count, CAIRN_INBOX_EDITS_MAX);
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
    cairn_command commands[CAIRN_CONTROL_COMMANDS_MAX];
    const uint32_t count = commands_of(c->request, commands);
    const cairn_command *edit = &commands[count - 1];
    cairn_edit_made made = {0};
    const cairn_control_refusal refusal = cairn_control_add_edits(c, commands, count, &made);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    const char *named = named_by(edit);
    const bool of_body = named != NULL && strcmp(named, "body") == 0;
    c->answer.edit.body = made.body != 0 ? made.body : of_body ? edit->buttons : CAIRN_ID_NULL;
    c->answer.edit.joint = made.joint;
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_fracture(cairn_control_context *c) {
    CAIRN_ASSERT(c->room != NULL);
    cairn_command commands[CAIRN_CONTROL_COMMANDS_MAX];
    const uint32_t count = commands_of(c->request, commands);
    cairn_edit_made made = {0};
    const cairn_control_refusal refusal = cairn_control_add_edits(c, commands, count, &made);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    for (uint32_t i = 0; i < made.piece_count; ++i) {
        cairn_control_shape *piece = &c->lists->shapes[i];
        piece->body = made.pieces[i];
        const uint32_t shapes =
            cairn_body_shapes(c->room->trial.world, piece->body, &piece->shape, 1);
        CAIRN_ASSERT(shapes == 1);
    }
    c->answer.fracture = (cairn_control_fracture_answer){
        .pieces = c->lists->shapes, .piece_count = made.piece_count};
    return CAIRN_CONTROL_DONE;
}

// SPDX-License-Identifier: MIT
// The verbs that write into a world. Each is a command of the next tick, so it is in the recording
// and reaches every client that steps the world itself.
#include "base/assert.h"
#include "server/control/parts.h"

// What a body of a later edit is asked of: the world with the edits that wait done to it. Ids are
// handed out as the step will, since edits are done before anything else.
static bool apply(cairn_world *world, const cairn_command *edit, cairn_body_id *spawned) {
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

// The world as it will be when this edit comes. NULL: out of memory.
static cairn_world *foresee(cairn_room *room) {
    cairn_world *ahead = NULL;
    uint32_t count = 0;
    const cairn_command *edits = cairn_inbox_edits(room->inbox, &count);
    if (cairn_world_fork(room->world, &ahead) != CAIRN_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; ++i) {
        cairn_body_id spawned;
        (void)apply(ahead, &edits[i], &spawned);
    }
    return ahead;
}

static cairn_control_refusal foreseen(
    cairn_control_visit *v, const cairn_command *edit, cairn_body_id *spawned) {
    cairn_world *ahead = foresee(v->room);
    if (ahead == NULL) {
        return cairn_control_refuse(v, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    const bool possible = apply(ahead, edit, spawned);
    cairn_world_destroy(ahead);
    if (possible) {
        return CAIRN_CONTROL_DONE;
    }
    const bool spawns =
        edit->kind == CAIRN_COMMAND_SPAWN_BOX || edit->kind == CAIRN_COMMAND_SPAWN_SPHERE;
    return spawns ? cairn_control_refuse(v, CAIRN_CONTROL_CAPACITY, "the world has no room for it")
                  : cairn_control_refuse(
                        v, CAIRN_CONTROL_BODY_UNKNOWN, "there is no body %u", edit->buttons);
}

static cairn_control_refusal edit(cairn_control_visit *v, cairn_command command) {
    command.slot = CAIRN_SLOT_OPERATOR;
    if (cairn_command_check(&command) != CAIRN_OK) {
        return cairn_control_refuse(
            v, CAIRN_CONTROL_OUT_OF_RANGE, "a number is outside what a world takes");
    }
    cairn_body_id spawned = 0;
    const cairn_control_refusal refusal = foreseen(v, &command, &spawned);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    if (!cairn_inbox_edit(v->room->inbox, &command)) {
        return cairn_control_refuse(v, CAIRN_CONTROL_CAPACITY,
            "%d edits wait for this tick; let the room step first", CAIRN_INBOX_EDITS_MAX);
    }
    cairn_control_add_id(v, spawned != 0 ? spawned : v->ask->body);
    return CAIRN_CONTROL_DONE;
}

// -0 would be another bit pattern for the same place.
static cairn_vec3 vector_at(const cairn_control_visit *v, uint32_t at) {
    const float *n = v->ask->numbers + at;
    return (cairn_vec3){n[0] + 0.0f, n[1] + 0.0f, n[2] + 0.0f};
}

cairn_control_refusal cairn_control_spawn_box(cairn_control_visit *v) {
    return edit(v, (cairn_command){.kind = CAIRN_COMMAND_SPAWN_BOX,
                       .buttons = v->ask->body,
                       .move = vector_at(v, 0),
                       .aim = vector_at(v, 3)});
}

cairn_control_refusal cairn_control_spawn_sphere(cairn_control_visit *v) {
    return edit(v, (cairn_command){.kind = CAIRN_COMMAND_SPAWN_SPHERE,
                       .buttons = v->ask->body,
                       .move = vector_at(v, 0),
                       .aim = {.x = v->ask->numbers[3] + 0.0f}});
}

cairn_control_refusal cairn_control_delete(cairn_control_visit *v) {
    return edit(v, (cairn_command){.kind = CAIRN_COMMAND_DESTROY, .buttons = v->ask->body});
}

cairn_control_refusal cairn_control_set_position(cairn_control_visit *v) {
    return edit(v,
        (cairn_command){
            .kind = CAIRN_COMMAND_SET_POSITION, .buttons = v->ask->body, .move = vector_at(v, 0)});
}

cairn_control_refusal cairn_control_set_velocity(cairn_control_visit *v) {
    return edit(v, (cairn_command){.kind = CAIRN_COMMAND_SET_VELOCITY,
                       .buttons = v->ask->body,
                       .move = vector_at(v, 0),
                       .aim = vector_at(v, 3)});
}

cairn_control_refusal cairn_control_impulse(cairn_control_visit *v) {
    return edit(
        v, (cairn_command){
               .kind = CAIRN_COMMAND_IMPULSE, .buttons = v->ask->body, .move = vector_at(v, 0)});
}

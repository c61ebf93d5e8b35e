// SPDX-License-Identifier: MIT
#include "bridge/wire.h"

cairn_vec3 cairn_vec3_of_wire(cairn_wire_vec3 v) {
    return (cairn_vec3){.x = v.x, .y = v.y, .z = v.z};
}

cairn_wire_vec3 cairn_vec3_to_wire(cairn_vec3 v) {
    return (cairn_wire_vec3){.x = v.x, .y = v.y, .z = v.z};
}

cairn_quat cairn_quat_of_wire(cairn_wire_quat q) {
    return (cairn_quat){.x = q.x, .y = q.y, .z = q.z, .w = q.w};
}

cairn_wire_quat cairn_quat_to_wire(cairn_quat q) {
    return (cairn_wire_quat){.x = q.x, .y = q.y, .z = q.z, .w = q.w};
}

cairn_wire_body cairn_body_to_wire(const cairn_body_state *body) {
    return (cairn_wire_body){
        .id = body->id,
        .flags = (body->awake != 0 ? CAIRN_WIRE_BODY_AWAKE : 0u) |
                 body->kind << CAIRN_WIRE_BODY_KIND_SHIFT,
        .position = cairn_vec3_to_wire(body->position),
        .rotation = cairn_quat_to_wire(body->rotation),
        .linear_velocity = cairn_vec3_to_wire(body->linear_velocity),
        .angular_velocity = cairn_vec3_to_wire(body->angular_velocity),
    };
}

uint32_t cairn_world_wire_bodies(
    const cairn_world *world, cairn_body_state *scratch, cairn_wire_body *out, uint32_t capacity) {
    const uint32_t count = cairn_world_bodies(world, scratch, capacity);
    for (uint32_t i = 0; i < count && i < capacity; ++i) {
        out[i] = cairn_body_to_wire(&scratch[i]);
    }
    return count;
}

bool cairn_shape_to_wire(const cairn_world *world, cairn_shape_id shape, cairn_wire_shape *out) {
    cairn_shape_def def;
    cairn_body_id body;
    if (cairn_shape_read(world, shape, &def, &body) != CAIRN_OK) {
        return false;
    }
    *out = (cairn_wire_shape){
        .id = shape,
        .body = body,
        .kind = def.kind,
        .half_extents = cairn_vec3_to_wire(def.half_extents),
        .radius = def.radius,
        .half_height = def.half_height,
        .position = cairn_vec3_to_wire(def.pose.position),
        .rotation = cairn_quat_to_wire(def.pose.rotation),
    };
    return true;
}

uint32_t cairn_shape_corners_to_wire(
    const cairn_world *world, cairn_shape_id shape, cairn_wire_vec3 out[CAIRN_HULL_VERTICES_MAX]) {
    cairn_shape_def def;
    cairn_body_id body;
    cairn_vec3 vertices[CAIRN_HULL_VERTICES_MAX];
    uint32_t count = 0;
    if (cairn_shape_read(world, shape, &def, &body) != CAIRN_OK || def.kind != CAIRN_SHAPE_HULL ||
        cairn_hull_read(world, def.hull, vertices, &count) != CAIRN_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        out[i] = cairn_vec3_to_wire(vertices[i]);
    }
    return count;
}

cairn_status cairn_command_of_wire(const cairn_wire_command *wire, cairn_command *out) {
    *out = (cairn_command){
        .kind = wire->kind,
        .slot = wire->slot,
        .sequence = wire->sequence,
        .buttons = wire->buttons,
        .move = cairn_vec3_of_wire(wire->move),
        .aim = cairn_vec3_of_wire(wire->aim),
    };
    return cairn_command_check(out);
}

cairn_wire_command cairn_command_to_wire(const cairn_command *command) {
    return (cairn_wire_command){
        .kind = command->kind,
        .slot = command->slot,
        .sequence = command->sequence,
        .buttons = command->buttons,
        .move = cairn_vec3_to_wire(command->move),
        .aim = cairn_vec3_to_wire(command->aim),
    };
}

cairn_status cairn_command_of_input(
    const cairn_wire_input *input, uint32_t slot, cairn_command *out) {
    const cairn_wire_command wire = {
        .kind = CAIRN_COMMAND_INPUT,
        .slot = slot,
        .sequence = input->sequence,
        .buttons = input->buttons,
        .move = input->move,
        .aim = input->aim,
    };
    return cairn_command_of_wire(&wire, out);
}

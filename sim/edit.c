// SPDX-License-Identifier: MIT
#include "sim/edit.h"

#include "base/assert.h"
#include "base/game_message.h"
#include "sim/body/body.h"
#include "sim/body/shape.h"
#include <cairn/fracture.h>

static void set_material(cairn_material *material, uint32_t property, cairn_vec3 value) {
    switch (property) {
    case CAIRN_BODY_PROPERTY_FRICTION:
        material->friction = value.x;
        break;
    case CAIRN_BODY_PROPERTY_RESTITUTION:
        material->restitution = value.x;
        break;
    case CAIRN_BODY_PROPERTY_STATIC_FRICTION:
        material->static_friction = value.x;
        break;
    case CAIRN_BODY_PROPERTY_ROLLING_RESISTANCE:
        material->rolling_resistance = value.x;
        break;
    case CAIRN_BODY_PROPERTY_SPIN_RESISTANCE:
        material->spin_resistance = value.x;
        break;
    case CAIRN_BODY_PROPERTY_FRICTION_COMBINE:
        material->friction_combine = (uint32_t)value.x;
        break;
    case CAIRN_BODY_PROPERTY_RESTITUTION_COMBINE:
        material->restitution_combine = (uint32_t)value.x;
        break;
    default:
        CAIRN_ASSERT(property == CAIRN_BODY_PROPERTY_SURFACE_VELOCITY);
        material->surface_velocity = value;
        break;
    }
}

static cairn_status set_shape(
    cairn_world *world, cairn_shape_id id, uint32_t property, cairn_vec3 value, uint32_t word) {
    cairn_shape_def shape;
    cairn_material material;
    cairn_body_id body;
    cairn_status status = cairn_shape_read(world, id, &shape, &body);
    if (status != CAIRN_OK) {
        return status;
    }
    switch (property) {
    case CAIRN_BODY_PROPERTY_USER:
        return cairn_shape_set_user(world, id, word);
    case CAIRN_BODY_PROPERTY_CATEGORY:
        return cairn_shape_set_filter(world, id, word, shape.mask);
    case CAIRN_BODY_PROPERTY_MASK:
        return cairn_shape_set_filter(world, id, shape.category, word);
    case CAIRN_BODY_PROPERTY_DENSITY:
        return cairn_shape_set_density(world, id, value.x);
    default:
        status = cairn_shape_read_material(world, id, &material);
        CAIRN_ASSERT(status == CAIRN_OK);
        set_material(&material, property, value);
        return cairn_shape_set_material(world, id, &material);
    }
}

// Sets a property of every shape of a body.
static cairn_status set_shapes(
    cairn_world *world, cairn_body_id body, uint32_t property, cairn_vec3 value, uint32_t word) {
    const uint32_t slot = cairn_body_slot(world, body);
    cairn_status status = slot == CAIRN_INDEX_NONE ? CAIRN_NOT_FOUND : CAIRN_OK;
    uint32_t i = status == CAIRN_OK ? world->shape_first[slot] : 0;
    for (; i != 0 && status == CAIRN_OK; i = world->shape_next[i - 1]) {
        status = set_shape(world, cairn_shape_id_at(world, i - 1), property, value, word);
    }
    return status;
}

static uint32_t word_of(const cairn_command *edit) {
    return (uint32_t)edit->aim.y | (uint32_t)edit->aim.z << 16;
}

static cairn_status set_property(cairn_world *world, const cairn_command *edit) {
    const cairn_body_id body = edit->buttons;
    const float x = edit->move.x;
    const uint32_t word = word_of(edit);
    switch ((uint32_t)edit->aim.x) {
    case CAIRN_BODY_PROPERTY_KIND:
        return cairn_body_set_kind(world, body, (uint32_t)x);
    case CAIRN_BODY_PROPERTY_MASS:
        return cairn_body_set_mass(world, body, x);
    case CAIRN_BODY_PROPERTY_DAMPING:
        return cairn_body_set_damping(world, body, x, edit->move.y);
    case CAIRN_BODY_PROPERTY_GRAVITY_SCALE:
        return cairn_body_set_gravity_scale(world, body, x);
    case CAIRN_BODY_PROPERTY_LOCKS:
        return cairn_body_set_locks(world, body, (uint32_t)x);
    case CAIRN_BODY_PROPERTY_USER:
        return cairn_body_set_user(world, body, word);
    case CAIRN_BODY_PROPERTY_AWAKE:
        return cairn_body_set_awake(world, body, x != 0.0f);
    case CAIRN_BODY_PROPERTY_ALLOW_SLEEP:
        return cairn_body_set_allow_sleep(world, body, x != 0.0f);
    case CAIRN_BODY_PROPERTY_ENABLED:
        return cairn_body_set_enabled(world, body, x != 0.0f);
    case CAIRN_BODY_PROPERTY_BULLET:
        return cairn_body_set_bullet(world, body, x != 0.0f);
    case CAIRN_BODY_PROPERTY_GYROSCOPIC:
        return cairn_body_set_gyroscopic(world, body, x != 0.0f);
    case CAIRN_BODY_PROPERTY_OWNER:
        return cairn_body_set_owner(world, body, (uint32_t)x);
    default:
        return set_shapes(world, body, (uint32_t)edit->aim.x, edit->move, word);
    }
}

static cairn_status apply_new_state(cairn_world *world, const cairn_command *edit) {
    cairn_body_state body;
    switch (edit->kind) {
    case CAIRN_COMMAND_SET_POSITION:
        if (cairn_body_read(world, edit->buttons, &body) != CAIRN_OK) {
            return CAIRN_NOT_FOUND;
        }
        return cairn_body_set_pose(
            world, body.id, (cairn_pose){.position = edit->move, .rotation = body.rotation});
    case CAIRN_COMMAND_SET_VELOCITY:
        return cairn_body_set_velocity(world, edit->buttons, edit->move, edit->aim);
    case CAIRN_COMMAND_SET_TARGET:
        return cairn_body_set_target(world, edit->buttons,
            (cairn_pose){
                .position = edit->move, .rotation = cairn_quat_of_rotation_vector(edit->aim)});
    case CAIRN_COMMAND_SET_POSE:
        return cairn_body_set_pose(world, edit->buttons,
            (cairn_pose){
                .position = edit->move, .rotation = cairn_quat_of_rotation_vector(edit->aim)});
    case CAIRN_COMMAND_SET_SHAPE:
        return set_shape(world, edit->buttons, (uint32_t)edit->aim.x, edit->move, word_of(edit));
    case CAIRN_COMMAND_SET_JOINT:
        return cairn_edit_set_joint(world, edit);
    case CAIRN_COMMAND_DESTROY_JOINT:
        return cairn_joint_destroy(world, edit->buttons);
    default:
        CAIRN_ASSERT(edit->kind == CAIRN_COMMAND_SET_GRAVITY);
        return cairn_world_set_gravity(world, edit->move);
    }
}

// An edit without parts.
static cairn_status apply_command(
    cairn_world *world, const cairn_command *edit, cairn_edit_made *made) {
    switch (edit->kind) {
    case CAIRN_COMMAND_SPAWN_BOX:
    case CAIRN_COMMAND_SPAWN_SPHERE:
        return cairn_edit_spawn_plain(world, edit, &made->body);
    case CAIRN_COMMAND_DESTROY:
        return cairn_body_destroy(world, edit->buttons);
    case CAIRN_COMMAND_IMPULSE:
        return cairn_body_apply_impulse_at_centre(world, edit->buttons, edit->move);
    case CAIRN_COMMAND_SET_BODY:
        return set_property(world, edit);
    case CAIRN_COMMAND_FORCE:
        return cairn_body_apply_force(world, edit->buttons, edit->move, edit->aim);
    case CAIRN_COMMAND_FORCE_AT:
        return cairn_body_apply_force_at(world, edit->buttons, edit->move, edit->aim);
    case CAIRN_COMMAND_IMPULSE_AT:
        return cairn_body_apply_impulse(world, edit->buttons, edit->move, edit->aim);
    case CAIRN_COMMAND_TURN:
        return cairn_body_apply_angular_impulse(world, edit->buttons, edit->move);
    case CAIRN_COMMAND_HOST:
    case CAIRN_COMMAND_MESSAGE:
        return CAIRN_OK; // the rules' (cairn_edits_apply): nothing to edit
    default:
        return apply_new_state(world, edit);
    }
}

// All of a body's mass.
static cairn_status set_mass(cairn_world *world, const cairn_command *commands, uint32_t count) {
    const cairn_command *part = &commands[0];
    const cairn_command *last = &commands[count - 1];
    if (count != 2 || part->kind != CAIRN_COMMAND_INERTIA) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_mass_properties mass = {.mass = last->aim.x,
        .centre = last->move,
        .inertia = {
            part->move.x, part->move.y, part->move.z, part->aim.x, part->aim.y, part->aim.z}};
    return cairn_body_set_mass_properties(world, last->buttons, &mass);
}

static cairn_status explode(cairn_world *world, const cairn_command *commands, uint32_t count) {
    const cairn_command *last = &commands[count - 1];
    if (count > 2 || (count == 2 && commands[0].kind != CAIRN_COMMAND_SHIELD)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_explosion explosion = {.centre = last->move,
        .radius = last->aim.x,
        .falloff = last->aim.y,
        .impulse_per_area = last->aim.z,
        .mask = last->buttons,
        .shield_mask = count == 2 ? commands[0].buttons : 0};
    return cairn_world_explode(world, &explosion, NULL);
}

static cairn_status fracture(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_edit_made *made) {
    const cairn_command *last = &commands[count - 1];
    if (count > 2 || (count == 2 && commands[0].kind != CAIRN_COMMAND_SEED)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_fracture_def def = {.point = last->move,
        .pieces = (uint32_t)last->aim.x,
        .crowding = last->aim.y,
        .thickness_min = last->aim.z,
        .seed = count == 2 ? commands[0].buttons : 0};
    return cairn_body_fracture(
        world, last->buttons, &def, made->pieces, CAIRN_FRACTURE_PIECES_MAX, &made->piece_count);
}

static bool is_part(const cairn_command *command) {
    switch (command->kind) {
    case CAIRN_COMMAND_HULL_POINTS:
    case CAIRN_COMMAND_SHAPE:
    case CAIRN_COMMAND_JOINT:
    case CAIRN_COMMAND_INERTIA:
    case CAIRN_COMMAND_SHAPE_POSE:
    case CAIRN_COMMAND_TRIANGLES:
    case CAIRN_COMMAND_HEIGHTS:
    case CAIRN_COMMAND_SHIELD:
    case CAIRN_COMMAND_SEED:
        return true;
    default:
        return false;
    }
}

uint32_t cairn_edit_command_count(const cairn_command *commands, uint32_t count) {
    CAIRN_ASSERT(count == 0 || commands != NULL);
    uint32_t i = 0;
    while (i < count && is_part(&commands[i])) {
        ++i;
    }
    return i < count ? i + 1 : count;
}

cairn_status cairn_world_apply_edit(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_edit_made *made) {
    CAIRN_ASSERT(count > 0 && cairn_edit_command_count(commands, count) == count);
    for (uint32_t i = 0; i < count; ++i) {
        CAIRN_ASSERT(commands[i].slot == CAIRN_SLOT_OPERATOR);
        CAIRN_ASSERT(cairn_command_check(&commands[i]) == CAIRN_OK);
    }
    const cairn_command *last = &commands[count - 1];
    made->body = CAIRN_ID_NULL;
    made->joint = CAIRN_ID_NULL;
    made->piece_count = 0;
    if (last->kind == CAIRN_COMMAND_SPAWN) {
        return cairn_edit_spawn(world, commands, count, &made->body);
    }
    if (last->kind == CAIRN_COMMAND_CREATE_JOINT) {
        return cairn_edit_create_joint(world, commands, count, &made->joint);
    }
    if (last->kind == CAIRN_COMMAND_SET_MASS) {
        return set_mass(world, commands, count);
    }
    if (last->kind == CAIRN_COMMAND_EXPLODE) {
        return explode(world, commands, count);
    }
    if (last->kind == CAIRN_COMMAND_FRACTURE) {
        return fracture(world, commands, count, made);
    }
    return count == 1 && !is_part(last) ? apply_command(world, last, made) : CAIRN_INVALID_ARGUMENT;
}

// What the server's host or a player tells the rules, at its place among the edits: the first of
// `count` commands and, of a message, the pieces that follow. Returns how many; *heard is false if
// the rules do not listen, or the message is not whole or too long for them.
static uint32_t tell_rules(
    cairn_world *world, const cairn_command *commands, uint32_t count, bool *heard) {
    const cairn_rules *rules = world->def.rules;
    if (commands->kind == CAIRN_COMMAND_HOST) {
        *heard = rules != NULL && rules->host != NULL;
        if (*heard) {
            rules->host(world, world->state.rules, commands);
        }
        return 1;
    }
    uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX];
    uint32_t slot = 0;
    uint32_t size = 0;
    const uint32_t taken = cairn_message_of_commands(commands, count, &slot, bytes, &size);
    *heard = size > 0 && rules != NULL && size <= rules->message_size_max;
    if (*heard) {
        rules->message(world, world->state.rules, slot, bytes, size);
    }
    return taken;
}

static bool is_for_rules(const cairn_command *command) {
    return command->kind == CAIRN_COMMAND_HOST || command->kind == CAIRN_COMMAND_MESSAGE;
}

uint32_t cairn_edits_apply(cairn_world *world, const cairn_command *commands, uint32_t count) {
    uint32_t first = count;
    while (first > 0 && commands[first - 1].slot == CAIRN_SLOT_OPERATOR) {
        --first;
    }
    uint32_t size = 0;
    for (uint32_t i = first; i < count; i += size) {
        bool done = false;
        if (is_for_rules(&commands[i])) {
            size = tell_rules(world, &commands[i], count - i, &done);
        } else {
            size = cairn_edit_command_count(&commands[i], count - i);
            cairn_edit_made made;
            const cairn_status status = cairn_world_apply_edit(world, &commands[i], size, &made);
            // The create functions have counted what exceeded a capacity.
            done = status == CAIRN_OK || status == CAIRN_CAPACITY;
        }
        world->state.settings->edits_refused += done ? 0u : 1u;
    }
    CAIRN_ASSERT(first <= count);
    return first;
}

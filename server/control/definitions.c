// SPDX-License-Identifier: MIT
// The answers about bodies, shapes and joints: in lists, and in full.
#include <stdlib.h>

#include "server/control/verbs.h"

cairn_control_body cairn_control_describe_body(const cairn_body_state *body) {
    return (cairn_control_body){
        .id = body->id,
        .kind = body->kind,
        .awake = body->awake,
        .user = body->user,
        .position = body->position,
        .rotation = body->rotation,
        .linear_velocity = body->linear_velocity,
        .angular_velocity = body->angular_velocity,
    };
}

static cairn_control_joint describe_joint(const cairn_world *world, cairn_joint_id id) {
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_travel travel;
    cairn_joint_reaction reaction;
    (void)cairn_joint_read(world, id, &def);
    (void)cairn_joint_travel_read(world, id, &travel); // 0 of kinds that have none
    (void)cairn_joint_reaction_read(world, id, &reaction);
    return (cairn_control_joint){.id = id,
        .kind = def.kind,
        .body_a = def.body_a,
        .body_b = def.body_b,
        .disabled = def.disabled,
        .position = travel.position,
        .velocity = travel.velocity,
        .force = reaction.force,
        .torque = reaction.torque};
}

cairn_control_refusal cairn_control_on_get_joint(cairn_control_context *c) {
    const cairn_joint_id id = c->request->get_joint.joint;
    const cairn_world *world = c->room->world;
    cairn_joint_def def;
    cairn_joint_angles angles;
    float error = 0.0f;
    if (cairn_joint_read(world, id, &def) != CAIRN_OK) {
        return cairn_control_refuse(c, CAIRN_CONTROL_BODY_UNKNOWN, "unknown joint %u", id);
    }
    (void)cairn_joint_error(world, id, &error);
    (void)cairn_joint_angles_read(world, id, &angles); // 0 of kinds that have none
    c->answer.get_joint = (cairn_control_get_joint_answer){
        .joint = describe_joint(world, id),
        .error = error,
        .swing = angles.swing,
        .twist = angles.twist,
        .collide_connected = def.collide_connected != 0,
        .user = def.user,
        .name = def.name,
        .anchor_a = def.anchor_a,
        .anchor_b = def.anchor_b,
        .length = def.length,
        .axis_a = def.axis_a,
        .axis_b = def.axis_b,
        .normal_a = def.normal_a,
        .normal_b = def.normal_b,
        .cone = def.cone,
        .limited = def.limited != 0,
        .lower = def.lower,
        .upper = def.upper,
        .hertz = def.hertz,
        .damping = def.damping,
        .spring = def.spring != 0,
        .spring_hertz = def.spring_hertz,
        .spring_damping = def.spring_damping,
        .target = def.target,
        .target_position = def.target_position,
        .target_rotation = def.target_rotation,
        .motor = def.motor != 0,
        .motor_speed = def.motor_speed,
        .motor_velocity = def.motor_velocity,
        .motor_force = def.motor_force,
        .motor_torque = def.motor_torque,
        .steering = def.steering != 0,
        .steering_hertz = def.steering_hertz,
        .steering_damping = def.steering_damping,
        .steering_target = def.steering_target,
        .steering_torque = def.steering_torque,
        .ratio = def.ratio,
        .fixed_a = def.fixed_a,
        .fixed_b = def.fixed_b,
        .row_linear_a = def.row.linear_a,
        .row_angular_a = def.row.angular_a,
        .row_linear_b = def.row.linear_b,
        .row_angular_b = def.row.angular_b,
        .row_lower = def.row.lower,
        .row_upper = def.row.upper,
        .row_velocity = def.row.velocity,
        .breakable = def.breakable != 0,
        .break_force = def.break_force,
        .break_torque = def.break_torque,
        .articulated = def.articulated != 0,
        .drive_stiffness = def.drive_stiffness,
        .drive_damping = def.drive_damping,
        .drive_torque = def.drive_torque,
        .joint_friction = def.joint_friction,
        .armature = def.armature,
    };
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_get_body(cairn_control_context *c) {
    const cairn_body_id id = c->request->get_body.body;
    const cairn_world *world = c->room->world;
    cairn_body_state state;
    cairn_body_def def;
    cairn_mass_properties mass;
    if (cairn_body_read(world, id, &state) != CAIRN_OK) {
        return cairn_control_refuse(c, CAIRN_CONTROL_BODY_UNKNOWN, "unknown body %u", id);
    }
    (void)cairn_body_read_def(world, id, &def);
    (void)cairn_body_read_mass(world, id, &mass);
    const float *inertia = mass.inertia;
    c->answer.get_body = (cairn_control_get_body_answer){
        .body = cairn_control_describe_body(&state),
        .enabled = state.enabled != 0,
        .allow_sleep = def.allow_sleep != 0,
        .gyroscopic = def.gyroscopic != 0,
        .bullet = def.bullet != 0,
        .owner = state.owner,
        .name = def.name,
        .locks = def.locks,
        .linear_damping = def.linear_damping,
        .angular_damping = def.angular_damping,
        .gravity_scale = def.gravity_scale,
        .mass = mass.mass,
        .centre = mass.centre,
        .inertia = {inertia[0], inertia[1], inertia[2]},
        .products = {inertia[3], inertia[4], inertia[5]},
    };
    return CAIRN_CONTROL_DONE;
}

static cairn_control_shape_state describe_shape(const cairn_world *world, cairn_shape_id id) {
    cairn_shape_def def = cairn_shape_def_default();
    cairn_body_id body = CAIRN_ID_NULL;
    (void)cairn_shape_read(world, id, &def, &body);
    return (cairn_control_shape_state){
        .id = id,
        .body = body,
        .kind = def.kind,
        .user = def.user,
        .name = def.name,
        .category = def.category,
        .mask = def.mask,
        .flags = def.flags,
        .hull = def.hull,
        .mesh = def.mesh,
        .half_extents = def.half_extents,
        .radius = def.radius,
        .half_height = def.half_height,
        .position = def.pose.position,
        .rotation = def.pose.rotation,
        .density = def.density,
        .friction = def.friction,
        .static_friction = def.static_friction,
        .rolling_resistance = def.rolling_resistance,
        .spin_resistance = def.spin_resistance,
        .restitution = def.restitution,
        .friction_combine = def.friction_combine,
        .restitution_combine = def.restitution_combine,
        .surface_velocity = def.surface_velocity,
    };
}

// Ids of joints or shapes.
typedef struct id_list {
    uint32_t *ids; // owned
    uint32_t count;
} id_list;

typedef uint32_t ids_of_world(const cairn_world *world, uint32_t *out, uint32_t capacity);
typedef uint32_t ids_of_body(
    const cairn_world *world, cairn_body_id body, uint32_t *out, uint32_t capacity);

// Lists those of the world, or of a body, of which the first `first` will be left out. The caller
// frees the ids.
static cairn_control_refusal list_ids(cairn_control_context *c, const char *what,
    ids_of_world *of_world, ids_of_body *of_body, cairn_body_id body, uint32_t first,
    id_list *out) {
    const cairn_world *world = c->room->world;
    const bool all = body == CAIRN_ID_NULL;
    if (!all && !cairn_body_exists(world, body)) {
        return cairn_control_refuse(c, CAIRN_CONTROL_BODY_UNKNOWN, "unknown body %u", body);
    }
    out->count = all ? of_world(world, NULL, 0) : of_body(world, body, NULL, 0);
    if (first > out->count) {
        return cairn_control_refuse(
            c, CAIRN_CONTROL_OUT_OF_RANGE, "there are %u %s", out->count, what);
    }
    out->ids = malloc((out->count > 0 ? out->count : 1) * sizeof *out->ids);
    if (out->ids == NULL) {
        return cairn_control_refuse(c, CAIRN_CONTROL_CAPACITY, "out of memory");
    }
    (void)(all ? of_world(world, out->ids, out->count)
               : of_body(world, body, out->ids, out->count));
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_joints(cairn_control_context *c) {
    const cairn_control_joints_request *request = &c->request->joints;
    id_list list;
    const cairn_control_refusal refusal = list_ids(
        c, "joints", cairn_world_joints, cairn_body_joints, request->body, request->first, &list);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    const uint32_t left = list.count - request->first;
    const uint32_t listed = left < CAIRN_CONTROL_JOINTS_MAX ? left : CAIRN_CONTROL_JOINTS_MAX;
    for (uint32_t i = 0; i < listed; ++i) {
        c->lists->joints[i] = describe_joint(c->room->world, list.ids[request->first + i]);
    }
    free(list.ids);
    c->answer.joints = (cairn_control_joints_answer){
        .joint_count = list.count, .joints = c->lists->joints, .listed_count = listed};
    return CAIRN_CONTROL_DONE;
}

cairn_control_refusal cairn_control_on_shapes(cairn_control_context *c) {
    const cairn_control_shapes_request *request = &c->request->shapes;
    id_list list;
    const cairn_control_refusal refusal = list_ids(
        c, "shapes", cairn_world_shapes, cairn_body_shapes, request->body, request->first, &list);
    if (refusal != CAIRN_CONTROL_DONE) {
        return refusal;
    }
    const uint32_t left = list.count - request->first;
    const uint32_t listed = left < CAIRN_CONTROL_SHAPES_MAX ? left : CAIRN_CONTROL_SHAPES_MAX;
    for (uint32_t i = 0; i < listed; ++i) {
        c->lists->shape_states[i] = describe_shape(c->room->world, list.ids[request->first + i]);
    }
    free(list.ids);
    c->answer.shapes = (cairn_control_shapes_answer){
        .shape_count = list.count, .shapes = c->lists->shape_states, .listed_count = listed};
    return CAIRN_CONTROL_DONE;
}

// SPDX-License-Identifier: MIT
// What pushes one body: impulses, forces, and the target of a kinematic one.

#include "base/assert.h"
#include "base/check.h"
#include "sim/body/body.h"
#include "sim/body/lock.h"
#include "sim/state/hash_cache.h"
#include "sim/world/world.h"

// The slot of a body that may be pushed. CAIRN_NOT_FOUND or CAIRN_WRONG_STATE.
static cairn_status find_enabled(const cairn_world *world, cairn_body_id body, uint32_t *slot) {
    *slot = cairn_body_slot(world, body);
    if (*slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    return body_enabled(&world->state.bodies[*slot]) ? CAIRN_OK : CAIRN_WRONG_STATE;
}

// An impulse at the centre of mass, and an angular one.
static cairn_status push(
    cairn_world *world, uint32_t slot, cairn_vec3 impulse, cairn_vec3 angular_impulse) {
    cairn_motion *motion = &world->state.motions[slot];
    const cairn_response response = body_response(&world->state.bodies[slot], motion->rotation);
    const cairn_vec3 linear =
        vec3_add(motion->linear_velocity, vec3_multiply(impulse, response.inverse_mass));
    const cairn_vec3 angular =
        vec3_add(motion->angular_velocity, sym3_apply(response.inverse_inertia, angular_impulse));
    if (!vec3_finite(impulse) || !vec3_finite(angular_impulse) || !vec3_finite(linear) ||
        !vec3_finite(angular)) {
        return CAIRN_NON_FINITE;
    }
    cairn_hash_cache_mark(world, CAIRN_ARRAY_MOTIONS, slot);
    motion->linear_velocity = vec3_clean(linear);
    motion->angular_velocity = vec3_clean(angular);
    cairn_body_wake(world, slot);
    return CAIRN_OK;
}

cairn_status cairn_body_apply_impulse(
    cairn_world *world, cairn_body_id body, cairn_vec3 impulse, cairn_vec3 point) {
    uint32_t slot;
    const cairn_status status = find_enabled(world, body, &slot);
    if (status != CAIRN_OK) {
        return status;
    }
    const cairn_vec3 arm = vec3_sub(point, world->state.motions[slot].position);
    return push(world, slot, impulse, vec3_cross(arm, impulse));
}

cairn_status cairn_body_apply_impulse_at_centre(
    cairn_world *world, cairn_body_id body, cairn_vec3 impulse) {
    uint32_t slot;
    const cairn_status status = find_enabled(world, body, &slot);
    return status != CAIRN_OK ? status : push(world, slot, impulse, vec3_zero());
}

cairn_status cairn_body_apply_angular_impulse(
    cairn_world *world, cairn_body_id body, cairn_vec3 impulse) {
    uint32_t slot;
    const cairn_status status = find_enabled(world, body, &slot);
    return status != CAIRN_OK ? status : push(world, slot, vec3_zero(), impulse);
}

cairn_status cairn_body_apply_force(
    cairn_world *world, cairn_body_id body, cairn_vec3 force, cairn_vec3 torque) {
    uint32_t slot;
    const cairn_status status = find_enabled(world, body, &slot);
    if (status != CAIRN_OK) {
        return status;
    }
    cairn_body *target = &world->state.bodies[slot];
    const cairn_vec3 force_sum = vec3_add(target->force, force);
    const cairn_vec3 torque_sum = vec3_add(target->torque, torque);
    if (!vec3_finite(force_sum) || !vec3_finite(torque_sum)) {
        return CAIRN_NON_FINITE;
    }
    if (target->kind != CAIRN_BODY_DYNAMIC) {
        return CAIRN_OK;
    }
    cairn_hash_cache_mark(world, CAIRN_ARRAY_BODIES, slot);
    target->force = vec3_clean(force_sum);
    target->torque = vec3_clean(torque_sum);
    cairn_body_wake(world, slot);
    return CAIRN_OK;
}

cairn_status cairn_body_apply_force_at(
    cairn_world *world, cairn_body_id body, cairn_vec3 force, cairn_vec3 point) {
    const uint32_t slot = cairn_body_slot(world, body);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_vec3 arm = vec3_sub(point, world->state.motions[slot].position);
    return cairn_body_apply_force(world, body, force, vec3_cross(arm, force));
}

cairn_status cairn_body_set_target(cairn_world *world, cairn_body_id id, cairn_pose pose) {
    uint32_t slot;
    cairn_status status = find_enabled(world, id, &slot);
    if (status == CAIRN_OK && world->state.bodies[slot].kind != CAIRN_BODY_KINEMATIC) {
        status = CAIRN_WRONG_STATE;
    }
    if (status != CAIRN_OK) {
        return status;
    }
    const cairn_motion *motion = &world->state.motions[slot];
    cairn_body *body = &world->state.bodies[slot];
    const float rate = world_step_rate(world);
    const cairn_quat rotation = quat_normalize(pose.rotation);
    const cairn_vec3 centre = vec3_add(pose.position, quat_rotate(rotation, body->centre));
    const cairn_vec3 linear = vec3_scale(vec3_sub(centre, motion->position), rate);
    const cairn_quat turn = quat_multiply(rotation, quat_conjugate(motion->rotation));
    const cairn_vec3 angular = vec3_scale(cairn_quat_rotation_vector(quat_normalize(turn)), rate);
    const cairn_status checks[] = {cairn_check_vec3(pose.position, CAIRN_DISTANCE_MAX),
        cairn_check_rotation(pose.rotation), cairn_check_vec3(linear, CAIRN_SPEED_MAX),
        cairn_check_vec3(angular, CAIRN_SPEED_MAX)};
    status = cairn_check_all(checks, sizeof checks / sizeof checks[0]);
    if (status != CAIRN_OK) {
        return status;
    }
    cairn_body_write_velocity(world, slot, linear, angular);
    body->flags |= CAIRN_BODY_TARGET_SET;
    world->targets_set = true;
    cairn_body_wake(world, slot);
    return CAIRN_OK;
}

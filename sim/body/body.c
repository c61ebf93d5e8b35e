// SPDX-License-Identifier: MIT
#include "sim/body/body.h"

#include "base/assert.h"
#include "base/check.h"
#include "sim/math/limits.h"
#include "sim/math/rotation.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"

uint32_t cairn_body_slot(const cairn_world *world, cairn_body_id body) {
    return cairn_slot_find(world->state.body_ids, world->state.settings->body_slots, body);
}

cairn_body_id cairn_body_id_at(const cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(slot < world->state.settings->body_slots);
    return cairn_slot_id(world->state.body_ids, slot);
}

void cairn_body_wake(cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot));
    if (!body_enabled(&world->state.bodies[slot])) {
        return;
    }
    const bool dynamic = world->state.bodies[slot].kind == CAIRN_BODY_DYNAMIC;
    world->islands_settled = false;
    cairn_awake_mark(world, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_SLEEP, slot);
    const uint32_t before = world->state.sleep[slot].state;
    const bool woken = before == CAIRN_SLEEP_ASLEEP || before == CAIRN_SLEEP_WOKEN;
    world->bodies_woken = world->bodies_woken || woken;
    world->state.sleep[slot] = (cairn_sleep){.state = !dynamic ? CAIRN_SLEEP_DISTURBED
                                                      : woken  ? CAIRN_SLEEP_WOKEN
                                                               : CAIRN_SLEEP_NONE};
}

// False for NaN.
static bool within(cairn_vec3 value, float limit) {
    return float_abs(value.x) <= limit && float_abs(value.y) <= limit &&
           float_abs(value.z) <= limit;
}

bool cairn_motion_valid(const cairn_motion *motion) {
    return within(motion->position, CAIRN_VALID_DISTANCE) &&
           within(motion->origin, CAIRN_VALID_DISTANCE) &&
           cairn_check_rotation(motion->rotation) == CAIRN_OK &&
           within(motion->linear_velocity, CAIRN_VALID_SPEED) &&
           within(motion->angular_velocity, CAIRN_VALID_SPEED);
}

void cairn_body_clear_forces(cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot));
    cairn_body *body = &world->state.bodies[slot];
    if (!vec3_is_zero(body->force) || !vec3_is_zero(body->torque)) {
        cairn_hash_cache_mark(world, CAIRN_ARRAY_BODIES, slot);
        body->force = vec3_zero();
        body->torque = vec3_zero();
    }
}

void cairn_body_reset_reference_pose(cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(slot < world->state.settings->body_slots);
    world->state.reference_poses[slot] = (cairn_reference_pose){.position = vec3_zero()};
    cairn_hash_cache_mark(world, CAIRN_ARRAY_REFERENCE_POSES, slot);
}

void cairn_body_disable(cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot));
    cairn_body *body = &world->state.bodies[slot];
    cairn_motion *motion = &world->state.motions[slot];
    // The step marks the joints and contacts of active bodies when it ends, and this body is no
    // longer one.
    cairn_hash_cache_mark_all(world);
    motion->linear_velocity = vec3_zero();
    motion->angular_velocity = vec3_zero();
    body->kind = CAIRN_BODY_STATIC;
    body->flags &= ~(CAIRN_BODY_TARGET_SET | CAIRN_BODY_TARGET_REACHED);
    body->force = vec3_zero();
    body->torque = vec3_zero();
    cairn_body_update_mass(world, slot);
    CAIRN_ASSERT(body->inverse_mass == 0.0f);
    cairn_body_wake(world, slot);
    world->contacts_stale = true;
    world->pair_cache_valid = false;
    world->state.settings->bodies_disabled += 1;
}

void cairn_body_integrate(cairn_world *world, uint32_t slot, float h) {
    cairn_motion moved = world->state.motions[slot];
    const cairn_vec3 centre = world->state.bodies[slot].centre;
    CAIRN_ASSERT(cairn_body_is_active(world, slot) && h > 0.0f);
    moved.position = vec3_clean(vec3_add_scaled(moved.position, moved.linear_velocity, h));
    const cairn_vec3 angle = vec3_scale(moved.angular_velocity, h);
    moved.rotation =
        (world->state.bodies[slot].flags & CAIRN_BODY_TARGET_SET) != 0
            ? quat_normalize(quat_multiply(cairn_quat_of_rotation_vector(angle), moved.rotation))
            : quat_integrate(moved.rotation, moved.angular_velocity, h);
    moved.origin = vec3_clean(vec3_sub(moved.position, quat_rotate(moved.rotation, centre)));
    if (cairn_motion_valid(&moved)) {
        world->state.motions[slot] = moved;
    } else {
        cairn_body_disable(world, slot);
    }
}

void cairn_kinematic_bodies_integrate(cairn_world *world) {
    CAIRN_ASSERT(world->awake_set->body_count <= world->state.settings->body_slots);
    const float h = world_time_step(world);
    for (uint32_t i = 0; i < world->awake_set->body_count; ++i) {
        const uint32_t slot = world->awake_set->bodies[i];
        if (cairn_body_is_active(world, slot) && !cairn_body_takes_impulses(world, slot)) {
            cairn_body_integrate(world, slot, h);
        }
    }
}

void cairn_body_targets_begin(cairn_world *world) {
    world->targets_set = false;
    const uint32_t count = world->state.settings->body_slots;
    for (uint32_t i = cairn_awake_mark_next(world, 0); i < count;
         i = cairn_awake_mark_next(world, i + 1)) {
        cairn_body *body = &world->state.bodies[i];
        world->targets_set = world->targets_set || (body->flags & CAIRN_BODY_TARGET_SET) != 0;
        if ((body->flags & CAIRN_BODY_TARGET_REACHED) != 0) {
            CAIRN_ASSERT(body->kind == CAIRN_BODY_KINEMATIC);
            cairn_hash_cache_mark_body(world, i);
            body->flags &= ~CAIRN_BODY_TARGET_REACHED;
            world->state.motions[i].linear_velocity = vec3_zero();
            world->state.motions[i].angular_velocity = vec3_zero();
            cairn_body_wake(world, i);
        }
    }
}

void cairn_body_targets_end(cairn_world *world) {
    const uint32_t count = world->state.settings->body_slots;
    for (uint32_t i = cairn_awake_mark_next(world, 0); i < count;
         i = cairn_awake_mark_next(world, i + 1)) {
        cairn_body *body = &world->state.bodies[i];
        if ((body->flags & CAIRN_BODY_TARGET_SET) != 0) {
            CAIRN_ASSERT(body->kind == CAIRN_BODY_KINEMATIC);
            cairn_hash_cache_mark(world, CAIRN_ARRAY_BODIES, i);
            body->flags ^= CAIRN_BODY_TARGET_SET | CAIRN_BODY_TARGET_REACHED;
        }
    }
}

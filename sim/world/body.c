// SPDX-License-Identifier: MIT
#include "sim/world/world.h"

#include <string.h>

#include "base/assert.h"
#include "base/check.h"
#include "sim/articulation/hang.h"
#include "sim/body/body.h"
#include "sim/body/lock.h"
#include "sim/math/limits.h"
#include "sim/query/shape_tree.h"
#include "sim/sleep/island.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"

cairn_body_def cairn_body_def_default(void) {
    return (cairn_body_def){.kind = CAIRN_BODY_DYNAMIC,
        .rotation = quat_identity(),
        .gravity_scale = 1.0f,
        .allow_sleep = 1};
}

cairn_status cairn_body_def_check(const cairn_body_def *def) {
    if (def->kind > CAIRN_BODY_DYNAMIC || def->allow_sleep > 1 || def->gyroscopic > 1 ||
        def->disabled > 1 || def->bullet > 1 || def->locks > CAIRN_LOCKS_ALL) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_status checks[] = {
        cairn_check_vec3(def->position, CAIRN_DISTANCE_MAX),
        cairn_check_rotation(def->rotation),
        cairn_check_vec3(def->linear_velocity, CAIRN_SPEED_MAX),
        cairn_check_vec3(def->angular_velocity, CAIRN_SPEED_MAX),
        cairn_check_float(def->linear_damping, 0.0f, CAIRN_DAMPING_MAX),
        cairn_check_float(def->angular_damping, 0.0f, CAIRN_DAMPING_MAX),
        cairn_check_float(def->gravity_scale, -CAIRN_GRAVITY_SCALE_MAX, CAIRN_GRAVITY_SCALE_MAX),
    };
    return cairn_check_all(checks, sizeof checks / sizeof checks[0]);
}

// A body that is static or not enabled has no velocity, whatever the caller asks for, and none has
// a velocity along its locks.
void cairn_body_write_velocity(
    cairn_world *world, uint32_t slot, cairn_vec3 linear, cairn_vec3 angular) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot));
    cairn_body *body = &world->state.bodies[slot];
    cairn_motion *motion = &world->state.motions[slot];
    const bool still = body->kind == CAIRN_BODY_STATIC || !body_enabled(body);
    cairn_hash_cache_mark_body(world, slot);
    cairn_awake_mark(world, slot);
    body->flags &= ~(CAIRN_BODY_TARGET_SET | CAIRN_BODY_TARGET_REACHED);
    motion->linear_velocity =
        vec3_clean(vec3_select(still, vec3_zero(), lock_linear(body->flags, linear)));
    motion->angular_velocity =
        vec3_clean(vec3_select(still, vec3_zero(), lock_angular(body->flags, angular)));
}

cairn_status cairn_body_create(cairn_world *world, const cairn_body_def *def, cairn_body_id *out) {
    *out = 0;
    const cairn_status status = cairn_body_def_check(def);
    if (status != CAIRN_OK) {
        return status;
    }
    cairn_state *state = &world->state;
    const uint32_t slot = cairn_slot_take(
        state->body_ids, &state->settings->body_slots, world->def.body_capacity, &world->body_hint);
    if (slot == CAIRN_INDEX_NONE) {
        state->settings->creates_refused += 1;
        return CAIRN_CAPACITY;
    }
    CAIRN_ASSERT(cairn_state_has(state, CAIRN_ARRAY_BODIES, slot));
    world->body_count += 1;
    cairn_hash_cache_mark_body(world, slot);
    state->motions[slot] = (cairn_motion){.origin = vec3_clean(def->position),
        .position = vec3_clean(def->position),
        .rotation = quat_normalize(def->rotation)};
    state->bodies[slot] =
        (cairn_body){.kind = def->kind + (def->disabled != 0 ? CAIRN_BODY_NOT_ENABLED : 0),
            .allow_sleep = def->allow_sleep,
            .gyroscopic = def->gyroscopic,
            .flags = def->locks,
            .user = def->user,
            .name = def->name,
            .linear_damping = def->linear_damping + 0.0f,
            .angular_damping = def->angular_damping + 0.0f,
            .gravity_scale = def->gravity_scale + 0.0f,
            .bullet = def->bullet};
    state->sleep[slot] = (cairn_sleep){.state = CAIRN_SLEEP_NONE};
    cairn_body_write_velocity(world, slot, def->linear_velocity, def->angular_velocity);
    cairn_body_reset_reference_pose(world, slot);
    world->shape_first[slot] = 0;
    cairn_hangs_add_body(world, slot);
    cairn_body_wake(world, slot);
    *out = cairn_body_id_at(world, slot);
    CAIRN_ASSERT(cairn_body_slot(world, *out) == slot);
    return CAIRN_OK;
}

cairn_status cairn_body_destroy(cairn_world *world, cairn_body_id body) {
    const uint32_t slot = cairn_body_slot(world, body);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    cairn_islands_wake_neighbours(world, slot);
    cairn_joint_destroy_of_body(world, slot);
    while (world->shape_first[slot] != 0) {
        cairn_shape_remove(world, world->shape_first[slot] - 1);
    }
    cairn_hash_cache_mark_body(world, slot);
    memset(&world->state.motions[slot], 0, sizeof(cairn_motion));
    cairn_body_reset_reference_pose(world, slot);
    memset(&world->state.bodies[slot], 0, sizeof(cairn_body));
    memset(&world->state.sleep[slot], 0, sizeof(cairn_sleep));
    cairn_slot_free(world->state.body_ids, slot, &world->body_hint);
    world->body_count -= 1;
    CAIRN_ASSERT(!cairn_body_exists(world, body) && world->shape_first[slot] == 0);
    return CAIRN_OK;
}

bool cairn_body_exists(const cairn_world *world, cairn_body_id body) {
    return cairn_body_slot(world, body) != CAIRN_INDEX_NONE;
}

cairn_body_state cairn_body_state_of(
    cairn_body_id id, const cairn_motion *motion, const cairn_body *body, bool active) {
    const uint32_t owner = body->flags >> CAIRN_BODY_OWNER_SHIFT;
    return (cairn_body_state){.id = id,
        .kind = body_kind(body),
        .position = motion->origin,
        .rotation = motion->rotation,
        .linear_velocity = motion->linear_velocity,
        .angular_velocity = motion->angular_velocity,
        .awake = active ? 1u : 0u,
        .user = body->user,
        .enabled = body_enabled(body) ? 1u : 0u,
        .owner = owner == 0 ? CAIRN_SLOT_NONE : owner - 1,
        .teleports = body->flags >> CAIRN_BODY_TELEPORTS_SHIFT & CAIRN_BODY_TELEPORTS_MASK};
}

static cairn_body_state body_state_at(const cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot));
    return cairn_body_state_of(cairn_body_id_at(world, slot), &world->state.motions[slot],
        &world->state.bodies[slot], cairn_body_is_active(world, slot));
}

cairn_status cairn_body_read(const cairn_world *world, cairn_body_id body, cairn_body_state *out) {
    const uint32_t slot = cairn_body_slot(world, body);
    if (slot == CAIRN_INDEX_NONE) {
        memset(out, 0, sizeof *out);
        return CAIRN_NOT_FOUND;
    }
    *out = body_state_at(world, slot);
    return CAIRN_OK;
}

uint32_t cairn_world_bodies(const cairn_world *world, cairn_body_state *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        if (!cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, i)) {
            continue;
        }
        if (count < capacity) {
            out[count] = body_state_at(world, i);
        }
        ++count;
    }
    CAIRN_ASSERT(count <= world->state.settings->body_slots);
    return count;
}

float cairn_body_mass(const cairn_world *world, cairn_body_id body) {
    const uint32_t slot = cairn_body_slot(world, body);
    return slot == CAIRN_INDEX_NONE ? 0.0f : world->state.bodies[slot].mass;
}

static void write_pose(
    cairn_world *world, uint32_t slot, cairn_vec3 position, cairn_quat rotation) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot));
    cairn_motion *target = &world->state.motions[slot];
    const cairn_vec3 centre = world->state.bodies[slot].centre;
    cairn_hash_cache_mark(world, CAIRN_ARRAY_MOTIONS, slot);
    target->origin = vec3_clean(position);
    target->rotation = (cairn_quat){.x = rotation.x + 0.0f,
        .y = rotation.y + 0.0f,
        .z = rotation.z + 0.0f,
        .w = rotation.w + 0.0f};
    target->position = vec3_clean(vec3_add(target->origin, quat_rotate(rotation, centre)));
    cairn_shape_tree_mark_moved(world->shape_tree, slot);
}

static cairn_status pose_check(cairn_pose pose, float distance_max) {
    const cairn_status checks[] = {
        cairn_check_vec3(pose.position, distance_max), cairn_check_rotation(pose.rotation)};
    return cairn_check_all(checks, 2);
}

cairn_status cairn_body_place(cairn_world *world, cairn_body_id body, cairn_pose pose) {
    const uint32_t slot = cairn_body_slot(world, body);
    const cairn_status status =
        slot == CAIRN_INDEX_NONE ? CAIRN_NOT_FOUND : pose_check(pose, CAIRN_VALID_DISTANCE);
    if (status == CAIRN_OK) {
        write_pose(world, slot, pose.position, pose.rotation);
    }
    return status;
}

cairn_status cairn_body_set_pose(cairn_world *world, cairn_body_id body, cairn_pose pose) {
    const uint32_t slot = cairn_body_slot(world, body);
    const cairn_status status =
        slot == CAIRN_INDEX_NONE ? CAIRN_NOT_FOUND : pose_check(pose, CAIRN_DISTANCE_MAX);
    if (status != CAIRN_OK) {
        return status;
    }
    write_pose(world, slot, pose.position, quat_normalize(pose.rotation));
    cairn_hash_cache_mark(world, CAIRN_ARRAY_BODIES, slot);
    cairn_body *moved = &world->state.bodies[slot];
    const uint32_t mask = CAIRN_BODY_TELEPORTS_MASK << CAIRN_BODY_TELEPORTS_SHIFT;
    const uint32_t teleports = moved->flags + (1u << CAIRN_BODY_TELEPORTS_SHIFT);
    moved->flags = (moved->flags & ~mask) | (teleports & mask);
    cairn_islands_wake_neighbours(world, slot);
    cairn_body_wake(world, slot);
    return CAIRN_OK;
}

cairn_status cairn_body_set_velocity(
    cairn_world *world, cairn_body_id body, cairn_vec3 linear, cairn_vec3 angular) {
    const uint32_t slot = cairn_body_slot(world, body);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_status checks[] = {
        cairn_check_vec3(linear, CAIRN_SPEED_MAX), cairn_check_vec3(angular, CAIRN_SPEED_MAX)};
    const cairn_status status = cairn_check_all(checks, 2);
    if (status != CAIRN_OK) {
        return status;
    }
    if (!body_enabled(&world->state.bodies[slot])) {
        return CAIRN_WRONG_STATE;
    }
    cairn_body_write_velocity(world, slot, linear, angular);
    cairn_body_wake(world, slot);
    return CAIRN_OK;
}

// SPDX-License-Identifier: MIT
// Setters of what a body was created with.

#include <string.h>

#include "base/assert.h"
#include "base/check.h"
#include "sim/articulation/hang.h"
#include "sim/body/body.h"
#include "sim/body/lock.h"
#include "sim/body/shape.h"
#include "sim/collide/pair_cache.h"
#include "sim/sleep/island.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/world/world.h"

void cairn_body_find_contacts_again(cairn_world *world, uint32_t slot) {
    cairn_islands_wake_neighbours(world, slot);
    cairn_body_reset_reference_pose(world, slot);
    cairn_pair_cache_body_changed(world, slot);
    world->contacts_stale = true;
    cairn_body_wake(world, slot);
}

static void clear_forces(cairn_body *body) {
    body->force = vec3_zero();
    body->torque = vec3_zero();
}

cairn_status cairn_body_read_def(const cairn_world *world, cairn_body_id id, cairn_body_def *out) {
    const uint32_t slot = cairn_body_slot(world, id);
    *out = (cairn_body_def){.kind = 0};
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_body *body = &world->state.bodies[slot];
    const cairn_motion *motion = &world->state.motions[slot];
    *out = (cairn_body_def){.kind = body_kind(body),
        .position = motion->origin,
        .rotation = motion->rotation,
        .linear_velocity = motion->linear_velocity,
        .angular_velocity = motion->angular_velocity,
        .linear_damping = body->linear_damping,
        .angular_damping = body->angular_damping,
        .gravity_scale = body->gravity_scale,
        .allow_sleep = body->allow_sleep,
        .gyroscopic = body->gyroscopic,
        .user = body->user,
        .name = body->name,
        .locks = body->flags & CAIRN_LOCKS_ALL,
        .disabled = body_enabled(body) ? 0u : 1u,
        .bullet = body->bullet};
    return CAIRN_OK;
}

// Whether the body has a shape that no body of this kind may have.
static bool shapes_forbid(const cairn_world *world, uint32_t slot, uint32_t kind) {
    for (uint32_t i = world->shape_first[slot]; i != 0; i = world->shape_next[i - 1]) {
        const cairn_geometry *geometry = &world->state.shapes[i - 1].geometry;
        if ((geometry->kind == CAIRN_SHAPE_HALF_SPACE && kind != CAIRN_BODY_STATIC) ||
            (geometry_is_mesh(geometry) && kind == CAIRN_BODY_DYNAMIC)) {
            return true;
        }
    }
    return false;
}

cairn_status cairn_body_set_kind(cairn_world *world, cairn_body_id id, uint32_t kind) {
    const uint32_t slot = cairn_body_slot(world, id);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    if (kind > CAIRN_BODY_DYNAMIC) {
        return CAIRN_INVALID_ARGUMENT;
    }
    if (shapes_forbid(world, slot, kind)) {
        return CAIRN_WRONG_STATE;
    }
    cairn_body *body = &world->state.bodies[slot];
    const cairn_motion motion = world->state.motions[slot];
    if (body_kind(body) == kind) {
        cairn_body_wake(world, slot);
        return CAIRN_OK;
    }
    cairn_body_find_contacts_again(world, slot);
    body->kind = kind + (body_enabled(body) ? 0 : CAIRN_BODY_NOT_ENABLED);
    clear_forces(body);
    world->state.sleep[slot] = (cairn_sleep){.state = CAIRN_SLEEP_NONE};
    cairn_body_write_velocity(world, slot, motion.linear_velocity, motion.angular_velocity);
    cairn_body_update_mass(world, slot);
    cairn_body_wake(world, slot);
    return CAIRN_OK;
}

// The body whose setter was called with values of that status; NULL on failure.
static cairn_body *body_to_set(
    cairn_world *world, cairn_body_id id, cairn_status checked, cairn_status *status) {
    const uint32_t slot = cairn_body_slot(world, id);
    *status = slot == CAIRN_INDEX_NONE ? CAIRN_NOT_FOUND : checked;
    if (*status != CAIRN_OK) {
        return NULL;
    }
    cairn_hash_cache_mark_body(world, slot);
    cairn_body_wake(world, slot);
    return &world->state.bodies[slot];
}

cairn_status cairn_body_set_damping(
    cairn_world *world, cairn_body_id id, float linear, float angular) {
    const cairn_status checks[] = {cairn_check_float(linear, 0.0f, CAIRN_DAMPING_MAX),
        cairn_check_float(angular, 0.0f, CAIRN_DAMPING_MAX)};
    cairn_status status;
    cairn_body *body = body_to_set(world, id, cairn_check_all(checks, 2), &status);
    if (body != NULL) {
        body->linear_damping = linear + 0.0f;
        body->angular_damping = angular + 0.0f;
    }
    return status;
}

cairn_status cairn_body_set_gravity_scale(cairn_world *world, cairn_body_id id, float scale) {
    cairn_status status =
        cairn_check_float(scale, -CAIRN_GRAVITY_SCALE_MAX, CAIRN_GRAVITY_SCALE_MAX);
    cairn_body *body = body_to_set(world, id, status, &status);
    if (body != NULL) {
        body->gravity_scale = scale + 0.0f;
    }
    return status;
}

cairn_status cairn_body_set_locks(cairn_world *world, cairn_body_id id, uint32_t locks) {
    cairn_status status = locks <= CAIRN_LOCKS_ALL ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
    status = locks != 0 && cairn_body_is_link(world, id) ? CAIRN_WRONG_STATE : status;
    cairn_body *body = body_to_set(world, id, status, &status);
    if (body != NULL) {
        cairn_motion *motion = &world->state.motions[cairn_id_index(id)];
        body->flags = (body->flags & ~CAIRN_LOCKS_ALL) | locks;
        motion->linear_velocity = lock_linear(locks, motion->linear_velocity);
        motion->angular_velocity = lock_angular(locks, motion->angular_velocity);
    }
    return status;
}

cairn_status cairn_body_set_user(cairn_world *world, cairn_body_id id, uint32_t user) {
    const uint32_t slot = cairn_body_slot(world, id);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    cairn_hash_cache_mark(world, CAIRN_ARRAY_BODIES, slot);
    world->state.bodies[slot].user = user;
    return CAIRN_OK;
}

cairn_status cairn_body_set_owner(cairn_world *world, cairn_body_id id, uint32_t slot_of_owner) {
    const uint32_t slot = cairn_body_slot(world, id);
    const bool none = slot_of_owner == CAIRN_SLOT_NONE;
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    if (!none && slot_of_owner >= CAIRN_SLOTS_MAX) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_hash_cache_mark(world, CAIRN_ARRAY_BODIES, slot);
    cairn_body *body = &world->state.bodies[slot];
    body->flags = (body->flags & ((1u << CAIRN_BODY_OWNER_SHIFT) - 1)) |
                  (none ? 0 : slot_of_owner + 1) << CAIRN_BODY_OWNER_SHIFT;
    return CAIRN_OK;
}

cairn_status cairn_body_set_allow_sleep(cairn_world *world, cairn_body_id id, bool allow) {
    cairn_status status = CAIRN_OK;
    cairn_body *body = body_to_set(world, id, status, &status);
    if (body != NULL) {
        body->allow_sleep = allow ? 1u : 0u;
    }
    return status;
}

cairn_status cairn_body_set_bullet(cairn_world *world, cairn_body_id id, bool bullet) {
    cairn_status status = CAIRN_OK;
    cairn_body *body = body_to_set(world, id, status, &status);
    if (body != NULL) {
        body->bullet = bullet ? 1u : 0u;
    }
    return status;
}

cairn_status cairn_body_set_gyroscopic(cairn_world *world, cairn_body_id id, bool gyroscopic) {
    cairn_status status = CAIRN_OK;
    cairn_body *body = body_to_set(world, id, status, &status);
    if (body != NULL) {
        body->gyroscopic = gyroscopic ? 1u : 0u;
    }
    return status;
}

cairn_status cairn_body_set_awake(cairn_world *world, cairn_body_id id, bool awake) {
    const uint32_t slot = cairn_body_slot(world, id);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    if (world->state.bodies[slot].kind != CAIRN_BODY_DYNAMIC) {
        return CAIRN_WRONG_STATE;
    }
    if (awake) {
        cairn_body_wake(world, slot);
        return CAIRN_OK;
    }
    return cairn_islands_put_to_sleep(world, slot) ? CAIRN_OK : CAIRN_WRONG_STATE;
}

cairn_status cairn_body_set_enabled(cairn_world *world, cairn_body_id id, bool enabled) {
    const uint32_t slot = cairn_body_slot(world, id);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    cairn_body *body = &world->state.bodies[slot];
    if (body_enabled(body) == enabled) {
        return CAIRN_OK;
    }
    cairn_body_find_contacts_again(world, slot);
    cairn_pair_cache_joint_changed(world, slot);
    body->kind ^= CAIRN_BODY_NOT_ENABLED;
    clear_forces(body);
    cairn_body_write_velocity(world, slot, vec3_zero(), vec3_zero());
    world->state.sleep[slot] = (cairn_sleep){.state = CAIRN_SLEEP_NONE};
    cairn_body_update_mass(world, slot);
    cairn_body_wake(world, slot);
    CAIRN_ASSERT(body_enabled(body) == enabled);
    return CAIRN_OK;
}

// ---- Mass

cairn_status cairn_body_read_mass(
    const cairn_world *world, cairn_body_id id, cairn_mass_properties *out) {
    const uint32_t slot = cairn_body_slot(world, id);
    *out = (cairn_mass_properties){.mass = 0.0f};
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_body *body = &world->state.bodies[slot];
    const cairn_sym3 inertia = sym3_inverse_scaled(body->inverse_inertia);
    if (body->mass > 0.0f) {
        *out = (cairn_mass_properties){.mass = body->mass,
            .centre = body->centre,
            .inertia = {inertia.xx, inertia.yy, inertia.zz, inertia.xy, inertia.xz, inertia.yz}};
    }
    return CAIRN_OK;
}

// Sylvester's criterion, at about unit size: every leading minor is positive.
static bool positive_definite(cairn_sym3 m) {
    const float size = m.xx + m.yy + m.zz;
    if (!(size > 1e-30f && size < 1e30f)) {
        return false;
    }
    const cairn_sym3 unit = sym3_scale(m, 1.0f / size);
    const float minor = unit.xx * unit.yy - unit.xy * unit.xy;
    const cairn_sym3 inverse = sym3_inverse(unit);
    return unit.xx > 0.0f && minor > 0.0f && inverse.xx > 0.0f && inverse.yy > 0.0f &&
           inverse.zz > 0.0f;
}

static void set_mass(
    cairn_world *world, uint32_t slot, float mass, cairn_vec3 centre, cairn_sym3 inverse_inertia) {
    cairn_body *body = &world->state.bodies[slot];
    cairn_islands_wake_neighbours(world, slot);
    body->flags |= CAIRN_BODY_MASS_SET;
    body->mass = mass;
    body->centre = vec3_clean(centre);
    body->inverse_inertia = sym3_clean(inverse_inertia);
    cairn_body_update_mass(world, slot);
    cairn_body_wake(world, slot);
}

cairn_status cairn_body_set_mass_properties(
    cairn_world *world, cairn_body_id id, const cairn_mass_properties *mass) {
    const uint32_t slot = cairn_body_slot(world, id);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_status checks[] = {cairn_check_float(mass->mass, CAIRN_MASS_MIN, CAIRN_MASS_MAX),
        cairn_check_vec3(mass->centre, CAIRN_DISTANCE_MAX)};
    const cairn_status status = cairn_check_all(checks, 2);
    if (status != CAIRN_OK) {
        return status;
    }
    for (uint32_t i = 0; i < 6; ++i) {
        if (!float_finite(mass->inertia[i])) {
            return CAIRN_NON_FINITE;
        }
    }
    const cairn_sym3 inertia = sym3_of(mass->inertia);
    if (!positive_definite(inertia)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    set_mass(world, slot, mass->mass, mass->centre, sym3_inverse_scaled(inertia));
    return CAIRN_OK;
}

cairn_status cairn_body_set_mass(cairn_world *world, cairn_body_id id, float mass) {
    const uint32_t slot = cairn_body_slot(world, id);
    cairn_status status =
        mass == 0.0f ? CAIRN_OK : cairn_check_float(mass, CAIRN_MASS_MIN, CAIRN_MASS_MAX);
    status = slot == CAIRN_INDEX_NONE ? CAIRN_NOT_FOUND : status;
    if (status != CAIRN_OK) {
        return status;
    }
    cairn_body *body = &world->state.bodies[slot];
    const cairn_mass_sum sum = cairn_body_sum_of_shapes(world, slot);
    if (mass != 0.0f && !(sum.mass > 0.0f)) {
        return CAIRN_WRONG_STATE;
    }
    if (mass != 0.0f) {
        const cairn_sym3 inertia = sym3_scale(sum.inertia, mass / sum.mass);
        set_mass(world, slot, mass, sum.centre, sym3_inverse_scaled(inertia));
        return CAIRN_OK;
    }
    cairn_islands_wake_neighbours(world, slot);
    body->flags &= ~CAIRN_BODY_MASS_SET;
    cairn_body_update_mass(world, slot);
    cairn_body_wake(world, slot);
    return CAIRN_OK;
}

// ---- The gravity of the world

cairn_vec3 cairn_world_gravity(const cairn_world *world) {
    return world->state.settings->present_gravity;
}

cairn_status cairn_world_set_gravity(cairn_world *world, cairn_vec3 gravity) {
    const cairn_status status = cairn_check_vec3(gravity, CAIRN_GRAVITY_MAX);
    if (status != CAIRN_OK) {
        return status;
    }
    world->state.settings->present_gravity = vec3_clean(gravity);
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        const cairn_body *body = &world->state.bodies[i];
        if (body->kind == CAIRN_BODY_DYNAMIC && body->gravity_scale != 0.0f &&
            cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, i)) {
            cairn_body_wake(world, i);
        }
    }
    return CAIRN_OK;
}

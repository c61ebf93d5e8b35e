// SPDX-License-Identifier: MIT
#include "sim/world/world.h"

#include <string.h>

#include "base/assert.h"
#include "base/check.h"
#include "sim/body/body.h"
#include "sim/collide/pair_cache.h"
#include "sim/constraint/joint_frame.h"
#include "sim/math/limits.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"

cairn_joint_def cairn_joint_def_default(void) {
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    const cairn_vec3 y = vec3(0.0f, 1.0f, 0.0f);
    return (cairn_joint_def){.kind = CAIRN_JOINT_BALL,
        .length = 1.0f,
        .axis_a = x,
        .axis_b = x,
        .normal_a = y,
        .normal_b = y,
        .cone = CAIRN_ANGLE_MAX};
}

// Checks axis and normal of a def. They may be roughly unit and perpendicular: set_joint_axes
// corrects them.
static cairn_status frame_check(cairn_vec3 axis, cairn_vec3 normal) {
    if (!vec3_finite(axis) || !vec3_finite(normal)) {
        return CAIRN_NON_FINITE;
    }
    const float along = vec3_length_squared(axis);
    const float across = vec3_length_squared(normal);
    const bool unit = along >= 0.81f && along <= 1.21f && across >= 0.81f && across <= 1.21f;
    const bool perpendicular = float_abs(vec3_dot(axis, normal)) <= 0.1f;
    return unit && perpendicular ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}

static cairn_status axes_check(const cairn_joint_def *def) {
    const cairn_status checks[] = {
        frame_check(def->axis_a, def->normal_a),
        frame_check(def->axis_b, def->normal_b),
        cairn_check_float(def->cone, 0.0f, CAIRN_ANGLE_MAX),
        cairn_check_float(def->lower, -CAIRN_ANGLE_MAX, CAIRN_ANGLE_MAX),
        cairn_check_float(def->upper, def->lower, CAIRN_ANGLE_MAX),
    };
    const cairn_status status = cairn_check_all(checks, sizeof checks / sizeof checks[0]);
    return status == CAIRN_OK && def->limited > 1 ? CAIRN_INVALID_ARGUMENT : status;
}

static bool frame_ok(cairn_vec3 axis, cairn_vec3 normal) {
    return float_abs(vec3_length_squared(axis) - 1.0f) <= CAIRN_AXES_SLACK &&
           float_abs(vec3_length_squared(normal) - 1.0f) <= CAIRN_AXES_SLACK &&
           float_abs(vec3_dot(axis, normal)) <= CAIRN_AXES_SLACK;
}

bool cairn_joint_axes_ok(const cairn_joint *joint) {
    if (cairn_joint_has_axes(joint->kind)) {
        return frame_ok(joint->axis_a, joint->normal_a) &&
               frame_ok(joint->axis_b, joint->normal_b) && joint->lower <= joint->upper;
    }
    static const cairn_joint none = {.kind = 0};
    const size_t axes = offsetof(cairn_joint, axis_a);
    return memcmp((const char *)joint + axes, (const char *)&none + axes, sizeof none - axes) == 0;
}

static cairn_status joint_def_check(const cairn_world *world, const cairn_joint_def *def) {
    if (!cairn_body_exists(world, def->body_a) || !cairn_body_exists(world, def->body_b)) {
        return CAIRN_NOT_FOUND;
    }
    const bool known = def->kind >= CAIRN_JOINT_BALL && def->kind <= CAIRN_JOINT_CONE;
    if (!known || def->body_a == def->body_b || def->collide_connected > 1) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_status checks[] = {
        cairn_check_vec3(def->anchor_a, CAIRN_DISTANCE_MAX),
        cairn_check_vec3(def->anchor_b, CAIRN_DISTANCE_MAX),
        cairn_check_float(def->length, 0.0f, CAIRN_SHAPE_SIZE_MAX),
    };
    const cairn_status status = cairn_check_all(checks, sizeof checks / sizeof checks[0]);
    return status == CAIRN_OK && cairn_joint_has_axes(def->kind) ? axes_check(def) : status;
}

static void wake_both(cairn_world *world, const cairn_joint *joint) {
    const uint32_t slots[] = {
        cairn_body_slot(world, joint->body_a), cairn_body_slot(world, joint->body_b)};
    for (int i = 0; i < 2; ++i) {
        CAIRN_ASSERT(slots[i] != CAIRN_INDEX_NONE);
        cairn_body_wake(world, slots[i]);
        cairn_body_reset_reference_pose(world, slots[i]);
        cairn_pair_cache_joint_changed(world, slots[i]);
    }
}

static cairn_vec3 perpendicular_to_axis(cairn_vec3 normal, cairn_vec3 axis) {
    const cairn_vec3 across = vec3_sub_scaled(normal, axis, vec3_dot(normal, axis));
    return vec3_clean(vec3_normalize(across, vec3_tangent(axis)));
}

static void set_joint_axes(cairn_joint *joint, const cairn_joint_def *def) {
    CAIRN_ASSERT(cairn_joint_has_axes(joint->kind) && def->lower <= def->upper);
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    joint->axis_a = vec3_clean(vec3_normalize(def->axis_a, x));
    joint->axis_b = vec3_clean(vec3_normalize(def->axis_b, x));
    joint->normal_a = perpendicular_to_axis(def->normal_a, joint->axis_a);
    joint->normal_b = perpendicular_to_axis(def->normal_b, joint->axis_b);
    joint->cone = def->kind == CAIRN_JOINT_CONE ? def->cone + 0.0f : 0.0f;
    joint->lower = def->lower + 0.0f;
    joint->upper = def->upper + 0.0f;
    joint->limited = def->limited;
    CAIRN_ASSERT(cairn_joint_axes_ok(joint));
}

cairn_status cairn_joint_create(
    cairn_world *world, const cairn_joint_def *def, cairn_joint_id *out) {
    *out = 0;
    const cairn_status status = joint_def_check(world, def);
    if (status != CAIRN_OK) {
        return status;
    }
    cairn_state *state = &world->state;
    const uint32_t slot = cairn_slot_take(state->joint_ids, &state->settings->joint_slots,
        world->def.joint_capacity, &world->joint_hint);
    if (slot == CAIRN_INDEX_NONE) {
        state->settings->creates_refused += 1;
        return CAIRN_CAPACITY;
    }
    CAIRN_ASSERT(cairn_state_has(state, CAIRN_ARRAY_JOINTS, slot));
    const bool distance = def->kind == CAIRN_JOINT_DISTANCE;
    cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINT_IDS, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINTS, slot);
    state->joints[slot] = (cairn_joint){.kind = def->kind,
        .collide_connected = def->collide_connected,
        .body_a = def->body_a,
        .body_b = def->body_b,
        .anchor_a = vec3_clean(def->anchor_a),
        .anchor_b = vec3_clean(def->anchor_b),
        .length = distance ? def->length + 0.0f : 0.0f};
    if (cairn_joint_has_axes(def->kind)) {
        set_joint_axes(&state->joints[slot], def);
    }
    wake_both(world, &state->joints[slot]);
    *out = cairn_slot_id(state->joint_ids, slot);
    CAIRN_ASSERT(cairn_slot_find(state->joint_ids, state->settings->joint_slots, *out) == slot);
    return CAIRN_OK;
}

static void destroy_joint_at(cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_JOINTS, slot));
    wake_both(world, &world->state.joints[slot]);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINT_IDS, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINTS, slot);
    memset(&world->state.joints[slot], 0, sizeof(cairn_joint));
    cairn_slot_free(world->state.joint_ids, slot, &world->joint_hint);
}

static uint32_t joint_slot(const cairn_world *world, cairn_joint_id joint) {
    return cairn_slot_find(world->state.joint_ids, world->state.settings->joint_slots, joint);
}

cairn_status cairn_joint_destroy(cairn_world *world, cairn_joint_id joint) {
    const uint32_t slot = joint_slot(world, joint);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    destroy_joint_at(world, slot);
    return CAIRN_OK;
}

void cairn_joint_destroy_of_body(cairn_world *world, uint32_t body) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, body));
    const cairn_body_id id = cairn_body_id_at(world, body);
    for (uint32_t i = 0; i < world->state.settings->joint_slots; ++i) {
        const cairn_joint *joint = &world->state.joints[i];
        if (cairn_state_has(&world->state, CAIRN_ARRAY_JOINTS, i) &&
            (joint->body_a == id || joint->body_b == id)) {
            destroy_joint_at(world, i);
        }
    }
}

cairn_status cairn_joint_error(const cairn_world *world, cairn_joint_id joint, float *out) {
    *out = 0.0f;
    const uint32_t slot = joint_slot(world, joint);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_joint *source = &world->state.joints[slot];
    const cairn_vec3 at_a =
        cairn_joint_anchor(world, cairn_id_index(source->body_a), source->anchor_a);
    const cairn_vec3 at_b =
        cairn_joint_anchor(world, cairn_id_index(source->body_b), source->anchor_b);
    *out = float_abs(vec3_distance(at_a, at_b) - source->length);
    return CAIRN_OK;
}

cairn_status cairn_joint_read(
    const cairn_world *world, cairn_joint_id joint, cairn_joint_def *def) {
    const uint32_t slot = joint_slot(world, joint);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_joint *source = &world->state.joints[slot];
    *def = (cairn_joint_def){.kind = source->kind,
        .body_a = source->body_a,
        .body_b = source->body_b,
        .anchor_a = source->anchor_a,
        .anchor_b = source->anchor_b,
        .length = source->length,
        .collide_connected = source->collide_connected,
        .axis_a = source->axis_a,
        .axis_b = source->axis_b,
        .normal_a = source->normal_a,
        .normal_b = source->normal_b,
        .cone = source->cone,
        .lower = source->lower,
        .upper = source->upper,
        .limited = source->limited};
    return CAIRN_OK;
}

cairn_status cairn_joint_angles_read(
    const cairn_world *world, cairn_joint_id joint, cairn_joint_angles *out) {
    *out = (cairn_joint_angles){.swing = 0.0f};
    const uint32_t slot = joint_slot(world, joint);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    if (!cairn_joint_has_axes(world->state.joints[slot].kind)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_joint_frame frame = cairn_joint_frame_of(world, slot);
    *out = (cairn_joint_angles){
        .swing = cairn_joint_swing(&frame), .twist = cairn_joint_twist(&frame)};
    return CAIRN_OK;
}

// SPDX-License-Identifier: MIT
#include "sim/joint.h"

#include <string.h>

#include "sim/body.h"
#include "sim/kept.h"
#include "sim/limits.h"
#include "sim/slots.h"

cairn_joint_def cairn_joint_def_default(void) {
    return (cairn_joint_def){.kind = CAIRN_JOINT_BALL, .length = 1.0f};
}

static cairn_status def_check(const cairn_world *world, const cairn_joint_def *def) {
    if (!cairn_body_exists(world, def->body_a) || !cairn_body_exists(world, def->body_b)) {
        return CAIRN_NOT_FOUND;
    }
    const bool known = def->kind == CAIRN_JOINT_BALL || def->kind == CAIRN_JOINT_DISTANCE;
    if (!known || def->body_a == def->body_b || def->collide_connected > 1) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_status checks[] = {
        cairn_check_vec3(def->anchor_a, CAIRN_DISTANCE_MAX),
        cairn_check_vec3(def->anchor_b, CAIRN_DISTANCE_MAX),
        cairn_check_float(def->length, 0.0f, CAIRN_SHAPE_SIZE_MAX),
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
        if (checks[i] != CAIRN_OK) {
            return checks[i];
        }
    }
    return CAIRN_OK;
}

static void wake_both(cairn_world *world, const cairn_joint *joint) {
    cairn_body_wake(world, cairn_body_slot(world, joint->body_a));
    cairn_body_wake(world, cairn_body_slot(world, joint->body_b));
}

static void touch(cairn_world *world, uint32_t slot) {
    cairn_kept_touch(world, CAIRN_ARRAY_JOINT_IDS, slot);
    cairn_kept_touch(world, CAIRN_ARRAY_JOINTS, slot);
}

cairn_status cairn_joint_create(
    cairn_world *world, const cairn_joint_def *def, cairn_joint_id *out) {
    *out = 0;
    const cairn_status status = def_check(world, def);
    if (status != CAIRN_OK) {
        return status;
    }
    cairn_state *state = &world->state;
    const uint32_t slot = cairn_slot_take(state->joint_ids, &state->settings->joint_slots,
        world->def.joint_capacity, &world->joint_hint);
    if (slot == CAIRN_SLOT_NONE) {
        state->settings->creates_refused += 1;
        return CAIRN_CAPACITY;
    }
    const bool ball = def->kind == CAIRN_JOINT_BALL;
    touch(world, slot);
    state->joints[slot] = (cairn_joint){.kind = def->kind,
        .collide_connected = def->collide_connected,
        .body_a = def->body_a,
        .body_b = def->body_b,
        .anchor_a = vec3_clean(def->anchor_a),
        .anchor_b = vec3_clean(def->anchor_b),
        .length = ball ? 0.0f : def->length + 0.0f};
    wake_both(world, &state->joints[slot]);
    *out = cairn_slot_id(state->joint_ids, slot);
    return CAIRN_OK;
}

static void destroy_at(cairn_world *world, uint32_t slot) {
    wake_both(world, &world->state.joints[slot]);
    touch(world, slot);
    memset(&world->state.joints[slot], 0, sizeof(cairn_joint));
    cairn_slot_free(world->state.joint_ids, slot, &world->joint_hint);
}

static uint32_t find(const cairn_world *world, cairn_joint_id joint) {
    return cairn_slot_find(world->state.joint_ids, world->state.settings->joint_slots, joint);
}

cairn_status cairn_joint_destroy(cairn_world *world, cairn_joint_id joint) {
    const uint32_t slot = find(world, joint);
    if (slot == CAIRN_SLOT_NONE) {
        return CAIRN_NOT_FOUND;
    }
    destroy_at(world, slot);
    return CAIRN_OK;
}

void cairn_joint_destroy_of_body(cairn_world *world, uint32_t body) {
    const cairn_body_id id = cairn_body_id_at(world, body);
    for (uint32_t i = 0; i < world->state.settings->joint_slots; ++i) {
        const cairn_joint *joint = &world->state.joints[i];
        if (cairn_state_has(&world->state, CAIRN_ARRAY_JOINTS, i) &&
            (joint->body_a == id || joint->body_b == id)) {
            destroy_at(world, i);
        }
    }
}

cairn_vec3 cairn_joint_anchor(const cairn_world *world, uint32_t body, cairn_vec3 anchor) {
    const cairn_motion *motion = &world->state.motions[body];
    const cairn_vec3 centre = world->state.bodies[body].centre;
    return vec3_add(motion->position, quat_rotate(motion->rotation, vec3_sub(anchor, centre)));
}

cairn_status cairn_joint_error(const cairn_world *world, cairn_joint_id joint, float *out) {
    *out = 0.0f;
    const uint32_t slot = find(world, joint);
    if (slot == CAIRN_SLOT_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_joint *source = &world->state.joints[slot];
    const cairn_vec3 at_a = cairn_joint_anchor(world, id_index(source->body_a), source->anchor_a);
    const cairn_vec3 at_b = cairn_joint_anchor(world, id_index(source->body_b), source->anchor_b);
    *out = float_abs(vec3_distance(at_a, at_b) - source->length);
    return CAIRN_OK;
}

cairn_status cairn_joint_read(
    const cairn_world *world, cairn_joint_id joint, cairn_joint_def *def) {
    const uint32_t slot = find(world, joint);
    if (slot == CAIRN_SLOT_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_joint *source = &world->state.joints[slot];
    *def = (cairn_joint_def){.kind = source->kind,
        .body_a = source->body_a,
        .body_b = source->body_b,
        .anchor_a = source->anchor_a,
        .anchor_b = source->anchor_b,
        .length = source->length,
        .collide_connected = source->collide_connected};
    return CAIRN_OK;
}

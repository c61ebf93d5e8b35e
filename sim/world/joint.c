// SPDX-License-Identifier: MIT
#include <string.h>

#include "base/assert.h"
#include "sim/articulation/hang.h"
#include "sim/body/body.h"
#include "sim/collide/pair_cache.h"
#include "sim/constraint/joint_frame.h"
#include "sim/math/limits.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/world/joint_def.h"

// ---- Drives: a list by slot of the joint

// The first drive of a joint in that slot or a later one.
static uint32_t lower_bound(const cairn_state *state, uint32_t slot) {
    uint32_t begin = 0;
    uint32_t end = state->settings->joint_drive_count;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (state->joint_drives[middle].joint < slot) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    CAIRN_ASSERT(begin == end);
    return begin;
}

cairn_joint_drive *cairn_joint_drive_find(const cairn_state *state, uint32_t slot) {
    const uint32_t index = lower_bound(state, slot);
    const bool found =
        index < state->settings->joint_drive_count && state->joint_drives[index].joint == slot;
    return found ? &state->joint_drives[index] : NULL;
}

// There is room: no more drives than joints.
static cairn_joint_drive *insert_drive(cairn_world *world, uint32_t slot) {
    const cairn_state *state = &world->state;
    const uint32_t index = lower_bound(state, slot);
    const uint32_t count = state->settings->joint_drive_count++;
    CAIRN_ASSERT(count < world->def.joint_capacity);
    memmove(&state->joint_drives[index + 1], &state->joint_drives[index],
        (count - index) * sizeof *state->joint_drives);
    state->joint_drives[index] = (cairn_joint_drive){.joint = slot};
    cairn_hash_cache_mark_from(world, CAIRN_ARRAY_JOINT_DRIVES, index);
    return &state->joint_drives[index];
}

static void remove_drive(cairn_world *world, uint32_t slot) {
    const cairn_state *state = &world->state;
    const uint32_t index = lower_bound(state, slot);
    const uint32_t count = state->settings->joint_drive_count;
    CAIRN_ASSERT(index < count && state->joint_drives[index].joint == slot);
    memmove(&state->joint_drives[index], &state->joint_drives[index + 1],
        (count - index - 1) * sizeof *state->joint_drives);
    cairn_hash_cache_mark_from(world, CAIRN_ARRAY_JOINT_DRIVES, index);
    state->settings->joint_drive_count = count - 1;
}

static void clear_drive(cairn_world *world, uint32_t slot) {
    cairn_joint_drive *drive = cairn_joint_drive_find(&world->state, slot);
    CAIRN_ASSERT(drive != NULL);
    memset(drive->impulses, 0, sizeof drive->impulses);
    drive->reaction_force = vec3_zero();
    drive->reaction_torque = vec3_zero();
    cairn_hash_cache_mark(
        world, CAIRN_ARRAY_JOINT_DRIVES, (uint32_t)(drive - world->state.joint_drives));
}

// ---- Create and destroy

static uint32_t joint_slot(const cairn_world *world, cairn_joint_id joint) {
    return cairn_slot_find(world->state.joint_ids, world->state.settings->joint_slots, joint);
}

// Lists the shapes of both for new pairs: a joint decides whether its bodies may collide.
static void connection_changed(cairn_world *world, const cairn_joint *joint) {
    const uint32_t slots[] = {
        cairn_body_slot(world, joint->body_a), cairn_body_slot(world, joint->body_b)};
    for (int i = 0; i < 2; ++i) {
        CAIRN_ASSERT(slots[i] != CAIRN_INDEX_NONE);
        cairn_body_wake(world, slots[i]);
        cairn_body_reset_reference_pose(world, slots[i]);
        cairn_pair_cache_joint_changed(world, slots[i]);
    }
}

static cairn_status check_new(const cairn_world *world, const cairn_joint_def *def) {
    if (!cairn_body_exists(world, def->body_a) || !cairn_body_exists(world, def->body_b)) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_status status =
        def->body_a == def->body_b ? CAIRN_INVALID_ARGUMENT : cairn_joint_def_check(def);
    return status == CAIRN_OK && def->articulated != 0 ? cairn_articulated_joint_check(world, def)
                                                       : status;
}

cairn_status cairn_joint_create(
    cairn_world *world, const cairn_joint_def *def, cairn_joint_id *out) {
    *out = 0;
    const cairn_status status = check_new(world, def);
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
    cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINT_IDS, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINTS, slot);
    state->joints[slot] = (cairn_joint){.kind = def->kind};
    cairn_joint_set_base(&state->joints[slot], def);
    if (state->joints[slot].extent != CAIRN_JOINT_PLAIN) {
        cairn_joint_drive_set(insert_drive(world, slot), def);
    }
    if (def->articulated != 0) {
        cairn_hangs_add(world, slot);
    }
    connection_changed(world, &state->joints[slot]);
    *out = cairn_slot_id(state->joint_ids, slot);
    CAIRN_ASSERT(joint_slot(world, *out) == slot);
    return CAIRN_OK;
}

void cairn_joint_destroy_at(cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_JOINTS, slot));
    connection_changed(world, &world->state.joints[slot]);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINT_IDS, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINTS, slot);
    if (world->state.joints[slot].extent == CAIRN_JOINT_ARTICULATED) {
        cairn_hangs_remove(world, slot);
    }
    if (world->state.joints[slot].extent != CAIRN_JOINT_PLAIN) {
        remove_drive(world, slot);
    }
    memset(&world->state.joints[slot], 0, sizeof(cairn_joint));
    cairn_slot_free(world->state.joint_ids, slot, &world->joint_hint);
}

cairn_status cairn_joint_destroy(cairn_world *world, cairn_joint_id joint) {
    const uint32_t slot = joint_slot(world, joint);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    cairn_joint_destroy_at(world, slot);
    return CAIRN_OK;
}

void cairn_joint_move_end(
    cairn_world *world, uint32_t slot, bool of_b, cairn_body_id body, cairn_vec3 anchor) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_JOINTS, slot));
    cairn_joint *joint = &world->state.joints[slot];
    CAIRN_ASSERT(joint->extent != CAIRN_JOINT_ARTICULATED);
    connection_changed(world, joint);
    if (of_b) {
        joint->body_b = body;
        joint->anchor_b = anchor;
    } else {
        joint->body_a = body;
        joint->anchor_a = anchor;
    }
    cairn_joint_clear_impulses(joint);
    if (joint->extent != CAIRN_JOINT_PLAIN) {
        clear_drive(world, slot);
    }
    cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINTS, slot);
    connection_changed(world, joint);
}

void cairn_joint_destroy_of_body(cairn_world *world, uint32_t body) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, body));
    const cairn_body_id id = cairn_body_id_at(world, body);
    for (uint32_t i = 0; i < world->state.settings->joint_slots; ++i) {
        const cairn_joint *joint = &world->state.joints[i];
        if (cairn_state_has(&world->state, CAIRN_ARRAY_JOINTS, i) &&
            (joint->body_a == id || joint->body_b == id)) {
            cairn_joint_destroy_at(world, i);
        }
    }
}

// ---- Changes

static bool same_axes(const cairn_joint_def *a, const cairn_joint_def *b) {
    return memcmp(&a->axis_a, &b->axis_a, sizeof a->axis_a) == 0 &&
           memcmp(&a->axis_b, &b->axis_b, sizeof a->axis_b) == 0 &&
           memcmp(&a->normal_a, &b->normal_a, sizeof a->normal_a) == 0 &&
           memcmp(&a->normal_b, &b->normal_b, sizeof a->normal_b) == 0;
}

// Of the joint in that slot, whose def is `before`. Axes that did not change keep their bits, and
// impulses stay where the rows are the same.
static void change_joint(
    cairn_world *world, uint32_t slot, const cairn_joint_def *before, const cairn_joint_def *def) {
    cairn_joint *joint = &world->state.joints[slot];
    const cairn_joint old = *joint;
    cairn_joint_set_base(joint, def);
    if (same_axes(before, def)) {
        joint->axis_a = old.axis_a;
        joint->axis_b = old.axis_b;
        joint->normal_a = old.normal_a;
        joint->normal_b = old.normal_b;
    }
    const bool solved_otherwise =
        (old.extent == CAIRN_JOINT_DRIVEN) != (joint->extent == CAIRN_JOINT_DRIVEN);
    if (solved_otherwise) {
        cairn_joint_clear_impulses(joint);
    }
    if (old.extent != CAIRN_JOINT_PLAIN && joint->extent == CAIRN_JOINT_PLAIN) {
        remove_drive(world, slot);
    } else if (joint->extent != CAIRN_JOINT_PLAIN) {
        cairn_joint_drive *drive = old.extent != CAIRN_JOINT_PLAIN
                                       ? cairn_joint_drive_find(&world->state, slot)
                                       : insert_drive(world, slot);
        cairn_joint_drive_set(drive, def);
        if (solved_otherwise || before->steering != def->steering || def->disabled != 0) {
            memset(drive->impulses, 0, sizeof drive->impulses);
            drive->reaction_force = vec3_zero();
            drive->reaction_torque = vec3_zero();
        }
        cairn_hash_cache_mark(
            world, CAIRN_ARRAY_JOINT_DRIVES, (uint32_t)(drive - world->state.joint_drives));
    }
    cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINTS, slot);
}

cairn_status cairn_joint_set(cairn_world *world, cairn_joint_id joint, const cairn_joint_def *def) {
    cairn_joint_def before;
    const cairn_status found = cairn_joint_read(world, joint, &before);
    if (found != CAIRN_OK) {
        return found;
    }
    if (def->kind != before.kind || def->body_a != before.body_a || def->body_b != before.body_b ||
        def->collide_connected != before.collide_connected ||
        def->articulated != before.articulated) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_status status = cairn_joint_def_check(def);
    if (status != CAIRN_OK) {
        return status;
    }
    const uint32_t slot = joint_slot(world, joint);
    cairn_joint_def after;
    change_joint(world, slot, &before, def);
    (void)cairn_joint_read(world, joint, &after);
    if (memcmp(&before, &after, sizeof before) != 0) {
        cairn_body_wake(world, cairn_body_slot(world, after.body_a));
        cairn_body_wake(world, cairn_body_slot(world, after.body_b));
    }
    return CAIRN_OK;
}

// The setters of single fields read the def, change it and set it.

cairn_status cairn_joint_set_motor(
    cairn_world *world, cairn_joint_id joint, float speed, float force) {
    cairn_joint_def def;
    const cairn_status status = cairn_joint_read(world, joint, &def);
    if (status != CAIRN_OK || !cairn_joint_def_uses_motor(&def)) {
        return status != CAIRN_OK ? status : CAIRN_INVALID_ARGUMENT;
    }
    def.motor = 1;
    def.motor_speed = speed;
    def.motor_force = force;
    return cairn_joint_set(world, joint, &def);
}

cairn_status cairn_joint_set_limits(
    cairn_world *world, cairn_joint_id joint, float lower, float upper) {
    cairn_joint_def def;
    const cairn_status status = cairn_joint_read(world, joint, &def);
    if (status != CAIRN_OK || !cairn_joint_def_uses_limits(&def)) {
        return status != CAIRN_OK ? status : CAIRN_INVALID_ARGUMENT;
    }
    def.limited = 1;
    def.lower = lower;
    def.upper = upper;
    return cairn_joint_set(world, joint, &def);
}

cairn_status cairn_joint_set_spring(
    cairn_world *world, cairn_joint_id joint, float hertz, float damping) {
    cairn_joint_def def;
    const cairn_status status = cairn_joint_read(world, joint, &def);
    if (status != CAIRN_OK || !cairn_joint_def_uses_spring(&def)) {
        return status != CAIRN_OK ? status : CAIRN_INVALID_ARGUMENT;
    }
    def.spring = hertz == 0.0f ? 0 : 1;
    def.spring_hertz = hertz;
    def.spring_damping = damping;
    return cairn_joint_set(world, joint, &def);
}

cairn_status cairn_joint_set_target(cairn_world *world, cairn_joint_id joint, float target) {
    cairn_joint_def def;
    const cairn_status status = cairn_joint_read(world, joint, &def);
    if (status != CAIRN_OK) {
        return status;
    }
    if (def.kind == CAIRN_JOINT_DISTANCE) {
        def.length = target;
    } else if (cairn_joint_def_uses_target(&def)) {
        def.target = target;
    } else {
        return CAIRN_INVALID_ARGUMENT;
    }
    return cairn_joint_set(world, joint, &def);
}

cairn_status cairn_joint_set_steering(cairn_world *world, cairn_joint_id joint, float target) {
    cairn_joint_def def;
    const cairn_status status = cairn_joint_read(world, joint, &def);
    if (status != CAIRN_OK || def.kind != CAIRN_JOINT_WHEEL) {
        return status != CAIRN_OK ? status : CAIRN_INVALID_ARGUMENT;
    }
    def.steering_target = target;
    return cairn_joint_set(world, joint, &def);
}

cairn_status cairn_joint_set_softness(
    cairn_world *world, cairn_joint_id joint, float hertz, float damping) {
    cairn_joint_def def;
    const cairn_status status = cairn_joint_read(world, joint, &def);
    if (status != CAIRN_OK || !cairn_joint_def_uses_hertz(&def)) {
        return status != CAIRN_OK ? status : CAIRN_INVALID_ARGUMENT;
    }
    def.hertz = hertz;
    def.damping = damping;
    return cairn_joint_set(world, joint, &def);
}

cairn_status cairn_joint_set_enabled(cairn_world *world, cairn_joint_id joint, bool enabled) {
    cairn_joint_def def;
    const cairn_status status = cairn_joint_read(world, joint, &def);
    if (status != CAIRN_OK) {
        return status;
    }
    def.disabled = enabled ? 0 : 1;
    return cairn_joint_set(world, joint, &def);
}

cairn_status cairn_joint_set_row(
    cairn_world *world, cairn_joint_id joint, const cairn_joint_row *row) {
    cairn_joint_def def;
    const cairn_status status = cairn_joint_read(world, joint, &def);
    if (status != CAIRN_OK || def.kind != CAIRN_JOINT_ROW) {
        return status != CAIRN_OK ? status : CAIRN_INVALID_ARGUMENT;
    }
    def.row = *row;
    return cairn_joint_set(world, joint, &def);
}

// ---- Reading

cairn_status cairn_joint_read(
    const cairn_world *world, cairn_joint_id joint, cairn_joint_def *def) {
    const uint32_t slot = joint_slot(world, joint);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_joint *source = &world->state.joints[slot];
    cairn_joint_def_of(source,
        source->extent != CAIRN_JOINT_PLAIN ? cairn_joint_drive_find(&world->state, slot) : NULL,
        def);
    return CAIRN_OK;
}

uint32_t cairn_world_joints(const cairn_world *world, cairn_joint_id *out, uint32_t capacity) {
    return cairn_slots_list(
        world->state.joint_ids, world->state.settings->joint_slots, out, capacity);
}

uint32_t cairn_body_joints(
    const cairn_world *world, cairn_body_id body, cairn_joint_id *out, uint32_t capacity) {
    uint32_t count = 0;
    CAIRN_ASSERT(out != NULL || capacity == 0);
    for (uint32_t i = 0; i < world->state.settings->joint_slots; ++i) {
        const cairn_joint *joint = &world->state.joints[i];
        if (!cairn_state_has(&world->state, CAIRN_ARRAY_JOINTS, i) ||
            (joint->body_a != body && joint->body_b != body)) {
            continue;
        }
        if (count < capacity) {
            out[count] = cairn_slot_id(world->state.joint_ids, i);
        }
        ++count;
    }
    return count;
}

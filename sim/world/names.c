// SPDX-License-Identifier: MIT

// Bodies, shapes and joints by name: functions of the state alone.

#include "base/assert.h"
#include "sim/state/slots.h"
#include "sim/world/world.h"

// The ids of the slots whose word, `stride` bytes apart, is the name's hash.
static uint32_t find(const uint32_t *ids, uint32_t slot_count, const void *words, size_t stride,
    const char *name, uint32_t *out, uint32_t capacity) {
    const uint32_t hash = cairn_name_hash(name);
    uint32_t count = 0;
    CAIRN_ASSERT(out != NULL || capacity == 0);
    for (uint32_t i = 0; i < slot_count && hash != 0; ++i) {
        const uint32_t *word = (const uint32_t *)(const void *)((const char *)words + i * stride);
        if (*word == hash && (ids[i] & CAIRN_SLOT_USED) != 0) {
            if (count < capacity) {
                out[count] = cairn_slot_id(ids, i);
            }
            count += 1;
        }
    }
    return count;
}

uint32_t cairn_world_find_bodies(
    const cairn_world *world, const char *name, cairn_body_id *out, uint32_t capacity) {
    const cairn_state *state = &world->state;
    return find(state->body_ids, state->settings->body_slots, &state->bodies[0].name,
        sizeof(cairn_body), name, out, capacity);
}

uint32_t cairn_world_find_shapes(
    const cairn_world *world, const char *name, cairn_shape_id *out, uint32_t capacity) {
    const cairn_state *state = &world->state;
    return find(state->shape_ids, state->settings->shape_slots, &state->shapes[0].name,
        sizeof(cairn_shape), name, out, capacity);
}

uint32_t cairn_world_find_joints(
    const cairn_world *world, const char *name, cairn_joint_id *out, uint32_t capacity) {
    const cairn_state *state = &world->state;
    return find(state->joint_ids, state->settings->joint_slots, &state->joints[0].name,
        sizeof(cairn_joint), name, out, capacity);
}

// SPDX-License-Identifier: MIT
#pragma once

// The arrays of the block: how many elements each has, which of them exist, and where they lie.

#include "sim/state/slots.h"
#include "sim/state/state.h"

// The arrays of the block. Elements of a slotted array exist where the id table says so; the words
// of the others are zero.
typedef enum cairn_array {
    CAIRN_ARRAY_SETTINGS = 0,
    CAIRN_ARRAY_BODY_IDS,
    CAIRN_ARRAY_SHAPE_IDS,
    CAIRN_ARRAY_JOINT_IDS,
    CAIRN_ARRAY_HULL_IDS,
    CAIRN_ARRAY_MOTIONS,
    CAIRN_ARRAY_REFERENCE_POSES,
    CAIRN_ARRAY_BODIES,
    CAIRN_ARRAY_SLEEP,
    CAIRN_ARRAY_HULLS,
    CAIRN_ARRAY_SHAPES,
    CAIRN_ARRAY_JOINTS,
    CAIRN_ARRAY_CONTACTS,
    CAIRN_ARRAY_CONTACT_EVENTS,
    CAIRN_ARRAY_BODY_EVENTS,
    CAIRN_ARRAY_RULES,
    CAIRN_ARRAY_JOINT_DRIVES,
    CAIRN_ARRAY_JOINT_EVENTS,
    CAIRN_ARRAY_MESH_IDS,
    CAIRN_ARRAY_MESHES,
    CAIRN_ARRAY_MESH_BLOCKS,
    CAIRN_ARRAY_COUNT
} cairn_array;

// Elements that an array of a world with this def can hold, and bytes of one.
uint32_t cairn_array_capacity(const cairn_settings *settings, cairn_array array);
size_t cairn_array_element_size(cairn_array array);
// Elements in the live range now.
uint32_t cairn_array_count(const cairn_settings *settings, cairn_array array);
void *cairn_state_array(const cairn_state *state, cairn_array array);
// The id table that says which elements exist; NULL: all do.
static inline const uint32_t *state_ids(const cairn_state *state, cairn_array array) {
    switch (array) {
    case CAIRN_ARRAY_MOTIONS:
    case CAIRN_ARRAY_REFERENCE_POSES:
    case CAIRN_ARRAY_BODIES:
    case CAIRN_ARRAY_SLEEP:
        return state->body_ids;
    case CAIRN_ARRAY_SHAPES:
        return state->shape_ids;
    case CAIRN_ARRAY_JOINTS:
        return state->joint_ids;
    case CAIRN_ARRAY_HULLS:
        return state->hull_ids;
    case CAIRN_ARRAY_MESHES:
        return state->mesh_ids;
    default:
        return NULL;
    }
}
// Whether element `index` of the live range exists: free slots do not, contacts always do.
static inline bool cairn_state_has(const cairn_state *state, cairn_array array, uint32_t index) {
    const uint32_t *ids = state_ids(state, array);
    return ids == NULL || (ids[index] & CAIRN_SLOT_USED) != 0;
}
// The words of an element (at most CAIRN_ELEMENT_WORDS_MAX); zero if it does not exist, as a free
// slot holds them.
void cairn_state_read_element(
    const cairn_state *state, cairn_array array, uint32_t index, uint32_t *words);
// The next elements from `from` on that exist and lie side by side; empty when there are none.
typedef struct cairn_run {
    uint32_t begin;
    uint32_t end;
} cairn_run;
cairn_run cairn_state_run(const cairn_state *state, cairn_array array, uint32_t from);

// Bytes of a block, and its views over `memory` (at the start of a cache line).
size_t cairn_state_size(const cairn_settings *settings);
cairn_state cairn_state_view(const cairn_settings *settings, void *memory);

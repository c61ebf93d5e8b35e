// SPDX-License-Identifier: MIT
#include "sim/state/state_array.h"

#include <string.h>

#include "base/arena.h"
#include "base/assert.h"

// Where the state points to an array, and which settings hold its capacity and its count.
typedef struct array_layout {
    size_t element_size; // bytes
    size_t pointer;      // offset in cairn_state
    size_t capacity;     // offset in cairn_settings; unused for the settings and the rules
    size_t count;        // as for capacity
} array_layout;

#define LAYOUT(member, largest, used)                                                              \
    {                                                                                              \
        .element_size = sizeof *((cairn_state *)NULL)->member,                                     \
        .pointer = offsetof(cairn_state, member), .capacity = offsetof(cairn_settings, largest),   \
        .count = offsetof(cairn_settings, used)                                                    \
    }
static const array_layout layouts[CAIRN_ARRAY_COUNT] = {
    [CAIRN_ARRAY_SETTINGS] = LAYOUT(settings, body_capacity, body_slots),
    [CAIRN_ARRAY_BODY_IDS] = LAYOUT(body_ids, body_capacity, body_slots),
    [CAIRN_ARRAY_SHAPE_IDS] = LAYOUT(shape_ids, shape_capacity, shape_slots),
    [CAIRN_ARRAY_JOINT_IDS] = LAYOUT(joint_ids, joint_capacity, joint_slots),
    [CAIRN_ARRAY_HULL_IDS] = LAYOUT(hull_ids, hull_capacity, hull_slots),
    [CAIRN_ARRAY_MOTIONS] = LAYOUT(motions, body_capacity, body_slots),
    [CAIRN_ARRAY_REFERENCE_POSES] = LAYOUT(reference_poses, body_capacity, body_slots),
    [CAIRN_ARRAY_BODIES] = LAYOUT(bodies, body_capacity, body_slots),
    [CAIRN_ARRAY_SLEEP] = LAYOUT(sleep, body_capacity, body_slots),
    [CAIRN_ARRAY_HULLS] = LAYOUT(hulls, hull_capacity, hull_slots),
    [CAIRN_ARRAY_SHAPES] = LAYOUT(shapes, shape_capacity, shape_slots),
    [CAIRN_ARRAY_JOINTS] = LAYOUT(joints, joint_capacity, joint_slots),
    [CAIRN_ARRAY_CONTACTS] = LAYOUT(contacts, contact_capacity, contact_count),
    [CAIRN_ARRAY_CONTACT_EVENTS] = LAYOUT(contact_events, event_capacity, contact_event_count),
    [CAIRN_ARRAY_BODY_EVENTS] = LAYOUT(body_events, body_capacity, body_event_count),
    [CAIRN_ARRAY_RULES] = LAYOUT(rules, body_capacity, body_slots),
    [CAIRN_ARRAY_JOINT_DRIVES] = LAYOUT(joint_drives, joint_capacity, joint_drive_count),
    [CAIRN_ARRAY_JOINT_EVENTS] = LAYOUT(joint_events, joint_capacity, joint_event_count),
    [CAIRN_ARRAY_MESH_IDS] = LAYOUT(mesh_ids, mesh_capacity, mesh_slots),
    [CAIRN_ARRAY_MESHES] = LAYOUT(meshes, mesh_capacity, mesh_slots),
    [CAIRN_ARRAY_MESH_BLOCKS] = LAYOUT(mesh_blocks, mesh_block_capacity, mesh_block_count),
};

// The setting at `offset`, except that the settings are one element and the rules fill their
// blocks.
static uint32_t elements_of(const cairn_settings *settings, cairn_array array, size_t offset) {
    const uint32_t block_size = (uint32_t)sizeof(cairn_rules_block);
    if (array == CAIRN_ARRAY_SETTINGS || array == CAIRN_ARRAY_RULES) {
        return array == CAIRN_ARRAY_SETTINGS
                   ? 1
                   : (settings->rules_state_size + block_size - 1) / block_size;
    }
    uint32_t elements;
    memcpy(&elements, (const unsigned char *)settings + offset, sizeof elements);
    return elements;
}

uint32_t cairn_array_capacity(const cairn_settings *settings, cairn_array array) {
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT);
    return elements_of(settings, array, layouts[array].capacity);
}

uint32_t cairn_array_count(const cairn_settings *settings, cairn_array array) {
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT);
    const uint32_t count = elements_of(settings, array, layouts[array].count);
    CAIRN_ASSERT(count <= cairn_array_capacity(settings, array));
    return count;
}

// sim/state/fields.c asserts that these are whole words, each with a name.
size_t cairn_array_element_size(cairn_array array) {
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT);
    return layouts[array].element_size;
}

void *cairn_state_array(const cairn_state *state, cairn_array array) {
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT);
    void *elements;
    memcpy(&elements, (const unsigned char *)state + layouts[array].pointer, sizeof elements);
    return elements;
}

void cairn_state_read_element(
    const cairn_state *state, cairn_array array, uint32_t index, uint32_t *words) {
    const size_t size = cairn_array_element_size(array);
    CAIRN_ASSERT(size <= CAIRN_ELEMENT_WORDS_MAX * sizeof words[0]);
    memset(words, 0, size);
    if (index < cairn_array_count(state->settings, array) && cairn_state_has(state, array, index)) {
        memcpy(words, (const unsigned char *)cairn_state_array(state, array) + index * size, size);
    }
}

cairn_run cairn_state_run(const cairn_state *state, cairn_array array, uint32_t from) {
    const uint32_t *ids = state_ids(state, array);
    const uint32_t count = cairn_array_count(state->settings, array);
    CAIRN_ASSERT(from <= count);
    if (ids == NULL) {
        return (cairn_run){.begin = from, .end = count};
    }
    cairn_run run = {.begin = from};
    while (run.begin < count && (ids[run.begin] & CAIRN_SLOT_USED) == 0) {
        ++run.begin;
    }
    run.end = run.begin;
    while (run.end < count && (ids[run.end] & CAIRN_SLOT_USED) != 0) {
        ++run.end;
    }
    CAIRN_ASSERT(run.begin <= run.end && run.end <= count);
    return run;
}

// Rounded up, so that each array starts on a cache line: a motion is one line, which no two workers
// write.
static size_t array_size(const cairn_settings *settings, cairn_array array) {
    const size_t size = cairn_array_capacity(settings, array) * cairn_array_element_size(array);
    return (size + CAIRN_CACHE_LINE - 1) / CAIRN_CACHE_LINE * CAIRN_CACHE_LINE;
}

size_t cairn_state_size(const cairn_settings *settings) {
    size_t size = 0;
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        size += array_size(settings, array);
    }
    return size;
}

cairn_state cairn_state_view(const cairn_settings *settings, void *memory) {
    cairn_state view;
    unsigned char *next = memory;
    CAIRN_ASSERT((uintptr_t)memory % CAIRN_CACHE_LINE == 0);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        memcpy((unsigned char *)&view + layouts[array].pointer, &next, sizeof next);
        next += array_size(settings, array);
    }
    CAIRN_ASSERT(next == (unsigned char *)memory + cairn_state_size(settings));
    return view;
}

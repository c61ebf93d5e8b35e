// SPDX-License-Identifier: MIT
#include "sim/state/state_array.h"

#include "base/assert.h"

static uint32_t rules_blocks(const cairn_settings *settings) {
    const uint32_t size = (uint32_t)sizeof(cairn_rules_block);
    return (settings->rules_state_size + size - 1) / size;
}

uint32_t cairn_array_capacity(const cairn_settings *settings, cairn_array array) {
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT);
    switch (array) {
    case CAIRN_ARRAY_BODY_IDS:
    case CAIRN_ARRAY_MOTIONS:
    case CAIRN_ARRAY_REFERENCE_POSES:
    case CAIRN_ARRAY_BODIES:
    case CAIRN_ARRAY_SLEEP:
        return settings->body_capacity;
    case CAIRN_ARRAY_SHAPE_IDS:
    case CAIRN_ARRAY_SHAPES:
        return settings->shape_capacity;
    case CAIRN_ARRAY_JOINT_IDS:
    case CAIRN_ARRAY_JOINTS:
        return settings->joint_capacity;
    case CAIRN_ARRAY_HULL_IDS:
    case CAIRN_ARRAY_HULLS:
        return settings->hull_capacity;
    case CAIRN_ARRAY_CONTACTS:
        return settings->contact_capacity;
    case CAIRN_ARRAY_RULES:
        return rules_blocks(settings);
    case CAIRN_ARRAY_SETTINGS:
    case CAIRN_ARRAY_COUNT:
        break;
    }
    return 1;
}

uint32_t cairn_array_count(const cairn_settings *settings, cairn_array array) {
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT);
    switch (array) {
    case CAIRN_ARRAY_BODY_IDS:
    case CAIRN_ARRAY_MOTIONS:
    case CAIRN_ARRAY_REFERENCE_POSES:
    case CAIRN_ARRAY_BODIES:
    case CAIRN_ARRAY_SLEEP:
        CAIRN_ASSERT(settings->body_slots <= settings->body_capacity);
        return settings->body_slots;
    case CAIRN_ARRAY_SHAPE_IDS:
    case CAIRN_ARRAY_SHAPES:
        CAIRN_ASSERT(settings->shape_slots <= settings->shape_capacity);
        return settings->shape_slots;
    case CAIRN_ARRAY_JOINT_IDS:
    case CAIRN_ARRAY_JOINTS:
        CAIRN_ASSERT(settings->joint_slots <= settings->joint_capacity);
        return settings->joint_slots;
    case CAIRN_ARRAY_HULL_IDS:
    case CAIRN_ARRAY_HULLS:
        CAIRN_ASSERT(settings->hull_slots <= settings->hull_capacity);
        return settings->hull_slots;
    case CAIRN_ARRAY_CONTACTS:
        CAIRN_ASSERT(settings->contact_count <= settings->contact_capacity);
        return settings->contact_count;
    case CAIRN_ARRAY_RULES:
        return rules_blocks(settings);
    case CAIRN_ARRAY_SETTINGS:
    case CAIRN_ARRAY_COUNT:
        break;
    }
    return 1;
}

// sim/state/fields.c asserts that these are whole words, each with a name.
size_t cairn_array_element_size(cairn_array array) {
    static const size_t sizes[CAIRN_ARRAY_COUNT] = {[CAIRN_ARRAY_SETTINGS] = sizeof(cairn_settings),
        [CAIRN_ARRAY_BODY_IDS] = sizeof(uint32_t),
        [CAIRN_ARRAY_SHAPE_IDS] = sizeof(uint32_t),
        [CAIRN_ARRAY_JOINT_IDS] = sizeof(uint32_t),
        [CAIRN_ARRAY_HULL_IDS] = sizeof(uint32_t),
        [CAIRN_ARRAY_MOTIONS] = sizeof(cairn_motion),
        [CAIRN_ARRAY_REFERENCE_POSES] = sizeof(cairn_reference_pose),
        [CAIRN_ARRAY_BODIES] = sizeof(cairn_body),
        [CAIRN_ARRAY_SLEEP] = sizeof(cairn_sleep),
        [CAIRN_ARRAY_HULLS] = sizeof(cairn_hull_vertices),
        [CAIRN_ARRAY_SHAPES] = sizeof(cairn_shape),
        [CAIRN_ARRAY_JOINTS] = sizeof(cairn_joint),
        [CAIRN_ARRAY_CONTACTS] = sizeof(cairn_contact),
        [CAIRN_ARRAY_RULES] = sizeof(cairn_rules_block)};
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT);
    return sizes[array];
}

void *cairn_state_array(const cairn_state *state, cairn_array array) {
    void *const arrays[CAIRN_ARRAY_COUNT] = {[CAIRN_ARRAY_SETTINGS] = state->settings,
        [CAIRN_ARRAY_BODY_IDS] = state->body_ids,
        [CAIRN_ARRAY_SHAPE_IDS] = state->shape_ids,
        [CAIRN_ARRAY_JOINT_IDS] = state->joint_ids,
        [CAIRN_ARRAY_HULL_IDS] = state->hull_ids,
        [CAIRN_ARRAY_HULLS] = state->hulls,
        [CAIRN_ARRAY_MOTIONS] = state->motions,
        [CAIRN_ARRAY_REFERENCE_POSES] = state->reference_poses,
        [CAIRN_ARRAY_BODIES] = state->bodies,
        [CAIRN_ARRAY_SLEEP] = state->sleep,
        [CAIRN_ARRAY_SHAPES] = state->shapes,
        [CAIRN_ARRAY_JOINTS] = state->joints,
        [CAIRN_ARRAY_CONTACTS] = state->contacts,
        [CAIRN_ARRAY_RULES] = state->rules};
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT);
    return arrays[array];
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

// Rounded up, so that each array, the rules' state above all, starts aligned for any scalar.
static size_t array_size(const cairn_settings *settings, cairn_array array) {
    const size_t size = cairn_array_capacity(settings, array) * cairn_array_element_size(array);
    return (size + 15) / 16 * 16;
}

size_t cairn_state_size(const cairn_settings *settings) {
    size_t size = 0;
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        size += array_size(settings, array);
    }
    return size;
}

cairn_state cairn_state_view(const cairn_settings *settings, void *memory) {
    void *at[CAIRN_ARRAY_COUNT];
    unsigned char *next = memory;
    CAIRN_ASSERT((uintptr_t)memory % _Alignof(max_align_t) == 0);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        at[array] = next;
        next += array_size(settings, array);
    }
    CAIRN_ASSERT(next == (unsigned char *)memory + cairn_state_size(settings));
    return (cairn_state){.settings = at[CAIRN_ARRAY_SETTINGS],
        .body_ids = at[CAIRN_ARRAY_BODY_IDS],
        .shape_ids = at[CAIRN_ARRAY_SHAPE_IDS],
        .joint_ids = at[CAIRN_ARRAY_JOINT_IDS],
        .hull_ids = at[CAIRN_ARRAY_HULL_IDS],
        .hulls = at[CAIRN_ARRAY_HULLS],
        .motions = at[CAIRN_ARRAY_MOTIONS],
        .reference_poses = at[CAIRN_ARRAY_REFERENCE_POSES],
        .bodies = at[CAIRN_ARRAY_BODIES],
        .sleep = at[CAIRN_ARRAY_SLEEP],
        .shapes = at[CAIRN_ARRAY_SHAPES],
        .joints = at[CAIRN_ARRAY_JOINTS],
        .contacts = at[CAIRN_ARRAY_CONTACTS],
        .rules = at[CAIRN_ARRAY_RULES]};
}

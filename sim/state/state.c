// SPDX-License-Identifier: MIT
#include "sim/state/state.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/state/decode_check.h"
#include "sim/state/fields.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/world/hull_store.h"

cairn_settings cairn_settings_of(const cairn_world_def *def) {
    cairn_settings settings = {.body_capacity = def->body_capacity,
        .shape_capacity = def->shape_capacity,
        .joint_capacity = def->joint_capacity,
        .hull_capacity = def->hull_capacity,
        .contact_capacity = def->contact_capacity,
        .tick_rate_hz = def->tick_rate_hz,
        .gravity = vec3_clean(def->gravity),
        .solver = def->solver,
        .substeps = def->substeps,
        .iterations = def->iterations,
        .friction_model = def->friction_model,
        .warm_start = def->warm_start,
        .sleep = def->sleep,
        .baumgarte = def->baumgarte,
        .slop = def->slop + 0.0f,
        .contact_hertz = def->contact_hertz,
        .contact_damping = def->contact_damping + 0.0f,
        .joint_hertz = def->joint_hertz,
        .joint_damping = def->joint_damping + 0.0f,
        .restitution_threshold = def->restitution_threshold + 0.0f,
        .seed_low = (uint32_t)def->seed,
        .seed_high = (uint32_t)(def->seed >> 32)};
    if (def->rules != NULL) {
        const char *name = def->rules->name;
        for (uint32_t i = 0; name[i] != '\0'; ++i) {
            settings.rules_name[i / 4] |= (uint32_t)(unsigned char)name[i] << 8 * (i % 4);
        }
        settings.rules_version = def->rules->version;
        settings.rules_state_size = def->rules->state_size;
    }
    return settings;
}

cairn_world_def cairn_def_of_settings(const cairn_settings *settings) {
    return (cairn_world_def){.body_capacity = settings->body_capacity,
        .shape_capacity = settings->shape_capacity,
        .joint_capacity = settings->joint_capacity,
        .hull_capacity = settings->hull_capacity,
        .contact_capacity = settings->contact_capacity,
        .tick_rate_hz = settings->tick_rate_hz,
        .gravity = settings->gravity,
        .solver = settings->solver,
        .substeps = settings->substeps,
        .iterations = settings->iterations,
        .friction_model = settings->friction_model,
        .warm_start = settings->warm_start,
        .sleep = settings->sleep,
        .baumgarte = settings->baumgarte,
        .slop = settings->slop,
        .contact_hertz = settings->contact_hertz,
        .contact_damping = settings->contact_damping,
        .joint_hertz = settings->joint_hertz,
        .joint_damping = settings->joint_damping,
        .restitution_threshold = settings->restitution_threshold,
        .seed = (uint64_t)settings->seed_high << 32 | settings->seed_low};
}

static uint32_t rules_blocks(const cairn_settings *settings) {
    const uint32_t size = (uint32_t)sizeof(cairn_rules_block);
    return (settings->rules_state_size + size - 1) / size;
}

uint32_t cairn_array_capacity(const cairn_settings *settings, cairn_array array) {
    switch (array) {
    case CAIRN_ARRAY_BODY_IDS:
    case CAIRN_ARRAY_MOTIONS:
    case CAIRN_ARRAY_ANCHORS:
    case CAIRN_ARRAY_BODIES:
    case CAIRN_ARRAY_RESTS:
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
    switch (array) {
    case CAIRN_ARRAY_BODY_IDS:
    case CAIRN_ARRAY_MOTIONS:
    case CAIRN_ARRAY_ANCHORS:
    case CAIRN_ARRAY_BODIES:
    case CAIRN_ARRAY_RESTS:
        return settings->body_slots;
    case CAIRN_ARRAY_SHAPE_IDS:
    case CAIRN_ARRAY_SHAPES:
        return settings->shape_slots;
    case CAIRN_ARRAY_JOINT_IDS:
    case CAIRN_ARRAY_JOINTS:
        return settings->joint_slots;
    case CAIRN_ARRAY_HULL_IDS:
    case CAIRN_ARRAY_HULLS:
        return settings->hull_slots;
    case CAIRN_ARRAY_CONTACTS:
        return settings->contact_count;
    case CAIRN_ARRAY_RULES:
        return rules_blocks(settings);
    case CAIRN_ARRAY_SETTINGS:
    case CAIRN_ARRAY_COUNT:
        break;
    }
    return 1;
}

size_t cairn_array_element_size(cairn_array array) {
    return cairn_field_table_of(array)->word_count * sizeof(uint32_t);
}

void *cairn_state_array(const cairn_state *state, cairn_array array) {
    void *const arrays[CAIRN_ARRAY_COUNT] = {[CAIRN_ARRAY_SETTINGS] = state->settings,
        [CAIRN_ARRAY_BODY_IDS] = state->body_ids,
        [CAIRN_ARRAY_SHAPE_IDS] = state->shape_ids,
        [CAIRN_ARRAY_JOINT_IDS] = state->joint_ids,
        [CAIRN_ARRAY_HULL_IDS] = state->hull_ids,
        [CAIRN_ARRAY_HULLS] = state->hulls,
        [CAIRN_ARRAY_MOTIONS] = state->motions,
        [CAIRN_ARRAY_ANCHORS] = state->anchors,
        [CAIRN_ARRAY_BODIES] = state->bodies,
        [CAIRN_ARRAY_RESTS] = state->rests,
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
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        at[array] = next;
        next += array_size(settings, array);
    }
    return (cairn_state){.settings = at[CAIRN_ARRAY_SETTINGS],
        .body_ids = at[CAIRN_ARRAY_BODY_IDS],
        .shape_ids = at[CAIRN_ARRAY_SHAPE_IDS],
        .joint_ids = at[CAIRN_ARRAY_JOINT_IDS],
        .hull_ids = at[CAIRN_ARRAY_HULL_IDS],
        .hulls = at[CAIRN_ARRAY_HULLS],
        .motions = at[CAIRN_ARRAY_MOTIONS],
        .anchors = at[CAIRN_ARRAY_ANCHORS],
        .bodies = at[CAIRN_ARRAY_BODIES],
        .rests = at[CAIRN_ARRAY_RESTS],
        .shapes = at[CAIRN_ARRAY_SHAPES],
        .joints = at[CAIRN_ARRAY_JOINTS],
        .contacts = at[CAIRN_ARRAY_CONTACTS],
        .rules = at[CAIRN_ARRAY_RULES]};
}

static void link_shapes(cairn_world *world) {
    const cairn_state *state = &world->state;
    memset(world->shape_first, 0, state->settings->body_slots * sizeof *world->shape_first);
    for (uint32_t i = state->settings->shape_slots; i > 0; --i) {
        if (cairn_state_has(state, CAIRN_ARRAY_SHAPES, i - 1)) {
            const uint32_t body = state->shapes[i - 1].body;
            world->shape_next[i - 1] = world->shape_first[body];
            world->shape_first[body] = i;
        }
    }
}

void cairn_world_derive(cairn_world *world, const bool differed[CAIRN_ARRAY_COUNT]) {
    if (differed[CAIRN_ARRAY_SHAPE_IDS] || differed[CAIRN_ARRAY_SHAPES] ||
        differed[CAIRN_ARRAY_BODY_IDS]) {
        link_shapes(world);
    }
    world->body_hint = differed[CAIRN_ARRAY_BODY_IDS] ? 0 : world->body_hint;
    world->shape_hint = differed[CAIRN_ARRAY_SHAPE_IDS] ? 0 : world->shape_hint;
    world->joint_hint = differed[CAIRN_ARRAY_JOINT_IDS] ? 0 : world->joint_hint;
    world->hull_hint = differed[CAIRN_ARRAY_HULL_IDS] ? 0 : world->hull_hint;
    if (differed[CAIRN_ARRAY_HULL_IDS] || differed[CAIRN_ARRAY_HULLS]) {
        cairn_hulls_derive(world);
    }
    world->contacts_stale = true;
    world->near.valid = false;
    cairn_patches_forget(world);
    world->event_count = 0;
}

void cairn_world_poison(cairn_world *world, unsigned char byte) {
    memset(world->scratch.memory, byte, world->scratch.size);
    cairn_near_poison(&world->near, byte);
    cairn_patches_forget(world);
    memset(world->spare_memory, byte, cairn_state_size(world->state.settings));
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const size_t live =
            cairn_array_count(world->state.settings, array) * cairn_array_element_size(array);
        unsigned char *bytes = cairn_state_array(&world->state, array);
        memset(bytes + live, byte, array_size(world->state.settings, array) - live);
    }
    world->event_count = 0;
}

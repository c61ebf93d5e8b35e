// SPDX-License-Identifier: MIT
#include "sim/state/state.h"

#include "sim/state/state_array.h"

cairn_settings cairn_settings_of(const cairn_world_def *def) {
    cairn_settings settings = {
        .seed_low = (uint32_t)def->seed, .seed_high = (uint32_t)(def->seed >> 32)};
#define WORD(name, initial, lower, upper) settings.name = def->name;
#define FLOAT(name, initial, lower, upper) settings.name = def->name + 0.0f;
#define VEC3(name, a, b, c, limit) settings.name = vec3_clean(def->name);
    CAIRN_WORLD_SETTINGS(WORD, FLOAT, VEC3)
#undef WORD
#undef FLOAT
#undef VEC3
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
    cairn_world_def def = {.seed = (uint64_t)settings->seed_high << 32 | settings->seed_low};
#define SETTING(name, ...) def.name = settings->name;
    CAIRN_WORLD_SETTINGS(SETTING, SETTING, SETTING)
#undef SETTING
    return def;
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
        .reference_poses = at[CAIRN_ARRAY_REFERENCE_POSES],
        .bodies = at[CAIRN_ARRAY_BODIES],
        .sleep = at[CAIRN_ARRAY_SLEEP],
        .shapes = at[CAIRN_ARRAY_SHAPES],
        .joints = at[CAIRN_ARRAY_JOINTS],
        .contacts = at[CAIRN_ARRAY_CONTACTS],
        .rules = at[CAIRN_ARRAY_RULES]};
}

// SPDX-License-Identifier: MIT
#include "sim/state/state.h"

#include "base/assert.h"

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
            CAIRN_ASSERT(i < sizeof settings.rules_name);
            settings.rules_name[i / 4] |= (uint32_t)(unsigned char)name[i] << 8 * (i % 4);
        }
        settings.rules_version = def->rules->version;
        settings.rules_state_size = def->rules->state_size;
    }
    settings.present_gravity = settings.gravity;
    settings.present_step_rate_hz = (float)settings.tick_rate_hz;
    return settings;
}

cairn_world_def cairn_def_of_settings(const cairn_settings *settings) {
    cairn_world_def def = {.seed = (uint64_t)settings->seed_high << 32 | settings->seed_low};
#define SETTING(name, ...) def.name = settings->name;
    CAIRN_WORLD_SETTINGS(SETTING, SETTING, SETTING)
#undef SETTING
    return def;
}

bool cairn_settings_counts_ok(const cairn_settings *settings) {
    return settings->body_slots <= settings->body_capacity &&
           settings->shape_slots <= settings->shape_capacity &&
           settings->joint_slots <= settings->joint_capacity &&
           settings->hull_slots <= settings->hull_capacity &&
           settings->mesh_slots <= settings->mesh_capacity &&
           settings->mesh_block_count <= settings->mesh_block_capacity &&
           settings->contact_count <= settings->contact_capacity &&
           settings->contact_event_count <= settings->event_capacity &&
           settings->body_event_count <= settings->body_capacity &&
           settings->joint_drive_count <= settings->joint_capacity &&
           settings->joint_event_count <= settings->joint_capacity;
}

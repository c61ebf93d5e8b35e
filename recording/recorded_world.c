// SPDX-License-Identifier: MIT
#include "recording/recorded_world.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"
#include <cairn/rules_registry.h>
#include <cairn/version.h>

#define DIFFERENCES_SHOWN 4

static bool check_versions(const cairn_chunk_start *start, const cairn_rules *rules,
    char error[CAIRN_RECORDING_ERROR_SIZE]) {
    if (start->sim_version != CAIRN_SIM_VERSION) {
        snprintf(error, CAIRN_RECORDING_ERROR_SIZE,
            "it was recorded by simulation version %u and needs a program with that version; this "
            "one has %d",
            start->sim_version, CAIRN_SIM_VERSION);
        return false;
    }
    uint32_t version = rules != NULL ? rules->version : 0;
    if (start->rules_version != version) {
        snprintf(error, CAIRN_RECORDING_ERROR_SIZE,
            "it was recorded with version %u of the rules %.31s and needs a program with that "
            "version; "
            "this one has %u",
            start->rules_version, start->rules_name, version);
        return false;
    }
    const uint64_t digest = cairn_rules_digest(rules);
    if (start->rules_digest != 0 && start->rules_digest != digest) {
        snprintf(error, CAIRN_RECORDING_ERROR_SIZE,
            "it was recorded with other sources of the rules %.31s, of the same version %u: their "
            "digest is %016llx, and %016llx in this program",
            start->rules_name, version, (unsigned long long)start->rules_digest,
            (unsigned long long)digest);
        return false;
    }
    return true;
}

cairn_world *cairn_recorded_world_of_keyframe(const cairn_chunk_keyframe *keyframe,
    const cairn_rules *rules, char error[CAIRN_RECORDING_ERROR_SIZE]) {
    CAIRN_ASSERT(keyframe->state != NULL || keyframe->state_size == 0);
    cairn_world_def def;
    char name[32];
    cairn_world *world = NULL;
    const char *where = "its settings";
    cairn_status status =
        cairn_world_def_of_encoding(keyframe->state, keyframe->state_size, &def, name);
    def.rules = rules;
    if (status == CAIRN_OK) {
        status = cairn_world_create(&def, &world);
    }
    if (status == CAIRN_OK) {
        status = cairn_world_decode(world, keyframe->state, keyframe->state_size, &where);
    }
    if (status != CAIRN_OK || cairn_world_tick(world) != keyframe->tick) {
        const char *why = status != CAIRN_OK ? cairn_status_text(status) : "it is of another tick";
        snprintf(error, CAIRN_RECORDING_ERROR_SIZE, "the state of tick %llu: %s: %s",
            (unsigned long long)keyframe->tick, where, why);
        cairn_world_destroy(world);
        return NULL;
    }
    return world;
}

cairn_world *cairn_recorded_world_of_start(const cairn_chunk_start *start, const cairn_rules *rules,
    cairn_recorded_refusal *refusal, char error[CAIRN_RECORDING_ERROR_SIZE]) {
    *refusal = CAIRN_RECORDED_VERSION;
    if (rules == NULL ? !cairn_rules_find(start->rules_name, &rules)
                      : strcmp(start->rules_name, rules->name) != 0) {
        snprintf(error, CAIRN_RECORDING_ERROR_SIZE,
            "its rules, %.31s, are not built into this program", start->rules_name);
        return NULL;
    }
    if (!check_versions(start, rules, error)) {
        return NULL;
    }
    const cairn_chunk_keyframe state = {
        .tick = start->tick, .state = start->state, .state_size = start->state_size};
    cairn_world *world = cairn_recorded_world_of_keyframe(&state, rules, error);
    *refusal = world == NULL ? CAIRN_RECORDED_STATE : CAIRN_RECORDED_OK;
    CAIRN_ASSERT((world == NULL) == (*refusal != CAIRN_RECORDED_OK));
    return world;
}

bool cairn_recorded_commands(const cairn_chunk_ticks *ticks, const cairn_wire_tick *tick,
    cairn_command *out, uint32_t *count) {
    CAIRN_ASSERT(tick->first_command + tick->command_count <= ticks->command_count);
    *count = tick->command_count;
    if (tick->command_count > CAIRN_COMMANDS_PER_TICK_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < tick->command_count; i++) {
        out[i] = ticks->commands[tick->first_command + i];
        if (cairn_command_check(&out[i]) != CAIRN_OK) {
            return false;
        }
    }
    cairn_commands_sort(out, *count);
    return true;
}

const char *cairn_recorded_word_text(
    uint32_t bits, bool is_float, char text[CAIRN_RECORDED_WORD_SIZE]) {
    float number;
    memcpy(&number, &bits, sizeof number);
    if (is_float) {
        snprintf(text, CAIRN_RECORDED_WORD_SIZE, "%.9g (0x%08x)", (double)number, bits);
    } else {
        snprintf(text, CAIRN_RECORDED_WORD_SIZE, "0x%08x", bits);
    }
    return text;
}

void cairn_recorded_diff_text(const cairn_world *a, const char *name_a, const cairn_world *b,
    const char *name_b, char error[CAIRN_RECORDING_ERROR_SIZE]) {
    CAIRN_ASSERT(a != NULL && b != NULL);
    cairn_difference found[DIFFERENCES_SHOWN];
    const uint32_t count = cairn_world_diff(a, b, found, DIFFERENCES_SHOWN);
    size_t at = (size_t)snprintf(error, CAIRN_RECORDING_ERROR_SIZE, "%u fields differ", count);
    for (uint32_t i = 0; i < count && i < DIFFERENCES_SHOWN && at < CAIRN_RECORDING_ERROR_SIZE;
         i++) {
        const cairn_difference *d = &found[i];
        char text_a[CAIRN_RECORDED_WORD_SIZE], text_b[CAIRN_RECORDED_WORD_SIZE];
        at += (size_t)snprintf(error + at, CAIRN_RECORDING_ERROR_SIZE - at,
            "%s %s %u %s: %s %s, %s %s", i == 0 ? ":" : ";", cairn_section_name(d->section),
            d->element, d->field, name_a,
            cairn_recorded_word_text(d->bits_a, d->is_float != 0, text_a), name_b,
            cairn_recorded_word_text(d->bits_b, d->is_float != 0, text_b));
    }
}

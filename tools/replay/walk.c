// SPDX-License-Identifier: MIT
#include "tools/replay/walk.h"

#include <stdio.h>
#include <string.h>

#include "bridge/rules_library.h"
#include "bridge/wire.h"
#include "schema/codec.h"

#define DIFFERENCES_SHOWN 4

cairn_replay_walk cairn_replay_walk_of(const uint8_t *bytes, size_t size) {
    return (cairn_replay_walk){.reader = cairn_recording_reader_of(bytes, size), .sound = true};
}

bool cairn_replay_next(cairn_replay_walk *walk) {
    cairn_recording_frame frame;
    walk->end = cairn_recording_next(&walk->reader, &frame);
    if (walk->end != CAIRN_RECORDING_CHUNK || !walk->sound) {
        return false;
    }
    int refusal = cairn_chunk_decode(frame.payload, frame.size, &walk->chunk);
    walk->sound = refusal == CAIRN_DECODE_OK && (uint32_t)walk->chunk.kind == frame.kind;
    if (!walk->sound) {
        const char *why = refusal == CAIRN_DECODE_OK
                              ? "is not of the kind its frame says"
                              : cairn_decode_refusal_text((cairn_decode_refusal)refusal);
        snprintf(walk->words, sizeof walk->words, "the chunk at byte %zu: %s", frame.offset, why);
    }
    return walk->sound;
}

void cairn_replay_end_text(const cairn_replay_walk *walk, char words[CAIRN_REPLAY_WORDS_SIZE]) {
    if (!walk->sound) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "%s", walk->words);
        return;
    }
    size_t left = walk->reader.size - walk->reader.at;
    switch (walk->end) {
    case CAIRN_RECORDING_FINISHED:
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "%s",
            walk->chunk.kind == CAIRN_CHUNK_END ? "closed in order" : "not closed, but whole");
        return;
    case CAIRN_RECORDING_CUT:
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE,
            "cut off: whole up to byte %zu, %zu bytes behind it are part of a chunk",
            walk->reader.at, left);
        return;
    default:
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "byte %zu: %s", walk->reader.at,
            cairn_recording_step_text(walk->end));
        return;
    }
}

static bool check_versions(
    const cairn_chunk_start *start, const cairn_rules *rules, char words[CAIRN_REPLAY_WORDS_SIZE]) {
    if (start->sim_version != CAIRN_SIM_VERSION) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE,
            "it was recorded by simulation version %u, this program has version %d",
            start->sim_version, CAIRN_SIM_VERSION);
        return false;
    }
    uint32_t version = rules != NULL ? rules->version : 0;
    if (start->rules_version != version) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE,
            "it was recorded with version %u of the rules %.31s, this program has version %u",
            start->rules_version, start->rules_name, version);
        return false;
    }
    return true;
}

cairn_world *cairn_replay_world(
    const cairn_chunk_start *start, char words[CAIRN_REPLAY_WORDS_SIZE]) {
    const cairn_rules *rules = NULL;
    cairn_world_def def;
    char name[32];
    cairn_world *world = NULL;
    const char *where = "its settings";
    if (!cairn_rules_find(start->rules_name, &rules)) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE,
            "its rules, %.31s, are not built into this program", start->rules_name);
        return NULL;
    }
    if (!check_versions(start, rules, words)) {
        return NULL;
    }
    cairn_status status = cairn_world_def_of_encoding(start->state, start->state_size, &def, name);
    def.rules = rules;
    if (status == CAIRN_OK) {
        status = cairn_world_create(&def, &world);
    }
    if (status == CAIRN_OK) {
        status = cairn_world_decode(world, start->state, start->state_size, &where);
    }
    if (status != CAIRN_OK || cairn_world_tick(world) != start->tick) {
        const char *why = status != CAIRN_OK ? cairn_status_text(status) : "its tick is another";
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "the state of tick %llu: %s: %s",
            (unsigned long long)start->tick, where, why);
        cairn_world_destroy(world);
        return NULL;
    }
    return world;
}

bool cairn_replay_commands(const cairn_chunk_ticks *ticks, const cairn_wire_tick *tick,
    cairn_command *out, uint32_t *count) {
    *count = tick->command_count;
    if (tick->command_count > CAIRN_COMMANDS_PER_TICK_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < tick->command_count; i++) {
        if (cairn_command_of_wire(&ticks->commands[tick->first_command + i], &out[i]) != CAIRN_OK) {
            return false;
        }
    }
    cairn_commands_sort(out, *count);
    return true;
}

void cairn_replay_difference(
    const cairn_world *recorded, const cairn_world *stepped, char words[CAIRN_REPLAY_WORDS_SIZE]) {
    cairn_difference found[DIFFERENCES_SHOWN];
    uint32_t count = cairn_world_diff(recorded, stepped, found, DIFFERENCES_SHOWN);
    size_t at = (size_t)snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "%u fields differ", count);
    for (uint32_t i = 0; i < count && i < DIFFERENCES_SHOWN && at < CAIRN_REPLAY_WORDS_SIZE; i++) {
        const cairn_difference *d = &found[i];
        at += (size_t)snprintf(words + at, CAIRN_REPLAY_WORDS_SIZE - at,
            "%s %s %u %s: recorded 0x%08x, stepped 0x%08x", i == 0 ? ":" : ";",
            cairn_section_name(d->section), d->element, d->field, d->bits_a, d->bits_b);
    }
}

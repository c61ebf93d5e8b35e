// SPDX-License-Identifier: MIT
#include "recording/walk.h"

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
    cairn_recording_piece piece;
    if (!walk->sound || !cairn_recording_next(&walk->reader, &piece)) {
        return false;
    }
    int refusal = cairn_chunk_decode(piece.payload, piece.size, &walk->chunk);
    walk->sound = refusal == CAIRN_DECODE_OK && walk->chunk.kind == piece.kind;
    if (!walk->sound) {
        const char *why = refusal == CAIRN_DECODE_OK
                              ? "is not of the kind its head says"
                              : cairn_decode_refusal_text((cairn_decode_refusal)refusal);
        snprintf(walk->words, sizeof walk->words, "the chunk at byte %zu: %s", piece.offset, why);
    }
    return walk->sound;
}

void cairn_replay_end_text(const cairn_replay_walk *walk, char words[CAIRN_REPLAY_WORDS_SIZE]) {
    const cairn_recording_reader *reader = &walk->reader;
    if (!walk->sound) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "%s", walk->words);
    } else if (reader->end == CAIRN_RECORDING_CUT) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE,
            "cut off: whole up to byte %zu, %zu bytes of a chunk behind it", reader->at,
            reader->size - reader->at);
    } else if (reader->end == CAIRN_RECORDING_CLEAN) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "closed in order");
    } else {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "at byte %zu %s", reader->at,
            cairn_recording_end_text(reader->end));
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

static cairn_world *decode_world(const uint8_t *state, uint32_t size, uint64_t tick,
    const cairn_rules *rules, char words[CAIRN_REPLAY_WORDS_SIZE]) {
    cairn_world_def def;
    char name[32];
    cairn_world *world = NULL;
    const char *where = "its settings";
    cairn_status status = cairn_world_def_of_encoding(state, size, &def, name);
    def.rules = rules;
    if (status == CAIRN_OK) {
        status = cairn_world_create(&def, &world);
    }
    if (status == CAIRN_OK) {
        status = cairn_world_decode(world, state, size, &where);
    }
    if (status != CAIRN_OK || cairn_world_tick(world) != tick) {
        const char *why = status != CAIRN_OK ? cairn_status_text(status) : "its tick is another";
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "the state of tick %llu: %s: %s",
            (unsigned long long)tick, where, why);
        cairn_world_destroy(world);
        return NULL;
    }
    return world;
}

cairn_world *cairn_replay_world(
    const cairn_chunk_start *start, char words[CAIRN_REPLAY_WORDS_SIZE]) {
    const cairn_rules *rules = NULL;
    if (!cairn_rules_find(start->rules_name, &rules)) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE,
            "its rules, %.31s, are not built into this program", start->rules_name);
        return NULL;
    }
    if (!check_versions(start, rules, words)) {
        return NULL;
    }
    return decode_world(start->state, start->state_size, start->tick, rules, words);
}

cairn_world *cairn_replay_keyframe_world(const cairn_chunk_keyframe *keyframe,
    const cairn_rules *rules, char words[CAIRN_REPLAY_WORDS_SIZE]) {
    return decode_world(keyframe->state, keyframe->state_size, keyframe->tick, rules, words);
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

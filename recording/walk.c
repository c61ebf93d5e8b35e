// SPDX-License-Identifier: MIT
#include "recording/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/rules_library.h"
#include "bridge/snapshot.h"
#include "schema/codec.h"

#define DIFFERENCES_SHOWN 4

cairn_replay_walk cairn_replay_walk_of(const uint8_t *bytes, size_t size) {
    return (cairn_replay_walk){.reader = cairn_recording_reader_of(bytes, size), .sound = true};
}

void cairn_replay_walk_end(cairn_replay_walk *walk) {
    cairn_unpacker_destroy(walk->unpacker);
    free(walk->room);
    walk->unpacker = NULL;
    walk->room = NULL;
    walk->room_size = 0;
}

static bool make_room(cairn_replay_walk *walk, size_t size) {
    if (walk->unpacker == NULL && cairn_unpacker_create(&walk->unpacker) != CAIRN_OK) {
        return false;
    }
    if (walk->room_size < size) {
        free(walk->room);
        walk->room = malloc(size);
        walk->room_size = walk->room == NULL ? 0 : size;
    }
    return walk->room != NULL;
}

// NULL, or what is wrong. The reader has held raw_size against its limit.
static const char *unpack(cairn_replay_walk *walk) {
    const cairn_recording_piece *piece = &walk->piece;
    walk->payload = piece->payload;
    walk->payload_size = piece->raw_size;
    if (piece->packing == CAIRN_PACKING_NONE) {
        return NULL;
    }
    if (!make_room(walk, piece->raw_size)) {
        return "out of memory";
    }
    cairn_unpack_refusal refusal =
        cairn_unpack(walk->unpacker, piece->payload, piece->size, walk->room, piece->raw_size);
    walk->payload = walk->room;
    return refusal == CAIRN_UNPACK_OK ? NULL : cairn_unpack_refusal_text(refusal);
}

static bool head_agrees(const cairn_replay_walk *walk) {
    const cairn_recording_piece said = walk->piece;
    const cairn_recording_piece is =
        cairn_recording_piece_of(&walk->chunk, walk->payload, walk->payload_size);
    return walk->reader.version == 1 || (said.tick == is.tick && said.tick_count == is.tick_count);
}

static const char *open_chunk(cairn_replay_walk *walk) {
    const char *why = unpack(walk);
    if (why != NULL) {
        return why;
    }
    int refusal = cairn_chunk_decode(walk->payload, walk->payload_size, &walk->chunk);
    if (refusal != CAIRN_DECODE_OK) {
        return cairn_decode_refusal_text((cairn_decode_refusal)refusal);
    }
    if (walk->chunk.kind != walk->piece.kind) {
        return "its kind differs from that in its head";
    }
    return head_agrees(walk) ? NULL : "its ticks differ from those in its head";
}

bool cairn_replay_next(cairn_replay_walk *walk) {
    if (!walk->sound || !cairn_recording_next(&walk->reader, &walk->piece)) {
        return false;
    }
    const char *why = open_chunk(walk);
    walk->sound = why == NULL;
    if (!walk->sound) {
        snprintf(
            walk->words, sizeof walk->words, "the chunk at byte %zu: %s", walk->piece.offset, why);
    }
    return walk->sound;
}

void cairn_replay_end_text(const cairn_replay_walk *walk, char words[CAIRN_REPLAY_WORDS_SIZE]) {
    const cairn_recording_reader *reader = &walk->reader;
    if (!walk->sound) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "%s", walk->words);
    } else if (reader->end == CAIRN_RECORDING_CUT) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE,
            "cut off: whole up to byte %zu, %zu bytes of a chunk after it", reader->at,
            reader->size - reader->at);
    } else if (reader->end == CAIRN_RECORDING_CLEAN) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "closed in order");
    } else {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "%s (at byte %zu)",
            cairn_recording_end_text(reader->end), reader->at);
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

cairn_world *cairn_replay_world(const cairn_chunk_start *start, cairn_replay_refusal *refusal,
    char words[CAIRN_REPLAY_WORDS_SIZE]) {
    const cairn_rules *rules = NULL;
    *refusal = CAIRN_REPLAY_VERSION;
    if (!cairn_rules_find(start->rules_name, &rules)) {
        snprintf(words, CAIRN_REPLAY_WORDS_SIZE,
            "its rules, %.31s, are not built into this program", start->rules_name);
        return NULL;
    }
    if (!check_versions(start, rules, words)) {
        return NULL;
    }
    cairn_world *world = decode_world(start->state, start->state_size, start->tick, rules, words);
    *refusal = world == NULL ? CAIRN_REPLAY_STATE : CAIRN_REPLAY_OK;
    return world;
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
        out[i] = ticks->commands[tick->first_command + i];
        if (cairn_command_check(&out[i]) != CAIRN_OK) {
            return false;
        }
    }
    cairn_commands_sort(out, *count);
    return true;
}

void cairn_replay_difference(
    const cairn_world *recorded, const cairn_world *stepped, char words[CAIRN_REPLAY_WORDS_SIZE]) {
    cairn_replay_difference_of(recorded, "recorded", stepped, "stepped", words);
}

void cairn_replay_difference_of(const cairn_world *a, const char *name_a, const cairn_world *b,
    const char *name_b, char words[CAIRN_REPLAY_WORDS_SIZE]) {
    cairn_difference found[DIFFERENCES_SHOWN];
    uint32_t count = cairn_world_diff(a, b, found, DIFFERENCES_SHOWN);
    size_t at = (size_t)snprintf(words, CAIRN_REPLAY_WORDS_SIZE, "%u fields differ", count);
    for (uint32_t i = 0; i < count && i < DIFFERENCES_SHOWN && at < CAIRN_REPLAY_WORDS_SIZE; i++) {
        const cairn_difference *d = &found[i];
        at += (size_t)snprintf(words + at, CAIRN_REPLAY_WORDS_SIZE - at,
            "%s %s %u %s: %s 0x%08x, %s 0x%08x", i == 0 ? ":" : ";", cairn_section_name(d->section),
            d->element, d->field, name_a, d->bits_a, name_b, d->bits_b);
    }
}

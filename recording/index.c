// SPDX-License-Identifier: MIT
#include "recording/index.h"

#include <stdlib.h>

#include "base/assert.h"
#include "recording/chunk_reader.h"

bool cairn_recording_index_add(cairn_recording_index *index, const cairn_recording_piece *piece) {
    if (index->count == index->capacity) {
        uint32_t wider = index->capacity == 0 ? 256 : 2 * index->capacity;
        void *entries = realloc(index->entries, wider * sizeof *index->entries);
        if (entries == NULL) {
            return false;
        }
        index->entries = entries;
        index->capacity = wider;
    }
    CAIRN_ASSERT(index->count < index->capacity);
    index->entries[index->count++] = (cairn_recording_entry){.kind = piece->kind,
        .tick_count = piece->tick_count,
        .tick = piece->tick,
        .offset = piece->offset};
    return true;
}

static bool index_payloads(const uint8_t *bytes, size_t size, cairn_recording_index *out) {
    CAIRN_ASSERT(out->count == 0);
    cairn_chunk_reader walk = cairn_chunk_reader_of(bytes, size);
    bool added = true;
    while (added && cairn_chunk_reader_next(&walk)) {
        cairn_recording_piece piece =
            cairn_recording_piece_of(&walk.chunk, walk.payload, walk.payload_size);
        piece.offset = walk.piece.offset;
        added = cairn_recording_index_add(out, &piece);
    }
    out->end = walk.file.end;
    cairn_chunk_reader_end(&walk);
    return added;
}

cairn_status cairn_recording_index_of(
    const uint8_t *bytes, size_t size, cairn_recording_index *out) {
    *out = (cairn_recording_index){.end = CAIRN_RECORDING_UNFINISHED};
    cairn_recording_reader reader = cairn_recording_reader_of(bytes, size);
    cairn_recording_piece piece;
    bool added = true;
    if (reader.version == 1) {
        added = index_payloads(bytes, size, out);
    } else {
        while (added && cairn_recording_skip(&reader, &piece)) {
            added = cairn_recording_index_add(out, &piece);
        }
        CAIRN_ASSERT(reader.end != CAIRN_RECORDING_UNFINISHED || !added);
        out->end = reader.end;
    }
    if (!added) {
        cairn_recording_index_end(out);
        return CAIRN_OUT_OF_MEMORY;
    }
    return CAIRN_OK;
}

void cairn_recording_index_end(cairn_recording_index *index) {
    CAIRN_ASSERT(index->count <= index->capacity);
    free(index->entries);
    *index = (cairn_recording_index){.end = CAIRN_RECORDING_UNFINISHED};
}

bool cairn_recording_is_state(cairn_chunk_kind kind) {
    return kind == CAIRN_CHUNK_START || kind == CAIRN_CHUNK_KEYFRAME || kind == CAIRN_CHUNK_REPLACE;
}

// The tick of the world after an entry.
static uint64_t end_tick(const cairn_recording_entry *entry) {
    return entry->tick + entry->tick_count;
}

const cairn_recording_entry *cairn_recording_index_find(
    const cairn_recording_index *index, uint64_t tick) {
    const cairn_recording_entry *candidate = NULL;
    const cairn_recording_entry *found = NULL;
    for (uint32_t i = 0; i < index->count; ++i) {
        const cairn_recording_entry *entry = &index->entries[i];
        if (cairn_recording_is_state(entry->kind)) {
            candidate = entry->tick <= tick ? entry : NULL;
        }
        bool reached = cairn_recording_is_state(entry->kind) || entry->kind == CAIRN_CHUNK_TICKS;
        if (reached && candidate != NULL && end_tick(entry) >= tick && entry->tick <= tick) {
            found = candidate;
        }
    }
    CAIRN_ASSERT(found == NULL || (cairn_recording_is_state(found->kind) && found->tick <= tick));
    return found;
}

bool cairn_recording_index_range(
    const cairn_recording_index *index, uint64_t *first, uint64_t *last) {
    if (index->count == 0) {
        return false;
    }
    *first = UINT64_MAX;
    *last = 0;
    for (uint32_t i = 0; i < index->count; ++i) {
        const cairn_recording_entry *entry = &index->entries[i];
        if (cairn_recording_is_state(entry->kind)) {
            *first = entry->tick < *first ? entry->tick : *first;
        }
        if (cairn_recording_is_state(entry->kind) || entry->kind == CAIRN_CHUNK_TICKS) {
            *last = end_tick(entry) > *last ? end_tick(entry) : *last;
        }
    }
    return true;
}

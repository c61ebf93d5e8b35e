// SPDX-License-Identifier: MIT
#include "recording/chunk_reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "schema/codec.h"

cairn_chunk_reader cairn_chunk_reader_of(const uint8_t *bytes, size_t size) {
    return (cairn_chunk_reader){.file = cairn_recording_reader_of(bytes, size), .valid = true};
}

void cairn_chunk_reader_end(cairn_chunk_reader *reader) {
    cairn_unpacker_destroy(reader->unpacker);
    free(reader->buffer);
    reader->unpacker = NULL;
    reader->buffer = NULL;
    reader->buffer_size = 0;
}

static bool reserve_buffer(cairn_chunk_reader *reader, size_t size) {
    if (reader->unpacker == NULL && cairn_unpacker_create(&reader->unpacker) != CAIRN_OK) {
        return false;
    }
    if (reader->buffer_size < size) {
        free(reader->buffer);
        reader->buffer = malloc(size);
        reader->buffer_size = reader->buffer == NULL ? 0 : size;
    }
    CAIRN_ASSERT(reader->buffer == NULL || reader->buffer_size >= size);
    return reader->buffer != NULL;
}

// NULL, or what is wrong. The file reader has checked raw_size against its limit.
static const char *unpack_payload(cairn_chunk_reader *reader) {
    const cairn_recording_piece *piece = &reader->piece;
    CAIRN_ASSERT(piece->raw_size <= CAIRN_RECORDING_PAYLOAD_SIZE_MAX);
    reader->payload = piece->payload;
    reader->payload_size = piece->raw_size;
    if (piece->packing == CAIRN_PACKING_NONE) {
        return NULL;
    }
    if (!reserve_buffer(reader, piece->raw_size)) {
        return "out of memory";
    }
    cairn_unpack_refusal refusal = cairn_unpack(
        reader->unpacker, piece->payload, piece->size, reader->buffer, piece->raw_size);
    reader->payload = reader->buffer;
    return refusal == CAIRN_UNPACK_OK ? NULL : cairn_unpack_refusal_text(refusal);
}

static const char *decode_chunk(cairn_chunk_reader *reader) {
    const char *why = unpack_payload(reader);
    if (why != NULL) {
        return why;
    }
    int refusal = cairn_chunk_decode(reader->payload, reader->payload_size, &reader->chunk);
    if (refusal != CAIRN_DECODE_OK) {
        return cairn_decode_refusal_text((cairn_decode_refusal)refusal);
    }
    if (reader->chunk.kind != reader->piece.kind) {
        return "its kind differs from that in its head";
    }
    const cairn_recording_piece head = reader->piece;
    const cairn_recording_piece content =
        cairn_recording_piece_of(&reader->chunk, reader->payload, reader->payload_size);
    const bool same = head.tick == content.tick && head.tick_count == content.tick_count;
    return same || reader->file.version == 1 ? NULL : "its ticks differ from those in its head";
}

bool cairn_chunk_reader_next(cairn_chunk_reader *reader) {
    if (!reader->valid || !cairn_recording_next(&reader->file, &reader->piece)) {
        return false;
    }
    const char *why = decode_chunk(reader);
    reader->valid = why == NULL;
    if (!reader->valid) {
        snprintf(reader->error, sizeof reader->error, "the chunk at byte %zu: %s",
            reader->piece.offset, why);
    }
    CAIRN_ASSERT(reader->valid == (reader->error[0] == '\0'));
    return reader->valid;
}

bool cairn_chunk_reader_damaged(const cairn_chunk_reader *reader) {
    const cairn_recording_end end = reader->file.end;
    CAIRN_ASSERT(!reader->valid || end != CAIRN_RECORDING_UNFINISHED);
    return !reader->valid || (end != CAIRN_RECORDING_CLEAN && end != CAIRN_RECORDING_CUT);
}

void cairn_chunk_reader_end_text(
    const cairn_chunk_reader *reader, char text[CAIRN_RECORDING_ERROR_SIZE]) {
    CAIRN_ASSERT(reader->file.at <= reader->file.size);
    const cairn_recording_reader *file = &reader->file;
    if (!reader->valid) {
        snprintf(text, CAIRN_RECORDING_ERROR_SIZE, "%s", reader->error);
    } else if (file->end == CAIRN_RECORDING_CUT) {
        snprintf(text, CAIRN_RECORDING_ERROR_SIZE,
            "cut off: complete up to byte %zu, %zu bytes of a chunk after it", file->at,
            file->size - file->at);
    } else if (file->end == CAIRN_RECORDING_CLEAN) {
        snprintf(text, CAIRN_RECORDING_ERROR_SIZE, "closed properly");
    } else {
        snprintf(text, CAIRN_RECORDING_ERROR_SIZE, "%s (at byte %zu)",
            cairn_recording_end_text(file->end), file->at);
    }
}

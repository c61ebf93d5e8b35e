// SPDX-License-Identifier: MIT
#include "recording/file.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/checksum.h"

static const char magic[8] = {'C', 'R', 'N', 'R', 'E', 'C', '\r', '\n'};

enum { ALIGNMENT = 8, OLD_HEAD_SIZE = 24, CHECKSUM_SIZE = 8 };

static size_t padding_of(size_t size) {
    return (ALIGNMENT - size % ALIGNMENT) % ALIGNMENT;
}

void cairn_recording_head(uint8_t bytes[CAIRN_RECORDING_HEAD_SIZE]) {
    cairn_writer writer = cairn_writer_of(bytes, CAIRN_RECORDING_HEAD_SIZE);
    cairn_write_bytes(&writer, magic, sizeof magic);
    cairn_write_u32(&writer, CAIRN_RECORDING_VERSION);
    cairn_write_u32(&writer, 0);
    CAIRN_ASSERT(writer.ok && writer.at == CAIRN_RECORDING_HEAD_SIZE);
}

cairn_recording_frame cairn_recording_frame_of(const cairn_recording_piece *piece) {
    CAIRN_ASSERT(piece->kind >= CAIRN_CHUNK_START && piece->kind < CAIRN_CHUNK_KIND_COUNT);
    CAIRN_ASSERT(piece->size > 0 && piece->raw_size <= CAIRN_RECORDING_PAYLOAD_SIZE_MAX);
    CAIRN_ASSERT(piece->packing == CAIRN_PACKING_NONE ? piece->size == piece->raw_size
                                                      : piece->size < piece->raw_size);
    cairn_recording_frame frame = {.tail_size = padding_of(piece->size)};
    cairn_writer writer = cairn_writer_of(frame.head, sizeof frame.head);
    cairn_write_u32(&writer, (uint32_t)piece->size);
    cairn_write_u16(&writer, (uint16_t)piece->kind);
    cairn_write_u16(&writer, (uint16_t)piece->packing);
    cairn_write_u32(&writer, (uint32_t)piece->raw_size);
    cairn_write_u32(&writer, piece->tick_count);
    cairn_write_u64(&writer, piece->tick);
    cairn_write_u64(&writer, cairn_checksum(piece->payload, piece->size));
    cairn_write_u64(&writer, cairn_checksum(frame.head, sizeof frame.head - CHECKSUM_SIZE));
    CAIRN_ASSERT(writer.ok && writer.at == sizeof frame.head);
    return frame;
}

static uint64_t tick_of(const cairn_chunk *chunk) {
    switch (chunk->kind) {
    case CAIRN_CHUNK_START:
        return chunk->start.tick;
    case CAIRN_CHUNK_TICKS:
        return chunk->ticks.tick_count > 0 ? chunk->ticks.ticks[0].tick : 0;
    case CAIRN_CHUNK_END:
        return chunk->end.tick;
    case CAIRN_CHUNK_KEYFRAME:
        return chunk->keyframe.tick;
    case CAIRN_CHUNK_REPLACE:
        return chunk->replace.tick;
    case CAIRN_CHUNK_DESYNC:
        return chunk->desync.head.tick;
    case CAIRN_CHUNK_NONE:
    case CAIRN_CHUNK_KIND_COUNT:
        break;
    }
    return 0;
}

cairn_recording_piece cairn_recording_piece_of(
    const cairn_chunk *chunk, const uint8_t *payload, size_t size) {
    CAIRN_ASSERT(payload != NULL && size > 0);
    return (cairn_recording_piece){.kind = chunk->kind,
        .tick = tick_of(chunk),
        .tick_count = chunk->kind == CAIRN_CHUNK_TICKS ? chunk->ticks.tick_count : 0,
        .payload = payload,
        .size = size,
        .raw_size = size};
}

const char *cairn_recording_end_text(cairn_recording_end end) {
    static const char *const texts[CAIRN_RECORDING_END_COUNT] = {
        [CAIRN_RECORDING_UNFINISHED] = "not at its end",
        [CAIRN_RECORDING_CLEAN] = "closed properly",
        [CAIRN_RECORDING_CUT] = "cut off",
        [CAIRN_RECORDING_FOREIGN] = "not a cairn recording: bad magic",
        [CAIRN_RECORDING_VERSION_MISMATCH] = "a recording of another format version",
        [CAIRN_RECORDING_DAMAGED_HEAD] = "a chunk's head is damaged",
        [CAIRN_RECORDING_DAMAGED_PAYLOAD] = "a chunk's payload is damaged",
        [CAIRN_RECORDING_DAMAGED_PADDING] = "a chunk's padding is damaged",
        [CAIRN_RECORDING_CHUNK_KIND] = "a chunk is of the wrong kind",
        [CAIRN_RECORDING_CHUNK_SIZE] = "a chunk's size is out of range",
        [CAIRN_RECORDING_CHUNK_PACKING] = "a chunk is packed in an unknown way",
        [CAIRN_RECORDING_TRAILING] = "bytes follow the end chunk",
    };
    return (unsigned)end < CAIRN_RECORDING_END_COUNT ? texts[end] : "unknown end";
}

static cairn_recording_end check_file_head(const uint8_t *bytes, size_t size, uint32_t *version) {
    uint8_t head[CAIRN_RECORDING_HEAD_SIZE];
    cairn_recording_head(head);
    const size_t magic_size = size < sizeof magic ? size : sizeof magic;
    if (magic_size > 0 && memcmp(bytes, head, magic_size) != 0) {
        return CAIRN_RECORDING_FOREIGN;
    }
    if (size < sizeof head) {
        return CAIRN_RECORDING_CUT;
    }
    cairn_reader fields = cairn_reader_of(bytes + sizeof magic, 8);
    *version = cairn_read_u32(&fields);
    bool known = *version >= 1 && *version <= CAIRN_RECORDING_VERSION;
    return known && cairn_read_u32(&fields) == 0 ? CAIRN_RECORDING_UNFINISHED
                                                 : CAIRN_RECORDING_VERSION_MISMATCH;
}

cairn_recording_reader cairn_recording_reader_of(const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    CAIRN_ASSERT((uintptr_t)bytes % ALIGNMENT == 0);
    cairn_recording_reader reader = {.bytes = bytes, .size = size};
    reader.end = check_file_head(bytes, size, &reader.version);
    reader.at = reader.end == CAIRN_RECORDING_UNFINISHED ? CAIRN_RECORDING_HEAD_SIZE : 0;
    return reader;
}

typedef struct chunk_head {
    size_t size; // of the head itself
    uint32_t kind;
    uint32_t packing;
    uint32_t stored_size;
    uint32_t raw_size;
    uint32_t tick_count;
    uint64_t tick;
    uint64_t payload_checksum;
    uint64_t head_checksum;
} chunk_head;

// Version 1 wrote shorter heads: no packing, no ticks.
static chunk_head read_head_fields(cairn_reader *fields, uint32_t version) {
    chunk_head head = {.size = version == 1 ? OLD_HEAD_SIZE : CAIRN_RECORDING_CHUNK_HEAD_SIZE};
    head.stored_size = cairn_read_u32(fields);
    head.raw_size = head.stored_size;
    if (version == 1) {
        head.kind = cairn_read_u32(fields);
    } else {
        head.kind = cairn_read_u16(fields);
        head.packing = cairn_read_u16(fields);
        head.raw_size = cairn_read_u32(fields);
        head.tick_count = cairn_read_u32(fields);
        head.tick = cairn_read_u64(fields);
    }
    head.payload_checksum = cairn_read_u64(fields);
    head.head_checksum = cairn_read_u64(fields);
    return head;
}

static cairn_recording_end read_chunk_head(const cairn_recording_reader *reader, chunk_head *head) {
    CAIRN_ASSERT(reader->at <= reader->size);
    const uint8_t *bytes = reader->bytes + reader->at;
    const size_t left = reader->size - reader->at;
    if (reader->last == CAIRN_CHUNK_END) {
        return left == 0 ? CAIRN_RECORDING_CLEAN : CAIRN_RECORDING_TRAILING;
    }
    cairn_reader fields = cairn_reader_of(bytes, left);
    *head = read_head_fields(&fields, reader->version);
    if (!fields.ok) {
        return CAIRN_RECORDING_CUT;
    }
    if (head->head_checksum != cairn_checksum(bytes, head->size - CHECKSUM_SIZE)) {
        return CAIRN_RECORDING_DAMAGED_HEAD;
    }
    if (head->kind == CAIRN_CHUNK_NONE || head->kind >= CAIRN_CHUNK_KIND_COUNT ||
        (head->kind == CAIRN_CHUNK_START) != (reader->chunk_count == 0)) {
        return CAIRN_RECORDING_CHUNK_KIND;
    }
    if (head->packing >= CAIRN_PACKING_COUNT) {
        return CAIRN_RECORDING_CHUNK_PACKING;
    }
    const bool sizes_fit = head->packing == CAIRN_PACKING_NONE ? head->stored_size == head->raw_size
                                                               : head->stored_size < head->raw_size;
    if (!sizes_fit || head->stored_size == 0 || head->raw_size > CAIRN_RECORDING_PAYLOAD_SIZE_MAX) {
        return CAIRN_RECORDING_CHUNK_SIZE;
    }
    const size_t remaining = left - head->size;
    return remaining < head->stored_size + padding_of(head->stored_size)
               ? CAIRN_RECORDING_CUT
               : CAIRN_RECORDING_UNFINISHED;
}

static cairn_recording_end check_payload(
    const cairn_recording_reader *reader, const chunk_head *head) {
    CAIRN_ASSERT(reader->size - reader->at >= head->size + head->stored_size);
    const uint8_t *payload = reader->bytes + reader->at + head->size;
    const size_t padding = padding_of(head->stored_size);
    if (head->payload_checksum != cairn_checksum(payload, head->stored_size)) {
        return CAIRN_RECORDING_DAMAGED_PAYLOAD;
    }
    for (size_t i = 0; i < padding; ++i) {
        if (payload[head->stored_size + i] != 0) {
            return CAIRN_RECORDING_DAMAGED_PADDING;
        }
    }
    return CAIRN_RECORDING_UNFINISHED;
}

static bool read_chunk(cairn_recording_reader *reader, cairn_recording_piece *out, bool head_only) {
    *out = (cairn_recording_piece){.kind = CAIRN_CHUNK_NONE};
    chunk_head head = {0};
    if (reader->end == CAIRN_RECORDING_UNFINISHED) {
        reader->end = read_chunk_head(reader, &head);
    }
    if (reader->end == CAIRN_RECORDING_UNFINISHED && !head_only) {
        reader->end = check_payload(reader, &head);
    }
    if (reader->end != CAIRN_RECORDING_UNFINISHED) {
        return false;
    }
    CAIRN_ASSERT(head.kind > CAIRN_CHUNK_NONE && head.kind < CAIRN_CHUNK_KIND_COUNT);
    *out = (cairn_recording_piece){.kind = (cairn_chunk_kind)head.kind,
        .packing = (cairn_packing)head.packing,
        .tick = head.tick,
        .tick_count = head.tick_count,
        .payload = reader->bytes + reader->at + head.size,
        .size = head.stored_size,
        .raw_size = head.raw_size,
        .offset = reader->at};
    reader->at += head.size + head.stored_size + padding_of(head.stored_size);
    reader->chunk_count += 1;
    reader->last = out->kind;
    CAIRN_ASSERT(reader->at <= reader->size && reader->at % ALIGNMENT == 0);
    return true;
}

bool cairn_recording_next(cairn_recording_reader *reader, cairn_recording_piece *out) {
    return read_chunk(reader, out, false);
}

bool cairn_recording_skip(cairn_recording_reader *reader, cairn_recording_piece *out) {
    return read_chunk(reader, out, true);
}

void cairn_recording_jump(cairn_recording_reader *reader, size_t offset) {
    CAIRN_ASSERT(offset % ALIGNMENT == 0);
    CAIRN_ASSERT(offset >= CAIRN_RECORDING_HEAD_SIZE && offset <= reader->size);
    reader->at = offset;
    reader->chunk_count = offset == CAIRN_RECORDING_HEAD_SIZE ? 0 : 1;
    reader->last = CAIRN_CHUNK_NONE;
    reader->end = CAIRN_RECORDING_UNFINISHED;
}

// SPDX-License-Identifier: MIT
#include "recording/file.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/checksum.h"

static const char magic[8] = {'C', 'R', 'N', 'R', 'E', 'C', '\r', '\n'};

enum { ALIGNMENT = 8, CHECKED_HEAD_SIZE = 16 };

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

cairn_recording_frame cairn_recording_frame_of(
    cairn_chunk_kind kind, const uint8_t *payload, size_t size) {
    CAIRN_ASSERT(kind >= CAIRN_CHUNK_START && kind < CAIRN_CHUNK_KIND_COUNT);
    CAIRN_ASSERT(size > 0 && size <= CAIRN_RECORDING_PAYLOAD_SIZE_MAX);
    cairn_recording_frame frame = {.tail_size = padding_of(size)};
    cairn_writer writer = cairn_writer_of(frame.head, sizeof frame.head);
    cairn_write_u32(&writer, (uint32_t)size);
    cairn_write_u32(&writer, (uint32_t)kind);
    cairn_write_u64(&writer, cairn_checksum(payload, size));
    cairn_write_u64(&writer, cairn_checksum(frame.head, CHECKED_HEAD_SIZE));
    CAIRN_ASSERT(writer.ok && writer.at == sizeof frame.head);
    return frame;
}

const char *cairn_recording_end_text(cairn_recording_end end) {
    static const char *const texts[CAIRN_RECORDING_END_COUNT] = {
        [CAIRN_RECORDING_GOES_ON] = "goes on",
        [CAIRN_RECORDING_CLEAN] = "ends in order",
        [CAIRN_RECORDING_CUT] = "is cut off",
        [CAIRN_RECORDING_FOREIGN] = "is no recording",
        [CAIRN_RECORDING_VERSION_MISMATCH] = "has another format version",
        [CAIRN_RECORDING_DAMAGED_HEAD] = "a chunk's head is damaged",
        [CAIRN_RECORDING_DAMAGED_PAYLOAD] = "a chunk's payload is damaged",
        [CAIRN_RECORDING_DAMAGED_PADDING] = "a chunk's padding is damaged",
        [CAIRN_RECORDING_CHUNK_KIND] = "a chunk is of the wrong kind",
        [CAIRN_RECORDING_CHUNK_SIZE] = "a chunk's size is out of range",
        [CAIRN_RECORDING_TRAILING] = "bytes follow the end chunk",
    };
    if ((unsigned)end >= CAIRN_RECORDING_END_COUNT) {
        return "unknown end";
    }
    return texts[end];
}

static cairn_recording_end check_file_head(const uint8_t *bytes, size_t size) {
    uint8_t head[CAIRN_RECORDING_HEAD_SIZE];
    cairn_recording_head(head);
    const size_t magic_size = size < sizeof magic ? size : sizeof magic;
    if (magic_size > 0 && memcmp(bytes, head, magic_size) != 0) {
        return CAIRN_RECORDING_FOREIGN;
    }
    const size_t head_size = size < sizeof head ? size : sizeof head;
    if (head_size > 0 && memcmp(bytes, head, head_size) != 0) {
        return CAIRN_RECORDING_VERSION_MISMATCH;
    }
    return size < sizeof head ? CAIRN_RECORDING_CUT : CAIRN_RECORDING_GOES_ON;
}

cairn_recording_reader cairn_recording_reader_of(const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT((uintptr_t)bytes % ALIGNMENT == 0);
    const cairn_recording_end end = check_file_head(bytes, size);
    return (cairn_recording_reader){.bytes = bytes,
        .size = size,
        .at = end == CAIRN_RECORDING_GOES_ON ? CAIRN_RECORDING_HEAD_SIZE : 0,
        .end = end};
}

typedef struct chunk_head {
    uint32_t size;
    uint32_t kind;
    uint64_t payload_checksum;
    uint64_t head_checksum;
} chunk_head;

static bool kind_belongs(const cairn_recording_reader *reader, uint32_t kind) {
    const bool first = reader->chunk_count == 0;
    return kind < CAIRN_CHUNK_KIND_COUNT && (kind == CAIRN_CHUNK_START) == first &&
           kind != CAIRN_CHUNK_NONE;
}

static cairn_recording_end read_chunk_head(cairn_recording_reader *reader, chunk_head *head) {
    const uint8_t *bytes = reader->bytes + reader->at;
    const size_t left = reader->size - reader->at;
    if (reader->last == CAIRN_CHUNK_END) {
        return left == 0 ? CAIRN_RECORDING_CLEAN : CAIRN_RECORDING_TRAILING;
    }
    cairn_reader fields = cairn_reader_of(bytes, left);
    head->size = cairn_read_u32(&fields);
    head->kind = cairn_read_u32(&fields);
    head->payload_checksum = cairn_read_u64(&fields);
    head->head_checksum = cairn_read_u64(&fields);
    if (!fields.ok) {
        return CAIRN_RECORDING_CUT;
    }
    if (head->head_checksum != cairn_checksum(bytes, CHECKED_HEAD_SIZE)) {
        return CAIRN_RECORDING_DAMAGED_HEAD;
    }
    if (!kind_belongs(reader, head->kind)) {
        return CAIRN_RECORDING_CHUNK_KIND;
    }
    if (head->size == 0 || head->size > CAIRN_RECORDING_PAYLOAD_SIZE_MAX) {
        return CAIRN_RECORDING_CHUNK_SIZE;
    }
    return CAIRN_RECORDING_GOES_ON;
}

static cairn_recording_end read_payload(
    const cairn_recording_reader *reader, const chunk_head *head) {
    const size_t left = reader->size - reader->at - CAIRN_RECORDING_CHUNK_HEAD_SIZE;
    const uint8_t *payload = reader->bytes + reader->at + CAIRN_RECORDING_CHUNK_HEAD_SIZE;
    const size_t padding = padding_of(head->size);
    if (left < head->size + padding) {
        return CAIRN_RECORDING_CUT;
    }
    if (head->payload_checksum != cairn_checksum(payload, head->size)) {
        return CAIRN_RECORDING_DAMAGED_PAYLOAD;
    }
    for (size_t i = 0; i < padding; ++i) {
        if (payload[head->size + i] != 0) {
            return CAIRN_RECORDING_DAMAGED_PADDING;
        }
    }
    return CAIRN_RECORDING_GOES_ON;
}

bool cairn_recording_next(cairn_recording_reader *reader, cairn_recording_piece *out) {
    *out = (cairn_recording_piece){.kind = CAIRN_CHUNK_NONE};
    chunk_head head = {0};
    if (reader->end == CAIRN_RECORDING_GOES_ON) {
        reader->end = read_chunk_head(reader, &head);
    }
    if (reader->end == CAIRN_RECORDING_GOES_ON) {
        reader->end = read_payload(reader, &head);
    }
    if (reader->end != CAIRN_RECORDING_GOES_ON) {
        return false;
    }
    *out = (cairn_recording_piece){.kind = (cairn_chunk_kind)head.kind,
        .payload = reader->bytes + reader->at + CAIRN_RECORDING_CHUNK_HEAD_SIZE,
        .size = head.size,
        .offset = reader->at};
    reader->at += CAIRN_RECORDING_CHUNK_HEAD_SIZE + head.size + padding_of(head.size);
    reader->chunk_count += 1;
    reader->last = out->kind;
    return true;
}

// SPDX-License-Identifier: MIT
#include "server/recording_file.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/checksum.h"

static const char magic[8] = {'c', 'a', 'i', 'r', 'n', 'r', 'e', 'c'};

static const char *const texts[CAIRN_RECORDING_STEP_COUNT] = {
    [CAIRN_RECORDING_CHUNK] = "a chunk",
    [CAIRN_RECORDING_FINISHED] = "ends behind a whole chunk",
    [CAIRN_RECORDING_CUT] = "is cut off inside a chunk",
    [CAIRN_RECORDING_DAMAGED] = "is damaged",
    [CAIRN_RECORDING_NOT_ONE] = "is not a recording",
    [CAIRN_RECORDING_OTHER_VERSION] = "is a recording of another version of the format",
};

const char *cairn_recording_step_text(cairn_recording_step step) {
    return (unsigned)step < CAIRN_RECORDING_STEP_COUNT ? texts[step] : "unknown";
}

// Kind and size stand outside the payload; as the seed they are under the checksum too.
static uint64_t payload_checksum(uint32_t kind, const uint8_t *payload, size_t size) {
    return cairn_checksum(payload, size, (uint64_t)kind << 32 | (uint32_t)size);
}

static size_t padding_of(size_t size) {
    return (8 - size % 8) % 8;
}

static void put(cairn_recording_writer *writer, const uint8_t *bytes, size_t size) {
    if (!writer->ok || size == 0) {
        return;
    }
    writer->ok = writer->sink(writer->user, bytes, size);
    writer->size += writer->ok ? size : 0;
}

bool cairn_recording_begin(cairn_recording_writer *writer, cairn_recording_sink *sink, void *user) {
    *writer = (cairn_recording_writer){.sink = sink, .user = user, .ok = true};
    uint8_t head[CAIRN_RECORDING_HEAD_SIZE];
    cairn_writer out = cairn_writer_of(head, sizeof head);
    cairn_write_bytes(&out, magic, sizeof magic);
    cairn_write_u32(&out, CAIRN_RECORDING_VERSION);
    cairn_write_u32(&out, 0);
    put(writer, head, sizeof head);
    return writer->ok;
}

bool cairn_recording_append(
    cairn_recording_writer *writer, uint32_t kind, const uint8_t *payload, size_t size) {
    CAIRN_ASSERT(size > 0 && size <= UINT32_MAX - 7);
    static const uint8_t zeros[8] = {0};
    uint8_t frame[CAIRN_RECORDING_FRAME_SIZE];
    cairn_writer out = cairn_writer_of(frame, sizeof frame);
    cairn_write_u32(&out, (uint32_t)size);
    cairn_write_u32(&out, kind);
    cairn_write_u64(&out, payload_checksum(kind, payload, size));
    put(writer, frame, sizeof frame);
    put(writer, payload, size);
    put(writer, zeros, padding_of(size));
    return writer->ok;
}

cairn_recording_reader cairn_recording_reader_of(const uint8_t *bytes, size_t size) {
    return (cairn_recording_reader){.bytes = bytes, .size = size, .at = 0};
}

static cairn_recording_step read_head(cairn_recording_reader *reader) {
    const size_t known = reader->size < sizeof magic ? reader->size : sizeof magic;
    if (known == 0 || memcmp(reader->bytes, magic, known) != 0) {
        return CAIRN_RECORDING_NOT_ONE;
    }
    if (reader->size < CAIRN_RECORDING_HEAD_SIZE) {
        return CAIRN_RECORDING_CUT;
    }
    cairn_reader in = cairn_reader_of(reader->bytes + sizeof magic, 8);
    const uint32_t version = cairn_read_u32(&in);
    if (version != CAIRN_RECORDING_VERSION) {
        return CAIRN_RECORDING_OTHER_VERSION;
    }
    if (cairn_read_u32(&in) != 0) {
        return CAIRN_RECORDING_DAMAGED;
    }
    reader->at = CAIRN_RECORDING_HEAD_SIZE;
    return CAIRN_RECORDING_CHUNK;
}

static bool zeros_only(const uint8_t *bytes, size_t size) {
    uint8_t any = 0;
    for (size_t i = 0; i < size; ++i) {
        any |= bytes[i];
    }
    return any == 0;
}

static cairn_recording_step read_chunk(cairn_recording_reader *reader, cairn_recording_frame *out) {
    cairn_reader in = cairn_reader_of(reader->bytes + reader->at, reader->size - reader->at);
    const uint32_t size = cairn_read_u32(&in);
    const uint32_t kind = cairn_read_u32(&in);
    const uint64_t checksum = cairn_read_u64(&in);
    const uint8_t *payload = cairn_read_view(&in, size);
    const uint8_t *padding = cairn_read_view(&in, padding_of(size));
    if (!in.ok) {
        return CAIRN_RECORDING_CUT;
    }
    if (size == 0 || !zeros_only(padding, padding_of(size)) ||
        payload_checksum(kind, payload, size) != checksum) {
        return CAIRN_RECORDING_DAMAGED;
    }
    *out = (cairn_recording_frame){
        .kind = kind, .payload = payload, .size = size, .offset = reader->at};
    reader->at += in.at;
    return CAIRN_RECORDING_CHUNK;
}

cairn_recording_step cairn_recording_next(
    cairn_recording_reader *reader, cairn_recording_frame *out) {
    *out = (cairn_recording_frame){0};
    if (reader->at == 0) {
        const cairn_recording_step head = read_head(reader);
        if (head != CAIRN_RECORDING_CHUNK) {
            return head;
        }
    }
    if (reader->at == reader->size) {
        return CAIRN_RECORDING_FINISHED;
    }
    return read_chunk(reader, out);
}

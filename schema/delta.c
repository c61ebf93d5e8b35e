// SPDX-License-Identifier: MIT
#include "schema/delta.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "schema/message_check.h"

// The format is in docs/PROTOCOL.md, "Delta payload". A payload is a list of records; each first
// copies `kept` bodies of the baseline unchanged, then does one thing.
enum {
    RECORD_REMOVED = 0, // the next body of the baseline was removed
    RECORD_ADDED = 1,   // a new body: all its words, unchanged
    RECORD_CHANGED = 2, // the next body of the baseline, with some words changed
    RECORD_KINDS = 3,
    WORDS = 16, // the mask of changed words has two bytes
};

_Static_assert(sizeof(cairn_snapshot_body) == WORDS * sizeof(uint32_t), "a body is its words");

typedef struct body_words {
    uint32_t words[WORDS];
} body_words;

static body_words words_of(const cairn_snapshot_body *body) {
    CAIRN_ASSERT(body != NULL);
    body_words result;
    memcpy(&result, body, sizeof result);
    return result;
}

// LEB128: seven bits a byte, low ones first.
static void write_count(cairn_writer *writer, uint32_t value) {
    for (; value >= 0x80; value >>= 7) {
        cairn_write_u8(writer, (uint8_t)(value | 0x80));
    }
    cairn_write_u8(writer, (uint8_t)value);
}

static uint32_t read_count(cairn_reader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        const uint8_t byte = cairn_read_u8(reader);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            reader->ok = reader->ok && value <= UINT32_MAX;
            return reader->ok ? (uint32_t)value : 0;
        }
    }
    reader->ok = false;
    return 0;
}

// Differences of either sign near zero become small numbers: 0, -1, 1, -2, ...
static uint32_t zigzag(uint32_t difference) {
    return (difference << 1) ^ (0u - (difference >> 31));
}

static uint32_t unzigzag(uint32_t value) {
    return (value >> 1) ^ (0u - (value & 1));
}

static unsigned bytes_needed(uint32_t value) {
    return 1u + (value > 0xff) + (value > 0xffff) + (value > 0xffffff);
}

static void write_low_bytes(cairn_writer *writer, uint32_t value, unsigned size) {
    CAIRN_ASSERT(size <= 4);
    for (unsigned i = 0; i < size; ++i) {
        cairn_write_u8(writer, (uint8_t)(value >> (8 * i)));
    }
}

static uint32_t read_low_bytes(cairn_reader *reader, unsigned size) {
    CAIRN_ASSERT(size <= 4);
    uint32_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
        value |= (uint32_t)cairn_read_u8(reader) << (8 * i);
    }
    return value;
}

typedef struct record_writer {
    cairn_writer bytes;
    uint32_t kept; // bodies carried over since the last record
} record_writer;

static void begin_record(record_writer *out, unsigned kind) {
    CAIRN_ASSERT(kind < RECORD_KINDS);
    write_count(&out->bytes, out->kept);
    cairn_write_u8(&out->bytes, (uint8_t)kind);
    out->kept = 0;
}

static void write_added(record_writer *out, const cairn_snapshot_body *body) {
    const body_words words = words_of(body);
    begin_record(out, RECORD_ADDED);
    for (unsigned i = 0; i < WORDS; ++i) {
        cairn_write_u32(&out->bytes, words.words[i]);
    }
}

// The mask of changed words, two bits for the size of each, then each as few bytes as it needs.
static void write_changed(record_writer *out, const body_words *before, const body_words *after) {
    uint32_t mask = 0;
    uint32_t sizes = 0;
    uint32_t changes[WORDS];
    unsigned count = 0;
    for (unsigned i = 0; i < WORDS; ++i) {
        if (before->words[i] != after->words[i]) {
            const uint32_t change = zigzag(after->words[i] - before->words[i]);
            mask |= 1u << i;
            sizes |= (bytes_needed(change) - 1) << (2 * count);
            changes[count++] = change;
        }
    }
    CAIRN_ASSERT(count >= 1);
    begin_record(out, RECORD_CHANGED);
    cairn_write_u16(&out->bytes, (uint16_t)mask);
    write_low_bytes(&out->bytes, sizes, (count + 3) / 4);
    for (unsigned i = 0; i < count; ++i) {
        write_low_bytes(&out->bytes, changes[i], bytes_needed(changes[i]));
    }
}

static void write_same_index(
    record_writer *out, const cairn_snapshot_body *before, const cairn_snapshot_body *after) {
    CAIRN_ASSERT(cairn_id_index(before->id) == cairn_id_index(after->id));
    const body_words old_words = words_of(before);
    const body_words new_words = words_of(after);
    if (memcmp(&old_words, &new_words, sizeof old_words) == 0) {
        ++out->kept;
    } else {
        write_changed(out, &old_words, &new_words);
    }
}

size_t cairn_delta_encode(const cairn_snapshot_body *baseline, uint32_t baseline_count,
    const cairn_snapshot_body *current, uint32_t current_count, uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(current != NULL || current_count == 0);
    CAIRN_ASSERT(baseline != NULL || baseline_count == 0);
    record_writer out = {.bytes = cairn_writer_of(bytes, size)};
    uint32_t b = 0;
    uint32_t c = 0;
    while (b < baseline_count || c < current_count) {
        const uint32_t old_index =
            b < baseline_count ? cairn_id_index(baseline[b].id) : CAIRN_INDEX_NONE;
        const uint32_t new_index =
            c < current_count ? cairn_id_index(current[c].id) : CAIRN_INDEX_NONE;
        if (old_index < new_index) {
            begin_record(&out, RECORD_REMOVED);
            ++b;
        } else if (old_index > new_index) {
            write_added(&out, &current[c]);
            ++c;
        } else {
            write_same_index(&out, &baseline[b], &current[c]);
            ++b;
            ++c;
        }
    }
    CAIRN_ASSERT(b == baseline_count && c == current_count);
    // The end: the rest of the baseline is carried over, and a payload is never empty.
    write_count(&out.bytes, out.kept);
    return out.bytes.ok ? out.bytes.at : 0;
}

typedef struct merge {
    cairn_reader bytes;
    const cairn_snapshot_body *baseline;
    uint32_t baseline_count;
    uint32_t at; // next body of the baseline
    cairn_snapshot_body *out;
    uint32_t capacity;
    uint32_t count;
    cairn_status status;
    const char *where; // what was refused first
} merge;

static void refuse(merge *m, cairn_status status, const char *where) {
    CAIRN_ASSERT(status != CAIRN_OK && where != NULL);
    if (m->status == CAIRN_OK) {
        m->status = status;
        m->where = where;
    }
}

static void append_body(merge *m, const body_words *words) {
    CAIRN_ASSERT(m->count <= m->capacity);
    if (m->count == m->capacity) {
        refuse(m, CAIRN_CAPACITY, "more bodies than the receiver has room for");
        return;
    }
    memcpy(&m->out[m->count++], words, sizeof *words);
}

static const cairn_snapshot_body *next_of_baseline(merge *m) {
    CAIRN_ASSERT(m->at <= m->baseline_count);
    if (m->at == m->baseline_count) {
        refuse(m, CAIRN_MALFORMED, "a record refers to a body beyond the end of the baseline");
        return NULL;
    }
    return &m->baseline[m->at++];
}

static void keep_bodies(merge *m, uint32_t count) {
    CAIRN_ASSERT(m->at <= m->baseline_count && m->count <= m->capacity);
    if (count > m->baseline_count - m->at) {
        refuse(m, CAIRN_MALFORMED, "a record keeps more bodies than the baseline has");
    } else if (count > m->capacity - m->count) {
        refuse(m, CAIRN_CAPACITY, "more bodies than the receiver has room for");
    } else if (count > 0) {
        memcpy(m->out + m->count, m->baseline + m->at, count * sizeof *m->out);
        m->at += count;
        m->count += count;
    }
}

static void read_changed(merge *m) {
    const cairn_snapshot_body *before = next_of_baseline(m);
    const uint32_t mask = cairn_read_u16(&m->bytes);
    if (before == NULL || mask == 0) {
        refuse(m, CAIRN_MALFORMED, "the mask of changed words is empty");
        return;
    }
    unsigned count = 0;
    for (unsigned i = 0; i < WORDS; ++i) {
        count += mask >> i & 1;
    }
    CAIRN_ASSERT(count >= 1 && count <= WORDS);
    uint32_t sizes = read_low_bytes(&m->bytes, (count + 3) / 4);
    body_words words = words_of(before);
    for (unsigned i = 0; i < WORDS; ++i) {
        if (mask >> i & 1) {
            words.words[i] += unzigzag(read_low_bytes(&m->bytes, (sizes & 3) + 1));
            sizes >>= 2;
        }
    }
    append_body(m, &words);
}

static void read_record(merge *m) {
    body_words added;
    const uint8_t kind = cairn_read_u8(&m->bytes);
    switch (kind) {
    case RECORD_REMOVED:
        next_of_baseline(m);
        break;
    case RECORD_ADDED:
        for (unsigned i = 0; i < WORDS; ++i) {
            added.words[i] = cairn_read_u32(&m->bytes);
        }
        append_body(m, &added);
        break;
    case RECORD_CHANGED:
        read_changed(m);
        break;
    default:
        refuse(m, CAIRN_MALFORMED, "unknown kind of record");
    }
}

static void read_records(merge *m) {
    keep_bodies(m, read_count(&m->bytes));
    while (m->status == CAIRN_OK && cairn_reader_left(&m->bytes) > 0) {
        read_record(m);
        keep_bodies(m, read_count(&m->bytes));
        if (!m->bytes.ok) {
            refuse(m, CAIRN_MALFORMED, "a record is cut short");
        }
    }
    if (!m->bytes.ok) {
        refuse(m, CAIRN_MALFORMED, "the payload has no complete record");
    }
    CAIRN_ASSERT(m->at <= m->baseline_count);
    if (m->at != m->baseline_count) {
        refuse(m, CAIRN_MALFORMED, "the records end before the baseline");
    }
}

cairn_status cairn_delta_apply(const cairn_snapshot_body *baseline, uint32_t baseline_count,
    const uint8_t *payload, size_t payload_size, cairn_snapshot_body *out, uint32_t capacity,
    uint32_t *count, const char **where) {
    CAIRN_ASSERT(out != NULL && count != NULL);
    merge m = {.bytes = cairn_reader_of(payload, payload_size),
        .baseline = baseline,
        .baseline_count = baseline_count,
        .out = out,
        .capacity = capacity};
    read_records(&m);
    CAIRN_ASSERT(m.count <= capacity);
    if (m.status == CAIRN_OK) {
        const cairn_decode_refusal refusal = cairn_bodies_check(out, m.count);
        if (refusal != CAIRN_DECODE_OK) {
            refuse(&m, CAIRN_MALFORMED, cairn_decode_refusal_text(refusal));
        }
    }
    *count = m.status == CAIRN_OK ? m.count : 0;
    if (where != NULL) {
        *where = m.status == CAIRN_OK ? "" : m.where;
    }
    return m.status;
}

size_t cairn_words_encode(
    const uint32_t *before, const uint32_t *after, uint32_t count, uint8_t *bytes, size_t size) {
    cairn_writer writer = cairn_writer_of(bytes, size);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (before[i] == after[i]) {
            kept += 1;
            continue;
        }
        write_count(&writer, kept);
        write_count(&writer, zigzag(after[i] - before[i]));
        kept = 0;
    }
    CAIRN_ASSERT(writer.ok);
    return writer.at;
}

cairn_status cairn_words_apply(
    const uint32_t *before, uint32_t count, const uint8_t *bytes, size_t size, uint32_t *after) {
    cairn_reader reader = cairn_reader_of(bytes, size);
    uint32_t at = 0;
    memmove(after, before, count * sizeof *after);
    while (reader.ok && cairn_reader_left(&reader) > 0) {
        const uint32_t kept = read_count(&reader);
        const uint32_t change = read_count(&reader);
        if (!reader.ok || kept >= count - at || change == 0) {
            return CAIRN_MALFORMED;
        }
        at += kept;
        after[at++] += unzigzag(change);
    }
    return reader.ok ? CAIRN_OK : CAIRN_MALFORMED;
}

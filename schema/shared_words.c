// SPDX-License-Identifier: MIT
#include "schema/shared_words.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

size_t cairn_words_encode(
    const uint32_t *before, const uint32_t *after, uint32_t count, uint8_t *bytes, size_t size) {
    cairn_writer writer = cairn_writer_of(bytes, size);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (before[i] == after[i]) {
            kept += 1;
            continue;
        }
        cairn_write_count(&writer, kept);
        cairn_write_difference(&writer, (int32_t)(after[i] - before[i]));
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
        const uint64_t kept = cairn_read_count(&reader);
        const int64_t change = cairn_read_difference(&reader);
        if (!reader.ok || kept >= count - at || change == 0 || change != (int32_t)change) {
            return CAIRN_MALFORMED;
        }
        at += (uint32_t)kept;
        after[at++] += (uint32_t)change;
    }
    return reader.ok ? CAIRN_OK : CAIRN_MALFORMED;
}

// SPDX-License-Identifier: MIT
// Any bytes as a packed payload: unpacked to exactly the stated size, or refused.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "recording/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cairn_reader reader = cairn_reader_of(data, size);
    size_t raw_size = cairn_read_u32(&reader) % (1 << 20);
    if (!reader.ok) {
        return 0;
    }
    cairn_unpacker *unpacker = NULL;
    CAIRN_ASSERT(cairn_unpacker_create(&unpacker) == CAIRN_OK);
    uint8_t *out = malloc(raw_size > 0 ? raw_size : 1);
    CAIRN_ASSERT(out != NULL);
    (void)cairn_unpack(unpacker, data + 4, size - 4, out, raw_size);
    free(out);
    cairn_unpacker_destroy(unpacker);
    return 0;
}

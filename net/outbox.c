// SPDX-License-Identifier: MIT
#include "net/outbox.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"

cairn_status cairn_outbox_create(cairn_outbox *outbox, size_t capacity) {
    CAIRN_ASSERT(capacity > CAIRN_OUTBOX_RECORD_SIZE);
    *outbox = (cairn_outbox){.bytes = malloc(capacity), .capacity = capacity};
    return outbox->bytes != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_outbox_destroy(cairn_outbox *outbox) {
    free(outbox->bytes);
    *outbox = (cairn_outbox){0};
}

size_t cairn_outbox_room(const cairn_outbox *outbox) {
    CAIRN_ASSERT(outbox->used <= outbox->capacity);
    return outbox->capacity - outbox->used;
}

static void ring_write(cairn_outbox *outbox, const void *bytes, size_t size) {
    CAIRN_ASSERT(size <= cairn_outbox_room(outbox));
    const size_t at = (outbox->head + outbox->used) % outbox->capacity;
    const size_t first = size < outbox->capacity - at ? size : outbox->capacity - at;
    memcpy(outbox->bytes + at, bytes, first);
    memcpy(outbox->bytes, (const uint8_t *)bytes + first, size - first);
    outbox->used += size;
}

static void ring_read(cairn_outbox *outbox, void *bytes, size_t size) {
    CAIRN_ASSERT(size <= outbox->used);
    const size_t left = outbox->capacity - outbox->head;
    const size_t first = size < left ? size : left;
    memcpy(bytes, outbox->bytes + outbox->head, first);
    memcpy((uint8_t *)bytes + first, outbox->bytes, size - first);
    outbox->head = (outbox->head + size) % outbox->capacity;
    outbox->used -= size;
}

bool cairn_outbox_push(
    cairn_outbox *outbox, const cairn_address *to, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(size >= 1 && size <= CAIRN_DATAGRAM_SIZE_MAX);
    if (CAIRN_OUTBOX_RECORD_SIZE + size > cairn_outbox_room(outbox)) {
        return false;
    }
    const uint16_t length = (uint16_t)size;
    ring_write(outbox, to, sizeof *to);
    ring_write(outbox, &length, sizeof length);
    ring_write(outbox, bytes, size);
    return true;
}

size_t cairn_outbox_pop(cairn_outbox *outbox, cairn_address *to, uint8_t *bytes) {
    if (outbox->used == 0) {
        return 0;
    }
    CAIRN_ASSERT(outbox->used > CAIRN_OUTBOX_RECORD_SIZE);
    uint16_t length;
    ring_read(outbox, to, sizeof *to);
    ring_read(outbox, &length, sizeof length);
    CAIRN_ASSERT(length >= 1 && length <= CAIRN_DATAGRAM_SIZE_MAX);
    ring_read(outbox, bytes, length);
    return length;
}

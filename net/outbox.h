// SPDX-License-Identifier: MIT
#pragma once

// Datagrams that wait for the driver to take them, oldest first, in one ring of bytes. They are
// already encrypted: their contents do not depend on when they are sent.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>
#include <cairn/types.h>

typedef struct cairn_outbox {
    uint8_t *bytes;
    size_t capacity;
    size_t head; // of the oldest
    size_t used;
} cairn_outbox;

// Bytes that a datagram takes in addition to its own.
#define CAIRN_OUTBOX_RECORD_SIZE (sizeof(cairn_address) + sizeof(uint16_t))

// CAIRN_OUT_OF_MEMORY; it may still be destroyed.
cairn_status cairn_outbox_create(cairn_outbox *outbox, size_t capacity);
void cairn_outbox_destroy(cairn_outbox *outbox);

// Room that is left, for datagrams and their records.
size_t cairn_outbox_room(const cairn_outbox *outbox);
// Copies a datagram in. False if there is no room; nothing changes then.
bool cairn_outbox_push(
    cairn_outbox *outbox, const cairn_address *to, const uint8_t *bytes, size_t size);
// Copies the oldest datagram to `bytes` (room for CAIRN_DATAGRAM_SIZE_MAX) and removes it. Returns
// its size, or 0 if the outbox is empty.
size_t cairn_outbox_pop(cairn_outbox *outbox, cairn_address *to, uint8_t *bytes);

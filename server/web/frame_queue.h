// SPDX-License-Identifier: MIT
#pragma once

// Datagrams that wait until a WebSocket takes them, in memory of a fixed size. What does not fit is
// refused: the sender is told by the loss, as on a full path.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAIRN_FRAME_QUEUE_BYTES 32768

typedef struct cairn_frame_queue {
    size_t begin; // of the first frame
    size_t end;   // of the last
    uint8_t bytes[CAIRN_FRAME_QUEUE_BYTES];
} cairn_frame_queue;

void cairn_frame_queue_clear(cairn_frame_queue *queue);
// False: the queue is full.
bool cairn_frame_queue_add(cairn_frame_queue *queue, const uint8_t *bytes, size_t size);
// Removes the oldest frame. Returns its size, 0: none. *bytes is valid until the next call; there
// is room for CAIRN_HTTP_ROOM bytes before it.
size_t cairn_frame_queue_take(cairn_frame_queue *queue, uint8_t **bytes);

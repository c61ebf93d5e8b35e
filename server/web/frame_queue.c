// SPDX-License-Identifier: MIT
#include "server/web/frame_queue.h"

#include <string.h>

#include "base/assert.h"
#include "server/web/http.h"

// Before each frame, in bytes that its head may overwrite later.
typedef struct frame_head {
    uint8_t room[CAIRN_HTTP_ROOM - sizeof(uint32_t)];
    uint32_t size;
} frame_head;
_Static_assert(sizeof(frame_head) == CAIRN_HTTP_ROOM, "no padding");

void cairn_frame_queue_clear(cairn_frame_queue *queue) {
    queue->begin = 0;
    queue->end = 0;
}

bool cairn_frame_queue_add(cairn_frame_queue *queue, const uint8_t *bytes, size_t size) {
    const frame_head head = {.size = (uint32_t)size};
    const size_t needed = sizeof head + size;
    CAIRN_ASSERT(size > 0 && needed < sizeof queue->bytes);
    if (needed > sizeof queue->bytes - queue->end) {
        if (needed > sizeof queue->bytes - (queue->end - queue->begin)) {
            return false;
        }
        // Moves the frames that wait to the begin of the memory.
        memmove(queue->bytes, queue->bytes + queue->begin, queue->end - queue->begin);
        queue->end -= queue->begin;
        queue->begin = 0;
    }
    memcpy(queue->bytes + queue->end, &head, sizeof head);
    memcpy(queue->bytes + queue->end + sizeof head, bytes, size);
    queue->end += needed;
    return true;
}

size_t cairn_frame_queue_take(cairn_frame_queue *queue, uint8_t **bytes) {
    frame_head head;
    if (queue->begin == queue->end) {
        return 0;
    }
    memcpy(&head, queue->bytes + queue->begin, sizeof head);
    *bytes = queue->bytes + queue->begin + sizeof head;
    queue->begin += sizeof head + head.size;
    CAIRN_ASSERT(queue->begin <= queue->end);
    if (queue->begin == queue->end) {
        cairn_frame_queue_clear(queue);
    }
    return head.size;
}

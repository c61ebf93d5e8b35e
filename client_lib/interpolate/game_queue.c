// SPDX-License-Identifier: MIT
#include "client_lib/interpolate/game_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

cairn_status cairn_game_queue_create(cairn_game_queue *queue) {
    *queue = (cairn_game_queue){.ring = calloc(CAIRN_GAME_QUEUE_CAPACITY, sizeof *queue->ring)};
    return queue->ring != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_game_queue_destroy(cairn_game_queue *queue) {
    free(queue->ring);
    *queue = (cairn_game_queue){0};
}

void cairn_game_queue_clear(cairn_game_queue *queue) {
    queue->first = 0;
    queue->count = 0;
}

void cairn_game_queue_add(cairn_game_queue *queue, cairn_client_game_kind kind, uint64_t tick,
    const uint8_t *bytes, uint32_t size) {
    CAIRN_ASSERT(size > 0 && size <= CAIRN_GAME_MESSAGE_SIZE_MAX);
    if (queue->count == CAIRN_GAME_QUEUE_CAPACITY) {
        queue->first = (queue->first + 1) % CAIRN_GAME_QUEUE_CAPACITY;
        queue->count -= 1;
        queue->missed += 1;
    }
    const uint32_t at = (queue->first + queue->count) % CAIRN_GAME_QUEUE_CAPACITY;
    cairn_client_game_message *message = &queue->ring[at];
    message->tick = tick;
    message->kind = kind;
    message->size = size;
    memcpy(message->bytes, bytes, size);
    queue->count += 1;
    queue->received += 1;
}

bool cairn_game_queue_take(cairn_game_queue *queue, cairn_client_game_message *out) {
    if (queue->count == 0) {
        return false;
    }
    *out = queue->ring[queue->first];
    queue->first = (queue->first + 1) % CAIRN_GAME_QUEUE_CAPACITY;
    queue->count -= 1;
    return true;
}

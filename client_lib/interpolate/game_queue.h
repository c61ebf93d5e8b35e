// SPDX-License-Identifier: MIT
#pragma once

// What the rules of the game sent to this player, until the host takes it.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/client.h>

#define CAIRN_GAME_QUEUE_CAPACITY 256

typedef struct cairn_game_queue {
    cairn_client_game_message *ring; // owned
    uint32_t first;
    uint32_t count;
    uint64_t received;
    uint64_t missed; // dropped by the server, or here because the host did not take them
} cairn_game_queue;

cairn_status cairn_game_queue_create(cairn_game_queue *queue); // CAIRN_OUT_OF_MEMORY
void cairn_game_queue_destroy(cairn_game_queue *queue);
// Forgets what waits; the counts stay.
void cairn_game_queue_clear(cairn_game_queue *queue);
// Adds a message; a full queue drops the oldest. `size`: 1 .. CAIRN_GAME_MESSAGE_SIZE_MAX.
void cairn_game_queue_add(cairn_game_queue *queue, cairn_client_game_kind kind, uint64_t tick,
    const uint8_t *bytes, uint32_t size);
bool cairn_game_queue_take(cairn_game_queue *queue, cairn_client_game_message *out);

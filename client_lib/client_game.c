// SPDX-License-Identifier: MIT
// Messages between the player and the rules of the game.
#include <cairn/client.h>

#include <stdio.h>

#include "base/assert.h"
#include "client_lib/client_parts.h"
#include "schema/game_items.h"

cairn_status cairn_client_send_game_message(
    cairn_client *client, const void *bytes, uint32_t size) {
    CAIRN_ASSERT(client != NULL && (bytes != NULL || size == 0));
    if (size == 0 || size > CAIRN_GAME_MESSAGE_SIZE_MAX) {
        return CAIRN_INVALID_ARGUMENT;
    }
    if (!client->session.welcomed || !cairn_connection_is_open(&client->connection)) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_PLAYER_MESSAGE,
        .player_message = {.bytes = bytes, .size = size},
    };
    if (cairn_connection_send_reliable(&client->connection, &message) == 0) {
        return CAIRN_CAPACITY;
    }
    client->game.sent += 1;
    return CAIRN_OK;
}

bool cairn_client_next_game_message(cairn_client *client, cairn_client_game_message *out) {
    CAIRN_ASSERT(client != NULL && out != NULL);
    return cairn_game_queue_take(&client->game.queue, out);
}

void cairn_client_take_game_items(cairn_client *client, cairn_client_game_kind kind, uint64_t tick,
    const uint8_t *items, uint32_t size) {
    cairn_game_item item;
    for (uint32_t at = 0; cairn_game_items_next(items, size, tick, &at, &item);) {
        cairn_game_queue_add(&client->game.queue, kind, item.tick, item.bytes, item.size);
    }
}

void cairn_client_take_game_refusal(cairn_client *client, uint64_t count, const char *text) {
    client->game.refused += count;
    snprintf(client->game.refusal_text, sizeof client->game.refusal_text, "%s", text);
}

cairn_client_game_statistics cairn_client_game_statistics_read(const cairn_client *client) {
    CAIRN_ASSERT(client != NULL);
    const cairn_client_game *game = &client->game;
    return (cairn_client_game_statistics){.sent = game->sent,
        .refused = game->refused,
        .refusal_text = game->refusal_text,
        .received = game->queue.received,
        .missed = game->queue.missed};
}

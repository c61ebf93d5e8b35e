// SPDX-License-Identifier: MIT
// Messages between the player and the rules of the game.
#include <cairn/client.h>

#include <stdio.h>
#include <string.h>

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

// The newest snapshot that the picture has reached, else the oldest.
static const cairn_snapshot *shown_snapshot(const cairn_client_view *view) {
    const cairn_snapshots *snapshots = &view->snapshots;
    uint32_t i = 0;
    while (i + 1 < snapshots->count && (double)snapshots->list[i + 1].tick <= view->shown.tick) {
        i++;
    }
    return snapshots->count == 0 ? NULL : &snapshots->list[i];
}

uint32_t cairn_client_shared_read(
    const cairn_client *client, void *out, uint32_t capacity, uint64_t *tick) {
    CAIRN_ASSERT(client != NULL && (out != NULL || capacity == 0));
    const void *shared = NULL;
    uint32_t size = 0;
    uint64_t at = 0;
    const cairn_world *world = cairn_client_world(client);
    const cairn_snapshot *snapshot =
        cairn_client_simulates(client) ? NULL : shown_snapshot(&client->view);
    if (world != NULL && cairn_world_settings(world)->rules != NULL) {
        const cairn_rules *rules = cairn_world_settings(world)->rules;
        uint32_t state_size = 0;
        const uint8_t *state = cairn_world_rules_state(world, &state_size);
        size = rules->shared_size;
        shared = size == 0 ? NULL : state + rules->shared_offset;
        at = cairn_world_tick(world);
    } else if (snapshot != NULL) {
        size = snapshot->shared_words * (uint32_t)sizeof *snapshot->shared;
        shared = snapshot->shared;
        at = snapshot->tick;
    }
    const uint32_t copied = size < capacity ? size : capacity;
    if (copied > 0) {
        memcpy(out, shared, copied);
    }
    if (tick != NULL) {
        *tick = size == 0 ? 0 : at;
    }
    return size;
}

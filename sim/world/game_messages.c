// SPDX-License-Identifier: MIT
#include "sim/world/game_messages.h"

#include <string.h>

#include "base/assert.h"

void cairn_game_messages_begin(cairn_world *world) {
    CAIRN_ASSERT(!world->game_messages.stepping);
    world->game_messages.count = 0;
    world->game_messages.stepping = world->def.rules != NULL;
}

void cairn_game_messages_end(cairn_world *world) {
    world->game_messages.stepping = false;
}

static cairn_status send(
    cairn_world *world, uint32_t kind, uint32_t slot, const void *bytes, uint32_t size) {
    cairn_game_messages *sent = &world->game_messages;
    if (!sent->stepping) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const bool valid = size > 0 && size <= CAIRN_GAME_MESSAGE_SIZE_MAX &&
                       (slot < CAIRN_SLOTS_MAX || slot == CAIRN_SLOT_ALL);
    if (!valid || sent->count == CAIRN_GAME_MESSAGES_PER_STEP_MAX) {
        sent->refused += 1;
        return valid ? CAIRN_CAPACITY : CAIRN_INVALID_ARGUMENT;
    }
    cairn_game_message *message = &sent->list[sent->count++];
    message->kind = kind;
    message->slot = slot;
    message->size = size;
    memcpy(message->bytes, bytes, size);
    return CAIRN_OK;
}

cairn_status cairn_world_send_message(
    cairn_world *world, uint32_t slot, const void *bytes, uint32_t size) {
    return send(world, CAIRN_GAME_MESSAGE, slot, bytes, size);
}

cairn_status cairn_world_send_event(
    cairn_world *world, uint32_t slot, const void *bytes, uint32_t size) {
    return send(world, CAIRN_GAME_EVENT, slot, bytes, size);
}

const cairn_game_message *cairn_world_game_messages(const cairn_world *world, uint32_t *count) {
    *count = world->game_messages.count;
    return *count == 0 ? NULL : world->game_messages.list;
}

uint64_t cairn_world_game_messages_refused(const cairn_world *world) {
    return world->game_messages.refused;
}

// SPDX-License-Identifier: MIT
#include "schema/game_items.h"

#include <string.h>

#include "base/assert.h"

bool cairn_game_items_check(const uint8_t *items, uint32_t size, uint64_t tick) {
    uint64_t last = 0;
    for (uint32_t at = 0; at < size;) {
        if (size - at < CAIRN_GAME_ITEM_HEAD_SIZE) {
            return false;
        }
        const uint32_t age = items[at] | (uint32_t)items[at + 1] << 8;
        const uint32_t item_size = items[at + 2] + 1u;
        at += CAIRN_GAME_ITEM_HEAD_SIZE;
        if (item_size > size - at || age > tick || tick - age < last) {
            return false;
        }
        last = tick - age;
        at += item_size;
    }
    return true;
}

bool cairn_game_items_next(
    const uint8_t *items, uint32_t size, uint64_t tick, uint32_t *at, cairn_game_item *out) {
    if (*at >= size) {
        return false;
    }
    CAIRN_ASSERT(size - *at >= CAIRN_GAME_ITEM_HEAD_SIZE);
    const uint8_t *head = items + *at;
    *out = (cairn_game_item){.tick = tick - (head[0] | (uint32_t)head[1] << 8),
        .size = head[2] + 1u,
        .bytes = head + CAIRN_GAME_ITEM_HEAD_SIZE};
    *at += CAIRN_GAME_ITEM_HEAD_SIZE + out->size;
    CAIRN_ASSERT(*at <= size);
    return true;
}

bool cairn_game_items_add(
    uint8_t *items, uint32_t capacity, uint32_t *size, uint64_t tick, const cairn_game_item *item) {
    CAIRN_ASSERT(item->size > 0 && item->size <= CAIRN_GAME_MESSAGE_SIZE_MAX && item->tick <= tick);
    const uint64_t age = tick - item->tick;
    if (age > CAIRN_GAME_ITEM_AGE_MAX ||
        capacity - *size < CAIRN_GAME_ITEM_HEAD_SIZE + item->size) {
        return false;
    }
    uint8_t *head = items + *size;
    head[0] = (uint8_t)age;
    head[1] = (uint8_t)(age >> 8);
    head[2] = (uint8_t)(item->size - 1);
    memcpy(head + CAIRN_GAME_ITEM_HEAD_SIZE, item->bytes, item->size);
    *size += CAIRN_GAME_ITEM_HEAD_SIZE + item->size;
    return true;
}

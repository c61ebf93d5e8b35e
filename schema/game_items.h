// SPDX-License-Identifier: MIT
#pragma once

// Messages or events of a game's rules, packed one after the other: how many ticks before the tick
// of the message that carries them (16 bits), size - 1 (8 bits), the bytes.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/types.h>

#define CAIRN_GAME_ITEM_HEAD_SIZE 3
#define CAIRN_GAME_ITEM_AGE_MAX 65535

typedef struct cairn_game_item {
    uint64_t tick;
    uint32_t size; // 1 .. CAIRN_GAME_MESSAGE_SIZE_MAX
    const uint8_t *bytes;
} cairn_game_item;

// Whole items with ticks that do not decrease and are neither after `tick` nor before 0.
bool cairn_game_items_check(const uint8_t *items, uint32_t size, uint64_t tick);

// The item at *at of checked items, which *at is moved past. False: no more.
bool cairn_game_items_next(
    const uint8_t *items, uint32_t size, uint64_t tick, uint32_t *at, cairn_game_item *out);

// Appends an item at *size, which grows. False: it does not fit `capacity`, or is too old.
bool cairn_game_items_add(
    uint8_t *items, uint32_t capacity, uint32_t *size, uint64_t tick, const cairn_game_item *item);

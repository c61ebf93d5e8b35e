// SPDX-License-Identifier: MIT
#pragma once

// Id tables: one word per slot, lowest free slot first, so that every machine hands out the same
// ids. Ids are described in <cairn/types.h>.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/types.h>

// A table entry: the generation in the low 12 bits, and this bit when the slot is taken.
#define CAIRN_SLOT_USED 0x80000000u
#define CAIRN_SLOT_GENERATION_MASK 0xfffu

// The id that slot `index` has, or had when it was last in use.
uint32_t cairn_slot_id(const uint32_t *ids, uint32_t index);
// The slot of a live id, CAIRN_INDEX_NONE for a null or stale one.
uint32_t cairn_slot_find(const uint32_t *ids, uint32_t slot_count, uint32_t id);
// Takes the lowest free slot; *slot_count grows when it is a fresh one. CAIRN_INDEX_NONE when all
// `capacity` are taken. `hint`: no slot below it is free.
uint32_t cairn_slot_take(uint32_t *ids, uint32_t *slot_count, uint32_t capacity, uint32_t *hint);
// Whether so many slots could be taken.
bool cairn_slots_fit(
    const uint32_t *ids, uint32_t slot_count, uint32_t capacity, uint32_t hint, uint32_t wanted);
// Frees a taken slot; its next id has the next generation.
void cairn_slot_free(uint32_t *ids, uint32_t index, uint32_t *hint);
// Writes the ids of at most `capacity` used slots, lowest first; returns how many are used.
uint32_t cairn_slots_list(
    const uint32_t *ids, uint32_t slot_count, uint32_t *out, uint32_t capacity);

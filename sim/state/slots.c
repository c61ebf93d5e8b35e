// SPDX-License-Identifier: MIT
#include "sim/state/slots.h"

#include "base/assert.h"

uint32_t cairn_slot_id(const uint32_t *ids, uint32_t index) {
    CAIRN_ASSERT(index < (1u << CAIRN_ID_INDEX_BITS) - 1u);
    return (ids[index] & CAIRN_SLOT_GENERATION_MASK) << CAIRN_ID_INDEX_BITS | (index + 1u);
}

uint32_t cairn_slot_find(const uint32_t *ids, uint32_t slot_count, uint32_t id) {
    const uint32_t index = cairn_id_index(id);
    if (index >= slot_count) {
        return CAIRN_INDEX_NONE;
    }
    return ids[index] == (CAIRN_SLOT_USED | cairn_id_generation(id)) ? index : CAIRN_INDEX_NONE;
}

uint32_t cairn_slot_take(uint32_t *ids, uint32_t *slot_count, uint32_t capacity, uint32_t *hint) {
    uint32_t index = *hint;
    CAIRN_ASSERT(*hint <= *slot_count && *slot_count <= capacity);
    while (index < *slot_count && (ids[index] & CAIRN_SLOT_USED) != 0) {
        ++index;
    }
    *hint = index;
    if (index >= capacity) {
        return CAIRN_INDEX_NONE;
    }
    if (index == *slot_count) {
        ids[index] = 0;
        *slot_count += 1;
    }
    CAIRN_ASSERT(index < *slot_count && (ids[index] & CAIRN_SLOT_USED) == 0);
    ids[index] |= CAIRN_SLOT_USED;
    *hint = index + 1;
    return index;
}

bool cairn_slots_fit(
    const uint32_t *ids, uint32_t slot_count, uint32_t capacity, uint32_t hint, uint32_t wanted) {
    uint32_t room = capacity - slot_count;
    CAIRN_ASSERT(hint <= slot_count && slot_count <= capacity);
    for (uint32_t i = hint; i < slot_count && room < wanted; ++i) {
        room += (ids[i] & CAIRN_SLOT_USED) == 0 ? 1u : 0u;
    }
    return room >= wanted;
}

void cairn_slot_free(uint32_t *ids, uint32_t index, uint32_t *hint) {
    CAIRN_ASSERT((ids[index] & CAIRN_SLOT_USED) != 0);
    ids[index] = (ids[index] + 1u) & CAIRN_SLOT_GENERATION_MASK;
    if (index < *hint) {
        *hint = index;
    }
    CAIRN_ASSERT(*hint <= index && (ids[index] & CAIRN_SLOT_USED) == 0);
}

uint32_t cairn_slots_list(
    const uint32_t *ids, uint32_t slot_count, uint32_t *out, uint32_t capacity) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < slot_count; ++i) {
        if ((ids[i] & CAIRN_SLOT_USED) == 0) {
            continue;
        }
        if (count < capacity) {
            out[count] = cairn_slot_id(ids, i);
        }
        ++count;
    }
    CAIRN_ASSERT(count <= slot_count);
    return count;
}

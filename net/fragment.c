// SPDX-License-Identifier: MIT
#include "net/fragment.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

void cairn_assemblies_reset(cairn_assemblies *assemblies) {
    CAIRN_ASSERT(assemblies->count >= 1 && assemblies->count <= CAIRN_ASSEMBLIES_MAX);
    for (uint32_t i = 0; i < CAIRN_ASSEMBLIES_MAX; i++) {
        assemblies->slots[i].size = 0;
    }
    assemblies->given_up = 0;
    assemblies->lost = 0;
    assemblies->done = NULL;
}

void cairn_fragment_write(uint32_t index, uint32_t size, uint8_t *bytes) {
    CAIRN_ASSERT(index < cairn_fragment_count(size));
    cairn_writer writer = cairn_writer_of(bytes, CAIRN_LINK_PART_HEADER_SIZE);
    cairn_write_u32(&writer, index);
    cairn_write_u32(&writer, size);
    CAIRN_ASSERT(writer.ok && writer.at == CAIRN_LINK_PART_HEADER_SIZE);
}

cairn_fragment cairn_fragment_read(uint64_t sequence, const uint8_t *body, size_t body_size) {
    CAIRN_ASSERT(body_size > CAIRN_LINK_PART_HEADER_SIZE);
    cairn_reader reader = cairn_reader_of(body, body_size);
    cairn_fragment fragment = {.sequence = sequence};
    fragment.index = cairn_read_u32(&reader);
    fragment.size = cairn_read_u32(&reader);
    fragment.bytes_size = (uint32_t)cairn_reader_left(&reader);
    fragment.bytes = cairn_read_view(&reader, fragment.bytes_size);
    CAIRN_ASSERT(reader.ok);
    return fragment;
}

uint32_t cairn_fragment_count(uint32_t message_size) {
    return (message_size + CAIRN_LINK_PART_SIZE - 1) / CAIRN_LINK_PART_SIZE;
}

uint32_t cairn_fragment_size(uint32_t message_size, uint32_t index) {
    CAIRN_ASSERT(index < cairn_fragment_count(message_size));
    const uint32_t left = message_size - index * CAIRN_LINK_PART_SIZE;
    return left < CAIRN_LINK_PART_SIZE ? left : CAIRN_LINK_PART_SIZE;
}

static cairn_link_drop fragment_check(const cairn_fragment *fragment, uint32_t size_max) {
    if (fragment->size <= CAIRN_LINK_SINGLE_SIZE_MAX || fragment->size > CAIRN_MESSAGE_SIZE_MAX) {
        return CAIRN_LINK_DROP_FRAGMENT; // a message that fits one payload may not be fragmented
    }
    if (fragment->index >= cairn_fragment_count(fragment->size) ||
        fragment->index > fragment->sequence ||
        fragment->bytes_size != cairn_fragment_size(fragment->size, fragment->index)) {
        return CAIRN_LINK_DROP_FRAGMENT;
    }
    return fragment->size > size_max ? CAIRN_LINK_DROP_MESSAGE_SIZE : CAIRN_LINK_TAKEN;
}

static void give_up(cairn_assemblies *assemblies, uint64_t first) {
    assemblies->lost++;
    assemblies->given_up = first >= assemblies->given_up ? first + 1 : assemblies->given_up;
    CAIRN_ASSERT(assemblies->given_up > first);
}

static cairn_assembly *find_assembly(cairn_assemblies *assemblies, uint64_t first) {
    for (uint32_t i = 0; i < assemblies->count; i++) {
        cairn_assembly *slot = &assemblies->slots[i];
        if (slot->size != 0 && slot->first == first) {
            return slot;
        }
    }
    return NULL;
}

// A free slot, or the slot of the message that has waited longest.
static cairn_assembly *find_room(cairn_assemblies *assemblies) {
    CAIRN_ASSERT(assemblies->count >= 1);
    cairn_assembly *oldest = &assemblies->slots[0];
    for (uint32_t i = 0; i < assemblies->count; i++) {
        cairn_assembly *slot = &assemblies->slots[i];
        if (slot->size == 0) {
            return slot;
        }
        oldest = slot->begun_ns < oldest->begun_ns ? slot : oldest;
    }
    return oldest;
}

// NULL if there is no room for the message.
static cairn_assembly *begin_assembly(cairn_assemblies *assemblies, uint64_t now_ns,
    uint64_t wait_ns, uint64_t first, uint32_t size) {
    CAIRN_ASSERT(size > CAIRN_LINK_SINGLE_SIZE_MAX && size <= assemblies->size_max);
    cairn_assembly *slot = find_room(assemblies);
    if (slot->size != 0 && now_ns - slot->begun_ns < wait_ns) {
        give_up(assemblies, first);
        return NULL;
    }
    if (slot->size != 0) {
        give_up(assemblies, slot->first);
    }
    slot->first = first;
    slot->begun_ns = now_ns;
    slot->size = size;
    slot->missing = cairn_fragment_count(size);
    memset(slot->have, 0, sizeof slot->have);
    return slot;
}

cairn_link_drop cairn_assemblies_take(cairn_assemblies *assemblies, uint64_t now_ns,
    uint64_t wait_ns, const cairn_fragment *fragment) {
    const cairn_link_drop drop = fragment_check(fragment, assemblies->size_max);
    if (drop != CAIRN_LINK_TAKEN) {
        return drop;
    }
    if (assemblies->done != NULL) {
        assemblies->done->size = 0;
        assemblies->done = NULL;
    }
    const uint64_t first = fragment->sequence - fragment->index;
    cairn_assembly *slot = find_assembly(assemblies, first);
    if (slot != NULL && slot->size != fragment->size) {
        return CAIRN_LINK_DROP_FRAGMENT;
    }
    if (slot == NULL && first >= assemblies->given_up) {
        slot = begin_assembly(assemblies, now_ns, wait_ns, first, fragment->size);
    }
    if (slot != NULL) { // otherwise the fragment arrived too late to be used
        const uint64_t bit = 1ull << (fragment->index % 64);
        CAIRN_ASSERT((slot->have[fragment->index / 64] & bit) == 0 && slot->missing > 0);
        memcpy(slot->bytes + (size_t)fragment->index * CAIRN_LINK_PART_SIZE, fragment->bytes,
            fragment->bytes_size);
        slot->have[fragment->index / 64] |= bit;
        slot->missing--;
        assemblies->done = slot->missing == 0 ? slot : NULL;
    }
    return CAIRN_LINK_TAKEN;
}

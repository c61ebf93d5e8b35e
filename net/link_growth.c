// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/link_parts.h"

// A block of at least `size` bytes, and how large it is.
static uint8_t *take_block(cairn_link_blocks *blocks, size_t size, size_t *taken) {
    for (uint32_t i = blocks != NULL ? blocks->count : 0; i > 0; --i) {
        if (blocks->sizes[i - 1] >= size) {
            uint8_t *block = blocks->kept[i - 1];
            *taken = blocks->sizes[i - 1];
            blocks->count -= 1;
            blocks->kept[i - 1] = blocks->kept[blocks->count];
            blocks->sizes[i - 1] = blocks->sizes[blocks->count];
            return block;
        }
    }
    *taken = size;
    return malloc(size);
}

// If there is no room for it, the smallest goes.
static void keep_block(cairn_link_blocks *blocks, uint8_t *block, size_t size) {
    uint32_t at = blocks->count;
    if (blocks->count == CAIRN_LINK_BLOCKS_MAX) {
        at = 0;
        for (uint32_t i = 1; i < blocks->count; ++i) {
            at = blocks->sizes[i] < blocks->sizes[at] ? i : at;
        }
        if (blocks->sizes[at] >= size) {
            free(block);
            return;
        }
        free(blocks->kept[at]);
    } else {
        blocks->count += 1;
    }
    blocks->kept[at] = block;
    blocks->sizes[at] = size;
}

static void give_back_stream(cairn_link *link) {
    cairn_link_memory *memory = &link->memory;
    if (memory->stream_grown != NULL && link->config.blocks != NULL) {
        keep_block(link->config.blocks, memory->stream_grown, memory->stream_grown_size);
    } else {
        free(memory->stream_grown);
    }
    memory->stream_grown = NULL;
}

void cairn_link_blocks_free(cairn_link_blocks *blocks) {
    for (uint32_t i = 0; i < blocks->count; ++i) {
        free(blocks->kept[i]);
    }
    *blocks = (cairn_link_blocks){0};
}

static bool grow_stream_to(cairn_link *link, uint64_t capacity, uint32_t segments) {
    const size_t segments_size = segments * sizeof(cairn_segment);
    size_t taken;
    uint8_t *grown = take_block(link->config.blocks, segments_size + (size_t)capacity, &taken);
    if (grown == NULL) {
        return false;
    }
    cairn_stream_sender_move(
        &link->sender, (void *)grown, segments, grown + segments_size, capacity);
    give_back_stream(link);
    link->memory.stream_grown = grown;
    link->memory.stream_grown_size = taken;
    return true;
}

bool cairn_link_grow_stream(cairn_link *link, uint64_t held) {
    const cairn_link_memory *memory = &link->memory;
    const cairn_stream_sender *sender = &link->sender;
    if (held > sender->limit ||
        (sender->capacity == sender->limit && sender->segment_capacity == memory->segments_max)) {
        return false;
    }
    if (link->config.blocks != NULL) {
        return grow_stream_to(link, sender->limit, memory->segments_max);
    }
    const bool more_segments = sender->count == sender->segment_capacity;
    uint64_t capacity = sender->capacity * (more_segments ? 2 : 1);
    while (capacity < held) {
        capacity *= 2;
    }
    capacity = capacity < sender->limit ? capacity : sender->limit;
    uint32_t segments = sender->segment_capacity * (more_segments ? 2 : 1);
    segments = segments > capacity / 512 ? segments : (uint32_t)(capacity / 512);
    segments = segments < memory->segments_max ? segments : memory->segments_max;
    return grow_stream_to(link, capacity, segments);
}

// Copies the records of the last payloads, as many as both rings hold.
static void move_sent(cairn_sent_ring *ring, cairn_sent *entries, uint32_t capacity) {
    const uint32_t kept = capacity < ring->capacity ? capacity : ring->capacity;
    const uint64_t from = ring->next > kept ? ring->next - kept : 0;
    ring->first = from > ring->first ? from : ring->first;
    for (uint64_t s = ring->first; s < ring->next; ++s) {
        entries[s & (capacity - 1)] = ring->entries[s & (ring->capacity - 1)];
    }
    ring->entries = entries;
    ring->capacity = capacity;
}

bool cairn_link_grow_sent(cairn_link *link) {
    if (link->sent.capacity == link->memory.sent_max) {
        return false;
    }
    const uint32_t capacity = 2 * link->sent.capacity;
    cairn_sent *grown = malloc(capacity * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    move_sent(&link->sent, grown, capacity);
    free(link->memory.sent_grown);
    link->memory.sent_grown = grown;
    return true;
}

bool cairn_link_sent_expired(cairn_link *link, uint32_t count) {
    const cairn_sent *sent =
        link->sent.next < count ? NULL : cairn_sent_ring_find(&link->sent, link->sent.next - count);
    return sent == NULL || link->now_ns >= sent->sent_ns + CAIRN_LINK_SENT_KEPT_NS;
}

void cairn_link_shrink(cairn_link *link) {
    cairn_link_memory *memory = &link->memory;
    cairn_stream_sender *sender = &link->sender;
    if (sender->base != sender->end || sender->count > 0) {
        return;
    }
    if (memory->stream_grown != NULL) {
        cairn_stream_sender_move(
            sender, memory->segments, memory->segments_small, memory->stream, memory->stream_small);
        give_back_stream(link);
    }
    if (memory->sent_grown != NULL && link->sent.next - link->sent.oldest < memory->sent_small &&
        cairn_link_sent_expired(link, memory->sent_small)) {
        move_sent(&link->sent, memory->sent, memory->sent_small);
        free(memory->sent_grown);
        memory->sent_grown = NULL;
    }
}

void cairn_link_forget_growth(cairn_link *link) {
    cairn_link_memory *memory = &link->memory;
    give_back_stream(link);
    free(memory->sent_grown);
    memory->sent_grown = NULL;
    link->sent.entries = memory->sent;
    link->sent.capacity = memory->sent_small;
    link->sender.segments = memory->segments;
    link->sender.segment_capacity = memory->segments_small;
    link->sender.bytes = memory->stream;
    link->sender.capacity = memory->stream_small;
    link->sender.limit = memory->stream_max;
}

// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/link_parts.h"

bool cairn_link_grow_stream(cairn_link *link, uint64_t held) {
    cairn_link_memory *memory = &link->memory;
    cairn_stream_sender *sender = &link->sender;
    const bool more_segments = sender->count == sender->segment_capacity;
    uint64_t capacity = sender->capacity;
    while (capacity < held || (more_segments && capacity == sender->capacity)) {
        capacity *= 2;
    }
    capacity = capacity < sender->limit ? capacity : sender->limit;
    uint32_t segments = sender->segment_capacity * (more_segments ? 2 : 1);
    segments = segments > capacity / 512 ? segments : (uint32_t)(capacity / 512);
    segments = segments < memory->segments_max ? segments : memory->segments_max;
    if (held > capacity || (capacity == sender->capacity && segments == sender->segment_capacity)) {
        return false;
    }
    const size_t segments_size = segments * sizeof(cairn_segment);
    uint8_t *grown = malloc(segments_size + (size_t)capacity);
    if (grown == NULL) {
        return false;
    }
    cairn_stream_sender_move(sender, (void *)grown, segments, grown + segments_size, capacity);
    free(memory->stream_grown);
    memory->stream_grown = grown;
    return true;
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
        free(memory->stream_grown);
        memory->stream_grown = NULL;
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
    free(memory->stream_grown);
    free(memory->sent_grown);
    memory->stream_grown = NULL;
    memory->sent_grown = NULL;
    link->sent.entries = memory->sent;
    link->sent.capacity = memory->sent_small;
    link->sender.segments = memory->segments;
    link->sender.segment_capacity = memory->segments_small;
    link->sender.bytes = memory->stream;
    link->sender.capacity = memory->stream_small;
    link->sender.limit = memory->stream_max;
}

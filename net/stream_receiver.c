// SPDX-License-Identifier: MIT
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/stream.h"

uint32_t cairn_stream_window(uint32_t size_max) {
    CAIRN_ASSERT(size_max >= 1 && size_max <= CAIRN_MESSAGE_SIZE_MAX);
    const uint64_t unit = CAIRN_LINK_WINDOW_UNIT;
    return (uint32_t)((cairn_frame_size(size_max) + unit - 1) / unit * unit);
}

void cairn_stream_receiver_reset(cairn_stream_receiver *receiver) {
    CAIRN_ASSERT(receiver->window > 0 && receiver->window % CAIRN_LINK_WINDOW_UNIT == 0);
    memset(receiver->have, 0, receiver->window / 64);
    *receiver = (cairn_stream_receiver){
        .bytes = receiver->bytes,
        .have = receiver->have,
        .window = receiver->window,
        .size_max = receiver->size_max,
    };
}

static uint64_t *have_word(const cairn_stream_receiver *receiver, uint64_t granule) {
    return &receiver->have[granule % (receiver->window / 8) / 64];
}

// Marks received bytes and moves the edge; a bit is cleared as the edge passes it.
static void mark_received(cairn_stream_receiver *receiver, uint64_t from, uint64_t to) {
    CAIRN_ASSERT(from % 8 == 0 && to % 8 == 0 && from < to);
    for (uint64_t granule = from / 8; granule < to / 8; granule++) {
        *have_word(receiver, granule) |= 1ull << (granule % 64);
    }
    for (;;) {
        const uint64_t granule = receiver->edge / 8;
        uint64_t *word = have_word(receiver, granule);
        if ((*word & 1ull << (granule % 64)) == 0) {
            return;
        }
        *word &= ~(1ull << (granule % 64));
        receiver->edge += 8;
    }
}

static uint32_t frame_message_size(const cairn_stream_receiver *receiver, uint64_t at) {
    CAIRN_ASSERT(at >= receiver->origin && at + CAIRN_FRAME_HEADER_SIZE <= receiver->edge);
    cairn_reader reader =
        cairn_reader_of(receiver->bytes + (at - receiver->origin), CAIRN_FRAME_HEADER_SIZE);
    return cairn_read_u32(&reader);
}

// Checks each frame once, as soon as its header is below the edge: bytes below it never change.
static bool are_frames_valid(cairn_stream_receiver *receiver) {
    while (receiver->edge > receiver->whole) {
        const uint32_t size = frame_message_size(receiver, receiver->whole);
        if (size == 0 || size > receiver->size_max) {
            return false;
        }
        if (receiver->edge - receiver->whole < cairn_frame_size(size)) {
            return true;
        }
        receiver->whole += cairn_frame_size(size);
    }
    return true;
}

cairn_link_drop cairn_stream_receiver_take(
    cairn_stream_receiver *receiver, uint64_t offset, const uint8_t *bytes, uint32_t size) {
    if (receiver->broken) {
        return CAIRN_LINK_DROP_MESSAGE_SIZE;
    }
    const uint64_t limit = receiver->base + receiver->window;
    if (offset % 8 != 0 || size % 8 != 0 || offset > limit || size > limit - offset) {
        return CAIRN_LINK_DROP_STREAM;
    }
    CAIRN_ASSERT(receiver->origin <= receiver->base && receiver->base <= receiver->top);
    if (receiver->base != receiver->origin) { // bytes that were handed out make room for new ones
        memmove(receiver->bytes, receiver->bytes + (receiver->base - receiver->origin),
            (size_t)(receiver->top - receiver->base));
        receiver->origin = receiver->base;
    }
    const uint64_t end = offset + size;
    const uint64_t from = offset > receiver->edge ? offset : receiver->edge;
    if (end <= from) {
        return CAIRN_LINK_TAKEN; // all of it was received before
    }
    CAIRN_ASSERT(from >= receiver->origin && end - receiver->origin <= receiver->window);
    memcpy(
        receiver->bytes + (from - receiver->origin), bytes + (from - offset), (size_t)(end - from));
    receiver->top = end > receiver->top ? end : receiver->top;
    mark_received(receiver, from, end);
    CAIRN_ASSERT(receiver->edge <= receiver->top);
    receiver->broken = !are_frames_valid(receiver);
    return receiver->broken ? CAIRN_LINK_DROP_MESSAGE_SIZE : CAIRN_LINK_TAKEN;
}

bool cairn_stream_receiver_next(
    cairn_stream_receiver *receiver, const uint8_t **bytes, uint32_t *size) {
    if (receiver->base == receiver->whole) {
        return false;
    }
    *size = frame_message_size(receiver, receiver->base);
    *bytes = receiver->bytes + (receiver->base - receiver->origin) + CAIRN_FRAME_HEADER_SIZE;
    receiver->base += cairn_frame_size(*size);
    CAIRN_ASSERT(receiver->base <= receiver->whole);
    return true;
}

void cairn_stream_receiver_hand_over(cairn_stream_receiver *receiver, cairn_archive *archive) {
    CAIRN_ASSERT(receiver->base == receiver->whole);
    uint64_t edge = receiver->edge - receiver->base;
    uint64_t held = receiver->top - receiver->base;
    cairn_archive_u64(archive, "a stream's place", &receiver->base, 0, UINT64_MAX / 2);
    cairn_archive_u64(archive, "a stream's length", &held, 0, receiver->window);
    cairn_archive_u64(archive, "a stream's edge", &edge, 0, held);
    cairn_archive_bool(archive, "a stream's end", &receiver->broken);
    if (archive->reading) {
        receiver->origin = receiver->base;
        receiver->whole = receiver->base;
        receiver->edge = receiver->base + edge;
        receiver->top = receiver->base + held;
    }
    cairn_archive_bytes(
        archive, receiver->bytes + (receiver->base - receiver->origin), (size_t)held);
    cairn_archive_words(archive, receiver->have, receiver->window / 64 / sizeof *receiver->have);
    const bool aligned = receiver->base % 8 == 0 && edge % 8 == 0 && held % 8 == 0;
    if (archive->reading && archive->refused == NULL &&
        (!aligned || (!receiver->broken && !are_frames_valid(receiver)) ||
            receiver->whole != receiver->base)) {
        cairn_archive_refuse(archive, "a stream's frames");
    }
}

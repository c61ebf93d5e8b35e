// SPDX-License-Identifier: MIT
#include "net/stream.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

uint64_t cairn_frame_size(uint32_t message_size) {
    return ((uint64_t)message_size + CAIRN_FRAME_HEADER_SIZE + 7) / 8 * 8;
}

void cairn_stream_sender_reset(cairn_stream_sender *sender) {
    CAIRN_ASSERT(sender->segment_capacity > 0);
    CAIRN_ASSERT(sender->capacity > 0 && sender->capacity % 8 == 0);
    *sender = (cairn_stream_sender){
        .bytes = sender->bytes,
        .capacity = sender->capacity,
        .limit = sender->limit,
        .window = CAIRN_LINK_WINDOW_UNIT, // the smallest that a receiver has
        .segments = sender->segments,
        .segment_capacity = sender->segment_capacity,
    };
}

uint64_t cairn_stream_sender_room(const cairn_stream_sender *sender) {
    CAIRN_ASSERT(sender->end - sender->base <= sender->capacity);
    return sender->limit - (sender->end - sender->base);
}

bool cairn_stream_sender_fits(const cairn_stream_sender *sender, uint64_t frame_size) {
    return sender->end - sender->base + frame_size <= sender->capacity &&
           sender->count < sender->segment_capacity;
}

static void ring_write(cairn_stream_sender *sender, const uint8_t *bytes, uint64_t size) {
    CAIRN_ASSERT(sender->end - sender->base + size <= sender->capacity);
    const uint64_t at = sender->end % sender->capacity;
    const uint64_t part = size < sender->capacity - at ? size : sender->capacity - at;
    memcpy(sender->bytes + at, bytes, (size_t)part);
    memcpy(sender->bytes, bytes + part, (size_t)(size - part));
    sender->end += size;
}

static void ring_read(
    const cairn_stream_sender *sender, uint64_t offset, uint8_t *out, uint64_t size) {
    CAIRN_ASSERT(offset >= sender->base && offset + size <= sender->end);
    const uint64_t at = offset % sender->capacity;
    const uint64_t part = size < sender->capacity - at ? size : sender->capacity - at;
    memcpy(out, sender->bytes + at, (size_t)part);
    memcpy(out + part, sender->bytes, (size_t)(size - part));
}

void cairn_stream_sender_queue(cairn_stream_sender *sender, const uint8_t *bytes, uint32_t size) {
    static const uint8_t zeros[8] = {0};
    uint8_t header[CAIRN_FRAME_HEADER_SIZE];
    cairn_writer writer = cairn_writer_of(header, sizeof header);
    const uint64_t frame = cairn_frame_size(size);
    CAIRN_ASSERT(sender->end - sender->base + frame <= sender->capacity);
    cairn_write_u32(&writer, size);
    ring_write(sender, header, sizeof header);
    ring_write(sender, bytes, size);
    ring_write(sender, zeros, frame - size - sizeof header);
    CAIRN_ASSERT(sender->end % 8 == 0);
}

// The frame that begins at `base`; 0 when nothing is queued.
static uint64_t base_frame_size(const cairn_stream_sender *sender) {
    uint8_t header[CAIRN_FRAME_HEADER_SIZE];
    if (sender->base == sender->end) {
        return 0;
    }
    ring_read(sender, sender->base, header, sizeof header);
    cairn_reader reader = cairn_reader_of(header, sizeof header);
    return cairn_frame_size(cairn_read_u32(&reader));
}

bool cairn_stream_sender_failed(const cairn_stream_sender *sender) {
    return base_frame_size(sender) > sender->window;
}

static cairn_segment *segment_of(const cairn_stream_sender *sender, uint32_t number) {
    return &sender->segments[number % sender->segment_capacity];
}

void cairn_stream_sender_move(cairn_stream_sender *sender, cairn_segment *segments,
    uint32_t segment_capacity, uint8_t *bytes, uint64_t capacity) {
    CAIRN_ASSERT(sender->count <= segment_capacity && sender->end - sender->base <= capacity);
    for (uint32_t i = sender->first; i != sender->first + sender->count; ++i) {
        segments[i % segment_capacity] = *segment_of(sender, i);
    }
    // In pieces that do not wrap in the new ring.
    for (uint64_t at = sender->base; at < sender->end;) {
        const uint64_t whole = capacity - at % capacity;
        const uint64_t size = sender->end - at < whole ? sender->end - at : whole;
        ring_read(sender, at, bytes + at % capacity, size);
        at += size;
    }
    sender->segments = segments;
    sender->segment_capacity = segment_capacity;
    sender->bytes = bytes;
    sender->capacity = capacity;
}

// Bytes of the next new segment, 0 if the window, the table or the queue allows none.
static uint64_t new_size(const cairn_stream_sender *sender) {
    CAIRN_ASSERT(sender->next <= sender->end && sender->count <= sender->segment_capacity);
    if (sender->count == sender->segment_capacity) {
        return 0;
    }
    const uint64_t queued = sender->end - sender->next;
    const uint64_t limit = sender->base + sender->window;
    const uint64_t allowed = limit > sender->next ? limit - sender->next : 0;
    const uint64_t size = queued < allowed ? queued : allowed;
    return size < CAIRN_LINK_PART_SIZE ? size : CAIRN_LINK_PART_SIZE;
}

bool cairn_stream_sender_ready(const cairn_stream_sender *sender) {
    return sender->lost_count > 0 || new_size(sender) > 0;
}

// The oldest segment in a state; the counts must say that there is one.
static uint32_t find_state(const cairn_stream_sender *sender, cairn_segment_state state) {
    uint32_t i = 0;
    while (segment_of(sender, sender->first + i)->state != state) {
        i++;
        CAIRN_ASSERT(i < sender->count);
    }
    return sender->first + i;
}

static uint32_t cut_segment(cairn_stream_sender *sender) {
    const uint64_t size = new_size(sender);
    CAIRN_ASSERT(size > 0 && size % 8 == 0);
    const uint32_t number = sender->first + sender->count++;
    *segment_of(sender, number) = (cairn_segment){.offset = sender->next, .size = (uint16_t)size};
    sender->next += size;
    return number;
}

cairn_stream_segment cairn_stream_sender_take(
    cairn_stream_sender *sender, uint64_t now_ns, uint64_t sequence, uint8_t *out) {
    CAIRN_ASSERT(cairn_stream_sender_ready(sender));
    const bool again = sender->lost_count > 0;
    const uint32_t number = again ? find_state(sender, CAIRN_SEGMENT_LOST) : cut_segment(sender);
    cairn_segment *segment = segment_of(sender, number);
    sender->lost_count -= again ? 1 : 0;
    if (sender->in_flight_count++ == 0) {
        sender->waiting_since_ns = now_ns;
    }
    segment->state = CAIRN_SEGMENT_IN_FLIGHT;
    segment->sequence = sequence;
    CAIRN_ASSERT(sender->lost_count + sender->in_flight_count <= sender->count);
    ring_read(sender, segment->offset, out, segment->size);
    return (cairn_stream_segment){
        .number = number, .offset = segment->offset, .size = segment->size, .again = again};
}

// Releases acknowledged segments at the front and messages that are completely acknowledged.
static void release_acknowledged(cairn_stream_sender *sender) {
    while (sender->count > 0 &&
           segment_of(sender, sender->first)->state == CAIRN_SEGMENT_ACKNOWLEDGED) {
        sender->acked += segment_of(sender, sender->first)->size;
        sender->first++;
        sender->count--;
    }
    CAIRN_ASSERT(sender->base <= sender->acked && sender->acked <= sender->next);
    for (uint64_t frame = base_frame_size(sender);
         frame > 0 && sender->base + frame <= sender->acked; frame = base_frame_size(sender)) {
        sender->base += frame;
    }
}

// NULL for a segment that was released.
static cairn_segment *find_open(const cairn_stream_sender *sender, uint32_t number) {
    if (number - sender->first >= sender->count) {
        return NULL;
    }
    cairn_segment *segment = segment_of(sender, number);
    return segment->state == CAIRN_SEGMENT_ACKNOWLEDGED ? NULL : segment;
}

void cairn_stream_sender_acknowledged(
    cairn_stream_sender *sender, uint64_t now_ns, uint32_t number) {
    sender->waiting_since_ns = now_ns;
    sender->backoff = 0;
    cairn_segment *segment = find_open(sender, number);
    if (segment == NULL) {
        return;
    }
    sender->lost_count -= segment->state == CAIRN_SEGMENT_LOST ? 1 : 0;
    sender->in_flight_count -= segment->state == CAIRN_SEGMENT_IN_FLIGHT ? 1 : 0;
    segment->state = CAIRN_SEGMENT_ACKNOWLEDGED;
    release_acknowledged(sender);
    CAIRN_ASSERT(sender->lost_count + sender->in_flight_count <= sender->count);
}

static void mark_lost(cairn_stream_sender *sender, cairn_segment *segment) {
    CAIRN_ASSERT(segment->state == CAIRN_SEGMENT_IN_FLIGHT && sender->in_flight_count > 0);
    segment->state = CAIRN_SEGMENT_LOST;
    sender->in_flight_count--;
    sender->lost_count++;
}

void cairn_stream_sender_lost(cairn_stream_sender *sender, uint32_t number, uint64_t sequence) {
    cairn_segment *segment = find_open(sender, number);
    if (segment != NULL && segment->state == CAIRN_SEGMENT_IN_FLIGHT &&
        segment->sequence == sequence) {
        mark_lost(sender, segment);
    }
}

uint64_t cairn_stream_sender_deadline_ns(
    const cairn_stream_sender *sender, const cairn_estimate *estimate) {
    if (sender->in_flight_count == 0) {
        return UINT64_MAX;
    }
    return sender->waiting_since_ns + cairn_estimate_timeout_ns(estimate, sender->backoff);
}

void cairn_stream_sender_time_out(
    cairn_stream_sender *sender, uint64_t now_ns, const cairn_estimate *estimate) {
    if (now_ns < cairn_stream_sender_deadline_ns(sender, estimate)) {
        return;
    }
    mark_lost(sender, segment_of(sender, find_state(sender, CAIRN_SEGMENT_IN_FLIGHT)));
    sender->waiting_since_ns = now_ns;
    sender->backoff += sender->backoff < CAIRN_RTO_BACKOFF_MAX ? 1 : 0;
}

// Whether whole frames follow one another from `base` to `end`.
static bool are_frames_whole(cairn_stream_sender *sender) {
    const uint64_t base = sender->base;
    for (uint64_t size; sender->base < sender->end; sender->base += size) {
        size = base_frame_size(sender);
        if (size > sender->end - sender->base) {
            return false;
        }
    }
    sender->base = base;
    return true;
}

void cairn_stream_sender_hand_over(
    cairn_stream_sender *sender, uint64_t held, uint64_t now_ns, cairn_archive *archive) {
    CAIRN_ASSERT(held <= sender->capacity);
    uint64_t from = sender->base;
    uint64_t acked = sender->acked - sender->base;
    if (held % 8 != 0) {
        cairn_archive_refuse(archive, "a stream's length");
        return;
    }
    cairn_archive_u64(archive, "a stream's place", &from, 0, UINT64_MAX / 2);
    cairn_archive_u64(archive, "a stream's place", &acked, 0, held);
    if (archive->reading) {
        sender->base = from;
        sender->end = from;
        sender->acked = from + acked;
        sender->next = from + acked;
        sender->waiting_since_ns = now_ns;
    }
    for (uint64_t at = 0; at < held; at += 8) {
        uint8_t bytes[8];
        if (!archive->reading) {
            ring_read(sender, from + at, bytes, sizeof bytes);
        }
        cairn_archive_bytes(archive, bytes, sizeof bytes);
        if (archive->reading) {
            ring_write(sender, bytes, sizeof bytes);
        }
    }
    if (archive->reading && (from % 8 != 0 || acked % 8 != 0 || !are_frames_whole(sender))) {
        cairn_archive_refuse(archive, "a stream's frames");
    }
}

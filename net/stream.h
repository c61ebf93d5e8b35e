// SPDX-License-Identifier: MIT
#pragma once

// One reliable ordered stream: messages framed in a byte stream, the stream cut into segments, a
// segment sent again until some payload that carried it is acknowledged. Offsets are 64-bit.
//
// A frame is its message's size in four bytes, the message, and zeros up to a multiple of 8, so
// that offsets and segments are multiples of 8 and received messages lie aligned where they arrive.
//
// Flow control needs no message of its own: every link header has the receiver's window, which is
// constant, and the receiver always takes complete messages out. So the sender knows that the
// window begins at the oldest message that is not completely acknowledged.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/archive.h"
#include "net/estimate.h"
#include "net/link_header.h"

#define CAIRN_FRAME_HEADER_SIZE 4
uint64_t cairn_frame_size(uint32_t message_size);

typedef enum cairn_segment_state {
    CAIRN_SEGMENT_IN_FLIGHT = 1,
    CAIRN_SEGMENT_LOST = 2, // to be sent again
    CAIRN_SEGMENT_ACKNOWLEDGED = 3,
} cairn_segment_state;

typedef struct cairn_segment {
    uint64_t offset;
    uint64_t sequence; // of the newest payload that carries it
    uint16_t size;
    uint8_t state; // cairn_segment_state
} cairn_segment;

typedef struct cairn_stream_sender {
    uint8_t *bytes;    // ring by offset, not owned
    uint64_t capacity; // of bytes, multiple of 8
    uint64_t limit;    // that the ring may be given, multiple of 8
    uint64_t base;     // start of the oldest message not completely acknowledged
    uint64_t acked;    // everything below was acknowledged
    uint64_t next;     // first byte never sent
    uint64_t end;      // one past the last byte queued
    uint32_t window;   // the peer's, bytes
    cairn_segment *segments;
    uint32_t segment_capacity;
    uint32_t first; // number of the oldest segment not acknowledged; numbers wrap
    uint32_t count;
    uint32_t lost_count;
    uint32_t in_flight_count;
    uint64_t waiting_since_ns; // last progress: the timeout counts from here
    uint32_t backoff;          // timeouts since the newest ack
} cairn_stream_sender;

void cairn_stream_sender_reset(cairn_stream_sender *sender);
uint64_t cairn_stream_sender_room(const cairn_stream_sender *sender); // of the limit
// Whether the ring has room for a frame of so many bytes, and the table for its segments.
bool cairn_stream_sender_fits(const cairn_stream_sender *sender, uint64_t frame_size);
// Moves what is held to other rings, which it must fit.
void cairn_stream_sender_move(cairn_stream_sender *sender, cairn_segment *segments,
    uint32_t segment_capacity, uint8_t *bytes, uint64_t capacity);
// Queues a frame, which must fit.
void cairn_stream_sender_queue(cairn_stream_sender *sender, const uint8_t *bytes, uint32_t size);
// Whether a segment could leave now: a lost one, or a new one that the window allows.
bool cairn_stream_sender_ready(const cairn_stream_sender *sender);
// Whether the oldest message cannot ever fit the peer's window.
bool cairn_stream_sender_failed(const cairn_stream_sender *sender);

typedef struct cairn_stream_segment {
    uint32_t number;
    uint64_t offset;
    uint32_t size;
    bool again;
} cairn_stream_segment;
// Takes the next segment to send (it must be ready) and copies its bytes to `out`.
cairn_stream_segment cairn_stream_sender_take(
    cairn_stream_sender *sender, uint64_t now_ns, uint64_t sequence, uint8_t *out);

void cairn_stream_sender_acknowledged(
    cairn_stream_sender *sender, uint64_t now_ns, uint32_t number);
// The payload `sequence` that carried the segment is lost; so is the segment unless a newer
// payload carries it too.
void cairn_stream_sender_lost(cairn_stream_sender *sender, uint32_t number, uint64_t sequence);
// If nothing was acknowledged for the timeout, the oldest segment in flight counts as lost.
uint64_t cairn_stream_sender_deadline_ns(
    const cairn_stream_sender *sender, const cairn_estimate *estimate);
void cairn_stream_sender_time_out(
    cairn_stream_sender *sender, uint64_t now_ns, const cairn_estimate *estimate);

// For net/handover.h. The rings have room for `held` bytes, which are those that were not
// acknowledged; all of them count as not sent by the side that reads.
void cairn_stream_sender_hand_over(
    cairn_stream_sender *sender, uint64_t held, uint64_t now_ns, cairn_archive *archive);

typedef struct cairn_stream_receiver {
    uint8_t *bytes;  // linear from `origin`, not owned; 4 bytes past a multiple of 8
    uint64_t *have;  // ring, one bit per 8 bytes of the window
    uint32_t window; // bytes, multiple of 4096
    uint32_t size_max;
    uint64_t origin; // offset of bytes[0]
    uint64_t base;   // start of the oldest message not handed out
    uint64_t whole;  // all frames below are complete
    uint64_t edge;   // everything below was received
    uint64_t top;    // one past the last byte received
    bool broken;     // a frame's size was impossible; nothing more is accepted
} cairn_stream_receiver;

// The window that holds any message of `size_max` bytes.
uint32_t cairn_stream_window(uint32_t size_max);
void cairn_stream_receiver_reset(cairn_stream_receiver *receiver);
// CAIRN_LINK_TAKEN, CAIRN_LINK_DROP_STREAM or CAIRN_LINK_DROP_MESSAGE_SIZE.
cairn_link_drop cairn_stream_receiver_take(
    cairn_stream_receiver *receiver, uint64_t offset, const uint8_t *bytes, uint32_t size);
// Reads the next complete message; its bytes are valid until the next take. Returns false if no
// message is complete.
bool cairn_stream_receiver_next(
    cairn_stream_receiver *receiver, const uint8_t **bytes, uint32_t *size);

// For net/handover.h. Every message that is complete was taken out (asserted).
void cairn_stream_receiver_hand_over(cairn_stream_receiver *receiver, cairn_archive *archive);

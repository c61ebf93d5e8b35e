// SPDX-License-Identifier: MIT
#pragma once

// The first bytes of every payload, read and written side by side. docs/PROTOCOL.md, section Link,
// is normative. Each header has exactly one valid encoding; any other is refused.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

// Why a link drops a payload: one reason, one counter each.

typedef enum cairn_link_drop {
    CAIRN_LINK_TAKEN = 0,
    CAIRN_LINK_DROP_SIZE,  // shorter than a header, or not a size of its kind
    CAIRN_LINK_DROP_KIND,  // unknown payload kind or reserved bits set
    CAIRN_LINK_DROP_STALE, // older than the sequence window
    CAIRN_LINK_DROP_DUPLICATE,
    CAIRN_LINK_DROP_ACK,          // acknowledges a payload that was never sent
    CAIRN_LINK_DROP_FRAGMENT,     // impossible, or contradicts another fragment
    CAIRN_LINK_DROP_MESSAGE_SIZE, // larger than receive_size_max
    CAIRN_LINK_DROP_WINDOW,       // announces another window than before
    CAIRN_LINK_DROP_STREAM,       // reliable bytes outside the receive window, or not in units of 8
    CAIRN_LINK_DROP_COUNT
} cairn_link_drop;
const char *cairn_link_drop_text(cairn_link_drop drop);

#define CAIRN_LINK_HEADER_SIZE 16
#define CAIRN_LINK_PART_HEADER_SIZE 8 // of a fragment or a stream segment, after the link header
#define CAIRN_LINK_PART_SIZE 1000     // of a fragment or a full stream segment
// A full payload then has 1024 bytes: exactly four blocks of the cipher's vector code.
_Static_assert(CAIRN_LINK_HEADER_SIZE + CAIRN_LINK_PART_HEADER_SIZE + CAIRN_LINK_PART_SIZE == 1024,
    "full payloads are multiples of 256");
// A message up to this size travels in one payload, a larger one in fragments.
#define CAIRN_LINK_SINGLE_SIZE_MAX (CAIRN_PAYLOAD_SIZE_MAX - CAIRN_LINK_HEADER_SIZE)
#define CAIRN_LINK_FRAGMENTS_MAX                                                                   \
    ((CAIRN_MESSAGE_SIZE_MAX + CAIRN_LINK_PART_SIZE - 1) / CAIRN_LINK_PART_SIZE)
#define CAIRN_LINK_ACK_WORDS_MAX 8 // further ack bits in a bare ack
#define CAIRN_LINK_WINDOW_UNIT 4096
#define CAIRN_LINK_ACK_DELAY_UNIT_NS 8000
#define CAIRN_LINK_ACK_DELAY_UNKNOWN 0xffff

// How long a peer may hold an ack back; part of every timeout, since the ack may be that late.
#define CAIRN_ACK_DELAY_NS 20000000ull
// The longest delay that a peer may choose for acks of unreliable messages.
#define CAIRN_ACK_DELAY_NS_MAX 60000000ull

typedef enum cairn_link_kind {
    CAIRN_LINK_ACK = 1,      // nothing but acks
    CAIRN_LINK_MESSAGE = 2,  // a complete unreliable message
    CAIRN_LINK_FRAGMENT = 3, // a fragment of one
    CAIRN_LINK_STREAM = 4,   // a segment of the reliable stream
} cairn_link_kind;

typedef struct cairn_link_header {
    uint8_t kind;       // cairn_link_kind
    bool has_ack;       // false before anything was received; the ack fields are 0 then
    uint8_t window;     // receive window of the stream, in units of 4096 bytes, at least 1
    uint16_t ack_delay; // from receiving `ack` to sending this, in units of 8 us; 0xffff: longer
    uint32_t sequence;  // low 32 bits
    uint32_t ack;       // newest sequence received, low 32 bits
    uint32_t ack_bits;  // bit i: the sequence i + 1 before it was received
} cairn_link_header;

void cairn_link_header_write(const cairn_link_header *header, uint8_t *bytes);
// CAIRN_LINK_TAKEN, CAIRN_LINK_DROP_SIZE or CAIRN_LINK_DROP_KIND.
cairn_link_drop cairn_link_header_read(const uint8_t *bytes, size_t size, cairn_link_header *out);

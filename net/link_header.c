// SPDX-License-Identifier: MIT
#include "net/link_header.h"

#include "base/assert.h"
#include "base/bytes.h"

static const uint8_t kind_mask = 0x07;
static const uint8_t has_ack_flag = 0x08;

const char *cairn_link_drop_text(cairn_link_drop drop) {
    static const char *const texts[CAIRN_LINK_DROP_COUNT] = {
        [CAIRN_LINK_TAKEN] = "taken",
        [CAIRN_LINK_DROP_SIZE] = "payload size does not fit its kind",
        [CAIRN_LINK_DROP_KIND] = "unknown payload kind or reserved bits set",
        [CAIRN_LINK_DROP_STALE] = "older than the sequence window",
        [CAIRN_LINK_DROP_DUPLICATE] = "received before",
        [CAIRN_LINK_DROP_ACK] = "acknowledges a payload that was never sent",
        [CAIRN_LINK_DROP_FRAGMENT] = "fragment is invalid or contradicts another",
        [CAIRN_LINK_DROP_MESSAGE_SIZE] = "message larger than this side accepts",
        [CAIRN_LINK_DROP_WINDOW] = "another receive window than before",
        [CAIRN_LINK_DROP_STREAM] = "reliable bytes outside the receive window",
    };
    return (unsigned)drop < CAIRN_LINK_DROP_COUNT ? texts[drop] : "unknown";
}

void cairn_link_header_write(const cairn_link_header *header, uint8_t *bytes) {
    CAIRN_ASSERT(header->kind >= CAIRN_LINK_ACK && header->kind <= CAIRN_LINK_STREAM);
    cairn_writer writer = cairn_writer_of(bytes, CAIRN_LINK_HEADER_SIZE);
    cairn_write_u8(&writer, (uint8_t)(header->kind | (header->has_ack ? has_ack_flag : 0)));
    cairn_write_u8(&writer, header->window);
    cairn_write_u16(&writer, header->ack_delay);
    cairn_write_u32(&writer, header->sequence);
    cairn_write_u32(&writer, header->ack);
    cairn_write_u32(&writer, header->ack_bits);
    CAIRN_ASSERT(writer.ok && writer.at == CAIRN_LINK_HEADER_SIZE);
}

static bool is_kind_valid(const cairn_link_header *header, uint8_t flags) {
    const bool known = header->kind >= CAIRN_LINK_ACK && header->kind <= CAIRN_LINK_STREAM;
    const bool reserved = (flags & ~(kind_mask | has_ack_flag)) != 0;
    const bool ack_fields = (header->ack_delay | header->ack | header->ack_bits) != 0;
    const bool bare_without_ack = header->kind == CAIRN_LINK_ACK && !header->has_ack;
    return known && !reserved && header->window > 0 && (header->has_ack || !ack_fields) &&
           !bare_without_ack;
}

static bool is_size_valid(uint8_t kind, size_t body) {
    switch (kind) {
    case CAIRN_LINK_ACK:
        return body % 4 == 0 && body <= 4 * CAIRN_LINK_ACK_WORDS_MAX;
    case CAIRN_LINK_MESSAGE:
        return body >= 1 && body <= CAIRN_LINK_SINGLE_SIZE_MAX;
    default:
        return body > CAIRN_LINK_PART_HEADER_SIZE &&
               body <= CAIRN_LINK_PART_HEADER_SIZE + CAIRN_LINK_PART_SIZE;
    }
}

cairn_link_drop cairn_link_header_read(const uint8_t *bytes, size_t size, cairn_link_header *out) {
    cairn_reader reader = cairn_reader_of(bytes, size);
    const uint8_t flags = cairn_read_u8(&reader);
    *out = (cairn_link_header){.kind = flags & kind_mask, .has_ack = (flags & has_ack_flag) != 0};
    out->window = cairn_read_u8(&reader);
    out->ack_delay = cairn_read_u16(&reader);
    out->sequence = cairn_read_u32(&reader);
    out->ack = cairn_read_u32(&reader);
    out->ack_bits = cairn_read_u32(&reader);
    if (!reader.ok) {
        return CAIRN_LINK_DROP_SIZE;
    }
    if (!is_kind_valid(out, flags)) {
        return CAIRN_LINK_DROP_KIND;
    }
    return is_size_valid(out->kind, cairn_reader_left(&reader)) ? CAIRN_LINK_TAKEN
                                                                : CAIRN_LINK_DROP_SIZE;
}

// SPDX-License-Identifier: MIT
#include "proto_tests/schema/flat.h"

#include <string.h>

#include "base/assert.h"

static void copy(flat *f, cairn_status status, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(status == CAIRN_OK);
    CAIRN_ASSERT(size <= FLAT_SIZE_MAX && (uintptr_t)bytes % 8 == 0);
    memcpy(f->bytes, bytes, size);
    f->size = size;
    f->inner = 0;
}

void flat_encode_sent(flat *f, cairn_encoder *encoder, const cairn_message *message) {
    const uint8_t *bytes;
    size_t size;
    const cairn_status status = cairn_message_encode(encoder, message, &bytes, &size);
    copy(f, status, bytes, size);
}

// The tables of messages that are sent in their short form have the layout of PLAYER_MESSAGE.
void flat_encode_message(flat *f, cairn_encoder *encoder, const cairn_message *message) {
    cairn_message table = *message;
    if (message->kind == CAIRN_MESSAGE_INPUT || message->kind == CAIRN_MESSAGE_TICKS) {
        const bool input = message->kind == CAIRN_MESSAGE_INPUT;
        table = (cairn_message){.kind = CAIRN_MESSAGE_PLAYER_MESSAGE,
            .player_message = {.bytes = input ? message->input.payload : message->ticks.payload,
                .size = input ? message->input.payload_size : message->ticks.payload_size}};
    }
    flat_encode_sent(f, encoder, &table);
    CAIRN_ASSERT(f->size % 8 == 0);
    *flat_tag(f) = (uint8_t)message->kind;
}

void flat_encode_chunk(flat *f, cairn_encoder *encoder, const cairn_chunk *chunk) {
    const uint8_t *bytes;
    size_t size;
    const cairn_status status = cairn_chunk_encode(encoder, chunk, &bytes, &size);
    copy(f, status, bytes, size);
}

uint32_t flat_u32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void flat_put_u32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; ++i) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static uint8_t *follow(uint8_t *offset) {
    return offset + flat_u32(offset);
}

static uint8_t *slot_of(uint8_t *table, unsigned field) {
    uint8_t *vtable = table - (int32_t)flat_u32(table);
    CAIRN_ASSERT(4 + 2 * field < (unsigned)(vtable[0] | vtable[1] << 8));
    return vtable + 4 + 2 * field;
}

static uint8_t *field_of(uint8_t *table, unsigned field) {
    const uint8_t *slot = slot_of(table, field);
    const unsigned offset = (unsigned)(slot[0] | slot[1] << 8);
    CAIRN_ASSERT(offset != 0);
    return table + offset;
}

static uint8_t *body_of(flat *f) {
    uint8_t *body = follow(field_of(follow(f->bytes), 1));
    return f->inner == 0 ? body : follow(field_of(body, f->inner));
}

uint8_t *flat_tag(flat *f) {
    return field_of(follow(f->bytes), 0);
}

uint8_t *flat_body_slot(flat *f) {
    return slot_of(follow(f->bytes), 1);
}

uint8_t *flat_slot(flat *f, unsigned field) {
    return slot_of(body_of(f), field);
}

uint8_t *flat_field(flat *f, unsigned field) {
    return field_of(body_of(f), field);
}

uint8_t *flat_vector(flat *f, unsigned field) {
    return follow(flat_field(f, field));
}

void flat_stretch(flat *f, unsigned field, uint32_t count, size_t element_size) {
    uint8_t *vector = flat_vector(f, field);
    const uint32_t old_count = flat_u32(vector);
    if (count <= old_count) {
        flat_put_u32(vector, count);
        return;
    }
    // A copy at the end of the bytes, its elements aligned to 8.
    uint8_t *copy = f->bytes + ((f->size + 7) & ~(size_t)7) + 4;
    const size_t new_size =
        (size_t)(copy + 4 - f->bytes) + ((count * element_size + 7) & ~(size_t)7);
    CAIRN_ASSERT(new_size <= FLAT_SIZE_MAX);
    memset(f->bytes + f->size, 0, new_size - f->size);
    flat_put_u32(copy, count);
    memcpy(copy + 4, vector + 4, old_count * element_size);
    f->size = new_size;
    uint8_t *offset = flat_field(f, field);
    flat_put_u32(offset, (uint32_t)(copy - offset));
}

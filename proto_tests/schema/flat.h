// SPDX-License-Identifier: MIT
#pragma once

// The bytes of one message, and the places of its fields found by the rules of FlatBuffers, so that
// a test can change one thing and leave the rest valid. Only for bytes that the codec wrote.

#include <stddef.h>
#include <stdint.h>

#include "schema/codec.h"

enum { FLAT_SIZE_MAX = 512 * 1024 };

typedef struct flat {
    _Alignas(8) uint8_t bytes[FLAT_SIZE_MAX];
    size_t size;
    unsigned inner; // the table in this field of the body is used instead of the body; 0: the body
} flat;

// Copy the bytes of a message or chunk, which must be valid: as it is sent, and as FlatBuffers also
// if it is sent in its short form.
void flat_encode_sent(flat *f, cairn_encoder *encoder, const cairn_message *message);
void flat_encode_message(flat *f, cairn_encoder *encoder, const cairn_message *message);
void flat_encode_chunk(flat *f, cairn_encoder *encoder, const cairn_chunk *chunk);
uint32_t flat_u32(const uint8_t *at);
void flat_put_u32(uint8_t *at, uint32_t value);

uint8_t *flat_tag(flat *f);                    // the union's tag in the root table
uint8_t *flat_body_slot(flat *f);              // the vtable's entry for the union's body
uint8_t *flat_slot(flat *f, unsigned field);   // the vtable's entry of a field of the body
uint8_t *flat_field(flat *f, unsigned field);  // where the body holds the field
uint8_t *flat_vector(flat *f, unsigned field); // its length; the elements follow
// Gives a vector `count` elements of `element_size`, the new ones zero.
void flat_stretch(flat *f, unsigned field, uint32_t count, size_t element_size);

// SPDX-License-Identifier: MIT
#pragma once

// A walk through FlatBuffers bytes by the format's own rules, so that tests can break one thing of
// a message and leave the rest whole. For bytes that the codec made, never for hostile ones.

#include <stddef.h>
#include <stdint.h>

enum { FLAT_SIZE_MAX = 512 * 1024 };

typedef struct flat {
    _Alignas(8) uint8_t bytes[FLAT_SIZE_MAX];
    size_t size;
    unsigned inner; // the table in this field of the body is used instead of the body; 0: the body
} flat;

void flat_copy(flat *f, const uint8_t *bytes, size_t size);
uint32_t flat_u32(const uint8_t *at);
void flat_put_u32(uint8_t *at, uint32_t value);

uint8_t *flat_tag(flat *f);                    // the union's tag in the root table
uint8_t *flat_body_slot(flat *f);              // the vtable's entry for the union's body
uint8_t *flat_slot(flat *f, unsigned field);   // the vtable's entry of a field of the body
uint8_t *flat_field(flat *f, unsigned field);  // where the body holds the field
uint8_t *flat_vector(flat *f, unsigned field); // its length; the elements follow
// Gives a vector `count` elements of `element_size`, the new ones zero.
void flat_stretch(flat *f, unsigned field, uint32_t count, size_t element_size);

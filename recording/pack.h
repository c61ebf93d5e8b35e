// SPDX-License-Identifier: MIT
#pragma once

// Compression of chunk payloads with zstd (RFC 8878); pack.c is the only file that includes it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/packing.h"
#include <cairn/status.h>

// The functions below, for a recorder.
extern const cairn_packing_functions cairn_packing_zstd;

// zstd enlarges its memory for a payload that is larger than all before. CAIRN_OUT_OF_MEMORY: *out
// is NULL.
cairn_status cairn_packer_create(cairn_packer **out);
void cairn_packer_destroy(cairn_packer *packer); // NULL is allowed

// Packs `size` bytes into `out` as one zstd frame that states the size of its content. Returns the
// size of the frame, 0 if it does not fit `room`: the caller then stores the bytes unpacked.
size_t cairn_pack(
    cairn_packer *packer, const uint8_t *bytes, size_t size, uint8_t *out, size_t room);

typedef enum cairn_unpack_refusal {
    CAIRN_UNPACK_OK = 0,
    CAIRN_UNPACK_NO_FRAME,   // not exactly one complete zstd frame
    CAIRN_UNPACK_WRONG_SIZE, // the frame holds more or fewer bytes than the chunk's head says
    CAIRN_UNPACK_DAMAGED,    // the frame is truncated or inconsistent
    CAIRN_UNPACK_REFUSAL_COUNT
} cairn_unpack_refusal;
// A short lower-case English phrase, never NULL.
const char *cairn_unpack_refusal_text(cairn_unpack_refusal refusal);

typedef struct cairn_unpacker cairn_unpacker;
// CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_unpacker_create(cairn_unpacker **out);
void cairn_unpacker_destroy(cairn_unpacker *unpacker); // NULL is allowed

// Unpacks untrusted bytes into `out`, which has room for raw_size bytes, the size that the content
// must have. Never writes past it, and allocates nothing by sizes that the frame states. After a
// refusal the content of `out` is undefined.
cairn_unpack_refusal cairn_unpack(
    cairn_unpacker *unpacker, const uint8_t *packed, size_t size, uint8_t *out, size_t raw_size);

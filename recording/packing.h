// SPDX-License-Identifier: MIT
#pragma once

// How a recorder packs payloads, as a table of functions. A recorder that has none stores payloads
// as they are, so a client that writes a desync report links no compression library.

#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>

// Memory that packing reuses from one payload to the next.
typedef struct cairn_packer cairn_packer;

typedef struct cairn_packing_functions {
    // CAIRN_OUT_OF_MEMORY: *out is NULL.
    cairn_status (*create)(cairn_packer **out);
    void (*destroy)(cairn_packer *packer); // NULL is allowed
    // Packs `size` bytes into `out`. Returns the packed size, 0 if it does not fit `room`: the
    // caller then stores the bytes unpacked.
    size_t (*pack)(
        cairn_packer *packer, const uint8_t *bytes, size_t size, uint8_t *out, size_t room);
} cairn_packing_functions;

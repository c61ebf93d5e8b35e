// SPDX-License-Identifier: MIT
#pragma once

// Makes one direction of a client's path bad: loses, duplicates and delays payloads, drawn from a
// seed. Exists only while an operator asks for it.

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/random.h"

typedef struct cairn_link_conditioner_config {
    float loss;      // probability, [0, 1]
    float duplicate; // probability for a payload that is not lost, [0, 1]
    uint64_t delay_ns;
    uint64_t jitter_ns; // up to this much is added to the delay
    uint64_t seed;
} cairn_link_conditioner_config;

typedef struct cairn_link_conditioner cairn_link_conditioner;

// CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_link_conditioner_create(
    const cairn_link_conditioner_config *config, cairn_link_conditioner **out);
void cairn_link_conditioner_destroy(cairn_link_conditioner *conditioner); // NULL is allowed

// Takes a payload of 1 to CAIRN_PAYLOAD_SIZE_MAX bytes. When too many payloads are in flight it is
// lost, as on a path whose buffers are full.
void cairn_link_conditioner_put(
    cairn_link_conditioner *conditioner, uint64_t now_ns, const uint8_t *bytes, size_t size);
// The next payload that has arrived by now, into `bytes` (room for CAIRN_PAYLOAD_SIZE_MAX); 0:
// none.
size_t cairn_link_conditioner_take(
    cairn_link_conditioner *conditioner, uint64_t now_ns, uint8_t *bytes);
// When the next payload arrives; UINT64_MAX: none is in flight.
uint64_t cairn_link_conditioner_due_ns(const cairn_link_conditioner *conditioner);

// SPDX-License-Identifier: MIT
#pragma once

// A bad path for payloads of one direction: loses, repeats and delays them, drawn from a seed. An
// operator's, and only there while one wants it.

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/random.h"

typedef struct cairn_link_conditioner_config {
    float loss;      // share in [0, 1]
    float duplicate; // likewise, of those that are not lost
    uint64_t delay_ns;
    uint64_t jitter_ns; // added to the delay: up to so much
    uint64_t seed;
} cairn_link_conditioner_config;

typedef struct cairn_link_conditioner cairn_link_conditioner;

// NULL: out of memory.
cairn_link_conditioner *cairn_link_conditioner_create(const cairn_link_conditioner_config *config);
void cairn_link_conditioner_destroy(cairn_link_conditioner *box); // NULL is allowed

// A payload of at most CAIRN_PAYLOAD_SIZE_MAX enters. What finds no room is lost, as on a path
// whose buffers are full.
void cairn_link_conditioner_put(
    cairn_link_conditioner *box, uint64_t now_ns, const uint8_t *bytes, size_t size);
// The next that has arrived by now, into `bytes` (room for CAIRN_PAYLOAD_SIZE_MAX). 0: none.
size_t cairn_link_conditioner_take(cairn_link_conditioner *box, uint64_t now_ns, uint8_t *bytes);
// When the next arrives; UINT64_MAX: none is on its way.
uint64_t cairn_link_conditioner_due_ns(const cairn_link_conditioner *box);

// SPDX-License-Identifier: MIT
#pragma once

// Changes members of messages and chunks as bytes choose: the structure-aware mutators of fuzzers,
// and what hostile peers of whole sessions send. The tables of the codec list the members, so that
// a new one is changed too.

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "schema/messages.h"
#include "schema/recording.h"

#define MUTATION_NEAR_COUNT 4
#define MUTATION_MEMORY_SIZE (64 * 1024)

typedef struct mutation {
    cairn_reader choices;                             // zeros when they are used up
    uint64_t near[MUTATION_NEAR_COUNT];               // numbers that mean something to the receiver
    size_t used;                                      // of the memory
    _Alignas(8) uint8_t memory[MUTATION_MEMORY_SIZE]; // changed arrays and texts
} mutation;

// Begins anew with these choices; what was changed before is no longer valid.
void mutation_begin(mutation *m, const uint8_t *choices, size_t size);

// Changes one member. The result points into what it pointed into before and into the mutation, and
// may break the rules of its kind: then the encoder refuses it.
void mutate_message(mutation *m, cairn_message *message);
void mutate_chunk(mutation *m, cairn_chunk *chunk);

// A request with empty texts and zeros: to be mutated.
cairn_control_request mutation_blank_request(uint32_t verb);

// The body of a custom mutator: changes up to four members of the message, chunk in `data` and
// encodes it again. Returns the new size, or 0 if the bytes are neither, or the result is refused
// or too large.
size_t mutate_encoded_message(uint8_t *data, size_t size, size_t size_max, uint32_t seed);
size_t mutate_encoded_chunk(uint8_t *data, size_t size, size_t size_max, uint32_t seed);

// SPDX-License-Identifier: MIT
#pragma once

// A difference sketch of a world (an invertible Bloom lookup table): a few cells into which every
// element of the state is added. The difference of two sketches holds only the elements that differ
// and, if these are not too many, can be decoded into their keys. Its size depends on how much
// differs, not on the size of the worlds, and one message suffices.
//
// Peeling of a table of cells: Goodrich and Mitzenmacher, "Invertible Bloom Lookup Tables" (2011),
// section 3; as a difference of sets: Eppstein, Goodrich, Uyeda, Varghese, "What's the Difference?"
// (2011), section 3. A cell here differs from theirs: it holds the sum of h and the sum of key * h
// over its elements, in the field of integers modulo 2^61 - 1, h being the element's hash; an
// element that differs between the worlds leaves one key and the difference of two hashes, not two
// entries. In a cell with one key, the key is the quotient of the two sums: Ganguly's counters, as
// in Cormode and Firmani, "A unifying framework for l0-sampling algorithms" (2014), section 2.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/serialize/elements.h"
#include <cairn/status.h>

// A number of cells is a multiple of 4 within these bounds. Up to about three quarters as many keys
// can be decoded.
#define CAIRN_SKETCH_CELLS_MIN 4
#define CAIRN_SKETCH_CELLS_MAX 1024
#define CAIRN_SKETCH_CELL_SIZE 16

// Writes cells * CAIRN_SKETCH_CELL_SIZE bytes, little-endian (docs/PROTOCOL.md, section Healing).
// Reads the whole state once: some tens of nanoseconds for each element.
void cairn_sketch_build(const cairn_world *world, uint32_t cells, uint8_t *out);

// Whether a sketch may have so many bytes.
bool cairn_sketch_size_ok(size_t size);

// The keys of all elements in which `mine` differs from the world that `theirs` was built from, at
// most `capacity`, strictly increasing. The bytes may be hostile. CAIRN_MALFORMED: no sketch has
// such bytes. CAIRN_CAPACITY: too much differs for these cells or for `capacity`. *count is 0 then.
// With a probability of about 2^-40 the answer is wrong; the exchanged elements then do not make
// the roots equal.
cairn_status cairn_sketch_difference(const cairn_world *mine, const uint8_t *theirs, size_t size,
    cairn_element_key *keys, uint32_t capacity, uint32_t *count);
// The same with the sketch of `mine` that was built before, of as many bytes as `theirs`.
cairn_status cairn_sketch_compare(const cairn_world *mine, const uint8_t *sketch,
    const uint8_t *theirs, size_t size, cairn_element_key *keys, uint32_t capacity,
    uint32_t *count);

// SPDX-License-Identifier: MIT
#pragma once

// A difference sketch of a world: a few cells into which every element of the state is added, such
// that the difference of two worlds' sketches holds nothing but the elements that differ and, if
// these are not too many, can be taken apart into their keys. Its size follows from how much
// differs, not from how much there is, and one message tells everything.
//
// Peeling of a table of cells: Goodrich and Mitzenmacher, "Invertible Bloom Lookup Tables" (2011),
// section 3; as a difference of sets: Eppstein, Goodrich, Uyeda, Varghese, "What's the
// Difference?" (2011), section 3. A cell here is not theirs: it holds the sum of h and the sum of
// key * h over its elements, in the field of integers modulo 2^61 - 1, h being the element's hash;
// of an element that both worlds hold differently, one key and the difference of two hashes remain
// instead of two entries. A cell with one such key gives it away as the quotient of the two sums:
// Ganguly's counters, as in Cormode and Firmani, "A unifying framework for l0-sampling algorithms"
// (2014), section 2.

#include <stddef.h>
#include <stdint.h>

#include "sim/serialize/elements.h"
#include <cairn/status.h>

// A number of cells is a multiple of 4 within these bounds. Keys of up to about three quarters as
// many elements come out.
#define CAIRN_SKETCH_CELLS_MIN 4
#define CAIRN_SKETCH_CELLS_MAX 1024
#define CAIRN_SKETCH_CELL_SIZE 16

// Writes cells * CAIRN_SKETCH_CELL_SIZE bytes, little-endian (docs/PROTOCOL.md, section Healing).
// Reads the whole state once: some tens of nanoseconds for each element.
void cairn_sketch_build(const cairn_world *world, uint32_t cells, uint8_t *out);

// The keys of all elements in which `mine` differs from the world that `theirs` was built from, at
// most `capacity`, strictly increasing. Hostile bytes are welcome. CAIRN_MALFORMED: no sketch has
// such bytes; CAIRN_CAPACITY: too much differs for these cells or for `capacity`. *count is then 0.
// A wrong answer, once in some 2^40, ends in elements that do not make the roots equal.
cairn_status cairn_sketch_difference(const cairn_world *mine, const uint8_t *theirs, size_t size,
    cairn_element_key *keys, uint32_t capacity, uint32_t *count);

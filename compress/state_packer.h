// SPDX-License-Identifier: MIT
#pragma once

// Packs the canonical encoding of a world without loss: a client that joins is sent a fifth of it.
// The encoding is columns of words (base/word_group.h). Each column is predicted from the element
// before, from another column of the element, or from the body that a word of it names, and coded
// by an arithmetic coder that mixes what it learns in several contexts (compress/bit_mixer.h).
// docs/PROTOCOL.md, "Packed states", has the layout.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/word_group.h"

// The packed bytes of `size` bytes, which are the words of the groups one after the other
// (asserted). Returns how many; SIZE_MAX: more than `packed_size`, or memory is short.
size_t cairn_state_pack(const uint8_t *bytes, size_t size, const cairn_word_group *groups,
    uint32_t group_count, uint8_t *packed, size_t packed_size);

// Fills `bytes` with what was packed. False: the packed bytes are malformed, or of another size, or
// memory is short. Its time grows with `size` alone. The floating-point mode is the default.
bool cairn_state_unpack(const uint8_t *packed, size_t packed_size, uint8_t *bytes, size_t size);

// SPDX-License-Identifier: MIT
#pragma once

// Elements of the block of state, by key: what two worlds that should be equal exchange when they
// differ. docs/PROTOCOL.md, section Healing, describes keys and bytes.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/sim.h>
#include <cairn/status.h>

// Bits 56 to 60: the array, as the canonical encoding numbers them. The others: the index. A
// contact has no stable index: its key holds the slots of its two shapes, the lower one in bits 36
// to 55, the other in bits 16 to 35, and its part in the low 16 bits.
typedef uint64_t cairn_element_key;

// Bytes that cairn_elements_encode writes for these keys.
size_t cairn_elements_size(
    const cairn_world *world, const cairn_element_key *keys, uint32_t key_count);
// Encodes the elements with these keys (strictly increasing, as cairn_sketch_difference returns
// them); a key without an element is encoded as absent. Returns the bytes written, 0 if `size` is
// too small.
size_t cairn_elements_encode(const cairn_world *world, const cairn_element_key *keys,
    uint32_t key_count, void *bytes, size_t size);

// Replaces, creates or removes the encoded elements, so that they are as in the world that was
// encoded. Derived data is rebuilt. The bytes may be hostile: every rule
// of cairn_world_decode is checked on a copy, and a refusal leaves the world unchanged. Returns
// CAIRN_MALFORMED, CAIRN_NON_FINITE or CAIRN_CAPACITY; bytes of another tick or def are malformed.
// `where` (may be NULL) receives a static text that names the broken rule.
cairn_status cairn_elements_apply(
    cairn_world *world, const void *bytes, size_t size, const char **where);
// The full root, computed from every word without the hash cache, which does not notice memory that
// changed by itself. This call and the next hash each cost a hash of the whole state.
cairn_hash128 cairn_world_root_fresh(cairn_world *world);
// The number of elements that the bytes announce; 0 if they are too short.
uint32_t cairn_elements_count(const void *bytes, size_t size);

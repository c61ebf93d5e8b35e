// SPDX-License-Identifier: MIT
#pragma once

// Elements of the block of state, by key: what two worlds that should be equal tell each other of
// when they are not. docs/PROTOCOL.md, section Healing, describes keys and bytes.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/sim.h>
#include <cairn/status.h>

// Bits 56 to 59: the array, as the canonical encoding numbers them. Low 40 bits: the index; of a
// contact, which has none that lasts, the slots of its two shapes, the lower one in the high 20.
typedef uint64_t cairn_element_key;

// Bytes that cairn_elements_encode writes for these keys.
size_t cairn_elements_size(
    const cairn_world *world, const cairn_element_key *keys, uint32_t key_count);
// What the world has under these keys (strictly increasing, as cairn_sketch_difference gives them),
// or that it has nothing. Returns the bytes written, 0 when `size` is too small.
size_t cairn_elements_encode(const cairn_world *world, const cairn_element_key *keys,
    uint32_t key_count, void *bytes, size_t size);

// Makes the elements told of what they are in the world that was encoded: replaced, created or
// removed; what follows from the state is rebuilt, and events are forgotten. Hostile bytes are
// welcome: every rule of cairn_world_decode is checked on a copy, and a refusal leaves the world
// unchanged. CAIRN_MALFORMED, CAIRN_NON_FINITE, CAIRN_CAPACITY; bytes of another tick or def are
// malformed. `where` (may be NULL) receives a static text that names what was refused.
cairn_status cairn_elements_apply(
    cairn_world *world, const void *bytes, size_t size, const char **where);
// The full root from every word there is, whatever the hash has kept: memory that changed by itself
// told it nothing. Costs as much as the state is large, now and the next time.
cairn_hash128 cairn_world_root_fresh(cairn_world *world);
// How many elements such bytes tell of; 0 when they are too short to say.
uint32_t cairn_elements_count(const void *bytes, size_t size);

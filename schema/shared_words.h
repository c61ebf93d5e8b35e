// SPDX-License-Identifier: MIT
#pragma once

// The rules' shared part as the difference to what the receiver holds: pairs of how many words did
// not change, and the change of the next one.

#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>

// The words that changed of an array of `count`: the shared part of rules. Returns the bytes
// written, 0 if nothing changed. `size`: at least 6 for each word (asserted).
size_t cairn_words_encode(
    const uint32_t *before, const uint32_t *after, uint32_t count, uint8_t *bytes, size_t size);
// CAIRN_MALFORMED: these bytes are no difference of `count` words. `after` may be `before`.
cairn_status cairn_words_apply(
    const uint32_t *before, uint32_t count, const uint8_t *bytes, size_t size, uint32_t *after);

// SPDX-License-Identifier: MIT
#pragma once

// The packed payload of a delta snapshot: what changed from a baseline's bodies to the current
// ones. Exact: applying it to the baseline gives the current bodies bit for bit.

#include <stddef.h>
#include <stdint.h>

#include "schema/messages.h"
#include <cairn/status.h>

// Both arrays in order of id index (low 20 bits). Returns the bytes written, 0 when `size` is too
// small.
size_t cairn_delta_encode(const cairn_snapshot_body *baseline, uint32_t baseline_count,
    const cairn_snapshot_body *current, uint32_t current_count, uint8_t *bytes, size_t size);

// Hostile payloads are refused with CAIRN_MALFORMED, never read out of bounds. CAIRN_CAPACITY when
// the result has more than `capacity` bodies. On failure *count is 0. `where` may be NULL.
cairn_status cairn_delta_apply(const cairn_snapshot_body *baseline, uint32_t baseline_count,
    const uint8_t *payload, size_t payload_size, cairn_snapshot_body *out, uint32_t capacity,
    uint32_t *count, const char **where);

// The words that changed of an array of `count`: the shared part of rules. Returns the bytes
// written, 0 if nothing changed. `size`: at least 6 for each word (asserted).
size_t cairn_words_encode(
    const uint32_t *before, const uint32_t *after, uint32_t count, uint8_t *bytes, size_t size);
// CAIRN_MALFORMED: these bytes are no difference of `count` words. `after` may be `before`.
cairn_status cairn_words_apply(
    const uint32_t *before, uint32_t count, const uint8_t *bytes, size_t size, uint32_t *after);

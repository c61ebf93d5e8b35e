// SPDX-License-Identifier: MIT
#pragma once

// The rules that a message must keep beyond its structure, the same for encoding and decoding. The
// first rule that is broken is reported. Order: a vector's count, missing fields, text, then
// the floats of each element, its ranges, and last the order of elements.

#include "schema/decode_refusal.h"
#include "schema/messages.h"
#include "schema/recording.h"

#ifdef __cplusplus
extern "C" {
#endif

cairn_decode_refusal cairn_message_check(const cairn_message *message);
cairn_decode_refusal cairn_chunk_check(const cairn_chunk *chunk);

// Bodies as a snapshot promises them: strictly rising id index, finite, unit rotations.
cairn_decode_refusal cairn_bodies_check(const cairn_snapshot_body *bodies, uint32_t count);

#ifdef __cplusplus
}
#endif

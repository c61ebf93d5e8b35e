// SPDX-License-Identifier: MIT
#pragma once

// How long the vectors of a message are, so that the encoder knows before it begins whether its
// memory is large enough.

#include <stddef.h>

#include "schema/messages.h"
#include "schema/recording.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes, of what has passed its check (schema/message_check.h).
size_t cairn_message_vectors_size(const cairn_message *message);
size_t cairn_chunk_vectors_size(const cairn_chunk *chunk);

#ifdef __cplusplus
}
#endif

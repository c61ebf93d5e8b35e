// SPDX-License-Identifier: MIT
#pragma once

// The codec between plain C structs and FlatBuffers bytes; codec.cpp is the only C++ file of the
// project. A message is verified here once, on arrival; later stages do not check it again.

#include <stddef.h>
#include <stdint.h>

#include "schema/decode_refusal.h"
#include "schema/messages.h"
#include "schema/recording.h"
#include <cairn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

// An encoder allocates all its memory at create; encoding allocates nothing.
typedef struct cairn_encoder cairn_encoder;

// `message_size_max` bounds every message it will make (at most CAIRN_MESSAGE_SIZE_MAX, or more for
// recordings: CAIRN_STATE_SIZE_MAX + 4096). CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_encoder_create(size_t message_size_max, cairn_encoder **out);
void cairn_encoder_destroy(cairn_encoder *encoder);

// Encodes into the encoder's memory; *bytes last until its next call and start on 8 bytes.
// CAIRN_INVALID_ARGUMENT: the message breaks its own header's rules. CAIRN_CAPACITY: larger than
// message_size_max.
cairn_status cairn_message_encode(
    cairn_encoder *encoder, const cairn_message *message, const uint8_t **bytes, size_t *size);

// Makes a TICKS message of `size` bytes: the first is written here, the others are a payload that
// cairn_ticks_writer wrote. The bytes are those of cairn_message_encode, without its copy. The
// payload is checked in debug builds only: a server makes one for each client and tick.
void cairn_ticks_message_finish(uint8_t *bytes, size_t size);

typedef enum cairn_direction {
    CAIRN_TO_SERVER = 0,
    CAIRN_TO_CLIENT = 1,
} cairn_direction;

// Verifies and reads in place, no copy. `bytes` must start on 8 bytes (asserted: our buffers).
// On refusal out->kind is CAIRN_MESSAGE_NONE.
cairn_decode_refusal cairn_message_decode(
    const uint8_t *bytes, size_t size, cairn_direction direction, cairn_message *out);

#ifdef __cplusplus
}
#endif

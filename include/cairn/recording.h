// SPDX-License-Identifier: MIT
#pragma once

// Plays a recording: a world that begins with the recorded start state and steps through the
// recorded ticks. A caller verifies it by comparing the world's hash with the recorded one after
// each tick, and by checking the seal: a hash chain over all ticks, which the recorder may sign.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>
#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_player cairn_player;

typedef enum cairn_player_event {
    CAIRN_PLAYER_END = 0,  // no complete chunk follows: cairn_player_end_text says why
    CAIRN_PLAYER_TICK,     // the world was stepped
    CAIRN_PLAYER_KEYFRAME, // a recorded state of this tick; the world is unchanged
    CAIRN_PLAYER_REPLACED, // an operator replaced the world
    CAIRN_PLAYER_REFUSED,  // the next chunk is damaged or not allowed here
} cairn_player_event;

#define CAIRN_PLAYER_TEXT_SIZE 512

// Opens a recording. `bytes` holds the complete file, is aligned to 8 bytes and must outlive the
// player. The rules must be built in. On failure *out is NULL and `text` holds one sentence on why.
// CAIRN_INVALID_ARGUMENT: bytes not aligned. CAIRN_VERSION_MISMATCH: recorded by another version of
// the simulation or of the rules, or with rules that are not built in. CAIRN_MALFORMED: not a
// recording, or its start is damaged. CAIRN_OUT_OF_MEMORY. Pair with cairn_player_destroy.
cairn_status cairn_player_create(
    const uint8_t *bytes, size_t size, cairn_player **out, char text[CAIRN_PLAYER_TEXT_SIZE]);
void cairn_player_destroy(cairn_player *player); // NULL is allowed

// Plays the next tick or state. After END or REFUSED each further call returns the same.
cairn_player_event cairn_player_next(cairn_player *player);
// The world, owned by the player. A pointer is valid until the next call of cairn_player_next.
const cairn_world *cairn_player_world(const cairn_player *player);
// The full hash that was recorded after the last tick; zeros before the first.
cairn_hash128 cairn_player_recorded_hash(const cairn_player *player);

// After END: whether the recorder closed the recording; false if it was cut off or damaged.
bool cairn_player_complete(const cairn_player *player);
// After END or REFUSED: one sentence on how the recording ends or what is wrong, with the offset.
void cairn_player_end_text(const cairn_player *player, char text[CAIRN_PLAYER_TEXT_SIZE]);

typedef enum cairn_seal_verdict {
    CAIRN_SEAL_NONE = 0, // no end chunk can be read, or it is of format version 1 without a chain
    CAIRN_SEAL_UNSIGNED, // the chain agrees, it is not signed
    CAIRN_SEAL_SIGNED,   // the chain agrees and public_key's owner signed it
    CAIRN_SEAL_CHAIN,    // the chain differs: the recording was changed after it was written
    CAIRN_SEAL_FORGED,   // the chain agrees, the signature is not public_key's
} cairn_seal_verdict;
const char *cairn_seal_text(cairn_seal_verdict seal); // lower case, never NULL

// Bytes of an Ed25519 public key.
#define CAIRN_RECORDING_KEY_SIZE 32

// Checks the seal without stepping. `bytes` holds the complete file and is aligned to 8 bytes
// (asserted). `public_key` receives the key that the file names, or zeros if it names none. The
// verdict SIGNED proves that the owner of that key signed the file; compare the key with the one
// you expect.
cairn_seal_verdict cairn_recording_check_seal(
    const uint8_t *bytes, size_t size, uint8_t public_key[CAIRN_RECORDING_KEY_SIZE]);

#ifdef __cplusplus
}
#endif

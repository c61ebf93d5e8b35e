// SPDX-License-Identifier: MIT
#pragma once

// A recording that a verb writes to a file.

#include <stdint.h>

#include "program/key.h"
#include "program/output_file.h"
#include "recording/player.h"
#include "recording/recorder.h"
#include <cairn/sim.h>

typedef struct cairn_replay_output {
    const char *path;
    cairn_output_file file;
    cairn_recorder *recorder;
    uint64_t bytes; // of the file, after close
} cairn_replay_output;

// Begins with the world's current state. It is signed if a key is given. Returns an exit code,
// after a complaint when it is not CAIRN_EXIT_GOOD. Pair with close in any case.
int cairn_replay_output_open(cairn_replay_output *out, const char *path, const cairn_key *key,
    const char *scene_name, const cairn_world *world);
// Records the tick that `world` has just stepped, and a keyframe if one is due.
void cairn_replay_output_tick(cairn_replay_output *out, const cairn_world *world, uint64_t tick,
    const cairn_command *commands, uint32_t command_count, cairn_hash128 root);
// Records the tick that the player has just stepped. Returns an exit code, after a complaint of the
// verb when it is not CAIRN_EXIT_GOOD.
int cairn_replay_output_copy(
    cairn_replay_output *out, const cairn_player *player, const char *verb);
// Ends the recording when `code` is CAIRN_EXIT_GOOD and removes the file otherwise. Returns `code`,
// or another after a complaint when the file could not be written.
int cairn_replay_output_close(cairn_replay_output *out, int code);

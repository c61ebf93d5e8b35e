// SPDX-License-Identifier: MIT
#pragma once

// A first look at rules before a room runs them: two seconds of a world, in a child process.

#include <stdbool.h>

#include "schema/scene.h"
#include <cairn/rules_file.h>

// Builds the scene's world with `rules` and steps it with players who join, press and leave, also
// in the last slot of a room of `players_max`. The
// state of the rules lies between pages that nobody may touch. True if nothing is wrong with them;
// otherwise `error` says what: a crash and in which function, an access outside their state, or
// that they do not return. It blocks for as long as the child runs, at most ten seconds.
bool cairn_rules_trial(const cairn_scene *scene, const cairn_rules *rules, uint32_t players_max,
    char error[CAIRN_RULES_FILE_ERROR_SIZE]);

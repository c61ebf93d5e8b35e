// SPDX-License-Identifier: MIT
#pragma once

// Whether rules keep the contract of cairn/rules.h: each check says what it found in one sentence.

#include <stdbool.h>
#include <stdint.h>

#include "schema/scene.h"
#include <cairn/rules_file.h>

#define CAIRN_RULES_WORDS_SIZE CAIRN_RULES_FILE_ERROR_SIZE

// The file imports only functions that rules may call and a few of the C library without state.
bool cairn_rules_check_imports(const char *path, char words[CAIRN_RULES_WORDS_SIZE]);

// Plays `ticks` at random in three worlds, in turn: one that is stepped, by the scalar kernels; one
// that is restored at every tick and stepped again, by the widest kernels; and one of another game,
// whose calls disturb what the rules keep outside their state. The first two must be equal after
// every tick, and valid.
bool cairn_rules_check_replay(const cairn_scene *scene, const cairn_rules *rules, uint64_t seed,
    uint64_t ticks, char words[CAIRN_RULES_WORDS_SIZE]);

// A storm (cairn/storm.h) of this many seconds; `scene` NULL: one that is drawn.
bool cairn_rules_check_storm(const cairn_scene *scene, const cairn_rules *rules, uint64_t seed,
    uint64_t seconds, char words[CAIRN_RULES_WORDS_SIZE]);

// SPDX-License-Identifier: MIT
#pragma once

// The words of a world's canonical encoding, as a packer needs them.

#include "base/word_group.h"
#include <cairn/sim.h>

// The groups of what cairn_world_encode writes now; returns how many.
uint32_t cairn_world_encode_layout(
    const cairn_world *world, cairn_word_group out[CAIRN_WORD_GROUPS_MAX]);

// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

// The hash computed from the words of the block alone, without the hash cache.
cairn_world_hash cairn_world_hash_fresh(const cairn_world *world);

// SPDX-License-Identifier: MIT
#pragma once

// What the rules of a game sent in the last step. It follows from the state and the commands of the
// step, and no later step reads it, so it is not part of the state.

#include "sim/state/world.h"

void cairn_game_messages_begin(cairn_world *world); // a step begins: forgets those of the last one
void cairn_game_messages_end(cairn_world *world);

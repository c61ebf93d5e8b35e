// SPDX-License-Identifier: MIT
#include "sim/state/awake_set.h"

void cairn_awake_set_allocate(cairn_awake_set *set, cairn_arena *from, const cairn_world_def *def) {
    set->bodies = cairn_arena_take(from, def->body_capacity, sizeof *set->bodies);
    set->contains = cairn_arena_take(from, def->body_capacity, sizeof *set->contains);
    set->takes_impulses = cairn_arena_take(from, def->body_capacity, sizeof *set->takes_impulses);
}

// SPDX-License-Identifier: MIT
#include "sim/state/awake_set.h"

void cairn_awake_set_carve(cairn_awake_set *set, cairn_carver *from, const cairn_world_def *def) {
    set->bodies = cairn_carve(from, def->body_capacity, sizeof *set->bodies);
    set->contains = cairn_carve(from, def->body_capacity, sizeof *set->contains);
    set->takes_impulses = cairn_carve(from, def->body_capacity, sizeof *set->takes_impulses);
}

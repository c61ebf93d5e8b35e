// SPDX-License-Identifier: MIT
#include "sim/state/awake_set.h"

void cairn_awake_set_carve(cairn_awake_set *set, cairn_carver *from, const cairn_world_def *def) {
    set->bodies = cairn_carve(from, def->body_capacity, sizeof *set->bodies);
    set->stirs = cairn_carve(from, def->body_capacity, sizeof *set->stirs);
    set->moving = cairn_carve(from, def->body_capacity, sizeof *set->moving);
}

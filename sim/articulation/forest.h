// SPDX-License-Identifier: MIT
#pragma once

// Which articulated joints of a world form which figures, in an order that follows from the state
// alone: figures by their first joint, links after their parents.

#include "base/arena.h"
#include "sim/articulation/figure.h"

typedef struct cairn_forest {
    cairn_figure *figures;
    uint32_t figure_count;
    cairn_figure_link *links;
    cairn_tree_link *tree_links;
    cairn_figure_axis *axes;
    cairn_tree_dof *dofs;
    uint32_t link_count; // of all figures
    uint32_t dof_count;
    uint32_t *drives; // active articulated joints, by index of the drive
    uint32_t *keys;   // of each: body slot of the first link of its figure
    uint32_t drive_count;
    uint32_t *drive_of;  // by body slot: the drive of the joint it hangs on; CAIRN_INDEX_NONE
    uint32_t *place_of;  // by body slot: its link; CAIRN_INDEX_NONE: it is not a link
    uint32_t *figure_of; // by body slot of a first link
} cairn_forest;

void cairn_forest_allocate(cairn_forest *forest, cairn_arena *from, const cairn_world_def *def);
// Lists the figures of the bodies for which `moves` (by body slot) is not 0, or of all that a step
// could move if that is NULL, and loads them. Bodies that are not links keep stale entries in
// place_of.
void cairn_forest_list(cairn_forest *forest, const cairn_world *world, const unsigned char *moves);
// Whether a body is a link of a figure that was listed.
bool cairn_forest_has(const cairn_forest *forest, uint32_t body);
// Marks a link and its figure as touched, if the body is one of one that was listed.
void cairn_forest_touch(cairn_forest *forest, uint32_t body);

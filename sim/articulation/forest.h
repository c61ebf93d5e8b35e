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
    uint32_t *drive_of;     // by body slot: the drive of the joint it hangs on; CAIRN_INDEX_NONE
    uint32_t *place_of;     // by body slot: its link; CAIRN_INDEX_NONE: it is not a link
    uint32_t *figure_of;    // by body slot of a first link
    unsigned char *touched; // by link: contacts or other joints push it
    // What the figures were listed from, by drive; of so many drives, 0: not known.
    struct cairn_forest_source *sources;
    uint32_t source_count;
} cairn_forest;

// All that decides which links there are, where and in which figure.
typedef struct cairn_forest_source {
    uint32_t joint; // slot; CAIRN_INDEX_NONE: the drive is not articulated
    uint32_t body_a;
    uint32_t body_b;
    uint32_t kind;
    uint32_t moves; // bits: a can, b can, a is enabled
} cairn_forest_source;

void cairn_forest_allocate(cairn_forest *forest, cairn_arena *from, const cairn_world_def *def);
// Lists the figures of the bodies for which `moves` (by body slot) is not 0, or of all that a step
// could move if that is NULL. Bodies that are not links keep stale entries in place_of.
void cairn_forest_list(cairn_forest *forest, const cairn_world *world, const unsigned char *moves);
// Whether the figures are those that would be listed for `moves`, which is not NULL. Then they are
// made ready for another step.
bool cairn_forest_stays(cairn_forest *forest, const cairn_world *world, const unsigned char *moves);
// Loads the links of a figure from the state.
void cairn_forest_load(const cairn_world *world, cairn_figure *figure);
// Whether a body is a link of a figure that was listed.
bool cairn_forest_has(const cairn_forest *forest, uint32_t body);
// Marks a link and its figure as touched, if the body is one of one that was listed.
void cairn_forest_touch(cairn_forest *forest, uint32_t body);

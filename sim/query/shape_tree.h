// SPDX-License-Identifier: MIT
#pragma once

// The tree in which queries find the shapes of a world. It is derived from the state, is built by
// the first query, and is brought up to date by the first query after a change: calls and steps
// only note which bodies may have moved, so a world that is not queried pays nothing. Queries test
// every shape that the tree gives them, so no result depends on the tree.

#include "sim/query/box_tree.h"
#include "sim/state/world.h"

// A body when its shapes were last compared with their boxes.
typedef struct cairn_shape_tree_check {
    cairn_vec3 origin;
    cairn_quat rotation;
    float radius; // m, of a ball about the origin that contains its shapes
    float room;   // m, by which any point may move and stay in its box; negative: unknown
} cairn_shape_tree_check;

struct cairn_shape_tree {
    void *memory; // the allocation that all arrays lie in
    size_t size;
    cairn_box_tree boxes; // by shape slot
    bool built;           // false: the rest is undefined, and the next query builds it
    bool all_moved;       // any body may have moved, and any slot may have another shape
    uint32_t slots;       // shape slots with a defined place
    // Shapes too wide for the tree, such as half-spaces. Their places are NONE; tests find them
    // here.
    uint32_t *wide_slots;
    uint32_t wide_count;
    unsigned char *moved;   // by body slot: 1 if it is listed below
    uint32_t *moved_bodies; // those that may have moved or changed since the last query
    uint32_t moved_count;
    uint32_t body_slots;            // with a defined `moved`
    cairn_shape_tree_check *checks; // by body slot
    uint32_t check_slots;           // with a defined check
};

// Allocates for a world of this def; *tree must be zero. CAIRN_OUT_OF_MEMORY.
cairn_status cairn_shape_tree_create(
    cairn_shape_tree *tree, const cairn_world_def *def, cairn_allocator *take);
void cairn_shape_tree_destroy(cairn_shape_tree *tree);

// The body's pose may have changed.
void cairn_shape_tree_list_moved(cairn_shape_tree *tree, uint32_t body);
static inline void cairn_shape_tree_mark_moved(cairn_shape_tree *tree, uint32_t body) {
    if (tree->built && !tree->all_moved) {
        cairn_shape_tree_list_moved(tree, body);
    }
}
// The body has a new shape.
void cairn_shape_tree_mark_shapes(cairn_shape_tree *tree, uint32_t body);
// The shape in this slot is about to be removed.
void cairn_shape_tree_remove(cairn_shape_tree *tree, uint32_t slot);
// The state was replaced by another one.
void cairn_shape_tree_mark_all_moved(cairn_shape_tree *tree);

// Makes the tree fit the state. Writes nothing if it already does.
void cairn_shape_tree_update(const cairn_world *world);
// Whether the tree is consistent and holds each shape of a body that is not listed as moved.
bool cairn_shape_tree_ok(const cairn_world *world);

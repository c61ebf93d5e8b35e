// SPDX-License-Identifier: MIT
#pragma once

// A bounding volume hierarchy of boxes, four children to a node, whose boxes are tested at once.
// Boxes come and go one by one, as in the dynamic tree of Box2D (b2DynamicTree), and a build from
// all boxes splits at medians. It knows boxes and indices alone, no shapes and no world. Which
// boxes a traversal visits beyond those that it must depends on the history of the tree, so a
// visitor must not let its result depend on the order or on the number of visits.

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "sim/shape/geometry.h"

enum { CAIRN_BOX_TREE_WIDTH = 4 };

// Two cache lines.
typedef struct cairn_box_tree_node {
    float lower[3][CAIRN_BOX_TREE_WIDTH]; // of the children; an unused place has an empty box
    float upper[3][CAIRN_BOX_TREE_WIDTH];
    uint32_t children[CAIRN_BOX_TREE_WIDTH]; // a node, or a leaf with its bit; CAIRN_INDEX_NONE
    uint32_t place; // its own place in its parent; of an unused node, the next unused one
    uint32_t padding[3];
} cairn_box_tree_node;

typedef struct cairn_box_tree {
    cairn_box_tree_node *nodes; // the first is the root
    uint32_t node_count;        // nodes ever used since the build
    uint32_t free_node;         // CAIRN_INDEX_NONE: none
    cairn_aabb *boxes;          // by leaf
    uint32_t *places;           // by leaf: node * CAIRN_BOX_TREE_WIDTH + child; CAIRN_INDEX_NONE
    uint32_t *order;            // the leaves that a build starts from, which reorders them
    uint32_t leaf_count;
    uint32_t inserted; // leaves since the build
    bool too_deep;     // a leaf is deeper than traversals like: build before the next one
} cairn_box_tree;

// For leaves 0 .. capacity - 1.
void cairn_box_tree_allocate(cairn_box_tree *tree, cairn_arena *from, uint32_t capacity);

// Replaces the tree by one of the leaves order[0 .. count - 1], with the boxes boxes[leaf]; the
// places of other leaves are not written.
void cairn_box_tree_build(cairn_box_tree *tree, uint32_t count);
// Whether insertions have made the tree so much worse that a build pays.
bool cairn_box_tree_wants_build(const cairn_box_tree *tree);
void cairn_box_tree_insert(cairn_box_tree *tree, uint32_t leaf, cairn_aabb box);
void cairn_box_tree_remove(cairn_box_tree *tree, uint32_t leaf);
// Changes the box of a leaf that stays where it is in the tree.
void cairn_box_tree_set(cairn_box_tree *tree, uint32_t leaf, cairn_aabb box);
// Whether every box contains those below it and all links agree.
bool cairn_box_tree_ok(const cairn_box_tree *tree);

// Visits all leaves whose box shares a point with `box`.
typedef void cairn_box_tree_visitor(void *context, uint32_t leaf);
void cairn_box_tree_overlap(const cairn_box_tree *tree, const cairn_aabb *box,
    cairn_box_tree_visitor *visit, void *context);

// A visitor that bounds what is still of interest. It returns the new bound, at most the last one;
// a negative one ends the traversal.
typedef float cairn_box_tree_bounder(void *context, uint32_t leaf);

// Visits the leaves whose box meets a box of these half extents that moves from `origin` by
// `translation`, at a fraction of at most `bound`; the nearer ones first, as a rule.
void cairn_box_tree_cast(const cairn_box_tree *tree, cairn_vec3 origin, cairn_vec3 translation,
    cairn_vec3 half_extents, float bound, cairn_box_tree_bounder *visit, void *context);
// Visits the leaves whose box is at most `bound` away from `box`; the nearer ones first, as a rule.
void cairn_box_tree_near(const cairn_box_tree *tree, const cairn_aabb *box, float bound,
    cairn_box_tree_bounder *visit, void *context);

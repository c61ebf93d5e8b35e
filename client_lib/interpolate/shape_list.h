// SPDX-License-Identifier: MIT
#pragma once

// What bodies look like, from SHAPES messages. In order of id index; a shape that has the index of
// another one replaces it.

#include <stdint.h>

#include "schema/messages.h"
#include <cairn/status.h>

// The corners of a convex hull, shared by the shapes that have the same.
typedef struct cairn_shape_hull {
    uint32_t users; // 0: free
    uint32_t count;
    cairn_vec3 corners[CAIRN_HULL_VERTICES_MAX];
} cairn_shape_hull;

typedef struct cairn_shape_list {
    cairn_snapshot_shape *shapes; // owned
    uint32_t *hull_of;            // owned, by place in `shapes`: index of `hulls` + 1; 0: no hull
    cairn_shape_hull *hulls;      // owned, as many as a world may have
    uint32_t hull_end;            // hulls from here on are free
    uint32_t count;
    uint32_t capacity;
    uint32_t revision; // changes whenever the list does
} cairn_shape_list;

// CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_shape_list_create(cairn_shape_list *list, uint32_t capacity);
void cairn_shape_list_destroy(cairn_shape_list *list);
void cairn_shape_list_clear(cairn_shape_list *list);
// Removes shapes, then adds or replaces. CAIRN_CAPACITY: not all fit; those that fit are in.
cairn_status cairn_shape_list_take(cairn_shape_list *list, const cairn_shapes_message *message);
// The corners of the shape with this id; NULL: it is not a hull, or not in the list.
const cairn_shape_hull *cairn_shape_list_hull(const cairn_shape_list *list, uint32_t id);

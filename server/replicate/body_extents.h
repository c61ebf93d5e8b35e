// SPDX-License-Identifier: MIT
#pragma once

// How large the bodies of a room are: the codec of snapshots predicts from it how they roll and
// lie.

#include <stdbool.h>
#include <stdint.h>

#include "compress/frame.h"
#include "server/replicate/shapes.h"

typedef struct cairn_body_extents {
    cairn_vec3 *half_extents; // by id index, of a box around the body's origin, as
                              // cairn_snapshot_extents gives them; 0: unknown
    uint32_t capacity;
    uint32_t revision; // of the shapes that they were read from; 0: none
} cairn_body_extents;

// False: out of memory; destroying is allowed.
bool cairn_body_extents_create(cairn_body_extents *extents, uint32_t body_capacity);
void cairn_body_extents_destroy(cairn_body_extents *extents);
// Reads them again if the list of shapes changed.
void cairn_body_extents_update(cairn_body_extents *extents, const cairn_quantisation *quantisation,
    const cairn_world *world, const cairn_room_shapes *shapes);

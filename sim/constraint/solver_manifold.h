// SPDX-License-Identifier: MIT
#pragma once

// A contact manifold as the substep solver reads it: normal and arms in world axes as they were
// when the manifold was computed, and how the bodies were turned then. While it is kept, its
// geometry stays frozen and only the separations follow the bodies: a stack that leans by a hair is
// not pushed further by arms that lean with it. Floats in rows of eight, because several patches
// are read at once (sim/math/lanes.h).

#include "sim/shape/geometry.h"

#define CAIRN_PATCH_ROWS 6
// Word numbers. The normal, from a to b, comes first; then how many points, as a float.
#define CAIRN_PATCH_COUNT 3
#define CAIRN_PATCH_POINTS 4
// Of each point: its place from a's centre of mass and from b's, and the separation. Both arms
// named the same point when the patch was computed.
#define CAIRN_PATCH_POINT_WORDS 7
#define CAIRN_PATCH_FRICTION 32
#define CAIRN_PATCH_RESTITUTION 33
// The rotations of both bodies when the patch was computed.
#define CAIRN_PATCH_ROTATION_A 40
#define CAIRN_PATCH_ROTATION_B 44

typedef struct cairn_patch {
    float words[CAIRN_PATCH_ROWS * 8];
} cairn_patch;

_Static_assert(CAIRN_PATCH_POINTS + CAIRN_MANIFOLD_POINTS_MAX * CAIRN_PATCH_POINT_WORDS <=
                   CAIRN_PATCH_FRICTION,
    "points end before the material");

// SPDX-License-Identifier: MIT
#pragma once

// Fracture: a body that is hit breaks into convex pieces, computed when it happens. The pieces are
// the Voronoi cells of random points in the body, which crowd around the point of impact, cut from
// the shape by the planes half way to the neighbours of each point (Mueller, Chentanez and Kim,
// "Real time dynamic fracture with volumetric approximate convex decompositions", 2013, break
// convex pieces in this way). The same world, body and def give the same pieces, bit for bit, on
// every machine. docs/PHYSICS.md, Fracture, says more; docs/example_fracture.c is a set of rules.

#include <cairn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_fracture_def {
    // Where the body was hit, world, m. At most twice the radius of the body around its centre of
    // mass away from it; what is outside is taken for the nearest place towards the centre.
    cairn_vec3 point;
    uint32_t pieces;     // how many are wanted: 2 .. CAIRN_FRACTURE_PIECES_MAX
    float crowding;      // [0, 1], the part of the pieces that is made small around the point
    float thickness_min; // m, [0, 1e4]: what would be thinner than this, or than half the body's
                         // own thickness if that is less, becomes part of its neighbours
    uint64_t seed;       // another seed gives other pieces
} cairn_fracture_def;

// Twelve pieces, half of them small, none thinner than 2 cm; point and seed zero.
cairn_fracture_def cairn_fracture_def_default(void);

// Replaces a dynamic body of one box, hull, cylinder or cone by its pieces, at once. Writes their
// ids, in order of index of the bodies, at most `capacity`, and how many there are to *count (0 on
// failure): as many as wanted, or fewer, at least 2, if some would be too thin. Rules may call it
// in a step, and any caller between steps.
//
// The pieces fill the place of the body and have its mass, momentum and angular momentum: each
// moves as that part of the body did. Density, material, filter, flags, names and user words, and
// of the body damping, gravity scale, locks, bullet, gyroscopic, allow_sleep and owner are those of
// the body; a mass that was set is divided by volume (if centre or inertia were set, momentum is
// not kept). The origin of a piece is its centre of mass, and its frame is turned as the body's
// was. Pieces are awake; forces that were applied for the next step are gone. The rim of a
// cylinder or cone becomes a polygon of 32 sides that has the area of its disc.
//
// A joint of the body keeps its id, and its accumulated impulses are set to 0. It then connects one
// piece: the piece nearest to the joint's anchor. Only bodies that a joint connects do not collide:
// other pieces may collide with what the body was joined to.
//
// Each piece takes a body, a shape and a hull of the world. A hull goes with its piece, whatever
// destroys that (CAIRN_SHAPE_OWNS_HULL), so a world that breaks things for hours does not fill up.
//
// On failure the world is unchanged. CAIRN_NOT_FOUND: a stale id. CAIRN_WRONG_STATE: the body is
// not dynamic, not enabled, a link of an articulation, or has not one shape of a kind that breaks.
// CAIRN_NON_FINITE or CAIRN_INVALID_ARGUMENT: the def is out of range, the point is too far away,
// the body is too thin to be divided, or a piece or joint would leave the range of
// cairn_body_def. CAIRN_CAPACITY, counted in creates_refused: the world has no room for as many
// bodies, shapes or hulls beside those that exist.
cairn_status cairn_body_fracture(cairn_world *world, cairn_body_id body,
    const cairn_fracture_def *def, cairn_body_id *pieces, uint32_t capacity, uint32_t *count);

// Why cairn_body_fracture would refuse this, but for lack of room, as a static text; NULL if it
// would do it. Takes as long.
const char *cairn_body_fracture_refusal(
    const cairn_world *world, cairn_body_id body, const cairn_fracture_def *def);

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: MIT
#pragma once

// Characters: an upright capsule that rules move themselves, instead of a body that the solver
// moves. It slides along what it meets, climbs steps, walks on slopes up to a limit, and is carried
// by what it stands on. In the manner of the mover of Box3D: planes of the shapes nearby, a solver
// for a displacement that respects them, and casts so that nothing is passed through.
//
// A mover is plain data of the rules, 32-bit words without padding, so that it may lie in their
// state. Moving it reads the world and writes the mover alone, with the same bits on every machine.
// Bodies do not feel it: rules may push those that cairn_mover_planes names, or may move a
// kinematic body along with it, which `filter.ignored` should name.

#include <cairn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_mover_def {
    float radius;       // m, of the capsule, [0.02, 100]
    float half_height;  // m, between the centre and those of the end balls, [0.02, 100]
    cairn_vec3 up;      // length in [0.9, 1.1]
    float step_height;  // m, what is at most so high is climbed, [0, 100]
    float slope_cosine; // ground with a normal of at least this along `up` can be walked on, [0, 1]
    cairn_query_filter filter; // what it collides with
} cairn_mover_def;

// A person of 1.8 m: radius 0.3, steps of 0.35 m, slopes of 45 degrees, y up.
cairn_mover_def cairn_mover_def_default(void);

typedef struct cairn_mover {
    cairn_vec3 position;        // of the capsule's centre
    cairn_vec3 velocity;        // m/s, in the world; on the ground it is relative to the ground
    uint32_t on_ground;         // 0 or 1
    cairn_body_id ground;       // the body it stands on
    cairn_vec3 ground_normal;   // zero in the air
    cairn_vec3 ground_point;    // of the foot, in the frame of that body
    cairn_vec3 ground_velocity; // m/s, with which the ground carried it in the last move
} cairn_mover;

// Moves the mover for `time` seconds ((0, 1]): first with the ground, as far as its body has moved
// since the last move, then by its velocity. To be called once per tick. Gravity, steering and
// jumping are the caller's: it sets the velocity before. On the ground a velocity that does not
// point up follows the ground at the same horizontal speed, and comes back without a vertical part;
// what pushes against a surface is taken away. CAIRN_INVALID_ARGUMENT or CAIRN_NON_FINITE, and the
// mover is unchanged: a value out of range.
cairn_status cairn_mover_move(
    const cairn_world *world, const cairn_mover_def *def, cairn_mover *mover, float time);

typedef struct cairn_mover_plane {
    cairn_shape_id shape;
    cairn_body_id body;
    cairn_vec3 point;  // on the capsule or the shape, where they are nearest
    cairn_vec3 normal; // unit, towards the capsule
    float separation;  // m, negative: they overlap
} cairn_mover_plane;

#define CAIRN_MOVER_PLANES_MAX 32

// Writes the planes of the shapes that are at most `distance` (m, [0, 1]) away from the capsule, in
// order of shape index; of more than CAIRN_MOVER_PLANES_MAX the first. Returns how many; 0 for a
// value out of range.
uint32_t cairn_mover_planes(const cairn_world *world, const cairn_mover_def *def,
    cairn_vec3 position, float distance, cairn_mover_plane out[CAIRN_MOVER_PLANES_MAX]);

#ifdef __cplusplus
}
#endif

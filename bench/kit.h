// SPDX-License-Identifier: MIT
#pragma once

// Builders for the scenes. A refused body, shape or joint ends the program, because an incomplete
// scene measures nothing.

#include <stdbool.h>

#include <cairn/sim.h>

void bench_require(bool ok, const char *what);
// Whether a comma-separated list contains the name.
bool bench_is_listed(const char *names, const char *name);

// A world of the default def, but with these capacities and this `sleep`.
cairn_world *bench_world(const cairn_world_def *size);

cairn_vec3 bench_at(float x, float y, float z);

// Shapes of density 1000, friction 0.5 and no bounce.
cairn_shape_def bench_box(float half_x, float half_y, float half_z);
cairn_shape_def bench_ball(float radius);
// Half the distance between the two centres, along local y.
cairn_shape_def bench_capsule(float radius, float half_height);
// The same along local x.
cairn_shape_def bench_capsule_along_x(float radius, float half_height);
// It collides with nothing.
cairn_shape_def bench_ghost(cairn_shape_def shape);

cairn_body_id bench_fix(cairn_world *world, const cairn_shape_def *shape, cairn_vec3 at);
cairn_body_id bench_drop(cairn_world *world, const cairn_shape_def *shape, cairn_vec3 at);
cairn_body_id bench_drop_turned(
    cairn_world *world, const cairn_shape_def *shape, cairn_vec3 at, cairn_quat turn);

// A square slab 2 m thick whose upper face is y = 0.
void bench_floor(cairn_world *world, float half_width);
// A floor and four walls, 40 m high and 1 m thick, with a square of that half width between them.
void bench_yard(cairn_world *world, float half_width);

// A rotation that differs from index to index: the tangents of its half angle about the three axes
// repeat after 11, 17 and 13 indices and reach 0.05 times `scale`.
cairn_quat bench_turn(int index, float scale);

// A ball joint at a point of the world, with both bodies where they are now. bench_anchor gives the
// anchors for a joint of any kind.
cairn_joint_id bench_pin(cairn_world *world, cairn_body_id a, cairn_body_id b, cairn_vec3 point);
cairn_vec3 bench_anchor(const cairn_world *world, cairn_body_id body, cairn_vec3 point);

// A figure of 11 capsules on 10 joints with limits, with its arms held out. `at` is the middle of
// its pelvis; without a turn it stands along y and faces z (ragdoll.c).
void bench_ragdoll(cairn_world *world, cairn_vec3 at, cairn_quat turn);
// A yard 8 m wide and over it, in five layers, 100 such figures.
void bench_ragdolls(cairn_world *world);

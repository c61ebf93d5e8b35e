// SPDX-License-Identifier: MIT
#pragma once

// A standing figure of 11 capsules with its arms held out, on 10 joints with limits.

#include <cairn/sim.h>

#define BENCH_RAGDOLL_BODIES 11
#define BENCH_RAGDOLL_JOINTS 10

// `at` is the middle of its pelvis; it is turned by bench_turn(index, 1).
void bench_ragdoll(cairn_world *world, int index, cairn_vec3 at);
// 100 of them in five layers over a yard 8 m wide.
void bench_ragdolls(cairn_world *world);

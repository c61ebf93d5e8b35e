// SPDX-License-Identifier: MIT
#pragma once

// How the links of a figure move while nothing pushes them. That takes no energy from them and
// gives them none, however fast they are.
//
// Velocities of all links together are one vector V; its length, with the masses, is the energy. Of
// V the joints allow the part P V: P is the projection that the factors of a tree compute. In a
// substep P is that of the pose half way, and V becomes
//
//     V' = P V - (V - P V)
//
// So what the joints do not allow is reflected. A reflection does not change lengths: the energy
// stays exactly, even if the pose half way is only guessed. The links move on at P V. A rod on a
// hinge of length r turns by f = h |V| cos(f / 2) / r, and V stays along its path. (Simo and Wong,
// 1991, step one body so.)
//
// Velocities are carried as momentum. The momentum of rotation keeps its direction in the world, as
// without torque, and the length that keeps its energy while the link's inertia turns. Of links
// that float all of the momentum stays, and motion against the mean one keeps the energy. Both are
// left out while no link turns fast: there what they set right evens out.

#include "sim/articulation/figure.h"

// At the start of a step, of which the tree is set at the pose of the state: takes the momentum
// from the links' velocities, or from what of them the joints allow.
void cairn_free_motion_start(cairn_figure *figure, float h);
// After a substep, or at its end: takes the momentum from the tree's speeds and what was set aside.
// `h`: s, of the substep
void cairn_free_motion_carry(cairn_figure *figure, float h);
// Sets the tree's biases, and the speeds of armatures, to what is carried, at the present pose.
void cairn_free_motion_set_biases(cairn_figure *figure);
// Half way, of which the tree is set: solves for P V, and sets aside V - P V.
void cairn_free_motion_solve(cairn_figure *figure, float h);

// ---- Parts of these, of numbers of all links

// All links as one body that has their momentum.
typedef struct cairn_mean_motion {
    cairn_vec3 centre;
    cairn_vec3 linear;
    cairn_vec3 angular;
    float linear_energy; // twice, like the next
    float angular_energy;
} cairn_mean_motion;

// `all`: the sum of the inertias; `less`: of the biases, which are the momenta with the other sign.
cairn_mean_motion cairn_mean_motion_of(const cairn_spatial_inertia *all, cairn_spatial less);
// By what factor motion against the mean one is made faster or slower, until all has that energy,
// twice. Where the mean motion has more, it turns slower, too. Writes the mean motion, `all`, and
// what is `kept` of it.
float cairn_free_motion_keep_energy(const cairn_mean_motion *mean, float now, float wanted,
    cairn_spatial *all, cairn_spatial *kept);
// Whether a link with that square of its angular velocity turns so far in a substep that energy has
// to be seen to.
bool cairn_free_motion_is_fast(float square, float h);
// The part of the energy that is left without the excess, where a joint turns by `turn` in a
// substep.
float cairn_free_motion_kept_part(float turn, float excess, float energy);

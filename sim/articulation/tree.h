// SPDX-License-Identifier: MIT
#pragma once

// The dynamics of a tree of links (Featherstone, Rigid Body Dynamics Algorithms, 2008): inverse
// dynamics (section 5.3), mass matrix (6.2), forward dynamics by articulated bodies (7.3), with
// some speeds prescribed (9.2). Without a world. Each joint is a row of axes, one for each of its
// degrees of freedom, so a spherical or free joint is solved like three or six that follow each
// other.

#include "sim/articulation/spatial.h"

typedef struct cairn_tree_dof {
    cairn_spatial axis; // the velocity of the link at a speed of 1
    float armature;     // kg or kg m^2, added to the inertia along the axis
    float force;        // in: along the axis
    uint32_t locked;    // 1: `value` is given, and `reaction` is found
    float value;        // acceleration or speed along the axis
    float reaction;     // the force that a locked axis takes, beside `force`
    // Of the factors.
    cairn_spatial moved; // articulated inertia times axis
    float inverse;       // 1 / (axis . moved + armature); 0: no inertia, the axis does not move
    float rest;
    uint32_t factored_locked;
} cairn_tree_dof;

typedef struct cairn_tree_link {
    uint32_t parent; // index of an earlier link, or CAIRN_INDEX_NONE: the base
    uint32_t first_dof;
    uint32_t dof_count; // 0 .. 6
    cairn_spatial_inertia inertia;
    cairn_spatial velocity; // of the link
    cairn_spatial bias;     // in: what the link needs beside inertia times value, less what it gets
    cairn_spatial value;    // out: acceleration, or velocity
    cairn_spatial rate;     // of its momentum, of cairn_tree_set_rates
    // Of the factors and the solution.
    cairn_articulated_inertia articulated;
    cairn_articulated_inertia response; // velocity by an impulse on the link
    cairn_spatial pending;
    bool stale;
    cairn_spatial_inertia composite; // of cairn_tree_mass_matrix
} cairn_tree_link;

// Parents before children, and the axes of the links one after the other.
typedef struct cairn_tree {
    cairn_tree_link *links;
    uint32_t link_count;
    cairn_tree_dof *dofs;
    uint32_t dof_count;
    cairn_spatial base; // value of what the first links hang on
} cairn_tree;

// Factors the matrix of motion for the present axes, inertias, armatures and locks.
void cairn_tree_factor(const cairn_tree *tree);
// The same after nothing but locks changed: links above them alone are factored.
void cairn_tree_factor_again(const cairn_tree *tree);
// Finds the values of the links, the values of the free axes and the reactions of the locked ones
// from biases and forces.
void cairn_tree_solve(const cairn_tree *tree);

// How each link responds to impulses on it alone, for the present factors: locked axes do not give
// way (Featherstone 2008, section 10: the inverse of the operational-space inertia).
void cairn_tree_set_responses(const cairn_tree *tree);

// The velocities of the links from the speeds, which `speeds` holds for each axis.
void cairn_tree_set_velocities(const cairn_tree *tree, const float *speeds);
// How the momenta of the links change while the axes keep their speeds, for the velocities. Each
// velocity fixed in a parent's frame turns with it, except that the six axes of a `free_root` are
// fixed in the world, at its centre of mass.
void cairn_tree_set_rates(const cairn_tree *tree, bool free_root);
// Biases of accelerations: what the velocities add, less the external `forces` of the links (NULL:
// none).
void cairn_tree_set_bias(const cairn_tree *tree, const cairn_spatial *forces, bool free_root);
// Accelerations `out` of the axes under `forces` along them; the biases are set, and the factors.
void cairn_tree_forward_dynamics(const cairn_tree *tree, const float *forces, float *out);
// Forces `out` along the axes that make the accelerations; the biases are set.
void cairn_tree_inverse_dynamics(const cairn_tree *tree, const float *accelerations, float *out);
// dof_count * dof_count numbers, row by row.
void cairn_tree_mass_matrix(const cairn_tree *tree, float *out);
// Whether the axis moves the link: it is the link's own or an ancestor's.
bool cairn_tree_moves(const cairn_tree *tree, uint32_t dof, uint32_t link);

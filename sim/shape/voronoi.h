// SPDX-License-Identifier: MIT
#pragma once

// The Voronoi diagram of points in a convex polyhedron: the cell of a site is the part that is
// nearer to it than to any other site. The cells fill the polyhedron.

#include "sim/shape/polyhedron.h"

#define CAIRN_VORONOI_SITES_MAX 64

typedef struct cairn_voronoi {
    const cairn_polyhedron *whole;
    double tolerance; // m, of the cuts
    uint32_t count;
    double sites[CAIRN_VORONOI_SITES_MAX][3];
} cairn_voronoi;

// Without sites.
void cairn_voronoi_begin(cairn_voronoi *v, const cairn_polyhedron *whole);
void cairn_voronoi_add(cairn_voronoi *v, const double site[3]);
// Its cell becomes part of its neighbours' cells. Later sites move down by one.
void cairn_voronoi_remove(cairn_voronoi *v, uint32_t site);
// The site with the least distance from the point; ties: the first one. There must be a site.
uint32_t cairn_voronoi_nearest(const cairn_voronoi *v, const double point[3]);

// The cell of a site, in one of the two polyhedra. NULL: it is empty, or not to be told apart from
// that of another site, or has too many vertices.
const cairn_polyhedron *cairn_voronoi_cell(
    const cairn_voronoi *v, uint32_t site, cairn_polyhedron work[2]);

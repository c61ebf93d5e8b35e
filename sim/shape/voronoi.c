// SPDX-License-Identifier: MIT
#include "sim/shape/voronoi.h"

#include <string.h>

#include "base/assert.h"
#include "sim/math/vec.h"

// Fractions of the size of the polyhedron: vertices so near to a plane are on it, and sites so near
// to each other are one.
#define TOLERANCE 1e-9
#define SITES_APART 1e-5

static double distance_squared(const double a[3], const double b[3]) {
    const double apart[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    return apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
}

void cairn_voronoi_begin(cairn_voronoi *v, const cairn_polyhedron *whole) {
    CAIRN_ASSERT(whole->vertex_count >= 4);
    v->whole = whole;
    v->count = 0;
    v->tolerance = TOLERANCE * (double)float_sqrt((float)cairn_polyhedron_reach_squared(
                                   whole, whole->vertices[0]));
}

void cairn_voronoi_add(cairn_voronoi *v, const double site[3]) {
    CAIRN_ASSERT(v->count < CAIRN_VORONOI_SITES_MAX);
    memcpy(v->sites[v->count++], site, sizeof v->sites[0]);
}

void cairn_voronoi_remove(cairn_voronoi *v, uint32_t site) {
    CAIRN_ASSERT(site < v->count);
    v->count -= 1;
    memmove(v->sites[site], v->sites[site + 1], (v->count - site) * sizeof v->sites[0]);
}

uint32_t cairn_voronoi_nearest(const cairn_voronoi *v, const double point[3]) {
    uint32_t best = 0;
    CAIRN_ASSERT(v->count > 0);
    for (uint32_t i = 1; i < v->count; ++i) {
        const bool nearer =
            distance_squared(v->sites[i], point) < distance_squared(v->sites[best], point);
        best = nearer ? i : best;
    }
    return best;
}

// The other sites by their distance from this one; ties: by index.
static void sort_neighbours(const cairn_voronoi *v, uint32_t site,
    uint8_t order[CAIRN_VORONOI_SITES_MAX], double distances[CAIRN_VORONOI_SITES_MAX]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < v->count; ++i) {
        if (i == site) {
            continue;
        }
        const double distance = distance_squared(v->sites[site], v->sites[i]);
        uint32_t at = count++;
        while (at > 0 && distances[at - 1] > distance) {
            distances[at] = distances[at - 1];
            order[at] = order[at - 1];
            at -= 1;
        }
        distances[at] = distance;
        order[at] = (uint8_t)i;
    }
}

// The plane half way from one site to another.
static cairn_cut_plane bisector(const double from[3], const double to[3], double distance_squared) {
    const double scale = 1.0 / (double)float_sqrt((float)distance_squared);
    cairn_cut_plane plane = {.offset = 0.0};
    for (uint32_t k = 0; k < 3; ++k) {
        plane.normal[k] = scale * (to[k] - from[k]);
        plane.offset += plane.normal[k] * 0.5 * (from[k] + to[k]);
    }
    return plane;
}

// Planes of sites that are more than twice as far away as the cell reaches cannot cut it, and
// neither can those of the sites after them.
const cairn_polyhedron *cairn_voronoi_cell(
    const cairn_voronoi *v, uint32_t site, cairn_polyhedron work[2]) {
    uint8_t order[CAIRN_VORONOI_SITES_MAX];
    double distances[CAIRN_VORONOI_SITES_MAX];
    const double apart = v->tolerance * (SITES_APART / TOLERANCE);
    const double *from = v->sites[site];
    const cairn_polyhedron *cell = v->whole;
    double reach = cairn_polyhedron_reach_squared(cell, from);
    CAIRN_ASSERT(site < v->count);
    sort_neighbours(v, site, order, distances);
    for (uint32_t i = 0; i + 1 < v->count && distances[i] <= 4.0 * reach; ++i) {
        if (!(distances[i] > apart * apart)) {
            return NULL;
        }
        const cairn_cut_plane plane = bisector(from, v->sites[order[i]], distances[i]);
        cairn_polyhedron *next = cell == &work[0] ? &work[1] : &work[0];
        const cairn_cut cut = cairn_polyhedron_cut(cell, &plane, v->tolerance, next);
        if (cut == CAIRN_CUT_ALL || cut == CAIRN_CUT_FAILED) {
            return NULL;
        }
        if (cut == CAIRN_CUT_DONE) {
            cell = next;
            reach = cairn_polyhedron_reach_squared(cell, from);
        }
    }
    return cell;
}

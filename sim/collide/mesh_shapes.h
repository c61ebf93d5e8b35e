// SPDX-License-Identifier: MIT
#pragma once

// The narrow phases of one triangle of a mesh: round shapes and polyhedra.

#include "sim/collide/mesh_points.h"
#include "sim/collide/shape_pairs.h"
#include "sim/shape/convex.h"

// Contacts of round shapes are gathered first, because one of a corner counts only if no face
// or edge beside it touches.
#define CAIRN_SEGMENT_CONTACTS_MAX 64
#define CAIRN_SEGMENT_FACE 4 // `corner` of a contact with a face; 3: with an edge

typedef struct cairn_segment_contact { // in the frame of the shape
    cairn_vec3 position;
    cairn_vec3 normal; // from the mesh
    float separation;
    uint32_t feature;
    uint32_t triangle;
    uint32_t corner;
} cairn_segment_contact;

typedef struct cairn_segment_contacts {
    uint32_t count;
    cairn_segment_contact list[CAIRN_SEGMENT_CONTACTS_MAX];
} cairn_segment_contacts;

void cairn_collide_capsule_triangle(const cairn_mesh_pair *pair, const cairn_local_capsule *capsule,
    const cairn_local_triangle *triangle, cairn_segment_contacts *contacts);
void cairn_segment_contacts_finish(
    const cairn_mesh_pair *pair, const cairn_segment_contacts *contacts, cairn_mesh_points *points);

void cairn_collide_frustum_triangle(const cairn_mesh_pair *pair, const cairn_frustum *frustum,
    const cairn_local_triangle *triangle, cairn_mesh_points *points);

void cairn_collide_polyhedron_triangle(const cairn_mesh_pair *pair, const cairn_convex_view *shape,
    const cairn_local_triangle *triangle, cairn_mesh_points *points);

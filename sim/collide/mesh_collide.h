// SPDX-License-Identifier: MIT
#pragma once

// A convex shape against a mesh or height field. A shape may touch planes of many directions, so
// the result is a set of manifolds, one for each direction. A surface touches with its front only,
// and only a shape whose centre is in front of a triangle touches that triangle.
//
// A shape that slides over a tessellated plane must not notice the edges in it. A triangle
// therefore gives contacts of its face, with its own normal and at places above the face alone. An
// edge or corner gives contacts only if the surface is convex there (or ends), and only along
// normals with which it is the foremost part of the surface: those between the normals of the faces
// beside it.

#include "sim/collide/manifold.h"
#include "sim/shape/geometry.h"
#include "sim/shape/mesh.h"

// In the frame of the mesh; normals point from the mesh to the shape, which is no half-space, mesh
// or height field. Points have a separation of at most `margin`. Depends on its arguments alone, so
// a manifold needs no memory of the last step.
void cairn_collide_mesh(const cairn_mesh *mesh, const cairn_shape_view *shape,
    const cairn_pose *shape_in_mesh, float margin, cairn_manifold_set *out);

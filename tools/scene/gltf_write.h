// SPDX-License-Identifier: MIT
#pragma once

// A world as a binary glTF 2.0 file: a node for each body with its pose, a node and a mesh for each
// shape. The shape's kind and sizes stand in its node's extras, so that `cairn-scene import` reads
// them back.

#include <stdbool.h>
#include <stdio.h>

#include <cairn/sim.h>

// False if memory runs out, the file cannot be written, or it would have more than 4 GiB.
bool cairn_gltf_write(const cairn_world *world, const char *name, FILE *out);

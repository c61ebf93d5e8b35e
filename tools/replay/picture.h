// SPDX-License-Identifier: MIT
#pragma once

// A world as a PNG picture: one ray for each pixel, as python's render_mode "rgb_array" draws it.

#include <stdbool.h>
#include <stdio.h>

#include <cairn/sim.h>

typedef struct cairn_picture_view {
    uint32_t width, height; // pixels, 1 .. 8192
    bool placed;            // `eye` and `target` are given; else they fit the moving bodies
    cairn_vec3 eye, target;
} cairn_picture_view;

// NULL: written. Otherwise why not, a static text: memory, the file, or a build without libpng.
const char *cairn_picture_write(
    const cairn_world *world, const cairn_picture_view *view, FILE *out);

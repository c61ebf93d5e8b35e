// SPDX-License-Identifier: MIT
// Without libpng.
#include "tools/replay/picture.h"

const char *cairn_picture_write(
    const cairn_world *world, const cairn_picture_view *view, FILE *out) {
    (void)world;
    (void)view;
    (void)out;
    return "this build writes no pictures; export .glb or .csv";
}

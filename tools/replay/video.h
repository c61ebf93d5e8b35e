// SPDX-License-Identifier: MIT
#pragma once

// Pictures as a film: VP9 in WebM. The same pictures become the same bytes with the same version of
// libvpx: it works alone, and does not look at a clock.

#include <stdint.h>
#include <stdio.h>

typedef struct cairn_video cairn_video;

// Functions that return a text: NULL is good, otherwise why not, a static text.

// Pair with destroy in any case.
const char *cairn_video_create(
    uint32_t width, uint32_t height, uint32_t pictures_hz, cairn_video **out);
// `pixels`: rows of red, green, blue.
const char *cairn_video_add(cairn_video *video, const uint8_t *pixels);
// Writes the file after the last picture.
const char *cairn_video_write(cairn_video *video, FILE *out);
void cairn_video_destroy(cairn_video *video); // NULL is allowed

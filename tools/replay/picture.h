// SPDX-License-Identifier: MIT
#pragma once

// A picture as PNG.

#include <stdint.h>
#include <stdio.h>

// `pixels`: rows of red, green, blue. NULL: written. Otherwise why not, a static text.
const char *cairn_picture_write(uint32_t width, uint32_t height, const uint8_t *pixels, FILE *out);

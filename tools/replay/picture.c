// SPDX-License-Identifier: MIT
#include "tools/replay/picture.h"

#include <png.h>

const char *cairn_picture_write(uint32_t width, uint32_t height, const uint8_t *pixels, FILE *out) {
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGB};
    return png_image_write_to_stdio(&image, out, 0, pixels, 0, NULL) != 0 ? NULL
                                                                          : "cannot be written";
}

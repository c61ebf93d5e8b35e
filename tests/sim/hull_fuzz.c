// SPDX-License-Identifier: MIT
// Any points are refused, or give a closed hull that is the same when built from its own vertices.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "sim/shape/hull.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

// Two bytes per coordinate, so that many points are on common lines and planes; after an odd first
// byte four, the bits of a float.
static uint32_t points_of(const uint8_t *bytes, size_t size, cairn_vec3 *points) {
    uint32_t count = 0;
    const bool raw = size > 0 && (bytes[0] & 1) != 0;
    const size_t step = raw ? 12 : 6;
    for (size_t at = 1; at + step <= size && count <= CAIRN_HULL_POINTS_MAX; at += step) {
        float c[3];
        for (size_t k = 0; k < 3; ++k) {
            int16_t whole = 0;
            memcpy(&whole, bytes + at + 2 * k, sizeof whole);
            c[k] = (float)whole / 256.0f;
        }
        if (raw) {
            memcpy(c, bytes + at, sizeof c);
        }
        points[count++] = vec3(c[0], c[1], c[2]);
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    cairn_vec3 points[CAIRN_HULL_POINTS_MAX + 1];
    cairn_hull hull;
    cairn_hull again;
    const uint32_t count = points_of(bytes, size, points);
    if (cairn_hull_build_stable(points, count, &hull) != NULL) {
        return 0;
    }
    CAIRN_ASSERT(hull.vertex_count + hull.face_count == hull.edge_count + 2);
    CAIRN_ASSERT(hull.inner > 0.0f && float_finite(hull.volume) && hull.volume > 0.0f);
    const char *why = cairn_hull_build(hull.vertices, hull.vertex_count, &again);
    CAIRN_ASSERT(why == NULL && memcmp(&hull, &again, sizeof hull) == 0);
    return 0;
}

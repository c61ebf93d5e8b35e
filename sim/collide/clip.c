// SPDX-License-Identifier: MIT
#include "sim/collide/clip.h"

#include "base/assert.h"

static void append_point(cairn_clip_polygon *polygon, cairn_clip_point point) {
    // By rounding a sliver may cross a line more than twice; a point that does not fit lies next to
    // one that is kept.
    if (polygon->count < CAIRN_CLIP_POINTS_MAX) {
        polygon->points[polygon->count++] = point;
    }
}

// Negative on the side that is kept; scaled by the length of (right, up).
static float signed_distance(const cairn_clip_line *line, const cairn_clip_point *point) {
    return line->right * point->x + line->up * point->y - line->limit;
}

static cairn_clip_point interpolate(
    const cairn_clip_point *from, const cairn_clip_point *to, float part, uint32_t edge) {
    const float rest = 1.0f - part;
    return (cairn_clip_point){.x = from->x * rest + to->x * part,
        .y = from->y * rest + to->y * part,
        .height = from->height * rest + to->height * part,
        .edge = edge};
}

void cairn_clip_polygon_cut(
    const cairn_clip_polygon *from, const cairn_clip_line *line, cairn_clip_polygon *to) {
    CAIRN_ASSERT(from != to && from->count <= CAIRN_CLIP_POINTS_MAX);
    to->count = 0;
    if (from->count == 0) {
        return;
    }
    const float first_distance = signed_distance(line, &from->points[0]);
    float here_distance = first_distance;
    for (uint32_t i = 0; i < from->count; ++i) {
        const bool last = i + 1 == from->count;
        const cairn_clip_point *here = &from->points[i];
        const cairn_clip_point *next = &from->points[last ? 0 : i + 1];
        const float next_distance = last ? first_distance : signed_distance(line, next);
        const bool here_kept = here_distance <= 0.0f;
        if (here_kept) {
            append_point(to, *here);
        }
        if (here_kept != (next_distance <= 0.0f)) {
            const float part = here_distance / (here_distance - next_distance);
            append_point(to, interpolate(here, next, part, here_kept ? line->edge : here->edge));
        }
        here_distance = next_distance;
    }
}

uint32_t cairn_clip_keep_below(const cairn_clip_polygon *polygon, float margin,
    const cairn_clip_feature *feature, cairn_clip_point *low) {
    uint32_t count = 0;
    uint32_t entering = polygon->count > 0 ? polygon->points[polygon->count - 1].edge : 0;
    for (uint32_t i = 0; i < polygon->count; ++i) {
        const cairn_clip_point *point = &polygon->points[i];
        if (point->height <= margin) {
            const uint32_t first = feature->reversed ? point->edge : entering;
            const uint32_t second = feature->reversed ? entering : point->edge;
            low[count] = *point;
            low[count++].edge = feature->faces | first << feature->edge_bits | second;
        }
        entering = point->edge;
    }
    CAIRN_ASSERT(count <= CAIRN_CLIP_POINTS_MAX);
    return count;
}

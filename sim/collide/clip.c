// SPDX-License-Identifier: MIT
#include "sim/collide/clip.h"

#include "base/assert.h"

static void polygon_add(cairn_clip_polygon *polygon, cairn_clip_point point) {
    // Rounding could make a sliver cross a line more often than twice; what does not fit is a point
    // next to one that is kept.
    if (polygon->count < CAIRN_CLIP_POINTS_MAX) {
        polygon->points[polygon->count] = point;
        polygon->count += 1;
    }
}

static float outside(const cairn_clip_line *cut, const cairn_clip_point *point) {
    return cut->right * point->x + cut->up * point->y - cut->limit;
}

static cairn_clip_point point_between(
    const cairn_clip_point *from, const cairn_clip_point *to, float part, uint32_t edge) {
    const float rest = 1.0f - part;
    return (cairn_clip_point){.x = from->x * rest + to->x * part,
        .y = from->y * rest + to->y * part,
        .height = from->height * rest + to->height * part,
        .edge = edge};
}

void cairn_clip_polygon_cut(
    const cairn_clip_polygon *from, const cairn_clip_line *cut, cairn_clip_polygon *to) {
    to->count = 0;
    if (from->count == 0) {
        return;
    }
    const float first_out = outside(cut, &from->points[0]);
    float here_out = first_out;
    for (uint32_t i = 0; i < from->count; ++i) {
        const bool last = i + 1 == from->count;
        const cairn_clip_point *here = &from->points[i];
        const cairn_clip_point *next = &from->points[last ? 0 : i + 1];
        const float next_out = last ? first_out : outside(cut, next);
        const bool here_kept = here_out <= 0.0f;
        if (here_kept) {
            polygon_add(to, *here);
        }
        if (here_kept != (next_out <= 0.0f)) {
            const float part = here_out / (here_out - next_out);
            polygon_add(to, point_between(here, next, part, here_kept ? cut->edge : here->edge));
        }
        here_out = next_out;
    }
}

uint32_t cairn_clip_keep_below(const cairn_clip_polygon *polygon, float margin, uint32_t feature,
    uint32_t edge_bits, cairn_clip_point *low) {
    uint32_t count = 0;
    uint32_t entering = polygon->count > 0 ? polygon->points[polygon->count - 1].edge : 0;
    for (uint32_t i = 0; i < polygon->count; ++i) {
        const cairn_clip_point *point = &polygon->points[i];
        if (point->height <= margin) {
            low[count] = *point;
            low[count].edge = feature | entering << edge_bits | point->edge;
            ++count;
        }
        entering = point->edge;
    }
    return count;
}

// Scores within this factor of each other count as equal, and the earlier point stays.
#define CLEARLY 1.05f
// Depths within this fraction of the patch's size count as equal.
#define DEPTH_FRACTION 0.002f

static float distance_squared(const cairn_clip_point *a, const cairn_clip_point *b) {
    const float x = b->x - a->x;
    const float y = b->y - a->y;
    return x * x + y * y;
}

static uint32_t deepest(const cairn_clip_point *points, uint32_t count) {
    float size_squared = 0.0f;
    for (uint32_t i = 1; i < count; ++i) {
        size_squared = float_max(size_squared, distance_squared(&points[0], &points[i]));
    }
    const float tolerance = DEPTH_FRACTION * float_sqrt(size_squared);
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; ++i) {
        best = points[i].height < points[best].height - tolerance ? i : best;
    }
    return best;
}

static uint32_t farthest(const cairn_clip_point *points, uint32_t count, uint32_t from) {
    uint32_t best = from;
    float best_score = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        const float score = distance_squared(&points[from], &points[i]);
        if (score > CLEARLY * best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

// The points farthest from the line to its left and to its right; `first` where there is none.
static void farthest_beside(const cairn_clip_point *points, uint32_t count, uint32_t first,
    uint32_t second, uint32_t beside[2]) {
    const float along_x = points[second].x - points[first].x;
    const float along_y = points[second].y - points[first].y;
    // An area below this is a point on the line but for rounding.
    const float least = 1e-4f * (along_x * along_x + along_y * along_y);
    float left_score = least;
    float right_score = least;
    beside[0] = first;
    beside[1] = first;
    for (uint32_t i = 0; i < count; ++i) {
        const float x = points[i].x - points[first].x;
        const float y = points[i].y - points[first].y;
        const float score = along_x * y - along_y * x;
        if (score > CLEARLY * left_score) {
            beside[0] = i;
            left_score = score;
        }
        if (0.0f - score > CLEARLY * right_score) {
            beside[1] = i;
            right_score = 0.0f - score;
        }
    }
}

// Inserts into a short increasing list, once.
static uint32_t insert(uint32_t *list, uint32_t count, uint32_t value) {
    uint32_t at = count;
    while (at > 0 && list[at - 1] > value) {
        --at;
    }
    if (at > 0 && list[at - 1] == value) {
        return count;
    }
    for (uint32_t i = count; i > at; --i) {
        list[i] = list[i - 1];
    }
    list[at] = value;
    return count + 1;
}

uint32_t cairn_manifold_reduce(const cairn_clip_point *points, uint32_t count, uint32_t chosen[4]) {
    CAIRN_ASSERT(count <= CAIRN_CLIP_POINTS_MAX);
    if (count <= 4) {
        for (uint32_t i = 0; i < count; ++i) {
            chosen[i] = i;
        }
        return count;
    }
    uint32_t picked[4];
    picked[0] = deepest(points, count);
    picked[1] = farthest(points, count, picked[0]);
    farthest_beside(points, count, picked[0], picked[1], &picked[2]);
    uint32_t chosen_count = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        chosen_count = insert(chosen, chosen_count, picked[i]);
    }
    return chosen_count;
}

// SPDX-License-Identifier: MIT
#include "sim/collide/manifold.h"

#include "base/assert.h"

void cairn_manifold_add(
    cairn_manifold *manifold, cairn_vec3 position, float separation, uint32_t feature) {
    CAIRN_ASSERT(manifold->point_count < CAIRN_MANIFOLD_POINTS_MAX);
    manifold->points[manifold->point_count++] =
        (cairn_manifold_point){.position = position, .separation = separation, .feature = feature};
}

// ---- Reduction

// Scores within this factor of each other count as equal, and the earlier point stays.
#define CLEARLY 1.05f
// Depths within this fraction of the size of the contact area count as equal.
#define DEPTH_FRACTION 0.002f

static float distance_squared(const cairn_clip_point *a, const cairn_clip_point *b) {
    const float x = b->x - a->x;
    const float y = b->y - a->y;
    return x * x + y * y;
}

static uint32_t deepest(const cairn_clip_point *points, uint32_t count) {
    CAIRN_ASSERT(count > 0);
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
    CAIRN_ASSERT(from < count);
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

// The points farthest to the left and to the right of the line; `first` for an empty side.
static void farthest_to_sides(const cairn_clip_point *points, uint32_t count, uint32_t first,
    uint32_t second, uint32_t to_sides[2]) {
    CAIRN_ASSERT(first < count && second < count);
    const float along_x = points[second].x - points[first].x;
    const float along_y = points[second].y - points[first].y;
    // Points with a smaller area than this are on the line, by rounding.
    const float least = 1e-4f * (along_x * along_x + along_y * along_y);
    float left_score = least;
    float right_score = least;
    to_sides[0] = first;
    to_sides[1] = first;
    for (uint32_t i = 0; i < count; ++i) {
        const float x = points[i].x - points[first].x;
        const float y = points[i].y - points[first].y;
        const float score = along_x * y - along_y * x;
        if (score > CLEARLY * left_score) {
            to_sides[0] = i;
            left_score = score;
        }
        if (0.0f - score > CLEARLY * right_score) {
            to_sides[1] = i;
            right_score = 0.0f - score;
        }
    }
}

// Inserts into a short increasing list, unless it is there already.
static uint32_t insert_index(uint32_t *list, uint32_t count, uint32_t value) {
    CAIRN_ASSERT(count < CAIRN_MANIFOLD_POINTS_MAX);
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

uint32_t cairn_manifold_reduce(
    const cairn_clip_point *points, uint32_t count, uint32_t chosen[CAIRN_MANIFOLD_POINTS_MAX]) {
    CAIRN_ASSERT(count <= CAIRN_CLIP_POINTS_MAX);
    if (count <= CAIRN_MANIFOLD_POINTS_MAX) {
        for (uint32_t i = 0; i < count; ++i) {
            chosen[i] = i;
        }
        return count;
    }
    uint32_t selected[4];
    selected[0] = deepest(points, count);
    selected[1] = farthest(points, count, selected[0]);
    farthest_to_sides(points, count, selected[0], selected[1], &selected[2]);
    uint32_t chosen_count = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        chosen_count = insert_index(chosen, chosen_count, selected[i]);
    }
    CAIRN_ASSERT(chosen_count >= 1);
    return chosen_count;
}

// SPDX-License-Identifier: MIT
#include "sim/clip.h"

#include "base/assert.h"

static void polygon_add(cairn_clip_polygon *polygon, cairn_vec3 position, uint32_t edge) {
    // Rounding could make a sliver cross a plane more often than twice; what does not fit is a
    // point next to one that is kept.
    if (polygon->count < CAIRN_CLIP_POINTS_MAX) {
        polygon->points[polygon->count] = (cairn_clip_point){.position = position, .edge = edge};
        polygon->count += 1;
    }
}

cairn_clip_polygon cairn_clip_polygon_cut(
    const cairn_clip_polygon *polygon, uint32_t axis, float sign, float limit, uint32_t edge) {
    cairn_clip_polygon kept = {.count = 0};
    for (uint32_t i = 0; i < polygon->count; ++i) {
        const cairn_clip_point *from = &polygon->points[i];
        const cairn_clip_point *to = &polygon->points[i + 1 < polygon->count ? i + 1 : 0];
        const float from_out = sign * vec3_component(from->position, axis) - limit;
        const float to_out = sign * vec3_component(to->position, axis) - limit;
        const bool from_kept = from_out <= 0.0f;
        const bool to_kept = to_out <= 0.0f;
        if (from_kept) {
            polygon_add(&kept, from->position, from->edge);
        }
        if (from_kept != to_kept) {
            const float part = from_out / (from_out - to_out);
            polygon_add(&kept, vec3_lerp(from->position, to->position, part),
                from_kept ? edge : from->edge);
        }
    }
    return kept;
}

// Scores within this factor of each other count as equal, and the earlier point stays.
#define CLEARLY 1.05f
// Depths within this fraction of the patch's size count as equal.
#define DEPTH_FRACTION 0.002f

static uint32_t deepest(const cairn_vec3 *positions, const float *separations, uint32_t count) {
    float size_squared = 0.0f;
    for (uint32_t i = 1; i < count; ++i) {
        const cairn_vec3 offset = vec3_sub(positions[i], positions[0]);
        size_squared = float_max(size_squared, vec3_length_squared(offset));
    }
    const float tolerance = DEPTH_FRACTION * float_sqrt(size_squared);
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; ++i) {
        best = separations[i] < separations[best] - tolerance ? i : best;
    }
    return best;
}

static uint32_t farthest(const cairn_vec3 *positions, uint32_t count, uint32_t from) {
    uint32_t best = from;
    float best_score = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_vec3 offset = vec3_sub(positions[i], positions[from]);
        const float score = vec3_length_squared(offset);
        if (score > CLEARLY * best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

// The point farthest from the line to the side that `sign` says; `first` when there is none.
static uint32_t farthest_beside(const cairn_vec3 *positions, uint32_t count, cairn_vec3 normal,
    uint32_t first, uint32_t second, float sign) {
    const cairn_vec3 along = vec3_sub(positions[second], positions[first]);
    const cairn_vec3 beside = vec3_scale(vec3_cross(normal, along), sign);
    uint32_t best = first;
    // An area below this is a point on the line but for rounding.
    float best_score = 1e-4f * vec3_length_squared(along);
    for (uint32_t i = 0; i < count; ++i) {
        const float score = vec3_dot(vec3_sub(positions[i], positions[first]), beside);
        if (score > CLEARLY * best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

uint32_t cairn_patch_reduce(const cairn_vec3 *positions, const float *separations, uint32_t count,
    cairn_vec3 normal, uint32_t chosen[4]) {
    CAIRN_ASSERT(count <= CAIRN_CLIP_POINTS_MAX);
    uint32_t taken = 0;
    if (count <= 4) {
        taken = (1u << count) - 1u;
    } else {
        const uint32_t first = deepest(positions, separations, count);
        const uint32_t second = farthest(positions, count, first);
        const uint32_t left = farthest_beside(positions, count, normal, first, second, 1.0f);
        const uint32_t right = farthest_beside(positions, count, normal, first, second, -1.0f);
        taken = 1u << first | 1u << second | 1u << left | 1u << right;
    }
    uint32_t chosen_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if ((taken & 1u << i) != 0) {
            chosen[chosen_count] = i;
            chosen_count += 1;
        }
    }
    return chosen_count;
}

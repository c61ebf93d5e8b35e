// SPDX-License-Identifier: MIT
#define CAIRN_LANES 4
#include "sim/collide/obstacles.h"

#include "base/assert.h"
#include "sim/collide/body_extent.h"
#include "sim/collide/cached_pairs.h"
#include "sim/math/lanes.h"
#include "sim/state/state_array.h"

#define CLEARANCE_MAX 1e3f // m

_Static_assert(CAIRN_OBSTACLES_MAX % CAIRN_LANES == 0, "all lanes have a box");

void cairn_obstacles_list(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    const cairn_state *state = &world->state;
    cache->obstacle_count = 0;
    for (uint32_t i = 0; i < state->settings->shape_slots; ++i) {
        if (cairn_state_has(state, CAIRN_ARRAY_SHAPES, i) &&
            (state->shapes[i].flags & CAIRN_SHAPE_SENSOR) == 0 &&
            state->bodies[state->shapes[i].body].kind != CAIRN_BODY_DYNAMIC &&
            body_enabled(&state->bodies[state->shapes[i].body])) {
            cache->obstacles[cache->obstacle_count++] = i;
        }
    }
    cache->obstacles_stale = false;
}

static cairn_aabb fat_aabb(const cairn_pair_cache *cache, uint32_t slot) {
    const cairn_aabb_array *fat = &cache->fat_aabbs;
    return (cairn_aabb){
        .lower = vec3(fat->lower[0][slot], fat->lower[1][slot], fat->lower[2][slot]),
        .upper = vec3(fat->upper[0][slot], fat->upper[1][slot], fat->upper[2][slot])};
}

static uint32_t padded_count(const cairn_pair_cache *cache) {
    return (cache->obstacle_count + CAIRN_LANES - 1) / CAIRN_LANES * CAIRN_LANES;
}

void cairn_obstacles_read_boxes(cairn_pair_cache *cache) {
    const cairn_aabb_array *fat = &cache->fat_aabbs;
    const uint32_t count = cache->obstacle_count;
    const uint32_t padded = count > CAIRN_OBSTACLES_MAX ? 0 : padded_count(cache);
    for (uint32_t i = 0; i < padded; ++i) {
        // The last one again does no harm.
        const uint32_t slot = cache->obstacles[i < count ? i : count - 1];
        for (uint32_t axis = 0; axis < 3; ++axis) {
            cache->obstacle_lower[axis][i] = fat->lower[axis][slot];
            cache->obstacle_upper[axis][i] = fat->upper[axis][slot];
        }
    }
}

// How far two AABBs are apart along the axis where they are farthest apart; negative if they
// overlap.
static float gap_of(const cairn_aabb *p, const cairn_aabb *q) {
    const cairn_vec3 gap = vec3_max(vec3_sub(q->lower, p->upper), vec3_sub(p->lower, q->upper));
    return float_max(gap.x, float_max(gap.y, gap.z));
}

// The clearance that a gap between fat AABBs leaves, with room for rounding.
static float clearance_of(const cairn_aabb *fat, float gap) {
    const cairn_vec3 far = vec3_max(vec3_abs(fat->lower), vec3_abs(fat->upper));
    return 0.999f * gap - 1e-6f * float_max(far.x, float_max(far.y, far.z));
}

// The same of a box and of those from obstacle `at` on, along one axis.
static lanes gap_on_axis(
    const cairn_pair_cache *cache, uint32_t axis, uint32_t at, float lower, float upper) {
    lanes other_lower;
    lanes other_upper;
    memcpy(&other_lower, &cache->obstacle_lower[axis][at], sizeof other_lower);
    memcpy(&other_upper, &cache->obstacle_upper[axis][at], sizeof other_upper);
    return lanes_max(other_lower - lanes_all(upper), lanes_all(lower) - other_upper);
}

static float least_of(lanes values) {
    float all[CAIRN_LANES];
    memcpy(all, &values, sizeof all);
    return float_min(float_min(all[0], all[1]), float_min(all[2], all[3]));
}

void cairn_clearance_find(const cairn_pair_cache *cache, uint32_t slot) {
    const cairn_aabb fat = fat_aabb(cache, slot);
    const bool many = cache->obstacle_count > CAIRN_OBSTACLES_MAX;
    const uint32_t count = many ? 0 : padded_count(cache);
    lanes nearest = lanes_all(many ? 0.0f : CLEARANCE_MAX);
    lanes least = nearest; // of those that it does not meet
    for (uint32_t i = 0; i < count; i += CAIRN_LANES) {
        const lanes gap = lanes_max(gap_on_axis(cache, 0, i, fat.lower.x, fat.upper.x),
            lanes_max(gap_on_axis(cache, 1, i, fat.lower.y, fat.upper.y),
                gap_on_axis(cache, 2, i, fat.lower.z, fat.upper.z)));
        const lanes_mask apart = lanes_less(lanes_all(0.0f), gap);
        nearest = lanes_min(nearest, gap);
        least = lanes_select(apart, lanes_min(least, gap), least);
    }
    const float room = least_of(nearest);
    const bool meets = !(room > 0.0f);
    const float clearance = clearance_of(&fat, meets ? least_of(least) : room);
    cache->clearances[slot] = clearance;
    cache->rooms[slot] = meets ? 0.0f : clearance;
}

// What an obstacle leaves of the clearances and rooms of all shapes.
static void reduce_by(cairn_pair_cache *cache, const cairn_aabb *obstacle) {
    for (uint32_t i = 0; i < cache->fat_aabbs.count; ++i) {
        const cairn_aabb fat = fat_aabb(cache, i);
        const float gap = gap_of(&fat, obstacle);
        const float clearance = clearance_of(&fat, gap);
        cache->rooms[i] = float_min(cache->rooms[i], clearance);
        if (gap > 0.0f && clearance < cache->clearances[i]) {
            cache->clearances[i] = clearance;
        }
    }
}

void cairn_clearances_reduce(cairn_pair_cache *cache) {
    if (cache->obstacle_count > CAIRN_OBSTACLES_MAX) {
        for (uint32_t i = 0; i < cache->fat_aabbs.count; ++i) {
            cache->clearances[i] = float_min(cache->clearances[i], 0.0f);
            cache->rooms[i] = 0.0f;
        }
        return;
    }
    for (uint32_t i = 0; i < cache->obstacle_count; ++i) {
        const uint32_t slot = cache->obstacles[i];
        if ((cache->list_change[slot] & CAIRN_LIST_ENLARGED) != 0) {
            const cairn_aabb moved = fat_aabb(cache, slot);
            reduce_by(cache, &moved);
        }
    }
}

// Fat AABBs of bullets are not read: they may be set at the same time.
static bool meets_bullet(const cairn_world *world, const cairn_aabb *swept) {
    const cairn_pair_cache *cache = world->pair_cache;
    for (uint32_t i = 0; i < cache->bullet_count; ++i) {
        const cairn_aabb bullet = cairn_body_swept_aabb(world, cache->bullets[i]);
        if (cairn_aabbs_overlap(swept, &bullet)) {
            return true;
        }
    }
    return false;
}

bool cairn_obstacle_must_list(const cairn_world *world, uint32_t slot, const cairn_aabb *swept) {
    const cairn_pair_cache *cache = world->pair_cache;
    if (cache->obstacle_count > CAIRN_OBSTACLES_MAX || cache->bullet_count > CAIRN_OBSTACLES_MAX ||
        meets_bullet(world, swept)) {
        return true;
    }
    const cairn_aabb fat = fat_aabb(cache, slot);
    for (uint32_t i = 0; i < cache->obstacle_count; ++i) {
        const uint32_t obstacle = cache->obstacles[i];
        const bool fast = (cache->reference_change[obstacle] & CAIRN_REFERENCE_FAST) != 0;
        const cairn_aabb other =
            fast ? cairn_body_swept_aabb(world, obstacle) : cache->transforms[obstacle].aabb;
        if (cairn_aabbs_overlap(swept, &other)) {
            const cairn_aabb other_fat = fat_aabb(cache, obstacle);
            if (cache->reference_change[obstacle] != 0 ||
                (cache->list_change[obstacle] & CAIRN_LIST_ENLARGED) != 0 ||
                !cairn_aabbs_overlap(&fat, &other_fat)) {
                return true;
            }
        }
    }
    return false;
}

// SPDX-License-Identifier: MIT
#include "sim/collide/obstacles.h"

#include "base/assert.h"
#include "sim/collide/body_extent.h"
#include "sim/collide/cached_pairs.h"
#include "sim/state/state_array.h"

// With more obstacles or bullets than this they are not tested one after the other.
#define OBSTACLES_MAX 64u
#define CLEARANCE_MAX 1e3f // m

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

float cairn_clearance_find(const cairn_pair_cache *cache, uint32_t slot) {
    const cairn_aabb fat = fat_aabb(cache, slot);
    const bool many = cache->obstacle_count > OBSTACLES_MAX;
    const uint32_t count = many ? 0 : cache->obstacle_count;
    float least = many ? 0.0f : CLEARANCE_MAX;
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_aabb other = fat_aabb(cache, cache->obstacles[i]);
        const float gap = gap_of(&fat, &other);
        least = gap > 0.0f ? float_min(least, gap) : least;
    }
    return clearance_of(&fat, least);
}

void cairn_clearances_reduce(cairn_pair_cache *cache) {
    const uint32_t count = cache->obstacle_count > OBSTACLES_MAX ? 0 : cache->obstacle_count;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t slot = cache->obstacles[i];
        const cairn_aabb moved = fat_aabb(cache, slot);
        const bool enlarged = (cache->list_change[slot] & CAIRN_LIST_ENLARGED) != 0;
        const uint32_t shapes = enlarged ? cache->fat_aabbs.count : 0;
        for (uint32_t k = 0; k < shapes; ++k) {
            const cairn_aabb fat = fat_aabb(cache, k);
            const float gap = gap_of(&fat, &moved);
            const float clearance = clearance_of(&fat, gap);
            if (gap > 0.0f && clearance < cache->clearances[k]) {
                cache->clearances[k] = clearance;
            }
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
    if (cache->obstacle_count > OBSTACLES_MAX || cache->bullet_count > OBSTACLES_MAX ||
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

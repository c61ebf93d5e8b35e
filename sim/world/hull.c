// SPDX-License-Identifier: MIT
#include "sim/world/world.h"

#include <string.h>

#include "base/assert.h"
#include "sim/shape/hull.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"

uint32_t cairn_hull_slot(const cairn_world *world, cairn_hull_id hull) {
    return cairn_slot_find(world->state.hull_ids, world->state.settings->hull_slots, hull);
}

const char *cairn_hull_refusal(const cairn_vec3 *points, uint32_t count) {
    cairn_hull hull;
    return cairn_hull_build_stable(points, count, &hull);
}

static cairn_status build_hull(const cairn_vec3 *points, uint32_t count, cairn_hull *hull) {
    for (uint32_t i = 0; i < count && i < CAIRN_HULL_POINTS_MAX; ++i) {
        if (!vec3_finite(points[i])) {
            return CAIRN_NON_FINITE;
        }
    }
    return cairn_hull_build_stable(points, count, hull) == NULL ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}

cairn_status cairn_hull_store(cairn_world *world, const cairn_hull *hull, cairn_hull_id *out) {
    cairn_state *state = &world->state;
    const uint32_t slot = cairn_slot_take(
        state->hull_ids, &state->settings->hull_slots, world->def.hull_capacity, &world->hull_hint);
    if (slot == CAIRN_INDEX_NONE) {
        state->settings->creates_refused += 1;
        return CAIRN_CAPACITY;
    }
    cairn_hull_vertices *stored = &state->hulls[slot];
    CAIRN_ASSERT(hull->vertex_count >= 4 && hull->vertex_count <= CAIRN_HULL_VERTICES_MAX);
    memset(stored, 0, sizeof *stored);
    stored->count = hull->vertex_count;
    memcpy(stored->vertices, hull->vertices, hull->vertex_count * sizeof hull->vertices[0]);
    if (hull != &world->hulls[slot]) {
        world->hulls[slot] = *hull;
    }
    cairn_hash_cache_mark(world, CAIRN_ARRAY_HULL_IDS, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_HULLS, slot);
    *out = cairn_slot_id(state->hull_ids, slot);
    CAIRN_ASSERT(cairn_hull_slot(world, *out) == slot);
    return CAIRN_OK;
}

cairn_status cairn_hull_create(
    cairn_world *world, const cairn_vec3 *points, uint32_t count, cairn_hull_id *out) {
    cairn_hull hull;
    *out = 0;
    const cairn_status status = build_hull(points, count, &hull);
    return status == CAIRN_OK ? cairn_hull_store(world, &hull, out) : status;
}

static bool hull_in_use(const cairn_world *world, cairn_hull_id hull) {
    const cairn_state *state = &world->state;
    for (uint32_t i = 0; i < state->settings->shape_slots; ++i) {
        if (cairn_state_has(state, CAIRN_ARRAY_SHAPES, i) &&
            state->shapes[i].geometry.hull == hull) {
            return true;
        }
    }
    return false;
}

cairn_status cairn_hull_destroy(cairn_world *world, cairn_hull_id hull) {
    const uint32_t slot = cairn_hull_slot(world, hull);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    if (hull_in_use(world, hull)) {
        return CAIRN_WRONG_STATE;
    }
    memset(&world->state.hulls[slot], 0, sizeof(cairn_hull_vertices));
    cairn_slot_free(world->state.hull_ids, slot, &world->hull_hint);
    CAIRN_ASSERT(cairn_hull_slot(world, hull) == CAIRN_INDEX_NONE);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_HULL_IDS, slot);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_HULLS, slot);
    return CAIRN_OK;
}

cairn_status cairn_hull_read(const cairn_world *world, cairn_hull_id hull,
    cairn_vec3 vertices[CAIRN_HULL_VERTICES_MAX], uint32_t *count) {
    const uint32_t slot = cairn_hull_slot(world, hull);
    *count = 0;
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_hull_vertices *stored = &world->state.hulls[slot];
    CAIRN_ASSERT(stored->count <= CAIRN_HULL_VERTICES_MAX);
    memcpy(vertices, stored->vertices, stored->count * sizeof stored->vertices[0]);
    *count = stored->count;
    return CAIRN_OK;
}

uint32_t cairn_world_hulls(const cairn_world *world, cairn_hull_id *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    const cairn_state *state = &world->state;
    return cairn_slots_list(state->hull_ids, state->settings->hull_slots, out, capacity);
}

static bool same_vertices(const cairn_hull *hull, const cairn_hull_vertices *points) {
    CAIRN_ASSERT(points->count <= CAIRN_HULL_VERTICES_MAX);
    return hull->vertex_count == points->count &&
           memcmp(hull->vertices, points->vertices, points->count * sizeof points->vertices[0]) ==
               0;
}

cairn_status cairn_hull_share(
    cairn_world *world, const cairn_vec3 *points, uint32_t count, cairn_hull_id *out) {
    const cairn_state *state = &world->state;
    cairn_hull hull;
    *out = 0;
    const cairn_status status = build_hull(points, count, &hull);
    for (uint32_t i = 0; status == CAIRN_OK && i < state->settings->hull_slots; ++i) {
        if (cairn_state_has(state, CAIRN_ARRAY_HULLS, i) &&
            same_vertices(&hull, &state->hulls[i])) {
            *out = cairn_slot_id(state->hull_ids, i);
            return CAIRN_OK;
        }
    }
    return status == CAIRN_OK ? cairn_hull_store(world, &hull, out) : status;
}

bool cairn_hull_vertices_ok(const cairn_hull_vertices *points) {
    static const cairn_vec3 none = {.x = 0.0f};
    cairn_hull hull;
    for (uint32_t i = points->count; i < CAIRN_HULL_VERTICES_MAX; ++i) {
        if (memcmp(&points->vertices[i], &none, sizeof none) != 0) {
            return false;
        }
    }
    return points->count <= CAIRN_HULL_VERTICES_MAX &&
           cairn_hull_build(points->vertices, points->count, &hull) == NULL &&
           same_vertices(&hull, points);
}

void cairn_hulls_derive(cairn_world *world) {
    const cairn_state *state = &world->state;
    for (uint32_t i = 0; i < state->settings->hull_slots; ++i) {
        const cairn_hull_vertices *points = &state->hulls[i];
        if (cairn_state_has(state, CAIRN_ARRAY_HULLS, i) &&
            !same_vertices(&world->hulls[i], points)) {
            // cairn_hull_create and cairn_decode_check accept only vertices that build a hull.
            const char *refusal =
                cairn_hull_build(points->vertices, points->count, &world->hulls[i]);
            CAIRN_ASSERT(refusal == NULL && same_vertices(&world->hulls[i], points));
        }
    }
}

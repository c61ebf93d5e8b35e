// SPDX-License-Identifier: MIT
#include "sim/world/world.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/world_settings.h"
#include "sim/articulation/hang.h"
#include "sim/body/body.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/math/limits.h"
#include "sim/query/shape_tree.h"
#include "sim/shape/hull.h"
#include "sim/soft_step/soft_step.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/task/task_scheduler.h"
#include "sim/world/fork.h"
#include "sim/world/game_messages.h"
#include "sim/world/mesh.h"
#include "sim/world/scratch.h"

// A world with the parts that it points to.
typedef struct allocation {
    cairn_world world; // first: cairn_world_destroy frees the allocation by this address
    cairn_pair_cache pair_cache;
    cairn_shape_tree shape_tree;
    cairn_hangs hangs;
    cairn_task_scheduler scheduler;
    cairn_scratch scratch;
} allocation;
_Static_assert(offsetof(allocation, world) == 0, "freed by the address of the world");

static cairn_status allocate_parts(
    cairn_world *world, const cairn_settings *settings, uint32_t lanes, cairn_allocator *take) {
    CAIRN_ASSERT(settings != world->state.settings && take != NULL);
    const cairn_world_def *def = &world->def;
    world->state_memory = take(1, cairn_state_size(settings) + CAIRN_CACHE_LINE);
    world->spare_memory = take(1, cairn_state_size(settings) + CAIRN_CACHE_LINE);
    world->shape_first = take(def->body_capacity, sizeof *world->shape_first);
    world->shape_next = take(def->shape_capacity, sizeof *world->shape_next);
    world->awake_marks = take(awake_mark_words(def->body_capacity), sizeof *world->awake_marks);
    world->hulls = calloc((size_t)def->hull_capacity + 1, sizeof *world->hulls);
    world->meshes = calloc((size_t)def->mesh_capacity + 1, sizeof *world->meshes);
    world->mesh_memory = take(cairn_meshes_derived_words(def) + 1, sizeof *world->mesh_memory);
    if (def->rules != NULL) {
        world->game_messages.list =
            take(CAIRN_GAME_MESSAGES_PER_STEP_MAX, sizeof *world->game_messages.list);
        if (world->game_messages.list == NULL) {
            return CAIRN_OUT_OF_MEMORY;
        }
    }
    if (world->state_memory == NULL || world->spare_memory == NULL || world->shape_first == NULL ||
        world->shape_next == NULL || world->awake_marks == NULL || world->hulls == NULL ||
        world->meshes == NULL || world->mesh_memory == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    world->state = cairn_state_view(settings, cairn_cache_line_in(world->state_memory));
    world->spare = cairn_state_view(settings, cairn_cache_line_in(world->spare_memory));
    cairn_status status = cairn_hash_cache_create(settings, &world->hash_cache);
    if (status == CAIRN_OK) {
        status = cairn_pair_cache_create(world->pair_cache, def, take);
    }
    if (status == CAIRN_OK) {
        status = cairn_shape_tree_create(world->shape_tree, def, take);
    }
    if (status == CAIRN_OK) {
        status = cairn_hangs_create(world->hangs, def, take);
    }
    return status != CAIRN_OK ? status : cairn_scratch_create(world->scratch, def, lanes, take);
}

static cairn_world *connect_parts(allocation *all) {
    cairn_world *world = &all->world;
    cairn_scratch *scratch = &all->scratch;
    world->pair_cache = &all->pair_cache;
    world->shape_tree = &all->shape_tree;
    world->hangs = &all->hangs;
    world->scheduler = &all->scheduler;
    world->scratch = scratch;
    world->awake_set = &scratch->awake_set;
    world->manifold_pool = &scratch->manifold_pool;
    world->contact_edit_buffer = &scratch->contact_edit_buffer;
    world->islands = &scratch->islands;
    world->soft_step = &scratch->soft_step;
    world->pgs = &scratch->pgs;
    return world;
}

cairn_status cairn_world_allocate(
    const cairn_world_def *def, uint32_t lanes, cairn_allocator *take, cairn_world **out) {
    CAIRN_ASSERT(cairn_world_def_check(def) == CAIRN_OK);
    *out = NULL;
    const cairn_settings settings = cairn_settings_of(def);
    allocation *all = calloc(1, sizeof *all);
    if (all == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    cairn_world *world = connect_parts(all);
    world->def = *def;
    const cairn_status status = allocate_parts(world, &settings, lanes, take);
    if (status != CAIRN_OK) {
        cairn_world_destroy(world);
        return status;
    }
    *out = world;
    return CAIRN_OK;
}

cairn_status cairn_world_create(const cairn_world_def *def, cairn_world **out) {
    *out = NULL;
    cairn_world *world = NULL;
    cairn_status status = cairn_world_def_check(def);
    if (status == CAIRN_OK) {
        status = cairn_world_allocate(def, 0, calloc, &world);
    }
    if (status != CAIRN_OK) {
        return status;
    }
    const cairn_settings settings = cairn_settings_of(def);
    *world->state.settings = settings;
    cairn_manifold_pool_clear(world);
    CAIRN_ASSERT(cairn_world_tick(world) == 0);
    *out = world;
    return CAIRN_OK;
}

size_t cairn_world_def_state_size(const cairn_world_def *def) {
    if (cairn_world_def_check(def) != CAIRN_OK) {
        return 0;
    }
    const cairn_settings settings = cairn_settings_of(def);
    return cairn_state_size(&settings);
}

void cairn_world_destroy(cairn_world *world) {
    if (world == NULL) {
        return;
    }
    free(world->state_memory);
    free(world->spare_memory);
    free(world->shape_first);
    free(world->shape_next);
    free(world->awake_marks);
    free(world->hulls);
    free(world->meshes);
    free(world->mesh_memory);
    free(world->game_messages.list);
    cairn_hash_cache_destroy(world->hash_cache);
    free(world->scratch->memory);
    cairn_pair_cache_destroy(world->pair_cache);
    cairn_shape_tree_destroy(world->shape_tree);
    cairn_hangs_destroy(world->hangs);
    free(world);
}

const cairn_world_def *cairn_world_settings(const cairn_world *world) {
    return &world->def;
}

const void *cairn_world_rules_state(const cairn_world *world, uint32_t *size) {
    *size = world->state.settings->rules_state_size;
    return *size == 0 ? NULL : world->state.rules;
}

uint64_t cairn_world_tick(const cairn_world *world) {
    const cairn_settings *settings = world->state.settings;
    return (uint64_t)settings->tick_high << 32 | settings->tick_low;
}

cairn_world_counters cairn_world_counters_read(const cairn_world *world) {
    const cairn_settings *settings = world->state.settings;
    return (cairn_world_counters){.contacts_dropped = settings->contacts_dropped,
        .creates_refused = settings->creates_refused,
        .bodies_disabled = settings->bodies_disabled,
        .edits_refused = settings->edits_refused,
        .events_dropped = settings->events_dropped,
        .solver_fallbacks = settings->solver_fallbacks};
}

static uint32_t count_bodies(const cairn_state *state) {
    return cairn_slots_list(state->body_ids, state->settings->body_slots, NULL, 0);
}

static bool is_awake(const cairn_world *world, uint32_t slot) {
    return world->state.bodies[slot].kind == CAIRN_BODY_DYNAMIC &&
           cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot) &&
           cairn_body_is_active(world, slot);
}

cairn_world_counts cairn_world_counts_read(const cairn_world *world) {
    const cairn_state *state = &world->state;
    const cairn_settings *settings = state->settings;
    cairn_world_counts counts = {.bodies = count_bodies(state),
        .shapes = cairn_slots_list(state->shape_ids, settings->shape_slots, NULL, 0),
        .joints = cairn_slots_list(state->joint_ids, settings->joint_slots, NULL, 0),
        .hulls = cairn_slots_list(state->hull_ids, settings->hull_slots, NULL, 0),
        .meshes = cairn_slots_list(state->mesh_ids, settings->mesh_slots, NULL, 0)};
    for (uint32_t i = 0; i < settings->body_slots; ++i) {
        counts.bodies_awake += is_awake(world, i) ? 1u : 0u;
    }
    for (uint32_t i = 0; i < settings->contact_count; ++i) {
        counts.contacts += contact_is_sensor(&state->contacts[i]) ? 0u : 1u;
        counts.contact_points += state->contacts[i].point_count;
    }
    CAIRN_ASSERT(counts.bodies_awake <= counts.bodies);
    CAIRN_ASSERT(counts.contact_points <= CAIRN_MANIFOLD_POINTS_MAX * counts.contacts);
    return counts;
}

// Bodies that are not marked are not awake.
cairn_world_population cairn_world_population_read(const cairn_world *world) {
    const cairn_settings *settings = world->state.settings;
    cairn_world_population population = {
        .bodies = world->body_count, .contacts = settings->contact_count};
    for (uint32_t i = cairn_awake_mark_next(world, 0); i < settings->body_slots;
         i = cairn_awake_mark_next(world, i + 1)) {
        population.bodies_awake += is_awake(world, i) ? 1u : 0u;
    }
    CAIRN_ASSERT(population.bodies_awake <= population.bodies);
    return population;
}

static void link_shapes(cairn_world *world) {
    const cairn_state *state = &world->state;
    memset(world->shape_first, 0, state->settings->body_slots * sizeof *world->shape_first);
    world->hit_shapes = 0;
    world->mesh_shapes = 0;
    for (uint32_t i = state->settings->shape_slots; i > 0; --i) {
        if (cairn_state_has(state, CAIRN_ARRAY_SHAPES, i - 1)) {
            const uint32_t body = state->shapes[i - 1].body;
            CAIRN_ASSERT(cairn_state_has(state, CAIRN_ARRAY_BODIES, body));
            world->shape_next[i - 1] = world->shape_first[body];
            world->shape_first[body] = i;
            world->hit_shapes +=
                (state->shapes[i - 1].flags & CAIRN_SHAPE_HIT_EVENTS) != 0 ? 1u : 0u;
            world->mesh_shapes += state->shapes[i - 1].geometry.mesh != 0 ? 1u : 0u;
        }
    }
}

void cairn_world_derive(cairn_world *world, const bool changed[CAIRN_ARRAY_COUNT]) {
    CAIRN_ASSERT(world->state.settings->body_capacity == world->def.body_capacity);
    if (changed[CAIRN_ARRAY_SHAPE_IDS] || changed[CAIRN_ARRAY_SHAPES] ||
        changed[CAIRN_ARRAY_BODY_IDS]) {
        link_shapes(world);
    }
    if (changed[CAIRN_ARRAY_BODY_IDS]) {
        world->body_hint = 0;
        world->body_count = count_bodies(&world->state);
    }
    world->shape_hint = changed[CAIRN_ARRAY_SHAPE_IDS] ? 0 : world->shape_hint;
    world->joint_hint = changed[CAIRN_ARRAY_JOINT_IDS] ? 0 : world->joint_hint;
    world->hull_hint = changed[CAIRN_ARRAY_HULL_IDS] ? 0 : world->hull_hint;
    world->mesh_hint = changed[CAIRN_ARRAY_MESH_IDS] ? 0 : world->mesh_hint;
    if (changed[CAIRN_ARRAY_MESH_IDS] || changed[CAIRN_ARRAY_MESHES] ||
        changed[CAIRN_ARRAY_MESH_BLOCKS]) {
        cairn_meshes_derive(world);
    }
    if (changed[CAIRN_ARRAY_HULL_IDS] || changed[CAIRN_ARRAY_HULLS]) {
        cairn_hulls_derive(world);
    }
    if (changed[CAIRN_ARRAY_SHAPE_IDS] || changed[CAIRN_ARRAY_SHAPES] ||
        changed[CAIRN_ARRAY_BODY_IDS] || changed[CAIRN_ARRAY_MOTIONS] ||
        changed[CAIRN_ARRAY_HULLS] || changed[CAIRN_ARRAY_MESHES] ||
        changed[CAIRN_ARRAY_MESH_BLOCKS]) {
        cairn_shape_tree_mark_all_moved(world->shape_tree);
    }
    world->hangs->stale = true;
    world->contacts_stale = true;
    world->islands_settled = false;
    world->bodies_woken = true;
    world->targets_set = true;
}

void cairn_world_drop_pairs(cairn_world *world) {
    world->pair_cache_valid = false;
    cairn_manifold_pool_clear(world);
    CAIRN_ASSERT(!world->manifold_pool->complete && world->manifold_pool->used == 0);
}

static void copy_state(cairn_world *to, const cairn_world *from) {
    const cairn_settings settings = cairn_settings_of(&to->def);
    CAIRN_ASSERT(to != from);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        CAIRN_ASSERT(cairn_array_count(from->state.settings, array) <=
                     cairn_array_capacity(&settings, array));
        memcpy(cairn_state_array(&to->state, array), cairn_state_array(&from->state, array),
            cairn_array_count(from->state.settings, array) * cairn_array_element_size(array));
    }
}

static void copy_derived(cairn_world *to, const cairn_world *from) {
    const cairn_settings *settings = from->state.settings;
    CAIRN_ASSERT(to->state.settings->body_slots == settings->body_slots);
    memcpy(to->shape_first, from->shape_first, settings->body_slots * sizeof from->shape_first[0]);
    memcpy(to->shape_next, from->shape_next, settings->shape_slots * sizeof from->shape_next[0]);
    memcpy(to->awake_marks, from->awake_marks,
        awake_mark_words(settings->body_slots) * sizeof *from->awake_marks);
    memcpy(to->hulls, from->hulls, settings->hull_slots * sizeof from->hulls[0]);
    to->hit_shapes = from->hit_shapes;
    to->mesh_shapes = from->mesh_shapes;
    cairn_meshes_copy(to, from);
    to->bodies_woken = from->bodies_woken;
    to->targets_set = from->targets_set;
    to->body_count = from->body_count;
    to->body_hint = from->body_hint;
    to->shape_hint = from->shape_hint;
    to->joint_hint = from->joint_hint;
    to->hull_hint = from->hull_hint;
    to->mesh_hint = from->mesh_hint;
    to->hangs->stale = true;
    to->contacts_stale = true;
    cairn_hash_cache_copy(to->hash_cache, from->hash_cache, settings);
    cairn_manifold_pool_clear(to);
}

// calloc would clear all memory that the process has used before, however little of it the fork
// needs.
static void *allocate_uncleared(size_t count, size_t size) {
    CAIRN_ASSERT(size == 0 || count <= SIZE_MAX / size);
    return malloc(count * size);
}

cairn_fork_size cairn_fork_size_of(const cairn_world *world) {
    return (cairn_fork_size){.def = world->def,
        .lanes = world->soft_step->wide_kernel.lanes,
        .settings = *world->state.settings};
}

cairn_status cairn_fork_reserve(const cairn_fork_size *size, cairn_world **out) {
    const cairn_settings *live = &size->settings;
    const cairn_status status =
        cairn_world_allocate(&size->def, size->lanes, allocate_uncleared, out);
    if (status != CAIRN_OK) {
        return status;
    }
    cairn_world *world = *out;
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        memset(cairn_state_array(&world->state, array), 0,
            cairn_array_count(live, array) * cairn_array_element_size(array));
    }
    memset(world->shape_first, 0, live->body_slots * sizeof *world->shape_first);
    memset(world->shape_next, 0, live->shape_slots * sizeof *world->shape_next);
    memset(world->awake_marks, 0, awake_mark_words(live->body_slots) * sizeof *world->awake_marks);
    return CAIRN_OK;
}

cairn_status cairn_fork_fill(cairn_world *reserved, const cairn_world *from) {
    const cairn_settings settings = cairn_settings_of(&reserved->def);
    if (memcmp(&settings, from->state.settings, CAIRN_SETTINGS_DEF_WORDS * sizeof(uint32_t)) != 0) {
        return CAIRN_INVALID_ARGUMENT;
    }
    copy_state(reserved, from);
    copy_derived(reserved, from);
    CAIRN_ASSERT(cairn_world_tick(reserved) == cairn_world_tick(from));
    return CAIRN_OK;
}

// The fork continues from the current state. It takes what a save would hold, the hash cache, and
// the derived data that is expensive to rebuild. The rest of its memory is neither cleared nor
// copied, so the cost depends on what lives in the world, not on its capacities.
cairn_status cairn_world_fork(const cairn_world *from, cairn_world **out) {
    cairn_status status = cairn_world_allocate(
        &from->def, from->soft_step->wide_kernel.lanes, allocate_uncleared, out);
    if (status == CAIRN_OK) {
        status = cairn_fork_fill(*out, from);
        CAIRN_ASSERT(status == CAIRN_OK);
    }
    return status;
}

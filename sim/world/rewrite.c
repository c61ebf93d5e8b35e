// SPDX-License-Identifier: MIT
#include "sim/world/rewrite.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/manifold_carry.h"
#include "sim/collide/pair_cache.h"
#include "sim/state/hash_cache.h"
#include "sim/world/world.h"

cairn_rewrite cairn_rewrite_begin(cairn_world *world, const cairn_settings *settings, bool keep) {
    cairn_rewrite rewrite = {.world = world,
        .before = *world->state.settings,
        .keeps = keep && cairn_pair_cache_can_follow(world),
        .differed = {[CAIRN_ARRAY_SETTINGS] = true}};
    CAIRN_ASSERT(memcmp(&rewrite.before, settings, CAIRN_SETTINGS_DEF_WORDS * 4) == 0);
    *world->state.settings = *settings;
    for (cairn_array array = 1; array < CAIRN_ARRAY_COUNT; ++array) {
        rewrite.differed[array] =
            cairn_array_count(&rewrite.before, array) != cairn_array_count(settings, array);
    }
    if (rewrite.keeps) {
        cairn_manifold_carry_begin(world);
    }
    return rewrite;
}

// Elements of a block that both states have.
static cairn_run common_run(const cairn_rewrite *rewrite, cairn_array array, uint32_t block) {
    const uint32_t before = cairn_array_count(&rewrite->before, array);
    const uint32_t now = cairn_array_count(rewrite->world->state.settings, array);
    const uint32_t less = before < now ? before : now;
    const uint32_t begin = block << cairn_hash_cache_block_shift(array);
    const uint32_t end = begin + cairn_hash_cache_block_elements(array);
    return (cairn_run){.begin = begin < less ? begin : less, .end = end < less ? end : less};
}

// A reference pose that no step has set yet belongs to a body that has changed since the last step;
// the pair cache has not seen how.
static bool references_set(const cairn_rewrite *rewrite, uint32_t block) {
    const cairn_world *world = rewrite->world;
    const cairn_run run = common_run(rewrite, CAIRN_ARRAY_REFERENCE_POSES, block);
    for (uint32_t i = run.begin; i < run.end; ++i) {
        if (world->shape_first[i] != 0 &&
            packed_rotation_is_none(world->state.reference_poses[i].rotation)) {
            return false;
        }
    }
    return true;
}

void cairn_rewrite_before(cairn_rewrite *rewrite, cairn_array array, uint32_t block) {
    cairn_world *world = rewrite->world;
    if (!rewrite->keeps) {
        return;
    }
    const cairn_run run = common_run(rewrite, array, block);
    switch (array) {
    case CAIRN_ARRAY_CONTACTS:
        cairn_manifold_carry_keep(world, block);
        break;
    case CAIRN_ARRAY_BODIES:
        memcpy(&world->spare.bodies[run.begin], &world->state.bodies[run.begin],
            (run.end - run.begin) * sizeof(cairn_body));
        break;
    case CAIRN_ARRAY_JOINTS:
        memcpy(&world->spare.joints[run.begin], &world->state.joints[run.begin],
            (run.end - run.begin) * sizeof(cairn_joint));
        break;
    case CAIRN_ARRAY_REFERENCE_POSES:
        rewrite->keeps = references_set(rewrite, block);
        break;
    default:
        break;
    }
}

// Whether pairs and manifolds follow from both in the same way.
static bool bodies_alike(const cairn_body *a, const cairn_body *b) {
    return a->kind == b->kind && memcmp(&a->centre, &b->centre, sizeof a->centre) == 0;
}

static bool joints_alike(const cairn_joint *a, const cairn_joint *b) {
    return a->kind == b->kind && a->body_a == b->body_a && a->body_b == b->body_b &&
           a->collide_connected == b->collide_connected;
}

void cairn_rewrite_after(cairn_rewrite *rewrite, cairn_array array, uint32_t block) {
    cairn_world *world = rewrite->world;
    rewrite->differed[array] = true;
    const cairn_run run = common_run(rewrite, array, block);
    for (uint32_t i = run.begin; rewrite->keeps && i < run.end; ++i) {
        if (array == CAIRN_ARRAY_REFERENCE_POSES) {
            cairn_pair_cache_restore_body(world, i);
        } else if (array == CAIRN_ARRAY_BODIES) {
            rewrite->keeps = bodies_alike(&world->spare.bodies[i], &world->state.bodies[i]);
        } else if (array == CAIRN_ARRAY_JOINTS) {
            rewrite->keeps = joints_alike(&world->spare.joints[i], &world->state.joints[i]);
        } else {
            break;
        }
    }
}

// Arrays from which pairs and manifolds follow, beside those that are looked at word by word.
static bool shapes_differed(const cairn_rewrite *rewrite) {
    static const cairn_array of_shapes[] = {CAIRN_ARRAY_BODY_IDS, CAIRN_ARRAY_SHAPE_IDS,
        CAIRN_ARRAY_JOINT_IDS, CAIRN_ARRAY_HULL_IDS, CAIRN_ARRAY_HULLS, CAIRN_ARRAY_SHAPES,
        CAIRN_ARRAY_MESH_IDS, CAIRN_ARRAY_MESHES, CAIRN_ARRAY_MESH_BLOCKS};
    bool differed = false;
    for (size_t i = 0; i < sizeof of_shapes / sizeof of_shapes[0]; ++i) {
        differed = differed || rewrite->differed[of_shapes[i]];
    }
    return differed;
}

void cairn_rewrite_end(cairn_rewrite *rewrite) {
    cairn_world *world = rewrite->world;
    cairn_world_derive(world, rewrite->differed);
    if (rewrite->keeps && !shapes_differed(rewrite)) {
        cairn_pair_cache_follow(
            world, cairn_manifold_carry_finish(world, rewrite->before.contact_count));
    } else {
        cairn_world_drop_pairs(world);
    }
}

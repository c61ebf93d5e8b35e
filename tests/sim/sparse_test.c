// SPDX-License-Identifier: MIT
// A step of a world that mostly sleeps does not read what sleeps. The test falsifies everything
// that a full pass over bodies, pairs or contacts would act on, runs the stages that find contacts
// and wake islands, and counts how much it may falsify without a consequence. A clock is not
// needed.

#include "tests/sim/world_kit.h"

#include "sim/collide/contact_update.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/sleep/island.h"
#include "sim/state/awake_set.h"

enum { SIDE = 64, BOXES = SIDE * SIDE, AWAKE = 40 };

// A floor with boxes in rows, not in contact with each other. Those of `awake` never sleep: a row
// of them, or every hundredth one.
static cairn_world *field(bool scattered) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = def.shape_capacity = BOXES + 1;
    def.contact_capacity = 2 * BOXES;
    cairn_world *world = kit_world(&def);
    for (uint32_t i = 0; i <= BOXES; ++i) {
        cairn_body_def at = cairn_body_def_default();
        cairn_shape_def shape = cairn_shape_def_default();
        shape.half_extents = vec3(0.2f, 0.2f, 0.2f);
        at.position = vec3((float)(i / SIDE), 0.2f, (float)(i % SIDE));
        at.allow_sleep = scattered ? i % 100 != 1 || i / 100 >= AWAKE : i == 0 || i > AWAKE;
        if (i == 0) {
            at.kind = CAIRN_BODY_STATIC;
            at.position = vec3(0.0f, -1.0f, 0.0f);
            shape.half_extents = vec3(200.0f, 1.0f, 200.0f);
        }
        kit_body(world, &at, &shape);
    }
    kit_run(world, 60);
    const cairn_world_counts counts = cairn_world_counts_read(world);
    assert_int_equal(counts.bodies_awake, AWAKE);
    assert_int_equal(counts.contacts, BOXES);
    return world;
}

static bool is_awake(const cairn_world *world, uint32_t shape) {
    return cairn_body_in_awake_set(world, world->state.shapes[shape].body);
}

// Makes each pair of each range without a body of the awake set one that ends. Returns how many.
static uint32_t falsify_pairs(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    uint32_t falsified = 0;
    for (uint32_t first = 0; first < cache->pair_count; first += CAIRN_PAIRS_PER_RANGE) {
        const uint32_t left = cache->pair_count - first;
        const uint32_t count = left < CAIRN_PAIRS_PER_RANGE ? left : CAIRN_PAIRS_PER_RANGE;
        bool any = false;
        for (uint32_t i = first; i < first + count; ++i) {
            any = any || is_awake(world, cache->pairs[i].pair.shape_a) ||
                  is_awake(world, cache->pairs[i].pair.shape_b);
        }
        for (uint32_t i = first; i < first + count && !any; ++i) {
            cache->pairs[i].flags |= CAIRN_PAIR_CONTACT_ENDS;
            falsified += 1;
        }
    }
    return falsified;
}

// Makes each contact of each range without a body of the awake set one of two bodies of it, one of
// which sleeps: reading it wakes an island. Returns how many.
static uint32_t falsify_contacts(cairn_world *world, uint32_t awake, uint32_t asleep) {
    cairn_contact_ref *refs = world->manifold_pool->refs;
    const uint32_t all = world->state.settings->contact_count;
    uint32_t falsified = 0;
    for (uint32_t first = 0; first < all; first += CAIRN_PAIRS_PER_RANGE) {
        const uint32_t left = all - first;
        const uint32_t count = left < CAIRN_PAIRS_PER_RANGE ? left : CAIRN_PAIRS_PER_RANGE;
        bool any = false;
        for (uint32_t i = first; i < first + count; ++i) {
            any = any || cairn_body_in_awake_set(world, refs[i].body_a) ||
                  cairn_body_in_awake_set(world, refs[i].body_b);
        }
        for (uint32_t i = first; i < first + count && !any; ++i) {
            refs[i].body_a = awake;
            refs[i].body_b = asleep;
            falsified += 1;
        }
    }
    return falsified;
}

// Makes all sleeping bodies look awake. Returns how many.
static uint32_t falsify_bodies(cairn_world *world) {
    uint32_t falsified = 0;
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        if (world->state.sleep[i].state == CAIRN_SLEEP_ASLEEP) {
            world->state.sleep[i].state = CAIRN_SLEEP_NONE;
            falsified += 1;
        }
    }
    return falsified;
}

// Runs the stages with false data about all that sleeps, but for that of the ranges that are read.
static void expect_unread(bool scattered, uint32_t unread_min) {
    SCOPED(cairn_world) *world = field(scattered);
    const uint32_t pairs = falsify_pairs(world);
    const uint32_t contacts = falsify_contacts(world, 1, BOXES);
    assert_in_range(pairs, unread_min, BOXES);
    assert_in_range(contacts, unread_min, BOXES);
    cairn_pair_cache_update(world);
    cairn_contact_update(world);
    assert_int_equal(world->state.settings->contact_count, BOXES);
    cairn_islands_wake(world);
    assert_false(world->islands->wakes);
    assert_int_equal(falsify_bodies(world), BOXES - AWAKE);
    cairn_awake_set_list(world);
    assert_int_equal(world->awake_set->body_count, AWAKE);
}

TEST("bodies, pairs and contacts far from the awake set are not read") {
    expect_unread(false, BOXES - AWAKE - 2 * CAIRN_PAIRS_PER_RANGE);
}

TEST("if the awake bodies are scattered, only the ranges of their pairs are read") {
    expect_unread(true, BOXES - AWAKE * CAIRN_PAIRS_PER_RANGE);
}

// The set of slots against a search, for all bounds of some sets.
TEST("a set of slots knows whether a member is between two slots") {
    enum { SLOTS = 200 };
    static const uint32_t members[] = {3, 63, 64, 130, 199};
    uint64_t words[SLOTS / 64 + 2];
    uint32_t before[SLOTS / 64 + 2];
    cairn_slot_marks set = {.words = words, .before = before};
    for (uint32_t chosen = 0; chosen < 32; ++chosen) {
        uint32_t list[5];
        uint32_t count = 0;
        for (uint32_t i = 0; i < 5; ++i) {
            list[count] = members[i];
            count += chosen >> i & 1u;
        }
        slot_set_fill(&set, list, count, SLOTS);
        for (uint32_t lower = 0; lower < SLOTS; ++lower) {
            for (uint32_t upper = lower; upper < SLOTS; ++upper) {
                bool found = false;
                for (uint32_t i = 0; i < count; ++i) {
                    found = found || (list[i] >= lower && list[i] <= upper);
                }
                assert_int_equal(slot_set_meets(&set, lower, upper), found);
            }
        }
    }
}

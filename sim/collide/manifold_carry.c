// SPDX-License-Identifier: MIT
#include "sim/collide/manifold_carry.h"

#include <string.h>

#include "base/assert.h"
#include "sim/state/hash_cache.h"

static size_t kept_words(const cairn_world *world) {
    const uint32_t shift = cairn_hash_cache_block_shift(CAIRN_ARRAY_CONTACTS);
    return hash_cache_blocks(world->def.contact_capacity, shift) / 64 + 1;
}

void cairn_manifold_carry_begin(cairn_world *world) {
    cairn_manifold_pool *pool = world->manifold_pool;
    memset(pool->kept, 0, kept_words(world) * sizeof *pool->kept);
}

static bool is_kept(const cairn_world *world, uint32_t block) {
    return (world->manifold_pool->kept[block / 64] >> block % 64 & 1u) != 0;
}

void cairn_manifold_carry_keep(cairn_world *world, uint32_t block) {
    const uint32_t size = cairn_hash_cache_block_elements(CAIRN_ARRAY_CONTACTS);
    const uint32_t first = block * size;
    const uint32_t left = world->def.contact_capacity - first;
    CAIRN_ASSERT(first < world->def.contact_capacity);
    if (!is_kept(world, block)) {
        world->manifold_pool->kept[block / 64] |= UINT64_C(1) << block % 64;
        memcpy(&world->spare.contacts[first], &world->state.contacts[first],
            (left < size ? left : size) * sizeof(cairn_contact));
    }
}

// The first kept block from `block` on; `end` if none before it is.
static uint32_t next_kept(const cairn_world *world, uint32_t block, uint32_t end) {
    while (block < end) {
        const uint64_t left = world->manifold_pool->kept[block / 64] >> block % 64;
        if (left != 0) {
            block += (uint32_t)__builtin_ctzll(left);
            break;
        }
        block += 64 - block % 64;
    }
    return block < end ? block : end;
}

// Less than 0: `a` comes first in the list.
static int order_of(const cairn_contact *a, const cairn_contact *b) {
    const uint32_t of_a[3] = {cairn_id_index(a->shape_a), cairn_id_index(a->shape_b), a->part};
    const uint32_t of_b[3] = {cairn_id_index(b->shape_a), cairn_id_index(b->shape_b), b->part};
    for (uint32_t i = 0; i < 3; ++i) {
        if (of_a[i] != of_b[i]) {
            return of_a[i] < of_b[i] ? -1 : 1;
        }
    }
    return 0;
}

static bool same_ids(const cairn_contact *a, const cairn_contact *b) {
    return a->shape_a == b->shape_a && a->shape_b == b->shape_b && a->body_a == b->body_a &&
           a->body_b == b->body_b && contact_is_sensor(a) == contact_is_sensor(b);
}

// Whether both contacts, which have the same ids and part, have the same manifold.
static bool same_manifold(const cairn_contact *a, const cairn_contact *b) {
    bool same = a->axis_hint == b->axis_hint && a->point_count == b->point_count &&
                memcmp(&a->margin, &b->margin, sizeof a->margin) == 0 &&
                memcmp(&a->reference_displacement, &b->reference_displacement,
                    sizeof a->reference_displacement) == 0 &&
                memcmp(&a->reference_rotation_a, &b->reference_rotation_a,
                    sizeof a->reference_rotation_a) == 0 &&
                memcmp(&a->reference_rotation_b, &b->reference_rotation_b,
                    sizeof a->reference_rotation_b) == 0;
    for (uint32_t i = 0; same && i < a->point_count; ++i) {
        same = a->points[i].feature == b->points[i].feature;
    }
    return same;
}

// A pass over the old list and the new one.
typedef struct carry {
    cairn_world *world;
    uint32_t before;
    uint32_t after;
    uint32_t old; // index of the next contact of each list
    uint32_t now;
    bool changed; // the lists are not of the same contacts
} carry;

// Old contacts that nothing was written over are where they were, also behind the end of the list.
static const cairn_contact *old_contact(const carry *c) {
    const uint32_t shift = cairn_hash_cache_block_shift(CAIRN_ARRAY_CONTACTS);
    const cairn_world *world = c->world;
    return is_kept(world, c->old >> shift) ? &world->spare.contacts[c->old]
                                           : &world->state.contacts[c->old];
}

// Passes contacts that were not written over and are at the same place in both lists.
static void pass_unwritten(carry *c) {
    const uint32_t shift = cairn_hash_cache_block_shift(CAIRN_ARRAY_CONTACTS);
    const uint32_t less = c->before < c->after ? c->before : c->after;
    if (c->old == c->now && (c->old & ((1u << shift) - 1)) == 0) {
        const uint32_t next = next_kept(c->world, c->old >> shift, less >> shift) << shift;
        c->old = c->now = next > c->old ? next : c->old;
    }
}

// Passes the next contact, which one of the lists has, or both.
static void pass_one(carry *c) {
    cairn_manifold_pool *pool = c->world->manifold_pool;
    const cairn_contact *old = c->old < c->before ? old_contact(c) : NULL;
    const cairn_contact *now = c->now < c->after ? &c->world->state.contacts[c->now] : NULL;
    const int order = old == NULL ? 1 : now == NULL ? -1 : order_of(old, now);
    const uint32_t manifold = order <= 0 ? pool->refs_before[c->old].manifold : CAIRN_MANIFOLD_NONE;
    const bool same = order == 0 && same_ids(old, now);
    const bool carried = same && same_manifold(old, now);
    c->changed = c->changed || !same;
    if (!carried) {
        cairn_manifold_pool_release(pool, manifold);
    }
    if (order >= 0) {
        pool->refs[c->now] = cairn_contact_ref_of(now, carried ? manifold : CAIRN_MANIFOLD_NONE);
        c->now += 1;
    }
    c->old += order <= 0 ? 1u : 0u;
}

bool cairn_manifold_carry_finish(cairn_world *world, uint32_t before) {
    cairn_manifold_pool *pool = world->manifold_pool;
    carry c = {.world = world, .before = before, .after = world->state.settings->contact_count};
    pass_unwritten(&c);
    const uint32_t begin = c.old;
    CAIRN_ASSERT(before <= world->def.contact_capacity && begin <= before);
    memcpy(&pool->refs_before[begin], &pool->refs[begin],
        (before - begin) * sizeof *pool->refs_before);
    while (c.old < c.before || c.now < c.after) {
        pass_one(&c);
        pass_unwritten(&c);
    }
    pool->complete = false;
    const uint32_t same = begin / CAIRN_PAIRS_PER_BLOCK;
    if (c.changed && same < pool->blocks_known) {
        pool->blocks_known = same;
    }
    CAIRN_ASSERT(pool->free_count <= pool->used);
    return c.changed;
}

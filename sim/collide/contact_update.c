// SPDX-License-Identifier: MIT
#include "sim/collide/contact_update.h"

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/body/shape.h"
#include "sim/collide/contact_list.h"
#include "sim/collide/contact_points.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/mesh_contact.h"
#include "sim/collide/pair_cache.h"
#include "sim/collide/pair_contact.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/task/task_scheduler.h"

// So many blocks of pairs are counted by the main thread.
#define BLOCKS_SHARED_MIN 16
#define RANGES_PER_BLOCK (CAIRN_PAIR_BLOCK / CAIRN_PAIRS_PER_RANGE)
_Static_assert(CAIRN_PAIR_BLOCK % CAIRN_PAIRS_PER_RANGE == 0 && RANGES_PER_BLOCK < 32,
    "the ranges of a block are bits of a word");
// The fewest contacts that begin and are shared as one block.
#define CONTACTS_SHARED_MIN 8

// Stores what the manifold was computed from; a restore must get the same words.
static void store_reference(
    const cairn_world *world, const cairn_found_contact *found, cairn_contact *contact) {
    const cairn_reference_pose *references = world->state.reference_poses;
    const uint32_t a = cairn_id_index(contact->body_a);
    const uint32_t b = cairn_id_index(contact->body_b);
    contact->reference_displacement = found->pose.displacement;
    contact->reference_rotation_a = found->predicted ? found->rotation_a : references[a].rotation;
    contact->reference_rotation_b = found->predicted ? found->rotation_b : references[b].rotation;
    contact->margin = found->margin;
    contact->axis_hint = found->axis_hint;
}

// Whether a shape overlaps a sensor: a point lies inside, not only within the contact margin.
static bool overlaps(const cairn_manifold *manifold) {
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        if (manifold->points[i].separation <= 0.0f) {
            return true;
        }
    }
    return false;
}

// Whether the last manifold of a contact still says where its bodies are. The PGS solver computes
// every manifold in every step.
static bool has_last_manifold(const cairn_world *world, uint32_t reference_change) {
    return (reference_change & CAIRN_REFERENCE_RESET) != CAIRN_REFERENCE_RESET &&
           world->def.solver == CAIRN_SOLVER_SOFT_STEP;
}

static bool is_sensor(const cairn_world *world, uint32_t shape) {
    return (world->state.shapes[shape].flags & CAIRN_SHAPE_SENSOR) != 0;
}

// ---- What a pair needs, shared among the workers. Each item writes its own result, and its own
// contact if it has one; nothing else that is read here is written.

// The overlap of a sensor, after the reference pose of at least one of the bodies has changed.
static cairn_pair_outcome update_overlap(
    const cairn_world *world, cairn_pair pair, cairn_contact *contact, cairn_manifold *manifold) {
    CAIRN_ASSERT(contact_is_sensor(contact));
    const cairn_pair_pose pose = cairn_pair_reference_pose(world, pair);
    cairn_pair_collide(world, pair, &pose, CAIRN_CONTACT_MARGIN, &contact->axis_hint, manifold);
    return overlaps(manifold) ? CAIRN_PAIR_UPDATED : CAIRN_PAIR_ENDS;
}

// A pair in contact, after the reference pose of at least one of its bodies has changed.
static cairn_pair_outcome update_contact(const cairn_world *world, const cairn_pair_work *work,
    cairn_pair pair, cairn_found_contact *found) {
    cairn_contact *contact = &world->state.contacts[work->contact];
    CAIRN_ASSERT(cairn_id_index(contact->shape_a) == pair.shape_a);
    CAIRN_ASSERT(cairn_id_index(contact->shape_b) == pair.shape_b);
    const uint32_t index = world->manifold_pool->refs[work->contact].manifold;
    cairn_solver_manifold *stored = &world->manifold_pool->manifolds[index];
    CAIRN_ASSERT(index < world->manifold_pool->used);
    const cairn_pair_pose pose = cairn_pair_reference_pose(world, pair);
    const bool moved = has_last_manifold(world, work->change);
    if (moved && cairn_solver_manifold_can_recycle(world, contact, stored, &pose)) {
        return CAIRN_PAIR_UNCHANGED;
    }
    found->pose = pose;
    found->axis_hint = contact->axis_hint;
    if (!cairn_pair_contact_find(world, pair, work->change, true, found)) {
        return CAIRN_PAIR_ENDS;
    }
    const cairn_contact old = *contact;
    cairn_contact_set_points(&found->manifold, contact);
    store_reference(world, found, contact);
    const cairn_solver_manifold before = *stored;
    cairn_solver_manifold_fill(world, pair, &found->pose, &found->manifold, stored);
    cairn_contact_take_impulses(world, &old, moved ? &before : NULL, contact, stored);
    return CAIRN_PAIR_UPDATED;
}

// A cached pair of a sensor that it does not overlap yet, after the reference pose of a body has
// changed. Their AABBs overlap.
static cairn_pair_outcome begin_overlap(
    const cairn_world *world, cairn_pair pair, cairn_found_contact *found) {
    found->pose = cairn_pair_reference_pose(world, pair);
    found->axis_hint = 0;
    cairn_pair_collide(
        world, pair, &found->pose, CAIRN_CONTACT_MARGIN, &found->axis_hint, &found->manifold);
    return overlaps(&found->manifold) ? CAIRN_PAIR_BEGINS : CAIRN_PAIR_UNCHANGED;
}

// A cached pair that is not in contact, after the reference pose of a body has changed.
static cairn_pair_outcome collide_new_pair(
    const cairn_world *world, cairn_pair pair, uint32_t change, cairn_found_contact *found) {
    // Most pairs end here, before anything of the shapes themselves is read.
    const bool overlap = cairn_pair_cache_overlap(world->pair_cache, pair);
    const bool swept = cairn_pair_is_swept(world->pair_cache, pair, change);
    if (!overlap && !swept) {
        return CAIRN_PAIR_UNCHANGED;
    }
    if (is_sensor(world, pair.shape_a) || is_sensor(world, pair.shape_b)) {
        return overlap ? begin_overlap(world, pair, found) : CAIRN_PAIR_UNCHANGED;
    }
    if (pair_has_mesh(world, pair)) {
        return overlap ? CAIRN_PAIR_OF_MESH : CAIRN_PAIR_UNCHANGED;
    }
    if (!overlap && !cairn_pair_may_meet(world, pair)) {
        return CAIRN_PAIR_UNCHANGED;
    }
    found->pose = cairn_pair_reference_pose(world, pair);
    found->axis_hint = 0;
    return cairn_pair_contact_find(world, pair, change, false, found) ? CAIRN_PAIR_BEGINS
                                                                      : CAIRN_PAIR_UNCHANGED;
}

static cairn_pair_outcome update_pair(
    const cairn_world *world, const cairn_pair_work *work, cairn_found_contact *found) {
    const cairn_cached_pair *entry = &world->pair_cache->pairs[work->pair];
    const bool ends = (entry->flags & CAIRN_PAIR_CONTACT_ENDS) != 0;
    if (!ends && (entry->flags & CAIRN_PAIR_CONTACTS) != 0) {
        if (world->manifold_pool->refs[work->contact].manifold == CAIRN_MANIFOLD_SENSOR) {
            return update_overlap(
                world, entry->pair, &world->state.contacts[work->contact], &found->manifold);
        }
        return pair_has_mesh(world, entry->pair) ? CAIRN_PAIR_OF_MESH
                                                 : update_contact(world, work, entry->pair, found);
    }
    if (work->change == 0 || (entry->flags & CAIRN_PAIR_INVALID) != 0) {
        return CAIRN_PAIR_UNCHANGED;
    }
    return collide_new_pair(world, entry->pair, work->change, found);
}

static bool must_update(const cairn_pair_cache *cache, const cairn_cached_pair *entry) {
    const unsigned char *change = cache->reference_change;
    return ((uint32_t)(change[entry->pair.shape_a] | change[entry->pair.shape_b]) |
               (entry->flags & CAIRN_PAIR_CONTACT_ENDS)) != 0;
}

// The pairs of a block, from the index of the first one on.
static uint32_t block_end(const cairn_pair_cache *cache, uint32_t block) {
    const uint32_t left = cache->pair_count - block * CAIRN_PAIR_BLOCK;
    return cache->pair_count - left + (left < CAIRN_PAIR_BLOCK ? left : CAIRN_PAIR_BLOCK);
}

// Counts the contacts of each block, and the pairs that must be updated.
static void count_blocks(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_pair_cache *cache = world->pair_cache;
    for (uint32_t block = begin; block < end; ++block) {
        uint32_t contacts = 0;
        uint32_t changed = 0;
        for (uint32_t i = block * CAIRN_PAIR_BLOCK; i < block_end(cache, block); ++i) {
            contacts += cache->pairs[i].flags & CAIRN_PAIR_CONTACTS;
            changed += must_update(cache, &cache->pairs[i]) ? 1u : 0u;
        }
        world->contact_edit_buffer->blocks[block] =
            (cairn_pair_block){.contact = contacts, .changed = changed};
    }
}

// A place for a contact that begins.
typedef struct found_places {
    uint32_t next;
    uint32_t end;
} found_places;

static uint32_t take_place(cairn_contact_edit_buffer *buffer, found_places *places) {
    if (places->next == places->end) {
        const uint32_t next = atomic_fetch_add_explicit(
            &buffer->found_count, CAIRN_FOUND_PLACES, memory_order_relaxed);
        if (next >= buffer->found_capacity) {
            atomic_store_explicit(
                &buffer->found_count, buffer->found_capacity, memory_order_relaxed);
            return CAIRN_FOUND_MAX;
        }
        *places = (found_places){.next = next, .end = next + CAIRN_FOUND_PLACES};
    }
    return places->next++;
}

// Updates a pair. Returns whether the main thread has to look at it.
static bool update_and_note(const cairn_world *world, found_places *places, cairn_pair_work *work) {
    const cairn_cached_pair *entry = &world->pair_cache->pairs[work->pair];
    const bool ends = (entry->flags & CAIRN_PAIR_CONTACT_ENDS) != 0;
    const bool in_contact = (entry->flags & CAIRN_PAIR_CONTACTS) != 0 && !ends;
    if (in_contact && !pair_has_mesh(world, entry->pair) &&
        world->manifold_pool->refs[work->contact].manifold == CAIRN_MANIFOLD_NONE) {
        work->outcome = CAIRN_PAIR_NO_MANIFOLD;
        return true;
    }
    cairn_found_contact found;
    const cairn_pair_outcome outcome = update_pair(world, work, &found);
    if (outcome == CAIRN_PAIR_UPDATED) {
        cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACTS, work->contact);
        return false;
    }
    if (outcome == CAIRN_PAIR_BEGINS) {
        work->found = take_place(world->contact_edit_buffer, places);
        if (work->found < CAIRN_FOUND_MAX) {
            world->contact_edit_buffer->found[work->found] = found;
        }
    }
    work->outcome = outcome | (ends ? CAIRN_PAIR_ENDED : 0u);
    return work->outcome != CAIRN_PAIR_UNCHANGED;
}

// Pairs begin .. end - 1 of a block. `contact`: index of the first contact of them; `count`: the
// work of the block so far. Returns the index of the first contact of the pairs after them.
static uint32_t update_range(const cairn_world *world, uint32_t begin, uint32_t end,
    uint32_t contact, found_places *places, uint32_t *count) {
    const cairn_pair_cache *cache = world->pair_cache;
    const unsigned char *change = cache->reference_change;
    cairn_pair_work *work = &world->contact_edit_buffer->work[begin - begin % CAIRN_PAIR_BLOCK];
    for (uint32_t i = begin; i < end; ++i) {
        const cairn_cached_pair *entry = &cache->pairs[i];
        // Nearly all pairs stay as they are. Whether one is in contact is hard to predict, so it is
        // added, not branched on.
        if (must_update(cache, entry)) {
            const cairn_pair pair = entry->pair;
            work[*count] = (cairn_pair_work){.pair = i,
                .contact = contact,
                .change = (uint32_t)(change[pair.shape_a] | change[pair.shape_b])};
            *count += update_and_note(world, places, &work[*count]) ? 1u : 0u;
        }
        contact += entry->flags & CAIRN_PAIR_CONTACTS;
    }
    return contact;
}

// Updates the pairs of a block. `contact`: index of the first contact of its pairs. Returns that of
// the next block.
static uint32_t update_block(
    const cairn_world *world, uint32_t block, uint32_t contact, found_places *places) {
    uint32_t count = 0;
    contact = update_range(world, block * CAIRN_PAIR_BLOCK, block_end(world->pair_cache, block),
        contact, places, &count);
    world->contact_edit_buffer->blocks[block].work = count;
    return contact;
}

static void update_blocks(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_pair_block *blocks = world->contact_edit_buffer->blocks;
    found_places places = {.next = 0};
    for (uint32_t i = begin; i < end; ++i) {
        if (blocks[i].changed != 0) {
            update_block(world, i, blocks[i].contact, &places);
        }
    }
}

// ---- The same in a world that mostly sleeps, without reading the pairs of ranges in which nothing
// has changed

static uint32_t range_end(const cairn_pair_cache *cache, uint32_t range) {
    const uint32_t end = (range + 1) * CAIRN_PAIRS_PER_RANGE;
    return end < cache->pair_count ? end : cache->pair_count;
}

static void sum_range(const cairn_pair_cache *cache, uint32_t range) {
    cairn_pairs_sum sum = {.shapes = CAIRN_SLOT_RANGE_NONE};
    for (uint32_t i = range * CAIRN_PAIRS_PER_RANGE; i < range_end(cache, range); ++i) {
        const cairn_cached_pair *entry = &cache->pairs[i];
        slot_range_add(&sum.shapes, entry->pair.shape_a, entry->pair.shape_b);
        sum.contacts += entry->flags & CAIRN_PAIR_CONTACTS;
        sum.ends = sum.ends || (entry->flags & CAIRN_PAIR_CONTACT_ENDS) != 0;
    }
    cache->sums[range] = sum;
}

static void sum_block(const cairn_pair_cache *cache, uint32_t block) {
    cairn_pairs_sum sum = {.shapes = CAIRN_SLOT_RANGE_NONE};
    for (uint32_t i = block * RANGES_PER_BLOCK; i * CAIRN_PAIRS_PER_RANGE < block_end(cache, block);
         ++i) {
        if (block >= cache->blocks_summed || cache->sums[i].stale) {
            sum_range(cache, i);
        }
        slot_range_unite(&sum.shapes, &cache->sums[i].shapes);
        sum.contacts += cache->sums[i].contacts;
        sum.ends = sum.ends || cache->sums[i].ends;
    }
    cache->block_sums[block] = sum;
}

static bool must_update_some(const cairn_pair_cache *cache, const cairn_pairs_sum *sum) {
    return sum->ends || slot_range_meets(&sum->shapes, &cache->changed);
}

// Of `changed`, bit i: some pair of range i of the block must be updated.
static void count_sparse_blocks(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_pair_cache *cache = world->pair_cache;
    for (uint32_t block = begin; block < end; ++block) {
        const cairn_pairs_sum *sum = &cache->block_sums[block];
        if (block >= cache->blocks_summed || sum->stale) {
            sum_block(cache, block);
        }
        cairn_pair_block found = {.contact = sum->contacts};
        const uint32_t first = block * RANGES_PER_BLOCK;
        const uint32_t pairs = block_end(cache, block) - block * CAIRN_PAIR_BLOCK;
        const bool some = must_update_some(cache, sum);
        for (uint32_t i = 0; some && i * CAIRN_PAIRS_PER_RANGE < pairs; ++i) {
            found.changed |= (must_update_some(cache, &cache->sums[first + i]) ? 1u : 0u) << i;
        }
        world->contact_edit_buffer->blocks[block] = found;
    }
}

static void update_sparse_blocks(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_pair_cache *cache = world->pair_cache;
    found_places places = {.next = 0};
    for (uint32_t block = begin; block < end; ++block) {
        cairn_pair_block *in = &world->contact_edit_buffer->blocks[block];
        uint32_t contact = in->contact;
        for (uint32_t i = 0; in->changed >> i != 0; ++i) {
            const uint32_t range = block * RANGES_PER_BLOCK + i;
            if ((in->changed >> i & 1u) != 0) {
                update_range(world, range * CAIRN_PAIRS_PER_RANGE, range_end(cache, range), contact,
                    &places, &in->work);
            }
            contact += cache->sums[range].contacts;
        }
    }
}

// Updates all pairs, in order of the list; a worker gets those that it had in the last step,
// mostly. Returns how many contacts they had.
static uint32_t update_pairs(cairn_world *world, uint32_t block_count) {
    cairn_pair_block *blocks = world->contact_edit_buffer->blocks;
    uint32_t contact = 0;
    atomic_store_explicit(&world->contact_edit_buffer->found_count, 0, memory_order_relaxed);
    const bool sparse = world->awake_set->sparse;
    if (cairn_task_scheduler_workers(world->scheduler) < 2 && !sparse) {
        found_places places = {.next = 0};
        for (uint32_t i = 0; i < block_count; ++i) {
            contact = update_block(world, i, contact, &places);
        }
        return contact;
    }
    cairn_task_scheduler_split(world->scheduler, sparse ? count_sparse_blocks : count_blocks, world,
        0, block_count, BLOCKS_SHARED_MIN);
    world->pair_cache->blocks_summed = sparse ? block_count : 0;
    for (uint32_t i = 0; i < block_count; ++i) {
        const uint32_t contacts = blocks[i].contact;
        blocks[i].contact = contact;
        contact += contacts;
    }
    cairn_task_scheduler_parallel_for(
        world->scheduler, sparse ? update_sparse_blocks : update_blocks, world, 0, block_count, 1);
    return contact;
}

// ---- The contact list, edited by the main thread in order of the pairs

// A contact that begins. It has an index for its manifold already.
static void fill_contact(const cairn_world *world, cairn_new_contact *inserted, cairn_pair pair,
    const cairn_found_contact *found) {
    const cairn_shape *shapes = world->state.shapes;
    const uint32_t manifold = inserted->ref.manifold;
    inserted->contact = (cairn_contact){.shape_a = cairn_shape_id_at(world, pair.shape_a),
        .shape_b = cairn_shape_id_at(world, pair.shape_b),
        .body_a = cairn_body_id_at(world, shapes[pair.shape_a].body),
        .body_b = cairn_body_id_at(world, shapes[pair.shape_b].body),
        .axis_hint = found->axis_hint};
    if (manifold == CAIRN_MANIFOLD_SENSOR) {
        inserted->contact.colour = is_sensor(world, pair.shape_b) ? 1 : 0;
    } else {
        cairn_contact_set_points(&found->manifold, &inserted->contact);
        store_reference(world, found, &inserted->contact);
        cairn_solver_manifold_fill(world, pair, &found->pose, &found->manifold,
            &world->manifold_pool->manifolds[manifold]);
    }
    inserted->ref = cairn_contact_ref_of(&inserted->contact, manifold);
}

static void fill_some_contacts(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_contact_edit_buffer *buffer = world->contact_edit_buffer;
    for (uint32_t i = begin; i < end; ++i) {
        cairn_new_contact *inserted = &buffer->new_contacts[i];
        if (inserted->found < CAIRN_FOUND_MAX) {
            fill_contact(world, inserted, inserted->pair, &buffer->found[inserted->found]);
        }
    }
}

// The contact is filled later if its data stays in the buffer.
static void begin_contact(cairn_world *world, cairn_contact_edit *edit, cairn_cached_pair *entry,
    const cairn_pair_work *work) {
    const cairn_pair pair = entry->pair;
    CAIRN_ASSERT(entry->flags == 0 && pair.shape_a < pair.shape_b);
    cairn_new_contact *inserted = cairn_contact_edit_insert(world, edit);
    if (inserted == NULL) {
        world->state.settings->contacts_dropped += 1;
        return;
    }
    entry->flags = 1;
    const bool sensor = is_sensor(world, pair.shape_a) || is_sensor(world, pair.shape_b);
    inserted->ref.manifold =
        sensor ? CAIRN_MANIFOLD_SENSOR : cairn_manifold_pool_take(world->manifold_pool);
    inserted->pair = pair;
    inserted->found = work->found;
    if (work->found >= CAIRN_FOUND_MAX) {
        cairn_found_contact again;
        (void)collide_new_pair(world, pair, work->change, &again);
        fill_contact(world, inserted, pair, &again);
    }
}

// The pair's contact gets the manifold that it lacks: after a load, or a change of lanes.
static void provide_manifold(cairn_world *world, uint32_t contact, uint32_t change) {
    cairn_contact_ref *ref = &world->manifold_pool->refs[contact];
    CAIRN_ASSERT(ref->manifold == CAIRN_MANIFOLD_NONE);
    if (has_last_manifold(world, change)) {
        cairn_manifold_pool_restore(world, contact);
    } else {
        ref->manifold = cairn_manifold_pool_take(world->manifold_pool);
    }
}

static void update_without_manifold(
    cairn_world *world, cairn_contact_edit *edit, const cairn_pair_work *work) {
    cairn_found_contact found;
    provide_manifold(world, work->contact, work->change);
    const cairn_pair_outcome outcome = update_pair(world, work, &found);
    CAIRN_ASSERT(outcome <= CAIRN_PAIR_ENDS);
    if (outcome == CAIRN_PAIR_UPDATED) {
        cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACTS, work->contact);
    } else if (outcome == CAIRN_PAIR_ENDS) {
        world->pair_cache->pairs[work->pair].flags = 0;
        cairn_contact_edit_remove_next(world, edit);
    }
}

static void apply_result(
    cairn_world *world, cairn_contact_edit *edit, const cairn_pair_work *work) {
    cairn_cached_pair *entry = &world->pair_cache->pairs[work->pair];
    CAIRN_ASSERT(edit->next <= work->contact);
    edit->next = work->contact;
    if ((work->outcome & CAIRN_PAIR_ENDED) != 0) {
        for (uint32_t count = entry->flags & CAIRN_PAIR_CONTACTS; count > 0; --count) {
            cairn_contact_edit_remove_next(world, edit);
        }
        entry->flags &= CAIRN_PAIR_INVALID;
    }
    switch (work->outcome & ~(uint32_t)CAIRN_PAIR_ENDED) {
    case CAIRN_PAIR_ENDS:
        entry->flags = 0;
        cairn_contact_edit_remove_next(world, edit);
        break;
    case CAIRN_PAIR_BEGINS:
        begin_contact(world, edit, entry, work);
        break;
    case CAIRN_PAIR_OF_MESH:
        cairn_mesh_contact_update(world, edit, entry, work->change);
        break;
    case CAIRN_PAIR_NO_MANIFOLD:
        update_without_manifold(world, edit, work);
        break;
    default:
        break;
    }
}

// After a load every manifold is missing. They are computed before the solver can disable a body:
// that moves its centre of mass, for which the points were computed.
static void restore_manifolds(cairn_world *world) {
    const cairn_contact_ref *refs = world->manifold_pool->refs;
    for (uint32_t i = 0; i < world->state.settings->contact_count; ++i) {
        if (refs[i].manifold == CAIRN_MANIFOLD_NONE &&
            (cairn_body_in_awake_set(world, refs[i].body_a) ||
                cairn_body_in_awake_set(world, refs[i].body_b))) {
            cairn_manifold_pool_restore(world, i);
        }
    }
    world->manifold_pool->complete = true;
}

void cairn_contact_update(cairn_world *world) {
    const cairn_contact_edit_buffer *buffer = world->contact_edit_buffer;
    const uint32_t block_count =
        (world->pair_cache->pair_count + CAIRN_PAIR_BLOCK - 1) / CAIRN_PAIR_BLOCK;
    cairn_contact_edit edit = cairn_contact_edit_begin(world);
    world->contacts_stale = false;
    const uint32_t contacts = update_pairs(world, block_count);
    CAIRN_ASSERT(contacts == world->state.settings->contact_count);
    for (uint32_t block = 0; block < block_count; ++block) {
        const cairn_pair_work *work = &buffer->work[block * CAIRN_PAIR_BLOCK];
        for (uint32_t i = 0; i < buffer->blocks[block].work; ++i) {
            apply_result(world, &edit, &work[i]);
            world->pair_cache->sums[work[i].pair / CAIRN_PAIRS_PER_RANGE].stale = true;
            world->pair_cache->block_sums[block].stale = true;
        }
    }
    cairn_task_scheduler_parallel_for(
        world->scheduler, fill_some_contacts, world, 0, edit.inserted, CONTACTS_SHARED_MIN);
    edit.next = contacts;
    cairn_contact_edit_finish(world, &edit);
    if (!world->manifold_pool->complete) {
        restore_manifolds(world);
    }
}

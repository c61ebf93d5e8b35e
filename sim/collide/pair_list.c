// SPDX-License-Identifier: MIT
#include "sim/collide/pair_list.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/state/slots.h"
#include "sim/task/task_scheduler.h"

// So many pairs are merged by the main thread.
#define PAIRS_SHARED_MIN 1024u

static uint64_t pair_key(cairn_pair pair) {
    return (uint64_t)pair.shape_a << 32 | pair.shape_b;
}

// After all others.
#define NO_PAIR ((cairn_pair){.shape_a = UINT32_MAX, .shape_b = UINT32_MAX})

static cairn_pair pair_of(const cairn_contact *contact) {
    return (cairn_pair){
        .shape_a = cairn_id_index(contact->shape_a), .shape_b = cairn_id_index(contact->shape_b)};
}

bool cairn_pair_may_collide(const cairn_world *world, cairn_pair pair) {
    CAIRN_ASSERT(pair.shape_a < pair.shape_b);
    const cairn_broad_phase_filter *filters = world->pair_cache->fat_aabbs.filters;
    const cairn_broad_phase_filter *a = &filters[pair.shape_a];
    const cairn_broad_phase_filter *b = &filters[pair.shape_b];
    const cairn_shape *shape_a = &world->state.shapes[pair.shape_a];
    const cairn_shape *shape_b = &world->state.shapes[pair.shape_b];
    const cairn_body *bodies = world->state.bodies;
    if (shape_a->body == shape_b->body || !body_enabled(&bodies[shape_a->body]) ||
        !body_enabled(&bodies[shape_b->body]) ||
        (shape_a->flags & shape_b->flags & CAIRN_SHAPE_SENSOR) != 0) {
        return false;
    }
    return a->body != b->body && (a->category & b->mask) != 0 && (b->category & a->mask) != 0 &&
           !cairn_joint_filter_rejects(&world->pair_cache->joint_filter,
               world->pair_cache->transforms[pair.shape_a].body,
               world->pair_cache->transforms[pair.shape_b].body);
}

// `found`: the broad phase found the pair, too. Its shapes may by now be others in the same slots.
// `count`: its contacts.
static uint32_t contact_flags(
    const cairn_world *world, const cairn_contact *contact, uint32_t count, bool found) {
    const cairn_pair pair = pair_of(contact);
    const cairn_state *state = &world->state;
    const uint32_t slots = state->settings->shape_slots;
    const bool exist =
        cairn_slot_find(state->shape_ids, slots, contact->shape_a) != CAIRN_INDEX_NONE &&
        cairn_slot_find(state->shape_ids, slots, contact->shape_b) != CAIRN_INDEX_NONE;
    const bool may = (exist || found) && cairn_pair_may_collide(world, pair);
    if (exist && may) {
        return count;
    }
    return count | CAIRN_PAIR_CONTACT_ENDS | (found && may ? 0 : CAIRN_PAIR_INVALID);
}

// The contacts of one pair, from its first one on.
static uint32_t parts_of(const cairn_contact *contact, const cairn_contact *end) {
    uint32_t count = 1;
    CAIRN_ASSERT(contact < end);
    while (contact + count < end && contact[count].part != 0) {
        ++count;
    }
    return count;
}

// The list of so many pairs in `spare` takes the place of the other one. `skipped`: its place
// there.
static void replace_list(cairn_pair_cache *cache, uint32_t skipped, uint32_t count) {
    cairn_cached_pair *const list = cache->spare;
    cache->spare = cache->list;
    cache->list = list;
    cache->pairs = list + skipped;
    cache->pair_count = count;
    cache->blocks_summed = 0;
}

void cairn_pair_list_fill(cairn_world *world, uint32_t found_count) {
    cairn_pair_cache *cache = world->pair_cache;
    CAIRN_ASSERT(found_count <= cache->pair_capacity);
    const cairn_contact *contact = world->state.contacts;
    const cairn_contact *end = contact + world->state.settings->contact_count;
    uint32_t at = 0;
    uint32_t count = 0;
    cache->pairs = cache->list;
    while (at < found_count || contact < end) {
        const uint64_t key = at < found_count ? pair_key(cache->found[at]) : UINT64_MAX;
        const cairn_pair next = contact < end ? pair_of(contact) : NO_PAIR;
        const bool in_contact = pair_key(next) <= key;
        const cairn_pair pair = in_contact ? next : cache->found[at];
        if (in_contact || cairn_pair_may_collide(world, pair)) {
            const bool found = pair_key(pair) == key;
            const uint32_t parts = in_contact ? parts_of(contact, end) : 0;
            const uint32_t flags = in_contact ? contact_flags(world, contact, parts, found) : 0;
            cache->pairs[count++] = (cairn_cached_pair){.pair = pair, .flags = flags};
            contact += parts;
        }
        at += pair_key(pair) == key ? 1u : 0u;
    }
    CAIRN_ASSERT(count <= cache->pair_capacity + world->def.contact_capacity);
    cache->pair_count = count;
    cache->blocks_summed = 0;
}

// Whether an old pair stays in the list, and in *entry its flags. `contact`: index of its contact,
// if it has one and a shape was removed.
static bool keep_pair(
    const cairn_world *world, uint32_t contact, bool found, cairn_cached_pair *entry) {
    const unsigned char *change = world->pair_cache->list_change;
    const cairn_pair pair = entry->pair;
    const uint32_t changed = (uint32_t)(change[pair.shape_a] | change[pair.shape_b]);
    const uint32_t parts = entry->flags & CAIRN_PAIR_CONTACTS;
    if (parts != 0) {
        if ((changed & CAIRN_LIST_REMOVED) != 0) {
            const cairn_contact *first = &world->state.contacts[contact];
            CAIRN_ASSERT(cairn_id_index(first->shape_a) == pair.shape_a);
            entry->flags = contact_flags(world, first, parts, found);
        }
        return true;
    }
    if ((entry->flags & CAIRN_PAIR_INVALID) != 0) {
        entry->flags = 0;
        return found && cairn_pair_may_collide(world, pair);
    }
    if ((changed & CAIRN_LIST_REMOVED) != 0) {
        return found && cairn_pair_may_collide(world, pair);
    }
    return found || changed == 0;
}

// A part of the old list and the found pairs that belong there.
typedef struct merge_part {
    uint32_t begin;
    uint32_t end;
    uint32_t found_begin;
    uint32_t found_end;
} merge_part;

// Walks up the found pairs from index `at`, while their keys are below `end`. Appends each pair
// that may collide at *to. Returns the index at which the walk stopped.
static uint32_t list_found_before(const cairn_world *world, uint32_t at, uint32_t found_end,
    uint64_t end, cairn_cached_pair **to) {
    const cairn_pair_cache *cache = world->pair_cache;
    for (; at < found_end && pair_key(cache->found[at]) < end; ++at) {
        if (cairn_pair_may_collide(world, cache->found[at])) {
            *(*to)++ = (cairn_cached_pair){.pair = cache->found[at]};
        }
    }
    return at;
}

// Merges a part to the new list from `to` on. Returns its end.
static cairn_cached_pair *merge(
    const cairn_world *world, const merge_part *part, cairn_cached_pair *to) {
    const cairn_pair_cache *cache = world->pair_cache;
    const unsigned char *change = cache->list_change;
    const cairn_cached_pair *pairs = cache->pairs;
    const uint32_t end = part->end;
    const uint32_t found_end = part->found_end;
    uint32_t at = part->found_begin;
    uint64_t next = at < found_end ? pair_key(cache->found[at]) : UINT64_MAX;
    uint32_t contact = 0;
    uint32_t kept_from = part->begin; // from here to i, all old pairs stay as they are
    for (uint32_t i = part->begin; i < end; ++i) {
        const cairn_pair pair = pairs[i].pair;
        const uint32_t contacts = pairs[i].flags & CAIRN_PAIR_CONTACTS;
        if ((change[pair.shape_a] | change[pair.shape_b]) != 0 || pair_key(pair) >= next) {
            cairn_cached_pair old = pairs[i];
            memcpy(to, &pairs[kept_from], (i - kept_from) * sizeof *pairs);
            to += i - kept_from;
            kept_from = i + 1;
            at = list_found_before(world, at, found_end, pair_key(pair), &to);
            const bool found = at < found_end && pair_key(cache->found[at]) == pair_key(pair);
            at += found ? 1u : 0u;
            next = at < found_end ? pair_key(cache->found[at]) : UINT64_MAX;
            if (keep_pair(world, contact, found, &old)) {
                *to++ = old;
            }
        }
        contact += contacts;
    }
    memcpy(to, &pairs[kept_from], (end - kept_from) * sizeof *pairs);
    to += end - kept_from;
    at = list_found_before(world, at, found_end, UINT64_MAX, &to);
    CAIRN_ASSERT(at == found_end);
    return to;
}

// Walks down the found pairs below index `at`, while their keys are above `end`. Puts each pair
// that may collide in front of *to. Returns how many found pairs remain.
static uint32_t list_found_after(
    const cairn_world *world, uint32_t at, uint64_t end, cairn_cached_pair **to) {
    const cairn_pair_cache *cache = world->pair_cache;
    for (; at > 0 && pair_key(cache->found[at - 1]) > end; --at) {
        if (cairn_pair_may_collide(world, cache->found[at - 1])) {
            *--*to = (cairn_cached_pair){.pair = cache->found[at - 1]};
        }
    }
    return at;
}

// Merges the first part backward, so that it ends at `to`, and returns where it starts. Both
// workers can begin at once, because neither needs to know how long the other's part becomes. Only
// if no shape was removed.
static cairn_cached_pair *merge_backward(
    const cairn_world *world, const merge_part *part, cairn_cached_pair *to) {
    const cairn_pair_cache *cache = world->pair_cache;
    const unsigned char *change = cache->list_change;
    const cairn_cached_pair *pairs = cache->pairs;
    uint32_t at = part->found_end;
    uint64_t next = at > 0 ? pair_key(cache->found[at - 1]) : 0;
    uint32_t kept_to = part->end; // from i + 1 to here, all old pairs stay as they are
    CAIRN_ASSERT(part->begin == 0 && part->found_begin == 0 && cache->removed_count == 0);
    for (uint32_t i = part->end; i-- > 0;) {
        const cairn_pair pair = pairs[i].pair;
        if ((change[pair.shape_a] | change[pair.shape_b]) != 0 || pair_key(pair) <= next) {
            cairn_cached_pair old = pairs[i];
            to -= kept_to - (i + 1);
            memcpy(to, &pairs[i + 1], (kept_to - (i + 1)) * sizeof *pairs);
            kept_to = i;
            at = list_found_after(world, at, pair_key(pair), &to);
            const bool found = at > 0 && pair_key(cache->found[at - 1]) == pair_key(pair);
            at -= found ? 1u : 0u;
            next = at > 0 ? pair_key(cache->found[at - 1]) : 0;
            if (keep_pair(world, 0, found, &old)) {
                *--to = old;
            }
        }
    }
    to -= kept_to;
    memcpy(to, pairs, kept_to * sizeof *pairs);
    at = list_found_after(world, at, 0, &to);
    CAIRN_ASSERT(at == 0);
    return to;
}

// A merge in two parts, which meet at `middle` of the new list.
typedef struct shared_merge {
    const cairn_world *world;
    merge_part parts[2];
    cairn_cached_pair *middle;
    cairn_cached_pair **begin;
    cairn_cached_pair **end;
} shared_merge;

static void merge_part_of(const void *context, uint32_t begin, uint32_t end) {
    const shared_merge *shared = context;
    if (begin == 0) {
        *shared->begin = merge_backward(shared->world, &shared->parts[0], shared->middle);
    }
    if (end == 2) {
        *shared->end = merge(shared->world, &shared->parts[1], shared->middle);
    }
}

// The first found pair that is not before the pair.
static uint32_t found_from(const cairn_pair_cache *cache, uint32_t found_count, cairn_pair pair) {
    uint32_t lower = 0;
    uint32_t upper = found_count;
    while (lower < upper) {
        const uint32_t middle = lower + (upper - lower) / 2;
        const bool before = pair_key(cache->found[middle]) < pair_key(pair);
        lower = before ? middle + 1 : lower;
        upper = before ? upper : middle;
    }
    return lower;
}

void cairn_pair_list_merge(cairn_world *world, uint32_t found_count) {
    cairn_pair_cache *cache = world->pair_cache;
    const uint32_t count = cache->pair_count;
    // The caller guarantees this. The two parts meet where they would if no pair were dropped and
    // each found pair were new.
    CAIRN_ASSERT((size_t)count + found_count <= cairn_cached_pairs_max(&world->def));
    cairn_cached_pair *begin = cache->spare;
    cairn_cached_pair *end;
    if (cairn_task_scheduler_workers(world->scheduler) < 2 || count < PAIRS_SHARED_MIN ||
        cache->removed_count != 0) {
        end = merge(world, &(merge_part){.end = count, .found_end = found_count}, begin);
    } else {
        const uint32_t half = count / 2;
        const uint32_t found = found_from(cache, found_count, cache->pairs[half].pair);
        const shared_merge shared = {.world = world,
            .parts = {{.end = half, .found_end = found},
                {.begin = half, .end = count, .found_begin = found, .found_end = found_count}},
            .middle = cache->spare + half + found,
            .begin = &begin,
            .end = &end};
        cairn_task_scheduler_split(world->scheduler, merge_part_of, &shared, 0, 2, 1);
    }
    CAIRN_ASSERT(end - cache->spare <=
                 (ptrdiff_t)cache->pair_capacity + (ptrdiff_t)world->def.contact_capacity);
    replace_list(cache, (uint32_t)(begin - cache->spare), (uint32_t)(end - begin));
}

// The flags of a pair that has these contacts now. `entry`: as it was listed before.
static uint32_t tallied_flags(const cairn_world *world, const cairn_contact *contact,
    uint32_t parts, bool listed, uint32_t before) {
    const uint32_t *ids = world->state.shape_ids;
    const uint32_t a = cairn_id_index(contact->shape_a);
    const uint32_t b = cairn_id_index(contact->shape_b);
    const bool exist = cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, a) &&
                       cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, b) &&
                       cairn_slot_id(ids, a) == contact->shape_a &&
                       cairn_slot_id(ids, b) == contact->shape_b;
    const bool was_in_contact = (before & CAIRN_PAIR_CONTACTS) != 0 &&
                                (before & (CAIRN_PAIR_CONTACT_ENDS | CAIRN_PAIR_INVALID)) == 0;
    if (was_in_contact && exist) { // so filters and joints let it be
        return parts;
    }
    return contact_flags(world, contact, parts, listed && (before & CAIRN_PAIR_INVALID) == 0);
}

bool cairn_pair_list_tally(cairn_world *world) {
    cairn_pair_cache *cache = world->pair_cache;
    const size_t most = cairn_cached_pairs_max(&world->def);
    const cairn_contact *contact = world->state.contacts;
    const cairn_contact *end = contact + world->state.settings->contact_count;
    uint32_t at = 0;
    size_t count = 0;
    while (at < cache->pair_count || contact < end) {
        const uint64_t key = at < cache->pair_count ? pair_key(cache->pairs[at].pair) : UINT64_MAX;
        const cairn_pair next = contact < end ? pair_of(contact) : NO_PAIR;
        const bool listed = key <= pair_key(next);
        cairn_cached_pair entry = {.pair = next};
        if (count == most) {
            return false;
        }
        if (listed) {
            entry = cache->pairs[at++];
        }
        if (pair_key(next) <= key) {
            const uint32_t parts = parts_of(contact, end);
            entry.flags = tallied_flags(world, contact, parts, listed, entry.flags);
            contact += parts;
        } else {
            entry.flags &= CAIRN_PAIR_INVALID;
        }
        cache->spare[count++] = entry;
    }
    replace_list(cache, 0, (uint32_t)count);
    return true;
}

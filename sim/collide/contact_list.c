// SPDX-License-Identifier: MIT
#include "sim/collide/contact_list.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/cached_pairs.h"
#include "sim/collide/contact_events.h"
#include "sim/collide/manifold_pool.h"
#include "sim/state/hash_cache.h"

void cairn_contact_edit_buffer_allocate(
    cairn_contact_edit_buffer *edits, cairn_arena *from, const cairn_world_def *def) {
    const size_t contacts = def->contact_capacity;
    edits->new_contacts = cairn_arena_take(from, contacts, sizeof *edits->new_contacts);
    edits->spans = cairn_arena_take(from, 2 * contacts + 1, sizeof *edits->spans);
    const size_t pairs = cairn_cached_pairs_max(def);
    const size_t blocks = pairs / CAIRN_PAIR_BLOCK + 1;
    const size_t places = (pairs + CAIRN_FOUND_PLACES - 1) / CAIRN_FOUND_PLACES;
    edits->found_capacity = places < CAIRN_FOUND_MAX / CAIRN_FOUND_PLACES
                                ? CAIRN_FOUND_PLACES * (uint32_t)places
                                : CAIRN_FOUND_MAX;
    edits->blocks = cairn_arena_take(from, blocks, sizeof *edits->blocks);
    edits->work = cairn_arena_take(from, blocks * CAIRN_PAIR_BLOCK, sizeof *edits->work);
    edits->found = cairn_arena_take(from, edits->found_capacity, sizeof *edits->found);
}

cairn_contact_edit cairn_contact_edit_begin(cairn_world *world) {
    CAIRN_ASSERT(world->state.settings->contact_count <= world->def.contact_capacity);
    world->contact_edit_buffer->spans[0] = (cairn_contact_span){.begin = 0};
    return (cairn_contact_edit){.count = world->state.settings->contact_count, .spans = 1};
}

// Ends the open span before contact `end` and opens one at contact `begin`, whose shift is `change`
// more than that of the ended one.
static void split_span(
    cairn_world *world, cairn_contact_edit *edit, uint32_t end, uint32_t begin, int32_t change) {
    cairn_contact_span *open = &world->contact_edit_buffer->spans[edit->spans - 1];
    CAIRN_ASSERT(open->begin <= end && edit->spans <= 2 * world->def.contact_capacity);
    open->end = end;
    open[1] = (cairn_contact_span){.begin = begin, .shift = open->shift + change};
    edit->spans += 1;
}

void cairn_contact_edit_remove_next(cairn_world *world, cairn_contact_edit *edit) {
    cairn_manifold_pool *pool = world->manifold_pool;
    CAIRN_ASSERT(edit->next < world->state.settings->contact_count);
    if (world->state.contacts[edit->next].part == 0) {
        cairn_contact_events_add_end(world, &world->state.contacts[edit->next]);
    }
    cairn_manifold_pool_release(pool, pool->refs[edit->next].manifold);
    split_span(world, edit, edit->next, edit->next + 1, -1);
    edit->next += 1;
    edit->count -= 1;
}

cairn_new_contact *cairn_contact_edit_insert(cairn_world *world, cairn_contact_edit *edit) {
    if (edit->count == world->def.contact_capacity) {
        return NULL;
    }
    const cairn_contact_span *open = &world->contact_edit_buffer->spans[edit->spans - 1];
    cairn_new_contact *inserted = &world->contact_edit_buffer->new_contacts[edit->inserted];
    CAIRN_ASSERT(edit->inserted < world->def.contact_capacity);
    inserted->index = (uint32_t)((int32_t)edit->next + open->shift);
    inserted->found = CAIRN_FOUND_MAX;
    split_span(world, edit, edit->next, edit->next, 1);
    edit->count += 1;
    edit->inserted += 1;
    return inserted;
}

static void move_span(cairn_world *world, const cairn_contact_span *span) {
    cairn_contact *contacts = &world->state.contacts[span->begin];
    cairn_contact_ref *refs = &world->manifold_pool->refs[span->begin];
    CAIRN_ASSERT((int64_t)span->begin + span->shift >= 0);
    const size_t count = span->end - span->begin;
    memmove(contacts + span->shift, contacts, count * sizeof *contacts);
    memmove(refs + span->shift, refs, count * sizeof *refs);
}

// Moves spans towards the front first, from the lowest up, then those towards the back, from the
// highest down. So none is overwritten before it has moved, because contacts keep their order.
static void move_spans(cairn_world *world, uint32_t count) {
    const cairn_contact_span *spans = world->contact_edit_buffer->spans;
    for (uint32_t i = 0; i < count; ++i) {
        if (spans[i].shift < 0 && spans[i].begin < spans[i].end) {
            move_span(world, &spans[i]);
        }
    }
    for (uint32_t i = count; i > 0; --i) {
        if (spans[i - 1].shift > 0 && spans[i - 1].begin < spans[i - 1].end) {
            move_span(world, &spans[i - 1]);
        }
    }
}

void cairn_contact_edit_finish(cairn_world *world, cairn_contact_edit *edit) {
    CAIRN_ASSERT(edit->next == world->state.settings->contact_count);
    if (edit->spans == 1) {
        return;
    }
    world->contact_edit_buffer->spans[edit->spans - 1].end = edit->next;
    move_spans(world, edit->spans);
    for (uint32_t i = 0; i < edit->inserted; ++i) {
        const cairn_new_contact *inserted = &world->contact_edit_buffer->new_contacts[i];
        CAIRN_ASSERT(inserted->index < edit->count);
        world->state.contacts[inserted->index] = inserted->contact;
        world->manifold_pool->refs[inserted->index] = inserted->ref;
        if (inserted->contact.part == 0) {
            cairn_contact_events_add_begin(world, &inserted->contact, &inserted->ref);
        }
    }
    CAIRN_ASSERT(edit->count <= world->def.contact_capacity);
    world->state.settings->contact_count = edit->count;
    const uint32_t same = world->contact_edit_buffer->spans[0].end / CAIRN_PAIRS_PER_BLOCK;
    uint32_t *known = &world->manifold_pool->blocks_known;
    *known = *known < same ? *known : same;
    cairn_hash_cache_mark_from(
        world, CAIRN_ARRAY_CONTACTS, world->contact_edit_buffer->spans[0].end);
}

// SPDX-License-Identifier: MIT
#include "sim/collide/contact_list.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/state/hash_cache.h"

void cairn_contact_edits_carve(
    cairn_contact_edits *edits, cairn_carver *from, const cairn_world_def *def) {
    const size_t contacts = def->contact_capacity;
    edits->born = cairn_carve(from, contacts, sizeof *edits->born);
    edits->stretches = cairn_carve(from, 2 * contacts + 1, sizeof *edits->stretches);
}

cairn_passage cairn_passage_begin(cairn_world *world) {
    world->event_count = 0;
    world->contact_edits->stretches[0] = (cairn_stretch){.begin = 0};
    return (cairn_passage){.count = world->state.settings->contact_count, .stretches = 1};
}

static void add_event(cairn_world *world, uint32_t kind, const cairn_contact *contact) {
    CAIRN_ASSERT(world->event_count < 2 * world->def.contact_capacity);
    world->events[world->event_count++] = (cairn_contact_event){.kind = kind,
        .shape_a = contact->shape_a,
        .shape_b = contact->shape_b,
        .body_a = contact->body_a,
        .body_b = contact->body_b};
}

// The open stretch ends before `end`; the next begins at `begin` and lies `shift` farther up.
static void break_stretch(
    cairn_world *world, cairn_passage *at, uint32_t end, uint32_t begin, int32_t shift) {
    cairn_stretch *open = &world->contact_edits->stretches[at->stretches - 1];
    open->end = end;
    open[1] = (cairn_stretch){.begin = begin, .shift = open->shift + shift};
    at->stretches += 1;
}

void cairn_passage_end_next(cairn_world *world, cairn_passage *at) {
    cairn_patches *patches = world->manifold_pool;
    add_event(world, CAIRN_CONTACT_END, &world->state.contacts[at->old]);
    cairn_patch_release(patches, patches->links[at->old].patch);
    break_stretch(world, at, at->old, at->old + 1, -1);
    at->old += 1;
    at->count -= 1;
}

cairn_born *cairn_passage_begin_here(cairn_world *world, cairn_passage *at) {
    if (at->count == world->def.contact_capacity) {
        return NULL;
    }
    cairn_stretch *open = &world->contact_edits->stretches[at->stretches - 1];
    cairn_born *born = &world->contact_edits->born[at->begun];
    born->index = (uint32_t)((int32_t)at->old + open->shift);
    break_stretch(world, at, at->old, at->old, 1);
    at->count += 1;
    at->begun += 1;
    return born;
}

static void move_stretch(cairn_world *world, const cairn_stretch *stretch) {
    cairn_contact *contacts = &world->state.contacts[stretch->begin];
    cairn_patch_link *links = &world->manifold_pool->links[stretch->begin];
    const size_t count = stretch->end - stretch->begin;
    memmove(contacts + stretch->shift, contacts, count * sizeof *contacts);
    memmove(links + stretch->shift, links, count * sizeof *links);
}

// What moves down goes first, from the lowest, then what moves up, from the highest: so nothing is
// written over before it has moved, for contacts keep their order.
static void move_stretches(cairn_world *world, uint32_t count) {
    const cairn_stretch *stretches = world->contact_edits->stretches;
    for (uint32_t i = 0; i < count; ++i) {
        if (stretches[i].shift < 0 && stretches[i].begin < stretches[i].end) {
            move_stretch(world, &stretches[i]);
        }
    }
    for (uint32_t i = count; i > 0; --i) {
        if (stretches[i - 1].shift > 0 && stretches[i - 1].begin < stretches[i - 1].end) {
            move_stretch(world, &stretches[i - 1]);
        }
    }
}

void cairn_passage_finish(cairn_world *world, cairn_passage *at) {
    CAIRN_ASSERT(at->old == world->state.settings->contact_count);
    if (at->stretches == 1) {
        return;
    }
    world->contact_edits->stretches[at->stretches - 1].end = at->old;
    move_stretches(world, at->stretches);
    for (uint32_t i = 0; i < at->begun; ++i) {
        const cairn_born *born = &world->contact_edits->born[i];
        world->state.contacts[born->index] = born->contact;
        world->manifold_pool->links[born->index] = born->link;
        add_event(world, CAIRN_CONTACT_BEGIN, &born->contact);
    }
    world->state.settings->contact_count = at->count;
    cairn_kept_touch_from(world, CAIRN_ARRAY_CONTACTS, world->contact_edits->stretches[0].end);
}

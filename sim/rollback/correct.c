// SPDX-License-Identifier: MIT
// Writes the new states of the scope over the old ones, block by block of the hash cache. Blocks
// that do not change stay shared among the ticks of the history.

#include <string.h>

#include "base/assert.h"
#include "sim/rollback/parts.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/world/rewrite.h"

// A state that is corrected.
typedef struct target {
    cairn_rollback *r;
    cairn_tick_state state;
    cairn_rewrite rewrite; // of the world
    cairn_settings before;
    cairn_settings after;
    uint32_t index; // of its result
} target;

// ---- Blocks

typedef struct block_run {
    uint32_t first; // element
    uint32_t count; // that exist
} block_run;

static block_run run_of(uint32_t block, uint32_t shift, uint32_t count) {
    const uint32_t first = block << shift;
    const uint32_t left = first < count ? count - first : 0;
    return (block_run){.first = first, .count = left < 1u << shift ? left : 1u << shift};
}

// As it was before; the world's counts have changed already.
static void read_before(
    const target *t, cairn_array array, uint32_t first, uint32_t count, void *out) {
    if (t->state.history != NULL) {
        cairn_history_read(t->state.history, t->state.order, array, first, count, out);
        return;
    }
    const size_t size = cairn_array_element_size(array);
    memcpy(out, (const unsigned char *)cairn_state_array(&t->r->world->state, array) + first * size,
        count * size);
}

static void mark_awake(cairn_world *world, cairn_array array, block_run run) {
    if (array == CAIRN_ARRAY_MOTIONS || array == CAIRN_ARRAY_SLEEP || array == CAIRN_ARRAY_BODIES) {
        for (uint32_t i = 0; i < run.count; ++i) {
            cairn_awake_mark(world, run.first + i);
        }
    }
}

static void write_block(target *t, cairn_array array, uint32_t block, const void *bytes,
    block_run now, block_run before) {
    cairn_rollback *r = t->r;
    const size_t size = cairn_array_element_size(array);
    if (t->state.history != NULL) {
        cairn_history_write_block(
            r->history, t->state.order, array, block, bytes, now.count * size, before.count * size);
    } else if (now.count != 0) {
        cairn_rewrite_before(&t->rewrite, array, block);
        memcpy((unsigned char *)cairn_state_array(&r->world->state, array) + now.first * size,
            bytes, now.count * size);
        cairn_rewrite_after(&t->rewrite, array, block);
        mark_awake(r->world, array, now);
    }
    // Of the newest tick as well: what is not marked is as that tick has it.
    cairn_hash_cache_mark(r->world, array, now.first);
}

// Elements in slots.
static void write_slots(
    target *t, cairn_array array, const uint32_t *slots, const void *values, uint32_t count) {
    uint32_t words[CAIRN_ELEMENT_WORDS_MAX * 4];
    const uint32_t shift = cairn_hash_cache_block_shift(array);
    const size_t size = cairn_array_element_size(array);
    const unsigned char *from = values;
    CAIRN_ASSERT(size << shift <= sizeof words);
    for (uint32_t i = 0; i < count;) {
        const uint32_t block = slots[i] >> shift;
        const block_run run = run_of(block, shift, cairn_array_count(&t->before, array));
        bool differs = false;
        read_before(t, array, run.first, run.count, words);
        for (; i < count && slots[i] >> shift == block; ++i) {
            unsigned char *to = (unsigned char *)words + (slots[i] - run.first) * size;
            differs = differs || memcmp(to, from + i * size, size) != 0;
            memcpy(to, from + i * size, size);
        }
        if (differs) {
            write_block(t, array, block, words, run, run);
        }
    }
}

// A list from a block on.
static void write_list(target *t, cairn_array array, uint32_t first_block, const void *values) {
    uint32_t words[CAIRN_ELEMENT_WORDS_MAX * 4];
    const uint32_t shift = cairn_hash_cache_block_shift(array);
    const size_t size = cairn_array_element_size(array);
    const uint32_t before = cairn_array_count(&t->before, array);
    const uint32_t now = cairn_array_count(&t->after, array);
    const uint32_t end = hash_cache_blocks(before > now ? before : now, shift);
    // From the place on where contacts begin or end, nearly all blocks differ.
    const bool shifted = before != now && array == CAIRN_ARRAY_CONTACTS;
    for (uint32_t block = first_block; block < end; ++block) {
        const block_run old = run_of(block, shift, before);
        const block_run run = run_of(block, shift, now);
        const unsigned char *from =
            (const unsigned char *)values + (run.first - (first_block << shift)) * size;
        if (!shifted) {
            read_before(t, array, old.first, old.count, words);
        }
        if (shifted || old.count != run.count || memcmp(words, from, run.count * size) != 0) {
            write_block(t, array, block, from, run, old);
        }
    }
}

// ---- Contacts

static uint64_t contact_key(const cairn_contact *contact) {
    return (uint64_t)cairn_id_index(contact->shape_a) << 32 | cairn_id_index(contact->shape_b);
}

static uint32_t merged_contacts(const target *t) {
    const cairn_scope_result *result = &t->r->results[t->index];
    CAIRN_ASSERT(result->contacts_before_count <= t->before.contact_count);
    return t->before.contact_count - result->contacts_before_count + result->contact_count;
}

// How many contacts of the scope, from the first on, are between the same shapes as before.
static uint32_t same_contacts(const target *t) {
    const cairn_scope_result *result = &t->r->results[t->index];
    uint32_t same = 0;
    while (same < result->contact_count && same < result->contacts_before_count) {
        cairn_contact before;
        read_before(t, CAIRN_ARRAY_CONTACTS, result->contacts_before[same], 1, &before);
        if (contact_key(&before) != contact_key(&result->contacts[same])) {
            break;
        }
        same += 1;
    }
    return same;
}

// Where in the old list a contact of the scope goes, from `begin` on.
static uint32_t place_of(const target *t, uint32_t begin, const cairn_contact *own) {
    uint32_t end = t->before.contact_count;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        cairn_contact contact;
        read_before(t, CAIRN_ARRAY_CONTACTS, middle, 1, &contact);
        if (contact_key(&contact) < contact_key(own)) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

// The first place at which the new list has another contact.
static uint32_t first_place(const target *t, uint32_t same) {
    const cairn_scope_result *result = &t->r->results[t->index];
    const uint32_t own =
        same < result->contacts_before_count ? result->contacts_before[same] : UINT32_MAX;
    const uint32_t begin =
        same < result->contact_count ? place_of(t, 0, &result->contacts[same]) : UINT32_MAX;
    return own < begin ? own : begin;
}

// The others of the old list, and those of the scope, from that place on: run by run.
static void merge_contacts(target *t, uint32_t first, uint32_t same) {
    const cairn_scope_result *result = &t->r->results[t->index];
    const uint32_t count = t->before.contact_count;
    cairn_contact *to = t->r->list;
    uint32_t own = same; // of the old list
    uint32_t next = same;
    uint32_t place =
        next < result->contact_count ? place_of(t, first, &result->contacts[next]) : count;
    for (uint32_t at = first; at < count || next < result->contact_count;) {
        const uint32_t gone =
            own < result->contacts_before_count ? result->contacts_before[own] : count;
        const uint32_t end = gone < place ? gone : place;
        CAIRN_ASSERT(at <= end);
        read_before(t, CAIRN_ARRAY_CONTACTS, at, end - at, to);
        to += end - at;
        at = end;
        if (place == at && next < result->contact_count) {
            *to++ = result->contacts[next++];
            place = next < result->contact_count ? place_of(t, at, &result->contacts[next]) : count;
        } else if (gone == at && own < result->contacts_before_count) {
            own += 1;
            at += 1;
            place = place < at ? at : place;
        }
    }
}

static void write_contacts(target *t) {
    const cairn_scope_result *result = &t->r->results[t->index];
    const uint32_t same = same_contacts(t);
    write_slots(t, CAIRN_ARRAY_CONTACTS, result->contacts_before, result->contacts, same);
    const uint32_t place = first_place(t, same);
    if (place != UINT32_MAX) {
        const uint32_t shift = cairn_hash_cache_block_shift(CAIRN_ARRAY_CONTACTS);
        const uint32_t block = place >> shift;
        merge_contacts(t, block << shift, same);
        write_list(t, CAIRN_ARRAY_CONTACTS, block, t->r->list);
    }
}

// ---- Plan

// Blocks of the contact list that will differ, at most: those of contacts that stay, and all from
// the first to the last place at which a contact begins or ends.
static uint64_t changed_contact_blocks(const target *t) {
    const cairn_scope_result *result = &t->r->results[t->index];
    const uint32_t same = same_contacts(t);
    const uint32_t first = first_place(t, same);
    if (first == UINT32_MAX) {
        return same;
    }
    const uint32_t merged = merged_contacts(t);
    const uint32_t count = result->contact_count;
    uint32_t end = merged > t->before.contact_count ? merged : t->before.contact_count;
    if (merged == t->before.contact_count) { // behind the last of the scope the list is as before
        const uint32_t last = result->contacts_before[count - 1];
        const uint32_t place = place_of(t, first, &result->contacts[count - 1]) + count;
        end = last > place ? last + 1 : place + 1;
    }
    return same + (uint64_t)(end - first) / 4 + 2;
}

static bool plan_contacts(cairn_rollback *r, uint32_t index) {
    cairn_scope_result *result = &r->results[index];
    const uint32_t found = cairn_scope_contacts(
        r, index, true, result->slots, result->count, r->places, r->world->def.contact_capacity);
    if (found == UINT32_MAX) {
        return false;
    }
    result->contacts_before_count = found;
    result->contacts_before = cairn_store_take(r, found, sizeof *r->places);
    if (result->contacts_before == NULL) {
        return false;
    }
    memcpy(result->contacts_before, r->places, found * sizeof *r->places);
    return true;
}

// Cells that correcting the tick takes at most.
static uint64_t cells_of(const target *t) {
    const cairn_history *history = t->r->history;
    const cairn_scope_result *result = &t->r->results[t->index];
    static const cairn_array of_bodies[] = {
        CAIRN_ARRAY_MOTIONS, CAIRN_ARRAY_REFERENCE_POSES, CAIRN_ARRAY_BODIES, CAIRN_ARRAY_SLEEP};
    uint64_t cells = cairn_history_write_cells(history, CAIRN_ARRAY_SETTINGS);
    for (size_t i = 0; i < sizeof of_bodies / sizeof of_bodies[0]; ++i) {
        cells += (uint64_t)result->count * cairn_history_write_cells(history, of_bodies[i]);
    }
    cells += (uint64_t)result->joint_count * cairn_history_write_cells(history, CAIRN_ARRAY_JOINTS);
    cells += changed_contact_blocks(t) * cairn_history_write_cells(history, CAIRN_ARRAY_CONTACTS);
    const uint64_t events = (uint64_t)t->before.contact_event_count + result->contact_event_count;
    cells += (events / 4 + 2) * cairn_history_write_cells(history, CAIRN_ARRAY_CONTACT_EVENTS);
    const uint64_t body_events = (uint64_t)t->before.body_event_count + result->body_event_count;
    cells += (body_events / 4 + 2) * cairn_history_write_cells(history, CAIRN_ARRAY_BODY_EVENTS);
    return cells;
}

bool cairn_rollback_plan(cairn_rollback *r) {
    const cairn_world_def *def = &r->world->def;
    uint64_t cells = 0;
    uint32_t last = cairn_tick_state_settings(&r->sources[r->first]).contact_count;
    for (uint32_t i = r->first + 1; i <= r->count; ++i) {
        if (!plan_contacts(r, i)) {
            return false;
        }
        const target t = {.r = r,
            .state = r->sources[i],
            .before = cairn_tick_state_settings(&r->sources[i]),
            .index = i};
        // The contact list of a step is never longer than those before and after it together, so
        // no contact was dropped.
        const uint32_t merged = merged_contacts(&t);
        if ((uint64_t)last + merged > def->contact_capacity ||
            (uint64_t)t.before.contact_event_count + r->results[i].contact_event_count >
                def->event_capacity) {
            return false;
        }
        last = merged;
        cells += cells_of(&t) * (i == r->count && r->head_order != UINT32_MAX ? 2 : 1);
    }
    return cells <= cairn_history_cells_free(r->history);
}

// ---- Events

// Ends, begins, hits.
static uint64_t rank_of(const cairn_contact_event *event) {
    const uint32_t kind = event->kind;
    return kind == CAIRN_CONTACT_END || kind == CAIRN_SENSOR_END ? 0
           : kind == CAIRN_CONTACT_HIT                           ? 2
                                                                 : 1;
}

static bool contact_event_before(const void *left, const void *right) {
    const cairn_contact_event *a = left;
    const cairn_contact_event *b = right;
    const uint32_t a0 = cairn_id_index(a->shape_a);
    const uint32_t a1 = cairn_id_index(a->shape_b);
    const uint32_t b0 = cairn_id_index(b->shape_a);
    const uint32_t b1 = cairn_id_index(b->shape_b);
    const uint64_t key_a = (uint64_t)(a0 < a1 ? a0 : a1) << 32 | (a0 < a1 ? a1 : a0);
    const uint64_t key_b = (uint64_t)(b0 < b1 ? b0 : b1) << 32 | (b0 < b1 ? b1 : b0);
    return rank_of(a) != rank_of(b) ? rank_of(a) < rank_of(b) : key_a < key_b;
}

static bool body_event_before(const void *left, const void *right) {
    const cairn_body_event *a = left;
    const cairn_body_event *b = right;
    return cairn_id_index(a->body) < cairn_id_index(b->body);
}

// Whether the event is one of the old past of a body of the scope.
static bool is_replaced(const target *t, cairn_array array, const void *event) {
    const cairn_contact_event *contact = event;
    const cairn_body_event *body = event;
    const cairn_body_id a = array == CAIRN_ARRAY_BODY_EVENTS ? body->body : contact->body_a;
    const cairn_body_id b = array == CAIRN_ARRAY_BODY_EVENTS ? body->body : contact->body_b;
    return cairn_scope_had(t->r, cairn_id_index(a), t->index) ||
           cairn_scope_had(t->r, cairn_id_index(b), t->index);
}

// Merges the old events of bodies outside the scope with the scope's own, in order, into
// t->r->events[1]. Returns how many there are.
static uint32_t merge_events(target *t, cairn_array array, const void *own, uint32_t own_count) {
    bool (*const is_before)(const void *, const void *) =
        array == CAIRN_ARRAY_BODY_EVENTS ? body_event_before : contact_event_before;
    const size_t size = cairn_array_element_size(array);
    const uint32_t before_count = cairn_array_count(&t->before, array);
    const unsigned char *before = t->r->events[0];
    const unsigned char *next = own;
    const unsigned char *const end = next + own_count * size;
    unsigned char *to = t->r->events[1];
    read_before(t, array, 0, before_count, t->r->events[0]);
    for (uint32_t i = 0; i < before_count; ++i, before += size) {
        if (is_replaced(t, array, before)) {
            continue;
        }
        for (; next < end && is_before(next, before); next += size, to += size) {
            memcpy(to, next, size);
        }
        memcpy(to, before, size);
        to += size;
    }
    memcpy(to, next, (size_t)(end - next));
    return (uint32_t)((size_t)(to - t->r->events[1] + (end - next)) / size);
}

// ---- All of a state

static void correct_state(target *t) {
    cairn_rollback *r = t->r;
    const cairn_scope_result *result = &r->results[t->index];
    const bool is_world = t->state.history == NULL;
    t->before = cairn_tick_state_settings(&t->state);
    t->after = t->before;
    t->after.contact_count = merged_contacts(t);
    t->after.contact_event_count = merge_events(
        t, CAIRN_ARRAY_CONTACT_EVENTS, result->contact_events, result->contact_event_count);
    if (is_world) { // sets the counts of contacts; those of events follow
        t->rewrite = cairn_rewrite_begin(r->world, &t->after, true);
    }
    write_list(t, CAIRN_ARRAY_CONTACT_EVENTS, 0, r->events[1]);
    t->after.body_event_count =
        merge_events(t, CAIRN_ARRAY_BODY_EVENTS, result->body_events, result->body_event_count);
    write_list(t, CAIRN_ARRAY_BODY_EVENTS, 0, r->events[1]);
    if (is_world) {
        r->world->state.settings->body_event_count = t->after.body_event_count;
    }
    write_slots(t, CAIRN_ARRAY_MOTIONS, result->slots, result->motions, result->count);
    write_slots(
        t, CAIRN_ARRAY_REFERENCE_POSES, result->slots, result->reference_poses, result->count);
    write_slots(t, CAIRN_ARRAY_BODIES, result->slots, result->bodies, result->count);
    write_slots(t, CAIRN_ARRAY_SLEEP, result->slots, result->sleep, result->count);
    write_slots(t, CAIRN_ARRAY_JOINTS, result->joint_slots, result->joints, result->joint_count);
    write_contacts(t);
    if (is_world) {
        cairn_rewrite_end(&t->rewrite);
    } else if (memcmp(&t->before, &t->after, sizeof t->before) != 0) {
        const block_run one = {.first = 0, .count = 1};
        write_block(t, CAIRN_ARRAY_SETTINGS, 0, &t->after, one, one);
    }
}

static void correct_head(cairn_rollback *r) {
    if (r->head_order != UINT32_MAX) { // before the world: lists of places are of the old state
        target held = {
            .r = r, .state = {.history = r->history, .order = r->head_order}, .index = r->count};
        correct_state(&held);
    }
    target t = {.r = r, .state = r->sources[r->count], .index = r->count};
    correct_state(&t);
}

void cairn_rollback_correct(cairn_rollback *r, cairn_hash128 *roots) {
    for (uint32_t i = 1; i < r->count; ++i) {
        if (i > r->first) {
            target t = {.r = r, .state = r->sources[i], .index = i};
            correct_state(&t);
        }
        roots[i - 1] = cairn_history_root(r->history, r->sources[i].order);
    }
    if (r->first < r->count) {
        correct_head(r);
    }
    roots[r->count - 1] = cairn_world_hash_read(r->world).full;
}

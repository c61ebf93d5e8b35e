// SPDX-License-Identifier: MIT
// The part: a world of the same def in which only the scope and the bodies that do not move exist,
// in the slots that they have in the whole. The order of contacts, joints and events is by slot, so
// it is that of the whole, too.

#include <string.h>

#include "base/assert.h"
#include "sim/collide/joint_filter.h"
#include "sim/rollback/parts.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/world/world.h"

// ---- States of ticks

void cairn_tick_state_read(
    const cairn_tick_state *from, cairn_array array, uint32_t first, uint32_t count, void *out) {
    if (from->history != NULL) {
        cairn_history_read(from->history, from->order, array, first, count, out);
        return;
    }
    const size_t size = cairn_array_element_size(array);
    const unsigned char *elements = cairn_state_array(&from->world->state, array);
    CAIRN_ASSERT(first + count <= cairn_array_count(from->world->state.settings, array));
    memcpy(out, elements + first * size, count * size);
}

cairn_settings cairn_tick_state_settings(const cairn_tick_state *from) {
    cairn_settings settings;
    cairn_tick_state_read(from, CAIRN_ARRAY_SETTINGS, 0, 1, &settings);
    return settings;
}

const void *cairn_tick_state_block(
    const cairn_tick_state *from, cairn_array array, uint32_t block) {
    if (from->history != NULL) {
        return cairn_history_block(from->history, from->order, array, block);
    }
    const size_t size = cairn_array_element_size(array) << cairn_hash_cache_block_shift(array);
    return (const unsigned char *)cairn_state_array(&from->world->state, array) + block * size;
}

// ---- Contacts of some bodies in a list

typedef struct contact_search {
    const cairn_rollback *r;
    const cairn_tick_state *from;
    uint32_t index; // of the result that has their bodies, or does not
    bool had;
    uint32_t count; // of the list
    uint32_t *out;
    uint32_t capacity;
    uint32_t found; // UINT32_MAX: some contact is with a body outside
} contact_search;

// The shapes and bodies of a contact.
typedef struct contact_ids {
    uint32_t words[4];
} contact_ids;

_Static_assert(
    offsetof(cairn_contact, body_b) == 3 * sizeof(uint32_t), "a contact begins with ids");

static contact_ids ids_of(const cairn_tick_state *from, uint32_t index) {
    contact_ids ids;
    if (from->history == NULL) {
        memcpy(&ids, &from->world->state.contacts[index], sizeof ids);
    } else {
        cairn_history_read_head(
            from->history, from->order, CAIRN_ARRAY_CONTACTS, index, sizeof ids, &ids);
    }
    return ids;
}

static uint64_t key_of(contact_ids ids) {
    return (uint64_t)cairn_id_index(ids.words[0]) << 32 | cairn_id_index(ids.words[1]);
}

// The first contact from `begin` on whose shapes are not below these.
static uint32_t lower_bound(const contact_search *s, uint32_t begin, uint64_t key) {
    uint32_t end = s->count;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (key_of(ids_of(s->from, middle)) < key) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

static bool may_touch(const contact_search *s, cairn_body_id body) {
    const uint32_t slot = cairn_id_index(body);
    return s->r->world->state.bodies[slot].kind != CAIRN_BODY_DYNAMIC ||
           (cairn_scope_has(s->r, slot) && cairn_scope_had(s->r, slot, s->index) == s->had);
}

static void add_place(contact_search *s, uint32_t index, contact_ids ids) {
    if (!may_touch(s, ids.words[2]) || !may_touch(s, ids.words[3]) || s->found >= s->capacity) {
        s->found = UINT32_MAX;
        return;
    }
    s->out[s->found++] = index;
}

// Contacts whose first shape is this one: all, or those with one of the second shapes, in order.
static uint32_t add_places_of(contact_search *s, uint32_t begin, uint32_t shape,
    const uint32_t *seconds, uint32_t second_count) {
    uint32_t at = lower_bound(s, begin, (uint64_t)shape << 32);
    uint32_t next = 0;
    while (at < s->count && s->found != UINT32_MAX) {
        const contact_ids ids = ids_of(s->from, at);
        if (cairn_id_index(ids.words[0]) != shape) {
            break;
        }
        const uint32_t second = cairn_id_index(ids.words[1]);
        while (seconds != NULL && next < second_count && seconds[next] < second) {
            next += 1;
        }
        if (seconds == NULL || (next < second_count && seconds[next] == second)) {
            add_place(s, at, ids);
            at += 1;
        } else if (next == second_count) {
            break;
        } else {
            at = lower_bound(s, at + 1, (uint64_t)shape << 32 | seconds[next]);
        }
    }
    return at;
}

// The shapes of bodies, in order.
static uint32_t list_shapes(
    const cairn_rollback *r, const uint32_t *slots, uint32_t count, uint32_t *shapes) {
    const cairn_world *world = r->world;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t next = world->shape_first[slots[i]]; next != 0;
             next = world->shape_next[next - 1]) {
            uint32_t at = found++;
            for (; at > 0 && shapes[at - 1] > next - 1; --at) {
                shapes[at] = shapes[at - 1];
            }
            shapes[at] = next - 1;
        }
    }
    return found;
}

uint32_t cairn_scope_contacts(const cairn_rollback *r, uint32_t index, bool had,
    const uint32_t *slots, uint32_t count, uint32_t *out, uint32_t capacity) {
    const cairn_tick_state *from = &r->sources[index];
    uint32_t *shapes = r->shapes;
    const uint32_t shape_count = list_shapes(r, slots, count, shapes);
    contact_search s = {.r = r,
        .from = from,
        .index = index,
        .had = had,
        .count = cairn_tick_state_settings(from).contact_count,
        .out = out,
        .capacity = capacity};
    uint32_t i = 0;
    uint32_t k = 0;
    uint32_t at = 0;
    while ((i < shape_count || k < r->still_shape_count) && s.found != UINT32_MAX) {
        const uint32_t own = i < shape_count ? shapes[i] : UINT32_MAX;
        const uint32_t still = k < r->still_shape_count ? r->still_shapes[k] : UINT32_MAX;
        if (own < still) {
            at = add_places_of(&s, at, own, NULL, 0);
            i += 1;
        } else {
            at = add_places_of(&s, at, still, shapes, shape_count);
            k += 1;
        }
    }
    return s.found;
}

// ---- The part

static void clear_body(cairn_world *part, uint32_t slot) {
    cairn_state *state = &part->state;
    state->body_ids[slot] = 0;
    memset(&state->motions[slot], 0, sizeof *state->motions);
    memset(&state->reference_poses[slot], 0, sizeof *state->reference_poses);
    memset(&state->bodies[slot], 0, sizeof *state->bodies);
    memset(&state->sleep[slot], 0, sizeof *state->sleep);
}

static void clear_part(cairn_rollback *r) {
    cairn_state *state = &r->part->state;
    for (uint32_t i = 0; i < r->placed_count; ++i) {
        clear_body(r->part, r->placed[i]);
    }
    for (uint32_t i = 0; i < r->placed_shape_count; ++i) {
        state->shape_ids[r->placed_shapes[i]] = 0;
        memset(&state->shapes[r->placed_shapes[i]], 0, sizeof *state->shapes);
    }
    for (uint32_t i = 0; i < r->placed_joint_count; ++i) {
        state->joint_ids[r->placed_joints[i]] = 0;
        memset(&state->joints[r->placed_joints[i]], 0, sizeof *state->joints);
    }
    r->placed_count = 0;
    r->placed_shape_count = 0;
    r->placed_joint_count = 0;
}

static uint32_t find_slot(const uint32_t *slots, uint32_t count, uint32_t slot) {
    uint32_t begin = 0;
    uint32_t end = count;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (slots[middle] < slot) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    CAIRN_ASSERT(begin < count && slots[begin] == slot);
    return begin;
}

static void place_shapes(cairn_rollback *r, uint32_t slot) {
    const cairn_world *world = r->world;
    cairn_state *to = &r->part->state;
    for (uint32_t next = world->shape_first[slot]; next != 0; next = world->shape_next[next - 1]) {
        to->shape_ids[next - 1] = world->state.shape_ids[next - 1];
        to->shapes[next - 1] = world->state.shapes[next - 1];
        r->placed_shapes[r->placed_shape_count++] = next - 1;
    }
}

static void place_body(cairn_rollback *r, uint32_t slot, uint32_t index) {
    cairn_state *to = &r->part->state;
    const cairn_tick_state *from = &r->sources[index];
    to->body_ids[slot] = r->world->state.body_ids[slot];
    r->placed[r->placed_count++] = slot;
    place_shapes(r, slot);
    if (cairn_scope_had(r, slot, index)) {
        const cairn_scope_result *result = &r->results[index];
        const uint32_t at = find_slot(result->slots, result->count, slot);
        to->motions[slot] = result->motions[at];
        to->reference_poses[slot] = result->reference_poses[at];
        to->bodies[slot] = result->bodies[at];
        to->sleep[slot] = result->sleep[at];
        return;
    }
    cairn_tick_state_read(from, CAIRN_ARRAY_MOTIONS, slot, 1, &to->motions[slot]);
    cairn_tick_state_read(from, CAIRN_ARRAY_REFERENCE_POSES, slot, 1, &to->reference_poses[slot]);
    cairn_tick_state_read(from, CAIRN_ARRAY_BODIES, slot, 1, &to->bodies[slot]);
    cairn_tick_state_read(from, CAIRN_ARRAY_SLEEP, slot, 1, &to->sleep[slot]);
}

static void place_joints(cairn_rollback *r, uint32_t index) {
    cairn_state *to = &r->part->state;
    for (uint32_t i = 0; i < r->joint_count; ++i) {
        const uint32_t slot = r->joints[i].joint;
        const uint32_t a = r->joints[i].body_a;
        // Joined bodies come into the scope together.
        const uint32_t member = cairn_scope_has(r, a) ? a : r->joints[i].body_b;
        if (!cairn_scope_has(r, member)) {
            continue;
        }
        to->joint_ids[slot] = r->world->state.joint_ids[slot];
        r->placed_joints[r->placed_joint_count++] = slot;
        if (cairn_scope_had(r, member, index)) {
            const cairn_scope_result *result = &r->results[index];
            to->joints[slot] =
                result->joints[find_slot(result->joint_slots, result->joint_count, slot)];
        } else {
            cairn_tick_state_read(
                &r->sources[index], CAIRN_ARRAY_JOINTS, slot, 1, &to->joints[slot]);
        }
    }
}

static uint64_t key_of_contact(const cairn_contact *contact) {
    return key_of((contact_ids){{contact->shape_a, contact->shape_b, 0, 0}});
}

// Contacts of the last result, and those that bodies new in the scope have had.
static bool place_contacts(cairn_rollback *r, uint32_t index) {
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < r->scope_count; ++i) {
        if (!cairn_scope_had(r, r->scope[i], index)) {
            r->sorted[fresh++] = r->scope[i];
        }
    }
    const uint32_t found = cairn_scope_contacts(
        r, index, false, r->sorted, fresh, r->places, r->world->def.contact_capacity);
    const cairn_scope_result *result = &r->results[index];
    const uint32_t had = index > r->first ? result->contact_count : 0;
    if (found == UINT32_MAX || found + had > r->world->def.contact_capacity) {
        return false;
    }
    cairn_contact *to = r->part->state.contacts;
    uint32_t i = 0;
    for (uint32_t k = 0; k < found; ++k) {
        cairn_contact contact;
        cairn_tick_state_read(&r->sources[index], CAIRN_ARRAY_CONTACTS, r->places[k], 1, &contact);
        while (i < had && key_of_contact(&result->contacts[i]) < key_of_contact(&contact)) {
            *to++ = result->contacts[i++];
        }
        *to++ = contact;
    }
    while (i < had) {
        *to++ = result->contacts[i++];
    }
    r->part->state.settings->contact_count = found + had;
    return true;
}

// Returns whether the hulls differed.
static bool place_hulls(cairn_rollback *r) {
    const cairn_state *from = &r->world->state;
    cairn_state *to = &r->part->state;
    const uint32_t count = from->settings->hull_slots;
    const size_t ids = count * sizeof *from->hull_ids;
    const size_t size = count * sizeof *from->hulls;
    if (to->settings->hull_slots == count && memcmp(to->hull_ids, from->hull_ids, ids) == 0 &&
        memcmp(to->hulls, from->hulls, size) == 0) {
        return false;
    }
    memcpy(to->hull_ids, from->hull_ids, ids);
    memcpy(to->hulls, from->hulls, size);
    return true;
}

static void place_settings(cairn_rollback *r, uint32_t index) {
    cairn_settings settings = cairn_tick_state_settings(&r->sources[index]);
    CAIRN_ASSERT(settings.joint_drive_count == 0 && settings.mesh_slots == 0);
    settings.contact_count = 0;
    settings.contact_event_count = 0;
    settings.body_event_count = 0;
    settings.joint_event_count = 0;
    *r->part->state.settings = settings;
}

static void mark_scope(cairn_rollback *r) {
    cairn_world *part = r->part;
    const size_t words = awake_mark_words(part->state.settings->body_slots);
    memset(part->awake_marks, 0, words * sizeof *part->awake_marks);
    for (uint32_t i = 0; i < r->scope_count; ++i) {
        cairn_awake_mark(part, r->scope[i]);
    }
    cairn_hash_cache_mark_all(part);
}

bool cairn_part_place(cairn_rollback *r, uint32_t index) {
    clear_part(r);
    const bool hulls = place_hulls(r);
    place_settings(r, index);
    for (uint32_t i = 0; i < r->still_count; ++i) {
        place_body(r, r->still[i], index);
    }
    for (uint32_t i = 0; i < r->scope_count; ++i) {
        place_body(r, r->scope[i], index);
    }
    place_joints(r, index);
    if (!place_contacts(r, index)) {
        return false;
    }
    mark_scope(r);
    bool changed[CAIRN_ARRAY_COUNT] = {[CAIRN_ARRAY_SHAPE_IDS] = true,
        [CAIRN_ARRAY_BODY_IDS] = true,
        [CAIRN_ARRAY_JOINT_IDS] = true,
        [CAIRN_ARRAY_HULL_IDS] = hulls,
        [CAIRN_ARRAY_HULLS] = hulls};
    cairn_world_derive(r->part, changed);
    cairn_world_drop_pairs(r->part);
    r->part_valid = true;
    return true;
}

// ---- What a step made of it

void *cairn_store_take(cairn_rollback *r, size_t count, size_t size) {
    const size_t bytes = (count * size + 15) / 16 * 16;
    if (bytes > r->store_size - r->store_used) {
        return NULL;
    }
    void *taken = r->store + r->store_used;
    r->store_used += bytes;
    return taken;
}

static void sort_scope(cairn_rollback *r) {
    const cairn_state *state = &r->part->state;
    uint32_t count = 0;
    for (uint32_t i = 0; i < state->settings->body_slots; ++i) {
        if (cairn_scope_has(r, i)) {
            r->sorted[count++] = i;
        }
    }
    CAIRN_ASSERT(count == r->scope_count);
}

static bool take_result(cairn_rollback *r, cairn_scope_result *result) {
    const cairn_settings *settings = r->part->state.settings;
    *result = (cairn_scope_result){.count = r->scope_count,
        .joint_count = r->placed_joint_count,
        .contact_count = settings->contact_count,
        .contact_event_count = settings->contact_event_count,
        .body_event_count = settings->body_event_count};
    const uint32_t count = result->count;
    result->slots = cairn_store_take(r, count, sizeof *result->slots);
    result->motions = cairn_store_take(r, count, sizeof *result->motions);
    result->reference_poses = cairn_store_take(r, count, sizeof *result->reference_poses);
    result->bodies = cairn_store_take(r, count, sizeof *result->bodies);
    result->sleep = cairn_store_take(r, count, sizeof *result->sleep);
    result->joint_slots = cairn_store_take(r, result->joint_count, sizeof(uint32_t));
    result->joints = cairn_store_take(r, result->joint_count, sizeof *result->joints);
    result->contacts = cairn_store_take(r, result->contact_count, sizeof *result->contacts);
    result->contact_events =
        cairn_store_take(r, result->contact_event_count, sizeof *result->contact_events);
    result->body_events =
        cairn_store_take(r, result->body_event_count, sizeof *result->body_events);
    return result->slots != NULL && result->motions != NULL && result->reference_poses != NULL &&
           result->bodies != NULL && result->sleep != NULL && result->joint_slots != NULL &&
           result->joints != NULL && result->contacts != NULL && result->contact_events != NULL &&
           result->body_events != NULL;
}

bool cairn_part_collect(cairn_rollback *r, uint32_t index) {
    const cairn_state *state = &r->part->state;
    cairn_scope_result *result = &r->results[index];
    if (!take_result(r, result)) {
        return false;
    }
    sort_scope(r);
    for (uint32_t i = 0; i < result->count; ++i) {
        const uint32_t slot = r->sorted[i];
        result->slots[i] = slot;
        result->motions[i] = state->motions[slot];
        result->reference_poses[i] = state->reference_poses[slot];
        result->bodies[i] = state->bodies[slot];
        result->sleep[i] = state->sleep[slot];
    }
    for (uint32_t i = 0; i < result->joint_count; ++i) { // placed in order
        result->joint_slots[i] = r->placed_joints[i];
        result->joints[i] = state->joints[r->placed_joints[i]];
    }
    memcpy(result->contacts, state->contacts, result->contact_count * sizeof *state->contacts);
    memcpy(result->contact_events, state->contact_events,
        result->contact_event_count * sizeof *state->contact_events);
    memcpy(result->body_events, state->body_events,
        result->body_event_count * sizeof *state->body_events);
    return true;
}

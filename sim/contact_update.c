// SPDX-License-Identifier: MIT
#include <string.h>

#include "base/assert.h"
#include "sim/body.h"
#include "sim/limits.h"
#include "sim/scratch.h"
#include "sim/shape.h"
#include "sim/slots.h"
#include "sim/step.h"

uint32_t cairn_step_find_pairs(cairn_world *world) {
    const uint32_t capacity = cairn_scratch_pair_capacity(&world->def);
    const uint32_t found = cairn_near_find(world, world->scratch.pairs, capacity);
    if (found > capacity) {
        world->state.settings->contacts_dropped += found - capacity;
        return capacity;
    }
    return found;
}

static uint64_t body_key(uint32_t a, uint32_t b) {
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static void sift_down(uint64_t *keys, uint32_t root, uint32_t count) {
    for (;;) {
        uint32_t child = 2 * root + 1;
        if (child >= count) {
            return;
        }
        child += child + 1 < count && keys[child] < keys[child + 1] ? 1u : 0u;
        if (keys[root] >= keys[child]) {
            return;
        }
        const uint64_t kept = keys[root];
        keys[root] = keys[child];
        keys[child] = kept;
        root = child;
    }
}

// Heap sort: in place, and never worse than n log n however the joints were made.
static void sort_keys(uint64_t *keys, uint32_t count) {
    for (uint32_t i = count / 2; i > 0; --i) {
        sift_down(keys, i - 1, count);
    }
    for (uint32_t end = count; end > 1; --end) {
        const uint64_t greatest = keys[0];
        keys[0] = keys[end - 1];
        keys[end - 1] = greatest;
        sift_down(keys, 0, end - 1);
    }
}

static void collect_joined(cairn_world *world) {
    const cairn_state *state = &world->state;
    cairn_scratch *scratch = &world->scratch;
    scratch->joined_count = 0;
    for (uint32_t i = 0; i < state->settings->joint_slots; ++i) {
        const cairn_joint *joint = &state->joints[i];
        if (cairn_state_has(state, CAIRN_ARRAY_JOINTS, i) && joint->collide_connected == 0) {
            scratch->joined[scratch->joined_count++] =
                body_key(id_index(joint->body_a), id_index(joint->body_b));
        }
    }
    sort_keys(scratch->joined, scratch->joined_count);
}

static bool joined(const cairn_scratch *scratch, uint32_t body_a, uint32_t body_b) {
    const uint64_t key = body_key(body_a, body_b);
    uint32_t lower = 0;
    uint32_t upper = scratch->joined_count;
    while (lower < upper) {
        const uint32_t middle = lower + (upper - lower) / 2;
        if (scratch->joined[middle] < key) {
            lower = middle + 1;
        } else {
            upper = middle;
        }
    }
    return lower < scratch->joined_count && scratch->joined[lower] == key;
}

static uint64_t contact_key(const cairn_contact *contact) {
    return (uint64_t)id_index(contact->shape_a) << 32 | id_index(contact->shape_b);
}

// Impulses of the points that were there in the last step, found by feature. Friction of a whole
// patch stays with it whatever its points do.
static void match_points(
    const cairn_world *world, const cairn_contact *old, cairn_contact *contact) {
    const bool per_point = world->def.solver == CAIRN_SOLVER_CLASSIC;
    contact->colour = old->colour;
    if (!per_point) {
        memcpy(contact->tangent_impulse, old->tangent_impulse, sizeof old->tangent_impulse);
    }
    for (uint32_t i = 0; i < contact->point_count; ++i) {
        cairn_contact_point *point = &contact->points[i];
        uint32_t k = 0;
        while (k < old->point_count && old->points[k].feature != point->feature) {
            ++k;
        }
        if (k == old->point_count) {
            continue;
        }
        *point = old->points[k];
        if (per_point) {
            contact->tangent_impulse[2 * i] = old->tangent_impulse[2 * k];
            contact->tangent_impulse[2 * i + 1] = old->tangent_impulse[2 * k + 1];
        }
    }
}

// Collides the pair and appends a contact when it touches. `old` is the same pair's contact of the
// last step, or NULL.
static void touch(cairn_world *world, cairn_pair pair, const cairn_contact *old) {
    const cairn_state *state = &world->state;
    cairn_scratch *scratch = &world->scratch;
    const cairn_shape *a = &state->shapes[pair.shape_a];
    const cairn_shape *b = &state->shapes[pair.shape_b];
    cairn_contact contact = {.shape_a = cairn_shape_id_at(world, pair.shape_a),
        .shape_b = cairn_shape_id_at(world, pair.shape_b),
        .body_a = cairn_body_id_at(world, a->body),
        .body_b = cairn_body_id_at(world, b->body)};
    const bool same =
        old != NULL && old->shape_a == contact.shape_a && old->shape_b == contact.shape_b;
    contact.axis_hint = same ? old->axis_hint : 0;
    cairn_manifold manifold;
    const cairn_solid solid_a = cairn_shape_solid(world, pair.shape_a);
    const cairn_solid solid_b = cairn_shape_solid(world, pair.shape_b);
    cairn_collide(&solid_a, &world->near.poses[pair.shape_a], &solid_b,
        &world->near.poses[pair.shape_b], CAIRN_CONTACT_MARGIN, &contact.axis_hint, &manifold);
    if (manifold.point_count == 0) {
        return;
    }
    if (scratch->contact_count == world->def.contact_capacity) {
        state->settings->contacts_dropped += 1;
        return;
    }
    contact.point_count = manifold.point_count;
    for (uint32_t i = 0; i < manifold.point_count; ++i) {
        contact.points[i].feature = manifold.points[i].feature;
    }
    if (same) {
        match_points(world, old, &contact);
    }
    scratch->manifolds[scratch->contact_count] = manifold;
    scratch->carried[scratch->contact_count] = 0;
    scratch->contacts[scratch->contact_count] = contact;
    scratch->contact_count += 1;
}

// A pair of which neither body stirs was not looked at: it is as it was. Anything else that no
// candidate pair stands for has ended.
static void carry(cairn_world *world, const cairn_contact *old) {
    const cairn_settings *settings = world->state.settings;
    cairn_scratch *scratch = &world->scratch;
    const uint32_t *ids = world->state.shape_ids;
    const uint32_t a = cairn_slot_find(ids, settings->shape_slots, old->shape_a);
    const uint32_t b = cairn_slot_find(ids, settings->shape_slots, old->shape_b);
    if (a == CAIRN_SLOT_NONE || b == CAIRN_SLOT_NONE ||
        cairn_body_stirs(world, world->state.shapes[a].body) ||
        cairn_body_stirs(world, world->state.shapes[b].body)) {
        return;
    }
    const uint32_t body_a = world->state.shapes[a].body;
    const uint32_t body_b = world->state.shapes[b].body;
    if (world->state.bodies[body_a].kind != CAIRN_BODY_DYNAMIC &&
        world->state.bodies[body_b].kind != CAIRN_BODY_DYNAMIC) {
        return;
    }
    if (scratch->contact_count == world->def.contact_capacity) {
        world->state.settings->contacts_dropped += 1;
        return;
    }
    scratch->carried[scratch->contact_count] = 1;
    scratch->contacts[scratch->contact_count] = *old;
    scratch->contact_count += 1;
}

static bool wanted(const cairn_world *world, cairn_pair pair) {
    const uint32_t a = world->state.shapes[pair.shape_a].body;
    const uint32_t b = world->state.shapes[pair.shape_b].body;
    const bool dynamic = world->state.bodies[a].kind == CAIRN_BODY_DYNAMIC ||
                         world->state.bodies[b].kind == CAIRN_BODY_DYNAMIC;
    return dynamic && !joined(&world->scratch, a, b);
}

void cairn_step_collide(cairn_world *world, uint32_t pair_count) {
    collect_joined(world);
    world->scratch.contact_count = 0;
    world->contacts_stale = false;
    const cairn_contact *old = world->state.contacts;
    const cairn_contact *old_end = old + world->state.settings->contact_count;
    for (uint32_t i = 0; i < pair_count; ++i) {
        const cairn_pair pair = world->scratch.pairs[i];
        const uint64_t key = (uint64_t)pair.shape_a << 32 | pair.shape_b;
        while (old < old_end && contact_key(old) < key) {
            carry(world, old++);
        }
        const bool met = old < old_end && contact_key(old) == key;
        if (wanted(world, pair)) {
            touch(world, pair, met ? old : NULL);
        }
        old += met ? 1 : 0;
    }
    while (old < old_end) {
        carry(world, old++);
    }
}

static bool woken(const cairn_world *world, uint32_t index) {
    const cairn_contact *contact = &world->scratch.contacts[index];
    return world->scratch.carried[index] != 0 &&
           (cairn_body_stirs(world, id_index(contact->body_a)) ||
               cairn_body_stirs(world, id_index(contact->body_b)));
}

void cairn_step_revive(cairn_world *world) {
    cairn_scratch *scratch = &world->scratch;
    const uint32_t count = scratch->contact_count;
    uint32_t first = 0;
    while (first < count && !woken(world, first)) {
        ++first;
    }
    // What lies before the first one woken stays where it is: as a rule, everything.
    scratch->contact_count = first;
    for (uint32_t i = first; i < count; ++i) {
        if (woken(world, i)) {
            const cairn_contact contact = scratch->contacts[i];
            const cairn_pair pair = {
                .shape_a = id_index(contact.shape_a), .shape_b = id_index(contact.shape_b)};
            touch(world, pair, &contact);
            continue;
        }
        const uint32_t at = scratch->contact_count++;
        scratch->contacts[at] = scratch->contacts[i];
        scratch->manifolds[at] = scratch->manifolds[i];
        scratch->carried[at] = scratch->carried[i];
    }
}

static void add_event(cairn_world *world, uint32_t kind, const cairn_contact *contact) {
    CAIRN_ASSERT(world->event_count < 2 * world->def.contact_capacity);
    world->events[world->event_count++] = (cairn_contact_event){.kind = kind,
        .shape_a = contact->shape_a,
        .shape_b = contact->shape_b,
        .body_a = contact->body_a,
        .body_b = contact->body_b};
}

static bool same_pair(const cairn_contact *a, const cairn_contact *b) {
    return a->shape_a == b->shape_a && a->shape_b == b->shape_b;
}

// An event for each contact of `list` that `other` has not. Both lists are in order.
static void report_missing(cairn_world *world, uint32_t kind, const cairn_contact *list,
    uint32_t count, const cairn_contact *other, uint32_t other_count) {
    uint32_t k = 0;
    for (uint32_t i = 0; i < count; ++i) {
        while (k < other_count && contact_key(&other[k]) < contact_key(&list[i])) {
            ++k;
        }
        if (k == other_count || !same_pair(&list[i], &other[k])) {
            add_event(world, kind, &list[i]);
        }
    }
}

void cairn_step_compare_contacts(cairn_world *world) {
    const cairn_contact *old = world->state.contacts;
    const uint32_t old_count = world->state.settings->contact_count;
    const cairn_contact *new = world->scratch.contacts;
    const uint32_t new_count = world->scratch.contact_count;
    world->event_count = 0;
    report_missing(world, CAIRN_CONTACT_END, old, old_count, new, new_count);
    report_missing(world, CAIRN_CONTACT_BEGIN, new, new_count, old, old_count);
}

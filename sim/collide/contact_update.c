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

// The fewest pairs that are shared as one block.
#define PAIRS_SHARED_MIN 16

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
           world->def.solver != CAIRN_SOLVER_PGS;
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
// changed.
static cairn_pair_outcome begin_overlap(
    const cairn_world *world, cairn_pair pair, cairn_found_contact *found) {
    if (!cairn_pair_cache_overlap(world->pair_cache, pair)) {
        return CAIRN_PAIR_UNCHANGED;
    }
    found->pose = cairn_pair_reference_pose(world, pair);
    found->axis_hint = 0;
    cairn_pair_collide(
        world, pair, &found->pose, CAIRN_CONTACT_MARGIN, &found->axis_hint, &found->manifold);
    return overlaps(&found->manifold) ? CAIRN_PAIR_BEGINS : CAIRN_PAIR_UNCHANGED;
}

// A cached pair that is not in contact, after the reference pose of a body has changed.
static cairn_pair_outcome collide_new_pair(
    const cairn_world *world, cairn_pair pair, uint32_t change, cairn_found_contact *found) {
    if (is_sensor(world, pair.shape_a) || is_sensor(world, pair.shape_b)) {
        return begin_overlap(world, pair, found);
    }
    const bool overlap = cairn_pair_cache_overlap(world->pair_cache, pair);
    if (pair_has_mesh(world, pair)) {
        return overlap ? CAIRN_PAIR_OF_MESH : CAIRN_PAIR_UNCHANGED;
    }
    if (!overlap && !(cairn_pair_is_swept(world->pair_cache, pair, change) &&
                        cairn_pair_may_meet(world, pair))) {
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

static void update_pairs(const void *context, uint32_t begin, uint32_t end) {
    const cairn_world *world = context;
    const cairn_contact_edit_buffer *buffer = world->contact_edit_buffer;
    CAIRN_ASSERT(begin < end && end <= CAIRN_PAIR_WORK_MAX);
    for (uint32_t i = begin; i < end; ++i) {
        const cairn_pair_work *work = &buffer->work[i];
        const uint32_t flags = world->pair_cache->pairs[work->pair].flags;
        cairn_pair_outcome outcome = update_pair(world, work, &buffer->results[i].found);
        if (outcome == CAIRN_PAIR_UPDATED) {
            cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACTS, work->contact);
            outcome = CAIRN_PAIR_UNCHANGED;
        }
        const uint32_t ended = (flags & CAIRN_PAIR_CONTACT_ENDS) != 0 ? CAIRN_PAIR_ENDED : 0;
        buffer->outcomes[i] = (unsigned char)(outcome | ended);
    }
}

// ---- The contact list, edited by the main thread in order of the pairs

static void begin_contact(cairn_world *world, cairn_contact_edit *edit, cairn_cached_pair *entry,
    const cairn_found_contact *found) {
    const cairn_pair pair = entry->pair;
    CAIRN_ASSERT(entry->flags == 0 && pair.shape_a < pair.shape_b);
    cairn_new_contact *inserted = cairn_contact_edit_insert(world, edit);
    if (inserted == NULL) {
        world->state.settings->contacts_dropped += 1;
        return;
    }
    entry->flags = 1;
    const cairn_shape *shapes = world->state.shapes;
    inserted->contact = (cairn_contact){.shape_a = cairn_shape_id_at(world, pair.shape_a),
        .shape_b = cairn_shape_id_at(world, pair.shape_b),
        .body_a = cairn_body_id_at(world, shapes[pair.shape_a].body),
        .body_b = cairn_body_id_at(world, shapes[pair.shape_b].body),
        .axis_hint = found->axis_hint};
    const bool sensor_b = is_sensor(world, pair.shape_b);
    if (sensor_b || is_sensor(world, pair.shape_a)) {
        inserted->contact.colour = sensor_b ? 1 : 0;
        inserted->ref = cairn_contact_ref_of(&inserted->contact, CAIRN_MANIFOLD_SENSOR);
        return;
    }
    cairn_manifold_pool *pool = world->manifold_pool;
    cairn_contact_set_points(&found->manifold, &inserted->contact);
    store_reference(world, found, &inserted->contact);
    inserted->ref = cairn_contact_ref_of(&inserted->contact, cairn_manifold_pool_take(pool));
    cairn_solver_manifold_fill(
        world, pair, &found->pose, &found->manifold, &pool->manifolds[inserted->ref.manifold]);
}

static void apply_result(cairn_world *world, cairn_contact_edit *edit, const cairn_pair_work *work,
    uint32_t outcome, const cairn_pair_result *result) {
    cairn_cached_pair *entry = &world->pair_cache->pairs[work->pair];
    CAIRN_ASSERT(edit->next <= work->contact);
    edit->next = work->contact;
    if ((outcome & CAIRN_PAIR_ENDED) != 0) {
        for (uint32_t count = entry->flags & CAIRN_PAIR_CONTACTS; count > 0; --count) {
            cairn_contact_edit_remove_next(world, edit);
        }
        entry->flags &= CAIRN_PAIR_INVALID;
    }
    switch (outcome & ~(uint32_t)CAIRN_PAIR_ENDED) {
    case CAIRN_PAIR_ENDS:
        entry->flags = 0;
        cairn_contact_edit_remove_next(world, edit);
        break;
    case CAIRN_PAIR_BEGINS:
        begin_contact(world, edit, entry, &result->found);
        break;
    case CAIRN_PAIR_OF_MESH:
        cairn_mesh_contact_update(world, edit, entry, work->change);
        break;
    default:
        break;
    }
}

// Updates the listed pairs and empties the list.
static void run_work(cairn_world *world, cairn_contact_edit *edit, uint32_t *count) {
    const cairn_contact_edit_buffer *buffer = world->contact_edit_buffer;
    CAIRN_ASSERT(*count <= CAIRN_PAIR_WORK_MAX);
    cairn_task_scheduler_parallel_for(
        world->scheduler, update_pairs, world, 0, *count, PAIRS_SHARED_MIN);
    for (uint32_t i = 0; i < *count; ++i) {
        if (buffer->outcomes[i] != CAIRN_PAIR_UNCHANGED) {
            apply_result(world, edit, &buffer->work[i], buffer->outcomes[i], &buffer->results[i]);
        }
    }
    *count = 0;
}

// The pair's contact gets its manifold if it has none yet: after a load, or a change of lanes.
static void provide_manifold(cairn_world *world, uint32_t contact, uint32_t change) {
    cairn_contact_ref *ref = &world->manifold_pool->refs[contact];
    if (ref->manifold != CAIRN_MANIFOLD_NONE) {
        return;
    }
    if (has_last_manifold(world, change)) {
        cairn_manifold_pool_restore(world, contact);
    } else {
        ref->manifold = cairn_manifold_pool_take(world->manifold_pool);
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
    const cairn_pair_cache *cache = world->pair_cache;
    const unsigned char *change = cache->reference_change;
    cairn_pair_work *work = world->contact_edit_buffer->work;
    cairn_contact_edit edit = cairn_contact_edit_begin(world);
    uint32_t count = 0;
    uint32_t contact = 0; // index of the first contact that belongs to none of the pairs so far
    world->contacts_stale = false;
    for (uint32_t i = 0; i < cache->pair_count; ++i) {
        const cairn_cached_pair *entry = &cache->pairs[i];
        const uint32_t changed =
            (uint32_t)(change[entry->pair.shape_a] | change[entry->pair.shape_b]);
        const uint32_t in_contact = entry->flags & CAIRN_PAIR_CONTACTS;
        // Nearly all pairs stay as they are. Whether one is in contact is hard to predict, so it is
        // added, not branched on.
        if ((changed | (entry->flags & CAIRN_PAIR_CONTACT_ENDS)) != 0) {
            if (in_contact != 0 && (entry->flags & CAIRN_PAIR_CONTACT_ENDS) == 0 &&
                !pair_has_mesh(world, entry->pair)) {
                provide_manifold(world, contact, changed);
            }
            work[count++] = (cairn_pair_work){.pair = i, .contact = contact, .change = changed};
            if (count == CAIRN_PAIR_WORK_MAX) {
                run_work(world, &edit, &count);
            }
        }
        contact += in_contact;
    }
    run_work(world, &edit, &count);
    CAIRN_ASSERT(contact == world->state.settings->contact_count);
    edit.next = contact;
    cairn_contact_edit_finish(world, &edit);
    if (!world->manifold_pool->complete) {
        restore_manifolds(world);
    }
}

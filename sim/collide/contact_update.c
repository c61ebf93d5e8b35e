// SPDX-License-Identifier: MIT
#include "sim/collide/contact_update.h"

#include <string.h>

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/body/shape.h"
#include "sim/collide/contact_list.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"

// Impulses are passed on while the normal turns by at most 26 degrees.
#define SAME_NORMAL_COSINE 0.9f

// Copies the impulses of points that existed before, matched by feature. Friction acts on the whole
// manifold in the soft-step solver, so its impulse stays even if the points change.
static void match_points(
    const cairn_world *world, const cairn_contact *old, cairn_contact *contact) {
    const bool per_point = world->def.solver == CAIRN_SOLVER_PGS;
    if (!per_point) {
        memcpy(contact->tangent_impulse, old->tangent_impulse, sizeof old->tangent_impulse);
    }
    CAIRN_ASSERT(old->point_count <= CAIRN_MANIFOLD_POINTS_MAX);
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

// Gives the normal impulse of each point that is gone to the nearest point that there is now, so
// that what the manifold carries does not drop when its corners or the four that are chosen of them
// change.
static void pass_on_impulses(const cairn_contact *old, const cairn_solver_manifold *before,
    cairn_contact *contact, const cairn_solver_manifold *now) {
    if (vec3_dot(before->normal, now->normal) < SAME_NORMAL_COSINE) {
        return;
    }
    for (uint32_t k = 0; k < old->point_count; ++k) {
        bool gone = old->points[k].normal_impulse > 0.0f;
        uint32_t nearest = 0;
        float least = CAIRN_VALID_DISTANCE * CAIRN_VALID_DISTANCE;
        for (uint32_t i = 0; i < contact->point_count; ++i) {
            gone = gone && contact->points[i].feature != old->points[k].feature;
            const float squared =
                vec3_length_squared(vec3_sub(now->points[i].arm_a, before->points[k].arm_a));
            nearest = squared < least ? i : nearest;
            least = float_min(squared, least);
        }
        if (gone) {
            contact->points[nearest].normal_impulse += old->points[k].normal_impulse;
        }
    }
}

static void set_points(const cairn_manifold *manifold, cairn_contact *contact) {
    CAIRN_ASSERT(manifold->point_count >= 1);
    contact->point_count = manifold->point_count;
    memset(contact->points, 0, sizeof contact->points);
    memset(contact->tangent_impulse, 0, sizeof contact->tangent_impulse);
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        contact->points[i].feature = manifold->points[i].feature;
    }
}

// Stores the poses for which the points were computed; a restore must get the same words.
static void store_reference(
    const cairn_world *world, const cairn_pair_pose *pose, cairn_contact *contact) {
    const cairn_reference_pose *references = world->state.reference_poses;
    contact->reference_displacement = pose->displacement;
    contact->reference_rotation_a = references[cairn_id_index(contact->body_a)].rotation;
    contact->reference_rotation_b = references[cairn_id_index(contact->body_b)].rotation;
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

static bool is_sensor(const cairn_world *world, uint32_t shape) {
    return (world->state.shapes[shape].flags & CAIRN_SHAPE_SENSOR) != 0;
}

// The overlap of a sensor, after the reference pose of at least one of the bodies has changed.
static void update_overlap(cairn_world *world, cairn_contact_edit *edit, cairn_cached_pair *entry) {
    cairn_contact *contact = &world->state.contacts[edit->next];
    CAIRN_ASSERT(contact_is_sensor(contact));
    const cairn_pair_pose pose = cairn_pair_reference_pose(world, entry->pair);
    cairn_manifold manifold;
    cairn_pair_collide(world, entry->pair, &pose, &contact->axis_hint, &manifold);
    if (!overlaps(&manifold)) {
        entry->flags = 0;
        cairn_contact_edit_remove_next(world, edit);
        return;
    }
    cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACTS, edit->next);
    edit->next += 1;
}

// A pair in contact, after the reference pose of at least one of its bodies has changed.
static void update_contact(cairn_world *world, cairn_contact_edit *edit, cairn_cached_pair *entry,
    uint32_t reference_change) {
    cairn_manifold_pool *pool = world->manifold_pool;
    cairn_contact *contact = &world->state.contacts[edit->next];
    CAIRN_ASSERT(cairn_id_index(contact->shape_a) == entry->pair.shape_a);
    CAIRN_ASSERT(cairn_id_index(contact->shape_b) == entry->pair.shape_b);
    const cairn_pair_pose pose = cairn_pair_reference_pose(world, entry->pair);
    const bool moved =
        reference_change != CAIRN_REFERENCE_RESET && world->def.solver != CAIRN_SOLVER_PGS;
    if (moved) {
        if (pool->refs[edit->next].manifold == CAIRN_MANIFOLD_NONE) {
            cairn_manifold_pool_restore(world, edit->next);
        }
        const uint32_t stored = pool->refs[edit->next].manifold;
        CAIRN_ASSERT(stored < pool->used);
        if (cairn_solver_manifold_can_recycle(world, contact, &pool->manifolds[stored], &pose)) {
            edit->next += 1;
            return;
        }
    }
    cairn_manifold manifold;
    cairn_pair_collide(world, entry->pair, &pose, &contact->axis_hint, &manifold);
    if (manifold.point_count == 0) {
        entry->flags = 0;
        cairn_contact_edit_remove_next(world, edit);
        return;
    }
    const cairn_contact old = *contact;
    set_points(&manifold, contact);
    match_points(world, &old, contact);
    store_reference(world, &pose, contact);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACTS, edit->next);
    uint32_t *index = &pool->refs[edit->next].manifold;
    *index = *index == CAIRN_MANIFOLD_NONE ? cairn_manifold_pool_take(pool) : *index;
    const cairn_solver_manifold before = pool->manifolds[*index];
    cairn_solver_manifold_fill(world, entry->pair, &pose, &manifold, &pool->manifolds[*index]);
    if (moved) {
        pass_on_impulses(&old, &before, contact, &pool->manifolds[*index]);
    }
    edit->next += 1;
}

// A cached pair that is not in contact, after the reference pose of a body has changed.
static void collide_new_pair(
    cairn_world *world, cairn_contact_edit *edit, cairn_cached_pair *entry) {
    CAIRN_ASSERT(entry->flags == 0);
    uint32_t axis_hint = 0;
    cairn_manifold manifold;
    if (!cairn_pair_cache_overlap(world->pair_cache, entry->pair)) {
        return;
    }
    const cairn_pair_pose pose = cairn_pair_reference_pose(world, entry->pair);
    cairn_pair_collide(world, entry->pair, &pose, &axis_hint, &manifold);
    if (manifold.point_count == 0) {
        return;
    }
    cairn_new_contact *inserted = cairn_contact_edit_insert(world, edit);
    if (inserted == NULL) {
        world->state.settings->contacts_dropped += 1;
        return;
    }
    cairn_manifold_pool *pool = world->manifold_pool;
    entry->flags = CAIRN_PAIR_IN_CONTACT;
    const cairn_pair pair = entry->pair;
    const cairn_shape_transform *transforms = world->pair_cache->transforms;
    CAIRN_ASSERT(pair.shape_a < pair.shape_b);
    inserted->contact = (cairn_contact){.shape_a = cairn_shape_id_at(world, pair.shape_a),
        .shape_b = cairn_shape_id_at(world, pair.shape_b),
        .body_a = cairn_body_id_at(world, transforms[pair.shape_a].body),
        .body_b = cairn_body_id_at(world, transforms[pair.shape_b].body),
        .axis_hint = axis_hint};
    set_points(&manifold, &inserted->contact);
    store_reference(world, &pose, &inserted->contact);
    inserted->ref = cairn_contact_ref_of(&inserted->contact, cairn_manifold_pool_take(pool));
    cairn_solver_manifold_fill(
        world, entry->pair, &pose, &manifold, &pool->manifolds[inserted->ref.manifold]);
}

// A cached pair of a sensor that it does not overlap yet, after the reference pose of a body has
// changed.
static void begin_overlap(cairn_world *world, cairn_contact_edit *edit, cairn_cached_pair *entry) {
    CAIRN_ASSERT(entry->flags == 0);
    const cairn_pair pair = entry->pair;
    uint32_t axis_hint = 0;
    cairn_manifold manifold;
    if (!cairn_pair_cache_overlap(world->pair_cache, pair)) {
        return;
    }
    const cairn_pair_pose pose = cairn_pair_reference_pose(world, pair);
    cairn_pair_collide(world, pair, &pose, &axis_hint, &manifold);
    if (!overlaps(&manifold)) {
        return;
    }
    cairn_new_contact *inserted = cairn_contact_edit_insert(world, edit);
    if (inserted == NULL) {
        world->state.settings->contacts_dropped += 1;
        return;
    }
    entry->flags = CAIRN_PAIR_IN_CONTACT;
    const cairn_shape *shapes = world->state.shapes;
    inserted->contact = (cairn_contact){.shape_a = cairn_shape_id_at(world, pair.shape_a),
        .shape_b = cairn_shape_id_at(world, pair.shape_b),
        .body_a = cairn_body_id_at(world, shapes[pair.shape_a].body),
        .body_b = cairn_body_id_at(world, shapes[pair.shape_b].body),
        .axis_hint = axis_hint,
        .colour = is_sensor(world, pair.shape_b) ? 1 : 0};
    inserted->ref = cairn_contact_ref_of(&inserted->contact, CAIRN_MANIFOLD_SENSOR);
}

static void update_pair(cairn_world *world, cairn_contact_edit *edit, cairn_cached_pair *entry,
    uint32_t reference_change) {
    if ((entry->flags & CAIRN_PAIR_CONTACT_ENDS) != 0) {
        entry->flags &= CAIRN_PAIR_INVALID;
        cairn_contact_edit_remove_next(world, edit);
    } else if ((entry->flags & CAIRN_PAIR_IN_CONTACT) != 0) {
        if (world->manifold_pool->refs[edit->next].manifold == CAIRN_MANIFOLD_SENSOR) {
            update_overlap(world, edit, entry);
        } else {
            update_contact(world, edit, entry, reference_change);
        }
        return;
    }
    if (reference_change == 0 || entry->flags != 0) {
        return;
    }
    if (is_sensor(world, entry->pair.shape_a) || is_sensor(world, entry->pair.shape_b)) {
        begin_overlap(world, edit, entry);
    } else {
        collide_new_pair(world, edit, entry);
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
    cairn_pair_cache *cache = world->pair_cache;
    const unsigned char *change = cache->reference_change;
    cairn_contact_edit edit = cairn_contact_edit_begin(world);
    world->contacts_stale = false;
    for (uint32_t i = 0; i < cache->pair_count; ++i) {
        cairn_cached_pair *entry = &cache->pairs[i];
        const uint32_t changed =
            (uint32_t)(change[entry->pair.shape_a] | change[entry->pair.shape_b]);
        // Nearly all pairs stay as they are. Whether one is in contact is hard to predict, so it is
        // added, not branched on.
        if ((changed | (entry->flags & CAIRN_PAIR_CONTACT_ENDS)) == 0) {
            edit.next += entry->flags & CAIRN_PAIR_IN_CONTACT;
        } else {
            update_pair(world, &edit, entry, changed);
        }
    }
    cairn_contact_edit_finish(world, &edit);
    if (!world->manifold_pool->complete) {
        restore_manifolds(world);
    }
}

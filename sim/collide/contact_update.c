// SPDX-License-Identifier: MIT
#include <string.h>

#include "sim/collide/contact_list.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/step.h"
#include "sim/world/body.h"
#include "sim/world/shape.h"

void cairn_pair_cache_step(cairn_world *world) {
    world->state.settings->contacts_dropped += cairn_near_update(world);
}

// Impulses of the points that were there before, found by feature. Friction of a whole patch stays
// with it whatever its points do.
static void match_points(
    const cairn_world *world, const cairn_contact *old, cairn_contact *contact) {
    const bool per_point = world->def.solver == CAIRN_SOLVER_CLASSIC;
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

static void take_points(const cairn_manifold *manifold, cairn_contact *contact) {
    contact->point_count = manifold->point_count;
    memset(contact->points, 0, sizeof contact->points);
    memset(contact->tangent_impulse, 0, sizeof contact->tangent_impulse);
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        contact->points[i].feature = manifold->points[i].feature;
    }
}

// What the points were computed at; the anchors' words are those that are to come out again.
static void refer(const cairn_world *world, const cairn_pair_pose *at, cairn_contact *contact) {
    contact->reference_way = at->way;
    contact->reference_a = world->state.reference_poses[cairn_id_index(contact->body_a)].turn;
    contact->reference_b = world->state.reference_poses[cairn_id_index(contact->body_b)].turn;
}

static bool goes_on(cairn_world *world, uint32_t index, const cairn_pair_pose *now) {
    cairn_patches *patches = world->manifold_pool;
    if (patches->links[index].patch == CAIRN_PATCH_NONE) {
        cairn_patch_restore(world, index);
    }
    return cairn_patch_holds(
        world, &world->state.contacts[index], &patches->patches[patches->links[index].patch], now);
}

// A pair in touch of which at least one body was anchored anew.
static void look_again(
    cairn_world *world, cairn_contact_edit *at, cairn_near_pair *near, uint32_t anew) {
    cairn_patches *patches = world->manifold_pool;
    cairn_contact *contact = &world->state.contacts[at->old];
    const cairn_pair_pose now = cairn_pair_reference_pose(world, near->pair);
    if (anew != CAIRN_NEAR_RENEWED && world->def.solver != CAIRN_SOLVER_CLASSIC &&
        goes_on(world, at->old, &now)) {
        at->old += 1;
        return;
    }
    cairn_manifold manifold;
    cairn_pair_collide(world, near->pair, &now, &contact->axis_hint, &manifold);
    if (manifold.point_count == 0) {
        near->flags = 0;
        cairn_contact_edit_remove_next(world, at);
        return;
    }
    const cairn_contact old = *contact;
    take_points(&manifold, contact);
    match_points(world, &old, contact);
    refer(world, &now, contact);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACTS, at->old);
    uint32_t *patch = &patches->links[at->old].patch;
    *patch = *patch == CAIRN_PATCH_NONE ? cairn_patch_take(patches) : *patch;
    cairn_patch_fill(world, near->pair, &now, &manifold, &patches->patches[*patch]);
    at->old += 1;
}

static cairn_contact contact_of(const cairn_world *world, cairn_pair pair, uint32_t axis_hint) {
    const cairn_place *places = world->pair_cache->places;
    return (cairn_contact){.shape_a = cairn_shape_id_at(world, pair.shape_a),
        .shape_b = cairn_shape_id_at(world, pair.shape_b),
        .body_a = cairn_body_id_at(world, places[pair.shape_a].body),
        .body_b = cairn_body_id_at(world, places[pair.shape_b].body),
        .axis_hint = axis_hint};
}

// A near pair not in touch of which at least one body was anchored anew.
static void look(cairn_world *world, cairn_contact_edit *at, cairn_near_pair *near) {
    uint32_t axis_hint = 0;
    cairn_manifold manifold;
    if (!cairn_near_overlap(world->pair_cache, near->pair)) {
        return;
    }
    const cairn_pair_pose now = cairn_pair_reference_pose(world, near->pair);
    cairn_pair_collide(world, near->pair, &now, &axis_hint, &manifold);
    if (manifold.point_count == 0) {
        return;
    }
    cairn_new_contact *added = cairn_contact_edit_insert(world, at);
    if (added == NULL) {
        world->state.settings->contacts_dropped += 1;
        return;
    }
    cairn_patches *patches = world->manifold_pool;
    near->flags = CAIRN_NEAR_TOUCH;
    added->contact = contact_of(world, near->pair, axis_hint);
    take_points(&manifold, &added->contact);
    refer(world, &now, &added->contact);
    added->link = cairn_patch_link_of(&added->contact, cairn_patch_take(patches));
    cairn_patch_fill(world, near->pair, &now, &manifold, &patches->patches[added->link.patch]);
}

static void look_at(
    cairn_world *world, cairn_contact_edit *at, cairn_near_pair *near, uint32_t anew) {
    if ((near->flags & CAIRN_NEAR_OVER) != 0) {
        near->flags &= CAIRN_NEAR_GONE;
        cairn_contact_edit_remove_next(world, at);
    } else if ((near->flags & CAIRN_NEAR_TOUCH) != 0) {
        look_again(world, at, near, anew);
        return;
    }
    if (anew != 0 && near->flags == 0) {
        look(world, at, near);
    }
}

// After a load, and while the bodies' centres are those that the points were computed with: a body
// that is quarantined later in this step has another.
static void restore_patches(cairn_world *world) {
    const cairn_patch_link *links = world->manifold_pool->links;
    for (uint32_t i = 0; i < world->state.settings->contact_count; ++i) {
        if (links[i].patch == CAIRN_PATCH_NONE &&
            (cairn_body_in_awake_set(world, links[i].body_a) ||
                cairn_body_in_awake_set(world, links[i].body_b))) {
            cairn_patch_restore(world, i);
        }
    }
    world->manifold_pool->complete = true;
}

void cairn_contact_update(cairn_world *world) {
    cairn_near *near = world->pair_cache;
    const unsigned char *shifted = near->shifted;
    cairn_contact_edit at = cairn_contact_edit_begin(world);
    world->contacts_stale = false;
    for (uint32_t i = 0; i < near->pair_count; ++i) {
        cairn_near_pair *pair = &near->pairs[i];
        const uint32_t anew = (uint32_t)(shifted[pair->pair.shape_a] | shifted[pair->pair.shape_b]);
        // Nearly all stay as they are, and which of them are in touch is hard to predict.
        if ((anew | (pair->flags & CAIRN_NEAR_OVER)) == 0) {
            at.old += pair->flags & CAIRN_NEAR_TOUCH;
        } else {
            look_at(world, &at, pair, anew);
        }
    }
    cairn_contact_edit_finish(world, &at);
    if (!world->manifold_pool->complete) {
        restore_patches(world);
    }
}

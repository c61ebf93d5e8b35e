// SPDX-License-Identifier: MIT
#include "sim/collide/active_contacts.h"

#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/task/task_scheduler.h"

// Contacts are gathered in pieces of at least so many, and in at most so many pieces.
#define CONTACTS_SHARED_MIN 512
#define PIECES_MAX 64
// So many joints are compared by the main thread.
#define JOINTS_SHARED_MIN 512

typedef struct contact_pieces {
    const cairn_world *world;
    const uint32_t *solver_body_of;
    uint32_t still;               // the solver body that stands for all that do not move
    cairn_constraint_edge *edges; // those of a piece begin at the index of its first contact
    uint32_t size;                // contacts of a piece
    uint32_t *counts;             // by piece: edges
    atomic_uint *missing;         // 1: some manifold has not been computed
} contact_pieces;

// Writes the edges of the active contacts first .. last - 1. Returns how many there are.
static uint32_t gather_contacts(
    const contact_pieces *pieces, uint32_t first, uint32_t last, cairn_constraint_edge *edges) {
    const cairn_world *world = pieces->world;
    const cairn_contact_ref *refs = world->manifold_pool->refs;
    const unsigned char *moving = world->awake_set->takes_impulses;
    const bool sparse = world->awake_set->sparse;
    uint32_t count = 0;
    CAIRN_ASSERT(first < last && last <= world->state.settings->contact_count);
    for (uint32_t i = first; i < last; ++i) {
        if (sparse && i % CAIRN_PAIRS_PER_RANGE == 0) {
            i = cairn_contact_refs_skip(world, i, last);
            if (i >= last) {
                break;
            }
        }
        const uint32_t body_a = refs[i].body_a;
        const uint32_t body_b = refs[i].body_b;
        if ((moving[body_a] | moving[body_b]) == 0 || refs[i].manifold == CAIRN_MANIFOLD_SENSOR) {
            continue;
        }
        if (refs[i].manifold == CAIRN_MANIFOLD_NONE) {
            atomic_store_explicit(pieces->missing, 1, memory_order_relaxed);
        }
        cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACTS, i);
        edges[count] = (cairn_constraint_edge){
            .element = i, .manifold = refs[i].manifold, .body_a = body_a, .body_b = body_b};
        if (pieces->solver_body_of != NULL) {
            // Not from the manifold, which is elsewhere in memory and not needed yet.
            const bool single = world->state.contacts[i].point_count == 1;
            const uint32_t colour = world->state.contacts[i].colour;
            edges[count].kind = single ? 0u : CAIRN_CONTACT_OF_POINTS;
            edges[count].colour = colour == 0 ? CAIRN_COLOUR_NONE : colour - 1;
            edges[count].solver_a = pieces->solver_body_of[body_a];
            edges[count].solver_b = pieces->solver_body_of[body_b];
            edges[count].kind |=
                edges[count].solver_a == pieces->still ? CAIRN_CONTACT_ON_STILL : 0u;
        }
        count += 1;
    }
    return count;
}

static void gather_pieces(const void *context, uint32_t begin, uint32_t end) {
    const contact_pieces *pieces = context;
    const uint32_t contact_count = pieces->world->state.settings->contact_count;
    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t first = i * pieces->size;
        const uint32_t left = contact_count - first;
        CAIRN_ASSERT(first < contact_count);
        pieces->counts[i] = gather_contacts(pieces, first,
            first + (left < pieces->size ? left : pieces->size), &pieces->edges[first]);
    }
}

static void mark_bodies(const cairn_world *world) {
    const cairn_awake_set *awake = world->awake_set;
    CAIRN_ASSERT(awake->body_count <= world->state.settings->body_slots);
    memset(awake->takes_impulses, 0, world->state.settings->body_slots);
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        awake->takes_impulses[slot] = cairn_body_takes_impulses(world, slot) ? 1 : 0;
    }
}

static void restore_manifolds(cairn_world *world, cairn_constraint_edge *edges, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if (edges[i].manifold == CAIRN_MANIFOLD_NONE) {
            cairn_manifold_pool_restore(world, edges[i].element);
            edges[i].manifold = world->manifold_pool->refs[edges[i].element].manifold;
        }
        CAIRN_ASSERT(edges[i].manifold < world->manifold_pool->used);
    }
}

uint32_t cairn_active_contacts_gather(cairn_world *world, const uint32_t *solver_body_of,
    uint32_t still, cairn_constraint_edge *edges) {
    const uint32_t contact_count = world->state.settings->contact_count;
    uint32_t counts[PIECES_MAX];
    atomic_uint missing = 0;
    const uint32_t share = contact_count / PIECES_MAX + 1;
    const contact_pieces pieces = {.world = world,
        .solver_body_of = solver_body_of,
        .still = still,
        .edges = edges,
        .size = share < CONTACTS_SHARED_MIN ? CONTACTS_SHARED_MIN : share,
        .counts = counts,
        .missing = &missing};
    const uint32_t piece_count = (contact_count + pieces.size - 1) / pieces.size;
    CAIRN_ASSERT(piece_count <= PIECES_MAX);
    if (solver_body_of == NULL) {
        mark_bodies(world); // otherwise the solver has
    }
    cairn_task_scheduler_split(world->scheduler, gather_pieces, &pieces, 0, piece_count, 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < piece_count; ++i) {
        if (count != i * pieces.size) {
            memmove(&edges[count], &edges[i * pieces.size], counts[i] * sizeof *edges);
        }
        count += counts[i];
    }
    CAIRN_ASSERT(count <= contact_count);
    if (atomic_load_explicit(&missing, memory_order_relaxed) != 0) {
        restore_manifolds(world, edges, count);
    }
    return count;
}

typedef struct known_joints {
    const cairn_world *world;
    const uint32_t *solver_body_of;
    const cairn_constraint_edge *edges;
    atomic_uint *changed;
} known_joints;

static bool is_same_joint(const cairn_constraint_edge *edge, const cairn_joint_bodies *joint,
    uint32_t solver_a, uint32_t solver_b) {
    return edge->element == joint->joint && edge->body_a == joint->body_a &&
           edge->body_b == joint->body_b && edge->kind == joint->kind &&
           edge->solver_a == solver_a && edge->solver_b == solver_b;
}

static void compare_joints(const void *context, uint32_t begin, uint32_t end) {
    const known_joints *known = context;
    const cairn_joint_bodies *joints = known->world->pair_cache->joint_filter.joints;
    const unsigned char *moving = known->world->awake_set->takes_impulses;
    for (uint32_t i = begin; i < end; ++i) {
        const cairn_joint_bodies *joint = &joints[i];
        if ((moving[joint->body_a] | moving[joint->body_b]) == 0 ||
            !is_same_joint(&known->edges[i], joint, known->solver_body_of[joint->body_a],
                known->solver_body_of[joint->body_b])) {
            atomic_store_explicit(known->changed, 1, memory_order_relaxed);
            return;
        }
    }
}

// Whether every joint is active and has the edge that it had before.
static bool all_joints_known(cairn_world *world, const uint32_t *solver_body_of,
    const cairn_constraint_edge *edges, uint32_t known) {
    atomic_uint changed = 0;
    const known_joints all = {
        .world = world, .solver_body_of = solver_body_of, .edges = edges, .changed = &changed};
    if (known != world->pair_cache->joint_filter.joint_count ||
        world->state.settings->joint_drive_count != 0) {
        return false;
    }
    cairn_task_scheduler_split(world->scheduler, compare_joints, &all, 0, known, JOINTS_SHARED_MIN);
    return atomic_load_explicit(&changed, memory_order_relaxed) == 0;
}

uint32_t cairn_active_joints_gather(cairn_world *world, const uint32_t *solver_body_of,
    cairn_constraint_edge *edges, uint32_t known, bool *changed) {
    const cairn_joint_filter *filter = &world->pair_cache->joint_filter;
    if (known > 0 && all_joints_known(world, solver_body_of, edges, known)) {
        *changed = false;
        return known;
    }
    const unsigned char *moving = world->awake_set->takes_impulses;
    uint32_t count = 0;
    *changed = false;
    const bool drives = world->state.settings->joint_drive_count != 0;
    CAIRN_ASSERT(filter->joint_count <= world->def.joint_capacity);
    for (uint32_t i = 0; i < filter->joint_count; ++i) {
        const cairn_joint_bodies *joint = &filter->joints[i];
        if ((moving[joint->body_a] | moving[joint->body_b]) == 0 ||
            (drives && world->state.joints[joint->joint].extent >= CAIRN_JOINT_DRIVEN)) {
            continue;
        }
        CAIRN_ASSERT(joint->kind == world->state.joints[joint->joint].kind);
        const uint32_t solver_a = solver_body_of == NULL ? 0 : solver_body_of[joint->body_a];
        const uint32_t solver_b = solver_body_of == NULL ? 0 : solver_body_of[joint->body_b];
        cairn_constraint_edge *edge = &edges[count++];
        if (count > known || !is_same_joint(edge, joint, solver_a, solver_b)) {
            *edge = (cairn_constraint_edge){.element = joint->joint,
                .body_a = joint->body_a,
                .body_b = joint->body_b,
                .kind = joint->kind,
                .solver_a = solver_a,
                .solver_b = solver_b,
                .colour = CAIRN_COLOUR_NONE};
            *changed = true;
        }
    }
    *changed = *changed || count != known;
    return count;
}

bool cairn_joint_drive_active(const cairn_world *world, uint32_t index) {
    const cairn_joint_drive *drive = &world->state.joint_drives[index];
    const cairn_joint *joint = &world->state.joints[drive->joint];
    const unsigned char *moving = world->awake_set->takes_impulses;
    CAIRN_ASSERT(index < world->state.settings->joint_drive_count);
    return joint->extent == CAIRN_JOINT_DRIVEN && (drive->flags & CAIRN_DRIVE_DISABLED) == 0 &&
           (moving[cairn_id_index(joint->body_a)] | moving[cairn_id_index(joint->body_b)]) != 0;
}

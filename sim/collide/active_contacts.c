// SPDX-License-Identifier: MIT
#include "sim/collide/active_contacts.h"

#include <string.h>

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"

uint32_t cairn_active_contacts_gather(cairn_world *world, cairn_constraint_edge *edges) {
    const cairn_contact_ref *refs = world->manifold_pool->refs;
    const cairn_awake_set *awake = world->awake_set;
    const unsigned char *moving = awake->takes_impulses;
    const uint32_t contact_count = world->state.settings->contact_count;
    uint32_t count = 0;
    CAIRN_ASSERT(awake->body_count <= world->state.settings->body_slots);
    memset(awake->takes_impulses, 0, world->state.settings->body_slots);
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        awake->takes_impulses[slot] = cairn_body_takes_impulses(world, slot) ? 1 : 0;
    }
    for (uint32_t i = 0; i < contact_count; ++i) {
        const uint32_t body_a = refs[i].body_a;
        const uint32_t body_b = refs[i].body_b;
        if ((moving[body_a] | moving[body_b]) == 0) {
            continue;
        }
        if (refs[i].manifold >= CAIRN_MANIFOLD_SENSOR) {
            if (refs[i].manifold == CAIRN_MANIFOLD_SENSOR) {
                continue;
            }
            cairn_manifold_pool_restore(world, i);
        }
        CAIRN_ASSERT(refs[i].manifold < world->manifold_pool->used);
        cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACTS, i);
        const cairn_solver_manifold *manifold = &world->manifold_pool->manifolds[refs[i].manifold];
        edges[count++] = (cairn_constraint_edge){.element = i,
            .manifold = refs[i].manifold,
            .body_a = body_a,
            .body_b = body_b,
            .kind = manifold->point_count == 1.0f ? 0 : 1};
    }
    CAIRN_ASSERT(count <= contact_count);
    return count;
}

uint32_t cairn_active_joints_gather(cairn_world *world, cairn_constraint_edge *edges) {
    const cairn_joint_filter *filter = &world->pair_cache->joint_filter;
    const unsigned char *moving = world->awake_set->takes_impulses;
    uint32_t count = 0;
    const bool drives = world->state.settings->joint_drive_count != 0;
    CAIRN_ASSERT(filter->joint_count <= world->def.joint_capacity);
    for (uint32_t i = 0; i < filter->joint_count; ++i) {
        const cairn_joint_bodies *joint = &filter->joints[i];
        if (drives && world->state.joints[joint->joint].extent == CAIRN_JOINT_DRIVEN) {
            continue;
        }
        if ((moving[joint->body_a] | moving[joint->body_b]) != 0) {
            edges[count++] = (cairn_constraint_edge){.element = joint->joint,
                .body_a = joint->body_a,
                .body_b = joint->body_b,
                .kind = world->state.joints[joint->joint].kind,
                .colour = CAIRN_COLOUR_NONE};
        }
    }
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

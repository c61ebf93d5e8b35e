// SPDX-License-Identifier: MIT
#include "sim/collide/mesh_contact.h"

#include "base/assert.h"
#include "sim/collide/contact_points.h"
#include "sim/math/limits.h"
#include "sim/state/hash_cache.h"

// The manifolds are recycled while no point of the shape has moved farther than this in the frame
// of the mesh, m, or than this fraction of its minimum extent. Another part of the mesh may come
// near in the meantime, so it is well inside the contact margin.
#define RECYCLING_DISTANCE 0.005f
#define RECYCLING_FRACTION 0.05f
// Nor if the mesh itself has rotated by more than 0.1 degrees: of half the angle.
#define RECYCLING_COSINE 0.9999996f
// Impulses pass to a manifold whose normal is within 26 degrees.
#define SAME_NORMAL_COSINE 0.9f

// Bounds how far any point of the shape that is no mesh has moved in the frame of the mesh since
// the points of the contact were computed.
static bool may_recycle(
    const cairn_world *world, const cairn_contact *contact, const cairn_pair_pose *pose) {
    const uint32_t shape_a = cairn_id_index(contact->shape_a);
    const uint32_t shape_b = cairn_id_index(contact->shape_b);
    const bool mesh_first = world->state.shapes[shape_a].geometry.mesh != 0;
    const cairn_quat a0 = packed_rotation_unpack(contact->reference_rotation_a);
    const cairn_quat b0 = packed_rotation_unpack(contact->reference_rotation_b);
    const cairn_quat frame0 = mesh_first ? a0 : b0;
    const cairn_quat frame = mesh_first ? pose->body_rotation_a : pose->body_rotation_b;
    // The normals of the solver's manifolds are those of a mesh that has not rotated since.
    if (float_abs(frame0.x * frame.x + frame0.y * frame.y + frame0.z * frame.z +
                  frame0.w * frame.w) <= RECYCLING_COSINE) {
        return false;
    }
    const cairn_vec3 dp = vec3_sub(quat_rotate_inverse(frame, pose->displacement),
        quat_rotate_inverse(frame0, contact->reference_displacement));
    const cairn_quat relative0 = quat_multiply(quat_conjugate(frame0), mesh_first ? b0 : a0);
    const cairn_quat relative = quat_multiply(
        quat_conjugate(frame), mesh_first ? pose->body_rotation_b : pose->body_rotation_a);
    const cairn_quat dq = quat_multiply(quat_conjugate(relative0), relative);
    const cairn_pair_cache *cache = world->pair_cache;
    const float radius =
        cache->bounding_radii[cairn_id_index(mesh_first ? contact->body_b : contact->body_a)];
    const float extent = cache->minimum_extents[mesh_first ? shape_b : shape_a];
    return vec3_length(dp) + 2.0f * radius * vec3_length(quat_vector(dq)) <=
           float_min(RECYCLING_DISTANCE, RECYCLING_FRACTION * extent);
}

// The contacts of a pair before they are replaced.
typedef struct old_contacts {
    uint32_t count;
    uint32_t taken;      // bit set: impulses were passed on
    bool have_manifolds; // else contacts match by part
    cairn_contact contacts[CAIRN_MANIFOLD_SET_MAX];
    cairn_solver_manifold manifolds[CAIRN_MANIFOLD_SET_MAX];
} old_contacts;

// The old contact whose impulses a new one takes; CAIRN_MANIFOLD_SET_MAX: none.
static uint32_t matching(const old_contacts *old, uint32_t part, cairn_vec3 normal) {
    if (!old->have_manifolds) {
        return part < old->count ? part : CAIRN_MANIFOLD_SET_MAX;
    }
    uint32_t best = CAIRN_MANIFOLD_SET_MAX;
    float closest = SAME_NORMAL_COSINE;
    for (uint32_t i = 0; i < old->count; ++i) {
        const float cosine = vec3_dot(old->manifolds[i].normal, normal);
        if ((old->taken >> i & 1u) == 0 && cosine > closest) {
            best = i;
            closest = cosine;
        }
    }
    return best;
}

static void restore_missing(cairn_world *world, uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) {
        if (world->manifold_pool->refs[i].manifold == CAIRN_MANIFOLD_NONE) {
            cairn_manifold_pool_restore(world, i);
        }
    }
}

// Computes a contact and its solver manifold from one of the new manifolds.
static void fill(cairn_world *world, cairn_pair pair, const cairn_pair_pose *pose,
    const cairn_manifold *manifold, uint32_t part, old_contacts *old, cairn_contact *contact,
    cairn_solver_manifold *now) {
    cairn_solver_manifold_fill(world, pair, pose, manifold, now);
    const uint32_t match = matching(old, part, now->normal);
    const bool found = match < CAIRN_MANIFOLD_SET_MAX;
    const cairn_state *state = &world->state;
    const uint32_t body_a = state->shapes[pair.shape_a].body;
    const uint32_t body_b = state->shapes[pair.shape_b].body;
    *contact = (cairn_contact){.shape_a = cairn_shape_id_at(world, pair.shape_a),
        .shape_b = cairn_shape_id_at(world, pair.shape_b),
        .body_a = cairn_slot_id(state->body_ids, body_a),
        .body_b = cairn_slot_id(state->body_ids, body_b),
        .part = part,
        .margin = CAIRN_CONTACT_MARGIN + CAIRN_IMPACT_SLACK,
        .colour = found ? old->contacts[match].colour : 0};
    old->taken |= found ? 1u << match : 0;
    contact->reference_displacement = pose->displacement;
    contact->reference_rotation_a = state->reference_poses[body_a].rotation;
    contact->reference_rotation_b = state->reference_poses[body_b].rotation;
    cairn_contact_set_points(manifold, contact);
    if (found) {
        const bool pass_on = old->have_manifolds && world->def.solver == CAIRN_SOLVER_SOFT_STEP;
        cairn_contact_take_impulses(
            world, &old->contacts[match], pass_on ? &old->manifolds[match] : NULL, contact, now);
    }
}

// Replaces the contacts of the pair. The list keeps as many as it can.
static void replace(cairn_world *world, cairn_contact_edit *edit, cairn_cached_pair *entry,
    const cairn_pair_pose *pose, const cairn_manifold_set *set, old_contacts *old) {
    cairn_manifold_pool *pool = world->manifold_pool;
    uint32_t part = 0;
    for (; part < set->count && part < old->count; ++part) {
        uint32_t *index = &pool->refs[edit->next].manifold;
        *index = *index == CAIRN_MANIFOLD_NONE ? cairn_manifold_pool_take(pool) : *index;
        fill(world, entry->pair, pose, &set->manifolds[part], part, old,
            &world->state.contacts[edit->next], &pool->manifolds[*index]);
        cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACTS, edit->next);
        edit->next += 1;
    }
    for (uint32_t i = part; i < old->count; ++i) {
        cairn_contact_edit_remove_next(world, edit);
    }
    for (; part < set->count; ++part) {
        cairn_new_contact *inserted = cairn_contact_edit_insert(world, edit);
        if (inserted == NULL) {
            world->state.settings->contacts_dropped += set->count - part;
            break;
        }
        const uint32_t taken = cairn_manifold_pool_take(pool);
        fill(world, entry->pair, pose, &set->manifolds[part], part, old, &inserted->contact,
            &pool->manifolds[taken]);
        inserted->ref = cairn_contact_ref_of(&inserted->contact, taken);
    }
    entry->flags = part;
}

void cairn_mesh_contact_update(cairn_world *world, cairn_contact_edit *edit,
    cairn_cached_pair *entry, uint32_t reference_change) {
    const uint32_t count = entry->flags & CAIRN_PAIR_CONTACTS;
    CAIRN_ASSERT(count <= CAIRN_MANIFOLD_SET_MAX && entry->flags == count);
    if (count == 0 && !cairn_pair_cache_overlap(world->pair_cache, entry->pair)) {
        return;
    }
    const cairn_pair_pose pose = cairn_pair_reference_pose(world, entry->pair);
    const bool moved = (reference_change & CAIRN_REFERENCE_RESET) != CAIRN_REFERENCE_RESET;
    old_contacts old;
    old.count = count;
    old.taken = 0;
    old.have_manifolds = moved;
    if (count > 0 && moved) {
        restore_missing(world, edit->next, count);
        if (world->def.solver == CAIRN_SOLVER_SOFT_STEP &&
            may_recycle(world, &world->state.contacts[edit->next], &pose)) {
            edit->next += count;
            return;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t manifold = world->manifold_pool->refs[edit->next + i].manifold;
        old.contacts[i] = world->state.contacts[edit->next + i];
        if (moved) {
            old.manifolds[i] = world->manifold_pool->manifolds[manifold];
        }
    }
    cairn_manifold_set set;
    cairn_mesh_pair_collide(world, entry->pair, &pose, &set);
    replace(world, edit, entry, &pose, &set, &old);
}

// SPDX-License-Identifier: MIT
#include "sim/collide/manifold_pool.h"

#include <string.h>

#include "base/assert.h"
#include "sim/body/shape.h"
#include "sim/collide/collide.h"
#include "sim/collide/material.h"
#include "sim/collide/mesh_collide.h"
#include "sim/collide/pair_cache.h"
#include "sim/math/limits.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"

void cairn_manifold_pool_allocate(
    cairn_manifold_pool *pool, cairn_arena *from, const cairn_world_def *def) {
    const size_t count = (size_t)CAIRN_MANIFOLDS_PER_CONTACT * def->contact_capacity;
    pool->manifolds = cairn_arena_take(from, count, sizeof *pool->manifolds);
    pool->free_list = cairn_arena_take(from, count, sizeof *pool->free_list);
    pool->refs = cairn_arena_take(from, def->contact_capacity, sizeof *pool->refs);
    pool->refs_before = cairn_arena_take(from, def->contact_capacity, sizeof *pool->refs_before);
    pool->kept = cairn_arena_take(from, (size_t)def->contact_capacity / 64 + 2, sizeof *pool->kept);
    const size_t ranges = def->contact_capacity / CAIRN_PAIRS_PER_RANGE + 1;
    pool->ranges = cairn_arena_take(from, ranges, sizeof *pool->ranges);
    pool->blocks = cairn_arena_take(
        from, def->contact_capacity / CAIRN_PAIRS_PER_BLOCK + 1, sizeof *pool->blocks);
}

void cairn_manifold_pool_clear(cairn_world *world) {
    CAIRN_ASSERT(world->state.settings->contact_count <= world->def.contact_capacity);
    cairn_manifold_pool *pool = world->manifold_pool;
    pool->used = 0;
    pool->blocks_known = 0;
    pool->complete = false;
    pool->free_count = 0;
    pool->capacity = CAIRN_MANIFOLDS_PER_CONTACT * world->def.contact_capacity;
    for (uint32_t i = 0; i < world->state.settings->contact_count; ++i) {
        pool->refs[i] = cairn_contact_ref_of(&world->state.contacts[i], CAIRN_MANIFOLD_NONE);
    }
}

void cairn_manifold_pool_sum_refs(cairn_world *world) {
    cairn_manifold_pool *pool = world->manifold_pool;
    const uint32_t count = world->state.settings->contact_count;
    for (uint32_t i = pool->blocks_known * CAIRN_PAIRS_PER_BLOCK; i < count; ++i) {
        cairn_slot_range *range = &pool->ranges[i / CAIRN_PAIRS_PER_RANGE];
        cairn_slot_range *block = &pool->blocks[i / CAIRN_PAIRS_PER_BLOCK];
        *range = i % CAIRN_PAIRS_PER_RANGE == 0 ? CAIRN_SLOT_RANGE_NONE : *range;
        *block = i % CAIRN_PAIRS_PER_BLOCK == 0 ? CAIRN_SLOT_RANGE_NONE : *block;
        slot_range_add(range, pool->refs[i].body_a, pool->refs[i].body_b);
        slot_range_add(block, pool->refs[i].body_a, pool->refs[i].body_b);
    }
    pool->blocks_known = count / CAIRN_PAIRS_PER_BLOCK;
}

uint32_t cairn_contact_refs_skip(const cairn_world *world, uint32_t contact, uint32_t end) {
    const cairn_manifold_pool *pool = world->manifold_pool;
    const cairn_slot_marks *awake = &world->awake_set->set;
    CAIRN_ASSERT(world->awake_set->sparse && contact % CAIRN_PAIRS_PER_RANGE == 0);
    while (contact < end) {
        if (contact % CAIRN_PAIRS_PER_BLOCK == 0 &&
            !slot_range_meets(&pool->blocks[contact / CAIRN_PAIRS_PER_BLOCK], awake)) {
            contact += CAIRN_PAIRS_PER_BLOCK;
        } else if (!slot_range_meets(&pool->ranges[contact / CAIRN_PAIRS_PER_RANGE], awake)) {
            contact += CAIRN_PAIRS_PER_RANGE;
        } else {
            break;
        }
    }
    return contact;
}

cairn_contact_ref cairn_contact_ref_of(const cairn_contact *contact, uint32_t manifold) {
    return (cairn_contact_ref){.body_a = cairn_id_index(contact->body_a),
        .body_b = cairn_id_index(contact->body_b),
        .manifold = contact_is_sensor(contact) ? CAIRN_MANIFOLD_SENSOR : manifold};
}

uint32_t cairn_manifold_pool_take(cairn_manifold_pool *pool) {
    if (pool->free_count > 0) {
        pool->free_count -= 1;
        CAIRN_ASSERT(pool->free_list[pool->free_count] < pool->used);
        return pool->free_list[pool->free_count];
    }
    CAIRN_ASSERT(pool->used < pool->capacity);
    return pool->used++;
}

void cairn_manifold_pool_release(cairn_manifold_pool *pool, uint32_t manifold) {
    if (manifold < CAIRN_MANIFOLD_SENSOR) {
        CAIRN_ASSERT(manifold < pool->used && pool->free_count < pool->used);
        pool->free_list[pool->free_count++] = manifold;
    }
}

cairn_pair_pose cairn_pair_reference_pose(const cairn_world *world, cairn_pair pair) {
    CAIRN_ASSERT(pair.shape_a < pair.shape_b);
    const cairn_shape_transform *a = &world->pair_cache->transforms[pair.shape_a];
    const cairn_shape_transform *b = &world->pair_cache->transforms[pair.shape_b];
    const cairn_reference_pose *references = world->state.reference_poses;
    return (cairn_pair_pose){.displacement = vec3_clean(vec3_sub(
                                 references[b->body].position, references[a->body].position)),
        .body_rotation_a = world->pair_cache->reference_rotations[a->body],
        .body_rotation_b = world->pair_cache->reference_rotations[b->body],
        .shape_rotation_a = a->rotation,
        .shape_rotation_b = b->rotation,
        .shape_offset_a = a->offset,
        .shape_offset_b = b->offset};
}

cairn_pair_pose cairn_pair_pose_of(const cairn_world *world, cairn_pair pair,
    cairn_vec3 displacement, cairn_packed_rotation rotation_a, cairn_packed_rotation rotation_b) {
    const cairn_quat a = packed_rotation_unpack(rotation_a);
    const cairn_quat b = packed_rotation_unpack(rotation_b);
    CAIRN_ASSERT(pair.shape_a < pair.shape_b && pair.shape_b < world->state.settings->shape_slots);
    return (cairn_pair_pose){.displacement = displacement,
        .body_rotation_a = a,
        .body_rotation_b = b,
        .shape_rotation_a = cairn_pair_cache_shape_rotation(world, pair.shape_a, a),
        .shape_rotation_b = cairn_pair_cache_shape_rotation(world, pair.shape_b, b),
        .shape_offset_a = cairn_pair_cache_shape_offset(world, pair.shape_a, a),
        .shape_offset_b = cairn_pair_cache_shape_offset(world, pair.shape_b, b)};
}

static cairn_pose relative_pose(cairn_quat frame, cairn_vec3 displacement, cairn_quat rotation) {
    return (cairn_pose){.position = quat_rotate_inverse(frame, displacement),
        .rotation = quat_normalize(quat_multiply(quat_conjugate(frame), rotation))};
}

// From the frame of the mesh, which is shape b, to that of shape a.
static void transform_to_a(const cairn_pose *b_in_a, cairn_manifold *manifold) {
    manifold->normal = vec3_negate(quat_rotate(b_in_a->rotation, manifold->normal));
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        manifold->points[i].position = pose_apply(*b_in_a, manifold->points[i].position);
    }
}

static float nearest_separation(const cairn_manifold *manifold) {
    CAIRN_ASSERT(manifold->point_count >= 1);
    float nearest = manifold->points[0].separation;
    for (uint32_t i = 1; i < manifold->point_count; ++i) {
        nearest = float_min(nearest, manifold->points[i].separation);
    }
    return nearest;
}

void cairn_mesh_pair_collide(const cairn_world *world, cairn_pair pair, const cairn_pair_pose *pose,
    cairn_manifold_set *out) {
    CAIRN_ASSERT(pair_has_mesh(world, pair));
    const cairn_shape_view a = cairn_shape_view_at(world, pair.shape_a);
    const cairn_shape_view b = cairn_shape_view_at(world, pair.shape_b);
    const cairn_vec3 displacement =
        vec3_add(pose->displacement, vec3_sub(pose->shape_offset_b, pose->shape_offset_a));
    const cairn_pose b_in_a =
        relative_pose(pose->shape_rotation_a, displacement, pose->shape_rotation_b);
    const float reach = CAIRN_CONTACT_MARGIN + CAIRN_IMPACT_SLACK;
    if (a.mesh != NULL) {
        cairn_collide_mesh(a.mesh, &b, &b_in_a, reach, out);
    } else {
        const cairn_pose a_in_b = relative_pose(
            pose->shape_rotation_b, vec3_negate(displacement), pose->shape_rotation_a);
        cairn_collide_mesh(b.mesh, &a, &a_in_b, reach, out);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->count; ++i) {
        // The first point within the margin brings those that follow closely.
        if (nearest_separation(&out->manifolds[i]) <= CAIRN_CONTACT_MARGIN) {
            out->manifolds[kept] = out->manifolds[i];
            if (a.mesh == NULL) {
                transform_to_a(&b_in_a, &out->manifolds[kept]);
            }
            ++kept;
        }
    }
    out->count = kept;
}

void cairn_mesh_pair_collide_deepest(
    const cairn_world *world, cairn_pair pair, const cairn_pair_pose *pose, cairn_manifold *out) {
    cairn_manifold_set set;
    cairn_mesh_pair_collide(world, pair, pose, &set);
    out->normal = vec3(0.0f, 1.0f, 0.0f);
    out->point_count = 0;
    uint32_t best = 0;
    for (uint32_t i = 1; i < set.count; ++i) {
        const float separation = nearest_separation(&set.manifolds[i]);
        best = separation < nearest_separation(&set.manifolds[best]) ? i : best;
    }
    if (set.count > 0) {
        *out = set.manifolds[best];
    }
}

// Everything is relative to the bodies' centres, so that short distances stay exact far from the
// world's origin.
void cairn_pair_collide(const cairn_world *world, cairn_pair pair, const cairn_pair_pose *pose,
    float margin, uint32_t *axis_hint, cairn_manifold *out) {
    if (pair_has_mesh(world, pair)) {
        cairn_mesh_pair_collide_deepest(world, pair, pose, out);
        return;
    }
    const cairn_shape_view shape_a = cairn_shape_view_at(world, pair.shape_a);
    const cairn_shape_view shape_b = cairn_shape_view_at(world, pair.shape_b);
    const cairn_vec3 displacement =
        vec3_add(pose->displacement, vec3_sub(pose->shape_offset_b, pose->shape_offset_a));
    // How a ball is turned beside another ball does not matter.
    const bool balls = shape_a.geometry->kind == CAIRN_SHAPE_SPHERE &&
                       shape_b.geometry->kind == CAIRN_SHAPE_SPHERE;
    const cairn_pose b_in_a = {
        .position = quat_rotate_inverse(pose->shape_rotation_a, displacement),
        .rotation = balls ? quat_identity()
                          : quat_normalize(quat_multiply(
                                quat_conjugate(pose->shape_rotation_a), pose->shape_rotation_b))};
    cairn_collide_local(&shape_a, &shape_b, &b_in_a, margin, axis_hint, out);
    CAIRN_ASSERT(out->point_count <= CAIRN_MANIFOLD_POINTS_MAX);
}

// Whether the body carries the other one without yielding to it: where it leans, it leans for
// reasons of its own, and the contact has to follow. In a stack of equals the boxes above are part
// of why it leans.
static bool carries(const cairn_body *body, const cairn_body *other) {
    return body->kind != CAIRN_BODY_DYNAMIC ||
           body->mass > CAIRN_MANIFOLD_CARRIER_MASS_RATIO * other->mass;
}

static bool rotated_little(
    cairn_quat q0, cairn_quat q, const cairn_body *body, const cairn_body *other) {
    const float cosine = float_abs(q0.x * q.x + q0.y * q.y + q0.z * q.z + q0.w * q.w);
    // As a rule nothing has to be read of the bodies.
    return cosine > CAIRN_MANIFOLD_RECYCLING_COSINE_CARRIER ||
           (cosine > CAIRN_MANIFOLD_RECYCLING_COSINE && !carries(body, other));
}

// A bound on how far a point of the body moves when the body rotates about its centre by dq, in its
// own frame: v is the axis times the sine of half the angle, and a point p moves by 2 |v x p|. The
// box about the body matters for long bodies: a plank that rolls about its long axis hardly moves.
static float rotation_reach(const cairn_world *world, uint32_t body, cairn_quat dq) {
    const cairn_vec3 v = vec3_abs(quat_vector(dq));
    const cairn_vec3 e = world->pair_cache->half_extents[body];
    const cairn_vec3 in_box =
        vec3(v.y * e.z + v.z * e.y, v.z * e.x + v.x * e.z, v.x * e.y + v.y * e.x);
    const float in_ball = world->pair_cache->bounding_radii[body] * vec3_length(v);
    return 2.0f * float_min(in_ball, vec3_length(in_box));
}

// Whether the two points that each contact point was, one of a and one of b, are at most `limit`
// apart. The area in which two planks touch may stay as it is while their ends move.
static bool points_stay_together(
    const cairn_solver_manifold *manifold, const cairn_pair_pose *pose, float limit) {
    const cairn_quat dq_a =
        quat_multiply(pose->body_rotation_a, quat_conjugate(manifold->rotation_a));
    const cairn_quat dq_b =
        quat_multiply(pose->body_rotation_b, quat_conjugate(manifold->rotation_b));
    const uint32_t count = (uint32_t)manifold->point_count;
    CAIRN_ASSERT(count <= CAIRN_MANIFOLD_POINTS_MAX);
    bool together = true;
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_vec3 on_a = quat_rotate(dq_a, manifold->points[i].arm_a);
        const cairn_vec3 on_b =
            vec3_add(pose->displacement, quat_rotate(dq_b, manifold->points[i].arm_b));
        together = together && vec3_distance(on_a, on_b) <= limit;
    }
    return together;
}

// Bounds how far any point of the body with the smaller bounding radius has moved in the frame of
// the other: the displacement of its centre plus what its relative rotation adds. If that is within
// the margin, no point can have come into contact that was not near it, and the contact points
// alone decide.
bool cairn_solver_manifold_can_recycle(const cairn_world *world, const cairn_contact *contact,
    const cairn_solver_manifold *manifold, const cairn_pair_pose *pose) {
    const cairn_quat a0 = manifold->rotation_a;
    const cairn_quat b0 = manifold->rotation_b;
    const cairn_body *body_a = &world->state.bodies[cairn_id_index(contact->body_a)];
    const cairn_body *body_b = &world->state.bodies[cairn_id_index(contact->body_b)];
    if (!rotated_little(a0, pose->body_rotation_a, body_a, body_b) ||
        !rotated_little(b0, pose->body_rotation_b, body_b, body_a)) {
        return false;
    }
    const uint32_t a = cairn_id_index(contact->body_a);
    const uint32_t b = cairn_id_index(contact->body_b);
    const float radius_a = world->pair_cache->bounding_radii[a];
    const float radius_b = world->pair_cache->bounding_radii[b];
    CAIRN_ASSERT(radius_a >= 0.0f && radius_b >= 0.0f);
    const bool a_larger = radius_a >= radius_b;
    const cairn_quat larger_q0 = a_larger ? a0 : b0;
    const cairn_quat larger_q = a_larger ? pose->body_rotation_a : pose->body_rotation_b;
    const cairn_vec3 dp = vec3_sub(quat_rotate_inverse(larger_q, pose->displacement),
        quat_rotate_inverse(larger_q0, contact->reference_displacement));
    const cairn_quat relative_q0 = quat_multiply(quat_conjugate(a0), b0);
    const cairn_quat relative_q =
        quat_multiply(quat_conjugate(pose->body_rotation_a), pose->body_rotation_b);
    const cairn_quat dq = a_larger ? quat_multiply(quat_conjugate(relative_q0), relative_q)
                                   : quat_multiply(relative_q, quat_conjugate(relative_q0));
    const float distance = vec3_length(dp) + rotation_reach(world, a_larger ? b : a, dq);
    const float *minimum_extents = world->pair_cache->minimum_extents;
    const float minimum_extent = float_min(minimum_extents[cairn_id_index(contact->shape_a)],
        minimum_extents[cairn_id_index(contact->shape_b)]);
    const bool is_area = contact->point_count == CAIRN_MANIFOLD_POINTS_MAX;
    const float fraction =
        is_area ? CAIRN_MANIFOLD_RECYCLING_FRACTION_AREA : CAIRN_MANIFOLD_RECYCLING_FRACTION;
    const float limit = float_min(CAIRN_MANIFOLD_RECYCLING_DISTANCE, fraction * minimum_extent);
    return distance <= limit ||
           (distance <= CAIRN_CONTACT_MARGIN && points_stay_together(manifold, pose, limit));
}

// What most contacts do without.
static void fill_material(const cairn_shape *shape_a, const cairn_shape *shape_b,
    const cairn_pair_pose *pose, cairn_solver_manifold *out) {
    const cairn_contact_material material = cairn_contact_material_of(shape_a, shape_b);
    out->friction = material.friction;
    out->restitution = material.restitution;
    out->static_friction = float_max(material.static_friction, CAIRN_FRICTION_LEAST);
    out->rolling_resistance = material.rolling_resistance;
    out->spin_resistance = material.spin_resistance;
    out->surface_velocity = vec3_sub(quat_rotate(pose->body_rotation_b, shape_b->surface_velocity),
        quat_rotate(pose->body_rotation_a, shape_a->surface_velocity));
}

void cairn_solver_manifold_fill(const cairn_world *world, cairn_pair pair,
    const cairn_pair_pose *pose, const cairn_manifold *manifold, cairn_solver_manifold *out) {
    const cairn_shape *shape_a = &world->state.shapes[pair.shape_a];
    const cairn_shape *shape_b = &world->state.shapes[pair.shape_b];
    CAIRN_ASSERT(manifold->point_count >= 1);
    CAIRN_ASSERT(manifold->point_count <= CAIRN_MANIFOLD_POINTS_MAX);
    *out = (cairn_solver_manifold){
        .normal = vec3_normalize(
            quat_rotate(pose->shape_rotation_a, manifold->normal), vec3(0.0f, 1.0f, 0.0f)),
        .point_count = (float)manifold->point_count,
        .friction = float_sqrt(shape_a->friction * shape_b->friction),
        .restitution = float_max(shape_a->restitution, shape_b->restitution),
        .rotation_a = pose->body_rotation_a,
        .rotation_b = pose->body_rotation_b};
    if (!material_is_plain(shape_a) || !material_is_plain(shape_b)) {
        fill_material(shape_a, shape_b, pose, out);
    }
    for (uint32_t i = 0; i < manifold->point_count; ++i) {
        const cairn_manifold_point *point = &manifold->points[i];
        const cairn_vec3 arm =
            vec3_add(pose->shape_offset_a, quat_rotate(pose->shape_rotation_a, point->position));
        out->points[i] = (cairn_solver_manifold_point){.arm_a = arm,
            .arm_b = vec3_sub(arm, pose->displacement),
            .separation = point->separation};
    }
}

static cairn_quat rotation_since(const cairn_motion *motion, cairn_quat q0) {
    return quat_multiply(motion->rotation, quat_conjugate(q0));
}

void cairn_solver_manifold_to_world(const cairn_world *world, const cairn_solver_manifold *manifold,
    uint32_t body_a, uint32_t body_b, cairn_manifold *out) {
    CAIRN_ASSERT(body_a < world->state.settings->body_slots);
    CAIRN_ASSERT(body_b < world->state.settings->body_slots);
    const cairn_motion *a = &world->state.motions[body_a];
    const cairn_motion *b = &world->state.motions[body_b];
    const cairn_quat dq_a = rotation_since(a, manifold->rotation_a);
    const cairn_quat dq_b = rotation_since(b, manifold->rotation_b);
    const cairn_vec3 displacement = vec3_sub(b->position, a->position);
    out->normal = manifold->normal;
    out->point_count = (uint32_t)manifold->point_count;
    CAIRN_ASSERT(out->point_count <= CAIRN_MANIFOLD_POINTS_MAX);
    for (uint32_t i = 0; i < out->point_count; ++i) {
        const cairn_solver_manifold_point *point = &manifold->points[i];
        const cairn_vec3 on_a = quat_rotate(dq_a, point->arm_a);
        const cairn_vec3 on_b = vec3_add(displacement, quat_rotate(dq_b, point->arm_b));
        const cairn_vec3 middle = vec3_scale(vec3_add(on_a, on_b), 0.5f);
        out->points[i] = (cairn_manifold_point){.position = vec3_add(a->position, middle),
            .separation = point->separation + vec3_dot(out->normal, vec3_sub(on_b, on_a))};
    }
}

// The manifold that became this part of the contacts with a mesh.
static void collide_part(const cairn_world *world, cairn_pair pair, const cairn_pair_pose *pose,
    uint32_t part, cairn_manifold *out) {
    cairn_manifold_set set;
    cairn_mesh_pair_collide(world, pair, pose, &set);
    *out = (cairn_manifold){.normal = {.y = 1.0f}};
    if (part < set.count) {
        *out = set.manifolds[part];
    }
}

// Takes the points that the contact has, in its order. Missing ones are put out of reach.
static void keep_points(
    const cairn_manifold *manifold, const cairn_contact *contact, cairn_manifold *kept) {
    uint32_t at = 0;
    *kept = (cairn_manifold){.normal = manifold->normal};
    for (uint32_t i = 0; i < contact->point_count; ++i, ++at) {
        while (at < manifold->point_count &&
               manifold->points[at].feature != contact->points[i].feature) {
            ++at;
        }
        if (at < manifold->point_count) {
            const cairn_manifold_point *point = &manifold->points[at];
            cairn_manifold_add(kept, point->position, point->separation, point->feature);
        } else {
            cairn_manifold_add(kept, vec3_zero(), CAIRN_VALID_DISTANCE, 0);
        }
    }
}

// Collides the pair at the poses and with the margin that the contact stores. The axis hint is one
// that the narrow phase returned, so it returns the same hint and the same points again; those that
// the contact left out are left out again. A decoded state that no step made may store points that
// there are not: they are out of reach, because the solver needs as many as the contact has.
void cairn_contact_compute_manifold(
    const cairn_world *world, const cairn_contact *contact, cairn_solver_manifold *out) {
    const cairn_pair pair = {
        .shape_a = cairn_id_index(contact->shape_a), .shape_b = cairn_id_index(contact->shape_b)};
    const cairn_pair_pose pose = cairn_pair_pose_of(world, pair, contact->reference_displacement,
        contact->reference_rotation_a, contact->reference_rotation_b);
    uint32_t axis_hint = contact->axis_hint;
    cairn_manifold manifold;
    CAIRN_ASSERT(!contact_is_sensor(contact));
    if (pair_has_mesh(world, pair)) {
        collide_part(world, pair, &pose, contact->part, &manifold);
    } else {
        cairn_pair_collide(world, pair, &pose, contact->margin, &axis_hint, &manifold);
    }
    cairn_manifold kept;
    keep_points(&manifold, contact, &kept);
    cairn_solver_manifold_fill(world, pair, &pose, &kept, out);
}

void cairn_manifold_pool_restore(cairn_world *world, uint32_t contact) {
    cairn_manifold_pool *pool = world->manifold_pool;
    CAIRN_ASSERT(contact < world->state.settings->contact_count);
    CAIRN_ASSERT(pool->refs[contact].manifold == CAIRN_MANIFOLD_NONE);
    const uint32_t taken = cairn_manifold_pool_take(pool);
    cairn_contact_compute_manifold(world, &world->state.contacts[contact], &pool->manifolds[taken]);
    pool->refs[contact].manifold = taken;
}

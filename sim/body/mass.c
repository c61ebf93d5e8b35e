// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/body/lock.h"
#include "sim/body/shape.h"
#include "sim/state/hash_cache.h"

// A body lighter than this counts as one without mass: the inverse would leave the range of float.
#define MASS_MIN 1e-20f

// A shape's mass, its centre and inertia (about that centre) in the body's frame.
static cairn_mass shape_mass(const cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_SHAPES, slot));
    const cairn_shape *shape = &world->state.shapes[slot];
    const cairn_shape_view view = cairn_shape_view_at(world, slot);
    cairn_mass mass = cairn_shape_view_mass(&view, shape->density);
    const cairn_sym3 turned =
        sym3_rotate(sym3_of(mass.inertia), mat3_of_quat(shape->pose.rotation));
    mass.centre = pose_apply(shape->pose, mass.centre);
    mass.inertia[0] = turned.xx;
    mass.inertia[1] = turned.yy;
    mass.inertia[2] = turned.zz;
    mass.inertia[3] = turned.xy;
    mass.inertia[4] = turned.xz;
    mass.inertia[5] = turned.yz;
    return mass;
}

static bool has_mass(const cairn_world *world, uint32_t slot) {
    return (world->state.shapes[slot].flags & CAIRN_SHAPE_SENSOR) == 0;
}

cairn_mass_sum cairn_body_sum_of_shapes(const cairn_world *world, uint32_t slot) {
    cairn_mass_sum sum = {.mass = 0.0f};
    cairn_vec3 moment = vec3_zero();
    for (uint32_t i = world->shape_first[slot]; i != 0; i = world->shape_next[i - 1]) {
        CAIRN_ASSERT(world->state.shapes[i - 1].body == slot);
        if (!has_mass(world, i - 1)) {
            continue;
        }
        const cairn_mass mass = shape_mass(world, i - 1);
        sum.mass += mass.mass;
        moment = vec3_add_scaled(moment, mass.centre, mass.mass);
    }
    if (sum.mass > MASS_MIN) {
        sum.centre = vec3_scale(moment, 1.0f / sum.mass);
    }
    for (uint32_t i = world->shape_first[slot]; i != 0; i = world->shape_next[i - 1]) {
        if (!has_mass(world, i - 1)) {
            continue;
        }
        const cairn_mass mass = shape_mass(world, i - 1);
        const cairn_vec3 offset = vec3_sub(mass.centre, sum.centre);
        sum.inertia = sym3_add(sum.inertia, sym3_of(mass.inertia));
        sum.inertia = sym3_add(sum.inertia, sym3_parallel_axis(mass.mass, offset));
    }
    return sum;
}

void cairn_body_update_mass(cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot));
    cairn_body *body = &world->state.bodies[slot];
    cairn_motion *motion = &world->state.motions[slot];
    cairn_mass_sum sum = {.mass = 0.0f};
    if (body_kind(body) == CAIRN_BODY_DYNAMIC) {
        sum = cairn_body_sum_of_shapes(world, slot);
    }
    cairn_hash_cache_mark_body(world, slot);
    const cairn_vec3 before = motion->position;
    cairn_body_reset_reference_pose(world, slot);
    if ((body->flags & CAIRN_BODY_MASS_SET) == 0) {
        body->mass = sum.mass > MASS_MIN ? sum.mass : 0.0f;
        body->inverse_inertia = sym3_clean(sym3_inverse_scaled(sum.inertia));
        body->centre = vec3_clean(sum.centre);
    }
    const bool movable = body->kind == CAIRN_BODY_DYNAMIC && body->mass > MASS_MIN;
    body->inverse_mass = movable ? 1.0f / body->mass : 0.0f;
    CAIRN_ASSERT(body->inverse_mass >= 0.0f);
    motion->position =
        vec3_clean(vec3_add(motion->origin, quat_rotate(motion->rotation, body->centre)));
    // The stored velocity is that of the centre of mass, which is now another point of the body.
    const cairn_vec3 moved = vec3_sub(motion->position, before);
    motion->linear_velocity = vec3_clean(lock_linear(body->flags,
        vec3_add(motion->linear_velocity, vec3_cross(motion->angular_velocity, moved))));
}

// SPDX-License-Identifier: MIT
#include "sim/body/gyroscopic.h"

#include "base/assert.h"
#include "sim/math/rotation.h"

// Newton steps for the mean angular velocity. The first guess is the angular velocity at the start.
// At 100 rad/s three steps leave so much that a body gains 9 % of its energy in a minute. From
// 200 rad/s on, where a substep turns a body by a radian, the first steps may miss: 6 and no more
// would double the energy in ten seconds, so they go on until they agree.
#define NEWTON_STEPS 6
#define NEWTON_STEPS_MAX 48
#define NEWTON_ERROR_SQUARED 1e-11f // relative to the momentum

bool cairn_gyroscopic_prepare(const cairn_world *world, uint32_t slot, cairn_gyroscopic *out) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot));
    const cairn_body *body = &world->state.bodies[slot];
    const uint32_t angular = CAIRN_LOCK_ANGULAR_X | CAIRN_LOCK_ANGULAR_Y | CAIRN_LOCK_ANGULAR_Z;
    if (body->gyroscopic == 0 || (body->flags & angular) != 0) {
        return false;
    }
    const cairn_quat rotation = world->state.motions[slot].rotation;
    *out = (cairn_gyroscopic){.inertia = sym3_inverse_scaled(body->inverse_inertia),
        .inverse_inertia = body->inverse_inertia,
        .rotation0 = rotation,
        .rotation = rotation};
    const cairn_sym3 *inertia = &out->inertia;
    return inertia->xx > 0.0f && inertia->yy > 0.0f && inertia->zz > 0.0f;
}

// A symmetric matrix times a world vector, with the matrix in body axes.
static cairn_vec3 apply_in_body(cairn_sym3 matrix, cairn_quat rotation, cairn_vec3 v) {
    return quat_rotate(rotation, sym3_apply(matrix, quat_rotate_inverse(rotation, v)));
}

// False for NaN.
static bool valid(cairn_vec3 angular_velocity) {
    return vec3_length_squared(angular_velocity) < CAIRN_VALID_SPEED * CAIRN_VALID_SPEED;
}

// J = I - h / 2 [L' x], the derivative of I m - (L + L') / 2 by m. Its determinant is positive.
static cairn_mat3 derivative_of(cairn_sym3 inertia, cairn_vec3 momentum, float h) {
    const cairn_mat3 cross = mat3_cross(momentum);
    const cairn_mat3 full = sym3_full(inertia);
    return (cairn_mat3){.x = vec3_sub_scaled(full.x, cross.x, 0.5f * h),
        .y = vec3_sub_scaled(full.y, cross.y, 0.5f * h),
        .z = vec3_sub_scaled(full.z, cross.z, 0.5f * h)};
}

cairn_vec3 cairn_gyroscopic_begin(
    cairn_gyroscopic *gyroscopic, cairn_vec3 angular_velocity, float h) {
    CAIRN_ASSERT(h > 0.0f);
    const cairn_sym3 inertia = gyroscopic->inertia;
    const cairn_quat rotation = gyroscopic->rotation;
    const cairn_vec3 start = quat_rotate_inverse(rotation, angular_velocity);
    // Within a step the momentum is carried on: inertia and inverse inertia are rounded, so each
    // way from velocity to momentum and back changes it by the same small part.
    const cairn_vec3 added = vec3_sub(angular_velocity, gyroscopic->end);
    gyroscopic->momentum =
        gyroscopic->continues
            ? vec3_add(gyroscopic->momentum, apply_in_body(inertia, rotation, added))
            : apply_in_body(inertia, rotation, angular_velocity);
    const cairn_vec3 momentum = quat_rotate_inverse(rotation, gyroscopic->momentum);
    cairn_vec3 mean = start;
    const float close = NEWTON_ERROR_SQUARED * vec3_length_squared(momentum);
    for (uint32_t i = 0; i < NEWTON_STEPS_MAX; ++i) {
        const cairn_vec3 later = quat_rotate_inverse(quat_of_vector(vec3_scale(mean, h)), momentum);
        const cairn_vec3 both = vec3_add(momentum, later);
        const cairn_vec3 error = vec3_sub_scaled(sym3_apply(inertia, mean), both, 0.5f);
        if (i >= NEWTON_STEPS && !(vec3_length_squared(error) > close)) {
            break;
        }
        mean = vec3_sub(mean, mat3_solve(derivative_of(inertia, later, h), error));
    }
    const cairn_vec3 world_mean = quat_rotate(rotation, mean);
    // The momentum of the heaviest bodies leaves the range of a float: such a body rotates as it
    // would without the option.
    gyroscopic->mean = vec3_select(valid(world_mean), world_mean, angular_velocity);
    return gyroscopic->mean;
}

cairn_vec3 cairn_gyroscopic_finish(
    cairn_gyroscopic *gyroscopic, cairn_vec3 angular_velocity, float h) {
    CAIRN_ASSERT(h > 0.0f);
    const cairn_vec3 added = vec3_sub(angular_velocity, gyroscopic->mean);
    const cairn_quat pushed = gyroscopic->turns ? gyroscopic->rotation : gyroscopic->rotation0;
    const cairn_vec3 momentum =
        vec3_add(gyroscopic->momentum, apply_in_body(gyroscopic->inertia, pushed, added));
    gyroscopic->rotation = quat_integrate(gyroscopic->rotation, angular_velocity, h);
    const cairn_vec3 end =
        apply_in_body(gyroscopic->inverse_inertia, gyroscopic->rotation, momentum);
    gyroscopic->momentum = momentum;
    gyroscopic->end = vec3_select(valid(end), end, angular_velocity);
    gyroscopic->continues = valid(end);
    return gyroscopic->end;
}

cairn_vec3 cairn_gyroscopic_turned_to(
    const cairn_world *world, uint32_t slot, cairn_quat rotation) {
    const cairn_vec3 w = world->state.motions[slot].angular_velocity;
    cairn_gyroscopic now;
    if (!cairn_gyroscopic_prepare(world, slot, &now)) {
        return w;
    }
    const cairn_vec3 momentum = apply_in_body(now.inertia, now.rotation, w);
    const cairn_vec3 turned = apply_in_body(now.inverse_inertia, rotation, momentum);
    return vec3_select(valid(turned), turned, w);
}

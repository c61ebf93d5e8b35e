// SPDX-License-Identifier: MIT

// Steps of another length. What contacts and joints exerted in the last step is what the next one
// starts with; it is an impulse, so it follows the length of the step. How long a body has been at
// rest is counted in steps. (Catto 2005, sections 5 and 6: cached multipliers, variable time
// steps.)

#include "base/check.h"
#include "sim/body/body.h"
#include "sim/math/limits.h"
#include "sim/state/hash_cache.h"

// Of an articulated joint the modes of its axes come after their impulses.
#define ARTICULATED_IMPULSES 3

static float scaled(float impulse, float times) {
    const float product = impulse * times + 0.0f;
    return cairn_float_finite(product) ? product : 0.0f;
}

static cairn_vec3 scaled_vector(cairn_vec3 impulse, float times) {
    return vec3(scaled(impulse.x, times), scaled(impulse.y, times), scaled(impulse.z, times));
}

static void scale_joint(cairn_joint *joint, float times) {
    joint->impulse = scaled_vector(joint->impulse, times);
    joint->relax_impulse = scaled_vector(joint->relax_impulse, times);
    joint->angular_impulse = scaled_vector(joint->angular_impulse, times);
    joint->swing_impulse = scaled(joint->swing_impulse, times);
    joint->lower_impulse = scaled(joint->lower_impulse, times);
    joint->upper_impulse = scaled(joint->upper_impulse, times);
}

static void scale_drive(const cairn_world *world, cairn_joint_drive *drive, float times) {
    const bool articulated = world->state.joints[drive->joint].extent == CAIRN_JOINT_ARTICULATED;
    const uint32_t count = articulated ? ARTICULATED_IMPULSES : CAIRN_JOINT_ROWS_MAX;
    for (uint32_t i = 0; i < count; ++i) {
        drive->impulses[i] = scaled(drive->impulses[i], times);
    }
    drive->reaction_force = scaled_vector(drive->reaction_force, times);
    drive->reaction_torque = scaled_vector(drive->reaction_torque, times);
}

static void scale_contact(cairn_contact *contact, float times) {
    for (uint32_t i = 0; i < contact->point_count; ++i) {
        contact->points[i].normal_impulse = scaled(contact->points[i].normal_impulse, times);
    }
    for (uint32_t i = 0; i < 2 * CAIRN_MANIFOLD_POINTS_MAX; ++i) {
        contact->tangent_impulse[i] = scaled(contact->tangent_impulse[i], times);
    }
}

// Of all free slots everything is zero, and stays so.
static void scale_impulses(cairn_world *world, float times) {
    const cairn_state *state = &world->state;
    for (uint32_t i = 0; i < state->settings->joint_slots; ++i) {
        scale_joint(&state->joints[i], times);
    }
    for (uint32_t i = 0; i < state->settings->joint_drive_count; ++i) {
        scale_drive(world, &state->joint_drives[i], times);
    }
    for (uint32_t i = 0; i < state->settings->contact_count; ++i) {
        scale_contact(&state->contacts[i], times);
    }
    cairn_hash_cache_mark_from(world, CAIRN_ARRAY_JOINTS, 0);
    cairn_hash_cache_mark_from(world, CAIRN_ARRAY_JOINT_DRIVES, 0);
    cairn_hash_cache_mark_from(world, CAIRN_ARRAY_CONTACTS, 0);
}

// Who has been at rest for long enough stays so, and nobody else becomes so.
static uint32_t converted(uint32_t ticks, uint32_t before, uint32_t now) {
    if (ticks == 0 || ticks >= before) {
        return ticks == 0 ? 0 : now;
    }
    const uint32_t same = (uint32_t)((uint64_t)ticks * now / before);
    return same == 0 ? 1 : same; // less than `now`, which is at least 5
}

// A velocity that leads to a target within a step; what would be faster than a body may be stays.
static void aim_again(cairn_motion *motion, float times) {
    const cairn_vec3 linear = vec3_scale(motion->linear_velocity, 1.0f / times);
    const cairn_vec3 angular = vec3_scale(motion->angular_velocity, 1.0f / times);
    if (cairn_check_vec3(linear, CAIRN_SPEED_MAX) == CAIRN_OK &&
        cairn_check_vec3(angular, CAIRN_SPEED_MAX) == CAIRN_OK) {
        motion->linear_velocity = vec3_clean(linear);
        motion->angular_velocity = vec3_clean(angular);
    }
}

static void convert_bodies(cairn_world *world, uint32_t rest_before, float times) {
    const uint32_t rest = cairn_settings_rest_ticks(world->state.settings);
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        cairn_sleep *sleep = &world->state.sleep[i];
        sleep->ticks = converted(sleep->ticks, rest_before, rest);
        sleep->stay = converted(sleep->stay, rest_before, rest);
        if ((world->state.bodies[i].flags & CAIRN_BODY_TARGET_SET) != 0) {
            aim_again(&world->state.motions[i], times);
        }
        cairn_hash_cache_mark_body(world, i);
    }
}

float cairn_world_step_rate(const cairn_world *world) {
    return world_step_rate(world);
}

cairn_status cairn_world_set_step_rate(cairn_world *world, float rate_hz) {
    if (!cairn_float_finite(rate_hz)) {
        return CAIRN_NON_FINITE;
    }
    if (rate_hz < CAIRN_STEP_RATE_HZ_MIN || rate_hz > CAIRN_STEP_RATE_HZ_MAX) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const float before = world_step_rate(world);
    if (rate_hz != before) {
        const uint32_t rest_before = cairn_settings_rest_ticks(world->state.settings);
        world->state.settings->present_step_rate_hz = rate_hz;
        scale_impulses(world, before / rate_hz);
        convert_bodies(world, rest_before, before / rate_hz);
    }
    return CAIRN_OK;
}

// SPDX-License-Identifier: MIT

// The bodies of the substep solver, CAIRN_LANES side by side: from the block into rows, through the
// substeps, and back into the block.

#include "sim/limits.h"
#include "sim/soft_step/body_gather.h"

// Rows within a cairn_body, by float.
#define BODY_FORCES 3  // force, torque
#define BODY_CENTRE 4  // the centre is in lanes 5 to 7
#define BODY_MASSES 12 // mass, inverse mass, inverse inertia
#define BODY_RATES 15  // dampings and gravity scale are in lanes 5 to 7

_Static_assert(offsetof(cairn_body, force) == 4 * BODY_FORCES, "a row begins here");
_Static_assert(offsetof(cairn_body, centre) == 4 * (BODY_CENTRE + 5), "lanes 5 to 7");
_Static_assert(offsetof(cairn_body, mass) == 4 * BODY_MASSES, "a row begins here");
_Static_assert(offsetof(cairn_body, linear_damping) == 4 * (BODY_RATES + 5), "lanes 5 to 7");
_Static_assert(sizeof(cairn_body) == 4 * (BODY_RATES + 8), "the last row ends with the struct");

// All ones where every component is within the limit; NaN is not.
static lanes_mask within3(lanes3 value, float limit) {
    const lanes bound = lanes_all(limit);
    const lanes low = lanes_all(-limit);
    return lanes_less(low, value.x) & lanes_less(value.x, bound) & lanes_less(low, value.y) &
           lanes_less(value.y, bound) & lanes_less(low, value.z) & lanes_less(value.z, bound);
}

static void store_lost(
    cairn_solver_context const *context, uint32_t begin, uint32_t live, lanes_mask sound) {
    int32_t flags[CAIRN_LANES];
    memcpy(flags, &sound, sizeof flags);
    for (uint32_t i = 0; i < live; ++i) {
        context->invalid[begin + i] = flags[i] != 0 ? 0 : 1;
    }
}

// ---- from the block

// R I R^T, in the order of sym3_rotate.
static lanes_sym3 turn_inertia(lanes_sym3 i, lanes_mat3 r) {
    const lanes3 x = lanes_sym3_apply(i, r.x);
    const lanes3 y = lanes_sym3_apply(i, r.y);
    const lanes3 z = lanes_sym3_apply(i, r.z);
    return (lanes_sym3){.xx = lanes3_dot(r.x, x),
        .yy = lanes3_dot(r.y, y),
        .zz = lanes3_dot(r.z, z),
        .xy = lanes3_dot(r.x, y),
        .xz = lanes3_dot(r.x, z),
        .yz = lanes3_dot(r.y, z)};
}

typedef struct fill_lanes {
    lanes speed[CAIRN_ROW_FLOATS];
    lanes inertia[CAIRN_ROW_FLOATS];
    lanes gain[CAIRN_ROW_FLOATS];
    lanes kept[CAIRN_ROW_FLOATS];
    lanes_mask sound;
} fill_lanes;

static fill_lanes fill_of(const cairn_solver_context *context, const motion_lanes *motion,
    const lanes *forces, const lanes *masses, const lanes *rates) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes h = lanes_all(context->h);
    const lanes_mat3 axes = lanes_mat3_of_quat(
        motion->first[6], motion->first[7], motion->second[0], motion->second[1]);
    const lanes_sym3 inertia = turn_inertia(
        (lanes_sym3){masses[2], masses[3], masses[4], masses[5], masses[6], masses[7]}, axes);
    const lanes3 gravity =
        lanes3_scale(lanes3_of(lanes_all(context->gravity.x), lanes_all(context->gravity.y),
                         lanes_all(context->gravity.z)),
            rates[7]);
    const lanes3 force = lanes3_of(forces[0], forces[1], forces[2]);
    const lanes3 torque = lanes3_of(forces[3], forces[4], forces[5]);
    const lanes3 gain = lanes3_scale(lanes3_add_scaled(gravity, force, masses[1]), h);
    const lanes3 spun = lanes3_scale(lanes_sym3_apply(inertia, torque), h);
    const lanes linear_kept = one / (one + h * rates[5]);
    const lanes angular_kept = one / (one + h * rates[6]);
    const lanes3 v = lanes3_of(motion->second[2], motion->second[3], motion->second[4]);
    const lanes3 w = lanes3_of(motion->second[5], motion->second[6], motion->second[7]);
    const lanes whole = lanes_all((float)context->substeps);
    return (fill_lanes){.speed = {v.x, v.y, v.z, masses[1], w.x, w.y, w.z, zero},
        .inertia = {inertia.xx, inertia.yy, inertia.zz, inertia.xy, inertia.xz, inertia.yz, zero,
            zero},
        .gain = {gain.x, gain.y, gain.z, zero, spun.x, spun.y, spun.z, zero},
        .kept = {linear_kept, linear_kept, linear_kept, one, angular_kept, angular_kept,
            angular_kept, one},
        .sound = within3(lanes3_add_scaled(v, gain, whole), CAIRN_VALID_SPEED) &
                 within3(lanes3_add_scaled(w, spun, whole), CAIRN_VALID_SPEED)};
}

static void fill(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    for (uint32_t at = begin; at < end; at += CAIRN_LANES) {
        const uint32_t live = end - at < CAIRN_LANES ? end - at : CAIRN_LANES;
        const void *motions[CAIRN_LANES];
        const void *bodies[CAIRN_LANES];
        for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
            const uint32_t slot = context->slot_of[at + (i < live ? i : 0)];
            motions[i] = &context->motions[slot];
            bodies[i] = &context->body_params[slot];
        }
        lanes forces[CAIRN_ROW_FLOATS];
        lanes masses[CAIRN_ROW_FLOATS];
        lanes rates[CAIRN_ROW_FLOATS];
        load_struct_row(bodies, BODY_FORCES, forces);
        load_struct_row(bodies, BODY_MASSES, masses);
        load_struct_row(bodies, BODY_RATES, rates);
        const motion_lanes motion = load_motions(motions);
        const fill_lanes filled = fill_of(context, &motion, forces, masses, rates);
        float rows[4][CAIRN_LANES][CAIRN_ROW_FLOATS];
        lanes_store_rows(filled.speed, rows[0]);
        lanes_store_rows(filled.inertia, rows[1]);
        lanes_store_rows(filled.gain, rows[2]);
        lanes_store_rows(filled.kept, rows[3]);
        for (uint32_t i = 0; i < live; ++i) {
            cairn_solver_body *body = &context->bodies[at + i];
            cairn_solver_integration *drive = &context->integration[at + i];
            memcpy(body->linear_velocity, rows[0][i], sizeof rows[0][i]);
            memset(body->delta_position, 0, sizeof rows[0][i]);
            memcpy(body->inverse_inertia, rows[1][i], sizeof rows[1][i]);
            memcpy(drive->velocity_change, rows[2][i], sizeof rows[2][i]);
            memcpy(drive->damping_factor, rows[3][i], sizeof rows[3][i]);
        }
        store_lost(context, at, live, filled.sound);
    }
}

// ---- through the substeps: whole rows, the inverse mass among them, which stays as it is

// Warm start without visiting a constraint: what all impulses of the last substep gave a body is
// its velocity now less the one it had before them, and the same impulses give the same again.
static void speed(const cairn_solver_context *context, uint32_t begin, uint32_t end, float again) {
    for (uint32_t i = begin; i < end; ++i) {
        float *now = context->bodies[i].linear_velocity;
        cairn_solver_integration *drive = &context->integration[i];
        float given[CAIRN_ROW_FLOATS];
        for (int k = 0; k < CAIRN_ROW_FLOATS; ++k) {
            given[k] = (now[k] - drive->unconstrained_velocity[k]) * again;
            drive->unconstrained_velocity[k] =
                (now[k] + drive->velocity_change[k]) * drive->damping_factor[k];
        }
        for (int k = 0; k < CAIRN_ROW_FLOATS; ++k) {
            now[k] = drive->unconstrained_velocity[k] + given[k];
        }
    }
}

static void integrate_velocities_first(
    const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) {
        memcpy(context->integration[i].unconstrained_velocity, context->bodies[i].linear_velocity,
            sizeof context->integration[i].unconstrained_velocity);
    }
    speed(context, begin, end, 0.0f);
}

static void integrate_velocities(
    const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    speed(context, begin, end, 1.0f);
}

static void shift(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    const float h = context->h;
    const float times[CAIRN_ROW_FLOATS] = {h, h, h, 0.0f, h, h, h, 0.0f};
    for (uint32_t i = begin; i < end; ++i) {
        const float *now = context->bodies[i].linear_velocity;
        float *gone = context->bodies[i].delta_position;
        for (int k = 0; k < CAIRN_ROW_FLOATS; ++k) {
            gone[k] += now[k] * times[k];
        }
    }
}

// ---- back into the block

// A turn by the rotation vector `turn`: its half angle's tangent, to the fifth order, times its
// axis, beside 1; not of unit length.
static lanes_quat quat_of_turn(lanes3 turn) {
    const lanes square = lanes3_dot(turn, turn);
    const lanes factor =
        lanes_all(0.5f) + square * (lanes_all(1.0f / 24.0f) + square * lanes_all(1.0f / 240.0f));
    return (lanes_quat){turn.x * factor, turn.y * factor, turn.z * factor, lanes_all(1.0f)};
}

// a b, made unit.
static lanes_quat turned(lanes_quat a, lanes_quat b) {
    const lanes_quat q = {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
    const lanes inverse =
        lanes_all(1.0f) / lanes_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return (lanes_quat){q.x * inverse, q.y * inverse, q.z * inverse, q.w * inverse};
}

// +0 for -0: what is stored in state.
static lanes3 clean3(lanes3 v) {
    const lanes zero = lanes_all(0.0f);
    return lanes3_of(v.x + zero, v.y + zero, v.z + zero);
}

typedef struct finish_lanes {
    lanes first[CAIRN_ROW_FLOATS];
    lanes second[CAIRN_ROW_FLOATS];
    lanes_mask sound;
} finish_lanes;

static finish_lanes finish_of(
    const motion_lanes *motion, const lanes *speeds, const lanes *gone, const lanes *centres) {
    const lanes zero = lanes_all(0.0f);
    const lanes3 v = clean3(lanes3_of(speeds[0], speeds[1], speeds[2]));
    const lanes3 w = clean3(lanes3_of(speeds[4], speeds[5], speeds[6]));
    const lanes3 before = lanes3_of(motion->first[3], motion->first[4], motion->first[5]);
    const lanes3 position = clean3(lanes3_add(before, lanes3_of(gone[0], gone[1], gone[2])));
    const lanes_quat then = {
        motion->first[6], motion->first[7], motion->second[0], motion->second[1]};
    const lanes_quat q = turned(quat_of_turn(lanes3_of(gone[4], gone[5], gone[6])), then);
    const lanes_mat3 axes = lanes_mat3_of_quat(q.x, q.y, q.z, q.w);
    const lanes3 centre = lanes3_of(centres[5], centres[6], centres[7]);
    const lanes3 origin = clean3(lanes3_sub(position, lanes_mat3_apply(axes, centre)));
    const lanes_mask unit =
        lanes_less(lanes_all(0.81f), q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return (finish_lanes){.first = {origin.x, origin.y, origin.z, position.x, position.y,
                              position.z, q.x + zero, q.y + zero},
        .second = {q.z + zero, q.w + zero, v.x, v.y, v.z, w.x, w.y, w.z},
        .sound = unit & within3(position, CAIRN_VALID_DISTANCE) &
                 within3(origin, CAIRN_VALID_DISTANCE) & within3(v, CAIRN_VALID_SPEED) &
                 within3(w, CAIRN_VALID_SPEED)};
}

static void finish(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    for (uint32_t at = begin; at < end; at += CAIRN_LANES) {
        const uint32_t live = end - at < CAIRN_LANES ? end - at : CAIRN_LANES;
        const void *motions[CAIRN_LANES];
        const void *bodies[CAIRN_LANES];
        const void *solved[CAIRN_LANES];
        for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
            const uint32_t from = at + (i < live ? i : 0);
            motions[i] = &context->motions[context->slot_of[from]];
            bodies[i] = &context->body_params[context->slot_of[from]];
            solved[i] = &context->bodies[from];
        }
        lanes speeds[CAIRN_ROW_FLOATS];
        lanes gone[CAIRN_ROW_FLOATS];
        lanes centres[CAIRN_ROW_FLOATS];
        load_struct_row(solved, 0, speeds);
        load_struct_row(solved, CAIRN_ROW_FLOATS, gone);
        load_struct_row(bodies, BODY_CENTRE, centres);
        const motion_lanes motion = load_motions(motions);
        const finish_lanes finished = finish_of(&motion, speeds, gone, centres);
        float rows[2][CAIRN_LANES][CAIRN_ROW_FLOATS];
        lanes_store_rows(finished.first, rows[0]);
        lanes_store_rows(finished.second, rows[1]);
        store_lost(context, at, live, finished.sound);
        for (uint32_t i = 0; i < live; ++i) {
            if (context->invalid[at + i] == 0) {
                float *words = (float *)&context->motions[context->slot_of[at + i]];
                memcpy(words, rows[0][i], sizeof rows[0][i]);
                memcpy(words + CAIRN_ROW_FLOATS, rows[1][i], sizeof rows[1][i]);
            }
        }
    }
}

extern const cairn_body_passes CAIRN_KERNEL(bodies);
const cairn_body_passes CAIRN_KERNEL(bodies) = {
    .gather = fill,
    .integrate_velocities_first = integrate_velocities_first,
    .integrate_velocities = integrate_velocities,
    .integrate_positions = shift,
    .scatter = finish,
};

// SPDX-License-Identifier: MIT

// The bodies of the soft-step solver, one in each lane: gathered from the state into rows,
// integrated through the substeps, and scattered back into the state.

#include "base/assert.h"
#include "sim/body/lock.h"
#include "sim/math/limits.h"
#include "sim/math/trig.h"
#include "sim/soft_step/body_gather.h"

// Rows within a cairn_body, by float.
#define BODY_FORCES 5  // force, torque
#define BODY_CENTRE 6  // the centre is in lanes 5 to 7
#define BODY_MASSES 14 // mass, inverse mass, inverse inertia
#define BODY_RATES 17  // dampings and gravity scale are in lanes 5 to 7

_Static_assert(offsetof(cairn_body, force) == 4 * BODY_FORCES, "a row begins here");
_Static_assert(offsetof(cairn_body, centre) == 4 * (BODY_CENTRE + 5), "lanes 5 to 7");
_Static_assert(offsetof(cairn_body, mass) == 4 * BODY_MASSES, "a row begins here");
_Static_assert(offsetof(cairn_body, linear_damping) == 4 * (BODY_RATES + 5), "lanes 5 to 7");
_Static_assert(sizeof(cairn_body) >= 4 * (BODY_RATES + 8), "the last row is within the struct");

// A row of eight floats as one vector, for loops over bodies.
typedef float body_row __attribute__((vector_size(4 * CAIRN_ROW_FLOATS)));

INLINE body_row load_row(const float *row) {
    body_row out;
    memcpy(&out, row, sizeof out);
    return out;
}

INLINE void store_row(float *row, body_row value) {
    memcpy(row, &value, sizeof value);
}

// All bits of a lane where every component is within the limit; NaN is not.
static lanes_mask within3(lanes3 value, float limit) {
    const lanes bound = lanes_all(limit);
    const lanes low = lanes_all(-limit);
    return lanes_less(low, value.x) & lanes_less(value.x, bound) & lanes_less(low, value.y) &
           lanes_less(value.y, bound) & lanes_less(low, value.z) & lanes_less(value.z, bound);
}

static void store_outcome(
    cairn_solver_context const *context, uint32_t begin, uint32_t live, lanes_mask outcome) {
    CAIRN_ASSERT(live >= 1 && live <= CAIRN_LANES);
    int32_t flags[CAIRN_LANES];
    memcpy(flags, &outcome, sizeof flags);
    for (uint32_t i = 0; i < live; ++i) {
        context->outcome[begin + i] = (unsigned char)flags[i];
    }
}

// The outcome of valid bodies, and of others.
static lanes_mask outcome_of(lanes_mask valid) {
    return ~valid & CAIRN_OUTCOME_INVALID;
}

// Whether bodies moved otherwise than their velocities at the start predicted, or rotated so far
// that they may have to be swept. `sizes`: half the least width, and the turn radius.
static lanes_mask strayed(const cairn_solver_context *context, const motion_lanes *motion,
    const lanes *delta, const lanes *sizes) {
    const lanes time = lanes_all(context->h * (float)context->substeps);
    const lanes *start = &motion->second[2]; // linear, then angular velocity
    const lanes x = delta[0] - start[0] * time;
    const lanes y = delta[1] - start[1] * time;
    const lanes z = delta[2] - start[2] * time;
    const lanes u = delta[4] - start[3] * time;
    const lanes v = delta[5] - start[4] * time;
    const lanes w = delta[6] - start[5] * time;
    const lanes turn = delta[4] * delta[4] + delta[5] * delta[5] + delta[6] * delta[6];
    const lanes aside = lanes_sqrt(x * x + y * y + z * z);
    const lanes turned = lanes_sqrt(u * u + v * v + w * w);
    const lanes limit =
        lanes_max(lanes_all(CAIRN_STRAY_DISTANCE), sizes[0] * lanes_all(CAIRN_STRAY_FRACTION));
    const lanes_mask any = lanes_less(limit, aside + turned * sizes[1]) |
                           lanes_less(lanes_all(CAIRN_SWEEP_TURN * CAIRN_SWEEP_TURN), turn);
    return any & CAIRN_OUTCOME_STRAYED;
}

// ---- from the state

typedef struct gathered_lanes {
    lanes velocity[CAIRN_ROW_FLOATS];
    lanes inertia[CAIRN_ROW_FLOATS];
    lanes velocity_change[CAIRN_ROW_FLOATS];
    lanes damping[CAIRN_ROW_FLOATS];
    lanes_mask valid;
} gathered_lanes;

static gathered_lanes compute_gathered(const cairn_solver_context *context,
    const motion_lanes *motion, const lanes *forces, const lanes *masses, const lanes *rates) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes h = lanes_all(context->h);
    const lanes_quat q = motion_rotation(motion);
    const lanes_mat3 axes = lanes_mat3_of_quat(q.x, q.y, q.z, q.w);
    const lanes_sym3 inertia = lanes_sym3_rotate(
        (lanes_sym3){masses[2], masses[3], masses[4], masses[5], masses[6], masses[7]}, axes);
    const lanes3 gravity =
        lanes3_scale(lanes3_of(lanes_all(context->gravity.x), lanes_all(context->gravity.y),
                         lanes_all(context->gravity.z)),
            rates[7]);
    const lanes3 force = lanes3_of(forces[0], forces[1], forces[2]);
    const lanes3 torque = lanes3_of(forces[3], forces[4], forces[5]);
    const lanes3 velocity_change = lanes3_scale(lanes3_add_scaled(gravity, force, masses[1]), h);
    const lanes3 angular_change = lanes3_scale(lanes_sym3_apply(inertia, torque), h);
    const lanes linear_damping = one / (one + h * rates[5]);
    const lanes angular_damping = one / (one + h * rates[6]);
    const lanes3 v = lanes3_of(motion->second[2], motion->second[3], motion->second[4]);
    const lanes3 w = lanes3_of(motion->second[5], motion->second[6], motion->second[7]);
    const lanes substeps = lanes_all((float)context->substeps);
    return (gathered_lanes){.velocity = {v.x, v.y, v.z, masses[1], w.x, w.y, w.z, zero},
        .inertia = {inertia.xx, inertia.yy, inertia.zz, inertia.xy, inertia.xz, inertia.yz, zero,
            zero},
        .velocity_change = {velocity_change.x, velocity_change.y, velocity_change.z, zero,
            angular_change.x, angular_change.y, angular_change.z, zero},
        .damping = {linear_damping, linear_damping, linear_damping, one, angular_damping,
            angular_damping, angular_damping, one},
        .valid = within3(lanes3_add_scaled(v, velocity_change, substeps), CAIRN_VALID_SPEED) &
                 within3(lanes3_add_scaled(w, angular_change, substeps), CAIRN_VALID_SPEED)};
}

// Takes from a gathered body what its locks forbid.
static void apply_locks(const cairn_body *params, float h, cairn_solver_body *body,
    cairn_solver_integration *integration) {
    const cairn_sym3 inertia = lock_inertia(params->flags, sym3_of(body->inverse_inertia));
    const cairn_vec3 turn = vec3_scale(sym3_apply(inertia, params->torque), h);
    const float six[6] = {inertia.xx, inertia.yy, inertia.zz, inertia.xy, inertia.xz, inertia.yz};
    memcpy(body->inverse_inertia, six, sizeof six);
    body->linear_locks = params->flags & 7u;
    for (uint32_t k = 0; k < 3; ++k) {
        const bool linear = (params->flags >> k & 1u) != 0;
        const bool angular = (params->flags >> (3 + k) & 1u) != 0;
        body->linear_velocity[k] = linear ? 0.0f : body->linear_velocity[k];
        body->angular_velocity[k] = angular ? 0.0f : body->angular_velocity[k];
        integration->velocity_change[k] = linear ? 0.0f : integration->velocity_change[k];
        integration->velocity_change[4 + k] = angular ? 0.0f : vec3_component(turn, k);
    }
}

static void gather(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end && end <= context->moving_count);
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
        const gathered_lanes gathered = compute_gathered(context, &motion, forces, masses, rates);
        float unused[4][CAIRN_ROW_FLOATS];
        float *rows[4][CAIRN_LANES];
        for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
            cairn_solver_body *body = &context->bodies[at + (i < live ? i : 0)];
            cairn_solver_integration *integration = &context->integration[at + (i < live ? i : 0)];
            rows[0][i] = i < live ? body->linear_velocity : unused[0];
            rows[1][i] = i < live ? body->inverse_inertia : unused[1];
            rows[2][i] = i < live ? integration->velocity_change : unused[2];
            rows[3][i] = i < live ? integration->damping_factor : unused[3];
            store_row(body->delta_position, (body_row){0.0f});
        }
        lanes_scatter_rows(gathered.velocity, rows[0]);
        lanes_scatter_rows(gathered.inertia, rows[1]);
        lanes_scatter_rows(gathered.velocity_change, rows[2]);
        lanes_scatter_rows(gathered.damping, rows[3]);
        for (uint32_t i = 0; i < live; ++i) {
            const cairn_body *params = bodies[i];
            if ((params->flags & CAIRN_LOCKS_ALL) != 0) {
                apply_locks(
                    params, context->h, &context->bodies[at + i], &context->integration[at + i]);
                atomic_store_explicit(context->locks_found, CAIRN_HAS_LOCKS, memory_order_relaxed);
            }
            if (context->sleep[context->slot_of[at + i]].squeeze != 0.0f) {
                atomic_store_explicit(context->squeezed_found, 1, memory_order_relaxed);
            }
        }
        store_outcome(context, at, live, outcome_of(gathered.valid));
    }
}

// ---- through the substeps: by whole rows; the inverse mass is part of a row and stays unchanged

static bool any_restitution(const cairn_solver_context *context) {
    return atomic_load_explicit(context->restitution_found, memory_order_relaxed) != 0;
}

// The motion of links is found from all of their velocity before the impacts.
static bool is_no_link(const cairn_solver_body *body) {
    return body->closing == 0.0f;
}

// Integrates forces and damping. With warm_start 1 it also applies the impulses of the last substep
// again, without visiting a constraint: the velocity that they gave the body is its velocity now
// less its unconstrained velocity. The first substep has no such impulses and passes 0. Where there
// is restitution they wait for the impacts (end_impacts): an impulse with which a joint or a
// contact passed a bounce on is no reason for a bounce in the next substep. Four bodies on ball
// joints that fell with a restitution of 0.3 could get a hundred thousand times their energy.
static void integrate_with_warm_start(
    const cairn_solver_context *context, uint32_t begin, uint32_t end, float warm_start) {
    CAIRN_ASSERT(begin <= end && end <= context->moving_count);
    const bool waits = any_restitution(context);
    for (uint32_t i = begin; i < end; ++i) {
        float *velocity = context->bodies[i].linear_velocity;
        cairn_solver_integration *integration = &context->integration[i];
        const body_row before = load_row(velocity);
        const body_row impulses =
            (before - load_row(integration->unconstrained_velocity)) * warm_start;
        const body_row unconstrained = (before + load_row(integration->velocity_change)) *
                                       load_row(integration->damping_factor);
        store_row(integration->unconstrained_velocity, unconstrained);
        if (waits && is_no_link(&context->bodies[i])) {
            store_row(velocity, unconstrained);
            store_row(context->waiting_impulses[i].row, impulses);
        } else {
            store_row(velocity, unconstrained + impulses);
        }
    }
}

static void end_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end && end <= context->moving_count);
    for (uint32_t i = begin; i < end; ++i) {
        float *velocity = context->bodies[i].linear_velocity;
        if (is_no_link(&context->bodies[i])) {
            store_row(velocity, load_row(velocity) + load_row(context->waiting_impulses[i].row));
        }
    }
}

static void integrate_velocities_first(
    const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) {
        memcpy(context->integration[i].unconstrained_velocity, context->bodies[i].linear_velocity,
            sizeof context->integration[i].unconstrained_velocity);
    }
    integrate_with_warm_start(context, begin, end, 0.0f);
}

static void integrate_velocities(
    const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    integrate_with_warm_start(context, begin, end, 1.0f);
}

static void begin_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end && end <= context->moving_count);
    for (uint32_t i = begin; i < end; ++i) {
        store_row(context->before_impact[i].row, load_row(context->bodies[i].linear_velocity));
    }
}

static void integrate_positions(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    const float h = context->h;
    const body_row times = {h, h, h, 0.0f, h, h, h, 0.0f};
    for (uint32_t i = begin; i < end; ++i) {
        float *delta = context->bodies[i].delta_position;
        store_row(delta, load_row(delta) + load_row(context->bodies[i].linear_velocity) * times);
    }
}

// A symmetric matrix that comes first in each of these rows.
static lanes_sym3 load_matrices(const void *const *rows, uint32_t first) {
    lanes row[CAIRN_ROW_FLOATS];
    load_struct_row(rows, first, row);
    return (lanes_sym3){row[0], row[1], row[2], row[3], row[4], row[5]};
}

// The inertia of turning bodies that have rotated by `delta` since the step began.
typedef struct turned_lanes {
    lanes_sym3 inverse_inertia;
    lanes_sym3 inertia;
} turned_lanes;

static turned_lanes turn(const void *const *turning, const lanes *delta) {
    const lanes_quat q = lanes_quat_of_vector(lanes3_of(delta[4], delta[5], delta[6]));
    const lanes_mat3 axes = lanes_mat3_of_quat(q.x, q.y, q.z, q.w);
    return (turned_lanes){.inverse_inertia = lanes_sym3_rotate(load_matrices(turning, 0), axes),
        .inertia = lanes_sym3_rotate(load_matrices(turning, CAIRN_ROW_FLOATS), axes)};
}

static void store_turned(const cairn_solver_context *context, uint32_t begin, uint32_t live,
    const lanes (*values)[CAIRN_ROW_FLOATS]) {
    float unused[CAIRN_ROW_FLOATS];
    float *rows[4][CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        cairn_turning_body *turning = &context->turning[begin + (i < live ? i : 0)];
        cairn_solver_integration *integration = &context->integration[turning->body];
        rows[0][i] = i < live ? context->bodies[turning->body].inverse_inertia : unused;
        rows[1][i] = i < live ? integration->unconstrained_velocity : unused;
        rows[2][i] = i < live ? integration->relax_change : unused;
        rows[3][i] = i < live ? turning->inertia : unused;
    }
    for (uint32_t i = 0; i < 4; ++i) {
        lanes_scatter_rows(values[i], rows[i]);
    }
}

// Impulses stay when the inertia of a body turns: the velocities that they give it do not.
static void turn_inertia(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end && end <= context->moving_count);
    for (uint32_t at = begin; at < end; at += CAIRN_LANES) {
        const uint32_t live = end - at < CAIRN_LANES ? end - at : CAIRN_LANES;
        const void *turning[CAIRN_LANES];
        const void *bodies[CAIRN_LANES];
        const void *integrations[CAIRN_LANES];
        for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
            const cairn_turning_body *entry = &context->turning[at + (i < live ? i : 0)];
            turning[i] = entry;
            bodies[i] = &context->bodies[entry->body];
            integrations[i] = &context->integration[entry->body];
        }
        lanes velocity[CAIRN_ROW_FLOATS];
        lanes delta[CAIRN_ROW_FLOATS];
        lanes masses[CAIRN_ROW_FLOATS];
        lanes unconstrained[CAIRN_ROW_FLOATS];
        lanes relaxed[CAIRN_ROW_FLOATS];
        load_struct_row(bodies, 0, velocity);
        load_struct_row(bodies, CAIRN_ROW_FLOATS, delta);
        load_struct_row(bodies, 2 * CAIRN_ROW_FLOATS, masses);
        load_struct_row(integrations, 2 * CAIRN_ROW_FLOATS, unconstrained);
        load_struct_row(integrations, 3 * CAIRN_ROW_FLOATS, relaxed);
        const lanes_sym3 before = load_matrices(turning, 2 * CAIRN_ROW_FLOATS);
        const turned_lanes now = turn(turning, delta);
        const lanes3 w = lanes3_of(velocity[4], velocity[5], velocity[6]);
        const lanes3 change =
            lanes3_sub(w, lanes3_of(unconstrained[4], unconstrained[5], unconstrained[6]));
        const lanes3 impulses =
            lanes_sym3_apply(now.inverse_inertia, lanes_sym3_apply(before, change));
        const lanes3 relax = lanes_sym3_apply(now.inverse_inertia,
            lanes_sym3_apply(before, lanes3_of(relaxed[4], relaxed[5], relaxed[6])));
        const lanes_sym3 *inverse = &now.inverse_inertia;
        const lanes_sym3 *inertia = &now.inertia;
        const lanes rows[4][CAIRN_ROW_FLOATS] = {
            {inverse->xx, inverse->yy, inverse->zz, inverse->xy, inverse->xz, inverse->yz,
                masses[6], masses[7]},
            {unconstrained[0], unconstrained[1], unconstrained[2], unconstrained[3],
                w.x - impulses.x, w.y - impulses.y, w.z - impulses.z, unconstrained[7]},
            {relaxed[0], relaxed[1], relaxed[2], relaxed[3], relax.x, relax.y, relax.z, relaxed[7]},
            {inertia->xx, inertia->yy, inertia->zz, inertia->xy, inertia->xz, inertia->yz}};
        store_turned(context, at, live, rows);
    }
}

// What the last relax pass of the joints added is no part of the impulses with which the next
// biased pass starts, but of those with which the next relax pass starts. In the first substep it
// comes from the joints.
static void hold_relax_change(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end && end <= context->moving_count);
    for (uint32_t i = begin; i < end; ++i) {
        float *velocity = context->bodies[i].linear_velocity;
        cairn_solver_integration *integration = &context->integration[i];
        const body_row unconstrained = load_row(integration->unconstrained_velocity);
        store_row(integration->relax_change, load_row(velocity) - unconstrained);
        store_row(velocity, unconstrained);
    }
}

static void begin_relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end && end <= context->moving_count);
    for (uint32_t i = begin; i < end; ++i) {
        float *velocity = context->bodies[i].linear_velocity;
        float *change = context->integration[i].relax_change;
        const body_row before = load_row(velocity);
        store_row(velocity, before + load_row(change));
        store_row(change, before);
    }
}

static void end_relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end && end <= context->moving_count);
    for (uint32_t i = begin; i < end; ++i) {
        cairn_solver_integration *integration = &context->integration[i];
        const body_row change =
            (load_row(context->bodies[i].linear_velocity) - load_row(integration->relax_change)) *
            CAIRN_RELAX_KEPT;
        store_row(integration->relax_change, change);
        store_row(integration->unconstrained_velocity,
            load_row(integration->unconstrained_velocity) + change);
    }
}

// ---- back into the state

// a b, normalized.
static lanes_quat quat_multiply_unit(lanes_quat a, lanes_quat b) {
    const lanes_quat q = {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
    const lanes inverse =
        lanes_all(1.0f) / lanes_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return (lanes_quat){q.x * inverse, q.y * inverse, q.z * inverse, q.w * inverse};
}

// +0 for -0: the state stores no negative zero.
static lanes3 without_negative_zero(lanes3 v) {
    const lanes zero = lanes_all(0.0f);
    return lanes3_of(v.x + zero, v.y + zero, v.z + zero);
}

typedef struct scattered_lanes {
    lanes first[CAIRN_ROW_FLOATS];
    lanes second[CAIRN_ROW_FLOATS];
    lanes_mask valid;
} scattered_lanes;

static scattered_lanes compute_scattered(
    const motion_lanes *motion, const lanes *velocities, const lanes *delta, const lanes *centres) {
    const lanes zero = lanes_all(0.0f);
    const lanes3 v = without_negative_zero(lanes3_of(velocities[0], velocities[1], velocities[2]));
    const lanes3 w = without_negative_zero(lanes3_of(velocities[4], velocities[5], velocities[6]));
    const lanes3 p0 = motion_position(motion);
    const lanes3 position =
        without_negative_zero(lanes3_add(p0, lanes3_of(delta[0], delta[1], delta[2])));
    const lanes_quat q0 = motion_rotation(motion);
    const lanes_quat q =
        quat_multiply_unit(lanes_quat_of_vector(lanes3_of(delta[4], delta[5], delta[6])), q0);
    const lanes_mat3 axes = lanes_mat3_of_quat(q.x, q.y, q.z, q.w);
    const lanes3 centre = lanes3_of(centres[5], centres[6], centres[7]);
    const lanes3 origin =
        without_negative_zero(lanes3_sub(position, lanes_mat3_apply(axes, centre)));
    const lanes_mask unit =
        lanes_less(lanes_all(0.81f), q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return (scattered_lanes){.first = {origin.x, origin.y, origin.z, position.x, position.y,
                                 position.z, q.x + zero, q.y + zero},
        .second = {q.z + zero, q.w + zero, v.x, v.y, v.z, w.x, w.y, w.z},
        .valid = unit & within3(position, CAIRN_VALID_DISTANCE) &
                 within3(origin, CAIRN_VALID_DISTANCE) & within3(v, CAIRN_VALID_SPEED) &
                 within3(w, CAIRN_VALID_SPEED)};
}

static void store_travels(
    const cairn_solver_context *context, uint32_t begin, uint32_t live, const lanes *delta) {
    const lanes distance =
        lanes_sqrt(delta[0] * delta[0] + delta[1] * delta[1] + delta[2] * delta[2]);
    const lanes angle = lanes_sqrt(delta[4] * delta[4] + delta[5] * delta[5] + delta[6] * delta[6]);
    float values[2][CAIRN_LANES];
    memcpy(values[0], &distance, sizeof values[0]);
    memcpy(values[1], &angle, sizeof values[1]);
    for (uint32_t i = 0; i < live; ++i) {
        const bool link = context->bodies[begin + i].closing != 0.0f;
        context->travels[begin + i] = (cairn_body_travel){
            .distance = link ? CAIRN_VALID_DISTANCE : values[0][i], .angle = values[1][i]};
    }
}

static void scatter(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end && end <= context->moving_count);
    for (uint32_t at = begin; at < end; at += CAIRN_LANES) {
        const uint32_t live = end - at < CAIRN_LANES ? end - at : CAIRN_LANES;
        const void *motions[CAIRN_LANES];
        const void *bodies[CAIRN_LANES];
        const void *solver_bodies[CAIRN_LANES];
        float widths_and_radii[2][CAIRN_LANES];
        for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
            const uint32_t from = at + (i < live ? i : 0);
            const uint32_t slot = context->slot_of[from];
            motions[i] = &context->motions[slot];
            bodies[i] = &context->body_params[slot];
            solver_bodies[i] = &context->bodies[from];
            widths_and_radii[0][i] = context->half_widths[slot];
            widths_and_radii[1][i] = context->turn_radii[slot];
        }
        lanes sizes[2];
        memcpy(sizes, widths_and_radii, sizeof sizes);
        lanes velocities[CAIRN_ROW_FLOATS];
        lanes delta[CAIRN_ROW_FLOATS];
        lanes centres[CAIRN_ROW_FLOATS];
        load_struct_row(solver_bodies, 0, velocities);
        load_struct_row(solver_bodies, CAIRN_ROW_FLOATS, delta);
        load_struct_row(bodies, BODY_CENTRE, centres);
        const motion_lanes motion = load_motions(motions);
        const scattered_lanes scattered = compute_scattered(&motion, velocities, delta, centres);
        store_outcome(context, at, live,
            outcome_of(scattered.valid) | strayed(context, &motion, delta, sizes));
        store_travels(context, at, live, delta);
        for (uint32_t i = 0; i < live; ++i) {
            const cairn_body *params = bodies[i];
            if (params->bullet != 0 && context->outcome[at + i] == 0) {
                context->outcome[at + i] = CAIRN_OUTCOME_STRAYED;
            }
        }
        float unused[2][CAIRN_ROW_FLOATS];
        float *rows[2][CAIRN_LANES];
        for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
            const bool valid = i < live && (context->outcome[at + i] & CAIRN_OUTCOME_INVALID) == 0;
            float *words = (float *)&context->motions[context->slot_of[at + (i < live ? i : 0)]];
            rows[0][i] = valid ? words : unused[0];
            rows[1][i] = valid ? words + CAIRN_ROW_FLOATS : unused[1];
        }
        lanes_scatter_rows(scattered.first, rows[0]);
        lanes_scatter_rows(scattered.second, rows[1]);
    }
}

extern const cairn_body_passes CAIRN_KERNEL(bodies);
const cairn_body_passes CAIRN_KERNEL(bodies) = {
    .gather = gather,
    .integrate_velocities_first = integrate_velocities_first,
    .integrate_velocities = integrate_velocities,
    .begin_impacts = begin_impacts,
    .end_impacts = end_impacts,
    .integrate_positions = integrate_positions,
    .turn_inertia = turn_inertia,
    .hold_relax_change = hold_relax_change,
    .begin_relax = begin_relax,
    .end_relax = end_relax,
    .scatter = scatter,
};

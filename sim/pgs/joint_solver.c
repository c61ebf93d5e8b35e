// SPDX-License-Identifier: MIT

// Joints as velocity constraints: a ball joint's three rows are solved together by the inverse of
// K = J M^-1 J^T (Catto 2006), a distance joint is one row along the line between its anchors.

#include "sim/pgs/pgs.h"
#include "sim/pgs/row_math.h"
#include "sim/state/slots.h"
#include "sim/step.h"
#include "sim/world/body.h"
#include "sim/world/joint.h"

static void assign_batches(cairn_world *world) {
    cairn_pgs *pgs = world->pgs;
    const cairn_state *state = &world->state;
    const uint32_t count = state->settings->joint_slots;
    cairn_batches *batches = &pgs->joint_batches;
    *batches = (cairn_batches){.start = {0}};
    cairn_batches_begin(world);
    for (uint32_t i = 0; i < count; ++i) {
        pgs->batch_of[i] = CAIRN_PGS_BATCHES;
        if (!cairn_state_has(state, CAIRN_ARRAY_JOINTS, i)) {
            continue;
        }
        const uint32_t a = cairn_id_index(state->joints[i].body_a);
        const uint32_t b = cairn_id_index(state->joints[i].body_b);
        if (cairn_pair_solved(world, a, b)) {
            pgs->batch_of[i] = cairn_batches_assign(world, a, b);
            batches->start[pgs->batch_of[i] + 1] += 1;
        }
    }
    cairn_batches_place(batches, pgs->batch_of, pgs->place_of, count);
}

// One body's part of K: E / m - [r] I^-1 [r], with [r] the cross product matrix.
static cairn_sym3 k_part(const cairn_pgs_body *body, cairn_vec3 arm) {
    const cairn_mat3 cross = mat3_cross(arm);
    const float m = body->inverse_mass;
    return sym3_add(sym3_diagonal(m, m, m), sym3_rotate(body->inverse_inertia, cross));
}

static void prepare_ball(const cairn_pgs_body *a, const cairn_pgs_body *b, float rate,
    cairn_vec3 offset, cairn_joint_constraint *constraint) {
    const cairn_sym3 k = sym3_add(k_part(a, constraint->arm_a), k_part(b, constraint->arm_b));
    constraint->inverse_mass = cairn_sym3_inverse_scaled(k);
    constraint->bias = vec3_scale(offset, 0.0f - rate);
}

static void prepare_distance(const cairn_pgs_body *a, const cairn_pgs_body *b, float rate,
    cairn_vec3 offset, float length, cairn_joint_constraint *constraint) {
    constraint->axis = vec3_normalize(offset, vec3(0.0f, 1.0f, 0.0f));
    const float mass = row_mass(a, constraint->arm_a, b, constraint->arm_b, constraint->axis);
    const float error = vec3_length(offset) - length;
    constraint->inverse_mass = sym3_diagonal(mass, 0.0f, 0.0f);
    constraint->bias = vec3(0.0f - rate * error, 0.0f, 0.0f);
}

static void prepare_joint(
    const cairn_world *world, uint32_t slot, cairn_joint_constraint *constraint) {
    const cairn_joint *joint = &world->state.joints[slot];
    const cairn_settings *settings = world->state.settings;
    const uint32_t a = cairn_id_index(joint->body_a);
    const uint32_t b = cairn_id_index(joint->body_b);
    const cairn_vec3 at_a = cairn_joint_anchor(world, a, joint->anchor_a);
    const cairn_vec3 at_b = cairn_joint_anchor(world, b, joint->anchor_b);
    const float rate = settings->baumgarte * (float)settings->tick_rate_hz;
    *constraint = (cairn_joint_constraint){.joint = slot,
        .kind = joint->kind,
        .body_a = a,
        .body_b = b,
        .arm_a = vec3_sub(at_a, world->state.motions[a].position),
        .arm_b = vec3_sub(at_b, world->state.motions[b].position),
        .impulse = vec3_select(settings->warm_start != 0, joint->impulse, vec3_zero())};
    const cairn_vec3 offset = vec3_sub(at_b, at_a);
    const cairn_pgs_body *solved = world->pgs->bodies;
    if (joint->kind == CAIRN_JOINT_DISTANCE) {
        prepare_distance(&solved[a], &solved[b], rate, offset, joint->length, constraint);
    } else {
        prepare_ball(&solved[a], &solved[b], rate, offset, constraint);
    }
    if (cairn_joint_has_axes(joint->kind)) {
        cairn_joint_rows_prepare(world, constraint);
    }
}

void cairn_joints_prepare(cairn_world *world) {
    cairn_pgs *pgs = world->pgs;
    assign_batches(world);
    for (uint32_t i = 0; i < world->state.settings->joint_slots; ++i) {
        if (pgs->batch_of[i] < CAIRN_PGS_BATCHES) {
            prepare_joint(world, i, &pgs->joint_constraints[pgs->place_of[i]]);
        }
    }
}

static void apply(
    cairn_world *world, const cairn_joint_constraint *constraint, cairn_vec3 impulse) {
    const bool distance = constraint->kind == CAIRN_JOINT_DISTANCE;
    const cairn_vec3 push = vec3_select(distance, vec3_scale(constraint->axis, impulse.x), impulse);
    body_pull(&world->pgs->bodies[constraint->body_a], constraint->arm_a, push);
    body_push(&world->pgs->bodies[constraint->body_b], constraint->arm_b, push);
}

static void turn(cairn_world *world, const cairn_joint_constraint *constraint,
    const cairn_turn_row *row, float impulse) {
    bodies_turn(&world->pgs->bodies[constraint->body_a], &world->pgs->bodies[constraint->body_b],
        vec3_scale(row->axis, impulse));
}

void cairn_joints_warm_start(cairn_world *world) {
    const cairn_pgs *pgs = world->pgs;
    for (uint32_t i = 0; i < pgs->joint_batches.start[CAIRN_PGS_BATCHES]; ++i) {
        const cairn_joint_constraint *constraint = &pgs->joint_constraints[i];
        apply(world, constraint, constraint->impulse);
        for (uint32_t k = 0; k < constraint->row_count; ++k) {
            turn(world, constraint, &constraint->rows[k], constraint->rows[k].impulse);
        }
    }
}

static void solve_row(
    cairn_world *world, const cairn_joint_constraint *constraint, cairn_turn_row *row) {
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    const cairn_vec3 spin = vec3_sub(b->angular_velocity, a->angular_velocity);
    const float wanted = row->impulse + row->mass * (row->bias - vec3_dot(spin, row->axis));
    const float impulse = row->one_sided != 0 ? float_max(wanted, 0.0f) : wanted;
    turn(world, constraint, row, impulse - row->impulse);
    row->impulse = impulse;
}

static void solve_joint(cairn_world *world, cairn_joint_constraint *constraint) {
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        solve_row(world, constraint, &constraint->rows[i]);
    }
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    cairn_vec3 velocity = point_velocity(a, constraint->arm_a, b, constraint->arm_b);
    if (constraint->kind == CAIRN_JOINT_DISTANCE) {
        velocity = vec3(vec3_dot(velocity, constraint->axis), 0.0f, 0.0f);
    }
    const cairn_vec3 impulse =
        sym3_apply(constraint->inverse_mass, vec3_sub(constraint->bias, velocity));
    constraint->impulse = vec3_add(constraint->impulse, impulse);
    apply(world, constraint, impulse);
}

void cairn_joints_iterate(cairn_world *world) {
    const cairn_batches *batches = &world->pgs->joint_batches;
    for (uint32_t batch = 0; batch < CAIRN_PGS_BATCHES; ++batch) {
        for (uint32_t i = batches->start[batch]; i < batches->start[batch + 1]; ++i) {
            solve_joint(world, &world->pgs->joint_constraints[i]);
        }
    }
}

void cairn_joints_store(cairn_world *world) {
    const cairn_pgs *pgs = world->pgs;
    for (uint32_t i = 0; i < pgs->joint_batches.start[CAIRN_PGS_BATCHES]; ++i) {
        const cairn_joint_constraint *constraint = &pgs->joint_constraints[i];
        const cairn_vec3 impulse = constraint->impulse;
        world->state.joints[constraint->joint].impulse =
            vec3(impulse_stored(impulse.x), impulse_stored(impulse.y), impulse_stored(impulse.z));
        if (constraint->row_count > 0) {
            cairn_joint_rows_store(constraint, &world->state.joints[constraint->joint]);
        }
    }
}

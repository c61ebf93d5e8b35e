// SPDX-License-Identifier: MIT

// Joints as velocity constraints: a ball joint's three rows are solved together by the inverse of
// K = J M^-1 J^T (Catto 2006), a distance joint is one row along the line between its anchors.
// Hinges and cones also have rows about axes. These are solved after those between the anchors and
// keep them solved, and those that keep a hinge's axes together: so one visit solves a joint
// exactly. Swept in turn, torques and the impulses at the end of a long arm raised each other
// without end (sim/soft_step/joint_angular.h has the same for the default solver).

#include "sim/pgs/pgs.h"

#include "base/assert.h"
#include "sim/collide/pair_cache.h"
#include "sim/constraint/joint_frame.h"
#include "sim/math/limits.h"
#include "sim/pgs/row_math.h"

// ---- Rows about axes

static cairn_pgs_angular_row *add_row(
    const cairn_world *world, cairn_pgs_joint *constraint, cairn_vec3 axis, float impulse) {
    const bool warm = world->state.settings->warm_start != 0;
    CAIRN_ASSERT(constraint->row_count < CAIRN_PGS_ANGULAR_ROWS_MAX);
    cairn_pgs_angular_row *row = &constraint->rows[constraint->row_count++];
    *row = (cairn_pgs_angular_row){.axis = axis, .impulse = warm ? impulse : 0.0f};
    return row;
}

// `slack` is what is left to the limit, and grows with the angular velocity about the axis. Beyond
// the limit a fraction of the error is corrected; within it the row permits the angular velocity
// that uses the slack up in this step.
static void add_bound(const cairn_world *world, cairn_pgs_joint *constraint, cairn_vec3 axis,
    float slack, float impulse) {
    const float rate = world_step_rate(world);
    const float fraction = slack < 0.0f ? world->state.settings->baumgarte : 1.0f;
    cairn_pgs_angular_row *row = add_row(world, constraint, axis, impulse);
    row->bias = 0.0f - slack * fraction * rate;
    row->one_sided = 1;
}

static void add_hinge(const cairn_world *world, cairn_pgs_joint *constraint,
    const cairn_joint_frame *frame, const cairn_joint *joint) {
    CAIRN_ASSERT(joint->kind == CAIRN_JOINT_HINGE && constraint->row_count == 0);
    const cairn_vec3 axis = frame->axis_a;
    const cairn_vec3 error = vec3_cross(axis, frame->axis_b);
    const cairn_vec3 first = frame->normal_a;
    const cairn_vec3 across[2] = {first, vec3_cross(axis, first)};
    const cairn_settings *settings = world->state.settings;
    const float rate = settings->baumgarte * world_step_rate(world);
    for (uint32_t i = 0; i < 2; ++i) {
        const float impulse = vec3_dot(joint->angular_impulse, across[i]);
        cairn_pgs_angular_row *row = add_row(world, constraint, across[i], impulse);
        row->bias = 0.0f - rate * vec3_dot(error, across[i]);
    }
}

// Along the bisector of the axes (sim/soft_step/joint_angular.h).
static void add_limits(const cairn_world *world, cairn_pgs_joint *constraint,
    const cairn_joint_frame *frame, const cairn_joint *joint) {
    CAIRN_ASSERT(joint->limited != 0 && joint->lower <= joint->upper);
    const cairn_vec3 sum = vec3_add(frame->axis_a, frame->axis_b);
    const float length = vec3_length(sum);
    const cairn_vec3 axis =
        vec3_select(length > 0.01f, vec3_scale(sum, 1.0f / float_max(length, 0.01f)), vec3_zero());
    const float scale = 0.5f * length;
    const float angle = cairn_joint_twist_near(frame, joint->lower, joint->upper);
    add_bound(world, constraint, axis, (angle - joint->lower) * scale, joint->lower_impulse);
    add_bound(
        world, constraint, vec3_negate(axis), (joint->upper - angle) * scale, joint->upper_impulse);
}

static void prepare_angular_rows(const cairn_world *world, cairn_pgs_joint *constraint) {
    const cairn_joint *joint = &world->state.joints[constraint->joint];
    const cairn_joint_frame frame = cairn_joint_frame_of(world, constraint->joint);
    CAIRN_ASSERT(constraint->row_count == 0);
    CAIRN_ASSERT(cairn_joint_has_axes(joint->kind));
    if (joint->kind == CAIRN_JOINT_HINGE) {
        add_hinge(world, constraint, &frame, joint);
    } else {
        const cairn_vec3 error = vec3_cross(frame.axis_a, frame.axis_b);
        const cairn_vec3 inward = vec3_negate(vec3_normalize(error, frame.normal_a));
        const float slack = joint->cone - cairn_joint_swing(&frame);
        add_bound(world, constraint, inward, slack, joint->swing_impulse);
    }
    if (joint->limited != 0) {
        add_limits(world, constraint, &frame, joint);
    }
}

static void store_angular_rows(const cairn_pgs_joint *constraint, cairn_joint *joint) {
    const cairn_pgs_angular_row *rows = constraint->rows;
    CAIRN_ASSERT(cairn_joint_has_axes(joint->kind));
    uint32_t next = 0;
    if (joint->kind == CAIRN_JOINT_HINGE) {
        const cairn_vec3 sum = vec3_add_scaled(
            vec3_scale(rows[0].axis, rows[0].impulse), rows[1].axis, rows[1].impulse);
        joint->angular_impulse =
            vec3(impulse_clean(sum.x), impulse_clean(sum.y), impulse_clean(sum.z));
        next = 2;
    } else {
        joint->swing_impulse = impulse_clean(rows[0].impulse);
        next = 1;
    }
    CAIRN_ASSERT(constraint->row_count == next || constraint->row_count == next + 2);
    if (constraint->row_count > next) {
        joint->lower_impulse = impulse_clean(rows[next].impulse);
        joint->upper_impulse = impulse_clean(rows[next + 1].impulse);
    }
}

// ---- Rows between anchors

// One body's part of K: E / m - [r] I^-1 [r], with [r] the cross product matrix.
static cairn_sym3 k_part(const cairn_pgs_body *body, cairn_vec3 arm) {
    CAIRN_ASSERT(body->inverse_mass >= 0.0f);
    const cairn_mat3 cross = mat3_cross(arm);
    const float m = body->inverse_mass;
    return sym3_add(sym3_diagonal(m, m, m), sym3_rotate(body->inverse_inertia, cross));
}

static cairn_pgs_factor factor_k(cairn_sym3 k) {
    cairn_pgs_factor f;
    f.inverse_d.x = inverse_or_zero(k.xx);
    f.l21 = k.xy * f.inverse_d.x;
    f.l31 = k.xz * f.inverse_d.x;
    const float k32 = k.yz - f.l31 * k.xy;
    f.inverse_d.y = inverse_or_zero(k.yy - f.l21 * k.xy);
    f.l32 = k32 * f.inverse_d.y;
    f.inverse_d.z = inverse_or_zero(k.zz - f.l31 * k.xz - f.l32 * k32);
    return f;
}

// L^-1 v
static cairn_vec3 solve_lower(const cairn_pgs_factor *f, cairn_vec3 v) {
    const float y = v.y - f->l21 * v.x;
    return vec3(v.x, y, v.z - f->l31 * v.x - f->l32 * y);
}

// K^-1 v
static cairn_vec3 solve_k(const cairn_pgs_factor *f, cairn_vec3 v) {
    const cairn_vec3 low = vec3_multiply(solve_lower(f, v), f->inverse_d);
    const float y = low.y - f->l32 * low.z;
    return vec3(low.x - f->l21 * y - f->l31 * low.z, y, low.z);
}

// The velocity by which a torque moves the anchors apart.
static cairn_vec3 anchor_velocity(
    const cairn_world *world, const cairn_pgs_joint *constraint, cairn_vec3 torque) {
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    return vec3_add(vec3_cross(sym3_apply(a->inverse_inertia, torque), constraint->arm_a),
        vec3_cross(sym3_apply(b->inverse_inertia, torque), constraint->arm_b));
}

// The response of the relative angular velocity to a torque while the anchors are held together.
static cairn_sym3 held_response(const cairn_world *world, const cairn_pgs_joint *constraint) {
    const cairn_pgs_factor *f = &constraint->factor;
    const cairn_vec3 x = solve_lower(f, anchor_velocity(world, constraint, vec3(1.0f, 0.0f, 0.0f)));
    const cairn_vec3 y = solve_lower(f, anchor_velocity(world, constraint, vec3(0.0f, 1.0f, 0.0f)));
    const cairn_vec3 z = solve_lower(f, anchor_velocity(world, constraint, vec3(0.0f, 0.0f, 1.0f)));
    const cairn_vec3 dx = vec3_multiply(x, f->inverse_d);
    const cairn_vec3 dy = vec3_multiply(y, f->inverse_d);
    const cairn_sym3 both = sym3_add(world->pgs->bodies[constraint->body_a].inverse_inertia,
        world->pgs->bodies[constraint->body_b].inverse_inertia);
    return (cairn_sym3){.xx = both.xx - vec3_dot(dx, x),
        .yy = both.yy - vec3_dot(dy, y),
        .zz = both.zz - vec3_dot(vec3_multiply(z, f->inverse_d), z),
        .xy = both.xy - vec3_dot(dx, y),
        .xz = both.xz - vec3_dot(dx, z),
        .yz = both.yz - vec3_dot(dy, z)};
}

// Makes the rows about axes keep the anchors together, and those of a hinge's limits its axes.
static void couple_angular_rows(const cairn_world *world, cairn_pgs_joint *constraint) {
    const cairn_sym3 response = held_response(world, constraint);
    const uint32_t held = constraint->kind == CAIRN_JOINT_HINGE ? 2 : 0;
    CAIRN_ASSERT(constraint->row_count >= held);
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        cairn_pgs_angular_row *row = &constraint->rows[i];
        row->torque = row->axis;
        for (uint32_t k = 0; k < held && k < i; ++k) {
            const cairn_pgs_angular_row *other = &constraint->rows[k];
            const float part =
                vec3_dot(sym3_apply(response, other->torque), row->axis) * other->mass;
            row->torque = vec3_add_scaled(row->torque, other->torque, 0.0f - part);
            row->taken[k] += part;
            row->taken[0] -= part * other->taken[0]; // the first takes nothing itself
        }
        row->mass = inverse_or_zero(vec3_dot(row->axis, sym3_apply(response, row->torque)));
        row->holding = vec3_negate(
            solve_k(&constraint->factor, anchor_velocity(world, constraint, row->torque)));
    }
}

static void prepare_joint(const cairn_world *world, uint32_t slot, cairn_pgs_joint *constraint) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_JOINTS, slot));
    const cairn_joint *joint = &world->state.joints[slot];
    const cairn_settings *settings = world->state.settings;
    const uint32_t a = cairn_id_index(joint->body_a);
    const uint32_t b = cairn_id_index(joint->body_b);
    CAIRN_ASSERT(a != b && a < settings->body_slots && b < settings->body_slots);
    const cairn_vec3 at_a = cairn_joint_anchor(world, a, joint->anchor_a);
    const cairn_vec3 at_b = cairn_joint_anchor(world, b, joint->anchor_b);
    const float rate = settings->baumgarte * world_step_rate(world);
    *constraint = (cairn_pgs_joint){.joint = slot,
        .kind = joint->kind,
        .body_a = a,
        .body_b = b,
        .arm_a = vec3_sub(at_a, world->state.motions[a].position),
        .arm_b = vec3_sub(at_b, world->state.motions[b].position),
        .impulse = vec3_select(settings->warm_start != 0, joint->impulse, vec3_zero())};
    const cairn_vec3 offset = vec3_sub(at_b, at_a);
    const cairn_pgs_body *solved_a = &world->pgs->bodies[a];
    const cairn_pgs_body *solved_b = &world->pgs->bodies[b];
    if (joint->kind == CAIRN_JOINT_DISTANCE) {
        constraint->axis = vec3_normalize(offset, vec3(0.0f, 1.0f, 0.0f));
        const float mass =
            row_mass(solved_a, constraint->arm_a, solved_b, constraint->arm_b, constraint->axis);
        const float error = vec3_length(offset) - joint->length;
        constraint->inverse_mass = sym3_diagonal(mass, 0.0f, 0.0f);
        constraint->bias = vec3(0.0f - rate * error, 0.0f, 0.0f);
    } else {
        const cairn_sym3 k =
            sym3_add(k_part(solved_a, constraint->arm_a), k_part(solved_b, constraint->arm_b));
        constraint->bias = vec3_scale(offset, 0.0f - rate);
        if (cairn_joint_has_axes(joint->kind)) {
            constraint->factor = factor_k(k);
            prepare_angular_rows(world, constraint);
            couple_angular_rows(world, constraint);
        } else {
            constraint->inverse_mass = sym3_inverse_scaled(k);
        }
    }
}

void cairn_pgs_joints_prepare(cairn_world *world) {
    const cairn_constraint_graph *graph = &world->pgs->joint_graph;
    CAIRN_ASSERT(graph->edge_count <= world->pair_cache->joint_filter.joint_count);
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const uint32_t edge = cairn_constraint_graph_nth(graph, i);
        prepare_joint(world, graph->edges[edge].element, &world->pgs->joints[i]);
    }
}

static void apply_linear(
    cairn_world *world, const cairn_pgs_joint *constraint, cairn_vec3 impulse) {
    const bool distance = constraint->kind == CAIRN_JOINT_DISTANCE;
    const cairn_vec3 along =
        vec3_select(distance, vec3_scale(constraint->axis, impulse.x), impulse);
    subtract_impulse(&world->pgs->bodies[constraint->body_a], constraint->arm_a, along);
    add_impulse(&world->pgs->bodies[constraint->body_b], constraint->arm_b, along);
}

void cairn_pgs_joints_warm_start(cairn_world *world) {
    const cairn_pgs *pgs = world->pgs;
    for (uint32_t i = 0; i < pgs->joint_graph.edge_count; ++i) {
        const cairn_pgs_joint *constraint = &pgs->joints[i];
        apply_linear(world, constraint, constraint->impulse);
        for (uint32_t k = 0; k < constraint->row_count; ++k) {
            const cairn_pgs_angular_row *row = &constraint->rows[k];
            apply_angular_impulse(&pgs->bodies[constraint->body_a],
                &pgs->bodies[constraint->body_b], vec3_scale(row->axis, row->impulse));
        }
    }
}

static void solve_row(cairn_world *world, cairn_pgs_joint *constraint, cairn_pgs_angular_row *row) {
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    const cairn_vec3 relative = vec3_sub(b->angular_velocity, a->angular_velocity);
    const float sum = row->impulse + row->mass * (row->bias - vec3_dot(relative, row->axis));
    const float impulse = row->one_sided != 0 ? float_max(sum, 0.0f) : sum;
    const float change = impulse - row->impulse;
    row->impulse = impulse;
    for (uint32_t i = 0; i < 2; ++i) {
        constraint->rows[i].impulse -= row->taken[i] * change;
    }
    const cairn_vec3 holding = vec3_scale(row->holding, change);
    constraint->impulse = vec3_add(constraint->impulse, holding);
    apply_linear(world, constraint, holding);
    apply_angular_impulse(&world->pgs->bodies[constraint->body_a],
        &world->pgs->bodies[constraint->body_b], vec3_scale(row->torque, change));
}

static void solve_joint(cairn_world *world, cairn_pgs_joint *constraint) {
    CAIRN_ASSERT(constraint->row_count <= CAIRN_PGS_ANGULAR_ROWS_MAX);
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    cairn_vec3 velocity = point_velocity(a, constraint->arm_a, b, constraint->arm_b);
    if (constraint->kind == CAIRN_JOINT_DISTANCE) {
        velocity = vec3(vec3_dot(velocity, constraint->axis), 0.0f, 0.0f);
    }
    const cairn_vec3 wanted = vec3_sub(constraint->bias, velocity);
    const cairn_vec3 impulse = constraint->row_count > 0
                                   ? solve_k(&constraint->factor, wanted)
                                   : sym3_apply(constraint->inverse_mass, wanted);
    constraint->impulse = vec3_add(constraint->impulse, impulse);
    apply_linear(world, constraint, impulse);
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        solve_row(world, constraint, &constraint->rows[i]);
    }
}

void cairn_pgs_joints_solve(cairn_world *world) {
    for (uint32_t i = 0; i < world->pgs->joint_graph.edge_count; ++i) {
        solve_joint(world, &world->pgs->joints[i]);
    }
}

void cairn_pgs_joints_store(cairn_world *world) {
    const cairn_pgs *pgs = world->pgs;
    for (uint32_t i = 0; i < pgs->joint_graph.edge_count; ++i) {
        const cairn_pgs_joint *constraint = &pgs->joints[i];
        const cairn_vec3 impulse = constraint->impulse;
        CAIRN_ASSERT(constraint->joint < world->state.settings->joint_slots);
        world->state.joints[constraint->joint].impulse =
            vec3(impulse_clean(impulse.x), impulse_clean(impulse.y), impulse_clean(impulse.z));
        if (constraint->row_count > 0) {
            store_angular_rows(constraint, &world->state.joints[constraint->joint]);
        }
    }
}

// SPDX-License-Identifier: MIT

// Joints, CAIRN_LANES side by side. A ball joint's three rows are solved together by the inverse of
// K = J M^-1 J^T (Catto 2006); a distance joint is one row along the line between its anchors. Both
// are soft while they push and exact while they relax, like contacts (sim/contact_lanes.c). The
// error follows the anchors as the bodies turn within the step; directions and masses stay.

#include "sim/body_lanes.h"

typedef struct group {
    pair_lanes pair;
    uint32_t kind;  // cairn_joint_kind, of every lane
    lanes3 start_a; // from the centres of mass to the anchors, at the start of the step
    lanes3 start_b;
    lanes3 arm_a; // and in this substep
    lanes3 arm_b;
    lanes3 centres;     // m, from a's centre of mass to b's at the start of the step
    lanes_sym3 inverse; // ball: of K
    lanes3 axis;        // distance: from a to b
    lanes mass;         // distance: effective
    lanes length;       // m, distance
    lanes error;        // m, distance: too long by
    lanes3 offset;      // m, from anchor a to anchor b in this substep
    lanes3 impulse;     // accumulated, of one substep; distance: in x
} group;

// ---- preparing

static lanes3 rotate(lanes x, lanes y, lanes z, lanes w, lanes3 v) {
    return lanes_mat3_apply(lanes_mat3_of_quat(x, y, z, w), v);
}

typedef struct end_lanes {
    lanes3 position; // of the centre of mass
    lanes3 arm;
} end_lanes;

typedef struct end_view {
    const cairn_motion *motion;
    cairn_vec3 anchor; // from the centre of mass, body axes
} end_view;

static end_lanes load_end(const end_view *views) {
    float words[10][CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_motion *motion = views[i].motion;
        const float values[10] = {motion->position.x, motion->position.y, motion->position.z,
            motion->rotation.x, motion->rotation.y, motion->rotation.z, motion->rotation.w,
            views[i].anchor.x, views[i].anchor.y, views[i].anchor.z};
        for (uint32_t k = 0; k < 10; ++k) {
            words[k][i] = values[k];
        }
    }
    lanes in[10];
    memcpy(in, words, sizeof in);
    return (end_lanes){.position = lanes3_of(in[0], in[1], in[2]),
        .arm = rotate(in[3], in[4], in[5], in[6], lanes3_of(in[7], in[8], in[9]))};
}

// One body's part of K: E / m - [r] I^-1 [r], with [r] the cross product matrix.
static lanes_sym3 k_part(const body_lanes *body, lanes3 arm) {
    const lanes zero = lanes_all(0.0f);
    const lanes_sym3 i = body->inverse_inertia;
    const lanes3 rx = lanes3_of(zero, zero - arm.z, arm.y);
    const lanes3 ry = lanes3_of(arm.z, zero, zero - arm.x);
    const lanes3 rz = lanes3_of(zero - arm.y, arm.x, zero);
    const lanes3 ix = lanes_sym3_apply(i, rx);
    const lanes3 iy = lanes_sym3_apply(i, ry);
    const lanes3 iz = lanes_sym3_apply(i, rz);
    const lanes m = body->inverse_mass;
    return (lanes_sym3){.xx = m + lanes3_dot(rx, ix),
        .yy = m + lanes3_dot(ry, iy),
        .zz = m + lanes3_dot(rz, iz),
        .xy = lanes3_dot(rx, iy),
        .xz = lanes3_dot(rx, iz),
        .yz = lanes3_dot(ry, iz)};
}

// By cofactors, of the matrix scaled to about unit size: the determinant of heavy bodies' K is
// smaller than the smallest float.
static lanes_sym3 invert(lanes_sym3 m) {
    const lanes scale = inverse_or_zero(m.xx + m.yy + m.zz);
    const lanes_sym3 s = {.xx = m.xx * scale,
        .yy = m.yy * scale,
        .zz = m.zz * scale,
        .xy = m.xy * scale,
        .xz = m.xz * scale,
        .yz = m.yz * scale};
    const lanes xx = s.yy * s.zz - s.yz * s.yz;
    const lanes xy = s.xz * s.yz - s.xy * s.zz;
    const lanes xz = s.xy * s.yz - s.xz * s.yy;
    const lanes factor = inverse_or_zero(s.xx * xx + s.xy * xy + s.xz * xz) * scale;
    return (lanes_sym3){.xx = xx * factor,
        .yy = (s.xx * s.zz - s.xz * s.xz) * factor,
        .zz = (s.xx * s.yy - s.xy * s.xy) * factor,
        .xy = xy * factor,
        .xz = xz * factor,
        .yz = (s.xy * s.xz - s.xx * s.yz) * factor};
}

// Directions and masses of a distance joint as its anchors lie now.
static void aim_distance(group *g, const body_lanes *a, const body_lanes *b) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes square = lanes3_dot(g->offset, g->offset);
    const lanes_mask sound = lanes_less(lanes_all(1e-30f), square);
    const lanes length = lanes_sqrt(lanes_select(sound, square, one));
    g->axis =
        lanes3_select(sound, lanes3_scale(g->offset, one / length), lanes3_of(zero, one, zero));
    g->error = lanes_select(sound, length, zero) - g->length;
    const lanes3 ra = lanes3_cross(g->arm_a, g->axis);
    const lanes3 rb = lanes3_cross(g->arm_b, g->axis);
    g->mass = inverse_or_zero(a->inverse_mass + b->inverse_mass +
                              lanes3_dot(ra, lanes_sym3_apply(a->inverse_inertia, ra)) +
                              lanes3_dot(rb, lanes_sym3_apply(b->inverse_inertia, rb)));
}

static void aim(group *g, const body_lanes *a, const body_lanes *b) {
    if (g->kind == CAIRN_JOINT_DISTANCE) {
        aim_distance(g, a, b);
    } else {
        g->inverse = invert(lanes_sym3_add(k_part(a, g->arm_a), k_part(b, g->arm_b)));
    }
}

static void prepare_group(const cairn_solve *solve, const uint32_t *order, group *g) {
    end_view views_a[CAIRN_LANES];
    end_view views_b[CAIRN_LANES];
    float words[4][CAIRN_LANES];
    const float warm = solve->warm != 0 ? 1.0f : 0.0f;
    fill_pair(solve, solve->joint_links, order, &g->pair);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_link *link = &solve->joint_links[g->pair.link[i]];
        const cairn_joint *joint = &solve->joints[link->element];
        views_a[i] = (end_view){.motion = &solve->motions[link->body_a],
            .anchor = vec3_sub(joint->anchor_a, solve->cold[link->body_a].centre)};
        views_b[i] = (end_view){.motion = &solve->motions[link->body_b],
            .anchor = vec3_sub(joint->anchor_b, solve->cold[link->body_b].centre)};
        words[0][i] = joint->impulse.x * warm;
        words[1][i] = joint->impulse.y * warm;
        words[2][i] = joint->impulse.z * warm;
        words[3][i] = joint->length;
    }
    lanes in[4];
    memcpy(in, words, sizeof in);
    g->kind = solve->joint_links[g->pair.link[0]].kind;
    g->impulse = lanes3_of(in[0], in[1], in[2]);
    const end_lanes end_a = load_end(views_a);
    const end_lanes end_b = load_end(views_b);
    const body_lanes a = load_body(solve, g->pair.a);
    const body_lanes b = load_body(solve, g->pair.b);
    g->start_a = end_a.arm;
    g->start_b = end_b.arm;
    g->arm_a = end_a.arm;
    g->arm_b = end_b.arm;
    g->length = in[3];
    g->centres = lanes3_sub(end_b.position, end_a.position);
    g->offset = lanes3_add(g->centres, lanes3_sub(end_b.arm, end_a.arm));
    aim(g, &a, &b);
}

static void prepare(const cairn_solve *solve, uint32_t begin, uint32_t end) {
    group *groups = solve->joint_groups;
    for (uint32_t i = begin; i < end; ++i) {
        prepare_group(solve, solve->joint_order + (size_t)i * CAIRN_LANES, &groups[i]);
    }
}

// ---- solving

static void give(group *g, body_lanes *a, body_lanes *b, lanes3 impulse) {
    const lanes zero = lanes_all(0.0f);
    const lanes3 none = lanes3_of(zero, zero, zero);
    apply_impulse(a, g->arm_a, b, g->arm_b, impulse, none);
}

static void warm_start(const cairn_solve *solve, uint32_t begin, uint32_t end) {
    group *groups = solve->joint_groups;
    for (uint32_t i = begin; i < end; ++i) {
        group *g = &groups[i];
        body_lanes a = load_body(solve, g->pair.a);
        body_lanes b = load_body(solve, g->pair.b);
        give(g, &a, &b,
            g->kind == CAIRN_JOINT_DISTANCE ? lanes3_scale(g->axis, g->impulse.x) : g->impulse);
        store_body(solve, g->pair.a, g->pair.moving_a, &a);
        store_body(solve, g->pair.b, g->pair.moving_b, &b);
    }
}

// What turning by `turn` adds to an arm, to the second order.
static lanes3 swing(lanes3 arm, lanes3 turn) {
    const lanes3 first = lanes3_cross(turn, arm);
    return lanes3_add_scaled(first, lanes3_cross(turn, first), lanes_all(0.5f));
}

static lanes3 pull_of(const group *g) {
    return g->kind == CAIRN_JOINT_DISTANCE ? lanes3_scale(g->axis, g->impulse.x) : g->impulse;
}

// The joint as the bodies lie now. The bodies were given the impulse of the last substep at the
// arms it had then; the difference that the new arms make follows.
static void follow(const cairn_solve *solve, group *g, body_lanes *a, body_lanes *b) {
    const shift_lanes shift_a = load_shift(solve, g->pair.a);
    const shift_lanes shift_b = load_shift(solve, g->pair.b);
    const lanes3 old = pull_of(g);
    const lanes3 old_a = lanes3_cross(g->arm_a, old);
    const lanes3 old_b = lanes3_cross(g->arm_b, old);
    g->arm_a = lanes3_add(g->start_a, swing(g->start_a, shift_a.turned));
    g->arm_b = lanes3_add(g->start_b, swing(g->start_b, shift_b.turned));
    const lanes3 moved = lanes3_sub(shift_b.moved, shift_a.moved);
    g->offset = lanes3_add(lanes3_add(g->centres, moved), lanes3_sub(g->arm_b, g->arm_a));
    aim(g, a, b);
    const lanes3 now = pull_of(g);
    const lanes3 change = lanes3_sub(now, old);
    a->velocity = lanes3_sub_scaled(a->velocity, change, a->inverse_mass);
    b->velocity = lanes3_add_scaled(b->velocity, change, b->inverse_mass);
    const lanes3 turn_a = lanes3_sub(lanes3_cross(g->arm_a, now), old_a);
    const lanes3 turn_b = lanes3_sub(lanes3_cross(g->arm_b, now), old_b);
    a->spin = lanes3_sub(a->spin, lanes_sym3_apply(a->inverse_inertia, turn_a));
    b->spin = lanes3_add(b->spin, lanes_sym3_apply(b->inverse_inertia, turn_b));
}

static void solve_ball(
    const cairn_solve *solve, group *g, body_lanes *a, body_lanes *b, bool push) {
    lanes3 wanted = velocity_between(a, g->arm_a, b, g->arm_b);
    lanes3 change;
    if (push) {
        const cairn_softness *soft = &solve->soft_joint;
        wanted = lanes3_add_scaled(wanted, g->offset, lanes_all(soft->rate));
        change = lanes3_scale(lanes_sym3_apply(g->inverse, wanted), lanes_all(soft->mass_scale));
        change = lanes3_add_scaled(change, g->impulse, lanes_all(soft->impulse_scale));
    } else {
        change = lanes_sym3_apply(g->inverse, wanted);
    }
    const lanes3 impulse = lanes3_sub(g->impulse, change);
    give(g, a, b, lanes3_sub(impulse, g->impulse));
    g->impulse = impulse;
}

static void solve_distance(
    const cairn_solve *solve, group *g, body_lanes *a, body_lanes *b, bool push) {
    lanes wanted = lanes3_dot(velocity_between(a, g->arm_a, b, g->arm_b), g->axis);
    lanes change;
    if (push) {
        const cairn_softness *soft = &solve->soft_joint;
        wanted = wanted + g->error * lanes_all(soft->rate);
        change = g->mass * wanted * lanes_all(soft->mass_scale) +
                 g->impulse.x * lanes_all(soft->impulse_scale);
    } else {
        change = g->mass * wanted;
    }
    const lanes impulse = g->impulse.x - change;
    give(g, a, b, lanes3_scale(g->axis, impulse - g->impulse.x));
    g->impulse.x = impulse;
}

static void visit(const cairn_solve *solve, group *g, bool push) {
    body_lanes a = load_body(solve, g->pair.a);
    body_lanes b = load_body(solve, g->pair.b);
    if (push) {
        follow(solve, g, &a, &b);
    }
    if (g->kind == CAIRN_JOINT_DISTANCE) {
        solve_distance(solve, g, &a, &b, push);
    } else {
        solve_ball(solve, g, &a, &b, push);
    }
    store_body(solve, g->pair.a, g->pair.moving_a, &a);
    store_body(solve, g->pair.b, g->pair.moving_b, &b);
}

static void push(const cairn_solve *solve, uint32_t begin, uint32_t end) {
    group *groups = solve->joint_groups;
    for (uint32_t i = begin; i < end; ++i) {
        visit(solve, &groups[i], true);
    }
}

static void relax(const cairn_solve *solve, uint32_t begin, uint32_t end) {
    group *groups = solve->joint_groups;
    for (uint32_t i = begin; i < end; ++i) {
        visit(solve, &groups[i], false);
    }
}

static void store(const cairn_solve *solve, uint32_t begin, uint32_t end) {
    const group *groups = solve->joint_groups;
    for (uint32_t i = begin; i < end; ++i) {
        const group *g = &groups[i];
        const lanes values[3] = {kept(g->impulse.x), kept(g->impulse.y), kept(g->impulse.z)};
        float impulse[3][CAIRN_LANES];
        memcpy(impulse, values, sizeof impulse);
        for (uint32_t k = 0; k < CAIRN_LANES; ++k) {
            if ((g->pair.live >> k & 1u) != 0) {
                const cairn_link *link = &solve->joint_links[g->pair.link[k]];
                solve->joints[link->element].impulse =
                    vec3(impulse[0][k], impulse[1][k], impulse[2][k]);
            }
        }
    }
}

extern const cairn_passes CAIRN_KERNEL(joint);
const cairn_passes CAIRN_KERNEL(joint) = {
    .group_size = sizeof(group),
    .prepare = prepare,
    .warm_start = warm_start,
    .push = push,
    .relax = relax,
    .bounce = NULL,
    .store = store,
};

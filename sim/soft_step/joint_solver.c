// SPDX-License-Identifier: MIT

// Joints, CAIRN_LANES side by side, a group of one kind: soft while they push and exact while they
// relax, like contacts (sim/soft_step/contact_solver.c). A visit solves what holds the anchors,
// then what holds the axes without letting go of the anchors.

#include "sim/soft_step/joint_angular.h"
#include "sim/soft_step/joint_point.h"

typedef struct group {
    pair_lanes pair;
    uint32_t kind; // cairn_joint_kind, of every lane
    ends_lanes ends;
    point_part point;
    turn_part turn; // hinge and cone; the others never touch it
} group;

static bool has_axes(uint32_t kind) {
    return kind == CAIRN_JOINT_HINGE || kind == CAIRN_JOINT_CONE;
}

static void prepare_point(
    const cairn_solver_context *context, group *g, const body_lanes *a, const body_lanes *b) {
    float words[4][CAIRN_LANES];
    const float warm = context->warm_start != 0 ? 1.0f : 0.0f;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_joint *joint = &context->joints[context->joint_edges[g->pair.edge[i]].element];
        words[0][i] = joint->impulse.x * warm;
        words[1][i] = joint->impulse.y * warm;
        words[2][i] = joint->impulse.z * warm;
        words[3][i] = joint->length;
    }
    lanes in[4];
    memcpy(in, words, sizeof in);
    g->point.impulse = lanes3_of(in[0], in[1], in[2]);
    g->point.length = in[3];
    if (g->kind == CAIRN_JOINT_DISTANCE) {
        aim_distance(&g->point, &g->ends, a, b);
    } else {
        aim_ball(&g->point, &g->ends, a, b);
    }
}

static void prepare_axes(const cairn_solver_context *context, group *g, const place_lanes *place_a,
    const place_lanes *place_b, const body_lanes *a, const body_lanes *b) {
    float words[CAIRN_JOINT_ANGULAR_WORDS][CAIRN_LANES];
    const float warm = context->warm_start != 0 ? 1.0f : 0.0f;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        float values[CAIRN_JOINT_ANGULAR_WORDS];
        turn_words(&context->joints[context->joint_edges[g->pair.edge[i]].element], warm, values);
        for (uint32_t k = 0; k < CAIRN_JOINT_ANGULAR_WORDS; ++k) {
            words[k][i] = values[k];
        }
    }
    lanes in[CAIRN_JOINT_ANGULAR_WORDS];
    memcpy(in, words, sizeof in);
    g->turn.response = free_response(&g->point, &g->ends, a, b);
    prepare_turn(&g->turn, g->kind, in, place_a, place_b);
}

static void prepare_group(const cairn_solver_context *context, const uint32_t *order, group *g) {
    place_view views_a[CAIRN_LANES];
    place_view views_b[CAIRN_LANES];
    fill_pair(context, context->joint_edges, order, &g->pair);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_constraint_edge *link = &context->joint_edges[g->pair.edge[i]];
        const cairn_joint *joint = &context->joints[link->element];
        views_a[i] = (place_view){.motion = &context->motions[link->body_a],
            .anchor = vec3_sub(joint->anchor_a, context->body_params[link->body_a].centre)};
        views_b[i] = (place_view){.motion = &context->motions[link->body_b],
            .anchor = vec3_sub(joint->anchor_b, context->body_params[link->body_b].centre)};
    }
    g->kind = context->joint_edges[g->pair.edge[0]].kind;
    const place_lanes place_a = load_place(views_a);
    const place_lanes place_b = load_place(views_b);
    const body_lanes a = load_body(context, g->pair.a);
    const body_lanes b = load_body(context, g->pair.b);
    place_ends(&g->ends, &place_a, &place_b);
    prepare_point(context, g, &a, &b);
    if (has_axes(g->kind)) {
        prepare_axes(context, g, &place_a, &place_b, &a, &b);
    }
}

static void prepare(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    group *groups = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        prepare_group(context, context->joint_order + (size_t)i * CAIRN_LANES, &groups[i]);
    }
}

static void warm_start(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    group *groups = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        group *g = &groups[i];
        body_lanes a = load_body(context, g->pair.a);
        body_lanes b = load_body(context, g->pair.b);
        give_pull(&g->ends, &a, &b, point_pull(&g->point, g->kind));
        if (has_axes(g->kind)) {
            give_torque(&a, &b, turn_torque(&g->turn, g->kind));
        }
        store_body(context, g->pair.a, g->pair.moving_a, &a);
        store_body(context, g->pair.b, g->pair.moving_b, &b);
    }
}

static void follow(const cairn_solver_context *context, group *g, body_lanes *a, body_lanes *b) {
    const delta_lanes delta_a = load_delta(context, g->pair.a);
    const delta_lanes delta_b = load_delta(context, g->pair.b);
    follow_point(&g->point, g->kind, &g->ends, &delta_a, &delta_b, a, b);
    if (has_axes(g->kind)) {
        follow_turn(&g->turn, g->kind, &g->point, &g->ends, &delta_a, &delta_b, a, b);
    }
}

static void visit(const cairn_solver_context *context, group *g, bool push) {
    body_lanes a = load_body(context, g->pair.a);
    body_lanes b = load_body(context, g->pair.b);
    if (push) {
        follow(context, g, &a, &b);
    } else if (has_axes(g->kind)) {
        const delta_lanes delta_a = load_delta(context, g->pair.a);
        const delta_lanes delta_b = load_delta(context, g->pair.b);
        measure_rooms(&g->turn, &delta_a, &delta_b);
    }
    if (g->kind == CAIRN_JOINT_DISTANCE) {
        solve_distance(context, &g->point, &g->ends, &a, &b, push);
    } else {
        solve_ball(context, &g->point, &g->ends, &a, &b, push);
    }
    if (has_axes(g->kind)) {
        solve_turn(context, &g->turn, g->kind, &g->point, &g->ends, &a, &b, push);
    }
    store_body(context, g->pair.a, g->pair.moving_a, &a);
    store_body(context, g->pair.b, g->pair.moving_b, &b);
}

static void push(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    group *groups = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        visit(context, &groups[i], true);
    }
}

static void relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    group *groups = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        visit(context, &groups[i], false);
    }
}

static cairn_joint *joint_of(const cairn_solver_context *context, const group *g, uint32_t lane) {
    return &context->joints[context->joint_edges[g->pair.edge[lane]].element];
}

static void store_turn(const cairn_solver_context *context, const group *g) {
    const turn_part *turn = &g->turn;
    lanes3 held = lanes3_scale(turn->across[0], turn->held[0]);
    held = lanes3_add_scaled(held, turn->across[1], turn->held[1]);
    const bool hinge = g->kind == CAIRN_JOINT_HINGE;
    const lanes none = lanes_all(0.0f);
    const lanes values[6] = {hinge ? kept(held.x) : none, hinge ? kept(held.y) : none,
        hinge ? kept(held.z) : none, hinge ? none : kept(turn->swing.impulse),
        kept(turn->lower.impulse), kept(turn->upper.impulse)};
    float impulse[6][CAIRN_LANES];
    memcpy(impulse, values, sizeof impulse);
    for (uint32_t k = 0; k < CAIRN_LANES; ++k) {
        if ((g->pair.live >> k & 1u) != 0) {
            cairn_joint *joint = joint_of(context, g, k);
            joint->angular_impulse = vec3(impulse[0][k], impulse[1][k], impulse[2][k]);
            joint->swing_impulse = impulse[3][k];
            joint->lower_impulse = impulse[4][k];
            joint->upper_impulse = impulse[5][k];
        }
    }
}

static void store_point(const cairn_solver_context *context, const group *g) {
    const lanes3 pull = g->point.impulse;
    const lanes values[3] = {kept(pull.x), kept(pull.y), kept(pull.z)};
    float impulse[3][CAIRN_LANES];
    memcpy(impulse, values, sizeof impulse);
    for (uint32_t k = 0; k < CAIRN_LANES; ++k) {
        if ((g->pair.live >> k & 1u) != 0) {
            joint_of(context, g, k)->impulse = vec3(impulse[0][k], impulse[1][k], impulse[2][k]);
        }
    }
}

static void store(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    const group *groups = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        store_point(context, &groups[i]);
        if (has_axes(groups[i].kind)) {
            store_turn(context, &groups[i]);
        }
    }
}

extern const cairn_constraint_kernel CAIRN_KERNEL(joint);
const cairn_constraint_kernel CAIRN_KERNEL(joint) = {
    .constraint_size = sizeof(group),
    .stages = {[CAIRN_CONSTRAINT_PREPARE] = prepare,
        [CAIRN_CONSTRAINT_WARM_START] = warm_start,
        [CAIRN_CONSTRAINT_SOLVE_BIASED] = push,
        [CAIRN_CONSTRAINT_RELAX] = relax,
        [CAIRN_CONSTRAINT_STORE] = store},
};

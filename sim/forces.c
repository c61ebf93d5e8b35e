// SPDX-License-Identifier: MIT

// The rows of the PGS solver at the present pose, between accelerations and forces instead of
// velocities and impulses. What a row has besides J is replaced: its target is minus J' v, and
// minus its present velocity in a short time if it may slide.

#include <cairn/measure.h>

#include <string.h>

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/body/lock.h"
#include "sim/body/shape.h"
#include "sim/measurement.h"
#include "sim/pgs/pgs.h"
#include "sim/step.h"

#define GAP_MAX 1e-3f     // m: points with a larger gap do not touch
#define PART_SPEED 0.01f  // m/s: faster ones part, or collide
#define SLIDE_SPEED 1e-3f // m/s or rad/s: slower ones do not slide
#define STOP_TIME 1e-3    // s, in which friction would stop what slides: much more than it can

typedef struct force_pass {
    const cairn_world *now;
    cairn_measurement m;
    cairn_forces *out;
} force_pass;

// ---- How bodies move

typedef struct body_motion {
    cairn_vec3 centre; // of mass
    cairn_vec3 v, w;
} body_motion;

static body_motion motion_of(const force_pass *p, uint32_t slot) {
    const cairn_motion *motion = &p->now->state.motions[slot];
    return (body_motion){
        .centre = motion->position, .v = motion->linear_velocity, .w = motion->angular_velocity};
}

static cairn_vec3 velocity_at(const body_motion *body, cairn_vec3 arm) {
    return vec3_add(body->v, vec3_cross(body->w, arm));
}

// Towards the axis.
static cairn_vec3 circling(const body_motion *body, cairn_vec3 arm) {
    return vec3_cross(body->w, vec3_cross(body->w, arm));
}

static cairn_vec3 across(cairn_vec3 v, cairn_vec3 axis) {
    return vec3_add_scaled(v, axis, 0.0f - vec3_dot(v, axis));
}

// What accelerates a body besides rows, per unit of mass and inertia.
static void load_acceleration(const force_pass *p, uint32_t slot, double out[6]) {
    const cairn_world *world = p->now;
    const cairn_body *body = &world->state.bodies[slot];
    const cairn_motion *motion = &world->state.motions[slot];
    const cairn_response response = body_response(body, motion->rotation);
    const cairn_vec3 w = motion->angular_velocity;
    cairn_vec3 torque = body->torque;
    if (body->gyroscopic != 0) {
        const cairn_vec3 momentum = sym3_apply(sym3_inverse(response.inverse_inertia), w);
        torque = vec3_sub(torque, vec3_cross(w, momentum));
    }
    cairn_vec3 linear = vec3_scale(world->state.settings->present_gravity, body->gravity_scale);
    linear = lock_linear(body->flags, vec3_add_scaled(linear, body->force, body->inverse_mass));
    linear = vec3_add_scaled(linear, motion->linear_velocity, 0.0f - body->linear_damping);
    cairn_vec3 angular = sym3_apply(response.inverse_inertia, torque);
    angular = vec3_add_scaled(angular, w, 0.0f - body->angular_damping);
    const float values[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (uint32_t k = 0; k < 6; ++k) {
        out[k] = (double)values[k];
    }
}

// ---- Contacts

typedef struct contact_geometry {
    body_motion a, b;
    cairn_vec3 normal;      // from a to b
    float round_a, round_b; // radii, about the middles of what touches; 0: flat or sharp
    bool face_of_b;         // if neither or only a is round: the normal turns with b, not with a
} contact_geometry;

static float rounding(const cairn_geometry *geometry) {
    return geometry->kind == CAIRN_SHAPE_SPHERE || geometry->kind == CAIRN_SHAPE_CAPSULE
               ? geometry->radius
               : 0.0f;
}

static bool is_ground(const cairn_geometry *geometry) {
    return geometry->kind == CAIRN_SHAPE_HALF_SPACE || geometry->kind == CAIRN_SHAPE_MESH ||
           geometry->kind == CAIRN_SHAPE_HEIGHT_FIELD;
}

static contact_geometry geometry_of(const force_pass *p, const cairn_pgs_contact *constraint) {
    const cairn_state *state = &p->m.before->state;
    const cairn_contact *contact = &state->contacts[constraint->contact];
    const cairn_geometry *a = &state->shapes[cairn_id_index(contact->shape_a)].geometry;
    const cairn_geometry *b = &state->shapes[cairn_id_index(contact->shape_b)].geometry;
    const float round_a = rounding(a), round_b = rounding(b);
    const bool b_is_fixed = state->bodies[constraint->body_b].kind != CAIRN_BODY_DYNAMIC;
    return (contact_geometry){.a = motion_of(p, constraint->body_a),
        .b = motion_of(p, constraint->body_b),
        .normal = constraint->normal,
        .round_a = round_a,
        .round_b = round_b,
        .face_of_b = round_b == 0.0f && (round_a > 0.0f || is_ground(b) || b_is_fixed)};
}

// The middles of what touches at a point, from the centres of mass.
typedef struct contact_middles {
    cairn_vec3 of_a, of_b;
} contact_middles;

static contact_middles middles_of(const contact_geometry *g, const cairn_pgs_contact_row *point) {
    return (contact_middles){.of_a = vec3_add_scaled(point->arm_a, g->normal, 0.0f - g->round_a),
        .of_b = vec3_add_scaled(point->arm_b, g->normal, g->round_b)};
}

// The gap between the middle of one body and a face of the other, C = n . (p - q), where n turns
// with the body of the face: C'' without accelerations is n . (w_p x (w_p x r) - w x (w x s)) -
// 2 n . (w x u), with u the velocity of the middle as the face sees it. `normal` points out of it.
static float gap_bias_of_face(
    const body_motion *face, cairn_vec3 normal, const body_motion *other, cairn_vec3 middle) {
    const cairn_vec3 s = vec3_sub(vec3_add(other->centre, middle), face->centre);
    const cairn_vec3 u = vec3_sub(velocity_at(other, middle), velocity_at(face, s));
    const cairn_vec3 turn = vec3_cross(face->w, u);
    return vec3_dot(normal, vec3_sub(circling(other, middle), circling(face, s))) -
           2.0f * vec3_dot(normal, turn);
}

static bool both_round(const contact_geometry *g) {
    return g->round_a > 0.0f && g->round_b > 0.0f;
}

// J' v along the normal.
static float gap_bias(const contact_geometry *g, const cairn_pgs_contact_row *point) {
    const contact_middles m = middles_of(g, point);
    if (both_round(g)) { // the distance of two points: their velocity across it turns it
        const cairn_vec3 u = vec3_sub(velocity_at(&g->b, m.of_b), velocity_at(&g->a, m.of_a));
        const cairn_vec3 side = across(u, g->normal);
        return vec3_dot(g->normal, vec3_sub(circling(&g->b, m.of_b), circling(&g->a, m.of_a))) +
               vec3_dot(side, side) / (g->round_a + g->round_b);
    }
    return g->face_of_b ? gap_bias_of_face(&g->b, vec3_negate(g->normal), &g->a, m.of_a)
                        : gap_bias_of_face(&g->a, g->normal, &g->b, m.of_b);
}

// How fast the normal turns.
static cairn_vec3 normal_rate(const contact_geometry *g, const contact_middles *m) {
    if (both_round(g)) {
        const cairn_vec3 u = vec3_sub(velocity_at(&g->b, m->of_b), velocity_at(&g->a, m->of_a));
        return vec3_scale(across(u, g->normal), 1.0f / (g->round_a + g->round_b));
    }
    return vec3_cross(g->face_of_b ? g->b.w : g->a.w, g->normal);
}

// J' v along tangents, of the points that touch now and in the next instant: on a ball that rolls
// they are others.
static cairn_vec3 slide_bias(const contact_geometry *g, const cairn_pgs_contact_row *point) {
    const contact_middles m = middles_of(g, point);
    const cairn_vec3 turn = normal_rate(g, &m);
    // The point moves with the middle of what is round, and around it.
    const bool on_b = g->round_b > 0.0f;
    const cairn_vec3 moves =
        on_b ? vec3_add_scaled(velocity_at(&g->b, m.of_b), turn, 0.0f - g->round_b)
             : vec3_add_scaled(velocity_at(&g->a, m.of_a), turn, g->round_a);
    if (g->round_a == 0.0f && g->round_b == 0.0f) {
        return vec3_sub(circling(&g->b, point->arm_b), circling(&g->a, point->arm_a));
    }
    const cairn_vec3 of_a = vec3_cross(g->a.w, vec3_sub(moves, g->a.v));
    const cairn_vec3 of_b = vec3_cross(g->b.w, vec3_sub(moves, g->b.v));
    return vec3_sub(of_b, of_a);
}

static void set_normal(force_pass *p, const contact_geometry *g, const cairn_pgs_contact_row *point,
    cairn_mlcp_row *row) {
    const cairn_vec3 between =
        vec3_sub(velocity_at(&g->b, point->arm_b), velocity_at(&g->a, point->arm_a));
    const float parts = vec3_dot(g->normal, between);
    const bool near = point->separation <= GAP_MAX;
    p->out->impacts += near && parts < 0.0f - PART_SPEED ? 1 : 0;
    row->target = 0.0 - (double)gap_bias(g, point);
    row->upper = CAIRN_MLCP_UNBOUNDED;
    if (near && float_abs(parts) <= PART_SPEED) {
        p->out->touching += 1;
    } else {
        row->target = 0.0;
        row->upper = 0.0;
    }
}

// What friction would do to stop this speed.
static double stopping(float speed) {
    return float_abs(speed) > SLIDE_SPEED ? 0.0 - (double)speed / STOP_TIME : 0.0;
}

static void set_tangents(
    force_pass *p, const contact_geometry *g, const cairn_pgs_contact *constraint, uint32_t point) {
    const cairn_pgs_contact_row *from = &constraint->rows[point];
    const float rate = world_step_rate(p->now);
    const cairn_vec3 between = vec3_add(constraint->surface_velocity,
        vec3_sub(velocity_at(&g->b, from->arm_b), velocity_at(&g->a, from->arm_a)));
    const cairn_vec3 side = across(between, g->normal);
    const bool slides = vec3_length(side) > SLIDE_SPEED;
    const cairn_vec3 bias = slide_bias(g, from);
    for (uint32_t t = 0; t < 2; ++t) {
        cairn_mlcp_row *row =
            &p->m.system.rows[constraint->tangent_row + point * constraint->tangent_stride + t];
        const double stop =
            slides ? (double)vec3_dot(side, constraint->tangents[t]) / STOP_TIME : 0.0;
        row->target = 0.0 - (double)vec3_dot(bias, constraint->tangents[t]) - stop;
        if (from->friction_bound >= 0.0f) {
            row->upper = (double)(from->friction_bound * rate);
            row->lower = 0.0 - row->upper;
        }
    }
}

static void set_contact(force_pass *p, const cairn_pgs_contact *constraint) {
    const contact_geometry g = geometry_of(p, constraint);
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        cairn_mlcp_row *rows = p->m.system.rows;
        set_normal(p, &g, &constraint->rows[i],
            &rows[constraint->normal_row + i * constraint->normal_stride]);
        set_tangents(p, &g, constraint, i);
    }
    if (constraint->resists) {
        const cairn_vec3 turn = vec3_sub(g.b.w, g.a.w);
        const cairn_vec3 axes[3] = {
            constraint->tangents[0], constraint->tangents[1], constraint->normal};
        for (uint32_t i = 0; i < 3; ++i) {
            p->m.system.rows[constraint->resistance_row + i].target =
                stopping(vec3_dot(turn, axes[i]));
        }
    }
}

// ---- Joints

// An axis that is fixed to body a: e . (w_b - w_a) changes as e turns.
static float turn_bias(const body_motion *a, const body_motion *b, cairn_vec3 axis) {
    return vec3_dot(vec3_cross(a->w, axis), vec3_sub(b->w, a->w));
}

static void set_joint(force_pass *p, const cairn_pgs_joint *constraint, uint32_t first) {
    const body_motion a = motion_of(p, constraint->body_a), b = motion_of(p, constraint->body_b);
    cairn_mlcp_row *row = &p->m.system.rows[first];
    for (uint32_t i = 0; i < constraint->row_count; ++i, ++row) {
        const cairn_pgs_angular_row *from = &constraint->rows[i];
        const float speed = vec3_dot(from->axis, vec3_sub(b.w, a.w));
        row->target = 0.0 - (double)turn_bias(&a, &b, from->axis);
        // A limit that is not reached permits a velocity that uses the slack up.
        if (from->one_sided != 0 &&
            (from->bias < 0.0f - GAP_MAX * world_step_rate(p->now) || speed > PART_SPEED)) {
            row->upper = 0.0;
        }
    }
    const cairn_vec3 circle =
        vec3_sub(circling(&b, constraint->arm_b), circling(&a, constraint->arm_a));
    if (constraint->kind == CAIRN_JOINT_DISTANCE) {
        const cairn_vec3 offset =
            vec3_sub(vec3_add(b.centre, constraint->arm_b), vec3_add(a.centre, constraint->arm_a));
        const cairn_vec3 side =
            across(vec3_sub(velocity_at(&b, constraint->arm_b), velocity_at(&a, constraint->arm_a)),
                constraint->axis);
        const float length = float_max(vec3_length(offset), 1e-6f);
        row->target =
            0.0 - (double)(vec3_dot(constraint->axis, circle) + vec3_dot(side, side) / length);
        return;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        row[i].target = 0.0 - (double)vec3_component(circle, i);
    }
}

// Of rows that hold points together, or directions of two bodies.
static float held_bias(const force_pass *p, const cairn_joint_rows *rows, const cairn_row *row) {
    const body_motion a = motion_of(p, rows->body_a), b = motion_of(p, rows->body_b);
    const cairn_vec3 between = vec3_sub(velocity_at(&b, rows->arm_b), velocity_at(&a, rows->arm_a));
    const cairn_vec3 slide = vec3_scale(rows->slide, vec3_dot(rows->slide, between));
    const cairn_vec3 of_a =
        vec3_add_scaled(circling(&a, rows->arm_a), vec3_cross(a.w, slide), 2.0f);
    const cairn_vec3 of_b = circling(&b, rows->arm_b);
    const float linear = vec3_dot(row->j.linear_a, of_a) + vec3_dot(row->j.linear_b, of_b);
    const bool points = !vec3_is_zero(row->j.linear_a) || !vec3_is_zero(row->j.linear_b);
    return points ? linear : turn_bias(&a, &b, row->j.angular_b);
}

// The lengths of the straight ropes from fixed points, or of a distance joint, turn as well.
static float rope_bias(cairn_vec3 along, const body_motion *body, cairn_vec3 arm, cairn_vec3 from,
    cairn_vec3 from_velocity) {
    const cairn_vec3 rope = vec3_sub(vec3_add(body->centre, arm), from);
    const float length = float_max(vec3_length(rope), 1e-6f);
    const cairn_vec3 axis = vec3_scale(rope, 1.0f / length);
    const cairn_vec3 side = across(vec3_sub(velocity_at(body, arm), from_velocity), axis);
    return vec3_dot(along, axis) * vec3_dot(side, side) / length;
}

static float driven_bias(const force_pass *p, const cairn_joint_rows *rows, const cairn_row *row) {
    const cairn_joint_drive *drive = &p->m.before->state.joint_drives[rows->drive];
    const body_motion a = motion_of(p, rows->body_a), b = motion_of(p, rows->body_b);
    switch (p->m.before->state.joints[drive->joint].kind) {
    case CAIRN_JOINT_GEAR: // each axis stays where it is on its body
        return 0.0f;
    case CAIRN_JOINT_DISTANCE:
        return held_bias(p, rows, row) + rope_bias(row->j.linear_b, &b, rows->arm_b,
                                             vec3_add(a.centre, rows->arm_a),
                                             velocity_at(&a, rows->arm_a));
    case CAIRN_JOINT_PULLEY:
        return held_bias(p, rows, row) +
               rope_bias(row->j.linear_a, &a, rows->arm_a, drive->fixed_a, vec3_zero()) +
               rope_bias(row->j.linear_b, &b, rows->arm_b, drive->fixed_b, vec3_zero());
    default:
        return held_bias(p, rows, row);
    }
}

static double velocity_along(
    const force_pass *p, const cairn_joint_rows *rows, const cairn_row *row) {
    const body_motion a = motion_of(p, rows->body_a), b = motion_of(p, rows->body_b);
    return (double)(vec3_dot(row->j.linear_a, a.v) + vec3_dot(row->j.angular_a, a.w) +
                    vec3_dot(row->j.linear_b, b.v) + vec3_dot(row->j.angular_b, b.w));
}

// Springs, motors and limits want a velocity at the end of the step: the target has it.
static void set_driven(force_pass *p, const cairn_joint_rows *rows) {
    const double rate = (double)world_step_rate(p->now);
    cairn_mlcp_row *row = &p->m.system.rows[rows->system_row];
    for (uint32_t i = 0; i < rows->block_count; ++i) {
        const cairn_row_block *block = &rows->blocks[i];
        for (uint32_t k = block->first;
             block->kind != CAIRN_BLOCK_OFF && k < block->first + block->count; ++k, ++row) {
            const cairn_row *from = &rows->rows[k];
            const double wanted = row->target;
            row->target = 0.0 - (double)driven_bias(p, rows, from);
            if (block->kind != CAIRN_BLOCK_HOLD) {
                row->target += (wanted - velocity_along(p, rows, from)) * rate;
            }
            row->lower = row->lower <= -CAIRN_MLCP_UNBOUNDED ? row->lower : row->lower * rate;
            row->upper = row->upper >= CAIRN_MLCP_UNBOUNDED ? row->upper : row->upper * rate;
        }
    }
}

// ---- Reading

static void load(force_pass *p) {
    cairn_measurement *m = &p->m;
    const cairn_pgs *pgs = m->before->pgs;
    uint32_t row = 0;
    cairn_laboratory_build(m->before, &m->system, m->x);
    for (uint32_t i = 0; i < m->system.body_count; ++i) {
        double *free_acceleration = m->system.bodies[i].velocity;
        if (pgs->bodies[i].takes_impulses != 0) {
            load_acceleration(p, i, free_acceleration);
        }
    }
    for (uint32_t i = 0; i < pgs->joint_graph.edge_count; ++i) {
        set_joint(p, &pgs->joints[i], row);
        row += pgs->joints[i].row_count + (pgs->joints[i].kind == CAIRN_JOINT_DISTANCE ? 1 : 3);
    }
    for (uint32_t i = 0; i < pgs->driven_count; ++i) {
        set_driven(p, &pgs->driven[i]);
    }
    for (uint32_t i = 0; i < pgs->contact_graph.edge_count; ++i) {
        set_contact(p, &pgs->contacts[i]);
    }
    memset(m->x, 0, m->system.row_count * sizeof *m->x);
    cairn_mlcp_prepare(&m->system);
}

static void solve(force_pass *p) {
    cairn_measurement *m = &p->m;
    const cairn_solve_options options = {.solver = CAIRN_SOLVER_DIRECT};
    const cairn_solve_report report = cairn_solve(&m->system, &options, &m->work, m->x);
    p->out->rows = m->system.row_count;
    p->out->articulated = cairn_measurement_articulated(m);
    p->out->solved = report.failed == 0 ? 1 : 0;
    p->out->pivots = report.iterations;
    p->out->residual = cairn_natural_residual(&m->system, m->x, m->w, m->trial);
    cairn_mlcp_respond(&m->system, m->x);
}

// J^T f of every row at the body.
static void add_reactions(const cairn_measurement *m, uint32_t slot, cairn_body_forces *out) {
    const cairn_mlcp *system = &m->system;
    for (uint32_t i = system->body_first[slot]; i < system->body_first[slot + 1]; ++i) {
        const cairn_mlcp_row *row = &system->rows[system->body_rows[i] / 2];
        const double *j = row->jacobian[system->body_rows[i] % 2];
        const double f = m->x[system->body_rows[i] / 2];
        for (uint32_t k = 0; k < 3; ++k) {
            out->force[k] += j[k] * f;
            out->torque[k] += j[3 + k] * f;
        }
    }
}

static bool can_accelerate(const cairn_world *world, uint32_t slot) {
    return cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot) &&
           world->state.bodies[slot].kind == CAIRN_BODY_DYNAMIC;
}

static void write_bodies(const force_pass *p, cairn_body_forces *bodies) {
    const cairn_measurement *m = &p->m;
    for (uint32_t i = 0; i < p->now->state.settings->body_slots; ++i) {
        if (!can_accelerate(p->now, i)) {
            continue;
        }
        double a[6];
        *bodies = (cairn_body_forces){.body = cairn_body_id_at(p->now, i)};
        load_acceleration(p, i, a);
        if (p->out->rows > 0) {
            add_reactions(m, i, bodies);
        }
        for (uint32_t k = 0; k < 3; ++k) {
            bodies->linear[k] = a[k] + (p->out->rows > 0 ? m->system.change[i][k] : 0.0);
            bodies->angular[k] = a[3 + k] + (p->out->rows > 0 ? m->system.change[i][3 + k] : 0.0);
        }
        ++bodies;
    }
}

// A copy with all awake, up to its rows. Rules do not run.
static bool prepare(force_pass *p) {
    cairn_world *copy = p->m.before;
    copy->def.rules = NULL;
    copy->def.solver = CAIRN_SOLVER_DIRECT; // friction as Lemke's problem has it
    for (uint32_t i = 0; i < copy->state.settings->body_slots; ++i) {
        if (can_accelerate(copy, i)) {
            cairn_body_wake(copy, i);
        }
    }
    return cairn_step_prepare_rows(copy, NULL, 0);
}

cairn_status cairn_world_forces_read(
    const cairn_world *world, uint32_t capacity, cairn_body_forces *bodies, cairn_forces *out) {
    force_pass p = {.now = world, .m = {.after = world}, .out = out};
    *out = (cairn_forces){.solved = 1};
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        out->bodies += can_accelerate(world, i) ? 1 : 0;
    }
    if (out->bodies > capacity) {
        return CAIRN_BUFFER_TOO_SMALL;
    }
    const bool copied = cairn_world_fork(world, &p.m.before) == CAIRN_OK;
    const bool active = copied && prepare(&p);
    const bool allocated = active && cairn_measurement_allocate(&p.m, true);
    if (allocated) {
        load(&p);
        solve(&p);
    }
    const bool failed = !copied || allocated != active;
    if (!failed) {
        write_bodies(&p, bodies);
    }
    cairn_measurement_destroy(&p.m);
    if (failed) {
        *out = (cairn_forces){.bodies = 0};
    }
    return failed ? CAIRN_OUT_OF_MEMORY : CAIRN_OK;
}

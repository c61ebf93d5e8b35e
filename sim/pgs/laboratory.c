// SPDX-License-Identifier: MIT

// The rows of a step as a system (sim/reference/mlcp.h), in the order in which the PGS solver
// sweeps them, and back. So a laboratory solver takes the place of the sweeps and of nothing else:
// integration, contacts, warm starting, impacts and Baumgarte's term are those of PGS.
//
// Two things differ from the PGS solver. A ball joint is three rows that are not solved together,
// and the rows of a driven joint act along themselves. A spring of several rows is soft row by row.

#include "sim/pgs/pgs.h"

#include <string.h>

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/pgs/row_math.h"
#include "sim/task/task_scheduler.h"

// Groups, rows or bodies that are worth sharing with helpers.
#define SHARED_MIN 256
// Of a joint: its rows, and its blocks.
#define PLAIN_ROWS_MAX (3 + CAIRN_PGS_ANGULAR_ROWS_MAX)
#define JOINT_ROWS (CAIRN_JOINT_ROWS_MAX > PLAIN_ROWS_MAX ? CAIRN_JOINT_ROWS_MAX : PLAIN_ROWS_MAX)
// Of a contact: at each point a normal and two tangents, then spin and rolling.
#define CONTACT_ROWS (3 * CAIRN_MANIFOLD_POINTS_MAX + 3)
#define CONTACT_BLOCKS (2 * CAIRN_MANIFOLD_POINTS_MAX + 3)

cairn_mlcp_capacity cairn_laboratory_capacity(uint32_t bodies, uint32_t contacts, uint32_t joints) {
    return (cairn_mlcp_capacity){.bodies = bodies,
        .rows = contacts * CONTACT_ROWS + joints * JOINT_ROWS,
        .blocks = contacts * CONTACT_BLOCKS + joints * JOINT_ROWS,
        .groups = contacts + joints};
}

void cairn_laboratory_allocate(
    cairn_laboratory *laboratory, cairn_arena *from, const cairn_world_def *def) {
    const cairn_mlcp_capacity capacity =
        cairn_laboratory_capacity(def->body_capacity, def->contact_capacity, def->joint_capacity);
    cairn_mlcp_allocate(&laboratory->system, from, &capacity);
    cairn_solve_allocate(
        &laboratory->work, from, capacity.rows, def->solver == CAIRN_SOLVER_DIRECT);
    laboratory->impulses = cairn_arena_take(from, capacity.rows, sizeof(double));
}

// ---- Building

typedef struct row_builder {
    const cairn_world *world;
    cairn_mlcp *system;
    double *impulses; // by row
    const cairn_pgs_body *a;
    const cairn_pgs_body *b;
    uint32_t friction_model;
} row_builder;

static void put3(double *to, cairn_vec3 from, double sign) {
    to[0] = sign * (double)from.x;
    to[1] = sign * (double)from.y;
    to[2] = sign * (double)from.z;
}

static double along(const double j[6], const cairn_pgs_body *body) {
    const cairn_vec3 v = body->linear_velocity;
    const cairn_vec3 w = body->angular_velocity;
    return j[0] * (double)v.x + j[1] * (double)v.y + j[2] * (double)v.z + j[3] * (double)w.x +
           j[4] * (double)w.y + j[5] * (double)w.z;
}

// After J and the target are set: what bodies that impulses do not move contribute to J v is part
// of the target.
static void finish_row(const row_builder *at, cairn_mlcp_row *row, float impulse) {
    const cairn_pgs_body *bodies[2] = {at->a, at->b};
    for (uint32_t side = 0; side < 2; ++side) {
        if (bodies[side]->takes_impulses == 0 && bodies[side]->at_rest == 0) {
            row->target -= along(row->jacobian[side], bodies[side]);
        }
    }
    at->impulses[at->system->row_count - 1] = (double)impulse;
}

static cairn_mlcp_row *add_point_row(const row_builder *at, cairn_vec3 axis, cairn_vec3 arm_a,
    cairn_vec3 arm_b, double target, float impulse) {
    cairn_mlcp_row *row = cairn_mlcp_add_row(at->system);
    put3(row->jacobian[0], axis, -1.0);
    put3(row->jacobian[0] + 3, vec3_cross(arm_a, axis), -1.0);
    put3(row->jacobian[1], axis, 1.0);
    put3(row->jacobian[1] + 3, vec3_cross(arm_b, axis), 1.0);
    row->target = target;
    finish_row(at, row, impulse);
    return row;
}

static cairn_mlcp_row *add_angular_row(
    const row_builder *at, cairn_vec3 axis, double target, float impulse) {
    cairn_mlcp_row *row = cairn_mlcp_add_row(at->system);
    put3(row->jacobian[0] + 3, axis, -1.0);
    put3(row->jacobian[1] + 3, axis, 1.0);
    row->target = target;
    finish_row(at, row, impulse);
    return row;
}

static void begin_group(row_builder *at, uint32_t body_a, uint32_t body_b) {
    at->a = &at->world->pgs->bodies[body_a];
    at->b = &at->world->pgs->bodies[body_b];
    cairn_mlcp_add_group(at->system, at->a->takes_impulses != 0 ? body_a : CAIRN_MLCP_FIXED,
        at->b->takes_impulses != 0 ? body_b : CAIRN_MLCP_FIXED);
}

static cairn_mlcp_block *add_length(
    const row_builder *at, uint32_t normal_first, uint32_t count, uint32_t stride) {
    cairn_mlcp_block *block = cairn_mlcp_add_block(at->system, CAIRN_MLCP_LENGTH);
    block->normal_first = normal_first;
    block->normal_count = count;
    block->normal_stride = stride;
    return block;
}

static cairn_mlcp_row *add_normal(
    const row_builder *at, const cairn_pgs_contact *constraint, uint32_t point) {
    const cairn_pgs_contact_row *from = &constraint->rows[point];
    cairn_mlcp_row *row = add_point_row(
        at, constraint->normal, from->arm_a, from->arm_b, (double)from->bias, from->normal_impulse);
    row->lower = 0.0;
    return row;
}

static void add_tangent(
    const row_builder *at, const cairn_pgs_contact *constraint, uint32_t point, uint32_t t) {
    const cairn_pgs_contact_row *from = &constraint->rows[point];
    const cairn_vec3 moves = vec3_add(from->chord, constraint->surface_velocity);
    cairn_mlcp_row *row = add_point_row(at, constraint->tangents[t], from->arm_a, from->arm_b,
        0.0 - (double)vec3_dot(moves, constraint->tangents[t]), from->tangent_impulse[t]);
    if (from->friction_bound >= 0.0f) {
        row->lower = 0.0 - (double)from->friction_bound;
        row->upper = (double)from->friction_bound;
    }
}

static void set_friction(const cairn_pgs_contact *constraint, cairn_mlcp_block *block) {
    block->coefficient = (double)constraint->friction;
    block->sliding = (double)constraint->material.friction;
}

// `normal`: the row of the point's normal.
static void add_point_friction(const row_builder *at, const cairn_pgs_contact *constraint,
    uint32_t point, uint32_t normal, uint32_t stride) {
    cairn_mlcp_block *block = NULL;
    for (uint32_t t = 0; t < 2; ++t) {
        if (at->friction_model == CAIRN_FRICTION_CONSTANT) {
            block = t == 0 ? cairn_mlcp_add_block(at->system, CAIRN_MLCP_BOUNDS) : block;
        } else if (t == 0 || at->friction_model == CAIRN_FRICTION_PYRAMID) {
            block = add_length(at, normal, 1, stride);
            set_friction(constraint, block);
        }
        add_tangent(at, constraint, point, t);
    }
}

static void add_resistance(
    const row_builder *at, const cairn_pgs_contact *constraint, uint32_t normal, uint32_t stride) {
    const uint32_t points = constraint->row_count;
    cairn_mlcp_block *rolling = add_length(at, normal, points, stride);
    rolling->coefficient = (double)constraint->material.rolling_resistance;
    rolling->sliding = rolling->coefficient;
    for (uint32_t t = 0; t < 2; ++t) {
        add_angular_row(at, constraint->tangents[t], 0.0, constraint->rolling_impulse[t]);
    }
    cairn_mlcp_block *spin = add_length(at, normal, points, stride);
    spin->coefficient = (double)constraint->material.spin_resistance;
    spin->sliding = spin->coefficient;
    add_angular_row(at, constraint->normal, 0.0, constraint->spin_impulse);
}

// As the PGS solver sweeps them: friction, resistance, normals. The cone of a point is one block.
static void add_contact(row_builder *at, cairn_pgs_contact *constraint) {
    cairn_mlcp *system = at->system;
    const uint32_t points = constraint->row_count;
    begin_group(at, constraint->body_a, constraint->body_b);
    if (at->friction_model == CAIRN_FRICTION_CONE) {
        constraint->normal_row = system->row_count;
        constraint->normal_stride = 3;
        constraint->tangent_row = system->row_count + 1;
        constraint->tangent_stride = 3;
        for (uint32_t i = 0; i < points; ++i) {
            set_friction(constraint, cairn_mlcp_add_block(system, CAIRN_MLCP_CONE));
            add_normal(at, constraint, i);
            add_tangent(at, constraint, i, 0);
            add_tangent(at, constraint, i, 1);
        }
    } else {
        const uint32_t resisting = constraint->resists ? 3 : 0;
        constraint->tangent_row = system->row_count;
        constraint->tangent_stride = 2;
        constraint->normal_row = system->row_count + 2 * points + resisting;
        constraint->normal_stride = 1;
        for (uint32_t i = 0; i < points; ++i) {
            add_point_friction(at, constraint, i, constraint->normal_row + i, 1);
        }
    }
    constraint->resistance_row = system->row_count;
    if (constraint->resists) {
        add_resistance(at, constraint, constraint->normal_row, constraint->normal_stride);
    }
    if (at->friction_model != CAIRN_FRICTION_CONE) {
        CAIRN_ASSERT(system->row_count == constraint->normal_row);
        cairn_mlcp_add_block(system, CAIRN_MLCP_BOUNDS)->visits = CAIRN_NORMAL_PASSES;
        for (uint32_t i = 0; i < points; ++i) {
            add_normal(at, constraint, i);
        }
    }
}

// Rows about axes, then those between the anchors.
static void add_joint(row_builder *at, const cairn_pgs_joint *constraint) {
    begin_group(at, constraint->body_a, constraint->body_b);
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        const cairn_pgs_angular_row *from = &constraint->rows[i];
        cairn_mlcp_add_block(at->system, CAIRN_MLCP_BOUNDS);
        cairn_mlcp_row *row = add_angular_row(at, from->axis, (double)from->bias, from->impulse);
        row->lower = from->one_sided != 0 ? 0.0 : row->lower;
    }
    const cairn_vec3 impulse = constraint->impulse;
    const cairn_vec3 bias = constraint->bias;
    const bool distance = constraint->kind == CAIRN_JOINT_DISTANCE;
    cairn_mlcp_add_block(at->system, CAIRN_MLCP_BOUNDS);
    for (uint32_t i = 0; i < (distance ? 1u : 3u); ++i) {
        const cairn_vec3 axis = distance ? constraint->axis : vec3_along_axis(i, 1.0f);
        add_point_row(at, axis, constraint->arm_a, constraint->arm_b,
            (double)vec3_component(bias, i), vec3_component(impulse, i));
    }
}

// A block asks for velocity * (J v - target + chord) + position * error + impulse * K x = 0
// (sim/constraint/joint_rows.c).
static void add_driven_block(
    const row_builder *at, const cairn_row_time *time, cairn_joint_rows *rows, uint32_t index) {
    const cairn_row_block *from = &rows->blocks[index];
    const bool bounded = from->count > 1 && (double)from->upper < CAIRN_MLCP_UNBOUNDED;
    cairn_mlcp_block *block =
        cairn_mlcp_add_block(at->system, bounded ? CAIRN_MLCP_LENGTH : CAIRN_MLCP_BOUNDS);
    block->radius = (double)from->upper;
    for (uint32_t i = from->first; i < from->first + from->count; ++i) {
        cairn_row *joint_row = &rows->rows[i];
        const cairn_row_softness used = cairn_joint_block_softness(time, from, joint_row);
        cairn_mlcp_row *row = cairn_mlcp_add_row(at->system);
        put3(row->jacobian[0], joint_row->j.linear_a, 1.0);
        put3(row->jacobian[0] + 3, joint_row->j.angular_a, 1.0);
        put3(row->jacobian[1], joint_row->j.linear_b, 1.0);
        put3(row->jacobian[1] + 3, joint_row->j.angular_b, 1.0);
        joint_row->action = joint_row->j;
        const float chord = from->kind == CAIRN_BLOCK_HOLD ? joint_row->chord : 0.0f;
        const double position =
            used.velocity > 0.0f ? (double)used.position / (double)used.velocity : 0.0;
        row->target =
            (double)joint_row->target - (double)chord - position * (double)joint_row->error;
        row->lower = (double)from->lower;
        row->upper = (double)from->upper;
        // The share of A's diagonal, which is known only once it is prepared.
        row->softness = used.velocity > 0.0f ? (double)used.impulse / (double)used.velocity : 0.0;
        row->softness_is_share = true;
        finish_row(at, row, joint_row->impulse);
    }
}

static void add_driven(row_builder *at, const cairn_row_time *time, cairn_joint_rows *rows) {
    begin_group(at, rows->body_a, rows->body_b);
    rows->system_row = at->system->row_count;
    for (uint32_t i = 0; i < rows->block_count; ++i) {
        if (rows->blocks[i].kind != CAIRN_BLOCK_OFF) {
            add_driven_block(at, time, rows, i);
        }
    }
}

static void load_body(const cairn_pgs_body *from, cairn_mlcp_body *to) {
    const cairn_sym3 *i = &from->inverse_inertia;
    *to = (cairn_mlcp_body){.inverse_inertia = {(double)i->xx, (double)i->yy, (double)i->zz,
                                (double)i->xy, (double)i->xz, (double)i->yz}};
    put3(to->inverse_mass, from->inverse_mass_axes, 1.0);
    if (from->takes_impulses != 0) {
        put3(to->velocity, from->linear_velocity, 1.0);
        put3(to->velocity + 3, from->angular_velocity, 1.0);
    }
}

void cairn_laboratory_build(cairn_world *world, cairn_mlcp *system, double *impulses) {
    cairn_pgs *pgs = world->pgs;
    const cairn_row_time time = cairn_pgs_row_time(world);
    // Lemke's problem has pyramids; a cone of the convex kind is Coulomb's there.
    const uint32_t model = world->def.friction_model;
    const bool direct = world->def.solver == CAIRN_SOLVER_DIRECT;
    row_builder at = {.world = world,
        .system = system,
        .impulses = impulses,
        .friction_model =
            direct && model == CAIRN_FRICTION_CONE ? (uint32_t)CAIRN_FRICTION_COULOMB : model};
    cairn_mlcp_clear(system);
    system->body_count = world->state.settings->body_slots;
    for (uint32_t i = 0; i < system->body_count; ++i) {
        load_body(&pgs->bodies[i], &system->bodies[i]);
    }
    for (uint32_t i = 0; i < pgs->joint_graph.edge_count; ++i) {
        add_joint(&at, &pgs->joints[i]);
    }
    for (uint32_t i = 0; i < pgs->driven_count; ++i) {
        add_driven(&at, &time, &pgs->driven[i]);
    }
    for (uint32_t i = 0; i < pgs->contact_graph.edge_count; ++i) {
        add_contact(&at, &pgs->contacts[i]);
    }
    cairn_mlcp_prepare(system);
}

// ---- Solving and storing

// The bodies have the velocities after warm starting; the system wants those without any impulse.
static void take_off_impulses(cairn_mlcp *system, const double *impulses) {
    cairn_mlcp_respond(system, impulses);
    for (uint32_t i = 0; i < system->body_count; ++i) {
        for (uint32_t k = 0; k < 6; ++k) {
            system->bodies[i].velocity[k] -= system->change[i][k];
        }
    }
    cairn_mlcp_prepare(system);
}

static void store_contact(cairn_pgs_contact *constraint, const double *x) {
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        cairn_pgs_contact_row *row = &constraint->rows[i];
        const uint32_t tangent = constraint->tangent_row + i * constraint->tangent_stride;
        row->normal_impulse = (float)x[constraint->normal_row + i * constraint->normal_stride];
        row->tangent_impulse[0] = (float)x[tangent];
        row->tangent_impulse[1] = (float)x[tangent + 1];
    }
    if (constraint->resists) {
        constraint->rolling_impulse[0] = (float)x[constraint->resistance_row];
        constraint->rolling_impulse[1] = (float)x[constraint->resistance_row + 1];
        constraint->spin_impulse = (float)x[constraint->resistance_row + 2];
    }
}

static uint32_t store_joint(cairn_pgs_joint *constraint, const double *x) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        constraint->rows[i].impulse = (float)x[next++];
    }
    if (constraint->kind == CAIRN_JOINT_DISTANCE) {
        constraint->impulse = vec3((float)x[next], 0.0f, 0.0f);
        return next + 1;
    }
    constraint->impulse = vec3((float)x[next], (float)x[next + 1], (float)x[next + 2]);
    return next + 3;
}

static void store_driven(cairn_joint_rows *rows, const double *x) {
    uint32_t next = rows->system_row;
    for (uint32_t i = 0; i < rows->block_count; ++i) {
        const cairn_row_block *block = &rows->blocks[i];
        for (uint32_t k = 0; block->kind != CAIRN_BLOCK_OFF && k < block->count; ++k) {
            rows->rows[block->first + k].impulse = (float)x[next++];
        }
    }
}

static void store_bodies(cairn_world *world, const cairn_mlcp *system) {
    for (uint32_t i = 0; i < system->body_count; ++i) {
        cairn_pgs_body *body = &world->pgs->bodies[i];
        const double *v = system->bodies[i].velocity;
        const double *u = system->change[i];
        if (body->takes_impulses != 0) {
            body->linear_velocity =
                vec3((float)(v[0] + u[0]), (float)(v[1] + u[1]), (float)(v[2] + u[2]));
            body->angular_velocity =
                vec3((float)(v[3] + u[3]), (float)(v[4] + u[4]), (float)(v[5] + u[5]));
        }
    }
}

static void store(cairn_world *world, const double *x) {
    cairn_pgs *pgs = world->pgs;
    uint32_t next = 0;
    for (uint32_t i = 0; i < pgs->joint_graph.edge_count; ++i) {
        next += store_joint(&pgs->joints[i], x + next);
    }
    for (uint32_t i = 0; i < pgs->driven_count; ++i) {
        store_driven(&pgs->driven[i], x);
    }
    for (uint32_t i = 0; i < pgs->contact_graph.edge_count; ++i) {
        store_contact(&pgs->contacts[i], x);
    }
    store_bodies(world, &pgs->laboratory.system);
}

static void run_on_workers(void *self, cairn_mlcp_part *part, const void *context, uint32_t count) {
    cairn_world *world = self;
    cairn_task_scheduler_split(world->scheduler, part, context, 0, count, SHARED_MIN);
}

void cairn_laboratory_solve(cairn_world *world) {
    cairn_laboratory *laboratory = &world->pgs->laboratory;
    cairn_mlcp *system = &laboratory->system;
    const cairn_settings *settings = world->state.settings;
    const bool symmetric = world->def.solver == CAIRN_SOLVER_PSSOR;
    cairn_solve_options options = {
        .solver = symmetric ? (uint32_t)CAIRN_SOLVER_PSOR : world->def.solver,
        .symmetric = symmetric ? 1 : 0,
        .iterations = world->def.iterations,
        .stop_rule = settings->stop_rule,
        .tolerance = (double)settings->stop_tolerance,
        .over_relaxation = 1.0};
    system->runner = (cairn_mlcp_runner){.run = run_on_workers, .self = world};
    cairn_laboratory_build(world, system, laboratory->impulses);
    take_off_impulses(system, laboratory->impulses);
    laboratory->report = cairn_solve(system, &options, &laboratory->work, laboratory->impulses);
    if (laboratory->report.failed > 0) {
        world->state.settings->solver_fallbacks += 1;
        options.solver = CAIRN_SOLVER_PSOR;
        cairn_solve(system, &options, &laboratory->work, laboratory->impulses);
    }
    cairn_mlcp_respond(system, laboratory->impulses);
    store(world, laboratory->impulses);
}

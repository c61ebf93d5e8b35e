// SPDX-License-Identifier: MIT
#include <cairn/measure.h>

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/measurement.h"
#include "sim/pgs/pgs.h"
#include "sim/state/state_array.h"
#include "sim/step.h"

typedef cairn_measurement measurement;

static double magnitude(double value) {
    return value < 0.0 ? 0.0 - value : value;
}

static double larger(double a, double b) {
    return b <= a ? a : b; // NaN counts as larger
}

// ---- The impulses of the step

// Friction at the middle of a manifold, shared out to its points by their normal impulses; twist
// and rolling have no rows there.
static void share_friction(const cairn_world *after, const cairn_contact *contact,
    const cairn_pgs_contact *constraint, cairn_contact *to) {
    const float substeps = (float)after->def.substeps;
    const cairn_vec3 friction = vec3_scale(
        vec3(contact->tangent_impulse[0], contact->tangent_impulse[1], contact->tangent_impulse[2]),
        substeps);
    float sum = 0.0f;
    for (uint32_t i = 0; i < contact->point_count; ++i) {
        sum += contact->points[i].normal_impulse;
    }
    for (uint32_t i = 0; i < contact->point_count; ++i) {
        const float share = sum > 0.0f ? contact->points[i].normal_impulse / sum : 0.0f;
        to->points[i].normal_impulse = contact->points[i].normal_impulse * substeps;
        for (uint32_t t = 0; t < 2; ++t) {
            to->tangent_impulse[2 * i + t] = share * vec3_dot(friction, constraint->tangents[t]);
        }
    }
}

static void copy_contacts(const measurement *m) {
    const cairn_pgs *pgs = m->before->pgs;
    const uint32_t count = m->after->state.settings->contact_count;
    for (uint32_t i = 0; i < pgs->contact_graph.edge_count; ++i) {
        const uint32_t index = pgs->contacts[i].contact;
        cairn_contact *to = &m->before->state.contacts[index];
        const cairn_contact *from = &m->after->state.contacts[index];
        if (index >= count || from->shape_a != to->shape_a || from->shape_b != to->shape_b ||
            from->point_count != to->point_count) {
            continue; // destroyed by the rules after the step
        }
        if (m->after->def.solver == CAIRN_SOLVER_SOFT_STEP) {
            share_friction(m->after, from, &pgs->contacts[i], to);
        } else {
            memcpy(to->points, from->points, sizeof to->points);
            memcpy(to->tangent_impulse, from->tangent_impulse, sizeof to->tangent_impulse);
        }
    }
}

static void copy_joints(const measurement *m) {
    const cairn_state *from = &m->after->state;
    const cairn_state *to = &m->before->state;
    const bool soft = m->after->def.solver == CAIRN_SOLVER_SOFT_STEP;
    const float times = soft ? (float)m->after->def.substeps : 1.0f;
    for (uint32_t i = 0; i < to->settings->joint_slots; ++i) {
        if (i >= from->settings->joint_slots || from->joint_ids[i] != to->joint_ids[i]) {
            continue; // broken in the step
        }
        to->joints[i].impulse = vec3_scale(from->joints[i].impulse, times);
        to->joints[i].angular_impulse = vec3_scale(from->joints[i].angular_impulse, times);
        to->joints[i].swing_impulse = from->joints[i].swing_impulse * times;
        to->joints[i].lower_impulse = from->joints[i].lower_impulse * times;
        to->joints[i].upper_impulse = from->joints[i].upper_impulse * times;
    }
    const bool same = from->settings->joint_drive_count == to->settings->joint_drive_count;
    for (uint32_t i = 0; same && i < to->settings->joint_drive_count; ++i) {
        for (uint32_t k = 0; k < CAIRN_JOINT_ROWS_MAX; ++k) {
            to->joint_drives[i].impulses[k] = from->joint_drives[i].impulses[k] * times;
        }
    }
}

// The rows load their impulses from the state when they are prepared.
static void load_impulses(const measurement *m) {
    cairn_world *before = m->before;
    copy_contacts(m);
    copy_joints(m);
    before->def.warm_start = 1;
    before->state.settings->warm_start = 1;
    cairn_pgs_prepare(before);
}

// ---- Measures

static void add_row_measures(const measurement *m, cairn_measure *out) {
    memcpy(m->trial, m->x, m->system.row_count * sizeof *m->x);
    for (uint32_t b = 0; b < m->system.block_count; ++b) {
        const cairn_mlcp_block *block = &m->system.blocks[b];
        for (uint32_t i = block->first;
             block->kind == CAIRN_MLCP_BOUNDS && i < block->first + block->count; ++i) {
            const cairn_mlcp_row *row = &m->system.rows[i];
            const bool pulls = row->lower <= -CAIRN_MLCP_UNBOUNDED;
            const bool pushes = row->upper >= CAIRN_MLCP_UNBOUNDED;
            if (pushes) {
                const double missing = pulls ? magnitude(m->w[i]) : 0.0 - m->w[i];
                out->approach = larger(out->approach, missing > 0.0 ? missing : 0.0);
            }
            if (pushes && !pulls) {
                out->complementarity += magnitude((m->x[i] - row->lower) * m->w[i]);
            }
        }
        if (block->kind != CAIRN_MLCP_BOUNDS) {
            cairn_mlcp_project_block(&m->system, block, m->trial);
        }
        for (uint32_t i = block->first; i < block->first + block->count; ++i) {
            out->cone = larger(out->cone, magnitude(m->trial[i] - m->x[i]));
            m->trial[i] = m->x[i];
        }
    }
}

// The kinetic energy of a velocity: v . M v / 2, without axes that are locked.
static double energy_of(const cairn_mlcp_body *body, const double v[6]) {
    const double *i = body->inverse_inertia;
    double sum = 0.0;
    for (uint32_t k = 0; k < 3; ++k) {
        sum += body->inverse_mass[k] > 0.0 ? v[k] * v[k] / body->inverse_mass[k] : 0.0;
    }
    const double xx = i[1] * i[2] - i[5] * i[5];
    const double xy = i[5] * i[4] - i[3] * i[2];
    const double xz = i[3] * i[5] - i[1] * i[4];
    const double determinant = i[0] * xx + i[3] * xy + i[4] * xz;
    if (determinant > 0.0) {
        const double yy = i[0] * i[2] - i[4] * i[4];
        const double yz = i[3] * i[4] - i[0] * i[5];
        const double zz = i[0] * i[1] - i[3] * i[3];
        const double *w = v + 3;
        sum += (w[0] * (xx * w[0] + xy * w[1] + xz * w[2]) +
                   w[1] * (xy * w[0] + yy * w[1] + yz * w[2]) +
                   w[2] * (xz * w[0] + yz * w[1] + zz * w[2])) /
               determinant;
    }
    return 0.5 * sum;
}

// m->change, and w from the velocities after the step.
static void read_velocities(measurement *m, cairn_measure *out) {
    for (uint32_t i = 0; i < m->system.body_count; ++i) {
        const cairn_pgs_body *body = &m->before->pgs->bodies[i];
        const cairn_motion *motion = &m->after->state.motions[i];
        const float now[6] = {motion->linear_velocity.x, motion->linear_velocity.y,
            motion->linear_velocity.z, motion->angular_velocity.x, motion->angular_velocity.y,
            motion->angular_velocity.z};
        for (uint32_t k = 0; k < 6; ++k) {
            const double change = (double)now[k] - m->system.bodies[i].velocity[k];
            m->change[i][k] = body->takes_impulses != 0 ? change : 0.0;
        }
        out->bodies += body->takes_impulses != 0 ? 1 : 0;
    }
    for (uint32_t g = 0; g < m->system.group_count; ++g) {
        const cairn_mlcp_group *group = &m->system.groups[g];
        const uint32_t bodies[2] = {group->body_a, group->body_b};
        for (uint32_t i = group->row_first; i < group->row_first + group->row_count; ++i) {
            const cairn_mlcp_row *row = &m->system.rows[i];
            m->w[i] = row->offset + row->softness * m->x[i];
            for (uint32_t k = 0; k < 12; ++k) {
                const uint32_t body = bodies[k / 6];
                m->w[i] += body == CAIRN_MLCP_FIXED
                               ? 0.0
                               : row->jacobian[k / 6][k % 6] * m->change[body][k % 6];
            }
        }
    }
}

static void compare_with_impulses(measurement *m, cairn_measure *out) {
    cairn_mlcp_respond(&m->system, m->x);
    for (uint32_t i = 0; i < m->system.body_count; ++i) {
        double after[6];
        for (uint32_t k = 0; k < 6; ++k) {
            out->momentum =
                larger(out->momentum, magnitude(m->change[i][k] - m->system.change[i][k]));
            after[k] = m->system.bodies[i].velocity[k] + m->system.change[i][k];
        }
        out->work += energy_of(&m->system.bodies[i], after) -
                     energy_of(&m->system.bodies[i], m->system.bodies[i].velocity);
    }
}

static void compare_with_exact(measurement *m, cairn_measure *out) {
    const cairn_solve_options options = {.solver = CAIRN_SOLVER_DIRECT};
    memcpy(m->exact, m->x, m->system.row_count * sizeof *m->x);
    const cairn_solve_report report = cairn_solve(&m->system, &options, &m->work, m->exact);
    if (report.outcome != CAIRN_SOLVE_STOPPED) {
        return;
    }
    out->exact = 1;
    cairn_mlcp_respond(&m->system, m->exact);
    for (uint32_t i = 0; i < m->system.body_count; ++i) {
        double difference[6];
        for (uint32_t k = 0; k < 6; ++k) {
            difference[k] = m->change[i][k] - m->system.change[i][k];
            out->distance = larger(out->distance, magnitude(difference[k]));
        }
        out->energy_error += energy_of(&m->system.bodies[i], difference);
    }
}

uint32_t cairn_measurement_articulated(const measurement *m) {
    const cairn_world *before = m->before;
    const cairn_state *state = &before->state;
    uint32_t count = 0;
    for (uint32_t i = 0; i < state->settings->joint_drive_count; ++i) {
        const cairn_joint *joint = &state->joints[state->joint_drives[i].joint];
        const uint32_t b = cairn_id_index(joint->body_b);
        count +=
            joint->extent == CAIRN_JOINT_ARTICULATED && before->pgs->bodies[b].takes_impulses != 0
                ? 1
                : 0;
    }
    return count;
}

// ---- Memory

static void allocate_all(
    measurement *m, cairn_arena *from, const cairn_mlcp_capacity *capacity, bool exact) {
    cairn_mlcp_allocate(&m->system, from, capacity);
    cairn_solve_allocate(&m->work, from, capacity->rows, exact);
    m->x = cairn_arena_take(from, capacity->rows, sizeof(double));
    m->w = cairn_arena_take(from, capacity->rows, sizeof(double));
    m->trial = cairn_arena_take(from, capacity->rows, sizeof(double));
    m->exact = cairn_arena_take(from, capacity->rows, sizeof(double));
    m->change = cairn_arena_take(from, capacity->bodies, sizeof *m->change);
}

bool cairn_measurement_allocate(measurement *m, bool exact) {
    const cairn_pgs *pgs = m->before->pgs;
    const cairn_mlcp_capacity capacity =
        cairn_laboratory_capacity(m->before->state.settings->body_slots + 1,
            pgs->contact_graph.edge_count + 1, pgs->joint_graph.edge_count + pgs->driven_count + 1);
    cairn_arena arena = {.memory = NULL};
    allocate_all(m, &arena, &capacity, exact);
    // Megabytes for the direct solver, of which a small world touches little: not cleared, as the
    // solvers of a copied world are not either.
    m->memory = malloc(arena.at + CAIRN_CACHE_LINE);
    arena = (cairn_arena){.memory = m->memory};
    if (m->memory != NULL) {
        allocate_all(m, &arena, &capacity, exact);
    }
    return m->memory != NULL;
}

void cairn_measurement_destroy(measurement *m) {
    free(m->memory);
    cairn_world_destroy(m->before);
}

cairn_status cairn_world_step_measured(cairn_world *world, const cairn_command *commands,
    uint32_t command_count, uint32_t exact, cairn_measure *out) {
    measurement m = {.after = world};
    *out = (cairn_measure){.rows = 0};
    const bool copied = cairn_world_fork(world, &m.before) == CAIRN_OK;
    const bool active = copied && cairn_step_prepare_rows(m.before, commands, command_count);
    cairn_world_step(world, commands, command_count);
    const bool allocated = active && cairn_measurement_allocate(&m, exact != 0);
    if (allocated) {
        load_impulses(&m);
        cairn_laboratory_build(m.before, &m.system, m.x);
        out->rows = m.system.row_count;
        out->contacts = m.before->pgs->contact_graph.edge_count;
        out->joints = m.before->pgs->joint_graph.edge_count + m.before->pgs->driven_count;
        out->articulated = cairn_measurement_articulated(&m);
        read_velocities(&m, out);
        add_row_measures(&m, out);
        out->residual = cairn_natural_residual_of(&m.system, m.x, m.w, m.trial);
        compare_with_impulses(&m, out);
        if (exact != 0) {
            compare_with_exact(&m, out);
        }
    }
    cairn_measurement_destroy(&m);
    return copied && allocated == active ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

// ---- Trials

cairn_solver_trial cairn_solver_trial_default(void) {
    return (cairn_solver_trial){.solver = CAIRN_SOLVER_PSOR,
        .friction_model = CAIRN_FRICTION_COULOMB,
        .iterations = 50,
        .warm_start = 1,
        .over_relaxation = 1.0f};
}

static bool trial_in_range(const cairn_solver_trial *trial) {
    return trial->solver >= CAIRN_SOLVER_DIRECT && trial->solver <= CAIRN_SOLVER_APGD &&
           trial->friction_model <= CAIRN_FRICTION_CONE && trial->iterations >= 1 &&
           trial->iterations <= CAIRN_TRIAL_ITERATIONS_MAX && trial->over_relaxation > 0.0f &&
           trial->over_relaxation < 2.0f;
}

typedef struct observation {
    measurement *m;
    const cairn_solver_trial *trial;
} observation;

static void observe_iteration(void *context, uint32_t iteration, const double *x) {
    const observation *o = context;
    const bool wanted = o->trial->residuals != 0;
    const double residual =
        wanted ? cairn_natural_residual(&o->m->system, x, o->m->w, o->m->trial) : 0.0;
    o->trial->observe(o->trial->context, iteration, residual);
}

static void run_trial(measurement *m, const cairn_solver_trial *trial, cairn_trial_result *out) {
    observation o = {.m = m, .trial = trial};
    const cairn_solve_options options = {.solver = trial->solver,
        .iterations = trial->iterations,
        .symmetric = trial->symmetric_sweeps,
        .over_relaxation = (double)trial->over_relaxation,
        .observe = trial->observe != NULL ? observe_iteration : NULL,
        .context = &o};
    for (uint32_t i = 0; trial->warm_start == 0 && i < m->system.row_count; ++i) {
        m->x[i] = 0.0;
    }
    const cairn_solve_report report = cairn_solve(&m->system, &options, &m->work, m->x);
    out->rows = m->system.row_count;
    out->iterations = report.iterations;
    out->solved = report.failed == 0 ? 1 : 0;
    out->residual = cairn_natural_residual(&m->system, m->x, m->w, m->trial);
    if (trial->exact != 0) {
        cairn_measure measure = {.rows = 0};
        cairn_mlcp_respond(&m->system, m->x);
        memcpy(m->change, m->system.change, m->system.body_count * sizeof *m->change);
        compare_with_exact(m, &measure);
        out->exact = measure.exact;
        out->distance = measure.distance;
    }
}

cairn_status cairn_world_try_solver(
    const cairn_world *world, const cairn_solver_trial *trial, cairn_trial_result *out) {
    measurement m = {.after = world};
    *out = (cairn_trial_result){.rows = 0};
    if (!trial_in_range(trial)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    if (cairn_world_fork(world, &m.before) != CAIRN_OK) {
        return CAIRN_OUT_OF_MEMORY;
    }
    m.before->def.friction_model = trial->friction_model;
    m.before->def.warm_start = 1;
    m.before->state.settings->warm_start = 1;
    const bool active = cairn_step_prepare_rows(m.before, NULL, 0);
    const bool direct = trial->exact != 0 || trial->solver == CAIRN_SOLVER_DIRECT;
    const bool allocated = active && cairn_measurement_allocate(&m, direct);
    if (allocated) {
        m.before->def.solver = trial->solver;
        cairn_laboratory_build(m.before, &m.system, m.x);
        run_trial(&m, trial, out);
    }
    cairn_measurement_destroy(&m);
    return allocated == active ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

static void read_bounds(const cairn_mlcp *system, cairn_matrix_row *out) {
    for (uint32_t b = 0; b < system->block_count; ++b) {
        const cairn_mlcp_block *block = &system->blocks[b];
        const bool cone = block->kind == CAIRN_MLCP_CONE;
        const bool length = block->kind == CAIRN_MLCP_LENGTH;
        for (uint32_t i = block->first; i < block->first + block->count; ++i) {
            const cairn_mlcp_row *row = &system->rows[i];
            const bool bounded = length || (cone && i > block->first);
            out[i] = (cairn_matrix_row){.lower = bounded ? 0.0 - block->radius : row->lower,
                .upper = bounded ? block->radius : row->upper,
                .block_first = bounded ? block->first + (cone ? 1 : 0) : i,
                .block_count = bounded ? block->count - (cone ? 1 : 0) : 1,
                .normal_first = CAIRN_MATRIX_NONE};
            if (bounded && (cone || block->normal_count > 0)) {
                out[i].friction = block->coefficient;
                out[i].normal_first = cone ? block->first : block->normal_first;
                out[i].normal_count = cone ? 1 : block->normal_count;
                out[i].normal_stride = cone ? 1 : block->normal_stride;
            }
        }
    }
}

cairn_status cairn_world_matrix_read(const cairn_world *world, uint32_t capacity, double *matrix,
    double *offset, cairn_matrix_row *bounds, uint32_t *rows) {
    measurement m = {.after = world};
    cairn_status status = CAIRN_OK;
    *rows = 0;
    if (cairn_world_fork(world, &m.before) != CAIRN_OK) {
        return CAIRN_OUT_OF_MEMORY;
    }
    if (cairn_step_prepare_rows(m.before, NULL, 0)) {
        status = cairn_measurement_allocate(&m, false) ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
    }
    if (status == CAIRN_OK && m.memory != NULL) {
        cairn_laboratory_build(m.before, &m.system, m.x);
        *rows = m.system.row_count;
        status = *rows <= capacity ? CAIRN_OK : CAIRN_BUFFER_TOO_SMALL;
    }
    if (status == CAIRN_OK && bounds != NULL && *rows > 0) {
        read_bounds(&m.system, bounds);
    }
    for (uint32_t i = 0; status == CAIRN_OK && i < *rows; ++i) {
        offset[i] = m.system.rows[i].offset;
        for (uint32_t k = 0; k < *rows; ++k) {
            matrix[(size_t)i * *rows + k] = cairn_mlcp_entry(&m.system, i, k);
        }
    }
    cairn_measurement_destroy(&m);
    return status;
}

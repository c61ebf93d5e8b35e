// SPDX-License-Identifier: MIT
#include "sim/constraint/joint_rows.h"

#include "base/assert.h"

#define BLOCK_ROWS_MAX 6

static cairn_vec3 response_linear(const cairn_row_body *body, cairn_vec3 impulse) {
    return vec3_multiply(impulse, body->inverse_mass);
}

static cairn_vec3 response_angular(const cairn_row_body *body, cairn_vec3 impulse) {
    return sym3_apply(body->inverse_inertia, impulse);
}

// M^-1 J^T of an impulse along `j`.
static cairn_jacobian response_of(
    const cairn_row_body *a, const cairn_row_body *b, const cairn_jacobian *j) {
    return (cairn_jacobian){.linear_a = response_linear(a, j->linear_a),
        .angular_a = response_angular(a, j->angular_a),
        .linear_b = response_linear(b, j->linear_b),
        .angular_b = response_angular(b, j->angular_b)};
}

static float dot(const cairn_jacobian *j, const cairn_jacobian *v) {
    return vec3_dot(j->linear_a, v->linear_a) + vec3_dot(j->angular_a, v->angular_a) +
           vec3_dot(j->linear_b, v->linear_b) + vec3_dot(j->angular_b, v->angular_b);
}

static const cairn_jacobian none = {.linear_a = {.x = 0.0f}};

static cairn_jacobian add_scaled(cairn_jacobian j, const cairn_jacobian *k, float scale) {
    return (cairn_jacobian){.linear_a = vec3_add_scaled(j.linear_a, k->linear_a, scale),
        .angular_a = vec3_add_scaled(j.angular_a, k->angular_a, scale),
        .linear_b = vec3_add_scaled(j.linear_b, k->linear_b, scale),
        .angular_b = vec3_add_scaled(j.angular_b, k->angular_b, scale)};
}

// Adds an impulse. A body that impulses do not move keeps its velocity, even if they are NaN.
static void apply(cairn_row_body *a, cairn_row_body *b, const cairn_jacobian *impulse) {
    const cairn_jacobian change = response_of(a, b, impulse);
    if (a->moves) {
        a->linear_velocity = vec3_add(a->linear_velocity, change.linear_a);
        a->angular_velocity = vec3_add(a->angular_velocity, change.angular_a);
    }
    if (b->moves) {
        b->linear_velocity = vec3_add(b->linear_velocity, change.linear_b);
        b->angular_velocity = vec3_add(b->angular_velocity, change.angular_b);
    }
}

static float velocity_along(
    const cairn_jacobian *j, const cairn_row_body *a, const cairn_row_body *b) {
    return vec3_dot(j->linear_a, a->linear_velocity) + vec3_dot(j->angular_a, a->angular_velocity) +
           vec3_dot(j->linear_b, b->linear_velocity) + vec3_dot(j->angular_b, b->angular_velocity);
}

static float finite_or_zero(float value) {
    return float_finite(value) ? value + 0.0f : 0.0f;
}

// ---- Blocks: K = L L^T

static uint32_t entry(uint32_t row, uint32_t column) {
    CAIRN_ASSERT(column <= row && row < BLOCK_ROWS_MAX);
    return row * (row + 1) / 2 + column;
}

// A pivot that is lost in rounding (bodies that cannot turn, a J of zero) becomes 0: its row gets
// no impulse.
static void factor_block(const cairn_row_body *a, const cairn_row_body *b, const cairn_row *rows,
    cairn_row_block *block) {
    CAIRN_ASSERT(block->count >= 1 && block->count <= BLOCK_ROWS_MAX);
    float *factor = block->factor;
    for (uint32_t i = 0; i < block->count; ++i) {
        const cairn_jacobian effect = response_of(a, b, &rows[block->first + i].action);
        const float whole = dot(&rows[block->first + i].j, &effect);
        for (uint32_t k = 0; k <= i; ++k) {
            float sum = k == i ? whole : dot(&rows[block->first + k].j, &effect);
            for (uint32_t m = 0; m < k; ++m) {
                sum -= factor[entry(i, m)] * factor[entry(k, m)];
            }
            if (k < i) {
                factor[entry(i, k)] = sum * factor[entry(k, k)];
            } else {
                const bool valid = sum > 1e-6f * whole && sum > 1e-30f;
                factor[entry(i, i)] = valid ? 1.0f / float_sqrt(sum) : 0.0f;
            }
        }
    }
}

// x = K^-1 x.
static void solve_block_system(const cairn_row_block *block, float *x) {
    const float *factor = block->factor;
    CAIRN_ASSERT(block->count <= BLOCK_ROWS_MAX);
    for (uint32_t i = 0; i < block->count; ++i) {
        for (uint32_t k = 0; k < i; ++k) {
            x[i] -= factor[entry(i, k)] * x[k];
        }
        x[i] *= factor[entry(i, i)];
    }
    for (uint32_t i = block->count; i > 0; --i) {
        for (uint32_t k = i; k < block->count; ++k) {
            x[i - 1] -= factor[entry(k, i - 1)] * x[k];
        }
        x[i - 1] *= factor[entry(i - 1, i - 1)];
    }
}

void cairn_joint_rows_factor(
    const cairn_row_body *a, const cairn_row_body *b, cairn_joint_rows *rows) {
    const cairn_row_block *held = &rows->blocks[0];
    CAIRN_ASSERT(rows->row_count <= CAIRN_JOINT_ROWS_MAX);
    for (uint32_t i = 0; i < rows->block_count; ++i) {
        cairn_row_block *block = &rows->blocks[i];
        for (uint32_t k = 0; k < block->count; ++k) {
            cairn_row *row = &rows->rows[block->first + k];
            row->action = row->j;
            if (i == 0 || block->kind == CAIRN_BLOCK_OFF || held->kind != CAIRN_BLOCK_HOLD) {
                continue;
            }
            const cairn_jacobian effect = response_of(a, b, &row->j);
            float part[BLOCK_ROWS_MAX];
            for (uint32_t m = 0; m < held->count; ++m) {
                part[m] = dot(&rows->rows[held->first + m].j, &effect);
            }
            solve_block_system(held, part);
            for (uint32_t m = 0; m < held->count; ++m) {
                row->action =
                    add_scaled(row->action, &rows->rows[held->first + m].j, 0.0f - part[m]);
            }
        }
        if (block->kind != CAIRN_BLOCK_OFF) {
            factor_block(a, b, rows->rows, block);
        }
    }
}

cairn_row_softness cairn_spring_softness(float hertz, float damping, float h) {
    CAIRN_ASSERT(h > 0.0f && hertz >= 0.0f && damping >= 0.0f);
    const float omega = 2.0f * 3.14159265f * hertz;
    const float angle = omega * h;
    const float square = angle * angle;
    const float implicit = float_min(4.0f * square * square, 1.0f);
    const float velocity = 2.0f * damping * angle + implicit * square;
    const float scale = 1.0f / (1.0f + velocity);
    return (cairn_row_softness){
        .position = omega * angle * scale, .velocity = velocity * scale, .impulse = scale};
}

// ---- Solving

static void clamp_impulses(const cairn_row_block *block, float *impulses) {
    if (block->count == 1) {
        impulses[0] = float_max(float_min(impulses[0], block->upper), block->lower);
        return;
    }
    float square = 0.0f;
    for (uint32_t i = 0; i < block->count; ++i) {
        square += impulses[i] * impulses[i];
    }
    const float length = float_sqrt(square);
    for (uint32_t i = 0; i < block->count && length > block->upper; ++i) {
        impulses[i] *= block->upper / length;
    }
}

cairn_row_softness cairn_joint_block_softness(
    const cairn_row_time *time, const cairn_row_block *block, const cairn_row *rows) {
    const float rate = 1.0f / time->h;
    cairn_row_softness used = {.position = 0.0f, .velocity = 1.0f, .impulse = 0.0f};
    if (block->kind == CAIRN_BLOCK_HOLD || block->kind == CAIRN_BLOCK_SPRING ||
        (block->kind == CAIRN_BLOCK_LIMIT && rows[0].error < 0.0f)) {
        used = block->softness;
    } else if (block->kind == CAIRN_BLOCK_LIMIT) {
        used.position = rows[0].error > 0.0f ? rate : 0.0f;
    }
    return used;
}

// The velocities that the block removes, in the units of J V.
static void excess_of(const cairn_row_time *time, const cairn_row_block *block,
    const cairn_row *rows, const cairn_row_body *a, const cairn_row_body *b, bool biased,
    cairn_row_softness *used, float *excess) {
    *used = cairn_joint_block_softness(time, block, rows);
    if (!biased) {
        const bool closes = block->kind == CAIRN_BLOCK_LIMIT && rows[0].error > 0.0f;
        *used = (cairn_row_softness){.position = closes ? 1.0f / time->h : 0.0f, .velocity = 1.0f};
    }
    for (uint32_t i = 0; i < block->count; ++i) {
        const float chord = biased && block->kind == CAIRN_BLOCK_HOLD ? rows[i].chord : 0.0f;
        const float along = velocity_along(&rows[i].j, a, b) - rows[i].target + chord;
        excess[i] = used->position * rows[i].error + used->velocity * along;
    }
}

static void solve_block(const cairn_row_time *time, const cairn_row_block *block, cairn_row *rows,
    cairn_row_body *a, cairn_row_body *b, bool biased) {
    float change[BLOCK_ROWS_MAX];
    float impulses[BLOCK_ROWS_MAX];
    cairn_row_softness used;
    excess_of(time, block, rows, a, b, biased, &used, change);
    solve_block_system(block, change);
    for (uint32_t i = 0; i < block->count; ++i) {
        impulses[i] = rows[i].impulse - change[i] - used.impulse * rows[i].impulse;
    }
    clamp_impulses(block, impulses);
    cairn_jacobian sum = none;
    for (uint32_t i = 0; i < block->count; ++i) {
        sum = add_scaled(sum, &rows[i].action, impulses[i] - rows[i].impulse);
        rows[i].impulse = impulses[i];
    }
    apply(a, b, &sum);
}

void cairn_joint_rows_solve(const cairn_row_time *time, cairn_joint_rows *rows, cairn_row_body *a,
    cairn_row_body *b, bool biased) {
    CAIRN_ASSERT(rows->block_count <= CAIRN_JOINT_BLOCKS_MAX);
    for (uint32_t i = 0; i < rows->block_count; ++i) {
        const cairn_row_block *block = &rows->blocks[i];
        if (block->kind != CAIRN_BLOCK_OFF && (biased || block->kind != CAIRN_BLOCK_SPRING)) {
            solve_block(time, block, &rows->rows[block->first], a, b, biased);
        }
    }
}

cairn_jacobian cairn_joint_rows_impulse(const cairn_joint_rows *rows) {
    cairn_jacobian sum = none;
    for (uint32_t i = 0; i < rows->row_count; ++i) {
        sum = add_scaled(sum, &rows->rows[i].action, rows->rows[i].impulse);
    }
    return sum;
}

void cairn_joint_rows_warm_start(
    const cairn_joint_rows *rows, cairn_row_body *a, cairn_row_body *b) {
    const cairn_jacobian sum = cairn_joint_rows_impulse(rows);
    apply(a, b, &sum);
}

void cairn_joint_rows_add_missing(cairn_joint_rows *rows, cairn_row_body *a, cairn_row_body *b) {
    apply(a, b, &rows->missing);
    rows->missing = none;
}

// As chord_velocity in sim/soft_step/joint_linear.h.
static cairn_vec3 chord_velocity(float h, cairn_vec3 arm, cairn_vec3 w) {
    const float square = vec3_dot(w, w) * (h * h * (1.0f / 0.0225f));
    return vec3_scale(vec3_cross(w, vec3_cross(w, arm)), 0.5f * h / (1.0f + square * square));
}

// Of b's point relative to a's.
static cairn_vec3 velocity_between(
    const cairn_joint_rows *rows, const cairn_row_body *a, const cairn_row_body *b) {
    const cairn_vec3 of_a =
        vec3_add(a->linear_velocity, vec3_cross(a->angular_velocity, rows->arm_a));
    const cairn_vec3 of_b =
        vec3_add(b->linear_velocity, vec3_cross(b->angular_velocity, rows->arm_b));
    return vec3_sub(of_b, of_a);
}

// What slides along a turning axis leaves it by the Coriolis term, w x v h.
void cairn_joint_rows_update_chord(const cairn_row_time *time, const cairn_row_body *a,
    const cairn_row_body *b, cairn_joint_rows *rows) {
    const cairn_row_block *held = &rows->blocks[0];
    if (held->kind != CAIRN_BLOCK_HOLD) {
        return;
    }
    const cairn_vec3 slide =
        vec3_scale(rows->slide, vec3_dot(rows->slide, velocity_between(rows, a, b)));
    const cairn_vec3 of_a = vec3_add(chord_velocity(time->h, rows->arm_a, a->angular_velocity),
        vec3_scale(vec3_cross(a->angular_velocity, slide), time->h));
    const cairn_vec3 of_b = chord_velocity(time->h, rows->arm_b, b->angular_velocity);
    for (uint32_t i = held->first; i < held->first + held->count; ++i) {
        cairn_row *row = &rows->rows[i];
        row->chord = vec3_dot(row->j.linear_a, of_a) + vec3_dot(row->j.linear_b, of_b);
    }
}

void cairn_joint_rows_advance(const cairn_world *world, const cairn_row_time *time,
    const cairn_row_body *a, const cairn_row_body *b, const cairn_joint_rows *rows) {
    cairn_joint_drive *drive = &world->state.joint_drives[rows->drive];
    if (world->state.joints[drive->joint].kind == CAIRN_JOINT_GEAR) {
        drive->phase =
            finite_or_zero(drive->phase + velocity_along(&rows->rows[0].j, a, b) * time->h);
    }
}

// ---- The state

void cairn_joint_rows_load(const cairn_world *world, uint32_t warm, cairn_joint_rows *rows) {
    rows->missing = none;
    const cairn_joint_drive *drive = &world->state.joint_drives[rows->drive];
    CAIRN_ASSERT(rows->drive < world->state.settings->joint_drive_count);
    for (uint32_t i = 0; i < rows->row_count; ++i) {
        rows->rows[i].impulse = warm != 0 ? drive->impulses[i] : 0.0f;
    }
    for (uint32_t i = 0; i < rows->block_count; ++i) {
        for (uint32_t k = 0; k < rows->blocks[i].count; ++k) {
            if (rows->blocks[i].kind == CAIRN_BLOCK_OFF) {
                rows->rows[rows->blocks[i].first + k].impulse = 0.0f;
            }
        }
    }
}

static cairn_vec3 finite3(cairn_vec3 value) {
    return vec3(finite_or_zero(value.x), finite_or_zero(value.y), finite_or_zero(value.z));
}

void cairn_joint_rows_store(const cairn_world *world, const cairn_joint_rows *rows) {
    cairn_joint_drive *drive = &world->state.joint_drives[rows->drive];
    CAIRN_ASSERT(rows->drive < world->state.settings->joint_drive_count);
    for (uint32_t i = 0; i < CAIRN_JOINT_ROWS_MAX; ++i) {
        drive->impulses[i] = i < rows->row_count ? finite_or_zero(rows->rows[i].impulse) : 0.0f;
    }
    const cairn_jacobian sum = cairn_joint_rows_impulse(rows);
    drive->reaction_force = finite3(sum.linear_b);
    drive->reaction_torque =
        finite3(vec3_sub(sum.angular_b, vec3_cross(rows->anchor_b, sum.linear_b)));
}

// SPDX-License-Identifier: MIT
#include "sim/reference/mlcp.h"

#include <string.h>

#include "base/assert.h"
#include <cairn/math.h>

// Rows of one leaf of a tree of sums.
#define LEAF_ROWS 64

static void allocate_columns(cairn_mlcp_columns *columns, cairn_arena *from, uint32_t rows) {
    for (uint32_t side = 0; side < 2; ++side) {
        for (uint32_t k = 0; k < 6; ++k) {
            columns->jacobian[side][k] = cairn_arena_take(from, rows, sizeof(double));
            columns->response[side][k] = cairn_arena_take(from, rows, sizeof(double));
        }
        columns->part[side] = cairn_arena_take(from, rows, sizeof(double));
    }
    columns->softness = cairn_arena_take(from, rows, sizeof(double));
    columns->diagonal = cairn_arena_take(from, rows, sizeof(double));
    columns->offset = cairn_arena_take(from, rows, sizeof(double));
    columns->lower = cairn_arena_take(from, rows, sizeof(double));
    columns->upper = cairn_arena_take(from, rows, sizeof(double));
}

void cairn_mlcp_allocate(
    cairn_mlcp *system, cairn_arena *from, const cairn_mlcp_capacity *capacity) {
    system->capacity = *capacity;
    system->bodies = cairn_arena_take(from, capacity->bodies, sizeof *system->bodies);
    system->rows = cairn_arena_take(from, capacity->rows, sizeof *system->rows);
    system->blocks = cairn_arena_take(from, capacity->blocks, sizeof *system->blocks);
    system->groups = cairn_arena_take(from, capacity->groups, sizeof *system->groups);
    const size_t bodies = (size_t)capacity->bodies + 1;
    system->body_first = cairn_arena_take(from, bodies, sizeof *system->body_first);
    system->body_rows =
        cairn_arena_take(from, 2 * (size_t)capacity->rows, sizeof *system->body_rows);
    system->body_groups = cairn_arena_take(from, bodies, sizeof *system->body_groups);
    system->component = cairn_arena_take(from, capacity->groups, sizeof *system->component);
    system->root = cairn_arena_take(from, bodies, sizeof *system->root);
    system->change = cairn_arena_take(from, bodies, sizeof *system->change);
    const size_t leaves = capacity->rows / LEAF_ROWS + 1;
    system->partial = cairn_arena_take(from, leaves, sizeof *system->partial);
    allocate_columns(&system->columns, from, capacity->rows);
    cairn_mlcp_clear(system);
}

void cairn_mlcp_clear(cairn_mlcp *system) {
    system->body_count = 0;
    system->row_count = 0;
    system->block_count = 0;
    system->group_count = 0;
}

// ---- Building

void cairn_mlcp_add_group(cairn_mlcp *system, uint32_t body_a, uint32_t body_b) {
    CAIRN_ASSERT(system->group_count < system->capacity.groups);
    system->groups[system->group_count++] = (cairn_mlcp_group){.body_a = body_a,
        .body_b = body_b,
        .block_first = system->block_count,
        .row_first = system->row_count};
}

cairn_mlcp_block *cairn_mlcp_add_block(cairn_mlcp *system, uint32_t kind) {
    CAIRN_ASSERT(system->group_count > 0 && system->block_count < system->capacity.blocks);
    cairn_mlcp_block *block = &system->blocks[system->block_count++];
    *block = (cairn_mlcp_block){
        .kind = kind, .first = system->row_count, .normal_stride = 1, .visits = 1};
    system->groups[system->group_count - 1].block_count += 1;
    return block;
}

cairn_mlcp_row *cairn_mlcp_add_row(cairn_mlcp *system) {
    CAIRN_ASSERT(system->block_count > 0 && system->row_count < system->capacity.rows);
    cairn_mlcp_row *row = &system->rows[system->row_count++];
    *row = (cairn_mlcp_row){
        .lower = -CAIRN_MLCP_UNBOUNDED, .upper = CAIRN_MLCP_UNBOUNDED, .target = 0.0};
    cairn_mlcp_block *block = &system->blocks[system->block_count - 1];
    block->count += 1;
    CAIRN_ASSERT(block->count <= CAIRN_MLCP_BLOCK_ROWS_MAX);
    system->groups[system->group_count - 1].row_count += 1;
    return row;
}

static double dot6(const double a[6], const double b[6]) {
    return ((a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])) +
           (a[4] * b[4] + a[5] * b[5]);
}

static void respond_body(const cairn_mlcp_body *body, const double j[6], double out[6]) {
    const double *i = body->inverse_inertia;
    for (uint32_t k = 0; k < 3; ++k) {
        out[k] = body->inverse_mass[k] * j[k];
    }
    out[3] = i[0] * j[3] + i[3] * j[4] + i[4] * j[5];
    out[4] = i[3] * j[3] + i[1] * j[4] + i[5] * j[5];
    out[5] = i[4] * j[3] + i[5] * j[4] + i[2] * j[5];
}

static void prepare_row(
    const cairn_mlcp *system, const cairn_mlcp_group *group, cairn_mlcp_row *row) {
    const uint32_t bodies[2] = {group->body_a, group->body_b};
    row->diagonal = 0.0;
    row->offset = 0.0 - row->target;
    for (uint32_t side = 0; side < 2; ++side) {
        memset(row->response[side], 0, sizeof row->response[side]);
        row->part[side] = 0.0;
        if (bodies[side] == CAIRN_MLCP_FIXED) {
            continue;
        }
        const cairn_mlcp_body *body = &system->bodies[bodies[side]];
        respond_body(body, row->jacobian[side], row->response[side]);
        row->part[side] = dot6(row->jacobian[side], row->response[side]);
        row->diagonal += row->part[side];
        row->offset += dot6(row->jacobian[side], body->velocity);
    }
    row->softness *= row->softness_is_share ? row->diagonal : 1.0;
    row->softness_is_share = false;
    row->diagonal += row->softness;
}

static void fill_columns(const cairn_mlcp *system, uint32_t row) {
    const cairn_mlcp_columns *columns = &system->columns;
    const cairn_mlcp_row *from = &system->rows[row];
    for (uint32_t side = 0; side < 2; ++side) {
        for (uint32_t k = 0; k < 6; ++k) {
            columns->jacobian[side][k][row] = from->jacobian[side][k];
            columns->response[side][k][row] = from->response[side][k];
        }
        columns->part[side][row] = from->part[side];
    }
    columns->softness[row] = from->softness;
    columns->diagonal[row] = from->diagonal;
    columns->offset[row] = from->offset;
    columns->lower[row] = from->lower;
    columns->upper[row] = from->upper;
}

// Which rows act on each body, in order of the rows.
static void index_rows(cairn_mlcp *system) {
    uint32_t *first = system->body_first;
    memset(first, 0, ((size_t)system->body_count + 1) * sizeof *first);
    memset(system->body_groups, 0, (size_t)system->body_count * sizeof *system->body_groups);
    for (uint32_t pass = 0; pass < 2; ++pass) {
        for (uint32_t g = 0; g < system->group_count; ++g) {
            const cairn_mlcp_group *group = &system->groups[g];
            const uint32_t bodies[2] = {group->body_a, group->body_b};
            for (uint32_t side = 0; side < 2; ++side) {
                if (bodies[side] == CAIRN_MLCP_FIXED) {
                    continue;
                }
                if (pass == 0) {
                    system->body_groups[bodies[side]] += 1;
                    first[bodies[side] + 1] += group->row_count;
                }
                for (uint32_t i = 0; pass == 1 && i < group->row_count; ++i) {
                    system->body_rows[first[bodies[side]]++] = 2 * (group->row_first + i) + side;
                }
            }
        }
        // After the first pass counts become beginnings; after the second each is its body's end.
        for (uint32_t b = 0; pass == 0 && b < system->body_count; ++b) {
            first[b + 1] += first[b];
        }
    }
    for (uint32_t b = system->body_count; b > 0; --b) {
        first[b] = first[b - 1];
    }
    first[0] = 0;
}

static uint32_t root_of(cairn_mlcp *system, uint32_t body) {
    while (system->root[body] != body) {
        system->root[body] = system->root[system->root[body]];
        body = system->root[body];
    }
    return body;
}

// Groups are coupled if a chain of bodies that move leads from one to the other.
static void find_components(cairn_mlcp *system) {
    for (uint32_t b = 0; b < system->body_count; ++b) {
        system->root[b] = b;
    }
    for (uint32_t g = 0; g < system->group_count; ++g) {
        const cairn_mlcp_group *group = &system->groups[g];
        if (group->body_a != CAIRN_MLCP_FIXED && group->body_b != CAIRN_MLCP_FIXED) {
            const uint32_t a = root_of(system, group->body_a);
            const uint32_t b = root_of(system, group->body_b);
            system->root[a > b ? a : b] = a > b ? b : a;
        }
    }
    // `change` is free here; its first number holds the lowest group of a root, plus one.
    for (uint32_t b = 0; b < system->body_count; ++b) {
        system->change[b][0] = 0.0;
    }
    for (uint32_t g = 0; g < system->group_count; ++g) {
        const cairn_mlcp_group *group = &system->groups[g];
        const uint32_t body = group->body_a != CAIRN_MLCP_FIXED ? group->body_a : group->body_b;
        system->component[g] = g;
        if (body != CAIRN_MLCP_FIXED) {
            double *lowest = &system->change[root_of(system, body)][0];
            *lowest = *lowest == 0.0 ? (double)g + 1.0 : *lowest;
            system->component[g] = (uint32_t)(*lowest - 1.0);
        }
    }
}

void cairn_mlcp_prepare(cairn_mlcp *system) {
    for (uint32_t g = 0; g < system->group_count; ++g) {
        const cairn_mlcp_group *group = &system->groups[g];
        for (uint32_t i = 0; i < group->row_count; ++i) {
            prepare_row(system, group, &system->rows[group->row_first + i]);
            fill_columns(system, group->row_first + i);
        }
    }
    index_rows(system);
    find_components(system);
    memset(system->change, 0, (size_t)system->body_count * sizeof *system->change);
}

// ---- Products and sums

void cairn_mlcp_run(
    const cairn_mlcp *system, cairn_mlcp_part *part, const void *context, uint32_t count) {
    if (system->runner.run == NULL) {
        part(context, 0, count);
    } else {
        system->runner.run(system->runner.self, part, context, count);
    }
}

typedef struct product {
    cairn_mlcp *system;
    const double *x;
    const double *y;
    double *out;
    bool offset; // adds q
} product;

static void respond_part(const void *context, uint32_t begin, uint32_t end) {
    const product *p = context;
    const cairn_mlcp *system = p->system;
    for (uint32_t b = begin; b < end; ++b) {
        double sum[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        for (uint32_t i = system->body_first[b]; i < system->body_first[b + 1]; ++i) {
            const uint32_t row = system->body_rows[i] / 2;
            double *const *response = system->columns.response[system->body_rows[i] % 2];
            for (uint32_t k = 0; k < 6; ++k) {
                sum[k] += response[k][row] * p->x[row];
            }
        }
        memcpy(p->system->change[b], sum, sizeof sum);
    }
}

static void multiply_part(const void *context, uint32_t begin, uint32_t end) {
    const product *p = context;
    const cairn_mlcp *system = p->system;
    for (uint32_t g = begin; g < end; ++g) {
        const cairn_mlcp_group *group = &system->groups[g];
        const uint32_t bodies[2] = {group->body_a, group->body_b};
        for (uint32_t i = group->row_first; i < group->row_first + group->row_count; ++i) {
            const cairn_mlcp_columns *columns = &system->columns;
            double sum = columns->softness[i] * p->x[i] + (p->offset ? columns->offset[i] : 0.0);
            for (uint32_t side = 0; side < 2; ++side) {
                if (bodies[side] != CAIRN_MLCP_FIXED) {
                    sum += cairn_mlcp_along(columns, side, i, system->change[bodies[side]]);
                }
            }
            p->out[i] = sum;
        }
    }
}

void cairn_mlcp_respond(cairn_mlcp *system, const double *x) {
    const product p = {.system = system, .x = x};
    cairn_mlcp_run(system, respond_part, &p, system->body_count);
}

static void multiply(cairn_mlcp *system, const double *x, double *out, bool offset) {
    const product p = {.system = system, .x = x, .out = out, .offset = offset};
    cairn_mlcp_run(system, respond_part, &p, system->body_count);
    cairn_mlcp_run(system, multiply_part, &p, system->group_count);
}

void cairn_mlcp_multiply(cairn_mlcp *system, const double *x, double *y) {
    multiply(system, x, y, false);
}

void cairn_mlcp_residual(cairn_mlcp *system, const double *x, double *w) {
    multiply(system, x, w, true);
}

static void dot_part(const void *context, uint32_t begin, uint32_t end) {
    const product *p = context;
    for (uint32_t leaf = begin; leaf < end; ++leaf) {
        const uint32_t last = (leaf + 1) * LEAF_ROWS;
        const uint32_t stop = last < p->system->row_count ? last : p->system->row_count;
        double sum = 0.0;
        for (uint32_t i = leaf * LEAF_ROWS; i < stop; ++i) {
            sum += p->x[i] * p->y[i];
        }
        p->system->partial[leaf] = sum;
    }
}

double cairn_mlcp_dot(cairn_mlcp *system, const double *x, const double *y) {
    const product p = {.system = system, .x = x, .y = y};
    const uint32_t leaves = (system->row_count + LEAF_ROWS - 1) / LEAF_ROWS;
    cairn_mlcp_run(system, dot_part, &p, leaves);
    for (uint32_t width = 1; width < leaves; width *= 2) {
        for (uint32_t i = 0; i + width < leaves; i += 2 * width) {
            system->partial[i] += system->partial[i + width];
        }
    }
    return leaves > 0 ? system->partial[0] : 0.0;
}

uint32_t cairn_mlcp_group_of(const cairn_mlcp *system, uint32_t row) {
    uint32_t low = 0;
    uint32_t high = system->group_count;
    CAIRN_ASSERT(row < system->row_count);
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        const bool after = system->groups[middle].row_first <= row;
        low = after ? middle : low;
        high = after ? high : middle;
    }
    return low;
}

double cairn_mlcp_entry(const cairn_mlcp *system, uint32_t row, uint32_t column) {
    const cairn_mlcp_group *at = &system->groups[cairn_mlcp_group_of(system, row)];
    const cairn_mlcp_group *from = &system->groups[cairn_mlcp_group_of(system, column)];
    const uint32_t bodies[2] = {at->body_a, at->body_b};
    const uint32_t others[2] = {from->body_a, from->body_b};
    double sum = row == column ? system->rows[row].softness : 0.0;
    for (uint32_t i = 0; i < 2; ++i) {
        for (uint32_t k = 0; k < 2; ++k) {
            if (bodies[i] != CAIRN_MLCP_FIXED && bodies[i] == others[k]) {
                sum += dot6(system->rows[row].jacobian[i], system->rows[column].response[k]);
            }
        }
    }
    return sum;
}

// ---- Bounds

// The nearest point of the cone |x_t| <= c x_n.
static void project_cone(double coefficient, double *normal, double *tangents, uint32_t count) {
    double square = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        square += tangents[i] * tangents[i];
    }
    const double length = cairn_double_sqrt(square);
    if (length <= coefficient * *normal) {
        return;
    }
    const bool inside = coefficient * length <= 0.0 - *normal; // the polar cone: the apex
    const double along =
        inside ? 0.0 : (coefficient * length + *normal) / (coefficient * coefficient + 1.0);
    const double scale = length > 0.0 ? coefficient * along / length : 0.0;
    *normal = along;
    for (uint32_t i = 0; i < count; ++i) {
        tangents[i] *= scale;
    }
}

void cairn_mlcp_project_block(const cairn_mlcp *system, const cairn_mlcp_block *block, double *x) {
    if (block->kind == CAIRN_MLCP_CONE) {
        double *normal = &x[block->first];
        project_cone(block->coefficient, normal, normal + 1, block->count - 1);
        return;
    }
    if (block->kind == CAIRN_MLCP_BOUNDS) {
        for (uint32_t i = block->first; i < block->first + block->count; ++i) {
            const cairn_mlcp_columns *columns = &system->columns;
            x[i] = x[i] < columns->lower[i] ? columns->lower[i] : x[i];
            x[i] = x[i] > columns->upper[i] ? columns->upper[i] : x[i];
        }
        return;
    }
    double bound = block->radius;
    double square = 0.0;
    for (uint32_t i = 0; i < block->normal_count; ++i) {
        bound += block->coefficient * x[block->normal_first + i * block->normal_stride];
    }
    bound = bound > 0.0 ? bound : 0.0;
    for (uint32_t i = block->first; i < block->first + block->count; ++i) {
        square += x[i] * x[i];
    }
    if (square > bound * bound) {
        const double scale = bound / cairn_double_sqrt(square);
        for (uint32_t i = block->first; i < block->first + block->count; ++i) {
            x[i] *= scale;
        }
    }
}

typedef struct projection {
    const cairn_mlcp *system;
    double *x;
} projection;

// A length depends on normal impulses of its own group alone.
static void project_part(const void *context, uint32_t begin, uint32_t end) {
    const projection *p = context;
    for (uint32_t g = begin; g < end; ++g) {
        const cairn_mlcp_group *group = &p->system->groups[g];
        for (uint32_t pass = 0; pass < 2; ++pass) {
            for (uint32_t i = 0; i < group->block_count; ++i) {
                const cairn_mlcp_block *block = &p->system->blocks[group->block_first + i];
                if ((block->kind == CAIRN_MLCP_LENGTH) == (pass == 1)) {
                    cairn_mlcp_project_block(p->system, block, p->x);
                }
            }
        }
    }
}

void cairn_mlcp_project(const cairn_mlcp *system, double *x) {
    const projection p = {.system = system, .x = x};
    cairn_mlcp_run(system, project_part, &p, system->group_count);
}

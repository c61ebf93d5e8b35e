// SPDX-License-Identifier: MIT
#include "sim/reference/direct.h"

#include <string.h>

#include "base/assert.h"
#include <cairn/math.h>

#define NONE UINT32_MAX
#define STRIDE CAIRN_DIRECT_ROWS_MAX
#define ROUNDS 4
// The unit matrix that is added, as a multiple of the geometric mean of the least and the greatest
// diagonal entry. Where rounding leads Lemke's path astray, it is tried again with more.
#define REGULAR 1e-7
#define REGULAR_FACTOR 30.0
#define ATTEMPTS 4
// What rows without bounds may miss, as a fraction of the largest offset.
#define MISS_MAX 1e-4
// A contact slides from this speed on, m/s.
#define SLIDE_SPEED 1e-5

// A variable of the complementarity problem: an impulse >= 0 along one or two rows, or the
// multiplier of a cap, which bounds a sum of impulses.
typedef struct cairn_direct_variable {
    uint32_t rows[2]; // of the component
    double along[2];  // its impulse's part in each
    uint32_t cap;     // the variable of its cap; NONE
    bool is_cap;
    double size; // of a cap: the bound without normal impulses
    double coefficient;
    const cairn_mlcp_block *block; // of a cap of friction: names the normal rows; NULL
    double scale;
} variable;

void cairn_direct_allocate(cairn_direct *d, cairn_arena *from) {
    const size_t rows = CAIRN_DIRECT_ROWS_MAX;
    cairn_lemke_allocate(&d->lemke, from);
    d->rows = cairn_arena_take(from, rows, sizeof *d->rows);
    d->whole = cairn_arena_take(from, rows * STRIDE, sizeof(double));
    d->reduced = cairn_arena_take(from, rows * STRIDE, sizeof(double));
    d->offset = cairn_arena_take(from, rows, sizeof(double));
    d->impulse = cairn_arena_take(from, rows, sizeof(double));
    d->velocity = cairn_arena_take(from, rows, sizeof(double));
    d->base = cairn_arena_take(from, rows, sizeof(double));
    d->variables = cairn_arena_take(from, CAIRN_LEMKE_SIZE_MAX, sizeof *d->variables);
    d->axes = cairn_arena_take(from, 2 * rows, sizeof(double));
    d->row_var = cairn_arena_take(from, rows, sizeof *d->row_var);
    d->slides = cairn_arena_take(from, rows, sizeof *d->slides);
}

static double *at(double *matrix, uint32_t row, uint32_t column) {
    return matrix + (size_t)row * STRIDE + column;
}

static bool is_free(const cairn_mlcp *system, const cairn_mlcp_block *block, uint32_t row) {
    return block->kind == CAIRN_MLCP_BOUNDS && system->rows[row].lower <= -CAIRN_MLCP_UNBOUNDED &&
           system->rows[row].upper >= CAIRN_MLCP_UNBOUNDED;
}

// ---- The rows of a component

// Calls for each block of the component of group `leader`, in order.
typedef bool block_visit(cairn_direct *d, const cairn_mlcp *system, const cairn_mlcp_block *block);

static bool for_blocks(
    cairn_direct *d, const cairn_mlcp *system, uint32_t leader, block_visit *visit) {
    for (uint32_t g = leader; g < system->group_count; ++g) {
        const cairn_mlcp_group *group = &system->groups[g];
        for (uint32_t i = 0; system->component[g] == leader && i < group->block_count; ++i) {
            if (!visit(d, system, &system->blocks[group->block_first + i])) {
                return false;
            }
        }
    }
    return true;
}

static bool add_rows(
    cairn_direct *d, const cairn_mlcp *system, const cairn_mlcp_block *block, bool free_rows) {
    for (uint32_t i = block->first; i < block->first + block->count; ++i) {
        if (cairn_mlcp_inverse(system->rows[i].diagonal) == 0.0 ||
            is_free(system, block, i) != free_rows) {
            continue;
        }
        if (d->row_count == CAIRN_DIRECT_ROWS_MAX) {
            return false;
        }
        d->rows[d->row_count++] = i;
    }
    return true;
}

static bool add_free_rows(
    cairn_direct *d, const cairn_mlcp *system, const cairn_mlcp_block *block) {
    return add_rows(d, system, block, true);
}

static bool add_bounded_rows(
    cairn_direct *d, const cairn_mlcp *system, const cairn_mlcp_block *block) {
    return add_rows(d, system, block, false);
}

// The row's place in the component; NONE if it is not there. Linear, for a few hundred rows.
static uint32_t place_of(const cairn_direct *d, uint32_t row) {
    uint32_t place = d->row_count;
    while (place > 0 && d->rows[place - 1] != row) {
        --place;
    }
    return place > 0 ? place - 1 : NONE;
}

static void fill_matrix(cairn_direct *d, const cairn_mlcp *system) {
    double least = CAIRN_MLCP_UNBOUNDED;
    double most = 0.0;
    for (uint32_t i = 0; i < d->row_count; ++i) {
        for (uint32_t k = 0; k <= i; ++k) {
            const double entry = cairn_mlcp_entry(system, d->rows[i], d->rows[k]);
            *at(d->whole, i, k) = entry;
            *at(d->whole, k, i) = entry;
        }
        const double diagonal = system->rows[d->rows[i]].diagonal;
        least = diagonal < least ? diagonal : least;
        most = diagonal > most ? diagonal : most;
    }
    d->regular = REGULAR * cairn_double_sqrt(least) * cairn_double_sqrt(most);
}

static void find_velocities(cairn_direct *d, const cairn_mlcp *system) {
    for (uint32_t i = 0; i < d->row_count; ++i) {
        double sum = system->rows[d->rows[i]].offset;
        for (uint32_t k = 0; k < d->row_count; ++k) {
            sum += *at(d->whole, i, k) * d->impulse[k];
        }
        d->velocity[i] = sum;
    }
}

// Eliminates the free rows from the enlarged A and q; their part above the diagonal stays, for
// back-substitution. False if a pivot is lost.
static bool eliminate(cairn_direct *d, const cairn_mlcp *system) {
    const uint32_t n = d->row_count;
    for (uint32_t i = 0; i < n; ++i) {
        memcpy(at(d->reduced, i, 0), at(d->whole, i, 0), n * sizeof(double));
        *at(d->reduced, i, i) += d->regular;
        d->offset[i] = system->rows[d->rows[i]].offset - d->regular * d->impulse[i];
    }
    for (uint32_t k = 0; k < d->free_count; ++k) {
        const double *from = at(d->reduced, k, 0);
        if (!(from[k] > 0.0)) {
            return false;
        }
        for (uint32_t i = k + 1; i < n; ++i) {
            double *row = at(d->reduced, i, 0);
            const double factor = row[k] / from[k];
            for (uint32_t m = k + 1; factor != 0.0 && m < n; ++m) {
                row[m] -= factor * from[m];
            }
            d->offset[i] -= factor * d->offset[k];
        }
    }
    return true;
}

static void substitute_back(cairn_direct *d) {
    for (uint32_t k = d->free_count; k > 0; --k) {
        const double *row = at(d->reduced, k - 1, 0);
        double sum = d->offset[k - 1];
        for (uint32_t m = k; m < d->row_count; ++m) {
            sum += row[m] * d->impulse[m];
        }
        d->impulse[k - 1] = 0.0 - sum / row[k - 1];
    }
}

// ---- The complementarity problem

static variable *add_variable(cairn_direct *d) {
    if (d->variable_count == CAIRN_LEMKE_SIZE_MAX) {
        return NULL;
    }
    variable *v = &d->variables[d->variable_count++];
    *v = (variable){.rows = {NONE, NONE}, .cap = NONE};
    return v;
}

static bool add_impulse(cairn_direct *d, uint32_t row, double along, uint32_t second,
    double along_second, uint32_t cap) {
    variable *v = add_variable(d);
    if (v == NULL) {
        return false;
    }
    v->rows[0] = row;
    v->rows[1] = second;
    v->along[0] = along;
    v->along[1] = along_second;
    v->cap = cap;
    return true;
}

static bool add_bounds(cairn_direct *d, const cairn_mlcp *system, const cairn_mlcp_block *block) {
    for (uint32_t i = block->first; i < block->first + block->count; ++i) {
        const uint32_t place = place_of(d, i);
        if (place == NONE || place < d->free_count) {
            continue;
        }
        const cairn_mlcp_row *row = &system->rows[i];
        const bool from_below = row->lower > -CAIRN_MLCP_UNBOUNDED;
        const bool both = from_below && row->upper < CAIRN_MLCP_UNBOUNDED;
        uint32_t cap = NONE;
        if (both) {
            variable *v = add_variable(d);
            if (v == NULL) {
                return false;
            }
            cap = d->variable_count - 1;
            v->is_cap = true;
            v->size = row->upper - row->lower;
        }
        d->base[place] = from_below ? row->lower : row->upper;
        d->row_var[place] = d->variable_count;
        if (!add_impulse(d, place, from_below ? 1.0 : -1.0, NONE, 0.0, cap)) {
            return false;
        }
    }
    return true;
}

// Four directions of friction in the plane, or two for each row.
static bool add_friction(cairn_direct *d, const cairn_mlcp *system, const cairn_mlcp_block *block) {
    uint32_t places[CAIRN_MLCP_BLOCK_ROWS_MAX];
    uint32_t count = 0;
    (void)system;
    for (uint32_t i = block->first; i < block->first + block->count; ++i) {
        const uint32_t place = place_of(d, i);
        if (place != NONE) {
            places[count++] = place;
            d->base[place] = 0.0;
        }
    }
    variable *v = count > 0 ? add_variable(d) : NULL;
    if (v == NULL) {
        return count == 0;
    }
    const uint32_t cap = d->variable_count - 1;
    const bool slides = d->slides[places[0]];
    v->is_cap = true;
    v->size = block->radius;
    v->coefficient = slides ? block->sliding : block->coefficient;
    v->block = block;
    bool room = true;
    if (count == 2) {
        const double c = d->axes[2 * places[0]];
        const double s = d->axes[2 * places[0] + 1];
        room = add_impulse(d, places[0], c, places[1], s, cap) &&
               add_impulse(d, places[0], 0.0 - c, places[1], 0.0 - s, cap) &&
               add_impulse(d, places[0], 0.0 - s, places[1], c, cap) &&
               add_impulse(d, places[0], s, places[1], 0.0 - c, cap);
    }
    for (uint32_t i = 0; count != 2 && room && i < count; ++i) {
        room = add_impulse(d, places[i], 1.0, NONE, 0.0, cap) &&
               add_impulse(d, places[i], -1.0, NONE, 0.0, cap);
    }
    return room;
}

static bool add_block(cairn_direct *d, const cairn_mlcp *system, const cairn_mlcp_block *block) {
    CAIRN_ASSERT(block->kind != CAIRN_MLCP_CONE);
    return block->kind == CAIRN_MLCP_BOUNDS ? add_bounds(d, system, block)
                                            : add_friction(d, system, block);
}

// The direction in which a contact slides, or else that of its friction, or of its velocity.
static bool turn_axes(cairn_direct *d, const cairn_mlcp *system, const cairn_mlcp_block *block) {
    const uint32_t first = place_of(d, block->first);
    const uint32_t second = place_of(d, block->first + 1);
    (void)system;
    if (block->kind == CAIRN_MLCP_BOUNDS || block->count != 2 || first == NONE || second == NONE) {
        return true;
    }
    const double w[2] = {d->velocity[first], d->velocity[second]};
    const double f[2] = {d->impulse[first], d->impulse[second]};
    const bool sliding = w[0] * w[0] + w[1] * w[1] > SLIDE_SPEED * SLIDE_SPEED;
    const double along[2] = {sliding ? 0.0 - w[0] : f[0], sliding ? 0.0 - w[1] : f[1]};
    const double length = cairn_double_sqrt(along[0] * along[0] + along[1] * along[1]);
    d->axes[2 * first] = length > 0.0 ? along[0] / length : 1.0;
    d->axes[2 * first + 1] = length > 0.0 ? along[1] / length : 0.0;
    return true;
}

static bool note_sliding(cairn_direct *d, const cairn_mlcp *system, const cairn_mlcp_block *block) {
    (void)system;
    double square = 0.0;
    const uint32_t first = place_of(d, block->first);
    for (uint32_t i = 0; i < block->count && first != NONE; ++i) {
        const uint32_t place = place_of(d, block->first + i);
        const double w = place != NONE ? d->velocity[place] : 0.0;
        square += w * w;
    }
    if (block->kind != CAIRN_MLCP_BOUNDS && first != NONE && square > SLIDE_SPEED * SLIDE_SPEED) {
        d->slides[first] = true;
    }
    return true;
}

// M of two impulses: along_a . A . along_b.
static double entry_of(cairn_direct *d, const variable *a, const variable *b) {
    double sum = 0.0;
    for (uint32_t i = 0; i < 2; ++i) {
        for (uint32_t k = 0; k < 2; ++k) {
            if (a->rows[i] != NONE && b->rows[k] != NONE) {
                sum += a->along[i] * b->along[k] * *at(d->reduced, a->rows[i], b->rows[k]);
            }
        }
    }
    return sum;
}

// The rows of M and p that belong to an impulse.
static void fill_impulse(cairn_direct *d, uint32_t index) {
    const variable *v = &d->variables[index];
    double *row = d->lemke.matrix + (size_t)index * CAIRN_LEMKE_SIZE_MAX;
    double offset = 0.0;
    for (uint32_t k = 0; k < d->variable_count; ++k) {
        const variable *other = &d->variables[k];
        row[k] = other->is_cap ? (v->cap == k ? 1.0 : 0.0) : entry_of(d, v, other);
        row[k] *= v->scale * other->scale;
    }
    for (uint32_t i = 0; i < 2 && v->rows[i] != NONE; ++i) {
        double sum = d->offset[v->rows[i]];
        for (uint32_t k = d->free_count; k < d->row_count; ++k) {
            sum += *at(d->reduced, v->rows[i], k) * d->base[k];
        }
        offset += v->along[i] * sum;
    }
    d->lemke.vector[index] = offset * v->scale;
}

// size + coefficient * the normal impulses - the impulses that it bounds.
static void fill_cap(cairn_direct *d, uint32_t index) {
    const variable *v = &d->variables[index];
    double *row = d->lemke.matrix + (size_t)index * CAIRN_LEMKE_SIZE_MAX;
    double size = v->size;
    for (uint32_t k = 0; k < d->variable_count; ++k) {
        row[k] = d->variables[k].cap == index ? 0.0 - v->scale * d->variables[k].scale : 0.0;
    }
    for (uint32_t i = 0; v->block != NULL && i < v->block->normal_count; ++i) {
        const uint32_t place = place_of(d, v->block->normal_first + i * v->block->normal_stride);
        if (place != NONE && d->row_var[place] != NONE) {
            const variable *normal = &d->variables[d->row_var[place]];
            row[d->row_var[place]] = v->coefficient * v->scale * normal->scale;
            size += v->coefficient * d->base[place];
        }
    }
    d->lemke.vector[index] = size * v->scale;
}

// Scales so that the diagonal of impulses is 1, caps as the impulses that they bound, and p at
// most 1. Returns what z must be multiplied by.
static double fill_problem(cairn_direct *d) {
    double most = 0.0;
    for (uint32_t i = 0; i < d->variable_count; ++i) {
        variable *v = &d->variables[i];
        const double entry = v->is_cap ? 0.0 : entry_of(d, v, v);
        v->scale = entry > 0.0 ? 1.0 / cairn_double_sqrt(entry) : 1.0;
        if (v->cap != NONE && !v->is_cap) {
            d->variables[v->cap].scale = 1.0 / v->scale;
        }
    }
    for (uint32_t i = 0; i < d->variable_count; ++i) {
        if (d->variables[i].is_cap) {
            fill_cap(d, i);
        } else {
            fill_impulse(d, i);
        }
        const double p = d->lemke.vector[i];
        most = p > most ? p : (0.0 - p > most ? 0.0 - p : most);
    }
    const double scale = most > 0.0 ? most : 1.0;
    for (uint32_t i = 0; i < d->variable_count; ++i) {
        d->lemke.vector[i] /= scale;
    }
    d->lemke.size = d->variable_count;
    return scale;
}

static void read_impulses(cairn_direct *d, double scale) {
    for (uint32_t i = d->free_count; i < d->row_count; ++i) {
        d->impulse[i] = d->base[i];
    }
    for (uint32_t k = 0; k < d->variable_count; ++k) {
        const variable *v = &d->variables[k];
        for (uint32_t i = 0; i < 2 && !v->is_cap && v->rows[i] != NONE; ++i) {
            d->impulse[v->rows[i]] += v->along[i] * v->scale * scale * d->lemke.z[k];
        }
    }
    substitute_back(d);
}

static uint32_t solve_once(cairn_direct *d, const cairn_mlcp *system, uint32_t leader) {
    d->variable_count = 0;
    for (uint32_t i = 0; i < d->row_count; ++i) {
        d->row_var[i] = NONE;
        d->base[i] = 0.0;
    }
    if (!eliminate(d, system)) {
        return CAIRN_SOLVE_INVALID;
    }
    if (!for_blocks(d, system, leader, add_block)) {
        return CAIRN_SOLVE_TOO_LARGE;
    }
    const double scale = fill_problem(d);
    const uint32_t outcome = cairn_lemke_solve(&d->lemke);
    if (outcome == CAIRN_SOLVE_STOPPED) {
        read_impulses(d, scale);
        find_velocities(d, system);
    }
    return outcome;
}

static double magnitude(double value) {
    return value < 0.0 ? 0.0 - value : value;
}

static bool is_consistent(const cairn_direct *d, const cairn_mlcp *system) {
    double largest = 1e-6;
    double missed = 0.0;
    for (uint32_t i = 0; i < d->row_count; ++i) {
        const double offset = magnitude(system->rows[d->rows[i]].offset);
        largest = offset > largest ? offset : largest;
        if (i < d->free_count && !(magnitude(d->velocity[i]) <= missed)) {
            missed = magnitude(d->velocity[i]);
        }
    }
    return missed <= MISS_MAX * largest;
}

// ---- Up to three rows by their matrix

// Whether the rows in `mask` carry the load; the others must not approach.
static bool solve_subset(cairn_direct *d, const cairn_mlcp *system, uint32_t mask) {
    double table[3][4];
    uint32_t rows[3];
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->row_count; ++i) {
        d->impulse[i] = 0.0;
        if ((mask >> i & 1u) != 0) {
            rows[count++] = i;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = 0; k < count; ++k) {
            table[i][k] = *at(d->whole, rows[i], rows[k]);
        }
        table[i][count] = 0.0 - system->rows[d->rows[rows[i]]].offset;
    }
    for (uint32_t k = 0; k < count; ++k) {
        if (!(table[k][k] > 1e-9 * *at(d->whole, rows[k], rows[k]))) {
            d->singular = true;
            return false;
        }
        for (uint32_t i = 0; i < count; ++i) {
            const double factor = i == k ? 0.0 : table[i][k] / table[k][k];
            for (uint32_t m = k; m <= count; ++m) {
                table[i][m] -= factor * table[k][m];
            }
        }
    }
    bool valid = true;
    for (uint32_t i = 0; i < count; ++i) {
        d->impulse[rows[i]] = table[i][count] / table[i][i];
        valid = valid && d->impulse[rows[i]] >= 0.0;
    }
    find_velocities(d, system);
    for (uint32_t i = 0; i < d->row_count; ++i) {
        const double size = 1e-12 * (1.0 + magnitude(system->rows[d->rows[i]].offset));
        valid = valid && d->velocity[i] >= 0.0 - size;
    }
    return valid;
}

static bool solve_small(cairn_direct *d, const cairn_mlcp *system) {
    bool plain = d->free_count == 0 && d->row_count >= 1 && d->row_count <= 3;
    for (uint32_t i = 0; plain && i < d->row_count; ++i) {
        const cairn_mlcp_row *row = &system->rows[d->rows[i]];
        plain = row->lower == 0.0 && row->upper >= CAIRN_MLCP_UNBOUNDED;
    }
    d->singular = false; // redundant rows are for Lemke
    for (uint32_t mask = plain ? 1u << d->row_count : 0; mask > 0 && !d->singular; --mask) {
        if (solve_subset(d, system, mask - 1)) {
            return true;
        }
    }
    return false;
}

static bool has_no_friction(
    cairn_direct *d, const cairn_mlcp *system, const cairn_mlcp_block *block) {
    (void)d;
    (void)system;
    return block->kind == CAIRN_MLCP_BOUNDS;
}

// ---- Components

static bool is_astray(uint32_t outcome) {
    return outcome == CAIRN_SOLVE_RAY || outcome == CAIRN_SOLVE_PIVOTS;
}

static uint32_t solve_in_rounds(
    cairn_direct *d, const cairn_mlcp *system, uint32_t leader, uint32_t *pivots) {
    for (uint32_t i = 0; i < d->row_count; ++i) {
        d->impulse[i] = 0.0;
        d->slides[i] = false;
    }
    find_velocities(d, system);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        for_blocks(d, system, leader, turn_axes);
        const uint32_t outcome = solve_once(d, system, leader);
        *pivots += d->lemke.pivots;
        if (outcome != CAIRN_SOLVE_STOPPED) {
            return outcome;
        }
        for_blocks(d, system, leader, note_sliding);
    }
    return is_consistent(d, system) ? CAIRN_SOLVE_STOPPED : CAIRN_SOLVE_INCONSISTENT;
}

static uint32_t solve_component(
    cairn_direct *d, const cairn_mlcp *system, uint32_t leader, uint32_t *pivots) {
    d->row_count = 0;
    if (!for_blocks(d, system, leader, add_free_rows)) {
        return CAIRN_SOLVE_TOO_LARGE;
    }
    d->free_count = d->row_count;
    if (!for_blocks(d, system, leader, add_bounded_rows)) {
        return CAIRN_SOLVE_TOO_LARGE;
    }
    fill_matrix(d, system);
    if (for_blocks(d, system, leader, has_no_friction) && solve_small(d, system)) {
        return CAIRN_SOLVE_STOPPED;
    }
    uint32_t outcome = CAIRN_SOLVE_RAY;
    for (uint32_t attempt = 0; attempt < ATTEMPTS && is_astray(outcome); ++attempt) {
        outcome = solve_in_rounds(d, system, leader, pivots);
        d->regular *= REGULAR_FACTOR;
    }
    return outcome;
}

cairn_solve_report cairn_direct_solve(cairn_mlcp *system, cairn_solve_work *work, double *x) {
    cairn_direct *d = &work->direct;
    cairn_solve_report report = {.outcome = CAIRN_SOLVE_STOPPED};
    CAIRN_ASSERT(d->rows != NULL);
    for (uint32_t g = 0; g < system->group_count; ++g) {
        if (system->component[g] != g) {
            continue;
        }
        const uint32_t outcome = solve_component(d, system, g, &report.iterations);
        if (outcome != CAIRN_SOLVE_STOPPED) {
            report.outcome = report.outcome == CAIRN_SOLVE_STOPPED ? outcome : report.outcome;
            report.failed += 1;
            continue;
        }
        for (uint32_t i = 0; i < d->row_count; ++i) {
            x[d->rows[i]] = d->impulse[i];
        }
    }
    return report;
}

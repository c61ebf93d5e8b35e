// SPDX-License-Identifier: MIT
#include "sim/reference/lemke.h"

#include <string.h>

#include "base/assert.h"
#include "sim/reference/mlcp.h"

// Columns: w, z, the covering variable, the right-hand side.
#define COLUMNS_MAX (2 * CAIRN_LEMKE_SIZE_MAX + 2)
// Entries below this are rounding; the problem is scaled so that entries are about 1.
#define PIVOT_MIN 1e-11
#define TIE 1e-10
#define PIVOTS_PER_ROW 30
#define PIVOTS_LEAST 100

void cairn_lemke_allocate(cairn_lemke *lemke, cairn_arena *from) {
    const size_t size = CAIRN_LEMKE_SIZE_MAX;
    lemke->size = 0;
    lemke->matrix = cairn_arena_take(from, size * size, sizeof(double));
    lemke->vector = cairn_arena_take(from, size, sizeof(double));
    lemke->z = cairn_arena_take(from, size, sizeof(double));
    lemke->table = cairn_arena_take(from, size * COLUMNS_MAX, sizeof(double));
    lemke->basis = cairn_arena_take(from, size, sizeof *lemke->basis);
    lemke->tied = cairn_arena_take(from, size, sizeof *lemke->tied);
    lemke->nonzero = cairn_arena_take(from, COLUMNS_MAX, sizeof *lemke->nonzero);
}

static double *row_of(const cairn_lemke *lemke, uint32_t row) {
    return lemke->table + (size_t)row * COLUMNS_MAX;
}

// w - M z - z0 = p. Returns false if p has a NaN.
static bool fill(cairn_lemke *lemke, uint32_t *lowest) {
    const uint32_t n = lemke->size;
    bool finite = true;
    *lowest = CAIRN_LEMKE_SIZE_MAX;
    for (uint32_t i = 0; i < n; ++i) {
        double *row = row_of(lemke, i);
        const double *m = lemke->matrix + (size_t)i * CAIRN_LEMKE_SIZE_MAX;
        memset(row, 0, n * sizeof *row);
        row[i] = 1.0;
        for (uint32_t k = 0; k < n; ++k) {
            row[n + k] = 0.0 - m[k];
        }
        row[2 * n] = -1.0;
        row[2 * n + 1] = lemke->vector[i];
        lemke->basis[i] = i;
        finite = finite && lemke->vector[i] >= -CAIRN_MLCP_UNBOUNDED &&
                 lemke->vector[i] <= CAIRN_MLCP_UNBOUNDED;
        // Of equal ones the last: its row of the unit matrix is the lexicographically least.
        if (lemke->vector[i] < 0.0 &&
            (*lowest == CAIRN_LEMKE_SIZE_MAX || lemke->vector[i] <= lemke->vector[*lowest])) {
            *lowest = i;
        }
    }
    return finite;
}

// Divides a row by its entry in `column`, and lists the columns in which it is not zero: a basic
// variable has but one entry, so that most columns are not among them.
static uint32_t divide(cairn_lemke *lemke, double *row, uint32_t column) {
    const uint32_t columns = 2 * lemke->size + 2;
    const double inverse = 1.0 / row[column];
    uint32_t count = 0;
    for (uint32_t k = 0; k < columns; ++k) {
        row[k] *= inverse;
        lemke->nonzero[count] = k;
        count += row[k] != 0.0 ? 1 : 0;
    }
    row[column] = 1.0;
    return count;
}

// While factors are finite, only the sign of a zero depends on the columns that are left out, and
// nothing on that sign.
static void pivot(cairn_lemke *lemke, uint32_t at, uint32_t column) {
    double *chosen = row_of(lemke, at);
    const uint32_t *nonzero = lemke->nonzero;
    const uint32_t count = divide(lemke, chosen, column);
    for (uint32_t i = 0; i < lemke->size; ++i) {
        double *row = row_of(lemke, i);
        const double factor = row[column];
        if (i == at || factor == 0.0) {
            continue;
        }
        for (uint32_t k = 0; k < count; ++k) {
            row[nonzero[k]] -= factor * chosen[nonzero[k]];
        }
        row[column] = 0.0;
    }
    lemke->basis[at] = column;
}

// Keeps of the tied rows those with the least ratio in `by` to `column`.
static uint32_t keep_least(cairn_lemke *lemke, uint32_t count, uint32_t by, uint32_t column) {
    double least = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        const double *row = row_of(lemke, lemke->tied[i]);
        const double ratio = row[by] / row[column];
        least = i == 0 || ratio < least ? ratio : least;
    }
    const double size = least < 0.0 ? 0.0 - least : least;
    const double bound = least + TIE * (1.0 > size ? 1.0 : size);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const double *row = row_of(lemke, lemke->tied[i]);
        if (row[by] / row[column] <= bound) {
            lemke->tied[kept++] = lemke->tied[i];
        }
    }
    return kept;
}

// The row that leaves when `column` enters; CAIRN_LEMKE_SIZE_MAX: a ray. If the covering variable
// is among those that tie, it leaves.
static uint32_t leaving_row(cairn_lemke *lemke, uint32_t column) {
    const uint32_t n = lemke->size;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; ++i) {
        if (row_of(lemke, i)[column] > PIVOT_MIN) {
            lemke->tied[count++] = i;
        }
    }
    if (count == 0) {
        return CAIRN_LEMKE_SIZE_MAX;
    }
    count = keep_least(lemke, count, 2 * n + 1, column);
    for (uint32_t i = 0; i < count; ++i) {
        if (lemke->basis[lemke->tied[i]] == 2 * n) {
            return lemke->tied[i];
        }
    }
    for (uint32_t by = 0; by < n && count > 1; ++by) {
        count = keep_least(lemke, count, by, column);
    }
    return lemke->tied[0];
}

uint32_t cairn_lemke_solve(cairn_lemke *lemke) {
    const uint32_t n = lemke->size;
    const uint32_t pivots_max = PIVOTS_PER_ROW * n + PIVOTS_LEAST;
    uint32_t row = 0;
    CAIRN_ASSERT(n <= CAIRN_LEMKE_SIZE_MAX);
    lemke->pivots = 0;
    memset(lemke->z, 0, n * sizeof *lemke->z);
    if (!fill(lemke, &row)) {
        return CAIRN_SOLVE_INVALID;
    }
    if (row == CAIRN_LEMKE_SIZE_MAX) {
        return CAIRN_SOLVE_STOPPED;
    }
    uint32_t entering = 2 * n;
    while (lemke->pivots < pivots_max) {
        const uint32_t left = lemke->basis[row];
        pivot(lemke, row, entering);
        lemke->pivots += 1;
        if (left == 2 * n) {
            for (uint32_t i = 0; i < n; ++i) {
                const uint32_t basic = lemke->basis[i];
                const double value = row_of(lemke, i)[2 * n + 1];
                if (basic >= n && basic < 2 * n) {
                    lemke->z[basic - n] = value > 0.0 ? value : 0.0;
                }
            }
            return CAIRN_SOLVE_STOPPED;
        }
        entering = left < n ? left + n : left - n; // its complement
        row = leaving_row(lemke, entering);
        if (row == CAIRN_LEMKE_SIZE_MAX) {
            return CAIRN_SOLVE_RAY;
        }
    }
    return CAIRN_SOLVE_PIVOTS;
}

// SPDX-License-Identifier: MIT

// Modified proportioning with reduced gradient projections (Dostal and Schoeberl 2005; Dostal 2009,
// algorithm 5.8): conjugate gradients on the rows that are within their bounds, a projected step
// of fixed length where a conjugate step would leave them, and a step that frees rows when the
// gradient at the bounds outweighs that between them.
//
// It minimises over a box. So friction is bounded row by row, by the normal impulses of some
// iterations ago (Tresca's friction, made Coulomb's by a fixed point), and cones are treated alike.
// Impulses are scaled by the square roots of the diagonal of A: z = x / s.

#include "sim/reference/method.h"

#include <string.h>

#include "base/assert.h"
#include <cairn/math.h>

// Iterations between two updates of the bounds of friction.
#define FRICTION_EVERY 8
#define POWER_ROUNDS 16
#define POWER_MARGIN 1.2

typedef struct mprgp {
    cairn_mlcp *system;
    uint32_t count;
    double *x;        // scratch of products, and the result
    double *scale;    // s, by row
    double *z;        // scaled impulses
    double *gradient; // of the function at z
    double *direction;
    double *product; // A direction
    double *lower;   // scaled bounds
    double *upper;
    double *part; // the free gradient, or the chopped one
    double step;  // of projections: 1 / the norm of A
    bool has_friction;
} mprgp;

static void multiply_scaled(const mprgp *m, const double *z, double *out, bool offset) {
    for (uint32_t i = 0; i < m->count; ++i) {
        m->x[i] = m->scale[i] * z[i];
    }
    if (offset) {
        cairn_mlcp_residual(m->system, m->x, out);
    } else {
        cairn_mlcp_multiply(m->system, m->x, out);
    }
    for (uint32_t i = 0; i < m->count; ++i) {
        out[i] *= m->scale[i];
    }
}

static double clamp(double value, double lower, double upper) {
    return value < lower ? lower : (value > upper ? upper : value);
}

// Bounds by row from the impulses in z, which are then brought within them.
static void set_bounds(mprgp *m) {
    const cairn_mlcp *system = m->system;
    for (uint32_t b = 0; b < system->block_count; ++b) {
        const cairn_mlcp_block *block = &system->blocks[b];
        const bool cone = block->kind == CAIRN_MLCP_CONE;
        const uint32_t normals = cone ? 1 : block->normal_count;
        double length = block->radius;
        for (uint32_t i = 0; i < normals; ++i) {
            const uint32_t n = cone ? block->first : block->normal_first + i * block->normal_stride;
            length += block->coefficient * m->scale[n] * m->z[n];
        }
        length = length > 0.0 ? length : 0.0;
        for (uint32_t i = block->first; i < block->first + block->count; ++i) {
            const cairn_mlcp_row *row = &system->rows[i];
            const bool alone = block->kind == CAIRN_MLCP_BOUNDS;
            const double inverse = cairn_mlcp_inverse(m->scale[i]);
            m->lower[i] = (alone ? row->lower : 0.0 - length) * inverse;
            m->upper[i] = (alone ? row->upper : length) * inverse;
        }
        if (cone) {
            m->lower[block->first] = 0.0;
            m->upper[block->first] = CAIRN_MLCP_UNBOUNDED;
        }
        m->has_friction = m->has_friction || block->kind != CAIRN_MLCP_BOUNDS;
    }
    for (uint32_t i = 0; i < m->count; ++i) {
        m->z[i] = clamp(m->z[i], m->lower[i], m->upper[i]);
    }
}

static bool is_free(const mprgp *m, uint32_t i) {
    return m->z[i] > m->lower[i] && m->z[i] < m->upper[i];
}

static void set_free_gradient(const mprgp *m, double *out) {
    for (uint32_t i = 0; i < m->count; ++i) {
        out[i] = is_free(m, i) ? m->gradient[i] : 0.0;
    }
}

// The part of the gradient at bounds along which the function falls into the box.
static void set_chopped_gradient(const mprgp *m, double *out) {
    for (uint32_t i = 0; i < m->count; ++i) {
        const double g = m->gradient[i];
        const bool low = m->z[i] <= m->lower[i];
        const bool high = m->z[i] >= m->upper[i];
        const bool inward = (low && !high && g < 0.0) || (high && !low && g > 0.0);
        out[i] = inward ? g : 0.0;
    }
}

// Whether the free rows still have more to give than the bounds: |chopped|^2 <= reduced . free.
static bool is_proportional(const mprgp *m) {
    double *free_part = m->part;
    double *reduced = m->product;
    set_chopped_gradient(m, reduced);
    const double chopped = cairn_mlcp_dot(m->system, reduced, reduced);
    set_free_gradient(m, free_part);
    for (uint32_t i = 0; i < m->count; ++i) {
        const double g = free_part[i];
        const double room = (m->z[i] - (g > 0.0 ? m->lower[i] : m->upper[i])) / m->step;
        const bool short_of = g > 0.0 ? room < g : room > g;
        reduced[i] = g != 0.0 && short_of ? room : g;
    }
    return chopped <= cairn_mlcp_dot(m->system, reduced, free_part);
}

// The longest step z - a p within the box, at most `most`.
static double room_along(const mprgp *m, const double *p, double most) {
    for (uint32_t i = 0; i < m->count; ++i) {
        const double room = m->z[i] - (p[i] > 0.0 ? m->lower[i] : m->upper[i]);
        if (p[i] != 0.0 && room < most * p[i] && p[i] > 0.0) {
            most = room / p[i];
        } else if (p[i] < 0.0 && room > most * p[i]) {
            most = room / p[i];
        }
    }
    return most > 0.0 ? most : 0.0;
}

static void move(const mprgp *m, const double *p, double step) {
    for (uint32_t i = 0; i < m->count; ++i) {
        m->z[i] = clamp(m->z[i] - step * p[i], m->lower[i], m->upper[i]);
        m->gradient[i] -= step * m->product[i];
    }
}

static void restart(const mprgp *m) {
    multiply_scaled(m, m->z, m->gradient, true);
    set_free_gradient(m, m->direction);
}

static void proportion(const mprgp *m) {
    set_chopped_gradient(m, m->part);
    multiply_scaled(m, m->part, m->product, false);
    const double curvature = cairn_mlcp_dot(m->system, m->part, m->product);
    const double slope = cairn_mlcp_dot(m->system, m->gradient, m->part);
    if (curvature > 0.0) {
        move(m, m->part, room_along(m, m->part, slope / curvature));
    }
    restart(m);
}

static void expand(const mprgp *m) {
    set_free_gradient(m, m->part);
    for (uint32_t i = 0; i < m->count; ++i) {
        m->z[i] = clamp(m->z[i] - m->step * m->part[i], m->lower[i], m->upper[i]);
    }
    restart(m);
}

static void iterate(const mprgp *m) {
    if (!is_proportional(m)) {
        proportion(m);
        return;
    }
    double *p = m->direction;
    multiply_scaled(m, p, m->product, false);
    const double curvature = cairn_mlcp_dot(m->system, p, m->product);
    const double slope = cairn_mlcp_dot(m->system, m->gradient, p);
    if (!(curvature > 0.0) || !(slope > 0.0)) {
        expand(m);
        return;
    }
    const double wanted = slope / curvature;
    const double room = room_along(m, p, wanted);
    move(m, p, room);
    if (room < wanted) {
        expand(m);
        return;
    }
    set_free_gradient(m, m->part);
    const double factor = cairn_mlcp_dot(m->system, m->part, m->product) / curvature;
    for (uint32_t i = 0; i < m->count; ++i) {
        p[i] = m->part[i] - factor * p[i];
    }
}

// The norm of the scaled A, estimated by powers of it and enlarged.
static double estimate_norm(const mprgp *m) {
    double norm = 1.0;
    for (uint32_t i = 0; i < m->count; ++i) {
        m->direction[i] = m->scale[i] > 0.0 ? 1.0 + (double)(i % 7) * 0.125 : 0.0;
    }
    for (uint32_t round = 0; round < POWER_ROUNDS; ++round) {
        multiply_scaled(m, m->direction, m->product, false);
        const double before = cairn_mlcp_dot(m->system, m->direction, m->direction);
        const double after = cairn_mlcp_dot(m->system, m->product, m->product);
        if (!(before > 0.0) || !(after > 0.0)) {
            return norm * POWER_MARGIN;
        }
        norm = cairn_double_sqrt(after / before);
        const double inverse = 1.0 / cairn_double_sqrt(after);
        for (uint32_t i = 0; i < m->count; ++i) {
            m->direction[i] = m->product[i] * inverse;
        }
    }
    return norm * POWER_MARGIN;
}

uint32_t cairn_solve_mprgp(cairn_mlcp *system, cairn_iteration *progress, double *x) {
    double **v = progress->work->vectors;
    mprgp m = {.system = system,
        .count = system->row_count,
        .x = x,
        .scale = v[0],
        .z = v[1],
        .gradient = v[2],
        .direction = v[3],
        .product = v[4],
        .lower = v[5],
        .upper = v[6],
        .part = v[7]};
    uint32_t outcome = CAIRN_SOLVE_COUNT;
    bool done = false;
    for (uint32_t i = 0; i < m.count; ++i) {
        m.scale[i] = cairn_double_sqrt(cairn_mlcp_inverse(system->rows[i].diagonal));
        m.z[i] = x[i] * cairn_mlcp_inverse(m.scale[i]);
    }
    m.step = 1.0 / estimate_norm(&m);
    set_bounds(&m);
    restart(&m);
    for (uint32_t i = 0; i < m.count; ++i) {
        x[i] = m.scale[i] * m.z[i];
    }
    while (!done) {
        cairn_iteration_begin(progress, system, x);
        if (m.has_friction && progress->iteration % FRICTION_EVERY == 0) {
            set_bounds(&m);
            restart(&m);
        }
        iterate(&m);
        for (uint32_t i = 0; i < m.count; ++i) {
            x[i] = m.scale[i] * m.z[i];
        }
        done = cairn_iteration_done(progress, system, x, &outcome);
    }
    return outcome;
}

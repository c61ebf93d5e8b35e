// SPDX-License-Identifier: MIT

// Modified proportioning with reduced gradient projections (Dostal and Schoeberl 2005; Dostal 2009,
// algorithm 5.8): conjugate gradients on the rows that are within their bounds, a projected step
// of fixed length where a conjugate step would leave them, and a step that frees rows when the
// gradient at the bounds outweighs that between them.
//
// It minimises over a box. So friction is bounded row by row, by the normal impulses of some
// iterations ago (Tresca's friction, made Coulomb's by a fixed point), and cones are treated alike.
// Impulses are scaled by the square roots of the diagonal of A: z = x / s.
//
// Rows that contradict each other have a direction without curvature along which the function falls
// for ever. Where one is found the method ends, with no impulses: those that it began with may be
// the large ones of a step before. Too few iterations may not find it, and have gone far along it;
// so the residual is compared in the end.

#include "sim/reference/method.h"

#include <string.h>

#include "base/assert.h"
#include <cairn/math.h>

// Iterations between two updates of the bounds of friction.
#define FRICTION_EVERY 8
#define POWER_ROUNDS 16
#define POWER_MARGIN 1.2
// A direction p is flat if p.A p is rounding beside |p|^2 |A|: at mass ratios of 1e12 it is 1e-13
// of it. The function falls along p if its slope is more than that fraction of |q|.
#define FLAT 1e-14
#define FALL 1e-6
// A residual that grew by this factor is worse than none solved.
#define WORSE 2.0
// The velocity that a row's impulse alone gives its bodies, m/s or rad/s: much more than that, and
// than any that is wanted, is lost where impulses are stored as floats and started from.
#define LOST 1e4
#define LOST_FACTOR 1e2
#define LEFT_MIN 1.0 // m/s or rad/s; but so little never is
// A step that is longer meets no bound.
#define ENDLESS 1e20
// Vectors of the residual, which the stop rules use as well.
#define RESIDUAL (CAIRN_SOLVE_VECTORS - 2)
#define TRIAL (CAIRN_SOLVE_VECTORS - 1)

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
    double size;  // |q|, scaled
    bool has_friction;
    bool inconsistent;
} mprgp;

// A loop over rows or blocks, of items that do not depend on each other (cairn_mlcp_runner).
typedef struct loop {
    const mprgp *m;
    const double *from;
    double *to;
    double factor;
} loop;

static void run(
    const mprgp *m, cairn_mlcp_part *part, const double *from, double *to, double factor) {
    const loop l = {.m = m, .from = from, .to = to, .factor = factor};
    cairn_mlcp_run(m->system, part, &l, m->count);
}

static void unscale_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    for (uint32_t i = begin; i < end; ++i) {
        l->m->x[i] = l->m->scale[i] * l->from[i];
    }
}

static void scale_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    for (uint32_t i = begin; i < end; ++i) {
        l->to[i] *= l->m->scale[i];
    }
}

static void multiply_scaled(const mprgp *m, const double *z, double *out, bool offset) {
    run(m, unscale_part, z, NULL, 0.0);
    if (offset) {
        cairn_mlcp_residual(m->system, m->x, out);
    } else {
        cairn_mlcp_multiply(m->system, m->x, out);
    }
    run(m, scale_part, NULL, out, 0.0);
}

static double magnitude(double value) {
    return value < 0.0 ? 0.0 - value : value;
}

static double clamp(double value, double lower, double upper) {
    return value < lower ? lower : (value > upper ? upper : value);
}

// ---- Bounds

static void bound_part(const void *context, uint32_t begin, uint32_t end) {
    const mprgp *m = ((const loop *)context)->m;
    const cairn_mlcp *system = m->system;
    for (uint32_t b = begin; b < end; ++b) {
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
            const cairn_mlcp_columns *columns = &system->columns;
            const bool alone = block->kind == CAIRN_MLCP_BOUNDS;
            const double inverse = cairn_mlcp_inverse(m->scale[i]);
            m->lower[i] = (alone ? columns->lower[i] : 0.0 - length) * inverse;
            m->upper[i] = (alone ? columns->upper[i] : length) * inverse;
        }
        if (cone) {
            m->lower[block->first] = 0.0;
            m->upper[block->first] = CAIRN_MLCP_UNBOUNDED;
        }
    }
}

static void clamp_part(const void *context, uint32_t begin, uint32_t end) {
    const mprgp *m = ((const loop *)context)->m;
    for (uint32_t i = begin; i < end; ++i) {
        m->z[i] = clamp(m->z[i], m->lower[i], m->upper[i]);
    }
}

// Bounds by row from the impulses in z, which are then brought within them.
static void set_bounds(const mprgp *m) {
    const loop l = {.m = m};
    cairn_mlcp_run(m->system, bound_part, &l, m->system->block_count);
    run(m, clamp_part, NULL, NULL, 0.0);
}

static bool has_friction(const cairn_mlcp *system) {
    for (uint32_t b = 0; b < system->block_count; ++b) {
        if (system->blocks[b].kind != CAIRN_MLCP_BOUNDS) {
            return true;
        }
    }
    return false;
}

// ---- Gradients

static void free_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    const mprgp *m = l->m;
    for (uint32_t i = begin; i < end; ++i) {
        const bool is_free = m->z[i] > m->lower[i] && m->z[i] < m->upper[i];
        l->to[i] = is_free ? m->gradient[i] : 0.0;
    }
}

static void set_free_gradient(const mprgp *m, double *out) {
    run(m, free_part, NULL, out, 0.0);
}

static void chopped_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    const mprgp *m = l->m;
    for (uint32_t i = begin; i < end; ++i) {
        const double g = m->gradient[i];
        const bool low = m->z[i] <= m->lower[i];
        const bool high = m->z[i] >= m->upper[i];
        const bool inward = (low && !high && g < 0.0) || (high && !low && g > 0.0);
        l->to[i] = inward ? g : 0.0;
    }
}

// The part of the gradient at bounds along which the function falls into the box.
static void set_chopped_gradient(const mprgp *m, double *out) {
    run(m, chopped_part, NULL, out, 0.0);
}

static void reduced_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    const mprgp *m = l->m;
    for (uint32_t i = begin; i < end; ++i) {
        const double g = l->from[i];
        const double room = (m->z[i] - (g > 0.0 ? m->lower[i] : m->upper[i])) / m->step;
        const bool short_of = g > 0.0 ? room < g : room > g;
        l->to[i] = g != 0.0 && short_of ? room : g;
    }
}

// Whether the free rows still have more to give than the bounds: |chopped|^2 <= reduced . free.
static bool is_proportional(const mprgp *m) {
    double *reduced = m->product;
    set_chopped_gradient(m, reduced);
    const double chopped = cairn_mlcp_dot(m->system, reduced, reduced);
    set_free_gradient(m, m->part);
    run(m, reduced_part, m->part, reduced, 0.0);
    return chopped <= cairn_mlcp_dot(m->system, reduced, m->part);
}

// ---- Steps

// The room of each row along z - a p, at most `factor`.
static void room_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    const mprgp *m = l->m;
    for (uint32_t i = begin; i < end; ++i) {
        const double p = l->from[i];
        const double room = m->z[i] - (p > 0.0 ? m->lower[i] : m->upper[i]);
        const bool meets = p > 0.0 ? room < l->factor * p : room > l->factor * p;
        l->to[i] = p != 0.0 && meets ? room / p : l->factor;
    }
}

// The longest step z - a p within the box, at most `most`. The least number is the same in any
// order. Uses x.
static double room_along(const mprgp *m, const double *p, double most) {
    run(m, room_part, p, m->x, most);
    for (uint32_t i = 0; i < m->count; ++i) {
        most = m->x[i] < most ? m->x[i] : most;
    }
    return most > 0.0 ? most : 0.0;
}

static void move_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    const mprgp *m = l->m;
    for (uint32_t i = begin; i < end; ++i) {
        m->z[i] = clamp(m->z[i] - l->factor * l->from[i], m->lower[i], m->upper[i]);
        m->gradient[i] -= l->factor * m->product[i];
    }
}

static void move(const mprgp *m, const double *p, double step) {
    run(m, move_part, p, NULL, step);
}

static void restart(const mprgp *m) {
    multiply_scaled(m, m->z, m->gradient, true);
    set_free_gradient(m, m->direction);
}

static void expand_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    const mprgp *m = l->m;
    for (uint32_t i = begin; i < end; ++i) {
        m->z[i] = clamp(m->z[i] - l->factor * l->from[i], m->lower[i], m->upper[i]);
    }
}

static void expand(const mprgp *m) {
    set_free_gradient(m, m->part);
    run(m, expand_part, m->part, NULL, m->step);
    restart(m);
}

// Whether the function falls along p without curvature that could end it.
static bool falls_flat(const mprgp *m, const double *p, double curvature, double slope) {
    const double square = cairn_mlcp_dot(m->system, p, p);
    return curvature <= FLAT * square / m->step &&
           slope > FALL * m->size * cairn_double_sqrt(square);
}

// Along a flat direction, to the first bound. Without one the rows contradict each other.
static void fall(mprgp *m, const double *p) {
    const double room = room_along(m, p, CAIRN_MLCP_UNBOUNDED);
    m->inconsistent = room >= ENDLESS;
    if (!m->inconsistent) {
        move(m, p, room);
        expand(m);
    }
}

static void proportion(mprgp *m) {
    set_chopped_gradient(m, m->part);
    multiply_scaled(m, m->part, m->product, false);
    const double curvature = cairn_mlcp_dot(m->system, m->part, m->product);
    const double slope = cairn_mlcp_dot(m->system, m->gradient, m->part);
    if (falls_flat(m, m->part, curvature, slope)) {
        fall(m, m->part);
        return;
    }
    if (curvature > 0.0) {
        move(m, m->part, room_along(m, m->part, slope / curvature));
    }
    restart(m);
}

static void conjugate_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    for (uint32_t i = begin; i < end; ++i) {
        l->to[i] = l->from[i] - l->factor * l->to[i];
    }
}

static void iterate(mprgp *m) {
    if (!is_proportional(m)) {
        proportion(m);
        return;
    }
    double *p = m->direction;
    multiply_scaled(m, p, m->product, false);
    const double curvature = cairn_mlcp_dot(m->system, p, m->product);
    const double slope = cairn_mlcp_dot(m->system, m->gradient, p);
    if (falls_flat(m, p, curvature, slope)) {
        fall(m, p);
        return;
    }
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
    run(m, conjugate_part, m->part, p, factor);
}

// What is large beside what the rows ask for has gone along a direction that moves nothing.
static bool is_lost(const mprgp *m) {
    double most = 0.0;
    double wanted = 0.0;
    for (uint32_t i = 0; i < m->count; ++i) {
        const double offset = magnitude(m->system->columns.offset[i]);
        const double alone = magnitude(m->x[i] * m->system->columns.diagonal[i]);
        most = alone <= most ? most : alone;
        wanted = offset > wanted ? offset : wanted;
    }
    return !(most <= LOST + LOST_FACTOR * wanted);
}

// ---- The norm

static void start_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    for (uint32_t i = begin; i < end; ++i) {
        l->to[i] = l->m->scale[i] > 0.0 ? 1.0 + (double)(i % 7) * 0.125 : 0.0;
    }
}

static void times_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    for (uint32_t i = begin; i < end; ++i) {
        l->to[i] = l->from[i] * l->factor;
    }
}

// The norm of the scaled A, estimated by powers of it and enlarged.
static double estimate_norm(const mprgp *m) {
    double norm = 1.0;
    run(m, start_part, NULL, m->direction, 0.0);
    for (uint32_t round = 0; round < POWER_ROUNDS; ++round) {
        multiply_scaled(m, m->direction, m->product, false);
        const double before = cairn_mlcp_dot(m->system, m->direction, m->direction);
        const double after = cairn_mlcp_dot(m->system, m->product, m->product);
        if (!(before > 0.0) || !(after > 0.0)) {
            return norm * POWER_MARGIN;
        }
        norm = cairn_double_sqrt(after / before);
        run(m, times_part, m->product, m->direction, 1.0 / cairn_double_sqrt(after));
    }
    return norm * POWER_MARGIN;
}

// ---- The method

static void enter_part(const void *context, uint32_t begin, uint32_t end) {
    const loop *l = context;
    const mprgp *m = l->m;
    for (uint32_t i = begin; i < end; ++i) {
        m->scale[i] = cairn_double_sqrt(cairn_mlcp_inverse(m->system->columns.diagonal[i]));
        m->z[i] = l->from[i] * cairn_mlcp_inverse(m->scale[i]);
        l->to[i] = m->scale[i] * m->system->columns.offset[i];
    }
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
        .part = v[7],
        .has_friction = has_friction(system)};
    uint32_t outcome = CAIRN_SOLVE_COUNT;
    bool done = false;
    const double residual = cairn_natural_residual(system, x, v[RESIDUAL], v[TRIAL]);
    run(&m, enter_part, x, m.part, 0.0);
    m.size = cairn_double_sqrt(cairn_mlcp_dot(system, m.part, m.part));
    m.step = 1.0 / estimate_norm(&m);
    set_bounds(&m);
    restart(&m);
    run(&m, unscale_part, m.z, NULL, 0.0);
    while (!done) {
        cairn_iteration_begin(progress, system, x);
        if (m.has_friction && progress->iteration % FRICTION_EVERY == 0) {
            set_bounds(&m);
            restart(&m);
        }
        iterate(&m);
        run(&m, unscale_part, m.z, NULL, 0.0);
        done = cairn_iteration_done(progress, system, x, &outcome) || m.inconsistent;
    }
    const double left = cairn_natural_residual(system, x, v[RESIDUAL], v[TRIAL]);
    const bool worse = !(left <= WORSE * residual || left <= LEFT_MIN);
    if (m.inconsistent || worse || is_lost(&m)) {
        memset(x, 0, m.count * sizeof *x);
        return CAIRN_SOLVE_INCONSISTENT;
    }
    return outcome;
}

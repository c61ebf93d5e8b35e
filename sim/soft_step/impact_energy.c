// SPDX-License-Identifier: MIT
// No impact wins energy.
//
// Let u be the velocities at the contacts of a round of impacts before it, u' after it, and p their
// impulses: the bodies win the energy p . (u + u') / 2. Newton's law u'n = -e un with Coulomb's
// friction can make that positive, if sliding turns back during the impact (Kane, "A dynamics
// puzzle", 1983; Stronge, "Rigid body collisions with friction", 1990). It never is for the
// impulses (1 + e) q, where q stop the approach without a bounce, with friction: the law holds for
// them, and they lie in the cones of friction since q do. All that is linear or convex, so each
// mean of p and (1 + e) q obeys both, too. Impacts that would win energy get the mean nearest to p
// that does not.
//
// If a body meets many others at once, the sweeps may end before q has converged. Each step of a
// sweep reduces the energy, so q does, too. Then q is scaled by the largest factor up to 1 + e that
// does not add energy, and the bounce may be a little slower than the law demands.
//
// Energy is counted in clusters: contacts that share a body that impulses move. What they win is
// summed in the order of the edges, so that no result depends on lanes or workers. Clusters that
// win are few, and one worker computes them.

#include <string.h>

#include "base/assert.h"
#include "sim/constraint/impact_mean.h"
#include "sim/math/limits.h"
#include "sim/soft_step/soft_step.h"

static uint32_t first_of(cairn_impact_cluster *clusters, uint32_t body) {
    while (clusters[body].parent != body) {
        clusters[body].parent = clusters[clusters[body].parent].parent;
        body = clusters[body].parent;
    }
    return body;
}

static bool takes_part(const cairn_soft_step *soft_step, uint32_t edge) {
    return soft_step->impact_work[edge].round == soft_step->wide_context.impact_round;
}

static bool moves(const cairn_soft_step *soft_step, uint32_t body) {
    return body < soft_step->moving_count;
}

// One of the two bodies of an edge that impulses move.
static uint32_t mover_of(const cairn_soft_step *soft_step, const cairn_constraint_edge *edge) {
    CAIRN_ASSERT(moves(soft_step, edge->solver_a) || moves(soft_step, edge->solver_b));
    return moves(soft_step, edge->solver_a) ? edge->solver_a : edge->solver_b;
}

static void find_clusters(cairn_soft_step *soft_step) {
    const cairn_constraint_graph *graph = &soft_step->contact_graph;
    cairn_impact_cluster *clusters = soft_step->impact_clusters;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const uint32_t bodies[2] = {graph->edges[i].solver_a, graph->edges[i].solver_b};
        for (uint32_t k = 0; k < 2 && takes_part(soft_step, i); ++k) {
            if (moves(soft_step, bodies[k])) {
                clusters[bodies[k]] = (cairn_impact_cluster){.parent = bodies[k]};
            }
        }
    }
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        if (takes_part(soft_step, i) && moves(soft_step, edge->solver_a) &&
            moves(soft_step, edge->solver_b)) {
            const uint32_t a = first_of(clusters, edge->solver_a);
            const uint32_t b = first_of(clusters, edge->solver_b);
            clusters[a > b ? a : b].parent = a < b ? a : b;
        }
    }
}

// Marks what is limited. Returns whether anything is.
static bool mark_limited(cairn_soft_step *soft_step) {
    const cairn_constraint_graph *graph = &soft_step->contact_graph;
    cairn_impact_cluster *clusters = soft_step->impact_clusters;
    bool any = false;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        if (takes_part(soft_step, i)) {
            cairn_impact_cluster *cluster =
                &clusters[first_of(clusters, mover_of(soft_step, edge))];
            cluster->gain = cluster->gain + soft_step->impact_work[i].gain;
            cluster->bounced = cluster->bounced + soft_step->impact_work[i].bounced;
            cluster->linked |= soft_step->bodies[edge->solver_a].closing != 0.0f ||
                                       soft_step->bodies[edge->solver_b].closing != 0.0f
                                   ? 1u
                                   : 0u;
        }
    }
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        if (takes_part(soft_step, i)) {
            const cairn_impact_cluster *cluster =
                &clusters[first_of(clusters, mover_of(soft_step, &graph->edges[i]))];
            const bool wins = cluster->gain > CAIRN_IMPACT_GAIN_MIN * cluster->bounced;
            soft_step->impact_work[i].limited = wins && cluster->linked == 0 ? 1 : 0;
            any = any || soft_step->impact_work[i].limited != 0;
        }
    }
    return any;
}

// Puts the limited bodies back to before the round, and lists them. Returns how many they are.
static uint32_t go_back(cairn_soft_step *soft_step) {
    const cairn_constraint_graph *graph = &soft_step->contact_graph;
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const uint32_t bodies[2] = {graph->edges[i].solver_a, graph->edges[i].solver_b};
        if (!takes_part(soft_step, i) || soft_step->impact_work[i].limited == 0) {
            continue;
        }
        for (uint32_t k = 0; k < 2; ++k) {
            const uint32_t body = bodies[k];
            if (moves(soft_step, body) && soft_step->impact_clusters[body].listed == 0) {
                soft_step->impact_clusters[body].listed = 1;
                soft_step->limited_bodies[count++] = body;
                memcpy(soft_step->after_impact[body].row, soft_step->bodies[body].linear_velocity,
                    sizeof soft_step->after_impact[body].row);
                memcpy(soft_step->bodies[body].linear_velocity, soft_step->before_impact[body].row,
                    sizeof soft_step->before_impact[body].row);
            }
        }
    }
    return count;
}

// Over all contacts, in the order in which they are solved.
static void sweep(cairn_soft_step *soft_step, cairn_constraint_stage stage) {
    const cairn_constraint_graph *graph = &soft_step->contact_graph;
    if (graph->overflow_count > 0) {
        soft_step->overflow_kernel.contacts->stages[stage](
            &soft_step->overflow_context, 0, graph->overflow_count);
    }
    for (uint32_t colour = 0; colour < CAIRN_COLOURS; ++colour) {
        const cairn_graph_part *parts = graph->parts[colour];
        for (uint32_t i = 0; i < graph->owners.count; ++i) {
            soft_step->wide_kernel.contacts->stages[stage](
                &soft_step->wide_context, parts[i].begin, parts[i].end);
        }
    }
}

// The cluster of a limited contact; NULL of others.
static cairn_impact_cluster *limited_cluster(cairn_soft_step *soft_step, uint32_t edge) {
    if (!takes_part(soft_step, edge) || soft_step->impact_work[edge].limited == 0) {
        return NULL;
    }
    const uint32_t body = mover_of(soft_step, &soft_step->contact_graph.edges[edge]);
    return &soft_step->impact_clusters[first_of(soft_step->impact_clusters, body)];
}

static void find_scales(cairn_soft_step *soft_step) {
    const uint32_t count = soft_step->contact_graph.edge_count;
    for (uint32_t i = 0; i < count; ++i) {
        cairn_impact_cluster *cluster = limited_cluster(soft_step, i);
        if (cluster != NULL) {
            cluster->stop = cluster->stop + soft_step->impact_work[i].stop;
            cluster->stop_change = cluster->stop_change + soft_step->impact_work[i].stop_change;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_impact_cluster *cluster = limited_cluster(soft_step, i);
        if (cluster != NULL) {
            const float taken = 0.0f - cluster->stop;
            const bool all = taken >= 2.0f * cluster->stop_change; // however elastic
            soft_step->impact_work[i].scale =
                all ? 2.0f : float_max(taken / cluster->stop_change, 1.0f);
        }
    }
}

static void find_shares(cairn_soft_step *soft_step) {
    const uint32_t count = soft_step->contact_graph.edge_count;
    for (uint32_t i = 0; i < count; ++i) {
        cairn_impact_cluster *cluster = limited_cluster(soft_step, i);
        if (cluster != NULL) {
            cluster->mixed = cluster->mixed + soft_step->impact_work[i].mixed;
            cluster->reflected = cluster->reflected + soft_step->impact_work[i].reflected;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_impact_cluster *cluster = limited_cluster(soft_step, i);
        if (cluster != NULL) {
            soft_step->impact_work[i].share =
                cairn_share_without_gain(cluster->gain, cluster->mixed, cluster->reflected);
        }
    }
}

// The mean of both velocities. It changes the unconstrained velocity as well. Else the next substep
// would apply the change again, as if it were an impulse of this one.
static void mix_velocities(cairn_soft_step *soft_step, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t body = soft_step->limited_bodies[i];
        cairn_impact_cluster *clusters = soft_step->impact_clusters;
        const cairn_impact_cluster *cluster = &clusters[first_of(clusters, body)];
        const float share =
            cairn_share_without_gain(cluster->gain, cluster->mixed, cluster->reflected);
        const float *newton = soft_step->after_impact[body].row;
        float *now = soft_step->bodies[body].linear_velocity;
        float *unconstrained = soft_step->integration[body].unconstrained_velocity;
        for (uint32_t k = 0; k < 7; ++k) {
            if (k != 3) { // the inverse mass
                const float mean = newton[k] + share * (now[k] - newton[k]);
                unconstrained[k] = unconstrained[k] + (mean - newton[k]);
                now[k] = mean;
            }
        }
    }
}

void cairn_impacts_limit(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    if (atomic_load_explicit(&soft_step->impact_gains, memory_order_relaxed) == 0) {
        return;
    }
    find_clusters(soft_step);
    if (!mark_limited(soft_step)) {
        return;
    }
    const uint32_t count = go_back(soft_step);
    for (uint32_t k = 0; k < CAIRN_IMPACT_SWEEPS; ++k) {
        sweep(soft_step, CAIRN_CONSTRAINT_STOP_IMPACTS);
    }
    sweep(soft_step, CAIRN_CONSTRAINT_MEASURE_STOP);
    find_scales(soft_step);
    sweep(soft_step, CAIRN_CONSTRAINT_REFLECT_IMPACTS);
    sweep(soft_step, CAIRN_CONSTRAINT_MEASURE_REFLECTION);
    find_shares(soft_step);
    mix_velocities(soft_step, count);
    sweep(soft_step, CAIRN_CONSTRAINT_MIX_IMPACTS);
}

// SPDX-License-Identifier: MIT

// Contacts as rows of velocity constraints solved by projected Gauss-Seidel in its sequential
// impulse form (Catto 2005, sections 4 and 7; Catto 2006: accumulated impulses are clamped, not the
// increments). Signs: the normal points from a to b, an impulse P moves b by +P and a by -P.

#include "sim/pgs/pgs.h"

#include "base/assert.h"
#include "sim/collide/manifold_pool.h"
#include "sim/math/limits.h"
#include "sim/pgs/row_math.h"

static bool constant_friction(const cairn_world *world) {
    return world->def.friction_model == CAIRN_FRICTION_CONSTANT;
}

static void count_points(cairn_world *world) {
    CAIRN_ASSERT(constant_friction(world));
    cairn_pgs *pgs = world->pgs;
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        pgs->body_points[i] = 0;
    }
    for (uint32_t i = 0; i < pgs->contact_graph.edge_count; ++i) {
        const cairn_constraint_edge *edge = &pgs->contact_graph.edges[i];
        CAIRN_ASSERT(edge->element < world->state.settings->contact_count);
        const uint32_t points = world->state.contacts[edge->element].point_count;
        pgs->body_points[edge->body_a] += points;
        pgs->body_points[edge->body_b] += points;
    }
}

// mu m_c g dt (Catto 2005, equations 24 and 25). m_c is the mass of the body divided by its
// number of points; between two moving bodies the smaller of both.
static float constant_bound(const cairn_world *world, const cairn_pgs_contact *constraint) {
    const cairn_pgs *pgs = world->pgs;
    const uint32_t bodies[2] = {constraint->body_a, constraint->body_b};
    float mass_per_point = 3.4e38f;
    for (int i = 0; i < 2; ++i) {
        if (pgs->bodies[bodies[i]].takes_impulses != 0) {
            CAIRN_ASSERT(pgs->body_points[bodies[i]] > 0);
            const float mass = world->state.bodies[bodies[i]].mass;
            mass_per_point = float_min(mass_per_point, mass / (float)pgs->body_points[bodies[i]]);
        }
    }
    const float gravity = vec3_length(world->state.settings->present_gravity);
    return constraint->friction * mass_per_point * gravity * world_time_step(world);
}

// The desired normal velocity. Across a gap: just enough approach to close it. Inside: the
// Baumgarte term for the depth beyond the slop (Catto 2005, equation 20), at most
// CAIRN_PUSH_SPEED_MAX.
static float normal_target(const cairn_world *world, float separation) {
    const cairn_settings *settings = world->state.settings;
    const float rate = world_step_rate(world);
    const float depth = float_max(0.0f - separation - settings->slop, 0.0f);
    const float push = float_min(depth * settings->baumgarte * rate, CAIRN_PUSH_SPEED_MAX);
    return separation > 0.0f ? 0.0f - separation * rate : push;
}

// A body that impulses do not move takes what it carries around on a chord of the circle, where
// w x r alone would be along the tangent.
static cairn_vec3 chord_velocity(
    const cairn_world *world, const cairn_pgs_body *body, cairn_vec3 arm) {
    const cairn_vec3 w = body->angular_velocity;
    const cairn_vec3 inward = vec3_cross(w, vec3_cross(w, arm));
    return vec3_select(
        body->takes_impulses != 0, vec3_zero(), vec3_scale(inward, 0.5f * world_time_step(world)));
}

static void prepare_row(const cairn_world *world, const cairn_pgs_contact *constraint,
    const cairn_manifold_point *at, cairn_pgs_contact_row *row) {
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    row->arm_a = vec3_sub(at->position, world->state.motions[constraint->body_a].position);
    row->arm_b = vec3_sub(at->position, world->state.motions[constraint->body_b].position);
    row->normal_mass = row_mass(a, row->arm_a, b, row->arm_b, constraint->normal);
    for (int t = 0; t < 2; ++t) {
        row->tangent_mass[t] = row_mass(a, row->arm_a, b, row->arm_b, constraint->tangents[t]);
    }
    row->chord =
        vec3_sub(chord_velocity(world, b, row->arm_b), chord_velocity(world, a, row->arm_a));
    row->separation = at->separation;
    row->bias = normal_target(world, at->separation);
}

static void prepare_material(const cairn_world *world, const cairn_shape *shape_a,
    const cairn_shape *shape_b, cairn_pgs_contact *constraint) {
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    const cairn_motion *motions = world->state.motions;
    const cairn_contact_material material = cairn_contact_material_of(shape_a, shape_b);
    const cairn_sym3 both = sym3_add(a->inverse_inertia, b->inverse_inertia);
    const cairn_vec3 axes[3] = {
        constraint->tangents[0], constraint->tangents[1], constraint->normal};
    float mass[3];
    for (int i = 0; i < 3; ++i) {
        mass[i] = inverse_or_zero(vec3_dot(axes[i], sym3_apply(both, axes[i])));
    }
    constraint->material = material;
    constraint->surface_velocity =
        vec3_sub(quat_rotate(motions[constraint->body_b].rotation, shape_b->surface_velocity),
            quat_rotate(motions[constraint->body_a].rotation, shape_a->surface_velocity));
    constraint->friction = material.friction;
    constraint->resists = material.rolling_resistance > 0.0f || material.spin_resistance > 0.0f;
    constraint->rolling_mass[0] = mass[0];
    constraint->rolling_mass[1] = mass[1];
    constraint->spin_mass = mass[2];
    constraint->spin_impulse = 0.0f;
    constraint->rolling_impulse[0] = 0.0f;
    constraint->rolling_impulse[1] = 0.0f;
    constraint->impact_impulse = 0.0f;
}

// Chooses between static and sliding friction by how fast the first point slides.
static void choose_friction(const cairn_world *world, cairn_pgs_contact *constraint) {
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    const cairn_pgs_contact_row *row = &constraint->rows[0];
    const cairn_vec3 change = vec3_sub(b->velocity_change, a->velocity_change);
    const cairn_vec3 u = vec3_add(vec3_sub(point_velocity(a, row->arm_a, b, row->arm_b), change),
        constraint->surface_velocity);
    const float slip_1 = vec3_dot(u, constraint->tangents[0]);
    const float slip_2 = vec3_dot(u, constraint->tangents[1]);
    if (slip_1 * slip_1 + slip_2 * slip_2 < CAIRN_STICKING_SPEED * CAIRN_STICKING_SPEED) {
        constraint->friction = constraint->material.static_friction;
    }
}

static void prepare_contact(
    const cairn_world *world, uint32_t index, cairn_pgs_contact *constraint) {
    const cairn_constraint_edge *edge = &world->pgs->contact_graph.edges[index];
    CAIRN_ASSERT(index < world->pgs->contact_graph.edge_count && edge->body_a != edge->body_b);
    const cairn_contact *contact = &world->state.contacts[edge->element];
    const cairn_shape *shape_a = &world->state.shapes[cairn_id_index(contact->shape_a)];
    const cairn_shape *shape_b = &world->state.shapes[cairn_id_index(contact->shape_b)];
    cairn_manifold manifold;
    CAIRN_ASSERT(edge->manifold < world->manifold_pool->used);
    cairn_solver_manifold_to_world(world, &world->manifold_pool->manifolds[edge->manifold],
        edge->body_a, edge->body_b, &manifold);
    CAIRN_ASSERT(manifold.point_count >= 1 && manifold.point_count <= contact->point_count);
    constraint->contact = edge->element;
    constraint->body_a = edge->body_a;
    constraint->body_b = edge->body_b;
    constraint->row_count = manifold.point_count;
    constraint->normal = manifold.normal;
    vec3_tangents(manifold.normal, &constraint->tangents[0], &constraint->tangents[1]);
    prepare_material(world, shape_a, shape_b, constraint);
    const float bound = constant_friction(world) ? constant_bound(world, constraint) : -1.0f;
    for (uint32_t i = 0; i < manifold.point_count; ++i) {
        cairn_pgs_contact_row *row = &constraint->rows[i];
        const cairn_contact_point *point = &contact->points[i];
        const bool warm = world->def.warm_start != 0;
        prepare_row(world, constraint, &manifold.points[i], row);
        row->friction_bound = bound;
        row->normal_impulse = warm ? point->normal_impulse : 0.0f;
        row->tangent_impulse[0] = warm ? contact->tangent_impulse[2 * i] : 0.0f;
        row->tangent_impulse[1] = warm ? contact->tangent_impulse[2 * i + 1] : 0.0f;
    }
    if (constraint->material.static_friction > constraint->material.friction) {
        choose_friction(world, constraint);
    }
}

void cairn_pgs_contacts_prepare(cairn_world *world) {
    const cairn_constraint_graph *graph = &world->pgs->contact_graph;
    CAIRN_ASSERT(graph->edge_count <= world->state.settings->contact_count);
    if (constant_friction(world)) {
        count_points(world);
    }
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        prepare_contact(world, cairn_constraint_graph_nth(graph, i), &world->pgs->contacts[i]);
    }
}

void cairn_pgs_contacts_warm_start(cairn_world *world) {
    cairn_pgs *pgs = world->pgs;
    for (uint32_t i = 0; i < pgs->contact_graph.edge_count; ++i) {
        const cairn_pgs_contact *constraint = &pgs->contacts[i];
        cairn_pgs_body *a = &pgs->bodies[constraint->body_a];
        cairn_pgs_body *b = &pgs->bodies[constraint->body_b];
        for (uint32_t k = 0; k < constraint->row_count; ++k) {
            const cairn_pgs_contact_row *row = &constraint->rows[k];
            cairn_vec3 impulse = vec3_scale(constraint->normal, row->normal_impulse);
            impulse = vec3_add_scaled(impulse, constraint->tangents[0], row->tangent_impulse[0]);
            impulse = vec3_add_scaled(impulse, constraint->tangents[1], row->tangent_impulse[1]);
            subtract_impulse(a, row->arm_a, impulse);
            add_impulse(b, row->arm_b, impulse);
        }
    }
}

void cairn_pgs_solve_friction(const cairn_pgs_contact *constraint, const cairn_pgs_contact_row *row,
    float normal_impulse, float impulses[2], cairn_pgs_body *a, cairn_pgs_body *b) {
    const cairn_vec3 velocity =
        vec3_add(vec3_add(point_velocity(a, row->arm_a, b, row->arm_b), row->chord),
            constraint->surface_velocity);
    float sum[2];
    for (int t = 0; t < 2; ++t) {
        const float slide = vec3_dot(velocity, constraint->tangents[t]);
        sum[t] = impulses[t] - row->tangent_mass[t] * slide;
    }
    if (row->friction_bound < 0.0f) {
        const float bound = constraint->friction * normal_impulse;
        const float length_squared = sum[0] * sum[0] + sum[1] * sum[1];
        const bool sliding = length_squared > bound * bound;
        const float scale = sliding ? bound / float_sqrt(length_squared) : 1.0f;
        sum[0] = sum[0] * scale;
        sum[1] = sum[1] * scale;
    } else {
        const float bound = row->friction_bound;
        sum[0] = float_clamp(sum[0], 0.0f - bound, bound);
        sum[1] = float_clamp(sum[1], 0.0f - bound, bound);
    }
    const cairn_vec3 first = vec3_scale(constraint->tangents[0], sum[0] - impulses[0]);
    const cairn_vec3 impulse =
        vec3_add_scaled(first, constraint->tangents[1], sum[1] - impulses[1]);
    impulses[0] = sum[0];
    impulses[1] = sum[1];
    subtract_impulse(a, row->arm_a, impulse);
    add_impulse(b, row->arm_b, impulse);
}

// Resistance to rolling and spinning, by the normal impulses of all points.
static void solve_resistance(cairn_pgs_contact *constraint, cairn_pgs_body *a, cairn_pgs_body *b) {
    float normal = 0.0f;
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        normal += constraint->rows[i].normal_impulse;
    }
    const cairn_vec3 w = vec3_sub(b->angular_velocity, a->angular_velocity);
    float sum[2];
    for (int t = 0; t < 2; ++t) {
        sum[t] = constraint->rolling_impulse[t] -
                 constraint->rolling_mass[t] * vec3_dot(w, constraint->tangents[t]);
    }
    const float bound = constraint->material.rolling_resistance * normal;
    const float length_squared = sum[0] * sum[0] + sum[1] * sum[1];
    const float scale = length_squared > bound * bound ? bound / float_sqrt(length_squared) : 1.0f;
    cairn_vec3 torque = vec3_zero();
    for (int t = 0; t < 2; ++t) {
        const float total = sum[t] * scale;
        torque = vec3_add_scaled(
            torque, constraint->tangents[t], total - constraint->rolling_impulse[t]);
        constraint->rolling_impulse[t] = total;
    }
    const float limit = constraint->material.spin_resistance * normal;
    const float spin = float_clamp(
        constraint->spin_impulse - constraint->spin_mass * vec3_dot(w, constraint->normal),
        0.0f - limit, limit);
    torque = vec3_add_scaled(torque, constraint->normal, spin - constraint->spin_impulse);
    constraint->spin_impulse = spin;
    apply_angular_impulse(a, b, torque);
}

static void solve_contact(cairn_world *world, cairn_pgs_contact *constraint) {
    CAIRN_ASSERT(constraint->row_count <= CAIRN_MANIFOLD_POINTS_MAX);
    cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        cairn_pgs_contact_row *row = &constraint->rows[i];
        cairn_pgs_solve_friction(constraint, row, row->normal_impulse, row->tangent_impulse, a, b);
    }
    if (constraint->resists) {
        solve_resistance(constraint, a, b);
    }
    for (uint32_t pass = 0; pass < CAIRN_NORMAL_PASSES; ++pass) {
        for (uint32_t i = 0; i < constraint->row_count; ++i) {
            cairn_pgs_contact_row *row = &constraint->rows[i];
            const cairn_vec3 velocity = point_velocity(a, row->arm_a, b, row->arm_b);
            const float speed = vec3_dot(velocity, constraint->normal);
            const float sum =
                float_max(row->normal_impulse + row->normal_mass * (row->bias - speed), 0.0f);
            const cairn_vec3 impulse = vec3_scale(constraint->normal, sum - row->normal_impulse);
            row->normal_impulse = sum;
            subtract_impulse(a, row->arm_a, impulse);
            add_impulse(b, row->arm_b, impulse);
        }
    }
}

// Within a colour the order cannot matter, because no two of its contacts share a moving body. The
// contacts that found no colour come last, in the order of the list.
void cairn_pgs_contacts_solve(cairn_world *world) {
    for (uint32_t i = 0; i < world->pgs->contact_graph.edge_count; ++i) {
        solve_contact(world, &world->pgs->contacts[i]);
    }
}

void cairn_pgs_contacts_store(cairn_world *world) {
    const cairn_pgs *pgs = world->pgs;
    for (uint32_t i = 0; i < pgs->contact_graph.edge_count; ++i) {
        const cairn_pgs_contact *constraint = &pgs->contacts[i];
        cairn_contact *contact = &world->state.contacts[constraint->contact];
        CAIRN_ASSERT(constraint->contact < world->state.settings->contact_count);
        CAIRN_ASSERT(constraint->row_count <= contact->point_count);
        float sum = constraint->impact_impulse;
        for (uint32_t k = 0; k < constraint->row_count; ++k) {
            const cairn_pgs_contact_row *row = &constraint->rows[k];
            cairn_contact_point *point = &contact->points[k];
            point->normal_impulse = impulse_clean(row->normal_impulse);
            sum += point->normal_impulse;
            contact->tangent_impulse[2 * k] = impulse_clean(row->tangent_impulse[0]);
            contact->tangent_impulse[2 * k + 1] = impulse_clean(row->tangent_impulse[1]);
        }
        pgs->contact_impulses[constraint->contact] = sum;
    }
}

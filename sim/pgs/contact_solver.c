// SPDX-License-Identifier: MIT

// Contacts as rows of velocity constraints solved by projected Gauss-Seidel in its sequential
// impulse form (Catto 2005, sections 4 and 7; Catto 2006: accumulated impulses are clamped, not the
// increments). Signs: the normal points from a to b, an impulse P moves b by +P and a by -P.

#include "sim/collide/manifold_pool.h"
#include "sim/debug/negative_control.h"
#include "sim/limits.h"
#include "sim/pgs/pgs.h"
#include "sim/pgs/row_math.h"
#include "sim/state/slots.h"
#include "sim/step.h"

bool cairn_pair_solved(const cairn_world *world, uint32_t body_a, uint32_t body_b) {
    return world->pgs->bodies[body_a].moving != 0 || world->pgs->bodies[body_b].moving != 0;
}

static uint32_t nth(uint32_t index, uint32_t count) {
    return control_constraints_reversed() ? count - 1 - index : index;
}

static void assign_batches(cairn_world *world) {
    cairn_pgs *pgs = world->pgs;
    cairn_batches *batches = &pgs->contact_batches;
    const uint32_t count = pgs->touch_count;
    *batches = (cairn_batches){.start = {0}};
    cairn_batches_begin(world);
    for (uint32_t k = 0; k < count; ++k) {
        const uint32_t i = nth(k, count);
        const cairn_constraint_edge *touch = &pgs->touches[i];
        pgs->batch_of[i] = CAIRN_PGS_BATCHES;
        if (cairn_pair_solved(world, touch->body_a, touch->body_b)) {
            pgs->batch_of[i] = cairn_batches_assign(world, touch->body_a, touch->body_b);
            batches->start[pgs->batch_of[i] + 1] += 1;
        }
    }
    cairn_batches_place(batches, pgs->batch_of, pgs->place_of, count);
}

static bool constant_friction(const cairn_world *world) {
    return world->def.friction_model == CAIRN_FRICTION_CONSTANT;
}

static void count_points(cairn_world *world) {
    cairn_pgs *pgs = world->pgs;
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        pgs->body_points[i] = 0;
    }
    for (uint32_t i = 0; i < pgs->touch_count; ++i) {
        const cairn_constraint_edge *touch = &pgs->touches[i];
        const uint32_t points = world->state.contacts[touch->element].point_count;
        pgs->body_points[touch->body_a] += points;
        pgs->body_points[touch->body_b] += points;
    }
}

// mu m_c g dt (Catto 2005, equations 24 and 25). m_c is what one point carries of the body: its
// mass over its points; between two moving bodies the lesser of both.
static float constant_bound(const cairn_world *world, const cairn_contact_constraint *constraint) {
    const cairn_pgs *pgs = world->pgs;
    const uint32_t bodies[2] = {constraint->body_a, constraint->body_b};
    float share = 3.4e38f;
    for (int i = 0; i < 2; ++i) {
        if (pgs->bodies[bodies[i]].moving != 0) {
            const float mass = world->state.bodies[bodies[i]].mass;
            share = float_min(share, mass / (float)pgs->body_points[bodies[i]]);
        }
    }
    const float gravity = vec3_length(world->state.settings->gravity);
    return constraint->friction * share * gravity * world_time_step(world);
}

// The normal velocity asked for. Across a gap: just enough approach to close it. Inside: what
// Baumgarte's term wants for the depth beyond the slop (Catto 2005, equation 20), never faster than
// CAIRN_PUSH_SPEED_MAX. A bounce replaces both when the bodies would meet within this step.
static float normal_target(
    const cairn_world *world, float separation, float approach, float restitution) {
    const cairn_settings *settings = world->state.settings;
    const float rate = (float)settings->tick_rate_hz;
    const float depth = float_max(0.0f - separation - settings->slop, 0.0f);
    const float push = float_min(depth * settings->baumgarte * rate, CAIRN_PUSH_SPEED_MAX);
    const float target = separation > 0.0f ? 0.0f - separation * rate : push;
    const bool meets = approach > separation * rate;
    const bool bounces = meets && approach > settings->restitution_threshold;
    return bounces ? float_max(target, restitution * approach) : target;
}

static void prepare_row(const cairn_world *world, const cairn_contact_constraint *constraint,
    const cairn_manifold_point *at, float restitution, cairn_contact_row *row) {
    const cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    const cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    row->arm_a = vec3_sub(at->position, world->state.motions[constraint->body_a].position);
    row->arm_b = vec3_sub(at->position, world->state.motions[constraint->body_b].position);
    row->normal_mass = row_mass(a, row->arm_a, b, row->arm_b, constraint->normal);
    for (int t = 0; t < 2; ++t) {
        row->tangent_mass[t] = row_mass(a, row->arm_a, b, row->arm_b, constraint->tangents[t]);
    }
    const float speed = vec3_dot(point_velocity(a, row->arm_a, b, row->arm_b), constraint->normal);
    row->bias = normal_target(world, at->separation, 0.0f - speed, restitution);
}

static void prepare_contact(
    const cairn_world *world, uint32_t index, cairn_contact_constraint *constraint) {
    const cairn_constraint_edge *touch = &world->pgs->touches[index];
    const cairn_contact *contact = &world->state.contacts[touch->element];
    const cairn_shape *shape_a = &world->state.shapes[cairn_id_index(contact->shape_a)];
    const cairn_shape *shape_b = &world->state.shapes[cairn_id_index(contact->shape_b)];
    const float restitution = float_max(shape_a->restitution, shape_b->restitution);
    cairn_manifold manifold;
    cairn_solver_manifold_to_world(world, touch, &manifold);
    constraint->contact = touch->element;
    constraint->body_a = touch->body_a;
    constraint->body_b = touch->body_b;
    constraint->row_count = manifold.point_count;
    constraint->normal = manifold.normal;
    vec3_tangents(manifold.normal, &constraint->tangents[0], &constraint->tangents[1]);
    constraint->friction = float_sqrt(shape_a->friction * shape_b->friction);
    const float bound = constant_friction(world) ? constant_bound(world, constraint) : 0.0f;
    for (uint32_t i = 0; i < manifold.point_count; ++i) {
        cairn_contact_row *row = &constraint->rows[i];
        const cairn_contact_point *point = &contact->points[i];
        const bool warm = world->def.warm_start != 0;
        prepare_row(world, constraint, &manifold.points[i], restitution, row);
        row->friction_bound = bound;
        row->normal_impulse = warm ? point->normal_impulse : 0.0f;
        row->tangent_impulse[0] = warm ? contact->tangent_impulse[2 * i] : 0.0f;
        row->tangent_impulse[1] = warm ? contact->tangent_impulse[2 * i + 1] : 0.0f;
    }
}

void cairn_contacts_prepare(cairn_world *world) {
    cairn_pgs *pgs = world->pgs;
    assign_batches(world);
    if (constant_friction(world)) {
        count_points(world);
    }
    for (uint32_t i = 0; i < pgs->touch_count; ++i) {
        if (pgs->batch_of[i] < CAIRN_PGS_BATCHES) {
            prepare_contact(world, i, &pgs->contact_constraints[pgs->place_of[i]]);
        }
    }
}

void cairn_contacts_warm_start(cairn_world *world) {
    cairn_pgs *pgs = world->pgs;
    for (uint32_t i = 0; i < pgs->contact_batches.start[CAIRN_PGS_BATCHES]; ++i) {
        const cairn_contact_constraint *constraint = &pgs->contact_constraints[i];
        cairn_pgs_body *a = &pgs->bodies[constraint->body_a];
        cairn_pgs_body *b = &pgs->bodies[constraint->body_b];
        for (uint32_t k = 0; k < constraint->row_count; ++k) {
            const cairn_contact_row *row = &constraint->rows[k];
            cairn_vec3 impulse = vec3_scale(constraint->normal, row->normal_impulse);
            impulse = vec3_add_scaled(impulse, constraint->tangents[0], row->tangent_impulse[0]);
            impulse = vec3_add_scaled(impulse, constraint->tangents[1], row->tangent_impulse[1]);
            body_pull(a, row->arm_a, impulse);
            body_push(b, row->arm_b, impulse);
        }
    }
}

// Both friction rows of a point: the pair of accumulated impulses stays inside the circle whose
// radius is mu times the normal impulse, or each by itself inside the constant bound.
static void solve_friction(const cairn_contact_constraint *constraint, cairn_contact_row *row,
    bool coulomb, cairn_pgs_body *a, cairn_pgs_body *b) {
    const cairn_vec3 velocity = point_velocity(a, row->arm_a, b, row->arm_b);
    float sum[2];
    for (int t = 0; t < 2; ++t) {
        const float slide = vec3_dot(velocity, constraint->tangents[t]);
        sum[t] = row->tangent_impulse[t] - row->tangent_mass[t] * slide;
    }
    if (coulomb) {
        const float bound = constraint->friction * row->normal_impulse;
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
    const cairn_vec3 first = vec3_scale(constraint->tangents[0], sum[0] - row->tangent_impulse[0]);
    const cairn_vec3 impulse =
        vec3_add_scaled(first, constraint->tangents[1], sum[1] - row->tangent_impulse[1]);
    row->tangent_impulse[0] = sum[0];
    row->tangent_impulse[1] = sum[1];
    body_pull(a, row->arm_a, impulse);
    body_push(b, row->arm_b, impulse);
}

static void solve_normal(const cairn_contact_constraint *constraint, cairn_contact_row *row,
    cairn_pgs_body *a, cairn_pgs_body *b) {
    const float speed = vec3_dot(point_velocity(a, row->arm_a, b, row->arm_b), constraint->normal);
    const float sum = float_max(row->normal_impulse + row->normal_mass * (row->bias - speed), 0.0f);
    const cairn_vec3 impulse = vec3_scale(constraint->normal, sum - row->normal_impulse);
    row->normal_impulse = sum;
    body_pull(a, row->arm_a, impulse);
    body_push(b, row->arm_b, impulse);
}

static void solve_contact(cairn_world *world, cairn_contact_constraint *constraint) {
    cairn_pgs_body *a = &world->pgs->bodies[constraint->body_a];
    cairn_pgs_body *b = &world->pgs->bodies[constraint->body_b];
    const bool coulomb = !constant_friction(world);
    for (uint32_t i = 0; i < constraint->row_count; ++i) {
        solve_friction(constraint, &constraint->rows[i], coulomb, a, b);
    }
    for (uint32_t pass = 0; pass < CAIRN_NORMAL_PASSES; ++pass) {
        for (uint32_t i = 0; i < constraint->row_count; ++i) {
            solve_normal(constraint, &constraint->rows[i], a, b);
        }
    }
}

// Inside one of the first CAIRN_COLOURS batches the order cannot matter; between batches and in the
// last one it is the order of the array.
void cairn_contacts_iterate(cairn_world *world) {
    const cairn_batches *batches = &world->pgs->contact_batches;
    for (uint32_t batch = 0; batch < CAIRN_PGS_BATCHES; ++batch) {
        for (uint32_t i = batches->start[batch]; i < batches->start[batch + 1]; ++i) {
            solve_contact(world, &world->pgs->contact_constraints[i]);
        }
    }
}

void cairn_contacts_store(cairn_world *world) {
    const cairn_pgs *pgs = world->pgs;
    for (uint32_t i = 0; i < pgs->contact_batches.start[CAIRN_PGS_BATCHES]; ++i) {
        const cairn_contact_constraint *constraint = &pgs->contact_constraints[i];
        cairn_contact *contact = &world->state.contacts[constraint->contact];
        for (uint32_t k = 0; k < constraint->row_count; ++k) {
            const cairn_contact_row *row = &constraint->rows[k];
            cairn_contact_point *point = &contact->points[k];
            point->normal_impulse = impulse_stored(row->normal_impulse);
            contact->tangent_impulse[2 * k] = impulse_stored(row->tangent_impulse[0]);
            contact->tangent_impulse[2 * k + 1] = impulse_stored(row->tangent_impulse[1]);
        }
    }
}

// SPDX-License-Identifier: MIT
#include "sim/collide/contact_events.h"

#include "base/assert.h"
#include "sim/collide/pair_cache.h"
#include "sim/state/hash_cache.h"

// A point counts as reached with this slack for rounding.
#define REACHED 1.001f
// A hit takes at least this part of the momentum that the lighter body has by the approach speed:
// what touches at the very end of a step hits in the next one.
#define HIT_FRACTION 0.01f

void cairn_contact_events_clear(cairn_world *world) {
    CAIRN_ASSERT(world->state.settings->contact_event_count <= world->def.event_capacity);
    world->state.settings->contact_event_count = 0;
}

static void add_event(cairn_world *world, const cairn_contact_event *event) {
    cairn_settings *settings = world->state.settings;
    if (settings->contact_event_count == world->def.event_capacity) {
        settings->events_dropped += 1;
        return;
    }
    CAIRN_ASSERT(settings->contact_event_count < settings->event_capacity);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_CONTACT_EVENTS, settings->contact_event_count);
    world->state.contact_events[settings->contact_event_count++] = *event;
}

// An event with the names of the two shapes. The sensor of an overlap comes first.
static cairn_contact_event event_of(const cairn_contact *contact, uint32_t kind) {
    CAIRN_ASSERT(kind >= CAIRN_CONTACT_BEGIN && kind <= CAIRN_SENSOR_END);
    if (contact_is_sensor(contact) && contact->colour != 0) {
        return (cairn_contact_event){.kind = kind,
            .shape_a = contact->shape_b,
            .shape_b = contact->shape_a,
            .body_a = contact->body_b,
            .body_b = contact->body_a};
    }
    return (cairn_contact_event){.kind = kind,
        .shape_a = contact->shape_a,
        .shape_b = contact->shape_b,
        .body_a = contact->body_a,
        .body_b = contact->body_b};
}

static float clean(float value) {
    return float_finite(value) ? value + 0.0f : 0.0f;
}

// Where a contact point lies on each body, with the bodies where they are.
typedef struct point_pair {
    cairn_vec3 on_a;
    cairn_vec3 on_b;
    float separation; // m
} point_pair;

static cairn_vec3 point_on(const cairn_motion *motion, cairn_quat q0, cairn_vec3 arm) {
    const cairn_quat dq = quat_multiply(motion->rotation, quat_conjugate(q0));
    return vec3_add(motion->position, quat_rotate(dq, arm));
}

static point_pair point_pair_of(const cairn_solver_manifold *manifold, uint32_t point,
    const cairn_motion *a, const cairn_motion *b) {
    CAIRN_ASSERT(point < CAIRN_MANIFOLD_POINTS_MAX);
    const cairn_solver_manifold_point *solved = &manifold->points[point];
    const cairn_vec3 on_a = point_on(a, manifold->rotation_a, solved->arm_a);
    const cairn_vec3 on_b = point_on(b, manifold->rotation_b, solved->arm_b);
    return (point_pair){.on_a = on_a,
        .on_b = on_b,
        .separation = solved->separation + vec3_dot(manifold->normal, vec3_sub(on_b, on_a))};
}

static cairn_vec3 velocity_at(const cairn_motion *motion, cairn_vec3 point) {
    const cairn_vec3 arm = vec3_sub(point, motion->position);
    return vec3_add(motion->linear_velocity, vec3_cross(motion->angular_velocity, arm));
}

// Sets point, normal and approach speed: at the point that this step reaches with the greatest
// speed; at the deepest one if it reaches none. The first of equal ones. A point that is reached is
// where the shapes meet, not where it was when the step began.
static void describe(
    const cairn_world *world, const cairn_contact_ref *ref, cairn_contact_event *event) {
    const cairn_motion *a = &world->state.motions[ref->body_a];
    const cairn_motion *b = &world->state.motions[ref->body_b];
    const float h = world_time_step(world);
    CAIRN_ASSERT(ref->manifold < world->manifold_pool->used);
    const cairn_solver_manifold *manifold = &world->manifold_pool->manifolds[ref->manifold];
    point_pair best = {.separation = 0.0f};
    bool best_reached = false;
    float best_speed = 0.0f;
    for (uint32_t i = 0; i < (uint32_t)manifold->point_count; ++i) {
        const point_pair point = point_pair_of(manifold, i, a, b);
        const float speed = vec3_dot(
            manifold->normal, vec3_sub(velocity_at(a, point.on_a), velocity_at(b, point.on_b)));
        const bool reached = point.separation <= REACHED * speed * h;
        const bool better = reached != best_reached ? reached
                            : reached               ? speed > best_speed
                                                    : point.separation < best.separation;
        if (i == 0 || better) {
            best = point;
            best_reached = reached;
            best_speed = speed;
        }
    }
    cairn_vec3 at = vec3_scale(vec3_add(best.on_a, best.on_b), 0.5f);
    if (best_reached && best.separation > 0.0f) {
        at = vec3_add_scaled(best.on_a, velocity_at(a, best.on_a), best.separation / best_speed);
    }
    event->point = (cairn_vec3){.x = clean(at.x), .y = clean(at.y), .z = clean(at.z)};
    event->normal = vec3_clean(manifold->normal);
    event->approach_speed = clean(best_speed);
}

void cairn_contact_events_add_end(cairn_world *world, const cairn_contact *contact) {
    const bool sensor = contact_is_sensor(contact);
    const cairn_contact_event event =
        event_of(contact, sensor ? CAIRN_SENSOR_END : CAIRN_CONTACT_END);
    add_event(world, &event);
}

void cairn_contact_events_add_begin(
    cairn_world *world, const cairn_contact *contact, const cairn_contact_ref *ref) {
    const bool sensor = contact_is_sensor(contact);
    cairn_contact_event event =
        event_of(contact, sensor ? CAIRN_SENSOR_BEGIN : CAIRN_CONTACT_BEGIN);
    if (!sensor) {
        describe(world, ref, &event);
    }
    add_event(world, &event);
}

static bool reports_hits(const cairn_world *world, const cairn_contact *contact) {
    const cairn_shape *shapes = world->state.shapes;
    const uint32_t flags = shapes[cairn_id_index(contact->shape_a)].flags |
                           shapes[cairn_id_index(contact->shape_b)].flags;
    return (flags & CAIRN_SHAPE_HIT_EVENTS) != 0;
}

// More than the speed at which any two points of the bodies can approach each other: most contacts
// need no closer look.
static float approach_speed_bound(const cairn_world *world, const cairn_constraint_edge *edge) {
    const cairn_motion *a = &world->state.motions[edge->body_a];
    const cairn_motion *b = &world->state.motions[edge->body_b];
    const float *radii = world->pair_cache->bounding_radii;
    const float linear = vec3_length(vec3_sub(b->linear_velocity, a->linear_velocity));
    const float radius_a = radii[edge->body_a] + CAIRN_CONTACT_MARGIN;
    const float radius_b = radii[edge->body_b] + CAIRN_CONTACT_MARGIN;
    const float angular_a = vec3_length(a->angular_velocity) * radius_a;
    const float angular_b = vec3_length(b->angular_velocity) * radius_b;
    return 1.1f * (linear + angular_a + angular_b);
}

// The mass of the lighter one of the two bodies that impulses move, kg.
static float lighter_mass(const cairn_world *world, const cairn_constraint_edge *edge) {
    const cairn_body *a = &world->state.bodies[edge->body_a];
    const cairn_body *b = &world->state.bodies[edge->body_b];
    const bool a_moves = a->kind == CAIRN_BODY_DYNAMIC;
    const bool b_moves = b->kind == CAIRN_BODY_DYNAMIC;
    CAIRN_ASSERT(a_moves || b_moves);
    return a_moves && b_moves ? float_min(a->mass, b->mass) : a_moves ? a->mass : b->mass;
}

// A shape that meets a mesh in several directions makes one event, of the fastest of them.
static void add_hit(
    cairn_world *world, const cairn_contact *contact, const cairn_contact_event *event) {
    const uint32_t count = world->state.settings->contact_event_count;
    cairn_contact_event *last = count > 0 ? &world->state.contact_events[count - 1] : NULL;
    if (contact->part == 0 || last == NULL || last->kind != CAIRN_CONTACT_HIT ||
        last->shape_a != event->shape_a || last->shape_b != event->shape_b) {
        add_event(world, event);
        return;
    }
    const float impulse = clean(last->impulse + event->impulse);
    *last = event->approach_speed > last->approach_speed ? *event : *last;
    last->impulse = impulse;
}

void cairn_contact_events_add_hits(
    cairn_world *world, const cairn_constraint_graph *graph, const float *impulses) {
    const float threshold = world->state.settings->hit_threshold;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        const cairn_contact *contact = &world->state.contacts[edge->element];
        CAIRN_ASSERT(i == 0 || graph->edges[i - 1].element < edge->element);
        if (!reports_hits(world, contact) || approach_speed_bound(world, edge) < threshold) {
            continue;
        }
        const float impulse = impulses[edge->element];
        if (!(impulse > 0.0f)) {
            continue;
        }
        const cairn_contact_ref ref = {
            .body_a = edge->body_a, .body_b = edge->body_b, .manifold = edge->manifold};
        cairn_contact_event event = event_of(contact, CAIRN_CONTACT_HIT);
        describe(world, &ref, &event);
        if (event.approach_speed >= threshold &&
            impulse >= HIT_FRACTION * event.approach_speed * lighter_mass(world, edge)) {
            event.impulse = clean(impulse);
            add_hit(world, contact, &event);
        }
    }
}

// SPDX-License-Identifier: MIT

// What can be read of contacts and of the last step's events: functions of the state alone,
// whatever a cache holds.

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/collide/manifold_pool.h"
#include "sim/state/slots.h"
#include "sim/world/world.h"

_Static_assert(sizeof((cairn_contact_data *)NULL)->points ==
                   CAIRN_MANIFOLD_POINTS_MAX * sizeof(cairn_contact_point_data),
    "room for every point");

const cairn_contact_event *cairn_world_contact_events(const cairn_world *world, uint32_t *count) {
    CAIRN_ASSERT(world->state.settings->contact_event_count <= world->def.event_capacity);
    *count = world->state.settings->contact_event_count;
    return world->state.contact_events;
}

const cairn_body_event *cairn_world_body_events(const cairn_world *world, uint32_t *count) {
    CAIRN_ASSERT(world->state.settings->body_event_count <= world->def.body_capacity);
    *count = world->state.settings->body_event_count;
    return world->state.body_events;
}

static bool shape_exists(const cairn_world *world, cairn_shape_id shape) {
    return cairn_slot_find(world->state.shape_ids, world->state.settings->shape_slots, shape) !=
           CAIRN_INDEX_NONE;
}

// Seconds over which the solver accumulated the impulses that a contact stores.
static float impulse_time(const cairn_world *world) {
    const bool substeps = world->def.solver == CAIRN_SOLVER_SOFT_STEP;
    return world_time_step(world) / (substeps ? (float)world->def.substeps : 1.0f);
}

// Not from the manifold pool: its manifolds depend on the history where a body's centre of mass has
// moved since the last step.
static void read_contact(
    const cairn_world *world, const cairn_contact *contact, cairn_contact_data *out) {
    cairn_solver_manifold solved;
    cairn_manifold manifold;
    cairn_contact_compute_manifold(world, contact, &solved);
    cairn_solver_manifold_to_world(world, &solved, cairn_id_index(contact->body_a),
        cairn_id_index(contact->body_b), &manifold);
    *out = (cairn_contact_data){.shape_a = contact->shape_a,
        .shape_b = contact->shape_b,
        .body_a = contact->body_a,
        .body_b = contact->body_b,
        .normal = vec3_clean(manifold.normal),
        .point_count = contact->point_count};
    CAIRN_ASSERT(manifold.point_count == contact->point_count);
    for (uint32_t i = 0; i < contact->point_count; ++i) {
        out->points[i] =
            (cairn_contact_point_data){.position = vec3_clean(manifold.points[i].position),
                .separation = manifold.points[i].separation + 0.0f,
                .normal_force = contact->points[i].normal_impulse / impulse_time(world)};
    }
}

// The contacts of a body, or all of them.
static uint32_t list_contacts(
    const cairn_world *world, cairn_body_id body, cairn_contact_data *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.settings->contact_count; ++i) {
        const cairn_contact *contact = &world->state.contacts[i];
        const bool is_asked =
            body == CAIRN_ID_NULL || contact->body_a == body || contact->body_b == body;
        if (!is_asked || contact_is_sensor(contact) || !shape_exists(world, contact->shape_a) ||
            !shape_exists(world, contact->shape_b)) {
            continue;
        }
        if (count < capacity) {
            read_contact(world, contact, &out[count]);
        }
        ++count;
    }
    return count;
}

uint32_t cairn_body_contacts(
    const cairn_world *world, cairn_body_id body, cairn_contact_data *out, uint32_t capacity) {
    return body == CAIRN_ID_NULL ? 0 : list_contacts(world, body, out, capacity);
}

uint32_t cairn_world_contacts(
    const cairn_world *world, cairn_contact_data *out, uint32_t capacity) {
    return list_contacts(world, CAIRN_ID_NULL, out, capacity);
}

uint32_t cairn_sensor_overlaps(
    const cairn_world *world, cairn_shape_id sensor, cairn_shape_id *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.settings->contact_count; ++i) {
        const cairn_contact *contact = &world->state.contacts[i];
        const bool sensor_b = contact->colour != 0;
        const cairn_shape_id first = sensor_b ? contact->shape_b : contact->shape_a;
        const cairn_shape_id other = sensor_b ? contact->shape_a : contact->shape_b;
        if (!contact_is_sensor(contact) || first != sensor || !shape_exists(world, other)) {
            continue;
        }
        if (count < capacity) {
            out[count] = other;
        }
        ++count;
    }
    return count;
}

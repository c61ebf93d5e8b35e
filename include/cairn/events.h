// SPDX-License-Identifier: MIT
#pragma once

// What touched, woke or fell asleep, and what touches now. cairn/sim.h includes this header; events
// of joints are in cairn/joint.h.
//
// Events of the last step are part of the state: saved, encoded, hashed, rolled back. So rules may
// read them in both hooks, and after a restore they are the same. Call these functions again after
// each step, load, decode or copy: the world owns the arrays.

#include <stdint.h>

#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_contact_event {
    uint32_t kind;          // cairn_contact_event_kind
    cairn_shape_id shape_a; // index of a < index of b; of a sensor event: the sensor
    cairn_shape_id shape_b;
    cairn_body_id body_a;
    cairn_body_id body_b;
    // Begin and hit, zero in other events: at the point that the step reached with the greatest
    // speed, or at the deepest one if it reached none.
    cairn_vec3 point;     // world, where the shapes met
    cairn_vec3 normal;    // from a to b
    float approach_speed; // m/s, along the normal, when the step began; negative: apart
    float impulse;        // N s, hit: of all points along the normal, summed over the step
} cairn_contact_event;

// Ends first, then begins, then hits, each by the lower and then the higher index of the two
// shapes. A destroyed shape's contacts end at the next step.
const cairn_contact_event *cairn_world_contact_events(const cairn_world *world, uint32_t *count);

typedef enum cairn_body_event_kind {
    CAIRN_BODY_WOKE = 1, // since the last step, or in it
    CAIRN_BODY_FELL_ASLEEP = 2,
} cairn_body_event_kind;

typedef struct cairn_body_event {
    uint32_t kind; // cairn_body_event_kind
    cairn_body_id body;
} cairn_body_event;

// In order of id index, at most one for each body.
const cairn_body_event *cairn_world_body_events(const cairn_world *world, uint32_t *count);

// A contact as it is now, with the points of the last step and the bodies where they are now.
typedef struct cairn_contact_point_data {
    cairn_vec3 position; // world
    float separation;    // m, negative inside
    float normal_force;  // N, mean over the last substep (CAIRN_SOLVER_PGS: over the step)
} cairn_contact_point_data;
typedef struct cairn_contact_data {
    cairn_shape_id shape_a; // index of a < index of b
    cairn_shape_id shape_b;
    cairn_body_id body_a;
    cairn_body_id body_b;
    cairn_vec3 normal; // from a to b
    uint32_t point_count;
    cairn_contact_point_data points[4];
} cairn_contact_data;

// Writes the contacts of a body, in order of their shapes' indices, at most `capacity`; a shape and
// a mesh or height field have one for each direction in which they touch. Returns how many there
// are. Contacts of destroyed shapes, and overlaps with sensors, are not among them.
uint32_t cairn_body_contacts(
    const cairn_world *world, cairn_body_id body, cairn_contact_data *out, uint32_t capacity);
// The same for all contacts of the world.
uint32_t cairn_world_contacts(const cairn_world *world, cairn_contact_data *out, uint32_t capacity);
// Writes the shapes that overlapped the sensor in the last step, in order of index, at most
// `capacity`. Returns how many there are. If the shape is not a sensor, that is 0.
uint32_t cairn_sensor_overlaps(
    const cairn_world *world, cairn_shape_id sensor, cairn_shape_id *out, uint32_t capacity);

#ifdef __cplusplus
}
#endif

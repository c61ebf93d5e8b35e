// SPDX-License-Identifier: MIT
#include "sim/serialize/decode_check.h"

#include <string.h>

#include "base/assert.h"
#include "base/check.h"
#include "sim/body/body.h"
#include "sim/math/limits.h"
#include "sim/state/fields.h"
#include "sim/state/slots.h"
#include "sim/world/mesh.h"
#include "sim/world/world.h"

cairn_status cairn_decode_check_settings(
    const cairn_state *state, const cairn_settings *expected, const char **where) {
    CAIRN_ASSERT(expected != state->settings && where != NULL);
    const cairn_settings *settings = state->settings;
    const size_t rules = offsetof(cairn_settings, rules_name);
    if (memcmp(settings, expected, rules) != 0) {
        *where = "settings differ from this world's";
        return CAIRN_MALFORMED;
    }
    if (memcmp(settings->rules_name, expected->rules_name, sizeof settings->rules_name) != 0 ||
        settings->rules_version != expected->rules_version ||
        settings->rules_state_size != expected->rules_state_size) {
        *where = "rules differ from this world's";
        return CAIRN_VERSION_MISMATCH;
    }
    if (!(settings->present_step_rate_hz >= CAIRN_STEP_RATE_HZ_MIN)) {
        *where = "steps longer than a world takes";
        return CAIRN_MALFORMED;
    }
    if (!cairn_settings_counts_ok(settings)) {
        *where = "more than the capacities hold";
        return CAIRN_CAPACITY;
    }
    return CAIRN_OK;
}

static bool ids_ok(const uint32_t *ids, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if ((ids[i] & ~(CAIRN_SLOT_USED | CAIRN_SLOT_GENERATION_MASK)) != 0) {
            return false;
        }
    }
    return true;
}

static bool body_ok(const cairn_state *state, uint32_t slot) {
    CAIRN_ASSERT(slot < state->settings->body_slots);
    const cairn_motion *motion = &state->motions[slot];
    const cairn_body *body = &state->bodies[slot];
    const cairn_sleep *sleep = &state->sleep[slot];
    const bool dynamic = body->kind == CAIRN_BODY_DYNAMIC;
    const bool at_rest =
        vec3_is_zero(motion->linear_velocity) && vec3_is_zero(motion->angular_velocity);
    const cairn_reference_pose *reference = &state->reference_poses[slot];
    if (packed_rotation_is_none(reference->rotation) && !vec3_is_zero(reference->position)) {
        return false;
    }
    const bool has_pose = !packed_rotation_is_none(sleep->rotation);
    if (has_pose != (sleep->stay > 0) || (!has_pose && !vec3_is_zero(sleep->position)) ||
        sleep->stay > (dynamic ? cairn_settings_rest_ticks(state->settings) : 0)) {
        return false;
    }
    if (sleep->squeeze != 0.0f && (!dynamic || sleep->squeeze < CAIRN_SQUEEZE_MIN)) {
        return false;
    }
    const bool still = !body_enabled(body) || body->kind == CAIRN_BODY_STATIC;
    if (body_kind(body) > CAIRN_BODY_DYNAMIC || !cairn_motion_valid(motion) ||
        (still && !at_rest)) {
        return false;
    }
    if (!dynamic &&
        (body->inverse_mass != 0.0f || !vec3_is_zero(body->force) || !vec3_is_zero(body->torque))) {
        return false;
    }
    if (body_kind(body) != CAIRN_BODY_DYNAMIC && body->mass != 0.0f &&
        (body->flags & CAIRN_BODY_MASS_SET) == 0) {
        return false;
    }
    if (body->flags >> CAIRN_BODY_OWNER_SHIFT > CAIRN_SLOTS_MAX) {
        return false;
    }
    const uint32_t target = body->flags & (CAIRN_BODY_TARGET_SET | CAIRN_BODY_TARGET_REACHED);
    if (target != 0 && body->kind != CAIRN_BODY_KINEMATIC) {
        return false;
    }
    switch (sleep->state) {
    case CAIRN_SLEEP_WOKEN:
        return dynamic && sleep->ticks <= cairn_settings_rest_ticks(state->settings);
    case CAIRN_SLEEP_NONE:
        return sleep->ticks <= (dynamic ? cairn_settings_rest_ticks(state->settings) : 0);
    case CAIRN_SLEEP_ASLEEP:
        return dynamic && at_rest && sleep->ticks <= cairn_settings_rest_ticks(state->settings);
    default:
        return !dynamic && sleep->ticks == 0;
    }
}

static bool hull_ok(const cairn_state *state, uint32_t slot) {
    CAIRN_ASSERT(slot < state->settings->hull_slots);
    return cairn_hull_vertices_ok(&state->hulls[slot]);
}

// Whether a mesh or height field of the shape's kind exists, and the body may have one.
static bool mesh_shape_ok(const cairn_state *state, const cairn_shape *shape) {
    if (!geometry_is_mesh(&shape->geometry)) {
        return shape->geometry.mesh == 0;
    }
    const uint32_t slot = cairn_mesh_slot(state, shape->geometry.mesh);
    const uint32_t kind =
        shape->geometry.kind == CAIRN_SHAPE_MESH ? CAIRN_MESH_TRIANGLES : CAIRN_MESH_HEIGHTS;
    return slot != CAIRN_INDEX_NONE && state->meshes[slot].kind == kind &&
           body_kind(&state->bodies[shape->body]) != CAIRN_BODY_DYNAMIC &&
           (shape->flags & CAIRN_SHAPE_SENSOR) == 0;
}

static bool shape_ok(const cairn_state *state, uint32_t slot) {
    CAIRN_ASSERT(slot < state->settings->shape_slots);
    const cairn_shape *shape = &state->shapes[slot];
    const cairn_hull_id hull = shape->geometry.hull;
    const bool hull_exists =
        cairn_slot_find(state->hull_ids, state->settings->hull_slots, hull) != CAIRN_INDEX_NONE;
    if (shape->body >= state->settings->body_slots ||
        !cairn_state_has(state, CAIRN_ARRAY_BODIES, shape->body) ||
        cairn_geometry_check(&shape->geometry) != CAIRN_OK ||
        (shape->geometry.kind == CAIRN_SHAPE_HULL ? !hull_exists : hull != 0) ||
        !mesh_shape_ok(state, shape) || cairn_check_rotation(shape->pose.rotation) != CAIRN_OK ||
        shape->density <= 0.0f ||
        (shape->static_friction != 0.0f && shape->static_friction < shape->friction)) {
        return false;
    }
    return shape->geometry.kind != CAIRN_SHAPE_HALF_SPACE ||
           body_kind(&state->bodies[shape->body]) == CAIRN_BODY_STATIC;
}

static bool body_exists(const cairn_state *state, cairn_body_id id) {
    return cairn_slot_find(state->body_ids, state->settings->body_slots, id) != CAIRN_INDEX_NONE;
}

static bool joint_ok(const cairn_state *state, uint32_t slot) {
    CAIRN_ASSERT(slot < state->settings->joint_slots);
    const cairn_joint *joint = &state->joints[slot];
    return joint->kind != 0 && joint->body_a != joint->body_b &&
           body_exists(state, joint->body_a) && body_exists(state, joint->body_b);
}

static bool drive_ok(const cairn_state *state, uint32_t index) {
    const cairn_joint_drive *drive = &state->joint_drives[index];
    CAIRN_ASSERT(index < state->settings->joint_drive_count);
    return (index == 0 || drive[-1].joint < drive->joint) &&
           drive->joint < state->settings->joint_slots &&
           cairn_state_has(state, CAIRN_ARRAY_JOINTS, drive->joint);
}

// The drives must be in order.
static bool fields_ok(const cairn_state *state, uint32_t slot) {
    return cairn_joint_state_ok(&state->joints[slot], cairn_joint_drive_find(state, slot));
}

static bool points_ok(const cairn_contact *contact) {
    static const cairn_contact_point none = {.feature = 0};
    for (uint32_t i = contact->point_count; i < CAIRN_MANIFOLD_POINTS_MAX; ++i) {
        if (memcmp(&contact->points[i], &none, sizeof none) != 0) {
            return false;
        }
    }
    return true;
}

// The overlap of a sensor holds nothing but names, the axis hint, and which shape is the sensor.
static bool overlap_ok(const cairn_contact *contact) {
    const cairn_contact expected = {.shape_a = contact->shape_a,
        .shape_b = contact->shape_b,
        .body_a = contact->body_a,
        .body_b = contact->body_b,
        .axis_hint = contact->axis_hint,
        .colour = contact->colour};
    return contact->colour <= 1 && memcmp(contact, &expected, sizeof expected) == 0;
}

// Whether a shape of this id, if it still exists, is or is not a sensor.
static bool sensor_is(const cairn_state *state, cairn_shape_id shape, bool sensor) {
    const uint32_t slot = cairn_slot_find(state->shape_ids, state->settings->shape_slots, shape);
    return slot == CAIRN_INDEX_NONE ||
           ((state->shapes[slot].flags & CAIRN_SHAPE_SENSOR) != 0) == sensor;
}

// A shape of a contact either exists, on the body that the contact names, or was destroyed since
// the last step.
static bool contact_side_ok(const cairn_state *state, cairn_shape_id shape, cairn_body_id body) {
    const cairn_settings *settings = state->settings;
    if (cairn_id_index(shape) >= settings->shape_slots ||
        cairn_id_index(body) >= settings->body_slots) {
        return false;
    }
    const uint32_t slot = cairn_slot_find(state->shape_ids, settings->shape_slots, shape);
    return slot == CAIRN_INDEX_NONE ||
           (state->shapes[slot].body == cairn_id_index(body) && body_exists(state, body));
}

// Whether the shape is a mesh or height field, or was destroyed since the last step.
static bool side_is_mesh(const cairn_state *state, cairn_shape_id shape) {
    const uint32_t slot = cairn_slot_find(state->shape_ids, state->settings->shape_slots, shape);
    return slot == CAIRN_INDEX_NONE || geometry_is_mesh(&state->shapes[slot].geometry);
}

static bool contact_ok(const cairn_state *state, uint32_t index) {
    CAIRN_ASSERT(index < state->settings->contact_count);
    const cairn_contact *contact = &state->contacts[index];
    const uint32_t a = cairn_id_index(contact->shape_a);
    const uint32_t b = cairn_id_index(contact->shape_b);
    if (!points_ok(contact) || a >= b || contact->body_a == contact->body_b ||
        !contact_side_ok(state, contact->shape_a, contact->body_a) ||
        !contact_side_ok(state, contact->shape_b, contact->body_b)) {
        return false;
    }
    const bool overlap = contact_is_sensor(contact);
    if ((overlap && !overlap_ok(contact)) ||
        !sensor_is(state, contact->shape_a, overlap && contact->colour == 0) ||
        !sensor_is(state, contact->shape_b, overlap && contact->colour == 1)) {
        return false;
    }
    const uint32_t before_a = index > 0 ? cairn_id_index(contact[-1].shape_a) : 0;
    const uint32_t before_b = index > 0 ? cairn_id_index(contact[-1].shape_b) : 0;
    if (contact->part == 0) {
        return index == 0 || before_a < a || (before_a == a && before_b < b);
    }
    // Another direction of the same pair.
    return index > 0 && contact->part < CAIRN_MANIFOLD_SET_MAX && !overlap &&
           contact->shape_a == contact[-1].shape_a && contact->shape_b == contact[-1].shape_b &&
           contact->body_a == contact[-1].body_a && contact->body_b == contact[-1].body_b &&
           contact->part == contact[-1].part + 1 &&
           (side_is_mesh(state, contact->shape_a) || side_is_mesh(state, contact->shape_b));
}

// By its place in the list of contact events: ends, begins, hits.
static uint32_t event_rank(const cairn_contact_event *event) {
    switch (event->kind) {
    case CAIRN_CONTACT_END:
    case CAIRN_SENSOR_END:
        return 1;
    case CAIRN_CONTACT_BEGIN:
    case CAIRN_SENSOR_BEGIN:
        return 2;
    default:
        return event->kind == CAIRN_CONTACT_HIT ? 3 : 0;
    }
}

// The bodies and shapes may be gone.
static bool contact_event_ok(const cairn_state *state, uint32_t index) {
    CAIRN_ASSERT(index < state->settings->contact_event_count);
    const cairn_contact_event *event = &state->contact_events[index];
    const bool sensor = event->kind == CAIRN_SENSOR_BEGIN || event->kind == CAIRN_SENSOR_END;
    const uint32_t a = cairn_id_index(event->shape_a);
    const uint32_t b = cairn_id_index(event->shape_b);
    if (event_rank(event) == 0 || (sensor ? a == b : a >= b)) {
        return false;
    }
    if (index == 0) {
        return true;
    }
    const uint32_t before_a = cairn_id_index(event[-1].shape_a);
    const uint32_t before_b = cairn_id_index(event[-1].shape_b);
    const uint64_t before = (uint64_t)(before_a < before_b ? before_a : before_b) << 32 |
                            (before_a < before_b ? before_b : before_a);
    const uint64_t now = (uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a);
    return event_rank(&event[-1]) < event_rank(event) ||
           (event_rank(&event[-1]) == event_rank(event) && before < now);
}

static bool joint_event_ok(const cairn_state *state, uint32_t index) {
    CAIRN_ASSERT(index < state->settings->joint_event_count);
    const cairn_joint_event *event = &state->joint_events[index];
    return event->kind != 0 && cairn_id_index(event->joint) < state->settings->joint_slots &&
           cairn_id_index(event->body_a) < state->settings->body_slots &&
           cairn_id_index(event->body_b) < state->settings->body_slots &&
           (index == 0 || cairn_id_index(event[-1].joint) < cairn_id_index(event->joint));
}

static bool body_event_ok(const cairn_state *state, uint32_t index) {
    CAIRN_ASSERT(index < state->settings->body_event_count);
    const cairn_body_event *event = &state->body_events[index];
    return event->kind != 0 && cairn_id_index(event->body) < state->settings->body_slots &&
           (index == 0 || cairn_id_index(event[-1].body) < cairn_id_index(event->body));
}

// The last block of the rules' state is filled up with zeros.
static bool rules_tail_ok(const cairn_state *state) {
    CAIRN_ASSERT(state->settings->rules_state_size % 4 == 0);
    const uint32_t words = state->settings->rules_state_size / 4;
    const uint32_t used = words % CAIRN_RULES_BLOCK_WORDS;
    for (uint32_t i = used; used != 0 && i < CAIRN_RULES_BLOCK_WORDS; ++i) {
        if (state->rules[words / CAIRN_RULES_BLOCK_WORDS].words[i] != 0) {
            return false;
        }
    }
    return true;
}

typedef bool element_check(const cairn_state *state, uint32_t index);

static bool all_ok(const cairn_state *state, cairn_array array, element_check *check) {
    CAIRN_ASSERT(array < CAIRN_ARRAY_COUNT && check != NULL);
    for (uint32_t i = 0; i < cairn_array_count(state->settings, array); ++i) {
        if (cairn_state_has(state, array, i) && !check(state, i)) {
            return false;
        }
    }
    return true;
}

cairn_status cairn_state_check(const cairn_state *state, const char **where) {
    CAIRN_ASSERT(where != NULL);
    const cairn_settings *settings = state->settings;
    if (!ids_ok(state->body_ids, settings->body_slots) ||
        !ids_ok(state->shape_ids, settings->shape_slots) ||
        !ids_ok(state->joint_ids, settings->joint_slots) ||
        !ids_ok(state->hull_ids, settings->hull_slots) ||
        !ids_ok(state->mesh_ids, settings->mesh_slots)) {
        *where = "ids: a slot has unknown bits";
    } else if (!all_ok(state, CAIRN_ARRAY_BODIES, body_ok)) {
        *where = "bodies: pose, velocity, mass or sleep do not fit the kind";
    } else if (!all_ok(state, CAIRN_ARRAY_MESHES, cairn_mesh_header_ok) ||
               !cairn_mesh_blocks_ok(state)) {
        *where = "meshes: sizes or blocks";
    } else if (!all_ok(state, CAIRN_ARRAY_SHAPES, shape_ok)) {
        *where = "shapes: sizes, hull, mesh or body do not fit the kind";
    } else if (!all_ok(state, CAIRN_ARRAY_JOINTS, joint_ok)) {
        *where = "joints: a body does not exist";
    } else if (!all_ok(state, CAIRN_ARRAY_JOINT_DRIVES, drive_ok)) {
        *where = "joints: a drive is out of order, or its joint does not exist";
    } else if (!all_ok(state, CAIRN_ARRAY_JOINTS, fields_ok)) {
        *where = "joints: axes or limits do not fit the kind";
    } else if (!all_ok(state, CAIRN_ARRAY_CONTACTS, contact_ok)) {
        *where = "contacts: order, shapes or points";
    } else if (!all_ok(state, CAIRN_ARRAY_CONTACT_EVENTS, contact_event_ok) ||
               !all_ok(state, CAIRN_ARRAY_BODY_EVENTS, body_event_ok) ||
               !all_ok(state, CAIRN_ARRAY_JOINT_EVENTS, joint_event_ok)) {
        *where = "events: kind or order";
    } else if (!rules_tail_ok(state)) {
        *where = "rules: words after the end";
    } else {
        return CAIRN_OK;
    }
    return CAIRN_MALFORMED;
}

cairn_status cairn_decode_check(const cairn_state *state, const char **where) {
    const cairn_status status = cairn_state_check(state, where);
    if (status == CAIRN_OK && !all_ok(state, CAIRN_ARRAY_HULLS, hull_ok)) {
        *where = "hulls: the vertices are not those of a hull";
        return CAIRN_MALFORMED;
    }
    if (status == CAIRN_OK && !all_ok(state, CAIRN_ARRAY_MESHES, cairn_mesh_data_ok)) {
        *where = "meshes: the data is not that of a mesh or height field";
        return CAIRN_MALFORMED;
    }
    return status;
}

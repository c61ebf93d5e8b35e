// SPDX-License-Identifier: MIT
#pragma once

// The awake and moving states of a body, and the awake set: the bodies that a step visits.
//
// - asleep: dynamic, and its island was slow for long enough (CAIRN_SLEEP_ASLEEP).
// - moving: has a linear or angular velocity.
// - active: its pose can change in this step: dynamic and not asleep, or kinematic and moving.
// - disturbed: not dynamic, and created or set since the last step (CAIRN_SLEEP_DISTURBED).
// - in the awake set: active or disturbed. Its pairs are collided, and it wakes the sleeping bodies
//   that it touches.
// - takes impulses: dynamic, not asleep, with a mass. The solver writes its velocity.
//
//                   dynamic, awake   dynamic, asleep   kinematic   static
//   moving          perhaps          never             perhaps     never
//   active          yes              no                if moving   no
//   disturbed       no               no                perhaps     perhaps
//   takes impulses  if it has mass   no                no          no

#include "sim/state/slot_ranges.h"
#include "sim/state/world.h"

// How far the soft-step solver moved a body in a step, whatever velocity the body ended with.
typedef struct cairn_body_travel {
    float distance; // m, of its centre of mass; huge: not known, as of the links of articulations
    float angle;    // rad
} cairn_body_travel;

struct cairn_awake_set {
    uint32_t *bodies; // slots, in order
    uint32_t body_count;
    unsigned char *contains;        // by body slot, 0 or 1; only where something may sleep
    unsigned char *takes_impulses;  // by body slot, 0 or 1
    cairn_body_travel *travels;     // by solver body, of those that take impulses
    const uint32_t *solver_body_of; // by body slot: that of the soft-step solver
    bool sleepers; // in a world whose bodies do not fall asleep: some body was put to sleep
    bool sparse;   // it is a small part of the bodies, so lists of pairs are passed range by range
    cairn_slot_marks set; // its bodies; only while it is sparse
};

static inline size_t awake_mark_words(uint32_t slots) {
    return (size_t)slots / 64 + 1;
}

static inline void cairn_awake_mark(cairn_world *world, uint32_t slot) {
    world->awake_marks[slot / 64] |= UINT64_C(1) << slot % 64;
}

static inline void cairn_awake_mark_all(cairn_world *world) {
    const size_t words = awake_mark_words(world->state.settings->body_slots);
    memset(world->awake_marks, 0xff, words * sizeof *world->awake_marks);
}

static inline void cairn_awake_mark_remove(cairn_world *world, uint32_t slot) {
    world->awake_marks[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

// The first body from `slot` on that may be in the awake set; the number of slots if no more are.
static inline uint32_t cairn_awake_mark_next(const cairn_world *world, uint32_t slot) {
    const uint64_t *marks = world->awake_marks;
    const uint32_t count = world->state.settings->body_slots;
    while (slot < count) {
        const uint64_t left = marks[slot / 64] >> slot % 64;
        if (left != 0) {
            slot += (uint32_t)__builtin_ctzll(left);
            break;
        }
        slot += 64 - slot % 64;
    }
    return slot < count ? slot : count;
}

// Lists the awake set, and takes the marks of bodies that are not in it.
void cairn_awake_set_list(cairn_world *world);
// The same shared among the workers, in a session.
void cairn_awake_set_list_in_session(cairn_world *world);

static inline bool cairn_body_is_moving(const cairn_world *world, uint32_t slot) {
    const cairn_vec3 v = world->state.motions[slot].linear_velocity;
    const cairn_vec3 w = world->state.motions[slot].angular_velocity;
    return v.x != 0.0f || v.y != 0.0f || v.z != 0.0f || w.x != 0.0f || w.y != 0.0f || w.z != 0.0f;
}
static inline bool cairn_body_is_active(const cairn_world *world, uint32_t slot) {
    switch (world->state.bodies[slot].kind) {
    case CAIRN_BODY_DYNAMIC:
        return world->state.sleep[slot].state != CAIRN_SLEEP_ASLEEP;
    case CAIRN_BODY_KINEMATIC:
        return cairn_body_is_moving(world, slot);
    default:
        return false;
    }
}
static inline bool cairn_body_in_awake_set(const cairn_world *world, uint32_t slot) {
    return world->state.sleep[slot].state == CAIRN_SLEEP_DISTURBED ||
           cairn_body_is_active(world, slot);
}
static inline bool cairn_body_takes_impulses(const cairn_world *world, uint32_t slot) {
    const cairn_body *body = &world->state.bodies[slot];
    return body->kind == CAIRN_BODY_DYNAMIC && body->inverse_mass > 0.0f &&
           world->state.sleep[slot].state != CAIRN_SLEEP_ASLEEP &&
           cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, slot);
}

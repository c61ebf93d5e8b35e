// SPDX-License-Identifier: MIT
#pragma once

// What a rollback of a part of a world (cairn/rollback.h) works on.
//
// The scope is the set of bodies that the wrong commands may have touched. It only grows. A body
// outside has the same state in both pasts, as long as no body of the scope touched it in either:
// the result of a step is that of its islands, each on its own. A second world, the part, holds the
// scope and all bodies that do not move, and steps it; what it finds is stored by tick and written
// over the old states at the end.

#include "sim/serialize/history_patch.h"
#include "sim/state/world.h"
#include <cairn/rollback.h>

// Paths of the solver that all bodies take as soon as one awake body has joints, or locks. Either
// path gives a body without them the same result but for signs of zeros on the way. If such a body
// is awake in the world, the scope gets one as well, so that even these signs are equal.
#define CAIRN_GATE_JOINTED 1u
#define CAIRN_GATE_LOCKED 2u

// The state of a tick: in the history, or the world itself.
typedef struct cairn_tick_state {
    const cairn_world *world;
    const cairn_history *history; // NULL: the world
    uint32_t order;
} cairn_tick_state;

// What the scope became in a tick. The arrays lie in the store.
typedef struct cairn_scope_result {
    uint32_t *slots; // of bodies, in order
    cairn_motion *motions;
    cairn_reference_pose *reference_poses;
    cairn_body *bodies;
    cairn_sleep *sleep;
    uint32_t *joint_slots; // in order
    cairn_joint *joints;
    cairn_contact *contacts;
    cairn_contact_event *contact_events;
    cairn_body_event *body_events;
    uint32_t *contacts_before; // places in the list of the old state, of the contacts that it had
    uint32_t count;
    uint32_t joint_count;
    uint32_t contact_count;
    uint32_t contact_event_count;
    uint32_t body_event_count;
    uint32_t contacts_before_count;
} cairn_scope_result;

typedef struct cairn_scope_joint {
    uint32_t joint; // slots
    uint32_t body_a;
    uint32_t body_b;
} cairn_scope_joint;

struct cairn_rollback {
    cairn_world *world;
    cairn_history *history;
    cairn_world *part; // owned
    cairn_rollback_statistics statistics;

    void *memory; // of the arrays; owned
    // Found in the world at the beginning.
    uint32_t *dynamic; // slots of dynamic bodies
    uint32_t dynamic_count;
    float *reaches; // by index in `dynamic`: m, from the centre of mass, with slack
    float *travel;  // by body slot: m in a tick at most, if it may pass through others; otherwise 0
    uint32_t *still; // slots of the others
    uint32_t still_count;
    uint32_t *still_shapes; // in order
    uint32_t still_shape_count;
    cairn_scope_joint *joints;
    uint32_t joint_count;
    unsigned char *gates; // by body slot
    unsigned char gates_used;
    uint32_t awake_count;
    // By axis and index in `dynamic`, padded to whole vectors: reference positions before and after
    // a step, m.
    float *positions[2][3];

    uint32_t *scope; // slots, in order of arrival
    uint32_t scope_count;
    uint32_t *added;  // by body slot: 1 + the first result that has it; 0: not in the scope
    uint32_t *sorted; // scratch: slots of bodies
    uint32_t *shapes; // scratch: slots of shapes
    uint32_t *places; // scratch: of contacts
    bool part_valid;  // the part holds the scope at this tick
    uint32_t *placed; // bodies in the part
    uint32_t placed_count;
    uint32_t *placed_shapes;
    uint32_t placed_shape_count;
    uint32_t *placed_joints;
    uint32_t placed_joint_count;

    uint32_t first; // index of the first tick whose commands differ
    uint32_t count; // ticks
    cairn_tick_state sources[CAIRN_ROLLBACK_TICKS_MAX + 1];
    cairn_scope_result results[CAIRN_ROLLBACK_TICKS_MAX + 1];
    unsigned char *store; // of results; owned
    size_t store_size;
    size_t store_used;
    uint32_t head_order;      // of the tick that the world is at; UINT32_MAX: it is not held
    cairn_contact *list;      // scratch: a contact list
    unsigned char *events[2]; // scratch: lists of events
    cairn_command *commands;  // scratch: of a tick
};

// Copies elements of a state.
void cairn_tick_state_read(
    const cairn_tick_state *from, cairn_array array, uint32_t first, uint32_t count, void *out);
cairn_settings cairn_tick_state_settings(const cairn_tick_state *from);
// Returns a pointer to the elements of a block of the hash cache, which are not copied. The blocks
// of the array must fit into a cell of the history.
const void *cairn_tick_state_block(const cairn_tick_state *from, cairn_array array, uint32_t block);

static inline bool cairn_scope_has(const cairn_rollback *r, uint32_t slot) {
    return r->added[slot] != 0;
}
// Whether result `index` has the body.
static inline bool cairn_scope_had(const cairn_rollback *r, uint32_t slot, uint32_t index) {
    return r->added[slot] != 0 && r->added[slot] <= index + 1;
}

// scope.c: what the scope is. Lists bodies and joints; CAIRN_ROLLBACK_SCOPED, or why not.
cairn_rollback_outcome cairn_scope_survey(cairn_rollback *r);
void cairn_scope_read_positions(cairn_rollback *r, uint32_t side, const cairn_tick_state *from);
// The positions after a step become those before the next one.
void cairn_scope_swap_positions(cairn_rollback *r);
// A body that the step from tick `index` may change.
void cairn_scope_add(cairn_rollback *r, uint32_t slot, uint32_t index);
// Adds what touches the bodies from `from` in the old states before and after the step.
void cairn_scope_close(cairn_rollback *r, uint32_t from, uint32_t index);
// After the part was stepped: adds what its bodies may have touched. Returns whether there was any.
bool cairn_scope_grow(cairn_rollback *r, uint32_t index);

// passing.c: measures how far bodies travel in a tick in the old states.
void cairn_rollback_measure_travel(cairn_rollback *r, const cairn_rollback_tick *ticks);
// Whether every body of the part stayed within its measured travel in the last step.
bool cairn_rollback_travel_kept(const cairn_rollback *r);

// part.c: the part at tick `index`, and what the step made of it. False: the contacts do not fit.
bool cairn_part_place(cairn_rollback *r, uint32_t index);
// False: the store is full.
bool cairn_part_collect(cairn_rollback *r, uint32_t index);
// The places in state `index` of the contacts of some bodies of the scope, all of which result
// `index` has, or none; in order, at most `capacity`. Returns how many there are; UINT32_MAX: more,
// or one is with a body that moves and is not of the same kind.
uint32_t cairn_scope_contacts(const cairn_rollback *r, uint32_t index, bool had,
    const uint32_t *slots, uint32_t count, uint32_t *out, uint32_t capacity);

// correct.c: finds the places where results go; false: a list is full, or the history has no room.
bool cairn_rollback_plan(cairn_rollback *r);
// Writes results to the history and the world.
void cairn_rollback_correct(cairn_rollback *r, cairn_hash128 *roots);

// Memory from the store, aligned; NULL: it is full.
void *cairn_store_take(cairn_rollback *r, size_t count, size_t size);

// SPDX-License-Identifier: MIT
#pragma once

// A step looked at while it works: a hash of everything at each of its points, so that two peers
// who start from the same state and end in different ones can tell where they parted, and the world
// frozen at one point, so that they can tell which word. A step that is not traced does not pay for
// it, and no bit of any state depends on it.
//
// The points of a step, in order: RULES, PAIRS, COLLIDE, ISLANDS, PREPARE, SOLVE several times,
// INTEGRATE, ISLANDS, END. The PGS solver has INTEGRATE before PREPARE, too. What is where:
//   RULES      the state as commands and rules left it
//   PAIRS      anchors are new
//   COLLIDE    the contact list with its features is new; impulses are still the last step's
//   ISLANDS    what wakes is awake
//   PREPARE    forces are used up, contacts have their colours; manifolds are computed, velocities
//              are the solver's from here on
//   SOLVE      of substep n (or sweep n of the PGS solver), after each pass: velocities and
//              ways in the solver's bodies, and the impulses so far, which a step that is not
//              traced writes to the state at the end alone
//   INTEGRATE  new poses and velocities in the state
//   ISLANDS    what falls asleep sleeps
//   END        the tick is counted: the state's own full hash
// A traced step looks at everything, even where nothing stirs, so that the number of points and
// their order follow from the world's settings alone.

#include "sim/state/pass.h"
#include <cairn/sim.h>

// In place of a cairn_stage.
#define CAIRN_STAGE_END CAIRN_STAGE_COUNT

typedef struct cairn_trace_point {
    uint32_t stage;     // cairn_stage or CAIRN_STAGE_END
    uint32_t substep;   // counted from 1; 0: not within the solver
    uint32_t pass;      // cairn_pass
    cairn_hash128 root; // of all that follows; at the end the world's full hash
    cairn_hash128 sections[CAIRN_SECTION_COUNT];
    cairn_hash128 manifolds; // after PREPARE and until SOLVE has ended, zero otherwise
    cairn_hash128 solver;    // velocities and ways of what impulses move, likewise
} cairn_trace_point;

// 64 substeps of four passes, or 256 sweeps, and the rest.
#define CAIRN_TRACE_POINTS_MAX 272

typedef struct cairn_trace {
    uint32_t count;
    cairn_trace_point points[CAIRN_TRACE_POINTS_MAX];
} cairn_trace;

// Steps like cairn_world_step and writes down every point.
void cairn_world_step_traced(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace *out);
// The number of the first point at which two traces have another root, or that only one has; their
// common count when there is none.
uint32_t cairn_trace_first_difference(const cairn_trace *a, const cairn_trace *b);

const char *cairn_stage_name(uint32_t stage);
const char *cairn_pass_name(uint32_t pass);

// The roots of all points as they travel: 16 bytes each, little-endian, low half first.
#define CAIRN_TRACE_ROOT_SIZE 16
#define CAIRN_TRACE_ROOTS_SIZE_MAX (CAIRN_TRACE_POINTS_MAX * CAIRN_TRACE_ROOT_SIZE)
// Returns the bytes written.
size_t cairn_trace_roots(const cairn_trace *trace, uint8_t out[CAIRN_TRACE_ROOTS_SIZE_MAX]);
// Steps `world` and writes its roots: what a peer asks for. Allocates for the time of the call;
// 0 when there is no memory, and then the world is unchanged.
size_t cairn_trace_stages(cairn_world *world, const cairn_command *commands, uint32_t count,
    uint8_t out[CAIRN_TRACE_ROOTS_SIZE_MAX]);

// ------------------------------------------------------------------------------- one word

// A word that two worlds hold differently. Arrays are numbered as in docs/PROTOCOL.md ("Elements");
// two more exist only within a step.
#define CAIRN_TRACE_ARRAY_SOLVER 64    // by body slot
#define CAIRN_TRACE_ARRAY_MANIFOLDS 65 // by place of the contact in the list
typedef struct cairn_word_difference {
    uint32_t array;
    uint32_t element;
    uint32_t word;
    uint32_t bits_a; // 0 where the element does not exist
    uint32_t bits_b;
} cairn_word_difference;

// All words, in order of array, element and word; returns how many differ, writes at most
// `capacity`.
uint32_t cairn_world_diff_words(
    const cairn_world *a, const cairn_world *b, cairn_word_difference *out, uint32_t capacity);
// "contacts", "solver", ...; "unknown" for an array that there is not.
const char *cairn_array_section_name(uint32_t array);
// "points[0].normal_impulse", ...; "unknown" for a word that there is not.
const char *cairn_array_field_name(uint32_t array, uint32_t word);
bool cairn_array_field_is_float(uint32_t array, uint32_t word);
// Words of one element; 0 for an array that there is not.
uint32_t cairn_array_words(uint32_t array);
// The slots of the bodies that an element is about: 0, 1 or 2 of them.
uint32_t cairn_element_bodies(
    const cairn_world *world, uint32_t array, uint32_t element, uint32_t bodies[2]);
// How many floats lie between two; UINT32_MAX when one is not a number. -0 and +0 are one apart.
uint32_t cairn_float_ulps(uint32_t bits_a, uint32_t bits_b);

// The world and the solver's memory as they are at one point of a step. It lasts longer than the
// world that was stepped.
typedef struct cairn_frame cairn_frame;
// Steps `world` and keeps what is there at point number `point` of its trace. NULL when there is no
// such point or no memory; the world has stepped in any case. Pair with cairn_frame_destroy.
cairn_frame *cairn_world_step_frozen(
    cairn_world *world, const cairn_command *commands, uint32_t count, uint32_t point);
void cairn_frame_destroy(cairn_frame *frame); // NULL is allowed
// As it is there; not to be stepped.
const cairn_world *cairn_frame_world(const cairn_frame *frame);
// As cairn_world_diff_words, the two arrays of the solver last.
uint32_t cairn_frame_diff(
    const cairn_frame *a, const cairn_frame *b, cairn_word_difference *out, uint32_t capacity);

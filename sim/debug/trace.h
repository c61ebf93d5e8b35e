// SPDX-License-Identifier: MIT
#pragma once

// A traced step: a hash of everything at each of its points, so that two peers that start from the
// same state and end in different ones can find the point at which they diverged; and a copy of the
// world at one point, so that they can find the word. Steps that are not traced pay nothing for it,
// and no bit of any state depends on it.
//
// The points of a step, in order: RULES, PAIRS, COLLIDE, ISLANDS, PREPARE, SOLVE several times,
// INTEGRATE, ISLANDS, END. The PGS solver has INTEGRATE before PREPARE, too. What each point shows:
//   RULES      the state after commands and rules
//   PAIRS      reference poses are updated
//   COLLIDE    the contact list and its features are updated; impulses are still the last step's
//   ISLANDS    islands that wake are awake
//   PREPARE    forces are used up, contacts have their colours, manifolds are computed; from now on
//              velocities are those of the solver bodies
//   SOLVE      after each pass of substep n (or sweep n of the PGS solver): velocities and
//              displacements of the solver bodies, and the impulses so far, which a step that is
//              not traced stores only at the end
//   INTEGRATE  poses and velocities are stored in the state
//   ISLANDS    islands that fall asleep are asleep
//   END        the tick is counted: the full hash of the state
// A traced step runs all stages even if nothing is awake, so that the number and order of its
// points depend only on the settings of the world.

#include "sim/state/trace_hook.h"
#include <cairn/sim.h>

// In place of a cairn_stage.
#define CAIRN_STAGE_END CAIRN_STAGE_COUNT

typedef struct cairn_trace_point {
    uint32_t stage;     // cairn_stage or CAIRN_STAGE_END
    uint32_t substep;   // counted from 1; 0: not within the solver
    uint32_t pass;      // cairn_pass
    cairn_hash128 root; // of all that follows; at the end the world's full hash
    cairn_hash128 sections[CAIRN_SECTION_COUNT];
    cairn_hash128 manifolds; // from PREPARE until SOLVE has ended, zero otherwise
    cairn_hash128 solver;    // solver bodies that take impulses; zero as above
} cairn_trace_point;

// 64 substeps of four passes, or 256 sweeps, and the rest.
#define CAIRN_TRACE_POINTS_MAX 272

typedef struct cairn_trace {
    uint32_t count;
    cairn_trace_point points[CAIRN_TRACE_POINTS_MAX];
} cairn_trace;

// Steps like cairn_world_step and records every point.
void cairn_world_step_traced(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace *out);
// The index of the first point at which the roots of two traces differ or that only one of them
// has. Equal traces give their count.
uint32_t cairn_trace_first_difference(const cairn_trace *a, const cairn_trace *b);

const char *cairn_stage_name(uint32_t stage);
const char *cairn_pass_name(uint32_t pass);

// The roots of all points as they are sent: 16 bytes each, little-endian, low half first.
#define CAIRN_TRACE_ROOT_SIZE 16
#define CAIRN_TRACE_ROOTS_SIZE_MAX (CAIRN_TRACE_POINTS_MAX * CAIRN_TRACE_ROOT_SIZE)
// Returns the bytes written.
size_t cairn_trace_roots(const cairn_trace *trace, uint8_t out[CAIRN_TRACE_ROOTS_SIZE_MAX]);
// Steps `world` and writes the roots of its trace, to answer a peer. Allocates memory during the
// call. If out of memory, returns 0 and leaves the world unchanged.
size_t cairn_trace_stages(cairn_world *world, const cairn_command *commands, uint32_t count,
    uint8_t out[CAIRN_TRACE_ROOTS_SIZE_MAX]);

// ---- Words

// A word that differs between two worlds. Arrays are numbered as in docs/PROTOCOL.md ("Elements");
// two more exist only within a step.
#define CAIRN_TRACE_ARRAY_SOLVER 64    // by body slot
#define CAIRN_TRACE_ARRAY_MANIFOLDS 65 // by index in the contact list
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
// "contacts", "solver", ...; "unknown" for an array that does not exist.
const char *cairn_array_section_name(uint32_t array);
// "points[0].normal_impulse", ...; "unknown" for a word that does not exist.
const char *cairn_array_field_name(uint32_t array, uint32_t word);
bool cairn_array_field_is_float(uint32_t array, uint32_t word);
// Words of one element; 0 for an array that does not exist.
uint32_t cairn_array_words(uint32_t array);
// The ids of the bodies that an element is about: 0, 1 or 2 of them. CAIRN_ID_NULL for a body that
// was never there.
uint32_t cairn_element_bodies(
    const cairn_world *world, uint32_t array, uint32_t element, uint32_t bodies[2]);
// The distance of two floats in units in the last place; UINT32_MAX if one is NaN. -0 and +0 are
// one apart.
uint32_t cairn_float_ulps(uint32_t bits_a, uint32_t bits_b);

// A copy of the world and of the solver's memory at one point of a step. It may outlive the world
// that was stepped.
typedef struct cairn_frame cairn_frame;
// Steps `world` and returns a copy of what it holds at point number `point` of its trace. NULL if
// there is no such point or no memory; the world has been stepped in any case. Destroy it with
// cairn_frame_destroy.
cairn_frame *cairn_world_step_frozen(
    cairn_world *world, const cairn_command *commands, uint32_t count, uint32_t point);
void cairn_frame_destroy(cairn_frame *frame); // NULL is allowed
// The world at that point, which must not be stepped.
const cairn_world *cairn_frame_world(const cairn_frame *frame);
// As cairn_world_diff_words, the two arrays of the solver last.
uint32_t cairn_frame_diff(
    const cairn_frame *a, const cairn_frame *b, cairn_word_difference *out, uint32_t capacity);

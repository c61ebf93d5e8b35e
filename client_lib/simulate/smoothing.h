// SPDX-License-Identifier: MIT
#pragma once

// What a correction would make jump, glides: each body keeps the difference between where it was
// shown and where it truly is, and that decays. Method: Fiedler, "State Synchronization" (Gaffer on
// Games), visual smoothing: per 1/60 s the error is multiplied by 0.95 when it is small (25 cm) and
// by 0.85 when it is large (1 m), with a blend between. Here by time, in steps of 1/240 s, so that
// the frame rate does not matter; an angle counts as the way of a point one metre off. Pictures
// only: nothing here reaches the simulation.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/client.h>
#include <cairn/status.h>

typedef struct cairn_smoothing_offset {
    uint32_t id;       // of the body; 0: none
    float position[3]; // m, shown minus true
    float rotation[4]; // shown = this times true
} cairn_smoothing_offset;

typedef struct cairn_smoothing {
    cairn_smoothing_offset *offsets; // owned, by index of the body
    uint32_t capacity;
    uint32_t used;  // those from here on are none
    uint64_t at_ns; // up to when they decayed
    float error_m;  // the largest now
} cairn_smoothing;

// CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_smoothing_create(cairn_smoothing *smoothing, uint32_t body_capacity);
void cairn_smoothing_destroy(cairn_smoothing *smoothing);
void cairn_smoothing_clear(cairn_smoothing *smoothing);

typedef struct cairn_smoothing_step {
    float moved_m; // between the two poses
    float turned;  // rad
} cairn_smoothing_step;
// One body was believed to be at `before` and is at `now`, at one moment and with one id: it goes
// on from where it is shown.
cairn_smoothing_step cairn_smoothing_add(
    cairn_smoothing *smoothing, const cairn_client_body *before, const cairn_client_body *now);
// Lets all offsets decay up to now; time that goes back changes nothing.
void cairn_smoothing_advance(cairn_smoothing *smoothing, uint64_t now_ns);
// Moves what is about to be shown; bodies in any order, each id once.
void cairn_smoothing_apply(
    const cairn_smoothing *smoothing, cairn_client_body *bodies, uint32_t count);

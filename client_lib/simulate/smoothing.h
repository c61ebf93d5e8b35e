// SPDX-License-Identifier: MIT
#pragma once

// Hides corrections: each body keeps the offset between where it was shown and where it is, and the
// offset decays, so that the body glides instead of jumping. Method: Fiedler, "State
// Synchronization" (Gaffer on Games), visual smoothing: per 1/60 s the error is multiplied by 0.95
// when it is small (25 cm) and by 0.85 when it is large (1 m), with a blend between. Here by time,
// in steps of 1/240 s, so that the frame rate does not matter; an angle counts as the path of a
// point at a distance of one metre. This changes pictures only, never the simulation.

#include <stdint.h>

#include <cairn/client.h>
#include <cairn/status.h>

typedef struct cairn_smoothing_offset {
    uint32_t id;       // of the body; CAIRN_ID_NULL: no offset
    float position[3]; // m, shown minus true
    float rotation[4]; // shown = this times true
} cairn_smoothing_offset;

typedef struct cairn_smoothing {
    cairn_smoothing_offset *offsets; // owned, by index of the body
    uint32_t capacity;
    uint32_t used;       // offsets from here on are unused
    uint64_t decayed_ns; // offsets have decayed until then
    float error_m;       // m, the largest offset now
} cairn_smoothing;

// CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_smoothing_create(cairn_smoothing *smoothing, uint32_t body_capacity);
void cairn_smoothing_destroy(cairn_smoothing *smoothing);

typedef struct cairn_smoothing_step {
    float distance_m; // between the two poses
    float angle;      // rad
} cairn_smoothing_step;
// A body that was shown at `before` is at `now`, at the same moment and with the same id: adds the
// difference to its offset. Returns how far apart the two are.
cairn_smoothing_step cairn_smoothing_add(
    cairn_smoothing *smoothing, const cairn_client_body *before, const cairn_client_body *now);
// Lets all offsets decay until now. A time in the past changes nothing.
void cairn_smoothing_advance(cairn_smoothing *smoothing, uint64_t now_ns);
// Adds the offsets to bodies that are about to be shown; in any order, each id once.
void cairn_smoothing_apply(
    const cairn_smoothing *smoothing, cairn_client_body *bodies, uint32_t count);

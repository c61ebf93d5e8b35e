// SPDX-License-Identifier: MIT
#pragma once

// How far ahead of the received tick inputs are made, so that each arrives just before its tick is
// stepped. The server reports how late the worst input was, and the lead follows: at once when
// inputs were too late, slowly when they were needlessly early.

#include <stdbool.h>
#include <stdint.h>

#include "schema/messages.h"

// Inputs on longer paths are lost; the server's window ends near it as well.
#define CAIRN_INPUT_LEAD_NS_MAX 2000000000

typedef struct cairn_input_lead {
    double tick_ns;
    double lead_ns;
    bool measured;           // the server has judged one of our inputs
    uint64_t reported_ns;    // when the last report arrived; 0: none yet
    double spacing_ns;       // how far apart reports are
    uint64_t hold_until_ns;  // reports about inputs made before the last change are ignored
    uint64_t acknowledged;   // in the last report
    uint32_t inputs_late;    // in the last report
    uint32_t inputs_refused; // in the last report
} cairn_input_lead;

void cairn_input_lead_start(cairn_input_lead *lead, uint32_t tick_rate_hz);
// Before the server has judged an input: a round trip, twice its jitter, and two ticks.
void cairn_input_lead_estimate(cairn_input_lead *lead, uint64_t rtt_ns, uint64_t jitter_ns);
// Takes the server's report; the clock that the lead is added to is ahead by so much
// (cairn_clock_ahead_ns). The caller leaves out reports of messages that were overtaken.
void cairn_input_lead_feedback(cairn_input_lead *lead, uint64_t now_ns, uint64_t rtt_ns,
    uint64_t jitter_ns, double clock_ahead_ns, const cairn_wire_timing *timing);

// SPDX-License-Identifier: MIT
#pragma once

// How far ahead of the heard tick inputs are made, so that each lands just before its tick is
// stepped. The server tells how late the worst input came; the lead follows: at once when inputs
// came too late, slowly when they came needlessly early.

#include <stdbool.h>
#include <stdint.h>

#include "schema/messages.h"

// Longer paths than this lose their inputs; the server's window ends near it as well.
#define CAIRN_INPUT_LEAD_NS_MAX 2000000000

typedef struct cairn_input_lead {
    double tick_ns;
    double lead_ns;
    bool told;               // the server has judged an input of ours
    uint64_t hold_until_ns;  // words about inputs made before the last change are ignored
    uint64_t acknowledged;   // of the last word
    uint32_t inputs_late;    // of the last word
    uint32_t inputs_refused; // of the last word
} cairn_input_lead;

void cairn_input_lead_start(cairn_input_lead *lead, uint32_t tick_rate_hz);
// Before the server has judged an input the lead is a round trip, its jitter and two ticks.
void cairn_input_lead_estimate(cairn_input_lead *lead, uint64_t rtt_ns, uint64_t jitter_ns);
// The server's word, newest first only: the caller drops words of overtaken messages.
void cairn_input_lead_feedback(cairn_input_lead *lead, uint64_t now_ns, uint64_t rtt_ns,
    uint64_t jitter_ns, const cairn_wire_timing *timing);

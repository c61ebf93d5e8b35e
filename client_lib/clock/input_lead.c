// SPDX-License-Identifier: MIT
#include "client_lib/clock/input_lead.h"

#include "base/assert.h"

// What the feedback itself may lag behind a round trip: the spacing of slow snapshots.
static const uint64_t FEEDBACK_SPACING_NS = 100000000;

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

void cairn_input_lead_start(cairn_input_lead *lead, uint32_t tick_rate_hz) {
    CAIRN_ASSERT(tick_rate_hz > 0);
    *lead = (cairn_input_lead){.tick_ns = 1e9 / tick_rate_hz};
    cairn_input_lead_estimate(lead, 100000000, 0);
}

void cairn_input_lead_estimate(cairn_input_lead *lead, uint64_t rtt_ns, uint64_t jitter_ns) {
    if (!lead->told) {
        double guess_ns = (double)rtt_ns + 2 * (double)jitter_ns + 2 * lead->tick_ns;
        lead->lead_ns = clamp(guess_ns, 0, CAIRN_INPUT_LEAD_NS_MAX);
    }
}

// A message that judges no input of ours repeats what the last one said.
static bool judges(cairn_input_lead *lead, const cairn_wire_timing *timing) {
    bool moved = timing->input_acknowledged != lead->acknowledged ||
                 timing->inputs_late != lead->inputs_late ||
                 timing->inputs_early_refused != lead->inputs_refused;
    lead->acknowledged = timing->input_acknowledged;
    lead->inputs_late = timing->inputs_late;
    lead->inputs_refused = timing->inputs_early_refused;
    return moved;
}

void cairn_input_lead_feedback(cairn_input_lead *lead, uint64_t now_ns, uint64_t rtt_ns,
    uint64_t jitter_ns, const cairn_wire_timing *timing) {
    if (!judges(lead, timing)) {
        return;
    }
    lead->told = true;
    if (now_ns < lead->hold_until_ns) {
        return;
    }
    double margin_ns = lead->tick_ns + 2 * (double)jitter_ns;
    double missing_ns = (double)timing->lateness_us_worst * 1000 + margin_ns;
    double change_ns = missing_ns > 0 ? missing_ns : missing_ns / 4;
    lead->lead_ns = clamp(lead->lead_ns + change_ns, 0, CAIRN_INPUT_LEAD_NS_MAX);
    lead->hold_until_ns = now_ns + rtt_ns + FEEDBACK_SPACING_NS;
}

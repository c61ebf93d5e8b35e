// SPDX-License-Identifier: MIT
#include "client_lib/clock/input_lead.h"

#include "base/assert.h"

// A report arrives a round trip after the input, and up to the spacing of slow snapshots later.
static const uint64_t FEEDBACK_SPACING_NS = 100000000;
// Inputs that were made during a longer silence are late because of the silence. The next reports
// are about these, and say nothing about the path. Where reports are rare, because snapshots are or
// many are lost, a silence is three times as long as reports are apart: otherwise none would be
// believed (seed 24005136).
static const uint64_t SILENT_NS_MAX = 250000000;
static const double SILENT_SPACINGS = 3;
static const double GAIN_SPACING = 1.0 / 8;

// Whether the report ends a silence.
static bool ends_silence(cairn_input_lead *lead, uint64_t now_ns) {
    if (lead->reported_ns == 0) {
        return false;
    }
    const double gap_ns = (double)(now_ns - lead->reported_ns);
    const double usual_ns = SILENT_SPACINGS * lead->spacing_ns;
    lead->spacing_ns += (gap_ns - lead->spacing_ns) * GAIN_SPACING;
    return gap_ns > usual_ns && gap_ns > (double)SILENT_NS_MAX;
}

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

void cairn_input_lead_start(cairn_input_lead *lead, uint32_t tick_rate_hz) {
    CAIRN_ASSERT(tick_rate_hz > 0);
    *lead = (cairn_input_lead){.tick_ns = 1e9 / tick_rate_hz};
    cairn_input_lead_estimate(lead, 100000000, 0);
}

void cairn_input_lead_estimate(cairn_input_lead *lead, uint64_t rtt_ns, uint64_t jitter_ns) {
    CAIRN_ASSERT(lead->tick_ns > 0);
    if (!lead->measured) {
        const double estimate_ns = (double)rtt_ns + 2 * (double)jitter_ns + 2 * lead->tick_ns;
        lead->lead_ns = clamp(estimate_ns, 0, CAIRN_INPUT_LEAD_NS_MAX);
    }
}

void cairn_input_lead_feedback(cairn_input_lead *lead, uint64_t now_ns, uint64_t rtt_ns,
    uint64_t jitter_ns, double clock_ahead_ns, const cairn_wire_timing *timing) {
    CAIRN_ASSERT(lead->tick_ns > 0 && clock_ahead_ns >= 0);
    if (ends_silence(lead, now_ns)) {
        lead->hold_until_ns = now_ns + rtt_ns + FEEDBACK_SPACING_NS;
    }
    lead->reported_ns = now_ns;
    const bool is_new = timing->input_acknowledged != lead->acknowledged ||
                        timing->inputs_late != lead->inputs_late ||
                        timing->inputs_early_refused != lead->inputs_refused;
    if (!is_new) {
        return;
    }
    lead->acknowledged = timing->input_acknowledged;
    lead->inputs_late = timing->inputs_late;
    lead->inputs_refused = timing->inputs_early_refused;
    lead->measured = true;
    if (now_ns < lead->hold_until_ns) {
        return;
    }
    double margin_ns = lead->tick_ns + 2 * (double)jitter_ns;
    double missing_ns = (double)timing->lateness_us_worst * 1000 + margin_ns;
    // What is early because of the clock is in time when the clock has gone back (seed 530478).
    const double early_ns = clamp(-missing_ns - clock_ahead_ns, 0, CAIRN_INPUT_LEAD_NS_MAX);
    double change_ns = missing_ns > 0 ? missing_ns : -early_ns / 4;
    lead->lead_ns = clamp(lead->lead_ns + change_ns, 0, CAIRN_INPUT_LEAD_NS_MAX);
    lead->hold_until_ns = now_ns + rtt_ns + FEEDBACK_SPACING_NS;
}

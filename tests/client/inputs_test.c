// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "client_lib/clock/clock.h"
#include "client_lib/clock/input_lead.h"
#include "client_lib/simulate/inputs.h"

#define MS 1000000ull

static cairn_inputs inputs_of(uint32_t redundancy) {
    cairn_inputs inputs;
    cairn_inputs_start(&inputs, redundancy, 1);
    return inputs;
}

static void expect_collected(
    const cairn_inputs *inputs, uint32_t count, uint64_t first, uint64_t last) {
    cairn_wire_input out[CAIRN_INPUT_PARTS_MAX];
    assert_int_equal(cairn_inputs_collect(inputs, inputs->redundancy + 1, out), count);
    for (uint32_t i = 1; i < count; i++) {
        assert_int_equal(out[i].tick, out[i - 1].tick + 1);
        assert_int_equal(out[i].sequence, out[i - 1].sequence + 1);
    }
    if (count > 0) {
        assert_int_equal(out[0].tick, first);
        assert_int_equal(out[count - 1].tick, last);
    }
}

TEST("one input is made for each tick") {
    cairn_inputs inputs = inputs_of(16);
    assert_int_equal(cairn_inputs_make(&inputs, 100), 1);
    assert_int_equal(cairn_inputs_make(&inputs, 100), 0);
    assert_int_equal(cairn_inputs_make(&inputs, 103), 3);
    assert_int_equal(cairn_inputs_make(&inputs, 102), 0);
    expect_collected(&inputs, 4, 100, 103);
}

TEST("unacknowledged inputs are repeated within the redundancy") {
    cairn_inputs inputs = inputs_of(3);
    cairn_inputs_make(&inputs, 10);
    cairn_inputs_make(&inputs, 20);
    expect_collected(&inputs, 4, 17, 20);
    cairn_inputs_acknowledge(&inputs, 18);
    expect_collected(&inputs, 2, 19, 20);
    cairn_inputs_acknowledge(&inputs, 12);
    expect_collected(&inputs, 2, 19, 20);
    cairn_inputs_acknowledge(&inputs, 20);
    expect_collected(&inputs, 0, 0, 0);
    cairn_inputs_acknowledge(&inputs, 9999);
    cairn_inputs_make(&inputs, 21);
    expect_collected(&inputs, 1, 21, 21);
}

TEST("a full ring keeps the newest inputs") {
    cairn_inputs inputs = inputs_of(CAIRN_INPUTS_HELD_MAX - 1);
    for (uint64_t tick = 1; tick <= 200; tick++) {
        cairn_inputs_make(&inputs, tick);
    }
    expect_collected(&inputs, CAIRN_INPUTS_HELD_MAX, 201 - CAIRN_INPUTS_HELD_MAX, 200);
}

TEST("a jump forward skips inputs that no message could carry") {
    cairn_inputs inputs = inputs_of(16);
    cairn_inputs_make(&inputs, 10);
    assert_int_equal(cairn_inputs_make(&inputs, 10 + CAIRN_INPUTS_HELD_MAX), 64);
    assert_int_equal(inputs.skipped, 0);
    assert_int_equal(cairn_inputs_make(&inputs, 1000000), 1);
    assert_int_equal(inputs.skipped, 1000000 - 75);
    expect_collected(&inputs, 1, 1000000, 1000000);
}

TEST("after the clock moved back far inputs restart, after it moved back a little they wait") {
    cairn_inputs inputs = inputs_of(16);
    cairn_inputs_make(&inputs, 1000);
    assert_int_equal(cairn_inputs_make(&inputs, 990), 0);
    assert_int_equal(cairn_inputs_make(&inputs, 400), 1);
    expect_collected(&inputs, 1, 400, 400);
}

TEST("an input holds what was held when it was made, and is read for its own tick and no other") {
    cairn_inputs inputs = inputs_of(16);
    cairn_wire_input out[CAIRN_INPUT_PARTS_MAX];
    assert_null(cairn_inputs_read(&inputs, 0));
    for (uint64_t tick = 100; tick < 180; tick++) {
        inputs.held[0].buttons = (uint32_t)tick;
        inputs.held[0].move.x = (float)tick / 256;
        cairn_inputs_make(&inputs, tick);
    }
    assert_int_equal(cairn_inputs_collect(&inputs, 17, out), 17);
    assert_int_equal(out[0].buttons, 163);
    EXPECT_NEAR(out[0].move.x, 163.0f / 256, 0);
    assert_int_equal(cairn_inputs_read(&inputs, 179)->buttons, 179);
    assert_non_null(cairn_inputs_read(&inputs, 116));
    assert_null(cairn_inputs_read(&inputs, 115));
    assert_null(cairn_inputs_read(&inputs, 180));
}

// Simulates the server: an input made `lead` ahead of the received tick arrives a round trip later,
// so it is late by rtt - lead. A report about it arrives with every third tick.
static double settled_lead_ms(uint64_t rtt_ms, int64_t *late_ms) {
    cairn_input_lead lead;
    cairn_input_lead_start(&lead, 60);
    cairn_wire_timing timing = {0};
    double leads_in_flight[64] = {0};
    uint64_t delay = rtt_ms / 50 + 1;
    for (uint64_t i = 0; i < 600; i++) {
        leads_in_flight[i % 64] = lead.lead_ns;
        if (i < delay) {
            continue;
        }
        double lead_ns = leads_in_flight[(i - delay) % 64];
        timing.input_acknowledged = i * 3;
        timing.lateness_us_worst = (int32_t)(((double)(rtt_ms * MS) - lead_ns) / 1000);
        timing.inputs_late += timing.lateness_us_worst > 0 ? 3 : 0;
        cairn_input_lead_feedback(&lead, i * 50 * MS, rtt_ms * MS, 0, 0, &timing);
    }
    *late_ms = timing.lateness_us_worst / 1000;
    return lead.lead_ns * 1e-6;
}

TEST("the lead settles one tick before the deadline") {
    const uint64_t rtts_ms[] = {0, 5, 40, 150, 400, 900};
    for (size_t i = 0; i < sizeof rtts_ms / sizeof rtts_ms[0]; i++) {
        int64_t late_ms = 0;
        double lead_ms = settled_lead_ms(rtts_ms[i], &late_ms);
        EXPECT_NEAR(lead_ms, (double)rtts_ms[i] + 1000.0 / 60, 3);
        assert_in_range(late_ms + 1000, 980, 990);
    }
}

// Seed 530478 of the storm: a room that waited for a player stood still for 200 ms. The clock goes
// back within two seconds; a lead that became shorter meanwhile made every input late then.
TEST("inputs that are early because the clock is ahead do not make the lead shorter") {
    cairn_clock clock;
    cairn_input_lead lead;
    cairn_clock_start(&clock, 120);
    cairn_input_lead_start(&lead, 120);
    lead.lead_ns = 110e6;
    for (uint64_t i = 1; i < 160; i++) {
        const uint64_t now_ns = i * 50 * MS;
        cairn_clock_observe(&clock, now_ns, i < 20 ? 6 * i : 6 * i - 24);
        cairn_clock_advance(&clock, now_ns);
        // By the true tick of this moment an input is late by a round trip less its lead.
        const double ahead_ns =
            (cairn_clock_tick(&clock, now_ns) - (double)clock.newest_tick) * clock.tick_ns;
        const double late_ns = 100e6 - lead.lead_ns - ahead_ns;
        const cairn_wire_timing timing = {
            .input_acknowledged = i, .lateness_us_worst = (int32_t)(late_ns / 1000)};
        assert_true(late_ns <= 0);
        cairn_input_lead_feedback(
            &lead, now_ns, 100 * MS, 0, cairn_clock_ahead_ns(&clock), &timing);
    }
    EXPECT_NEAR(cairn_clock_ahead_ns(&clock), 0, 10e6);
    EXPECT_NEAR(lead.lead_ns, 108.3e6, 2e6);
}

TEST("a repeated report changes nothing") {
    cairn_input_lead lead;
    cairn_input_lead_start(&lead, 60);
    cairn_wire_timing timing = {.input_acknowledged = 9, .lateness_us_worst = 30000};
    cairn_input_lead_feedback(&lead, 1000 * MS, 0, 0, 0, &timing);
    double once = lead.lead_ns;
    cairn_input_lead_feedback(&lead, 9000 * MS, 0, 0, 0, &timing);
    EXPECT_NEAR(lead.lead_ns, once, 0);
}

TEST("reports about inputs made before a change are ignored") {
    cairn_input_lead lead;
    cairn_input_lead_start(&lead, 60);
    cairn_wire_timing timing = {.lateness_us_worst = 50000};
    for (uint64_t i = 1; i < 8; i++) {
        timing.input_acknowledged = i;
        cairn_input_lead_feedback(&lead, 1000 * MS + i * 50 * MS, 300 * MS, 0, 0, &timing);
    }
    EXPECT_NEAR(lead.lead_ns * 1e-6, 133.3 + 50 + 16.7, 1);
}

// A report at a time tells that an input was late by a round trip less the lead.
static void report_at(cairn_input_lead *lead, uint64_t now_ns, uint64_t late_ms) {
    const cairn_wire_timing timing = {.input_acknowledged = now_ns / MS,
        .lateness_us_worst = (int32_t)(late_ms * 1000) - (int32_t)(lead->lead_ns / 1000)};
    cairn_input_lead_feedback(lead, now_ns, 336 * MS, 0, 0, &timing);
}

// Seed 24005136 of the storm: every fifth datagram was lost and snapshots were rare, so each report
// seemed to end a silence, and none was believed.
TEST("reports that are always far apart are believed") {
    const uint64_t spacings_ms[] = {50, 200, 260, 400, 900, 2000};
    for (size_t i = 0; i < sizeof spacings_ms / sizeof spacings_ms[0]; i++) {
        cairn_input_lead lead;
        cairn_input_lead_start(&lead, 60);
        for (uint64_t n = 1; n < 80; n++) { // the path becomes longer
            report_at(&lead, n * spacings_ms[i] * MS, n < 20 ? 40 : 336);
        }
        EXPECT_NEAR(lead.lead_ns * 1e-6, 336 + 1000.0 / 60, 1);
    }
}

TEST("reports about inputs that were made during a silence are not believed") {
    const uint64_t spacings_ms[] = {50, 200, 400};
    for (size_t i = 0; i < sizeof spacings_ms / sizeof spacings_ms[0]; i++) {
        cairn_input_lead lead;
        cairn_input_lead_start(&lead, 60);
        uint64_t now_ns = 0;
        for (uint64_t n = 1; n < 40; n++) {
            now_ns += spacings_ms[i] * MS;
            report_at(&lead, now_ns, 336);
        }
        const double settled_ns = lead.lead_ns;
        now_ns += 3000 * MS;
        report_at(&lead, now_ns, 3000);
        report_at(&lead, now_ns + 50 * MS, 3000);
        EXPECT_NEAR(lead.lead_ns, settled_ns, 0);
        report_at(&lead, now_ns + 500 * MS, 436); // the path has become longer
        EXPECT_NEAR(lead.lead_ns * 1e-6, 436 + 1000.0 / 60, 1);
    }
}

TEST("a report of any value keeps the lead within its bounds") {
    const int32_t reports_us[] = {INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < 2; i++) {
        cairn_input_lead lead;
        cairn_input_lead_start(&lead, 60);
        for (uint64_t n = 1; n < 50; n++) {
            cairn_wire_timing timing = {
                .input_acknowledged = n, .lateness_us_worst = reports_us[i]};
            cairn_input_lead_feedback(&lead, n * 1000 * MS, 0, 0, 0, &timing);
            assert_true(lead.lead_ns >= 0 && lead.lead_ns <= CAIRN_INPUT_LEAD_NS_MAX);
        }
    }
}

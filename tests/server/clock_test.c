// SPDX-License-Identifier: MIT
// A wall clock that is wrong or jumps is noticed, told and recovered from.
#include "tests/kit/test.h"

#include <string.h>

#include "net/netcode_server_parts.h"
#include "server/core/server_state.h"
#include "tests/server/story.h"
#include <cairn/server_statistics.h>

#define TWO_HOURS_S 7200

static story s; // too large for a stack
static int64_t error_s;

AFTER_EACH {
    story_end(&s);
    error_s = 0;
}

static uint64_t read_unix_ns(void *user) {
    const story *told = user;
    return STORY_START_UNIX_S * CAIRN_NS_PER_S + told->now_ns - STORY_START_NS +
           (uint64_t)(error_s * (int64_t)CAIRN_NS_PER_S);
}

static void start(void) {
    cairn_server_config config = story_config();
    config.unix_ns = read_unix_ns;
    story_start(&s, &config);
    story_run_ms(&s, 2000);
    assert_int_equal(story_statistics(&s).clock_jumps, 0);
}

TEST("clients connect as soon as a wrong clock is right again") {
    static const int64_t errors_s[] = {TWO_HOURS_S, -TWO_HOURS_S};
    for (size_t i = 0; i < 2; ++i) {
        start();
        error_s = errors_s[i];
        story_run_ms(&s, 1100);
        assert_int_equal(story_statistics(&s).clock_jumps, 1);
        assert_in_range(
            story_statistics(&s).clock_jump_ms, errors_s[i] * 1000 - 1, errors_s[i] * 1000 + 1);
        const uint32_t client = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
        story_run_ms(&s, 2000);
        assert_false(s.clients[client].welcomed);
        assert_int_equal(story_statistics(&s).clock_warnings, 1);
        assert_true(story_has_event(&s, "clock_suspect"));
        error_s = 0;
        story_run_ms(&s, 1300);
        assert_true(s.clients[client].welcomed);
        assert_int_equal(story_statistics(&s).clock_jumps, 2);
        assert_int_equal(story_statistics(&s).clock_warnings, 1);
    }
}

TEST("eight tokens that are refused in a row make a clock suspect") {
    start();
    error_s = TWO_HOURS_S;
    story_run_ms(&s, 1100);
    story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    uint32_t refused = 0;
    for (uint32_t ms = 0; ms < 4000 && story_statistics(&s).clock_warnings == 0; ms += 4) {
        story_run_ms(&s, 4);
        refused = s.server->context.netcode->token_times.refused;
    }
    assert_int_equal(story_statistics(&s).clock_warnings, 1);
    assert_int_equal(refused, 8);
}

TEST("a jump of the clock disturbs no client that is connected") {
    start();
    const uint32_t client = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 500);
    static const int64_t errors_s[] = {TWO_HOURS_S, 0, -TWO_HOURS_S, 0, -1000000, 1000000};
    for (size_t i = 0; i < sizeof errors_s / sizeof *errors_s; ++i) {
        error_s = errors_s[i];
        story_run_ms(&s, 2100);
        assert_int_equal(story_tick(&s), cairn_world_tick(s.clients[client].world));
    }
    assert_true(story_has_event(&s, "clock_jumped"));
    assert_false(story_has_event(&s, "clock_suspect"));
    assert_int_equal(story_statistics(&s).total.ticks_skipped, 0);
    assert_int_equal(s.clients[client].roots_wrong, 0);
}

TEST("a clock that is corrected by less than a second did not jump") {
    cairn_server_config config = story_config();
    config.unix_ns = read_unix_ns;
    story_start(&s, &config);
    for (uint32_t i = 0; i < 20; ++i) {
        story_run_ms(&s, 1000);
    }
    assert_int_equal(story_statistics(&s).clock_jumps, 0);
}

TEST("statistics name the reasons of drops") {
    start();
    error_s = TWO_HOURS_S;
    story_run_ms(&s, 1100);
    story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 500);
    const cairn_address nobody = {.family = CAIRN_ADDRESS_IPV4, .port = 9, .ip = {10, 0, 0, 9}};
    cairn_server_receive(s.server, s.now_ns, &nobody, (const uint8_t[]){1, 2, 3}, 3);
    const cairn_server_statistics statistics = story_statistics(&s);
    cairn_server_drop drops[CAIRN_SERVER_DROPS_MAX];
    const uint32_t count = cairn_server_drops_read(&statistics, drops);
    assert_int_equal(count, 2);
    assert_string_equal(drops[0].layer, "netcode");
    assert_string_equal(drops[0].reason, "size does not fit the packet type");
    assert_int_equal(drops[0].count, 1);
    assert_string_equal(drops[1].reason, "token expired");
    assert_true(drops[1].count >= 4);
}

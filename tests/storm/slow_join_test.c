// SPDX-License-Identifier: MIT
// Clients that simulate and join over paths on which the state takes far longer than the 1,024
// ticks of the command log: 1.5 MB over 70 kB/s take 21 s, over 14 kB/s nearly two minutes.
#include "tests/kit/test.h"

#include <stdio.h>
#include <string.h>

#include "client_lib/client_parts.h"
#include "server/core/server_state.h"
#include "server/replicate/replication.h"
#include "tests/kit/rig.h"
#include "tests/storm/large_state.h"
#include <cairn/control.h>
#include <cairn/server_statistics.h>

// A client in slot 1 that lies acknowledges no tick of the last ones of this room, however many it
// holds. The name is the linker's.
static const cairn_room *lied_to; // NULL: it is honest
static uint64_t lies_ticks;
uint64_t __real_cairn_lockstep_acknowledged(const cairn_lockstep *lockstep);
uint64_t __wrap_cairn_lockstep_acknowledged(const cairn_lockstep *lockstep);
uint64_t __wrap_cairn_lockstep_acknowledged(const cairn_lockstep *lockstep) {
    static uint64_t first;
    if (lied_to == NULL || lockstep->timeline.game_events.slot != 1) {
        return __real_cairn_lockstep_acknowledged(lockstep);
    }
    if (!lockstep->timeline.adopted) {
        first = lockstep->timeline.first;
        return first;
    }
    const uint64_t end = lied_to->scheduler.tick;
    return end > first + lies_ticks ? end - lies_ticks : first;
}

#define MS UINT64_C(1000000)
#define SECOND CAIRN_NS_PER_S

static const cairn_scene *scene_at(uint32_t tick_rate_hz) {
    return tick_rate_hz == 30    ? kit_scene(WALL("30"))
           : tick_rate_hz == 120 ? kit_scene(WALL("120"))
                                 : kit_scene(WALL("60"));
}

static cairn_client_config config_of(cairn_client_mode mode) {
    cairn_client_config config = rig_config(mode);
    config.bodies_max = 8192;
    config.shapes_max = 8192;
    return config;
}

// A client behind a line of this rate towards it, with a queue of 100 ms.
static uint32_t join_slowly(rig *r, const cairn_client_config *config, uint32_t bytes_per_s) {
    const cairn_virtual_path path = {.delay_ns = 20 * MS};
    const uint32_t client = rig_join(r, config, &path);
    cairn_virtual_path_between(
        r->system.network, r->system.server_endpoint, r->system.clients[client].endpoint)
        ->bottleneck = cairn_virtual_bottleneck_add(
        r->system.network, (cairn_virtual_bottleneck){bytes_per_s, 100 * MS});
    return client;
}

static const cairn_room *room_of(const rig *r) {
    return cairn_room_table_at(&r->system.server->rooms, CAIRN_ROOM_MAIN);
}

static uint64_t ticks_behind(const rig *r, uint32_t client) {
    const uint64_t end = room_of(r)->scheduler.tick;
    const uint64_t confirmed = cairn_client_confirmed_tick(rig_client(r, client));
    return end > confirmed ? end - confirmed : 0;
}

// Others play meanwhile, so that there are commands to be kept.
static void run_busily(rig *r, uint64_t ms) {
    const cairn_client_input input = {
        .buttons = (uint32_t)(rig_server_now_ns(r) / (100 * MS) % 4), .move = {0.5f, 0, 0}};
    cairn_client_push_input(rig_client(r, ALICE), &input);
    rig_run_ms(r, ms);
}

// Returns after how many milliseconds the client holds a world, or gives up.
static uint64_t run_until_playing(rig *r, uint32_t client, uint64_t patience_s) {
    const uint64_t from_ns = rig_server_now_ns(r);
    while (rig_state(r, client) < CAIRN_CLIENT_PLAYING &&
           rig_server_now_ns(r) - from_ns < patience_s * SECOND) {
        run_busily(r, 100);
    }
    return (rig_server_now_ns(r) - from_ns) / MS;
}

// Returns after how many milliseconds it steps what was stepped half a second ago.
static uint64_t run_until_caught_up(rig *r, uint32_t client, uint64_t patience_s) {
    const uint64_t from_ns = rig_server_now_ns(r);
    const uint32_t rate_hz = room_of(r)->settings.tick_rate_hz;
    while (ticks_behind(r, client) > rate_hz / 2 &&
           rig_server_now_ns(r) - from_ns < patience_s * SECOND) {
        run_busily(r, 100);
    }
    return (rig_server_now_ns(r) - from_ns) / MS;
}

static void expect_same_roots(const rig *r, uint32_t client) {
    const cairn_client_statistics own = rig_statistics(r, client);
    assert_int_equal(own.simulation.roots_differed, 0);
    assert_int_equal(rig_server_statistics(r).total.roots_differed, 0);
    const uint64_t confirmed = cairn_client_confirmed_tick(rig_client(r, client));
    cairn_hash128 ours;
    assert_true(cairn_command_log_root(room_of(r)->command_log, confirmed - 1, &ours));
    const cairn_timeline_tick *theirs =
        cairn_timeline_tick_read(&rig_client(r, client)->lockstep.timeline, confirmed - 1);
    assert_non_null(theirs);
    assert_true(cairn_hash_equal(ours, theirs->root));
}

static void print_join(uint32_t rate_hz, uint32_t bytes_per_s, const rig *r, uint32_t client,
    uint64_t joined_ms, uint64_t behind, uint64_t caught_up_ms) {
    const cairn_server_statistics s = rig_server_statistics(r);
    print_message("%3u Hz, %5u B/s: a world after %6.1f s, %llu ticks behind, caught up %4.1f s "
                  "later; %llu transfers, mode %d %s\n",
        rate_hz, bytes_per_s, (double)joined_ms * 1e-3, (unsigned long long)behind,
        (double)caught_up_ms * 1e-3, (unsigned long long)s.total.state_transfers,
        (int)cairn_client_mode_now(rig_client(r, client)),
        cairn_client_mode_text(rig_client(r, client)));
}

TEST("a client plays although its state takes longer than the 1,024 last ticks") {
    static const struct {
        uint32_t rate_hz, bytes_per_s;
        cairn_client_mode mode;
    } rows[] = {
        {30, 35000, CAIRN_CLIENT_LOCKSTEP}, // 43 s
        {60, 70000, CAIRN_CLIENT_LOCKSTEP}, // 21 s
        {60, 70000, CAIRN_CLIENT_PREDICT}, {60, 70000, CAIRN_CLIENT_HEAL},
        {120, 70000, CAIRN_CLIENT_LOCKSTEP}, {120, 14000, CAIRN_CLIENT_PREDICT}, // 107 s
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const cairn_client_config first = config_of(CAIRN_CLIENT_LOCKSTEP);
        RIG(r, .seed = 1, .scene = scene_at(rows[i].rate_hz), .clients = 1, .config = &first,
            .unwatched = true);
        const cairn_client_config config = config_of(rows[i].mode);
        const uint32_t late = join_slowly(&r, &config, rows[i].bytes_per_s);
        const uint64_t joined_ms = run_until_playing(&r, late, 150);
        const uint64_t behind = ticks_behind(&r, late);
        const uint64_t caught_up_ms = run_until_caught_up(&r, late, 60);
        print_join(rows[i].rate_hz, rows[i].bytes_per_s, &r, late, joined_ms, behind, caught_up_ms);
        expect_playing(&r, late);
        assert_int_equal(cairn_client_mode_now(rig_client(&r, late)), rows[i].mode);
        assert_true(behind > 1024);
        assert_in_range(ticks_behind(&r, late), 0, rows[i].rate_hz / 2);
        run_busily(&r, 3000);
        expect_same_roots(&r, late);
        assert_int_equal(rig_server_statistics(&r).total.state_transfers, 2);
        assert_int_equal(rig_server_statistics(&r).total.clients_demoted, 0);
    }
}

// Each look at it is 9 ms later: an advance steps one tick before its 8 ms are over.
static uint64_t slow_clock(void *context) {
    uint64_t *now_ns = context;
    return *now_ns += 9 * MS;
}

TEST("a client that steps little faster than its room catches up, however long it takes") {
    uint64_t clock_ns = 0;
    const cairn_client_config first = config_of(CAIRN_CLIENT_LOCKSTEP);
    RIG(r, .seed = 7, .scene = scene_at(60), .clients = 1, .config = &first, .unwatched = true);
    cairn_client_config config = config_of(CAIRN_CLIENT_PREDICT);
    config.clock_ns = slow_clock;
    config.clock_context = &clock_ns;
    const uint32_t late = join_slowly(&r, &config, 14000);
    const uint64_t joined_ms = run_until_playing(&r, late, 150);
    const uint64_t behind = ticks_behind(&r, late);
    const uint64_t caught_up_ms = run_until_caught_up(&r, late, 200);
    print_join(60, 14000, &r, late, joined_ms, behind, caught_up_ms);
    assert_int_equal(cairn_client_mode_now(rig_client(&r, late)), CAIRN_CLIENT_PREDICT);
    assert_in_range(ticks_behind(&r, late), 0, 30);
    assert_true(caught_up_ms > 20000);
    expect_same_roots(&r, late);
}

// Runs until the client is served by snapshots. Returns after how many seconds, and the most bytes
// that the command log took meanwhile.
static uint64_t run_until_refused(rig *r, uint32_t client, uint64_t patience_s, size_t *most) {
    const uint64_t from_ns = rig_server_now_ns(r);
    *most = 0;
    while (cairn_client_mode_now(rig_client(r, client)) != CAIRN_CLIENT_INTERPOLATE &&
           rig_server_now_ns(r) - from_ns < patience_s * SECOND) {
        run_busily(r, 100);
        const size_t bytes = cairn_command_log_bytes(room_of(r)->command_log);
        *most = bytes > *most ? bytes : *most;
    }
    return (rig_server_now_ns(r) - from_ns) / SECOND;
}

// One state was sent, the reason is named, the world is shown, and the log is small again. It may
// have two blocks of commands instead of one, because the second player sends commands, too.
static void expect_refused(rig *r, uint32_t client, const char *reason, size_t before) {
    (void)run_until_playing(r, client, 240);
    expect_playing(r, client);
    run_busily(r, 2000);
    assert_non_null(strstr(cairn_client_mode_text(rig_client(r, client)), reason));
    assert_int_equal(rig_server_statistics(r).total.state_transfers, 2);
    assert_int_equal(rig_server_statistics(r).total.clients_demoted, 1);
    assert_true(cairn_command_log_bytes(room_of(r)->command_log) <= 2 * before); // a block more
    expect_playing(r, ALICE);
    assert_int_equal(rig_statistics(r, ALICE).simulation.roots_differed, 0);
}

TEST("after three minutes a state is given up, and the client is told why and shown snapshots") {
    const cairn_client_config first = config_of(CAIRN_CLIENT_LOCKSTEP);
    RIG(r, .seed = 2, .scene = scene_at(60), .clients = 1, .config = &first, .unwatched = true);
    const size_t before = cairn_command_log_bytes(room_of(&r)->command_log);
    const uint32_t late = join_slowly(&r, &first, 6000);
    size_t most;
    const uint64_t after_s = run_until_refused(&r, late, 300, &most);
    print_message("refused after %llu s, log at most %zu bytes: %s\n", (unsigned long long)after_s,
        most, cairn_client_mode_text(rig_client(&r, late)));
    // What is in the stream already arrives before the reason.
    assert_in_range(after_s, 180, 280);
    expect_refused(&r, late, "too slow to join", before);
}

// A client joins and then lies: it acknowledges none of the last `ticks` ticks. It is served by
// snapshots after some seconds, which are returned.
static uint64_t seconds_until_liar_is_refused(rig *r, uint64_t ticks, size_t *most) {
    const cairn_client_config config = config_of(CAIRN_CLIENT_LOCKSTEP);
    const size_t before = cairn_command_log_bytes(room_of(r)->command_log);
    lied_to = room_of(r);
    lies_ticks = ticks;
    const uint32_t late = join_slowly(r, &config, 500000);
    const uint64_t after_s = run_until_refused(r, late, 1200, most);
    lied_to = NULL;
    print_message(
        "refused after %llu s, log at most %zu bytes\n", (unsigned long long)after_s, *most);
    assert_in_range(*most, before, CAIRN_COMMAND_LOG_KEPT_BYTES_MAX);
    expect_refused(r, late, "too slow to join", before);
    return after_s;
}

TEST("a client that acknowledges no tick has the log kept for three minutes and once") {
    const cairn_client_config first = config_of(CAIRN_CLIENT_LOCKSTEP);
    RIG(r, .seed = 3, .scene = scene_at(60), .clients = 1, .config = &first, .unwatched = true);
    const size_t before = cairn_command_log_bytes(room_of(&r)->command_log);
    size_t most;
    const uint64_t after_s = seconds_until_liar_is_refused(&r, UINT64_MAX / 2, &most);
    assert_in_range(after_s, 178, 185);
    assert_true(most >= 2 * before);
}

TEST("a client that stays a minute behind has the log kept for a quarter of an hour") {
    const cairn_client_config first = config_of(CAIRN_CLIENT_LOCKSTEP);
    RIG(r, .seed = 4, .scene = scene_at(30), .clients = 1, .config = &first, .unwatched = true);
    size_t most;
    assert_in_range(seconds_until_liar_is_refused(&r, 60 * 30, &most), 898, 910);
}

static void with_control(cairn_server_config *config) {
    config->control = true;
}

static void set_rate(rig *r, uint32_t operator, uint32_t speed_thousandths) {
    const cairn_control_request request = {.verb = CAIRN_CONTROL_RATE, .rate = {speed_thousandths}};
    rig_order(r, operator, & request);
}

TEST("a client gets a second state and plays if its room runs fast while it joins") {
    RIG(r, .seed = 8, .scene = scene_at(60), .configure = with_control, .unwatched = true);
    cairn_client_config config = config_of(CAIRN_CLIENT_INTERPOLATE);
    r.operators = true;
    rig_join(&r, &config, NULL);
    rig_wait_to_play(&r);
    r.operators = false;
    set_rate(&r, ALICE, 16000);
    const uint64_t from = room_of(&r)->scheduler.tick;
    config.mode = CAIRN_CLIENT_LOCKSTEP;
    const uint32_t late = join_slowly(&r, &config, 70000);
    rig_run_ms(&r, 15000);
    assert_true(room_of(&r)->scheduler.tick - from > 180 * 60);
    set_rate(&r, ALICE, 1000);
    (void)run_until_playing(&r, late, 90);
    (void)run_until_caught_up(&r, late, 30);
    expect_playing(&r, late);
    assert_int_equal(cairn_client_mode_now(rig_client(&r, late)), CAIRN_CLIENT_LOCKSTEP);
    assert_in_range(ticks_behind(&r, late), 0, 30);
    assert_in_range(rig_server_statistics(&r).total.state_transfers, 2, 4);
    expect_same_roots(&r, late);
}

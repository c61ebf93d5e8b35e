// SPDX-License-Identifier: MIT
// Clients whose world differs from the server's although their commands agree.

#include "tests/kit/test.h"

#include <stdio.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "client_lib/client_probe.h"
#include "tests/kit/rig.h"

static cairn_timeline *timeline_of(const rig *p, uint32_t client) {
    return cairn_client_probe_of(rig_client(p, client)).timeline;
}

static cairn_client_resync_record last_record(const rig *p, uint32_t client) {
    cairn_client_resync_record records[CAIRN_CLIENT_RESYNCS_HELD];
    const uint32_t count =
        cairn_client_resyncs(rig_client(p, client), records, CAIRN_CLIENT_RESYNCS_HELD);
    assert_true(count > 0);
    return records[count - 1];
}

// The world equals the server's, and stays equal.
static void expect_valid_world(rig *p, uint32_t client) {
    const cairn_client_statistics before = rig_statistics(p, client);
    rig_play(p, 9, 600);
    const cairn_client_statistics after = rig_statistics(p, client);
    assert_false(timeline_of(p, client)->differs);
    assert_int_equal(after.simulation.roots_differed, before.simulation.roots_differed);
    assert_true(after.simulation.roots_compared > before.simulation.roots_compared + 20);
}

// `path` NULL: 20 ms each way, no loss.
static void start(rig *p, uint64_t seed, cairn_client_mode mode, const cairn_virtual_path *path) {
    const cairn_client_config config = rig_config(mode);
    rig_start(p, .seed = seed, .clients = 1, .config = &config, .path = path, .timeout_s = 30);
    rig_play(p, seed, 1000);
}

#define STARTED(name, ...)                                                                         \
    SCOPED(rig) name;                                                                              \
    start(&name, __VA_ARGS__)

static const cairn_client_mode repairing_modes[] = {CAIRN_CLIENT_HEAL, CAIRN_CLIENT_PREDICT};

TEST("a world whose memory changed is stepped again without the server") {
    for (uint32_t i = 0; i < 2; ++i) {
        STARTED(p, 50 + i, repairing_modes[i], NULL);
        assert_int_equal(rig_statistics(&p, 0).resync.count, 0);
        // A body gets another velocity from outside, as from a fault of the memory.
        assert_int_equal(cairn_body_set_velocity(timeline_of(&p, 0)->world, 5,
                             (cairn_vec3){.y = 2.0f}, (cairn_vec3){0}),
            CAIRN_OK);
        rig_run_ms(&p, 200);
        const cairn_client_resync_record record = last_record(&p, 0);
        assert_int_equal(record.cause, CAIRN_RESYNC_BY_STEPPING);
        assert_int_equal(record.bytes, 0);
        assert_int_equal(rig_server_statistics(&p).total.resync_requests, 0);
        expect_valid_world(&p, 0);
    }
}

TEST("a world that was stepped wrongly is repaired with the elements that differ") {
    for (uint32_t i = 0; i < 2; ++i) {
        STARTED(p, 60 + i, repairing_modes[i], NULL);
        assert_true(cairn_client_probe_damage(rig_client(&p, 0), 5));
        rig_run_ms(&p, 300);
        const cairn_client_resync_record record = last_record(&p, 0);
        const cairn_server_statistics server = rig_server_statistics(&p);
        assert_int_equal(record.cause, CAIRN_RESYNC_BY_ELEMENTS);
        assert_in_range(record.elements, 1, 40);
        assert_in_range(record.bytes, 640, 2047 + 4096 * (record.round_trips - 1));
        assert_int_equal(server.total.resync_responses[CAIRN_RESYNC_DONE], 1);
        assert_int_equal(server.total.resync_elements, record.elements);
        assert_int_equal(rig_statistics(&p, 0).resync.repairs_refused, 0);
        assert_int_equal(rig_statistics(&p, 0).simulation.states_loaded, 1);
        expect_valid_world(&p, 0);
    }
}

TEST("a repair succeeds over a path with loss and jitter") {
    const cairn_virtual_path path = {
        .delay_ns = 20000000, .jitter_ns = 40000000, .loss_permille = 200, .repeat_permille = 50};
    for (uint32_t i = 0; i < 2; ++i) {
        STARTED(p, 70 + i, repairing_modes[i], &path);
        assert_true(cairn_client_probe_damage(rig_client(&p, 0), 6));
        rig_run_ms(&p, 2000);
        assert_true(rig_statistics(&p, 0).resync.count >= 1);
        expect_valid_world(&p, 0);
    }
}

// Runs until the client has sent its sketch, and answers it with `response` before the server does.
static void answer_for_the_server(rig *p, cairn_resync_response response) {
    const cairn_client_probe client = cairn_client_probe_of(rig_client(p, 0));
    for (int i = 0;
         i < 200 && client.resync->repair.state != CAIRN_CLIENT_REPAIR_ELEMENTS_REQUESTED; ++i) {
        rig_run_ms(p, 2);
    }
    assert_int_equal(client.resync->repair.state, CAIRN_CLIENT_REPAIR_ELEMENTS_REQUESTED);
    response.tick = client.resync->repair.tick;
    response.build = "";
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_RESYNC_RESPONSE, .resync_response = response};
    rig_deliver(p, 0, &message);
}

// Both payloads are sent as everything that differs. An empty list applies to any world and
// changes nothing; eight bytes of ones are malformed.
TEST("a repair after which the world still differs is refused, and the state is requested") {
    static const uint8_t no_elements[4] = {0};
    static const uint8_t malformed[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    for (uint32_t i = 0; i < 4; ++i) {
        STARTED(p, 160 + i, repairing_modes[i % 2], NULL);
        assert_true(cairn_client_probe_damage(rig_client(&p, 0), 5));
        answer_for_the_server(
            &p, (cairn_resync_response){.verdict = CAIRN_RESYNC_DONE,
                    .payload = i < 2 ? no_elements : malformed,
                    .payload_size = i < 2 ? sizeof no_elements : sizeof malformed});
        assert_int_equal(rig_statistics(&p, 0).resync.repairs_refused, 1);
        assert_int_equal(cairn_client_probe_of(rig_client(&p, 0)).resync->repair.state,
            CAIRN_CLIENT_REPAIR_STATE_REQUESTED);
        rig_run_ms(&p, 2000);
        const cairn_client_resync_record record = last_record(&p, 0);
        assert_int_equal(record.cause, CAIRN_RESYNC_BY_STATE);
        assert_int_equal(record.elements, 0);
        assert_int_equal(rig_statistics(&p, 0).simulation.states_loaded, 2);
        assert_int_equal(rig_statistics(&p, 0).resync.repairs_refused, 1);
        expect_valid_world(&p, 0);
    }
}

// A server that is short of memory, for example, refuses it; nothing else would ask again.
TEST("a state that is refused is requested again later") {
    const uint32_t verdicts[] = {CAIRN_RESYNC_TOO_MUCH, CAIRN_RESYNC_TICK_GONE,
        CAIRN_RESYNC_TOO_OFTEN, CAIRN_RESYNC_MALFORMED};
    for (uint32_t i = 0; i < 4; ++i) {
        STARTED(p, 175 + i, repairing_modes[i % 2], NULL);
        assert_true(cairn_client_probe_damage(rig_client(&p, 0), 5));
        answer_for_the_server(&p, (cairn_resync_response){.verdict = CAIRN_RESYNC_TICK_GONE});
        cairn_client_resync *resync = cairn_client_probe_of(rig_client(&p, 0)).resync;
        assert_int_equal(resync->repair.state, CAIRN_CLIENT_REPAIR_STATE_REQUESTED);
        const cairn_resync_queue_entry *entry = &resync->queue.entries[CAIRN_RESYNC_FOR_REPAIR];
        for (int k = 0; k < 10 && entry->open; ++k) {
            rig_run_ms(&p, 2);
        }
        assert_false(entry->open); // sent
        const cairn_message refusal = {.kind = CAIRN_MESSAGE_RESYNC_RESPONSE,
            .resync_response = {.tick = resync->repair.tick, .verdict = verdicts[i], .build = ""}};
        rig_deliver(&p, 0, &refusal);
        assert_true(entry->open);
        rig_run_ms(&p, 2000);
        assert_int_equal(last_record(&p, 0).cause, CAIRN_RESYNC_BY_STATE);
        expect_valid_world(&p, 0);
    }
}

// The path is cut for longer than the client waits for an answer.
TEST("a request whose answer is lost is sent again") {
    STARTED(p, 171, CAIRN_CLIENT_HEAL, NULL);
    assert_true(cairn_client_probe_damage(rig_client(&p, 0), 5));
    const cairn_client_repair *repair = &cairn_client_probe_of(rig_client(&p, 0)).resync->repair;
    for (int i = 0; i < 200 && repair->record.round_trips == 0; ++i) {
        rig_run_ms(&p, 2);
    }
    assert_int_equal(repair->record.round_trips, 1);
    rig_cut(&p, 0, true);
    rig_run_ms(&p, CAIRN_RESYNC_RETRY_NS / 1000000 - 100);
    assert_int_equal(repair->record.round_trips, 1);
    rig_run_ms(&p, 200);
    assert_int_equal(repair->state, CAIRN_CLIENT_REPAIR_ELEMENTS_REQUESTED);
    assert_int_equal(repair->record.round_trips, 2);
    rig_cut(&p, 0, false);
    rig_run_ms(&p, 4000);
    assert_true(last_record(&p, 0).round_trips >= 2);
    expect_valid_world(&p, 0);
}

TEST("loss and jitter alone cause no repair and no change of mode") {
    const cairn_virtual_path path = {
        .delay_ns = 20000000, .jitter_ns = 70000000, .loss_permille = 150, .repeat_permille = 50};
    SCOPED(rig) p;
    const cairn_client_config heal = rig_config(CAIRN_CLIENT_HEAL);
    const cairn_client_config predict = rig_config(CAIRN_CLIENT_PREDICT);
    rig_start(&p, .seed = 80);
    rig_join(&p, &heal, &path);
    rig_join(&p, &predict, &path);
    rig_wait_to_play(&p);
    rig_play(&p, 3, 5000);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(rig_statistics(&p, i).resync.count, 0);
        assert_int_equal(rig_statistics(&p, i).simulation.roots_differed, 0);
        assert_int_equal(cairn_client_mode_now(rig_client(&p, i)),
            i == 0 ? CAIRN_CLIENT_HEAL : CAIRN_CLIENT_PREDICT);
    }
    assert_int_equal(rig_server_statistics(&p).total.resync_requests, 0);
}

// The path is cut for longer than the server keeps its states.
TEST("a world that differs at a tick the server no longer holds is replaced by its state") {
    for (uint32_t i = 0; i < 2; ++i) {
        STARTED(p, 90 + i, repairing_modes[i], NULL);
        cairn_client *client = rig_client(&p, 0);
        const uint64_t confirmed = cairn_client_confirmed_tick(client);
        assert_true(cairn_client_probe_damage(client, 5));
        rig_cut(&p, 0, true);
        rig_run_ms(&p, 3000);
        rig_cut(&p, 0, false);
        rig_run_ms(&p, 3000);
        const cairn_client_statistics s = rig_statistics(&p, 0);
        assert_int_equal(last_record(&p, 0).cause, CAIRN_RESYNC_BY_STATE);
        assert_in_range(s.simulation.first_difference_tick, confirmed, confirmed + 16);
        assert_int_equal(s.simulation.states_loaded, 2);
        assert_int_equal(cairn_client_rollback_count(client, CAIRN_ROLLBACK_STATE_REPLACED),
            repairing_modes[i] == CAIRN_CLIENT_PREDICT ? 1 : 0);
        assert_true(rig_server_statistics(&p).total.resync_responses[CAIRN_RESYNC_TICK_GONE] > 0);
        assert_int_equal(rig_server_statistics(&p).total.states_resent, 1);
        expect_valid_world(&p, 0);
    }
}

TEST("a client whose world differs again and again is demoted to snapshots with a reason") {
    for (uint32_t i = 0; i < 2; ++i) {
        STARTED(p, 100 + i, repairing_modes[i], NULL);
        cairn_client *client = rig_client(&p, 0);
        uint32_t rounds = 0;
        while (cairn_client_mode_now(client) != CAIRN_CLIENT_INTERPOLATE && rounds++ < 60) {
            assert_true(cairn_client_probe_damage(rig_client(&p, 0), 5));
            rig_run_ms(&p, 150);
        }
        assert_int_equal(cairn_client_mode_now(client), CAIRN_CLIENT_INTERPOLATE);
        assert_non_null(strstr(cairn_client_mode_text(client), "again after each repair"));
        assert_null(cairn_client_world(client));
        rig_play(&p, 5, 1000);
        assert_true(rig_look(&p, 0));
        assert_int_equal(rig_state(&p, 0), CAIRN_CLIENT_PLAYING);
        assert_true(rig_statistics(&p, 0).snapshots.deltas > 10);
        assert_int_equal(rig_server_statistics(&p).total.clients_demoted, 1);
        assert_int_equal(rig_server_statistics(&p).protocol_violations, 0);
    }
}

// More bodies than the largest sketch can name, in a state of few bytes.
static const cairn_scene *scene_of_many(void) {
    return kit_scene(
        "{'name': 'many', 'rules': 'sandbox', 'body_capacity': 512,"
        " 'shape_capacity': 512, 'contact_capacity': 512, 'bodies': ["
        "{'kind': 'dynamic', 'position': [0, 0.5, 0], 'grid_count': [20, 1, 20],"
        " 'grid_spacing': [2, 1, 2], 'shapes': [{'kind': 'sphere', 'radius': 0.5}]}]}");
}

// Too much differs for a sketch. After four of them the server tells the client to request the
// state.
TEST("a client that requests the state for each repair gives up before the server demotes it") {
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_client_config config = rig_config(repairing_modes[i]);
        RIG(p, .seed = 105 + i, .clients = 1, .config = &config, .scene = scene_of_many());
        rig_wait_to_play(&p);
        cairn_client *client = rig_client(&p, 0);
        const cairn_client_repair *repair = &cairn_client_probe_of(client).resync->repair;
        uint32_t rounds = 0; // some may be repaired by stepping
        while (cairn_client_mode_now(client) != CAIRN_CLIENT_INTERPOLATE && rounds++ < 30) {
            uint32_t damaged = 0;
            for (uint32_t body = 0; body < 2000; ++body) {
                damaged += cairn_client_probe_damage(client, body) ? 1 : 0;
            }
            assert_true(damaged >= 400);
            for (uint32_t k = 0; k < 400 && (k < 10 || repair->state != CAIRN_CLIENT_REPAIR_IDLE);
                 ++k) {
                rig_run_ms(&p, 5);
            }
        }
        const cairn_server_room_statistics server = rig_server_statistics(&p).total;
        assert_non_null(strstr(cairn_client_mode_text(client), "again after each repair"));
        assert_true(server.states_resent >= CAIRN_CLIENT_REPAIR_ATTEMPTS_MAX - 3);
        assert_true(server.resync_responses[CAIRN_RESYNC_NO_MORE_SKETCHES] > 0);
    }
}

TEST("a client that fails the self-test is demoted to snapshots with a reason") {
    static const cairn_client_mode modes[] = {
        CAIRN_CLIENT_LOCKSTEP, CAIRN_CLIENT_HEAL, CAIRN_CLIENT_PREDICT};
    cairn_passport passport;
    assert_int_equal(cairn_passport_read(&passport), CAIRN_OK);
    RIG(p, .seed = 110);
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_client_config config = rig_config(modes[i]);
        cairn_passport bad = passport;
        bad.faults = i == 0 ? 0 : CAIRN_PASSPORT_FLUSH_TO_ZERO;
        bad.hash.lo ^= i == 0 ? 1 : 0;
        rig_join(&p, &config, NULL);
        *cairn_client_probe_of(rig_client(&p, i)).passport = bad;
    }
    rig_wait_to_play(&p);
    rig_play(&p, 5, 500);
    for (uint32_t i = 0; i < 3; ++i) {
        const char *words = cairn_client_mode_text(rig_client(&p, i));
        assert_int_equal(cairn_client_mode_now(rig_client(&p, i)), CAIRN_CLIENT_INTERPOLATE);
        assert_non_null(strstr(words, i == 0 ? "another hash" : "subnormal results become zero"));
        assert_true(rig_look(&p, i));
        assert_true(rig_statistics(&p, i).snapshots.received > 5);
    }
    assert_int_equal(rig_server_statistics(&p).total.clients_unfit, 3);
}

#if defined(__SSE2__)
// A program that is linked with fast-math starts with its thread in such a mode.
TEST("a host's floating-point mode neither demotes its client nor changes a world") {
    const unsigned usual = _mm_getcsr();
    const unsigned flush = 0x8040;
    const unsigned round_up = 0x4000;
    const unsigned wanted = usual | flush | round_up;
    for (uint32_t i = 0; i < 2; ++i) {
        _mm_setcsr(wanted);
        STARTED(p, 112 + i, repairing_modes[i], NULL);
        rig_play(&p, 5, 1000);
        const unsigned after = _mm_getcsr();
        _mm_setcsr(usual);
        assert_int_equal(after & (flush | round_up), flush | round_up);
        assert_string_equal(cairn_client_mode_text(rig_client(&p, 0)), "");
        assert_int_equal(cairn_client_mode_now(rig_client(&p, 0)), repairing_modes[i]);
        assert_true(rig_statistics(&p, 0).simulation.roots_compared > 30);
        assert_int_equal(rig_statistics(&p, 0).simulation.roots_differed, 0);
        assert_int_equal(rig_server_statistics(&p).total.clients_unfit, 0);
    }
}
#endif

TEST("a client that does not simulate may fail the self-test") {
    const cairn_passport bad = {.faults = CAIRN_PASSPORT_ROUNDING};
    RIG(p, .seed = 111);
    rig_join_mode(&p, CAIRN_CLIENT_INTERPOLATE);
    *cairn_client_probe_of(rig_client(&p, 0)).passport = bad;
    rig_wait_to_play(&p);
    assert_string_equal(cairn_client_mode_text(rig_client(&p, 0)), "");
    assert_int_equal(rig_server_statistics(&p).total.clients_unfit, 0);
}

TEST("a client that is too slow gives up and one that was paused does not") {
    const uint64_t check_ns = CAIRN_CLIENT_REPAIR_BACKLOG_CHECK_NS;
    const struct {
        uint32_t backlog_growth[3]; // ticks, before each check
        uint32_t checks;
        uint64_t apart_ns;
        bool gives_up;
    } rows[] = {{{90, 30, 30}, 3, check_ns, true},
        {{90, 30}, 2, check_ns, false},          // the host may have come back just now
        {{20, 20}, 2, check_ns, false},          // a short backlog
        {{90, 30, 30}, 3, 3 * check_ns, false}}; // the host did not run between the checks
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; ++row) {
        STARTED(p, 130, CAIRN_CLIENT_HEAL, NULL);
        cairn_timeline *timeline = timeline_of(&p, 0);
        cairn_client_repair *repair = &cairn_client_probe_of(rig_client(&p, 0)).resync->repair;
        uint64_t now_ns = repair->backlog_checked_ns;
        for (uint32_t i = 0; i < rows[row].checks; ++i) {
            for (uint32_t n = 0; n < rows[row].backlog_growth[i]; ++n) { // confirmed, not stepped
                assert_int_equal(cairn_timeline_confirm(timeline, timeline->confirmed_end, NULL, 0,
                                     (cairn_root_check){.root = {.lo = 1}}),
                    CAIRN_TIMELINE_TAKEN);
            }
            now_ns += rows[row].apart_ns;
            cairn_client_repair_advance(repair, now_ns, 60);
        }
        assert_int_equal(repair->given_up_text != NULL, rows[row].gives_up);
        assert_true(!rows[row].gives_up || strstr(repair->given_up_text, "cannot keep up"));
    }
}

// What a repair costs over paths of 10 to 300 ms.
#define PATHS 5
#define TICK_NS UINT64_C(16666667)
static const uint32_t rtts_ms[PATHS] = {10, 30, 80, 150, 300};

static void expect_healed(const rig *p, uint32_t client) {
    cairn_client_resync_record heal;
    const cairn_client_statistics s = rig_statistics(p, client);
    assert_int_equal(s.resync.count, 1);
    assert_int_equal(cairn_client_resyncs(rig_client(p, client), &heal, 1), 1);
    printf("rtt %u ms: %u elements, %u bytes, %u round trips, %u ticks, %.1f ms\n", rtts_ms[client],
        heal.elements, heal.bytes, heal.round_trips, heal.ticks, (double)heal.elapsed_ns * 1e-6);
    assert_int_equal(heal.cause, CAIRN_RESYNC_BY_ELEMENTS);
    assert_int_equal(heal.round_trips, 1);
    assert_in_range(heal.bytes, 1, 2047);
    assert_in_range(heal.elapsed_ns, 1, rtts_ms[client] * UINT64_C(1000000) + 3 * TICK_NS);
    assert_in_range(heal.ticks, 1, (rtts_ms[client] * 60 + 999) / 1000 + 3);
    assert_false(cairn_client_probe_of(rig_client(p, client)).timeline->differs);
    assert_int_equal(s.simulation.states_loaded, 1);
}

TEST("one body of a thousand is repaired in a round trip and three ticks") {
    cairn_client_config config = rig_config(CAIRN_CLIENT_HEAL);
    config.spectator = true;
    RIG(p, .seed = 120, .scene = kit_scene_thousand());
    for (uint32_t i = 0; i < PATHS; ++i) {
        const cairn_virtual_path path = {.delay_ns = rtts_ms[i] * UINT64_C(500000)};
        rig_join(&p, &config, &path);
    }
    rig_wait_to_play(&p);
    rig_run_ms(&p, 600);
    for (uint32_t i = 0; i < PATHS; ++i) {
        assert_true(cairn_client_probe_damage(rig_client(&p, i), 100 + 150 * i));
    }
    rig_run_ms(&p, 600);
    for (uint32_t i = 0; i < PATHS; ++i) {
        expect_healed(&p, i);
    }
}

// SPDX-License-Identifier: MIT
// What the server believes of an acknowledgement of ticks, when ticks go the safe way, and which
// tick it takes a client to show.
#include "tests/kit/test.h"

#include "base/random.h"
#include "net/link.h"
#include "server/core/server_state.h"
#include "server/replicate/tick_stream.h"
#include "server/room/command_log.h"
#include <cairn/server_lag.h>

static cairn_room room;
static cairn_ticks_sent sent;

BEFORE_EACH {
    room = (cairn_room){.name = "room"};
    sent = (cairn_ticks_sent){0};
    assert_int_equal(cairn_command_log_create(200, 4, &room.command_log), CAIRN_OK);
    for (uint64_t tick = 0; tick < 100; ++tick) {
        cairn_command_log_add(room.command_log, tick, NULL, 0, (cairn_hash128){0});
    }
}

AFTER_EACH {
    cairn_command_log_destroy(room.command_log);
}

TEST("a client holds no ticks that do not exist") {
    static const struct {
        uint64_t acknowledged;
        uint64_t early; // of ticks that exist
    } cases[] = {{100, 0}, {99, 0}, {98, 1}, {97, 3}, {95, 0xf}, {37, UINT64_MAX >> 2},
        {36, UINT64_MAX >> 1}, {35, UINT64_MAX}, {0, UINT64_MAX}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        sent = (cairn_ticks_sent){0};
        cairn_tick_stream_acknowledge(&sent, &room, cases[i].acknowledged, UINT64_MAX);
        assert_int_equal(sent.acknowledged, cases[i].acknowledged);
        assert_true(sent.early == cases[i].early);
    }
}

TEST("an acknowledgement that is older, or of a tick to come, is ignored") {
    cairn_tick_stream_acknowledge(&sent, &room, 90, 5);
    cairn_tick_stream_acknowledge(&sent, &room, 89, 1);
    cairn_tick_stream_acknowledge(&sent, &room, 101, 0);
    assert_int_equal(sent.acknowledged, 90);
    assert_int_equal(sent.early, 5);
    cairn_tick_stream_acknowledge(&sent, &room, 90, 7);
    assert_int_equal(sent.early, 7);
}

#define LOG_TICKS 200
#define RATE_HZ 240
#define STEP_NS UINT64_C(1000000)

// One message to the peer, which arrives so much later, and its acknowledgement as much later.
static void pass(cairn_link *link, cairn_link *peer, uint64_t *now_ns, uint64_t delay_ns) {
    static const uint8_t bytes[8] = {1};
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    assert_int_equal(cairn_link_send_unreliable(link, bytes, sizeof bytes), CAIRN_OK);
    const size_t size = cairn_link_next_payload(link, *now_ns, payload);
    assert_true(size > 0);
    *now_ns += delay_ns;
    assert_int_equal(cairn_link_receive(peer, *now_ns, payload, size), CAIRN_LINK_TAKEN);
    size_t answer = 0;
    for (uint32_t i = 0; i < 100 && answer == 0; ++i) {
        *now_ns += STEP_NS;
        answer = cairn_link_next_payload(peer, *now_ns, payload);
    }
    assert_true(answer > 0);
    *now_ns += delay_ns;
    assert_int_equal(cairn_link_receive(link, *now_ns, payload, answer), CAIRN_LINK_TAKEN);
}

// Sends what is due to a client of the room.
static void send(cairn_session *session, cairn_ticks_sent *own, uint64_t now_ns, uint64_t missing) {
    cairn_server_context context = {.now_ns = now_ns};
    cairn_tick_records records;
    assert_int_equal(cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &context.encoder), CAIRN_OK);
    assert_int_equal(cairn_tick_records_create(&records), CAIRN_OK);
    cairn_tick_stream_send(&context, session, &records, own, missing, missing);
    cairn_tick_records_destroy(&records);
    cairn_encoder_destroy(context.encoder);
}

// How many of the last `missing` ticks go into the reliable stream.
static uint64_t queued_of(cairn_session *session, uint64_t now_ns, uint64_t missing) {
    cairn_ticks_sent own = {.sent_end = LOG_TICKS};
    send(session, &own, now_ns, LOG_TICKS - missing);
    return own.queued == 0 ? 0 : own.queued - (LOG_TICKS - missing);
}

static void fill_log(void) {
    for (uint64_t tick = 100; tick < LOG_TICKS; ++tick) {
        cairn_command_log_add(room.command_log, tick, NULL, 0, (cairn_hash128){0});
    }
    room.settings.tick_rate_hz = RATE_HZ;
}

TEST("ticks go into the stream when more are missing than an uneven path keeps back") {
    const cairn_link_config config = cairn_link_config_default();
    cairn_link *link;
    cairn_link *peer;
    uint64_t due_ns = 0;
    uint64_t now_ns = CAIRN_NS_PER_S;
    assert_int_equal(cairn_link_create(&config, now_ns, &link), CAIRN_OK);
    assert_int_equal(cairn_link_create(&config, now_ns, &peer), CAIRN_OK);
    for (uint32_t i = 0; i < 20; ++i) {
        pass(link, peer, &now_ns, (i % 2 == 0 ? 60 : 90) * STEP_NS);
    }
    fill_log();
    cairn_session session = {
        .due_ns = &due_ns, .link = link, .room = &room, .slot = CAIRN_SLOT_NONE};
    const cairn_link_path path = cairn_link_path_read(link);
    assert_true(path.jitter_ns > 10 * STEP_NS);
    const uint64_t tick_ns = CAIRN_NS_PER_S / RATE_HZ;
    const uint64_t kept_back = (path.rtt_ns + 4 * path.jitter_ns) / tick_ns + 4;
    assert_in_range(kept_back, 60, LOG_TICKS - 2);
    assert_int_equal(queued_of(&session, now_ns, kept_back - 1), 0);
    const uint64_t missing = kept_back + 2;
    assert_int_equal(queued_of(&session, now_ns, missing), missing - 16); // the newest are left out
    cairn_link_destroy(link);
    cairn_link_destroy(peer);
}

TEST("of a path that was not measured yet 300 ms and four ticks are kept back") {
    const cairn_link_config config = cairn_link_config_default();
    cairn_link *link;
    uint64_t due_ns = 0;
    assert_int_equal(cairn_link_create(&config, CAIRN_NS_PER_S, &link), CAIRN_OK);
    fill_log();
    room.settings.tick_rate_hz = 250; // ticks of 4 ms
    cairn_session session = {
        .due_ns = &due_ns, .link = link, .room = &room, .slot = CAIRN_SLOT_NONE};
    assert_int_equal(queued_of(&session, CAIRN_NS_PER_S, 300 / 4 + 4), 0);
    assert_int_equal(queued_of(&session, CAIRN_NS_PER_S, 300 / 4 + 5), 300 / 4 + 5 - 16);
    cairn_link_destroy(link);
}

TEST("an overdue tick is sent again unless the client holds it") {
    const uint64_t first = LOG_TICKS - 10;
    const cairn_link_config config = cairn_link_config_default();
    const uint64_t now_ns = 10 * CAIRN_NS_PER_S;
    cairn_link *link;
    uint64_t due_ns = 0;
    assert_int_equal(cairn_link_create(&config, CAIRN_NS_PER_S, &link), CAIRN_OK);
    fill_log();
    cairn_session session = {
        .due_ns = &due_ns, .link = link, .room = &room, .slot = CAIRN_SLOT_NONE};
    cairn_ticks_sent own = {.acknowledged = first, .early = 0x15, .sent_end = LOG_TICKS};
    send(&session, &own, now_ns, first);
    for (uint64_t tick = first; tick < LOG_TICKS; ++tick) {
        const bool held = tick == first + 1 || tick == first + 3 || tick == first + 5;
        assert_int_equal(own.sent_ns[tick % CAIRN_TICKS_IN_FLIGHT], held ? 0 : now_ns);
    }
    cairn_link_destroy(link);
}

TEST("a message that the link does not take has not been sent") {
    cairn_link_config config = cairn_link_config_default();
    cairn_link *link;
    uint64_t due_ns = 0;
    fill_log();
    for (uint32_t k = 0; k < 2; ++k) {
        cairn_ticks_sent own = {0};
        assert_int_equal(cairn_link_create(&config, CAIRN_NS_PER_S, &link), CAIRN_OK);
        cairn_session session = {
            .due_ns = &due_ns, .link = link, .room = &room, .slot = CAIRN_SLOT_NONE};
        room.statistics.ticks_messages_sent = 0;
        send(&session, &own, CAIRN_NS_PER_S, LOG_TICKS - 10);
        assert_int_equal(room.statistics.ticks_messages_sent, k == 0 ? 1 : 0);
        assert_int_equal(own.sent_end, k == 0 ? LOG_TICKS : LOG_TICKS - 10);
        cairn_link_destroy(link);
        config.unreliable_size_max = 1;
    }
}

#define LONG_MAX 600 // commands of a tick

static void draw_command(cairn_random *random, uint32_t place, cairn_command *out) {
    const cairn_vec3 drawn = {
        cairn_random_unit(random), cairn_random_unit(random), cairn_random_unit(random)};
    *out = (cairn_command){.kind = CAIRN_COMMAND_INPUT,
        .slot = place / 5,
        .sequence = place % 5,
        .buttons = (uint32_t)cairn_random_next(random),
        .move = drawn,
        .aim = drawn};
}

// All ticks of the log have so many commands, which are coded with some 36 bytes each.
static void fill_log_with(uint32_t commands_per_tick) {
    static cairn_command commands[LONG_MAX];
    cairn_random random = cairn_random_of(3);
    cairn_command_log_destroy(room.command_log);
    assert_int_equal(cairn_command_log_create(LOG_TICKS, LONG_MAX, &room.command_log), CAIRN_OK);
    for (uint64_t tick = 0; tick < LOG_TICKS; ++tick) {
        for (uint32_t i = 0; i < commands_per_tick; ++i) {
            const cairn_vec3 drawn = {
                cairn_random_unit(&random), cairn_random_unit(&random), cairn_random_unit(&random)};
            commands[i] = (cairn_command){.kind = CAIRN_COMMAND_INPUT,
                .slot = i / 4,
                .sequence = i % 4,
                .buttons = (uint32_t)cairn_random_next(&random),
                .move = drawn,
                .aim = drawn};
        }
        cairn_command_log_add(
            room.command_log, tick, commands, commands_per_tick, (cairn_hash128){0});
    }
    room.settings.tick_rate_hz = RATE_HZ;
}

TEST("a message of the stream has one tick of any size, or as many as its size allows") {
    static const struct {
        uint32_t commands; // of a tick
        uint32_t ticks;    // of a message
    } rows[] = {{500, 1}, {200, 1}, {100, 2}, {50, 4}};
    const cairn_link_config config = cairn_link_config_default();
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_link *link;
        uint64_t due_ns = 0;
        assert_int_equal(cairn_link_create(&config, CAIRN_NS_PER_S, &link), CAIRN_OK);
        fill_log_with(rows[i].commands);
        room.statistics.ticks_messages_sent = 0;
        cairn_session session = {
            .due_ns = &due_ns, .link = link, .room = &room, .slot = CAIRN_SLOT_NONE};
        const uint64_t queued = queued_of(&session, CAIRN_NS_PER_S, LOG_TICKS);
        const uint64_t messages = room.statistics.ticks_messages_sent - 1; // one is not of it
        assert_true(queued > 0);
        assert_int_equal(messages, (queued + rows[i].ticks - 1) / rows[i].ticks);
        cairn_link_destroy(link);
    }
}

TEST("a client that is far behind is queued what it has room for: 384 ticks and 8,192 commands") {
    static const struct {
        uint32_t commands; // of a tick
        uint64_t ticks;
    } rows[] = {{0, 384}, {1, 384}, {16, 384}, {17, 256}, {160, 51}, {600, 13}};
    enum { LONG_LOG_TICKS = 500 };
    cairn_link_config config = cairn_link_config_default();
    config.reliable_buffer_size = 2 * CAIRN_MESSAGE_SIZE_MAX;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        static cairn_command commands[LONG_MAX];
        cairn_link *link;
        uint64_t due_ns = 0;
        assert_int_equal(cairn_link_create(&config, CAIRN_NS_PER_S, &link), CAIRN_OK);
        cairn_command_log_destroy(room.command_log);
        assert_int_equal(
            cairn_command_log_create(LONG_LOG_TICKS, LONG_MAX, &room.command_log), CAIRN_OK);
        for (uint64_t tick = 0; tick < LONG_LOG_TICKS; ++tick) {
            cairn_command_log_add(
                room.command_log, tick, commands, rows[i].commands, (cairn_hash128){0});
        }
        room.settings.tick_rate_hz = RATE_HZ;
        cairn_session session = {
            .due_ns = &due_ns, .link = link, .room = &room, .slot = CAIRN_SLOT_NONE};
        cairn_ticks_sent own = {.sent_end = LONG_LOG_TICKS};
        send(&session, &own, CAIRN_NS_PER_S, 0);
        assert_int_equal(own.queued, rows[i].ticks);
        cairn_link_destroy(link);
    }
}

TEST("the tick that a client is thought to show is older by its path and what it waits for") {
    static const uint64_t delays_ms[][2] = {{60, 60}, {60, 90}, {20, 100}};
    const cairn_link_config config = cairn_link_config_default();
    for (uint32_t i = 0; i < sizeof delays_ms / sizeof *delays_ms; ++i) {
        cairn_link *link;
        cairn_link *peer;
        uint64_t now_ns = CAIRN_NS_PER_S;
        cairn_view_time shown;
        assert_int_equal(cairn_link_create(&config, now_ns, &link), CAIRN_OK);
        assert_int_equal(cairn_link_create(&config, now_ns, &peer), CAIRN_OK);
        for (uint32_t k = 0; k < 20; ++k) {
            pass(link, peer, &now_ns, delays_ms[i][k % 2] * STEP_NS);
        }
        room.settings.tick_rate_hz = RATE_HZ;
        room.settings.snapshot_rate_hz = 20;
        room.scheduler = cairn_tick_scheduler_of(now_ns, RATE_HZ, 8, 1000);
        cairn_tick_scheduler_step(&room.scheduler); // tick 1001 exists since now_ns
        cairn_session session = {.state = CAIRN_SESSION_PLAYING,
            .link = link,
            .room = &room,
            .mode = CAIRN_MODE_LOCKSTEP};
        const cairn_server server = {.config = {.clients_max = 1}, .sessions = &session};
        const cairn_link_statistics *path = cairn_link_statistics_read(link);
        assert_true(path->rtt_ns > 0);
        const double late_ns =
            (double)path->rtt_ns / 2 + 1e9 / RATE_HZ + 3 * (double)path->jitter_ns + 1e6;
        assert_int_equal(
            cairn_server_lag_view_time_estimate(&server, 0, now_ns, &shown), CAIRN_LAG_SHOWN);
        const double tick = (double)shown.tick + (double)shown.fraction;
        const double error = tick - (1001 - late_ns * RATE_HZ / 1e9);
        assert_true(error > -0.01 && error < 0.01);
        cairn_link_destroy(link);
        cairn_link_destroy(peer);
    }
}

TEST("a new tick and a lost one go into one message where both fit") {
    static cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    cairn_random random = cairn_random_of(6);
    const cairn_link_config config = cairn_link_config_default();
    uint32_t both = 0;
    for (uint32_t i = 0; i < CAIRN_COMMANDS_PER_TICK_MAX; ++i) {
        draw_command(&random, i, &commands[i]);
    }
    for (uint32_t count = 1000; count < CAIRN_COMMANDS_PER_TICK_MAX; ++count) {
        cairn_link *link;
        uint64_t due_ns = 0;
        cairn_ticks_sent own = {0};
        assert_int_equal(cairn_link_create(&config, CAIRN_NS_PER_S, &link), CAIRN_OK);
        cairn_command_log_destroy(room.command_log);
        assert_int_equal(
            cairn_command_log_create(2, CAIRN_COMMANDS_PER_TICK_MAX, &room.command_log), CAIRN_OK);
        cairn_command_log_add(room.command_log, 0, commands, count, (cairn_hash128){0});
        cairn_command_log_add(room.command_log, 1, commands + 1, 1270, (cairn_hash128){0});
        cairn_session session = {
            .due_ns = &due_ns, .link = link, .room = &room, .slot = CAIRN_SLOT_NONE};
        room.settings.tick_rate_hz = RATE_HZ;
        send(&session, &own, CAIRN_NS_PER_S, 0);
        both += own.sent_ns[0] != 0 && own.sent_ns[1] != 0 ? 1 : 0;
        cairn_link_destroy(link);
    }
    assert_in_range(both, 50, 250); // of 280
}

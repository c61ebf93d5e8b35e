// SPDX-License-Identifier: MIT
// Every row of the session table: what each event does to a client in each state.
#include "tests/kit/test.h"

#include <stdio.h>
#include <string.h>

#include "bridge/packed_inputs.h"
#include "net/netcode_server_parts.h"
#include "net/packet.h"
#include "server/core/server_state.h"
#include "server/session_dispatch.h"
#include "tests/kit/packed.h"
#include "tests/server/story.h"

static story s; // too large for a stack

BEFORE_EACH {
    story_start(&s, NULL);
}

AFTER_EACH {
    story_end(&s);
}

static cairn_message hello_message(cairn_mode mode) {
    return (cairn_message){.kind = CAIRN_MESSAGE_HELLO, .hello = story_hello(mode, false)};
}

static cairn_session *session(void) {
    return &s.server->sessions[0];
}

static void feed(cairn_session_event event) {
    const cairn_message hello = hello_message(CAIRN_MODE_INTERPOLATE);
    const cairn_message input = kit_input(&(cairn_input_head){.snapshot_acknowledged = 1}, NULL);
    const cairn_message control = {
        .kind = CAIRN_MESSAGE_CONTROL, .control = {.verb = CAIRN_CONTROL_STATE, .room = ""}};
    const cairn_message roots = {.kind = CAIRN_MESSAGE_ROOT_REPORT};
    const cairn_message resync = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST};
    const cairn_message game = {.kind = CAIRN_MESSAGE_PLAYER_MESSAGE,
        .player_message = {.bytes = (const uint8_t *)"hi", .size = 2}};
    const cairn_message closed = {.kind = CAIRN_MESSAGE_EVENT,
        .event = {
            .kind = CAIRN_EVENT_ROOM_CLOSES, .slot = CAIRN_SLOT_NONE, .reason_text = "the end"}};
    const cairn_message *message = event == CAIRN_SESSION_EVENT_HELLO            ? &hello
                                   : event == CAIRN_SESSION_EVENT_INPUT          ? &input
                                   : event == CAIRN_SESSION_EVENT_ROOTS          ? &roots
                                   : event == CAIRN_SESSION_EVENT_CONTROL        ? &control
                                   : event == CAIRN_SESSION_EVENT_PLAYER_MESSAGE ? &game
                                   : event == CAIRN_SESSION_EVENT_RESYNC_REQUEST ? &resync
                                   : event == CAIRN_SESSION_EVENT_ROOM_CLOSED    ? &closed
                                                                                 : NULL;
    cairn_session_dispatch(s.server, session(), event, message);
}

static void bring_to(cairn_session_state state) {
    if (state == CAIRN_SESSION_FREE) {
        return;
    }
    session()->client_id = 9;
    feed(CAIRN_SESSION_EVENT_CONNECT);
    if (state == CAIRN_SESSION_REFUSED) {
        cairn_message wrong = hello_message(CAIRN_MODE_INTERPOLATE);
        wrong.hello.protocol_version += 1;
        cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_HELLO, &wrong);
    } else if (state != CAIRN_SESSION_CONNECTED) {
        feed(CAIRN_SESSION_EVENT_HELLO);
    }
    if (state == CAIRN_SESSION_PLAYING) {
        feed(CAIRN_SESSION_EVENT_INPUT);
    }
    assert_int_equal(session()->state, state);
}

#define NEVER CAIRN_SESSION_STATE_COUNT

TEST("every event has its outcome in every state") {
    enum { FREE, CONN, WELC, PLAY, REFU };
    static const struct {
        cairn_session_event event;
        struct {
            uint32_t next, faults;
        } in[CAIRN_SESSION_STATE_COUNT];
    } rows[] = {// event                 free       connected  welcomed   playing    refused
        {CAIRN_SESSION_EVENT_CONNECT, {{CONN, 0}, {NEVER, 0}, {NEVER, 0}, {NEVER, 0}, {NEVER, 0}}},
        {CAIRN_SESSION_EVENT_HELLO, {{FREE, 0}, {WELC, 0}, {WELC, 1}, {PLAY, 1}, {REFU, 0}}},
        {CAIRN_SESSION_EVENT_INPUT, {{FREE, 0}, {CONN, 1}, {PLAY, 0}, {PLAY, 0}, {REFU, 0}}},
        {CAIRN_SESSION_EVENT_ROOTS, {{FREE, 0}, {CONN, 1}, {WELC, 1}, {PLAY, 1}, {REFU, 0}}},
        {CAIRN_SESSION_EVENT_RESYNC_REQUEST,
            {{FREE, 0}, {CONN, 1}, {WELC, 1}, {PLAY, 1}, {REFU, 0}}},
        {CAIRN_SESSION_EVENT_CONTROL, {{FREE, 0}, {CONN, 1}, {WELC, 0}, {PLAY, 0}, {REFU, 0}}},
        {CAIRN_SESSION_EVENT_PLAYER_MESSAGE,
            {{FREE, 0}, {CONN, 1}, {WELC, 0}, {PLAY, 0}, {REFU, 0}}},
        {CAIRN_SESSION_EVENT_MALFORMED, {{FREE, 0}, {CONN, 1}, {WELC, 1}, {PLAY, 1}, {REFU, 0}}},
        {CAIRN_SESSION_EVENT_TIMEOUT, {{FREE, 0}, {CONN, 0}, {WELC, 0}, {PLAY, 0}, {REFU, 0}}},
        {CAIRN_SESSION_EVENT_ALL_ACKNOWLEDGED,
            {{FREE, 0}, {CONN, 0}, {WELC, 0}, {PLAY, 0}, {REFU, 0}}},
        {CAIRN_SESSION_EVENT_ROOM_CLOSED,
            {{NEVER, 0}, {NEVER, 0}, {REFU, 0}, {REFU, 0}, {NEVER, 0}}},
        {CAIRN_SESSION_EVENT_DISCONNECT, {{FREE, 0}, {FREE, 0}, {FREE, 0}, {FREE, 0}, {FREE, 0}}}};
    assert_int_equal(sizeof rows / sizeof *rows, CAIRN_SESSION_EVENT_COUNT);
    for (size_t i = 0; i < CAIRN_SESSION_EVENT_COUNT; ++i) {
        for (uint32_t from = 0; from < CAIRN_SESSION_STATE_COUNT; ++from) {
            if (rows[i].in[from].next == NEVER) {
                continue;
            }
            story_start(&s, NULL);
            story_run_ms(&s, 100);
            bring_to((cairn_session_state)from);
            uint32_t faults = session()->violations;
            feed(rows[i].event);
            assert_int_equal(session()->state, rows[i].in[from].next);
            assert_int_equal(session()->violations, faults + rows[i].in[from].faults);
            story_end(&s);
        }
    }
}

TEST("only clients that simulate may report roots") {
    story_run_ms(&s, 100);
    const cairn_message hello = hello_message(CAIRN_MODE_LOCKSTEP);
    feed(CAIRN_SESSION_EVENT_CONNECT);
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_HELLO, &hello);
    feed(CAIRN_SESSION_EVENT_ROOTS);
    assert_int_equal(session()->state, CAIRN_SESSION_WELCOMED);
    assert_int_equal(session()->violations, 0);
}

TEST("violations add up to a refusal, and the slot is freed") {
    static const cairn_session_state from[] = {
        CAIRN_SESSION_CONNECTED, CAIRN_SESSION_WELCOMED, CAIRN_SESSION_PLAYING};
    for (size_t i = 0; i < sizeof from / sizeof *from; ++i) {
        story_start(&s, NULL);
        story_run_ms(&s, 100);
        bring_to(from[i]);
        for (uint32_t n = 1; n < CAIRN_SESSION_VIOLATIONS_MAX; ++n) {
            feed(CAIRN_SESSION_EVENT_MALFORMED);
            assert_int_equal(session()->state, from[i]);
        }
        feed(CAIRN_SESSION_EVENT_MALFORMED);
        assert_int_equal(session()->state, CAIRN_SESSION_REFUSED);
        assert_int_equal(session()->slot, CAIRN_SLOT_NONE);
        assert_int_equal(story_statistics(&s).total.players, 0);
        assert_int_equal(story_statistics(&s).protocol_violations, CAIRN_SESSION_VIOLATIONS_MAX);
        story_end(&s);
    }
}

TEST("acknowledgements of unsent ticks are ignored") {
    story_run_ms(&s, 100);
    bring_to(CAIRN_SESSION_PLAYING);
    uint64_t tick = story_tick(&s);
    const struct {
        uint64_t snapshot, ticks, expected_snapshot, expected_ticks;
    } rows[] = {{tick + 1, tick + 1, 1, 0}, {UINT64_MAX, UINT64_MAX, 1, 0}, {0, 0, 1, 0},
        {tick, tick, tick, tick}, {1, 1, tick, tick}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const cairn_message input =
            kit_input(&(cairn_input_head){.snapshot_acknowledged = rows[i].snapshot,
                          .ticks_acknowledged = rows[i].ticks},
                NULL);
        cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_INPUT, &input);
        assert_int_equal(session()->replication->snapshots.acknowledged, rows[i].expected_snapshot);
        assert_int_equal(session()->replication->ticks.acknowledged, rows[i].expected_ticks);
    }
}

TEST("inputs of a spectator are a violation") {
    const cairn_message hello = {
        .kind = CAIRN_MESSAGE_HELLO, .hello = story_hello(CAIRN_MODE_INTERPOLATE, true)};
    feed(CAIRN_SESSION_EVENT_CONNECT);
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_HELLO, &hello);
    const cairn_wire_input input = {.tick = 1};
    const cairn_message message = kit_input(&(cairn_input_head){.input_count = 1}, &input);
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_INPUT, &message);
    assert_int_equal(session()->violations, 1);
    assert_int_equal(story_statistics(&s).total.inputs_taken, 0);
}

TEST("inputs and acknowledgements of a replaced world are ignored") {
    story_run_ms(&s, 200);
    bring_to(CAIRN_SESSION_PLAYING);
    session()->world_epoch = 1; // the world was replaced once
    session()->replication->snapshots.acknowledged = 0;
    const cairn_wire_input input = {.tick = session()->room->scheduler.tick + 2};
    cairn_input_head head = {.snapshot_acknowledged = 1, .input_count = 1};
    cairn_message message = kit_input(&head, &input);
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_INPUT, &message);
    assert_int_equal(story_statistics(&s).total.inputs_taken, 0);
    assert_int_equal(session()->replication->snapshots.acknowledged, 0);
    head.world_epoch = 1;
    message = kit_input(&head, &input);
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_INPUT, &message);
    assert_int_equal(story_statistics(&s).total.inputs_taken, 1);
    assert_int_equal(session()->replication->snapshots.acknowledged, 1);
    assert_int_equal(session()->violations, 0);
}

TEST("roots of a replaced world are not compared") {
    story_run_ms(&s, 200);
    const cairn_message hello = hello_message(CAIRN_MODE_LOCKSTEP);
    session()->client_id = 9;
    feed(CAIRN_SESSION_EVENT_CONNECT);
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_HELLO, &hello);
    session()->world_epoch = 1;
    const cairn_wire_root root = {.tick = session()->room->scheduler.tick - 1, .lo = 1, .hi = 2};
    cairn_message message = {
        .kind = CAIRN_MESSAGE_ROOT_REPORT, .root_report = {.roots = &root, .root_count = 1}};
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_ROOTS, &message);
    assert_int_equal(story_statistics(&s).total.roots_compared, 0);
    assert_false(story_has_event(&s, "root_differed"));
    message.root_report.world_epoch = 1;
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_ROOTS, &message);
    assert_int_equal(story_statistics(&s).total.roots_compared, 1);
    assert_int_equal(story_statistics(&s).total.roots_differed, 1);
}

TEST("roots of every tick that was stepped are compared, and no others") {
    story_run_ms(&s, 200);
    const cairn_message hello = hello_message(CAIRN_MODE_LOCKSTEP);
    feed(CAIRN_SESSION_EVENT_CONNECT);
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_HELLO, &hello);
    const uint64_t tick = session()->room->scheduler.tick;
    const uint64_t ticks[] = {0, 1, 2, tick, tick + 1, UINT64_MAX};
    for (uint32_t i = 0; i < sizeof ticks / sizeof *ticks; ++i) {
        const uint64_t before = story_statistics(&s).total.roots_compared;
        const cairn_wire_root root = {.tick = ticks[i], .lo = 1, .hi = 2};
        const cairn_message message = {
            .kind = CAIRN_MESSAGE_ROOT_REPORT, .root_report = {.roots = &root, .root_count = 1}};
        cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_ROOTS, &message);
        assert_int_equal(story_statistics(&s).total.roots_compared - before,
            ticks[i] >= 1 && ticks[i] <= tick ? 1 : 0);
    }
}

TEST("rollbacks that a client reports are counted, whatever the epoch of its world") {
    story_run_ms(&s, 200);
    const cairn_message hello = hello_message(CAIRN_MODE_PREDICT);
    session()->client_id = 9;
    feed(CAIRN_SESSION_EVENT_CONNECT);
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_HELLO, &hello);
    session()->world_epoch = 1;
    s.server->context.now_ns += CAIRN_NS_PER_S;
    cairn_message message = {
        .kind = CAIRN_MESSAGE_ROOT_REPORT, .root_report = {.rollbacks = 7, .rollback_ticks = 30}};
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_ROOTS, &message);
    message.root_report.world_epoch = 1;
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_ROOTS, &message);
    assert_int_equal(story_statistics(&s).total.rollbacks, 7);
    assert_int_equal(story_statistics(&s).total.rollback_ticks, 30);
    message.root_report.rollbacks = UINT64_MAX;
    cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_ROOTS, &message);
    assert_int_equal(story_statistics(&s).total.rollbacks, 7); // no time has passed
    assert_int_equal(story_statistics(&s).total.rollback_reports_bounded, 1);
    assert_int_equal(session()->violations, 0);
}

static uint32_t next_packet(void) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    assert_true(cairn_server_send(s.server, s.now_ns, &to, bytes) > 0);
    return bytes[0] & 15; // its type, before its number's size
}

// A client takes no payload before it was told that it is connected.
TEST("a payload to a client that was not heard since it connected follows a keep-alive") {
    const uint8_t message[] = {1};
    story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    story_run_ms(&s, 500);
    s.server->context.netcode->slots.list[0].state = CAIRN_PEER_UNCONFIRMED;
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_link_send_unreliable(s.server->sessions[0].link, message, sizeof message);
        cairn_session_touch(&s.server->sessions[0]);
        assert_int_equal(next_packet(), CAIRN_PACKET_KEEP_ALIVE);
        assert_int_equal(next_packet(), CAIRN_PACKET_PAYLOAD);
    }
}

TEST("inputs that are coded against a tick that is not held any more are left, without blame") {
    const cairn_command held = {.kind = CAIRN_COMMAND_INPUT, .buttons = 5};
    const cairn_wire_input input = {.buttons = 5};
    uint8_t bytes[CAIRN_INPUT_PAYLOAD_SIZE_MAX];
    story_run_ms(&s, 200);
    bring_to(CAIRN_SESSION_WELCOMED);
    const uint64_t end = cairn_command_log_end(session()->room->command_log);
    const uint64_t based_on[] = {end, end + 1, UINT64_MAX / 2};
    for (uint32_t i = 0; i < sizeof based_on / sizeof *based_on; ++i) {
        const cairn_server_room_statistics before = story_statistics(&s).total;
        const cairn_input_head head = {.ticks_acknowledged = based_on[i] + 1,
            .input_count = 1,
            .first_tick = end + 2,
            .parts = 1,
            .based = true};
        const size_t size = cairn_input_payload_write(
            &head, &input, (cairn_tick_commands){.commands = &held, .count = 1}, bytes);
        const cairn_message message = {.kind = CAIRN_MESSAGE_INPUT,
            .input = {.payload = bytes, .payload_size = (uint32_t)size}};
        cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_INPUT, &message);
        assert_int_equal(story_statistics(&s).total.inputs_refused - before.inputs_refused, 1);
        assert_int_equal(story_statistics(&s).total.inputs_taken, before.inputs_taken);
        assert_int_equal(session()->violations, 0);
    }
}

TEST("an operator is told of handshakes that were refused for what a person can cause, and no "
     "other") {
    uint64_t *drops = s.server->context.netcode->drops;
    for (uint32_t i = 0; i < CAIRN_NETCODE_DROP_COUNT; ++i) {
        const bool told = i >= CAIRN_NETCODE_DROP_VERSION && i <= CAIRN_NETCODE_DROP_SERVER_FULL &&
                          i != CAIRN_NETCODE_DROP_REQUEST_AGAIN;
        s.event_names[0] = '\0';
        drops[i] += 2;
        story_run_ms(&s, 1100);
        assert_int_equal(story_has_event(&s, "connection_refused"), told);
        s.event_names[0] = '\0';
        story_run_ms(&s, 1100);
        assert_false(story_has_event(&s, "connection_refused")); // once
    }
}

// What the operator was told, one line each: name, level, client, value and detail.
static char heard[2048];

static void listen_to(void *user, const cairn_server_event *event) {
    (void)user;
    const size_t size = strlen(heard);
    snprintf(heard + size, sizeof heard - size, "%s %d %u %d %s\n", event->name, (int)event->level,
        (unsigned)event->client_id, (int)event->value, event->detail);
}

TEST("an operator is told of a client by its id, with its slot or the reason, and nothing else") {
    story_run_ms(&s, 100);
    s.server->context.on_event = listen_to;
    char wanted[512];
    bring_to(CAIRN_SESSION_PLAYING);
    const int slot = (int)session()->slot;
    feed(CAIRN_SESSION_EVENT_DISCONNECT);
    snprintf(wanted, sizeof wanted,
        "client_connected %d 9 0 \nclient_joined %d 9 %d interpolate\nclient_playing %d 9 %d \n",
        CAIRN_LOG_INFO, CAIRN_LOG_INFO, slot, CAIRN_LOG_INFO, slot);
    if (strncmp(heard, wanted, strlen(wanted)) != 0) {
        fail_msg("%s", heard);
    }
    snprintf(wanted, sizeof wanted, "\nclient_left %d 9 0 ", CAIRN_LOG_INFO);
    assert_non_null(strstr(heard, wanted));
    heard[0] = '\0';
    bring_to(CAIRN_SESSION_REFUSED);
    snprintf(wanted, sizeof wanted, "client_connected %d 9 0 \nclient_refused %d 9 %d ",
        CAIRN_LOG_INFO, CAIRN_LOG_WARN, CAIRN_REFUSAL_PROTOCOL_VERSION);
    if (strncmp(heard, wanted, strlen(wanted)) != 0) {
        fail_msg("%s", heard);
    }
    feed(CAIRN_SESSION_EVENT_DISCONNECT);
    bring_to(CAIRN_SESSION_CONNECTED);
    heard[0] = '\0';
    feed(CAIRN_SESSION_EVENT_TIMEOUT);
    snprintf(wanted, sizeof wanted, "hello_missing %d 9 0 the client sent no HELLO in time\n",
        CAIRN_LOG_WARN);
    assert_string_equal(heard, wanted);
    s.server->context.on_event = NULL;
}

TEST("an operator is told of a client that the state of its room is too large for, which is let "
     "go") {
    heard[0] = '\0';
    s.server->context.on_event = listen_to;
    cairn_room_table_at(&s.server->rooms, CAIRN_ROOM_MAIN)->replication->state.capacity = 16;
    const uint32_t client = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 500);
    char wanted[128];
    snprintf(wanted, sizeof wanted,
        "\nstate_too_large %d %u 0 the room's state is larger than a transfer may be\n",
        CAIRN_LOG_ERROR, (unsigned)s.clients[client].client_id);
    const char *told = strstr(heard, wanted);
    assert_non_null(told);
    assert_null(strstr(told + strlen(wanted), "state_too_large")); // once
    assert_int_equal(story_state(&s, client), CAIRN_NETCODE_STATE_DISCONNECTED);
    assert_int_equal(story_statistics(&s).clients, 0);
    s.server->context.on_event = NULL;
}

TEST("a client without a room's rules is told what differs, and of sources if nothing else does") {
    static const struct {
        const char *name;
        uint32_t versions;
        bool sources;
    } rows[] = {{"sandbox", 0, true}, {"sandbox", 1, false}, {"sandpit", 0, false}};
    story_run_ms(&s, 100);
    s.server->context.on_event = listen_to;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_message hello = hello_message(CAIRN_MODE_LOCKSTEP);
        hello.hello.rules_name = rows[i].name;
        hello.hello.rules_version += rows[i].versions;
        hello.hello.rules_digest += 1;
        bring_to(CAIRN_SESSION_CONNECTED);
        heard[0] = '\0';
        cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_HELLO, &hello);
        assert_int_equal(session()->state, CAIRN_SESSION_REFUSED);
        assert_non_null(strstr(heard, "the client does not have the rules of this room"));
        assert_int_equal(strstr(heard, "from other sources") != NULL, rows[i].sources);
        feed(CAIRN_SESSION_EVENT_DISCONNECT);
    }
    s.server->context.on_event = NULL;
}

static bool find_template(void *user, const char *name, cairn_server_room_config *out) {
    (void)user;
    out->scene = story_scene();
    return strcmp(name, "p") == 0 || strcmp(name, "pit") == 0;
}

TEST("the room of a token is made where no room has its name, and that of a HELLO alone is not") {
    static const struct {
        const char *token, *hello;
        bool entered;
    } rows[] = {{"p", "", true}, {"p", "p", true}, {"q", "", false}, {"", "pit", false},
        {"main", "", true}, {"", "", true}};
    cairn_server_config config = story_config();
    config.rooms_max = 4;
    config.find_template = find_template;
    story_start(&s, &config);
    story_run_ms(&s, 100);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_message hello = hello_message(CAIRN_MODE_INTERPOLATE);
        hello.hello.room = rows[i].hello;
        bring_to(CAIRN_SESSION_CONNECTED);
        strcpy(session()->user.room, rows[i].token);
        cairn_session_dispatch(s.server, session(), CAIRN_SESSION_EVENT_HELLO, &hello);
        assert_int_equal(
            session()->state, rows[i].entered ? CAIRN_SESSION_WELCOMED : CAIRN_SESSION_REFUSED);
        if (rows[i].entered) {
            assert_string_equal(
                session()->room->name, rows[i].token[0] == 'p' ? "p" : CAIRN_ROOM_NAME_DEFAULT);
        }
        feed(CAIRN_SESSION_EVENT_DISCONNECT);
    }
    assert_int_equal(story_statistics(&s).rooms, 2);
}

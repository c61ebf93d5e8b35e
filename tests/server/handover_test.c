// SPDX-License-Identifier: MIT
// A server takes the place of another one while clients play.
#include "tests/kit/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/link.h"
#include "net/netcode_server_parts.h"
#include "server/control/room_time.h"
#include "server/core/server_state.h"
#include "server/handover/handover.h"
#include "server/handover/links.h"
#include "tests/kit/scenes.h"
#include "tests/server/story.h"

static story s;
static cairn_server *successor;
static cairn_handover gives, takes;
static cairn_archive record;

AFTER_EACH {
    cairn_archive_free(&record);
    cairn_handover_end(&gives);
    cairn_handover_end(&takes);
    gives = (cairn_handover){0};
    takes = (cairn_handover){0};
    cairn_server_destroy(successor);
    successor = NULL;
    story_end(&s);
}

// What was written last, to be read.
static cairn_archive written(void) {
    assert_null(record.refused);
    return cairn_archive_reader(record.out, record.size);
}

static void begin_record(void) {
    cairn_archive_free(&record);
    record = cairn_archive_writer();
}

static bool carry_room(uint32_t index) {
    bool later;
    begin_record();
    assert_true(cairn_handover_give_room(&gives, s.server, index, &record, &later));
    assert_false(later);
    cairn_archive in = written();
    return cairn_handover_take_room(&takes, successor, s.now_ns, &in);
}

static bool carry_ticks(void) {
    bool any;
    begin_record();
    assert_true(cairn_handover_give_ticks(&gives, s.server, &record, &any));
    cairn_archive in = written();
    return cairn_handover_take_ticks(&takes, successor, &in);
}

static void begin(const cairn_server_config *config) {
    successor = story_successor(&s, config);
    assert_true(cairn_handover_begin(&gives, s.server));
    for (uint32_t i = 0; i < gives.room_count; ++i) {
        assert_true(carry_room(i));
    }
}

static void step_beside(uint32_t ms) {
    for (uint32_t at = 0; at < ms; at += 4) {
        story_run_ms(&s, 4);
        assert_true(carry_ticks());
    }
}

static bool all_recorded(void *user, const char *room) {
    (void)user;
    return room[0] != '\0';
}

static bool carry_clients(void) {
    begin_record();
    cairn_handover_give_clients(&gives, s.server, s.now_ns, &record);
    cairn_archive in = written();
    return cairn_handover_take_clients(&takes, successor, s.now_ns, &in);
}

// From now on the story's server is the successor.
static void swap(void) {
    assert_true(cairn_handover_is_quiet(s.server));
    assert_true(carry_clients());
    cairn_handover_leave(s.server, s.now_ns);
    cairn_handover_record(&takes, successor, all_recorded, NULL);
    cairn_server *left = s.server;
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    assert_int_equal(cairn_server_send(left, s.now_ns + CAIRN_NS_PER_S, &to, bytes), 0);
    cairn_server_advance(left, s.now_ns + CAIRN_NS_PER_S);
    assert_int_equal(cairn_server_send(left, s.now_ns + CAIRN_NS_PER_S, &to, bytes), 0);
    assert_true(cairn_server_drained(left));
    cairn_server_destroy(left);
    s.server = successor;
    successor = NULL;
}

static void check_clients(void) {
    assert_int_equal(s.snapshots_wrong, 0);
    for (uint32_t i = 0; i < s.client_count; ++i) {
        const story_client *client = &s.clients[i];
        assert_int_equal(story_state(&s, i), CAIRN_NETCODE_STATE_CONNECTED);
        assert_int_equal(client->roots_wrong, 0);
        assert_int_equal(client->deltas_failed, 0);
        assert_int_equal(client->decode_failures, 0);
        assert_int_equal(client->refusal, 0);
        assert_int_equal(client->world_epoch, 0);
    }
}

// The logs of the successor have all that its clients are to be told.
static void expect_nothing_missed(void) {
    for (uint32_t i = 0; i < s.client_count; ++i) {
        const cairn_session_replication *replication = s.server->sessions[i].replication;
        assert_int_equal(replication->events.missed, 0);
        assert_int_equal(replication->game.missed, 0);
    }
}

TEST("clients of every mode play on with another server, and notice nothing") {
    story_start(&s, NULL);
    const uint32_t predicts = story_join(&s, CAIRN_MODE_PREDICT, false);
    const uint32_t shown = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    const uint32_t locked = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    const uint32_t heals = story_join(&s, CAIRN_MODE_HEAL, false);
    s.clients[predicts].buttons = 1;
    story_run_ms(&s, 1000);
    begin(NULL);
    step_beside(1000);
    assert_true(takes.ticks >= 55);
    assert_true(takes.ticks_min == takes.ticks);
    const uint64_t stepped = s.clients[locked].ticks_stepped;
    const uint32_t keyframes = s.clients[shown].keyframes;
    const uint32_t states = s.clients[predicts].states_begun;
    const uint64_t tick = story_tick(&s);
    const uint32_t late = s.server->sessions[0].input_timing.inputs_late;
    swap();
    assert_int_equal(story_tick(&s), tick);
    expect_nothing_missed();
    story_run_ms(&s, 2000);
    check_clients();
    // Every tick ran, none twice.
    assert_int_equal(story_tick(&s), tick + 120);
    assert_in_range(s.clients[locked].ticks_stepped - stepped, 118, 121);
    // Deltas go on against snapshots that the successor made for itself.
    assert_int_equal(s.clients[shown].keyframes, keyframes);
    assert_true(s.snapshots_checked > 40);
    assert_int_equal(s.clients[predicts].states_begun, states);
    assert_int_equal(s.server->sessions[0].input_timing.inputs_late, late);
    assert_int_equal(story_statistics(&s).total.inputs_late, 0);
    assert_int_equal(s.server->sessions[heals].mode, CAIRN_MODE_HEAL);
    assert_true(s.clients[heals].ticks_stepped > 200);
    // Leaving and joining work as before.
    story_leave(&s, shown);
    story_run_ms(&s, 200);
    assert_int_equal(story_statistics(&s).clients, 3);
    const uint32_t late_joiner = story_join(&s, CAIRN_MODE_PREDICT, false);
    story_run_ms(&s, 1000);
    assert_true(s.clients[late_joiner].welcomed);
    assert_int_equal(s.clients[late_joiner].roots_wrong, 0);
    assert_true(s.clients[late_joiner].ticks_stepped > 20);
}

TEST("clients of two rooms play on, each in its own") {
    uint32_t other;
    story_start(&s, NULL);
    cairn_server_room_config config = cairn_server_room_config_default();
    config.name = "other";
    config.scene = story_scene();
    config.players_max = 1; // the fewest
    assert_int_equal(
        cairn_server_room_create(s.server, s.now_ns, &config, &other, NULL), CAIRN_ROOM_CREATED);
    (void)story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    const uint32_t client = story_join_room(&s, "other", CAIRN_MODE_LOCKSTEP);
    story_run_ms(&s, 500);
    begin(NULL);
    step_beside(300);
    const uint64_t stepped = s.clients[client].ticks_stepped;
    swap();
    story_run_ms(&s, 500);
    check_clients();
    assert_int_equal(story_statistics(&s).clients, 2);
    assert_in_range(s.clients[client].ticks_stepped - stepped, 28, 31);
}

static uint32_t used_tokens(const cairn_server *server) {
    const cairn_token_history *history = &server->context.netcode->history;
    uint32_t count = 0;
    for (uint32_t i = 0; i < history->capacity; ++i) {
        count += history->records[i].used ? 1 : 0;
    }
    return count;
}

TEST("a room that has run for long is handed over as a new one is") {
    cairn_server_config config = story_config();
    config.first_room.recorded = false;
    story_start(&s, &config);
    story_run_ms(&s, 72000);
    assert_true(story_tick(&s) > 4200);
    const uint32_t plays = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 500);
    begin(NULL);
    step_beside(200);
    swap();
    const uint64_t tick = story_tick(&s);
    const uint64_t stepped = s.clients[plays].ticks_stepped;
    story_run_ms(&s, 500);
    assert_true(story_tick(&s) >= tick + 25);
    assert_true(s.clients[plays].ticks_stepped >= stepped + 20);
    check_clients();
}

TEST("the successor knows the tokens that made sessions, and takes new ones") {
    story_start(&s, NULL);
    story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 300);
    assert_int_equal(used_tokens(s.server), 1);
    begin(NULL);
    step_beside(200);
    swap();
    assert_int_equal(used_tokens(s.server), 1);
    // Not those of an earlier run: it goes on with the first one's start.
    assert_int_equal(s.server->context.netcode->config.start_ns, STORY_START_NS);
    story_run_ms(&s, 300);
    check_clients();
    const uint32_t added = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 600);
    assert_true(s.clients[added].welcomed);
}

TEST("a client that is on its way into a room arrives") {
    for (uint32_t ms = 4; ms <= 200; ms += 28) {
        story_start(&s, NULL);
        story_join(&s, CAIRN_MODE_LOCKSTEP, false);
        story_run_ms(&s, 200);
        begin(NULL);
        step_beside(100);
        const uint32_t coming = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
        step_beside(ms);
        swap();
        story_run_ms(&s, 1500);
        assert_true(s.clients[coming].welcomed);
        assert_int_equal(s.clients[coming].roots_wrong, 0);
        assert_true(s.clients[coming].ticks_stepped > 60);
        check_clients();
        cairn_handover_end(&gives);
        cairn_handover_end(&takes);
        takes = (cairn_handover){0};
    }
}

TEST("what was lost on its way to a client comes from the successor") {
    story_start(&s, NULL);
    const uint32_t locked = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 500);
    begin(NULL);
    step_beside(200);
    s.server_unheard = true;
    cairn_room_time_notify(
        s.server, s.server->sessions[0].room, CAIRN_EVENT_RATE, CAIRN_TIME_SPEED_REAL);
    step_beside(40);
    s.server_unheard = false;
    assert_int_equal(s.clients[locked].notice.kind, 0);
    swap();
    story_run_ms(&s, 1000);
    assert_int_equal(s.clients[locked].notice.kind, CAIRN_EVENT_RATE);
    check_clients();
}

// As if another build had stepped a body otherwise. Both continue, and after so many milliseconds
// the ticks are compared.
static void expect_difference(uint32_t ms, const char *part) {
    char expected[96];
    story_start(&s, NULL);
    story_join(&s, CAIRN_MODE_PREDICT, false);
    story_run_ms(&s, 500);
    begin(NULL);
    step_beside(100);
    cairn_world *world = successor->rooms.rooms[0]->world;
    cairn_body_state bodies[STORY_BODIES_MAX];
    const uint32_t count = cairn_world_bodies(world, bodies, STORY_BODIES_MAX);
    cairn_body_set_velocity(
        world, bodies[count - 1].id, (cairn_vec3){0, 1, 0}, bodies[count - 1].angular_velocity);
    snprintf(expected, sizeof expected, "room main differs after tick %" PRIu64 ": %s",
        cairn_world_tick(world) + 1, part);
    bool agree = true;
    for (uint32_t at = 0; agree && at < 120; at += ms) {
        story_run_ms(&s, ms);
        agree = carry_ticks();
    }
    assert_false(agree);
    if (strstr(takes.why, expected) == NULL) {
        fail_msg("%s, not %s", takes.why, expected);
    }
    // The old one goes on.
    story_run_ms(&s, 500);
    check_clients();
}

// Changes a command of those that were written last, of a tick from `first` on; false: they have
// none.
static bool spoil_command(uint64_t first) {
    const cairn_room *room = s.server->rooms.rooms[0];
    for (uint64_t tick = first; tick < room->scheduler.tick; ++tick) {
        uint32_t count;
        const cairn_command *commands = cairn_command_log_commands(room->command_log, tick, &count);
        for (size_t at = 0; count > 0 && at + sizeof *commands <= record.size; ++at) {
            if (memcmp(record.out + at, commands, sizeof *commands) == 0) {
                cairn_command spoiled = commands[0];
                spoiled.move.x = 2.0f;
                assert_int_not_equal(cairn_command_check(&spoiled), CAIRN_OK);
                memcpy(record.out + at, &spoiled, sizeof spoiled);
                return true;
            }
        }
    }
    return false;
}

TEST("a command that may not enter a world is refused by the one that steps beside") {
    story_start(&s, NULL);
    const uint32_t plays = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 500);
    begin(NULL);
    step_beside(100);
    const uint64_t first = story_tick(&s);
    s.clients[plays].buttons = 1;
    story_run_ms(&s, 100);
    bool any;
    begin_record();
    assert_true(cairn_handover_give_ticks(&gives, s.server, &record, &any));
    assert_true(any);
    assert_true(spoil_command(first));
    cairn_archive in = written();
    assert_false(cairn_handover_take_ticks(&takes, successor, &in));
    assert_string_equal(takes.why, "what was handed over is malformed: a command");
}

TEST("a world that differs is found at its tick, and the part is named") {
    expect_difference(4, "bodies");
}

TEST("of several ticks that are compared at once the first that differs is named") {
    expect_difference(120, "of several ticks that ran at once");
}

TEST("a room that closes, opens or gets another world meanwhile ends the hand-over") {
    story_start(&s, NULL);
    story_run_ms(&s, 100);
    begin(NULL);
    cairn_server_room_config config = cairn_server_room_config_default();
    config.name = "second";
    config.scene = kit_scene_stack_and_row();
    uint32_t room;
    assert_int_equal(
        cairn_server_room_create(s.server, s.now_ns, &config, &room, NULL), CAIRN_ROOM_CREATED);
    bool any;
    begin_record();
    assert_false(cairn_handover_give_ticks(&gives, s.server, &record, &any));
    assert_string_equal(gives.why, "a room was created meanwhile; try again");
    cairn_handover_end(&gives);
    assert_true(cairn_handover_begin(&gives, s.server));
    assert_int_equal(gives.room_count, 2);
    cairn_server_room_destroy(s.server, s.now_ns, room, "closed");
    begin_record();
    assert_false(cairn_handover_give_ticks(&gives, s.server, &record, &any));
    assert_string_equal(gives.why, "a room was closed meanwhile; try again");
}

// Reads `size` bytes of what was written into a fresh successor.
static bool takes_clients_of(const uint8_t *bytes, size_t size) {
    cairn_archive in = cairn_archive_reader(bytes, size);
    return cairn_handover_take_clients(&takes, successor, s.now_ns, &in);
}

static void begin_again(void) {
    cairn_handover_end(&gives);
    cairn_handover_end(&takes);
    takes = (cairn_handover){0};
    cairn_server_destroy(successor);
    begin(NULL);
}

TEST("a record that is cut or changed is refused by name, or does no harm") {
    story_start(&s, NULL);
    story_join(&s, CAIRN_MODE_PREDICT, false);
    story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 500);
    begin(NULL);
    begin_record();
    cairn_handover_give_clients(&gives, s.server, s.now_ns, &record);
    const size_t size = record.size;
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    uint32_t refused = 0;
    uint32_t tried = 0;
    for (size_t at = 0; at < size; at += 1 + size / 97) {
        begin_again();
        begin_record();
        cairn_handover_give_clients(&gives, s.server, s.now_ns, &record);
        assert_int_equal(record.size, size);
        memcpy(bytes, record.out, size);
        assert_false(takes_clients_of(bytes, at));
        assert_non_null(strstr(takes.why, "malformed: "));
        begin_again();
        bytes[at] ^= (uint8_t)(1u << at % 8);
        bytes[(at * 7 + 3) % size] ^= 0x80;
        const bool taken = takes_clients_of(bytes, size);
        refused += taken ? 0 : 1;
        tried += 1;
        // Whatever it holds, it may be driven.
        for (uint32_t i = 0; taken && i < 50; ++i) {
            uint8_t datagram[CAIRN_DATAGRAM_SIZE_MAX];
            cairn_address to;
            const uint64_t now_ns = s.now_ns + i * 16 * 1000000;
            cairn_server_advance(successor, now_ns);
            while (cairn_server_send(successor, now_ns, &to, datagram) > 0) {}
        }
    }
    free(bytes);
    assert_true(tried > 90 && refused > 0);
    story_run_ms(&s, 500);
    check_clients();
}

TEST("a client's places in logs are handed over as what is behind them") {
    story_start(&s, NULL);
    story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 500);
    begin(NULL);
    step_beside(100);
    struct cairn_server_job *job = &s.server->rooms.rooms[0]->job;
    cairn_session_replication *own = s.server->sessions[0].replication;
    assert_true(own->events.begun && own->game.begun);
    assert_int_equal(own->events.next, job->events.written);
    // As if there had been more, and three of one log were not sent yet.
    job->events.written += 1000;
    own->events.next += 1000;
    job->game_messages.written += 2003;
    own->game.next += 2000;
    job->game_events.written += 3000;
    own->game.next_event += 3000;
    swap();
    job = &s.server->rooms.rooms[0]->job;
    own = s.server->sessions[0].replication;
    assert_int_equal(own->events.next, job->events.written);
    assert_int_equal(own->events.missed, 0);
    assert_int_equal(job->game_messages.written, 0);
    assert_int_equal(own->game.missed, 3); // the successor has none
    assert_int_equal(own->game.next, 0);
    assert_int_equal(own->game.next_event, job->game_events.written);
}

TEST("links are made before they are needed, and otherwise then") {
    cairn_handover_links links = {0};
    cairn_link *taken[5];
    story_start(&s, NULL);
    cairn_handover_links_prepare(&links, s.server, 64, 2);
    assert_int_equal(links.count, 2);
    cairn_handover_links_prepare(&links, s.server, 128, 2); // one size alone
    assert_int_equal(links.count, 2);
    for (uint32_t i = 0; i < 5; ++i) {
        assert_true(cairn_handover_links_take(&links, s.server, i == 1 ? 128 : 64, &taken[i]));
        assert_int_equal(links.count, i < 2 ? 1 : 0);
    }
    for (uint32_t i = 0; i < 5; ++i) {
        cairn_link_destroy(taken[i]);
    }
    cairn_handover_links_prepare(&links, s.server, 64, UINT32_MAX);
    assert_int_equal(links.count, s.server->config.clients_max);
    cairn_handover_links_end(&links);
    assert_int_equal(links.count, 0);
}

TEST("ticks are told when there are some") {
    bool any;
    story_start(&s, NULL);
    story_run_ms(&s, 100);
    begin(NULL);
    begin_record();
    assert_true(cairn_handover_give_ticks(&gives, s.server, &record, &any));
    assert_false(any);
    story_run_ms(&s, 100);
    begin_record();
    assert_true(cairn_handover_give_ticks(&gives, s.server, &record, &any));
    assert_true(any);
}

TEST("of a list that changed since, a client has with the successor what it was sent of it") {
    static cairn_shape_id sent[STORY_BODIES_MAX];
    story_start(&s, NULL);
    story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 500);
    begin(NULL);
    step_beside(100);
    cairn_room *room = s.server->rooms.rooms[0];
    cairn_shapes_sent *own = &s.server->sessions[0].replication->shapes;
    assert_true(room->shape_capacity <= STORY_BODIES_MAX);
    assert_int_equal(own->revision, room->replication->shapes.revision);
    assert_true(cairn_shapes_sent_own(own, &room->replication->shapes));
    // As if the newest ones were on their way, and one of those before as well.
    uint32_t count = 0;
    own->revision -= 1;
    for (uint32_t i = 0; i < room->shape_capacity; ++i) {
        own->own[i] = i % 3 == 0 ? 0 : own->own[i];
        count += own->own[i] != 0 ? 1 : 0;
        sent[i] = own->own[i];
    }
    assert_true(count >= 2);
    swap();
    room = s.server->rooms.rooms[0];
    own = &s.server->sessions[0].replication->shapes;
    assert_memory_equal(own->ids, sent, room->shape_capacity * sizeof *sent);
}

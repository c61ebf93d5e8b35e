// SPDX-License-Identifier: MIT
// A complete server in memory with plain clients: what each is sent, and what no client can do.
#include "tests/kit/test.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "net/link_header.h"
#include "schema/scene.h"
#include "server/core/server_state.h"
#include "tests/kit/packed.h"
#include "tests/kit/scenes.h"
#include "tests/server/story.h"

static story s;

BEFORE_EACH {
    story_start(&s, NULL);
}

AFTER_EACH {
    story_end(&s);
}

// cairn-token issues tokens for this protocol unless it is told otherwise.
TEST("every reason to drop is listed by layer and text") {
    cairn_server_statistics statistics = {0};
    cairn_server_drop drops[CAIRN_SERVER_DROPS_MAX];
    assert_int_equal(cairn_server_drops_read(&statistics, drops), 0);
    memset(statistics.drops_netcode, 1, sizeof statistics.drops_netcode);
    memset(statistics.drops_link, 1, sizeof statistics.drops_link);
    const uint32_t count = cairn_server_drops_read(&statistics, drops);
    uint32_t links = 0;
    for (uint32_t i = 0; i < count; ++i) {
        links += strcmp(drops[i].layer, "link") == 0 ? 1 : 0;
        for (uint32_t k = 0; k < i; ++k) {
            assert_true(strcmp(drops[i].layer, drops[k].layer) != 0 ||
                        strcmp(drops[i].reason, drops[k].reason) != 0);
        }
    }
    assert_int_equal(links, CAIRN_LINK_DROP_COUNT - 1);
}

TEST("the default config takes the tokens that are issued by default") {
    assert_true(cairn_server_config_default().protocol_id == CAIRN_PROTOCOL_ID_DEFAULT);
}

TEST("WELCOME describes the room") {
    story_run_ms(&s, 500);
    uint32_t player = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 200);
    const story_client *client = &s.clients[player];
    assert_true(client->welcomed);
    assert_int_equal(client->welcome.slot, 0);
    assert_int_equal(client->welcome.mode, CAIRN_MODE_INTERPOLATE);
    assert_int_equal(client->welcome.tick_rate_hz, 60);
    assert_int_equal(client->welcome.snapshot_rate_hz, 20);
    assert_int_equal(client->welcome.sim_version, CAIRN_SIM_VERSION);
    assert_int_equal(client->welcome.rules_version, cairn_rules_sandbox.version);
    assert_string_equal(client->rules_name, cairn_rules_sandbox.name);
    assert_string_equal(client->scene_name, "test");
    assert_in_range(client->welcome.tick, 30, 40);
    assert_true(story_has_event(&s, "client_connected client_joined client_playing"));
    cairn_server_client_info info;
    assert_true(cairn_server_client_read(s.server, 0, &info));
    assert_true(info.connected && info.welcomed);
    assert_int_equal(info.client_id, client->client_id);
    assert_false(cairn_server_client_read(s.server, 1, &info));
    assert_false(cairn_server_client_read(s.server, STORY_CLIENTS_MAX, &info));
    const uint32_t watcher = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    story_run_ms(&s, 200);
    assert_true(cairn_server_client_read(s.server, watcher, &info));
    assert_int_equal(info.slot, CAIRN_SLOT_NONE);
    assert_int_equal(info.input_waits, 0); // nobody waits for it
    assert_int_equal(info.input_wait_ns, 0);
}

TEST("the payloads of a client that left stay counted") {
    const uint32_t client = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 300);
    const uint64_t taken = story_statistics(&s).drops_link[0];
    assert_true(taken > 0);
    story_leave(&s, client);
    story_run_ms(&s, 100);
    assert_int_equal(story_statistics(&s).clients, 0);
    assert_true(story_statistics(&s).drops_link[0] >= taken);
}

TEST("the bodies that are awake are counted") {
    story_run_ms(&s, 100);
    const cairn_world_counts counts = cairn_world_counts_read(story_world(&s));
    assert_true(counts.bodies_awake > 0);
    assert_int_equal(story_statistics(&s).total.bodies, counts.bodies);
    assert_int_equal(story_statistics(&s).total.bodies_awake, counts.bodies_awake);
}

TEST("an interpolating client sees the world bit for bit") {
    uint32_t player = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 2000);
    const story_client *client = &s.clients[player];
    assert_in_range(client->keyframes, 1, 3);
    assert_in_range(client->deltas, 30, 40);
    assert_int_equal(client->deltas_failed, 0);
    assert_int_equal(client->decode_failures, 0);
    assert_in_range(s.snapshots_checked, 35, 400);
    assert_int_equal(s.snapshots_wrong, 0);
    const cairn_server_statistics statistics = story_statistics(&s);
    assert_int_equal(statistics.total.keyframes_sent, client->keyframes);
    assert_int_equal(statistics.total.deltas_sent, client->deltas);
    assert_true(statistics.total.snapshot_bytes > 0);
}

TEST("each client gets the delta of its own baseline") {
    uint32_t behind = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    uint32_t ahead = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    s.clients[ahead].buttons = CAIRN_SANDBOX_JUMP;
    story_run_ms(&s, 400);
    s.clients[behind].mute_inputs = true; // its baseline stays where it is
    story_run_ms(&s, 1500);
    for (uint32_t i = behind; i <= ahead; ++i) {
        assert_true(s.clients[i].deltas > 30);
        assert_int_equal(s.clients[i].deltas_failed, 0);
    }
    assert_true(s.snapshots_checked > 60);
    assert_int_equal(s.snapshots_wrong, 0);
}

// Bodies in no order, so that their keyframe is long if poses are fine.
static const cairn_scene *disorder(bool says_so) {
    static char texts[2][32768]; // kit_scene knows a scene by its address
    char *text = texts[says_so];
    const size_t size = sizeof texts[says_so];
    cairn_random random = cairn_random_of(1);
    const char *precision = says_so ? "'position_steps_per_m':10000," : "";
    int used = snprintf(text, size, "{'name':'disorder',%s'bodies':[{}", precision);
    for (int i = 0; i < 300; ++i) {
        const float x = 500.0f * cairn_random_unit(&random);
        used += snprintf(text + used, size - (size_t)used, ",{'position':[%.3f,%.3f,0]}", (double)x,
            500.0 * (double)cairn_random_unit(&random));
    }
    snprintf(text + used, size - (size_t)used, "]}");
    return kit_scene(text);
}

// The room says how fine poses are, or its scene does.
TEST("a long keyframe is sent once until it is no longer a baseline") {
    for (uint32_t i = 0; i < 2; ++i) {
        const bool by_scene = i == 1;
        cairn_server_config config = story_config();
        config.first_room.position_steps_per_m = by_scene ? 0 : 10000;
        config.first_room.scene = disorder(by_scene);
        story_start(&s, &config);
        uint32_t muted = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
        s.clients[muted].mute_inputs = true;
        story_run_ms(&s, 2500);
        assert_int_equal(s.clients[muted].keyframes, 1);
        story_run_ms(&s, 1500); // no baseline is held for three seconds
        assert_int_equal(s.clients[muted].keyframes, 2);
        assert_int_equal(s.clients[muted].deltas, 0);
        story_end(&s);
    }
}

TEST("a short keyframe comes with every snapshot, later less often, until one is acknowledged") {
    cairn_server_config config = story_config();
    config.first_room.scene = kit_scene("{'name': 'empty', 'body_capacity': 8, 'shape_capacity': 8,"
                                        " 'contact_capacity': 8, 'bodies': []}");
    story_start(&s, &config);
    uint32_t muted = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    s.clients[muted].mute_inputs = true;
    story_run_ms(&s, 400);
    assert_in_range(s.clients[muted].keyframes, 6, 8);
    story_run_ms(&s, 1600);
    const uint32_t sent = s.clients[muted].keyframes;
    assert_in_range(sent, 16, 24);
    s.clients[muted].mute_inputs = false;
    story_run_ms(&s, 1000);
    assert_in_range(s.clients[muted].keyframes, sent, sent + 1);
    assert_in_range(s.clients[muted].deltas, 18, 20);
}

TEST("snapshots come evenly at their rate") {
    static const uint32_t rates[][2] = {{60, 20}, {60, 60}, {60, 7}, {128, 30}, {10, 1}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; ++i) {
        cairn_server_config config = story_config();
        config.first_room.tick_rate_hz = rates[i][0];
        config.first_room.snapshot_rate_hz = rates[i][1];
        story_start(&s, &config);
        uint32_t player = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
        story_run_ms(&s, 2100);
        const story_client *client = &s.clients[player];
        uint32_t most = 2 * rates[i][1] + rates[i][1] / 8 + 1;
        assert_in_range(client->held_count, 2 * rates[i][1] - rates[i][1] / 8 - 1, most);
        uint64_t least = rates[i][0] / rates[i][1];
        for (uint32_t n = 1; n < client->held_count && n < STORY_HELD_MAX; ++n) {
            if (client->held_count > STORY_HELD_MAX && n == client->held_count % STORY_HELD_MAX) {
                continue;
            }
            assert_in_range(client->held[n].tick - client->held[n - 1].tick, least, least + 1);
        }
        story_end(&s);
    }
}

TEST("a lockstep client holds the same world") {
    uint32_t first = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 1500);
    uint32_t late = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    s.clients[first].buttons = CAIRN_SANDBOX_JUMP;
    story_run_ms(&s, 2000);
    for (uint32_t i = first; i <= late; ++i) {
        const story_client *client = &s.clients[i];
        assert_non_null(client->world);
        assert_int_equal(client->states_begun, 1);
        assert_int_equal(client->roots_wrong, 0);
        assert_int_equal(cairn_world_tick(client->world), story_tick(&s));
        assert_int_equal(cairn_world_diff(client->world, story_world(&s), NULL, 0), 0);
    }
    assert_true(s.clients[first].ticks_stepped > 150);
    assert_in_range(s.clients[late].state_tick, 88, 100);
    const cairn_server_statistics statistics = story_statistics(&s);
    assert_true(statistics.total.roots_compared > 200);
    assert_int_equal(statistics.total.roots_differed, 0);
    assert_int_equal(statistics.total.players, 2);
    assert_true(statistics.total.inputs_taken > 200);
}

TEST("a client whose root differs is counted and logged") {
    uint32_t player = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    s.clients[player].corrupt_roots = true;
    story_run_ms(&s, 500);
    const cairn_server_statistics statistics = story_statistics(&s);
    assert_true(statistics.total.roots_differed > 10);
    assert_int_equal(statistics.total.roots_differed, statistics.total.roots_compared);
    assert_true(story_has_event(&s, "root_differed"));
}

TEST("a lockstep client that falls behind the command log restarts from a state") {
    uint32_t player = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    story_run_ms(&s, 1000);
    assert_int_equal(s.clients[player].states_begun, 1);
    s.clients[player].mute_inputs = true;
    story_run_ms(&s, 19000);
    assert_int_equal(s.clients[player].states_begun, 2);
    s.clients[player].mute_inputs = false;
    story_run_ms(&s, 1000);
    assert_int_equal(cairn_world_tick(s.clients[player].world), story_tick(&s));
    assert_int_equal(s.clients[player].roots_wrong, 0);
}

TEST("a room full of players still takes spectators") {
    for (uint32_t i = 0; i < 4; ++i) {
        story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    }
    story_run_ms(&s, 200);
    uint32_t fifth = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    uint32_t spectator = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    story_run_ms(&s, 500);
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(s.clients[i].welcome.slot, i);
    }
    assert_int_equal(s.clients[fifth].refusal, CAIRN_REFUSAL_ROOM_FULL);
    assert_int_equal(story_state(&s, fifth), CAIRN_NETCODE_STATE_DISCONNECTED);
    assert_int_equal(s.clients[spectator].welcome.slot, CAIRN_SLOT_NONE);
    assert_true(s.clients[spectator].deltas > 3);
    assert_int_equal(story_statistics(&s).total.players, 4);
    assert_int_equal(story_statistics(&s).clients, 5);
}

TEST("a slot is free again after its player left") {
    uint32_t first = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 200);
    uint32_t bodies = story_statistics(&s).total.bodies;
    story_leave(&s, first);
    story_run_ms(&s, 200);
    assert_int_equal(story_statistics(&s).total.players, 0);
    assert_int_equal(story_statistics(&s).total.bodies, bodies - 1);
    assert_int_equal(story_statistics(&s).total.leaves, 1);
    assert_true(story_has_event(&s, "client_left"));
    uint32_t second = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 200);
    assert_int_equal(s.clients[second].welcome.slot, 0);
    assert_int_equal(story_statistics(&s).total.bodies, bodies);
}

TEST("a client that cannot join is refused with the reason") {
    const cairn_hello lockstep = story_hello(CAIRN_MODE_LOCKSTEP, false);
    const cairn_hello thin = story_hello(CAIRN_MODE_INTERPOLATE, false);
    struct {
        cairn_hello hello;
        uint32_t refusal;
    } rows[] = {{thin, CAIRN_REFUSAL_PROTOCOL_VERSION}, {thin, 0},
        {lockstep, CAIRN_REFUSAL_SIM_VERSION}, {lockstep, CAIRN_REFUSAL_RULES},
        {lockstep, CAIRN_REFUSAL_RULES}, {lockstep, 0}};
    rows[0].hello.protocol_version += 1;
    rows[1].hello.sim_version += 1; // shows, does not simulate
    rows[1].hello.rules_name = "";
    rows[2].hello.sim_version += 1;
    rows[3].hello.rules_name = "";
    rows[4].hello.rules_version += 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint32_t client = story_join_as(&s, &rows[i].hello);
        story_run_ms(&s, 400);
        assert_int_equal(s.clients[client].refusal, rows[i].refusal);
        assert_int_equal(s.clients[client].welcomed, rows[i].refusal == 0);
        assert_int_equal(story_state(&s, client), rows[i].refusal == 0
                                                      ? CAIRN_NETCODE_STATE_CONNECTED
                                                      : CAIRN_NETCODE_STATE_DISCONNECTED);
    }
}

// A room without rules; `side` cubed balls that fall for ever and meet nothing.
static void start_bare(uint32_t side) {
    cairn_scene_body falling = {
        .def = {.kind = CAIRN_BODY_DYNAMIC, .rotation = {.w = 1}, .gravity_scale = 1},
        .grid_count = {side, side, side},
        .grid_spacing = {2, 2, 2}};
    cairn_scene scene = cairn_scene_default();
    strcpy(scene.name, "bare");
    scene.world.body_capacity = side * side * side;
    scene.world.shape_capacity = 1;
    scene.world.contact_capacity = 1;
    scene.bodies = &falling;
    scene.body_count = 1;
    scene.world.gravity = (cairn_vec3){0};
    scene.world.sleep = 0;
    cairn_server_config config = story_config();
    config.first_room.scene = &scene;
    story_start(&s, &config);
}

TEST("a room without rules requires none of a client") {
    start_bare(1);
    const cairn_hello has_sandbox = story_hello(CAIRN_MODE_LOCKSTEP, false);
    uint32_t client = story_join_as(&s, &has_sandbox);
    story_run_ms(&s, 1000);
    assert_true(s.clients[client].welcomed);
    assert_string_equal(s.clients[client].rules_name, "");
    assert_non_null(s.clients[client].world);
    assert_in_range(cairn_world_tick(s.clients[client].world), 30, 61);
}

TEST("a room with more bodies than a keyframe holds sends parts") {
    for (uint32_t side = 5; side <= 26; side += 21) {
        start_bare(side);
        const uint32_t client = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
        story_run_ms(&s, 400);
        assert_true(s.clients[client].welcomed);
        assert_int_equal(s.clients[client].keyframes > 0, side == 5);
        assert_int_equal(s.clients[client].parts > 0, side == 26);
        story_end(&s);
    }
}

TEST("a client that floods malformed messages is counted and disconnected") {
    uint32_t hostile = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    uint32_t honest = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 200);
    s.clients[hostile].silent = true;
    uint8_t nonsense[64];
    for (uint32_t i = 0; i < 40; ++i) {
        memset(nonsense, (int)i, sizeof nonsense);
        if (story_state(&s, hostile) == CAIRN_NETCODE_STATE_CONNECTED) {
            story_send_bytes(&s, hostile, nonsense, 1 + i, i % 2 == 0);
        }
        story_run_ms(&s, 8);
    }
    story_run_ms(&s, 400);
    assert_int_equal(s.clients[hostile].refusal, CAIRN_REFUSAL_MALFORMED);
    assert_int_equal(story_state(&s, hostile), CAIRN_NETCODE_STATE_DISCONNECTED);
    assert_int_equal(story_state(&s, honest), CAIRN_NETCODE_STATE_CONNECTED);
    uint64_t refused = 0;
    const cairn_server_statistics statistics = story_statistics(&s);
    for (uint32_t i = 1; i < CAIRN_DECODE_REFUSAL_COUNT; ++i) {
        refused += statistics.drops_decode[i];
    }
    assert_in_range(refused, 16, 40);
    assert_int_equal(statistics.total.players, 1);
    assert_int_equal(s.snapshots_wrong, 0);
}

TEST("a client that sends no HELLO is disconnected") {
    cairn_hello hello = story_hello(CAIRN_MODE_INTERPOLATE, false);
    uint32_t client = story_join_as(&s, &hello);
    s.clients[client].silent = true;
    story_run_ms(&s, 14000);
    assert_int_equal(story_statistics(&s).clients, 1);
    story_run_ms(&s, 2000);
    assert_int_equal(story_statistics(&s).clients, 0);
    assert_true(story_has_event(&s, "hello_missing"));
    assert_int_equal(story_state(&s, client), CAIRN_NETCODE_STATE_DISCONNECTED);
}

TEST("a client learns how early its inputs arrive") {
    uint32_t good = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    uint32_t early = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 100);
    s.clients[early].mute_inputs = true;
    uint64_t now = story_tick(&s);
    uint64_t before_joining = s.clients[early].welcome.tick - 1;
    const cairn_wire_input inputs[] = {{.tick = before_joining, .sequence = 1},
        {.tick = now + 63, .sequence = 2}, {.tick = now + 80, .sequence = 3}};
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_message message = kit_input(&(cairn_input_head){.input_count = 1}, &inputs[i]);
        story_send(&s, early, &message, false);
        story_run_ms(&s, 1);
    }
    story_run_ms(&s, 1000);
    const cairn_wire_timing *timing = &s.clients[good].timing;
    assert_in_range(timing->input_acknowledged + 5, story_tick(&s), UINT32_MAX);
    assert_true(timing->lateness_us_last < -20000 && timing->lateness_us_last > -120000);
    assert_true(timing->lateness_us_worst < 0);
    timing = &s.clients[early].timing;
    assert_int_equal(timing->inputs_early_refused, 1);
    assert_int_equal(timing->inputs_late, 1);
    assert_true(timing->lateness_us_worst < -500000);
    assert_int_equal(story_statistics(&s).total.inputs_early_refused, 1);
}

TEST("shapes are sent once and again when they change") {
    uint32_t spectator = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    story_run_ms(&s, 500);
    story_client *client = &s.clients[spectator];
    assert_int_equal(client->shapes_seen, 31);
    assert_int_equal(client->shapes_removed, 0);
    uint32_t player = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 300);
    assert_int_equal(client->shapes_seen, 32);
    story_leave(&s, player);
    story_run_ms(&s, 300);
    assert_int_equal(client->shapes_seen, 32);
    assert_int_equal(client->shapes_removed, 1);
    assert_int_equal(s.snapshots_wrong, 0);
}

TEST("draining disconnects every client and admits none") {
    for (uint32_t i = 0; i < 4; ++i) {
        story_join(&s, i % 2 == 0 ? CAIRN_MODE_INTERPOLATE : CAIRN_MODE_LOCKSTEP, false);
    }
    story_run_ms(&s, 500);
    uint64_t tick = story_tick(&s);
    cairn_server_drain(s.server, s.now_ns);
    assert_false(cairn_server_drained(s.server));
    story_run_ms(&s, 4);
    assert_true(cairn_server_drained(s.server));
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(story_state(&s, i), CAIRN_NETCODE_STATE_DISCONNECTED);
    }
    assert_int_equal(story_tick(&s), tick);
    uint32_t newcomer = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 500);
    assert_int_equal(story_state(&s, newcomer), CAIRN_NETCODE_STATE_DENIED);
}

TEST("overload skips ticks and reports it") {
    story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 200);
    uint64_t tick = story_tick(&s);
    s.now_ns += CAIRN_NS_PER_S;
    cairn_server_advance(s.server, s.now_ns);
    assert_int_equal(story_tick(&s), tick + 4);
    assert_in_range(story_statistics(&s).total.ticks_skipped, 50, 60);
    assert_int_equal(story_statistics(&s).total.advances_overloaded, 1);
    assert_true(story_has_event(&s, "tick_overload"));
    story_run_ms(&s, 500);
    assert_int_equal(story_statistics(&s).total.advances_overloaded, 1);
    assert_int_equal(s.snapshots_wrong, 0);
}

TEST("a datagram never steps the world") {
    story_run_ms(&s, 100);
    uint64_t tick = story_tick(&s);
    const cairn_address stranger = {.family = CAIRN_ADDRESS_IPV4, .port = 9, .ip = {10, 9, 9, 9}};
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX] = {0};
    for (uint32_t i = 0; i < 1000; ++i) {
        bytes[0] = (uint8_t)i;
        cairn_server_receive(s.server, s.now_ns + 500000000, &stranger, bytes, i);
    }
    assert_int_equal(story_tick(&s), tick);
    uint64_t dropped = 0;
    const cairn_server_statistics statistics = story_statistics(&s);
    for (uint32_t i = 1; i < CAIRN_SERVER_NETCODE_DROPS_MAX; ++i) {
        dropped += statistics.drops_netcode[i];
    }
    assert_int_equal(dropped, 1000);
}

TEST("the deadline is at most a tick away and moves when it is served") {
    story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 300);
    for (uint32_t i = 0; i < 500; ++i) {
        uint64_t deadline = cairn_server_deadline_ns(s.server);
        assert_true(deadline > s.now_ns);
        assert_true(deadline <= s.now_ns + 16666667);
        s.now_ns = deadline - STORY_STEP_NS;
        story_run_ms(&s, 4);
    }
}

TEST("a wait for inputs is announced to every client") {
    cairn_server_config config = story_config();
    config.first_room.wait_ms = 200;
    story_start(&s, &config);
    uint32_t player = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    uint32_t watcher = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    story_run_ms(&s, 500);
    uint32_t ahead = s.clients[player].ahead;
    assert_int_equal(s.clients[watcher].notices[CAIRN_EVENT_INPUT_WAIT], 0);
    s.clients[player].ahead = 0;
    story_run_ms(&s, 150);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(s.clients[i].notices[CAIRN_EVENT_INPUT_WAIT], 1);
        assert_int_equal(s.clients[i].notice.slot, s.clients[player].welcome.slot);
        assert_int_equal(s.clients[i].notice.tick, story_statistics(&s).total.tick);
    }
    uint64_t tick = story_statistics(&s).total.tick;
    story_run_ms(&s, 350);
    assert_int_equal(s.clients[watcher].notices[CAIRN_EVENT_INPUT_WAIT_END], 1);
    assert_in_range(s.clients[watcher].notice.value, 200, 220);
    // The slot is not waited for until one of its inputs arrives on time.
    assert_in_range(story_statistics(&s).total.tick, tick + 10, tick + 20);
    assert_int_equal(story_statistics(&s).total.input_waits, 1);
    s.clients[player].ahead = ahead;
    story_run_ms(&s, 500);
    s.clients[player].ahead = 0;
    story_run_ms(&s, 300);
    assert_int_equal(s.clients[watcher].notices[CAIRN_EVENT_INPUT_WAIT], 2);
    assert_int_equal(s.clients[player].roots_wrong, 0);
}

TEST("a config that cannot serve is refused") {
    static const uint8_t secret[CAIRN_KEY_SIZE] = {1};
    static const cairn_address address = {.family = CAIRN_ADDRESS_IPV4, .port = 9, .ip = {127}};
    cairn_server_config sound = story_config();
    sound.private_key = secret;
    sound.entropy = secret;
    sound.public_addresses = &address;
    sound.public_address_count = 1;
    cairn_server *accepted;
    assert_int_equal(cairn_server_create(&sound, &accepted), CAIRN_OK);
    cairn_server_destroy(accepted);
    cairn_server_config rows[] = {sound, sound, sound, sound, sound, sound};
    rows[0].clients_max = 0;
    rows[1].clients_max = CAIRN_CLIENTS_MAX + 1;
    rows[2].private_key = NULL;
    rows[3].entropy = NULL;
    rows[4].rooms_max = 0;
    rows[5].rooms_max = CAIRN_ROOMS_MAX + 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_server *server;
        assert_int_equal(cairn_server_create(&rows[i], &server), CAIRN_INVALID_ARGUMENT);
        assert_null(server);
    }
}

TEST("a steady server allocates nothing") {
    story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 4000); // until every frame that server and client keep was used
    s.clients[0].buttons = CAIRN_SANDBOX_JUMP;
    const struct mallinfo2 before = mallinfo2();
    story_run_ms(&s, 2000);
    const struct mallinfo2 after = mallinfo2();
    // The recording may hold another state now, which is larger by a contact and its events: less
    // than what a leak of a few bytes a tick would be.
    assert_in_range(after.uordblks + after.hblkhd, 0, before.uordblks + before.hblkhd + 512);
    assert_int_equal(s.snapshots_wrong, 0);
}

static uint64_t any_tick(cairn_random *random, uint64_t now) {
    switch (cairn_random_below(random, 4)) {
    case 0:
        return now + cairn_random_below(random, 80);
    case 1:
        return now - cairn_random_below(random, now);
    case 2:
        return cairn_random_next(random);
    default:
        return UINT64_MAX - cairn_random_below(random, 2);
    }
}

// A message the codec takes, with values no client of ours would choose.
static void send_anything(cairn_random *random, uint32_t client) {
    uint64_t now = story_tick(&s);
    cairn_wire_input inputs[8];
    uint64_t tick = now - cairn_random_below(random, now);
    for (uint32_t i = 0; i < 8; ++i) {
        tick += i == 0 ? 1 + cairn_random_below(random, 20) : 1;
        inputs[i] = (cairn_wire_input){.tick = tick,
            .sequence = (uint32_t)cairn_random_next(random),
            .buttons = (uint32_t)cairn_random_below(random, 4),
            .move = {.x = cairn_random_unit(random) * 2.0f - 1.0f}};
    }
    const cairn_wire_root root = {.tick = any_tick(random, now), .lo = 1, .hi = 2};
    const cairn_input_head head = {.snapshot_acknowledged = any_tick(random, now),
        .ticks_acknowledged = any_tick(random, now),
        .early = cairn_random_next(random),
        .input_count = (uint32_t)cairn_random_below(random, 9)};
    cairn_message message = kit_input(&head, inputs);
    if (cairn_random_below(random, 4) == 0) {
        message = (cairn_message){
            .kind = CAIRN_MESSAGE_ROOT_REPORT, .root_report = {.roots = &root, .root_count = 1}};
    }
    story_send(&s, client, &message, false);
}

TEST("no message of a client breaks the room") {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        cairn_random random = cairn_random_of(seed);
        story_start(&s, NULL);
        uint32_t shown = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
        uint32_t exact = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
        uint32_t hostile =
            story_join(&s, seed % 2 == 0 ? CAIRN_MODE_LOCKSTEP : CAIRN_MODE_INTERPOLATE, false);
        story_run_ms(&s, 300);
        s.clients[hostile].silent = true;
        for (uint32_t i = 0; i < 200; ++i) {
            send_anything(&random, hostile);
            story_run_ms(&s, 4);
        }
        story_run_ms(&s, 500);
        if (s.snapshots_wrong != 0 || s.clients[exact].roots_wrong != 0 ||
            s.clients[shown].deltas_failed != 0 || s.clients[shown].deltas < 20) {
            fail_msg("seed %u", (unsigned)seed);
        }
        assert_int_equal(cairn_world_tick(s.clients[exact].world), story_tick(&s));
        story_end(&s);
    }
}

TEST("a client that has much to send sends some payloads in a row, and then the others do") {
    static const uint8_t long_message[10000] = {1};    // 10 payloads
    static const uint32_t runs[] = {8, 8, 8, 2, 2, 2}; // server/server.c: SEND_RUN_MAX
    for (uint32_t i = 0; i < 3; ++i) {
        story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    }
    story_run_ms(&s, 500);
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_session *session = &s.server->sessions[i];
        cairn_link_send_unreliable(session->link, long_message, sizeof long_message);
        cairn_session_touch(session);
    }
    uint16_t last = 0;
    for (size_t run = 0; run < sizeof runs / sizeof *runs; ++run) {
        for (uint32_t n = 0; n < runs[run]; ++n) {
            uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
            cairn_address to;
            assert_true(cairn_server_send(s.server, s.now_ns, &to, bytes) > 0);
            assert_true((to.port != last) == (n == 0));
            last = to.port;
        }
    }
}

TEST("readers of the state are counted until they leave") {
    for (uint32_t i = 0; i < 3; ++i) {
        story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    }
    story_run_ms(&s, 300);
    story_leave(&s, 0);
    story_run_ms(&s, 300);
    const cairn_room *room = cairn_room_table_at(&s.server->rooms, CAIRN_ROOM_MAIN);
    assert_int_equal(room->replication->state.held, 1);
    assert_int_equal(room->replication->state.newest->references, 1);
    assert_int_equal(story_statistics(&s).total.states_encoded, 1);
    assert_int_equal(story_statistics(&s).total.state_transfers, 3);
}

TEST("a client whose window is smaller than its state is disconnected") {
    cairn_server_config config = story_config();
    config.first_room.scene = disorder(true);
    story_start(&s, &config);
    s.receive_size_max = 2000;
    const uint32_t client = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    story_run_ms(&s, 1500);
    assert_true(s.clients[client].welcomed);
    assert_int_equal(story_state(&s, client), CAIRN_NETCODE_STATE_DISCONNECTED);
    assert_int_equal(story_statistics(&s).streams_failed, 1);
    assert_int_equal(story_statistics(&s).clients, 0);
    assert_true(story_has_event(&s, "stream_failed"));
}

TEST("a client that acknowledges nothing is disconnected after 30 seconds") {
    const uint32_t deaf = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    const uint32_t other = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    while (!s.clients[deaf].welcomed) {
        story_run_ms(&s, 4);
    }
    s.clients[deaf].deaf = true;
    story_run_ms(&s, 29000);
    assert_int_equal(story_state(&s, deaf), CAIRN_NETCODE_STATE_CONNECTED);
    story_run_ms(&s, 2000);
    assert_int_equal(story_state(&s, deaf), CAIRN_NETCODE_STATE_DISCONNECTED);
    assert_int_equal(story_state(&s, other), CAIRN_NETCODE_STATE_CONNECTED);
    assert_int_equal(story_statistics(&s).streams_failed, 1);
    assert_int_equal(story_tick(&s), cairn_world_tick(s.clients[other].world));
}

// The inputs of 64 ticks, which no other message has.
static cairn_message many_inputs(uint64_t first_tick, uint32_t salt) {
    cairn_random random = cairn_random_of(salt);
    cairn_wire_input inputs[CAIRN_INPUTS_PER_MESSAGE_MAX] = {{0}};
    for (uint32_t i = 0; i < CAIRN_INPUTS_PER_MESSAGE_MAX; ++i) {
        inputs[i] = (cairn_wire_input){.tick = first_tick + i,
            .sequence = (uint32_t)first_tick + i,
            .buttons = (uint32_t)cairn_random_next(&random),
            .move = {cairn_random_unit(&random), 0, cairn_random_unit(&random)}};
    }
    return kit_input(&(cairn_input_head){.input_count = CAIRN_INPUTS_PER_MESSAGE_MAX}, inputs);
}

// Sends one payload with inputs so many times at once; the link takes it once.
static uint32_t flood(uint32_t client, uint32_t times) {
    story_client *own = &s.clients[client];
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    const cairn_message message = many_inputs(story_tick(&s) + 3, 1);
    story_send(&s, client, &message, false);
    const size_t size = cairn_link_next_payload(own->link, s.now_ns, payload);
    for (uint32_t i = 0; i < times && size > 0; ++i) {
        const size_t datagram =
            cairn_netcode_client_encrypt(own->netcode, s.now_ns, payload, size, &to, bytes);
        cairn_server_receive(s.server, s.now_ns, &own->address, bytes, datagram);
    }
    return size > 0 ? times : 0;
}

TEST("a client that sends thousands of payloads a second is not read, and disconnected") {
    const uint32_t flooder = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    const uint32_t other = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 500);
    s.clients[flooder].silent = true;
    uint32_t sent = 0;
    for (uint32_t i = 0; i < 500; ++i) { // for two seconds
        sent += flood(flooder, 20);
        story_run_ms(&s, 4);
    }
    const cairn_server_statistics statistics = story_statistics(&s);
    assert_true(sent > 5000);
    assert_in_range(sent - statistics.payloads_over_budget, 2000, 4000);
    assert_int_equal(story_state(&s, flooder), CAIRN_NETCODE_STATE_CONNECTED);
    for (uint32_t i = 0; i < 1500 && story_state(&s, flooder) == CAIRN_NETCODE_STATE_CONNECTED;
         ++i) {
        flood(flooder, 20);
        story_run_ms(&s, 4);
    }
    assert_int_equal(story_state(&s, flooder), CAIRN_NETCODE_STATE_DISCONNECTED);
    assert_int_equal(story_statistics(&s).clients_flooding, 1);
    assert_true(story_has_event(&s, "client_flooding"));
    cairn_server_drop drops[CAIRN_SERVER_DROPS_MAX];
    const uint32_t count = cairn_server_drops_read(&statistics, drops);
    uint64_t named = 0;
    for (uint32_t i = 0; i < count; ++i) {
        named += strcmp(drops[i].layer, "session") == 0 ? drops[i].count : 0;
    }
    assert_int_equal(named, statistics.payloads_over_budget);
    assert_int_equal(s.clients[other].roots_wrong, 0);
    assert_int_equal(story_tick(&s), cairn_world_tick(s.clients[other].world));
    assert_int_equal(story_statistics(&s).protocol_violations, 0);
}

TEST("a client that floods and comes again has no new budget of payloads") {
    uint32_t sent = 0;
    for (uint32_t times = 0; times < 6; ++times) {
        const uint32_t flooder = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
        story_run_ms(&s, 100);
        s.clients[flooder].silent = true;
        sent += flood(flooder, 1100);
        story_leave(&s, flooder);
        story_run_ms(&s, 100);
        assert_int_not_equal(story_state(&s, flooder), CAIRN_NETCODE_STATE_CONNECTED);
    }
    // A thousand at once, and a thousand in each second.
    assert_in_range(sent - story_statistics(&s).payloads_over_budget, 1000, 3500);
}

// Half of the second message is missing, which nobody notices.
TEST("inputs that a room has are not decoded again") {
    const uint32_t client = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 1500);
    s.clients[client].silent = true;
    const uint64_t first_tick = story_tick(&s) - 40;
    cairn_message message = many_inputs(first_tick, 1);
    story_send(&s, client, &message, false);
    story_run_ms(&s, 4);
    const uint64_t before = story_statistics(&s).total.inputs_repeated;
    message = many_inputs(first_tick, 1);
    message.input.payload_size /= 2;
    story_send(&s, client, &message, false);
    story_run_ms(&s, 4);
    assert_int_equal(story_statistics(&s).total.inputs_repeated - before, 64);
    assert_int_equal(story_statistics(&s).protocol_violations, 0);
}

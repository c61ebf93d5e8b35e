// SPDX-License-Identifier: MIT
// Complete clients and a complete server over the virtual network.

#include "tests/kit/test.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "bridge/snapshot.h"
#include "client_lib/client_parts.h"
#include "net/link_parts.h"
#include "tests/kit/packed.h"
#include "tests/kit/rig.h"
#include <cairn/sim.h>

static const cairn_virtual_path lossy = {.delay_ns = 40000000,
    .jitter_ns = 15000000,
    .loss_permille = 100,
    .repeat_permille = 30,
    .corrupt_permille = 10};

// `path` NULL: 20 ms each way, no loss.
static uint32_t join(rig *p, cairn_client_mode mode, const cairn_virtual_path *path) {
    const cairn_client_config config = rig_config(mode);
    return rig_join(p, &config, path);
}

static void expect_failed(const rig *p, uint32_t client, const char *text) {
    assert_int_equal(rig_state(p, client), CAIRN_CLIENT_FAILED);
    assert_string_equal(cairn_client_failure_text(rig_client(p, client)), text);
}

static uint64_t drops(const rig *p, uint32_t client, const char *layer, const char *reason) {
    cairn_client_drop drop;
    for (uint32_t i = 0; cairn_client_drop_read(rig_client(p, client), i, &drop); i++) {
        if (strcmp(drop.layer, layer) == 0 && strcmp(drop.reason, reason) == 0) {
            return drop.count;
        }
    }
    fail_msg("no reason '%s: %s'", layer, reason);
    return 0;
}

TEST("an interpolating client sees the world") {
    RIG(p, .seed = 1);
    uint32_t watcher = join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
    assert_int_equal(rig_state(&p, watcher), CAIRN_CLIENT_CONNECTING);
    rig_run_ms(&p, 3000);
    assert_int_equal(rig_state(&p, watcher), CAIRN_CLIENT_PLAYING);
    assert_true(rig_look(&p, watcher));
    cairn_client_statistics s = rig_statistics(&p, watcher);
    cairn_body_state bodies[RIG_BODIES_MAX];
    uint32_t count = cairn_world_bodies(rig_server_world(&p), bodies, RIG_BODIES_MAX);
    assert_int_equal(p.views[watcher].sample.body_count, count);
    uint32_t own = 0;
    for (uint32_t i = 0; i < count; i++) { // all at rest by now
        assert_int_equal(p.views[watcher].bodies[i].id, bodies[i].id);
        EXPECT_NEAR(p.views[watcher].bodies[i].position[1], bodies[i].position.y, 0.01);
        assert_int_equal(p.views[watcher].bodies[i].owner, bodies[i].owner);
        own += bodies[i].owner == s.connection.slot ? 1 : 0;
    }
    assert_int_equal(own, 1); // the sandbox rules give each player a body
    assert_true(s.snapshots.deltas > 30 && s.snapshots.keyframes >= 1);
    assert_int_equal(s.snapshots.unusable, 0);
    assert_int_not_equal(s.connection.slot, CAIRN_SLOT_NONE);
    EXPECT_NEAR((double)s.connection.rtt_ns * 1e-6, 42, 12);
    EXPECT_NEAR((double)s.snapshots.interpolation_delay_ns * 1e-6, 52, 12);
}

static const cairn_scene *scene_with_hulls(void) {
    return kit_scene("{'name': 'hulls', 'rules': 'sandbox', 'body_capacity': 32,"
                     " 'shape_capacity': 32, 'contact_capacity': 64, 'bodies': ["
                     "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                     "{'kind': 'dynamic', 'position': [0, 2, 0], 'shapes': ["
                     "{'kind': 'hull', 'hull': 0}]},"
                     "{'kind': 'dynamic', 'position': [4, 2, 0], 'shapes': ["
                     "{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}],"
                     " 'hulls': [{'points': [[-1, 0, -1], [1, 0, -1], [1, 0, 1],"
                     " [-1, 0, 1], [0, 1, 0]]}]}");
}

// The client lists the shapes of the server's world, each with its kind and corners.
static void expect_same_shapes(const rig *r, uint32_t client) {
    const cairn_world *world = rig_server_world(r);
    cairn_client_shape shapes[32];
    cairn_shape_id ids[32];
    uint32_t hulls = 0;
    uint32_t revision = 0;
    const uint32_t count = cairn_client_shapes(rig_client(r, client), shapes, 32, &revision);
    assert_int_equal(count, cairn_world_shapes(world, ids, 32));
    assert_int_equal(cairn_client_shapes(rig_client(r, client), shapes, 0, NULL), count);
    assert_true(revision > 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(shapes[i].id, ids[i]);
        float corners[CAIRN_HULL_VERTICES_MAX][3];
        cairn_vec3 expected[CAIRN_HULL_VERTICES_MAX];
        const uint32_t corner_count = cairn_client_shape_corners(
            rig_client(r, client), shapes[i].id, corners, CAIRN_HULL_VERTICES_MAX);
        assert_int_equal(corner_count, cairn_shape_corners_read(world, shapes[i].id, expected));
        assert_memory_equal(corners, expected, corner_count * sizeof *expected);
        assert_int_equal(corner_count, shapes[i].kind == CAIRN_SHAPE_HULL ? 5 : 0);
        float one[1][3] = {{0}};
        assert_int_equal(
            cairn_client_shape_corners(rig_client(r, client), shapes[i].id, one, 1), corner_count);
        assert_memory_equal(one, corner_count > 0 ? corners : (float[1][3]){{0}}, sizeof one);
        hulls += shapes[i].kind == CAIRN_SHAPE_HULL ? 1 : 0;
    }
    assert_int_equal(hulls, 1);
    float none[1][3];
    assert_int_equal(cairn_client_shape_corners(rig_client(r, client), 77, none, 1), 0); // no shape
}

TEST("a client of every mode lists the server's shapes, with the corners of hulls") {
    static const cairn_client_mode modes[] = {
        CAIRN_CLIENT_INTERPOLATE, CAIRN_CLIENT_LOCKSTEP, CAIRN_CLIENT_PREDICT, CAIRN_CLIENT_HEAL};
    RIG(r, .seed = 5, .scene = scene_with_hulls());
    for (uint32_t i = 0; i < 4; i++) {
        rig_join_mode(&r, modes[i]);
    }
    rig_wait_to_play(&r);
    rig_run_ms(&r, 500);
    for (uint32_t i = 0; i < 4; i++) {
        expect_same_shapes(&r, i);
    }
}

TEST("inputs move the player and arrive just in time") {
    RIG(p, .seed = 3);
    uint32_t player = join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
    rig_run_ms(&p, 1500);
    assert_true(rig_press(&p, player, 0, 1.0f));
    rig_run_ms(&p, 4000);
    cairn_client_statistics before = rig_statistics(&p, player);
    rig_run_ms(&p, 2000);
    cairn_client_statistics s = rig_statistics(&p, player);
    assert_int_equal(s.inputs.late - before.inputs.late, 0);
    assert_true(s.inputs.lateness_us < 0 && s.inputs.lateness_us > -60000);
    const cairn_server_statistics server = rig_server_statistics(&p);
    assert_true(server.total.inputs_taken > 300);
    assert_int_equal(server.total.inputs_early_refused, 0);
}

TEST("an input out of range changes nothing") {
    RIG(p, .seed = 4);
    uint32_t player = join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
    assert_false(rig_press(&p, player, 0, 0.5f)); // no slot yet
    rig_run_ms(&p, 1000);
    assert_true(rig_press(&p, player, 0, 0.5f));
    assert_false(rig_press(&p, player, 0, 1.01f));
    assert_false(rig_press(&p, player, 0, NAN));
    assert_false(rig_press(&p, player, 0, -INFINITY));
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    config.spectator = true;
    uint32_t spectator = rig_join(&p, &config, NULL);
    rig_run_ms(&p, 1000);
    assert_int_equal(rig_state(&p, spectator), CAIRN_CLIENT_PLAYING);
    assert_false(rig_press(&p, spectator, 0, 0.5f));
}

// The client compared every tick since it joined, none differed, and it is not far behind.
static void expect_in_step(const rig *p, uint32_t client, uint64_t compared_min) {
    cairn_client_statistics s = rig_statistics(p, client);
    assert_int_equal(rig_state(p, client), CAIRN_CLIENT_PLAYING);
    assert_int_equal(s.simulation.roots_differed, 0);
    assert_int_equal(s.simulation.first_difference_tick, UINT64_MAX);
    assert_true(s.simulation.roots_compared >= compared_min);
    assert_int_equal(s.simulation.roots_compared, s.simulation.ticks_stepped);
    uint64_t server_tick = cairn_world_tick(rig_server_world(p));
    uint64_t own_tick = cairn_world_tick(cairn_client_world(rig_client(p, client)));
    assert_in_range(own_tick, server_tick - 30, server_tick);
}

TEST("a lockstep client holds the server's world") {
    RIG(p, .seed = 5);
    uint32_t player = join(&p, CAIRN_CLIENT_LOCKSTEP, NULL);
    uint32_t other = join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
    rig_run_ms(&p, 1000);
    rig_press(&p, player, 0, 0.7f);
    rig_press(&p, other, CAIRN_SANDBOX_SPAWN, -1.0f);
    rig_run_ms(&p, 500);
    rig_press(&p, other, CAIRN_SANDBOX_JUMP, 1.0f);
    rig_run_ms(&p, 3000);
    expect_in_step(&p, player, 200);
    const cairn_server_statistics server = rig_server_statistics(&p);
    assert_true(server.total.roots_compared >= 3); // one in 64 ticks
    assert_int_equal(server.total.roots_differed, 0);
}

TEST("loss, jitter and corruption change no bit of a world") {
    RIG(p, .seed = 6);
    uint32_t stepper = join(&p, CAIRN_CLIENT_LOCKSTEP, &lossy);
    uint32_t watcher = join(&p, CAIRN_CLIENT_INTERPOLATE, &lossy);
    rig_run_ms(&p, 2500);
    for (int i = 0; i < 8; i++) {
        rig_press(&p, stepper, i % 3 == 0 ? CAIRN_SANDBOX_THROW : 0, i % 2 == 0 ? 1 : -1);
        rig_press(&p, watcher, i % 4 == 0 ? CAIRN_SANDBOX_SPAWN : 0, i % 2 == 0 ? -1 : 1);
        rig_run_ms(&p, 500);
    }
    expect_in_step(&p, stepper, 200);
    cairn_client_statistics s = rig_statistics(&p, watcher);
    assert_int_equal(rig_state(&p, watcher), CAIRN_CLIENT_PLAYING);
    assert_true(s.snapshots.received > 60);
    assert_true(s.connection.datagrams_dropped > 0); // the corrupt and the repeated ones
}

TEST("a late joiner catches up") {
    RIG(p, .seed = 7);
    uint32_t first = join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
    rig_run_ms(&p, 3000);
    rig_press(&p, first, CAIRN_SANDBOX_SPAWN, 0);
    rig_run_ms(&p, 1000);
    uint32_t late = join(&p, CAIRN_CLIENT_LOCKSTEP, NULL);
    rig_run_ms(&p, 2500);
    expect_in_step(&p, late, 60);
}

TEST("both sides detect that a client's world was corrupted") {
    RIG(p, .seed = 8);
    uint32_t client = join(&p, CAIRN_CLIENT_LOCKSTEP, NULL);
    rig_run_ms(&p, 2000);
    expect_in_step(&p, client, 30);
    // One body of the client's own world gets an impulse that the server does not apply.
    cairn_world *world = (cairn_world *)(uintptr_t)cairn_client_world(rig_client(&p, client));
    cairn_body_state bodies[RIG_BODIES_MAX];
    uint32_t count = cairn_world_bodies(world, bodies, RIG_BODIES_MAX);
    uint64_t tick = cairn_world_tick(world);
    cairn_vec3 nudge = {0, 1e-3f, 0};
    assert_true(count > 2);
    assert_int_equal(cairn_body_apply_impulse_at_centre(world, bodies[1].id, nudge), CAIRN_OK);
    rig_run_ms(&p, 1000);
    cairn_client_statistics s = rig_statistics(&p, client);
    assert_true(s.simulation.roots_differed > 0);
    assert_int_equal(s.simulation.first_difference_tick, tick + 1);
    assert_true(rig_server_statistics(&p).total.roots_differed > 0);
}

TEST("clients continue after a cut of one second and after their hosts slept three") {
    for (int sleeps = 0; sleeps < 2; sleeps++) {
        void (*const stop)(rig *, uint32_t, bool) = sleeps ? rig_pause : rig_cut;
        RIG(p, .seed = 9);
        uint32_t stepper = join(&p, CAIRN_CLIENT_LOCKSTEP, NULL);
        uint32_t watcher = join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
        rig_run_ms(&p, 2000);
        stop(&p, stepper, true);
        stop(&p, watcher, true);
        rig_run_ms(&p, sleeps ? 3000 : 1000);
        assert_true(rig_look(&p, watcher));
        assert_true(
            sleeps || (p.views[watcher].sample.extrapolated && p.views[watcher].sample.held));
        stop(&p, stepper, false);
        stop(&p, watcher, false);
        rig_run_ms(&p, sleeps ? 2000 : 1500);
        expect_in_step(&p, stepper, 100);
        cairn_client_statistics before = rig_statistics(&p, watcher);
        rig_press(&p, watcher, 0, 1);
        rig_run_ms(&p, 1000);
        assert_int_equal(rig_statistics(&p, watcher).inputs.late, before.inputs.late);
        assert_true(rig_look(&p, watcher));
        assert_false(p.views[watcher].sample.extrapolated);
    }
}

// The farthest that a body moves between two pictures, 10 ms apart, when snapshots come again after
// a cut in which a player turned round.
static float jump_after_cut(bool exact) {
    RIG(p, .seed = 23);
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    config.interpolation_exact = exact;
    const uint32_t player = join(&p, CAIRN_CLIENT_LOCKSTEP, NULL);
    const uint32_t watcher = rig_join(&p, &config, NULL);
    float farthest = 0;
    rig_run_ms(&p, 2000);
    for (uint32_t i = 0; i < 120; ++i) {
        const rig_view before = p.views[watcher];
        rig_press(&p, player, 0, i < 52 ? 1.0f : -1.0f);
        if (i == 50 || i == 66) {
            rig_cut(&p, watcher, i == 50);
        }
        rig_run_ms(&p, 10);
        assert_true(rig_look(&p, watcher));
        const rig_view *now = &p.views[watcher];
        for (uint32_t k = 0; i >= 66 && k < now->sample.body_count; ++k) {
            float square = 0;
            for (int axis = 0; axis < 3; ++axis) {
                const float moved = now->bodies[k].position[axis] - before.bodies[k].position[axis];
                square += moved * moved;
            }
            farthest = square > farthest ? square : farthest;
        }
    }
    assert_true(rig_statistics(&p, watcher).snapshots.extrapolated_ns > 0);
    return sqrtf(farthest);
}

TEST("bodies glide to where they are after an extrapolation") {
    const float exact = jump_after_cut(true);
    const float gliding = jump_after_cut(false);
    assert_true(exact > 0.02f);
    if (!(gliding < 0.6f * exact)) {
        fail_msg("%f m, without gliding %f m", (double)gliding, (double)exact);
    }
}

TEST("a client far behind gets a new full state") {
    RIG(p, .seed = 11);
    uint32_t stepper = join(&p, CAIRN_CLIENT_LOCKSTEP, NULL);
    rig_run_ms(&p, 1500);
    // The server receives the client's datagrams, and a few of its own reach the client, so that
    // the connection stays open. But the client acknowledges no tick for longer than the server
    // keeps ticks.
    cairn_virtual_path *to_client = cairn_virtual_path_between(
        p.system.network, p.system.server_endpoint, p.system.clients[stepper].endpoint);
    for (int i = 0; i < 10; i++) {
        to_client->cut = true;
        rig_run_ms(&p, 1950);
        to_client->cut = false;
        rig_run_ms(&p, 50);
    }
    rig_run_ms(&p, 4000);
    expect_in_step(&p, stepper, 100);
    assert_true(rig_server_statistics(&p).total.state_transfers >= 2);
}

TEST("a server that does not answer is named as the reason") {
    RIG(p, .seed = 12);
    const cairn_virtual_path nowhere = {.cut = true};
    uint32_t client = join(&p, CAIRN_CLIENT_INTERPOLATE, &nowhere);
    rig_run_ms(&p, 8000);
    expect_failed(&p, client, "no server of the connect token answered");
    // A second attempt over a working path starts from nothing.
    rig_cut(&p, client, false);
    rig_connect_again(&p, client);
    rig_run_ms(&p, 1500);
    assert_int_equal(rig_state(&p, client), CAIRN_CLIENT_PLAYING);
    assert_string_equal(cairn_client_failure_text(rig_client(&p, client)), "");
}

TEST("a lost connection is named as the reason") {
    RIG(p, .seed = 13);
    uint32_t client = join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
    rig_run_ms(&p, 1500);
    rig_cut(&p, client, true);
    rig_run_ms(&p, 7000);
    expect_failed(&p, client, "the connection timed out: nothing was received from the server");
}

TEST("a draining server is named as the reason") {
    RIG(p, .seed = 14);
    uint32_t client = join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
    rig_run_ms(&p, 1500);
    cairn_server_drain(p.system.server, rig_server_now_ns(&p));
    rig_run_ms(&p, 1000);
    expect_failed(&p, client, "the server closed the connection");
    p.system.spins = 0; // the deadline of a drained server is now, because its host would end
}

TEST("a full room is refused with the server's reason") {
    RIG(p, .seed = 15);
    for (int i = 0; i < 5; i++) {
        join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
    }
    rig_run_ms(&p, 3000);
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 5; i++) {
        if (rig_state(&p, i) == CAIRN_CLIENT_FAILED) {
            refused++;
            assert_non_null(strstr(
                cairn_client_failure_text(rig_client(&p, i)), "the server refused this client: "));
        }
    }
    assert_int_equal(refused, 1);
}

TEST("disconnect takes effect at once, and the server notices within half a second") {
    RIG(p, .seed = 16);
    uint32_t client = join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
    rig_run_ms(&p, 1500);
    cairn_client_disconnect(rig_client(&p, client), rig_client_now_ns(&p, client));
    assert_int_equal(rig_state(&p, client), CAIRN_CLIENT_LEFT);
    rig_run_ms(&p, 500);
    assert_int_equal(rig_server_statistics(&p).clients, 0);
}

TEST("the failure text names the limit that a world exceeds") {
    RIG(p, .seed = 17);
    cairn_client_config few = rig_config(CAIRN_CLIENT_INTERPOLATE);
    few.bodies_max = 4;
    cairn_client_config small = rig_config(CAIRN_CLIENT_LOCKSTEP);
    small.state_size_max = 100;
    uint32_t a = rig_join(&p, &few, NULL);
    uint32_t b = rig_join(&p, &small, NULL);
    rig_run_ms(&p, 2000);
    expect_failed(&p, a, "the world has more bodies than bodies_max allows: raise bodies_max");
    expect_failed(
        &p, b, "the server's state is larger than state_size_max allows: raise state_size_max");
    assert_int_equal(drops(&p, a, "snapshot", "more bodies than bodies_max"), 1);
}

// docs/PROTOCOL.md, Stream: the receiver disconnects. A client that went on would never play.
TEST("a client that receives an impossible frame of the stream disconnects") {
    RIG(p, .seed = 19);
    const uint32_t victim = join(&p, CAIRN_CLIENT_LOCKSTEP, NULL);
    while (rig_state(&p, victim) != CAIRN_CLIENT_PLAYING) {
        rig_run_ms(&p, 2);
    }
    cairn_link *link = rig_client(&p, victim)->connection.link;
    _Alignas(8) uint8_t payload[CAIRN_LINK_HEADER_SIZE + CAIRN_LINK_PART_HEADER_SIZE + 8] = {
        CAIRN_LINK_STREAM};
    cairn_writer writer = cairn_writer_of(payload, sizeof payload);
    cairn_write_u8(&writer, CAIRN_LINK_STREAM);
    cairn_write_u8(&writer, (uint8_t)(link->sender.window / CAIRN_LINK_WINDOW_UNIT));
    cairn_write_u16(&writer, 0);
    cairn_write_u32(&writer, (uint32_t)link->received.next);
    cairn_write_u64(&writer, 0); // no acks
    cairn_write_u64(&writer, link->receiver.edge);
    assert_int_equal(cairn_link_receive(link, link->now_ns, payload, sizeof payload),
        CAIRN_LINK_DROP_MESSAGE_SIZE); // a message of 0 bytes
    rig_run_ms(&p, 500);
    expect_failed(&p, victim,
        "the server sent an impossible frame, or takes smaller messages than this client sends");
    assert_int_equal(rig_server_statistics(&p).clients, 0);
}

TEST("messages that a server must not send are dropped and counted by reason") {
    RIG(p, .seed = 18);
    uint32_t early = join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
    const cairn_wire_tick tick = {0};
    const cairn_message ticks = kit_ticks(&(cairn_ticks_head){0}, &tick, 1, NULL);
    const uint8_t payload[] = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; // a keyframe of tick 1
    const cairn_message keyframe = {.kind = CAIRN_MESSAGE_SNAPSHOT,
        .snapshot = {.payload = payload, .payload_size = sizeof payload}};
    const cairn_message welcome = {.kind = CAIRN_MESSAGE_WELCOME,
        .welcome = {.slot = 1,
            .tick_rate_hz = 60,
            .snapshot_rate_hz = 20,
            .rules_name = "",
            .room = "",
            .reason_text = "",
            .scene_name = ""}};
    _Alignas(8) const uint8_t nonsense[8] = {1, 2, 3};
    const cairn_link_message garbled = {.bytes = nonsense, .size = sizeof nonsense};
    rig_deliver(&p, early, &keyframe);
    assert_int_equal(drops(&p, early, "session", "no connection is open"), 1);
    while (rig_state(&p, early) != CAIRN_CLIENT_JOINING) {
        rig_run_ms(&p, 2);
    }
    rig_deliver(&p, early, &keyframe);
    assert_int_equal(drops(&p, early, "session", "before the welcome"), 1);
    rig_run_ms(&p, 1000);
    rig_deliver(&p, early, &welcome);
    assert_int_equal(drops(&p, early, "session", "a second welcome"), 1);
    rig_deliver(&p, early, &ticks);
    assert_int_equal(drops(&p, early, "session", "a message of another mode"), 1);
    cairn_client_take_message(rig_client(&p, early), 0, &garbled);
    assert_int_equal(rig_state(&p, early), CAIRN_CLIENT_PLAYING);
    uint32_t stepper = join(&p, CAIRN_CLIENT_LOCKSTEP, NULL);
    rig_run_ms(&p, 1000);
    rig_deliver(&p, stepper, &keyframe);
    assert_int_equal(drops(&p, stepper, "session", "a message of another mode"), 1);
}

static void expect_refused(const cairn_client_config *config) {
    cairn_client *client = NULL;
    assert_int_equal(cairn_client_create(config, &client), CAIRN_INVALID_ARGUMENT);
    assert_null(client);
}

TEST("a client joins the room it names") {
    RIG(p, .seed = 19);
    uint32_t other = 0;
    cairn_server_room_config room = cairn_server_room_config_default();
    room.name = "other";
    room.scene = kit_scene_stack_and_row();
    const uint64_t now_ns = rig_server_now_ns(&p);
    assert_int_equal(cairn_server_room_create(p.system.server, now_ns, &room, &other, NULL), 0);
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    config.room = "other";
    const uint32_t in_other_room = rig_join(&p, &config, NULL);
    const uint32_t in_main_room = join(&p, CAIRN_CLIENT_INTERPOLATE, NULL);
    config.room = "nowhere";
    const uint32_t refused = rig_join(&p, &config, NULL);
    rig_run_ms(&p, 1500);
    assert_int_equal(rig_state(&p, in_other_room), CAIRN_CLIENT_PLAYING);
    assert_int_equal(rig_state(&p, in_main_room), CAIRN_CLIENT_PLAYING);
    assert_int_equal(rig_state(&p, refused), CAIRN_CLIENT_FAILED);
    cairn_server_client_info info;
    assert_true(cairn_server_client_read(p.system.server, in_other_room, &info));
    assert_int_equal(info.room, other);
    assert_true(cairn_server_client_read(p.system.server, in_main_room, &info));
    assert_int_equal(info.room, CAIRN_ROOM_MAIN);
    config.room = "a name that is one byte too long";
    expect_refused(&config);
    config.room = "\t";
    expect_refused(&config);
}

TEST("a bad token is refused with a reason") {
    uint8_t token[2048] = {0};
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    cairn_client *client = NULL;
    assert_int_equal(cairn_client_create(&config, &client), CAIRN_OK);
    assert_false(cairn_client_connect(client, 1, 1, token));
    assert_int_equal(cairn_client_state_read(client), CAIRN_CLIENT_FAILED);
    assert_string_equal(cairn_client_failure_text(client), "the connect token is malformed");
    assert_false(cairn_client_connect(client, 2, 1, token));
    assert_string_equal(cairn_client_failure_text(client), "the connect token is malformed");
    cairn_client_destroy(client);
}

TEST("a config out of range is refused") {
    cairn_client_config configs[9];
    for (size_t i = 0; i < 9; i++) {
        configs[i] = rig_config(CAIRN_CLIENT_PREDICT);
    }
    configs[0].bodies_max = 0;
    configs[1].shapes_max = 0;
    configs[2].input_redundancy_ticks = 64;
    configs[3].mode = (cairn_client_mode)7;
    configs[4].state_size_max = CAIRN_STATE_SIZE_MAX + 1;
    configs[5].predict_ticks_max = 0;
    configs[6].predict_ticks_max = 61;
    configs[7].resim_ticks_max = 1;
    configs[8].input_delay_ms = 2001;
    for (size_t i = 0; i < 9; i++) {
        expect_refused(&configs[i]);
    }
}

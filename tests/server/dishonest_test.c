// SPDX-License-Identifier: MIT
// A client that acknowledges nothing, or what it was not sent, costs no more than an honest one.
#include "tests/kit/test.h"

#include <string.h>

#include "base/random.h"
#include "server/replicate/snapshots.h"
#include "tests/server/story.h"

enum { RUN_MS = 12000, VIEW_M = 60 };

// Bytes that the client is sent from its join on; the boxes fall and come to rest meanwhile.
typedef struct serving {
    uint32_t view_distance_m;
    uint32_t bytes_per_second;
    uint32_t delay_ms; // each way
} serving;

static uint64_t bytes_of(uint32_t acks, const serving *how) {
    static story s;
    cairn_server_config config = story_config();
    config.first_room.view_distance_m = how->view_distance_m;
    config.first_room.client_bytes_per_second = how->bytes_per_second;
    story_start(&s, &config);
    if (how->delay_ms > 0) {
        story_network(&s, how->delay_ms);
    }
    const uint32_t client = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    s.clients[client].acks = acks;
    story_run_ms(&s, RUN_MS);
    assert_true(s.clients[client].welcomed);
    const uint64_t bytes = s.clients[client].bytes;
    story_end(&s);
    return bytes;
}

// A fifth more is allowed, and what an empty datagram takes at each snapshot.
static void expect_no_more(const serving *how) {
    const uint64_t honest = bytes_of(ACKS_HELD, how);
    const uint64_t most = honest + honest / 5 + (uint64_t)RUN_MS / 50 * 24;
    static const struct {
        uint32_t acks;
        const char *name;
    } others[] = {{ACKS_NOTHING, "silent"}, {ACKS_NEWEST, "lying"}, {ACKS_AHEAD, "ahead"}};
    for (uint32_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
        const uint64_t bytes = bytes_of(others[i].acks, how);
        print_message(
            "honest %u bytes, %s %u\n", (unsigned)honest, others[i].name, (unsigned)bytes);
        assert_true(bytes <= most);
    }
}

TEST("of a view") {
    expect_no_more(&(serving){VIEW_M, 0, 0});
    expect_no_more(&(serving){VIEW_M, 0, 100});
}

// What is acknowledged from ahead of a path with delay was sent, and has not arrived.
TEST("of the snapshots that all share") {
    expect_no_more(&(serving){0, 0, 0});
    expect_no_more(&(serving){0, 0, 40});
    expect_no_more(&(serving){0, 0, 200});
}

TEST("with few bytes") {
    expect_no_more(&(serving){VIEW_M, 4000, 0});
    expect_no_more(&(serving){VIEW_M, 4000, 100});
}

// Clients that acknowledge what they like could each ask for a difference of their own, and an
// encoding takes as long as all else that a client is sent.
enum { CROWD = 600, CROWD_BODIES = 30, CROWD_SNAPSHOTS = 60 };

static bool is_held(const cairn_snapshots_sent *sent, uint64_t tick) {
    bool held = sent->acknowledged == tick;
    for (uint32_t i = 0; i < CAIRN_SNAPSHOTS_ACKNOWLEDGED_MAX; ++i) {
        held = held || sent->acknowledged_before[i] == tick;
    }
    return held;
}

static void expect_bases_held(
    const cairn_snapshots_sent *sent, const cairn_baseline *const bases[3]) {
    for (uint32_t k = 0; k < 3; ++k) {
        assert_true(is_held(sent, bases[k]->frame.tick));
        assert_true(k == 0 || bases[k]->frame.tick <= bases[k - 1]->frame.tick);
    }
}

static void take_moving(cairn_baselines *baselines, cairn_world *world) {
    static cairn_body_state states[CROWD_BODIES];
    const cairn_room_shapes no_shapes = {.revision = 1};
    cairn_world_step(world, NULL, 0);
    const uint32_t count = cairn_world_bodies(world, states, CROWD_BODIES);
    for (uint32_t i = 0; i < count; ++i) {
        const float far = (float)(cairn_world_tick(world) * (i + 1)) * 0.01f;
        const cairn_pose pose = {.position = {far, (float)i, 0.0f}, .rotation = {.w = 1.0f}};
        assert_int_equal(cairn_body_set_pose(world, states[i].id, pose), CAIRN_OK);
    }
    assert_true(cairn_baselines_take(baselines, world, &no_shapes, NULL));
}

// What the client holds when the newest snapshot is taken. Every sixth is honest: it holds all but
// the newest few.
static bool is_honest(uint32_t client) {
    return client % 6 == 5;
}

static uint32_t path_age(uint32_t client) {
    return 1 + client % 9;
}

static void acknowledge_some(
    cairn_snapshots_sent *sent, uint32_t client, uint64_t newest, cairn_random *random) {
    const uint64_t age = is_honest(client) ? path_age(client) : 1 + cairn_random_below(random, 4);
    const bool skipped = !is_honest(client) && cairn_random_below(random, 2) == 0;
    if (!skipped && newest > age && newest - age > sent->acknowledged) {
        cairn_snapshots_acknowledge(sent, newest - age);
    }
}

static void serve(cairn_baselines *baselines, const cairn_snapshots_sent *sent, uint32_t client) {
    static cairn_quantised_velocity zeros[CROWD_BODIES];
    cairn_quantised_velocity *velocities = client % 2 == 0 ? zeros : NULL;
    const cairn_baseline *bases[3];
    if (cairn_baselines_choose(baselines, sent, velocities != NULL, bases)) {
        size_t size = 0;
        assert_non_null(cairn_baselines_delta(baselines, bases, velocities, &size));
        expect_bases_held(sent, bases);
        const uint64_t newest = cairn_baselines_newest(baselines)->frame.tick;
        const uint64_t age = path_age(client);
        if (is_honest(client) && newest > CROWD_SNAPSHOTS) {
            assert_int_equal(newest - bases[1]->frame.tick, 2 * age);
            assert_int_equal(newest - bases[2]->frame.tick, 3 * age);
        }
    }
}

TEST("in encodings of snapshots") {
    static cairn_snapshots_sent crowd[CROWD];
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = CROWD_BODIES;
    cairn_world *world = NULL;
    cairn_baselines *baselines = NULL;
    const cairn_quantisation quantisation = cairn_quantisation_default();
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    assert_int_equal(
        cairn_baselines_create(CROWD_SNAPSHOTS, &def, &quantisation, &baselines), CAIRN_OK);
    for (uint32_t i = 0; i < CROWD_BODIES; ++i) {
        cairn_body_def body_def = cairn_body_def_default();
        cairn_body_id body;
        body_def.gravity_scale = 0.0f;
        assert_int_equal(cairn_body_create(world, &body_def, &body), CAIRN_OK);
    }
    cairn_random random = cairn_random_of(1);
    uint32_t most = 0;
    memset(crowd, 0, sizeof crowd);
    for (uint32_t n = 0; n < 2 * CROWD_SNAPSHOTS; ++n) {
        take_moving(baselines, world);
        for (uint32_t client = 0; client < CROWD; ++client) {
            const uint64_t newest = cairn_baselines_newest(baselines)->frame.tick;
            acknowledge_some(&crowd[client], client, newest, &random);
            serve(baselines, &crowd[client], client);
        }
        const uint32_t encoded = cairn_baselines_encoded(baselines);
        most = encoded > most ? encoded : most;
    }
    print_message("%u clients, at most %u encodings of a snapshot\n", (unsigned)CROWD, most);
    assert_true(most >= 24 && most <= 100);
    cairn_baselines_destroy(baselines);
    cairn_world_destroy(world);
}

// SPDX-License-Identifier: MIT
// The part of the rules' state that clients without a world read.

#include "tests/kit/test.h"

#include <string.h>

#include "tests/kit/rig.h"

enum { SCORES = 64 };

// The first word is not shared.
typedef struct match {
    uint32_t secret;
    uint32_t tick; // of the world after the step
    uint32_t score[SCORES];
    uint32_t rest[8];
} match;

// Every fiftieth step somebody scores.
static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    match *m = state;
    (void)commands;
    (void)command_count;
    m->secret += 7;
    m->tick = (uint32_t)cairn_world_tick(world) + 1;
    m->score[m->tick / 50 % SCORES] += m->tick % 50 == 0 ? 1u : 0u;
}

static const cairn_rules scoring = {.name = "scoring",
    .version = 1,
    .state_size = sizeof(match),
    .step = step,
    .shared_offset = offsetof(match, tick),
    .shared_size = offsetof(match, rest) - offsetof(match, tick)};

static void still(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)commands;
    (void)command_count;
    ((match *)state)->score[9] = 5;
}

static const cairn_rules standing = {.name = "standing",
    .version = 1,
    .state_size = sizeof(match),
    .step = still,
    .shared_offset = offsetof(match, score),
    .shared_size = sizeof((match *)NULL)->score};

static void set_rules(cairn_server_config *config) {
    config->first_room.rules = &scoring;
}

static void set_standing(cairn_server_config *config) {
    config->first_room.rules = &standing;
}

// The block is that of its tick, word for word.
static uint64_t expect_shared(cairn_client *client) {
    struct {
        uint32_t tick, score[SCORES];
    } shared;
    uint64_t tick = 0;
    memset(&shared, 0xee, sizeof shared);
    const uint32_t size = cairn_client_shared_read(client, &shared, sizeof shared, &tick);
    if (size == 0) {
        return 0;
    }
    assert_int_equal(size, sizeof shared);
    assert_int_equal(shared.tick, tick);
    uint32_t all = 0;
    for (uint32_t i = 0; i < SCORES; ++i) {
        all += shared.score[i];
    }
    assert_int_equal(all, tick / 50);
    return tick;
}

static void follow(cairn_client_mode mode, bool knows_rules) {
    cairn_client_config config = rig_config(mode);
    config.rules = knows_rules ? &scoring : NULL;
    RIG(r, .seed = 11, .configure = set_rules);
    rig_join(&r, &config, NULL);
    rig_wait_to_play(&r);
    uint64_t last = 0;
    uint32_t grew = 0;
    for (uint32_t i = 0; i < 100; ++i) {
        cairn_client_sample sample;
        rig_run_ms(&r, 40);
        cairn_client_sample_world(rig_client(&r, 0), rig_client_now_ns(&r, 0), NULL, 0, &sample);
        const uint64_t tick = expect_shared(rig_client(&r, 0));
        assert_true(tick >= last || mode == CAIRN_CLIENT_PREDICT);
        grew += tick > last ? 1 : 0;
        last = tick;
        if (mode == CAIRN_CLIENT_INTERPOLATE && sample.tick > 20) {
            assert_true((double)tick <= sample.tick); // the picture and the score agree
        }
    }
    assert_true(grew > 60);
}

TEST("a client without the rules reads the score of what it shows") {
    follow(CAIRN_CLIENT_INTERPOLATE, false);
}

TEST("a client that simulates reads it in its own world") {
    follow(CAIRN_CLIENT_LOCKSTEP, true);
    follow(CAIRN_CLIENT_PREDICT, true);
}

static uint64_t snapshot_bytes(rig *r) {
    cairn_server_statistics statistics;
    cairn_server_statistics_read(r->system.server, &statistics);
    return statistics.total.snapshot_bytes / statistics.total.deltas_sent;
}

TEST("a shared part that stays as it is costs nothing in a delta") {
    uint64_t bytes[2];
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
        RIG(r, .seed = 12, .configure = i == 0 ? NULL : set_standing);
        rig_join(&r, &config, NULL);
        rig_wait_to_play(&r);
        rig_run_ms(&r, 5000);
        uint32_t score[SCORES];
        const uint32_t size =
            cairn_client_shared_read(rig_client(&r, 0), score, sizeof score, NULL);
        assert_int_equal(size, i == 0 ? 0 : sizeof score);
        assert_true(i == 0 || score[9] == 5);
        bytes[i] = snapshot_bytes(&r);
    }
    assert_true(bytes[1] <= bytes[0]); // the sandbox of the first has a body for its player
}

TEST("a shared part outside the state is refused") {
    static const struct {
        uint32_t offset, size;
        bool valid;
    } rows[] = {{0, 0, true}, {4, 12, true}, {2, 4, false}, {0, 6, false}, {8, 12, false},
        {20, 4, false}, {UINT32_MAX - 3, 8, false}, {0, CAIRN_SHARED_SIZE_MAX + 4, false}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_rules rules = scoring;
        rules.state_size = i + 1 == sizeof rows / sizeof *rows ? 8192 : 16;
        rules.shared_offset = rows[i].offset;
        rules.shared_size = rows[i].size;
        cairn_world_def def = cairn_world_def_default();
        def.rules = &rules;
        cairn_world *world = NULL;
        assert_int_equal(cairn_world_create(&def, &world) == CAIRN_OK, rows[i].valid);
        cairn_world_destroy(world);
    }
}

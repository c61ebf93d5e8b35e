// SPDX-License-Identifier: MIT
// A client that acknowledges nothing, or what it was not sent, costs no more than an honest one.
#include "tests/kit/test.h"

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

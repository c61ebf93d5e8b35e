// SPDX-License-Identifier: MIT
// A client that acknowledges nothing, or what it was not sent, costs no more than an honest one.
#include "tests/kit/test.h"

#include "tests/server/story.h"

enum { RUN_MS = 12000, VIEW_M = 60 };

// Bytes that the client is sent from its join on; the boxes fall and come to rest meanwhile.
static uint64_t bytes_of(uint32_t acks, uint32_t view_distance_m, uint32_t bytes_per_second) {
    static story s;
    cairn_server_config config = story_config();
    config.first_room.view_distance_m = view_distance_m;
    config.first_room.client_bytes_per_second = bytes_per_second;
    story_start(&s, &config);
    const uint32_t client = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    s.clients[client].acks = acks;
    story_run_ms(&s, RUN_MS);
    assert_true(s.clients[client].welcomed);
    const uint64_t bytes = s.clients[client].bytes;
    story_end(&s);
    return bytes;
}

// A fifth more is allowed, and what an empty datagram takes at each snapshot.
static void expect_no_more(uint32_t view_distance_m, uint32_t bytes_per_second) {
    const uint64_t honest = bytes_of(ACKS_HELD, view_distance_m, bytes_per_second);
    const uint64_t most = honest + honest / 5 + (uint64_t)RUN_MS / 50 * 24;
    static const uint32_t others[] = {ACKS_NOTHING, ACKS_NEWEST};
    for (uint32_t i = 0; i < 2; ++i) {
        const uint64_t bytes = bytes_of(others[i], view_distance_m, bytes_per_second);
        print_message("honest %u bytes, %s %u\n", (unsigned)honest,
            others[i] == ACKS_NOTHING ? "silent" : "lying", (unsigned)bytes);
        assert_true(bytes <= most);
    }
}

TEST("of a view") {
    expect_no_more(VIEW_M, 0);
}

TEST("of the snapshots that all share") {
    expect_no_more(0, 0);
}

TEST("with few bytes") {
    expect_no_more(VIEW_M, 4000);
}

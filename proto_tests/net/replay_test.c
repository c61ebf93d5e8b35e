// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "base/random.h"
#include "net/replay.h"

enum verdict { FRESH, OLD };

typedef struct datagram {
    uint64_t sequence;
    enum verdict expected;
} datagram;

typedef struct rule {
    const char *name;
    size_t count;
    datagram datagrams[8];
} rule;

#define RULE(text, ...)                                                                            \
    {                                                                                              \
        .name = (text), .count = sizeof((datagram[]){__VA_ARGS__}) / sizeof(datagram),             \
        .datagrams = {__VA_ARGS__},                                                                \
    }

// clang-format off
static const rule rules[] = {
    RULE("a datagram is accepted once",                   {7, FRESH}, {7, OLD}),
    RULE("sequence 0 is accepted once",         {0, FRESH}, {0, OLD}, {1, FRESH}),
    RULE("reordering inside the window is accepted",      {9, FRESH}, {8, FRESH}, {9, OLD}, {8, OLD}),
    RULE("a sequence before the window is old",           {0, FRESH}, {256, FRESH}, {0, OLD}, {1, FRESH}),
    RULE("the last sequence of the window counts once",      {255, FRESH}, {0, FRESH}, {0, OLD}),
    RULE("a skipped sequence is fresh while in the window",  {300, FRESH}, {45, FRESH}, {44, OLD}, {45, OLD}),
    RULE("a bit is clear when it is used again",    {5, FRESH}, {200, FRESH}, {261, FRESH}, {262, FRESH}, {261, OLD}),
    RULE("a jump over the whole window forgets it",       {5, FRESH}, {5 + 256 * 3, FRESH}, {5, OLD}, {5 + 256 * 2, OLD}, {5 + 256 * 2 + 1, FRESH}),
    RULE("a jump of one window clears every bit",       {5, FRESH}, {6, FRESH}, {262, FRESH}, {261, FRESH}, {6, OLD}),
    RULE("a jump of three windows clears every bit",    {5, FRESH}, {6, FRESH}, {773, FRESH}, {518, FRESH}, {773, OLD}),
    RULE("the half of the sequence space is not a border",   {UINT64_C(1) << 63, FRESH}, {(UINT64_C(1) << 63) - 1, FRESH}, {0, OLD}),
    RULE("the top of the sequence space does not wrap",   {UINT64_MAX - 1, FRESH}, {UINT64_MAX, FRESH}, {UINT64_MAX - 1, OLD}),
    RULE("at the top the window still reaches back",      {UINT64_MAX, FRESH}, {UINT64_MAX - 255, FRESH}, {UINT64_MAX - 256, OLD}, {0, OLD}),
    RULE("from the bottom to the top in one step",        {0, FRESH}, {UINT64_MAX, FRESH}, {UINT64_MAX, OLD}, {UINT64_MAX - 1, FRESH}),
};
// clang-format on

TEST("every rule of the replay window holds") {
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i) {
        cairn_replay replay = {0};
        for (size_t k = 0; k < rules[i].count; ++k) {
            const datagram *d = &rules[i].datagrams[k];
            const bool fresh = cairn_replay_fresh(&replay, d->sequence);
            if (fresh != (d->expected == FRESH)) {
                fail_msg("%s: datagram %zu is %s", rules[i].name, k, fresh ? "fresh" : "old");
            }
            if (fresh) {
                cairn_replay_accept(&replay, d->sequence);
            }
        }
    }
}

TEST("a check does not move the window") {
    cairn_replay replay = {0};
    cairn_replay_accept(&replay, 10);
    const cairn_replay before = replay;
    assert_true(cairn_replay_fresh(&replay, UINT64_MAX));
    assert_false(cairn_replay_fresh(&replay, 10));
    assert_memory_equal(&before, &replay, sizeof replay);
}

TEST("the window agrees with a list of all received sequences") {
    static bool received[2048];
    for (uint64_t seed = 0; seed < 50; ++seed) {
        memset(received, 0, sizeof received);
        cairn_random random = cairn_random_of(seed);
        cairn_replay replay = {0};
        uint64_t newest = 0;
        for (int i = 0; i < 600; ++i) {
            const uint64_t base = newest > 300 ? newest - 300 : 0;
            const uint64_t sequence = (base + cairn_random_below(&random, 310)) % 2048;
            const bool expected = !received[sequence] && sequence + CAIRN_REPLAY_WINDOW > newest;
            assert_int_equal(cairn_replay_fresh(&replay, sequence), expected);
            if (expected) {
                cairn_replay_accept(&replay, sequence);
                received[sequence] = true;
                newest = sequence > newest ? sequence : newest;
            }
        }
    }
}

// SPDX-License-Identifier: MIT
// Rules of the link conditioner: loss, duplicates and delays follow the config and the seed.
#include "tests/kit/test.h"

#include <string.h>

#include "server/session/link_conditioner.h"

#define MS UINT64_C(1000000)

// Sends `count` numbered payloads a millisecond apart. Returns how many come out, and a digest of
// their numbers in order.
static uint32_t run(const cairn_link_conditioner_config *config, uint32_t count, uint64_t *digest) {
    cairn_link_conditioner *conditioner = NULL;
    assert_int_equal(cairn_link_conditioner_create(config, &conditioner), CAIRN_OK);
    uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
    uint32_t arrived = 0;
    *digest = 0;
    for (uint32_t i = 0; i < count + 2000; ++i) {
        if (i < count) {
            cairn_link_conditioner_put(conditioner, i * MS, (const uint8_t *)&i, sizeof i);
        }
        while (cairn_link_conditioner_take(conditioner, i * MS, bytes) > 0) {
            uint32_t number;
            memcpy(&number, bytes, sizeof number);
            arrived += 1;
            *digest = *digest * 31 + number;
        }
    }
    assert_true(cairn_link_conditioner_due_ns(conditioner) == UINT64_MAX);
    cairn_link_conditioner_destroy(conditioner);
    return arrived;
}

TEST("loss and duplication match their probabilities, and the seed decides") {
    static const struct {
        cairn_link_conditioner_config config;
        uint32_t least, most;
    } rows[] = {{{.loss = 0.0f}, 1000, 1000}, {{.loss = 1.0f}, 0, 0}, {{.loss = 0.3f}, 640, 760},
        {{.duplicate = 1.0f}, 2000, 2000},
        {{.duplicate = 0.1f, .delay_ns = 50 * MS, .jitter_ns = 50 * MS}, 1060, 1140}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_link_conditioner_config config = rows[i].config;
        uint64_t first, second, other;
        assert_in_range(run(&config, 1000, &first), rows[i].least, rows[i].most);
        (void)run(&config, 1000, &second);
        assert_true(first == second);
        config.seed = 1;
        (void)run(&config, 1000, &other);
        const bool drawn = config.loss == 0.3f || config.jitter_ns > 0;
        assert_int_equal(first != other, drawn);
    }
}

// Puts `count` payloads at once and takes them all after `end_ns`; returns how many came out, none
// of them before the delay.
static uint32_t run_burst(
    const cairn_link_conditioner_config *config, uint32_t count, uint64_t end_ns) {
    cairn_link_conditioner *conditioner = NULL;
    assert_int_equal(cairn_link_conditioner_create(config, &conditioner), CAIRN_OK);
    uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX] = {1};
    for (uint32_t i = 0; i < count; ++i) {
        cairn_link_conditioner_put(conditioner, 0, bytes, sizeof bytes);
    }
    assert_true(cairn_link_conditioner_due_ns(conditioner) >= config->delay_ns);
    assert_int_equal(cairn_link_conditioner_take(conditioner, config->delay_ns - 1, bytes), 0);
    uint32_t arrived = 0;
    while (cairn_link_conditioner_take(conditioner, end_ns, bytes) > 0) {
        arrived += 1;
    }
    cairn_link_conditioner_destroy(conditioner);
    return arrived;
}

TEST("a payload is delayed by at least the delay and at most the jitter more") {
    const cairn_link_conditioner_config config = {.delay_ns = 20 * MS, .jitter_ns = 10 * MS};
    assert_int_equal(run_burst(&config, 100, 30 * MS), 100);
}

TEST("a full conditioner loses the newest payload") {
    const cairn_link_conditioner_config config = {.delay_ns = MS};
    assert_int_equal(run_burst(&config, 600, MS), 512);
}

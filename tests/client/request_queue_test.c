// SPDX-License-Identifier: MIT
#include "client_lib/resync/request_queue.h"

#include "tests/kit/test.h"

static const cairn_resync_request elements = {.tick = 7, .want = CAIRN_RESYNC_WANT_ELEMENTS};
static const cairn_resync_request stages = {.tick = 8, .want = CAIRN_RESYNC_WANT_STAGES};

TEST("an empty queue sends nothing") {
    const cairn_resync_queue queue = {0};
    assert_int_equal(cairn_resync_queue_next(&queue, UINT64_MAX), CAIRN_RESYNC_PURPOSE_COUNT);
}

TEST("a request that finds no room stays due, one that was sent waits for its answer") {
    cairn_resync_queue queue = {0};
    cairn_resync_queue_ask(&queue, CAIRN_RESYNC_FOR_REPAIR, &elements, 100, true);
    assert_int_equal(cairn_resync_queue_next(&queue, 99), CAIRN_RESYNC_PURPOSE_COUNT);
    assert_int_equal(cairn_resync_queue_next(&queue, 100), CAIRN_RESYNC_FOR_REPAIR);
    assert_int_equal(cairn_resync_queue_next(&queue, 200), CAIRN_RESYNC_FOR_REPAIR);
    cairn_resync_queue_sent(&queue, CAIRN_RESYNC_FOR_REPAIR, 200);
    assert_int_equal(cairn_resync_queue_next(&queue, 200), CAIRN_RESYNC_PURPOSE_COUNT);
}

TEST("an unanswered request is sent again and again") {
    cairn_resync_queue queue = {0};
    uint64_t now_ns = 100;
    cairn_resync_queue_ask(&queue, CAIRN_RESYNC_FOR_REPORT, &stages, now_ns, true);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(cairn_resync_queue_next(&queue, now_ns), CAIRN_RESYNC_FOR_REPORT);
        cairn_resync_queue_sent(&queue, CAIRN_RESYNC_FOR_REPORT, now_ns);
        now_ns += CAIRN_RESYNC_RETRY_NS;
        assert_int_equal(cairn_resync_queue_next(&queue, now_ns - 1), CAIRN_RESYNC_PURPOSE_COUNT);
    }
    cairn_resync_queue_withdraw(&queue, CAIRN_RESYNC_FOR_REPORT);
    assert_int_equal(cairn_resync_queue_next(&queue, UINT64_MAX), CAIRN_RESYNC_PURPOSE_COUNT);
}

TEST("a request that does not repeat is sent again only after the server refused it") {
    cairn_resync_queue queue = {0};
    cairn_resync_queue_ask(&queue, CAIRN_RESYNC_FOR_REPAIR, &elements, 100, false);
    cairn_resync_queue_sent(&queue, CAIRN_RESYNC_FOR_REPAIR, 100);
    assert_int_equal(cairn_resync_queue_next(&queue, UINT64_MAX), CAIRN_RESYNC_PURPOSE_COUNT);
    cairn_resync_queue_postpone(&queue, CAIRN_RESYNC_FOR_REPAIR, 300);
    const uint64_t again_ns = 300 + CAIRN_RESYNC_BACKOFF_NS;
    assert_int_equal(cairn_resync_queue_next(&queue, again_ns - 1), CAIRN_RESYNC_PURPOSE_COUNT);
    assert_int_equal(cairn_resync_queue_next(&queue, again_ns), CAIRN_RESYNC_FOR_REPAIR);
    assert_int_equal(queue.entries[CAIRN_RESYNC_FOR_REPAIR].request.tick, elements.tick);
}

TEST("a repair goes before a report") {
    cairn_resync_queue queue = {0};
    cairn_resync_queue_ask(&queue, CAIRN_RESYNC_FOR_REPORT, &stages, 100, true);
    cairn_resync_queue_ask(&queue, CAIRN_RESYNC_FOR_REPAIR, &elements, 200, true);
    assert_int_equal(cairn_resync_queue_next(&queue, 150), CAIRN_RESYNC_FOR_REPORT);
    assert_int_equal(cairn_resync_queue_next(&queue, 200), CAIRN_RESYNC_FOR_REPAIR);
    cairn_resync_queue_sent(&queue, CAIRN_RESYNC_FOR_REPAIR, 200);
    assert_int_equal(cairn_resync_queue_next(&queue, 200), CAIRN_RESYNC_FOR_REPORT);
}

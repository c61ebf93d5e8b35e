// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "net/ack.h"
#include "net/estimate.h"
#include "net/fragment.h"
#include "net/stream.h"

#define WRAP (1ull << 32)

TEST("a sequence is the nearest with its low bits") {
    static const struct {
        uint64_t expected;
        uint32_t low;
        uint64_t whole;
    } cases[] = {
        {0, 0, 0}, {0, 5, 5}, {0, 0xffffffff, 0xffffffff}, // no sequence lies before zero
        {5, 0xffffffff, 0xffffffff}, {WRAP - 1, 0, WRAP}, {WRAP - 1, 7, WRAP + 7},
        {WRAP - 1, 0xfffffff0, WRAP - 16}, {WRAP, 0xffffffff, WRAP - 1}, {WRAP, 0, WRAP},
        {WRAP + 5, 0xfffffff0, WRAP - 16}, {WRAP / 2, 0, 0}, {WRAP / 2 + 1, 0, WRAP},
        {7 * WRAP + 3, 0xfffffffe, 7 * WRAP - 2}, {7 * WRAP - 3, 2, 7 * WRAP + 2},
        {UINT64_MAX, 0xffffffff, UINT64_MAX},
        {UINT64_MAX, 3, UINT64_MAX - 0xfffffffc}, // no sequence lies past the last
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(cairn_sequence_expand(cases[i].expected, cases[i].low), cases[i].whole);
    }
}

TEST("a sequence is fresh, stale or a duplicate") {
    static const uint64_t starts[] = {0, 1000, WRAP - 3};
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t at = starts[i];
        cairn_ack_window w = {0};
        cairn_ack_window_add(&w, at);
        assert_int_equal(cairn_ack_window_check(&w, at), CAIRN_ACK_DUPLICATE);
        cairn_ack_window_add(&w, at + 5);
        assert_int_equal(cairn_ack_window_check(&w, at + 4), CAIRN_ACK_FRESH);
        assert_int_equal(cairn_ack_window_word(&w, 0), 1u << 4);
        cairn_ack_window_add(&w, at + 3);
        assert_int_equal(cairn_ack_window_word(&w, 0), 1u << 4 | 1u << 1);
        cairn_ack_window_add(&w, at + CAIRN_ACK_WINDOW);
        assert_int_equal(cairn_ack_window_check(&w, at), CAIRN_ACK_STALE);
        assert_int_equal(cairn_ack_window_check(&w, at + 1), CAIRN_ACK_FRESH);
        assert_int_equal(cairn_ack_window_check(&w, at + 3), CAIRN_ACK_DUPLICATE);
        cairn_ack_window_add(&w, at + 3 * CAIRN_ACK_WINDOW);
        assert_int_equal(
            cairn_ack_window_check(&w, at + 2 * CAIRN_ACK_WINDOW + 1), CAIRN_ACK_FRESH);
        assert_int_equal(cairn_ack_window_word(&w, 0), 0);
        cairn_ack_window_add(&w, at + 3 * CAIRN_ACK_WINDOW + 40);
        assert_int_equal(cairn_ack_window_word(&w, 0), 0);
        assert_int_equal(cairn_ack_window_word(&w, 32), 1u << 7);
    }
}

// Messages of two fragments with room for two at once.
typedef struct fixture {
    cairn_assemblies assemblies;
    uint8_t bytes[2][2000];
    uint8_t part[CAIRN_LINK_PART_SIZE];
} fixture;

static fixture t;

BEFORE_EACH {
    memset(&t, 0, sizeof t);
    t.assemblies.count = 2;
    t.assemblies.size_max = 2000;
    t.assemblies.slots[0].bytes = t.bytes[0];
    t.assemblies.slots[1].bytes = t.bytes[1];
}

static const uint64_t wait_ns = 50;

// Whether this fragment completes the message that begins at sequence `first`.
static bool add_fragment(uint64_t now_ns, uint64_t first, uint32_t index) {
    const cairn_fragment fragment = {.sequence = first + index,
        .index = index,
        .size = 2000,
        .bytes = t.part,
        .bytes_size = sizeof t.part};
    assert_int_equal(
        cairn_assemblies_take(&t.assemblies, now_ns, wait_ns, &fragment), CAIRN_LINK_TAKEN);
    return t.assemblies.done != NULL && t.assemblies.done->first == first;
}

TEST("the fragments of two messages may be interleaved") {
    assert_false(add_fragment(1, 12, 0));
    assert_false(add_fragment(2, 10, 1));
    assert_true(add_fragment(3, 12, 1));
    assert_true(add_fragment(4, 10, 0));
    assert_int_equal(t.assemblies.lost, 0);
}

TEST("a message that has waited long enough loses its slot to a new one") {
    assert_false(add_fragment(1, 10, 0));
    assert_false(add_fragment(2, 12, 0));
    assert_false(add_fragment(51, 14, 0));
    assert_int_equal(t.assemblies.lost, 1);
    assert_false(add_fragment(52, 10, 1)); // too late: it does not begin the message again
    assert_int_equal(t.assemblies.lost, 1);
    assert_true(add_fragment(53, 12, 1));
    assert_true(add_fragment(54, 14, 1));
}

TEST("a message that has waited a short time keeps its slot") {
    assert_false(add_fragment(1, 10, 0));
    assert_false(add_fragment(2, 12, 0));
    assert_false(add_fragment(50, 14, 0)); // given up
    assert_int_equal(t.assemblies.lost, 1);
    assert_true(add_fragment(60, 10, 1));
    assert_false(add_fragment(61, 14, 1)); // a later fragment does not begin it
    assert_int_equal(t.assemblies.lost, 1);
    assert_true(add_fragment(62, 12, 1));
    assert_false(add_fragment(63, 16, 1));
    assert_true(add_fragment(64, 16, 0));
}

TEST("a fragment whose message would begin before the first payload is refused") {
    const cairn_fragment fragment = {
        .sequence = 0, .index = 1, .size = 2000, .bytes = t.part, .bytes_size = 1000};
    assert_int_equal(
        cairn_assemblies_take(&t.assemblies, 1, wait_ns, &fragment), CAIRN_LINK_DROP_FRAGMENT);
}

TEST("the round-trip estimate follows RFC 6298") {
    cairn_estimate e = {0};
    assert_int_equal(cairn_estimate_timeout_ns(&e, 0), CAIRN_RTO_FIRST_NS);
    assert_int_equal(cairn_estimate_overdue_ns(&e), CAIRN_RTO_FIRST_NS);
    cairn_estimate_round_trip(&e, 80000000);
    assert_int_equal(e.rtt_ns, 80000000);
    assert_int_equal(e.rtt_var_ns, 40000000);
    assert_int_equal(cairn_estimate_overdue_ns(&e), 240000000);
    assert_int_equal(cairn_estimate_timeout_ns(&e, 0), 260000000);
    assert_int_equal(cairn_estimate_timeout_ns(&e, 1), 520000000);
    assert_int_equal(cairn_estimate_timeout_ns(&e, 30), CAIRN_RTO_NS_MAX);
    cairn_estimate_round_trip(&e, 160000000);
    assert_int_equal(e.rtt_var_ns, 50000000); // 3/4 of 40 and 1/4 of 80
    assert_int_equal(e.rtt_ns, 90000000);     // 7/8 of 80 and 1/8 of 160
    assert_int_equal(e.rtt_ns_min, 80000000);
    for (uint32_t i = 0; i < 200; i++) {
        cairn_estimate_round_trip(&e, 80000000);
    }
    assert_in_range(e.rtt_ns, 79999990, 80000010);
    assert_int_equal(cairn_estimate_overdue_ns(&e), e.rtt_ns + e.rtt_ns / 8);
    cairn_estimate_round_trip(&e, 9000000000);
    assert_true(cairn_estimate_timeout_ns(&e, 0) >= e.rtt_ns); // never shorter than the round trip
}

TEST("loss is a mean that a late ack corrects") {
    cairn_estimate e = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        cairn_estimate_outcome(&e, i % 10 == 0);
    }
    assert_true(e.loss > 0.08f && e.loss < 0.12f);
    const float before = e.loss;
    cairn_estimate_outcome(&e, true);
    assert_true(e.loss > before);
    cairn_estimate_round_trip(&e, 100000000);
    cairn_estimate_round_trip(&e, 100000000);
    cairn_estimate_undo_loss(&e, 290000000);
    assert_int_equal(cairn_estimate_overdue_ns(&e), 290000000);
    assert_true(e.loss <= before);
    for (uint32_t i = 0; i < 1000; i++) {
        cairn_estimate_undo_loss(&e, 10000000000);
    }
    assert_true(e.loss >= 0.0f);
    assert_int_equal(cairn_estimate_overdue_ns(&e), 350000000); // a quarter second at most
    for (uint32_t i = 0; i < 10000; i++) {
        cairn_estimate_round_trip(&e, 100000000);
    }
    assert_int_equal(
        cairn_estimate_overdue_ns(&e), e.rtt_ns + e.rtt_ns / 8); // the largest delay fades
}

// What one sender holds, with a last frame that is longer than it, or not.
static bool hands_over(bool cut) {
    static uint8_t bytes[2][64];
    static cairn_segment segments[2][4];
    cairn_stream_sender senders[2];
    for (uint32_t i = 0; i < 2; ++i) {
        senders[i] = (cairn_stream_sender){.bytes = bytes[i],
            .capacity = sizeof bytes[i],
            .limit = sizeof bytes[i],
            .segments = segments[i],
            .segment_capacity = 4};
        cairn_stream_sender_reset(&senders[i]);
    }
    cairn_stream_sender_queue(&senders[0], (const uint8_t *)"whole", 5);
    cairn_stream_sender_queue(&senders[0], (const uint8_t *)"too", 3);
    bytes[0][cairn_frame_size(5)] = cut ? 5 : 3;
    const uint64_t held = senders[0].end;
    cairn_archive out = cairn_archive_writer();
    cairn_stream_sender_hand_over(&senders[0], held, 1, &out);
    cairn_archive in = cairn_archive_reader(out.out, out.size);
    cairn_stream_sender_hand_over(&senders[1], held, 1, &in);
    const bool taken = cairn_archive_is_done(&in);
    assert_true(!taken || (senders[1].base == 0 && senders[1].end == held));
    assert_memory_equal(bytes[0], bytes[1], held);
    cairn_archive_free(&out);
    return taken;
}

TEST("a stream that is handed over has whole frames, to its end") {
    assert_true(hands_over(false));
    assert_false(hands_over(true));
}

// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/handover.h"
#include "net/link_parts.h"

#define TIME_FAR_NS UINT64_C(60000000000) // how far ahead a time may be

static void put_estimate(cairn_archive *a, cairn_estimate *estimate) {
    uint32_t loss_bits;
    memcpy(&loss_bits, &estimate->loss, sizeof loss_bits);
    cairn_archive_u64(a, "a round trip", &estimate->rtt_ns, 0, TIME_FAR_NS);
    cairn_archive_u64(a, "a round trip", &estimate->rtt_var_ns, 0, TIME_FAR_NS);
    cairn_archive_u64(a, "a round trip", &estimate->rtt_ns_min, 0, TIME_FAR_NS);
    cairn_archive_u64(a, "a round trip", &estimate->late_ns, 0, TIME_FAR_NS);
    cairn_archive_u32(a, "a loss", &loss_bits, 0, 0x3f800000); // 0 to 1
    cairn_archive_bool(a, "a round trip", &estimate->sampled);
    memcpy(&estimate->loss, &loss_bits, sizeof loss_bits);
}

// Which sequences came, and what is owed for them.
static void put_received(cairn_archive *a, cairn_link *link) {
    cairn_archive_u64(a, "a link's sequence", &link->received.next, 0, UINT64_MAX / 2);
    cairn_archive_words(a, link->received.bits, CAIRN_ACK_WINDOW / 64);
    cairn_archive_u64(a, "a link's time", &link->newest_ns, 0, link->now_ns);
    cairn_archive_u64(
        a, "a link's delay", &link->ack_delay_ns, CAIRN_ACK_DELAY_NS, CAIRN_ACK_DELAY_NS_MAX);
    cairn_archive_u64(a, "a link's time", &link->owed_ns, 0, link->now_ns + TIME_FAR_NS);
    cairn_archive_u32(a, "a link's count", &link->owed_count, 0, UINT32_MAX);
    cairn_archive_u32(a, "a link's count", &link->unreported, 0, UINT32_MAX);
    cairn_archive_u32(a, "a link's count", &link->far_count, 0, UINT32_MAX);
    cairn_archive_u64(a, "a link's time", &link->far_since_ns, 0, link->now_ns);
    if (a->reading && link->received.next == 0 && link->owed_count + link->unreported > 0) {
        cairn_archive_refuse(a, "a link's count");
    }
    link->assemblies.given_up = a->reading ? link->received.next : link->assemblies.given_up;
}

// No record of what is in flight is handed over: the acknowledgements of these payloads find none.
static void put_sequence(cairn_archive *a, cairn_link *link) {
    uint64_t window = link->congestion.window;
    uint64_t threshold = link->congestion.threshold;
    cairn_archive_u64(a, "a link's sequence", &link->sent.next, 0, UINT64_MAX / 2);
    cairn_archive_u64(a, "a link's time", &link->unreliable_ns, 0, link->now_ns);
    cairn_archive_u64(a, "a link's window", &window, CAIRN_CONGESTION_WINDOW_MIN, UINT64_MAX);
    cairn_archive_u64(a, "a link's window", &threshold, 0, UINT64_MAX);
    if (a->reading) {
        const uint64_t window_max = link->congestion.window_max;
        link->sent.first = link->sent.next;
        link->sent.oldest = link->sent.next;
        link->sent.acked_next = link->sent.next;
        cairn_congestion_reset(&link->congestion, link->now_ns, link->sent.next, window_max);
        link->congestion.window = window < window_max ? window : window_max;
        link->congestion.threshold = threshold;
    }
}

static void put_outgoing(cairn_archive *a, cairn_link *link) {
    cairn_stream_sender *sender = &link->sender;
    uint64_t held = sender->end - sender->base;
    cairn_archive_bool(a, "a stream's window", &link->has_peer_window);
    cairn_archive_u32(a, "a stream's window", &sender->window, CAIRN_LINK_WINDOW_UNIT,
        255 * CAIRN_LINK_WINDOW_UNIT);
    cairn_archive_u64(a, "a stream's length", &held, 0, sender->limit);
    if (a->reading && held > sender->capacity && !cairn_link_grow_stream(link, held)) {
        cairn_archive_refuse(a, "out of memory");
    }
    if (a->refused == NULL) {
        cairn_stream_sender_hand_over(sender, held, link->now_ns, a);
    }
}

void cairn_link_hand_over(cairn_link *link, uint64_t now_ns, cairn_archive *a) {
    CAIRN_ASSERT(link->ready.size == 0 && now_ns >= link->now_ns);
    CAIRN_ASSERT(!a->reading || (link->sent.next == 0 && link->received.next == 0));
    link->now_ns = now_ns;
    put_estimate(a, &link->estimate);
    put_received(a, link);
    put_sequence(a, link);
    put_outgoing(a, link);
    cairn_stream_receiver_hand_over(&link->receiver, a);
}

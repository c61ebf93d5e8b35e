// SPDX-License-Identifier: MIT
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/link_parts.h"

static void resolve_oldest(cairn_link *link) {
    cairn_sent_ring *ring = &link->sent;
    while (ring->oldest < ring->next) {
        const cairn_sent *sent = cairn_sent_ring_find(ring, ring->oldest);
        if (sent != NULL && sent->state == CAIRN_SENT_IN_FLIGHT) {
            return;
        }
        ring->oldest++;
    }
    CAIRN_ASSERT(ring->oldest == ring->next);
}

void cairn_link_lose_oldest(cairn_link *link) {
    const uint64_t sequence = link->sent.oldest;
    cairn_sent *sent = cairn_sent_ring_find(&link->sent, sequence);
    CAIRN_ASSERT(sent != NULL && sent->state == CAIRN_SENT_IN_FLIGHT);
    sent->state = CAIRN_SENT_LOST;
    link->statistics.payloads_lost++;
    cairn_estimate_outcome(&link->estimate, true);
    cairn_congestion_lost(&link->congestion, link->now_ns, sequence, sent->size, link->sent.next);
    if (sent->has_segment) {
        cairn_stream_sender_lost(&link->sender, sent->segment, sequence);
    }
    resolve_oldest(link);
    CAIRN_ASSERT(link->sent.oldest > sequence);
}

void cairn_link_detect_losses(cairn_link *link, uint64_t now_ns) {
    const uint64_t overdue_ns = cairn_estimate_overdue_ns(&link->estimate);
    while (link->sent.oldest < link->sent.acked_next) {
        const cairn_sent *sent = cairn_sent_ring_find(&link->sent, link->sent.oldest);
        CAIRN_ASSERT(sent != NULL && sent->state == CAIRN_SENT_IN_FLIGHT);
        if (now_ns < sent->sent_ns + overdue_ns) {
            return;
        }
        cairn_link_lose_oldest(link);
    }
}

// The acks of one payload, with full 64-bit sequences.
typedef struct ack_report {
    uint64_t newest;
    uint64_t delay_ns; // UINT64_MAX: unknown
    uint32_t words[1 + CAIRN_LINK_ACK_WORDS_MAX];
    uint32_t word_count;
} ack_report;

static void acknowledge(
    cairn_link *link, uint64_t now_ns, uint64_t sequence, const ack_report *report) {
    CAIRN_ASSERT(sequence < link->sent.next);
    cairn_sent *sent = cairn_sent_ring_find(&link->sent, sequence);
    if (sent == NULL || sent->state == CAIRN_SENT_ACKNOWLEDGED) {
        return;
    }
    CAIRN_ASSERT(now_ns >= sent->sent_ns);
    const uint64_t elapsed_ns = now_ns - sent->sent_ns;
    if (sequence >= link->sent.acked_next) { // only the newest of a report can be
        if (report->delay_ns <= elapsed_ns) {
            cairn_estimate_round_trip(&link->estimate, elapsed_ns - report->delay_ns);
            cairn_congestion_round_trip(&link->congestion, now_ns, elapsed_ns - report->delay_ns);
        }
        link->sent.acked_next = sequence + 1;
    }
    if (sent->state == CAIRN_SENT_LOST) {
        CAIRN_ASSERT(link->statistics.payloads_lost > 0);
        link->statistics.payloads_lost--;
        cairn_estimate_undo_loss(&link->estimate, elapsed_ns);
        cairn_congestion_undo_loss(&link->congestion);
    } else {
        cairn_congestion_acknowledged(
            &link->congestion, now_ns, sequence, sent->size, elapsed_ns, link->sent.next);
    }
    sent->state = CAIRN_SENT_ACKNOWLEDGED;
    link->statistics.payloads_acknowledged++;
    cairn_estimate_outcome(&link->estimate, false);
    if (sent->has_segment) {
        cairn_stream_sender_acknowledged(&link->sender, now_ns, sent->segment);
    }
}

// The bits of the first word that the last report did not have: most of a report repeats it.
static uint32_t new_acks(cairn_link *link, const ack_report *report) {
    const uint64_t newer = report->newest - link->reported_newest;
    const uint32_t word = report->words[0];
    if (report->newest < link->reported_newest || newer > 32) {
        return word;
    }
    const uint64_t before = (uint64_t)link->reported_bits << 1 | 1; // with its newest as bit 0
    return word & ~(uint32_t)(before << newer >> 1);
}

static void take_acks(cairn_link *link, uint64_t now_ns, const ack_report *report) {
    CAIRN_ASSERT(report->word_count >= 1 && report->word_count <= 1 + CAIRN_LINK_ACK_WORDS_MAX);
    const uint32_t fresh = link->has_ack_report ? new_acks(link, report) : report->words[0];
    acknowledge(link, now_ns, report->newest, report);
    for (uint32_t w = 0; w < report->word_count; w++) {
        uint32_t word = w == 0 ? fresh : report->words[w];
        for (uint32_t i = 0; word != 0; i++, word >>= 1) {
            if ((word & 1) != 0) {
                acknowledge(link, now_ns, report->newest - 1 - 32 * w - i, report);
            }
        }
    }
    link->has_ack_report = true;
    link->reported_newest = report->newest;
    link->reported_bits = report->words[0];
    resolve_oldest(link);
}

// Whether a report acknowledges a sequence that was left out.
static bool acknowledges_skipped(const cairn_link *link, const ack_report *report) {
    for (uint32_t i = 0; i < CAIRN_LINK_SKIPS; i++) {
        const uint64_t sequence = link->skipped[i];
        if (sequence == report->newest) {
            return true;
        }
        const uint64_t before = report->newest - sequence - 1;
        if (sequence < report->newest && before < 32 * report->word_count &&
            (report->words[before / 32] >> (before % 32) & 1) != 0) {
            return true;
        }
    }
    return false;
}

// Refuses acks of payloads that were never sent. The last of several words must not be zero, so
// that each report has exactly one encoding.
static cairn_link_drop read_report(const cairn_link *link, const cairn_link_header *header,
    const uint8_t *body, size_t body_size, ack_report *out) {
    CAIRN_ASSERT(header->has_ack);
    *out = (ack_report){.newest = cairn_sequence_expand(link->sent.next, header->ack),
        .delay_ns = header->ack_delay == CAIRN_LINK_ACK_DELAY_UNKNOWN
                        ? UINT64_MAX
                        : (uint64_t)header->ack_delay * CAIRN_LINK_ACK_DELAY_UNIT_NS,
        .words = {header->ack_bits},
        .word_count = 1};
    cairn_reader reader = cairn_reader_of(body, body_size);
    while (header->kind == CAIRN_LINK_ACK && cairn_reader_left(&reader) >= 4) {
        out->words[out->word_count++] = cairn_read_u32(&reader);
    }
    if (out->word_count > 1 && out->words[out->word_count - 1] == 0) {
        return CAIRN_LINK_DROP_KIND;
    }
    if (out->newest >= link->sent.next) {
        return CAIRN_LINK_DROP_ACK;
    }
    // Bit i is of the payload i + 1 before the newest; before the first one there is none.
    for (uint64_t i = out->newest; i < 32 * out->word_count; i++) {
        if ((out->words[i / 32] >> (i % 32) & 1) != 0) {
            return CAIRN_LINK_DROP_ACK;
        }
    }
    return acknowledges_skipped(link, out) ? CAIRN_LINK_DROP_ACK : CAIRN_LINK_TAKEN;
}

static cairn_link_drop take_fragment(
    cairn_link *link, uint64_t sequence, const uint8_t *body, size_t body_size) {
    const cairn_fragment fragment = cairn_fragment_read(sequence, body, body_size);
    const cairn_link_drop drop = cairn_assemblies_take(
        &link->assemblies, link->now_ns, cairn_estimate_reordering_ns(&link->estimate), &fragment);
    const cairn_assembly *done = drop == CAIRN_LINK_TAKEN ? link->assemblies.done : NULL;
    if (done != NULL) {
        CAIRN_ASSERT(done->missing == 0 && done->size <= link->config.receive_size_max);
        link->ready = (cairn_link_message){.bytes = done->bytes, .size = done->size};
    }
    return drop;
}

static cairn_link_drop take_single(cairn_link *link, const uint8_t *body, size_t body_size) {
    CAIRN_ASSERT(body_size >= 1 && body_size <= CAIRN_LINK_SINGLE_SIZE_MAX);
    if (body_size > link->config.receive_size_max) {
        return CAIRN_LINK_DROP_MESSAGE_SIZE;
    }
    link->ready = (cairn_link_message){.bytes = body, .size = body_size};
    return CAIRN_LINK_TAKEN;
}

static cairn_link_drop take_stream(cairn_link *link, const uint8_t *body, size_t body_size) {
    cairn_reader reader = cairn_reader_of(body, body_size);
    const uint64_t offset = cairn_read_u64(&reader);
    const uint32_t size = (uint32_t)cairn_reader_left(&reader);
    CAIRN_ASSERT(reader.ok);
    return cairn_stream_receiver_take(
        &link->receiver, offset, cairn_read_view(&reader, size), size);
}

static cairn_link_drop take_body(
    cairn_link *link, uint8_t kind, uint64_t sequence, const uint8_t *body, size_t body_size) {
    switch (kind) {
    case CAIRN_LINK_MESSAGE:
        return take_single(link, body, body_size);
    case CAIRN_LINK_FRAGMENT:
        return take_fragment(link, sequence, body, body_size);
    case CAIRN_LINK_STREAM:
        return take_stream(link, body, body_size);
    default:
        return CAIRN_LINK_TAKEN;
    }
}

static void note_received(cairn_link *link, uint64_t now_ns, uint64_t sequence, uint8_t kind) {
    if (sequence >= link->received.next) {
        link->newest_ns = now_ns;
    }
    cairn_ack_window_add(&link->received, sequence);
    CAIRN_ASSERT(link->received.next > sequence);
    link->unreported++;
    if (kind != CAIRN_LINK_ACK) {
        const uint64_t owed_ns =
            now_ns + (kind == CAIRN_LINK_STREAM ? CAIRN_ACK_DELAY_NS : link->ack_delay_ns);
        link->owed_ns = link->owed_count == 0 || owed_ns < link->owed_ns ? owed_ns : link->owed_ns;
        link->owed_count += 1;
    }
    const bool far = link->received.next - sequence > 33;
    if (kind != CAIRN_LINK_ACK && far && link->far_count++ == 0) {
        link->far_since_ns = now_ns;
    }
}

static cairn_link_drop receive_checked(
    cairn_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size) {
    cairn_link_header header;
    cairn_link_drop drop = cairn_link_header_read(bytes, size, &header);
    if (drop != CAIRN_LINK_TAKEN) {
        return drop;
    }
    const uint64_t sequence = cairn_sequence_expand(link->received.next, header.sequence);
    const cairn_ack_seen seen = cairn_ack_window_check(&link->received, sequence);
    if (seen != CAIRN_ACK_FRESH) {
        return seen == CAIRN_ACK_STALE ? CAIRN_LINK_DROP_STALE : CAIRN_LINK_DROP_DUPLICATE;
    }
    CAIRN_ASSERT(size >= CAIRN_LINK_HEADER_SIZE);
    const uint8_t *body = bytes + CAIRN_LINK_HEADER_SIZE;
    const size_t body_size = size - CAIRN_LINK_HEADER_SIZE;
    const uint32_t window = (uint32_t)header.window * CAIRN_LINK_WINDOW_UNIT;
    if (link->has_peer_window && window != link->sender.window) {
        return CAIRN_LINK_DROP_WINDOW;
    }
    ack_report report;
    drop = header.has_ack ? read_report(link, &header, body, body_size, &report) : CAIRN_LINK_TAKEN;
    if (drop != CAIRN_LINK_TAKEN) {
        return drop;
    }
    drop = take_body(link, header.kind, sequence, body, body_size);
    if (drop != CAIRN_LINK_TAKEN) {
        return drop;
    }
    link->sender.window = window;
    link->has_peer_window = true;
    note_received(link, now_ns, sequence, header.kind);
    if (header.has_ack) {
        take_acks(link, now_ns, &report);
        cairn_link_shrink(link);
    }
    return CAIRN_LINK_TAKEN;
}

cairn_link_drop cairn_link_receive(
    cairn_link *link, uint64_t now_ns, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(now_ns >= link->now_ns);
    CAIRN_ASSERT((bytes != NULL || size == 0) && (uintptr_t)bytes % 8 == 0);
    link->now_ns = now_ns;
    link->statistics.payloads_received++;
    link->statistics.bytes_received += size;
    if (link->ready.size > 0) {
        link->ready = (cairn_link_message){0};
        link->statistics.messages_unread++;
    }
    const cairn_link_drop drop = receive_checked(link, now_ns, bytes, size);
    CAIRN_ASSERT(drop < CAIRN_LINK_DROP_COUNT);
    link->statistics.drops[drop]++;
    return drop;
}

bool cairn_link_next_message(cairn_link *link, cairn_link_message *out) {
    if (link->ready.size > 0) {
        *out = link->ready;
        link->ready = (cairn_link_message){0};
        return true;
    }
    uint32_t size = 0;
    const uint8_t *bytes = NULL;
    if (!cairn_stream_receiver_next(&link->receiver, &bytes, &size)) {
        return false;
    }
    CAIRN_ASSERT(size >= 1 && size <= link->config.receive_size_max);
    *out = (cairn_link_message){.bytes = bytes, .size = size, .reliable = true};
    return true;
}

cairn_link_path cairn_link_path_read(const cairn_link *link) {
    return (cairn_link_path){.rtt_ns = link->estimate.rtt_ns,
        .jitter_ns = link->estimate.rtt_var_ns,
        .loss = link->estimate.loss};
}

const cairn_link_statistics *cairn_link_statistics_read(cairn_link *link) {
    cairn_link_statistics *s = &link->statistics;
    s->rtt_ns = link->estimate.rtt_ns;
    s->rtt_ns_min = link->estimate.rtt_ns_min;
    s->jitter_ns = link->estimate.rtt_var_ns;
    s->loss = link->estimate.loss;
    s->rate_bytes_per_s = cairn_congestion_rate(&link->congestion);
    s->window_bytes = link->congestion.window;
    s->in_flight_bytes = link->congestion.in_flight;
    s->queue_ns = cairn_congestion_queue_ns(&link->congestion);
    s->messages_lost = link->assemblies.lost;
    return s;
}

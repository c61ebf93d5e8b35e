// SPDX-License-Identifier: MIT
#include "net/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/link_parts.h"

// Payloads that may be in flight at once: some small ones, the longest message three times over,
// and every segment of the stream twice. A record that is reused too early looks like a loss.
static const uint32_t sent_ring_base = 90;

cairn_link_config cairn_link_config_default(void) {
    return (cairn_link_config){
        .unreliable_size_max = CAIRN_MESSAGE_SIZE_MAX,
        .receive_size_max = CAIRN_MESSAGE_SIZE_MAX,
        .receive_messages_max = 4,
        .reliable_buffer_size = 256 * 1024 + 64,
    };
}

static bool is_config_valid(const cairn_link_config *config) {
    return config->unreliable_size_max >= 1 &&
           config->unreliable_size_max <= CAIRN_MESSAGE_SIZE_MAX && config->receive_size_max >= 1 &&
           config->receive_size_max <= CAIRN_MESSAGE_SIZE_MAX &&
           config->receive_messages_max >= 1 &&
           config->receive_messages_max <= CAIRN_ASSEMBLIES_MAX &&
           config->reliable_buffer_size >= 64 && config->reliable_buffer_size <= 1u << 30;
}

// The offset of each buffer in the one block of a link; all are multiples of 16.
typedef struct layout {
    size_t sent, segments, have, reliable, short_message, stream, unreliable, assemblies, all;
    size_t assembly_size;
    uint32_t window;
    cairn_link_memory memory; // without its pointers
} layout;

static size_t reserve(size_t *at, size_t size) {
    CAIRN_ASSERT(*at % 16 == 0);
    const size_t here = *at;
    *at += (size + 15) / 16 * 16;
    return here;
}

static uint32_t fewer(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// What grows: how large it is at first and at most.
static cairn_link_memory sizes_of(const cairn_link_config *config) {
    const uint32_t segments = config->reliable_buffer_size / 512;
    cairn_link_memory sizes = {
        .segments_max = segments < 16 ? 16 : fewer(segments, 512),
        .stream_max = config->reliable_buffer_size / 8 * 8,
        .sent_max = 1,
    };
    const uint32_t in_flight = sent_ring_base +
                               3 * cairn_fragment_count(config->unreliable_size_max) +
                               2 * sizes.segments_max;
    while (sizes.sent_max < in_flight) {
        sizes.sent_max *= 2;
    }
    sizes.stream_small = fewer((uint32_t)sizes.stream_max, CAIRN_LINK_STREAM_SMALL);
    sizes.segments_small = fewer(sizes.segments_max, CAIRN_LINK_SEGMENTS_SMALL);
    sizes.sent_small = fewer(sizes.sent_max, CAIRN_LINK_SENT_SMALL);
    return sizes;
}

// What is used with every payload comes first, so that it shares few pages.
static layout layout_of(const cairn_link_config *config) {
    CAIRN_ASSERT(is_config_valid(config));
    layout l = {
        .window = cairn_stream_window(config->receive_size_max),
        .assembly_size = ((size_t)config->receive_size_max + 15) / 16 * 16,
        .memory = sizes_of(config),
    };
    const bool fragments = config->receive_size_max > CAIRN_LINK_SINGLE_SIZE_MAX;
    reserve(&l.all, sizeof(cairn_link));
    l.sent = reserve(&l.all, l.memory.sent_small * sizeof(cairn_sent));
    l.segments = reserve(&l.all, l.memory.segments_small * sizeof(cairn_segment));
    l.have = reserve(&l.all, l.window / 64);
    l.reliable = reserve(&l.all, (size_t)l.memory.stream_small);
    l.short_message =
        reserve(&l.all, fewer(config->unreliable_size_max, CAIRN_LINK_SINGLE_SIZE_MAX));
    l.stream = reserve(&l.all, (size_t)l.window + 16);
    l.unreliable = reserve(&l.all, config->unreliable_size_max > CAIRN_LINK_SINGLE_SIZE_MAX
                                       ? config->unreliable_size_max
                                       : (size_t)0);
    l.assemblies =
        reserve(&l.all, fragments ? config->receive_messages_max * l.assembly_size : (size_t)0);
    return l;
}

size_t cairn_link_memory_size(const cairn_link_config *config) {
    return is_config_valid(config) ? layout_of(config).all : 0;
}

static void attach_buffers(cairn_link *link, uint8_t *block, const layout *l) {
    CAIRN_ASSERT((uintptr_t)block % 16 == 0);
    link->memory = l->memory;
    link->memory.sent = (void *)(block + l->sent);
    link->memory.segments = (void *)(block + l->segments);
    link->memory.stream = block + l->reliable;
    link->memory.short_message = block + l->short_message;
    link->memory.long_message = block + l->unreliable;
    link->unreliable = link->memory.short_message;
    link->receiver.have = (void *)(block + l->have);
    link->receiver.window = l->window;
    link->receiver.size_max = link->config.receive_size_max;
    link->receiver.bytes = block + l->stream + 4; // messages follow 4 bytes of frame header
    link->assemblies.count = link->config.receive_messages_max;
    link->assemblies.size_max = link->config.receive_size_max;
    for (uint32_t i = 0; i < link->assemblies.count; i++) {
        link->assemblies.slots[i].bytes = block + l->assemblies + i * l->assembly_size;
    }
}

cairn_status cairn_link_create(const cairn_link_config *config, uint64_t now_ns, cairn_link **out) {
    CAIRN_ASSERT(config != NULL && out != NULL);
    *out = NULL;
    if (!is_config_valid(config)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const layout l = layout_of(config);
    uint8_t *block = malloc(l.all);
    if (block == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    // What follows is written before it is read. Zeros there would take pages that may never be
    // used.
    memset(block, 0, l.short_message);
    cairn_link *link = (void *)block;
    link->config = *config;
    attach_buffers(link, block, &l);
    cairn_link_reset(link, now_ns);
    *out = link;
    return CAIRN_OK;
}

void cairn_link_destroy(cairn_link *link) {
    if (link != NULL) {
        cairn_link_forget_growth(link);
        free(link);
    }
}

void cairn_link_reset(cairn_link *link, uint64_t now_ns) {
    cairn_link_forget_growth(link);
    *link = (cairn_link){
        .config = link->config,
        .memory = link->memory,
        .now_ns = now_ns,
        .ack_delay_ns = CAIRN_ACK_DELAY_NS,
        .sent = link->sent,
        .unreliable = link->unreliable,
        .sender = link->sender,
        .assemblies = link->assemblies,
        .receiver = link->receiver,
    };
    for (uint32_t i = 0; i < CAIRN_LINK_SKIPS; i++) {
        link->skipped[i] = UINT64_MAX;
    }
    cairn_sent_ring_reset(&link->sent);
    cairn_stream_sender_reset(&link->sender);
    cairn_congestion_reset(&link->congestion, now_ns, 0,
        (uint64_t)link->memory.sent_max / 2 * CAIRN_CONGESTION_PACKET_SIZE);
    cairn_assemblies_reset(&link->assemblies);
    cairn_stream_receiver_reset(&link->receiver);
}

void cairn_link_delay_acks(cairn_link *link, uint64_t delay_ns) {
    CAIRN_ASSERT(delay_ns >= CAIRN_ACK_DELAY_NS && delay_ns <= CAIRN_ACK_DELAY_NS_MAX);
    link->ack_delay_ns = delay_ns;
}

void cairn_link_path_changed(cairn_link *link, uint64_t now_ns) {
    const uint64_t window_max = link->congestion.window_max;
    cairn_congestion_reset(&link->congestion, now_ns, link->sent.next, window_max);
    // The values stay until the first measurement, but no timeout relies on them.
    link->estimate.sampled = false;
}

cairn_status cairn_link_send_unreliable(cairn_link *link, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    if (size == 0 || size > link->config.unreliable_size_max) {
        return CAIRN_INVALID_ARGUMENT;
    }
    link->statistics.messages_replaced += link->unreliable_size > 0 ? 1 : 0;
    link->unreliable =
        size <= CAIRN_LINK_SINGLE_SIZE_MAX ? link->memory.short_message : link->memory.long_message;
    memcpy(link->unreliable, bytes, size);
    link->unreliable_size = (uint32_t)size;
    link->unreliable_next = 0;
    return CAIRN_OK;
}

cairn_status cairn_link_send_reliable(cairn_link *link, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    if (size == 0 || size > CAIRN_MESSAGE_SIZE_MAX ||
        cairn_frame_size((uint32_t)size) > link->sender.limit) {
        return CAIRN_INVALID_ARGUMENT;
    }
    if (!cairn_link_reliable_fits(link, size)) {
        return CAIRN_CAPACITY;
    }
    cairn_stream_sender_queue(&link->sender, bytes, (uint32_t)size);
    return CAIRN_OK;
}

bool cairn_link_reliable_fits(cairn_link *link, size_t size) {
    CAIRN_ASSERT(size <= CAIRN_MESSAGE_SIZE_MAX);
    const uint64_t frame_size = cairn_frame_size((uint32_t)size);
    const uint64_t held = link->sender.end - link->sender.base + frame_size;
    return frame_size <= cairn_stream_sender_room(&link->sender) &&
           (cairn_stream_sender_fits(&link->sender, frame_size) ||
               cairn_link_grow_stream(link, held) || held <= link->sender.capacity);
}

static bool unreliable_may_leave(cairn_link *link, uint64_t now_ns) {
    return cairn_congestion_allows(&link->congestion, now_ns) ||
           now_ns >= link->unreliable_ns + CAIRN_LINK_UNRELIABLE_NS;
}

bool cairn_link_unreliable_ready_after_stream(cairn_link *link, uint64_t now_ns) {
    const bool held_back = link->congestion.limited && cairn_stream_sender_ready(&link->sender);
    return (!held_back || now_ns >= link->unreliable_ns + CAIRN_LINK_AFTER_STREAM_NS) &&
           cairn_link_unreliable_ready(link, now_ns);
}

bool cairn_link_unreliable_ready(cairn_link *link, uint64_t now_ns) {
    // On a path that is too slow for both, the stream has every other turn: it may carry what the
    // newer messages rest on.
    const bool streams_turn = link->stream_turn && link->congestion.limited &&
                              cairn_stream_sender_ready(&link->sender) &&
                              now_ns < link->unreliable_ns + CAIRN_LINK_UNRELIABLE_NS;
    return link->unreliable_size == 0 && !streams_turn && unreliable_may_leave(link, now_ns);
}

size_t cairn_link_reliable_room(const cairn_link *link) {
    const uint64_t room = cairn_stream_sender_room(&link->sender);
    return room < 8 ? 0 : (size_t)room - CAIRN_FRAME_HEADER_SIZE;
}

bool cairn_link_reliable_idle(const cairn_link *link) {
    return link->sender.base == link->sender.end;
}

uint64_t cairn_link_reliable_acknowledged(const cairn_link *link) {
    return link->sender.acked;
}

bool cairn_link_failed(const cairn_link *link) {
    return link->receiver.broken ||
           (link->has_peer_window && cairn_stream_sender_failed(&link->sender));
}

// Whether a sequence is left out. SplitMix64's finalizer: without the seed the next one cannot be
// told from those before.
static bool is_skipped(uint64_t seed, uint64_t sequence) {
    uint64_t z = seed + (sequence + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return seed != 0 && (z ^ z >> 31) >> 56 == 0;
}

static void make_room_for_sent(cairn_link *link) {
    if (!cairn_link_sent_expired(link, link->sent.capacity)) {
        (void)cairn_link_grow_sent(link);
    }
    while (cairn_sent_ring_full(&link->sent) && !cairn_link_grow_sent(link)) {
        cairn_link_lose_oldest(link);
    }
}

// Leaves out the next sequence if it is drawn. A peer that acknowledges what it did not receive, to
// be sent more than its path carries, sooner or later acknowledges one of these.
static void skip_sequence(cairn_link *link) {
    cairn_sent_ring *ring = &link->sent;
    if (!is_skipped(link->config.skip_seed, ring->next)) {
        return;
    }
    make_room_for_sent(link);
    const uint64_t sequence = cairn_sent_ring_add(ring, (cairn_sent){.state = CAIRN_SENT_SKIPPED});
    ring->oldest += ring->oldest == sequence ? 1 : 0;
    link->skipped[link->skip_count++ % CAIRN_LINK_SKIPS] = sequence;
}

// Writes the link header, records the payload as sent and everything received as acknowledged.
static void begin_payload(
    cairn_link *link, uint64_t now_ns, cairn_link_kind kind, cairn_sent record, uint8_t *bytes) {
    make_room_for_sent(link);
    record.sent_ns = now_ns;
    record.state = CAIRN_SENT_IN_FLIGHT;
    const bool has_ack = link->received.next > 0;
    CAIRN_ASSERT(now_ns >= link->newest_ns);
    const uint64_t delay = (now_ns - link->newest_ns) / CAIRN_LINK_ACK_DELAY_UNIT_NS;
    const uint16_t known_delay =
        delay < CAIRN_LINK_ACK_DELAY_UNKNOWN ? (uint16_t)delay : CAIRN_LINK_ACK_DELAY_UNKNOWN;
    const cairn_link_header header = {
        .kind = (uint8_t)kind,
        .has_ack = has_ack,
        .window = (uint8_t)(link->receiver.window / CAIRN_LINK_WINDOW_UNIT),
        .ack_delay = has_ack ? known_delay : 0,
        .sequence = (uint32_t)cairn_sent_ring_add(&link->sent, record),
        .ack = has_ack ? (uint32_t)(link->received.next - 1) : 0,
        .ack_bits = has_ack ? cairn_ack_window_word(&link->received, 0) : 0,
    };
    cairn_link_header_write(&header, bytes);
    CAIRN_ASSERT(link->sent.oldest < link->sent.next);
    link->owed_count = 0;
    link->unreported = 0;
}

static size_t count_payload(cairn_link *link, size_t size) {
    CAIRN_ASSERT(size >= CAIRN_LINK_HEADER_SIZE && size <= CAIRN_PAYLOAD_SIZE_MAX);
    link->statistics.payloads_sent++;
    link->statistics.bytes_sent += size;
    return size;
}

static size_t bare_ack_payload(cairn_link *link, uint64_t now_ns, uint8_t *bytes) {
    CAIRN_ASSERT(link->received.next > 0);
    uint32_t words[CAIRN_LINK_ACK_WORDS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < CAIRN_LINK_ACK_WORDS_MAX; i++) {
        words[i] = cairn_ack_window_word(&link->received, 32 * (i + 1));
        count = words[i] != 0 ? i + 1 : count;
    }
    begin_payload(link, now_ns, CAIRN_LINK_ACK, (cairn_sent){0}, bytes);
    link->far_count = 0;
    cairn_writer writer =
        cairn_writer_of(bytes + CAIRN_LINK_HEADER_SIZE, 4 * CAIRN_LINK_ACK_WORDS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        cairn_write_u32(&writer, words[i]);
    }
    CAIRN_ASSERT(writer.ok);
    return count_payload(link, CAIRN_LINK_HEADER_SIZE + writer.at);
}

// Counts a payload that must be acknowledged as in flight.
static size_t count_in_flight(cairn_link *link, uint64_t now_ns, size_t size) {
    const uint64_t sequence = link->sent.next - 1;
    cairn_sent *sent = cairn_sent_ring_find(&link->sent, sequence);
    CAIRN_ASSERT(sent != NULL && sent->state == CAIRN_SENT_IN_FLIGHT);
    sent->size = (uint16_t)size;
    cairn_congestion_sent(&link->congestion, now_ns, sequence, sent->size);
    return count_payload(link, size);
}

static size_t single_payload(cairn_link *link, uint64_t now_ns, uint8_t *bytes) {
    CAIRN_ASSERT(link->unreliable_size >= 1 && link->unreliable_size <= CAIRN_LINK_SINGLE_SIZE_MAX);
    begin_payload(link, now_ns, CAIRN_LINK_MESSAGE, (cairn_sent){0}, bytes);
    memcpy(bytes + CAIRN_LINK_HEADER_SIZE, link->unreliable, link->unreliable_size);
    const size_t size = CAIRN_LINK_HEADER_SIZE + link->unreliable_size;
    link->unreliable_size = 0;
    link->unreliable_ns = now_ns;
    link->stream_turn = true;
    return count_in_flight(link, now_ns, size);
}

static size_t fragment_payload(cairn_link *link, uint64_t now_ns, uint8_t *bytes) {
    CAIRN_ASSERT(link->unreliable_next < cairn_fragment_count(link->unreliable_size));
    const uint32_t index = link->unreliable_next++;
    const uint32_t size = cairn_fragment_size(link->unreliable_size, index);
    uint8_t *part = bytes + CAIRN_LINK_HEADER_SIZE;
    begin_payload(link, now_ns, CAIRN_LINK_FRAGMENT, (cairn_sent){0}, bytes);
    cairn_fragment_write(index, link->unreliable_size, part);
    memcpy(part + CAIRN_LINK_PART_HEADER_SIZE,
        link->unreliable + (size_t)index * CAIRN_LINK_PART_SIZE, size);
    if (link->unreliable_next == cairn_fragment_count(link->unreliable_size)) {
        link->unreliable_size = 0;
        link->unreliable_next = 0;
    }
    link->unreliable_ns = now_ns;
    link->stream_turn = true;
    return count_in_flight(
        link, now_ns, CAIRN_LINK_HEADER_SIZE + CAIRN_LINK_PART_HEADER_SIZE + size);
}

static size_t stream_payload(cairn_link *link, uint64_t now_ns, uint8_t *bytes) {
    CAIRN_ASSERT(cairn_stream_sender_ready(&link->sender));
    // The segment is taken first, because losing the ring's oldest payload may mark more as lost.
    uint8_t *part = bytes + CAIRN_LINK_HEADER_SIZE;
    const cairn_stream_segment segment = cairn_stream_sender_take(
        &link->sender, now_ns, link->sent.next, part + CAIRN_LINK_PART_HEADER_SIZE);
    CAIRN_ASSERT(segment.size >= 1 && segment.size <= CAIRN_LINK_PART_SIZE);
    const cairn_sent record = {.segment = segment.number, .has_segment = true};
    begin_payload(link, now_ns, CAIRN_LINK_STREAM, record, bytes);
    cairn_writer writer = cairn_writer_of(part, CAIRN_LINK_PART_HEADER_SIZE);
    cairn_write_u64(&writer, segment.offset);
    link->statistics.stream_bytes_resent += segment.again ? segment.size : 0;
    link->stream_turn = false;
    return count_in_flight(
        link, now_ns, CAIRN_LINK_HEADER_SIZE + CAIRN_LINK_PART_HEADER_SIZE + segment.size);
}

// When a bare ack must go out although other payloads carry acks: their ack bits do not reach far
// enough back.
static uint64_t long_ack_ns(const cairn_link *link) {
    if (link->owed_count > 0 && link->unreported >= CAIRN_ACK_BURST) {
        return link->now_ns;
    }
    return link->far_count > 0 ? link->far_since_ns + CAIRN_ACK_DELAY_NS : UINT64_MAX;
}

// When everything in flight is given up because nothing of it was acknowledged. The peer may take
// its time for what is not of the stream.
static uint64_t give_up_ns(const cairn_link *link) {
    const cairn_congestion *congestion = &link->congestion;
    return congestion->in_flight == 0
               ? UINT64_MAX
               : congestion->progress_ns + CAIRN_ACK_DELAY_NS_MAX - CAIRN_ACK_DELAY_NS +
                     cairn_estimate_timeout_ns(&link->estimate, congestion->backoff);
}

static void detect_timeouts(cairn_link *link, uint64_t now_ns) {
    cairn_stream_sender_time_out(&link->sender, now_ns, &link->estimate);
    if (now_ns >= give_up_ns(link)) {
        cairn_congestion_timed_out(&link->congestion, now_ns, link->sent.next);
        link->statistics.congestion_timeouts++;
    }
}

size_t cairn_link_next_payload(cairn_link *link, uint64_t now_ns, uint8_t *bytes) {
    CAIRN_ASSERT(bytes != NULL && now_ns >= link->now_ns);
    link->now_ns = now_ns;
    cairn_link_detect_losses(link, now_ns);
    detect_timeouts(link, now_ns);
    if (link->memory.sent_grown != NULL) {
        cairn_link_shrink(link);
    }
    const bool mid_message = link->unreliable_next > 0; // its sequences must be consecutive
    if (!mid_message) {
        skip_sequence(link);
    }
    if (!mid_message && now_ns >= long_ack_ns(link)) {
        return bare_ack_payload(link, now_ns, bytes);
    }
    if (link->unreliable_size > 0 && unreliable_may_leave(link, now_ns)) {
        return link->unreliable_size <= CAIRN_LINK_SINGLE_SIZE_MAX
                   ? single_payload(link, now_ns, bytes)
                   : fragment_payload(link, now_ns, bytes);
    }
    if (!mid_message && cairn_stream_sender_ready(&link->sender) &&
        cairn_congestion_allows(&link->congestion, now_ns)) {
        return stream_payload(link, now_ns, bytes);
    }
    if (!mid_message && link->owed_count > 0 && now_ns >= link->owed_ns) {
        return bare_ack_payload(link, now_ns, bytes);
    }
    return 0;
}

#define CACHE_LINE 64
#define PREFETCHED_SIZE 1024
_Static_assert(offsetof(cairn_link, skipped) <= PREFETCHED_SIZE, "what each payload touches");

void cairn_link_prefetch(const cairn_link *link) {
    const uint8_t *bytes = (const uint8_t *)link;
    for (size_t at = 0; at < PREFETCHED_SIZE; at += CACHE_LINE) {
        __builtin_prefetch(bytes + at);
    }
}

bool cairn_link_waiting(const cairn_link *link) {
    return link->unreliable_size > 0 || cairn_stream_sender_ready(&link->sender);
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// When the oldest payload that a later one overtook counts as lost. Only the stream and what waits
// for the window need to know.
static uint64_t overdue_deadline_ns(const cairn_link *link) {
    const bool needed = link->sender.in_flight_count > 0 || link->unreliable_size > 0 ||
                        cairn_stream_sender_ready(&link->sender);
    if (!needed || link->sent.oldest >= link->sent.acked_next) {
        return UINT64_MAX;
    }
    const cairn_sent *oldest = &link->sent.entries[link->sent.oldest & (link->sent.capacity - 1)];
    CAIRN_ASSERT(oldest->state == CAIRN_SENT_IN_FLIGHT);
    return oldest->sent_ns + cairn_estimate_overdue_ns(&link->estimate);
}

// When something that waits for the congestion control may leave.
static uint64_t allowed_ns(const cairn_link *link) {
    uint64_t at_ns = cairn_congestion_next_ns(&link->congestion);
    at_ns = at_ns > link->now_ns ? at_ns : link->now_ns;
    return earlier(at_ns, give_up_ns(link));
}

uint64_t cairn_link_deadline_ns(const cairn_link *link) {
    uint64_t deadline = earlier(
        overdue_deadline_ns(link), cairn_stream_sender_deadline_ns(&link->sender, &link->estimate));
    if (link->unreliable_size > 0) {
        const uint64_t at_least_ns = link->unreliable_ns + CAIRN_LINK_UNRELIABLE_NS;
        deadline = earlier(deadline, earlier(allowed_ns(link), at_least_ns));
    }
    if (link->unreliable_next > 0) {
        return deadline; // its sequences must be consecutive
    }
    deadline = earlier(deadline, long_ack_ns(link));
    if (cairn_stream_sender_ready(&link->sender)) {
        deadline = earlier(deadline, allowed_ns(link));
    }
    if (link->owed_count > 0) {
        deadline = earlier(deadline, link->owed_ns);
    }
    return deadline;
}

void cairn_link_start_at(cairn_link *link, uint64_t sequence) {
    CAIRN_ASSERT(link->sent.next == 0 && link->received.next == 0);
    link->sent.first = sequence;
    link->sent.next = sequence;
    link->sent.oldest = sequence;
    link->sent.acked_next = sequence;
    link->received.next = sequence;
    link->sender.first = (uint32_t)sequence;
    link->congestion.flight_first = sequence;
    link->congestion.round_end = sequence;
    link->congestion.recovery = sequence;
}

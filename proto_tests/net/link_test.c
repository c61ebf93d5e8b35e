// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "net/link.h"
#include "net/link_parts.h"

SCOPE_POINTER_ENDS(cairn_link, cairn_link_destroy)

#define MS UINT64_C(1000000)
#define SECOND CAIRN_NS_PER_S
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

enum { UNRELIABLE, RELIABLE };

typedef struct path_settings {
    uint64_t delay_ns;      // each way
    uint64_t jitter_ns;     // added, uniform in [0, jitter)
    uint32_t loss_permille; // of each direction
    uint32_t repeat_permille;
    uint32_t receive_messages_max; // of both ends; this and the next two: 0 is the default
    uint32_t receive_size_max;     // of end 1
} path_settings;

typedef struct path_packet {
    uint64_t arrival_ns;
    uint64_t order; // breaks ties
    uint32_t to;
    size_t size;
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
} path_packet;

// Two links and a path between them that loses, repeats, delays and reorders payloads.
typedef struct path {
    path_settings settings;
    cairn_random random;
    uint64_t now_ns;
    uint64_t order;
    cairn_link *ends[2];
    uint32_t packet_count;
    bool cut;
    uint64_t carried;
    uint32_t sent[2][2];     // messages, by end and by reliability
    uint32_t received[2][2]; // the same
} path;

static path_packet packets[4096];

#define PATH(...) path_open((path_settings){__VA_ARGS__})

static path path_open(path_settings settings) {
    path p = {.settings = settings, .random = cairn_random_of(1), .now_ns = SECOND};
    for (uint32_t end = 0; end < 2; end++) {
        cairn_link_config config = cairn_link_config_default();
        if (settings.receive_messages_max > 0) {
            config.receive_messages_max = settings.receive_messages_max;
        }
        if (end == 1 && settings.receive_size_max > 0) {
            config.receive_size_max = settings.receive_size_max;
        }
        assert_int_equal(cairn_link_create(&config, p.now_ns, &p.ends[end]), CAIRN_OK);
    }
    return p;
}

static void path_close(path *p) {
    cairn_link_destroy(p->ends[0]);
    cairn_link_destroy(p->ends[1]);
}

SCOPE_ENDS(path, path_close)

static const cairn_link_statistics *statistics(const path *p, uint32_t end) {
    return cairn_link_statistics_read(p->ends[end]);
}

// A message begins with its number and is filled from it.
static void fill(uint8_t *bytes, size_t size, uint32_t number) {
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(number * 31u + i * 7u + (i >> 8));
    }
    memcpy(bytes, &number, 4);
}

static void send_message(path *p, uint32_t from, int reliable, size_t size) {
    static uint8_t bytes[CAIRN_MESSAGE_SIZE_MAX];
    fill(bytes, size, p->sent[from][reliable]++);
    const cairn_status status = reliable ? cairn_link_send_reliable(p->ends[from], bytes, size)
                                         : cairn_link_send_unreliable(p->ends[from], bytes, size);
    assert_int_equal(status, CAIRN_OK);
}

static void deliver(path *p, const path_packet *packet) {
    static uint8_t expected[CAIRN_MESSAGE_SIZE_MAX];
    cairn_link_receive(p->ends[packet->to], p->now_ns, packet->bytes, packet->size);
    cairn_link_message message;
    while (cairn_link_next_message(p->ends[packet->to], &message)) {
        assert_int_equal((uintptr_t)message.bytes % 8, 0);
        uint32_t number;
        memcpy(&number, message.bytes, 4);
        fill(expected, message.size, number);
        assert_memory_equal(message.bytes, expected, message.size);
        uint32_t *received = p->received[packet->to];
        assert_true(!message.reliable || number == received[RELIABLE]);
        received[message.reliable ? RELIABLE : UNRELIABLE]++;
    }
}

static int compare_arrivals(const void *a, const void *b) {
    const path_packet *x = a;
    const path_packet *y = b;
    if (x->arrival_ns != y->arrival_ns) {
        return x->arrival_ns < y->arrival_ns ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

static void put(path *p, uint32_t to, const uint8_t *bytes, size_t size) {
    assert_true(p->packet_count < COUNT_OF(packets));
    path_packet *packet = &packets[p->packet_count++];
    const uint64_t jitter_ns =
        p->settings.jitter_ns > 0 ? cairn_random_below(&p->random, p->settings.jitter_ns) : 0;
    *packet = (path_packet){.arrival_ns = p->now_ns + p->settings.delay_ns + jitter_ns,
        .order = p->order++,
        .to = to,
        .size = size};
    memcpy(packet->bytes, bytes, size);
}

static void send_payloads(path *p, uint32_t from) {
    _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
    const bool due = cairn_link_deadline_ns(p->ends[from]) <= p->now_ns;
    const uint64_t carried = p->carried;
    for (size_t size; (size = cairn_link_next_payload(p->ends[from], p->now_ns, bytes)) > 0;) {
        p->carried++;
        if (p->cut || cairn_random_below(&p->random, 1000) < p->settings.loss_permille) {
            continue;
        }
        put(p, 1 - from, bytes, size);
        if (cairn_random_below(&p->random, 1000) < p->settings.repeat_permille) {
            put(p, 1 - from, bytes, size);
        }
    }
    // A driver sleeps until the deadline: it must neither oversleep nor spin.
    assert_true(due || p->carried == carried);
    assert_true(cairn_link_deadline_ns(p->ends[from]) > p->now_ns);
}

// Carries the payloads of both ends for `duration_ns`, in steps of 1 ms.
static void run(path *p, uint64_t duration_ns) {
    const uint64_t end_ns = p->now_ns + duration_ns;
    while (p->now_ns < end_ns) {
        p->now_ns += MS;
        qsort(packets, p->packet_count, sizeof *packets, compare_arrivals);
        uint32_t due = 0;
        while (due < p->packet_count && packets[due].arrival_ns <= p->now_ns) {
            deliver(p, &packets[due++]);
        }
        p->packet_count -= due;
        memmove(packets, packets + due, p->packet_count * sizeof *packets);
        send_payloads(p, 0);
        send_payloads(p, 1);
    }
}

// In each round of 16 ms both ends send a snapshot, and a reliable message if there is room.
static void run_rounds(path *p, uint32_t rounds) {
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t end = 0; end < 2; end++) {
            send_message(p, end, UNRELIABLE, 4 + (round * 37) % 5000);
            const size_t size = 4 + (round * 101) % 3000;
            if (cairn_link_reliable_room(p->ends[end]) >= size) {
                send_message(p, end, RELIABLE, size);
            }
        }
        run(p, 16 * MS);
    }
}

static void expect_all_reliable(path *p) {
    run(p, 20 * SECOND);
    for (uint32_t end = 0; end < 2; end++) {
        assert_int_equal(p->received[1 - end][RELIABLE], p->sent[end][RELIABLE]);
        assert_true(cairn_link_reliable_idle(p->ends[end]));
        assert_false(cairn_link_failed(p->ends[end]));
    }
}

TEST("unreliable messages of every size arrive whole") {
    static const size_t sizes[] = {4, 5, 999, 1000, 1001, 1183, 1184, 1185, 1999, 2000, 2001, 2999,
        3000, 3001, 65536, CAIRN_MESSAGE_SIZE_MAX - 1, CAIRN_MESSAGE_SIZE_MAX};
    SCOPED(path) p = PATH(.delay_ns = 10 * MS);
    for (uint32_t i = 0; i < COUNT_OF(sizes); i++) {
        send_message(&p, 0, UNRELIABLE, sizes[i]);
        run(&p, 500 * MS); // some round trips: the longest do not fit the window at once
        assert_int_equal(p.received[1][UNRELIABLE], i + 1);
    }
    assert_int_equal(statistics(&p, 1)->messages_lost, 0);
    assert_int_equal(statistics(&p, 0)->payloads_lost, 0);
}

TEST("a megabyte crosses a bad path in seconds") {
    SCOPED(path) p = PATH(.delay_ns = 50 * MS, .loss_permille = 50);
    const uint32_t piece = 16000;
    const uint32_t pieces = 1024 * 1024 / piece + 1;
    const uint64_t start_ns = p.now_ns;
    while (p.received[1][RELIABLE] < pieces && p.now_ns < start_ns + 10 * SECOND) {
        while (p.sent[0][RELIABLE] < pieces && cairn_link_reliable_room(p.ends[0]) >= piece) {
            send_message(&p, 0, RELIABLE, piece);
        }
        run(&p, 10 * MS);
    }
    assert_int_equal(p.received[1][RELIABLE], pieces);
    const double seconds = (double)(p.now_ns - start_ns) * 1e-9;
    print_message("1 MB, 100 ms round trip, 5 %% loss: %.2f s, %llu bytes sent again\n", seconds,
        (unsigned long long)statistics(&p, 0)->stream_bytes_resent);
    assert_true(seconds < 4.0);
    run(&p, SECOND);
    assert_true(cairn_link_reliable_idle(p.ends[0]));
}

TEST("reliable messages arrive once in order on every path") {
    static const struct {
        path_settings path;
        uint64_t start; // sequence of the first payload
    } rows[] = {{{0}, 0}, {{.loss_permille = 100, .delay_ns = 20 * MS}, 0},
        {{.loss_permille = 300, .delay_ns = 40 * MS}, 0},
        {{.repeat_permille = 1000, .delay_ns = 20 * MS}, 0},
        {{.delay_ns = 5 * MS, .jitter_ns = 60 * MS}, 0},
        {{.loss_permille = 300, .repeat_permille = 300, .delay_ns = 30 * MS, .jitter_ns = 80 * MS},
            0},
        // Across the wrap of the wire's 32-bit sequence, and of its highest bit.
        {{.loss_permille = 300, .repeat_permille = 300, .delay_ns = 30 * MS, .jitter_ns = 80 * MS},
            (1ull << 32) - 40},
        {{.delay_ns = MS}, (1ull << 32) - 7},
        {{.loss_permille = 100, .delay_ns = 5 * MS, .jitter_ns = 60 * MS}, (1ull << 31) - 40}};
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        SCOPED(path) p = path_open(rows[i].path);
        p.random = cairn_random_of(i);
        cairn_link_start_at(p.ends[0], rows[i].start);
        cairn_link_start_at(p.ends[1], rows[i].start);
        run_rounds(&p, 150);
        expect_all_reliable(&p);
        assert_true(p.sent[0][RELIABLE] > 60);
    }
}

TEST("a payload that arrives twice is accepted once") {
    SCOPED(path) p = PATH(.delay_ns = 10 * MS, .repeat_permille = 1000);
    run_rounds(&p, 50);
    expect_all_reliable(&p);
    for (uint32_t end = 0; end < 2; end++) {
        const cairn_link_statistics *s = statistics(&p, end);
        assert_int_equal(p.received[end][UNRELIABLE], 50);
        assert_int_equal(s->drops[CAIRN_LINK_DROP_DUPLICATE], s->payloads_received / 2);
        assert_int_equal(s->drops[CAIRN_LINK_TAKEN], s->payloads_received / 2);
    }
}

TEST("traffic in one direction is acknowledged") {
    SCOPED(path) p = PATH(.delay_ns = 10 * MS);
    for (uint32_t i = 0; i < 60; i++) {
        send_message(&p, 0, UNRELIABLE, 3000);
        run(&p, 16 * MS);
    }
    run(&p, SECOND);
    assert_int_equal(statistics(&p, 0)->payloads_sent, 180);
    assert_int_equal(statistics(&p, 0)->payloads_acknowledged, 180);
    assert_int_equal(statistics(&p, 0)->payloads_lost, 0);
    assert_in_range(statistics(&p, 1)->payloads_sent, 20, 60);
}

TEST("bare acks do not answer each other") {
    SCOPED(path) p = PATH(.delay_ns = 10 * MS);
    send_message(&p, 0, UNRELIABLE, 10);
    run(&p, 10 * SECOND);
    assert_int_equal(p.carried, 2);
    assert_int_equal(cairn_link_deadline_ns(p.ends[0]), UINT64_MAX);
    assert_int_equal(cairn_link_deadline_ns(p.ends[1]), UINT64_MAX);
}

TEST("round-trip time and loss match the path") {
    SCOPED(path) p = PATH(.delay_ns = 40 * MS);
    run_rounds(&p, 100);
    for (uint32_t end = 0; end < 2; end++) {
        const cairn_link_statistics *s = statistics(&p, end);
        assert_in_range(s->rtt_ns, 80 * MS, 82 * MS);
        assert_in_range(s->rtt_ns_min, 80 * MS, 82 * MS);
        assert_true(s->jitter_ns < 2 * MS);
        assert_true(s->loss < 0.001f);
    }
    p.settings.loss_permille = 200;
    run_rounds(&p, 600);
    const cairn_link_statistics *s = statistics(&p, 0);
    assert_true(s->loss > 0.1f && s->loss < 0.35f);
    const double lost = (double)s->payloads_lost / (double)s->payloads_sent;
    assert_true(lost > 0.14 && lost < 0.24); // 200 per mille of six in seven rounds
}

TEST("reordering is not loss") {
    SCOPED(path) p = PATH(.delay_ns = 10 * MS, .jitter_ns = 30 * MS, .receive_messages_max = 8);
    run_rounds(&p, 200);
    expect_all_reliable(&p);
    assert_int_equal(p.received[0][UNRELIABLE], 200);
    assert_int_equal(p.received[1][UNRELIABLE], 200);
    assert_true(statistics(&p, 0)->payloads_lost * 50 < statistics(&p, 0)->payloads_sent);
}

TEST("some messages arrive when more are interleaved than can be reassembled at once") {
    SCOPED(path) p = PATH(.delay_ns = 17 * MS, .jitter_ns = 72 * MS);
    for (uint32_t i = 0; i < 400; i++) {
        send_message(&p, 0, UNRELIABLE, 8000);
        run(&p, 7 * MS);
    }
    assert_true(p.received[1][UNRELIABLE] > 40);
}

TEST("a payload that arrives more than 33 sequences late is acknowledged") {
    SCOPED(path) p = PATH(.delay_ns = 10 * MS, .jitter_ns = 80 * MS);
    for (uint32_t i = 0; i < 1000; i++) { // 1000 payloads a second one way, 250 the other
        send_message(&p, 0, UNRELIABLE, 50);
        if (i % 4 == 0) {
            send_message(&p, 1, UNRELIABLE, 50);
        }
        run(&p, MS);
    }
    run(&p, SECOND);
    assert_in_range(statistics(&p, 0)->payloads_acknowledged, 990, 1000 + 100);
    assert_true(statistics(&p, 0)->payloads_lost < 10);
}

TEST("every fragment of a burst is acknowledged") {
    SCOPED(path) p = PATH(.delay_ns = 10 * MS);
    for (uint32_t i = 0; i < 10; i++) {
        send_message(&p, 0, UNRELIABLE, CAIRN_MESSAGE_SIZE_MAX);
        send_message(&p, 1, UNRELIABLE, 60); // its header acknowledges 33 payloads at most
        run(&p, 500 * MS);
    }
    run(&p, SECOND);
    assert_int_equal(p.received[1][UNRELIABLE], 10);
    assert_int_equal(statistics(&p, 0)->payloads_lost, 0);
}

TEST("every unreliable message is received, lost or replaced") {
    SCOPED(path) p = PATH(.delay_ns = 10 * MS, .loss_permille = 100);
    uint32_t halfway = 0; // replaced after the first fragment left
    for (uint32_t i = 0; i < 200; i++) {
        halfway += p.ends[0]->unreliable_next > 0 ? 1 : 0;
        send_message(&p, 0, UNRELIABLE, 2500);
        if (i % 4 == 0) {
            send_message(&p, 0, UNRELIABLE, 2500);
        }
        run(&p, 16 * MS);
    }
    const uint32_t received = p.received[1][UNRELIABLE];
    const uint64_t replaced = statistics(&p, 0)->messages_replaced;
    assert_in_range(replaced, 50, 100); // more than 50 while the path is being measured
    assert_in_range(received, (250 - replaced) * 11 / 20, (250 - replaced) * 9 / 10); // 0.9 ^ 3
    // Messages of which no fragment arrived, and the last two in flight, are in no counter. One
    // that was replaced halfway is in two if one of its fragments arrived.
    assert_in_range(
        received + statistics(&p, 1)->messages_lost, 244 - replaced, 250 - replaced + halfway);
}

TEST("a cut path costs little and heals within the longest timeout") {
    SCOPED(path) p = PATH(.delay_ns = 10 * MS);
    send_message(&p, 0, RELIABLE, 100);
    run(&p, SECOND);
    p.cut = true;
    const uint64_t before = p.carried;
    send_message(&p, 0, RELIABLE, 5000);
    run(&p, 60 * SECOND);
    // Six segments, then one at a time: doubling to 2 s, then every 2 s.
    assert_in_range(p.carried - before, 6 + 30, 6 + 40);
    p.cut = false;
    run(&p, CAIRN_RTO_NS_MAX + SECOND);
    assert_int_equal(p.received[1][RELIABLE], 2);
    assert_true(cairn_link_reliable_idle(p.ends[0]));
}

TEST("nothing is sent again on a perfect path") {
    SCOPED(path) p = PATH(.delay_ns = 60 * MS);
    send_message(&p, 0, RELIABLE, CAIRN_MESSAGE_SIZE_MAX);
    run_rounds(&p, 100);
    expect_all_reliable(&p);
    assert_int_equal(statistics(&p, 0)->stream_bytes_resent, 0);
}

TEST("a small receive window is respected") {
    // Losses leave gaps, after which a greedy sender would exceed the window.
    SCOPED(path) p = PATH(.delay_ns = 10 * MS, .loss_permille = 100, .receive_size_max = 1184);
    for (uint32_t i = 0; i < 100; i++) {
        send_message(&p, 0, RELIABLE, 1184);
    }
    run(&p, 20 * SECOND);
    assert_int_equal(p.received[1][RELIABLE], 100);
    assert_int_equal(statistics(&p, 1)->drops[CAIRN_LINK_DROP_STREAM], 0);
}

TEST("a message larger than the peer accepts fails the link at both ends") {
    SCOPED(path) p = PATH(.delay_ns = 10 * MS, .receive_size_max = 2000);
    send_message(&p, 0, RELIABLE, 5000);
    send_message(&p, 1, RELIABLE, 100); // its header carries the window
    run(&p, SECOND);
    assert_true(cairn_link_failed(p.ends[0]));
    assert_true(cairn_link_failed(p.ends[1]));
    assert_true(statistics(&p, 1)->drops[CAIRN_LINK_DROP_MESSAGE_SIZE] > 0);
    cairn_link_reset(p.ends[0], p.now_ns);
    cairn_link_reset(p.ends[1], p.now_ns);
    assert_false(cairn_link_failed(p.ends[0]));
    assert_false(cairn_link_failed(p.ends[1]));
}

TEST("a reset link works like a new one") {
    SCOPED(path) p = PATH(.delay_ns = 10 * MS);
    run_rounds(&p, 20);
    cairn_link_reset(p.ends[0], p.now_ns);
    cairn_link_reset(p.ends[1], p.now_ns);
    p.packet_count = 0;
    memset(p.sent, 0, sizeof p.sent);
    memset(p.received, 0, sizeof p.received);
    assert_int_equal(statistics(&p, 0)->payloads_sent, 0);
    run_rounds(&p, 20);
    expect_all_reliable(&p);
    assert_int_equal(p.received[0][UNRELIABLE], 20);
}

TEST("a full reliable buffer refuses messages") {
    static uint8_t bytes[5000];
    cairn_link_config config = cairn_link_config_default();
    config.reliable_buffer_size = 4096;
    SCOPED(cairn_link) *link = NULL;
    assert_int_equal(cairn_link_create(&config, 0, &link), CAIRN_OK);
    assert_int_equal(cairn_link_reliable_room(link), 4092);
    assert_int_equal(cairn_link_send_reliable(link, bytes, 0), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_link_send_reliable(link, bytes, 4093), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_link_send_reliable(link, bytes, 4000), CAIRN_OK);
    assert_int_equal(cairn_link_reliable_room(link), 84);
    assert_int_equal(cairn_link_send_reliable(link, bytes, 85), CAIRN_CAPACITY);
    assert_int_equal(cairn_link_send_reliable(link, bytes, 84), CAIRN_OK);
    assert_int_equal(cairn_link_reliable_room(link), 0);
    assert_int_equal(cairn_link_send_reliable(link, bytes, 1), CAIRN_CAPACITY);
    assert_int_equal(cairn_link_send_unreliable(link, bytes, 0), CAIRN_INVALID_ARGUMENT);
}

TEST("a link takes memory while much is under way, and gives it back") {
    SCOPED(path) p = PATH(.delay_ns = 100 * MS, .loss_permille = 5);
    const cairn_link *link = p.ends[0];
    uint32_t sent_capacity = 0;
    for (uint32_t turn = 1; turn <= 3; turn++) {
        send_message(&p, 0, RELIABLE, 1000);
        assert_null(link->memory.stream_grown);
        for (uint32_t i = 0; i < 6; i++) { // the first beside what is in the small ring
            send_message(&p, 0, RELIABLE, 40000 - 1000 * i);
        }
        assert_non_null(link->memory.stream_grown);
        for (uint32_t i = 0; i < 20; i++) {
            send_message(&p, 0, UNRELIABLE, CAIRN_MESSAGE_SIZE_MAX);
            run(&p, 300 * MS);
            sent_capacity =
                link->sent.capacity > sent_capacity ? link->sent.capacity : sent_capacity;
        }
        run(&p, 10 * SECOND);
        assert_int_equal(p.received[1][RELIABLE], 7 * turn);
        assert_null(link->memory.stream_grown);
        assert_null(link->memory.sent_grown);
        assert_int_equal(link->sent.capacity, CAIRN_LINK_SENT_SMALL);
    }
    assert_true(sent_capacity > CAIRN_LINK_SENT_SMALL);
    assert_true(statistics(&p, 0)->payloads_lost > 0);
}

TEST("a link takes as much memory as a message needs, not all that it may take") {
    static uint8_t bytes[60000];
    SCOPED(path) p = PATH(.delay_ns = 20 * MS);
    const cairn_link *link = p.ends[0];
    static const struct {
        uint32_t size;
        uint64_t capacity;
    } messages[] = {
        {900, 1024}, {600, 2048}, {5000, 8192}, {9000, 16384}, {100000, 131072}, {100000, 262144}};
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
            send_message(&p, 0, RELIABLE, messages[i].size);
            assert_int_equal(link->sender.capacity, messages[i].capacity);
        }
        assert_int_equal(cairn_link_send_reliable(p.ends[0], bytes, sizeof bytes), CAIRN_CAPACITY);
        run(&p, 10 * SECOND);
        expect_all_reliable(&p);
        assert_true(cairn_link_reliable_idle(link));
        assert_int_equal(link->sender.capacity, CAIRN_LINK_STREAM_SMALL);
    }
}

TEST("links pass on the large block of the one that joined before") {
    static uint8_t bytes[50000];
    cairn_link_blocks blocks = {0};
    cairn_link_config config = cairn_link_config_default();
    config.blocks = &blocks;
    cairn_link *links[CAIRN_LINK_BLOCKS_MAX + 4];
    const uint8_t *kept = NULL;
    for (uint32_t turn = 0; turn < 3; turn++) {
        config.reliable_buffer_size += turn == 2 ? 4096 : 0; // no block is large enough
        for (uint32_t i = 0; i < COUNT_OF(links); i++) {
            assert_int_equal(cairn_link_create(&config, 0, &links[i]), CAIRN_OK);
            assert_int_equal(cairn_link_send_reliable(links[i], bytes, sizeof bytes), CAIRN_OK);
            assert_int_equal(links[i]->sender.capacity, links[i]->sender.limit);
            assert_true(turn != 1 || i > 0 || links[i]->memory.stream_grown == kept);
        }
        assert_int_equal(blocks.count, turn == 2 ? CAIRN_LINK_BLOCKS_MAX : 0);
        for (uint32_t i = 0; i < COUNT_OF(links); i++) {
            cairn_link_destroy(links[i]);
        }
        assert_int_equal(blocks.count, CAIRN_LINK_BLOCKS_MAX);
        kept = blocks.kept[CAIRN_LINK_BLOCKS_MAX - 1];
    }
    for (uint32_t i = 0; i < blocks.count; i++) { // the larger ones took the places
        assert_true(blocks.sizes[i] > config.reliable_buffer_size);
    }
    cairn_link_blocks_free(&blocks);
    assert_int_equal(blocks.count, 0);
}

TEST("impossible configs are refused and valid ones allocate the stated memory") {
    static const struct {
        cairn_link_config config;
        size_t kb; // 0: refused
    } cases[] = {{{16384, 1184, 1, 8192, 0, NULL}, 27}, {{1184, 1184, 1, 4096, 0, NULL}, 10},
        {{CAIRN_MESSAGE_SIZE_MAX, CAIRN_MESSAGE_SIZE_MAX, 4, 262208, 0, NULL}, 1588},
        {{0, 1184, 1, 8192, 0, NULL}, 0}, {{CAIRN_MESSAGE_SIZE_MAX + 1, 1184, 1, 8192, 0, NULL}, 0},
        {{16384, 0, 1, 8192, 0, NULL}, 0},
        {{16384, CAIRN_MESSAGE_SIZE_MAX + 1, 1, 8192, 0, NULL}, 0},
        {{16384, 1184, 0, 8192, 0, NULL}, 0}, {{16384, 1184, 9, 8192, 0, NULL}, 0},
        {{16384, 1184, 1, 63, 0, NULL}, 0}, {{1, 1184, 1, 8192, 0, NULL}, 9},
        {{16384, 1, 1, 8192, 0, NULL}, 27}};
    for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
        SCOPED(cairn_link) *link = NULL;
        const cairn_status status = cairn_link_create(&cases[i].config, 0, &link);
        const size_t bytes = cairn_link_memory_size(&cases[i].config);
        assert_int_equal(status, cases[i].kb > 0 ? CAIRN_OK : CAIRN_INVALID_ARGUMENT);
        if (sizeof(void *) == 8) {
            assert_int_equal((bytes + 999) / 1000, cases[i].kb);
        } else {
            assert_true((bytes + 999) / 1000 <= cases[i].kb);
        }
    }
}

TEST("a link holds up to 2^30 bytes of reliable messages") {
    cairn_link_config config = cairn_link_config_default();
    config.reliable_buffer_size = 1u << 30;
    assert_true(cairn_link_memory_size(&config) > 0);
    config.reliable_buffer_size += 1;
    assert_int_equal(cairn_link_memory_size(&config), 0);
}

TEST("a link without a secret leaves no sequence out") {
    SCOPED(cairn_link) *link = NULL;
    const cairn_link_config config = cairn_link_config_default();
    assert_int_equal(cairn_link_create(&config, SECOND, &link), CAIRN_OK);
    uint64_t now_ns = SECOND;
    for (uint32_t i = 0; i < 2000; i++) {
        _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
        cairn_link_header header;
        now_ns += CAIRN_LINK_UNRELIABLE_NS;
        assert_int_equal(cairn_link_send_unreliable(link, (const uint8_t *)"hello", 5), CAIRN_OK);
        const size_t size = cairn_link_next_payload(link, now_ns, bytes);
        assert_int_equal(cairn_link_header_read(bytes, size, &header), CAIRN_LINK_TAKEN);
        assert_int_equal(header.sequence, i);
    }
}

TEST("a message of one byte that nobody read is counted when the next payload comes") {
    SCOPED(path) p = PATH(0);
    for (uint32_t i = 0; i < 3; i++) {
        _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
        p.now_ns += CAIRN_LINK_UNRELIABLE_NS;
        assert_int_equal(cairn_link_send_unreliable(p.ends[0], (const uint8_t *)"x", 1), CAIRN_OK);
        const size_t size = cairn_link_next_payload(p.ends[0], p.now_ns, bytes);
        cairn_link_receive(p.ends[1], p.now_ns, bytes, size);
    }
    assert_int_equal(statistics(&p, 1)->messages_unread, 2);
}

TEST("an ack of a sequence that was left out is refused") {
    cairn_link_config config = cairn_link_config_default();
    config.skip_seed = 12345;
    SCOPED(cairn_link) *link = NULL;
    assert_int_equal(cairn_link_create(&config, SECOND, &link), CAIRN_OK);
    uint64_t now_ns = SECOND;
    uint32_t gaps = 0;
    uint32_t next = 0;
    uint32_t gap = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        _Alignas(8) uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
        cairn_link_header header;
        now_ns +=
            CAIRN_LINK_UNRELIABLE_NS; // so that one may leave although nothing is acknowledged
        assert_int_equal(cairn_link_send_unreliable(link, (const uint8_t *)"hello", 5), CAIRN_OK);
        const size_t size = cairn_link_next_payload(link, now_ns, bytes);
        assert_int_equal(cairn_link_header_read(bytes, size, &header), CAIRN_LINK_TAKEN);
        gaps += header.sequence - next;
        gap = header.sequence != next ? next : gap;
        next = header.sequence + 1;
    }
    assert_in_range(gaps, 2, 20); // 2000 / 256
    // All others of its range, then it as the newest and as one of the bits.
    static const struct {
        uint32_t newer;
        uint32_t bits;
        cairn_link_drop drop;
    } rows[] = {{3, 0xfffffffbu, CAIRN_LINK_TAKEN}, {0, 0, CAIRN_LINK_DROP_ACK},
        {3, 0x00000004u, CAIRN_LINK_DROP_ACK}, {1, 1, CAIRN_LINK_DROP_ACK}};
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        _Alignas(8) uint8_t bytes[CAIRN_LINK_HEADER_SIZE];
        const cairn_link_header header = {.kind = CAIRN_LINK_ACK,
            .has_ack = true,
            .window = 1,
            .sequence = i,
            .ack = gap + rows[i].newer,
            .ack_bits = rows[i].bits};
        cairn_link_header_write(&header, bytes);
        assert_int_equal(cairn_link_receive(link, now_ns, bytes, sizeof bytes), rows[i].drop);
    }
    assert_int_equal(cairn_link_statistics_read(link)->drops[CAIRN_LINK_DROP_ACK], 3);
}

TEST("what does not fit the path is held back and leaves when it does") {
    SCOPED(path) p = PATH(.delay_ns = 50 * MS);
    // Nothing was acknowledged yet: ten full payloads may leave, and then one in 100 ms.
    p.cut = true;
    uint32_t ready = 0;
    for (uint32_t i = 0; i < 100; i++) {
        if (cairn_link_unreliable_ready(p.ends[0], p.now_ns)) {
            send_message(&p, 0, UNRELIABLE, 1000);
            ready++;
        }
        run(&p, 10 * MS);
    }
    assert_in_range(ready, 14, 14 + 4 + 10);
    p.cut = false;
    run(&p, CAIRN_RTO_NS_MAX + SECOND);
    for (uint32_t i = 0; i < 100; i++) {
        assert_true(cairn_link_unreliable_ready(p.ends[0], p.now_ns));
        send_message(&p, 0, UNRELIABLE, 1000);
        run(&p, 50 * MS);
    }
}

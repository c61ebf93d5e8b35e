// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/link.h"
#include "net/link_parts.h"
#include "proto_tests/net/link_pipe.h"

SCOPE_ENDS(pipe, pipe_close)
SCOPE_POINTER_ENDS(cairn_link, cairn_link_destroy)

static const uint64_t second_ns = CAIRN_NS_PER_S;

// What one end received: reliable messages carry their number and are filled from it.
typedef struct ear {
    uint32_t received[2][2]; // by end, by reliable
    uint32_t next_number[2];
    uint64_t bytes;
} ear;

static void fill(uint8_t *bytes, size_t size, uint32_t number) {
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(number * 31u + i * 7u + (i >> 8));
    }
    memcpy(bytes, &number, size < 4 ? size : 4);
}

static void listen(void *user, uint32_t to, const cairn_link_message *message) {
    static uint8_t expected[CAIRN_MESSAGE_SIZE_MAX];
    ear *e = user;
    uint32_t number = 0;
    memcpy(&number, message->bytes, 4);
    fill(expected, message->size, number);
    assert_memory_equal(message->bytes, expected, message->size);
    if (message->reliable) {
        assert_int_equal(number, e->next_number[to]++);
    }
    e->received[to][message->reliable ? 1 : 0]++;
    e->bytes += message->size;
}

// With NULL the settings are the default.
static pipe pipe_to(ear *e, const pipe_settings *settings) {
    const pipe_settings defaults = pipe_settings_default();
    pipe p = pipe_open(settings != NULL ? settings : &defaults);
    p.on_message = listen;
    p.user = e;
    return p;
}

static void say(pipe *p, uint32_t from, bool reliable, uint32_t number, size_t size) {
    static uint8_t bytes[CAIRN_MESSAGE_SIZE_MAX];
    fill(bytes, size, number);
    const cairn_status status = reliable ? cairn_link_send_reliable(p->ends[from], bytes, size)
                                         : cairn_link_send_unreliable(p->ends[from], bytes, size);
    assert_int_equal(status, CAIRN_OK);
}

TEST("unreliable messages of every size arrive whole") {
    static const size_t sizes[] = {4, 5, 999, 1000, 1001, 1183, 1184, 1185, 1999, 2000, 2001, 2999,
        3000, 3001, 65536, CAIRN_MESSAGE_SIZE_MAX - 1, CAIRN_MESSAGE_SIZE_MAX};
    ear e = {0};
    SCOPED(pipe) p = pipe_to(&e, NULL);
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        say(&p, 0, false, i, sizes[i]);
        pipe_run(&p, second_ns / 20);
        assert_int_equal(e.received[1][0], i + 1);
    }
    assert_int_equal(cairn_link_statistics_read(p.ends[1])->messages_lost, 0);
    assert_int_equal(cairn_link_statistics_read(p.ends[0])->payloads_lost, 0);
}

TEST("a megabyte crosses a bad path in seconds") {
    ear e = {0};
    pipe_settings settings = pipe_settings_default();
    settings.delay_ns = 50000000;
    settings.loss_permille = 50;
    SCOPED(pipe) p = pipe_to(&e, &settings);
    const uint32_t piece = 16000;
    const uint32_t pieces = 1024 * 1024 / piece + 1;
    uint32_t said = 0;
    const uint64_t start_ns = p.now_ns;
    while (e.received[1][1] < pieces && p.now_ns < start_ns + 10 * second_ns) {
        while (said < pieces && cairn_link_reliable_room(p.ends[0]) >= piece) {
            say(&p, 0, true, said++, piece);
        }
        pipe_run(&p, 10000000);
    }
    assert_int_equal(e.received[1][1], pieces);
    const double seconds = (double)(p.now_ns - start_ns) * 1e-9;
    print_message("1 MB, 100 ms round trip, 5 %% loss: %.2f s, %llu bytes sent again\n", seconds,
        (unsigned long long)cairn_link_statistics_read(p.ends[0])->stream_bytes_resent);
    assert_true(seconds < 4.0);
    pipe_run(&p, second_ns);
    assert_true(cairn_link_reliable_idle(p.ends[0]));
}

// Both directions speak at once: reliable numbers in order, and a snapshot every 16 ms.
static void chatter(pipe *p, uint32_t rounds, uint32_t said[2]) {
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t end = 0; end < 2; end++) {
            say(p, end, false, round, 4 + (round * 37) % 5000);
            const size_t size = 4 + (round * 101) % 3000;
            if (cairn_link_reliable_room(p->ends[end]) >= size) {
                say(p, end, true, said[end]++, size);
            }
        }
        pipe_run(p, 16000000);
    }
}

static void expect_all_reliable(pipe *p, const ear *e, const uint32_t said[2]) {
    pipe_run(p, 10 * second_ns);
    for (uint32_t end = 0; end < 2; end++) {
        assert_int_equal(e->next_number[1 - end], said[end]);
        assert_true(cairn_link_reliable_idle(p->ends[end]));
        assert_false(cairn_link_failed(p->ends[end]));
    }
}

TEST("reliable messages arrive once in order on every path") {
    static const struct {
        const char *path;
        uint32_t loss_permille, repeat_permille;
        uint64_t delay_ns, jitter_ns, start;
    } paths[] = {{"perfect", 0, 0, 0, 0, 0}, {"lossy", 100, 0, 20000000, 0, 0},
        {"three in ten lost", 300, 0, 40000000, 0, 0},
        {"every payload comes twice", 0, 1000, 20000000, 0, 0},
        {"reordered", 0, 0, 5000000, 60000000, 0},
        {"all together", 300, 300, 30000000, 80000000, 0},
        {"all together across the wrap of the wire's sequence", 300, 300, 30000000, 80000000,
            (1ull << 32) - 40},
        {"perfect across the wrap", 0, 0, 1000000, 0, (1ull << 32) - 7},
        {"reordered across the wrap of the highest half", 100, 0, 5000000, 60000000,
            (1ull << 31) - 40}};
    for (uint32_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        ear e = {0};
        uint32_t said[2] = {0};
        pipe_settings settings = pipe_settings_default();
        settings.seed = i;
        settings.loss_permille = paths[i].loss_permille;
        settings.repeat_permille = paths[i].repeat_permille;
        settings.delay_ns = paths[i].delay_ns;
        settings.jitter_ns = paths[i].jitter_ns;
        SCOPED(pipe) p = pipe_open(&settings);
        cairn_link_start_at(p.ends[0], paths[i].start);
        cairn_link_start_at(p.ends[1], paths[i].start);
        p.on_message = listen;
        p.user = &e;
        chatter(&p, 150, said);
        expect_all_reliable(&p, &e, said);
        assert_true(said[0] > 60);
    }
}

TEST("a payload that comes twice is taken once") {
    ear e = {0};
    uint32_t said[2] = {0};
    pipe_settings settings = pipe_settings_default();
    settings.repeat_permille = 1000;
    SCOPED(pipe) p = pipe_to(&e, &settings);
    chatter(&p, 50, said);
    expect_all_reliable(&p, &e, said);
    for (uint32_t end = 0; end < 2; end++) {
        const cairn_link_statistics *s = cairn_link_statistics_read(p.ends[end]);
        assert_int_equal(e.received[end][0], 50);
        assert_int_equal(s->drops[CAIRN_LINK_DROP_DUPLICATE], s->payloads_received / 2);
        assert_int_equal(s->drops[CAIRN_LINK_TAKEN], s->payloads_received / 2);
    }
}

TEST("one way traffic is acknowledged") {
    ear e = {0};
    SCOPED(pipe) p = pipe_to(&e, NULL);
    for (uint32_t i = 0; i < 60; i++) {
        say(&p, 0, false, i, 3000);
        pipe_run(&p, 16000000);
    }
    pipe_run(&p, second_ns);
    const cairn_link_statistics *here = cairn_link_statistics_read(p.ends[0]);
    const cairn_link_statistics *there = cairn_link_statistics_read(p.ends[1]);
    assert_int_equal(here->payloads_sent, 180);
    assert_int_equal(here->payloads_acknowledged, 180);
    assert_int_equal(here->payloads_lost, 0);
    assert_true(there->payloads_sent >= 20 && there->payloads_sent <= 60);
}

TEST("bare acks do not answer each other") {
    const pipe_settings settings = pipe_settings_default();
    SCOPED(pipe) p = pipe_open(&settings);
    say(&p, 0, false, 0, 10);
    pipe_run(&p, 10 * second_ns);
    assert_int_equal(p.carried, 2);
    assert_int_equal(cairn_link_deadline_ns(p.ends[0]), UINT64_MAX);
    assert_int_equal(cairn_link_deadline_ns(p.ends[1]), UINT64_MAX);
}

TEST("round-trip time and loss match the path") {
    ear e = {0};
    uint32_t said[2] = {0};
    pipe_settings settings = pipe_settings_default();
    settings.delay_ns = 40000000;
    SCOPED(pipe) p = pipe_to(&e, &settings);
    chatter(&p, 100, said);
    for (uint32_t end = 0; end < 2; end++) {
        const cairn_link_statistics *s = cairn_link_statistics_read(p.ends[end]);
        assert_in_range(s->rtt_ns, 80000000, 82000000);
        assert_in_range(s->rtt_ns_min, 80000000, 82000000);
        assert_true(s->jitter_ns < 2000000);
        assert_true(s->loss < 0.001f);
    }
    p.settings.loss_permille = 200;
    chatter(&p, 600, said);
    const cairn_link_statistics *s = cairn_link_statistics_read(p.ends[0]);
    assert_true(s->loss > 0.1f && s->loss < 0.35f);
    const double lost = (double)s->payloads_lost / (double)s->payloads_sent;
    assert_true(lost > 0.14 && lost < 0.24); // 200 per mille of six in seven rounds
}

TEST("reordering is not loss") {
    ear e = {0};
    uint32_t said[2] = {0};
    pipe_settings settings = pipe_settings_default();
    settings.jitter_ns = 30000000;
    settings.config[0].receive_messages_max = 8;
    settings.config[1].receive_messages_max = 8;
    SCOPED(pipe) p = pipe_to(&e, &settings);
    chatter(&p, 200, said);
    expect_all_reliable(&p, &e, said);
    assert_int_equal(e.received[0][0], 200);
    assert_int_equal(e.received[1][0], 200);
    const cairn_link_statistics *s = cairn_link_statistics_read(p.ends[0]);
    assert_true(s->payloads_lost * 50 < s->payloads_sent);
}

TEST("more messages interleaved than there is room for are not all lost") {
    ear e = {0};
    pipe_settings settings = pipe_settings_default();
    settings.delay_ns = 17000000;
    settings.jitter_ns = 72000000;
    SCOPED(pipe) p = pipe_to(&e, &settings);
    for (uint32_t i = 0; i < 400; i++) {
        say(&p, 0, false, i, 8000);
        pipe_run(&p, 7000000);
    }
    assert_true(e.received[1][0] > 40);
}

TEST("a payload more than 33 late is acknowledged as well") {
    ear e = {0};
    pipe_settings settings = pipe_settings_default();
    settings.jitter_ns = 80000000;
    SCOPED(pipe) p = pipe_to(&e, &settings);
    for (uint32_t i = 0; i < 1000; i++) { // 1000 payloads a second one way, 250 the other
        say(&p, 0, false, i, 50);
        if (i % 4 == 0) {
            say(&p, 1, false, i, 50);
        }
        pipe_run(&p, 1000000);
    }
    pipe_run(&p, second_ns);
    const cairn_link_statistics *s = cairn_link_statistics_read(p.ends[0]);
    assert_in_range(s->payloads_acknowledged, 990, 1000 + 100);
    assert_true(s->payloads_lost < 10);
}

TEST("a burst of fragments is acknowledged whole") {
    ear e = {0};
    SCOPED(pipe) p = pipe_to(&e, NULL);
    for (uint32_t i = 0; i < 10; i++) {
        say(&p, 0, false, i, CAIRN_MESSAGE_SIZE_MAX);
        say(&p, 1, false, i, 60); // the other side's own traffic tells 33 at most
        pipe_run(&p, 50000000);
    }
    pipe_run(&p, second_ns);
    assert_int_equal(e.received[1][0], 10);
    assert_int_equal(cairn_link_statistics_read(p.ends[0])->payloads_lost, 0);
}

TEST("every unreliable message is received, lost or replaced") {
    ear e = {0};
    pipe_settings settings = pipe_settings_default();
    settings.loss_permille = 100;
    SCOPED(pipe) p = pipe_to(&e, &settings);
    for (uint32_t i = 0; i < 200; i++) {
        say(&p, 0, false, i, 2500);
        if (i % 4 == 0) {
            say(&p, 0, false, i, 2500);
        }
        pipe_run(&p, 16000000);
    }
    const cairn_link_statistics *here = cairn_link_statistics_read(p.ends[0]);
    const cairn_link_statistics *there = cairn_link_statistics_read(p.ends[1]);
    assert_int_equal(here->messages_replaced, 50);
    assert_true(e.received[1][0] > 110 && e.received[1][0] < 180); // 0.9 to the third
    // Messages of which no fragment arrived, and the last two in flight, are in no counter.
    assert_true(e.received[1][0] + there->messages_lost <= 200);
    assert_true(e.received[1][0] + there->messages_lost >= 194);
}

TEST("a cut path costs little and heals within the longest timeout") {
    ear e = {0};
    SCOPED(pipe) p = pipe_to(&e, NULL);
    say(&p, 0, true, 0, 100);
    pipe_run(&p, second_ns);
    p.cut = true;
    const uint64_t before = p.carried;
    say(&p, 0, true, 1, 5000);
    pipe_run(&p, 60 * second_ns);
    // Six segments, then one at a time: doubling to 2 s, then every 2 s.
    assert_in_range(p.carried - before, 6 + 30, 6 + 40);
    p.cut = false;
    pipe_run(&p, CAIRN_RTO_NS_MAX + second_ns);
    assert_int_equal(e.next_number[1], 2);
    assert_true(cairn_link_reliable_idle(p.ends[0]));
}

TEST("nothing is sent again on a perfect path") {
    ear e = {0};
    uint32_t said[2] = {0};
    pipe_settings settings = pipe_settings_default();
    settings.delay_ns = 60000000;
    SCOPED(pipe) p = pipe_to(&e, &settings);
    say(&p, 0, true, said[0]++, CAIRN_MESSAGE_SIZE_MAX);
    chatter(&p, 100, said);
    expect_all_reliable(&p, &e, said);
    assert_int_equal(cairn_link_statistics_read(p.ends[0])->stream_bytes_resent, 0);
}

TEST("the stream keeps to its pace") {
    ear e = {0};
    pipe_settings settings = pipe_settings_default();
    settings.config[0].send_rate_bytes_per_s = 50000;
    SCOPED(pipe) p = pipe_to(&e, &settings);
    say(&p, 0, true, 0, 200000);
    pipe_run(&p, 2 * second_ns);
    assert_in_range(cairn_link_statistics_read(p.ends[0])->bytes_sent, 95000, 105000);
    pipe_run(&p, 3 * second_ns);
    assert_int_equal(e.received[1][1], 1);
}

TEST("a small receive window is respected") {
    ear e = {0};
    pipe_settings settings = pipe_settings_default();
    settings.config[1].receive_size_max = 1184;
    settings.loss_permille = 100; // gaps, after which a greedy sender would exceed the window
    SCOPED(pipe) p = pipe_to(&e, &settings);
    for (uint32_t i = 0; i < 100; i++) {
        say(&p, 0, true, i, 1184);
    }
    pipe_run(&p, 20 * second_ns);
    assert_int_equal(e.next_number[1], 100);
    assert_int_equal(cairn_link_statistics_read(p.ends[1])->drops[CAIRN_LINK_DROP_STREAM], 0);
}

TEST("a message the peer cannot take fails the link at both ends") {
    pipe_settings settings = pipe_settings_default();
    settings.config[1].receive_size_max = 2000;
    SCOPED(pipe) p = pipe_open(&settings);
    say(&p, 0, true, 0, 5000);
    say(&p, 1, true, 0, 100); // tells the window
    pipe_run(&p, second_ns);
    assert_true(cairn_link_failed(p.ends[0]));
    assert_true(cairn_link_failed(p.ends[1]));
    assert_true(cairn_link_statistics_read(p.ends[1])->drops[CAIRN_LINK_DROP_MESSAGE_SIZE] > 0);
    cairn_link_reset(p.ends[0], p.now_ns);
    cairn_link_reset(p.ends[1], p.now_ns);
    assert_false(cairn_link_failed(p.ends[0]));
    assert_false(cairn_link_failed(p.ends[1]));
}

TEST("a reset link is a new one") {
    ear e = {0};
    uint32_t said[2] = {0};
    SCOPED(pipe) p = pipe_to(&e, NULL);
    chatter(&p, 20, said);
    cairn_link_reset(p.ends[0], p.now_ns);
    cairn_link_reset(p.ends[1], p.now_ns);
    p.packet_count = 0;
    e = (ear){0};
    said[0] = said[1] = 0;
    assert_int_equal(cairn_link_statistics_read(p.ends[0])->payloads_sent, 0);
    chatter(&p, 20, said);
    expect_all_reliable(&p, &e, said);
    assert_int_equal(e.received[0][0], 20);
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

TEST("impossible configs are refused and valid ones take the stated memory") {
    static const struct {
        cairn_link_config config;
        size_t kb; // 0: refused
    } cases[] = {{{16384, 1184, 1, 8192, 0}, 36}, {{1184, 1184, 1, 4096, 0}, 15},
        {{CAIRN_MESSAGE_SIZE_MAX, CAIRN_MESSAGE_SIZE_MAX, 4, 262208, 0}, 1891},
        {{0, 1184, 1, 8192, 0}, 0}, {{CAIRN_MESSAGE_SIZE_MAX + 1, 1184, 1, 8192, 0}, 0},
        {{16384, 0, 1, 8192, 0}, 0}, {{16384, CAIRN_MESSAGE_SIZE_MAX + 1, 1, 8192, 0}, 0},
        {{16384, 1184, 0, 8192, 0}, 0}, {{16384, 1184, 9, 8192, 0}, 0},
        {{16384, 1184, 1, 63, 0}, 0}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
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

// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/link.h"
#include "net/link_parts.h"
#include "proto_tests/net/link_pipe.h"

static const uint64_t second_ns = 1000000000;

// What one end heard: reliable messages carry their number and are filled from it.
typedef struct ear {
    uint32_t heard[2][2]; // by end, by reliable
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
    e->heard[to][message->reliable ? 1 : 0]++;
    e->bytes += message->size;
}

static void say(pipe *p, uint32_t from, bool reliable, uint32_t number, size_t size) {
    static uint8_t bytes[CAIRN_MESSAGE_SIZE_MAX];
    fill(bytes, size, number);
    const cairn_status status = reliable ? cairn_link_send_reliable(p->ends[from], bytes, size)
                                         : cairn_link_send_unreliable(p->ends[from], bytes, size);
    assert_int_equal(status, CAIRN_OK);
}

static void unreliable_messages_of_every_size_arrive_whole(void **state) {
    (void)state;
    static const size_t sizes[] = {4, 5, 999, 1000, 1001, 1183, 1184, 1185, 1999, 2000, 2001, 2999,
        3000, 3001, 65536, CAIRN_MESSAGE_SIZE_MAX - 1, CAIRN_MESSAGE_SIZE_MAX};
    ear e = {0};
    const pipe_settings settings = pipe_settings_default();
    pipe p = pipe_open(&settings);
    p.on_message = listen;
    p.user = &e;
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        say(&p, 0, false, i, sizes[i]);
        pipe_run(&p, second_ns / 20);
        assert_int_equal(e.heard[1][0], i + 1);
    }
    assert_int_equal(cairn_link_statistics_read(p.ends[1])->messages_lost, 0);
    assert_int_equal(cairn_link_statistics_read(p.ends[0])->payloads_lost, 0);
    pipe_close(&p);
}

static void a_megabyte_crosses_a_bad_path_in_seconds(void **state) {
    (void)state;
    ear e = {0};
    pipe_settings settings = pipe_settings_default();
    settings.delay_ns = 50000000;
    settings.loss_permille = 50;
    pipe p = pipe_open(&settings);
    p.on_message = listen;
    p.user = &e;
    const uint32_t piece = 16000;
    const uint32_t pieces = 1024 * 1024 / piece + 1;
    uint32_t said = 0;
    const uint64_t start_ns = p.now_ns;
    while (e.heard[1][1] < pieces && p.now_ns < start_ns + 10 * second_ns) {
        while (said < pieces && cairn_link_reliable_room(p.ends[0]) >= piece) {
            say(&p, 0, true, said++, piece);
        }
        pipe_run(&p, 10000000);
    }
    assert_int_equal(e.heard[1][1], pieces);
    const double seconds = (double)(p.now_ns - start_ns) * 1e-9;
    print_message("1 MB, 100 ms round trip, 5 %% loss: %.2f s, %llu bytes sent again\n", seconds,
        (unsigned long long)cairn_link_statistics_read(p.ends[0])->stream_bytes_resent);
    assert_true(seconds < 4.0);
    pipe_run(&p, second_ns);
    assert_true(cairn_link_reliable_idle(p.ends[0]));
    pipe_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unreliable_messages_of_every_size_arrive_whole),
        cmocka_unit_test(a_megabyte_crosses_a_bad_path_in_seconds),
    };
    return cmocka_run_group_tests_name("net.link", tests, NULL, NULL);
}

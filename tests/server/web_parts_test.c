// SPDX-License-Identifier: MIT
// Parts of the web server without a socket: how many connections and requests a network may have,
// frames that wait for a reader, questions to the loop, and the tokens of operators.
#include "tests/kit/test.h"

#include <string.h>

#include "server/web/admission.h"
#include "server/web/control.h"
#include "server/web/frame_queue.h"
#include "server/web/questions.h"
#include "server/web/settings.h"
#include "tests/kit/guarded.h"

#define SOCKETS 20
#define SOCKETS_PER_NETWORK 3

static cairn_address ipv4(uint8_t last) {
    return (cairn_address){.family = CAIRN_ADDRESS_IPV4, .ip = {192, 0, 2, last}, .port = 9};
}

static cairn_address ipv6(uint8_t subnet, uint8_t last) {
    return (cairn_address){.family = CAIRN_ADDRESS_IPV6,
        .ip = {0x20, 1, 0xd, 0xb8, 0, 0, 0, subnet, 0, 0, 0, 0, 0, 0, 0, last}};
}

static cairn_admission *new_admission(void) {
    cairn_admission *admission;
    assert_int_equal(cairn_admission_create(SOCKETS, SOCKETS_PER_NETWORK, &admission), CAIRN_OK);
    return admission;
}

static uint32_t add(cairn_admission *admission, cairn_address from) {
    return cairn_admission_add(admission, &from);
}

TEST("a network has some connections, and all together a few more") {
    cairn_admission *admission = new_admission();
    for (uint32_t i = 0; i < CAIRN_WEB_REQUESTS_PER_NETWORK_MAX; ++i) {
        assert_int_equal(add(admission, ipv6(1, (uint8_t)i)), i);
    }
    assert_int_equal(add(admission, ipv6(1, 200)), CAIRN_ADMISSION_NONE); // the same /64
    assert_int_equal(add(admission, ipv6(2, 200)), CAIRN_WEB_REQUESTS_PER_NETWORK_MAX);
    uint32_t count = CAIRN_WEB_REQUESTS_PER_NETWORK_MAX + 1;
    for (uint8_t i = 0; count < CAIRN_WEB_REQUESTS_MAX; ++i) {
        assert_int_equal(add(admission, ipv4(i)), count++);
    }
    assert_int_equal(add(admission, ipv4(255)), CAIRN_ADMISSION_NONE);
    cairn_admission_remove(admission, 5);
    const cairn_address last = ipv4(255);
    assert_int_equal(add(admission, last), 5);
    assert_memory_equal(cairn_admission_address(admission, 5), &last, sizeof last);
    cairn_admission_destroy(admission);
}

TEST("WebSockets are counted apart, and a network has some of them") {
    cairn_admission *admission = new_admission();
    for (uint32_t i = 0; i < SOCKETS_PER_NETWORK; ++i) {
        assert_true(cairn_admission_upgrade(admission, add(admission, ipv4(1))));
        assert_int_equal(cairn_admission_sockets(admission), i + 1);
    }
    const uint32_t refused = add(admission, ipv4(1));
    assert_false(cairn_admission_upgrade(admission, refused));
    assert_int_equal(cairn_admission_sockets(admission), SOCKETS_PER_NETWORK);
    cairn_admission_set_sockets_per_network(admission, SOCKETS_PER_NETWORK + 1);
    assert_true(cairn_admission_upgrade(admission, refused));
    for (uint8_t i = 0; cairn_admission_sockets(admission) < SOCKETS; ++i) {
        assert_true(cairn_admission_upgrade(admission, add(admission, ipv4((uint8_t)(10 + i)))));
    }
    const uint32_t one_more = add(admission, ipv4(200));
    assert_false(cairn_admission_upgrade(admission, one_more));
    cairn_admission_remove(admission, refused);
    assert_int_equal(cairn_admission_sockets(admission), SOCKETS - 1);
    assert_true(cairn_admission_upgrade(admission, one_more));
    // They take no places of requests.
    for (uint8_t i = 0; i < CAIRN_WEB_REQUESTS_MAX; ++i) {
        assert_int_not_equal(add(admission, ipv4(i)), CAIRN_ADMISSION_NONE);
    }
    cairn_admission_destroy(admission);
}

TEST("connections and WebSockets are looked for where there are places for them, and no further") {
    kit_guards = true; // what is read beyond the last place ends the test
    cairn_admission *admission = new_admission();
    kit_guards = false;
    assert_int_equal(kit_guarded_count, 1);
    for (uint32_t i = 0; i < SOCKETS; ++i) {
        assert_true(cairn_admission_upgrade(admission, add(admission, ipv4((uint8_t)i))));
    }
    for (uint32_t i = 0; i < CAIRN_WEB_REQUESTS_MAX; ++i) {
        assert_int_equal(add(admission, ipv4((uint8_t)i)), SOCKETS + i);
    }
    assert_int_equal(add(admission, ipv4(200)), CAIRN_ADMISSION_NONE);
    assert_int_equal(cairn_admission_sockets(admission), SOCKETS);
    cairn_admission_remove(admission, SOCKETS + CAIRN_WEB_REQUESTS_MAX - 1);
    const uint32_t last = add(admission, ipv4(200));
    assert_int_equal(last, SOCKETS + CAIRN_WEB_REQUESTS_MAX - 1);
    assert_false(cairn_admission_upgrade(admission, last));
    assert_true(cairn_admission_take(admission, last, CAIRN_NS_PER_S, 1));
    cairn_admission_destroy(admission);
}

TEST("a network asks so often in a second, and so often at once") {
    const uint64_t begin_ns = 5 * CAIRN_NS_PER_S;
    cairn_admission *admission = new_admission();
    const uint32_t busy = add(admission, ipv4(1));
    const uint32_t beside = add(admission, ipv4(1)); // of the same network
    const uint32_t other = add(admission, ipv4(2));
    for (uint32_t i = 0; i < CAIRN_WEB_REQUEST_BURST; ++i) {
        assert_true(cairn_admission_take(admission, i % 2 == 0 ? busy : beside, begin_ns, 1));
    }
    assert_false(cairn_admission_take(admission, busy, begin_ns, 1));
    assert_false(cairn_admission_take(admission, beside, begin_ns, 1));
    assert_true(cairn_admission_take(admission, other, begin_ns, 1));
    uint32_t taken = 0;
    for (uint32_t ms = 1; ms <= 2000; ++ms) {
        taken += cairn_admission_take(admission, busy, begin_ns + ms * 1000000, 1) ? 1 : 0;
    }
    assert_int_equal(taken, 2 * CAIRN_WEB_REQUEST_RATE_HZ);
    // What counts as many is paid later.
    const uint64_t later_ns = begin_ns + 60 * CAIRN_NS_PER_S;
    assert_true(cairn_admission_take(admission, busy, later_ns, CAIRN_WEB_REQUEST_BURST + 200));
    assert_false(cairn_admission_take(admission, busy, later_ns + CAIRN_NS_PER_S, 1));
    assert_true(cairn_admission_take(admission, busy, later_ns + 2 * CAIRN_NS_PER_S, 1));
    cairn_admission_destroy(admission);
}

TEST("of the networks that are remembered the one that asked least recently gives way") {
    cairn_admission *admission = new_admission();
    const uint32_t busy = add(admission, ipv4(0));
    assert_true(cairn_admission_take(admission, busy, CAIRN_NS_PER_S, CAIRN_WEB_REQUEST_BURST + 1));
    for (uint32_t i = 1; i <= 300; ++i) {
        const uint32_t at = add(admission, ipv6((uint8_t)(i / 2), (uint8_t)i));
        assert_true(cairn_admission_take(admission, at, CAIRN_NS_PER_S, 1));
        cairn_admission_remove(admission, at);
        assert_false(cairn_admission_take(admission, busy, CAIRN_NS_PER_S, 1));
    }
    cairn_admission_destroy(admission);
}

TEST("frames come out as they went in, and a full queue takes no more") {
    static cairn_frame_queue queue;
    uint8_t *bytes;
    uint8_t frame[1200];
    uint32_t added = 0, taken = 0;
    cairn_frame_queue_clear(&queue);
    for (uint32_t round = 0; round < 200; ++round) {
        size_t size = 1 + (added * 7919u) % sizeof frame;
        memset(frame, (int)(added % 251), size);
        while (cairn_frame_queue_add(&queue, frame, size)) {
            added += 1;
            size = 1 + (added * 7919u) % sizeof frame;
            memset(frame, (int)(added % 251), size);
        }
        // It is full: what waits, and one more with its head, is more than there is.
        assert_true(queue.end - queue.begin + CAIRN_HTTP_ROOM + size > sizeof queue.bytes);
        for (uint32_t i = 0; i <= round % 40; ++i) {
            const size_t out = cairn_frame_queue_take(&queue, &bytes);
            if (out == 0) {
                break;
            }
            assert_int_equal(out, 1 + (taken * 7919u) % sizeof frame);
            assert_int_equal(bytes[0], taken % 251);
            assert_int_equal(bytes[out - 1], taken % 251);
            memset(bytes - CAIRN_HTTP_ROOM, 0xff, CAIRN_HTTP_ROOM);
            taken += 1;
        }
    }
    while (cairn_frame_queue_take(&queue, &bytes) > 0) {
        taken += 1;
    }
    assert_int_equal(taken, added);
    assert_int_equal(queue.end, 0);
}

static unsigned wakes_loop, wakes_web, releases;

static void wake_loop(void *user) {
    assert_ptr_equal(user, &wakes_loop);
    wakes_loop += 1;
}

static void wake_web(void *user) {
    assert_ptr_equal(user, &wakes_loop);
    wakes_web += 1;
}

static void release(void *owner) {
    *(unsigned *)owner += 1;
}

static cairn_questions *new_questions(void) {
    const cairn_questions_config config = {
        .wake_loop = wake_loop, .wake_web = wake_web, .user = &wakes_loop};
    wakes_loop = wakes_web = releases = 0;
    return cairn_questions_create(&config);
}

static cairn_http_exchange *exchange(uintptr_t number) {
    return (cairn_http_exchange *)number;
}

static void answer(cairn_questions *questions, cairn_question *question) {
    cairn_questions_answer(questions, question,
        (cairn_http_answer){.status = 200, .release = release, .owner = &releases});
}

TEST("questions come back once, in order, and no more wait than there are") {
    cairn_questions *questions = new_questions();
    for (uintptr_t round = 0; round < 3; ++round) {
        for (uintptr_t i = 0; i < CAIRN_QUESTIONS_MAX; ++i) {
            cairn_question *asked =
                cairn_questions_begin(questions, CAIRN_QUESTION_ROOMS, exchange(i + 1));
            assert_non_null(asked);
            cairn_questions_ask(questions, asked);
        }
        assert_null(cairn_questions_begin(questions, CAIRN_QUESTION_ROOMS, exchange(1)));
        for (uintptr_t i = 0; i < CAIRN_QUESTIONS_MAX; ++i) {
            cairn_question *taken = cairn_questions_take(questions);
            assert_ptr_equal(taken->exchange, exchange(i + 1));
            answer(questions, taken);
        }
        assert_null(cairn_questions_take(questions));
        for (uintptr_t i = 0; i < CAIRN_QUESTIONS_MAX; ++i) {
            cairn_question *answered = cairn_questions_take_answered(questions);
            assert_ptr_equal(answered->exchange, exchange(i + 1));
            assert_int_equal(answered->answer.status, 200);
            cairn_questions_end(answered);
        }
        assert_null(cairn_questions_take_answered(questions));
    }
    assert_int_equal(wakes_loop, 3 * CAIRN_QUESTIONS_MAX);
    assert_int_equal(wakes_web, 3 * CAIRN_QUESTIONS_MAX);
    cairn_questions_destroy(questions);
    assert_int_equal(releases, 0); // the answers were the peers'
}

TEST("an answer that nobody waits for is thrown away") {
    cairn_questions *questions = new_questions();
    cairn_question_kind kind;
    cairn_question *left = cairn_questions_begin(questions, CAIRN_QUESTION_CONTROL, exchange(1));
    cairn_question *stays = cairn_questions_begin(questions, CAIRN_QUESTION_HEALTH, exchange(2));
    cairn_questions_ask(questions, left);
    cairn_questions_ask(questions, stays);
    assert_false(cairn_questions_any_left(questions));
    assert_false(cairn_questions_leave(questions, exchange(3), &kind));
    assert_true(cairn_questions_leave(questions, exchange(1), &kind));
    assert_int_equal(kind, CAIRN_QUESTION_CONTROL);
    assert_int_equal(wakes_loop, 3);
    assert_false(cairn_questions_leave(questions, exchange(1), &kind));
    assert_true(cairn_questions_any_left(questions));
    assert_false(cairn_questions_any_left(questions));
    assert_true(cairn_questions_at(questions, 0)->left);
    assert_false(cairn_questions_at(questions, 1)->left);
    answer(questions, cairn_questions_take(questions));
    answer(questions, cairn_questions_take(questions));
    assert_ptr_equal(cairn_questions_take_answered(questions), stays);
    assert_int_equal(releases, 1);
    // Its place is free again, and it is nobody's that has left.
    assert_ptr_equal(cairn_questions_begin(questions, CAIRN_QUESTION_ROOMS, exchange(4)), left);
    assert_false(left->left);
    cairn_questions_destroy(questions);
    assert_int_equal(releases, 2);
}

TEST("each token stands for one operator, and a part of a token is refused") {
    cairn_web_settings *settings = cairn_web_settings_create();
    cairn_key tokens[2] = {{.bytes = {1, 2, 3}}, {.bytes = {1, 2, 4}}};
    cairn_web_settings_values values = {.sockets_per_network_max = 7};
    cairn_web_settings_set(settings, &values);
    assert_false(cairn_web_settings_has_operators(settings));
    assert_int_equal(
        cairn_web_settings_find_token(settings, tokens[0].bytes), CAIRN_WEB_TOKENS_MAX);
    values.tokens = tokens;
    values.token_count = 1;
    cairn_web_settings_set(settings, &values);
    assert_true(cairn_web_settings_has_operators(settings));
    values.token_count = 2;
    cairn_web_settings_set(settings, &values);
    assert_true(cairn_web_settings_has_operators(settings));
    assert_int_equal(cairn_web_settings_sockets_per_network(settings), 7);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(cairn_web_settings_find_token(settings, tokens[i].bytes), i);
    }
    for (uint32_t i = 0; i < CAIRN_KEY_SIZE; ++i) {
        cairn_key wrong = tokens[0];
        wrong.bytes[i] ^= 0x80;
        assert_int_equal(
            cairn_web_settings_find_token(settings, wrong.bytes), CAIRN_WEB_TOKENS_MAX);
    }
    values.token_count = 1; // one is taken away
    cairn_web_settings_set(settings, &values);
    assert_int_equal(cairn_web_settings_find_token(settings, tokens[0].bytes), 0);
    assert_int_equal(
        cairn_web_settings_find_token(settings, tokens[1].bytes), CAIRN_WEB_TOKENS_MAX);
    values.token_count = 0; // and the last: there were operators once
    cairn_web_settings_set(settings, &values);
    assert_true(cairn_web_settings_has_operators(settings));
    cairn_web_settings_destroy(settings);
}

TEST("who leaves before the answer is counted, and without memory there is nothing to end") {
    cairn_web_control *control;
    assert_int_equal(cairn_web_control_create(NULL, NULL, &control), CAIRN_OK);
    assert_int_equal(cairn_web_control_statistics_read(control)->left, 0);
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_web_control_note_left(control);
    }
    assert_int_equal(cairn_web_control_statistics_read(control)->left, 3);
    cairn_web_control_destroy(control);
    cairn_web_control_destroy(NULL);
}

// SPDX-License-Identifier: MIT
#pragma once

// What the thread of the web asks the loop's thread, which alone reads the server: questions of
// fixed number, on their way to the loop and back in two queues without locks. Each that was asked
// comes back once, with its answer. A thread touches a question while it has it, and nothing else
// of it.

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "schema/control.h"
#include "server/web/http.h"
#include "server/web/peers.h"
#include <cairn/token.h>

// More than there are connections: some wait for an answer that nobody wants any more.
#define CAIRN_QUESTIONS_MAX (2 * 64)

typedef enum cairn_question_kind {
    CAIRN_QUESTION_HEALTH,
    CAIRN_QUESTION_READY,
    CAIRN_QUESTION_ROOMS,
    CAIRN_QUESTION_METRICS,
    CAIRN_QUESTION_TOKEN,
    CAIRN_QUESTION_CONTROL,
    CAIRN_QUESTION_DRAIN,
} cairn_question_kind;

typedef struct cairn_web_control_statistics {
    uint64_t asked;          // requests that reached the server
    uint64_t refused_token;  // without a right token
    uint64_t refused_origin; // by pages from elsewhere
    uint64_t refused_body;   // not a request of the verb, or of another type
    uint64_t refused_busy;   // too many waited
    uint64_t left;           // peers that did not wait for their answers
} cairn_web_control_statistics;

// What the thread of the web has counted.
typedef struct cairn_web_counts {
    cairn_http_statistics http;
    cairn_peers_statistics peers;
    cairn_web_control_statistics control;
    uint64_t frame_bytes_waiting; // for all WebSockets
    uint64_t questions_refused;   // too many waited
} cairn_web_counts;

struct cairn_operations;

typedef struct cairn_question {
    cairn_question_kind kind;
    // METRICS
    bool open; // as OpenMetrics
    cairn_web_counts counts;
    // TOKEN
    cairn_user_data user;
    // CONTROL: owned, by malloc; the loop frees it when the server has a copy.
    cairn_control_request_copy *request;
    // Of the loop: the server is to answer.
    struct cairn_operations *operations;
    uint64_t asked;
    bool waits;
    cairn_http_answer answer;
    // Of the thread of the web: NULL: the peer has gone, or the question is free.
    cairn_http_exchange *exchange;
    bool used;
    atomic_bool left; // told to the loop: nobody wants the answer
} cairn_question;

typedef struct cairn_questions cairn_questions;

typedef struct cairn_questions_config {
    void (*wake_loop)(void *user); // by the thread of the web; must not wait
    void (*wake_web)(void *user);  // by the loop's
    void *user;
} cairn_questions_config;

cairn_questions *cairn_questions_create(const cairn_questions_config *config); // or out of memory
// Both threads have ended, or do nothing with it. Frees answers that nobody took. NULL is allowed.
void cairn_questions_destroy(cairn_questions *questions);

// The thread of the web. A question to be filled and asked; NULL: too many wait.
cairn_question *cairn_questions_begin(
    cairn_questions *questions, cairn_question_kind kind, cairn_http_exchange *exchange);
void cairn_questions_ask(cairn_questions *questions, cairn_question *question);
// The peer of an exchange has gone: its answer, if it was asked for one, is thrown away. Returns
// the kind of what it asked; false: nothing.
bool cairn_questions_leave(
    cairn_questions *questions, const cairn_http_exchange *exchange, cairn_question_kind *kind);
// The next answer that somebody waits for. False: none. *answer is the caller's.
bool cairn_questions_take_answer(
    cairn_questions *questions, cairn_http_exchange **exchange, cairn_http_answer *answer);

// The loop's thread. NULL: none.
cairn_question *cairn_questions_take(cairn_questions *questions);
void cairn_questions_answer(
    cairn_questions *questions, cairn_question *question, cairn_http_answer answer);
// Whether peers have left since the last call; then `left` of their questions is set.
bool cairn_questions_any_left(cairn_questions *questions);
// The place-th question, whoever has it: for the members that are of the loop, and `left`.
cairn_question *cairn_questions_at(cairn_questions *questions, uint32_t place);

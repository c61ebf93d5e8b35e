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
#include "server/web/counts.h"
#include "server/web/http.h"
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

struct cairn_metrics;
struct cairn_operations;

typedef struct cairn_question {
    cairn_question_kind kind;
    // METRICS
    cairn_web_counts counts;
    struct cairn_metrics *metrics; // owned: memory for what is read, or NULL; then what was read
    bool open;                     // the answer is OpenMetrics
    uint64_t begin_ns;
    // TOKEN
    cairn_user_data user;
    // CONTROL: owned, by malloc; the loop frees it when the server has a copy.
    cairn_control_request_copy *request;
    uint32_t token; // its place in the settings
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
// Returns the next question that has an answer and a peer that still waits for it, or NULL if there
// is none. The caller owns the answer.
cairn_question *cairn_questions_take_answered(cairn_questions *questions);
// It may be begun again.
void cairn_questions_end(cairn_question *question);

// The loop's thread. NULL: none.
cairn_question *cairn_questions_take(cairn_questions *questions);
void cairn_questions_answer(
    cairn_questions *questions, cairn_question *question, cairn_http_answer answer);
// Whether peers have left since the last call; then `left` of their questions is set.
bool cairn_questions_any_left(cairn_questions *questions);
// Returns the question with this index, whichever thread has it. The caller may use `left` and the
// members that belong to the loop.
cairn_question *cairn_questions_at(cairn_questions *questions, uint32_t place);

// SPDX-License-Identifier: MIT
#include "server/web/questions.h"

#include <stdlib.h>

#include "base/assert.h"
#include "server/web/admission.h"
#include "server/web/metrics.h"

_Static_assert(
    CAIRN_QUESTIONS_MAX == 2 * CAIRN_WEB_REQUESTS_MAX, "each connection may ask one thing");

// One thread adds, the other one takes. There is room for all questions.
typedef struct queue {
    atomic_uint added;
    atomic_uint taken;
    cairn_question *list[CAIRN_QUESTIONS_MAX];
} queue;

struct cairn_questions {
    cairn_questions_config config;
    queue to_loop;
    queue to_web;
    atomic_bool any_left;
    cairn_question list[CAIRN_QUESTIONS_MAX];
};

static void add(queue *to, cairn_question *question) {
    const unsigned added = atomic_load_explicit(&to->added, memory_order_relaxed);
    CAIRN_ASSERT(
        added - atomic_load_explicit(&to->taken, memory_order_acquire) < CAIRN_QUESTIONS_MAX);
    to->list[added % CAIRN_QUESTIONS_MAX] = question;
    atomic_store_explicit(&to->added, added + 1, memory_order_release);
}

static cairn_question *take(queue *from) {
    const unsigned taken = atomic_load_explicit(&from->taken, memory_order_relaxed);
    if (taken == atomic_load_explicit(&from->added, memory_order_acquire)) {
        return NULL;
    }
    cairn_question *question = from->list[taken % CAIRN_QUESTIONS_MAX];
    atomic_store_explicit(&from->taken, taken + 1, memory_order_release);
    return question;
}

cairn_questions *cairn_questions_create(const cairn_questions_config *config) {
    cairn_questions *questions = calloc(1, sizeof *questions);
    if (questions != NULL) {
        questions->config = *config;
    }
    return questions;
}

static void release(const cairn_http_answer *answer) {
    if (answer->release != NULL) {
        answer->release(answer->owner);
    }
}

void cairn_questions_destroy(cairn_questions *questions) {
    for (uint32_t i = 0; questions != NULL && i < CAIRN_QUESTIONS_MAX; ++i) {
        release(&questions->list[i].answer);
        free(questions->list[i].request);
        cairn_metrics_destroy(questions->list[i].metrics);
    }
    free(questions);
}

// ------------------------------------------------------------------------- the thread of the web

cairn_question *cairn_questions_begin(
    cairn_questions *questions, cairn_question_kind kind, cairn_http_exchange *exchange) {
    uint32_t place = 0;
    while (place < CAIRN_QUESTIONS_MAX && questions->list[place].used) {
        ++place;
    }
    if (place == CAIRN_QUESTIONS_MAX) {
        return NULL;
    }
    cairn_question *question = &questions->list[place];
    question->kind = kind;
    question->exchange = exchange;
    question->used = true;
    atomic_store_explicit(&question->left, false, memory_order_relaxed);
    return question;
}

void cairn_questions_ask(cairn_questions *questions, cairn_question *question) {
    add(&questions->to_loop, question);
    questions->config.wake_loop(questions->config.user);
}

bool cairn_questions_leave(
    cairn_questions *questions, const cairn_http_exchange *exchange, cairn_question_kind *kind) {
    for (uint32_t i = 0; i < CAIRN_QUESTIONS_MAX; ++i) {
        cairn_question *question = &questions->list[i];
        if (question->used && question->exchange == exchange) {
            *kind = question->kind;
            question->exchange = NULL;
            atomic_store_explicit(&question->left, true, memory_order_relaxed);
            atomic_store_explicit(&questions->any_left, true, memory_order_release);
            questions->config.wake_loop(questions->config.user);
            return true;
        }
    }
    return false;
}

void cairn_questions_end(cairn_question *question) {
    cairn_metrics_destroy(question->metrics);
    question->metrics = NULL;
    question->answer = (cairn_http_answer){0};
    question->exchange = NULL;
    question->used = false;
}

cairn_question *cairn_questions_take_answered(cairn_questions *questions) {
    for (cairn_question *next; (next = take(&questions->to_web)) != NULL;) {
        if (next->exchange != NULL) {
            return next;
        }
        release(&next->answer);
        cairn_questions_end(next);
    }
    return NULL;
}

// ------------------------------------------------------------------------------ the loop's thread

cairn_question *cairn_questions_take(cairn_questions *questions) {
    return take(&questions->to_loop);
}

void cairn_questions_answer(
    cairn_questions *questions, cairn_question *question, cairn_http_answer answer) {
    CAIRN_ASSERT(answer.status != 0);
    question->answer = answer;
    add(&questions->to_web, question);
    questions->config.wake_web(questions->config.user);
}

bool cairn_questions_any_left(cairn_questions *questions) {
    return atomic_load_explicit(&questions->any_left, memory_order_relaxed) &&
           atomic_exchange_explicit(&questions->any_left, false, memory_order_acquire);
}

cairn_question *cairn_questions_at(cairn_questions *questions, uint32_t place) {
    CAIRN_ASSERT(place < CAIRN_QUESTIONS_MAX);
    return &questions->list[place];
}
